# What processes that share out parts of an index, or of the keys of a join, have together is what
# one process has, whatever others do to the index meanwhile: when parts are taken, leaves are split,
# emptied, deleted, and recycled; writers move rows from key to key while VACUUM runs. Processes that
# exchange keys wait for each other, but never for one that comes late, not at all, or ends in an error.
#
# Guards: where/shared_ranges.c, index/separators.c, the batch's source of ranges, states, and
# answer/key_exchange.c.
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;
use GpubtreeHold;

my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
gpubtree.device = 'off'
wal_level = replica
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
max_parallel_workers_per_gather = 3
max_parallel_workers = 8
CONF
my @forced = map { "$_ = off" } qw(enable_seqscan enable_indexscan enable_indexonlyscan enable_bitmapscan);
my @join_forced = map { "$_ = off" } qw(enable_hashjoin enable_mergejoin enable_nestloop);

# The settings that leave a query to the nodes
sub forced
{
	my ($query) = @_;
	return $query =~ / JOIN / ? @join_forced : @forced;
}

# Narrow leaves, to have many of them, and inner levels
sub prepare
{
	$node->safe_psql('postgres', <<'SQL');
DROP TABLE IF EXISTS t;
CREATE TABLE t (k bigint, v int, f float8);
INSERT INTO t SELECT i * 10, i % 1000, i / 8.0 FROM generate_series(1, 20000) i ORDER BY i * 7919 % 20000;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, f) WITH (fillfactor = 10);
VACUUM ANALYZE t;
SQL
	return;
}

sub serial
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', join('', map { "SET $_;" } forced($sql), 'max_parallel_workers_per_gather = 0') . $sql);
}

my $total = 'SELECT count(*), sum(v), sum(f), min(k), max(k) FROM t WHERE k BETWEEN 1005 AND 190005';
my $groups = "SELECT md5(string_agg(q::text, ' ' ORDER BY q::text)) FROM (SELECT v, count(*), sum(k), sum(f) FROM t WHERE k > 1005 GROUP BY v) q";
my $rows = 'SELECT count(*), sum(k), sum(v), sum(f) FROM (SELECT k, v, f FROM t WHERE k > 1005 AND v > 300 OFFSET 0) q';
my $join = 'SELECT count(*), sum(t.v), sum(t.f), min(t.k) FROM p JOIN t ON t.k = p.k';

# all keys that t may have, in random order
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE p WITH (autovacuum_enabled = off) AS SELECT i * 7919 % 200017 AS k FROM generate_series(1, 200016) i;
ANALYZE p;
SQL
prepare();
for my $query ($total, $groups, $rows, $join)
{
	like($node->safe_psql('postgres', join('', map { "SET $_;" } forced($query)) . "EXPLAIN $query"),
		qr/Gather.*Parallel Custom Scan \(Gpubtree(Aggregate|Scan|JoinAggregate)\)/s, 'processes share the index');
}

# ---- each has taken a part, and waits ----

my %changes = (
	'leaves are split' => 'INSERT INTO t SELECT i, 7, 0.5 FROM generate_series(1, 190000) i WHERE i % 10 IN (3, 4, 5, 6)',
	'leaves are emptied, deleted and recycled' => 'DELETE FROM t WHERE k % 1000 <> 0; VACUUM t; VACUUM t; '
	  . 'INSERT INTO t SELECT i, 7, 0.5 FROM generate_series(1, 190000) i WHERE i % 10 IN (3, 4)',
	'rows move to other keys' => 'UPDATE t SET k = 200000 - k; VACUUM t');
for my $change (sort keys %changes)
{
	for my $query ($total, $groups, $rows, $join)
	{
		prepare();
		my $expected = serial($query);
		my $holder = $node->background_psql('postgres');
		$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
		my $reader = gpb_start($node, $query, forced($query), "application_name = 'reader'", "gpubtree.hold_point = '" . ($query eq $join ? 'exchange-part' : 'part-taken') . "'");
		# the leader and its workers, whose names are the session's
		gpb_wait_for_sessions($node, 'reader', 4, "wait_event_type = 'Lock'");
		$node->safe_psql('postgres', $changes{$change});
		$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
		is(gpb_finish($reader), $expected, "$change: what the snapshot sees, once");
		$holder->quit;
	}
}

# ---- keys that are exchanged ----

# A session that runs the join, held at the point until the holder lets it go.
sub start_held
{
	my ($query, $point, @settings) = @_;
	my $holder = $node->background_psql('postgres');
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	return ($holder, gpb_start($node, $query, @join_forced, "application_name = 'reader'", "gpubtree.hold_point = '$point'", @settings));
}

sub release
{
	my ($holder, $reader) = @_;
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	$holder->quit;
	return gpb_finish($reader);
}

# The number of leaves that all processes have read
sub leaves
{
	my (@settings) = @_;
	my $plan = $node->safe_psql('postgres', join('', map { "SET $_;" } @join_forced, 'gpubtree.enable_leaf_cache = off', @settings)
		  . "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $join");
	my $sum = 0;
	$sum += $1 while $plan =~ /Leaves Done by CPU: (\d+)/g;
	return $sum;
}

prepare();
my $right = serial($join);
my $serial_leaves = leaves('max_parallel_workers_per_gather = 0');
cmp_ok(leaves(), '<', $serial_leaves + 4 * 16 + 1, "four processes read about the $serial_leaves leaves that one reads");
my $exchange = gpb_wait_event($node, 'KeyExchange');
my @rounds = ("work_mem = '64kB'", 'hash_mem_multiplier = 1');
is($node->safe_psql('postgres', join('', map { "SET $_;" } @join_forced, @rounds) . $join), $right, 'many rounds');

for my $settings ([], \@rounds)
{
	# the leader does not wait for workers that have not come yet, and these find nothing left
	my ($holder, $reader) = start_held($join, 'exchange-late', @$settings);
	gpb_wait_for_sessions($node, 'reader', 3, "wait_event_type = 'Lock' AND backend_type = 'parallel worker'");
	gpb_wait_for_sessions($node, 'reader', 1, "wait_event = 'ExecuteGather'");
	is(release($holder, $reader), $right, 'workers that come when all is done');

	# it waits for those that have read rows
	($holder, $reader) = start_held($join, 'exchange-put', @$settings);
	gpb_wait_for_sessions($node, 'reader', 3, "wait_event_type = 'Lock' AND backend_type = 'parallel worker'");
	gpb_wait_for_sessions($node, 'reader', 1, "wait_event = '$exchange' AND backend_type = 'client backend'");
	is(release($holder, $reader), $right, 'workers that have read rows are waited for');
}

# all read some rows, of few keys: parts of one key are in several runs
my $few = 'SELECT count(*), sum(t.v), sum(t.f) FROM p JOIN t ON t.k = p.k % 3 * 10 + 1000';
my ($holder, $reader) = start_held($few, 'exchange-attached');
gpb_wait_for_sessions($node, 'reader', 4, "wait_event_type = 'Lock'");
is(release($holder, $reader), serial($few), 'few keys in many rows');

# whoever is ended ends the statement, and nobody is left
for my $end ("pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'reader' AND backend_type = 'client backend'",
	"pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reader' AND backend_type = 'parallel worker' LIMIT 1")
{
	my ($holder, $reader) = start_held($join, 'exchange-put');
	gpb_wait_for_sessions($node, 'reader', 3, "wait_event_type = 'Lock' AND backend_type = 'parallel worker'");
	gpb_wait_for_sessions($node, 'reader', 1, "wait_event = '$exchange' AND backend_type = 'client backend'");
	$node->safe_psql('postgres', "SELECT $end");
	like(gpb_finish($reader), qr/canceling statement|terminating (connection|background worker)/, 'ended while others wait');
	$holder->quit;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'reader'")
	  or die 'a process is left';
}

# ---- leaves that are passed by ----

# Where cells have what the leaves add up to one process is the sooner, and the planner knows.
sub has_workers
{
	my ($settings) = @_;
	return $node->safe_psql('postgres', join('', map { "SET $_;" } @forced, 'parallel_setup_cost = 20', @$settings)
		  . 'EXPLAIN SELECT count(*), sum(v) FROM t') =~ /Gather/ ? 1 : 0;
}

prepare();
is(has_workers([]), 1, 'workers where no leaf was recorded');
# one run does not record them all
serial('SELECT count(*), sum(v) FROM t;') for 1 .. 4;
is(has_workers([]), 0, 'none where the leaves were');
is(has_workers(['gpubtree.enable_leaf_cache = off']), 1, 'and workers where cells are not asked');

# ---- writers beside ----

# Each row stays, and so does the sum of v; keys change, so entries move all over the index.
prepare();
$node->safe_psql('postgres', 'CREATE INDEX t_btree ON t USING btree (k)');
my $writes = $node->basedir . '/writes.sql';
append_to_file($writes, <<'SQL');
\set from random(1, 200000)
\set to random(1, 200000)
UPDATE t SET k = :to + k % 10 WHERE k BETWEEN :from AND :from + 200;
SQL
my $vacuum = $node->basedir . '/vacuum.sql';
append_to_file($vacuum, "VACUUM t;\n");
my @pgbench = map { IPC::Run::start([ 'pgbench', '-n', '-T', 3, '-f', $_, '-h', $node->host, '-p', $node->port, 'postgres' ],
	'>', '/dev/null', '2>&1', IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default)) } $writes, $writes, $vacuum;
my $whole = 'SELECT count(*), sum(v), sum(f) FROM t';
my $by_value = 'SELECT count(*), sum(n), sum(s) FROM (SELECT v, count(*) AS n, sum(f) AS s FROM t GROUP BY v) q';
my $joined = 'SELECT count(*), sum(t.v), sum(t.f) FROM p JOIN t ON t.k = p.k';
my $listed = 'SELECT count(*), sum(v), sum(f) FROM (SELECT k, v, f FROM t WHERE v > 300 OFFSET 0) q';
my %right = map { $_ => serial($_) } $whole, $by_value, $listed, $joined;
my $wrong = 0;
my $asked = 0;
while (grep { !gpb_has_ended($_) } @pgbench)
{
	for my $query ($whole, $by_value, $listed, $joined)
	{
		my $answer = $node->safe_psql('postgres', join('', map { "SET $_;" } forced($query)) . $query);
		$asked++;
		next if $answer eq $right{$query};
		$wrong++;
		diag("$answer, not $right{$query}");
	}
}
$_->finish for @pgbench;
is($wrong, 0, "$asked answers beside writers have each row once");

$node->stop;
done_testing();
