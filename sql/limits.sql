--
-- Where no node of ours is used, as the manual says.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET timezone = 'UTC';
-- Ours is used wherever it can be.
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_hashjoin = off;
SET enable_mergejoin = off;

CREATE TABLE events (k integer, v integer);
INSERT INTO events SELECT n, n % 100 FROM generate_series(1, 20000) n;
CREATE INDEX events_k ON events USING gpubtree (k) INCLUDE (v);
CREATE TABLE keys AS SELECT n * 7 AS k FROM generate_series(1, 2000) n;
CREATE TABLE totals (id integer PRIMARY KEY, n bigint);
CREATE TABLE sink (n bigint);
VACUUM ANALYZE;

\i :abs_srcdir/sql/common/node.sql

--
-- Statements
--
CREATE TABLE statements (id integer GENERATED ALWAYS AS IDENTITY, statement text);
INSERT INTO statements (statement) VALUES
	('SELECT sum(v) FROM events WHERE k BETWEEN 10 AND 15000'),
	('SELECT t.v FROM keys s JOIN events t USING (k)'),
	('CREATE TABLE copy AS SELECT sum(v) FROM events WHERE k BETWEEN 10 AND 15000'),
	('CREATE MATERIALIZED VIEW copy AS SELECT t.v FROM keys s JOIN events t USING (k)'),
	('DECLARE c SCROLL CURSOR FOR SELECT t.v FROM keys s JOIN events t USING (k)'),
	('INSERT INTO sink SELECT sum(v) FROM events WHERE k BETWEEN 10 AND 15000'),
	('INSERT INTO sink SELECT t.v FROM keys s JOIN events t USING (k)'),
	('INSERT INTO totals SELECT 1, sum(v) FROM events WHERE k BETWEEN 10 AND 15000 ON CONFLICT DO NOTHING'),
	('INSERT INTO totals SELECT k, t.v FROM keys s JOIN events t USING (k) ON CONFLICT DO NOTHING'),
	('INSERT INTO totals SELECT k, t.v FROM keys s JOIN events t USING (k) ON CONFLICT (id) DO UPDATE SET n = excluded.n'),
	('UPDATE totals SET n = (SELECT sum(v) FROM events WHERE k BETWEEN 10 AND 15000)'),
	('UPDATE totals SET n = q.n FROM (SELECT sum(v) AS n FROM events WHERE k BETWEEN 10 AND 15000) q'),
	('UPDATE keys s SET k = t.v FROM events t WHERE t.k = s.k'),
	('WITH q AS MATERIALIZED (SELECT sum(v) AS n FROM events WHERE k > 10) UPDATE totals SET n = q.n FROM q'),
	('DELETE FROM totals WHERE n > (SELECT sum(v) FROM events WHERE k BETWEEN 10 AND 15000)'),
	('DELETE FROM keys s USING events t WHERE t.k = s.k'),
	('MERGE INTO totals USING (SELECT sum(v) AS n FROM events WHERE k > 10) q ON id = 1 WHEN NOT MATCHED THEN INSERT VALUES (1, q.n)'),
	('MERGE INTO keys s USING events t ON t.k = s.k WHEN MATCHED THEN DELETE'),
	('SELECT t.v FROM keys s JOIN events t USING (k) FOR UPDATE'),
	('SELECT t.v FROM keys s JOIN events t USING (k) FOR SHARE OF s'),
	('SELECT * FROM keys, (SELECT sum(v) FROM events WHERE k > 10) q FOR UPDATE OF keys'),
	('WITH d AS (DELETE FROM sink RETURNING n) SELECT sum(v) FROM events WHERE k > 10'),
	('WITH d AS (DELETE FROM sink WHERE n < (SELECT sum(v) FROM events WHERE k > 10) RETURNING n) SELECT * FROM d'),
	('WITH d AS (INSERT INTO sink SELECT sum(v) FROM events WHERE k > 10 RETURNING n) SELECT * FROM d');
\set ECHO all

SELECT node(statement), statement FROM statements ORDER BY id;

--
-- Functions in a bucket that depend on a time zone
--
\set ECHO none
CREATE TABLE times AS
SELECT '2026-01-01'::timestamptz + n * interval '1 minute' AS k, '2026-01-01'::timestamp + n * interval '1 minute' AS local,
	'2020-01-01'::date + n % 2000 AS day, n % 7 AS v
FROM generate_series(1, 20000) n;
CREATE INDEX ON times USING gpubtree (k) INCLUDE (v);
CREATE INDEX ON times USING gpubtree (local) INCLUDE (v);
CREATE INDEX ON times USING gpubtree (day) INCLUDE (v);
VACUUM ANALYZE times;
SELECT node(format('SELECT %s, sum(v) FROM times GROUP BY 1', bucket)), bucket
FROM unnest(ARRAY[
	'date_trunc(''day'', k)',
	'k::date',
	'date_trunc(''day'', k)::date',
	'date_trunc(''month'', date_trunc(''day'', k))',
	'date_trunc(''month'', date_trunc(''day'', k, ''Asia/Tokyo''))',
	'date_trunc(''month'', k::date)',
	'date_trunc(''month'', k::date::timestamp)',
	'date_trunc(''day'', k AT TIME ZONE ''Europe/Berlin'')',
	'(date_trunc(''day'', k AT TIME ZONE ''Europe/Berlin''))::date',
	'date_trunc(''day'', k AT TIME ZONE ''Europe/Berlin'') AT TIME ZONE ''Europe/Berlin''',
	'date_bin(''1 day'', k, ''2026-01-01'')',
	'date_bin(''1 day'', k, ''2026-01-01'')::date',
	'date_bin(''1 day'', date_trunc(''hour'', k), ''2026-01-01'')',
	'date_trunc(''month'', local)::date',
	'date_trunc(''hour'', local AT TIME ZONE ''UTC'')',
	'date_trunc(''month'', day)',
	'date_trunc(''month'', day)::date',
	'date_trunc(''month'', day::timestamp)::date']) WITH ORDINALITY AS u (bucket, n)
ORDER BY n;

DROP TABLE events, keys, totals, sink, statements, times;
DROP FUNCTION node;
