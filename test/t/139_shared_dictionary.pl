# The dictionary's copy in shared memory: sessions that use one have none of their own; it goes on as
# values come; where there is no memory, or no more of it, sessions have their own; memory of files
# that have gone is used again; the copy goes with the server's memory after a crash.  While it lacks
# most values single ones are looked up on the pages.
#
# Guards: src/index/dictionary_single.c, dictionary_shared.c, dictionary_kept.c, and lock_last() in dictionary_page.c.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('primary', databases => 1, settings => <<'CONF');
autovacuum = off
gpubtree.device = off
gpubtree.shared_codes = 10
gpubtree.dictionary_memory = 1MB
restart_after_crash = on
enable_seqscan = off
CONF

# A table with n texts of 12 bytes, which take 40 bytes each in a copy
sub make
{
	my ($name, $n) = @_;

	$node->safe_psql('postgres', $_) for "CREATE TABLE $name (k int, a text)",
		"INSERT INTO $name SELECT i, '$name ' || 1000000 + i FROM generate_series(1, $n) i",
		"CREATE INDEX ${name}_k ON $name USING gpubtree (k) INCLUDE (a)", "VACUUM ANALYZE $name";
	return;
}

# Use a table's dictionary, by statements before, in a new session: is the copy the session's own?
my $own = q{SELECT CASE WHEN sum(total_bytes) > 90000 THEN 'own' ELSE 'shared' END
	FROM pg_backend_memory_contexts WHERE name = 'gpubtree dictionary'};
sub used
{
	my ($name, $before) = @_;

	return $node->safe_psql('postgres',
		($before // '') . "; SELECT count(DISTINCT a), min(a) = '$name 1000001' FROM $name WHERE k > 0; $own");
}

make('one', 3000);
is(used('one'), "3000|t\nshared", 'the first session');
is(used('one'), "3000|t\nshared", 'the second one');
is(used('one', "INSERT INTO one SELECT i, 'one ' || 1000000 + i FROM generate_series(3001, 3010) i"),
	"3010|t\nshared", 'a session that adds values');
is(used('one'), "3010|t\nshared", 'and the next one');

# A session whose own copy has grown
$node->safe_psql('postgres', 'CREATE TABLE grows (k int, a text)');
$node->safe_psql('postgres', 'CREATE INDEX grows_k ON grows USING gpubtree (k) INCLUDE (a)');
my $old = $node->background_psql('postgres');
$old->query_safe(q{INSERT INTO grows VALUES (1, 'grows 1000001')});
is($old->query_safe(q{SELECT a FROM grows WHERE k = 1}), 'grows 1000001', 'a copy of one value');
$node->safe_psql('postgres', q{INSERT INTO grows SELECT i, 'grows ' || 1000000 + i FROM generate_series(2, 2500) i});
is($old->query_safe('SELECT count(DISTINCT a) FROM grows WHERE k > 0'), 2500, 'has more by now');
is($old->query_safe('SELECT count(DISTINCT a) FROM grows WHERE k > 0'), 2500, 'and goes on as a shared one');
$old->query_safe(q{INSERT INTO grows SELECT i, 'grows ' || 1000000 + i FROM generate_series(2501, 4000) i});
is(used('grows'), "4000|t\nshared", 'others have its values');

# ---- single values and codes, while the copy lacks most ----

{
	my $single = q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'gpubtree single values'};
	my $far = 'SET gpubtree.far_codes = 1';
	my $holder = $node->background_psql('postgres');

	make('far', 3000);
	is($node->safe_psql('postgres', "$far; SELECT a FROM far WHERE k IN (1, 2000, 2999) ORDER BY k; $single"),
		"far 1000001\nfar 1002000\nfar 1002999\n1", 'values that are looked up on their pages');
	is($node->safe_psql('postgres', "$far; SELECT count(*), sum(k) FROM far WHERE k > 0 AND a = 'far 1002998'"),
		'1|2998', 'a code that is looked for on the pages');
	is($node->safe_psql('postgres', "$far; SELECT count(DISTINCT a), count(a) FROM (SELECT a FROM far WHERE k > 2000 OFFSET 0) s; $single"),
		"1000|1000\n1", 'a session that wants more and more of them');

	make('twin', 3000);
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	my @sessions = map {
		gpb_start($node, "INSERT INTO twin VALUES ($_, 'new')", 'gpubtree.far_codes = 1',
			"gpubtree.hold_point = 'dictionary-before-single-append'")
	} 1 .. 3;
	gpb_wait_for_hold($node, 3);
	$node->safe_psql('postgres', "INSERT INTO twin VALUES (4, 'other'), (4, 'new')");
	$holder->quit;
	is(join('', map { gpb_finish($_) } @sessions), '', 'sessions that looked for one new value on the pages');
	is($node->safe_psql('postgres', q{SELECT sum(live_items) FROM generate_series(1, pg_relation_size('twin_k') / 8192 - 1) b,
		gpubtree_page_stats('twin_k', b) WHERE type = 'dictionary'}), 3002, 'it has one code');
	is($node->safe_psql('postgres', "SELECT gpubtree_check('twin_k', true); SELECT count(*) FROM twin WHERE k > 0 AND a = 'new'"),
		"\n4", 'and all rows have it');
	$node->safe_psql('postgres', "$far; INSERT INTO twin SELECT i, 'more ' || i FROM generate_series(1, 100) i");
	is($node->safe_psql('postgres', "SELECT gpubtree_check('twin_k', true); SELECT count(DISTINCT a) FROM twin WHERE k > 0"),
		"\n3102", 'a session that adds many');
	$node->safe_psql('postgres', 'DROP TABLE far, twin');
}

# The transaction's own file, built twice in place, and undone
is($node->safe_psql('postgres', <<'SQL'), "two\n0\nthree|three\n1", 'a file of the transaction');
BEGIN;
CREATE TABLE mine (k int, a text);
CREATE INDEX mine_k ON mine USING gpubtree (k) INCLUDE (a);
INSERT INTO mine SELECT i, 'one ' || i FROM generate_series(1, 1000) i;
SELECT count(DISTINCT a) > 999 FROM mine WHERE k > 0 \g /dev/null
TRUNCATE mine;
INSERT INTO mine VALUES (1, 'two');
SELECT max(a) FROM mine WHERE k > 0;
SAVEPOINT s;
TRUNCATE mine;
SELECT count(a) FROM mine WHERE k > 0;
INSERT INTO mine SELECT i, 'three' FROM generate_series(1, 20) i;
SELECT min(a), max(a) FROM mine WHERE k > 0;
ROLLBACK TO s;
SELECT count(a) FROM mine WHERE k > 0 AND a = 'two';
ROLLBACK;
SQL

# ---- memory runs out ----

# Beside another who has the copy pinned and whose values stay
my $pins = $node->background_psql('postgres');
$pins->query_safe('SELECT count(DISTINCT a) FROM one WHERE k > 0');
$pins->query_safe('BEGIN');
$pins->query_safe('DECLARE c CURSOR FOR SELECT a FROM one WHERE k > 0 ORDER BY k');
is($pins->query_safe('FETCH 1 FROM c'), 'one 1000001', 'a cursor over values of the shared copy');
is(used('one', 'SET gpubtree.shared_pieces = 1; ' .
		"INSERT INTO one SELECT i, 'one ' || 1000000 + i FROM generate_series(3011, 8000) i"),
	"8000|t\nown", 'a session that finds no more memory for it reads its own');
is(used('one'), "8000|t\nown", 'so does who comes later');
is($pins->query_safe('MOVE 2999 IN c; FETCH 2 FROM c'), "one 1003001\none 1003002", 'the cursor goes on');
is($pins->query_safe('SELECT count(DISTINCT a) FROM one WHERE k > 0'), 8000,
	'who has the copy reads his own, too');
is($pins->query_safe('FETCH 1 FROM c'), 'one 1003003', 'and the cursor goes on');
$pins->quit;
$node->poll_query_until('postgres', q{SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'client backend'});
is(used('one'), "8000|t\nshared", 'when nobody has it any more, it is read again');

# 32 pieces of 32 kB: three of these do not fit together
make("t$_", 8000) for 1 .. 4;
for my $round (1, 2)
{
	is(used("t$_"), "8000|t\nshared", "round $round: a copy that nobody has makes room for table $_") for 1 .. 4;
}
make('large', 40000);
is(used('large'), "40000|t\nown", 'one that is larger than all memory');
is(used('large'), "40000|t\nown", 'and again');
is(used('t1'), "8000|t\nshared", 'which leaves room for others');

# ---- files that go ----

for my $round (1 .. 12)
{
	my $change = ('REINDEX INDEX t1_k', 'VACUUM FULL t1', 'REINDEX INDEX CONCURRENTLY t1_k',
		"TRUNCATE t1; INSERT INTO t1 SELECT i, 't1 ' || 1000000 + i FROM generate_series(1, 8000) i")[$round % 4];

	$node->safe_psql('postgres', $_) for split(/; /, $change);
	is(used('t1'), "8000|t\nshared", "$round: $change");
}
is($old->query_safe('SELECT min(a) FROM t1 WHERE k > 0'), 't1 1000001', 'a session that is idle then');
$node->safe_psql('postgres', 'DROP TABLE t1');
is(used('t2', 'SELECT min(a) FROM t3 WHERE k > 0'), "t3 1000001\n8000|t\nshared",
	'memory of a copy that an idle session had pinned');
is($old->query_safe('SELECT max(a) FROM grows WHERE k > 0'), 'grows 1004000', 'that session goes on');
is($old->query_safe('SELECT max(a) FROM t2 WHERE k > 0'), 't2 1008000', 'and uses another in its place');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', $_) for 'CREATE EXTENSION gpubtree', 'CREATE TABLE d (k int, a text)',
	q{INSERT INTO d SELECT i, 'd ' || i FROM generate_series(1, 3000) i},
	'CREATE INDEX d_k ON d USING gpubtree (k) INCLUDE (a)';
is($node->safe_psql('other', 'SELECT count(DISTINCT a) FROM d WHERE k > 0'), 3000, 'another database');
$node->safe_psql('postgres', 'DROP DATABASE other');
is(used('t2'), "8000|t\nshared", 'after it was dropped');
$old->quit;

# ---- many who begin at once, beside writers ----

make('busy', 5000);
my $writers = gpb_start_pgbench($node, <<'SQL', '-c', 3);
\set a random(1, 1000000000)
INSERT INTO busy SELECT 10000 + i, 'new ' || :a + i FROM generate_series(1, 5) i;
SQL
my $readers = gpb_start_pgbench($node, <<'SQL', '-c', 4, '-C');
SELECT 1 / (count(*) = 5000)::int FROM (SELECT a FROM busy WHERE k <= 5000 OFFSET 0) s WHERE a = 'busy ' || right(a, 7);
SELECT 1 / (count(DISTINCT a) = 5000)::int FROM busy WHERE k <= 5000;
SQL
gpb_go_on($node, 1, 'SELECT count(*) > 500 FROM busy WHERE k > 9999');
ok(gpb_end_pgbench($_), 'sessions that begin beside writers') for $readers, $writers;
$node->safe_psql('postgres', "SELECT gpubtree_check('busy_k', true)");

# ---- a crash ----

my $killed = $node->background_psql('postgres', on_error_stop => 0);
$killed->query_safe('SELECT count(DISTINCT a) FROM busy WHERE k <= 5000');
my $pid = $killed->query_safe('SELECT pg_backend_pid()');
gpb_kill_backend($node, $pid);
eval { $killed->quit };
is(used('t2'), "8000|t\nshared", 'after a crash');

# ---- none ----

$node->append_conf('postgresql.conf', 'gpubtree.dictionary_memory = 0');
$node->restart;
is(used('t2'), "8000|t\nown", 'without shared memory');

done_testing();
