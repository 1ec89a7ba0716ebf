# A leaf that was read is passed by later on, as long as nothing that its cell says is out of date:
# at each step of a reader others insert, delete, clean up and record.
#
# Guards: rule M14, and the conditions of which it consists.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use PostgreSQL::Test::BackgroundPsql;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', allows_streaming => 1,
	settings => "autovacuum = off\ngpubtree.device = 'off'\nwal_level = replica\n"
	  . "shared_buffers = '32MB'\nwal_keep_size = '512MB'\nmax_parallel_workers_per_gather = 0\n");
my @forced = map { "$_ = off" } qw(enable_seqscan enable_indexscan enable_indexonlyscan
  enable_bitmapscan);
push @forced, 'gpubtree.setup_cost = 0';
gpb_compare_function($node);

# Rows in the key's order, or in another one: then each leaf leads to all of the heap.
sub prepare
{
	my ($order, $rows) = @_;
	$rows //= 20000;
	$node->safe_psql('postgres', <<"SQL");
DROP TABLE IF EXISTS t;
CREATE TABLE t (k bigint, v int, f float8, w bigint, n int) WITH (fillfactor = 90);
INSERT INTO t SELECT i, i % 100, i / 8.0, i::bigint * 1000000007, nullif(i % 7, 3)
	FROM generate_series(1, $rows) i ORDER BY $order;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, f, w, n);
VACUUM t;
SQL
}

my $query = 'SELECT count(*), sum(v), min(w), max(w), sum(f), min(f), count(n) FROM t WHERE k BETWEEN 100 AND 19900';

# Ask with and without cells, and return the answer with them; they must be equal.
sub ask
{
	my ($name, $sql, $on) = @_;
	$sql //= $query;
	$on //= $node;
	my $set = join('', map { "SET $_;" } @forced);
	my @answers = split /\n/, $on->safe_psql('postgres',
		"$set BEGIN ISOLATION LEVEL REPEATABLE READ; $sql; SET LOCAL gpubtree.enable_leaf_cache = off; $sql; COMMIT");
	is($answers[0], $answers[1], $name);
	return $answers[0];
}

# How many leaves were passed by, by all nodes of the plan
sub passed
{
	my ($sql, $on) = @_;
	my $set = join('', map { "SET $_;" } @forced);
	my $plan = ($on // $node)->safe_psql('postgres',
		"$set EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " . ($sql // $query));
	my $sum = 0;
	$sum += $1 while $plan =~ /Leaves Passed by Cells: (\d+)/g;
	return $sum;
}

# Ask in a session that is held between map and looks; others do something meanwhile.
sub ask_held
{
	my ($name, $meanwhile, $expected, $hold) = @_;
	my $holder = $node->background_psql('postgres');
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	my $reader = gpb_start($node, $query, @forced, "gpubtree.hold_point = '" . ($hold // 'cells-before-looks') . "'");
	gpb_wait_for_hold($node);
	$meanwhile->();
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	$holder->quit;
	is(gpb_finish($reader), $expected, $name);
}

sub sql { $node->safe_psql('postgres', $_) for @_ }

# ---- used, and not used ----

prepare('i');
is(passed(), 0, 'the first query finds no cells');
cmp_ok(passed(), '>', 50, 'the second passes by nearly all leaves');
ask('the same with and without cells');
ask("ranges $_", "SELECT count(*), sum(v), max(f), sum(f), sum(w), min(k) FROM t WHERE k >= $_ AND k < $_ * 3 + 5")
  for (1, 17, 500, 3333, 6000);
# Columns are recorded as they are wanted, and what is there stays.
for my $columns ('sum(v)', 'min(v)', 'sum(w), max(v)', 'sum(f)', 'min(f), sum(v)', 'max(k), count(n)', 'sum(n), min(n)')
{
	my $sql = "SELECT count(*), $columns FROM t WHERE k BETWEEN 100 AND 19900";
	ask("first with $columns", $sql);
	ask("then with $columns", $sql);
}
for my $columns ('sum(v)', 'sum(w), max(v)', 'sum(f)', 'max(k), count(n)')
{
	cmp_ok(passed("SELECT count(*), $columns FROM t WHERE k BETWEEN 100 AND 19900"), '>', 50,
		"all columns stay: $columns");
}

# ---- many ranges, some of which overlap; buckets; ranks ----

sql('CREATE TABLE r (lo bigint, hi bigint)',
	'INSERT INTO r SELECT i * 900, i * 900 + 300 + (i % 5) * 1700 FROM generate_series(0, 20) i', 'ANALYZE r');
my %many = (
	'ranges that overlap' => 'SELECT string_agg(x::text, chr(59) ORDER BY lo) FROM (SELECT r.lo, count(*), sum(t.v), max(t.w) FROM r JOIN t ON t.k BETWEEN r.lo AND r.hi GROUP BY r.lo) x',
	'a subquery of each row' => 'SELECT string_agg(lo || chr(58) || n, chr(59) ORDER BY lo) FROM (SELECT lo, (SELECT sum(v) FROM t WHERE k BETWEEN lo AND hi) AS n FROM r) x',
	'buckets' => 'SELECT string_agg(x::text, chr(59) ORDER BY b) FROM (SELECT k / 3000 AS b, count(*), sum(f), min(v) FROM t WHERE k BETWEEN 50 AND 19950 GROUP BY 1) x',
	'a median' => 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k), sum(v) FROM t WHERE k BETWEEN 50 AND 19950',
	'an offset' => 'SELECT k FROM t WHERE k > 17 ORDER BY k OFFSET 15000 LIMIT 1');
for my $name (sort keys %many)
{
	ask($name, $many{$name}) for (1 .. 2);
	cmp_ok(passed($many{$name}), '>', 0, "$name: leaves are passed by") unless $name eq 'an offset';
}

# ---- a leaf that changed ----

sql('INSERT INTO t VALUES (5000, 1000000, 1e10, -5, 1)', 'VACUUM t');
ask('a row that was inserted and vacuumed counts');
sql('DELETE FROM t WHERE k BETWEEN 7000 AND 7100');
ask('rows that were deleted do not count');
sql('VACUUM t');
ask('nor when they are gone');
sql('UPDATE t SET v = v + 1 WHERE k % 500 = 0');
ask('updated rows count once') for (1 .. 2);
sql('VACUUM (INDEX_CLEANUP on) t');
ask('likewise after VACUUM') for (1 .. 2);
cmp_ok(passed(), '>', 50, 'cells are recorded anew');
sql('INSERT INTO t SELECT 12000, 7, 1.5, 3, 1 FROM generate_series(1, 3000)');
ask('after splits') for (1 .. 3);
sql('DELETE FROM t WHERE k = 12000', 'VACUUM (INDEX_CLEANUP on) t', 'VACUUM (INDEX_CLEANUP on) t');
ask('after pages were deleted') for (1 .. 3);

# NaN and what a narrow sum does not hold
sql("UPDATE t SET f = 'NaN' WHERE k = 15000", "UPDATE t SET f = 1e300 WHERE k = 16000", 'VACUUM t');
ask('values that no narrow sum holds') for (1 .. 3);

# ---- own rows, and an older snapshot ----

prepare('i');
ask('recorded');
my $old = $node->background_psql('postgres');
$old->query_safe("SET $_") for @forced;
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $before = $old->query_safe($query);
sql('DELETE FROM t WHERE k % 100 = 5', 'INSERT INTO t SELECT i * 13, 5, 5, 5, 5 FROM generate_series(1, 1500) i');
ask('a new snapshot') for (1 .. 4);
is($old->query_safe($query), $before, 'an old snapshot does not take what a new one recorded');
$old->query_safe('COMMIT');
$old->query_safe('BEGIN; DELETE FROM t WHERE k BETWEEN 3000 AND 3010');
my ($n) = split /\|/, $old->query_safe($query);
my ($all) = split /\|/, ask('others');
is($all - $n, 11, 'a transaction sees what it deleted itself');
$old->query_safe('ROLLBACK');
$old->quit;

# ---- others act while a reader has read the map and not looked ----

prepare('i');
ask('recorded') for (1 .. 2);
my $whole = ask('all');
ask_held('rows inserted after the map was read do not count', sub {
	sql('INSERT INTO t SELECT i, 1, 1, 1, 1 FROM generate_series(200, 9000, 50) i', 'VACUUM t');
	# Others record what the reader must not take: rows that its snapshot does not see.
	ask('recorded by others') for (1 .. 3);
}, $whole);
# Rows that were deleted before the snapshot, and are removed after the map was read.
sql('VACUUM t');
ask('recorded') for (1 .. 2);
sql('DELETE FROM t WHERE v = 1');
my $without = ask('without the deleted rows');
prepare('i');
ask('recorded') for (1 .. 2);
sql('DELETE FROM t WHERE k BETWEEN 1000 AND 1500');
$without = do {
	my @a = split /\n/, $node->safe_psql('postgres', "SET gpubtree.enable_leaf_cache = off; $query");
	$a[0];
};
ask_held('rows removed after the map was read do not count', sub {
	sql('VACUUM (INDEX_CLEANUP on) t');
}, $without);

# ---- each leaf leads to all of the heap: the map is read once, for leaves that are copied later ----

prepare('i * 7919 % 20011');
ask('recorded, in another order') for (1 .. 2);
cmp_ok(passed(), '>', 50, 'cells hold in another order');
$whole = ask('all, in another order');
ask_held('what was recorded after the reader began is not taken, though its map says seen', sub {
	sql('INSERT INTO t SELECT i, 1, 1, 1, 1 FROM generate_series(200, 19800, 50) i');
	ask('recorded by others, settled') for (1 .. 4);
}, $whole);

# ---- a cell that is being written ----

prepare('i');
ask('recorded');
sql('UPDATE t SET v = v + 1 WHERE k % 50 = 0', 'VACUUM (INDEX_CLEANUP on) t');
$whole = $node->safe_psql('postgres', "SET gpubtree.enable_leaf_cache = off; $query");
ask_held('a recorder is held within a cell', sub {
	ask('a cell that is being written is not taken');
}, $whole, 'leaf-within-cell');
ask('and then it is') for (1 .. 2);

# ---- files ----

prepare('i');
ask('recorded') for (1 .. 2);
sql('REINDEX INDEX t_k');
ask('REINDEX');
sql('TRUNCATE t');
is($node->safe_psql('postgres', $query), '0||||||0', 'TRUNCATE');
sql('DROP TABLE t; CREATE UNLOGGED TABLE t (k bigint, v int, f float8, w bigint, n int);'
	  . 'INSERT INTO t SELECT i, 1, 1, 1, 1 FROM generate_series(1, 20000) i;'
	  . 'CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, f, w, n); VACUUM t');
passed() for (1 .. 2);
is(passed(), 0, 'no cells of an unlogged index');

# ---- wide keys, runs, DESC and NULLs ----

sql(<<'SQL', 'VACUUM u');
CREATE TABLE u (a bigint NOT NULL, b bigint NOT NULL, d int, v int);
INSERT INTO u SELECT i, i * 3, nullif(i / 200, 5), i % 50 FROM generate_series(1, 20000) i;
CREATE INDEX u_wide ON u USING gpubtree (a, b) INCLUDE (v);
CREATE INDEX u_runs ON u USING gpubtree (d DESC);
SQL
for my $sql ('SELECT count(*), sum(v) FROM u WHERE a BETWEEN 10 AND 19000',
	'SELECT count(*), min(d), max(d) FROM u WHERE d BETWEEN 2 AND 95',
	'SELECT count(*), count(d) FROM u WHERE d >= 1',
	'SELECT count(*) FROM u WHERE d IS NULL')
{
	ask($sql, $sql) for (1 .. 3);
}

# ---- a standby, and its promotion ----

prepare('i');
ask('recorded');
$node->backup('b');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'b', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
ask('on the standby', $query, $standby) for (1 .. 2);
cmp_ok(passed($query, $standby), '>', 50, 'a standby passes leaves by');
for my $round (1 .. 3)
{
	sql("DELETE FROM t WHERE k % 97 = $round",
		"INSERT INTO t SELECT i * 11 + $round, 2, 2, 2, 2 FROM generate_series(1, 500) i",
		$round == 2 ? 'VACUUM (INDEX_CLEANUP on) t' : 'SELECT 1');
	$node->wait_for_catchup($standby);
	is(ask("round $round on the standby", $query, $standby), ask("round $round"),
		"round $round: the primary's answer");
}
$standby->promote;
$standby->safe_psql('postgres', 'DELETE FROM t WHERE k % 89 = 3');
ask('promoted', $query, $standby) for (1 .. 2);
$standby->stop;

# ---- a crash ----

ask('before the crash');
sql('INSERT INTO t SELECT i * 5, 3, 3, 3, 3 FROM generate_series(1, 300) i');
$node->stop('immediate');
$node->start;
ask('after the crash') for (1 .. 2);

# ---- little memory: cells take each other's places ----

$node->append_conf('postgresql.conf', "gpubtree.leaf_cache_size = '8kB'");
$node->restart;
ask('with a few cells') for (1 .. 4);
$node->append_conf('postgresql.conf', "gpubtree.leaf_cache_size = 0");
$node->restart;
ask('with none');
is(passed(), 0, 'no cells');

# ---- beside writers ----

$node->append_conf('postgresql.conf', "gpubtree.leaf_cache_size = '256kB'\nautovacuum = on\nautovacuum_naptime = 1\nautovacuum_vacuum_scale_factor = 0.01");
$node->restart;
prepare('i', 30000);
sql(<<'SQL');
CREATE FUNCTION compare_cells(n int, overlapping text) RETURNS int LANGUAGE plpgsql
	SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off
	SET enable_bitmapscan = off SET gpubtree.setup_cost = 0 AS $$
DECLARE
	lo bigint;
	hi bigint;
	a text;
	b text;
BEGIN
	FOR i IN 1..n LOOP
		lo := random() * 30000;
		hi := lo + random() * 20000;
		PERFORM set_config('gpubtree.enable_leaf_cache', 'on', false);
		EXECUTE 'SELECT (count(*), sum(v), min(w), max(w), sum(f), count(n))::text FROM t WHERE k BETWEEN $1 AND $2'
			INTO a USING lo, hi;
		PERFORM set_config('gpubtree.enable_leaf_cache', 'off', false);
		EXECUTE 'SELECT (count(*), sum(v), min(w), max(w), sum(f), count(n))::text FROM t WHERE k BETWEEN $1 AND $2'
			INTO b USING lo, hi;
		IF a <> b THEN
			RAISE EXCEPTION '% to %: % with cells, % without', lo, hi, a, b;
		END IF;
		CONTINUE WHEN i % 5 > 0;
		PERFORM set_config('gpubtree.enable_leaf_cache', 'on', false);
		EXECUTE overlapping INTO a;
		PERFORM set_config('gpubtree.enable_leaf_cache', 'off', false);
		EXECUTE overlapping INTO b;
		IF a <> b THEN
			RAISE EXCEPTION 'overlapping ranges: % with cells, % without', a, b;
		END IF;
	END LOOP;
	RETURN n;
END $$;
SQL
my $writers = gpb_start_pgbench($node, {
	insert => "\\set k random(1, 30000)\nINSERT INTO t VALUES (:k, 1, :k / 4.0, :k, NULL);\n",
	delete => "\\set k random(1, 30000)\nDELETE FROM t WHERE k BETWEEN :k AND :k + 3;\n",
	update => "\\set k random(1, 30000)\nUPDATE t SET v = v + 1, f = f / 2 WHERE k = :k;\n" }, '-c', '3');
my $compared = 0;
for (1 .. ($ENV{GPB_ROUNDS} // 6))
{
	$compared += $node->safe_psql('postgres',
		"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT compare_cells(100, \$\$$many{'ranges that overlap'}\$\$); COMMIT");
}
cmp_ok($compared, '>', 0, "$compared comparisons beside writers");
ok(gpb_end_pgbench($writers), 'writers');
$node->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)");

done_testing();
