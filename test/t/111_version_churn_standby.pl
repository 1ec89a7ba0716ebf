# Bottom-up deletion on the primary takes entries that an older snapshot on a standby still wants:
# that snapshot's query is cancelled, and does not go on with rows missing.  The standby's index is
# sound after it has replayed the removals.
#
# Guards: the horizon that bottom-up deletion logs, merged from the requests to the table.
use GpubtreeTest;

# A leaf has 63 entries of this width, and the heap pages are far from full, so that they are not
# pruned: that would be a conflict of the table's own.  The column u has an index, so no update is
# HOT.
my $primary = gpb_node('primary', allows_streaming => 1, settings => "autovacuum = off\n");
my $columns = join(', ', ('v') x 14);
$primary->safe_psql('postgres', <<"SQL");
CREATE TABLE t (k bigint, v bigint, u int);
CREATE INDEX t_u ON t (u);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE ($columns);
INSERT INTO t SELECT i, 1, 0 FROM generate_series(1, 20) i;
SQL
$primary->safe_psql('postgres', 'VACUUM ANALYZE t');
my $standby = gpb_standby($primary, settings => <<'CONF');
hot_standby_feedback = off
max_standby_streaming_delay = 100ms
gpubtree.enable_aggregate = off
enable_seqscan = off
enable_bitmapscan = off
CONF
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

my $reader = $standby->background_psql('postgres');
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($reader->query_safe('SELECT sum(v) FROM t WHERE k > 0'), '20', 'the snapshot sees all rows');

# Versions fill up the leaf.  Nobody on the primary sees the first ones any more, and no index scan
# has set a dead hint.
$primary->safe_psql('postgres', 'SET enable_indexscan = off; SET enable_bitmapscan = off; UPDATE t SET u = u + 1')
  for 1 .. 2;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
is($reader->query_safe('SELECT sum(v) FROM t WHERE k > 0'), '20', 'new versions do it no harm');
$primary->safe_psql('postgres', 'SET enable_indexscan = off; SET enable_bitmapscan = off; UPDATE t SET u = u + 1');
is( $primary->safe_psql('postgres', "SELECT pg_relation_size('t_k') / current_setting('block_size')::int"),
	'2', 'bottom-up deletion made room');

$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
# The reader was idle in its transaction, so the conflict has ended its connection.
my $answer = eval { $reader->query_safe('SELECT sum(v) FROM t WHERE k > 0') } // '';
is($answer, '', 'no answer for the old snapshot');
like(slurp_file($standby->logfile), qr/conflict with recovery/, 'it was cancelled');
is($standby->safe_psql('postgres', 'SELECT sum(v) FROM t WHERE k > 0'), '20', 'a new snapshot has its rows');
is($standby->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)"), '', 'the index is sound');
eval { $reader->quit };

$standby->stop;
$primary->stop;
done_testing();
