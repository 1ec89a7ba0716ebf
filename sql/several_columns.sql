-- Indexes with several key columns: what fits, NULLs, conditions on each column, order, and DDL
SET enable_seqscan = off;
SET enable_incremental_sort = off;
SET enable_bitmapscan = off;
SET gpubtree.enable_scan = off;
SET gpubtree.enable_aggregate = off;
SET gpubtree.enable_rangeaggregate = off;

CREATE TABLE sc (a int4 NOT NULL, d date, s int2, o boolean, v int4);
INSERT INTO sc SELECT i % 20, date '2020-01-01' + i * 7919 % 1000, nullif(i % 50, 0) - 25, nullif(i % 3, 0) = 1, i
FROM generate_series(1, 20000) i;
INSERT INTO sc SELECT 5, d, 1, true, 7 FROM unnest(ARRAY[NULL, 'infinity', '-infinity']::date[]) d;
CREATE INDEX sc_ad ON sc USING gpubtree (a, d) INCLUDE (v);
CREATE INDEX sc_sdo ON sc USING gpubtree (s DESC, o NULLS FIRST, d DESC NULLS LAST);
CREATE INDEX sc_expression ON sc USING gpubtree (o, (v % 7));
\set ECHO all

SELECT gpubtree_check('sc_ad', true), gpubtree_check('sc_sdo', true), gpubtree_check('sc_expression', true);
VACUUM ANALYZE sc;

-- One range: equality on the first column, and a range on the next
EXPLAIN (COSTS OFF) SELECT a, d FROM sc WHERE a = 5 AND d BETWEEN '2020-03-01' AND '2020-04-01';
SELECT count(*), sum(v) FROM sc WHERE a = 5 AND d BETWEEN '2020-03-01' AND '2020-04-01';
SELECT count(*), sum(v) FROM sc WHERE a + 0 = 5 AND d + 0 BETWEEN '2020-03-01' AND '2020-04-01';
-- values of other types
SELECT count(*) FROM sc WHERE a = 5::int8 AND d >= timestamp '2020-03-01 12:00';
SELECT count(*) FROM sc WHERE a + 0 = 5::int8 AND d + 0 >= timestamp '2020-03-01 12:00';
SELECT count(*) FROM sc WHERE a = 5000000000 AND d > '2020-03-01';
SELECT count(*) FROM sc WHERE a < 5000000000 AND d > '2022-09-01';
SELECT count(*) FROM sc WHERE a + 0 < 5000000000 AND d + 0 > '2022-09-01';
-- 65537 has the low bits of 1
SELECT count(*) FROM sc WHERE s = 65537;
SELECT count(*) FROM sc WHERE s = 1 AND o;
SELECT count(*) FROM sc WHERE s + 0 = 1 AND o IS TRUE;

-- infinities and NULL do not mix
SELECT a, d FROM sc WHERE a = 5 AND d >= 'infinity';
SELECT a, d FROM sc WHERE a = 5 AND d <= '-infinity';
SELECT count(*) FROM sc WHERE a = 5 AND d < 'infinity';
SELECT count(*) FROM sc WHERE a = 5 AND d > '-infinity';
SELECT a, d FROM sc WHERE a = 5 AND d IS NULL;
SELECT count(*) FROM sc WHERE a = 5 AND d IS NOT NULL;
SELECT count(*) FROM sc WHERE a IS NULL;
SELECT count(*) FROM sc WHERE a IS NOT NULL AND d IS NULL;
SELECT count(*) FROM sc WHERE a = NULL AND d IS NULL;

-- many ranges
SELECT count(*), sum(v) FROM sc WHERE a = ANY ('{1,7,5,7,100}') AND d >= '2022-01-01';
SELECT count(*), sum(v) FROM sc WHERE a + 0 = ANY ('{1,7,5,7,100}') AND d + 0 >= '2022-01-01';
SELECT count(*) FROM sc WHERE a = ANY ('{1,7,NULL,5}') AND d = ANY ('{2020-03-02,2022-03-04,2020-03-04}');
SELECT count(*) FROM sc WHERE a + 0 = ANY ('{1,7,NULL,5}') AND d + 0 = ANY ('{2020-03-02,2022-03-04,2020-03-04}');
SELECT count(*) FROM sc WHERE a = ANY ('{}'::int[]) AND d = '2020-03-02';
SELECT count(*) FROM sc WHERE a = 4 AND d > ANY ('{2022-01-01,2022-08-01}');

-- conditions that no prefix bounds are tested for each entry, and no row is fetched in vain
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT a, d FROM sc WHERE d = '2020-03-02';
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM sc WHERE a BETWEEN 3 AND 5 AND d = '2020-03-02';
SELECT count(*) FROM sc WHERE a + 0 BETWEEN 3 AND 5 AND d + 0 = '2020-03-02';
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM sc WHERE a > 17 AND d = '2020-03-02';
RESET enable_indexscan;
RESET enable_indexonlyscan;
SET enable_bitmapscan = off;

-- order by any prefix, both ways
EXPLAIN (COSTS OFF) SELECT a, d FROM sc WHERE a = 5 ORDER BY a DESC, d DESC LIMIT 3;
SELECT a, d FROM sc WHERE a = 5 ORDER BY a DESC, d DESC LIMIT 3;
SELECT a, d FROM sc WHERE a = 5 ORDER BY d LIMIT 3;
EXPLAIN (COSTS OFF) SELECT s, o, d FROM sc ORDER BY s DESC, o NULLS FIRST, d DESC NULLS LAST LIMIT 3;
SELECT s, o, d FROM sc ORDER BY s DESC, o NULLS FIRST, d DESC NULLS LAST LIMIT 3;
SELECT s, o, d FROM sc ORDER BY s, o DESC NULLS LAST, d NULLS FIRST LIMIT 3;
SELECT s, o, d FROM sc WHERE s = 3 AND o IS NULL ORDER BY s, o DESC NULLS LAST, d NULLS FIRST LIMIT 2;
EXPLAIN (COSTS OFF) SELECT s FROM sc ORDER BY s DESC, d;
SELECT o, v % 7, count(*) FROM sc WHERE o AND v % 7 = ANY ('{3,4}') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT o, v % 7 AS m FROM sc WHERE o IS NULL ORDER BY o, v % 7 DESC LIMIT 1;

-- mark and restore: a merge join on both columns
SET enable_hashjoin = off;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM sc x JOIN sc y USING (a, d);
SELECT count(*) FROM sc x JOIN sc y USING (a, d);
RESET enable_hashjoin;
RESET enable_nestloop;
SET enable_mergejoin = off;
SELECT count(*) FROM sc x JOIN sc y USING (a, d);
RESET enable_mergejoin;

-- a cursor that turns around
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a, d FROM sc WHERE a IN (3, 5) AND d > '2022-09-20' ORDER BY a, d;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
FETCH BACKWARD 3 FROM c;
COMMIT;

-- NULL in a column that was NOT NULL: room was left for it, or it is refused
CREATE TABLE sn (a int4 NOT NULL, b int4 NOT NULL, c int2 NOT NULL);
CREATE INDEX sn_ac ON sn USING gpubtree (a, c);
INSERT INTO sn VALUES (1, 1, 1);
ALTER TABLE sn ALTER a DROP NOT NULL, ALTER c DROP NOT NULL;
INSERT INTO sn VALUES (NULL, 2, 2), (2, 3, NULL);
SELECT a, c FROM sn WHERE a IS NULL;
SELECT a, c FROM sn ORDER BY a, c;
ALTER TABLE sn ALTER c SET NOT NULL;
DELETE FROM sn WHERE c IS NULL;
ALTER TABLE sn ALTER c SET NOT NULL;
SELECT gpubtree_check('sn_ac', true);
REINDEX INDEX sn_ac;
SELECT gpubtree_check('sn_ac', true);
SELECT a, c FROM sn ORDER BY a, c;
DELETE FROM sn WHERE a IS NULL;
ALTER TABLE sn ALTER a SET NOT NULL;

\set ECHO none
-- A row that was NULL before the column became NOT NULL is dead, but a build comes to it.  Who may
-- see it does not use the index; one that was in use cannot be built anew yet.
CREATE TABLE sd (k int8, t timestamptz, a int4, d date);
INSERT INTO sd SELECT nullif(i % 10, 0), timestamptz '2024-01-01' + i * interval '1 hour', nullif(i % 9, 0), date '2024-01-01' + i
FROM generate_series(1, 100) i;
CREATE INDEX sd_ad ON sd USING gpubtree (a, d);
BEGIN;
DELETE FROM sd WHERE k IS NULL OR a IS NULL;
ALTER TABLE sd ALTER k SET NOT NULL, ALTER a SET NOT NULL;
CREATE INDEX sd_kt ON sd USING gpubtree (k, t);
\set ECHO all
SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'sd_kt'::regclass;
SAVEPOINT s;
REINDEX INDEX sd_ad;
ROLLBACK TO s;
COMMIT;
SELECT c, gpubtree_check(c) FROM unnest('{sd_kt,sd_ad}'::regclass[]) c;
SELECT count(*) FROM sd WHERE k > 0 AND t > '2024-01-02';
DROP TABLE sd;

-- The layout is the one of the build, whatever was declared since, in other sessions too
CREATE INDEX sn_ab ON sn USING gpubtree (a, b);
TRUNCATE sn;
INSERT INTO sn SELECT i, -i, 1 FROM generate_series(1, 5) i;
SELECT a, b FROM sn WHERE a > 3 AND b < -3;
ALTER TABLE sn ALTER b DROP NOT NULL;
INSERT INTO sn VALUES (6, NULL, 1);
UPDATE sn SET b = NULL WHERE a = 3;
INSERT INTO sn VALUES (6, 2147483647, 1), (6, -2147483648, 1);
SELECT a, b FROM sn WHERE b IS NULL;
SELECT a, b FROM sn WHERE a = 6 ORDER BY a, b;
SELECT gpubtree_check('sn_ab', true);
CREATE UNLOGGED TABLE su (a int2, b boolean);
CREATE INDEX ON su USING gpubtree (a, b DESC);
INSERT INTO su VALUES (1, NULL), (1, true), (NULL, false), (1, false);
SELECT * FROM su ORDER BY a, b DESC;

-- what does not fit is refused
CREATE TABLE sr (i int8 NOT NULL, t timestamptz, f float8, n int4, m int4, e text, g int8);
CREATE INDEX ON sr USING gpubtree (f, n);
CREATE INDEX ON sr USING gpubtree (i, g, n);
CREATE INDEX ON sr USING gpubtree (n, e);
CREATE INDEX ON sr USING gpubtree (n, n, n, n, n, n, n, n, n);
CREATE INDEX ON sr USING gpubtree (n, (i::numeric(22, 2)));
CREATE INDEX ON sr USING gpubtree ((e::uuid), n);

-- as the last column a float may be
CREATE TABLE sf (a boolean, f float4);
INSERT INTO sf VALUES (true, '0'), (true, '-0'), (true, 'NaN'), (true, '-infinity'), (NULL, 1), (true, NULL);
CREATE INDEX ON sf USING gpubtree (a, f);
SELECT * FROM sf WHERE a AND f = 0;
SELECT * FROM sf ORDER BY a, f;

-- the nodes: ranges of a prefix, one and for each row, and filters
RESET gpubtree.enable_scan;
RESET gpubtree.enable_aggregate;
RESET gpubtree.enable_rangeaggregate;
EXPLAIN (COSTS OFF) SELECT count(*), sum(v) FROM sc WHERE a = 5 AND d BETWEEN '2020-03-01' AND '2021-04-01';
SELECT count(*), sum(v) FROM sc WHERE a = 5 AND d BETWEEN '2020-03-01' AND '2021-04-01';
SELECT count(*), sum(v) FROM sc WHERE a + 0 = 5 AND d + 0 BETWEEN '2020-03-01' AND '2021-04-01';
SELECT d, count(*), max(a) FROM sc WHERE a IN (3, 4) AND d < '2020-01-20' GROUP BY d ORDER BY d;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*), sum(v), max(d), min(a) FROM sc WHERE a = ANY ('{3,4,5}') AND d >= '2022-01-01';
COMMIT;
SELECT count(*), sum(v), max(d), min(a) FROM sc WHERE a = ANY ('{3,4,5}') AND d >= '2022-01-01';
SELECT a, d FROM sc WHERE a = 5 AND d IS NULL AND v = 7;
CREATE TABLE sb AS SELECT i % 20 AS a, date '2020-01-01' + i AS lo FROM generate_series(1, 300) i;
ANALYZE sb;
EXPLAIN (COSTS OFF) SELECT sum(x.n), sum(x.s) FROM sb, LATERAL (SELECT count(*) n, sum(v) s FROM sc
	WHERE sc.a = sb.a AND d >= lo AND d < lo + 50) x;
SELECT sum(x.n), sum(x.s) FROM sb, LATERAL (SELECT count(*) n, sum(v) s FROM sc
	WHERE sc.a = sb.a AND d >= lo AND d < lo + 50) x;
SELECT count(*), sum(v) FROM sb JOIN sc ON sc.a + 0 = sb.a AND d + 0 >= lo AND d + 0 < lo + 50;
DROP TABLE sb;

\set ECHO none
-- keys of 16 bytes: every kind of scan and node
CREATE TABLE sw (i int4, t timestamptz, g int8 NOT NULL, v int4);
INSERT INTO sw SELECT nullif(n % 40, 0) - 20, timestamptz '2024-01-01' + n * 7919 % 10007 * interval '1 hour',
	(n * 104729::int8 % 97 - 48) * 123456789012345, n
FROM generate_series(1, 20000) n;
INSERT INTO sw SELECT i, t, g, 7 FROM unnest('{-2147483648,2147483647,NULL}'::int4[]) i,
	unnest('{-infinity,infinity,NULL}'::timestamptz[]) t,
	unnest('{-9223372036854775808,9223372036854775807}'::int8[]) g;
CREATE INDEX sw_it ON sw USING gpubtree (i, t) INCLUDE (v);
CREATE INDEX sw_gt ON sw USING gpubtree (g DESC, t NULLS FIRST) INCLUDE (v) WITH (fillfactor = 20);
CREATE INDEX sw_ivi ON sw USING gpubtree (i DESC NULLS LAST, v, (v % 10));
\set ECHO all
SELECT c, key_width, gpubtree_check(c, true) FROM unnest('{sw_it,sw_gt,sw_ivi}'::regclass[]) c, gpubtree_metap(c);
\set ECHO none
VACUUM ANALYZE sw;
CREATE FUNCTION sw_same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE ours text; theirs text;
BEGIN
	EXECUTE format('SELECT string_agg(x::text, '','') FROM (%s) x', query) INTO ours;
	PERFORM set_config('gpubtree.enabled', 'off', true), set_config('enable_seqscan', 'on', true),
		set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true);
	EXECUTE format('SELECT string_agg(x::text, '','') FROM (%s) x', query) INTO theirs;
	PERFORM set_config('gpubtree.enabled', 'on', true), set_config('enable_seqscan', 'off', true),
		set_config('enable_indexscan', 'on', true), set_config('enable_indexonlyscan', 'on', true);
	RETURN CASE WHEN ours IS NOT DISTINCT FROM theirs THEN 'same' ELSE query END;
END $$;
CREATE FUNCTION sw_all(c text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(DISTINCT sw_same(format(query, c)), '; ') FROM (VALUES
		('SELECT i, t, g, v FROM sw WHERE %s ORDER BY v, i, t, g'), ('SELECT i, t, v FROM sw WHERE %s ORDER BY i, t, v'),
		('SELECT count(*), sum(v), min(t), max(i) FROM sw WHERE %s'), ('SELECT count(*), sum(v), min(g), max(t) FROM sw WHERE %s'),
		('SELECT i, count(*), sum(v), max(t) FROM sw WHERE %s GROUP BY i ORDER BY i'),
		('SELECT count(*), sum(v) FROM sw WHERE %s')) q (query)
$$;
CREATE TABLE sw_conditions (n int GENERATED ALWAYS AS IDENTITY, c text);
INSERT INTO sw_conditions (c) VALUES
	('true'), ('i = 5'), ('i = 5 AND t > ''2024-06-01'''), ('i = 5 AND t BETWEEN ''2024-02-01'' AND date ''2024-06-01'''),
	('i = ANY (''{1,7,NULL,-19}'') AND t >= ''2025-01-01'''), ('i IS NULL AND t IS NULL'), ('i IS NULL AND t < ''infinity'''),
	('i = 2147483647 AND t = ''infinity'''), ('i = 2147483647'), ('i > 17 AND t < ''2024-01-09'''), ('t IS NULL'),
	('i = 3 AND t = ANY (ARRAY(SELECT timestamptz ''2024-01-01'' + n * interval ''1 hour'' FROM generate_series(1, 9000) n))'),
	('g = -9223372036854775808'), ('g = 9223372036854775807 AND t IS NULL'), ('g = 123456789012345 AND t > ''2024-09-01'''),
	('g < -48 * 123456789012345'), ('g = 0 AND t < ''2024-02-01'''), ('i = 2 AND v = 22'), ('i = 2 AND v BETWEEN 500 AND 900'),
	('i = -2147483648 AND v = 7'), ('i IS NULL AND v < 1000 AND v % 10 = 0');
\set ECHO all
SELECT n, sw_all(c) FROM sw_conditions ORDER BY n;
SELECT sw_same('SELECT g, t FROM sw ORDER BY g DESC, t NULLS FIRST'), sw_same('SELECT g, t FROM sw ORDER BY g, t DESC NULLS LAST');
EXPLAIN (COSTS OFF) SELECT count(*), sum(v), min(t) FROM sw WHERE i = 5 AND t > '2024-06-01';
EXPLAIN (COSTS OFF) SELECT v FROM sw WHERE i = 5 AND t > '2024-06-01' AND v % 3 = 0 ORDER BY t DESC LIMIT 3;
SELECT v, t AT TIME ZONE 'UTC' AS t FROM sw WHERE i = 5 AND t > '2024-06-01' AND v % 3 = 0 ORDER BY t DESC LIMIT 3;
SELECT sw_same('SELECT sum(x.n), sum(x.s) FROM generate_series(-20, 20) b, LATERAL (SELECT count(*) n, sum(v) s FROM sw
	WHERE i = b AND t >= timestamptz ''2024-02-01'' + b * interval ''1 day'' AND t < ''2024-07-01'') x');
-- changes; splits, whose pages have bounds of 16 bytes
INSERT INTO sw SELECT n % 40 - 20, timestamptz '2024-01-01' + n * interval '7 minutes', n % 3 * 1000000007::int8, n FROM generate_series(1, 8000) n;
DELETE FROM sw WHERE v % 3 = 0;
VACUUM sw;
SELECT c, gpubtree_check(c, true) FROM unnest('{sw_it,sw_gt,sw_ivi}'::regclass[]) c;
SELECT n, sw_all(c) FROM sw_conditions WHERE sw_all(c) <> 'same';
SELECT itemoffset, itemlen, key FROM gpubtree_page_items('sw_gt', 1) LIMIT 2;
-- on a device, if there is one
SET gpubtree.batch_setup_cost = 0;
SELECT n, sw_all(c) FROM sw_conditions WHERE sw_all(c) <> 'same';
RESET gpubtree.batch_setup_cost;
CREATE INDEX ON sw USING gpubtree (i, t, g);
CREATE INDEX ON sw USING gpubtree (v, (g + 0), i);
DROP TABLE sw, sw_conditions;

-- What the predicate of an index rules out needs no code for NULL there.
CREATE TABLE sp (u int8, w int8, t timestamp NOT NULL, v int4);
INSERT INTO sp SELECT nullif(n % 50, 0), nullif(n % 7, 0), timestamp '2024-01-01' + n * interval '1 minute', n FROM generate_series(1, 3000) n;
CREATE INDEX ON sp USING gpubtree (u, t);
CREATE INDEX ON sp USING gpubtree (u, t) WHERE u IS NOT NULL OR v > 0;
CREATE INDEX ON sp USING gpubtree (t, u, v) WHERE v > 0;
CREATE INDEX ON sp USING gpubtree (u, w);
CREATE INDEX ON sp USING gpubtree (u, w) WHERE u > 5;
CREATE INDEX ON sp USING gpubtree ((w + 1), u) WHERE w IS NOT NULL;
CREATE INDEX sp_ut ON sp USING gpubtree (u, t) INCLUDE (v) WHERE u IS NOT NULL;
CREATE INDEX sp_wu ON sp USING gpubtree (w DESC, u NULLS FIRST) WHERE v > 0 AND w > 3 AND u IS NOT NULL;
CREATE INDEX sp_in ON sp USING gpubtree (t, u DESC) WHERE u IN (1, 2, 40);
CREATE INDEX sp_expression ON sp USING gpubtree ((w + 1), t) WHERE (w + 1) <> 4;
CREATE INDEX sp_narrow ON sp USING gpubtree (v, (v % 9)) WHERE v > 7 AND (v % 9) IS NOT NULL;
CREATE INDEX sp_roomy ON sp USING gpubtree (v, (v % 9)) WHERE v > 7;
SELECT c, key_width FROM unnest('{sp_ut,sp_wu,sp_in,sp_expression,sp_narrow,sp_roomy}'::regclass[]) c, gpubtree_metap(c);
\set ECHO none
VACUUM ANALYZE sp;
CREATE FUNCTION sp_wrong() RETURNS TABLE (wrong text) LANGUAGE sql AS $$
	SELECT * FROM (SELECT sw_same(query) FROM unnest(ARRAY[
		'SELECT u, t FROM sp WHERE u IS NOT NULL ORDER BY u, t', 'SELECT u, t FROM sp WHERE u < 9 ORDER BY u DESC, t DESC',
		'SELECT u, t, w FROM sp WHERE u = 7 AND t > ''2024-01-02'' ORDER BY u, t', 'SELECT v FROM sp WHERE u IS NULL ORDER BY v',
		'SELECT count(*) FROM sp WHERE u > 5 AND u IS NULL', 'SELECT count(*), min(u), max(t), sum(v) FROM sp WHERE u = ANY (''{NULL,3,4}'')',
		'SELECT count(*), count(u), count(v), max(u) FROM sp WHERE u IS NOT NULL AND t < ''2024-01-02''',
		'SELECT u, count(*), sum(v) FROM sp WHERE u IS NOT NULL GROUP BY u ORDER BY u',
		'SELECT u FROM sp WHERE u IS NOT NULL ORDER BY u OFFSET 2900 LIMIT 1', 'SELECT DISTINCT u FROM sp WHERE u IS NOT NULL ORDER BY u DESC',
		'SELECT w, u FROM sp WHERE v > 0 AND w > 3 AND u IS NOT NULL ORDER BY w DESC, u NULLS FIRST',
		'SELECT w, u FROM sp WHERE v > 0 AND w > 3 AND u = 8 ORDER BY w', 'SELECT u, t FROM sp WHERE u IN (1, 2, 40) ORDER BY t, u DESC',
		'SELECT w + 1, t FROM sp WHERE (w + 1) <> 4 ORDER BY w + 1, t', 'SELECT v FROM sp WHERE v BETWEEN 8 AND 20 AND v % 9 IS NOT NULL ORDER BY v',
		'SELECT g, count(u), count(*), max(t) FROM unnest(''{NULL,-1,3,49}''::int8[]) g LEFT JOIN sp ON u = g GROUP BY g ORDER BY g',
		'SELECT g, x.* FROM unnest(''{NULL,-1,3,49}''::int8[]) g LEFT JOIN LATERAL (SELECT count(*), count(u), sum(v) FROM sp
			WHERE u = g AND t >= ''2024-01-02'') x ON true ORDER BY g',
		'SELECT g FROM unnest(''{NULL,-1,3,49}''::int8[]) g WHERE NOT EXISTS (SELECT FROM sp WHERE u = g) ORDER BY g'
		]) query OFFSET 0) q (wrong) WHERE wrong <> 'same'
$$;
\set ECHO all
EXPLAIN (COSTS OFF) SELECT u, t FROM sp WHERE u IS NOT NULL ORDER BY u, t LIMIT 3;
SELECT sp_wrong();
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
EXPLAIN (COSTS OFF) SELECT u FROM sp WHERE u IS NOT NULL ORDER BY u OFFSET 2900 LIMIT 1;
\set ECHO none
-- NULLs come and go, and the index is built anew: where the column is declared NOT NULL for a while, too
INSERT INTO sp SELECT nullif(n % 3, 0), nullif(n % 5, 0), timestamp '2024-01-01' + n * interval '1 hour', nullif(n, 9) FROM generate_series(1, 100) n;
UPDATE sp SET u = nullif(u, 3), w = nullif(w + 1, 6) WHERE u IN (3, 4) OR v % 11 = 0;
UPDATE sp SET u = coalesce(u, -1) WHERE v % 13 = 0;
SELECT sp_wrong();
BEGIN;
UPDATE sp SET u = 0 WHERE u IS NULL;
ALTER TABLE sp ALTER u SET NOT NULL;
REINDEX TABLE sp;
ALTER TABLE sp ALTER u DROP NOT NULL;
UPDATE sp SET u = NULL WHERE u = 0;
INSERT INTO sp VALUES (NULL, NULL, '2024-01-01', NULL);
COMMIT;
REINDEX INDEX sp_ut;
REINDEX INDEX CONCURRENTLY sp_ut;
SELECT sp_wrong();
\set ECHO all
SELECT c, gpubtree_check(c, true) FROM unnest('{sp_ut,sp_wu,sp_in,sp_expression,sp_narrow,sp_roomy}'::regclass[]) c;
-- A function that becomes another lets a NULL come, for which there is no code.
CREATE FUNCTION sp_above(int8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN $1 > 5; END';
CREATE INDEX sp_function ON sp USING gpubtree (u, t) WHERE sp_above(u);
CREATE OR REPLACE FUNCTION sp_above(int8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 IS NULL OR $1 > 5; END';
INSERT INTO sp VALUES (NULL, 1, '2024-01-01', 1);
INSERT INTO sp VALUES (6, 1, '2024-01-01', 1);
REINDEX INDEX sp_function;
DROP TABLE sp;
RESET gpubtree.setup_cost;
RESET gpubtree.batch_setup_cost;
DROP FUNCTION sw_same, sw_all, sp_wrong, sp_above;

-- functions that search for keys of one column say no
SELECT gpubtree_probe('sn_ac', '{1,2}'::int4[], 'cpu');

DROP TABLE sc, sn, su, sr, sf;

-- a numeric column behind several key columns has its own scale
CREATE TABLE behind (a int NOT NULL, d date NOT NULL, p numeric(12, 2));
INSERT INTO behind SELECT n % 20, date '2026-01-01' + n % 300, n * 0.37 FROM generate_series(1, 20000) n;
CREATE INDEX behind_ad ON behind USING gpubtree (a, d) INCLUDE (p);
VACUUM ANALYZE behind;
EXPLAIN (COSTS OFF) SELECT sum(p), avg(p), sum(p * 2), count(*) FROM behind WHERE a = 3 AND p > 100.5;
SELECT sum(p), avg(p), sum(p * 2), count(*) FROM behind WHERE a = 3 AND p > 100.5;
SET gpubtree.enabled = off;
SELECT sum(p), avg(p), sum(p * 2), count(*) FROM behind WHERE a = 3 AND p > 100.5;
RESET gpubtree.enabled;
DROP TABLE behind;
