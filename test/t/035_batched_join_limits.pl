# A batched join keeps to its bounds: exact beside writers; in the memory it is given, however many outer rows
# and rescans there are; few rows read for a query that wants few; cancelled at once, with nothing left behind.
#
# Guards: batches that grow from small, gpb_join_memory, rescans that reuse what they have, the end of the node.
use strict;
use warnings;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;

my $node = gpb_node('main', settings => <<'CONF');
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

# compare_joins() runs each query by ours and by core's joins, in the caller's snapshot
$node->safe_psql('postgres', gpb_setseed() . <<'SQL');
CREATE TABLE t (k bigint, v int, note int) WITH (fillfactor = 70);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT (random() * 2000)::int, i % 100 FROM generate_series(1, 4000) i;
CREATE TABLE p (k bigint, n int);
INSERT INTO p SELECT i * 4, i FROM generate_series(1, 500) i;
VACUUM ANALYZE t;
VACUUM ANALYZE p;
CREATE TABLE compared (n bigint);
CREATE FUNCTION digest(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || md5(string_agg(q::text, '';'' ORDER BY q::text)) FROM (%s) q', query) INTO result;
	RETURN result;
END $$;
CREATE FUNCTION core_digest(query text) RETURNS text LANGUAGE sql
	SET gpubtree.enable_batchjoin = off SET enable_indexscan = off SET enable_indexonlyscan = off
	SET enable_bitmapscan = off SET enable_hashjoin = on AS 'SELECT digest(query)';
CREATE FUNCTION compare_joins() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	query text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT p.n, t.v FROM p JOIN t USING (k)',
		'SELECT p.n, t.v, t.note FROM p LEFT JOIN t USING (k)',
		'SELECT p.n FROM p WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.k = p.k)',
		'SELECT p.n FROM p WHERE EXISTS (SELECT 1 FROM t WHERE t.k = p.k AND t.v > 20)',
		'SELECT count(*), sum(t.v), min(t.v) FROM p JOIN t USING (k)'] LOOP
		IF digest(query) IS DISTINCT FROM core_digest(query) THEN
			RAISE EXCEPTION 'answers differ: %', query;
		END IF;
	END LOOP;
END $$;
SQL
$node->pgbench(
	"-n -c 4 -t 120 --random-seed=$seed", 0,
	[qr/processed: (\d+)\/\1/], [qr/^pgbench: setting random seed to \d+$/],
	'beside writers: every join equals core\'s',
	{   'compare@40' => <<'SQL',
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_joins();
SELECT compare_joins();
COMMIT;
INSERT INTO compared VALUES (1);
SQL
		'insert@20' => <<'SQL',
\set a random(1, 2000)
INSERT INTO t SELECT :a + i % 3, i FROM generate_series(1, 20) i;
SQL
		'delete@16' => <<'SQL',
\set a random(1, 2000)
DELETE FROM t WHERE k BETWEEN :a AND :a + 5;
SQL
		'move@12' => <<'SQL',
\set a random(1, 2000)
UPDATE t SET k = 2001 - k, v = v + 1 WHERE k BETWEEN :a AND :a + 2;
SQL
		'hot@6' => <<'SQL',
\set a random(1, 2000)
UPDATE t SET note = 1 WHERE k BETWEEN :a AND :a + 3;
SQL
		'vacuum@6' => <<'SQL' });
VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t;
SQL
my $compared = $node->safe_psql('postgres', 'SELECT count(*) FROM compared');
cmp_ok($compared, '>=', 100, "beside writers: $compared comparisons were made");

# ---- memory ----

# 300,000 outer rows of about 150 bytes; what the node holds is looked at in the middle of the join
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE large (k bigint, v int);
INSERT INTO large SELECT i, i FROM generate_series(1, 300000) i;
CREATE INDEX large_k ON large USING gpubtree (k) INCLUDE (v);
CREATE TABLE wide (id int, k bigint, s text);
INSERT INTO wide SELECT i, (i * 7919::bigint) % 300000, repeat('x', 100) || i FROM generate_series(1, 300000) i;
VACUUM ANALYZE large;
VACUUM ANALYZE wide;
CREATE FUNCTION held(pattern text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts WHERE name LIKE pattern
$$;
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
		cmp_ok($held, '<', 5 * 1024 * 1024, "$kind, device $device: $held bytes for 45 MB of outer rows");
		cmp_ok($held, '>', 256 * 1024, "$kind, device $device: and they were looked at while held");
	}
}

# 20,000 rescans of a join
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

sub outer_rows
{
	my ($query) = @_;
	my $plan = decode_json($node->safe_psql('postgres',
		"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) $query"));
	my @nodes = ($plan->[0]{Plan});

	while (my $one = shift @nodes)
	{
		return ($one->{Keys}, $one->{Plans}[0]{'Actual Rows'}) if exists $one->{Keys};
		push @nodes, @{ $one->{Plans} // [] };
	}
	return (-1, -1);
}
my ($keys, $rows) = outer_rows('SELECT w.s, l.v FROM wide w JOIN large l USING (k) LIMIT 1');
is($rows, 32, 'LIMIT 1: one small batch of outer rows is read');
is($keys, 32, 'LIMIT 1: and searched');
($keys, $rows) = outer_rows('SELECT EXISTS (SELECT 1 FROM wide w JOIN large l USING (k))');
is($rows, 32, 'EXISTS over a join, too');

# ---- cancel ----

my $session = $node->background_psql('postgres', on_error_stop => 0);
my $contexts = $session->query("SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'gpubtree%'");
my $cancelled = 0;
my $slowest = 0;
for my $enabled ('off', 'on')
{
	$session->query("SET gpubtree.enable_device = $enabled");
	for my $query (
		'SELECT count(*), sum(l.v), sum(length(w.s)) FROM wide w CROSS JOIN wide x JOIN large l ON l.k = x.k',
		'SELECT count(*), sum(l.v) FROM wide w CROSS JOIN generate_series(1, 100) g JOIN large l ON l.k = w.k + g',
		'SELECT count(*) FROM wide w, generate_series(1, 100) g WHERE NOT EXISTS (SELECT 1 FROM large l WHERE l.k = w.k + g)')
	{
		for my $after (20, 150, 400)
		{
			my $started = time;
			$session->query("SET enable_nestloop = on; SET statement_timeout = $after;");
			$session->query($query);
			my $took = time - $started;
			$slowest = $took if $took > $slowest;
			$cancelled++ if $session->{stderr} =~ /canceling statement due to statement timeout/;
			$session->{stderr} = '';
			$session->query('SET statement_timeout = 0');
		}
	}
}
is($cancelled, 18, 'every statement was cancelled');
cmp_ok($slowest, '<', 5, sprintf('at once: %.1f s', $slowest));
is( $session->query("SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'gpubtree%'"),
	$contexts, 'no memory context is left');
is($session->query('SELECT slots = slots_free AND memory_bytes = memory_free FROM gpubtree_batches'),
	't', 'no slot and no staging is left');
$session->quit;
$node->stop;
unlike(slurp_file($node->logfile), qr/leak/, 'no pin is left');
done_testing();
