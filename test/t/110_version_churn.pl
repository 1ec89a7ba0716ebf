# Updates that leave the key alone remove entries of versions that nobody sees any more, beside
# readers who see older ones: each answer of a repeatable-read transaction, by way of the mirror,
# of the CPU and of an index-only scan, equals a sequential scan's in the same snapshot and that of
# its first query.  The index stays small and sound.
#
# Guards: bottom-up deletion in index/delete.c; rules M2, M5, M6 and M11 beside it.
use GpubtreeTest;

my $seconds = $ENV{GPB_SECONDS} // 4;
my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
max_connections = 30
# updates lock rows in any order
deadlock_timeout = 50ms
CONF
gpb_compare_function($node);

# The sum of d is the same in all snapshots: an update moves a part of it to another row.
$node->safe_psql('postgres', gpb_setseed() . <<'SQL');
CREATE TABLE t (k bigint, v int, d int, id int) WITH (fillfactor = 80);
INSERT INTO t SELECT i / 2, 0, 100, i FROM generate_series(0, 9999) i ORDER BY random();
CREATE INDEX t_v ON t (v);
CREATE INDEX t_id ON t (id);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
VACUUM ANALYZE t;

CREATE FUNCTION index_only(lo bigint, hi bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('gpubtree.enabled', 'off', true);
	PERFORM set_config('enable_seqscan', 'off', true);
	PERFORM set_config('enable_bitmapscan', 'off', true);
	PERFORM set_config('enable_indexonlyscan', 'on', true);
	EXECUTE format('SELECT q::text FROM (%s) q', range_query('t', lo, hi)) INTO result;
	PERFORM set_config('gpubtree.enabled', 'on', true);
	RETURN result;
END $$;

-- All ways must have one answer, which may be known already.
CREATE FUNCTION compare(lo bigint, hi bigint, known text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	scanned text;
BEGIN
	PERFORM set_config('gpubtree.enable_device', (ARRAY['on', 'off'])[1 + random()::int], true);
	ours := compare_range('t', lo, hi);
	scanned := index_only(lo, hi);
	IF scanned <> ours THEN
		RAISE EXCEPTION 'answers differ in [%, %): %, index-only scan %', lo, hi, ours, scanned;
	END IF;
	IF known <> ours THEN
		RAISE EXCEPTION 'the snapshot''s answer changed in [%, %): from % to %', lo, hi, known, ours;
	END IF;
	RETURN ours;
END $$;
SQL

my $readers = gpb_start_pgbench($node, <<'SQL', '-c', 3);
\set lo random(-10, 5000)
\set hi :lo + random(1, 3000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT set_config('t.part', compare(:lo, :hi, NULL), true);
SELECT set_config('t.whole', compare(-1, 5001, NULL), true);
SELECT 1 / (CASE WHEN sum(d) = 1000000 AND count(*) = 10000 THEN 1 ELSE 0 END) FROM t WHERE k >= 0;
\sleep 30 ms
SELECT compare(:lo, :hi, current_setting('t.part'));
\sleep 30 ms
SELECT compare(-1, 5001, current_setting('t.whole'));
COMMIT;
SQL
my $checks = gpb_start_pgbench($node, <<'SQL', '-c', 1);
\set vacuum random(1, 10)
SELECT gpubtree_check('t_k', true);
\if :vacuum = 1
VACUUM t;
\endif
SQL
$node->pgbench(
	"-n -c 4 -T $seconds --max-tries=20 --random-seed=" . gpb_seed(), 0,
	[qr/number of failed transactions: 0/], [qr/^pgbench: setting random seed to \d+$/],
	'updates',
	{   'update@8' => <<'SQL',
\set id random(0, 9999)
\set n random(1, 80)
UPDATE t SET v = v + 1 WHERE id BETWEEN :id AND :id + :n;
SQL
		'move@3' => <<'SQL',
\set id random(0, 9998)
BEGIN;
UPDATE t SET v = v + 1, d = d - 1 WHERE id = :id;
UPDATE t SET v = v + 1, d = d + 1 WHERE id = :id + 1;
END;
SQL
		'roll-back@1' => <<'SQL',
\set id random(0, 9999)
BEGIN;
UPDATE t SET v = v + 1, d = 0 WHERE id BETWEEN :id AND :id + 50;
ROLLBACK;
SQL
		'key@1' => <<'SQL' });
\set id random(0, 9999)
UPDATE t SET k = (k + 2500) % 5000 WHERE id BETWEEN :id AND :id + 5;
SQL
ok(gpb_end_pgbench($readers), 'readers had one answer for each question');
ok(gpb_end_pgbench($checks), 'the index was sound all the while');
is($node->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)"), '', 'and in the end');

# Without readers of old snapshots the index keeps its size, though nobody vacuums.
$node->safe_psql('postgres', 'REINDEX INDEX t_k');
my $size = "SELECT pg_relation_size('t_k')";
my $before = $node->safe_psql('postgres', $size);
$node->safe_psql('postgres', 'UPDATE t SET v = v + 1') for 1 .. 8;
cmp_ok($node->safe_psql('postgres', $size), '<', 3 * $before, 'it is small');

# A snapshot that is held keeps all versions since, and its rows.
my $reader = $node->background_psql('postgres');
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $known = $reader->query_safe('SELECT compare(0, 5000, NULL)');
$node->safe_psql('postgres', 'UPDATE t SET v = v + 1, d = 0') for 1 .. 4;
is($reader->query_safe('SELECT compare(0, 5000, NULL)'), $known, 'an old snapshot sees its rows');
$reader->query_safe('COMMIT');
$reader->quit;
is($node->safe_psql('postgres', 'SELECT count(*), sum(d) FROM t WHERE k >= 0'), '10000|0', 'the newest rows');
is($node->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)"), '', 'the index is sound');

$node->stop;
done_testing();
