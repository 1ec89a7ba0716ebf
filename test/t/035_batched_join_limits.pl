# A batched join keeps to its bounds: exact beside writers; in the memory it is given, however many
# outer rows and rescans there are; few rows read for a query that wants few; cancelled at once,
# with nothing left behind.
#
# Guards: batches that grow from small, gpb_rows_memory(), rescans that reuse what they have, the
# end of the node.
use GpubtreeTest;
use GpubtreeLimits;

my $node = gpb_node('main', small_chunks => 1, settings => <<'CONF');
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
enable_hashjoin = off
enable_mergejoin = off
enable_nestloop = off
gpubtree.batch_setup_cost = 0
CONF
my $seed = gpb_seed();
gpb_wait_for_service($node);

# ---- beside writers ----

$node->safe_psql('postgres', gpb_setseed() . <<'SQL');
CREATE TABLE t (k bigint, v int, note int) WITH (fillfactor = 70);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT (random() * 2000)::int, i % 100 FROM generate_series(1, 4000) i;
CREATE TABLE p (k bigint, n int);
INSERT INTO p SELECT i * 4, i FROM generate_series(1, 500) i;
VACUUM ANALYZE t;
VACUUM ANALYZE p;
SQL
gpb_compare_beside_writers(
	$node,
	setting => 'gpubtree.enable_batchjoin',
	seed => $seed,
	queries => [
		'SELECT p.n, t.v FROM p JOIN t USING (k)',
		'SELECT p.n, t.v, t.note FROM p LEFT JOIN t USING (k)',
		'SELECT p.n FROM p WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.k = p.k)',
		'SELECT p.n FROM p WHERE EXISTS (SELECT 1 FROM t WHERE t.k = p.k AND t.v > 20)',
		'SELECT count(*), sum(t.v), min(t.v) FROM p JOIN t USING (k)' ]);

# ---- memory ----

# There are 100,000 outer rows of about 150 bytes.  What the node holds is looked at in the middle
# of the join.
gpb_create_large($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE wide (id int, k bigint, s text);
INSERT INTO wide SELECT i, (i * 7919::bigint) % 300000, repeat('x', 100) || i FROM generate_series(1, 100000) i;
VACUUM ANALYZE wide;
SQL
for my $device (0, 1)
{
	for my $kind ('JOIN', 'LEFT JOIN')
	{
		my $held = $node->safe_psql('postgres', <<"SQL");
SET work_mem = '1MB';
SET gpubtree.enable_device = @{[ $device ? 'on' : 'off' ]};
SELECT max(CASE WHEN id % 10000 = 0 THEN held('gpubtree%') END)
FROM (SELECT w.id, w.s, l.v FROM wide w $kind large l USING (k) OFFSET 0) j;
SQL
		cmp_ok($held, '<', 2 * 1024 * 1024, "$kind, device $device: $held bytes for 15 MB of outer rows");
		cmp_ok($held, '>', 256 * 1024, "$kind, device $device: and they were looked at while held");
	}
}

# A join is rescanned 20,000 times.
my $held = $node->safe_psql('postgres', <<'SQL');
SET enable_seqscan = off;
SET enable_memoize = off;
CREATE INDEX wide_id ON wide (id);
SELECT max(CASE WHEN o % 5000 = 0 THEN held('gpubtree%') + held('ExecutorState') END), count(n)
FROM (SELECT o, (SELECT count(*) FROM (SELECT l.v FROM wide w JOIN large l USING (k) WHERE w.id = o OFFSET 0) j) AS n
	FROM generate_series(1, 20000) o OFFSET 0) r;
SQL
my ($bytes, $scans) = split /\|/, $held;
cmp_ok($bytes, '<', 6 * 1024 * 1024, "$scans rescans: $bytes bytes");

# ---- a query that wants few rows ----

my ($keys, $rows) = gpb_counter_and_rows($node, 'Keys', 'SELECT w.s, l.v FROM wide w JOIN large l USING (k) LIMIT 1');
is($rows, 32, 'LIMIT 1: one small batch of outer rows is read');
is($keys, 32, 'LIMIT 1: and searched');
($keys, $rows) = gpb_counter_and_rows($node, 'Keys', 'SELECT EXISTS (SELECT 1 FROM wide w JOIN large l USING (k))');
is($rows, 32, 'EXISTS over a join, too');

# ---- cancel ----

my $session = $node->background_psql('postgres', on_error_stop => 0);
gpb_cancel_all(
	session => $session,
	settings => 'SET enable_nestloop = on',
	plan => qr/GpubtreeJoin/,
	queries => [
		'SELECT count(*), sum(l.v), sum(length(w.s)) FROM wide w CROSS JOIN wide x JOIN large l ON l.k = x.k',
		'SELECT count(*), sum(l.v) FROM wide w CROSS JOIN generate_series(1, 100) g JOIN large l ON l.k = w.k + g',
		'SELECT count(*) FROM wide w, generate_series(1, 100) g WHERE NOT EXISTS (SELECT 1 FROM large l WHERE l.k = w.k + g)' ]);
is($session->query('SELECT slots = slots_free AND memory_bytes = memory_free FROM gpubtree_batches'),
	't', 'no slot and no staging is left');
$session->quit;
$node->stop;
unlike(slurp_file($node->logfile), qr/leak/, 'no pin is left');
done_testing();
