-- leaves whose entries share keys: sizes beside the built-in B-tree's, what such a leaf looks like,
-- and scans that mark, go back and turn around on it
SET max_parallel_maintenance_workers = 0;
SELECT setseed(0.25);

-- sizes: keys of each width, with 10 and 1,000 rows to a key, built and inserted at random
CREATE TABLE sized (t10 int8, t1000 int8, n10 int4, w1000 uuid, pair1 int4, pair2 int8)
	WITH (autovacuum_enabled = off);
INSERT INTO sized
	SELECT k, k / 100, k, md5((k / 100)::text)::uuid, k % 100, k / 1000
	FROM (SELECT (random() * 2000)::int k FROM generate_series(1, 20000)) k;
CREATE FUNCTION make(method text, options text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX %1$s_t10 ON sized USING %1$s (t10) %2$s', method, options);
	EXECUTE format('CREATE INDEX %1$s_t1000 ON sized USING %1$s (t1000) %2$s', method, options);
	EXECUTE format('CREATE INDEX %1$s_n10 ON sized USING %1$s (n10) %2$s', method, options);
	EXECUTE format('CREATE INDEX %1$s_w1000 ON sized USING %1$s (w1000) %2$s', method, options);
	EXECUTE format('CREATE INDEX %1$s_pair ON sized USING %1$s (pair1, pair2) %2$s', method, options);
END $$;
\set ECHO all
SELECT make('gpubtree', '');
SELECT make('btree', '');
CREATE VIEW sizes AS
	SELECT substr(g.relname, 10) AS index,
		pg_relation_size(g.oid) <= CASE WHEN g.relname ~ '10$' THEN 1.2 ELSE 1.1 END *
			pg_relation_size(b.oid) AS small
	FROM pg_class g JOIN pg_class b ON b.relname = 'btree_' || substr(g.relname, 10)
	WHERE g.relname LIKE 'gpubtree\_%' AND g.relkind = 'i' AND b.relname LIKE 'btree\_%';
SELECT * FROM sizes ORDER BY 1;
INSERT INTO sized
	SELECT k, k / 100, k, md5((k / 100)::text)::uuid, k % 100, k / 1000
	FROM (SELECT (random() * 2000)::int k FROM generate_series(1, 20000)) k;
SELECT * FROM sizes ORDER BY 1;
SELECT count(gpubtree_check(oid)) FROM pg_class WHERE relname LIKE 'gpubtree\_%' AND relkind = 'i';
CREATE INDEX plain ON sized USING gpubtree (t1000) WITH (deduplicate_items = off);
SELECT pg_relation_size('plain') > 1.5 * pg_relation_size('gpubtree_t1000') AS larger;
-- as many rows to each key, but values beside them: no entry shares a key
CREATE INDEX included ON sized USING gpubtree (t1000) INCLUDE (n10);
SELECT DISTINCT flags, item_size FROM generate_series(1, pg_relation_size('included') / 8192 - 1) b,
	gpubtree_page_stats('included', b) WHERE type = 'leaf';
DROP VIEW sizes;
DROP TABLE sized;
DROP FUNCTION make;

-- what a leaf looks like
CREATE TABLE t (k int4, v int4) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i % 3, i FROM generate_series(1, 1200) i;
INSERT INTO t SELECT NULL, i FROM generate_series(1, 5) i;
CREATE INDEX t_k ON t USING gpubtree (k);
SELECT type, live_items, dead_items, item_size, flags FROM gpubtree_page_stats('t_k', 1);
SELECT itemoffset, itemlen, key, htid, dead, data FROM gpubtree_page_items('t_k', 1)
	WHERE itemoffset IN (1, 2, 400, 401, 1200, 1201, 1202);
SELECT leaves, fill FROM (SELECT leaf_pages AS leaves, avg_leaf_density > 85 AS fill FROM gpubtree_bloat('t_k')) q;

-- dead hints, and the deletion that follows them
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;
SET gpubtree.enable_aggregate = off;
DELETE FROM t WHERE k = 1 AND v % 2 = 0;
SELECT count(v) FROM t WHERE k = 1;
SELECT live_items, dead_items, flags FROM gpubtree_page_stats('t_k', 1);
VACUUM t;
SELECT live_items, dead_items, flags FROM gpubtree_page_stats('t_k', 1);
DELETE FROM t WHERE k = 1;
VACUUM t;
SELECT live_items, item_size FROM gpubtree_page_stats('t_k', 1);
SELECT k, count(*) FROM t GROUP BY k ORDER BY k;
DELETE FROM t;
VACUUM t;
SELECT live_items, flags, free_size FROM gpubtree_page_stats('t_k', 1);
INSERT INTO t SELECT 7, i FROM generate_series(1, 3) i;
SELECT itemlen, key, data FROM gpubtree_page_items('t_k', 1);
SELECT gpubtree_check('t_k');

-- scans: backward, with a cursor that turns around, with marks
INSERT INTO t SELECT i % 40, i FROM generate_series(1, 20000) i;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, v FROM t WHERE k >= 3 ORDER BY k;
FETCH ABSOLUTE 1500 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
FETCH BACKWARD 1 FROM c;
FETCH ABSOLUTE 3 FROM c;
COMMIT;
SELECT count(*), min(k), max(k), sum(v) FROM (SELECT * FROM t WHERE k < 33 ORDER BY k DESC OFFSET 0) q;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(a.v) FROM t a JOIN t b USING (k) WHERE a.k < 4 AND b.k < 4;
SELECT count(*), sum(a.v) FROM t a JOIN t b USING (k) WHERE a.k < 4 AND b.k < 4;
RESET ALL;

-- of parameters only those that come later know
ALTER INDEX t_k SET (deduplicate_items = off);
SELECT count(*) FILTER (WHERE flags = '{runs}') > 0 AS has_runs FROM generate_series(1, pg_relation_size('t_k') / 8192 - 1) b, gpubtree_page_stats('t_k', b);
REINDEX INDEX t_k;
SELECT count(*) FILTER (WHERE flags = '{runs}') > 0 AS has_runs FROM generate_series(1, pg_relation_size('t_k') / 8192 - 1) b, gpubtree_page_stats('t_k', b);
DROP TABLE t;

\set ECHO none
-- a row that is late in a long run: the leaf is split in the middle of its bytes
CREATE TABLE t (k int8) WITH (autovacuum_enabled = off);
CREATE INDEX t_k ON t USING gpubtree (k);
INSERT INTO t SELECT 1 + i / 1001 FROM generate_series(1, 1200) i;
DELETE FROM t WHERE ctid < '(1,0)';
VACUUM t;
\c -
INSERT INTO t SELECT 3 + i FROM generate_series(1, 100) i;
INSERT INTO t SELECT 1 FROM generate_series(1, 126) i;
\set ECHO all
SELECT count(*) FROM t WHERE ctid < '(1,0)';
SELECT block, entries, fill BETWEEN 48 AND 52 AS middle FROM gpubtree_tree('t_k') WHERE level = 0 ORDER BY number;
SELECT gpubtree_check('t_k');
DROP TABLE t;
