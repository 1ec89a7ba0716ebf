# What the TAP tests share: servers with gpubtree, seeds, forcing a plan, comparing answers,
# waiting for a backend at a hold point, and what every script uses.
package GpubtreeTest;

use strict;
use warnings;
use File::Basename;
use JSON::PP;
use PostgreSQL::Test::BackgroundPsql;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);
use if $ENV{GPB_OLD}, 'GpubtreeTwin';
use parent 'Exporter';

our @EXPORT = qw(gpb_seed gpb_setseed gpb_node gpb_standby gpb_compare_function gpb_engine gpb_plan_node
  gpb_holder gpb_wait_for_hold gpb_wait_for_service gpb_service_pid gpb_start_pgbench gpb_end_pgbench
  gpb_go_on gpb_kill_backend gpb_nothing_crashed gpb_index_is_sound
  gpb_waits_for_pin gpb_waits_for_page gpb_wait_event);

# Conditions on pg_stat_activity: does a session wait for others to unpin a page, or for the lock of
# a page?  19 has other names of these.
sub gpb_waits_for_pin { return "wait_event IN ('BufferPin', 'BufferCleanup')" }

sub gpb_waits_for_page
{
	return "(wait_event = 'BufferContent' OR wait_event_type = 'Buffer' AND wait_event <> 'BufferCleanup')";
}

# What pg_stat_activity calls that wait of ours (src/waits.c): to 16 extensions have no names of waits.
sub gpb_wait_event
{
	my ($node, $name) = @_;

	return $node->safe_psql('postgres', 'SHOW server_version_num') < 170000 ? 'Extension' : "Gpubtree$name";
}

# "use GpubtreeTest" is also what every script would begin with: strict, warnings, and the functions
# of Test::More and PostgreSQL::Test::Utils, besides those above.
sub import
{
	my ($class) = @_;

	# The names go to who says "use", one level above the modules' own import().
	local $Exporter::ExportLevel = 1;
	strict->import;
	warnings->import;
	Test::More->export_to_level(1);
	PostgreSQL::Test::Utils->import;
	$class->SUPER::import;
	return;
}

# The test's seed: GPB_SEED from the environment, a new one if that says "random", else 1 (test/all
# runs a test with 1 and then with each of its seeds in test/seeds).  The first call seeds Perl's
# rand() with it and prints it.  A test that fails says at its end how to repeat it.
my $seed;

sub gpb_seed
{
	return $seed if defined $seed;
	$seed = $ENV{GPB_SEED} // 1;
	$seed = int(rand(1e9)) if $seed eq 'random';
	die "GPB_SEED=$seed: neither a number nor \"random\"" if $seed !~ /^\d+$/;
	srand($seed);
	note how_to_repeat();
	return $seed;
}

# The command that runs this test with the same seed and variables
sub how_to_repeat
{
	my %variables = (%ENV, GPB_SEED => $seed, TAP => basename($0, '.pl'));
	my @names = grep { exists $variables{$_} } 
	  qw(GPB_SEED GPB_ROUNDS GPB_TRANSACTIONS GPB_STEPS GPB_ROWS GPB_DEVICE GPB_FUZZ GPB_SECONDS TAP);

	return join(' ', 'repeat with:', (map { "$_=$variables{$_}" } @names), 'sh test/all tap');
}

END
{
	my $failed = $? != 0 || !Test::More->builder->is_passing;
	diag(how_to_repeat()) if $failed && defined $seed;
}

# Return SQL that seeds the server's random() for the session that runs it.  The value differs each
# time, and the test's seed determines it.
sub gpb_setseed
{
	gpb_seed();
	return 'DO $$ BEGIN PERFORM setseed(' . rand() . "); END \$\$;\n";
}

# From 18 on a server has checksums, which find a damage before we do.
sub disable_checksums
{
	my ($node) = @_;
	my ($control, $error) = run_command([ 'pg_controldata', $node->data_dir ]);

	$control =~ /^Data page checksum version: +([0-9]+)$/m or die "pg_controldata: $control $error";
	system_or_bail('pg_checksums', '--disable', '--no-sync', '-D', $node->data_dir) if $1 > 0;
}

# A server with gpubtree preloaded and created, on the device that GPB_DEVICE names, or on the host
# device, unless settings say otherwise.
# Options: allows_streaming, options of initdb in "initdb" (an array), extra settings in "settings"
# (text), start => 0; install_path of another PostgreSQL; databases where it has template0 and template1
# besides "postgres" (test/initdb); only_queries_refresh where the test counts what a query's refresh copies, or
# holds one still; damages where the test writes pages itself, which so have no checksums; vacuums_all where
# it counts on what VACUUM removes and marks.  For VACUUM leaves out pages of tables that somebody has
# pinned, and that is also who writes one: with the least of luck a checkpoint.
sub gpb_node
{
	my ($name, %options) = @_;
	my $node = ($ENV{GPB_OLD} ? 'GpubtreeTwin' : 'PostgreSQL::Test::Cluster')->new($name,
		$options{install_path} ? (install_path => $options{install_path}) : ());
	local $ENV{GPB_TEMPLATE} = ($ENV{GPB_TEMPLATE} // '') . ($options{databases} ? '-all' : '');

	$node->init(allows_streaming => $options{allows_streaming} // 0,
		$options{initdb} ? (extra => $options{initdb}) : ());
	disable_checksums($node) if $options{damages};
	my $device = $ENV{GPB_DEVICE} // 'host';
	$node->append_conf('postgresql.conf', <<"CONF");
shared_preload_libraries = 'gpubtree'
gpubtree.device = '$device'
log_min_messages = warning
log_statement = none
# tests hold the service still, and the machine may be slow: that is not a service that hangs
gpubtree.request_timeout = '10min'
CONF
	# PostgreSQL's module gives a server that streams ten connections: too few for a load of a dozen
	# clients.  It removes WAL that a standby has not read yet, if checkpoints come first, say because
	# others have the processors.
	$node->append_conf('postgresql.conf', <<'CONF') if $options{allows_streaming};
max_connections = 40
wal_keep_size = 8GB
CONF
	# So that tests with little data send several chunks to the device.
	$node->append_conf('postgresql.conf', <<'CONF') if $options{small_chunks};
gpubtree.chunk_least = 8
gpubtree.chunk_most = 64
CONF
	$node->append_conf('postgresql.conf', <<'CONF') if $options{vacuums_all};
bgwriter_lru_maxpages = 0
checkpoint_timeout = '1h'
max_wal_size = '2GB'
CONF
	$node->append_conf('postgresql.conf', "gpubtree.background_refresh = off\n")
	  if $options{only_queries_refresh};
	$node->append_conf('postgresql.conf', $options{settings})
	  if defined $options{settings};
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION gpubtree');
	return $node;
}

# A standby of the server, which streams, with more settings (text).  Another than the first has a "name".
sub gpb_standby
{
	my ($primary, %options) = @_;
	my $name = $options{name} // 'standby';
	my $standby = PostgreSQL::Test::Cluster->new($name);

	$primary->backup($name);
	$standby->init_from_backup($primary, $name, has_streaming => 1);
	$standby->append_conf('postgresql.conf', $options{settings} // '');
	$standby->start;
	return $standby;
}

# Create answer(query, how) and compare_range(table, lo, hi).
#
# answer() runs "query" (one row) and returns the row as text; how is 'aggregate' (gpubtree's
# node and nothing else, on the device however small the range) or 'seqscan'.  compare_range() computes both over a range
# of the columns k, v, d in the caller's snapshot, and raises an error naming both if they
# differ.
sub gpb_compare_function
{
	my ($node) = @_;

	$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION force(how text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('gpubtree.enable_aggregate',
		CASE how WHEN 'aggregate' THEN 'on' ELSE 'off' END, true);
	PERFORM set_config('gpubtree.setup_cost', '0', true);
	PERFORM set_config('gpubtree.batch_setup_cost', '0', true);
	PERFORM set_config('enable_seqscan',
		CASE how WHEN 'seqscan' THEN 'on' ELSE 'off' END, true);
	PERFORM set_config('enable_indexscan', 'off', true);
	PERFORM set_config('enable_indexonlyscan', 'off', true);
	PERFORM set_config('enable_bitmapscan', 'off', true);
	PERFORM set_config('max_parallel_workers_per_gather', '0', true);
END $$;

CREATE FUNCTION answer(query text, how text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM force(how);
	EXECUTE format('SELECT q::text FROM (%s) q', query) INTO result;
	RETURN result;
END $$;

CREATE FUNCTION range_query(t text, lo bigint, hi bigint) RETURNS text
LANGUAGE sql AS $$
	SELECT format('SELECT count(*) AS n, count(v) AS nv, sum(v) AS sv, min(v) AS minv,
		max(v) AS maxv, sum(k) AS sk, min(k) AS mink, max(k) AS maxk, sum(d) AS sd,
		min(d) AS mind, max(d) AS maxd FROM %s WHERE k >= %s AND k < %s', t, lo, hi)
$$;

CREATE FUNCTION compare_range(t text, lo bigint, hi bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	query text := range_query(t, lo, hi);
	ours text := answer(query, 'aggregate');
	theirs text := answer(query, 'seqscan');
BEGIN
	IF ours IS DISTINCT FROM theirs THEN
		RAISE EXCEPTION 'answers differ: % [%, %): gpubtree %, sequential scan %',
			t, lo, hi, ours, theirs;
	END IF;
	RETURN ours;
END $$;
SQL
}

# Run a query with EXPLAIN ANALYZE and return, as a hash, the plan node that has an "Engine"; undef
# if gpubtree's node is not in the plan.  "how" is as for answer().
sub gpb_plan_node
{
	my ($node, $query, $how) = @_;
	my $output = $node->safe_psql('postgres', "BEGIN;\n"
		  . ($how ? "DO \$\$ BEGIN PERFORM force('$how'); END \$\$;\n" : '')
		  . "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) $query;\nCOMMIT;");
	my $plan = decode_json($output);
	my @nodes = ($plan->[0]{Plan});

	while (my $one = shift @nodes)
	{
		return $one if exists $one->{Engine};
		push @nodes, @{ $one->{Plans} // [] };
	}
	return undef;
}

# Return who answered: the "Engine" of gpb_plan_node, or '' if it was not gpubtree's node.
sub gpb_engine
{
	my $found = gpb_plan_node(@_);
	return $found ? $found->{Engine} : '';
}

# A session that holds others at the hold points they ask for, until it unlocks or ends
sub gpb_holder
{
	my ($node) = @_;
	my $holder = $node->background_psql('postgres');

	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	return $holder;
}

# Wait until so many backends wait at a hold point: one, if no number is given.  If they do not come,
# say what all are doing.
sub gpb_wait_for_hold
{
	my ($node, $n) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;
	my $watcher = PostgreSQL::Test::Cluster::background_psql($node, 'postgres');	# one process, however long it takes

	$n //= 1;
	$watcher->set_query_timer_restart();
	while ($watcher->query_safe(<<"SQL") < $n)
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND classid = 0 AND objid = 7001 AND NOT granted
SQL
	{
		sleep(0.02);
		die "no backend came to the hold point:\n" . $watcher->query_safe(<<'SQL') if time > $end;
SELECT pid, backend_type, backend_start, backend_xmin, state, wait_event_type, wait_event, query FROM pg_stat_activity
SQL
	}
	$watcher->quit;
	return;
}

# Return the service's process id, '' if it does not run.  The service has no database connection,
# so pg_stat_activity does not show it.
sub gpb_service_pid
{
	my ($node) = @_;

	return $node->safe_psql('postgres',
		"SELECT pid FROM gpubtree_device WHERE pid IS NOT NULL");
}

# Wait until the service has a device.
sub gpb_wait_for_service
{
	my ($node) = @_;

	$node->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM gpubtree_device WHERE status = 'ready'")
	  or die 'the service has no device';
}

# Start pgbench in the background, with the test's seed, and return IPC::Run's handle.  It runs a
# script, or several of a hash, whose names may end with "@" and a weight.  Unless the options say for
# how long (-t, -T), it goes on until gpb_end_pgbench(), and by now each client has begun.
my $scripts = 0;
my %printed;

sub gpb_start_pgbench
{
	my ($node, $script, @options) = @_;
	return undef if $ENV{GPB_OLD};
	my $ends_itself = grep { /^-[tT]/ } @options;
	my %scripts = ref $script ? %$script : ('' => $script);
	my @files;

	$scripts++;
	foreach my $name (sort keys %scripts)
	{
		my ($what, $weight) = $name =~ /^(.*?)(@\d+)?$/;
		my $file = $node->basedir . '/pgbench-' . $node->name . "-$scripts$what.sql";

		append_to_file($file, $scripts{$name});
		push @files, '-f', $file . ($weight // '');
	}
	local $ENV{PGAPPNAME} = "pgbench $scripts";
	my $load = IPC::Run::start(
		[   'pgbench', '-n', @files, '--random-seed=' . gpb_seed(), ($ends_itself ? () : ('-T', 3600)),
			@options, $node->connstr('postgres') ],
		'<', \'', '>', \(my $out = ''), '2>', \(my $err = ''));
	return $load if $ends_itself;
	$printed{$load} = [ \$out, \$err ];

	my ($clients) = join(' ', @options) =~ /-c ?(\d+)/;
	$node->poll_query_until('postgres', <<"SQL") or die "pgbench does not begin: $err";
SELECT count(*) = $clients FROM pg_stat_activity
WHERE application_name = 'pgbench $scripts' AND query <> '' AND pid <> pg_backend_pid()
SQL
	return $load;
}

# Let pgbench end its transactions and go; true if there was no error.  Deadlocks and failures to
# serialize are none, unless the options say none_fails.  pgbench takes the signal for the end of the
# time that -T gives it.
sub gpb_end_pgbench
{
	my ($load, %options) = @_;
	return 1 if $ENV{GPB_OLD};
	my ($out, $err) = @{ delete $printed{$load} };

	$load->signal('ALRM');
	my $ended = $load->finish;
	diag($$err) unless $ended;
	return $ended && (!$options{none_fails} || $$out =~ /^number of failed transactions: 0 /m);
}

# Kill a process of a session, or a worker, and wait until the server has begun anew, which takes a
# moment to notice: until then it serves others, and throws them out.  The killed one's entry in
# pg_stat_activity stays for as long.
sub gpb_kill_backend
{
	my ($node, $pid) = @_;

	kill('KILL', $pid) == 1 or die "no process $pid: $!";
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid")
	  or die 'the server does not come back';
	return;
}

# Test that gpubtree_check finds the index sound, and complete beside its table.
sub gpb_index_is_sound
{
	my ($node, $index, $name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SELECT gpubtree_check('$index', true)");

	return is($status, 0, $name) || diag($err);
}

sub gpb_nothing_crashed
{
	my ($node) = @_;

	return unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing crashed');
}

# Let others go on for some seconds, and for as long as it takes until the query says "t".
sub gpb_go_on
{
	my ($node, $seconds, $query) = @_;

	sleep($seconds);
	$node->poll_query_until('postgres', $query) or die "this did not come to pass: $query";
	return;
}

1;
