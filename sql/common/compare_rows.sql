-- Functions that compare a query's rows, in their order, with those of a plan without our nodes.  A
-- test includes this file as it includes compare.sql.
\ir plan.sql
-- How many rows, and which; in any order where compare.order_by = ' ORDER BY q::text'
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(q::text, '';''%s)), ''-'') FROM (%s) q',
		current_setting('compare.order_by', true), query) INTO result;
	RETURN result;
END $$;
CREATE FUNCTION plain_answer(query text) RETURNS text LANGUAGE sql SET gpubtree.enabled = off AS $$
	SELECT answer(query)
$$;
-- What our node does not answer is the ordinary plan's on both sides, and is not run.
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
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
		RETURN format('%s: %s, should be %s', query, ours, plain);
	END IF;
	RETURN 'equal, ' || split_part(ours, ' ', 1) || ' rows';
END $$;
