# CREATE INDEX CONCURRENTLY and REINDEX CONCURRENTLY under insert and update load give
# complete indexes.
use GpubtreeTest;

my $node = gpb_node('main', settings => "lock_timeout = '10min'\n");
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
CREATE INDEX t_second ON t USING gpubtree (k);
INSERT INTO t SELECT i, i, i FROM generate_series(1, 1000) i;
SQL

# Four sessions write until the twelfth rebuild is done, however slow the machine is.
my $writers = gpb_start_pgbench($node, <<'SQL', '-c', '4');
\set a random(1, 5000)
BEGIN;
INSERT INTO t SELECT :a + i, i, i FROM generate_series(1, 10) i;
SAVEPOINT s;
UPDATE t SET k = k + 1 WHERE k = :a;
RELEASE s;
COMMIT;
SQL
$node->poll_query_until('postgres', 'SELECT count(*) > 2000 FROM t')
  or die 'nobody writes';
$node->pgbench(
	'-n -c 1 -t 12', 0, [qr/processed: 12\/12/], [qr/^$/],
	'build and check under load',
	{   'rebuild' => <<'SQL' });
REINDEX INDEX CONCURRENTLY t_k;
SELECT gpubtree_check('t_k', true);
DROP INDEX CONCURRENTLY t_second;
CREATE INDEX CONCURRENTLY t_second ON t USING gpubtree (k DESC) INCLUDE (v);
SELECT gpubtree_check('t_second', true);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_range('t', 0, 100000);
COMMIT;
SQL
my $others = q{FROM pg_stat_activity
	WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()};
is($node->safe_psql('postgres', "SELECT count(*) $others"), '4',
	'all writers were at work to the end');
ok(gpb_end_pgbench($writers), 'writers had no error');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_index WHERE NOT indisvalid'),
	'0', 'no invalid index was left');
$node->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)");
pass('sound and complete at the end');

done_testing();
