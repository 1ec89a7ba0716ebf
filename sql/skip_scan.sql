-- Index scans that skip: conditions on later columns, without a single value of the first one
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET gpubtree.enabled = off;

CREATE TABLE sk (tenant int4, ts timestamptz, v int4);
INSERT INTO sk SELECT i % 10 * 1000, timestamptz '2024-01-01 00:00+00' + i * interval '1 minute', i
FROM generate_series(1, 100000) i;
INSERT INTO sk SELECT NULL, timestamptz '2024-02-01 00:00+00' + i * interval '1 hour', -i FROM generate_series(1, 1000) i;
INSERT INTO sk SELECT i % 10 * 1000, NULL, i FROM generate_series(1, 50) i;
CREATE INDEX sk_tt ON sk USING gpubtree (tenant, ts) INCLUDE (v);
VACUUM ANALYZE sk;

-- How many index and map pages an index-only scan reads: at most "most", or else how many
CREATE FUNCTION sk_pages(query text, most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	plan := plan -> 0 -> 'Plan';
	WHILE plan -> 'Plans' IS NOT NULL LOOP
		plan := plan -> 'Plans' -> 0;
	END LOOP;
	RETURN concat_ws(' ', plan ->> 'Node Type', plan ->> 'Scan Direction', CASE
		WHEN (plan ->> 'Shared Hit Blocks')::int + (plan ->> 'Shared Read Blocks')::int <= most THEN 'reads few pages'
		ELSE 'reads ' || (plan ->> 'Shared Hit Blocks')::int + (plan ->> 'Shared Read Blocks')::int END);
END $$;
\set ECHO all

SELECT pg_relation_size('sk_tt') / current_setting('block_size')::int > 250 AS many_pages;

-- a range of the second column: some pages for each tenant
EXPLAIN (COSTS OFF) SELECT tenant, ts FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';
SELECT count(*), sum(v) FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';
SELECT count(*), sum(v) FROM sk WHERE ts + '0' BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';
SELECT sk_pages($$SELECT tenant, ts FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00'$$, 100);
SELECT sk_pages($$SELECT tenant, ts FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00'
	ORDER BY tenant DESC, ts DESC$$, 100);
-- in the index's order, and in the reverse, without a sort
SET enable_sort = off;
SELECT tenant, count(*), array_agg(v) FROM (SELECT * FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 00:19+00'
	ORDER BY tenant, ts OFFSET 0) x GROUP BY tenant;
SELECT tenant, v FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 01:00+00' ORDER BY tenant DESC, ts DESC LIMIT 8;
RESET enable_sort;

-- a point, an array, NULL, nothing
SELECT tenant, ts, v FROM sk WHERE ts = '2024-02-01 01:00+00' ORDER BY tenant, ts;
SELECT tenant, v FROM sk WHERE ts = ANY ('{2024-02-01 01:00+00,2024-02-20 01:01+00,NULL,2024-03-01 00:00+00}') ORDER BY tenant, ts;
SELECT sk_pages($$SELECT tenant, ts FROM sk WHERE ts = ANY ('{2024-02-01 01:00+00,2024-02-20 01:01+00,2024-03-01 00:00+00}')$$, 200);
SELECT count(*), sum(v) FROM sk WHERE ts IS NULL;
SELECT sk_pages('SELECT tenant, ts FROM sk WHERE ts IS NULL', 80);
SELECT count(*) FROM sk WHERE ts > 'infinity';
SELECT count(*) FROM sk WHERE ts < '2000-01-01';

-- conditions on the first column too: a range, NULL or not, an array, with which there are many ranges
SELECT tenant, v FROM sk WHERE tenant BETWEEN 1500 AND 4500 AND ts = '2024-02-01 01:03+00' ORDER BY tenant, ts;
SELECT tenant, v FROM sk WHERE tenant IS NOT NULL AND ts = '2024-02-01 01:00+00';
SELECT tenant, v FROM sk WHERE tenant IS NULL AND ts = '2024-02-01 01:00+00';
SELECT tenant, v FROM sk WHERE tenant > 4500 AND ts = ANY ('{2024-02-01 01:05+00,2024-02-01 01:06+00}') ORDER BY tenant DESC, ts DESC;

-- a bitmap
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(v) FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';
SELECT count(*), sum(v) FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';
RESET enable_indexscan;
RESET enable_indexonlyscan;
SET enable_bitmapscan = off;

-- a cursor that turns around, among leaves that it skips
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT tenant, v FROM sk WHERE ts BETWEEN '2024-02-01 01:00+00' AND '2024-02-01 01:05+00' ORDER BY tenant, ts;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
FETCH BACKWARD 3 FROM c;
FETCH FORWARD ALL FROM c;
COMMIT;

-- mark and restore: a merge join whose inner side has equal keys
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
CREATE TABLE sk_outer (tenant int4);
INSERT INTO sk_outer SELECT tenant FROM generate_series(0, 9000, 1000) tenant, generate_series(1, 3);
SELECT count(*), sum(v) FROM sk_outer JOIN sk USING (tenant) WHERE ts BETWEEN '2024-02-01 01:00+00' AND '2024-02-01 01:29+00';
RESET enable_material;
RESET enable_nestloop;
-- and a nested loop, which begins the scan anew with other values
SET enable_mergejoin = off;
SELECT count(*), sum(sk.v) FROM generate_series(1, 20) i
	JOIN sk ON sk.ts = timestamptz '2024-02-01 00:00+00' + i * interval '1 hour';
RESET enable_mergejoin;
RESET enable_hashjoin;

-- entries known to be dead
DELETE FROM sk WHERE ts BETWEEN '2024-02-01 00:30+00' AND '2024-02-01 02:30+00' AND v % 3 = 0;
SELECT count(*), sum(v) FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';
SELECT count(*), sum(v) FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';

-- columns that descend, with NULLs first and last; three columns of which the middle one is skipped
CREATE INDEX sk_down ON sk USING gpubtree (tenant DESC, ts DESC NULLS LAST) INCLUDE (v);
CREATE TABLE sk3 (a int2 NOT NULL, b int2, c int4);
INSERT INTO sk3 SELECT i % 4, nullif(i / 4 % 8, 7), i FROM generate_series(1, 60000) i;
CREATE INDEX sk3_abc ON sk3 USING gpubtree (a, b DESC NULLS LAST, c);
DROP INDEX sk_tt;
VACUUM ANALYZE sk;
VACUUM ANALYZE sk3;
SELECT sk_pages($$SELECT tenant, ts FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00'$$, 100);
SELECT count(*), sum(v) FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';
SELECT count(*), sum(v) FROM sk WHERE ts IS NULL;
SELECT sk_pages('SELECT * FROM sk3 WHERE a = 2 AND c BETWEEN 20000 AND 20100 ORDER BY a, b DESC NULLS LAST, c', 60);
SELECT * FROM sk3 WHERE a = 2 AND c BETWEEN 20000 AND 20030 ORDER BY a, b DESC NULLS LAST, c;
SELECT * FROM sk3 WHERE c BETWEEN 20000 AND 20006 ORDER BY a DESC, b NULLS FIRST, c DESC;
SELECT * FROM sk3 WHERE a > 1 AND b IS NULL AND c < 100 ORDER BY a, c;

-- many values of the first column, each with few rows: nothing is saved, and the planner knows
CREATE TABLE sk_many (a int4 NOT NULL, b int4 NOT NULL, filler text DEFAULT repeat('x', 100));
INSERT INTO sk_many SELECT i / 2, i % 1000 FROM generate_series(1, 40000) i;
CREATE INDEX sk_many_ab ON sk_many USING gpubtree (a, b);
VACUUM ANALYZE sk_many;
SELECT count(*), sum(a) FROM sk_many WHERE b = 77;
SELECT sk_pages('SELECT a, b FROM sk_many WHERE b = 77', (SELECT relpages + 20 FROM pg_class WHERE relname = 'sk_many_ab'));
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT a, filler FROM sk_many WHERE b < 300;
EXPLAIN (COSTS OFF) SELECT * FROM sk WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';

DROP TABLE sk, sk3, sk_many, sk_outer;
DROP FUNCTION sk_pages;
