--
-- GpubtreeAggregate with programs: filters, expressions, FILTER, groups, HAVING, several ranges of
-- the key, and the ordinary plan as a child
--
SET max_parallel_workers_per_gather = 2;
SET client_min_messages = warning;
CREATE SCHEMA programs;
SET search_path = programs, public;
SET timezone = 'UTC';

SET compare.node = 'GpubtreeAggregate';
\i :abs_srcdir/sql/common/compare.sql
ALTER FUNCTION compare SET gpubtree.enable_bucketaggregate = off;

CREATE TABLE event (k bigint, s smallint, i integer, b bigint, f double precision, d date, t timestamp, z timestamptz, u integer);
INSERT INTO event
	SELECT CASE WHEN n % 50 <> 0 THEN n END, n % 9, CASE WHEN n % 11 <> 0 THEN n % 100 - 20 END,
		CASE WHEN n % 13 <> 0 THEN n::bigint * 1000003 % 70001 END, CASE WHEN n % 17 <> 0 THEN n / 4.0 END,
		date '2024-01-01' + n % 300, timestamp '2024-01-01' + n * interval '1 hour', timestamptz '2024-01-01' + n * interval '1 hour', n
	FROM generate_series(1, 6000) n;
CREATE INDEX event_k ON event USING gpubtree (k) INCLUDE (s, i, b, f, d, t, z);
VACUUM ANALYZE event;

--
-- Filters
--
SELECT "where", compare('SELECT count(*), count(k), sum(i), min(b), max(f) FROM event WHERE ' || "where") FROM unnest(ARRAY[
	'i = 5', 'i <> 5', 'i < 5', 'i <= 5', 'i > 5', '5 < i', 'i BETWEEN 5 AND 7', 'i NOT BETWEEN 5 AND 70', 's = i', 's::int8 < b',
	'i IN (1, 2, 3)', 'i NOT IN (1, 2, 3)', 'i IN (1, NULL)', 'i NOT IN (1, NULL)', 'i = ANY (''{}'')', 's IN (1, 2) OR i IN (7, 8)',
	'i IS NULL', 'i IS NOT NULL', 'i IS DISTINCT FROM b', 'i IS NOT DISTINCT FROM NULL', '(i > 5) IS TRUE', '(i > 5) IS NOT TRUE', '(i > 5) IS UNKNOWN',
	'NOT (i > 5)', 'i > 5 AND b < 9000', 'i > 5 OR b < 900', 'NOT (i > 5 OR b < 900)', 'i > 5 AND (b < 900 OR f > 1000)',
	'i + 1 > 5', 'i * 2 - s = 8', 'i / 3 = 4', 'i % 7 = 3', '-i > 10', 'abs(i) = 3', 'coalesce(i, 5) = 5', 'nullif(i, 5) IS NULL',
	'least(i, s) = 2', 'greatest(i, s, b) > 60000', 'CASE WHEN i > 50 THEN s ELSE 3 END = 3', 'CASE s WHEN 1 THEN i WHEN 2 THEN 5 END = 5',
	'f > 100.5', 'f * 2 < 100', 'f / 4 = 25', 'f = i', 'f + i::float8 > 1500', 'f IN (1, 2, 3.5)',
	'd = ''2024-03-01''', 'd + 5 > ''2024-10-20''', 'd - date ''2024-01-01'' < 4', 'd < t', 't >= ''2024-05-01 10:00''',
	'date_trunc(''month'', t) = ''2024-05-01''', 't + interval ''1 day'' < ''2024-01-05''', 't::date = ''2024-05-01''', 'z < timestamptz ''2024-01-05''',
	'k > 5 AND i = 7', 'k BETWEEN 100 AND 4000 AND i = 7', 'k IS NULL AND i > 5', 'k % 100 = 7', 'k = i', 'k <> 5', 'k IN (1, 2, 700, 50, 9999) AND i > 2']) "where";
\set ECHO all

-- nothing to be found
SELECT compare('SELECT count(*), sum(i), avg(f), min(d) FROM event WHERE i > 1000');
SELECT compare('SELECT count(*), sum(i), avg(f), min(d) FROM event WHERE k > 100000 AND i > 5');
SELECT compare('SELECT count(*), sum(i) FROM event WHERE k > 5 AND k < 3 AND i > 5');
SELECT compare('SELECT s, count(*) FROM event WHERE i > 1000 GROUP BY s');
SELECT compare('SELECT s, count(*) FROM event WHERE k > 5 AND k < 3 GROUP BY s');

--
-- Aggregates of expressions, FILTER
--
SELECT what, compare('SELECT ' || what || ' FROM event WHERE k > 20') FROM unnest(ARRAY[
	'sum(i + 1)', 'sum(i * b)', 'sum(i::bigint)', 'avg(i * 2)', 'avg(f * 2)', 'min(i - s)', 'max(d + 3)', 'max(t)', 'min(z)', 'count(i + s)', 'count(nullif(i, 5))',
	'sum(CASE WHEN i > 5 THEN b ELSE 0 END)', 'sum(coalesce(i, 100))', 'sum(i), sum(i + 1), sum(i) + sum(b)', 'count(*) FILTER (WHERE i > 5)',
	'sum(b) FILTER (WHERE i > 5 AND s IN (1, 2)), count(*), count(*) FILTER (WHERE false)', 'max(f) FILTER (WHERE d < ''2024-03-03'')',
	'bool_and(i > -100), bool_or(i > 78), every(i > 0)', 'bit_and(s), bit_or(i), bit_xor(b)', 'sum(1), count(1), max(5)',
	'stddev(i), stddev_pop(s), variance(b), var_pop(k), var_samp(i), stddev_samp(s)', 'round(stddev(f)::numeric, 6), round(var_pop(f)::numeric, 4)']) what;

--
-- Groups
--
SELECT "by", compare(format('SELECT %s, count(*), sum(i), avg(b), max(f) FROM event WHERE k > 20 GROUP BY %1$s', "by")) FROM unnest(ARRAY[
	's', 'i', 's, i % 3', 'i / 10', 'd', 'i IS NULL', 'i > 5, s > 3', 'date_trunc(''month'', t)', 't::date', 's, i % 5, d - date ''2024-01-01'' > 50',
	'coalesce(i, -1)', 'CASE WHEN i < 10 THEN 1 WHEN i < 50 THEN 2 END', 'k / 1000, s', 'b % 10', 'extract(year FROM d)', 'f', 'u']) "by";
SELECT compare('SELECT s, count(*) FROM event GROUP BY s');
SELECT compare('SELECT i / 50, s FROM event WHERE b > 5000 GROUP BY 1, 2');
SELECT compare('SELECT DISTINCT s, i % 3 FROM event WHERE b > 5000');
SELECT compare('SELECT count(*) FROM event WHERE b > 5 GROUP BY s');
SELECT compare('SELECT s + 1, s, sum(i) * 2 + s, count(*) FILTER (WHERE i > 5) FROM event GROUP BY s HAVING sum(i) > 10000 AND s <> 3');
SELECT compare('SELECT count(*) FROM event WHERE i > 5 HAVING count(*) > 1');
SELECT compare('SELECT count(*) FROM event WHERE i > 5 HAVING count(*) < 1');
SELECT compare('SELECT count(*) FROM event HAVING sum(i) > 1');
SELECT s, count(*) AS n FROM event WHERE i > 5 GROUP BY s ORDER BY n DESC, s LIMIT 3;
SELECT i > 5 AS more, count(*) FROM event WHERE k > 20 GROUP BY i > 5 ORDER BY more NULLS FIRST;
SELECT compare('SELECT s, n, sum(n) OVER (ORDER BY s) FROM (SELECT s, count(*) AS n FROM event GROUP BY s) q');

--
-- Several ranges of the key
--
SELECT "where", compare('SELECT count(*), sum(i) FROM event WHERE ' || "where") FROM unnest(ARRAY[
	'k < 50 OR k > 5900', 'k BETWEEN 10 AND 20 OR k BETWEEN 15 AND 40 OR k = 3', 'k = 5 OR k = 6 OR k = 5', 'k IS NULL OR k < 100', 'k < 30 OR k IS NULL OR k > 5000',
	'(k BETWEEN 10 AND 200 AND i > 5) OR (k BETWEEN 100 AND 300 AND s = 2)', 'k > 1000 AND (k < 2000 OR k > 5000)', '(k < 50 OR k > 100) AND (k < 60 OR k > 200)',
	'(k < 50 OR k > 5900) AND i > 5', 'k < 50 OR i > 5', 'k < 5 OR k > NULL', 'k > 70 OR k > 50', 'k < 100 AND k > 200 OR k = 300', '(k < 50 OR k > 5900) AND k IN (4, 5930, 400)']) "where";
SELECT compare('SELECT s, count(*) FROM event WHERE k < 500 OR k > 5500 GROUP BY s');

--
-- Plans
--
SELECT plan('SELECT count(*), sum(i) FROM event WHERE k > 20 AND i > 5 AND s IN (1, 2)');
SELECT plan('SELECT sum(i + 1), count(*) FILTER (WHERE i > 5) FROM event');
SELECT plan('SELECT s, i / 10, count(*) FROM event e WHERE k > 20 AND d < ''2024-05-01'' GROUP BY s, i / 10 HAVING count(*) > 5 ORDER BY s', 'COSTS OFF, VERBOSE');
SELECT plan('SELECT count(*) FROM event WHERE (k < 50 OR k > 5900) AND i > 5');
SELECT plan('SELECT count(*) FROM event WHERE (k < 50 AND i > 5) OR (k > 5900 AND k < 6000)');
SELECT plan('SELECT count(*) FROM event WHERE k < 50 OR k > 5900');
SELECT plan('SELECT count(*) FROM event WHERE i > 5 HAVING count(*) > 3');
SELECT plan('SELECT k > 5, count(*) FROM event WHERE k > 5 GROUP BY k > 5');
EXPLAIN (COSTS OFF, FORMAT JSON) SELECT s, count(*) FROM event WHERE i > 5 GROUP BY s HAVING count(*) > 5;

--
-- The ordinary plan takes over where a step faults, and raises the error if that has to be.
--
CREATE FUNCTION analyzed(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT line FROM plan(query, 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
	WHERE line ~ 'Gave Up|GpubtreeAggregate|never executed|Group Key'
$$;
SELECT compare('SELECT sum(100 / i) FROM event');
SELECT compare('SELECT sum(100 / i) FROM event WHERE i <> 0');
SELECT compare('SELECT sum(CASE WHEN i <> 0 THEN 100 / i END) FROM event');
SELECT compare('SELECT sum(100 / i) FILTER (WHERE i <> 0) FROM event');
SELECT compare('SELECT count(*) FROM event WHERE i <> 0 AND 100 / i > 5');
SELECT compare('SELECT sum(b * 9223372036854775807) FROM event');
SELECT compare('SELECT sum((b * 1000)::int4) FROM event WHERE k < 20');
SELECT compare('SELECT sum((b * 1000000)::int4) FROM event WHERE k < 200');
SELECT compare('SELECT max(i::int2 * 1000::int2) FROM event');
SELECT compare('SELECT sum(f / i) FROM event');
SELECT compare('SELECT s, sum(100 / i) FROM event WHERE k < 10 GROUP BY s');
SELECT compare('SELECT s, sum(100 / i) FROM event GROUP BY s');
SELECT analyzed('SELECT sum(i + 1) FROM event');
SELECT analyzed('SELECT s, sum(i) FROM event GROUP BY s');
SELECT analyzed('SELECT sum(b / (i - s)) FILTER (WHERE i <> s OR k < -5) FROM event WHERE i <> s OR i > 9000');
-- The rule that gives up sees an overflow in int8, as core does; in int4 core's operators see it.
INSERT INTO event (k, i, b) VALUES (7000, 2147483647, 9223372036854775807);
SELECT compare('SELECT sum(i + 1) FROM event');
SELECT compare('SELECT sum(i + 1) FROM event WHERE k < 7000');
SELECT compare('SELECT sum(b + i) FROM event WHERE k > 6500');
SELECT compare('SELECT sum(b), sum(i::bigint + 1), avg(b) FROM event WHERE i > 0');
DELETE FROM event WHERE k = 7000;
SELECT compare('SELECT sum(i + 1) FROM event');
-- here core's CASE does not evaluate what the program would have to
SELECT compare('SELECT sum(CASE WHEN i > 0 AND b / i > 2 THEN 1 END) FROM event');

-- core evaluates what follows NULL in AND, where AND is not all of the condition
SELECT compare('SELECT count(*) FROM event WHERE ((i > 5 AND 100 / s > 0) OR s < 0) AND (s > 0 OR i IS NULL)');
SELECT compare('SELECT count(*) FILTER (WHERE i > 5 AND 100 / s > 0) FROM event WHERE s > 0 OR i IS NULL');
SELECT compare('SELECT sum(CASE WHEN i > 5 AND 100 / s > 0 THEN 1 END) FROM event WHERE s > 0 OR i IS NULL');
SELECT compare('SELECT count(*) FROM event WHERE i > 5 AND 100 / s > 0 AND (s > 0 OR i IS NULL)');

-- more groups than memory
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE many (k bigint, v bigint);
INSERT INTO many SELECT n, n % 5 FROM generate_series(1, 20000) n;
CREATE INDEX many_k ON many USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE many;
UPDATE many SET v = k;
SELECT is_ours('SELECT v, count(*) FROM many GROUP BY v') AS ours;
SELECT bool_or(line LIKE '%Gave Up%') AS gave_up FROM analyzed('SELECT v, count(*) FROM many GROUP BY v') line;
SELECT count(*), sum(n), min(v), max(v) FROM (SELECT v, count(*) AS n FROM many GROUP BY v) q;
SELECT compare('SELECT v, count(*) FROM many WHERE k < 1000 GROUP BY v');
RESET work_mem;
RESET hash_mem_multiplier;

--
-- Parameters, rescans, cursors
--
SET plan_cache_mode = force_generic_plan;
PREPARE filtered (int, bigint) AS SELECT count(*), sum(i + $1) FROM event WHERE i > $1 AND k < $2;
EXPLAIN (COSTS OFF) EXECUTE filtered (5, 100);
EXECUTE filtered (5, 1000);
EXECUTE filtered (50, 2000);
EXECUTE filtered (NULL, 2000);
EXECUTE filtered (5, NULL);
PREPARE listed (int, int) AS SELECT count(*) FROM event WHERE i IN ($1, $2, 7);
EXECUTE listed (1, 2);
EXECUTE listed (1, NULL);
EXECUTE listed (7, 7);
PREPARE grouped (int) AS SELECT i % $1 AS g, count(*) FROM event WHERE k < 50 GROUP BY 1 ORDER BY 1;
EXECUTE grouped (3);
EXECUTE grouped (0);
EXECUTE grouped (2);
-- what core would not evaluate raises no error
PREPARE failing (text) AS SELECT count(*), sum(i) FROM event WHERE s > 100 AND i = $1::int;
EXECUTE failing ('5');
EXECUTE failing ('x');
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE failing ('x');
PREPARE failing_filter (int) AS SELECT count(*) FROM event WHERE i > 1 / $1;
EXECUTE failing_filter (1);
EXECUTE failing_filter (0);
EXECUTE failing_filter (1);
RESET plan_cache_mode;
CREATE FUNCTION failing(integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'failing %', $1; END $$;
SELECT compare('SELECT count(*) FROM event WHERE s > 100 AND i > failing((SELECT min(u) FROM event))');
SELECT compare('SELECT count(*) FROM event WHERE s > 1 AND i > failing((SELECT min(u) FROM event))');
-- a subquery whose plan keeps a buffer until the query ends
SELECT compare('SELECT s, count(*) FROM event WHERE i > (SELECT u FROM event LIMIT 1) + 1 GROUP BY s');
SELECT compare('SELECT count(*) FROM event WHERE s > 100 AND i > 10 / (SELECT u - u FROM event LIMIT 1)');
-- for each row of an outer query
SELECT set_config(name, 'off', false) FROM unnest('{enable_seqscan,enable_indexscan,enable_indexonlyscan,enable_bitmapscan}'::text[]) name;
EXPLAIN (COSTS OFF) SELECT o, q.* FROM (VALUES (2), (5), (NULL), (2)) o(o) CROSS JOIN LATERAL (SELECT count(*), sum(i) FROM event WHERE s < o AND k < 2000) q;
SELECT o, q.* FROM (VALUES (2), (5), (NULL), (2)) o(o) CROSS JOIN LATERAL (SELECT count(*), sum(i) FROM event WHERE s < o AND k < 2000) q;
SELECT o, q.* FROM generate_series(1, 2) o CROSS JOIN LATERAL (SELECT s % 2 AS g, count(*) FROM event WHERE i < o * 10 GROUP BY 1) q ORDER BY o, g;
SELECT compare('SELECT o, (SELECT count(*) FROM event WHERE s = o OR i = o OR CASE WHEN s > o THEN k = o END) FROM generate_series(1, 3) o');
SELECT compare('SELECT o, q.* FROM generate_series(1, 3) o CROSS JOIN LATERAL (SELECT count(*) FROM event WHERE s = o OR i = o + 1) q');
SELECT o, (SELECT sum(10 / (i - o)) FROM event WHERE k < 10) FROM generate_series(1, 3) o;
SELECT o, q.* FROM generate_series(1, 3) o CROSS JOIN LATERAL (SELECT count(*) + o AS n, sum(i) FROM event WHERE s > 100 AND s = ('x' || o)::int) q;
SELECT name, set_config(name, 'on', false) FROM unnest('{enable_seqscan,enable_indexscan,enable_indexonlyscan,enable_bitmapscan}'::text[]) name;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT s, count(*), sum(i) FROM event WHERE i > 5 GROUP BY s ORDER BY s;
FETCH 2 FROM c;
DELETE FROM event WHERE s = 3;
FETCH 2 FROM c;
FETCH FIRST FROM c;
ROLLBACK;
-- a row returned by the child, through a cursor that starts again
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT sum(100 / i) FROM event WHERE k < 10 OR k = 12;
FETCH c;
FETCH FIRST FROM c;
COMMIT;

--
-- Rights, policies, what stays with the ordinary plans
--
SET gpubtree.explain_decisions = on;
SET client_min_messages = notice;
\set VERBOSITY terse
EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE u > 5;
EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE random() > 2;
EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE i = (SELECT e.i FROM event e WHERE e.k = event.b LIMIT 1);
EXPLAIN (COSTS OFF) SELECT array_agg(DISTINCT i) FROM event WHERE i > 5;
EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE ctid = '(0,1)';
EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE f::text > '5';
EXPLAIN (COSTS OFF) SELECT count(*) FROM event a, event b WHERE a.k = b.u;
SET gpubtree.setup_cost = 100000;
EXPLAIN (COSTS OFF) SELECT v, count(*) FROM many GROUP BY v;
RESET gpubtree.setup_cost;
RESET gpubtree.explain_decisions;
SET client_min_messages = warning;

\set ECHO none
CREATE ROLE programs_reader;
GRANT USAGE ON SCHEMA programs TO programs_reader;
GRANT SELECT ON event TO programs_reader;
BEGIN;
REVOKE EXECUTE ON FUNCTION int4pl(int, int) FROM public;
SET ROLE programs_reader;
\set ECHO all
SELECT answer('SELECT sum(i) FROM event WHERE s = 5') AS allowed, answer('SELECT sum(i + 1) FROM event') AS forbidden,
	answer('SELECT sum(s) FROM event WHERE i + 1 > 5') AS filter, answer('SELECT i + 1, count(*) FROM event GROUP BY 1') AS grouped;
ROLLBACK;

-- A condition that may tell what it saw does not run ahead of a policy.
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
CREATE POLICY small ON event FOR SELECT TO programs_reader USING (i < 50);
SET ROLE programs_reader;
SELECT compare('SELECT count(*), sum(i) FROM event') AS policy, compare('SELECT count(*) FROM event WHERE s = 5') AS leakproof;
SELECT compare('SELECT count(*) FROM event WHERE 100 / i > 5') AS leaky;
RESET ROLE;

--
-- A domain, a partial index, a descending one with NULLs first, a key without conditions
--
CREATE DOMAIN percent AS integer CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE part (k integer, p percent, v bigint);
INSERT INTO part SELECT nullif(n % 400, 5), n % 101, n FROM generate_series(1, 3000) n;
CREATE INDEX part_k ON part USING gpubtree (k DESC NULLS FIRST) INCLUDE (p, v) WHERE v > 100;
VACUUM ANALYZE part;
SELECT compare('SELECT count(*), sum(p), sum(k) FROM part WHERE v > 100 AND p > 50');
SELECT compare('SELECT p / 10, count(*) FROM part WHERE v > 100 AND (k < 50 OR k IS NULL) GROUP BY 1');
SELECT compare('SELECT p, count(*), max(k) FROM part WHERE v > 100 AND k < 50 GROUP BY p');
SELECT compare('SELECT count(*) FROM part WHERE v > 50 AND p > 50') LIKE 'ordinary%' AS ordinary;

DROP SCHEMA programs CASCADE;
DROP ROLE programs_reader;
