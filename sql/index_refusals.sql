-- Indexes and constraints that PostgreSQL refuses since there is no operator class: why, and what to use.

CREATE DOMAIN title AS text;
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN feeling AS mood;
CREATE TABLE r (k integer, t text, v varchar(10), c char(3), b bytea, i interval, a inet, n cidr, j jsonb,
	l integer[], p point, ti title, m mood, f feeling);
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n', SQLSTATE || ' ' || message, NULLIF(detail, ''), NULLIF(hint, ''));
END
$$;
\set ECHO all

-- Columns, and domains
SELECT refusal(format('CREATE INDEX ON r USING gpubtree (%I)', attname)) FROM pg_attribute
WHERE attrelid = 'r'::regclass AND attnum > 1 ORDER BY attnum;
-- The first column that has none; expressions; a predicate, INCLUDE, order
SELECT refusal(statement) FROM (VALUES
	('CREATE INDEX ON r USING gpubtree (k, m, t)'),
	('CREATE INDEX ON r USING gpubtree (lower(t))'),
	('CREATE INDEX ON r USING gpubtree ((k + 1), i)'),
	('CREATE INDEX ON r USING gpubtree ((i * 2))'),
	('CREATE INDEX ON r USING gpubtree ((j -> ''a''))'),
	('CREATE INDEX IF NOT EXISTS r_t ON ONLY public.r USING gpubtree (t COLLATE "C" DESC NULLS LAST) INCLUDE (k) '
	 'WITH (fillfactor = 80) WHERE k > 3')) s (statement);
-- Operator classes by name
SELECT refusal(statement) FROM (VALUES
	('CREATE INDEX ON r USING gpubtree (t text_ops)'),
	('CREATE INDEX ON r USING gpubtree (m public.no_such_ops)'),
	('CREATE INDEX ON r USING gpubtree (k no_such_ops)'),
	('CREATE INDEX ON r USING gpubtree (lower(t) text_ops)'),
	('CREATE INDEX ON r USING gpubtree (t int4_ops)')) s (statement);
-- Constraints
SELECT refusal(statement) FROM (VALUES
	('ALTER TABLE r ADD EXCLUDE USING gpubtree (t WITH =)'),
	('ALTER TABLE r ADD x integer, ADD EXCLUDE USING gpubtree (k WITH =), ADD EXCLUDE USING gpubtree (lower(t) WITH =)'),
	('ALTER TABLE r ADD EXCLUDE USING gpubtree (k no_such_ops WITH =)'),
	('CREATE TABLE s (a inet, EXCLUDE USING gpubtree (a WITH =))'),
	('CREATE TABLE s (a integer, EXCLUDE USING gpubtree (a WITH <>))')) s (statement);
-- What is none of ours
SELECT refusal(statement) FROM (VALUES
	('CREATE INDEX ON r USING btree (p)'),
	('CREATE INDEX ON r USING gpubtree (nothing)'),
	('CREATE INDEX ON nothing USING gpubtree (t)'),
	('CREATE INDEX ON nowhere.r USING gpubtree (t)'),
	('ALTER TABLE r ADD EXCLUDE USING gist (j WITH =)'),
	('ALTER TABLE r ADD EXCLUDE USING gist (j WITH =), ADD EXCLUDE USING gpubtree (t WITH =)'),
	('ALTER TABLE r ADD CHECK (k > 0), ALTER k SET NOT NULL')) s (statement);
CREATE INDEX CONCURRENTLY r_t ON r USING gpubtree (t);
-- Partitioned tables
CREATE TABLE parts (k integer, t text) PARTITION BY RANGE (k);
CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE INDEX ON parts USING gpubtree (t);
CREATE INDEX ON ONLY parts USING gpubtree (t);
CREATE INDEX ON parts USING gpubtree (k) INCLUDE (t);

-- A class of somebody else's making is used, and a default one is found.
CREATE OPERATOR CLASS lame_ops FOR TYPE text USING gpubtree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 bttextcmp(text, text);
SELECT refusal('CREATE INDEX ON r USING gpubtree (t lame_ops)');
SELECT refusal('CREATE INDEX ON r USING gpubtree (t)');
CREATE OPERATOR CLASS default_ops DEFAULT FOR TYPE text USING gpubtree FAMILY lame_ops AS STORAGE text;
SELECT refusal('CREATE INDEX ON r USING gpubtree (t)');
-- (from 17 on CREATE INDEX names types with their schema)
SELECT replace(refusal('CREATE INDEX ON r USING gpubtree (ti)'), 'type public.', 'type ');
DROP OPERATOR FAMILY lame_ops USING gpubtree;

-- What the hints say can be done
CREATE INDEX ON r USING gpubtree (k) INCLUDE (t, v, c, b, i, ti, m, f);
CREATE TABLE s (k integer, a inet, EXCLUDE USING btree (a WITH =));

DROP TABLE r, s, parts;
DROP FUNCTION refusal;
DROP DOMAIN title, feeling;
DROP TYPE mood;
