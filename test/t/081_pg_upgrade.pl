# pg_upgrade carries indexes to a new cluster as they are, if both clusters preload the library; if
# one does not, it stops before anything was changed and its output names the setting.  So it does
# with an index for which there would be no room any more: its columns have changed since.
use GpubtreeTest;

my $old = gpb_node('old', databases => 1, settings => "autovacuum = off\n");
my $new = PostgreSQL::Test::Cluster->new('new');
my $bin = $old->config_data('--bindir');
my $question = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 10 AND 3000';
my $preload = "shared_preload_libraries = 'gpubtree'";

{
	local $ENV{GPB_TEMPLATE} = ($ENV{GPB_TEMPLATE} // '') . '-all';

	$new->init;
}
$new->append_conf('postgresql.conf', "gpubtree.device = 'host'\nautovacuum = off\n");
$old->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v integer);
INSERT INTO t SELECT n % 10000, n % 100 FROM generate_series(1, 100000) n;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT n, 7 FROM generate_series(1, 5000) n;
VACUUM ANALYZE t;
CREATE TABLE changed (big bigint NOT NULL, ts timestamptz, n numeric(10, 2), w numeric(38, 2));
CREATE INDEX changed_key ON changed USING gpubtree (big, ts) INCLUDE (n, w);
CREATE INDEX changed_n ON changed USING gpubtree (n);
CREATE INDEX changed_several ON changed USING gpubtree (n, big DESC);
INSERT INTO changed SELECT n, NULL, n / 4.0, n FROM generate_series(1, 1000) n;
ALTER TABLE changed ALTER big DROP NOT NULL, ALTER n TYPE numeric, ALTER w TYPE numeric(60, 2);
CREATE TABLE partial (big bigint, ts timestamptz);
CREATE INDEX partial_key ON partial USING gpubtree (ts, big) WHERE big IS NOT NULL;
INSERT INTO partial SELECT nullif(n % 10, 0), timestamptz '2024-01-01 00:00+00' + n * interval '1 hour'
	FROM generate_series(1, 1000) n;
SQL
my $changed = 'SET enable_seqscan = off; SELECT count(*), sum(n), sum(w) FROM changed WHERE big > 10;'
  . 'SELECT sum(n) FROM changed WHERE n > 100.5; SELECT n, big FROM changed WHERE n < 7.3 ORDER BY n, big DESC;'
  . "SELECT count(*), sum(big) FROM partial WHERE ts > '2024-01-20 00:00+00' AND big IS NOT NULL;";
my $sums = $old->safe_psql('postgres', $changed);
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

is($new->safe_psql('postgres', $changed), $sums, 'the same of columns that changed before');
is($new->safe_psql('postgres', "SELECT gpubtree_check('changed_key', true), gpubtree_check('changed_n', true), gpubtree_check('changed_several', true), gpubtree_check('partial_key', true)"),
	'|||', 'in order');
$new->safe_psql('postgres', "INSERT INTO changed VALUES (0, NULL, 1.50, 2.00)");
$new->safe_psql('postgres', "INSERT INTO partial VALUES (NULL, '2024-01-01'), (1, NULL); REINDEX TABLE partial");
my (undef, undef, $refusal) = $new->psql('postgres', "INSERT INTO changed VALUES (NULL, NULL, 1.50, 2.00)");
like($refusal, qr/null value in column "big", for which index "changed_key" has no code/,
	'what had no room has none still');

# The new cluster's WAL is all that recovery needs.
$new->safe_psql('postgres', 'INSERT INTO t SELECT n, 7 FROM generate_series(1, 5000) n');
$new->stop('immediate');
$new->start;
is($new->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)"),
	'', 'in order after writes and a crash');

done_testing();
