--
-- Programs and aggregates over INCLUDE columns of boolean, real, time, money, oid, "char", xid8,
-- pg_lsn and enum types: as core answers, where ours can
--
SET client_min_messages = warning;
CREATE SCHEMA fixed_width;
SET search_path = fixed_width, public;
SET lc_monetary = 'C';
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
ALTER TYPE mood ADD VALUE 'glum' BEFORE 'ok';
CREATE DOMAIN share AS real;

SET compare.node = 'Gpubtree';
\i :abs_srcdir/sql/common/plan.sql
-- The query's rows in one text, each value as its type sends it, so that no two differ unseen
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(r, '' '' ORDER BY r COLLATE "C") FROM (SELECT record_send(q)::text AS r FROM (%s) q) x', query) INTO result;
	RETURN coalesce(result, 'no row');
EXCEPTION WHEN OTHERS THEN
	RETURN 'ERROR: ' || sqlerrm;
END $$;
CREATE FUNCTION plain_answer(query text) RETURNS text LANGUAGE sql SET gpubtree.enabled = off AS $$
	SELECT answer(query)
$$;
-- What a query's plan and answer are, all ordinary scans being dear alike
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
AS $$
BEGIN
	RETURN CASE WHEN is_ours(query) THEN 'ours' ELSE 'ordinary plan' END ||
		CASE WHEN answer(query) IS DISTINCT FROM plain_answer(query) THEN ', DIFFERENT: ' || query ELSE '' END;
END $$;

CREATE TABLE event (id int, flag bool, c "char", o oid, f real, t time, m money, x xid8, l pg_lsn, e mood, s share,
	flag2 bool, f2 real, big float8);
INSERT INTO event SELECT n,
	CASE WHEN n % 7 > 0 THEN n % 3 = 0 END,
	CASE WHEN n % 11 > 0 THEN (n % 256 - 128)::"char" END,
	CASE WHEN n % 5 > 0 THEN (n % 9 * 500000000::bigint)::oid END,
	CASE WHEN n % 13 > 0 THEN CASE n % 17 WHEN 0 THEN '-0' WHEN 1 THEN 0 ELSE (n % 64 - 32) * 0.25 END END,
	CASE WHEN n % 17 > 0 THEN time '00:00' + n % 24 * interval '1 hour' END,
	CASE WHEN n % 19 > 0 THEN ((n % 100 - 50) * 0.37)::numeric::money END,
	CASE WHEN n % 23 > 0 THEN ((n % 4)::numeric * 5000000000000000000)::text::xid8 END,
	CASE WHEN n % 29 > 0 THEN pg_lsn '0/0' + (n % 4)::numeric * 5000000000000000000 END,
	CASE WHEN n % 4 > 0 THEN (enum_range(null::mood))[n % 5] END,
	n % 10, n % 2 = 0, (n % 50) * 0.5, n * 0.5
FROM generate_series(1, 3000) n;
CREATE INDEX event_id ON event USING gpubtree (id) INCLUDE (flag, c, o, f, t, m, x, l, e, s, flag2, f2, big);
VACUUM ANALYZE event;
\set ECHO all

SELECT gpubtree_check('event_id', true);

\set ECHO none
-- by column: comparisons with each of some values, sets, NULLs, groups, aggregates
CREATE TABLE columns (name text, type text, value text[], is_ordered bool, has_extremes bool);
INSERT INTO columns VALUES
	('flag', 'bool', '{true,false}', true, false), ('c', '"char"', '{a,\\200,\\377,""}', true, false),
	('o', 'oid', '{0,500000000,2500000000,4000000000}', false, false),
	('f', 'real', '{0,-0,NaN,-1.25,0.1}', true, true), ('f', 'float8', '{0,-0,NaN,-1.25,0.1,1e300}', true, true),
	('t', 'time', '{00:00,12:00,24:00}', true, true), ('m', 'money', '{0,-3.7,18.13}', true, true),
	('x', 'xid8', '{0,5000000000000000000,10000000000000000000,18446744073709551615}', true, true),
	('l', 'pg_lsn', '{0/0,FFFFFFFF/FFFFFFFF,80000000/0}', true, true),
	('e', 'mood', '{sad,glum,ok,happy}', false, false), ('s', 'share', '{0,5,NaN}', true, true);
CREATE VIEW queries AS
	SELECT format(q, name, v, type) AS query, q
	FROM columns, unnest(value) v, unnest(ARRAY['=', '<>', '<', '<=', '>', '>=']) o,
		format('SELECT count(*), sum(id) FROM event WHERE id > 5 AND %%1$I %s %%2$L::%%3$s', o) q
	WHERE is_ordered OR o IN ('=', '<>')
UNION ALL
	SELECT format(q, name, value, type), q
	FROM columns, unnest(ARRAY[
		'SELECT count(*) FROM event WHERE id > 5 AND %1$I = ANY (%2$L::%3$s[])',
		'SELECT count(*) FROM event WHERE id > 5 AND %1$I <> ALL (%2$L::%3$s[])',
		'SELECT count(%1$I), count(*) FILTER (WHERE %1$I IS NULL) FROM event WHERE id > 5',
		'SELECT count(DISTINCT %1$I) FROM event WHERE id > 5',
		'SELECT count(*) FROM event WHERE id > 5 AND %1$I IS DISTINCT FROM (%2$L::%3$s[])[1]']) q
UNION ALL
	SELECT format(q, name, value, type), q
	FROM columns, unnest(ARRAY[
		'SELECT %1$I, count(*), sum(id) FROM event WHERE id > 5 GROUP BY %1$I',
		'SELECT DISTINCT %1$I FROM event WHERE id > 5',
		'SELECT id / 1000, %1$I, count(*) FROM event WHERE id > 5 GROUP BY 1, 2']) q
	WHERE name <> 'f'
UNION ALL
	SELECT format(q, name, value, type), q
	FROM columns, unnest(ARRAY[
		'SELECT min(%1$I), max(%1$I) FROM event WHERE id > 5',
		'SELECT id %% 10, min(%1$I), max(%1$I) FILTER (WHERE flag) FROM event WHERE id > 5 GROUP BY 1']) q
	WHERE has_extremes
UNION ALL
	SELECT format(q, name), q
	FROM columns, unnest(ARRAY[
		'SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY %1$I), mode() WITHIN GROUP (ORDER BY %1$I) FROM event WHERE id > 5',
		'SELECT id, %1$I FROM event WHERE id > 5 ORDER BY %1$I, id LIMIT 7',
		'SELECT id, %1$I FROM event WHERE id > 5 AND id < 900 AND id %% 7 = 3',
		'SELECT count(*) FROM event WHERE id > 5 AND greatest(%1$I, %1$I) = %1$I']) q
UNION ALL
	SELECT q, q
	FROM unnest(ARRAY[
		'SELECT count(*) FROM event WHERE id > 5 AND flag',
		'SELECT count(*) FROM event WHERE id > 5 AND NOT flag',
		'SELECT count(*) FROM event WHERE id > 5 AND flag IS TRUE',
		'SELECT count(*) FROM event WHERE id > 5 AND flag IS NOT FALSE',
		'SELECT count(*) FROM event WHERE id > 5 AND flag IS UNKNOWN',
		'SELECT count(*) FROM event WHERE id > 5 AND (flag OR flag2) AND NOT (flag AND flag2)',
		'SELECT bool_and(flag), bool_or(flag), every(flag2), bool_and(flag2 OR id > 0) FROM event WHERE id > 5',
		'SELECT flag, flag2, count(*) FROM event WHERE id > 5 GROUP BY ROLLUP (1, 2)',
		'SELECT sum(flag::int) FROM event WHERE id > 5',
		'SELECT sum(m), sum(m) FILTER (WHERE m > ''0''::money) FROM event WHERE id > 5',
		'SELECT e, sum(m), max(t) FROM event WHERE id > 5 GROUP BY e',
		'SELECT sum(f), avg(f), round(stddev(f)::numeric, 9), round(var_pop(f)::numeric, 9) FROM event WHERE id > 5',
		'SELECT sum(f2), avg(f2), sum(f::float8), sum(f2::float8 * 2) FROM event WHERE id > 5',
		'SELECT flag2, sum(f2), avg(f2) FROM event WHERE id > 5 GROUP BY 1',
		'SELECT abs(min(f)), count(*), sum(id) FROM event WHERE id > 5 GROUP BY f',
		'SELECT f2, flag, count(*) FROM event WHERE id > 5 GROUP BY GROUPING SETS ((f2), (flag), (f2, flag))',
		'SELECT sum(DISTINCT f2), avg(DISTINCT f2) FROM event WHERE id > 5',
		'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f2) FROM event WHERE id > 5',
		'SELECT count(*) FROM event WHERE id > 5 AND f < big AND big > f2 AND f <> f2',
		'SELECT count(*) FROM event WHERE id > 5 AND f + 1 > 3',
		'SELECT sum(s), max(s) FROM event WHERE id > 5',
		'SELECT round(corr(f2, big)::numeric, 9) FROM event WHERE id > 5',
		'SELECT flag, e, count(*) FROM event WHERE id > 5 GROUP BY 1, 2 HAVING count(*) > 10',
		'SELECT id, flag, c, o, f, t, m, x, l, e, s FROM event WHERE id > 5 AND flag AND e = ''ok''',
		'SELECT count(*), sum(j.m) FROM event g JOIN event j ON j.id = g.id WHERE g.id % 10 = 3 AND j.flag']) q;
\set ECHO all
SELECT compare(query) AS plan, q AS query, count(*) FROM queries GROUP BY 1, 2 ORDER BY 2, 1;

-- Sums may be too large for their type.
UPDATE event SET m = '92233720368547758.07' WHERE id % 500 = 0;
UPDATE event SET f = '3e38' WHERE id IN (100, 200);
SELECT compare('SELECT sum(m) FROM event WHERE id > 5');
SELECT compare('SELECT sum(f) FROM event WHERE id > 5');
SELECT sum(m) FROM event WHERE id > 5;
SELECT sum(f) FROM event WHERE id > 5;
SELECT compare('SELECT max(f), avg(f) FROM event WHERE id > 5');
SELECT sum(f2 + 0::real) = sum(f2) AS is_same FROM event;

DROP SCHEMA fixed_width CASCADE;
