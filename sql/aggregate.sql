--
-- Range aggregates: the answers, the plans, and what is left to ordinary plans.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;

-- The tables are small: make the node free of its fixed price, and discourage every
-- other way to read a table, so that it is used wherever it can be.
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
-- for each outer row: see lateral.sql
SET gpubtree.enable_rangeaggregate = off;

SET compare.node = 'GpubtreeAggregate';
\i :abs_srcdir/sql/common/compare.sql
-- plans are those for the price of a batch
ALTER FUNCTION plan SET gpubtree.batch_setup_cost = 20;
-- Would the node be chosen of the planner's own accord?
CREATE FUNCTION is_chosen(query text) RETURNS boolean LANGUAGE sql
	SET gpubtree.setup_cost = 100 SET enable_seqscan = on SET enable_indexscan = on
	SET enable_indexonlyscan = on SET enable_bitmapscan = on
AS $$
	SELECT is_ours(query)
$$;

--
-- Every aggregate of every type, with NULLs
--
CREATE TABLE readings (
	k bigint, s smallint, i integer, b bigint, f double precision,
	d date, t timestamp, z timestamptz);
INSERT INTO readings
	SELECT CASE WHEN n % 50 <> 0 THEN (n * 7919) % 3000 - 1000 END,
		CASE WHEN n % 7 <> 0 THEN (n * 31) % 65536 - 32768 END,
		CASE WHEN n % 11 <> 0 THEN (n * 7001) % 4000000 - 2000000 END,
		CASE WHEN n % 13 <> 0 THEN 9000000000000000000 - n * 1000 END,
		CASE WHEN n % 17 <> 0 THEN (n - 1500) / 8.0 END,
		CASE WHEN n % 19 <> 0 THEN date '2001-01-01' + n % 700 END,
		CASE WHEN n % 23 <> 0 THEN timestamp '2001-01-01' + n * interval '17 min' END,
		CASE WHEN n % 29 <> 0 THEN timestamptz '2001-01-01 00:00+00' + n * interval '13 min' END
	FROM generate_series(1, 4000) n;
CREATE INDEX readings_k ON readings USING gpubtree (k) INCLUDE (s, i, b, f, d, t, z);
VACUUM ANALYZE readings;
\set ECHO all

SELECT * FROM plan('SELECT count(*), sum(i), avg(b) FROM readings WHERE k BETWEEN 100 AND 900');

\set ECHO none
CREATE FUNCTION each_aggregate(condition text) RETURNS TABLE (aggregates text, result text)
LANGUAGE sql AS $$
	SELECT a, compare(format('SELECT %s FROM readings %s', a, condition))
	FROM unnest(ARRAY[
		'count(*), count(1), count(k), count(s), count(i), count(b), count(f), count(d), count(t), count(z)',
		'sum(k), sum(s), sum(i), sum(b), sum(f)',
		'avg(k), avg(s), avg(i), avg(b), avg(f)',
		'count(*), min(k), min(s), min(i), min(b), min(f), min(d), min(t), min(z)',
		'count(*), max(k), max(s), max(i), max(b), max(f), max(d), max(t), max(z)']) a
$$;
\set ECHO all
SELECT * FROM each_aggregate('WHERE k BETWEEN 100 AND 900');
SELECT * FROM each_aggregate('WHERE k < -500');
SELECT * FROM each_aggregate('WHERE k IS NULL');
SELECT * FROM each_aggregate('WHERE k IS NOT NULL');
SELECT * FROM each_aggregate('');
-- no rows: count is 0, all others NULL
SELECT * FROM each_aggregate('WHERE k > 5 AND k < 5');
SELECT * FROM each_aggregate('WHERE k > 5000');

-- result types
SELECT pg_typeof(count(*)), pg_typeof(sum(s)), pg_typeof(sum(i)), pg_typeof(sum(b)), pg_typeof(sum(f)),
	pg_typeof(avg(s)), pg_typeof(avg(f)), pg_typeof(min(s)), pg_typeof(max(d)), pg_typeof(max(z))
FROM readings WHERE k > 0;

-- the same with rows that the visibility map does not vouch for, dead ones among them
BEGIN;
DELETE FROM readings WHERE i % 3 = 0;
UPDATE readings SET i = i + 1 WHERE k BETWEEN 300 AND 500;
INSERT INTO readings SELECT n, 1, 2, 3, 0.5, '2020-02-02', 'infinity', '-infinity' FROM generate_series(400, 600) n;
SELECT result NOT LIKE '%should be%' AND result NOT LIKE 'ordinary%' AS same, count(*) FROM (
	SELECT * FROM each_aggregate('WHERE k BETWEEN 100 AND 900')
	UNION ALL SELECT * FROM each_aggregate('WHERE k IS NULL')
	UNION ALL SELECT * FROM each_aggregate('')) q GROUP BY 1;
ROLLBACK;

\set ECHO none
--
-- Every key type, order of NULLs and operator, cross-type operands included.
-- Counts the comparisons, and shows those that failed.
--
CREATE FUNCTION sweep(key_type text, key_value text, operands text[])
RETURNS TABLE (compared bigint, failed text[]) LANGUAGE plpgsql AS $$
DECLARE
	ordering text;
	operand text;
	operator text;
	condition text;
	result text;
BEGIN
	compared := 0;
	FOREACH ordering IN ARRAY ARRAY['', 'NULLS FIRST', 'DESC', 'DESC NULLS LAST'] LOOP
		EXECUTE 'DROP TABLE IF EXISTS swept';
		EXECUTE format('CREATE TABLE swept (k %s, v integer)', key_type);
		EXECUTE format('INSERT INTO swept SELECT CASE WHEN n %% 40 <> 0 THEN %s END, n FROM generate_series(1, 1500) n',
			key_value);
		EXECUTE format('CREATE INDEX ON swept USING gpubtree (k %s) INCLUDE (v)', ordering);
		EXECUTE 'ANALYZE swept';
		FOREACH operand IN ARRAY operands LOOP
			FOREACH operator IN ARRAY ARRAY['<', '<=', '=', '>=', '>'] LOOP
				FOREACH condition IN ARRAY ARRAY[
					format('k %s %s', operator, operand),
					format('%s %s k', operand, operator),
					format('k IS NOT NULL AND k >= %s AND k %s %s', operands[1], operator, operand)] LOOP
					result := compare(format('SELECT count(*), sum(v), min(k), max(k), count(k) FROM swept WHERE %s', condition));
					compared := compared + 1;
					IF result LIKE '%should be%' OR result LIKE 'ordinary%' THEN
						failed := failed || (ordering || ': ' || result);
					END IF;
				END LOOP;
			END LOOP;
		END LOOP;
		FOREACH condition IN ARRAY ARRAY['k IS NULL', 'k IS NOT NULL', 'k IS NULL AND k IS NOT NULL', 'true'] LOOP
			result := compare(format('SELECT count(*), sum(v), min(k), max(k), count(k) FROM swept WHERE %s', condition));
			compared := compared + 1;
			IF result LIKE '%should be%' OR result LIKE 'ordinary%' THEN
				failed := failed || (ordering || ': ' || result);
			END IF;
		END LOOP;
	END LOOP;
	RETURN NEXT;
END $$;
\set ECHO all

SELECT * FROM sweep('smallint', '(n * 37 % 3000 - 1500)::smallint',
	ARRAY['(-700)::smallint', '12::integer', '900::bigint', '40000', '(-9000000000000000000)', '32767::smallint']);
SELECT * FROM sweep('integer', 'n * 37 % 3000 - 1500',
	ARRAY['(-700)', '12::smallint', '900::bigint', '2147483647', '(-2147483648)', '3000000000', '(-9000000000000000000)']);
SELECT * FROM sweep('bigint', 'n * 37 % 3000 - 1500',
	ARRAY['(-700)::bigint', '12::smallint', '900', '9223372036854775807', '(-9223372036854775808)']);
SELECT * FROM sweep('date', $$CASE n % 41 WHEN 0 THEN date 'infinity' WHEN 1 THEN '-infinity' ELSE date '2001-01-01' + n % 300 END$$,
	ARRAY[$$date '2001-03-01'$$, $$timestamp '2001-04-01 12:00'$$, $$timestamptz '2001-05-01 00:00+00'$$,
		$$date 'infinity'$$, $$timestamp '-infinity'$$, $$timestamp '290000-01-01'$$]);
SELECT * FROM sweep('timestamp', $$CASE n % 41 WHEN 0 THEN timestamp 'infinity' ELSE timestamp '2001-01-01' + n * interval '6 hours' END$$,
	ARRAY[$$timestamp '2001-03-01'$$, $$date '2001-04-01'$$, $$timestamptz '2001-05-01 00:00+00'$$, $$timestamp 'infinity'$$, $$date '-infinity'$$]);
SELECT * FROM sweep('timestamptz', $$CASE n % 41 WHEN 0 THEN timestamptz '-infinity' ELSE timestamptz '2001-01-01' + n * interval '6 hours' END$$,
	ARRAY[$$timestamptz '2001-03-01'$$, $$date '2001-04-01'$$, $$timestamp '2001-05-01'$$, $$timestamptz 'infinity'$$, $$timestamp '-infinity'$$]);
DROP TABLE swept;

\set ECHO none
--
-- Sums at the edge
--
CREATE TABLE edges (k integer, b bigint, f double precision);
CREATE INDEX ON edges USING gpubtree (k) INCLUDE (b, f);
INSERT INTO edges VALUES
	(1, 9223372036854775807, 1), (1, 9223372036854775807, 2), (1, 9223372036854775807, 4),
	(2, -9223372036854775808, 'NaN'), (2, -9223372036854775808, 1), (2, -9223372036854775808, 'infinity'),
	(3, 9223372036854775807, 'infinity'), (3, -9223372036854775808, 1), (3, 0, -1e308),
	(4, 1, '-infinity'), (4, 2, 'infinity'), (4, 3, 7),
	(5, 1, 1e308), (5, 1, 1e308), (5, 1, 1e308),
	(6, 1, 5e-324), (6, 1, 5e-324), (6, 1, -5e-324),
	(7, 9223372036854775807, -1e308), (7, 1, -1e308), (7, NULL, NULL),
	(8, 1, 0), (9, NULL, NULL);
ANALYZE edges;
\set ECHO all
SELECT k, compare(format('SELECT count(*), sum(b), avg(b), min(b), max(b) FROM edges WHERE k = %s', k))
FROM generate_series(1, 10) k;
SELECT k, compare(format('SELECT count(*), sum(f), min(f), max(f) FROM edges WHERE k = %s', k))
FROM generate_series(1, 10) k;
SELECT k, compare(format('SELECT count(*), avg(f) FROM edges WHERE k = %s', k))
FROM unnest(ARRAY[1, 2, 3, 4, 6, 8, 9, 10]) k;
SELECT compare('SELECT sum(b), avg(b), count(f) FROM edges');
-- exact: the order of addition does not matter, and nothing is lost on the way
TRUNCATE edges;
INSERT INTO edges SELECT n, 0, CASE n % 3 WHEN 0 THEN 1e300 WHEN 1 THEN -1e300 ELSE 1 END FROM generate_series(0, 2999) n;
ANALYZE edges;
SELECT sum(f), avg(f) FROM edges WHERE k >= 0;
UPDATE edges SET f = 0.1;
SELECT sum(f) FROM edges WHERE k < 10;
-- half way: to even
UPDATE edges SET f = CASE k WHEN 0 THEN 9007199254740992 WHEN 1 THEN 1 ELSE 0 END;
SELECT sum(f) = 9007199254740992 AS down FROM edges WHERE k < 100;
UPDATE edges SET f = CASE k WHEN 0 THEN 9007199254740994 WHEN 1 THEN 1 ELSE 0 END;
SELECT sum(f) = 9007199254740996 AS up FROM edges WHERE k < 100;
UPDATE edges SET f = CASE k WHEN 0 THEN 9007199254740992 WHEN 1 THEN 1 WHEN 2 THEN 5e-324 ELSE 0 END;
SELECT sum(f) = 9007199254740994 AS up FROM edges WHERE k < 100;
DROP TABLE edges;

--
-- Shapes of queries
--
-- expressions over aggregates, aliases, the same aggregate twice
SELECT compare('SELECT count(*) * 2 AS twice, sum(i) / count(*) AS mean, count(*), 7 AS seven, coalesce(max(i), 0) - min(i) FROM readings WHERE k > 100');
SELECT compare('SELECT DISTINCT count(*) FROM readings WHERE k > 100');
SELECT compare('SELECT count(*) FROM readings WHERE k > 100 ORDER BY sum(i) LIMIT 1');
SELECT compare('SELECT count(*) FROM readings WHERE 100 < k');
SELECT compare('SELECT count(*) FROM readings WHERE true AND k > 100 AND k >= 50 AND k < 2000 AND k <= 2100');
SELECT compare('SELECT count(*) FROM readings WHERE k = 100 AND k = 100');
SELECT compare('SELECT count(*) FROM readings WHERE k > NULL::bigint OR k > 5');
SELECT compare('SELECT count(*) FROM readings WHERE k NOT BETWEEN 0 AND 10 AND k > 5');
SELECT compare('SELECT count(*) FROM readings WHERE NOT k < 100');
-- the operand may be anything that does not change while the query runs
SELECT compare('SELECT count(*) FROM readings WHERE k > (SELECT 100)');
SELECT compare('SELECT count(*) FROM readings WHERE k > (SELECT max(i) / 4000 FROM readings WHERE k < 0)');
SELECT compare('SELECT count(*) FROM readings WHERE k > (SELECT NULL::bigint)');
SELECT compare('SELECT count(*) FROM readings WHERE k < extract(year FROM now())::int');
-- subqueries, views, CTEs, set operations, lateral and correlated ones
CREATE VIEW recent AS SELECT k, i AS measure FROM readings WHERE k > 1000;
SELECT compare('SELECT count(measure), sum(measure) FROM recent WHERE k < 1500');
SELECT compare('SELECT c + 1 FROM (SELECT count(*) AS c FROM readings WHERE k > 100) q');
SELECT compare('WITH q AS MATERIALIZED (SELECT count(*) AS c FROM readings WHERE k > 100) SELECT c FROM q');
SELECT compare('SELECT sum(c) FROM (SELECT count(*) AS c FROM readings WHERE k > 100 UNION ALL SELECT max(i) + count(*) FROM readings WHERE k < 10) q');
SELECT compare('SELECT array_agg((SELECT count(*) + g FROM readings WHERE k BETWEEN g AND g * 2)) FROM generate_series(1, 20) g');
SELECT compare('SELECT array_agg(c) FROM generate_series(0, 300, 50) g, LATERAL (SELECT count(*) AS c FROM readings WHERE k < g) q');
SELECT compare('SELECT array_agg(g) FROM generate_series(0, 300, 50) g WHERE (SELECT count(*) FROM readings WHERE k < g OFFSET 0) > 1020');
SELECT * FROM plan('SELECT g, (SELECT count(*) FROM readings r WHERE r.k BETWEEN g AND g * 2) FROM generate_series(1, 5) g');
-- the same table twice, a self-join being no single table
SELECT * FROM plan('SELECT count(*) FROM readings a JOIN readings b USING (k) WHERE a.k > 5') LIMIT 1;
-- INSERT … SELECT and CREATE TABLE AS
CREATE TABLE answers AS SELECT count(*) AS c FROM readings WHERE k > 100;
INSERT INTO answers SELECT count(*) FROM readings WHERE k > 100;
SELECT count(DISTINCT c) FROM answers;
DROP TABLE answers;
-- a statement sees what it did before, not what it is doing
BEGIN;
WITH gone AS (DELETE FROM readings WHERE k BETWEEN 100 AND 199 RETURNING 1)
SELECT (SELECT count(*) FROM gone) > 0 AS deleted,
	(SELECT count(*) FROM readings WHERE k BETWEEN 100 AND 199) > 0 AS still_there;
SELECT count(*) FROM readings WHERE k BETWEEN 100 AND 199;
ROLLBACK;
-- cursors, backward too
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT count(*) FROM readings WHERE k BETWEEN 100 AND 199;
DELETE FROM readings WHERE k BETWEEN 100 AND 199;
FETCH c;
FETCH c;
FETCH BACKWARD 1 FROM c;
ROLLBACK;

--
-- Plans
--
\set VERBOSITY terse
EXPLAIN (COSTS OFF) SELECT count(*) FROM readings;
EXPLAIN (COSTS OFF) SELECT sum(i) FROM readings WHERE k IS NULL;
EXPLAIN (COSTS OFF, VERBOSE) SELECT sum(i) + 1 FROM readings r WHERE 5 < r.k AND r.k < 7;
EXPLAIN (COSTS OFF, FORMAT json) SELECT sum(i) FROM readings WHERE k > 5;
\set ECHO none
-- what the node counts, less what depends on the device
CREATE FUNCTION analyzed(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		RETURN NEXT regexp_replace(line, '(Engine|Heap [A-Za-z ]*|Leaves [A-Za-z ]*|Blocks [A-Za-z ]*): .*', '\1: …');
	END LOOP;
END $$;
\set ECHO all
SELECT analyzed('SELECT count(*) FROM readings WHERE k BETWEEN 100 AND 900');
-- one of them alone is a matter for one descent of the index
SET enable_indexonlyscan = on;
EXPLAIN (COSTS OFF) SELECT max(k) FROM readings WHERE k < 500;
SET enable_indexonlyscan = off;
-- a small or selective query is left to the ordinary index scan, a large one is not
CREATE TABLE many AS SELECT n::bigint AS k, n % 100 AS v FROM generate_series(1, 60000) n;
CREATE INDEX many_k ON many USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE many;
SELECT is_chosen('SELECT count(*), sum(v) FROM many WHERE k BETWEEN 100 AND 300') AS small,
	is_chosen('SELECT count(*), sum(v) FROM many WHERE k BETWEEN 100 AND 55000') AS large;

-- statistics
BEGIN;
SET LOCAL track_counts = on;
SELECT pg_stat_get_xact_numscans('readings_k'::regclass) AS scans,
	pg_stat_get_xact_tuples_returned('readings_k'::regclass) AS entries \gset
SELECT count(*), count(i) FROM readings WHERE k BETWEEN 100 AND 900;
SELECT pg_stat_get_xact_numscans('readings_k'::regclass) - :scans AS scans,
	pg_stat_get_xact_tuples_returned('readings_k'::regclass) - :entries > 1000 AS entries;
ROLLBACK;

--
-- What a program says; programs.sql has more
--
SELECT compare(query) FROM unnest(ARRAY[
	'SELECT count(*) FROM readings WHERE k > 5 HAVING count(*) > 1',
	'SELECT count(*) FILTER (WHERE k > 7) FROM readings WHERE k > 5',
	'SELECT stddev(i) FROM readings WHERE k > 5',
	'SELECT sum(i + 1) FROM readings WHERE k > 5',
	'SELECT sum(i::bigint) FROM readings WHERE k > 5',
	'SELECT count(*) FROM readings WHERE i > 5',
	'SELECT count(*) FROM readings WHERE k > 5 AND i > 5',
	'SELECT count(*) FROM readings WHERE k > 5 OR k < 3',
	'SELECT count(*) FROM readings WHERE k <> 5',
	'SELECT count(*) FROM readings WHERE k > i',
	'SELECT count(*) FROM readings WHERE k + 1 > 5'
	]) query;
SELECT is_ours('SELECT k, count(*) FROM readings WHERE k > 5 GROUP BY k') AS grouped;

--
-- Left to the ordinary plans
--
\set ECHO none
CREATE TABLE parent (k bigint, v integer);
CREATE TABLE child () INHERITS (parent);
CREATE INDEX ON parent USING gpubtree (k) INCLUDE (v);
INSERT INTO parent SELECT n, n FROM generate_series(1, 1000) n;
INSERT INTO child SELECT n, n FROM generate_series(1, 10) n;
VACUUM ANALYZE parent, child;
CREATE FUNCTION volatile_bound() RETURNS bigint LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN 5; END';
SELECT query FROM unnest(ARRAY[
	'SELECT array_agg(DISTINCT k) FROM readings WHERE k > 5',
	'SELECT array_agg(k ORDER BY k) FROM readings WHERE k > 5',
	'SELECT count(readings) FROM readings WHERE k > 5',
	'SELECT count(*), row_number() OVER () FROM readings WHERE k > 5',
	'SELECT count(*), generate_series(1, 2) FROM readings WHERE k > 5',
	'SELECT count(*) FROM readings WHERE k < ANY (ARRAY[1, 2, 3])',
	'SELECT count(*) FROM readings WHERE k::text > ''5''',
	'SELECT count(*) FROM readings WHERE k > volatile_bound()',
	'SELECT count(*) FROM readings WHERE k > 5 AND random() < 2',
	'SELECT count(*) FROM readings WHERE k > 5 AND (SELECT true)',
	'SELECT count(*) FROM readings WHERE k > 5 AND false',
	'SELECT max(ctid) FROM readings WHERE k > 5',
	'SELECT count(*) FROM readings TABLESAMPLE SYSTEM (100) WHERE k > 5',
	'SELECT count(*) FROM readings a, readings b WHERE a.k = b.k'
	]) query WHERE is_ours(query);
\set ECHO all
SELECT is_ours('SELECT count(*) FROM ONLY parent WHERE k > 5') AS only_parent;
SELECT compare('SELECT count(*), sum(v) FROM ONLY parent WHERE k > 5');
SELECT is_ours('SELECT count(*) FROM parent WHERE k > 5') AS with_children;
SELECT compare('SELECT count(*), sum(v) FROM parent WHERE k > 5');
DROP TABLE parent, child;

-- switched off
SET gpubtree.enable_aggregate = off;
SELECT is_ours('SELECT count(*) FROM readings WHERE k > 100');
RESET gpubtree.enable_aggregate;

--
-- Partial indexes, several indexes, domains, dropped columns
--
CREATE TABLE orders (gone text, k bigint, v integer, open boolean);
ALTER TABLE orders DROP COLUMN gone;
INSERT INTO orders SELECT n, n % 10, n % 4 = 0 FROM generate_series(1, 3000) n;
CREATE INDEX orders_open ON orders USING gpubtree (k) INCLUDE (v) WHERE open;
ANALYZE orders;
SELECT compare('SELECT count(*), sum(v), max(k) FROM orders WHERE open');
SELECT compare('SELECT count(*), sum(v), max(k) FROM orders WHERE open AND k > 77');
SELECT is_ours('SELECT count(*) FROM orders WHERE k > 77') AS without_predicate,
	is_ours('SELECT count(*) FROM orders WHERE NOT open AND k > 77') AS against_predicate;
CREATE INDEX orders_big ON orders USING gpubtree (k) WHERE k > 500;
SELECT compare('SELECT count(*), max(k) FROM orders WHERE k > 700');
SELECT compare('SELECT count(*), max(k) FROM orders WHERE k > 500');
CREATE INDEX orders_v ON orders USING gpubtree (v) INCLUDE (k);
SELECT compare('SELECT count(*), sum(k) FROM orders WHERE v BETWEEN 2 AND 5');
CREATE DOMAIN positive AS integer CHECK (value > 0);
CREATE TABLE domained (k positive, v positive);
INSERT INTO domained SELECT n, n FROM generate_series(1, 1000) n;
CREATE INDEX ON domained USING gpubtree (k) INCLUDE (v);
ANALYZE domained;
SELECT compare('SELECT count(v), sum(v), avg(k), min(v) FROM domained WHERE k > 10');
EXPLAIN (COSTS OFF) SELECT count(v), sum(v) FROM domained WHERE k > 10 AND 900::smallint > k;
DROP TABLE domained;

\set ECHO none
--
-- Row-level security and security barriers: a condition that could leak
-- does not go before the policy's
--
CREATE TABLE secrets (k bigint, owner name);
INSERT INTO secrets SELECT n, CASE WHEN n % 2 = 0 THEN 'regress_aggregate_reader' ELSE 'other' END FROM generate_series(1, 1000) n;
CREATE INDEX ON secrets USING gpubtree (k);
CREATE FUNCTION leaky_less(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE 'saw %', $1;
	RETURN $1 < $2;
END $$;
ANALYZE secrets;
CREATE ROLE regress_aggregate_reader;
GRANT SELECT ON secrets TO regress_aggregate_reader;
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secrets USING (owner = current_user);
CREATE POLICY old ON secrets AS RESTRICTIVE USING (k <= 500);
\set ECHO all
SELECT compare('SELECT count(*) FROM secrets WHERE k > 100');
SET ROLE regress_aggregate_reader;
SELECT count(*) FROM secrets WHERE k > 100;
RESET ROLE;
DROP POLICY own ON secrets;
CREATE POLICY all_rows ON secrets USING (true);
SET ROLE regress_aggregate_reader;
EXPLAIN (COSTS OFF) SELECT count(*) FROM secrets WHERE k > 100;
SELECT count(*) FROM secrets WHERE k > 100;
RESET ROLE;
REVOKE SELECT ON secrets FROM regress_aggregate_reader;
SET ROLE regress_aggregate_reader;
SELECT count(*) FROM secrets WHERE k > 100;
RESET ROLE;
-- a security barrier stays a query of its own
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM secrets WHERE k < 900;
SELECT is_ours('SELECT count(*) FROM guarded WHERE k > 100') AS barrier,
	is_ours('SELECT count(*) FROM guarded WHERE leaky_less(k, 5)') AS leaky;
SELECT answer('SELECT count(*) FROM guarded WHERE k > 100');
\set ECHO none
DROP VIEW guarded;
DROP TABLE secrets;
-- comparing dates with timestamptz may fail, and so tell; comparing dates cannot
CREATE TABLE visits (k date);
INSERT INTO visits SELECT date '2001-01-01' + n FROM generate_series(1, 1000) n;
CREATE INDEX ON visits USING gpubtree (k);
ANALYZE visits;
ALTER TABLE visits ENABLE ROW LEVEL SECURITY;
CREATE POLICY old ON visits USING (k < date '2002-01-01');
GRANT SELECT ON visits TO regress_aggregate_reader;
SET ROLE regress_aggregate_reader;
\set ECHO all
SELECT is_ours('SELECT count(*) FROM visits WHERE k > date ''2001-06-01''') AS leakproof,
	is_ours('SELECT count(*) FROM visits WHERE k > timestamptz ''2001-06-01 00:00+00''') AS leaky;
SELECT count(*) FROM visits WHERE k > date '2001-06-01';
SELECT count(*) FROM visits WHERE k > timestamptz '2001-06-01 00:00+00';
RESET ROLE;
DROP TABLE visits;
DROP ROLE regress_aggregate_reader;

--
-- Prepared statements
--
PREPARE ranged(bigint, bigint) AS SELECT count(*), sum(v), max(k) FROM orders WHERE open AND k BETWEEN $1 AND $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE ranged(1, 2);
EXECUTE ranged(100, 200);
EXECUTE ranged(200, 100);
EXECUTE ranged(NULL, 200);
EXECUTE ranged(-9223372036854775808, 9223372036854775807);
-- it survives a new index file, and sees changes
REINDEX INDEX orders_open;
EXECUTE ranged(100, 200);
INSERT INTO orders VALUES (150, 1000, true);
EXECUTE ranged(100, 200);
TRUNCATE orders;
EXECUTE ranged(100, 200);
INSERT INTO orders SELECT n, n % 10, n % 4 = 0 FROM generate_series(1, 3000) n;
EXECUTE ranged(100, 200);
-- the index may go
DROP INDEX orders_open;
EXECUTE ranged(100, 200);
CREATE INDEX orders_open ON orders USING gpubtree (k) INCLUDE (v) WHERE open;
EXECUTE ranged(100, 200);
-- the same plan in a serializable transaction, and with the mirror switched off
BEGIN ISOLATION LEVEL SERIALIZABLE;
EXECUTE ranged(100, 200);
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
EXECUTE ranged(100, 200);
COMMIT;
SET gpubtree.enable_device = off;
EXECUTE ranged(100, 200);
RESET gpubtree.enable_device;
EXECUTE ranged(100, 200);
RESET plan_cache_mode;
DEALLOCATE ranged;
-- SERIALIZABLE, all aggregates and kinds of range
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT result NOT LIKE '%should be%' AND result NOT LIKE 'ordinary%' AS same, count(*) FROM (
	SELECT * FROM each_aggregate('WHERE k BETWEEN 100 AND 900')
	UNION ALL SELECT * FROM each_aggregate('WHERE k IS NULL')
	UNION ALL SELECT * FROM each_aggregate('WHERE k IS NOT NULL AND 900 > k')
	UNION ALL SELECT * FROM each_aggregate('')) q GROUP BY 1;
COMMIT;

--
-- Empty, unlogged and temporary tables
--
CREATE TABLE nothing (k bigint, v integer);
CREATE INDEX ON nothing USING gpubtree (k) INCLUDE (v);
SELECT compare('SELECT count(*), sum(v), min(k) FROM nothing WHERE k > 5');
DROP TABLE nothing;
CREATE TEMPORARY TABLE fleeting AS SELECT n::bigint AS k, n AS v FROM generate_series(1, 2000) n;
CREATE INDEX ON fleeting USING gpubtree (k) INCLUDE (v);
ANALYZE fleeting;
SELECT compare('SELECT count(*), sum(v) FROM fleeting WHERE k > 500');
CREATE UNLOGGED TABLE unlogged AS SELECT n::bigint AS k, n AS v FROM generate_series(1, 2000) n;
CREATE INDEX ON unlogged USING gpubtree (k) INCLUDE (v);
ANALYZE unlogged;
SELECT compare('SELECT count(*), sum(v) FROM unlogged WHERE k > 500');
DROP TABLE fleeting, unlogged;

DROP TABLE readings, many, orders CASCADE;
DROP DOMAIN positive;
DROP FUNCTION plan, is_ours, is_chosen, answer, plain_answer, compare, each_aggregate, sweep, analyzed, volatile_bound, leaky_less;
