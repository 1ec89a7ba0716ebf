# The server, or one process of it, is killed (kill -9) again and again under inserts, deletions,
# updates, VACUUM and checks. After each crash the index is sound and complete, and leads to what
# a B-tree on the same table leads to.
#
# Guards: the redo of all records, deletion and recycling of pages among them; the order of WAL and
# pages.
#
# GPB_ROUNDS	number of crashes (default 6)
use Time::HiRes qw(usleep);
use GpubtreeTest;

my $rounds = $ENV{GPB_ROUNDS} // 6;
my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
max_connections = 30
max_wal_size = 64MB
restart_after_crash = on
CONF

# Entries are wide, so that pages of level 1 are made and deleted, too.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, a int8, b int8, c int8, e int8, f int8, g int8);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, a, b, c, e, f, g);
CREATE INDEX t_b ON t (k);
INSERT INTO t (k, v) SELECT i, 0 FROM generate_series(1, 20000) i;
SQL

my $load = <<'SQL';
\set a random(1, 40000)
\set b random(1, 600)
\set what random(1, 12)
INSERT INTO t (k, v, a) SELECT :a + i, i, i FROM generate_series(1, :b) i;
DELETE FROM t WHERE k BETWEEN :a - 700 AND :a;
UPDATE t SET v = v + 1 WHERE k BETWEEN :a + 2000 AND :a + 2300;
\if :what <= 4
VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t;
\elif :what = 5
DELETE FROM t WHERE k < (SELECT k + 4000 FROM t ORDER BY k LIMIT 1);
\elif :what = 6
SELECT gpubtree_check('t_k', false);
\endif
SQL

# What an index scan that may use no other index than this returns
sub by_index
{
	my ($index) = @_;
	my $other = $index eq 't_k' ? 't_b' : 't_k';
	my $rows = $node->safe_psql('postgres', <<"SQL");
BEGIN;
SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off;
SET LOCAL gpubtree.enable_aggregate = off; SET LOCAL gpubtree.enable_scan = off;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = '$other'::regclass;
SELECT count(*), sum(k), md5(string_agg(k || '/' || v || '/' || place, ',')) FROM
	(SELECT k, v, ctid::text AS place FROM t WHERE k > -1000000 ORDER BY k) q;
SELECT count(*), sum(v) FROM (SELECT v FROM t WHERE k = ANY (ARRAY(SELECT generate_series(1, 40000, 37))) OFFSET 0) q;
ROLLBACK;
SQL
	return $rows;
}

gpb_seed();
my ($failed, $crashes, $attempts) = (0, 0, 0);
for my $round (1 .. $rounds)
{
	my $clients = gpb_start_pgbench($node, $load, '-c', '4', '-T', '60');

	usleep(150_000 + int(rand(700_000)));
	$node->psql('postgres', 'CHECKPOINT') if rand() < 0.3;
	if (rand() < 0.5)
	{
		$node->kill9;
		eval { $clients->finish };
		# It and its children need a moment to go, and no server starts before.
		usleep(100_000) for 1 .. 2;
		until ($node->start(fail_ok => 1))
		{
			die 'the server does not start' if ++$attempts > 600;
			$node->{_pid} = undef;
			usleep(100_000);
		}
	}
	else
	{
		my $pid = $node->safe_psql('postgres', <<'SQL');
SELECT pid FROM pg_stat_activity WHERE backend_type IN ('client backend', 'checkpointer', 'background writer')
	AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1
SQL
		kill 'KILL', $pid;
		eval { $clients->finish };
		$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
	}
	$crashes++;

	my ($status, $out, $err) = $node->psql('postgres', "SELECT gpubtree_check('t_k', true)");
	my $same = by_index('t_k') eq by_index('t_b');
	$failed++ if $status != 0 || !$same;
	next if $status == 0 && $same;
	is($status, 0, "crash $round: the index is sound and complete") or diag($err);
	ok($same, "crash $round: both indexes lead to the same rows");
	last;
}
is($failed, 0, "$crashes crashes: the index is sound, and leads where a B-tree does");
is($crashes, $rounds, "$rounds crashes");
is($node->safe_psql('postgres', "SELECT count(*) FROM t WHERE k = 1000000"), 0, 'the server works');
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|XX002/, 'nothing was damaged');
done_testing();
