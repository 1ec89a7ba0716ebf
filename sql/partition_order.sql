--
-- What goes by the order of keys over partitions: the first and last rows of groups, ranks.  The same rows stand in one table
-- beside them, and answers are compared.
--
SET gpubtree.enable_device = off;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;

-- range by time; columns that were dropped, or have another order; an index in the other direction, one with two key columns,
-- and one partition without; a default partition, which has NULL
CREATE TABLE seq (tenant int, ts int, v int) PARTITION BY RANGE (ts);
CREATE TABLE seq_1 PARTITION OF seq FOR VALUES FROM (0) TO (1000);
CREATE TABLE seq_2 (v int, gone text, ts int, tenant int);
ALTER TABLE seq_2 DROP COLUMN gone;
ALTER TABLE seq ATTACH PARTITION seq_2 FOR VALUES FROM (1000) TO (2000);
CREATE TABLE seq_3 PARTITION OF seq FOR VALUES FROM (2000) TO (3000);
CREATE TABLE seq_none PARTITION OF seq FOR VALUES FROM (3000) TO (4000);
CREATE TABLE seq_empty PARTITION OF seq FOR VALUES FROM (4000) TO (5000);
CREATE TABLE seq_default PARTITION OF seq DEFAULT;
CREATE TABLE flat AS
SELECT i % 7 AS tenant, nullif(i * 7919 % 5500, 5111) AS ts, nullif(i % 100, 50) AS v
FROM generate_series(1, 20000) i WHERE i * 7919 % 5500 NOT BETWEEN 4000 AND 4999;
INSERT INTO seq SELECT * FROM flat;
CREATE INDEX ON seq_1 USING gpubtree (ts) INCLUDE (tenant, v);
CREATE INDEX ON seq_1 USING gpubtree (tenant, ts);
CREATE INDEX ON seq_2 USING gpubtree (ts DESC) INCLUDE (v, tenant);
CREATE INDEX ON seq_2 USING gpubtree (tenant, ts);
CREATE INDEX ON seq_3 USING gpubtree (tenant, ts) INCLUDE (v);
CREATE INDEX ON seq_empty USING gpubtree (ts) INCLUDE (v, tenant);
CREATE INDEX ON seq_default USING gpubtree (ts) INCLUDE (v, tenant);
CREATE INDEX ON seq_default USING gpubtree (tenant);
VACUUM ANALYZE seq, flat;

-- which nodes stand over which partitions, and whether the rows are those of the table beside them
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	nodes text;
	found text;
	expected text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || format(query, 'seq') LOOP
		nodes := concat_ws(' ', nodes, substring(line FROM 'Gpubtree(\w+)\)') || '/' || substring(line FROM 'Gpubtree\w+\) on (\w+)'));
	END LOOP;
	EXECUTE 'SELECT string_agg(q::text, E''\n'') FROM (' || format(query, 'seq') || ') q' INTO found;
	SET LOCAL gpubtree.enabled = off;
	EXECUTE 'SELECT string_agg(q::text, E''\n'') FROM (' || format(query, 'flat') || ') q' INTO expected;
	SET LOCAL gpubtree.enabled = on;
	RETURN CASE WHEN found IS DISTINCT FROM expected THEN 'DIFFERENT ' ELSE '' END || coalesce(nodes, 'none');
END $$;
-- the nodes of a plan, with the rows that came out of them, or that they were not asked
CREATE FUNCTION plan_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF) ' || query;
END $$;
CREATE FUNCTION leaves(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT regexp_replace(line, '\.00', '') FROM plan_lines(query) line WHERE line ~ 'actual|never|Removed'
$$;
\set ECHO all

-- the first and last rows of groups are those of each partition's
SELECT compare('SELECT DISTINCT ON (tenant) tenant, ts, v FROM %s WHERE ts > 10 ORDER BY tenant, ts DESC, v');
SELECT compare('SELECT DISTINCT ON (tenant + 1) tenant, ts FROM %s WHERE ts BETWEEN 100 AND 900 ORDER BY tenant + 1, ts, v');
SELECT compare('SELECT DISTINCT ON (tenant) tenant, ts FROM %s ORDER BY tenant, ts DESC');
SELECT compare('SELECT DISTINCT ON (tenant) tenant, ts FROM %s WHERE ts < 3000 ORDER BY tenant, ts');
SELECT compare('SELECT tenant, min(ts), max(ts) FROM %s WHERE ts BETWEEN 500 AND 2500 GROUP BY tenant ORDER BY 1');
SELECT compare('SELECT tenant, min(ts), max(ts) FROM %s WHERE ts BETWEEN 1100 AND 1800 GROUP BY tenant ORDER BY 1');
SELECT compare('SELECT count(DISTINCT tenant) FROM %s WHERE ts < 2500');
SELECT compare('SELECT DISTINCT tenant FROM %s WHERE tenant < 5 ORDER BY 1');
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SELECT compare('SELECT DISTINCT ON (tenant) tenant + 1 FROM %s WHERE tenant > 2 ORDER BY tenant');
RESET enable_indexonlyscan;
RESET enable_bitmapscan;
-- members of UNION ALL may have other columns
SELECT compare('SELECT DISTINCT ON (a) a, b FROM (SELECT tenant AS a, ts AS b FROM %1$s UNION ALL SELECT v, ts + 1 FROM %1$s) u WHERE b BETWEEN 100 AND 900 ORDER BY a, b DESC');
-- the rank of a row where planning leaves one partition
SELECT compare('SELECT ts FROM %s WHERE ts BETWEEN 100 AND 900 ORDER BY ts OFFSET 2000 LIMIT 5');
SELECT compare('SELECT v + tenant, ts, tenant, v FROM %s WHERE ts BETWEEN 1100 AND 1900 ORDER BY ts, v DESC, tenant OFFSET 1500 LIMIT 9');
SELECT compare('SELECT ts, tableoid IS NULL FROM %s WHERE ts BETWEEN 1100 AND 1900 ORDER BY ts DESC OFFSET 1500 LIMIT 9');
SELECT compare('SELECT tenant, ts FROM %s WHERE tenant = 3 AND ts BETWEEN 2100 AND 2900 ORDER BY ts OFFSET 300 LIMIT 4');
SELECT compare('SELECT ts FROM %s WHERE ts BETWEEN 1100 AND 1900 ORDER BY ts OFFSET 100000');
-- a whole row is the parent's
SELECT compare('SELECT s, ts FROM %s s WHERE ts BETWEEN 1100 AND 1900 ORDER BY ts, v, tenant OFFSET 1500 LIMIT 3');

-- over several partitions that follow one another: what is skipped is counted, or read where there is no index
SELECT compare('SELECT ts FROM %s WHERE ts BETWEEN 0 AND 3999 ORDER BY ts OFFSET 3000 LIMIT 5');
SELECT compare('SELECT ts, v + 1 FROM %s WHERE ts BETWEEN 100 AND 1999 ORDER BY ts DESC, v, tenant OFFSET 3000 LIMIT 1000');
SELECT compare('SELECT v, tenant, ts FROM %s WHERE ts BETWEEN 10 AND 3999 ORDER BY ts, v NULLS FIRST, tenant OFFSET 13000 LIMIT 50');
SELECT compare('SELECT ts FROM %s WHERE ts BETWEEN 500 AND 3500 ORDER BY ts OFFSET 100000');
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SELECT compare('SELECT ts FROM %s WHERE ts BETWEEN 500 AND 2500 ORDER BY ts NULLS FIRST OFFSET 4000');
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;
-- not where a default partition has values between those of the others
SELECT compare('SELECT ts FROM %s WHERE ts > 500 ORDER BY ts OFFSET 8000 LIMIT 5');
-- leaves behind the last row wanted are not asked
SELECT * FROM leaves('SELECT ts FROM seq WHERE ts BETWEEN 0 AND 2999 ORDER BY ts OFFSET 5000 LIMIT 2');
SELECT * FROM leaves('SELECT ts FROM seq WHERE ts BETWEEN 0 AND 2999 ORDER BY ts DESC OFFSET 5000 LIMIT 2');

-- without a default partition: pruned when the plan begins, and for each outer row
ALTER TABLE seq DETACH PARTITION seq_default;
DELETE FROM flat WHERE ts > 4000 OR ts IS NULL;
PREPARE skip(int, int, int) AS SELECT ts FROM seq WHERE ts BETWEEN $1 AND $2 ORDER BY ts OFFSET $3 LIMIT 3;
PREPARE flat_skip(int, int, int) AS SELECT ts FROM flat WHERE ts BETWEEN $1 AND $2 ORDER BY ts OFFSET $3 LIMIT 3;
SET plan_cache_mode = force_generic_plan;
SELECT * FROM leaves('EXECUTE skip(100, 1900, 5000)');
EXECUTE skip(100, 1900, 5000);
EXECUTE flat_skip(100, 1900, 5000);
EXECUTE skip(1900, 3100, 100);
EXECUTE flat_skip(1900, 3100, 100);
EXECUTE skip(1900, 3100, NULL);
EXECUTE skip(5000, 100, 1);
EXECUTE skip(5000, 6000, 1);
EXECUTE skip(1, 2, -1);
RESET plan_cache_mode;
SELECT o, (SELECT ts FROM seq WHERE ts BETWEEN o AND o + 1500 ORDER BY ts OFFSET o * 2 LIMIT 1) AS leaves,
	(SELECT ts FROM flat WHERE ts BETWEEN o AND o + 1500 ORDER BY ts OFFSET o * 2 LIMIT 1) AS whole
FROM generate_series(0, 3500, 500) o;
-- by list, one value a partition, and NULL last
CREATE TABLE listed (k int, v int) PARTITION BY LIST (k);
CREATE TABLE listed_1 PARTITION OF listed FOR VALUES IN (1, 2);
CREATE TABLE listed_3 PARTITION OF listed FOR VALUES IN (3);
CREATE TABLE listed_null PARTITION OF listed FOR VALUES IN (NULL);
INSERT INTO listed SELECT nullif(i % 4, 0), i FROM generate_series(1, 8000) i;
CREATE INDEX ON listed USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE listed;
CREATE FUNCTION listed_at(rank int, direction text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	EXECUTE format('SELECT q::text FROM (SELECT k, v FROM listed ORDER BY k %s, v OFFSET %s LIMIT 1) q', direction, rank) INTO found;
	RETURN found;
END $$;
SELECT rank, listed_at(rank, '') AS forward, listed_at(rank, 'DESC') AS backward, listed_at(rank, 'NULLS FIRST') AS nulls_first
FROM unnest(ARRAY[0, 1999, 2000, 3999, 4000, 5999, 6000, 7999, 8000]) rank;
SELECT * FROM leaves('SELECT k, v FROM listed ORDER BY k, v OFFSET 6500 LIMIT 1');
SELECT * FROM leaves('SELECT k, v FROM listed ORDER BY k DESC, v OFFSET 6500 LIMIT 1');
-- buckets of integers: the one of 2 and 3 is in two partitions
SET gpubtree.enable_aggregate = off;
SELECT * FROM leaves('SELECT k / 2, count(*), sum(v) FROM listed GROUP BY 1 ORDER BY 1 LIMIT 1');
SELECT k / 2, count(*), sum(v) FROM listed GROUP BY 1 ORDER BY 1;
SELECT k / 2, count(*), sum(v) FROM listed GROUP BY 1 ORDER BY 1 DESC;
SELECT k / 2, count(*), sum(v) FROM listed GROUP BY 1 ORDER BY 1 NULLS FIRST;
PREPARE divided(int) AS SELECT k / $1, count(*), sum(v) FROM listed GROUP BY 1 ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
SELECT regexp_replace(e, '^ +', '') FROM plan_lines('EXECUTE divided(2)') e WHERE e ~ 'States';
EXECUTE divided(2);
SELECT regexp_replace(e, '^ +', '') FROM plan_lines('EXECUTE divided(-2)') e WHERE e ~ 'States';
EXECUTE divided(-2);
EXECUTE divided(NULL);
EXECUTE divided(0);
RESET plan_cache_mode;
RESET gpubtree.enable_aggregate;
-- WHERE CURRENT OF finds the row, in core's own plan
BEGIN;
DECLARE c CURSOR FOR SELECT k FROM listed ORDER BY k OFFSET 2500;
FETCH 1 FROM c;
UPDATE listed SET v = -1 WHERE CURRENT OF c RETURNING k, v;
ROLLBACK;
-- percentiles: ranks are counted in all partitions together, whatever order these have
CREATE TABLE hashed (id int, v int, w smallint, k bigint NOT NULL) PARTITION BY HASH (id);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE hashed_1 (k bigint NOT NULL, v int, w smallint, id int);
ALTER TABLE hashed ATTACH PARTITION hashed_1 FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE hashed_2 PARTITION OF hashed FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO hashed SELECT i, nullif(i * 7919 % 100003, 50000), i % 5, i::bigint * 1000003 % 4000000007 FROM generate_series(1, 30000) i;
CREATE INDEX ON hashed USING gpubtree (v) INCLUDE (id);
CREATE INDEX ON hashed USING gpubtree (w, k DESC);
VACUUM ANALYZE hashed;
CREATE FUNCTION percentiles(query text) RETURNS TABLE (nodes text, same boolean) LANGUAGE plpgsql AS $$
DECLARE
	found text;
	expected text;
BEGIN
	SELECT string_agg(substring(line FROM 'Gpubtree(\w+)\)'), ' ') FROM plan_lines(query) line INTO nodes;
	EXECUTE 'SELECT q::text FROM (' || query || ') q' INTO found;
	SET LOCAL gpubtree.enabled = off;
	EXECUTE 'SELECT q::text FROM (' || query || ') q' INTO expected;
	SET LOCAL gpubtree.enabled = on;
	same := found = expected;
	RETURN NEXT;
END $$;
SELECT * FROM percentiles('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM hashed');
SELECT * FROM percentiles('SELECT percentile_disc(ARRAY[0, 0.001, 0.01, NULL, 0.25, 0.9, 1]) WITHIN GROUP (ORDER BY v DESC), count(v), sum(v), max(id) FROM hashed WHERE v BETWEEN 100 AND 90000');
SELECT * FROM percentiles('SELECT percentile_disc((SELECT array_agg(i / 3000.0) FROM generate_series(0, 3000) i)) WITHIN GROUP (ORDER BY v) FROM hashed');
SELECT * FROM percentiles('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY k), count(*) FROM hashed WHERE w = 2');
SELECT * FROM percentiles('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY v), count(*) FROM hashed');
SELECT * FROM percentiles('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY v) FROM hashed WHERE v > 200000');
SELECT * FROM percentiles('SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY k) FROM listed');
PREPARE of_id(int, float8) AS SELECT percentile_disc($2) WITHIN GROUP (ORDER BY v), count(v) FROM hashed WHERE v > $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_id(50000, 0.5);
EXECUTE of_id(200000, 0.5);
EXECUTE of_id(50000, 1.5);
PREPARE of_k(int) AS SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k), count(*) FROM listed WHERE k > $1;
SELECT * FROM leaves('EXECUTE of_k(2)');
EXECUTE of_k(2);
SELECT * FROM leaves('EXECUTE of_k(3)');
EXECUTE of_k(3);
RESET plan_cache_mode;
SELECT o, (SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY k) FROM listed WHERE k >= o) FROM unnest(ARRAY[3, 4, 1, 2]) o;
SELECT * FROM leaves('SELECT (SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY k) FROM listed WHERE k >= o) FROM unnest(ARRAY[3, 3]) o');

-- buckets of partitions that do not follow one another: each does a little, where LIMIT ends early
SET gpubtree.enable_aggregate = off;
SELECT * FROM leaves('SELECT v / 1000, count(*), sum(v) FROM hashed GROUP BY 1 ORDER BY 1 LIMIT 2');
SELECT v / 1000, count(*), sum(v) FROM hashed GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT v / 1000, count(*), sum(v) FROM hashed GROUP BY 1 ORDER BY 1 DESC LIMIT 2;
SELECT v / 1000, count(*), sum(v) FROM hashed GROUP BY 1 ORDER BY 1 NULLS FIRST LIMIT 2;
SELECT regexp_replace(e, '^ +', '') FROM plan_lines('SELECT v / 1000, count(*) FROM hashed GROUP BY 1 ORDER BY 1 NULLS FIRST') e WHERE e ~ 'States';
SELECT count(*), sum(n), sum(s) FROM (SELECT v / 1000, count(*) AS n, sum(v) AS s FROM hashed GROUP BY 1) q;
RESET gpubtree.enable_aggregate;

-- equal keys in two partitions: rows are not in order by what comes behind the key
CREATE TABLE pairs (a int NOT NULL, b int NOT NULL, c int) PARTITION BY RANGE (a, b);
CREATE TABLE pairs_1 PARTITION OF pairs FOR VALUES FROM (0, 0) TO (5, 50);
CREATE TABLE pairs_2 PARTITION OF pairs FOR VALUES FROM (5, 50) TO (10, 0);
INSERT INTO pairs SELECT i / 1000, i % 100, 10000 - i FROM generate_series(0, 9999) i;
CREATE INDEX ON pairs USING gpubtree (a) INCLUDE (b, c);
VACUUM ANALYZE pairs;
SELECT * FROM leaves('SELECT a FROM pairs ORDER BY a OFFSET 5990 LIMIT 1');
SELECT a FROM pairs ORDER BY a OFFSET 5990 LIMIT 1;
SELECT * FROM pairs ORDER BY a, c OFFSET 5490 LIMIT 1;

DROP TABLE seq, seq_default, flat, listed, pairs, hashed;
DROP FUNCTION percentiles;
DROP FUNCTION listed_at;

-- buckets: partitions end in the middle of a week, of a day, and of the hour that comes twice when clocks are put back
SET timezone = 'Europe/Berlin';
CREATE TABLE seq (at timestamptz, v int, w float8) PARTITION BY RANGE (at);
CREATE TABLE seq_1 PARTITION OF seq FOR VALUES FROM ('2026-09-01 00:00+00') TO ('2026-10-01 10:30+00');
CREATE TABLE seq_2 (w float8, gone text, v int, at timestamptz);
ALTER TABLE seq_2 DROP COLUMN gone;
ALTER TABLE seq ATTACH PARTITION seq_2 FOR VALUES FROM ('2026-10-01 10:30+00') TO ('2026-10-25 01:15+00');
CREATE TABLE seq_3 PARTITION OF seq FOR VALUES FROM ('2026-10-25 01:15+00') TO ('2026-11-15 00:00+00');
CREATE TABLE seq_empty PARTITION OF seq FOR VALUES FROM ('2026-11-15 00:00+00') TO ('2026-11-20 00:00+00');
CREATE TABLE seq_4 PARTITION OF seq FOR VALUES FROM ('2026-11-20 00:00+00') TO ('2027-02-01 00:00+00');
CREATE TABLE flat AS
SELECT timestamptz '2026-09-01 00:00+00' + i * interval '7 minutes 11 seconds' AS at, nullif(i % 1000, 7) AS v, i * 0.1::float8 - 500 AS w
FROM generate_series(0, 20000) i;
DELETE FROM flat WHERE at >= '2026-11-15 00:00+00' AND at < '2026-11-20 00:00+00';
INSERT INTO seq SELECT * FROM flat;
CREATE INDEX ON seq_1 USING gpubtree (at) INCLUDE (v, w);
CREATE INDEX ON seq_2 USING gpubtree (at DESC) INCLUDE (v, w);
CREATE INDEX ON seq_3 USING gpubtree (at) INCLUDE (v, w);
CREATE INDEX ON seq_4 USING gpubtree (at) INCLUDE (v, w);
CREATE INDEX ON seq_empty USING gpubtree (at) INCLUDE (v, w);
VACUUM ANALYZE seq, flat;

SELECT compare('SELECT date_trunc(''day'', at), count(*), sum(v), min(v), max(w) FROM %s GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT date_trunc(''week'', at), count(v), avg(v) FROM %s WHERE at > ''2026-09-10'' GROUP BY 1 HAVING count(*) > 100 ORDER BY 1 DESC');
SELECT compare('SELECT date_trunc(''month'', at), count(*), sum(v) FROM %s WHERE v BETWEEN 3 AND 900 GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT * FROM (SELECT date_bin(''3 days'', at, ''2026-01-01''), count(*) FROM %s GROUP BY 1 OFFSET 0) q ORDER BY 1');
SELECT compare('SELECT date_trunc(''day'', at), round(sum(w)::numeric, 6), sum(w) IS NULL FROM %s GROUP BY 1 ORDER BY 1');
-- other groups, and what may fail, are merged as groups are
SELECT compare('SELECT date_trunc(''day'', at), v %% 2, count(*) FROM %s WHERE v < 50 GROUP BY 1, 2 ORDER BY 1, 2');
-- local time falls at a seam: the states of all leaves are sorted
SET gpubtree.enable_aggregate = off;
SET enable_hashagg = off;
SET enable_sort = off;
SELECT compare('SELECT date_bin(''15 minutes'', at AT TIME ZONE ''Europe/Berlin'', ''2026-01-01''), count(*), sum(v) FROM %s WHERE at BETWEEN ''2026-10-24'' AND ''2026-10-26'' GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT date_bin(''15 minutes'', at AT TIME ZONE ''Europe/Berlin'', ''2026-01-01''), count(*), sum(v) FROM %s WHERE at BETWEEN ''2026-10-24'' AND ''2026-10-26'' GROUP BY 1 ORDER BY 1 DESC');
SELECT substring(e FROM 'States Sorted: \d+') FROM plan_lines('SELECT date_bin(''15 minutes'', at AT TIME ZONE ''Europe/Berlin'', ''2026-01-01''), count(*) FROM seq WHERE at BETWEEN ''2026-10-24'' AND ''2026-10-26'' GROUP BY 1 ORDER BY 1') e WHERE e LIKE '%States Sorted%';

-- LIMIT ends before leaves behind the last bucket begin
SELECT * FROM leaves('SELECT date_trunc(''day'', at), count(*) FROM seq GROUP BY 1 ORDER BY 1 LIMIT 40');
SELECT * FROM leaves('SELECT date_trunc(''day'', at), count(*) FROM seq GROUP BY 1 ORDER BY 1 DESC LIMIT 3');
-- pruned when the plan begins, and for each outer row
PREPARE days(timestamptz, timestamptz) AS SELECT date_trunc('day', at), count(*), sum(v) FROM seq WHERE at >= $1 AND at < $2 GROUP BY 1 ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
SELECT * FROM leaves('EXECUTE days(''2026-09-30'', ''2026-10-02'')');
EXECUTE days('2026-09-30', '2026-10-02');
SELECT date_trunc('day', at), count(*), sum(v) FROM flat WHERE at >= '2026-09-30' AND at < '2026-10-02' GROUP BY 1 ORDER BY 1;
EXECUTE days('2026-10-02', '2026-09-30');
PREPARE by_unit(text) AS SELECT date_trunc($1, at), count(*), sum(v) FROM seq GROUP BY 1;
EXECUTE by_unit('month');
EXECUTE by_unit(NULL);
EXECUTE by_unit('nonsense');
RESET plan_cache_mode;
SELECT o::date, (SELECT string_agg(d::date || ':' || n, ' ' ORDER BY d) FROM (SELECT date_trunc('day', at) AS d, count(*) AS n FROM seq WHERE at >= o AND at < o + interval '36 hours' GROUP BY 1 OFFSET 0) q) IS NOT DISTINCT FROM
	(SELECT string_agg(d::date || ':' || n, ' ' ORDER BY d) FROM (SELECT date_trunc('day', at) AS d, count(*) AS n FROM flat WHERE at >= o AND at < o + interval '36 hours' GROUP BY 1 OFFSET 0) q) AS same
FROM generate_series(timestamptz '2026-09-30', '2026-12-01', interval '9 days') o;
-- a cursor's buckets are those of the time zone of its first row
BEGIN;
EXPLAIN (COSTS OFF) DECLARE c CURSOR FOR SELECT extract(epoch FROM date_trunc('day', at)), count(*), sum(v) FROM seq GROUP BY date_trunc('day', at) ORDER BY date_trunc('day', at);
DECLARE c CURSOR FOR SELECT extract(epoch FROM date_trunc('day', at)), count(*), sum(v) FROM seq GROUP BY date_trunc('day', at) ORDER BY date_trunc('day', at);
FETCH 1 FROM c;
SET timezone = 'Asia/Kathmandu';
MOVE 28 FROM c;
FETCH 3 FROM c;
RESET timezone;
COMMIT;
SET timezone = 'Europe/Berlin';
SELECT extract(epoch FROM date_trunc('day', at)), count(*), sum(v) FROM flat WHERE at >= '2026-09-30' AND at < '2026-10-03' GROUP BY date_trunc('day', at) ORDER BY 1;
-- the last partition has no bound, and may have infinity
CREATE TABLE seq_late PARTITION OF seq FOR VALUES FROM ('2027-06-01 00:00+00') TO (MAXVALUE);
INSERT INTO seq VALUES ('2027-07-01', 8, 4), ('infinity', 9, 5);
CREATE INDEX ON seq_late USING gpubtree (at) INCLUDE (v, w);
SELECT * FROM leaves('SELECT date_trunc(''day'', at), count(*), sum(v) FROM seq GROUP BY 1 ORDER BY 1 DESC LIMIT 3');
SELECT date_trunc('day', at), count(*), sum(v) FROM seq GROUP BY 1 ORDER BY 1 DESC LIMIT 3;
DROP TABLE seq_late;
-- a default partition has NULLs, and values between those of others
CREATE TABLE seq_default PARTITION OF seq DEFAULT;
INSERT INTO seq VALUES (NULL, 5, 1), ('2026-08-01', 6, 2), ('2027-03-01', 7, 3);
INSERT INTO flat SELECT * FROM seq_default;
CREATE INDEX ON seq_default USING gpubtree (at) INCLUDE (v, w);
VACUUM ANALYZE seq_default;
SELECT compare('SELECT date_trunc(''week'', at), count(*), sum(v) FROM %s GROUP BY 1 ORDER BY 1');
SELECT compare('SELECT date_trunc(''week'', at), count(*), sum(v) FROM %s GROUP BY 1 ORDER BY 1 DESC NULLS LAST');
SELECT * FROM leaves('SELECT date_trunc(''week'', at), count(*) FROM seq WHERE at IS NULL OR at IS NOT NULL GROUP BY 1 ORDER BY 1 LIMIT 1');

RESET gpubtree.enable_aggregate;
RESET enable_hashagg;
RESET enable_sort;
-- a column that is NOT NULL in the largest partition alone
ALTER TABLE seq_3 ALTER w SET NOT NULL;
DELETE FROM seq WHERE at >= '2026-12-01' OR at IS NULL;
DELETE FROM flat WHERE at >= '2026-12-01' OR at IS NULL;
INSERT INTO seq SELECT '2026-11-25', 5, NULL FROM generate_series(1, 50);
INSERT INTO flat SELECT '2026-11-25', 5, NULL FROM generate_series(1, 50);
VACUUM ANALYZE seq;
SELECT compare('SELECT date_trunc(''month'', at), count(w), count(*) FROM %s WHERE at >= ''2026-10-26'' AND at < ''2027-01-01'' AND v > 3 GROUP BY 1 ORDER BY 1');
RESET timezone;
DROP TABLE seq, flat;
DROP FUNCTION compare, leaves, plan_lines;
