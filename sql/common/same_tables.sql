-- Does a query give the same rows of table b, which has a built-in B-tree, and of g, which has ours?
-- The query names the table $t.  Rows are compared as text and as their types send them, since
-- equal values may differ.
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || coalesce(string_agg(x, '';'' ORDER BY x), '''')
		FROM (SELECT q::text || record_send(q)::text AS x FROM (%s) q) y', query) INTO result;
	RETURN result;
END $$;
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	core text := rows_of(replace(query, '$t', 'b'));
	ours text := rows_of(replace(query, '$t', 'g'));
BEGIN
	RETURN CASE WHEN core = ours THEN split_part(core, ' ', 1) || ' rows, the same'
		ELSE E'\ncore: ' || left(core, 300) || E'\nours: ' || left(ours, 300) END;
END $$;
