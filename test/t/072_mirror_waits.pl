# Waiting for a refresh or for the service can be cancelled, and loses no change.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, settings => <<'CONF');
autovacuum = off
gpubtree.batch_slots = 1
gpubtree.refresh_slots = 1
CONF
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
INSERT INTO t SELECT i, i % 10, i % 7 FROM generate_series(1, 30000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE t');
gpb_wait_for_service($node);

sub compare
{
	my ($name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SELECT compare_range('t', 1, 1000000)");

	is($status, 0, "$name: the right answer") or diag($err);
	is( $node->safe_psql('postgres', 'SELECT min(changed_blocks), max(changed_blocks) FROM gpubtree_mirrors()'),
		'0|0', "$name: nothing is left changed or in flight");
}

# Cancel a statement when it has come to that wait, and return what it prints.
sub cancelled
{
	my ($sql, $wait) = @_;
	my $waiter = gpb_start($node, $sql, 'application_name = waiter');

	gpb_wait_for_sessions($node, 'waiter', 1, "wait_event = '" . gpb_wait_event($node, $wait) . "'");
	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'waiter'});
	return gpb_finish($waiter);
}

compare('at first');
my $holder = $node->background_psql('postgres');

# A refresher cancelled after the move, and after a partial copy: the next one does it all again.
# Meanwhile another waits for the ownership, as pg_stat_activity says, and is cancelled too.
for my $point ('refresh-after-move', 'refresh-before-copy', 'refresh-before-publish')
{
	for my $end ('pg_cancel_backend', 'pg_terminate_backend')
	{
		$node->safe_psql('postgres', 'INSERT INTO t SELECT i * 7, 1, 1 FROM generate_series(1, 4000) i');
		$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
		my $refresher = gpb_start($node, q{SELECT gpubtree_refresh('t_k')}, "gpubtree.hold_point = '$point'");
		gpb_wait_for_hold($node);
		my $waiting = $node->safe_psql('postgres',
			'SELECT pid FROM pg_locks WHERE locktype = \'advisory\' AND objid = 7001 AND NOT granted');

		like(cancelled(q{SELECT gpubtree_refresh('t_k')}, 'Refresh'), qr/canceling statement/,
			"$point: a second refresh waits, cancellably");

		$node->safe_psql('postgres', "SELECT $end($waiting)");
		like(gpb_finish($refresher), qr/canceling statement|terminating connection/, "$point: $end reaches the refresh");
		$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
		my $again = $node->safe_psql('postgres', "SELECT gpubtree_refresh('t_k')");
		cmp_ok($again, '>', 0, "$point, $end: what it left is copied again");
		compare("$point, $end");
	}
}

# The only slot is taken: waiting for it can be cancelled, and ends when it is given back.
my $first = $node->background_psql('postgres');
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
$first->query_safe("SET gpubtree.hold_point = 'batch-before-submit'");
$first->query_safe('SET gpubtree.setup_cost = 0');
$first->query_safe('SET gpubtree.batch_setup_cost = 0');
$first->query_safe("SET $_ = off")
  for ('enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan');
$first->query_until(qr/sent/, "\\echo sent\nSELECT 'rows ' || count(*) FROM t WHERE k > 0;\n");
gpb_wait_for_hold($node);
like(cancelled("SELECT compare_range('t', 1, 1000000)", 'Slot'), qr/canceling statement/,
	'waiting for a slot can be cancelled');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
my $rows = $first->query('SELECT 1');
like($rows, qr/rows \d+/, 'who held it goes on');
compare('afterwards');
$first->quit;
$holder->quit;

done_testing();
