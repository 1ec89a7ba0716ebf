-- The one value that a query returns, by GpubtreeAggregate or by a sequential scan; the wrong plan
-- stands before it, and that the node left its rows to core's plan where gives_up says that it
-- does not, or the reverse.
CREATE FUNCTION answer(query text, ours bool, gives_up bool DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text;
	node bool := false;
	gave_up bool := false;
BEGIN
	PERFORM set_config('enable_seqscan', (NOT ours)::text, true),
		set_config('enable_indexscan', ours::text, true),
		set_config('enable_indexonlyscan', ours::text, true),
		set_config('enable_bitmapscan', 'off', true),
		set_config('gpubtree.enable_aggregate', ours::text, true);
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF%s) %s', CASE WHEN ours AND gives_up IS NOT NULL THEN ', ANALYZE, TIMING OFF' END, query) LOOP
		node := node OR line LIKE '%GpubtreeAggregate%';
		gave_up := gave_up OR line LIKE '%Gave Up%';
	END LOOP;
	EXECUTE query INTO result;
	RETURN CASE WHEN node = ours THEN '' ELSE 'another plan: ' END ||
		CASE WHEN ours AND gave_up <> gives_up THEN 'gave up: ' || gave_up || ': ' ELSE '' END || coalesce(result, 'NULL');
END $$;
