# A batch of ranges or keys gives what a join gives in the same snapshot: aggregated, listed, or
# listed for visits to the heap; by the CPU, with leaves looked up in the tree or known from
# elsewhere, however old, and by a device; in little memory; beside writers and VACUUM.
#
# Guards: the walk's active ranges, portions and full lists; rule M7 for leaves that were split
# since; rules M4 to M6 for the device's chunks and what they leave over.
#
# GPB_TRANSACTIONS	number of transactions of each client beside writers (default 100)
use GpubtreeTest;
use GpubtreeLimits;

my $device = ($ENV{GPB_CUDA} // 'no') eq 'yes' ? 'auto' : 'host';
my $node = gpb_node('main', small_chunks => 1, settings => <<CONF);
autovacuum = off
gpubtree.device = '$device'
max_connections = 30
CONF
my $seed = gpb_seed();
my $transactions = $ENV{GPB_TRANSACTIONS} // 100;

# compare_batch() runs a batch over t in each mode and raises an error if a hash join of the ranges'
# keys and the table gives anything else; returns the number of entries.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;
CREATE FUNCTION compare_batch(key_type text, lo bigint[], hi bigint[], modes text[]) RETURNS bigint
LANGUAGE plpgsql SET enable_indexscan = off SET enable_indexonlyscan = off
SET enable_bitmapscan = off SET enable_material = off SET gpubtree.enable_batchjoin = off AS $$
DECLARE
	mode text;
	wanted text;
	different bigint;
	entries bigint;
BEGIN
	CREATE TEMP TABLE entry AS
		SELECT n::int AS n, t.k::bigint AS k, t.v::bigint AS v, t.ctid AS tid
		FROM unnest(lo, hi) WITH ORDINALITY r (lo, hi, n)
			CROSS JOIN generate_series(r.lo, coalesce(r.hi, r.lo)) key JOIN t ON t.k = key;
	FOREACH mode IN ARRAY modes LOOP
		wanted := CASE
			WHEN mode LIKE 'aggregate%' THEN 'SELECT i, NULL::bigint, sum(v)::bigint, count(e.n), NULL::tid
				FROM generate_series(1, cardinality($1)) i LEFT JOIN entry e ON e.n = i GROUP BY i'
			WHEN mode LIKE 'list%' THEN 'SELECT n, k, v, 1::bigint, NULL::tid FROM entry'
			ELSE 'SELECT n, k, v, 1::bigint, tid FROM entry' END;
		EXECUTE format('SELECT count(*) FROM (
				SELECT n, k, v, entries, tid FROM (
					SELECT 1 AS side, * FROM gpubtree_test_batch(''t_k'', $1::%1$s[], $2::%1$s[], $3)
						AS got (n, k, v, entries, tid)
					UNION ALL SELECT -1, * FROM (%2$s) AS want) AS both_sides
				GROUP BY n, k, v, entries, tid HAVING sum(side) <> 0) d', key_type, wanted)
			INTO different USING lo, hi, mode;
		IF different > 0 THEN
			RAISE EXCEPTION 'a batch differs from the join in % rows: % % % %', different, key_type, mode, lo, hi;
		END IF;
	END LOOP;
	SELECT count(*) INTO entries FROM entry;
	DROP TABLE entry;
	RETURN entries;
END $$;

-- ranges of all lengths, some empty, many overlapping; hi null: keys
CREATE FUNCTION random_ranges(n int, width int, OUT lo bigint[], OUT hi bigint[]) LANGUAGE sql AS $$
	SELECT array_agg(a), CASE WHEN width > 0 THEN
		array_agg(a + CASE (random() * 5)::int WHEN 0 THEN -1 WHEN 1 THEN 0
			WHEN 2 THEN width * 20 ELSE (random() * width)::bigint END) END
	FROM (SELECT (random() * 5200)::bigint - 100 AS a FROM generate_series(1, n)) x
$$;
SQL

sub prepare
{
	my ($type, $options) = @_;
	$node->safe_psql('postgres', <<SQL);
SELECT setseed(0.5);
DROP TABLE IF EXISTS t;
CREATE TABLE t (k $type, v int, note int) WITH (fillfactor = 70);
CREATE INDEX t_k ON t USING gpubtree (k $options) INCLUDE (v);
INSERT INTO t SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE (random() * 5000)::int END,
	nullif(i % 100, 3) FROM generate_series(1, 6000) i;
INSERT INTO t SELECT 2500, i FROM generate_series(1, 1000) i;
SQL
	return;
}

# Every mode is compared over tables that were vacuumed, changed in part since, and have dead hints.
my @modes;
for my $mode ('aggregate', 'list', 'rows')
{
	push @modes, "$mode$_" for ('', ' old', ' first', ' last', ' no', ' device');
}
gpb_wait_for_service($node);
for my $kind (['bigint', 'ASC'], ['int', 'DESC'], ['smallint', 'NULLS FIRST'])
{
	prepare(@$kind);
	for my $state ('new', 'vacuumed', 'changed')
	{
		$node->safe_psql('postgres', 'VACUUM t') if $state eq 'vacuumed';
		$node->safe_psql('postgres', <<'SQL') if $state eq 'changed';
DELETE FROM t WHERE k BETWEEN 1000 AND 1200;
UPDATE t SET k = k + 1 WHERE k BETWEEN 3000 AND 3400;
UPDATE t SET note = 1 WHERE k BETWEEN 4000 AND 4100;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(v) FROM t WHERE k BETWEEN 900 AND 3500;
SQL
		for my $memory ('64kB', '4MB')
		{
			my $sql = gpb_setseed() . "SET work_mem = '$memory';\n";
			for my $shape ('0, 0', '20, 0', '300, 0', '1, 50', '100, 5', '40, 300')
			{
				$sql .= "SELECT compare_batch('$kind->[0]', r.lo, r.hi, '{" . join(',', @modes)
				  . "}') FROM random_ranges($shape) r WHERE r.lo IS NOT NULL;\n";
			}
			my ($status, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 1);
			my $entries = 0;
			$entries += $_ for grep { /^\d+$/ } split /\n/, $out;
			is($err, '', "@$kind, $state, $memory: every batch equals the join");
			cmp_ok($entries, '>', 10000, "@$kind, $state, $memory: $entries entries compared");
		}
	}
}

# In a serializable transaction an index scan answers all modes.
{
	my ($status, $out, $err) = $node->psql('postgres', join("\n",
		"SELECT setseed(0.1);",
		"SET default_transaction_isolation = 'serializable';",
		"SELECT compare_batch('smallint', r.lo, r.hi, '{aggregate,list,rows,aggregate device}')",
		"FROM random_ranges(50, 20) r;"));
	is($err, '', 'serializable: every batch equals the join');
}

# Leaves are split, emptied and filled again between the look-up and the walk.
prepare('bigint', 'ASC');
$node->safe_psql('postgres', 'VACUUM t');
my $expected = $node->safe_psql('postgres',
	"SELECT count(*), sum(v) FROM t WHERE k BETWEEN 0 AND 4000");
my $reader = $node->background_psql('postgres');
my $holder = gpb_holder($node);
$reader->query_safe("SET gpubtree.hold_point = 'batch-leaves-known'");
$reader->query_until(qr/asked/, <<'SQL');
\echo asked
SELECT sum(entries), sum(v) FROM gpubtree_test_batch('t_k',
	(SELECT array_agg(i * 20) FROM generate_series(0, 199) i)::bigint[] || 4000::bigint,
	(SELECT array_agg(i * 20 + 19) FROM generate_series(0, 199) i)::bigint[] || 4000::bigint, 'aggregate old');
\echo answered
SQL
gpb_wait_for_hold($node);
$node->safe_psql('postgres', <<'SQL');
INSERT INTO t SELECT i % 5000, 1 FROM generate_series(1, 60000) i;
DELETE FROM t WHERE k BETWEEN 500 AND 1500;
SQL
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
my $answer = $reader->query_until(qr/answered/, "\n");
like($answer, qr/^\Q$expected\E$/m, 'leaves that were split since: the answer is the snapshot\'s');
$reader->quit;
$holder->quit;

# Four clients compare batches with the join, write and vacuum.
prepare('bigint', 'ASC');
$node->safe_psql('postgres', 'CREATE TABLE compared (n bigint)');
$node->pgbench(
	"-n -c 4 -t $transactions --random-seed=$seed", 0,
	[qr/processed: (\d+)\/\1/], [qr/^pgbench: setting random seed to \d+$/],
	'beside writers: every batch equals the join',
	{   gpb_writers(5000),
		'compare@40' => <<'SQL' });
\set shape random(0, 2)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_batch('bigint', r.lo, r.hi,
	'{aggregate,list,rows,aggregate old,list old,aggregate device,list device,rows device}')
FROM random_ranges(30, (:shape * :shape * 20)::int) r;
COMMIT;
INSERT INTO compared VALUES (1);
SQL
my $compared = $node->safe_psql('postgres', 'SELECT count(*) FROM compared');
cmp_ok($compared, '>=', 1.2 * $transactions, "beside writers: $compared comparisons were made");
my ($ranges, $failed) = split /\|/,
  $node->safe_psql('postgres', 'SELECT keys + ranges, failed_over FROM gpubtree_batches');
cmp_ok($ranges, '>', 35000 + 60 * $transactions, "the device was sent $ranges keys and ranges");
is($failed, '0', 'and no request failed');

done_testing();
