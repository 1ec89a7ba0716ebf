--
-- numeric(p, s) of up to 18 digits, and time with time zone, as one of several key columns
--
SET timezone = 'UTC';
SET enable_seqscan = off;
SET enable_incremental_sort = off;

-- The values at the limits of each column, NaN, zeros, NULL; digits behind the point and before it
CREATE TABLE t (id int, a int4 NOT NULL, p numeric(12, 2), q numeric(2, 4) NOT NULL, r numeric(18, 6),
	s numeric(3, -2), d date, v int4);
INSERT INTO t SELECT n, n % 12 - 6, CASE WHEN n % 13 > 0 THEN (n % 500 - 250) / 8.0 END,
	CASE n % 50 WHEN 7 THEN 'NaN' ELSE n % 9 / 10000.0 END,
	CASE n % 29 WHEN 0 THEN NULL WHEN 1 THEN 999999999999.999999 WHEN 2 THEN -999999999999.999999
		WHEN 3 THEN 'NaN' ELSE n % 11 / 7.0 END,
	CASE WHEN n % 17 > 0 THEN (n % 199 - 99) * 100 END, date '2026-01-01' + n % 40, n % 1000
	FROM generate_series(1, 3000) n;
INSERT INTO t SELECT 7000, a, p, q, r, s, date '2026-01-01', 7 FROM unnest('{-6,3}'::int4[]) a,
	unnest('{9999999999.99,-9999999999.99,0,-0.01,0.01,NaN,NULL}'::numeric[]) p, unnest('{0.0099,-0.0099,NaN,0}'::numeric[]) q,
	unnest('{999999999999.999999,-999999999999.999999,NaN,NULL}'::numeric[]) r, unnest('{99900,-99900,NaN,NULL}'::numeric[]) s;
CREATE INDEX t_ap ON t USING gpubtree (a, p) INCLUDE (v);
CREATE INDEX t_pd ON t USING gpubtree (p DESC, d NULLS FIRST) INCLUDE (v, r);
CREATE INDEX t_qsp ON t USING gpubtree (q, s DESC NULLS LAST, p NULLS FIRST) INCLUDE (v);
CREATE INDEX t_srd ON t USING gpubtree (s NULLS FIRST, r, d DESC) INCLUDE (v);
CREATE INDEX t_pp ON t USING gpubtree (p, p DESC NULLS LAST);
CREATE INDEX t_expression ON t USING gpubtree (a, ((v / 4.0)::numeric(6, 1)));
VACUUM ANALYZE t;
\set ECHO all

SELECT c, key_width, gpubtree_check(c, true) FROM unnest('{t_ap,t_pd,t_qsp,t_srd,t_pp,t_expression}'::regclass[]) c, gpubtree_metap(c) ORDER BY c::text;
SELECT itemoffset, key FROM gpubtree_page_items('t_qsp', 1) LIMIT 2;

\set ECHO none
-- All rows of a query as one text, which shows each value in full, by ours and by core's plans
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE ours text; theirs text; n bigint;
BEGIN
	EXECUTE format('SELECT string_agg(r_::text, '',''), count(*) FROM (%s) r_', query) INTO ours, n;
	PERFORM set_config('gpubtree.enabled', 'off', true), set_config('enable_seqscan', 'on', true),
		set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true),
		set_config('enable_bitmapscan', 'off', true);
	EXECUTE format('SELECT string_agg(r_::text, '','') FROM (%s) r_', query) INTO theirs;
	PERFORM set_config('gpubtree.enabled', 'on', true), set_config('enable_seqscan', 'off', true),
		set_config('enable_indexscan', 'on', true), set_config('enable_indexonlyscan', 'on', true),
		set_config('enable_bitmapscan', 'on', true);
	RETURN CASE WHEN ours IS NOT DISTINCT FROM theirs THEN n || ' rows, the same'
		ELSE query || E'\ncore: ' || left(theirs, 300) || E'\nours: ' || left(ours, 300) END;
END $$;
-- The same of several queries with one condition: what the first one says, and what differs
CREATE FUNCTION all_same(c text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(s, '; ' ORDER BY n) FROM (SELECT n, same(format(query, c)) FROM (VALUES
		(1, 'SELECT id, a, p, q, r, s, d, v FROM t WHERE %s ORDER BY id, a, p, q, r, s'),
		(2, 'SELECT a, p, v FROM t WHERE %s ORDER BY a, p, v'),
		(3, 'SELECT q, s, p, v FROM t WHERE %s ORDER BY q, s, p, v'),
		(4, 'SELECT count(*), sum(v), sum(p), avg(p), min(p), max(p) FROM t WHERE %s'),
		(5, 'SELECT count(*), sum(s), min(s), max(q), sum(q), min(p) FROM t WHERE %s'),
		(6, 'SELECT count(*), sum(r), variance(s), max(r), count(DISTINCT s) FROM t WHERE %s'),
		(7, 'SELECT p, count(*), sum(v), max(d) FROM t WHERE %s GROUP BY p ORDER BY p'),
		(8, 'SELECT s, q, count(*), sum(v), sum(p) FROM t WHERE %s GROUP BY s, q ORDER BY s, q'),
		(9, 'SELECT sum(p * 2 - 1.5), count(*) FILTER (WHERE p * 3 > 10.25), sum(CASE WHEN p > 0 THEN p END) FROM t WHERE %s')) q (n, query)
	) x (n, s) WHERE n = 1 OR s NOT LIKE '% rows, the same'
$$;
CREATE TABLE conditions (n int GENERATED ALWAYS AS IDENTITY, c text);
INSERT INTO conditions (c) VALUES
	('true'), ('a = 3'), ('a = 3 AND p = 12.5'), ('a = 3 AND p = 12.505'), ('a = 3 AND p > 12.345'), ('a = 3 AND p >= 12.5'),
	('a = 3 AND p <= 12.505'), ('a = 3 AND p < -12.005'), ('a = 3 AND p > -12.001'), ('a = 3 AND p < 0'), ('a = 3 AND p = 0'),
	('a = 3 AND p = 0::int'), ('a = 3 AND p > 3'), ('a = 3 AND p > 1e-300'), ('a = 3 AND p < -1e-300'), ('a = 3 AND p > 1e30'),
	('a = 3 AND p < 1e30'), ('a = 3 AND p > -1e30'), ('a = 3 AND p < -1e30'), ('a = 3 AND p > 9999999999.99'),
	('a = 3 AND p >= 9999999999.985'), ('a = 3 AND p >= 10000000000'), ('a = 3 AND p > 10995116277.75'),
	('a = 3 AND p < -9999999999.99'), ('a = 3 AND p <= -9999999999.99'), ('a = 3 AND p < ''NaN'''), ('a = 3 AND p <= ''NaN'''),
	('a = 3 AND p = ''NaN'''), ('a = 3 AND p >= ''NaN'''), ('a = 3 AND p > ''NaN'''), ('a = 3 AND p < ''infinity'''),
	('a = 3 AND p > ''infinity'''), ('a = 3 AND p > ''-infinity'''), ('a = 3 AND p < ''-infinity'''), ('a = 3 AND p = ''infinity'''),
	('a = 3 AND p IS NULL'), ('a = 3 AND p IS NOT NULL'), ('a = 3 AND p = ANY (''{1.5,2.125,2.505,NULL,NaN,1e40,-1e40,infinity}'')'),
	('a = ANY (''{1,3,-6}'') AND p > ANY (''{20,1e9,NaN,NULL}'')'), ('a = 3 AND p < ALL (''{20,1e9,NaN}'')'),
	('a > 2 AND p = 12.5'), ('p = 12.5'), ('p = 12.5 AND d > ''2026-01-20'''), ('p IS NULL AND d = ''2026-01-05'''),
	('p = ''NaN'' AND d >= ''2026-01-01'''), ('p > 9999999999 AND d IS NOT NULL'), ('p BETWEEN -1.001 AND 1.001'),
	('(a, p) > (3, 12.345)'), ('(a, p) <= (-5, 2.5)'), ('(a, p) < (3, ''NaN'')'), ('(p, d) < (-20, ''2026-01-20'')'),
	('(p, d) >= (''NaN'', ''2026-01-01'')'), ('q = 0.0005 AND s = 1000'), ('q = 0.0005 AND s = 1050'), ('q = 0.0005 AND s > 1049'),
	('q = ''NaN'' AND s < -9899'), ('q = -0.0099 AND s = -99900 AND p IS NULL'), ('q = 0.0099 AND s = ''NaN'' AND p = ''NaN'''),
	('q = 0.0099 AND s IS NULL AND p > 0'), ('q < 0'), ('q > 0.0098'), ('q > 0.00985 AND q < 0.0099'), ('s = 1000 AND r > 1.4285'),
	('s = 1000 AND r = 1.428571'), ('s IS NULL AND r = ''NaN'''), ('s IS NULL AND r = -999999999999.999999'), ('s = 1e2 AND r < 1e12'),
	('s IN (100, 200, -9900, 250) AND r >= 999999999999.999999'), ('r = 999999999999.999999'),
	('a = 3 AND p > 5 AND v % 3 = 1 AND p < 1000'), ('a = 3 AND p * 2 > 10.5'), ('q = 0.0002 AND abs(s) > 500 AND p <> 3.13');
\set ECHO all
SELECT n, c, all_same(c) FROM conditions ORDER BY n;
SELECT same('SELECT a, p FROM t ORDER BY a, p'), same('SELECT a, p FROM t ORDER BY a DESC, p DESC'),
	same('SELECT p, d FROM t ORDER BY p DESC, d NULLS FIRST'), same('SELECT p, d FROM t ORDER BY p, d DESC NULLS LAST'),
	same('SELECT q, s, p FROM t ORDER BY q, s DESC NULLS LAST, p NULLS FIRST'), same('SELECT q, s, p FROM t ORDER BY q DESC, s NULLS FIRST, p DESC NULLS LAST'),
	same('SELECT s, r, d FROM t ORDER BY s NULLS FIRST, r, d DESC'), same('SELECT p FROM t WHERE a = 3 ORDER BY p LIMIT 5'),
	same('SELECT DISTINCT a, p FROM t ORDER BY a, p'), same('SELECT a, (v / 4.0)::numeric(6, 1) AS e FROM t WHERE a = 2 ORDER BY 2');

-- The nodes that take them
EXPLAIN (COSTS OFF) SELECT count(*), sum(v), sum(p), max(p) FROM t WHERE a = 3 AND p > 12.345;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT p, v FROM t WHERE a = 3 AND p > 12.345 AND p * 3 < 100.25;
SELECT same('SELECT p, v FROM t WHERE a = 3 AND p > 12.345 AND p * 3 < 100.25 ORDER BY p, v');
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT p, count(*), sum(v), max(d) FROM t WHERE p > 12.345 GROUP BY p;
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (a) a, p, v FROM t ORDER BY a, p DESC;
SELECT same('SELECT DISTINCT ON (a) a, p FROM t ORDER BY a, p DESC'), same('SELECT DISTINCT ON (a) a, p FROM t WHERE p < 5.001 ORDER BY a, p DESC'),
	same('SELECT a, max(p), min(p) FROM t GROUP BY a ORDER BY a'), same('SELECT q, max(s), min(s) FROM t GROUP BY q ORDER BY q');
SET gpubtree.setup_cost = 0;
SET gpubtree.enable_scan = off;
SET enable_sort = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT p FROM t WHERE a = 3 ORDER BY p OFFSET 400 LIMIT 3;
SELECT same('SELECT p FROM t WHERE a = 3 ORDER BY p OFFSET 400 LIMIT 3'), same('SELECT p FROM t WHERE a = 3 ORDER BY p DESC OFFSET 20 LIMIT 300'),
	same('SELECT s FROM t WHERE q = 0.0002 ORDER BY s DESC NULLS LAST OFFSET 100 LIMIT 300'), same('SELECT s FROM t WHERE q = ''NaN'' ORDER BY s NULLS FIRST OFFSET 10 LIMIT 300');
RESET gpubtree.setup_cost;
RESET gpubtree.enable_scan;
RESET enable_sort;
RESET enable_bitmapscan;
EXPLAIN (COSTS OFF) SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY p) FROM t WHERE a = 3;
SELECT same('SELECT percentile_disc(ARRAY[0, 0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 1]) WITHIN GROUP (ORDER BY p) FROM t WHERE a = 3'),
	same('SELECT percentile_disc(ARRAY[0, 0.1, 0.25, 0.5, 1]) WITHIN GROUP (ORDER BY s) FROM t WHERE q = 0.0099');
CREATE TABLE o AS SELECT n AS oid, n % 14 - 7 AS k, CASE WHEN n % 10 > 0 THEN (n % 600 - 300) / 16.0 END AS x,
	n % 9 / 10000.00 AS y FROM generate_series(1, 500) n;
INSERT INTO o SELECT 1000, 3, x, 'NaN' FROM unnest('{NaN,infinity,-infinity,1e20,-1e20,9999999999.99}'::numeric[]) x;
ANALYZE o;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT oid, t.id FROM o JOIN t ON t.a = o.k AND t.p = o.x;
EXPLAIN (COSTS OFF) SELECT oid, n, s FROM o, LATERAL (SELECT count(*) n, sum(p) s FROM t WHERE t.a = o.k AND t.p >= o.x AND t.p < o.x + 1.001) l;
SELECT same('SELECT oid, t.id, t.p FROM o JOIN t ON t.a = o.k AND t.p = o.x ORDER BY oid, id, p'),
	same('SELECT oid, k, x, t.s FROM o JOIN t ON t.q = o.y AND t.s > o.x * 100 AND t.s <= o.x * 100 + 300 ORDER BY oid, k, x, s'),
	same('SELECT oid, x, n, s FROM o, LATERAL (SELECT count(*) n, sum(p) s FROM t WHERE t.a = o.k AND t.p >= o.x AND t.p < o.x + 1.001) l ORDER BY oid, x'),
	same('SELECT oid, x, (SELECT max(p) FROM t WHERE t.a = o.k AND t.p < o.x) AS m FROM o ORDER BY oid, x');
RESET enable_hashjoin;
RESET enable_nestloop;
SELECT same('SELECT count(*), sum(x.v) FROM t x JOIN t y ON x.a = y.a AND x.p = y.p WHERE y.id % 9 = 0');
RESET enable_mergejoin;
-- a prepared statement, whose constant is not known when it is planned
PREPARE by_price (int, numeric) AS SELECT count(*), sum(p) FROM t WHERE a = $1 AND p > $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_price (3, 3.14159);
EXECUTE by_price (3, 'NaN');
EXECUTE by_price (3, '-infinity');
EXECUTE by_price (3, 9999999999.985);
RESET plan_cache_mode;
DEALLOCATE by_price;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*), sum(p), max(p) FROM t WHERE a = 3 AND p BETWEEN 3.14159 AND 20;
COMMIT;
\set ECHO none
-- on a device, if there is one
SET gpubtree.batch_setup_cost = 0;
SELECT n, all_same(c) FROM conditions WHERE all_same(c) NOT LIKE '% rows, the same';
RESET gpubtree.batch_setup_cost;
-- changes, and splits
INSERT INTO t SELECT id + 10000, a, p + 0.01, q, r, s, d, v FROM t WHERE id % 3 = 0 AND p < 1000;
UPDATE t SET p = -p WHERE id % 7 = 0;
DELETE FROM t WHERE id % 5 = 0;
VACUUM t;
\set ECHO all
SELECT c, gpubtree_check(c, true) FROM unnest('{t_ap,t_pd,t_qsp,t_srd,t_pp,t_expression}'::regclass[]) c;
SELECT n, all_same(c) FROM conditions WHERE all_same(c) NOT LIKE '% rows, the same';
-- NULL where the column was NOT NULL: numerics have a code for it
ALTER TABLE t ALTER q DROP NOT NULL;
INSERT INTO t (id, a, s) VALUES (9000, 1, 100);
SELECT id, q, s, p FROM t WHERE q IS NULL AND s = 100 AND p IS NULL;
SELECT gpubtree_check('t_qsp', true);
-- columns that may not be equal together
CREATE TABLE u (a int4 NOT NULL, p numeric(12, 2), EXCLUDE USING gpubtree (a WITH =, p WITH =));
INSERT INTO u VALUES (1, 1.5), (1, 1.51), (1, NULL), (1, NULL), (1, 'NaN'), (2, 1.5);
INSERT INTO u VALUES (1, 1.499);
INSERT INTO u VALUES (1, 'NaN');
INSERT INTO u VALUES (1, 1.515);
INSERT INTO u VALUES (1, 1.5), (3, 1.5) ON CONFLICT DO NOTHING;
SELECT * FROM u ORDER BY a, p;
DROP TABLE o, u, conditions;

\set ECHO none
-- ---- ALTER TABLE ----

-- More digits keep the index.  Its keys have room for more of them than the columns had: p for 9, q
-- of the wide keys for 18.  Values that do not fit are refused.
CREATE TABLE w (a int4 NOT NULL, p numeric(6, 2), q numeric(4, 1), v int4);
INSERT INTO w SELECT n % 5, (n - 500) * 1.25, n % 100 / 10.0, n FROM generate_series(1, 1000) n;
INSERT INTO w VALUES (3, 'NaN', 1, 0), (3, NULL, 'NaN', 0), (3, 9999.99, 999.9, 0), (3, -9999.99, -999.9, 0);
CREATE INDEX w_pa ON w USING gpubtree (p, a);
CREATE INDEX w_aqp ON w USING gpubtree (a, q DESC, p) INCLUDE (v);
CREATE FUNCTION files() RETURNS TABLE (c text, file oid) LANGUAGE sql AS $$
	SELECT relname::text, pg_relation_filenode(oid) FROM pg_class WHERE relname IN ('w_pa', 'w_aqp') $$;
CREATE TABLE was AS SELECT * FROM files();
CREATE FUNCTION look() RETURNS TABLE (c text, kept boolean, key_width int, wrong text, rows text, sums text) LANGUAGE sql AS $$
	SELECT f.c, f.file = was.file, (SELECT m.key_width FROM gpubtree_metap(f.c) m), gpubtree_check(f.c, true)::text,
		same(CASE f.c WHEN 'w_pa' THEN 'SELECT p, a FROM w WHERE p > 400.111 ORDER BY p, a'
			ELSE 'SELECT a, q, p FROM w WHERE a = 3 AND q < 5.55 ORDER BY a, q DESC, p' END),
		same(CASE f.c WHEN 'w_pa' THEN 'SELECT count(*), sum(p), max(p), min(a) FROM w WHERE p < 900.111'
			ELSE 'SELECT count(*), sum(p), max(p), min(q) FROM w WHERE a = 3 AND q > -1000000' END)
	FROM files() f JOIN was ON was.c = f.c ORDER BY 1 $$;
\set ECHO all
SELECT * FROM look();
ALTER TABLE w ALTER p TYPE numeric(10, 2);
SELECT * FROM look();
INSERT INTO w VALUES (3, 1234.56, 2, 1), (3, 9999.99, 2, 1);
INSERT INTO w VALUES (3, 1234567.89, 2, 1), (3, -9999999.99, 2, 1);
SELECT * FROM look();
INSERT INTO w VALUES (3, 10000000.00, 2, 1);
UPDATE w SET p = -10000000 WHERE v = 3;
INSERT INTO w VALUES (3, 12, 12345.6, 1);
-- across the limit of 18 digits, and without a precision
ALTER TABLE w ALTER p TYPE numeric(30, 2), ALTER q TYPE numeric;
SELECT * FROM look();
INSERT INTO w VALUES (3, 4321.09, 2.5, 1), (3, 'NaN', 'NaN', 1);
INSERT INTO w VALUES (3, 1, 1.25, 1);
INSERT INTO w VALUES (3, 1, 12345678901234567.8, 1), (3, 1, -99999999999999999.9, 1);
INSERT INTO w VALUES (3, 1, 100000000000000000.0, 1);
INSERT INTO w VALUES (3, 'infinity', 1, 1);
SELECT * FROM look();
-- nor can it be built anew then
REINDEX INDEX w_pa;
REINDEX INDEX w_aqp;
UPDATE w SET q = 0.0 WHERE abs(q) > 1000000;
ALTER TABLE w ALTER p TYPE numeric(12, 2), ALTER q TYPE numeric(8, 1);
SELECT * FROM look();
INSERT INTO w VALUES (3, 1000000000.25, 1234567.5, 1);
UPDATE was SET file = files.file FROM files() WHERE files.c = was.c;
-- a REINDEX has the digits of the column
ALTER TABLE w ALTER p TYPE numeric(14, 2);
INSERT INTO w VALUES (3, 99999999999.99, 1, 1);
REINDEX TABLE w;
INSERT INTO w VALUES (3, 99999999999.99, 1, 1);
SELECT * FROM look();
-- fewer digits, or another scale: built anew
UPDATE was SET file = files.file FROM files() WHERE files.c = was.c;
DELETE FROM w WHERE abs(p) > 99999;
ALTER TABLE w ALTER p TYPE numeric(7, 2);
SELECT * FROM look();
ALTER TABLE w ALTER p TYPE numeric(12, 3);
SELECT * FROM look();
TRUNCATE w;
INSERT INTO w VALUES (1, 123456789.125, 1234567.5, 1);
SELECT a, p, q FROM w WHERE a = 1 AND q > 1234567.45;
DROP TABLE w, was;
DROP FUNCTION look, files;

-- A domain, and a table whose index is empty
CREATE DOMAIN price AS numeric(8, 3) CHECK (value > -1000);
CREATE UNLOGGED TABLE e (a int4 NOT NULL, p price NOT NULL, x int8 NOT NULL);
CREATE INDEX e_k ON e USING gpubtree (a, p, x);
SELECT key_width, gpubtree_check('e_k') FROM gpubtree_metap('e_k');
INSERT INTO e VALUES (1, 99999.999, 3), (1, -0.001, 3), (1, 'NaN', 3);
SELECT a, p, x FROM e WHERE a = 1 AND p > -0.0005 ORDER BY p;
SELECT sum(p), max(p) FROM e WHERE a = 1 AND p < 100000;
DROP TABLE e;
DROP DOMAIN price;

-- What does not fit is refused
CREATE TABLE r (a int4 NOT NULL, n numeric, w numeric(19, 2), x numeric(3, 19), y numeric(40, 2), p numeric(18, 2), b int8, z timetz, u uuid);
CREATE INDEX ON r USING gpubtree (a, n);
CREATE INDEX ON r USING gpubtree (a, w);
CREATE INDEX ON r USING gpubtree (a, x);
CREATE INDEX ON r USING gpubtree (a, y);
CREATE INDEX ON r USING gpubtree (p, p, a);
CREATE INDEX ON r USING gpubtree (p, b, a);
CREATE INDEX ON r USING gpubtree (a, (n / 2));
CREATE INDEX ON r USING gpubtree (z, u);
CREATE INDEX ON r USING gpubtree (p, (b::numeric(18, 0)));
DROP TABLE t, r;

-- ---- time with time zone ----

CREATE TABLE z (a int4 NOT NULL, t timetz, v int4);
INSERT INTO z SELECT n % 7, CASE WHEN n % 50 > 0 THEN
	(timetz '00:00+00' + n * interval '17 minutes') AT TIME ZONE make_interval(hours => n % 5 - 2) END, n FROM generate_series(1, 3000) n;
INSERT INTO z SELECT 3, t, 0 FROM unnest('{00:00+15:59:59,24:00-15:59:59,24:00+00,00:00+00,12:00-01,13:00+00,11:00-02}'::timetz[]) t;
CREATE INDEX z_at ON z USING gpubtree (a, t DESC) INCLUDE (v);
CREATE INDEX z_ta ON z USING gpubtree (t NULLS FIRST, a);
VACUUM ANALYZE z;
SELECT c, key_width, gpubtree_check(c, true) FROM unnest('{z_at,z_ta}'::regclass[]) c, gpubtree_metap(c) ORDER BY c::text;
SELECT c, same(format('SELECT a, t, v FROM z WHERE %s ORDER BY a, t, v', c)),
	same(format('SELECT count(*), sum(v), count(t) FROM z WHERE %s', c)), same(format('SELECT t, a FROM z WHERE %s ORDER BY t NULLS FIRST, a', c))
FROM (VALUES ('a = 3'), ('a = 3 AND t = ''13:00+00'''), ('a = 3 AND t > ''13:00+00'''), ('a = 3 AND t <= ''12:00-01'''), ('a = 3 AND t IS NULL'),
	('t = ''13:00+00'''), ('t < ''00:00+15'''), ('a < 3 AND t > ''24:00-15'''), ('(a, t) > (3, ''12:00-01'')'),
	('a = 3 AND t = ANY (''{13:00+00,12:00-01,14:00+01,NULL}'')')) q (c);
SELECT same('SELECT DISTINCT ON (a) a, t FROM z ORDER BY a, t DESC'), same('SELECT a, max(t), min(t) FROM z GROUP BY a ORDER BY a');
INSERT INTO z VALUES (1, timetz '12:00+00' AT TIME ZONE interval '300 hours', 1);
SELECT c, gpubtree_check(c, true) FROM unnest('{z_at,z_ta}'::regclass[]) c;
DROP TABLE z;
DROP FUNCTION same, all_same;
