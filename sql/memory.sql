--
-- work_mem times hash_mem_multiplier is what a node may take, not what it takes: memory grows with what there is to keep.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;

CREATE TABLE item (k bigint NOT NULL, v integer);
INSERT INTO item SELECT i % 10000, i FROM generate_series(1, 40000) i;
CREATE INDEX item_k ON item USING gpubtree (k) INCLUDE (v);
CREATE TABLE wish (id integer, k bigint);
INSERT INTO wish SELECT i, i * 7 % 11000 FROM generate_series(1, 3000) i;
VACUUM ANALYZE item, wish;

\i :abs_srcdir/sql/common/node.sql
-- Rows that a query returns, and whether all contexts together stay below 60 MB where it has returned the first and where it has returned the last
CREATE FUNCTION memory(query text) RETURNS TABLE (node text, n_rows integer, little boolean) LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	ended boolean;
	most numeric := 0;
BEGIN
	node := node(query);
	n_rows := 0;
	OPEN c FOR EXECUTE query;
	LOOP
		FETCH c INTO r;
		ended := NOT FOUND;
		IF ended OR n_rows % 1000 = 0 THEN
			most := greatest(most, (SELECT sum(total_bytes) FROM pg_backend_memory_contexts));
		END IF;
		EXIT WHEN ended;
		n_rows := n_rows + 1;
	END LOOP;
	CLOSE c;
	little := most < 60e6;
	RETURN NEXT;
END $$;

SET cursor_tuple_fraction = 1;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET gpubtree.setup_cost = 0;

CREATE FUNCTION all_queries() RETURNS SETOF text LANGUAGE sql AS $$
	VALUES ('SELECT w.id, i.v FROM wish w JOIN item i ON i.k = w.k'),
		('SELECT w.id, i.k FROM wish w LEFT JOIN item i ON i.k = w.k'),
		('SELECT w.id FROM wish w WHERE EXISTS (SELECT FROM item i WHERE i.k = w.k)'),
		('SELECT count(*), sum(i.v) FROM wish w JOIN item i ON i.k = w.k'),
		('SELECT w.id, sum(i.v) FROM wish w JOIN item i ON i.k BETWEEN w.k AND w.k + 10 GROUP BY w.id'),
		('SELECT k / 10, sum(v) FROM item GROUP BY 1'),
		('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM item'),
		('SELECT count(*), sum(v) FROM item WHERE k = ANY (ARRAY(SELECT k FROM wish))')
$$;
CREATE FUNCTION report() RETURNS TABLE (node text, n_rows integer, little boolean) LANGUAGE sql AS $$
	SELECT m.* FROM all_queries() q, LATERAL memory(q) m
$$;
\set ECHO all

-- a little, and as much as can be set
SELECT * FROM report();
SET work_mem = '2147483647kB';
SET hash_mem_multiplier = 1000;
SELECT * FROM report();
-- small batches on the device too
SET gpubtree.batch_setup_cost = 0;
SELECT * FROM report();
-- rows that the heap must decide about
UPDATE item SET v = v + 1 WHERE k % 3 = 0;
SELECT * FROM report();
SET gpubtree.batch_setup_cost = 1000000;
SELECT * FROM report();

-- a list that grows, and one that is handed out in parts, have the same rows
CREATE TEMP TABLE listed (work_mem text, batch_setup_cost text, n bigint, sum numeric);
CREATE FUNCTION list_with(memory text, multiplier text, cost text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('work_mem', memory, true), set_config('hash_mem_multiplier', multiplier, true), set_config('gpubtree.batch_setup_cost', cost, true);
	EXECUTE 'INSERT INTO listed SELECT $1, $2, count(*), sum(id::int8 * v) FROM (SELECT w.id, i.v FROM (SELECT id, k FROM wish, generate_series(1, 20)) w JOIN item i ON i.k = w.k OFFSET 0) q' USING memory, cost;
END $$;
SELECT node('SELECT w.id, i.v FROM (SELECT id, k FROM wish, generate_series(1, 20)) w JOIN item i ON i.k = w.k OFFSET 0');
SELECT FROM (VALUES ('64kB', '1'), ('1MB', '1'), ('2147483647kB', '1000')) m (memory, multiplier), (VALUES ('0'), ('1000000')) c (cost), LATERAL list_with(memory, multiplier, cost);
SELECT count(DISTINCT (n, sum)) AS different, min(n) AS n FROM listed;

DROP TABLE item, wish, listed;
DROP FUNCTION node, memory, all_queries, report, list_with;
