--
-- Leaves without a usable index below GpubtreeAggregate: the program of another leaf's index, over rows.  The same rows in
-- one table with such an index give the same answers, bit by bit; what no index could hold is left to the ordinary plan.
--
SET client_min_messages = warning;
SET gpubtree.enable_device = off;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET max_parallel_workers_per_gather = 0;
-- rows are few
SET seq_page_cost = 0;
SET random_page_cost = 0;
SET cpu_tuple_cost = 1;
SET TimeZone = 'Europe/Berlin';

CREATE FUNCTION rows_of(query text, source text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	EXECUTE 'SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (' || format(query, source) || ') q' INTO found;
	RETURN found;
END $$;

-- how a query over table "parts_TYPE" was answered, and whether rightly: "rows" by rows of its leaf that has no index
CREATE FUNCTION asked(type text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	how text := 'no node';
	gave_up text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || format(query, 'parts_' || type) LOOP
		IF line ~ 'GpubtreeAggregate\) on parts_\w+_2' THEN how := 'rows'; END IF;
		gave_up := coalesce(gave_up, substring(line FROM 'Gave Up: (.*)'));
	END LOOP;
	RETURN coalesce('gave up: ' || gave_up, how) ||
		CASE WHEN rows_of(query, 'parts_' || type) IS DISTINCT FROM rows_of(query, 'whole_' || type) THEN ', DIFFERENT' ELSE '' END;
END $$;
CREATE FUNCTION count_asked(type text, VARIADIC queries text[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(n || ' ' || how, '; ' ORDER BY how)
	FROM (SELECT asked(type, query) AS how, count(*) AS n FROM unnest(queries) query GROUP BY 1) s
$$;

-- Make the tables of a type: column c of the index's key, and d among its INCLUDE columns, with the same values, an expression
-- of i.
CREATE FUNCTION make_tables(name text, type text, value text, columns text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE whole_%1$s (p int NOT NULL, v int, c %2$s, d %2$s)', name, type);
	EXECUTE format('INSERT INTO whole_%1$s SELECT i %% 1000, nullif(i %% 41, 7), %2$s, %2$s FROM generate_series(1, 1500) i', name, value);
	EXECUTE format('CREATE TABLE parts_%1$s (LIKE whole_%1$s) PARTITION BY RANGE (p)', name);
	EXECUTE format('CREATE TABLE parts_%1$s_1 PARTITION OF parts_%1$s FOR VALUES FROM (0) TO (600)', name);
	-- other columns, and one that is gone
	EXECUTE format('CREATE TABLE parts_%1$s_2 (d %2$s, gone int, c %2$s, p int NOT NULL, v int)', name, type);
	EXECUTE format('ALTER TABLE parts_%1$s_2 DROP COLUMN gone', name);
	EXECUTE format('ALTER TABLE parts_%1$s ATTACH PARTITION parts_%1$s_2 FOR VALUES FROM (600) TO (1000)', name);
	EXECUTE format('INSERT INTO parts_%1$s SELECT * FROM whole_%1$s', name);
	EXECUTE format('CREATE INDEX ON parts_%1$s_1 USING gpubtree %2$s', name, columns);
	EXECUTE format('CREATE INDEX ON whole_%1$s USING gpubtree %2$s', name, columns);
END $$;
\set ECHO all

CREATE TABLE types (name text, type text, value text, columns text DEFAULT '(c) INCLUDE (v, d)');
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
INSERT INTO types (name, type, value) VALUES
	('smallint', 'smallint', 'nullif(i % 7 * 9000 - 30000, -12000)::smallint'), ('int', 'int', 'nullif(i % 10 * 200000000 - 1000000000, 0)'),
	('bigint', 'bigint', 'nullif((i % 10 - 5) * 1800000000000000000, 0)'),
	('date', 'date', $$CASE i % 9 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' WHEN 2 THEN NULL ELSE DATE '2000-01-01' + i % 9 * 1000 END::date$$),
	('timestamptz', 'timestamptz', $$CASE i % 9 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' WHEN 2 THEN NULL ELSE timestamptz '2000-03-01 12:00' + i % 9 * interval '100 days' END::timestamptz$$),
	('boolean', 'boolean', 'CASE i % 3 WHEN 0 THEN true WHEN 1 THEN false END'), ('char', '"char"', $$nullif(chr(i % 120 + 1), 'x')::"char"$$),
	('macaddr', 'macaddr', $$('f8:00:2b:01:02:0' || nullif(i % 10, 3))::macaddr$$), ('macaddr8', 'macaddr8', $$('f8:00:2b:01:02:03:04:0' || nullif(i % 10, 3))::macaddr8$$),
	('xid8', 'xid8', $$nullif(i % 17, 3)::text::xid8$$), ('uuid', 'uuid', $$md5(nullif(i % 11, 4)::text)::uuid$$),
	('numeric', 'numeric(10,2)', $$CASE i % 21 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL WHEN 2 THEN -99999999.99 ELSE i % 21 / 4.0 END::numeric(10,2)$$),
	('wide', 'numeric(30,5)', $$CASE i % 21 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL WHEN 2 THEN -9999999999999999999999999.99999 ELSE (i % 21 - 10) * 1234567890123456789.01234 END::numeric(30,5)$$);
INSERT INTO types SELECT name || '2', type, value, '(p, c) INCLUDE (v, d)' FROM types WHERE name IN ('int', 'bigint', 'date', 'timestamptz', 'boolean', 'numeric');
-- a float and an oid are not read of a key, and all others have none
INSERT INTO types VALUES
	('oid', 'oid', 'nullif(i % 5 * 1000000000::bigint, 0)::oid', '(p) INCLUDE (v, c, d)'), ('enum', 'colour', $$(ARRAY['red', 'green', NULL, 'blue'])[i % 4 + 1]::colour$$, '(p) INCLUDE (v, c, d)'),
	('float8', 'float8', $$CASE i % 17 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL WHEN 2 THEN '-0' WHEN 3 THEN '0' WHEN 4 THEN '-infinity' WHEN 5 THEN 1e100 ELSE i % 17 / 7.0 END::float8$$, '(p) INCLUDE (v, c, d)'),
	('float8f', 'float8', $$CASE i % 17 WHEN 1 THEN NULL WHEN 2 THEN 1e-20 WHEN 3 THEN -1e15 ELSE i % 97 / 7.0 - 5 END::float8$$, '(p) INCLUDE (v, c, d)'),
	('float4', 'float4', $$CASE i % 17 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL WHEN 2 THEN '-0' WHEN 3 THEN '0' WHEN 4 THEN 'infinity' WHEN 5 THEN 1e30 ELSE i % 17 / 7.0 END::float4$$, '(p) INCLUDE (v, c, d)'),
	('text', 'text', $$CASE i % 12 WHEN 0 THEN '' WHEN 1 THEN NULL WHEN 2 THEN repeat('ab', 9) ELSE 'x' || i % 12 END$$, '(p) INCLUDE (v, c, d)'),
	('bpchar', 'char(5)', $$nullif('x' || i % 12, 'x4')$$, '(p) INCLUDE (v, c, d)'), ('bytea', 'bytea', $$nullif('x' || i % 12, 'x4')::bytea$$, '(p) INCLUDE (v, c, d)'),
	('interval', 'interval', $$nullif(i % 12, 4) * interval '1 day'$$, '(p) INCLUDE (v, c, d)');
SELECT count(make_tables(name, type, value, columns)) FROM types;
\set ECHO none
SELECT format('VACUUM ANALYZE parts_%1$s, whole_%1$s', name) FROM types \gexec
\set ECHO all

-- values alone
SELECT name, count_asked(name, 'SELECT count(c), count(d), count(*), sum(v) FROM %s', 'SELECT c, count(*), sum(v) FROM %s GROUP BY c',
	'SELECT d, count(*), sum(v) FROM %s GROUP BY d', 'SELECT count(DISTINCT c), count(DISTINCT d), sum(v) FILTER (WHERE d IS NULL) FROM %s',
	'SELECT v, count(c), count(d) FROM %s GROUP BY v', 'SELECT count(*) FROM %s WHERE v > 5') FROM types ORDER BY name;
-- their order
SELECT name, count_asked(name, 'SELECT min(c), max(c), min(d), max(d) FROM %s', 'SELECT v, min(c), max(c), min(d), max(d) FROM %s GROUP BY v')
FROM types WHERE type IN ('int', 'bigint', 'date', 'timestamptz', 'numeric(10,2)', 'numeric(30,5)', 'float8', 'float4', 'text', 'char(5)') ORDER BY name;
-- numbers
SELECT name, count_asked(name, 'SELECT sum(c), sum(d), avg(c), avg(d) FROM %s', 'SELECT v, sum(c), sum(d), avg(c), avg(d) FROM %s GROUP BY v',
	'SELECT v, stddev(c), variance(d) FROM %s GROUP BY v', 'SELECT sum(DISTINCT c), sum(DISTINCT d), percentile_disc(0.3) WITHIN GROUP (ORDER BY d) FROM %s',
	'SELECT mode() WITHIN GROUP (ORDER BY d) FROM %s', 'SELECT count(*) FILTER (WHERE d > c - 1), count(*) FILTER (WHERE c < 2) FROM %s',
	'SELECT CASE WHEN d > 0 THEN v ELSE p END, count(*), sum(c) FROM %s GROUP BY 1', 'SELECT p %% 2, v, sum(d), grouping(v) FROM %s GROUP BY CUBE (p %% 2, v)')
FROM types WHERE type ~ '^(smallint|int$|bigint|numeric|float)' ORDER BY name;
-- texts, whose codes are no index's
SELECT name, count_asked(name,
	'SELECT sum(v) FILTER (WHERE d LIKE ''x%%''), count(*) FILTER (WHERE d = ''x5''), count(*) FILTER (WHERE c > ''x3''), count(*) FILTER (WHERE c IN (''x3'', ''x5'')) FROM %s',
	'SELECT c, d, count(*) FILTER (WHERE d LIKE ''%%ab'') FROM %s GROUP BY c, d', 'SELECT CASE WHEN d LIKE ''x1%%'' THEN c END, count(*) FROM %s GROUP BY 1',
	'SELECT v, count(DISTINCT d), min(c) FROM %s GROUP BY v', 'SELECT p %% 2, count(DISTINCT d), percentile_disc(0.4) WITHIN GROUP (ORDER BY v) FILTER (WHERE c LIKE ''x1%%'' AND p > 600) FROM %s GROUP BY 1', 'SELECT sum(v) FROM %s WHERE d LIKE ''x%%'' AND v > 5',
	'SELECT c, count(*) FROM %s WHERE d LIKE ''x%%'' OR v > 5 GROUP BY c', 'SELECT c = NULL, count(*) FILTER (WHERE d = NULL) FROM %s GROUP BY 1',
	'SELECT d, c, p %% 2, count(*) FROM %s GROUP BY GROUPING SETS ((d, p %% 2), (c), ())') FROM types WHERE name IN ('text', 'bpchar') ORDER BY name;

-- ---- what a program does not say of the leaf's rows, though it does of the index's: all is left to the ordinary plan ----
CREATE TABLE whole_odd (p int NOT NULL, v int, g bigint NOT NULL, k bigint, m int NOT NULL, n numeric(5,2), x text, w numeric(18,0), y text);
INSERT INTO whole_odd SELECT i % 1000, i % 41, i, i % 7, i, i % 100, 'x' || i % 5, i, 'y' || i % 3 FROM generate_series(1, 1500) i;
CREATE TABLE parts_odd (LIKE whole_odd) PARTITION BY RANGE (p);
CREATE TABLE parts_odd_1 PARTITION OF parts_odd FOR VALUES FROM (0) TO (600);
CREATE TABLE parts_odd_2 PARTITION OF parts_odd FOR VALUES FROM (600) TO (1000) WITH (autovacuum_enabled = off);
-- no bit is left for NULL, or for more digits
ALTER TABLE parts_odd_1 ALTER k SET NOT NULL;
INSERT INTO parts_odd SELECT * FROM whole_odd;
CREATE INDEX ON parts_odd_1 USING gpubtree (g, k) INCLUDE (p, v, x, w, y);
CREATE INDEX ON parts_odd_1 USING gpubtree (g, m, n) INCLUDE (p, v);
VACUUM ANALYZE parts_odd, whole_odd;
SELECT count_asked('odd', 'SELECT sum(v), count(*) FROM %s', 'SELECT k, sum(v) FROM %s GROUP BY k', 'SELECT sum(n) FROM %s', 'SELECT x, sum(w * w) FROM %s GROUP BY x',
	'SELECT sum(CASE WHEN v > 3 THEN (x LIKE ''zz\'')::int END) FROM %s',
	'SELECT count(*) FILTER (WHERE substring(x FROM ''x(.)'') = ''3''), count(*) FILTER (WHERE substring(y FROM ''y(.)'') = ''2'') FROM %s');
ALTER TABLE whole_odd ALTER n TYPE numeric(16,2), ALTER w TYPE numeric(25);
ALTER TABLE parts_odd ALTER n TYPE numeric(16,2), ALTER w TYPE numeric(25);
INSERT INTO whole_odd VALUES (700, 1, 1, NULL, 1, 12345678901234.5, 'x1', 1e22, 'y1');
INSERT INTO parts_odd TABLE whole_odd OFFSET 1500;
SELECT asked('odd', query) FROM unnest(ARRAY['SELECT sum(v), count(*) FROM %s', 'SELECT sum(n) FROM %s', 'SELECT sum(w) FROM %s', 'SELECT k, count(*) FROM %s GROUP BY k',
	'SELECT count(k), count(*) FROM %s WHERE v > 3', 'SELECT count(k), count(*) FROM %s WHERE v < 3', 'SELECT sum(v) FROM %s WHERE n < 100']) query;
DROP INDEX whole_wide_c_v_d_idx;
ALTER TABLE whole_wide ALTER d TYPE numeric(50,5);
ALTER TABLE parts_wide ALTER d TYPE numeric(50,5);
INSERT INTO whole_wide VALUES (700, 1, 1, 1e40);
INSERT INTO parts_wide VALUES (700, 1, 1, 1e40);
SELECT asked('wide', query) FROM unnest(ARRAY['SELECT sum(d) FROM %s', 'SELECT sum(c) FROM %s']) query;
-- a step that faults, an error that core does not come to, and a condition that is NULL for one text
INSERT INTO whole_odd VALUES (700, 1, 1, 1, 1, 1, 'zza', 99999999999, 'y1');
INSERT INTO parts_odd TABLE whole_odd OFFSET 1501;
DELETE FROM parts_odd WHERE w = 1e22;
DELETE FROM whole_odd WHERE w = 1e22;
SELECT asked('odd', query) FROM unnest(ARRAY['SELECT x, sum(w * w) FROM %s GROUP BY x', 'SELECT sum(CASE WHEN v > 3 THEN (x LIKE ''zz\'')::int END) FROM %s',
	'SELECT count(*) FILTER (WHERE substring(x FROM ''x(.)'') = ''3'') FROM %s', 'SELECT x, count(*) FROM %s GROUP BY x']) query;
-- more texts than memory holds
INSERT INTO parts_odd SELECT 700, 1, i, 1, 1, 1, repeat('long', 50) || i, 1, 'y1' FROM generate_series(1, 600) i;
INSERT INTO whole_odd SELECT 700, 1, i, 1, 1, 1, repeat('long', 50) || i, 1, 'y1' FROM generate_series(1, 600) i;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT asked('odd', 'SELECT count(*) FILTER (WHERE x LIKE ''%%longlong1%%'') FROM %s');
RESET work_mem;
RESET hash_mem_multiplier;

-- ---- again and again: parameters of the leaf, of its program and of neither; a leaf that is pruned ----
SET plan_cache_mode = force_generic_plan;
PREPARE again(int, text) AS SELECT o, (SELECT count(*) FILTER (WHERE d LIKE $2) || ' ' || count(*) FILTER (WHERE (d LIKE $2) IS NULL) || ' ' || coalesce(sum(v), 0) FROM parts_text WHERE p < o AND v < $1) AS both,
	(SELECT string_agg(c || n, ' ' ORDER BY c) FROM (SELECT c, count(*) AS n FROM parts_text WHERE v = $1 GROUP BY c) q) FROM (VALUES (600), (800), (NULL), (1000), (0)) o (o);
EXECUTE again(5, 'x1%');
EXECUTE again(30, NULL);
EXECUTE again(30, '%3');
SET gpubtree.enabled = off;
EXECUTE again(5, 'x1%');
EXECUTE again(30, NULL);
EXECUTE again(30, '%3');
SET gpubtree.enabled = on;
DEALLOCATE again;
RESET plan_cache_mode;
\set ECHO none
SELECT format('DROP TABLE parts_%1$s, whole_%1$s', name) FROM types \gexec
\set ECHO all
DROP TABLE types, whole_odd, parts_odd;
DROP TYPE colour;
DROP FUNCTION rows_of, asked, count_asked, make_tables;
