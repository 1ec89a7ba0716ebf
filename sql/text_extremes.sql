-- min() and max() of texts in INCLUDE, whose codes have another order than they.

CREATE DOMAIN title AS text;
CREATE TABLE sold (k integer, site smallint, product text, note varchar(20), shop char(5),
	loose bpchar, named title, raw bytea, v integer);
INSERT INTO sold
SELECT i, i % 7, CASE WHEN i % 10 > 0 THEN (ARRAY['Übel', 'übel', 'zebra', 'Zebra', 'a b', 'ab', 'a-b',
		'AB', 'ä', 'z'])[1 + i * 7919 % 10] || ' ' || i * 31 % 57 END,
	repeat('n', i % 6) || ' ', 's' || i * 13 % 41, 'l' || repeat(' ', i % 3), 'title ' || i * 17 % 91,
	decode(md5((i % 90)::text), 'hex'), i % 100
FROM generate_series(1, 20000) i;
CREATE INDEX sold_k ON sold USING gpubtree (k) INCLUDE (site, product, note, shop, loose, named, raw, v);
-- Values that no row has, and some that rows have which are gone
BEGIN;
INSERT INTO sold VALUES (1, 1, '', '', '', '', '', '', 1), (1, 1, 'žžž', 'žžž', 'žžž', 'žžž', 'žžž', '\xff', 1);
ROLLBACK;
INSERT INTO sold VALUES (20001, 1, '!', '!', '!', '!', '!', '', 1), (20002, 1, 'žž', 'žž', 'žž', 'žž', 'žž', '\xff', 1);
DELETE FROM sold WHERE k > 20000;
VACUUM ANALYZE sold;
SET enable_seqscan = off;
\i :abs_srcdir/sql/common/same_rows.sql
\set ECHO all

EXPLAIN (COSTS OFF)
SELECT site, min(product), max(product) FILTER (WHERE v < 10), min(note), sum(v)
FROM sold WHERE k < 15000 GROUP BY site ORDER BY site;
SELECT site, min(product COLLATE "C"), max(product COLLATE "C") FILTER (WHERE v < 10),
	min(note COLLATE "C"), sum(v)
FROM sold WHERE k < 15000 GROUP BY site ORDER BY site;
SELECT min(product COLLATE "C"), max(product COLLATE "C"), min(product COLLATE "de-x-icu"),
	max(product COLLATE "de-x-icu"), pg_typeof(min(product)), pg_typeof(min(shop)), '<' || max(shop) || '>'
FROM sold WHERE k > 7;
\set ECHO none
SELECT query, same_rows('SELECT ' || query) FROM (VALUES
	('min(product) FROM sold WHERE k > 7'),
	('min(product), max(product), count(product), count(*), sum(v) FROM sold WHERE k > 7'),
	('min(product COLLATE "C"), max(product COLLATE "en-x-icu") FROM sold WHERE k > 7'),
	('min(note), max(note), min(shop), max(shop) FROM sold WHERE k > 7'),
	('min(shop::text), max(shop COLLATE "de-x-icu") FROM sold WHERE k > 7'),
	('min(named), max(named) FROM sold WHERE k > 7'),
	('min(note::text || '''') FROM sold WHERE k > 7'),
	('max(upper(product)) FROM sold WHERE k > 7'),
	('min(DISTINCT product), max(DISTINCT shop), count(DISTINCT product) FROM sold WHERE k > 7'),
	('min(DISTINCT product ORDER BY product DESC), max(product ORDER BY product) FROM sold WHERE k > 7'),
	('max(product ORDER BY v) FROM sold WHERE k > 7'),
	('min(product) FILTER (WHERE v < 5), max(product) FILTER (WHERE v > 95 AND shop < ''s3'') '
	 'FROM sold WHERE k > 7'),
	('min(product) FILTER (WHERE v < 0), max(product) FILTER (WHERE v = 3) FROM sold WHERE k > 7'),
	('min(product), max(v) FROM sold WHERE k > 100000'),
	('min(product), max(v) FROM sold WHERE k > 7 AND product IS NULL'),
	('min(product), max(v) FROM sold WHERE k > 7 AND product LIKE ''a%'''),
	('min(product) FROM sold WHERE k = ANY (''{3, 4, 500, 501, 502}'')'),
	('min(product), max(note) FROM sold WHERE k < 5000 OR k > 15000 AND v = 7'),
	('site, min(product), max(product) FROM sold WHERE k > 7 GROUP BY site'),
	('site, shop, min(product), max(note), avg(v) FROM sold WHERE k > 7 GROUP BY site, shop'),
	('product, min(note), max(product) FROM sold WHERE k > 7 GROUP BY product'),
	('site, v / 10, min(shop) FROM sold WHERE k > 7 GROUP BY 1, 2'),
	('site, max(product) FROM sold WHERE k > 7 GROUP BY 1 HAVING min(product) < ''Z'' '
	 'AND max(note) > ''n'''),
	('site, shop, min(product), max(note), grouping(shop) FROM sold WHERE k > 7 '
	 'GROUP BY GROUPING SETS ((site), (shop), ())'),
	('site, min(product) FROM sold WHERE k > 100000 GROUP BY ROLLUP (site)'),
	('max(length(m)) FROM (SELECT min(product) AS m FROM sold WHERE k > 7 GROUP BY site OFFSET 0) s'),
	('percentile_disc(0.5) WITHIN GROUP (ORDER BY v), min(product) FROM sold WHERE k > 7'),
	-- by equality of different texts
	('min(loose), max(loose) FROM sold WHERE k > 7'),
	('min(note::bpchar) FROM sold WHERE k > 7'),
	('min(shop::bpchar) FROM sold WHERE k > 7')) q (query);
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SET gpubtree.explain_decisions = on;
\set ECHO all
SELECT min(product COLLATE no_case) IS NULL FROM sold WHERE k > 7;
SELECT min(loose) IS NULL FROM sold WHERE k > 7;
SELECT max(upper(product)) IS NULL FROM sold WHERE k > 7;
RESET gpubtree.explain_decisions;

-- The first row of a group in the order of a text, and rows in such an order, are sorted by core.
EXPLAIN (COSTS OFF) SELECT product, count(*) FROM sold WHERE k > 7 GROUP BY product ORDER BY product;
EXPLAIN (COSTS OFF) SELECT DISTINCT shop FROM sold WHERE k > 7 ORDER BY shop DESC;

-- For each row of an outer query, and where values come between two executions
CREATE TABLE ranges (a integer, b integer);
INSERT INTO ranges SELECT i * 100, i * 150 FROM generate_series(1, 20) i;
ANALYZE ranges;
SELECT same_rows('SELECT a, (SELECT min(product) FROM sold WHERE k BETWEEN a AND b) FROM ranges');
SELECT same_rows('SELECT a, m FROM ranges, LATERAL (SELECT max(product) AS m FROM sold '
	'WHERE k BETWEEN a AND b OFFSET 0) s');
PREPARE of_range(integer) AS SELECT min(product COLLATE "C"), max(shop) FROM sold WHERE k > $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_range(19000);
INSERT INTO sold (k, product, shop) VALUES (20003, ' ', 'zzz');
EXECUTE of_range(19000);
RESET plan_cache_mode;
-- A cursor, and a row that comes after its first ones
BEGIN;
DECLARE c CURSOR FOR SELECT site, min(product COLLATE "C") FROM sold WHERE k > 7 GROUP BY site
ORDER BY site;
FETCH 2 FROM c;
INSERT INTO sold (k, site, product) VALUES (20004, 3, '  ');
FETCH 2 FROM c;
ROLLBACK;

-- Who may execute what
CREATE ROLE nobody_of_texts;
GRANT SELECT ON sold TO nobody_of_texts;
REVOKE EXECUTE ON FUNCTION min(text) FROM PUBLIC;
SET ROLE nobody_of_texts;
EXPLAIN (COSTS OFF) SELECT min(product) FROM sold WHERE k > 7;
RESET ROLE;
GRANT EXECUTE ON FUNCTION min(text) TO PUBLIC;

DROP TABLE sold, ranges;
DROP FUNCTION same_rows;
DROP COLLATION no_case;
DROP DOMAIN title;
DROP ROLE nobody_of_texts;
