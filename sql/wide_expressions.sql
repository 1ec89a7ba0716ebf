--
-- Expressions of numeric of 19 to 38 digits, which have 16 bytes, in programs: arithmetic,
-- comparisons and variance, against a sequential scan
--
CREATE TABLE wide (n numeric(38, 10), m numeric(30), z numeric(38, 38), b numeric(38), d numeric(12, 3), g int, i int);
-- NaN is in group 3 alone, and of n and d; group 5 has no values of n.  b is next to the limits of 128 bits.
INSERT INTO wide SELECT
		CASE WHEN g % 10 = 5 THEN NULL WHEN g % 130 = 3 THEN 'NaN' WHEN g % 11 = 0 THEN NULL
			WHEN g % 7 = 1 THEN 1234567890123456789012345.0123456789
			WHEN g % 7 = 2 THEN -1234567890123456789012345.0123456789
			WHEN g % 7 = 3 THEN (g % 9 - 4) * 922337203.6854775808
			WHEN g % 7 = 4 THEN (g % 9 - 4) * 1844674407.3709551616
			ELSE (g % 50 - 25) / 4.0 END,
		CASE WHEN g % 6 > 0 THEN (g % 17 - 8) * 18446744073709551616 + g % 3 - 1 END,
		CASE WHEN g % 13 > 0 THEN (g % 19 - 9) / 12.5 * 1.0000000000000000000000000000000000001 END,
		CASE g % 4 WHEN 1 THEN repeat('9', 38)::numeric WHEN 2 THEN -repeat('9', 38)::numeric
			WHEN 3 THEN repeat('9', 38)::numeric - g END,
		CASE WHEN g % 10 = 3 AND g % 4 = 0 THEN 'NaN' WHEN g % 8 > 0 THEN (g % 23 - 11) * 123456.789 END, g % 10, g
	FROM generate_series(1, 2500) g;
CREATE INDEX wide_i ON wide USING gpubtree (i) INCLUDE (n, m, z, b, d, g);
VACUUM ANALYZE wide;

\i :abs_srcdir/sql/common/wide_answer.sql
-- what the target list gives, of all rows and of each group, where it is not what core's plan gives
CREATE FUNCTION differs(target text, condition text DEFAULT 'true', gives_up bool DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	query text;
	ours text;
	core text;
BEGIN
	FOREACH query IN ARRAY ARRAY['SELECT row(%s) FROM wide WHERE i BETWEEN 10 AND 2450 AND %s',
		'SELECT string_agg(r::text, E''\n'' ORDER BY g) FROM
			(SELECT g, row(%s) r FROM wide WHERE i BETWEEN 10 AND 2450 AND %s GROUP BY g OFFSET 0) q'] LOOP
		ours := answer(format(query, target, condition), true, gives_up);
		core := answer(format(query, target, condition), false);
		IF ours <> core THEN
			RETURN NEXT target || ' WHERE ' || condition || ': ' || left(ours, 500) || ' instead of ' || left(core, 500);
		END IF;
	END LOOP;
END $$;

-- the variance family, with NaN and without
CREATE TABLE variances AS SELECT format('%s(%s)', f, c) t
	FROM unnest('{var_pop,var_samp,variance,stddev_pop,stddev_samp,stddev}'::text[]) f, unnest('{n,m,z,b}'::text[]) c
UNION ALL SELECT unnest(ARRAY['variance(m), sum(m), avg(m), min(m), max(m), count(m)', 'stddev(n) FILTER (WHERE n < 100), stddev(n)',
	'var_pop(b) FILTER (WHERE i % 3 = 0), var_samp(b), sum(b)', 'stddev(z) FILTER (WHERE false), variance(d)',
	'variance(m + 1), variance(2 * m - n), stddev(-z), stddev_pop(d * 10000000000000000000)']);
SELECT differs(t) FROM variances;
SELECT differs(t, c, false) FROM variances, unnest('{n < 100,m <> 0,i % 2500 = 1010,i % 2500 = 11,i % 500 = 4,g = 5}'::text[]) c
	WHERE t !~ '-';

-- values computed: of other scales, of words, of constants with more digits than a word has
CREATE TABLE numbers AS SELECT unnest(ARRAY['n + 1', 'n - 0.5', '1 - n', 'n * 2', '-3 * n', 'n * 2 + 1', '-n', '+n', 'abs(n)', 'n + m', 'm - n', 'n + d',
	'd - m', 'm * d', 'n * i', 'm + 36893488147419103232.25', 'n + 1e-12', 'n - 0.12345678901234567890123', 'z + 0.5', 'z * 10',
	'z - n * 0', 'abs(m - i)', '(m + i) * (i % 3)', '-(-m)', 'd * 10000000000000000000', 'd + 100000000000000000000', 'm + NULL', 'b - b', 'b + i * 0', 'abs(-b)',
	'm * 1000000000000000', '(m - 18446744073709551616) * -1', 'i * n + g * m - d']) v;
SELECT differs(format('sum(%1$s), avg(%1$s), min(%1$s), max(%1$s), count(%1$s), sum(%1$s) FILTER (WHERE %1$s > 5)', v)) FROM numbers;
-- without NaN, and with values that fit 128 bits, the node has the answer itself
SELECT differs(format('sum(%1$s), avg(%1$s), min(%1$s), max(%1$s), count(%1$s), variance(%1$s), sum(i) FILTER (WHERE %1$s > 5)', v), 'g <> 3', false)
	FROM numbers WHERE v !~ 'z|\* 10000000000|0.123456789';

-- beyond 128 bits, and with NaN, core's plan has the answer
SELECT differs(t, c, true) FROM (VALUES ('sum(b + b)', 'true'), ('sum(b * 10)', 'true'), ('max(b * -5)', 'true'),
	('sum(b - 80000000000000000000000000000000000000)', 'true'),
	('count(*) FILTER (WHERE z = n)', 'true'), ('sum(n + 1)', 'g = 3'), ('sum(-n)', 'true'), ('sum(n * 0)', 'g = 3'), ('sum(n + d)', 'g = 3'),
	('sum(m * 100000000000000000 * 100)', 'true'), ('sum(n - 0.12345678901234567890123)', 'true')) v(t, c);
-- the least and the greatest integers that fit, and those beside them
SELECT differs(format('sum(b + %1$s), max(b + %1$s)', c), format('b > 0 AND b + %s > i', c), NULL), differs(format('min(b - %s)', c), 'b < 0', NULL)
	FROM unnest('{70141183460469231731687303715884105726,70141183460469231731687303715884105728,70141183460469231731687303715884105729,
		70141183460469231731687303715884105710,60000000000000000000000000000000000000}'::text[]) c;
-- what is computed may have 39 digits, as may what it is compared with, and be the least integer of 128 bits
SELECT differs(format('count(*) FILTER (WHERE z + 0.5 %1$s 1), count(*) FILTER (WHERE z - 0.5 %1$s -1.22000000000000000000000000000000000007),
	count(*) FILTER (WHERE b + 6e37 %1$s 159999999999999999999999999999999999999), count(*) FILTER (WHERE b - 6e37 %1$s -159999999999999999999999999999999999999.5),
	count(*) FILTER (WHERE b + 6e37 %1$s 2e38), count(*) FILTER (WHERE b - 70141183460469231731687303715884105729 %1$s -170141183460469231731687303715884105728),
	count(*) FILTER (WHERE b - 70141183460469231731687303715884105729 %1$s -1e40)', o), 'true', false)
	FROM unnest('{<,<=,=,<>,>=,>,IS DISTINCT FROM}'::text[]) o;
SELECT differs('count(*) FILTER (WHERE b + 6e37 IN (0, 159999999999999999999999999999999999999, 1e39)), count(*) FILTER (WHERE z + 0.5 NOT IN (0.5, 1.22000000000000000000000000000000000007))',
	'true', false);

-- comparisons
CREATE TABLE conditions AS SELECT format('%s %s %s', v, o, w) c
	FROM (VALUES ('n', 'm'), ('m', 'n'), ('z', 'z + 0'), ('n', 'd'), ('d', 'm'), ('n + 1', '5'), ('n * 2', 'm + 1'), ('m', 'i'), ('i', 'n'), ('b', 'm'),
		('n - m', '0'), ('n + 0.25', '1e50'), ('n + 0.25', '''NaN'''), ('n * 2', '-1844674407.37095516164'), ('-n', '''-infinity'''), ('abs(m)', 'abs(n)'),
		('5', 'n + 1'), ('2e40', 'm - 1'), ('0.00000000000000000001', 'n - 1'), ('n', 'n + 0'), ('z * 10', '0.8')) x(v, w),
		unnest('{<,<=,=,<>,>=,>,IS DISTINCT FROM,IS NOT DISTINCT FROM}'::text[]) o
UNION ALL SELECT unnest(ARRAY['n + 1 IN (1, 1.25, 5.5, 1e40)', 'n * 2 NOT IN (0, NULL)', 'm - 1 = ANY (''{}'')', 'n + 1 IS NULL', 'NOT (m > n AND d < n)',
	'n BETWEEN m AND m + 5', 'n BETWEEN d AND 100', 'CASE WHEN n > d THEN m + 1 > n ELSE i > 9 END', 'CASE WHEN n = ''NaN'' THEN i > 50 ELSE n + 1 > 2 END',
	'(m, n) < (0, 5)', 'n < 5 OR n + 1 > 100', 'CASE WHEN b > 0 THEN false ELSE -b - 1 > 0 END', 'm + 1 > 0 IS NOT TRUE']);
\set ECHO all

SELECT count(*) > 150 AS many FROM conditions;
SELECT c, d FROM conditions, differs('count(*), sum(i), max(i)', c) d;
SELECT c, d FROM conditions, differs('count(*), sum(i), max(i), sum(m) FILTER (WHERE ' || c || ')', 'g <> 3 AND (' || c || ')', false) d
	WHERE c !~ 'z|2e40' AND c !~ 'b . m';
-- a NaN is met only where core meets it
SELECT differs('count(*)', 'CASE WHEN n = ''NaN'' THEN i > 50 ELSE n + 1 > 2 END', false);
SELECT differs('sum(n + 1) FILTER (WHERE n <> ''NaN'')', 'true', false);

-- random conditions of three parts; the seed is what to set to see the same ones again
SELECT setseed(0.61);
\set ECHO none
CREATE TABLE parts AS SELECT row_number() OVER (ORDER BY random()) n, c FROM conditions;
SELECT a.c, b.c, d.c, x FROM parts a JOIN parts b ON b.n = a.n + 1 JOIN parts d ON d.n = a.n + 2,
	differs('count(*), sum(i)', format('((%s) OR (%s)) AND (%s) IS NOT TRUE', a.c, b.c, d.c)) x WHERE a.n % 3 = 1;

-- groups, buckets, values, as key
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text := answer(query, true);
	core text := answer(query, false);
BEGIN
	RETURN CASE WHEN ours = core THEN 'same' ELSE left(ours, 300) || ' instead of ' || left(core, 300) END;
END $$;
\set ECHO all
SELECT same(format('SELECT string_agg(q::text, E''\n'' ORDER BY a) FROM (SELECT %s a, count(*), sum(m + 1), variance(m) FROM wide WHERE i > 5 AND g <> 3 GROUP BY 1 OFFSET 0) q', e))
	FROM unnest('{m + 1,m * 2 - 1,abs(m),d + m}'::text[]) e;
SELECT same('SELECT row(count(DISTINCT m + 1), sum(DISTINCT m * 2), avg(DISTINCT m * 2)) FROM wide WHERE i > 5');
SELECT same('SELECT row(percentile_disc(0.3) WITHIN GROUP (ORDER BY m + 1)) FROM wide WHERE i > 5');
CREATE INDEX wide_m ON wide USING gpubtree (m DESC) INCLUDE (g, i);
VACUUM wide;
SELECT same(format('SELECT string_agg(q::text, E''\n'' ORDER BY g) FROM (SELECT g, sum(m * 2 + 1), stddev(m), max(m - i) FROM wide WHERE m %s AND m + 1 <> 0 GROUP BY g OFFSET 0) q', c))
	FROM unnest('{"> -1000","BETWEEN -500 AND 36893488147419103232",IS NOT NULL}'::text[]) c;
DROP INDEX wide_m;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT sum(m * 2 + 1), stddev(m) FROM wide WHERE i > 5 AND m + 1 > d;
SELECT sum(m * 2 + 1), round(stddev(m)), var_pop(b) FROM wide WHERE i > 5 AND m + 1 > n AND g <> 3;

-- constants that have one upper half
SELECT max(12345678901234567890), max(12345678901234567891), min(12345678901234567890 + i) FROM wide WHERE i > 5;

-- what is left to core's plan
SET gpubtree.explain_decisions = on;
EXPLAIN (COSTS OFF) SELECT sum(n * m) FROM wide WHERE i > 5;
EXPLAIN (COSTS OFF) SELECT sum(n / 2) FROM wide WHERE i > 5;
EXPLAIN (COSTS OFF) SELECT sum(round(n, 2)) FROM wide WHERE i > 5;
EXPLAIN (COSTS OFF) SELECT sum(coalesce(n, 0)) FROM wide WHERE i > 5;
EXPLAIN (COSTS OFF) SELECT sum(z * 0.1) FROM wide WHERE i > 5;
EXPLAIN (COSTS OFF) SELECT sum(m + 123456789012345678901234567890123456789) FROM wide WHERE i > 5;
RESET gpubtree.explain_decisions;
RESET enable_seqscan;
DROP TABLE wide, variances, numbers, conditions, parts;
DROP FUNCTION answer, differs, same;
