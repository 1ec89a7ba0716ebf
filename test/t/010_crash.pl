# A crash under insert load loses no entry and leaves a sound index.
use Time::HiRes qw(sleep);
use GpubtreeTest;

my $rounds = 3;
my $node = gpb_node('main', settings => "autovacuum_naptime = 1s\ncheckpoint_timeout = 30s\n");
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
INSERT INTO t SELECT i, i, i FROM generate_series(1, 2000) i;
SQL

for my $round (1 .. $rounds)
{
	my $before = $node->safe_psql('postgres', 'SELECT count(*) FROM t');
	my $load = gpb_start_pgbench($node, <<'SQL', '-c', '4');
\set a random(1, 1000000)
\set b random(1, 300)
INSERT INTO t SELECT :a + i * 7, i, i FROM generate_series(1, :b) i;
DELETE FROM t WHERE k BETWEEN :a AND :a + 100;
SQL
	# The server crashes after different amounts of work, once with a checkpoint before.
	gpb_go_on($node, 0.3, "SELECT count(*) > $before + 1000 FROM t");
	$node->safe_psql('postgres', 'CHECKPOINT') if $round == 2;
	sleep(0.2 * $round);
	$node->stop('immediate');
	$load->finish;
	$node->start;

	cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM t'),
		'>', $before, "round $round: rows were added before the crash");
	my ($status, $out, $err) =
	  $node->psql('postgres', "SELECT gpubtree_check('t_k', true)");
	is($status, 0, "round $round: the index is sound and complete") or diag($err);
	($status, $out, $err) = $node->psql('postgres',
		"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT compare_range('t', -1, 100000000)");
	is($status, 0, "round $round: aggregate equals sequential scan") or diag($err);
	is( $node->safe_psql('postgres', <<'SQL'), '0|0', "round $round: an index scan finds the same rows");
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
CREATE TEMP TABLE by_index AS SELECT k, v, ctid AS place FROM t WHERE k > -1 ORDER BY k;
SET LOCAL enable_seqscan = on;
SET LOCAL enable_indexscan = off;
SET LOCAL enable_indexonlyscan = off;
SELECT (SELECT count(*) FROM (SELECT k, v, ctid FROM t EXCEPT SELECT * FROM by_index) x),
	(SELECT count(*) FROM (SELECT * FROM by_index EXCEPT SELECT k, v, ctid FROM t) x);
COMMIT;
SQL
}

done_testing();
