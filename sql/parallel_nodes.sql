--
-- Nodes below Gather: answers are those of one process, and of core's plans, bit by bit.
--
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
-- where a GPU is expected to answer there are no workers
SET gpubtree.enable_device = off;

-- squares of "small" are out of range where g is 1; the sums of "wide" are no narrow ones
CREATE TABLE facts (k int, g int, v int, f float8, small float8, wide float8, note text, pad text) WITH (autovacuum_enabled = off);
INSERT INTO facts SELECT nullif(i * 7919 % 30000, 77), nullif(i % 9, 5), i % 1000, (i * 0.1 - 1500) ^ 3,
	CASE i % 9 WHEN 1 THEN 1e-300 ELSE 1 END * i, 10.0 ^ (i % 400 - 200), 'note ' || i % 13, 'pad ' || i
FROM generate_series(1, 12000) i;
INSERT INTO facts SELECT 12345, 4, i, 1e-3 * i, 1, -1e190 * i, 'same', 'pad' FROM generate_series(1, 1000) i;
CREATE INDEX facts_k ON facts USING gpubtree (k) INCLUDE (g, v, f, small, wide, note);
DELETE FROM facts WHERE k BETWEEN 20000 AND 22000 OR k % 50 = 3;
CREATE TABLE outers (id int, good int, flag bool) WITH (autovacuum_enabled = off);
INSERT INTO outers SELECT i, nullif(i * 31 % 40000, 31), i % 3 = 0 FROM generate_series(1, 2000) i;
ANALYZE facts, outers;

-- rows in a canonical order, floats with all their digits, as a checksum; by workers, one process or core's plan
CREATE FUNCTION answer_of(query text, mode text, OUT result text, OUT plan text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	gather int;
BEGIN
	IF mode <> 'workers' THEN
		SET LOCAL max_parallel_workers_per_gather = 0;
	END IF;
	IF mode = 'core' THEN
		SET LOCAL gpubtree.enabled = off;
	END IF;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		-- what stands beside a Gather is the ordinary plan of the whole, which each server chooses
		EXIT WHEN strpos(line, '->') = gather;
		IF gather IS NULL AND line ~ '->  Gather' THEN
			gather := strpos(line, '->');
		END IF;
		plan := concat_ws(' ', plan, substring(line FROM '(?:Parallel Custom Scan|Custom Scan|Gather|Parallel Append)(?: Merge)?'),
						  substring(line FROM '\(Gpubtree\w+\)'));
	END LOOP;
	EXECUTE 'SELECT count(*) || '' '' || md5(string_agg(q::text, E''\n'' ORDER BY q::text)) FROM (' || query || ') q' INTO result;
	SET LOCAL gpubtree.enabled = on;
	SET LOCAL max_parallel_workers_per_gather = 2;
END $$;
-- whether the answers are one, and the plan with workers.  Core rounds sums of floats as it adds: "floats" are not
-- compared with its.
CREATE FUNCTION compare(query text, floats bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	workers record;
	serial record;
	core record;
BEGIN
	workers := answer_of(query, 'workers');
	serial := answer_of(query, 'serial');
	core := serial;
	IF NOT floats THEN
		core := answer_of(query, 'core');
	END IF;
	RETURN CASE WHEN serial.plan !~ 'Gpubtree' THEN 'SERIAL PLAN ' || serial.plan
				WHEN workers.result <> serial.result THEN 'DIFFERS from one process'
				WHEN floats THEN 'same'
				WHEN workers.result <> core.result OR core.plan ~ 'Gpubtree' THEN 'DIFFERS from core'
				ELSE 'same' END || ': ' || workers.plan;
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
SELECT compare('SELECT o.id, f.note, f.pad FROM outers o JOIN facts f ON f.k = o.good');
SELECT compare('SELECT o.id, f.v FROM outers o LEFT JOIN facts f ON f.k = o.good AND f.v > 500');
SELECT compare('SELECT o.id FROM outers o WHERE EXISTS (SELECT FROM facts f WHERE f.k = o.good)');
SELECT compare('SELECT o.id FROM outers o WHERE EXISTS (SELECT FROM facts f WHERE f.k = o.good AND f.v > o.id % 900)');
SELECT compare('SELECT o.id FROM outers o WHERE NOT EXISTS (SELECT FROM facts f WHERE f.k = o.good)');
SELECT compare('SELECT o.id FROM outers o WHERE NOT EXISTS (SELECT FROM facts f WHERE f.k = o.good AND f.note || o.id > ''note 4'')');
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
SELECT count(*) FROM outers o JOIN facts f ON f.k = o.good WHERE 1 / (f.v * 0 + o.id % 100) >= 0;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;
RESET gpubtree.enable_joinaggregate;
RESET gpubtree.enable_rangeaggregate;

-- Joins under aggregates: processes exchange keys, and each has a state of a stretch of them.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT compare('SELECT count(*), sum(f.v), min(f.k), max(f.f) FROM outers o JOIN facts f ON f.k = o.good');
SELECT compare('SELECT sum(f.f), avg(f.f) FROM outers o JOIN facts f ON f.k = o.good', true);
SELECT compare('SELECT sum(f.g::bigint + f.v), count(*) FILTER (WHERE f.v > 300) FROM outers o JOIN facts f ON f.k = o.good');
SELECT compare('SELECT count(*) + 1, sum(f.v) FROM outers o JOIN facts f ON f.k = o.good WHERE o.flag AND o.id > 100');
SELECT compare('SELECT count(*), sum(f.v) FROM outers o JOIN facts f ON f.k = o.good WHERE o.id < 0');
SELECT compare('SELECT n, q.* FROM generate_series(1, 3) n LEFT JOIN (SELECT count(*) AS c, sum(f.v) FROM outers o JOIN facts f ON f.k = o.good OFFSET 0) q ON q.c > n');
SET parallel_leader_participation = off;
SELECT compare('SELECT count(*), sum(f.v) FROM outers o JOIN facts f ON f.k = o.good');
RESET parallel_leader_participation;
-- ranks of texts are those of one process
SELECT compare('SELECT count(*), min(f.note) FROM outers o JOIN facts f ON f.k = o.good');
-- all the same key, which is parted; none; no workers
SELECT compare('SELECT count(*), sum(f.v) FROM outers o JOIN facts f ON f.k = o.id * 0 + 12345');
SELECT compare('SELECT count(*), sum(f.v) FROM outers o JOIN facts f ON f.k = o.good / nullif(o.id * 0, 0)');
SET max_parallel_workers = 0;
SELECT compare('SELECT count(*), sum(f.v) FROM outers o JOIN facts f ON f.k = o.good');
RESET max_parallel_workers;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT compare('SELECT count(*), sum(f.v) FROM outers o JOIN facts f ON f.k = o.good');
ROLLBACK;
-- several rounds; wide keys, and intervals of them; floats, of which several keys are equal
CREATE TABLE many (k int NOT NULL, g int NOT NULL, v bigint NOT NULL, u uuid, f float8) WITH (autovacuum_enabled = off);
INSERT INTO many SELECT i * 7919 % 30000, i % 9, i % 1000, md5(nullif(i % 5000, 3)::text)::uuid, i % 7 * -0.0 FROM generate_series(1, 20000) i;
CREATE TABLE wide (g int NOT NULL, v bigint NOT NULL, k int NOT NULL, u uuid, f float8) WITH (autovacuum_enabled = off);
INSERT INTO wide SELECT g, v, k, u, CASE WHEN v % 3 = 0 THEN 0 ELSE f END FROM many WHERE k % 4 <> 1;
CREATE INDEX wide_g ON wide USING gpubtree (g, v, k);
CREATE INDEX wide_u ON wide USING gpubtree (u) INCLUDE (v);
CREATE INDEX wide_f ON wide USING gpubtree (f) INCLUDE (v);
ANALYZE many, wide;
SET work_mem = '64kB';
SELECT compare('SELECT count(*), sum(f.v), min(f.k), max(f.f) FROM many o JOIN facts f ON f.k = o.k');
SELECT compare('SELECT count(*), sum(w.k) FROM many o JOIN wide w ON w.g = o.g AND w.v BETWEEN o.v - 2 AND o.v');
SELECT compare('SELECT count(*), sum(w.v) FROM many o JOIN wide w ON w.u = o.u');
SELECT compare('SELECT count(*), sum(w.v) FROM (SELECT * FROM many WHERE k < 300) o JOIN wide w ON w.f = o.f');
-- begun anew, with another parameter
SELECT compare('SELECT n, q.* FROM generate_series(1, 3) n, LATERAL (SELECT count(*), sum(w.v) FROM many o JOIN wide w ON w.u = o.u WHERE o.k > (SELECT n * 5000) OFFSET 0) q');
RESET work_mem;
-- processes wait for each other in the outer side, too; or each has another part of it
SET enable_hashjoin = on;
SELECT compare('SELECT count(*), sum(w.v) FROM (many o JOIN outers p ON p.id = o.v AND o.k < 900) JOIN wide w ON w.u = o.u');
SELECT compare('SELECT count(*), sum(w.v) FROM (SELECT u FROM many WHERE k < 900 UNION ALL SELECT md5(id::text)::uuid FROM outers WHERE id < 200) o JOIN wide w ON w.u = o.u');
SET enable_hashjoin = off;
-- an error of one process, when others may wait for it
SELECT count(*), sum(f.v) FROM many o JOIN facts f ON f.k = o.k WHERE 1 / (o.k - 15000) >= 0;
DROP TABLE many, wide;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;

-- Rows of partitions, and of one index: processes share out parts of it.
CREATE TABLE parts (k int, v int, note text) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10000) WITH (autovacuum_enabled = off);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10000) TO (20000) WITH (autovacuum_enabled = off);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (20000) TO (30000) WITH (autovacuum_enabled = off);
INSERT INTO parts SELECT i * 7919 % 30000, i % 1000, 'note ' || i % 13 FROM generate_series(1, 12000) i;
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
SELECT compare('SELECT f.k, f.v, f.pad FROM facts f WHERE k > 50 AND v > 700');
SELECT compare('SELECT f.k, f.f FROM facts f WHERE (k < 9000 OR k > 12000 AND g = 3) AND v % 7 = 2');
SELECT compare('SELECT f.k, f.note FROM facts f WHERE k > 50 AND f.v > 10 AND f.note || f.v > ''note 40''');
SELECT compare('SELECT n, q.* FROM generate_series(1, 3) n LEFT JOIN (SELECT k, v FROM facts f WHERE k > (SELECT 50) AND v > 900 OFFSET 0) q ON q.k > n * 9000');
SELECT count(*) FROM (SELECT k FROM facts WHERE v > 10 LIMIT 100) q;
-- a row for which a step faults is core's to judge, in whichever process
\set SHOW_CONTEXT never
SELECT count(*) FROM facts WHERE k > 50 AND v > 10 AND 1000 / (k - 12345) < 1;
SET parallel_leader_participation = off;
SELECT compare('SELECT f.k, f.v, f.pad FROM facts f WHERE k > 50 AND v > 700');
RESET parallel_leader_participation;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT compare('SELECT f.k, f.v, f.pad FROM facts f WHERE k > 50 AND v > 700');
ROLLBACK;
-- a constant that may fail is evaluated in no worker
SELECT compare('SELECT k, v FROM parts WHERE k > 50 AND v > 700 / length(current_setting(''max_parallel_workers''))');
SELECT count(*) FROM parts WHERE k > 50 AND v > 700 / (length(current_setting('max_parallel_workers')) - 1);
RESET enable_seqscan;
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;

-- One index under an aggregate: processes share out parts of it.
VACUUM ANALYZE facts;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SELECT compare('SELECT count(*), sum(v), min(k), max(v) FROM facts WHERE k BETWEEN 100 AND 29000');
SELECT compare('SELECT count(*), sum(f), avg(f), stddev(v), var_pop(f) FROM facts WHERE k > 100', true);
SELECT compare('SELECT count(*), count(k), count(g) FROM facts');
SELECT compare('SELECT g, count(*), sum(v), sum(v * 2) FROM facts WHERE k > 100 AND v > 10 GROUP BY g');
SELECT compare('SELECT v, g, count(*), sum(f) FROM facts GROUP BY v, g', true);
SELECT compare('SELECT g, v % 7, count(*) FILTER (WHERE v > 500), min(f) FROM facts WHERE k <> 9 GROUP BY GROUPING SETS ((g), (2), ())');
SELECT compare('SELECT g, count(DISTINCT v), percentile_disc(0.3) WITHIN GROUP (ORDER BY v), sum(k) FROM facts GROUP BY g');
SELECT compare('SELECT DISTINCT g FROM facts WHERE k < 20000');
SELECT compare('SELECT g, count(*), sum(wide) FROM facts WHERE k > 100 GROUP BY g', true);
SELECT compare('SELECT note, count(*), min(note) FROM facts WHERE v > 10 GROUP BY note');
SELECT compare('SELECT g, count(*) AS n FROM facts WHERE v > 5 GROUP BY g HAVING count(*) > 1250 ORDER BY g DESC LIMIT 2');
-- many ranges, few entries, none; a condition that no row satisfies
SELECT compare('SELECT count(*), sum(v) FROM facts WHERE k IN (12345, 5, 700, 701, 29000, NULL, 5)');
SELECT compare('SELECT count(*), sum(v) FROM facts WHERE k = 12345');
SELECT compare('SELECT count(*), sum(v) FROM facts WHERE k < 500 OR k BETWEEN 12000 AND 13000 OR k > 29000 AND v < 10');
SELECT compare('SELECT g, count(*) FROM facts WHERE k > 40000 GROUP BY g');
SELECT compare('SELECT count(*), sum(v) FROM facts WHERE k IS NULL OR k > 25000');
-- without the leader, and without workers; EXPLAIN counts what all processes do
SET parallel_leader_participation = off;
SELECT substring(line FROM '\S.*') FROM explain_lines('SELECT count(*), sum(v) FROM facts WHERE k > 100') line
WHERE line ~ 'Engine|Matches|Merged';
SELECT compare('SELECT g, count(*), sum(f) FROM facts WHERE k > 100 GROUP BY g', true);
RESET parallel_leader_participation;
SET max_parallel_workers = 0;
SELECT compare('SELECT g, count(*), sum(f) FROM facts WHERE k > 100 GROUP BY g', true);
RESET max_parallel_workers;
-- begun anew: for each outer row, and with another parameter
SELECT compare('SELECT n, q.* FROM generate_series(1, 3) n, LATERAL (SELECT g, count(*), sum(v) FROM facts WHERE k > 100 GROUP BY g OFFSET 0) q');
SELECT compare('SELECT n, q.* FROM generate_series(1, 3) n LEFT JOIN (SELECT g, count(*) AS c, sum(v) FROM facts WHERE k > (SELECT 100) GROUP BY g OFFSET 0) q ON q.c > n * 1000');
SET plan_cache_mode = force_generic_plan;
PREPARE above(int, int) AS SELECT count(*), sum(v) FROM facts WHERE k > $1 AND v <> $2;
EXPLAIN (COSTS OFF) EXECUTE above(5, 6);
EXECUTE above(5, 6);
EXECUTE above(29000, 600);
EXECUTE above(NULL, 600);
DEALLOCATE above;
RESET plan_cache_mode;
-- below a cursor, which is executed in pieces, no worker starts
BEGIN;
DECLARE c CURSOR FOR SELECT g, count(*), sum(v) FROM facts WHERE k > 100 GROUP BY g ORDER BY g;
FETCH 2 FROM c;
FETCH ALL FROM c;
COMMIT;
-- a worker's program has no answer: the ordinary plan of the whole raises the error, or has the rows
SELECT sum(v / (k - 25000)) FROM facts WHERE k > 100;
SELECT compare('SELECT g, stddev(small) IS NULL, count(*) FROM facts WHERE k > 100 GROUP BY g');
SELECT substring(line FROM '\S.*') FROM explain_lines('SELECT g, stddev(small), count(*) FROM facts WHERE k > 100 GROUP BY g') line
WHERE line ~ 'Gave Up: a value' LIMIT 1;
-- constants that may fail are not evaluated in workers
SELECT compare('SELECT count(*), sum(v) FROM facts WHERE v > 700 / length(current_setting(''max_parallel_workers''))');
-- SERIALIZABLE: one process reads all ranges, and takes the locks
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT compare('SELECT g, count(*), sum(v) FROM facts WHERE k > 100 GROUP BY g');
SELECT compare('SELECT count(*), sum(v) FROM facts WHERE k IN (12345, 5, 700, 701, 29000) OR k IS NULL');
ROLLBACK;
-- rows of this transaction
BEGIN;
INSERT INTO facts SELECT i, 3, 7, 0.5, 1, 1, 'new', 'pad' FROM generate_series(1, 30000, 100) i;
DELETE FROM facts WHERE k BETWEEN 3000 AND 3500;
SELECT compare('SELECT g, count(*), sum(v) FROM facts WHERE k > 100 GROUP BY g');
ROLLBACK;

-- Leaves of a partitioned table: each is one process's, or shared if it is large.
SELECT compare('SELECT count(*), sum(v), min(k) FROM parts WHERE k > 50');
SELECT compare('SELECT v % 7, count(*), sum(v) FROM parts WHERE k > 50 AND v > 3 GROUP BY 1');
SELECT compare('SELECT v % 7, count(DISTINCT k % 10) FROM parts WHERE k > 50 GROUP BY 1 HAVING count(*) > 1710');
EXPLAIN (COSTS OFF) SELECT count(*), sum(v), min(k) FROM parts WHERE k BETWEEN 50 AND 20100;
SELECT compare('SELECT count(*), sum(v), min(k) FROM parts WHERE k BETWEEN 50 AND 20100');
-- one without an index
DROP INDEX parts_k_v_idx;
CREATE INDEX ON parts_1 USING gpubtree (k) INCLUDE (v);
CREATE INDEX ON parts_3 USING gpubtree (k) INCLUDE (v);
VACUUM parts;
RESET enable_seqscan;
SET enable_hashagg = off;
SET enable_sort = off;
SELECT compare('SELECT v % 7, count(*), sum(v) FROM parts WHERE k > 50 GROUP BY 1');
SET parallel_leader_participation = off;
SELECT compare('SELECT v % 7, count(*), sum(v) FROM parts WHERE k > 50 GROUP BY 1');
RESET parallel_leader_participation;
-- pruned when it begins, and for each outer row
SET plan_cache_mode = force_generic_plan;
PREPARE part(int) AS SELECT v % 2, count(*), sum(v) FROM parts WHERE k < $1 AND v >= 0 GROUP BY 1 ORDER BY 1;
SELECT substring(line FROM '\S.*?(?= \(actual|$)') FROM explain_lines('EXECUTE part(9000)') line WHERE line ~ 'Removed|Custom Scan';
EXECUTE part(9000);
EXECUTE part(25000);
DEALLOCATE part;
RESET plan_cache_mode;
RESET enable_hashagg;
RESET enable_sort;
SET enable_seqscan = off;

-- few rows are no worker's, nor what a device answers
RESET parallel_setup_cost;
SELECT compare('SELECT g, count(*), sum(v) FROM facts WHERE k > 100 GROUP BY g');

DROP TABLE facts, outers, parts;
DROP FUNCTION compare, answer_of, explain_lines;
