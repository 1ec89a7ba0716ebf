--
-- Index conditions that PostgreSQL makes for built-in B-trees: of row comparisons and of booleans by
-- themselves.  Statements that no node of ours answers get ordinary index scans with them.
--
SET client_min_messages = warning;
SET timezone = 'UTC';
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- ours has the indexes; the statements are run on plain, too
CREATE TABLE plain (a int, b int, flag boolean, d date, n numeric(6, 2), id int NOT NULL);
INSERT INTO plain SELECT nullif(i % 7, 6), nullif(i * 31 % 11, 10), (i % 5) > 2 OR NULLIF(i % 3, 0) IS NULL,
		date '2024-01-01' + i % 6, (i % 9) / 4.0, i
	FROM generate_series(1, 2000) i;
UPDATE plain SET flag = NULL WHERE id % 13 = 0;
CREATE TABLE ours AS TABLE plain;
CREATE INDEX ours_ab ON ours USING gpubtree (a, b);
CREATE INDEX ours_flag ON ours USING gpubtree (flag, id);
CREATE INDEX ours_down ON ours USING gpubtree (d DESC, b NULLS FIRST, id DESC);
CREATE INDEX ours_n ON ours USING gpubtree (n, id);
CREATE INDEX ours_id ON ours USING gpubtree (id) INCLUDE (a);
VACUUM ANALYZE ours, plain;
\set ECHO all

--
-- Plans
--
-- the whole comparison is in the index, a part of it, or a column that is not first there
EXPLAIN (COSTS OFF) SELECT * FROM ours WHERE (a, b) > (3, 4) ORDER BY a, b LIMIT 3 FOR UPDATE SKIP LOCKED;
EXPLAIN (COSTS OFF) SELECT * FROM ours WHERE (id, n) < (100, 1.5) ORDER BY id DESC LIMIT 3 FOR NO KEY UPDATE;
EXPLAIN (COSTS OFF) SELECT * FROM ours WHERE a = 3 AND (b, id) >= (4, 17) FOR SHARE;
EXPLAIN (COSTS OFF) DELETE FROM ours WHERE (a, b) < (0, 5);
EXPLAIN (COSTS OFF) UPDATE ours SET n = 0 WHERE (5, 2) <= (a, b);
-- of an index-only scan the keys themselves are shown
SET gpubtree.enabled = off;
EXPLAIN (COSTS OFF) SELECT a, b FROM ours WHERE (a, b) > (3, 4) ORDER BY a, b LIMIT 3;
RESET gpubtree.enabled;
SET enable_indexscan = off;
SET enable_bitmapscan = on;
EXPLAIN (COSTS OFF) DELETE FROM ours WHERE (a, b) < (0, 5) OR (n, id) > (2, 1990);
SET enable_bitmapscan = off;
RESET enable_indexscan;
-- values of an outer row
EXPLAIN (COSTS OFF) SELECT o.id, x.* FROM plain o CROSS JOIN LATERAL
	(SELECT i.a, i.b, i.id FROM ours i WHERE (i.a, i.b) > (o.a, o.b) ORDER BY i.a, i.b LIMIT 2 FOR UPDATE) x WHERE o.id < 3;
-- a boolean by itself, which also leaves the order to the next column
CREATE TABLE marks AS SELECT i AS id, i % 100 = 0 AS flag, 0 AS v FROM generate_series(1, 2000) i;
CREATE INDEX marks_flag ON marks USING gpubtree (flag, id);
VACUUM ANALYZE marks;
EXPLAIN (COSTS OFF) SELECT * FROM marks WHERE flag ORDER BY id LIMIT 3 FOR UPDATE;
EXPLAIN (COSTS OFF) SELECT * FROM marks WHERE NOT flag ORDER BY id DESC LIMIT 3 FOR UPDATE;
EXPLAIN (COSTS OFF) UPDATE marks SET v = 1 WHERE flag IS TRUE AND id < 300;
EXPLAIN (COSTS OFF) DELETE FROM marks WHERE flag IS FALSE AND id < 30;

--
-- Where a scan begins: behind the entries with an equal first column that are not wanted
--
\set ECHO none
CREATE TABLE few AS SELECT i % 2 AS a, i AS b, i AS v FROM generate_series(1, 20000) i;
CREATE INDEX few_ab ON few USING gpubtree (a, b);
CREATE INDEX few_down ON few USING gpubtree (a DESC, b DESC);
VACUUM ANALYZE few;
CREATE FUNCTION rechecked(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text = '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		plan = plan || line;
	END LOOP;
	RETURN coalesce(substring(plan FROM 'Removed by [\w ]+: \d+'), 'none in vain') ||
		CASE WHEN plan ~ 'few_' THEN ', by an index' END;
END $$;
\set ECHO all
SELECT rechecked('SELECT * FROM few WHERE (a, b) > (0, 19990) FOR UPDATE');
SELECT rechecked('SELECT * FROM few WHERE (a, b) < (1, 20) AND a > 0 FOR UPDATE');
SELECT rechecked('SELECT * FROM few WHERE a = 1 AND (a, b, v) >= (1, 19990, 3) FOR UPDATE');
SET gpubtree.enabled = off;
SELECT rechecked('SELECT a, b FROM few WHERE (a, b) > (0, 19990) ORDER BY a, b LIMIT 3');
SELECT rechecked('SELECT a, b FROM few WHERE (a, b) > (0, 19990) ORDER BY a DESC, b DESC');
RESET gpubtree.enabled;

\set ECHO none
--
-- Rows, beside those of the table without an index
--
CREATE FUNCTION differ(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan text = '';
	line text;
	ours int[];
	plain int[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT id FROM ours WHERE ' || condition || ' FOR UPDATE' LOOP
		plan = plan || line;
	END LOOP;
	EXECUTE format('WITH x AS (SELECT id FROM ours WHERE %s FOR UPDATE) SELECT array_agg(id ORDER BY id) FROM x', condition) INTO ours;
	EXECUTE format('SELECT array_agg(id ORDER BY id) FROM plain WHERE %s', condition) INTO plain;
	RETURN CASE WHEN plan !~ 'Index Cond' THEN 'no index: ' || plan
		WHEN ours IS DISTINCT FROM plain THEN 'wrong: ' || condition ELSE cardinality(plain)::text END;
END $$;
\set ECHO all
SELECT op, differ(format('(a, b) %s (3, 4)', op)), differ(format('(3, 4) %s (a, b)', op)),
		differ(format('(a, b) %s (3, NULL)', op)), differ(format('(a, b, id) %s (3, 4, 1000)', op)),
		differ(format('(a, a) %s (3, 4)', op)), differ(format('(a, n) %s (3, 1.5)', op)),
		differ(format('(a, b) %s (3::int8, 4::int2)', op))
	FROM unnest('{<,<=,>=,>}'::text[]) op;
-- values between those of a column, and beyond them
SELECT op, differ(format('(d, b) %s (timestamp ''2024-01-03 05:00'', 4)', op)), differ(format('(d, b, id) %s (date ''2024-01-03'', 4, 1000)', op)),
		differ(format('(n, id) %s (1.255, 1000)', op)), differ(format('(n, id) %s (1.25, 1000)', op)),
		differ(format('(n, id) %s (''Infinity'', 1000)', op)), differ(format('(a, b) %s (3000000000, 4)', op))
	FROM unnest('{<,<=,>=,>}'::text[]) op;
SELECT differ('(a, b) >= (1, 2) AND (a, b) < (3, 4)'), differ('(a, b) > (NULL, 2)'), differ('(a, b) < (2, 3) AND b IS NOT NULL AND n > 1'),
	differ('a = ANY (''{1, 3}'') AND (a, b) > (1, 5)'), differ('a = ANY (''{1, 3}'') AND (b, id) > (5, 500)');
SELECT differ('flag'), differ('NOT flag'), differ('flag IS TRUE'), differ('flag IS FALSE'), differ('flag AND (flag, id) > (true, 1000)');
SELECT count(*) FROM ours WHERE flag IS NOT TRUE AND id < 100;
SELECT count(*) FROM plain WHERE flag IS NOT TRUE AND id < 100;
-- parameters, in a plan for any value
SET plan_cache_mode = force_generic_plan;
PREPARE page(int, int) AS SELECT id FROM ours WHERE (a, b) < ($1, $2) ORDER BY a DESC, b DESC, id LIMIT 2 FOR UPDATE;
EXECUTE page(3, 4);
EXECUTE page(3, NULL);
EXECUTE page(NULL, 4);
EXECUTE page(1, 0);
RESET plan_cache_mode;
-- a cursor that turns around
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a, b FROM ours WHERE (a, b) > (5, 8) ORDER BY a, b;
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH BACKWARD 1 FROM c;
MOVE ABSOLUTE 1 FROM c;
FETCH BACKWARD ALL FROM c;
CLOSE c;
COMMIT;
\set ECHO none
-- changes
BEGIN;
DELETE FROM ours WHERE (a, b) < (0, 5);
DELETE FROM plain WHERE (a, b) < (0, 5);
UPDATE ours SET n = 9 WHERE (5, 2) <= (a, b) AND id < 1000;
UPDATE plain SET n = 9 WHERE (5, 2) <= (a, b) AND id < 1000;
UPDATE ours SET b = b + 1 WHERE NOT flag AND id < 500;
UPDATE plain SET b = b + 1 WHERE NOT flag AND id < 500;
MERGE INTO ours USING (VALUES (2, 3)) v (x, y) ON (a, b) > (x, y) AND flag AND id < 50 WHEN MATCHED THEN UPDATE SET d = NULL;
MERGE INTO plain USING (VALUES (2, 3)) v (x, y) ON (a, b) > (x, y) AND flag AND id < 50 WHEN MATCHED THEN UPDATE SET d = NULL;
\set ECHO all
SELECT count(*), count(d), sum(n), sum(b) FROM ours;
(TABLE ours EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE ours);
ROLLBACK;

--
-- A condition that may tell what it sees does not run ahead of a policy
--
CREATE FUNCTION leaky(int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE WARNING 'saw %', $1; RETURN true; END $$;
CREATE ROLE regress_gpb_derived;
GRANT SELECT, UPDATE ON ours TO regress_gpb_derived;
ALTER TABLE ours ENABLE ROW LEVEL SECURITY;
CREATE POLICY few_rows ON ours TO regress_gpb_derived USING (flag AND id < 10);
SET ROLE regress_gpb_derived;
EXPLAIN (COSTS OFF) SELECT id FROM ours WHERE leaky(id) AND (a, b) > (0, 5) FOR UPDATE;
SELECT id FROM ours WHERE leaky(id) AND (a, b) > (0, 5) FOR UPDATE;
RESET ROLE;
ALTER TABLE ours DISABLE ROW LEVEL SECURITY;

--
-- Operators that a B-tree family has got, and ours has not, are filters
--
CREATE FUNCTION int4_below(int4, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN $1 < length($2); END $$;
CREATE OPERATOR <<<< (LEFTARG = int4, RIGHTARG = text, PROCEDURE = int4_below);
ALTER OPERATOR FAMILY integer_ops USING btree ADD OPERATOR 1 <<<< (int4, text);
SET enable_seqscan = on;
EXPLAIN (COSTS OFF) SELECT id FROM ours WHERE id <<<< 'abc' AND id > 0 FOR UPDATE;
SELECT id FROM ours WHERE id <<<< 'abc' AND id > 0 FOR UPDATE;
SELECT id FROM ours WHERE id <<<< 'abc' FOR UPDATE;
ALTER OPERATOR FAMILY integer_ops USING btree DROP OPERATOR 1 (int4, text);

DROP TABLE ours, plain, few, marks;
DROP OPERATOR <<<< (int4, text);
DROP FUNCTION leaky, int4_below, differ, rechecked;
DROP ROLE regress_gpb_derived;
