--
-- EXPLAIN's line "Gave Up" of nodes that begin anew for each outer row: it is shown if any execution
-- left its rows to another way, not only if the last one did.  (GpubtreeAggregate: moments.sql.)
--
SET gpubtree.enable_device = off;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET enable_material = off;
SET enable_memoize = off;

-- where g is 1 the sum of squares of f is out of range, and in part 1 that of h
CREATE TABLE again AS
SELECT i::int8 AS k, i % 4 AS g, (CASE i % 4 WHEN 1 THEN 1e-300 * i ELSE i END)::float8 AS f,
	(CASE i / 100 WHEN 1 THEN 1e-300 * i ELSE i END)::float8 AS h
FROM generate_series(1, 400) i;
CREATE INDEX again_k ON again USING gpubtree (k) INCLUDE (g, f, h);
CREATE TABLE part AS SELECT i AS id, i * 100::int8 AS lo, i * 100 + 99::int8 AS hi FROM generate_series(0, 3) i;
VACUUM ANALYZE again;
VACUUM ANALYZE part;

CREATE FUNCTION gave_up(query text, also text DEFAULT 'Gave Up') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ ('Gpubtree\w+\)|Append|Subplans Removed|' || also) THEN
			RETURN NEXT btrim(substring(line FROM 'Gpubtree\w+|(?:Merge )?Append|Subplans Removed.*|' || also || '.*'));
		END IF;
	END LOOP;
END $$;
\set ECHO all

-- GpubtreeBucketAggregate: none, one of several executions, the last one
SELECT gave_up('SELECT o, q.* FROM generate_series(2, 3) o, LATERAL (SELECT k / 100 AS b, stddev(f) FROM again WHERE g = o GROUP BY 1 OFFSET 0) q');
SELECT gave_up('SELECT o, q.* FROM generate_series(0, 2) o, LATERAL (SELECT k / 100 AS b, stddev(f) FROM again WHERE g = o GROUP BY 1 OFFSET 0) q');
SELECT gave_up('SELECT o, q.* FROM generate_series(0, 1) o, LATERAL (SELECT k / 100 AS b, stddev(f) FROM again WHERE g = o GROUP BY 1 OFFSET 0) q');
-- GpubtreeRangeAggregate
SELECT gave_up('SELECT o, q.* FROM generate_series(2, 3) o, LATERAL (SELECT id, stddev(h) FROM part JOIN again ON k BETWEEN lo AND hi WHERE id = o GROUP BY 1 OFFSET 0) q');
SELECT gave_up('SELECT o, q.* FROM generate_series(0, 2) o, LATERAL (SELECT id, stddev(h) FROM part JOIN again ON k BETWEEN lo AND hi WHERE id = o GROUP BY 1 OFFSET 0) q');
SELECT gave_up('SELECT o, q.* FROM generate_series(0, 1) o, LATERAL (SELECT id, stddev(h) FROM part JOIN again ON k BETWEEN lo AND hi WHERE id = o GROUP BY 1 OFFSET 0) q');
-- GpubtreeScan: an array of more values than a program takes
SELECT gave_up(format('SELECT q.* FROM (VALUES (0, %1$L::int[]), (1, %1$L)) o(n, a), LATERAL (SELECT k FROM again WHERE g = ANY (o.a) AND k < 300 OFFSET 0) q', ARRAY[1, 2]));
SELECT gave_up(format('SELECT q.* FROM (VALUES (0, %L::int[]), (1, %L)) o(n, a), LATERAL (SELECT k FROM again WHERE g = ANY (o.a) AND k < 300 OFFSET 0) q',
	(SELECT array_agg(i) FROM generate_series(1, 300) i), ARRAY[1, 2]));

-- What core would not evaluate is guarded: nothing is given up
SELECT gave_up('SELECT count(*) FROM again WHERE coalesce(g, 10 / (g - g)) > 1');

\set ECHO none
-- No row is given out before it is certain that all have an answer; an ordinary plan that took over begins
-- anew for each outer row; counters are of all executions.
CREATE TABLE many AS SELECT i AS id, CASE WHEN i > 3990 THEN 100 ELSE 300 END::int8 AS lo FROM generate_series(1, 4000) i;
ALTER TABLE many ADD PRIMARY KEY (id);
ANALYZE many;
\set ECHO all
SELECT count(*), sum(n), count(s) FROM (SELECT id, count(h) AS n, stddev(h) AS s FROM many JOIN again ON k BETWEEN lo AND lo + 3 GROUP BY id OFFSET 0) q;
SELECT o, count(s) FROM generate_series(1, 2) o LEFT JOIN (SELECT stddev(f) AS s FROM again WHERE g = 1 OFFSET 0) q ON true GROUP BY 1;
SELECT o, count(s) FROM generate_series(1, 2) o LEFT JOIN (SELECT k / 100, stddev(f) AS s FROM again WHERE g = 1 GROUP BY 1 OFFSET 0) q ON true GROUP BY 1;
SELECT o, count(s) FROM generate_series(1, 2) o LEFT JOIN (SELECT id, stddev(h) AS s FROM part JOIN again ON k BETWEEN lo AND hi GROUP BY 1 OFFSET 0) q ON true GROUP BY 1;
SELECT o, count(s) FROM generate_series(1, 2) o LEFT JOIN (SELECT stddev(h) AS s FROM part JOIN again ON k BETWEEN lo AND hi OFFSET 0) q ON true GROUP BY 1;
SELECT gave_up('SELECT o, q.* FROM generate_series(1, 3) o, LATERAL (SELECT count(*), sum(k) FROM again WHERE g = o OFFSET 0) q', 'Matches');

\set ECHO none
-- The ordinary plan begins once, whoever wanted it: partitions that are pruned when an Append starts, and
-- again for each outer row, would be missing from one that begins twice.
CREATE TABLE pruned (b int, lo int8, hi int8) PARTITION BY LIST (b);
CREATE TABLE pruned_1 PARTITION OF pruned FOR VALUES IN (1);
CREATE TABLE pruned_2 PARTITION OF pruned FOR VALUES IN (2);
CREATE TABLE pruned_3 PARTITION OF pruned FOR VALUES IN (3);
CREATE INDEX ON pruned (lo);
INSERT INTO pruned SELECT i % 3 + 1, 100 + i, 110 + i FROM generate_series(0, 29) i;
ANALYZE pruned;
SET plan_cache_mode = force_generic_plan;
SET enable_nestloop = off;
PREPARE appended(int) AS
SELECT x, (SELECT count(h) + 0 * stddev(h) FROM pruned JOIN again ON k BETWEEN lo AND hi WHERE b >= $1 AND b <= x) FROM generate_series(1, 3) x;
\set ECHO all
SELECT gave_up('EXECUTE appended(2)');
EXECUTE appended(2);
SET enable_hashagg = off;
SET enable_sort = off;
SET enable_indexscan = on;
PREPARE merged(int) AS
SELECT x, (SELECT sum(n) FROM (SELECT lo, count(h) + 0 * stddev(h) AS n FROM pruned JOIN again ON k BETWEEN lo AND hi
	WHERE b >= $1 AND b <= x GROUP BY lo OFFSET 0) q) FROM generate_series(1, 3) x;
SELECT gave_up('EXECUTE merged(2)');
EXECUTE merged(2);

\set ECHO none
-- EXPLAIN counts what all executions did, though what answers by a program ends with each.
RESET enable_nestloop;
CREATE FUNCTION matches(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Gpubtree\w+\)|Matches' THEN
			RETURN NEXT btrim(substring(line FROM 'Gpubtree\w+|Matches.*'));
		END IF;
	END LOOP;
END $$;
\set ECHO all
SELECT matches(format('SELECT o, q.* FROM generate_series(0, 3) o, LATERAL (%s OFFSET 0) q', query)) FROM unnest(ARRAY[
	'SELECT count(*), sum(f) FROM again WHERE g = o AND k < 300',
	'SELECT k / 100, count(*) FROM again WHERE g = o AND k < 300 GROUP BY 1',
	'SELECT id, count(*) FROM part JOIN again ON k BETWEEN lo AND hi WHERE g = o AND id < 3 GROUP BY 1',
	'SELECT id, f FROM part JOIN again ON k = lo + 1 WHERE g = o']) query;

\set ECHO none
-- What was kept of batches before is dropped when a later one has no answer: each group comes once.
RESET enable_hashagg;
CREATE TABLE later AS SELECT i::int8 AS k, (CASE WHEN i > 300 THEN 1e-300 * i ELSE i END)::float8 AS h FROM generate_series(1, 400) i;
CREATE INDEX later_k ON later USING gpubtree (k) INCLUDE (h);
CREATE TABLE steps (id int PRIMARY KEY, lo int8, hi int8);
INSERT INTO steps SELECT i, i * 4, i * 4 + 3 FROM generate_series(0, 100) i;
VACUUM ANALYZE later;
VACUUM ANALYZE steps;
\set ECHO all
SELECT gave_up('SELECT id, count(h), stddev(h) FROM steps JOIN later ON k BETWEEN lo AND hi GROUP BY id');
SELECT count(*), sum(n), count(s) FROM (SELECT id, count(h) AS n, stddev(h) AS s FROM steps JOIN later ON k BETWEEN lo AND hi GROUP BY id OFFSET 0) q;
SELECT gave_up('SELECT k / 4, count(h), stddev(h) FROM later GROUP BY 1');
SELECT count(*), sum(n), count(s) FROM (SELECT k / 4, count(h) AS n, stddev(h) AS s FROM later GROUP BY 1 OFFSET 0) q;
-- and all of them come again if the node begins anew, with the same parameters
SELECT n, n > ALL (SELECT count(h) + 0 * coalesce(stddev(h), 0) FROM steps JOIN later ON k BETWEEN lo AND hi GROUP BY id),
	n > ALL (SELECT count(h) + 0 * coalesce(stddev(h), 0) FROM later GROUP BY k / 4),
	n > ALL (SELECT count(h) + 0 * coalesce(stddev(h), 0) FROM later GROUP BY k % 4 = 1) FROM (VALUES (500), (3)) v (n);

DROP TABLE again, part, many, pruned, later, steps;
DROP FUNCTION gave_up, matches;
