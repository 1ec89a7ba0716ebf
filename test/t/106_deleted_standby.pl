# Deletion and recycling of pages on a standby, beside its readers and its checker; every page that is
# replayed is compared with the primary's. No query is cancelled because a page was recycled. After a
# crash of the primary and a promotion the index is sound, and blocks are recycled there.
#
# Guards: the redo of UNLINK and its marks; the checker beside replay; rule M7 on a standby.
#
# GPB_SECONDS	how long the mix runs (default 4)
use GpubtreeMix;
use GpubtreeTest;

my $seconds = $ENV{GPB_SECONDS} // 4;
my $primary = gpb_node('primary', allows_streaming => 1, settings => <<'CONF');
autovacuum = off
max_connections = 30
wal_consistency_checking = 'gpubtree'
hot_standby_feedback = on
max_standby_streaming_delay = -1
# full-page images of every record, which a busy machine replays later
max_wal_size = 8GB
CONF
gpb_compare_function($primary);
mix_wide_table($primary, 50000);
my $standby = gpb_standby($primary);
$primary->wait_for_catchup($standby);
gpb_wait_for_service($standby);

my $readers = gpb_start_pgbench(
	$standby,
	{   'read@3' => <<'SQL',
\set a random(-10, 50000)
\set b :a + random(1, 30000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_range('t', :a, :b);
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SET LOCAL enable_sort = off;
SET LOCAL gpubtree.enable_aggregate = off;
SELECT count(k) FROM (SELECT k FROM t WHERE k BETWEEN :a AND :b ORDER BY k OFFSET 0) q;
SELECT count(k) FROM (SELECT k FROM t WHERE k BETWEEN :a AND :b ORDER BY k DESC OFFSET 0) q;
COMMIT;
SQL
		'check@1' => "SELECT gpubtree_check('t_k', false);\n" },
	'-c', 3);

my %mix = mix_deletions(50000);
$primary->pgbench(
	"-n -c 4 -T $seconds --random-seed=" . gpb_seed(), 0,
	[qr/number of failed transactions: 0/], [qr/^pgbench: setting random seed to \d+$/],
	'changes on the primary', \%mix);
ok(gpb_end_pgbench($readers, none_fails => 1), 'readers and checks on the standby');

$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
for my $node ($primary, $standby)
{
	gpb_index_is_sound($node, 't_k', $node->name . ': the index is sound');
}
is($standby->safe_psql('postgres', 'SELECT sum(confl_snapshot) FROM pg_stat_database_conflicts'), 0,
	'no query of the standby was in the way');
my $query = 'SELECT count(*), sum(k), sum(v) FROM t';
my $answer = $primary->safe_psql('postgres', $query);
is($standby->safe_psql('postgres', $query), $answer, 'both have the same rows');

# A crash beside all this
my $changes = gpb_start_pgbench($primary, $mix{'delete@16'} . $mix{'insert@16'} . $mix{'vacuum@12'}, '-c', 2);
gpb_go_on($primary, 2, "SELECT n_dead_tup + n_tup_del > 0 FROM pg_stat_user_tables");
$primary->stop('immediate');
$changes->finish;
$primary->start;
gpb_index_is_sound($primary, 't_k', 'after a crash the index is sound');

$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', 'ALTER TABLE t SET (vacuum_truncate = off)');
$standby->safe_psql('postgres', 'DELETE FROM t WHERE k < 45000');
$standby->safe_psql('postgres', 'VACUUM (TRUNCATE OFF) t');
my $blocks = $standby->safe_psql('postgres', "SELECT pg_relation_size('t_k')");
$standby->safe_psql('postgres', 'INSERT INTO t (k, v, d) SELECT i, 1, 1 FROM generate_series(1, 8000) i');
is($standby->safe_psql('postgres', "SELECT pg_relation_size('t_k')"), $blocks,
	'after a promotion blocks are recycled');
gpb_index_is_sound($standby, 't_k', 'and the index is sound');

done_testing();
