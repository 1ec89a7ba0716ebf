--
-- Partial states as SQL values: the same bytes from a node, from core's Agg and from workers; merged
-- states say what the rows say, bit by bit; what is no state is refused.
--
SET client_min_messages = warning;
CREATE SCHEMA states;
SET search_path = states, public;
SET timezone = 'UTC';
SET extra_float_digits = 1;

-- floats of all magnitudes, -0, NaN and infinities in some hours; numerics with NaN in one; a group of NULLs
CREATE TABLE reading (t timestamptz NOT NULL, g int, f float8, x float8, r real, s smallint, i int, b bigint, n numeric(12,3), w text, d date, u boolean, id uuid, l numeric(30,2));
INSERT INTO reading SELECT timestamptz '2024-03-01' + k * interval '17 minutes', k % 5,
	CASE WHEN k = 1777 THEN 'NaN' WHEN k = 2777 THEN 'Infinity' WHEN k % 211 = 0 THEN -0.0 WHEN k % 13 > 0 THEN (k * 7919 % 1009 - 500) * 10::float8 ^ (k % 90 * 6 - 270) / 3 END,
	(k * 31 % 97) / 7.0, (k * 17 % 101) / 3.0, k % 300 - 100, CASE WHEN k % 5 > 0 THEN k * 7919 % 100003 - 50000 END, k::bigint * 1000000007 - 4000000000000,
	CASE WHEN k = 3777 THEN 'NaN' ELSE (k * 104729 % 1000003) / 1000.0 - 400 END, CASE WHEN k % 7 > 0 THEN 'w' || k % 23 || repeat('é', k % 3 * 9) END,
	date '2024-01-01' + k % 40, k % 3 = 0, md5((k % 31)::text)::uuid, CASE WHEN k = 4777 THEN 'NaN' ELSE (k % 29 - 9) * 1234567890123456789.25 END
	FROM generate_series(1, 6000) k;
CREATE INDEX reading_t ON reading USING gpubtree (t) INCLUDE (g, f, x, r, s, i, b, n, w, d, u);
CREATE INDEX reading_wide ON reading USING gpubtree (t) INCLUDE (g, id, l);
VACUUM ANALYZE reading;
CREATE TABLE part (LIKE reading) PARTITION BY RANGE (t);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM ('2024-03-01') TO ('2024-04-01');
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM ('2024-04-01') TO ('2024-06-01');
INSERT INTO part SELECT * FROM reading;
CREATE INDEX ON part USING gpubtree (t) INCLUDE (g, f, x, r, s, i, b, n, w, d, u);
CREATE INDEX ON part USING gpubtree (t) INCLUDE (g, id, l);
VACUUM ANALYZE part;

CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
END $$;
-- The node that answers, and whether its rows are those of core's Agg, serial, with workers and by partitions, byte by byte
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(q::text, '';'' ORDER BY q::text COLLATE "C")) || '' of '' || count(*) FROM (%s) q', query) INTO result;
	RETURN result;
END $$;
CREATE FUNCTION serial(query text) RETURNS text LANGUAGE sql SET gpubtree.enabled = off SET max_parallel_workers_per_gather = 0 AS 'SELECT rows_of(query)';
CREATE FUNCTION workers(query text) RETURNS text LANGUAGE sql SET gpubtree.enabled = off SET max_parallel_workers_per_gather = 3
	SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 SET enable_indexscan = off SET enable_bitmapscan = off
	AS 'SELECT rows_of(query)';
CREATE FUNCTION partitionwise(query text) RETURNS text LANGUAGE sql SET gpubtree.enabled = off SET enable_partitionwise_aggregate = on AS 'SELECT rows_of(replace(query, ''reading'', ''part''))';
CREATE FUNCTION states(query text) RETURNS text LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off SET max_parallel_workers_per_gather = 0
AS $$
DECLARE
	line text;
	node text := 'no node';
	ours text := rows_of(query);
	core text := serial(query);
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		node := CASE WHEN line ~ 'Gpubtree' AND node = 'no node' THEN substring(line FROM 'Gpubtree\w+') WHEN line ~ 'Gave Up' THEN node || line ELSE node END;
	END LOOP;
	RETURN node || CASE WHEN ours IS DISTINCT FROM core THEN ', DIFFERS FROM CORE' ELSE '' END ||
		CASE WHEN workers(query) IS DISTINCT FROM core THEN ', DIFFERS WITH WORKERS' ELSE '' END ||
		CASE WHEN partitionwise(query) IS DISTINCT FROM core THEN ', DIFFERS BY PARTITION' ELSE '' END ||
		CASE WHEN rows_of(replace(query, 'reading', 'part')) IS DISTINCT FROM core THEN ', NODES OF PARTITIONS DIFFER' ELSE '' END;
END $$;
SELECT what, states('SELECT ' || what || ' FROM reading'), states('SELECT g, ' || what || ' FROM reading WHERE t > ''2024-03-03'' GROUP BY g'),
	states('SELECT date_trunc(''day'', t), ' || what || ' FROM reading WHERE t BETWEEN ''2024-03-05'' AND ''2024-05-01'' GROUP BY 1') FROM unnest(ARRAY[
	'gpubtree_partial(f)', 'gpubtree_partial(r)', 'gpubtree_partial(s), gpubtree_partial(i), gpubtree_partial(b)', 'gpubtree_partial(n)',
	'gpubtree_partial_variance(x)', 'gpubtree_partial_variance(r), gpubtree_partial_variance(s)', 'gpubtree_partial_variance(i), gpubtree_partial_variance(b)',
	'gpubtree_partial_variance(n)', 'gpubtree_partial_regression(x, r)', 'gpubtree_partial_values(i % 50), count(*), sum(n)', 'gpubtree_partial_values(w), gpubtree_partial_values(d)',
	'gpubtree_partial_values(x), gpubtree_partial_values(u)', 'gpubtree_partial_values(id), gpubtree_partial_values(l)', 'gpubtree_partial(l), gpubtree_partial_variance(l)', 'gpubtree_partial(l)', 'gpubtree_partial(f) FILTER (WHERE i > 5), gpubtree_partial_values(s) FILTER (WHERE i > 5)', 'gpubtree_partial(DISTINCT i)',
	'gpubtree_partial(n * 2)', 'gpubtree_partial(i + s)', 'gpubtree_partial_variance(f)', 'gpubtree_partial_regression(f, x)']) what;

\set ECHO all
-- what only core's Agg does
SELECT states('SELECT gpubtree_partial_first(w, t), gpubtree_partial_last(n, t) FROM reading GROUP BY g');
SELECT states('SELECT gpubtree_partial_first(t, x), gpubtree_partial_last(w, n), gpubtree_partial_last(i, i) FROM reading GROUP BY g');
SELECT states('SELECT gpubtree_partial_values(i ORDER BY t), gpubtree_partial_values(DISTINCT i) FROM reading');
-- who may not call an aggregate may not have it of a node
CREATE ROLE regress_states;
GRANT USAGE ON SCHEMA states TO regress_states; GRANT SELECT ON reading TO regress_states;
REVOKE EXECUTE ON FUNCTION gpubtree_partial(float8) FROM PUBLIC;
SET ROLE regress_states;
SET enable_seqscan = off;
SELECT gpubtree_partial(f) FROM reading;
SELECT gpubtree_final_count(gpubtree_partial(s)) FROM reading;
RESET enable_seqscan; RESET ROLE;
GRANT EXECUTE ON FUNCTION gpubtree_partial(float8) TO PUBLIC; DROP OWNED BY regress_states; DROP ROLE regress_states;
-- of no value there is none
SELECT gpubtree_partial(f), gpubtree_partial_values(f), gpubtree_final_count(gpubtree_partial(f)), gpubtree_final(gpubtree_partial(f), 'avg') FROM reading WHERE t < '2000-01-01';
SELECT g, gpubtree_final_count(gpubtree_partial(i)), count(i) FROM reading WHERE g = 0 GROUP BY g;

--
-- Hours merged to months are the months.
--
CREATE TABLE hourly AS SELECT date_trunc('hour', t) AS hour, gpubtree_partial(f) AS f, gpubtree_partial_variance(x) AS x, gpubtree_partial_regression(x, r) AS l, gpubtree_partial(r) AS r,
	gpubtree_partial_variance(i) AS i, gpubtree_partial_variance(b) AS b, gpubtree_partial_variance(n) AS n, gpubtree_partial_values(i % 50) AS v, gpubtree_partial_values(w) AS w,
	gpubtree_partial_values(n) AS nv, gpubtree_partial_values(x) AS xv, gpubtree_partial_first(w, t) AS first, gpubtree_partial_last(n, t) AS last FROM reading GROUP BY 1;
-- a result by states merged, and one by the rows; the rows' exact sums of floats come from a node
CREATE FUNCTION same(ours text, theirs text) RETURNS SETOF text LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off AS $$
DECLARE
	a text;
	b text;
BEGIN
	EXECUTE format('SELECT string_agg((m, %s)::text, '';'' ORDER BY m) FROM (SELECT date_trunc(''month'', hour) AS m, %s FROM hourly GROUP BY 1) q', ours,
		(SELECT string_agg(format('gpubtree_merge(%1$s) AS %1$s', c), ', ') FROM unnest(ARRAY['f', 'x', 'l', 'r', 'i', 'b', 'n', 'v', 'w', 'nv', 'xv', 'first', 'last']) c)) INTO a;
	EXECUTE format('SELECT string_agg(q::text, '';'' ORDER BY m) FROM (SELECT date_trunc(''month'', t) AS m, %s FROM reading GROUP BY 1) q', theirs) INTO b;
	IF a IS DISTINCT FROM b THEN
		RETURN NEXT format('%s: %s, should be %s', ours, a, b);
	END IF;
END $$;
\set ECHO none
SELECT 'DIFFERENT', same(format('gpubtree_final(%s, %L)', c, a), format('%s(%s)', a, CASE c WHEN 'l' THEN 'x, r' ELSE c || '::float8' END))
	FROM (VALUES ('f', 'sum'), ('f', 'avg'), ('f', 'min'), ('f', 'max'), ('x', 'sum'), ('x', 'stddev'), ('x', 'var_pop'), ('x', 'variance'), ('x', 'stddev_pop'),
	('l', 'corr'), ('l', 'regr_slope'), ('l', 'regr_intercept'), ('l', 'regr_r2'), ('l', 'regr_sxx'), ('l', 'regr_syy'), ('l', 'regr_sxy'), ('l', 'regr_avgx'), ('l', 'regr_avgy'),
	('l', 'covar_pop'), ('l', 'covar_samp')) v(c, a);
SELECT 'DIFFERENT', same(format('gpubtree_final(%s, %L, NULL::%s)', c, a, t), format('%s(%s)', a, c))
	FROM (VALUES ('i', 'sum', 'bigint'), ('i', 'avg', 'numeric'), ('i', 'stddev', 'numeric'), ('i', 'var_pop', 'numeric'), ('b', 'sum', 'numeric'), ('b', 'variance', 'numeric'),
	('b', 'max', 'bigint'), ('i', 'min', 'int'), ('n', 'sum', 'numeric'), ('n', 'avg', 'numeric'), ('n', 'var_samp', 'numeric'), ('n', 'stddev_pop', 'numeric'), ('n', 'stddev', 'numeric'),
	('n', 'min', 'numeric'), ('n', 'max', 'numeric'), ('r', 'sum', 'real'), ('r', 'avg', 'float8'), ('r', 'max', 'real'), ('x', 'count', 'bigint'), ('n', 'count', 'bigint')) v(c, a, t);
SELECT 'DIFFERENT', same(ours, theirs) FROM (VALUES
	('gpubtree_final_count(v)', 'count(i)'), ('gpubtree_final_distinct(v, ''count'', NULL::bigint)', 'count(DISTINCT i % 50)'), ('gpubtree_final_distinct(v, ''sum'', NULL::bigint)', 'sum(DISTINCT i % 50)'),
	('gpubtree_final_distinct(v, ''avg'', NULL::numeric)', 'avg(DISTINCT i % 50)'), ('gpubtree_final(v, ''sum'', NULL::bigint)', 'sum(i % 50)'), ('gpubtree_final(v, ''max'', NULL::int)', 'max(i % 50)'),
	('gpubtree_final_distinct(nv, ''sum'', NULL::numeric)', 'sum(DISTINCT n)'), ('gpubtree_final(nv, ''avg'', NULL::numeric)', 'avg(n)'), ('gpubtree_final(nv, ''min'', NULL::numeric)', 'min(n)'),
	('gpubtree_final_distinct(xv, ''count'', NULL::bigint), gpubtree_final_distinct(xv, ''sum'')', 'count(DISTINCT x), sum(DISTINCT x)'), ('gpubtree_final(xv, ''sum'')', 'sum(x)'),
	('gpubtree_final_percentile_cont(v, 0.37)', 'percentile_cont(0.37) WITHIN GROUP (ORDER BY i % 50)'),
	('gpubtree_final_percentile_cont(v, ARRAY[0, 0.1, NULL, 0.5, 1])', 'percentile_cont(ARRAY[0, 0.1, NULL, 0.5, 1]) WITHIN GROUP (ORDER BY i % 50)'),
	('gpubtree_final_percentile_cont(nv, 0.5)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY n)'), ('gpubtree_final_percentile_cont(xv, 0.123)', 'percentile_cont(0.123) WITHIN GROUP (ORDER BY x)'),
	('gpubtree_final_percentile_disc(v, 0.3, NULL::int)', 'percentile_disc(0.3) WITHIN GROUP (ORDER BY i % 50)'),
	('gpubtree_final_percentile_disc(w, ARRAY[0, 0.25, NULL, 0.999, 1], NULL::text)', 'percentile_disc(ARRAY[0, 0.25, NULL, 0.999, 1]) WITHIN GROUP (ORDER BY w)'),
	('gpubtree_final_percentile_disc(w, 0.4, NULL::text)', 'percentile_disc(0.4) WITHIN GROUP (ORDER BY w)'),
	('gpubtree_final(v, ''mode'', NULL::int), gpubtree_final(w, ''mode'', NULL::text)', 'mode() WITHIN GROUP (ORDER BY i % 50), mode() WITHIN GROUP (ORDER BY w)'),
	('gpubtree_final(w, ''max'', NULL::text), gpubtree_final(w, ''min'', NULL::text)', 'max(w), min(w)'),
	('gpubtree_final(first, ''first'', NULL::text)', '(array_agg(w ORDER BY t))[1]'), ('gpubtree_final(last, ''last'', NULL::numeric)', '(array_agg(n ORDER BY t DESC))[1]')) v(ours, theirs);
\set ECHO all
-- merged by workers, and merged twice
SELECT serial('SELECT gpubtree_merge(f), gpubtree_merge(xv) FROM hourly') = workers('SELECT gpubtree_merge(f), gpubtree_merge(xv) FROM hourly') AS workers,
	(SELECT gpubtree_merge(m) FROM (SELECT gpubtree_merge(f) AS m FROM hourly GROUP BY date_trunc('month', hour)) q) = (SELECT gpubtree_partial(f) FROM reading) AS twice;
SELECT gpubtree_merge(a, b) = gpubtree_merge(b, a) AND gpubtree_merge(a, b) = (SELECT gpubtree_partial(f) FROM reading) AS both, gpubtree_merge(a, NULL) = a AND gpubtree_merge(NULL, a) = a AS one,
	gpubtree_merge(NULL, NULL) IS NULL AS neither FROM (SELECT gpubtree_partial(f) FILTER (WHERE g < 3) AS a, gpubtree_partial(f) FILTER (WHERE g >= 3) AS b FROM reading) q;
-- values of states of all sizes, which have some in common, are those of the rows; longer than what an entry holds, too
SELECT parts, bool_and(merged = whole) FROM (SELECT parts, gpubtree_merge(i) AS i, gpubtree_merge(w) AS w, gpubtree_merge(n) AS n, gpubtree_merge(id) AS id, gpubtree_merge(f) AS f
		FROM generate_series(1, 4000, 1333) parts, LATERAL (SELECT gpubtree_partial_values(i / 3) AS i, gpubtree_partial_values(w || g || repeat('long', i % 7)) AS w, gpubtree_partial_values(n * 1e20) AS n,
			gpubtree_partial_values(id) AS id, gpubtree_partial_values(f) AS f FROM reading GROUP BY sqrt(abs(hashint4(i + s))::bigint % (parts::bigint * parts))::int ORDER BY hashtext(min(t)::text)) q GROUP BY parts) m,
	(SELECT gpubtree_partial_values(i / 3) AS wi, gpubtree_partial_values(w || g || repeat('long', i % 7)) AS ww, gpubtree_partial_values(n * 1e20) AS wn, gpubtree_partial_values(id) AS wid,
		gpubtree_partial_values(f) AS wf FROM reading) r, LATERAL (VALUES (i, wi), (w, ww), (n, wn), (id, wid), (f, wf)) v(merged, whole) GROUP BY parts ORDER BY parts;
-- what is compared above was made by workers, and by partitions
SET gpubtree.enabled = off; SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT string_agg(DISTINCT substring(p FROM 'Partial|Gather'), ', ') FROM plan('SELECT gpubtree_partial(f), gpubtree_merge(NULL::bytea) FROM reading') p;
RESET ALL;
SET search_path = states, public; SET client_min_messages = warning; SET extra_float_digits = 1;
-- in the order of digits shown, equal values are one
SELECT gpubtree_final_distinct(s, 'count', NULL::bigint), gpubtree_final_distinct(s, 'sum', NULL::numeric), gpubtree_final(s, 'sum', NULL::numeric)
	FROM (SELECT gpubtree_partial_values(v) AS s FROM unnest(ARRAY[1.5, 1.500, 2.50, 1.5]) v) q;
SELECT gpubtree_final_distinct(gpubtree_partial_values(v), 'count', NULL::bigint), gpubtree_final(gpubtree_partial_values(v), 'mode') FROM unnest(ARRAY['NaN', 0.0, '-0', -'NaN'::float8, '0']::float8[]) v;
SELECT gpubtree_final(gpubtree_partial(v), 'sum', NULL::numeric) AS sum, gpubtree_final(gpubtree_partial_variance(v), 'stddev', NULL::numeric) AS stddev, gpubtree_final(gpubtree_partial(v), 'min', NULL::numeric) AS min
	FROM (VALUES (1, 'Infinity'::numeric), (1, 2.0), (2, '-Infinity'), (2, 'Infinity'), (3, '-Infinity'), (3, 1), (4, 1e20), (4, 1e-20)) v(g, v) GROUP BY g ORDER BY g;

--
-- The bytes: those of every server
--
SELECT gpubtree_partial(v) AS float8, gpubtree_partial(v::int) AS integer, gpubtree_partial(v::numeric(6,2)) AS numeric FROM unnest(ARRAY[1.5, -2.25, 1e3]::float8[]) v;
SELECT gpubtree_partial_variance(v) AS variance, gpubtree_partial_regression(v, -v) AS regression FROM unnest(ARRAY[0.1, 'NaN', '-Infinity']::float8[]) v;
SELECT gpubtree_partial_values(v) AS text, gpubtree_partial_values(length(v) - 2) AS integer, gpubtree_partial_last(v, length(v)) AS last FROM unnest(ARRAY['a', 'bcd', 'a', '']) v;

--
-- What is no state is refused, and what to do is said.
--
SELECT gpubtree_final('\x', 'sum');
SELECT gpubtree_final('\x02010600', 'sum');
SELECT gpubtree_final('\x010906', 'sum');
SELECT gpubtree_final('\x010163', 'sum');
SELECT gpubtree_final('\x010108', 'sum');
SELECT gpubtree_final('\x010e0e', 'sum');
SELECT gpubtree_merge('\x01040e3f');
SELECT gpubtree_merge('\x01040e0801');
SELECT gpubtree_merge('\x010403ffffffffffffffff7f');
SELECT gpubtree_final_count(gpubtree_partial(1) || '\x00');
SELECT gpubtree_final(substring(gpubtree_partial(1.5::float8) FROM 1 FOR 20), 'sum');
SELECT gpubtree_merge(s) FROM (SELECT NULL::bytea AS s UNION ALL SELECT gpubtree_partial(1) UNION ALL SELECT gpubtree_partial(2::bigint)) q;
SELECT gpubtree_final(gpubtree_partial(1::float8), 'stddev');
SELECT gpubtree_final(gpubtree_partial(1::float8), 'median');
SELECT gpubtree_final(gpubtree_partial(1::float8), 'sum', NULL::int);
SELECT gpubtree_final_distinct(gpubtree_partial(1), 'count');
SELECT gpubtree_final(gpubtree_partial_values('a'::text), 'sum');
SELECT gpubtree_final_percentile_cont(gpubtree_partial_values('a'::text), 0.5);
SELECT gpubtree_final_percentile_disc(gpubtree_partial_values(1), 1.5);
SELECT gpubtree_partial_values(ARRAY[1]);
SELECT gpubtree_partial_first(1, 'a'::text);
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT gpubtree_partial_values('a'::text COLLATE loose);
-- what says the same in another form, or what no values add up to; each differs in a part from a state that is one
CREATE FUNCTION refusal(s bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM gpubtree_merge(x) FROM (VALUES (s)) v(x);
	RETURN 'none';
EXCEPTION WHEN invalid_binary_representation THEN
	RETURN sqlerrm;
END $$;
SELECT what, refusal(decode(hex, 'hex')) FROM (VALUES
	('1.5', '010106013ff80000000000003ff800000000000008210100060000'), ('a limb of the sign more', '010106013ff80000000000003ff80000000000000821020006000000000000'),
	('a limb of zeros first', '010106013ff80000000000003ff80000000000000820020000000000060000'), ('no limb', '010106013ff80000000000003ff8000000000000082100'),
	('beyond the last limb', '010106013ff80000000000003ff800000000000008440100060000'), ('two NaNs of one value', '010106017fffffffffffffff7fffffffffffffff0102'),
	('bounds in the wrong order', '010106014ff80000000000003ff800000000000008210100060000'), ('a float8 as float4', '010105013ff80000000000013ff800000000000108210100060000'),
	('integer 1', '010103010000000000000000000000000000000100000000000000010000000000000001'), ('with sum 2', '010103010000000000000000000000000000000200000000000000010000000000000001'),
	('a smallint of 2^15', '010102010000000000000000000000000000800000000000000080000000000000008000'), ('no value', '010103000000000000000000000000000000000000000000000000010000000000000001'),
	('squares below 0', '010204010000000000000000000000000000000100000000000000010000000000000001ffffffffffffffff00000000000000000000000000000001'),
	('count in two bytes', '0101038100000000000000000000000000000000010000000000000001000000000000000100'),
	('numeric 1.5', '0101070100000200000000000100011388000200000000000100011388000200000000000100011388'), ('a digit of zeros more', '0101070100000200000000000100011388000200000000000100011388000300000000000500011388' || '0000'),
	('a sign of none', '0101070100000200001000000100011388000200000000000100011388000200000000000100011388'), ('bounds that say NaN', '0101070101000200000000000100011388000200000000000100011388'),
	('true', '010401018101'), ('2 as boolean', '010401018201'), ('twice', '0104010281018101'), ('no time', '010401018100'), ('behind the last day', '01040901800000141dd7600101'),
	('first', '01050303800000020080000001'), ('NULL twice', '01050303800000020280000001')) v(what, hex);
-- the largest count, twice
SELECT gpubtree_final_count(s) FROM unnest(ARRAY['\x0104010181ffffffffffffffff7f']::bytea[]) s;
SELECT gpubtree_final_count(gpubtree_merge(s)) FROM unnest(ARRAY['\x0104010181ffffffffffffffff7f', '\x0104010181ffffffffffffffff7f']::bytea[]) s;

-- Whatever is done to states: an error of bytes, or a state in its only form that says what it says.
\set ECHO none
CREATE FUNCTION asked(s bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	what text;
BEGIN
	IF (SELECT gpubtree_merge(x) IS DISTINCT FROM s FROM (VALUES (s)) v(x)) THEN
		RETURN 'NOT IN ITS FORM: ' || s;
	END IF;
	FOREACH what IN ARRAY ARRAY['gpubtree_final($1, ''sum'')', 'gpubtree_final($1, ''avg'', NULL::numeric)', 'gpubtree_final($1, ''stddev'')', 'gpubtree_final($1, ''stddev'', NULL::numeric)',
		'gpubtree_final($1, ''corr'')', 'gpubtree_final($1, ''regr_intercept'')', 'gpubtree_final($1, ''mode'', NULL::text)', 'gpubtree_final($1, ''max'', NULL::date)',
		'gpubtree_final($1, ''mode'', NULL::timestamptz)', 'gpubtree_final_distinct($1, ''sum'')', 'gpubtree_final_percentile_cont($1, ARRAY[0, 0.1, 1])',
		'gpubtree_final(gpubtree_merge(x), ''avg'') FROM unnest(ARRAY[$1, $1, $1]) x'] LOOP
		BEGIN
			EXECUTE 'SELECT ' || what USING s;
		EXCEPTION WHEN datatype_mismatch OR numeric_value_out_of_range THEN NULL;
		END;
	END LOOP;
	RETURN 'a state';
END $$;
CREATE FUNCTION tried(s bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN asked(s);
EXCEPTION WHEN invalid_binary_representation OR feature_not_supported THEN
	RETURN 'refused';
END $$;
-- n times a byte is set, added, taken away, or the rest becomes that of another state
CREATE FUNCTION changed(s bytea, other bytea) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
	at int;
	byte bytea;
BEGIN
	FOR i IN 1..1 + (random() * random() * 3)::int LOOP
		at := random() * (octet_length(s) - 1);
		byte := set_byte('\x00', 0, CASE WHEN random() < 0.5 THEN (random() * 255)::int ELSE (ARRAY[0, 1, 2, 127, 128, 254, 255])[1 + (random() * 6)::int] END);
		s := CASE (random() * 6)::int
			WHEN 0 THEN substring(s FROM 1 FOR at)
			WHEN 1 THEN s || byte
			WHEN 2 THEN substring(s FROM 1 FOR at) || byte || substring(s FROM at + 1)
			WHEN 3 THEN substring(s FROM 1 FOR at) || substring(s FROM at + 2)
			WHEN 4 THEN substring(s FROM 1 FOR at) || substring(other FROM at + 1)
			ELSE overlay(s PLACING byte FROM at + 1 FOR 1) END;
		EXIT WHEN octet_length(s) = 0;
	END LOOP;
	RETURN s;
END $$;
CREATE TABLE state AS SELECT s FROM generate_series(-5, 9) v, (SELECT 1) one, LATERAL (SELECT NULL::bytea AS s) n WHERE false;
INSERT INTO state SELECT unnest(ARRAY[gpubtree_partial(v::smallint), gpubtree_partial(v), gpubtree_partial_variance(v::bigint * 1000000000000), gpubtree_partial(v / 3.0::float8), gpubtree_partial(v::real / 3),
		gpubtree_partial_variance(1e300 * v / v), gpubtree_partial_regression(v * 0.1, v), gpubtree_partial(v / 3.0), gpubtree_partial_variance(v * 1.10), gpubtree_partial_values(v), gpubtree_partial_values(v * 0.10),
		gpubtree_partial_values(v::real), gpubtree_partial_values(v::float8), gpubtree_partial_values('x' || v || repeat('ä', abs(v))), gpubtree_partial_values(date '2024-01-01' + v),
		gpubtree_partial_values(timestamptz '2024-01-01' + v * interval '1 hour'), gpubtree_partial_values(v > 0), gpubtree_partial_values(md5(v::text)::uuid),
		gpubtree_partial_first('a' || v, v), gpubtree_partial_last(v, v * 1.5), gpubtree_partial_last(NULL::int, date '2024-01-01' + v)]) FROM generate_series(-5, 9) v WHERE v <> 0;
INSERT INTO state SELECT unnest(ARRAY[gpubtree_partial_variance(v), gpubtree_partial_variance(v::numeric)]) FROM unnest(ARRAY['Infinity', '-Infinity', 'NaN', 1e300, 5e-324, '-0']::float8[]) v;
SELECT 'seed' FROM (SELECT setseed(coalesce(current_setting('states.seed', true)::float8, 0.5))) q;
SELECT what, count(*) > 0 FROM (SELECT tried(s) AS what FROM state) q GROUP BY 1;
SELECT what, count(*) > 0 FROM (SELECT tried(changed(a.s, b.s)) AS what FROM state a, state b, generate_series(1, coalesce(current_setting('states.rounds', true)::int, 4)) OFFSET 0) q GROUP BY 1 ORDER BY 1;
