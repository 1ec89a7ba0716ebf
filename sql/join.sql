--
-- Batched joins: the plans, the answers, and what is left to ordinary plans.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;

CREATE TABLE goods (k integer, price integer, stock bigint, name text);
INSERT INTO goods SELECT CASE WHEN n % 40 <> 0 THEN n / 2 END, n % 100, n, 'good ' || n
	FROM generate_series(1, 8000) n;
CREATE INDEX goods_k ON goods USING gpubtree (k) INCLUDE (price);
CREATE TABLE orders (id integer PRIMARY KEY, good bigint, amount integer);
INSERT INTO orders SELECT n, CASE WHEN n % 30 <> 0 THEN (n * 7919) % 6000 END, n % 50
	FROM generate_series(1, 1000) n;
VACUUM ANALYZE goods;
VACUUM ANALYZE orders;

-- The tables are small: price core's joins out, so that ours is used wherever it can be.
CREATE FUNCTION prefer_ours() RETURNS void LANGUAGE sql AS $$
	SELECT set_config(name, 'off', false)
	FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name
$$;
\set ECHO all

SELECT prefer_ours();

\set ECHO none
SET compare.node = 'GpubtreeJoin';
SET compare.order_by = ' ORDER BY q::text';
SET compare.uncounted = 'Engine|Leaves|Fallbacks';
\i :abs_srcdir/sql/common/compare_rows.sql
\i :abs_srcdir/sql/common/counts.sql
ALTER FUNCTION plain_answer SET enable_hashjoin = on SET enable_nestloop = on;
\set ECHO all

--
-- Plans of each kind
--
EXPLAIN (COSTS OFF) SELECT o.id, g.price FROM orders o JOIN goods g ON g.k = o.good;
EXPLAIN (COSTS OFF) SELECT o.id, g.name FROM orders o LEFT JOIN goods g
	ON o.good = g.k AND g.price < o.amount AND g.stock > 10 WHERE g.name IS NULL OR g.price > 3;
EXPLAIN (COSTS OFF) SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM goods g WHERE g.k = o.good);
EXPLAIN (COSTS OFF) SELECT o.id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM goods g WHERE g.k = o.good);
EXPLAIN (COSTS OFF) SELECT g.* FROM goods g WHERE g.k IN (SELECT good FROM orders);
-- in the outer order, without a sort
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT o.id, g.price FROM orders o JOIN goods g ON g.k = o.good ORDER BY o.id LIMIT 5;
\set ECHO none
RESET enable_sort;
\set ECHO all
SELECT * FROM counts('SELECT o.id, g.price FROM orders o JOIN goods g ON g.k = o.good WHERE g.price > 50');
SELECT * FROM counts('SELECT o.id, g.name FROM orders o JOIN goods g ON g.k = o.good AND g.price > o.amount');
\set ECHO none
-- the same keys in other formats
CREATE FUNCTION keys(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN QUERY SELECT key || CASE WHEN json_typeof(value) = 'number' OR key IN ('Engine') THEN '' ELSE ': ' || value END
		FROM json_each(plan->0->'Plan') WHERE key NOT IN ('Plans');
END $$;
\set ECHO all
SELECT * FROM keys('SELECT o.id, g.name FROM orders o JOIN goods g ON g.k = o.good AND g.price > o.amount WHERE g.stock > 5');
-- which of two tables of one name: alias and schema; an alias that core makes unique
EXPLAIN (VERBOSE, COSTS OFF) SELECT goods.id, "Other".name FROM orders goods JOIN goods AS "Other" ON "Other".k = goods.amount;
EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT count(*) FROM orders o JOIN goods inner_side ON inner_side.k = o.good;
EXPLAIN (COSTS OFF) SELECT (SELECT count(*) FROM orders o JOIN goods g ON g.k = o.good) FROM goods g WHERE g.k = 1;

-- the outer order, and more matches than memory holds: half of the keys at a time
SET work_mem = '64kB';
SET enable_sort = off;
CREATE TABLE many (k bigint, v integer);
INSERT INTO many SELECT n % 20, n FROM generate_series(1, 4000) n;
CREATE INDEX many_k ON many USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE many;
SELECT * FROM counts('SELECT o.id, m.v FROM orders o JOIN many m ON m.k = o.amount ORDER BY o.id');
SELECT count(*), count(*) FILTER (WHERE id < last) AS out_of_order
FROM (SELECT id, lag(id) OVER () AS last
	FROM (SELECT o.id, m.v FROM orders o LEFT JOIN many m ON m.k = o.amount ORDER BY o.id OFFSET 0) j) l;
SELECT compare('SELECT o.id, m.v FROM orders o LEFT JOIN many m ON m.k = o.amount ORDER BY o.id');
RESET work_mem;
RESET enable_sort;

--
-- Answers
--
SELECT compare(query) FROM unnest(ARRAY[
	'SELECT o.id, g.price FROM orders o JOIN goods g ON g.k = o.good',
	'SELECT o.*, g.* FROM orders o JOIN goods g ON g.k = o.good',
	'SELECT o.*, g.* FROM orders o LEFT JOIN goods g ON g.k = o.good',
	'SELECT o.id, g.name FROM orders o LEFT JOIN goods g ON o.good = g.k AND g.price < o.amount WHERE g.name IS NULL OR g.price > 3',
	'SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM goods g WHERE g.k = o.good AND g.price > o.amount)',
	'SELECT o.id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM goods g WHERE g.k = o.good)',
	'SELECT g.* FROM goods g WHERE g.k IN (SELECT good FROM orders)',
	'SELECT o.id, a.price, b.name FROM orders o JOIN goods a ON a.k = o.good JOIN goods b ON b.k = a.price',
	'SELECT o.id, (SELECT sum(g.price) FROM orders i JOIN goods g ON g.k = i.good WHERE i.amount = o.id) FROM orders o WHERE id < 20',
	-- an expression as the outer key
	'SELECT o.id, g.price FROM orders o JOIN goods g ON g.k = o.good + 1',
	-- expressions over both sides of an outer join
	'SELECT o.id, g.price + o.amount FROM orders o LEFT JOIN goods g ON g.k = o.good',
	'SELECT o.id, g.price + o.amount FROM orders o LEFT JOIN goods g ON g.k = o.good AND g.price > 3 WHERE o.id < 50'
]) query;

-- Matches that the key alone decides: entries are counted, and no list has to fit into memory
SET work_mem = '64kB';
SET enable_sort = off;
SELECT * FROM counts('SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM many m WHERE m.k = o.amount) ORDER BY o.id') line
WHERE line !~ 'Blocks Refreshed';
SELECT count(*), count(*) FILTER (WHERE id < last) AS out_of_order
FROM (SELECT id, lag(id) OVER () AS last
	FROM (SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM many m WHERE m.k = o.amount) ORDER BY o.id OFFSET 0) j) l;
RESET work_mem;
RESET enable_sort;
DELETE FROM many WHERE k % 3 = 0;
SELECT compare(query) FROM unnest(ARRAY[
	'SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM goods g WHERE g.k = o.good)',
	'SELECT o.* FROM orders o WHERE EXISTS (SELECT 1 FROM goods g WHERE g.k = o.good + 1)',
	'SELECT o.* FROM orders o WHERE NOT EXISTS (SELECT 1 FROM goods g WHERE g.k = o.good - 2000)',
	-- values that the key does not have
	'SELECT o.* FROM orders o WHERE EXISTS (SELECT 1 FROM goods g WHERE g.k = o.good + (o.id % 3) * 4294967296)',
	'SELECT o.* FROM orders o WHERE NOT EXISTS (SELECT 1 FROM goods g WHERE g.k = o.good - (o.id % 3) * 4294967296)',
	-- columns of the inner side, all NULL
	'SELECT o.id, g.k, g.price, g.name FROM orders o LEFT JOIN goods g ON g.k = o.good WHERE g.k IS NULL',
	-- the inner key comes out of the semi-join, since a join above it may compare with that
	'SELECT o.id, p.id FROM (SELECT * FROM orders o WHERE EXISTS (SELECT 1 FROM goods g WHERE g.k = o.good)) o JOIN orders p ON p.good = o.good',
	-- rows that are deleted, and pages that VACUUM has not seen
	'SELECT o.* FROM orders o WHERE EXISTS (SELECT 1 FROM many m WHERE m.k = o.amount)',
	'SELECT o.* FROM orders o WHERE NOT EXISTS (SELECT 1 FROM many m WHERE m.k = o.amount)',
	-- executed again
	'SELECT o.id, (SELECT count(*) FROM orders i WHERE i.amount = o.id AND EXISTS (SELECT 1 FROM goods g WHERE g.k = i.good + o.id)) FROM orders o WHERE id < 20',
	'SELECT o.id, (SELECT count(*) FROM orders i WHERE i.amount = o.id AND NOT EXISTS (SELECT 1 FROM goods g WHERE g.k = i.good + o.id)) FROM orders o WHERE id < 20'
]) query;

--
-- Joins under aggregates
--
CREATE FUNCTION is_aggregated(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_or(line LIKE '%GpubtreeJoinAggregate%') FROM plan(query) line
$$;
EXPLAIN (COSTS OFF) SELECT count(*), sum(g.price) + 1 AS more FROM orders o JOIN goods g ON g.k = o.good WHERE o.amount > 3;
SELECT * FROM counts('SELECT count(*), sum(g.price) FROM orders o JOIN goods g ON g.k = o.good WHERE o.amount > 3');
SELECT compare(query), is_aggregated(query) FROM unnest(ARRAY[
	'SELECT count(*), count(g.price), sum(g.price), avg(g.price), min(g.price), max(g.price) FROM orders o JOIN goods g ON g.k = o.good',
	'SELECT count(*), sum(g.k), max(g.k) FROM orders o JOIN goods g ON o.good + 1 = g.k',
	'SELECT sum(g.price), sum(g.k) FROM orders o JOIN goods g ON g.k = o.good',
	'SELECT count(*), sum(g.price) FROM orders o JOIN orders p USING (id) JOIN goods g ON g.k = o.good WHERE p.amount < 7',
	'SELECT count(*), sum(g.price) FROM orders o JOIN goods g ON g.k = o.good WHERE o.id < 0',
	'SELECT o.id, (SELECT sum(g.price) FROM orders i JOIN goods g ON g.k = i.good WHERE i.amount = o.id) FROM orders o WHERE id < 20'
]) query;
SET gpubtree.enable_joinaggregate = off;
SELECT is_aggregated('SELECT count(*) FROM orders o JOIN goods g ON g.k = o.good') AS switched_off;
\set ECHO none
RESET gpubtree.enable_joinaggregate;
-- joined rows are needed
SELECT is_aggregated(query), query FROM unnest(ARRAY[
	'SELECT sum(g.stock) FROM orders o JOIN goods g ON g.k = o.good',
	'SELECT sum(o.amount) FROM orders o JOIN goods g ON g.k = o.good',
	'SELECT count(DISTINCT g.price) FROM orders o JOIN goods g ON g.k = o.good',
	'SELECT count(*) FROM orders o JOIN goods g ON g.k = o.good WHERE g.price > 3',
	'SELECT count(*) FROM orders o JOIN goods g ON g.k = o.good AND g.price > o.amount',
	'SELECT count(*) FROM orders o LEFT JOIN goods g ON g.k = o.good',
	'SELECT o.amount, count(*) FROM orders o JOIN goods g ON g.k = o.good GROUP BY 1'
]) query;
\set ECHO all

--
-- Left to ordinary plans
--
SELECT compare(query) FROM unnest(ARRAY[
	-- no equality, or none with the key
	'SELECT o.id FROM orders o JOIN goods g ON g.k > o.good WHERE o.id < 3',
	'SELECT o.id FROM orders o JOIN goods g ON g.price = o.amount',
	'SELECT o.id FROM orders o JOIN goods g ON g.k = o.good::numeric',
	-- what may change from row to row
	'SELECT o.id FROM orders o JOIN goods g ON g.k = o.good + (random() * 0)::int',
	-- the key and a row of both sides
	'SELECT o.id FROM orders o FULL JOIN goods g ON g.k = o.good',
	'SELECT g FROM orders o JOIN goods g ON g.k = o.good',
	'SELECT g.ctid FROM orders o JOIN goods g ON g.k = o.good',
	'SELECT g.k FROM orders o JOIN goods g TABLESAMPLE SYSTEM (100) ON g.k = o.good'
]) query;
SELECT is_ours('SELECT g.k FROM orders o JOIN goods g ON g.k = o.good FOR UPDATE OF o') AS row_marks,
	is_ours('UPDATE goods g SET price = 1 FROM orders o WHERE g.k = o.good') AS update,
	is_ours('INSERT INTO orders SELECT 0, g.k FROM orders o JOIN goods g ON g.k = o.good') AS insert,
	is_ours('INSERT INTO orders SELECT 0, g.k FROM orders o JOIN goods g ON g.k = o.good ON CONFLICT (id) DO UPDATE SET amount = 0') AS upsert;
SET gpubtree.enable_batchjoin = off;
SELECT is_ours('SELECT o.id, g.price FROM orders o JOIN goods g ON g.k = o.good') AS switched_off;
RESET gpubtree.enable_batchjoin;

-- partial indexes: only where the query implies the predicate
CREATE TABLE part (k bigint, v integer);
INSERT INTO part SELECT n % 500, n % 7 FROM generate_series(1, 3000) n;
CREATE INDEX part_k ON part USING gpubtree (k) WHERE v > 3;
VACUUM ANALYZE part;
SELECT compare('SELECT o.id, p.k FROM orders o JOIN part p ON p.k = o.good WHERE p.v > 3');
SELECT compare('SELECT o.id, p.k FROM orders o JOIN part p ON p.k = o.good WHERE p.v > 2');

-- a table with children
CREATE TABLE family (k bigint, v integer);
CREATE TABLE child () INHERITS (family);
INSERT INTO family SELECT n, n FROM generate_series(1, 1000) n;
INSERT INTO child SELECT n, n FROM generate_series(1, 1000) n;
CREATE INDEX family_k ON family USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE family;
SELECT compare('SELECT o.id, f.v FROM orders o JOIN family f ON f.k = o.good');
SELECT compare('SELECT o.id, f.v FROM orders o JOIN ONLY family f ON f.k = o.good');

\set ECHO none
-- a row-level security policy, and a function in the clause that would tell what it saw
CREATE ROLE regress_gpubtree_reader;
CREATE FUNCTION tell(bigint) RETURNS bigint LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
	RAISE WARNING 'saw %', $1;
	RETURN $1;
END $$;
CREATE TABLE secret (k bigint, v integer);
INSERT INTO secret SELECT n, n % 3 FROM generate_series(1, 9) n;
CREATE INDEX secret_k ON secret USING gpubtree (k) INCLUDE (v);
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON secret USING (v = 1);
GRANT SELECT ON secret, orders TO regress_gpubtree_reader;
VACUUM ANALYZE secret;
SET ROLE regress_gpubtree_reader;
\set ECHO all
EXPLAIN (COSTS OFF) SELECT o.id, s.v FROM orders o JOIN secret s ON s.k = o.id AND tell(s.k) > o.id - 5;
SELECT o.id, s.v FROM orders o JOIN secret s ON s.k = o.id AND tell(s.k) > o.id - 5;
RESET ROLE;

\set ECHO none
--
-- An outer side whose rows are read from the table's pages
--
CREATE TABLE pages (gone integer, id integer, flag boolean, words text, good bigint, amount numeric, place text);
INSERT INTO pages SELECT n, n, n % 2 = 0, CASE WHEN n % 7 <> 0 THEN repeat('word', n % 300) END,
	CASE WHEN n % 30 <> 0 THEN (n * 7919) % 6000 END, CASE WHEN n % 5 <> 0 THEN n / 8.0 END, 'place ' || n
	FROM generate_series(1, 2000) n;
ALTER TABLE pages DROP COLUMN gone;
VACUUM ANALYZE pages;
-- rows that were stored without the last columns, and some with them
ALTER TABLE pages ADD COLUMN added bigint DEFAULT 77, ADD COLUMN remark text DEFAULT 'none';
INSERT INTO pages (id, good, added) SELECT n, n, nullif(n % 9, 3) FROM generate_series(2001, 2400) n;
UPDATE pages SET words = words || '!' WHERE id % 11 = 0;
DELETE FROM pages WHERE id % 13 = 0;
CREATE FUNCTION compare_pages() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT compare(query) FROM unnest(ARRAY[
		-- columns at fixed places in a row, and behind others
		'SELECT p.id, g.price FROM pages p JOIN goods g ON g.k = p.id',
		'SELECT g.price FROM pages p JOIN goods g ON g.k = p.good',
		'SELECT p.place, p.amount, p.words, p.flag, g.price FROM pages p JOIN goods g ON g.k = p.good',
		'SELECT p.words, p.id, g.name FROM pages p LEFT JOIN goods g ON g.k = p.id',
		-- columns that some rows do not have
		'SELECT p.id, g.name FROM pages p JOIN goods g ON g.k = p.added',
		'SELECT p.remark, p.id, g.name FROM pages p LEFT JOIN goods g ON g.k = p.id',
		-- all columns, the row as one, and what the system adds to it
		'SELECT p.*, g.* FROM pages p LEFT JOIN goods g ON g.k = p.good',
		'SELECT p, g.price FROM pages p JOIN goods g ON g.k = p.good',
		'SELECT p.ctid, p.tableoid::regclass, g.price FROM pages p JOIN goods g ON g.k = p.good',
		-- conditions on the outer side
		'SELECT p.id, g.price FROM pages p JOIN goods g ON g.k = p.good WHERE p.flag AND p.words LIKE ''word%''',
		'SELECT p.id FROM pages p WHERE p.added = 4 AND NOT EXISTS (SELECT 1 FROM goods g WHERE g.k = p.good)',
		'SELECT p.id FROM pages p WHERE p.amount IS NULL AND EXISTS (SELECT 1 FROM goods g WHERE g.k = p.good)',
		'SELECT p.id FROM pages p WHERE p.id < 0 AND EXISTS (SELECT 1 FROM goods g WHERE g.k = p.good)',
		-- executed again, with a parameter and without, and when a page was left in its middle
		'SELECT o.id, (SELECT sum(g.price) FROM pages p JOIN goods g ON g.k = p.good WHERE p.id % 40 = o.id) FROM orders o WHERE id < 20',
		'SELECT o.id, j.* FROM orders o, LATERAL (SELECT count(*), sum(g.price) FROM pages p JOIN goods g ON g.k = p.good + o.id) j WHERE o.id < 20',
		'SELECT o.id, j.* FROM orders o, LATERAL (SELECT count(*) FROM (SELECT o.id FROM pages p JOIN goods g ON g.k = p.good LIMIT 40) l) j WHERE o.id < 20',
		'SELECT o.id, j.* FROM orders o, LATERAL (SELECT count(*) FROM (SELECT o.id FROM pages p JOIN goods g ON g.k = p.good WHERE p.id % 3 = o.id % 3 LIMIT 600) l) j WHERE o.id < 20'
	]) query
$$;
\set ECHO all
SELECT compare_pages();
-- what the transaction itself has changed, and taken back
BEGIN;
UPDATE pages SET good = good + 1, words = NULL WHERE id % 3 = 0;
SAVEPOINT before;
DELETE FROM pages WHERE id % 2 = 0;
ROLLBACK TO before;
SELECT count(*) FILTER (WHERE c NOT LIKE 'equal, %') AS unequal FROM compare_pages() c;
COMMIT;
-- pages all of whose rows are visible
VACUUM pages;
SELECT count(*) FILTER (WHERE c NOT LIKE 'equal, %') AS unequal FROM compare_pages() c;
-- a cursor whose batches end within pages, while the rows are changed
BEGIN;
DECLARE read CURSOR FOR SELECT p.id, g.price FROM pages p JOIN goods g ON g.k = p.id;
MOVE 10 FROM read;
DELETE FROM pages WHERE id % 2 = 0;
UPDATE pages SET id = 1;
DO $$
DECLARE
	read refcursor := 'read';
	row record;
	n integer := 0;
BEGIN
	LOOP
		FETCH read INTO row;
		EXIT WHEN NOT FOUND;
		n := n + 1;
	END LOOP;
	RAISE WARNING '% rows more', n;
END $$;
ROLLBACK;
-- EXPLAIN counts the rows that were taken, and so do the statistics of the table
SELECT * FROM counts('SELECT p.id, g.price FROM pages p JOIN goods g ON g.k = p.good WHERE p.flag') line
WHERE line ~ 'Seq Scan|Removed|Filter|Keys';
SELECT * FROM counts('SELECT p.id, g.price FROM pages p JOIN goods g ON g.k = p.good LIMIT 3') line
WHERE line ~ 'Seq Scan|Keys';
SELECT * FROM counts('SELECT o.id, (SELECT count(*) FROM pages p JOIN goods g ON g.k = p.good + o.id) FROM orders o WHERE o.id < 4') line
WHERE line ~ 'Seq Scan on pages|Keys';
SET track_counts = on;
BEGIN;
SELECT count(*) FROM pages p JOIN goods g ON g.k = p.good WHERE p.id % 2 = 0;
SELECT pg_stat_get_xact_numscans('pages'::regclass) AS scans,
	pg_stat_get_xact_tuples_returned('pages'::regclass) AS returned;
COMMIT;
RESET track_counts;
-- pages that processes share
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT * FROM plan('SELECT p.id, g.price FROM pages p JOIN goods g ON g.k = p.good WHERE g.price > 3') line
WHERE line ~ 'Join|Parallel';
SELECT compare('SELECT p.id, g.price FROM pages p JOIN goods g ON g.k = p.good WHERE g.price > 3');
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
SET max_parallel_workers_per_gather = 0;
-- a condition that fails
SELECT count(*) FROM pages p JOIN goods g ON g.k = p.good WHERE 1 / (p.id - 999) >= 0;

--
-- The planner's own choice: few outer rows stay with a nested loop, many do not
--
\set ECHO none
CREATE TABLE big (k bigint, v integer);
INSERT INTO big SELECT n, n FROM generate_series(1, 200000) n;
CREATE INDEX big_k ON big USING gpubtree (k) INCLUDE (v);
CREATE TABLE probes (k bigint);
INSERT INTO probes SELECT (n * 7919) % 200000 FROM generate_series(1, 5000) n;
VACUUM ANALYZE big;
VACUUM ANALYZE probes;
SET enable_hashjoin = on;
SET enable_mergejoin = on;
SET enable_nestloop = on;
\set ECHO all
SELECT is_ours('SELECT p.k, b.v FROM probes p JOIN big b USING (k)') AS many,
	is_ours('SELECT p.k, b.v FROM (SELECT * FROM probes LIMIT 10) p JOIN big b USING (k)') AS ten,
	is_ours('SELECT p.k, b.v FROM (SELECT * FROM probes LIMIT 1) p JOIN big b USING (k)') AS one,
	is_ours('SELECT p.k, b.v FROM probes p JOIN big b USING (k) LIMIT 1') AS limit_1;

DROP OWNED BY regress_gpubtree_reader;
DROP ROLE regress_gpubtree_reader;
DROP TABLE goods, orders, many, part, family, child, secret, big, probes, pages;
DROP FUNCTION prefer_ours, plan, is_ours, answer, plain_answer, compare, is_aggregated, counts, keys, tell, compare_pages;
