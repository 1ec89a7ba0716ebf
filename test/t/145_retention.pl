# What retention leaves: the file of an index gets shorter in VACUUM, beside sessions that remember
# blocks beyond its end, beside inserts, readers and a crash, and on a standby; and the mirror of a
# partition goes with it.
#
# Guards: the look at each block under the lock; rule M7 for links that are older than the lock; the
# record of a move and its redo; what a mirror covers after the file was cut off; what a drop frees,
# also on a standby.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', allows_streaming => 1, vacuums_all => 1, settings => <<'CONF');
autovacuum = off
wal_consistency_checking = 'gpubtree'
max_standby_streaming_delay = -1
max_prepared_transactions = 2
CONF
gpb_compare_function($node);
$node->safe_psql('postgres', 'CREATE EXTENSION pg_walinspect');
my $standby = gpb_standby($node);
gpb_wait_for_service($node);
gpb_wait_for_service($standby);
my $holder = gpb_session($node);

sub value { return $node->safe_psql('postgres', $_[0]) }

# Insert many rows, without the page that each record would have for the comparison beside it.
my $not_compared = "SET wal_consistency_checking = ''";
sub fill { return value("$not_compared; $_[0]") }
sub blocks { return ($_[1] // $node)->safe_psql('postgres', "SELECT pg_relation_size('$_[0]') / 8192") }
sub hold { $holder->query_safe('SELECT pg_advisory_lock(0, 7001)') }
sub release { $holder->query_safe('SELECT pg_advisory_unlock(0, 7001)') }

# Start VACUUM, in the background, and wait until it is at the hold point.
sub vacuum_at
{
	my ($point) = @_;

	hold();
	my $vacuum = gpb_start($node, 'VACUUM t', "gpubtree.hold_point = '$point'");
	gpb_wait_for_hold($node);
	return $vacuum;
}

sub catch_up { $node->wait_for_catchup($standby, 'replay', $node->lsn('insert')) }

# Some 112 blocks, of which DELETE and VACUUM leave few in use
sub new_table
{
	value(<<'SQL');
DROP TABLE IF EXISTS t;
CREATE TABLE t (k bigint, v int, d float8) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i % 10, 1 FROM generate_series(1, 40000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
SQL
	value('VACUUM t');
	return blocks('t_k');
}

# What the records say that move pages, from a place in the WAL on
sub moves
{
	my ($from) = @_;

	return value("SELECT DISTINCT description FROM pg_get_wal_records_info('$from', '@{[ $node->lsn('flush') ]}') WHERE record_type = 'MOVE'");
}

# The index is sound, and a mirror, index scans and sequential scans find the same rows.
sub right
{
	my ($name, $server) = @_;
	my ($status, $out, $err) = ($server // $node)->psql('postgres', <<'SQL');
SELECT gpubtree_check('t_k', true);
SELECT compare_range('t', -100000, 1000000) IS NOT NULL, compare_range('t', 3000, 30000) IS NOT NULL;
SET enable_seqscan = off; SET enable_bitmapscan = off; SET gpubtree.enable_aggregate = off; SET gpubtree.enable_scan = off;
SELECT (SELECT count(*) FROM (SELECT k FROM t WHERE k > 0 ORDER BY k OFFSET 0) q) =
	(SELECT count(*) FROM (SELECT k FROM t WHERE k > 0 ORDER BY k DESC OFFSET 0) q);
SQL
	is("$err$out", "\nt|t\nt", "$name: sound, and all answers are right");
	return;
}

my $plain = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET gpubtree.enable_aggregate = off; SET gpubtree.enable_scan = off;';
my $look_up = 'DO $$ BEGIN FOR i IN 1 .. 40 LOOP PERFORM v FROM t WHERE k = 39000 + i; END LOOP; END $$;';

# ---- the file gets shorter ----

# Sessions that remember the root, a copy of it, the last leaf, the file's length, until VACUUM ends,
# which has them forget all of it
my $before = new_table();
value("SELECT gpubtree_refresh('t_k')");
catch_up();
my $reader = gpb_session($node);
my $writer = gpb_session($node);
my $far = gpb_session($standby);
$_->query_safe("$plain $look_up") for $reader, $far;
$writer->query_safe('INSERT INTO t VALUES (50000, 1, 1)');
my $start = $node->lsn('insert');
value('DELETE FROM t WHERE k BETWEEN 4001 AND 49999');
my $vacuum = vacuum_at('shorten-after');
my $after = blocks('t_k');
cmp_ok($after, '<', $before / 5, "of $before blocks $after are left");
like(moves($start), qr/^position \d+$/m, 'a page is moved');

# The standby does not keep the lock to VACUUM's end.
catch_up();
is($far->query_safe("SET lock_timeout = '20s'; $look_up SELECT count(*) FROM t WHERE k = 39001"), 0, 'a standby answers beside VACUUM');
is(blocks('t_k', $standby), $after, 'and has cut off as much');

# Separators that the device has still lead to what is gone.
is(value("SELECT matches || ' ' || (device_keys > 0) FROM gpubtree_probe('t_k', (SELECT array_agg(i) FROM generate_series(1, 45000::bigint) i), 'inner')"),
	'4000 true', 'old separators of a mirror');
is($reader->query_safe('SELECT count(*) FROM t WHERE k = 39001'), 0, 'a copy of the root');
is($writer->query_safe('INSERT INTO t VALUES (60000, 1, 1), (39001, 7, 1) RETURNING v'), "1\n7",
	'an insert by the root and the last leaf that it remembers');
is($reader->query_safe("$look_up SELECT sum(v) FROM t WHERE k = 39001"), 7, 'the row is found');
release();
is(gpb_finish($vacuum), '', 'VACUUM');
right('after VACUUM');
is(value("SELECT blocks FROM gpubtree_mirrors WHERE index = 't_k'::regclass AND state = 'ready'"), blocks('t_k'),
	'the mirror covers what is left');

catch_up();
is(blocks('t_k', $standby), blocks('t_k'), 'a standby cuts off as much');
is($far->query_safe("$look_up SELECT sum(v) FROM t WHERE k = 39001"), 7, 'a copy of the root there');
right('on the standby', $standby);

fill('INSERT INTO t SELECT i, i % 10, 1 FROM generate_series(4001, 30000) i');
cmp_ok(blocks('t_k'), '>', $before / 2, 'the file grows again');
right('when it has grown');
catch_up();
right('when it has grown, on the standby', $standby);
$_->quit for $reader, $writer, $far;

# Pages of all levels are moved, the root too: of a high tree, whose root is young.
value(<<'SQL');
SET gpubtree.inner_entries = 3;
DROP TABLE t;
CREATE TABLE t (k bigint, v int, d float8) WITH (autovacuum_enabled = off);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
SQL
$start = $node->lsn('insert');
my $session = gpb_session($node);
$session->query_safe('SET gpubtree.inner_entries = 3');
for my $round (3 .. 6)
{
	$session->query_safe("$not_compared; INSERT INTO t SELECT i, i % 10, 1 FROM generate_series(1, 9000 * $round) i; RESET wal_consistency_checking");
	$before = blocks('t_k');
	value('DELETE FROM t WHERE k > 1000');
	$vacuum = vacuum_at('shorten-after');
	cmp_ok(blocks('t_k'), '<', $before / 2, "round $round: of $before blocks few are left");
	is($session->query_safe("INSERT INTO t VALUES (500, 1, 1) RETURNING 'by the root that it remembers'"),
		'by the root that it remembers', 'an insert');
	release();
	is(gpb_finish($vacuum), '', 'VACUUM');
	right("a high tree, round $round");
}
$session->quit;
like(moves($start), qr/^root$/m, 'the root is moved');
catch_up();
right('a high tree, on the standby', $standby);

# What the root and its copy lead to that sessions remember, until VACUUM ends, and the separators that
# the device has, has become a page of the dictionary, or one that is empty.
for my $kind ('a page of the dictionary', 'an empty page')
{
	value(<<'SQL');
DROP TABLE t;
CREATE TABLE t (k bigint, v text, d float8) WITH (autovacuum_enabled = off, vacuum_truncate = off);
INSERT INTO t SELECT i, i % 10, 1 FROM generate_series(1, 10000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
VACUUM t;
DELETE FROM t WHERE k BETWEEN 101 AND 9990;
VACUUM t;
ALTER TABLE t RESET (vacuum_truncate);
SELECT gpubtree_refresh('t_k');
SQL
	$reader = gpb_session($node);
	$reader->query_safe("$plain DO \$\$ BEGIN FOR i IN 1 .. 40 LOOP PERFORM d FROM t WHERE k = 9999; END LOOP; END \$\$");
	$before = blocks('t_k');
	$vacuum = vacuum_at('shorten-after');
	cmp_ok(blocks('t_k'), '<', $before / 4, 'the file gets shorter');
	if ($kind =~ /dictionary/)
	{
		value("INSERT INTO t SELECT 1, repeat('x', 190) || i, 1 FROM generate_series(1, 2500) i");
	}
	else
	{
		# as an error leaves it between the file's extension and the page's record
		my $file = $node->data_dir . '/' . value("SELECT pg_relation_filepath('t_k')");
		append_to_file($file, "\0" x (8192 * $before));
	}
	cmp_ok(blocks('t_k'), '>', $before, 'and grows');
	is($reader->query_safe('SELECT d FROM t WHERE k = 9999'), 1, "a copy of the root that leads to $kind");
	is(value("SELECT matches || ' ' || (device_keys > 0) FROM gpubtree_probe('t_k', (SELECT array_agg(i) FROM generate_series(9990, 10000::bigint) i), 'inner')"),
		'10 true', "old separators of a mirror that lead to $kind");
	gpb_index_is_sound($node, 't_k', "$kind: sound");
	$reader->quit;
	release();
	is(gpb_finish($vacuum), '', 'VACUUM');
}

# VACUUM finishes no split: that would take blocks of the end that it has found to be free.
value(<<'SQL');
DROP TABLE t;
CREATE TABLE t (k bigint, v int, d float8) WITH (autovacuum_enabled = off, vacuum_truncate = off);
INSERT INTO t SELECT i, i % 10, 1 FROM generate_series(1, 20000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
VACUUM t;
DELETE FROM t WHERE k BETWEEN 2001 AND 19990;
VACUUM t;
INSERT INTO t SELECT i, 1, 1 FROM generate_series(20001, 20400) i;
DELETE FROM t WHERE k BETWEEN 1900 AND 20300;
VACUUM t;
ALTER TABLE t RESET (vacuum_truncate);
SQL
like(gpb_finish(gpb_start($node, 'INSERT INTO t SELECT i, 1, 1 FROM generate_series(20401, 21000) i', "gpubtree.hold_point = 'fail-after-split'")),
	qr/fail-after-split/, 'a split of the last leaf is not done');
$before = blocks('t_k');
is(gpb_finish(gpb_start($node, 'VACUUM t', 'gpubtree.inner_entries = 3')), '', 'VACUUM, to which the parent is full');
cmp_ok(blocks('t_k'), '<', $before / 2, 'the file gets shorter');
right('a split that is not done');
value('INSERT INTO t SELECT i, 1, 1 FROM generate_series(20401, 21000) i');
right('and that an insert has done');
catch_up();
right('both, on the standby', $standby);

# The free blocks that are filled first are the first ones, so that the end of the file empties.
$before = new_table();
value('DELETE FROM t WHERE k <= 24000');
value('VACUUM t');
is(blocks('t_k'), $before, 'live pages at the end keep the file as it is');
fill('INSERT INTO t SELECT 40000 + i, 1, 1 FROM generate_series(1, 16000) i');
is(blocks('t_k'), $before, 'new ones go where old ones were');
value('DELETE FROM t WHERE k <= 40000');
value('VACUUM t');
cmp_ok(blocks('t_k'), '<', $before * 0.6, 'and when the ones at the end are deleted, the file gets shorter');
right('a window of time');

# ---- beside others ----

# A reader in the middle of the index keeps the file, and finds its rows.
$before = new_table();
my $cursor = gpb_session($node);
my $declare = "$plain SET enable_indexonlyscan = off; BEGIN; DECLARE c CURSOR FOR SELECT k FROM t WHERE k < 11 ORDER BY k; FETCH c";
# the last row of the table stays: VACUUM would wait five seconds to cut that off
value('DELETE FROM t WHERE k > 4000 AND k < 40000');
$cursor->query_safe($declare);
value('VACUUM t');
is(blocks('t_k'), $before, 'a session that has the index open keeps the file as it is');
is($cursor->query_safe('FETCH ALL FROM c'), join("\n", 2 .. 10), 'and reads on');
$cursor->query_safe('COMMIT');
$cursor->quit;
value('VACUUM t');
cmp_ok(blocks('t_k'), '<', $before / 5, 'the next VACUUM cuts it off, though it has nothing to remove');
is(value("SELECT relpages || ' ' || reltuples FROM pg_class WHERE relname = 't_k'"), blocks('t_k') . ' 4001', 'and tells the planner');

# Blocks that inserts take after VACUUM has looked, and before it has locked the index
sub vacuum_held
{
	my ($point) = @_;
	my $length = new_table();

	value('DELETE FROM t WHERE k > 4000 AND k < 40000');
	return (vacuum_at($point), $length);
}

($vacuum, $before) = vacuum_held('shorten-planned');
fill('INSERT INTO t SELECT i, 5, 1 FROM generate_series(4001, 38000) i');
release();
is(gpb_finish($vacuum), '', 'VACUUM beside inserts into the end of the file');
is(value('SELECT count(*) FROM t'), 38001, 'all rows are there');
right('inserts before the lock');

($vacuum, $before) = vacuum_held('shorten-planned');
my $others = gpb_session($node);
$others->query_safe('BEGIN; SELECT count(*) FROM t WHERE k = 1');
release();
is(gpb_finish($vacuum), '', 'VACUUM beside a reader');
is(blocks('t_k'), $before, 'cuts nothing off');
$others->query_safe('COMMIT');
$others->quit;

# With the lock: readers and writers wait, and find everything.
($vacuum, $before) = vacuum_held('shorten-moved');
my @waiting = map { gpb_start($node, "$plain $_") }
  ('SELECT count(*), sum(k) FROM t WHERE k > 0', "INSERT INTO t VALUES (70000, 1, 1) RETURNING 'done'");
gpb_wait_until('both to wait', sub { value("SELECT count(*) FROM pg_locks WHERE relation = 't_k'::regclass AND NOT granted") == 2 });
release();
is(gpb_finish($vacuum), '', 'VACUUM with the lock');
my ($found, $done) = map { (split /\n/, gpb_finish($_))[-1] } @waiting;
like($found, qr/^(4001\|8042000|4002\|8112000)$/, 'a reader that waited');
is($done, 'done', 'and a writer');
right('those who waited');

# A VACUUM that is cancelled when it has moved pages.  A leaf that the mirror had is not believed any
# more where it was, by a query that leaves the refresh to others.
$before = new_table();
value('ALTER TABLE t SET (vacuum_truncate = off)');
value('DELETE FROM t WHERE k BETWEEN 4001 AND 39900');
value('VACUUM t');
value('ALTER TABLE t RESET (vacuum_truncate)');
value("SELECT gpubtree_refresh('t_k')");
$vacuum = vacuum_at('shorten-moved');
value("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = 'VACUUM t' AND state = 'active'");
like(gpb_finish($vacuum), qr/canceling statement/, 'VACUUM is cancelled');
release();
is(blocks('t_k'), $before, 'the file is as it was');
gpb_hold_service($node, 'turn-found');
value('INSERT INTO t VALUES (39950, 1, 1), (50000, 1, 1)');
right('pages that are moved');
gpb_release_service($node, 'turn-found');
value('VACUUM t');
cmp_ok(blocks('t_k'), '<', $before / 4, 'and the next VACUUM cuts off the end');

# Readers and writers that go on, VACUUM after VACUUM
new_table();
my $mix = gpb_start_pgbench($node, { 'read@3' => <<'SQL',
\set a random(1, 39000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_range('t', :a, :a + 5000);
COMMIT;
SQL
		'insert@2' => "\\set a random(1, 40000)\nINSERT INTO t VALUES (:a, 3, 1), (:a + 1, 3, 1);\n",
		'delete@1' => "\\set a random(1, 40000)\nDELETE FROM t WHERE k BETWEEN :a AND :a + 5;\n" }, '-c', 4, '-R', 80);
my $cuts = 0;
for (1 .. 6)
{
	value('DELETE FROM t WHERE k > 4000');
	value('VACUUM t');
	$before = blocks('t_k');
	$cuts += $before < 60;
	fill('INSERT INTO t SELECT i, 2, 1 FROM generate_series(4001, 30000) i');
}
ok(gpb_end_pgbench($mix, none_fails => 1), 'readers and writers find the same rows');
cmp_ok($cuts, '>', 0, "beside $cuts VACUUMs that cut off the end of the file");
right('after the mix');

# What a SERIALIZABLE transaction has read moves with the page.
new_table();
value('CREATE TABLE other AS SELECT 0 AS n');
value('DELETE FROM t WHERE k BETWEEN 4001 AND 39999');
my $first = gpb_session($node);
my $second = gpb_session($node, on_error_stop => 0);
$second->query_safe('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM other');
$first->query_safe("$plain BEGIN ISOLATION LEVEL SERIALIZABLE; SET enable_indexonlyscan = off; SELECT v FROM t WHERE k > 39999; UPDATE other SET n = 1; COMMIT");
$first->quit;
value('VACUUM t');
is(value("SELECT count(*) FROM pg_locks WHERE relation = 't_k'::regclass AND mode = 'SIReadLock' AND page < " . blocks('t_k')), 1,
	'a predicate lock moves with its leaf');
my $failure = '';
for my $statement ('INSERT INTO t VALUES (80000, 1, 1)', 'COMMIT')
{
	$second->query($statement);
	$failure .= $second->{stderr};
}
like($failure, qr/could not serialize access/, 'and is met by an insert');
$second->quit;

# ---- who says that it is not wanted, or cannot be ----

$before = new_table();
value('ALTER TABLE t SET (vacuum_truncate = off)');
value('DELETE FROM t WHERE k > 4000');
value('VACUUM t');
is(blocks('t_k'), $before, 'vacuum_truncate = off');
value('ALTER TABLE t RESET (vacuum_truncate)');
value('CREATE INDEX t_v ON t (v); CREATE INDEX t_d ON t (d)');
value('DELETE FROM t WHERE k < 10');
value('SET min_parallel_index_scan_size = 0; SET max_parallel_maintenance_workers = 2; VACUUM (PARALLEL 2) t');
is(blocks('t_k'), $before, 'a parallel VACUUM');
value('DELETE FROM t WHERE k < 20');
value('VACUUM (PARALLEL 0) t');
cmp_ok(blocks('t_k'), '<', $before / 5, 'and one that is not');

for my $persistence ('UNLOGGED', 'TEMPORARY')
{
	is(value(<<"SQL"), "t\n\nt\n22001|22001", "$persistence: the file gets shorter, and grows");
CREATE $persistence TABLE u (k bigint, v text);
INSERT INTO u SELECT i, 'v' || i % 500 FROM generate_series(1, 40000) i;
CREATE INDEX u_k ON u USING gpubtree (k) INCLUDE (v);
CREATE TEMPORARY TABLE before AS SELECT pg_relation_size('u_k') AS size;
DELETE FROM u WHERE k BETWEEN 1001 AND 39000;
VACUUM u;
SELECT pg_relation_size('u_k') < size / 4 FROM before;
SELECT gpubtree_check('u_k', true);
INSERT INTO u SELECT 40000 + i, 'v' || i % 700 FROM generate_series(1, 20001) i;
SELECT gpubtree_check('u_k', true) IS NOT NULL;
$plain
SELECT count(v), count(DISTINCT k) FROM u WHERE k > 0;
DROP TABLE u;
SQL
}

# ---- a standby's readers, and crashes ----

# A query of the standby that has the index open holds up the replay, and is right.
$before = new_table();
value('DELETE FROM t WHERE k > 4000');
catch_up();
$far = gpb_session($standby);
$far->query_safe($declare);
value('VACUUM t');
cmp_ok(blocks('t_k'), '<', $before / 5, 'the primary cuts off what a standby reads');
gpb_wait_until('the replay to wait', sub {
	$standby->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE relation = 't_k'::regclass AND NOT granted") });
is($far->query_safe('FETCH ALL FROM c'), join("\n", 2 .. 10), 'which reads on');
$far->query_safe('COMMIT');
$far->quit;
catch_up();
is(blocks('t_k', $standby), blocks('t_k'), 'and then cuts off as much');
right('a standby that waited', $standby);

for my $point ('shorten-moved', 'shorten-after')
{
	($vacuum, $before) = vacuum_held($point);
	value('SELECT pg_switch_wal()');
	$node->stop('immediate');
	$vacuum->{run}->finish;
	$node->start;
	gpb_wait_for_service($node);
	$holder = gpb_session($node);
	right("a crash at $point");
	value('INSERT INTO t SELECT i, 1, 1 FROM generate_series(4001, 8000) i');
	right("a crash at $point, and inserts");
}
catch_up();
right('after crashes, on the standby', $standby);

# ---- partitions that go ----

value(<<'SQL');
CREATE TABLE p (k bigint, v int, d float8) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (10001);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10001) TO (20001);
CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (20001) TO (30001);
CREATE INDEX p_k ON p USING gpubtree (k) INCLUDE (v, d);
INSERT INTO p SELECT i, i % 10, 1 FROM generate_series(1, 30000) i;
SQL
value('VACUUM ANALYZE p');
catch_up();
for my $server ($node, $standby)
{
	$server->safe_psql('postgres', "SELECT gpubtree_refresh(c.oid) FROM pg_class c WHERE relname LIKE 'p__k_v_d_idx'");
}

# The index of the partition has no mirror any more, within a second.
sub gone
{
	my ($index, $name) = @_;

	catch_up();
	for my $server ($node, $standby)
	{
		ok($server->poll_query_until('postgres', "SELECT count(*) = 0 FROM gpubtree_mirrors() WHERE index = $index"),
			"$name: the mirror is gone on " . $server->name);
	}
	return;
}

sub mirrors { return $_[0]->safe_psql('postgres', "SELECT count(*) FROM gpubtree_mirrors() WHERE state = 'ready' AND index IN (SELECT oid FROM pg_class WHERE relname LIKE 'p__k_v_d_idx')") }

is(mirrors($node) . mirrors($standby), '33', 'each partition has a mirror, on both servers');
my %oid = map { $_ => value("SELECT 'p${_}_k_v_d_idx'::regclass::oid") } 1 .. 3;
value('BEGIN; DROP TABLE p1; ROLLBACK');
right_partition('p1', 'DROP rolled back');

sub right_partition
{
	my ($table, $name, $server) = @_;

	$server //= $node;
	is($server->safe_psql('postgres', "SELECT compare_range('$table', 0, 40000) IS NOT NULL"), 't', "$name: right");
	like(gpb_engine($server, "SELECT count(*), sum(v) FROM $table WHERE k BETWEEN 1 AND 1000000", 'aggregate'), qr/host/,
		"$name: through the mirror");
	return;
}

# A query that runs keeps the partition until it ends.
hold();
my $query = gpb_start($node, "$plain SET gpubtree.enable_aggregate = on; SET gpubtree.setup_cost = 0; SET gpubtree.batch_setup_cost = 0; SET enable_indexscan = off; SET enable_indexonlyscan = off; SELECT count(*), sum(v) FROM p1 WHERE k > 0",
	"gpubtree.hold_point = 'batch-after-refresh'");
gpb_wait_for_hold($node);
my $drop = gpb_start($node, 'DROP TABLE p1');
gpb_wait_until('DROP to wait', sub { value("SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'") });
release();
is((split /\n/, gpb_finish($query))[-1], '10000|45000', 'a query beside DROP');
is(gpb_finish($drop), '', 'DROP after it');
gone($oid{1}, 'DROP');

value('ALTER TABLE p DETACH PARTITION p2');
catch_up();
right_partition('p2', 'DETACH', $_) for $node, $standby;
is(value('SELECT count(*), sum(v) FROM p'), '10000|45000', 'DETACH: the table has the rest');
is(mirrors($node), '2', 'DETACH: both mirrors stay');
value('ALTER TABLE p DETACH PARTITION p3 CONCURRENTLY');
right_partition('p3', 'DETACH CONCURRENTLY');
value('DROP INDEX CONCURRENTLY p2_k_v_d_idx');
gone($oid{2}, 'DROP INDEX CONCURRENTLY');
value("BEGIN; DROP TABLE p3; PREPARE TRANSACTION 'drop'");
value("COMMIT PREPARED 'drop'");
gone($oid{3}, 'a prepared DROP');

gpb_nothing_crashed($_) for $standby;
done_testing();
