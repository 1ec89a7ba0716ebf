--
-- gpubtree_probe: a batch of keys gives what a join with them does
--

-- Compare with a join that uses no gpubtree index, and so sets no dead hints there, on the CPU and on the device (if there is
-- none, the CPU stands in); say how much was found.
CREATE FUNCTION compare(idx regclass, tab regclass, key_type text, keys text) RETURNS text
LANGUAGE plpgsql SET enable_nestloop = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
	engine text; n bigint; s numeric; en bigint; es numeric; en_keys bigint;
BEGIN
	EXECUTE format('SELECT count(*), sum(v) FROM unnest($1::%s[]) x JOIN %s t ON t.k + 0 = x + 0',
		key_type, tab) INTO en, es USING keys;
	FOREACH engine IN ARRAY '{cpu,device}'::text[] LOOP
		EXECUTE format('SELECT matches, sum, keys FROM gpubtree_probe(%L, $1::%s[], %L)', idx, key_type, engine)
			INTO n, s, en_keys USING keys;
		IF (n, s) IS DISTINCT FROM (en, es) THEN
			RAISE EXCEPTION '%, %: batch %, %; join %, %', idx, engine, n, s, en, es;
		END IF;
	END LOOP;
	RETURN format('%s keys, %s matches, sum %s', en_keys, n, coalesce(s::text, 'null'));
END $$;

-- The same for types that have no "+ 0"
CREATE FUNCTION compare_time(idx regclass, tab regclass, key_type text, keys text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	engine text; n bigint; s numeric; en bigint; es numeric;
BEGIN
	EXECUTE format('SELECT count(*), sum(v) FROM unnest($1::%s[]) x JOIN %s t ON t.k::text = x::text',
		key_type, tab) INTO en, es USING keys;
	FOREACH engine IN ARRAY '{cpu,device}'::text[] LOOP
		EXECUTE format('SELECT matches, sum FROM gpubtree_probe(%L, $1::%s[], %L)', idx, key_type, engine)
			INTO n, s USING keys;
		IF (n, s) IS DISTINCT FROM (en, es) THEN
			RAISE EXCEPTION '%, %: batch %, %; join %, %', idx, engine, n, s, en, es;
		END IF;
	END LOOP;
	RETURN format('%s matches, sum %s', n, coalesce(s::text, 'null'));
END $$;
\set ECHO all

-- every width, order and place of NULLs, and the extremes, which share their bits with NULL
DO $$
DECLARE
	types text[] := '{smallint,integer,bigint}';
	least text[] := '{-32768,-2147483648,-9223372036854775808}';
	most text[] := '{32767,2147483647,9223372036854775807}';
	options text[] := '{ASC NULLS LAST,ASC NULLS FIRST,DESC NULLS LAST,DESC NULLS FIRST}';
	option text;
	i int;
	keys text;
	result text;
	results text[];
BEGIN
	FOR i IN 1 .. 3 LOOP
		EXECUTE format('CREATE TABLE t (k %s, v %s)', types[i], types[i]);
		EXECUTE format('INSERT INTO t SELECT nullif(i %% 5000, 7), i %% 100 FROM generate_series(1, 12000) i');
		EXECUTE format('INSERT INTO t SELECT x, 1 FROM unnest(ARRAY[%s, %s, %s, %s, NULL, NULL]) x, generate_series(1, 3)',
			quote_literal(least[i]) || '::' || types[i], quote_literal(least[i]) || '::' || types[i],
			quote_literal(most[i]) || '::' || types[i], 'NULL');
		keys := format('{%s,%s,%s,NULL,-1,0,0,1,4999,5000,7,8,8,8,-300,NULL,%s,%s}', least[i], most[i],
			least[i], (SELECT string_agg((x * 3 % 7000)::text, ',') FROM generate_series(1, 3000) x), most[i]);
		results := '{}';
		FOREACH option IN ARRAY options LOOP
			EXECUTE format('CREATE INDEX t_k ON t USING gpubtree (k %s) INCLUDE (v)', option);
			results := results || compare('t_k', 't', types[i], keys);
			EXECUTE 'ANALYZE t';
			DROP INDEX t_k;
		END LOOP;
		SELECT string_agg(DISTINCT x, '; ') INTO result FROM unnest(results) x;
		RAISE NOTICE '%: %', types[i], result;
		DROP TABLE t;
	END LOOP;
END $$;

-- dates and times
CREATE TABLE t (k date, v int);
INSERT INTO t SELECT date '2020-01-01' + i % 900, i FROM generate_series(1, 3000) i;
INSERT INTO t VALUES ('infinity', 1), ('-infinity', 2), (NULL, 3), ('4713-01-01 BC', 4);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
SELECT compare_time('t_k', 't', 'date', '{2020-01-01,2020-01-02,2020-01-02,infinity,-infinity,NULL,1999-12-31,2022-06-18,2022-06-19,4713-01-01 BC}');
DROP TABLE t;
CREATE TABLE t (k timestamp, v int);
INSERT INTO t SELECT timestamp '2020-01-01' + i % 900 * interval '1.5 hours', i FROM generate_series(1, 3000) i;
INSERT INTO t VALUES ('infinity', 1), ('-infinity', 2), (NULL, 3);
CREATE INDEX t_k ON t USING gpubtree (k DESC) INCLUDE (v);
SELECT compare_time('t_k', 't', 'timestamp', '{2020-01-01 01:30,2020-01-01 03:00,2020-01-01 03:00:00.000001,infinity,-infinity,NULL}');
DROP TABLE t;
CREATE TABLE t (k timestamptz, v int);
INSERT INTO t SELECT timestamptz '2020-01-01 00:00+00' + i % 900 * interval '1.5 hours', i FROM generate_series(1, 3000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
SELECT compare_time('t_k', 't', 'timestamptz', '{2020-01-01 01:30+00,2020-01-01 05:00+02,2020-01-01 03:00:01+00,infinity,NULL}');
DROP TABLE t;

\set ECHO none
-- the column that is summed: an integer, else none
CREATE TABLE t (k int, i2 int2, i8 int8, d date, f float8);
INSERT INTO t SELECT i, nullif(i % 10, 0), 9223372036854775807, '2020-01-01', i FROM generate_series(1, 20) i;
CREATE INDEX t_i2 ON t USING gpubtree (k) INCLUDE (i2, f);
CREATE INDEX t_i8 ON t USING gpubtree (k) INCLUDE (i8);
CREATE INDEX t_d ON t USING gpubtree (k) INCLUDE (d, i2);
CREATE INDEX t_f ON t USING gpubtree (k) INCLUDE (f);
CREATE INDEX t_k ON t USING gpubtree (k);
CREATE INDEX t_e ON t USING gpubtree ((k * 2)) INCLUDE (i2);
CREATE INDEX t_p ON t USING gpubtree (k) INCLUDE (i2) WHERE k > 5;
\set ECHO all
SELECT matches, sum FROM gpubtree_probe('t_i2', '{1,5,10,10,11,20,21}'::int[]);
SELECT matches, sum FROM gpubtree_probe('t_i2', '{10,20}'::int[]);
SELECT matches, sum FROM gpubtree_probe('t_i8', '{1,5,10,10,11,20,21}'::int[]);
SELECT matches, sum FROM gpubtree_probe('t_d', '{1,5,10,10,11,20,21}'::int[]);
SELECT matches, sum FROM gpubtree_probe('t_f', '{1,5,10,10,11,20,21}'::int[]);
SELECT matches, sum FROM gpubtree_probe('t_k', '{1,5,10,10,11,20,21}'::int[]);
-- an expression; and part of the table only
SELECT matches, sum FROM gpubtree_probe('t_e', '{2,3,4}'::int[]);
SELECT matches, sum FROM gpubtree_probe('t_p', '{4,5,6,7}'::int[]);
DROP TABLE t;

-- no rows; one leaf; no keys
CREATE TABLE t (k bigint, v int);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
SELECT keys, matches, sum, leaves, heap_fetches, engine FROM gpubtree_probe('t_k', '{1,2,NULL}'::bigint[]);
INSERT INTO t VALUES (1, 10), (2, 20), (2, 21), (NULL, 30);
SELECT keys, matches, sum, leaves, heap_fetches, engine FROM gpubtree_probe('t_k', '{1,2,2,NULL,3}'::bigint[], 'cpu');
SELECT keys, matches, sum, leaves, heap_fetches, engine FROM gpubtree_probe('t_k', '{}'::bigint[]);
SELECT keys, matches, sum, leaves, heap_fetches, engine FROM gpubtree_probe('t_k', '{NULL,NULL}'::bigint[]);
VACUUM t;
SELECT keys, matches, sum, leaves, heap_fetches, engine FROM gpubtree_probe('t_k', '{1,2,2,NULL,3}'::bigint[]);
SELECT gpubtree_probe('t_k', NULL::bigint[]) IS NULL AS nothing;

-- one key on many leaves
TRUNCATE t;
INSERT INTO t SELECT 5, i FROM generate_series(1, 20000) i;
SELECT compare('t_k', 't', 'bigint', '{5}');
SELECT compare('t_k', 't', 'bigint', '{4,5,5,5,6}');
VACUUM t;
SELECT compare('t_k', 't', 'bigint', '{4,5,5,5,6}');
SELECT matches, leaves > 40 AS all_leaves, heap_fetches FROM gpubtree_probe('t_k', '{5,5}'::bigint[], 'cpu');

-- the same key very often: more hits on a leaf than are found at a time
SELECT matches, sum FROM gpubtree_probe('t_k', (SELECT array_agg(5) FROM generate_series(1, 1500))::bigint[]);
TRUNCATE t;
INSERT INTO t SELECT i, i FROM generate_series(1, 200) i;
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(100 + i % 3)::text FROM generate_series(1, 5000) i));
VACUUM t;
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(100 + i % 3)::text FROM generate_series(1, 5000) i));

-- as many keys that a leaf, then an emptied one, does not have
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(150 + i)::text FROM generate_series(1, 5000) i));
DELETE FROM t;
VACUUM t;
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(i)::text FROM generate_series(1, 5000) i));
INSERT INTO t SELECT i, i FROM generate_series(1, 5000) i;
DELETE FROM t WHERE k BETWEEN 1000 AND 4000;
VACUUM t;
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(i)::text FROM generate_series(1, 5000) i));

-- many keys: in order, in reverse, at random; more than are sorted at a time
TRUNCATE t;
INSERT INTO t SELECT i * 2, i FROM generate_series(1, 30000) i;
INSERT INTO t SELECT i, i FROM generate_series(1, 30000, 300) i;
CREATE TABLE keys AS SELECT i AS k, (i::bigint * 7919 + 13) % 60013 AS r FROM generate_series(1, 60000) i;
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(k ORDER BY k)::text FROM keys));
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(k ORDER BY k DESC)::text FROM keys));
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(r)::text FROM keys));
SET work_mem = '64kB';
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(r)::text FROM keys));
RESET work_mem;

-- the visibility map vouches for all, for some, for none; rows deleted, moved, updated in place
VACUUM t;
SELECT heap_fetches FROM gpubtree_probe('t_k', (SELECT array_agg(r) FROM keys));
DELETE FROM t WHERE k % 10 = 0;
UPDATE t SET k = k + 1 WHERE k % 10 = 2;
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(r)::text FROM keys));
-- heap visits are the same, whoever answers
SELECT count(DISTINCT heap_fetches) FROM unnest('{cpu,device}'::text[]) e,
	LATERAL gpubtree_probe('t_k', (SELECT array_agg(r) FROM keys), e);
-- dead hints
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(k) FROM t WHERE k > 0;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(r)::text FROM keys));
VACUUM t;
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(r)::text FROM keys));
SELECT heap_fetches FROM gpubtree_probe('t_k', (SELECT array_agg(r) FROM keys));
UPDATE t SET v = v + 1 WHERE k BETWEEN 100 AND 3000;
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(r)::text FROM keys));

-- what this transaction did, and took back
BEGIN;
INSERT INTO t VALUES (42, 1000);
SAVEPOINT a;
DELETE FROM t;
SELECT matches, sum FROM gpubtree_probe('t_k', '{42,44}'::bigint[]);
ROLLBACK TO a;
SELECT matches, sum FROM gpubtree_probe('t_k', '{42,44}'::bigint[]);
ROLLBACK;
SELECT matches, sum FROM gpubtree_probe('t_k', '{42,44}'::bigint[]);

-- serializable: core judges each row
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT compare('t_k', 't', 'bigint', (SELECT array_agg(r)::text FROM keys WHERE k <= 1000));
SELECT engine, leaves FROM gpubtree_probe('t_k', '{42,44}'::bigint[]);
COMMIT;

-- a temporary table
CREATE TEMP TABLE temp_t (k int, v int);
CREATE INDEX temp_t_k ON temp_t USING gpubtree (k DESC) INCLUDE (v);
INSERT INTO temp_t SELECT i, i FROM generate_series(1, 5000) i;
SELECT compare('temp_t_k', 'temp_t', 'int', '{1,2,3,5000,5001,4,NULL,4000}');

-- what is refused
CREATE INDEX t_b ON t (k);
CREATE TABLE part (k bigint) PARTITION BY RANGE (k);
CREATE INDEX part_k ON part USING gpubtree (k);
CREATE INDEX t_bad ON t USING gpubtree (k);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 't_bad'::regclass;
SELECT gpubtree_probe('t_k', '{1,2}'::int[]);
SELECT gpubtree_probe('t_k', '{1,2}'::text[]);
SELECT gpubtree_probe('t_k', '{{1,2},{3,4}}'::bigint[]);
SELECT gpubtree_probe('t_k', '{1,2}'::bigint[], 'gpu');
SELECT gpubtree_probe('t', '{1,2}'::bigint[]);
SELECT gpubtree_probe('t_b', '{1,2}'::bigint[]);
SELECT gpubtree_probe('part_k', '{1,2}'::bigint[]);
SELECT gpubtree_probe('t_bad', '{1,2}'::bigint[]);
CREATE ROLE regress_gpubtree_reader;
SET ROLE regress_gpubtree_reader;
SELECT gpubtree_probe('t_k', '{1,2}'::bigint[]);
RESET ROLE;
GRANT SELECT (k) ON t TO regress_gpubtree_reader;
SET ROLE regress_gpubtree_reader;
SELECT gpubtree_probe('t_k', '{1,2}'::bigint[]);
RESET ROLE;
GRANT SELECT ON t TO regress_gpubtree_reader;
SET ROLE regress_gpubtree_reader;
SELECT matches FROM gpubtree_probe('t_k', '{1,2}'::bigint[]);
RESET ROLE;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
SET ROLE regress_gpubtree_reader;
SELECT gpubtree_probe('t_k', '{1,2}'::bigint[]);
RESET ROLE;

DROP TABLE t, keys, part, temp_t;
DROP ROLE regress_gpubtree_reader;
DROP FUNCTION compare, compare_time;
