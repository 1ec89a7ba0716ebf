# The engine is chosen at each run: by how many entries the ranges have, which the tree tells; by
# the requests that the service has already; and by the blocks that a refresh would copy first.
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;

my $node = gpb_node('choice');
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
	'SET plan_cache_mode = force_generic_plan', 'SET enable_seqscan = off', 'SET gpubtree.setup_cost = 0');

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
