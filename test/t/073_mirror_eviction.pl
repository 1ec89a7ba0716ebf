# More indexes than the registry has slots, and more blocks than the changed map covers: the mirror
# used longest ago makes room.
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, settings => "autovacuum = off\n");
$node->safe_psql('postgres', <<'SQL');
DO $$ BEGIN
	FOR i IN 1 .. 70 LOOP
		EXECUTE format('CREATE TABLE t%s AS SELECT i AS k FROM generate_series(1, 500 + %s) i', i, i);
		EXECUTE format('CREATE INDEX t%s_k ON t%s USING gpubtree (k)', i, i);
	END LOOP;
END $$;
SQL
gpb_wait_for_service($node);

sub refresh_all
{
	return $node->safe_psql('postgres', <<'SQL');
SELECT count(gpubtree_refresh(format('t%s_k', i)::regclass)) FROM generate_series(1, 70) i
SQL
}
is(refresh_all(), '70', 'each of 70 indexes gets a mirror');
is($node->safe_psql('postgres', q{SELECT count(*) FROM gpubtree_mirrors() WHERE state = 'ready'}),
	'64', 'and 64 have one at the end');
is( $node->safe_psql('postgres', q{SELECT count(*) FROM gpubtree_mirrors()
	WHERE index IN (SELECT format('t%s_k', i)::regclass::oid FROM generate_series(1, 6) i)}),
	'0', 'the first six made room');
my $copied = $node->safe_psql('postgres', q{SELECT gpubtree_refresh('t70_k')});
is($copied, '0', 'the last one is still there');

# Five segments of 1024 blocks in the map's pool: each index needs at least one.
$node->append_conf('postgresql.conf', "gpubtree.segment_blocks = 1024\ngpubtree.max_mirrored_blocks = 4097\n");
$node->restart;
gpb_wait_for_service($node);
is(refresh_all(), '70', 'with five map segments, too');
is($node->safe_psql('postgres', q{SELECT count(*) FROM gpubtree_mirrors() WHERE state = 'ready'}),
	'5', 'five have a mirror at the end');

# The least recently *used* one goes.
$node->safe_psql('postgres', q{SELECT gpubtree_refresh('t66_k')});
$node->safe_psql('postgres', q{SELECT gpubtree_refresh('t1_k')});
is( $node->safe_psql('postgres', q{SELECT string_agg(index::regclass::text, ' ' ORDER BY last_used) FROM gpubtree_mirrors()}),
	't68_k t69_k t70_k t66_k t1_k', 'in the order of their use');

# An index grows from one segment to three: others make room, and blocks of every segment are
# tracked.
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
INSERT INTO t SELECT i, i % 10, i FROM generate_series(1, 20000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
SQL

sub compare
{
	my ($name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SELECT compare_range('t', 1, 10000000)");

	is($status, 0, "$name: the right answer") or diag($err);
	like(gpb_engine($node, 'SELECT count(*), sum(v) FROM t WHERE k > 10', 'aggregate'), qr/host/,
		"$name: through the mirror");
	is($node->safe_psql('postgres', q{SELECT changed_blocks FROM gpubtree_mirrors WHERE index = 't_k'::regclass}),
		'0', "$name: nothing is left changed");
}

sub blocks { $node->safe_psql('postgres', q{SELECT pg_relation_size('t_k') / 8192}) }

compare('one segment');
cmp_ok(blocks(), '<', 1024, 'one segment covers it');
$node->safe_psql('postgres', 'INSERT INTO t SELECT i * 10, i % 10, i FROM generate_series(1, 600000) i');
compare('three segments');
my $blocks = blocks();
ok($blocks > 2048 && $blocks <= 3072, "three segments cover $blocks blocks");
is($node->safe_psql('postgres', q{SELECT count(*) <= 3 FROM gpubtree_mirrors() WHERE state = 'ready'}),
	't', 'others made room');
$node->safe_psql('postgres', 'INSERT INTO t VALUES (4, 4, 4), (3000000, 4, 4), (5999999, 4, 4)');
is($node->safe_psql('postgres', q{SELECT gpubtree_refresh('t_k')}), '3', 'a block of each is copied');
compare('changes in all of them');
$node->safe_psql('postgres', 'DELETE FROM t WHERE k % 3 = 0');
$node->safe_psql('postgres', 'VACUUM t');
compare('after VACUUM');

done_testing();
