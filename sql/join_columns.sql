-- Batched joins over indexes with several key columns
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET timezone = 'UTC';

CREATE TABLE jc (tenant int4, ts timestamptz, kind int2 NOT NULL, v int4, note text);
INSERT INTO jc SELECT nullif(i % 50, 0), timestamptz '2026-01-01' + i / 50 * interval '1 hour', i % 7, i, 'note ' || i
FROM generate_series(1, 20000) i;
INSERT INTO jc SELECT t, d, 1, -1, 'end' FROM unnest('{5,NULL}'::int4[]) t, unnest('{infinity,-infinity,NULL}'::timestamptz[]) d;
CREATE INDEX jc_tt ON jc USING gpubtree (tenant, ts) INCLUDE (v);
CREATE INDEX jc_kv ON jc USING gpubtree (kind, v DESC);
CREATE TABLE jo (id int4 PRIMARY KEY, tenant int8, day date, kind int4, v int8);
INSERT INTO jo SELECT i, nullif(i % 60, 7), date '2026-01-01' + i % 20, i % 9, i * 31 FROM generate_series(1, 500) i;
INSERT INTO jo VALUES (901, 5, 'infinity', 1, -1), (902, 5000000000, '2026-01-02', 100000, 5000000000), (903, NULL, NULL, NULL, NULL);
VACUUM ANALYZE jc;
ANALYZE jo;

-- Each query's rows, by our plan and by core's
CREATE FUNCTION jc_same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE ours text; theirs text; plan text := ''; line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || coalesce(substring(line FROM 'Gpubtree\w+'), '');
	END LOOP;
	EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(x::text, '','' ORDER BY x::text)) FROM (%s) x', query) INTO ours;
	PERFORM set_config('gpubtree.enabled', 'off', true), set_config('enable_hashjoin', 'on', true),
		set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true),
		set_config('enable_bitmapscan', 'off', true);
	EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(x::text, '','' ORDER BY x::text)) FROM (%s) x', query) INTO theirs;
	PERFORM set_config('gpubtree.enabled', 'on', true), set_config('enable_hashjoin', 'off', true),
		set_config('enable_indexscan', 'on', true), set_config('enable_indexonlyscan', 'on', true),
		set_config('enable_bitmapscan', 'on', true);
	RETURN format('%s, %s rows, %s', plan, split_part(ours, ' ', 1), CASE WHEN ours IS NOT DISTINCT FROM theirs THEN 'same' ELSE 'DIFFERENT' END);
END $$;
\set ECHO all

-- all columns equal the outer row's, of other types
EXPLAIN (COSTS OFF) SELECT jo.id, jc.v FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day;
SELECT jc_same('SELECT jo.id, jc.v FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day');
-- a prefix, with constants and with outer values for the next column
EXPLAIN (COSTS OFF) SELECT jo.id, jc.note FROM jo JOIN jc ON jc.tenant = jo.tenant WHERE jc.ts >= '2026-01-03' AND jc.ts < '2026-01-05' AND jo.id < 90;
SELECT jc_same('SELECT jo.id, jc.note FROM jo JOIN jc ON jc.tenant = jo.tenant WHERE jc.ts >= ''2026-01-03'' AND jc.ts < ''2026-01-05'' AND jo.id < 90');
EXPLAIN (COSTS OFF) SELECT jo.id, jc.ts FROM jo JOIN jc ON jo.tenant = jc.tenant AND jo.day <= jc.ts AND jc.ts < jo.day + interval '5 hours';
SELECT jc_same('SELECT jo.id, jc.ts FROM jo JOIN jc ON jo.tenant = jc.tenant AND jo.day <= jc.ts AND jc.ts < jo.day + interval ''5 hours''');
SELECT jc_same('SELECT jo.id, jc.v FROM jo JOIN jc ON jc.tenant = jo.tenant WHERE jo.id % 11 = 0');
-- a constant ahead of the outer value
EXPLAIN (COSTS OFF) SELECT jo.id, jc.v FROM jo JOIN jc ON jc.ts = jo.day WHERE jc.tenant = 5;
SELECT jc_same('SELECT jo.id, jc.v FROM jo JOIN jc ON jc.ts = jo.day WHERE jc.tenant = 5');
-- conditions that are no range: filters of the entries, of the rows, and of matches
EXPLAIN (COSTS OFF) SELECT jo.id, jc.v FROM jo JOIN jc ON jc.kind = jo.kind AND jc.v = jo.v AND jc.v % 3 = 0 AND jc.note <> 'end' AND jc.tenant > jo.id;
SELECT jc_same('SELECT jo.id, jc.v FROM jo JOIN jc ON jc.kind = jo.kind AND jc.v = jo.v AND jc.v % 3 = 0 AND jc.note <> ''end'' AND jc.tenant < jo.id');
SELECT jc_same('SELECT jo.id, jc.v FROM jo JOIN jc ON jc.kind = jo.kind AND jc.v = jo.v AND jc.tenant IS NOT NULL');
-- one column twice
SELECT jc_same('SELECT jo.id, jc.v FROM jo JOIN jc ON jc.kind = jo.kind AND jc.kind = jo.id % 7 AND jc.v >= jo.v AND jc.v > 100 AND jc.v <= 900');
-- other kinds of joins
EXPLAIN (COSTS OFF) SELECT jo.id, jc.v FROM jo LEFT JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day AND jc.v > 3000;
SELECT jc_same('SELECT jo.id, jc.v FROM jo LEFT JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day AND jc.v > 3000');
SELECT jc_same('SELECT jo.id, jc.v FROM jo LEFT JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day WHERE jc.v IS NULL OR jc.v > 3000');
EXPLAIN (COSTS OFF) SELECT jo.id FROM jo WHERE NOT EXISTS (SELECT FROM jc WHERE jc.tenant = jo.tenant AND jc.ts = jo.day);
SELECT jc_same('SELECT jo.id FROM jo WHERE NOT EXISTS (SELECT FROM jc WHERE jc.tenant = jo.tenant AND jc.ts = jo.day)');
SELECT jc_same('SELECT jo.id FROM jo WHERE EXISTS (SELECT FROM jc WHERE jc.tenant = jo.tenant AND jc.ts >= jo.day AND jc.v % 5 = 1)');
-- rows of values
EXPLAIN (COSTS OFF) SELECT v FROM jc WHERE (kind, v) IN (VALUES (1, 1), (3, 10), (3, 11), (NULL, 5));
SELECT v FROM jc WHERE (kind, v) IN (VALUES (1, 1), (3, 10), (3, 11), (NULL, 5)) ORDER BY v;
SELECT jc_same('SELECT note FROM jc WHERE (tenant, ts) IN (SELECT tenant, day FROM jo)');
-- the outer order
EXPLAIN (COSTS OFF) SELECT jo.id, jc.v FROM jo LEFT JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day ORDER BY jo.id LIMIT 3;
SELECT jo.id, jc.v FROM jo LEFT JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day ORDER BY jo.id LIMIT 3;
-- what is counted; keys of 16 bytes are the CPU's
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT jo.id, jc.v FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day WHERE jo.id > 400;

-- aggregates: one row, and groups of a dimension
EXPLAIN (COSTS OFF) SELECT count(*), sum(jc.v) FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day WHERE jo.id < 400;
SELECT count(*), sum(jc.v) FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day WHERE jo.id < 400;
SELECT count(*), sum(jc.v) FROM jo JOIN jc ON jc.tenant + 0 = jo.tenant AND jc.ts + interval '0' = jo.day WHERE jo.id < 400;
SET gpubtree.enable_rangeaggregate = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(jc.v) FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts >= '2026-01-04' WHERE jo.id < 400;
SELECT jc_same('SELECT count(*), sum(jc.v) FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts >= ''2026-01-04'' WHERE jo.id < 400');
RESET gpubtree.enable_rangeaggregate;
SET gpubtree.enable_batchjoin = off;
EXPLAIN (COSTS OFF) SELECT jo.kind, count(*), sum(jc.v) FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts >= '2026-01-04' GROUP BY jo.kind;
SELECT jc_same('SELECT jo.kind, count(*), sum(jc.v) FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts >= ''2026-01-04'' GROUP BY jo.kind');
RESET gpubtree.enable_batchjoin;

-- parameters, plans that are kept, and cursors
PREPARE jc_p(int) AS SELECT count(*), sum(jc.v) FROM jo JOIN jc ON jc.kind = jo.kind AND jc.v = jo.v WHERE jo.id > $1 AND jc.v < 10000 * $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE jc_p(3);
EXECUTE jc_p(1);
EXECUTE jc_p(NULL);
DEALLOCATE jc_p;
RESET plan_cache_mode;
BEGIN;
DECLARE c CURSOR FOR SELECT jo.id, jc.v FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day ORDER BY jo.id;
FETCH 2 FROM c;
UPDATE jc SET v = v + 100000 WHERE tenant < 20;
FETCH 2 FROM c;
ROLLBACK;

-- a policy's condition runs ahead of what might tell of the row
CREATE FUNCTION jc_tells(int4, int8) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN
	IF $1 % 100 <> 77 THEN RAISE 'seen: %', $1; END IF;
	RETURN true;
END $$;
CREATE VIEW jc_mine WITH (security_barrier) AS SELECT * FROM jc WHERE note LIKE '%77';
SELECT count(*) FROM jo JOIN jc_mine m ON m.kind = jo.kind AND m.v = jo.v AND jc_tells(m.v, jo.v) WHERE jo.id < 60;

-- prices: few outer rows are a nested loop's, many ours
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;
EXPLAIN (COSTS OFF) SELECT jo.id, jc.note FROM jo JOIN jc ON jc.tenant = jo.tenant AND jc.ts = jo.day WHERE jo.id = 3;
EXPLAIN (COSTS OFF) SELECT jo.id, jc.note FROM jo JOIN jc ON jc.kind = jo.kind AND jc.v = jo.v;

DROP VIEW jc_mine;
DROP TABLE jc, jo;
DROP FUNCTION jc_same, jc_tells;
