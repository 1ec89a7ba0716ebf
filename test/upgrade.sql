-- The parts of test/upgrade, each from the line of its name to the next "end"

-- fill
CREATE EXTENSION gpubtree VERSION '0.1.0';
CREATE TABLE t (id int, k bigint, a int, b timestamp, u uuid, n numeric(12, 2), f float8, s text,
	v int);
CREATE FUNCTION fill(first int, last int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO t SELECT i, CASE WHEN i % 97 <> 0 THEN i * 7919::bigint % 100003 - 50000 END,
		CASE WHEN i % 101 <> 0 THEN i % 200 END,
		CASE WHEN i % 103 <> 0 THEN timestamp '2024-01-01' + interval '1 minute' * (i % 5000) END,
		CASE WHEN i % 89 <> 0 THEN md5((i % 3000)::text)::uuid END,
		CASE WHEN i % 83 <> 0 THEN (i * 31 % 20011 - 10000) / 100.0 END,
		CASE i % 53 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' WHEN 2 THEN '-0' ELSE sqrt(i) END,
		CASE WHEN i % 59 <> 0 THEN 'word ' || i % 700 END,
		CASE WHEN i % 61 <> 0 THEN i % 100 END
	FROM generate_series(first, last) i $$;
SELECT fill(1, 40000);
CREATE INDEX t_k ON t USING gpubtree (k);
CREATE INDEX t_kd ON t USING gpubtree (k DESC NULLS LAST) INCLUDE (v);
CREATE INDEX t_ab ON t USING gpubtree (a, b DESC) INCLUDE (v);
CREATE INDEX t_u ON t USING gpubtree (u) INCLUDE (v);
CREATE INDEX t_n ON t USING gpubtree (n) INCLUDE (n, f);
CREATE INDEX t_f ON t USING gpubtree (f);
CREATE INDEX t_s ON t USING gpubtree (id) INCLUDE (s, v);
CREATE INDEX t_few ON t USING gpubtree (v) WHERE a < 20;
-- Pages are split, emptied and deleted.
SELECT fill(40001, 60000);
DELETE FROM t WHERE id BETWEEN 8000 AND 16000 OR k BETWEEN 10000 AND 20000;
VACUUM (FREEZE, ANALYZE) t;
INSERT INTO t SELECT * FROM t WHERE id BETWEEN 20000 AND 21000;
-- The rows of a query through an index whose name matches, as those without it; their digest
CREATE FUNCTION answers(index text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
	ours text;
	theirs text;
BEGIN
	-- An earlier call in this transaction has set them otherwise.
	SET LOCAL gpubtree.enabled = on;
	SET LOCAL enable_indexscan = on;
	SET LOCAL enable_indexonlyscan = on;
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	IF plan !~ ('\m' || index || '\M') THEN
		RAISE 'not through %: %', index, plan;
	END IF;
	query := 'SELECT array_agg(r::text ORDER BY r::text) FROM (' || query || ') r';
	EXECUTE query INTO ours;
	SET LOCAL gpubtree.enabled = off;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	EXECUTE query INTO theirs;
	IF ours IS DISTINCT FROM theirs THEN
		RAISE 'other rows through %: %', index, query;
	END IF;
	RETURN index || ' ' || md5(theirs) || ' ' || length(theirs);
END $$;
-- end

-- forget
UPDATE pg_attribute SET attoptions = NULL WHERE attrelid >= 16384 AND attoptions IS NOT NULL;
-- end

-- check
SELECT gpubtree_check(c.oid::regclass, true)
FROM pg_class c JOIN pg_am m ON m.oid = relam WHERE amname = 'gpubtree' ORDER BY relname;
-- end

-- answers
SET extra_float_digits = 1;
SELECT answers(index, query) FROM (VALUES
	('t_kd?', 'SELECT k FROM t WHERE k BETWEEN -3000 AND 900'),
	('t_kd?', 'SELECT count(*) FROM t WHERE k IS NULL'),
	('t_kd', 'SELECT count(*), sum(v), min(v), max(v) FROM t WHERE k BETWEEN -40000 AND 45000'),
	('t_kd', 'SELECT k, v FROM t WHERE k > 9000 ORDER BY k DESC NULLS LAST'),
	('t_ab', 'SELECT a, b, v FROM t WHERE a = 17 AND b > ''2024-01-02'''),
	('t_ab', 'SELECT a, count(*), sum(v) FROM t WHERE a BETWEEN 5 AND 50 GROUP BY a'),
	('t_ab', 'SELECT a, b FROM t WHERE a IS NULL'),
	('t_u', 'SELECT u, v FROM t WHERE u = md5(''77'')::uuid'),
	('t_u', 'SELECT count(*), sum(v) FROM t WHERE u > ''80000000-0000-0000-0000-000000000000'''),
	('t_n', 'SELECT n, f FROM t WHERE n BETWEEN -3.5 AND 7.25'),
	('t_n', 'SELECT count(*), sum(n) FROM t WHERE n > 20'),
	('t_f', 'SELECT f FROM t WHERE f < 10'),
	('t_f', 'SELECT count(*) FROM t WHERE f = 0'),
	('t_s', 'SELECT s, count(*), sum(v) FROM t WHERE id < 50000 AND s LIKE ''word 1%'' GROUP BY s'),
	('t_s', 'SELECT id, s FROM t WHERE id BETWEEN 19000 AND 22000'),
	('t_few', 'SELECT v, count(*) FROM t WHERE a < 20 AND v > 3 GROUP BY v')) q (index, query);
-- end

-- write
ALTER EXTENSION gpubtree UPDATE;
SELECT fill((SELECT max(id) + 1 FROM t), (SELECT max(id) + 5000 FROM t));
UPDATE t SET s = 'new ' || id % 300 || current_setting('server_version_num'), n = n + 1
WHERE id % 20 = 3;
DELETE FROM t WHERE id % 20 = 7 OR k BETWEEN -30000 AND -28000;
VACUUM ANALYZE t;
SELECT fill(1, 300);
-- end
