--
-- Mirrors of the inner nodes alone: a batch finds what a join does, for every type and order.  The same with
-- every device; without one the CPU looks everything up.
--
DO $$ BEGIN
	FOR i IN 1 .. 6000 LOOP
		EXIT WHEN (SELECT bool_and(status ~ '^(ready|no device)') FROM gpubtree_device);
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$;
CREATE FUNCTION has_device() RETURNS boolean LANGUAGE sql AS
	$$ SELECT bool_or(status = 'ready') FROM gpubtree_device $$;
\set ECHO all

-- who may set it
SHOW gpubtree.max_mirror_size;
CREATE ROLE regress_gpubtree_small;
SET ROLE regress_gpubtree_small;
SET gpubtree.max_mirror_size = '1MB';
RESET ROLE;
SET gpubtree.max_mirror_size = -1;
\set ECHO none
SET gpubtree.max_mirror_size = '8kB';

-- Compare with a join that uses no gpubtree index; say how much was found, and whether a device took part.
CREATE FUNCTION compare(idx regclass, tab regclass, key_type text, keys text) RETURNS text
LANGUAGE plpgsql SET enable_nestloop = off AS $$
DECLARE
	r record; en bigint; es numeric;
BEGIN
	EXECUTE format('SELECT * FROM gpubtree_probe(%L, $1::%s[], ''inner'')', idx, key_type)
		INTO r USING keys;
	EXECUTE format('SELECT count(*), sum(v) FROM unnest($1::%s[]) x JOIN %s t ON t.k + 0 = x + 0',
		key_type, tab) INTO en, es USING keys;
	IF (r.matches, r.sum) IS DISTINCT FROM (en, es) THEN
		RAISE EXCEPTION '%: batch %; join %, %', idx, r, en, es;
	END IF;
	IF (r.device_keys > 0 AND r.engine LIKE 'CPU, inner nodes on %') <> has_device() OR
		r.device_keys + r.cpu_keys > r.keys OR r.cpu_share NOT BETWEEN 0 AND 1 THEN
		RAISE EXCEPTION '%: counters are wrong: %', idx, r;
	END IF;
	RETURN format('%s matches, sum %s', r.matches, coalesce(r.sum::text, 'null'));
END $$;
\set ECHO all

DO $$
DECLARE
	types text[] := '{smallint,integer,bigint}';
	least text[] := '{-32768,-2147483648,-9223372036854775808}';
	most text[] := '{32767,2147483647,9223372036854775807}';
	options text[] := '{ASC NULLS LAST,ASC NULLS FIRST,DESC NULLS LAST,DESC NULLS FIRST}';
	option text;
	i int;
BEGIN
	FOR i IN 1 .. 3 LOOP
		EXECUTE format('CREATE TABLE t AS SELECT (j %% 3000 * 3 - 4000)::%s AS k, j::int AS v FROM generate_series(1, 12000) j', types[i]);
		EXECUTE format('INSERT INTO t VALUES (%s, 1), (%s, 2), (NULL, 3), (%s, 4), (%s, 5), (NULL, 6)',
			least[i], most[i], least[i], most[i]);
		FOREACH option IN ARRAY options LOOP
			EXECUTE format('CREATE INDEX t_k ON t USING gpubtree (k %s) INCLUDE (v)', option);
			RAISE NOTICE '% %: %', types[i], option, compare('t_k', 't', types[i],
				format('{0,1,2,NULL,-4000,5000,%s,%s,%s}', least[i], most[i],
					(SELECT string_agg((j % 9000 - 4000)::text, ',') FROM generate_series(1, 20000, 7) j)));
			DROP INDEX t_k;
		END LOOP;
		DROP TABLE t;
	END LOOP;
END $$;

-- keys of 16 bytes that differ in either half
CREATE TABLE t AS SELECT ((CASE WHEN j % 2 = 0 THEN '00000000-0000-0000-' ELSE left(md5(j::text), 16) END)
	|| right(md5(j::text), 16))::uuid AS k, j::int AS v FROM generate_series(1, 12000) j;
INSERT INTO t VALUES (NULL, 1), ('ffffffff-ffff-ffff-ffff-ffffffffffff', 2), ('00000000-0000-0000-0000-000000000000', 3);
CREATE INDEX t_k ON t USING gpubtree (k DESC) INCLUDE (v);
SELECT matches, sum, keys >= device_keys + cpu_keys AND (device_keys > 0 AND engine LIKE 'CPU, inner nodes on %') = has_device() AS as_expected
FROM gpubtree_probe('t_k', (SELECT array_agg(k) || array_agg(md5(v::text)::uuid) FROM t WHERE v % 3 = 0), 'inner');
SELECT count(*), sum(t.v) FROM (SELECT unnest(array_agg(k) || array_agg(md5(v::text)::uuid)) AS k FROM t WHERE v % 3 = 0) x JOIN t USING (k);
DROP TABLE t;

-- what the view says; only one who asks for more than leaves gets more
CREATE TABLE t (k bigint, v int);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT i, i FROM generate_series(1, 20000) i;
VACUUM ANALYZE t;
SET client_min_messages = warning;
SELECT gpubtree_refresh('t_k') BETWEEN 1 AND 3 IS NOT DISTINCT FROM CASE WHEN has_device() THEN true END AS few_pages;
RESET client_min_messages;
SELECT count(*) = has_device()::int AS shown, coalesce(bool_and(mode = 'inner-only' AND changed_blocks IS NULL AND
	leaves > 40 AND stale_moves = 0 AND cpu_share BETWEEN 0 AND 1), true) AS as_expected
FROM gpubtree_mirrors WHERE index = 't_k'::regclass AND state = 'ready';
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;
SELECT count(*), sum(v) FROM t WHERE k BETWEEN 10 AND 15000;
SELECT matches, sum, engine FROM gpubtree_probe('t_k', '{1,2,3}'::bigint[], 'device');
SELECT coalesce(bool_and(mode = 'inner-only'), true) AS as_before
FROM gpubtree_mirrors WHERE index = 't_k'::regclass AND state = 'ready';
RESET gpubtree.max_mirror_size;
SELECT count(*), sum(v) FROM t WHERE k BETWEEN 10 AND 15000;
SELECT coalesce(bool_and(mode = 'full'), true) AS all_pages
FROM gpubtree_mirrors WHERE index = 't_k'::regclass AND state = 'ready';
SELECT compare('t_k', 't', 'bigint', '{1,2,3,20000,20001}');

-- no mirror wanted at all
SET gpubtree.enable_device = off;
SELECT matches, sum, engine, device_keys, cpu_keys FROM gpubtree_probe('t_k', '{1,2,3}'::bigint[], 'inner');
RESET gpubtree.enable_device;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT matches, sum, engine FROM gpubtree_probe('t_k', '{1,2,3}'::bigint[], 'inner');
COMMIT;

DROP TABLE t;
DROP FUNCTION compare, has_device;
DROP ROLE regress_gpubtree_small;
