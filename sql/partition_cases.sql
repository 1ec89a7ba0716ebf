--
-- What surrounds queries over partitions: rights, policies, no partition left, one that raises an error or gives up,
-- a time zone that changes between two FETCHes, writes of the same statement, inheritance, locks.  Each answer is
-- that without nodes.
--
SET gpubtree.enable_device = off;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET client_min_messages = warning;
SET timezone = 'Europe/Berlin';

-- a partition with the columns in another order, one without the index, one with a zero, one with numbers of which a
-- product is beyond 64 bits
CREATE TABLE cases (sensor int, at timestamptz, v int, x text, n numeric(18,0)) PARTITION BY RANGE (at);
CREATE TABLE cases_1 PARTITION OF cases FOR VALUES FROM ('2026-03-01') TO ('2026-03-20');
CREATE TABLE cases_2 (x text, gone int, n numeric(18,0), v int, at timestamptz, sensor int);
ALTER TABLE cases_2 DROP COLUMN gone;
ALTER TABLE cases ATTACH PARTITION cases_2 FOR VALUES FROM ('2026-03-20') TO ('2026-04-01');
CREATE TABLE cases_3 PARTITION OF cases FOR VALUES FROM ('2026-04-01') TO ('2026-04-10');
CREATE TABLE cases_4 PARTITION OF cases FOR VALUES FROM ('2026-04-10') TO ('2026-04-20');
INSERT INTO cases
SELECT i % 7, timestamptz '2026-03-01' + i * interval '7 minutes', CASE WHEN i = 5000 THEN 0 ELSE i % 50 + 1 END, 'x' || i * 7 % 11, CASE WHEN i = 9000 THEN 999999999999999999 ELSE i END
FROM generate_series(0, 9999) i;
CREATE INDEX ON cases_1 USING gpubtree (at) INCLUDE (sensor, v, x, n);
CREATE INDEX ON cases_2 USING gpubtree (at) INCLUDE (sensor, v, x, n);
CREATE INDEX ON cases_4 USING gpubtree (at) INCLUDE (n, x, v, sensor);
VACUUM ANALYZE cases;

\i :abs_srcdir/sql/common/answer.sql
-- the topmost node of a query, and the answer if it is that without nodes
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	node text;
	found text := answer(query);
	expected text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		node := coalesce(node, replace(substring(line FROM 'Custom Scan \((\w+\) on \w+)'), ')', ''));
	END LOOP;
	PERFORM set_config('gpubtree.enabled', 'off', true);
	expected := answer(query);
	PERFORM set_config('gpubtree.enabled', 'on', true);
	IF found IS DISTINCT FROM expected THEN
		RETURN format('%s: %s, should be %s', query, left(found, 300), left(expected, 300));
	END IF;
	RETURN left(found, 60) || '  ' || coalesce(node, 'no node');
END $$;
\set ECHO all

-- no partition is left when the plan is made, or begins
SELECT compare('SELECT count(*), sum(v), max(x) FROM cases WHERE at < ''2020-01-01''');
SELECT compare('SELECT x, count(*) FROM cases WHERE at > ''2030-01-01'' GROUP BY x');
SELECT compare('SELECT x, count(*), grouping(x) FROM cases WHERE at > ''2030-01-01'' GROUP BY ROLLUP (x)');
SET plan_cache_mode = force_generic_plan;
PREPARE total(timestamptz, timestamptz) AS SELECT count(*), sum(v), max(x), count(DISTINCT v) FROM cases WHERE at BETWEEN $1 AND $2;
PREPARE groups(timestamptz, timestamptz) AS SELECT sensor, count(*), sum(v), max(x) FROM cases WHERE at BETWEEN $1 AND $2 GROUP BY sensor ORDER BY sensor;
EXECUTE total('2030-01-01', '2031-01-01');
EXECUTE total('2026-03-19', '2026-04-11');
EXECUTE total('2026-04-12', '2026-04-11');
EXECUTE groups('2030-01-01', '2031-01-01');
EXECUTE groups('2026-03-19', '2026-03-21');
-- the plan that takes over reads no partition that has been pruned, also where core would rather append groups of partitions
SET enable_partitionwise_aggregate = on;
PREPARE squares(timestamptz) AS SELECT count(*), sum(n * n) FROM cases WHERE at > $1;
EXPLAIN (COSTS OFF) EXECUTE squares('2026-04-11');
EXECUTE squares('2026-04-11');
SET gpubtree.enabled = off;
EXPLAIN (COSTS OFF) EXECUTE squares('2026-04-11');
RESET gpubtree.enabled;
PREPARE square_groups(timestamptz) AS SELECT sensor, count(*), sum(n * n) FROM cases WHERE at > $1 GROUP BY sensor ORDER BY sensor;
EXPLAIN (COSTS OFF) EXECUTE square_groups('2026-04-11');
EXECUTE square_groups('2026-04-11');
RESET enable_partitionwise_aggregate;
DEALLOCATE ALL;
RESET plan_cache_mode;
SELECT compare('SELECT o, (SELECT count(*) FROM cases WHERE at > timestamptz ''2026-03-15'' + o * interval ''20 days'' AND sensor <> o) FROM generate_series(-1, 3) o');

-- an error that one partition raises, which a condition excludes there
SELECT compare('SELECT sum(100 / v) FROM cases');
SELECT compare('SELECT sensor, sum(100 / v) FROM cases GROUP BY sensor');
SELECT compare('SELECT sum(100 / v) FROM cases WHERE v <> 0');
SELECT compare('SELECT sum(100 / v) FROM cases WHERE at < ''2026-03-25''');
SELECT compare('SELECT sum(100 / v) FILTER (WHERE v > 0) FROM cases');
-- one that gives up
SELECT compare('SELECT sum(n * n), count(*) FROM cases');
SELECT compare('SELECT sensor, sum(n * n), max(x) FROM cases GROUP BY sensor');
SELECT compare('SELECT sum(n * n) FROM cases WHERE at < ''2026-04-10''');

-- rights: of the parent alone, of some of its columns, with a partition that is another's
CREATE ROLE gpubtree_reader;
CREATE ROLE gpubtree_owner;
ALTER TABLE cases_2 OWNER TO gpubtree_owner;
GRANT SELECT (sensor, at, v) ON cases TO gpubtree_reader;
SET ROLE gpubtree_reader;
SELECT compare('SELECT sensor, count(*), sum(v) FROM cases WHERE at > ''2026-03-10'' GROUP BY sensor');
SELECT compare('SELECT count(*), sum(v) FROM cases WHERE at BETWEEN ''2026-03-21'' AND ''2026-03-30''');
SELECT compare('SELECT count(*), max(x) FROM cases WHERE at > ''2026-03-10''');
SELECT compare('SELECT count(*) FROM cases WHERE at > ''2026-03-10'' AND n > 5');
SELECT compare('SELECT count(*) FROM cases_1 WHERE at > ''2026-03-10''');
SELECT compare('SELECT at, v FROM cases WHERE at > ''2026-03-10'' AND v % 50 = 3 ORDER BY at LIMIT 1');
RESET ROLE;
-- policies of the parent; those of a partition are for who names it
ALTER TABLE cases ENABLE ROW LEVEL SECURITY;
ALTER TABLE cases_2 ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON cases TO gpubtree_reader USING (sensor = 3 AND v < 40);
GRANT SELECT ON cases, cases_2 TO gpubtree_reader;
SET ROLE gpubtree_reader;
SELECT compare('SELECT sensor, count(*), sum(v) FROM cases WHERE at > ''2026-03-10'' GROUP BY sensor');
SELECT compare('SELECT count(*), max(x), count(DISTINCT x) FROM cases');
SELECT compare('SELECT count(*), sum(v) FROM cases WHERE at BETWEEN ''2026-03-21'' AND ''2026-03-30''');
SELECT compare('SELECT count(*), sum(v) FROM cases_2');
-- what is not leakproof comes after the policy
SELECT compare('SELECT count(*) FROM cases WHERE 100 / v > 3');
SELECT compare('SELECT sum(100 / v) FROM cases');
RESET ROLE;
ALTER TABLE cases DISABLE ROW LEVEL SECURITY;
ALTER TABLE cases_2 DISABLE ROW LEVEL SECURITY;

-- buckets are of the time zone in which the first was fetched
CREATE FUNCTION fetch_days(zone text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	days CURSOR FOR SELECT extract(epoch FROM date_trunc('day', at)) || ':' || count(*) AS day FROM cases GROUP BY date_trunc('day', at) ORDER BY date_trunc('day', at);
	line record;
	lines text;
BEGIN
	OPEN days;
	FOR i IN 1 .. 70 LOOP
		FETCH days INTO line;
		lines := concat_ws(' ', lines, line.day);
		IF i = 3 THEN
			PERFORM set_config('timezone', zone, true);
		END IF;
	END LOOP;
	CLOSE days;
	PERFORM set_config('timezone', 'Europe/Berlin', true);
	RETURN lines;
END $$;
SELECT fetch_days('Asia/Tokyo') = fetch_days('Europe/Berlin') AS same;

-- what the statement itself writes is not seen
CREATE FUNCTION effect(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	enabled text;
	line record;
	effect text;
	effects text[];
BEGIN
	FOREACH enabled IN ARRAY ARRAY['off', 'on'] LOOP
		PERFORM set_config('gpubtree.enabled', enabled, true);
		BEGIN
			effect := '';
			FOR line IN EXECUTE statement LOOP
				effect := effect || line::text;
			END LOOP;
			SELECT effect || ' leaves ' || count(*) || ' rows, ' || sum(hashtextextended(c::text, 0)) FROM cases c INTO effect;
			RAISE EXCEPTION SQLSTATE 'GPB00';
		EXCEPTION WHEN SQLSTATE 'GPB00' THEN
			effects := effects || effect;
		END;
	END LOOP;
	RETURN CASE WHEN effects[1] = effects[2] THEN right(regexp_replace(effect, ' rows.*', ''), 60) ELSE effects::text END;
END $$;
SELECT effect('WITH w AS (INSERT INTO cases SELECT 1, timestamptz ''2026-03-11'' + i * interval ''1 day'', 7, ''x1'', 1 FROM generate_series(1, 25) i RETURNING v) SELECT count(*), sum(v), (SELECT sum(v) FROM w) FROM cases WHERE at > ''2026-03-10''');
SELECT effect('WITH w AS (DELETE FROM cases WHERE at > ''2026-03-15'' AND v = 7 RETURNING v) SELECT count(*), sum(v), (SELECT sum(v) FROM w) FROM cases WHERE at > ''2026-03-10''');
SELECT effect('WITH w AS (UPDATE cases SET v = v + 1, at = at + interval ''15 days'' WHERE at < ''2026-03-12'' RETURNING v) SELECT count(*), sum(v), (SELECT count(*) FROM w) FROM cases WHERE at > ''2026-03-10''');
SELECT effect('WITH w AS (INSERT INTO cases SELECT sensor, at + interval ''1 day'', v, x, n FROM cases WHERE at BETWEEN ''2026-03-10'' AND ''2026-04-15'' AND v % 5 = 1 RETURNING v) SELECT count(*), sum(v) FROM w');
SELECT effect('WITH w AS (INSERT INTO cases SELECT sensor, min(at), sum(v), max(x), max(n) FROM cases WHERE at > ''2026-03-10'' GROUP BY sensor RETURNING *) SELECT sensor, v FROM w ORDER BY sensor');
SELECT effect('WITH w AS (UPDATE cases SET v = q.s FROM (SELECT sensor, sum(v) AS s FROM cases WHERE at > ''2026-03-10'' GROUP BY sensor) q WHERE q.sensor = cases.sensor AND at < ''2026-03-05'' RETURNING v) SELECT count(*), sum(v) FROM w');
\set ECHO none

-- inheritance: columns and a parent more, a condition that excludes a child
CREATE TABLE base (k int, v int, x text);
CREATE TABLE other (k int, y int);
CREATE TABLE kept (z int, CHECK (k < 5000)) INHERITS (base);
CREATE TABLE both_of (more text) INHERITS (base, other);
CREATE TABLE below () INHERITS (kept);
INSERT INTO base SELECT i, i % 10, 'x' || i % 5 FROM generate_series(1, 9999) i WHERE i % 4 = 0;
INSERT INTO kept SELECT i, i % 10, 'x' || i % 7, 9 FROM generate_series(1, 4999) i WHERE i % 4 = 1;
INSERT INTO both_of SELECT i, i % 10, 'x' || i % 3, i, 'm' FROM generate_series(1, 9999) i WHERE i % 4 = 2;
INSERT INTO below SELECT i, i % 10, NULL, 9 FROM generate_series(1, 4999) i WHERE i % 4 = 3;
INSERT INTO other SELECT i, 1 FROM generate_series(1, 100) i;
CREATE INDEX ON base USING gpubtree (k) INCLUDE (v, x);
CREATE INDEX ON kept USING gpubtree (k) INCLUDE (v, x);
CREATE INDEX ON both_of USING gpubtree (k) INCLUDE (x, v, y);
CREATE INDEX ON below USING gpubtree (k) INCLUDE (v, x);
CREATE INDEX ON other USING gpubtree (k) INCLUDE (y);
VACUUM ANALYZE base, other, kept, both_of, below;
\set ECHO all
SELECT compare('SELECT count(*), sum(v), max(x) FROM base WHERE k > 100');
SELECT compare('SELECT count(*), sum(v), max(x) FROM ONLY base WHERE k > 100');
SELECT compare('SELECT count(*), sum(v), max(x) FROM kept WHERE k > 100');
SELECT compare('SELECT count(*), sum(v), max(x) FROM ONLY kept WHERE k > 100');
SELECT compare('SELECT count(*), sum(k), max(y) FROM other WHERE k > 50');
SELECT compare('SELECT count(*), sum(v), max(x) FROM base WHERE k > 5000');
SELECT compare('SELECT v % 3, count(*), min(x) FROM base WHERE k > 100 GROUP BY v % 3');
SELECT compare('SELECT x, count(DISTINCT v), percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM base GROUP BY x');
SELECT compare('SELECT x FROM base WHERE k < 20 GROUP BY x HAVING count(*) > 2');
SELECT compare('SELECT DISTINCT x FROM base');
SELECT compare('SELECT tableoid::regclass, count(*) FROM base GROUP BY 1');
SELECT compare('SELECT count(base), count(*) FROM base');

-- partitions that are locked by planning and by executing: as without nodes
CREATE FUNCTION locks(query text, enabled boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	BEGIN
		PERFORM set_config('gpubtree.enabled', enabled::text, true);
		EXECUTE query;
		SELECT string_agg(r, ' ' ORDER BY r) INTO result
		FROM (SELECT relation::regclass || '/' || mode AS r FROM pg_locks WHERE pid = pg_backend_pid() AND relation::regclass::text LIKE 'cases%') l;
		RAISE EXCEPTION SQLSTATE 'GPB00';
	EXCEPTION WHEN SQLSTATE 'GPB00' THEN
		RETURN result;
	END;
END $$;
SELECT query, locks(query, true) = locks(query, false) AS same
FROM (VALUES ('SELECT count(*), sum(v) FROM cases WHERE at > ''2026-03-25'''), ('EXPLAIN SELECT sum(v) FROM cases WHERE at < ''2026-03-15'''), ('SELECT max(x) FROM cases WHERE at < now() - interval ''90 years''')) q(query);
\set ECHO none

DROP TABLE cases, base, other, kept, both_of, below;
DROP FUNCTION answer, compare, fetch_days, effect, locks;
DROP ROLE gpubtree_reader, gpubtree_owner;
