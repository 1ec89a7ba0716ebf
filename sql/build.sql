--
-- Building an index: contents, sizes, options, what is refused.  Every index built is
-- compared with its table, entry by entry.
--
SET client_min_messages = warning;
SET gpubtree.enable_aggregate = off;

CREATE TABLE built AS
	SELECT CASE WHEN i % 100 = 0 THEN NULL ELSE (i::bigint * 7919) % 15013 END AS k,
		   CASE WHEN i % 3 = 0 THEN NULL ELSE i % 1000 END::int2 AS a,
		   i AS b, -i::int8 AS c, CASE WHEN i % 7 = 0 THEN 'NaN' ELSE i / 8.0 END::float8 AS d,
		   '2000-01-01'::date + i AS e, '2000-01-01'::timestamp - i * interval '1 s' AS f,
		   CASE WHEN i % 2 = 0 THEN '2020-02-02'::timestamptz + i * interval '1 ms' END AS g
	FROM generate_series(1, 20000) i;

-- The rows of the table, read from an index and not
CREATE FUNCTION same_rows(columns text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	plan text;
	ours text;
	stock text;
	query text := format('SELECT md5(string_agg(r::text, '','')) FROM (SELECT %s FROM built ORDER BY k) r', columns);
	sorted text := format('SELECT md5(string_agg(r::text, '','')) FROM (SELECT %s FROM built ORDER BY k, ctid) r', columns);
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_sort = off;
	FOR plan IN EXECUTE 'EXPLAIN ' || query LOOP
		EXIT WHEN plan LIKE '%Index Only Scan%';
	END LOOP;
	IF plan NOT LIKE '%Index Only Scan%' THEN
		RAISE 'not an index-only scan: %', plan;
	END IF;
	EXECUTE query INTO ours;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_sort = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE sorted INTO stock;
	RETURN ours = stock;
END $$;

-- All INCLUDE types, with NULLs
CREATE INDEX built_index ON built USING gpubtree (k) INCLUDE (a, b, c, d, e, f, g);
VACUUM ANALYZE built;
\set ECHO all

SELECT same_rows('k, a, b, c, d, e, f, g');
SELECT gpubtree_check('built_index', true);
\pset tuples_only off
\d built_index
\pset tuples_only on
DROP INDEX built_index;

-- The smallest memory: the sort spills
SET maintenance_work_mem = '1MB';
CREATE INDEX built_index ON built USING gpubtree (k) INCLUDE (a, b);
RESET maintenance_work_mem;
SELECT same_rows('k, a, b');
SELECT gpubtree_check('built_index', true);
DROP INDEX built_index;

\set ECHO none
-- fillfactor: how full the leaves are
CREATE TABLE sizes (fillfactor int, blocks bigint);
DO $$
BEGIN
	FOR f IN 1 .. 4 LOOP
		EXECUTE format('CREATE INDEX built_index ON built USING gpubtree (k) WITH (fillfactor = %s)', (ARRAY[10, 50, 90, 100])[f]);
		INSERT INTO sizes VALUES ((ARRAY[10, 50, 90, 100])[f], pg_relation_size('built_index') / current_setting('block_size')::int);
		PERFORM gpubtree_check('built_index', true);
		IF f < 4 THEN
			DROP INDEX built_index;
		END IF;
	END LOOP;
END $$;
\set ECHO all
SELECT * FROM sizes ORDER BY 1;
ALTER INDEX built_index SET (fillfactor = 50);
REINDEX INDEX built_index;
SELECT pg_relation_size('built_index') / current_setting('block_size')::int AS blocks;
ALTER INDEX built_index RESET (fillfactor);
DROP INDEX built_index;

-- Descending, and NULLs first
CREATE INDEX built_index ON built USING gpubtree (k DESC);
SELECT gpubtree_check('built_index', true);
DROP INDEX built_index;
CREATE INDEX built_index ON built USING gpubtree (k NULLS FIRST) INCLUDE (c);
SELECT gpubtree_check('built_index', true);
DROP INDEX built_index;

\set ECHO none
-- Other key types, an expression, a predicate, a domain
CREATE INDEX built_2 ON built USING gpubtree (a DESC NULLS LAST);
CREATE INDEX built_4 ON built USING gpubtree (b);
CREATE INDEX built_date ON built USING gpubtree (e);
CREATE INDEX built_timestamp ON built USING gpubtree (f DESC);
CREATE INDEX built_timestamptz ON built USING gpubtree (g);
CREATE INDEX built_expression ON built USING gpubtree ((b % 100)) INCLUDE (k);
CREATE INDEX built_partial ON built USING gpubtree (b) WHERE a = 5;
CREATE DOMAIN small_number AS int4 CHECK (VALUE < 100000);
CREATE TABLE of_domain AS SELECT b::small_number AS x, c AS y FROM built;
CREATE INDEX built_domain ON of_domain USING gpubtree (x) INCLUDE (x, y);
\set ECHO all
SELECT i, gpubtree_check(i::regclass, true)
	FROM unnest('{built_2,built_4,built_date,built_timestamp,built_timestamptz,built_expression,built_partial,built_domain}'::text[]) i;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM built WHERE b % 100 = 7;
SELECT count(*) FROM built WHERE b > 10000 AND a = 5;
SELECT x, y FROM of_domain WHERE x = 77;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE of_domain;
DROP DOMAIN small_number;

-- Concurrently
CREATE INDEX CONCURRENTLY built_concurrently ON built USING gpubtree (k) INCLUDE (b);
SELECT gpubtree_check('built_concurrently', true);
REINDEX INDEX CONCURRENTLY built_concurrently;
SELECT gpubtree_check('built_concurrently', true);
REINDEX TABLE built;
SELECT gpubtree_check('built_concurrently', true);

-- Empty tables, TRUNCATE, and growing from nothing
CREATE TABLE empty (k int, v int);
CREATE INDEX empty_index ON empty USING gpubtree (k);
SELECT pg_relation_size('empty_index') / current_setting('block_size')::int AS blocks;
SELECT gpubtree_check('empty_index', true);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT * FROM empty WHERE k > 3;
SELECT k FROM empty ORDER BY k DESC;
INSERT INTO empty SELECT i, i FROM generate_series(1, 5000) i;
SELECT count(*), min(k), max(k) FROM empty WHERE k > 3;
TRUNCATE empty;
SELECT count(*) FROM empty WHERE k > 3;
BEGIN;
INSERT INTO empty VALUES (1, 1);
TRUNCATE empty;
INSERT INTO empty VALUES (7, 7);
ROLLBACK;
SELECT count(*) FROM empty WHERE k > 3;
SELECT gpubtree_check('empty_index', true);

-- Unlogged and temporary
CREATE UNLOGGED TABLE unlogged AS SELECT b FROM built;
CREATE INDEX unlogged_index ON unlogged USING gpubtree (b DESC);
SELECT pg_relation_size('unlogged_index', 'init') / current_setting('block_size')::int AS init_blocks;
SELECT gpubtree_check('unlogged_index', true);
CREATE TEMPORARY TABLE temporary AS SELECT b FROM built;
CREATE INDEX temporary_index ON temporary USING gpubtree (b);
SELECT count(*) FROM temporary WHERE b BETWEEN 10 AND 50;
SELECT gpubtree_check('temporary_index', true);

-- Clustering in the order of the index
CREATE INDEX built_order ON built USING gpubtree (c);
CLUSTER built USING built_order;
SELECT bool_and(c > before IS NOT FALSE) FROM (SELECT c, lag(c) OVER (ORDER BY ctid) AS before FROM built) b;
SELECT gpubtree_check('built_order', true);

-- Phases, as pg_stat_progress_create_index names them
SELECT n, pg_indexam_progress_phasename(oid, n) AS phase
FROM pg_am, generate_series(1, 6) n WHERE amname = 'gpubtree' ORDER BY n;

-- What is refused
CREATE TABLE refused (k int, t text, n numeric, r interval, b inet);
CREATE INDEX ON refused USING gpubtree (t);
CREATE INDEX ON refused USING gpubtree (r);
CREATE INDEX ON refused USING gpubtree (k) INCLUDE (k, n);
CREATE INDEX ON refused USING gpubtree (k) INCLUDE (b);
CREATE INDEX ON refused USING gpubtree (k, k, k, k, k);
CREATE INDEX ON refused USING gpubtree (k) INCLUDE (k, k, k, k, k, k, k, k, k, k, k, k, k, k, k);
CREATE INDEX refused_14 ON refused USING gpubtree (k) INCLUDE (k, k, k, k, k, k, k, k, k, k, k, k, k, k);
CREATE INDEX ON refused USING gpubtree (k) WITH (fillfactor = 9);
CREATE INDEX ON refused USING gpubtree (k) WITH (fillfactor = 101);
CREATE INDEX ON refused USING gpubtree (k) WITH (fastupdate = on);
\set VERBOSITY sqlstate
CREATE INDEX ON refused USING gpubtree (k) INCLUDE (r);

DROP TABLE built, empty, unlogged, refused, sizes;
DROP FUNCTION same_rows;
