# Inserts, deletes, updates and VACUUM run beside aggregates; every aggregate equals a
# sequential scan in the same snapshot, through the mirror and without it.
use GpubtreeLimits;
use GpubtreeTest;

my $node = gpb_node('main', settings => "autovacuum = off\nmax_connections = 30\n");
gpb_compare_function($node);

my $seed = gpb_seed();

my %writers = gpb_writers(20000);
my @devices = ('host', 'off');
push @devices, 'cuda' if ($ENV{GPB_CUDA} // 'no') eq 'yes';
for my $device (@devices)
{
	my $comparisons = $device eq 'off' ? 1500 : 3000;
	my $clients = 5;
	my $each = int($comparisons / 3 * 6 / 5);

	$node->append_conf('postgresql.conf', "gpubtree.device = '$device'\n");
	$node->restart;
	gpb_wait_for_service($node) unless $device eq 'off';
	$node->safe_psql('postgres', <<'SQL');
DROP TABLE IF EXISTS t;
CREATE TABLE t (k bigint, v int, d float8 DEFAULT floor(random() * 100), note int) WITH (fillfactor = 80);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
INSERT INTO t SELECT i, i % 1000, i % 100 FROM generate_series(1, 20000) i;
CREATE TABLE IF NOT EXISTS compared (n bigint);
TRUNCATE compared;
VACUUM t;
SQL
	# Half of the transactions compare; the ranges are wide and narrow in turn.  VACUUM does not
	# truncate: it would wait five seconds for the others to let go of the table.
	$node->pgbench(
		"-n -c $clients -t $each --random-seed=$seed", 0,
		[qr/processed: (\d+)\/\1/], [qr/^pgbench: setting random seed to \d+$/],
		"$device: every aggregate equals the sequential scan",
		{   "$device-compare\@64" => <<'SQL',
\set a random(-10, 20000)
\set w random(0, 2)
\set b :a + case when :w = 0 then 50 when :w = 1 then 2000 else 30000 end
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_range('t', :a, :b);
COMMIT;
INSERT INTO compared VALUES (1);
SQL
			(map { ("$device-$_" => $writers{$_}) } keys %writers),
			"$device-abort\@4" => <<'SQL' });
\set a random(1, 20000)
BEGIN;
INSERT INTO t SELECT :a, i, i FROM generate_series(1, 10) i;
ROLLBACK;
SQL
	my $compared = $node->safe_psql('postgres', 'SELECT count(*) FROM compared');
	cmp_ok($compared, '>=', $comparisons * 0.8, "$device: $compared comparisons were made");
	my $engine = gpb_engine($node, 'SELECT sum(v) FROM t WHERE k > 100', 'aggregate');
	like($engine, $device eq 'off' ? qr/cpu/i : qr/$device/i, "$device: the engine was $engine");
	gpb_index_is_sound($node, 't_k', "$device: the index is sound and complete");
}

done_testing();
