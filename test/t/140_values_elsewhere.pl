# Values that the dictionary has no room for: with room for 100, as many sessions come with new ones;
# a standby; a crash; parallel builds; what says that there are such values is damaged.
#
# Guards: gpb_dictionary_note_elsewhere() and gpb_dictionary_elsewhere() in src/index/dictionary_page.c,
# what checks and programs make of it.
use GpubtreeHold;
use GpubtreePages;
use GpubtreeTest;

my $node = gpb_node('primary', allows_streaming => 1, damages => 1, settings => <<'CONF');
autovacuum = off
wal_consistency_checking = 'gpubtree'
hot_standby_feedback = on
max_standby_streaming_delay = -1
max_parallel_maintenance_workers = 2
gpubtree.dictionary_codes = 100
gpubtree.shared_codes = 50
enable_seqscan = off
enable_bitmapscan = off
CONF
$node->safe_psql('postgres', $_) for 'CREATE TABLE t (k int, a text, b text, v int)',
	'CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (a, b, v)',
	q{INSERT INTO t SELECT i, 'a ' || i % 60, 'b ' || i % 30, i FROM generate_series(1, 3000) i}, 'VACUUM ANALYZE t';

# The rows of queries, by our nodes, by core over the index, and by the table
my @queries = (
	'SELECT a, count(*), sum(v) FROM t WHERE k > 0 GROUP BY a',
	'SELECT count(*), count(DISTINCT a), count(DISTINCT b), min(a), max(b) FROM t WHERE k > 0',
	q{SELECT count(*), sum(v) FROM t WHERE k > 0 AND a = 'new 7'},
	q{SELECT count(*), sum(v) FROM t WHERE k > 0 AND a LIKE '%7'},
	'SELECT k, a, b, v FROM t WHERE k > 2900', q{SELECT k, a FROM t WHERE k > 0 AND a LIKE 'n%'});
my @ways = ('', 'SET gpubtree.enabled = off;',
	'SET gpubtree.enabled = off; SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off;');

sub same
{
	my ($server, $what) = @_;

	for my $query (@queries)
	{
		my @rows = map {
			$server->safe_psql('postgres', "$_ SELECT count(*) || md5(string_agg(q::text, ',' ORDER BY q::text)) FROM ($query) q")
		} @ways;

		is("$rows[0] $rows[1]", "$rows[2] $rows[2]", "$what: $query");
	}
	$server->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)");
	return;
}

same($node, 'no value elsewhere');
my $standby = gpb_standby($node);
my $reader = $standby->background_psql('postgres');
my $session = $node->background_psql('postgres');
my $count = 'SELECT count(DISTINCT a) FROM t WHERE k > 0';
$_->query_safe("PREPARE q AS $count"), $_->query_safe('EXECUTE q') for $reader, $session;

# A crash between what says so and the entry
{
	my $holder = gpb_holder($node);
	my $inserts = gpb_start($node, q{INSERT INTO t VALUES (3001, repeat('long', 1000), 'b 1', 1)},
		"gpubtree.hold_point = 'dictionary-after-note'");
	gpb_wait_for_hold($node);
	$node->safe_psql('postgres', 'CREATE TABLE flushed ()');
	unlike($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $queries[0]"), qr/Gpubtree/,
		'the planner knows before there is an entry');
	like($session->query_safe('EXPLAIN (ANALYZE, COSTS OFF) EXECUTE q'), qr/Gave Up: values that/,
		'so does a node that was planned before');
	is($session->query_safe('EXECUTE q'), 60, 'and its rows are right');
	$session->quit;
	$node->stop('immediate');
	eval { gpb_finish($inserts) };
	eval { $holder->quit };
	$node->start;
	same($node, 'after a crash');
	unlike($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $queries[0]"), qr/Gpubtree/,
		'after a crash the planner knows');
}

# Sessions that come with new values, room for ten of them
my $writers = gpb_start_pgbench($node, <<'SQL', '-c', 4);
\set a random(1, 300)
\set k 10000 * (:client_id + 1) + :a
INSERT INTO t SELECT :k, 'new ' || :a, CASE WHEN :a % 3 = 0 THEN repeat('b', 3000) END, i FROM generate_series(1, 5) i;
UPDATE t SET v = v + 1 WHERE k = :k;
DELETE FROM t WHERE k = :k + 1;
SQL
my $checks = gpb_start_pgbench($node, <<'SQL', '-c', 2);
SELECT gpubtree_check('t_k', false);
SELECT 1 / (count(*) = 0)::int FROM t WHERE k > 9999 AND a <> 'new ' || k % 10000;
SELECT 1 / (count(*) = count(DISTINCT k))::int FROM (SELECT a, min(k) % 10000 AS k FROM t WHERE k > 9999 GROUP BY a) q;
SQL
gpb_go_on($node, 1, 'SELECT count(DISTINCT a) > 150 FROM t');
ok(gpb_end_pgbench($_), 'sessions beside writers') for $checks, $writers;
same($node, 'after writers');
$node->wait_for_catchup($standby);
same($standby, 'the standby');
is($reader->query_safe('EXECUTE q'), $node->safe_psql('postgres', $count), 'a session of the standby that had planned');
$reader->quit;
$standby->stop;

# Builds
$node->safe_psql('postgres', 'ALTER TABLE t SET (parallel_workers = 2)');
$node->safe_psql('postgres', 'REINDEX INDEX t_k');
same($node, 'REINDEX');
$node->safe_psql('postgres', 'SET max_parallel_maintenance_workers = 0; SET min_parallel_table_scan_size = 0; REINDEX INDEX CONCURRENTLY t_k');
same($node, 'REINDEX CONCURRENTLY');

# ---- damage: the dictionary's first page, or an entry ----

$node->safe_psql('postgres', 'VACUUM ANALYZE t');
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('t_k')");
$node->stop;
my $sound = slurp_file($file);
$bytes = $sound;
set_field(1, 'low_tie', 0);
write_pages($file);
$node->start;
for my $query (@queries[0 .. 3], "SELECT gpubtree_check('t_k', false)")
{
	like(($node->psql('postgres', $query))[2], qr/knows nothing of values that the metapage says are elsewhere|does not know/,
		"a first page that was lost: $query");
}
$node->stop;

done_testing();
