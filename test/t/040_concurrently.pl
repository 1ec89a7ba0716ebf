# CREATE INDEX CONCURRENTLY and REINDEX CONCURRENTLY under insert and update load give
# complete indexes.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;

my $node = gpb_node('main', settings => "lock_timeout = '180s'\n");
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE rebuilt (n int);
CREATE TABLE t (k bigint, v int, d float8);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
CREATE INDEX t_second ON t USING gpubtree (k);
INSERT INTO t SELECT i, i, i FROM generate_series(1, 1000) i;
SQL

# Only one session at a time may build; the others write on.
$node->pgbench(
	'-n -c 5 -t 300 --random-seed=' . gpb_seed(), 0,
	[qr/processed: 1500\/1500/], [qr/^pgbench: setting random seed to \d+$/],
	'build and check under load',
	{   'write' => <<'SQL',
\set a random(1, 5000)
BEGIN;
INSERT INTO t SELECT :a + i, i, i FROM generate_series(1, 10) i;
SAVEPOINT s;
UPDATE t SET k = k + 1 WHERE k = :a;
RELEASE s;
COMMIT;
SQL
		'rebuild' => <<'SQL' });
SELECT pg_try_advisory_lock(42)::integer AS mine \gset
\if :mine
	REINDEX INDEX CONCURRENTLY t_k;
	SELECT gpubtree_check('t_k', true);
	DROP INDEX CONCURRENTLY t_second;
	CREATE INDEX CONCURRENTLY t_second ON t USING gpubtree (k DESC) INCLUDE (v);
	SELECT gpubtree_check('t_second', true);
	BEGIN ISOLATION LEVEL REPEATABLE READ;
	SELECT compare_range('t', 0, 100000);
	COMMIT;
	INSERT INTO rebuilt VALUES (1);
	SELECT pg_advisory_unlock(42);
\endif
SQL
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM rebuilt'),
	'>=', 10, 'rebuilt at least ten times');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_index WHERE NOT indisvalid'),
	'0', 'no invalid index was left');
$node->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)");
pass('sound and complete at the end');

done_testing();
