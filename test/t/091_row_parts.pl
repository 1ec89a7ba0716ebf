# Rows that come out in parts are those of one snapshot, each once, however long the reader waits
# between two of them: cursors that are read row by row, left in the middle, or read to their end,
# while others insert, delete and move rows, leaves split, and VACUUM runs; the CPU engine alone, one
# that hands over to a device, and core's scan of the index below SERIALIZABLE.  A query with LIMIT
# returns as many rows as there are, each of them a row of the whole.
#
# Guards: batch_early.c, gpb_walk_rest(), list_rows.c, scan_exec.c.
#
# GPB_TRANSACTIONS	number of transactions of each client in a round (default 25)
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 3, devices => [ 'host', 'off' ], settings => "timezone = 'UTC'\n");
my $node = $random->node;
my $transactions = $ENV{GPB_TRANSACTIONS} // 25;

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE busy (k int8, v int, g int2, u text) WITH (fillfactor = 80);
CREATE INDEX busy_k ON busy USING gpubtree (k) INCLUDE (v, g);
INSERT INTO busy SELECT i / 2, i % 1000, i % 7, 'u' || i FROM generate_series(1, 40000) i;
INSERT INTO busy SELECT NULL, i % 1000, i % 7, 'u' || i FROM generate_series(1, 5000) i;
VACUUM ANALYZE busy;

CREATE FUNCTION use_nodes(ours boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	setting text;
BEGIN
	PERFORM set_config('gpubtree.enabled', CASE WHEN ours THEN 'on' ELSE 'off' END, true);
	PERFORM set_config('gpubtree.enable_scan', 'on', true);
	FOREACH setting IN ARRAY ARRAY['enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan'] LOOP
		PERFORM set_config(setting, CASE WHEN ours THEN 'off' ELSE 'on' END, true);
	END LOOP;
END $$;

-- Read up to "most" rows by a cursor, waiting now and then.  Returns the number of rows and a digest.
CREATE FUNCTION read_rows(query text, most int, OUT n int, OUT lines text[]) LANGUAGE plpgsql AS $$
DECLARE
	cursor refcursor;
	line record;
BEGIN
	n := 0;
	lines := '{}';
	OPEN cursor NO SCROLL FOR EXECUTE query;
	WHILE n < most LOOP
		FETCH cursor INTO line;
		EXIT WHEN NOT FOUND;
		n := n + 1;
		lines := lines || line::text;
		IF random() < 20.0 / most THEN
			PERFORM pg_sleep(0.003);
		END IF;
	END LOOP;
	CLOSE cursor;
END $$;

-- Compare some of the query's rows, by a cursor, with all of them by core's plan.  LIMIT, if given,
-- says how many there are.
CREATE FUNCTION compare_parts(query text, most int, row_limit int DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	ours record;
	all_rows text[];
	wrong text;
BEGIN
	PERFORM use_nodes(true);
	ours := read_rows(query || coalesce(' LIMIT ' || row_limit, ''), most);
	PERFORM use_nodes(false);
	EXECUTE format('SELECT coalesce(array_agg(q::text), ''{}'') FROM (%s) q', query) INTO all_rows;
	IF ours.n <> least(most, row_limit, cardinality(all_rows)) THEN
		RAISE '%: % rows of %, of which % were wanted', query, ours.n, cardinality(all_rows), most;
	END IF;
	SELECT string_agg(l, ' ') INTO wrong FROM (SELECT unnest(ours.lines) EXCEPT ALL SELECT unnest(all_rows)) x(l);
	IF wrong IS NOT NULL THEN
		RAISE '%: rows that should not be: %', query, left(wrong, 300);
	END IF;
END $$;
SQL

# The node comes to be used, and hands over to a device that pays.
sub check_plans
{
	my ($device) = @_;
	my $plan = $node->safe_psql('postgres', <<'SQL');
SET client_min_messages = error;
SELECT use_nodes(true) \g /dev/null
BEGIN;
SELECT use_nodes(true) \g /dev/null
SET LOCAL gpubtree.batch_setup_cost = 0;
EXPLAIN (ANALYZE, COSTS OFF) SELECT k, v FROM busy WHERE k BETWEEN 10 AND 19000 AND v % 3 = 0;
EXPLAIN (ANALYZE, COSTS OFF) SELECT k, v FROM busy WHERE k BETWEEN 10 AND 19000 AND v % 3 = 0 LIMIT 5;
COMMIT;
SQL

	like($plan, $device eq 'off' ? qr/GpubtreeScan.*Engine: CPU.*Engine: CPU/s :
		  qr/GpubtreeScan.*Engine: (?i:$device).*Leaves Done by CPU: [1-9].*GpubtreeScan.*Engine: CPU/s,
		"device $device: the CPU begins, and a device that pays goes on");
	return;
}

sub beside_writers
{
	my ($device, $round) = @_;
	my %reader;

	foreach my $isolation ('REPEATABLE READ', 'SERIALIZABLE')
	{
		$reader{ "$device-$round-" . ($isolation eq 'SERIALIZABLE' ? "serializable\@5" : "parts\@45") } = <<"SQL";
\\set a random(0, 18000)
\\set w random(100, 20000)
\\set cost random(0, 1)
\\set n random(1, 9)
\\set m random(0, 1) * random(0, 40)
\\set most random(1, 3) * random(1, 200)
\\set all random(0, 2) * 100000
BEGIN ISOLATION LEVEL $isolation READ ONLY;
SET LOCAL gpubtree.batch_setup_cost = :cost;
SELECT compare_parts(format(\$\$SELECT k, v FROM busy WHERE k BETWEEN %s AND %s AND v %% %s = 0\$\$, :a, :a + :w, :n), :most + :all);
SELECT compare_parts(format(\$\$SELECT * FROM busy WHERE k > %s AND v %% %s = 0\$\$, :a, :n), :most);
SELECT compare_parts(format(\$\$SELECT k, v, g FROM busy WHERE (k < %s OR k > %s OR k IS NULL) AND v > %s\$\$, :w, :a + :w, :m), :most + :all);
SELECT compare_parts(format(\$\$SELECT u FROM busy WHERE g = %s AND v %% 3 = 1\$\$, :m % 7), :most + :all);
SELECT compare_parts(format(\$\$SELECT k, u FROM busy WHERE k = ANY (ARRAY(SELECT generate_series(%s, %s, %s))) AND v > %s\$\$, :a, :a + :w, :n, :m), :most);
SELECT compare_parts(format(\$\$SELECT k, v FROM busy WHERE v > %s\$\$, :m), 2 * :most, :most);
COMMIT;
SQL
	}
	$node->pgbench(
		"-n -c 4 -t $transactions --random-seed=" . ($random->seed + $round), 0,
		[qr/processed: (\d+)\/\1/], [qr/^pgbench: setting random seed to \d+$/],
		"device $device, round $round: parts of lists beside writers",
		{   %reader,
			"$device-$round-insert\@20" => <<'SQL',
\set a random(1, 20000)
INSERT INTO busy SELECT :a + i / 4, i, i % 7, 'new' FROM generate_series(1, 300) i;
SQL
			"$device-$round-delete\@15" => <<'SQL',
\set a random(1, 20000)
DELETE FROM busy WHERE k BETWEEN :a AND :a + 300;
SQL
			"$device-$round-move\@10" => <<'SQL',
\set a random(1, 20000)
UPDATE busy SET k = CASE WHEN v % 3 > 0 THEN k + 700 END, v = v + 1 WHERE k BETWEEN :a AND :a + 4;
SQL
			"$device-$round-touch\@10" => <<'SQL',
\set a random(1, 20000)
UPDATE busy SET u = u || '.' WHERE k BETWEEN :a AND :a + 20;
SQL
			"$device-$round-vacuum\@10" => 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) busy;' });
	return;
}

foreach my $device ($random->devices)
{
	$random->use_device($device, 'reload');
	check_plans($device);
	beside_writers($device, $_) foreach 1 .. $random->rounds;
}
$random->finish(0);
