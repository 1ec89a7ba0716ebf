--
-- Programs in joins: conditions on the inner table's other columns, FILTER, expressions.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;

CREATE TABLE jp_t (sensor integer, v integer, w bigint, f float8, d date, note text);
INSERT INTO jp_t SELECT n % 101, CASE WHEN n % 7 <> 0 THEN n % 50 - 10 END, n * 1000::bigint, n / 8.0, date '2024-01-01' + n % 40, 'x'
	FROM generate_series(1, 4000) n;
INSERT INTO jp_t VALUES (7, 2147483647, 5, 1e200, NULL, NULL), (NULL, 1, 1, 1, NULL, NULL);
CREATE INDEX jp_t_i ON jp_t USING gpubtree (sensor) INCLUDE (v, w, f, d);
CREATE TABLE jp_s (id integer PRIMARY KEY, site text, lim integer);
INSERT INTO jp_s SELECT n, 'site ' || n % 9, n % 5 FROM generate_series(0, 149) n;
VACUUM ANALYZE jp_t;
VACUUM ANALYZE jp_s;

-- The tables are small: price core's joins out, so that ours is used wherever it can be.
SELECT set_config(name, 'off', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop,gpubtree.enable_batchjoin}'::text[]) name \g /dev/null

CREATE FUNCTION jp_answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(q::text, '';'' ORDER BY q::text)), ''-'') FROM (%s) q', query)
		INTO result;
	RETURN result;
EXCEPTION WHEN numeric_value_out_of_range OR division_by_zero THEN
	RETURN '0 ' || SQLERRM;
END $$;
CREATE FUNCTION jp_plain(query text) RETURNS text LANGUAGE sql
	SET gpubtree.enabled = off SET enable_hashjoin = on SET enable_nestloop = on
AS $$
	SELECT jp_answer(query)
$$;
CREATE FUNCTION jp_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
END $$;
-- The same rows as from core's plans, or the same error?  And whose plan is it?
CREATE FUNCTION jp_compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text := jp_answer(query);
	plain text := jp_plain(query);
	nodes text;
BEGIN
	IF ours IS DISTINCT FROM plain THEN
		RETURN format('%s: %s, should be %s', query, ours, plain);
	END IF;
	SELECT string_agg(DISTINCT substring(line FROM 'Gpubtree(?:RangeAggregate|JoinAggregate|Join|Subquery)'), ', ') INTO nodes FROM jp_plan(query) line;
	RETURN coalesce(nodes, 'ordinary plan: ' || query) ||
		CASE WHEN ours ~ '^0 [a-z]+ ' THEN ': ' || ours ELSE ', ' || split_part(ours, ' ', 1) || ' rows' END;
END $$;
\set ECHO all

-- What EXPLAIN shows: the conditions that the program tests; the ordinary plan where a step may fault
EXPLAIN (COSTS OFF) SELECT s.site, count(*), sum(t.v) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 5 AND t.d < '2024-02-01' GROUP BY s.site;
EXPLAIN (COSTS OFF) SELECT s.site, sum(x.w / 10) FROM jp_t x JOIN jp_s s ON s.id = x.sensor WHERE x.v > 5 GROUP BY s.site;
EXPLAIN (COSTS OFF) SELECT s.id, l.* FROM jp_s s, LATERAL (SELECT count(*) FILTER (WHERE d IS NULL) AS n, stddev(v) AS dev FROM jp_t t
	WHERE t.sensor BETWEEN s.id AND s.id + s.lim AND v < 5 HAVING bit_or(v) > 3) l;

-- groups, conditions, FILTER, aggregates
SELECT jp_compare(query) FROM unnest(ARRAY[
	'SELECT s.site, count(*), sum(t.v), avg(t.w), min(t.d) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 5 GROUP BY s.site',
	'SELECT s.id, count(*), sum(t.v) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v IN (3, 5, 30) OR t.d IS NULL GROUP BY s.id',
	'SELECT s.lim, count(*) FILTER (WHERE t.v > 3), sum(t.w) FILTER (WHERE t.d > ''2024-01-20''), bool_or(t.v = 39), bit_xor(t.v) FROM jp_t t JOIN jp_s s ON t.sensor BETWEEN s.id AND s.id + s.lim GROUP BY s.lim',
	'SELECT s.site, stddev(t.v), var_pop(t.w), sum(t.f) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v < 40 GROUP BY s.site HAVING count(*) FILTER (WHERE t.v < 0) > 20',
	'SELECT s.site || s.lim, sum(t.v * 2 - t.w) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v <> 2147483647 GROUP BY s.site || s.lim',
	'SELECT s.lim, sum(CASE WHEN t.v < 50 THEN t.v * 1000 END) FROM jp_t t JOIN jp_s s ON s.id = t.sensor GROUP BY s.lim',
	'SELECT s.id, count(*) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.sensor % 3 = 1 AND s.lim > 1 GROUP BY s.id',
	-- no entry passes; no row joins
	'SELECT s.id, count(*) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 100 AND t.w > 9 GROUP BY s.id',
	'SELECT s.id, count(*) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 10 AND s.lim > 9 GROUP BY s.id'
]) query;

-- the program has no answer: core's error, or core's rows where core meets no error
SELECT jp_compare(query) FROM unnest(ARRAY[
	'SELECT s.site, sum(t.v * 2) FROM jp_t t JOIN jp_s s ON s.id = t.sensor GROUP BY s.site',
	'SELECT s.site, count(*) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.w / (t.v - 3) > 5 GROUP BY s.site',
	'SELECT s.site, sum(t.v / 0) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE s.id > 140 GROUP BY s.site',
	-- one value has a deviation of 0, though its square overflows
	'SELECT s.id, stddev_pop(t.f) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 50 GROUP BY s.id',
	'SELECT s.id, l.n FROM jp_s s, LATERAL (SELECT sum(t.v * 2) AS n FROM jp_t t WHERE t.sensor = s.id AND v > 0) l',
	'SELECT s.id, l.n FROM jp_s s, LATERAL (SELECT var_pop(t.f) AS n FROM jp_t t WHERE t.sensor = s.id AND v > 50) l WHERE l.n = 0',
	'SELECT s.id, l.n FROM jp_s s, LATERAL (SELECT sum(t.v * 2) AS n FROM jp_t t WHERE t.sensor = s.id AND v BETWEEN 0 AND 10) l'
]) query;
-- an error comes before the first row, since no row comes before all are known
BEGIN;
DECLARE jp_c CURSOR FOR SELECT s.id, sum(t.v * 2) FROM jp_t t JOIN jp_s s ON s.id = t.sensor GROUP BY s.id;
FETCH 1 FROM jp_c;
ROLLBACK;
\set ECHO none
CREATE FUNCTION jp_gave_up(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'GpubtreeRange|GpubtreeSub|Gave Up' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
\set ECHO all
SELECT jp_gave_up('SELECT s.id, stddev_pop(t.f) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 50 GROUP BY s.id');

-- LEFT JOIN: a condition of the join drops entries, not rows; an aggregate that counts the row of NULLs is core's
SELECT jp_compare(query) FROM unnest(ARRAY[
	'SELECT s.id, count(*), count(t.v), sum(t.w), stddev(t.v) FROM jp_s s LEFT JOIN jp_t t ON t.sensor = s.id AND t.v > 35 GROUP BY s.id',
	'SELECT s.site, count(*), count(*) FILTER (WHERE t.v > 36), sum(t.v) FILTER (WHERE t.w > 100000) FROM jp_s s LEFT JOIN jp_t t ON t.sensor = s.id AND t.v > 35 GROUP BY s.site',
	'SELECT s.site, sum(t.w - 3) FROM jp_s s LEFT JOIN jp_t t ON t.sensor = s.id AND t.d IS NOT NULL GROUP BY s.site',
	'SELECT s.site, count(*) FILTER (WHERE t.v IS NULL) FROM jp_s s LEFT JOIN jp_t t ON t.sensor = s.id AND t.v > 35 GROUP BY s.site',
	'SELECT s.site, sum(coalesce(t.v, 7)) FROM jp_s s LEFT JOIN jp_t t ON t.sensor = s.id AND t.v > 35 GROUP BY s.site',
	'SELECT s.site, sum(CASE WHEN t.v > 40 THEN 0 ELSE 1 END) FROM jp_s s LEFT JOIN jp_t t ON t.sensor = s.id AND t.v > 35 GROUP BY s.site',
	'SELECT s.site, sum(3) FROM jp_s s LEFT JOIN jp_t t ON t.sensor = s.id AND t.v > 35 GROUP BY s.site',
	'SELECT s.site, count(*) FROM jp_s s LEFT JOIN jp_t t ON t.sensor = s.id WHERE t.v IS NULL GROUP BY s.site'
]) query;

-- groups of the outer side in any order, hashed; no groups at all; an outer side that is a join
SELECT jp_compare(query) FROM unnest(ARRAY[
	'SELECT count(*), sum(t.v), sum(t.f) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 5',
	'SELECT count(*), sum(t.v), sum(t.w), max(t.f) FROM jp_t t JOIN jp_s s ON t.sensor >= s.id AND t.sensor < s.id + s.lim',
	'SELECT count(*), sum(t.v), max(t.w), count(t.d) FROM jp_s s LEFT JOIN jp_t t ON s.id = t.sensor AND t.v > 30 AND t.w > 5',
	'SELECT count(*), sum(t.v) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE s.lim > 9 AND t.v > 7',
	'SELECT count(*), sum(t.v) FROM jp_s s LEFT JOIN jp_t t ON s.id = t.sensor AND t.v > 7 WHERE s.lim > 9',
	'SELECT sum(t.v) FROM jp_t t JOIN jp_s s ON s.id = t.sensor HAVING count(*) > 100000',
	'SELECT sum(t.v) + 1 FROM jp_t t JOIN jp_s s ON s.id = t.sensor HAVING count(*) > 10 AND min(t.w) < 9000',
	'SELECT sum(t.v * 2) FROM jp_t t JOIN jp_s s ON s.id = t.sensor',
	'SELECT sum(t.v) FILTER (WHERE t.v < 9), stddev(t.w), bit_or(t.v) FROM jp_t t JOIN jp_s s ON s.id = t.sensor',
	'SELECT s.lim + 1, count(*), sum(t.f) FROM jp_t t JOIN jp_s s ON s.id = t.sensor GROUP BY s.lim + 1',
	'SELECT a.lim, b.site, count(*) FROM jp_t t JOIN jp_s a ON a.id = t.sensor, jp_s b WHERE b.id = a.lim AND t.v > 3 GROUP BY a.lim, b.site',
	'SELECT nullif(s.lim, 3), count(*), sum(t.v) FROM jp_s s LEFT JOIN jp_t t ON s.id = t.sensor AND t.v > 38 GROUP BY 1 HAVING count(*) > 3'
]) query;
EXPLAIN (COSTS OFF) SELECT s.site, count(*), sum(t.v) FROM jp_t t JOIN jp_s s ON s.id = t.sensor GROUP BY s.site;
EXPLAIN (COSTS OFF) SELECT sum(t.v), sum(t.w) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 5 HAVING count(*) > 3;
-- sorted, and the same rows
SET enable_hashagg = off;
SELECT jp_compare('SELECT s.site, count(*), sum(t.v) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 5 GROUP BY s.site');
RESET enable_hashagg;

-- LATERAL
SELECT jp_compare(query) FROM unnest(ARRAY[
	'SELECT s.id, l.* FROM jp_s s, LATERAL (SELECT count(*) AS n, sum(v) AS v FROM jp_t t WHERE t.sensor = s.id AND t.v > 5) l',
	'SELECT s.id, l.* FROM jp_s s LEFT JOIN LATERAL (SELECT count(*) FILTER (WHERE v > 3) AS n, min(d) AS d, stddev(v) AS dev FROM jp_t t WHERE t.sensor BETWEEN s.id AND s.id + s.lim) l ON true',
	'SELECT s.id, l.n + 1 FROM jp_s s, LATERAL (SELECT count(*) AS n FROM jp_t t WHERE t.sensor = s.id AND t.v > 5 HAVING count(*) FILTER (WHERE v > 20) > 8) l WHERE l.n > 9',
	-- a value of the outer row in a condition that is none on the key, and in an argument
	'SELECT s.id, l.n FROM jp_s s, LATERAL (SELECT count(*) AS n FROM jp_t t WHERE t.sensor = s.id AND t.v > s.lim) l',
	'SELECT s.id, l.n FROM jp_s s, LATERAL (SELECT sum(t.v + s.lim) AS n FROM jp_t t WHERE t.sensor = s.id AND t.v < 50) l',
	'SELECT (SELECT sum(l.n) FROM jp_s s, LATERAL (SELECT count(*) AS n FROM jp_t t WHERE t.sensor = s.id AND t.v > x.lim) l) FROM jp_s x WHERE x.id < 4',
	-- columns that the index lacks; both sides in one aggregate
	'SELECT s.site, count(*) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.note = ''x'' GROUP BY s.site',
	'SELECT s.site, sum(t.v + s.lim) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v < 50 GROUP BY s.site'
]) query;

-- Scalar subqueries; where the program has no answer the SubPlans go on
EXPLAIN (COSTS OFF) SELECT s.id, (SELECT sum(t.v) FROM jp_t t WHERE t.sensor = s.id AND t.v > 5) FROM jp_s s;
SELECT jp_compare(query) FROM unnest(ARRAY[
	'SELECT s.id, (SELECT sum(t.v) FROM jp_t t WHERE t.sensor = s.id AND t.v > 5) FROM jp_s s',
	'SELECT s.id, (SELECT count(*) FROM jp_t t WHERE t.sensor = s.id AND t.v > 5), (SELECT sum(t.v) + max(t.v) FROM jp_t t WHERE t.sensor = s.id AND t.v < 30), (SELECT count(*) FROM jp_t t WHERE t.sensor = s.id) FROM jp_s s',
	'SELECT s.id, (SELECT stddev(t.v) - count(*) FILTER (WHERE t.d IS NULL) FROM jp_t t WHERE t.sensor BETWEEN s.id AND s.id + s.lim) FROM jp_s s',
	'SELECT s.id, (SELECT sum(t.w * 2) FROM jp_t t WHERE t.sensor = s.id AND t.v IN (3, 4, 5)) FROM jp_s s',
	'SELECT s.id, (SELECT sum(t.v * 2) FROM jp_t t WHERE t.sensor = s.id) FROM jp_s s',
	'SELECT s.id, (SELECT sum(t.v * 2) FROM jp_t t WHERE t.sensor = s.id) FROM jp_s s WHERE s.id <> 7',
	'SELECT s.id, (SELECT var_pop(t.f) FROM jp_t t WHERE t.sensor = s.id AND t.v > 50) FROM jp_s s',
	'SELECT s.id, (SELECT count(*) FROM jp_t t WHERE t.sensor = s.id AND t.v > s.lim) FROM jp_s s'
]) query;
SELECT jp_gave_up('SELECT s.id, (SELECT var_pop(t.f) FROM jp_t t WHERE t.sensor = s.id AND t.v > 50) FROM jp_s s');

-- Joins whose rows come out: entries that fail are not listed.  Where a step faults core's evaluation decides.
SET gpubtree.enable_batchjoin = on;
EXPLAIN (COSTS OFF) SELECT s.id, t.w FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 30 AND t.note <> 'y';
SELECT jp_compare(query) FROM unnest(ARRAY[
	'SELECT s.id, t.w FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 30',
	'SELECT s.id, t.w, t.note FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 30 AND t.note <> ''y'' AND t.d IS NOT NULL',
	'SELECT s.id, t.w FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v <> 0 AND t.w / t.v > 90000',
	'SELECT s.id, t.w FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.w / t.v > 90000',
	'SELECT s.id, t.w FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v * 2 > 70 AND t.w > 100',
	'SELECT s.id, t.w, t.v FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 20 AND t.v + s.lim < 30',
	'SELECT s.id, t.w FROM jp_s s LEFT JOIN jp_t t ON s.id = t.sensor AND t.v > 35',
	'SELECT s.id, t.w FROM jp_s s LEFT JOIN jp_t t ON s.id = t.sensor AND t.v > 35 WHERE t.v IS NULL OR t.v < 37',
	'SELECT s.id FROM jp_s s WHERE EXISTS (SELECT 1 FROM jp_t t WHERE t.sensor = s.id AND t.v > 38)',
	'SELECT s.id FROM jp_s s WHERE NOT EXISTS (SELECT 1 FROM jp_t t WHERE t.sensor = s.id AND t.v > 38 AND t.note = ''x'')',
	'SELECT s.id FROM jp_s s WHERE NOT EXISTS (SELECT 1 FROM jp_t t WHERE t.sensor = s.id AND t.w / (t.v - 60) >= 0 AND t.v > 38)',
	'SELECT s.id, t.w FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 1 / (s.lim - 9)',
	'SELECT x.id, (SELECT count(q.w) FROM (SELECT t.w FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > x.id OFFSET 0) q) FROM jp_s x WHERE x.id IN (5, 20, 38, 60)'
]) query;
SET gpubtree.enable_batchjoin = off;

-- why not
SET client_min_messages = notice;
SET gpubtree.explain_decisions = on;
SELECT count(*) > 0 AS planned FROM jp_plan('SELECT s.site, count(*) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.note = ''x'' GROUP BY s.site');
SELECT count(*) > 0 AS planned FROM jp_plan('SELECT s.site, sum(t.v + s.lim) FROM jp_t t JOIN jp_s s ON s.id = t.sensor GROUP BY s.site');
SELECT count(*) > 0 AS planned FROM jp_plan('SELECT s.site, sum(coalesce(t.v, 7)) FROM jp_s s LEFT JOIN jp_t t ON t.sensor = s.id GROUP BY s.site');
RESET gpubtree.explain_decisions;
SET client_min_messages = warning;

-- parameters, and a constant that may fail
SET plan_cache_mode = force_generic_plan;
PREPARE jp_p(int, int) AS SELECT s.lim, count(*) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > 10 / $1 AND t.v < $2 GROUP BY s.lim, $2 + 1 ORDER BY 1;
EXECUTE jp_p(2, 20);
EXECUTE jp_p(0, 20);
EXECUTE jp_p(2, NULL);
DEALLOCATE jp_p;
RESET plan_cache_mode;
-- the rows of a node that runs again with another value
SELECT x.id, (SELECT string_agg(n::text, ',' ORDER BY n) FROM (SELECT count(*) AS n FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v > x.id GROUP BY s.lim) q)
	FROM jp_s x WHERE x.id IN (5, 20, 38, 60) ORDER BY 1;

-- rights to execute what the program does
CREATE ROLE regress_gpb_join_programs;
GRANT SELECT ON jp_t, jp_s TO regress_gpb_join_programs;
REVOKE EXECUTE ON FUNCTION int4ne(int, int) FROM PUBLIC;
SET ROLE regress_gpb_join_programs;
EXPLAIN (COSTS OFF) SELECT s.lim, count(*) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.v <> 9 GROUP BY s.lim;
RESET ROLE;
GRANT EXECUTE ON FUNCTION int4ne(int, int) TO PUBLIC;
-- a security policy that the program tests; a condition that might tell what it saw does not come ahead of it
ALTER TABLE jp_t ENABLE ROW LEVEL SECURITY;
CREATE POLICY jp_policy ON jp_t USING (v < 10);
SET ROLE regress_gpb_join_programs;
EXPLAIN (COSTS OFF) SELECT s.lim, count(*) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.w > 9 GROUP BY s.lim;
SELECT s.lim, count(*) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.w > 9 GROUP BY s.lim ORDER BY 1;
RESET ROLE;
ALTER POLICY jp_policy ON jp_t USING (v > 36);
SET ROLE regress_gpb_join_programs;
SELECT jp_compare('SELECT s.lim, sum(t.v * 2) FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.w / t.v > 9 AND t.v < 60 GROUP BY s.lim');
SET gpubtree.enable_batchjoin = on;
EXPLAIN (COSTS OFF) SELECT s.lim, t.w FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.w / t.v > 9;
SELECT jp_compare('SELECT s.lim, t.w FROM jp_t t JOIN jp_s s ON s.id = t.sensor WHERE t.w / t.v > 9');
RESET ROLE;

DROP TABLE jp_t, jp_s;
DROP FUNCTION jp_answer, jp_plain, jp_plan, jp_compare, jp_gave_up;
DROP ROLE regress_gpb_join_programs;
