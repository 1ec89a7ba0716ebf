--
-- Buckets of a key column below a prefix of others that have one value each.  Nothing printed here
-- depends on the device.
--
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET enable_seqscan = off;
SET enable_bitmapscan = off;

CREATE TABLE readings (tenant int4 NOT NULL, ts timestamptz, n int2 NOT NULL, v int4, w int8, name text);
INSERT INTO readings
SELECT i % 3, CASE WHEN i % 50 <> 7 THEN timestamptz '2026-01-01' + i / 9 * interval '90 seconds' END, i % 20, i, i % 7, 'row ' || i FROM generate_series(1, 40000) i;
INSERT INTO readings SELECT 1, t, 3, 1, 1, 'far' FROM unnest('{infinity,-infinity}'::timestamptz[]) t;
CREATE INDEX readings_ts ON readings USING gpubtree (tenant, ts) INCLUDE (v, w);
CREATE INDEX readings_n ON readings USING gpubtree (tenant DESC, n, ts DESC NULLS LAST);
VACUUM ANALYZE readings;
-- neither visible everywhere nor to everyone
UPDATE readings SET v = v + 1 WHERE v % 50 = 0;
DELETE FROM readings WHERE v BETWEEN 20000 AND 22000;

SET compare.node = 'GpubtreeBucketAggregate';
\i :abs_srcdir/sql/common/compare_rows.sql
\set ECHO all

SELECT * FROM plan('SELECT date_trunc(''day'', ts) AS day, count(*), sum(v) FROM readings WHERE tenant = 1 AND ts >= ''2026-01-02'' GROUP BY 1 ORDER BY 1 LIMIT 2');
SELECT date_trunc('day', ts) AS day, count(*), sum(v) FROM readings WHERE tenant = 1 AND ts >= '2026-01-02' GROUP BY 1 ORDER BY 1 LIMIT 2;
-- NULL and infinite keys at their ends
SELECT date_trunc('day', ts) AS day, count(*), sum(v) FROM readings WHERE tenant = 1 GROUP BY 1 ORDER BY 1;
SELECT * FROM plan('SELECT date_trunc(''day'', ts) AS day, count(*) FROM readings WHERE n = 3 AND tenant = 0 GROUP BY 1 ORDER BY 1 DESC NULLS LAST');
-- also buckets of few entries, which would be groups of another node
SET gpubtree.enable_aggregate = off;
SET enable_hashagg = off;
SET enable_sort = off;
-- half of all combinations, in which each choice from all the lists but one occurs
SELECT compare(format('SELECT %s AS b, %s FROM readings WHERE %s GROUP BY 1 ORDER BY 1 %s', bucket, aggregates, condition, direction))
FROM unnest(ARRAY['date_trunc(''day'', ts)', 'date_bin(''8 hours'', ts, ''2020-01-01'')', 'ts::date', 'date_trunc(''week'', ts, ''America/New_York'')']) WITH ORDINALITY l1 (bucket, n1),
	unnest('{count(*),"sum(v), max(v)","min(ts), count(ts), sum(w * 2)","count(*) FILTER (WHERE v % 2 = 0)"}'::text[]) WITH ORDINALITY l2 (aggregates, n2),
	unnest('{tenant = 1,tenant = 2 AND ts < ''2026-01-04 17:05'',1::int8 = tenant AND ts > date ''2026-01-02'' AND v % 3 <> 1,tenant = 0 AND ts IS NOT NULL}'::text[]) WITH ORDINALITY l3 (condition, n3),
	unnest('{ASC,DESC,NULLS FIRST}'::text[]) WITH ORDINALITY l4 (direction, n4)
WHERE (n1 + n2 + n3 + n4) % 2 = 0
GROUP BY 1 ORDER BY 1;
RESET gpubtree.enable_aggregate;
RESET enable_hashagg;
RESET enable_sort;
-- below two columns; the first column; further groups; columns with several values, and all with one
SELECT compare('SELECT date_trunc(''day'', ts), count(*), max(ts) FROM readings WHERE tenant = 1 AND n = 4 GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT n / 5, count(*) FROM readings WHERE tenant = 1 GROUP BY 1 ORDER BY 1 DESC');
SELECT compare('SELECT tenant / 2, count(*), sum(v) FROM readings GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT date_trunc(''day'', ts), w % 3, count(*) FROM readings WHERE tenant = 1 GROUP BY 1, 2 ORDER BY 1, 2');
SELECT compare('SELECT tenant, date_trunc(''day'', ts), count(*) FROM readings WHERE tenant = 1 GROUP BY 1, 2 ORDER BY 1, 2');
SELECT is_ours(format('SELECT date_trunc(''day'', ts), count(*) FROM readings WHERE %s GROUP BY 1', condition))
FROM unnest('{tenant > 1,"tenant = ANY (''{1,2}'')",tenant = 1 AND name > '''',tenant = 1 AND ts = ''2026-01-01'',tenant = 1 AND n > 3,true}'::text[]) condition;
SELECT is_ours('SELECT date_trunc(''minute'', ts), count(*) FROM readings WHERE tenant = 1 GROUP BY 1');
-- values that are known at run time, among them none, and none that the type has
SET plan_cache_mode = force_generic_plan;
PREPARE days(int8, text) AS SELECT date_trunc($2, ts) AS b, count(*), sum(v) FROM readings WHERE tenant = $1 AND ts < '2026-01-04' GROUP BY 1 ORDER BY 1;
SELECT * FROM plan('EXECUTE days(1, ''day'')');
EXECUTE days(1, 'day');
EXECUTE days(2, 'month');
EXECUTE days(2, NULL);
EXECUTE days(NULL, 'day');
EXECUTE days(9223372036854775807, 'day');
EXECUTE days(1, 'eon');
DEALLOCATE days;
RESET plan_cache_mode;
SELECT compare('SELECT a, x.* FROM generate_series(-1, 3) a, LATERAL (SELECT date_trunc(''day'', ts) AS b, count(*), sum(v) FROM readings WHERE tenant = a GROUP BY 1 ORDER BY 1) x');
-- the greatest and the least value of a type, where NULL comes before them with a bit of its own
\set ECHO none
CREATE TABLE ends (p int, k int, d date, s int2);
INSERT INTO ends SELECT i % 2, i % 50 - 25, date '2026-01-01' + i % 90, i % 50 FROM generate_series(1, 400) i;
INSERT INTO ends SELECT p, k, d, s FROM generate_series(0, 1) p,
	(VALUES (2147483647, 'infinity'::date, 32767), (-2147483648, '-infinity', -32768), (NULL, NULL, NULL)) v (k, d, s);
CREATE INDEX ON ends USING gpubtree (p, k DESC);
CREATE INDEX ON ends USING gpubtree (p, k NULLS FIRST);
CREATE INDEX ON ends USING gpubtree (p, d DESC);
CREATE INDEX ON ends USING gpubtree (p, d NULLS FIRST);
CREATE INDEX ON ends USING gpubtree (p, s DESC);
VACUUM ANALYZE ends;
SET gpubtree.enable_aggregate = off;
SET enable_hashagg = off;
SET enable_sort = off;
\set ECHO all
SELECT compare(format('SELECT %s AS b, count(*) FROM ends WHERE p = 1 %s GROUP BY 1 ORDER BY 1 %s', bucket, condition, direction))
FROM unnest('{k / 7,"date_trunc(''month'', d)",s / 7}'::text[], '{k,d,s}'::text[]) b (bucket, name),
	LATERAL unnest(ARRAY['', format('AND %s IS NOT NULL', name)]) condition, unnest('{DESC,NULLS FIRST}'::text[]) direction
ORDER BY 1;
RESET gpubtree.enable_aggregate;
RESET enable_hashagg;
RESET enable_sort;
DROP TABLE readings, ends;
DROP FUNCTION plan, is_ours, answer, plain_answer, compare;
