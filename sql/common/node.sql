-- The node of ours that a query's plan has, or its first one
CREATE FUNCTION node(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line LIKE '%(Gpubtree%' THEN
			RETURN substring(line FROM 'Gpubtree\w+');
		END IF;
	END LOOP;
	RETURN 'none';
END $$;
