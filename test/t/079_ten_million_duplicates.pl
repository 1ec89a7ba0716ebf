# One key ten million times, over tens of thousands of leaves: batches and aggregates count it on
# the device, on the CPU, and with the inner nodes alone, and so they do when some of the rows have
# gone.
use GpubtreeTest;

my $rows = 10_000_000;
my $node = gpb_node('main', settings => <<"CONF");
gpubtree.device = '${\($ENV{GPB_DEVICE} // 'host')}'
autovacuum = off
fsync = off
wal_level = minimal
max_wal_senders = 0
shared_buffers = '512MB'
maintenance_work_mem = '512MB'
CONF
gpb_wait_for_service($node);

$node->safe_psql('postgres', <<SQL);
CREATE TABLE t AS SELECT 7::int AS k, 1::int AS v FROM generate_series(1, $rows);
INSERT INTO t VALUES (6, 10), (8, 100), (NULL, 1000);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
VACUUM t;
SQL

# Probe with an engine for the keys 5, 6, 7, 8 and 7 again; return the matches and the sum.
sub probe
{
	my ($engine) = @_;
	return $node->safe_psql('postgres',
		"SELECT matches, sum FROM gpubtree_probe('t_k', '{5,6,7,8,7,NULL}'::int[], '$engine')");
}

my $expected = (2 * $rows + 2) . '|' . (2 * $rows + 110);
is(probe($_), $expected, "all of them, engine $_") for qw(cpu inner device);
is($node->safe_psql('postgres', 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 7 AND 7'),
	"$rows|$rows", 'an aggregate');

$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 7 AND ctid < \'(100,0)\'');
my $left = $node->safe_psql('postgres',
	'SET enable_indexscan = off; SET enable_bitmapscan = off; SET gpubtree.enable_device = off;
	 SELECT count(*) FROM t WHERE k = 7');
cmp_ok($left, '<', $rows, 'some are gone');
$expected = (2 * $left + 2) . '|' . (2 * $left + 110);
is(probe($_), $expected, "what is left of them, engine $_") for qw(cpu inner device);

done_testing();
