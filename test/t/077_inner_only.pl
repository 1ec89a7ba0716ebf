# Mirrors of the inner nodes alone: of an index larger than what is allowed, or than the device's
# memory. Searches find their leaves there and the CPU finishes; everything else is answered
# without the mirror.
#
# Guards: rule M7 (old separators), which pages a refresh copies and when there is one, the change
# from one kind of mirror to the other and back, requests given back whatever happens.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', allows_streaming => 1, settings => <<'CONF');
# several segments of the changed map
gpubtree.segment_blocks = 1024
autovacuum = off
work_mem = 16MB
max_wal_size = 4GB
hot_standby_feedback = on
gpubtree.batch_slots = 8
gpubtree.max_mirror_size = 1MB
CONF
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;

-- Probe with n random keys and raise an error unless a join finds the same; to be called with a snapshot for
-- both.  Returns how many leaves the device found.
CREATE FUNCTION compare_probe(n int, most bigint, engine text) RETURNS bigint
LANGUAGE plpgsql SET enable_nestloop = off SET enable_indexscan = off SET enable_bitmapscan = off
SET enable_indexonlyscan = off SET max_parallel_workers_per_gather = 0 SET gpubtree.enable_aggregate = off
SET gpubtree.enable_batchjoin = off AS $$
DECLARE
	a bigint[] := (SELECT coalesce(array_agg((random() * most)::bigint), '{}') FROM generate_series(1, n));
	found record;
	expected record;
BEGIN
	SELECT count(*) AS matches, sum(t.v) AS sum INTO expected FROM unnest(a) x JOIN t ON t.k = x;
	SELECT * INTO found FROM gpubtree_probe('t_k', a, engine);
	IF (found.matches, found.sum) IS DISTINCT FROM (expected.matches, expected.sum) THEN
		RAISE EXCEPTION 'answers differ: batch %, join %', found, expected;
	END IF;
	IF found.device_keys + found.cpu_keys <> n THEN
		RAISE EXCEPTION 'keys are missing: %', found;
	END IF;
	RETURN found.device_keys;
END $$;

CREATE TABLE t (k bigint, v int, d float8);
INSERT INTO t SELECT i * 10, i % 1000, i FROM generate_series(1, 300000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE t');
gpb_wait_for_service($node);

sub value { $node->safe_psql('postgres', $_[0]) }

sub mirror
{
	my ($columns) = @_;

	return value("SELECT $columns FROM gpubtree_mirrors WHERE index = 't_k'::regclass AND state = 'ready'");
}

# Compare a probe with a join, in a snapshot of its own.
sub probe
{
	my ($name, $keys, $engine, $server) = @_;
	my ($status, $out, $err) = ($server // $node)->psql('postgres',
		gpb_setseed() . "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT compare_probe($keys, 4000000, '$engine'); COMMIT");

	is($status, 0, "$name: a probe finds what a join does") or diag($err);
	return $out;
}

my $count = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 1000 AND 2000000';

# ---- what there is, and what it serves ----

cmp_ok(value("SELECT gpubtree_refresh('t_k')"), '<', 10, 'the first refresh copies level 1 alone');
is(mirror('mode'), 'inner-only', 'the mirror says what it has');
my $leaves = mirror('leaves');
cmp_ok($leaves, '>', 700, 'all leaves are known');
cmp_ok(mirror('memory_bytes'), '<', 300_000, 'in little memory');
is(value(q{SELECT engine || ' ' || batches FROM gpubtree_probe('t_k', (SELECT array_agg(i) FROM generate_series(1, 100000::bigint) i), 'inner')}),
	'CPU, inner nodes on host device 7', 'the engine and its chunks are shown');
cmp_ok(probe('inner', 60000, 'inner'), '>', 0, 'the device finds leaves');
cmp_ok(probe('auto', 60000, 'auto'), '>', 0, 'auto chooses it');
is(probe('auto, few keys', 100, 'auto'), '0', 'but not for few keys');
is(probe('cpu', 60000, 'cpu'), '0', 'cpu does without');
cmp_ok(probe('few keys', 7, 'inner'), '>', 0, 'a small batch');
is(probe('no keys', 0, 'inner'), '0', 'an empty one');
unlike(gpb_engine($node, $count, 'aggregate'), qr/host/, 'an aggregate is the CPU\'s');
is(value("SELECT compare_range('t', 5, 2000000) IS NOT NULL"), 't', 'and right');
is(mirror('mode'), 'inner-only', 'which leaves the mirror as it is');
is(value("SELECT gpubtree_test_refused('t_k')"), 't', 'the service refuses what needs leaf images');
is(value("SELECT median_us > 0 FROM gpubtree_test_request_timing('t_k', 3000, 2)"), 't', 'and takes searches');
gpb_all_is_free($node, 'at first');

# Ranges, lists, and lists in parts are compared; between parts the batch gives its requests back.
is(value(<<'SQL'), '0', 'ranges and lists in parts are those of the tree');
SET work_mem = '64kB';
CREATE TEMP TABLE r AS SELECT array_agg(i * 53 % 2900000) AS lo, array_agg(i * 53 % 2900000 + i % 300) AS hi
	FROM generate_series(1::bigint, 40000) i;
SELECT sum(n) FROM unnest('{aggregate,list,rows}'::text[]) m, r, LATERAL (
	SELECT count(*) AS n FROM (
		(SELECT * FROM gpubtree_test_batch('t_k', lo, hi, m || ' inner') EXCEPT ALL SELECT * FROM gpubtree_test_batch('t_k', lo, hi, m))
		UNION ALL
		(SELECT * FROM gpubtree_test_batch('t_k', lo, hi, m) EXCEPT ALL SELECT * FROM gpubtree_test_batch('t_k', lo, hi, m || ' inner'))) d) x
SQL

# ---- refreshes ----

my $refreshes = mirror('refreshes');
is(value("SELECT gpubtree_refresh('t_k')"), '1', 'with nothing changed the metapage is copied');
$node->safe_psql('postgres', 'INSERT INTO t VALUES (15, 1, 1), (1000005, 1, 1)');
is(value("SELECT gpubtree_refresh('t_k')"), '1', 'leaves that change are not level 1\'s concern');
# Rows come in below one page of level 1, in the middle of the index.
$node->safe_psql('postgres', 'INSERT INTO t SELECT 1000000 + i % 1000, i, i FROM generate_series(1, 3000) i');
$refreshes = mirror('refreshes');
my $right = value(q{SELECT right_moves FROM gpubtree_probe('t_k', (SELECT array_agg(1000000::bigint + i) FROM generate_series(1, 10) i), 'inner')});
is(mirror('refreshes'), $refreshes, 'old separators alone are no reason for a refresh');
cmp_ok($right, '>', 0, 'right links are followed instead');
probe('old separators', 60000, 'inner');
is(value("SELECT gpubtree_refresh('t_k')"), '2', 'a refresh copies the one page of level 1 that changed');
$leaves = mirror('leaves');

# Steps to the right without a split are natural, and no reason for a refresh.
$refreshes = mirror('refreshes');
value("SELECT gpubtree_probe('t_k', (SELECT array_agg(i * 10) FROM generate_series(1, 290000::bigint) i), 'inner')");
cmp_ok(mirror('stale_moves'), '>', 20, 'keys that begin a leaf are looked for to the left of it');
is(mirror('refreshes'), $refreshes, 'which no refresh would help');

# Pages split all over the index, of level 1 too: searches pay for it until a refresh is cheaper.
$node->safe_psql('postgres', gpb_setseed() . 'INSERT INTO t SELECT (random() * 3000000)::bigint, i, i FROM generate_series(1, 400000) i');
probe('many splits', 100000, 'inner') for (1 .. 2);
is(mirror('refreshes'), $refreshes + 1, 'one refresh came of itself');
cmp_ok(mirror('leaves'), '>', $leaves * 3 / 2, 'and the new leaves are known');
# Pages that lie far apart in the index lie together on the device, in one table of 1,024 images,
# which takes 16 kB.
is(mirror('blocks > 2048 AND memory_bytes < leaves * 24 + (blocks - leaves) * 8192 + 20000'), 't',
	'there is room on the device for pages of level 1 alone');
$node->safe_psql('postgres', "SELECT gpubtree_refresh('t_k')");
$leaves = mirror('leaves');

# ---- larger and smaller limits ----

# Each session looks at the setting, so it is changed for all of them.
sub set_limit
{
	my ($limit) = @_;

	$node->append_conf('postgresql.conf', "gpubtree.max_mirror_size = $limit");
	$node->reload;
	$node->poll_query_until('postgres',
		"SELECT pg_size_bytes(current_setting('gpubtree.max_mirror_size')) = pg_size_bytes('$limit')");
}
set_limit('100MB');
cmp_ok(probe('allowed more', 50000, 'inner'), '>', 0, 'searches go on with the inner nodes');
is(mirror('mode'), 'inner-only', 'nobody has asked for more');
like(gpb_engine($node, $count, 'aggregate'), qr/host/, 'an aggregate makes a mirror of all pages');
is(mirror('mode'), 'full', 'which replaces the former');
is(mirror('leaves'), $leaves, 'the inner nodes had been complete');
cmp_ok(probe('all pages', 50000, 'inner'), '>', 0, 'searches use it as well');
is(value("SELECT gpubtree_test_refused('t_k')"), 'f', 'and the service answers what needs leaf images');
my $size = value("SELECT pg_relation_size('t_k') / 1024");
set_limit(($size + 64) . 'kB');
like(gpb_engine($node, $count, 'aggregate'), qr/host/, 'within the limit still');
$node->safe_psql('postgres', 'INSERT INTO t SELECT 3000000 + i, i, i FROM generate_series(1, 5000) i');
unlike(gpb_engine($node, $count, 'aggregate'), qr/host/, 'grown beyond it: the CPU');
is(value("SELECT count(*) FROM gpubtree_mirrors WHERE mode = 'full' AND state <> 'discarded'"), '0',
	'the memory is given back at once');
cmp_ok(probe('grown', 50000, 'inner'), '>', 0, 'searches get the inner nodes');
is(mirror('mode'), 'inner-only', 'and nothing else');
set_limit('0kB');
like(gpb_engine($node, $count, 'aggregate'), qr/host/, 'no limit: all pages again');
set_limit('1MB');

# ---- someone leaves in the middle; the service goes in the middle ----

my $holder = $node->background_psql('postgres');
my $probe = "SELECT matches FROM gpubtree_probe('t_k', (SELECT array_agg(i * 10) FROM generate_series(1, 200000::bigint) i), 'inner')";
my $matches = value($probe);

sub start_held
{
	my ($point, $sql) = @_;

	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	my $session = gpb_start($node, $sql, "application_name = 'held'", "gpubtree.hold_point = '$point'", "work_mem = '1MB'");
	gpb_wait_for_hold($node);
	return $session;
}

for my $point ('inner-before-wait', 'inner-leaves-known', 'batch-before-submit')
{
	for my $end ('pg_cancel_backend', 'pg_terminate_backend')
	{
		my $session = start_held($point, $probe);

		$node->safe_psql('postgres', "SELECT $end(pid) FROM pg_stat_activity WHERE application_name = 'held'");
		gpb_finish($session);
		like($session->{err}, qr/canceling statement|terminating connection/, "$point: $end reaches the batch");
		$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
		gpb_all_is_free($node, "$point, $end");
	}
	my $session = start_held($point, $probe);
	my $pid = gpb_service_pid($node);
	kill 'TERM', $pid;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM gpubtree_device WHERE pid = $pid") or die;
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	gpb_finish($session);
	is($session->{err}, '', "$point: the service's end is no error");
	is($session->{out}, $matches, "$point: and the CPU finishes the batch");
	gpb_wait_for_service($node);
	gpb_all_is_free($node, "$point, service");
	cmp_ok(probe("$point, service", 20000, 'inner'), '>', 0, "$point: the next one is as before");
}

# A refresh that is cancelled loses nothing.
$node->safe_psql('postgres', 'INSERT INTO t SELECT 500000 + i % 1000, i, i FROM generate_series(1, 3000) i');
for my $point ('refresh-before-copy', 'refresh-before-publish')
{
	my $session = start_held($point, "SELECT gpubtree_refresh('t_k')");

	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'held'");
	gpb_finish($session);
	like($session->{err}, qr/canceling statement/, "$point: a refresh is cancelled");
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
}
cmp_ok(value("SELECT gpubtree_refresh('t_k')"), '>', 1, 'what was in flight is copied again');

# The device has found leaves, and they are split before the CPU reads them.
$matches = value($probe);
my $session = start_held('inner-leaves-known', $probe);
$node->safe_psql('postgres', 'INSERT INTO t SELECT i * 10 + 5, i, i FROM generate_series(1, 200000) i');
$node->safe_psql('postgres', 'VACUUM t');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
gpb_finish($session);
is($session->{out}, $matches, 'leaves split after the device found them are walked to the right');

# Between two parts of a list nothing is held.
$session = start_held('batch-part-taken',
	"SELECT count(*) FROM gpubtree_test_batch('t_k', (SELECT array_agg(i * 10) FROM generate_series(1, 100000::bigint) i), NULL, 'list inner')");
is(value('SELECT slots - slots_free FROM gpubtree_batches'), '0', 'no request is held in the caller\'s turn');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
gpb_finish($session);
is($session->{err}, '', 'and the list goes on');
$holder->quit;

# ---- writers, refreshes, readers and a service that comes and goes ----

my $seconds = ($ENV{GPB_SECONDS} // 3) / 3;

my $writer = gpb_start_pgbench($node, <<'SQL', '-c', '2');
\set seed random(0, 1000000)
SELECT setseed(:seed / 1000000.0);
INSERT INTO t SELECT (random() * 4000000)::bigint, i, i FROM generate_series(1, 500) i;
SQL
my $refresher = gpb_start_pgbench($node, <<'SQL', '-c', '2');
SELECT gpubtree_refresh('t_k');
SQL
my $reader = gpb_start_pgbench($node, <<'SQL', '-c', '3');
\set n random(1, 40000)
\set seed random(0, 1000000)
SELECT setseed(:seed / 1000000.0);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_probe(:n, 4000000, 'inner');
COMMIT;
SQL
for (1 .. 2)
{
	sleep $seconds;
	gpb_wait_for_service($node);
	kill 'TERM', gpb_service_pid($node);
}
sleep $seconds;
ok(gpb_end_pgbench($_), 'answers are right beside writers and refreshes while the service restarts')
  for $writer, $refresher, $reader;
gpb_wait_for_service($node);
gpb_all_is_free($node, 'after the load');
$node->safe_psql('postgres', "SELECT gpubtree_refresh('t_k')");
$leaves = mirror('leaves');
is(value("SET gpubtree.max_mirror_size = 0; SELECT gpubtree_refresh('t_k') > 100"), 't', 'all pages');
is(mirror('leaves'), $leaves, 'the inner nodes had been complete');

# ---- a standby ----

my $standby = gpb_standby($node);
gpb_wait_for_service($standby);
cmp_ok(probe('standby', 50000, 'inner', $standby), '>', 0, 'a standby has a mirror of its own');
is($standby->safe_psql('postgres', 'SELECT mode FROM gpubtree_mirrors'), 'inner-only', 'of inner nodes');
$node->safe_psql('postgres', gpb_setseed() . 'INSERT INTO t SELECT (random() * 4000000)::bigint, i, i FROM generate_series(1, 200000) i');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
probe('standby, old separators', 50000, 'inner', $standby);
$standby->safe_psql('postgres', "SELECT gpubtree_refresh('t_k')");
$node->safe_psql('postgres', "SELECT gpubtree_refresh('t_k')");
is($standby->safe_psql('postgres', 'SELECT leaves FROM gpubtree_mirrors'), mirror('leaves'),
	'splits that are replayed mark level 1');
probe('standby, new separators', 50000, 'inner', $standby);
$standby->stop;
gpb_nothing_crashed($node);

# ---- memory ----

# The memory is exhausted before all pages are there, though the estimate said that they would fit.
$size = value("SELECT pg_relation_size('t_k') / 1024");
$node->append_conf('postgresql.conf', 'gpubtree.max_mirror_size = 0');
$node->append_conf('postgresql.conf', 'gpubtree.memory_limit = ' . ($size + 8) . 'kB');
$node->restart;
gpb_wait_for_service($node);
my $log = -s $node->logfile;
unlike(gpb_engine($node, $count, 'aggregate'), qr/host/, 'no memory for all pages');
like(slurp_file($node->logfile, $log), qr/no device memory for the mirror of index/, 'the log says so');
$log = -s $node->logfile;
cmp_ok(probe('memory exhausted', 50000, 'inner'), '>', 0, 'the inner nodes fit');
is(mirror('mode'), 'inner-only', 'and are mirrored');
unlike(gpb_engine($node, $count, 'aggregate'), qr/host/, 'it is not tried again at once');
unlike(slurp_file($node->logfile, $log), qr/no device memory/, 'nor logged');
like(value("SELECT gpubtree_refresh('t_k')"), qr/^\d+$/, 'when told to it is tried, and the inner nodes refreshed');
like(slurp_file($node->logfile, $log), qr/no device memory for the mirror of index/, 'in vain');

# An index that is far too large is not even tried.
$node->append_conf('postgresql.conf', "gpubtree.memory_limit = '4MB'");
$node->restart;
gpb_wait_for_service($node);
$log = -s $node->logfile;
unlike(gpb_engine($node, $count, 'aggregate'), qr/host/, 'far too large');
cmp_ok(probe('far too large', 50000, 'inner'), '>', 0, 'for all but the inner nodes');
unlike(slurp_file($node->logfile, $log), qr/no device memory/, 'which was plain from its size');

# The memory is exhausted while the tree over the separators is made.
for my $limit ('40kB', '80kB', '120kB')
{
	$node->append_conf('postgresql.conf', "gpubtree.memory_limit = '$limit'");
	$node->restart;
	gpb_wait_for_service($node);
	is(probe("$limit of memory", 50000, 'inner'), '0', "$limit: the CPU does it all");
	is(value("SELECT gpubtree_refresh('t_k') IS NULL"), 't', "$limit: there is no mirror");
	gpb_all_is_free($node, $limit);
}
like(slurp_file($node->logfile), qr/no device memory for the inner nodes of index/, 'the log says so');
$node->append_conf('postgresql.conf', "gpubtree.memory_limit = '1GB'");
$node->reload;
$node->poll_query_until('postgres',
	"SELECT count(*) > 0 FROM gpubtree_device WHERE status = 'ready' AND memory_limit > 1000000000") or die;
like(gpb_engine($node, $count, 'aggregate'), qr/host/, 'enough memory again: all pages');
is(mirror('mode'), 'full', 'are mirrored');

done_testing();
