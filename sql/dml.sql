--
-- Changes of the table, and what becomes of the index: after each, the structure is sound,
-- every row has its entry, and the index gives the rows a sequential scan gives
--
CREATE FUNCTION verify(t text, i text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	theirs text;
	query text := format('SELECT count(*) || '' '' || coalesce(md5(string_agg(x, '','' ORDER BY x)), '''') '
		'FROM (SELECT (k, v)::text FROM %s WHERE k >= -1000000 OR k IS NULL) q(x)', t);
BEGIN
	PERFORM gpubtree_check(i::regclass, true);
	PERFORM set_config('enable_seqscan', 'off', true);
	PERFORM set_config('enable_bitmapscan', 'on', true);
	EXECUTE query INTO ours;
	PERFORM set_config('enable_seqscan', 'on', true);
	PERFORM set_config('enable_bitmapscan', 'off', true);
	PERFORM set_config('enable_indexscan', 'off', true);
	PERFORM set_config('enable_indexonlyscan', 'off', true);
	EXECUTE query INTO theirs;
	PERFORM set_config('enable_indexscan', 'on', true);
	PERFORM set_config('enable_indexonlyscan', 'on', true);
	RETURN CASE WHEN ours = theirs THEN split_part(ours, ' ', 1) || ' rows'
		ELSE format('DIFFERENT: %s, not %s', ours, theirs) END;
END $$;

CREATE TABLE t (k int8, v int4, note text) WITH (fillfactor = 50, autovacuum_enabled = off);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
\set ECHO all

-- an empty index
SELECT verify('t', 't_k');
SELECT min(k), max(k), count(*) FROM t;
VACUUM t;

-- ascending, descending, at random, many equal keys, NULLs
INSERT INTO t SELECT i, i % 10 FROM generate_series(1, 5000) i;
SELECT verify('t', 't_k');
INSERT INTO t SELECT -i, nullif(i % 7, 0) FROM generate_series(1, 5000) i;
SELECT verify('t', 't_k');
INSERT INTO t SELECT (i * 7919::int8) % 10007, i FROM generate_series(1, 10000) i;
SELECT verify('t', 't_k');
INSERT INTO t SELECT 42, i FROM generate_series(1, 5000) i;
SELECT verify('t', 't_k');
INSERT INTO t SELECT NULL, i FROM generate_series(1, 3000) i;
SELECT verify('t', 't_k');

-- update: of the key, of an INCLUDE column, of neither
UPDATE t SET k = k + 1 WHERE k BETWEEN 100 AND 300;
SELECT verify('t', 't_k');
UPDATE t SET v = v + 1 WHERE k BETWEEN -300 AND 300;
SELECT verify('t', 't_k');
UPDATE t SET note = 'changed' WHERE k < 0;
SELECT verify('t', 't_k');
UPDATE t SET k = NULL WHERE k BETWEEN 1000 AND 1100;
UPDATE t SET k = v WHERE k IS NULL AND v < 1500;
SELECT verify('t', 't_k');

-- delete and vacuum, twice over the same pages
DELETE FROM t WHERE v % 2 = 0;
SELECT verify('t', 't_k');
VACUUM t;
SELECT verify('t', 't_k');
DELETE FROM t WHERE k = 42;
VACUUM t;
SELECT verify('t', 't_k');
SELECT count(*) FROM t WHERE k = 42;
INSERT INTO t SELECT 42, i FROM generate_series(1, 1000) i;
SELECT verify('t', 't_k');

-- VACUUM counts the entries that are left
DELETE FROM t WHERE k BETWEEN 2000 AND 2500;
VACUUM (INDEX_CLEANUP ON) t;
SELECT reltuples = (SELECT count(*) FROM t) AS counted FROM pg_class WHERE relname = 't_k';

-- a vacuum that skips the index, and the one that makes up for it
DELETE FROM t WHERE k < -4000;
VACUUM (INDEX_CLEANUP OFF) t;
SELECT verify('t', 't_k');
VACUUM t;
SELECT verify('t', 't_k');

-- rolled back, in whole and in part
BEGIN;
INSERT INTO t SELECT i, i FROM generate_series(1, 2000) i;
ROLLBACK;
SELECT verify('t', 't_k');
BEGIN;
INSERT INTO t SELECT i, -1 FROM generate_series(1, 500) i;
SAVEPOINT s;
INSERT INTO t SELECT i, -2 FROM generate_series(1, 500) i;
DELETE FROM t WHERE k < 0;
SELECT verify('t', 't_k');
ROLLBACK TO s;
SELECT verify('t', 't_k');
COMMIT;
SELECT verify('t', 't_k');
VACUUM t;
SELECT verify('t', 't_k');

-- a snapshot from before keeps what it sees
BEGIN ISOLATION LEVEL REPEATABLE READ;
DECLARE before CURSOR FOR SELECT count(*) FROM (SELECT 1 FROM t WHERE k BETWEEN -100 AND 100) q;
DELETE FROM t WHERE k BETWEEN -100 AND 100;
SELECT count(*) FROM t WHERE k BETWEEN -100 AND 100;
ROLLBACK;
SELECT count(*) > 0 FROM t WHERE k BETWEEN -100 AND 100;

-- built anew, in each way
REINDEX INDEX t_k;
SELECT verify('t', 't_k');
REINDEX INDEX CONCURRENTLY t_k;
SELECT verify('t', 't_k');
REINDEX TABLE t;
VACUUM FULL t;
SELECT verify('t', 't_k');
CREATE INDEX CONCURRENTLY t_k2 ON t USING gpubtree (k DESC NULLS LAST) INCLUDE (v);
SELECT verify('t', 't_k2');
DROP INDEX t_k;
SELECT verify('t', 't_k2');
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v) WITH (fillfactor = 10);
SELECT verify('t', 't_k');
ALTER INDEX t_k SET (fillfactor = 100);
REINDEX INDEX t_k;
SELECT verify('t', 't_k');
DROP INDEX t_k2;

-- clustered
CLUSTER t USING t_k;
SELECT verify('t', 't_k');
SELECT bool_and(k >= previous) AS ascending
FROM (SELECT k, lag(k) OVER (ORDER BY ctid) AS previous FROM t) q
WHERE previous IS NOT NULL;

-- emptied
BEGIN;
TRUNCATE t;
SELECT verify('t', 't_k');
INSERT INTO t SELECT i, i FROM generate_series(1, 2000) i;
SELECT verify('t', 't_k');
ROLLBACK;
SELECT verify('t', 't_k');
TRUNCATE t;
SELECT verify('t', 't_k');
INSERT INTO t SELECT i, i FROM generate_series(1, 2000) i;
SELECT verify('t', 't_k');
DELETE FROM t;
VACUUM t;
SELECT verify('t', 't_k');
INSERT INTO t VALUES (1, 1), (NULL, 2);
SELECT verify('t', 't_k');

-- partial and expression indexes
TRUNCATE t;
INSERT INTO t SELECT i, i % 3 FROM generate_series(1, 3000) i;
CREATE INDEX t_partial ON t USING gpubtree (k) WHERE v = 0;
CREATE INDEX t_expression ON t USING gpubtree ((k % 100)) INCLUDE (v);
DELETE FROM t WHERE k % 5 = 0;
VACUUM ANALYZE t;
SELECT gpubtree_check('t_partial', true), gpubtree_check('t_expression', true);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT k FROM t WHERE k BETWEEN 10 AND 20 AND v = 0 ORDER BY k;
SELECT k FROM t WHERE k BETWEEN 10 AND 20 AND v = 0 ORDER BY k;
SELECT count(*) FROM t WHERE k % 100 = 7;
RESET enable_seqscan;

-- an exclusion constraint may use the index where a unique one may not
CREATE TABLE once (k int4, v int4, EXCLUDE USING gpubtree (k WITH =));
INSERT INTO once VALUES (1), (2), (NULL), (NULL);
INSERT INTO once VALUES (2);
INSERT INTO once VALUES (3);
SELECT verify('once', 'once_k_excl');

-- unlogged and temporary tables
CREATE UNLOGGED TABLE u (k int4, v int4);
CREATE INDEX u_k ON u USING gpubtree (k);
INSERT INTO u SELECT i % 1000, i FROM generate_series(1, 5000) i;
SELECT verify('u', 'u_k');
DELETE FROM u WHERE k < 500;
VACUUM u;
SELECT verify('u', 'u_k');
ALTER TABLE u SET LOGGED;
SELECT verify('u', 'u_k');
ALTER TABLE u SET UNLOGGED;
SELECT verify('u', 'u_k');

CREATE TEMP TABLE p (k date, v int4);
CREATE INDEX p_k ON p USING gpubtree (k) INCLUDE (v);
INSERT INTO p SELECT date '2020-01-01' + i % 900, i FROM generate_series(1, 5000) i;
DELETE FROM p WHERE v % 3 = 0;
VACUUM ANALYZE p;
SELECT gpubtree_check('p_k', true);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT k, v FROM p WHERE k >= '2020-01-05' ORDER BY k LIMIT 3;
SELECT k, count(*) FROM p WHERE k BETWEEN '2020-01-05' AND '2020-01-07' GROUP BY k ORDER BY k;
RESET enable_seqscan;
CREATE TEMP TABLE o (k int4) ON COMMIT DELETE ROWS;
CREATE INDEX o_k ON o USING gpubtree (k);
BEGIN;
INSERT INTO o SELECT generate_series(1, 1000);
SELECT gpubtree_check('o_k', true);
COMMIT;
SELECT gpubtree_check('o_k', true);
BEGIN;
INSERT INTO o SELECT generate_series(1, 1000);
SELECT gpubtree_check('o_k', true);
COMMIT;

-- a partitioned table
CREATE TABLE parts (k int4, v int4) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE INDEX parts_k ON parts USING gpubtree (k) INCLUDE (v);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (1000) TO (2000);
INSERT INTO parts SELECT i, i FROM generate_series(0, 1999) i;
SELECT verify('parts_1', 'parts_1_k_v_idx'), verify('parts_2', 'parts_2_k_v_idx');
ANALYZE parts;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT k FROM parts WHERE k > 500 ORDER BY k LIMIT 1;
SELECT k FROM parts WHERE k BETWEEN 998 AND 1002 ORDER BY k;
RESET enable_seqscan;
RESET enable_bitmapscan;

DROP TABLE t, once, u, p, o, parts;
DROP FUNCTION verify;
