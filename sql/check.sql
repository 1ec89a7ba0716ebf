--
-- gpubtree_check on sound indexes of every shape, and on what is no gpubtree index.
-- (What it finds in damaged ones: test/t/061_damaged_pages.pl.)
--

-- wide entries and pages left nearly empty: three levels from few rows
CREATE TABLE t (k int8, c1 int8, c2 int8, c3 float8, c4 timestamptz, c5 int8, c6 int8)
	WITH (autovacuum_enabled = off);
INSERT INTO t SELECT (i * 7919) % 20011, i, nullif(i % 5, 0), i / 8.0, NULL, i, i
FROM generate_series(1, 20000) i;
CREATE INDEX t_built ON t USING gpubtree (k) INCLUDE (c1, c2, c3, c4, c5, c6)
	WITH (fillfactor = 10);
CREATE INDEX t_desc ON t USING gpubtree (k DESC) INCLUDE (c1, c2, c3, c4, c5, c6);
CREATE INDEX t_first ON t USING gpubtree (k NULLS FIRST) INCLUDE (c1, c2, c3, c4, c5, c6)
	WITH (fillfactor = 100);
\set ECHO all

SELECT pg_relation_size('t_built') / current_setting('block_size')::int > 1000 AS large;
SELECT gpubtree_check('t_built'), gpubtree_check('t_desc'), gpubtree_check('t_first');
SELECT gpubtree_check('t_built', true), gpubtree_check('t_desc', true), gpubtree_check('t_first', true);

-- pages that split at every level
INSERT INTO t SELECT (i * 104729::int8) % 20011, i FROM generate_series(1, 10000) i;
INSERT INTO t SELECT 20000 + i, i FROM generate_series(1, 5000) i;
INSERT INTO t SELECT 7, i FROM generate_series(1, 5000) i;
INSERT INTO t SELECT NULL, i FROM generate_series(1, 5000) i;
SELECT gpubtree_check('t_built', true), gpubtree_check('t_desc', true), gpubtree_check('t_first', true);

-- empty leaves among full ones
DELETE FROM t WHERE k BETWEEN 5000 AND 15000;
VACUUM t;
SELECT gpubtree_check('t_built', true), gpubtree_check('t_desc', true), gpubtree_check('t_first', true);
DELETE FROM t;
VACUUM t;
SELECT gpubtree_check('t_built', true), gpubtree_check('t_desc', true), gpubtree_check('t_first', true);
INSERT INTO t SELECT i FROM generate_series(1, 100) i;
SELECT gpubtree_check('t_built', true), gpubtree_check('t_desc', true), gpubtree_check('t_first', true);

-- rows of one's own transaction, and of one that is undone
BEGIN;
INSERT INTO t SELECT i FROM generate_series(1, 100) i;
UPDATE t SET c1 = 5 WHERE k = 7;
SELECT gpubtree_check('t_built', true);
ROLLBACK;
SELECT gpubtree_check('t_built', true);
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT gpubtree_check('t_built', heapallindexed => true);
COMMIT;

-- the owner may, superusers may, others may not
CREATE ROLE regress_gpubtree_owner;
CREATE ROLE regress_gpubtree_other;
ALTER TABLE t OWNER TO regress_gpubtree_owner;
GRANT ALL ON t TO regress_gpubtree_other;
SET ROLE regress_gpubtree_other;
SELECT gpubtree_check('t_built');
SET ROLE regress_gpubtree_owner;
SELECT gpubtree_check('t_built', true);
RESET ROLE;

-- what is no gpubtree index
CREATE INDEX t_btree ON t (k);
CREATE VIEW v AS SELECT 1 AS x;
CREATE TABLE parts (k int4) PARTITION BY RANGE (k);
CREATE INDEX parts_k ON parts USING gpubtree (k);
CREATE TEMP TABLE bare (k int4);
CREATE INDEX bare_k ON bare USING gpubtree (k);
SELECT gpubtree_check('t');
SELECT gpubtree_check('v');
SELECT gpubtree_check('t_btree');
SELECT gpubtree_check('parts_k');
SELECT gpubtree_check('no_such_index');
SELECT gpubtree_check(0);
SELECT gpubtree_check(NULL), gpubtree_check('t_built', NULL);
SELECT gpubtree_check('bare_k', true);

-- an index whose build was never finished
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 't_desc'::regclass;
SELECT gpubtree_check('t_desc');

DROP TABLE t, parts, bare;
DROP VIEW v;
DROP ROLE regress_gpubtree_owner, regress_gpubtree_other;
