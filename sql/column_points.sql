-- What makes a key column have a single value beside "=": a boolean column by itself, and an array of one element
CREATE TABLE cp (flag bool, tenant int4 NOT NULL, k int4 NOT NULL, ts timestamptz NOT NULL, v int4);
INSERT INTO cp SELECT CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN false ELSE true END, i % 3, i * 7 % 50000,
	timestamptz '2024-01-01 00:00+00' + i * interval '1 minute', i % 100
FROM generate_series(1, 50000) i;
CREATE INDEX cp_fk ON cp USING gpubtree (flag, k) INCLUDE (v);
CREATE INDEX cp_tts ON cp USING gpubtree (tenant, ts) INCLUDE (v);
VACUUM ANALYZE cp;
SET gpubtree.enable_device = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_indexscan = on;
SET enable_indexonlyscan = off;

-- The nodes, indexes and conditions of a plan, and whether the answer is that of a sequential scan
CREATE FUNCTION cp_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text; ours text; stock text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Gpubtree|Cond|Filter|Scan' THEN
			RETURN NEXT ltrim(line, ' ->');
		END IF;
	END LOOP;
	EXECUTE 'SELECT count(*) || '' '' || md5(string_agg(x::text, '','' ORDER BY x::text)) FROM (' || query || ') x' INTO ours;
	SET LOCAL gpubtree.enabled = off;
	EXECUTE 'SELECT count(*) || '' '' || md5(string_agg(x::text, '','' ORDER BY x::text)) FROM (' || query || ') x' INTO stock;
	RESET gpubtree.enabled;
	RETURN NEXT CASE WHEN ours IS NOT DISTINCT FROM stock THEN 'agrees' ELSE 'ours ' || ours || ' stock ' || stock END;
END $$;
\set ECHO all

-- ---- a boolean column ----
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE flag AND k < 1000');
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE flag = true AND k < 1000');
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE NOT flag AND k < 1000');
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE flag <> true AND k < 1000');
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE flag IS TRUE AND k < 1000');
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE flag IS FALSE AND k < 1000');
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE flag AND NOT flag AND k < 1000');
-- these have two values
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE flag IS NOT TRUE AND k < 1000');
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE flag IS NOT FALSE AND k < 1000');
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE (flag IS NULL OR NOT flag) AND k < 1000');
-- groups by the column itself (rule M13), arms, rows
SELECT cp_plan('SELECT flag, count(*), sum(v) FROM cp WHERE flag AND k < 1000 GROUP BY flag');
SELECT cp_plan('SELECT count(*), sum(v) FROM cp WHERE flag AND k < 100 OR NOT flag AND k > 49900');
SELECT cp_plan('SELECT flag, k, v FROM cp WHERE NOT flag AND k BETWEEN 700 AND 900');
SELECT cp_plan('SELECT tenant, k FROM cp WHERE flag AND k BETWEEN 700 AND 900 AND v % 2 = 1');
SELECT cp_plan('(SELECT v FROM cp WHERE flag AND k > 100 ORDER BY v DESC LIMIT 5)');

-- ranks, percentiles, buckets
SET enable_indexonlyscan = on;
SET enable_indexscan = on;
SET gpubtree.enable_scan = off;
SELECT cp_plan('(SELECT k FROM cp WHERE flag ORDER BY k OFFSET 20000 LIMIT 5)');
-- core takes NOT flag to have twice the rows, and so to come sooner to the offset
SET cpu_index_tuple_cost = 0.1;
SELECT cp_plan('(SELECT k FROM cp WHERE NOT flag ORDER BY k DESC OFFSET 8000 LIMIT 5)');
RESET cpu_index_tuple_cost;
SELECT cp_plan('(SELECT k FROM cp WHERE flag IS TRUE AND k > 1000 ORDER BY k OFFSET 20000 LIMIT 5)');
SELECT cp_plan('(SELECT k, v FROM cp WHERE NOT flag ORDER BY k, v OFFSET 8000 LIMIT 5)');
SELECT cp_plan('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY k) FROM cp WHERE NOT flag');
SELECT cp_plan('SELECT percentile_disc(array[0, 0.5, 1]) WITHIN GROUP (ORDER BY k) FROM cp WHERE flag IS TRUE');
CREATE INDEX cp_fts ON cp USING gpubtree (flag DESC, ts DESC) INCLUDE (v);
VACUUM ANALYZE cp;
SET timezone = 'UTC';
SELECT cp_plan($$SELECT date_trunc('day', ts), count(*), sum(v) FROM cp WHERE flag GROUP BY 1$$);
SELECT cp_plan($$SELECT date_trunc('hour', ts), count(*), sum(v) FROM cp WHERE NOT flag AND ts < '2024-01-09' GROUP BY 1$$);

-- ---- an array of one element ----
SELECT cp_plan('(SELECT ts FROM cp WHERE tenant = ANY (''{2}'') ORDER BY ts OFFSET 15000 LIMIT 5)');
SELECT cp_plan('(SELECT ts FROM cp WHERE tenant = ANY (ARRAY[1]::int8[]) ORDER BY ts DESC OFFSET 15000 LIMIT 5)');
SELECT cp_plan('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY ts) FROM cp WHERE tenant = ANY (''{2}'')');
SELECT cp_plan($$SELECT date_trunc('day', ts), count(*), sum(v) FROM cp WHERE tenant = ANY ('{2}') GROUP BY 1$$);
SELECT cp_plan($$SELECT count(*), sum(v) FROM cp WHERE tenant = ANY ('{2}') AND ts < '2024-01-03'$$);
-- two elements, none, NULL, ALL, a parameter
SELECT cp_plan('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY ts) FROM cp WHERE tenant = ANY (''{1, 2}'')');
SELECT cp_plan('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY ts) FROM cp WHERE tenant = ANY (''{NULL}'')');
SELECT cp_plan('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY ts) FROM cp WHERE tenant = ALL (''{2}'')');
SET plan_cache_mode = force_generic_plan;
PREPARE p (int4[]) AS SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY ts) FROM cp WHERE tenant = ANY ($1);
EXECUTE p ('{2}');
EXECUTE p ('{0, 2}');
SET gpubtree.enabled = off;
EXECUTE p ('{2}');
EXECUTE p ('{0, 2}');

DROP TABLE cp;
DROP FUNCTION cp_plan;
