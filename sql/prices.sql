--
-- Which plan is chosen by its price, where the choice is clear: over rows that VACUUM has not seen, each of which a node must
-- visit in the table, and after VACUUM.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;

SET compare.node = 'Gpubtree';
\i :abs_srcdir/sql/common/plan.sql
CREATE FUNCTION choices(OUT query text, OUT in_order boolean, OUT at_random boolean) RETURNS SETOF record
LANGUAGE sql AS $$
	SELECT query, is_ours(format(query, 'in_order')), is_ours(format(query, 'at_random')) FROM unnest(ARRAY[
		'SELECT count(*), sum(v) FROM %s',
		'SELECT k / 1000, count(*), sum(v) FROM %s GROUP BY 1',
		'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM %s',
		'SELECT percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY k) FROM %s']) query
$$;
-- the heap follows the key, and the same without that
CREATE TABLE in_order (k integer NOT NULL, v integer) WITH (autovacuum_enabled = off);
CREATE TABLE at_random (LIKE in_order) WITH (autovacuum_enabled = off);
INSERT INTO in_order SELECT n, n % 100 FROM generate_series(0, 99999) n;
INSERT INTO at_random SELECT n * 7919 % 100000, n % 100 FROM generate_series(0, 99999) n;
CREATE INDEX in_order_k ON in_order USING gpubtree (k) INCLUDE (v);
CREATE INDEX at_random_k ON at_random USING gpubtree (k) INCLUDE (v);
ANALYZE in_order, at_random;
\set ECHO all

-- one percentile may pay, with a device
SELECT * FROM choices() WHERE query NOT LIKE '%(0.5)%';
-- core's scan visits row by row what it skips, where counting visits page by page
SELECT is_ours('SELECT k FROM in_order ORDER BY k OFFSET 50000 LIMIT 10');
VACUUM in_order, at_random;
SELECT * FROM choices();
SELECT is_ours('SELECT k FROM in_order ORDER BY k OFFSET 50000 LIMIT 10');

-- groups of expressions: what statistics say of the column below tells whether they fit into memory
SET work_mem = '256kB';
SELECT groups, is_ours(format('SELECT %s, count(*), sum(v) FROM at_random GROUP BY 1', groups))
	FROM unnest(ARRAY['k + 1', '-1 - k', 'k::bigint * 2', 'k / 3', 'k % 70000', 'k % 50', 'k / 300', 'k * 3 % 60']) groups;
RESET work_mem;

-- keys of an array: a batch pays from about a hundred on, of the planner's own accord, unless many are on each leaf, for
-- which later servers have a lower price
CREATE TABLE apart AS SELECT * FROM at_random;
CREATE INDEX apart_k ON apart USING gpubtree (k) INCLUDE (v) WITH (fillfactor = 10);
VACUUM ANALYZE apart;
SELECT n, is_ours(format('SELECT count(*) FROM apart WHERE k = ANY (%L::int[]) AND v > 5',
						 ARRAY(SELECT i * 300 FROM generate_series(1, n) i)))
	FROM unnest(ARRAY[1, 10, 300]) n;
-- the same of an array whose length nobody knows
SELECT is_ours('SELECT count(*) FROM at_random WHERE k = ANY ((SELECT array_agg(k) FROM in_order)::int[])');

-- ranges below some values of the first column: of each range only the first leaf has the price of a page at random
CREATE TABLE hosts AS SELECT n % 100 AS host, n / 100 AS at, n % 77 AS v FROM generate_series(0, 99999) n;
CREATE INDEX hosts_at ON hosts USING gpubtree (host, at) INCLUDE (v) WITH (fillfactor = 10);
VACUUM ANALYZE hosts;
SELECT n, is_ours(format('SELECT at / 6, max(v) FROM hosts WHERE host IN (3, 17) AND at BETWEEN 300 AND 299 + %s GROUP BY 1', n))
	FROM unnest(ARRAY[10, 400]) n;

-- rows that are fetched from the table: a filter pays if it saves more than it takes to begin
CREATE TABLE fetched AS SELECT k, v, k::text AS name FROM at_random;
CREATE INDEX fetched_k ON fetched USING gpubtree (k) INCLUDE (v);
-- since 16 a table grows in larger steps, and its empty pages at the end are not all-visible: FULL leaves none
VACUUM FULL fetched;
VACUUM ANALYZE fetched;
SELECT is_ours('SELECT * FROM fetched WHERE k = 500'),
	is_ours('SELECT * FROM fetched WHERE k BETWEEN 500 AND 514 AND v > 40'),
	is_ours('SELECT * FROM fetched WHERE k BETWEEN 500 AND 999 AND v = 5');

\set ECHO none
-- the first rows in an order that the index has: core's scan comes to them first, however many are expected; a key of the
-- order that has one value is none
CREATE TABLE tenants AS SELECT k % 300 AS a, k AS b, v, 'name ' || k AS name FROM at_random;
CREATE INDEX tenants_ab ON tenants USING gpubtree (a, b) INCLUDE (v);
VACUUM ANALYZE tenants;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE first_rows AS SELECT * FROM tenants WHERE a = $1 AND b >= $2 ORDER BY a, b LIMIT 200;
\set ECHO all
EXPLAIN (COSTS OFF) EXECUTE first_rows (5, 0);
DEALLOCATE first_rows;
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT * FROM fetched WHERE k BETWEEN 500 AND 699 ORDER BY k DESC LIMIT 300;
-- one that it has not, of all rows of a long range
EXPLAIN (COSTS OFF) SELECT * FROM fetched WHERE k BETWEEN 500 AND 19999 ORDER BY v LIMIT 10;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM tenants WHERE a = 5 AND v < 90 ORDER BY a, v LIMIT 10;
RESET enable_indexscan;
RESET enable_bitmapscan;
RESET enable_seqscan;
-- of rows that VACUUM has not seen all are visited before it is known which count for the limit
CREATE TABLE unseen WITH (autovacuum_enabled = off) AS TABLE fetched;
CREATE INDEX unseen_k ON unseen USING gpubtree (k) INCLUDE (v);
ANALYZE unseen;
SELECT name, is_ours(format('SELECT * FROM %s WHERE k BETWEEN 500 AND 539 ORDER BY v LIMIT 10', name)) AS short,
	is_ours(format('SELECT * FROM %s WHERE k BETWEEN 500 AND 19999 ORDER BY v LIMIT 10', name)) AS long
	FROM unnest(ARRAY['fetched', 'unseen']) name;
\set ECHO none
-- and no more are listed, and fetched from the table, than are first: 10, and those that equal the last of them
CREATE FUNCTION matches(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line LIKE '%Matches%' THEN
			RETURN NEXT trim(line);
		END IF;
	END LOOP;
END $$;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
\set ECHO all
SELECT matches('SELECT * FROM unseen WHERE k BETWEEN 500 AND 19999 ORDER BY v LIMIT 10'),
	(SELECT count(*) FROM unseen WHERE k BETWEEN 500 AND 19999 AND v = 0);
RESET enable_indexscan;
RESET enable_bitmapscan;
RESET enable_seqscan;
-- sums, medians and rows behind others, from a few entries to many
SELECT n, is_ours(format('SELECT count(*), sum(v) FROM fetched WHERE k BETWEEN 500 AND 499 + %s', n)) AS sum,
	is_ours(format('SELECT v %% 10, sum(v) FROM fetched WHERE k BETWEEN 500 AND 499 + %s GROUP BY 1', n)) AS groups,
	is_ours(format('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM fetched WHERE k BETWEEN 500 AND 499 + %s',
				   n)) AS median,
	is_ours(format('SELECT k FROM fetched ORDER BY k OFFSET %s LIMIT 10', n)) AS row_behind
	FROM unnest(ARRAY[5, 400, 2500]) n;

-- a few outer rows don't list a whole index, on a host device either, which is the CPU
SET gpubtree.enable_batchjoin = off;
SET gpubtree.enable_rangeaggregate = off;
CREATE TABLE few AS SELECT n * 1000 AS k FROM generate_series(1, 90) n;
ANALYZE few;
SELECT current_setting('gpubtree.device') !~ '^host' OR
	NOT is_ours('SELECT sum(v) FROM few JOIN at_random USING (k) WHERE v = 5') AS right_plan;

RESET gpubtree.enable_batchjoin;
RESET gpubtree.enable_rangeaggregate;

-- a condition that is evaluated for each value of a dictionary pays for a long range, or for few values; what is looked up
-- pays sooner
CREATE TABLE named AS SELECT n AS k, 'name ' || n % 20000 AS many, 'name ' || n % 100 AS few, n % 100 AS v
	FROM generate_series(0, 99999) n;
CREATE INDEX named_k ON named USING gpubtree (k) INCLUDE (many, few, v);
VACUUM ANALYZE named;
SELECT condition, is_ours(format('SELECT count(*), sum(v) FROM named WHERE k < 5000 AND %s', condition)) AS short,
	is_ours(format('SELECT count(*), sum(v) FROM named WHERE k < 90000 AND %s', condition)) AS long,
	is_ours(format('SELECT k, v FROM named WHERE k < 5000 AND %s', condition)) AS short_rows,
	is_ours(format('SELECT k, v FROM named WHERE k < 90000 AND %s', condition)) AS long_rows,
	is_ours(format('SELECT k / 1000, sum(v) FROM named WHERE k < 5000 AND %s GROUP BY 1', condition)) AS short_buckets
	FROM unnest(ARRAY['many LIKE ''name 77_''', 'few LIKE ''name 7_''', 'many = ''name 777''']) condition;
-- a join tests each match instead (Inner Filter, not Index Filter), unless there are more of them than values
SET enable_nestloop = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT few.k, named.v FROM few JOIN named USING (k) WHERE many > 'name 998';
EXPLAIN (COSTS OFF) SELECT a.k, named.v FROM at_random a LEFT JOIN named ON named.k = a.k AND many > 'name 998';
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_mergejoin;

DROP TABLE in_order, at_random, apart, hosts, fetched, tenants, unseen, named, few;
DROP FUNCTION choices, plan, is_ours, matches;
