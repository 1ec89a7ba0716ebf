--
-- Estimates of the number of rows, beside those over built-in B-trees: core reads the ends of an index
-- where a condition falls beyond what ANALYZE saw.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;


-- ours and theirs: the same rows, an index of each access method; ANALYZE reads all of them
CREATE FUNCTION make(type text, value text, ordering text, how_many int = 20000) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS ours, theirs;
	EXECUTE format('CREATE TABLE ours (k %s, v int)', type);
	EXECUTE format('INSERT INTO ours SELECT %s, n %% 10 FROM generate_series(1, %s) n', value, how_many);
	CREATE TABLE theirs (LIKE ours);
	INSERT INTO theirs SELECT * FROM ours;
	EXECUTE format('CREATE INDEX ours_k ON ours USING gpubtree %s', ordering);
	EXECUTE format('CREATE INDEX theirs_k ON theirs USING btree %s', ordering);
END $$;
CREATE FUNCTION on_both(command text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format(command, 'ours');
	EXECUTE format(command, 'theirs');
END $$;
CREATE FUNCTION estimate(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
-- in one digit, since a table has other pages on other servers
CREATE FUNCTION digit(bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT round($1, 1 - length($1::text)) $$;
CREATE FUNCTION estimates(condition text, OUT gpubtree bigint, OUT as_btree boolean) LANGUAGE sql AS $$
	SELECT digit(ours), ours = theirs
		FROM estimate('SELECT v FROM ours WHERE ' || condition) ours,
			estimate('SELECT v FROM theirs WHERE ' || condition) theirs
$$;
\set ECHO all

--
-- Rows beyond both ends of what ANALYZE saw
--
SELECT make('bigint', 'n', '(k)');
VACUUM ANALYZE ours;
VACUUM ANALYZE theirs;
SELECT * FROM estimates('k > 19000');
SELECT * FROM estimates('k > 20000');
SELECT on_both('INSERT INTO %s SELECT n, 0 FROM generate_series(20001, 22000) n');
SELECT * FROM estimates('k > 20000');
SELECT * FROM estimates('k >= 20100 AND k < 20200');
SELECT * FROM estimates('k > 21000');
SELECT * FROM estimates('k > 30000');
SELECT * FROM estimates('k < 1');
SELECT on_both('INSERT INTO %s SELECT -n, 0 FROM generate_series(0, 2000) n');
SELECT * FROM estimates('k < 1');
SELECT * FROM estimates('k <= -1000::smallint');
SELECT * FROM estimates('0 > k');
SELECT * FROM estimates('k BETWEEN 5000 AND 6000');
SELECT * FROM estimates('k = 5000');
SELECT * FROM estimates('k = 21000');
-- joins of the two tables, the nodes' own rows
SELECT digit(estimate('SELECT 1 FROM ours a JOIN ours b USING (k) WHERE b.k > 20000')) AS gpubtree,
	digit(estimate('SELECT 1 FROM theirs a JOIN theirs b USING (k) WHERE b.k > 20000')) AS btree;
-- a generic plan does not know the value
PREPARE after(bigint) AS SELECT v FROM ours WHERE k > $1;
SET plan_cache_mode = force_generic_plan;
SELECT estimate('EXECUTE after(20000)') > 5000 AS a_third_of_the_table;
RESET plan_cache_mode;
DEALLOCATE after;

--
-- Deleted rows at the end; VACUUM has not seen them, later it has
--
SELECT on_both('DELETE FROM %s WHERE k > 15000');
SELECT * FROM estimates('k > 14000');
SELECT * FROM estimates('k > 16000');
VACUUM ours;
VACUUM theirs;
SELECT * FROM estimates('k > 14000');
SELECT * FROM estimates('k > 16000');
-- nothing left at all
SELECT on_both('DELETE FROM %s');
VACUUM ours;
VACUUM theirs;
SELECT * FROM estimates('k > 16000');

--
-- Descending, and NULLs at either end
--
SELECT make('int', 'nullif(n % 20000, 7)', '(k DESC)');
ANALYZE ours;
ANALYZE theirs;
SELECT on_both('INSERT INTO %s SELECT n, 0 FROM generate_series(20001, 22000) n');
SELECT on_both('INSERT INTO %s SELECT NULL FROM generate_series(1, 500) n');
SELECT * FROM estimates('k > 20000');
SELECT * FROM estimates('k > 20000::bigint');
SELECT * FROM estimates('k < 10');
SELECT make('int', 'nullif(n % 20000, 7)', '(k DESC NULLS LAST) INCLUDE (v)');
ANALYZE ours;
ANALYZE theirs;
SELECT on_both('INSERT INTO %s SELECT n, 0 FROM generate_series(20001, 22000) n');
SELECT on_both('INSERT INTO %s SELECT NULL FROM generate_series(1, 500) n');
SELECT * FROM estimates('k > 20000');
SELECT * FROM estimates('k < 10');
SELECT make('int', 'n', '(k NULLS FIRST)');
ANALYZE ours;
ANALYZE theirs;
SELECT on_both('INSERT INTO %s SELECT -n, 0 FROM generate_series(1, 2000) n');
SELECT on_both('INSERT INTO %s SELECT NULL FROM generate_series(1, 500) n');
SELECT * FROM estimates('k < 0');

--
-- Other types; an expression
--
SELECT make('timestamptz', '''2026-01-01 00:00 UTC''::timestamptz + n * ''1 minute''::interval', '(k)');
ANALYZE ours;
ANALYZE theirs;
SELECT on_both('INSERT INTO %s SELECT k + ''20000 minutes'', v FROM %1$s');
SELECT * FROM estimates('k > ''2026-01-15 UTC''');
SELECT * FROM estimates('k > ''2026-01-25 UTC''');
SELECT * FROM estimates('k > ''2026-01-14 12:00 UTC''::timestamptz + ''12 hours''');
SELECT make('date', '''2026-01-01''::date + n', '(k)');
ANALYZE ours;
ANALYZE theirs;
SELECT on_both('INSERT INTO %s SELECT k + 20000, v FROM %1$s');
SELECT * FROM estimates('k > ''2090-01-01''');
SELECT make('bigint', 'n', '((k * 2))');
ANALYZE ours;
ANALYZE theirs;
SELECT on_both('INSERT INTO %s SELECT n, 0 FROM generate_series(20001, 22000) n');
SELECT * FROM estimates('k * 2 > 40000');

--
-- A partial index does not tell where its table ends
--
SELECT make('bigint', 'n', '(k) WHERE v = 3');
ANALYZE ours;
ANALYZE theirs;
SELECT on_both('INSERT INTO %s SELECT n, 3 FROM generate_series(20001, 22000) n');
SELECT * FROM estimates('k > 20000');
SELECT * FROM estimates('k > 20000 AND v = 3');

--
-- Beside a built-in B-tree, in partitions and temporary tables
--
CREATE INDEX ours_btree ON ours (k);
SELECT digit(estimate('SELECT v FROM ours WHERE k > 20000'));
CREATE TABLE parts (k bigint, v int) PARTITION BY LIST (v);
CREATE TABLE part_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
INSERT INTO parts SELECT n, n % 2 FROM generate_series(1, 20000) n;
CREATE INDEX ON parts USING gpubtree (k);
VACUUM ANALYZE parts;
INSERT INTO parts SELECT n, n % 2 FROM generate_series(20001, 22000) n;
SELECT digit(estimate('SELECT v FROM part_0 WHERE k > 20000'));
SELECT digit(estimate('SELECT v FROM parts WHERE k > 20000'));
CREATE TEMP TABLE brief AS SELECT n AS k FROM generate_series(1, 20000) n;
CREATE INDEX ON brief USING gpubtree (k);
ANALYZE brief;
INSERT INTO brief SELECT n FROM generate_series(20001, 22000) n;
SELECT digit(estimate('SELECT k FROM brief WHERE k > 20000'));

--
-- Nothing but estimates: core's paths are those of the index itself
--
SET gpubtree.enable_aggregate = off;
SET gpubtree.enable_batchjoin = off;
SET gpubtree.enable_scan = off;
SELECT make('bigint', 'n', '(k) INCLUDE (v)');
VACUUM ANALYZE ours;
EXPLAIN (COSTS OFF) SELECT count(*) FROM ours;
EXPLAIN (COSTS OFF) SELECT 1 FROM ours;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT 1 FROM ours;
EXPLAIN (COSTS OFF) SELECT v FROM ours WHERE (k, v) > (19990, 3);
EXPLAIN (COSTS OFF) SELECT v FROM ours WHERE (k, k) > (19990, 3);
SET enable_indexonlyscan = off;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT v FROM ours WHERE k = 5 OR k > 19990;
EXPLAIN (COSTS OFF) SELECT a.v FROM ours a JOIN ours b USING (k) WHERE b.k > 19995;
RESET enable_seqscan;
RESET enable_indexonlyscan;
RESET enable_indexscan;
CLUSTER ours USING ours_k;

DROP TABLE ours, theirs, parts, brief;
DROP FUNCTION make, on_both, estimate, digit, estimates;
