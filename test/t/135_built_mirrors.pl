# An index that is built is mirrored when the transaction commits that makes it valid, without a query
# that asks: CREATE INDEX, REINDEX, both CONCURRENTLY, what rewrites a table; several in one
# transaction.  Nothing is made where the transaction or subtransaction is rolled back, where the
# setting says no, for small and for temporary indexes, and where there is no room beside the mirrors
# that are there.  Neither DROP INDEX nor DROP DATABASE fails while it is being made.
#
# Guards: src/sql/built_mirrors.c, gpb_mirror_has_room().
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', databases => 1, only_queries_refresh => 1, settings => <<'CONF');
autovacuum = off
gpubtree.min_built_mirror_size = 0
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int);
INSERT INTO t SELECT i, i % 10 FROM generate_series(1, 30000) i;
CREATE TABLE other (k bigint);
SQL
gpb_compare_function($node);
gpb_wait_for_service($node);

# The indexes with a mirror that is loaded, with the number of its refreshes
my $ready = q{SELECT string_agg(format('%s %s', index, refreshes), ', ' ORDER BY index::text)
	FROM gpubtree_mirrors WHERE state = 'ready'};

sub sql { return $node->safe_psql('postgres', join(';', @_)) }

# Wait until exactly these indexes are mirrored, each by one refresh.
sub mirrored
{
	my ($what, @indexes) = @_;
	my $expected = join(', ', map { "$_ 1" } @indexes);

	ok($node->poll_query_until('postgres', $ready, $expected), $what) or diag(sql($ready));
}

# Test that nothing but these indexes gets a mirror, once a last one, built afterwards, has its own.
sub none_but
{
	my ($what, @indexes) = @_;

	sql('CREATE INDEX z_last ON other USING gpubtree (k)');
	mirrored($what, sort(@indexes, 'z_last'));
	sql('DROP INDEX z_last');
}

# ---- what is mirrored ----

sql('CREATE INDEX a ON t USING gpubtree (k) INCLUDE (v)');
mirrored('CREATE INDEX', 'a');
sql('VACUUM t');
my $query = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 1 AND 1000000';
like(gpb_engine($node, $query, 'aggregate'), qr/host/, 'the first query is the device\'s');
mirrored('which had nothing to copy', 'a');
sql('REINDEX INDEX a');
mirrored('REINDEX', 'a');
sql('VACUUM FULL t');
mirrored('VACUUM FULL', 'a');
sql('CREATE INDEX CONCURRENTLY b ON t USING gpubtree (v)');
mirrored('CREATE INDEX CONCURRENTLY', 'a', 'b');
sql('REINDEX INDEX CONCURRENTLY b');
mirrored('REINDEX INDEX CONCURRENTLY', 'a', 'b');
sql('DROP INDEX a, b');
sql('BEGIN', 'CREATE INDEX a ON t USING gpubtree (k)', 'SAVEPOINT s', 'CREATE INDEX b ON t USING gpubtree (v)',
	'ROLLBACK TO s', 'CREATE INDEX c ON t USING gpubtree (v)', 'COMMIT');
mirrored('two of one transaction, but not the one that was rolled back', 'a', 'c');
sql('DROP INDEX a, c');

# ---- what is not ----

sql('BEGIN', 'CREATE INDEX a ON t USING gpubtree (k)', 'ROLLBACK', 'CREATE INDEX b ON t USING btree (k)', 'DROP INDEX b');
none_but('ROLLBACK');
sql('SET gpubtree.min_built_mirror_size = -1', 'CREATE INDEX a ON t USING gpubtree (k)');
none_but('not where the setting says no');
sql('DROP INDEX a', 'SET gpubtree.min_built_mirror_size = \'10MB\'', 'CREATE INDEX a ON t USING gpubtree (k)');
none_but('nor for a small index');
sql('DROP INDEX a', 'SET gpubtree.min_built_mirror_size = \'100kB\'', 'CREATE INDEX a ON t USING gpubtree (k)');
mirrored('but for one of at least the size', 'a');
sql('DROP INDEX a', 'SET gpubtree.enable_device = off', 'CREATE INDEX a ON t USING gpubtree (k)');
none_but('nor where the session does not use the device');
sql('DROP INDEX a', 'CREATE TEMP TABLE x AS SELECT k FROM t', 'CREATE INDEX x_k ON x USING gpubtree (k)');
none_but('nor for a temporary index');
my ($status) = $node->psql('postgres', 'INSERT INTO t VALUES (1, 1); CREATE UNIQUE INDEX CONCURRENTLY d ON t (k)');
isnt($status, 0, 'a build that fails');
none_but('leaves nothing to be mirrored');

# ---- no room ----

sql("ALTER SYSTEM SET gpubtree.memory_limit = '900kB'", 'SELECT pg_reload_conf()');
$node->restart;
gpb_wait_for_service($node);
sql('CREATE INDEX a ON t USING gpubtree (k)');
mirrored('one that fits', 'a');
sql('CREATE INDEX b ON t USING gpubtree (k)');
none_but('no other is given up for one that does not fit beside it', 'a');
sql('ALTER SYSTEM RESET gpubtree.memory_limit', 'DROP INDEX a, b');
$node->restart;
gpb_wait_for_service($node);

# ---- while it is made ----

# A session that waits for the worker, held before it makes the mirror, gets what it wants afterwards.
gpb_hold_service($node, 'built-mirror');
sql('CREATE INDEX a ON t USING gpubtree (k)');
gpb_wait_for_service_at($node, 'built-mirror');
is(sql(q{SELECT query FROM pg_stat_activity WHERE backend_type = 'gpubtree built mirrors'}), 'a', 'a worker is seen');
my $drop = gpb_start($node, 'DROP INDEX a');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE NOT granted}) or die;
gpb_release_service($node, 'built-mirror');
is(gpb_finish($drop), '', 'DROP INDEX waits');
is(sql($ready), '', 'and leaves no mirror');

$node->safe_psql('postgres', 'CREATE DATABASE gone');
$node->safe_psql('gone', 'CREATE EXTENSION gpubtree; CREATE TABLE t AS SELECT i AS k FROM generate_series(1, 1000) i');
gpb_hold_service($node, 'built-mirror');
$node->safe_psql('gone', 'CREATE INDEX a ON t USING gpubtree (k)');
gpb_wait_for_service_at($node, 'built-mirror');
$drop = gpb_start($node, 'DROP DATABASE gone WITH (FORCE)');
$node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DROP DATABASE%'}) or die;
gpb_release_service($node, 'built-mirror');
is(gpb_finish($drop), '', 'DROP DATABASE (FORCE) ends the worker');
none_but('and nothing of it is left');
done_testing();
