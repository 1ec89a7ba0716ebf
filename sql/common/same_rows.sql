-- Which node has answered a query, and whether it gave up; an error if its rows are not those without it.
CREATE FUNCTION same_rows(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	node text;
	line text;
	ours text;
	theirs text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		node := COALESCE(node, substring(line FROM 'Gpubtree\w+'));
		node := node || COALESCE(substring(line FROM ' Gave Up: .*'), '');
	END LOOP;
	query := 'SELECT array_agg(r::text ORDER BY r::text COLLATE "C") FROM (' || query || ') r';
	EXECUTE query INTO ours;
	SET LOCAL gpubtree.enabled = off;
	EXECUTE query INTO theirs;
	SET LOCAL gpubtree.enabled = on;
	IF ours IS DISTINCT FROM theirs THEN
		RAISE 'other rows: % for %', ours, theirs;
	END IF;
	RETURN COALESCE(node, 'PostgreSQL''s plan');
END
$$;
