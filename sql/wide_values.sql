--
-- Aggregates of values of 16 bytes, numeric of 19 to 38 digits and uuid, in programs: as key and as
-- INCLUDE column, against a sequential scan
--
CREATE TABLE wide (n numeric(38, 10), m numeric(30), z numeric(38, 38), b numeric(38), u uuid, g int, i int);
-- NaN is in group 3 alone, and group 5 has no values.  b is so large that sums of it have more than 128 bits.
INSERT INTO wide SELECT
		CASE WHEN g % 10 = 5 THEN NULL WHEN g % 130 = 3 THEN 'NaN' WHEN g % 11 = 0 THEN NULL
			WHEN g % 7 = 1 THEN (repeat('9', 28) || '.9999999999')::numeric
			WHEN g % 7 = 2 THEN -(repeat('9', 28) || '.9999999999')::numeric
			WHEN g % 7 = 3 THEN (g % 9 - 4) * 922337203.6854775808
			WHEN g % 7 = 4 THEN (g % 9 - 4) * 1844674407.3709551616
			ELSE (g % 50 - 25) / 4.0 END,
		CASE WHEN g % 6 > 0 THEN (g % 17 - 8) * 18446744073709551616 + g % 3 - 1 END,
		CASE WHEN g % 13 > 0 THEN (g % 19 - 9) / 12.5 * 1.0000000000000000000000000000000000001 END,
		CASE g % 4 WHEN 1 THEN repeat('9', 38)::numeric WHEN 2 THEN -repeat('9', 38)::numeric
			WHEN 3 THEN repeat('9', 38)::numeric - g END,
		CASE WHEN g % 5 > 0 THEN md5((g % 40)::text)::uuid END, g % 10, g
	FROM generate_series(1, 2500) g;
CREATE INDEX wide_i ON wide USING gpubtree (i) INCLUDE (n, m, z, b, u, g);
VACUUM ANALYZE wide;

\i :abs_srcdir/sql/common/wide_answer.sql
-- what the target list gives, of all rows and of each group, where it is not what core's plan gives
CREATE FUNCTION differs(target text, condition text DEFAULT 'true') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	query text;
	ours text;
	core text;
BEGIN
	FOREACH query IN ARRAY ARRAY['SELECT row(%s) FROM wide WHERE i BETWEEN 10 AND 2450 AND %s',
		'SELECT string_agg(r::text, E''\n'' ORDER BY g) FROM
			(SELECT g, row(%s) r FROM wide WHERE i BETWEEN 10 AND 2450 AND %s GROUP BY g OFFSET 0) q'] LOOP
		ours := answer(format(query, target, condition), true);
		core := answer(format(query, target, condition), false);
		IF ours <> core THEN
			RETURN NEXT target || ' WHERE ' || condition || ': ' || ours || ' instead of ' || core;
		END IF;
	END LOOP;
END $$;

CREATE TABLE targets (t text);
INSERT INTO targets SELECT format('%s(%s)', f, c) FROM unnest('{sum,avg,count,min,max}'::text[]) f,
	unnest('{n,m,z,b}'::text[]) c
UNION ALL SELECT unnest(ARRAY['count(u)', 'sum(n), avg(n), count(n), count(*)', 'sum(n), sum(m), sum(z), avg(b), sum(i)',
	'sum(n) FILTER (WHERE n < 0), count(n) FILTER (WHERE u IS NULL)', 'avg(b) FILTER (WHERE i % 3 = 0), avg(b), sum(b)',
	'sum(i), count(u) FILTER (WHERE m > 5), avg(m) FILTER (WHERE m > 5)', 'sum(z) FILTER (WHERE false), avg(z)',
	'sum(b) FILTER (WHERE b > 0), sum(b) FILTER (WHERE b < 0)', 'sum(n) FILTER (WHERE n <> ''NaN'')',
	'min(n), max(n), sum(n), count(n)', 'max(n) FILTER (WHERE n <> ''NaN''), max(n), min(m), sum(m) FILTER (WHERE i % 2 = 0)',
	'min(b), max(b), min(z) FILTER (WHERE z > 0), max(z) FILTER (WHERE z < 0), min(m) FILTER (WHERE false)']);
SELECT differs(t) FROM targets;
SELECT differs(t, c) FROM targets, unnest('{n < 100,n > -5 AND i % 2 = 0,m <> 0,b IS NULL,u IS NULL,i % 2500 = 1010,i % 2500 = 11,i % 500 = 3}'::text[]) c;

-- many groups, several group expressions, buckets, and the halves that tell values apart
SELECT differs(t) FROM (SELECT 'min(n), max(n), sum(b), avg(m), max(z)' t) x;
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text := answer(query, true);
	core text := answer(query, false);
BEGIN
	RETURN CASE WHEN ours = core THEN 'same' ELSE left(ours, 300) || ' instead of ' || left(core, 300) END;
END $$;
\set ECHO all

SELECT same(format('SELECT string_agg(q::text, E''\n'' ORDER BY a, b) FROM (SELECT %s, min(n), max(n), min(m), max(m), max(b), sum(b), avg(n)
		FROM wide WHERE i > 5 GROUP BY 1, 2 OFFSET 0) q', g))
	FROM unnest('{"i % 997 a, i % 2 b","i / 3 a, g % 2 b","g a, i % 7 b"}'::text[]) g;

-- extremes that one half or the other tells apart
TRUNCATE wide;
INSERT INTO wide (i, g, m) SELECT g, g % 3, (g % 5 - 2) * 18446744073709551616 + (g % 3 - 1) * 9223372036854775807
	FROM generate_series(1, 1000) g;
INSERT INTO wide (i, g, m) SELECT g, 3 + g % 2, CASE WHEN g % 2 = 0 THEN g - 1500 ELSE 18446744073709551615 - g % 50 END
	FROM generate_series(1001, 2000) g;
VACUUM ANALYZE wide;
SELECT same('SELECT row(min(m), max(m), sum(m), avg(m)) FROM wide WHERE i < 3000');
SELECT same('SELECT string_agg(q::text, E''\n'' ORDER BY g) FROM (SELECT g, min(m), max(m), sum(m) FROM wide WHERE i < 3000 GROUP BY g OFFSET 0) q');

-- as key
CREATE INDEX wide_m ON wide USING gpubtree (m DESC) INCLUDE (g);
VACUUM wide;
SELECT same(format('SELECT string_agg(q::text, E''\n'' ORDER BY g) FROM (SELECT g, min(m), max(m), sum(m), avg(m), count(m) FROM wide WHERE m %s GROUP BY g OFFSET 0) q', c))
	FROM unnest('{"> -1000",< 18446744073709551600,"BETWEEN -500 AND 36893488147419103232",IS NOT NULL}'::text[]) c;
DROP INDEX wide_m;

\set ECHO none
-- in buckets, and in ranges of other rows
SET enable_seqscan = off;
CREATE VIEW buckets AS SELECT i / 100 AS x, min(m), max(m), sum(m), avg(m), count(b) FROM wide WHERE i > 7 GROUP BY 1;
CREATE VIEW ranges AS SELECT x, l.* FROM generate_series(-100, 2100, 100) x,
	LATERAL (SELECT min(m), max(m), sum(m), avg(m) FILTER (WHERE m > 0), count(m) FROM wide WHERE i BETWEEN x AND x + 150) l;
SET gpubtree.enabled = off;
CREATE TABLE core AS SELECT b::text FROM buckets b UNION ALL SELECT r::text FROM ranges r;
RESET gpubtree.enabled;
\set ECHO all
EXPLAIN (COSTS OFF) SELECT * FROM buckets;
EXPLAIN (COSTS OFF) SELECT * FROM ranges;
\set ECHO none
SELECT b::text FROM buckets b UNION ALL SELECT r::text FROM ranges r EXCEPT ALL TABLE core;
(TABLE core EXCEPT ALL SELECT b::text FROM buckets b) EXCEPT ALL SELECT r::text FROM ranges r;
DROP VIEW buckets, ranges;
DROP TABLE core;
RESET enable_seqscan;

-- sums that carry from half to half, and beyond 128 bits
TRUNCATE wide;
INSERT INTO wide (i, m, b) SELECT g, 18446744073709551615, repeat('9', 38)::numeric FROM generate_series(1, 1000) g;
INSERT INTO wide (i, m, b) SELECT g, -18446744073709551615, -repeat('9', 38)::numeric FROM generate_series(1001, 2000) g;
VACUUM ANALYZE wide;
SET enable_seqscan = off;
\set ECHO all
EXPLAIN (COSTS OFF) SELECT sum(m), avg(m), sum(b), avg(b) FROM wide WHERE i <= 1000;
SELECT sum(m), avg(m), sum(b), avg(b) FROM wide WHERE i <= 1000;
SELECT sum(m), avg(m), sum(b), avg(b) FROM wide WHERE i > 1000;
SELECT sum(m), avg(m), sum(b), avg(b) FROM wide WHERE i BETWEEN 2 AND 2000;
SELECT sum(m), avg(m), count(m), sum(b), min(b), max(m) FROM wide WHERE i > 2000;
SELECT min(m), max(m), min(b), max(b) FROM wide WHERE i > 1;
RESET enable_seqscan;
DROP TABLE wide, targets;
DROP FUNCTION answer, differs, same;
