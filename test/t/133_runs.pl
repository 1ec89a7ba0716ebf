# Leaves with runs: inserts, deletions of all kinds, VACUUM, builds and crashes leave an index that
# gpubtree_check finds sound and that answers as the table does; a standby replays each change to the
# same bytes (wal_consistency_checking), and answers likewise.
#
# GPB_STEPS	number of changes (default 12: each kind once)
# GPB_ROWS	number of rows at first (default 5000)
use GpubtreeTest;
use List::Util qw(shuffle);

gpb_seed();
my $steps = $ENV{GPB_STEPS} // 12;
my $rows = $ENV{GPB_ROWS} // 5000;

# Indexes of each width of keys, with few and many rows to a key; one that has no runs besides.
my %indexes = (
	t_int => '(i)',
	t_bigint => '(b DESC)',
	t_uuid => '(u)',
	t_nulls => '(i NULLS FIRST) WHERE b > 100',
	t_columns => '(i, b)',
	t_plain => '(i) WITH (deduplicate_items = off)');
my @queries = (
	'SELECT count(*) FROM t WHERE i BETWEEN $lo AND $hi',
	'SELECT count(i), sum(i), min(i), max(i) FROM t WHERE i >= $lo',
	'SELECT count(*) FROM t WHERE i IS NULL',
	'SELECT count(*), sum(b), min(b), max(b) FROM t WHERE b BETWEEN $lo AND $hi * 10',
	'SELECT count(*) FROM t WHERE u > md5(\'$lo\')::uuid',
	'SELECT sum(hashint8(hashtext(u::text) * n)) FROM (SELECT u, count(*) n FROM t WHERE u < md5(\'$lo\')::uuid GROUP BY u) q',
	'SELECT count(*), sum(b) FROM t WHERE i = $lo AND b > $hi',
	'SELECT sum(hashint8(i * n)) FROM (SELECT i, count(*) n FROM t WHERE i > $lo GROUP BY i) q',
	'SELECT md5(string_agg(b::text, \',\' ORDER BY b)) FROM (SELECT b FROM t WHERE b > $hi ORDER BY b DESC LIMIT 3000) q',
	'SELECT md5(string_agg(i::text || ctid::text, \',\')) FROM (SELECT i, ctid FROM t WHERE i < $hi ORDER BY i, ctid) q',
	'SELECT count(*) FROM t o WHERE b < $lo AND EXISTS (SELECT 1 FROM t n WHERE n.i = o.b)');

my $primary = gpb_node(
	'primary',
	allows_streaming => 1,
	settings => <<'CONF');
wal_consistency_checking = 'gpubtree'
autovacuum = off
max_wal_size = 4GB
max_parallel_workers_per_gather = 0
CONF
$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION pageinspect;
CREATE TABLE t (i int, b bigint, u uuid, note int DEFAULT 0);
CREATE FUNCTION ways(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	way text;
	expected text;
	answer text;
BEGIN
	FOREACH way IN ARRAY ARRAY['seqscan', 'indexscan', 'bitmapscan', 'indexonlyscan', 'cpu', 'device'] LOOP
		PERFORM set_config('enable_seqscan', (way = 'seqscan')::text, true);
		PERFORM set_config('enable_indexscan', (way IN ('indexscan', 'indexonlyscan'))::text, true);
		PERFORM set_config('enable_bitmapscan', (way = 'bitmapscan')::text, true);
		PERFORM set_config('enable_indexonlyscan', (way IN ('indexonlyscan', 'cpu', 'device'))::text, true);
		PERFORM set_config('gpubtree.enable_aggregate', (way IN ('cpu', 'device'))::text, true);
		PERFORM set_config('gpubtree.enable_device', (way = 'device')::text, true);
		PERFORM set_config('gpubtree.setup_cost', '0', true);
		PERFORM set_config('gpubtree.batch_setup_cost', '0', true);
		EXECUTE 'SELECT q::text FROM (' || query || ') q' INTO answer;
		expected := coalesce(expected, answer);
		IF answer IS DISTINCT FROM expected THEN
			RAISE EXCEPTION '% gives %, a sequential scan %', way, answer, expected;
		END IF;
	END LOOP;
	RETURN expected;
END $$;
-- leaves, and those of them that have runs
CREATE FUNCTION leaves(index regclass, OUT leaves int, OUT runs int) LANGUAGE sql AS $$
	SELECT count(*), count(*) FILTER (WHERE 'runs' = ANY (flags))
	FROM generate_series(1, pg_relation_size(index) / 8192 - 1) block,
		gpubtree_page_stats(index, block)
	WHERE type IN ('leaf', 'root') AND level = 0 $$;
SQL
$primary->safe_psql('postgres', "CREATE INDEX $_ ON t USING gpubtree $indexes{$_}") for sort keys %indexes;
my $standby = gpb_standby($primary);

sub row_values
{
	my ($keys) = @_;
	return "CASE WHEN random() < 0.03 THEN NULL ELSE (random() * $keys)::int END, "
	  . "(random() * $keys * 8)::int, md5((random() * $keys)::int::text)::uuid";
}

my @changes = (
	sub { my $n = 1000 + int(rand(5000)); my $k = (3, 50, 400, 3000)[ int(rand(4)) ];
		return "INSERT INTO t (i, b, u) SELECT " . row_values($k) . " FROM generate_series(1, $n)" },
	sub { my $n = 500 + int(rand(2000)); my $k = int(rand(300));
		return "INSERT INTO t (i, b, u) SELECT $k, $k, md5('$k')::uuid FROM generate_series(1, $n)" },
	sub { my $n = 300 + int(rand(1500));
		return "INSERT INTO t (i, b, u) SELECT n, n, md5(n::text)::uuid FROM generate_series(1, $n) n" },
	sub { return 'DELETE FROM t WHERE random() < ' . (0.05 + rand(0.3)) },
	sub { my $k = int(rand(300)); return "DELETE FROM t WHERE i = $k OR b = $k" },
	sub { return "UPDATE t SET note = note + 1 WHERE random() < 0.2" },
	sub { return "UPDATE t SET i = (random() * 200)::int WHERE random() < 0.1" },
	sub { return "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;"
		. " SET gpubtree.enable_aggregate = off; SELECT sum(note) FROM t WHERE i > 0; SELECT sum(note) FROM t WHERE b > 0" },
	sub { return 'VACUUM t' },
	sub { return 'VACUUM t' },
	sub { return 'REINDEX INDEX ' . (sort keys %indexes)[ int(rand(scalar keys %indexes)) ] },
	sub { return 'BEGIN; INSERT INTO t (i, b, u) SELECT ' . row_values(40)
		. ' FROM generate_series(1, 3000); ROLLBACK' });

sub compare
{
	my ($what) = @_;
	my $lo = int(rand(200));
	my $hi = $lo + int(rand(200));
	my @asked = map { my $q = $_; $q =~ s/\$lo/$lo/g; $q =~ s/\$hi/$hi/g; $q } @queries;
	my $sql = join(";\n", (map { "SELECT gpubtree_check('$_')" } sort keys %indexes),
		map { "SELECT ways(\$q\$$_\$q\$)" } @asked);
	my ($status, $out, $err) = $primary->psql('postgres', $sql, on_error_stop => 1);
	is($status, 0, "$what: sound, and all ways give the same") or diag($err);
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	my $there;
	($status, $there, $err) = $standby->psql('postgres', $sql, on_error_stop => 1);
	is($status, 0, "$what: so on the standby") or diag($err);
	is($there, $out, "$what: and both give the same");
	return;
}

$primary->safe_psql('postgres', gpb_setseed() . "INSERT INTO t (i, b, u) SELECT " . row_values(200)
	. " FROM generate_series(1, $rows)");
compare('first rows');
# Each kind of change comes, in random order, before any comes again.
my @order;
for my $step (1 .. $steps)
{
	@order = shuffle(@changes) if !@order;
	my $change = shift(@order)->();

	$primary->safe_psql('postgres', gpb_setseed() . $change);
	note("step $step: $change");
	if ($step % 6 == 0)
	{
		$primary->stop('immediate');
		$primary->start;
		gpb_wait_for_service($primary);
	}
	compare("step $step");
}
my $log = slurp_file($standby->logfile);
unlike($log, qr/PANIC|inconsistent page/, 'the standby found no page different');

$primary->safe_psql('postgres', gpb_setseed() . "INSERT INTO t (i, b, u) SELECT " . row_values(60)
	. " FROM generate_series(1, 2 * $rows)");
for my $index (sort keys %indexes)
{
	my ($leaves, $runs) = split(/\|/, $primary->safe_psql('postgres', "SELECT * FROM leaves('$index')"));

	# few rows share both columns
	my $least = $index eq 't_columns' ? 0 : $leaves / 2;

	ok($index eq 't_plain' ? $runs == 0 : $runs > $least, "$index: $runs of $leaves leaves have runs");
}
# The parameter counts for later changes alone.
$primary->safe_psql('postgres', 'ALTER INDEX t_int SET (deduplicate_items = off)');
compare('switched off');
$primary->safe_psql('postgres', 'REINDEX INDEX t_int');
is($primary->safe_psql('postgres', "SELECT runs FROM leaves('t_int')"), 0, 'a build makes none then');
$primary->safe_psql('postgres', 'ALTER INDEX t_int RESET (deduplicate_items); REINDEX INDEX t_int');
cmp_ok($primary->safe_psql('postgres', "SELECT runs FROM leaves('t_int')"), '>', 0, 'and does so again');
compare('switched on');
$standby->promote;
$standby->safe_psql('postgres', gpb_setseed() . "INSERT INTO t (i, b, u) SELECT " . row_values(200)
	. " FROM generate_series(1, $rows / 2)");
is($standby->safe_psql('postgres', join(';', map { "SELECT gpubtree_check('$_')" } sort keys %indexes)),
	join("\n", map { '' } sort keys %indexes), 'the promoted standby goes on');
done_testing();
