--
-- Operator families: complete as btree's, and valid
--

-- amvalidate of every class
\set ECHO all
SELECT opcname, amvalidate(c.oid) AS valid, opcdefault
FROM pg_opclass c
	JOIN pg_am a ON a.oid = opcmethod
WHERE amname = 'gpubtree'
ORDER BY opcname;

-- the access method itself
SELECT amname, amtype, amhandler FROM pg_am WHERE amname = 'gpubtree';
SELECT p AS property, pg_indexam_has_property(a.oid, p)
FROM pg_am a,
	unnest(ARRAY['can_order', 'can_multi_col', 'can_exclude',
		'can_include']) p
WHERE amname = 'gpubtree';

\set ECHO none
-- members of each family, ours beside btree's of the same name
CREATE TEMP VIEW operators AS
SELECT amname, opfname, amoplefttype, amoprighttype, amopstrategy, amoppurpose, amopopr
FROM pg_amop
	JOIN pg_opfamily f ON f.oid = amopfamily
	JOIN pg_am a ON a.oid = opfmethod;
CREATE TEMP VIEW comparisons AS
SELECT amname, opfname, amproclefttype, amprocrighttype, amproc
FROM pg_amproc
	JOIN pg_opfamily f ON f.oid = amprocfamily
	JOIN pg_am a ON a.oid = opfmethod
WHERE amprocnum = 1;
\set ECHO all

SELECT opfname,
	(SELECT count(*) FROM operators o
		WHERE o.amname = 'gpubtree' AND o.opfname = f.opfname) AS operators,
	(SELECT count(*) FROM comparisons c
		WHERE c.amname = 'gpubtree' AND c.opfname = f.opfname) AS comparisons
FROM pg_opfamily f
	JOIN pg_am a ON a.oid = opfmethod
WHERE amname = 'gpubtree'
ORDER BY opfname;

\set ECHO none
-- missing: what btree has and we have not; surplus: the reverse.  No rows.
SELECT 'missing' AS what, opfname, amoplefttype::regtype, amoprighttype::regtype,
	amopstrategy, amopopr::regoperator
FROM (
	SELECT opfname, amoplefttype, amoprighttype, amopstrategy, amoppurpose, amopopr
	FROM operators
	WHERE amname = 'btree'
		AND opfname IN (SELECT opfname FROM operators WHERE amname = 'gpubtree')
	EXCEPT
	SELECT opfname, amoplefttype, amoprighttype, amopstrategy, amoppurpose, amopopr
	FROM operators
	WHERE amname = 'gpubtree') x
UNION ALL
SELECT 'surplus', opfname, amoplefttype::regtype, amoprighttype::regtype,
	amopstrategy, amopopr::regoperator
FROM (
	SELECT opfname, amoplefttype, amoprighttype, amopstrategy, amoppurpose, amopopr
	FROM operators
	WHERE amname = 'gpubtree'
	EXCEPT
	SELECT opfname, amoplefttype, amoprighttype, amopstrategy, amoppurpose, amopopr
	FROM operators
	WHERE amname = 'btree') x;
SELECT 'missing' AS what, opfname, amproclefttype::regtype, amprocrighttype::regtype, amproc
FROM (
	SELECT opfname, amproclefttype, amprocrighttype, amproc
	FROM comparisons
	WHERE amname = 'btree'
		AND opfname IN (SELECT opfname FROM comparisons WHERE amname = 'gpubtree')
	EXCEPT
	SELECT opfname, amproclefttype, amprocrighttype, amproc
	FROM comparisons
	WHERE amname = 'gpubtree') x
UNION ALL
SELECT 'surplus', opfname, amproclefttype::regtype, amprocrighttype::regtype, amproc
FROM (
	SELECT opfname, amproclefttype, amprocrighttype, amproc
	FROM comparisons
	WHERE amname = 'gpubtree'
	EXCEPT
	SELECT opfname, amproclefttype, amprocrighttype, amproc
	FROM comparisons
	WHERE amname = 'btree') x;

-- every object of the extension has a comment, but for the row types of its views: no rows
SELECT pg_describe_object(classid, objid, objsubid) AS uncommented
FROM pg_depend d
WHERE refclassid = 'pg_extension'::regclass
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gpubtree')
	AND deptype = 'e'
	AND classid <> 'pg_type'::regclass
	AND obj_description(objid, classid::regclass::name) IS NULL;

-- the extension can live in any schema, and move
CREATE SCHEMA elsewhere;
ALTER EXTENSION gpubtree SET SCHEMA elsewhere;
CREATE TABLE t AS SELECT i AS k FROM generate_series(1, 100) i;
CREATE INDEX t_k ON t USING gpubtree (k elsewhere.int4_ops);
CREATE INDEX t_default ON t USING gpubtree (k);
\set ECHO all
SELECT elsewhere.gpubtree_check('t_k', true), elsewhere.gpubtree_check('t_default', true);
SELECT count(*) >= 0 AS mirrors FROM elsewhere.gpubtree_mirrors;
SET search_path = '';
SELECT count(*) FROM public.t WHERE k BETWEEN 10 AND 20;
\set ECHO none
RESET search_path;
ALTER EXTENSION gpubtree SET SCHEMA public;
DROP SCHEMA elsewhere;
DROP TABLE t;

-- amvalidate finds what is wrong with a class of somebody else's making
CREATE OPERATOR FAMILY lame_ops USING gpubtree;
CREATE OPERATOR CLASS lame_ops FOR TYPE int4 USING gpubtree FAMILY lame_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 5 >;
ALTER OPERATOR FAMILY lame_ops USING gpubtree ADD
	OPERATOR 1 < (int4, int8);
\set ECHO all
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'lame_ops';
-- a member of one type is the class's, which cannot do without it; one of two types is the family's
ALTER OPERATOR FAMILY lame_ops USING gpubtree ADD
	OPERATOR 4 >= (int4, int4),
	OPERATOR 4 >= (int8, int8),
	FUNCTION 1 (int4, int8) btint48cmp (int4, int8);
SELECT pg_describe_object(classid, objid, 0) COLLATE "C" AS member, deptype, refclassid::regclass
FROM pg_depend
WHERE classid IN ('pg_amop'::regclass, 'pg_amproc'::regclass) AND deptype IN ('a', 'i')
	AND (refclassid, refobjid) IN (SELECT 'pg_opclass'::regclass, oid FROM pg_opclass WHERE opcname = 'lame_ops'
		UNION SELECT 'pg_opfamily'::regclass, oid FROM pg_opfamily WHERE opfname = 'lame_ops')
ORDER BY 1;
ALTER OPERATOR FAMILY lame_ops USING gpubtree DROP OPERATOR 1 (int4, int8);
ALTER OPERATOR FAMILY lame_ops USING gpubtree DROP OPERATOR 4 (int4, int4);
DROP OPERATOR FAMILY lame_ops USING gpubtree CASCADE;
DROP VIEW operators, comparisons;
