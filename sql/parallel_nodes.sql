--
-- Nodes below Gather: answers are those of one process, and of core's plans, bit by bit.
--
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 3;

CREATE TABLE facts (k int, g int, v int, f float8, d numeric(8,2), note text) WITH (autovacuum_enabled = off);
INSERT INTO facts SELECT nullif(i * 7919 % 30000, 77), nullif(i % 9, 5), i % 1000, (i * 0.1 - 1500) ^ 3, i % 300 - 0.25, 'note ' || i % 13
FROM generate_series(1, 30000) i;
INSERT INTO facts SELECT 12345, 4, i, 1e-3 * i, i % 300, 'same' FROM generate_series(1, 2000) i;
CREATE INDEX facts_k ON facts USING gpubtree (k) INCLUDE (g, v, f);
DELETE FROM facts WHERE k BETWEEN 20000 AND 22000 OR k % 50 = 3;
CREATE TABLE outers (id int, good int, flag bool) WITH (autovacuum_enabled = off);
INSERT INTO outers SELECT i, nullif(i * 31 % 40000, 31), i % 3 = 0 FROM generate_series(1, 4000) i;
ANALYZE facts, outers;

-- rows in a canonical order, floats with all their digits, as a checksum
CREATE FUNCTION rows_of(query text, mode text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	IF mode = 'serial' THEN
		SET LOCAL max_parallel_workers_per_gather = 0;
	ELSIF mode = 'core' THEN
		SET LOCAL gpubtree.enabled = off;
		SET LOCAL max_parallel_workers_per_gather = 0;
	END IF;
	EXECUTE 'SELECT count(*) || '' '' || md5(string_agg(q::text, E''\n'' ORDER BY q::text)) FROM (' || query || ') q' INTO result;
	SET LOCAL gpubtree.enabled = on;
	SET LOCAL max_parallel_workers_per_gather = 3;
	RETURN result;
END $$;
-- what stands below the query's Gather, and whether the three answers are one.  Core rounds sums of floats as it adds;
-- queries with these have "floats".
CREATE FUNCTION compare(query text, floats bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	gathers bool;
	below text;
	parallel text;
	serial text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF gathers THEN
			below := coalesce(below, substring(line FROM '(?:Parallel )?Custom Scan \(\w+\)'));
		END IF;
		gathers := coalesce(gathers, line ~ 'Gather');
		gathers := gathers OR line ~ 'Gather';
	END LOOP;
	parallel := rows_of(query, 'parallel');
	serial := rows_of(query, 'serial');
	RETURN concat_ws(', ', CASE WHEN parallel <> serial THEN 'DIFFERS from one process'
								WHEN floats THEN 'same'
								WHEN parallel <> rows_of(query, 'core') THEN 'DIFFERS from core'
								ELSE 'same' END,
					 CASE WHEN gathers THEN coalesce(below, 'core below Gather') ELSE 'no Gather' END);
END $$;

CREATE FUNCTION explain_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query;
END $$;

-- Joins: each process joins its share of the outer rows.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET gpubtree.enable_joinaggregate = off;
SET gpubtree.enable_rangeaggregate = off;
\set ECHO all
SELECT compare('SELECT o.id, f.v, f.f FROM outers o JOIN facts f ON f.k = o.good WHERE f.v > 3');
SELECT compare('SELECT o.id, f.note FROM outers o JOIN facts f ON f.k = o.good');
SELECT compare('SELECT o.id, f.v FROM outers o LEFT JOIN facts f ON f.k = o.good AND f.v > 500');
SELECT compare('SELECT o.id FROM outers o WHERE EXISTS (SELECT FROM facts f WHERE f.k = o.good)');
SELECT compare('SELECT o.id FROM outers o WHERE EXISTS (SELECT FROM facts f WHERE f.k = o.good AND f.v > o.id % 900)');
SELECT compare('SELECT o.id FROM outers o WHERE NOT EXISTS (SELECT FROM facts f WHERE f.k = o.good)');
SELECT compare('SELECT o.id FROM outers o WHERE NOT EXISTS (SELECT FROM facts f WHERE f.k = o.good AND f.note > ''note 4'')');
SELECT compare('SELECT flag, count(*), sum(f.v) FROM outers o JOIN facts f ON f.k = o.good GROUP BY flag');
-- workers took part, each in its share
SELECT substring(line FROM '\S.*') FROM explain_lines('SELECT o.id, f.v FROM outers o JOIN facts f ON f.k = o.good') line
WHERE line ~ 'Workers Launched';
-- the leader has no part in it, or all of it
SET parallel_leader_participation = off;
SELECT compare('SELECT o.id, f.v, f.f FROM outers o LEFT JOIN facts f ON f.k = o.good');
RESET parallel_leader_participation;
SET max_parallel_workers = 0;
SELECT compare('SELECT o.id, f.v, f.f FROM outers o LEFT JOIN facts f ON f.k = o.good');
RESET max_parallel_workers;
-- begun anew for each outer row; ended early; an error in a worker
SELECT compare('SELECT n, q.* FROM generate_series(1, 3) n, LATERAL (SELECT o.id, f.v FROM outers o JOIN facts f ON f.k = o.good OFFSET 0) q');
SELECT count(*) FROM (SELECT o.id, f.v FROM outers o JOIN facts f ON f.k = o.good LIMIT 5) q;
SELECT count(*) FROM outers o JOIN facts f ON f.k = o.good WHERE 1 / (f.v + o.id - o.id - 500) >= 0;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;
RESET gpubtree.enable_joinaggregate;
RESET gpubtree.enable_rangeaggregate;

-- Rows of partitions: a GpubtreeScan of a whole partition is one process's.
CREATE TABLE parts (k int, v int, note text) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10000) WITH (autovacuum_enabled = off);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10000) TO (20000) WITH (autovacuum_enabled = off);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (20000) TO (30000) WITH (autovacuum_enabled = off);
INSERT INTO parts SELECT i * 7919 % 30000, i % 1000, 'note ' || i % 13 FROM generate_series(1, 30000) i;
CREATE INDEX ON parts USING gpubtree (k) INCLUDE (v);
ANALYZE parts;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SELECT compare('SELECT k, v FROM parts WHERE k > 50 AND v > 700');
SELECT compare('SELECT k, v, note FROM parts WHERE k > 50 AND v * 2 > 1700 AND note > ''note 4''');
SELECT compare('SELECT v % 7, count(note) FROM parts WHERE k > 50 AND v > 700 GROUP BY 1');
SELECT compare('SELECT k, v FROM parts WHERE (k < 9000 OR k > 12000) AND v < 100');
-- a constant that may fail is evaluated in no worker
SELECT compare('SELECT k, v FROM parts WHERE k > 50 AND v > 700 / length(current_setting(''max_parallel_workers''))');
SELECT count(*) FROM parts WHERE k > 50 AND v > 700 / (length(current_setting('max_parallel_workers')) - 1);
RESET enable_seqscan;
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;

-- One index under an aggregate: processes share out parts of it.
SET gpubtree.enable_device = off;
SELECT compare('SELECT count(*), sum(v), min(k), max(v) FROM facts WHERE k BETWEEN 100 AND 29000');
SELECT compare('SELECT count(*), sum(f), avg(f), stddev(v) FROM facts WHERE k > 100', true);
SELECT compare('SELECT g, count(*), sum(v), sum(v * 2) FROM facts WHERE k > 100 AND v > 10 GROUP BY g');
