--
-- Ranks and percentiles over a key column below a prefix of others that have one value each.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET timezone = 'UTC';
-- The tables are small: ours is used wherever it can be.
SET gpubtree.setup_cost = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SET gpubtree.enable_scan = off;

CREATE TABLE readings (tenant int4 NOT NULL, ts timestamptz NOT NULL, x int2, v int4 NOT NULL, name text);
INSERT INTO readings
SELECT i % 7, timestamptz '2026-01-01' + i / 21 * interval '150 seconds', nullif(i % 11, 3), i, 'row ' || i FROM generate_series(1, 28000) i;
-- as few entries a leaf as make three levels
CREATE INDEX readings_ts ON readings USING gpubtree (tenant, ts) INCLUDE (v) WITH (fillfactor = 40);
CREATE INDEX readings_x ON readings USING gpubtree (tenant DESC, x NULLS FIRST, v DESC) WITH (fillfactor = 40);
VACUUM ANALYZE readings;
-- neither visible everywhere nor to everyone
UPDATE readings SET v = v + 1 WHERE v % 50 = 0;
DELETE FROM readings WHERE v BETWEEN 12000 AND 13200;

SET compare.node = 'Gpubtree(Rank|Percentile)';
\i :abs_srcdir/sql/common/compare_rows.sql
\set ECHO all

--
-- Pages
--
SELECT * FROM plan('SELECT ts, v FROM readings WHERE tenant = 5 ORDER BY ts OFFSET 1600 LIMIT 3');
SELECT * FROM plan('SELECT name FROM readings WHERE 5 = tenant AND ts >= ''2026-01-02'' ORDER BY ts DESC, name OFFSET 320 LIMIT 3');
SELECT * FROM plan('SELECT v FROM readings WHERE tenant = 5 AND x = 4::int8 AND 24000 > v ORDER BY v OFFSET 250');
SELECT ts, v FROM readings WHERE tenant = 5 ORDER BY ts, v OFFSET 1600 LIMIT 3;
-- half of all combinations, in which each choice from all the lists but one occurs
SELECT compare(format('SELECT %s FROM readings WHERE %s ORDER BY %s OFFSET %s LIMIT %s', columns, condition, ordering, n, m))
FROM unnest('{"ts, v","name, x","readings"}'::text[]) WITH ORDINALITY l1 (columns, n1),
	unnest('{tenant = 5,tenant = 0 AND ts > ''2026-01-01 12:00'',tenant = 3 AND tenant > 2 AND ts BETWEEN ''2026-01-01'' AND date ''2026-01-03''}'::text[]) WITH ORDINALITY l2 (condition, n2),
	unnest('{ts,ts DESC,"ts, v DESC","tenant, ts DESC, name"}'::text[]) WITH ORDINALITY l3 (ordering, n3),
	unnest('{1000,1600,3600,9223372036854775807}'::bigint[]) WITH ORDINALITY l4 (n, n4),
	unnest('{3,"NULL"}'::text[]) WITH ORDINALITY l5 (m, n5)
WHERE (n1 + n2 + n3 + n4 + n5) % 2 = 0
GROUP BY 1 ORDER BY 1;
-- below two columns, one value of x in many rows, and columns behind the ordered one
SELECT compare(format('SELECT v, x FROM readings WHERE tenant = 2 AND x = 7 ORDER BY v %s OFFSET %s LIMIT 5', direction, n))
FROM unnest('{ASC,DESC}'::text[]) direction, unnest('{240,345,360}'::int[]) n GROUP BY 1 ORDER BY 1;
SELECT compare(format('SELECT x, v, name FROM readings WHERE tenant = 2 AND x > 0 ORDER BY x %s OFFSET %s LIMIT 280', direction, n))
FROM unnest('{ASC NULLS FIRST,DESC NULLS LAST}'::text[]) direction, unnest('{400,1200,2000,2400,3400}'::int[]) n GROUP BY 1 ORDER BY 1;
-- the first column is the ordered one
SELECT compare('SELECT tenant, ts FROM readings ORDER BY tenant OFFSET 12000 LIMIT 5');
SELECT compare('SELECT tenant, ts FROM readings WHERE tenant >= 2 ORDER BY tenant DESC OFFSET 8000 LIMIT 5');
-- rows that are NULL in the ordered column are wanted, too
SELECT * FROM plan('SELECT v, x FROM readings WHERE tenant = 2 ORDER BY x NULLS FIRST OFFSET 1200 LIMIT 5');
-- columns that have several values, all columns fixed
SELECT is_ours(format('SELECT name FROM readings WHERE %s OFFSET 200 LIMIT 1', q))
FROM unnest('{tenant = 5 ORDER BY x NULLS LAST,tenant = 5 AND x IS NULL ORDER BY x,tenant > 5 ORDER BY ts,"tenant = ANY (''{4,5}'') ORDER BY ts","tenant = 5 AND x IN (1, 2) ORDER BY v",
	tenant = 5 AND v > 5 ORDER BY ts,tenant = 5 AND ts IS NULL ORDER BY ts,tenant = 5 ORDER BY v,"tenant + 0 = 5 ORDER BY ts"}'::text[]) q;
-- values that are known at run time, among them none, and none that the type has
SET plan_cache_mode = force_generic_plan;
SET cpu_index_tuple_cost = 0.5;
PREPARE page(int8, timestamptz, bigint) AS SELECT ts, v FROM readings WHERE tenant = $1 AND ts >= $2 ORDER BY ts, v OFFSET $3 LIMIT 2;
EXPLAIN (COSTS OFF) EXECUTE page(5, '2026-01-01', 1600);
EXECUTE page(5, '2026-01-01', 1600);
EXECUTE page(6, '-infinity', 3600);
EXECUTE page(6, 'infinity', 1);
EXECUTE page(NULL, '2026-01-01', 1);
EXECUTE page(9223372036854775807, '2026-01-01', 1);
EXECUTE page(5, NULL, 1);
DEALLOCATE page;
RESET cpu_index_tuple_cost;
RESET plan_cache_mode;
SELECT compare('SELECT a, x.* FROM generate_series(-1, 8) a, LATERAL (SELECT ts, v FROM readings WHERE tenant = a ORDER BY ts OFFSET 1600 LIMIT 2) x');
SELECT compare('SELECT a, (SELECT v FROM readings WHERE tenant = 4 AND x = a ORDER BY v DESC OFFSET 280 LIMIT 1) FROM generate_series(0, 12) a');
BEGIN;
DECLARE c CURSOR FOR SELECT name, ts FROM readings WHERE tenant = 5 ORDER BY ts OFFSET 2000;
FETCH 2 FROM c;
UPDATE readings SET name = 'current' WHERE CURRENT OF c;
SELECT name, v FROM readings WHERE name = 'current';
ROLLBACK;

--
-- Percentiles
--
SELECT * FROM plan('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ts), count(*), sum(v) FROM readings WHERE tenant = 5');
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ts), count(*), sum(v) FROM readings WHERE tenant = 5;
SELECT compare(format('SELECT %s FROM readings WHERE %s', columns, condition))
FROM unnest(ARRAY['percentile_disc(0.5) WITHIN GROUP (ORDER BY ts)', 'percentile_disc(0.1) WITHIN GROUP (ORDER BY ts DESC), count(*)',
	'percentile_disc(''{0,0.25,0.75,1}''::float8[]) WITHIN GROUP (ORDER BY ts), max(v), sum(v)']) columns,
	unnest('{tenant = 5,tenant = 5 AND ts > ''2026-01-02''}'::text[]) condition
GROUP BY 1 ORDER BY 1;
SELECT percentile_disc('{0,0.5}'::float8[]) WITHIN GROUP (ORDER BY ts) FROM readings WHERE tenant = 50;
-- NULLs do not count, and stand at either end of a column; a prefix may be NULL
SELECT compare(format('SELECT percentile_disc(%s) WITHIN GROUP (ORDER BY %s %s) FROM readings WHERE %s', fraction, value, direction, condition))
FROM unnest('{0,0.3,0.5,1}'::text[]) fraction,
	unnest('{ASC,DESC NULLS LAST}'::text[]) direction,
	(VALUES ('x', 'tenant = 5'), ('x', 'tenant = 5 AND x < 6'), ('v', 'tenant = 5 AND x = 6'), ('v', 'tenant = 5 AND x IS NULL')) q (value, condition)
GROUP BY 1 ORDER BY 1;
SELECT is_ours('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x), count(*) FROM readings WHERE tenant = 5'),
	is_ours('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x), count(*) FROM readings WHERE tenant = 5 AND x > 0'),
	is_ours('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ts) FROM readings WHERE tenant > 5');
SELECT compare('SELECT a, (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ts) FROM readings WHERE tenant = a) FROM generate_series(-1, 8) a');

--
-- Rows that are NULL in the ordered column, before the others or behind them
--
\set ECHO none
CREATE TABLE gaps (tenant int4 NOT NULL, up int4, down date, v int4 NOT NULL, name text);
INSERT INTO gaps SELECT i % 3, CASE WHEN i % 13 > 0 THEN i / 4 END, CASE WHEN i % 14 > 0 THEN date '2026-01-01' + i / 6 END,
	i * 7919 % 12007, 'row ' || i FROM generate_series(1, 12000) i;
CREATE INDEX gaps_up ON gaps USING gpubtree (tenant, up NULLS FIRST) INCLUDE (v);
CREATE INDEX gaps_down ON gaps USING gpubtree (tenant DESC, down DESC NULLS LAST, v);
CREATE INDEX gaps_v ON gaps USING gpubtree (up);
VACUUM ANALYZE gaps;
DELETE FROM gaps WHERE v % 100 = 7;
UPDATE gaps SET v = v + 1 WHERE v % 90 = 1;
\set ECHO all
SELECT * FROM plan('SELECT name FROM gaps WHERE tenant = 1 ORDER BY up NULLS FIRST OFFSET 2000 LIMIT 5');
SELECT * FROM plan('SELECT down FROM gaps WHERE tenant = 1 ORDER BY down DESC NULLS LAST, name OFFSET 2000');
-- OFFSET is not known when the query is planned
-- half of all combinations, in which each choice from all the lists but one occurs
SELECT compare(format('SELECT %s, name FROM gaps WHERE tenant = 1 ORDER BY %s%s OFFSET (SELECT %s) LIMIT %s', columns, ordering, more, n, m))
FROM (VALUES ('up, v', 'up NULLS FIRST', 1), ('v', 'up DESC NULLS LAST', 2), ('down', 'down DESC NULLS LAST', 3), ('v, down', 'down NULLS FIRST', 4)) q (columns, ordering, n4),
	unnest('{"",", v DESC, name",", name DESC"}'::text[]) WITH ORDINALITY l1 (more, n1),
	unnest('{0,1,285,304,305,306,2000,3657,3658,3678,3800,3962}'::int[]) WITH ORDINALITY l2 (n, n2), unnest('{3,ALL}'::text[]) WITH ORDINALITY l3 (m, n3)
WHERE (n1 + n2 + n3 + n4) % 2 = 0
GROUP BY 1 ORDER BY 1;
SELECT compare(format('SELECT name, up FROM gaps ORDER BY up %s OFFSET (SELECT %s) LIMIT 300', direction, n))
FROM unnest('{ASC,DESC}'::text[]) direction, unnest('{1,800,900,920,8000,10900,10968,11000,11800,11880}'::int[]) n GROUP BY 1 ORDER BY 1;
SELECT compare(format('SELECT a, x.* FROM generate_series(-1, 3) a, LATERAL (SELECT up, v FROM gaps WHERE tenant = a ORDER BY up %s OFFSET (SELECT %s) LIMIT 20) x', direction, n))
FROM unnest('{NULLS FIRST,DESC NULLS LAST}'::text[]) direction, unnest('{200,300,3650,3750}'::int[]) n GROUP BY 1 ORDER BY 1;
BEGIN;
DECLARE c CURSOR FOR SELECT name, up FROM gaps WHERE tenant = 1 ORDER BY up DESC NULLS LAST OFFSET (SELECT 3666) ROWS;
FETCH 2 FROM c;
UPDATE gaps SET name = 'first' WHERE CURRENT OF c;
MOVE 20 FROM c;
FETCH 1 FROM c;
UPDATE gaps SET name = 'second' WHERE CURRENT OF c;
SELECT name, up, v FROM gaps WHERE name IN ('first', 'second') ORDER BY name;
ROLLBACK;
-- conditions are those of the first row, for all rows
BEGIN;
SET LOCAL gaps.tenant = '1';
DECLARE c CURSOR FOR SELECT tenant, up, name FROM gaps WHERE tenant = current_setting('gaps.tenant')::int4 ORDER BY up DESC NULLS LAST OFFSET (SELECT 3656);
FETCH 1 FROM c;
SET LOCAL gaps.tenant = '2';
FETCH 3 FROM c;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT compare(format('SELECT name FROM gaps WHERE tenant = 1 ORDER BY up NULLS FIRST OFFSET (SELECT %s) LIMIT 3', n))
FROM unnest('{120,320,2000}'::int[]) n GROUP BY 1 ORDER BY 1;
COMMIT;
-- they count for other aggregates beside percentiles
SELECT compare(format('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY up), %s FROM gaps WHERE tenant %s', others, condition))
FROM unnest('{count(*),"count(*), count(v), sum(v)","max(v), min(v)"}'::text[]) others,
	unnest('{= 1,= 2,= 1 AND up > 100}'::text[]) condition
GROUP BY 1 ORDER BY 1;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY up), count(*), sum(v) FROM gaps WHERE tenant = 1;
SELECT compare('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY up), count(*), max(up), count(up) FROM gaps');
DROP TABLE gaps;

\set ECHO none
--
-- The least value of a type right behind NULLs, with DESC the greatest
--
CREATE TABLE edges (tenant int4 NOT NULL, up int4, down int4);
INSERT INTO edges SELECT i % 3, CASE WHEN i < 30 THEN -2147483648 WHEN i < 60 THEN NULL ELSE i END,
	CASE WHEN i < 30 THEN 2147483647 WHEN i < 60 THEN NULL ELSE -i END FROM generate_series(1, 30000) i;
CREATE INDEX edges_up ON edges USING gpubtree (tenant, up NULLS FIRST);
CREATE INDEX edges_down ON edges USING gpubtree (tenant, down DESC);
VACUUM ANALYZE edges;
SET plan_cache_mode = force_generic_plan;
PREPARE up (int8) AS SELECT up FROM edges WHERE tenant = 1 AND up IS NOT NULL ORDER BY up NULLS FIRST OFFSET $1 LIMIT 2;
PREPARE down (int8) AS SELECT down FROM edges WHERE tenant = 1 AND down IS NOT NULL ORDER BY down DESC NULLS FIRST OFFSET $1 LIMIT 2;
\set ECHO all
EXPLAIN (COSTS OFF) EXECUTE up (0);
EXECUTE up (0);
EXECUTE up (9);
EXPLAIN (COSTS OFF) EXECUTE down (0);
EXECUTE down (0);
EXECUTE down (9);
RESET plan_cache_mode;
DEALLOCATE up;
DEALLOCATE down;
DROP TABLE edges;
DROP TABLE readings;
DROP FUNCTION plan, is_ours, answer, plain_answer, compare;
