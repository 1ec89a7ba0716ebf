--
-- Parallel scans: several processes share one scan of an index, leaf by leaf.  The same rows come through a B-tree,
-- and through one process.
--
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 3;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_material = off;
SET gpubtree.enable_aggregate = off;
SET gpubtree.enable_bucketaggregate = off;
SET gpubtree.enable_scan = off;
SET gpubtree.enable_rank = off;

CREATE TABLE ours (k int, g int, v int, d numeric(8,2), f text) WITH (autovacuum_enabled = off);
CREATE TABLE theirs (LIKE ours) WITH (autovacuum_enabled = off);
INSERT INTO ours SELECT nullif(i * 7919 % 40000, 77), i % 9, i % 1000, i % 300, 'f' || i FROM generate_series(1, 40000) i;
INSERT INTO ours SELECT 12345, 4, i, i % 300, 'same' FROM generate_series(1, 3000) i;
CREATE INDEX ON ours USING gpubtree (k) INCLUDE (v);
CREATE INDEX ON ours USING gpubtree (d DESC NULLS LAST);
CREATE INDEX ON ours USING gpubtree (g, k DESC) INCLUDE (v);
-- entries of dead rows, hinted and not; empty leaves in the middle
DELETE FROM ours WHERE k BETWEEN 20000 AND 24000 OR k % 50 = 3;
INSERT INTO theirs SELECT * FROM ours;
CREATE INDEX ON theirs (k) INCLUDE (v);
CREATE INDEX ON theirs (d DESC NULLS LAST);
CREATE INDEX ON theirs (g, k DESC) INCLUDE (v);
VACUUM ANALYZE theirs;
ANALYZE ours;

-- the parallel scan that a query has, and whether rows are those of the B-tree and of one process
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	scan text;
	parallel text;
	theirs text;
	serial text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || format(query, 'ours') LOOP
		scan := coalesce(scan, substring(line FROM 'Parallel Index (?:Only )?Scan(?: Backward)? using \w+'));
	END LOOP;
	query := 'SELECT md5(string_agg(q::text, E''\n'')) FROM (' || query || ') q';
	EXECUTE format(query, 'ours') INTO parallel;
	EXECUTE format(query, 'theirs') INTO theirs;
	SET LOCAL max_parallel_workers_per_gather = 0;
	EXECUTE format(query, 'ours') INTO serial;
	SET LOCAL max_parallel_workers_per_gather = 3;
	RETURN concat_ws(' ', CASE WHEN parallel = theirs AND parallel = serial THEN 'same' ELSE 'DIFFERENT' END,
					 coalesce(scan, 'no parallel scan'));
END $$;
\set ECHO all

SELECT compare('SELECT count(*), sum(v) FROM %s WHERE k BETWEEN 100 AND 39000');
SELECT compare('SELECT count(f), sum(v), sum(d) FROM %s WHERE k BETWEEN 100 AND 39000');
SELECT compare('SELECT count(*), sum(k) FROM %s WHERE k IS NOT NULL');
SELECT compare('SELECT count(*), sum(k) FROM %s WHERE k IS NULL OR k >= 0');
SELECT compare('SELECT count(f) FROM %s WHERE k = 12345');
SELECT compare('SELECT count(*), sum(v) FROM %s WHERE k < 0');
-- many ranges; groups that are skipped
SELECT compare('SELECT count(f), sum(k) FROM %s WHERE k IN (12345, 7, 1490, 2973, 4456, 5939, 7422, 8905, 10388, 11871, 13354, 14837, 16320, 17803, 19286, 20769, 22252, 23735, 25218, 26701, 28184, 29667, 31150, 32633, 34116, 35599, 37082)');
SELECT compare('SELECT count(f), sum(k), sum(v) FROM %s WHERE k IN (5, 12345, 700, 39000, NULL, 5)');
SELECT compare('SELECT g, count(*), sum(v), min(k) FROM %s WHERE g IN (2, 4, 7) AND k BETWEEN 3000 AND 30000 GROUP BY g ORDER BY g');
SELECT compare('SELECT count(*), sum(v) FROM %s WHERE g > 2 AND k = 12345');
-- in order, forward and backward
SELECT compare('SELECT k, count(f), sum(v) FROM %s WHERE k > 9 GROUP BY k ORDER BY k');
SELECT compare('SELECT k, count(f), sum(v) FROM %s WHERE k > 9 GROUP BY k ORDER BY k DESC');
SELECT compare('SELECT d, count(f), sum(v) FROM %s GROUP BY d ORDER BY d DESC NULLS LAST');
SELECT compare('SELECT d, count(f), sum(v) FROM %s GROUP BY d ORDER BY d NULLS FIRST');
SET enable_hashagg = off;
SET enable_sort = off;
SELECT compare('SELECT d, count(f), sum(v) FROM %s WHERE d > 17 GROUP BY d ORDER BY d NULLS FIRST');
RESET enable_hashagg;
RESET enable_sort;
SELECT compare('SELECT k, sum(v) FROM %s WHERE g = 4 AND k > 10 GROUP BY k ORDER BY k DESC LIMIT 50');
-- begun anew for each outer row
SELECT compare('SELECT o, q.* FROM generate_series(1, 3) o, LATERAL (SELECT count(f), sum(v) FROM %s WHERE k BETWEEN 100 AND 20000 OFFSET 0) q');
SELECT compare('SELECT o.v, q.* FROM (VALUES (1), (2), (3)) o(v) LEFT JOIN (SELECT g, count(f) AS n FROM %s WHERE k BETWEEN 100 AND 20000 GROUP BY g OFFSET 0) q ON q.n > o.v * 100 ORDER BY 1, 2');
-- workers that are not to be had
SET max_parallel_workers = 0;
SELECT compare('SELECT count(f), sum(v), sum(d) FROM %s WHERE k BETWEEN 100 AND 39000');
RESET max_parallel_workers;
SET parallel_leader_participation = off;
SELECT compare('SELECT count(f), sum(v), sum(d) FROM %s WHERE k BETWEEN 100 AND 39000');
RESET parallel_leader_participation;
VACUUM ours;
SELECT compare('SELECT count(*), sum(v) FROM %s WHERE k BETWEEN 100 AND 39000');

DROP TABLE ours, theirs;
DROP FUNCTION compare;
