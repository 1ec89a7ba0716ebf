--
-- Scans: every kind of condition and of scan, each beside a btree index on a
-- copy of the same table.
--
-- batched joins are for join.sql
SET gpubtree.enable_batchjoin = off;
SET client_min_messages = warning;
SET enable_seqscan = off;
SET gpubtree.enable_aggregate = off;

-- The rows of a query, in the order they come, on both tables; $T is the table.
CREATE FUNCTION same(query text, scan text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	stock text[];
	ours text[];
	plan text := '';
	line text;
BEGIN
	PERFORM set_config('enable_indexscan', (scan <> 'bitmap')::text, true);
	PERFORM set_config('enable_indexonlyscan', (scan = 'index only')::text, true);
	PERFORM set_config('enable_bitmapscan', (scan = 'bitmap')::text, true);
	EXECUTE format('SELECT array_agg(q::text) FROM (%s) q',
				   replace(query, '$T', 'stock')) INTO stock;
	EXECUTE format('SELECT array_agg(q::text) FROM (%s) q',
				   replace(query, '$T', 'ours')) INTO ours;
	IF stock IS DISTINCT FROM ours THEN
		RETURN format('DIFFERENT, %s rows and %s', cardinality(stock), cardinality(ours));
	END IF;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(query, '$T', 'ours') LOOP
		plan := plan || line;
	END LOOP;
	RETURN coalesce(substring(plan FROM '(?:Bitmap Index|Index Only|Index) Scan(?: Backward)?'),
					CASE WHEN plan LIKE '%One-Time Filter%' THEN 'no scan' ELSE plan END) ||
		': ' || coalesce(cardinality(ours), 0) || ' rows';
END $$;

-- A pair of tables whose key has NULLs, duplicates and both ends of its type
CREATE FUNCTION pair(type text, key text, ordering text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS stock, ours;
	EXECUTE format('CREATE TABLE stock AS SELECT (%s)::%s AS k, i AS v, nullif(i %% 5, 0)::int2 AS w,
				   i / 4.0::float8 AS f, i AS id FROM generate_series(1, 3000) i', key, type);
	CREATE TABLE ours AS TABLE stock;
	EXECUTE format('CREATE INDEX ON stock USING btree (k %s) INCLUDE (v, w, f)', ordering);
	EXECUTE format('CREATE INDEX ON ours USING gpubtree (k %s) INCLUDE (v, w, f) WITH (fillfactor = 20)', ordering);
END $$;

CREATE TABLE conditions (number int GENERATED ALWAYS AS IDENTITY, integers text, dates text);
INSERT INTO conditions (integers, dates) VALUES
	('true', 'true'),
	('k = 77', 'k = ''2001-03-03'''),
	('k < 20::int2', 'k < ''2000-02-01''::date'),
	('k <= 20::int8', 'k <= ''2000-02-01 00:00''::timestamp'),
	('k > 380::int4', 'k > ''2001-06-06 12:00+00''::timestamptz'),
	('k >= 380', 'k >= ''2001-06-06''::date'),
	('k BETWEEN 100 AND 200::int8', 'k BETWEEN ''2000-03-01''::date AND ''2000-04-01''::timestamptz'),
	('k > 100 AND k > 200::int2 AND k < 300::int8 AND k <= 250', 'k > ''2000-03-01''::timestamp AND k >= ''2000-03-05''::date AND k < ''2000-07-01'''),
	('k > 5 AND k < 3', 'k > ''2001-01-01'' AND k < ''2000-01-01''::date'),
	('k = 5 AND k = ANY (''{6,7}''::int8[])', 'k = ''2000-01-05'' AND k = ''2000-01-06''::date'),
	('k IS NULL', 'k IS NULL'),
	('k IS NOT NULL', 'k IS NOT NULL'),
	('k IS NULL AND k > 5', 'k IS NULL AND k = ''infinity'''),
	('k < NULL::int8', 'k < NULL::timestamp'),
	('k < 9223372036854775807', 'k < ''infinity''::date'),
	('k <= -9223372036854775808', 'k <= ''-infinity''::timestamp'),
	('k = 9223372036854775807', 'k = ''infinity''::timestamptz'),
	('k >= -9223372036854775808', 'k >= ''-infinity''::date'),
	('k < 40000', 'k < ''5874897-12-31''::date'),
	('k = ANY (''{7,5,NULL,300,5,-9,99999}''::int[])', 'k = ANY (''{2000-02-02,infinity,NULL,2000-01-03,-infinity}''::date[])'),
	('k = ANY (''{7,9223372036854775807,-3000000000}''::int8[])', 'k = ANY (''{2000-02-02 06:00,2000-01-03}''::timestamp[])'),
	('k = ANY (ARRAY(SELECT generate_series(0, 400, 3)))', 'k = ANY (ARRAY(SELECT generate_series(timestamptz ''2000-01-01 00:00+00'', ''2001-01-01'', ''18 hours'')))'),
	('k = ANY (''{}''::int[])', 'k = ANY (''{}''::date[])'),
	('k = ANY (NULL::int[])', 'k = ANY (NULL::date[])'),
	('k < ANY (''{7,5,NULL}''::int[])', 'k < ANY (''{2000-02-02,2000-01-03}''::date[])'),
	('k >= ANY (''{390,395}''::int8[])', 'k >= ANY (''{2001-07-01,2001-07-02}''::timestamptz[])'),
	('k = ANY (''{1,2,3,4,5,6}''::int[]) AND k = ANY (''{9,6,4,2}''::int8[]) AND k > 2', 'k = ANY (''{2000-01-02,2000-01-04}''::date[]) AND k > ''2000-01-02''');

SET timezone = 'UTC';

-- Runs all conditions with all scans; shows each plan and count only for the first type.
CREATE FUNCTION run(family text, ordering text, reverse text) RETURNS TABLE (number int, condition text, forward text, backward text, bitmap text, plain text)
LANGUAGE sql AS $$
	SELECT c.number, t.condition,
		same('SELECT k, v, w, f FROM $T WHERE ' || t.condition || ' ORDER BY k ' || ordering, 'index only'),
		same('SELECT k, v, w, f FROM $T WHERE ' || t.condition || ' ORDER BY k ' || reverse, 'index only'),
		CASE WHEN t.condition <> 'true' THEN same('SELECT * FROM $T WHERE ' || t.condition, 'bitmap') END,
		same('SELECT * FROM $T WHERE ' || t.condition || ' ORDER BY k ' || ordering, 'index')
	FROM conditions c, LATERAL (SELECT CASE family WHEN 'integer' THEN integers ELSE dates END AS condition) t
	ORDER BY c.number
$$;
\set ECHO all

SELECT pair('int4', 'CASE WHEN i % 40 = 0 THEN NULL WHEN i = 7 THEN 2147483647 WHEN i = 8 THEN -2147483648 ELSE (i * 7919) % 400 END', '');
VACUUM (ANALYZE) stock, ours;
SELECT * FROM run('integer', '', 'DESC');

-- The other types and orders: only what differs
CREATE FUNCTION differences(family text, ordering text, reverse text) RETURNS TABLE (number int, condition text) LANGUAGE sql AS $$
	SELECT number, condition FROM run(family, ordering, reverse) r
	WHERE r::text LIKE '%DIFFERENT%' OR r::text LIKE '%Seq Scan%'
$$;

SELECT pair('int4', 'CASE WHEN i % 40 = 0 THEN NULL ELSE (i * 7919) % 400 END', 'DESC');
VACUUM (ANALYZE) stock, ours;
SELECT * FROM differences('integer', 'DESC', 'ASC');

SELECT pair('int2', 'CASE WHEN i % 40 = 0 THEN NULL WHEN i = 7 THEN 32767 WHEN i = 8 THEN -32768 ELSE (i * 7919) % 400 END', 'NULLS FIRST');
VACUUM (ANALYZE) stock, ours;
SELECT * FROM differences('integer', 'NULLS FIRST', 'DESC NULLS LAST');

SELECT pair('int8', 'CASE WHEN i % 40 = 0 THEN NULL WHEN i = 7 THEN 9223372036854775807 WHEN i = 8 THEN -9223372036854775808 ELSE (i * 7919) % 400 END', 'DESC NULLS LAST');
VACUUM (ANALYZE) stock, ours;
SELECT * FROM differences('integer', 'DESC NULLS LAST', 'NULLS FIRST');

SELECT pair('date', 'CASE WHEN i % 40 = 0 THEN NULL WHEN i = 7 THEN ''infinity''::date WHEN i = 8 THEN ''-infinity'' ELSE ''2000-01-01''::date + (i * 7919) % 600 END', '');
VACUUM (ANALYZE) stock, ours;
SELECT * FROM differences('date', '', 'DESC');

SELECT pair('timestamp', 'CASE WHEN i % 40 = 0 THEN NULL WHEN i = 7 THEN ''infinity''::timestamp WHEN i = 8 THEN ''-infinity'' ELSE ''2000-01-01''::timestamp + ((i * 7919) % 2400) * interval ''6 hours'' END', 'DESC');
VACUUM (ANALYZE) stock, ours;
SELECT * FROM differences('date', 'DESC', 'ASC');

SET timezone = 'Asia/Kolkata';
SELECT pair('timestamptz', 'CASE WHEN i % 40 = 0 THEN NULL WHEN i = 7 THEN ''infinity''::timestamptz WHEN i = 8 THEN ''-infinity'' ELSE ''2000-01-01''::timestamptz + ((i * 7919) % 2400) * interval ''6 hours'' END', 'NULLS FIRST');
VACUUM (ANALYZE) stock, ours;
SELECT * FROM differences('date', 'NULLS FIRST', 'DESC NULLS LAST');

-- A wrong operator or order must show in the comparison above
SELECT same('SELECT k FROM $T WHERE k > ''2000-01-01'' AND ''$T'' = ''stock''', 'index') LIKE 'DIFFERENT%' AS can_fail;

\set ECHO none
-- Cursors that turn around, within a leaf and across many
CREATE FUNCTION same_cursor(query text, moves int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a refcursor;
	b refcursor;
	stock record;
	ours record;
	rows int := 0;
BEGIN
	OPEN a SCROLL FOR EXECUTE replace(query, '$T', 'stock');
	OPEN b SCROLL FOR EXECUTE replace(query, '$T', 'ours');
	FOR m IN 1 .. cardinality(moves) LOOP
		FOR i IN 1 .. abs(moves[m]) LOOP
			IF moves[m] > 0 THEN
				FETCH NEXT FROM a INTO stock;
				FETCH NEXT FROM b INTO ours;
			ELSE
				FETCH PRIOR FROM a INTO stock;
				FETCH PRIOR FROM b INTO ours;
			END IF;
			IF stock IS DISTINCT FROM ours THEN
				RETURN format('DIFFERENT at move %s, step %s: %s and %s', m, i, stock, ours);
			END IF;
			rows := rows + (ours.id IS NOT NULL)::int;
		END LOOP;
	END LOOP;
	RETURN rows || ' rows';
END $$;

SET timezone = 'UTC';
SET enable_bitmapscan = off;
SET enable_sort = off;
\set ECHO all
SELECT pair('int8', 'CASE WHEN i % 40 = 0 THEN NULL ELSE (i * 7919) % 400 END', '');
VACUUM (ANALYZE) stock, ours;
SELECT same_cursor('SELECT k, v AS id FROM $T ORDER BY k',
				   '{5,-3,700,-650,100,-2000,10,4000,-100,50}');
SELECT same_cursor('SELECT k, id FROM $T WHERE k > 150 AND k < 350 ORDER BY k DESC',
				   '{5,-3,700,-650,100,-2000,10,4000,-100,50}');
SELECT same_cursor('SELECT k, id FROM $T WHERE k = ANY (ARRAY(SELECT generate_series(0, 400, 7))) ORDER BY k',
				   '{5,-3,200,-150,100,-300,10,700,-100,50}');

-- Mark and restore: many equal keys on both sides of a merge join, across leaves
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
CREATE TABLE marked AS SELECT i % 5 AS k, i AS v FROM generate_series(1, 2000) i;
CREATE INDEX ON marked USING gpubtree (k) INCLUDE (v) WITH (fillfactor = 10);
VACUUM (ANALYZE) marked;
EXPLAIN (COSTS OFF) SELECT count(*), sum(a.v::bigint * b.v) FROM marked a JOIN marked b USING (k);
SELECT count(*), sum(a.v::bigint * b.v) FROM marked a JOIN marked b USING (k);
SET enable_indexonlyscan = off;
SELECT count(*), sum(a.v::bigint * b.v) FROM marked a JOIN marked b USING (k);
RESET enable_indexonlyscan;
SELECT count(*), sum(a.v::bigint * b.v)
	FROM (SELECT i % 5 AS k, i AS v FROM generate_series(1, 2000) i) a
	JOIN (SELECT i % 5 AS k, i AS v FROM generate_series(1, 2000) i) b USING (k);
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_material;

-- Rescans with run-time keys
SET enable_mergejoin = off;
SET enable_hashjoin = off;
SET enable_memoize = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(o.v) FROM generate_series(-5, 405, 2) g JOIN ours o ON o.k = g;
SELECT count(*), sum(o.v) FROM generate_series(-5, 405, 2) g JOIN ours o ON o.k = g;
SELECT count(*), sum(s.v) FROM generate_series(-5, 405, 2) g JOIN stock s ON s.k = g;
SELECT count(*), sum(o.v) FROM generate_series(-5, 405, 50) g JOIN LATERAL (SELECT * FROM ours WHERE k = ANY (ARRAY[g, g + 1, g - 7])) o ON true;
SELECT count(*), sum(o.v) FROM generate_series(-5, 405, 50) g JOIN LATERAL (SELECT * FROM stock WHERE k = ANY (ARRAY[g, g + 1, g - 7])) o ON true;
RESET enable_mergejoin;
RESET enable_hashjoin;

-- min, max, LIMIT
EXPLAIN (COSTS OFF) SELECT min(k), max(k) FROM ours;
SELECT min(k), max(k) FROM ours;
SELECT k FROM ours ORDER BY k DESC NULLS FIRST LIMIT 3;
SELECT k FROM ours WHERE k IS NOT NULL ORDER BY k DESC NULLS FIRST LIMIT 3;

\set ECHO none
-- Entries found dead are marked: a second scan no longer visits the heap for them
CREATE FUNCTION buffers(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
	RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::int + (plan #>> '{0,Plan,Shared Read Blocks}')::int;
END $$;
CREATE TABLE killed WITH (autovacuum_enabled = off) AS SELECT i AS k, repeat('x', 500) AS filler FROM generate_series(1, 2000) i;
CREATE INDEX ON killed USING gpubtree (k);
DELETE FROM killed WHERE k > 100;
\set ECHO all
SELECT buffers('SELECT * FROM killed WHERE k > 0') > 100 AS many;
SELECT buffers('SELECT * FROM killed WHERE k > 0') < 30 AS few;
SELECT count(*), sum(k) FROM killed WHERE k > 0;

\set ECHO none
-- A session that looks up key after key has a copy of the root, and reads the leaf and the row alone.
-- Where the copy is found to be old, the root is read again, and copied after some more look-ups.
CREATE TABLE rooted WITH (autovacuum_enabled = off) AS SELECT i AS k, i AS v FROM generate_series(1, 5000) i;
CREATE INDEX ON rooted USING gpubtree (k);
CREATE FUNCTION look_up(n int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	total bigint := 0;
BEGIN
	FOR i IN 1 .. n LOOP
		total := total + (SELECT sum(v) FROM rooted WHERE k = i * 16);
	END LOOP;
	RETURN total;
END $$;
\set ECHO all
SELECT buffers('SELECT v FROM rooted WHERE k = 4000') AS root_leaf_row;
SELECT look_up(20);
SELECT buffers('SELECT v FROM rooted WHERE k = 4000') AS leaf_row;
INSERT INTO rooted SELECT 4001, 0 FROM generate_series(1, 1000);
SELECT buffers('SELECT v FROM rooted WHERE k = 4100') AS old_root_leaf_row;
SELECT buffers('SELECT v FROM rooted WHERE k = 4100') AS root_leaf_row;
SELECT look_up(300);
SELECT buffers('SELECT v FROM rooted WHERE k = 4100') AS leaf_row;

\set ECHO none
-- Runs of dead entries, from one to a whole leaf and more, between runs of live ones: whatever a scan
-- leaves out of what it reads from a leaf, the rows are those of a sequential scan.
CREATE TABLE runs WITH (autovacuum_enabled = off) AS
	SELECT row_number() OVER () AS k, live FROM
		(SELECT n % 2 = 0 AS live, generate_series(1, abs(hashint4(n)) % CASE n % 2 WHEN 0 THEN 4 ELSE 34 END + 1)
		 FROM generate_series(1, 200) n
		 UNION ALL SELECT false, generate_series(1, 2000)
		 UNION ALL SELECT true, generate_series(1, 3)) r;
CREATE INDEX runs_k ON runs USING gpubtree (k);
DELETE FROM runs WHERE NOT live;
CREATE FUNCTION runs_seen(forward boolean, from_k bigint, to_k bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
	seen bigint[];
BEGIN
	EXECUTE format('SELECT array_agg(k) FROM (SELECT k FROM runs WHERE k BETWEEN %s AND %s ORDER BY k %s) r',
				   from_k, to_k, CASE WHEN forward THEN 'ASC' ELSE 'DESC' END) INTO seen;
	RETURN seen;
END $$;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE TABLE runs_wanted AS SELECT forward, a, b, runs_seen(forward, a, b) AS seen
	FROM (VALUES (true), (false)) f (forward),
		(SELECT i * 211 AS a, i * 211 + w AS b FROM generate_series(0, 18) i, (VALUES (1), (40), (700), (9000)) w (w)) r;
SET enable_seqscan = off;
SET enable_indexscan = on;
\set ECHO all
-- the first pass hints the entries, the others heed it
SELECT count(*), bool_and(seen IS NOT DISTINCT FROM runs_seen(forward, a, b)) AS same FROM runs_wanted;
SELECT sum(dead) > 2500 AS hinted FROM gpubtree_tree('runs_k');
SELECT bool_and(seen IS NOT DISTINCT FROM runs_seen(forward, a, b)) AS same FROM runs_wanted;
SET enable_indexscan = off;
SET enable_bitmapscan = on;
SELECT bool_and(seen IS NOT DISTINCT FROM runs_seen(forward, a, b)) AS same FROM runs_wanted;
SET enable_indexscan = on;
SET enable_bitmapscan = off;
-- many keys at once, and a cursor that turns around between runs
SELECT count(*) = (SELECT count(*) FROM runs WHERE k > 0) AS same
	FROM runs WHERE k = ANY (ARRAY(SELECT generate_series(1, 6000)));
BEGIN;
DECLARE turning SCROLL CURSOR FOR SELECT k FROM runs WHERE k > 0 ORDER BY k;
MOVE 400 IN turning;
MOVE BACKWARD 150 IN turning;
FETCH 2 FROM turning;
FETCH BACKWARD 3 FROM turning;
MOVE LAST IN turning;
FETCH BACKWARD 4 FROM turning;
COMMIT;

-- Own changes, seen and undone by subtransaction
BEGIN;
INSERT INTO killed SELECT i, 'new' FROM generate_series(500, 600) i;
SAVEPOINT s;
DELETE FROM killed WHERE k BETWEEN 550 AND 559;
SELECT count(*) FROM killed WHERE k > 100;
ROLLBACK TO s;
SELECT count(*) FROM killed WHERE k > 100;
COMMIT;
SELECT count(*) FROM killed WHERE k > 100;

-- A large array is neither slow nor out of order
SET statement_timeout = '20s';
SELECT count(*), bool_and(ordered) FROM
	(SELECT k >= lag(k) OVER () IS NOT FALSE AS ordered FROM ours
	 WHERE k = ANY (ARRAY(SELECT (i * 7919) % 100000 FROM generate_series(1, 100000) i))) o;
RESET statement_timeout;

DROP TABLE stock, ours, conditions, marked, killed, runs, runs_wanted;
DROP FUNCTION same, pair, run, differences, same_cursor, buffers, runs_seen;
