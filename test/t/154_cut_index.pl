# An index that is larger than each of several devices is cut into pieces by ranges of keys: every answer is
# the right one, beside writers and VACUUM, page deletions at the cut included, whatever becomes of a device,
# of the index and of the server meanwhile; and the devices give the answers.
#
# Guards: pieces.c, piece_images.c, batch_pieces.c; the marks of all mirrors of a file (M2).
#
# GPB_SECONDS	how long the mix runs at least (default 2)
use GpubtreeHold;
use GpubtreeMix;
use GpubtreeRandom;
use GpubtreeTest;

my $seconds = $ENV{GPB_SECONDS} // 2;
my $seed = gpb_seed();
my $rows = 75000;
my $node = gpb_node('main', allows_streaming => 1, settings => <<'CONF');
autovacuum = off
max_connections = 40
restart_after_crash = on
gpubtree.device = 'host, host, host'
gpubtree.memory_limit = '4MB'
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
gpubtree.enable_leaf_cache = off
max_parallel_workers_per_gather = 0
CONF

# compare() runs a query with our nodes and by core's sequential scan in the caller's snapshot, and raises an
# error that names both answers if they differ; it returns the answer.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION rows_by(query text, ours bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('gpubtree.enabled', ours::text, true);
	PERFORM set_config('enable_seqscan', (NOT ours)::text, true);
	PERFORM set_config('enable_hashjoin', (NOT ours)::text, true);
	PERFORM set_config('enable_mergejoin', (NOT ours)::text, true);
	PERFORM set_config('enable_bitmapscan', 'off', true);
	EXECUTE format('SELECT string_agg(q::text, '';'') FROM (%s) q', query) INTO result;
	RETURN result;
END $$;
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text := rows_by(query, true);
	theirs text := rows_by(query, false);
BEGIN
	IF ours IS DISTINCT FROM theirs THEN
		RAISE EXCEPTION 'answers differ: %: gpubtree %, sequential scan %', query, left(ours, 500), left(theirs, 500);
	END IF;
	RETURN coalesce(ours, 'none');
END $$;
CREATE TABLE asked (k bigint, width bigint);
SQL
mix_wide_table($node, $rows);
$node->safe_psql('postgres', "INSERT INTO asked SELECT (i * 7919::bigint) % ($rows + 100), i % 50 * 100 FROM generate_series(1, 400) i; VACUUM ANALYZE");

# Queries of all forms of ranges; A and B are keys, A the less.
my @queries = (
	'SELECT count(*), sum(v), min(v), max(v), sum(d), min(k), max(k) FROM t WHERE k >= A AND k < B',
	'SELECT count(*), sum(v + 1) FROM t WHERE k BETWEEN A AND B AND v > 300',
	'SELECT v % 10, count(*), sum(d), avg(v) FROM t WHERE k BETWEEN A AND B GROUP BY 1 ORDER BY 1',
	'SELECT count(*), sum(v) FROM t WHERE k = ANY ((SELECT array_agg(k + A % 7) FROM asked)::bigint[])',
	'SELECT count(*), sum(t.v) FROM asked JOIN t ON t.k = asked.k + B % 5',
	'SELECT asked.k, n, s FROM asked, LATERAL (SELECT count(*) n, sum(v) s FROM t WHERE t.k BETWEEN asked.k AND asked.k + width) r WHERE asked.k > A ORDER BY 1, 2',
	'SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY k), percentile_disc(0.9) WITHIN GROUP (ORDER BY k) FROM t WHERE k BETWEEN A AND B',
	'SELECT k, v, d FROM t WHERE k BETWEEN A AND B AND v % 97 = 3 ORDER BY k, v, d',
	'SELECT k FROM t WHERE k >= A ORDER BY k LIMIT 30',
	'SELECT k, count(*) FROM t WHERE k >= A AND v > 990 GROUP BY k ORDER BY k LIMIT 10');

# ---- helpers ----

sub value { return $node->safe_psql('postgres', $_[0]) }

sub wait_for_devices
{
	my ($in) = @_;

	$in->poll_query_until('postgres', "SELECT count(*) = 3 FROM gpubtree_device WHERE status = 'ready'")
	  or die 'there are not three devices';
}

sub random_query
{
	my ($a, $b) = sort { $a <=> $b } (between(-10, $rows + 10), between(-10, $rows + 10));

	return pick(@queries) =~ s/\bA\b/$a/gr =~ s/\bB\b/$b/gr;
}

# Run each query, or so many random ones, beside nobody
sub answers
{
	my ($name, $in, @asked) = @_;
	my ($status, $out, $err) = ($in // $node)->psql('postgres',
		join("\n", map { my $sql = $_ =~ s/'/''/gr; "SELECT compare('$sql') IS NULL;" } @asked));

	return is($status, 0, "$name: the right answers") || diag("seed $seed: $err");
}

sub all_queries
{
	my ($a, $b) = @_;

	return map { s/\bA\b/$a/gr =~ s/\bB\b/$b/gr } @queries;
}

# device mode, of each mirror of t_k, or of another index
sub mirrors
{
	my ($in, $index) = @_;

	$index //= 't_k';
	return ($in // $node)->safe_psql('postgres',
		"SELECT coalesce(string_agg(device || ' ' || mode, ', ' ORDER BY device), 'none') FROM gpubtree_mirrors WHERE index = '$index'::regclass AND state = 'ready'");
}

my $whole = 'SELECT count(*), sum(v), sum(d) FROM t WHERE k > 5';
my $explain = 'SET enable_seqscan = off; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)';

# The devices that a plan names, or CPU
sub engines { return $_[0] =~ /Engine: (.*)/ ? $1 =~ s/host device //gr : 'core' }

sub engine
{
	my ($in) = @_;
	my $plan = ($in // $node)->safe_psql('postgres', "$explain $whole");

	note($plan, ($in // $node)->safe_psql('postgres', 'SELECT ordinal, memory_used, status FROM gpubtree_device')) if $plan =~ /CPU$/m;
	return engines($plan);
}

sub pid_of { my ($device) = @_; return value("SELECT pid FROM gpubtree_device WHERE ordinal = $device") }

sub lose
{
	my ($device) = @_;
	my $pid = pid_of($device);

	kill('TERM', $pid) == 1 or die "no service $pid";
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM gpubtree_device WHERE pid = $pid")
	  or die 'the service did not exit';
}

sub set
{
	my ($name, $value) = @_;

	value("ALTER SYSTEM SET $name = $value");
	value('SELECT pg_reload_conf()');
}

# Let each device have so many kB.
sub set_memory
{
	my ($kilobytes) = @_;

	set('gpubtree.memory_limit', "'${kilobytes}kB'");
	$node->poll_query_until('postgres', "SELECT count(*) = 3 FROM gpubtree_device WHERE status = 'ready' AND memory_limit = $kilobytes * 1024")
	  or die 'no reload';
}

my $three = '0 piece, 1 piece, 2 piece';

# ---- pieces ----

wait_for_devices($node);
cmp_ok(value("SELECT gpubtree_refresh('t_k')"), '>', 500, 'gpubtree_refresh() fills all pieces');
is(mirrors(), $three, 'an index larger than two devices is cut over three');
is(engine(), '0, 1, 2', 'all of them answer');
is(value("SELECT round(sum(share)::numeric, 5), bool_and(memory_bytes < 3500000), sum(leaves) BETWEEN max(blocks) - 30 AND max(blocks) + 3 FROM gpubtree_mirrors"),
	'1.00000|t|t', 'each has a share of the leaves');
answers('fresh', $node, all_queries(-5, $rows + 5), all_queries(20000, 40000), map { random_query() } 1 .. 40);
like(value("$explain SELECT count(*), sum(v) FROM t WHERE k BETWEEN 100 AND 2000"),
	qr/Engine: host device 0\n.*Leaves Done by CPU: 0/s, 'a range within a piece is asked of that one alone');
is(value('SELECT string_agg(mirrors || \' \' || (requests > 0), \', \') FROM gpubtree_device'), '1 true, 1 true, 1 true', 'requests went to all');

is(value("SELECT string_agg(gpubtree_probe('t_k', (SELECT array_agg(i::bigint) FROM generate_series(1, $rows, 7) i), engine)::text, ' ') ~ "
		. "'device 0, host device 1, host device 2.*,CPU,' FROM unnest('{auto,inner}'::text[]) engine"),
	't', 'keys are searched by all devices; leaves alone by none');

# ---- a change is marked in each piece ----

foreach my $k (10, $rows / 2, $rows - 10)
{
	value("UPDATE t SET v = v + 1000000 WHERE k = $k");
	answers("a row changed at $k", $node, $whole, "SELECT count(*), sum(v) FROM t WHERE k BETWEEN $k - 5 AND $k + 5");
}

# ---- beside writers ----

value('CREATE TABLE compared (what text)');
my %scripts = mix_deletions($rows);
foreach my $i (0 .. $#queries)
{
	my $sql = $queries[$i] =~ s/'/''/gr =~ s/\bA\b/:a/gr =~ s/\bB\b/:b/gr;

	# pgbench replaces no variable within quotes: the text is put together by the server
	$sql = join ' || ', map { /^:[ab]$/ ? "${_}::text" : "'$_'" } grep { length } split /(:[ab])\b/, $sql;
	$scripts{"read$i\@5"} = <<"SQL";
\\set a random(1, $rows)
\\set b :a + random(1, $rows / 2)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare($sql) IS NULL;
INSERT INTO compared VALUES ('$i');
COMMIT;
SQL
}
# pieces are given up and made anew while requests for them are in flight
$scripts{'drop@1'} = "SELECT gpubtree_drop_mirror('t_k');\n\\sleep 50 ms\n";
my $mix = gpb_start_pgbench($node, \%scripts, '-c', 6, '--max-tries', 5);
gpb_go_on($node, $seconds, 'SELECT count(DISTINCT what) = ' . @queries . ' AND count(*) > 60 FROM compared');
lose($_), wait_for_devices($node) foreach (1, 0);
gpb_go_on($node, $seconds, 'SELECT count(*) > 150 FROM compared');
ok(gpb_end_pgbench($mix), 'beside writers, and with services lost, every answer is the right one');
gpb_index_is_sound($node, 't_k', 'the index is sound');
value("VACUUM t; SELECT gpubtree_refresh('t_k')");
answers('after the mix', $node, map { random_query() } 1 .. 40);
gpb_all_is_free($node, 'after the mix');

# ---- a smaller table again ----

# The buffers that requests leave on so small a device may take the room of others.
sub fresh_devices
{
	lose($_) foreach (0 .. 2);
	wait_for_devices($node);
	return;
}

sub make_anew
{
	fresh_devices();
	value("TRUNCATE t; INSERT INTO t (k, v, d) SELECT i, i % 1000, i % 100 FROM generate_series(1, $rows) i");
	value('VACUUM ANALYZE t');
	is(engine(), '0, 1, 2', 'a new file has new pieces');
	is(mirrors(), $three, 'and the former ones are gone');
	return;
}

make_anew();

# A piece finds a sum that narrow sums do not hold, so all begin anew with wide ones.
foreach my $k ($rows / 5, $rows - 10)
{
	value("UPDATE t SET d = 'inf' WHERE k = $k");
	answers("an infinite float at $k", $node, all_queries(-5, $rows + 5), 'SELECT min(k), sum(d) FILTER (WHERE v > 0), count(DISTINCT v % 13) FROM t WHERE k > 5');
	value("UPDATE t SET d = 1 WHERE k = $k");
}
fresh_devices();

# ---- a device lost, hung ----

foreach my $device (0, 2)
{
	my $holder = gpb_holder($node);
	my $session = gpb_start($node, $whole, 'enable_seqscan = off', q(gpubtree.hold_point = 'batch-submitted'));

	gpb_wait_for_hold($node);
	lose($device);
	$holder->quit;
	is(gpb_finish($session), value("SET gpubtree.enabled = off; $whole"), "device $device lost after the submit: the right answer");
	wait_for_devices($node);
	is(engine(), '0, 1, 2', "device $device has its piece again");
	answers("device $device came back", $node, map { random_query() } 1 .. 10);
	fresh_devices();
}
is(engine(), '0, 1, 2', 'all are lost: the index is cut anew');
gpb_hold_service($node, 'open.1');
lose(1);
gpb_wait_for_service_at($node, 'open.1');
is(engine(), '0, CPU, 2', 'the CPU answers for a device that is away, others for theirs');
gpb_release_service($node, 'open.1');
wait_for_devices($node);
is(engine(), '0, 1, 2', 'until it is back');
answers('a device came back', $node, map { random_query() } 1 .. 5);
fresh_devices();
set('gpubtree.request_timeout', "'1s'");
gpb_hold_service($node, 'batches.1');
is(engine(), '0, CPU, 2', 'so for one that hangs');
gpb_release_service($node, 'batches.1');
$node->poll_query_until('postgres', "SELECT count(*) = 3 FROM gpubtree_device WHERE status = 'ready'") or die 'it does not move again';
is(engine(), '0, 1, 2', 'which answers again');
set('gpubtree.request_timeout', "'10min'");

# ---- the index goes, is made anew, grows; the server crashes ----

my $at_once = 'SET gpubtree.min_built_mirror_size = 0';
value("$at_once; REINDEX INDEX t_k");
$node->poll_query_until('postgres', "SELECT count(*) = 3 FROM gpubtree_mirrors WHERE index = 't_k'::regclass AND state = 'ready' AND epoch > 0 AND changed_blocks = 0")
  or die 'what was built is not mirrored';
is(engine(), '0, 1, 2', 'REINDEX: pieces are made when it is done');
is(value("SELECT max(refreshes) FROM gpubtree_mirrors WHERE state = 'ready'"), 1, 'a query has nothing to copy');
is(value("SELECT count(*) FROM gpubtree_mirrors WHERE state <> 'discarded'"), 3, 'and only the new pieces');
is(value("SELECT gpubtree_drop_mirror('t_k')"), 't', 'gpubtree_drop_mirror()');
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM gpubtree_mirrors') or die 'pieces stay';
is(engine(), '0, 1, 2', 'all pieces go, and come');

# ---- other indexes need the memory ----

# Use t, beside a session that is held before it copies pages of another index: t is then what was used
# last.
sub use_beside
{
	my ($sql) = @_;
	my $holder = gpb_holder($node);
	my $session = gpb_start($node, $sql, 'enable_seqscan = off', q(gpubtree.hold_point = 'refresh-before-copy'));

	gpb_wait_for_hold($node);
	value("SET enable_seqscan = off; $whole");
	$holder->quit;
	return gpb_finish($session);
}

# Of two indexes that are cut there is room for one. Each gets the room of the other, though that was
# used last: all of it, with the piece on the third device. It is copied once, and stays while it is used.
value("CREATE TABLE u AS SELECT * FROM t WHERE k <= 55000; $at_once; CREATE INDEX u_k ON u USING gpubtree (k) INCLUDE (v, d, a, b, c, e, f, g, h)");
value('VACUUM ANALYZE u');
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'gpubtree built mirrors'") or die 'it is mirrored still';
is(mirrors(), $three, 'none is given up for an index that was built');
my $whole_u = $whole =~ s/FROM t/FROM u/r;
like(engines(use_beside("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $whole_u")), qr/^\d, \d$/, 'a cut index gets the room of one in use');
is(mirrors(), 'none', 'of which no piece stays');
foreach my $turn (['t', 3], ['u', 2], ['t', 3])
{
	my ($table, $pieces) = @$turn;

	answers("$table takes its turn", $node, map { s/\bt\b/$table/gr } ($whole, all_queries(9, 60000)) x 2);
	is(value("SELECT count(*), max(refreshes) FROM gpubtree_mirrors WHERE index = '${table}_k'::regclass AND state = 'ready'"), "$pieces|1", "$table is copied once");
}
is(use_beside("SELECT gpubtree_refresh('u_k') > 600"), 't', 'so gets who calls gpubtree_refresh()');
value("DROP TABLE u");
is(engine() =~ tr/0-2//, 3, 'all devices answer for one again');

set_memory(1500);
answers('larger than all devices', $node, $whole);
value("SELECT gpubtree_refresh('t_k')");
like(value("SELECT string_agg(mode, ' ') FROM gpubtree_mirrors WHERE state = 'ready'"), qr/^inner-only$/, 'larger than all devices together: the inner nodes');
set_memory(4096);
is(engine(), '0, 1, 2', 'cut again as soon as there is memory');

gpb_nothing_crashed($node);
my $victim = gpb_session($node);
gpb_kill_backend($node, $victim->query_safe('SELECT pg_backend_pid()'));
wait_for_devices($node);
is(engine(), '0, 1, 2', 'after a crash');
answers('after a crash', $node, map { random_query() } 1 .. 10);

# Equal keys alone cannot be cut.
value("CREATE TABLE e AS SELECT 7 AS k, i AS v, 0::int8 a, 0::int8 b, 0::int8 c, 0::int8 d, 0::int8 e FROM generate_series(1, $rows) i; CREATE INDEX e_k ON e USING gpubtree (k) INCLUDE (v, a, b, c, d, e)");
value('VACUUM ANALYZE e');
answers('equal keys', $node, 'SELECT count(*), sum(v) FROM e WHERE k BETWEEN 1 AND 9');
value("SELECT gpubtree_refresh('e_k')");
is(value("SELECT string_agg(mode, ' ') FROM gpubtree_mirrors WHERE index = 'e_k'::regclass AND state = 'ready'"), 'inner-only', 'an index of one key is not cut');
value('DROP TABLE e');

# ---- a standby ----

my $standby = gpb_standby($node);
wait_for_devices($standby);
is(engine($standby), '0, 1, 2', 'a standby has pieces');
value('UPDATE t SET v = v + 1 WHERE k % 50 = 0; DELETE FROM t WHERE k BETWEEN 15000 AND 45000; VACUUM t');
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', "SET enable_seqscan = off; $whole"), value("SET gpubtree.enabled = off; $whole"), 'a standby, after changes');
value('DROP TABLE t');
$node->wait_for_catchup($standby);
$standby->poll_query_until('postgres', 'SELECT count(*) = 0 FROM gpubtree_mirrors') or die 'pieces stay';
pass('DROP: all pieces go on a standby, too');
is(value("SELECT count(*) FROM gpubtree_mirrors WHERE state <> 'discarded'"), 0, 'and on the primary');
gpb_nothing_crashed($standby);

done_testing();
