/* sql/gpubtree--0.1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION gpubtree" to load this file. \quit

--
-- The access method
--

CREATE FUNCTION gpubtree_handler(internal)
RETURNS index_am_handler
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT;
COMMENT ON FUNCTION gpubtree_handler(internal) IS
	'handler of the index access method gpubtree';

CREATE ACCESS METHOD gpubtree TYPE INDEX HANDLER gpubtree_handler;
COMMENT ON ACCESS METHOD gpubtree IS
	'ordered index that is mirrored in GPU memory';

--
-- Operator families.  Each holds every operator of the btree family of the same
-- name: with fewer, the planner would no longer see the two families' "="
-- as one, and plan unrelated queries worse.
--

CREATE OPERATOR FAMILY integer_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY integer_ops USING gpubtree IS
	'smallint, integer and bigint, compared with each other';

CREATE OPERATOR CLASS int2_ops
	DEFAULT FOR TYPE int2 USING gpubtree FAMILY integer_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 btint2cmp (int2, int2);
COMMENT ON OPERATOR CLASS int2_ops USING gpubtree IS
	'int2 keys in ascending order';

CREATE OPERATOR CLASS int4_ops
	DEFAULT FOR TYPE int4 USING gpubtree FAMILY integer_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 btint4cmp (int4, int4);
COMMENT ON OPERATOR CLASS int4_ops USING gpubtree IS
	'int4 keys in ascending order';

CREATE OPERATOR CLASS int8_ops
	DEFAULT FOR TYPE int8 USING gpubtree FAMILY integer_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 btint8cmp (int8, int8);
COMMENT ON OPERATOR CLASS int8_ops USING gpubtree IS
	'int8 keys in ascending order';

ALTER OPERATOR FAMILY integer_ops USING gpubtree ADD
	OPERATOR 1 < (int2, int4),
	OPERATOR 2 <= (int2, int4),
	OPERATOR 3 = (int2, int4),
	OPERATOR 4 >= (int2, int4),
	OPERATOR 5 > (int2, int4),
	FUNCTION 1 (int2, int4) btint24cmp (int2, int4),
	OPERATOR 1 < (int2, int8),
	OPERATOR 2 <= (int2, int8),
	OPERATOR 3 = (int2, int8),
	OPERATOR 4 >= (int2, int8),
	OPERATOR 5 > (int2, int8),
	FUNCTION 1 (int2, int8) btint28cmp (int2, int8),
	OPERATOR 1 < (int4, int2),
	OPERATOR 2 <= (int4, int2),
	OPERATOR 3 = (int4, int2),
	OPERATOR 4 >= (int4, int2),
	OPERATOR 5 > (int4, int2),
	FUNCTION 1 (int4, int2) btint42cmp (int4, int2),
	OPERATOR 1 < (int4, int8),
	OPERATOR 2 <= (int4, int8),
	OPERATOR 3 = (int4, int8),
	OPERATOR 4 >= (int4, int8),
	OPERATOR 5 > (int4, int8),
	FUNCTION 1 (int4, int8) btint48cmp (int4, int8),
	OPERATOR 1 < (int8, int2),
	OPERATOR 2 <= (int8, int2),
	OPERATOR 3 = (int8, int2),
	OPERATOR 4 >= (int8, int2),
	OPERATOR 5 > (int8, int2),
	FUNCTION 1 (int8, int2) btint82cmp (int8, int2),
	OPERATOR 1 < (int8, int4),
	OPERATOR 2 <= (int8, int4),
	OPERATOR 3 = (int8, int4),
	OPERATOR 4 >= (int8, int4),
	OPERATOR 5 > (int8, int4),
	FUNCTION 1 (int8, int4) btint84cmp (int8, int4);

CREATE OPERATOR FAMILY datetime_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY datetime_ops USING gpubtree IS
	'date, timestamp and timestamptz, compared with each other';

CREATE OPERATOR CLASS date_ops
	DEFAULT FOR TYPE date USING gpubtree FAMILY datetime_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 date_cmp (date, date);
COMMENT ON OPERATOR CLASS date_ops USING gpubtree IS
	'date keys in ascending order';

CREATE OPERATOR CLASS timestamp_ops
	DEFAULT FOR TYPE timestamp USING gpubtree FAMILY datetime_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 timestamp_cmp (timestamp, timestamp);
COMMENT ON OPERATOR CLASS timestamp_ops USING gpubtree IS
	'timestamp keys in ascending order';

CREATE OPERATOR CLASS timestamptz_ops
	DEFAULT FOR TYPE timestamptz USING gpubtree FAMILY datetime_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 timestamptz_cmp (timestamptz, timestamptz);
COMMENT ON OPERATOR CLASS timestamptz_ops USING gpubtree IS
	'timestamptz keys in ascending order';

ALTER OPERATOR FAMILY datetime_ops USING gpubtree ADD
	OPERATOR 1 < (date, timestamp),
	OPERATOR 2 <= (date, timestamp),
	OPERATOR 3 = (date, timestamp),
	OPERATOR 4 >= (date, timestamp),
	OPERATOR 5 > (date, timestamp),
	FUNCTION 1 (date, timestamp) date_cmp_timestamp (date, timestamp),
	OPERATOR 1 < (date, timestamptz),
	OPERATOR 2 <= (date, timestamptz),
	OPERATOR 3 = (date, timestamptz),
	OPERATOR 4 >= (date, timestamptz),
	OPERATOR 5 > (date, timestamptz),
	FUNCTION 1 (date, timestamptz) date_cmp_timestamptz (date, timestamptz),
	OPERATOR 1 < (timestamp, date),
	OPERATOR 2 <= (timestamp, date),
	OPERATOR 3 = (timestamp, date),
	OPERATOR 4 >= (timestamp, date),
	OPERATOR 5 > (timestamp, date),
	FUNCTION 1 (timestamp, date) timestamp_cmp_date (timestamp, date),
	OPERATOR 1 < (timestamp, timestamptz),
	OPERATOR 2 <= (timestamp, timestamptz),
	OPERATOR 3 = (timestamp, timestamptz),
	OPERATOR 4 >= (timestamp, timestamptz),
	OPERATOR 5 > (timestamp, timestamptz),
	FUNCTION 1 (timestamp, timestamptz) timestamp_cmp_timestamptz (timestamp, timestamptz),
	OPERATOR 1 < (timestamptz, date),
	OPERATOR 2 <= (timestamptz, date),
	OPERATOR 3 = (timestamptz, date),
	OPERATOR 4 >= (timestamptz, date),
	OPERATOR 5 > (timestamptz, date),
	FUNCTION 1 (timestamptz, date) timestamptz_cmp_date (timestamptz, date),
	OPERATOR 1 < (timestamptz, timestamp),
	OPERATOR 2 <= (timestamptz, timestamp),
	OPERATOR 3 = (timestamptz, timestamp),
	OPERATOR 4 >= (timestamptz, timestamp),
	OPERATOR 5 > (timestamptz, timestamp),
	FUNCTION 1 (timestamptz, timestamp) timestamptz_cmp_timestamp (timestamptz, timestamp);

CREATE OPERATOR FAMILY float_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY float_ops USING gpubtree IS
	'real and double precision, compared with each other';

CREATE OPERATOR CLASS float4_ops
	DEFAULT FOR TYPE float4 USING gpubtree FAMILY float_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 btfloat4cmp (float4, float4);
COMMENT ON OPERATOR CLASS float4_ops USING gpubtree IS
	'float4 keys in ascending order';

CREATE OPERATOR CLASS float8_ops
	DEFAULT FOR TYPE float8 USING gpubtree FAMILY float_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 btfloat8cmp (float8, float8);
COMMENT ON OPERATOR CLASS float8_ops USING gpubtree IS
	'float8 keys in ascending order';

ALTER OPERATOR FAMILY float_ops USING gpubtree ADD
	OPERATOR 1 < (float4, float8),
	OPERATOR 2 <= (float4, float8),
	OPERATOR 3 = (float4, float8),
	OPERATOR 4 >= (float4, float8),
	OPERATOR 5 > (float4, float8),
	FUNCTION 1 (float4, float8) btfloat48cmp (float4, float8),
	OPERATOR 1 < (float8, float4),
	OPERATOR 2 <= (float8, float4),
	OPERATOR 3 = (float8, float4),
	OPERATOR 4 >= (float8, float4),
	OPERATOR 5 > (float8, float4),
	FUNCTION 1 (float8, float4) btfloat84cmp (float8, float4);

CREATE OPERATOR FAMILY bool_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY bool_ops USING gpubtree IS
	'bool';

CREATE OPERATOR CLASS bool_ops
	DEFAULT FOR TYPE bool USING gpubtree FAMILY bool_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 btboolcmp (bool, bool);
COMMENT ON OPERATOR CLASS bool_ops USING gpubtree IS
	'bool keys in ascending order';

CREATE OPERATOR FAMILY char_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY char_ops USING gpubtree IS
	'"char"';

CREATE OPERATOR CLASS char_ops
	DEFAULT FOR TYPE "char" USING gpubtree FAMILY char_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 btcharcmp ("char", "char");
COMMENT ON OPERATOR CLASS char_ops USING gpubtree IS
	'"char" keys in ascending order';

CREATE OPERATOR FAMILY oid_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY oid_ops USING gpubtree IS
	'oid';

CREATE OPERATOR CLASS oid_ops
	DEFAULT FOR TYPE oid USING gpubtree FAMILY oid_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 btoidcmp (oid, oid);
COMMENT ON OPERATOR CLASS oid_ops USING gpubtree IS
	'oid keys in ascending order';

CREATE OPERATOR FAMILY time_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY time_ops USING gpubtree IS
	'time';

CREATE OPERATOR CLASS time_ops
	DEFAULT FOR TYPE time USING gpubtree FAMILY time_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 time_cmp (time, time);
COMMENT ON OPERATOR CLASS time_ops USING gpubtree IS
	'time keys in ascending order';

CREATE OPERATOR FAMILY timetz_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY timetz_ops USING gpubtree IS
	'timetz';

CREATE OPERATOR CLASS timetz_ops
	DEFAULT FOR TYPE timetz USING gpubtree FAMILY timetz_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 timetz_cmp (timetz, timetz);
COMMENT ON OPERATOR CLASS timetz_ops USING gpubtree IS
	'timetz keys in ascending order';

CREATE OPERATOR FAMILY money_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY money_ops USING gpubtree IS
	'money';

CREATE OPERATOR CLASS money_ops
	DEFAULT FOR TYPE money USING gpubtree FAMILY money_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 cash_cmp (money, money);
COMMENT ON OPERATOR CLASS money_ops USING gpubtree IS
	'money keys in ascending order';

CREATE OPERATOR FAMILY xid8_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY xid8_ops USING gpubtree IS
	'xid8';

CREATE OPERATOR CLASS xid8_ops
	DEFAULT FOR TYPE xid8 USING gpubtree FAMILY xid8_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 xid8cmp (xid8, xid8);
COMMENT ON OPERATOR CLASS xid8_ops USING gpubtree IS
	'xid8 keys in ascending order';

CREATE OPERATOR FAMILY pg_lsn_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY pg_lsn_ops USING gpubtree IS
	'pg_lsn';

CREATE OPERATOR CLASS pg_lsn_ops
	DEFAULT FOR TYPE pg_lsn USING gpubtree FAMILY pg_lsn_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 pg_lsn_cmp (pg_lsn, pg_lsn);
COMMENT ON OPERATOR CLASS pg_lsn_ops USING gpubtree IS
	'pg_lsn keys in ascending order';

CREATE OPERATOR FAMILY macaddr_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY macaddr_ops USING gpubtree IS
	'macaddr';

CREATE OPERATOR CLASS macaddr_ops
	DEFAULT FOR TYPE macaddr USING gpubtree FAMILY macaddr_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 macaddr_cmp (macaddr, macaddr);
COMMENT ON OPERATOR CLASS macaddr_ops USING gpubtree IS
	'macaddr keys in ascending order';

CREATE OPERATOR FAMILY macaddr8_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY macaddr8_ops USING gpubtree IS
	'macaddr8';

CREATE OPERATOR CLASS macaddr8_ops
	DEFAULT FOR TYPE macaddr8 USING gpubtree FAMILY macaddr8_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 macaddr8_cmp (macaddr8, macaddr8);
COMMENT ON OPERATOR CLASS macaddr8_ops USING gpubtree IS
	'macaddr8 keys in ascending order';

CREATE OPERATOR FAMILY numeric_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY numeric_ops USING gpubtree IS
	'numeric(p, s), of up to 18 digits';

CREATE OPERATOR CLASS numeric_ops
	DEFAULT FOR TYPE numeric USING gpubtree FAMILY numeric_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 numeric_cmp (numeric, numeric);
COMMENT ON OPERATOR CLASS numeric_ops USING gpubtree IS
	'numeric(p, s) keys in ascending order';

CREATE OPERATOR FAMILY uuid_ops USING gpubtree;
COMMENT ON OPERATOR FAMILY uuid_ops USING gpubtree IS
	'uuid';

CREATE OPERATOR CLASS uuid_ops
	DEFAULT FOR TYPE uuid USING gpubtree FAMILY uuid_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 uuid_cmp (uuid, uuid);
COMMENT ON OPERATOR CLASS uuid_ops USING gpubtree IS
	'uuid keys in ascending order';

--
-- Checking an index
--

CREATE FUNCTION gpubtree_check(index regclass, heapallindexed boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_check(regclass, boolean) IS
	'raise an error if the index is damaged or, on request, lacks an entry for a row';

--
-- What EXPLAIN shows of row comparisons
--

CREATE FUNCTION gpubtree_where_equal(value anyelement)
RETURNS anyelement
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_where_equal(anyelement) IS
	'the value; in an index condition: one for entries whose columns before equal their values';

--
-- A look inside.  Pages hold keys of rows that a user may not be allowed to see, so these functions
-- are for superusers and those to whom they are granted, as pageinspect's are.
--

CREATE FUNCTION gpubtree_metap(
	index regclass,
	OUT magic bigint,
	OUT version integer,
	OUT root bigint,
	OUT level bigint,
	OUT key_width integer,
	OUT row_width integer,
	OUT descending boolean,
	OUT nulls_first boolean,
	OUT fault text)
RETURNS record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_metap(regclass) IS
	'the metapage of the index';
REVOKE ALL ON FUNCTION gpubtree_metap(regclass) FROM PUBLIC;

CREATE FUNCTION gpubtree_page_stats(
	index regclass,
	block bigint,
	OUT type text,
	OUT level integer,
	OUT live_items integer,
	OUT dead_items integer,
	OUT item_size integer,
	OUT page_size integer,
	OUT free_size integer,
	OUT left_link bigint,
	OUT right_link bigint,
	OUT high_key text,
	OUT flags text[],
	OUT mirror text,
	OUT fault text)
RETURNS record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_page_stats(regclass, bigint) IS
	'one tree page of the index as a whole';
REVOKE ALL ON FUNCTION gpubtree_page_stats(regclass, bigint) FROM PUBLIC;

CREATE FUNCTION gpubtree_page_items(
	index regclass,
	block bigint,
	OUT itemoffset integer,
	OUT itemlen integer,
	OUT key text,
	OUT htid tid,
	OUT dead boolean,
	OUT child bigint,
	OUT included text[],
	OUT data text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_page_items(regclass, bigint) IS
	'the entries of one tree page of the index';
REVOKE ALL ON FUNCTION gpubtree_page_items(regclass, bigint) FROM PUBLIC;

CREATE FUNCTION gpubtree_tree(
	index regclass,
	pages_per_level integer DEFAULT 1000,
	OUT level integer,
	OUT number bigint,
	OUT block bigint,
	OUT left_link bigint,
	OUT right_link bigint,
	OUT entries integer,
	OUT dead integer,
	OUT fill double precision,
	OUT low_key text,
	OUT high_key text,
	OUT flags text[],
	OUT mirror text,
	OUT fault text)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_tree(regclass, integer) IS
	'the first pages of each level of the index, from the root down';
REVOKE ALL ON FUNCTION gpubtree_tree(regclass, integer) FROM PUBLIC;

CREATE FUNCTION gpubtree_tree_dot(index regclass, pages_per_level integer DEFAULT 32)
RETURNS text
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_tree_dot(regclass, integer) IS
	'what gpubtree_tree() lists as a picture, in the language of Graphviz';
REVOKE ALL ON FUNCTION gpubtree_tree_dot(regclass, integer) FROM PUBLIC;

CREATE FUNCTION gpubtree_tree_svg(index regclass, pages_per_level integer DEFAULT 32)
RETURNS text
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_tree_svg(regclass, integer) IS
	'what gpubtree_tree() lists as a picture, for a browser';
REVOKE ALL ON FUNCTION gpubtree_tree_svg(regclass, integer) FROM PUBLIC;

-- It shows no keys, and has the rights of pgstattuple's functions.
CREATE FUNCTION gpubtree_bloat(
	index regclass,
	OUT version integer,
	OUT tree_level integer,
	OUT index_size bigint,
	OUT root_block_no bigint,
	OUT internal_pages bigint,
	OUT leaf_pages bigint,
	OUT empty_pages bigint,
	OUT deleted_pages bigint,
	OUT avg_leaf_density double precision,
	OUT leaf_fragmentation double precision,
	OUT damaged_pages bigint,
	OUT dictionary_pages bigint)
RETURNS record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_bloat(regclass) IS
	'how full the pages of the index are; reads all of them';
REVOKE ALL ON FUNCTION gpubtree_bloat(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gpubtree_bloat(regclass) TO pg_stat_scan_tables;

--
-- Batched look-ups
--

CREATE FUNCTION gpubtree_probe(
	index regclass,
	keys anyarray,
	engine text DEFAULT 'auto',
	OUT keys bigint,
	OUT matches bigint,
	OUT sum numeric,
	OUT leaves bigint,
	OUT heap_fetches bigint,
	OUT engine text,
	OUT batches bigint,
	OUT unclean bigint,
	OUT fallbacks bigint,
	OUT milliseconds double precision,
	OUT right_moves bigint,
	OUT device_keys bigint,
	OUT cpu_keys bigint,
	OUT cpu_share double precision)
RETURNS record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_probe(regclass, anyarray, text) IS
	'search the index for all keys of an array as one batch; count what is found, and sum the first INCLUDE column';

--
-- Mirrors in device memory
--

CREATE FUNCTION gpubtree_refresh(index regclass)
RETURNS bigint
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_refresh(regclass) IS
	'bring the mirror of the index up to date; returns the number of blocks copied, null with a notice if there is no mirror';

CREATE FUNCTION gpubtree_drop_mirror(index regclass)
RETURNS boolean
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_drop_mirror(regclass) IS
	'discard the mirror of the index; returns whether there was one';

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
	OUT cpu_share double precision)
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
		m.cpu_share
	FROM gpubtree_mirrors() m
		LEFT JOIN pg_catalog.pg_database d ON d.oid = m.database;
COMMENT ON VIEW gpubtree_mirrors IS
	'mirrors of all databases; index is null for those of another database';
GRANT SELECT ON gpubtree_mirrors TO PUBLIC;

CREATE FUNCTION gpubtree_device(
	OUT device text,
	OUT name text,
	OUT ordinal integer,
	OUT compute_capability text,
	OUT multiprocessors integer,
	OUT memory_total bigint,
	OUT memory_used bigint,
	OUT memory_limit bigint,
	OUT mirrors integer,
	OUT requests bigint,
	OUT status text,
	OUT pid integer,
	OUT cpu_requests bigint,
	OUT stats_reset timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_device() IS
	'the device that serves mirrors';

CREATE VIEW gpubtree_device AS
	SELECT * FROM gpubtree_device();
COMMENT ON VIEW gpubtree_device IS
	'the device that serves mirrors';
GRANT SELECT ON gpubtree_device TO PUBLIC;

CREATE FUNCTION gpubtree_batches(
	OUT batches bigint,
	OUT keys bigint,
	OUT ranges bigint,
	OUT launches bigint,
	OUT joined_launches bigint,
	OUT failed_over bigint,
	OUT slots integer,
	OUT slots_free integer,
	OUT memory_bytes bigint,
	OUT memory_free bigint,
	OUT cpu_batches bigint,
	OUT cpu_keys bigint,
	OUT cpu_ranges bigint,
	OUT sorted_records bigint,
	OUT stats_reset timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_batches() IS
	'batches of keys and ranges since the last reset, and what is free for more';

CREATE VIEW gpubtree_batches AS
	SELECT * FROM gpubtree_batches();
COMMENT ON VIEW gpubtree_batches IS
	'batches of keys and ranges since the last reset, and what is free for more';
GRANT SELECT ON gpubtree_batches TO PUBLIC;

CREATE FUNCTION gpubtree_refresher(
	OUT pid integer,
	OUT turns bigint,
	OUT pages bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_refresher() IS
	'the process that brings mirrors up to date in the background';

CREATE VIEW gpubtree_refresher AS
	SELECT * FROM gpubtree_refresher();
COMMENT ON VIEW gpubtree_refresher IS
	'the process that brings mirrors up to date in the background';
GRANT SELECT ON gpubtree_refresher TO PUBLIC;

CREATE FUNCTION gpubtree_leaf_cells(
	OUT database oid,
	OUT index oid,
	OUT leaves_passed bigint,
	OUT leaves_recorded bigint,
	OUT leaves_unseen bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION gpubtree_leaf_cells() IS
	'leaves that were not read, by what earlier queries found, since the last reset';

CREATE VIEW gpubtree_leaf_cells AS
	SELECT d.datname AS database,
		CASE WHEN d.datname = current_database()
			THEN c.index::regclass END AS index,
		c.index AS index_oid,
		c.leaves_passed,
		c.leaves_recorded,
		c.leaves_unseen
	FROM gpubtree_leaf_cells() c
		LEFT JOIN pg_catalog.pg_database d ON d.oid = c.database;
COMMENT ON VIEW gpubtree_leaf_cells IS
	'leaves that were not read, by what earlier queries found; index is null for those of another database';
GRANT SELECT ON gpubtree_leaf_cells TO PUBLIC;

CREATE FUNCTION gpubtree_stat_reset()
RETURNS void
AS 'MODULE_PATHNAME'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION gpubtree_stat_reset() IS
	'set the counters of gpubtree_device, gpubtree_batches and gpubtree_leaf_cells to zero';
REVOKE ALL ON FUNCTION gpubtree_stat_reset() FROM PUBLIC;
