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
