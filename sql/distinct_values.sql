--
-- Aggregates that depend on how often each value occurs, in GpubtreeAggregate: DISTINCT, percentiles,
-- mode()
--
SET client_min_messages = warning;
CREATE SCHEMA distinct_values;
SET search_path = distinct_values, public;
SET timezone = 'UTC';

SET compare.node = 'GpubtreeAggregate';
\i :abs_srcdir/sql/common/compare.sql

-- m: each value often, some equally often; e: NULL but for a few rows; o: one value
CREATE TABLE event (k bigint, s smallint, i integer, b bigint, f double precision, d date, t timestamp, z timestamptz, m integer, e integer, o integer, u integer);
INSERT INTO event
	SELECT CASE WHEN n % 50 <> 0 THEN n END, n % 9 - 4, CASE WHEN n % 11 <> 0 THEN n % 100 - 20 END,
		CASE WHEN n % 13 <> 0 THEN n::bigint * 1000003 % 70001 - 9000000000 END, n / 4.0,
		date '2024-01-01' + n % 300, timestamp '2024-01-01' + n % 77 * interval '1 hour', timestamptz '2024-01-01' + n % 76 * interval '1 hour',
		abs(n % 20 - 10), CASE WHEN n IN (7, 8) THEN n END, -5, n
	FROM generate_series(1, 6000) n;
CREATE INDEX event_k ON event USING gpubtree (k) INCLUDE (s, i, b, f, d, t, z, m, e, o);
VACUUM ANALYZE event;

--
-- DISTINCT
--
SELECT what, compare('SELECT ' || what || ' FROM event') FROM unnest(ARRAY[
	'count(DISTINCT s)', 'count(DISTINCT i)', 'count(DISTINCT b)', 'count(DISTINCT d)', 'count(DISTINCT t)', 'count(DISTINCT z)', 'count(DISTINCT i > 9)',
	'count(DISTINCT e)', 'count(DISTINCT o)', 'count(DISTINCT k)', 'sum(DISTINCT s)', 'sum(DISTINCT i)', 'sum(DISTINCT b)', 'avg(DISTINCT s)', 'avg(DISTINCT i)', 'avg(DISTINCT b)',
	'sum(DISTINCT e), avg(DISTINCT e)', 'sum(DISTINCT o), avg(DISTINCT o)', 'count(DISTINCT i), sum(DISTINCT i), avg(DISTINCT i)',
	'stddev(DISTINCT i), var_pop(DISTINCT i), stddev_pop(DISTINCT i), variance(DISTINCT i)', 'bit_xor(DISTINCT i)', 'count(DISTINCT i % 7)', 'sum(DISTINCT i + s)',
	'count(DISTINCT i > 5)', 'count(DISTINCT date_trunc(''day'', t))', 'count(DISTINCT coalesce(i, 5))', 'count(DISTINCT i ORDER BY i DESC)',
	'min(DISTINCT i)', 'max(DISTINCT f), min(DISTINCT d)', 'bool_and(DISTINCT i > 9), bit_or(DISTINCT s)', 'min(DISTINCT i), count(DISTINCT s)',
	'count(DISTINCT i), count(*), count(i), sum(i), sum(b), avg(f), stddev(s), min(t), max(k)', 'count(DISTINCT i) + sum(s) * 2, sum(DISTINCT i) / count(*)',
	'count(DISTINCT i) FILTER (WHERE s > 2)', 'count(DISTINCT i) FILTER (WHERE s > 2), count(DISTINCT i), sum(DISTINCT i) FILTER (WHERE b > -9000000000 + 30000)',
	'count(DISTINCT i) FILTER (WHERE i = 7), count(*) FILTER (WHERE i = 7)', 'sum(DISTINCT i) FILTER (WHERE false), count(DISTINCT i) FILTER (WHERE NULL)']) what;
\set ECHO all
SELECT compare('SELECT count(DISTINCT i), sum(DISTINCT i) FROM event WHERE ' || "where") FROM unnest(ARRAY[
	'k BETWEEN 100 AND 200', 'k < 100 OR k > 5900', 'k IS NULL', 'k IN (1, 2, 102, 7)', 'i > 5', 'i > 5 AND s = 2', 'i > 1000', 'k > 100000', 'k > 5 AND k < 3', 'i IS NULL', 'i = 7']) "where";

--
-- Percentiles
--
\set ECHO none
SELECT what, compare('SELECT ' || what || ' FROM event WHERE k > 20') FROM unnest(ARRAY[
	'percentile_disc(0.5) WITHIN GROUP (ORDER BY i)', 'percentile_disc(0.5) WITHIN GROUP (ORDER BY i DESC)', 'percentile_disc(0) WITHIN GROUP (ORDER BY i)',
	'percentile_disc(1) WITHIN GROUP (ORDER BY i)', 'percentile_disc(0) WITHIN GROUP (ORDER BY i DESC)', 'percentile_disc(1) WITHIN GROUP (ORDER BY i DESC)',
	'percentile_disc(0.3) WITHIN GROUP (ORDER BY s)', 'percentile_disc(0.3) WITHIN GROUP (ORDER BY b)', 'percentile_disc(0.3) WITHIN GROUP (ORDER BY d)',
	'percentile_disc(0.3) WITHIN GROUP (ORDER BY t)', 'percentile_disc(0.3) WITHIN GROUP (ORDER BY z DESC)', 'percentile_disc(0.3) WITHIN GROUP (ORDER BY i > 9)',
	'percentile_disc(0.3) WITHIN GROUP (ORDER BY e)', 'percentile_disc(0.3) WITHIN GROUP (ORDER BY i % 10)', 'percentile_disc(0.3) WITHIN GROUP (ORDER BY i NULLS FIRST)',
	'percentile_disc(NULL::float8) WITHIN GROUP (ORDER BY i)', 'percentile_disc(0.1 + 0.2) WITHIN GROUP (ORDER BY i)',
	'percentile_disc(1.01) WITHIN GROUP (ORDER BY i)', 'percentile_disc(-0.1) WITHIN GROUP (ORDER BY i)', 'percentile_disc(''NaN''::float8) WITHIN GROUP (ORDER BY i)',
	'percentile_disc(1.01) WITHIN GROUP (ORDER BY e)',
	'percentile_disc(ARRAY[0.5, 0, 1, NULL, 0.999, 0.5]) WITHIN GROUP (ORDER BY i)', 'percentile_disc(ARRAY[0.5, 0, 1, NULL, 0.999]) WITHIN GROUP (ORDER BY i DESC)',
	'percentile_disc(ARRAY[[0.1, 0.2], [0.3, NULL]]) WITHIN GROUP (ORDER BY d)', 'percentile_disc(''[3:4]={0.1,0.9}''::float8[]) WITHIN GROUP (ORDER BY i > 9)',
	'percentile_disc(''{}''::float8[]) WITHIN GROUP (ORDER BY i)', 'percentile_disc(NULL::float8[]) WITHIN GROUP (ORDER BY i)', 'percentile_disc(ARRAY[0.5, 2]) WITHIN GROUP (ORDER BY i)',
	'percentile_disc(ARRAY[0.5, 2]) WITHIN GROUP (ORDER BY e)',
	'percentile_cont(0.5) WITHIN GROUP (ORDER BY i)', 'percentile_cont(0.37) WITHIN GROUP (ORDER BY i DESC)', 'percentile_cont(0) WITHIN GROUP (ORDER BY s)', 'percentile_cont(1) WITHIN GROUP (ORDER BY b)',
	'percentile_cont(0.123) WITHIN GROUP (ORDER BY b)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY e)', 'percentile_cont(2) WITHIN GROUP (ORDER BY i)',
	'percentile_cont(ARRAY[0.1, 0.2, NULL, 1, 0, 0.7777]) WITHIN GROUP (ORDER BY i)', 'percentile_cont(ARRAY[[0.1], [0.9]]) WITHIN GROUP (ORDER BY b DESC)', 'percentile_cont(''{}''::float8[]) WITHIN GROUP (ORDER BY i)',
	'percentile_disc(0.5) WITHIN GROUP (ORDER BY i), percentile_cont(0.5) WITHIN GROUP (ORDER BY i), percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY i DESC), mode() WITHIN GROUP (ORDER BY i), count(DISTINCT i), avg(i), count(*)',
	'percentile_disc(0.5) WITHIN GROUP (ORDER BY i) FILTER (WHERE s > 0), percentile_disc(0.5) WITHIN GROUP (ORDER BY i)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY i) FILTER (WHERE s > 50)']) what;
\set ECHO all
SELECT compare('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY e), percentile_cont(ARRAY[0, 0.5, 1]) WITHIN GROUP (ORDER BY e), mode() WITHIN GROUP (ORDER BY e) FROM event');
SELECT compare('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY o), percentile_cont(ARRAY[0, 0.5, 1]) WITHIN GROUP (ORDER BY o), mode() WITHIN GROUP (ORDER BY o) FROM event');
SELECT compare('SELECT percentile_disc(ARRAY[0.5, 2]) WITHIN GROUP (ORDER BY i), percentile_disc(0.1) WITHIN GROUP (ORDER BY i), mode() WITHIN GROUP (ORDER BY i) FROM event WHERE s > 100');
SELECT compare('SELECT percentile_disc(2) WITHIN GROUP (ORDER BY i) FROM event WHERE s > 100');
SELECT compare('SELECT percentile_disc(2) WITHIN GROUP (ORDER BY i) FROM event WHERE k > 5 AND k < 3');

--
-- mode(): the first of the most frequent
--
SELECT what, compare('SELECT ' || what || ' FROM event') FROM unnest(ARRAY[
	'mode() WITHIN GROUP (ORDER BY m)', 'mode() WITHIN GROUP (ORDER BY m DESC)', 'mode() WITHIN GROUP (ORDER BY k)', 'mode() WITHIN GROUP (ORDER BY k DESC)', 'mode() WITHIN GROUP (ORDER BY e DESC)',
	'mode() WITHIN GROUP (ORDER BY i > 9)', 'mode() WITHIN GROUP (ORDER BY i > 9 DESC)', 'mode() WITHIN GROUP (ORDER BY d)', 'mode() WITHIN GROUP (ORDER BY m) FILTER (WHERE m IN (3, 7, 0))', 'mode() WITHIN GROUP (ORDER BY m DESC) FILTER (WHERE m IN (3, 7, 0))',
	'mode() WITHIN GROUP (ORDER BY m) FILTER (WHERE k < 0)']) what;

--
-- Groups
--
SELECT "by", compare(format('SELECT %s, count(DISTINCT i), sum(DISTINCT i), percentile_cont(0.5) WITHIN GROUP (ORDER BY i), mode() WITHIN GROUP (ORDER BY i DESC), percentile_disc(ARRAY[0, 0.5, NULL]) WITHIN GROUP (ORDER BY i), count(*), sum(f), avg(b) FROM event GROUP BY %1$s', "by")) FROM unnest(ARRAY[
	's', 'i', 'i > 9', 's, i % 3', 'i > 9, s, m', 'd', 'i IS NULL', 'k / 1000', 'coalesce(i, 3)', 'date_trunc(''day'', t)', 's, i']) "by";
SELECT compare('SELECT s, count(DISTINCT i) FROM event WHERE i > 1000 GROUP BY s');
SELECT compare('SELECT s, percentile_disc(2) WITHIN GROUP (ORDER BY i) FROM event WHERE i > 1000 GROUP BY s');
SELECT compare('SELECT s, percentile_disc(2) WITHIN GROUP (ORDER BY i) FROM event WHERE k > 5 AND k < 3 GROUP BY s');
SELECT compare('SELECT s, percentile_disc(ARRAY[2]) WITHIN GROUP (ORDER BY e) FROM event WHERE s < 0 GROUP BY s');
SELECT compare('SELECT s, count(DISTINCT i) FROM event GROUP BY s HAVING count(DISTINCT i) > 50 AND sum(i) < 17000');
SELECT compare('SELECT i > 9, s, mode() WITHIN GROUP (ORDER BY m) FROM event WHERE k < 5000 AND i > 5 GROUP BY i > 9, s HAVING percentile_disc(0.5) WITHIN GROUP (ORDER BY m) = 4');
SELECT compare('SELECT count(DISTINCT i) FROM event HAVING count(DISTINCT i) > 5');
SELECT compare('SELECT count(DISTINCT i) FROM event HAVING sum(DISTINCT i) < 5');
SELECT compare('SELECT s, count(DISTINCT i) FILTER (WHERE m > 5), percentile_disc(0.5) WITHIN GROUP (ORDER BY i) FILTER (WHERE i > 70), sum(i) FILTER (WHERE i > 9), count(*) FROM event GROUP BY s');
SELECT s, count(DISTINCT i), percentile_disc(0.5) WITHIN GROUP (ORDER BY i) FROM event GROUP BY s ORDER BY s LIMIT 3;

--
-- Plans
--
SELECT plan('SELECT count(DISTINCT i), count(*) FROM event WHERE k > 20 AND s > 2');
SELECT plan('SELECT s, percentile_cont(0.5) WITHIN GROUP (ORDER BY i + s), mode() WITHIN GROUP (ORDER BY i + s) FROM event e GROUP BY s', 'COSTS OFF, VERBOSE');
SELECT plan('SELECT min(DISTINCT i) FROM event');
EXPLAIN (COSTS OFF, FORMAT JSON) SELECT s, count(DISTINCT i) FROM event GROUP BY s;
-- ranks of the key alone are found by counting
SET enable_seqscan = off;
SELECT plan('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM event');
SELECT plan('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM event WHERE k > 50 AND s > 2');
RESET enable_seqscan;

-- what stays with the ordinary plans
SET gpubtree.explain_decisions = on;
SET client_min_messages = notice;
\set VERBOSITY terse
EXPLAIN (COSTS OFF) SELECT stddev(DISTINCT f) FROM event;
EXPLAIN (COSTS OFF) SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t - timestamp '2024-01-01') FROM event;
EXPLAIN (COSTS OFF) SELECT s, percentile_disc(s / 10.0) WITHIN GROUP (ORDER BY i) FROM event GROUP BY s;
EXPLAIN (COSTS OFF) SELECT percentile_disc(random()) WITHIN GROUP (ORDER BY i) FROM event;
EXPLAIN (COSTS OFF) SELECT rank(5) WITHIN GROUP (ORDER BY i) FROM event;
EXPLAIN (COSTS OFF) SELECT array_agg(DISTINCT i) FROM event;
EXPLAIN (COSTS OFF) SELECT count(DISTINCT (i, s)) FROM event;
EXPLAIN (COSTS OFF) SELECT count(DISTINCT 5) FROM event;
EXPLAIN (COSTS OFF) SELECT count(DISTINCT u) FROM event;
EXPLAIN (COSTS OFF) SELECT count(DISTINCT i ORDER BY i), string_agg(i::text, ',' ORDER BY i) FROM event;
RESET gpubtree.explain_decisions;
SET client_min_messages = warning;

--
-- A step that faults; more values than memory
--
CREATE FUNCTION gave_up(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT line FROM plan(query, 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Gave Up|GpubtreeAggregate'
$$;
SELECT compare('SELECT count(DISTINCT 100 / i) FROM event');
SELECT compare('SELECT count(DISTINCT 100 / i) FILTER (WHERE i <> 0) FROM event');
SELECT compare('SELECT count(DISTINCT 100 / i) FROM event WHERE i <> 0');
SELECT gave_up('SELECT count(DISTINCT 100 / i) FILTER (WHERE i <> 0) FROM event');
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE many (k bigint, v bigint);
INSERT INTO many SELECT n, n % 5 FROM generate_series(1, 20000) n;
CREATE INDEX many_k ON many USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE many;
UPDATE many SET v = k;
SELECT is_ours('SELECT count(DISTINCT v) FROM many') AS ours;
SELECT gave_up('SELECT count(DISTINCT v), percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM many');
SELECT compare('SELECT count(DISTINCT v), percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM many');
SELECT compare('SELECT count(DISTINCT v), sum(DISTINCT v) FROM many WHERE k < 500');
RESET work_mem;
RESET hash_mem_multiplier;

--
-- Rows that VACUUM has not seen
--
UPDATE event SET i = i - 1000 WHERE u % 7 = 0;
DELETE FROM event WHERE u % 5 = 0;
BEGIN;
DELETE FROM event WHERE u % 3 = 0;
SELECT compare('SELECT s, count(DISTINCT i), percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY i), mode() WITHIN GROUP (ORDER BY i), sum(f) FROM event GROUP BY s');
ROLLBACK;
SELECT compare('SELECT s, count(DISTINCT i), percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY i), mode() WITHIN GROUP (ORDER BY i), sum(f) FROM event GROUP BY s');
SELECT compare('SELECT count(DISTINCT d), percentile_disc(0.9) WITHIN GROUP (ORDER BY d) FROM event WHERE k > 100');

--
-- Parameters, rescans, cursors, rights
--
SET plan_cache_mode = force_generic_plan;
PREPARE p (float8, int) AS SELECT percentile_disc($1) WITHIN GROUP (ORDER BY i), count(DISTINCT i) FILTER (WHERE i > $2) FROM event;
EXPLAIN (COSTS OFF) EXECUTE p (0.5, 3);
EXECUTE p (0.5, 3);
EXECUTE p (0.9, 300);
EXECUTE p (NULL, NULL);
EXECUTE p (3, 3);
RESET plan_cache_mode;
SELECT p, q.* FROM (VALUES (0.1), (0.5), (NULL), (0.1)) o(p) CROSS JOIN LATERAL (SELECT percentile_disc(p) WITHIN GROUP (ORDER BY s), count(DISTINCT s) FROM event WHERE k < 2000) q;
SELECT p, q.* FROM generate_series(1, 2) p CROSS JOIN LATERAL (SELECT s % 2 AS g, count(DISTINCT i) FROM event WHERE i < p * 10 GROUP BY 1) q ORDER BY p, g;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT s, count(DISTINCT i) FROM event GROUP BY s ORDER BY s;
FETCH 2 FROM c;
DELETE FROM event WHERE s = 0;
FETCH 3 FROM c;
FETCH FIRST FROM c;
ROLLBACK;
CREATE ROLE distinct_values_reader;
GRANT USAGE ON SCHEMA distinct_values TO distinct_values_reader;
GRANT SELECT ON event TO distinct_values_reader;
BEGIN;
REVOKE EXECUTE ON FUNCTION mode(anyelement) FROM public;
REVOKE EXECUTE ON FUNCTION sum(bigint) FROM public;
SET ROLE distinct_values_reader;
SELECT answer('SELECT count(DISTINCT i) FROM event') AS allowed, answer('SELECT mode() WITHIN GROUP (ORDER BY i) FROM event') AS forbidden,
	answer('SELECT sum(DISTINCT b) FROM event') AS forbidden_distinct;
ROLLBACK;

-- a domain
CREATE DOMAIN percent AS integer CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE part (k integer, p percent);
INSERT INTO part SELECT n, n % 101 FROM generate_series(1, 3000) n;
CREATE INDEX part_k ON part USING gpubtree (k DESC) INCLUDE (p);
VACUUM ANALYZE part;
SELECT compare('SELECT count(DISTINCT p), sum(DISTINCT p), mode() WITHIN GROUP (ORDER BY p), percentile_cont(0.5) WITHIN GROUP (ORDER BY p) FROM part WHERE k < 2000');
SELECT compare('SELECT percentile_disc(ARRAY[0.5, 1]) WITHIN GROUP (ORDER BY p), pg_typeof(percentile_disc(ARRAY[0.5, 1]) WITHIN GROUP (ORDER BY p)) FROM part');
-- an empty table
TRUNCATE part;
SELECT compare('SELECT count(DISTINCT p), sum(DISTINCT p), mode() WITHIN GROUP (ORDER BY p), percentile_disc(ARRAY[2]) WITHIN GROUP (ORDER BY p), count(*) FROM part');
SELECT compare('SELECT k, count(DISTINCT p) FROM part GROUP BY k');

DROP SCHEMA distinct_values CASCADE;
DROP ROLE distinct_values_reader;
