# On a standby too, an entry that a scan has copied outlives neither its row nor the row's
# invisibility: VACUUM's redo waits for the scan's pin, even where the entry was removed from
# another leaf than the scan's, or by simple deletion.  Without that, index-only scans find the
# row's page all-visible and return deleted rows.
#
# Guards: the record at the end of VACUUM's pass over an index.
use GpubtreeTest;

my $primary = gpb_node('primary', allows_streaming => 1, settings => "autovacuum = off\n");
my $standby = gpb_standby($primary, settings => <<'CONF');
hot_standby_feedback = off
max_standby_streaming_delay = -1
gpubtree.enable_aggregate = off
enable_seqscan = off
enable_bitmapscan = off
CONF

# An index-only scan on the standby stands on the only leaf; then $move takes the entries of rows
# deleted before from that leaf, and VACUUM comes.
sub scan_beside_vacuum
{
	my ($table, $move) = @_;

	# The index has one leaf; rows come and go on different pages of the table.
	$primary->safe_psql('postgres', <<"SQL");
CREATE TABLE $table (k bigint, v int);
INSERT INTO $table SELECT i * 10, 1 FROM generate_series(1, 400) i;
CREATE INDEX ${table}_k ON $table USING gpubtree (k) WITH (fillfactor = 100);
SQL
	$primary->safe_psql('postgres', "VACUUM ANALYZE $table");
	$primary->safe_psql('postgres', "DELETE FROM $table WHERE k BETWEEN 3000 AND 3300");
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

	my $reader = $standby->background_psql('postgres');
	like($reader->query_safe("EXPLAIN (COSTS OFF) SELECT k FROM $table ORDER BY k"),
		qr/Index Only Scan/, "$table: an index-only scan");
	$reader->query_safe('BEGIN');
	$reader->query_safe("DECLARE c CURSOR FOR SELECT k FROM $table ORDER BY k");
	is($reader->query_safe('FETCH 1 FROM c'), '10', "$table: stands on the first entry");

	# Rows deleted before this may go, rows inserted after it make no page all-visible: so what
	# VACUUM does to the table conflicts with no snapshot.
	my $horizon = $primary->background_psql('postgres');
	$horizon->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	$horizon->query_safe('SELECT 1');
	$primary->safe_psql('postgres', $move);
	$primary->safe_psql('postgres', "VACUUM (INDEX_CLEANUP ON) $table");
	my $target = $primary->lsn('insert');

	# Replay either comes to the end, or waits for the reader's pin.
	my $waits = gpb_waits_for_pin();
	$standby->poll_query_until('postgres', <<"SQL") or die 'replay neither ends nor waits';
SELECT pg_last_wal_replay_lsn() >= '$target' OR EXISTS (
	SELECT FROM pg_stat_activity WHERE backend_type = 'startup' AND $waits)
SQL
	is($reader->query_safe("SELECT pg_last_wal_replay_lsn() < '$target'"), 't',
		"$table: replay waits for the pin");
	my $rows = $reader->query_safe('FETCH ALL FROM c');
	is(scalar(grep { $_ >= 3000 && $_ <= 3300 } split(/\n/, $rows)),
		0, "$table: no deleted row is returned");
	$reader->query_safe('COMMIT');
	$primary->wait_for_catchup($standby, 'replay', $target);
	is($standby->safe_psql('postgres', "SELECT count(*) FROM $table WHERE k BETWEEN 3000 AND 3300"),
		'0', "$table: replay goes on");
	$horizon->quit;
	$reader->quit;
	return;
}

# First move: a split takes the entries to a leaf that nobody has pinned.
scan_beside_vacuum('moved', 'INSERT INTO moved SELECT 100 + i % 7, 2 FROM generate_series(1, 400) i');

# Second move: a scan finds the entries dead, and simple deletion removes them; the leaf is not
# split.
scan_beside_vacuum('removed', <<'SQL');
SET gpubtree.enable_aggregate = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT sum(v) FROM removed WHERE k > 0;
INSERT INTO removed SELECT 100 + i % 7, 2 FROM generate_series(1, 120) i;
SQL

done_testing();
