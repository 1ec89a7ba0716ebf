--
-- Sums and averages of integers that are divided by a constant numeric: the same value, with the
-- same digits behind the point.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;

-- Each group of g has numbers of one magnitude and above, of both signs; 0 is in some.
CREATE TABLE amount (k integer NOT NULL, g integer, s smallint, i integer, b bigint);
INSERT INTO amount SELECT n, n % 40, (n % 2 * 2 - 1) * (10 ^ (n % 5))::int % 32768, (n % 2 * 2 - 1) * ((10 ^ (n % 10)) * (1 + n % 3))::bigint % 2147483648, (n % 2 * 2 - 1) * ((10 ^ (n % 20 * 0.75)) * (1 + n % 7))::bigint
	FROM generate_series(1, 2000) n;
INSERT INTO amount SELECT 3000 + n, 100 + n, n, n * 100, n * 10000 FROM generate_series(0, 120) n;
INSERT INTO amount VALUES (4001, 300, NULL, NULL, NULL), (4002, 301, 0, NULL, 0), (4003, 302, 32767, 2147483647, 9223372036854775807), (4004, 303, -32768, -2147483648, -9223372036854775808);
CREATE INDEX amount_k ON amount USING gpubtree (k) INCLUDE (g, s, i, b);
VACUUM ANALYZE amount;

\i :abs_srcdir/sql/common/compare_nodes.sql
\set ECHO all

SELECT g, sum(i / 100.0), avg(i / 100.0), sum(b / 8) FROM amount WHERE g IN (100, 101, 102, 200, 201, 300, 301) GROUP BY g ORDER BY g;
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT g, sum(i / 100.0) FROM amount WHERE k > 0 GROUP BY g;
RESET enable_hashagg;

SELECT divisor, compare(format('SELECT g, sum(s / %s), avg(s / %1$s), sum(i / %1$s), avg(i / %1$s) FROM amount WHERE k > 0 GROUP BY g', divisor)) AS integers,
	compare(format('SELECT g, sum(b / %s), avg(b / %1$s) FROM amount WHERE abs(b / 2) < 100000000000 GROUP BY g', divisor)) AS bigint,
	compare(format('SELECT sum(s / %s), sum(i / %1$s), avg(i / %1$s) FILTER (WHERE i > 20000), sum(i / %1$s) FILTER (WHERE g = 101) FROM amount WHERE k > 0', divisor)) AS one_row
FROM unnest('{100.0,100::numeric,100.00,10.0,1000.0,2.0,4.0,5.0,8.0,20.0,25.0,2.5,0.5,0.125,0.01,0.0001,1.0,1.00000,16.0,64.0,1024.0,1e5,1e9,40000.0,3.0,60.0,7.5,-100.0}'::text[]) divisor;
-- dividends with digits behind the point; sums and sets of sums
SELECT compare('SELECT g, sum((i * 0.5) / 10.0), avg((i + 1.25) / 4.0) FROM amount WHERE k > 0 GROUP BY g');
SELECT compare('SELECT g, sum(extract(epoch FROM timestamp ''2024-01-01'' + interval ''1 second'') / 1000.0) FROM amount WHERE k > 0 GROUP BY g');
SELECT compare('SELECT g % 5, g % 3, sum(i / 100.0), avg(s / 8.0), count(*) FROM amount WHERE k > 0 GROUP BY ROLLUP (1, 2)');
SELECT compare('SELECT g, sum(i / 100.0), sum(i / 1000.0), sum(i), max(i) FROM amount WHERE k > 0 GROUP BY g HAVING sum(i / 100.0) > 5');
SELECT compare('SELECT o, (SELECT sum(i / 100.0) FROM amount WHERE k > o) FROM generate_series(0, 4000, 500) o');
-- of 0 core makes fewer digits than of what is near it
SELECT compare('SELECT sum((i % 3 * 0.000000001) / 2.0), avg((i % 3 * 0.000000001) / 8.0), sum((i % 1 * 0.001) / 2.0), sum((i % 1 * 0.001 + 70000.25) / 2.0) FROM amount WHERE k > 0');
-- numbers so large that core cuts off digits are left to it
SELECT compare('SELECT sum(b / 100.0), avg(b / 100.0) FROM amount WHERE k > 0');
SELECT compare('SELECT g, sum(b / 1024.0) FROM amount WHERE k > 0 GROUP BY g');
-- what else is made of quotients is not said
SELECT compare('SELECT min(i / 100.0) FROM amount WHERE k > 0');
SELECT compare('SELECT i / 100.0, count(*) FROM amount WHERE k > 0 GROUP BY 1');
SELECT compare('SELECT sum(1 / (i + 100.0)) FROM amount WHERE k > 4001 AND i > 0');
DROP TABLE amount;
DROP FUNCTION answer, plain_answer, compare;
