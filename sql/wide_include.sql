--
-- INCLUDE columns whose values have 12 or 16 bytes and no words: uuid, interval, timetz.  They come
-- back as they were stored, nodes count them and list them, and programs don't read them.
--
SET timezone = 'UTC';
CREATE TABLE b (id int, u uuid, i interval, z timetz, n int);
INSERT INTO b SELECT n, md5(n::text)::uuid, make_interval(months => n % 7 - 3, days => n * 31 % 90 - 30,
		secs => n * 977 % 86400 - 43200), (time '00:00' + n * interval '7 min')::text::time AT TIME ZONE
		make_interval(mins => n % 25 * 60 - 720), n % 10
	FROM generate_series(1, 3000) n;
UPDATE b SET u = NULL WHERE id % 11 = 0;
UPDATE b SET i = NULL WHERE id % 13 = 0;
UPDATE b SET z = NULL, id = NULL WHERE id % 17 = 0;
-- values at the limits, and equal ones that differ
INSERT INTO b VALUES
	(5001, '00000000-0000-0000-0000-000000000000', '1 day', '24:00:00+15:59', 1),
	(5002, 'ffffffff-ffff-ffff-ffff-ffffffffffff', '24 hours', '00:00:00-15:59', 1),
	(5003, '7fffffff-ffff-ffff-ffff-ffffffffffff', '1 month', '12:00:00+00', 2),
	(5004, '80000000-0000-0000-0000-000000000000', '30 days', '13:00:00+01', 2),
	(5005, NULL, '-178000000 years', '23:59:59.999999+15:59:59', 3),
	(5006, NULL, '178000000 years 2147483647 days 2562047788:00:54.775807', '00:00:00-15:59:59', 3);
-- no literal has such a zone
INSERT INTO b SELECT 5008, NULL, NULL, timetz '12:00+00' AT TIME ZONE interval '500000 hours', 4;
CREATE TABLE g AS TABLE b;
CREATE INDEX b_k ON b (id) INCLUDE (u, i, z, n);
CREATE INDEX g_k ON g USING gpubtree (id) INCLUDE (u, i, z, n);
INSERT INTO b SELECT id + 10000, u, i, z, n FROM b WHERE id % 3 = 0;
INSERT INTO g SELECT id + 10000, u, i, z, n FROM g WHERE id % 3 = 0;
DELETE FROM b WHERE id % 10 = 7;
DELETE FROM g WHERE id % 10 = 7;
\set ECHO all

SELECT gpubtree_check('g_k', true);
VACUUM ANALYZE b;
VACUUM ANALYZE g;
SELECT gpubtree_check('g_k', true);
SELECT row_width FROM gpubtree_metap('g_k');
SET gpubtree.batch_setup_cost = 0;
-- an entry has the values themselves
SELECT included FROM gpubtree_page_items('g_k', 1) WHERE itemoffset <= 3;

\set ECHO none
-- All rows of a query as one text, each value as its type sends it, with the index and without
CREATE FUNCTION answer(query text, settings text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	setting text;
BEGIN
	FOREACH setting IN ARRAY '{gpubtree.enabled,enable_seqscan,enable_indexscan,enable_indexonlyscan,enable_bitmapscan}'::text[] LOOP
		PERFORM set_config(setting, (setting = ANY (string_to_array(settings, ',')))::text, true);
	END LOOP;
	EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(x, '';'' ORDER BY x)), '''') FROM (
		SELECT record_send(q)::text AS x FROM (%s) q) y', query) INTO result;
	RETURN result;
END $$;
CREATE TABLE queries (q text);
INSERT INTO queries VALUES
	('SELECT id, u, i, z, n FROM t WHERE id BETWEEN 100 AND 900'),
	('SELECT u, z FROM t WHERE id > 4990 AND n < 4'),
	('SELECT u, i, z FROM t WHERE id BETWEEN 10 AND 2500 AND n IN (3, 5)'),
	('SELECT u FROM t WHERE id IS NULL AND n = 6'),
	('SELECT count(u), count(i), count(z), count(*), sum(n) FROM t WHERE id > 50'),
	('SELECT n, count(u), count(i), count(z) FROM t WHERE id > 50 GROUP BY n'),
	('SELECT count(*) FROM t WHERE id > 5 AND u IS NOT NULL'),
	('SELECT count(*) FROM t WHERE id > 5 AND u = ''7fffffff-ffff-ffff-ffff-ffffffffffff'''),
	('SELECT count(*), sum(n) FROM t WHERE id > 5 AND u > ''7fffffff-ffff-ffff-ffff-ffffffffffff'''),
	('SELECT count(*), sum(n) FROM t WHERE id > 5 AND i = ''24 hours'''),
	('SELECT count(*), sum(n) FROM t WHERE id > 5 AND i > ''2 days'' AND z < ''12:00+03'''),
	('SELECT count(DISTINCT u), count(DISTINCT i), count(DISTINCT z) FROM t WHERE id > 5'),
	('SELECT min(i), max(i), sum(i), min(z), max(z) FROM t WHERE id BETWEEN 5 AND 2000'),
	('SELECT u, count(*), sum(n) FROM t WHERE id > 5 GROUP BY u'),
	('SELECT max(i - interval ''1 day'') FROM t WHERE id BETWEEN 5 AND 2000'),
	('SELECT extract(hour FROM z), count(*) FROM t WHERE id < 2000 GROUP BY 1'),
	('SELECT count(*) FROM (SELECT u FROM t WHERE id > 5 ORDER BY id OFFSET 70) x'),
	('SELECT u, i, z FROM t WHERE id > 5 AND n = 3 ORDER BY n, id LIMIT 5'),
	('SELECT DISTINCT u FROM t WHERE id < 400 AND n = 2'),
	('SELECT o.id, t.u, t.i, t.z FROM (SELECT generate_series(1, 6000, 7) AS id) o JOIN t ON t.id = o.id'),
	('SELECT o.id, t.u FROM (SELECT generate_series(1, 6000, 7) AS id) o LEFT JOIN t ON t.id = o.id AND t.n = 3'),
	('SELECT o.id, (SELECT count(t.z) FROM t WHERE t.id BETWEEN o.id AND o.id + 9) FROM (SELECT generate_series(1, 6000, 70) AS id) o'),
	('SELECT u, i, z FROM t WHERE id = ANY (ARRAY(SELECT generate_series(1, 6000, 5)))');
\set ECHO all
-- how many are the same, and those that are not
SELECT s.settings, count(*) FILTER (WHERE ours = core), string_agg(q, E'\n') FILTER (WHERE ours <> core)
FROM (SELECT q, answer(regexp_replace(q, '\mt\M(?!\.)', 'b t', 'g'), 'enable_seqscan') AS core FROM queries OFFSET 0) c,
	unnest('{"gpubtree.enabled,enable_indexscan,enable_indexonlyscan",enable_indexonlyscan,enable_indexscan,enable_bitmapscan}'::text[]) s (settings),
	LATERAL (SELECT answer(regexp_replace(q, '\mt\M(?!\.)', 'g t', 'g'), s.settings) AS ours OFFSET 0) o
GROUP BY 1 ORDER BY 1;

-- who answers
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT u, i, z FROM g WHERE id BETWEEN 10 AND 2500 AND n IN (3, 5);
EXPLAIN (COSTS OFF) SELECT count(u), count(i), sum(n) FROM g WHERE id > 50;
EXPLAIN (COSTS OFF) SELECT count(*) FROM g WHERE id > 50 AND u > '7fffffff-ffff-ffff-ffff-ffffffffffff';
EXPLAIN (COSTS OFF) SELECT u, count(*) FROM g WHERE id > 50 GROUP BY u;
EXPLAIN (COSTS OFF) SELECT id, u, i, z FROM g WHERE id > 5000;
SELECT id, u, i, z FROM g WHERE id BETWEEN 5000 AND 5999;
RESET enable_seqscan;

-- what else has no words is refused
ALTER TABLE g ADD t text, ADD a inet;
CREATE INDEX ON g USING gpubtree (id) INCLUDE (a);
CREATE INDEX ON g USING gpubtree (i);

-- The widest row, and one whose values are all of 16 bytes
CREATE TABLE w (k uuid, a uuid, b interval, c uuid, d interval, e uuid, f uuid, g uuid, h uuid, i uuid,
	j uuid, l uuid, m uuid, n uuid, o uuid);
INSERT INTO w SELECT u, u, make_interval(secs => n), u, make_interval(days => n), u, u, u, u, u, u, u, u, u, u
	FROM (SELECT n, md5(n::text)::uuid AS u FROM generate_series(1, 2000) n) x;
CREATE INDEX w_k ON w USING gpubtree (k) INCLUDE (a, b, c, d, e, f, g, h, i, j, l, m, n, o);
INSERT INTO w SELECT u, u, make_interval(secs => n), u, make_interval(days => n), u, u, u, u, u, u, u, u, u, u
	FROM (SELECT n, md5(n::text)::uuid AS u FROM generate_series(2001, 3000) n) x;
SELECT gpubtree_check('w_k', true);
VACUUM ANALYZE w;
SELECT key_width, row_width FROM gpubtree_metap('w_k');
SET enable_seqscan = off;
SELECT count(*), sum(b) FROM w WHERE k > '80000000-0000-0000-0000-000000000000' AND o = k AND a = n;
SELECT count(*) FROM w WHERE k > '80000000-0000-0000-0000-000000000000';
\set ECHO none
RESET enable_seqscan;
-- Keys of timetz: the time in UTC comes first, then the zone.  No key has a zone of more than 291
-- hours, but what it is compared with may.
CREATE TABLE z (k timetz, n int);
INSERT INTO z SELECT (time '00:00' + n % 24 * interval '1 h')::text::timetz AT TIME ZONE make_interval(hours => n % 31 - 15), n
	FROM generate_series(1, 2000) n;
INSERT INTO z VALUES ('24:00:00-15:59:59', 0), ('00:00:00+15:59:59', 0), ('24:00+00', 0), ('00:00+00', 0), (NULL, 0);
INSERT INTO z SELECT timetz '12:00+00' AT TIME ZONE make_interval(hours => h), h FROM unnest('{290,-290,17,-170}'::int[]) h;
CREATE INDEX z_k ON z USING gpubtree (k) INCLUDE (n);
\set ECHO all
SELECT gpubtree_check('z_k', true);
SELECT key_width FROM gpubtree_metap('z_k');
-- these do not fit
INSERT INTO z SELECT timetz '12:00+00' AT TIME ZONE interval '500000 hours';
INSERT INTO z SELECT timetz '12:00+00' AT TIME ZONE interval '-292 hours';
\set ECHO none
CREATE TABLE zs AS SELECT (timetz '12:00+00' AT TIME ZONE make_interval(hours => h))::timetz AS c
	FROM unnest('{0,1,-1,290,-290,292,-292,500000,-500000}'::int[]) h
	UNION ALL SELECT unnest('{00:00+00,24:00+00,24:00-15:59:59,00:00+15:59:59,12:00+01}'::timetz[]);
CREATE FUNCTION differ(ordered text) RETURNS TABLE (n bigint, differ text) LANGUAGE plpgsql AS $$
BEGIN
	DROP INDEX z_k;
	EXECUTE format('CREATE INDEX z_k ON z USING gpubtree (k %s) INCLUDE (n)', ordered);
	RETURN QUERY SELECT count(*), string_agg(q, E'\n') FILTER (WHERE core <> answer(q, settings))
	FROM (SELECT q, answer(q, 'enable_seqscan') AS core FROM (SELECT format('SELECT k, n FROM z WHERE k %s (SELECT c FROM zs ORDER BY c LIMIT 1 OFFSET %s)', o, i) AS q
		FROM unnest('{<,<=,=,>=,>}'::text[]) o, generate_series(0, 13) i
		UNION ALL SELECT 'SELECT count(*), count(k) FROM z WHERE k = ANY (ARRAY(SELECT c FROM zs))'
		UNION ALL SELECT 'SELECT k, count(*) FROM z WHERE k > ''11:00+00'' GROUP BY k') x OFFSET 0) y,
		unnest('{"gpubtree.enabled,enable_indexscan,enable_indexonlyscan",enable_indexonlyscan,enable_bitmapscan}'::text[]) settings;
END $$;
\set ECHO all
SELECT o, differ.* FROM unnest('{ASC,DESC,NULLS FIRST}'::text[]) o, differ(o);
SELECT matches FROM gpubtree_probe('z_k', ARRAY(SELECT c FROM zs));
SELECT count(*) FROM z JOIN zs ON k = c;
DROP FUNCTION differ;
DROP TABLE b, g, w, queries, z, zs;
DROP FUNCTION answer;
