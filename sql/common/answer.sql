-- The query's rows in one text, in any order, or its error
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(r, '' '' ORDER BY r COLLATE "C") FROM (SELECT q::text AS r FROM (%s) q) x', query) INTO result;
	RETURN coalesce(result, 'no row');
EXCEPTION WHEN OTHERS THEN
	RETURN 'ERROR: ' || sqlerrm;
END $$;
