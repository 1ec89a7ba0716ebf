# More indexes than the registry has slots, and more blocks than the changed map covers: the mirror
# used longest ago makes room.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;

my $node = gpb_node('main', settings => "autovacuum = off\n");
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

# Five segments in the map's pool: each index needs at least one.
$node->append_conf('postgresql.conf', "gpubtree.max_mirrored_blocks = 262145\n");
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

done_testing();
