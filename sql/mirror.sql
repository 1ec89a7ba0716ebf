-- Mirrors: what the functions and views show, and who may call them. The same
-- with every device: without one, there is no mirror, and that is no error.

-- why there is no mirror is told in switches.sql
SET client_min_messages = warning;

-- wait for the service to have opened its device, or to know that it has none
DO $$ BEGIN
	FOR i IN 1 .. 6000 LOOP
		EXIT WHEN (SELECT bool_and(status ~ '^(ready|no device)') FROM gpubtree_device);
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$;

CREATE TABLE mirrored (k int, v int);
INSERT INTO mirrored SELECT i, i FROM generate_series(1, 10000) i;
CREATE INDEX mirrored_k ON mirrored USING gpubtree (k) INCLUDE (v);
CREATE INDEX mirrored_b ON mirrored (k);

CREATE FUNCTION has_device() RETURNS boolean LANGUAGE sql AS
	$$ SELECT bool_or(status = 'ready') FROM gpubtree_device $$;
-- a count that would be "expected" with a device, and is absent without one
CREATE FUNCTION refresh_is(expected bigint) RETURNS boolean LANGUAGE sql AS
	$$ SELECT gpubtree_refresh('mirrored_k') IS NOT DISTINCT FROM
		CASE WHEN has_device() THEN expected END $$;
\set ECHO all

-- the first refresh copies every page, the second nothing, one after an insert just
-- the leaf
SELECT refresh_is(pg_relation_size('mirrored_k') / 8192);
SELECT refresh_is(0);
INSERT INTO mirrored VALUES (5000, 1);
SELECT refresh_is(1);
SELECT refresh_is(0);

SELECT count(*) = has_device()::int AS shown_once,
	coalesce(bool_and(state = 'ready' AND database = current_database() AND
			index = 'mirrored_k'::regclass AND
			blocks = pg_relation_size('mirrored_k') / 8192 AND
			leaves > 1 AND memory_bytes > 0 AND changed_blocks = 0 AND epoch > 0 AND
			last_used <= clock_timestamp() AND refreshes = 2), true) AS as_expected
FROM gpubtree_mirrors WHERE index_oid = 'mirrored_k'::regclass;
INSERT INTO mirrored VALUES (1, 1), (9999, 1);
SELECT coalesce(sum(changed_blocks), 2) AS changed
FROM gpubtree_mirrors WHERE index_oid = 'mirrored_k'::regclass;

SELECT bool_and(pid IS NOT NULL) AS has_service, bool_and((device <> 'none') = has_device()) AS device_named,
	coalesce(sum(memory_used) > 0 AND bool_and(memory_used <= memory_limit), NOT has_device()) AS within_limit
FROM gpubtree_device;

-- dropped, and made again
SELECT gpubtree_drop_mirror('mirrored_k') = has_device() AS dropped;
SELECT gpubtree_drop_mirror('mirrored_k');
SELECT count(*) FROM gpubtree_mirrors
WHERE index_oid = 'mirrored_k'::regclass AND state <> 'discarded';
SELECT refresh_is(pg_relation_size('mirrored_k') / 8192);

-- an empty index, and one that grows from its root leaf
CREATE TABLE mirrored_small (k int);
CREATE INDEX mirrored_small_k ON mirrored_small USING gpubtree (k);
SELECT gpubtree_refresh('mirrored_small_k') IS NOT NULL = has_device() AS empty;
INSERT INTO mirrored_small SELECT generate_series(1, 5000);
SELECT gpubtree_refresh('mirrored_small_k') > 1 IS NOT DISTINCT FROM
	CASE WHEN has_device() THEN true END AS grown;
SELECT coalesce(sum(leaves) > 1, NOT has_device()) AS has_inner
FROM gpubtree_mirrors WHERE index_oid = 'mirrored_small_k'::regclass;

-- gone with the index, when the transaction commits
CREATE INDEX mirrored_v ON mirrored USING gpubtree (v);
SELECT gpubtree_refresh('mirrored_v') IS NOT NULL = has_device() AS refreshed;
SELECT 'mirrored_v'::regclass::oid AS dropped \gset
BEGIN;
DROP INDEX mirrored_v;
ROLLBACK;
SELECT count(*) = has_device()::int AS kept FROM gpubtree_mirrors
WHERE index_oid = :dropped AND state = 'ready';
BEGIN;
SAVEPOINT s;
DROP INDEX mirrored_v;
RELEASE s;
COMMIT;
SELECT count(*) FROM gpubtree_mirrors WHERE index_oid = :dropped AND state <> 'discarded';

-- a new file: the old one's mirror goes
REINDEX INDEX mirrored_small_k;
SELECT gpubtree_refresh('mirrored_small_k') > 1 IS NOT DISTINCT FROM
	CASE WHEN has_device() THEN true END AS refreshed;
SELECT count(*) = has_device()::int AS one, bool_and(relfilenode = pg_relation_filenode('mirrored_small_k'))
	IS DISTINCT FROM false AS of_the_new_file
FROM gpubtree_mirrors
WHERE index_oid = 'mirrored_small_k'::regclass AND state <> 'discarded';

-- also where the new one is not mirrored; and with the index
REINDEX INDEX mirrored_small_k;
SELECT count(*) FROM gpubtree_mirrors
WHERE index_oid = 'mirrored_small_k'::regclass AND state <> 'discarded';
SELECT gpubtree_drop_mirror('mirrored_small_k');
SELECT gpubtree_refresh('mirrored_small_k') IS NOT NULL = has_device() AS refreshed;
TRUNCATE mirrored_small;
SELECT 'mirrored_small_k'::regclass::oid AS dropped \gset
DROP INDEX mirrored_small_k;
SELECT count(*) FROM gpubtree_mirrors WHERE index_oid = :dropped AND state <> 'discarded';

-- other relations; other users
SELECT gpubtree_refresh('mirrored_b');
SELECT gpubtree_refresh('mirrored');
SELECT gpubtree_drop_mirror('mirrored_b');
SELECT gpubtree_refresh(0);
SELECT gpubtree_refresh(NULL) IS NULL AS strict;
CREATE ROLE regress_gpubtree_other;
SET ROLE regress_gpubtree_other;
SELECT gpubtree_refresh('mirrored_k');
SELECT gpubtree_drop_mirror('mirrored_k');
SELECT count(*) >= 0 AS readable FROM gpubtree_mirrors;
SELECT count(*) > 0 AS readable FROM gpubtree_device;
RESET ROLE;
ALTER TABLE mirrored OWNER TO regress_gpubtree_other;
SET ROLE regress_gpubtree_other;
SELECT gpubtree_drop_mirror('mirrored_k') = has_device() AS dropped_by_owner;
RESET ROLE;

-- counters of the service
SET ROLE regress_gpubtree_other;
SELECT slots = slots_free AND memory_bytes = memory_free AS all_free FROM gpubtree_batches;
SELECT sum(matches) FROM generate_series(0, 1) n,
	gpubtree_probe('mirrored_k', (SELECT array_agg(i + n) FROM generate_series(1, 3000) i), 'device');
RESET ROLE;
SELECT (batches >= 2 AND keys >= 6000) = has_device() AS counted FROM gpubtree_batches;

DROP FUNCTION has_device, refresh_is;
DROP TABLE mirrored, mirrored_small;
DROP ROLE regress_gpubtree_other;
