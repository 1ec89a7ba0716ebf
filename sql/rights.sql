-- Who may not execute an aggregate cannot have it computed by a node that stands for it, nor planned
CREATE TABLE gpb_t (k bigint NOT NULL, v integer);
INSERT INTO gpb_t SELECT i % 2000, i % 37 FROM generate_series(1, 20000) i;
CREATE INDEX gpb_t_k ON gpb_t USING gpubtree (k) INCLUDE (v);
CREATE TABLE gpb_b AS SELECT i AS id, i::bigint AS lo, i::bigint + 50 AS hi FROM generate_series(1, 1900) i;
CREATE TABLE gpb_p (LIKE gpb_t) PARTITION BY RANGE (k);
CREATE TABLE gpb_p_1 PARTITION OF gpb_p FOR VALUES FROM (0) TO (900);
CREATE TABLE gpb_p_2 PARTITION OF gpb_p FOR VALUES FROM (900) TO (2000);
CREATE INDEX ON gpb_p USING gpubtree (k) INCLUDE (v);
INSERT INTO gpb_p SELECT * FROM gpb_t;
VACUUM ANALYZE gpb_t, gpb_b, gpb_p;
CREATE ROLE regress_gpb_rights;
GRANT SELECT ON gpb_t, gpb_b, gpb_p TO regress_gpb_rights;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_sort = off;
SET enable_hashagg = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET cpu_tuple_cost = 1;

-- node of each query, and what its EXPLAIN and its execution raise
CREATE FUNCTION attempt(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'allowed';
EXCEPTION WHEN insufficient_privilege THEN
	RETURN SQLERRM;
END $$;
\i :abs_srcdir/sql/common/node.sql
CREATE TABLE queries (n serial, query text);
INSERT INTO queries (query) VALUES
	('SELECT sum(v) FROM gpb_t WHERE k > 5'),
	('SELECT sum(v) FROM gpb_t WHERE k = ANY (''{1,2,3,4,5,6,7,8,9,10,11,12}'')'),
	('SELECT k / 1000, sum(v) FROM gpb_t GROUP BY 1'),
	('SELECT sum(v) FROM gpb_b b JOIN gpb_t t ON t.k = b.lo'),
	('SELECT b.id, sum(v) FROM gpb_b b JOIN gpb_t t ON t.k BETWEEN b.lo AND b.hi GROUP BY 1'),
	('SELECT b.id, s.* FROM gpb_b b CROSS JOIN LATERAL (SELECT sum(v) FROM gpb_t t WHERE t.k BETWEEN b.lo AND b.hi) s'),
	('SELECT b.id, s.n FROM gpb_b b CROSS JOIN LATERAL (SELECT sum(v) + count(*) AS n FROM gpb_t t WHERE t.k BETWEEN b.lo AND b.hi) s'),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM gpb_t'),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k), sum(v) FROM gpb_t WHERE k > 5'),
	('SELECT sum(v * 2) FROM gpb_t WHERE k > 5'),
	('SELECT k / 1000, sum(v / v) FROM gpb_t WHERE k > 5 GROUP BY 1'),
	('SELECT b.id, sum(v * 2) FROM gpb_b b JOIN gpb_t t ON t.k > b.lo AND t.k < b.hi GROUP BY 1'),
	('SELECT sum(v) FROM gpb_p WHERE v > 3::bigint');
GRANT SELECT ON queries TO regress_gpb_rights;
\set ECHO all

SELECT n, node(query) FROM queries ORDER BY n;
BEGIN;
REVOKE EXECUTE ON FUNCTION sum(integer), percentile_disc(float8, anyelement) FROM PUBLIC;
SET LOCAL ROLE regress_gpb_rights;
SELECT n, attempt(query) FROM queries ORDER BY n;
SELECT n, attempt('EXPLAIN ' || query) FROM queries ORDER BY n;
-- others are allowed still
SELECT attempt('SELECT max(v) FROM gpb_t WHERE k > 5');
ROLLBACK;
-- nor who may not execute the function of an operator, though the ordinary plan has not begun
BEGIN;
REVOKE EXECUTE ON FUNCTION int84gt, int8gt, int48gt FROM PUBLIC;
SET LOCAL ROLE regress_gpb_rights;
SELECT n, attempt(query) FROM queries WHERE n > 9 ORDER BY n;
ROLLBACK;

\set ECHO none
-- A row comparison asks for no right to what EXPLAIN shows of it, and a cached plan sees rights change
CREATE SCHEMA gpb_s;
GRANT USAGE ON SCHEMA gpb_s TO regress_gpb_rights;
CREATE TABLE gpb_s.pages (k integer, v integer);
INSERT INTO gpb_s.pages SELECT i % 100, i FROM generate_series(1, 10000) i;
CREATE INDEX pages_kv ON gpb_s.pages USING gpubtree (k, v);
VACUUM ANALYZE gpb_s.pages;
GRANT SELECT ON gpb_s.pages TO regress_gpb_rights;
SET plan_cache_mode = force_generic_plan;
PREPARE page (integer) AS SELECT k, v FROM gpb_s.pages WHERE (k, v) > ($1, 5000) ORDER BY k, v LIMIT 2;
\set ECHO all
EXPLAIN (COSTS OFF) EXECUTE page (50);
BEGIN;
REVOKE USAGE ON SCHEMA public FROM PUBLIC;
SET LOCAL ROLE regress_gpb_rights;
EXPLAIN (COSTS OFF) SELECT k, v FROM gpb_s.pages WHERE (k, v) > (50, 5000) ORDER BY k, v LIMIT 2;
SELECT k, v FROM gpb_s.pages WHERE (k, v) > (50, 5000) ORDER BY k, v LIMIT 2;
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION gpubtree_where_equal FROM PUBLIC;
SET LOCAL ROLE regress_gpb_rights;
EXPLAIN (COSTS OFF) EXECUTE page (50);
EXECUTE page (50);
ROLLBACK;
EXPLAIN (COSTS OFF) EXECUTE page (50);
DEALLOCATE page;

DROP SCHEMA gpb_s CASCADE;
DROP TABLE queries, gpb_t, gpb_b, gpb_p;
DROP FUNCTION attempt, node;
DROP ROLE regress_gpb_rights;
