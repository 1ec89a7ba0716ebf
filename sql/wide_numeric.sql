--
-- numeric(p, s) of 19 to 38 digits, which take 16 bytes: as key and as INCLUDE column, against
-- core's B-tree
--
CREATE TABLE b (id int, k numeric(38, 10), v numeric(38), w numeric(25, -5), x numeric(3, 30),
	y numeric(19, 19), z numeric(12, 2));
INSERT INTO b SELECT n, CASE WHEN n % 7 > 0 THEN (n - 400) * 123456789012345678901.0123456789 / 8 END,
		CASE n % 6 WHEN 0 THEN 'NaN' WHEN 1 THEN repeat('9', 38)::numeric
			WHEN 2 THEN -repeat('9', 38)::numeric WHEN 3 THEN 0 WHEN 4 THEN power(10::numeric, n % 38)
			ELSE n * 10000000000000000000000000000.0 END,
		(n - 900) * 1e25, n % 999 / 1e30, (n - 1000) / 1e19, n
	FROM generate_series(1, 800) n;
INSERT INTO b SELECT 3000, 'NaN', 'NaN', 'NaN', 'NaN', 'NaN', 'NaN';
INSERT INTO b SELECT 3001, (repeat('9', 28) || '.9999999999')::numeric, 0, 0, 0, 0, 0;
INSERT INTO b SELECT 3002, -(repeat('9', 28) || '.9999999999')::numeric, -0.0,
	(repeat('9', 25) || '00000')::numeric, 999 / 1e30, 9999999999999999999 / 1e19, 1;
INSERT INTO b VALUES (3003, 0.0000000001, 1, -100000, -1 / 1e30, -1 / 1e19, 2), (3004, -0.0000000001, -1, 1e5, NULL, NULL, 2),
	(3005, 0, 18446744073709551615, NULL, 0, 0, 2), (3006, 1, 18446744073709551616, NULL, 0, 0, 2),
	(3007, 10000, 184467440737095516160000, NULL, 0, 0, 2), (3008, -10000.5, -18446744073709551617, NULL, 0, 0, 2);
CREATE TABLE g AS TABLE b WITH NO DATA;
ALTER TABLE g ALTER k TYPE numeric(38, 10), ALTER v TYPE numeric(38), ALTER w TYPE numeric(25, -5),
	ALTER x TYPE numeric(3, 30), ALTER y TYPE numeric(19, 19), ALTER z TYPE numeric(12, 2);
INSERT INTO g TABLE b;
CREATE INDEX b_k ON b (k) INCLUDE (id, v, w, x, y, z);
CREATE INDEX g_k ON g USING gpubtree (k) INCLUDE (id, v, w, x, y, z);
INSERT INTO b SELECT id + 10000, k, v, w, x, y, z FROM b WHERE id % 5 < 2;
INSERT INTO g SELECT id + 10000, k, v, w, x, y, z FROM g WHERE id % 5 < 2;
\set ECHO all

SELECT gpubtree_check('g_k', true);
VACUUM ANALYZE b;
VACUUM ANALYZE g;
SELECT key_width, row_width FROM gpubtree_metap('g_k');

\set ECHO none
\i :abs_srcdir/sql/common/same_tables.sql

CREATE TABLE conditions (c text, n serial);
INSERT INTO conditions (c)
SELECT format('k %s %s', o, c) FROM unnest('{<,<=,=,>=,>}'::text[]) o,
	unnest('{0,0.0000000001,-0.0000000001,0.00000000005,-0.00000000005,1e-1000,-1e-500,1e40,-1e40,
		9999999999999999999999999999.9999999999,9999999999999999999999999999.99999999995,
		-9999999999999999999999999999.9999999999,-9999999999999999999999999999.99999999995,
		1e28,-1e28,9.9e27,''NaN'',''infinity'',''-infinity'',3::bigint,7::smallint,1.00,
		15432098626543209862.6265432098625,15432098626543209862.62654320986,10000,-10000.5}'::text[]) c
UNION ALL SELECT * FROM unnest('{"k IS NULL","k IS NOT NULL","true","k BETWEEN 10 AND 5",
	"k BETWEEN -1 AND 1e30","k = ANY (''{1,0,NULL,NaN,1e50,0.00000000005}'')",
	"k < ANY (''{1.5,-2e20,NULL}'')","k >= ALL (''{1.5,2e20}'')","k IN (1, 1.0000, 10000)"}'::text[]);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
\set ECHO all
EXPLAIN (COSTS OFF) SELECT id, k, v, w, x, y, z FROM g WHERE k > 12.345;
SELECT same(format('SELECT id, k, v, w, x, y, z FROM $t WHERE %s', c)) ~ 'same$' AS same, count(*)
	FROM conditions GROUP BY 1;
\set ECHO none
SELECT c, same(format('SELECT count(*), count(v), sum(id), count(k) FROM $t WHERE %s', c)) FROM conditions
	WHERE n % 5 = 1 AND same(format('SELECT count(*), count(v), sum(id), count(k) FROM $t WHERE %s', c)) NOT LIKE '%same';
SELECT c, same(format('SELECT v, sum(v), avg(k), min(w), max(k), count(*) FROM $t WHERE %s GROUP BY v', c)) FROM conditions
	WHERE n % 5 = 1 AND same(format('SELECT v, sum(v), avg(k), min(w), max(k), count(*) FROM $t WHERE %s GROUP BY v', c)) NOT LIKE '%same';
SELECT c, same(format('SELECT x, k FROM $t WHERE %s AND z < 900 AND v > 0', c)) FROM conditions
	WHERE n % 5 = 1 AND same(format('SELECT x, k FROM $t WHERE %s AND z < 900 AND v > 0', c)) NOT LIKE '%same';
SELECT c, same(format('SELECT count(DISTINCT v), percentile_disc(0.3) WITHIN GROUP (ORDER BY k) FROM $t WHERE %s', c)) FROM conditions
	WHERE n % 5 = 1 AND same(format('SELECT count(DISTINCT v), percentile_disc(0.3) WITHIN GROUP (ORDER BY k) FROM $t WHERE %s', c)) NOT LIKE '%same';
SET enable_indexonlyscan = off;
SELECT c FROM conditions WHERE n % 5 = 2 AND same(format('SELECT * FROM $t WHERE %s', c)) NOT LIKE '%same';
RESET enable_indexonlyscan;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT c FROM conditions WHERE n % 5 = 2 AND same(format('SELECT * FROM $t WHERE %s', c)) NOT LIKE '%same';
RESET enable_indexscan;
SET enable_bitmapscan = off;
\set ECHO all
SELECT same('SELECT n, k, v FROM (VALUES (1.5), (1), (-10000.5), (1e20), (NULL), (''NaN''), (1e50)) o (n) JOIN $t ON k = n');
SELECT same('SELECT o.id, o.v, i.id, i.k FROM b o JOIN $t i ON i.k = o.v');
SELECT same('SELECT o.id, (SELECT count(*) FROM $t i WHERE i.k BETWEEN o.v AND o.v * 2) FROM b o WHERE o.id % 9 = 0');
SELECT same('SELECT sum(z), avg(z), max(z) FROM $t WHERE k > 0 AND z > 10');
SELECT same('SELECT k, v FROM $t ORDER BY k OFFSET 900 LIMIT 5');

-- other orders
DROP INDEX g_k;
CREATE INDEX g_k ON g USING gpubtree (k DESC NULLS FIRST) INCLUDE (id, v, w, x, y, z);
SELECT same(format('SELECT id, k, v FROM $t WHERE %s', c)) ~ 'same$' AS same, count(*) FROM conditions WHERE n % 3 = 0 GROUP BY 1;
SELECT k FROM g WHERE k >= 15416666600000000000000 ORDER BY k DESC LIMIT 4;
SELECT k FROM g WHERE k <= -6100000000000000000000 ORDER BY k LIMIT 4;
DROP INDEX g_k;
CREATE INDEX g_k ON g USING gpubtree (k DESC NULLS LAST);
SELECT same(format('SELECT k FROM $t WHERE %s', c)) ~ 'same$' AS same, count(*) FROM conditions WHERE n % 3 = 0 GROUP BY 1;
DROP INDEX g_k;
CREATE INDEX g_k ON g USING gpubtree (k NULLS FIRST) INCLUDE (v);
SELECT same(format('SELECT k, v FROM $t WHERE %s', c)) ~ 'same$' AS same, count(*) FROM conditions WHERE n % 3 = 0 GROUP BY 1;
SELECT gpubtree_check('g_k', true);

-- ---- ALTER TABLE ----
CREATE FUNCTION file_of(index regclass) RETURNS oid LANGUAGE sql AS
	'SELECT pg_relation_filenode(index)::oid';

-- From 8 bytes: the file stays, and what it cannot hold is refused until the index is built anew.
CREATE TABLE a (id int, k numeric(10, 2), v numeric(10, 2));
INSERT INTO a SELECT n, n / 4.0, -n / 4.0 FROM generate_series(1, 1000) n;
CREATE INDEX a_k ON a USING gpubtree (k) INCLUDE (v);
SELECT key_width, row_width FROM gpubtree_metap('a_k');
SELECT file_of('a_k') AS file \gset
ALTER TABLE a ALTER k TYPE numeric(30, 2), ALTER v TYPE numeric(38, 2);
SELECT file_of('a_k') = :file AS stays;
SELECT key_width, row_width FROM gpubtree_metap('a_k');
INSERT INTO a VALUES (0, 9999999999999999.99, -9999999999999999.99);
INSERT INTO a VALUES (0, 10000000000000000.00, 1.50);
INSERT INTO a VALUES (0, 1.50, -10000000000000000.00);
SELECT k, v FROM a WHERE k > 249.75;
SELECT sum(v), count(*) FROM a WHERE k > 249;
SELECT gpubtree_check('a_k', true);
REINDEX INDEX a_k;
SELECT key_width, row_width FROM gpubtree_metap('a_k');
INSERT INTO a VALUES (0, 9999999999999999999999999999.99, 999999999999999999999999999999999999.99);
SELECT k, v FROM a WHERE k > 249.75;
SELECT sum(v), count(*) FROM a WHERE k > 249;
-- More digits than an index can be built for, or no precision
SELECT file_of('a_k') AS file \gset
ALTER TABLE a ALTER k TYPE numeric(100, 2), ALTER v TYPE numeric;
SELECT file_of('a_k') = :file AS stays;
INSERT INTO a VALUES (0, 1e35, 1.5);
INSERT INTO a VALUES (0, 1e35, 1.50), (0, 'NaN', 'NaN');
INSERT INTO a VALUES (0, 1e36, 1.50);
INSERT INTO a VALUES (0, 1, 'infinity');
SELECT k, v FROM a WHERE k > 249.75;
SELECT gpubtree_check('a_k', true);
REINDEX INDEX a_k;
-- fewer digits
DELETE FROM a WHERE k > 1000;
ALTER TABLE a ALTER k TYPE numeric(10, 2), ALTER v TYPE numeric(10, 2);
SELECT key_width, row_width FROM gpubtree_metap('a_k');
SELECT k, v FROM a WHERE k > 249.75;
SELECT gpubtree_check('a_k', true);

DROP TABLE a, b, conditions, g;
DROP FUNCTION rows_of, same, file_of;
