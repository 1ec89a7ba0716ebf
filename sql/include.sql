--
-- INCLUDE columns: every type, NULLs, what is refused
--
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET extra_float_digits = 1;

CREATE TABLE t (k int4, a int2, b int4, c int8, d float8, e date, f timestamp, g timestamptz);
INSERT INTO t VALUES
	(1, -32768, -2147483648, -9223372036854775808, '-Infinity', '-infinity', '-infinity', '-infinity'),
	(2, 32767, 2147483647, 9223372036854775807, 'Infinity', 'infinity', 'infinity', 'infinity'),
	(3, 0, 0, 0, 0, '2000-01-01', '2000-01-01', '2000-01-01 00:00+00'),
	(4, -1, -1, -1, '-0', '4714-11-24 BC', '4714-11-24 BC', '4714-11-24 00:00+00 BC'),
	(5, 1, 1, 1, 'NaN', '5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999+00'),
	(6, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(7, NULL, 7, NULL, 4.9406564584124654e-324, NULL, '2000-01-01', NULL),
	(8, 8, NULL, 8, NULL, '2000-01-08', NULL, '2000-01-08 00:00+00'),
	(9, 9, 9, 9, 1.7976931348623157e308, NULL, NULL, '2000-01-09 00:00+00'),
	(NULL, 10, 10, 10, 0.1, '2000-01-10', '2000-01-10', '2000-01-10 00:00+00');

CREATE FUNCTION index_only(columns text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_sort = off;
	RETURN QUERY EXECUTE format('EXPLAIN (COSTS OFF) SELECT k, %s FROM t ORDER BY k', columns);
	RETURN QUERY EXECUTE format('SELECT q::text FROM (SELECT k, %s FROM t ORDER BY k) q', columns);
END $$;

-- built over the rows, and filled by inserts
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (a, b, c, d, e, f, g);
VACUUM ANALYZE t;
\set ECHO all

SELECT gpubtree_check('t_k', true);
SELECT * FROM index_only('a, b, c, d, e, f, g');
CREATE TABLE copy AS SELECT * FROM t;
TRUNCATE t;
INSERT INTO t SELECT * FROM copy ORDER BY k DESC;
VACUUM t;
SELECT gpubtree_check('t_k', true);
SELECT * FROM index_only('a, b, c, d, e, f, g');

-- each column alone, and orders that need padding
ALTER TABLE t ADD COLUMN a2 int2, ADD COLUMN a3 int2;
UPDATE t SET a2 = k * 2, a3 = nullif(k, 3);
DO $$
DECLARE
	include text;
	wrong bigint;
BEGIN
	FOREACH include IN ARRAY ARRAY['a', 'b', 'c', 'd', 'e', 'f', 'g', 'a, c', 'a, d, b',
		'b, a, g, a2', 'c, b', 'a, a2, a3'] LOOP
		DROP INDEX t_k;
		EXECUTE format('CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (%s)', include);
		SET LOCAL enable_seqscan = off;
		SET LOCAL enable_bitmapscan = off;
		EXECUTE format('CREATE TEMP TABLE ours AS SELECT k, %s FROM t WHERE k > -1000 OR k IS NULL', include);
		SET LOCAL enable_seqscan = on;
		SET LOCAL enable_indexscan = off;
		SET LOCAL enable_indexonlyscan = off;
		EXECUTE format('CREATE TEMP TABLE theirs AS SELECT k, %s FROM t', include);
		EXECUTE 'SELECT count(*) FROM (
			(SELECT x::text FROM ours x EXCEPT ALL SELECT x::text FROM theirs x) UNION ALL
			(SELECT x::text FROM theirs x EXCEPT ALL SELECT x::text FROM ours x)) q' INTO wrong;
		SET LOCAL enable_indexscan = on;
		SET LOCAL enable_indexonlyscan = on;
		PERFORM gpubtree_check('t_k', true);
		RAISE NOTICE '%: % wrong', include, wrong;
		DROP TABLE ours, theirs;
	END LOOP;
END $$;
VACUUM t;
SELECT * FROM index_only('a, a2, a3');

\set ECHO none
-- fourteen columns are allowed, fifteen are not
CREATE TABLE wide (k int8, c1 int2, c2 int4, c3 int8, c4 float8, c5 int2, c6 int2, c7 int2,
	c8 int4, c9 int8, c10 date, c11 timestamp, c12 timestamptz, c13 int2, c14 float8, c15 int4);
INSERT INTO wide SELECT i, i, nullif(i % 3, 0), i, i, i, i, nullif(i % 2, 0), i, i,
	date '2000-01-01' + i, timestamp '2000-01-01' + i * interval '1 second', NULL, i, i / 4.0, i
FROM generate_series(1, 500) i;
CREATE INDEX wide_k ON wide USING gpubtree (k)
	INCLUDE (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14);
VACUUM ANALYZE wide;
\set ECHO all
SELECT gpubtree_check('wide_k', true);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT k, c14, c12, c13, c7 FROM wide WHERE k IN (1, 2, 499);
SELECT k, c14, c12, c13, c7, c2, c10, c11 FROM wide WHERE k IN (1, 2, 499);
RESET enable_seqscan;
CREATE INDEX ON wide USING gpubtree (k)
	INCLUDE (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15);

-- types that are refused, by name
CREATE TABLE refused (k int4, t json, n numeric, r timetz, i interval, b inet, u uuid, v json);
CREATE INDEX ON refused USING gpubtree (k) INCLUDE (t);
CREATE INDEX ON refused USING gpubtree (k) INCLUDE (n);
CREATE INDEX ON refused USING gpubtree (k) INCLUDE (b);
CREATE INDEX ON refused USING gpubtree (k) INCLUDE (k, v);
DO $$
BEGIN
	CREATE INDEX ON refused USING gpubtree (k) INCLUDE (t);
EXCEPTION WHEN feature_not_supported THEN
	RAISE NOTICE 'feature_not_supported';
END $$;

DROP TABLE t, copy, wide, refused;
DROP FUNCTION index_only;
