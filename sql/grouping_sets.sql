-- Grouping sets, DISTINCT of several expressions, and groups by float8 return what core's plans do.

\set VERBOSITY terse
\set ECHO all
CREATE EXTENSION IF NOT EXISTS gpubtree;
\set ECHO none
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET gpubtree.enable_device = off;
SET gpubtree.enable_scan = off;

CREATE TABLE sets (k int, a int, b text, c int2, v int, w int8, f float8, g date, z float8);
INSERT INTO sets SELECT i % 500, CASE WHEN i % 11 > 0 THEN i % 5 END, i, i % 3, i % 17, i % 29,
	CASE i % 7 WHEN 0 THEN '-0' WHEN 1 THEN 0 WHEN 2 THEN 'NaN' WHEN 3 THEN 'infinity'
		WHEN 4 THEN i % 13 / 4.0 END,
	date '2024-01-01' + i % 4, CASE i % 3 WHEN 0 THEN 0 WHEN 1 THEN '-0'::float8 END
	FROM generate_series(1, 3000) i;
CREATE INDEX sets_k ON sets USING gpubtree (k) INCLUDE (a, c, v, w, f, g, z);
VACUUM ANALYZE sets;

-- How was the query answered, and was the answer core's?
CREATE FUNCTION answered(query text, OUT done text, OUT rows bigint, OUT same bool)
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
	ours text;
	plain text;
	texts text := format('SELECT count(*), string_agg(q::text, '';'' ORDER BY q::text COLLATE "C") '
		'FROM (%s) q', query);
BEGIN
	PERFORM set_config('gpubtree.enabled', 'on', true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	EXECUTE texts INTO rows, ours;
	PERFORM set_config('gpubtree.enabled', 'off', true);
	EXECUTE texts INTO rows, plain;
	PERFORM set_config('gpubtree.enabled', 'on', true);
	done := CASE WHEN plan !~ 'GpubtreeAggregate' THEN 'core' WHEN plan ~ 'Gave Up' THEN 'gave up'
		ELSE coalesce(substring(plan from 'Programs: \d+'), 'one program') END;
	same := ours IS NOT DISTINCT FROM plain;
END $$;

SET enable_hashagg = off;
\set ECHO all
EXPLAIN (COSTS OFF) SELECT a, c, count(*), grouping(a, c) FROM sets WHERE k < 400
	GROUP BY ROLLUP (a, c) HAVING grouping(c) = 0 OR count(*) > 3;
RESET enable_hashagg;
SELECT a, c, count(*), sum(v), grouping(a, c) FROM sets WHERE k < 400 AND v <> 3
	GROUP BY ROLLUP (a, c) HAVING grouping(c) = 1 OR a IS NULL ORDER BY 5, 1, 2;

SELECT (answered(q)).* FROM unnest(ARRAY[
	'SELECT a, c, g, count(*), sum(v), grouping(c, g) + 1, min(f), avg(w) FROM sets WHERE k < 400 AND v > 3
		GROUP BY CUBE (a, c, g)',
	'SELECT a, c, count(*), stddev(v), sum(f) FROM sets WHERE k < 450 GROUP BY GROUPING SETS ((a), (c), (), ())',
	'SELECT a, c, count(*) FROM sets WHERE k < 400 GROUP BY DISTINCT GROUPING SETS ((a, c), (a, c), (a))',
	'SELECT a + 1, (a + 1) * 2, a, sum(a) FROM sets WHERE k < 400 GROUP BY ROLLUP (a, a + 1)',
	'SELECT a, k / 100, count(*) FROM sets WHERE k < 400 OR k > 490 GROUP BY CUBE (a, k / 100)',
	-- HAVING of an expression that is grouped, and conditions on it before that
	'SELECT a + 1, count(*) FROM sets WHERE k < 400 AND a + 1 > 1 GROUP BY ROLLUP (a + 1) HAVING a + 1 IS NULL OR max(v) > 3',
	'SELECT a, a + 1, sum(v) FROM sets WHERE k < 400 AND a + 1 > 1 GROUP BY CUBE (a, a + 1) HAVING a + 1 + 1 > 3 OR a IS NULL',
	-- aggregates that depend on values
	'SELECT a, c, count(DISTINCT v), sum(DISTINCT v) FILTER (WHERE w > 9), sum(v),
		percentile_cont(0.3) WITHIN GROUP (ORDER BY v) FROM sets WHERE k < 400 GROUP BY CUBE (a, c)',
	'SELECT count(DISTINCT v), count(DISTINCT w), sum(DISTINCT w), max(v) FROM sets WHERE k < 400',
	'SELECT a, count(DISTINCT v), mode() WITHIN GROUP (ORDER BY c), count(DISTINCT w + 1), sum(v)
		FROM sets WHERE k < 400 GROUP BY a',
	'SELECT a, c, count(DISTINCT v), count(DISTINCT w) FROM sets WHERE k < 400 GROUP BY ROLLUP (a, c)',
	-- no entries, and no ranges
	'SELECT a, c, count(*), sum(v) FROM sets WHERE k < 400 AND v > 100 GROUP BY ROLLUP (a, c)',
	'SELECT a, c, count(DISTINCT v), count(DISTINCT w) FROM sets WHERE k < 9 AND k > 19 AND v <> 3
		GROUP BY ROLLUP (a, c)',
	'SELECT a, c, count(*) FROM sets WHERE k < 400 AND v > 100 GROUP BY GROUPING SETS ((a), (c))',
	'SELECT count(*) FROM sets WHERE k < 400 GROUP BY GROUPING SETS ((), ())',
	-- float8
	'SELECT f, count(*), sum(v) FROM sets WHERE k < 400 AND f <> 0 GROUP BY f',
	'SELECT abs(f), a, count(DISTINCT v), sum(v) FROM sets WHERE k < 400 GROUP BY ROLLUP (abs(f), a)',
	'SELECT count(DISTINCT f), sum(DISTINCT f), percentile_cont(0.4) WITHIN GROUP (ORDER BY f) FROM sets
		WHERE k < 400 AND f < 100',
	'SELECT DISTINCT f FROM sets WHERE k < 400 AND v % 7 = 3',
	'SELECT o, q.* FROM generate_series(1, 3) o, LATERAL (SELECT a, c, count(*), grouping(a) FROM sets
		WHERE k < o * 100 GROUP BY ROLLUP (a, c)) q']) q;

-- Sets of which one program would have far more groups, where merging is dear
SET cpu_operator_cost = 1;
SELECT (answered(q)).* FROM unnest(ARRAY[
	'SELECT k, v, w, count(*), grouping(k, v, w) FROM sets WHERE k < 400
		GROUP BY GROUPING SETS ((k, v), (k, w), (k), (v), (w), ())',
	'SELECT k, v, w, count(DISTINCT c), count(DISTINCT g) FROM sets WHERE k < 400
		GROUP BY GROUPING SETS ((), (k), (v, w), (w))']) q;
RESET cpu_operator_cost;

-- -0 is shown where 0 does not occur; where both do, one group has them.
SELECT c, z, count(*) FROM sets WHERE k < 400 GROUP BY c, z ORDER BY c;
SELECT abs(z), count(*), count(DISTINCT z) FROM sets WHERE k < 400 GROUP BY z ORDER BY 1;
SELECT a, count(*), count(DISTINCT f) FROM sets WHERE k < 400 AND f = 0 GROUP BY a ORDER BY a;
SELECT f + 0 AS f, count(*) FROM sets WHERE k < 400 GROUP BY f ORDER BY f;

-- The same with less memory than all programs' groups take: core's plan takes over.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT (answered('SELECT v * 3, k + w, c, count(*), sum(v) FROM sets GROUP BY CUBE (v * 3, k + w, c)')).*;
SELECT (answered('SELECT count(DISTINCT v * 3 + k), count(DISTINCT k * 3 + v), sum(v) FROM sets')).*;
RESET work_mem;
RESET hash_mem_multiplier;

-- What is declined
SET gpubtree.explain_decisions = on;
SELECT a AS x, a AS y, count(*) FROM sets WHERE k < 9 GROUP BY ROLLUP (x, y) HAVING count(*) < 0;
SELECT a, c, v, w, g, count(*) FROM sets WHERE k < 9 GROUP BY CUBE (a, c, v, w, g) HAVING count(*) < 0;
RESET gpubtree.explain_decisions;

DROP FUNCTION answered;
DROP TABLE sets;
