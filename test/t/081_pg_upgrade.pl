# pg_upgrade carries indexes to a new cluster as they are, if both clusters preload the library; if
# one does not, it stops before anything was changed and its output names the setting.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;

my $old = gpb_node('old', settings => "autovacuum = off\n");
my $new = PostgreSQL::Test::Cluster->new('new');
my $bin = $old->config_data('--bindir');
my $question = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 10 AND 3000';
my $preload = "shared_preload_libraries = 'gpubtree'";

$new->init;
$new->append_conf('postgresql.conf', "gpubtree.device = 'host'\nautovacuum = off\n");
$old->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v integer);
INSERT INTO t SELECT n % 10000, n % 100 FROM generate_series(1, 100000) n;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT n, 7 FROM generate_series(1, 5000) n;
VACUUM ANALYZE t;
SQL
my $answer = $old->safe_psql('postgres', $question);
my $file = $old->safe_psql('postgres', "SELECT pg_relation_filenode('t_k')");
$old->stop;

# Return everything that pg_upgrade printed and logged.
sub upgrade
{
	my @command = (
		'pg_upgrade', '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir,
		'-b', $bin, '-B', $bin, '-s', $new->host, '-p', $old->port, '-P', $new->port, @_);
	# pg_upgrade writes files where it is started.
	chdir $PostgreSQL::Test::Utils::tmp_check or die;
	my $output = '';
	my $ok = IPC::Run::run(\@command, '>', \$output, '2>&1');
	my $logs = $new->data_dir . '/pg_upgrade_output.d';

	for my $log (glob("$logs/*/*.txt $logs/*/log/*"))
	{
		$output .= slurp_file($log);
	}
	return ($ok, $output);
}

my ($ok, $output) = upgrade('--check');
ok(!$ok, 'refused while the new cluster does not preload the library');
like($output, qr/must be loaded through shared_preload_libraries/, 'says what to do');

$new->append_conf('postgresql.conf', $preload);
$old->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
my $copy = $new->data_dir . '.untouched';
system_or_bail('cp', '-a', $new->data_dir, $copy);
($ok, $output) = upgrade();
ok(!$ok, 'refused while the old cluster does not preload it');
like($output, qr/must be loaded through shared_preload_libraries/, 'says what to do');
system_or_bail('rm', '-rf', $new->data_dir);
system_or_bail('mv', $copy, $new->data_dir);

$old->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'gpubtree'");
($ok, $output) = upgrade();
ok($ok, 'done with the library preloaded in both') or diag($output);

$new->start;
is($new->safe_psql('postgres', "SELECT pg_relation_filenode('t_k')"),
	$file, 'the index is the same file');
is($new->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)"), '', 'in order');
is($new->safe_psql('postgres', $question), $answer, 'the answer is the same');
is($new->safe_psql('postgres', "SET enable_seqscan = off; SET enable_bitmapscan = off; $question"),
	$answer, 'through the index');

# The new cluster's WAL is all that recovery needs.
$new->safe_psql('postgres', 'INSERT INTO t SELECT n, 7 FROM generate_series(1, 5000) n');
$new->stop('immediate');
$new->start;
is($new->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)"),
	'', 'in order after writes and a crash');

done_testing();
