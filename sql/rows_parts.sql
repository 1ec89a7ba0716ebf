--
-- GpubtreeScan: rows as they are wanted: below LIMIT, by cursors, and in scans that begin anew
--
SET client_min_messages = warning;
CREATE SCHEMA rows_parts;
SET search_path = rows_parts, public;
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';
-- All ordinary scans are dear alike, so that the node is chosen wherever it can be.
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;

SET compare.node = 'GpubtreeScan';
\i :abs_srcdir/sql/common/plan.sql

-- What the node did for a query: "ours", and the numbers of these lines of EXPLAIN ANALYZE.
CREATE FUNCTION done_by(query text, VARIADIC names text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := 'not ours';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line LIKE '%GpubtreeScan%' THEN
			result := 'ours';
		ELSIF split_part(trim(line), ':', 1) = ANY (names) THEN
			result := result || ', ' || trim(line);
		END IF;
	END LOOP;
	RETURN result;
END $$;

-- The rows that a cursor returns for these FETCH and MOVE commands, each in [brackets]
CREATE FUNCTION cursor_rows(options text, query text, VARIADIC commands text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	command text;
	result text := '';
	r record;
	cursor refcursor := 'c';
	n integer;
BEGIN
	EXECUTE format('DECLARE c %s CURSOR FOR %s', options, query);
	FOREACH command IN ARRAY commands LOOP
		result := result || '[';
		n := regexp_replace(command, '\D', '', 'g')::int;
		FOR i IN 1..n LOOP
			IF command LIKE 'back%' THEN
				FETCH PRIOR FROM cursor INTO r;
			ELSIF command LIKE 'move%' THEN
				MOVE NEXT FROM cursor;
				CONTINUE;
			ELSE
				FETCH NEXT FROM cursor INTO r;
			END IF;
			EXIT WHEN NOT FOUND;
			result := result || r::text;
		END LOOP;
		result := result || ']';
	END LOOP;
	CLOSE cursor;
	RETURN result;
END $$;

CREATE TABLE part (k integer, v integer, w bigint, u text);
INSERT INTO part SELECT n, n % 1000, n * 7919::bigint % 100003, 'text ' || n % 13 FROM generate_series(1, 60000) n;
CREATE INDEX part_k ON part USING gpubtree (k) INCLUDE (v, w);
VACUUM ANALYZE part;
\set ECHO all

-- A few rows need a few leaves, whether the planner expects them or not; all rows need all leaves.
SELECT done_by('SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3 LIMIT 10', 'Matches', 'Leaves Done by CPU');
SELECT done_by('SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3 LIMIT 100', 'Matches', 'Leaves Done by CPU');
SELECT done_by('SELECT * FROM part WHERE k > 1000 AND v % 7 = 3 LIMIT 10', 'Matches', 'Leaves Done by CPU', 'Heap Fetches');
SELECT done_by('SELECT k FROM part WHERE (k < 9 OR k > 30000) AND v % 7 = 3 LIMIT 10', 'Matches', 'Leaves Done by CPU');
-- A device that pays has keys from the first one on.
SET gpubtree.enable_device = off;
SELECT done_by('SELECT k FROM part WHERE k = ANY (ARRAY(SELECT generate_series(1, 9000))) AND v % 7 = 3 LIMIT 5', 'Leaves Done by CPU');
RESET gpubtree.enable_device;
SELECT done_by('SELECT k, v FROM part WHERE v = 777 LIMIT 2', 'Matches', 'Leaves Done by CPU');
SELECT done_by('SELECT k FROM part WHERE v % 7 = 3 AND EXISTS (SELECT 1 FROM part q WHERE q.k < 9 AND q.v % 7 = 3)', 'Matches');
-- Where rows are not known to be visible, a few of them are looked at in the table.
BEGIN;
UPDATE part SET u = u || '.' WHERE k BETWEEN 2000 AND 2400;
SELECT done_by('SELECT k, v FROM part WHERE k >= 2000 AND v % 7 = 3 LIMIT 3', 'Matches');
SELECT k, v FROM part WHERE k >= 2000 AND v % 7 = 3 LIMIT 3;
ROLLBACK;

\set ECHO none
-- The price says so: the first row is cheap, as is a part of all.
CREATE FUNCTION costs(query text, OUT startup float8, OUT total float8) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	startup := plan -> 0 -> 'Plan' ->> 'Startup Cost';
	total := plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
-- With a device all rows together may cost little more than the first one.
SET gpubtree.enable_device = off;
\set ECHO all
SELECT startup < total / 10 AS early FROM costs('SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3');
SELECT startup < total / 3 AS early FROM costs('SELECT * FROM part WHERE k > 1000 AND v % 7 = 3');
SELECT l.total < a.total / 4 AS early FROM costs('SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3 LIMIT 30') l,
	costs('SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3') a;

RESET gpubtree.enable_device;
-- Cursors: backwards, what is held beyond the transaction, and what changes meanwhile
BEGIN;
SELECT is_ours('SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3');
SELECT cursor_rows('NO SCROLL', 'SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3', 'fetch 2', 'move 100', 'fetch 2', 'move 5000', 'fetch 1');
SELECT cursor_rows('SCROLL', 'SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3', 'fetch 3', 'back 2', 'move 600', 'fetch 2', 'back 3', 'fetch 1');
SELECT cursor_rows('SCROLL', 'SELECT k, u FROM part WHERE k > 59900 AND v % 7 = 3', 'fetch 30', 'back 2', 'fetch 3', 'back 30', 'fetch 2');
DECLARE changing NO SCROLL CURSOR FOR SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3;
FETCH 2 FROM changing;
DELETE FROM part WHERE k BETWEEN 1000 AND 20000;
INSERT INTO part SELECT n, 3 FROM generate_series(1001, 3000) n;
FETCH 2 FROM changing;
MOVE 8000 FROM changing;
FETCH 1 FROM changing;
CLOSE changing;
DECLARE held CURSOR WITH HOLD FOR SELECT k, v FROM part WHERE k > 40000 AND v % 7 = 3;
FETCH 2 FROM held;
COMMIT;
FETCH 2 FROM held;
CLOSE held;
TRUNCATE part;
INSERT INTO part SELECT n, n % 1000, n * 7919::bigint % 100003, 'text ' || n % 13 FROM generate_series(1, 60000) n;
VACUUM ANALYZE part;

-- An error in a later row is raised when that row is wanted, and not before.
SELECT k FROM part WHERE k > 10 AND 1 / (v - 500) = 0 LIMIT 3;
BEGIN;
DECLARE failing CURSOR FOR SELECT k FROM part WHERE k > 10 AND 1 / (v - 500) = 0;
FETCH 2 FROM failing;
MOVE 400 FROM failing;
MOVE 400 FROM failing;
ROLLBACK;

-- What a cursor's rows depend on is fixed when it begins (rule M12), also where core's own evaluation
-- decides about rows for which a step of the program faulted.
CREATE TABLE stamped (k integer, t timestamptz, v integer);
INSERT INTO stamped SELECT n, timestamptz '2024-01-01 00:00+00' + n * interval '1 hour', n % 100 FROM generate_series(1, 3000) n;
CREATE INDEX stamped_k ON stamped USING gpubtree (k) INCLUDE (t, v);
VACUUM ANALYZE stamped;
SELECT is_ours($$SELECT k, t FROM stamped WHERE k > 5 AND t > timestamp '2024-01-02' AND v % 10 = 3$$);
BEGIN;
DECLARE local_rows NO SCROLL CURSOR FOR SELECT k, v FROM stamped WHERE k > 5 AND t >= timestamp '2024-01-02' AND v % 10 = 3;
FETCH 2 FROM local_rows;
SET LOCAL timezone = 'Asia/Tokyo';
FETCH 2 FROM local_rows;
MOVE 280 FROM local_rows;
FETCH 2 FROM local_rows;
ROLLBACK;
BEGIN;
DECLARE faulted_rows NO SCROLL CURSOR FOR SELECT k, v FROM stamped WHERE k > 5 AND v <> 50 AND 100 / (v - 50) <> 3 AND t >= timestamp '2024-01-02' AND v IN (49, 50);
DECLARE other_rows NO SCROLL CURSOR FOR SELECT k, v FROM stamped WHERE k > 5 AND v IN (49, 50) AND to_char(t, 'HH24') = '01';
FETCH 1 FROM faulted_rows;
FETCH 1 FROM other_rows;
SET LOCAL timezone = 'Asia/Tokyo';
FETCH 2 FROM faulted_rows;
FETCH 2 FROM other_rows;
SHOW timezone;
ROLLBACK;

-- WHERE CURRENT OF finds the row, after updates of it too; a SCROLL cursor's is core's.
BEGIN;
UPDATE stamped SET v = 3 WHERE k % 100 = 10;
DECLARE shown CURSOR FOR SELECT k FROM stamped WHERE k > 5 AND v % 10 = 3;
FETCH 2 FROM shown;
UPDATE stamped SET v = 13 WHERE CURRENT OF shown RETURNING *;
DELETE FROM stamped WHERE CURRENT OF shown RETURNING *;
MOVE 200 FROM shown;
DELETE FROM stamped WHERE CURRENT OF shown RETURNING *;
DECLARE shown_back SCROLL CURSOR FOR SELECT k FROM stamped WHERE k > 5 AND v % 10 = 3;
FETCH 3 FROM shown_back;
FETCH PRIOR FROM shown_back;
DELETE FROM stamped WHERE CURRENT OF shown_back RETURNING *;
DO $$
DECLARE
	c CURSOR FOR SELECT v FROM stamped WHERE k > 5 AND v % 10 = 7;
	n integer := 0;
BEGIN
	FOR r IN c LOOP
		UPDATE stamped SET v = v + 1000 WHERE CURRENT OF c;
		n := n + 1;
	END LOOP;
	RAISE EXCEPTION '% rows, % changed', n, (SELECT count(*) FROM stamped WHERE v >= 1000);
END $$;
ROLLBACK;

-- System columns and whole rows
SELECT done_by('SELECT ctid, xmin, k FROM stamped WHERE k > 5 AND v % 10 = 3', 'Columns'),
	done_by('SELECT tableoid, k FROM stamped WHERE k > 5 AND v % 10 = 3', 'Columns'),
	done_by('SELECT stamped FROM stamped WHERE k > 5 AND v % 10 = 3', 'Columns');
\set ECHO none
BEGIN;
UPDATE stamped SET v = v WHERE k % 7 = 0;
ALTER TABLE stamped ADD gone integer;
UPDATE stamped SET gone = k WHERE k % 3 = 0;
ALTER TABLE stamped DROP gone, ADD late text DEFAULT 'late';
CREATE FUNCTION system_columns() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) || ' ' || md5(string_agg(r, ',' ORDER BY r)) FROM (SELECT (ctid, tableoid::regclass, xmin, xmax, cmin, k)::text AS r FROM stamped WHERE k > 5 AND v % 10 = 3) q)
		|| (SELECT count(q) || ' ' || md5(string_agg(r::text, ',' ORDER BY k)) FROM (SELECT s AS r, k FROM stamped s WHERE k > 5 AND v % 10 = 3) q)
		|| (SELECT md5(string_agg(row_to_json(s)::text, ',' ORDER BY s.k)) FROM stamped s WHERE k > 5 AND v % 10 = 3 AND s.ctid > '(1,1)' AND s IS NOT NULL);
END $$;
CREATE FUNCTION core_system_columns() RETURNS text LANGUAGE sql SET gpubtree.enabled = off AS 'SELECT system_columns()';
\set ECHO all
SELECT system_columns() = core_system_columns();
SELECT s, (s).k, tableoid::regclass FROM stamped s WHERE k > 5 AND v % 10 = 3 ORDER BY k LIMIT 2;
SELECT tableoid::regclass, k FROM stamped s WHERE k > 5 AND v % 10 = 3 ORDER BY v, k LIMIT 2;
ROLLBACK;

-- Scans that begin anew with other parameters, and that were not read to their end
SELECT n, q.* FROM generate_series(0, 4) n, LATERAL (SELECT k, v FROM part WHERE k > n * 10000 AND v % 7 = n LIMIT 2) q;
SELECT n, (SELECT k FROM part WHERE k > n * 10000 AND v % 70 = 3 AND w > n LIMIT 1) FROM generate_series(0, 5) n;
SELECT n, (SELECT count(*) FROM (SELECT k FROM part WHERE k BETWEEN n * 10 AND n * 1000 AND v % 7 = n % 7 OFFSET 1) q) FROM generate_series(0, 60, 10) n;
-- Many of them take no more memory than one.
CREATE FUNCTION executor_memory() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts
$$;
SELECT max(bytes) FILTER (WHERE n > 15000) - max(bytes) FILTER (WHERE n BETWEEN 2000 AND 9000) < 100000 AS constant
FROM (SELECT n, (SELECT max(k) FROM (SELECT k FROM part WHERE k > n * 2 AND v % 7 = n % 7 OFFSET 0 LIMIT 3) q),
		CASE WHEN n % 1000 = 0 THEN executor_memory() END AS bytes FROM generate_series(1, 20000) n OFFSET 0) q;

-- The first rows in an order, as many as are known when the node begins: a generic plan, an
-- expression, a subquery, an outer row
SET plan_cache_mode = force_generic_plan;
PREPARE first (bigint, bigint) AS SELECT k, w FROM part WHERE k > 100 AND v % 7 <> 3 ORDER BY w DESC, k LIMIT $1 OFFSET $2 + 1;
EXPLAIN (COSTS OFF) EXECUTE first (3, 0);
EXECUTE first (3, 0);
EXECUTE first (2, NULL);
EXECUTE first (0, 10);
EXECUTE first (-1, 0);
EXECUTE first (1, -5);
SELECT done_by('EXECUTE first (3, 0)', 'Matches'), done_by('EXECUTE first (NULL, 0)', 'Matches'), done_by('EXECUTE first (9000000000, 0)', 'Matches');
PREPARE ties (bigint) AS SELECT v FROM part WHERE k > 100 AND w > 7 ORDER BY v FETCH FIRST $1 ROWS WITH TIES;
SELECT done_by('EXECUTE ties (70)', 'First Entries', 'Matches');
PREPARE failing_limit (integer) AS SELECT k FROM part WHERE k > 100 AND v % 7 <> 3 ORDER BY w LIMIT 10 / $1;
EXECUTE failing_limit (5);
EXECUTE failing_limit (0);
DEALLOCATE ALL;
EXPLAIN (COSTS OFF) SELECT k FROM part WHERE v % 7 = 3 ORDER BY w LIMIT random() * 10;
SELECT done_by('SELECT k FROM part WHERE v % 7 = 3 ORDER BY w LIMIT (SELECT 4) OFFSET 3', 'First Entries', 'Matches');
SELECT n, q.* FROM generate_series(0, 3) n, LATERAL (SELECT k, w FROM part WHERE k > n * 10000 AND v % 7 = n ORDER BY w, k LIMIT n) q;
\set ECHO none
CREATE FUNCTION first_rows(low integer, rows bigint, skipped bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT string_agg(k || ' ' || x, ',') FROM (SELECT k, w % 500 AS x FROM part WHERE k > low AND v % 5 <> 3 ORDER BY w % 500 DESC, k LIMIT rows OFFSET skipped) q);
END $$;
CREATE FUNCTION core_first_rows(low integer, rows bigint, skipped bigint) RETURNS text LANGUAGE plpgsql SET gpubtree.enabled = off AS $$
BEGIN
	RETURN (SELECT string_agg(k || ' ' || x, ',') FROM (SELECT k, w % 500 AS x FROM part WHERE k > low AND v % 5 <> 3 ORDER BY w % 500 DESC, k LIMIT rows OFFSET skipped) q);
END $$;
SELECT n, low, rows, skipped FROM (SELECT n, 52000 + n * 7919 % 9001 AS low, nullif(n * 31 % 97, 9) * (n % 3) * (n % 3) AS rows, nullif(n * 17 % 29, 5) * (n % 2) * 7 AS skipped FROM generate_series(1, 200) n) q
	WHERE first_rows(low, rows, skipped) IS DISTINCT FROM core_first_rows(low, rows, skipped);
RESET plan_cache_mode;
\set ECHO all

-- Rows that are locked are core's, with what they are evaluated by anew.
SELECT is_ours('SELECT k FROM part WHERE v % 7 = 3 FOR UPDATE'), is_ours('SELECT k FROM part WHERE v % 7 = 3 LIMIT 5 FOR KEY SHARE'),
	is_ours('SELECT q.k FROM (SELECT k FROM part WHERE v % 7 = 3 OFFSET 0) q, part p WHERE p.k = q.k FOR UPDATE OF p');
BEGIN;
SELECT k FROM part WHERE k > 100 AND v % 7 = 3 LIMIT 2 FOR UPDATE;
DECLARE locked CURSOR FOR SELECT k FROM part WHERE k > 100 AND v % 7 = 3 FOR UPDATE;
FETCH 2 FROM locked;
UPDATE part SET u = 'x' WHERE CURRENT OF locked;
ROLLBACK;
BEGIN;
DECLARE unlocked CURSOR FOR SELECT k FROM part WHERE k > 100 AND v % 7 = 3;
FETCH 2 FROM unlocked;
UPDATE part SET u = 'x' WHERE CURRENT OF unlocked RETURNING *;
ROLLBACK;

-- Little memory: parts are as large as it allows.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(*), sum(k), count(DISTINCT k) FROM (SELECT k, v FROM part WHERE v % 7 = 3 OFFSET 0) q;
SELECT count(*), sum(k), count(DISTINCT u) FROM (SELECT k, u FROM part WHERE k > 70 AND v % 7 = 3 OFFSET 0) q;
RESET work_mem;
RESET hash_mem_multiplier;

-- Cancelled while it is read, the next query begins with nothing.
SET statement_timeout = '20ms';
SELECT count(pg_sleep(0.001)) FROM (SELECT k FROM part WHERE v % 7 = 3 OFFSET 0) q;
RESET statement_timeout;
SELECT count(*) FROM (SELECT k FROM part WHERE v % 7 = 3 OFFSET 0) q;

-- Serializable: core's scan decides about each row, and no more rows are read than are wanted.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT done_by('SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3 LIMIT 10', 'Engine', 'Matches');
SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3 LIMIT 2;
SELECT cursor_rows('SCROLL', 'SELECT k, v FROM part WHERE k > 1000 AND v % 7 = 3', 'fetch 3', 'back 2', 'move 600', 'fetch 2', 'back 3', 'fetch 1');
COMMIT;

DROP SCHEMA rows_parts CASCADE;
