# Partitions that a device answers are asked together: their requests are in flight at a time.  One whose mirror is lost, or
# all of them, are answered by the CPU; no slot stays taken; and no mirror of the statement makes room for another.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, settings => <<'CONF');
autovacuum = off
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
max_parallel_workers_per_gather = 0
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE p (k int NOT NULL, v int, d float8, n numeric(18,0)) PARTITION BY RANGE (k);
DO $$ BEGIN
	FOR i IN 1 .. 5 LOOP
		EXECUTE format('CREATE TABLE p%s PARTITION OF p FOR VALUES FROM (%s) TO (%s)', i, i * 40000, (i + 1) * 40000);
	END LOOP;
END $$;
INSERT INTO p SELECT i, i % 7, i % 5, CASE WHEN i / 40000 = 2 THEN i * 1000000000000 ELSE i END FROM generate_series(40000, 239999) i;
CREATE INDEX p_k ON p USING gpubtree (k) INCLUDE (v, d, n);
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE p');
gpb_wait_for_service($node);

my $query = 'SELECT v, count(*), sum(k), sum(d) FROM p WHERE k >= 50000 GROUP BY v ORDER BY v';
my $expected = $node->safe_psql('postgres', "SET gpubtree.enabled = off; $query");

# The engine of each partition, of the whole query's plan
sub engines
{
	my $plan = $node->safe_psql('postgres', "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query");

	return join ' ', $plan =~ /Engine: (\w+)/g;
}

# Requests that hold a slot
sub taken
{
	return $node->safe_psql('postgres', 'SELECT slots - slots_free FROM gpubtree_batches');
}

is($node->safe_psql('postgres', $query), $expected, 'the right answer at first, when mirrors are made');
is(engines(), 'host host host host host', 'a device answers each partition');
gpb_all_is_free($node, 'at first');

# ---- in flight together, and lost ----

# What is done while the service looks at no request, and which engines then answer
sub while_in_flight
{
	my ($name, $act) = @_;

	# a refresh would wait for the service
	is($node->safe_psql('postgres', $query), $expected, "$name: the right answer before");
	gpb_hold_service($node, 'batches');
	my $session = gpb_start($node, $query);
	$node->poll_query_until('postgres', 'SELECT slots - slots_free = 5 FROM gpubtree_batches')
	  or die "$name: the requests are not in flight: " . taken();
	pass("$name: the requests of five partitions are in flight");
	$act->();
	gpb_release_service($node, 'batches');
	is(gpb_finish($session), $expected, "$name: the right answer");
	gpb_all_is_free($node, $name);
}

while_in_flight('nothing happens', sub { });
my $drop;
while_in_flight('the mirror of the second is dropped', sub {
	$drop = gpb_start($node, q{SELECT gpubtree_drop_mirror('p2_k_v_d_n_idx')});
	$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM gpubtree_mirrors WHERE index = 'p2_k_v_d_n_idx'::regclass AND state = 'ready'})
	  or die 'the mirror is still there';
});
gpb_finish($drop);
while_in_flight('rows are inserted', sub {
	$node->safe_psql('postgres', 'INSERT INTO p SELECT i, 1, 1, 1 FROM generate_series(60000, 200000, 7) i');
});
$expected = $node->safe_psql('postgres', "SET gpubtree.enabled = off; $query");
is($node->safe_psql('postgres', $query), $expected, 'they are seen by the next statement');

while_in_flight('the service is told to exit', sub { kill 'TERM', gpb_service_pid($node) });
gpb_wait_for_service($node);
is($node->safe_psql('postgres', $query), $expected, 'the next service answers');

# An error, and a cancel, leave no slot behind.
gpb_hold_service($node, 'batches');
my $canceled = gpb_start($node, $query, 'statement_timeout = 500');
like(gpb_finish($canceled), qr/statement timeout/, 'who waits for requests in flight can be canceled');
gpb_release_service($node, 'batches');
gpb_all_is_free($node, 'canceled');
is($node->safe_psql('postgres', $query), $expected, 'the right answer after a cancel');

# A partition that has no answer: what is in flight for the others is given back.
my $squares = 'SELECT v, sum(n * n) FROM p GROUP BY v ORDER BY v';
my $core = $node->safe_psql('postgres', "SET gpubtree.enabled = off; $squares");
my $cursor = $node->background_psql('postgres');
$cursor->query_safe("BEGIN; DECLARE c CURSOR FOR $squares");
is($cursor->query_safe('FETCH 1 FROM c'), (split /\n/, $core)[0], 'the second partition has no answer');
is(taken(), 0, 'nothing is in flight while core answers');
is($cursor->query_safe('FETCH ALL FROM c'), join("\n", (split /\n/, $core)[1 .. 6]), 'and it answers all');
$cursor->quit;
like(($node->psql('postgres', 'SELECT v, sum(100 / (k - 190000)) FROM p GROUP BY v'))[2],
	qr/division by zero/, 'the error of one partition');
gpb_all_is_free($node, 'after an error');

# ---- one slot; memory for two mirrors ----

$node->append_conf('postgresql.conf', 'gpubtree.batch_slots = 1');
$node->restart;
gpb_wait_for_service($node);
is($node->safe_psql('postgres', $query), $expected, 'the right answer with one slot');
is(engines(), 'host host host host host', 'a device answers each partition with one slot');
gpb_all_is_free($node, 'one slot');

my $bytes = $node->safe_psql('postgres', 'SELECT max(memory_bytes) FROM gpubtree_mirrors');
$node->append_conf('postgresql.conf', "gpubtree.batch_slots = 64\ngpubtree.memory_limit = '" . int($bytes * 4 / 1024) . "kB'");
$node->restart;
gpb_wait_for_service($node);
is($node->safe_psql('postgres', $query), $expected, 'the right answer with memory for some mirrors');
my $mirrors = $node->safe_psql('postgres', 'SELECT index, refreshes FROM gpubtree_mirrors ORDER BY index');
is($node->safe_psql('postgres', $query), $expected, 'again');
is($node->safe_psql('postgres', 'SELECT index, refreshes FROM gpubtree_mirrors ORDER BY index'),
	$mirrors, 'the mirrors that there are stay, and none is made in their place');
like(engines(), qr/^(host )+CPU( CPU)*$/, 'the CPU answers for the others');
gpb_all_is_free($node, 'memory for some mirrors');

gpb_nothing_crashed($node);
done_testing();
