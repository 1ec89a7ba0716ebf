-- Citus's shard queries, as text: what its workers are asked for is answered by a node.
--
-- Of aggregates with a combine function that it does not take apart Citus asks for transition states,
-- by worker_partial_agg() and worker_binary_partial_agg() (compile/worker_aggregate.c).  These are stand-ins,
-- written from its sources: a state as text, made by the aggregate's own transition function.  What
-- SQL cannot have, a state of type internal, has no stand-in: there the node alone answers.
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET gpubtree.enable_scan = off;
SET allow_system_table_mods = on;
CREATE FUNCTION stand_in(state text, aggregate oid, value anyelement) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	known pg_aggregate := (SELECT a FROM pg_aggregate a WHERE aggfnoid = aggregate);
	is_strict bool := (SELECT proisstrict FROM pg_proc WHERE oid = known.aggtransfn);
	arguments text[] := CASE WHEN pg_typeof(value) = 'record'::regtype
		THEN ARRAY(SELECT v FROM json_each_text(to_json(value)) AS f(k, v)) ELSE ARRAY[value::text] END;
	types oid[] := (SELECT proargtypes FROM pg_proc WHERE oid = aggregate);
	result text;
BEGIN
	state := coalesce(state, known.agginitval);
	IF is_strict AND array_position(arguments, NULL) > 0 THEN RETURN state; END IF;
	IF is_strict AND state IS NULL THEN RETURN arguments[1]; END IF;
	EXECUTE format('SELECT %s(%L::%s%s)::text', known.aggtransfn::regproc, state, format_type(known.aggtranstype, NULL),
		(SELECT string_agg(format(', %L::%s', a, format_type(t, NULL)), '') FROM unnest(arguments, types) AS q(a, t))) INTO result;
	RETURN result;
END $$;
CREATE AGGREGATE pg_catalog.worker_partial_agg(oid, anyelement) (SFUNC = stand_in, STYPE = text, FINALFUNC = textout);
CREATE AGGREGATE pg_catalog.worker_binary_partial_agg(oid, anyelement) (SFUNC = stand_in, STYPE = text, FINALFUNC = textsend);
-- states of type internal, as core's own serial functions write them
CREATE AGGREGATE core_state(int2) (SFUNC = int2_accum, STYPE = internal, FINALFUNC = numeric_poly_serialize);
CREATE AGGREGATE core_state(int4) (SFUNC = int4_accum, STYPE = internal, FINALFUNC = numeric_poly_serialize);
CREATE AGGREGATE core_state(int8) (SFUNC = int8_accum, STYPE = internal, FINALFUNC = numeric_serialize);

-- a shard
CREATE TABLE readings_102008 (at timestamptz, sensor text, value float8, other float8, small float4, number int4, few int2, many int8);
INSERT INTO readings_102008
	SELECT timestamptz '2026-01-01' + i * interval '1 minute', 's' || i % 5, CASE WHEN i % 16 < 12 THEN i % 2 * 4 END, CASE WHEN i % 3 > 0 THEN i % 2 END,
		i % 2 * 2, nullif(i % 500 * 14 - 3000, 11), i % 100 - 50, i * 123456789012::int8 - 200000000000000
	FROM generate_series(1, 800) i;
CREATE INDEX ON readings_102008 USING gpubtree (at) INCLUDE (sensor, value, other, small, number, few, many);
VACUUM ANALYZE readings_102008;

CREATE FUNCTION node_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Custom Scan' THEN RETURN substring(line FROM 'Gpubtree\w+'); END IF;
	END LOOP;
	RETURN 'no node';
END $$;
-- The query by a node must be what the stand-in makes of it, or this one of core's; of floats, whose last
-- digits depend on the order in which core adds, ten digits behind the point.
CREATE FUNCTION same(query text, other text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	node text := node_of(query);
	ours text;
	core text;
	all_of text := 'SELECT string_agg(r, '';'' ORDER BY r COLLATE "C") FROM (SELECT regexp_replace(q::text, ''(\.\d{10})\d+'', ''\1'', ''g'') AS r FROM (%s) q) x';
BEGIN
	EXECUTE format(all_of, query) INTO ours;
	PERFORM set_config('gpubtree.enabled', 'off', true);
	EXECUTE format(all_of, coalesce(other, query)) INTO core;
	PERFORM set_config('gpubtree.enabled', 'on', true);
	RETURN node || CASE WHEN ours IS NOT DISTINCT FROM core THEN ', the same' ELSE E'\n' || ours || E'\n' || core END;
END $$;

-- What Citus takes apart, or sends as it is
SELECT same('SELECT count(*) AS count, sum(number) AS sum, min(value) AS min, max(value) AS max FROM public.readings_102008 readings WHERE true');
SELECT same($$SELECT sensor, sum(value) AS avg, count(value) AS avg, bit_and(number), bool_or(number > 0) FROM public.readings_102008 readings WHERE (at OPERATOR(pg_catalog.>=) '2026-01-02 00:00:00+00'::timestamp with time zone) GROUP BY sensor$$);
SELECT same($$SELECT count(DISTINCT sensor) AS count FROM public.readings_102008 readings WHERE true$$);
SELECT same($$SELECT date_trunc('hour'::text, at) AS worker_column_1, sum(number) FROM public.readings_102008 readings WHERE true GROUP BY (date_trunc('hour'::text, at))$$);

-- What it asks for by states
-- Of pairs 19 has states of eight numbers, of which two are of no answer: they are left to Citus there,
-- as expected if no node is said.
SELECT agginitval <> '{0,0,0,0,0,0}' AS eight FROM pg_aggregate WHERE aggfnoid = 'corr(float8, float8)'::regprocedure \gset
CREATE TEMP TABLE asked (aggregate text, argument text, type text);
INSERT INTO asked VALUES ('stddev(double precision)', 'value', 'float8[]'), ('variance(double precision)', 'value * 2', 'float8[]'), ('stddev_pop(real)', 'small', 'float8[]'),
	('corr(double precision,double precision)', 'ROW(value, other)', 'float8[]'), ('regr_slope(double precision,double precision)', 'ROW(other, value)', 'float8[]'),
	('regr_avgx(double precision,double precision)', 'ROW(value, other)', 'float8[]'), ('regr_count(double precision,double precision)', 'ROW(value, other)', 'int8'), ('bit_xor(integer)', 'number', 'int4');
SELECT aggregate, replace(same(format('SELECT worker_partial_agg(%L::regprocedure, %s) AS x FROM public.readings_102008 readings WHERE true', aggregate, argument)), other, 'GpubtreeAggregate') AS text,
	replace(same(format('SELECT sensor, worker_partial_agg(%L::regprocedure, %s) FILTER (WHERE (few OPERATOR(pg_catalog.>) 40)) AS x FROM public.readings_102008 readings GROUP BY sensor', aggregate, argument)), other, 'GpubtreeAggregate') AS groups
FROM asked, LATERAL (SELECT CASE WHEN :'eight' AND argument ~ 'ROW' AND type = 'float8[]' THEN 'no node' ELSE '' END) AS o(other);
-- and as bytes: those of the text
CREATE FUNCTION bytes_of(query text, type text) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
	state text;
	result bytea;
BEGIN
	EXECUTE query INTO state;
	EXECUTE format('SELECT %s(%L::%s)', CASE type WHEN 'float8[]' THEN 'array_send' ELSE type || 'send' END, state, type) INTO result;
	RETURN result;
END $$;
SELECT aggregate, CASE WHEN :'eight' AND argument ~ 'ROW' AND type = 'float8[]' THEN 'GpubtreeAggregate, the same' ELSE
	same(format('SELECT worker_binary_partial_agg(%L::regprocedure, %s) AS x FROM public.readings_102008 readings WHERE true', aggregate, argument),
	format('SELECT %L::bytea', bytes_of(format('SELECT worker_partial_agg(%L::regprocedure, %s) FROM readings_102008', aggregate, argument), type))) END AS bytes
FROM asked;

-- States of type internal, which have bytes alone
-- (since 19 of int2 and int4 in another form, which is left to Citus too)
SELECT aggregate, argument, condition, CASE WHEN :'eight' AND argument !~ 'many' THEN replace(node_of(query), 'no node', 'GpubtreeAggregate, the same')
	ELSE same(query, format('SELECT core_state(%s) FROM readings_102008 WHERE %s', argument, condition)) END AS bytes
FROM (VALUES ('stddev(integer)', 'number'), ('var_pop(smallint)', 'few'), ('variance(bigint)', 'many'), ('stddev(integer)', 'number * 10000'), ('stddev(bigint)', 'many * 10000'), ('stddev(integer)', 'number - number')) AS q(aggregate, argument),
	(VALUES ('true'), ('number > 2000'), ('at < ''2000-01-01'''), ('number IS NULL')) AS c(condition),
	LATERAL (SELECT format('SELECT worker_binary_partial_agg(%L::regprocedure, %s) AS x FROM public.readings_102008 readings WHERE %s', aggregate, argument, condition)) AS a(query);
SELECT same($$SELECT sensor, worker_binary_partial_agg('stddev(bigint)'::regprocedure, many) AS x FROM public.readings_102008 readings GROUP BY sensor$$,
	'SELECT sensor, core_state(many) FROM readings_102008 GROUP BY sensor');

-- No rows: the initial value, which the stand-in cannot know; and floats that are not finite
SELECT worker_partial_agg('stddev(double precision)'::regprocedure, value) AS stddev,
	worker_partial_agg('bit_xor(integer)'::regprocedure, number) AS bit_xor, worker_partial_agg('regr_count(double precision,double precision)'::regprocedure, ROW(value, other)) AS regr_count
	FROM readings_102008 WHERE at < '2000-01-01';
SELECT coalesce(worker_partial_agg('corr(double precision,double precision)'::regprocedure, ROW(value, other))::text, CASE WHEN :'eight' THEN '{0,0,0,0,0,0}' END) AS corr
	FROM readings_102008 WHERE at < '2000-01-01';
CREATE TABLE odd_102009 (k int4, x float8);
INSERT INTO odd_102009 SELECT 1, unnest('{1, Infinity, 2}'::float8[]) UNION ALL SELECT 2, unnest('{NaN, 3}'::float8[]) UNION ALL SELECT 3, unnest('{Infinity, -Infinity}'::float8[])
	UNION ALL SELECT 4, '-0' UNION ALL SELECT 5, NULL;
CREATE INDEX ON odd_102009 USING gpubtree (k) INCLUDE (x);
VACUUM ANALYZE odd_102009;
SELECT same('SELECT k, worker_partial_agg(''stddev(double precision)''::regprocedure, x) AS x FROM odd_102009 GROUP BY k');

-- What is refused: states that no answer tells, or that Citus does not ask for
SELECT aggregate, node_of(format('SELECT %s FROM readings_102008', aggregate))
FROM (VALUES ('worker_partial_agg(''sum(double precision)''::regprocedure, value)'),
	('worker_binary_partial_agg(''stddev(numeric)''::regprocedure, many::numeric)'),
	('worker_binary_partial_agg(''stddev(integer)''::regprocedure, number) FILTER (WHERE few > 0)'),
	('worker_partial_agg(''stddev(integer)''::regprocedure, number)'),
	('worker_partial_agg(''stddev(double precision)''::regprocedure, number)'),
	('worker_partial_agg(DISTINCT ''stddev(double precision)''::regprocedure, value)'),
	('worker_partial_agg(few::int4::oid, value)')) AS q(aggregate);
DROP TABLE readings_102008, odd_102009, asked;
DROP AGGREGATE pg_catalog.worker_partial_agg(oid, anyelement), pg_catalog.worker_binary_partial_agg(oid, anyelement), core_state(int2), core_state(int4), core_state(int8);
DROP FUNCTION stand_in(text, oid, anyelement), same(text, text), node_of(text), bytes_of(text, text);
