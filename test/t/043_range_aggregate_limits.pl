# Aggregates over each of many ranges keep to their bounds: exact beside writers; in the memory
# they are given, however many outer rows, groups and rescans there are; few rows read for a query
# that wants few; cancelled at once, with nothing left behind.
#
# Guards: batches that grow from small, range_row_bytes, a group's first row that outlives its
# batch, the end of the node.
use GpubtreeTest;
use GpubtreeLimits;

my $node = gpb_node('main', small_chunks => 1, settings => <<'CONF');
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
enable_hashjoin = off
enable_mergejoin = off
enable_nestloop = off
gpubtree.enable_batchjoin = off
gpubtree.batch_setup_cost = 0
CONF
my $seed = gpb_seed();
gpb_wait_for_service($node);

# ---- beside writers ----

$node->safe_psql('postgres', gpb_setseed() . <<'SQL');
CREATE TABLE t (k bigint, v int, note int) WITH (fillfactor = 70);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT (random() * 2000)::int, i % 100 FROM generate_series(1, 4000) i;
CREATE TABLE b (id int PRIMARY KEY, lo bigint, hi bigint, g int);
INSERT INTO b SELECT i, i * 40, i * 40 + i % 60, i % 7 FROM generate_series(1, 50) i;
VACUUM ANALYZE t;
VACUUM ANALYZE b;
SQL
like($node->safe_psql('postgres', 'EXPLAIN SELECT b.g, sum(t.v) FROM b JOIN t ON t.k = b.lo GROUP BY b.g'),
	qr/GpubtreeRangeAggregate/, 'beside writers: our plan is compared');
gpb_compare_beside_writers(
	$node,
	setting => 'gpubtree.enable_rangeaggregate',
	seed => $seed,
	queries => [
		'SELECT b.id, count(*), sum(t.v), min(t.k), max(t.v) FROM b JOIN t ON t.k >= b.lo AND t.k < b.hi GROUP BY b.id',
		'SELECT b.id, count(*), sum(t.v), sum(t.k) FROM b LEFT JOIN t ON t.k BETWEEN b.lo AND b.hi GROUP BY b.id',
		'SELECT b.g, count(*), sum(t.v) FROM b LEFT JOIN t ON t.k > b.lo GROUP BY b.g',
		'SELECT b.g, count(*), sum(t.v), avg(t.k) FROM b JOIN t ON t.k = b.lo GROUP BY b.g' ]);

# ---- memory ----

# There are 300,000 outer rows of about 150 bytes.  What the node holds is looked at while its rows
# come out.
gpb_create_large($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE wide (id int PRIMARY KEY, lo bigint, s text);
INSERT INTO wide SELECT i, (i * 7919::bigint) % 300000, repeat('x', 100) || i / 3 FROM generate_series(1, 300000) i;
CREATE INDEX wide_s ON wide (s, id);
VACUUM ANALYZE wide;
SQL
for my $device (0, 1)
{
	# The first takes a range of each row, the second a key, and each row is a group; the third has
	# groups of three rows, which come in order.
	for my $query (
		'SELECT w.id AS n, w.s, count(*) c, sum(l.v) FROM wide w LEFT JOIN large l ON l.k >= w.lo AND l.k < w.lo + 3 GROUP BY w.id',
		'SELECT w.id AS n, w.s, count(*) c, sum(l.v), sum(l.k) FROM wide w JOIN large l ON l.k = w.lo GROUP BY w.id',
		'SELECT min(l.k) AS n, w.s, count(*) c, sum(l.v) FROM wide w JOIN large l ON l.k BETWEEN w.lo AND w.lo + 2 GROUP BY w.s')
	{
		my $result = $node->safe_psql('postgres', <<"SQL");
SET work_mem = '1MB';
SET enable_sort = off;
SET enable_hashagg = off;
SET gpubtree.enable_device = @{[ $device ? 'on' : 'off' ]};
SELECT max(CASE WHEN n % 10000 = 0 THEN held('gpubtree%') END), max(CASE WHEN n % 10000 = 0 THEN held('ExecutorState') END), sum(c)
FROM ($query OFFSET 0) j;
SQL
		my ($held, $state, $sum) = split /\|/, $result;
		cmp_ok($held, '<', 5 * 1024 * 1024, "device $device: $held bytes for 45 MB of outer rows");
		cmp_ok($held, '>', 256 * 1024, "device $device: and they were looked at while held");
		cmp_ok($state, '<', 2 * 1024 * 1024, "device $device: $state bytes in the executor");
		cmp_ok($sum, '>', 290000, "device $device: all rows came out");
	}
}

# Values that are kept with the rows count, too: 10,000 rows of 1,900 bytes.
my $wider = $node->safe_psql('postgres', <<'SQL');
CREATE TABLE wider (id int PRIMARY KEY, lo bigint, s text);
ALTER TABLE wider ALTER s SET STORAGE PLAIN;
INSERT INTO wider SELECT i, i * 7, repeat('x', 1900) || i FROM generate_series(1, 10000) i;
VACUUM ANALYZE wider;
SET work_mem = '1MB';
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET enable_hashagg = off;
SELECT max(CASE WHEN n % 500 = 0 THEN held('gpubtree%') END), max(s) > ''
FROM (SELECT w.id AS n, w.s, count(*) FROM wider w JOIN large l ON l.k BETWEEN w.lo AND w.lo + 2 GROUP BY w.id OFFSET 0) j;
SQL
my ($kept) = split /\|/, $wider;
cmp_ok($kept, '<', 5 * 1024 * 1024, "$kept bytes for 19 MB of values");

# A node is rescanned 20,000 times.
my $held = $node->safe_psql('postgres', <<'SQL');
SET enable_seqscan = off;
SET enable_memoize = off;
SELECT max(CASE WHEN o % 5000 = 0 THEN held('gpubtree%') + held('ExecutorState') END), count(n)
FROM (SELECT o, (SELECT sum(c) FROM (SELECT w.s, count(*) c FROM wide w JOIN large l ON l.k >= w.lo AND l.k < w.lo + 3
		WHERE w.id BETWEEN o AND o + 5 GROUP BY w.s OFFSET 0) j) AS n
	FROM generate_series(1, 20000) o OFFSET 0) r;
SQL
my ($bytes, $scans) = split /\|/, $held;
cmp_ok($bytes, '<', 6 * 1024 * 1024, "$scans rescans: $bytes bytes");

# ---- a query that wants few rows ----

my ($ranges, $rows) = gpb_counter_and_rows($node, 'Ranges', 'SELECT w.id, count(*) FROM wide w JOIN large l ON l.k > w.lo AND l.k <= w.lo + 5 GROUP BY w.id LIMIT 3');
is($rows, 32, 'LIMIT 3: one small batch of outer rows is read');
is($ranges, 32, 'LIMIT 3: and searched');

# ---- the price of further columns ----

# The device adds up several columns of an entry for little more than one.
sub gpb_price
{
	my ($query) = @_;
	my $plan = $node->safe_psql('postgres', "EXPLAIN $query");
	like($plan, qr/^Custom Scan \(Gpubtree/, "our plan: $query");
	return $plan =~ /cost=[\d.]+\.\.([\d.]+)/ ? $1 : die $plan;
}

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE columns (k int, v1 int, v2 int, v3 int, v4 int);
INSERT INTO columns SELECT i, i, i, i, i FROM generate_series(1, 100000) i;
CREATE INDEX columns_k ON columns USING gpubtree (k) INCLUDE (v1, v2, v3, v4);
VACUUM ANALYZE columns;
SQL
foreach my $shape (
	'SELECT k / 10000, %s FROM columns t GROUP BY 1',
	'SELECT %s FROM columns t WHERE k = ANY (ARRAY(SELECT generate_series(1, 1000)))',
	'SELECT b.id, %s FROM b JOIN columns t ON t.k >= b.lo * 10 AND t.k < b.hi * 1000 GROUP BY b.id')
{
	my $one = gpb_price(sprintf $shape, 'sum(t.v1)');
	my $four = gpb_price(sprintf $shape, 'sum(t.v1), sum(t.v2), sum(t.v3), sum(t.v4)');
	cmp_ok($four, '<', 1.5 * $one, "four columns cost little more: $shape");
}

# ---- cancel ----

my $session = $node->background_psql('postgres', on_error_stop => 0);
gpb_cancel_all(
	session => $session,
	settings => 'SET enable_nestloop = on; SET gpubtree.enable_batchjoin = on',
	plan => qr/GpubtreeRangeAggregate/,
	queries => [
		'SELECT sum(c), max(v) FROM (SELECT w.id + g, count(*) c, sum(l.v) v FROM wide w CROSS JOIN generate_series(1, 100) g JOIN large l ON l.k >= w.lo + g AND l.k < w.lo + g + 1000 GROUP BY w.id + g OFFSET 0) q',
		'SELECT sum(c), max(v) FROM (SELECT w.id, count(*) c, sum(l.v) v FROM wide w JOIN large l ON l.k >= w.lo GROUP BY w.id OFFSET 0) q',
		'SELECT sum(c), max(v) FROM (SELECT w.s, count(*) c, sum(l.v) v FROM wide w JOIN large l ON l.k < w.lo GROUP BY w.s OFFSET 0) q' ]);
# The device first completes what it was given.
ok($node->poll_query_until('postgres', 'SELECT slots = slots_free AND memory_bytes = memory_free FROM gpubtree_batches'),
	'no slot and no staging is left');
$session->quit;
$node->stop;
unlike(slurp_file($node->logfile), qr/leak/, 'no pin is left');
done_testing();
