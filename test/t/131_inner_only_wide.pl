# Mirrors of the inner nodes alone over keys of 16 bytes, of uuid and of (int4, timestamptz): batches of
# keys find their leaves on the device, and what they find is what core's join finds in the same
# snapshot, with old separators and with new ones.  In a mirror of all pages positions of such keys are
# the tree's.
#
# Guards: searches for wide keys in requests, batch_inner.c and the host device.
use GpubtreeTest;

my $node = gpb_node('main', allows_streaming => 1, settings => <<'CONF');
autovacuum = off
work_mem = 16MB
hot_standby_feedback = on
gpubtree.batch_setup_cost = 0
gpubtree.max_mirror_size = 100kB
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;
-- Half of the keys share their upper half, the others differ there.
CREATE FUNCTION key_of(i bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
	SELECT (CASE WHEN i % 2 = 0 THEN '00000000-0000-0000-' ELSE left(md5(i::text), 16) END
		|| right(md5(i::text), 16))::uuid $$;
CREATE TABLE uuids (k uuid, v int4);
INSERT INTO uuids SELECT key_of(i), i FROM generate_series(1, 100000) i;
INSERT INTO uuids VALUES (NULL, -1), ('ffffffff-ffff-ffff-ffff-ffffffffffff', -2), ('00000000-0000-0000-0000-000000000000', -3);
CREATE INDEX uuids_k ON uuids USING gpubtree (k) INCLUDE (v);
CREATE TABLE events (tenant int4 NOT NULL, at timestamptz NOT NULL, v int4);
INSERT INTO events SELECT i % 40 - 20, timestamptz '2024-01-01' + i * interval '7 seconds', i FROM generate_series(1, 100000) i;
CREATE INDEX events_k ON events USING gpubtree (tenant, at) INCLUDE (v);
-- outer rows: keys that are there and keys that are not
CREATE TABLE outer_uuids AS SELECT key_of(i * 3) AS k FROM generate_series(1, 60000) i;
INSERT INTO outer_uuids VALUES (NULL), ('ffffffff-ffff-ffff-ffff-ffffffffffff'), ('00000000-0000-0000-0000-000000000000');
CREATE TABLE outer_events AS SELECT i % 41 - 20 AS tenant, timestamptz '2024-01-01' + i * 3 * interval '7 seconds' AS at
	FROM generate_series(1, 60000) i;
INSERT INTO outer_events SELECT tenant, at FROM events WHERE v % 7 = 0;
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE');
gpb_wait_for_service($node);

my %join = (
	uuids => 'SELECT count(*) AS n, sum(v) AS sum FROM outer_uuids o JOIN uuids t ON t.k = o.k',
	events => 'SELECT count(*) AS n, sum(v) AS sum FROM outer_events o JOIN events t ON t.tenant = o.tenant AND t.at = o.at',
	left => 'SELECT count(*) AS n, sum(v) AS sum FROM outer_uuids o LEFT JOIN uuids t ON t.k = o.k');
my $ours = 'SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_nestloop = off; '
  . 'SET LOCAL max_parallel_workers_per_gather = 0;';
my $stock = 'SET LOCAL gpubtree.enabled = off; SET LOCAL enable_hashjoin = on; SET LOCAL enable_nestloop = on; SET LOCAL enable_indexscan = off; '
  . 'SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off;';

# Each join by our node and by core, in one snapshot; the engine of our node is like $engine, but for
# the left join's, whose batches of ranges are too small for a mirror of the inner nodes.
sub compare
{
	my ($name, $engine, $on) = @_;

	foreach my $query (sort keys %join)
	{
		my $output = ($on // $node)->safe_psql('postgres', "BEGIN ISOLATION LEVEL REPEATABLE READ; $ours\n$join{$query};\n"
			  . "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $join{$query};\n$stock\nSELECT '= ' || n || '|' || coalesce(sum::text, '') FROM ($join{$query}) c;\nCOMMIT;");
		my ($first) = split(/\n/, $output, 2);
		my ($expected) = $output =~ /^= (.*)$/m;
		my ($found) = $output =~ /Engine: ([^\n]*)/;

		is($first, $expected, "$name, $query: our rows are core's");
		like($found // 'none', $engine, "$name, $query: by that engine") unless $query eq 'left';
	}
}

# Of a probe: what was found, and how many leaves the device found
sub probe
{
	return split(/\|/, $node->safe_psql('postgres', 'SELECT matches, sum, device_keys > 0, device_keys + cpu_keys = 60002 FROM '
		  . "gpubtree_probe('uuids_k', (SELECT array_agg(k) FROM outer_uuids WHERE k IS NOT NULL), 'inner')"));
}

sub mode { $node->safe_psql('postgres', "SELECT DISTINCT mode FROM gpubtree_mirrors WHERE index IN ('uuids_k'::regclass, 'events_k'::regclass)") }

compare('at first', qr/^CPU, inner nodes on host/);
is(mode(), 'inner-only', 'the mirrors are of the inner nodes alone');
is_deeply([ (probe())[ 2, 3 ] ], [ 't', 't' ], 'a probe asks the device, and no key is lost');
# Keys far apart, which differ in their upper halves: from a leaf that the device found by another key
# the walk would step to the right, and find the same.
my ($device_keys, $right_moves) = split(/\|/, $node->safe_psql('postgres', 'SELECT device_keys, right_moves '
	  . "FROM gpubtree_probe('uuids_k', (SELECT array_agg(key_of(i * 2 + 1)) FROM generate_series(1, 49000, 97) i), 'inner')"));
cmp_ok($device_keys, '>', 0, 'a probe of few keys asks the device');
cmp_ok($right_moves, '<', $device_keys / 10, 'the device finds the leaves by whole keys');
is($node->safe_psql('postgres', "SELECT gpubtree_test_refused('uuids_k')"), 't', 'the service refuses what needs leaf images');
is($node->safe_psql('postgres', "SELECT bool_and(median_us > 0) FROM unnest('{uuids_k,events_k}'::regclass[]) i, "
	  . "unnest('{input,near,key}'::text[]) o, gpubtree_test_request_timing(i, 3000, 2, o)"), 't',
	'single requests are measured, and their results checked, in each order');

# Leaves split; the mirror's separators are old (rule M7), then new.
$node->safe_psql('postgres', 'INSERT INTO uuids SELECT key_of(i), i FROM generate_series(100001, 140000) i; '
	  . "INSERT INTO events SELECT i % 40 - 20, timestamptz '2024-01-01' + i * interval '6 seconds', i FROM generate_series(1, 40000) i;");
compare('old separators', qr/^CPU, inner nodes on host/);
$node->safe_psql('postgres', "SELECT gpubtree_refresh('uuids_k'), gpubtree_refresh('events_k')");
compare('new separators', qr/^CPU, inner nodes on host/);
$node->safe_psql('postgres', 'DELETE FROM uuids WHERE v % 5 > 0; DELETE FROM events WHERE tenant BETWEEN -5 AND 5; VACUUM;');
compare('deleted leaves', qr/^CPU, inner nodes on host/);

my $standby = gpb_standby($node);
gpb_wait_for_service($standby);
$node->safe_psql('postgres', 'INSERT INTO uuids SELECT key_of(i), i FROM generate_series(140001, 160000) i');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
compare('standby', qr/^CPU, inner nodes on host/, $standby);
$standby->stop;

# ---- all pages ----

$node->append_conf('postgresql.conf', 'gpubtree.max_mirror_size = 0');
$node->reload;
$node->safe_psql('postgres', "SELECT gpubtree_drop_mirror('uuids_k'), gpubtree_drop_mirror('events_k')");
$node->poll_query_until('postgres', 'SHOW gpubtree.max_mirror_size', '0') or die;
compare('all pages', qr/^host device/);
is(mode(), 'full', 'the mirrors are of all pages');
foreach my $index ('uuids_k', 'events_k')
{
	is($node->safe_psql('postgres', "SELECT gpubtree_test_positions('$index', 20000, $_, 0)"), 0,
		"$index, bound $_: positions are the tree's, every leaf being clean")
	  foreach 0 .. 2;
}
gpb_nothing_crashed($node);
done_testing();
