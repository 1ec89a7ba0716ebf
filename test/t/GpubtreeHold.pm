# Sessions in the background, and the service or the refresher held at a point (src/hold.h).
package GpubtreeHold;

use GpubtreeTest;
use Time::HiRes qw(usleep);
use Exporter 'import';

our @EXPORT = qw(gpb_wait_until gpb_hold_service gpb_release_service gpb_is_held
  gpb_wait_for_service_at gpb_session gpb_start gpb_finish gpb_has_ended gpb_wait_for_sessions gpb_all_is_free);

# Wait until the condition, a function, holds.
sub gpb_wait_until
{
	my ($what, $condition) = @_;

	for (1 .. 200 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return 1 if $condition->();
		usleep(5000);
	}
	die "waited in vain for $what";
}

# Hold the process that comes to the point, wait until it is there, and let it go on.
sub gpb_hold_service
{
	my ($node, $point) = @_;

	append_to_file($node->data_dir . "/gpubtree_hold.$point", '');
}

sub gpb_release_service
{
	my ($node, $point) = @_;

	unlink $node->data_dir . "/gpubtree_hold.$point" or die "$!";
}

sub gpb_is_held
{
	my ($node, $point) = @_;

	return -e $node->data_dir . "/gpubtree_held.$point";
}

sub gpb_wait_for_service_at
{
	my ($node, $point) = @_;

	gpb_wait_until("a process at $point", sub { gpb_is_held($node, $point) });
}

# A session for one statement after the other: each of them, not all, must end in the time that tests
# have, however long the script goes on.
sub gpb_session
{
	my ($node, %params) = @_;
	my $session = $node->background_psql('postgres', %params);

	$session->set_query_timer_restart();
	return $session;
}

# Where a test dies, what the sessions have printed that it did not finish
my %unfinished;

END
{
	foreach my $session ($? ? values %unfinished : ())
	{
		my $ended = gpb_has_ended($session->{run}) ? 'ended' : 'goes on';
		note("$ended: $session->{what}: $session->{out}$session->{err}");
	}
}

# Start a session that runs one statement, or several of an array, in the background, the later ones
# also after an error; settings are "name = value".  Returns a hash: "out" and "err" are what it has
# printed so far, "run" is IPC::Run's handle.  A session that does not end fails the test.
sub gpb_start
{
	my ($node, $sql, @settings) = @_;
	my %session = (out => '', err => '', what => ref $sql ? $sql->[0] : $sql);

	$session{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), (map { ('-c', "SET $_") } @settings),
			(map { ('-c', $_) } ref $sql ? @$sql : $sql) ],
		'<', \'', '>', \$session{out}, '2>', \$session{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	$unfinished{ \%session } = \%session;
	return \%session;
}

# Wait for the end of a session, and return what it printed, errors last.
sub gpb_finish
{
	my ($session) = @_;

	$session->{run}->finish;
	delete $unfinished{$session};
	chomp $session->{out};
	return $session->{out} . $session->{err};
}

# Has a process of IPC::Run ended?  It may do so at any moment, and pump_nb() dies if it has.
sub gpb_has_ended
{
	my ($run) = @_;

	eval { $run->pump_nb };
	return !$run->pumpable;
}

# Wait until so many sessions, whose application_name is LIKE the pattern, are in the state that a
# condition on pg_stat_activity describes: to wait for the service, if none is given.
sub gpb_wait_for_sessions
{
	my ($node, $pattern, $n, $condition) = @_;

	$condition //= "wait_event_type = 'Extension'";
	$node->poll_query_until('postgres', <<"SQL") or die "not $n sessions $pattern: $condition";
SELECT count(*) = $n FROM pg_stat_activity
WHERE application_name LIKE '$pattern' AND $condition
SQL
}

sub gpb_all_is_free
{
	my ($node, $name) = @_;

	ok( $node->poll_query_until('postgres',
			'SELECT slots_free = slots AND memory_free = memory_bytes FROM gpubtree_batches'),
		"$name: every slot and all memory is free again")
	  or diag($node->safe_psql('postgres', 'SELECT * FROM gpubtree_batches'));
}

1;
