--
-- Aggregates over each of many ranges: the plans, the answers, and what is left to ordinary plans.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;
-- groups come sorted here; join_programs.sql has them hashed
SET enable_hashagg = off;
SET timezone = 'UTC';

CREATE TABLE readings (at timestamptz, value integer, amount bigint, note text);
INSERT INTO readings SELECT CASE WHEN n % 50 <> 0 THEN timestamptz '2024-03-01 00:00+00' + n * interval '1 minute' END,
		nullif(n % 100, 7), n * 1000000000000, 'reading ' || n
	FROM generate_series(1, 10000) n;
CREATE INDEX readings_at ON readings USING gpubtree (at) INCLUDE (value, amount);
-- 1: nothing in it; 2: the bounds are the wrong way round; 3, 4: a bound is NULL; 5: all; then an hour each
CREATE TABLE shifts (id integer PRIMARY KEY, begins timestamptz, ends timestamptz, day date, crew integer, place text);
INSERT INTO shifts VALUES (1, '2020-01-01', '2020-02-01', '2020-01-01', 1, 'north'), (2, '2024-03-05', '2024-03-01', NULL, 1, NULL),
	(3, NULL, '2024-03-05', '2024-03-03', 2, NULL), (4, '2024-03-01', NULL, NULL, NULL, 'south'),
	(5, '-infinity', 'infinity', '-infinity', NULL, NULL);
INSERT INTO shifts SELECT 5 + n, timestamptz '2024-03-01 00:00+00' + n * interval '40 minutes',
		timestamptz '2024-03-01 00:00+00' + n * interval '40 minutes' + interval '1 hour', date '2024-03-01' + n % 9, n % 4,
		CASE n % 3 WHEN 0 THEN 'north' WHEN 1 THEN 'south' END
	FROM generate_series(1, 300) n;
VACUUM ANALYZE readings;
VACUUM ANALYZE shifts;

-- The tables are small: price core's joins out, so that ours is used wherever it can be.
SELECT set_config(name, 'off', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop,gpubtree.enable_batchjoin}'::text[]) name \g /dev/null

SET compare.node = 'GpubtreeRangeAggregate';
SET compare.order_by = ' ORDER BY q::text';
SET compare.uncounted = 'Engine|Leaves|Fallbacks|Blocks|Memory';
\i :abs_srcdir/sql/common/compare_rows.sql
\i :abs_srcdir/sql/common/counts.sql
ALTER FUNCTION plain_answer SET enable_hashjoin = on SET enable_nestloop = on;
\set ECHO all

--
-- Plans: one group for each outer row, needing no order; groups of several, sorted; one that is sorted already
--
EXPLAIN (COSTS OFF) SELECT s.id, s.place, count(*), sum(r.value) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends GROUP BY s.id;
EXPLAIN (COSTS OFF) SELECT s.crew, s.place, count(*), avg(r.amount) FROM shifts s LEFT JOIN readings r ON r.at BETWEEN s.begins AND s.ends
	GROUP BY s.crew, s.place HAVING count(*) > 10 ORDER BY s.crew, s.place;
EXPLAIN (COSTS OFF) SELECT s.id / 10, max(r.at) FROM shifts s JOIN readings r ON s.day <= r.at AND s.day + 1 > r.at AND r.at < '2024-03-04' GROUP BY 1;
EXPLAIN (COSTS OFF, VERBOSE) SELECT s.begins, count(*) FROM shifts s JOIN readings r ON r.at = s.begins GROUP BY s.begins;
CREATE INDEX shifts_crew ON shifts (crew, place);
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT s.crew, count(r.at) FROM shifts s JOIN readings r ON r.at > s.begins GROUP BY s.crew;
\set ECHO none
RESET enable_sort;
DROP INDEX shifts_crew;
\set ECHO all
SELECT * FROM counts('SELECT s.id, count(*), sum(r.value) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends GROUP BY s.id HAVING sum(r.value) > 3000');
SELECT * FROM counts('SELECT s.place, count(*) FROM shifts s LEFT JOIN readings r ON r.at = s.begins GROUP BY s.place');
\set ECHO none
-- the same in other formats
CREATE FUNCTION keys(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN QUERY SELECT key || CASE WHEN json_typeof(value) = 'number' OR key IN ('Engine') THEN '' ELSE ': ' || value END
		FROM json_each(plan->0->'Plan') WHERE key NOT IN ('Plans');
END $$;
\set ECHO all
SELECT * FROM keys('SELECT s.crew, count(*), sum(r.value) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends GROUP BY s.crew');

--
-- Answers
--
-- what a row without an entry comes to
SELECT s.id, count(*), count(r.at) AS found, sum(r.value), min(r.at), max(r.amount) FROM shifts s LEFT JOIN readings r ON r.at >= s.begins AND r.at < s.ends
	GROUP BY s.id ORDER BY s.id LIMIT 7;
SELECT s.id, count(*) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends GROUP BY s.id ORDER BY s.id LIMIT 3;
SELECT s.place, count(*), count(r.at) AS found, sum(r.value), avg(r.amount) FROM shifts s LEFT JOIN readings r ON r.at >= s.begins AND r.at < s.ends
	GROUP BY s.place ORDER BY s.place;

SELECT compare(query) FROM unnest(ARRAY[
	'SELECT s.id, count(*), sum(r.value), avg(r.amount), min(r.at), max(r.at) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends GROUP BY s.id',
	'SELECT s.id, count(*), sum(r.value), avg(r.amount), min(r.at), max(r.at) FROM shifts s LEFT JOIN readings r ON r.at >= s.begins AND r.at < s.ends GROUP BY s.id',
	'SELECT s.crew, s.place, count(*), sum(r.value) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends GROUP BY s.crew, s.place',
	'SELECT s.crew, s.place, count(*), sum(r.value) FROM shifts s LEFT JOIN readings r ON r.at > s.begins AND r.at <= s.ends GROUP BY s.crew, s.place',
	-- other types, one side alone, equality, conditions on the table alone
	'SELECT s.day, count(*) FROM shifts s LEFT JOIN readings r ON r.at >= s.day AND r.at < s.day + 1 GROUP BY s.day',
	'SELECT s.crew, count(*) FROM shifts s JOIN readings r ON s.ends < r.at GROUP BY s.crew',
	'SELECT s.crew, count(*), sum(r.amount) FROM shifts s JOIN readings r ON r.at = s.begins GROUP BY s.crew',
	'SELECT s.id, count(*), sum(r.amount) FROM shifts s LEFT JOIN readings r ON r.at = s.begins GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s LEFT JOIN readings r ON r.at > s.begins AND r.at < ''2024-03-02'' AND r.at IS NOT NULL GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s JOIN readings r ON r.at > s.begins WHERE r.at < now() GROUP BY s.id',
	-- the outer side is a join, a function, a subquery
	'SELECT s.place, count(*), sum(r.value) FROM shifts s JOIN shifts o ON o.id = s.id + 1 JOIN readings r ON r.at >= s.begins AND r.at < o.ends GROUP BY s.place',
	'SELECT s.place, o.crew, count(*) FROM shifts s LEFT JOIN shifts o ON o.id = s.id + 200 LEFT JOIN readings r ON r.at >= o.begins AND r.at < o.ends GROUP BY s.place, o.crew',
	'SELECT h, count(*), sum(r.value) FROM generate_series(timestamptz ''2024-03-01'', ''2024-03-09'', ''1 hour'') h LEFT JOIN readings r ON r.at >= h AND r.at < h + interval ''1 hour'' GROUP BY h',
	'SELECT x.place, count(*) FROM (SELECT place, min(begins) AS b FROM shifts GROUP BY place) x JOIN readings r ON r.at > x.b GROUP BY x.place',
	'SELECT s.id, count(*) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends WHERE EXISTS (SELECT 1 FROM shifts o WHERE o.crew = s.crew AND o.id < s.id) GROUP BY s.id',
	'SELECT s.id % 7, lower(s.place), count(*) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends GROUP BY s.id % 7, lower(s.place)',
	-- above the groups
	'SELECT s.crew, count(*), rank() OVER (ORDER BY count(*) DESC) FROM shifts s JOIN readings r ON r.at > s.begins GROUP BY s.crew',
	'SELECT s.crew + 1, sum(r.value) * 2 FROM shifts s LEFT JOIN readings r ON r.at > s.begins GROUP BY s.crew HAVING s.crew IS NULL OR count(*) > (SELECT count(*) FROM shifts)',
	'SELECT DISTINCT count(*) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends GROUP BY s.id',
	'SELECT o, x.* FROM generate_series(0, 3) o CROSS JOIN LATERAL (SELECT s.place, count(*) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends + o * interval ''1 hour'' WHERE s.crew = o GROUP BY s.place) x'
]) query;

\set ECHO none
-- groups that go on over many batches, and values of the first row that are not passed by value
SET work_mem = '64kB';
CREATE TABLE slots (id integer, name text, lo integer, hi bigint);
INSERT INTO slots SELECT n, 'slot ' || n / 3000, n, n + 10 FROM generate_series(1, 9000) n;
CREATE TABLE numbers (k integer, v smallint);
INSERT INTO numbers SELECT n, n % 10 FROM generate_series(1, 20000) n;
CREATE INDEX numbers_k ON numbers USING gpubtree (k DESC) INCLUDE (v);
VACUUM ANALYZE numbers;
VACUUM ANALYZE slots;
\set ECHO all
SELECT s.name, count(*), sum(n.v) FROM slots s JOIN numbers n ON n.k BETWEEN s.lo AND s.hi GROUP BY s.name;
SELECT compare(query) FROM unnest(ARRAY[
	'SELECT s.name, count(*), sum(n.v), max(n.k) FROM slots s JOIN numbers n ON n.k BETWEEN s.lo AND s.hi GROUP BY s.name',
	-- the table is the nullable side of the last of two outer joins
	'SELECT s.id, count(*) FROM shifts s LEFT JOIN readings r ON r.at = s.begins LEFT JOIN numbers n ON n.k = r.value GROUP BY s.id',
	'SELECT s.id, s.name, count(*), sum(n.v), max(n.k) FROM slots s LEFT JOIN numbers n ON n.k > s.hi AND n.k < s.lo + 20 GROUP BY s.id, s.name']) query;
RESET work_mem;

--
-- A parameter in the conditions
--
SET plan_cache_mode = force_generic_plan;
PREPARE by_crew (timestamptz, integer) AS SELECT s.crew, count(*), sum(r.value) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.at < s.ends AND r.at < $1
	WHERE s.id > $2 GROUP BY s.crew ORDER BY s.crew;
EXPLAIN (COSTS OFF) EXECUTE by_crew ('2024-03-05', 10);
EXECUTE by_crew ('2024-03-05', 10);
EXECUTE by_crew ('2024-03-03', 100);
EXECUTE by_crew (NULL, 10);
-- the plan is made anew when the index goes
DROP INDEX readings_at;
EXECUTE by_crew ('2024-03-05', 10);
CREATE INDEX readings_at ON readings USING gpubtree (at) INCLUDE (value, amount);
EXPLAIN (COSTS OFF) EXECUTE by_crew ('2024-03-05', 10);
RESET plan_cache_mode;

--
-- Unique groups: rows with NULL in a unique column are one group
--
CREATE TABLE marks (id integer UNIQUE, lo integer);
INSERT INTO marks SELECT nullif(n % 12, 0) + n, n FROM generate_series(1, 60) n WHERE n % 12 IN (0, 1);
ANALYZE marks;
SELECT compare('SELECT m.id, count(*) FROM marks m JOIN numbers n ON n.k >= m.lo GROUP BY m.id');
ALTER TABLE marks ADD other integer NOT NULL DEFAULT 0;
UPDATE marks SET other = lo;
CREATE UNIQUE INDEX marks_other ON marks (other);
EXPLAIN (COSTS OFF) SELECT m.other, count(*) FROM marks m JOIN numbers n ON n.k >= m.lo GROUP BY m.other;
DROP INDEX marks_other;
CREATE UNIQUE INDEX marks_other ON marks (other) WHERE id IS NOT NULL;
EXPLAIN (COSTS OFF) SELECT m.other, count(*) FROM marks m JOIN numbers n ON n.k >= m.lo GROUP BY m.other;
EXPLAIN (COSTS OFF) SELECT m.other, count(*) FROM marks m JOIN numbers n ON n.k >= m.lo WHERE m.id IS NOT NULL GROUP BY m.other;

--
-- Partial indexes, views, policies
--
CREATE INDEX numbers_part ON numbers USING gpubtree (k) INCLUDE (v) WHERE v < 5;
EXPLAIN (COSTS OFF) SELECT s.name, count(*) FROM slots s JOIN numbers n ON n.k = s.lo WHERE n.v < 5 GROUP BY s.name;
SELECT compare('SELECT s.name, count(*), sum(n.v) FROM slots s LEFT JOIN numbers n ON n.k = s.lo AND n.v < 5 GROUP BY s.name');
DROP INDEX numbers_part;
CREATE ROLE range_reader;
GRANT SELECT ON slots, numbers TO range_reader;
ALTER TABLE numbers ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON numbers USING (k < 5000);
SET ROLE range_reader;
EXPLAIN (COSTS OFF) SELECT s.name, count(*) FROM slots s JOIN numbers n ON n.k >= s.lo AND n.k < s.hi GROUP BY s.name;
SELECT s.name, count(*) FROM slots s JOIN numbers n ON n.k >= s.lo AND n.k < s.hi GROUP BY s.name ORDER BY s.name;
RESET ROLE;
REVOKE SELECT ON numbers FROM range_reader;
SET ROLE range_reader;
SELECT s.name, count(*) FROM slots s JOIN numbers n ON n.k >= s.lo AND n.k < s.hi GROUP BY s.name;
RESET ROLE;
ALTER TABLE numbers DISABLE ROW LEVEL SECURITY;

\set ECHO none
--
-- What is left to ordinary plans, whose answers are compared where a join of every row with every
-- other has fewer rows
--
CREATE TABLE few_shifts AS SELECT * FROM shifts WHERE id <= 10;
SELECT query FROM unnest(ARRAY[
	-- grouped by, or computed from, the table itself
	'SELECT r.value, count(*) FROM shifts s JOIN readings r ON r.at >= s.begins GROUP BY r.value',
	'SELECT s.id, sum(s.crew) FROM shifts s JOIN readings r ON r.at >= s.begins GROUP BY s.id',
	'SELECT s.id, max(r.note) FROM shifts s JOIN readings r ON r.at >= s.begins GROUP BY s.id',
	'SELECT s.id, count(DISTINCT r.value) FROM shifts s JOIN readings r ON r.at >= s.begins GROUP BY s.id',
	'SELECT s.id, sum(r.value + s.id) FROM shifts s JOIN readings r ON r.at >= s.begins GROUP BY s.id',
	'SELECT s.crew + 1, sum(r.value) * 2 FROM shifts s LEFT JOIN readings r ON r.at > s.begins GROUP BY s.crew HAVING min(s.crew) IS NULL OR count(*) > 5',
	-- clauses that are no range of the key
	'SELECT s.id, count(*) FROM shifts s JOIN readings r ON r.at >= s.begins AND r.value > s.crew GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s JOIN readings r ON r.at >= s.begins OR r.at < s.ends GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s JOIN readings r ON r.at <> s.begins GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s JOIN readings r ON r.at >= s.begins + random() * interval ''1 s'' GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s CROSS JOIN readings r GROUP BY s.id',
	-- what is tested after the outer join, and other kinds of joins
	'SELECT s.id, count(*) FROM shifts s LEFT JOIN readings r ON r.at = s.begins WHERE r.at IS NULL GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s LEFT JOIN readings r ON r.at = s.begins WHERE coalesce(r.value, 1) = 1 GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s LEFT JOIN readings r ON r.at = s.begins WHERE coalesce(r.value, 1) = coalesce(r.amount, 1) GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s LEFT JOIN readings r ON r.at = s.begins WHERE (r.value IS NULL) = (r.amount IS NULL) GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s LEFT JOIN readings r ON r.at = s.begins AND s.crew = 1 GROUP BY s.id',
	'SELECT s.id, count(*) FROM shifts s LEFT JOIN (readings r JOIN numbers n ON n.k = r.value) ON r.at = s.begins GROUP BY s.id',
	'SELECT s.id, count(*) FROM readings r LEFT JOIN shifts s ON r.at = s.begins GROUP BY s.id',
	'SELECT s.crew, count(*) FROM shifts s FULL JOIN readings r ON r.at = s.begins GROUP BY s.crew',
	-- several groupings
	'SELECT s.crew, s.place, count(*) FROM shifts s JOIN readings r ON r.at >= s.begins GROUP BY CUBE (s.crew, s.place)'
]) query WHERE is_ours(query) OR compare(replace(query, 'shifts', 'few_shifts')) NOT LIKE 'ordinary plan%';
-- the left side is of an outer join, which may have made NULL what an expression is compared with
SELECT compare(replace(q, 'joined', '(SELECT n.k, y.since FROM generate_series(1, 20) n (k) LEFT JOIN (SELECT id, coalesce(begins, ''2024-03-02'') AS since FROM shifts) y ON y.id = n.k) o'))
FROM unnest(ARRAY[
	'SELECT o.since, count(*), sum(r.value) FROM joined LEFT JOIN readings r ON r.at >= o.since AND r.at < o.since + interval ''1 hour'' GROUP BY o.since',
	'SELECT o.k, count(*), sum(r.value) FROM joined LEFT JOIN readings r ON r.at = o.since GROUP BY o.k',
	'SELECT count(*), sum(r.value) FROM joined LEFT JOIN readings r ON r.at = o.since']) q;
SET gpubtree.enable_rangeaggregate = off;
\set ECHO all
SELECT is_ours('SELECT s.id, count(*) FROM shifts s JOIN readings r ON r.at >= s.begins GROUP BY s.id');
RESET gpubtree.enable_rangeaggregate;

-- one outer row: core's join is cheaper
SELECT set_config(name, 'on', false) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name;
SELECT is_ours('SELECT s.id, count(*) FROM shifts s JOIN numbers n ON n.k = s.id WHERE s.id = 17 GROUP BY s.id') AS one_row,
	is_ours('SELECT s.id, count(*) FROM slots s JOIN numbers n ON n.k >= s.lo AND n.k < s.hi GROUP BY s.id') AS many_rows;

DROP TABLE readings, shifts, few_shifts, slots, numbers, marks;
DROP ROLE range_reader;
DROP FUNCTION plan, is_ours, answer, plain_answer, compare, counts, keys;
