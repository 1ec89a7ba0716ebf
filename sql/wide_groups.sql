--
-- GROUP BY, DISTINCT, and aggregates that depend on values, of columns of 16 bytes: numeric of 19 to
-- 38 digits and uuid, as key and as INCLUDE column, against a sequential scan
--
CREATE DOMAIN token AS uuid;
CREATE TABLE wide (n numeric(38, 10), m numeric(30), z numeric(38, 38), u uuid, d token, g int, i int, f float8);
-- The upper halves of m, and the lower ones, occur with several others; u has values that differ in one half alone.
INSERT INTO wide SELECT
		CASE WHEN g % 10 = 5 THEN NULL WHEN g % 130 = 3 THEN 'NaN' WHEN g % 11 = 0 THEN NULL
			WHEN g % 7 = 1 THEN (repeat('9', 28) || '.9999999999')::numeric
			WHEN g % 7 = 2 THEN -(repeat('9', 28) || '.9999999999')::numeric
			WHEN g % 7 = 3 THEN (g % 9 - 4) * 922337203.6854775808
			ELSE (g % 50 - 25) / 4.0 END,
		CASE WHEN g % 6 > 0 THEN (g % 5 - 2) * 18446744073709551616 + (g % 3)::numeric * 9223372036854775807 END,
		CASE WHEN g % 13 > 0 THEN (g % 19 - 9) / 12.5 END,
		CASE WHEN g % 5 > 0 THEN (repeat(to_hex(g % 3 * 7), 16) || repeat(to_hex(g % 4 * 5), 16))::uuid END,
		CASE WHEN g % 8 > 0 THEN md5((g % 40)::text)::uuid END, g % 10, g,
		CASE g % 4 WHEN 0 THEN '-0'::float8 WHEN 1 THEN 0 WHEN 2 THEN 'NaN' END
	FROM generate_series(1, 1500) g;
CREATE INDEX wide_i ON wide USING gpubtree (i) INCLUDE (n, m, z, u, d, g, f);
VACUUM ANALYZE wide;
SET gpubtree.setup_cost = 0;

\i :abs_srcdir/sql/common/wide_answer.sql
-- what the rows of a query are, where they are not those of core's plan; -0 and 0 are one group, shown as either
CREATE FUNCTION differs(rows text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT string_agg(r, E''\n'' ORDER BY r) FROM
		(SELECT regexp_replace(q::text, ''([(,])-0([,)])'', ''\10\2'') r FROM (%s OFFSET 0) q) q', rows);
	ours text := answer(query, true);
	core text := answer(query, false);
BEGIN
	RETURN CASE WHEN ours <> core THEN rows || ': ' || left(ours, 300) || ' instead of ' || left(core, 300) END;
END $$;
CREATE VIEW columns AS SELECT unnest('{n,m,z,u,d}'::text[]) c;
CREATE TABLE conditions AS SELECT unnest('{i BETWEEN 10 AND 1400,i > 5 AND n < 100,i > 5 AND u IS NULL,i > 5 AND i % 5000 = 4999,
	i > 90 AND i % 2000 BETWEEN 100 AND 103,i > 5 AND n <> ''NaN'' AND m > 0}'::text[]) w;
\set ECHO all

-- groups by one column, with aggregates, FILTER and HAVING; DISTINCT
SELECT differs(format('SELECT %s, count(*), sum(i), min(n), max(m), avg(z), sum(m) FILTER (WHERE i %% 3 = 0)
	FROM wide WHERE %s GROUP BY 1', c, w)) x FROM columns, conditions ORDER BY x LIMIT 1;
SELECT differs(format('SELECT %s, max(i) FROM wide WHERE %s GROUP BY 1 HAVING count(*) > 30 AND min(i) < 400', c, w)) x
	FROM columns, conditions ORDER BY x LIMIT 1;
SELECT differs(format('SELECT DISTINCT %s FROM wide WHERE %s', c, w)) x FROM columns, conditions ORDER BY x LIMIT 1;
-- by several
SELECT differs(format('SELECT %s, count(*), sum(n), max(i), count(u) FROM wide WHERE %s GROUP BY %1$s', c, w)) x
	FROM unnest('{"u, n","m, n","g, u","u, g","u, g, i % 3","g, i % 3, m","i % 3, n, g","f, u","u, f, g","d, u","u, n::numeric(38, 10)"}'::text[]) c, conditions
	ORDER BY x LIMIT 1;
SELECT differs(format('SELECT DISTINCT %s FROM wide WHERE %s', c, w)) x
	FROM unnest('{"u, n","g, m","z, f, g"}'::text[]) c, conditions ORDER BY x LIMIT 1;
-- grouping sets, in one run and in several
SELECT differs(format('SELECT %s, grouping(%1$s), count(*), sum(m), min(i) FROM wide WHERE %s GROUP BY %s (%1$s)', c, w, s)) x
	FROM unnest('{"u, n","g, u","u, g","m, f, g","g, z, f"}'::text[]) c, unnest('{rollup,cube}'::text[]) s, (TABLE conditions LIMIT 3) cs
	ORDER BY x LIMIT 1;
SELECT differs('SELECT u, g, count(*), sum(i), count(DISTINCT f) FROM wide WHERE i > 7 GROUP BY GROUPING SETS ((u), (g), ())');

-- aggregates that depend on values, of one column and of several, with groups and without
CREATE TABLE targets (t text);
INSERT INTO targets SELECT format(f, c) FROM columns,
	unnest('{count(DISTINCT %s),mode() WITHIN GROUP (ORDER BY %s),mode() WITHIN GROUP (ORDER BY %s DESC),
		percentile_disc(0.3) WITHIN GROUP (ORDER BY %s),percentile_disc(0.5) WITHIN GROUP (ORDER BY %s DESC),
		"percentile_disc(''{0, 0.25, 1, NULL}''::float8[]) WITHIN GROUP (ORDER BY %s)",count(DISTINCT %s) FILTER (WHERE i %% 3 = 0)}'::text[]) f;
INSERT INTO targets SELECT format('%s(DISTINCT %s)%s', a, c, f) FROM unnest('{sum,avg,min,max}'::text[]) a,
	unnest('{n,m,z}'::text[]) c, unnest('{""," FILTER (WHERE n <> ''NaN'')"," FILTER (WHERE i % 7 = 2)"}'::text[]) f;
SELECT differs(format('SELECT %s FROM wide WHERE %s', t, w)) x FROM targets, conditions ORDER BY x LIMIT 1;
SELECT differs(format('SELECT g, %s FROM wide WHERE %s GROUP BY g', t, w)) x FROM targets, (TABLE conditions LIMIT 2) c ORDER BY x LIMIT 1;
INSERT INTO targets VALUES ('count(DISTINCT u), count(DISTINCT n), count(DISTINCT m), count(DISTINCT g), count(*)'),
	('count(DISTINCT g), sum(DISTINCT n), avg(DISTINCT m), mode() WITHIN GROUP (ORDER BY u), sum(n), min(m)'),
	('count(u), count(DISTINCT u), sum(DISTINCT m), sum(m), count(DISTINCT f), avg(DISTINCT g)'),
	('percentile_disc(0.5) WITHIN GROUP (ORDER BY n), percentile_disc(0.5) WITHIN GROUP (ORDER BY u) FILTER (WHERE n < 0)');
SELECT differs(format('SELECT u, %s FROM wide WHERE %s GROUP BY u', t, w)) x FROM targets, (TABLE conditions LIMIT 1) c ORDER BY x LIMIT 1;
SELECT differs(format('SELECT f, g %% 2, %s FROM wide WHERE %s GROUP BY 1, 2', t, w)) x FROM targets, (TABLE conditions LIMIT 1) c ORDER BY x LIMIT 1;

-- what is in the way: more than four words, and what core alone computes
SET enable_seqscan = off;
SET gpubtree.explain_decisions = on;
EXPLAIN (COSTS OFF) SELECT u, n, g, count(*) FROM wide WHERE i > 5 GROUP BY 1, 2, 3;
EXPLAIN (COSTS OFF) SELECT g, u, count(DISTINCT n) FROM wide WHERE i > 5 GROUP BY 1, 2;
EXPLAIN (COSTS OFF) SELECT variance(DISTINCT n) FROM wide WHERE i > 5;
EXPLAIN (COSTS OFF) SELECT variance(n * m) FROM wide WHERE i > 5;
\set ECHO none
RESET gpubtree.explain_decisions;
RESET enable_seqscan;

-- the last row of each group, by GpubtreeScan; buckets with such groups
CREATE FUNCTION last(query text, node text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found bool := false;
	ours text;
	core text;
	rows text := format('SELECT string_agg(q::text, E''\n'') FROM (%s) q', query);
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true), set_config('gpubtree.enabled', 'on', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || rows LOOP
		found := found OR line LIKE '%' || node || '%';
	END LOOP;
	EXECUTE rows INTO ours;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('gpubtree.enabled', 'off', true);
	EXECUTE rows INTO core;
	RETURN CASE WHEN NOT found THEN 'another plan' WHEN ours = core THEN 'same'
		ELSE left(ours, 300) || ' instead of ' || left(core, 300) END;
END $$;
\set ECHO all
SELECT c, w, last(format('SELECT DISTINCT ON (%s) %1$s, i FROM wide WHERE %s ORDER BY %1$s, i DESC', c, w), 'Last Key of Each')
	FROM (VALUES ('u', 'i > 5'), ('n', 'i > 5'), ('u, n', 'i > 5'), ('g, u', 'i > 5'), ('m, g', 'i > 5'), ('u', 'i BETWEEN 10 AND 1400 AND g <> 3')) x (c, w);
SELECT last(format('SELECT i / 100 x, %s, count(*), sum(m) FROM wide WHERE i > 5 GROUP BY 1, %1$s ORDER BY 1, %1$s', c), 'GpubtreeAggregate')
	FROM unnest('{u,n,"g, u"}'::text[]) c;
DROP FUNCTION last;

-- order, as a cursor, and in a prepared statement
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT u, count(*) FROM wide WHERE i > 5 GROUP BY u ORDER BY u DESC NULLS LAST LIMIT 3;
SELECT u, count(*) FROM wide WHERE i > 5 GROUP BY u ORDER BY u DESC NULLS LAST LIMIT 3;
SELECT m, count(*), count(DISTINCT u) FROM wide WHERE i > 5 GROUP BY m ORDER BY m NULLS FIRST LIMIT 4;
SELECT n, max(i) FROM wide WHERE i BETWEEN 1 AND 140 GROUP BY n ORDER BY n DESC LIMIT 5;
SELECT z, min(i) FROM wide WHERE i BETWEEN 1 AND 140 GROUP BY z ORDER BY z LIMIT 3;
PREPARE groups(int) AS SELECT u, count(*), count(DISTINCT z) FROM wide WHERE i < $1 GROUP BY u ORDER BY 1;
EXECUTE groups(8);
EXECUTE groups(0);
SET plan_cache_mode = force_generic_plan;
EXECUTE groups(8);
RESET plan_cache_mode;
DEALLOCATE groups;
RESET enable_seqscan;

-- changes that VACUUM has not seen
DELETE FROM wide WHERE i % 5 = 2;
INSERT INTO wide SELECT n + 1, m, z, gen_random_uuid(), d, g, i FROM wide WHERE i % 4 = 1 AND n < 1000;
UPDATE wide SET u = NULL WHERE i % 50 = 3;
SELECT differs(format('SELECT %s, count(*), count(DISTINCT n) FROM wide WHERE %s GROUP BY 1', c, w)) x
	FROM columns, conditions ORDER BY x LIMIT 1;

-- as key, ascending and descending
CREATE INDEX wide_u ON wide USING gpubtree (u) INCLUDE (i, m, g);
CREATE INDEX wide_m ON wide USING gpubtree (m DESC) INCLUDE (g, u, f);
DROP INDEX wide_i;
VACUUM ANALYZE wide;
SELECT differs(format('SELECT u, g, count(*), count(DISTINCT i %% 7), sum(i) FROM wide WHERE u %s GROUP BY 1, 2', c)) x
	FROM unnest('{IS NOT NULL,IS NULL,< ''77777777-7777-7777-aaaa-aaaaaaaaaaaa''}'::text[]) c ORDER BY x LIMIT 1;
SELECT differs(format('SELECT m, count(*), sum(m), count(DISTINCT u), mode() WITHIN GROUP (ORDER BY m) FROM wide WHERE m %s GROUP BY 1', c)) x
	FROM unnest('{> -1000,< 18446744073709551600,BETWEEN -500 AND 36893488147419103232,IS NOT NULL}'::text[]) c ORDER BY x LIMIT 1;
SELECT differs('SELECT count(DISTINCT u), mode() WITHIN GROUP (ORDER BY u), percentile_disc(0.7) WITHIN GROUP (ORDER BY u) FROM wide WHERE u > ''00000000-0000-0000-0000-000000000000''');
SELECT differs('SELECT sum(DISTINCT m), avg(DISTINCT m), count(DISTINCT f) FROM wide WHERE m > -10');
SELECT differs('SELECT m, f + 0, count(*) FROM wide WHERE m < 100 GROUP BY m, f');

-- where values of 16 bytes come after others, there is room for them beside two groups, and not beside three
\set ECHO all
SET enable_seqscan = off;
SELECT count(*), sum(a), sum(b) FROM (SELECT g, i % 3, count(DISTINCT i % 5) AS a, count(DISTINCT u) AS b FROM wide WHERE i > 0 GROUP BY 1, 2) q;
SELECT count(*), sum(a), sum(b) FROM (SELECT g, i % 3, i % 2, count(DISTINCT i % 5) AS a, count(DISTINCT u) AS b FROM wide WHERE i > 0 GROUP BY 1, 2, 3) q;
SET gpubtree.enabled = off;
SELECT count(*), sum(a), sum(b) FROM (SELECT g, i % 3, count(DISTINCT i % 5) AS a, count(DISTINCT u) AS b FROM wide WHERE i > 0 GROUP BY 1, 2) q;
SELECT count(*), sum(a), sum(b) FROM (SELECT g, i % 3, i % 2, count(DISTINCT i % 5) AS a, count(DISTINCT u) AS b FROM wide WHERE i > 0 GROUP BY 1, 2, 3) q;
\set ECHO none
RESET gpubtree.enabled;
RESET enable_seqscan;

RESET gpubtree.setup_cost;
DROP VIEW columns;
DROP TABLE wide, targets, conditions;
DROP DOMAIN token;
DROP FUNCTION answer, differs;
