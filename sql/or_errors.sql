--
-- What an OR's arms raise: no query fails for a value that PostgreSQL's own plan does not come to
--
SET client_min_messages = warning;
SET gpubtree.setup_cost = 0;
CREATE TABLE points (a int4 NOT NULL, b int4 NOT NULL, v int4, z int4);
INSERT INTO points SELECT i % 10, i, i % 7, i % 3 FROM generate_series(1, 6000) i;
CREATE TABLE points_b AS TABLE points;
CREATE INDEX points_ab ON points USING gpubtree (a, b) INCLUDE (v, z);
CREATE INDEX points_b_b ON points_b USING gpubtree (b) INCLUDE (a, v, z);
CREATE TABLE zero (x int4);
INSERT INTO zero VALUES (0);
VACUUM ANALYZE points, points_b, zero;

-- The rows as one text, or the error
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(q::text, '';'' ORDER BY q::text)), ''-'') FROM (%s) q', query) INTO result;
	RETURN result;
EXCEPTION WHEN division_by_zero THEN
	RETURN SQLERRM;
END $$;
CREATE FUNCTION ours(query text) RETURNS text LANGUAGE sql
	SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
AS $$
	SELECT answer(query)
$$;
CREATE FUNCTION plain(query text) RETURNS text LANGUAGE sql
	SET gpubtree.enabled = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
AS $$
	SELECT answer(query)
$$;

-- no row comes to the OR; the first arm has every row; a test stands before the value in its arm
SELECT query, CASE WHEN ours(query) = plain(query) THEN 'equal' ELSE ours(query) || ', should be ' || plain(query) END
FROM unnest('{10 / (SELECT x FROM zero),(SELECT 10 / x FROM zero)}'::text[]) value,
	unnest('{SELECT count(*) FROM points WHERE a = 77 AND (b = VALUE OR b > 7),
	"SELECT a, b, v FROM points WHERE a = 77 AND (b = VALUE OR b > 7) AND v < 3",
	SELECT count(*) FROM points WHERE (a > -1 OR a = VALUE) AND v < 3,
	"SELECT a, b, v FROM points WHERE (a > -1 OR a = VALUE) AND v < 3",
	"SELECT count(*), sum(v) FROM points WHERE a > -1 OR a = VALUE",
	"SELECT sum(v) FROM points WHERE (a = 3 OR a = 4) AND (b > 0 OR b = VALUE)",
	"SELECT sum(v) FROM points_b WHERE b > 0 OR b = VALUE",
	"SELECT sum(v) FROM points_b WHERE (b < 0 AND b > VALUE) OR b > 0",
	"SELECT a, b FROM points_b WHERE (b > 0 OR b = VALUE) AND v = 3",
	"SELECT a, b FROM points_b WHERE v < 0 AND (b = VALUE OR b > 0)"}'::text[]) template,
	replace(template, 'VALUE', value) query
-- a filter's subquery is evaluated ahead of rows
WHERE value NOT LIKE '(SELECT 10%' OR template NOT LIKE '%(b = VALUE OR%';
\set ECHO all
-- an error that PostgreSQL raises, too
SELECT ours('SELECT count(*) FROM points WHERE a = 3 AND (b = 10 / (SELECT x FROM zero) OR b > 7)');
SELECT ours('SELECT count(*) FROM points_b WHERE b = (SELECT 10 / x FROM zero) OR b > 7');
-- ORs with such values are ranges where they raise nothing, but for those with subqueries' values
UPDATE zero SET x = 2;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM points_b WHERE b < 10 / (SELECT x FROM zero) OR b > 5990;
PREPARE either (int4) AS SELECT count(*) FROM points_b WHERE b < 10 / $1 OR b > 5990;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE either(2);
EXECUTE either(0);
DEALLOCATE either;
DROP TABLE points, points_b, zero;
DROP FUNCTION answer, ours, plain;
