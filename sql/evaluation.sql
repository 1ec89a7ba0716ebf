--
-- When expressions are evaluated: what a node evaluates before it has a row may stand in the target list as well, or be part of what
-- stands there.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET timezone = 'UTC';
-- The tables are small: ours is used wherever it can be.
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SELECT set_config(name, 'off', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name \g /dev/null
-- Parameters stay parameters, as timestamptz - interval stays an expression: both are evaluated by the executor.
SET plan_cache_mode = force_generic_plan;

CREATE TABLE ticks (k bigint NOT NULL, v integer, at timestamptz NOT NULL);
INSERT INTO ticks SELECT n % 5000, n % 100, timestamptz '2024-03-08' - n * interval '1 minute' FROM generate_series(1, 10000) n;
CREATE INDEX ticks_k ON ticks USING gpubtree (k) INCLUDE (v);
CREATE INDEX ticks_at ON ticks USING gpubtree (at) INCLUDE (v);
CREATE TABLE spans (id integer PRIMARY KEY, lo bigint, hi bigint, since timestamptz);
INSERT INTO spans SELECT n, n * 7 % 4500, n * 7 % 4500 + 50, timestamptz '2024-03-08' - n * interval '10 minutes' FROM generate_series(1, 500) n;
VACUUM ANALYZE ticks;
VACUUM ANALYZE spans;

-- The rows of a statement as text
CREATE FUNCTION result(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line record;
	lines text[];
BEGIN
	FOR line IN EXECUTE statement LOOP
		lines := lines || line::text;
	END LOOP;
	RETURN coalesce(cardinality(lines), 0) || ' rows ' || coalesce(md5((SELECT string_agg(l, ';' ORDER BY l) FROM unnest(lines) l)), '');
END $$;
CREATE FUNCTION plain_result(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM set_config('gpubtree.enabled', 'off', true);
	PERFORM set_config(name, 'on', true) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name;
	answer := result(statement);
	PERFORM set_config('gpubtree.enabled', 'on', true);
	PERFORM set_config(name, 'off', true) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name;
	RETURN answer;
END $$;
-- Run a query as a prepared statement with parameters of these types and values, by ours and by ordinary plans.
CREATE FUNCTION compare(query text, types text DEFAULT '', arguments text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	node text;
	ours text;
	plain text;
BEGIN
	DEALLOCATE ALL;
	EXECUTE format('PREPARE ours %s AS %s', types, query);
	EXECUTE format('PREPARE plain %s AS %s', types, query);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) EXECUTE ours ' || arguments LOOP
		node := coalesce(node, substring(line FROM 'Gpubtree\w+'));
	END LOOP;
	ours := result('EXECUTE ours ' || arguments);
	plain := plain_result('EXECUTE plain ' || arguments);
	IF ours IS DISTINCT FROM plain THEN
		RETURN format('%s: %s, should be %s', query, ours, plain);
	END IF;
	RETURN coalesce(node, 'ordinary plan') || ': equal, ' || split_part(ours, ' ', 1) || ' rows';
END $$;
\set ECHO all

--
-- GpubtreeRank: bounds and OFFSET come before the first row
--
SELECT compare('SELECT timestamptz ''2024-03-08'' - interval ''5 days'' AS since, at, v FROM ticks WHERE at > timestamptz ''2024-03-08'' - interval ''5 days'' ORDER BY at OFFSET 3000 LIMIT 3');
SELECT compare('SELECT $1, k, v FROM ticks WHERE k >= $1 ORDER BY k OFFSET 4000 LIMIT 3', '(bigint)', '(100)');
SELECT compare('SELECT $1 + 1 AS next, k FROM ticks WHERE k >= $1 + 1 AND k < $2 ORDER BY k DESC OFFSET 4000 LIMIT 3', '(bigint, bigint)', '(100, 4900)');
SELECT compare('SELECT $2, $2 + 1, k FROM ticks WHERE k >= $1 ORDER BY k OFFSET $2 LIMIT 3', '(bigint, bigint)', '(100, 4000)');
SELECT compare('SELECT $2 + 1, $1, k FROM ticks WHERE k >= $1 ORDER BY k OFFSET $2 + 1 LIMIT 3', '(bigint, bigint)', '(100, 4000)');
SELECT compare('SELECT least($1, 0), k FROM ticks ORDER BY k OFFSET $1 LIMIT 3', '(bigint)', '(4000)');
-- A condition as a whole, and a test for NULL
SELECT compare('SELECT k >= 100 AS above, k FROM ticks WHERE k >= 100 ORDER BY k OFFSET 4000 LIMIT 3');
SELECT compare('SELECT $1 <= k, k >= $1, k FROM ticks WHERE $1 <= k ORDER BY k OFFSET 4000 LIMIT 3', '(bigint)', '(100)');
SELECT compare('SELECT k IS NOT NULL AS there, k FROM ticks WHERE k IS NOT NULL ORDER BY k OFFSET 4000 LIMIT 3');
-- Subqueries without a reference to the row
SELECT compare('SELECT (SELECT min(lo) FROM spans), k FROM ticks WHERE k >= (SELECT min(lo) FROM spans) ORDER BY k OFFSET 4000 LIMIT 3');
-- Nothing but expressions; whole rows; system columns; a parameter from outside that changes
SELECT compare('SELECT $1 FROM ticks WHERE k >= $1 ORDER BY k OFFSET 4000 LIMIT 3', '(bigint)', '(100)');
SELECT compare('SELECT ticks, ctid, tableoid::regclass, $1 FROM ticks WHERE k >= $1 ORDER BY k OFFSET 4000 LIMIT 3', '(bigint)', '(100)');
SET enable_nestloop = on;
SELECT compare('SELECT id, found.* FROM spans, LATERAL (SELECT lo AS bound, k, $1 AS p FROM ticks WHERE k >= lo ORDER BY k OFFSET 2000 + $1 LIMIT 2) found WHERE id < 20',
	'(bigint)', '(10)');
SET enable_nestloop = off;

--
-- GpubtreeAggregate: bounds come before the row
--
SELECT compare('SELECT timestamptz ''2024-03-08'' - interval ''5 days'' AS since, count(*), sum(v) FROM ticks WHERE at > timestamptz ''2024-03-08'' - interval ''5 days''');
SELECT compare('SELECT $1, $1 + 1, count(*), min(k) + $1 FROM ticks WHERE k >= $1 AND k < $1 + 1000', '(bigint)', '(100)');
SELECT compare('SELECT $1, cardinality($1), sum(v) FROM ticks WHERE k = ANY ($1)', '(bigint[])', '(ARRAY[1, 2, 3])');

--
-- GpubtreePercentile: bounds and fractions
--
SELECT compare('SELECT timestamptz ''2024-03-08'' - interval ''5 days'' AS since, percentile_disc(0.5) WITHIN GROUP (ORDER BY at) FROM ticks WHERE at > timestamptz ''2024-03-08'' - interval ''5 days''');
SELECT compare('SELECT $1, $2, percentile_disc($2) WITHIN GROUP (ORDER BY k), percentile_disc(1 - $2) WITHIN GROUP (ORDER BY k), 1 - $2, count(*) FROM ticks WHERE k >= $1',
	'(bigint, double precision)', '(100, 0.25)');

--
-- GpubtreeBucketAggregate: bounds and the function's arguments
--
SELECT compare('SELECT timestamptz ''2024-03-08'' - interval ''5 days'' AS since, date_trunc(''day'', at), count(*) FROM ticks WHERE at > timestamptz ''2024-03-08'' - interval ''5 days'' GROUP BY date_trunc(''day'', at)');
SELECT compare('SELECT $1, $2, k / $2 AS bucket, k / $2 + $2, sum(v) FROM ticks WHERE k >= $1 GROUP BY k / $2 HAVING count(*) > $1', '(bigint, bigint)', '(100, 500)');

--
-- GpubtreeJoin: the outer expression comes before the inner columns
--
SELECT compare('SELECT id, lo + 1, k, v, now() FROM spans JOIN ticks ON k = lo + 1 ORDER BY id, v');
SELECT compare('SELECT b.id, s.x, k, v FROM spans b LEFT JOIN (SELECT id, coalesce(lo, 0) + $1 AS x FROM spans) s ON s.id = b.id + 400 LEFT JOIN ticks ON k = s.x ORDER BY b.id, v',
	'(bigint)', '(5)');
SELECT compare('SELECT id, $1, k, v FROM spans JOIN ticks ON k = lo + $1 AND v > $1 ORDER BY id, v', '(bigint)', '(5)');

--
-- GpubtreeJoinAggregate: the outer row is gone when the aggregates are there
--
SELECT compare('SELECT now(), $1, $1 + 1, count(*), sum(v) + $1 FROM spans JOIN ticks ON k = lo + $1', '(bigint)', '(5)');
SELECT compare('SELECT $1 + 1, count(*) FROM (SELECT id, lo + $1 AS x FROM spans ORDER BY id LIMIT 300) s JOIN ticks ON k = s.x + 1', '(bigint)', '(5)');

--
-- GpubtreeRangeAggregate: bounds come before the aggregates
--
SELECT compare('SELECT lo + 1, $1, count(*) FROM spans JOIN ticks ON k >= lo + 1 AND k < hi + $1 GROUP BY lo + 1', '(bigint)', '(5)');
SELECT compare('SELECT lo + 1, $1, count(*), sum(v) FROM spans JOIN ticks ON k >= $1 AND k < lo + 1 GROUP BY lo + 1, $1', '(bigint)', '(5)');
SELECT compare('SELECT id, timestamptz ''2024-03-08'' - interval ''5 days'', count(*) FROM spans JOIN ticks ON at >= timestamptz ''2024-03-08'' - interval ''5 days'' AND at < since GROUP BY id, timestamptz ''2024-03-08'' - interval ''5 days''');
SELECT compare('SELECT id, lo + $1, found.* FROM spans, LATERAL (SELECT count(*) AS n, sum(v) AS s FROM ticks WHERE k >= lo + $1 AND k < hi + $1) found', '(bigint)', '(5)');

--
-- GpubtreeAggregate: the value of a later arm of an OR may raise an error that core does not come to, if the first arm is true for every row; else core
-- raises it.
--
SELECT set_config(name, 'off', false) FROM unnest('{enable_seqscan,enable_indexscan,enable_indexonlyscan,enable_bitmapscan}'::text[]) name;
PREPARE arms (int) AS SELECT count(*), sum(v) FROM ticks WHERE k < 9000 OR k > 10000 / $1;
EXPLAIN (COSTS OFF) EXECUTE arms(7);
EXECUTE arms(7);
EXECUTE arms(0);
PREPARE needed_arms (int) AS SELECT count(*), sum(v) FROM ticks WHERE k < 90 OR k > 10000 / $1;
EXECUTE needed_arms(7);
EXECUTE needed_arms(0);

--
-- Constants that may fail, in a query with parallel workers: they are evaluated before it is in parallel mode.
--
SET enable_seqscan = on;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
PREPARE early (int) AS SELECT (SELECT count(*) FROM ticks WHERE k < 400 AND v % 7 < 12 / $1), count(*) FROM spans WHERE id % 3 > 0;
EXPLAIN (COSTS OFF) EXECUTE early(7);
\set ECHO none
CREATE FUNCTION gave_up(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Gave Up' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
SELECT gave_up('EXECUTE early(7)');
\set ECHO all
EXECUTE early(7);
EXECUTE early(0);
DROP FUNCTION gave_up;

DROP TABLE ticks, spans;
DROP FUNCTION result, plain_result, compare;
