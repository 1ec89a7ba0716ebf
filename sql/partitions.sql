--
-- Rows of partitions, of children that inherit, and of members of UNION ALL: each child has its own node below core's
-- Append and MergeAppend.  The same rows stand in one table beside them, and answers are compared.
--
SET gpubtree.enable_device = off;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;

-- range, and list below it; columns that were dropped, or have another order; other INCLUDE columns, a partial index, none
CREATE TABLE parts (tenant int, ts int, v int, w numeric(10,2), x text) PARTITION BY RANGE (ts);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE parts_2 (x text, gone int, v int, ts int, tenant int, w numeric(10,2));
ALTER TABLE parts_2 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (1000) TO (2000);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (2000) TO (3000) PARTITION BY LIST (tenant);
CREATE TABLE parts_3a PARTITION OF parts_3 FOR VALUES IN (0, 1, 2);
CREATE TABLE parts_3b PARTITION OF parts_3 DEFAULT;
CREATE TABLE parts_4 PARTITION OF parts FOR VALUES FROM (3000) TO (4000);
CREATE TABLE parts_empty PARTITION OF parts FOR VALUES FROM (4000) TO (5000);
CREATE TABLE parts_default PARTITION OF parts DEFAULT;
CREATE TABLE whole AS
SELECT i % 7 AS tenant, i * 7919 % 5500 AS ts, nullif(i % 100, 50) AS v, ((i % 1000) / 100.0)::numeric(10,2) AS w, 'x' || i % 13 AS x
FROM generate_series(1, 20000) i WHERE i * 7919 % 5500 NOT BETWEEN 4000 AND 4999;
INSERT INTO parts SELECT * FROM whole;
CREATE INDEX ON parts_1 USING gpubtree (ts) INCLUDE (tenant, v, w, x);
CREATE INDEX ON parts_2 USING gpubtree (ts, tenant) INCLUDE (w, v);
CREATE INDEX ON parts_3a USING gpubtree (ts) INCLUDE (x, v, tenant);
CREATE INDEX ON parts_3b USING gpubtree (ts) INCLUDE (v, tenant) WHERE v IS NOT NULL;
CREATE INDEX ON parts_default USING gpubtree (ts DESC NULLS LAST) INCLUDE (v, tenant);
VACUUM ANALYZE parts, whole;

-- children that inherit, one with a column more
CREATE TABLE base (tenant int, ts int, v int, w numeric(10,2), x text);
CREATE TABLE child (more int) INHERITS (base);
INSERT INTO base SELECT * FROM whole WHERE tenant < 3;
INSERT INTO child SELECT * FROM whole WHERE tenant >= 3;
CREATE INDEX ON base USING gpubtree (ts) INCLUDE (v, tenant);
CREATE INDEX ON child USING gpubtree (ts) INCLUDE (v, tenant);
VACUUM ANALYZE base, child;

-- which leaves have a node, and whether the rows are those of the table beside them
CREATE FUNCTION compare(query text, source text DEFAULT 'parts') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	leaves text;
	found text;
	expected text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || format(query, source) LOOP
		leaves := concat_ws(' ', leaves, substring(line FROM 'Gpubtree\w+\) on (\w+)'));
	END LOOP;
	EXECUTE 'SELECT string_agg(q::text, E''\n'') FROM (' || format(query, source) || ') q' INTO found;
	SET LOCAL gpubtree.enabled = off;
	EXECUTE 'SELECT string_agg(q::text, E''\n'') FROM (' || format(query, 'whole') || ') q' INTO expected;
	SET LOCAL gpubtree.enabled = on;
	RETURN CASE WHEN found IS DISTINCT FROM expected THEN 'DIFFERENT ' ELSE '' END || coalesce(leaves, 'none');
END $$;
-- which leaves return states, by an index or by rows that core reads, and whether the rows are those of the table
CREATE FUNCTION merges(query text, source text DEFAULT 'parts') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	leaf text;
	by_index text;
	by_rows text;
	found text;
	expected text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || format(query, source) LOOP
		IF leaf IS NOT NULL AND line LIKE '%Index: %' THEN
			by_index := concat_ws(' ', by_index, leaf);
			leaf := NULL;
		ELSIF leaf IS NOT NULL AND line LIKE '%->%' THEN
			by_rows := concat_ws(' ', by_rows, leaf);
			leaf := NULL;
		END IF;
		IF line LIKE '%(GpubtreeAggregate) on public.%' AND line NOT LIKE '%on public.' || source THEN
			leaf := substring(line FROM 'on public.(\w+)');
		END IF;
	END LOOP;
	EXECUTE 'SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (' || format(query, source) || ') q' INTO found;
	SET LOCAL gpubtree.enabled = off;
	EXECUTE 'SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (' || format(query, 'whole') || ') q' INTO expected;
	SET LOCAL gpubtree.enabled = on;
	RETURN CASE WHEN found IS DISTINCT FROM expected THEN 'DIFFERENT ' ELSE '' END ||
		coalesce(by_index, 'none') || coalesce('; rows: ' || by_rows, '');
END $$;
\set ECHO all

SELECT compare('SELECT * FROM %s WHERE ts BETWEEN 500 AND 5200 AND v %% 10 = 3 ORDER BY ts, tenant, v, w, x');
SELECT compare('SELECT * FROM %s WHERE ts BETWEEN 500 AND 1500 AND (v + tenant) %% 10 = 3 ORDER BY ts, tenant, v, w, x');
SELECT compare('SELECT ts, v FROM %s WHERE ts > 2500 AND v IS NULL ORDER BY ts, v');
SELECT compare('SELECT ts, v FROM %s WHERE ts > 2500 AND v IS NOT NULL AND v %% 10 = 4 ORDER BY ts, v');
SELECT compare('SELECT ts, x FROM %s WHERE ts IN (3, 1400, 2222, 2223, 5100) AND v * 2 > tenant ORDER BY ts, x');
SELECT compare('SELECT tableoid IS NOT NULL, count(*) FROM %s WHERE ts < 2700 AND v %% 7 = 1 GROUP BY 1');
-- the first rows of each child, by a column that has another number there, and by an expression
SELECT compare('SELECT v, tenant, ts, w, x FROM %s WHERE ts > 100 ORDER BY v DESC NULLS LAST, tenant, ts, w, x LIMIT 7');
SELECT compare('SELECT tenant + v AS s, ts, w, x FROM %s WHERE ts < 5400 ORDER BY 1, 2, 3, 4 LIMIT 5 OFFSET 2');
-- in the order of the key
SELECT compare('SELECT ts, v FROM %s WHERE ts > 900 AND v %% 10 = 3 ORDER BY ts, v');
-- the last rows of groups, one row of each key: see partition_order.sql
SELECT compare('SELECT DISTINCT ON (tenant) tenant, ts FROM %s WHERE ts > 10 ORDER BY tenant, ts DESC');
SELECT compare('SELECT DISTINCT ts FROM %s WHERE ts BETWEEN 900 AND 2100 ORDER BY 1');
SET enable_seqscan = on;
SELECT compare('SELECT tenant, max(ts) FROM %s GROUP BY tenant ORDER BY 1');
SET enable_seqscan = off;
-- where planning leaves one partition, it is grouped as a table by itself; of two, states are merged
SELECT compare('SELECT count(*), sum(v), avg(w), min(tenant), max(ts) FROM %s WHERE ts BETWEEN 1100 AND 1800 AND v %% 3 = 1');
SELECT compare('SELECT tenant + 1, x, count(*), sum(v + tenant), max(x) FROM %s WHERE ts BETWEEN 100 AND 800 GROUP BY tenant + 1, x HAVING sum(v) > 10 ORDER BY 1, 2');
SELECT compare('SELECT ts / 100, count(*), sum(v) FROM %s WHERE ts BETWEEN 100 AND 800 GROUP BY 1 ORDER BY 1 DESC LIMIT 3');
SELECT compare('SELECT tenant, count(DISTINCT v), grouping(tenant) FROM %s WHERE ts BETWEEN 1100 AND 1800 GROUP BY ROLLUP (tenant) ORDER BY 1, 3');
SELECT compare('SELECT DISTINCT tenant FROM %s WHERE ts BETWEEN 1100 AND 1800 ORDER BY 1');
SELECT compare('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY ts) FROM %s WHERE ts BETWEEN 100 AND 800');
SELECT compare('SELECT count(*), sum(v) FROM %s WHERE ts BETWEEN 2100 AND 2800 AND tenant = 1');
SELECT compare('SELECT count(*), sum(v) FROM %s WHERE ts BETWEEN 2100 AND 2800');
SELECT compare('SELECT count(*), sum(v) FROM %s WHERE ts < 0 AND ts > 5');
SELECT compare('SELECT tableoid IS NOT NULL, count(*) FROM %s WHERE ts BETWEEN 1100 AND 1800 GROUP BY 1');
SELECT compare('SELECT count(p), count(*) FROM %s p WHERE ts BETWEEN 1100 AND 1800');
SET gpubtree.enable_partitions = off;
SELECT compare('SELECT count(*), sum(v) FROM %s WHERE ts BETWEEN 1100 AND 1800');
SELECT compare('SELECT ts, v, x FROM %s WHERE ts BETWEEN 500 AND 5200 AND v %% 10 = 3 ORDER BY ts, v, x', 'base');
RESET gpubtree.enable_partitions;
-- inheritance
SELECT compare('SELECT ts, v, x FROM %s WHERE ts BETWEEN 500 AND 5200 AND v %% 10 = 3 ORDER BY ts, v, x', 'base');
SELECT compare('SELECT v, ts, x FROM %s WHERE ts > 20 ORDER BY v DESC NULLS LAST, ts, x LIMIT 9', 'base');
-- UNION ALL, whose members may have expressions where the parent has a column
SELECT compare('SELECT a, b FROM (SELECT ts AS a, v AS b, tenant FROM %1$s WHERE tenant < 3 UNION ALL SELECT ts + 1, v %% 10, tenant FROM %1$s WHERE tenant >= 3) u WHERE a < 5300 AND b %% 3 = 1 ORDER BY b, a LIMIT 30', 'base');
SELECT compare('SELECT a, b FROM (SELECT ts AS a, v AS b FROM %1$s UNION ALL SELECT ts, tenant * 5 FROM %1$s) u WHERE a > 700 ORDER BY b DESC NULLS LAST, a LIMIT 30', 'base');
-- joined with another table: core's nested loop does not come to a node for each row
SELECT compare('SELECT o, ts, v FROM generate_series(1, 3) o, %s WHERE ts BETWEEN 500 AND 2500 AND v %% 10 = o ORDER BY 1, 2, 3');

-- states of several leaves: each has an index of its own, or its rows are read
SET enable_seqscan = on;
SELECT merges('SELECT count(*), sum(v) FROM %s WHERE ts BETWEEN 500 AND 5200');
SELECT merges('SELECT count(*), sum(v), count(v), avg(v), min(ts), max(v) FROM %s WHERE ts BETWEEN 500 AND 5200 AND v %% 10 = 3');
SELECT merges('SELECT tenant, x, count(*), sum(v), count(DISTINCT v), max(x), grouping(tenant) FROM %s WHERE ts BETWEEN 500 AND 5200 GROUP BY ROLLUP (tenant, x)');
SELECT merges('SELECT x, avg(w), sum(w + v), stddev(v) FROM %s WHERE ts BETWEEN 500 AND 5200 GROUP BY x HAVING sum(v) > 100 ORDER BY 1');
SELECT merges('SELECT DISTINCT x, tenant FROM %s WHERE ts BETWEEN 500 AND 5200 ORDER BY 1, 2 LIMIT 20');
SELECT merges('SELECT ts / 100, count(*) FROM %s WHERE ts BETWEEN 500 AND 5200 GROUP BY 1');
SELECT merges('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY v), mode() WITHIN GROUP (ORDER BY v), count(DISTINCT tenant) FROM %s WHERE ts BETWEEN 500 AND 5200');
SELECT merges('SELECT count(*) FILTER (WHERE v > 50), sum(v) FILTER (WHERE x LIKE ''%%1'') FROM %s WHERE ts BETWEEN 500 AND 5200');
SELECT merges('SELECT count(*), sum(v) FROM %s WHERE ts IN (3, 1400, 2222, 2223, 5100) OR ts > 3000');
SELECT merges('SELECT tenant, count(*) FROM %s WHERE ts > (SELECT min(ts) + 10 FROM whole) GROUP BY 1 HAVING count(*) > (SELECT 100)');
SELECT merges('SELECT tenant, count(*), min(v) FROM %s WHERE tenant <> 2 AND ts > 50 GROUP BY 1', 'base');
-- a column is NOT NULL in some leaves alone, or by the predicate of an index of one
SELECT merges('SELECT count(tenant), count(v), count(w) FROM %s');
ALTER TABLE parts_2 ALTER tenant SET NOT NULL;
SELECT merges('SELECT count(tenant), count(v), sum(v) FROM %s WHERE ts < 5400');
SELECT merges('SELECT count(v), count(tenant) FROM %s WHERE v IS NOT NULL');
SELECT merges('SELECT count(*), sum(v) FROM %s WHERE tenant IS NOT NULL');
ALTER TABLE parts_2 ALTER tenant DROP NOT NULL;
-- leaves that are alike, but for the numbers of their columns, are planned as one of them is
BEGIN;
CREATE INDEX ON parts_2 USING gpubtree (ts) INCLUDE (tenant, v, w, x);
CREATE INDEX ON parts_4 USING gpubtree (ts) INCLUDE (tenant, v, w, x);
SELECT merges('SELECT x, count(*), sum(w), max(v), count(DISTINCT tenant) FROM %s WHERE ts BETWEEN 500 AND 3900 AND v + tenant > 20 GROUP BY x');
SELECT merges('SELECT count(*), sum(v + w) FROM %s WHERE (ts, tenant) > (500, 3) AND tenant IS NOT NULL AND NOT v = ANY (''{1,2}'') AND x LIKE ''x%%''');
SELECT compare('SELECT tenant, ts, w FROM %s WHERE ts BETWEEN 500 AND 3900 AND v + tenant = 50 ORDER BY 1, 2, 3');
SELECT compare('SELECT v, ts, tenant FROM %s WHERE ts BETWEEN 500 AND 3900 AND v + tenant < 90 ORDER BY v DESC NULLS LAST, ts, tenant LIMIT 40');
ALTER TABLE parts_2 ALTER tenant SET NOT NULL;
INSERT INTO parts VALUES (NULL, 600, 70, 1, 'x1'), (NULL, 3600, 70, 1, 'x2');
INSERT INTO whole VALUES (NULL, 600, 70, 1, 'x1'), (NULL, 3600, 70, 1, 'x2');
SELECT merges('SELECT count(*), sum(v) FROM %s WHERE ts BETWEEN 500 AND 3900 AND tenant IS NOT NULL');
SELECT merges('SELECT count(tenant), sum(v) FROM %s WHERE ts BETWEEN 500 AND 1900 AND v %% 10 = 0');
ROLLBACK;
-- no leaf has an index; a condition has no column, or is volatile
SELECT merges('SELECT count(*) FROM %s WHERE ts BETWEEN 3100 AND 4800');
SELECT merges('SELECT count(*) FROM %s WHERE ts > 10 AND current_user = ''nobody''');
SELECT merges('SELECT count(*) FROM %s WHERE ts > 10 AND v > random() - 5');
-- why, and why the rows of a leaf are read
SET gpubtree.explain_decisions = on;
SELECT max(x), sum(v) FROM parts WHERE ts BETWEEN 500 AND 2500;
SELECT sum(v) FROM parts WHERE ts BETWEEN 3100 AND 4800;
RESET gpubtree.explain_decisions;
SET enable_seqscan = off;

-- pruned when the plan begins, and for each outer row
PREPARE pruned(int, int) AS SELECT count(*), sum(v) FROM (SELECT * FROM parts WHERE ts BETWEEN $1 AND $2 AND v % 10 = 3 OFFSET 0) q;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE pruned(1100, 1200);
EXECUTE pruned(1100, 1200);
EXECUTE pruned(1900, 2100);
RESET plan_cache_mode;
SELECT o, (SELECT count(*) FROM (SELECT 1 FROM parts WHERE ts BETWEEN o AND o + 500 AND v % 10 = 3 OFFSET 0) q) = (SELECT count(*) FROM whole WHERE ts BETWEEN o AND o + 500 AND v % 10 = 3) AS same
FROM generate_series(0, 5000, 1000) o;
-- who may read the parent may read the leaves through it, and no others; the parent's policies hold for them
CREATE ROLE gpubtree_reader;
GRANT SELECT ON parts TO gpubtree_reader;
SET ROLE gpubtree_reader;
SELECT count(*) FROM (SELECT * FROM parts WHERE ts BETWEEN 500 AND 1500 AND v % 10 = 3 OFFSET 0) q;
SELECT count(*) FROM (SELECT * FROM parts_1 WHERE ts BETWEEN 500 AND 1500 AND v % 10 = 3 OFFSET 0) q;
SELECT count(*), sum(v) FROM parts WHERE ts BETWEEN 1100 AND 1800;
SELECT count(*), sum(v) FROM parts WHERE ts BETWEEN 500 AND 1500;
RESET ROLE;
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON parts TO gpubtree_reader USING (tenant = 3);
SET ROLE gpubtree_reader;
EXPLAIN (COSTS OFF) SELECT count(*), sum(v) FROM parts WHERE ts BETWEEN 1100 AND 1800;
SELECT count(*), sum(v) FROM parts WHERE ts BETWEEN 1100 AND 1800;
EXPLAIN (COSTS OFF) SELECT count(*), sum(v) FROM parts WHERE ts BETWEEN 500 AND 1500;
SELECT count(*), sum(v) FROM parts WHERE ts BETWEEN 500 AND 1500;
RESET ROLE;
ALTER TABLE parts DISABLE ROW LEVEL SECURITY;
SELECT count(*), sum(v) FROM whole WHERE ts BETWEEN 1100 AND 1800 AND tenant = 3;
SELECT count(*), sum(v) FROM whole WHERE ts BETWEEN 500 AND 1500 AND tenant = 3;
-- WHERE CURRENT OF finds the row
BEGIN;
DECLARE c CURSOR FOR SELECT tenant, ts, v FROM parts WHERE ts > -1 AND v % 10 = 3;
MOVE 150 FROM c;
FETCH 1 FROM c \gset
DELETE FROM parts WHERE CURRENT OF c;
SELECT count(*) FROM whole WHERE tenant = :tenant AND ts = :ts AND v = :v;
SELECT (SELECT count(*) FROM whole) - (SELECT count(*) FROM parts);
SELECT (SELECT count(*) FROM whole WHERE tenant = :tenant AND ts = :ts AND v = :v) - (SELECT count(*) FROM parts WHERE tenant = :tenant AND ts = :ts AND v = :v);
ROLLBACK;
-- a partition that goes while a plan is kept
PREPARE kept AS SELECT count(*) FROM (SELECT * FROM parts WHERE ts BETWEEN 500 AND 2500 AND v % 10 = 3 OFFSET 0) q;
PREPARE kept_states AS SELECT count(*), sum(v) FROM parts WHERE ts BETWEEN 500 AND 2500;
EXECUTE kept;
EXECUTE kept_states;
ALTER TABLE parts DETACH PARTITION parts_2;
EXECUTE kept;
EXECUTE kept_states;
DROP TABLE parts_2;
EXECUTE kept;
EXECUTE kept_states;

DROP TABLE parts, whole, base, child;
DROP FUNCTION compare, merges;
DROP ROLE gpubtree_reader;
