# A build that is cancelled, fails, or ends with the server, in any of its phases and in whichever
# process, leaves no temporary file and no index (an invalid one, if it was to be concurrent), and a
# server that works.  Guards build_parallel.c, build_merge.c.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
maintenance_work_mem = 1MB
max_parallel_maintenance_workers = 2
max_worker_processes = 16
max_parallel_workers = 8
restart_after_crash = on
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int) WITH (parallel_workers = 2);
INSERT INTO t SELECT hashint8(i), i FROM generate_series(1, 100000) i;
CREATE TABLE serial_t WITH (parallel_workers = 0) AS SELECT * FROM t;
CREATE FUNCTION fails_at(v int, at int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
	$$ BEGIN RETURN 1 / (v - at); END $$;
SQL

# Temporary files that there are, the directories of file sets included
sub temporary_files
{
	my @files = glob($node->data_dir . '/base/pgsql_tmp/* ' . $node->data_dir . '/base/pgsql_tmp/*/*');
	return @files;
}

# Nothing is left of a build of index x but, where it was concurrent, an invalid index.
sub leaves_nothing
{
	my ($name, $invalid) = @_;

	# Workers end on their own a moment after the leader.
	gpb_wait_until('the files to go', sub { !temporary_files() });
	is(join(' ', temporary_files()), '', "$name: no temporary file");
	is($node->safe_psql('postgres', q{SELECT string_agg(indisvalid::text, '') FROM pg_index WHERE indexrelid = to_regclass('x')}),
		$invalid ? 'false' : '', "$name: " . ($invalid ? 'an invalid index' : 'no index'));
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS x');
}

my $create = 'CREATE INDEX x ON t USING gpubtree (k) INCLUDE (v)';
my $create_serial = 'CREATE INDEX x ON serial_t USING gpubtree (k) INCLUDE (v)';

# Hold a build at a point, and return it when it stands there; the lock is the caller's.
sub hold_build
{
	my ($sql, $point) = @_;
	my $holder = gpb_holder($node);
	my $build = gpb_start($node, $sql, "gpubtree.hold_point = '$point'", "application_name = 'build'");
	gpb_wait_for_hold($node);
	return ($holder, $build);
}

# What pg_stat_progress_create_index shows at each point
my %phase = (
	'build-leader-has-read' => 'building index: scanning table',
	'build-worker-has-read' => 'building index: scanning table',
	'build-before-load' => 'building index: sorting tuples',
	'build-worker-loads' => 'building index: loading tuples in tree',
	'build-before-metapage' => 'building index: loading tuples in tree');

for my $case (
	[ 'build-worker-has-read', $create ], [ 'build-leader-has-read', $create ],
	[ 'build-before-load', $create ], [ 'build-worker-loads', $create ],
	[ 'build-before-metapage', $create ],
	[ 'build-before-load', $create_serial ], [ 'build-before-metapage', $create_serial ],
	[ 'build-before-metapage', "$create WHERE v > 10" =~ s/INDEX/INDEX CONCURRENTLY/r, 1 ])
{
	my ($point, $sql, $invalid) = @$case;
	my $name = "$point, $sql";
	my ($holder, $build) = hold_build($sql, $point);

	is($node->safe_psql('postgres', 'SELECT phase FROM pg_stat_progress_create_index'),
		$phase{$point}, "$name: phase");
	cmp_ok(scalar(temporary_files()), '>', 0, "$name: there are temporary files");
	$node->safe_psql('postgres',
		q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'build' AND backend_type = 'client backend'});
	like(gpb_finish($build), qr/canceling statement due to user request/, "$name: cancelled");
	leaves_nothing($name, $invalid);
	$holder->quit;
}

# A worker is terminated.
for my $point ('build-worker-has-read', 'build-worker-loads')
{
	my ($holder, $build) = hold_build($create, $point);

	$node->safe_psql('postgres',
		q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'parallel worker'});
	like(gpb_finish($build), qr/terminating background worker|lost connection to parallel worker/,
		"$point: a worker is terminated: an error");
	leaves_nothing("$point: a worker is terminated");
	$holder->quit;
}

# Errors: of a worker, of an expression, of too little room for temporary files
for my $case (
	[ 'a worker fails', 't (k)', qr/failing at hold point/, "gpubtree.hold_point = 'build-worker'" ],
	[ 'a worker fails to merge', 't (k)', qr/failing at hold point/, "gpubtree.hold_point = 'build-worker-merges'" ],
	[ 'an expression fails, parallel', 't (fails_at(v, 70000))', qr/division by zero/ ],
	[ 'an expression fails, serial', 'serial_t (fails_at(v, 70000))', qr/division by zero/ ],
	[ 'temp_file_limit, parallel', 't (k)', qr/temporary file size exceeds/, 'temp_file_limit = 500' ],
	[ 'temp_file_limit, serial', 'serial_t (k)', qr/temporary file size exceeds/, 'temp_file_limit = 500' ])
{
	my ($name, $on, $error, @settings) = @$case;

	for my $concurrently ('', 'CONCURRENTLY')
	{
		my $sql = "CREATE INDEX $concurrently x ON " . ($on =~ s/ / USING gpubtree /r);

		like(gpb_finish(gpb_start($node, $sql, @settings)), $error, "$name: error $concurrently");
		leaves_nothing("$name $concurrently", $concurrently ne '');
	}
}

# REINDEX that fails leaves the old index.
$node->safe_psql('postgres', $create);
like(gpb_finish(gpb_start($node, 'REINDEX INDEX x', "gpubtree.hold_point = 'build-worker'")),
	qr/failing at hold point/, 'REINDEX: a worker fails');
$node->safe_psql('postgres', q{SELECT gpubtree_check('x', true)});
pass('REINDEX: the index is as it was');
$node->safe_psql('postgres', 'DROP INDEX x');

# The server ends at once, while a build stands at each point.
for my $point (sort keys %phase)
{
	my ($holder, $build) = hold_build($create, $point);

	$node->stop('immediate');
	eval { $build->{run}->finish };
	eval { $holder->quit };
	$node->start;
	leaves_nothing("$point, server stopped");
}

$node->safe_psql('postgres', "$create; SELECT gpubtree_check('x', true)");
pass('a build at the end');
done_testing();
