--
-- Filters, expressions and groups that an index answers: each value, digit for digit, as core has
-- it, and what is left to core.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;
CREATE SCHEMA expressions;
SET search_path = expressions, public;
SET timezone = 'Europe/Berlin';

-- The tables are small: make the node free of its fixed price, and discourage every other way to
-- read a table, so that it is used wherever it can be.
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET gpubtree.enable_rangeaggregate = off;
SET gpubtree.enable_bucketaggregate = off;

SET compare.node = 'GpubtreeAggregate';
\i :abs_srcdir/sql/common/plan.sql

-- The query's rows as text, in the order of the text, or its error.
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s) q', query)
		INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN 'ERROR: ' || sqlerrm;
END $$;

CREATE FUNCTION plain_answer(query text) RETURNS text LANGUAGE sql
	SET gpubtree.enabled = off SET enable_seqscan = on
AS $$
	SELECT answer(query)
$$;

-- Did a step fault, so that the node left the query to the ordinary plan?
CREATE FUNCTION gave_up(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line LIKE '%Gave Up%' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$;

-- "same" if our node answers the query as core does.
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text := answer(query);
	plain text := plain_answer(query);
BEGIN
	IF NOT is_ours(query) THEN
		RETURN 'not ours';
	ELSIF ours IS DISTINCT FROM plain THEN
		RETURN 'different: ' || left(ours, 200) || ', not ' || left(plain, 200);
	ELSIF ours LIKE 'ERROR%' THEN
		RETURN 'same ' || ours;
	END IF;
	RETURN CASE WHEN gave_up(query) THEN 'same, but gave up' ELSE 'same' END;
END $$;

-- The value of an expression for every row, and the rows for which a condition is true.
CREATE FUNCTION value(expression text) RETURNS text LANGUAGE sql AS $$
	SELECT compare(format('SELECT k, min(%s) FROM p WHERE k > 0 GROUP BY k', expression))
$$;
CREATE FUNCTION condition(expression text) RETURNS text LANGUAGE sql AS $$
	SELECT compare(format('SELECT k, bool_or(%s) FROM p WHERE k > 0 GROUP BY k', expression)) ||
		', ' || compare(format('SELECT count(*), sum(k) FROM p WHERE k > 0 AND (%s)', expression))
$$;

CREATE TABLE p (k int8, a int2, b int4, c int8, f float8, d date, ts timestamp, tz timestamptz,
				x text, n numeric);
INSERT INTO p SELECT i, nullif(i * 37 % 201 - 100, 7), nullif(i * 53 % 21 - 10, 4),
	(i * 7919 % 100003 - 50000) * 1000003::int8, nullif((i * 31 % 401 - 200) / 4.0, 0.25),
	date '2000-01-01' + i * 41 % 9001 - 4500,
	timestamp '2000-01-01' + (i * 43 % 9001 - 4500) * interval '1 day 1 hour 3.000001 seconds',
	timestamptz '2000-01-01' + (i * 47 % 9001 - 4500) * interval '1 day 5 hours 7 seconds', 'x', i
	FROM generate_series(1, 900) i;
-- Keys of rows at the ends of types are negative.
INSERT INTO p VALUES
	(-1, -32768, -2147483648, -9223372036854775808, '-Infinity', '-infinity', '-infinity',
	 '-infinity'),
	(-2, 32767, 2147483647, 9223372036854775807, 'Infinity', 'infinity', 'infinity', 'infinity'),
	(-3, NULL, NULL, NULL, 'NaN', '4714-11-24 BC', '4714-11-24 BC', '4714-11-25 BC'),
	(-4, NULL, NULL, NULL, NULL, '5874897-12-31', '294276-12-31 23:59:59.999999', NULL),
	(-5, 0, 0, 0, 0, '2000-01-03', '2000-01-03', '2000-01-03'),
	(-6, 1, -1, 1, 1e300, '0001-01-01 BC', '0001-12-31 23:59:59.999999 BC', '0001-01-01');
CREATE INDEX ON p USING gpubtree (k) INCLUDE (a, b, c, f, d, ts, tz);
VACUUM ANALYZE p;

-- Arithmetic
SELECT e, value(e) FROM unnest(ARRAY['b + c', 'b - c', 'a * b', 'a - b', 'c * 1000', 'b / 7',
	'c / 1000 % 17', 'mod(b, 3)', '-c', 'abs(a)', 'a + 1', 'b * b * b', 'f + 1', 'f * f - f',
	'f / 2', '-(f + 0.1)', 'abs(f)', 'a::float8 * 0.1', 'f::int', 'f::int8', 'f::int2', 'c::int4',
	'(b > 0)::int', 'b::bool::int', 'a::int % 10 + b', '1 / a', 'c * c']) e;

-- Dates and times
SELECT e, value(e) FROM unnest(ARRAY['d + 1', 'd - b', 'd - date ''2001-02-03''', 'd::timestamp',
	'ts::date', 'ts + interval ''1 day 2 hours''', 'ts - interval ''3 seconds''',
	'tz + interval ''90 minutes''', 'd + interval ''36 hours''', 'date_trunc(''second'', ts)',
	'date_trunc(''minute'', ts)', 'date_trunc(''hour'', ts)', 'date_trunc(''day'', ts)',
	'date_trunc(''week'', ts)', 'date_trunc(''month'', ts)', 'date_trunc(''quarter'', ts)',
	'date_trunc(''YEARS'', ts)', 'date_trunc(''second'', tz)',
	'date_bin(''7 hours'', ts, timestamp ''2005-01-01'')',
	'date_bin(''5 days'', tz, timestamptz ''1990-01-01'')']) e;
\set ECHO all

-- What depends on the zone or the month, or has no steps
SELECT e, value(e) FROM unnest(ARRAY['tz::date', 'ts::timestamptz', 'tz + interval ''1 day''',
	'ts + interval ''1 month''', 'date_trunc(''day'', tz)', 'date_trunc(''decade'', ts)',
	'n', 'b / 1.5', 'length(x)', 'round(f)', 'ts - ts', 'b # 1', '(k + random())::int']) e;

\set ECHO none
-- Comparisons
SELECT e, condition(e) FROM unnest(ARRAY['a > b', 'b <= c', 'a <> 5', 'f > 0', 'f = 0.5',
	'f >= ''NaN''', 'd < date ''2003-01-01''', 'ts >= date ''2003-01-01''', 'ts < d',
	'tz > timestamptz ''1999-01-01''', 'tz > ts', 'a BETWEEN 1 AND 9', 'a IN (1, 2, 3)',
	'a IN (9, 1, 5) OR c % 10 = 9::int8',
	'a NOT IN (1, 2, 3)', 'a IN (1, NULL)', 'a NOT IN (1, NULL)', 'b = ANY (''{}'')',
	'b <> ALL (''{}'')', 'b = ANY (''{NULL}'')', 'f IN (0.5, ''NaN'', -0.0)', 'a IS NULL',
	'a IS NOT NULL', 'a IS DISTINCT FROM b', 'f IS NOT DISTINCT FROM 1.5', 'b > ANY (''{1, 2}'')',
	'ts > localtimestamp - interval ''1 day''', 'd < current_date', 'x = ''x''',
	'(a > 0) = (b > 0)', '(a > b) IS TRUE', '(a > b) IS NOT TRUE', '(a > b) IS FALSE',
	'(a > b) IS NOT FALSE',
	'(a > b) IS UNKNOWN', '(a > b) IS NOT UNKNOWN']) e;

-- What core would not evaluate does not fault.
SELECT e, value(e) FROM unnest(ARRAY['CASE WHEN a <> 0 THEN b / a ELSE 0 END',
	'CASE WHEN b = 0 THEN 0 WHEN c / b > 9 THEN 1 WHEN c / b < 0 THEN a / b END',
	'CASE b WHEN 1 THEN 10 WHEN 2 THEN a END', 'coalesce(b, 1 / (a - a))', 'coalesce(b, a, 3)',
	'nullif(b, 0)', '10 / nullif(b, 0)', 'least(a, b, c)', 'greatest(f, 1.5)',
	'CASE WHEN a > 0 THEN coalesce(CASE WHEN b <> 0 THEN a / b END, b) ELSE -a END',
	'CASE WHEN b = 0 THEN 1 / b END']) e;
\set ECHO all
SELECT e, condition(e) FROM unnest(ARRAY['b <> 0 AND a / b > 2', 'b = 0 OR a / b > 2',
	'(b <> 0 AND a / b > 2) IS NULL', '(b = 0 OR a / b > 2) IS NOT FALSE',
	'a > 0 AND (b = 0 OR c / b > 3) AND NOT (f > 0 OR d < ''2001-01-01'')', 'a / b > 2']) e;

-- The ends of types
SELECT e, compare(format('SELECT k, min(%s) FROM p WHERE k < 0 GROUP BY k', e))
FROM unnest(ARRAY['a + 0', 'a::int - 1', '-a', 'abs(b)', 'c - 1', '-c', 'c / -1', 'c % -1', 'b - 1',
	'f * 10', 'f * f', 'f::int8', 'd + 0', 'd + 1', 'd - d', 'd::timestamp', 'ts::date',
	'ts - interval ''1 us''', 'date_trunc(''day'', ts)', 'date_trunc(''month'', ts)',
	'date_trunc(''week'', ts)', 'date_bin(''1 week'', ts, timestamp ''2001-01-01 00:00:03'')']) e;
SELECT e, compare(format('SELECT count(*), sum(k) FROM p WHERE k < 0 AND %s', e))
FROM unnest(ARRAY['f > 1e308', 'f = ''NaN''', 'f <> ''NaN''', 'd = ''infinity''',
	'ts < ''infinity''', 'd < ts', 'date_trunc(''year'', ts) = ''infinity''']) e;

-- Aggregates: of integers, with core's digits
SELECT g, compare(format('SELECT %s var_pop(a), var_samp(b), variance(c), stddev_pop(b),
	stddev_samp(c), stddev(a) FROM p WHERE k > 0', g || ',') || ' GROUP BY ' || g)
FROM unnest(ARRAY['k % 7', 'k % 300', 'k']) g;
\set ECHO none
SELECT e, compare(format('SELECT %s FROM p WHERE k > 0', e))
FROM unnest(ARRAY['count(*), count(b), sum(b), avg(b), min(d), max(ts), sum(f), avg(f)',
	'var_pop(a * 100), stddev(b * c), var_samp(k)',
	'bool_and(a > -200), every(b > 0), bool_or(a > 99)', 'bit_and(b | 1)',
	'bit_and(k), bit_or(a), bit_xor(b)', 'bit_and(a), bit_or(b), bit_xor(c)',
	'count(*) FILTER (WHERE a > 0), sum(a / b) FILTER (WHERE b <> 0)',
	'count(b) FILTER (WHERE a > 9)', 'sum(a / b) FILTER (WHERE b <> 0), max(a / b)',
	'max(c) FILTER (WHERE false), count(1), count(NULL::int)', 'sum(CASE WHEN a > 0 THEN a * 0.5 ELSE a * 0.25 END)',
	'count(*) FILTER (WHERE b > 0 AND tz > now() - interval ''90 years'')',
	'count(DISTINCT a), count(DISTINCT b)', 'sum(a ORDER BY b)', 'array_agg(a)', 'sum(n)']) e;
\set ECHO all
SELECT compare('SELECT var_pop(a), var_samp(c), stddev_pop(b), stddev(c), bit_xor(c),
	bool_and(a > 0) FROM p WHERE k < -2');
SELECT compare('SELECT var_pop(c), stddev(c), var_samp(b), stddev_pop(a) FROM p WHERE k < 0');

\set ECHO none
-- Of float8 rounded once from exact sums, where core's depend on the order of rows; squares that
-- overflow are left to core.
CREATE FUNCTION close(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours float8 := trim('()' FROM answer(query));
	plain float8 := trim('()' FROM plain_answer(query));
BEGIN
	IF NOT is_ours(query) THEN
		RETURN 'not ours';
	END IF;
	RETURN ours = plain OR abs(ours - plain) < 1e-12 * abs(plain);
END $$;
\set ECHO all
SELECT e, close(format('SELECT %s FROM p WHERE k > 0', e))
FROM unnest(ARRAY['var_pop(f)', 'var_samp(f)', 'stddev(f)', 'stddev_pop(f * 1e9)',
	'variance(f + 1e6)']) e;
SELECT compare('SELECT k, var_pop(f), var_samp(f), stddev(f), stddev_pop(f) FROM p WHERE k < 0
	GROUP BY k');
SELECT compare('SELECT var_pop(f), stddev_samp(f) FROM p WHERE k BETWEEN -5 AND -1');
SELECT compare('SELECT var_pop(f), var_samp(f) FROM p WHERE k = -6');

-- Groups
SELECT e, compare(format('SELECT %s, count(*), sum(b), avg(c), min(f) FROM p WHERE k > 0
	GROUP BY %s', e, e))
FROM unnest(ARRAY['a', 'b, a % 3', 'a > 0', 'd', 'date_trunc(''month'', ts)', 'ts::date', 'k % 10',
	'CASE WHEN b > 0 THEN 1 WHEN b < 0 THEN -1 END', 'a, b, k % 2, d', 'a, b, k % 2, d, tz', 'f',
	'n', 'a / b']) e;
SELECT compare('SELECT a FROM p WHERE k > 0 GROUP BY a');
SELECT compare('SELECT a % 5, count(*) FROM p WHERE k > 0 AND b > 0 AND c % 2 = 0 GROUP BY 1');

-- More than a program has room for
SELECT compare('SELECT sum(' || string_agg('k % ' || i, '+') || ') FROM p WHERE k > 0')
FROM generate_series(2, 12) i;
SELECT compare('SELECT sum(' || string_agg('k % ' || i, '+') || ') FROM p WHERE k > 0')
FROM generate_series(2, 60) i;
SELECT compare('SELECT sum(' || string_agg('k % ' || i, '+ (') || repeat(')', 34) || ') FROM p
	WHERE k > 0')
FROM generate_series(2, 36) i;
SELECT compare('SELECT ' || string_agg('sum(k % ' || i || ')', ',') || ' FROM p WHERE k > 0')
FROM generate_series(2, 18) i;
SELECT compare('SELECT count(*) FROM p WHERE k > 0 AND a IN (' || string_agg(i::text, ',') || ')')
FROM generate_series(1, 192) i;
SELECT compare('SELECT count(*) FROM p WHERE k > 0 AND a IN (' || string_agg(i::text, ',') || ')')
FROM generate_series(1, 193) i;

-- Parameters, with a generic plan: a list of conditions whose values come at execution
PREPARE q(int, float8, date) AS
	SELECT count(*), sum(b + $1), max(CASE WHEN b <> 0 THEN $1 / b END)
	FROM p WHERE k > 0 AND f > $2 AND d < $3 AND a <> $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE q(3, 1.5, '2001-01-01');
EXECUTE q(NULL, 1.5, '2001-01-01');
EXECUTE q(-7, 'NaN', 'infinity');
EXECUTE q(-7, '-Infinity', 'infinity');
SET gpubtree.enabled = off;
EXECUTE q(3, 1.5, '2001-01-01');
EXECUTE q(NULL, 1.5, '2001-01-01');
EXECUTE q(-7, 'NaN', 'infinity');
EXECUTE q(-7, '-Infinity', 'infinity');
RESET gpubtree.enabled;
RESET plan_cache_mode;

-- The value of a subquery, which is evaluated only if it is needed
SELECT compare('SELECT count(*) FROM p WHERE k > 0 AND a > (SELECT 3 + min(b) FROM p WHERE k > 0)');
SELECT compare('SELECT sum(CASE WHEN a > 1000 THEN (SELECT b FROM p) ELSE 1 END) FROM p
	WHERE k > 0');

DROP SCHEMA expressions CASCADE;
