--
-- GpubtreeScan: rows of ranges with filters, and the first rows in an order
--
SET client_min_messages = warning;
CREATE SCHEMA rows;
SET search_path = rows, public;
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';

SET compare.node = 'GpubtreeScan';
\i :abs_srcdir/sql/common/compare.sql

CREATE TABLE event (k bigint, s smallint, i integer, b bigint, f double precision, d date, t timestamp, u integer, x text);
INSERT INTO event
	SELECT CASE WHEN n % 50 <> 0 THEN n END, n % 9, CASE WHEN n % 11 <> 0 THEN n % 100 - 20 END,
		CASE WHEN n % 13 <> 0 THEN n::bigint * 1000003 % 70001 END, CASE WHEN n % 17 <> 0 THEN n / 4.0 END,
		date '2024-01-01' + n % 300, timestamp '2024-01-01' + n * interval '1 hour', n, 'text ' || n % 7
	FROM generate_series(1, 4000) n;
CREATE INDEX event_k ON event USING gpubtree (k) INCLUDE (s, i, b, f, d, t);
VACUUM ANALYZE event;
\set ECHO all

-- What EXPLAIN shows: all columns from the index; from the table; a condition that no program tests.
SELECT plan('SELECT k, i FROM event WHERE k < 3000 AND i = 7');
SELECT plan('SELECT k, u FROM event WHERE k < 3000 AND i = 7');
SELECT plan($$SELECT k, u FROM event WHERE i = 7 AND x LIKE '%1'$$);
SELECT plan('SELECT k FROM event WHERE (k < 10 AND i > 5 OR k BETWEEN 300 AND 320) AND s = 1');
SELECT plan('SELECT k FROM event WHERE k = ANY (ARRAY[7, 107, 108]) AND i = 7', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT plan($$SELECT k, u FROM event WHERE k < 3000 AND i = 7 AND x LIKE '%1'$$, 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');

-- Filters, NULLs, expressions, types
SELECT compare('SELECT k, i FROM event WHERE k < 300 AND i = 7');
SELECT compare('SELECT * FROM event WHERE k BETWEEN 100 AND 3000 AND i > 70 AND s <> 4');
SELECT compare('SELECT k, f FROM event WHERE i IS NULL AND k > 3800');
SELECT compare('SELECT k, i FROM event WHERE k IS NULL AND i < 0');
SELECT compare('SELECT u FROM event WHERE k IS NULL AND i < 0');
SELECT compare('SELECT d, t FROM event WHERE b % 100 = 3 AND f > 12.5');
SELECT compare($$SELECT s, d FROM event WHERE d > date '2024-09-01' AND t < timestamp '2024-03-01' AND s IN (1, 2)$$);
SELECT compare('SELECT k FROM event WHERE (k < 30 AND i > 5 OR k BETWEEN 300 AND 320) AND s = 1');
SELECT compare('SELECT k, b FROM event WHERE k < 30 OR k > 3970');
SELECT compare('SELECT k, u FROM event WHERE k = ANY (ARRAY[7, 107, 108, NULL]) AND i = 7');
SELECT compare('SELECT i + s, f * 2 FROM event WHERE i * s = 12');
SELECT compare('SELECT 1 FROM event WHERE i = 12 AND k > 3500');
SELECT compare('SELECT k FROM event WHERE k > 5 AND k < 3 AND i = 1');
SELECT compare('SELECT k FROM event WHERE k < NULL::bigint AND i = 1');

-- Many keys without a filter, if the planner knows how many; with few core's scan does as much, and
-- the node is not even offered
CREATE FUNCTION keys_query(n integer) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT k, s, x FROM event WHERE k = ANY (%L::int[])', array_agg(i * 7 % 5003 - 9)) FROM generate_series(1, n) i
$$;
SELECT left(compare(keys_query(999)), 13);
SELECT compare(keys_query(1000));
SELECT compare(replace(keys_query(1000), ', x', ''));
DROP FUNCTION keys_query;

\set ECHO none
-- Of an array that is a parameter a generic plan knows nothing: core's scan of the index is planned,
-- and an execution with 1,000 elements has the node.  Without a device that is where rows are
-- scattered over the heap.
CREATE TABLE scattered AS SELECT * FROM event ORDER BY hashint4(u);
CREATE INDEX scattered_k ON scattered USING gpubtree (k) INCLUDE (s, i);
CREATE TABLE several AS SELECT u % 4 AS a, k::integer AS b, u, x FROM scattered WHERE k IS NOT NULL;
CREATE INDEX several_a_b ON several USING gpubtree (a, b);
VACUUM ANALYZE scattered, several;
-- n keys, some of which are there, some twice, and one of which is NULL
CREATE FUNCTION many(n integer) RETURNS bigint[] IMMUTABLE LANGUAGE sql AS $$
	SELECT array_agg(CASE WHEN i <> 5 THEN i * 7 % 503 * 9 - 9 END) FROM generate_series(1, n) i
$$;
-- the scan of a prepared query's generic plan that an execution has, and whether its rows are right
CREATE FUNCTION generic(query text, keys text, type text DEFAULT 'bigint[]') RETURNS text LANGUAGE plpgsql
	SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
	SET max_parallel_workers_per_gather = 0 SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
	line text;
	node text;
	row record;
	rows text[];
	ours text;
	plain text := plain_answer(replace(query, '$1', keys || '::' || type));
BEGIN
	EXECUTE format('PREPARE unknown(%s) AS %s', type, query);
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) EXECUTE unknown(%s)', keys) LOOP
		node := coalesce(node, substring(line FROM 'GpubtreeScan|Index Only Scan Backward|Index Only Scan|Index Scan'));
	END LOOP;
	FOR row IN EXECUTE format('EXECUTE unknown(%s)', keys) LOOP
		rows := rows || row::text;
	END LOOP;
	DEALLOCATE unknown;
	SELECT coalesce(string_agg(r, ' ' ORDER BY r COLLATE "C"), 'no row') FROM unnest(rows) r INTO ours;
	RETURN format('%s, %s rows%s', node, coalesce(cardinality(rows), 0),
				  CASE WHEN ours IS DISTINCT FROM plain THEN format(': %s, should be %s', left(ours, 300), left(plain, 300)) END);
END $$;
\set ECHO all
SELECT n, generic('SELECT k, u, x FROM scattered WHERE k = ANY ($1)', format('rows.many(%s)', n)) FROM unnest(ARRAY[3, 999, 1000, 2000]) n;
-- elements of other types; arrays of two dimensions, of NULLs alone, without elements, that are NULL
SELECT generic('SELECT * FROM scattered WHERE k = ANY ($1)', 'rows.many(1500)', 'integer[]');
SELECT generic('SELECT * FROM scattered WHERE k = ANY ($1)', 'rows.many(1500)', 'smallint[]');
SELECT generic('SELECT k, u FROM scattered WHERE k = ANY ($1)', 'ARRAY[rows.many(800), rows.many(800)]');
SELECT generic('SELECT k, u FROM scattered WHERE k = ANY ($1)', keys) FROM unnest(ARRAY['array_fill(NULL::bigint, ARRAY[1000])', $$'{}'$$, 'NULL']) keys;
-- further conditions, which the program tests or core; columns, expressions, subqueries
SELECT generic('SELECT u, x FROM scattered WHERE k = ANY ($1) AND i > 30 AND k < 3000', 'rows.many(1500)');
SELECT generic($$SELECT u, k FROM scattered WHERE k = ANY ($1) AND x LIKE '%3' AND s <> 4$$, 'rows.many(1500)');
SELECT generic('SELECT scattered, k + u, s, tableoid::regclass, i FROM scattered WHERE k = ANY ($1) AND (i > 70 OR i IS NULL)', 'rows.many(1500)');
SELECT generic('SELECT u, (SELECT max(k) FROM event WHERE event.u <= scattered.u) FROM scattered WHERE k = ANY ($1) AND u < 40', 'rows.many(1500)');
SELECT generic('SELECT a, b, u, x FROM several WHERE a = 1 AND b = ANY ($1) AND u > 500', 'rows.many(1500)', 'integer[]');
SELECT generic('SELECT a, b, x FROM several WHERE a = ANY ($1) AND b > 3000', 'rows.many(1500)', 'integer[]');
-- below other nodes, in a subquery that is run again for each row
SELECT generic('SELECT u % 5, count(*), max(x), string_agg(s::text, $$,$$ ORDER BY u) FROM scattered WHERE k = ANY ($1) GROUP BY 1', 'rows.many(1500)');
SELECT generic('SELECT n, t.* FROM generate_series(1, 3) n, LATERAL (SELECT count(*), sum(o.u) FROM (SELECT u FROM scattered WHERE k = ANY ($1) OFFSET 0) o WHERE o.u % 3 < n) t', 'rows.many(1500)');
SELECT generic('SELECT (SELECT sum(u) FROM scattered WHERE k = ANY ($1)), count(*) FROM event WHERE k < 9', 'rows.many(1500)');
SELECT generic('SELECT k, x FROM scattered WHERE k = ANY ($1) AND s < 3 UNION ALL SELECT k, x FROM event WHERE k = ANY ($1) AND s = 0', 'rows.many(1500)');
-- two scans of one index; a nested loop's inner side, whose scan has conditions from the outer side
SELECT generic('SELECT o.u, o.x, p.s FROM scattered o, scattered p WHERE o.k = ANY ($1) AND p.k = ANY ($1) AND p.x = $$text 3$$ AND o.u = p.u - 9', 'rows.many(1500)');
SELECT generic('SELECT n, p.u, p.x FROM generate_series(3000, 3020) n JOIN several p ON p.b = n WHERE p.a = ANY ($1)', 'rows.many(1500)', 'integer[]');
-- core's scan, where the order of its rows or their beginning is wanted, where rows are locked
SELECT generic('SELECT k, u FROM scattered WHERE k = ANY ($1) ORDER BY k', 'rows.many(1500)');
SELECT generic('SELECT count(*) FROM (SELECT k, u FROM scattered WHERE k = ANY ($1) LIMIT 2000) l', 'rows.many(1500)');
SELECT generic('SELECT max(k) FROM (SELECT k FROM scattered WHERE k = ANY ($1) OFFSET 0) l HAVING EXISTS (SELECT FROM scattered WHERE k = ANY ($1) AND u > 7)', 'rows.many(1500)');
SELECT generic('SELECT k, u FROM scattered WHERE k = ANY ($1) AND u = (SELECT u FROM event WHERE k = 9)', 'rows.many(1500)');
SET gpubtree.enable_scan = off;
SELECT generic('SELECT k, u FROM scattered WHERE k = ANY ($1)', 'rows.many(1500)');
RESET gpubtree.enable_scan;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
PREPARE locked(bigint[]) AS SELECT count(*) FROM (SELECT u FROM scattered WHERE k = ANY ($1) FOR SHARE) l;
SELECT plan('EXECUTE locked(many(1500))');
EXECUTE locked(many(1500));
-- one plan for all executions, also of writers and of a serializable transaction
PREPARE unknown(bigint[]) AS SELECT u FROM scattered WHERE k = ANY ($1);
SELECT plan('EXECUTE unknown(many(3))');
SELECT plan('EXECUTE unknown(many(1500))') LIMIT 2;
SELECT plan('EXECUTE unknown(many(4))') LIMIT 1;
CREATE TABLE copied AS EXECUTE unknown(many(1500));
SELECT count(*), sum(u) FROM copied;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT plan('EXECUTE unknown(many(1500))') LIMIT 1;
ROLLBACK;
\set ECHO none
-- a function's variables; rows read backward
CREATE FUNCTION moves(keys bigint[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c SCROLL CURSOR FOR SELECT u FROM scattered WHERE k = ANY (keys) AND s < 3 UNION ALL SELECT u FROM scattered WHERE k = ANY (keys) AND s >= 3;
	first integer;
	last integer;
	again integer;
	total bigint;
BEGIN
	SELECT sum(u) INTO total FROM (SELECT u FROM scattered WHERE k = ANY (keys) OFFSET 0) s;
	OPEN c;
	FETCH c INTO first;
	FETCH LAST FROM c INTO last;
	FETCH FIRST FROM c INTO again;
	CLOSE c;
	RETURN format('%s %s %s %s', first, last, first = again, total);
END $$;
-- a loop's rows, which are read some at a time
CREATE FUNCTION loops(keys bigint[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n integer := 0;
	total bigint := 0;
BEGIN
	FOR r IN SELECT u FROM scattered WHERE k = ANY (keys) LOOP
		n := n + 1;
		total := total + r.u;
	END LOOP;
	RETURN format('%s %s', n, total);
END $$;
\set ECHO all
SELECT loops(many(100)), loops(many(1500));
SELECT moves(many(4)), moves(many(1500)), moves(many(1500) || many(7)), moves(NULL);
RESET plan_cache_mode;
RESET enable_seqscan;
RESET enable_bitmapscan;
DEALLOCATE ALL;

-- Conditions that are evaluated on rows: text, columns beside the index, functions, subqueries
CREATE FUNCTION odd(integer) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN $1 % 2 = 1; END';
SELECT compare($$SELECT k, u FROM event WHERE i = 7 AND x = 'text 3'$$);
SELECT compare('SELECT k FROM event WHERE i = 7 AND u > 3000');
SELECT compare('SELECT k FROM event WHERE i BETWEEN 7 AND 8 AND odd(i) AND k < 900');
SELECT compare('SELECT k FROM event WHERE i = 7 AND (SELECT max(u) - 300 FROM event) < k');
SELECT compare('SELECT k FROM event e WHERE i = 7 AND EXISTS (SELECT FROM event WHERE k = e.k + 1 AND s = 3) AND random() >= 0');
SELECT compare('SELECT ctid, k FROM event WHERE i = 7');
SELECT compare('SELECT e FROM event e WHERE i = 7');

-- A step that faults is core's to judge, row by row; so is all where a constant fails.
SELECT compare('SELECT k FROM event WHERE k < 100 AND 100 / i > 40');
SELECT compare('SELECT k FROM event WHERE k < 300 AND i <> 0 AND 100 / i > 40');
SELECT compare('SELECT k FROM event WHERE k < 100 AND i = 7 AND b * 9223372036854775 > 0');
SELECT compare('SELECT u FROM event WHERE k < 100 AND i = 7 AND b * 9223372036854775 > 0');
SELECT compare('SELECT k FROM event WHERE i = 70 AND b > 10 / (SELECT 0)');
SELECT compare('SELECT k FROM event WHERE i = 700 AND b > 10 / (SELECT min(0) FROM event)');
SELECT compare('SELECT k FROM event WHERE k < 300 AND i IN (1, 2, (SELECT NULL::integer))');
SELECT compare('SELECT k FROM event WHERE k < 300 AND CASE WHEN i = 0 THEN true ELSE 100 / i > 40 END');
-- Subqueries are evaluated with the other conditions, twice planned where a step may fault.
CREATE TABLE other AS SELECT n AS k FROM generate_series(-20, 79, 3) n;
SELECT compare('SELECT k FROM event e WHERE k < 300 AND i <> 0 AND 100 / i > 10 AND (i > 7 OR EXISTS (SELECT FROM other o WHERE o.k = e.i))');
SELECT compare('SELECT k FROM event e WHERE k < 300 AND 100 / i > 10 AND (i > 7 OR i IN (SELECT k FROM other))');
SELECT compare('SELECT k FROM event e WHERE k < 100 AND i > 0 AND b * 9223372036854775 > 0 AND i < (SELECT count(*) FROM other o WHERE o.k < e.s)');

-- The first rows in an order
SELECT plan('SELECT k, i FROM event WHERE k < 3000 AND s = 3 ORDER BY f DESC LIMIT 5');
SELECT compare('SELECT k, f FROM event WHERE k < 3000 AND s = 3 ORDER BY f DESC, k LIMIT 5');
SELECT compare('SELECT k, f FROM event WHERE k < 3000 AND s = 3 ORDER BY f DESC NULLS LAST, k LIMIT 5');
SELECT compare('SELECT k, f FROM event WHERE k < 3000 AND s = 3 ORDER BY f, k LIMIT 5 OFFSET 3');
SELECT compare('SELECT u FROM event ORDER BY i NULLS FIRST, u DESC LIMIT 7');
SELECT compare('SELECT u FROM event ORDER BY i, u LIMIT 7');
SELECT compare('SELECT * FROM event ORDER BY i * s DESC, u DESC LIMIT 3');
SELECT compare('SELECT k, d FROM event WHERE s = 2 ORDER BY d DESC, t LIMIT 4');
SELECT compare('SELECT i FROM event ORDER BY i FETCH FIRST 3 ROWS WITH TIES');
SELECT compare('SELECT i FROM event WHERE s = 4 ORDER BY i DESC NULLS LAST FETCH FIRST 2 ROWS WITH TIES');
SELECT compare('SELECT u FROM event ORDER BY b * 9223372036854775 LIMIT 3');
SELECT compare('SELECT u FROM event WHERE i = 5 ORDER BY i, u LIMIT 3');
SELECT compare('SELECT count(*) FROM (SELECT k FROM event ORDER BY s LIMIT 10) q');
SELECT compare('SELECT u FROM event WHERE b > 10 / (SELECT 1) ORDER BY i, u LIMIT 3');
SELECT compare('SELECT u FROM event ORDER BY -i DESC NULLS LAST, u LIMIT 3');

\set ECHO none
-- Not where rows are left out after the node, or where more is needed than them
CREATE FUNCTION is_limited(query text) RETURNS boolean LANGUAGE sql
	SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
AS $$ SELECT bool_or(line LIKE '%First Entries%') FROM plan(query) line $$;
SELECT is_limited(query), query FROM unnest(ARRAY[
	'SELECT u FROM event ORDER BY i LIMIT 3',
	'SELECT u FROM event WHERE s = 3 ORDER BY i LIMIT 3 OFFSET 2',
	'SELECT u FROM event WHERE odd(u) ORDER BY i LIMIT 3',
	$$SELECT u FROM event WHERE s = 3 AND x > 'a' ORDER BY i LIMIT 3$$,
	'SELECT u FROM event ORDER BY x LIMIT 3',
	'SELECT u FROM event ORDER BY i',
	'SELECT u FROM event ORDER BY i OFFSET 3',
	'SELECT u FROM event ORDER BY i LIMIT (SELECT 3)',
	'SELECT u FROM event ORDER BY i + random() LIMIT 3',
	'SELECT DISTINCT i FROM event ORDER BY i LIMIT 3',
	'SELECT i FROM event GROUP BY i ORDER BY i LIMIT 3',
	'SELECT i, sum(u) OVER () FROM event ORDER BY i LIMIT 3',
	'SELECT generate_series(1, i) FROM event ORDER BY i LIMIT 3',
	'SELECT e.i FROM event e, event o WHERE e.k = o.k + 1 ORDER BY e.i LIMIT 3',
	'SELECT i FROM event UNION ALL SELECT 1 ORDER BY i LIMIT 3',
	'SELECT u FROM event ORDER BY i LIMIT 3 FOR UPDATE']) query;
\set ECHO all

-- The last row of each group
SELECT plan('SELECT DISTINCT ON (s) s, k, i FROM event WHERE i > 10 ORDER BY s, k DESC');
SELECT plan('SELECT DISTINCT ON (s) s, k, u FROM event WHERE k < 900 AND i = 7 ORDER BY s, k DESC NULLS LAST', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT compare('SELECT DISTINCT ON (s) s, k, i FROM event WHERE k < 3000 AND i > 10 ORDER BY s, k DESC');
SELECT compare('SELECT DISTINCT ON (s) s, k, u FROM event WHERE k < 3000 ORDER BY s, k');
SELECT compare('SELECT DISTINCT ON (s) * FROM event ORDER BY s, k DESC, u');
SELECT compare('SELECT DISTINCT ON (s) s, k, u FROM event ORDER BY s, k DESC NULLS LAST, u');
SELECT compare('SELECT DISTINCT ON (s) s, k, u FROM event WHERE k IS NULL ORDER BY s DESC, k, u DESC');
SELECT compare('SELECT DISTINCT ON (s, i % 2) s, k FROM event WHERE k = ANY (ARRAY[7, 8, 16, 300, 333]) ORDER BY s, i % 2, k DESC');
SELECT compare('SELECT DISTINCT ON (i) i, k FROM event WHERE k < 100 OR k > 3900 ORDER BY i, k DESC LIMIT 9');
SELECT compare('SELECT DISTINCT ON (100 / i) i, k FROM event ORDER BY 100 / i, k DESC');
SELECT compare('SELECT DISTINCT ON (s) s, k FROM event WHERE b > 10 / (SELECT 0) ORDER BY s, k DESC');
\set ECHO none
SELECT bool_or(line LIKE '%Last Key of Each%'), query FROM unnest(ARRAY[
	'SELECT DISTINCT ON (s) k FROM event ORDER BY s, k',
	'SELECT DISTINCT ON (s) k FROM event ORDER BY s, i, k',
	'SELECT DISTINCT ON (s) k FROM event ORDER BY s',
	'SELECT DISTINCT ON (f) k FROM event ORDER BY f, k',
	'SELECT DISTINCT ON (s) k FROM event WHERE odd(u) ORDER BY s, k',
	'SELECT DISTINCT ON (s) s, count(*) OVER () FROM event ORDER BY s, k']) query, plan(query) line GROUP BY query ORDER BY query;

-- One row of each key
CREATE TABLE few (k integer, v integer, x text);
INSERT INTO few SELECT NULLIF(n % 12, 5), n, 'text ' || n % 12 FROM generate_series(1, 6000) n;
CREATE INDEX few_k ON few USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE few;
SET gpubtree.enable_aggregate = off;
\set ECHO all
SELECT plan('SELECT DISTINCT k FROM few WHERE k > 2', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT compare(query) FROM unnest(ARRAY['SELECT DISTINCT k FROM few', 'SELECT DISTINCT k FROM few WHERE k BETWEEN 3 AND 7', 'SELECT k FROM few GROUP BY k',
	'SELECT DISTINCT k / 3, k % 2 FROM few', 'SELECT DISTINCT k FROM few WHERE k < 2 OR k > 10', 'SELECT DISTINCT k FROM few WHERE k IS NULL',
	'SELECT k + 1 FROM few WHERE k IS NOT NULL GROUP BY k HAVING k > 3', 'SELECT DISTINCT k FROM few ORDER BY k DESC LIMIT 3',
	'SELECT k, x FROM (SELECT DISTINCT ON (k) k, x FROM few WHERE k > 0 ORDER BY k) q', 'SELECT DISTINCT k FROM few WHERE k > 3000000000',
	'SELECT DISTINCT k FROM few WHERE k > 5 AND k < 3']) query;
SELECT bool_or(line LIKE '%One of Each Key%'), query FROM unnest(ARRAY['SELECT DISTINCT k FROM few', 'SELECT DISTINCT k, v FROM few', 'SELECT DISTINCT k FROM few WHERE v > 3',
	'SELECT k, count(*) FROM few GROUP BY k', 'SELECT DISTINCT ON (k) k, v FROM few ORDER BY k', 'SELECT DISTINCT ON (k) k, v FROM few ORDER BY k, v',
	'SELECT DISTINCT k, random() < 2 FROM few', 'SELECT DISTINCT f FROM few f', 'SELECT DISTINCT k FROM few WHERE x IS NOT NULL']) query, plan(query) line GROUP BY query ORDER BY query;
DELETE FROM few WHERE k = 7 OR k = 0 OR k = 11;
SELECT compare('SELECT DISTINCT k FROM few');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT compare('SELECT DISTINCT k FROM few WHERE k > 3');
SELECT bool_or(mode = 'SIReadLock' AND locktype = 'relation') FROM pg_locks WHERE relation = 'few_k'::regclass;
COMMIT;
RESET gpubtree.enable_aggregate;

-- Order of double precision: -0 is 0, all NaNs are one, infinities
CREATE TABLE strange (k integer, f double precision);
INSERT INTO strange SELECT n, (ARRAY['0', '-0', 'NaN', '-NaN', 'infinity', '-infinity', '1e-320', '-1e-320', '1', NULL])[n % 10 + 1]::float8
	FROM generate_series(1, 60) n;
CREATE INDEX ON strange USING gpubtree (k) INCLUDE (f);
VACUUM ANALYZE strange;
SELECT compare(format('SELECT k, f FROM strange WHERE k > %s ORDER BY f %s, k LIMIT %s', n, direction, n))
	FROM generate_series(5, 50, 9) n, unnest(ARRAY['', 'DESC', 'NULLS FIRST', 'DESC NULLS LAST']) direction;
SELECT compare('SELECT k FROM strange WHERE f = 0');
SELECT compare('SELECT k FROM strange WHERE f >= ''NaN''');

-- Rows that VACUUM has not seen, changed and deleted ones
SET enable_seqscan = off;
UPDATE event SET i = i + 1 WHERE k % 3 = 0;
DELETE FROM event WHERE k % 7 = 0;
SELECT compare('SELECT k, i FROM event WHERE k < 3000 AND i = 8');
SELECT compare('SELECT k, u FROM event WHERE k < 3000 AND i = 8');
SELECT compare('SELECT k, i FROM event WHERE k < 3000 ORDER BY i DESC NULLS LAST, k LIMIT 9');
SELECT compare('SELECT * FROM event WHERE k < 3000 ORDER BY i DESC NULLS LAST, k LIMIT 9');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT plan('SELECT k, i FROM event WHERE k < 60 AND i = 8', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT compare('SELECT k, u FROM event WHERE k < 3000 AND i = 8');
SELECT compare('SELECT * FROM event WHERE k < 3000 ORDER BY i DESC NULLS LAST, k LIMIT 9');
SELECT compare('SELECT k FROM event WHERE k < 100 AND 100 / i > 40');
COMMIT;
VACUUM ANALYZE event;

-- Cursors go back and forth; a row stays what it is while the node goes on.
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, x FROM event WHERE k < 400 AND i = 7;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH ALL FROM c;
MOVE ABSOLUTE 0 FROM c;
FETCH 1 FROM c;
ROLLBACK;

-- Parameters: a generic plan; each row of an outer query; a nested loop
SET plan_cache_mode = force_generic_plan;
PREPARE found (bigint, integer) AS SELECT k, i FROM event WHERE k < $1 AND i = $2;
SELECT plan('EXECUTE found (300, 7)');
EXECUTE found (300, 7);
EXECUTE found (100, 9);
EXECUTE found (NULL, 7);
EXECUTE found (100, NULL);
PREPARE divided (integer) AS SELECT k FROM event WHERE k < 30 AND i > 9 / $1 AND i <> 0;
EXECUTE divided (-1);
EXECUTE divided (0);
DEALLOCATE ALL;
RESET plan_cache_mode;
SELECT n, (SELECT string_agg(k::text, ' ' ORDER BY k) FROM (SELECT k FROM event WHERE k < n * 100 AND i = n OFFSET 0) q) FROM generate_series(0, 5) n;
SELECT n, q.k FROM generate_series(1, 3) n, LATERAL (SELECT k FROM event WHERE k > n * 1000 AND s = n ORDER BY i, k LIMIT 2) q;
SELECT compare('SELECT e.k, o.n FROM event e, generate_series(1, 4) o(n) WHERE e.k < 200 AND e.i > 60 AND e.k % 5 > o.n');

\set ECHO none
-- Rights, and row-level security: what might tell what it saw never runs ahead of a policy.
CREATE ROLE rows_user;
GRANT USAGE ON SCHEMA rows TO rows_user;
GRANT SELECT ON event TO rows_user;
CREATE FUNCTION tell(integer) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS 'BEGIN RAISE NOTICE ''saw %'', $1; RETURN true; END';
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON event TO rows_user USING (s = 3 AND x <> 'text 0');
SET client_min_messages = notice;
SET ROLE rows_user;
\set ECHO all
SELECT plan('SELECT k, i FROM event WHERE k < 100 AND i < 30 AND tell(i)');
SELECT k, i FROM event WHERE k < 100 AND i < 30 AND tell(i);
SELECT plan('SELECT k FROM event WHERE k < 100 AND 100 / i > 10');
SELECT k FROM event WHERE k < 100 AND 100 / i > 10;
SELECT plan('SELECT k FROM event WHERE k < 100 ORDER BY i LIMIT 2');
SELECT k FROM event WHERE k < 100 ORDER BY i, k LIMIT 2;
RESET ROLE;
REVOKE SELECT ON event FROM rows_user;
SET ROLE rows_user;
SELECT k FROM event WHERE k < 100 AND i = 7;
RESET ROLE;
GRANT SELECT ON event TO rows_user;
BEGIN;
REVOKE EXECUTE ON FUNCTION int48gt(integer, bigint) FROM PUBLIC;
SET LOCAL ROLE rows_user;
SELECT k FROM event WHERE k < 100 AND i > 7::bigint;
ROLLBACK;

-- No node where rows are locked or changed, nor where it is switched off.
SELECT is_ours('SELECT k FROM event WHERE i = 7'), is_ours('SELECT k FROM event WHERE i = 7 FOR SHARE'), is_ours('DELETE FROM event WHERE i = 7'),
	is_ours('INSERT INTO strange SELECT k, f FROM event WHERE i = 7');
SET gpubtree.enable_scan = off;
SELECT is_ours('SELECT k FROM event WHERE i = 7');

SET client_min_messages = warning;
DROP SCHEMA rows CASCADE;
DROP ROLE rows_user;
