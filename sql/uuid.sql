-- uuid keys, which have 16 bytes: as core answers, in every order; nodes count and sum INCLUDE
-- columns over them; nobody takes such a key for a word.
CREATE FUNCTION u(i int) RETURNS uuid LANGUAGE sql IMMUTABLE AS
	$$SELECT (repeat(to_hex(i * 7 % 16), 8) || lpad(to_hex(i % 97), 8, '0') ||
			  repeat(to_hex(i % 5 * 3), 8) || lpad(to_hex(i * 31 % 1009), 8, '0'))::uuid$$;
CREATE TABLE uuids (id int, k uuid, v int);
INSERT INTO uuids SELECT i, CASE WHEN i % 23 > 0 THEN u(i) END, i FROM generate_series(1, 3000) i;
INSERT INTO uuids SELECT -i, CASE i % 2 WHEN 0 THEN '00000000-0000-0000-0000-000000000000'::uuid
	ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff' END, i FROM generate_series(1, 20) i;
CREATE INDEX uuids_v ON uuids USING gpubtree (v) INCLUDE (k);
\set ECHO all
SELECT gpubtree_check('uuids_v', true);

\set ECHO none
CREATE FUNCTION same(setting text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE ours text; theirs text;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true);
	EXECUTE format('SELECT string_agg(x::text, '','') FROM (%s) x', query) INTO ours;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true),
		set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
		set_config('gpubtree.enabled', 'off', true);
	EXECUTE format('SELECT string_agg(x::text, '','') FROM (%s) x', query) INTO theirs;
	PERFORM set_config('enable_indexscan', 'on', true), set_config('enable_indexonlyscan', 'on', true),
		set_config('enable_bitmapscan', 'on', true), set_config('gpubtree.enabled', 'on', true);
	RETURN CASE WHEN ours IS NOT DISTINCT FROM theirs THEN 'same' ELSE setting || ': ' || query END;
END $$;

CREATE FUNCTION compare(setting text) RETURNS TABLE (outcome text, n bigint) LANGUAGE sql AS $$
SELECT same(setting, query), count(*) FROM (
	SELECT format('SELECT k, v FROM uuids WHERE k %s %L ORDER BY k %s, v', op, u(i), d)
	FROM unnest('{<,<=,=,>=,>}'::text[]) op, unnest('{ASC,DESC}'::text[]) d,
		unnest('{1,77,1000,2999}'::int[]) i
	UNION ALL SELECT format('SELECT count(*), sum(v), count(k) FROM uuids WHERE k %s %L', op, e)
	FROM unnest('{<,<=,=,>=,>}'::text[]) op,
		unnest('{00000000-0000-0000-0000-000000000000,7fffffff-ffff-ffff-ffff-ffffffffffff,
			80000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}'::uuid[]) e
	UNION ALL SELECT 'SELECT k, v FROM uuids WHERE k = ANY (ARRAY(SELECT u(i) FROM generate_series(1, 200) i)) ORDER BY k, v'
	UNION ALL SELECT 'SELECT count(*), sum(v) FROM uuids WHERE k = ANY (ARRAY(SELECT u(i) FROM generate_series(1, 900) i))'
	UNION ALL SELECT 'SELECT count(*), sum(v) FROM uuids WHERE k IS NULL'
	UNION ALL SELECT 'SELECT k FROM uuids WHERE k IS NOT NULL ORDER BY k DESC'
	UNION ALL SELECT 'SELECT k FROM uuids ORDER BY k NULLS FIRST'
	UNION ALL SELECT 'SELECT k FROM uuids ORDER BY k OFFSET 2000 LIMIT 3'
	UNION ALL SELECT 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM uuids'
	UNION ALL SELECT 'SELECT g, s FROM generate_series(1, 50) g, LATERAL (SELECT sum(v) s FROM uuids WHERE k >= u(g) AND k < u(g + 1)) x ORDER BY g'
	UNION ALL SELECT 'SELECT count(*), sum(a.v) FROM uuids a JOIN (SELECT u(g) k FROM generate_series(1, 500) g) b ON a.k = b.k') q (query)
GROUP BY 1 ORDER BY 1 $$;

CREATE INDEX uuids_k ON uuids USING gpubtree (k) INCLUDE (v);
\set ECHO all
SELECT gpubtree_check('uuids_k', true);
VACUUM ANALYZE uuids;
SELECT * FROM compare('ascending');
DROP INDEX uuids_k;
CREATE INDEX uuids_k ON uuids USING gpubtree (k DESC) INCLUDE (v);
SELECT gpubtree_check('uuids_k', true);
SELECT * FROM compare('descending');
DROP INDEX uuids_k;
CREATE INDEX uuids_k ON uuids USING gpubtree (k NULLS FIRST) INCLUDE (v);
INSERT INTO uuids SELECT i, u(i), i FROM generate_series(3001, 6000) i;
DELETE FROM uuids WHERE id % 3 = 0;
VACUUM uuids;
SELECT gpubtree_check('uuids_k', true);
SELECT * FROM compare('nulls first, after inserts');

-- on a device, if there is one
SET gpubtree.batch_setup_cost = 0;
SELECT * FROM compare('on a device');
RESET gpubtree.batch_setup_cost;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'uuid_ops' AND opcmethod =
	(SELECT oid FROM pg_am WHERE amname = 'gpubtree');

\set ECHO none
-- The default fill factor is 92 for a lone key of 16 bytes and 90 for others, in a build and where
-- keys ascend; what is set is heeded, and RESET brings the default back.
CREATE TABLE filled (a uuid, b numeric(38, 0), c bigint NOT NULL, d timestamptz);
INSERT INTO filled SELECT lpad(to_hex(i), 32, '0')::uuid, i, i, timestamptz '2024-01-01' + i * interval '1 second'
	FROM generate_series(1, 20000) i;
CREATE FUNCTION most_entries(index text) RETURNS int LANGUAGE sql AS $$
	SELECT max(entries) FROM gpubtree_tree(index::regclass) WHERE level = 0
$$;
CREATE INDEX filled_a ON filled USING gpubtree (a);
CREATE INDEX filled_b ON filled USING gpubtree (b);
CREATE INDEX filled_c ON filled USING gpubtree (c, d);
CREATE INDEX filled_90 ON filled USING gpubtree (a) WITH (fillfactor = 90);
\set ECHO all
SELECT most_entries('filled_a') AS a, most_entries('filled_b') AS b, most_entries('filled_c') AS c,
	most_entries('filled_90') AS ninety;
ALTER INDEX filled_90 RESET (fillfactor);
REINDEX INDEX filled_90;
SELECT most_entries('filled_90') AS reset;
ALTER INDEX filled_90 SET (fillfactor = 50);
REINDEX INDEX filled_90;
SELECT most_entries('filled_90') AS fifty;
TRUNCATE filled;
INSERT INTO filled SELECT lpad(to_hex(i), 32, '0')::uuid, i, i, timestamptz '2024-01-01' + i * interval '1 second'
	FROM generate_series(1, 2000) i;
SELECT entries FROM gpubtree_tree('filled_a') WHERE level = 0 AND number = 2;
SELECT entries FROM gpubtree_tree('filled_c') WHERE level = 0 AND number = 2;
ALTER INDEX filled_a SET (fillfactor = -1);
DROP TABLE filled;
DROP FUNCTION most_entries;

DROP TABLE uuids;
DROP FUNCTION u, same, compare;
