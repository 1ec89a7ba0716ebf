# A file identity comes back with other contents (rule M1): a database moved to another
# tablespace, changed there and moved back; a database dropped and made again with the same OID.
use GpubtreeTest;

my $node = gpb_node('main', databases => 1, settings => "autovacuum = off\n");
my $directory = $node->basedir . '/elsewhere';
mkdir $directory or die $!;
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$directory'");
gpb_wait_for_service($node);

my $force = <<'SQL';
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SQL
my $count = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 1 AND 50000';

sub fill
{
	my ($database) = @_;

	$node->safe_psql($database, <<'SQL');
CREATE EXTENSION gpubtree;
CREATE TABLE t (k bigint, v int);
INSERT INTO t SELECT i, 1 FROM generate_series(1, 20000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
SQL
	$node->safe_psql($database, 'VACUUM ANALYZE t');
}

sub engine
{
	my ($database) = @_;

	my $plan = $node->safe_psql($database,
		"$force EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $count");
	return $plan =~ /Engine: (.*)/ ? $1 : '';
}

# The database is moved to another tablespace and back.
$node->safe_psql('postgres', 'CREATE DATABASE d');
fill('d');
is($node->safe_psql('d', "$force $count"), '20000|20000', 'before the move');
like(engine('d'), qr/host/, 'through the mirror');
my $file = $node->safe_psql('d', "SELECT pg_relation_filenode('t_k')");

$node->safe_psql('postgres', 'ALTER DATABASE d SET TABLESPACE elsewhere');
$node->safe_psql('d', 'SET gpubtree.enable_device = off; INSERT INTO t SELECT i, 1 FROM generate_series(20001, 30000) i');
$node->safe_psql('postgres', 'ALTER DATABASE d SET TABLESPACE pg_default');
is($node->safe_psql('d', "SELECT pg_relation_filenode('t_k')"), $file, 'the file is called as before');
is($node->safe_psql('d', "$force $count"), '30000|30000', 'what was inserted elsewhere is counted');
like(engine('d'), qr/host/, 'through a mirror again');
$node->safe_psql('d', 'DELETE FROM t WHERE k <= 10000');
$node->safe_psql('d', 'VACUUM t');
is($node->safe_psql('d', "$force $count"), '20000|20000', 'and its changes are followed');

# Another database gets the same OID, from a template whose files have the same numbers.
$node->safe_psql('postgres', 'CREATE DATABASE template_d TEMPLATE d');
$node->safe_psql('postgres', 'CREATE DATABASE copy OID 70001 TEMPLATE template_d');
is($node->safe_psql('copy', "$force $count"), '20000|20000', 'a copy, mirrored');
like(engine('copy'), qr/host/, 'through the mirror');
$node->safe_psql('postgres', 'DROP DATABASE copy');
$node->safe_psql('template_d', 'SET gpubtree.enable_device = off; INSERT INTO t SELECT i, 1 FROM generate_series(30001, 35000) i');
$node->safe_psql('postgres', 'CREATE DATABASE copy OID 70001 TEMPLATE template_d');
is($node->safe_psql('copy', "SELECT oid FROM pg_database WHERE datname = 'copy'"), '70001',
	'the same database OID');
is($node->safe_psql('copy', "$force $count"), '25000|25000', 'other contents are seen');

# Files under another identity are other mirrors.
is($node->safe_psql('postgres', 'SELECT count(*) > 1 FROM gpubtree_mirrors()'), 't',
	'several databases have mirrors at once');

done_testing();
