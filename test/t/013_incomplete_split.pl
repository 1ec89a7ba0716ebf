# A split whose parent was never told, as a crash leaves it: aggregates and scans find what moved to
# the new page, before and after a restart and on a standby; the next insert completes it.
#
# Guards: the comparison of a leaf's high key with the next separator (rule M4); the right links a
# search follows; gpb_finish_split.
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, allows_streaming => 1,
	settings => "autovacuum = off\nwal_consistency_checking = 'gpubtree'\n");
gpb_compare_function($node);
my $standby = gpb_standby($node);
gpb_wait_for_service($_) for ($node, $standby);

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i * 10, i % 10, i % 7 FROM generate_series(1, 20000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
SQL
$node->safe_psql('postgres', 'VACUUM t');

# Leaves are split in several places, and an error just after each split leaves it incomplete.
my $failed = 0;
for my $place (500, 60_000, 100_000, 199_000)
{
	my ($status, $out, $err) = $node->psql('postgres', <<SQL);
SET gpubtree.hold_point = 'fail-after-split';
INSERT INTO t SELECT $place + i % 7, 1, 1 FROM generate_series(1, 1000) i;
SQL
	$failed++ if $status != 0 && $err =~ /fail-after-split/;
}
is($failed, 4, 'four inserts failed just after a split');

sub answers_right
{
	my ($server, $when) = @_;

	for my $range ([ -1, 1_000_000 ], [ 400, 700 ], [ 59_000, 61_000 ], [ 100_003, 199_005 ])
	{
		my ($status, $out, $err) = $server->psql('postgres',
			"SELECT compare_range('t', $range->[0], $range->[1])");
		is($status, 0, "$when: [$range->[0], $range->[1]) is answered rightly") or diag($err);
	}
	is( $server->safe_psql('postgres', <<'SQL'), '20000|20000', "$when: scans find every row");
SET gpubtree.enable_aggregate = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT (SELECT count(*) FROM (SELECT k FROM t WHERE k > 0 ORDER BY k OFFSET 0) x),
	(SELECT count(*) FROM (SELECT k FROM t WHERE k > 0 ORDER BY k DESC OFFSET 0) x);
SQL
	return;
}

answers_right($node, 'before a restart');
like(gpb_engine($node, 'SELECT sum(v) FROM t WHERE k > 100', 'aggregate'),
	qr/host/, 'through the mirror');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
answers_right($standby, 'on the standby');

$node->stop('immediate');
$node->start;
gpb_wait_for_service($node);
answers_right($node, 'after a crash');
gpb_index_is_sound($node, 't_k', 'the checker takes an incomplete split for what it is');

# The next session that writes there completes the split.
for my $place (500, 60_000, 100_000, 199_000)
{
	$node->safe_psql('postgres',
		"INSERT INTO t SELECT $place - 300 + i, 1, 1 FROM generate_series(1, 600) i");
}
$node->safe_psql('postgres', 'DELETE FROM t WHERE k % 10 <> 0');
$node->safe_psql('postgres', 'DELETE FROM t a USING t b WHERE a.k = b.k AND a.ctid > b.ctid');
$node->safe_psql('postgres', 'VACUUM t');
answers_right($node, 'completed');
gpb_index_is_sound($node, 't_k', 'completed: the index is sound and complete');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
answers_right($standby, 'completed, on the standby');

done_testing();
