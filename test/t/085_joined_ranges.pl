# Ranges of several requests in one launch: each request gets the answer to its own ranges, whatever
# the others ask, leave to the CPU or to the heap, and whoever of them goes in the middle.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
gpubtree.batch_slots = 16
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
INSERT INTO t SELECT i, i % 100, i / 8.0 FROM generate_series(1, 60000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
VACUUM ANALYZE t;
CREATE TABLE u AS SELECT k, v FROM t;
CREATE INDEX u_k ON u USING gpubtree (k DESC) INCLUDE (v);
VACUUM ANALYZE u;
SQL
gpb_wait_for_service($node);

# A session that asks, and is held at a point if one is named; it asks for empty ranges too, which
# core's own scans would be cheaper for
sub start
{
	my ($name, $sql, $point) = @_;
	return gpb_start($node, $sql, "application_name = 'asker $name'",
		'enable_seqscan = off', 'enable_indexscan = off', 'enable_indexonlyscan = off', 'enable_bitmapscan = off',
		$point ? "gpubtree.hold_point = '$point'" : ());
}

sub expected
{
	my ($sql) = @_;

	return $node->safe_psql('postgres', "SET gpubtree.enabled = off; SET enable_indexscan = off; "
		  . "SET enable_indexonlyscan = off; SET enable_bitmapscan = off; $sql");
}

sub counters
{
	my %counter;

	@counter{ 'launches', 'joined', 'failed_over' } = split /\|/,
	  $node->safe_psql('postgres', 'SELECT launches, joined_launches, failed_over FROM gpubtree_batches');
	return \%counter;
}

sub range
{
	my ($i, $what, $table) = @_;

	return 'SELECT ' . ($what // 'count(*), sum(v), min(v), max(v)') . ' FROM ' . ($table // 't')
	  . " WHERE k BETWEEN " . 5000 * $i . ' AND ' . (5000 * $i + 100 + 1500 * $i);
}

# Let the service find all these requests in one look.  Returns by how much counters grew.
sub ask_together
{
	my ($name, @sql) = @_;
	my @expected = map { expected($_) } @sql;
	my $before = counters();
	my @asker;
	my $i = 0;

	gpb_hold_service($node, 'batches');
	@asker = map { start($i++, $_) } @sql;
	gpb_wait_for_sessions($node, 'asker%', scalar @sql);
	gpb_release_service($node, 'batches');
	is(gpb_finish($asker[$_]), $expected[$_], "$name: answer $_") for 0 .. $#sql;
	gpb_all_is_free($node, $name);
	my $after = counters();
	return map { $after->{$_} - $before->{$_} } ('launches', 'joined', 'failed_over');
}

# the mirrors are made
$node->safe_psql('postgres', range(1) . ';' . range(1, undef, 'u'));

# ---- joined ----

is(join(' ', ask_together('six ranges', map { range($_) } 1 .. 6)), '1 1 0', 'six ranges are one launch');
is(join(' ', ask_together('two tables', (map { range($_) } 1 .. 3), map { range($_, undef, 'u') } 1 .. 3)),
	'2 2 0', 'ranges of two tables are two launches');
is( join(' ', ask_together('two programs', (map { range($_) } 1 .. 3), map { range($_, 'sum(d), avg(d)') } 1 .. 3)),
	'2 2 0', 'other columns are another launch');
is(join(' ', ask_together('empty ones', range(1), range(100), range(2), range(200))), '1 1 0', 'some are empty');

# ---- entries for the heap, and leaves that are not clean ----

$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 10050; UPDATE t SET v = 1000 WHERE k = 15050');
is((ask_together('changed before', map { range($_) } 1 .. 6))[1], 1, 'joined, with entries for the heap');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) t');

for my $round (1 .. 2)
{
	my $holder = $node->background_psql('postgres');
	my @sql = map { range($_) } 1 .. 6;
	my $before = counters();
	my @asker;

	$node->safe_psql('postgres', range(1));
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	@asker = map { start($_, $sql[$_], 'batch-after-visibility-map') } 0 .. 5;
	gpb_wait_for_sessions($node, 'asker%', 6, "wait_event = 'advisory'");
	my @expected = map { expected($_) } @sql;
	# into the third range, after the snapshots and the map
	$node->safe_psql('postgres', 'INSERT INTO t SELECT 15060, 1 FROM generate_series(1, 10)');
	$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 15061') if $round == 2;
	gpb_hold_service($node, 'batches');
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	gpb_wait_for_sessions($node, 'asker%', 6);
	gpb_release_service($node, 'batches');
	is(gpb_finish($asker[$_]), $expected[$_], "round $round, an unclean leaf among them: answer $_") for 0 .. 5;
	is(counters()->{joined} - $before->{joined}, 1, "round $round: joined");
	is(counters()->{failed_over}, 0, "round $round: none failed over");
	$holder->quit;
	gpb_all_is_free($node, "round $round");
}

# ---- requests that found other bits, and requests of another epoch ----

# Start askers that are held when they have found their bits, and others after $change; let the
# service find all of them in one look.  Each has the answer of its snapshot.
sub ask_before_and_after
{
	my ($name, $change, @sql) = @_;
	my $holder = $node->background_psql('postgres');
	my @before = map { expected($_) } @sql;

	$node->safe_psql('postgres', $sql[0]);
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	my @old = map { start("old $_", $sql[$_], 'batch-after-visibility-map') } 0 .. $#sql;
	gpb_wait_for_sessions($node, 'asker%', scalar @sql, "wait_event = 'advisory'");
	$change->();
	my @after = map { expected($_) } @sql;
	gpb_hold_service($node, 'batches');
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	my @new = map { start("new $_", $sql[$_]) } 0 .. $#sql;
	gpb_wait_for_sessions($node, 'asker%', 2 * @sql);
	gpb_release_service($node, 'batches');
	for my $i (0 .. $#sql)
	{
		isnt($before[$i], $after[$i], "$name: range $i has changed");
		is(gpb_finish($old[$i]), $before[$i], "$name: answer $i for an older snapshot");
		is(gpb_finish($new[$i]), $after[$i], "$name: answer $i for a newer one");
	}
	$holder->quit;
	gpb_all_is_free($node, $name);
	return;
}

# With the bits of the old ones, the new ones would count rows that were deleted.
for my $k (1 .. 3)
{
	$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) t');
	ask_before_and_after('other bits', sub {
		$node->safe_psql('postgres', "DELETE FROM t WHERE k % 5000 = $k") }, map { range($_) } 1 .. 3);
}

# ---- backends go in the middle of a joined launch ----

$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) t');
$node->safe_psql('postgres', range(1));
for my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
	for my $leavers ('0', '3', '0, 1, 2, 3, 4, 5')
	{
		my @sql = map { range($_) } 1 .. 6;
		my @expected = map { expected($_) } @sql;
		my %leaver = map { $_ => 1 } split /, /, $leavers;

		gpb_hold_service($node, 'batches');
		my @asker = map { start($_, $sql[$_]) } 0 .. 5;
		gpb_wait_for_sessions($node, 'asker%', 6);
		gpb_hold_service($node, 'joined');
		gpb_release_service($node, 'batches');
		gpb_wait_for_service_at($node, 'joined');
		$node->safe_psql('postgres', "SELECT $end(pid) FROM pg_stat_activity "
			  . "WHERE application_name = ANY(ARRAY(SELECT 'asker ' || i FROM unnest('{$leavers}'::int[]) i))");
		gpb_wait_for_sessions($node, 'asker%', 6 - keys %leaver);
		is($node->safe_psql('postgres', 'SELECT slots - slots_free FROM gpubtree_batches'),
			6, "$end of $leavers: the slots are the service's until the launch has ended");
		gpb_release_service($node, 'joined');
		for my $i (0 .. 5)
		{
			if ($leaver{$i})
			{
				like(gpb_finish($asker[$i]), qr/canceling statement|terminating connection/, "$end of $leavers: $i goes");
			}
			else
			{
				is(gpb_finish($asker[$i]), $expected[$i], "$end of $leavers: answer $i");
			}
		}
		gpb_all_is_free($node, "$end of $leavers");
	}
}

# ---- the service goes in the middle ----

my $pid = gpb_service_pid($node);
gpb_hold_service($node, 'batches');
my @asker = map { start($_, range($_)) } 1 .. 6;
gpb_wait_for_sessions($node, 'asker%', 6);
gpb_hold_service($node, 'joined');
gpb_release_service($node, 'batches');
gpb_wait_for_service_at($node, 'joined');
kill 'TERM', $pid;
gpb_release_service($node, 'joined');
is(gpb_finish($asker[$_ - 1]), expected(range($_)), "the service exits: answer $_") for 1 .. 6;
$node->poll_query_until('postgres',
	"SELECT count(*) > 0 FROM gpubtree_device WHERE status = 'ready' AND pid <> $pid") or die;
gpb_all_is_free($node, 'after the service');

# ---- many, beside writers ----

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION compare(lo bigint, hi bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	device text;
	heap text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SELECT (count(*), sum(v), max(v))::text INTO device FROM t WHERE k BETWEEN lo AND hi;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL gpubtree.enabled = off;
	SELECT (count(*), sum(v), max(v))::text INTO heap FROM t WHERE k BETWEEN lo AND hi;
	IF device <> heap THEN
		RAISE EXCEPTION 'device % heap % for [%, %]', device, heap, lo, hi;
	END IF;
END $$;
SQL
my $before = counters();
my $writer = gpb_start_pgbench($node, <<'SQL', '-c', '1');
\set k random(1, 60000)
UPDATE t SET v = v + 1 WHERE k BETWEEN :k AND :k + 3;
DELETE FROM t WHERE k = :k;
INSERT INTO t VALUES (:k, 7);
\sleep 5 ms
SQL
my $vacuum = gpb_start_pgbench($node, "VACUUM t;\n\\sleep 200 ms\n", '-c', '1');
my $reader = gpb_start_pgbench($node, <<'SQL', '-c', '8');
\set lo random(1, 50000)
\set n random(1, 5000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare(:lo, :lo + :n);
END;
SQL
gpb_go_on($node, 2, "SELECT joined_launches > $before->{joined} FROM gpubtree_batches");
ok(gpb_end_pgbench($reader), 'eight readers beside writers: every answer is that of its snapshot, requests joined');
ok(gpb_end_pgbench($_), 'the writers are not disturbed') for $writer, $vacuum;
gpb_all_is_free($node, 'after readers and writers');
gpb_nothing_crashed($node);

# A page that was settled changes, and a reader on the CPU finds it settled anew: so older and newer
# requests have the same bits.  With the epoch of the newer ones, the older would count rows that
# were inserted after their snapshots.
$node->stop;
$node = gpb_node('epochs', settings => <<'CONF');
autovacuum = off
wal_level = replica
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
gpubtree.batch_slots = 16
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
INSERT INTO t SELECT i, i % 100, i / 8.0 FROM generate_series(1, 30000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
VACUUM t;
SQL
gpb_wait_for_service($node);
my @near = map { "SELECT count(*), sum(v) FROM t WHERE k BETWEEN $_ AND 40000" } (24000, 24500, 25000);
$node->safe_psql('postgres', $near[0]) for (1 .. 3);
my $before_epoch = counters();
ask_before_and_after('another epoch', sub {
	$node->safe_psql('postgres', "INSERT INTO t VALUES (29999, 1), (29998, 1); SELECT gpubtree_refresh('t_k'); "
		  . "SET gpubtree.enable_device = off; $near[0]; $near[0]") }, @near);
is(counters()->{joined} - $before_epoch->{joined}, 1, 'older and newer ones are joined');
$node->stop;

done_testing();
