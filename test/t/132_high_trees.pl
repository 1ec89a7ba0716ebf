# Trees of many levels over few rows: inner pages are given a few entries at most, so that splits and
# deletions of pages reach up to the root, and so does their redo.
#
# Guards: gpb_inner_entries in builds, splits and redo; split.c and page_delete.c above level 2.
use GpubtreeTest;

gpb_seed();
my $node = gpb_node('main', settings => "autovacuum = off\nwal_consistency_checking = 'gpubtree'\ngpubtree.inner_entries = 4\n");
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int4);
INSERT INTO t SELECT i * 1500, i FROM generate_series(1, 2000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
SQL
sub value { return $node->safe_psql('postgres', $_[0]) }
sub levels { return value("SELECT tree_level FROM gpubtree_bloat('t_k')") }
sub most_entries
{
	return value("SELECT max(entries) FROM (SELECT count(*) AS entries FROM generate_series(1, pg_relation_size('t_k') / 8192 - 1) b, "
		  . "gpubtree_page_stats('t_k', b) s, gpubtree_page_items('t_k', b) i WHERE s.level > 0 GROUP BY b) x");
}

sub check
{
	my ($name) = @_;

	is(value("SELECT gpubtree_check('t_k', true)"), '', "$name: the index is sound");
	is(value('SET enable_seqscan = off; SELECT count(*), sum(v) FROM t WHERE k BETWEEN 1000 AND 2500000'),
		value('SET gpubtree.enabled = off; SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off; '
			  . 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 1000 AND 2500000'), "$name: an aggregate is right");
}

my $built = levels();
cmp_ok($built, '>=', 3, 'a build of few entries a page makes many levels');
cmp_ok(most_entries(), '<=', 4, 'no inner page has more');
check('built');
$node->safe_psql('postgres', gpb_setseed() . 'INSERT INTO t SELECT (random() * 3000000)::bigint, i FROM generate_series(1, 30000) i');
cmp_ok(most_entries(), '<=', 4, 'nor after splits');
check('random inserts');
$node->safe_psql('postgres', 'INSERT INTO t SELECT 3000000 + i, i FROM generate_series(1, 60000) i');
cmp_ok(levels(), '>', $built, 'the root has grown');
check('ascending inserts');
$node->safe_psql('postgres', 'DELETE FROM t WHERE k BETWEEN 500000 AND 2200000; VACUUM t; VACUUM t');
cmp_ok(value("SELECT deleted_pages FROM gpubtree_bloat('t_k')"), '>', 30, 'pages are taken out of the tree');
check('deleted');
$node->stop('immediate');
$node->start;
check('recovered');
$node->safe_psql('postgres', 'SET gpubtree.inner_entries = 1000; INSERT INTO t SELECT 500000 + i * 20, i FROM generate_series(1, 30000) i');
cmp_ok(most_entries(), '>', 4, 'pages fill up where nothing limits them');
check('without the limit');
done_testing();
