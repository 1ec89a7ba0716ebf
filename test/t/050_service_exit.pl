# The service is told to exit in the middle of queries: they answer all the same, the service
# comes back, and mirrors are rebuilt.
use Time::HiRes qw(usleep);
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, settings => "autovacuum = off\n");
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
INSERT INTO t SELECT i, i % 10, i % 7 FROM generate_series(1, 100000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE t');
gpb_wait_for_service($node);

my $query = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 1000 AND 90999';
my $answer = $node->safe_psql('postgres',
	"SET gpubtree.enable_aggregate = off; SET enable_indexonlyscan = off; $query");
like(gpb_engine($node, $query, 'aggregate'), qr/host/, 'the mirror answers');

# At each point of a query at which it depends on the service
for my $point ('batch-after-refresh', 'batch-after-visibility-map')
{
	my $holder = $node->background_psql('postgres');
	my $reader = $node->background_psql('postgres');

	gpb_wait_for_service($node);
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	$reader->query_safe("SET gpubtree.hold_point = '$point'");
	$reader->query_safe('SELECT force(\'aggregate\')');
	$reader->query_safe("SET $_") for (
		'gpubtree.setup_cost = 0', 'gpubtree.batch_setup_cost = 0', 'enable_seqscan = off',
		'enable_indexscan = off',  'enable_indexonlyscan = off',
		'enable_bitmapscan = off');
	$reader->query_until(qr/sent/, "\\echo sent\n$query;\n\\echo answered\n");
	gpb_wait_for_hold($node);

	my $pid = gpb_service_pid($node);
	kill 'TERM', $pid;
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM gpubtree_device WHERE pid = $pid")
	  or die 'the service did not exit';
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	my $out = $reader->query('SELECT 1');
	like($out, qr/^\Q$answer\E$/m, "$point: the query answers");
	$holder->quit;
	$reader->quit;

	gpb_wait_for_service($node);
	my $new = gpb_service_pid($node);
	ok($new ne '' && $new != $pid, "$point: the service came back");
	like(gpb_engine($node, $query, 'aggregate'), qr/host/, "$point: with a new mirror");
}

# Again and again under load
my $load = gpb_start_pgbench($node, <<'SQL', '-c', '3');
\set a random(1, 100000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_range('t', :a, :a + 20000);
COMMIT;
UPDATE t SET v = v + 1 WHERE k = :a;
SQL
for (1 .. 8)
{
	gpb_wait_for_service($node);
	kill 'TERM', gpb_service_pid($node);
	usleep(1_300_000);
}
ok(gpb_end_pgbench($load), 'no query failed or answered wrongly while the service was told to exit eight times');
gpb_nothing_crashed($node);

done_testing();
