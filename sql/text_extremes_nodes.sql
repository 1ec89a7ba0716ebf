-- min() and max() of texts in INCLUDE by nodes whose programs put each code below its rank.

CREATE DOMAIN title AS text;
CREATE TABLE sold (t timestamp, k integer, site smallint, product text, note varchar(20), shop char(5),
	loose bpchar, named title, raw bytea, v integer);
INSERT INTO sold
SELECT CASE WHEN i % 500 > 0 THEN timestamp '2026-01-01' + i * interval '14 min' END, i, i % 7,
	CASE WHEN i % 10 > 0 THEN (ARRAY['Übel', 'übel', 'zebra', 'Zebra', 'a b', 'ab', 'a-b', 'AB', 'ä', 'z'])
		[1 + i * 7919 % 10] || ' ' || i * 31 % 37 END,
	repeat('n', i % 6) || ' ', 's' || i * 13 % 41, 'l' || repeat(' ', i % 3), 'title ' || i * 17 % 91,
	decode(md5((i % 30)::text), 'hex'), i % 100
FROM generate_series(1, 6000) i;
CREATE INDEX sold_t ON sold USING gpubtree (t) INCLUDE (site, product, note, shop, loose, named, raw, v);
CREATE INDEX sold_k ON sold USING gpubtree (k) INCLUDE (site, product, note, shop, loose, named, raw, v);
-- Values that no row has, and some that rows have which are gone
BEGIN;
INSERT INTO sold VALUES ('2026-01-02', 1, 1, '', '', '', '', '', '', 1),
	('2026-01-02', 1, 1, 'žžž', 'žžž', 'žžž', 'žžž', 'žžž', '\xff', 1);
ROLLBACK;
INSERT INTO sold VALUES ('2026-01-02', 20001, 1, '!', '!', '!', '!', '!', '', 1),
	('2026-01-02', 20002, 1, 'žž', 'žž', 'žž', 'žž', 'žž', '\xff', 1);
DELETE FROM sold WHERE k > 20000;
VACUUM ANALYZE sold;
-- Outer rows with ranges that overlap, that are empty, and without one
CREATE TABLE ranges (id integer, g integer, name text, a integer, b integer, p integer);
INSERT INTO ranges
SELECT i, i % 5, 'n' || i % 3, CASE WHEN i % 9 > 0 THEN i * 100 END, i * 100 + (i % 4) * 300 - 50, i
FROM generate_series(1, 50) i;
ANALYZE ranges;
SET enable_seqscan = off;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;

\i :abs_srcdir/sql/common/same_rows.sql
\set ECHO all

-- Buckets
EXPLAIN (COSTS OFF)
SELECT date_trunc('week', t), min(product), max(product COLLATE "C") FILTER (WHERE v < 10), sum(v)
FROM sold WHERE t < '2026-02-10' GROUP BY 1;
SELECT date_trunc('week', t), min(product COLLATE "C"), max(product COLLATE "de-x-icu"),
	max(product COLLATE "C") FILTER (WHERE v < 10), '<' || max(shop COLLATE "C") || '>', min(v)
FROM sold WHERE t < '2026-02-10' GROUP BY 1 ORDER BY 1;
\set ECHO none
SELECT query, same_rows('SELECT ' || query) FROM (VALUES
	('date_trunc(''day'', t), min(product), max(product) FROM sold WHERE t > ''2026-01-03'' GROUP BY 1'),
	('date_trunc(''day'', t), min(product), max(note), min(shop), max(named), count(*), sum(v) FROM sold GROUP BY 1'),
	('date_trunc(''day'', t), min(product COLLATE "C"), max(product COLLATE "de-x-icu") FROM sold GROUP BY 1'),
	('date_trunc(''day'', t), min(product) FILTER (WHERE v < 5), max(product) FILTER (WHERE v < 0), '
	 'max(shop) FILTER (WHERE shop < ''s2'' AND product IS NULL) FROM sold GROUP BY 1'),
	('date_trunc(''month'', t), site, max(product), min(shop), max(site) FROM sold GROUP BY 1, 2'),
	('date_trunc(''month'', t), product, max(note), count(*) FROM sold GROUP BY 1, 2'),
	('date_trunc(''month'', t), product, shop, count(*) FROM sold GROUP BY 1, 2, 3'),
	('date_bin(''10 days'', t, ''2026-01-01''), note, min(product), max(v) FROM sold GROUP BY 1, 2'),
	('date_trunc(''day'', t), min(product) FROM sold WHERE product LIKE ''a%'' GROUP BY 1'),
	('date_trunc(''day'', t), max(product) FROM sold GROUP BY 1 HAVING min(product) < ''ab'''),
	('date_trunc(''day'', t), max(product) FROM sold GROUP BY 1 ORDER BY 1 DESC LIMIT 3'),
	('date_trunc(''day'', t), max(product) FROM sold WHERE t > ''2030-01-01'' GROUP BY 1'),
	('date_trunc(''day'', t), max(product) FROM sold WHERE product IS NULL GROUP BY 1'),
	('date_trunc(''day'', t), max(upper(product)) FROM sold GROUP BY 1'),
	('date_trunc(''day'', t), max(CASE WHEN v < 9 THEN product END) FROM sold GROUP BY 1'),
	-- by equality of different texts
	('date_trunc(''day'', t), max(loose) FROM sold GROUP BY 1'),
	('date_trunc(''day'', t), max(note::bpchar) FROM sold GROUP BY 1'),
	('date_trunc(''day'', t), loose, count(*) FROM sold GROUP BY 1, 2')) q (query);

-- Ranges of outer rows, subqueries, joins on a key
RESET enable_seqscan;
-- So that the price of a single range, which depends on one heap page, decides nothing.
SET gpubtree.enable_aggregate = off;
-- Nor does the device's, which decides how the groups are made.
SET enable_hashagg = off;
\set ECHO all
EXPLAIN (COSTS OFF)
SELECT id, min(product), max(shop) FILTER (WHERE v < 50) FROM ranges JOIN sold ON k >= a AND k < b GROUP BY id;
RESET enable_hashagg;
EXPLAIN (COSTS OFF)
SELECT id, (SELECT max(product) FROM sold WHERE k BETWEEN a AND b) FROM ranges;
SELECT id, (SELECT max(product COLLATE "C") FROM sold WHERE k BETWEEN a AND b) FROM ranges
WHERE id < 6 ORDER BY id;
\set ECHO none
SELECT query, same_rows('SELECT ' || query) FROM (VALUES
	('id, min(shop::text) FROM ranges JOIN sold ON k >= a AND k < b GROUP BY id'),
	('id, min(product), max(product), count(*) FROM ranges JOIN sold ON k >= a AND k < b GROUP BY id'),
	('id, min(product), max(note COLLATE "C"), count(*) FROM ranges LEFT JOIN sold ON k >= a AND k < b GROUP BY id'),
	('g, min(product) FILTER (WHERE v < 20), max(shop) FROM ranges JOIN sold ON k >= a AND k < b GROUP BY g'),
	('name, g, min(product), sum(v) FROM ranges LEFT JOIN sold ON k >= a AND k < b AND product LIKE ''z%'' GROUP BY name, g'),
	('id, m, n FROM ranges, LATERAL (SELECT min(product) AS m, max(named) AS n FROM sold '
	 'WHERE k >= a AND k < b) s'),
	('id, m FROM ranges, LATERAL (SELECT max(product) AS m FROM sold WHERE k >= a AND k < b AND v > 90 '
	 'HAVING min(shop) < ''s2'') s'),
	('id, (SELECT min(product) FROM sold WHERE k BETWEEN a AND b) FROM ranges'),
	('id, (SELECT max(shop) || min(note) FROM sold WHERE k BETWEEN a AND b AND v < 30) FROM ranges'),
	('id, (SELECT min(product COLLATE "sv-x-icu") FILTER (WHERE site = 3) FROM sold WHERE k BETWEEN a AND b) FROM ranges'),
	('min(product), count(*) FROM ranges JOIN sold ON k = p'),
	('id, min(loose) FROM ranges JOIN sold ON k >= a AND k < b GROUP BY id'),
	('id, (SELECT max(loose) FROM sold WHERE k BETWEEN a AND b) FROM ranges')) q (query);

-- Joins on a key under aggregates: keys that come several times, that no row has, and NULL
RESET gpubtree.enable_aggregate;
\set ECHO all
SELECT set_config(name, 'off', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name;
CREATE TABLE wanted (w integer, g integer);
INSERT INTO wanted SELECT CASE WHEN i % 11 > 0 THEN i * 7919 % 15000 - 1000 END, i % 9 FROM generate_series(1, 9000) i;
INSERT INTO wanted SELECT * FROM wanted WHERE w % 5 = 0;
ANALYZE wanted;
EXPLAIN (COSTS OFF)
SELECT min(product), max(product COLLATE "C") FILTER (WHERE v < 10), sum(v) FROM wanted JOIN sold ON k = w;
SELECT min(product COLLATE "C"), max(product COLLATE "C"), min(product COLLATE "de-x-icu"),
	max(product COLLATE "de-x-icu") FILTER (WHERE v < 10), '<' || max(shop COLLATE "C") || '>', sum(v), count(*)
FROM wanted JOIN sold ON k = w;
\set ECHO none
CREATE TABLE joined (number serial, query text);
INSERT INTO joined (query) VALUES
	('min(product), max(product) FROM wanted JOIN sold ON k = w'),
	('min(product COLLATE "C"), max(note), min(shop), count(*), avg(v) FROM wanted JOIN sold ON k = w'),
	('min(named), max(named COLLATE "sv-x-icu"), count(product) FROM wanted JOIN sold ON k = w'),
	('min(product) FILTER (WHERE v < 5), max(shop) FILTER (WHERE site = 3) FROM wanted JOIN sold ON k = w'),
	('min(product) FILTER (WHERE v < 0), max(shop) FILTER (WHERE v IS NULL) FROM wanted JOIN sold ON k = w'),
	('min(note), min(v) FILTER (WHERE site > 4), count(*) FILTER (WHERE v = 3) FROM wanted JOIN sold ON k = w'),
	-- no outer row, none with a key that a row has, NULL in all rows that join
	('min(product), max(shop), count(*) FROM wanted JOIN sold ON k = w WHERE g + 0 > 100'),
	('min(product), max(shop), count(*) FROM wanted JOIN sold ON k = w WHERE -w > 0'),
	('min(product), max(shop), count(*) FROM wanted JOIN sold ON k = w WHERE w % 10 < 1'),
	-- outer sides that a plan has only once
	('min(product), max(shop) FROM (SELECT DISTINCT w FROM wanted) d JOIN sold ON k = w'),
	('min(product), max(shop) FROM (SELECT w FROM wanted ORDER BY w LIMIT 6000) d JOIN sold ON k = w'),
	('g, (SELECT min(product) FROM (SELECT w FROM wanted WHERE abs(wanted.g - r.g) < 1 OFFSET 0) d '
	 'JOIN sold ON k = w) FROM ranges r WHERE id < 9'),
	-- the node of ranges: a condition, HAVING, an outer join, a constant known when it is executed,
	-- a condition on texts, more orders than are sure to find room, a step that may fault
	('max(product) FROM wanted JOIN sold ON k = w WHERE v < 50'),
	('max(product) FROM wanted JOIN sold ON k = w HAVING min(shop) < ''s2'''),
	('max(product), count(*) FROM wanted LEFT JOIN sold ON k = w'),
	('max(product) FILTER (WHERE v < current_setting(''block_size'')::integer - 8142) FROM wanted JOIN sold ON k = w'),
	('max(product) FILTER (WHERE shop LIKE ''s%'') FROM wanted JOIN sold ON k = w'),
	('min(product), max(product COLLATE "C"), max(named), max(shop) FROM wanted JOIN sold ON k = w'),
	('max(product), sum(100 / (v + 1)) FROM wanted JOIN sold ON k = w'),
	-- neither's
	('min(loose) IS NULL FROM wanted JOIN sold ON k = w'),
	('max(upper(product)) FROM wanted JOIN sold ON k = w'),
	('min(DISTINCT product) FROM wanted JOIN sold ON k = w');
\set ECHO all
SELECT query, same_rows('SELECT ' || query) FROM joined ORDER BY number;
-- Many batches, and other engines
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(*), same_rows('SELECT ' || query) FROM joined WHERE number <= 12 GROUP BY 2;
RESET work_mem;
RESET hash_mem_multiplier;
SET gpubtree.enable_device = off;
SELECT count(*), same_rows('SELECT ' || query) FROM joined WHERE number <= 12 GROUP BY 2;
RESET gpubtree.enable_device;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*), same_rows('SELECT ' || query) FROM joined WHERE number <= 12 GROUP BY 2;
COMMIT;
\set ECHO none
-- Values that the outer side adds to the dictionary while the node reads it
CREATE FUNCTION add_value(i integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	IF i % 500 = 0 THEN
		INSERT INTO sold (k, product, shop) VALUES (i, '  added ' || i, 'zz' || i % 100);
	END IF;
	RETURN i;
END
$$;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
BEGIN;
\set ECHO all
EXPLAIN (COSTS OFF)
SELECT min(product COLLATE "C"), max(shop) FROM (SELECT add_value(w) AS x FROM wanted OFFSET 0) a JOIN sold ON k = x;
SELECT min(product COLLATE "C"), max(shop) FROM (SELECT add_value(w) AS x FROM wanted OFFSET 0) a JOIN sold ON k = x;
SELECT min(product COLLATE "C"), max(shop) FROM wanted JOIN sold ON k = w;
ROLLBACK;
RESET work_mem;
RESET hash_mem_multiplier;
-- Values that come between two executions
PREPARE of_keys(integer) AS
SELECT min(product COLLATE "C"), max(shop) FROM wanted JOIN sold ON k = w WHERE g < $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE of_keys(5);
EXECUTE of_keys(5);
BEGIN;
INSERT INTO sold (k, product, shop) SELECT k, ' first', 'zzzz' FROM generate_series(1, 100) k;
EXECUTE of_keys(5);
EXECUTE of_keys(0);
ROLLBACK;
EXECUTE of_keys(5);
RESET plan_cache_mode;
DEALLOCATE of_keys;
SELECT set_config(name, 'on', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name;
SET gpubtree.enable_aggregate = off;

-- Texts that a collation finds equal
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
EXPLAIN (COSTS OFF)
SELECT date_trunc('day', t), max(product COLLATE no_case) FROM sold GROUP BY 1;
EXPLAIN (COSTS OFF)
SELECT id, min(product COLLATE no_case) FROM ranges JOIN sold ON k >= a AND k < b GROUP BY id;

-- Values that come between two executions, and between two rows of a cursor
PREPARE of_days(timestamp) AS
SELECT date_trunc('day', t), min(product COLLATE "C"), max(shop) FROM sold WHERE t > $1 GROUP BY 1 ORDER BY 1;
PREPARE of_ranges(integer) AS
SELECT id, (SELECT min(product COLLATE "C") FROM sold WHERE k BETWEEN a AND b AND k < $1) FROM ranges
WHERE id BETWEEN 1 AND 3 ORDER BY id;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_days('2026-02-28');
EXECUTE of_ranges(30000);
INSERT INTO sold (t, k, product, shop) VALUES ('2026-02-28 08:00', 205, ' ', 'zzz');
EXECUTE of_days('2026-02-28');
EXECUTE of_ranges(30000);
BEGIN;
DECLARE c CURSOR FOR SELECT id, (SELECT min(product COLLATE "C") FROM sold WHERE k BETWEEN a AND b)
FROM ranges ORDER BY id;
FETCH 2 FROM c;
INSERT INTO sold (t, k, product) VALUES ('2026-02-28', 310, '  ');
FETCH 2 FROM c;
ROLLBACK;
RESET plan_cache_mode;

-- More values than a program has room for: their ranks go to the device with the ranges
SELECT same_rows('SELECT id, min(product), max(shop) FROM ranges JOIN sold ON k >= a AND k < b GROUP BY id');
SELECT same_rows('SELECT id, min(product), max(product COLLATE "C"), max(named), max(shop) '
	'FROM ranges JOIN sold ON k >= a AND k < b GROUP BY id');
INSERT INTO sold (t, k, product, shop) SELECT '2026-02-28', i, 'x' || i, 'last' FROM generate_series(1, 1500) i;
SELECT query, same_rows('SELECT ' || query) FROM (VALUES
	('date_trunc(''day'', t), min(product), max(shop) FROM sold GROUP BY 1'),
	('id, min(product) FROM ranges JOIN sold ON k >= a AND k < b GROUP BY id'),
	('id, (SELECT max(product) FROM sold WHERE k BETWEEN a AND b) FROM ranges')) q (query);
RESET gpubtree.enable_aggregate;
SELECT set_config(name, 'off', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name;
SELECT same_rows('SELECT min(product), max(shop), count(*) FROM wanted JOIN sold ON k = w');
SELECT set_config(name, 'on', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name;
ANALYZE sold;
SELECT same_rows('SELECT id, min(product) FROM ranges JOIN sold ON k >= a AND k < b GROUP BY id');
SELECT same_rows('SELECT date_trunc(''day'', t), max(product) FROM sold GROUP BY 1');

-- A value that is too long for the dictionary: the ordinary plan answers
SELECT set_config(name, 'off', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name;
\set ECHO none
BEGIN;
-- Plans that were made before give up, those made later have no such program.
CREATE FUNCTION gave_up(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	seen text = '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE ' || statement LOOP
		seen := seen || COALESCE(substring(line FROM 'Gpubtree\w+'), '') ||
			COALESCE(substring(line FROM ' Gave Up: .*'), '');
	END LOOP;
	RETURN seen;
END
$$;
PREPARE greatest AS SELECT min(product COLLATE "C"), left(max(product COLLATE "C"), 5), count(*) FROM wanted JOIN sold ON k = w;
PREPARE days AS SELECT md5(string_agg(q::text, ',' ORDER BY day)) FROM
	(SELECT date_trunc('day', t) AS day, max(product COLLATE "C") FROM sold GROUP BY 1) q;
\set ECHO all
EXECUTE greatest;
SELECT gave_up('greatest'), gave_up('days');
INSERT INTO sold (t, k, product) SELECT '2026-02-28', min(w), repeat('~~~', 1000) FROM wanted;
SELECT gave_up('greatest'), gave_up('days');
EXECUTE greatest;
EXECUTE days;
SET gpubtree.enabled = off;
EXECUTE greatest;
EXECUTE days;
RESET gpubtree.enabled;
SELECT number, same_rows('SELECT ' || query) FROM joined WHERE number IN (1, 2, 10, 13) ORDER BY 1;
SELECT same_rows('SELECT date_trunc(''day'', t), max(product) FROM sold GROUP BY 1');
SELECT same_rows('SELECT s, (SELECT max(product) FROM wanted JOIN sold ON k = w WHERE g > s) FROM generate_series(1, 3) s');
ROLLBACK;
SELECT set_config(name, 'on', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name;

-- Who may execute what
CREATE ROLE nobody_of_texts;
GRANT SELECT ON sold, ranges, wanted TO nobody_of_texts;
REVOKE EXECUTE ON FUNCTION max(character) FROM PUBLIC;
SET ROLE nobody_of_texts;
EXPLAIN (COSTS OFF) SELECT date_trunc('day', t), max(shop) FROM sold GROUP BY 1;
SET enable_hashjoin = off;
EXPLAIN (COSTS OFF) SELECT max(shop) FROM wanted JOIN sold ON k = w;
RESET enable_hashjoin;
RESET ROLE;
GRANT EXECUTE ON FUNCTION max(character) TO PUBLIC;

DROP TABLE sold, ranges, wanted, joined;
DROP FUNCTION same_rows, add_value;
DROP COLLATION no_case;
DROP DOMAIN title;
DROP ROLE nobody_of_texts;
