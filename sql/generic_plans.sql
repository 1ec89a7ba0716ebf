--
-- Ranges whose bounds are not known when the query is planned: they do not stand in for a look-up by another column's index,
-- whichever node would read them, and a plan stays generic only where planning anew would find no other.
--
SET client_min_messages = warning;
-- no table here is worth a device, so plans are the same on all
SET gpubtree.batch_setup_cost = 1000000;

-- the node, or core, that reads the table, and the index it reads; of a generic plan, if there are types of parameters
CREATE FUNCTION reads(query text, types text, arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text := query;
	line text;
	node text := 'core';
	index text;
BEGIN
	IF types <> '' THEN
		EXECUTE format('PREPARE unknown(%s) AS %s', types, query);
		statement := format('EXECUTE unknown(%s)', arguments);
	END IF;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
		IF line ~ 'Custom Scan' THEN
			node := substring(line FROM '\((\w+)\)');
		END IF;
		index := coalesce(index, substring(line FROM '(?:Index: |Scan using |Index Scan on )(by_\w+)'),
						  substring(line FROM 'Seq Scan on (visits)'));
		EXIT WHEN index IS NOT NULL;
	END LOOP;
	IF types <> '' THEN
		DEALLOCATE unknown;
	END IF;
	RETURN node || ' ' || index;
END $$;

CREATE TABLE visits (id integer NOT NULL, person integer NOT NULL, at integer NOT NULL, status integer NOT NULL,
	amount integer NOT NULL, name text NOT NULL, place integer NOT NULL) WITH (autovacuum_enabled = off);
INSERT INTO visits SELECT n, n * 7 % 1000, n, CASE WHEN n % 3000 = 0 THEN 0 ELSE n % 4 + 1 END, n % 100, 'name ' || n % 5,
	n * 7919 % 50000 FROM generate_series(1, 50000) n;
CREATE UNIQUE INDEX by_id ON visits USING btree (id);
CREATE INDEX by_status ON visits USING btree (status);
CREATE INDEX by_person_at ON visits USING gpubtree (person, at) INCLUDE (amount);
CREATE INDEX by_at ON visits USING gpubtree (at) INCLUDE (id, person, status, amount, name);
CREATE INDEX by_rare_name ON visits USING btree (person) WHERE name = 'name 9';
CREATE TABLE spans AS SELECT n AS id, n % 1000 AS person, n * 10 AS start, n * 10 + 20000 AS stop FROM generate_series(1, 300) n;
VACUUM ANALYZE visits, spans;

-- the key of one row, or of some, beside a third of the table
SET plan_cache_mode = force_generic_plan;
CREATE TABLE queries (n serial, query text, types text, arguments text);
INSERT INTO queries (query, types, arguments) VALUES
	('SELECT count(*), sum(amount) FROM visits WHERE id = $1 AND at >= $2', 'int, int', '5, 0'),
	('SELECT count(*), sum(amount) FROM visits WHERE id = ANY ($1) AND at >= $2', 'int[], int', '''{1,2,3}'', 0'),
	('SELECT count(*), sum(amount) FROM visits WHERE id = $1 AND (at < $2 OR at > $3)', 'int, int, int', '5, 0, 9'),
	('SELECT count(*), sum(amount) FROM visits WHERE id = $1 AND at >= $2 AND at < $3', 'int, int, int', '5, 0, 9'),
	('SELECT count(*), sum(amount) FROM visits WHERE id = $1 AND at >= $2 AND at < 100000', 'int, int', '5, 0'),
	('SELECT name, count(*) FROM visits WHERE id = $1 AND at >= $2 GROUP BY name', 'int, int', '5, 0'),
	('SELECT name, count(*) FROM visits WHERE id = $1 AND at BETWEEN $2 AND $3 GROUP BY name', 'int, int, int', '5, 0, 9'),
	('SELECT person, name, count(*) FROM visits WHERE person = $1 AND at >= $2 GROUP BY person, ROLLUP (name)', 'int, int', '5, 0'),
	('SELECT DISTINCT name FROM visits WHERE person = $1 AND at >= $2', 'int, int', '5, 0'),
	('SELECT count(DISTINCT name), max(at) FROM visits WHERE person = $1 AND at >= $2', 'int, int', '5, 0'),
	('SELECT max(name) FROM visits WHERE id = $1 AND at >= $2', 'int, int', '5, 0'),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY amount) FROM visits WHERE id = $1 AND at >= $2', 'int, int', '5, 0'),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY at) FROM visits WHERE id = $1 AND at >= $2', 'int, int', '5, 0'),
	('SELECT at / 1000, count(*), sum(amount) FROM visits WHERE id = $1 AND at >= $2 GROUP BY 1', 'int, int', '5, 0'),
	('SELECT at / 1000, count(*), sum(amount) FROM visits WHERE id = $1 AND at BETWEEN $2 AND $3 GROUP BY 1', 'int, int, int', '5, 0, 9'),
	('SELECT at, amount FROM visits WHERE id = $1 AND at >= $2 AND amount < 50', 'int, int', '5, 0'),
	('SELECT at, amount FROM visits WHERE id = $1 AND at >= $2 ORDER BY amount LIMIT 5', 'int, int', '5, 0'),
	('SELECT DISTINCT ON (name) name, at FROM visits WHERE id = $1 AND at >= $2 ORDER BY name, at DESC', 'int, int', '5, 0'),
	('SELECT at FROM visits WHERE id = $1 AND at >= $2 ORDER BY at OFFSET 100 LIMIT 5', 'int, int', '5, 0'),
	('SELECT v.amount FROM spans s JOIN visits v ON v.at >= s.start WHERE v.id = $1', 'int', '5'),
	('SELECT s.id, sum(v.amount) FROM spans s JOIN visits v ON v.id = s.id AND v.at >= s.start WHERE s.id < $1 GROUP BY s.id', 'int', '5'),
	('SELECT s.id, l.* FROM spans s, LATERAL (SELECT count(*), sum(amount) FROM visits WHERE id = $1 AND at >= s.start) l', 'int', '5'),
	('SELECT s.id, (SELECT sum(amount) FROM visits WHERE id = $1 AND at >= s.start) FROM spans s', 'int', '5'),
	('SELECT s.id, (SELECT sum(amount) FROM visits WHERE id = $1 AND at BETWEEN s.start AND s.stop) FROM spans s', 'int', '5'),
	('SELECT s.id, sum(v.amount) FROM spans s JOIN visits v ON v.id = s.id AND v.at BETWEEN s.start AND s.stop WHERE s.id < $1 GROUP BY s.id', 'int', '5'),
	('SELECT s.id, v.amount FROM spans s JOIN visits v ON v.id = $1 AND v.at BETWEEN s.start AND s.stop', 'int', '5'),
	('SELECT * FROM (SELECT count(*), sum(amount) FROM visits WHERE id = $1 AND at >= $2) v', 'int, int', '5, 0'),
	('SELECT count(*), sum(amount) FROM visits WHERE id = (SELECT max(id) FROM spans) AND at >= (SELECT min(start) FROM spans)', '', ''),
	('SELECT count(*), sum(amount) FROM visits WHERE id = $1 AND at >= (SELECT min(start) FROM spans)', 'int', '5'),
	('SELECT count(*), sum(amount) FROM visits WHERE id = 5 AND at BETWEEN (SELECT min(start) FROM spans) AND (SELECT max(start) FROM spans)', '', ''),
	('SELECT count(*), sum(amount) FROM visits WHERE id = $1 AND at >= extract(second FROM now() - now() + $2)::int', 'int, interval', '5, ''1 s'''),
	('SELECT count(*), sum(amount) FROM visits WHERE id = 5 AND at >= $1', 'int', '0'),
	('SELECT count(*), sum(amount) FROM visits WHERE name = ''name 9'' AND at >= $1', 'int', '0'),
	('SELECT count(*), sum(amount) FROM visits WHERE name = ''name 9'' AND at BETWEEN $1 AND $2', 'int, int', '0, 9');
\set ECHO all

SELECT query, reads(query, types, arguments) FROM queries ORDER BY n;

\set ECHO none
-- ranges alone are a node's, and so is what no index but the range's can look up
TRUNCATE queries;
INSERT INTO queries (query, types, arguments) VALUES
	('SELECT count(*), sum(amount) FROM visits WHERE at >= $1', 'int', '0'),
	('SELECT name, count(*) FROM visits WHERE at >= $1 AND at < $2 AND amount < $3 GROUP BY name', 'int, int, int', '0, 100, 50'),
	('SELECT count(DISTINCT name), max(at) FROM visits WHERE at >= $1', 'int', '0'),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY at) FROM visits WHERE at >= $1', 'int', '0'),
	('SELECT at / 1000, count(*), sum(amount) FROM visits WHERE at >= $1 GROUP BY 1', 'int', '0'),
	('SELECT at, amount FROM visits WHERE at >= $1 AND amount = 5', 'int', '0'),
	('SELECT at, amount FROM visits WHERE at >= $1 ORDER BY amount LIMIT 5', 'int', '0'),
	('SELECT DISTINCT ON (name) name, at FROM visits WHERE at >= $1 ORDER BY name, at DESC', 'int', '0'),
	('SELECT at FROM visits WHERE at >= $1 ORDER BY at OFFSET 9000 LIMIT 5', 'int', '0'),
	('SELECT count(*), sum(v.amount) FROM spans s JOIN visits v ON v.person = s.person AND v.at >= s.start WHERE s.id < $1', 'int', '5'),
	('SELECT s.id, v.amount FROM spans s JOIN visits v ON v.person = s.person AND v.at >= s.start WHERE s.id < $1', 'int', '5'),
	('SELECT s.id, sum(v.amount) FROM spans s JOIN visits v ON v.at BETWEEN s.start AND s.stop WHERE s.id < $1 GROUP BY s.id', 'int', '5'),
	('SELECT s.id, l.* FROM spans s, LATERAL (SELECT count(*), sum(amount) FROM visits WHERE at BETWEEN s.start AND $1) l', 'int', '5'),
	('SELECT s.id, (SELECT sum(amount) FROM visits WHERE at BETWEEN s.start AND $1) FROM spans s', 'int', '5'),
	('SELECT count(*), sum(amount) FROM visits WHERE at >= (SELECT min(start) FROM spans)', '', ''),
	('SELECT count(*), sum(amount) FROM visits WHERE at BETWEEN (SELECT min(start) FROM spans) AND (SELECT max(start) FROM spans)', '', ''),
	('SELECT count(*), sum(amount) FROM visits WHERE at >= extract(second FROM now() - now() + $1)::int', 'interval', '''1 s''');
\set ECHO all
SELECT query, reads(query, types, arguments) FROM queries ORDER BY n;

-- where core guesses alike that the range is short, because its index begins with it or is one of two, a node's is as short
TRUNCATE queries;
CREATE INDEX by_at_status ON visits USING btree (at, status) INCLUDE (amount);
CREATE INDEX by_place ON visits USING gpubtree (place) INCLUDE (person, amount);
INSERT INTO queries (query, types, arguments) VALUES
	('SELECT sum(amount) FROM visits WHERE status = $1 AND at BETWEEN $2 AND $3', 'int, int, int', '1, 0, 9'),
	('SELECT sum(amount) FROM visits WHERE person = $1 AND place BETWEEN $2 AND $3', 'int, int, int', '1, 0, 9');
SELECT query, reads(query, types, arguments) FROM queries WHERE query ~ 'status';
SET enable_indexonlyscan = off;
SELECT query, reads(query, types, arguments) FROM queries WHERE query ~ 'person';
RESET enable_indexonlyscan;
DROP INDEX by_at_status, by_place;

\set ECHO none
-- between two of ours: both columns against one, and of two that bound the same range the smaller one
TRUNCATE queries;
CREATE INDEX by_at_alone ON visits USING gpubtree (at) INCLUDE (amount);
CREATE INDEX by_at_wide ON visits USING gpubtree (at) INCLUDE (id, person, status, amount, name);
INSERT INTO queries (query, types, arguments) VALUES
	('SELECT v.person, max(at), sum(amount) FROM visits v WHERE person = ANY ($1) AND at >= $2 GROUP BY 1', 'int[], int', '''{1,2,3}'', 0'),
	('SELECT sum(amount) FROM visits WHERE at >= $1', 'int', '0'),
	('SELECT amount, count(*) FROM visits WHERE at >= $1 GROUP BY 1', 'int', '0'),
	('SELECT sum(amount) FROM visits WHERE at >= (SELECT min(start) FROM spans)', '', '');
\set ECHO all
SELECT query, reads(query, types, arguments) FROM queries ORDER BY n;
DROP INDEX by_at_alone, by_at_wide;
RESET plan_cache_mode;

\set ECHO none
-- from the sixth execution on: generic where no value would make another plan
PREPARE range(int) AS SELECT count(*), sum(amount) FROM visits WHERE at >= $1 AND amount < 50;
PREPARE row_of(int, int) AS SELECT count(*), sum(amount) FROM visits WHERE id = $1 AND at >= $2;
-- and made anew where few rows have a status: then its index is better
PREPARE of_status(int, int) AS SELECT count(*), sum(amount) FROM visits WHERE status = $1 AND at >= $2;
CREATE FUNCTION sum_of(id integer, at integer) RETURNS bigint STABLE LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	SELECT sum(amount) INTO result FROM visits v WHERE v.id = sum_of.id AND v.at >= sum_of.at;
	RETURN result;
END $$;
DO $$
BEGIN
	FOR i IN 1..8 LOOP
		EXECUTE 'EXECUTE range(49990)';
		EXECUTE format('EXECUTE row_of(%s, 0)', i);
		EXECUTE 'EXECUTE of_status(0, 0)';
	END LOOP;
END $$;
\set ECHO all
SELECT name, generic_plans, custom_plans FROM pg_prepared_statements ORDER BY name;
EXPLAIN (COSTS OFF) EXECUTE range(49990);
EXPLAIN (COSTS OFF) EXECUTE row_of(5, 0);
EXECUTE of_status(0, 0);
SET track_counts = on;
BEGIN;
SELECT sum(sum_of(n, 0)) FROM generate_series(1, 20) n;
SELECT pg_stat_get_xact_numscans('by_id'::regclass) AS by_id;
COMMIT;
RESET track_counts;
DEALLOCATE ALL;

-- a request to a device costs more than a look-up, too
RESET gpubtree.batch_setup_cost;
SELECT reads('SELECT count(*), sum(amount) FROM visits WHERE id = 5 AND at >= 0', '', '') AS of_id;
SET plan_cache_mode = force_generic_plan;
SELECT reads('SELECT count(*), sum(amount) FROM visits WHERE id = $1 AND at >= $2', 'int, int', '5, 0') AS of_id;

DROP TABLE visits, spans, queries;
DROP FUNCTION reads, sum_of;
