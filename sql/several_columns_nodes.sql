-- Which nodes leave an index with several key columns to PostgreSQL's own plans: the same queries over
-- an index on the first of the columns alone, which they take, and over one on both.  Whoever
-- teaches a node several columns finds its name here.
CREATE FUNCTION nodes_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE nodes text; line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		nodes := concat_ws(' ', nodes, substring(line FROM 'Gpubtree\w+'));
	END LOOP;
	RETURN coalesce(nullif(trim(nodes), ''), 'none');
END $$;
CREATE TABLE one_key (ts timestamptz NOT NULL, tenant int4 NOT NULL, v int4);
INSERT INTO one_key SELECT timestamptz '2026-01-01' + i / 1000 * interval '1 hour', i % 5, i FROM generate_series(1, 50000) i;
CREATE TABLE two_keys AS SELECT * FROM one_key;
ALTER TABLE two_keys ALTER ts SET NOT NULL, ALTER tenant SET NOT NULL;
CREATE INDEX ON one_key USING gpubtree (ts) INCLUDE (tenant, v);
CREATE INDEX ON two_keys USING gpubtree (ts, tenant) INCLUDE (v);
VACUUM ANALYZE one_key, two_keys;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_nestloop = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
\set ECHO all

SELECT n, node, nodes_of(format(query, 'one_key')) AS one_key, nodes_of(format(query, 'two_keys')) AS two_keys FROM (VALUES
	(4, 'GpubtreeScan, each key once', 'SELECT DISTINCT ON (ts) ts, v FROM %s ORDER BY ts'),
	(5, 'GpubtreeScan, the last of each group', 'SELECT DISTINCT ON (tenant) tenant, ts, v FROM %s ORDER BY tenant, ts DESC'),
	-- and those that take it
	(11, 'GpubtreeAggregate', 'SELECT count(*), sum(v) FROM %s WHERE ts > ''2026-01-02'''),
	(12, 'GpubtreeScan', 'SELECT v FROM %s WHERE ts > ''2026-01-02'' AND v %% 7 = 3'),
	(13, 'GpubtreeJoin', 'SELECT g, v FROM generate_series(timestamptz ''2026-01-01'', ''2026-01-03'', ''1 hour'') g JOIN %s ON ts = g'),
	(14, 'GpubtreeJoinAggregate', 'SELECT count(*), sum(v) FROM generate_series(timestamptz ''2026-01-01'', ''2026-01-03'', ''1 hour'') g JOIN %s ON ts = g'),
	(15, 'GpubtreeRangeAggregate', 'SELECT g, count(*), sum(v) FROM generate_series(timestamptz ''2026-01-01'', ''2026-01-03'', ''1 hour'') g '
		'JOIN %s ON ts >= g AND ts < g + interval ''1 hour'' GROUP BY g'),
	(16, 'GpubtreeSubquery', 'SELECT g, (SELECT sum(v) FROM %s WHERE ts = g) FROM generate_series(timestamptz ''2026-01-01'', ''2026-01-03'', ''1 hour'') g'),
	(17, 'GpubtreeRank', 'SELECT ts FROM %s ORDER BY ts OFFSET 40000 LIMIT 3'),
	(18, 'GpubtreePercentile', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ts) FROM %s'),
	(19, 'GpubtreeBucketAggregate', 'SELECT date_trunc(''hour'', ts), count(*), sum(v) FROM %s GROUP BY 1')
	) q (n, node, query) ORDER BY n;
DROP TABLE one_key, two_keys;
DROP FUNCTION nodes_of;
