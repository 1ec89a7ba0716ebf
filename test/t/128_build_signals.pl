# A build whose leader or worker is cancelled, terminated or killed while it scans, sorts, merges or
# loads fails with an error, or with the server's restart, leaves no file, no shared memory and no
# lock, and the next build succeeds.  Concurrent builds and REINDEX among them, whose invalid indexes
# can be dropped.  Guards build_parallel.c, build_merge.c, build_load.c.
use GpubtreeBuild;
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', settings => $gpb_build_settings);
# Enough for more runs than are merged at once
gpb_build_tables($node, 130000);

# Each kind of build: statement, table, and how many invalid indexes its failure leaves
my $wide = 'INCLUDE (v, a, b, c, d)';
my %build = (
	'parallel' => [ "CREATE INDEX x ON parallel_t USING gpubtree (k) $wide", 'parallel_t', 0 ],
	'serial' => [ "CREATE INDEX x ON serial_t USING gpubtree (k) $wide", 'serial_t', 0 ],
	'parallel, concurrent' => [ "CREATE INDEX CONCURRENTLY x ON parallel_t USING gpubtree (k) $wide", 'parallel_t', 1 ],
	'serial, concurrent' => [ "CREATE INDEX CONCURRENTLY x ON serial_t USING gpubtree (k) $wide", 'serial_t', 1 ],
	'parallel REINDEX' => [ 'REINDEX INDEX parallel_old', 'parallel_t', 0 ],
	'parallel REINDEX, concurrent' => [ 'REINDEX INDEX CONCURRENTLY parallel_old', 'parallel_t', 1 ]);

my @leader = qw(build-leader-scans build-leader-sorts build-merges-runs build-loads build-before-metapage);
my @worker = qw(build-worker-scans build-worker-sorts build-worker-merges-runs build-worker-loads);
my $segments = gpb_shared_segments($node);

sub fault
{
	my ($kind, $point, $process, $how) = @_;
	my ($sql, $table, $invalid) = @{ $build{$kind} };
	my $name = "$kind, $point, $process, $how";
	my ($holder, $build) = gpb_hold_build($node, $sql, $point);
	my ($pid) = $process eq 'leader' ? gpb_leader_pid($node) : gpb_worker_pids($node);

	if ($kind =~ /parallel/)
	{
		cmp_ok(gpb_shared_segments($node), '>', $segments, "$name: there is shared memory");
	}
	if ($how eq 'killed')
	{
		gpb_kill_backend($node, $pid);
		gpb_finish($build);
		eval { $holder->quit };
	}
	else
	{
		my $function = $how eq 'cancelled' ? 'pg_cancel_backend' : 'pg_terminate_backend';

		$node->safe_psql('postgres', "SELECT $function($pid)");
		# A worker's error reaches the leader where it looks for it, which is beyond the hold point.
		$holder->quit if $process eq 'worker';
		gpb_finish_build($build, $name,
			qr/canceling statement due to user request|terminating (connection|background worker)|lost connection to parallel worker/,
			$process eq 'leader' && $how eq 'terminated');
		$holder->quit if $process eq 'leader';
	}
	gpb_build_left_nothing($node, $name, segments => $segments, invalid => $invalid, crashed => $how eq 'killed');
	gpb_next_build_succeeds($node, $name, $table, $sql =~ /REINDEX/);
	return;
}

# Every phase of every process is cancelled.  The other signals come where more than memory is to be
# given back: the error of a terminated process takes the same way as that of a cancelled one.
fault('parallel', $_, 'leader', 'cancelled') for @leader;
fault('parallel', $_, 'worker', 'cancelled') for @worker;
fault('parallel', $_, 'leader', 'terminated') for 'build-leader-scans', 'build-loads';
fault('parallel', $_, 'leader', 'killed') for 'build-leader-sorts', 'build-merges-runs', 'build-before-metapage';
fault('parallel', 'build-worker-scans', 'worker', 'terminated');
fault('parallel', 'build-worker-sorts', 'worker', 'killed');
fault('serial', $_, 'leader', 'cancelled') for 'build-leader-scans', 'build-leader-sorts', 'build-loads';
fault('serial', 'build-leader-sorts', 'leader', 'killed');

# The leader waits for workers that have not finished.
for my $point ('build-worker-sorts', 'build-worker-loads')
{
	fault('parallel', $point, 'leader', $_) for 'cancelled', 'terminated', 'killed';
}

# Builds that keep something: an index that is invalid, or the one that is rebuilt
fault('parallel, concurrent', 'build-leader-scans', 'leader', 'cancelled');
fault('parallel, concurrent', 'build-loads', 'leader', 'killed');
fault('parallel REINDEX', 'build-worker-sorts', 'worker', 'cancelled');
fault('parallel REINDEX', 'build-loads', 'leader', 'killed');
fault('parallel REINDEX, concurrent', 'build-merges-runs', 'leader', 'terminated');
fault('parallel REINDEX, concurrent', 'build-loads', 'leader', 'killed');
fault('serial, concurrent', 'build-loads', 'leader', 'cancelled');

done_testing();
