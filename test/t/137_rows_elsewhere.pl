# An extension that keeps rows of a table elsewhere than in its heap takes away core's paths, and
# leaves the indexes: no node of ours, and no index scan, reads such a table's index alone, whichever
# of the two was loaded first (rule M10).  Over a table that nobody hides each query has its node.
#
# The extension is test/modules/rows_elsewhere, by which tables named appended_... and custom_...
# have each row twice.
#
# Guards: gpb_rel_is_plain()
use GpubtreeNodes;
use GpubtreeTest;

my $node = gpb_node('main', settings => gpb_node_settings());

gpb_node_tables($node, $_) for qw(heap appended custom);

# The query's plan, its rows, and those without nodes; rows are sorted, since not all have an order.
sub run
{
	my ($query) = @_;
	my $printed = $node->safe_psql('postgres', <<"SQL");
EXPLAIN (COSTS OFF) $query;
\\echo ----
$query;
\\echo ----
SET gpubtree.enabled = off;
$query;
SQL
	my ($plan, @rows) = split(/^----\n/m, $printed);

	return ($plan, map { join("\n", sort split(/\n/)) } @rows);
}

# preloaded: in which order the server loads the libraries
sub check
{
	my ($preloaded) = @_;

	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$preloaded'\n");
	$node->restart;
	for my $prefix (qw(heap appended custom))
	{
		my $count = $node->safe_psql('postgres', "SELECT count(*) FROM ${prefix}_one");

		is($count, $prefix eq 'heap' ? 20000 : 40000, "$preloaded: the rows of ${prefix}_one");
		for (gpb_node_queries($prefix))
		{
			my ($shown, $query) = @$_;
			my ($plan, $rows, $without) = run($query);
			my $pattern = $prefix eq 'heap' ? qr/\b$shown\b/ : qr/^(?!.*(Gpubtree|Index))/s;

			like($plan, $pattern, "$preloaded: plan of $query");
			is($rows, $without, "$preloaded: rows of $query");
		}
	}
}

check('gpubtree, rows_elsewhere');
check('rows_elsewhere, gpubtree');
$node->stop;
done_testing();
