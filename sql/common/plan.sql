-- What compare.sql and compare_rows.sql share.

-- The plan of a query, line by line
CREATE FUNCTION plan(query text, options text DEFAULT 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('EXPLAIN (%s) %s', options, query);
END $$;
-- Does the node answer that compare.node names?
CREATE FUNCTION is_ours(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_or(line ~ current_setting('compare.node')) FROM plan(query) line
$$;
