# A batched join of ten million outer rows stays within hash_mem (work_mem here), plus what a
# backend has anyway and, with a device, staging in shared memory: with joined rows, rows without a
# match, and under aggregates.
#
# Guards: GPB_JOIN_MOST_ROWS and gpb_join_memory bound a batch, whatever the outer side is; nothing
# is kept from batch to batch.
use GpubtreeTest;

my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
fsync = off
jit = off
max_parallel_workers_per_gather = 0
enable_hashjoin = off
enable_mergejoin = off
work_mem = 8MB
hash_mem_multiplier = 1
CONF
gpb_wait_for_service($node);

# own_memory() returns the bytes that the process has for itself, without shared memory and files.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE inside (k bigint, v int);
INSERT INTO inside SELECT i * 2, i % 1000 FROM generate_series(1, 500000) i;
CREATE INDEX inside_k ON inside USING gpubtree (k) INCLUDE (v);
CREATE TABLE part (id bigint, s text);
INSERT INTO part SELECT i, 'row ' || i FROM generate_series(1, 100000) i;
VACUUM ANALYZE inside;
VACUUM ANALYZE part;
CREATE FUNCTION own_memory() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT substring(pg_read_file('/proc/self/status', 0, 10000) FROM 'RssAnon:\s*(\d+) kB')::bigint * 1024
$$;
SQL

# The ten million outer rows are 100 times those of "part", with keys from 1 to 1,000,000, half of
# which the inner table has.
my $outer = '(SELECT p.id + 100000 * (g % 10) AS k, p.id, p.s FROM generate_series(1, 100) g, part p OFFSET 0) o';
my %join = (
	'inner join' => [ "$outer JOIN inside i USING (k)", 5_000_000 ],
	'left join' => [ "$outer LEFT JOIN inside i USING (k)", 10_000_000 ],
	'anti-join' => [ "$outer WHERE NOT EXISTS (SELECT 1 FROM inside i WHERE i.k = o.k)", 5_000_000 ]);

for my $enabled ('off', 'on')
{
	for my $kind (sort keys %join)
	{
		my ($from, $expected) = @{ $join{$kind} };
		my $plan = $node->safe_psql('postgres', "EXPLAIN (COSTS OFF) SELECT o.s FROM $from");
		like($plan, qr/GpubtreeJoin\)/, "$kind: batched") if $enabled eq 'off';
		my ($rows, $before, $most) = split /\|/, $node->safe_psql('postgres', <<"SQL");
SET gpubtree.enable_device = $enabled;
WITH before AS MATERIALIZED (SELECT own_memory() AS bytes)
SELECT count(*), min(b.bytes), max(CASE WHEN j.id % 20000 = 0 THEN own_memory() END)
FROM before b, (SELECT o.id, o.s FROM $from OFFSET 0) j;
SQL
		is($rows, $expected, "$kind, enabled $enabled: all rows");
		my $more = $most - $before;
		# The node and the nested loop's Materialize may take work_mem each; the rest is what
		# allocation leaves over.
		cmp_ok($more, '<', 2 * 8 * 1024 * 1024 + 6 * 1024 * 1024,
			sprintf('%s, enabled %s: %.1f MB', $kind, $enabled, $more / 1024 / 1024));
	}
	my $sums = $node->safe_psql('postgres', <<"SQL");
SET gpubtree.enable_device = $enabled;
SELECT count(*), sum(i.v) FROM $outer JOIN inside i USING (k);
SQL
	is($sums, '5000000|2497500000', "under aggregates, enabled $enabled");
}
$node->stop;
done_testing();
