-- Functions that compare a query's answer with the ordinary plan's.  A test names the node that is
-- to answer, a regular expression, and includes this file:
--
--	SET compare.node = 'GpubtreeAggregate';
--	\i :abs_srcdir/sql/common/compare.sql
--
-- The order of rows does not matter; compare_rows.sql is for queries where it does.

\ir plan.sql
\ir answer.sql
-- The same from a sequential scan
CREATE FUNCTION plain_answer(query text) RETURNS text LANGUAGE sql
	SET gpubtree.enabled = off SET enable_seqscan = on
AS $$
	SELECT answer(query)
$$;
-- The node's answer, shortened, if the ordinary plan has the same.  All ordinary scans are dear alike,
-- so that the node is chosen wherever it can be.
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
AS $$
DECLARE
	ours text;
	plain text;
BEGIN
	IF NOT is_ours(query) THEN
		RETURN 'ordinary plan: ' || query;
	END IF;
	ours := answer(query);
	plain := plain_answer(query);
	IF ours IS DISTINCT FROM plain THEN
		RETURN format('%s: %s, should be %s', query, left(ours, 300), left(plain, 300));
	END IF;
	RETURN CASE WHEN length(ours) < 180 THEN ours ELSE left(ours, 40) || ' ... ' || length(ours) || ' ' || md5(ours) END;
END $$;
