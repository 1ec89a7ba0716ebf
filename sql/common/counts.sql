-- Lines of EXPLAIN ANALYZE that depend neither on the device nor on the page layout
CREATE FUNCTION counts(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line !~ 'Engine|Leaves|Settled|Fallbacks|Blocks|Memory|Disk|Batches: ' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
