# Partitions that are asked for shares of a batch of outer rows have their requests in flight at a time.  One whose mirror is
# lost, or all of them, are answered by the CPU; no slot stays taken, also where one has no answer; one slot does.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, settings => <<'CONF');
autovacuum = off
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
max_parallel_workers_per_gather = 0
enable_nestloop = off
enable_hashjoin = off
enable_mergejoin = off
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE p (k int NOT NULL, v int, d float8, n numeric(18,0)) PARTITION BY RANGE (k);
DO $$ BEGIN
	FOR i IN 1 .. 4 LOOP
		EXECUTE format('CREATE TABLE p%s PARTITION OF p FOR VALUES FROM (%s) TO (%s)', i, i * 10000, (i + 1) * 10000);
	END LOOP;
END $$;
INSERT INTO p SELECT i, i % 7, i % 5, CASE WHEN i / 10000 = 2 THEN i * 1000000000000 ELSE i END FROM generate_series(10000, 49999) i;
CREATE INDEX p_k ON p USING gpubtree (k) INCLUDE (v, d, n);
CREATE TABLE o AS SELECT i AS id, i % 3 AS g, 9000 + i * 7919 % 42000 AS lo FROM generate_series(1, 20000) i;
SQL
$node->safe_psql('postgres', "VACUUM ANALYZE $_") foreach qw(p o);
gpb_wait_for_service($node);

my %query = (
	'answers to each range' => 'SELECT o.g, count(*), sum(t.v), sum(t.d) FROM o JOIN p t ON t.k >= o.lo AND t.k < o.lo + 20 GROUP BY o.g ORDER BY 1',
	'one answer over all' => 'SELECT count(*), sum(t.v) FROM o JOIN p t ON t.k = o.lo',
	'rows' => 'SELECT sum(id * v), count(*) FROM (SELECT o.id, t.v FROM o JOIN p t ON t.k = o.lo OFFSET 0) q',
);
my %expected = map { $_ => $node->safe_psql('postgres', "SET gpubtree.enabled = off; $query{$_}") } keys %query;

foreach my $name (sort keys %query)
{
	my $query = $query{$name};
	my $expected = $expected{$name};

	is($node->safe_psql('postgres', $query), $expected, "$name: the right answer at first");
	my $plan = $node->safe_psql('postgres', "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query");
	like($plan, qr/Partitions Of: p t/, "$name: a node asks all partitions");
	like($plan, qr/Engine: host/, "$name: a device answers");
	# a list is of one partition
	next if $name eq 'rows';
	foreach my $lost (0, 1)
	{
		gpb_hold_service($node, 'batches');
		my $session = gpb_start($node, $query);
		$node->poll_query_until('postgres', 'SELECT slots - slots_free = 4 FROM gpubtree_batches')
		  or die "$name: the requests are not in flight";
		pass("$name: the requests of four partitions are in flight");
		kill 'TERM', gpb_service_pid($node) if $lost;
		gpb_release_service($node, 'batches');
		is(gpb_finish($session), $expected, "$name: the right answer" . ($lost ? ', by the CPU, when the service exits' : ''));
		gpb_wait_for_service($node);
		gpb_all_is_free($node, $name);
	}
}

# What is in flight for others is given back when one has no answer.
my $squares = 'SELECT o.g, sum(t.n * t.n) FROM o JOIN p t ON t.k >= o.lo AND t.k < o.lo + 5 GROUP BY o.g ORDER BY 1';
is($node->safe_psql('postgres', $squares), $node->safe_psql('postgres', "SET gpubtree.enabled = off; $squares"),
	'the ordinary plan answers where a partition has no answer');
like($node->safe_psql('postgres', "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $squares"), qr/Gave Up: a value is out of range/, 'which is so');
my $cursor = $node->background_psql('postgres');
$cursor->query_safe("BEGIN; DECLARE c CURSOR FOR $squares");
$cursor->query_safe('FETCH 1 FROM c');
is($node->safe_psql('postgres', 'SELECT slots - slots_free FROM gpubtree_batches'), 0, 'nothing is in flight while core answers');
$cursor->quit;
gpb_all_is_free($node, 'no answer');

$node->append_conf('postgresql.conf', 'gpubtree.batch_slots = 1');
$node->restart;
gpb_wait_for_service($node);
is($node->safe_psql('postgres', $query{$_}), $expected{$_}, "$_: the right answer with one slot") foreach sort keys %query;
gpb_all_is_free($node, 'one slot');

gpb_nothing_crashed($node);
done_testing();
