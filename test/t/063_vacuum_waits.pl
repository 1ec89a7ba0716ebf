# VACUUM does not remove entries of a leaf while a reader still has to judge their visibility:
# it waits for the reader's pin.
#
# Guards: the pin an index-only scan keeps on its leaf; the pins of the CPU engines, of aggregates
# and of batches, while they read the visibility map (rule M4); the cleanup lock that VACUUM takes
# on every leaf.
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, settings => "autovacuum = off\ngpubtree.device = 'off'\n");
gpb_compare_function($node);

# One leaf has 300 entries; every other row is dead to everybody, and its heap page is not
# all-visible.
sub prepare
{
	$node->safe_psql('postgres', <<'SQL');
DROP TABLE IF EXISTS t;
CREATE TABLE t (k bigint, v int) WITH (fillfactor = 10);
INSERT INTO t SELECT i, 1 FROM generate_series(1, 300) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
SQL
	$node->safe_psql('postgres', 'DELETE FROM t WHERE k % 2 = 0');
	return;
}

# Start VACUUM and wait until it waits for a pin; false if it finished instead.
sub vacuum_waits
{
	my ($vacuum) = @_;

	$vacuum->query_until(qr/started/, "\\echo started\nVACUUM t;\n\\echo vacuumed\n");
	my $waits = gpb_waits_for_pin();
	return $node->poll_query_until('postgres', <<"SQL");
SELECT coalesce(bool_or($waits), false)
FROM pg_stat_activity WHERE query LIKE 'VACUUM t%'
SQL
}

# The first reader is an index-only scan behind a cursor.
prepare();
my $reader = $node->background_psql('postgres');
my $vacuum = $node->background_psql('postgres');
$reader->query_safe("SET $_")
  for ('gpubtree.enable_aggregate = off', 'enable_seqscan = off', 'enable_bitmapscan = off');
$reader->query_safe('BEGIN');
$reader->query_safe('DECLARE c CURSOR FOR SELECT k FROM t WHERE k > 0 ORDER BY k');
is($reader->query_safe('FETCH 1 FROM c'), '1', 'cursor: the first row');
ok(vacuum_waits($vacuum), 'cursor: VACUUM waits for the pin');
is($reader->query_safe('FETCH 5 FROM c'), "3\n5\n7\n9\n11", 'cursor: no dead row appears');
is($reader->query_safe('MOVE FORWARD ALL FROM c'), '', 'cursor: to the end');
$reader->query_safe('COMMIT');
$vacuum->query_safe('SELECT 1');
$reader->quit;
$vacuum->quit;

# The second reader is the aggregate's CPU engine, held after it has read the leaf and before it
# reads the visibility map.
prepare();
$reader = $node->background_psql('postgres');
$vacuum = $node->background_psql('postgres');
my $holder = gpb_holder($node);
$reader->query_safe("SET $_")
  for ('gpubtree.setup_cost = 0', 'enable_seqscan = off', 'enable_indexscan = off',
	'enable_indexonlyscan = off', 'enable_bitmapscan = off',
	"gpubtree.hold_point = 'batch-after-leaf'");
$reader->query_until(qr/sent/, "\\echo sent\nSELECT count(*), sum(v) FROM t WHERE k > 0;\n");
gpb_wait_for_hold($node);
ok(vacuum_waits($vacuum), 'aggregate: VACUUM waits for the pin');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
like($reader->query('SELECT 1'), qr/^150\|150$/m, 'aggregate: no dead row is counted');
$vacuum->query_safe('SELECT 1');
$holder->quit;
$reader->quit;
$vacuum->quit;

# The third reader is a batch of keys, held at the same moment.
prepare();
$reader = $node->background_psql('postgres');
$vacuum = $node->background_psql('postgres');
$holder = $node->background_psql('postgres');
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
$reader->query_safe("SET gpubtree.hold_point = 'batch-after-leaf'");
$reader->query_until(qr/sent/, <<'SQL');
\echo sent
SELECT matches, sum FROM gpubtree_probe('t_k', (SELECT array_agg(i::bigint) FROM generate_series(1, 60) i));
SQL
gpb_wait_for_hold($node);
ok(vacuum_waits($vacuum), 'batch: VACUUM waits for the pin');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
like($reader->query('SELECT 1'), qr/^30\|30$/m, 'batch: no dead row is counted');
$vacuum->query_safe('SELECT 1');
is($node->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)"), '', 'the index is sound');
$holder->quit;
$reader->quit;
$vacuum->quit;

done_testing();
