--
-- percentile_disc of many fractions: the entries are read a few times, however many fractions there are.
-- Nothing printed here depends on the device.
--
SET client_min_messages = warning;

-- keys that are all different, few keys with many rows, and keys of both kinds in a descending index, some of them dead or changed
CREATE TABLE wide (k bigint NOT NULL, v integer);
INSERT INTO wide SELECT (i * 7919::bigint) % 1000003, i FROM generate_series(1, 60000) i;
CREATE INDEX wide_k ON wide USING gpubtree (k) INCLUDE (v);
CREATE TABLE narrow (k timestamptz, v integer);
INSERT INTO narrow SELECT timestamptz '2020-01-01 UTC' + i % 7 * interval '1 day', i FROM generate_series(1, 30000) i;
CREATE INDEX narrow_k ON narrow USING gpubtree (k);
CREATE TABLE mixed (k integer NOT NULL, v integer);
INSERT INTO mixed SELECT CASE WHEN i % 3 = 0 THEN 500 ELSE i END, i FROM generate_series(1, 30000) i;
CREATE INDEX mixed_k ON mixed USING gpubtree (k DESC) INCLUDE (v);
DELETE FROM mixed WHERE v % 11 = 0;
VACUUM ANALYZE wide, narrow, mixed;
UPDATE mixed SET k = k + 1 WHERE v % 5 = 0;
DELETE FROM mixed WHERE v BETWEEN 12000 AND 14000;

SET compare.node = 'GpubtreePercentile';
\i :abs_srcdir/sql/common/compare_rows.sql

SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET gpubtree.setup_cost = 0;

SELECT source, fractions, direction, compare(format('SELECT percentile_disc(%s) WITHIN GROUP (ORDER BY k %s) FROM %s', fractions, direction, source))
FROM unnest(ARRAY['wide', 'narrow WHERE k IS NOT NULL', 'mixed', 'wide WHERE k BETWEEN 1000 AND 500000', 'wide WHERE k < 0']) source,
	unnest(ARRAY['ARRAY(SELECT i / 20000.0 FROM generate_series(0, 20000) i)', 'ARRAY(SELECT i / 9e6 FROM generate_series(3000, 0, -1) i)',
		'ARRAY(SELECT CASE WHEN i % 3 > 0 THEN (i * 7919 % 1000) / 1000.0 END FROM generate_series(1, 2000) i)']) fractions,
	unnest(ARRAY['', 'DESC']) direction
ORDER BY source COLLATE "C", fractions COLLATE "C", direction COLLATE "C";
\set ECHO all
-- all percentiles of a query are found together
SELECT compare('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k), percentile_disc(ARRAY[[0.1, NULL], [1, 0]]) WITHIN GROUP (ORDER BY k DESC),
	percentile_disc(NULL::float8) WITHIN GROUP (ORDER BY k), percentile_disc(''{}''::float8[]) WITHIN GROUP (ORDER BY k),
	percentile_disc(0.25) WITHIN GROUP (ORDER BY k DESC), count(*), sum(v) FROM mixed WHERE k > 40');
-- a row that HAVING rejects, and a row for each empty grouping set, are another node's
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM mixed HAVING count(*) > 1000000;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM mixed GROUP BY GROUPING SETS ((), ());
-- errors are those of the first that has one
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k), percentile_disc(ARRAY[0.1, 3, 4]) WITHIN GROUP (ORDER BY k), percentile_disc(2) WITHIN GROUP (ORDER BY k) FROM mixed;

-- ---- how often entries are read ----

\set ECHO none
-- Scans of the index, and entries read for each row of the table
CREATE FUNCTION work(fractions integer, source regclass, index_name regclass) RETURNS TABLE (few_scans boolean, reads numeric) LANGUAGE plpgsql AS $$
DECLARE
	scans bigint := pg_stat_get_xact_numscans(index_name);
	entries bigint := pg_stat_get_xact_tuples_returned(index_name);
	n bigint;
BEGIN
	EXECUTE format('SELECT md5(q::text) FROM (SELECT percentile_disc(ARRAY(SELECT i / %s.0 FROM generate_series(0, %s) i)) WITHIN GROUP (ORDER BY k), count(*) FROM %s) q',
		fractions, fractions, source);
	EXECUTE format('SELECT count(*) FROM %s', source) INTO n;
	few_scans := pg_stat_get_xact_numscans(index_name) - scans <= 8;
	reads := ceil((pg_stat_get_xact_tuples_returned(index_name) - entries)::numeric / n);
	RETURN NEXT;
END $$;
\set ECHO all
SELECT fractions, w.few_scans, w.reads <= 4 AS few_reads FROM unnest(ARRAY[1, 30, 1000, 20000]) fractions, work(fractions, 'wide', 'wide_k') w;
SELECT fractions, w.few_scans, w.reads <= 4 AS few_reads FROM unnest(ARRAY[1, 30, 1000, 20000]) fractions, work(fractions, 'mixed', 'mixed_k') w;

DROP TABLE wide, narrow, mixed;
DROP FUNCTION plan, is_ours, answer, plain_answer, compare, work;
