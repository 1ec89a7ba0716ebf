--
-- Filters on values of 16 bytes, uuid and numeric of 19 to 38 digits, in programs: as key and as
-- INCLUDE column, against a sequential scan
--
CREATE TABLE wide (u uuid, n numeric(38, 10), w uuid, m numeric(30), i int);
-- Values that differ in one half alone, and have its highest bit; NaN, the bounds, and NULLs
INSERT INTO wide SELECT
		CASE WHEN g % 11 > 0 THEN (lpad(to_hex(CASE g % 4 WHEN 0 THEN 4294967295 WHEN 1 THEN 2147483648
			WHEN 2 THEN 0 ELSE g % 5 END), 8, '0') || '00000000' ||
			lpad(to_hex(CASE g % 3 WHEN 0 THEN 4294967295 WHEN 1 THEN 2147483647 ELSE g % 7 END), 8, '0') ||
			lpad(to_hex(g % 13), 8, '0'))::uuid END,
		CASE g % 9 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN (repeat('9', 28) || '.9999999999')::numeric
			WHEN 3 THEN -(repeat('9', 28) || '.9999999999')::numeric
			WHEN 4 THEN (g % 7 - 3) * 922337203.6854775808 WHEN 5 THEN (g % 7 - 3) * 1844674407.3709551616
			ELSE (g % 50 - 25) / 4.0 END,
		CASE WHEN g % 5 > 0 THEN md5((g % 40)::text)::uuid END,
		CASE WHEN g % 6 > 0 THEN (g % 17 - 8) * 18446744073709551616 + g % 3 - 1 END, g
	FROM generate_series(1, 2500) g;
CREATE INDEX wide_i ON wide USING gpubtree (i) INCLUDE (u, n, w, m);
VACUUM ANALYZE wide;

\i :abs_srcdir/sql/common/wide_answer.sql
CREATE FUNCTION differs(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := 'SELECT row(count(*), sum(i), max(i)) FROM wide WHERE i BETWEEN 10 AND 2450 AND ' || condition;
	ours text := answer(query, true);
	core text := answer(query, false);
BEGIN
	RETURN CASE WHEN ours <> core THEN ours || ' instead of ' || core END;
END $$;

CREATE TABLE conditions (c text);
INSERT INTO conditions
SELECT format('%s %s %L', v, o, c) FROM unnest('{u,w}'::text[]) v, unnest('{<,<=,=,<>,>=,>}'::text[]) o,
	unnest('{ffffffff-0000-0000-ffff-ffff00000000,80000000-0000-0000-7fff-ffff00000001,
		00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,
		00000003-0000-0000-0000-000500000008,c4ca4238-a0b9-2382-0dcc-509a6f75849b}'::text[]) c
UNION ALL SELECT format('%s %s %s', v, o, c) FROM unnest('{n,m}'::text[]) v, unnest('{<,<=,=,<>,>=,>}'::text[]) o,
	unnest('{0,0.25,1e-20,-1e-20,''NaN'',1e50,-1e50,''infinity'',''-infinity'',1844674407.3709551616,
		922337203.6854775808,-922337203.6854775808,9999999999999999999999999999.9999999999,
		-9999999999999999999999999999.9999999999,18446744073709551616,18446744073709551615,
		-18446744073709551617,-147573952589676412929}'::text[]) c
UNION ALL SELECT format('%s %s', v, t) FROM unnest('{u,w,n,m}'::text[]) v,
	unnest('{IS NULL,IS NOT NULL}'::text[]) t
UNION ALL SELECT unnest(ARRAY['n IN (0, 0.25, 1.5, 1e-30)', 'n NOT IN (0, 0.25)', 'n NOT IN (0, 0.25, NULL)',
	'm = ANY (''{NULL,0,18446744073709551616,NaN}'')', 'm IN (1, NULL) IS NULL', 'n = ANY (''{}'')',
	'(m <> ALL (''{}''))', 'u = ANY (''{ffffffff-0000-0000-ffff-ffff00000000,NULL}'')',
	'w IN (''c4ca4238-a0b9-2382-0dcc-509a6f75849b'', ''c81e728d-9d4c-2f63-6f06-7f89cc14862c'')',
	'w NOT IN (''c4ca4238-a0b9-2382-0dcc-509a6f75849b'', ''c81e728d-9d4c-2f63-6f06-7f89cc14862c'')',
	'u < w', 'u >= w', 'u <> w OR n > 1', 'u IS DISTINCT FROM w', 'n IS DISTINCT FROM 0.25',
	'u IS NOT DISTINCT FROM ''ffffffff-0000-0000-ffff-ffff00000000''', 'NOT (m > 5 AND w IS NULL)',
	'''80000000-0000-0000-7fff-ffff00000001'' < u', '5 >= n', 'CASE WHEN n = ''NaN'' THEN i > 50 ELSE u > w END']);
\set ECHO all

SELECT count(*) > 300 AS many FROM conditions;
SELECT c, differs(c) FROM conditions WHERE differs(c) IS NOT NULL;

-- random conditions of three parts; the seed is what to set to see the same ones again
SELECT setseed(0.129);
CREATE TABLE parts AS SELECT row_number() OVER (ORDER BY random()) n, c FROM conditions, generate_series(1, 2);
SELECT a.c, b.c, d.c, differs(format('((%s) OR (%s)) AND (%s) IS NOT TRUE', a.c, b.c, d.c))
	FROM parts a JOIN parts b ON b.n = a.n + 1 JOIN parts d ON d.n = a.n + 2
	WHERE a.n % 3 = 1 AND differs(format('((%s) OR (%s)) AND (%s) IS NOT TRUE', a.c, b.c, d.c)) IS NOT NULL;

-- a uuid that is known when the query runs
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE after(uuid) AS SELECT count(*), sum(i) FROM wide WHERE i > 5 AND u > $1;
EXPLAIN (COSTS OFF) EXECUTE after('80000000-0000-0000-7fff-ffff00000001');
EXECUTE after('80000000-0000-0000-7fff-ffff00000001');
EXECUTE after(NULL);
DEALLOCATE after;
RESET plan_cache_mode;
RESET enable_seqscan;
SELECT count(*), sum(i) FROM wide WHERE i > 5 AND u > '80000000-0000-0000-7fff-ffff00000001';

\set ECHO none
-- as keys: what is no range of the key is a filter
DROP INDEX wide_i;
CREATE INDEX wide_u ON wide USING gpubtree (u DESC) INCLUDE (i, n);
SELECT c, differs(c) FROM conditions WHERE c ~ '^[un] ' AND c !~ 'w' AND
	differs(format('(%s OR i < 100)', c)) IS NOT NULL;
DROP INDEX wide_u;
CREATE INDEX wide_n ON wide USING gpubtree (n NULLS FIRST) INCLUDE (i, u);
SELECT c, differs(c) FROM conditions WHERE c ~ '^[un] ' AND c !~ 'w' AND
	differs(format('(%s OR i < 100)', c)) IS NOT NULL;
DROP TABLE wide, conditions, parts;
DROP FUNCTION answer, differs;
