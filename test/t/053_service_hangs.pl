# A service that hangs is waited for no longer than gpubtree.request_timeout, by everyone and at
# every point; queries answer all the same, the log has one line, and when the service moves again
# nothing is lost.  A service that is merely busy, or idle, does not hang.
use Time::HiRes qw(time usleep);
use GpubtreeHold;
use GpubtreeTest;

my $timeout = 2;
# Seconds that a query may take beside the wait, see most_beside_wait()
my $slack = 8;

my $node = gpb_node('main', only_queries_refresh => 1, settings => <<"CONF");
autovacuum = off
gpubtree.request_timeout = '${timeout}s'
gpubtree.batch_slots = 3
gpubtree.refresh_slots = 2
gpubtree.batch_memory = 160MB
CONF
my $data = $node->data_dir;
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;
CREATE TABLE t (k bigint, v int, d float8);
INSERT INTO t SELECT i, i % 10, i % 7 FROM generate_series(1, 30000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
CREATE FUNCTION probe(engine text) RETURNS text LANGUAGE sql AS $$
	SELECT matches || '|' || sum FROM gpubtree_probe('t_k',
		(SELECT array_agg(i::bigint * 3) FROM generate_series(1, 5000) i), engine)
$$;
CREATE FUNCTION probed_right(engine text) RETURNS text LANGUAGE sql AS $$
	SELECT 'rows ' || (probe(engine) = (SELECT count(*) || '|' || sum(v) FROM t WHERE k % 3 = 0 AND k BETWEEN 3 AND 15000))
$$;
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE t');
gpb_wait_for_service($node);

my $query = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 1 AND 1000000';
my $compare = "SELECT 'rows ' || compare_range('t', 1, 1000000)";
my $change = 'INSERT INTO t SELECT i * 7, 1, 1 FROM generate_series(1, 4000) i; DELETE FROM t WHERE k % 97 = 5';

# ---- helpers ----

my $stopped = 0;

sub stop_service
{
	$stopped = gpb_service_pid($node);
	kill 'STOP', $stopped;
}

sub continue_service
{
	kill 'CONT', $stopped;
	$stopped = 0;
}

# A stopped process would keep the server from stopping.
END { kill 'CONT', $stopped if $stopped }

# Change a setting for sessions to come.
sub set_timeout
{
	my ($value) = @_;

	$node->append_conf('postgresql.conf', "gpubtree.request_timeout = '$value'");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT current_setting('gpubtree.request_timeout') = '$value'")
	  or die 'not reloaded';
}

# A session in the background that runs one statement, in one snapshot; its settings are "name =
# value".
sub start
{
	my ($sql, @settings) = @_;
	my $session = gpb_start($node, $sql, "default_transaction_isolation = 'repeatable read'", @settings);

	$session->{began} = time;
	return $session;
}

# The seconds that the statement took, the session's start included
sub finish
{
	my ($session) = @_;

	gpb_finish($session);
	return time - $session->{began};
}

# The sessions end in time, without errors, and those that count rows count
# right.  gpubtree_refresh() may say why it did nothing.
sub end_in_time
{
	my ($name, @sessions) = @_;
	my @seconds = map { finish($_) } @sessions;

	my $unmirrored = qr/^NOTICE:  index "t_k" was not mirrored\nDETAIL:  The GPU service does not answer\.\nHINT:  The server's log says since when\.\n/m;

	is(join('', map { $_->{err} =~ s/$unmirrored//r } @sessions), '', "$name: no errors");
	is(scalar(grep { $_->{out} =~ /rows f/ } @sessions), 0, "$name: right answers");
	my ($longest) = sort { $b <=> $a } @seconds;
	cmp_ok($longest, '<', $timeout + most_beside_wait($longest), "$name: nobody waited much longer than the timeout");
}

# The seconds that a session may take beside its wait.  Where one has taken more than $slack, that is
# ten times what one takes now that never waits: it does not ask the service.
sub most_beside_wait
{
	my ($longest) = @_;

	return $slack if $longest < $timeout + $slack;
	my $usual = finish(start($compare, 'gpubtree.enable_device = off'));
	return 10 * $usual > $slack ? 10 * $usual : $slack;
}

# Lines of the log about services that hang, and that move again
sub log_lines
{
	my $log = slurp_file($node->logfile);
	my @hang = $log =~ /gpubtree service \(process \d+\) has not answered for/g;
	my @moves = $log =~ /gpubtree service answers again/g;

	return scalar(@hang) . ' ' . scalar(@moves);
}

my $hangs = 0;

# The hang just now was found once, and is known.
sub is_known_to_hang
{
	my ($name) = @_;

	$hangs++;
	is(log_lines(), $hangs . ' ' . ($hangs - 1), "$name: one line in the log");
	is($node->safe_psql('postgres', 'SELECT status FROM gpubtree_device'), 'not answering', "$name: the status");
}

# The service moves again: it answers, with every slot, and no change was lost.
sub recovers
{
	my ($name) = @_;

	gpb_wait_for_service($node);
	ok( $node->poll_query_until('postgres',
			'SELECT slots_free = slots AND memory_free = memory_bytes FROM gpubtree_batches'),
		"$name: query slots and memory are free again")
	  or diag($node->safe_psql('postgres', 'SELECT * FROM gpubtree_batches'));
	is(log_lines(), "$hangs $hangs", "$name: the log says that it moves");
	# There are more sessions than slots of either kind.
	end_in_time("$name: many sessions", map { start($compare) } 1 .. 4);
	cmp_ok($node->safe_psql('postgres', "SELECT gpubtree_refresh('t_k')"), '>=', 0, "$name: refreshed");
	like(gpb_engine($node, $query, 'aggregate'), qr/host/, "$name: the mirror answers");
	is( $node->safe_psql('postgres', "SELECT max(changed_blocks) FROM gpubtree_mirrors()"),
		'0', "$name: nothing is left changed or in flight");
	is($node->safe_psql('postgres', "SELECT probed_right('device')"), 'rows true', "$name: batches");
}

# ---- stopped while it is idle; everyone finds it ----

end_in_time('at first', start($compare));
for my $way ('continued', 'told to exit')
{
	$node->safe_psql('postgres', $change);
	stop_service();
	end_in_time("stopped, $way",
		(map { start($compare) } 1 .. 4),
		start("SELECT gpubtree_refresh('t_k')"),
		start("SELECT probed_right('device')"), start("SELECT probed_right('inner')"));
	is_known_to_hang("stopped, $way");

	# On a machine with much else to do some of them take long; if they waited, all would.
	for my $statement ($compare, "SELECT gpubtree_refresh('t_k')")
	{
		my $median;

		for (1 .. 20)
		{
			my @seconds = sort { $a <=> $b } map { finish(start($statement)) } 1 .. 5;
			$median = $seconds[2];
			last if $median < $timeout;
		}
		cmp_ok($median, '<', $timeout, "stopped, $way: later ones do not wait: $statement");
	}
	is(gpb_engine($node, $query, 'aggregate'), 'CPU', "stopped, $way: the CPU answers");
	$node->safe_psql('postgres', $change);

	kill 'TERM', $stopped if $way eq 'told to exit';
	continue_service();
	recovers("stopped, $way");
}

# ---- stopped in the middle of its work, and then going on with what was abandoned ----

# While it hangs, rows change that its work concerns.
for my $point ('map-read', 'refreshes', 'upload', 'batches')
{
	$node->safe_psql('postgres', $change);
	$node->safe_psql('postgres', 'VACUUM t');
	gpb_hold_service($node, $point);
	my @sessions = (start($compare), start("SELECT probed_right('device')"));
	gpb_wait_for_service_at($node, $point);
	$node->safe_psql('postgres', $change);
	end_in_time("held at $point", @sessions, start($compare));
	is_known_to_hang("held at $point");
	$node->safe_psql('postgres', $change);
	$node->safe_psql('postgres', 'VACUUM t');
	end_in_time("held at $point, later", start($compare));
	gpb_release_service($node, $point);
	recovers("held at $point");
}

# The service moves on for a step and hangs again, which is found anew.
gpb_hold_service($node, 'batches');
end_in_time('a first hang', start($compare));
is_known_to_hang('a first hang');
gpb_hold_service($node, 'refreshes');
gpb_release_service($node, 'batches');
gpb_wait_for_service_at($node, 'refreshes');
$node->safe_psql('postgres', $change);
end_in_time('a second hang', start($compare), start("SELECT gpubtree_refresh('t_k')"));
is_known_to_hang('a second hang');
gpb_release_service($node, 'refreshes');
recovers('a second hang');

# ---- what does not hang ----

# A small request waits behind somebody else's large one, of whose chunks two that are launched
# together take longer than the timeout.
set_timeout('4s');
append_to_file("$data/gpubtree_slow.search", '2500');
my $large = start("SELECT median_us > 4e6 FROM gpubtree_test_request_timing('t_k', 3 * 1024 * 1024, 1)");
$node->poll_query_until('postgres', 'SELECT slots_free < slots FROM gpubtree_batches')
  or die $large->{err};
my $small = start("SELECT median_us > 0 FROM gpubtree_test_request_timing('t_k', 100000, 3)");
finish($_) for ($large, $small);
is("$large->{out}$large->{err}", 't', 'a request may take longer than the timeout');
is("$small->{out}$small->{err}", 't', 'and others may wait behind it');
unlink "$data/gpubtree_slow.search";
set_timeout("${timeout}s");
is(log_lines(), "$hangs $hangs", 'a busy service does not hang');

# Service and backend are stopped together, as when a container is paused.
my $reader = $node->background_psql('postgres');
my $pid = $reader->query_safe('SELECT pg_backend_pid()');
stop_service();
$reader->query_until(qr/sent/, "\\echo sent\n$compare;\n");
$node->poll_query_until('postgres', "SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $pid")
  or die 'the reader does not wait';
kill 'STOP', $pid;
usleep(1_000_000 * 2 * $timeout);
kill 'CONT', $pid;
usleep(100_000);
continue_service();
unlike($reader->query('SELECT 1'), qr/rows f|ERROR/, 'stopped together: the right answer');
$reader->quit;
is(log_lines(), "$hangs $hangs", 'a service that was stopped together with its backends does not hang');

# ---- waits for what other sessions hold ----

# Who has the slot has half of the units at most, and who has the unit has one slot of 64.
my $one_slot = <<'CONF';
gpubtree.batch_slots = 1
gpubtree.refresh_slots = 1
gpubtree.batch_memory = 64MB
CONF
my $one_unit = <<'CONF';
gpubtree.batch_slots = 64
gpubtree.refresh_slots = 1
gpubtree.batch_memory = 64kB
CONF
my $holder;

for my $held (
	[ 'the slot', 'batch-before-submit', $compare, $compare, $one_slot ],
	[ 'all units', 'batch-before-submit', "SELECT probed_right('device')", "SELECT probed_right('device')", $one_unit ],
	[ 'the refresh', 'refresh-after-move', "$compare", "SELECT gpubtree_refresh('t_k')" ],
	[ 'the refresh and its slot', 'refresh-before-publish', $compare, $compare ])
{
	my ($what, $point, $first, $second, $settings) = @$held;

	if (defined $settings)
	{
		$holder->quit if defined $holder;
		$node->append_conf('postgresql.conf', $settings);
		$node->restart;
		gpb_wait_for_service($node);
		$holder = $node->background_psql('postgres');
	}

	$node->safe_psql('postgres', "SELECT gpubtree_refresh('t_k')");
	$node->safe_psql('postgres', $change) if $what =~ /refresh/;
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	my $has = start($first, "gpubtree.hold_point = '$point'");
	gpb_wait_for_hold($node);

	# The service is idle; that is no hang, and who waits can be cancelled.
	my $lines = log_lines();
	my $waits = start($second, 'statement_timeout = ' . 1500 * $timeout);
	finish($waits);
	like($waits->{err}, qr/statement timeout/, "another session has $what: waiting does not end by itself");
	is(log_lines(), $lines, "another session has $what: the service does not hang");

	stop_service();
	end_in_time("another session has $what", start($second));
	$hangs = (split / /, $lines)[0];
	is_known_to_hang("another session has $what");
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	$has->{began} = time;
	end_in_time("the session that has $what", $has);
	continue_service();
	recovers("another session has $what");
}
$holder->quit;

# ---- 0 waits without end ----

set_timeout('0');
stop_service();
my $waits = start($compare, 'statement_timeout = ' . 2000 * $timeout);
finish($waits);
like($waits->{err}, qr/statement timeout/, 'request_timeout = 0 waits without end, cancellably');
is(log_lines(), "$hangs $hangs", 'request_timeout = 0: nothing in the log');
continue_service();
end_in_time('request_timeout = 0', start($compare));

gpb_nothing_crashed($node);
done_testing();
