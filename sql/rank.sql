--
-- Ranks: ORDER BY with OFFSET starts at a key found by counting.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;
-- The tables are small: ours is used wherever it can be.
SET gpubtree.setup_cost = 0;

CREATE TABLE scores (k integer NOT NULL, v integer, name text);
INSERT INTO scores SELECT (n * 7919) % 12000, n % 100, 'player ' || n FROM generate_series(1, 20000) n;
CREATE INDEX scores_k ON scores USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE scores;
-- neither visible everywhere nor to everyone
UPDATE scores SET v = v + 1 WHERE k % 50 = 0;
DELETE FROM scores WHERE k BETWEEN 3000 AND 3999;

SET compare.node = 'Gpubtree(Rank|Percentile)';
\i :abs_srcdir/sql/common/compare_rows.sql
-- Equal keys come in the order of an index scan.
ALTER FUNCTION plain_answer SET enable_sort = off SET enable_bitmapscan = off;
\set ECHO all

--
-- Plans
--
SELECT * FROM plan('SELECT k, v FROM scores ORDER BY k OFFSET 9000 LIMIT 3');
SELECT * FROM plan('SELECT name, v + 1 FROM scores WHERE k >= 100 AND 11000 > k ORDER BY k DESC OFFSET 9000');
SELECT k, v FROM scores ORDER BY k, v OFFSET 9000 LIMIT 3;
SELECT k, v FROM scores ORDER BY k OFFSET 9000 LIMIT 3;
\set ECHO none
-- JSON has the same keys
CREATE FUNCTION json_keys(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	RETURN QUERY SELECT key FROM json_each(plan -> 0 -> 'Plan' -> 'Plans' -> 0)
		WHERE key !~ '(Cost|Rows|Width|Loops|Aware|Relationship|Async.*)$' ORDER BY key;
END $$;
\set ECHO all
SELECT * FROM json_keys('SELECT k FROM scores WHERE k > 5 ORDER BY k OFFSET 9000 LIMIT 3');

--
-- Answers
--
-- a third of all combinations, in which each choice from all the lists but one of three or more occurs
SELECT compare(format('SELECT %s FROM scores WHERE %s ORDER BY k %s OFFSET %s LIMIT %s', columns, condition, direction, n, m))
FROM unnest('{"k, v","name, k","''x'', v + 1"}'::text[]) WITH ORDINALITY l1 (columns, n1),
	unnest('{true,k >= 2500,k < 5000 AND k > 10}'::text[]) WITH ORDINALITY l2 (condition, n2),
	unnest('{ASC,DESC}'::text[]) WITH ORDINALITY l3 (direction, n3),
	unnest('{1000,3665,6650,18332,18333,9223372036854775807}'::bigint[]) WITH ORDINALITY l4 (n, n4),
	unnest('{3,0,"NULL"}'::text[]) WITH ORDINALITY l5 (m, n5)
WHERE (n1 + n2 + n3 + n4 + n5) % 3 = 0
GROUP BY 1 ORDER BY 1;
-- a whole row, a system column, a resjunk column, no column at all
SELECT compare('SELECT s FROM scores s ORDER BY k OFFSET 5000 LIMIT 5');
SELECT compare('SELECT ctid FROM scores ORDER BY k OFFSET 5000 LIMIT 5');
SELECT compare('SELECT v FROM scores ORDER BY k OFFSET 5000 LIMIT 5');
SELECT compare('SELECT FROM scores ORDER BY k OFFSET 5000 LIMIT 5');
SELECT compare('SELECT k, (SELECT max(s.v) FROM scores s WHERE s.k = scores.k) FROM scores ORDER BY k OFFSET 5000 LIMIT 5');
-- conditions that no row satisfies, at offsets that the plan does not know
SET plan_cache_mode = force_generic_plan;
PREPARE few(bigint, bigint) AS SELECT k, v FROM scores WHERE k >= $1 ORDER BY k DESC OFFSET $2;
EXPLAIN (COSTS OFF) EXECUTE few(11999, 1);
EXECUTE few(11999, 1);
EXECUTE few(11998, 1);
EXECUTE few(20000, 0);
EXECUTE few(20000, 5);
EXECUTE few(9223372036854775807, 5);
EXECUTE few(NULL, 5);
EXECUTE few(-9223372036854775808, 18331);
DEALLOCATE few;
RESET plan_cache_mode;
-- equal keys are sorted by other columns: some sixty rows of most keys, 2,000 of one
EXPLAIN (COSTS OFF) SELECT k, name FROM scores ORDER BY k, name DESC OFFSET 9000 LIMIT 3;
EXPLAIN (COSTS OFF) SELECT v FROM scores WHERE k > 100 ORDER BY k DESC, v OFFSET 9000 LIMIT 3;
CREATE TABLE ties (k integer NOT NULL, id integer, v integer, w float8);
INSERT INTO ties SELECT n % 400 / 3 * 7, n * 7919 % 8009, n % 5, nullif(n % 7, 3) FROM generate_series(1, 8000) n;
INSERT INTO ties SELECT 3000, n, n, n FROM generate_series(2000, 1, -1) n;
CREATE INDEX ties_k ON ties USING gpubtree (k) INCLUDE (id);
VACUUM ANALYZE ties;
DELETE FROM ties WHERE id % 17 = 3;
-- a third of all combinations, in which each choice from all the lists but one of three or more occurs
SELECT compare(format('SELECT %s FROM ties WHERE %s ORDER BY k %s, id %s OFFSET %s LIMIT %s', columns, condition, direction, other, n, m))
FROM unnest('{"k, id","v, w"}'::text[]) WITH ORDINALITY l1 (columns, n1),
	unnest('{true,k >= 280,k < 3000 AND k > 10}'::text[]) WITH ORDINALITY l2 (condition, n2),
	unnest('{ASC,DESC}'::text[]) WITH ORDINALITY l3 (direction, n3),
	unnest('{ASC,DESC NULLS LAST}'::text[]) WITH ORDINALITY l4 (other, n4),
	unnest('{400,2651,5601,7333,8000,9408,9223372036854775807}'::bigint[]) WITH ORDINALITY l5 (n, n5),
	unnest('{3,70}'::text[]) WITH ORDINALITY l6 (m, n6)
WHERE (n1 + n2 + n3 + n4 + n5 + n6) % 3 = 0
GROUP BY 1 ORDER BY 1;
SELECT compare('SELECT k, id FROM ties ORDER BY k, id DESC OFFSET 4800');
SELECT compare('SELECT k, w, v, id FROM ties ORDER BY k DESC, w NULLS FIRST, v DESC, id OFFSET 3061 LIMIT 70');
SELECT compare('SELECT ties FROM ties ORDER BY k, w DESC, id OFFSET 4938 LIMIT 7');
SELECT compare('SELECT a, x.* FROM generate_series(0, 10000, 1200) a, LATERAL (SELECT k, id FROM ties ORDER BY k, id OFFSET a LIMIT 2) x');
SELECT compare('SELECT a, x.* FROM generate_series(1, 3) a LEFT JOIN (SELECT k, id FROM ties ORDER BY k, id OFFSET 3600 LIMIT 2) x ON id > a');
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, id FROM ties ORDER BY k, id OFFSET 6000;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
UPDATE ties SET v = 0 WHERE CURRENT OF c;
ROLLBACK;
SET enable_incremental_sort = off;
SELECT is_ours('SELECT k FROM ties ORDER BY k, id OFFSET 3600 LIMIT 3');
RESET enable_incremental_sort;
SELECT is_ours('SELECT k FROM ties ORDER BY k, id + 1 OFFSET 3600 LIMIT 3'), is_ours('SELECT k FROM ties ORDER BY id, k OFFSET 3600 LIMIT 3');
DROP TABLE ties;
-- OFFSET from outside
SELECT compare('SELECT k FROM scores ORDER BY k OFFSET (SELECT count(*) / 2 FROM scores) LIMIT 2');
SELECT compare('SELECT a, x.* FROM generate_series(0, 20000, 3000) a, LATERAL (SELECT k, v FROM scores ORDER BY k OFFSET a LIMIT 2) x');
SELECT compare('SELECT a, (SELECT name FROM scores WHERE k > a ORDER BY k OFFSET 1000 LIMIT 1) FROM generate_series(0, 20000, 3000) a');
SELECT compare('SELECT a, (SELECT k FROM scores WHERE k > 5 ORDER BY k OFFSET 1000 LIMIT 1) + a FROM generate_series(0, 3) a');
-- rescans without a change
SET enable_material = off;
SELECT compare('SELECT a, x.* FROM generate_series(0, 3) a LEFT JOIN (SELECT k, v FROM scores ORDER BY k OFFSET 1000 LIMIT 2) x ON v > a');
RESET enable_material;

--
-- Prepared statements, and core's errors
--
PREPARE page(bigint, bigint) AS SELECT k, v FROM scores WHERE k <> 0 AND k > 3 ORDER BY k OFFSET $1 LIMIT $2;
EXPLAIN (COSTS OFF) EXECUTE page(9000, 3);
DEALLOCATE page;
PREPARE page(bigint, bigint) AS SELECT k FROM scores WHERE k > 3 ORDER BY k OFFSET $1 LIMIT $2;
EXECUTE page(9000, 3);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE page(9000, 3);
EXECUTE page(9000, 3);
EXECUTE page(NULL, 3);
EXECUTE page(0, 3);
EXECUTE page(18320, NULL);
EXECUTE page(9000, 0);
DO $$
DECLARE
	n bigint;
	m bigint;
BEGIN
	FOREACH n IN ARRAY '{-1,5}'::bigint[] LOOP
		FOREACH m IN ARRAY '{-1,0,5}'::bigint[] LOOP
			BEGIN
				PERFORM k FROM scores ORDER BY k OFFSET n LIMIT m;
				RAISE INFO '% %: no error', n, m;
			EXCEPTION WHEN OTHERS THEN
				RAISE INFO '% %: % %', n, m, SQLSTATE, SQLERRM;
			END;
		END LOOP;
	END LOOP;
END $$;
RESET plan_cache_mode;
-- a plan goes with its index
BEGIN;
DROP INDEX scores_k;
EXECUTE page(9000, 1);
ROLLBACK;
EXECUTE page(9000, 1);
DEALLOCATE page;

--
-- Cursors
--
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k FROM scores ORDER BY k OFFSET 10000;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
FETCH RELATIVE -2 FROM c;
CLOSE c;
COMMIT;

\set ECHO none
--
-- Not ours: what would be wrong, or is too little
--
SELECT is_ours(query), query FROM unnest('{
	SELECT k FROM scores ORDER BY k OFFSET 0 LIMIT 3,
	SELECT k FROM scores ORDER BY k LIMIT 3,
	SELECT k FROM scores ORDER BY k OFFSET NULL LIMIT 3,
	SELECT k FROM scores ORDER BY v OFFSET 9000 LIMIT 3,
	SELECT k FROM scores ORDER BY k NULLS FIRST OFFSET 9000 LIMIT 3,
	SELECT k FROM scores ORDER BY k OFFSET 9000 FETCH FIRST 3 ROWS WITH TIES,
	SELECT k FROM scores ORDER BY k OFFSET 9000 LIMIT 3 FOR UPDATE,
	SELECT k FROM scores WHERE v > 3 ORDER BY k OFFSET 9000 LIMIT 3,
	SELECT k FROM scores WHERE k <> 3 ORDER BY k OFFSET 9000 LIMIT 3,
	SELECT DISTINCT k FROM scores ORDER BY k OFFSET 9000 LIMIT 3,
	"SELECT k, random() FROM scores ORDER BY k OFFSET 9000 LIMIT 3",
	"SELECT k, generate_series(1, 2) FROM scores ORDER BY k OFFSET 9000 LIMIT 3",
	"SELECT k, count(*) FROM scores GROUP BY k ORDER BY k OFFSET 9000 LIMIT 3",
	"SELECT k, row_number() OVER (ORDER BY k) FROM scores ORDER BY k OFFSET 9000 LIMIT 3",
	SELECT k FROM scores ORDER BY k OFFSET (random() * 9000)::bigint LIMIT 3,
	SELECT s.k FROM scores s JOIN scores t USING (k) ORDER BY s.k OFFSET 9000 LIMIT 3
}'::text[]) query;
SET gpubtree.enable_rank = off;
\set ECHO all
SELECT is_ours('SELECT k FROM scores ORDER BY k OFFSET 9000 LIMIT 3');
RESET gpubtree.enable_rank;
-- small offsets, at the usual price, are core's
RESET gpubtree.setup_cost;
SELECT is_ours('SELECT k FROM scores ORDER BY k OFFSET 1000 LIMIT 3'), is_ours('SELECT k FROM scores ORDER BY k OFFSET 15000 LIMIT 3');
SET gpubtree.setup_cost = 0;

-- NULL keys: excluded, or where the order has them
ALTER TABLE scores ALTER k DROP NOT NULL;
INSERT INTO scores (v) SELECT n FROM generate_series(1, 500) n;
SELECT is_ours('SELECT k FROM scores ORDER BY k OFFSET 9000 LIMIT 3');
SELECT compare('SELECT k, v FROM scores WHERE k IS NOT NULL ORDER BY k OFFSET 18330 LIMIT 9');
SELECT compare('SELECT k, v FROM scores WHERE k < 12345 ORDER BY k DESC OFFSET 18330 LIMIT 9');
SELECT is_ours('SELECT k FROM scores WHERE k IS NULL ORDER BY k OFFSET 9 LIMIT 3');
-- partial indexes, also where what excludes NULLs is the predicate
CREATE INDEX scores_high ON scores USING gpubtree (k) WHERE k > 6000;
SELECT compare('SELECT k, v FROM scores WHERE k > 6000 ORDER BY k OFFSET 9900 LIMIT 9');
DROP INDEX scores_high;

--
-- percentile_disc
--
VACUUM ANALYZE scores;
DELETE FROM scores WHERE k BETWEEN 9000 AND 9020;
SELECT * FROM plan('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM scores WHERE k BETWEEN 100 AND 9000');
SELECT * FROM plan('SELECT count(*), percentile_disc(0.1) WITHIN GROUP (ORDER BY k DESC) + 1 FROM scores WHERE k > 0');
\set ECHO none
CREATE FUNCTION json_percentile_keys(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	RETURN QUERY SELECT key FROM json_each(plan -> 0 -> 'Plan')
		WHERE key !~ '(Cost|Rows|Width|Loops|Aware|Relationship|Async.*)$' ORDER BY key;
END $$;
\set ECHO all
SELECT * FROM json_percentile_keys('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > 5');
SELECT compare(format('SELECT percentile_disc(%s) WITHIN GROUP (ORDER BY k %s) FROM scores %s', fraction, direction, condition))
FROM unnest('{0,1,0.5,1e-300,0.99999,NULL::float8,"''{0.75,0.5,0.25,0.5}''::float8[]","''{{0,NULL},{1,0.1}}''::float8[]","''[3:4]={0.3,0.6}''::float8[]","''{}''::float8[]",NULL::float8[]}'::text[]) fraction,
	unnest('{ASC,DESC,"NULLS FIRST"}'::text[]) direction,
	unnest('{"",WHERE k >= 2500,WHERE k < 5000 AND k > 10,WHERE k IS NULL}'::text[]) condition
GROUP BY 1 ORDER BY 1;
-- beside other aggregates, and in expressions
SELECT compare('SELECT count(*), sum(v), avg(k), min(v), percentile_disc(0.3) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > 100');
SELECT compare('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY k) - percentile_disc(0.1) WITHIN GROUP (ORDER BY k), max(k) FROM scores WHERE k IS NOT NULL');
SELECT compare('SELECT count(v), percentile_disc(''{0.3}''::float8[]) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > 2000');
-- rescans, fractions from outside
SELECT compare('SELECT a, (SELECT percentile_disc(a / 10.0) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > a * 100) FROM generate_series(0, 10) a');
SET plan_cache_mode = force_generic_plan;
PREPARE percentile(float8, bigint) AS SELECT percentile_disc($1) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > $2;
EXPLAIN (COSTS OFF) EXECUTE percentile(0.5, 5);
EXECUTE percentile(0.5, 5);
EXECUTE percentile(NULL, 5);
EXECUTE percentile(0.5, 50000);
EXECUTE percentile(0.5, NULL);
-- core's errors: for a single fraction also without rows
EXECUTE percentile(1.5, 5);
\set VERBOSITY sqlstate
EXECUTE percentile(1.5, 5);
EXECUTE percentile(-0.1, 50000);
EXECUTE percentile('NaN', NULL);
SELECT percentile_disc(ARRAY[0.5, 2]) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > 5;
SELECT percentile_disc(ARRAY[0.5, 2]) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > 50000;
SET gpubtree.enable_percentile = off;
SELECT percentile_disc(1.5::float8) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > 5;
\set ECHO none
RESET gpubtree.enable_percentile;
\set VERBOSITY default
DEALLOCATE percentile;
RESET plan_cache_mode;
-- not this node's
SET gpubtree.enable_aggregate = off;
SELECT is_ours(query), query FROM unnest('{
	SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM scores WHERE k > 5,
	SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k + 1) FROM scores WHERE k > 5,
	SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FILTER (WHERE v > 3) FROM scores WHERE k > 5,
	SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM scores WHERE v > 5,
	SELECT percentile_disc(random()) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > 5,
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > 5,
	"SELECT count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM scores",
	"SELECT mode() WITHIN GROUP (ORDER BY k), percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > 5",
	SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM scores GROUP BY v,
	SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM scores HAVING count(*) > 5
}'::text[]) query;
RESET gpubtree.enable_aggregate;
SET gpubtree.enable_percentile = off;
\set ECHO all
SELECT is_ours('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM scores WHERE k > 5');
RESET gpubtree.enable_percentile;

\set ECHO none
--
-- Types, orders
--
CREATE DOMAIN small AS smallint;
CREATE TABLE orders (i2 smallint NOT NULL, i8 bigint NOT NULL, d date NOT NULL, t timestamp NOT NULL, z timestamptz NOT NULL, dom small NOT NULL);
INSERT INTO orders SELECT n % 30000, n * 1000000007::bigint, date '2020-01-01' + n / 10, timestamp '2020-01-01' + n * interval '1 minute',
	timestamptz '2020-01-01' + n * interval '1 second', n % 100
FROM generate_series(1, 5000) n;
INSERT INTO orders VALUES (32767, 9223372036854775807, 'infinity', 'infinity', 'infinity', 32767),
	(-32768, -9223372036854775808, '-infinity', '-infinity', '-infinity', -32768);
DO $$
DECLARE
	c text;
BEGIN
	FOREACH c IN ARRAY '{i2,i8,d,t,z,dom}'::text[] LOOP
		EXECUTE format('CREATE INDEX ON orders USING gpubtree (%s %s)', c, CASE WHEN c < 'f' THEN 'DESC' ELSE '' END);
	END LOOP;
END $$;
VACUUM ANALYZE orders;
\set ECHO all
SELECT compare(format('SELECT %s FROM orders ORDER BY %1$s %s OFFSET %s LIMIT 4', c, direction, n))
FROM unnest('{i2,i8,d,t,z,dom}'::text[]) c, unnest('{ASC,DESC}'::text[]) direction, unnest('{500,2500,4999,5001}'::int[]) n
GROUP BY 1 ORDER BY 1;
SELECT compare(format('SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY %s %s), percentile_disc(''{0,0.6,1}''::float8[]) WITHIN GROUP (ORDER BY %1$s %2$s) FROM orders', c, direction))
FROM unnest('{i2,i8,d,t,z,dom}'::text[]) c, unnest('{ASC,DESC}'::text[]) direction
GROUP BY 1 ORDER BY 1;
SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY dom), pg_typeof(percentile_disc('{0.4}'::float8[]) WITHIN GROUP (ORDER BY dom)) FROM orders;
-- across types
SELECT compare('SELECT i2 FROM orders WHERE i2 > -40000 AND i2 < 3000::bigint ORDER BY i2 OFFSET 1000 LIMIT 5');
SELECT compare('SELECT d FROM orders WHERE d >= timestamp ''2020-02-01 12:00'' ORDER BY d OFFSET 1000 LIMIT 5');

--
-- Row-level security: what a policy leaves to be tested is not skipped over
--
CREATE ROLE gpubtree_rank_reader;
GRANT SELECT ON scores TO gpubtree_rank_reader;
ALTER TABLE scores ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON scores USING (k < 5000);
SET ROLE gpubtree_rank_reader;
EXPLAIN (COSTS OFF) SELECT k FROM scores ORDER BY k OFFSET 5000 LIMIT 3;
SELECT k FROM scores ORDER BY k OFFSET 5000 LIMIT 3;
RESET ROLE;
DROP POLICY low ON scores;
CREATE POLICY even ON scores USING (v % 2 = 0);
SET ROLE gpubtree_rank_reader;
EXPLAIN (COSTS OFF) SELECT k FROM scores WHERE k > 0 ORDER BY k OFFSET 5000 LIMIT 3;
RESET ROLE;
ALTER TABLE scores DISABLE ROW LEVEL SECURITY;

--
-- UPDATE ... WHERE CURRENT OF a cursor over ranks, by an index-only scan and by an index scan
--
CREATE TABLE place (k integer NOT NULL, v integer, note text);
INSERT INTO place SELECT n, n, '' FROM generate_series(1, 9000) n;
CREATE INDEX place_k ON place USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE place;
BEGIN;
SELECT is_ours('SELECT k FROM place ORDER BY k OFFSET 6000 LIMIT 3'), is_ours('SELECT k, note FROM place ORDER BY k DESC OFFSET 6000');
DECLARE narrow CURSOR FOR SELECT k FROM place ORDER BY k OFFSET 6000 LIMIT 3;
UPDATE place SET note = 'too early' WHERE CURRENT OF narrow;
ROLLBACK;
BEGIN;
DECLARE narrow CURSOR FOR SELECT k FROM place ORDER BY k OFFSET 6000 LIMIT 3;
FETCH 2 FROM narrow;
UPDATE place SET note = 'second' WHERE CURRENT OF narrow;
DECLARE whole CURSOR FOR SELECT k, note FROM place ORDER BY k DESC OFFSET 6000;
FETCH 1 FROM whole;
UPDATE place SET note = 'first' WHERE CURRENT OF whole;
FETCH 1 FROM whole;
DELETE FROM place WHERE CURRENT OF whole;
SELECT k, v, note FROM place WHERE note <> '' ORDER BY k;
SELECT count(*), sum(k) FROM place;
COMMIT;
-- and over other nodes of ours, where core refuses too
BEGIN;
DECLARE one CURSOR FOR SELECT count(*) FROM place WHERE k > 5;
FETCH 1 FROM one;
UPDATE place SET note = 'none' WHERE CURRENT OF one;
ROLLBACK;

DROP TABLE scores, orders, place;
DROP DOMAIN small;
DROP FUNCTION plan, is_ours, answer, plain_answer, compare, json_keys, json_percentile_keys;
DROP ROLE gpubtree_rank_reader;
