# Tables whose files change under readers: TRUNCATE and refilling, VACUUM FULL, CLUSTER and REINDEX,
# committed and rolled back; VACUUM that truncates the file, whose tail then gets other rows; and,
# one after the other, a file number that comes back with other contents when a database moves to
# another tablespace and back, or is dropped and made anew under its OID.  Each answer of
# gpubtree's nodes equals a sequential scan in the same snapshot, on a standby too.
#
# Guards: rules M1, M5 and M11: what is remembered of a heap page names the file, the block and the
# state of the page.
#
# GPB_SECONDS	length of each of the two runs (default 3), each of them more than one if need be
use GpubtreeTest;
use GpubtreeMix;

my $seed = gpb_seed();
my $seconds = $ENV{GPB_SECONDS} // 3;
# So many snapshots are compared in the two runs, however slow the machine is
my $least = 107 * $seconds;
my $primary = gpb_node('primary', allows_streaming => 1, settings => <<'CONF');
autovacuum = off
max_connections = 40
# writers lock rows in any order
deadlock_timeout = 50ms
max_prepared_transactions = 20
shared_buffers = 16MB
# each server has its tablespace within its data directory
allow_in_place_tablespaces = on
log_min_messages = fatal
log_min_error_statement = panic
CONF
mix_create($primary);
my $has_cache = mix_has_page_cache($primary);
my $standby = gpb_standby($primary, settings => "max_standby_streaming_delay = 50ms\n");

# ---- one change after the other ----

# Compare in one snapshot, so often that what is remembered is also used, with each order.
sub same
{
	my ($what, $database) = @_;
	my $compare = join(', ', map { ("mix_compare(1, 0, 2500, $_)", "mix_compare(5, 300, 1, $_)") } (6, 2, 7, 3));
	my ($status, $out, $err) = $primary->psql($database // 'postgres', "SELECT $compare");

	is($status, 0, $what) or diag($err);
	return;
}

sub heap_pages
{
	return $primary->safe_psql('postgres',
		"SELECT pg_relation_size('t') / current_setting('block_size')::int");
}

gpb_wait_for_service($_) foreach ($primary, $standby);
$primary->safe_psql('postgres', 'UPDATE t SET v = v + 1');
same('fresh rows');
my $before = heap_pages();
$primary->safe_psql('postgres', "DELETE FROM t WHERE ctid >= '(60,0)'");
same('a deleted tail');
$primary->safe_psql('postgres', 'VACUUM (TRUNCATE ON) t');
cmp_ok(heap_pages(), '<', $before / 2, 'VACUUM truncates the table');
same('a truncated table');
$primary->safe_psql('postgres', 'SELECT mix_insert(0, 4000, 2000)');
same('other rows in the tail');
$primary->safe_psql('postgres', <<'SQL');
BEGIN;
SELECT mix_insert(0, 2000, 2000);
ROLLBACK;
SQL
same('an aborted tail');
foreach my $change ('TRUNCATE t, c; SELECT mix_insert(0, 6000, 2000);', 'VACUUM FULL t', 'CLUSTER t USING t_k',
	'REINDEX TABLE t', 'BEGIN; TRUNCATE t, c; SELECT mix_insert(0, 3000, 500); ROLLBACK;',
	'BEGIN; TRUNCATE t, c; SELECT mix_insert(0, 7000, 2000); COMMIT;', 'ALTER TABLE c SET UNLOGGED; ALTER TABLE t SET UNLOGGED',
	'UPDATE t SET v = v + 1', 'ALTER TABLE t SET LOGGED; ALTER TABLE c SET LOGGED', 'UPDATE t SET v = v + 1')
{
	$primary->safe_psql('postgres', $change);
	same($change);
}

# Within the transaction that makes the file, nothing of it is in the WAL when wal_level is minimal;
# here its pages have LSNs, and its rows the transaction's own number.
my ($status, $out, $err) = $primary->psql('postgres', <<'SQL');
BEGIN;
TRUNCATE t, c;
SELECT mix_insert(0, 3000, 2000);
SELECT mix_compare(1, 0, 2500, 3), mix_compare(1, 0, 2500, 6);
SAVEPOINT s;
DELETE FROM t WHERE k % 2 = 0;
SELECT mix_compare(1, 0, 2500, 3), mix_compare(1, 0, 2500, 6);
ROLLBACK TO s;
SELECT mix_compare(1, 0, 2500, 3), mix_compare(1, 0, 2500, 6);
COMMIT;
SQL
is($status, 0, 'within the transaction that truncated the table') or diag($err);
same('after it');

# ---- a file number that comes back ----

$primary->safe_psql('postgres', "CREATE TABLESPACE other LOCATION ''");
$primary->safe_psql('postgres', 'CREATE DATABASE moved TEMPLATE postgres STRATEGY file_copy OID 60000');
same('a copied database', 'moved');
foreach my $space ('other', 'pg_default', 'other', 'pg_default')
{
	$primary->safe_psql('moved', 'UPDATE t SET v = v + 1 WHERE k % 10 = 1');
	same("before the database moves to $space", 'moved');
	$primary->safe_psql('postgres', "ALTER DATABASE moved SET TABLESPACE $space");
	$primary->safe_psql('moved', 'DELETE FROM t WHERE k % 50 = 7; SELECT mix_insert(0, 100, 2000)');
	same("the database has moved to $space", 'moved');
}
# The new database has the files of the old one, with rows that were changed meanwhile.
$primary->safe_psql('postgres', 'DROP DATABASE moved');
$primary->safe_psql('postgres', 'DELETE FROM t WHERE k % 5 = 1; UPDATE t SET v = v + 1 WHERE k % 5 = 2');
foreach my $strategy ('file_copy', 'wal_log')
{
	$primary->safe_psql('postgres',
		"CREATE DATABASE moved TEMPLATE postgres STRATEGY $strategy OID 60000");
	same("a database with the same OID and files, by $strategy", 'moved');
	$primary->safe_psql('moved', 'UPDATE t SET v = v + 3 WHERE k % 3 = 1');
	same("and after a change, by $strategy", 'moved');
	$primary->safe_psql('postgres', 'DROP DATABASE moved');
}

# ---- beside readers ----

# A deadlock or a failure to serialize is tried again.  DDL does not wait for old snapshots here,
# since none is kept: it would hold up all the others.
my @changes = (
	[ 'refill', 2, <<'SQL' ],
BEGIN;
TRUNCATE t, c;
SELECT mix_insert(n, 8, 2) FROM generate_series(0, 1999, 4) n;
COMMIT;
SQL
	[ 'refill-aborted', 1, <<'SQL' ],
BEGIN;
TRUNCATE t, c;
SELECT mix_insert(0, 1000, 2000);
ROLLBACK;
SQL
	[ 'full', 2, "VACUUM FULL t;\n" ],
	[ 'cluster', 1, "CLUSTER t USING t_k;\n" ],
	[ 'cluster-id', 1, "CLUSTER t USING t_pkey;\n" ],
	[ 'reindex', 1, "REINDEX TABLE t;\n" ],
	[ 'tail', 6, <<'SQL' ],
DELETE FROM t WHERE ctid >= '(50,0)';
VACUUM (TRUNCATE ON) t;
SELECT mix_insert(0, 2000, 2000);
SQL
	[ 'tail-aborted', 2, <<'SQL' ],
BEGIN;
SELECT mix_insert(0, 1000, 2000);
ROLLBACK;
VACUUM (TRUNCATE ON) t;
SQL
	[ 'vacuum', 2, "VACUUM (INDEX_CLEANUP ON) t;\n" ]);

my $snapshots = 0;
foreach my $device ('host', 'off')
{
	if ($device eq 'off')
	{
		$_->append_conf('postgresql.conf', "gpubtree.device = 'off'\n") foreach ($primary, $standby);
		$_->restart foreach ($primary, $standby);
	}
	my @cache = $has_cache ? ('gpubtree.enable_page_cache=on') : ();
	my @plain = ('gpubtree.setup_cost=0', 'enable_indexscan=off', 'enable_indexonlyscan=off',
		'enable_bitmapscan=off', 'max_parallel_workers_per_gather=0', 'jit=off');
	my $compared = 0;
	for (1 .. 20)
	{
		my @writers = (
			mix_start($primary, [ mix_writers() ], name => 'writers', clients => 2, rate => 100,
				seconds => $seconds),
			mix_start($primary, \@changes, name => 'changes of files', clients => 1, rate => 5,
				seconds => $seconds));
		my @readers = (
			mix_start($primary, [ mix_readers() ], name => 'readers', clients => 4,
				seconds => $seconds, settings => [ @plain, @cache ]),
			mix_start($standby, [ mix_standby_readers(1) ], name => 'readers of the standby',
				clients => 2, seconds => $seconds, settings => [ @plain, @cache ]));

		mix_finish($_, "device $device") foreach @writers;
		$compared += mix_finish($_, "device $device") foreach @readers;
		last if $compared > $least / 2;
	}
	$snapshots += $compared;
	foreach my $gid (split /\n/, $primary->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts'))
	{
		$primary->safe_psql('postgres', "ROLLBACK PREPARED '$gid'");
	}
	same("device $device, at the end");
	foreach my $index ('t_k', 't_ts')
	{
		gpb_index_is_sound($primary, $index, "device $device: $index is sound and complete");
	}
}
unlike(slurp_file($_->logfile), qr/answers differ/, 'the log of the ' . $_->name)
  foreach ($primary, $standby);
cmp_ok($snapshots, '>', $least, "$snapshots snapshots were compared");
done_testing();
