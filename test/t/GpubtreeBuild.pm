# Builds that are brought to fail: what 127 and 128 share.  After a failure nothing may be left of
# the build but, where it was concurrent, an invalid index, and the next build succeeds.
package GpubtreeBuild;

use GpubtreeHold;
use GpubtreeTest;
use Exporter 'import';

our @EXPORT = qw($gpb_build_settings gpb_build_tables gpb_start_build gpb_finish_build
  gpb_hold_build gpb_leader_pid gpb_worker_pids gpb_temporary_files gpb_shared_segments gpb_build_left_nothing gpb_next_build_succeeds);

# Segments of dynamic shared memory are files of the data directory, which the tests count.
our $gpb_build_settings = <<'CONF';
autovacuum = off
dynamic_shared_memory_type = mmap
maintenance_work_mem = 1MB
max_parallel_maintenance_workers = 2
max_worker_processes = 16
max_parallel_workers = 8
restart_after_crash = on
CONF

# Counts the temporary files that sessions have open
my $count_open_files = <<'SQL';
SELECT count(*) FROM pg_tablespace t, pg_ls_tmpdir(t.oid) WHERE spcname <> 'pg_global'
SQL

# Wait for the end of all sessions and workers.  They end a moment after their clients, and a session
# that had workers keeps shared memory to its end.
sub wait_for_ends
{
	my ($node) = @_;

	$node->poll_query_until('postgres', <<'SQL') or die 'sessions do not end';
SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type IN ('client backend', 'parallel worker')
SQL
	return;
}

# Create the tables parallel_t and serial_t, whose builds take two workers and none, and on each the
# index NAME_old, which REINDEX rebuilds.
sub gpb_build_tables
{
	my ($node, $rows) = @_;

	my ($status, $out, $err) = $node->psql('postgres', <<"SQL", on_error_stop => 1);
CREATE TABLE parallel_t (k bigint, v int, a bigint, b bigint, c bigint, d bigint) WITH (parallel_workers = 2);
INSERT INTO parallel_t SELECT hashint8(i), i, i, i, i, i FROM generate_series(1, $rows) i;
CREATE TABLE serial_t WITH (parallel_workers = 0) AS SELECT * FROM parallel_t;
VACUUM ANALYZE;
CREATE INDEX parallel_old ON parallel_t USING gpubtree (k) INCLUDE (v, a, b, c, d);
CREATE INDEX serial_old ON serial_t USING gpubtree (k) INCLUDE (v, a, b, c, d);
$count_open_files
SQL
	wait_for_ends($node);
	is("$status $out$err", '0 0', 'builds close their files, and warn of nothing');
	return;
}

# Start a build in the background, in a session that counts its temporary files when it has failed.
# The session's end would remove them.
sub gpb_start_build
{
	my ($node, $sql, @settings) = @_;

	return gpb_start($node, [ $sql, $count_open_files ], @settings);
}

# Test that a build fails with the error, and that no file of its is open afterwards, unless "ended"
# says that the session ends too.
sub gpb_finish_build
{
	my ($build, $name, $error, $ended) = @_;

	gpb_finish($build);
	like($build->{err}, $error, "$name: an error");
	is($build->{out}, $ended ? '' : '0', "$name: no file is open");
	return;
}

# Start a build, and return it when so many of its processes (one, if no number is given) stand at a
# hold point.  They stand there until the session that is returned first ends.
sub gpb_hold_build
{
	my ($node, $sql, $point, $processes) = @_;
	my $holder = gpb_holder($node);
	my $build = gpb_start_build($node, $sql, "gpubtree.hold_point = '$point'", "application_name = 'build'");
	gpb_wait_for_hold($node, $processes);
	return ($holder, $build);
}

sub gpb_leader_pid
{
	my ($node) = @_;

	return $node->safe_psql('postgres', <<'SQL');
SELECT pid FROM pg_stat_activity WHERE application_name = 'build' AND backend_type = 'client backend'
SQL
}

sub gpb_worker_pids
{
	my ($node) = @_;

	return split(/\n/, $node->safe_psql('postgres',
		q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'parallel worker' ORDER BY pid}));
}

# Temporary files that there are in any tablespace, the directories of file sets included
sub gpb_temporary_files
{
	my ($node) = @_;
	my $data = $node->data_dir;

	return map { glob("$_/pgsql_tmp/* $_/pgsql_tmp/*/*") } "$data/base", glob("$data/pg_tblspc/*/PG_*");
}

# Segments of dynamic shared memory
sub gpb_shared_segments
{
	my ($node) = @_;
	my @files = glob($node->data_dir . '/pg_dynshmem/*');

	return scalar(@files);
}

# Files that PostgreSQL kept after crashes: those of relations whose transaction had not ended
my %kept;

# Files of the database that belong to no relation, without those that crashes left
sub files_of_no_relation
{
	my ($node) = @_;

	# A checkpoint removes the first file of each relation that was dropped.
	my @files = split(/\n/, $node->safe_psql('postgres', <<'SQL'));
CHECKPOINT;
SELECT file FROM (
	SELECT pg_ls_dir('base/' || oid) AS file FROM pg_database WHERE datname = current_database()
	UNION ALL
	SELECT pg_ls_dir(format('pg_tblspc/%s/%s/%s', t.oid, version, d.oid))
	FROM pg_tablespace t, pg_ls_dir(format('pg_tblspc/%s', t.oid)) version, pg_database d
	WHERE t.spcname !~ '^pg_' AND d.datname = current_database()
		AND pg_stat_file(format('pg_tblspc/%s/%s/%s', t.oid, version, d.oid), true) IS NOT NULL) s
WHERE file ~ '^[0-9]+' AND NOT EXISTS (
	SELECT FROM pg_class WHERE pg_relation_filenode(oid) = substring(file, '^[0-9]+')::oid)
SQL
	return grep { !$kept{$_} } @files;
}

# Test that nothing is left of a build that failed.  Options:
#
#	segments	how many segments of shared memory there were before
#	invalid		how many invalid indexes the build leaves, which are then dropped (0)
#	crashed		a process was killed: PostgreSQL keeps a relation's files then
sub gpb_build_left_nothing
{
	my ($node, $name, %options) = @_;
	my $invalid = $options{invalid} // 0;

	wait_for_ends($node);
	is(join(' ', gpb_temporary_files($node)), '', "$name: no temporary file");
	cmp_ok(gpb_shared_segments($node), '<=', $options{segments}, "$name: no shared memory");
	is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_index WHERE NOT indisvalid}),
		$invalid, "$name: invalid indexes");
	$node->safe_psql('postgres', <<'SQL');
SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index
WHERE NOT indisvalid OR indexrelid = to_regclass('x') \gexec
SQL
	my @files = files_of_no_relation($node);

	if ($options{crashed})
	{
		$kept{$_} = 1 for @files;
	}
	else
	{
		is(join(' ', @files), '', "$name: no file of a relation");
	}
	is($node->safe_psql('postgres', <<'SQL'), 0, "$name: no lock");
SELECT count(*) FROM pg_locks WHERE relation IN ('parallel_t'::regclass, 'serial_t'::regclass)
SQL
	return;
}

# Test that a build like the one that failed succeeds, and that the old index is sound: also that it
# has all rows of the table, if "rebuilt" says that it was to be rebuilt.
sub gpb_next_build_succeeds
{
	my ($node, $name, $table, $rebuilt) = @_;
	my $old = $table =~ s/_t$/_old/r;
	my $whole = $rebuilt ? 'true' : 'false';

	my ($status, $out, $err) = $node->psql('postgres', <<"SQL", on_error_stop => 1);
CREATE INDEX x ON $table USING gpubtree (k) INCLUDE (v);
SELECT gpubtree_check('x', true), gpubtree_check('$old', $whole);
DROP INDEX x;
$count_open_files
SQL
	is($status, 0, "$name: the next build succeeds") or diag($err);
	like("$out$err", qr/^\|\n0$/, "$name: the next build closes its files, and warns of nothing");
	return;
}

1;
