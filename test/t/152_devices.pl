# Several devices of one server: a service each, mirrors where most of the memory is free, and what becomes of
# queries where one device is lost, is slow, hangs, is full, or comes back; on a standby, too.  Two host
# devices stand for two GPUs.  Guards devices.c, placement.c, and what of the mirror is there once a device.
use GpubtreeHold;
use GpubtreeTest;

my $settings = <<'CONF';
autovacuum = off
gpubtree.device = 'host, host'
gpubtree.memory_limit = '5MB'
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
max_parallel_workers_per_gather = 0
enable_seqscan = off
enable_bitmapscan = off
CONF
my $node = gpb_node('main', only_queries_refresh => 1, allows_streaming => 1, settings => $settings);

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE p (k int NOT NULL, v int, d float8) PARTITION BY RANGE (k);
DO $$ BEGIN
	FOR i IN 1 .. 4 LOOP
		EXECUTE format('CREATE TABLE p%s PARTITION OF p FOR VALUES FROM (%s) TO (%s)', i, i * 10000, (i + 1) * 10000);
	END LOOP;
END $$;
INSERT INTO p SELECT i, i % 7, i % 5 FROM generate_series(10000, 49999) i;
CREATE INDEX p_k ON p USING gpubtree (k) INCLUDE (v, d);
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE p');

my $query = 'SELECT v, count(*), sum(k), sum(d) FROM p WHERE k >= 12345 GROUP BY v ORDER BY v';
my $expected = $node->safe_psql('postgres', "SET gpubtree.enabled = off; $query");

# ---- helpers ----

sub wait_for_devices
{
	my ($in, $n) = @_;

	$in->poll_query_until('postgres', "SELECT count(*) = $n FROM gpubtree_device WHERE status = 'ready'")
	  or die "there are not $n devices";
}

# The engine of each partition: the number of the host device, or CPU
sub engines
{
	my ($in, $of) = @_;
	my $plan = $in->safe_psql('postgres', 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' . ($of // $query));

	return join ' ', $plan =~ /Engine: (?:host device )?(\S+)/g;
}

sub answers
{
	my ($name, $in) = @_;

	return is(($in // $node)->safe_psql('postgres', $query), $expected, "$name: the right answer");
}

# index device state, of each mirror
sub mirrors
{
	my ($in) = @_;

	return ($in // $node)->safe_psql('postgres',
		"SELECT string_agg(replace(index::text, '_k_v_d_idx', '') || ' ' || device, ', ' ORDER BY index::text) FROM gpubtree_mirrors WHERE state = 'ready'");
}

# The epochs of the mirrors on a device: a mirror that was made anew has another
sub epochs
{
	my ($device) = @_;

	return $node->safe_psql('postgres', "SELECT string_agg(epoch::text, ' ' ORDER BY index_oid) FROM gpubtree_mirrors WHERE device = $device");
}

sub pid_of
{
	my ($device, $in) = @_;

	return ($in // $node)->safe_psql('postgres', "SELECT pid FROM gpubtree_device WHERE ordinal = $device");
}

# Let the service of a device exit, as it does when its device is lost.
sub lose
{
	my ($device, $in) = @_;
	my $pid = pid_of($device, $in);

	kill('TERM', $pid) == 1 or die "no service $pid";
	($in // $node)->poll_query_until('postgres', "SELECT count(*) = 0 FROM gpubtree_device WHERE pid = $pid")
	  or die 'the service did not exit';
	return $pid;
}

sub set
{
	my ($name, $value) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET $name = $value");
	$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
	return;
}

# ---- settings ----

foreach (
	[ 'device', "'host, cuda'", qr/DETAIL:  It is "auto", "cuda", "off", or a list of "host"/ ],
	[ 'device', "'gpu'", qr/invalid value for parameter "gpubtree.device": "gpu"/ ],
	[ 'device', "''", qr/DETAIL:  It is "auto"/ ],
	[ 'device', "'host, host, host, host, host, host, host, host, host'", qr/DETAIL:  More than 8 devices are named/ ],
	[ 'cuda_device', "'0, 2, 0'", qr/DETAIL:  Device 0 is named twice/ ],
	[ 'cuda_device', "'0, all'", qr/DETAIL:  It is "all", or numbers of devices from 0 to 1023/ ],
	[ 'cuda_device', "'-1'", qr/DETAIL:  It is "all"/ ],
	[ 'cuda_device', "'1024'", qr/DETAIL:  It is "all"/ ],
	[ 'cuda_device', "'99999999999999999999'", qr/DETAIL:  It is "all"/ ],
	[ 'cuda_device', "'0,,1'", qr/invalid value for parameter "gpubtree.cuda_device": "0,,1"/ ])
{
	my ($name, $value, $message) = @$_;
	my ($status, $out, $err) = $node->psql('postgres', "ALTER SYSTEM SET gpubtree.$name = $value");

	like($err, $message, "gpubtree.$name = $value is refused");
}
foreach ("'all'", "'0, 2'", "'7'", '3')
{
	is($node->psql('postgres', "ALTER SYSTEM SET gpubtree.cuda_device = $_"), 0, "gpubtree.cuda_device = $_");
}
$node->safe_psql('postgres', 'ALTER SYSTEM RESET gpubtree.cuda_device');

# ---- where mirrors are made ----

wait_for_devices($node, 2);
is($node->safe_psql('postgres', 'SELECT count(DISTINCT pid), string_agg(ordinal::text, \',\' ORDER BY ordinal), min(memory_limit), max(memory_limit) FROM gpubtree_device'),
	'2|0,1|5242880|5242880', 'a service for each device, with a limit of its own');
answers('mirrors are made');
my $spread = 'p1 0, p2 1, p3 0, p4 1';
is(mirrors(), $spread, 'partitions spread over the devices');
is(engines($node), '0 1 0 1', 'each is answered where its mirror is');
is($node->safe_psql('postgres', 'SELECT string_agg(mirrors::text, \' \' ORDER BY ordinal), min(requests) > 0 FROM gpubtree_device'),
	'2 2|t', 'each device shows what it has and has done');

# Each takes half of what is left where there is most: here two indexes of one table.
$node->safe_psql('postgres', <<'SQL');
SELECT gpubtree_drop_mirror('p2_k_v_d_idx'), gpubtree_drop_mirror('p4_k_v_d_idx');
CREATE TABLE t (k int, v int);
INSERT INTO t SELECT i, -i FROM generate_series(1, 60000) i;
CREATE INDEX t_k ON t USING gpubtree (k);
CREATE INDEX t_v ON t USING gpubtree (v);
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE t');
$node->safe_psql('postgres', "SELECT gpubtree_refresh('t_k')");
is(mirrors(), 'p1 0, p3 0, t_k 1', 'a mirror goes where most memory is free');
$node->safe_psql('postgres', "SELECT gpubtree_refresh('t_v')");
is(mirrors(), 'p1 0, p3 0, t_k 1, t_v 0', 'and the next one where there is most then');

# ---- one is full ----

# Neither has room: that one makes it whose mirror was used longest ago, here of p1 on device 0, and
# t_k on the other stays.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE large (k bigint, v bigint);
INSERT INTO large SELECT i, i FROM generate_series(1, 215000) i;
CREATE INDEX large_k ON large USING gpubtree (k);
CREATE INDEX large_v ON large USING gpubtree (v);
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE large');
$node->safe_psql('postgres', "SELECT gpubtree_refresh('large_k')");
is(mirrors(), 'large_k 1, p1 0, p3 0, t_k 1, t_v 0', 'a large one beside the smaller');
$node->safe_psql('postgres', "SELECT gpubtree_refresh('large_v')");
like(mirrors(), qr/^large_k 1, large_v 0, (p3 0, )?t_k 1, t_v 0$/, 'what was used longest ago makes room, on its device alone');
answers('no room for all');
$node->safe_psql('postgres', "SELECT gpubtree_drop_mirror(index_oid) FROM gpubtree_mirrors");
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM gpubtree_mirrors') or die 'mirrors stay';
$node->safe_psql('postgres', "SELECT gpubtree_refresh('p1_k_v_d_idx'); SELECT gpubtree_refresh('p2_k_v_d_idx')");
is($node->safe_psql('postgres', "SELECT string_agg(mirrors || ' ' || (memory_used < 1000000), ', ') FROM gpubtree_device"), '1 true, 1 true', 'each device has freed what it had');

# Memory of each too small for all pages: a piece on each (154)
set('gpubtree.memory_limit', "'2MB'");
$node->poll_query_until('postgres', "SELECT count(*) = 2 FROM gpubtree_device WHERE status = 'ready' AND memory_limit = 2097152") or die 'no reload';
$node->safe_psql('postgres', "SELECT gpubtree_refresh('large_k')");
is($node->safe_psql('postgres', 'SELECT string_agg(mode, \' \') FROM gpubtree_mirrors'), 'piece piece', 'larger than each device: cut in two');
set('gpubtree.memory_limit', "'5MB'");
$node->poll_query_until('postgres', "SELECT count(*) = 2 FROM gpubtree_device WHERE status = 'ready' AND memory_limit = 5242880") or die 'no reload';
$node->safe_psql('postgres', 'DROP TABLE large, t');
answers('after that');
is(mirrors(), $spread, 'the partitions spread as before');

# ---- one is lost ----

# A query held at a point, and the loss of a device meanwhile
sub lost_midway
{
	my ($point, $device) = @_;
	my $holder = gpb_holder($node);
	my $other = pid_of(1 - $device);
	my $kept = epochs(1 - $device);
	my $name = "device $device lost at $point";

	my $session = gpb_start($node, $query, "gpubtree.hold_point = '$point'");
	gpb_wait_for_hold($node);
	my $pid = lose($device);
	is(engines($node), $device == 0 ? 'CPU 1 CPU 1' : '0 CPU 0 CPU', "$name: the other one answers others");
	$holder->quit;
	is(gpb_finish($session), $expected, "$name: the right answer");
	comes_back($name, $device, $pid, $other, $kept);
	return;
}

sub comes_back
{
	my ($name, $device, $pid, $other, $kept) = @_;

	wait_for_devices($node, 2);
	isnt(pid_of($device), $pid, "$name: it comes back");
	is(pid_of(1 - $device), $other, "$name: the other one is the same");
	answers("$name, afterwards");
	is(mirrors(), $spread, "$name: the mirrors are where they were");
	is(epochs(1 - $device), $kept, "$name: the other one has kept its mirrors");
	gpb_all_is_free($node, $name);
	return;
}

lost_midway('batch-after-refresh', 0);

# What it had is not made elsewhere while it is not back, where it would stay.
gpb_hold_service($node, 'open.0');
my $gone = lose(0);
gpb_wait_for_service_at($node, 'open.0');
is(engines($node), 'CPU 1 CPU 1', 'the CPU answers until a device is back');
gpb_release_service($node, 'open.0');
wait_for_devices($node, 2);
is(engines($node), '0 1 0 1', 'and the device does when it is back');
lost_midway('batch-after-visibility-map', 1);

# Between the submits to two devices: the requests of all partitions are in flight together.  Who waits
# for the lock behind the session gets it as soon as that has passed the point once.
foreach my $device (0, 1)
{
	my $name = "device $device lost between two submits";
	my $first = gpb_holder($node);
	my $other = pid_of(1 - $device);
	my $kept = epochs(1 - $device);

	my $session = gpb_start($node, $query, q(gpubtree.hold_point = 'batch-before-submit'));
	gpb_wait_for_hold($node);
	my $next = gpb_session($node);
	$next->query_until(qr/sent/, "\\echo sent\nSELECT pg_advisory_lock(0, 7001);\n");
	gpb_wait_for_hold($node, 2);
	$first->quit;
	$node->poll_query_until('postgres', <<'SQL') or die 'the session does not come to its second submit';
SELECT count(*) = 2 FROM pg_locks l JOIN pg_stat_activity USING (pid)
WHERE l.locktype = 'advisory' AND objid = 7001 AND (granted = (query LIKE '%advisory%'))
SQL
	is($node->safe_psql('postgres', 'SELECT slots - slots_free FROM gpubtree_batches'), 2, "$name: requests to two");
	my $pid = lose($device);
	$next->quit;
	is(gpb_finish($session), $expected, "$name: the right answer");
	comes_back($name, $device, $pid, $other, $kept);
}

# ---- one is slow, hangs, or goes for good ----

# One that is held still delays nobody who needs the other.
gpb_hold_service($node, 'batches.1');
my $slow = gpb_start($node, $query);
gpb_wait_for_service_at($node, 'batches.1');
my $of_first = 'SELECT count(*), sum(v) FROM p WHERE k BETWEEN 10100 AND 19000';
is(engines($node, $of_first), '0', 'the other device answers while one is held still');
ok(!gpb_has_ended($slow->{run}), 'a query of both waits');
gpb_release_service($node, 'batches.1');
is(gpb_finish($slow), $expected, 'and has the right answer');

# One that hangs
set('gpubtree.request_timeout', "'1s'");
gpb_hold_service($node, 'batches.0');
is(engines($node), 'CPU 1 CPU 1', 'one hangs: the CPU answers for it');
is($node->safe_psql('postgres', 'SELECT string_agg(status, \', \' ORDER BY ordinal) FROM gpubtree_device'),
	'not answering, ready', 'which of them hangs');
answers('one hangs');
is(mirrors(), $spread, 'its mirrors stay');
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k int);
INSERT INTO t SELECT generate_series(1, 1000);
CREATE INDEX t_k ON t USING gpubtree (k);
SELECT gpubtree_refresh('t_k');
SQL
is(mirrors(), "$spread, t_k 1", 'a new mirror is made on the other one');
$node->safe_psql('postgres', 'DROP TABLE t');
gpb_release_service($node, 'batches.0');
$node->poll_query_until('postgres', "SELECT count(*) = 2 FROM gpubtree_device WHERE status = 'ready'")
  or die 'it does not move again';
is(engines($node), '0 1 0 1', 'it answers again');
set('gpubtree.request_timeout', "'10min'");

# Fewer devices by a reload: what a service had is made anew where there is a device, and there again
set('gpubtree.device', "'host'");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM gpubtree_device WHERE status LIKE 'no device: the settings name%' AND ordinal IS NULL")
  or die 'the second service keeps its device';
answers('one device is left');
is(mirrors(), 'p1 0, p2 0, p3 0, p4 0', 'one device is left: it has all mirrors');
set('gpubtree.device', "'host, host, host'");
wait_for_devices($node, 2);
$node->wait_for_log(qr/gpubtree uses the first 2 of the 3 devices that are named/);
pass('more devices than at the start: the log says what to do');
set('gpubtree.device', "'host, host'");
lose(0);
wait_for_devices($node, 2);
answers('mirrors are made anew');
is(mirrors(), 'p1 0, p2 1, p3 0, p4 1', 'mirrors are made anew on both');

# ---- builds ----

# Two builds sort at a time, each on a device of its own.
set('gpubtree.memory_limit', 0);
$node->poll_query_until('postgres', "SELECT count(*) = 2 FROM gpubtree_device WHERE status = 'ready' AND memory_limit > 100000000") or die 'no reload';
answers('devices that differ a little');
is($node->safe_psql('postgres', 'SELECT string_agg(mirrors::text, \' \') FROM gpubtree_device'), '2 2', 'mirrors spread over devices that have not the same memory');
$node->safe_psql('postgres', 'CREATE TABLE b (k int); INSERT INTO b SELECT hashint4(i) FROM generate_series(1, 20000) i');
gpb_hold_service($node, 'sort.0');
gpb_hold_service($node, 'sort.1');
my @builds = map { gpb_start($node, "CREATE INDEX b_$_ ON b USING gpubtree (k)", 'gpubtree.device_sort = on', 'gpubtree.piece_records = 500', 'max_parallel_maintenance_workers = 0') } (1, 2);
gpb_wait_for_service_at($node, 'sort.0');
gpb_wait_for_service_at($node, 'sort.1');
pass('two builds sort on two devices');
gpb_release_service($node, "sort.$_") foreach (0, 1);
is(gpb_finish($_), '', 'a build ends') foreach @builds;
is($node->safe_psql('postgres', 'SELECT sorted_records FROM gpubtree_batches'), 40000, 'all records were sorted on devices');
gpb_index_is_sound($node, "b_$_", "index $_ is sound") foreach (1, 2);

# ---- a standby ----

set('gpubtree.memory_limit', "'5MB'");
my $standby = gpb_standby($node);
wait_for_devices($standby, 2);
answers('standby', $standby);
is(engines($standby), '0 1 0 1', 'a standby has mirrors on both of its devices');
lose(1, $standby);
is(engines($standby), '0 CPU 0 CPU', 'a standby loses one');
answers('a standby that lost one', $standby);
wait_for_devices($standby, 2);
$node->safe_psql('postgres', 'UPDATE p SET v = v + 1 WHERE k % 100 = 0');
$node->wait_for_catchup($standby);
$expected = $node->safe_psql('postgres', "SET gpubtree.enabled = off; $query");
answers('a standby, after changes', $standby);
is(engines($standby), '0 1 0 1', 'a standby has its second device back');
gpb_nothing_crashed($node);
gpb_nothing_crashed($standby);

# ---- a database that was not updated ----

is($node->safe_psql('postgres', <<'SQL'), "2|ready|f\n2|ready|f|t", 'the view of 0.1.0 works with this library, and has the device once it is updated');
SET client_min_messages = warning;
DROP EXTENSION gpubtree CASCADE;
CREATE EXTENSION gpubtree VERSION '0.1.0';
CREATE TABLE o (k int);
INSERT INTO o SELECT generate_series(1, 100);
CREATE INDEX o_k ON o USING gpubtree (k);
DO $$ BEGIN PERFORM gpubtree_refresh('o_k'); END $$;
SELECT (SELECT count(*) FROM gpubtree_device), state, cpu_share > 0 FROM gpubtree_mirrors WHERE index = 'o_k'::regclass;
ALTER EXTENSION gpubtree UPDATE;
SELECT (SELECT count(*) FROM gpubtree_device), state, cpu_share > 0, device IN (0, 1) FROM gpubtree_mirrors WHERE index = 'o_k'::regclass;
SQL

done_testing();
