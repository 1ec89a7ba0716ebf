--
-- Aggregates by buckets of a key: the plans, the answers, and what is left to ordinary plans.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET timezone = 'America/New_York';

CREATE TABLE trip (at timestamptz, fare integer, tip bigint, rate double precision, driver text);
INSERT INTO trip SELECT timestamptz '2023-10-20' + n * interval '7 minutes', n % 100, n, n, 'driver ' || n % 9
	FROM generate_series(1, 8000) n;
INSERT INTO trip SELECT NULL, n, n, n FROM generate_series(1, 5) n;
DELETE FROM trip WHERE at >= '2023-11-10' AND at < '2023-11-13 05:00';
CREATE INDEX trip_at ON trip USING gpubtree (at) INCLUDE (fare, tip, rate);
CREATE TABLE num (k integer NOT NULL, v integer);
INSERT INTO num SELECT n - 4000, n FROM generate_series(1, 8000) n;
CREATE INDEX num_k ON num USING gpubtree (k DESC) INCLUDE (v);
CREATE TABLE daily (d date, v integer);
INSERT INTO daily SELECT date '2022-01-01' + n / 10, n FROM generate_series(1, 8000) n;
CREATE INDEX daily_d ON daily USING gpubtree (d NULLS FIRST) INCLUDE (v);
VACUUM ANALYZE trip, num, daily;

SET compare.node = 'GpubtreeBucketAggregate';
SET compare.uncounted = 'Engine|Leaves|Fallbacks|Blocks|Memory';
\i :abs_srcdir/sql/common/compare_rows.sql
\i :abs_srcdir/sql/common/counts.sql
-- core's plans, grouping in any way
ALTER FUNCTION plain_answer SET enable_hashagg = on SET enable_sort = on;
\set ECHO all

--
-- Plans
--
EXPLAIN (COSTS OFF) SELECT date_trunc('day', at) AS day, count(*), sum(fare) FROM trip
	WHERE at >= '2023-10-25' AND at < '2023-11-20' GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF, VERBOSE) SELECT date_trunc('day', at)::text AS day, count(*) + 1, avg(fare) FROM trip
	WHERE at >= '2023-10-25' GROUP BY date_trunc('day', at) HAVING count(*) > 10 AND max(tip) > 100;
EXPLAIN (COSTS OFF, FORMAT JSON) SELECT date_trunc('week', at), min(fare) FROM trip GROUP BY 1;
-- a descending index gives descending buckets, and backward ascending ones
EXPLAIN (COSTS OFF) SELECT k / 1000, count(*) FROM num GROUP BY 1 ORDER BY 1 DESC;
EXPLAIN (COSTS OFF) SELECT k / 1000, count(*) FROM num GROUP BY 1 ORDER BY 1;
-- a NULL group may stand in the wrong place
EXPLAIN (COSTS OFF) SELECT date_trunc('month', d), count(*) FROM daily GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT date_trunc('month', d), count(*) FROM daily GROUP BY 1 ORDER BY 1 NULLS FIRST;
EXPLAIN (COSTS OFF) SELECT date_trunc('month', d), count(*) FROM daily WHERE d > '2022-02-01' GROUP BY 1 ORDER BY 1;
SELECT counts($$SELECT date_trunc('day', at) AS day, count(*), sum(fare), max(tip) FROM trip WHERE at >= '2023-10-25' AND at < '2023-11-20' GROUP BY 1 ORDER BY 1$$);
SELECT counts($$SELECT date_trunc('day', at) AS day, count(*) FROM trip GROUP BY 1 ORDER BY 1 LIMIT 3$$);

--
-- Answers
--
-- The tables are small: price core's plans out, so that ours is used wherever it can be.
SET enable_hashagg = off;
SET enable_sort = off;
-- the night of 5 November has an hour more; NULL comes last
SELECT date_trunc('day', at) AS day, count(*), sum(fare), min(fare), max(at), round(avg(tip), 2) AS avg, count(fare) FROM trip
	WHERE at >= '2023-11-03' AND at < '2023-11-15' GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', at) AS month, count(*), sum(tip) FROM trip GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', at) AS month, count(*), sum(tip) FROM trip WHERE at IS NULL GROUP BY 1;
SELECT k / 1000 AS bucket, count(*), sum(v), min(k), max(k) FROM num GROUP BY 1 ORDER BY 1;
SELECT date_bin('10 days', at, '2023-10-23 12:00') AS bin, count(*) FROM trip GROUP BY 1 ORDER BY 1 DESC;
SELECT d::timestamp, count(*) FROM daily WHERE d < '2022-01-04' GROUP BY 1 ORDER BY 1;
SELECT date_trunc('hour', at) FROM trip WHERE at < '2023-10-20 02:00' GROUP BY 1;
SELECT date_trunc('hour', at), count(*) FROM trip WHERE at < '2000-01-01' GROUP BY 1;

-- each of the functions, against ordinary plans
SELECT unit, compare(format('SELECT date_trunc(%L, at) AS b, count(*), sum(fare), min(at) FROM trip GROUP BY 1 ORDER BY 1', unit))
	FROM unnest('{hour,day,week,month,quarter,year,decade,century,millennium}'::text[]) unit;
SELECT compare('SELECT date_trunc(''hour'', at, ''Asia/Kathmandu'') AS b, count(*), sum(fare) FROM trip GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT date_trunc(''day'', at AT TIME ZONE ''Europe/Berlin'') AS b, count(*), sum(fare) FROM trip GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT at::date AS b, count(*), sum(tip) FROM trip GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT date_trunc(''month'', at)::text AS b, count(*) FROM trip GROUP BY date_trunc(''month'', at) ORDER BY date_trunc(''month'', at)');
SELECT compare('SELECT date_bin(''1 hour'', at, ''2001-01-01 00:07'') AS b, count(*), sum(tip) FROM trip GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT date_trunc(''week'', d), count(*), avg(v) FROM daily GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT date_trunc(''week'', d::timestamp)::date, count(*), avg(v) FROM daily GROUP BY 1 ORDER BY 1');
SELECT divisor, compare(format('SELECT k / %s AS b, count(*), max(v) FROM num GROUP BY 1 ORDER BY 1', divisor))
	FROM unnest('{100,3000,100::bigint,100::smallint,2147483647,50 / 2}'::text[]) divisor;
SELECT compare('SELECT k / 10 / 10 AS b, count(*) FROM num WHERE k > -300 AND k <= 1003 GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT k::bigint / 1000 AS b, count(*) FROM num WHERE k BETWEEN -2000 AND 3000 GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT b, sum(n) OVER (ORDER BY b) FROM (SELECT date_trunc(''day'', at) AS b, count(*) AS n FROM trip GROUP BY 1) x ORDER BY 1');
SELECT compare('SELECT * FROM generate_series(1, 3) g, LATERAL (SELECT k / (g * 1000) AS b, count(*) FROM num GROUP BY 1) x ORDER BY 1, 2');
CREATE VIEW recent AS SELECT at, fare FROM trip WHERE at >= '2023-11-01';
SELECT compare('SELECT date_trunc(''day'', at) AS b, sum(fare) FROM recent WHERE at < ''2023-11-25'' GROUP BY 1 ORDER BY 1');

--
-- Results that do not come in order are sorted
--
-- from 2:59 back to 2:00
SELECT date_trunc('minute', at AT TIME ZONE 'Europe/Berlin') AS b, count(*), min(at) FROM trip
	WHERE at > '2023-10-29 00:20 UTC' AND at < '2023-10-29 01:40 UTC' GROUP BY 1 ORDER BY 1;
SELECT compare('SELECT date_trunc(''minute'', at AT TIME ZONE ''Europe/Berlin'') AS b, count(*), min(at) FROM trip GROUP BY 1 ORDER BY 1');
-- days, back over midnight
CREATE TABLE newfoundland (at timestamptz NOT NULL, v integer);
INSERT INTO newfoundland SELECT timestamptz '1999-10-25 UTC' + n * interval '10 seconds', n FROM generate_series(1, 60000) n;
CREATE INDEX newfoundland_at ON newfoundland USING gpubtree (at) INCLUDE (v);
VACUUM ANALYZE newfoundland;
SET timezone = 'America/St_Johns';
SELECT date_trunc('day', at) AS day, count(*), sum(v), min(at) FROM newfoundland GROUP BY 1 ORDER BY 1;
SELECT counts($$SELECT date_trunc('day', at) AS day, count(*) FROM newfoundland GROUP BY 1 ORDER BY 1$$);
SELECT compare('SELECT date_trunc(''day'', at) AS day, count(*), sum(v), min(at) FROM newfoundland GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT at::date AS day, count(*), sum(v), min(at) FROM newfoundland GROUP BY 1 ORDER BY 1');
SET timezone = 'America/New_York';

--
-- Parameters
--
SET plan_cache_mode = force_generic_plan;
PREPARE by_unit(text, timestamptz, timestamptz) AS
	SELECT date_trunc($1, at) AS b, count(*), sum(fare) FROM trip WHERE at >= $2 AND at < $3 GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) EXECUTE by_unit('day', '2023-11-04', '2023-11-08');
EXECUTE by_unit('day', '2023-11-04', '2023-11-08');
EXECUTE by_unit('Week', '2023-11-04', '2023-12-08');
EXECUTE by_unit(NULL, '2023-11-04', '2023-11-08');
EXECUTE by_unit('day', NULL, '2023-11-08');
EXECUTE by_unit('day', '2023-11-08', '2023-11-04');
EXECUTE by_unit('fortnight', '2023-11-04', '2023-11-08');
-- nothing to raise an error for
EXECUTE by_unit('fortnight', '2023-11-08', '2023-11-04');
PREPARE by_number(integer) AS SELECT k / $1 AS b, count(*), sum(v) FROM num GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) EXECUTE by_number(3000);
EXECUTE by_number(3000);
EXECUTE by_number(-3000);
EXECUTE by_number(NULL);
EXECUTE by_number(0);
DEALLOCATE ALL;
RESET plan_cache_mode;

--
-- Errors and infinities: the function is asked only about keys that are there
--
CREATE TABLE far (k timestamp, v integer);
INSERT INTO far SELECT timestamp '2020-01-01' + n * interval '1 hour', n FROM generate_series(1, 5000) n;
INSERT INTO far VALUES ('infinity', 1), ('-infinity', 2), ('infinity', 3);
CREATE INDEX far_k ON far USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE far;
SELECT date_trunc('year', k) AS b, count(*), sum(v) FROM far GROUP BY 1 ORDER BY 1;
SELECT counts($$SELECT date_trunc('year', k) AS b, count(*), sum(v) FROM far GROUP BY 1 ORDER BY 1$$);
SELECT compare('SELECT k::date AS b, count(*), sum(v) FROM far GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT date_bin(''10 days'', k, ''1999-01-01'') AS b, count(*), sum(v) FROM far GROUP BY 1 ORDER BY 1');
-- an entry that nobody sees raises nothing
BEGIN;
INSERT INTO far VALUES ('4713-01-01 BC', 1);
ROLLBACK;
SELECT compare('SELECT date_trunc(''millennium'', k) AS b, count(*), sum(v) FROM far GROUP BY 1 ORDER BY 1');
INSERT INTO far VALUES ('4713-01-01 BC', 1);
SELECT answer('SELECT date_trunc(''millennium'', k) AS b, count(*), sum(v) FROM far GROUP BY 1 ORDER BY 1');
SELECT plain_answer('SELECT date_trunc(''millennium'', k) AS b, count(*), sum(v) FROM far GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT date_trunc(''decade'', k) AS b, count(*), sum(v) FROM far WHERE k > ''4000-01-01 BC'' GROUP BY 1 ORDER BY 1');
\set ECHO none
-- A NULL argument makes every result NULL, but functions below it are called all the same
CREATE TABLE distant (d date, v integer);
INSERT INTO distant SELECT date '2020-01-01' + n / 10, n FROM generate_series(1, 5000) n;
INSERT INTO distant VALUES (NULL, 1), ('infinity', 2), ('-infinity', 3), ('0001-01-01 BC', 4), ('150000-01-01', 5);
CREATE INDEX distant_d ON distant USING gpubtree (d) INCLUDE (v);
VACUUM ANALYZE distant;
SET plan_cache_mode = force_generic_plan;
PREPARE by_zone(text, text) AS
	SELECT date_trunc($1, d::timestamptz, $2) AS b, count(*), sum(v) FROM distant GROUP BY 1;
PREPARE by_bin(interval, timestamp) AS
	SELECT date_bin($1, d::timestamp, $2)::date AS b, count(*), sum(v) FROM distant GROUP BY 1;
PREPARE by_two(integer, integer) AS SELECT k / $1 / $2 AS b, count(*), sum(v) FROM num GROUP BY 1;
PREPARE by_far_unit(text) AS SELECT date_trunc($1, k)::date AS b, count(*) FROM far GROUP BY 1;
\set ECHO all
EXPLAIN (COSTS OFF) EXECUTE by_zone(NULL, 'UTC');
EXECUTE by_zone(NULL, 'UTC');
EXECUTE by_zone('day', NULL);
-- the keys far away are asked, all others are one range
SELECT counts('EXECUTE by_bin(NULL, ''2020-01-01'')');
EXECUTE by_bin('1 day', NULL);
-- below the NULL nothing is called
EXECUTE by_far_unit(NULL);
EXECUTE by_two(NULL, 0);
EXECUTE by_two(0, NULL);
EXECUTE by_two(-7, NULL);
-- an entry that nobody sees raises nothing, one that is seen does
BEGIN;
INSERT INTO distant VALUES ('5874897-12-31', 6);
ROLLBACK;
EXECUTE by_zone('day', NULL);
EXECUTE by_bin(NULL, '2020-01-01');
INSERT INTO distant VALUES ('5874897-12-31', 6);
EXECUTE by_zone(NULL, 'UTC');
EXECUTE by_zone('day', NULL);
EXECUTE by_bin('1 day', NULL);
EXECUTE by_bin(NULL, NULL);
SET gpubtree.enable_bucketaggregate = off;
EXECUTE by_bin(NULL, NULL);
RESET gpubtree.enable_bucketaggregate;
-- arguments are evaluated if there is a row
PREPARE by_quotient(integer, integer) AS
	SELECT k / (1 / $1) AS b, count(*), sum(v) FROM num WHERE k >= $2 GROUP BY 1;
EXPLAIN (COSTS OFF) EXECUTE by_quotient(0, 100000);
EXECUTE by_quotient(0, 100000);
EXECUTE by_quotient(0, 3900);
EXECUTE by_quotient(1, 3999);
DEALLOCATE ALL;
RESET plan_cache_mode;

--
-- Rescans, cursors
--
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT date_trunc('week', at) AS b, count(*) FROM trip GROUP BY 1 ORDER BY 1;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
FETCH PRIOR FROM c;
COMMIT;
SELECT compare('SELECT g, x.* FROM generate_series(1, 3) g LEFT JOIN LATERAL (SELECT k / 1000 AS b, count(*) FROM num WHERE k >= g * 1000 GROUP BY 1) x ON true ORDER BY 1, 2');
SELECT compare('SELECT g, (SELECT array_agg(n) FROM (SELECT count(*) AS n FROM num WHERE k < g * 500 GROUP BY k / 1000 ORDER BY k / 1000) x) FROM generate_series(-3, 3) g');

--
-- SERIALIZABLE: core judges every row
--
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT date_trunc('month', at) AS month, count(*), sum(tip) FROM trip GROUP BY 1 ORDER BY 1;
COMMIT;

\set ECHO none
--
-- What is left to ordinary plans, though they are priced out; and what they do better
--
SELECT query, is_ours(query) FROM unnest(ARRAY[
	'SELECT date_trunc(''day'', at), sum(rate) FROM trip GROUP BY 1',
	'SELECT date_trunc(''day'', at), max(driver) FROM trip GROUP BY 1',
	'SELECT date_trunc(''day'', at), count(*) FROM trip WHERE fare > 3 GROUP BY 1',
	'SELECT date_trunc(''day'', at), fare, count(*) FROM trip GROUP BY 1, 2',
	'SELECT date_trunc(''day'', at), count(DISTINCT fare) FROM trip GROUP BY 1',
	'SELECT date_trunc(''day'', at), count(*) FROM trip GROUP BY ROLLUP (1)',
	'SELECT date_trunc(''fortnight'', at), count(*) FROM trip GROUP BY 1',
	'SELECT date_trunc(NULL, at), count(*) FROM trip GROUP BY 1',
	'SELECT date_trunc(''day'', at, ''Atlantis''), count(*) FROM trip GROUP BY 1',
	'SELECT date_trunc(driver, at), count(*) FROM trip GROUP BY 1',
	'SELECT date_trunc((random() > 2)::text, at), count(*) FROM trip GROUP BY 1',
	'SELECT date_bin(''1 month'', at, ''2000-01-01''), count(*) FROM trip GROUP BY 1',
	'SELECT extract(hour FROM at), count(*) FROM trip GROUP BY 1',
	'SELECT at, count(*) FROM trip GROUP BY 1',
	'SELECT k / 0, count(*) FROM num GROUP BY 1',
	'SELECT k / -10, count(*) FROM num GROUP BY 1',
	'SELECT k % 10, count(*) FROM num GROUP BY 1',
	'SELECT 100 / k, count(*) FROM num WHERE k > 0 GROUP BY 1']) query;
RESET enable_hashagg;
RESET enable_sort;
-- as many buckets as rows; few rows
SELECT query, is_ours(query) FROM unnest(ARRAY[
	'SELECT k / 1, count(*) FROM num GROUP BY 1',
	'SELECT date_trunc(''second'', at), count(*) FROM trip GROUP BY 1',
	'SELECT date_trunc(''hour'', at), count(*) FROM trip WHERE at >= ''2023-11-01'' AND at < ''2023-11-01 06:00'' GROUP BY 1']) query;
SET gpubtree.enable_bucketaggregate = off;
\set ECHO all
SELECT is_ours('SELECT date_trunc(''day'', at), count(*) FROM trip GROUP BY 1');
RESET gpubtree.enable_bucketaggregate;

--
-- Partial indexes, row-level security, the right to call the function
--
SET enable_hashagg = off;
SET enable_sort = off;
CREATE INDEX trip_part ON trip USING gpubtree (at) INCLUDE (tip) WHERE fare = 7;
SELECT compare('SELECT date_trunc(''day'', at) AS b, sum(tip) FROM trip WHERE fare = 7 GROUP BY 1 ORDER BY 1');
-- GROUPING() is another node's
SELECT k / 500, grouping(k / 500), count(*) FROM num WHERE k > 2900 GROUP BY 1 ORDER BY 1;
CREATE ROLE bucket_reader;
GRANT SELECT ON trip TO bucket_reader;
ALTER TABLE trip ENABLE ROW LEVEL SECURITY;
CREATE POLICY november ON trip USING (at >= '2023-11-01' AND at < '2023-12-01');
SET ROLE bucket_reader;
SELECT date_trunc('month', at) AS b, count(*) FROM trip GROUP BY 1;
RESET ROLE;
ALTER TABLE trip DISABLE ROW LEVEL SECURITY;
REVOKE EXECUTE ON FUNCTION date_trunc(text, timestamptz) FROM public;
SET ROLE bucket_reader;
SELECT date_trunc('month', at) AS b, count(*) FROM trip GROUP BY 1;
RESET ROLE;
GRANT EXECUTE ON FUNCTION date_trunc(text, timestamptz) TO public;

DROP OWNED BY bucket_reader;
DROP ROLE bucket_reader;
DROP VIEW recent;
DROP TABLE trip, num, daily, newfoundland, far, distant;
DROP FUNCTION plan, is_ours, answer, plain_answer, compare, counts;
