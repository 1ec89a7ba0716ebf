-- Columns declared NOT NULL: counting them is counting rows, and IS NOT NULL is no condition, though
-- the index lacks them; until the declaration is dropped.

\set ECHO all
CREATE EXTENSION IF NOT EXISTS gpubtree;
\set ECHO none
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET gpubtree.enable_device = off;
SET gpubtree.explain_decisions = on;

CREATE TABLE declared (id int PRIMARY KEY, k int, v int, n int);
INSERT INTO declared SELECT i, i % 100, i % 7, nullif(i % 5, 0) FROM generate_series(1, 1000) i;
CREATE INDEX declared_k ON declared USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE declared;
\set ECHO all

EXPLAIN (COSTS OFF) SELECT count(id), sum(v) FROM declared WHERE k < 50 AND id IS NOT NULL;
SELECT count(id), sum(v) FROM declared WHERE k < 50 AND id IS NOT NULL;
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT v, count(id), count(id) FILTER (WHERE k > 20) FROM declared
	WHERE k < 50 GROUP BY v;
RESET enable_hashagg;
SELECT v, count(id), count(id) FILTER (WHERE k > 20) FROM declared WHERE k < 50 GROUP BY v ORDER BY v;
EXPLAIN (COSTS OFF) SELECT k / 10, count(id) FROM declared
	WHERE k < 50 AND id IS NOT NULL GROUP BY k / 10;
SELECT k / 10, count(id) FROM declared WHERE k < 50 AND id IS NOT NULL GROUP BY k / 10 ORDER BY 1;

-- So it is of a column that is NULL in no row of the index, by the index's predicate.
CREATE TABLE kept (k int, v int, n int, w int);
INSERT INTO kept SELECT nullif(i % 100, 0), i % 7, nullif(i % 5, 0), nullif(i % 3, 0) FROM generate_series(1, 1000) i;
CREATE INDEX kept_k ON kept USING gpubtree (k) INCLUDE (v) WHERE n > 1 AND k <> 3;
CREATE TABLE joined (k int);
INSERT INTO joined VALUES (NULL), (1), (2), (99), (1000);
VACUUM ANALYZE kept, joined;
EXPLAIN (COSTS OFF) SELECT count(n), sum(v) FROM kept WHERE k <> 3 AND n > 1 AND n IS NOT NULL;
SELECT count(n), sum(v) FROM kept WHERE k <> 3 AND n > 1 AND n IS NOT NULL;
EXPLAIN (COSTS OFF) SELECT count(w) FROM kept WHERE k <> 3 AND n > 1;
SELECT count(k), percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM kept WHERE k <> 3 AND n > 1;
SET gpubtree.explain_decisions = off;
SELECT count(n), count(*) FROM joined LEFT JOIN (SELECT * FROM kept WHERE k <> 3 AND n > 1) i USING (k);
SELECT count(n), count(*) FROM joined JOIN (SELECT * FROM kept WHERE k <> 3 AND n > 1) i USING (k);
SET enable_seqscan = on;
SET gpubtree.enabled = off;
SELECT count(n), sum(v), count(k), percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM kept WHERE k <> 3 AND n > 1;
SELECT count(n), count(*) FROM joined LEFT JOIN (SELECT * FROM kept WHERE k <> 3 AND n > 1) i USING (k);
SELECT count(n), count(*) FROM joined JOIN (SELECT * FROM kept WHERE k <> 3 AND n > 1) i USING (k);
RESET gpubtree.enabled;
SET enable_seqscan = off;
SET gpubtree.explain_decisions = on;
DROP TABLE kept, joined;

-- What may be NULL is counted; an outer join puts NULL into any column.
EXPLAIN (COSTS OFF) SELECT count(n) FROM declared WHERE k < 50;
SELECT count(DISTINCT id) FROM declared WHERE k < 50;
SET gpubtree.explain_decisions = off;
SELECT count(d.id), count(*) FROM (VALUES (1), (2), (1000)) o(k) LEFT JOIN declared d ON d.k = o.k;
\set ECHO none
SET gpubtree.batch_setup_cost = 0;
CREATE TABLE ranged (id int NOT NULL, k int, v int);
INSERT INTO ranged SELECT i, i % 10000, i % 7 FROM generate_series(1, 50000) i;
CREATE INDEX ranged_k ON ranged USING gpubtree (k) INCLUDE (v, id);
VACUUM ANALYZE ranged;
CREATE TABLE outer_rows (lo int PRIMARY KEY);
INSERT INTO outer_rows SELECT i * 70 FROM generate_series(1, 200) i;
ANALYZE outer_rows;
SET enable_indexscan = on;
\set ECHO all
EXPLAIN (COSTS OFF) SELECT lo, sum(v + 1), count(id), count(*) FROM outer_rows
	LEFT JOIN ranged ON k >= lo AND k < lo + 5 GROUP BY lo;
SET enable_indexscan = off;
SELECT count(*), sum(ids), sum(entries) FROM (SELECT lo, sum(v + 1), count(id) AS ids, count(*) AS entries
	FROM outer_rows LEFT JOIN ranged ON k >= lo AND k < lo + 5 GROUP BY lo) q;
-- That a value is never NULL makes its count that of rows, but not its values those of another.
SELECT sum(v), count(DISTINCT v), count(DISTINCT id), percentile_disc(0.5) WITHIN GROUP (ORDER BY id) FROM ranged WHERE k > 5;
DROP TABLE outer_rows, ranged;
SET gpubtree.explain_decisions = on;

\set ECHO none
-- What is NOT NULL, but not valid (since 18), says nothing of rows that are there already.
CREATE TABLE older (id int, k int, v int);
INSERT INTO older SELECT nullif(i % 4, 0), nullif(i % 100, 0), i % 7 FROM generate_series(1, 1000) i;
CREATE INDEX older_k ON older USING gpubtree (k) INCLUDE (v);
DO $$ BEGIN
	IF current_setting('server_version_num')::int >= 180000 THEN
		EXECUTE 'ALTER TABLE older ADD CONSTRAINT id_set NOT NULL id NOT VALID';
		EXECUTE 'ALTER TABLE older ADD CONSTRAINT k_set NOT NULL k NOT VALID';
	END IF;
END $$;
VACUUM ANALYZE older;
SET gpubtree.explain_decisions = off;
SET enable_seqscan = on;
\set ECHO all
SELECT count(id), count(*) FROM older WHERE k < 50;
SELECT count(*) FROM older WHERE k < 50 AND id IS NOT NULL;
SELECT count(k), count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM older;
SELECT k / 10, count(*) FROM older GROUP BY k / 10 ORDER BY 1;
SET enable_indexscan = on;
SELECT k FROM older ORDER BY k OFFSET 985 LIMIT 10;
SET enable_indexscan = off;
SET enable_seqscan = off;
SET gpubtree.explain_decisions = on;
DROP TABLE older;

-- A plan at hand is made anew when the declaration goes.
SET plan_cache_mode = force_generic_plan;
PREPARE counted AS SELECT count(id), count(*) FROM declared WHERE k < 50 AND id IS NOT NULL;
EXECUTE counted;
ALTER TABLE declared DROP CONSTRAINT declared_pkey;
ALTER TABLE declared ALTER id DROP NOT NULL;
UPDATE declared SET id = NULL WHERE k = 7;
EXECUTE counted;
EXPLAIN (COSTS OFF) EXECUTE counted;

DROP TABLE declared;
