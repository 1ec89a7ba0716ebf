--
-- Filters "column = ANY (array)" and "<> ALL" on columns of an index that are not its key: arrays
-- that are known, parameters, subqueries; NULLs; more elements than a program has room for.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET gpubtree.enable_scan = on;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;

CREATE TABLE item (k integer NOT NULL, s smallint, i integer, b bigint, f float8, d date, t timestamp);
INSERT INTO item SELECT n, n % 7, n % 300, n % 1000, (n % 40) / 4.0, date '2024-01-01' + n % 50, timestamp '2024-01-01' + n % 60 * interval '1 hour'
	FROM generate_series(1, 4000) n;
INSERT INTO item VALUES (4001, NULL, NULL, NULL, NULL, NULL, NULL), (4002, -1, 5, -5, '-0', '-infinity', 'infinity'), (4003, 6, 2147483647, 9223372036854775807, 'NaN', 'infinity', '-infinity');
CREATE INDEX item_k ON item USING gpubtree (k) INCLUDE (s, i, b, f, d, t);
VACUUM ANALYZE item;

CREATE FUNCTION lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Gpubtree|Gave Up|Filter' THEN
			RETURN NEXT regexp_replace(line, '^[ >-]*|\(actual.*', '', 'g');
		END IF;
	END LOOP;
END $$;
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line record;
	rows text[];
BEGIN
	FOR line IN EXECUTE query LOOP
		rows := rows || line::text;
	END LOOP;
	RETURN (SELECT coalesce(string_agg(r, ' ' ORDER BY r COLLATE "C"), 'none') FROM unnest(rows) r);
END $$;
-- The same with and without us; says what is not so, and of plans that are not ours, or gave up.
CREATE FUNCTION compare(type text, condition text, value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
	ours text;
	theirs text;
	plan text;
BEGIN
	FOREACH statement IN ARRAY ARRAY['SELECT count(*), sum(k) FROM item WHERE k > 5 AND %s', 'SELECT i %% 3, count(*), count(*) FILTER (WHERE %1$s) FROM item WHERE k > 5 GROUP BY 1',
			'SELECT %1$s AS is_there, count(*) FROM item GROUP BY 1', 'SELECT k FROM item WHERE k > 3500 AND %s'] LOOP
		EXECUTE format('PREPARE q(%s[]) AS ', type) || format(statement, condition);
		ours := answer(format('EXECUTE q(%L)', value));
		SELECT string_agg(l, ' ') INTO plan FROM lines(format('EXECUTE q(%L)', value)) l;
		SET gpubtree.enabled = off;
		theirs := answer(format('EXECUTE q(%L)', value));
		RESET gpubtree.enabled;
		DEALLOCATE q;
		IF plan IS NULL OR plan !~ 'Gpubtree' OR plan ~ 'Gave Up' THEN
			RETURN format(statement, condition) || ': ' || coalesce(plan, 'ordinary plan');
		ELSIF ours IS DISTINCT FROM theirs THEN
			RETURN format(statement, condition) || ': ' || ours || ', should be ' || theirs;
		END IF;
	END LOOP;
	RETURN 'same';
END $$;

CREATE FUNCTION numbers(n integer) RETURNS integer[] LANGUAGE sql IMMUTABLE AS 'SELECT array_agg(i) FROM generate_series(1, n) i';

PREPARE wanted(int[]) AS SELECT count(*), sum(k) FROM item WHERE k > 5 AND i = ANY ($1);
\set ECHO all

EXPLAIN (COSTS OFF) EXECUTE wanted('{1,2}');
EXECUTE wanted('{1,2,299,1,NULL}');
EXECUTE wanted('{}');
EXECUTE wanted(NULL);
EXECUTE wanted('{{7,8},{9,NULL}}');

--
-- Types, NULLs and empty arrays
--
SELECT type, compare(type, format('%s = ANY ($1)', c), value), compare(type, format('%s <> ALL ($1)', c), value), compare(type, format('(%s = ANY ($1)) IS NULL', c), value)
FROM (VALUES ('int2', 's', '{1,2,-1,-32768}'), ('int2', 'i', '{5,6,7,200}'), ('int4', 's', '{6,100000}'), ('int4', 'i', '{5,2147483647,-2147483648}'), ('int8', 'i', '{5,9223372036854775807}'),
	('int4', 'b', '{5,-5}'), ('int8', 'b', '{9223372036854775807,1,2,3}'), ('float8', 'f', '{0.25,NaN,0,-Infinity}'), ('float8', 'f', '{-0}'), ('date', 'd', '{2024-01-05,-infinity}'),
	('timestamp', 't', '{2024-01-01 05:00,infinity}'), ('int4', 'i % 7 + s', '{3,5}'),
	('int4', 'i', '{}'), ('int4', 'i', NULL), ('int4', 'i', '{NULL}'), ('int4', 'i', '{NULL,5}'), ('float8', 'f', '{NULL,0.25}')) v(type, c, value);
-- several arrays in one query, one of them twice
SELECT compare('int4', 'i = ANY ($1) AND s <> ALL ($1) AND b IN (1, 2, 3, 5, 305) OR d IN (''2024-01-05'', ''2024-01-06'') OR i = ANY ($1)', '{1,2,3,5}');
-- parameters that are elements
PREPARE chosen(int, int) AS SELECT count(*), sum(k) FROM item WHERE k > 5 AND i IN ($1, $2, 7);
EXECUTE chosen(1, 2);
EXECUTE chosen(1, NULL);
SELECT * FROM lines('EXECUTE chosen(1, NULL)');
-- a subquery's array; an array that differs from row to row
SELECT count(*), sum(k) FROM item WHERE k > 5 AND i = ANY (ARRAY(SELECT generate_series(10, 12)));
SELECT * FROM lines('SELECT count(*), sum(k) FROM item WHERE k > 5 AND i = ANY (ARRAY(SELECT generate_series(10, 12)))');
SELECT * FROM lines('SELECT count(*), sum(k) FROM item WHERE k > 5 AND i = ANY (ARRAY[k, 5])');
SELECT o, (SELECT count(*) FROM item WHERE k > o AND i = ANY (ARRAY(SELECT generate_series(10, 12)))) FROM generate_series(0, 4000, 1000) o;
-- an array whose evaluation raises an error, which core meets, or does not
PREPARE failing(text) AS SELECT count(*) FROM item WHERE k > 5 AND (i < 1000000 OR i = ANY (string_to_array($1, ' ')::int[]));
EXECUTE failing('x');
EXECUTE failing('3 4');

--
-- As many elements as there is room for, and more
--
PREPARE long(int) AS SELECT count(*), sum(k) FROM item WHERE k > 5 AND i = ANY (ARRAY(SELECT generate_series(1, $1)));
EXECUTE long(192);
EXECUTE long(193);
SELECT * FROM lines('EXECUTE long(192)');
SELECT * FROM lines('EXECUTE long(193)');
PREPARE long_rows(int[]) AS SELECT k FROM item WHERE k < 400 AND i <> ALL ($1) ORDER BY k LIMIT 3;
EXECUTE long_rows(numbers(290));
SELECT * FROM lines('EXECUTE long_rows(numbers(290))');
SELECT * FROM lines('EXECUTE long_rows(numbers(100) || numbers(190) || numbers(50))');
-- two arrays that fit one by one
PREPARE two(int[], int[]) AS SELECT count(*) FROM item WHERE k > 5 AND (i = ANY ($1) OR b = ANY ($2));
SELECT * FROM lines('EXECUTE two(numbers(100), numbers(92))');
SELECT * FROM lines('EXECUTE two(numbers(100), numbers(93))');
DEALLOCATE ALL;
DROP TABLE item;
DROP FUNCTION lines, answer, compare, numbers;
