# An extension that keeps rows of a table elsewhere than in its heap takes away core's paths, and
# leaves the indexes: no node of ours, and no index scan, reads such a table's index alone, whichever
# of the two was loaded first (rule M10).  Over a table that nobody hides each query has its node.
#
# The extension is test/modules/rows_elsewhere, by which tables named appended_... and custom_...
# have each row twice.
#
# Guards: gpb_rel_is_plain()
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;

my $hours = "generate_series(timestamptz '2026-01-01', '2026-01-01 16:00', '1 hour') g";

# What plans show, and a query that shows it, with "%1$s" for a table with an index on (ts) and
# "%2$s" for one with an index on (tenant, ts)
my @queries = (
	[ 'GpubtreeAggregate', "SELECT count(*), sum(v) FROM %1\$s WHERE ts > '2026-01-01 10:00'" ],
	[ 'GpubtreeAggregate', "SELECT tenant, sum(v + 1) FROM %1\$s WHERE ts > '2026-01-01 10:00' GROUP BY 1" ],
	[ 'GpubtreeAggregate', "SELECT DISTINCT tenant FROM %1\$s WHERE ts > '2026-01-01 10:00'" ],
	[ 'GpubtreeAggregate', "SELECT sum(v) FROM %1\$s WHERE ts = ANY (ARRAY(SELECT g FROM $hours))" ],
	[ 'GpubtreeAggregate', "SELECT sum(v) FROM %2\$s WHERE ts > '2026-01-01 10:00'" ],
	[ 'GpubtreeScan', "SELECT v FROM %1\$s WHERE ts > '2026-01-01 10:00' AND v %% 7 = 3" ],
	[ 'GpubtreeScan', 'SELECT DISTINCT ON (ts) ts, v FROM %1$s ORDER BY ts' ],
	[ 'GpubtreeScan', 'SELECT DISTINCT ON (tenant) tenant, ts FROM %2$s ORDER BY tenant, ts DESC' ],
	[ 'GpubtreeJoin', "SELECT g, v FROM $hours JOIN %1\$s ON ts = g" ],
	[ 'GpubtreeJoinAggregate', "SELECT count(*), sum(v) FROM $hours JOIN %1\$s ON ts = g" ],
	[ 'GpubtreeRangeAggregate',
		"SELECT g, count(*) FROM $hours JOIN %1\$s ON ts >= g AND ts < g + interval '1 hour' GROUP BY g" ],
	[ 'GpubtreeRangeAggregate',
		"SELECT g, s.* FROM $hours CROSS JOIN LATERAL (SELECT sum(v) FROM %1\$s WHERE ts BETWEEN g AND g + interval '1 hour') s" ],
	[ 'GpubtreeSubquery', "SELECT g, (SELECT sum(v) FROM %1\$s WHERE ts = g) FROM $hours" ],
	[ 'GpubtreeRank', 'SELECT ts FROM %1$s ORDER BY ts OFFSET 15000 LIMIT 3' ],
	[ 'GpubtreePercentile', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ts) FROM %1$s' ],
	[ 'GpubtreeBucketAggregate', "SELECT date_trunc('hour', ts), count(*), sum(v) FROM %1\$s GROUP BY 1" ],
	[ 'Index', 'SELECT min(ts), max(ts) FROM %1$s' ],
	[ 'Index', "SELECT v FROM %1\$s WHERE ts = '2026-01-01 10:00' ORDER BY ts LIMIT 3" ],
	[ 'Index', "SELECT ts FROM %2\$s WHERE tenant = 3 AND ts < '2026-01-01 03:00' ORDER BY ts LIMIT 3 FOR UPDATE" ]);

my $node = gpb_node('main', settings => <<'CONF');
max_parallel_workers_per_gather = 0
gpubtree.setup_cost = 0
enable_bitmapscan = off
enable_nestloop = off
enable_hashjoin = off
enable_mergejoin = off
CONF

for my $prefix (qw(heap appended custom))
{
	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE ${prefix}_one (ts timestamptz NOT NULL, tenant int4 NOT NULL, v int4);
INSERT INTO ${prefix}_one SELECT timestamptz '2026-01-01' + i / 1000 * interval '1 hour', i % 5, i FROM generate_series(1, 20000) i;
CREATE TABLE ${prefix}_two (LIKE ${prefix}_one);
INSERT INTO ${prefix}_two TABLE ${prefix}_one;
CREATE INDEX ON ${prefix}_one USING gpubtree (ts) INCLUDE (tenant, v);
CREATE INDEX ON ${prefix}_two USING gpubtree (tenant, ts) INCLUDE (v);
SQL
}
$node->safe_psql('postgres', 'VACUUM ANALYZE');

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
		for (@queries)
		{
			my ($shown, $text) = @$_;
			my $query = sprintf($text, "${prefix}_one", "${prefix}_two");
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
