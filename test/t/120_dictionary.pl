# The dictionary of values of variable width: sessions that come with one new value give it one code;
# a crash between value and entry; a standby, whose every replayed page is compared; sessions whose
# copy of the dictionary is of a file that has gone; parallel builds; more values than there are
# codes; damaged pages.
#
# Guards: src/index/dictionary*.c, the redo of its records, what gpubtree_check says about it.
#
# GPB_SECONDS	how long the mix runs (default 2)
use GpubtreeHold;
use GpubtreePages;
use GpubtreeTest;

my $seconds = $ENV{GPB_SECONDS} // 2;
my $node = gpb_node('primary', allows_streaming => 1, damages => 1, settings => <<'CONF');
autovacuum = off
wal_consistency_checking = 'gpubtree'
hot_standby_feedback = on
max_standby_streaming_delay = -1
max_wal_size = 4GB
max_parallel_maintenance_workers = 2
gpubtree.shared_codes = 1
CONF
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION pageinspect;
CREATE TABLE t (k int, name text, v int);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (name, v);
-- The rows of a query by our index and by the table
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	theirs text;
BEGIN
	query := 'SELECT count(*) || '' '' || md5(string_agg(q::text, '','' ORDER BY q::text)) FROM ('
		|| query || ') q';
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
		set_config('gpubtree.enabled', 'on', true);
	EXECUTE query INTO ours;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexonlyscan', 'off', true),
		set_config('enable_indexscan', 'off', true), set_config('gpubtree.enabled', 'off', true);
	EXECUTE query INTO theirs;
	PERFORM set_config('enable_indexonlyscan', 'on', true), set_config('enable_indexscan', 'on', true);
	IF ours IS DISTINCT FROM theirs THEN
		RAISE 'other rows: % for %, by %', ours, theirs, query;
	END IF;
	RETURN ours;
END $$;
SQL

# What the metapage counts, on a server's pages as they are in memory
sub counted_by
{
	my ($server, $index) = @_;
	return $server->safe_psql('postgres', qq{
		SELECT get_byte(page, 45) + get_byte(page, 46) * 256 + get_byte(page, 47) * 65536
		FROM get_raw_page('$index', 0) page});
}

sub codes
{
	return $node->safe_psql('postgres', q{
		SELECT sum(live_items) FROM generate_series(1, pg_relation_size('t_k') / 8192 - 1) b,
			gpubtree_page_stats('t_k', b) WHERE type = 'dictionary'});
}

# ---- one new value from several sessions ----

my $start = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
{
	my $holder = gpb_holder($node);
	my @sessions = map {
		gpb_start($node, "INSERT INTO t VALUES ($_, 'one name', 1)",
			"gpubtree.hold_point = 'dictionary-before-append'")
	} 1 .. 3;
	gpb_wait_for_hold($node, 3);
	$holder->quit;
	is(join('', map { gpb_finish($_) } @sessions), '', 'three sessions insert one new value');
	is(codes(), 1, 'it has one code');
	is($node->safe_psql('postgres', 'SELECT name, count(*) FROM t WHERE k > 0 GROUP BY 1'),
		'one name|3', 'and one group');
}

# ---- a crash between the value and its entry ----

{
	my $holder = gpb_holder($node);
	my $session = gpb_start($node, "INSERT INTO t VALUES (4, 'of a crash', 1)",
		"gpubtree.hold_point = 'dictionary-after-append'");
	gpb_wait_for_hold($node);
	# A commit flushes the record of the value.
	$node->safe_psql('postgres', 'CREATE TABLE flushed ()');
	$node->stop('immediate');
	eval { gpb_finish($session) };
	eval { $holder->quit };
	$node->start;
	is(codes(), 2, 'the value is there after the crash');
	is(counted_by($node, 't_k'), 2, 'and is counted');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE k > 3'), 0, 'its entry is not');
	$node->safe_psql('postgres', "INSERT INTO t VALUES (4, 'of a crash', 1)");
	is(codes(), 2, 'and the next one who comes with it uses its code');
	$node->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)");
}

# ---- a standby, beside writers ----

my $standby = gpb_standby($node);
$node->wait_for_catchup($standby);

my $reader = $standby->background_psql('postgres');
is($reader->query_safe("SELECT k, name FROM t WHERE k = 1"), '1|one name', 'a session of the standby');

my $writers = gpb_start_pgbench($node, <<'SQL', '-c', 4);
\set a random(1, 1000)
\set b random(1, 40000)
INSERT INTO t SELECT :a + i % 7, 'name ' || :b || repeat('x', i), i FROM generate_series(1, 20) i;
UPDATE t SET name = 'updated ' || :b WHERE k = :a;
DELETE FROM t WHERE k BETWEEN :a + 5 AND :a + 7;
SQL
my $checks = gpb_start_pgbench($node, "SELECT gpubtree_check('t_k', false);\n", '-c', 1);
my $readers = gpb_start_pgbench($standby, <<'SQL', '-c', 2);
\set a random(1, 1000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT same('SELECT k, name FROM t WHERE k BETWEEN ' || :a || ' AND ' || :a + 100);
SELECT same('SELECT name, count(*), sum(v) FROM t WHERE k < ' || :a || ' GROUP BY 1');
SELECT same('SELECT count(*) FROM t WHERE k > 5 AND name LIKE ''name ' || :a || '%''');
SELECT gpubtree_check('t_k', false);
COMMIT;
SQL
gpb_go_on($node, $seconds, 'SELECT count(DISTINCT name) > 1000 FROM t');
ok(gpb_end_pgbench($_), 'sessions beside writers') for $readers, $checks, $writers;
ok(codes() > 1000, 'many values came: ' . codes());
$node->safe_psql('postgres', "VACUUM t; SELECT gpubtree_check('t_k', true)");
$node->wait_for_catchup($standby);
my $all = q{SELECT same('SELECT k, name, v FROM t WHERE k > 0')};
is($reader->query_safe($all), $node->safe_psql('postgres', $all),
	'the session of the standby sees all values');
is(counted_by($_, 't_k'), codes(), 'the metapage counts them, ' . $_->name) for $node, $standby;
$standby->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)");

# ---- sessions with a copy of a dictionary whose file has gone ----

my $session = $node->background_psql('postgres');
$session->query_safe($all);
for my $change ('REINDEX INDEX t_k', 'REINDEX INDEX CONCURRENTLY t_k', 'VACUUM FULL t',
	"TRUNCATE t; INSERT INTO t SELECT i % 100, 'after ' || i % 60, i FROM generate_series(1, 1000) i",
	q{DROP INDEX t_k; CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, name)})
{
	$node->safe_psql('postgres', $_) for split(/; /, $change);
	$node->safe_psql('postgres', "INSERT INTO t VALUES (5, 'other', 5), (6, \$x\$$change\$x\$, 6)");
	my $theirs = $node->safe_psql('postgres', $all);
	is($session->query_safe($all), $theirs, "$change: a session that had a copy");
	$node->wait_for_catchup($standby);
	is($reader->query_safe($all), $theirs, "$change: one of the standby");
	$session->query_safe("INSERT INTO t VALUES (7, 'of the session', 7)");
	$node->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)");
	is(counted_by($node, 't_k'), codes(), "$change: all codes are counted");
}
$session->quit;
$reader->quit;

my %described = (
	DICTIONARY_PAGE => qr/^from code \d+$/,
	DICTIONARY_VALUE => qr/^column \d+, length \d+$/);
$node->safe_psql('postgres', 'CREATE EXTENSION pg_walinspect');
for my $record (sort keys %described)
{
	like($node->safe_psql('postgres', <<"SQL"), $described{$record}, "WAL says what $record is");
SELECT description FROM pg_get_wal_records_info('$start', pg_current_wal_flush_lsn())
WHERE resource_manager = 'gpubtree' AND record_type = '$record' AND description <> '' LIMIT 1
SQL
}

$standby->promote;
$standby->safe_psql('postgres', "INSERT INTO t VALUES (8, 'of the promoted one', 8)");
$standby->safe_psql('postgres', "$all; SELECT gpubtree_check('t_k', true)");
$standby->stop;

# ---- parallel builds ----

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE p (k int, name text, v int) WITH (parallel_workers = 2);
INSERT INTO p SELECT i, 'p ' || i * 7919 % 5000, i FROM generate_series(1, 60000) i;
CREATE INDEX p_k ON p USING gpubtree (k) INCLUDE (name);
VACUUM p;
SQL
$node->safe_psql('postgres', "SELECT gpubtree_check('p_k', true), same('SELECT k, name FROM p WHERE k > 0')");
is($node->safe_psql('postgres', q{
		SELECT sum(live_items) FROM generate_series(1, pg_relation_size('p_k') / 8192 - 1) b,
			gpubtree_page_stats('p_k', b) WHERE type = 'dictionary'}), 5000,
	'a parallel build gives each value one code');
is(counted_by($node, 'p_k'), 5000, 'and counts them');

# A worker has no metapage to read the layout from: of several key columns, and of a numeric.
$node->safe_psql('postgres', <<'SQL');
ALTER TABLE p ADD n numeric(30,2);
CREATE INDEX p_vk ON p USING gpubtree (v, k) INCLUDE (name);
CREATE INDEX p_n ON p USING gpubtree (k) INCLUDE (name, n);
ALTER TABLE p ADD m numeric(9,2);
CREATE INDEX p_mv ON p USING gpubtree (m, v) INCLUDE (name);
SELECT gpubtree_check('p_vk', true), gpubtree_check('p_n', true), gpubtree_check('p_mv', true);
DROP INDEX p_vk, p_n, p_mv;
SQL

# ---- more values than there are codes ----

{
	my $insert = q{INSERT INTO many VALUES (0, 'one more')};
	my $seen = q{SET enable_seqscan = off; SELECT count(DISTINCT name), count(*) FROM many WHERE k > 999990 OR k <= 0};

	# Return the error of a statement, or an empty string.
	my $error = sub { return ($node->psql('postgres', $_[0]))[2] };

	$node->safe_psql('postgres',
		q{CREATE UNLOGGED TABLE many AS SELECT i AS k, 'many ' || i AS name FROM generate_series(1, 1000001) i});
	my $create = 'CREATE INDEX many_k ON many USING gpubtree (k) INCLUDE (name)';
	is($error->($create), '', 'a build that meets one value too many');
	is($node->safe_psql('postgres', $seen), '11|11', 'its row is there');
	$node->safe_psql('postgres', "SELECT gpubtree_check('many_k', true)");
	$node->safe_psql('postgres', $_) for 'DROP INDEX many_k', 'DELETE FROM many WHERE k = 1000001', 'VACUUM many', $create;
	# Their ranks by as many orders as are certain to find room in a program (GPB_CERTAIN_ORDERS)
	my $orders = q{SELECT i, min(name), max(name COLLATE "C"), max(name COLLATE "POSIX") FROM generate_series(0, 9) i }
	  . q{JOIN many ON k > i * 99000 AND k < i * 110000 GROUP BY i};
	my $only = 'SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0;';
	my $plan = $node->safe_psql('postgres', "ANALYZE many; $only EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) CREATE TABLE orders (i, a, b, c) AS $orders");
	like($plan, qr/GpubtreeRangeAggregate/, 'three orders of all values: the plan') or diag($plan);
	unlike($plan, qr/Gave Up/, 'three orders of all values: the program answers') or diag($plan);
	is($node->safe_psql('postgres', 'SELECT * FROM orders ORDER BY i'), $node->safe_psql('postgres', "SET gpubtree.enabled = off; $orders ORDER BY i"),
		'three orders of all values: rows');
	is($error->(q{INSERT INTO many VALUES (0, 'many 7')}), '', 'a row with a value that is there');
	is($error->($insert), '', 'a row with one value too many');
	is($node->safe_psql('postgres', $seen), '12|12', 'it is there, too');
	$node->safe_psql('postgres', $_) for 'DELETE FROM many WHERE k > 10', 'VACUUM many';
	my $grouped = q{SET enable_seqscan = off; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT name, count(*) FROM many WHERE k >= 0 GROUP BY name};
	$node->safe_psql('postgres', 'ANALYZE many');
	like($node->safe_psql('postgres', "$insert; $grouped"), qr/Gave Up: values that are not in the index|^(?!.*Gpubtree)/s, 'VACUUM frees no codes');
	is($error->("REINDEX INDEX many_k; $insert"), '', 'REINDEX does');
	unlike($node->safe_psql('postgres', $grouped), qr/Gave Up/, 'REINDEX does');
	is($node->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(DISTINCT name) FROM many WHERE k >= 0}),
		11, 'all rows are there');
	$node->safe_psql('postgres', "SELECT gpubtree_check('many_k', true); DROP TABLE many");
}

# ---- unlogged tables after a crash ----

$node->safe_psql('postgres', <<'SQL');
CREATE UNLOGGED TABLE u (k int, name text);
CREATE INDEX u_k ON u USING gpubtree (k) INCLUDE (name);
INSERT INTO u VALUES (1, 'lost');
SQL
$node->stop('immediate');
$node->start;
is(counted_by($node, 'u_k'), 0, 'the metapage of an unlogged index after a crash');
is($node->safe_psql('postgres', <<'SQL'), "|\n1|new", 'an unlogged index after a crash');
SELECT gpubtree_check('u_k', true), NULL;
INSERT INTO u VALUES (1, 'new');
SET enable_seqscan = off;
SELECT k, name FROM u WHERE k > 0;
SQL

# ---- damaged pages ----

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE d (k int, name text, v int);
INSERT INTO d SELECT i, 'd ' || i, i FROM generate_series(1, 2000) i;
CREATE INDEX d_k ON d USING gpubtree (k) INCLUDE (name);
VACUUM d;
SQL
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('d_k')");
my $second = $node->safe_psql('postgres', "SELECT right_link FROM gpubtree_page_stats('d_k', 1)");
$node->stop;
my $sound = slurp_file($file);

# Values are at the page header and behind each other: length, column, bytes.
my %damage = (
	'a page of zeroes' => [ sub { zero(1) }, qr/not initialized/ ],
	'a page of the tree' => [ sub { substr($bytes, PAGE, PAGE) = substr($bytes, PAGE * root(), PAGE) },
		qr/not a page of the dictionary/ ],
	'an unknown flag' => [ sub { set_field(1, 'flags', 0x60) }, qr/unknown flags/ ],
	'a right link to itself' => [ sub { set_field(1, 'right', 1) }, qr/link of the dictionary/ ],
	'a right link to the metapage' => [ sub { set_field(1, 'right', 0) }, qr/link of the dictionary/ ],
	'a right link to the tree' => [ sub { set_field(1, 'right', root()) }, qr/not a page of the dict/ ],
	'a right link beyond the end' => [ sub { set_field(1, 'right', 99999) }, qr/d_k|block 99999/ ],
	'a right link that is missing' => [ sub { set_field(1, 'right', NONE) },
		qr/ends before codes that the metapage counts/ ],
	'a wrong left link' => [ sub { set_field($second, 'left', $second) }, qr/link of the dictionary/ ],
	'codes that go on elsewhere' => [ sub { set_field($second, 'low_key', field($second, 'low_key') - 1) },
		qr/not those after|fewer values/ ],
	'more codes than values' => [ sub { set_field($second, 'high_key', field($second, 'high_key') + 1) },
		qr/fewer values than codes/ ],
	'fewer codes than values' => [ sub { set_field($second, 'high_key', field($second, 'high_key') - 1) },
		qr/more values than codes/ ],
	'codes without end' => [ sub { set_field($second, 'high_key', 5000000) }, qr/out of range/ ],
	'a long value' => [ sub { put(1, HEADER, 'S<', 60000) }, qr/longer than its page/ ],
	'a value that reaches beyond the others' => [ sub { put(1, HEADER, 'S<', 2700) },
		qr/INDEX|corrupted/ ],
	'a value of another column' => [ sub { put(1, HEADER + 2, 'C', 1) }, qr/has no column/ ],
	'a value of no column' => [ sub { put(1, HEADER + 2, 'C', 200) }, qr/has no column/ ],
	'a value that is there twice' => [ sub { put(1, HEADER + 4 + 2, 'C', ord('2')) }, qr/twice/ ],
	'free space that begins in the page header' => [ sub { put(1, 12, 'S<', 20) }, qr/free space/ ],
	'free space behind its end' => [ sub { put(1, 12, 'S<', 8190) }, qr/invalid page in block 1/ ],
	'a code in an entry' => [ sub { put(leaf(0), row_place(leaf(0), 0) + 8, 'L<', 777777) },
		qr/a code that the dictionary lacks/ ],
	'a value in the table alone' => [ sub { put(leaf(0), row_place(leaf(0), 0) + 8, 'L<', 0xFFFFFFFE) },
		qr/elsewhere, and the dictionary does not know/ ]);
for my $name (sort keys %damage)
{
	my ($harm, $message) = @{ $damage{$name} };

	$bytes = $sound;
	$harm->();
	write_pages($file);
	$node->start;
	my ($ret, $out, $err) = $node->psql('postgres', "SELECT gpubtree_check('d_k', false)");
	like($err, $message, "$name: the check");
	like($err, qr/index "d_k" is corrupted|d_k/, "$name: names the index");
	for my $query ('SET enable_seqscan = off; SELECT count(name) FROM (SELECT k, name FROM d WHERE k > 0 OFFSET 0) q',
		'SET enable_seqscan = off; SELECT name, count(*) FROM d WHERE k > 0 GROUP BY 1',
		q{SET enable_seqscan = off; SELECT count(*) FROM d WHERE k > 0 AND name = 'd 7'},
		q{INSERT INTO d VALUES (1, 'new ' || random())},
		q{SELECT * FROM gpubtree_bloat('d_k')}, 'VACUUM d',
		q{SELECT gpubtree_page_stats('d_k', b) FROM generate_series(1, 5) b})
	{
		($ret, $out, $err) = $node->psql('postgres', $query);
		isnt($ret, 2, "$name: the server lives") or diag($query);
	}
	$node->safe_psql('postgres', 'REINDEX INDEX d_k') if $name eq 'a page of zeroes';
	$node->stop;
	if ($name eq 'a page of zeroes')
	{
		$node->start;
		$node->safe_psql('postgres', "SELECT gpubtree_check('d_k', true)");
		$file = $node->data_dir . '/'
		  . $node->safe_psql('postgres', "SELECT pg_relation_filepath('d_k')");
		$node->safe_psql('postgres', 'VACUUM d');
		$second = $node->safe_psql('postgres', "SELECT right_link FROM gpubtree_page_stats('d_k', 1)");
		$node->stop;
		$sound = slurp_file($file);
	}
}

done_testing();
