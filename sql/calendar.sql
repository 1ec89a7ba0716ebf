--
-- Programs that add months, days and times to dates and timestamps: ends of months, leap years,
-- the ends of the range, zones whose offset changes.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET gpubtree.enable_scan = on;
SET datestyle = 'ISO, MDY';
SET timezone = 'Europe/Berlin';

-- all days of years with and without a leap day, some hours apart, and hours about changes of the clock
CREATE TABLE moment (k integer NOT NULL, d date, t timestamp, z timestamptz);
INSERT INTO moment SELECT row_number() OVER (), t::date, t, t AT TIME ZONE 'UTC' FROM (
	SELECT generate_series(timestamp '2023-01-01', '2025-03-10', '5 hours 59 minutes 59.999999 seconds') UNION ALL
	SELECT generate_series(timestamp '1999-12-01', '2000-03-10', '11 hours') UNION ALL
	SELECT generate_series(timestamp '1900-01-25', '1900-03-10', '13 hours') UNION ALL
	SELECT generate_series(timestamp '0005-12-01 BC', '0004-03-10 BC', '13 hours') UNION ALL
	SELECT generate_series(timestamp '2024-02-28', '2024-04-02', '30 minutes') UNION ALL
	SELECT generate_series(timestamp '2024-10-25', '2024-10-29', '30 minutes')) m(t);
INSERT INTO moment VALUES (100001, NULL, NULL, NULL), (100002, 'infinity', '-infinity', 'infinity'), (100003, '4714-11-24 BC', '4714-11-24 00:00 BC', '4714-11-25 00:00 UTC BC'),
	(100004, '294276-12-31', '294276-12-31 23:59:59.999999', '294276-12-31 20:00 UTC'), (100005, '5874897-12-31', '4714-12-31 BC', '-infinity');
CREATE INDEX moment_k ON moment USING gpubtree (k) INCLUDE (d, t, z);
VACUUM ANALYZE moment;

\i :abs_srcdir/sql/common/compare_nodes.sql

-- how many rows there are by each comparison with a value
CREATE FUNCTION counts(value numeric, expression text) RETURNS text LANGUAGE sql AS
	$$SELECT 'SELECT ' || string_agg(format('(SELECT count(*) FROM moment WHERE %s %s %L)', expression, operator, value), ', ') FROM unnest('{<,<=,=,>=,>}'::text[]) operator$$;

SET enable_hashagg = off;
\set ECHO all

EXPLAIN (COSTS OFF) SELECT t + interval '1 month', count(*) FROM moment WHERE k < 5000 GROUP BY 1;
RESET enable_hashagg;
SELECT t, t + interval '1 month' AS month, t - interval '1 year 1 month' AS back, d + interval '1 month' AS of_date FROM moment WHERE k < 100000 AND (t + interval '1 month')::date = '2024-02-29' AND extract(hour FROM t) > 11 ORDER BY t;
SELECT max(t + interval '1 month'), min(d + interval '1 month'), max(z + interval '1 month - 2 days 3 hours') FROM moment WHERE k < 5000;

SELECT i, compare(format('SELECT t + interval %L, count(*) FROM moment WHERE k < 100000 AND t > ''1000-01-01'' GROUP BY 1', i)) AS t, compare(format('SELECT t - interval %L, count(*) FROM moment WHERE k < 100000 GROUP BY 1', i)) AS t_minus,
	compare(format('SELECT d + interval %L, d - interval %1$L, count(*) FROM moment WHERE k < 100000 GROUP BY 1, 2', i)) AS d, compare(format('SELECT z + interval %L, count(*) FROM moment WHERE k < 100000 AND z > ''1970-01-05'' GROUP BY 1', i)) AS z,
	compare(format('SELECT z - interval %L, count(*) FROM moment WHERE k < 100000 AND z > ''2020-01-05'' GROUP BY 1', i)) AS z_minus
FROM unnest('{0,1 month,11 months,12 months,-1 month,13 months 1 day,-4 years 2 months,1 day,-1 day,1 month -1 day 25 hours,1 month -31 days,-1 month 1 day -0.000001 seconds,36 hours}'::text[]) i;
-- filters and arguments
SELECT compare('SELECT count(*), max(t + interval ''1 month''), min(d - interval ''1 year'') FROM moment WHERE k < 100000 AND t + interval ''1 month'' > date_trunc(''month'', t) + interval ''1 month 27 days''');
SELECT compare('SELECT extract(month FROM t + interval ''1 month''), date_trunc(''month'', z + interval ''3 months''), count(*) FROM moment WHERE k < 100000 AND z > ''2000-01-01'' GROUP BY 1, 2');
SELECT compare('SELECT k, t FROM moment WHERE k < 100000 AND (t + interval ''1 month'')::date = ''2024-02-29''');
-- infinity stays, and what is out of range is core's to say
SELECT compare('SELECT k, t + interval ''1 month'' AS t, d + interval ''1 month'' AS d FROM moment WHERE k > 99999 AND k < 100003 AND t + interval ''1 month'' < ''2000-01-01''');
SELECT k, compare(format('SELECT t + interval ''1 month'', count(*) FROM moment WHERE k = %s GROUP BY 1', k)) AS t, compare(format('SELECT t - interval ''1 month'', count(*) FROM moment WHERE k = %s GROUP BY 1', k)) AS t_minus,
	compare(format('SELECT d + interval ''1 month'', count(*) FROM moment WHERE k = %s GROUP BY 1', k)) AS d, compare(format('SELECT z + interval ''1 day'', count(*) FROM moment WHERE k = %s GROUP BY 1', k)) AS z,
	compare(format('SELECT t + interval ''-178000000 years'', count(*) FROM moment WHERE k = %s GROUP BY 1', k)) AS years, compare(format('SELECT t + interval ''2147483647 days'', count(*) FROM moment WHERE k = %s GROUP BY 1', k)) AS days
FROM generate_series(100001, 100005) k;
-- the year and the epoch of the key, also of a date that is no timestamp, and of a timestamp whose epoch is no int64
CREATE INDEX moment_d ON moment USING gpubtree (d);
CREATE INDEX moment_t ON moment USING gpubtree (t);
EXPLAIN (COSTS OFF) SELECT count(*) FROM moment WHERE extract(year FROM d) > 294276;
SELECT value, compare(counts(value, 'extract(year FROM d)')) AS d_year, compare(counts(value, 'extract(year FROM t)')) AS t_year, compare(counts(value, 'extract(epoch FROM d)')) AS d_epoch, compare(counts(value, 'extract(epoch FROM t)')) AS t_epoch
FROM unnest('{-4714,-4713.5,0,294276,300000,5874897,-210866803200,9224317929600,9224318016000,9224318015999.9999,185331707078400,185331620678400.5,1e30,-1e30,NaN,Infinity,-Infinity}'::numeric[]) value;
-- bins that begin before the first timestamp, where -infinity may be, and an epoch that is the last word
CREATE TABLE ends (k integer, t timestamp, z integer);
INSERT INTO ends SELECT i, timestamp '2024-01-01' + i * interval '1 hour', 1 FROM generate_series(1, 100) i;
INSERT INTO ends VALUES (101, '4714-11-24 BC', 2), (102, '294247-01-10 04:00:54.775807', 1);
CREATE INDEX ON ends USING gpubtree (k) INCLUDE (t);
VACUUM ANALYZE ends;
SELECT compare(replace(q, 'bin', 'date_bin(''7 days'', t, ''2001-01-01 03:30'')')) FROM unnest(ARRAY[
	'SELECT k, z FROM ends WHERE z <> 2 AND k > 99 AND k < 102 AND bin <> ''2024-01-05''',
	'SELECT k, z FROM ends WHERE z = 2 AND k < 102 AND bin = ''2024-01-01 03:30''',
	'SELECT count(*) FROM ends WHERE bin = ''2024-01-01''', 'SELECT bin, count(*) FROM ends WHERE k < 101 GROUP BY 1',
	'SELECT max(extract(epoch FROM t)) FROM ends WHERE k = 102',
	'SELECT k, z FROM ends WHERE k > 101 AND extract(epoch FROM t) = 9223372036854.7758']) q;
-- what is compared with no element of an array is evaluated all the same
SELECT compare(q) FROM unnest(ARRAY[
	'SELECT count(*) FROM ends WHERE 1 / (k - 5) = ANY (''{}''::int4[])', 'SELECT count(*) FROM ends WHERE 1 / (k - 5) <> ALL (''{}''::int4[])',
	'SELECT k FROM ends WHERE 1 / (k - 5) = ANY (''{}''::int4[])', 'SELECT 1 / (k - 5) = ANY (''{}''::int4[]), count(*) FROM ends GROUP BY 1',
	'SELECT count(*) FROM ends WHERE 1 / (k - 5) = ANY (''{NULL}''::int4[])', 'SELECT count(*) FILTER (WHERE 1 / (k - 5) IN (NULL, NULL)) FROM ends',
	'SELECT count(*) FROM ends WHERE k < 5 AND 1 / (k - 5) = ANY (''{}''::int4[])']) q;
DROP TABLE moment, ends;
DROP FUNCTION answer, plain_answer, compare, counts;
