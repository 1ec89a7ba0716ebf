--
-- Buckets in the reverse order of an index: the plans, the answers, and how little a LIMIT reads.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET timezone = 'America/New_York';

CREATE TABLE trip (at timestamptz, fare integer, tip bigint);
INSERT INTO trip SELECT timestamptz '2023-10-20' + n * interval '7 minutes', n % 100, n
	FROM generate_series(1, 8000) n;
INSERT INTO trip SELECT NULL, n, n FROM generate_series(1, 5) n;
CREATE INDEX trip_at ON trip USING gpubtree (at) INCLUDE (fare, tip);
CREATE TABLE num (k integer NOT NULL, v integer);
INSERT INTO num SELECT n - 4000, n FROM generate_series(1, 8000) n;
CREATE INDEX num_k ON num USING gpubtree (k DESC) INCLUDE (v);
CREATE TABLE daily (d date, v integer);
INSERT INTO daily SELECT date '2022-01-01' + n / 10, n FROM generate_series(1, 8000) n;
INSERT INTO daily SELECT NULL, n FROM generate_series(1, 5) n;
CREATE INDEX daily_d ON daily USING gpubtree (d NULLS FIRST) INCLUDE (v);
-- the ends of the types
CREATE TABLE ends (i2 smallint, i4 integer, i8 bigint, t timestamp);
INSERT INTO ends SELECT n, n, n, timestamp '2020-01-01' + n * interval '1 day' FROM generate_series(-2000, 2000) n;
INSERT INTO ends VALUES (-32768, -2147483648, -9223372036854775808, '-infinity'),
	(32767, 2147483647, 9223372036854775807, 'infinity'), (NULL, NULL, NULL, NULL),
	(32766, 2147483646, 9223372036854775806, '290000-01-01'), (-32767, -2147483647, -9223372036854775807, '4000-01-01 BC');
CREATE INDEX ON ends USING gpubtree (i2);
CREATE INDEX ON ends USING gpubtree (i4);
CREATE INDEX ON ends USING gpubtree (i8 DESC);
CREATE INDEX ON ends USING gpubtree (t);
VACUUM ANALYZE trip, num, daily, ends;

SET compare.node = 'GpubtreeBucketAggregate';
SET compare.uncounted = 'Engine|Leaves|Fallbacks|Blocks|Memory';
\i :abs_srcdir/sql/common/compare_rows.sql
\i :abs_srcdir/sql/common/counts.sql
ALTER FUNCTION plain_answer SET enable_hashagg = on SET enable_sort = on;
-- Is it ours, in the order asked for?
CREATE OR REPLACE FUNCTION is_ours(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_or(line LIKE '%GpubtreeBucketAggregate%') AND NOT bool_or(line LIKE '%Sort Key%') FROM plan(query) line
$$;

-- The tables are small: price core's plans out.
SET enable_hashagg = off;
SET enable_sort = off;
\set ECHO all

--
-- Plans, and what is read
--
EXPLAIN (COSTS OFF) SELECT date_trunc('day', at) AS day, count(*) FROM trip GROUP BY 1 ORDER BY 1 DESC LIMIT 3;
SELECT counts($$SELECT date_trunc('day', at) AS day, count(*) FROM trip GROUP BY 1 ORDER BY 1 DESC LIMIT 3$$);
SELECT counts($$SELECT date_trunc('hour', at) AS day, count(*) FROM trip GROUP BY 1 ORDER BY 1 DESC LIMIT 3$$);
EXPLAIN (COSTS OFF) SELECT k / 1000, count(*) FROM num GROUP BY 1 ORDER BY 1 LIMIT 3;
-- NULL must come where the order says
EXPLAIN (COSTS OFF) SELECT date_trunc('day', at), count(*) FROM trip GROUP BY 1 ORDER BY 1 DESC NULLS LAST;
EXPLAIN (COSTS OFF) SELECT date_trunc('day', at), count(*) FROM trip WHERE at IS NOT NULL GROUP BY 1 ORDER BY 1 DESC NULLS LAST;
-- the rows of a child come in no order
SET enable_sort = on;
EXPLAIN (COSTS OFF) SELECT date_trunc('month', at), sum(fare + 1) FROM trip GROUP BY 1 ORDER BY 1 DESC;
SET enable_sort = off;

--
-- Answers
--
SELECT date_trunc('month', at) AS month, count(*), sum(tip), max(at) FROM trip GROUP BY 1 ORDER BY 1 DESC;
SELECT k / 1000 AS bucket, count(*), sum(v), min(k), max(k) FROM num GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', d) AS month, count(*), sum(v) FROM daily GROUP BY 1 ORDER BY 1 DESC NULLS LAST OFFSET 24;
SELECT compare(format('SELECT date_trunc(%L, at) AS b, count(*), sum(fare), min(at) FROM trip %s GROUP BY 1 ORDER BY 1 DESC %s', unit, range, most))
	FROM unnest('{hour,day,week,month,quarter,year,century}'::text[]) unit,
	unnest(ARRAY['', 'WHERE at < ''2023-11-09 01:23:45''', 'WHERE at >= ''2023-11-05 01:30-04'' AND at <= ''2023-11-12''']) range,
	unnest('{"",LIMIT 1,LIMIT 40}'::text[]) most
	GROUP BY 1 ORDER BY 1;
SELECT compare('SELECT at::date AS b, count(*), sum(tip) FROM trip GROUP BY 1 ORDER BY 1 DESC');
SELECT compare('SELECT date_bin(''1 hour'', at, ''2001-01-01 00:07'') AS b, count(*), sum(tip) FROM trip GROUP BY 1 ORDER BY 1 DESC');
SELECT compare('SELECT date_trunc(''week'', d), count(*), avg(v) FROM daily GROUP BY 1 ORDER BY 1 DESC NULLS LAST');
SELECT compare('SELECT date_trunc(''week'', d), count(*), avg(v) FROM daily WHERE d > ''2022-03-01'' GROUP BY 1 ORDER BY 1 DESC');
SELECT compare(format('SELECT k / %s AS b, count(*), max(v) FROM num GROUP BY 1 ORDER BY 1', divisor))
	FROM unnest('{1,7,100,3000,100::bigint,2147483647}'::text[]) divisor GROUP BY 1 ORDER BY 1;
SELECT compare('SELECT k / 10 / 10 AS b, count(*) FROM num WHERE k > -300 AND k <= 1003 GROUP BY 1 HAVING sum(v) > 5 ORDER BY 1');
SELECT compare(format('SELECT %s / 100 AS b, count(*), min(%1$s), max(%1$s) FROM ends GROUP BY 1 ORDER BY 1 %s', key, way))
	FROM unnest('{i2,i4,i8}'::text[]) key, unnest('{ASC,DESC}'::text[]) way GROUP BY 1 ORDER BY 1;
SELECT compare('SELECT date_trunc(''month'', t) AS b, count(*), min(t) FROM ends GROUP BY 1 ORDER BY 1 DESC');
SELECT counts('SELECT date_trunc(''month'', t) AS b, count(*) FROM ends WHERE t < ''290000-01-01'' AND t > ''4000-01-01 BC'' GROUP BY 1 ORDER BY 1 DESC LIMIT 2');
SELECT compare('SELECT b, sum(n) OVER (ORDER BY b DESC) FROM (SELECT date_trunc(''day'', at) AS b, count(*) AS n FROM trip GROUP BY 1 ORDER BY 1 DESC) x ORDER BY 1 DESC');
SELECT compare('SELECT * FROM generate_series(1, 3) g, LATERAL (SELECT k / (g * 1000) AS b, count(*) FROM num GROUP BY 1 ORDER BY 1 LIMIT g) x');

--
-- Results that do not come in order: in a zone whose offset falls over midnight
--
CREATE TABLE newfoundland (at timestamptz NOT NULL, v integer);
INSERT INTO newfoundland SELECT timestamptz '1999-10-25 UTC' + n * interval '10 seconds', n FROM generate_series(1, 60000) n;
CREATE INDEX newfoundland_at ON newfoundland USING gpubtree (at) INCLUDE (v);
VACUUM ANALYZE newfoundland;
SET timezone = 'America/St_Johns';
SELECT date_trunc('day', at) AS day, count(*), sum(v), min(at) FROM newfoundland GROUP BY 1 ORDER BY 1 DESC;
SELECT compare('SELECT date_trunc(''day'', at) AS day, count(*), sum(v), min(at) FROM newfoundland GROUP BY 1 ORDER BY 1 DESC');
SELECT compare('SELECT date_trunc(''minute'', at AT TIME ZONE ''Europe/Berlin'') AS b, count(*), min(at) FROM newfoundland GROUP BY 1 ORDER BY 1 DESC');
-- changes before the first row do not matter
SELECT counts($$SELECT date_trunc('day', at) AS day, count(*) FROM newfoundland WHERE at >= '1999-10-31 12:00' GROUP BY 1 ORDER BY 1 DESC LIMIT 1$$);
SELECT counts($$SELECT date_trunc('minute', at AT TIME ZONE 'America/St_Johns') AS b, count(*) FROM trip WHERE at < '2023-11-05' GROUP BY 1 ORDER BY 1 DESC LIMIT 2$$);
SET timezone = 'America/New_York';

--
-- Rows that nobody sees, and leaves without any
--
DELETE FROM trip WHERE at >= '2023-11-10' AND at < '2023-11-26 05:00';
SELECT compare('SELECT date_trunc(''day'', at) AS b, count(*), sum(fare) FROM trip GROUP BY 1 ORDER BY 1 DESC');
VACUUM trip;
SELECT compare('SELECT date_trunc(''day'', at) AS b, count(*), sum(fare) FROM trip GROUP BY 1 ORDER BY 1 DESC');
SELECT counts($$SELECT date_trunc('day', at) AS day, count(*) FROM trip WHERE at < '2023-11-25' GROUP BY 1 ORDER BY 1 DESC LIMIT 1$$);
BEGIN;
INSERT INTO trip VALUES ('2042-01-01', 1, 1), ('1842-01-01', 1, 1), ('2023-11-11 11:11', 1, 1);
SELECT compare('SELECT date_trunc(''day'', at) AS b, count(*), sum(fare) FROM trip GROUP BY 1 ORDER BY 1 DESC');
ROLLBACK;
SELECT compare('SELECT date_trunc(''day'', at) AS b, count(*), sum(fare) FROM trip GROUP BY 1 ORDER BY 1 DESC');
SELECT date_trunc('hour', at), count(*) FROM trip WHERE at < '2000-01-01' GROUP BY 1 ORDER BY 1 DESC;

--
-- Cursors and rescans
--
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k / 1000, count(*) FROM num GROUP BY 1 ORDER BY 1;
FETCH 3 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
CLOSE c;
COMMIT;
SET plan_cache_mode = force_generic_plan;
PREPARE by_number(integer) AS SELECT k / $1 AS b, count(*), sum(v) FROM num GROUP BY 1 ORDER BY 1 LIMIT 2;
EXECUTE by_number(3000);
EXECUTE by_number(-3000);
EXECUTE by_number(NULL);
PREPARE by_unit(text, timestamptz) AS
	SELECT date_trunc($1, at) AS b, count(*), sum(fare) FROM trip WHERE at < $2 GROUP BY 1 ORDER BY 1 DESC LIMIT 3;
EXPLAIN (COSTS OFF) EXECUTE by_unit('day', '2023-11-08');
EXECUTE by_unit('day', '2023-11-08');
EXECUTE by_unit('Week', '2023-12-08');
EXECUTE by_unit(NULL, '2023-11-08');
EXECUTE by_unit('fortnight', '2023-11-08');
DEALLOCATE ALL;
RESET plan_cache_mode;

DROP TABLE trip, num, daily, ends, newfoundland;
DROP FUNCTION plan, is_ours, answer, plain_answer, compare, counts;
