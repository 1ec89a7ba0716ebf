# Simple deletion on the primary takes entries that an older snapshot on a standby still wants: that
# snapshot's query is cancelled, and does not go on with rows missing.
#
# Guards: the conflict that the redo of DELETE resolves; its horizon.
use GpubtreeTest;

my $primary = gpb_node('primary', allows_streaming => 1, settings => "autovacuum = off\n");
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int);
CREATE INDEX t_k ON t USING gpubtree (k);
INSERT INTO t SELECT i, 1 FROM generate_series(1, 100) i;
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
is($reader->query_safe('SELECT sum(v) FROM t WHERE k > 0'), '100', 'the snapshot sees all rows');

# The only page of the table is far from full, so that it is not pruned: that would be a
# conflict of the table's own.
$primary->safe_psql('postgres', 'DELETE FROM t WHERE k <= 50');
$primary->safe_psql('postgres', <<'SQL');
SET gpubtree.enable_aggregate = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT sum(v) FROM t WHERE k > 0;
SQL
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
is($reader->query_safe('SELECT sum(v) FROM t WHERE k > 0'), '100', 'dead hints do it no harm');

# The leaf fills up.
$primary->safe_psql('postgres', 'INSERT INTO t SELECT 75, 1 FROM generate_series(1, 430) i');
is( $primary->safe_psql('postgres', "SELECT pg_relation_size('t_k') / current_setting('block_size')::int"),
	'2', 'simple deletion made room');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
# The reader was idle in its transaction, so the conflict has ended its connection.
my $answer = eval { $reader->query_safe('SELECT sum(v) FROM t WHERE k > 0') } // '';
is($answer, '', 'no answer for the old snapshot');
like(slurp_file($standby->logfile), qr/conflict with recovery/, 'it was cancelled');
is($standby->safe_psql('postgres', 'SELECT sum(v) FROM t WHERE k > 0'), '480', 'a new snapshot has its rows');
eval { $reader->quit };

done_testing();
