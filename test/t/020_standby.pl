# A streaming standby replays every change to identical pages (wal_consistency_checking), answers
# aggregates through its own mirror while it replays, and goes on after promotion.
use GpubtreeTest;

my $primary = gpb_node(
	'primary',
	allows_streaming => 1,
	settings => "wal_consistency_checking = 'gpubtree'\nautovacuum = off\nmax_wal_size = 4GB\n");
gpb_compare_function($primary);
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8, note int);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
SQL
my $standby = gpb_standby($primary, settings => "hot_standby_feedback = on\n");

# The standby's aggregate equals its own sequential scan and the primary's answer.
sub same_answers
{
	my ($what) = @_;

	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	for my $range ([ -1, 10_000_000 ], [ 3000, 7777 ], [ 20_000, 20_100 ])
	{
		my $call = "SELECT compare_range('t', $range->[0], $range->[1])";
		my ($status, $out, $err) = $standby->psql('postgres', $call);

		is($status, 0, "$what: the standby's two answers are equal") or diag($err);
		is($out, $primary->safe_psql('postgres', $call), "$what: and the primary's");
	}
	is($standby->safe_psql('postgres', <<'SQL'), 'host device', "$what: a batch of keys gives what a join does");
SET gpubtree.enable_batchjoin = off;
SELECT CASE WHEN (matches, sum) IS NOT DISTINCT FROM (n, s) AND fallbacks = 0 THEN engine ELSE p::text END
FROM (SELECT array_agg(i * 7 % 31000) AS wanted FROM generate_series(1::bigint, 5000) i) x,
	gpubtree_probe('t_k', wanted, 'device') p,
	LATERAL (SELECT count(*), sum(v) FROM unnest(wanted) u (k) JOIN t USING (k)) j (n, s)
SQL
	return;
}

my @steps = (
	[ 'ascending inserts', 'INSERT INTO t SELECT i, i, i FROM generate_series(1, 20000) i' ],
	[   'scattered inserts and splits',
		'INSERT INTO t SELECT (i * 7919::bigint) % 30011, i, i FROM generate_series(1, 20000) i' ],
	[ 'deletes', 'DELETE FROM t WHERE k % 3 = 0' ],
	[ 'dead hints',    'SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT sum(note) FROM t WHERE k > 0; SELECT sum(note) FROM t WHERE k > 0' ],
	[ 'vacuum',        'VACUUM t' ],
	[ 'updates',       'UPDATE t SET v = v + 1 WHERE k % 5 = 1' ],
	[ 'HOT updates',   'UPDATE t SET note = 1 WHERE k < 500' ],
	[ 'NULL keys',     'INSERT INTO t SELECT NULL, i, i FROM generate_series(1, 3000) i' ],
	[ 'an aborted transaction', 'BEGIN; INSERT INTO t SELECT i, i, i FROM generate_series(1, 5000) i; ROLLBACK' ],
	[ 'vacuum again',  'VACUUM t' ],
	[ 'reindex',       'REINDEX INDEX t_k' ],
	[ 'inserts after the reindex', 'INSERT INTO t SELECT i * 3, i, i FROM generate_series(1, 3000) i' ],
	[ 'truncate and refill', 'TRUNCATE t; INSERT INTO t SELECT i, i, i FROM generate_series(1, 25000) i' ],
);
gpb_wait_for_service($standby);
for my $step (@steps)
{
	$primary->safe_psql('postgres', $step->[1]);
	same_answers($step->[0]);
}
like(
	gpb_engine($standby, 'SELECT sum(v) FROM t WHERE k > 100', 'aggregate'),
	qr/host/, 'the standby answers through its mirror');
my $mirror = $standby->safe_psql('postgres', 'SELECT state, blocks > 10 FROM gpubtree_mirrors');
like($mirror, qr/\|t$/, "the standby has a mirror ($mirror)");

# After the standby's restart its mirror is rebuilt.
$standby->restart;
gpb_wait_for_service($standby);
same_answers('after the standby restarted');

# While replay goes on, each comparison is made in one snapshot.
my $load = gpb_start_pgbench($primary, <<'SQL', '-c', '2');
\set a random(1, 40000)
INSERT INTO t SELECT :a + i, i, i FROM generate_series(1, 50) i;
DELETE FROM t WHERE k BETWEEN :a - 20 AND :a + 20;
SQL
$standby->pgbench(
	'-n -c 2 -t 60 --random-seed=' . gpb_seed(), 0,
	[qr/processed: 120\/120/], [qr/^pgbench: setting random seed to \d+$/],
	'the standby answers while it replays',
	{   'read_standby' => <<'SQL' });
\set a random(1, 40000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_range('t', :a, :a + 5000);
COMMIT;
SQL
ok(gpb_end_pgbench($load), 'writers on the primary had no error');
same_answers('after the load');

$standby->promote;
$standby->safe_psql('postgres', <<'SQL');
INSERT INTO t SELECT (i * 31::bigint) % 40009, i, i FROM generate_series(1, 10000) i;
DELETE FROM t WHERE k BETWEEN 100 AND 2000;
VACUUM t;
SQL
my ($status, $out, $err) =
  $standby->psql('postgres', "SELECT compare_range('t', -1, 1000000), gpubtree_check('t_k', true)");
is($status, 0, 'promoted: answers are equal and the index is sound') or diag($err);
like(gpb_engine($standby, 'SELECT sum(v) FROM t WHERE k > 100', 'aggregate'),
	qr/host/, 'promoted: still through the mirror');
unlike(slurp_file($standby->logfile), qr/inconsistent page/, 'no page was replayed differently');

done_testing();
