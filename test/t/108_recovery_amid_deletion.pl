# Recovery to a point in time, to a place in the WAL amid the deletion and recycling of pages: before
# or after a single record of UNLINK, VACUUM, SPLIT or VACUUM_PASS. Where it stops the
# index is sound, holds what the table holds, and takes inserts, deletions and VACUUM.
#
# Guards: one record for each deletion; the order of the records of a split that recycles a page.
#
# GPB_ROUNDS	places at which recovery stops (default 5)
use GpubtreeTest;

gpb_seed();
my $rounds = $ENV{GPB_ROUNDS} // 5;
my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(has_archiving => 1, allows_streaming => 1);
$primary->append_conf('postgresql.conf', <<'CONF');
shared_preload_libraries = 'gpubtree'
gpubtree.device = 'host'
autovacuum = off
max_wal_size = 4GB
CONF
$primary->start;
$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree;
CREATE EXTENSION pg_walinspect;
CREATE TABLE t (k bigint, v int, a int8, b int8, c int8, e int8, f int8, g int8);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, a, b, c, e, f, g);
INSERT INTO t (k, v) SELECT i, 0 FROM generate_series(1, 40000) i;
SQL
$primary->backup('base');
my $start = $primary->lsn('insert');

# Deletions of leaves and of whole subtrees, with pages recycled in between
for my $i (1 .. 4)
{
	my $from = $i * 4000;

	$primary->safe_psql('postgres', $_) for (
		"DELETE FROM t WHERE k BETWEEN $from AND $from + 9000",
		'VACUUM (TRUNCATE OFF) t',
		"INSERT INTO t (k, v) SELECT $from + i % 5000, i FROM generate_series(1, 6000) i");
}
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
my $end = $primary->lsn('flush');

# The places of records of deletion, and of what comes between them
my @places = split(/\n/, $primary->safe_psql('postgres', <<"SQL"));
SELECT record_type || ' ' || start_lsn || ' ' || end_lsn FROM pg_get_wal_records_info('$start', '$end')
WHERE resource_manager = 'gpubtree' AND record_type IN ('UNLINK', 'VACUUM', 'SPLIT', 'VACUUM_PASS')
ORDER BY record_type = 'UNLINK' DESC, start_lsn
SQL
my @unlinks = grep { /^UNLINK/ } @places;
cmp_ok(scalar(@unlinks), '>', 100, scalar(@unlinks) . ' records of deletion');
$primary->stop;

my %seen;
for my $round (1 .. $rounds)
{
	my $from = $round % 2 ? \@unlinks : \@places;
	my ($type, $before, $after) = split(/ /, $from->[ int(rand(@$from)) ]);
	my $inclusive = int(rand(2));
	my $name = "round $round, " . ($inclusive ? 'after' : 'before') . " $type at $before";
	my $node = PostgreSQL::Test::Cluster->new("stopped_$round");

	$node->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
	$node->append_conf('postgresql.conf', <<"CONF");
recovery_target_lsn = '$before'
recovery_target_inclusive = @{[ $inclusive ? 'on' : 'off' ]}
recovery_target_action = promote
CONF
	$node->start;
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'recovery does not end';
	$seen{$type}++;
	gpb_index_is_sound($node, 't_k', "$name: the index is sound and complete");
	my ($status, $out, $err) = $node->psql('postgres', <<'SQL');
VACUUM (TRUNCATE OFF, INDEX_CLEANUP ON) t;
SELECT gpubtree_check('t_k', true);
DELETE FROM t WHERE k BETWEEN 3000 AND 25000;
VACUUM (TRUNCATE OFF, INDEX_CLEANUP ON) t;
INSERT INTO t (k, v) SELECT i, 0 FROM generate_series(2000, 12000) i;
SELECT gpubtree_check('t_k', true);
SET enable_seqscan = off;
SELECT count(k) = (SELECT count(*) FROM t) FROM (SELECT k FROM t WHERE k > 0 ORDER BY k OFFSET 0) q;
SQL
	is($err, '', "$name: changes, VACUUM");
	like($out, qr/t$/, "$name: all rows are found");
	$node->stop('immediate');
}
ok($seen{UNLINK}, 'recovery stopped at deletions');
done_testing();
