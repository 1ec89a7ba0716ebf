# Pages are deleted and their blocks recycled at a high rate, at both ends of the index and within,
# whole subtrees too, beside readers: scans in both directions, index-only scans, arrays, joins by
# batches and aggregates through the mirror find what a sequential scan finds in the same snapshot.
#
# Guards: rule M7; the clipping of scans and walks at where they have been; the low bound of a leaf
# that a launch compares (M4).
#
# GPB_SECONDS	how long the mix runs at least (default 2)
use GpubtreeMix;
use GpubtreeTest;

my $seconds = $ENV{GPB_SECONDS} // 2;
my $node = gpb_node('main', settings => "autovacuum = off\nmax_connections = 30\n");
gpb_compare_function($node);
gpb_wait_for_service($node);

mix_wide_table($node, 60000);
$node->safe_psql('postgres', <<'SQL');
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
		(map { my ($name, $direction) = @$_;
			("$name\@6" => <<"SQL") } [ 'forward', 'ASC' ], [ 'backward', 'DESC' ]),
\\set a random(-10, 60000)
\\set b :a + random(1, 3000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_keys('SELECT k FROM t WHERE k BETWEEN :a AND :b', '$direction', false);
COMMIT;
INSERT INTO compared VALUES ('$name');
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
		mix_deletions(60000),
		'queue@4' => "DELETE FROM t WHERE k < (SELECT k + 800 FROM t ORDER BY k LIMIT 1);\n",
		'check@2' => "SELECT gpubtree_check('t_k', false);\n" },
	'-c', 8);
gpb_go_on($node, $seconds, 'SELECT count(DISTINCT what) = 5 AND count(*) >= 500 FROM compared');
ok(gpb_end_pgbench($mix, none_fails => 1), 'readers of five kinds find what sequential scans find');
note($node->safe_psql('postgres', 'SELECT what, count(*) FROM compared GROUP BY 1'));
gpb_index_is_sound($node, 't_k', 'the index is sound and complete');

# All leaves but the last go, and what was deleted serves again.
$node->safe_psql('postgres', 'ALTER TABLE t SET (vacuum_truncate = off)');
$node->safe_psql('postgres', 'DELETE FROM t');
$node->safe_psql('postgres', 'VACUUM (TRUNCATE OFF) t');
my $blocks = $node->safe_psql('postgres', "SELECT pg_relation_size('t_k') / 8192");
$node->safe_psql('postgres', 'INSERT INTO t (k, v, d) SELECT i, 1, 1 FROM generate_series(1, 20000) i');
is($node->safe_psql('postgres', "SELECT pg_relation_size('t_k') / 8192"), $blocks,
	"$blocks blocks: no new one is made while there are deleted ones");
gpb_index_is_sound($node, 't_k', 'the index is sound and complete again');

done_testing();
