-- Aggregates over a range for each outer row: LATERAL and scalar subqueries
SET gpubtree.setup_cost = 100;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';

CREATE TABLE lat_t (k int8, v int4, f float8, s text);
INSERT INTO lat_t SELECT i % 10000, i % 100, i / 4.0, 'x' FROM generate_series(1, 20000) i;
INSERT INTO lat_t SELECT NULL, i, i, 'null' FROM generate_series(1, 10) i;
CREATE INDEX lat_t_k ON lat_t USING gpubtree (k) INCLUDE (v);
CREATE TABLE lat_bins (id int4 PRIMARY KEY, lo int8, hi int8, g int4);
INSERT INTO lat_bins SELECT i, i * 7 % 9000, i * 7 % 9000 + 50, i % 5 FROM generate_series(1, 1000) i;
INSERT INTO lat_bins VALUES (2001, NULL, 10, 1), (2002, 10, NULL, 2), (2003, 100, 10, 3),
	(2004, -9223372036854775808, 9223372036854775807, 4);
VACUUM ANALYZE lat_t, lat_bins;

-- what each form gives, as a digest, with the node and without it
CREATE FUNCTION lat_same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	stock text;
	plan text;
	used boolean := false;
	digest text := format('SELECT count(*) || '' rows '' || coalesce(md5(string_agg(q::text, '';'' ORDER BY q::text COLLATE "C")), '''') FROM (%s) q', query);
BEGIN
	SET LOCAL gpubtree.enable_rangeaggregate = on;
	SET LOCAL gpubtree.enable_subquery = on;
	FOR plan IN EXECUTE 'EXPLAIN ' || digest LOOP
		used := used OR plan ~ 'Gpubtree(RangeAggregate|Subquery)';
	END LOOP;
	EXECUTE digest INTO ours;
	IF NOT used THEN
		RETURN format('%s, same, no batch', substring(ours FROM '^\d+ rows'));
	END IF;
	SET LOCAL gpubtree.enable_rangeaggregate = off;
	SET LOCAL gpubtree.enable_subquery = off;
	EXECUTE digest INTO stock;
	SET LOCAL gpubtree.enable_rangeaggregate = on;
	SET LOCAL gpubtree.enable_subquery = on;
	RETURN format('%s, %s, batch', substring(ours FROM '^\d+ rows'), CASE WHEN ours = stock THEN 'same' ELSE 'DIFFERENT' END);
END $$;

-- values that may fail are not computed for rows that a join, which may be hidden, drops, nor where a function does without them
CREATE TABLE lat_some AS SELECT id FROM lat_bins, generate_series(1, 5) WHERE g <> 0 AND id < 1000;
ANALYZE lat_some;
CREATE FUNCTION lat_joined() RETURNS SETOF lat_bins LANGUAGE sql STABLE AS 'SELECT b.* FROM lat_bins b JOIN lat_some USING (id)';
CREATE FUNCTION lat_pick(boolean, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT CASE WHEN $1 THEN $2 END';
\set ECHO all

SELECT lat_same('WITH b AS (SELECT b.* FROM lat_bins b JOIN lat_some USING (id)) SELECT sum((SELECT count(*) FROM lat_t WHERE k >= b.lo AND k < b.lo + 100 / b.g)) FROM b');
SELECT lat_same('SELECT sum((SELECT count(*) FROM lat_t WHERE k >= b.lo AND k < b.lo + 100 / b.g)) FROM lat_joined() b');
SELECT lat_same('SELECT sum((SELECT count(*) FROM lat_t WHERE k >= b.lo AND k < b.lo + 100 / b.g)) FROM lat_bins b WHERE random() < 0');
SELECT lat_same('SELECT sum(lat_pick(g <> 0, (SELECT count(*) FROM lat_t WHERE k >= b.lo AND k < b.lo + 100 / b.g))) FROM lat_bins b');
SELECT lat_same('SELECT z.* FROM lat_bins o, LATERAL (SELECT sum((SELECT count(*) FROM lat_t WHERE k >= b.lo AND k < 100 / o.g)) AS n FROM lat_bins b JOIN lat_some s ON s.id = b.id + 100000) z WHERE o.id = 5');
DROP FUNCTION lat_joined, lat_pick;
DROP TABLE lat_some;

-- the three ways to write a LATERAL subquery
EXPLAIN (COSTS OFF) SELECT b.id, s.n, s.total FROM lat_bins b
	CROSS JOIN LATERAL (SELECT count(*) AS n, sum(v) AS total FROM lat_t t WHERE t.k >= b.lo AND t.k < b.hi) s;
EXPLAIN (COSTS OFF) SELECT b.id, s.n FROM lat_bins b
	LEFT JOIN LATERAL (SELECT count(*) AS n FROM lat_t t WHERE t.k >= b.lo AND t.k < b.hi) s ON true;
EXPLAIN (COSTS OFF) SELECT b.id, s.n FROM lat_bins b,
	LATERAL (SELECT min(v) AS n FROM lat_t t WHERE b.lo <= t.k AND t.k < b.lo + 10) s WHERE b.g = 3;
SELECT lat_same('SELECT b.id, s.* FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*), sum(v), avg(v), min(v), max(k) FROM lat_t t WHERE t.k >= b.lo AND t.k < b.hi) s');
SELECT lat_same('SELECT b.id, s.* FROM lat_bins b LEFT JOIN LATERAL (SELECT count(*), sum(v) FROM lat_t t WHERE t.k >= b.lo AND t.k < b.hi) s ON true');
SELECT lat_same('SELECT b.id, s.* FROM lat_bins b, LATERAL (SELECT count(v), min(v) FROM lat_t t WHERE b.lo <= t.k AND t.k < b.lo + 10) s WHERE b.g = 3');
SELECT lat_same('SELECT b.id, s.* FROM lat_bins b, LATERAL (SELECT count(*), count(1), count(t.k) FROM lat_t t WHERE t.k = b.lo) s');

-- expressions over the aggregates are computed above
EXPLAIN (VERBOSE, COSTS OFF) SELECT b.id, s.* FROM lat_bins b LEFT JOIN LATERAL
	(SELECT count(*) AS n, coalesce(sum(v), 0) AS total, max(v) - min(v) + b.g AS spread FROM lat_t t WHERE t.k >= b.lo AND t.k < b.hi) s ON true;
SELECT lat_same('SELECT b.id, s.* FROM lat_bins b LEFT JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(v), 0) AS total, max(v) - min(v) + b.g AS spread, b.hi FROM lat_t t WHERE t.k >= b.lo AND t.k < b.hi) s ON true');
SELECT lat_same('SELECT b.id, c.id, s.* FROM lat_bins b LEFT JOIN lat_bins c ON c.id = CASE b.g WHEN 3 THEN 2001 ELSE 700 + b.g END LEFT JOIN LATERAL (SELECT count(*) + 1 AS n FROM lat_t t WHERE t.k >= c.lo AND t.k < b.hi) s ON true');

-- conditions on the result are tested on what comes out
EXPLAIN (COSTS OFF) SELECT b.id, s.n, s.total FROM lat_bins b
	CROSS JOIN LATERAL (SELECT count(*) AS n, sum(v) AS total FROM lat_t t WHERE t.k >= b.lo AND t.k <= b.hi) s
	WHERE s.n > 100 AND s.total % 5 = b.g;
SELECT lat_same('SELECT b.id, s.n, s.total FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*) AS n, sum(v) AS total FROM lat_t t WHERE t.k >= b.lo AND t.k <= b.hi) s WHERE s.n > 100 AND s.total % 5 = b.g');
SELECT lat_same('SELECT b.id, s.* FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*) AS n, sum(v) AS total FROM lat_t t WHERE t.k >= b.lo AND t.k <= b.hi HAVING count(*) > 100 + b.g) s JOIN lat_bins c ON c.id = s.n');

-- conditions on columns that nobody returns, on the whole row, and two columns that are the same aggregate
SELECT lat_same(q) FROM (VALUES
	('SELECT b.id, s.m FROM lat_bins b LEFT JOIN LATERAL (SELECT coalesce(sum(v), 0) AS n, max(v) + 1 AS m FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi) s ON true WHERE s.n = 5'),
	('SELECT b.id, s.m FROM lat_bins b LEFT JOIN LATERAL (SELECT coalesce(sum(v), 0) AS n, max(v) + 1 AS m FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi) s ON true WHERE s.n > 3000'),
	('SELECT b.id, s.m FROM lat_bins b LEFT JOIN LATERAL (SELECT coalesce(sum(v), 0) AS n, max(v) + 1 AS m FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi) s ON true WHERE s.* IS NOT NULL'),
	('SELECT b.id, s.m FROM lat_bins b LEFT JOIN LATERAL (SELECT coalesce(sum(v), 0) AS n, max(v) + 1 AS m FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi) s ON true WHERE s.n NOT IN (SELECT id FROM lat_bins c WHERE c.g = 3)'),
	('SELECT b.id FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*) AS n, count(*) AS m, sum(v) AS s FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi) s WHERE s.m > 10 AND s.n < 120'),
	('SELECT b.id, n, m, m + n AS x FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*) AS n, count(*) AS m, sum(v) AS s FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi) s')) q(q);
CREATE VIEW lat_parted AS SELECT b.id, s.* FROM lat_bins b LEFT JOIN LATERAL (SELECT coalesce(sum(v), 0) AS n, max(v) + 1 AS m FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi) s ON true;
SELECT lat_same('SELECT id, m FROM lat_parted WHERE n = 5');
SELECT lat_same('SELECT id FROM lat_parted WHERE n > m');
DROP VIEW lat_parted;

-- HAVING comes before columns are computed
EXPLAIN (VERBOSE, COSTS OFF) SELECT b.id, s.x FROM lat_bins b
	CROSS JOIN LATERAL (SELECT 100 / (count(*) - 102) AS x FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi HAVING count(*) <> 102 OR sum(v) < b.g) s;
SELECT lat_same('SELECT b.id, s.x FROM lat_bins b CROSS JOIN LATERAL (SELECT 100 / (count(*) - 102) AS x FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi HAVING count(*) <> 102 OR sum(v) < b.g) s');
SELECT lat_same('SELECT b.id FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*) AS n FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi HAVING coalesce(sum(v), 0) > 3000 AND max(v) > 3) s');

-- conditions are tested in core's order, cheaper ones first
SELECT lat_same(q) FROM (VALUES
	('SELECT b.id, n FROM lat_bins b, LATERAL (SELECT count(*) AS n FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi HAVING 1 / (count(*) - 102) > 0 AND count(*) < 0) s'),
	('SELECT b.id, n FROM lat_bins b, LATERAL (SELECT count(*) AS n FROM lat_t t WHERE t.k BETWEEN b.lo AND b.hi) s WHERE 1 / (n - 102 + 0 * b.id) > 0 AND n + b.id < 0')) q(q);

-- scalar subqueries, several over one range
EXPLAIN (VERBOSE, COSTS OFF) SELECT b.id, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) AS n,
	coalesce((SELECT sum(v) FROM lat_t WHERE k BETWEEN b.lo AND b.hi), 0) AS total FROM lat_bins b;
SELECT lat_same('SELECT b.id, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) AS n, coalesce((SELECT sum(v) FROM lat_t WHERE k BETWEEN b.lo AND b.hi), 0) AS total FROM lat_bins b');
-- which comes first is decided by the price, which a device changes
SET gpubtree.batch_setup_cost = 1000000;
EXPLAIN (COSTS OFF) SELECT b.id, (SELECT max(v) - min(v) + b.g FROM lat_t WHERE k > b.lo AND k <= b.hi),
	(SELECT count(*) FROM lat_t WHERE k = b.hi) FROM lat_bins b ORDER BY b.id DESC;
RESET gpubtree.batch_setup_cost;
SELECT lat_same('SELECT b.id, (SELECT max(v) - min(v) + b.g FROM lat_t WHERE k > b.lo AND k <= b.hi), (SELECT count(*) FROM lat_t WHERE k = b.hi) FROM lat_bins b');
EXPLAIN (COSTS OFF) SELECT g, sum((SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi)) FROM lat_bins b GROUP BY g;
SELECT lat_same('SELECT (SELECT count(*) FROM lat_t WHERE b.id <= k AND k < b.id + 3) FROM lat_bins b');
SELECT lat_same('SELECT g, sum((SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi)) FROM lat_bins b GROUP BY g');
EXPLAIN (COSTS OFF) SELECT DISTINCT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b ORDER BY 1;
SELECT lat_same('SELECT DISTINCT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b');

-- off, core's plans
SET enable_memoize = off;
SET gpubtree.enable_rangeaggregate = off;
SET gpubtree.enable_subquery = off;
EXPLAIN (COSTS OFF) SELECT b.id, s.n FROM lat_bins b
	CROSS JOIN LATERAL (SELECT count(*) AS n FROM lat_t t WHERE t.k >= b.lo AND t.k < b.hi) s;
EXPLAIN (COSTS OFF) SELECT b.id, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b;
RESET enable_memoize;
RESET gpubtree.enable_rangeaggregate;
RESET gpubtree.enable_subquery;

-- the rows themselves
SELECT b.id, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) AS n, s.*
	FROM lat_bins b CROSS JOIN LATERAL (SELECT sum(v), min(k) FROM lat_t t WHERE t.k > b.lo AND t.k < b.hi) s
	WHERE b.id % 500 = 1 OR b.id > 2000 ORDER BY b.id;

-- views, WITH, set operations, joins around
CREATE VIEW lat_view AS SELECT b.id, b.g, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) AS n FROM lat_bins b;
SELECT lat_same('SELECT * FROM lat_view');
EXPLAIN (COSTS OFF) SELECT id FROM lat_view;
SELECT lat_same('SELECT g, sum(n) FROM lat_view GROUP BY g');
SELECT lat_same('SELECT n, count(*) FROM lat_view GROUP BY n');
SELECT lat_same('SELECT * FROM lat_view WHERE n > 102');
SELECT lat_same('SELECT b.id, w.n FROM lat_bins b LEFT JOIN lat_view w ON w.id = b.id + 500');
SELECT lat_same('SELECT b.id, w.n FROM lat_bins b JOIN lat_view w USING (id) JOIN lat_bins c ON c.id = b.id + 3');
SELECT lat_same('WITH w AS (SELECT b.id, (SELECT sum(v) FROM lat_t WHERE k < b.hi AND k > b.lo) AS n FROM lat_bins b) SELECT * FROM w');
SELECT lat_same('WITH w AS MATERIALIZED (SELECT b.id, (SELECT sum(v) FROM lat_t WHERE k < b.hi AND k > b.lo) AS n FROM lat_bins b) SELECT n FROM w UNION ALL SELECT max(n) FROM w');
SELECT lat_same('SELECT (SELECT count(*) FROM lat_t WHERE k < b.hi AND k > b.lo) FROM lat_bins b UNION ALL SELECT (SELECT max(v) FROM lat_t WHERE k < b.hi AND k > b.lo) FROM lat_bins b');
CREATE VIEW lat_barrier WITH (security_barrier) AS SELECT * FROM lat_view;
SELECT lat_same('SELECT * FROM lat_barrier');
CREATE TABLE lat_result AS SELECT * FROM lat_view;
INSERT INTO lat_result SELECT id, g, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b;
SELECT count(*), count(DISTINCT (id, g, n)) FROM lat_result;
EXPLAIN (COSTS OFF) INSERT INTO lat_result SELECT id, g, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b;

-- where the subquery may not be evaluated for each row, or rows may be rechecked, it stays
SELECT lat_same(q) FROM (VALUES
	('SELECT CASE WHEN g = 1 THEN (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) END FROM lat_bins b'),
	('SELECT coalesce(g, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi)) FROM lat_bins b'),
	('SELECT g = 1 AND (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) > 100 FROM lat_bins b'),
	('SELECT nullif(g, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi)) FROM lat_bins b'),
	('SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b ORDER BY id LIMIT 10'),
	('SELECT n FROM lat_view ORDER BY id LIMIT 10'),
	('SELECT n FROM (SELECT id, n FROM lat_view WHERE g = 1 UNION ALL SELECT id, n FROM lat_view WHERE g = 2) u LIMIT 0'),
	('SELECT n FROM lat_view WHERE g = 1 UNION ALL SELECT n FROM lat_view WHERE g = 2 LIMIT 0'),
	('WITH w AS MATERIALIZED (SELECT n FROM lat_view) SELECT * FROM w LIMIT 0'),
	('SELECT id FROM lat_bins b WHERE (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) > 102'),
	('SELECT sum((SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi)) FILTER (WHERE g = 1) FROM lat_bins b'),
	('SELECT b.g, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.g AND b.g + 3) FROM lat_bins b GROUP BY g'),
	('SELECT DISTINCT ON (g) g, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b ORDER BY g, id'),
	('SELECT rank() OVER (ORDER BY id), (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b'),
	('SELECT generate_series(1, 2), (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b'),
	-- not a range of the index alone (the others take a program), or not its columns
	('SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi AND v > 3) FROM lat_bins b WHERE id < 20'),
	('SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi OR k = 3) FROM lat_bins b WHERE id < 20'),
	('SELECT (SELECT max(s) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b WHERE id < 20'),
	('SELECT (SELECT sum(v + 1) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b WHERE id < 20'),
	('SELECT (SELECT count(DISTINCT v) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b WHERE id < 20'),
	('SELECT (SELECT sum(v) FILTER (WHERE v > 3) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b WHERE id < 20'),
	('SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi GROUP BY v LIMIT 1) FROM lat_bins b WHERE id < 20'),
	('SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi HAVING count(*) > 100) FROM lat_bins b WHERE id < 20'),
	('SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi AND b.g > 2) FROM lat_bins b WHERE id < 20'),
	('SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN 10 AND 20) FROM lat_bins b WHERE id < 20'),
	('SELECT (SELECT count(*) FROM lat_t WHERE k < b.lo * random()) IS NULL FROM lat_bins b WHERE id < 20'),
	('SELECT s.* FROM lat_bins b LEFT JOIN LATERAL (SELECT count(*) AS n FROM lat_t WHERE k BETWEEN b.lo AND b.hi) s ON s.n > 102'),
	('SELECT s.* FROM lat_bins b, LATERAL (SELECT count(*) AS n FROM lat_t WHERE k BETWEEN b.lo AND b.hi HAVING max(v) > 98) s'),
	('SELECT s.* FROM lat_bins b LEFT JOIN LATERAL (SELECT count(*) AS n FROM lat_t WHERE k BETWEEN b.lo AND b.hi HAVING count(*) > 102) s ON true'),
	('SELECT s.* FROM lat_bins b, LATERAL (SELECT count(*) AS n FROM lat_t WHERE k BETWEEN b.lo AND b.hi LIMIT 0) s')) q(q);
EXPLAIN (COSTS OFF) SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b FOR UPDATE;
EXPLAIN (COSTS OFF) UPDATE lat_bins b SET g = (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi);
-- few rows are core's affair
EXPLAIN (COSTS OFF) SELECT b.id, (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) FROM lat_bins b WHERE id = 3;

-- a value that may fail is not computed for rows that a join removes
CREATE VIEW lat_fail AS SELECT id, g, (SELECT count(*) FROM lat_t WHERE k >= c.lo AND k < c.lo + 100 / c.g) AS n FROM lat_bins c;
CREATE TABLE lat_few AS SELECT id FROM lat_bins WHERE g <> 0 AND id < 950;
ANALYZE lat_few;
SELECT lat_same(q) FROM (VALUES
	('SELECT (SELECT count(*) FROM lat_t WHERE k >= c.lo AND k < c.lo + 100 / c.g) FROM lat_few b JOIN lat_bins c ON c.id = b.id'),
	('SELECT (SELECT count(*) FROM lat_t WHERE k >= c.lo AND k < c.lo + 100 / c.g) FROM lat_few b, lat_bins c WHERE c.id = b.id'),
	('SELECT (SELECT count(*) FROM lat_t WHERE k >= c.lo AND k < c.lo + 100 / c.g) FROM lat_bins c WHERE EXISTS (SELECT 1 FROM lat_few b WHERE c.id = b.id)'),
	('SELECT (SELECT count(*) FROM lat_t WHERE k >= c.lo AND k < c.lo + 100 / c.g) FROM (SELECT c.* FROM lat_few b, lat_bins c WHERE c.id = b.id) c'),
	('SELECT n FROM lat_fail f JOIN lat_few b ON f.id = b.id'),
	('SELECT n FROM lat_fail f WHERE f.id IN (SELECT b.id FROM lat_few b)'),
	('WITH f AS (SELECT * FROM lat_fail) SELECT n FROM f, lat_few b WHERE f.id = b.id'),
	-- here nothing is joined, and conditions come first
	('SELECT (SELECT count(*) FROM lat_t WHERE k >= c.lo AND k < c.lo + 100 / c.g) FROM lat_bins c WHERE g <> 0'),
	('SELECT n FROM lat_fail WHERE g <> 0')) q(q);
DROP VIEW lat_fail;
DROP TABLE lat_few;

-- permissions are those of the tables in the subquery
CREATE ROLE regress_gpb_lateral;
GRANT SELECT ON lat_bins, lat_view TO regress_gpb_lateral;
SET ROLE regress_gpb_lateral;
SELECT count(n) FROM (SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) AS n FROM lat_bins b) s;
SELECT count(n) FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*) AS n FROM lat_t WHERE k BETWEEN b.lo AND b.hi) s;
SELECT count(n) FROM lat_view;
RESET ROLE;
GRANT SELECT (k) ON lat_t TO regress_gpb_lateral;
SET ROLE regress_gpb_lateral;
SELECT count(n) FROM (SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) AS n FROM lat_bins b) s;
SELECT count(n) FROM (SELECT (SELECT sum(v) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) AS n FROM lat_bins b) s;
SELECT count(n) + count(m) FROM (SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) AS n, (SELECT sum(v) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) AS m FROM lat_bins b) s;
SELECT count(n) FROM lat_bins b CROSS JOIN LATERAL (SELECT sum(v) AS n FROM lat_t WHERE k BETWEEN b.lo AND b.hi) s;
RESET ROLE;
GRANT SELECT ON lat_t TO regress_gpb_lateral;
ALTER TABLE lat_t ENABLE ROW LEVEL SECURITY;
CREATE POLICY lat_policy ON lat_t USING (v < 50);
SET ROLE regress_gpb_lateral;
SELECT sum(n) FROM (SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.hi) AS n FROM lat_bins b) s;
SELECT sum(n) FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*) AS n FROM lat_t WHERE k BETWEEN b.lo AND b.hi) s;
RESET ROLE;
SELECT sum(n) FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*) AS n FROM lat_t WHERE k BETWEEN b.lo AND b.hi) s;
-- a policy that the index can answer; a function that may tell what it sees does not run ahead of it
ALTER POLICY lat_policy ON lat_t USING (k < 2000);
SET ROLE regress_gpb_lateral;
EXPLAIN (COSTS OFF) SELECT sum(n) FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*) AS n FROM lat_t WHERE k BETWEEN b.lo AND b.hi) s;
SELECT sum(n) FROM lat_bins b CROSS JOIN LATERAL (SELECT count(*) AS n FROM lat_t WHERE k BETWEEN b.lo AND b.hi) s;
RESET ROLE;
CREATE TABLE lat_days (k date);
INSERT INTO lat_days SELECT date '2024-01-01' + i / 20 FROM generate_series(1, 10000) i;
CREATE INDEX ON lat_days USING gpubtree (k);
VACUUM ANALYZE lat_days;
GRANT SELECT ON lat_days TO regress_gpb_lateral;
ALTER TABLE lat_days ENABLE ROW LEVEL SECURITY;
CREATE POLICY lat_policy ON lat_days USING (k < '2025-01-01');
EXPLAIN (COSTS OFF) SELECT sum(n) FROM lat_bins b CROSS JOIN LATERAL
	(SELECT count(*) AS n FROM lat_days WHERE k >= timestamptz '2024-01-01' + b.id * interval '1 hour') s;
SET ROLE regress_gpb_lateral;
EXPLAIN (COSTS OFF) SELECT sum(n) FROM lat_bins b CROSS JOIN LATERAL
	(SELECT count(*) AS n FROM lat_days WHERE k >= timestamptz '2024-01-01' + b.id * interval '1 hour') s;
RESET ROLE;
DROP TABLE lat_days;
ALTER TABLE lat_t DISABLE ROW LEVEL SECURITY;
DROP POLICY lat_policy ON lat_t;

-- cached plans follow what happens to the table and the index, and hold their locks
SET plan_cache_mode = force_generic_plan;
PREPARE lat_p(int8) AS SELECT sum(n) FROM (SELECT (SELECT count(*) FROM lat_t WHERE k BETWEEN b.lo AND b.lo + $1) AS n FROM lat_bins b) s;
EXPLAIN (COSTS OFF) EXECUTE lat_p(10);
EXECUTE lat_p(10);
EXECUTE lat_p(20);
EXECUTE lat_p(NULL);
BEGIN;
EXECUTE lat_p(10);
SELECT relation::regclass, mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN ('lat_t'::regclass, 'lat_bins'::regclass) ORDER BY 1;
COMMIT;
DROP INDEX lat_t_k;
EXPLAIN (COSTS OFF) EXECUTE lat_p(10);
CREATE INDEX lat_t_k ON lat_t USING gpubtree (k) INCLUDE (v);
EXECUTE lat_p(10);
DROP VIEW lat_barrier, lat_view;
ALTER TABLE lat_t ALTER k TYPE int4;
ANALYZE lat_t;
EXPLAIN (COSTS OFF) EXECUTE lat_p(10);
EXECUTE lat_p(10);
REVOKE SELECT ON lat_t FROM regress_gpb_lateral;
SET ROLE regress_gpb_lateral;
EXECUTE lat_p(10);
RESET ROLE;
RESET plan_cache_mode;

DROP TABLE lat_t, lat_bins, lat_result;
DROP FUNCTION lat_same;
DROP ROLE regress_gpb_lateral;
