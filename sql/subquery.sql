-- Scalar subqueries that aggregate a range for each row: the finished plan gets a node above the one that evaluates them
SET gpubtree.setup_cost = 100;
SET gpubtree.batch_setup_cost = 20;
SET jit = off;
CREATE TABLE sub_t (k int8, v int4);
INSERT INTO sub_t SELECT i % 10000, i % 100 FROM generate_series(1, 20000) i;
CREATE INDEX sub_t_k ON sub_t USING gpubtree (k) INCLUDE (v);
CREATE TABLE sub_b (id int PRIMARY KEY, lo int8, hi int8, g int4);
INSERT INTO sub_b SELECT i, i * 7 % 9000, i * 7 % 9000 + 50, i % 5 FROM generate_series(1, 2000) i;
CREATE TABLE sub_few AS SELECT id FROM sub_b WHERE g <> 0 AND id < 1900;
VACUUM ANALYZE sub_t, sub_b, sub_few;

-- digests of what a query gives with the node and without it, errors included, and how many nodes the plan has
CREATE FUNCTION sub_digest(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	digest text;
BEGIN
	EXECUTE format('SELECT count(*) || '' rows '' || coalesce(md5(string_agg(q::text, '';'' ORDER BY q::text COLLATE "C")), '''') FROM (%s) q', query) INTO digest;
	RETURN digest;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION sub_same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	stock text;
	line text;
	nodes int := 0;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		nodes := nodes + (line ~ 'GpubtreeSubquery')::int;
	END LOOP;
	ours := sub_digest(query);
	stock := ours;
	IF nodes > 0 THEN
		SET LOCAL gpubtree.enable_subquery = off;
		stock := sub_digest(query);
		SET LOCAL gpubtree.enable_subquery = on;
	END IF;
	RETURN format('%s, %s, %s', substring(ours FROM '^\d+ rows|^.*$'),
		CASE WHEN ours = stock THEN 'same' ELSE 'DIFFERENT: ' || stock END,
		CASE nodes WHEN 0 THEN 'no node' WHEN 1 THEN 'a node' ELSE nodes || ' nodes' END);
END $$;

-- the executed plan without what depends on the device
CREATE FUNCTION sub_ran(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line !~ '(Engine|Batches|Ranges|Matches|Heap Fetches|Leaves Done by CPU|Blocks Refreshed|Fallbacks):' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
\set ECHO all

-- what joins and conditions drop is not asked for: no error that core does not raise
SELECT sub_same(q) FROM (VALUES
	('SELECT sum((SELECT count(*) FROM sub_t WHERE k >= s.lo AND k < s.x)) FROM (SELECT id, lo, 100 / g AS x FROM sub_b) s JOIN sub_few USING (id)'),
	('WITH s AS (SELECT id, lo, 100 / g AS x FROM sub_b) SELECT sum((SELECT count(*) FROM sub_t WHERE k >= s.lo AND k < s.x)) FROM s JOIN sub_few USING (id)'),
	('SELECT id, (SELECT count(*) FROM sub_t WHERE k >= lo AND k < 100 / g) FROM sub_b WHERE g <> 0'),
	('SELECT id, (SELECT count(*) FROM sub_t WHERE k >= lo AND k < 100 / g) FROM sub_b'),
	('SELECT id, (SELECT count(*) FROM sub_t WHERE k >= lo AND k < lo + 9223372036854775000) FROM sub_b WHERE id BETWEEN 80 AND 200'),
	('SELECT id FROM sub_b WHERE (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) > 102 AND (SELECT count(*) FROM sub_t WHERE k >= lo AND k < 100 / g) > 3'),
	('SELECT id, (SELECT count(*) FROM sub_t WHERE k >= lo AND k < 100 / g) FROM sub_b WHERE g <> 0 AND (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) > 100')) q(q);
CREATE VIEW sub_v AS SELECT id, lo, 100 / g AS x, (SELECT count(*) FROM sub_t WHERE k >= lo AND k < 100 / g) AS n FROM sub_b;
SELECT sub_same('SELECT n FROM sub_v JOIN sub_few USING (id)');
SELECT sub_same('SELECT sum((SELECT count(*) FROM sub_t WHERE k >= s.lo AND k < s.x)) FROM sub_v s JOIN sub_few USING (id)');

-- plans: where the node comes, and what becomes of the plan around it
EXPLAIN (VERBOSE, COSTS OFF) SELECT id, coalesce((SELECT sum(v) + max(k) - lo FROM sub_t WHERE k BETWEEN lo AND hi), 0), (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b;
EXPLAIN (COSTS OFF) SELECT id FROM sub_b WHERE g = 3 AND (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) > 102 AND g < 4;
EXPLAIN (COSTS OFF) SELECT g, sum((SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi)) FROM sub_b GROUP BY g HAVING count(*) > 2;
EXPLAIN (COSTS OFF) SELECT g, (SELECT count(*) FROM sub_t WHERE k BETWEEN min(lo) AND max(hi)) FROM sub_b GROUP BY id;
EXPLAIN (COSTS OFF) SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b ORDER BY g, id LIMIT 900;
EXPLAIN (COSTS OFF) SELECT id, rank() OVER (ORDER BY id), (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b;
-- several nodes: what a condition drops the next is not asked for
EXPLAIN (COSTS OFF) SELECT id, (SELECT sum(v) FROM sub_t WHERE k = lo) FROM sub_b
	WHERE (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) > 100 AND (SELECT max(v) FROM sub_t WHERE k BETWEEN lo AND hi) > 3;
-- above a Gather, with the scan parallel as in core's plan
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b JOIN sub_few USING (id);
SELECT sub_same('SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b JOIN sub_few USING (id)');
\set ECHO none
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

-- what no batch answers stays core's plan: a parent, a partial index that is not implied, other columns, few rows
CREATE TABLE sub_parent (k int8, v int4);
CREATE TABLE sub_child () INHERITS (sub_parent);
CREATE INDEX ON sub_parent USING gpubtree (k) INCLUDE (v);
CREATE INDEX ON sub_child USING gpubtree (k) INCLUDE (v);
CREATE TABLE sub_partial AS SELECT * FROM sub_t;
CREATE INDEX ON sub_partial USING gpubtree (k) INCLUDE (v) WHERE k > 100;
VACUUM ANALYZE sub_parent, sub_child, sub_partial;
\set ECHO all
EXPLAIN (COSTS OFF) SELECT id, (SELECT count(*) FROM sub_parent WHERE k BETWEEN lo AND hi) FROM sub_b;
EXPLAIN (COSTS OFF) SELECT id, (SELECT count(*) FROM sub_partial WHERE k BETWEEN lo AND hi) FROM sub_b;
EXPLAIN (COSTS OFF) SELECT id, (SELECT count(*) FROM sub_partial WHERE k BETWEEN lo AND hi AND k > 100) FROM sub_b;
EXPLAIN (COSTS OFF) SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b WHERE id = 3;
DROP TABLE sub_parent, sub_child, sub_partial;

-- where rows are not read to the end, or the subquery not evaluated for each, it stays; a LIMIT right above is known
SELECT sub_same(q) FROM (VALUES
	('SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b ORDER BY id LIMIT 1000'),
	('SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 1000 / g) FROM sub_b WHERE id % 5 <> 0 OR id > 1500 ORDER BY id LIMIT 1200'),
	('SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 1000 / g) FROM sub_b WHERE id % 5 <> 0 OR id > 1500 ORDER BY id LIMIT 1201'),
	('SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b ORDER BY g, id LIMIT 700 OFFSET 700'),
	('SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b ORDER BY g FETCH FIRST 700 ROWS WITH TIES'),
	('SELECT id FROM sub_b WHERE (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) > 3 LIMIT 700'),
	('SELECT g, sum((SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi)) FROM (SELECT * FROM sub_b ORDER BY g) b GROUP BY g ORDER BY g LIMIT 2'),
	('SELECT id FROM sub_few f WHERE id < 4 AND EXISTS (SELECT 1 FROM (SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) AS n FROM sub_b OFFSET 0) s WHERE s.id > f.id AND n > 3)'),
	('WITH s AS MATERIALIZED (SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) AS n FROM sub_b) SELECT * FROM s LIMIT 3'),
	('WITH s AS MATERIALIZED (SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) AS n FROM sub_b) SELECT id + 1, n FROM s UNION ALL SELECT * FROM s'),
	('SELECT CASE WHEN g = 1 THEN (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) END FROM sub_b'),
	('SELECT coalesce(g, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi)) FROM sub_b'),
	('SELECT coalesce((SELECT max(v) FROM sub_t WHERE k BETWEEN lo AND hi), (SELECT count(*) FROM sub_t WHERE k = 100 / g)) FROM sub_b'),
	('SELECT g = 1 AND (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) > 100 FROM sub_b'),
	('SELECT CASE (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) WHEN 102 THEN (SELECT count(*) FROM sub_t WHERE k = 100 / g + lo) END FROM sub_b WHERE g <> 0'),
	('SELECT sum((SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 100 / g)) FILTER (WHERE g <> 0) FROM sub_b'),
	('SELECT generate_series(1, 2), (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b'),
	('SELECT g, sum((SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi)) FROM sub_b GROUP BY ROLLUP (g)'),
	('SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b WHERE random() >= 0'),
	('SELECT id, random() < 2, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b')) q(q);

-- joins of all kinds; below a merge join nothing may fail
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT sub_same('SELECT f.id, s.n FROM sub_few f LEFT JOIN (SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) AS n FROM sub_b OFFSET 0) s USING (id)');
SELECT sub_same('SELECT f.id, s.n FROM sub_few f LEFT JOIN (SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 100 / g) AS n FROM sub_b WHERE id <= 1900 AND g <> 0 OR id > 1999 ORDER BY id OFFSET 0) s USING (id)');
RESET enable_hashjoin;
RESET enable_nestloop;
SELECT sub_same('SELECT f.id, s.n FROM sub_few f JOIN (SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) AS n FROM sub_b) s USING (id) WHERE s.n > 3');
SELECT sub_same('SELECT f.id, s.n FROM sub_few f LEFT JOIN (SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) AS n FROM sub_b) s ON s.id = f.id + 1000');
SELECT sub_same('SELECT s.n FROM generate_series(1, 3) o, LATERAL (SELECT sum((SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi + o)) AS n FROM sub_b WHERE g = o) s');
SELECT sub_same('SELECT (SELECT sum((SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi + o)) FROM sub_b WHERE g = o) FROM generate_series(1, 3) o');
SELECT sub_same('SELECT id, (SELECT max(v) FROM sub_t WHERE k BETWEEN lo AND (SELECT max(hi) FROM sub_b)) FROM sub_b WHERE id < 40');

-- a window's run condition refers to the target list by number, and ends the reading
SELECT sub_same(q) FROM (VALUES
	('SELECT id, n FROM (SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) AS n, row_number() OVER (ORDER BY id) AS rn FROM sub_b) s WHERE rn <= 1000 AND n IS NOT NULL'),
	('SELECT * FROM (SELECT n, row_number() OVER () AS rn FROM (SELECT (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 100 / (1000 - id)) AS n FROM sub_b OFFSET 0) q) s WHERE rn <= 300')) q(q);
-- rows are not read where an error might be met that core does not meet: several parts below a LIMIT, an empty
-- inner side, bounds that core's scan does not evaluate, values of a subquery that returns too many rows
SELECT sub_same('SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b UNION ALL SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 1000 / (1500 - id)) FROM sub_b LIMIT 1000 OFFSET 2000');
CREATE TABLE sub_empty (k int8, v int4);
CREATE INDEX ON sub_empty USING gpubtree (k) INCLUDE (v);
-- an empty table is read as a whole, and the others with it
SET cpu_index_tuple_cost = 10;
SELECT sub_same(q) FROM (VALUES
	('SELECT s.* FROM (SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 100 / (2 - id)) AS n FROM sub_b OFFSET 0) s WHERE EXISTS (SELECT 1 FROM sub_t f WHERE f.k = s.id AND f.v + f.k > 100000000)'),
	('SELECT (SELECT count(*) FROM sub_empty WHERE k < 100 / g) FROM sub_b'),
	('SELECT (SELECT (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 100 / (5 - id)) FROM sub_b)'),
	('SELECT sum(x) FROM sub_few f JOIN (SELECT id, (SELECT count(*) FROM sub_t WHERE k = id) AS n, sum(1000 / (1990 - id)) AS x FROM sub_b GROUP BY id ORDER BY id OFFSET 0) s USING (id) WHERE n >= 0')) q(q);
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT sub_same('SELECT sum(x) FROM sub_few f JOIN (SELECT id, (SELECT count(*) FROM sub_t WHERE k = id) AS n, sum(1000 / (1990 - id)) AS x FROM sub_b GROUP BY id ORDER BY id OFFSET 0) s USING (id) WHERE n >= 0');
SELECT sub_same('SELECT count(*) FROM sub_few f JOIN (SELECT b.id, (SELECT count(*) FROM sub_t WHERE k = b.id) AS n FROM sub_b b, LATERAL generate_series(1, 1000 / (1990 - b.id)) x(id) ORDER BY b.id OFFSET 0) s ON s.id = f.id');
RESET enable_hashjoin;
RESET enable_nestloop;
DROP TABLE sub_empty;
RESET cpu_index_tuple_cost;

-- whoever wants few rows gets no error of those behind
CREATE FUNCTION sub_first() RETURNS int8 LANGUAGE sql VOLATILE AS
	'SELECT (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 100000 / (500 - id)) FROM sub_b ORDER BY id';
SELECT sub_first();
DO $$
DECLARE
	n int8;
	r record;
BEGIN
	SELECT (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 100000 / (500 - id)) INTO n FROM sub_b ORDER BY id;
	RAISE NOTICE 'first %', n;
	FOR r IN SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND 100000 / (500 - id)) AS n FROM sub_b ORDER BY id LOOP
		EXIT WHEN r.id = 440;
	END LOOP;
	RAISE NOTICE '%', r;
END $$;
DROP FUNCTION sub_first();
-- an InitPlan runs when its value is first needed, which may be in a row that nobody wants
CREATE FUNCTION sub_first() RETURNS int8 LANGUAGE sql VOLATILE AS
	'SELECT (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b WHERE id < 20 OR lo < (SELECT 1 / (count(*) - 2000) FROM sub_b)';
SELECT sub_first();
DROP FUNCTION sub_first();
-- the least key's InitPlan, and with it the bounds, is evaluated only if the subquery's expression comes to it
SELECT sub_same(q) FROM (VALUES
	('SELECT count(m) FROM (SELECT (SELECT coalesce(b.g::int8, min(k)) FROM sub_t WHERE k > 100 / g) AS m FROM sub_b b OFFSET 0) q'),
	('SELECT count(m) FROM (SELECT (SELECT CASE WHEN b.g > 0 THEN min(k) END FROM sub_t WHERE k > 100 / g) AS m FROM sub_b b OFFSET 0) q'),
	('SELECT count(m) FROM (SELECT (SELECT min(k) + 1 FROM sub_t WHERE k > 100 / g) AS m FROM sub_b b WHERE g > 0 OFFSET 0) q')) q(q);

\set ECHO none
-- volatile functions are called in core's order
CREATE SEQUENCE sub_s;
CREATE FUNCTION sub_next(int) RETURNS int8 LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN nextval('sub_s'); END $$;
CREATE FUNCTION sub_counted(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	stock text;
BEGIN
	PERFORM setval('sub_s', 1);
	ours := sub_digest(query);
	SET LOCAL gpubtree.enable_subquery = off;
	PERFORM setval('sub_s', 1);
	stock := sub_digest(query);
	SET LOCAL gpubtree.enable_subquery = on;
	RETURN CASE WHEN ours = stock THEN 'same' ELSE 'DIFFERENT' END;
END $$;
\set ECHO all
SELECT sub_counted(q) FROM (VALUES
	('SELECT id, nextval(''sub_s''), (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b'),
	('SELECT id, nextval(''sub_s''), (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b WHERE (SELECT nextval(''sub_s'') + lo * 0 OFFSET 0) > 0'),
	('SELECT f - nextval(''sub_s''), (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b, LATERAL sub_next(id) f'),
	('SELECT g, sum(nextval(''sub_s'')), nextval(''sub_s''), (SELECT count(*) FROM sub_t WHERE k BETWEEN min(lo) AND max(hi)) FROM (SELECT * FROM sub_b ORDER BY id) b GROUP BY id, g'),
	('SELECT id, sum(nextval(''sub_s'')) OVER (ORDER BY id) - sum(nextval(''sub_s'')) OVER (ORDER BY id), (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b')) q(q);
DROP FUNCTION sub_counted, sub_next;
DROP SEQUENCE sub_s;

-- cursors do what they did: WHERE CURRENT OF, and backward where core's plan can; the rows are kept for that
BEGIN;
DECLARE c CURSOR FOR SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b;
FETCH 2 FROM c;
UPDATE sub_b SET g = -1 WHERE CURRENT OF c;
SELECT id FROM sub_b WHERE g = -1;
FETCH PRIOR FROM c;
CLOSE c;
DECLARE c CURSOR FOR SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b ORDER BY g, id;
FETCH 2 FROM c;
FETCH PRIOR FROM c;
FETCH LAST FROM c;
FETCH ABSOLUTE 41 FROM c;
EXPLAIN (VERBOSE, COSTS OFF) DECLARE d SCROLL CURSOR FOR SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b ORDER BY g, id;
EXPLAIN (COSTS OFF) DECLARE d NO SCROLL CURSOR FOR SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b ORDER BY g, id;
EXPLAIN (COSTS OFF) DECLARE d SCROLL CURSOR FOR SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b ORDER BY id;
ROLLBACK;

-- a plan that was made before the switch was turned, and serializable transactions, run the stock SubPlans
SET plan_cache_mode = force_generic_plan;
PREPARE sub_p (int8) AS SELECT sum((SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND lo + $1)) FROM sub_b;
SELECT sub_ran('EXECUTE sub_p (3)');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT sub_ran('EXECUTE sub_p (3)');
EXECUTE sub_p (3);
COMMIT;
EXECUTE sub_p (3);
EXECUTE sub_p (NULL);
EXECUTE sub_p (9223372036854775807);
DEALLOCATE sub_p;
PREPARE sub_p (int8) AS SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b ORDER BY id LIMIT $1 OFFSET $1;
SELECT sub_ran('EXECUTE sub_p (900)');
EXECUTE sub_p (2);
EXECUTE sub_p (-1);
DEALLOCATE sub_p;
RESET plan_cache_mode;

-- JIT: what a batch saves is not a reason to compile
SET jit = on;
SET jit_above_cost = 5000;
SELECT count(*) FROM (SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b) s;
\set ECHO none
CREATE FUNCTION sub_jit(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		IF line ~ '^JIT' THEN RETURN true; END IF;
	END LOOP;
	RETURN false;
END $$;
\set ECHO all
SELECT sub_jit('SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b');
SET jit = off;

-- statements that may recheck rows have no node; INSERT ... SELECT may
EXPLAIN (COSTS OFF) SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b FOR UPDATE;
EXPLAIN (COSTS OFF) UPDATE sub_b SET g = (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi);
EXPLAIN (COSTS OFF) WITH u AS (UPDATE sub_few SET id = id RETURNING id) SELECT id, (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b;
EXPLAIN (COSTS OFF) INSERT INTO sub_few SELECT (SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi) FROM sub_b;

-- rights are those of the stock SubPlan
CREATE ROLE regress_gpb_subquery;
GRANT SELECT ON sub_b TO regress_gpb_subquery;
BEGIN;
SET LOCAL ROLE regress_gpb_subquery;
SELECT sum((SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi)) FROM sub_b;
ROLLBACK;
GRANT SELECT (k) ON sub_t TO regress_gpb_subquery;
BEGIN;
SET LOCAL ROLE regress_gpb_subquery;
SELECT sum((SELECT count(*) FROM sub_t WHERE k BETWEEN lo AND hi)) FROM sub_b;
SELECT sum((SELECT sum(v) FROM sub_t WHERE k BETWEEN lo AND hi)) FROM sub_b;
ROLLBACK;
GRANT SELECT ON sub_t TO regress_gpb_subquery;
BEGIN;
REVOKE EXECUTE ON FUNCTION sum(integer) FROM PUBLIC;
SET LOCAL ROLE regress_gpb_subquery;
SELECT sum((SELECT sum(v) FROM sub_t WHERE k BETWEEN lo AND hi)) FROM sub_b;
ROLLBACK;

DROP VIEW sub_v;
DROP TABLE sub_t, sub_b, sub_few;
DROP FUNCTION sub_same, sub_digest, sub_jit, sub_ran;
DROP ROLE regress_gpb_subquery;
