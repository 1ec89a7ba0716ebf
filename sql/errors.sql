--
-- What is refused, and in which words
--
CREATE TABLE t (k int4, a int2, b int8, n numeric, x text, i interval, arr int4[],
	tz interval, u uuid);
CREATE DOMAIN small AS int4 CHECK (VALUE < 100);
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE u (s small, m mood);
\set ECHO all

-- key columns that do not fit one key, or are of a type that must come last
CREATE INDEX ON t USING gpubtree (k, k, k, k, k);

-- key types without an operator class
CREATE INDEX ON t USING gpubtree (n);
CREATE INDEX ON t USING gpubtree (x);
CREATE INDEX ON t USING gpubtree (i);
CREATE INDEX ON t USING gpubtree (arr);
CREATE INDEX ON t USING gpubtree (tz);
CREATE INDEX ON t USING gpubtree ((k::numeric));
CREATE INDEX ON u USING gpubtree (m);

-- a class for another type, and one that does not exist
CREATE INDEX ON t USING gpubtree (k int8_ops);
CREATE INDEX ON t USING gpubtree (k no_such_ops);

-- a domain over a type we hold is that type
CREATE INDEX u_s ON u USING gpubtree (s);
INSERT INTO u SELECT i FROM generate_series(1, 99) i;
SELECT gpubtree_check('u_s', true);
INSERT INTO u VALUES (100);

-- a class of somebody else's making for a type we do not hold
CREATE OPERATOR CLASS text_lame_ops FOR TYPE text USING gpubtree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 bttextcmp(text, text);
CREATE INDEX ON t USING gpubtree (x text_lame_ops);
DROP OPERATOR FAMILY text_lame_ops USING gpubtree;

-- storage parameters
CREATE INDEX ON t USING gpubtree (k) WITH (fillfactor = 9);
CREATE INDEX ON t USING gpubtree (k) WITH (fillfactor = 101);
CREATE INDEX ON t USING gpubtree (k) WITH (fillfactor = many);
CREATE INDEX ON t USING gpubtree (k) WITH (deduplicate_items = many);
CREATE INDEX t_k ON t USING gpubtree (k) WITH (fillfactor = 10);
ALTER INDEX t_k SET (fillfactor = 5);
ALTER INDEX t_k SET (no_such_parameter = 5);

-- a collation has no meaning here
CREATE INDEX ON t USING gpubtree (k COLLATE "C");

-- constraints that need a unique index
ALTER TABLE t ADD CONSTRAINT t_key UNIQUE USING INDEX t_k;
ALTER TABLE t REPLICA IDENTITY USING INDEX t_k;

\set ECHO none
DROP TABLE t, u;
DROP DOMAIN small;
DROP TYPE mood;

-- A materialized view without data is refused by our nodes as by core's.
SET client_min_messages = warning;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
CREATE TABLE rows (k bigint NOT NULL, v integer);
INSERT INTO rows SELECT n, n FROM generate_series(1, 2000) n;
CREATE MATERIALIZED VIEW unpopulated AS SELECT * FROM rows WITH DATA;
CREATE INDEX unpopulated_k ON unpopulated USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE rows, unpopulated;
SELECT set_config(name, 'off', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop,enable_seqscan,enable_indexscan,enable_indexonlyscan,enable_bitmapscan}'::text[]) name \g /dev/null
SET plan_cache_mode = force_generic_plan;
PREPARE aggregate AS SELECT count(*), sum(v) FROM unpopulated WHERE k > 5;
PREPARE percentile AS SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM unpopulated;
PREPARE bucket AS SELECT k / 100, count(*) FROM unpopulated GROUP BY k / 100;
PREPARE joined AS SELECT r.k, u.v FROM rows r JOIN unpopulated u USING (k);
PREPARE join_aggregate AS SELECT count(*), sum(u.v) FROM rows r JOIN unpopulated u USING (k);
PREPARE range_aggregate AS SELECT r.k, s.n FROM rows r, LATERAL (SELECT count(*) AS n FROM unpopulated u WHERE u.k > r.k) s;
CREATE FUNCTION node(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) EXECUTE ' || statement LOOP
		found := coalesce(found, substring(line FROM 'Gpubtree\w+'));
	END LOOP;
	RETURN found;
END $$;
\set ECHO all
SELECT name, node(name) FROM pg_prepared_statements ORDER BY name;
REFRESH MATERIALIZED VIEW unpopulated WITH NO DATA;
SELECT name, node(name) FROM pg_prepared_statements ORDER BY name;
EXECUTE aggregate;
EXECUTE percentile;
EXECUTE bucket;
EXECUTE joined;
EXECUTE join_aggregate;
EXECUTE range_aggregate;
DEALLOCATE ALL;
DROP FUNCTION node;
DROP TABLE rows CASCADE;
