# A build that finds the disk full, or a file too large for the process's limit, fails with that
# error in whichever phase and process; it leaves no file, and once there is room it succeeds.  The
# disks are small tmpfs in a namespace of the test's own, which needs no rights; where there are no
# such namespaces, the limits alone are tested.  Guards build_merge.c, build_load.c, build_parallel.c.
use strict;
use warnings;
use File::Path;
use File::Temp;

# Run this script again in a namespace in which it may mount, with the same user's number inside.
# PostgreSQL's modules redirect the output when they are loaded, so this comes before them.
BEGIN
{
	if (!$ENV{GPB_DISKS} && $^O eq 'linux')
	{
		my $disks = File::Temp::tempdir();
		my ($uid, $gid) = ($>, (split(' ', $)))[0]);
		my $mount = 'mkdir -p "$0/runs" "$0/files" &&'
		  . ' mount -t tmpfs -o size=1m,mode=777 gpubtree "$0/runs" &&'
		  . ' mount -t tmpfs -o size=2m,mode=777 gpubtree "$0/files" &&'
		  . " exec unshare --user --map-user=$uid --map-group=$gid \"\$@\"";
		my @namespace = ('unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', $mount, $disks);
		my $status = -1;

		if (system(qw(sh -c), '"$@" 2>/dev/null', 'sh', @namespace, 'true') == 0)
		{
			$status = system(@namespace, 'env', "GPB_DISKS=$disks", $^X, (map { "-I$_" } @INC), $0);
		}
		File::Path::remove_tree($disks);
		exit($status == 0 ? 0 : 1) if $status >= 0;
	}
}

use GpubtreeBuild;
use GpubtreeHold;
use GpubtreeTest;

# Small segments of WAL, so that a process's limit on files lies above them
my $node = gpb_node('main', settings => $gpb_build_settings, initdb => ['--wal-segsize=1']);
gpb_build_tables($node, 60000);
$node->safe_psql('postgres', 'SELECT pg_switch_wal()');

my $segments = gpb_shared_segments($node);
my $wide = 'INCLUDE (v, a, b, c, d)';

# Test that a build fails with the error and leaves nothing.
sub fails
{
	my ($name, $sql, $table, $invalid, $error, @settings) = @_;

	gpb_finish_build(gpb_start_build($node, $sql, @settings), $name, $error);
	gpb_build_left_nothing($node, $name, segments => $segments, invalid => $invalid);
	gpb_next_build_succeeds($node, $name, $table, $sql =~ /REINDEX/);
	return;
}

# ---- disks that are full ----

SKIP:
{
	skip 'no namespace in which to mount', 1 if !$ENV{GPB_DISKS};
	# Of two processes that write, one may get half a page of what is left.
	my $full = qr/could not (write|extend).*(No space left on device|wrote only)/;
	# Were an error in adding a page lost, a page that is written later would fail with the other.
	my $index_full = qr/could not extend.*No space left on device/;
	my $runs = "temp_tablespaces = 'runs'";

	$node->safe_psql('postgres', "CREATE TABLESPACE $_ LOCATION '$ENV{GPB_DISKS}/$_'") for 'runs', 'files';
	# Each statement, place and kind of build: every two of them together once
	for my $table ('serial_t', 'parallel_t')
	{
		my $old = $table =~ s/_t$/_old/r;
		my $on = "x ON $table USING gpubtree (k) $wide";

		if ($table eq 'serial_t')
		{
			fails("$table, runs", "CREATE INDEX $on", $table, 0, $full, $runs);
			fails("$table, runs, concurrent", "CREATE INDEX CONCURRENTLY $on", $table, 1, $full, $runs);
			fails("$table, index, REINDEX", "REINDEX (TABLESPACE files) INDEX $old", $table, 0, $index_full);
			fails("$table, index, REINDEX, concurrent",
				"REINDEX (TABLESPACE files, CONCURRENTLY) INDEX $old", $table, 1, $index_full);
		}
		else
		{
			fails("$table, runs, REINDEX", "REINDEX INDEX $old", $table, 0, $full, $runs);
			fails("$table, runs, REINDEX, concurrent", "REINDEX INDEX CONCURRENTLY $old", $table, 1, $full, $runs);
			fails("$table, index", "CREATE INDEX $on TABLESPACE files", $table, 0, $full);
			fails("$table, index, concurrent", "CREATE INDEX CONCURRENTLY $on TABLESPACE files", $table, 1, $full);
		}

		# The room is there again: an index that fits is built on the same disks.
		my ($status, $out, $err) = $node->psql('postgres', <<"SQL", on_error_stop => 1);
SET $runs;
CREATE INDEX x ON $table USING gpubtree (k) TABLESPACE files WHERE v < 15000;
SELECT gpubtree_check('x', true);
DROP INDEX x;
CHECKPOINT;
SQL
		is($status, 0, "$table: an index that fits is built on the same disks") or diag($err);
	}
}

# ---- a process's limit on the size of files ----

my $limit = 1200 * 1024;
my $too_large = qr/could not (write|extend).*File too large/;

# With and without CONCURRENTLY in turn: what an error leaves of the two, the disks show in each place.
for my $case (
	[ 'serial_t', 'build-leader-scans', '' ],
	[ 'serial_t', 'build-leader-sorts', 'CONCURRENTLY' ],
	[ 'serial_t', 'build-before-load', '' ],
	[ 'serial_t', 'build-loads', 'CONCURRENTLY' ],
	[ 'parallel_t', 'build-before-load', 'CONCURRENTLY' ],
	[ 'parallel_t', 'build-loads', '' ],
	[ 'parallel_t', 'build-worker-loads', 'CONCURRENTLY' ])
{
	my ($table, $point, $concurrently) = @$case;
	my $name = "limit, $table, $point $concurrently";
	my ($holder, $build) = gpb_hold_build($node,
		"CREATE INDEX $concurrently x ON $table USING gpubtree (k) $wide", $point);

	my @limited = $point =~ /worker/ ? gpb_worker_pids($node) : gpb_leader_pid($node);

	system_or_bail('prlimit', '--pid', $_, "--fsize=$limit") for @limited;
	$holder->quit;
	gpb_finish_build($build, $name, $too_large);
	gpb_build_left_nothing($node, $name, segments => $segments, invalid => $concurrently ? 1 : 0);
	gpb_next_build_succeeds($node, $name, $table);
}

done_testing();
