-- Groups that become rows of the node without a scan tuple and a projection: each kind of column,
-- and what takes the rows, beside core's answer.
SET datestyle = 'ISO';
CREATE TABLE sold (k bigint, at timestamptz NOT NULL, v int, w int, big bigint, f float8,
	n numeric(9,2), small smallint, d date);
INSERT INTO sold SELECT i, '2024-01-01 00:00+00'::timestamptz + i * interval '7 minutes',
	CASE WHEN i % 11 <> 0 THEN i % 7 END, CASE WHEN i % 13 <> 0 AND i % 7 <> 5 THEN i * 37 % 1001 - 500 END,
	i * 4611686018427::bigint % 9223372036854775807, (i % 5)::float8 / 4, (i % 100)::numeric / 8,
	i % 3, '2024-01-01'::date + (i % 9)::int
	FROM generate_series(1, 6000) i;
CREATE INDEX sold_k ON sold USING gpubtree (k) INCLUDE (v, w, big, f, n, small, d);
CREATE INDEX sold_at ON sold USING gpubtree (at) INCLUDE (v, w, big, f);
VACUUM ANALYZE sold;
SET enable_seqscan = off;
SET enable_indexonlyscan = off;

-- The rows of a query with our node and without: how many there are, and whether they are the same.
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan text := '';
	line text;
	ours text[];
	core text[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line;
	END LOOP;
	EXECUTE 'SELECT array_agg(q::text ORDER BY q::text) FROM (' || query || ') q' INTO ours;
	SET LOCAL gpubtree.enabled = off;
	EXECUTE 'SELECT array_agg(q::text ORDER BY q::text) FROM (' || query || ') q' INTO core;
	SET LOCAL gpubtree.enabled = on;
	RETURN coalesce(substring(plan FROM 'Gpubtree[A-Za-z]+'), 'core''s plan') || ', ' ||
		coalesce(array_length(ours, 1), 0) || ' rows, ' ||
		CASE WHEN ours IS NOT DISTINCT FROM core THEN 'the same' ELSE 'others' END;
END $$;
\set ECHO all

-- kinds of columns: words, NULL groups and sums, what is computed, what is allocated
SELECT same('SELECT v, count(*), sum(w) FROM sold WHERE k < 5000 GROUP BY v');
SELECT same('SELECT sum(w), v, count(w), min(w), max(w), count(*) FROM sold WHERE k < 5000 GROUP BY v');
SELECT same('SELECT v, sum(big), avg(w), min(big), max(big) FROM sold WHERE k < 5000 GROUP BY v');
-- sums of type numeric are core's to the last byte
SELECT same('SELECT k / 3 AS part, numeric_send(sum(big)) AS a, numeric_send(sum(big / 1000000000)) AS b, numeric_send(sum(n)) AS c, numeric_send(sum((w::bigint - 1) * 10000)) AS d, numeric_send(sum(w::bigint * 0)) AS e, pg_column_size(sum(n)) AS f FROM sold WHERE k < 5000 GROUP BY 1');
SELECT same('SELECT k % 700 AS part, pg_column_size(sum(n)), numeric_send(sum(n)), numeric_send(avg(n)), numeric_send(sum(-n * n)) FROM sold WHERE k < 700 GROUP BY 1');
SELECT same('SELECT f, sum(f), avg(f), sum(n), max(n) FROM sold WHERE k < 5000 GROUP BY f');
SELECT same('SELECT small, d, n, sum(small), max(d) FROM sold WHERE k < 5000 GROUP BY small, d, n');
SELECT same('SELECT count(*) FILTER (WHERE w > 0), sum(w) FILTER (WHERE w > 490), v FROM sold GROUP BY v');
SELECT same('SELECT DISTINCT v, small FROM sold WHERE k < 5000');
-- columns more than once, left out, in another order, constants
SELECT same('SELECT v, v AS again, count(*) AS n1, count(*) AS n2 FROM sold WHERE k < 5000 GROUP BY v');
SELECT same('SELECT small FROM (SELECT d, small, sum(w) FROM sold WHERE k < 5000 GROUP BY d, small) s');
SELECT same('SELECT count(*), sum(total) FROM (SELECT v, sum(w) AS total FROM sold WHERE k < 5000 GROUP BY v) s');
SELECT same('SELECT 7 AS seven, v, count(*) FROM sold WHERE k < 5000 GROUP BY v');
-- expressions over them, and HAVING, take a scan tuple
SELECT same('SELECT v + 1 AS w, count(*) * 2 AS n FROM sold WHERE k < 5000 GROUP BY v');
SELECT same('SELECT v, count(*) FROM sold WHERE k < 5000 GROUP BY v HAVING sum(w) > 0');
-- buckets with other groups
SELECT same('SELECT date_trunc(''day'', at) AS day, v, count(*), sum(w), avg(f), sum(big) FROM sold WHERE at < ''2024-01-20'' GROUP BY 1, 2');
SELECT same('SELECT v, k / 100 AS part, count(*), sum(w) FROM sold WHERE k BETWEEN 1 AND 5000 GROUP BY 1, 2');
SELECT same('SELECT count(*) FROM (SELECT v, k / 100 AS part, count(*), sum(w) FROM sold WHERE k BETWEEN 1 AND 5000 GROUP BY 1, 2) s');
SELECT same('SELECT v, date_trunc(''day'', at) AS day, sum(w) FROM sold WHERE at < ''2024-01-20'' GROUP BY 2, 1 HAVING count(*) > 20');

-- who takes the rows may keep them, sort them, ask again, or stop early
SELECT same('SELECT a.v, a.total, b.total AS other FROM (SELECT v, sum(big) AS total FROM sold WHERE k < 5000 GROUP BY v) a JOIN (SELECT v, sum(big) AS total FROM sold WHERE k < 6000 GROUP BY v) b ON a.v = b.v');
SELECT same('SELECT v, sum(big), row_number() OVER (ORDER BY sum(big)) FROM sold WHERE k < 5000 GROUP BY v');
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT same('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT v, sum(big) AS total, count(*) FROM sold WHERE k < 5000 GROUP BY v) s ON s.v > x');
SELECT same('SELECT x, s.* FROM generate_series(1, 3) x LEFT JOIN (SELECT v, k / 1000 AS part, sum(big) AS total FROM sold WHERE k < 5000 GROUP BY 1, 2) s ON s.v > x');
SELECT same('SELECT x, s.* FROM generate_series(1, 3) x, LATERAL (SELECT v, sum(w) AS total FROM sold WHERE k < 1000 * x GROUP BY v OFFSET 0) s');
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT v, count(*), sum(n) FROM sold WHERE k < 5000 GROUP BY v ORDER BY v;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH 2 FROM c;
COMMIT;
-- no entries, and no ranges
SELECT same('SELECT v, sum(w) FROM sold WHERE k < 0 GROUP BY v');
SELECT same('SELECT v, sum(w) FROM sold WHERE k < 10 AND k > 20 GROUP BY v');
DROP TABLE sold;
DROP FUNCTION same(text);
