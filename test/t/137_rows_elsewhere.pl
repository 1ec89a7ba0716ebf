# An extension that keeps rows of a table elsewhere than in its heap takes away core's paths, and
# leaves the indexes: no node of ours, and no index scan, reads such a table's index alone, whichever
# of the two was loaded first (rule M10).  Over a table that nobody hides each query has its node.
#
# The extension is test/modules/rows_elsewhere, by which tables named appended_... and custom_...
# have each row twice.  So may a partition be: beside others whose index is read, its rows come as
# the extension returns them.
#
# Guards: gpb_rel_may_be_table()
use GpubtreeNodes;
use GpubtreeTest;

my $node = gpb_node('main', settings => gpb_node_settings());

gpb_node_tables($node, $_) for qw(heap appended custom);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE parts (LIKE heap_one) PARTITION BY LIST (tenant);
CREATE TABLE heap_part PARTITION OF parts FOR VALUES IN (0, 1);
CREATE TABLE custom_part_2 PARTITION OF parts FOR VALUES IN (2);
CREATE TABLE custom_part PARTITION OF parts DEFAULT;
INSERT INTO parts TABLE heap_one;
CREATE INDEX ON parts USING gpubtree (ts) INCLUDE (tenant, v);
VACUUM ANALYZE parts;
SQL

# Queries over all partitions, and over one of each kind
my @of_parts = (
	'SELECT count(*), sum(v), max(ts) FROM parts',
	"SELECT tenant, sum(v + 1), count(DISTINCT v) FROM parts WHERE ts > '2026-01-01 10:00' GROUP BY 1",
	'SELECT DISTINCT tenant FROM parts',
	"SELECT date_trunc('hour', ts), count(*), sum(v) FROM parts GROUP BY 1",
	'SELECT v FROM parts WHERE v % 7 = 3',
	'SELECT ts FROM parts ORDER BY ts OFFSET 15000 LIMIT 3',
	"SELECT g, v FROM generate_series(timestamptz '2026-01-01', '2026-01-01 16:00', '1 hour') g JOIN parts ON ts = g",
	"SELECT g, count(*) FROM generate_series(timestamptz '2026-01-01', '2026-01-01 16:00', '1 hour') g JOIN parts ON ts >= g AND ts < g + interval '1 hour' GROUP BY g",
	'SELECT count(*), sum(v) FROM parts WHERE tenant = 2',
	'SELECT count(*), sum(v) FROM parts WHERE tenant = 3',
	"SELECT date_trunc('hour', ts), count(*), sum(v) FROM parts WHERE tenant = 4 GROUP BY 1");

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

sub check_parts
{
	my ($preloaded) = @_;
	my $nodes = 0;

	is($node->safe_psql('postgres', 'SELECT count(*) FROM parts'), '32000', "$preloaded: the rows of partitions");
	for my $query (@of_parts)
	{
		my ($plan, $rows, $without) = run($query);

		unlike($plan, qr/\bcustom_part_(2_)?ts/, "$preloaded: plan of $query");
		is($rows, $without, "$preloaded: rows of $query");
		$nodes++ if $plan =~ /Gpubtree\w+\) on (parts|heap_part)\b/;
	}
	cmp_ok($nodes, '>', 3, "$preloaded: nodes over partitions");
	return;
}

foreach my $preloaded ('gpubtree, rows_elsewhere', 'rows_elsewhere, gpubtree')
{
	check($preloaded);
	check_parts($preloaded);
}
$node->stop;
done_testing();
