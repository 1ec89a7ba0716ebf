--
-- key = ANY (array): under aggregates as one batch, and in the index scan itself.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;

SET compare.node = 'GpubtreeAggregate';
SET compare.uncounted = 'Engine|Leaves|Fallbacks|Blocks Refreshed';
\i :abs_srcdir/sql/common/compare.sql
\i :abs_srcdir/sql/common/counts.sql

CREATE TABLE stock (k bigint, price integer, amount smallint, weight double precision, name text)
	WITH (autovacuum_enabled = off);
INSERT INTO stock SELECT CASE WHEN n % 40 <> 0 THEN (n * 7919) % 5000 - 500 END, n % 100, n % 13,
		CASE WHEN n % 7 <> 0 THEN n / 8.0 END, 'good ' || n
	FROM generate_series(1, 20000) n;
CREATE INDEX stock_k ON stock USING gpubtree (k) INCLUDE (price, amount, weight);
VACUUM ANALYZE stock;
\set ECHO all

--
-- Plans: few keys that are known are an index scan; many are a batch [prices.sql], and keys that are not known.
--
EXPLAIN (COSTS OFF) SELECT count(*), sum(price) FROM stock WHERE k IN (7, 5, 300, 7, 8, 900, 11, 12, 13, 14, 15);
EXPLAIN (COSTS OFF) SELECT count(*) FROM stock WHERE k = ANY ('{7}');
EXPLAIN (COSTS OFF) SELECT count(*) FROM stock WHERE k IN (7);
EXPLAIN (COSTS OFF, VERBOSE) SELECT sum(price) + 1 FROM stock s
	WHERE 100 < k AND k = ANY ('{7,1000,2000,3000,4000,4001,4002,4003,4004,4005}'::bigint[]) AND k = ANY (ARRAY[2000, 1, 3000, 4000]);
EXPLAIN (COSTS OFF) SELECT max(price) FROM stock WHERE k = ANY (ARRAY(SELECT generate_series(1, 100)));
PREPARE wanted(bigint[]) AS SELECT count(*), sum(price) FROM stock WHERE k = ANY ($1);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE wanted('{1}');

-- From here on ours wherever it can be
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;

--
-- Answers: NULLs, duplicates, nothing, several conditions, several columns
--
EXECUTE wanted('{7,5,NULL,300,5,-9,99999,-499}');
EXECUTE wanted('{}');
EXECUTE wanted(NULL);
EXECUTE wanted('{NULL,NULL}');
EXECUTE wanted('{{1,2},{3,NULL}}');
EXECUTE wanted('[5:7]={1,2,3}');
SELECT compare('SELECT count(*), sum(price), avg(price), min(k), max(k), count(amount), sum(amount), min(weight), max(weight), count(weight) FROM stock WHERE '
	|| condition) FROM unnest(ARRAY[
	'k = ANY (''{7,5,NULL,300,5,-9,99999}''::bigint[])',
	'k = ANY (ARRAY(SELECT generate_series(0, 4000, 3)))',
	'k IN (1, 2, 3, 4, 3, 2, 1)',
	'k = ANY (''{1,2,300}''::smallint[])',
	'k = ANY (''{1,2,300,-2147483648,2147483647}''::integer[])',
	'k = ANY (''{9223372036854775807,-9223372036854775808,3}''::bigint[])',
	'k = ANY (ARRAY(SELECT generate_series(0, 4000, 3))) AND k > 1000',
	'k = ANY (ARRAY(SELECT generate_series(0, 4000, 3))) AND k BETWEEN 300 AND 303',
	'k = ANY (ARRAY(SELECT generate_series(0, 4000, 3))) AND k = 6',
	'k = ANY (ARRAY(SELECT generate_series(0, 4000, 3))) AND k = 7',
	'k = ANY (ARRAY(SELECT generate_series(0, 4000, 3))) AND k = ANY (ARRAY(SELECT generate_series(0, 4000, 5)))',
	'k = ANY (''{1,2,3,4,5,6}''::int[]) AND k = ANY (''{9,6,4,2}''::int8[]) AND k > 2 AND k = ANY (''{5,6}''::int2[])',
	'k = ANY (''{1,2}''::int[]) AND k = ANY (''{3}''::int8[])',
	'k = ANY (''{1,2}''::int[]) AND k IS NULL',
	'k = ANY (''{1,2,NULL}''::int[]) AND k IS NOT NULL',
	'k = ANY (''{}''::int[])',
	'k = ANY (NULL::bigint[])']) condition;

-- sums of doubles; then without a column of the index, and of another one
SELECT is_ours('SELECT sum(weight) FROM stock WHERE k = ANY (''{1,2}'')'),
	is_ours('SELECT avg(weight) FROM stock WHERE k = ANY (''{1,2}'')'),
	is_ours('SELECT max(name) FROM stock WHERE k = ANY (''{1,2}'')'),
	is_ours('SELECT count(*) FROM stock WHERE k = ANY (''{1,2}'') AND price > 3'),
	is_ours('SELECT count(*) FROM stock WHERE k = ALL (''{1,2}'')'),
	is_ours('SELECT count(*) FROM stock WHERE k <> ANY (''{1,2}'')'),
	is_ours('SELECT count(*) FROM stock WHERE k < ANY (''{1,2}'')'),
	is_ours('SELECT count(*) FROM stock WHERE k = ANY (ARRAY[price, 3])'),
	is_ours('SELECT count(*) FROM stock WHERE k = ANY (ARRAY[(random() * 100)::bigint, 3])'),
	is_ours('SELECT count(*) FROM stock WHERE k = ANY (''{1,2}'') GROUP BY price');
SET gpubtree.enable_aggregate = off;
SELECT is_ours('SELECT count(*) FROM stock WHERE k = ANY (''{1,2}'')');
RESET gpubtree.enable_aggregate;

-- what is counted: each key once
SELECT counts('SELECT count(*), sum(price) FROM stock WHERE k = ANY (''{7,5,NULL,300,5,-9,99999}''::bigint[])');
SELECT counts('SELECT sum(amount), sum(price) FROM stock WHERE k = ANY (''{7,5,300,5,-9}''::bigint[]) AND k > 5');
SELECT counts('SELECT count(*) FROM stock WHERE k = ANY (NULL::bigint[])');
EXPLAIN (COSTS OFF, FORMAT json) SELECT count(*) FROM stock WHERE k = ANY ('{1,2}');

-- rescans, with an array of each
SELECT o, (SELECT count(*) FROM stock WHERE k = ANY (ARRAY[o, o + 1, NULL, 2 * o])) FROM generate_series(-1, 3) o;
SELECT o, (SELECT sum(price) FROM stock WHERE k = ANY (CASE WHEN o > 0 THEN ARRAY[o, 7] END)) FROM generate_series(-1, 3) o;

-- rows that the visibility map does not vouch for, dead ones among them
BEGIN;
UPDATE stock SET price = price + 1 WHERE k % 3 = 0;
DELETE FROM stock WHERE k % 5 = 0;
SELECT compare('SELECT count(*), sum(price), min(amount) FROM stock WHERE k = ANY (ARRAY(SELECT generate_series(0, 4000, 3)))');
ROLLBACK;
SELECT compare('SELECT count(*), sum(price), min(amount) FROM stock WHERE k = ANY (ARRAY(SELECT generate_series(0, 4000, 3)))');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT compare('SELECT count(*), sum(price), min(amount) FROM stock WHERE k = ANY (ARRAY(SELECT generate_series(0, 4000, 3)))');
COMMIT;

\set ECHO none
--
-- Types, orders, and values of other types
--
CREATE TABLE kinds (n integer, i2 smallint, i4 integer, d date, t timestamp, z timestamptz);
INSERT INTO kinds SELECT n, n - 200, n * 3, date '2024-01-01' + n, timestamp '2024-03-01' + n * interval '6 hours',
		timestamptz '2024-03-01' + n * interval '6 hours'
	FROM generate_series(1, 400) n;
INSERT INTO kinds (n) VALUES (0);
INSERT INTO kinds VALUES (0, -32768, -2147483648, '-infinity', '-infinity', '-infinity'),
	(0, 32767, 2147483647, 'infinity', 'infinity', 'infinity');
CREATE FUNCTION each_order(name text, conditions text[]) RETURNS TABLE (way text, result text) LANGUAGE plpgsql AS $$
DECLARE
	condition text;
BEGIN
	FOREACH way IN ARRAY '{ASC,DESC,ASC NULLS FIRST,DESC NULLS LAST}'::text[] LOOP
		EXECUTE format('CREATE INDEX kinds_k ON kinds USING gpubtree (%I %s) INCLUDE (n)', name, way);
		result := '';
		FOREACH condition IN ARRAY conditions LOOP
			result := concat_ws(' ', result, compare(format('SELECT count(*), sum(n) FROM kinds WHERE %I %s', name, condition)));
		END LOOP;
		RETURN NEXT;
		DROP INDEX kinds_k;
	END LOOP;
END $$;
\set ECHO all
SELECT * FROM each_order('i2', '{"= ANY (''{1,2,32767,-32768,NULL}''::int2[])","= ANY (''{1,2,32768,-99999}''::int4[])","= ANY (''{5,4294967297}''::int8[])"}');
SELECT * FROM each_order('i4', '{"= ANY (''{3,6,7}''::int2[])","= ANY (''{3,2147483647,-2147483648,9}'')","= ANY (''{9,4294967299,-4294967299}''::int8[])"}');
SELECT * FROM each_order('d', '{"= ANY (''{2024-01-05,infinity,-infinity,2024-01-06}'')","= ANY (''{2024-01-05,2024-01-06 12:00,infinity}''::timestamp[])","= ANY (''{2024-01-05,-infinity}''::timestamptz[])"}');
SELECT * FROM each_order('t', '{"= ANY (''{2024-03-05,infinity,2024-03-05 06:00}'')","= ANY (''{2024-03-05,2024-03-06,infinity}''::date[])","= ANY (''{2024-03-10,2024-03-10 03:00,-infinity}''::timestamptz[])","= ANY (''{2024-03-05,2024-03-06}''::date[]) AND t = ANY (ARRAY[timestamp ''2024-03-06''])"}');
SELECT * FROM each_order('z', '{"= ANY (''{2024-03-05,infinity,2024-03-05 06:00}'')","= ANY (''{2024-03-05,2024-03-06,infinity,2024-03-05}''::date[])","= ANY (''{2024-03-10,2024-03-10 03:00,-infinity}''::timestamp[])","= ANY (''{2024-03-05,2024-03-06,2024-03-07}''::date[]) AND z > ''2024-03-05''"}');
DROP TABLE kinds;

--
-- Permissions, views, partial indexes, domains
--
CREATE DOMAIN wanted AS bigint CHECK (VALUE < 100000);
SELECT compare('SELECT count(*) FROM stock WHERE k = ANY (ARRAY[1, 2, 3]::wanted[])');
CREATE INDEX stock_cheap ON stock USING gpubtree (k) WHERE price < 50;
SELECT counts('SELECT count(*) FROM stock WHERE k = ANY (''{1,2,3}'') AND price < 50');
DROP INDEX stock_cheap;
CREATE VIEW few AS SELECT * FROM stock WHERE k = ANY ('{1,2,3,4,5,6,7,8,9,10,11,12}');
SELECT compare('SELECT count(*), sum(price) FROM few WHERE k > 3');
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM stock WHERE price < 10;
SELECT is_ours('SELECT count(*) FROM barrier WHERE k = ANY (''{1,2,3}'')');

-- a cached plan after the index is gone
DEALLOCATE wanted;
PREPARE again(bigint[]) AS SELECT count(*), sum(price) FROM stock WHERE k = ANY ($1);
EXECUTE again('{1,2,3}');
DROP INDEX stock_k;
RESET enable_seqscan;
EXECUTE again('{1,2,3}');
CREATE INDEX stock_k ON stock USING gpubtree (k) INCLUDE (price);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) EXECUTE again('{1}');
EXECUTE again('{1,2,3}');

DROP VIEW few, barrier;
DROP TABLE stock;
DROP DOMAIN wanted;
DROP FUNCTION plan, is_ours, answer, plain_answer, compare, counts, each_order;
