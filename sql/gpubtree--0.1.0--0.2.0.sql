/* sql/gpubtree--0.1.0--0.2.0.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION gpubtree UPDATE" to load this file. \quit

-- What 0.2.0 adds.  CREATE EXTENSION runs 0.1.0's script and then this one, so that what is here
-- stands nowhere else, and who updates gets what a new database has.

-- Mirrors say on which device they are.
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
	OUT device integer)
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
		m.device
	FROM gpubtree_mirrors() m
		LEFT JOIN pg_catalog.pg_database d ON d.oid = m.database;
COMMENT ON VIEW gpubtree_mirrors IS
	'mirrors of all databases; index is null for those of another database, device is the ordinal in gpubtree_device';
GRANT SELECT ON gpubtree_mirrors TO PUBLIC;

COMMENT ON FUNCTION gpubtree_device() IS
	'the devices that serve mirrors';
COMMENT ON VIEW gpubtree_device IS
	'the devices that serve mirrors, one row each';
