# gpubtree_check raises no false alarm while others insert, split pages at every level, delete and
# vacuum; nor on a standby that replays all that.  Nor do scans and aggregates, which compare each
# page with what led to it.
use GpubtreeTest;

my $seconds = $ENV{GPB_SECONDS} // 3;

my $primary = gpb_node('primary', allows_streaming => 1, settings => <<'CONF');
autovacuum = off
max_connections = 30
hot_standby_feedback = on
max_standby_streaming_delay = -1
checkpoint_timeout = 1h
max_wal_size = 4GB
CONF

# Entries are wide, so that there are many pages and inner pages split too.
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k int8, a int8, b int8, c int8, d int8, e int8, f int8, g int8);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (a, b, c, d, e, f, g);
CREATE INDEX t_desc ON t USING gpubtree (k DESC) INCLUDE (a, b, c, d, e, f, g)
	WITH (fillfactor = 10);
SQL
my $standby = gpb_standby($primary);
$primary->wait_for_catchup($standby);

my $check = <<'SQL';
\set of_ten random(0, 9)
SELECT gpubtree_check('t_k', :of_ten < 3), gpubtree_check('t_desc', :of_ten = 9);
SQL
my $scan = <<'SQL';
\set k random(1, 1000000)
SET enable_seqscan = off;
SET enable_sort = off;
SET enable_bitmapscan = off;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SELECT count(k) FROM (SELECT k FROM t ORDER BY k OFFSET 0) q;
SELECT count(k) FROM (SELECT k FROM t ORDER BY k DESC OFFSET 0) q;
SELECT count(k) FROM (SELECT k FROM t WHERE k > :k ORDER BY k LIMIT 1000) q;
SELECT count(k) FROM (SELECT k FROM t WHERE k = ANY (ARRAY[:k - 5000, :k, :k + 1, :k + 5000]) ORDER BY k DESC OFFSET 0) q;
SELECT count(*), sum(k) FROM t WHERE k > :k;
SET gpubtree.enable_device = off;
SELECT count(*), sum(k) FROM t WHERE k > :k;
RESET ALL;
SQL
my $replayed = gpb_start_pgbench($standby, { 'check' => $check, 'scan' => $scan }, '-c', 4);
my $written = gpb_start_pgbench(
	$primary,
	{   'random@5' => <<'SQL',
\set k random(1, 1000000)
INSERT INTO t SELECT :k + i * 37 % 1000, i, i, i, i, i, i, i FROM generate_series(1, 50) i;
SQL
		'ascending@3' => <<'SQL',
INSERT INTO t SELECT extract(epoch FROM clock_timestamp()) * 1000000 + i, i
FROM generate_series(1, 30) i;
SQL
		'same@1' => <<'SQL',
INSERT INTO t SELECT 500000, i FROM generate_series(1, 30) i;
SQL
		'nulls@1' => <<'SQL',
INSERT INTO t SELECT NULL, i FROM generate_series(1, 10) i;
SQL
		'delete@1' => <<'SQL',
\set k random(1, 1000000)
DELETE FROM t WHERE k BETWEEN :k AND :k + 3000;
SQL
		'vacuum@1' => <<'SQL',
VACUUM (INDEX_CLEANUP ON) t;
SELECT pg_sleep(0.1);
SQL
		'scan@3' => $scan,
		'check@3' => $check },
	'-c', 10);

# Pages of level 1 are split by then; the clients of the standby have each begun, and end what they do.
gpb_go_on($primary, $seconds, "SELECT pg_relation_size('t_desc') / current_setting('block_size')::int > 450");
ok(gpb_end_pgbench($written, none_fails => 1), 'checks and scans on the primary');
ok(gpb_end_pgbench($replayed), 'checks and scans on the standby');

$primary->wait_for_catchup($standby);
foreach my $node ($primary, $standby)
{
	is( $node->safe_psql(
			'postgres',
			"SELECT gpubtree_check('t_k', true) || 'x' || gpubtree_check('t_desc', true)"),
		'x', $node->name . ': sound in the end');
}
$standby->stop;
$primary->stop;
done_testing();
