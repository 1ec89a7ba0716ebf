--
-- Aggregates over several partitions: each answers for itself by states, and one node above core's Append merges them. The same rows
-- stand in one table beside them, whose answers are core's, or those of its own index where core's depend on the order of rows.
--
SET gpubtree.enable_device = off;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET enable_indexscan = off;
SET timezone = 'UTC';

-- texts come in another order in each partition; -0 is in one, 0 in another, and NaNs have different bits; wide sums are of one
CREATE TABLE readings (k int NOT NULL, v int, f float8, d text, n numeric(12,2), at timestamptz) PARTITION BY RANGE (k);
CREATE TABLE readings_1 PARTITION OF readings FOR VALUES FROM (0) TO (1000);
CREATE TABLE readings_2 PARTITION OF readings FOR VALUES FROM (1000) TO (2000) PARTITION BY RANGE (k);
CREATE TABLE readings_2a PARTITION OF readings_2 FOR VALUES FROM (1000) TO (1400);
CREATE TABLE readings_2b PARTITION OF readings_2 DEFAULT;
CREATE TABLE readings_3 PARTITION OF readings FOR VALUES FROM (2000) TO (3000);
INSERT INTO readings SELECT i, nullif(i % 8, 7),
	CASE WHEN i % 13 = 0 THEN CASE WHEN i < 1000 THEN '-0'::float8 ELSE 0 END
		WHEN i % 101 = 0 THEN CASE WHEN i < 1000 THEN 'NaN'::float8 ELSE -'NaN'::float8 END ELSE i % 5 / 4.0 END,
	nullif('text ' || i * (1 + i / 1000) % 23, 'text 5'), i / 100.0,
	'2024-03-30 12:00'::timestamptz + i * interval '3 minutes' FROM generate_series(0, 2999) i;
CREATE INDEX ON readings USING gpubtree (k) INCLUDE (v, f, d, n, at);
CREATE TABLE one AS SELECT * FROM readings;
CREATE INDEX ON one USING gpubtree (k) INCLUDE (v, f, d, n, at);
VACUUM ANALYZE readings, one;

-- Were states merged, who gave up, and are the rows those of the table beside? Its node is asked only if the answer is to be "exact".
CREATE FUNCTION merged(query text, exact boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	how text := 'not merged';
	found text;
	expected text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || format(query, 'readings') LOOP
		IF line ~ 'States Merged' THEN
			how := CASE WHEN line ~ ': 0' THEN 'merged nothing' ELSE 'merged' END;
		ELSIF line ~ '^ *Gave Up' THEN
			-- the node's own, and then those of partitions
			how := how || ', ' || CASE WHEN how ~ 'Gave' THEN 'so a partition' ELSE ltrim(line) END;
		END IF;
	END LOOP;
	EXECUTE 'SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (' || format(query, 'readings') || ') q' INTO found;
	PERFORM set_config('gpubtree.enabled', CASE WHEN exact THEN 'on' ELSE 'off' END, true);
	EXECUTE 'SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (' || format(query, 'one') || ') q' INTO expected;
	PERFORM set_config('gpubtree.enabled', 'on', true);
	RETURN CASE WHEN found IS DISTINCT FROM expected THEN 'DIFFERENT ' || coalesce(found, 'nothing') || ' BUT ' || coalesce(expected, 'nothing') ELSE how END;
END $$;
\set ECHO all

SELECT merged('SELECT count(*), count(v), sum(v), min(k), max(n), avg(n), sum(n), bit_xor(k) FROM %s');
SELECT merged('SELECT sum(f), avg(f), stddev(f), corr(f, v), variance(n) FROM %s WHERE k %% 101 <> 0', true);
SELECT merged('SELECT count(*), sum(f) FROM %s WHERE k BETWEEN 500 AND 2500 AND v < 5');
-- groups
SELECT merged('SELECT v, count(*), sum(n), avg(f) FROM %s GROUP BY v');
SELECT merged('SELECT d, count(*), min(f), max(n) FROM %s GROUP BY d');
SELECT merged('SELECT d, v, count(*) FROM %s GROUP BY d, v HAVING count(*) > 16');
SELECT merged('SELECT k %% 300, sum(v) FILTER (WHERE d LIKE ''%%1%%'') FROM %s GROUP BY 1');
SELECT merged('SELECT DISTINCT d, n > 15 FROM %s');
SELECT merged('SELECT f + 0, count(*), count(DISTINCT f) FROM %s GROUP BY f');
-- sums that are narrow in one partition and wide in another, which comes first or last
SELECT merged('SELECT v, sum(CASE WHEN k < 1000 THEN f ELSE f * 1e200 END), count(*) FROM %s WHERE k %% 101 <> 0 GROUP BY v', true);
SELECT merged('SELECT v, sum(CASE WHEN k >= 1000 THEN f ELSE f * 1e200 END), count(*) FROM %s WHERE k %% 101 <> 0 GROUP BY v', true);
-- grouping sets, and aggregates of values
SELECT merged('SELECT d, v, grouping(d), grouping(v), count(*), sum(n) FROM %s GROUP BY CUBE (d, v)');
SELECT merged('SELECT d, v, count(*), count(DISTINCT f) FROM %s GROUP BY GROUPING SETS ((d), (v), ())');
SELECT merged('SELECT v, count(DISTINCT d), min(d), max(d), sum(DISTINCT n) FROM %s GROUP BY v');
SELECT merged('SELECT count(DISTINCT d), max(d), 0 + mode() WITHIN GROUP (ORDER BY v),
	percentile_disc(ARRAY[0.3, 0.9]) WITHIN GROUP (ORDER BY v), percentile_cont(0.3) WITHIN GROUP (ORDER BY n::float8) FROM %s');

-- which partitions are asked is known when the node runs; none is
SET plan_cache_mode = force_generic_plan;
PREPARE from_on(int) AS SELECT count(*), sum(v), max(d) FROM readings WHERE k >= $1;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE from_on(1400);
EXECUTE from_on(1400);
EXECUTE from_on(999);
EXECUTE from_on(3000);
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE from_on(3000);
PREPARE groups_from_on(int) AS SELECT d, count(*) FROM readings WHERE k >= $1 GROUP BY d ORDER BY 2 DESC, 1 LIMIT 2;
EXECUTE groups_from_on(3000);
EXECUTE groups_from_on(1999);
-- at each execution others, with partitions removed before
PREPARE each(int) AS SELECT x, (SELECT count(*) || ' ' || max(d) FROM readings WHERE k >= x * 600 AND k >= $1) FROM generate_series(6, -1, -1) x;
EXECUTE each(1400);
EXPLAIN (COSTS OFF) EXECUTE each(1400);
-- a parameter that no partition has, and one that changes nothing
SELECT x, (SELECT sum(v) FROM readings WHERE k < 1500 HAVING count(*) > x * 600) FROM generate_series(0, 3) x;
SELECT x, s.* FROM generate_series(1, 2) x LEFT JOIN LATERAL (SELECT count(*), sum(n) FROM readings WHERE k >= 10) s ON true;
RESET plan_cache_mode;

-- two partitions have no answer: the whole query's ordinary plan returns the rows, or raises the error
SELECT merged('SELECT v, sum(n * n * n * n * n * n) FROM %s WHERE k < 1000 OR v < 9 GROUP BY v');
SELECT merged('SELECT v, sum(n * n * n * n * n * n) FILTER (WHERE k < 1000) FROM %s GROUP BY v');
SELECT v, sum(2147481000 + k) FROM readings GROUP BY v;
-- nor has a node more groups than memory holds, of all partitions together
SET work_mem = 64;
SET hash_mem_multiplier = 1;
SELECT merged('SELECT k * 7 %% 1500, count(*) FROM %s GROUP BY 1');
SELECT merged('SELECT k * 7 %% 250, count(*) FROM %s GROUP BY 1');
-- those of sets are made of others, so that half as many are known not to fit
SELECT merged('SELECT k * 7 %% 1500, count(*) FROM %s GROUP BY ROLLUP (1)');
RESET work_mem;
RESET hash_mem_multiplier;

-- all partitions are asked before the first row goes out, and so in one time zone
BEGIN;
DECLARE c CURSOR FOR SELECT extract(epoch FROM date_trunc('day', at)), count(*) FROM readings GROUP BY date_trunc('day', at);
FETCH 1 FROM c;
SET LOCAL timezone = 'Asia/Kolkata';
FETCH ALL FROM c;
ROLLBACK;

-- only the right on the parent is asked for
CREATE ROLE reads_the_parent;
GRANT SELECT ON readings TO reads_the_parent;
SET ROLE reads_the_parent;
SELECT count(*), sum(v) FROM readings WHERE k < 2500;
SELECT count(*) FROM readings_1;
RESET ROLE;

DROP TABLE readings, one;
DROP FUNCTION merged(text, boolean);
DROP ROLE reads_the_parent;
