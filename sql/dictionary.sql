-- Values of variable width in INCLUDE: text, character varying, character, bytea.

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
SELECT gpubtree_check('names_k', true);
SELECT dictionary_pages, damaged_pages FROM gpubtree_bloat('names_k');
SELECT type, level, dead_items, left_link, right_link > 0 AS more, high_key, flags, fault
FROM gpubtree_page_stats('names_k', 1);
SELECT * FROM gpubtree_page_items('names_k', 1);

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

-- Unlogged tables
CREATE UNLOGGED TABLE unlogged (k integer, name text);
CREATE INDEX unlogged_k ON unlogged USING gpubtree (k) INCLUDE (name);
INSERT INTO unlogged VALUES (1, 'one');
SELECT k, name FROM unlogged WHERE k = 1;

-- CREATE INDEX CONCURRENTLY
CREATE INDEX CONCURRENTLY titled_c ON titled USING gpubtree (k) INCLUDE (t);
SELECT gpubtree_check('titled_c', true);
DROP TABLE names, mixed, titled, unlogged;
DROP FUNCTION digest, same_digest;
DROP DOMAIN title;
