--
-- Switches: gpubtree.enabled for all that is ours, gpubtree.enable_device for the device; and what is counted of whose answers.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET timezone = 'UTC';
DO $$ BEGIN
	FOR i IN 1 .. 6000 LOOP
		EXIT WHEN (SELECT bool_and(status ~ '^(ready|no device)') FROM gpubtree_device);
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$;
-- The tables are small: ours is used wherever it can be, and the device whenever it can be.
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;

SELECT set_config(name, 'off', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name \g /dev/null

CREATE TABLE events (k bigint NOT NULL, v integer);
INSERT INTO events SELECT n % 5000, n % 100 FROM generate_series(1, 10000) n;
CREATE INDEX events_k ON events USING gpubtree (k) INCLUDE (v);
CREATE TABLE wanted (id integer PRIMARY KEY, lo bigint, hi bigint);
INSERT INTO wanted SELECT n, n * 7 % 4500, n * 7 % 4500 + 50 FROM generate_series(1, 500) n;
VACUUM ANALYZE events;
VACUUM ANALYZE wanted;
-- A query for each node, and one that is rewritten for it
CREATE TABLE queries (n serial, query text);
INSERT INTO queries (query) VALUES
	('SELECT count(*), sum(v) FROM events WHERE k >= 100'),
	('SELECT count(*), sum(v) FROM events WHERE k = ANY (ARRAY(SELECT generate_series(1, 3)))'),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM events'),
	('SELECT k / 500, count(*) FROM events GROUP BY k / 500 ORDER BY 1'),
	('SELECT k, v FROM events ORDER BY k OFFSET 5000 LIMIT 3'),
	('SELECT id, v FROM wanted JOIN events ON k = lo ORDER BY id, v'),
	('SELECT count(*), sum(v) FROM wanted JOIN events ON k = lo'),
	('SELECT id, count(*) FROM wanted JOIN events ON k >= lo AND k < hi GROUP BY id ORDER BY id'),
	('SELECT id, s.* FROM wanted, LATERAL (SELECT count(*), sum(v) FROM events WHERE k >= lo AND k < hi) s ORDER BY id'),
	('SELECT id, (SELECT sum(v) FROM events WHERE k >= lo AND k < hi) FROM wanted ORDER BY id');

\i :abs_srcdir/sql/common/node.sql
CREATE FUNCTION engine(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, SUMMARY OFF, TIMING OFF) ' || statement LOOP
		found := coalesce(found, substring(line FROM 'Engine: (.*)'));
	END LOOP;
	RETURN found;
END $$;
-- A statement's rows, and the names of their columns
CREATE FUNCTION answer(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line record;
	lines text[];
BEGIN
	FOR line IN EXECUTE statement LOOP
		lines := lines || row_to_json(line)::text;
	END LOOP;
	RETURN cardinality(lines) || ' rows ' || md5(lines::text);
END $$;
-- What was counted so far, by the devices and by the others
CREATE VIEW devices AS SELECT sum(requests) AS requests, max(cpu_requests) AS cpu_requests FROM gpubtree_device;
CREATE TABLE counted AS
	SELECT requests, batches, keys, ranges, launches, cpu_requests, cpu_batches, cpu_keys, cpu_ranges FROM devices, gpubtree_batches;
CREATE FUNCTION count_anew() RETURNS void LANGUAGE sql AS $$
	DELETE FROM counted;
	INSERT INTO counted SELECT requests, batches, keys, ranges, launches, cpu_requests, cpu_batches, cpu_keys, cpu_ranges FROM devices, gpubtree_batches
$$;
CREATE VIEW since AS
	SELECT d.requests - c.requests AS requests, b.batches - c.batches AS batches, b.keys - c.keys AS keys, b.ranges - c.ranges AS ranges,
		b.launches - c.launches AS launches, d.cpu_requests - c.cpu_requests AS cpu_requests, b.cpu_batches - c.cpu_batches AS cpu_batches,
		b.cpu_keys - c.cpu_keys AS cpu_keys, b.cpu_ranges - c.cpu_ranges AS cpu_ranges
	FROM devices d, gpubtree_batches b, counted c;
\set ECHO all

--
-- Plans made anew
--
SELECT n, node(query) FROM queries WHERE n < 10 ORDER BY n;
SELECT n, node(query) <> 'none' AS ours FROM queries WHERE n = 10;
CREATE TABLE ours AS SELECT n, answer(query) FROM queries;
SET gpubtree.enabled = off;
SELECT n, node(query) FROM queries ORDER BY n;
-- The index is an index like others.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM events WHERE k BETWEEN 100 AND 200;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT n FROM queries JOIN ours USING (n) WHERE answer(query) <> answer;
-- and the device is asked nothing, not even by those who name it
SELECT count_anew();
SELECT matches, engine FROM gpubtree_probe('events_k', ARRAY[1, 2, 3]::bigint[], 'device');
SELECT requests, batches, launches FROM since;
RESET gpubtree.enabled;

--
-- Cached plans follow the switch, in both directions and when a transaction brings the old value back.
--
SET plan_cache_mode = force_generic_plan;
PREPARE sums(bigint) AS SELECT count(*), sum(v) FROM events WHERE k >= $1;
PREPARE joined(bigint) AS SELECT count(*) FROM (SELECT id, v FROM wanted JOIN events ON k = lo + $1 OFFSET 0) j;
EXECUTE sums(100);
EXECUTE joined(0);
SELECT node('EXECUTE sums(100)'), node('EXECUTE joined(0)');
SET gpubtree.enabled = off;
SELECT node('EXECUTE sums(100)'), node('EXECUTE joined(0)');
EXECUTE sums(100);
EXECUTE joined(0);
BEGIN;
SET LOCAL gpubtree.enabled = on;
SELECT node('EXECUTE sums(100)'), node('EXECUTE joined(0)');
ROLLBACK;
SELECT node('EXECUTE sums(100)'), node('EXECUTE joined(0)');
RESET gpubtree.enabled;
SELECT node('EXECUTE sums(100)'), node('EXECUTE joined(0)');
-- also of functions; the plan that sets it goes on as it was made
CREATE FUNCTION total() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT sum(v) FROM events WHERE k >= 100); END $$;
SELECT count_anew();
SELECT total(), total(), total(), total(), total(), total();
SELECT requests + cpu_requests AS answered FROM since;
SELECT count_anew();
SET gpubtree.enabled = off;
SELECT total();
SELECT requests + cpu_requests AS answered FROM since;
RESET gpubtree.enabled;
SELECT count(*), count(DISTINCT set_config('gpubtree.enabled', 'off', false)) FROM wanted JOIN events ON k = lo;
SHOW gpubtree.enabled;
RESET gpubtree.enabled;
-- A node that is running goes on without the device.
BEGIN;
DECLARE running CURSOR FOR SELECT id, v FROM wanted JOIN events ON k = lo;
MOVE 1 IN running;
SET LOCAL gpubtree.enabled = off;
SELECT count_anew();
MOVE ALL IN running;
SELECT requests, batches, launches, cpu_batches > 0 AS cpu FROM since;
COMMIT;

--
-- Without the device the CPU answers, by the same nodes.
--
SET gpubtree.enable_device = off;
SELECT n, node(query), engine(query) FROM queries WHERE n < 10 ORDER BY n;
SELECT n FROM queries JOIN ours USING (n) WHERE answer(query) <> answer;

--
-- Counters: what the CPU answers is counted as what the device answers is.
--
SELECT count_anew();
SELECT count(*) FROM events WHERE k >= 100;
SELECT * FROM since;
SELECT count_anew();
EXECUTE joined(0);
SELECT batches, keys, ranges, cpu_requests, cpu_batches > 0 AS cpu_batches, cpu_keys, cpu_ranges FROM since;
SELECT count_anew();
SELECT count(*) FROM (SELECT id, count(*) FROM wanted JOIN events ON k >= lo AND k < hi GROUP BY id OFFSET 0) s;
SELECT batches, keys, ranges, cpu_requests, cpu_batches > 0 AS cpu_batches, cpu_keys, cpu_ranges FROM since;
-- Serializable transactions have their own engine, which counts with the CPU.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count_anew();
SELECT count(*) FROM events WHERE k >= 100;
SELECT requests, cpu_requests FROM since;
COMMIT;
-- By whomever they are answered, all are counted once; keys as keys, ranges as ranges.
RESET gpubtree.enable_device;
SELECT count_anew();
SELECT count(*) FROM events WHERE k >= 100;
EXECUTE joined(0);
SELECT count(*) FROM (SELECT id, count(*) FROM wanted JOIN events ON k >= lo AND k < hi GROUP BY id OFFSET 0) s;
SELECT requests + cpu_requests AS aggregates, keys + cpu_keys AS keys, ranges + cpu_ranges AS ranges FROM since;
SELECT (keys = 500 AND ranges = 500 AND requests = 1 AND cpu_batches = 0) = (SELECT bool_or(status = 'ready') FROM gpubtree_device) AS by_device FROM since;

-- the reset, and who may do it
SELECT gpubtree_stat_reset();
SELECT DISTINCT requests, cpu_requests, now() - d.stats_reset < interval '1 minute' AS lately, d.stats_reset = b.stats_reset AS same,
	batches, keys, ranges, launches, joined_launches, failed_over, cpu_batches, cpu_keys, cpu_ranges
FROM gpubtree_device d, gpubtree_batches b;
CREATE ROLE regress_gpubtree_nobody;
SET ROLE regress_gpubtree_nobody;
SELECT gpubtree_stat_reset();
SELECT count(*) FROM gpubtree_batches;
RESET ROLE;
GRANT EXECUTE ON FUNCTION gpubtree_stat_reset() TO regress_gpubtree_nobody;
SET ROLE regress_gpubtree_nobody;
SELECT gpubtree_stat_reset();
RESET ROLE;
REVOKE EXECUTE ON FUNCTION gpubtree_stat_reset() FROM regress_gpubtree_nobody;
DROP ROLE regress_gpubtree_nobody;

--
-- gpubtree_refresh() says why it did nothing.
--
SET client_min_messages = notice;
SET gpubtree.enabled = off;
SELECT gpubtree_refresh('events_k');
RESET gpubtree.enabled;
SET gpubtree.enable_device = off;
SELECT gpubtree_refresh('events_k');
RESET gpubtree.enable_device;
CREATE TEMP TABLE passing (k integer);
CREATE INDEX passing_k ON passing USING gpubtree (k);
SELECT gpubtree_refresh('passing_k');
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'events_k'::regclass;
SELECT gpubtree_refresh('events_k');
REINDEX INDEX events_k;
SET client_min_messages = warning;

DROP TABLE queries, ours, wanted, passing CASCADE;
DROP VIEW since, devices;
DROP TABLE events, counted;
DROP FUNCTION node, engine, answer, count_anew, total;
