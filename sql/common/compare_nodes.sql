-- Which node answers a query, how many rows, and whether it gave up, if core's plan has the same rows;
-- core's error, if both raise that.
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || coalesce(sum(hashtextextended(q::text, 0))::text, ''-'') FROM (%s) q', query) INTO result;
	RETURN result;
EXCEPTION WHEN data_exception THEN
	RETURN SQLERRM;
END $$;
CREATE FUNCTION plain_answer(query text) RETURNS text LANGUAGE sql SET gpubtree.enabled = off AS $$
	SELECT answer(query)
$$;
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
AS $$
DECLARE
	ours text := answer(query);
	plain text := plain_answer(query);
	line text;
	node text;
	gave_up text := '';
BEGIN
	IF ours IS DISTINCT FROM plain THEN
		RETURN format('%s: %s, should be %s', query, ours, plain);
	ELSIF ours !~ '^\d' THEN
		RETURN ours;
	END IF;
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		node := coalesce(node, substring(line FROM 'Gpubtree\w+'));
		gave_up := gave_up || coalesce(', gave up: ' || substring(line FROM 'Gave Up: (.*)'), '');
	END LOOP;
	RETURN coalesce(node, 'ordinary plan') || ', equal, ' || split_part(ours, ' ', 1) || ' rows' || gave_up;
END $$;
