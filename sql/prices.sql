--
-- Which plan is chosen by its price, where the choice is clear: over rows that VACUUM has not seen, each of which a node must
-- visit in the table, and after VACUUM.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION is_ours(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line LIKE '%Gpubtree%' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$;
CREATE FUNCTION choices(OUT query text, OUT in_order boolean, OUT at_random boolean) RETURNS SETOF record
LANGUAGE sql AS $$
	SELECT query, is_ours(format(query, 'in_order')), is_ours(format(query, 'at_random')) FROM unnest(ARRAY[
		'SELECT count(*), sum(v) FROM %s',
		'SELECT k / 1000, count(*), sum(v) FROM %s GROUP BY 1',
		'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM %s',
		'SELECT percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY k) FROM %s']) query
$$;
-- the heap follows the key, and the same without that
CREATE TABLE in_order (k integer NOT NULL, v integer) WITH (autovacuum_enabled = off);
CREATE TABLE at_random (LIKE in_order) WITH (autovacuum_enabled = off);
INSERT INTO in_order SELECT n, n % 100 FROM generate_series(0, 99999) n;
INSERT INTO at_random SELECT n * 7919 % 100000, n % 100 FROM generate_series(0, 99999) n;
CREATE INDEX in_order_k ON in_order USING gpubtree (k) INCLUDE (v);
CREATE INDEX at_random_k ON at_random USING gpubtree (k) INCLUDE (v);
ANALYZE in_order, at_random;

-- one percentile may pay, with a device
SELECT * FROM choices() WHERE query NOT LIKE '%(0.5)%';
-- core's scan visits row by row what it skips, where counting visits page by page
SELECT is_ours('SELECT k FROM in_order ORDER BY k OFFSET 50000 LIMIT 10');
VACUUM in_order, at_random;
SELECT * FROM choices();
SELECT is_ours('SELECT k FROM in_order ORDER BY k OFFSET 50000 LIMIT 10');

DROP TABLE in_order, at_random;
DROP FUNCTION choices, is_ours;
