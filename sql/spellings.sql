--
-- What users write for a range of the key: conditions on functions of it
--
SET client_min_messages = warning;
CREATE SCHEMA spellings;
SET search_path = spellings, public;
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';

SET compare.node = 'Gpubtree';
\i :abs_srcdir/sql/common/compare.sql

-- Keys of each type: a dense stretch, the changes of offsets in 2024, years before Christ, infinities
CREATE TABLE moment (t timestamp, z timestamptz, d date, i integer, v integer);
INSERT INTO moment
	SELECT t, t AT TIME ZONE 'UTC', t::date, (extract(epoch FROM t - timestamp '2024-06-01') / 60)::int, n % 10
	FROM (
		SELECT timestamp '2024-10-20' + n * interval '10 minutes', n FROM generate_series(0, 2500) n
		UNION ALL SELECT timestamp '2024-03-25' + n * interval '15 minutes', n FROM generate_series(0, 900) n
		UNION ALL SELECT timestamp '2020-01-01' + n * interval '13 hours', n FROM generate_series(0, 3000) n
		UNION ALL SELECT timestamp '0003-05-04' - n * interval '40 days', n FROM generate_series(0, 60) n) x (t, n);
INSERT INTO moment VALUES ('infinity', 'infinity', 'infinity', 2147483647, 1), ('-infinity', '-infinity', '-infinity', -2147483648, 2),
	('294276-12-31 23:59:59', '294276-12-31 00:00:00', '294276-12-31', -1, 3), ('4713-02-03 BC', '4713-02-03 BC', '4713-02-03 BC', 1, 4), (NULL, NULL, NULL, NULL, 5);
CREATE INDEX moment_t ON moment USING gpubtree (t) INCLUDE (v);
CREATE INDEX moment_z ON moment USING gpubtree (z) INCLUDE (v);
CREATE INDEX moment_d ON moment USING gpubtree (d DESC NULLS LAST) INCLUDE (v);
CREATE INDEX moment_i ON moment USING gpubtree (i) INCLUDE (v);
VACUUM ANALYZE moment;
\set ECHO all

-- One range, no filter
SELECT * FROM plan($$SELECT count(*), sum(v) FROM moment WHERE t::date = '2024-10-27'$$);
SELECT * FROM plan($$SELECT date_trunc('day', t), sum(v) FROM moment WHERE date_trunc('day', t) >= '2024-10-27' GROUP BY 1$$);
SELECT * FROM plan($$SELECT count(*) FROM moment WHERE z::date = '2024-10-27'$$);

\set ECHO none
-- Each operator with values within the data, between units, and at the ends of types
CREATE FUNCTION differences(expression text, VARIADIC list text[]) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT r FROM (
		SELECT compare(format('SELECT count(*), sum(v) FROM moment WHERE %s %s %s', expression, op, value)) AS r
		FROM unnest(list) value, unnest(ARRAY['=', '<', '<=', '>', '>=']) op) x
	WHERE r !~ '^\(\d+,\d*\)$'
$$;
SELECT differences('t::date', $$'2024-10-27'$$, $$'infinity'$$, $$'-infinity'$$, $$'0001-01-01'$$, $$'4714-11-24 BC'$$, $$'5874897-01-01'$$,
	$$timestamp '2024-10-27'$$, $$timestamp '2024-10-27 00:00:00.000001'$$, $$timestamp 'infinity'$$);
SELECT differences('date_trunc(''month'', t)', $$'2024-10-01'$$, $$'2024-10-02'$$, $$'infinity'$$, $$'-infinity'$$, $$date '2022-02-01'$$,
	$$date '5874897-01-01'$$, $$'0002-01-01'$$);
SELECT differences('date_trunc(''week'', t)::date', $$'2024-10-21'$$, $$'2024-10-22'$$);
SELECT differences('date_bin(''7 minutes'', t, ''2001-01-01'')', $$'2024-10-27'$$, $$date_bin('7 minutes', timestamp '2024-10-27', '2001-01-01')$$, $$'infinity'$$);
SELECT differences('i / 1000', '5', '0', '-1', '-5::smallint', '7::bigint', '2147483::bigint', '99999999999::bigint');
SELECT differences('i::bigint / 100 / 10', '5', '0');
SELECT differences('i', '5.5', '-7.0', '5.5::float8', '7::float8', '-1e300', $$'NaN'::float8$$, $$'infinity'::numeric$$);
SELECT differences('i / 1000', '5.5', '7.0', '5.5::float8');
CREATE TABLE whole (b bigint, v integer);
INSERT INTO whole SELECT b, 1 FROM unnest(ARRAY[-9223372036854775808, -9223372036854775807, -1, 0, 1, 9223372036854775806, 9223372036854775807]) b;
CREATE INDEX whole_b ON whole USING gpubtree (b) INCLUDE (v);
VACUUM ANALYZE whole;
SELECT r FROM (
	SELECT compare(format('SELECT count(*), sum(v) FROM whole WHERE b %s %s::numeric', op, value)) AS r
	FROM unnest(ARRAY['=', '<', '<=', '>', '>=']) op,
		unnest(ARRAY['0', '0.5', '9223372036854775807', '9223372036854775806.5', '9223372036854775807.5', '-9223372036854775808', '-9223372036854775808.5',
			'1e40', '-1e40', '''NaN''', '''infinity''', '''-infinity''']) value) x
	WHERE r !~ '^\(\d+,\d*\)$';
SELECT differences('extract(year FROM t)', '2024', '2024.5', '-1', '1', '0', $$'NaN'$$, $$'infinity'$$, $$'-infinity'$$, '1e30', '-1e30');
SELECT differences('extract(epoch FROM t)', '1730000000', '1730000000.0000005', $$'NaN'$$, $$'-infinity'$$);
SELECT differences('date_part(''year'', t)', '2024', '2024.5', $$'NaN'$$, $$'infinity'$$, '-4713');
SELECT differences('extract(epoch FROM d)', '1729987200', '1729987200.5', $$'infinity'$$);
SELECT differences('date_part(''year'', d)', '2024', '2020.5');
SELECT differences('d::timestamp', $$'2024-10-27'$$, $$'2024-10-27 01:00'$$, $$'infinity'$$);
SET timezone = 'Europe/Berlin';
SELECT differences('z::date', $$'2024-10-27'$$, $$'2024-03-31'$$, $$'infinity'$$, $$'-infinity'$$, $$'2100-01-01'$$, $$timestamp '2024-10-27'$$);
SELECT differences('date_trunc(''day'', z)', $$'2024-10-27'$$, $$'2024-10-27 12:00'$$, $$'2024-10-28'$$, $$'infinity'$$);
SELECT differences('date_trunc(''hour'', z)', $$'2024-10-27 00:00Z'$$, $$'2024-10-27 01:00Z'$$, $$'2024-10-27 01:10Z'$$, $$'2024-03-31 01:00Z'$$);
SELECT differences('date_trunc(''day'', z)::date', $$'2024-10-27'$$, $$'2024-10-28'$$);
SELECT differences('z::timestamp', $$'2024-10-27 02:30'$$, $$'2024-10-27 03:30'$$, $$'2024-03-31 02:30'$$, $$date '2024-10-27'$$);
SELECT differences('z AT TIME ZONE ''America/New_York''', $$'2024-11-03 01:30'$$, $$'2024-11-03 02:00'$$, $$'2024-11-04'$$);
SELECT differences('date_trunc(''month'', z AT TIME ZONE ''Asia/Kolkata'')', $$'2024-10-01'$$, $$'2024-11-01'$$);
SELECT differences('extract(year FROM z)', '2024', '2023');
-- A zone that falls back at midnight, where the keys of a day have a gap, and none of the world's
SET timezone = '<S>3<D>2,M3.2.0/0:01,M11.1.0/0:11';
SELECT differences('z::date', $$'2024-11-02'$$, $$'2024-11-03'$$, $$'2024-10-28'$$);
SELECT differences('date_trunc(''day'', z)', $$'2024-11-02'$$, $$'2024-11-03'$$);
\set ECHO all
SELECT x AS gave_up FROM unnest(ARRAY[2, 3, 4]) d, plan(format('SELECT count(*) FROM moment WHERE z::date = ''2024-11-0%s''', d), 'ANALYZE') x
	WHERE x ~ 'Gave Up|Index Cond';
SELECT compare(format('SELECT date_trunc(%L, z)::date AS b, count(*), min(z) FROM moment GROUP BY 1', unit)) FROM unnest(ARRAY['day', 'week', 'month', 'hour']) unit;
SET timezone = 'Europe/Berlin';
SELECT compare(format('SELECT date_trunc(%L, z)::date AS b, count(*), min(z) FROM moment WHERE z::date > ''2024-03-26'' GROUP BY 1', unit)) FROM unnest(ARRAY['day', 'week', 'month']) unit;
SET timezone = '<A>100<B>-100,M10.4.0,M11.1.0';
SELECT compare('SELECT date_trunc(''day'', z)::date AS b, count(*), min(z) FROM moment WHERE z < ''2030-01-01'' AND z > ''2000-01-01'' GROUP BY 1');
SELECT differences('z::date', $$'2024-10-27'$$, $$'2024-11-03'$$, $$'2024-11-04'$$, $$'2024-10-20'$$);
RESET timezone;
SET timezone = 'UTC';

-- The value is evaluated when the plan runs, with the settings of that moment.
PREPARE day (date) AS SELECT count(*), min(z) FROM moment WHERE z::date = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE day('2024-10-27');
SET timezone = 'Asia/Tokyo';
EXECUTE day('2024-10-27');
SET timezone = 'UTC';
EXECUTE day(NULL);
RESET plan_cache_mode;

-- Groups by what a condition compares (rule M13), OR of such conditions, filters besides, buckets
SELECT compare($$SELECT t::date, count(*) FROM moment WHERE t::date BETWEEN '2024-10-26' AND '2024-10-28' GROUP BY 1$$);
SELECT compare($$SELECT date_trunc('day', t)::date AS b, count(*) FROM moment WHERE date_trunc('day', t) > '2024-10-28' GROUP BY 1 ORDER BY b$$);
SELECT compare($$SELECT t::date, v, count(*) FROM moment WHERE t::date = '2024-10-26' AND v <> 3 GROUP BY t::date, v$$);
SELECT compare($$SELECT count(*) FROM moment WHERE t::date = '2024-10-26' OR date_trunc('month', t) = '2020-02-01' AND v = 3$$);
SELECT compare($$SELECT z::date, count(*) FROM moment WHERE z::date >= '2024-10-26' GROUP BY 1$$);
SELECT compare($$SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY t) FROM moment WHERE t::date = '2024-10-26'$$);
-- A function that falls, or fails, is none of these.
SELECT compare('SELECT count(*) FROM moment WHERE i / -1000 = 5');
SELECT plain_answer('SELECT count(*) FROM moment WHERE i / 0 = 5') = answer('SELECT count(*) FROM moment WHERE i / 0 = 5');

--
-- Values of type numeric: fields, sums and products with a fixed scale, whole parts of quotients
--
\set ECHO none
CREATE FUNCTION gave_up(query text) RETURNS text LANGUAGE sql AS $$
	SELECT max(substr(x, 14)) FROM plan(query, 'ANALYZE, COSTS OFF') x WHERE x ~ 'Gave Up'
$$;
CREATE TABLE field (k integer, t timestamp, z timestamptz, d date, i integer, b bigint);
INSERT INTO field
	SELECT n, timestamp '1999-12-20' + n * interval '7 hours 13 minutes 11.000123 seconds', timestamptz '1969-12-20 UTC' + n * interval '5 hours 0.5 seconds',
		date '0004-12-25 BC' + n * 31, n * 7919 - 9000000, n * 92233720368 - 5
	FROM generate_series(0, 3000) n;
INSERT INTO field VALUES (-1, '4714-11-24 BC', '4714-12-05 BC', '4714-11-24 BC', 2147483647, 0), (-2, '294276-12-31 23:59:59.999999', '294276-12-30', '5874897-12-31', -2147483648, NULL), (-3, NULL, NULL, NULL, NULL, NULL);
INSERT INTO field SELECT -10 - n, timestamp '2020-01-01' - n * interval '1 day', timestamptz '2020-01-01' + n * interval '1 day', date '2020-01-01' + n, n FROM generate_series(0, 2200, 7) n;
CREATE INDEX field_k ON field USING gpubtree (k) INCLUDE (t, z, d, i, b);
VACUUM ANALYZE field;
\set ECHO all
SELECT f, compare(format('SELECT extract(%s FROM t) AS g, count(*), sum(extract(%s FROM t)), min(extract(%s FROM t)) FROM field GROUP BY 1', f, f, f)) AS of_timestamp,
	compare(format('SELECT date_part(%L, t) > 5, sum(date_part(%L, t)) FROM field WHERE date_part(%L, t) < 1000 GROUP BY 1', f, f, f)) ~ '^ordinary|should' AS part
FROM unnest(ARRAY['epoch', 'hour', 'minute', 'second', 'milliseconds', 'microseconds', 'day', 'month', 'quarter', 'year', 'dow', 'isodow', 'doy', 'week', 'isoyear']) f;
SELECT f, compare(format('SELECT extract(%s FROM d) AS g, count(*), max(extract(%s FROM d)) FROM field GROUP BY 1', f, f)) AS of_date
FROM unnest(ARRAY['epoch', 'day', 'month', 'quarter', 'year', 'dow', 'isodow', 'doy', 'week', 'isoyear']) f;
SELECT compare('SELECT extract(epoch FROM z), avg(extract(epoch FROM z)) FROM field WHERE extract(epoch FROM z) BETWEEN 1500000000 AND 1600000000.5 GROUP BY 1');
SELECT compare(q), gave_up(q) FROM unnest(ARRAY[
	'SELECT floor(extract(epoch FROM z) / 300) * 300 AS g, count(*) FROM field WHERE k > -1 GROUP BY 1',
	'SELECT floor(extract(epoch FROM t) / 86400.25) AS g, ceil(extract(epoch FROM t) / 0.7) AS h, count(*) FROM field WHERE k > 100 AND k < 200 GROUP BY 1, 2',
	'SELECT trunc(i / 7.0) AS g, floor(i / 300.0), ceil(i / 1.3), count(*) FROM field GROUP BY 1, 2, 3',
	'SELECT floor((b * 3.0000 - 0.0001) / 3) AS g, count(*) FROM field WHERE k > 2000 GROUP BY 1',
	'SELECT floor(b / 3.0), floor(-b / 9999.0), count(*) FROM field WHERE k > -1 GROUP BY 1, 2',
	'SELECT to_timestamp(floor(extract(epoch FROM z) / 86400) * 86400) AS g, count(*) FROM field WHERE k > -1 GROUP BY 1',
	'SELECT to_timestamp(extract(epoch FROM z)::float8) AS g, count(*) FROM field WHERE k > -1 GROUP BY 1',
	'SELECT (extract(second FROM t) * 1.5 - i)::int, round(extract(second FROM t), 2), round(extract(second FROM t) - 30, 0), trunc(-extract(second FROM t), 8), count(*) FROM field WHERE k > -1 GROUP BY 1, 2, 3, 4',
	'SELECT (extract(second FROM t) * 1000)::smallint, abs(i * 0.5)::bigint, count(*) FROM field WHERE k > 0 AND extract(second FROM t) < 30 GROUP BY 1, 2',
	'SELECT sum(i * 0.01), avg(i * 0.010), min(i - 0.5), max(b * 1.0), avg(extract(second FROM t)) FROM field',
	'SELECT sum(extract(second FROM t)::float8) > 0, count(*) FILTER (WHERE extract(hour FROM t) IN (8, 9.0, 10.5)), count(*) FILTER (WHERE i * 0.1 NOT IN (-9000000.0, 1, NULL)) FROM field',
	'SELECT count(*) FROM field WHERE i * 0.001 > 1234.5678 OR extract(hour FROM t) <> 3.5 AND extract(dow FROM d) = 0',
	'SELECT sum(b * 1000000.0) FROM field', 'SELECT floor(b * 10.0 / 0.001) FROM field GROUP BY 1']) q;
-- Infinite fields, quotients, and NaN are left to the ordinary plan.
INSERT INTO field VALUES (-4, 'infinity', '-infinity', 'infinity');
SELECT compare('SELECT extract(epoch FROM t), extract(month FROM d), count(*) FROM field WHERE k < 0 GROUP BY 1, 2');
SELECT compare('SELECT sum(i / 3.0) FROM field');
SELECT compare('SELECT count(*) FROM field WHERE i * 0.1 < ''NaN''');

\set ECHO none
-- A column under casts that change nothing, of groups and conditions
CREATE DOMAIN whole_number AS integer;
CREATE TABLE labelled (n numeric(8,2), t timestamp, z timestamptz(3), d time, i whole_number, v integer);
INSERT INTO labelled SELECT n % 50, timestamp '2024-01-01' + n % 100 * interval '1 hour', '2024-01-01'::timestamptz + n % 100 * interval '1 hour',
	time '00:00' + n % 24 * interval '1 hour', n % 10, n FROM generate_series(1, 2000) n;
CREATE INDEX ON labelled USING gpubtree (n) INCLUDE (v);
CREATE INDEX ON labelled USING gpubtree (t) INCLUDE (v);
CREATE INDEX ON labelled USING gpubtree (z) INCLUDE (v);
CREATE INDEX ON labelled USING gpubtree (d) INCLUDE (v);
CREATE INDEX ON labelled USING gpubtree (i) INCLUDE (v);
VACUUM ANALYZE labelled;
\set ECHO all
SELECT compare(q) FROM unnest(ARRAY[
	'SELECT n::numeric(10,2), count(*) FROM labelled WHERE n::numeric(10,2) > 47 GROUP BY 1', 'SELECT t::timestamp(6), count(*) FROM labelled WHERE t::timestamp(6) > ''2024-01-05'' GROUP BY 1',
	'SELECT z::timestamptz, sum(v) FROM labelled WHERE z::timestamptz > ''2024-01-05 01:00'' GROUP BY 1', 'SELECT d::time(6), count(*) FROM labelled WHERE d::time(6) > ''21:00'' GROUP BY 1',
	'SELECT i::integer, count(*) FROM labelled WHERE i > 7 GROUP BY i::integer', 'SELECT i::integer, count(*) FROM labelled WHERE i IN (1, 2) GROUP BY i::integer',
	'SELECT DISTINCT i::integer FROM labelled WHERE i > 7',
	'SELECT o, q.* FROM generate_series(1, 3) o, LATERAL (SELECT l.i::integer, count(*) FROM labelled l WHERE l.i >= o AND l.i < o + 2 GROUP BY l.i::integer) q']) q;

DROP SCHEMA spellings CASCADE;
