# Pages are deleted and their blocks recycled at a high rate, at both ends of the index and within,
# whole subtrees too, beside readers: scans in both directions, index-only scans, arrays, joins by
# batches and aggregates through the mirror find what a sequential scan finds in the same snapshot.
#
# Guards: rule M7; the clipping of scans and walks at where they have been; the low bound of a leaf
# that a launch compares (M4).
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_SECONDS	how long the mix runs at least (default 2)
use GpubtreeTest;

my $seconds = $ENV{GPB_SECONDS} // 2;
my $node = gpb_node('main', settings => "autovacuum = off\nmax_connections = 30\n");
gpb_compare_function($node);
gpb_wait_for_service($node);

# Entries are wide, so that pages of level 1 are emptied too.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8, a int8, b int8, c int8, e int8, f int8, g int8, h int8);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d, a, b, c, e, f, g, h);
INSERT INTO t (k, v, d) SELECT i, i % 1000, i % 100 FROM generate_series(1, 60000) i;
CREATE TABLE compared (what text);
VACUUM t;

CREATE FUNCTION keys_by(query text, direction text, seqscan bool, indexonly bool) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	r record;
	result bigint[] := '{}';
	n int := 0;
BEGIN
	PERFORM set_config('gpubtree.enable_aggregate', 'off', true);
	PERFORM set_config('gpubtree.enable_scan', 'off', true);
	PERFORM set_config('enable_seqscan', seqscan::text, true);
	PERFORM set_config('enable_sort', seqscan::text, true);
	PERFORM set_config('enable_indexscan', (NOT seqscan)::text, true);
	PERFORM set_config('enable_indexonlyscan', (NOT seqscan AND indexonly)::text, true);
	PERFORM set_config('enable_bitmapscan', 'off', true);
	FOR r IN EXECUTE query || ' ORDER BY k ' || direction LOOP
		result := result || r.k;
		n := n + 1;
		-- others get on meanwhile
		IF NOT seqscan AND n % 150 = 0 THEN
			PERFORM pg_sleep(0.003);
		END IF;
	END LOOP;
	RETURN array_to_string(result, ',');
END $$;

CREATE FUNCTION compare_keys(query text, direction text, indexonly bool) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	ours text := keys_by(query, direction, false, indexonly);
	theirs text := keys_by(query, direction, true, false);
BEGIN
	IF ours IS DISTINCT FROM theirs THEN
		RAISE EXCEPTION 'keys differ: % %: %, sequential scan %', query, direction, ours, theirs;
	END IF;
END $$;
SQL

my $mix = gpb_start_pgbench(
	$node,
	{   'aggregate@10' => <<'SQL',
\set a random(-10, 60000)
\set b :a + random(1, 30000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_range('t', :a, :b);
COMMIT;
INSERT INTO compared VALUES ('aggregate');
SQL
		'forward@6' => <<'SQL',
\set a random(-10, 60000)
\set b :a + random(1, 3000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_keys('SELECT k FROM t WHERE k BETWEEN :a AND :b', 'ASC', false);
COMMIT;
INSERT INTO compared VALUES ('forward');
SQL
		'backward@6' => <<'SQL',
\set a random(-10, 60000)
\set b :a + random(1, 3000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_keys('SELECT k FROM t WHERE k BETWEEN :a AND :b', 'DESC', false);
COMMIT;
INSERT INTO compared VALUES ('backward');
SQL
		'only@4' => <<'SQL',
\set a random(-10, 60000)
\set b :a + random(1, 3000)
\set down random(0, 1)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_keys('SELECT k FROM t WHERE k BETWEEN :a AND :b', CASE :down WHEN 0 THEN 'ASC' ELSE 'DESC' END, true);
COMMIT;
INSERT INTO compared VALUES ('only');
SQL
		'array@4' => <<'SQL',
\set a random(1, 700)
\set down random(0, 1)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_keys('SELECT k FROM t WHERE k = ANY (ARRAY(SELECT i * 90 + :a FROM generate_series(0, 600) i))', CASE :down WHEN 0 THEN 'ASC' ELSE 'DESC' END, false);
COMMIT;
INSERT INTO compared VALUES ('array');
SQL
		'insert@16' => <<'SQL',
\set a random(1, 60000)
INSERT INTO t (k, v, d) SELECT :a + i, i, i FROM generate_series(1, 400) i;
SQL
		'delete@16' => <<'SQL',
\set a random(1, 60000)
DELETE FROM t WHERE k BETWEEN :a AND :a + 1500;
SQL
		'queue@4' => <<'SQL',
DELETE FROM t WHERE k < (SELECT k + 800 FROM t ORDER BY k LIMIT 1);
SQL
		'wide@1' => <<'SQL',
\set a random(1, 30000)
DELETE FROM t WHERE k BETWEEN :a AND :a + 25000;
SQL
		'fill@1' => <<'SQL',
INSERT INTO t (k, v, d) SELECT i * 10, i, i FROM generate_series(1, 6000) i;
SQL
		'vacuum@14' => <<'SQL',
VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t;
SQL
		'check@2' => "SELECT gpubtree_check('t_k', false);\n" },
	'-c', 8);
gpb_go_on($node, $seconds, 'SELECT count(DISTINCT what) = 5 AND count(*) >= 500 FROM compared');
ok(gpb_end_pgbench($mix, none_fails => 1), 'readers of five kinds find what sequential scans find');
note($node->safe_psql('postgres', 'SELECT what, count(*) FROM compared GROUP BY 1'));
my ($status, $out, $err) = $node->psql('postgres', "SELECT gpubtree_check('t_k', true)");
is($status, 0, 'the index is sound and complete') or diag($err);

# All leaves but the last go, and what was deleted serves again.
$node->safe_psql('postgres', 'DELETE FROM t');
$node->safe_psql('postgres', 'VACUUM (TRUNCATE OFF) t');
my $blocks = $node->safe_psql('postgres', "SELECT pg_relation_size('t_k') / 8192");
$node->safe_psql('postgres', 'INSERT INTO t (k, v, d) SELECT i, 1, 1 FROM generate_series(1, 20000) i');
is($node->safe_psql('postgres', "SELECT pg_relation_size('t_k') / 8192"), $blocks,
	"$blocks blocks: no new one is made while there are deleted ones");
($status, $out, $err) = $node->psql('postgres', "SELECT gpubtree_check('t_k', true)");
is($status, 0, 'the index is sound and complete again') or diag($err);

done_testing();
