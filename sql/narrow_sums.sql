-- Exact sums of float8 in groups: narrow ones, and wide ones where a value asks for these.
\set VERBOSITY terse
SET jit = off;
CREATE TABLE narrow (k int, g int, v float8, w float8);
INSERT INTO narrow SELECT i, i % 7, (i * 7919 % 100003 - 50000) / 64.0, 1.0 / (i % 911 + 1)
	FROM generate_series(1, 20000) i;
CREATE INDEX narrow_index ON narrow USING gpubtree (k) INCLUDE (g, v, w);
VACUUM ANALYZE narrow;

-- Which sums did the query have, and are its answers those of sums without groups, which are wide?
CREATE FUNCTION sums(device bool, OUT wide text, OUT differing int8)
LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	PERFORM set_config('gpubtree.enable_device', device::text, true);
	wide := 'no';
	FOR line IN EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
		SELECT g, sum(v), avg(w), stddev(w) FROM narrow GROUP BY g
	LOOP
		IF line ~ 'Wide Sums: 1$' THEN wide := 'yes'; END IF;
		IF line ~ 'Seq Scan' AND line !~ 'never executed' THEN wide := 'no index'; END IF;
	END LOOP;
	CREATE TEMP TABLE grouped AS SELECT g, sum(v) AS s, avg(w) AS a, stddev(w) AS d
		FROM narrow GROUP BY g;
	differing := 0;
	FOR i IN 0..6 LOOP
		differing := differing + (SELECT count(*) FROM grouped,
			LATERAL (SELECT sum(v) AS s, avg(w) AS a, stddev(w) AS d
				FROM narrow WHERE g = i AND k > 0) one
			WHERE g = i AND (grouped.s, grouped.a, grouped.d)
				IS DISTINCT FROM (one.s, one.a, one.d));
	END LOOP;
	DROP TABLE grouped;
END $$;
\set ECHO all

SELECT * FROM sums(true);
SELECT * FROM sums(false);

\set ECHO none
-- One value that a narrow sum does not hold, in one group
CREATE FUNCTION with_value(value float8, OUT wide text, OUT differing int8, OUT wide_on_cpu text,
	OUT differing_on_cpu int8)
LANGUAGE plpgsql AS $$
BEGIN
	UPDATE narrow SET v = value WHERE k = 19000;
	SELECT * INTO wide, differing FROM sums(true);
	SELECT * INTO wide_on_cpu, differing_on_cpu FROM sums(false);
END $$;
\set ECHO all
SELECT value, (with_value(value)).* FROM (VALUES (float8 '1e-300'), ('1e100'), ('NaN'), ('Infinity'),
	('-Infinity'), ('5e-324'), ('0'), ('-0'), ('1e-18'), ('1e9')) v(value);

-- Squares and products, which need wide sums sooner; core's are rounded on the way
CREATE FUNCTION moments(OUT g int, OUT stddev numeric, OUT corr numeric, OUT slope numeric)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT g, round(stddev(v)::numeric, 4), round(corr(v, w)::numeric, 10),
		round(regr_slope(v, w)::numeric, 4) FROM narrow GROUP BY g ORDER BY g
$$;
SELECT * FROM moments();
SET gpubtree.enabled = off;
SELECT * FROM moments();
RESET gpubtree.enabled;
UPDATE narrow SET v = 1e11 WHERE k = 19000;
SELECT * FROM moments() WHERE g = 2;
SET gpubtree.enabled = off;
SELECT * FROM moments() WHERE g = 2;
RESET gpubtree.enabled;

\set ECHO none
-- The node begins with wide sums the next time.  Grouping sets add up what has either form.
UPDATE narrow SET v = 1e100 WHERE k = 19000;
UPDATE narrow SET v = 1e-300 WHERE k = 2;
CREATE FUNCTION widened(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Gpubtree|Wide Sums' THEN RETURN NEXT line; END IF;
	END LOOP;
END $$;
\set ECHO all
SELECT widened('SELECT * FROM generate_series(1, 3) n, LATERAL
	(SELECT g, sum(v) FROM narrow WHERE k > 0 * n GROUP BY g OFFSET 0) s WHERE g < 0');
SELECT widened('SELECT * FROM generate_series(1, 3) n, LATERAL
	(SELECT k / 1000, g, sum(v) FROM narrow WHERE k > 0 * n GROUP BY 1, 2 OFFSET 0) s WHERE g < 0');
SELECT g, sum(v), count(*) FROM narrow GROUP BY ROLLUP (g) ORDER BY g;
UPDATE narrow SET v = 0.5 WHERE k IN (2, 19000);
SELECT g, sum(v), count(*) FROM narrow GROUP BY ROLLUP (g) ORDER BY g;

DROP TABLE narrow;
DROP FUNCTION sums, with_value, moments, widened;
