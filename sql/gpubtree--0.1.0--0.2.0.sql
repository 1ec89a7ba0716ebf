/* sql/gpubtree--0.1.0--0.2.0.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION gpubtree UPDATE" to load this file. \quit

-- What 0.2.0 adds.  CREATE EXTENSION runs 0.1.0's script and then this one, so that what is here
-- stands nowhere else, and who updates gets what a new database has.

-- The library is looked for along dynamic_library_path, and not in the server's folder alone.
UPDATE pg_catalog.pg_proc SET probin = 'MODULE_PATHNAME'
WHERE probin = '$libdir/gpubtree' AND oid IN (
	SELECT objid FROM pg_catalog.pg_depend
	WHERE deptype = 'e' AND classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND
		refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND refobjid = (
			SELECT oid FROM pg_catalog.pg_extension WHERE extname = 'gpubtree'));

--
-- Partial states: what an aggregate knows of some rows, as a value that can be kept, sent, and
-- merged with others
--

CREATE FUNCTION gpubtree_sums_step(internal, anyelement)
RETURNS internal
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_sums_step(internal, anyelement) IS
	'take a value into a partial state of sums';

CREATE FUNCTION gpubtree_moments_step(internal, anyelement)
RETURNS internal
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_moments_step(internal, anyelement) IS
	'take a value into a partial state of sums and squares';

CREATE FUNCTION gpubtree_pairs_step(internal, double precision, double precision)
RETURNS internal
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_pairs_step(internal, double precision, double precision) IS
	'take a pair into a partial state of pairs';

CREATE FUNCTION gpubtree_values_step(internal, anyelement)
RETURNS internal
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_values_step(internal, anyelement) IS
	'take a value into a partial state of values';

CREATE FUNCTION gpubtree_first_step(internal, anyelement, anycompatible)
RETURNS internal
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_first_step(internal, anyelement, anycompatible) IS
	'take a row into the partial state of the first value';

CREATE FUNCTION gpubtree_last_step(internal, anyelement, anycompatible)
RETURNS internal
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_last_step(internal, anyelement, anycompatible) IS
	'take a row into the partial state of the last value';

CREATE FUNCTION gpubtree_merge_step(internal, bytea)
RETURNS internal
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_merge_step(internal, bytea) IS
	'merge a partial state into another';

CREATE FUNCTION gpubtree_state_combine(internal, internal)
RETURNS internal
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_state_combine(internal, internal) IS
	'merge the partial states of two processes';

CREATE FUNCTION gpubtree_state_write(internal)
RETURNS bytea
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_state_write(internal) IS
	'a partial state as bytes';

CREATE FUNCTION gpubtree_state_read(bytea, internal)
RETURNS internal
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_state_read(bytea, internal) IS
	'the partial state of bytes';

-- Aggregates that differ in the types of their values alone
DO LANGUAGE plpgsql $$
DECLARE
	value text;
	name text;
	step text;
	what text;
BEGIN
	FOREACH value IN ARRAY ARRAY['smallint', 'integer', 'bigint', 'real', 'double precision', 'numeric'] LOOP
		FOR name, step, what IN VALUES
			('gpubtree_partial', 'gpubtree_sums_step', 'count, exact sum, least and greatest'),
			('gpubtree_partial_variance', 'gpubtree_moments_step',
				'count, exact sums of values and of squares, least and greatest')
		LOOP
			EXECUTE format('CREATE AGGREGATE %s(%s) (
				SFUNC = %s,
				STYPE = internal,
				FINALFUNC = gpubtree_state_write,
				COMBINEFUNC = gpubtree_state_combine,
				SERIALFUNC = gpubtree_state_write,
				DESERIALFUNC = gpubtree_state_read,
				PARALLEL = SAFE)', name, value, step);
			EXECUTE format('COMMENT ON AGGREGATE %s(%s) IS %L', name, value, 'partial state: ' || what);
		END LOOP;
	END LOOP;
END $$;

CREATE AGGREGATE gpubtree_partial_regression(double precision, double precision) (
	SFUNC = gpubtree_pairs_step,
	STYPE = internal,
	FINALFUNC = gpubtree_state_write,
	COMBINEFUNC = gpubtree_state_combine,
	SERIALFUNC = gpubtree_state_write,
	DESERIALFUNC = gpubtree_state_read,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpubtree_partial_regression(double precision, double precision) IS
	'partial state: count and exact sums of pairs (y, x)';

CREATE AGGREGATE gpubtree_partial_values(anyelement) (
	SFUNC = gpubtree_values_step,
	STYPE = internal,
	FINALFUNC = gpubtree_state_write,
	COMBINEFUNC = gpubtree_state_combine,
	SERIALFUNC = gpubtree_state_write,
	DESERIALFUNC = gpubtree_state_read,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpubtree_partial_values(anyelement) IS
	'partial state: each value and how often it occurs';

CREATE AGGREGATE gpubtree_partial_first(anyelement, anycompatible) (
	SFUNC = gpubtree_first_step,
	STYPE = internal,
	FINALFUNC = gpubtree_state_write,
	COMBINEFUNC = gpubtree_state_combine,
	SERIALFUNC = gpubtree_state_write,
	DESERIALFUNC = gpubtree_state_read,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpubtree_partial_first(anyelement, anycompatible) IS
	'partial state: the value where the second argument is the least';

CREATE AGGREGATE gpubtree_partial_last(anyelement, anycompatible) (
	SFUNC = gpubtree_last_step,
	STYPE = internal,
	FINALFUNC = gpubtree_state_write,
	COMBINEFUNC = gpubtree_state_combine,
	SERIALFUNC = gpubtree_state_write,
	DESERIALFUNC = gpubtree_state_read,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpubtree_partial_last(anyelement, anycompatible) IS
	'partial state: the value where the second argument is the greatest';

CREATE AGGREGATE gpubtree_merge(bytea) (
	SFUNC = gpubtree_merge_step,
	STYPE = internal,
	FINALFUNC = gpubtree_state_write,
	COMBINEFUNC = gpubtree_state_combine,
	SERIALFUNC = gpubtree_state_write,
	DESERIALFUNC = gpubtree_state_read,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE gpubtree_merge(bytea) IS
	'merge partial states to one';

CREATE FUNCTION gpubtree_merge(state bytea, other bytea)
RETURNS bytea
AS 'MODULE_PATHNAME', 'gpubtree_merge_two'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_merge(bytea, bytea) IS
	'merge two partial states to one';

CREATE FUNCTION gpubtree_final_count(state bytea)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_final_count(bytea) IS
	'number of values in a partial state';

CREATE FUNCTION gpubtree_final(state bytea, aggregate text,
	result anyelement DEFAULT NULL::double precision)
RETURNS anyelement
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_final(bytea, text, anyelement) IS
	'result of an aggregate, by a partial state';

CREATE FUNCTION gpubtree_final_distinct(state bytea, aggregate text,
	result anyelement DEFAULT NULL::double precision)
RETURNS anyelement
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_final_distinct(bytea, text, anyelement) IS
	'result of an aggregate with DISTINCT, by a partial state of values';

CREATE FUNCTION gpubtree_final_percentile_cont(state bytea, fraction double precision)
RETURNS double precision
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_final_percentile_cont(bytea, double precision) IS
	'continuous percentile, by a partial state of values';

CREATE FUNCTION gpubtree_final_percentile_cont(state bytea, fractions double precision[])
RETURNS double precision[]
AS 'MODULE_PATHNAME', 'gpubtree_final_percentiles_cont'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_final_percentile_cont(bytea, double precision[]) IS
	'continuous percentiles, by a partial state of values';

CREATE FUNCTION gpubtree_final_percentile_disc(state bytea, fraction double precision,
	result anyelement DEFAULT NULL::double precision)
RETURNS anyelement
AS 'MODULE_PATHNAME'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_final_percentile_disc(bytea, double precision, anyelement) IS
	'discrete percentile, by a partial state of values';

CREATE FUNCTION gpubtree_final_percentile_disc(state bytea, fractions double precision[],
	result anyelement DEFAULT NULL::double precision)
RETURNS anyarray
AS 'MODULE_PATHNAME', 'gpubtree_final_percentiles_disc'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_final_percentile_disc(bytea, double precision[], anyelement) IS
	'discrete percentiles, by a partial state of values';
-- Mirrors say on which device they are, and of how much of their index.
DROP VIEW gpubtree_mirrors;
DROP FUNCTION gpubtree_mirrors();

CREATE FUNCTION gpubtree_mirrors(
	OUT database oid,
	OUT index oid,
	OUT relfilenode oid,
	OUT state text,
	OUT blocks bigint,
	OUT leaves bigint,
	OUT memory_bytes bigint,
	OUT changed_blocks bigint,
	OUT epoch bigint,
	OUT last_used timestamptz,
	OUT refreshes bigint,
	OUT mode text,
	OUT stale_moves bigint,
	OUT cpu_share double precision,
	OUT device integer,
	OUT share double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_mirrors() IS
	'mirrors of all databases';

CREATE VIEW gpubtree_mirrors AS
	SELECT d.datname AS database,
		CASE WHEN d.datname = current_database()
			THEN m.index::regclass END AS index,
		m.index AS index_oid,
		m.relfilenode,
		m.state,
		m.blocks,
		m.leaves,
		m.memory_bytes,
		m.changed_blocks,
		m.epoch,
		m.last_used,
		m.refreshes,
		m.mode,
		m.stale_moves,
		m.cpu_share,
		m.device,
		m.share
	FROM gpubtree_mirrors() m
		LEFT JOIN pg_catalog.pg_database d ON d.oid = m.database;
COMMENT ON VIEW gpubtree_mirrors IS
	'mirrors of all databases; index is null for those of another database, device is the ordinal in gpubtree_device';
GRANT SELECT ON gpubtree_mirrors TO PUBLIC;

COMMENT ON FUNCTION gpubtree_device() IS
	'the devices that serve mirrors';
COMMENT ON VIEW gpubtree_device IS
	'the devices that serve mirrors, one row each';
