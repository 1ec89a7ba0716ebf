# What the processes of a parallel build write of an index is logged, all of it: a standby has the
# same bytes, and so has the server after a crash that took the file's contents.  With wal_level =
# minimal the build itself logs nothing, and the index survives a crash all the same.  Guards
# build_load.c, build_parallel.c.
use Digest::MD5 qw(md5_hex);
use GpubtreeTest;

my $settings = <<'CONF';
autovacuum = off
max_parallel_maintenance_workers = 3
max_worker_processes = 16
max_parallel_workers = 8
maintenance_work_mem = 4MB
CONF
my $table = <<'SQL';
CREATE TABLE t (k bigint, v int, name text) WITH (parallel_workers = 3);
INSERT INTO t SELECT hashint8extended(i, 1), i, 'name ' || i % 5000 FROM generate_series(1, 100000) i;
SQL
my %build = (
	'of keys' => 'CREATE INDEX x ON t USING gpubtree (k)',
	'with a dictionary' => 'CREATE INDEX x ON t USING gpubtree (k) INCLUDE (v, name)',
	'of equal keys' => 'CREATE INDEX x ON t USING gpubtree ((v % 3)) INCLUDE (v)');

# The file of index x: its path from the data directory on, and what a server has there
sub file_of
{
	my ($node) = @_;

	return $node->safe_psql('postgres', q{SELECT pg_relation_filepath('x')});
}

sub bytes_of
{
	my ($node, $file) = @_;

	return md5_hex(slurp_file($node->data_dir . "/$file"));
}

# Take the contents of a file, while its server stands still.
sub empty_file
{
	my ($node, $file) = @_;

	truncate($node->data_dir . "/$file", 0) or die "$!";
}

my $node = gpb_node('main', settings => $settings, allows_streaming => 1);
$node->safe_psql('postgres', $table);
my $standby = gpb_standby($node);

for my $kind (sort keys %build)
{
	$node->safe_psql('postgres', "CHECKPOINT; $build{$kind}");
	my $file = file_of($node);

	$node->wait_for_catchup($standby);
	$standby->safe_psql('postgres', q{SELECT gpubtree_check('x', true)});
	$standby->stop;
	$node->stop('immediate');
	empty_file($node, $file);
	$node->start;
	$node->safe_psql('postgres', q{SELECT gpubtree_check('x', true)});
	$node->safe_psql('postgres', 'CHECKPOINT');
	is(bytes_of($node, $file), bytes_of($standby, $file), "$kind: the standby has the same bytes");

	# What the build wrote itself, past the WAL
	$node->safe_psql('postgres', "REINDEX INDEX x; CHECKPOINT");
	my $rebuilt = file_of($node);
	my $built = bytes_of($node, $rebuilt);

	$standby->start;
	$node->wait_for_catchup($standby);
	$standby->stop;
	is(bytes_of($standby, $rebuilt), $built, "$kind: and those that the build wrote");
	$standby->start;
	$node->safe_psql('postgres', 'DROP INDEX x');
}
$standby->stop;

# The threshold decides whether the commit syncs the file or logs its pages.
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\nwal_keep_size = 0\n");
for my $threshold ('0', '1GB')
{
	$node->append_conf('postgresql.conf', "wal_skip_threshold = '$threshold'\n");
	$node->restart;
	for my $kind (sort keys %build)
	{
		my $name = "$kind, wal_skip_threshold = $threshold";

		# Workers must read what the transaction has made.
		$node->safe_psql('postgres', "DROP TABLE t; BEGIN; $table $build{$kind}; COMMIT");
		my $file = file_of($node);

		$node->stop('immediate');
		empty_file($node, $file) if $threshold ne '0';
		$node->start;
		my ($status, $out, $err) = $node->psql('postgres', q{SELECT gpubtree_check('x', true)});
		is($status, 0, "$name: whole after a crash") or diag($err);
	}
}

done_testing();
