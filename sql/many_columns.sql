--
-- Aggregates over several columns at once, exact sums of double precision among them, in every node that aggregates
-- ranges.  All values are multiples of a quarter, so that core's sums are exact too and comparison is of bits.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET extra_float_digits = 3;

CREATE TABLE flows (k bigint, i integer, f double precision, s smallint, g double precision, b bigint, note text)
	WITH (autovacuum_enabled = off);
INSERT INTO flows SELECT CASE WHEN n % 100 <> 0 THEN n % 1500 END, CASE WHEN n % 9 <> 0 THEN n % 1000 - 300 END,
		CASE WHEN n % 7 <> 0 THEN (n * 7919 % 100003 - 50000) / 4.0 END, n % 300 - 100,
		CASE WHEN n % 11 <> 0 THEN n * 1048576.25 END, n * 1000000000000::bigint, 'row ' || n
	FROM generate_series(1, 4500) n;
CREATE INDEX flows_k ON flows USING gpubtree (k) INCLUDE (i, f, s, g, b);
CREATE TABLE spans (id integer PRIMARY KEY, lo bigint, hi bigint, team integer);
INSERT INTO spans SELECT n, n * 37 % 1500, n * 37 % 1500 + CASE WHEN n % 20 = 0 THEN 700 ELSE n % 40 - 2 END, n % 6
	FROM generate_series(1, 60) n;
INSERT INTO spans VALUES (61, NULL, 5, 1), (62, 5, NULL, 2), (63, -9223372036854775808, 9223372036854775807, 3);
VACUUM ANALYZE flows;
VACUUM ANALYZE spans;

\i :abs_srcdir/sql/common/node.sql
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' rows '' || coalesce(md5(string_agg(q::text, '';'' ORDER BY q::text COLLATE "C")), ''-'') FROM (%s) q', query)
		INTO result;
	RETURN result;
END $$;
CREATE FUNCTION plain_answer(query text) RETURNS text LANGUAGE sql
	SET gpubtree.enabled = off SET enable_seqscan = on SET enable_indexscan = off SET enable_indexonlyscan = off
	SET enable_bitmapscan = off SET enable_hashjoin = on SET enable_nestloop = on
AS $$
	SELECT answer(query)
$$;
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text := answer(query);
	plain text := plain_answer(query);
BEGIN
	RETURN format('%s, %s, %s', node(query), split_part(ours, ' ', 1), CASE WHEN ours = plain THEN 'same' ELSE 'DIFFERENT' END);
END $$;

SELECT set_config(name, 'off', false) FROM unnest('{enable_seqscan,enable_indexscan,enable_indexonlyscan,enable_bitmapscan,enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name \g /dev/null

-- what is asked for: sums of one column and of two, all that there is of every column, and columns in another order
CREATE TABLE wanted (id integer, list text);
INSERT INTO wanted VALUES (1, 'sum(f)'), (2, 'count(*), avg(f), sum(g)'),
	(3, 'sum(i), sum(b), sum(s)'), (4, 'min(g), max(f), count(i)'),
	(5, 'count(*), count(k), min(k), max(k), count(i), sum(i), avg(i), min(i), max(i), sum(f), avg(f), min(f), max(f), sum(s), min(s), sum(g), avg(g), max(g), sum(b), avg(b), min(b)'),
	(6, 'avg(g), sum(f), max(s), count(*)');
CREATE VIEW every_node AS
	SELECT place, id, node, compare(format(query, list)) FROM wanted,
	(VALUES (1, 'one range', 'SELECT %s FROM flows WHERE k BETWEEN 100 AND 1300'),
		(2, 'an empty one', 'SELECT %s FROM flows WHERE k BETWEEN 5000 AND 6000'),
		(3, 'NULL keys', 'SELECT %s FROM flows WHERE k IS NULL'),
		(4, 'all', 'SELECT %s FROM flows'),
		(5, 'array', 'SELECT %s FROM flows WHERE k = ANY (''{1,5,77,78,1499,1500,5,NULL}'')'),
		(6, 'buckets', 'SELECT k / 100, %s FROM flows GROUP BY 1'),
		(7, 'groups', 'SELECT s.team, %s FROM spans s JOIN flows ON k BETWEEN s.lo AND s.hi GROUP BY s.team'),
		(8, 'outer groups', 'SELECT s.id, %s FROM spans s LEFT JOIN flows ON k BETWEEN s.lo AND s.lo GROUP BY s.id'),
		(9, 'lateral', 'SELECT * FROM spans s CROSS JOIN LATERAL (SELECT %s FROM flows WHERE k >= s.lo AND k < s.hi) x'),
		(10, 'subquery', 'SELECT s.id, (SELECT ROW(%s)::text FROM flows WHERE k >= s.lo AND k < s.hi) FROM spans s'),
		(11, 'join', 'SELECT %s FROM spans JOIN flows ON k = lo'),
		(12, 'percentile', 'SELECT %s, percentile_disc(0.3) WITHIN GROUP (ORDER BY k) FROM flows WHERE k BETWEEN 100 AND 1300')) q(place, node, query)
	ORDER BY place, id;
\set ECHO all
SELECT node, compare, count(*) FROM every_node GROUP BY place, node, compare ORDER BY place, compare;

\set ECHO none
-- rows that VACUUM has not seen, and dead ones: leaves change, and the heap decides
DELETE FROM flows WHERE b % 13 = 0;
UPDATE flows SET f = f + 0.5, i = i + 1 WHERE b % 5 = 0;
SELECT * FROM every_node WHERE id IN (2, 5) AND compare NOT LIKE '%same';
-- core alone judges what a serializable transaction sees
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM every_node WHERE id IN (2, 5) AND compare NOT LIKE '%same';
COMMIT;
-- without a device
SET gpubtree.enable_device = off;
SELECT * FROM every_node WHERE id IN (2, 5) AND compare NOT LIKE '%same';
RESET gpubtree.enable_device;

-- what is not finite: in a range of its own, and in the sum of all that it is in
INSERT INTO flows (k, f, g) VALUES (10000, 'NaN', 0.25), (10001, 'Infinity', 0.25), (10002, '-Infinity', NULL), (10003, NULL, NULL);
\set ECHO all
SELECT at, sum(f), sum(g), avg(f) FROM generate_series(9999, 10004) at
	CROSS JOIN LATERAL (SELECT sum(f), sum(g), avg(f) FROM flows WHERE k = at) x(f, g, a) GROUP BY at ORDER BY at;
SELECT compare('SELECT lo, (SELECT sum(f)::text FROM flows WHERE k BETWEEN 9900 + lo AND 10002) FROM spans');
SELECT * FROM every_node WHERE id IN (2, 5) AND compare NOT LIKE '%same';
INSERT INTO flows (k, f, g) VALUES (10004, 1e308, 4e-324), (10005, -1e308, -4e-324);
SELECT sum(f), sum(g) FROM flows WHERE k BETWEEN 10004 AND 10005;
-- a sum that is too large
INSERT INTO flows (k, f) VALUES (10006, 1e308);
SELECT sum(f) FROM flows WHERE k IN (10004, 10006);

DROP VIEW every_node;
DROP TABLE wanted, spans, flows;
DROP FUNCTION node, answer, plain_answer, compare;
