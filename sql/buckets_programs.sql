--
-- GpubtreeBucketAggregate with programs: filters, FILTER, expressions, further groups, and the
-- ordinary plan as a child.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;
CREATE SCHEMA buckets_programs;
SET search_path = buckets_programs, public;
SET timezone = 'America/New_York';

SET compare.node = 'GpubtreeBucketAggregate';
\i :abs_srcdir/sql/common/compare.sql
ALTER FUNCTION compare SET gpubtree.enable_aggregate = off SET gpubtree.enable_scan = off;
\i :abs_srcdir/sql/common/counts.sql
SET compare.uncounted = 'Engine|Leaves|Settled|Fallbacks|Blocks|Heap|Memory|Disk|Batches: ';
ALTER FUNCTION counts SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
	SET gpubtree.enable_aggregate = off SET gpubtree.enable_scan = off SET enable_hashagg = off;

-- float8 values are multiples of 1/4, so core's sums of them are exact too
CREATE TABLE reading (at timestamptz, host integer, cpu double precision, mem bigint, ok smallint, unheld integer);
INSERT INTO reading
	SELECT timestamptz '2023-10-20' + n / 3 * interval '7 minutes', CASE WHEN n % 31 <> 0 THEN n % 7 END,
		CASE WHEN n % 11 <> 0 THEN n % 400 / 4.0 END, n % 1000, (n % 5 = 0)::int, n
	FROM generate_series(1, 12000) n;
INSERT INTO reading SELECT NULL, n % 3, n, n, n % 2, n FROM generate_series(1, 10) n;
DELETE FROM reading WHERE at >= '2023-10-28' AND at < '2023-10-30 05:00';
CREATE INDEX reading_at ON reading USING gpubtree (at) INCLUDE (host, cpu, mem, ok);
CREATE TABLE num (k integer, v integer, w bigint NOT NULL);
INSERT INTO num SELECT CASE WHEN n % 100 <> 0 THEN n - 4000 END, n % 50, n FROM generate_series(1, 8000) n;
CREATE INDEX num_k ON num USING gpubtree (k DESC) INCLUDE (v, w);
VACUUM ANALYZE reading, num;

--
-- Plans: price ordinary scans out
--
SET enable_seqscan = off;
SET gpubtree.enable_scan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET gpubtree.enable_aggregate = off;
SET enable_hashagg = off;
\set ECHO all

-- no child: nothing can go wrong, so buckets come one after the other, in order
EXPLAIN (COSTS OFF) SELECT date_trunc('day', at) AS day, count(*), max(cpu) FROM reading WHERE host = 3 AND at >= '2023-10-25' GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF, VERBOSE) SELECT date_trunc('day', at) AS day, count(*) FILTER (WHERE cpu > 50) + 1 FROM reading
	WHERE host IN (1, 2) AND ok = 1 GROUP BY 1 HAVING max(mem) > 100 ORDER BY 1 LIMIT 3;
-- a child: groups may be too many
EXPLAIN (COSTS OFF) SELECT date_trunc('day', at) AS day, host, avg(cpu) FROM reading WHERE at >= '2023-10-25' AND cpu < 50 GROUP BY 1, 2 HAVING count(*) > 1;
-- a child: a sum may overflow
EXPLAIN (COSTS OFF) SELECT date_trunc('day', at), sum(mem + host) FROM reading GROUP BY 1 ORDER BY 1;
SELECT counts($$SELECT date_trunc('day', at) AS day, count(*), max(cpu) FROM reading WHERE host = 3 AND at >= '2023-10-25' GROUP BY 1 ORDER BY 1$$);
SELECT counts($$SELECT date_trunc('day', at) AS day, host, avg(cpu) FROM reading WHERE at >= '2023-10-25' AND cpu < 50 GROUP BY 1, 2 HAVING count(*) > 100$$);
-- HAVING with and without a program
EXPLAIN (COSTS OFF) SELECT date_trunc('day', at) FROM reading GROUP BY 1 HAVING count(*) > 100;
EXPLAIN (COSTS OFF) SELECT date_trunc('day', at) FROM reading GROUP BY 1 HAVING count(*) FILTER (WHERE ok = 1) > 100;
RESET enable_seqscan;
RESET gpubtree.enable_scan;
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;
RESET gpubtree.enable_aggregate;
RESET enable_hashagg;

--
-- Answers
--
SET enable_hashagg = off;
SET enable_sort = off;
SELECT date_trunc('day', at) AS day, count(*), sum(cpu), avg(mem) FILTER (WHERE ok = 1), count(host) FROM reading
	WHERE at < '2023-10-24' AND host <> 3 AND cpu > 10 GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', at) AS month, host, count(*), sum(cpu), max(mem) FROM reading WHERE host > 4 OR host IS NULL GROUP BY 1, 2 ORDER BY 1, 2;
RESET enable_hashagg;
RESET enable_sort;

-- filters
SELECT "where", compare('SELECT date_trunc(''day'', at), count(*), sum(cpu), min(mem), max(host), count(cpu) FROM reading WHERE ' || "where" || ' GROUP BY 1') FROM unnest(ARRAY[
	'host = 3', 'host <> 3', 'host IN (1, 2, 6)', 'host NOT IN (1, 2)', 'host IS NULL', 'host IS NOT NULL', 'ok = 1', 'NOT ok = 1', 'cpu > 50.25', 'cpu IS NULL',
	'cpu > mem', 'host = 2 AND cpu < 20', 'host = 2 OR cpu < 20', 'mem BETWEEN 100 AND 110', 'at > ''2023-10-25'' AND host = 1',
	'at BETWEEN ''2023-10-21'' AND ''2023-10-27'' AND ok = 1', 'at IS NULL AND host = 1', 'at IS NOT NULL AND host = 1', 'at IS NULL AND host = 5',
	'at <> ''2023-10-22'' AND ok = 1', '(at < ''2023-10-22'' OR at > ''2023-11-05'') AND host = 1', 'coalesce(host, 3) = 3', 'host % 3 = 1', 'CASE WHEN ok = 1 THEN host END = 4']) "where";
-- filters that empty buckets, those at both ends, the group of NULL, and all
SELECT compare('SELECT date_trunc(''hour'', at), count(*) FROM reading WHERE mem = 500 GROUP BY 1');
SELECT compare('SELECT date_trunc(''day'', at), count(*) FROM reading WHERE mem = 500 GROUP BY 1');
SELECT compare('SELECT date_trunc(''day'', at), count(*) FROM reading WHERE cpu > 99.5 AND at > ''2023-11-01'' GROUP BY 1');
SELECT compare('SELECT date_trunc(''day'', at), count(*) FROM reading WHERE mem > 5 AND mem < 7 AND at IS NULL GROUP BY 1');
SELECT compare('SELECT date_trunc(''day'', at), count(*) FROM reading WHERE mem > 100000 GROUP BY 1');
SELECT compare('SELECT date_trunc(''day'', at), count(*) FROM reading WHERE at > ''2030-01-01'' AND ok = 1 GROUP BY 1');
SELECT compare('SELECT date_trunc(''day'', at), count(*) FROM reading WHERE at > ''2023-11-01'' AND at < ''2023-10-01'' AND ok = 1 GROUP BY 1');
SELECT compare('SELECT k / 1000, count(*), sum(v) FROM num WHERE w % 4000 = 3 GROUP BY 1');
SELECT compare('SELECT k / 1000, count(*), sum(w) FROM num WHERE v > 48 GROUP BY 1');

-- aggregates; core rounds where ours do not, so what is not exact is rounded here
SELECT aggregates, compare(format('SELECT date_trunc(''day'', at), %s FROM reading WHERE at >= ''2023-10-23'' GROUP BY 1', aggregates)) FROM unnest(ARRAY[
	'count(*) FILTER (WHERE ok = 1)', 'count(cpu) FILTER (WHERE host = 2)', 'sum(cpu)', 'sum(cpu) FILTER (WHERE host > 4), sum(cpu)', 'round(avg(cpu)::numeric, 9)', 'min(cpu), max(cpu)',
	'sum(mem * 2)', 'sum(host + mem)', 'avg(mem - 500)', 'max(CASE WHEN ok = 1 THEN mem END)', 'min(least(host, mem))', 'bool_and(ok = 1), bool_or(ok = 1)',
	'stddev(mem), var_pop(host)', 'round(stddev(cpu)::numeric, 6)', 'bit_or(mem), bit_and(mem), bit_xor(mem)', 'min(at), max(at)', 'count(at), count(1)',
	'sum(mem) * 2 + count(*)', 'count(*) FILTER (WHERE at > ''2023-10-25 12:00'')']) aggregates;
SELECT compare('SELECT k / 500, sum(v * w), count(*) FILTER (WHERE v < 5) FROM num GROUP BY 1');
SELECT compare('SELECT k / 500, sum(w) FILTER (WHERE k > 10) FROM num WHERE k < 800 GROUP BY 1 HAVING count(*) FILTER (WHERE v < 5) > 30');

-- groups
SELECT groups, compare(format('SELECT %s, count(*), sum(cpu), min(mem) FROM reading GROUP BY %1$s', groups)) FROM unnest(ARRAY[
	'date_trunc(''day'', at), host', 'host, date_trunc(''day'', at)', 'date_trunc(''week'', at), host, ok', 'date_trunc(''day'', at), mem / 100', 'date_trunc(''month'', at), host % 2, ok, mem % 3',
	'at::date, coalesce(host, -1)', 'date_trunc(''day'', at), host > 3', 'date_bin(''12 hours'', at, ''2020-01-01''), host', 'date_trunc(''day'', at), at IS NULL',
	'date_trunc(''month'', at), date_trunc(''second'', at)']) groups;
SELECT compare('SELECT date_trunc(''day'', at), host, count(*) FILTER (WHERE cpu > 50), max(cpu) FROM reading WHERE ok = 1 AND at < ''2023-11-01'' GROUP BY 1, 2 HAVING count(*) > 5');
SELECT compare('SELECT date_trunc(''day'', at), host FROM reading WHERE host < 3 GROUP BY 1, 2');
SELECT compare('SELECT date_trunc(''day'', at), host, count(*) FROM reading WHERE mem > 100000 GROUP BY 1, 2');
SELECT compare('SELECT date_trunc(''day'', at), host, count(*) FROM reading WHERE at IS NULL GROUP BY 1, 2');
SELECT compare('SELECT k / 1000, v, count(*), sum(w) FROM num WHERE w > 600 GROUP BY 1, 2');
SELECT compare('SELECT k / 1000, k % 3, count(*), sum(w) FROM num GROUP BY 1, 2');
-- expressions over the rows
SELECT compare('SELECT date_trunc(''day'', at)::date, host * 10, sum(mem) / count(*) FROM reading GROUP BY date_trunc(''day'', at), host');
SELECT compare('SELECT d, sum(n) OVER (PARTITION BY host ORDER BY d) FROM (SELECT date_trunc(''day'', at) AS d, host, count(*) AS n FROM reading GROUP BY 1, 2) x');

--
-- More groups than memory holds: batches are halved, and a bucket of too many is left to the child
--
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT regexp_replace(line, '\d+', 'N') FROM counts($$SELECT date_trunc('hour', at), mem % 100, count(*), sum(mem) FROM reading GROUP BY 1, 2$$) line WHERE line ~ 'Halved|Gave Up';
SELECT compare('SELECT date_trunc(''hour'', at), mem % 100, count(*), sum(mem) FROM reading GROUP BY 1, 2');
-- the planner would not take the node if it knew of so many
CREATE TABLE many (k integer, v integer);
CREATE INDEX many_k ON many USING gpubtree (k) INCLUDE (v);
INSERT INTO many SELECT n % 8000 / 4000, n % 100 FROM generate_series(1, 8000) n;
ANALYZE many;
CREATE SEQUENCE numbers;
UPDATE many SET v = nextval('numbers');
SELECT line FROM counts('SELECT k / 2, v, count(*) FROM many GROUP BY 1, 2') line WHERE line ~ 'Halved|Gave Up';
SELECT compare('SELECT k / 2, v, count(*) FROM many GROUP BY 1, 2');
RESET work_mem;
RESET hash_mem_multiplier;

--
-- Faults: the child raises the error, or has an answer
--
SELECT compare('SELECT k / 1000, sum(100 / v) FROM num WHERE v > 0 GROUP BY 1');
SELECT compare('SELECT k / 1000, sum(100 / v) FROM num GROUP BY 1');
SELECT compare('SELECT k / 1000, count(*) FROM num WHERE 100 / v > 3 GROUP BY 1');
SELECT compare('SELECT k / 1000, sum(w * 1000000000000000000) FROM num GROUP BY 1');
SELECT counts('SELECT k / 1000, sum(CASE WHEN v < 49 THEN 1 ELSE v / (v - 49) END) FROM num WHERE v < 49 GROUP BY 1');

--
-- The bucket function is called for keys of rows that pass the filters, and no others
--
CREATE TABLE far (d date, v integer);
INSERT INTO far SELECT date '2020-01-01' + n / 10, n FROM generate_series(1, 3000) n;
INSERT INTO far VALUES ('5874897-12-31', 77777), ('infinity', 5), ('-infinity', 6), (NULL, 7);
CREATE INDEX far_d ON far USING gpubtree (d) INCLUDE (v);
VACUUM ANALYZE far;
SELECT compare('SELECT date_trunc(''month'', d::timestamp), count(*), sum(v) FROM far WHERE v < 70000 GROUP BY 1');
SELECT compare('SELECT date_trunc(''month'', d::timestamp), count(*), sum(v) FROM far WHERE v > 2000 GROUP BY 1');
SELECT compare('SELECT date_trunc(''month'', d::timestamp), v % 2, count(*) FROM far WHERE v < 70000 GROUP BY 1, 2');
SELECT compare('SELECT date_trunc(''month'', d::timestamp), v % 2, count(*) FROM far WHERE v > 2000 GROUP BY 1, 2');
\set ECHO none
-- with a NULL argument the cast below it is called all the same
SET plan_cache_mode = force_generic_plan;
PREPARE by_unit(text, integer) AS SELECT date_trunc($1, d::timestamp), count(*) FROM far WHERE v < $2 GROUP BY 1 ORDER BY 1;
PREPARE by_unit_and(text, integer) AS SELECT date_trunc($1, d::timestamp), v % 2, count(*) FROM far WHERE v < $2 GROUP BY 1, 2 ORDER BY 1, 2;
SET enable_seqscan = off;
SET gpubtree.enable_scan = off;
SET enable_bitmapscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET gpubtree.enable_aggregate = off;
SET enable_hashagg = off;
\set ECHO all
EXPLAIN (COSTS OFF) EXECUTE by_unit('year', 3000);
EXPLAIN (COSTS OFF) EXECUTE by_unit_and('year', 3000);
EXECUTE by_unit('year', 3000);
EXECUTE by_unit_and('year', 2000);
EXECUTE by_unit(NULL, 3000);
EXECUTE by_unit_and(NULL, 3000);
EXECUTE by_unit(NULL, 80000);
EXECUTE by_unit_and(NULL, 80000);
EXECUTE by_unit('fortnight', 0);
EXECUTE by_unit('fortnight', 100);
EXECUTE by_unit_and('year', NULL);

--
-- Rescans: constants and rows belong to an execution
--
SELECT g, x.* FROM generate_series(1, 3) g CROSS JOIN LATERAL
	(SELECT k / 4000 AS b, v % 2 AS odd, count(*) FROM num WHERE v < g * 10 GROUP BY 1, 2) x ORDER BY 1, 2, 3;
SELECT g, x.* FROM generate_series(1, 3) g CROSS JOIN LATERAL
	(SELECT k / 4000 AS b, count(*) FROM num WHERE v = g GROUP BY 1) x ORDER BY 1, 2;
SELECT g, x.* FROM generate_series(0, 2) g CROSS JOIN LATERAL
	(SELECT k / 8000 AS b, count(*) FROM num WHERE v <> 0 AND 100 / v > 90 AND v > g - 100 GROUP BY 1) x ORDER BY 1, 2;
\set ECHO none
RESET enable_seqscan;
RESET gpubtree.enable_scan;
RESET enable_bitmapscan;
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET gpubtree.enable_aggregate;
RESET enable_hashagg;

-- results that do not come in order
SET timezone = 'America/St_Johns';
CREATE TABLE newfoundland (at timestamptz NOT NULL, v integer);
INSERT INTO newfoundland SELECT timestamptz '1999-10-25 UTC' + n * interval '1 minute', n FROM generate_series(1, 10000) n;
CREATE INDEX newfoundland_at ON newfoundland USING gpubtree (at) INCLUDE (v);
VACUUM ANALYZE newfoundland;
\set ECHO all
SELECT compare('SELECT date_trunc(''day'', at), count(*), sum(v) FROM newfoundland WHERE v % 3 = 1 GROUP BY 1');
SELECT compare('SELECT date_trunc(''day'', at), v % 3, count(*), sum(v) FROM newfoundland GROUP BY 1, 2');
SELECT counts('SELECT date_trunc(''day'', at), v % 3, count(*) FROM newfoundland GROUP BY 1, 2');

--
-- Rows that VACUUM has not seen, and a serializable transaction
--
UPDATE reading SET host = host + 1 WHERE mem % 10 = 3;
DELETE FROM reading WHERE mem % 7 = 2;
SET timezone = 'UTC';
SELECT compare('SELECT date_trunc(''day'', at), host, count(*), sum(cpu) FROM reading WHERE mem > 30 GROUP BY 1, 2');
SELECT compare('SELECT date_trunc(''day'', at), count(*), sum(cpu) FROM reading WHERE host = 4 GROUP BY 1');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT compare('SELECT date_trunc(''day'', at), host, count(*), sum(cpu) FROM reading WHERE mem > 30 GROUP BY 1, 2');
SELECT compare('SELECT date_trunc(''day'', at), count(*), sum(cpu) FROM reading WHERE host = 4 GROUP BY 1');
COMMIT;

--
-- What is left to ordinary plans
--
SELECT compare(query) FROM unnest(ARRAY[
	'SELECT date_trunc(''day'', at), count(*) FROM reading WHERE unheld > 3 GROUP BY 1',
	'SELECT date_trunc(''day'', at), unheld, count(*) FROM reading GROUP BY 1, 2',
	'SELECT date_trunc(''day'', at), cpu, count(*) FROM reading GROUP BY 1, 2',
	'SELECT date_trunc(''day'', at), count(*) FROM reading WHERE random() > 2 GROUP BY 1',
	'SELECT date_trunc(''day'', at), count(*) FROM reading WHERE host = (SELECT max(v) FROM num WHERE w = unheld) GROUP BY 1',
	'SELECT date_trunc(''day'', at), host, count(*) FROM reading GROUP BY ROLLUP (1, 2)',
	'SELECT date_trunc(''day'', at), host, count(DISTINCT mem) FROM reading GROUP BY 1, 2',
	'SELECT date_trunc(''day'', at), host, (SELECT count(*) FROM num WHERE v = host) FROM reading GROUP BY 1, 2']) query;

DROP SCHEMA buckets_programs CASCADE;
