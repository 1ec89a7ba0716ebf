--
-- Columns of type numeric(p, s), as key and as INCLUDE column, against core's B-tree
--
SET max_parallel_workers_per_gather = 2;
SET timezone = 'UTC';
SET enable_bitmapscan = off;

-- The values at the limits of each column, NaN, zeros of both signs, NULL
CREATE TABLE b (id int, k numeric(12, 2), v numeric(18, 6), w numeric(3, -2), x numeric(2, 4),
	y numeric(5, 0), z numeric(18, 18));
INSERT INTO b SELECT n, CASE WHEN n % 7 > 0 THEN (n - 500) / 8.0 END,
		CASE n % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN 999999999999.999999
			WHEN 2 THEN -999999999999.999999 WHEN 3 THEN 0 ELSE n / 7.0 END,
		n % 900 * 100, n % 99 / 10000.0, CASE WHEN n % 11 > 0 THEN n END,
		(n - 1000) / 1e18
	FROM generate_series(1, 2000) n;
INSERT INTO b VALUES (3000, 'NaN', 'NaN', 'NaN', 'NaN', 'NaN', 'NaN'),
	(3001, 9999999999.99, 0, 0, 0, 0, 0.999999999999999999),
	(3002, -9999999999.99, -0.0, 99900, 0.0099, -99999, -0.999999999999999999),
	(3003, 0.01, 0.000001, -99900, -0.0099, -1, 0), (3004, -0.01, -0.000001, 100, 0.0001, 1, NULL);
CREATE TABLE g AS TABLE b;
ALTER TABLE g ALTER k TYPE numeric(12, 2), ALTER v TYPE numeric(18, 6), ALTER w TYPE numeric(3, -2),
	ALTER x TYPE numeric(2, 4), ALTER y TYPE numeric(5, 0), ALTER z TYPE numeric(18, 18);
CREATE INDEX b_k ON b (k) INCLUDE (id, v, w, x, y, z);
CREATE INDEX g_k ON g USING gpubtree (k) INCLUDE (id, v, w, x, y, z);
INSERT INTO b SELECT id + 10000, k, v, w, x, y, z FROM b WHERE id % 5 < 2;
INSERT INTO g SELECT id + 10000, k, v, w, x, y, z FROM g WHERE id % 5 < 2;
\set ECHO all

SELECT gpubtree_check('g_k', true);
\set ECHO none
VACUUM ANALYZE b;
VACUUM ANALYZE g;

\i :abs_srcdir/sql/common/same_tables.sql

-- Conditions on the key: constants with more digits than the key, beyond its values, special ones
CREATE TABLE conditions (c text);
INSERT INTO conditions VALUES
	('k > 12.345'), ('k >= 12.5'), ('k = 12.5'), ('k = 12.505'), ('k <= 12.505'), ('k < -12.005'),
	('k > -12.001'), ('k < 0'), ('k = 0'), ('k > 0.000000001'), ('k > -0.000000001'),
	('k > 1e-1000'), ('k < -1e-500'), ('k < 1e30'), ('k > 1e30'), ('k < -1e30'), ('k > -1e30'),
	('k > 9999999999.99'), ('k >= 9999999999.985'), ('k < -9999999999.99'),
	('k <= -9999999999.99'), ('k < ''NaN'''), ('k <= ''NaN'''), ('k = ''NaN'''),
	('k >= ''NaN'''), ('k > ''NaN'''), ('k < ''infinity'''), ('k > ''infinity'''),
	('k > ''-infinity'''), ('k = ''infinity'''), ('k = ANY (''{1.5,2.125,2.505,NULL,NaN}'')'),
	('k < ANY (''{1.5,2.125,NULL}'')'), ('k >= ALL (''{1.5,2.125}'')'), ('k IN (1.5, 2.5, 2.5001)'),
	('k = ANY (''{}'')'), ('k = 3'), ('k = 3::bigint'), ('k BETWEEN 1 AND 5::smallint'),
	('k IS NULL'), ('k IS NOT NULL'), ('true'), ('k = 12.50000'), ('k BETWEEN 10 AND 5');
SET enable_seqscan = off;
\set ECHO all
EXPLAIN (COSTS OFF) SELECT id, k, v, w, x, y, z FROM g WHERE k > 12.345;
SELECT c, same(format('SELECT id, k, v, w, x, y, z FROM $t WHERE %s', c)) FROM conditions;
\set ECHO none
SET enable_indexonlyscan = off;
SELECT c, same(format('SELECT * FROM $t WHERE %s', c)) FROM conditions
	WHERE same(format('SELECT * FROM $t WHERE %s', c)) NOT LIKE '%same';
RESET enable_indexonlyscan;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT c, same(format('SELECT * FROM $t WHERE %s', c)) FROM conditions
	WHERE same(format('SELECT * FROM $t WHERE %s', c)) NOT LIKE '%same';
RESET enable_indexscan;
SET enable_bitmapscan = off;
\set ECHO all

-- In order, both ways, and with NULLS FIRST
SELECT k, v FROM g WHERE k > 62 AND k < 63 ORDER BY k;
SELECT k FROM g WHERE k >= 187 ORDER BY k DESC LIMIT 4;
DROP INDEX g_k;
CREATE INDEX g_k ON g USING gpubtree (k DESC NULLS FIRST) INCLUDE (id, v, w, x, y, z);
SELECT c, same(format('SELECT id, k, v FROM $t WHERE %s', c)) FROM conditions
	WHERE same(format('SELECT id, k, v FROM $t WHERE %s', c)) NOT LIKE '%same';
SELECT k FROM g WHERE k >= 187 ORDER BY k DESC LIMIT 4;
DROP INDEX g_k;
CREATE INDEX g_k ON g USING gpubtree (k) INCLUDE (id, v, w, x, y, z);

-- Joins between columns of different scales
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM (VALUES (1.5), (2.125), ('NaN'), (1e20), (NULL), (3)) o (n)
	JOIN g ON k = n;
RESET enable_nestloop;
SELECT same('SELECT n, k, v FROM (VALUES (1.5), (2.125), (2.13), (''NaN''), (1e20), (NULL), (3)) o (n)
	JOIN $t ON k = n');
SELECT same('SELECT o.id, o.v, i.id, i.k FROM b o JOIN $t i ON i.k = o.v');
SELECT same('SELECT o.y, count(*), sum(i.k), avg(i.k), min(i.k), max(i.k) FROM b o JOIN $t i ON i.k = o.y
	GROUP BY o.y');

-- ---- ALTER TABLE ----

\set ECHO none
-- More digits before the point: the file stays, and so do its values.
CREATE TABLE a (id int, k numeric(6, 2), v numeric(6, 2));
INSERT INTO a SELECT n, n / 4.0, CASE WHEN n % 3 = 0 THEN 'NaN' ELSE -n / 4.0 END
	FROM generate_series(1, 1000) n;
CREATE INDEX a_k ON a USING gpubtree (k) INCLUDE (v);
CREATE FUNCTION file_of(index regclass) RETURNS oid LANGUAGE sql AS
	'SELECT pg_relation_filenode(index)::oid';
SELECT file_of('a_k') AS file \gset
ALTER TABLE a ALTER k TYPE numeric(10, 2);
\set ECHO all
SELECT file_of('a_k') = :file AS stays;
INSERT INTO a VALUES (0, 12345678.12, 1.5);
SELECT k, v FROM a WHERE k > 249.2;

-- More digits than an index can be built for, or no precision: what fits gets in.
ALTER TABLE a ALTER k TYPE numeric(22, 2), ALTER v TYPE numeric;
SELECT file_of('a_k') = :file AS stays;
INSERT INTO a VALUES (0, 9999999999999999.99, 1.50), (0, -9999999999999999.99, 'NaN');
INSERT INTO a VALUES (0, 10000000000000000.00, 1.50);
INSERT INTO a VALUES (0, 1, 1.5);
INSERT INTO a VALUES (0, 1, 1.500);
INSERT INTO a VALUES (0, 1, 'infinity');
UPDATE a SET v = 2 WHERE id = 4;
SELECT gpubtree_check('a_k', true);
VACUUM ANALYZE a;
SELECT k, v FROM a WHERE k > 249.2 OR k < 0;
SELECT sum(k), avg(k), min(v), max(v), count(v) FROM a WHERE k > 249.2 AND v = v;
SELECT sum(k), avg(k), min(v), max(v), count(v) FROM a WHERE k > 249.2;
REINDEX INDEX a_k;
ALTER TABLE a ALTER v TYPE numeric(6, 2);
ALTER TABLE a ALTER v TYPE numeric(6, 2), ALTER k TYPE numeric(18, 2);
REINDEX INDEX a_k;
SELECT gpubtree_check('a_k', true);

-- Another scale: the index is built anew.
SELECT file_of('a_k') AS file \gset
ALTER TABLE a ALTER k TYPE numeric(18, 1);
SELECT file_of('a_k') = :file AS stays;
SELECT k, v FROM a WHERE k > 249.2;
SELECT gpubtree_check('a_k', true);

-- results of a CASE that are brought to one scale: NaN, and what does not fit, in every branch
CREATE TABLE c (k int, b numeric(1, 7), w numeric(18), d numeric(10, 3));
INSERT INTO c SELECT g, CASE WHEN g % 7 = 0 THEN 'NaN' ELSE g % 9 / 10000000.0 END, 999999999999999999, g FROM generate_series(1, 2000) g;
CREATE INDEX c_k ON c USING gpubtree (k) INCLUDE (b, w, d);
VACUUM ANALYZE c;
SET enable_seqscan = off;
SELECT avg(CASE WHEN d <> 5 THEN b ELSE 0 END), avg(CASE WHEN d = 7 THEN 0 ELSE b END) FROM c WHERE k > 0;
SELECT sum(CASE WHEN d > 1900 THEN 0 WHEN d > 3 THEN b ELSE 0 END) FROM c WHERE k > 0;
SELECT sum(CASE WHEN d > 5 THEN w ELSE d END) FROM c WHERE k > 0;
SELECT sum(CASE WHEN d > 1995 THEN d WHEN d > 3 THEN w ELSE d END) FROM c WHERE k > 0;
DROP TABLE c;
RESET enable_seqscan;

\set ECHO none
-- ---- what can be indexed ----

CREATE DOMAIN price AS numeric(5, 3);
CREATE DOMAIN positive AS price CHECK (value > 0);
CREATE DOMAIN anything AS numeric;
CREATE TABLE d (k positive, v price, w anything, n numeric, t numeric(40, 3), f numeric(30, -9),
	e numeric(3, 39), l numeric(18), m numeric(2, 18), o numeric(9, -9));
CREATE INDEX d_k ON d USING gpubtree (k) INCLUDE (v);
INSERT INTO d (k, v, l, m, o, n) VALUES (1.2345, 2.5, -999999999999999999, 0.000000000000000099,
	999999999e9, 1.25);
\set ECHO all
CREATE INDEX ON d USING gpubtree (w);
CREATE INDEX ON d USING gpubtree (k) INCLUDE (w);
CREATE INDEX ON d USING gpubtree (n);
CREATE INDEX ON d USING gpubtree (t);
CREATE INDEX ON d USING gpubtree (k) INCLUDE (t);
CREATE INDEX ON d USING gpubtree (f);
CREATE INDEX ON d USING gpubtree (e);
CREATE INDEX d_l ON d USING gpubtree (l) INCLUDE (m, o);
CREATE INDEX ON d USING gpubtree ((n * 2));
CREATE INDEX d_n ON d USING gpubtree (((n * 2)::numeric(8, 3)));
VACUUM ANALYZE d;
SELECT k, v FROM d WHERE k > 1;
SELECT l, m, o FROM d WHERE l < 0;
SELECT (n * 2)::numeric(8, 3) FROM d WHERE (n * 2)::numeric(8, 3) > 2.4999;
SELECT gpubtree_check(c, true) FROM unnest('{d_k,d_l,d_n}'::regclass[]) c;
DROP TABLE a, b, conditions, d, g;
DROP FUNCTION rows_of, same, file_of;
DROP DOMAIN positive, price, anything;
