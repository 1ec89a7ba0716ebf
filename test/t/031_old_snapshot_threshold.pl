# With old_snapshot_threshold, VACUUM may remove rows that a snapshot can still see, and then makes
# their pages all-visible: the aggregate leaves every row to core, which raises an error
# rather than lose them (rule M5).  Servers from 17 on have no such setting.
use GpubtreeTest;

if ((run_command([ 'postgres', '--describe-config' ]))[0] !~ /^old_snapshot_threshold\t/m)
{
	my ($version) = (run_command([ 'postgres', '--version' ]))[0] =~ /\(PostgreSQL\) (\d+)/;

	cmp_ok($version, '>=', 17, 'a server without old_snapshot_threshold is a later one');
	done_testing();
	exit;
}

my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
old_snapshot_threshold = 0
CONF
gpb_compare_function($node);
gpb_wait_for_service($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
INSERT INTO t SELECT i, i, i FROM generate_series(1, 10000) i;
SQL
$node->safe_psql('postgres', 'VACUUM t');

like(gpb_engine($node, 'SELECT sum(v) FROM t WHERE k > 100', 'aggregate'),
	qr/index scan/, 'the engine is an ordinary index scan');
is( $node->safe_psql('postgres', "SELECT compare_range('t', 100, 9000) IS NOT NULL"),
	't', "its answer is the sequential scan's");

# A session takes a snapshot, rows that it sees are removed for good, and the session asks again.
my $session = $node->background_psql('postgres', on_error_stop => 0);
my $ask = "SELECT answer(range_query('t', 1, 10001), 'aggregate')";
$session->query('BEGIN ISOLATION LEVEL REPEATABLE READ');
like($session->query($ask), qr/^\(10000,/, 'the snapshot sees all rows');

$node->safe_psql('postgres', 'DELETE FROM t WHERE k % 2 = 0');
# The threshold counts in whole minutes, but 0 takes effect after the next transactions.
for (1 .. 3)
{
	$node->safe_psql('postgres', 'UPDATE t SET v = v + 1 WHERE k = 1');
	sleep(2);
}
$node->safe_psql('postgres', 'VACUUM t');
my $again = $session->query($ask);
like($session->{stderr} . $again, qr/snapshot too old|^\(10000,/, 'asked again: an error, or all rows still');
$session->quit;

done_testing();
