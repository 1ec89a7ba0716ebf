-- The lines of EXPLAIN ANALYZE but for those that compare.uncounted matches, a regular expression: the
-- engine and the memory depend on the device, the leaves on the page layout.
CREATE FUNCTION counts(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line !~ current_setting('compare.uncounted') THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
