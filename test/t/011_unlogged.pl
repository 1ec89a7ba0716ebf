# An index of an unlogged table is empty and usable after a crash.
use GpubtreeTest;

my $node = gpb_node('main');
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE UNLOGGED TABLE u (k bigint, v int, d float8);
CREATE INDEX u_k ON u USING gpubtree (k) INCLUDE (v, d);
INSERT INTO u SELECT i, i, i FROM generate_series(1, 20000) i;
SELECT compare_range('u', 1, 10000);
CHECKPOINT;
SQL
$node->stop('immediate');
$node->start;

is($node->safe_psql('postgres', "SELECT answer(range_query('u', 0, 100000), 'aggregate')"),
	'(0,0,,,,,,,,,)', 'empty after the crash');
$node->safe_psql('postgres',
	'INSERT INTO u SELECT i, i, i FROM generate_series(1, 5000) i');
is( $node->safe_psql('postgres', "SELECT compare_range('u', 0, 100000)"),
	'(5000,5000,12502500,1,5000,12502500,1,5000,12502500,1,5000)',
	'filled again, it answers');
$node->safe_psql('postgres', "SELECT gpubtree_check('u_k', true)");
pass('and is sound');

# A clean shutdown keeps the rows.
$node->restart;
is($node->safe_psql('postgres', "SELECT count(*) FROM u WHERE k > 0"),
	'5000', 'a clean restart keeps the rows');

done_testing();
