# Every kind of WAL record is written where it should be, and says what it is.
use GpubtreeTest;

my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
full_page_writes = off
wal_level = replica
CONF
$node->safe_psql('postgres', 'CREATE EXTENSION pg_walinspect');
$node->safe_psql('postgres', 'CREATE TABLE t (k bigint, v int)');

my $start = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
$node->safe_psql('postgres', <<'SQL');
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT i * 7919 % 300007, i FROM generate_series(1, 200000) i;
DELETE FROM t WHERE v % 10 = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;
SET gpubtree.enable_aggregate = off;
SELECT sum(v) FROM t WHERE k > 0;
INSERT INTO t SELECT i * 7919 % 300007 + 1, i FROM generate_series(1, 100000) i;
VACUUM t;
CREATE TABLE equal (k int);
CREATE INDEX equal_k ON equal USING gpubtree (k);
INSERT INTO equal SELECT 1 FROM generate_series(1, 1000);
SELECT pg_switch_wal();
SQL
my $end = $node->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');

my $oid = $node->safe_psql('postgres',
	"SELECT oid FROM pg_database WHERE datname = 'postgres'");
my %described = (
	INSERT_LEAF => qr/^position \d+$/,
	INSERT_INNER => qr/^position \d+$/,
	SPLIT => qr/^level \d+, kept \d+(, new entry at \d+)?$/,
	NEW_ROOT => qr/^root \d+, level \d+$/,
	DELETE => qr/^latestRemovedXid \d+, count \d+$/,
	VACUUM => qr/^count \d+$/,
	VACUUM_PASS => qr{^rel \d+/$oid/\d+$},
	GIVE_RUNS => qr/^$/,
	FORGET => qr{^rel \d+/$oid/\d+$});
for my $record (sort keys %described)
{
	my $description = $node->safe_psql('postgres', <<"SQL");
SELECT description FROM pg_get_wal_records_info('$start', '$end')
WHERE resource_manager = 'gpubtree' AND record_type = '$record' LIMIT 1
SQL
	like($description, $described{$record}, "$record: $description");
}
is( $node->safe_psql('postgres', <<"SQL"),
SELECT DISTINCT record_type FROM pg_get_wal_records_info('$start', '$end')
WHERE resource_manager = 'gpubtree' ORDER BY 1
SQL
	join("\n", sort keys %described),
	'there are no records of any other kind');

done_testing();
