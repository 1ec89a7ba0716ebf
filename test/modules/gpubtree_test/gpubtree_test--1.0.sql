-- complain if the script is sourced in psql, rather than by CREATE EXTENSION
\echo Use "CREATE EXTENSION gpubtree_test" to load this file. \quit

-- batch_test.c: one batch of ranges, or of keys where hi is NULL.  The result has a row for each
-- range (mode "aggregate") or for each entry.
CREATE FUNCTION gpubtree_test_batch(index regclass, lo anyarray, hi anyarray, mode text,
	OUT number integer, OUT k bigint, OUT v bigint, OUT entries bigint, OUT tid tid)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C;

-- key_test.c: the normalized key of a row, given its key columns, as bytes in the order of entries.
CREATE FUNCTION gpubtree_test_key(index regclass, key record)
RETURNS bytea
AS 'MODULE_PATHNAME', 'gpb_test_key'
LANGUAGE C STRICT STABLE;

-- program_test.c: a batch of ranges with a program, in words.  The result has a row for each range,
-- group or total: the range's number, the bits of NULL groups, the group's values, the answer.
CREATE FUNCTION gpubtree_test_program(index regclass, lo bigint[], hi bigint[], program text,
	mode text)
RETURNS SETOF bigint[]
AS 'MODULE_PATHNAME', 'gpb_test_program'
LANGUAGE C STRICT;

-- program_test.c: likewise, one question to several indexes, whose answers are merged.
CREATE FUNCTION gpubtree_test_ask(indexes regclass[], lo bigint[], hi bigint[], program text,
	mode text)
RETURNS SETOF bigint[]
AS 'MODULE_PATHNAME', 'gpb_test_ask'
LANGUAGE C STRICT;

-- request_test.c: search for n random keys, and compare every position with the tree.  Returns
-- how many keys are on leaves that the device could not answer for.
CREATE FUNCTION gpubtree_test_positions(index regclass, n integer, bound integer, largest bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'gpb_test_positions'
LANGUAGE C STRICT;

-- request_test.c: the number of entries of each range; then how many came from the device's
-- answers, from unclean pieces, and from single entries.
CREATE FUNCTION gpubtree_test_ranges(index regclass, lo bigint[], hi bigint[], list boolean)
RETURNS bigint[]
AS 'MODULE_PATHNAME', 'gpb_test_ranges'
LANGUAGE C STRICT;

-- request_test.c: does the service refuse what needs leaves, in a mirror of inner nodes alone?
CREATE FUNCTION gpubtree_test_refused(index regclass)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gpb_test_refused'
LANGUAGE C STRICT;

-- request_test.c: what the service does not refuse of what no build asks it to sort; '' if nothing
CREATE FUNCTION gpubtree_test_sort_refused()
RETURNS text
AS 'MODULE_PATHNAME', 'gpb_test_sort_refused'
LANGUAGE C STRICT;

-- request_test.c: how many sorts there may be at a time
CREATE FUNCTION gpubtree_test_sorts()
RETURNS integer
AS 'MODULE_PATHNAME', 'gpb_test_sorts'
LANGUAGE C STRICT;

-- request_test.c: how many map images were ever made, how many there are, and their users.
CREATE FUNCTION gpubtree_test_map_images(OUT made bigint, OUT present integer, OUT users integer)
AS 'MODULE_PATHNAME', 'gpb_test_map_images'
LANGUAGE C STRICT;

-- settled_test.c: record a block of a table as settled, as if it had been read in the buffer that
-- has block "page" of a fork of "other".
CREATE FUNCTION gpubtree_test_settled_record(heap regclass, block bigint, other regclass,
	page bigint, fork text DEFAULT 'main')
RETURNS void
AS 'MODULE_PATHNAME', 'gpb_test_settled_record'
LANGUAGE C STRICT;

-- settled_test.c: is a block known as settled?
CREATE FUNCTION gpubtree_test_settled_look(heap regclass, block bigint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'gpb_test_settled_look'
LANGUAGE C STRICT;

-- settled_test.c: the states of its buffer in which a block that was recorded is found settled.
CREATE FUNCTION gpubtree_test_write_out(relation regclass, block bigint)
RETURNS void
AS 'MODULE_PATHNAME', 'gpb_test_write_out'
LANGUAGE C STRICT;

CREATE FUNCTION gpubtree_test_settled_states(heap regclass, block bigint)
RETURNS text
AS 'MODULE_PATHNAME', 'gpb_test_settled_states'
LANGUAGE C STRICT;

-- settled_test.c: the xmin of the snapshot as readers of settled pages know it.
CREATE FUNCTION gpubtree_test_settled_xmin(heap regclass)
RETURNS xid8
AS 'MODULE_PATHNAME', 'gpb_test_settled_xmin'
LANGUAGE C STRICT;

-- settled_test.c: a transaction that has begun in 64 bits, "next" being the next one to begin.
CREATE FUNCTION gpubtree_test_widen_xid(next xid8, xid xid)
RETURNS xid8
AS 'MODULE_PATHNAME', 'gpb_test_widen_xid'
LANGUAGE C STRICT;

-- settled_test.c: give all frozen tuples of a page this xmin.  Returns their number.
CREATE FUNCTION gpubtree_test_age_frozen(heap regclass, block bigint, xid xid)
RETURNS integer
AS 'MODULE_PATHNAME', 'gpb_test_age_frozen'
LANGUAGE C STRICT;

-- plan_test.c: core's plan nodes, empty, as text.
CREATE FUNCTION gpubtree_test_plan_nodes()
RETURNS text
AS 'MODULE_PATHNAME', 'gpb_test_plan_nodes'
LANGUAGE C;

-- plan_test.c: EXPLAIN's output for the statement that calls it, while that runs.
CREATE FUNCTION gpubtree_test_explain_running()
RETURNS text
AS 'MODULE_PATHNAME', 'gpb_test_explain_running'
LANGUAGE C;

-- timing_test.c: send that many requests, one after the other, to search for that many random keys, as
-- an executor node would, and take each one's time from the submit until the session sees the results.  A
-- sample of the results is compared with the tree.  The mirror is refreshed first.  result_order is
-- 'input', 'near' or 'key'; all but the first take 1,048,576 keys at most.
CREATE FUNCTION gpubtree_test_request_timing(
	index regclass,
	keys integer,
	requests integer,
	result_order text DEFAULT 'input',
	OUT keys_per_second double precision,
	OUT median_us double precision,
	OUT p99_us double precision,
	OUT max_us double precision)
RETURNS record
AS 'MODULE_PATHNAME', 'gpb_test_request_timing'
LANGUAGE C STRICT;

-- Wait until the service has a device.
CREATE PROCEDURE gpubtree_test_wait_for_device() LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 12000 LOOP
		EXIT WHEN (SELECT status FROM gpubtree_device) = 'ready';
		PERFORM pg_sleep(0.05);
	END LOOP;
END $$;

-- For this session all ordinary scans are dear, so that nodes are taken wherever they can be.
CREATE PROCEDURE gpubtree_test_use_nodes() LANGUAGE sql AS $$
	SET gpubtree.setup_cost = 0;
	SET gpubtree.batch_setup_cost = 0;
	SET enable_seqscan = off;
	SET enable_indexscan = off;
	SET enable_indexonlyscan = off;
	SET enable_bitmapscan = off;
$$;

-- access_method_test.c: CREATE ACCESS METHOD ... TYPE TABLE HANDLER gpubtree_test_heap_handler makes
-- tables that are stored as heap's, of which gpubtree must believe nothing that it knows of heap's.
CREATE FUNCTION gpubtree_test_heap_handler(internal)
RETURNS table_am_handler
AS 'MODULE_PATHNAME', 'gpb_test_heap_handler'
LANGUAGE C STRICT;
