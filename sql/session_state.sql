--
-- Settings of the session count as they are when a node begins: a cursor's rows do not follow what is set later, whoever sets
-- it, and what the session has set stays as it is.  Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET timezone = 'America/New_York';

CREATE TABLE visit (at timestamptz, v integer);
INSERT INTO visit SELECT timestamptz '2023-01-01 UTC' + n * interval '7 hours', n FROM generate_series(1, 3000) n;
INSERT INTO visit VALUES ('infinity', 1), (NULL, 2);
CREATE INDEX visit_at ON visit USING gpubtree (at) INCLUDE (v);
-- keys of the first years are asked for one by one
CREATE TABLE old_visit (at timestamptz, v integer);
INSERT INTO old_visit SELECT timestamptz '0001-06-01 UTC' + n * interval '7 hours', n FROM generate_series(1, 500) n;
CREATE INDEX old_visit_at ON old_visit USING gpubtree (at) INCLUDE (v);
CREATE TABLE day_visit (d date, v integer);
INSERT INTO day_visit SELECT date '2010-01-01' + n, n FROM generate_series(1, 3000) n;
CREATE INDEX day_visit_d ON day_visit USING gpubtree (d) INCLUDE (v);
VACUUM ANALYZE visit, old_visit, day_visit;

CREATE FUNCTION plain(is_plain boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('gpubtree.enable_bucketaggregate', (NOT is_plain)::text, true);
	PERFORM set_config('gpubtree.setup_cost', '0', true);
	PERFORM set_config('enable_seqscan', is_plain::text, true);
	PERFORM set_config('enable_hashagg', is_plain::text, true);
	PERFORM set_config('enable_indexscan', is_plain::text, true);
	PERFORM set_config('enable_indexonlyscan', is_plain::text, true);
	PERFORM set_config('enable_bitmapscan', is_plain::text, true);
END $$;

-- Rows of a query, the setting changed after the third one; and the setting afterwards
CREATE FUNCTION rows_under_cursor(query text, is_plain boolean, setting text, value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	n integer := 0;
	result text := '';
	before text := current_setting(setting);
BEGIN
	PERFORM plain(is_plain);
	OPEN c FOR EXECUTE query;
	LOOP
		FETCH c INTO r;
		EXIT WHEN NOT FOUND;
		n := n + 1;
		result := result || r::text || ';';
		IF n = 3 THEN
			PERFORM set_config(setting, value, true);
		END IF;
	END LOOP;
	CLOSE c;
	IF current_setting(setting) <> value THEN
		RAISE EXCEPTION '% is %', setting, current_setting(setting);
	END IF;
	PERFORM set_config(setting, before, true);
	RETURN n || ' ' || md5(result);
END $$;
CREATE FUNCTION is_ours(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	PERFORM plain(false);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line LIKE '%GpubtreeBucketAggregate%' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$;
-- The bucket is shown as a number, which no setting changes.
CREATE FUNCTION compare(bucket text, source text, setting text, value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT extract(epoch FROM g) AS g, n, s FROM (SELECT %s AS g, count(*) AS n, sum(v) AS s FROM %s GROUP BY 1 ORDER BY 1 OFFSET 0) q', bucket, source);
	ours text := rows_under_cursor(query, false, setting, value);
	theirs text := rows_under_cursor(query, true, setting, value);
BEGIN
	IF NOT is_ours(query) THEN
		RETURN 'ordinary plan';
	ELSIF ours <> theirs THEN
		RETURN ours || ', should be ' || theirs;
	END IF;
	RETURN 'equal, ' || split_part(ours, ' ', 1) || ' rows';
END $$;

-- ---- the time zone ----

SELECT bucket, zone, compare(bucket, 'visit', 'timezone', zone)
FROM unnest(ARRAY['date_trunc(''day'', at)', 'date_trunc(''week'', at)', 'at::date', 'date_trunc(''day'', at, ''Asia/Kolkata'')',
	'date_bin(''2 days'', at, timestamptz ''2020-01-01 UTC'')']) bucket, unnest(ARRAY['Asia/Tokyo', 'UTC', 'XYZ+11:30']) zone
ORDER BY zone COLLATE "C", bucket COLLATE "C";
\set ECHO all
SELECT compare('date_trunc(''day'', at)', 'old_visit', 'timezone', 'Asia/Tokyo');
SELECT compare('at::date', 'old_visit', 'timezone', 'Pacific/Apia');
SELECT compare('date_trunc(''week'', d)', 'day_visit', 'timezone', 'Asia/Tokyo');

-- zones that have no name
SET TIME ZONE INTERVAL '+05:30' HOUR TO MINUTE;
SELECT compare('date_trunc(''day'', at)', 'visit', 'timezone', 'Asia/Tokyo');
SET timezone = 'AAA+5BBB,M3.2.0/0:01,M11.1.0/0:01';
SELECT compare('date_trunc(''day'', at)', 'visit', 'timezone', 'Asia/Tokyo');

-- where the offset's change puts buckets in disorder
SET timezone = 'America/St_Johns';
CREATE TABLE fall_back (at timestamptz NOT NULL, v integer);
INSERT INTO fall_back SELECT timestamptz '1988-10-29 00:00' + n * interval '1 minute', n FROM generate_series(1, 4000) n;
CREATE INDEX fall_back_at ON fall_back USING gpubtree (at) INCLUDE (v);
VACUUM ANALYZE fall_back;
SELECT compare('date_trunc(''day'', at)', 'fall_back', 'timezone', 'UTC');
SELECT compare('date_trunc(''minute'', at)', 'fall_back WHERE at < ''1988-10-31 03:00 UTC''', 'timezone', 'Asia/Kathmandu');
SET timezone = 'America/New_York';

-- ---- what abbreviations of zones mean ----

SET timezone_abbreviations = 'Default';
SELECT bucket, compare(bucket, 'visit', 'timezone_abbreviations', 'India')
FROM unnest(ARRAY['date_trunc(''day'', at, ''IST'')', '(at AT TIME ZONE ''IST'')::date', 'date_trunc(''day'', at AT TIME ZONE ''IST'')']) bucket;
SELECT compare('date_trunc(''day'', at, ''IST'')', 'old_visit', 'timezone_abbreviations', 'India');

-- ---- who changes it ----

SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SELECT is_ours('SELECT date_trunc(''day'', at), count(*) FROM visit GROUP BY 1 ORDER BY 1');

-- SET LOCAL, and its end by ROLLBACK TO
BEGIN;
SAVEPOINT s;
SET LOCAL timezone = 'Asia/Tokyo';
SAVEPOINT t;
DECLARE tokyo CURSOR FOR SELECT extract(epoch FROM g) % 86400 AS tokyo FROM (SELECT date_trunc('day', at) AS g, count(*) AS n FROM visit WHERE at < '2025-01-01' GROUP BY 1 ORDER BY 1 OFFSET 0) q;
FETCH 2 FROM tokyo;
SET LOCAL timezone = 'UTC';
MOVE 100 IN tokyo;
FETCH 1 FROM tokyo;
ROLLBACK TO t;
SHOW timezone;
COMMIT;
SHOW timezone;

\set ECHO none
-- a function that the query itself calls, for each group
CREATE FUNCTION turn(n bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	PERFORM set_config('timezone', CASE n % 2 WHEN 0 THEN 'Asia/Tokyo' ELSE 'Pacific/Apia' END, false);
	RETURN n;
END $$;
CREATE FUNCTION lines(turned boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT concat(extract(epoch FROM g), '' '', n) FROM (SELECT date_trunc(''day'', at) AS g, %s AS n FROM visit GROUP BY 1 ORDER BY 1 OFFSET 0) q',
		CASE WHEN turned THEN 'turn(count(*))' ELSE 'count(*)' END);
	result text := '';
	line text;
BEGIN
	FOR line IN EXECUTE query LOOP
		result := result || line || ';';
	END LOOP;
	RETURN md5(result);
END $$;
CREATE TEMP TABLE expected AS SELECT lines(false) AS md5;
\set ECHO all
SELECT lines(true) = md5 AS equal FROM expected;
SHOW timezone;
\set ECHO none
SET timezone = 'America/New_York';

-- a loop over the query
CREATE FUNCTION looped() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	n integer := 0;
	result text := '';
BEGIN
	FOR line IN SELECT concat(extract(epoch FROM g), ' ', q.n) FROM (SELECT date_trunc('day', at) AS g, count(*) AS n FROM visit GROUP BY 1 ORDER BY 1 OFFSET 0) q LOOP
		n := n + 1;
		PERFORM set_config('timezone', CASE n % 3 WHEN 0 THEN 'Asia/Tokyo' ELSE 'Pacific/Apia' END, false);
		result := result || line || ';';
	END LOOP;
	RETURN md5(result);
END $$;
\set ECHO all
SELECT looped() = md5 AS equal FROM expected;
SET timezone = 'America/New_York';

\set ECHO none
-- ---- executed again ----

-- With no parameter changed the groups are those of the first execution, as in a hash table of groups that is read once more.
CREATE FUNCTION turn_to(zone text) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT set_config('timezone', zone, false)
$$;
CREATE FUNCTION again(is_plain boolean) RETURNS TABLE (groups bigint, first numeric) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM plain(is_plain);
	PERFORM set_config('enable_material', 'off', true);
	RETURN QUERY EXECUTE $q$SELECT count(*), min(extract(epoch FROM g)) FROM
		(SELECT zone, turn_to(zone) AS turned FROM unnest(ARRAY['America/New_York', 'Asia/Tokyo', 'UTC']) zone OFFSET 0) z
		LEFT JOIN (SELECT date_trunc('day', at) AS g, count(*) AS n FROM visit WHERE at < '2024-01-01 UTC' GROUP BY 1 OFFSET 0) q ON n <> length(turned)
		GROUP BY zone ORDER BY zone$q$;
	PERFORM set_config('timezone', 'America/New_York', false);
END $$;
\set ECHO all
SELECT * FROM again(false);
SELECT * FROM again(true);
\set ECHO none
-- with a parameter changed they are new
CREATE FUNCTION anew(is_plain boolean) RETURNS TABLE (zone text, groups bigint, first numeric) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM plain(is_plain);
	RETURN QUERY EXECUTE $q$SELECT z.zone, q.groups, q.first FROM
		(SELECT u.zone, turn_to(u.zone) AS turned FROM unnest(ARRAY['America/New_York', 'Asia/Tokyo', 'UTC']) u (zone) OFFSET 0) z,
		LATERAL (SELECT count(*) AS groups, min(extract(epoch FROM g)) AS first FROM (SELECT date_trunc('day', at) AS g, count(*) AS n FROM visit
			WHERE at > timestamptz '2023-03-03 UTC' + length(turned) * interval '1 hour' AND at < 'infinity' GROUP BY 1 OFFSET 0) g) q$q$;
	PERFORM set_config('timezone', 'America/New_York', false);
END $$;
\set ECHO all
SELECT * FROM anew(false);
SELECT * FROM anew(true);

-- ---- ranks ----

\set ECHO none
RESET enable_indexscan;
RESET enable_indexonlyscan;

CREATE FUNCTION explain_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
END $$;
-- The place and the scan that begins there follow the same settings, at each execution.
CREATE FUNCTION ranks(is_ours boolean) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('gpubtree.enable_rank', is_ours::text, true);
	PERFORM set_config('enable_material', 'off', true);
	RETURN QUERY EXECUTE $q$SELECT zone || ' ' || v FROM
		(SELECT zone, turn_to(zone) AS turned FROM unnest(ARRAY['America/New_York', 'Asia/Tokyo', 'America/New_York', 'Asia/Tokyo']) zone OFFSET 0) z
		LEFT JOIN (SELECT v FROM visit WHERE at >= timestamp '2023-03-03' ORDER BY at OFFSET 1000 LIMIT 2) q ON v <> length(turned)$q$;
	PERFORM set_config('timezone', 'America/New_York', false);
END $$;
\set ECHO all
SELECT count(*) AS ours FROM explain_lines('SELECT v FROM visit WHERE at >= timestamp ''2023-03-03'' ORDER BY at OFFSET 1000 LIMIT 2') line
WHERE line LIKE '%GpubtreeRank%';
SELECT * FROM ranks(true);
SELECT * FROM ranks(false);

DROP TABLE visit, old_visit, day_visit, fall_back, expected;
DROP FUNCTION plain, rows_under_cursor, is_ours, compare, turn, lines, looped, turn_to, again, anew, explain_lines, ranks;
