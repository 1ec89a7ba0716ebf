# What one query found out about a heap page, a later one takes over only if it is right for its
# snapshot, and only as long as the page has not changed.
#
# Guards: rule M11, and the conditions of which it consists.
use GpubtreeTest;

# Pages are recorded only where changes are logged: see the last part.
my $settings = "autovacuum = off\ngpubtree.device = 'off'\nmax_prepared_transactions = 5\n"
  . "wal_level = replica\n";
my $node = gpb_node('main', settings => $settings);
gpb_compare_function($node);

# A session that gpubtree's node answers
sub session
{
	my ($on) = @_;
	my $session = ($on // $node)->background_psql('postgres');
	$session->query_safe("SET $_")
	  for ('gpubtree.setup_cost = 0', 'enable_seqscan = off', 'enable_indexscan = off',
		'enable_indexonlyscan = off', 'enable_bitmapscan = off');
	return $session;
}

# Make the table: 2,000 rows on pages that VACUUM has not seen.
sub prepare
{
	my ($options) = @_;
	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t; CREATE TABLE t (k bigint, v int, d float8)'
		  . ($options // '') . '; INSERT INTO t SELECT i, 1, 0.5 FROM generate_series(1, 2000) i;'
		  . 'CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d)');
	return;
}

# The counters of EXPLAIN of a query over all rows
sub counters
{
	my ($on) = @_;
	my $found = gpb_plan_node($on // $node,
		'SELECT count(*), sum(v), sum(d) FROM t WHERE k > 0', 'aggregate');
	return join(' ', 'fetches', $found->{'Heap Fetches'} > 0 ? 'some' : 'none',
		'pages', ($found->{'Heap Pages Checked'} // 0) > 0 ? 'some' : 'none',
		'settled', ($found->{'Settled Pages'} // 0) > 0 ? 'some' : 'none');
}

my $visited = 'fetches some pages some settled none';
my $taken = 'fetches none pages none settled some';

# Compare with a sequential scan three times: the first may record, the others use.
sub compare
{
	my ($on) = @_;
	my $answers = ($on // $node)
	  ->safe_psql('postgres', "SELECT compare_range('t', -10, 100000);\n" x 3);
	my %answers = map { $_ => 1 } split(/\n/, $answers);
	is(scalar(keys %answers), 1, 'the answer stays the same');
	return;
}

my $all = 'SELECT count(*) FROM t WHERE k > 0';

# ---- recorded, used, and not used ----

prepare();
like(counters(), qr{^fetches some pages some}, 'the first query visits');
is(counters(), $taken, 'the second does not');
$node->safe_psql('postgres', 'ALTER SYSTEM SET gpubtree.enable_page_cache = off');
$node->reload;
$node->poll_query_until('postgres', "SELECT current_setting('gpubtree.enable_page_cache') = 'off'");
is(counters(), $visited, 'with gpubtree.enable_page_cache off, each visits');
$node->safe_psql('postgres', 'ALTER SYSTEM RESET gpubtree.enable_page_cache');
$node->reload;
$node->poll_query_until('postgres', "SELECT current_setting('gpubtree.enable_page_cache') = 'on'");
is(counters(), $taken, 'what is known stays known');

# A page that changed is visited anew.
$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 5');
is($node->safe_psql('postgres', "SELECT split_part(compare_range('t', -10, 100000), ',', 1)"),
	'(1999', 'a row that was deleted is not counted');
compare();
is(counters(), $taken, 'a page with a deleted row is settled too');

# ---- transactions that have not ended (final states only) ----

prepare();
my $writer = session();
$writer->query_safe('BEGIN');
$writer->query_safe('DELETE FROM t WHERE k = 7');
$node->safe_psql('postgres', "SELECT compare_range('t', -10, 100000)") for (1 .. 2);
$writer->query_safe('COMMIT');
is($node->safe_psql('postgres', "SELECT split_part(compare_range('t', -10, 100000), ',', 1)"),
	'(1999', 'a DELETE that was under way at the first look counts when it has committed');

# ---- an older snapshot ----

prepare('WITH (fillfactor = 50)');
my $old = session();
$node->safe_psql('postgres', "SELECT compare_range('t', -10, 100000)");
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($old->query_safe("SELECT sum(v) FROM t WHERE k > 0"), '2000', 'an old snapshot is taken');
$node->safe_psql('postgres', 'UPDATE t SET v = 10 WHERE k = 11');    # not HOT: v is in the index
$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 12');
$node->safe_psql('postgres', 'INSERT INTO t VALUES (1, 100, 0)');
compare();
is($old->query_safe("SELECT sum(v) FROM t WHERE k > 0"), '2000',
	'an old snapshot does not believe what a newer one recorded');
$old->query_safe('COMMIT');
is($old->query_safe("SELECT sum(v) FROM t WHERE k > 0"), '2108', 'a new one does');

# ---- kinds of rows ----

prepare('WITH (fillfactor = 50)');
$node->safe_psql('postgres', 'ALTER TABLE t ADD COLUMN note text');
my $session = session();
$session->query_safe('BEGIN');
$session->query_safe('INSERT INTO t SELECT i, 50, 0 FROM generate_series(1, 4) i');
$session->query_safe('ROLLBACK');
compare();
$session->query_safe('BEGIN');
$session->query_safe('SAVEPOINT a');
$session->query_safe('DELETE FROM t WHERE k = 20');
$session->query_safe('ROLLBACK TO a');
$session->query_safe('SAVEPOINT b');
$session->query_safe('DELETE FROM t WHERE k = 21');
$session->query_safe('RELEASE b');
$session->query_safe('INSERT INTO t VALUES (22, 1, 1)');
compare();
is($session->query_safe($all), '2000', 'the transaction itself sees its own changes');
$session->query_safe('COMMIT');
compare();
is(counters(), $taken, 'aborted transactions and subtransactions have ended too');

# ---- rows without hint bits ----

# A sequential scan would set them, so the answers are told.  Each page has rows of transactions
# that committed, one after the other, and of others that did not.
$node->safe_psql('postgres', 'DROP TABLE t; CREATE TABLE t (k bigint, v int, d float8);'
	  . 'CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d)');
$session->query_safe('INSERT INTO t SELECT i, 1, 0.5 FROM generate_series(1, 50) i');
$session->query_safe('BEGIN; INSERT INTO t SELECT i, 1000, 0.5 FROM generate_series(1, 50) i; ROLLBACK');
$session->query_safe('INSERT INTO t SELECT i, 1, 0.5 FROM generate_series(51, 100) i');
$session->query_safe("BEGIN; SAVEPOINT a; INSERT INTO t VALUES ($_, 1000, 0); ROLLBACK TO a;"
	  . "INSERT INTO t VALUES ($_, 1, 0.5); COMMIT")
  for (101 .. 140);
$writer->query_safe('BEGIN; INSERT INTO t SELECT i, 1000, 0.5 FROM generate_series(1, 10) i');
is($session->query_safe('SELECT count(*), sum(v) FROM t WHERE k > 0'), '140|140',
	'rows of committed transactions alone are seen');
$writer->query_safe('ROLLBACK');
is($session->query_safe('SELECT count(*), sum(v) FROM t WHERE k > 0'), '140|140',
	'likewise when the last one has ended');

# A command does not see what later ones of its own transaction insert.
$session->query_safe('BEGIN; INSERT INTO t SELECT i, 1, 0.5 FROM generate_series(141, 150) i');
$session->query_safe('DECLARE c CURSOR FOR SELECT count(*), sum(v) FROM t WHERE k > 0');
$session->query_safe('INSERT INTO t SELECT i, 1000, 0.5 FROM generate_series(151, 160) i');
is($session->query_safe('FETCH c'), '150|150', 'a cursor does not see rows of later commands');
$session->query_safe('ROLLBACK');

# ---- kinds of rows, continued ----

prepare('WITH (fillfactor = 50)');
$node->safe_psql('postgres', 'ALTER TABLE t ADD COLUMN note text');

# Lockers, alone and many, and an update among them
my @locker = (session(), session());
for my $locker (@locker)
{
	$locker->query_safe('BEGIN');
	$locker->query_safe('SELECT k FROM t WHERE k BETWEEN 30 AND 40 FOR KEY SHARE');
}
compare();
is(counters(), $taken, 'mere locks leave a page settled');
$node->safe_psql('postgres', "UPDATE t SET note = 'x' WHERE k BETWEEN 30 AND 32");
$locker[0]->query_safe('UPDATE t SET v = 2 WHERE k = 33');
compare();
$locker[0]->query_safe('COMMIT');
compare();
$locker[1]->query_safe('ROLLBACK');
compare();
is(counters(), $taken, 'updates by members of multixacts have ended');

# Of an UPDATE whose new version is on another page, the page of the old one may have nothing but a
# member of a multixact.
prepare();
$locker[0]->query_safe('BEGIN; SELECT k FROM t WHERE k = 10 FOR KEY SHARE');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$node->safe_psql('postgres', 'UPDATE t SET v = 2 WHERE k = 10');
compare();
is($old->query_safe($all), '2000', 'an update xid of a multixact counts while a member is running');
$locker[0]->query_safe('COMMIT');
compare();
is($old->query_safe($all), '2000', 'and when all have ended');
$old->query_safe('COMMIT');

# Of a DELETE of a HOT version, the page has nothing but that version's xmax.
prepare('WITH (fillfactor = 50)');
$node->safe_psql('postgres', 'ALTER TABLE t ADD COLUMN note text');
$node->safe_psql('postgres', "UPDATE t SET note = 'x' WHERE k = 50");
compare();
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 50');
compare();
is($old->query_safe($all), '2000', 'the transactions of heap-only tuples count');
$old->query_safe('COMMIT');

# HOT updates, pruned by later ones; line pointers that are dead
$node->safe_psql('postgres', "UPDATE t SET note = repeat('y', $_) WHERE k BETWEEN 100 AND 120")
  for (1 .. 8);
compare();
$node->safe_psql('postgres', 'DELETE FROM t WHERE k BETWEEN 200 AND 204');
compare();
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP OFF) t');
compare();
$node->safe_psql('postgres', 'UPDATE t SET v = 3 WHERE k BETWEEN 205 AND 208');
compare();
is(counters(), $taken, 'pruned pages are settled');
$node->safe_psql('postgres', 'VACUUM FREEZE t');
$node->safe_psql('postgres', 'UPDATE t SET v = 4 WHERE k BETWEEN 300 AND 303');
compare();

# Prepared transactions are no past ones.
$session->query_safe('BEGIN');
$session->query_safe('DELETE FROM t WHERE k = 400');
$session->query_safe("PREPARE TRANSACTION 'p'");
compare();
$session->query_safe("COMMIT PREPARED 'p'");
compare();

# COPY FREEZE, whose rows any snapshot sees
$node->safe_psql('postgres', <<'SQL');
BEGIN;
TRUNCATE t;
COPY t (k, v, d) FROM stdin WITH (FREEZE);
1	1	1
2	1	1
3	1	1
\.
COMMIT;
SQL
compare();

# Frozen rows count for nothing, and their xmins may be of an age that has gone by.
prepare();
$node->safe_psql('postgres', 'CREATE EXTENSION gpubtree_test; VACUUM FREEZE t');
cmp_ok($node->safe_psql('postgres', <<'SQL'), '>=', 2000, 'frozen rows get an xmin that seems to come');
SELECT sum(gpubtree_test_age_frozen('t', block, (txid_current() + 1000000)::text::xid))
FROM generate_series(0, pg_relation_size('t') / 8192 - 1) block
SQL
$node->safe_psql('postgres', 'DELETE FROM t WHERE k % 100 = 1');
compare();
is(counters(), $taken, 'their pages are settled');

# ---- cells that lead to other pages, and buffers between two states ----

# Updates give two pages one LSN, and a buffer may get another page, so a look tests the buffer's tag.
prepare();
$node->safe_psql('postgres', 'CREATE TABLE u AS SELECT * FROM t; VACUUM t; VACUUM u');
for ([ "'t', 0", 't', 'the page' ], [ "'t', 1", 'f', 'another block' ], [ "'u', 0", 'f', 'another table' ],
	[ "'t', 0, 'vm'", 'f', 'another fork' ], [ "'t', 0", 't', 'the page again' ])
{
	my ($page, $settled, $name) = @$_;
	is( $node->safe_psql('postgres', "SELECT gpubtree_test_settled_look('t', 0) FROM gpubtree_test_settled_record('t', 0, $page)"),
		$settled, "a cell that names a buffer with $name");
}
is($node->safe_psql('postgres', "SELECT gpubtree_test_settled_states('t', 2)"),
	'pinned, share-locked, pinned again', 'pages that are locked by a writer, or being read, are not looked at');

# ---- the file ----

prepare();
compare();
$node->safe_psql('postgres', 'TRUNCATE t; INSERT INTO t SELECT i, 2, 1 FROM generate_series(1, 900) i');
compare();
$node->safe_psql('postgres', 'DELETE FROM t WHERE k > 100');
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', 'INSERT INTO t SELECT i, 3, 1 FROM generate_series(101, 1500) i');
compare();
$node->safe_psql('postgres', 'CLUSTER t USING t_btree')
  if $node->psql('postgres', 'CREATE INDEX t_btree ON t (k)') == 0;
compare();
for my $kind ('UNLOGGED', 'LOGGED')
{
	$node->safe_psql('postgres', "ALTER TABLE t SET $kind; DELETE FROM t WHERE v = 3 AND k = 70" . length($kind));
	compare();
	is(counters(), $kind eq 'LOGGED' ? $taken : $visited, "$kind table");
}

# ---- serializable ----

like(
	$node->safe_psql('postgres', "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT force('aggregate');
		EXPLAIN (ANALYZE, COSTS OFF) $all; COMMIT"),
	qr/Engine: index scan/, 'a serializable transaction scans');

# ---- the LSN belongs to the rows that were judged ----

# The recorder is held between the two, and a DELETE must wait for it.
prepare();
my $holder = session();
my $recorder = session();
my $deleter = session();
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
$recorder->query_safe("SET gpubtree.hold_point = 'settled-before-lsn'");
$recorder->query_until(qr/sent/, "\\echo sent\n$all;\n");
gpb_wait_for_hold($node);
$deleter->query_until(qr/sent/, "\\echo sent\nDELETE FROM t WHERE k = 3;\n\\echo deleted\n");
my $waits = gpb_waits_for_page();
ok( $node->poll_query_until('postgres', <<"SQL"), 'a DELETE waits until the LSN was read');
SELECT count(*) > 0 FROM pg_stat_activity
WHERE query LIKE 'DELETE FROM t%' AND $waits
SQL
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
$recorder->query('SELECT 1');
$deleter->query('SELECT 1');
is($holder->query_safe($all), '1999', 'and is counted by the next query');

# ---- a cell is of one recorder ----

# A cell is held half written: the LSN is the new one, the newest transaction still the old one.  A
# snapshot between the two transactions must not believe it.
prepare('WITH (fillfactor = 50)');
compare();
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
$old->query_safe('SELECT 1');
$node->safe_psql('postgres', 'UPDATE t SET v = 2 WHERE k = 1');
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
$recorder->query_safe("SET gpubtree.hold_point = 'settled-within-cell'");
$recorder->query_until(qr/sent/, "\\echo sent\n$all;\n");
gpb_wait_for_hold($node);
is($old->query_safe($all), '2000', 'a cell that is being written is not read');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
like($recorder->query('SELECT 1'), qr/^2000$/m, 'the recorder goes on');
is($old->query_safe($all), '2000', 'nor is it believed afterwards');
$old->query_safe('COMMIT');

# ---- a leaf was read, and then its page changes ----

prepare();
compare();
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
$recorder->query_safe("SET gpubtree.hold_point = 'batch-after-leaf'");
$recorder->query_until(qr/sent/, "\\echo sent\n$all;\n");
gpb_wait_for_hold($node);
$node->safe_psql('postgres', 'DELETE FROM t WHERE k <= 10');
compare();
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
like($recorder->query('SELECT 1'), qr/^2000$/m, 'rows that were deleted since the snapshot count');
$recorder->query_safe("SET gpubtree.hold_point = ''");
is($recorder->query_safe($all), '1990', 'and then they do not');

$_->quit for ($writer, $old, $session, @locker, $holder, $recorder, $deleter);

# ---- a crash ----

prepare();
compare();
is(counters(), $taken, 'before the crash');
$node->stop('immediate');
$node->start;
like(counters(), qr{^fetches some pages some}, 'after an immediate stop nothing is known');
is(counters(), $taken, 'and then it is');
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->reload;
$session = session();
my $pid = $session->query_safe('SELECT pg_backend_pid()');
gpb_kill_backend($node, $pid);
eval { $session->quit; };
like(counters(), qr{^fetches some pages some}, 'nor after a backend was killed');
compare();

# ---- a small cache, and a small buffer pool ----

$node->append_conf('postgresql.conf', "gpubtree.page_cache_size = '64kB'\nshared_buffers = '4MB'\n");
$node->restart;
$node->safe_psql('postgres', <<'SQL');
DROP TABLE t;
CREATE TABLE t (k bigint, v int, d float8) WITH (fillfactor = 10);
INSERT INTO t SELECT i * 7919 % 40000, 1, 0.5 FROM generate_series(1, 40000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
SQL
for my $i (1 .. 5)
{
	$node->safe_psql('postgres', "DELETE FROM t WHERE k % 97 = $i");
	$node->safe_psql('postgres', "UPDATE t SET v = v + 1 WHERE k % 89 = $i");
	compare();
}
$node->append_conf('postgresql.conf', "gpubtree.page_cache_size = '1kB'\n");
$node->restart;
compare();
# So few cells have sets that are those of several tables.
$node->safe_psql('postgres', <<'SQL');
DO $$ BEGIN
	FOR i IN 1 .. 40 LOOP
		EXECUTE format('CREATE TABLE f%s AS SELECT 1 AS k', i);
	END LOOP;
END $$;
SQL
is( $node->safe_psql('postgres', <<'SQL'), 'f1', 'the cell of a block is not that of the same block of another table');
SELECT string_agg('f' || i, ', ') FROM gpubtree_test_settled_record('f1', 0, 'f1', 0), generate_series(1, 40) i
WHERE gpubtree_test_settled_look(('f' || i)::regclass, 0)
SQL
$node->append_conf('postgresql.conf', "gpubtree.page_cache_size = 0\n");
$node->restart;
compare();
is(counters(), $visited, 'without a cache every query visits');

# ---- transactions in 64 bits ----

for ([ '4294967300', '4', '4294967300' ], [ '4294967300', '3', '4294967299' ], [ '4294967300', '4294967295', '4294967295' ],
	[ '21474836490', '4294967290', '21474836474' ], [ '1000', '999', '999' ])
{
	my ($next, $xid, $wide) = @$_;
	is($node->safe_psql('postgres', "SELECT gpubtree_test_widen_xid('$next', '$xid')"), $wide,
		"xid $xid when the next one is $next");
}
$node->append_conf('postgresql.conf', "gpubtree.page_cache_size = '32MB'\n");
$node->stop;
command_ok([ 'pg_resetwal', '-e', '5', $node->data_dir ], 'four times all transaction ids have been used');
$node->start;
is( $node->safe_psql('postgres', "SELECT gpubtree_test_settled_xmin('t') = pg_snapshot_xmin(pg_current_snapshot())"),
	't', 'a reader knows how often');
prepare();
compare();
is(counters(), $taken, 'pages are settled');
$node->stop;

# ---- changes without WAL ----

# Under wal_level = minimal a table that was rewritten in the transaction keeps LSN 0 or old LSNs.
$node = gpb_node('minimal', settings => $settings . "wal_level = minimal\nmax_wal_senders = 0\n");
gpb_compare_function($node);
prepare();
$node->safe_psql('postgres', 'CREATE INDEX t_btree ON t (k)');
compare();
$session = session();
$session->query_safe('BEGIN');
$session->query_safe('CLUSTER t USING t_btree');
is($session->query_safe($all), '2000', 'minimal: all rows') for (1 .. 2);
$session->query_safe('DELETE FROM t WHERE k = 1');
is($session->query_safe($all), '1999', 'minimal: one row less');
$session->query_safe('COMMIT');
compare();
is(counters(), $visited, 'minimal: nothing is recorded');
$session->quit;

$node->stop;

# ---- where transaction numbers begin anew ----

# Go to shortly before the 32 bits of a transaction number are used up.  No more than half of the
# numbers can be skipped at a time, and what was there before has to be frozen.
$node = gpb_node('border', settings => $settings);
gpb_compare_function($node);
$node->safe_psql('postgres', "UPDATE pg_database SET datallowconn = true WHERE datname = 'template0'");
foreach my $next (2000000000, 4000000000, 4294967200)
{
	my $clog = sprintf('%s/pg_xact/%04X', $node->data_dir, $next / (1 << 20));

	$node->command_ok([ 'vacuumdb', '--all', '--freeze', '--quiet' ], "freeze all before $next");
	$node->stop;
	system_or_bail('pg_resetwal', '-f', '-x', $next, $node->data_dir);
	append_to_file($clog, "\0" x (32 * 8192)) unless -e $clog;
	$node->start;
}
my $now = 'SELECT pg_current_xact_id()::text::numeric';
prepare();
compare();
is(counters(), $taken, 'before the border');
$old = session();
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($old->query_safe($all), '2000', 'a snapshot is taken before the border');
cmp_ok($node->safe_psql('postgres', $now), '<', 2**32, 'that is where it is');
$node->safe_psql('postgres', "$now;\n" x 100);
cmp_ok($node->safe_psql('postgres', $now), '>', 2**32, 'others come after the border');
is(counters(), $taken, 'what was recorded before it stays known');
is($old->query_safe($all), '2000', 'to the old snapshot too');
$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 12');
compare();
is(counters(), $taken, 'what is recorded after it is known to new snapshots');
is($old->query_safe($all), '2000', 'the snapshot of before does not believe it');
$old->query_safe('COMMIT');
is($old->query_safe($all), '1999', 'a new one does');
$old->quit;

# ---- the planner ----

# The price of a query whose pages have settled is that of one over all-visible pages, about.
sub price
{
	my $settings = shift;
	my $plan = $node->safe_psql('postgres',
		"$settings; SET enable_seqscan = off; SET enable_bitmapscan = off; SET gpubtree.setup_cost = 0;"
		  . 'EXPLAIN SELECT count(*) FROM priced WHERE k > 0');

	like($plan, qr/GpubtreeAggregate/, 'the plan is a range aggregate');
	return $plan =~ /cost=[0-9.]+\.\.([0-9.]+)/ ? $1 : -1;
}

$node->safe_psql('postgres', q{
	CREATE TABLE priced (k int, v int) WITH (autovacuum_enabled = off);
	INSERT INTO priced SELECT i, i FROM generate_series(1, 50000) i;
	CREATE INDEX priced_k ON priced USING gpubtree (k);
	ANALYZE priced});
my $first = price('SELECT 1');
$node->safe_psql('postgres', 'SET enable_seqscan = off; SET enable_bitmapscan = off;'
	  . 'SELECT count(*) FROM priced WHERE k > 0');
cmp_ok(price('SELECT 1'), '<', $first / 3, 'a query whose pages have settled has a lower price');
cmp_ok(price('SET gpubtree.enable_page_cache = off'), '==', $first, 'without the cache it has not');
$node->safe_psql('postgres', 'VACUUM priced');
cmp_ok(price('SELECT 1'), '<', $first / 3, 'after VACUUM, too');

done_testing();
