--
-- corr(), covar_pop() and covar_samp(), and the aggregates regr_*: of pairs of float8 whose values
-- and products an index sums up exactly.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;
CREATE SCHEMA moments;
SET search_path = moments, public;
SET extra_float_digits = 0;

-- The tables are small: make the nodes free of their fixed price, and discourage every other way to
-- read a table, so that they are used wherever they can be.
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;

-- The rows of a query, each as the texts of its values, in the order of their first columns; or its
-- error
CREATE FUNCTION answer(query text) RETURNS json[] LANGUAGE plpgsql AS $$
DECLARE
	result json[];
BEGIN
	EXECUTE format('SELECT array_agg((SELECT json_agg(e.value) FROM json_each_text(row_to_json(q)) e)
		ORDER BY q::text) FROM (%s) q', query) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN ARRAY[json_build_array(SQLERRM)];
END $$;

-- Are two texts the same, or numbers that differ by little?
CREATE FUNCTION near(a text, b text, within float8) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF a IS NULL OR b IS NULL OR a = b OR a || b ~* '[f-z]' THEN
		RETURN a IS NOT DISTINCT FROM b;
	END IF;
	RETURN abs(a::float8 - b::float8) <= within * abs(b::float8);
END $$;

-- Which node of ours answers a query, whether it gave up, and whether it has what core has: numbers
-- but for the last digits
CREATE FUNCTION compare(query text, within float8 DEFAULT 1e-9) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours json[];
	core json[];
	line text;
	node text;
	gave_up text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		node := coalesce(node, substring(line FROM 'Gpubtree\w+'));
	END LOOP;
	ours := answer(query);
	PERFORM set_config('gpubtree.enabled', 'off', true);
	core := answer(query);
	PERFORM set_config('gpubtree.enabled', 'on', true);
	IF ours[1]->>0 ~ '[a-z] ' THEN
		gave_up := format(', error "%s"', ours[1]->>0);
	ELSE
		FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
			gave_up := CASE WHEN line LIKE '%Gave Up%' THEN ', gave up' ELSE gave_up END;
		END LOOP;
	END IF;
	RETURN coalesce(node, 'core') || gave_up || ': ' ||
		CASE WHEN cardinality(ours) IS NOT DISTINCT FROM cardinality(core) AND
				(SELECT coalesce(bool_and(near(a, b, within)), true)
				 FROM unnest(ours, core) r(o, c),
					ROWS FROM (json_array_elements_text(o), json_array_elements_text(c)) v(a, b))
			THEN 'equal' ELSE format('%s, core has %s', ours, core) END;
END $$;

-- All of them of one pair
CREATE FUNCTION of_pair(y text, x text, tail text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format('%s(%s, %s) %s', f, y, x, tail), ', ')
	FROM unnest(ARRAY['regr_count', 'regr_sxx', 'regr_syy', 'regr_sxy', 'regr_avgx', 'regr_avgy',
		'regr_slope', 'regr_intercept', 'regr_r2', 'corr', 'covar_pop', 'covar_samp']) f
$$;

CREATE TABLE m (k int8, g int4, i int4, x float8, y float8, z float8);
INSERT INTO m SELECT k, k % 13, k * 37 % 101, CASE WHEN k % 7 > 0 THEN 100 * sin(k) END,
	CASE WHEN k % 11 > 0 THEN k + cos(k) END, CASE k % 5 WHEN 0 THEN NULL WHEN 1 THEN 0 ELSE 2.5 - k * sin(k) END
FROM generate_series(1, 900) k;
-- Keys below 0: few pairs, equal values, what is not finite
INSERT INTO m VALUES (-1, 1, 1, 4.5, 7, 1), (-2, 2, 2, NULL, NULL, 1), (-2, 2, 2, 3, NULL, 2),
	(-3, 3, 3, 5, 1, 1), (-3, 3, 3, 5, 2, 1), (-3, 3, 3, 5, NULL, 1), (-3, 3, 3, NULL, 3, 1),
	(-4, 4, 4, 1, 0.1, 1), (-4, 4, 4, 2, 0.1, 1), (-5, 5, 5, 8, 8, 1), (-5, 5, 5, 8, 8, 1),
	(-6, 6, 6, 'NaN', 1, 1), (-6, 6, 6, 2, 3, 1), (-7, 7, 7, 1, 'NaN', 1), (-7, 7, 7, 1, 2, 1),
	(-8, 8, 8, 'infinity', 2, 1), (-8, 8, 8, 1, 2, 1), (-9, 9, 9, 1, '-infinity', 1),
	(-9, 9, 9, 2, 4, 1), (-10, 10, 10, 'infinity', 1, 1), (-10, 10, 10, '-infinity', 5, 1),
	(-11, 11, 11, 'infinity', NULL, 1), (-11, 11, 11, 1, 2, 1), (-11, 11, 11, 2, 5, 1),
	(-12, 12, 12, 'infinity', '-infinity', 1), (-13, 0, 0, 0, 0, 1), (-13, 0, 0, '-0', 0, 1),
	(-14, 1, 1, 'infinity', 0, 1), (-14, 1, 1, 0, 'infinity', 1), (-14, 1, 1, 0, 0, 1);
CREATE INDEX m_k ON m USING gpubtree (k) INCLUDE (g, i, x, y, z);
VACUUM ANALYZE m;
\set ECHO all

SELECT f, compare(format('SELECT %s(y, x) FROM m WHERE k > 0', f))
FROM unnest(ARRAY['regr_count', 'regr_sxx', 'regr_syy', 'regr_sxy', 'regr_avgx', 'regr_avgy',
	'regr_slope', 'regr_intercept', 'regr_r2', 'corr', 'covar_pop', 'covar_samp']) f;
SELECT compare(format('SELECT %s FROM m WHERE k > 0', of_pair('y', 'x')));
SELECT compare(format('SELECT g, %s FROM m WHERE k > 0 GROUP BY g', of_pair('z', 'x')));
SELECT compare(format('SELECT %s FROM m WHERE k BETWEEN 1 AND 700 AND i < 60',
					  of_pair('y', 'z', 'FILTER (WHERE x > 0)')));
SELECT compare(format('SELECT g, %s FROM m WHERE k > 0 GROUP BY g',
					  of_pair('x / z', 'i', 'FILTER (WHERE z <> 0)')));
SELECT compare(format('SELECT %s FROM m WHERE k > 0', of_pair('x', 'x')));
SELECT compare(format('SELECT %s FROM m WHERE k > 0', of_pair('x', '2.5')));
SELECT compare(format('SELECT k, %s FROM m WHERE k < 0 GROUP BY k', of_pair('y', 'x')), 0);
SELECT compare(format('SELECT k, %s FROM m WHERE k < 0 GROUP BY k', of_pair('x', 'y')), 0);
SELECT compare(format('SELECT %s FROM m WHERE k = 1000', of_pair('x', 'y')));

-- Other nodes
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT compare('SELECT k / 100, corr(y, x), regr_slope(z, x), count(*) FROM m WHERE k > 0
	GROUP BY 1');
SELECT compare('SELECT a.k, l.* FROM m a, LATERAL (SELECT regr_intercept(y, x) AS i, regr_r2(x, y)
	AS r FROM m b WHERE b.k BETWEEN a.k AND a.k + 20) l WHERE a.k BETWEEN 1 AND 30');
SELECT compare('SELECT a.g, covar_samp(b.y, b.x) FROM m a JOIN m b ON b.k BETWEEN a.k AND a.k + 9
	WHERE a.k > 0 GROUP BY 1');
SELECT compare('SELECT g, count(DISTINCT i), mode() WITHIN GROUP (ORDER BY g), corr(y, x), sum(x)
	FROM m WHERE k > 0 GROUP BY g');
SELECT compare('SELECT g, i % 3, corr(y, x), count(*) FROM m WHERE k > 0 GROUP BY CUBE (1, 2)');
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;

-- Terms: of one pair they are the same for all functions, in both orders; there is room for four
-- pairs.
SELECT compare('SELECT corr(x, y), corr(y, x), corr(x, z), corr(y, z), corr(z, i), regr_r2(i, z)
	FROM m WHERE k > 0');
SELECT compare('SELECT corr(x, y), corr(x, z), corr(y, z), corr(z, i), corr(x, i)
	FROM m WHERE k > 0');
SELECT compare('SELECT corr(DISTINCT x, y) FROM m WHERE k > 0');

-- Exact: large means, of which core's rounding leaves little, and lines
CREATE TABLE far (k int8, x float8, y float8, line float8, tiny float8);
INSERT INTO far SELECT i, 1e9 + i % 10 / 8.0, 3e9 + i % 7 * (i % 10) / 4.0, 7 - 3 * (1e9 + i % 10 / 8.0),
	1e-120 * (i % 10)
FROM generate_series(1, 700) i;
CREATE INDEX far_k ON far USING gpubtree (k) INCLUDE (x, y, line, tiny);
VACUUM ANALYZE far;
SELECT compare('SELECT regr_sxx(y, x), covar_pop(x, y), corr(y, x) FROM far');
SET extra_float_digits = 1;
SELECT regr_count(y, x), regr_avgx(y, x), regr_avgy(y, x) FROM far;
SELECT regr_sxx(y, x), regr_syy(y, x), regr_sxy(y, x), covar_pop(y, x), covar_samp(y, x) FROM far;
-- The same in numeric
SELECT (sum(x * x) - sum(x) * sum(x) / 700)::float8 AS sxx, (sum(y * y) - sum(y) * sum(y) / 700)::float8
	AS syy, (sum(x * y) - sum(x) * sum(y) / 700)::float8 AS sxy
FROM (SELECT x::numeric, y::numeric FROM far) n;
SELECT regr_slope(line, x), regr_intercept(line, x), regr_r2(line, x), corr(line, x) FROM far;
SELECT regr_slope(x, line), regr_r2(tiny, x), regr_slope(tiny, x), regr_intercept(y, x) FROM far;
-- In core the product of the two sums of squares is beyond the range of float8.
SELECT corr(x * 1e-150, tiny), corr(x * 1e80, x * 1e80), regr_r2(x * 1e80, x * -1e80) FROM far;
RESET extra_float_digits;

-- A product or square that is beyond the range of float8 is left to core.
SELECT compare('SELECT covar_pop(x * 1e150, y * 1e150) FROM far WHERE k = 7');
SELECT compare('SELECT regr_sxx(y, x * 1e150) FROM far WHERE k < 9');
SELECT compare('SELECT covar_pop(tiny * 1e-50, tiny * 1e-50) FROM far WHERE k < 9');
SELECT compare('SELECT regr_avgx(1, x * 1e150) FROM far WHERE k < 9');

\set ECHO none
-- One of several executions leaves its rows to the plan below, and EXPLAIN says so.
CREATE TABLE again AS
SELECT i::int8 AS k, i % 4 AS g, (CASE i % 4 WHEN 1 THEN 1e-300 * i ELSE i END)::float8 AS f
FROM generate_series(1, 400) i;
CREATE INDEX ON again USING gpubtree (k) INCLUDE (g, f);
VACUUM ANALYZE again;
SET gpubtree.enable_device = off;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
\set ECHO all
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
SELECT o, q.* FROM generate_series(0, 2) o,
	LATERAL (SELECT stddev(f), sum(f), count(DISTINCT k % 3) FROM again WHERE g = o) q;

DROP SCHEMA moments CASCADE;
