--
-- Many versions of the same rows: updates that leave the key alone add entries, and those of
-- versions that nobody sees any more make room before a leaf is split.
--
CREATE FUNCTION prepare(what text, key text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (id int, k bigint, v int) WITH (autovacuum_enabled = off)', what);
	EXECUTE format('INSERT INTO %I SELECT i, %s, 0 FROM generate_series(1, 10000) i', what, key);
	-- so that no update is HOT
	EXECUTE format('CREATE INDEX ON %I (v)', what);
	EXECUTE format('CREATE INDEX %I ON %I USING gpubtree (k)', what || '_ours', what);
	EXECUTE format('CREATE INDEX %I ON %I (k)', what || '_stock', what);
END $$;

-- Is our index, beside the built-in one, no larger than this?
CREATE FUNCTION is_small(what text, factor float8) RETURNS boolean LANGUAGE sql AS $$
	SELECT pg_relation_size((what || '_ours')::regclass) <= factor * pg_relation_size((what || '_stock')::regclass)
$$;

-- Does the index give the rows that a sequential scan gives?
CREATE FUNCTION verify(what text) RETURNS boolean LANGUAGE plpgsql SET enable_bitmapscan = off AS $$
DECLARE
	ours text;
	theirs text;
	query text := format('SELECT count(*) || '' '' || sum(hashtext((k, v)::text)) FROM %I WHERE k > -1', what);
BEGIN
	PERFORM gpubtree_check((what || '_ours')::regclass, true);
	PERFORM set_config('enable_seqscan', 'off', true);
	EXECUTE query INTO ours;
	PERFORM set_config('enable_seqscan', 'on', true);
	PERFORM set_config('enable_indexscan', 'off', true);
	EXECUTE query INTO theirs;
	PERFORM set_config('enable_indexscan', 'on', true);
	RETURN ours = theirs;
END $$;
\set ECHO all

-- the heap in the order of the key
SELECT prepare('ordered', 'i');
UPDATE ordered SET v = v + 1;
UPDATE ordered SET v = v + 1;
UPDATE ordered SET v = v + 1;
UPDATE ordered SET v = v + 1;
SELECT is_small('ordered', 1.2), verify('ordered');

-- in another order: each leaf leads to hundreds of heap pages
SELECT prepare('scattered', '(i * 7919::bigint) % 10007');
UPDATE scattered SET v = v + 1;
UPDATE scattered SET v = v + 1;
UPDATE scattered SET v = v + 1;
UPDATE scattered SET v = v + 1;
SELECT is_small('scattered', 1.2), verify('scattered');

-- part of the rows at a time, at random, and space of the heap that is used again
SELECT prepare('random', 'i');
DO $$
BEGIN
	FOR i IN 1 .. 40 LOOP
		UPDATE random SET v = v + 1 WHERE id % 10 = floor(random() * 10);
		COMMIT;
	END LOOP;
END $$;
SELECT is_small('random', 1.2), verify('random');

-- rows of equal keys, NULL too: no entry of a living row goes
SELECT prepare('equal', 'nullif(i % 3, 0)');
DO $$
BEGIN
	FOR i IN 1 .. 10 LOOP
		UPDATE equal SET v = v + 1 WHERE id % 10 = i % 10;
		COMMIT;
	END LOOP;
END $$;
SELECT verify('equal');
SELECT count(*) FROM equal WHERE k IS NULL;

\set ECHO none
-- INCLUDE columns: a change of one is a new version of the same key
CREATE TABLE included (k int4, v int8, w float4) WITH (autovacuum_enabled = off);
INSERT INTO included SELECT i, i, i FROM generate_series(1, 10000) i;
CREATE INDEX included_ours ON included USING gpubtree (k DESC NULLS LAST) INCLUDE (v, w);
SELECT pg_relation_size('included_ours') AS size \gset
UPDATE included SET v = v + 1;
UPDATE included SET w = w + 1;
UPDATE included SET v = NULL;
UPDATE included SET v = k;
UPDATE included SET v = v + 2, w = 0;
\set ECHO all
SELECT pg_relation_size('included_ours') <= 3.5 * :size AS is_small, verify('included');

\set ECHO none
-- unlogged and temporary
CREATE UNLOGGED TABLE unlogged (k int8, v int4) WITH (autovacuum_enabled = off);
CREATE TEMPORARY TABLE temporary (k int8, v int4);
INSERT INTO unlogged SELECT i, 0 FROM generate_series(1, 5000) i;
INSERT INTO temporary SELECT i, 0 FROM generate_series(1, 5000) i;
CREATE INDEX unlogged_ours ON unlogged USING gpubtree (k) INCLUDE (v);
CREATE INDEX temporary_ours ON temporary USING gpubtree (k) INCLUDE (v);
SELECT pg_relation_size('unlogged_ours') AS size \gset
UPDATE unlogged SET v = v + 1;
UPDATE unlogged SET v = v + 1;
UPDATE unlogged SET v = v + 1;
UPDATE unlogged SET v = v + 1;
UPDATE temporary SET v = v + 1;
UPDATE temporary SET v = v + 1;
UPDATE temporary SET v = v + 1;
UPDATE temporary SET v = v + 1;
\set ECHO all
SELECT pg_relation_size('unlogged_ours') <= 3.5 * :size AS unlogged,
	pg_relation_size('temporary_ours') <= 3.5 * :size AS temporary,
	verify('unlogged'), verify('temporary');

\set ECHO none
-- a transaction that sees its own versions, and one that is rolled back
CREATE TABLE own (k int8, v int4) WITH (autovacuum_enabled = off);
INSERT INTO own SELECT i, 0 FROM generate_series(1, 2000) i;
CREATE INDEX own_ours ON own USING gpubtree (k) INCLUDE (v);
BEGIN;
DECLARE old CURSOR FOR SELECT count(*), sum(v) FROM own WHERE k > 0;
UPDATE own SET v = v + 1;
UPDATE own SET v = v + 1;
UPDATE own SET v = v + 1;
SAVEPOINT s;
UPDATE own SET v = v + 1;
UPDATE own SET v = v + 1;
ROLLBACK TO s;
UPDATE own SET v = v + 10;
\set ECHO all
FETCH old;
SELECT count(*), sum(v) FROM own WHERE k > 0;
ROLLBACK;
SELECT count(*), sum(v) FROM own WHERE k > 0;
UPDATE own SET v = v + 1;
UPDATE own SET v = v + 1;
SELECT verify('own');

-- keys of many rows each, which come in turn: pages of a run of equal keys stay full
CREATE TABLE runs (k int8, v int4) WITH (autovacuum_enabled = off);
CREATE INDEX runs_ours ON runs USING gpubtree (k);
INSERT INTO runs SELECT i % 4, 0 FROM generate_series(1, 60000) i;
SELECT pg_relation_size('runs_ours') AS size \gset
SELECT verify('runs');
REINDEX INDEX runs_ours;
SELECT :size <= 1.1 * pg_relation_size('runs_ours') AS small;

\set ECHO none
-- a run to which sessions add that fill a heap page each, here four in turn: rows that are late by a
-- few find room in a page that is nearly full
CREATE TABLE late (v int PRIMARY KEY, k int8, filler text)
	WITH (fillfactor = 50, autovacuum_enabled = off);
CREATE INDEX late_ours ON late USING gpubtree (k) WHERE k IS NOT NULL;
INSERT INTO late
	SELECT i, CASE WHEN i = 0 THEN 2 END, repeat('x', 400) FROM generate_series(0, 6000) i;
DO $$
DECLARE
	next_v int;
BEGIN
	FOR next_v IN SELECT v FROM late WHERE v > 0
		ORDER BY (ctid::text::point)[0]::int / 4, (ctid::text::point)[1], ctid
	LOOP
		UPDATE late SET k = 1 WHERE v = next_v;
	END LOOP;
END $$;
SELECT pg_relation_size('late_ours') AS size \gset
\set ECHO all
SELECT verify('late');
REINDEX INDEX late_ours;
SELECT :size <= 1.25 * pg_relation_size('late_ours') AS small;

DROP TABLE runs, late, ordered, scattered, random, equal, included, unlogged, temporary, own;
DROP FUNCTION prepare, is_small, verify;
