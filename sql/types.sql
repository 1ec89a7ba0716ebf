--
-- Key types: extremes, infinities, constants of other types and beyond the key
-- type's range, NULLs, DESC and NULLS FIRST
--
-- compare(query) runs a query through the index and by a sequential scan, and returns
-- the common answer, or both if they differ.
--
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

CREATE FUNCTION run(query text, how text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM set_config('enable_seqscan', (how = 'seqscan')::text, true);
	PERFORM set_config('enable_sort', (how = 'seqscan')::text, true);
	PERFORM set_config('enable_indexscan', (how <> 'seqscan')::text, true);
	PERFORM set_config('enable_indexonlyscan', (how <> 'seqscan')::text, true);
	PERFORM set_config('enable_bitmapscan', 'off', true);
	EXECUTE format('SELECT string_agg(x::text, '' '') FROM (%s) q(x)', query) INTO answer;
	RETURN coalesce(answer, 'no rows');
END $$;
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text := run(query, 'index');
	theirs text := run(query, 'seqscan');
BEGIN
	IF ours <> theirs THEN
		RETURN format('DIFFERENT: %s, not %s', ours, theirs);
	END IF;
	RETURN ours;
END $$;

-- The same conditions for every operator and constant, forward and backward, on indexes
-- of each order; prints how many there were and those that went wrong.
CREATE FUNCTION compare_all(t text, constants text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	compared int := 0;
	wrong text := '';
	index_order text;
	operator text;
	constant text;
	direction text;
	query text;
BEGIN
	FOREACH index_order IN ARRAY ARRAY['', 'NULLS FIRST', 'DESC', 'DESC NULLS LAST'] LOOP
		EXECUTE format('CREATE INDEX %s_k ON %s USING gpubtree (k %s)', t, t, index_order);
		EXECUTE format('SELECT gpubtree_check(''%s_k'', true)', t);
		FOREACH operator IN ARRAY ARRAY['<', '<=', '=', '>=', '>'] LOOP
			FOREACH constant IN ARRAY constants LOOP
				FOREACH direction IN ARRAY ARRAY['ASC', 'DESC'] LOOP
					query := format('SELECT k FROM %s WHERE k %s %s ORDER BY k %s',
						t, operator, constant, direction);
					compared := compared + 1;
					IF compare(query) LIKE 'DIFFERENT%' THEN
						wrong := wrong || E'\n' || index_order || ': ' || query;
					END IF;
				END LOOP;
			END LOOP;
		END LOOP;
		FOREACH direction IN ARRAY ARRAY['', 'NULLS FIRST', 'DESC', 'DESC NULLS LAST'] LOOP
			FOREACH query IN ARRAY ARRAY['true', 'k IS NULL', 'k IS NOT NULL'] LOOP
				query := format('SELECT coalesce(k::text, ''null'') FROM %s WHERE %s ORDER BY k %s',
					t, query, direction);
				compared := compared + 1;
				IF compare(query) LIKE 'DIFFERENT%' THEN
					wrong := wrong || E'\n' || index_order || ': ' || query;
				END IF;
			END LOOP;
		END LOOP;
		EXECUTE format('DROP INDEX %s_k', t);
	END LOOP;
	RETURN format('%s compared%s', compared, wrong);
END $$;

-- int2
CREATE TABLE t_int2 (k int2);
INSERT INTO t_int2 VALUES (-32768), (-32767), (-1), (0), (0), (1), (32766), (32767),
	(NULL), (NULL);
\set ECHO all

SELECT compare_all('t_int2', ARRAY['(-32768)::int2', '0::int2', '32767::int2',
	'(-32769)', '(-32768)', '(-1)', '0', '1', '32767', '32768', '2147483647',
	'(-9223372036854775808)', '(-32768)::int8', '0::int8', '32768::int8',
	'9223372036854775807', 'NULL::int4']);

-- int4
CREATE TABLE t_int4 (k int4);
INSERT INTO t_int4 VALUES (-2147483648), (-2147483647), (-32769), (-1), (0), (0), (1),
	(32768), (2147483646), (2147483647), (NULL), (NULL);
SELECT compare_all('t_int4', ARRAY['(-2147483648)', '(-32768)::int2', '0', '0::int2',
	'32767::int2', '2147483647', '(-2147483649)::int8', '(-2147483648)::int8',
	'2147483647::int8', '2147483648', '(-9223372036854775808)',
	'9223372036854775807', 'NULL::int8']);

-- int8
CREATE TABLE t_int8 (k int8);
INSERT INTO t_int8 VALUES (-9223372036854775808), (-9223372036854775807), (-2147483649),
	(-1), (0), (0), (1), (4294967295), (4294967296), (9223372036854775806),
	(9223372036854775807), (NULL), (NULL);
SELECT compare_all('t_int8', ARRAY['(-9223372036854775808)', '(-2147483648)',
	'(-32768)::int2', '0::int2', '0', '0::int8', '2147483647', '4294967296',
	'9223372036854775806', '9223372036854775807', 'NULL::int2']);

-- date
CREATE TABLE t_date (k date);
INSERT INTO t_date VALUES ('-infinity'), ('4714-11-24 BC'), ('1999-12-31'), ('2000-01-01'),
	('2000-01-01'), ('2000-01-02'), ('294276-12-31'), ('294277-01-01'),
	('5874897-12-31'), ('infinity'), (NULL), (NULL);
SELECT compare_all('t_date', ARRAY['date ''-infinity''', 'date ''infinity''',
	'date ''4714-11-24 BC''', 'date ''5874897-12-31''', 'date ''2000-01-01''',
	'timestamp ''2000-01-01''', 'timestamp ''2000-01-01 00:00:00.000001''',
	'timestamp ''1999-12-31 23:59:59.999999''', 'timestamp ''-infinity''',
	'timestamp ''infinity''', 'timestamp ''294276-12-31 23:59:59.999999''',
	'timestamp ''4714-11-24 BC''', 'timestamptz ''2000-01-01 00:00+00''',
	'timestamptz ''2000-01-01 05:00+00''', 'timestamptz ''-infinity''',
	'timestamptz ''infinity''', 'timestamptz ''294276-12-31 23:59:59.999999+00''',
	'NULL::timestamp']);
SET timezone = 'America/New_York';
SELECT compare_all('t_date', ARRAY['timestamptz ''2000-01-01 00:00+00''',
	'timestamptz ''2000-01-01 05:00+00''', 'timestamptz ''2000-01-01 05:00:00.000001+00''',
	'timestamptz ''1999-12-31 23:59+00''', 'timestamptz ''infinity''']);
SET timezone = 'UTC';

-- timestamp
CREATE TABLE t_timestamp (k timestamp);
INSERT INTO t_timestamp VALUES ('-infinity'), ('4714-11-24 00:00:00 BC'),
	('1999-12-31 23:59:59.999999'), ('2000-01-01'), ('2000-01-01'),
	('2000-01-01 00:00:00.000001'), ('2000-01-02'), ('294276-12-31 23:59:59.999999'),
	('infinity'), (NULL), (NULL);
SELECT compare_all('t_timestamp', ARRAY['timestamp ''-infinity''', 'timestamp ''infinity''',
	'timestamp ''2000-01-01''', 'timestamp ''294276-12-31 23:59:59.999999''',
	'date ''2000-01-01''', 'date ''2000-01-02''', 'date ''-infinity''', 'date ''infinity''',
	'date ''294276-12-31''', 'date ''294277-01-01''', 'date ''5874897-12-31''',
	'date ''4714-11-24 BC''', 'timestamptz ''2000-01-01 00:00+00''',
	'timestamptz ''-infinity''', 'timestamptz ''infinity''', 'NULL::date']);

-- timestamptz
CREATE TABLE t_timestamptz (k timestamptz);
INSERT INTO t_timestamptz VALUES ('-infinity'), ('4714-11-24 00:00:00+00 BC'),
	('1999-12-31 23:59:59.999999+00'), ('2000-01-01+00'), ('2000-01-01+00'),
	('2000-01-01 05:00+00'), ('2000-01-02+00'), ('294276-12-31 23:59:59.999999+00'),
	('infinity'), (NULL), (NULL);
SELECT compare_all('t_timestamptz', ARRAY['timestamptz ''-infinity''',
	'timestamptz ''infinity''', 'timestamptz ''2000-01-01+00''',
	'timestamptz ''294276-12-31 23:59:59.999999+00''', 'date ''2000-01-01''',
	'date ''-infinity''', 'date ''infinity''', 'date ''5874897-12-31''',
	'timestamp ''2000-01-01''', 'timestamp ''-infinity''', 'timestamp ''infinity''',
	'NULL::timestamp']);
SET timezone = 'America/New_York';
SELECT compare_all('t_timestamptz', ARRAY['date ''2000-01-01''', 'date ''2000-01-02''',
	'timestamp ''2000-01-01''', 'timestamp ''1999-12-31 19:00''', 'timestamp ''infinity''']);
SET timezone = 'UTC';

-- a few answers in full
CREATE INDEX ON t_int2 USING gpubtree (k);
CREATE INDEX ON t_date USING gpubtree (k DESC);
CREATE INDEX ON t_timestamptz USING gpubtree (k NULLS FIRST);
SELECT compare('SELECT k FROM t_int2 WHERE k > 100000');
SELECT compare('SELECT k FROM t_int2 WHERE k < 100000 ORDER BY k DESC');
SELECT compare('SELECT k FROM t_int2 WHERE k = ANY (ARRAY[0, 70000, 32767, 0, NULL]) ORDER BY k');
SELECT compare('SELECT k FROM t_int2 WHERE k = ANY (ARRAY[]::int8[]) ORDER BY k');
SELECT compare('SELECT k FROM t_int2 WHERE k <= ANY (ARRAY[-1, -32768]) ORDER BY k');
SELECT compare('SELECT k FROM t_date WHERE k > timestamp ''294276-12-31 12:00'' ORDER BY k');
SELECT compare('SELECT coalesce(k::text, ''null'') FROM t_date ORDER BY k DESC');
SELECT compare('SELECT coalesce(k::text, ''null'') FROM t_timestamptz ORDER BY k NULLS FIRST');
SELECT compare('SELECT min(k) FROM t_date');
SELECT compare('SELECT max(k) FROM t_int2 WHERE k < 32767');

-- gpb_base_type() takes no type of pg_type.dat for a domain
SELECT count(*) FROM pg_type WHERE typtype = 'd' AND oid < 10000;

-- constants known only when the query runs
PREPARE after(int8) AS SELECT k FROM t_int2 WHERE k > $1 ORDER BY k;
SET plan_cache_mode = force_generic_plan;
EXECUTE after(1);
EXECUTE after(9223372036854775807);
EXECUTE after(-9223372036854775808);
EXECUTE after(NULL);
RESET plan_cache_mode;

DROP TABLE t_int2, t_int4, t_int8, t_date, t_timestamp, t_timestamptz;
DROP FUNCTION compare_all, compare, run;
