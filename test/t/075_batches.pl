# Batches of searches through the service: right beside writers, small ones joined, large ones cut so
# that small ones need not wait, and nothing is leaked or hangs when a backend or the service goes in the middle.
#
# GPB_SECONDS	how long eight backends ask beside a writer (default 2)
use Time::HiRes;
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, settings => <<'CONF');
autovacuum = off
gpubtree.batch_slots = 8
gpubtree.batch_memory = 320MB
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;
CREATE TABLE t (k int);
INSERT INTO t SELECT (i::bigint * 7919 % 100003)::int FROM generate_series(1, 100000) i;
CREATE INDEX t_k ON t USING gpubtree (k);
CREATE TABLE wide (k bigint);
INSERT INTO wide SELECT i FROM generate_series(1, 50000) i;
INSERT INTO wide SELECT 20000 FROM generate_series(1, 5000) i;
CREATE INDEX wide_k ON wide USING gpubtree (k DESC);
SQL
gpb_wait_for_service($node);

# keys and requests that fill 8 chunks of which two are on the device at a time
my $large = "SELECT * FROM gpubtree_test_request_timing('t_k', 8 * 1024 * 1024, 1)";

# ---- helpers ----

# A session in the background that runs one statement, and is held at a point if one is named
sub start
{
	my ($name, $sql, $point) = @_;
	return gpb_start($node, $sql, "application_name = '$name'",
		$point ? "gpubtree.hold_point = '$point'" : ());
}

# Its errors; '' if it succeeded
sub finish
{
	my ($session) = @_;

	gpb_finish($session);
	return $session->{err};
}

sub counters
{
	my %counter;
	my @names = ('batches', 'keys', 'launches', 'joined_launches', 'failed_over');

	@counter{@names} = split /\|/,
	  $node->safe_psql('postgres', 'SELECT ' . join(', ', @names) . ' FROM gpubtree_batches');
	return \%counter;
}

sub serves
{
	my ($name) = @_;

	is($node->safe_psql('postgres', "SELECT median_us > 0 FROM gpubtree_test_request_timing('t_k', 3000, 2)"),
		't', "$name: the next request is answered");
}

# ---- what a request may be; the function compares a sample of the results with the tree ----

for my $index ('t_k', 'wide_k')
{
	for my $order ('input', 'near', 'key')
	{
		for my $keys (1, 2, 1000, 65536, 65537, 1048576)
		{
			is( $node->safe_psql('postgres', <<"SQL"), 't', "$index: $keys keys in order $order");
SELECT keys_per_second > 0 AND 0 < median_us AND median_us <= p99_us AND p99_us <= max_us
FROM gpubtree_test_request_timing('$index', $keys, 1, '$order')
SQL
		}
	}
}
my $before = counters();
$node->safe_psql('postgres', $large);
$node->safe_psql('postgres', "SELECT gpubtree_test_request_timing('t_k', 100, 10)");
my $after = counters();
is($after->{launches} - $before->{launches}, 18, 'a large request is cut into 8 launches');
is($after->{batches} - $before->{batches}, 11, 'requests are counted');
is($after->{keys} - $before->{keys}, 8 * 1024 * 1024 + 1000, 'keys are counted');
is($after->{failed_over}, 0, 'none failed over');
gpb_all_is_free($node, 'at first');

# ---- joined ----

$before = counters();
gpb_hold_service($node, 'batches');
my @small = map { start('small', "SELECT gpubtree_test_request_timing('t_k', 1000 * $_, 1)") } (1 .. 6);
push @small, map { start('small', "SELECT gpubtree_test_request_timing('wide_k', 1000 * $_, 1)") } (1 .. 2);
gpb_wait_for_sessions($node, 'small', 8);
gpb_release_service($node, 'batches');
is(join('', map { finish($_) } @small), '', 'requests of 8 backends found in one look are answered');
$after = counters();
is($after->{launches} - $before->{launches}, 2, 'with one launch for each index');
is($after->{joined_launches} - $before->{joined_launches}, 2, 'both counted as joined');
is($after->{batches} - $before->{batches}, 8, 'as 8 requests');

# ---- a large request does not starve small ones ----

# It is held whenever it has launched a chunk, until the small one has its answer.
gpb_hold_service($node, 'chunk');
my $big = start('big', $large);
gpb_wait_for_service_at($node, 'chunk');
my $little = start('little', "SELECT gpubtree_test_request_timing('t_k', 1000, 1)");
gpb_wait_for_sessions($node, 'little', 1);
my $chunks = 0;
gpb_wait_until(
	'the small request',
	sub {
		return 1 if gpb_has_ended($little->{run}) || $little->{out} ne '' || $little->{err} ne '';
		if (gpb_is_held($node, 'chunk'))
		{
			gpb_release_service($node, 'chunk');
			gpb_wait_until('the service to go on', sub { !gpb_is_held($node, 'chunk') });
			gpb_hold_service($node, 'chunk');
			$chunks++;
		}
		return 0;
	});
like($little->{out}, qr/^\(/, 'a small request submitted after a large one is answered');
is( $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'big' AND state = 'active' AND wait_event_type = 'Extension'"),
	1, 'before the large one');
cmp_ok($chunks, '<=', 3, 'within two chunks of it');
gpb_release_service($node, 'chunk');
is(finish($little) . finish($big), '', 'the large one is answered too');
gpb_all_is_free($node, 'after both');

# ---- a backend goes in the middle ----

my $holder = $node->background_psql('postgres');

for my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
	my $gone = qr/canceling statement|terminating connection/;
	my $stop = "SELECT $end(pid) FROM pg_stat_activity WHERE application_name = 'leaver'";
	my $leaver;

	# submitted, not yet seen by the service
	gpb_hold_service($node, 'batches');
	$leaver = start('leaver', $large);
	gpb_wait_for_sessions($node, 'leaver', 1);
	gpb_wait_for_service_at($node, 'batches');
	$node->safe_psql('postgres', $stop);
	like(finish($leaver), $gone, "$end reaches a backend whose request was not seen yet");
	is($node->safe_psql('postgres', 'SELECT slots - slots_free, memory_free < memory_bytes FROM gpubtree_batches'),
		'1|t', 'its slot and staging are the service\'s until it has seen that');
	gpb_release_service($node, 'batches');
	gpb_all_is_free($node, "$end before the service saw the request");

	# two chunks on the device, six to come
	$before = counters();
	gpb_hold_service($node, 'chunk');
	$leaver = start('leaver', $large);
	gpb_wait_for_service_at($node, 'chunk');
	$node->safe_psql('postgres', $stop);
	like(finish($leaver), $gone, "$end reaches a backend whose request is on the device");
	is($node->safe_psql('postgres', 'SELECT slots - slots_free FROM gpubtree_batches'),
		1, 'its slot is the service\'s until the device has ended');
	gpb_release_service($node, 'chunk');
	gpb_all_is_free($node, "$end while the device has two chunks");
	$after = counters();
	cmp_ok($after->{launches} - $before->{launches}, '<=', 2, 'the chunks to come are dropped');
	is($after->{failed_over}, $before->{failed_over}, 'which is not failing over');

	# the backend's own
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	$leaver = start('leaver', $large, 'batch-before-submit');
	gpb_wait_for_hold($node);
	$node->safe_psql('postgres', $stop);
	like(finish($leaver), $gone, "$end reaches a backend that has submitted nothing");
	gpb_all_is_free($node, "$end before the submit");
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	serves($end);
}

# ---- all slots are taken: waiting for one can be cancelled, and ends when one is given back ----

$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
my @holders = map {
	start('taker', "SELECT gpubtree_test_request_timing('t_k', 10, 1)", 'batch-before-submit')
} (1 .. 8);
$node->poll_query_until('postgres', 'SELECT slots_free = 0 FROM gpubtree_batches') or die;
my ($code, $out, $err) = $node->psql('postgres',
	"SET statement_timeout = 300; SELECT gpubtree_test_request_timing('t_k', 10, 1)");
like($err, qr/statement timeout/, 'waiting for a query slot can be cancelled');
my $waiter = start('waiter', "SELECT gpubtree_test_request_timing('t_k', 10, 1)");
gpb_wait_for_sessions($node, 'waiter', 1);
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
is(join('', map { finish($_) } @holders, $waiter), '', 'and ends when slots are given back');
gpb_all_is_free($node, 'after a wait for slots');

# ---- the service goes in the middle ----

my $no_answer = qr/^$|gave no answer|no device to measure|has no mirror/;

for my $point ('batches', 'chunk')
{
	my $pid = gpb_service_pid($node);

	gpb_hold_service($node, $point);
	my @request = map { start('request', $large) } (1 .. 2);
	gpb_wait_for_sessions($node, 'request', 2);
	gpb_wait_for_service_at($node, $point);
	kill 'TERM', $pid;
	gpb_release_service($node, $point);
	like(finish($_), $no_answer, "$point: answered, or told that there is no answer") for @request;
	$node->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM gpubtree_device WHERE status = 'ready' AND pid <> $pid")
	  or die 'the service did not come back';
	gpb_all_is_free($node, "$point: after the service");
	serves("$point: after the service");
}

# ---- 8 backends beside a writer that splits pages, the service restarting now and then ----

$before = counters();
my $writer = gpb_start_pgbench($node, <<'SQL', '-c', '1');
\set seed random(0, 1000000)
SELECT setseed(:seed / 1000000.0);
INSERT INTO t SELECT (random() * 100000)::int FROM generate_series(1, 300);
INSERT INTO wide SELECT (random() * 50000)::int FROM generate_series(1, 300);
SQL
my $leaves = "SELECT sum(pg_relation_size(i)) FROM unnest('{t_k,wide_k}'::regclass[]) i";
my $size = $node->safe_psql('postgres', $leaves);
my @readers = map {
	gpb_start_pgbench($node, <<"SQL", '-c', '4');
\\set keys random(1, 5000)
\\set many random(1, 20)
SELECT gpubtree_test_request_timing('t_k', :keys, 10);
SELECT gpubtree_test_request_timing('wide_k', :keys, 10, '$_');
SELECT gpubtree_test_request_timing('t_k', :keys * :many * 5, 1, '$_');
SQL
} ('near', 'key');
gpb_go_on($node, $ENV{GPB_SECONDS} // 2, "SELECT ($leaves) > $size AND joined_launches > $before->{joined_launches} FROM gpubtree_batches");
ok(gpb_end_pgbench($_), 'results of 8 backends at once are right while pages split and requests are joined')
  for @readers;
ok(gpb_end_pgbench($writer), 'the writer is not disturbed');
gpb_all_is_free($node, 'after 8 backends');

my $load = gpb_start_pgbench($node, <<'SQL', '-c', '4');
DO $$ BEGIN
	PERFORM gpubtree_test_request_timing('t_k', 20000, 20);
EXCEPTION WHEN object_not_in_prerequisite_state THEN NULL;
END $$;
SQL
for (1 .. 5)
{
	gpb_wait_for_service($node);
	kill 'TERM', gpb_service_pid($node);
	Time::HiRes::usleep(300_000);
}
ok(gpb_end_pgbench($load), 'no request hangs or is answered wrongly while the service restarts');
gpb_wait_for_service($node);
gpb_all_is_free($node, 'after restarts');
serves('after restarts');

# ---- the device goes before a request is submitted ----

$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
my $late = start('late', "SELECT gpubtree_test_request_timing('t_k', 10, 1)", 'batch-before-submit');
gpb_wait_for_hold($node);
$node->append_conf('postgresql.conf', "gpubtree.device = 'off'");
$node->reload;
$node->poll_query_until('postgres', "SELECT status LIKE 'no device%' FROM gpubtree_device") or die;
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
like(finish($late), qr/gave no answer/, 'a request submitted after the device has gone gets no answer');
gpb_all_is_free($node, 'without a device');
$holder->quit;
gpb_nothing_crashed($node);
$node->stop;

# ---- one unit of staging for all, and a device with little memory ----

$node = gpb_node('small', only_queries_refresh => 1, settings => <<'CONF');
autovacuum = off
gpubtree.batch_memory = 64kB
gpubtree.memory_limit = 24MB
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;
CREATE TABLE t (k int);
INSERT INTO t SELECT i FROM generate_series(1, 50000) i;
CREATE INDEX t_k ON t USING gpubtree (k);
SQL
gpb_wait_for_service($node);
$holder = $node->background_psql('postgres');
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
my $taker = start('taker', "SELECT gpubtree_test_request_timing('t_k', 10, 1)", 'batch-before-submit');
gpb_wait_for_hold($node);
($code, $out, $err) = $node->psql('postgres',
	"SET statement_timeout = 300; SELECT gpubtree_test_request_timing('t_k', 10, 1)");
like($err, qr/statement timeout/, 'waiting for staging can be cancelled');
$waiter = start('waiter', "SELECT gpubtree_test_request_timing('t_k', 10, 1)");
gpb_wait_for_sessions($node, 'waiter', 1);
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
is(finish($taker) . finish($waiter), '', 'and ends when staging is given back');
gpb_all_is_free($node, 'after a wait for staging');
$holder->quit;
($code, $out, $err) = $node->psql('postgres', "SELECT gpubtree_test_request_timing('t_k', 100000, 1)");
like($err, qr/need 781 kB of shared memory, 64 kB can be had/, 'too many keys for the staging are refused');
gpb_all_is_free($node, 'after a refusal');

$node->append_conf('postgresql.conf', 'gpubtree.batch_memory = 64MB');
$node->restart;
gpb_wait_for_service($node);
($code, $out, $err) = $node->psql('postgres', "SELECT gpubtree_test_request_timing('t_k', 1048576, 1, 'key')");
like($err, qr/gave no answer/, 'a request for which the device has no memory fails over');
is(counters()->{failed_over}, 1, 'and is counted');
gpb_all_is_free($node, 'after no memory');
serves('after no memory');

done_testing();
