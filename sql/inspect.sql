--
-- A look inside an index: the metapage, pages, entries, the tree as rows and as pictures.
-- (Damaged pages, dead entries, mirrors and standbys: test/t/112_inspect.pl.)
--

-- a tree of one leaf: every column of every function, except what depends on sizes and the mirror
CREATE TABLE small (k int4, v text, n int8, f float8) WITH (autovacuum_enabled = off);
INSERT INTO small VALUES (3, 'three', 30, 0.5), (1, 'one', 10, NULL), (NULL, 'none', NULL, 'NaN');
CREATE INDEX small_k ON small USING gpubtree (k) INCLUDE (n, f);
\set ECHO all
SELECT root, level, descending, nulls_first, fault FROM gpubtree_metap('small_k');
SELECT type, level, live_items, dead_items, page_size, left_link, right_link, high_key, flags, fault
FROM gpubtree_page_stats('small_k', 1);
SELECT itemoffset, key, htid, dead, child, included FROM gpubtree_page_items('small_k', 1);
SELECT itemlen * 3 - 1 = length(data) AS all_bytes FROM gpubtree_page_items('small_k', 1);
SELECT level, number, block, left_link, right_link, entries, dead, low_key, high_key, flags, fault
FROM gpubtree_tree('small_k');
SELECT version, tree_level, index_size, root_block_no, internal_pages, leaf_pages, empty_pages, deleted_pages,
	leaf_fragmentation, damaged_pages
FROM gpubtree_bloat('small_k');
-- no entry at all
CREATE TABLE empty (k date);
CREATE INDEX empty_k ON empty USING gpubtree (k);
SELECT type, live_items FROM gpubtree_page_stats('empty_k', 1);
SELECT * FROM gpubtree_page_items('empty_k', 1);
SELECT level, number, block, entries, fill, low_key, high_key FROM gpubtree_tree('empty_k');
SELECT leaf_pages, empty_pages, avg_leaf_density, leaf_fragmentation FROM gpubtree_bloat('empty_k');

\set ECHO none
-- keys as the type writes them, in either order, with NULLs at either end
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN year AS int2;
CREATE TABLE typed (d date, t timestamptz, f float8, b boolean, y year, m mood, r regclass);
INSERT INTO typed VALUES
	('2024-02-29', '2024-02-29 12:34:56.789+00', -0.5, true, 1999, 'happy', 'pg_class'),
	('infinity', '-infinity', 'NaN', false, -1, 'sad', 'pg_type'),
	(NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	('0001-01-01', '1970-01-01 00:00:00+00', '-Infinity', true, 0, NULL, NULL);
CREATE INDEX typed_d ON typed USING gpubtree (d DESC) INCLUDE (m, r, b);
CREATE INDEX typed_t ON typed USING gpubtree (t NULLS FIRST);
CREATE INDEX typed_f ON typed USING gpubtree (f DESC NULLS LAST);
CREATE INDEX typed_y ON typed USING gpubtree (y) INCLUDE (t, f);
CREATE INDEX typed_part ON typed USING gpubtree (b) WHERE b;
\set ECHO all
SELECT i, descending, nulls_first, itemoffset, key, included
FROM unnest(ARRAY['typed_d', 'typed_t', 'typed_f', 'typed_y', 'typed_part']) i,
	gpubtree_metap(i::regclass), gpubtree_page_items(i::regclass, root);

-- three levels: what each function says agrees with what the others say
CREATE TABLE large (k int8, c1 int8, c2 int8, c3 int8, c4 int8, c5 int8, c6 int8) WITH (autovacuum_enabled = off);
INSERT INTO large SELECT (i * 7919) % 20011, i FROM generate_series(1, 20000) i;
INSERT INTO large SELECT NULL, i FROM generate_series(1, 1000) i;
CREATE INDEX large_k ON large USING gpubtree (k DESC) INCLUDE (c1, c2, c3, c4, c5, c6) WITH (fillfactor = 10);
INSERT INTO large SELECT 42 FROM generate_series(1, 3000) i;
CREATE TEMPORARY TABLE tree AS SELECT * FROM gpubtree_tree('large_k', 100000);
SELECT level, count(*) > 1 AS several, min(number), max(number) = count(*) AS numbered,
	count(*) FILTER (WHERE left_link IS NULL), count(*) FILTER (WHERE right_link IS NULL),
	count(*) FILTER (WHERE low_key IS NULL), count(*) FILTER (WHERE high_key IS NULL), count(fault) AS faults
FROM tree GROUP BY level ORDER BY level DESC;
SELECT sum(entries) = (SELECT count(*) FROM large) AS all_rows FROM tree WHERE level = 0;
SELECT count(*) AS broken_links FROM tree a JOIN tree b USING (level)
WHERE b.number = a.number + 1 AND (a.right_link, b.left_link, a.high_key)
	IS DISTINCT FROM (b.block, a.block, b.low_key);
SELECT sum(entries) FILTER (WHERE level > 0) = count(*) - 1 AS downlinks FROM tree;
SELECT count(*) AS differences FROM tree t, gpubtree_page_stats('large_k', t.block) s
WHERE (s.level, s.live_items + s.dead_items, s.left_link, s.right_link, s.high_key, s.flags)
	IS DISTINCT FROM (t.level, t.entries, t.left_link, t.right_link, t.high_key, t.flags);
SELECT s.type, count(DISTINCT t.level) FROM tree t, gpubtree_page_stats('large_k', t.block) s GROUP BY 1 ORDER BY 1;
-- an inner page leads to the pages of the next level
SELECT count(*) AS wrong_children
FROM tree p, gpubtree_page_items('large_k', p.block) i LEFT JOIN tree c ON c.block = i.child
WHERE p.level > 0 AND (c.level, c.low_key) IS DISTINCT FROM (p.level - 1,
	CASE WHEN i.key IS NOT NULL OR i.htid IS NOT NULL
		THEN concat_ws(' ', coalesce(i.key, 'NULL'), i.htid) END);
SELECT count(key) AS keys, count(*) FILTER (WHERE key = '42') AS answers
FROM tree t, gpubtree_page_items('large_k', t.block) WHERE t.level = 0;
SELECT b.tree_level = (SELECT max(level) FROM tree) AS level,
	b.root_block_no = (SELECT block FROM tree ORDER BY level DESC LIMIT 1) AS root,
	b.internal_pages = (SELECT count(*) FROM tree WHERE level > 0) AS inner_pages,
	b.leaf_pages = (SELECT count(*) FROM tree WHERE level = 0) AS leaves,
	b.index_size = pg_relation_size('large_k') AS size,
	b.empty_pages, b.deleted_pages, b.damaged_pages,
	abs(b.avg_leaf_density - (SELECT avg(fill) FROM tree WHERE level = 0)) < 0.1 AS density,
	b.leaf_fragmentation > 0 AS fragmentation
FROM gpubtree_bloat('large_k') b;
-- no more than asked for
SELECT level, count(*) FROM gpubtree_tree('large_k', 2) GROUP BY 1 ORDER BY 1;
SELECT count(*) > 0 AS drawn, count(*) = (SELECT count(*) FROM gpubtree_tree('large_k', 5)) AS as_asked
FROM regexp_matches(gpubtree_tree_svg('large_k', 5), '>block \d+<', 'g');
SELECT count(*) = (SELECT count(*) FROM gpubtree_tree('large_k', 5)) AS as_asked
FROM regexp_matches(gpubtree_tree_dot('large_k', 5), 'label="block \d+', 'g');
SELECT gpubtree_tree('large_k', 0);
SELECT gpubtree_tree_dot('large_k', -1);
SELECT gpubtree_tree_svg('large_k', 1000000);

-- pictures: DOT, without the mirror's colours, and SVG
CREATE TABLE "a ""b"" <c> \ & d" (k int4);
INSERT INTO "a ""b"" <c> \ & d" VALUES (1), (2);
CREATE INDEX "i ""b"" <c> \ & d" ON "a ""b"" <c> \ & d" USING gpubtree (k);
SELECT regexp_replace(gpubtree_tree_dot('"i ""b"" <c> \ & d"'), 'fillcolor="#\w+"|, \d+ %(\\ncurrent)?', '', 'g');
SELECT svg LIKE '<svg %<title>i "b" &lt;c&gt; \\ &amp; d</title>%</svg>_' AS is_svg
FROM gpubtree_tree_svg('"i ""b"" <c> \ & d"') svg;

-- which block?
SELECT gpubtree_page_stats('small_k', 0);
SELECT gpubtree_page_items('small_k', 0);
SELECT gpubtree_page_stats('small_k', 2);
SELECT gpubtree_page_items('small_k', -1);
SELECT gpubtree_page_stats('small_k', 4294967297);
-- of which index?
CREATE INDEX small_btree ON small (k);
CREATE TABLE parts (k int) PARTITION BY RANGE (k);
CREATE INDEX parts_k ON parts USING gpubtree (k);
SELECT gpubtree_metap('small_btree');
SELECT gpubtree_tree('small');
SELECT gpubtree_bloat('parts_k');
SELECT gpubtree_tree_svg('parts_k');
SELECT gpubtree_page_stats(1, 1);
SELECT gpubtree_metap(NULL), gpubtree_tree_dot(NULL);

-- superusers, and those to whom the functions are granted
CREATE ROLE regress_gpubtree_owner;
CREATE ROLE regress_gpubtree_monitor;
GRANT pg_stat_scan_tables TO regress_gpubtree_monitor;
ALTER TABLE small OWNER TO regress_gpubtree_owner;
SET ROLE regress_gpubtree_owner;
SELECT gpubtree_metap('small_k');
SELECT gpubtree_page_stats('small_k', 1);
SELECT gpubtree_page_items('small_k', 1);
SELECT gpubtree_tree('small_k');
SELECT gpubtree_tree_dot('small_k');
SELECT gpubtree_tree_svg('small_k');
SELECT gpubtree_bloat('small_k');
SET ROLE regress_gpubtree_monitor;
SELECT leaf_pages FROM gpubtree_bloat('small_k');
SELECT gpubtree_page_items('small_k', 1);
RESET ROLE;
GRANT EXECUTE ON FUNCTION gpubtree_page_items TO regress_gpubtree_monitor;
SET ROLE regress_gpubtree_monitor;
SELECT key FROM gpubtree_page_items('small_k', 1);
RESET ROLE;
REVOKE EXECUTE ON FUNCTION gpubtree_page_items FROM regress_gpubtree_monitor;

DROP TABLE small, empty, typed, large, parts, "a ""b"" <c> \ & d";
DROP TYPE mood;
DROP DOMAIN year;
DROP ROLE regress_gpubtree_owner, regress_gpubtree_monitor;
