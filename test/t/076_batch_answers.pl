# Positions and ranges in batches, through the service: what the device leaves over (leaves that
# are not clean, entries not all-visible) is told, and with it each answer is that of the tree.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, small_chunks => 1, settings => "autovacuum = off\n");
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;
CREATE TABLE t (k bigint, v int);
INSERT INTO t SELECT i, i FROM generate_series(1, 50000) i;
INSERT INTO t SELECT 20000, i FROM generate_series(1, 3000) i;
CREATE TABLE narrow (k int);
INSERT INTO narrow SELECT k FROM t;
CREATE INDEX t_up ON t USING gpubtree (k) INCLUDE (v);
CREATE INDEX t_down ON t USING gpubtree (k DESC);
CREATE INDEX narrow_k ON narrow USING gpubtree (k);

-- 400 ranges of different lengths, points and empty ones among them; in the order of the index
CREATE TABLE range AS
	SELECT i, (i * 7919) % 52000 AS lo, (i * 7919) % 52000 + (i % 20) * (i % 37) - 1 AS hi
	FROM generate_series(1, 400) i;
CREATE FUNCTION answers(index regclass, list boolean) RETURNS bigint[] LANGUAGE sql AS $$
	SELECT CASE WHEN index = 't_down'::regclass
		THEN gpubtree_test_ranges(index, array_agg(hi ORDER BY i), array_agg(lo ORDER BY i), list)
		ELSE gpubtree_test_ranges(index, array_agg(lo ORDER BY i), array_agg(hi ORDER BY i), list) END FROM range
$$;
CREATE FUNCTION expected(t regclass) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
	result bigint[];
BEGIN
	EXECUTE format('SELECT array_agg((SELECT count(*) FROM %s WHERE k BETWEEN lo AND hi) ORDER BY i) FROM range', t)
		INTO result;
	RETURN result;
END $$;
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE');
gpb_wait_for_service($node);

# Are the counts right?  Then the totals: of answers, of unclean pieces, of single entries.
sub check
{
	my ($name, $index, $list) = @_;
	my $table = $index eq 'narrow_k' ? 'narrow' : 't';
	my ($right, @totals) = split /\|/, $node->safe_psql('postgres', <<"SQL");
SELECT a[:400] = expected('$table'), a[401], a[402], a[403] FROM answers('$index', $list) a
SQL
	is($right, 't', "$name, $index: counts are right");
	return @totals;
}

# ---- nothing changes ----

my $all = $node->safe_psql('postgres', 'SELECT sum(n) FROM unnest(expected(\'t\')) n');
for my $index ('t_up', 't_down', 'narrow_k')
{
	for my $bound (0 .. 2)
	{
		is($node->safe_psql('postgres', "SELECT gpubtree_test_positions('$index', 20000, $bound, 52000)"),
			0, "$index, bound $bound: positions are the tree's, every leaf being clean");
	}
	is_deeply([ check('at rest', $index, 'false') ], [ $all, 0, 0 ],
		"$index: the device counted all of them");
	is_deeply([ check('listed', $index, 'true') ], [ 0, 0, $all ], "$index: or listed all");
}

# ---- rows that the map does not vouch for ----

$node->safe_psql('postgres', 'UPDATE t SET v = -v WHERE k BETWEEN 1000 AND 3000');
$node->safe_psql('postgres', 'DELETE FROM t WHERE k BETWEEN 1000 AND 3000; INSERT INTO t SELECT i, 1 FROM generate_series(1000, 3000) i');
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', 'INSERT INTO t SELECT i, 2 FROM generate_series(4000, 9000) i');
my @totals = check('new rows', 't_up', 'false');
cmp_ok($totals[2], '>', 0, 'new rows are left for the heap');
cmp_ok($totals[0], '>', 0, 'old ones are not');

# ---- leaves that change between the refresh and the launch ----

my $holder = $node->background_psql('postgres');

# Run a query, held before its first submit while "change" is done.
sub meanwhile
{
	my ($change, $query) = @_;

	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	my $session = gpb_start($node, $query, "gpubtree.hold_point = 'batch-before-submit'");
	gpb_wait_for_hold($node);
	$node->safe_psql('postgres', $change);
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	gpb_finish($session);
	is($session->{err}, '', 'no error');
	return $session->{out};
}

for my $bound (0 .. 2)
{
	cmp_ok(meanwhile('INSERT INTO t SELECT 30000 + i, 3 FROM generate_series(1, 2000) i',
			"SELECT gpubtree_test_positions('t_up', 20000, $bound, 52000)"),
		'>', 100, "bound $bound: keys of changed leaves are left to the CPU, the others have the tree's position");
}
my ($counts, @parts) = split /\|/, meanwhile(
	'INSERT INTO t SELECT 10000 + i, 4 FROM generate_series(1, 9000) i',
	"SELECT a[:400], a[401], a[402], a[403] FROM answers('t_up', false) a");
is($counts, $node->safe_psql('postgres', "SELECT expected('t')"),
	'ranges: changed leaves are left to the CPU, and the sum is right');
cmp_ok($parts[0], '>', 0, 'the device counted some');
cmp_ok($parts[1], '>', 0, 'the CPU others');
$holder->quit;

is($node->safe_psql('postgres', 'SELECT slots_free = slots AND memory_free = memory_bytes FROM gpubtree_batches'),
	't', 'every slot and all memory is free again');
gpb_nothing_crashed($node);

done_testing();
