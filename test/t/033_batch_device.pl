# Batches on the device: leaves that change between any two of a reader's steps are left to the
# CPU, a mirror lost in the middle leaves the batch to it, and a backend that goes in the middle
# leaves no slot or staging taken.
#
# Guards: the order of the steps (rule M5), the pieces' exact bounds (M4), entries fetched from the
# heap (M6), all or nothing, and what is given back (M9).
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, small_chunks => 1, settings => "autovacuum = off\n");

# answer(mode) is a batch of 300 ranges in that mode as one line, expected(mode) what a join says:
# ranges that overlap, keys that occur on many leaves, empty ones.  answer('keys') is
# gpubtree_probe's, with its counters in the table counters.
my $reset = <<'SQL';
DROP TABLE IF EXISTS t;
CREATE TABLE t (k bigint, v int);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT i % 5000, i % 100 FROM generate_series(1, 15000) i;
INSERT INTO t SELECT 2500, i FROM generate_series(1, 2000) i;
SQL
$node->safe_psql('postgres', $reset);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;
CREATE TABLE range AS
	SELECT i AS n, (i * 7919) % 5000::bigint AS lo,
		(i * 7919) % 5000::bigint + CASE WHEN i % 50 = 0 THEN 700 ELSE (i % 23) - 1 END AS hi
	FROM generate_series(1, 300) i;
CREATE FUNCTION answer(mode text) RETURNS text LANGUAGE sql AS $$
	SELECT count(*) || ' ' || md5(string_agg(b::text, ' ' ORDER BY number, b.k, b.v, tid)) FROM
		gpubtree_test_batch('t_k', (SELECT array_agg(lo ORDER BY n) FROM range), (SELECT array_agg(hi ORDER BY n) FROM range), mode) b
$$;
CREATE FUNCTION expected(mode text) RETURNS text LANGUAGE sql
SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
SET gpubtree.enable_batchjoin = off AS $$
	WITH e AS MATERIALIZED (SELECT n::int AS n, t.k, t.v::bigint AS v, t.ctid AS tid FROM range CROSS JOIN generate_series(lo, hi) key JOIN t ON t.k = key),
	b AS (
		SELECT n::int AS number, NULL::bigint AS k, sum(e.v)::bigint AS v, count(e.n) AS entries, NULL::tid AS tid
		FROM range LEFT JOIN e USING (n) WHERE mode = 'aggregate' GROUP BY n
		UNION ALL
		SELECT n, k, v, 1, CASE WHEN mode = 'rows' THEN tid END FROM e WHERE mode <> 'aggregate')
	SELECT count(*) || ' ' || md5(string_agg(b::text, ' ' ORDER BY number, b.k, b.v, tid)) FROM b
$$;
CREATE FUNCTION probe(OUT answer text, OUT counters text) LANGUAGE sql AS $$
	SELECT matches || ' ' || sum, engine || ' ' || (batches > 0) || ' ' || (unclean > 0) || ' ' || fallbacks || ' ' || (heap_fetches > 0)
	FROM gpubtree_probe('t_k', (SELECT array_agg(i * 3 % 5003) FROM generate_series(1::bigint, 3000) i), 'device')
$$;
CREATE FUNCTION probe_expected() RETURNS text LANGUAGE sql SET gpubtree.enable_batchjoin = off AS $$
	SELECT count(*) || ' ' || sum(v) FROM t JOIN generate_series(1::bigint, 3000) i ON t.k = i * 3 % 5003
$$;
SQL
gpb_wait_for_service($node);

# Take a snapshot in each of some transactions, hold statements at a point while each of @$meanwhile
# is done, and return a list: for each statement what it gave, and what the query expected of it gives
# in the same snapshot.
my @readers = map { gpb_session($node) } (1 .. 4);
my $holder = gpb_session($node);

sub held_together
{
	my ($point, $asked, @meanwhile) = @_;
	my @answers;

	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	for my $i (0 .. $#$asked)
	{
		my ($sql, $expected) = @{ $asked->[$i] };
		my $reader = $readers[$i];

		$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
		push @answers, [ undef, $reader->query_safe($expected) ];
		$reader->query_safe("SET gpubtree.hold_point = '$point'");
		$reader->query_until(qr/asked/, "\\echo asked\n$sql;\n\\echo answered\n");
	}
	gpb_wait_for_hold($node, scalar @$asked);
	for my $step (@meanwhile)
	{
		ref $step ? $step->() : $node->safe_psql('postgres', $step);
	}
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	for my $i (0 .. $#$asked)
	{
		my $answer = $readers[$i]->query_until(qr/answered/, "\n");

		$answer =~ s/\n?answered\n?//;
		$answers[$i][0] = $answer;
		$readers[$i]->query_safe('COMMIT');
	}
	return @answers;
}

# The same for one statement; returns its answer and what was expected.
sub held
{
	my ($point, $sql, $expected, @meanwhile) = @_;
	my ($pair) = held_together($point, [ [ $sql, $expected ] ], @meanwhile);

	return @$pair;
}

my @modes = ('aggregate', 'list', 'rows');
my @batches = map { [ "SELECT answer('$_ device')", "SELECT expected('$_')" ] } @modes;

# ---- leaves that change between the steps ----

my $split = 'INSERT INTO t SELECT 500 + i % 3000, 1 FROM generate_series(1, 8000) i';
my $delete = 'DELETE FROM t WHERE k BETWEEN 300 AND 3000';
my $move = 'UPDATE t SET k = k + 1, v = v + 1 WHERE k BETWEEN 1000 AND 2600';
# VACUUM does not wait for readers to go before it truncates the table.
my $vacuum = 'VACUUM (TRUNCATE off) t';
my $refresh = "SELECT gpubtree_refresh('t_k')";
my %change = (
	'splits' => [$split],
	'splits, seen by another refresh' => [ $split, $refresh ],
	'deletes' => [$delete],
	'moves and splits' => [ $move, $split ],
	'a vacuum of rows that were dead' => [$vacuum],
	'a vacuum, TIDs used again, all-visible' => [ $vacuum, $split, $vacuum ],
	'a vacuum, TIDs used again, another refresh' => [ $vacuum, $split, $vacuum, $refresh ]);

for my $what (sort keys %change)
{
	for my $point ('batch-after-refresh', 'batch-after-visibility-map', 'batch-chunk-taken')
	{
		$node->safe_psql('postgres', $reset);
		$node->safe_psql('postgres', 'VACUUM t') if $what !~ /vacuum/;
		$node->safe_psql('postgres', $delete) if $what =~ /vacuum/;
		my @answers = held_together($point, \@batches, @{ $change{$what} });
		is($answers[$_][0], $answers[$_][1], "$what, $point: the $modes[$_] is the snapshot's") for 0 .. $#modes;
	}
}
$node->safe_psql('postgres', $reset);
$node->safe_psql('postgres', 'VACUUM t');
my ($answer, $right) = held('batch-after-refresh', 'SELECT * FROM probe()', 'SELECT probe_expected()', $split);
is($answer, "$right|host device true true 0 true", 'the device answered, left pieces and entries to be checked');
is($node->safe_psql('postgres', 'SELECT counters FROM probe()'), 'host device true false 0 true', 'refreshed: no pieces');
$node->safe_psql('postgres', 'VACUUM t');
is($node->safe_psql('postgres', 'SELECT counters FROM probe()'), 'host device true false 0 false', 'vacuumed: no heap visits');

# Each request sends the map as it is now: what the device still has of an earlier batch's, on the
# same channels, says of the deleted rows that they are visible.  While one batch has the first
# slot, the other's first request uses the channel of what else would be a second one.
($answer, $right) = held('batch-after-visibility-map', "SELECT answer('aggregate device')",
	"SELECT expected('aggregate')", 'SELECT counters FROM probe()');
is($answer, $right, 'two batches at once: the aggregate is the snapshot\'s');
$node->safe_psql('postgres', 'DELETE FROM t WHERE k % 2 = 0');
is($node->safe_psql('postgres', "SELECT answer('$_ device')"), $node->safe_psql('postgres', "SELECT expected('$_')"),
	"rows deleted since the last batch: the $_ is the snapshot's") for ('aggregate', 'list', 'rows');
is($node->safe_psql('postgres', 'SELECT answer FROM probe()'), $node->safe_psql('postgres', 'SELECT probe_expected()'),
	'rows deleted since the last batch: not counted');
$node->safe_psql('postgres', $reset);
$node->safe_psql('postgres', 'VACUUM t');

# ---- which engine ----

my $keys = sub { "(SELECT array_agg(i) FROM generate_series(1::bigint, $_[0]) i)" };
my $engine = sub
{
	my ($n, $wish, $settings) = @_;
	return $node->safe_psql('postgres', ($settings // '') . ";SELECT engine FROM gpubtree_probe('t_k', " . $keys->($n) . ", '$wish')");
};
is($engine->(500, 'auto'), 'CPU', 'a batch that does not pay for the device');
is($engine->(1000, 'auto'), 'host device', 'one that does');
is($engine->(10, 'auto', 'SET gpubtree.batch_setup_cost = 0'), 'host device', 'or may');
is($engine->(10, 'device'), 'host device', 'however small, if it is told to');
is($engine->(50000, 'cpu'), 'CPU', 'however large, if it is told to');
is($engine->(50000, 'device', 'SET gpubtree.enable_device = off'), 'CPU', 'not if devices are off');
is($engine->(50000, 'device', "SET default_transaction_isolation = 'serializable'"), 'index scan', 'serializable: core judges');

# ---- the mirror is lost in the middle ----

sub restart_service
{
	my $pid = gpb_service_pid($node);

	kill 'TERM', $pid;
	$node->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM gpubtree_device WHERE status = 'ready' AND pid <> $pid")
	  or die 'the service did not come back';
	return;
}

my %loss = (
	'the mirror is dropped' => ["SELECT gpubtree_drop_mirror('t_k')"],
	'the mirror is dropped and made anew' => [ "SELECT gpubtree_drop_mirror('t_k')", $split, $refresh ],
	'the service restarts' => [ $split, \&restart_service ],
	'the index is built anew by another' => [ $split, \&restart_service, $refresh ]);

for my $what (sort keys %loss)
{
	for my $point ('batch-after-refresh', 'batch-after-visibility-map', 'batch-chunk-taken')
	{
		# All pages are all-visible, so that what the device has answered by then is in the totals.
		$node->safe_psql('postgres', $reset);
		$node->safe_psql('postgres', 'VACUUM t');
		my @answers = held_together($point, [ @batches, [ 'SELECT * FROM probe()', 'SELECT probe_expected()' ] ],
			@{ $loss{$what} });
		like($answers[3][0], qr/^\Q$answers[3][1]\E\|CPU (true|false) false 1 (true|false)$/,
			"$what, $point: the CPU answers, all of it");
		is($answers[$_][0], $answers[$_][1], "$what, $point: the $modes[$_] is right") for 0 .. $#modes;
		gpb_all_is_free($node, "$what, $point");
	}
}

$_->quit for @readers;

# ---- the backend goes in the middle ----

for my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
	for my $point ('batch-after-visibility-map', 'batch-before-submit', 'batch-chunk-taken')
	{
		$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
		my $leaver = gpb_start($node, 'SELECT * FROM probe()', "application_name = 'leaver'", "gpubtree.hold_point = '$point'");
		gpb_wait_for_hold($node);
		is($node->safe_psql('postgres', 'SELECT slots > slots_free AND memory_bytes > memory_free FROM gpubtree_batches'),
			't', "$end, $point: it had a slot and staging");
		$node->safe_psql('postgres', "SELECT $end(pid) FROM pg_stat_activity WHERE application_name = 'leaver'");
		like(gpb_finish($leaver), qr/canceling statement|terminating connection/, "$end, $point: it is gone");
		$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
		gpb_all_is_free($node, "$end, $point");
	}

	# two chunks with the service
	gpb_hold_service($node, 'batches');
	my $leaver = gpb_start($node, 'SELECT * FROM probe()', "application_name = 'leaver'");
	gpb_wait_for_sessions($node, 'leaver', 1);
	$node->safe_psql('postgres', "SELECT $end(pid) FROM pg_stat_activity WHERE application_name = 'leaver'");
	like(gpb_finish($leaver), qr/canceling statement|terminating connection/, "$end reaches a backend that waits for the service");
	gpb_release_service($node, 'batches');
	gpb_all_is_free($node, "$end while it waits");
}

# A subtransaction that fails gives its slots and staging back, too, and the transaction goes on.
$node->safe_psql('postgres', <<'SQL');
SET statement_timeout = '5min';
DO $$
DECLARE
	n int;
BEGIN
	FOR i IN 1 .. 100 LOOP
		BEGIN
			PERFORM answer('aggregate device'), 1 / (i % 2);
		EXCEPTION WHEN division_by_zero THEN NULL;
		END;
	END LOOP;
END $$;
SQL
gpb_all_is_free($node, 'after failed subtransactions');

# ---- a cursor on a list holds nothing between its parts ----

my $cursor = $node->background_psql('postgres');
$cursor->query_safe("SET work_mem = '64kB'");
$cursor->query_safe('BEGIN');
$cursor->query_safe("DECLARE c CURSOR FOR SELECT * FROM gpubtree_test_batch('t_k', '{0}'::bigint[], '{5000}'::bigint[], 'list device')");
$cursor->query_safe('FETCH 10 FROM c');
gpb_all_is_free($node, 'a cursor is open');
$cursor->query_safe('COMMIT');
$cursor->quit;
$holder->quit;
gpb_nothing_crashed($node);
$node->stop;

# ---- one slot and one unit of staging for all ----

$node = gpb_node('small', only_queries_refresh => 1, small_chunks => 1, settings => <<'CONF');
autovacuum = off
gpubtree.batch_slots = 1
gpubtree.batch_memory = 64kB
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT i, i FROM generate_series(1, 30000) i;
SQL
gpb_wait_for_service($node);
my $query = "SELECT matches, sum, batches > 100, fallbacks, engine FROM gpubtree_probe('t_k',
	(SELECT array_agg(i) FROM generate_series(1::bigint, 40000) i), 'device')";
is($node->safe_psql('postgres', $query), '30000|450015000|t|0|host device',
	'one slot: chunks one after the other');
$node->safe_psql('postgres', 'VACUUM t');
my @loads = map {
	gpb_start_pgbench($node, <<'SQL', '-c', '4', '-t', '2')
SELECT 1 / (matches = 30000 AND sum = 450015000 AND fallbacks = 0)::int AS right_answer
FROM gpubtree_probe('t_k', (SELECT array_agg(i) FROM generate_series(1::bigint, 40000) i), 'device');
SQL
} (1 .. 2);
$_->finish for @loads;
ok(!(grep { $_->result } @loads), 'eight backends wait for it in turn');
gpb_all_is_free($node, 'after eight backends');

done_testing();
