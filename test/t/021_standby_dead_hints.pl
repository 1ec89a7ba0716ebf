# Dead hints that come to a standby in full-page images are not its own: a snapshot older than the
# primary's horizon still sees those rows, by the mirror, the CPU engine, batches and a scan.
#
# Guards: ignore_dead_hints (rule M4); the scan's test for a transaction that began in recovery.
use GpubtreeTest;

my $primary = gpb_node('primary', only_queries_refresh => 1, allows_streaming => 1, settings => "autovacuum = off\n");
gpb_compare_function($primary);
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, note int);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t SELECT i, 1, i FROM generate_series(1, 100) i;
SQL
$primary->safe_psql('postgres', 'VACUUM ANALYZE t');
my $standby = gpb_standby($primary, settings => <<'CONF');
hot_standby_feedback = off
max_standby_streaming_delay = -1
CONF
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
gpb_wait_for_service($standby);

# The standby's snapshot is taken now.
my $reader = $standby->background_psql('postgres');
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($reader->query_safe('SELECT count(*) FROM t'), '100', 'the snapshot sees all rows');

# Rows are deleted, few enough that no page is pruned, since that would be a recovery
# conflict.  Then an index scan finds the dead rows and sets hints, and the page is sent whole.
$primary->safe_psql('postgres', 'DELETE FROM t WHERE k <= 50');
$primary->safe_psql('postgres', <<'SQL');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET gpubtree.enable_aggregate = off;
SELECT sum(note) FROM t WHERE k > 0;
SELECT sum(note) FROM t WHERE k > 0;
SQL
$primary->safe_psql('postgres', 'CHECKPOINT');
$primary->safe_psql('postgres', 'INSERT INTO t VALUES (75, 1, 1)');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

my $query = 'SELECT count(*) AS n, sum(v) AS s FROM t WHERE k BETWEEN 1 AND 100';
for my $enabled ('on', 'off')
{
	$reader->query_safe("SET LOCAL gpubtree.enable_device = $enabled");
	is($reader->query_safe("SELECT answer('$query', 'aggregate')"),
		'(100,100)', "mirror $enabled: the old snapshot counts the deleted rows");
}
for my $engine ('cpu', 'device')
{
	my $probe = "SELECT matches, sum, engine FROM gpubtree_probe('t_k',
		(SELECT array_agg(i) FROM generate_series(1::bigint, 100) i), '$engine')";
	my $name = $engine eq 'cpu' ? 'CPU' : 'host device';

	$reader->query_safe('SET LOCAL gpubtree.enable_device = on');
	is($reader->query_safe($probe), "100|100|$name", "a batch, $engine: so does it");
}
$reader->query_safe('SET LOCAL gpubtree.enable_aggregate = off');
$reader->query_safe('SET LOCAL enable_seqscan = off');
$reader->query_safe("SET LOCAL $_ = on") for ('enable_indexscan', 'enable_indexonlyscan');
is($reader->query_safe('SELECT count(*), sum(note) > 0 FROM t WHERE k BETWEEN 1 AND 100'),
	'100|t', 'an index scan returns them');
$reader->query_safe('COMMIT');
is($standby->safe_psql('postgres', "SELECT answer('$query', 'aggregate')"),
	'(51,51)', 'a new snapshot does not');
$reader->quit;

done_testing();
