--
-- Programs over timestamptz in time zones whose offset never changes, UTC above all, and in others.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;
SET datestyle = 'ISO, MDY';
SET timezone = 'UTC';

CREATE TABLE visit (k integer NOT NULL, at timestamptz, noted timestamp, day date, v integer);
INSERT INTO visit SELECT n, timestamptz '2024-02-27 UTC' + n * interval '74 minutes 22.246912 seconds',
		timestamp '2023-12-30' + n * interval '106 minutes', date '2023-12-30' + n / 14, n % 10
	FROM generate_series(1, 3000) n;
INSERT INTO visit VALUES (6001, NULL, NULL, NULL, 1), (6002, '0044-03-15 BC', '0044-03-15 BC', '0044-03-15 BC', 2),
	(6003, '1600-02-29 23:59:59.999999', '1600-02-29', '1600-02-29', 3), (6004, '99999-12-31 23:30', '99999-12-31', '99999-12-31', 4);
CREATE INDEX visit_k ON visit USING gpubtree (k) INCLUDE (at, noted, day, v);
CREATE INDEX visit_at ON visit USING gpubtree (at) INCLUDE (v);
VACUUM ANALYZE visit;

\i :abs_srcdir/sql/common/plan.sql
\i :abs_srcdir/sql/common/compare_nodes.sql
\set ECHO all

--
-- Filters and groups, in zones of fixed offset
--
SELECT * FROM plan('SELECT extract(hour FROM at) AS h, count(*) FROM visit WHERE k <= 6000 GROUP BY 1');
SELECT extract(dow FROM at) AS dow, count(*), sum(v), min(at) FROM visit WHERE k <= 6000 AND at::date >= '2024-03-01' GROUP BY 1 ORDER BY 1;
SET timezone = '<+0530>-05:30';
SELECT extract(dow FROM at) AS dow, count(*), sum(v), min(at) FROM visit WHERE k <= 6000 AND at::date >= '2024-03-01' GROUP BY 1 ORDER BY 1;
CREATE FUNCTION compare_in(zone text, query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('timezone', zone, false);
	RETURN compare(query);
END $$;
SELECT compare_in(zone, format('SELECT %s AS g, count(*), sum(v) FROM visit WHERE k > 10 GROUP BY 1', g)), count(*)
FROM unnest('{UTC,Etc/GMT+11,<+0530>-05:30,<-1201>+12:01}'::text[]) zone,
	unnest('{extract(hour FROM at),extract(minute FROM at),extract(second FROM at),extract(dow FROM at),extract(isodow FROM at),extract(doy FROM at),
		extract(day FROM at),extract(week FROM at),extract(month FROM at),extract(quarter FROM at),extract(year FROM at),extract(isoyear FROM at),
		"date_part(''hour'', at)",at::date,at::timestamp,noted::timestamptz,day::timestamptz,
		"date_trunc(''minute'', at)","date_trunc(''hour'', at)","date_trunc(''day'', at)","date_trunc(''week'', at)","date_trunc(''month'', at)",
		"date_trunc(''quarter'', at)","date_trunc(''year'', at)"}'::text[]) g
GROUP BY 1 ORDER BY 1;
SELECT compare_in(zone, format('SELECT count(*), sum(v), min(k), max(at) FROM visit WHERE k > 10 AND %s', f)), count(*)
FROM unnest('{UTC,Etc/GMT+11,<+0530>-05:30}'::text[]) zone,
	unnest('{extract(hour FROM at) BETWEEN 9 AND 16,extract(dow FROM at) IN (0\, 6),at::date = ''2024-03-05'',at::date > day,
		"date_trunc(''day'', at) = ''2024-03-05''","date_trunc(''month'', at) < noted::timestamptz",extract(month FROM at) = 3 OR v = 3}'::text[]) f
GROUP BY 1 ORDER BY 1;
SET timezone = 'UTC';
-- buckets with further groups, lists of rows, aggregates of ranges
SELECT compare('SELECT date_trunc(''hour'', at), extract(dow FROM at), sum(v) FROM visit WHERE at > ''2024-01-01'' AND at < ''2030-01-01'' GROUP BY 1, 2');
SELECT compare('SELECT k, at FROM visit WHERE k > 1500 AND extract(hour FROM at) = 5 AND extract(minute FROM at) < 3');
SELECT compare('SELECT count(*) FILTER (WHERE extract(hour FROM at) < 6), sum(v) FROM visit WHERE k > 100');
SELECT compare('SELECT a, (SELECT sum(v) FROM visit WHERE k > a AND extract(hour FROM at) < 6) FROM generate_series(0, 3000, 250) a');
SELECT compare('SELECT a, x.* FROM generate_series(0, 3000, 250) a, LATERAL (SELECT sum(v), max(at) FROM visit WHERE k > a AND at::date > ''2024-03-20'') x');

--
-- Zones whose offset changes: moments and local times about the changes, those that are skipped or
-- come twice included
--
CREATE TABLE change (k integer NOT NULL, at timestamptz, noted timestamp, day date, v integer);
INSERT INTO change SELECT row_number() OVER (), d + h * interval '30 minutes' - interval '0.000001 seconds' * (h % 3), d::timestamp + h * interval '30 minutes' - interval '0.000001 seconds' * (h % 3), d::date, h
	FROM (SELECT generate_series(timestamptz '1900-01-01 UTC', '2080-01-01 UTC', '1 day') AT TIME ZONE 'UTC' d) d, generate_series(0, 47) h
	WHERE extract(year FROM d) IN (1971, 1980, 1996, 2007, 2024, 2037, 2060) AND (extract(month FROM d) IN (3, 10) AND extract(day FROM d) > 23 OR extract(month FROM d) IN (4, 11) AND extract(day FROM d) < 8)
		OR d BETWEEN '2011-12-28' AND '2012-01-02' OR d BETWEEN '2014-10-25' AND '2014-10-27' OR d BETWEEN '1986-12-31' AND '1987-01-02' OR d BETWEEN '2018-05-03' AND '2018-05-06';
CREATE INDEX change_k ON change USING gpubtree (k) INCLUDE (at, noted, day, v);
VACUUM ANALYZE change;
SET timezone = 'Europe/Berlin';
SELECT * FROM plan('SELECT extract(hour FROM at) AS h, count(*) FROM visit WHERE k <= 6000 GROUP BY 1');
SELECT extract(dow FROM at) AS dow, count(*), sum(v), min(at) FROM visit WHERE k <= 6000 AND at::date >= '2024-03-01' GROUP BY 1 ORDER BY 1;
SELECT compare_in(zone, format('SELECT %s, count(*), sum(v) FROM change WHERE k > 10 GROUP BY %1$s', g)), array_agg(DISTINCT zone), count(*)
FROM unnest('{Europe/Berlin,America/New_York,Europe/Dublin,Australia/Lord_Howe,America/St_Johns,Pacific/Apia,Asia/Kathmandu,Europe/Moscow,Asia/Pyongyang,Africa/Casablanca,EST5EDT}'::text[]) zone,
	unnest('{"extract(hour FROM at), extract(minute FROM at), at::date","date_trunc(''day'', at), date_part(''dow'', at), at::timestamp","noted::timestamptz, day::timestamptz","date_trunc(''hour'', at), date_trunc(''minute'', at), date_trunc(''week'', at)",
		"date_trunc(''month'', at), date_trunc(''quarter'', at), date_trunc(''year'', at)"}'::text[]) g
GROUP BY 1 ORDER BY 1;
-- zones that the query names
SELECT compare_in(zone, format('SELECT %s, count(*), sum(v) FROM change WHERE k > 10 GROUP BY %1$s', replace(g, 'THERE', named))), array_agg(DISTINCT zone || ', ' || named), count(*)
FROM unnest('{UTC,Asia/Tokyo}'::text[]) zone, unnest('{Europe/Berlin,America/Chicago,est,+02:15}'::text[]) named,
	unnest('{"at AT TIME ZONE ''THERE'', noted AT TIME ZONE ''THERE''","date_trunc(''day'', at, ''THERE''), date_trunc(''hour'', at, ''THERE''), date_trunc(''second'', at, ''THERE'')","extract(hour FROM at AT TIME ZONE ''THERE''), date_trunc(''month'', at AT TIME ZONE ''THERE'') AT TIME ZONE ''THERE''",
		"(at AT TIME ZONE ''THERE'')::date, at::date"}'::text[]) g
GROUP BY 1 ORDER BY 1;
SELECT compare_in('Europe/Berlin', format('SELECT count(*), sum(v), min(k), max(at) FROM change WHERE k > 10 AND %s', f))
FROM unnest('{extract(hour FROM at) BETWEEN 9 AND 16,extract(dow FROM at) IN (0\, 6),at::date = ''2024-03-31'',at::date <> day,
		"date_trunc(''day'', at) = ''2024-03-31''","date_trunc(''month'', at) < noted::timestamptz",at AT TIME ZONE ''Europe/London'' <> noted,extract(month FROM at) = 3 OR v = 3}'::text[]) f;
SELECT compare_in(zone, format('SELECT k %% 97, count(*), sum(v) FROM change WHERE %s GROUP BY 1', f)), count(*)
FROM unnest('{UTC,Europe/Berlin,America/New_York}'::text[]) zone, unnest('{at >= noted,at = noted,at <> day,day < at,at >= timestamp ''2024-03-31 02:30'',at <= date ''2024-10-28'',at > timestamp ''infinity'' OR noted <= at,at > NULL::date OR v = 3}'::text[]) f
GROUP BY 1 ORDER BY 1;
SELECT compare('SELECT a, (SELECT sum(v) FROM change WHERE k > a AND extract(hour FROM at) < 6) FROM generate_series(0, 6000, 500) a');
SELECT compare('SELECT k, at FROM change WHERE k > 3000 AND extract(hour FROM at) = 2 AND at::date = ''2024-10-27''');
SELECT compare('SELECT date_trunc(''hour'', at), extract(dow FROM at), sum(v) FROM visit WHERE at > ''2024-01-01'' AND at < ''2030-01-01'' GROUP BY 1, 2');
-- more changes than there is room for: what lies beyond is left to ordinary plans; so is what is no zone
SELECT compare('SELECT extract(hour FROM at), count(*) FROM visit WHERE k > 10 GROUP BY 1');
SELECT compare('SELECT at AT TIME ZONE ''Europe/Paris'', at::date, count(*) FROM change WHERE k > 10 AND k < 500 GROUP BY 1, 2');
SELECT compare('SELECT at AT TIME ZONE ''Europe/Paris'', at::date, count(*) FROM change WHERE k > 3000 AND at BETWEEN ''2014-01-01'' AND ''2025-01-01'' GROUP BY 1, 2');
SELECT compare('SELECT at AT TIME ZONE ''msk'', count(*) FROM change WHERE k > 10 AND k < 500 GROUP BY 1');
SELECT count(*) FROM change WHERE k > 10 AND at AT TIME ZONE 'nowhere' > '2024-01-01';
DROP TABLE change;

--
-- What is left to ordinary plans: infinity, the ends of the range
--
SET timezone = 'Europe/Berlin';
SELECT compare('SELECT date_trunc(''second'', at) AS g, count(*) FROM visit WHERE k > 10 AND k < 100 GROUP BY 1');
SELECT compare('SELECT extract(epoch FROM at) AS g, count(*) FROM visit WHERE k > 10 AND k < 100 GROUP BY 1');
SET timezone = 'UTC';
INSERT INTO visit VALUES (7001, 'infinity', 'infinity', 'infinity', 5), (7002, '-infinity', '-infinity', '-infinity', 6);
SELECT compare('SELECT at::date, day::timestamptz, count(*) FROM visit WHERE k > 2990 GROUP BY 1, 2');
SELECT compare('SELECT date_trunc(''year'', at), count(*) FROM visit WHERE k > 2990 GROUP BY 1');
SELECT compare('SELECT extract(year FROM at), count(*) FROM visit WHERE k > 2990 GROUP BY 1');
DELETE FROM visit WHERE k > 7000;
INSERT INTO visit VALUES (7003, '294276-12-31 23:00 UTC', NULL, NULL, 5);
SELECT compare('SELECT at::date, date_trunc(''hour'', at), count(*) FROM visit WHERE k > 2990 GROUP BY 1, 2');
SET timezone = '<+0530>-05:30';
SELECT compare('SELECT at::date, date_trunc(''hour'', at), count(*) FROM visit WHERE k > 2990 GROUP BY 1, 2');
DELETE FROM visit WHERE k > 7000;

\set ECHO none
--
-- The zone is the session's when the plan runs, not when it was made
--
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET timezone = 'UTC';
PREPARE by_hour(integer) AS SELECT extract(hour FROM at) AS h, count(*), sum(v) FROM visit WHERE k <= $1 GROUP BY 1 ORDER BY 1 LIMIT 3;
PREPARE rows(integer) AS SELECT k, at FROM visit WHERE k <= $1 AND extract(hour FROM at) = 5 AND extract(minute FROM at) < 3 ORDER BY 1;
PREPARE joined(integer) AS SELECT x.k, t.at FROM visit x JOIN visit t ON t.k = x.k + 1 AND extract(hour FROM t.at) = 5 WHERE x.k <= $1 AND x.v = 3 ORDER BY 1;
PREPARE by_row(integer) AS SELECT a, (SELECT sum(v) FROM visit WHERE k <= a * 10 AND extract(hour FROM at) < 6) FROM generate_series(1, $1) a ORDER BY 1;
PREPARE buckets(integer) AS SELECT date_trunc('day', at) AS d, count(*) FROM visit WHERE at < '2024-03-02 UTC' AND extract(hour FROM at) < $1 GROUP BY 1 ORDER BY 1;
CREATE FUNCTION run(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Gpubtree|Gave Up|Index Filter' THEN
			RETURN NEXT regexp_replace(line, '^[ >-]*|\(actual.*', '', 'g');
		END IF;
	END LOOP;
END $$;
\set ECHO all
EXECUTE by_hour(100);
EXECUTE rows(300);
EXECUTE joined(200);
EXECUTE by_row(4);
EXECUTE buckets(7);
SELECT * FROM run('EXECUTE by_hour(100)');
SELECT * FROM run('EXECUTE rows(300)');
SELECT * FROM run('EXECUTE joined(200)');
SELECT * FROM run('EXECUTE by_row(4)');
SELECT * FROM run('EXECUTE buckets(7)');
SET timezone = 'Etc/GMT-5';
EXECUTE by_hour(100);
EXECUTE rows(300);
EXECUTE joined(200);
EXECUTE by_row(4);
EXECUTE buckets(7);
SET timezone = 'Europe/Berlin';
EXECUTE by_hour(100);
EXECUTE rows(300);
EXECUTE joined(200);
EXECUTE by_row(4);
EXECUTE buckets(7);
SELECT * FROM run('EXECUTE by_hour(100)');
SELECT * FROM run('EXECUTE rows(300)');
SELECT * FROM run('EXECUTE joined(200)');
SELECT * FROM run('EXECUTE by_row(4)');
SELECT * FROM run('EXECUTE buckets(7)');
-- the same without us
SET gpubtree.enabled = off;
DEALLOCATE ALL;
PREPARE by_hour(integer) AS SELECT extract(hour FROM at) AS h, count(*), sum(v) FROM visit WHERE k <= $1 GROUP BY 1 ORDER BY 1 LIMIT 3;
PREPARE rows(integer) AS SELECT k, at FROM visit WHERE k <= $1 AND extract(hour FROM at) = 5 AND extract(minute FROM at) < 3 ORDER BY 1;
PREPARE joined(integer) AS SELECT x.k, t.at FROM visit x JOIN visit t ON t.k = x.k + 1 AND extract(hour FROM t.at) = 5 WHERE x.k <= $1 AND x.v = 3 ORDER BY 1;
PREPARE by_row(integer) AS SELECT a, (SELECT sum(v) FROM visit WHERE k <= a * 10 AND extract(hour FROM at) < 6) FROM generate_series(1, $1) a ORDER BY 1;
PREPARE buckets(integer) AS SELECT date_trunc('day', at) AS d, count(*) FROM visit WHERE at < '2024-03-02 UTC' AND extract(hour FROM at) < $1 GROUP BY 1 ORDER BY 1;
EXECUTE by_hour(100);
EXECUTE rows(300);
EXECUTE joined(200);
EXECUTE by_row(4);
EXECUTE buckets(7);
RESET gpubtree.enabled;
DEALLOCATE ALL;

DROP TABLE visit;
DROP FUNCTION plan, is_ours, answer, plain_answer, compare, compare_in, run;
