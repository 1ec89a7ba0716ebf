# Aggregates over each of many ranges keep to their bounds: exact beside writers; in the memory they are given, however
# many outer rows, groups and rescans there are; few rows read for a query that wants few; cancelled at once, with
# nothing left behind.
#
# Guards: batches that grow from small, gpb_range_row_bytes, a group's first row that outlives its batch, the end of the node.
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
gpubtree.enable_batchjoin = off
gpubtree.batch_setup_cost = 0
CONF
my $seed = gpb_seed();
gpb_wait_for_service($node);

# ---- beside writers ----

# compare_ranges() runs each query by ours and by core's plans, in the caller's snapshot
$node->safe_psql('postgres', gpb_setseed() . <<'SQL');
CREATE TABLE t (k bigint, v int, note int) WITH (fillfactor = 70);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT (random() * 2000)::int, i % 100 FROM generate_series(1, 4000) i;
CREATE TABLE b (id int PRIMARY KEY, lo bigint, hi bigint, g int);
INSERT INTO b SELECT i, i * 40, i * 40 + i % 60, i % 7 FROM generate_series(1, 50) i;
VACUUM ANALYZE t;
VACUUM ANALYZE b;
CREATE TABLE compared (n bigint);
CREATE FUNCTION digest(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || md5(string_agg(q::text, '';'' ORDER BY q::text)) FROM (%s) q', query) INTO result;
	RETURN result;
END $$;
CREATE FUNCTION core_digest(query text) RETURNS text LANGUAGE sql
	SET gpubtree.enable_rangeaggregate = off SET enable_indexscan = off SET enable_indexonlyscan = off
	SET enable_bitmapscan = off SET enable_hashjoin = on AS 'SELECT digest(query)';
CREATE FUNCTION compare_ranges() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	query text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT b.id, count(*), sum(t.v), min(t.k), max(t.v) FROM b JOIN t ON t.k >= b.lo AND t.k < b.hi GROUP BY b.id',
		'SELECT b.id, count(*), sum(t.v), sum(t.k) FROM b LEFT JOIN t ON t.k BETWEEN b.lo AND b.hi GROUP BY b.id',
		'SELECT b.g, count(*), sum(t.v) FROM b LEFT JOIN t ON t.k > b.lo GROUP BY b.g',
		'SELECT b.g, count(*), sum(t.v), avg(t.k) FROM b JOIN t ON t.k = b.lo GROUP BY b.g'] LOOP
		IF digest(query) IS DISTINCT FROM core_digest(query) THEN
			RAISE EXCEPTION 'answers differ: %', query;
		END IF;
	END LOOP;
END $$;
SQL
like($node->safe_psql('postgres', 'EXPLAIN SELECT b.g, sum(t.v) FROM b JOIN t ON t.k = b.lo GROUP BY b.g'),
	qr/GpubtreeRangeAggregate/, 'beside writers: our plan is compared');
$node->pgbench(
	"-n -c 4 -t 80 --random-seed=$seed", 0,
	[qr/processed: (\d+)\/\1/], [qr/^pgbench: setting random seed to \d+$/],
	'beside writers: every answer equals core\'s',
	{   'compare@40' => <<'SQL',
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_ranges();
SELECT compare_ranges();
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
cmp_ok($compared, '>=', 70, "beside writers: $compared comparisons were made");

# ---- memory ----

# 300,000 outer rows of about 150 bytes; what the node holds is looked at while its rows come out
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE large (k bigint, v int);
INSERT INTO large SELECT i, i FROM generate_series(1, 300000) i;
CREATE INDEX large_k ON large USING gpubtree (k) INCLUDE (v);
CREATE TABLE wide (id int PRIMARY KEY, lo bigint, s text);
INSERT INTO wide SELECT i, (i * 7919::bigint) % 300000, repeat('x', 100) || i / 3 FROM generate_series(1, 300000) i;
CREATE INDEX wide_s ON wide (s, id);
VACUUM ANALYZE large;
VACUUM ANALYZE wide;
CREATE FUNCTION held(pattern text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts WHERE name LIKE pattern
$$;
SQL
for my $device (0, 1)
{
	# a range, a key; each row a group, groups of three rows that come in order
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

# 20,000 rescans
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

sub outer_rows
{
	my ($query) = @_;
	my $plan = decode_json($node->safe_psql('postgres',
		"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) $query"));
	my @nodes = ($plan->[0]{Plan});

	while (my $one = shift @nodes)
	{
		return ($one->{Ranges}, $one->{Plans}[0]{'Actual Rows'}) if exists $one->{Ranges};
		push @nodes, @{ $one->{Plans} // [] };
	}
	return (-1, -1);
}
my ($keys, $rows) = outer_rows('SELECT w.id, count(*) FROM wide w JOIN large l ON l.k > w.lo AND l.k <= w.lo + 5 GROUP BY w.id LIMIT 3');
is($rows, 32, 'LIMIT 3: one small batch of outer rows is read');
is($keys, 32, 'LIMIT 3: and searched');

# ---- cancel ----

my $session = $node->background_psql('postgres', on_error_stop => 0);
my $contexts = $session->query("SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'gpubtree%'");
my $cancelled = 0;
my $slowest = 0;
for my $enabled ('off', 'on')
{
	$session->query("SET gpubtree.enable_device = $enabled; SET enable_nestloop = on; SET gpubtree.enable_batchjoin = on");
	for my $query (
		'SELECT sum(c), max(v) FROM (SELECT w.id + g, count(*) c, sum(l.v) v FROM wide w CROSS JOIN generate_series(1, 100) g JOIN large l ON l.k >= w.lo + g AND l.k < w.lo + g + 1000 GROUP BY w.id + g OFFSET 0) q',
		'SELECT sum(c), max(v) FROM (SELECT w.id, count(*) c, sum(l.v) v FROM wide w JOIN large l ON l.k >= w.lo GROUP BY w.id OFFSET 0) q',
		'SELECT sum(c), max(v) FROM (SELECT w.s, count(*) c, sum(l.v) v FROM wide w JOIN large l ON l.k < w.lo GROUP BY w.s OFFSET 0) q')
	{
		like($session->query("EXPLAIN $query"), qr/GpubtreeRangeAggregate/, 'cancel: our plan') if $enabled eq 'on';
		for my $after (20, 150, 400)
		{
			my $started = time;
			$session->query("SET statement_timeout = $after;");
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
# what the device was given it works off first
ok($node->poll_query_until('postgres', 'SELECT slots = slots_free AND memory_bytes = memory_free FROM gpubtree_batches'),
	'no slot and no staging is left');
$session->quit;
$node->stop;
unlike(slurp_file($node->logfile), qr/leak/, 'no pin is left');
done_testing();
