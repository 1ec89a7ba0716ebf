-- Nodes that skip: conditions on later key columns, as ranges of each group of the columns before
CREATE TABLE sn (tenant int4, ts timestamptz, v int4, w int4, name text);
INSERT INTO sn SELECT i % 10 * 1000, timestamptz '2024-01-01 00:00+00' + i * interval '1 minute', i, i % 7, 'n' || i % 3
FROM generate_series(1, 100000) i;
INSERT INTO sn SELECT NULL, timestamptz '2024-02-01 00:00+00' + i * interval '1 hour', -i, i % 7 FROM generate_series(1, 1000) i;
INSERT INTO sn SELECT i % 10 * 1000, NULL, i, i % 7 FROM generate_series(1, 50) i;
CREATE INDEX sn_tt ON sn USING gpubtree (tenant, ts) INCLUDE (v, w);
VACUUM ANALYZE sn;
-- an index scan of core's skips too, at a price that 18 thinks lower where rows are few
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;

-- How a query skips, as EXPLAIN ANALYZE says it: by what, how many groups, and how many ranges they have
CREATE FUNCTION sn_skips(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	SET LOCAL gpubtree.enable_device = off;
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Gpubtree|Skip|Ranges|Scan' THEN
			RETURN NEXT regexp_replace(ltrim(line, ' ->'), ' \(actual.*', '');
		END IF;
	END LOOP;
	RESET gpubtree.enable_device;
END $$;
-- Are the rows those of a sequential scan?
CREATE FUNCTION sn_agrees(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE ours text; stock text;
BEGIN
	EXECUTE 'SELECT md5(string_agg(x::text, '','' ORDER BY x::text)) || '' '' || count(*) FROM (' || query || ') x' INTO ours;
	SET LOCAL gpubtree.enabled = off;
	EXECUTE 'SELECT md5(string_agg(x::text, '','' ORDER BY x::text)) || '' '' || count(*) FROM (' || query || ') x' INTO stock;
	RESET gpubtree.enabled;
	RETURN CASE WHEN ours IS NOT DISTINCT FROM stock THEN 'agrees' ELSE concat_ws(' ', 'ours', ours, 'stock', stock) END;
END $$;

-- ---- a range of the second column: a range for each tenant, NULL among them ----
SET gpubtree.enable_device = off;
\set ECHO all

EXPLAIN (COSTS OFF) SELECT count(*), sum(v) FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';
RESET gpubtree.enable_device;
SELECT count(*), sum(v) FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';
SELECT sn_skips($$SELECT count(*), sum(v) FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00'$$);
SELECT sn_agrees($$SELECT count(*), sum(v) FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00'$$);
-- a point, points, no value, NULL
SELECT sn_skips($$SELECT min(v), max(v) FROM sn WHERE ts = '2024-02-01 01:00+00'$$);
SELECT sn_agrees($$SELECT min(v), max(v) FROM sn WHERE ts = '2024-02-01 01:00+00'$$);
SELECT sn_skips($$SELECT sum(v) FROM sn WHERE ts = ANY ('{2024-02-01 01:00+00,2024-02-20 01:01+00,NULL,2024-03-01 00:00+00}')$$);
SELECT sn_agrees($$SELECT sum(v) FROM sn WHERE ts = ANY ('{2024-02-01 01:00+00,2024-02-20 01:01+00,NULL,2024-03-01 00:00+00}')$$);
SELECT sn_skips($$SELECT count(*) FROM sn WHERE ts < '2000-01-01'$$);
SELECT count(*), sum(v) FROM sn WHERE ts < '2000-01-01';
SELECT sn_skips('SELECT count(*), sum(v) FROM sn WHERE ts IS NULL');
SELECT sn_agrees('SELECT count(*), sum(v) FROM sn WHERE ts IS NULL');
-- the first column too, where its conditions leave many values
SELECT sn_skips($$SELECT count(*) FROM sn WHERE tenant BETWEEN 1500 AND 4500 AND ts > '2024-03-10 00:00+00'$$);
SELECT sn_agrees($$SELECT count(*) FROM sn WHERE tenant BETWEEN 1500 AND 4500 AND ts > '2024-03-10 00:00+00'$$);
SELECT sn_skips($$SELECT count(*) FROM sn WHERE tenant IS NOT NULL AND ts = '2024-02-01 01:00+00'$$);
SELECT sn_agrees($$SELECT count(*) FROM sn WHERE tenant IS NOT NULL AND ts = '2024-02-01 01:00+00'$$);
-- nothing to skip where it has single values: these make ranges
SELECT sn_skips($$SELECT count(*) FROM sn WHERE tenant IN (1000, 4000) AND ts > '2024-03-10 00:00+00'$$);
-- groups, DISTINCT, HAVING, other filters
SELECT sn_skips($$SELECT tenant, count(*), sum(v) FILTER (WHERE w > 3) FROM sn WHERE ts < '2024-01-01 05:00+00' AND w <> 2 GROUP BY tenant$$);
SELECT sn_agrees($$SELECT tenant, count(*), sum(v) FILTER (WHERE w > 3) FROM sn WHERE ts < '2024-01-01 05:00+00' AND w <> 2 GROUP BY tenant$$);
SELECT sn_agrees($$SELECT tenant, ts, count(*) FROM sn WHERE ts < '2024-01-01 02:00+00' GROUP BY tenant, ts$$);
SELECT sn_agrees($$SELECT w, count(DISTINCT tenant) FROM sn WHERE ts < '2024-01-01 02:00+00' GROUP BY w HAVING sum(v) > 1000$$);

-- ---- rows ----
SELECT sn_skips($$SELECT tenant, ts, v FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-03 03:00+00' AND w = 3 AND v % 5 = 1$$);
SELECT sn_agrees($$SELECT tenant, ts, v FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-03 03:00+00' AND w = 3 AND v % 5 = 1$$);
SELECT sn_skips($$SELECT * FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-03 03:00+00' AND w = 3 AND name = 'n1'$$);
SELECT sn_agrees($$SELECT * FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-03 03:00+00' AND w = 3 AND name = 'n1'$$);
SELECT sn_agrees($$(SELECT tenant, ts, v FROM sn WHERE ts > '2024-03-01 00:00+00' ORDER BY v * 2 DESC LIMIT 7)$$);

-- ---- a cursor: groups that come while it waits are not its ----
BEGIN;
SET LOCAL enable_seqscan = off;
DO $$
DECLARE
	c CURSOR FOR SELECT tenant, ts, v FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-03 03:00+00' AND w = 3 AND v % 5 = 1;
	row record;
	n int := 0;
BEGIN
	OPEN c;
	INSERT INTO sn SELECT 500, timestamptz '2024-02-01 00:00+00' + i * interval '1 minute', 1, 3 FROM generate_series(1, 10) i;
	LOOP
		FETCH c INTO row;
		EXIT WHEN NOT FOUND;
		n := n + 1;
		IF n = 1 THEN
			INSERT INTO sn SELECT 9500, timestamptz '2024-02-01 00:00+00' + i * interval '1 minute', 1, 3 FROM generate_series(1, 10) i;
		END IF;
	END LOOP;
	RAISE NOTICE '% rows', n;
END $$;
SELECT count(*) FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-03 03:00+00' AND w = 3 AND v % 5 = 1;
-- and then they are those of the next query
SELECT sn_skips($$SELECT count(*) FROM sn WHERE ts = '2024-02-01 00:05+00'$$);
SELECT sn_agrees($$SELECT count(*) FROM sn WHERE ts = '2024-02-01 00:05+00'$$);
ROLLBACK;
-- dead groups are found, and have nothing
DELETE FROM sn WHERE tenant = 3000;
SELECT sn_agrees($$SELECT tenant, count(*) FROM sn WHERE ts < '2024-01-01 05:00+00' GROUP BY tenant$$);
VACUUM sn;
SELECT sn_skips($$SELECT count(*) FROM sn WHERE ts = '2024-02-01 00:05+00'$$);

-- ---- prepared: values of parameters, also NULL; executed again for other outer rows ----
SET plan_cache_mode = force_generic_plan;
PREPARE p (timestamptz, timestamptz) AS SELECT count(*), sum(v) FROM sn WHERE ts BETWEEN $1 AND $2;
SET gpubtree.enable_device = off;
EXPLAIN (COSTS OFF) EXECUTE p ('2024-02-01 00:00+00', '2024-02-01 03:00+00');
RESET gpubtree.enable_device;
EXECUTE p ('2024-02-01 00:00+00', '2024-02-01 03:00+00');
EXECUTE p ('2024-02-01 00:00+00', NULL);
EXECUTE p ('2024-02-02 00:00+00', '2024-02-01 03:00+00');
INSERT INTO sn SELECT 9500, timestamptz '2024-02-01 00:00+00' + i * interval '1 minute', 1000000, 3 FROM generate_series(1, 10) i;
EXECUTE p ('2024-02-01 00:00+00', '2024-02-01 03:00+00');
DEALLOCATE p;
RESET plan_cache_mode;
SELECT sn_agrees($$SELECT day, n FROM generate_series('2024-01-02'::date, '2024-01-05', '1 day') day,
	LATERAL (SELECT count(*) n FROM sn WHERE ts BETWEEN day AND day + '1 hour' AND w > 1 OFFSET 0) x$$);

-- ---- serializable: the whole index has a predicate lock ----
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*), sum(v) FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00';
SELECT locktype FROM pg_locks WHERE mode = 'SIReadLock' AND relation = 'sn_tt'::regclass;
COMMIT;

\set ECHO none
-- ---- columns that descend, NULLs first and last; three columns ----
CREATE INDEX sn_down ON sn USING gpubtree (tenant DESC, ts DESC NULLS LAST) INCLUDE (v, w);
DROP INDEX sn_tt;
CREATE TABLE sn3 (a int2, b int2, c int4, v int4 NOT NULL);
INSERT INTO sn3 SELECT i % 4, nullif(i / 4 % 8, 7), nullif(i, 20005), i % 100 FROM generate_series(1, 60000) i;
CREATE INDEX sn3_abc ON sn3 USING gpubtree (a, b DESC NULLS LAST, c NULLS FIRST) INCLUDE (v);
VACUUM ANALYZE sn;
VACUUM ANALYZE sn3;
\set ECHO all
SELECT sn_skips($$SELECT count(*), sum(v) FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00'$$);
SELECT sn_agrees($$SELECT tenant, count(*), sum(v) FROM sn WHERE ts BETWEEN '2024-02-01 00:00+00' AND '2024-02-01 03:00+00' GROUP BY tenant$$);
SELECT sn_agrees('SELECT count(*), sum(v) FROM sn WHERE ts IS NULL');
SELECT sn_skips('SELECT sum(v) FROM sn3 WHERE c BETWEEN 20000 AND 20100');
SELECT sn_agrees('SELECT a, b, sum(v) FROM sn3 WHERE c BETWEEN 20000 AND 20100 GROUP BY a, b');
SELECT sn_skips('SELECT sum(v) FROM sn3 WHERE b = 3 AND c BETWEEN 20000 AND 20100');
SELECT sn_agrees('SELECT sum(v) FROM sn3 WHERE b = 3 AND c BETWEEN 20000 AND 20100');
SELECT sn_skips('SELECT sum(v) FROM sn3 WHERE b IS NULL AND c IN (20000, 20005, 20028, 20031)');
SELECT sn_agrees('SELECT sum(v) FROM sn3 WHERE b IS NULL AND c IN (20000, 20005, 20028, 20031)');
SELECT sn_skips('SELECT sum(v) FROM sn3 WHERE a = 2 AND c < 100');
SELECT sn_agrees('SELECT sum(v) FROM sn3 WHERE a = 2 AND c < 100');
SELECT sn_skips('SELECT sum(v) FROM sn3 WHERE a IN (1, 3) AND c IS NULL');
SELECT sn_agrees('SELECT sum(v) FROM sn3 WHERE a IN (1, 3) AND c IS NULL');
SELECT sn_skips('SELECT sum(v) FROM sn3 WHERE a > 1 AND b < 5 AND c > 59900');
SELECT sn_agrees('SELECT sum(v) FROM sn3 WHERE a > 1 AND b < 5 AND c > 59900');

-- ---- too many groups ----
CREATE TABLE sn_many (a int4 NOT NULL, b int4 NOT NULL, v int4 NOT NULL);
INSERT INTO sn_many SELECT i / 2, i % 1000, i % 10 FROM generate_series(1, 40000) i;
CREATE INDEX sn_many_ab ON sn_many USING gpubtree (a, b) INCLUDE (v);
VACUUM ANALYZE sn_many;
-- the planner knows
SELECT sn_skips('SELECT count(*), sum(v) FROM sn_many WHERE b = 77');
SELECT sn_agrees('SELECT count(*), sum(v) FROM sn_many WHERE b = 77');
-- or does not
TRUNCATE sn_many;
INSERT INTO sn_many SELECT i % 5, i % 1000, i % 10 FROM generate_series(1, 40000) i;
VACUUM ANALYZE sn_many;
ALTER TABLE sn_many SET (autovacuum_enabled = off);
PREPARE q AS SELECT count(*), sum(v), count(*) FILTER (WHERE a > 100) FROM sn_many WHERE b = 77;
SELECT sn_skips('EXECUTE q');
EXECUTE q;
UPDATE sn_many SET a = a + v + 1000 * b;
INSERT INTO sn_many SELECT i / 2, i % 1000, i % 10 FROM generate_series(1, 40000) i;
SELECT line FROM sn_skips('EXECUTE q') line WHERE line ~ 'Given Up|Ranges';
EXECUTE q;
SELECT sn_agrees('SELECT count(*), sum(v) FROM sn_many WHERE b = 77');

-- ---- a condition that says nothing of the keys ----
-- They have no code for NULL: b was NOT NULL when the index was made. The statistics still have NULLs.
\set ECHO none
CREATE TABLE sn_never (a timestamp, b bigint, v int4) WITH (autovacuum_enabled = off);
INSERT INTO sn_never SELECT timestamp '2024-01-01' + i % 5 * interval '1 hour', i / 2, i % 10
	FROM generate_series(1, 20000) i;
INSERT INTO sn_never SELECT NULL, NULL, 1 FROM generate_series(1, 20000) i;
ANALYZE sn_never;
DELETE FROM sn_never WHERE b IS NULL;
VACUUM sn_never;
ALTER TABLE sn_never ALTER b SET NOT NULL;
CREATE INDEX sn_never_ab ON sn_never USING gpubtree (a, b DESC) INCLUDE (v);
ALTER TABLE sn_never ALTER b DROP NOT NULL;
\set ECHO all
SELECT sn_skips('SELECT count(*), sum(v) FROM sn_never WHERE b IS NOT NULL');
SELECT sn_agrees('SELECT count(*), sum(v) FROM sn_never WHERE b IS NOT NULL');
SELECT sn_skips('SELECT a, b, v FROM sn_never WHERE b IS NOT NULL AND v < 2');
SELECT sn_agrees('SELECT a, b, v FROM sn_never WHERE b IS NOT NULL AND v < 2');

\set ECHO none
-- ---- by price ----
-- All ways are allowed at their usual price. From PostgreSQL 18 on core's own scan of the index skips, too: but of some
-- ten thousand entries each costs it more, whatever it takes to find the groups.
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;
CREATE TABLE sn_price AS SELECT i % 4 AS tenant, i / 4 AS at, i % 100 AS v FROM generate_series(1, 200000) i;
CREATE INDEX sn_price_ta ON sn_price USING gpubtree (tenant, at) INCLUDE (v);
VACUUM ANALYZE sn_price;
\set ECHO all
SELECT sn_skips('SELECT count(*), sum(v) FROM sn_price WHERE at BETWEEN 10000 AND 19999');
SELECT sn_agrees('SELECT count(*), sum(v) FROM sn_price WHERE at BETWEEN 10000 AND 19999');
SELECT sn_skips('SELECT tenant, at FROM sn_price WHERE at BETWEEN 10000 AND 19999 AND v % 50 = 3');
SELECT sn_agrees('SELECT tenant, at FROM sn_price WHERE at BETWEEN 10000 AND 19999 AND v % 50 = 3');

DROP TABLE sn, sn3, sn_many, sn_never, sn_price;
DROP FUNCTION sn_skips, sn_agrees;
