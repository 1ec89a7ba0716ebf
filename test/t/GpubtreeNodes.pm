# Queries of which each takes a node, one for every kind and form of node, and tables for them: what
# 137 and 138 share.
package GpubtreeNodes;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(gpb_node_settings gpb_node_tables gpb_node_queries);

my $hours = "generate_series(timestamptz '2026-01-01', '2026-01-01 16:00', '1 hour') g";

# What the plan shows, and the query, with "%1$s" for a table with an index on (ts) and "%2$s" for
# one with an index on (tenant, ts)
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


# Settings by which tables of this size have the nodes.
sub gpb_node_settings
{
	return <<'CONF';
max_parallel_workers_per_gather = 0
gpubtree.setup_cost = 0
enable_bitmapscan = off
enable_nestloop = off
enable_hashjoin = off
enable_mergejoin = off
CONF
}

# Create the two tables, PREFIX_one and PREFIX_two.
sub gpb_node_tables
{
	my ($node, $prefix) = @_;

	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE ${prefix}_one (ts timestamptz NOT NULL, tenant int4 NOT NULL, v int4);
INSERT INTO ${prefix}_one SELECT timestamptz '2026-01-01' + i / 1000 * interval '1 hour', i % 5, i FROM generate_series(1, 20000) i;
CREATE TABLE ${prefix}_two (LIKE ${prefix}_one);
INSERT INTO ${prefix}_two TABLE ${prefix}_one;
CREATE INDEX ON ${prefix}_one USING gpubtree (ts) INCLUDE (tenant, v);
CREATE INDEX ON ${prefix}_two USING gpubtree (tenant, ts) INCLUDE (v);
VACUUM ANALYZE ${prefix}_one;
VACUUM ANALYZE ${prefix}_two;
SQL
}

# The queries over these tables, each with what its plan shows
sub gpb_node_queries
{
	my ($prefix) = @_;

	return map { [ $_->[0], sprintf($_->[1], "${prefix}_one", "${prefix}_two") ] } @queries;
}

1;
