--
-- Types of at most 8 bytes that are no integers, dates or timestamps: as key, in each order, and as
-- INCLUDE column, against core's B-tree
--
SET timezone = 'UTC';
SET lc_monetary = 'C';
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
-- a value whose OID is out of order
ALTER TYPE mood ADD VALUE 'glum' BEFORE 'ok';
CREATE DOMAIN positive AS real CHECK (value >= 0 OR value < 0 OR value <> value);

-- What the tests need of a type: SQL for a value, by a random number r from 0 to 1, and values that
-- are limits, or might be
CREATE TABLE kinds (type text PRIMARY KEY, value text, special text[], is_key bool);
INSERT INTO kinds VALUES
	('bool', 'r < 0.5', '{true,false}', true),
	('"char"', '(r * 255 - 128)::int::"char"', '{a,"",Z,\\200,\\377,~}', true),
	('oid', '(r * 4294967295)::int8::oid',
		'{0,1,2147483647,2147483648,2147483649,4294967294,4294967295}', true),
	('float4', '((r - 0.5) * power(10, (r * 1000)::int % 20 - 10))::float4',
		'{0,-0,NaN,Infinity,-Infinity,1e-45,-1e-45,1.17549435e-38,3.4028235e38,-3.4028235e38,0.1,1}', true),
	('float8', '(r - 0.5) * power(10, (r * 1000)::int % 20 - 10)',
		'{0,-0,NaN,Infinity,-Infinity,5e-324,-5e-324,1e-46,-1e-46,1e39,-1e39,3.4028235e38,3.40282351e38,3.4028236e38,0.1,0.10000000149011612,1,1.0000000001}', true),
	('time', 'time ''00:00'' + r * interval ''86399 s''',
		'{00:00:00,24:00:00,23:59:59.999999,12:00}', true),
	('money', '((r - 0.5) * 10000)::numeric::money',
		'{0,-0.01,0.01,-92233720368547758.08,92233720368547758.07}', true),
	('xid8', '(r * 1e19)::numeric(20, 0)::text::xid8',
		'{0,1,9223372036854775807,9223372036854775808,9223372036854775809,18446744073709551615}',
		true),
	('pg_lsn', 'pg_lsn ''0/0'' + (r * 1e19)::numeric(20, 0)',
		'{0/0,0/1,7FFFFFFF/FFFFFFFF,80000000/0,80000000/1,FFFFFFFF/FFFFFFFF}', true),
	('macaddr', '(lpad(to_hex((r * 281474976710655)::int8), 12, ''0''))::macaddr',
		'{00:00:00:00:00:00,00:00:00:00:00:01,7f:ff:ff:ff:ff:ff,80:00:00:00:00:00,ff:ff:ff:ff:ff:fe,ff:ff:ff:ff:ff:ff}',
		true),
	('macaddr8',
		'(lpad(to_hex((r * 4294967295)::int8), 8, ''0'') || lpad(to_hex((r * 1e15)::int8 % 4294967296), 8, ''0''))::macaddr8',
		'{00:00:00:00:00:00:00:00,00:00:00:00:00:00:00:01,7f:ff:ff:ff:ff:ff:ff:ff,80:00:00:00:00:00:00:00,80:00:00:00:00:00:00:01,ff:ff:ff:ff:ff:ff:ff:ff}',
		true),
	('positive', '((r - 0.5) * 10)::positive', '{0,-0,NaN,Infinity,-Infinity}', true),
	('mood', '(enum_range(null::mood))[1 + (r * 3.999)::int % 4]', '{sad,glum,ok,happy}', false);

-- Two tables of the same rows, b with core's indexes and g with ours; each special value occurs
-- three times.
CREATE FUNCTION make(type text, ordered text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	kind kinds;
BEGIN
	SELECT * INTO kind FROM kinds WHERE kinds.type = make.type;
	SET LOCAL client_min_messages = warning;
	DROP TABLE IF EXISTS b, g;
	EXECUTE format('CREATE TABLE b (id int, k %s, v %1$s, i int)', type);
	PERFORM setseed(0.25);
	EXECUTE format('INSERT INTO b SELECT n, %s, %s, n FROM (
		SELECT n, random() AS r FROM generate_series(1, 120) n) x', kind.value,
		kind.value);
	EXECUTE format('INSERT INTO b SELECT 1000 + n * 10 + copy, s::%s,
			CASE WHEN copy > 1 THEN s::%1$s END, n
		FROM unnest(%L::text[]) WITH ORDINALITY x(s, n), generate_series(1, 3) copy',
		type, kind.special);
	INSERT INTO b SELECT 5000 + n, NULL, NULL, n FROM generate_series(1, 5) n;
	CREATE TABLE g AS TABLE b;
	IF ordered = 'several' THEN
		CREATE INDEX b_k ON b (k DESC, id) INCLUDE (v);
		CREATE INDEX g_k ON g USING gpubtree (k DESC, id) INCLUDE (v);
	ELSE
		EXECUTE format('CREATE INDEX b_k ON b (k %s) INCLUDE (id, v)', ordered);
	END IF;
	IF ordered = 'several' THEN
		NULL;
	ELSIF kind.is_key THEN
		EXECUTE format('CREATE INDEX g_k ON g USING gpubtree (k %s) INCLUDE (id, v)', ordered);
	ELSE
		CREATE INDEX g_k ON g USING gpubtree (id) INCLUDE (k, v);
	END IF;
	INSERT INTO b SELECT id + 10000, k, v, i FROM b;
	INSERT INTO g SELECT id + 10000, k, v, i FROM g;
	PERFORM gpubtree_check('g_k', true);
END $$;

-- All rows of a query as one text, each value as its type sends it, so that no two differ unseen
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(x, '';'' ORDER BY x) FROM (
		SELECT record_send(q)::text AS x FROM (%s) q) y', query) INTO result;
	RETURN coalesce(result, 'no rows');
END $$;

-- Counts the queries whose answers are the same on both tables, and shows those that are not.
CREATE FUNCTION compare(type text, ordered text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	same int := 0;
	wrong text := '';
	query text;
	how text;
	set_for text;
BEGIN
	PERFORM make(type, ordered);
	PERFORM set_config('enable_seqscan', 'off', true);
	FOR query, how IN
		SELECT DISTINCT format(q, o, quote_literal(s.s), c.type,
				quote_literal(c.special)), h
		FROM kinds c, unnest(c.special) s, unnest(ARRAY['index only', 'bitmap']) h,
			unnest(ARRAY['<', '<=', '=', '>=', '>', '<>']) o,
			unnest(ARRAY[
				'SELECT id, k, v FROM t WHERE k %1$s %2$s::%3$s',
				'SELECT id, v FROM t WHERE k %1$s ANY (%4$s::text[]::%3$s[])',
				'SELECT count(*), count(k), count(v), min(id), max(id) FROM t WHERE k %1$s %2$s::%3$s',
				'SELECT count(*) FROM t WHERE k %1$s %2$s::%3$s AND v IS NOT NULL',
				'SELECT count(*), sum(id) FROM t WHERE v %1$s %2$s::%3$s']) q
		WHERE c.type = compare.type AND (h = 'index only' OR o IN ('<', '='))
	UNION ALL
		SELECT q, 'index only'
		FROM unnest(ARRAY[
			'SELECT id, k, v FROM t ORDER BY k, id LIMIT 50',
			'SELECT id, k, v FROM t WHERE k IS NULL',
			'SELECT id, k, v FROM t WHERE k IS NOT NULL',
			'SELECT k = k, count(*) FROM t GROUP BY 1',
			'SELECT count(DISTINCT v), count(DISTINCT k) FROM t WHERE k IS NOT NULL',
			'SELECT count(*) FROM (SELECT DISTINCT k FROM t) x',
			'SELECT count(*), sum(n) FROM (SELECT v, count(*) AS n FROM t GROUP BY v) x',
			'SELECT count(*), sum(n) FROM (SELECT k, count(*) AS n FROM t GROUP BY k) x',
			'SELECT count(*), sum(id) FROM t WHERE v = k',
			'SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 250) x']) q
	LOOP
		IF how IS DISTINCT FROM set_for THEN
			PERFORM set_config('enable_indexscan', (how <> 'bitmap')::text, true);
			PERFORM set_config('enable_indexonlyscan', (how = 'index only')::text, true);
			PERFORM set_config('enable_bitmapscan', (how = 'bitmap')::text, true);
			set_for := how;
		END IF;
		IF answer(regexp_replace(query, 'FROM t\M', 'FROM b', 'g')) =
			answer(regexp_replace(query, 'FROM t\M', 'FROM g', 'g')) THEN
			same := same + 1;
		ELSE
			wrong := wrong || E'\n' || how || ': ' || query;
		END IF;
	END LOOP;
	RETURN same || ' same' || wrong;
END $$;
\set ECHO all

SELECT type, compare(type) FROM kinds ORDER BY type;
SELECT type, ordered, compare(type, ordered)
FROM kinds, unnest(ARRAY['DESC', 'NULLS FIRST', 'DESC NULLS LAST']) ordered
WHERE type IN ('bool', 'macaddr', 'macaddr8', 'oid', 'positive', 'xid8') ORDER BY type, ordered;

-- the first of two key columns
SELECT type, compare(type, 'several') FROM kinds
WHERE is_key AND type NOT IN ('float4', 'float8', 'positive') ORDER BY type;

\set ECHO none
-- real beside double precision: every number of a list, and those next to it, both ways
CREATE TABLE wide (f float8);
INSERT INTO wide SELECT s::float8 FROM kinds, unnest(special) s WHERE type = 'float8';
INSERT INTO wide SELECT f::float4 FROM wide WHERE abs(f) < 3.4e38 AND (abs(f) > 1e-44 OR f = 0);
INSERT INTO wide SELECT f * (1 + n * 1e-15) FROM wide, unnest(ARRAY[-1, 1]) n WHERE abs(f) < 1e300;
CREATE TABLE narrow (f float4);
INSERT INTO narrow SELECT s::float4 FROM kinds, unnest(special) s WHERE type = 'float4';
CREATE INDEX ON wide USING gpubtree (f);
CREATE INDEX ON narrow USING gpubtree (f);
CREATE TABLE constants AS SELECT 'float8' AS type, f::text AS value FROM wide
	UNION SELECT 'float4', f::text FROM narrow;
CREATE FUNCTION crossed() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text;
	ours bigint;
	theirs bigint;
	same int := 0;
	wrong text := '';
BEGIN
	FOR query IN SELECT format('SELECT count(*) FROM %s WHERE f %s %L::%s', t, o, value, type)
		FROM constants, unnest(ARRAY['wide', 'narrow']) t, unnest(ARRAY['<', '<=', '=', '>=', '>']) o
	LOOP
		SET LOCAL enable_seqscan = off;
		EXECUTE query INTO ours;
		SET LOCAL enable_seqscan = on;
		SET LOCAL enable_indexscan = off;
		SET LOCAL enable_indexonlyscan = off;
		SET LOCAL enable_bitmapscan = off;
		SET LOCAL gpubtree.enable_aggregate = off;
		EXECUTE query INTO theirs;
		RESET enable_indexscan;
		RESET enable_indexonlyscan;
		RESET enable_bitmapscan;
		RESET gpubtree.enable_aggregate;
		IF ours = theirs THEN
			same := same + 1;
		ELSE
			wrong := wrong || format(E'\n%s: %s, not %s', query, ours, theirs);
		END IF;
	END LOOP;
	RETURN same || ' same' || wrong;
END $$;
\set ECHO all
SELECT crossed();

-- -0 and 0 are equal, and come back as they were stored; so do NaNs of either sign
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT f FROM wide WHERE f = 0;
SELECT f, count(*) FROM (SELECT f::text FROM wide WHERE f = 0) x GROUP BY f ORDER BY f COLLATE "C";
INSERT INTO wide SELECT -f FROM wide WHERE f = 'NaN';
SELECT float8send(f) AS nan, count(*) FROM wide WHERE f = 'NaN' GROUP BY 1 ORDER BY 1;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- gpubtree_probe() finds what is equal.
SELECT s AS key, matches, matches = (SELECT count(*) FROM wide WHERE f = s) AS is_right
FROM unnest('{0,-0,NaN,0.1,7}'::float8[]) s, gpubtree_probe('wide_f_idx', ARRAY[s], 'cpu');
CREATE TABLE probed (t time, o oid, b bool, m macaddr);
INSERT INTO probed SELECT time '00:00' + n * interval '1 hour', n * 500000000::bigint, n % 2 = 0,
	('00000000000' || n)::macaddr
FROM generate_series(0, 8) n;
CREATE INDEX probed_t ON probed USING gpubtree (t);
CREATE INDEX probed_o ON probed USING gpubtree (o);
CREATE INDEX probed_b ON probed USING gpubtree (b);
CREATE INDEX probed_m ON probed USING gpubtree (m);
SELECT t.matches, o.matches, b.matches, m.matches
FROM gpubtree_probe('probed_t', '{03:00,03:01,08:00,NULL}'::time[]) t,
	gpubtree_probe('probed_o', '{4000000000,0,1}'::oid[]) o,
	gpubtree_probe('probed_b', '{true,true}'::bool[]) b,
	gpubtree_probe('probed_m', '{000000000001,NULL,000000000003,ffffffffffff}'::macaddr[]) m;

-- An integer that becomes an oid or a name of one, and the reverse, leaves the index as it is.
CREATE TABLE coerced (id int, o int4);
INSERT INTO coerced VALUES (1, 5), (2, -5), (3, NULL), (4, 1259);
CREATE INDEX coerced_id ON coerced USING gpubtree (id) INCLUDE (o);
ALTER TABLE coerced ALTER o TYPE oid;
SELECT gpubtree_check('coerced_id', true);
SET enable_seqscan = off;
SELECT * FROM coerced WHERE id < 3 ORDER BY id;
ALTER TABLE coerced ALTER o TYPE regclass;
SELECT gpubtree_check('coerced_id', true);
SELECT * FROM coerced WHERE id IN (2, 4) ORDER BY id;
SELECT o, count(*) FROM coerced WHERE id < 9 AND o <> 'pg_type'::regclass GROUP BY o ORDER BY o;
ALTER TABLE coerced ALTER o TYPE int4;
SELECT * FROM coerced WHERE id < 3 ORDER BY id;
RESET enable_seqscan;

-- No key: the order of an enum type's values is not that of their OIDs, and may change
CREATE TABLE moods (m mood);
CREATE INDEX ON moods USING gpubtree (m);
DROP TABLE moods;

DROP FUNCTION make, answer, compare, crossed;
DROP TABLE kinds, b, g, wide, narrow, constants, coerced, probed;
DROP DOMAIN positive;
DROP TYPE mood;
