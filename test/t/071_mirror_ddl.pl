# Commands that replace or remove the file of a mirrored index.
use GpubtreeTest;

my $node = gpb_node('main', databases => 1, only_queries_refresh => 1, settings => "autovacuum = off\nallow_in_place_tablespaces = on\n");
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
INSERT INTO t SELECT i, i % 10, i % 7 FROM generate_series(1, 30000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE t');
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION ''");
gpb_wait_for_service($node);
my $query = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 1 AND 1000000';

# Test that the answer is right and came through the mirror.
sub check
{
	my ($after) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SELECT compare_range('t', 1, 1000000)");

	is($status, 0, "$after: the right answer") or diag($err);
	like(gpb_engine($node, $query, 'aggregate'), qr/host/, "$after: through the mirror");
}

# How many mirrors there are, but for those that the service is freeing
sub mirrors
{
	return $node->safe_psql('postgres', q{SELECT count(*) FROM gpubtree_mirrors() WHERE state <> 'discarded'});
}

my $fill = 'INSERT INTO t SELECT i, i % 10, i % 7 FROM generate_series(1, 20000) i';

check('at first');
$node->safe_psql('postgres', "TRUNCATE t; $fill");
check('TRUNCATE');
is(mirrors(), '1', 'TRUNCATE: the former file has no mirror');
$node->safe_psql('postgres', "BEGIN; TRUNCATE t; $fill; ROLLBACK");
check('TRUNCATE rolled back');
$node->safe_psql('postgres', "BEGIN; TRUNCATE t; $fill; TRUNCATE t; INSERT INTO t VALUES (5, 5, 5); COMMIT");
check('TRUNCATE twice, in place');
$node->safe_psql('postgres', "BEGIN; $fill; COMMIT");
$node->safe_psql('postgres', 'REINDEX INDEX t_k');
check('REINDEX');
$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY t_k');
is(mirrors(), '0', 'REINDEX CONCURRENTLY: the mirror of the index that it dropped is gone');
check('REINDEX CONCURRENTLY');
$node->safe_psql('postgres', 'ALTER INDEX t_k SET TABLESPACE elsewhere');
$node->safe_psql('postgres', 'DELETE FROM t WHERE k % 3 = 0');
check('SET TABLESPACE');
$node->safe_psql('postgres', 'ALTER INDEX t_k SET TABLESPACE pg_default');
$node->safe_psql('postgres', $fill);
check('SET TABLESPACE back');
$node->safe_psql('postgres', 'VACUUM FULL t');
check('VACUUM FULL');
$node->safe_psql('postgres', 'ALTER TABLE t ALTER v TYPE bigint');
check('a column of another type');
$node->safe_psql('postgres', 'DROP INDEX CONCURRENTLY t_k');
is(mirrors(), '0', 'DROP INDEX CONCURRENTLY: no mirror');
$node->safe_psql('postgres', 'CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d)');
check('DROP and CREATE INDEX');

# An index that is made and truncated in one transaction is built anew in the file it has.
my $in_place = $node->safe_psql('postgres', <<'SQL');
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
BEGIN;
CREATE TABLE w (k bigint, v int);
INSERT INTO w SELECT i, i FROM generate_series(1, 20000) i;
CREATE INDEX w_k ON w USING gpubtree (k) INCLUDE (v);
SELECT gpubtree_refresh('w_k') > 2;
SELECT count(*), sum(v) FROM w WHERE k > 0;
TRUNCATE w;
SELECT count(*), sum(v) FROM w WHERE k > 0;
COMMIT;
SQL
is($in_place, "t\n20000|200010000\n0|", 'truncated in place');

# Mirrors go with their table, and with their database.
$node->safe_psql('postgres', 'DROP TABLE w');
is(mirrors(), '1', 'DROP TABLE: only the mirror of the other table is left');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', <<'SQL');
CREATE EXTENSION gpubtree;
CREATE TABLE w AS SELECT generate_series(1, 1000) AS k;
CREATE INDEX w_k ON w USING gpubtree (k);
SELECT gpubtree_refresh('w_k');
SQL
is(mirrors(), '2', 'a mirror of another database');
$node->safe_psql('postgres', 'DROP DATABASE other');
is(mirrors(), '1', 'DROP DATABASE: gone with it');

# The relcache entry of an index may be built anew at any moment of a refresh.
SKIP:
{
	skip 'this server cannot discard caches at every opportunity', 2
	  if $node->safe_psql('postgres',
		q{SELECT max_val FROM pg_settings WHERE name = 'debug_discard_caches'}) eq '0';
	$node->safe_psql('postgres', q{SELECT gpubtree_drop_mirror('t_k')});
	cmp_ok($node->safe_psql('postgres', q{SET debug_discard_caches = 1; SELECT gpubtree_refresh('t_k')}),
		'>', 1, 'refreshed without caches');
	check('without caches');
}

# A temporary index never has a mirror.
is( $node->safe_psql('postgres', <<'SQL'), "0\nt", 'temporary: no mirror');
CREATE TEMPORARY TABLE x AS SELECT i AS k FROM generate_series(1, 1000) i;
CREATE INDEX x_k ON x USING gpubtree (k);
SELECT count(*) FROM gpubtree_mirrors() WHERE index = 'x_k'::regclass;
SELECT gpubtree_refresh('x_k') IS NULL;
SQL

# A build that is still running must not be mirrored: it writes pages without marking them.
is( $node->safe_psql('postgres', <<'SQL'), 't', 'an invalid index: no mirror');
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 't_k'::regclass;
SELECT gpubtree_refresh('t_k') IS NULL;
SQL
$node->safe_psql('postgres', q{UPDATE pg_index SET indisvalid = true WHERE indexrelid = 't_k'::regclass});

done_testing();
