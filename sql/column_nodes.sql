-- Nodes that know indexes with several key columns: first and last rows of groups
CREATE TABLE column_nodes (tenant int4, kind int2 NOT NULL, ts timestamp, v int4, s text);
INSERT INTO column_nodes
  SELECT i % 20, i % 3, timestamp '2026-01-01' + i * interval '1 minute', i, 'row ' || i
  FROM generate_series(1, 6000) i;
-- groups with NULLs, with nothing else, and rows that are equal in the key
INSERT INTO column_nodes VALUES (3, 1, NULL, -1, 'no time'), (50, 1, NULL, -2, 'no time'),
  (NULL, 2, '2026-01-01', -3, 'no tenant'), (NULL, 2, NULL, -4, 'neither'),
  (7, 1, '2026-02-01', 5, 'first'), (7, 1, '2026-02-01', 9, 'second'), (7, 1, '2026-02-01', 7, 'third');
CREATE INDEX column_nodes_key ON column_nodes USING gpubtree (tenant, ts) INCLUDE (v);
VACUUM ANALYZE column_nodes;

CREATE FUNCTION column_nodes_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line !~ 'Memory|Buffers|Batches:' THEN
      RETURN NEXT line;
    END IF;
  END LOOP;
END $$;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
-- which servers before 16 have not below DISTINCT
SET enable_incremental_sort = off;
\set ECHO all

-- the last row of each group; of several that are equal in the key, the one that v says
SELECT column_nodes_plan('SELECT DISTINCT ON (tenant) * FROM column_nodes ORDER BY tenant, ts DESC');
SELECT DISTINCT ON (tenant) * FROM column_nodes
  WHERE tenant > 16 OR tenant IS NULL ORDER BY tenant, ts DESC;
SELECT DISTINCT ON (tenant) * FROM column_nodes WHERE tenant > 16 ORDER BY tenant, ts DESC;
SELECT DISTINCT ON (tenant) * FROM column_nodes WHERE tenant IN (3, 7, 50, 99) ORDER BY tenant, ts DESC;
SELECT DISTINCT ON (tenant) * FROM column_nodes WHERE tenant IN (3, 7, 50)
  ORDER BY tenant, ts DESC NULLS LAST, v DESC;
SELECT column_nodes_plan('SELECT DISTINCT ON (tenant) * FROM column_nodes WHERE tenant IN (3, 7, 50)
  ORDER BY tenant, ts DESC NULLS LAST, v DESC');
-- the first ones, and those before a time
SELECT DISTINCT ON (tenant) tenant, ts, v FROM column_nodes WHERE tenant < 4 ORDER BY tenant, ts;
SELECT column_nodes_plan('SELECT DISTINCT ON (tenant) tenant, ts, v FROM column_nodes
  WHERE ts < ''2026-01-02'' AND tenant BETWEEN 3 AND 7 ORDER BY tenant, ts DESC LIMIT 3');
SELECT DISTINCT ON (tenant) tenant, ts, v FROM column_nodes
  WHERE ts < '2026-01-02' AND tenant BETWEEN 3 AND 7 ORDER BY tenant, ts DESC LIMIT 3;
SELECT DISTINCT ON (tenant) tenant, ts FROM column_nodes WHERE ts IS NULL ORDER BY tenant, ts DESC;

-- extremes of groups, among them one without any value
SELECT column_nodes_plan('SELECT tenant, max(ts) FROM column_nodes GROUP BY tenant');
SELECT column_nodes_plan('SELECT tenant, min(ts), max(ts) FROM column_nodes WHERE tenant >= 3
  GROUP BY tenant ORDER BY tenant LIMIT 2');
SELECT tenant, min(ts), max(ts) FROM column_nodes WHERE tenant IN (3, 7, 50) GROUP BY tenant ORDER BY 1;
SELECT tenant % 2, max(ts) FROM column_nodes GROUP BY 1 HAVING max(ts) > '2026-01-03' ORDER BY 1;

-- groups alone
SELECT column_nodes_plan('SELECT DISTINCT tenant FROM column_nodes');
SELECT count(*), count(tenant), sum(tenant) FROM (SELECT DISTINCT tenant FROM column_nodes) d;
SELECT column_nodes_plan('SELECT count(DISTINCT tenant) FROM column_nodes WHERE ts > ''2026-01-04''');
SELECT count(DISTINCT tenant) FROM column_nodes WHERE ts > '2026-01-04';
SELECT count(DISTINCT tenant) FROM column_nodes WHERE ts > '2026-03-04';

-- a column that has one value, in the prefix and behind it
CREATE INDEX column_nodes_wide ON column_nodes USING gpubtree (kind, tenant DESC NULLS LAST, ts DESC) INCLUDE (v);
DROP INDEX column_nodes_key;
SELECT column_nodes_plan('SELECT DISTINCT ON (tenant) tenant, ts, v FROM column_nodes
  WHERE kind = 1::int2 ORDER BY tenant DESC NULLS LAST, ts DESC NULLS LAST LIMIT 3');
SELECT DISTINCT ON (tenant) tenant, ts, v FROM column_nodes
  WHERE kind = 1::int2 ORDER BY tenant DESC NULLS LAST, ts DESC NULLS LAST LIMIT 3;
SELECT column_nodes_plan('SELECT kind, max(tenant) FROM column_nodes GROUP BY kind');
SELECT kind, max(tenant) FROM column_nodes GROUP BY kind ORDER BY 1;
SELECT kind, tenant, min(ts) FROM column_nodes WHERE tenant = 3 GROUP BY kind, tenant ORDER BY 1;

-- not where other columns decide
SELECT count(*) FROM column_nodes_plan('SELECT kind, max(v) FROM column_nodes GROUP BY kind') line
  WHERE line ~ 'Groups Walked';
SELECT count(*) FROM column_nodes_plan('SELECT kind, max(tenant) FILTER (WHERE v > 5) FROM column_nodes
  GROUP BY kind') line WHERE line ~ 'Groups Walked';
SELECT count(*) FROM column_nodes_plan('SELECT DISTINCT ON (kind) * FROM column_nodes ORDER BY kind, v') line
  WHERE line ~ 'Groups Walked';
SELECT count(*) FROM column_nodes_plan('SELECT kind, max(tenant) FROM column_nodes WHERE ts > ''2026-01-03''
  GROUP BY kind') line WHERE line ~ 'Groups Walked';

-- rows that are deleted, rolled back, or not there yet for a snapshot
BEGIN;
DECLARE before CURSOR FOR SELECT DISTINCT ON (kind) kind, tenant, ts, v FROM column_nodes
  WHERE tenant IS NOT NULL ORDER BY kind, tenant DESC NULLS LAST, ts DESC NULLS LAST, v;
DELETE FROM column_nodes WHERE tenant = 50 OR tenant = 19;
SAVEPOINT gone;
INSERT INTO column_nodes SELECT 1000, 2, '2026-01-01', 0, '' FROM generate_series(1, 300);
ROLLBACK TO gone;
SELECT DISTINCT ON (kind) kind, tenant, ts, v FROM column_nodes
  WHERE tenant IS NOT NULL ORDER BY kind, tenant DESC NULLS LAST, ts DESC NULLS LAST, v;
FETCH ALL FROM before;
COMMIT;

\set ECHO none
-- row comparisons and ORs over several columns are ranges
SET enable_seqscan = on;
CREATE TABLE column_arms (a int4, b int4, c int2, v int4);
INSERT INTO column_arms SELECT i % 40, i / 40 % 50, i % 7, i FROM generate_series(1, 10000) i;
INSERT INTO column_arms VALUES (NULL, 3, 1, -1), (20, NULL, 1, -2), (20, 30, NULL, -3), (NULL, NULL, NULL, -4);
CREATE INDEX column_arms_key ON column_arms USING gpubtree (a, b DESC, c) INCLUDE (v);
VACUUM ANALYZE column_arms;
CREATE FUNCTION column_arms_compare(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE query text := 'SELECT count(*) || '' '' || coalesce(sum(v), 0) || '' '' || count(v) FILTER (WHERE v % 3 = 0) FROM column_arms WHERE ' || condition;
  ours text; theirs text; plan text;
BEGIN
  EXECUTE query INTO ours;
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  SET LOCAL gpubtree.enabled = off;
  SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off;
  EXECUTE query INTO theirs;
  SET LOCAL gpubtree.enabled = on;
  RETURN CASE WHEN ours = theirs THEN 'equal' ELSE ours || ', not ' || theirs END || ': ' ||
    coalesce((plan::json -> 0 -> 'Plan' ->> 'Custom Plan Provider') || ' ' ||
             (plan::json -> 0 -> 'Plan' ->> 'Index Cond') ||
             coalesce('; filter ' || (plan::json -> 0 -> 'Plan' ->> 'Filter'), ''), 'core');
END $$;
\set ECHO all
SELECT column_arms_compare(condition) FROM (VALUES
  ('(a, b) > (20, 30)'), ('(a, b) >= (20, 30)'), ('(a, b) < (20, 30)'), ('(a, b) <= (20, 30)'),
  ('(20, 30) > (a, b)'), ('(a, b, c) > (20, 30, 3)'), ('(a, b) > (20, NULL)'), ('(a, b) > (NULL, 30)'),
  ('(a, b) > (18, 40) AND (a, b) <= (20, 10)'), ('a = 20 AND (b, c) >= (30, 2::int2)'),
  ('a = 20 AND (b < 4 OR b > 45)'), ('(a = 1 AND b > 40) OR (a = 2 AND b > 45) OR a IS NULL'),
  ('(a = 1 AND b > 40) OR (a = 2 AND b > 45 AND v % 2 = 0)'), ('(a, v) > (30, 5000)'),
  ('(b, a) > (30, 5)'), ('(a = 1 AND b > 40) OR c = 3'), ('a = 3 OR (a, b) < (1, 30)'),
  ('(a, b) > (10, 10) AND (a = 39 OR a = 12 AND c = 1)'), ('a IN (1, 20) AND (b, c) > (30, 3)')) x (condition);

-- pages by the key of the last row: rows of a row comparison's range in the order of the index
SET enable_seqscan = off;
SET enable_sort = off;
SELECT column_nodes_plan('SELECT a, b, v FROM column_arms WHERE (a, b) > (20, 30)
  ORDER BY a, b DESC, c LIMIT 4');
SELECT a, b, c, v FROM column_arms WHERE (a, b) > (20, 30) ORDER BY a, b DESC, c LIMIT 4;
SELECT column_nodes_plan('SELECT * FROM column_arms WHERE (a, b) <= (20, 30) AND v % 2 = 1
  ORDER BY a DESC, b, c DESC LIMIT 3');
SELECT * FROM column_arms WHERE (a, b) <= (20, 30) AND v % 2 = 1 ORDER BY a DESC, b, c DESC LIMIT 3;
PREPARE page (int4, int4) AS SELECT a, b, c, v FROM column_arms WHERE (a, b) < ($1, $2)
  ORDER BY a, b DESC, c LIMIT 3;
SET plan_cache_mode = force_generic_plan;
EXECUTE page (1, 2);
EXECUTE page (0, 3);
EXECUTE page (0, NULL);
RESET plan_cache_mode;
-- for each row of another table
SELECT o.n, p.a, p.b, p.c FROM generate_series(18, 20) o (n), LATERAL
  (SELECT * FROM column_arms WHERE (a, b) >= (o.n, 49) ORDER BY a, b DESC, c LIMIT 2) p;
DROP TABLE column_arms;
DROP FUNCTION column_arms_compare;
DROP TABLE column_nodes;
DROP FUNCTION column_nodes_plan;
