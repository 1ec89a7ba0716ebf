# The engine is chosen at each run: by how many entries the ranges have, which the tree tells; by
# what cells let the CPU pass by (engine/cells_sample.c); by the requests that the service has
# already; and by the blocks that a refresh would copy first.
use GpubtreeTest;

# Cells are of logged tables, and of leaves in shared buffers.
my $node = gpb_node('choice', allows_streaming => 1, settings => "shared_buffers = '128MB'\n");
gpb_wait_for_service($node);
# Where blocks are refreshed in the background, the blocks that a query finds changed are not known.
$node->append_conf('postgresql.conf', 'gpubtree.background_refresh = off'), $node->reload
  if $node->safe_psql('postgres', "SELECT count(*) FROM pg_settings WHERE name = 'gpubtree.background_refresh'");

my $rows = 400_000;

# Wide entries make a tree of three levels; keys come at random, so leaves are not all as full.
$node->safe_psql('postgres', <<SQL);
CREATE TABLE t (k bigint, v bigint, a bigint, b bigint, c bigint, d bigint) WITH (autovacuum_enabled = off);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, a, b, c, d);
INSERT INTO t SELECT i::bigint * 7919 % $rows, i, i, i, i, i FROM generate_series(1, $rows) i;
VACUUM ANALYZE t;
SELECT gpubtree_refresh('t_k');
SQL

my $session = $node->background_psql('postgres');
$session->query_safe($_) for (
	'PREPARE q(bigint, bigint) AS SELECT count(*), sum(v) FROM t WHERE k >= $1 AND k < $2',
	'SET plan_cache_mode = force_generic_plan', 'SET enable_seqscan = off', 'SET gpubtree.setup_cost = 0',
	'SET gpubtree.enable_leaf_cache = off', 'SET gpubtree.enable_page_cache = off');

# Run the prepared query over [from, to): the engine, what it was chosen by, and the entries found.
sub run_query
{
	my ($from, $to) = @_;
	my $plan = $session->query_safe("EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE q($from, $to)");
	my ($engine) = $plan =~ /Engine: (.*)/ or die "no engine in\n$plan";
	my ($choice) = $plan =~ /Engine Choice: (.*)/;
	my ($matches) = $plan =~ /Matches: (\d+)/;

	return ($engine, $choice // '', $matches);
}

sub engine_of { return (run_query(@_))[0]; }

# ---- entries ----

is(engine_of(1000, 1100), 'CPU', 'few entries: the CPU');
is(engine_of(1000, 301_000), 'host device', 'many: the device, by the same plan');
is(engine_of(1000, 1100), 'CPU', 'and few again');
is(engine_of(1000, 11_000), 'CPU', '10,000 entries');
is(engine_of(1000, 31_000), 'host device', '30,000 entries');

my $worst = 1;
gpb_seed();
for my $width (1500, 3000, 10_000, 30_000, 100_000, 300_000)
{
	for (1 .. 8)
	{
		my $from = int(rand($rows - $width));
		my (undef, $choice, $matches) = run_query($from, $from + $width);
		my ($entries) = $choice =~ /about (\d+) entries/;
		my $ratio = $entries / $matches;

		$ratio = 1 / $ratio if $ratio < 1;
		note("[$from, +$width): about $entries, in fact $matches") if $ratio > 1.3;
		$worst = $ratio if $ratio > $worst;
	}
}
cmp_ok($worst, '<', 1.5, 'the tree tells the number of entries well enough');
is((run_query(-5, $rows * 2))[2], $rows, 'a range beyond all keys');
is(engine_of(50, 50), 'none', 'an empty range');

# Of many ranges some are looked at.  96 of them come in two batches.
my $lateral = <<'SQL';
SELECT sum(n) FROM generate_series(1, 96) g CROSS JOIN LATERAL
	(SELECT count(*) FROM t WHERE k BETWEEN g * 1000 AND g * 1000 + %d) x(n)
SQL
is(gpb_engine($node, sprintf($lateral, 20), undef), 'CPU', 'many narrow ranges');
is(gpb_engine($node, sprintf($lateral, 900), undef), 'host device', 'many wide ones');

# ---- cells of leaves ----

# Rows in the order of the keys: their cells hold unless some row among theirs may not be seen.
$node->safe_psql('postgres', <<SQL);
CREATE TABLE o WITH (autovacuum_enabled = off) AS SELECT i::bigint AS k, i % 100 AS v, i % 5 AS s FROM generate_series(1, $rows) i;
CREATE INDEX o_k ON o USING gpubtree (k) INCLUDE (v, s);
VACUUM ANALYZE o;
SELECT gpubtree_refresh('o_k');
SELECT gpubtree_stat_reset();
SQL

# Explain an aggregate over o in this range of keys, with these settings: the whole text.
sub explain_ordered
{
	my ($from, $to, %settings) = @_;
	my $set = join('', map { "SET $_ = $settings{$_};\n" } sort keys %settings);
	my $format = delete $settings{format} // 'text';
	my $what = delete $settings{what} // 'count(*), sum(v)';
	my $groups = delete $settings{groups} // '';

	$set =~ s/SET (format|what|groups) .*\n//g;
	return $node->safe_psql('postgres', <<SQL);
SET enable_seqscan = off;
$set
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT $format)
	SELECT $what FROM o WHERE k >= $from AND k < $to $groups;
SQL
}

# The row of the view of counters for an index, or nothing
sub cell_counts
{
	return $node->safe_psql('postgres',
		"SELECT leaves_passed, leaves_recorded, leaves_unseen FROM gpubtree_leaf_cells WHERE index = '$_[0]'::regclass");
}

my $plan = explain_ordered(1000, 41_000);
like($plan, qr/Engine: host device\n.*entries, 0 % of the leaves by cells, 0 requests before it/, 'no cells: the device');
like(explain_ordered(1000, 41_000, 'gpubtree.enable_leaf_cache' => 'off'), qr/Engine Choice: about \d+ entries, 0 requests/,
	'off: they are not looked at');
is(cell_counts('o_k'), '', 'and nothing is counted');

# What the device takes longer than cells would comes to the price of recording.
my $asked = 1;
$asked++ until ($plan = explain_ordered(1000, 41_000)) =~ /Engine: CPU/ || $asked > 20;
like($plan, qr/others to be recorded/, 'but soon enough the CPU records leaves');
cmp_ok($asked, '>', 1, 'which is not at once');
explain_ordered(1000, 41_000, 'gpubtree.enable_device' => 'off') for 1 .. 3;
$plan = explain_ordered(1000, 41_000);
like($plan, qr/Engine: CPU\n.*100 % of the leaves by cells$/m, 'then they are passed by');
my ($passed) = $plan =~ /Leaves Passed by Cells: (\d+)/;
my ($visited) = $plan =~ /Leaves Done by CPU: (\d+)/;
cmp_ok($passed, '>=', 50 * $visited, 'all but where the range begins and ends');
unlike($plan, qr/Leaves Not Passed/, 'no reason is shown');
like(cell_counts('o_k'), qr/^[1-9]\d+\|[1-9]\d+\|0$/, 'this is counted');

# Likewise by the values of a column, and for a filter that decides leaves.
for my $more ([ 's, count(*)', 'GROUP BY s' ], [ 'count(*), sum(v)', 'AND v >= 0' ])
{
	my %more = (what => $more->[0], groups => $more->[1]);
	explain_ordered(1000, 41_000, %more, 'gpubtree.enable_device' => 'off') for 1 .. 3;
	like(explain_ordered(1000, 41_000, %more), qr/Engine: CPU\n.*(9\d|100) % of the leaves by cells$/m, "likewise $more->[1]");
}

# A plan of the same range from elsewhere on, where there are no cells, is the device's.
like(explain_ordered(1000, 399_000), qr/Engine: host device\n/, 'cells at the beginning alone: the device');

# One row of each heap page is not visible to all.
$node->safe_psql('postgres', 'UPDATE o SET v = v + 1 WHERE k % 100 = 1 AND k < 41000');
my %cpu = ('gpubtree.enable_device' => 'off', 'gpubtree.enable_page_cache' => 'off');
explain_ordered(1000, 41_000, %cpu) for 1 .. 3;
like(explain_ordered(1000, 41_000, %cpu), qr/Leaves Not Passed: .*\d+ with rows not known to be visible/, 'why: the rows');
like(explain_ordered(1000, 41_000, %cpu, format => 'json'), qr/"Leaves Not Passed": "/, 'likewise in JSON');
cmp_ok((split /\|/, cell_counts('o_k'))[2], '>', 0, 'such leaves are counted');
like(explain_ordered(200_000, 240_000, %cpu), qr/Leaves Not Passed: \d+ not recorded yet or with dead rows/, 'why: no cells');
unlike(explain_ordered(200_000, 240_000, 'gpubtree.enable_leaf_cache' => 'off', %cpu), qr/Leaves Not Passed/,
	'with the setting off there is no reason');
like($node->safe_psql('postgres', <<'SQL'), qr/Leaves Not Passed: the query has groups or expressions of several columns, and no filters/, 'why: the query');
SET enable_seqscan = off; SET gpubtree.enable_device = off;
EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF)
	SELECT v, count(*) FILTER (WHERE k % 2 = 0) FROM o WHERE k BETWEEN 1000 AND 41000 GROUP BY v;
SQL
$node->safe_psql('postgres', 'SELECT gpubtree_stat_reset()');
is(cell_counts('o_k'), '', 'a reset forgets the counters');

# ---- changed blocks ----

$node->safe_psql('postgres', "UPDATE t SET v = v + 1 WHERE k % 1000 = 5");
my ($engine, $choice) = run_query(1000, 31_000);
is($engine, 'CPU', '30,000 entries, after changes everywhere');
like($choice, qr/, 0 requests before it, 64 or more blocks to refresh$/, 'and why');
is(engine_of(1000, 301_000), 'host device', 'many entries bring the mirror up to date all the same');
($engine, $choice) = run_query(1000, 31_000);
is($engine, 'host device', '30,000 entries, after that');
like($choice, qr/, 0 requests before it, 0 blocks to refresh$/, 'and why');

# ---- other requests ----

my $service = gpb_service_pid($node);
my @others = map { $node->background_psql('postgres') } 1 .. 5;
kill 'STOP', $service;
for my $other (@others)
{
	$other->query_safe("SET $_") for ('gpubtree.batch_setup_cost = 0', 'enable_seqscan = off', 'gpubtree.setup_cost = 0');
	$other->query_until(qr/sent/, "\\echo sent\nSELECT count(*), sum(v) FROM t WHERE k > 0;\n");
}
# Until their requests are there the query would wait itself; one of few entries does not.
$node->poll_query_until('postgres', <<'SQL') or die 'requests are missing';
SELECT slots - slots_free = 5 AND (SELECT count(*) = 5 FROM pg_stat_activity
	WHERE wait_event_type = 'Extension' AND query LIKE 'SELECT count(*), sum(v) FROM t WHERE k > 0%')
FROM gpubtree_batches
SQL
($engine, $choice) = run_query(1000, 31_000);
is($engine, 'CPU', '30,000 entries, behind five requests');
like($choice, qr/, 5 requests before it$/, 'and why');
$session->query_until(qr/sent/, "\\echo sent\nEXPLAIN (ANALYZE, VERBOSE) EXECUTE q(1000, 301000);\n\\echo answered\n");
$node->poll_query_until('postgres', 'SELECT slots - slots_free = 6 FROM gpubtree_batches')
  or die 'the sixth request is missing';
pass('many entries go to the device behind five requests');
kill 'CONT', $service;
$_->quit for @others, $session;
$node->stop;

done_testing();
