# Rows that are inserted, updated (HOT or not), deleted, locked by one or by several, aborted whole
# and in part, prepared, vacuumed, frozen and pruned beside readers of every isolation level, in
# snapshots new and old: each answer of gpubtree's nodes equals a sequential scan in the same
# snapshot.  On the host device and without one, with settled pages remembered and not, with little
# memory for them and few buffers, on a standby that replays all this, and after a crash amid it.
#
# Guards: rules M5, M6, M8 and M11; engine/visibility.c, engine/heap_visit.c, and what remembers
# pages from one reader to the next.
#
# GPB_SECONDS	length of each of the four runs (default 2; of the one with a crash three times that),
#				each of them more than one if need be
use JSON::PP;
use Time::HiRes qw(sleep);
use GpubtreeTest;
use GpubtreeMix;

my $seed = gpb_seed();
my $seconds = $ENV{GPB_SECONDS} // 2;
# So many snapshots are compared in the four runs, however slow the machine is
my $least = 480 * $seconds;
my $primary = gpb_node('primary', allows_streaming => 1, settings => <<'CONF');
autovacuum = off
max_connections = 40
# writers lock rows in any order
deadlock_timeout = 50ms
max_prepared_transactions = 20
restart_after_crash = on
shared_buffers = 16MB
max_wal_size = 4GB
# errors that scripts provoke are not worth a line
log_min_messages = fatal
log_min_error_statement = panic
CONF
gpb_compare_function($primary);
mix_create($primary);
mix_plans($primary);
my $has_cache = mix_has_page_cache($primary);
my $standby = gpb_standby($primary, settings => <<'CONF');
hot_standby_feedback = on
wal_receiver_status_interval = 1s
max_standby_streaming_delay = 20s
CONF

# Run writers and readers for a while, and again until enough was compared, unless there is a crash;
# return the number of snapshots.  Options as for mix_once().
sub run_mix
{
	my ($what, %run) = @_;
	my $snapshots = 0;

	for (1 .. 20)
	{
		$snapshots += mix_once($what, %run);
		last if $run{crash} || $snapshots > $least / 3;
	}
	return $snapshots;
}

# Run writers and readers for a while; return the number of snapshots that were compared.  Options:
#
#	seconds
#	feedback	the standby holds VACUUM back, so its readers may keep snapshots
#	crash		a backend is killed after that many seconds, and the server starts anew
sub mix_once
{
	my ($what, %run) = @_;
	my $cache = $has_cache ? [ 'gpubtree.enable_page_cache=on' ] : [];
	my $no_cache = $has_cache ? [ 'gpubtree.enable_page_cache=off' ] : [];
	# "direct" has no settings of its own.
	my @plain = ('gpubtree.setup_cost=0', 'enable_indexscan=off', 'enable_indexonlyscan=off',
		'enable_bitmapscan=off', 'max_parallel_workers_per_gather=0', 'jit=off');
	my $start = sub {
		my ($node, $name, $scripts, %options) = @_;
		my $settings = delete $options{settings} // [];
		return mix_start($node, $scripts, name => $name, seconds => $run{seconds},
			settings => [ @plain, @$settings ], %options);
	};
	my @changes = (
		$start->($primary, 'writers', [ mix_writers() ], clients => 4, rate => 250,
			settings => ['enable_indexscan=on']),
		$start->($primary, 'vacuums', [ mix_vacuums() ], clients => 1, rate => 3));
	my @readers = (
		$start->($primary, 'readers', [ mix_readers() ], clients => 3, settings => $cache),
		$start->($primary, 'readers without the page cache', [ mix_readers() ], clients => 1,
			settings => $no_cache),
		$start->($primary, 'readers of prepared statements', [ mix_readers() ], clients => 1,
			settings => $cache, prepared => 1),
		$start->($primary, 'old snapshots', [ mix_old_readers() ], clients => 3,
			settings => $cache),
		$start->($standby, 'readers of the standby', [ mix_standby_readers(!$run{feedback}) ],
			clients => 2, settings => $cache),
		$start->($standby, 'readers of the standby without the page cache',
			[ mix_standby_readers(!$run{feedback}) ], clients => 2, settings => $no_cache),
		$run{feedback}
		? $start->($standby, 'old snapshots of the standby', [ mix_old_readers() ], clients => 1,
			settings => $cache)
		: ());

	if ($run{crash})
	{
		sleep $run{crash};
		my $backends = q{pg_stat_activity
			WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()};
		$primary->poll_query_until('postgres', "SELECT count(*) > 0 FROM $backends")
		  or die 'no backend to kill';
		# A backend may end between the look and the kill.
		my $killed = 0;
		for (1 .. 100)
		{
			my $pid = $primary->safe_psql('postgres', "SELECT pid FROM $backends LIMIT 1");
			$killed = $pid ne '' && kill('KILL', $pid);
			last if $killed;
		}
		ok($killed, "$what: a backend is killed");
	}
	my $changes = 0;
	$changes += mix_finish($_, $what, $run{crash}) foreach @changes;
	my $snapshots = 0;
	$snapshots += mix_finish($_, $what, $run{crash}) foreach @readers;
	my $deadlocks = $run{crash} ? 'some' : $primary->safe_psql('postgres',
		'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
	note "$what: $changes changes, $snapshots snapshots; $deadlocks deadlocks so far";
	return $snapshots;
}

# End the transactions that a crash left prepared.
sub end_prepared
{
	my $gids = $primary->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts ORDER BY gid');
	my $n = 0;

	foreach my $gid (split /\n/, $gids)
	{
		$primary->safe_psql('postgres', ($n++ % 2 ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$gid'");
	}
	return;
}

# Pages that the node took from the cache in a range of which many rows are fresh.  The first answer
# may meet hint bits that are not set yet and a page that it then remembers, the second takes it.
sub cached_pages
{
	my ($node, $device) = @_;
	my $explain = "EXPLAIN (ANALYZE, FORMAT JSON) SELECT sum(v) FROM t WHERE k >= 0;\n";
	my $settings = "SET gpubtree.setup_cost = 0;\nSET gpubtree.enable_device = $device;\n"
	  . join('', map { "SET enable_$_ = off;\n" }
		  qw(seqscan bitmapscan indexscan indexonlyscan));
	my $output = $node->safe_psql('postgres', $settings . $explain . "\\echo ====\n" . $explain);
	my ($plan) = @{ decode_json((split /^====\n/m, $output)[1]) };
	my @nodes = ($plan->{Plan});
	my $cached = 0;

	while (my $one = shift @nodes)
	{
		$cached += $one->{'Settled Pages'} // 0;
		push @nodes, @{ $one->{Plans} // [] };
	}
	return $cached;
}

sub sound
{
	my ($what) = @_;

	foreach my $index ('t_k', 't_ts')
	{
		gpb_index_is_sound($primary, $index, "$what: $index is sound and complete");
	}
	return;
}

# A server's log has each answer that differed, also where a client could not tell.
sub no_difference
{
	foreach my $node ($primary, $standby)
	{
		unlike(slurp_file($node->logfile), qr/answers differ/, 'the log of the ' . $node->name);
	}
	return;
}

my $snapshots = 0;

gpb_wait_for_service($_) foreach ($primary, $standby);
$snapshots += run_mix('host', seconds => 3 * $seconds, feedback => 1, crash => 2 * $seconds);
$primary->poll_query_until('postgres', 'SELECT true') or die 'the server does not come up again';
end_prepared();
sound('after the crash');
gpb_wait_for_service($primary);
$snapshots += run_mix('after the crash', seconds => $seconds, feedback => 1);
end_prepared();
foreach my $node ($primary, $standby)
{
	my $engine = gpb_engine($node, 'SELECT sum(v) FROM t WHERE k >= 0', 'aggregate');
	like($engine, qr/host|CUDA/, 'the engine of the ' . $node->name);
}
if ($has_cache)
{
	$primary->safe_psql('postgres', 'UPDATE t SET v = v + 1 WHERE k BETWEEN 100 AND 900');
	cmp_ok(cached_pages($primary, 'off'), '>', 10, 'pages are taken from the cache');
}

# Few buffers and little memory for pages: they are always evicted.
foreach my $node ($primary, $standby)
{
	$node->append_conf('postgresql.conf', "shared_buffers = 2MB\n");
	$node->append_conf('postgresql.conf', "gpubtree.page_cache_size = '64kB'\n") if $has_cache;
}
$standby->append_conf('postgresql.conf',
	"hot_standby_feedback = off\nmax_standby_streaming_delay = 30ms\n");
$_->restart foreach ($primary, $standby);
gpb_wait_for_service($_) foreach ($primary, $standby);
$snapshots += run_mix('little memory', seconds => $seconds, feedback => 0);

foreach my $node ($primary, $standby)
{
	$node->append_conf('postgresql.conf', "shared_buffers = 16MB\ngpubtree.device = 'off'\n");
	$node->restart;
}
$snapshots += run_mix('no device', seconds => $seconds, feedback => 0);
end_prepared();
sound('at the end');
no_difference();

my $digest = 'SELECT ' . join(', ', map { "mix_compare($_, 0, 3000, 6)" } (1, 4, 9));
my $wanted = $primary->safe_psql('postgres', $digest);
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
is($standby->safe_psql('postgres', $digest), $wanted, 'the standby has the same rows');
cmp_ok($snapshots, '>', $least, "$snapshots snapshots were compared");
done_testing();
