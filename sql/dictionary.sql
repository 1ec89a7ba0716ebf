-- Values of variable width in INCLUDE: text, character varying, character, bytea.

SET max_parallel_workers_per_gather = 2;
CREATE TABLE names (k integer, name text, code varchar(12), fixed char(6), raw bytea, v integer);
INSERT INTO names
SELECT i, CASE WHEN i % 11 > 0 THEN 'name ' || i % 300 END, chr(97 + i % 26), 'c' || i % 9,
	decode(md5((i % 40)::text), 'hex'), i % 17
FROM generate_series(1, 20000) i;
INSERT INTO names VALUES
	(-1, '', '', '', '', 0),
	(-2, 'ä ö ü ß', 'Straße', 'ß', '\x00ff', 0),
	(-3, repeat('long ', 200), 'a', 'b', decode(repeat('00', 1000), 'hex'), 0),
	(-4, ' a', ' a ', ' a', ' a', 0),
	(-5, 'a ', 'a ', 'a ', 'a ', 0),
	(-6, repeat('x', 127), 'a', 'b', 'c', 0),
	(-7, repeat('x', 126), 'a', 'b', 'c', 0);
CREATE INDEX names_k ON names USING gpubtree (k) INCLUDE (name, code, fixed, raw, v);
VACUUM ANALYZE names;
\set ECHO all

SELECT gpubtree_check('names_k', true);
SELECT dictionary_pages, damaged_pages FROM gpubtree_bloat('names_k');
SELECT type, level, dead_items, left_link, right_link > 0 AS more, high_key, flags, fault
FROM gpubtree_page_stats('names_k', 1);
SELECT * FROM gpubtree_page_items('names_k', 1);

\set ECHO none
-- Index-only scans return the values that the table has.
CREATE FUNCTION digest() RETURNS text LANGUAGE sql AS $$
	SELECT count(*) || ' ' || md5(string_agg(n::text, ',' ORDER BY k, v, name, code, raw))
	FROM (SELECT k, name, code, fixed, raw, v FROM names WHERE k > -10) n
$$;
CREATE FUNCTION same_digest() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	by_index text;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true);
	by_index := digest();
	PERFORM set_config('enable_seqscan', 'on', true);
	PERFORM set_config('enable_indexonlyscan', 'off', true);
	PERFORM set_config('enable_indexscan', 'off', true);
	PERFORM set_config('gpubtree.enabled', 'off', true);
	RETURN by_index = digest();
END
$$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
\set ECHO all
EXPLAIN (COSTS OFF) SELECT k, name, code, fixed, raw FROM names WHERE k BETWEEN -2 AND 5;
SELECT k, name, code, fixed, raw FROM names WHERE k BETWEEN -2 AND 5 ORDER BY k;
SELECT k, length(name), octet_length(raw) FROM names WHERE k < 0 ORDER BY k DESC;
RESET enable_seqscan;
BEGIN;
SELECT same_digest();
COMMIT;

-- A cursor that turns around, and a serializable transaction
SET enable_seqscan = off;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, name FROM names WHERE k > 10 ORDER BY k;
FETCH 2 FROM c;
MOVE 100 IN c;
FETCH BACKWARD 2 FROM c;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT k, name FROM names WHERE k = ANY ('{4, 6, 11}');
COMMIT;

\set ECHO none
-- Rows that come, go, and change; values of transactions that roll back stay unused.
BEGIN;
INSERT INTO names VALUES (100001, 'rolled back');
ROLLBACK;
INSERT INTO names VALUES (100002, 'rolled back'), (100003, 'new'), (100004, 'new');
BEGIN;
SAVEPOINT s;
INSERT INTO names VALUES (100005, 'of a savepoint');
ROLLBACK TO s;
INSERT INTO names VALUES (100006, 'after the savepoint');
COMMIT;
UPDATE names SET name = 'name of ' || k WHERE k % 1000 = 0;
UPDATE names SET name = name || repeat('!', k % 5) WHERE k BETWEEN 500 AND 900;
DELETE FROM names WHERE k BETWEEN 100 AND 300;
VACUUM names;
\set ECHO all
SELECT k, name FROM names WHERE k > 100000;
SELECT gpubtree_check('names_k', true);
RESET enable_seqscan;
BEGIN;
SELECT same_digest();
COMMIT;
SELECT count(*) FROM names WHERE name = 'rolled back';

-- New pages of the dictionary; nothing of them is VACUUM's.
INSERT INTO names SELECT 200000 + i, repeat(i::text, 30) FROM generate_series(1, 2000) i;
DELETE FROM names WHERE k > 200000;
VACUUM names;
SELECT dictionary_pages > 25 AS many, damaged_pages FROM gpubtree_bloat('names_k');
SELECT gpubtree_check('names_k', true);
REINDEX INDEX names_k;
SELECT dictionary_pages < 10 AS few, damaged_pages FROM gpubtree_bloat('names_k');
BEGIN;
SELECT same_digest();
COMMIT;
TRUNCATE names;
INSERT INTO names VALUES (1, 'after truncate');
SET enable_seqscan = off;
SELECT k, name FROM names WHERE k = 1;

-- In one transaction, also where the file is truncated in place
BEGIN;
TRUNCATE names;
INSERT INTO names VALUES (1, 'first'), (2, 'second');
SELECT k, name FROM names WHERE k > 0;
TRUNCATE names;
INSERT INTO names VALUES (1, 'second'), (2, 'third');
SELECT k, name FROM names WHERE k > 0;
ROLLBACK;
SELECT k, name FROM names WHERE k > 0;
CREATE TEMP TABLE passing (k integer, name text) ON COMMIT DELETE ROWS;
CREATE INDEX ON passing USING gpubtree (k) INCLUDE (name);
BEGIN;
INSERT INTO passing VALUES (1, 'a'), (2, 'b');
SELECT * FROM passing WHERE k > 0;
COMMIT;
BEGIN;
INSERT INTO passing VALUES (1, 'b'), (2, 'c');
SELECT * FROM passing WHERE k > 0;
COMMIT;

-- Beside other columns: keys of several columns and wide ones, numerics, NULLs
CREATE TABLE mixed (u uuid, a integer, b smallint, n numeric(10, 2), name text, f real);
INSERT INTO mixed SELECT md5(i::text)::uuid, i, i % 5, i / 7.0, NULLIF('n' || i % 4, 'n3'), i
FROM generate_series(1, 20) i;
CREATE INDEX mixed_u ON mixed USING gpubtree (u DESC) INCLUDE (n, name, f);
CREATE INDEX mixed_ab ON mixed USING gpubtree (b, a DESC) INCLUDE (name, n, f);
VACUUM ANALYZE mixed;
EXPLAIN (COSTS OFF) SELECT u, n, name, f FROM mixed WHERE u > '80000000-0000-0000-0000-000000000000';
SELECT u, n, name, f FROM mixed WHERE u > '80000000-0000-0000-0000-000000000000' ORDER BY u;
SELECT b, a, name, n, f FROM mixed WHERE b = 3;
SELECT gpubtree_check('mixed_u', true), gpubtree_check('mixed_ab', true);

\set ECHO none
-- Filters, groups, DISTINCT and count(DISTINCT) on codes
CREATE TABLE sold (k integer, product text, shop char(4), note varchar(20), v integer);
INSERT INTO sold SELECT i, NULLIF('product ' || i % 40, 'product 5'), 's' || i % 3,
	repeat('n', i % 6), i % 100
FROM generate_series(1, 5000) i;
CREATE INDEX sold_k ON sold USING gpubtree (k) INCLUDE (product, shop, note, v);
VACUUM ANALYZE sold;
-- With values that no row has
BEGIN;
INSERT INTO sold VALUES (1, 'product none', 'none', 'none', 1);
ROLLBACK;
SET enable_seqscan = off;
\i :abs_srcdir/sql/common/same_rows.sql
\set ECHO all
EXPLAIN (COSTS OFF)
SELECT product, count(*), sum(v) FROM sold WHERE k < 4000 AND product LIKE 'product 1%' GROUP BY 1;
SELECT product, count(*), sum(v) FROM sold WHERE k < 4000 AND product LIKE 'product 1%'
GROUP BY 1 ORDER BY 1 LIMIT 3;
\set ECHO none
SELECT query, same_rows(query) FROM (VALUES
	('SELECT count(*) FROM sold WHERE k > 7 AND product = ''product 7'''),
	('SELECT count(*) FROM sold WHERE k > 7 AND product <> ''product 7'''),
	('SELECT count(*) FROM sold WHERE k > 7 AND product = ''nowhere'''),
	('SELECT count(*) FROM sold WHERE k > 7 AND NOT product = ''nowhere'''),
	('SELECT sum(v) FROM sold WHERE k > 7 AND product IN (''product 7'', ''product 8'', ''x'')'),
	('SELECT sum(v) FROM sold WHERE k > 7 AND product NOT IN (''product 7'', ''product 8'')'),
	('SELECT sum(v) FROM sold WHERE k > 7 AND product = ANY (''{product 7,NULL}'')'),
	('SELECT sum(v) FROM sold WHERE k > 7 AND NOT product = ANY (''{product 7,NULL}'')'),
	('SELECT sum(v) FROM sold WHERE k > 7 AND product IS NULL'),
	('SELECT sum(v) FROM sold WHERE k > 7 AND (product IS NULL OR v > 90 OR note LIKE ''nnn%'')'),
	('SELECT count(*) FROM sold WHERE k > 7 AND product ILIKE ''PRODUCT _'''),
	('SELECT count(*) FROM sold WHERE k > 7 AND product ~ ''[37]$'' AND length(note) > 2'),
	('SELECT count(*) FROM sold WHERE k > 7 AND product > ''product 3'' COLLATE "C"'),
	('SELECT count(*) FROM sold WHERE k > 7 AND shop = ''s1'''),
	('SELECT count(*) FROM sold WHERE k > 7 AND shop || note = ''s1nn'''),
	('SELECT count(*) FROM sold WHERE k > 7 AND product IS DISTINCT FROM ''product 7'''),
	('SELECT count(product), count(DISTINCT product), count(DISTINCT note) FROM sold WHERE k > 7'),
	('SELECT count(*) FILTER (WHERE note = ''nn''), sum(v) FILTER (WHERE product LIKE ''%1'') '
	 'FROM sold WHERE k > 7'),
	('SELECT shop, note, v, sum(v) FROM sold WHERE k > 7 GROUP BY 1, 2, 3'),
	('SELECT shop, note, count(*) FROM sold WHERE k > 7 GROUP BY ROLLUP (1, 2)'),
	('SELECT DISTINCT product, note FROM sold WHERE k > 7'),
	('SELECT k / 1000, product, count(*) FROM sold WHERE k > 7 GROUP BY 1, 2'),
	('SELECT k, product FROM sold WHERE k > 7 AND product LIKE ''product 2_'''),
	('SELECT min(product), max(note) FROM sold WHERE k > 7'),
	('SELECT mode() WITHIN GROUP (ORDER BY product) FROM sold WHERE k > 7'),
	('SELECT shop::text, count(*) FROM sold WHERE k > 7 GROUP BY 1'),
	('SELECT note::bpchar, count(*) FROM sold WHERE k > 7 GROUP BY 1'),
	('SELECT upper(product), count(*) FROM sold WHERE k > 7 GROUP BY 1')) q (query);
-- Different values may be equal, by a collation or as character without a length.
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
BEGIN;
INSERT INTO sold SELECT i, upper(product), shop, note || ' ', v FROM sold, generate_series(6, 8) i
WHERE k = i;
SELECT query, same_rows(query) FROM (VALUES
	('SELECT count(DISTINCT product COLLATE no_case) FROM sold WHERE k > 5'),
	('SELECT count(DISTINCT note::bpchar) FROM sold WHERE k > 5'),
	('SELECT shop, count(DISTINCT note::bpchar) FROM sold WHERE k > 5 GROUP BY 1'),
	('SELECT DISTINCT product COLLATE no_case IS NULL, note::bpchar FROM sold WHERE k > 5'),
	('SELECT count(DISTINCT note COLLATE "C"), count(DISTINCT note) FROM sold WHERE k > 5'))
	q (query);
ROLLBACK;
DROP COLLATION no_case;
-- A type that is text to look at, with an equality of its own, as citext is
BEGIN;
SET LOCAL client_min_messages = warning;
CREATE TYPE folded;
CREATE FUNCTION folded_in(cstring) RETURNS folded LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION folded_out(folded) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
CREATE TYPE folded (INPUT = folded_in, OUTPUT = folded_out, LIKE = text, COLLATABLE = true);
CREATE CAST (text AS folded) WITHOUT FUNCTION;
CREATE CAST (folded AS text) WITHOUT FUNCTION;
CREATE FUNCTION folded_cmp(folded, folded) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS
	'SELECT bttextcmp(lower($1::text), lower($2::text))';
CREATE FUNCTION folded_lt(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT folded_cmp($1, $2) < 0';
CREATE FUNCTION folded_le(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT folded_cmp($1, $2) <= 0';
CREATE FUNCTION folded_eq(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT folded_cmp($1, $2) = 0';
CREATE FUNCTION folded_ge(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT folded_cmp($1, $2) >= 0';
CREATE FUNCTION folded_gt(folded, folded) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT folded_cmp($1, $2) > 0';
CREATE OPERATOR < (LEFTARG = folded, RIGHTARG = folded, FUNCTION = folded_lt);
CREATE OPERATOR <= (LEFTARG = folded, RIGHTARG = folded, FUNCTION = folded_le);
CREATE OPERATOR = (LEFTARG = folded, RIGHTARG = folded, FUNCTION = folded_eq);
CREATE OPERATOR >= (LEFTARG = folded, RIGHTARG = folded, FUNCTION = folded_ge);
CREATE OPERATOR > (LEFTARG = folded, RIGHTARG = folded, FUNCTION = folded_gt);
CREATE OPERATOR CLASS folded_ops DEFAULT FOR TYPE folded USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 folded_cmp(folded, folded);
INSERT INTO sold SELECT i, upper(product), shop, note, v FROM sold, generate_series(6, 8) i WHERE k = i;
SELECT query, same_rows(query) FROM (VALUES
	('SELECT count(*) FROM (SELECT DISTINCT product::folded FROM sold WHERE k BETWEEN 6 AND 4000) d'),
	('SELECT lower(product::folded::text), sum(v) FROM sold WHERE k BETWEEN 6 AND 4000 GROUP BY product::folded'),
	('SELECT count(DISTINCT product::folded), count(product::folded) FROM sold WHERE k > 5'),
	('SELECT k / 1000, count(DISTINCT product::folded) FROM sold WHERE k > 5 GROUP BY 1'),
	('SELECT count(*) FROM sold WHERE k > 5 AND product::folded = ''PRODUCT 7''')) q (query);
ROLLBACK;
\set ECHO all
-- An error for a value that no row has, and one for a value that some row has
SELECT same_rows('SELECT count(*) FROM sold WHERE k > 7 AND 30 / (length(product) - 12) < -12');
SELECT count(*) FROM sold WHERE k > 7 AND 30 / (length(product) - 10) < -12;
-- A function that is not core's sees no other values than those of rows.
CREATE FUNCTION told(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
	RAISE NOTICE 'told of %', $1;
	RETURN true;
END
$$;
SELECT count(*) FROM sold WHERE k = 1 AND told(product);
-- Parameters
PREPARE of_product(text) AS SELECT count(*), sum(v) FROM sold WHERE k > 7 AND product = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_product('product 7');
EXECUTE of_product(NULL);
INSERT INTO sold VALUES (10000, 'late', 's1', 'late', 1000);
EXECUTE of_product('late');
RESET plan_cache_mode;
SELECT product, count(*) FROM sold WHERE k > 4990 GROUP BY 1 ORDER BY 1;
-- Joins, LATERAL and subqueries
CREATE TABLE ranges (a integer, b integer);
INSERT INTO ranges SELECT i * 100, i * 150 FROM generate_series(1, 20) i;
ANALYZE ranges;
-- What a disabled scan costs hides other costs on servers before 18.
RESET enable_seqscan;
SELECT query, same_rows(query) FROM (VALUES
	('SELECT a, (SELECT count(*) FROM sold WHERE k BETWEEN a AND b AND product LIKE ''product 1%'') '
	 'FROM ranges'),
	('SELECT a, n FROM ranges, LATERAL (SELECT count(*) AS n FROM sold WHERE k BETWEEN a AND b '
	 'AND product = ''product 7'') s'),
	('SELECT a, product FROM ranges JOIN sold ON k = a AND product <> ''product 20'''),
	('SELECT a, count(*) FROM ranges JOIN sold ON k BETWEEN a AND b AND product = ''product 3'' '
	 'GROUP BY a')) q (query);

-- Types: domains, and what cannot be held
CREATE DOMAIN title AS text CHECK (length(VALUE) < 100);
CREATE TABLE titled (k integer, t title, j jsonb);
CREATE INDEX titled_k ON titled USING gpubtree (k) INCLUDE (t);
INSERT INTO titled SELECT i, 'title ' || i % 3 FROM generate_series(1, 5) i;
VACUUM titled;
SELECT k, t FROM titled WHERE k > 0;
CREATE INDEX ON titled USING gpubtree (k) INCLUDE (j);
CREATE INDEX ON titled USING gpubtree (t);

-- Changes of the type that keep the table keep the index, too.
ALTER TABLE titled ALTER t TYPE text;
ALTER TABLE titled ALTER t TYPE text COLLATE "C";
SELECT k, t FROM titled WHERE k > 3;
SELECT gpubtree_check('titled_k', true);

-- Limits
INSERT INTO titled VALUES (6, repeat('x', 2700));
INSERT INTO titled VALUES (7, repeat('x', 2701));
INSERT INTO titled VALUES (7, repeat('x', 1000000));
SELECT k, length(t) FROM titled WHERE k > 5;
SELECT gpubtree_check('titled_k', true);

\set ECHO none
-- Values beyond the limits: the same rows by our nodes, by core's plans over the index, by the table
CREATE FUNCTION ways(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	node text;
	line text;
	ours text;
	cores text;
	tables text;
	asked_query text := query;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		node := COALESCE(node, substring(line FROM 'Gpubtree\w+'));
		node := node || COALESCE(substring(line FROM ' Gave Up: .*'), '');
	END LOOP;
	query := 'SELECT count(*) || '' '' || md5(array_agg(r::text ORDER BY r::text COLLATE "C")::text) FROM (' ||
		query || ') r';
	EXECUTE query INTO ours;
	SET LOCAL gpubtree.enabled = off;
	EXECUTE query INTO cores;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	EXECUTE query INTO tables;
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_indexscan = on;
	SET LOCAL enable_indexonlyscan = on;
	SET LOCAL gpubtree.enabled = on;
	IF ours <> tables OR cores <> tables OR
		EXISTS (SELECT 1 FROM asked a WHERE a.query = asked_query AND a.digest <> tables) THEN
		RAISE 'other rows: %, %, % for %', ours, cores, tables, query;
	END IF;
	RETURN COALESCE(node, 'core');
END
$$;
-- The node of a plan that was made before, and a digest of its rows
CREATE FUNCTION cached(number integer, OUT node text, OUT digest text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	r record;
	rows text[] := '{}';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE q' || number LOOP
		node := COALESCE(node, substring(line FROM 'Gpubtree\w+'));
		node := node || COALESCE(substring(line FROM ' Gave Up: .*'), '');
	END LOOP;
	FOR r IN EXECUTE 'EXECUTE q' || number LOOP
		rows := rows || r::text;
	END LOOP;
	SELECT count(*) || ' ' || md5(array_agg(t ORDER BY t COLLATE "C")::text) INTO digest FROM unnest(rows) t;
	node := COALESCE(node, 'core');
END
$$;
CREATE TABLE texts (k integer, a text, b varchar, v integer);
INSERT INTO texts SELECT i, 'a' || i % 50, 'b' || i % 7, i FROM generate_series(1, 8000) i;
CREATE INDEX texts_k ON texts USING gpubtree (k) INCLUDE (a, b, v);
CREATE TABLE keys AS SELECT i * 50 AS w FROM generate_series(1, 120) i;
VACUUM ANALYZE texts, keys;
CREATE TABLE asked (number serial, query text, digest text);
INSERT INTO asked (query) VALUES
	('SELECT count(*), count(DISTINCT a), min(a), max(a), max(b), count(b) FROM texts WHERE k BETWEEN 10 AND 7900'),
	('SELECT a, count(*), sum(v) FROM texts WHERE k BETWEEN 10 AND 7900 GROUP BY a'),
	('SELECT b, min(a COLLATE "C"), sum(v) FROM texts WHERE k BETWEEN 10 AND 7900 GROUP BY b'),
	('SELECT count(*), sum(v) FROM texts WHERE k BETWEEN 10 AND 7900 AND a = repeat(''long 2'', 1000)'),
	('SELECT count(*), sum(v) FROM texts WHERE k BETWEEN 10 AND 7900 AND a <> ''a7'''),
	('SELECT count(*), sum(v) FROM texts WHERE k BETWEEN 10 AND 7900 AND a LIKE ''long%'''),
	('SELECT count(*), sum(v) FROM texts WHERE k BETWEEN 10 AND 7900 AND b IS NULL'),
	('SELECT k, a, b FROM texts WHERE k BETWEEN 10 AND 7900 AND length(a) > 100'),
	('SELECT k, a, b FROM texts WHERE k BETWEEN 10 AND 7900 AND (a = repeat(''long 2'', 1000) OR v % 100 = 3)'),
	('SELECT k, a, b, v FROM texts WHERE k = 4000'),
	('SELECT k, b FROM texts WHERE k > 3990 ORDER BY k DESC LIMIT 5000'),
	('SELECT w, a, b FROM keys JOIN texts ON k = w'),
	('SELECT w, b FROM keys JOIN texts ON k = w AND a LIKE ''%ong%'''),
	('SELECT min(a), max(a COLLATE "C"), count(*) FROM keys JOIN texts ON k = w'),
	('SELECT w, max(a), count(DISTINCT b) FROM keys JOIN texts ON k BETWEEN w AND w + 10 GROUP BY w'),
	('SELECT w, (SELECT max(a) FROM texts WHERE k BETWEEN w AND w + 10) FROM keys'),
	('SELECT count(DISTINCT v % 9), count(DISTINCT a) FROM texts WHERE k BETWEEN 10 AND 7900');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE of_all AS SELECT md5(max(a)), count(DISTINCT a), max(length(b)) FROM texts WHERE k BETWEEN 10 AND 7900;
PREPARE of_keys AS SELECT md5(min(a)), md5(max(a)) FROM keys JOIN texts ON k = w;
\set ECHO all
EXECUTE of_all;
EXECUTE of_keys;
SELECT format('PREPARE q%s AS %s', number, query) FROM asked ORDER BY number \gexec
SELECT number, node FROM asked, cached(number) ORDER BY number;
INSERT INTO texts SELECT 4000 + i, repeat('long ' || i, 1000), 'b', i FROM generate_series(0, 4) i;
INSERT INTO texts SELECT 5000 + i, repeat('x', 2000), repeat('y', 2000), i FROM generate_series(1, 50) i;
INSERT INTO texts SELECT 6000, (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) i), NULL, 1;
BEGIN;
INSERT INTO texts SELECT 6000, repeat('undone', 1000), 'b', 1;
ROLLBACK;
EXECUTE of_all;
EXECUTE of_keys;
-- Plans that were made before, then new ones
SELECT number, node FROM asked, cached(number) ORDER BY number;
UPDATE asked SET digest = (SELECT digest FROM cached(number));
SELECT number, ways(query) FROM asked ORDER BY number;
UPDATE asked SET digest = NULL;
SELECT gpubtree_check('texts_k', true);
-- Rows not seen; HOT; serializable; backwards
UPDATE texts SET v = v + 1 WHERE k = 4001;
UPDATE texts SET a = a || '!' WHERE k = 4002;
DELETE FROM texts WHERE k = 4003;
SELECT count(DISTINCT ways(query)) > 2 FROM asked;
VACUUM texts;
SELECT count(DISTINCT ways(query)) > 2 FROM asked;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(DISTINCT ways(query)) > 2 FROM asked;
COMMIT;
SET gpubtree.enabled = off;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, left(a, 6), length(a), left(b, 2) FROM texts WHERE k BETWEEN 3999 AND 4003 ORDER BY k;
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
COMMIT;
RESET gpubtree.enabled;
-- A build
REINDEX INDEX texts_k;
SELECT gpubtree_check('texts_k', true);
SELECT count(DISTINCT ways(query)) > 2 FROM asked;
DELETE FROM texts WHERE length(a) + COALESCE(length(b), 0) > 2700;
REINDEX INDEX texts_k;
SELECT number, ways(query) FROM asked ORDER BY number;
\set ECHO none
RESET plan_cache_mode;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE texts, keys, asked;
DROP FUNCTION ways, cached;

-- A dictionary of which no session has read much: single values and codes are looked up on its pages.
CREATE TABLE far (k integer, a text, b text);
INSERT INTO far SELECT i, 'a' || i, 'b' || i % 7 FROM generate_series(1, 45000) i;
CREATE INDEX far_k ON far USING gpubtree (k) INCLUDE (a, b);
VACUUM ANALYZE far;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
\set ECHO all
SELECT k, a, b FROM far WHERE k IN (1, 7, 20000, 44999) ORDER BY k;
SELECT count(*), sum(k) FROM far WHERE k > 0 AND a = 'a44444';
SELECT count(*), sum(k) FROM far WHERE k > 0 AND a = 'b1';
SELECT count(*) FROM far WHERE k > 0 AND b = 'b1';
INSERT INTO far VALUES (1, 'a44444', 'b1'), (2, 'b1', 'a1'), (3, 'new', 'new'), (4, 'new', NULL);
SELECT k, a, b FROM far WHERE k IN (1, 2, 3, 4) ORDER BY k, a;
SELECT gpubtree_check('far_k', true);
SELECT count(DISTINCT a), count(DISTINCT b), min(a), max(b) FROM far WHERE k > 0;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE far;

-- Unlogged tables
CREATE UNLOGGED TABLE unlogged (k integer, name text);
CREATE INDEX unlogged_k ON unlogged USING gpubtree (k) INCLUDE (name);
INSERT INTO unlogged VALUES (1, 'one');
SELECT k, name FROM unlogged WHERE k = 1;

-- CREATE INDEX CONCURRENTLY
CREATE INDEX CONCURRENTLY titled_c ON titled USING gpubtree (k) INCLUDE (t);
SELECT gpubtree_check('titled_c', true);
DROP TABLE names, mixed, titled, unlogged, sold, ranges;
DROP FUNCTION digest, same_digest, same_rows, told;
DROP DOMAIN title;
