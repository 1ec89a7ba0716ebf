# Unique indexes beside each other's inserts.  On PostgreSQL 18: of sessions that insert one key one
# wins, also where its versions span several leaves, beside splits, VACUUM and deleted pages; who meets
# a transaction in progress waits for its end; a crash and a standby.  On 15 to 17 there are none.
#
# Guards: the locks of the check and of the way from the first equal leaf to the entry's.
#
# GPB_SECONDS	how long the mix runs (default 3)
use GpubtreeHold;
use GpubtreeTest;

my $seconds = $ENV{GPB_SECONDS} // 3;
my $node = gpb_node('primary', allows_streaming => 1, settings => <<'CONF');
autovacuum = off
wal_consistency_checking = 'gpubtree'
hot_standby_feedback = on
max_standby_streaming_delay = -1
max_wal_size = 4GB
CONF

if ($node->safe_psql('postgres', "SELECT current_setting('server_version_num')::int < 180000") eq 't')
{
	my ($ret, $out, $err) = $node->psql('postgres',
		'CREATE TABLE t (k int); CREATE UNIQUE INDEX ON t USING gpubtree (k)');
	like($err, qr/does not support unique indexes/, 'unique is refused');
	$node->stop;
	done_testing();
	exit;
}

sub prints
{
	my ($sql, $expected, $name) = @_;
	is($node->safe_psql('postgres', $sql), $expected, $name);
}

# Wait until a session waits for a lock of this type, or has ended.
sub waits
{
	my ($name, $type) = @_;
	$node->poll_query_until('postgres', <<"SQL") or die "$name does not wait";
SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = '$name' AND wait_event_type = '$type'
SQL
}

# ---- a transaction in progress ----

$node->safe_psql('postgres', 'CREATE TABLE t (k int, v int); CREATE UNIQUE INDEX t_k ON t USING gpubtree (k)');
my $first = $node->background_psql('postgres');
for my $end ('COMMIT', 'ROLLBACK')
{
	$node->safe_psql('postgres', 'TRUNCATE t');
	$first->query_safe('BEGIN; INSERT INTO t VALUES (1, 1)');
	my $second = gpb_start($node, 'INSERT INTO t VALUES (1, 2)', "application_name = 'second'");
	waits('second', 'Lock');
	$first->query_safe($end);
	my $answer = gpb_finish($second);
	like($answer, $end eq 'COMMIT' ? qr/duplicate key/ : qr/^$/, "an insert waits for $end");

	$node->safe_psql('postgres', 'TRUNCATE t; INSERT INTO t VALUES (1, 0)');
	$first->query_safe('BEGIN; DELETE FROM t');
	$second = gpb_start($node, 'INSERT INTO t VALUES (1, 2)', "application_name = 'second'");
	waits('second', 'Lock');
	$first->query_safe($end);
	like(gpb_finish($second), $end eq 'COMMIT' ? qr/^$/ : qr/duplicate key/, "a delete: $end");

	$node->safe_psql('postgres', 'TRUNCATE t');
	$first->query_safe('BEGIN; INSERT INTO t VALUES (1, 1)');
	$second = gpb_start($node, 'INSERT INTO t VALUES (1, 2) ON CONFLICT (k) DO UPDATE SET v = t.v + 10',
		"application_name = 'second'");
	waits('second', 'Lock');
	$first->query_safe($end);
	gpb_finish($second);
	prints('SELECT v FROM t', $end eq 'COMMIT' ? 11 : 2, "ON CONFLICT waits for $end");
}

# ---- serializable transactions ----

$node->safe_psql('postgres', 'TRUNCATE t; INSERT INTO t SELECT i, i FROM generate_series(10, 20) i');
my @both = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;
$_->query_safe('SET enable_seqscan = off; BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM t WHERE k = 5')
  for @both;
$both[0]->query_safe('INSERT INTO t VALUES (5, 1); COMMIT');
$both[1]->query('INSERT INTO t VALUES (5, 2)');
like($both[1]->{stderr}, qr/could not serialize/, 'who has looked first is told to try again');
$_->quit for @both;

# ---- versions of one key on several leaves ----

# An old snapshot keeps all versions, so that nothing is removed.  The index on v makes every update one
# that needs entries.
$node->safe_psql('postgres', <<'SQL');
DROP TABLE t;
CREATE TABLE t (k int, v int) WITH (fillfactor = 100);
CREATE UNIQUE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, v, v, v, v, v, v, v);
CREATE INDEX t_v ON t (v);
INSERT INTO t VALUES (1, 1), (7, 0), (9, 9);
SQL
$first->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t');
$node->safe_psql('postgres', q{DO $$ BEGIN FOR i IN 1 .. 3000 LOOP UPDATE t SET v = v + 1 WHERE k = 7; COMMIT; END LOOP; END $$});
$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 7');
prints("SELECT pg_relation_size('t_k') / 8192 > 10", 't', 'one key spans many leaves');
for my $point ('unique-checked', 'unique-move-right')
{
	$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 7');
	my $holder = gpb_holder($node);
	my $one = gpb_start($node, 'INSERT INTO t VALUES (7, 1)', "gpubtree.hold_point = '$point'");
	gpb_wait_for_hold($node);
	# It holds a leaf, at which the other one comes to wait.
	my $two = gpb_start($node, 'INSERT INTO t VALUES (7, 2)', "application_name = 'two'");
	gpb_wait_for_sessions($node, 'two', 1, gpb_waits_for_page());
	$holder->quit;
	is(gpb_finish($one), '', "$point: the first one inserts");
	like(gpb_finish($two), qr/duplicate key/, "$point: the second one fails");
	prints('SELECT count(*) FROM t WHERE k = 7', 1, "$point: there is one row");
}
# The leaves are emptied and deleted beside inserts of the key.
$first->query_safe('COMMIT');
my $churn = gpb_start_pgbench($node, <<'SQL', '-c', 4);
\set v random(1, 1000000)
DELETE FROM t WHERE k = 7;
INSERT INTO t VALUES (7, :v) ON CONFLICT (k) DO UPDATE SET v = excluded.v;
SQL
$node->safe_psql('postgres', 'VACUUM t') for 1 .. 5;
sleep 1;
ok(gpb_end_pgbench($churn), 'inserts beside VACUUM');
prints("SELECT count(*) FROM t WHERE k = 7; SELECT gpubtree_check('t_k', true)", "1\n", 'one row is left');

# ---- many sessions, the same keys, beside VACUUM ----

my $standby = gpb_standby($node);

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE m (k bigint, v int) WITH (fillfactor = 70);
CREATE UNIQUE INDEX m_k ON m USING gpubtree (k) INCLUDE (v);
CREATE INDEX m_v ON m (v);
-- Inserts one key, or a range of them; counts who won.
CREATE TABLE won (k bigint);
CREATE FUNCTION attempt(a bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO m VALUES (a, 0);
	INSERT INTO won VALUES (a);
EXCEPTION WHEN unique_violation THEN NULL;
END $$;
SQL
my @mixes = map { gpb_start_pgbench($node, $_->[1], '-c', $_->[0], '--max-tries=100') }
  [ 4, "\\set a random(1, 100000000) \nSELECT attempt(1000000 + (extract(epoch FROM clock_timestamp()) * 300)::bigint % 500000);\n" ],
  [ 4, <<'SQL' ], [ 3, <<'SQL' ], [ 1, <<'SQL' ];
\set a random(1, 3000)
\set n random(1, 40)
INSERT INTO m SELECT i, 1 FROM generate_series(:a, :a + :n) i ON CONFLICT (k) DO UPDATE SET v = m.v + 1;
UPDATE m SET v = v + 1 WHERE k = :a + 5;
SQL
\set a random(1, 3000)
DELETE FROM m WHERE k BETWEEN :a AND :a + 200;
BEGIN;
INSERT INTO m VALUES (:a, 7) ON CONFLICT DO NOTHING;
DELETE FROM m WHERE k = :a;
INSERT INTO m VALUES (:a, 8) ON CONFLICT DO NOTHING;
ROLLBACK;
SQL
VACUUM (INDEX_CLEANUP on) m;
SELECT gpubtree_check('m_k', false);
SQL
gpb_go_on($node, $seconds, 'SELECT count(*) > 100 FROM won');
ok(gpb_end_pgbench($_), 'no session failed') for @mixes;
prints('SELECT k, count(*) FROM m GROUP BY k HAVING count(*) > 1', '', 'no key is there twice');
prints('SELECT count(*) FROM (SELECT k FROM won GROUP BY k HAVING count(*) > 1) q', 0, 'nobody won twice');
prints("SELECT gpubtree_check('m_k', true)", '', 'the index is sound');

# ---- a standby ----

$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', "SELECT gpubtree_check('m_k', true); SELECT count(*), sum(v) FROM m"),
	"\n" . $node->safe_psql('postgres', 'SELECT count(*), sum(v) FROM m'), 'the standby has the same');
$standby->promote;
my ($ret, $out, $err) = $standby->psql('postgres', 'INSERT INTO m SELECT k, 0 FROM m LIMIT 1');
like($err, qr/duplicate key/, 'and refuses duplicates once it is promoted');
$standby->stop;

# ---- a crash ----

my $load = gpb_start_pgbench($node, <<'SQL', '-c', 4);
\set a random(1, 100000)
INSERT INTO m SELECT i, 1 FROM generate_series(:a, :a + 50) i ON CONFLICT (k) DO UPDATE SET v = m.v + 1;
SQL
sleep 1;
$node->stop('immediate');
eval { $load->finish };
$node->start;
prints("SELECT gpubtree_check('m_k', true); SELECT k FROM m GROUP BY k HAVING count(*) > 1", '',
	'after a crash no key is there twice');
($ret, $out, $err) = $node->psql('postgres', 'INSERT INTO m SELECT k, 0 FROM m LIMIT 1');
like($err, qr/duplicate key/, 'and duplicates are refused');
eval { $first->quit };

$node->stop;
done_testing();
