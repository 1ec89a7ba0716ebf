# A leaf that was read is passed by later on, as long as nothing that its cell says is out of date:
# at each step of a reader others insert, delete, clean up and record.
#
# Guards: rule M14, and the conditions of which it consists.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', allows_streaming => 1, vacuums_all => 1,
	settings => "autovacuum = off\ngpubtree.device = 'off'\nwal_level = replica\n"
	  . "shared_buffers = '32MB'\ngpubtree.leaf_cache_size = '8MB'\nwal_keep_size = '512MB'\nallow_in_place_tablespaces = on\nmax_parallel_workers_per_gather = 0\n");
my @forced = map { "$_ = off" } qw(enable_seqscan enable_indexscan enable_indexonlyscan
  enable_bitmapscan);
push @forced, 'gpubtree.setup_cost = 0';
gpb_compare_function($node);

# Rows in the key's order, or in another one: then each leaf leads to all of the heap.  The least and
# greatest values are on leaves in the middle.
sub prepare
{
	my ($order, $rows, $fill, $vacuum) = @_;
	$rows //= 20000;
	$fill //= 90;
	$vacuum //= 'VACUUM t';
	$node->safe_psql('postgres', <<"SQL");
DROP TABLE IF EXISTS t;
CREATE TABLE t (k bigint, v int, f float8, w bigint, n int) WITH (fillfactor = 90);
INSERT INTO t SELECT i, CASE i WHEN 5001 THEN -1000 WHEN 5003 THEN 1000 ELSE i % 100 END,
	CASE i WHEN 5005 THEN -99 WHEN 5007 THEN 1e9 ELSE i / 8.0 END,
	CASE i WHEN 5009 THEN -5 WHEN 5011 THEN 1e15 ELSE i::bigint * 1000000007 END,
	CASE i WHEN 5013 THEN -3 WHEN 5015 THEN 99 ELSE nullif(i % 7, 3) END
	FROM generate_series(1, $rows) i ORDER BY $order;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, f, w, n) WITH (fillfactor = $fill);
$vacuum;
SQL
}

my $query = 'SELECT count(*), sum(v), min(w), max(w), sum(f), min(f), count(n) FROM t WHERE k BETWEEN 100 AND 19900';

# Ask with cells, so that leaves are recorded, with what was recorded, and without cells, in one
# snapshot.  The answers must be equal; return it.
sub ask
{
	my ($name, $sql, $on) = @_;
	$sql //= $query;
	$on //= $node;
	my $set = join('', map { "SET $_;" } @forced);
	my @answers = split /\n/, $on->safe_psql('postgres',
		"$set BEGIN ISOLATION LEVEL REPEATABLE READ; $sql; $sql; $sql; SET LOCAL gpubtree.enable_leaf_cache = off; $sql; COMMIT");
	is(join(' ', @answers[0 .. 2]), join(' ', ($answers[3]) x 3), $name);
	return $answers[3];
}

# The answer that is right
sub without_cells
{
	my ($sql) = @_;
	return $node->safe_psql('postgres',
		join('', map { "SET $_;" } @forced) . 'SET gpubtree.enable_leaf_cache = off;' . ($sql // $query));
}

# How many leaves were passed by, by all nodes of the plan; or only those of which no entry passes
# the filters
sub passed
{
	my ($sql, $on, $by) = @_;
	$by //= 'Cells';
	my $set = join('', map { "SET $_;" } @forced);
	my $plan = ($on // $node)->safe_psql('postgres',
		"$set EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " . ($sql // $query));
	my $sum = 0;
	$sum += $1 while $plan =~ /Leaves Passed by $by: (\d+)/g;
	return $sum;
}

# Like ask() for many queries in one session, each of which returns one row.  Returns how many leaves
# each has passed by.
sub ask_all
{
	my ($name, @sql) = @_;
	my $off = 'SET LOCAL gpubtree.enable_leaf_cache = off';
	my $said = $node->safe_psql('postgres', join('', map { "SET $_;" } @forced)
		  . 'BEGIN ISOLATION LEVEL REPEATABLE READ;'
		  . join('', map { "SELECT '\@'; $_; $_; $_; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $_; $off; $_; SET LOCAL gpubtree.enable_leaf_cache = on;" } @sql)
		  . 'COMMIT');
	my @parts = split /^\@\n/m, $said;
	my @passed;
	shift @parts;
	for my $sql (@sql)
	{
		my @lines = split /\n/, shift @parts;
		my $sum = 0;
		is(join(' ', @lines[0 .. 2]), join(' ', ($lines[-1]) x 3), "$name: $sql");
		/Leaves Passed by Cells: (\d+)/ and $sum += $1 for @lines;
		push @passed, $sum;
	}
	return @passed;
}

# Ask in a session that is held between map and looks; others do something meanwhile.
sub ask_held
{
	my ($name, $meanwhile, $expected, $hold, $on) = @_;
	$on //= $node;
	my $holder = $on->background_psql('postgres');
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	my $reader = gpb_start($on, $query, @forced, "gpubtree.hold_point = '" . ($hold // 'cells-before-looks') . "'");
	gpb_wait_for_hold($on);
	$meanwhile->();
	$holder->quit;
	is(gpb_finish($reader), $expected, $name);
}

sub sql { $node->safe_psql('postgres', $_) for @_ }

# ---- used, and not used ----

prepare('i');
is(passed(), 0, 'the first query finds no cells');
cmp_ok(passed(), '>', 50, 'the second passes by nearly all leaves');
ask('the same with and without cells');
ask_all('ranges', map { "SELECT count(*), sum(v), max(f), sum(f), sum(w), min(k) FROM t WHERE k >= $_ AND k < $_ * 3 + 5" }
	  (1, 17, 500, 3333, 6000));
# Columns are recorded as they are wanted, and what is there stays.
ask_all('columns', map { "SELECT count(*), $_ FROM t WHERE k BETWEEN 100 AND 19900" }
	  ('sum(v)', 'min(v)', 'sum(w), max(v)', 'sum(f)', 'min(f), sum(v)', 'max(k), count(n)', 'sum(n), min(n)'));
cmp_ok($_, '>', 50, 'all columns stay')
  for ask_all('again', map { "SELECT count(*), $_ FROM t WHERE k BETWEEN 100 AND 19900" }
	  ('sum(v)', 'sum(w), max(v)', 'sum(f)', 'max(k), count(n)'));

# ---- filters that the bounds of a leaf's columns decide ----

# Ask with cells, so that leaves are recorded, half of them at a time, and without, and tell whether
# the answers are equal, how many leaves were passed by since no entry of them passes, and how many
# were taken.
sql(<<'SQL');
CREATE FUNCTION ask_filtered(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text[];
	one text;
	plan text;
	none int;
BEGIN
	FOR i IN 1 .. 4 LOOP
		PERFORM set_config('gpubtree.enable_leaf_cache', CASE i WHEN 4 THEN 'off' ELSE 'on' END, false);
		EXECUTE 'SELECT q::text FROM (' || query || ') q' INTO one;
		answer[i] := one;
	END LOOP;
	SET gpubtree.enable_leaf_cache = on;
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	none := coalesce(substring(plan FROM '"Leaves Passed by Filters": (\d+)')::int, 0);
	RETURN concat_ws(' ', NOT (answer[4], answer[4], answer[4]) IS DISTINCT FROM (answer[1], answer[2], answer[3]), none,
		coalesce(substring(plan FROM '"Leaves Passed by Cells": (\d+)')::int, 0) - none);
END $$;
SQL

# Of each filter it is said whether there are leaves of which no entry passes, and such of which all
# do: some, or none but where an update was.
sub ask_filtered
{
	my ($from, @filters) = @_;
	my @said = split /\n/, $node->safe_psql('postgres', join('', map { "SET $_;" } @forced)
		  . join('', map { "SELECT ask_filtered(\$q\$SELECT " . ($_->[3] // 'count(*), sum(v), max(w), sum(f), count(n)') . " FROM $from AND $_->[0]\$q\$);" } @filters));
	my $decided = 0;
	for my $filter (@filters)
	{
		my ($equal, $none, $all) = split / /, shift @said;
		is($equal, 't', "filter $filter->[0]");
		$decided++ if $none + $all > 3;
		next unless defined $filter->[1];
		ok($filter->[1] ? $none > 15 : $none < 3, "none passes $none leaves");
		ok($filter->[2] ? $all > 15 : $all < 3, "$all leaves are taken as a whole");
	}
	return $decided;
}

# f and w rise with the key, but for two leaves; n is NULL in each leaf, and v everywhere between 0
# and 99 but in one.
my $range = 't WHERE k BETWEEN 100 AND 19900';
ask_filtered($range, [ 'f BETWEEN 300 AND 1500', 1, 1 ], [ 'w > 9000000063000 AND f < 1800', 1, 1 ],
	[ 'NOT (w > 9000000063000 AND f < 1800)', 1, 1 ], [ 'f * 2 - 5 > 2000', 1, 1 ],
	[ '(w / 1000000007 + 3) / 5 IN (1000, 1001, 1002)', 1, 0 ], [ 'coalesce(w, 0) <> 7 AND v < 5000', 0, 1 ], [ 'v = 100', 1, 0 ],
	[ 'n IS NULL', 0, 0 ], [ 'n < 100', 0, 0 ], [ 'n < 100 AND f > 1500', 1, 0 ],
	[ 'f > 1000', 1, 0, 'count(*), sum(v * n), stddev(w)' ],
	[ 'f > 1000', 1, 1, 'count(*) FILTER (WHERE w > 15000000000000), sum(v) FILTER (WHERE f < 1200), max(f) FILTER (WHERE v > 4000)' ],
	[ 'true', 0, 1, 'count(*), sum(CASE WHEN f > 1200 THEN v ELSE 0 END), count(CASE WHEN w < 1000 THEN 1 END)' ]);
# Groups, buckets, many ranges, and rows
my $filtered = 'FROM t WHERE k BETWEEN 100 AND 19900 AND f BETWEEN 1000 AND 1500';
ask_filtered('(SELECT 1) one WHERE true', map { [ 'true', /LIMIT/ ? undef : 1, 0, $_ ] }
	"(SELECT string_agg(q::text, ' ' ORDER BY q) FROM (SELECT n, count(*), sum(v) $filtered GROUP BY 1) q)",
	"(SELECT string_agg(q::text, ' ' ORDER BY q) FROM (SELECT v * 2, count(*), sum(f) $filtered GROUP BY 1) q)",
	"(SELECT md5(string_agg(v::text, ' ' ORDER BY k)) FROM (SELECT k, v $filtered OFFSET 0) q)",
	"(SELECT string_agg(k::text, ' ') FROM (SELECT k $filtered AND v = 7 ORDER BY k LIMIT 5) q)");
sql('ANALYZE t');
ask_filtered('(SELECT 1) one WHERE true', [ 'true', 1, 1, "(SELECT string_agg(q::text, ' ' ORDER BY q) FROM (SELECT k / 5000, count(*), sum(f) FROM t WHERE k BETWEEN 100 AND 19900 AND f > 1000 GROUP BY 1) q)" ],
	[ 'true', 1, 1, "(SELECT md5(string_agg(q::text, ' ')) FROM (SELECT i, s.* FROM generate_series(1, 9) i, LATERAL"
		  . ' (SELECT count(*), sum(v), max(w) FROM t WHERE k BETWEEN i * 450 AND i * 450 + 9000 AND f > 1000) s OFFSET 0) q)' ]);
# An entry that a filter drops before does not fault, and one that none drops does, whatever comes of it.
for my $where ('f < 100 AND 1000 / (w - 15000000105000) < 7', 'f > 100 AND (1000 / (w - 15000000105000) < 7 OR v > -5000)')
{
	my $sql = "SELECT count(*), sum(v) FROM t WHERE k BETWEEN 100 AND 19900 AND $where";
	my @said = map {
		my ($out, $err);
		$node->psql('postgres', join('', map { "SET $_;" } @forced) . "SET gpubtree.enable_leaf_cache = $_; $sql", stdout => \$out, stderr => \$err);
		$out . ($err =~ /division by zero/ ? 'division by zero' : $err) } qw(off on on);
	is("@said[1, 2]", "@said[0, 0]", "faults: $where");
	like($said[0], $where =~ /^f </ ? qr/^\d+\|/ : qr/^division by zero$/, 'and as they should');
}
# Rows come that pass, and rows that do not
sql('UPDATE t SET f = 1200, v = 3 WHERE k IN (300, 17000)', 'VACUUM t');
ask_filtered($range, [ 'f BETWEEN 1000 AND 1500', 1, 1 ]);
sql('DELETE FROM t WHERE k IN (9000, 9500, 17000)');
ask_filtered($range, [ 'f BETWEEN 1000 AND 1500', 1, 1 ]);
sql('UPDATE t SET f = NULL WHERE k = 10000', 'VACUUM t');
ask_filtered($range, [ 'f BETWEEN 1000 AND 1500', 1, 1 ]);
sql('DELETE FROM t WHERE k = 300', 'VACUUM (INDEX_CLEANUP on) t');
ask_filtered($range, [ 'f BETWEEN 1000 AND 1500', 1, 1 ]);
# Whoever sees rows, those that do not pass count for none: nothing is visible without a visit.
prepare('i', 20000, 90, '');
sql('BEGIN; UPDATE t SET v = v + 1 WHERE k % 10 = 3; ROLLBACK');
ask_filtered($range, [ 'f BETWEEN 1000 AND 1100', 1, 0 ]);
{
	my $sql = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 100 AND 19900 AND f > 2000';
	my $old = $node->background_psql('postgres');
	$old->query_safe("SET $_") for @forced;
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	my $before = $old->query_safe($sql);
	ask('recorded', $sql);
	sql('UPDATE t SET f = -1 WHERE k BETWEEN 17000 AND 18000', 'UPDATE t SET f = 3000 WHERE k BETWEEN 1000 AND 1100');
	ask('rows that passed pass no more', $sql) for (1 .. 2);
	is($old->query_safe($sql), $before, 'but for an old snapshot');
	$old->query_safe('COMMIT');
	$old->quit;
	my $whole = without_cells($sql);
	my $columns = $query;
	$query = $sql;
	ask_held('rows that come after the snapshot do not count', sub {
		sql('INSERT INTO t SELECT i, 1, 4000, 1, 1 FROM generate_series(200, 9000, 50) i', 'VACUUM t');
		ask('recorded by others') for (1 .. 2);
	}, $whole);
	ask_held('nor do others count twice, or not, when leaves are split and come back', sub {
		sql('DELETE FROM t WHERE k BETWEEN 500 AND 4000 AND f <= 2000', 'VACUUM (INDEX_CLEANUP on) t', 'VACUUM (INDEX_CLEANUP on) t',
			'INSERT INTO t SELECT k, 1, 1, 1, 1 FROM generate_series(5000, 19000, 5) k');
	}, without_cells());
	ask('after that');
	$query = $columns;
}
prepare('i');
ask('recorded');

# ---- few values on some leaves, and bounds that decide others ----

sql(<<'SQL', 'VACUUM z');
CREATE TABLE z (k int, n int, r int);
INSERT INTO z SELECT i, CASE WHEN i BETWEEN 5000 AND 15000 THEN i ELSE i % 5 END,
	CASE WHEN i BETWEEN 9000 AND 9500 THEN i * 7919 % 400 ELSE i % 5 END FROM generate_series(1, 20000) i;
CREATE INDEX z_k ON z USING gpubtree (k) INCLUDE (n, r);
SQL
my $every = 'FROM z WHERE k BETWEEN 10 AND 19990';
my @both_ways = ask_all('by value, then by bounds', "SELECT count(*), sum(n) $every AND n > 12000", "SELECT count(*) $every AND n % 2 = 1",
	"SELECT count(*) FILTER (WHERE n < 7000) $every", rows("SELECT r + 1, count(*) $every GROUP BY 1"), rows("SELECT r, count(*) $every GROUP BY 1"));
# It has some 53 leaves, half of which have few values.
cmp_ok($both_ways[0], '>', 45, 'leaves of few values, and others that a filter decides');
cmp_ok($both_ways[2], '>', 45, 'and FILTER');
cmp_ok($_, '>', 45, 'leaves of few values behind others, which nothing decides') for @both_ways[3, 4];

# ---- many ranges, some of which overlap; buckets; ranks ----

sql('CREATE TABLE r (lo bigint, hi bigint)',
	'INSERT INTO r SELECT i * 900, i * 900 + 300 + (i % 5) * 1700 FROM generate_series(0, 20) i', 'ANALYZE r');
my %many = (
	'ranges that overlap' => 'SELECT string_agg(x::text, chr(59) ORDER BY lo) FROM (SELECT r.lo, count(*), sum(t.v), max(t.w) FROM r JOIN t ON t.k BETWEEN r.lo AND r.hi GROUP BY r.lo) x',
	'a subquery of each row' => 'SELECT string_agg(lo || chr(58) || n, chr(59) ORDER BY lo) FROM (SELECT lo, (SELECT sum(v) FROM t WHERE k BETWEEN lo AND hi) AS n FROM r) x',
	'buckets' => 'SELECT string_agg(x::text, chr(59) ORDER BY b) FROM (SELECT k / 3000 AS b, count(*), sum(f), min(v) FROM t WHERE k BETWEEN 50 AND 19950 GROUP BY 1) x',
	'a median' => 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k), sum(v) FROM t WHERE k BETWEEN 50 AND 19950',
	'an offset' => 'SELECT k FROM t WHERE k > 17 ORDER BY k OFFSET 15000 LIMIT 1');
my @many = sort keys %many;
my @passed_by_many = ask_all('many', map { $many{$_} } @many);
for my $i (grep { $many[$_] ne 'an offset' } (0 .. $#many))
{
	cmp_ok($passed_by_many[$i], '>', 0, "$many[$i]: leaves are passed by");
}

# ---- by the values of a column ----

# The rows of a query, as one
sub rows { return "SELECT coalesce(string_agg(q::text, ' ' ORDER BY q::text), 'none') FROM ($_[0]) q" }

sql(<<'SQL', 'VACUUM x');
CREATE TABLE x (k bigint, s int, t text, b boolean, d timestamp, e float8, m numeric(10, 2), a int, far bigint, c17 int, c16 int, slow int, n17 int);
INSERT INTO x SELECT i, nullif(h & 7, 5), 'state ' || (h >> 3 & 3), nullif(h >> 5 & 3, 2) = 1, timestamp '2024-01-01' + (h >> 7 & 7) * interval '1 day',
	CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 0 WHEN 3 THEN 2.5 ELSE -2.5 END, (h >> 10 & 4095) / 100.0,
	CASE WHEN i < 6000 THEN h >> 12 & 1023 ELSE nullif(h >> 12 & 31, 7) END,
	CASE h & 3 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 ELSE h & 3 END, i % 17, nullif(i % 17, 3) % 16, nullif(i / 20, 99), nullif(i % 17, 3)
	FROM (SELECT i, abs(hashint8(i)::bigint) AS h FROM generate_series(1, 10000) i) i;
CREATE INDEX x_k ON x USING gpubtree (k) INCLUDE (s, t, b, d, e, m, a, far, c17, c16, slow, n17);
SQL
my $whole_x = 'FROM x WHERE k BETWEEN 50 AND 9950';
my @by_value = map { rows($_) } ("SELECT s, count(*) $whole_x GROUP BY s", "SELECT t, count(*) $whole_x GROUP BY t HAVING count(*) > 7",
	"SELECT s IN (1, 3), count(*) $whole_x GROUP BY 1", "SELECT count(*) FILTER (WHERE s = 3), count(*) $whole_x",
	"SELECT count(*) $whole_x AND s = 3", "SELECT count(*) $whole_x AND t IN ('state 1', 'state 3', 'no state')",
	"SELECT count(*) $whole_x AND s IS NULL", "SELECT count(*), count(b) FILTER (WHERE NOT b), bool_and(b), bool_or(b) $whole_x",
	"SELECT sum(s), avg(s), min(s), max(s), count(DISTINCT s), variance(s), bit_and(s), bit_or(s), bit_xor(s) $whole_x AND s > 0",
	"SELECT d, count(*) $whole_x GROUP BY d", "SELECT d::date, count(d) $whole_x AND d > '2024-01-03' GROUP BY 1",
	"SELECT count(*) FILTER (WHERE e > 1), count(*) FILTER (WHERE e = 0), count(*) FILTER (WHERE e < 0) $whole_x",
	"SELECT s, sum(m), avg(m), count(*) $whole_x GROUP BY s", "SELECT t, sum(m) FILTER (WHERE t > 'state 1') $whole_x GROUP BY t",
	"SELECT s, sum(a), count(a), avg(m) FROM x WHERE k BETWEEN 50 AND 5900 GROUP BY s", "SELECT c16, count(*) $whole_x GROUP BY c16",
	"SELECT slow, count(*), sum(m) $whole_x GROUP BY slow", 	"SELECT k / 2000, s, count(*), sum(m) $whole_x GROUP BY 1, 2", "SELECT k / 1500, count(*) FILTER (WHERE s = 3) $whole_x GROUP BY 1",
	'SELECT i, n.* FROM generate_series(0, 4000, 1000) i, LATERAL (SELECT s, count(*), sum(m) FROM x WHERE k BETWEEN i AND i + 5000 GROUP BY s) n',
	'SELECT i, n.* FROM generate_series(0, 4000, 1000) i, LATERAL (SELECT sum(s * s), sum(m) FILTER (WHERE s < 3) FROM x WHERE k BETWEEN i AND i + 5000) n',
	"SELECT sum(s / (s + 1)), max(CASE WHEN s > 2 THEN s + 4 END) $whole_x");
my @not_by_value = map { rows($_) } ("SELECT c17, count(*) $whole_x GROUP BY c17", "SELECT n17, count(*) $whole_x GROUP BY n17",
	"SELECT far, count(*) $whole_x GROUP BY far",
	"SELECT s, sum(e) $whole_x GROUP BY s", "SELECT s, min(m) $whole_x GROUP BY s", "SELECT s, max(m), sum(m) $whole_x GROUP BY s",
	"SELECT s, sum(a * 2) $whole_x GROUP BY s", "SELECT s, t, count(*) $whole_x GROUP BY s, t",
	'SELECT s, sum(a), count(a) FROM x WHERE k BETWEEN 6100 AND 9900 GROUP BY s');
my @passed_by_value = ask_all('by value', @by_value);
cmp_ok($passed_by_value[$_], '>', 15, "leaves are passed by: $by_value[$_]") for (0 .. $#by_value);
@passed_by_value = ask_all('not by value', @not_by_value);
is($passed_by_value[$_], 0, "no leaves are passed by: $not_by_value[$_]") for (0 .. $#not_by_value);
my ($by_s, $sum_by_s, $by_t) = @by_value[0, 12, 1];
like($node->safe_psql('postgres', join('', map { "SET $_;" } @forced) . "EXPLAIN (ANALYZE, VERBOSE) $not_by_value[0]"),
	qr/\d+ with too many different values/, 'why: too many values');
# A division by zero is one whether its entry is read or passed by.
my ($fault) = rows("SELECT sum(1 / (s - 2)) $whole_x");
for my $cache ('on', 'off')
{
	my ($status, undef, $error) = $node->psql('postgres', join('', map { "SET $_;" } @forced) . "SET gpubtree.enable_leaf_cache = $cache; $fault");
	like($error, qr/division by zero/, "with cells $cache a fault is core's error");
}
# The leaf's cell is recorded anew, of another state than the values' cell; and that, of another than the sums'.
sql('INSERT INTO x SELECT k + 1, s, t, b, d, e, m, a, far FROM x WHERE k % 200 = 0', 'VACUUM x');
ask_all('the leaf alone was recorded', "SELECT count(*) $whole_x", $by_s);
sql('DELETE FROM x WHERE k % 300 = 0', 'VACUUM (INDEX_CLEANUP on) x');
ask_all('values were recorded, and no sums', $by_s, $sum_by_s, $by_t);
# NaN, and a value that is too large for a sum by value
sql("UPDATE x SET m = 'NaN' WHERE k = 3000 AND s = 1 OR k = 3001", 'UPDATE x SET far = far - s - 1 WHERE k > 8000 AND far > 5',
	"INSERT INTO x SELECT 5000, s, 'state ' || s, true, NULL, 1, s, s, s, s, s FROM generate_series(1, 400) s", 'VACUUM (INDEX_CLEANUP on) x');
ask_all('NaN', $sum_by_s, rows("SELECT s, sum(far) $whole_x GROUP BY s"));
ask_all('some leaves have too many values', $by_s, $by_t, $by_s, $by_t);

# ---- a leaf that changed ----

sql('INSERT INTO t VALUES (5000, 1000000, 1e10, -5, 1)', 'VACUUM t');
ask('a row that was inserted and vacuumed counts');
sql('DELETE FROM t WHERE k BETWEEN 7000 AND 7100');
ask('rows that were deleted do not count');
sql('VACUUM t');
ask('nor when they are gone');
sql('UPDATE t SET v = v + 1 WHERE k % 500 = 0');
ask('updated rows count once');
sql('VACUUM (INDEX_CLEANUP on) t');
ask('likewise after VACUUM');
cmp_ok(passed(), '>', 50, 'cells are recorded anew');
sql('INSERT INTO t SELECT 12000, 7, 1.5, 3, 1 FROM generate_series(1, 3000)');
ask('after splits') for (1 .. 2);
sql('DELETE FROM t WHERE k = 12000', 'VACUUM (INDEX_CLEANUP on) t', 'VACUUM (INDEX_CLEANUP on) t');
ask('after pages were deleted') for (1 .. 2);

# NaN and what a narrow sum does not hold
sql("UPDATE t SET f = 'NaN' WHERE k = 15000", "UPDATE t SET f = 1e300 WHERE k > 15500 AND k % 50 = 0",
	"VACUUM (INDEX_CLEANUP on) t");
ask('values that no narrow sum holds') for (1 .. 2);
like($node->safe_psql('postgres', join('', map { "SET $_;" } @forced) . "EXPLAIN (ANALYZE, VERBOSE) $query"),
	qr/\d+ with values too large or too small/, 'and their leaves are not recorded in vain again');

# ---- own rows, and an older snapshot ----

prepare('i');
ask('recorded');
my $old = $node->background_psql('postgres');
$old->query_safe("SET $_") for @forced;
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $before = $old->query_safe($query);
sql('DELETE FROM t WHERE k % 100 = 5', 'INSERT INTO t SELECT i * 13, 5, 5, 5, 5 FROM generate_series(1, 1500) i');
ask('a new snapshot') for (1 .. 2);
is($old->query_safe($query), $before, 'an old snapshot does not take what a new one recorded');
$old->query_safe('COMMIT');
$old->query_safe('BEGIN; DELETE FROM t WHERE k BETWEEN 3000 AND 3010');
my ($n) = split /\|/, $old->query_safe($query);
my ($all) = split /\|/, ask('others');
is($all - $n, 11, 'a transaction sees what it deleted itself');
$old->query_safe('ROLLBACK');
$old->quit;

# ---- others act while a reader has read the map and not looked ----

prepare('i');
ask('recorded');
my $whole = ask('all');
ask_held('rows inserted after the map was read do not count', sub {
	sql('INSERT INTO t SELECT i, 1, 1, 1, 1 FROM generate_series(200, 9000, 50) i', 'VACUUM t');
	# Others record what the reader must not take: rows that its snapshot does not see.
	ask('recorded by others') for (1 .. 2);
}, $whole);
# Rows that were deleted before the snapshot, and are removed after the map was read.
sql('VACUUM t');
ask('recorded');
sql('DELETE FROM t WHERE v = 1');
my $without = ask('without the deleted rows');
prepare('i');
ask('recorded');
sql('DELETE FROM t WHERE k BETWEEN 1000 AND 1500');
$without = without_cells();
ask_held('rows removed after the map was read do not count', sub {
	sql('VACUUM (INDEX_CLEANUP on) t');
}, $without);

# Rows all over the index, on heap pages that were all-visible before: there is room on each page.
my @fill_pages = ('ALTER TABLE t SET (fillfactor = 100)',
	'INSERT INTO t SELECT i, 1, 1, 1, 1 FROM generate_series(200, 19800, 50) i');

# ---- each leaf leads to all of the heap: the map is read once, for leaves that are copied later ----

prepare('i * 7919 % 20011');
ask('recorded, in another order');
cmp_ok(passed(), '>', 50, 'cells hold in another order');
$whole = ask('all, in another order');
ask_held('what was recorded after the reader began is not taken, though its map says seen', sub {
	sql(@fill_pages);
	ask('recorded by others, settled') for (1 .. 2);
}, $whole);

# ---- a cell that is being written ----

# The leaf's own cell: of what this asks for there is no other.
prepare('i');
my $columns = $query;
$query = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 100 AND 19900';
ask('recorded');
sql('UPDATE t SET v = v + 1 WHERE k % 50 = 0', 'VACUUM (INDEX_CLEANUP on) t');
$whole = without_cells();
ask_held('a recorder is held within a cell', sub {
	ask('a cell that is being written is not taken');
}, $whole, 'leaf-within-cell');
ask('and then it is');
$query = $columns;

# ---- a leaf that is being recorded: its entries and its LSN are of one moment ----

prepare('i');
$whole = without_cells();
{
	my $holder = gpb_holder($node);
	my $recorder = gpb_start($node, $query, @forced, "gpubtree.hold_point = 'cells-recording'");
	gpb_wait_for_hold($node);
	# It is the second leaf of the range, or near it.
	my $writer = gpb_start($node, 'INSERT INTO t SELECT i, 1, 1, 1, 1 FROM generate_series(100, 1500, 20) i',
		"application_name = 'writer'");
	gpb_wait_until('the writer waits for the leaf, or has ended', sub {
		$node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'writer'"
			. ' AND ' . gpb_waits_for_page() . " IS NOT TRUE AND state = 'active'") == 0 });
	$holder->quit;
	is(gpb_finish($recorder), $whole, 'a recorder is held at a leaf');
	is(gpb_finish($writer), '', 'a writer comes to that leaf');
}
sql('VACUUM t');
ask('the cell is not of the leaf with the new row');

# ---- what a snapshot sees is the reader's affair, not the recorder's ----

prepare('i * 7919 % 20011');
ask('recorded, in another order');
$whole = ask('all, in another order');
ask_held('rows that were deleted after the map was read count, whatever others record', sub {
	# No leaf changes by that.
	sql('DELETE FROM t WHERE k % 50 = 3');
	ask('recorded by others') for (1 .. 2);
}, $whole);

# ---- a session that asks again has other bits than before ----

prepare('i');
ask('recorded');
{
	my $session = $node->background_psql('postgres');
	$session->query_safe("SET $_") for @forced;
	$whole = $session->query_safe($query);
	sql('DELETE FROM t WHERE k BETWEEN 3000 AND 3100');
	isnt($session->query_safe($query), $whole, 'a session that asks again reads the map again');
	is($session->query_safe($query), without_cells(), 'and has what is right');
	$session->quit;
}

# ---- the look is at the leaf to which the walk has come ----

# The walk has visited one leaf, and knows the next one by its link.  That one is deleted and comes
# back, by a split, as another leaf with rows that all see, whose cell is recorded; only then does
# the reader begin with cells.  By its link it would go on behind the rows between.
prepare('i', 20000, 100);
sql('DELETE FROM t WHERE k BETWEEN 150 AND 4000');
$whole = without_cells();
my $blocks = sub { $node->safe_psql('postgres', "SELECT pg_relation_size('t_k')") };
ask_held('a link leads to a leaf that came back elsewhere', sub {
	sql('VACUUM (INDEX_CLEANUP on) t', 'VACUUM (INDEX_CLEANUP on) t');
	my $size = $blocks->();
	# Each of these is the second row of a full leaf, whose right half so has none of them.
	sql("INSERT INTO t SELECT low_key::bigint, 1, 1, 1, 1 FROM gpubtree_tree('t_k')"
		  . " WHERE level = 0 AND low_key::bigint BETWEEN 4100 AND 6500");
	is($blocks->(), $size, 'leaves came back');
	ask('recorded') for (1 .. 2);
}, $whole, 'cells-before-position');
ask('after that');

# ---- between the cells and the looks: splits, deletion of pages, recycling ----

prepare('i');
ask('recorded');
$whole = ask('all');
ask_held('leaves are split between cells and looks', sub {
	sql('INSERT INTO t SELECT k, 1, 1, 1, 1 FROM generate_series(200, 3000, 3) k');
	ask('others');
}, $whole);
prepare('i');
ask('recorded');
sql('DELETE FROM t WHERE k BETWEEN 150 AND 3000');
$whole = without_cells();
ask_held('leaves are deleted, and come back, between cells and looks', sub {
	sql('VACUUM (INDEX_CLEANUP on) t', 'VACUUM (INDEX_CLEANUP on) t');
	sql('INSERT INTO t SELECT k, 1, 1, 1, 1 FROM generate_series(100, 9000, 5) k');
	ask('others');
}, $whole);
ask('after that');

# ---- ranges that end within leaves, and ranges that overlap ----

for my $edge (150, 700, 1111, 1600, 9000)
{
	prepare('i');
	ask("a range to $edge is recorded", "SELECT count(*), sum(v), sum(w) FROM t WHERE k BETWEEN 100 AND $edge");
	ask("a range from $edge is recorded", "SELECT count(*), sum(v), sum(w) FROM t WHERE k BETWEEN $edge AND 19000");
	ask("all, after ranges to and from $edge");
}
for my $width (0, 40, 500, 3000, 15000)
{
	# One batch of the node has all of these ranges.
	my $sql = "SELECT md5(string_agg(q::text, ' ')) FROM (SELECT i, s.* FROM generate_series(1, 40) i, LATERAL"
	  . " (SELECT count(*), sum(v), max(w) FROM t WHERE k BETWEEN i * 450 AND i * 450 + $width) s OFFSET 0) q";
	ask("many ranges of width $width", $sql);
	$sql =~ s/i \* 450 \+ $width/19000 - i * $width % 7000/;
	ask("many ranges of width $width, one within the other", $sql);
}
for my $sql ('SELECT k, v FROM t ORDER BY k OFFSET 9000 LIMIT 3', 'SELECT k FROM t WHERE k > 150 ORDER BY k DESC OFFSET 15000 LIMIT 3',
	'SELECT percentile_disc(ARRAY[0.1, 0.5, 0.93]) WITHIN GROUP (ORDER BY k) FROM t WHERE k BETWEEN 77 AND 18888',
	'SELECT k / 700, count(*), sum(v), max(w) FROM t WHERE k BETWEEN 77 AND 18888 GROUP BY 1 ORDER BY 1',
	'SELECT k / 5000, sum(v), sum(f) FROM t WHERE k BETWEEN 77 AND 18888 GROUP BY 1 ORDER BY 1')
{
	ask($sql, "SELECT md5(string_agg(q::text, ' ')) FROM ($sql) q");
}

# ---- a column's cell is of the state of the leaf that the leaf's cell has ----

prepare('i');
my ($one, $both) = map { "SELECT $_ FROM t WHERE k BETWEEN 100 AND 19900" }
  ('sum(v)', 'count(*), sum(v), sum(w), max(n), sum(f)');
ask('columns', $both);
sql('UPDATE t SET v = v + 7, w = w + 3, f = f + 0.5, n = n + 100 WHERE k % 20 = 3', 'VACUUM (INDEX_CLEANUP on) t');
ask('one column of the leaves is recorded again', $one);
cmp_ok(passed($one), '>', 50, 'of that column cells hold');
ask('the others are not taken', $both);
# Programs that read columns of equal width, and as much of them, are not one another's.
for my $columns ('max(v)', 'max(n)', 'min(n)', 'sum(n)', 'sum(v)', 'max(w)', 'max(f)', 'sum(f)', 'sum(w)',
	'count(n)', 'count(v)', 'sum(k)', 'max(k)', 'sum(v), sum(n)', 'sum(n), sum(v)', 'sum(w), sum(k)')
{
	ask("of equal width: $columns", "SELECT $columns FROM t WHERE k BETWEEN 100 AND 19900");
}

# ---- pages that are settled ----

prepare('i', 20000, 90, '');
ask('fresh rows') for (1 .. 2);
cmp_ok(passed(), '>', 50, 'leaves of fresh rows are passed by');
sql('DELETE FROM t WHERE k % 200 = 9');
ask('pages that are settled with exceptions') for (1 .. 2);
sql('UPDATE t SET v = v + 1 WHERE k % 400 = 7');
ask('fresh rows, updated') for (1 .. 2);
sql('BEGIN; INSERT INTO t SELECT i * 100, 1, 1, 1, 1 FROM generate_series(1, 190) i; ROLLBACK');
ask('rows of an aborted transaction') for (1 .. 2);

# ---- rows that lie far from those of their neighbours ----

prepare('i');
sql('ALTER TABLE t SET (fillfactor = 30)', 'VACUUM FULL t', 'INSERT INTO t SELECT i, 7777, 1, 1, 1 FROM generate_series(500, 19500, 500) i',
	'VACUUM t');
ask('rows at the end of the table');
cmp_ok(passed(), '>', 50, 'their leaves are passed by');
sql('DELETE FROM t WHERE v = 7777');
ask('rows at the end of the table are deleted');

# ---- own rows, subtransactions, a cursor ----

prepare('i');
ask('recorded');
{
	my $session = $node->background_psql('postgres');
	my $same = sub {
		my ($name) = @_;
		my @answers = map { $session->query_safe("SET gpubtree.enable_leaf_cache = $_; $query") } qw(on off on);
		is($answers[0], $answers[1], $name);
		is($answers[2], $answers[1], "$name, again");
	};
	$session->query_safe("SET $_") for @forced;
	$session->query_safe('BEGIN');
	$session->query_safe('INSERT INTO t SELECT i * 100, 1, 1, 1, 1 FROM generate_series(1, 190) i');
	$same->('own rows');
	$session->query_safe('SAVEPOINT a; DELETE FROM t WHERE k % 150 = 0');
	$same->('own deletions in a subtransaction');
	ask('others do not see these');
	my $cursor = 'SELECT i, s FROM generate_series(1, 30) i, LATERAL (SELECT count(*) + 0 * i, sum(v), max(w)'
	  . ' FROM t WHERE k BETWEEN 100 + 0 * i AND 19900) s';
	$session->query_safe("DECLARE c CURSOR FOR $cursor");
	my $first = $session->query_safe('FETCH 1 FROM c') =~ s/^\d+\|//r;
	$session->query_safe('UPDATE t SET v = v + 1 WHERE k % 300 = 1; DELETE FROM t WHERE k % 300 = 2');
	sql('DELETE FROM t WHERE k % 300 = 4', 'VACUUM (INDEX_CLEANUP on) t');
	ask('others change it, too');
	is(join(' ', map { $session->query_safe('FETCH 1 FROM c') =~ s/^\d+\|//r } (1 .. 20)), join(' ', ($first) x 20),
		'a cursor shows what it showed first');
	$same->('own rows, and those of others');
	$session->query_safe('CLOSE c; ROLLBACK TO a');
	$same->('a subtransaction is aborted');
	$session->query_safe('COMMIT');
	$same->('committed');
	$session->quit;
}

# ---- files ----

# A file that is filled anew, moved there and back, rewritten, or copied with its LSNs
prepare('i');
ask('recorded');
sql("CREATE TABLESPACE other LOCATION ''");
for my $change ('BEGIN; TRUNCATE t; INSERT INTO t SELECT i, 2, 2, 2, 2 FROM generate_series(1, 15000) i; COMMIT', 'VACUUM t',
	'ALTER INDEX t_k SET TABLESPACE other', 'UPDATE t SET v = v + 1 WHERE k % 500 = 1', 'ALTER INDEX t_k SET TABLESPACE pg_default',
	'ALTER TABLE t SET TABLESPACE other', 'DELETE FROM t WHERE k % 500 = 2', 'ALTER TABLE t SET TABLESPACE pg_default',
	'VACUUM FULL t', 'CLUSTER t USING t_k', 'BEGIN; TRUNCATE t; ROLLBACK', 'REINDEX INDEX CONCURRENTLY t_k',
	'ALTER TABLE t SET UNLOGGED', 'UPDATE t SET v = v + 1 WHERE k % 500 = 3', 'ALTER TABLE t SET LOGGED')
{
	sql(split(/; /, $change) > 1 && $change !~ /^BEGIN/ ? split(/; /, $change) : $change);
	ask($change);
}
sql('VACUUM t');
for my $strategy (qw(file_copy wal_log))
{
	my $same = sub {
		my ($name, $database) = @_;
		my $sql = "SELECT count(*), sum(v), sum(w) FROM t WHERE k BETWEEN 100 AND 14900";
		my @answers = split /\n/, $node->safe_psql($database, join('', map { "SET $_;" } @forced)
			  . "BEGIN ISOLATION LEVEL REPEATABLE READ; $sql; $sql; SET LOCAL gpubtree.enable_leaf_cache = off; $sql; COMMIT");
		is("@answers[0, 1]", "@answers[2, 2]", "$strategy: $name");
	};
	ask('recorded before it is copied');
	sql("CREATE DATABASE copied TEMPLATE postgres STRATEGY $strategy");
	$same->('the copy', 'copied');
	$node->safe_psql('copied', 'UPDATE t SET v = v + 1 WHERE k % 300 = 1');
	$same->('the copy is changed', 'copied');
	$same->('the original is not', 'postgres');
	sql('DELETE FROM t WHERE k % 300 = 2');
	$same->('the original is changed', 'postgres');
	$same->('the copy has rows that the original has lost', 'copied');
	$node->safe_psql('postgres', 'ALTER DATABASE copied SET TABLESPACE other');
	$same->('the copy has moved', 'copied');
	$node->safe_psql('copied', 'UPDATE t SET v = v + 1 WHERE k % 300 = 4; VACUUM t');
	$same->('it is changed', 'copied');
	$node->safe_psql('postgres', 'ALTER DATABASE copied SET TABLESPACE pg_default');
	$same->('and moves back', 'copied');
	sql('DROP DATABASE copied');
}

prepare('i');
ask('recorded');
sql('REINDEX INDEX t_k');
ask('REINDEX');
sql('TRUNCATE t');
is($node->safe_psql('postgres', $query), '0||||||0', 'TRUNCATE');
sql('DROP TABLE t; CREATE UNLOGGED TABLE t (k bigint, v int, f float8, w bigint, n int);'
	  . 'INSERT INTO t SELECT i, 1, 1, 1, 1 FROM generate_series(1, 20000) i;'
	  . 'CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, f, w, n); VACUUM t');
passed();
is(passed(), 0, 'no cells of an unlogged index');

# ---- wide keys, runs, DESC and NULLs ----

sql(<<'SQL', 'VACUUM u');
CREATE TABLE u (a bigint NOT NULL, b bigint NOT NULL, d int, v int);
INSERT INTO u SELECT i, i * 3, nullif(i / 200, 5), i % 50 FROM generate_series(1, 20000) i;
CREATE INDEX u_wide ON u USING gpubtree (a, b) INCLUDE (v);
CREATE INDEX u_runs ON u USING gpubtree (d DESC);
CREATE INDEX u_narrow ON u USING gpubtree (d, v DESC NULLS FIRST);
SQL
ask_all('kinds of keys', 'SELECT count(*), sum(v) FROM u WHERE a BETWEEN 10 AND 19000',
	'SELECT count(*), min(d), max(d) FROM u WHERE d BETWEEN 2 AND 95',
	'SELECT count(*), count(d) FROM u WHERE d >= 1', 'SELECT count(*) FROM u WHERE d IS NULL',
	'SELECT count(*), sum(v) FROM u WHERE a BETWEEN 10 AND 19000 AND b BETWEEN 6000 AND 40000',
	'SELECT count(*), sum(v) FROM u WHERE d BETWEEN 2 AND 95 AND v < 100 AND d <> 50',
	rows('SELECT d, count(*) FROM u WHERE d > 3 GROUP BY d'), 'SELECT count(*) FILTER (WHERE d = 7) FROM u');

# ---- values and keys of other kinds ----

sql(<<'SQL', 'VACUUM w');
CREATE TABLE w (id uuid, ts timestamptz, d float8, s int2, x numeric(12, 2), i int);
INSERT INTO w SELECT md5(i::text)::uuid, CASE WHEN i % 9 > 0 THEN timestamptz '2024-01-01' + i * interval '1 minute' END,
	CASE i % 2500 WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' WHEN 3 THEN '-Infinity' WHEN 4 THEN '-0' WHEN 5 THEN 4.9e-324
		WHEN 6 THEN 1.7e308 WHEN 7 THEN NULL ELSE (i % 7 - 3) / 8.0 END,
	nullif(i % 65536 - 32768, -5), i / 100.0, CASE WHEN i % 2 = 0 THEN 2147483647 ELSE -2147483648 END
	FROM generate_series(1, 12000) i;
CREATE INDEX w_id ON w USING gpubtree (id) INCLUDE (d, s);
CREATE INDEX w_ts ON w USING gpubtree (ts DESC NULLS LAST) INCLUDE (x, d, i);
CREATE INDEX w_s ON w USING gpubtree (s) INCLUDE (i, d);
SQL
my %ranges = (id => "id BETWEEN '08000000-0000-0000-0000-000000000000' AND 'f8000000-0000-0000-0000-000000000000'",
	ts => "ts BETWEEN '2024-01-01 03:00+0' AND '2024-01-08 05:00+0'", s => 's > -32700',
	'ts IS NULL' => 'ts IS NULL');
my %columns = (id => [ 'sum(s), max(s)', 'min(d), max(d)', 'sum(d)' ],
	ts => [ 'sum(x), min(x)', 'sum(i), count(i)', 'min(d), max(d), sum(d), avg(d)', 'min(ts), max(ts)' ],
	s => [ 'sum(s), min(s)', 'sum(i), min(i)', 'sum(d)', 'min(d), count(d)' ], 'ts IS NULL' => [ 'sum(i)', 'min(d), sum(d)' ]);
for my $key (sort keys %ranges)
{
	my @columns = (@{ $columns{$key} }, join(', ', @{ $columns{$key} }));
	my @sums = ask_all("by $key", map { "SELECT count(*), $_ FROM w WHERE $ranges{$key}" } @columns);
	for my $i (grep { $columns[$_] !~ /sum\(d\)/ } (0 .. $#columns))
	{
		cmp_ok($sums[$i], '>', 3, "by $key, cells are taken: $columns[$i]");
	}
}
# Filters by columns of other kinds: each is decided as without cells.
sql(<<'SQL', 'VACUUM y');
CREATE TABLE y (k int, s text, b bool, c timestamptz, e date, x numeric(12, 2), big numeric(30, 2), d float8, p text);
INSERT INTO y SELECT i, CASE WHEN i < 6000 THEN 'new' WHEN i < 11000 THEN 'old' ELSE 'gone' END, nullif(i > 7000, i % 4000 = 5),
	CASE WHEN i BETWEEN 3000 AND 3500 THEN NULL WHEN i = 9000 THEN 'infinity' ELSE timestamptz '2024-03-30' + i * interval '20 s' END,
	date '2024-01-01' + i / 50, i / 100.0, i * 1e17,
	CASE WHEN i / 300 = 9 THEN 'NaN' WHEN i / 300 = 11 THEN 'infinity' WHEN i % 3000 = 8 THEN '-0' ELSE (i - 6000)::float8 END, 'p' || i % 20
	FROM generate_series(1, 12000) i;
CREATE INDEX y_k ON y USING gpubtree (k) INCLUDE (s, b, c, e, x, big, d, p);
SQL
my $decided = ask_filtered('y WHERE k > 5', map { [ $_, undef, undef, 'count(*), sum(x), min(c), count(big)' ] }
	"s = 'old'", "s <> 'old'", "s < 'new'", "s IN ('new', 'gone')", 'b', 'NOT b', 'b IS NULL', 'b IS NOT TRUE',
	"c >= '2024-03-31 12:00+0' AND c < '2024-04-01'", "c::date = '2024-03-31'", "date_trunc('hour', c) <= '2024-03-30 17:00'",
	"c + interval '2 days' > '2024-04-02'", 'c IS NULL', "e = '2024-03-01'", "e - date '2024-01-01' > 100",
	"date_trunc('month', e) = '2024-04-01'", 'x BETWEEN 30 AND 40.5', 'x * 2 > 100 AND x <> 77', 'big > 5e20', 'big IS NOT NULL',
	"d = 'NaN'", 'd > 3000', 'd <= 0', "d < 'infinity'", '-d > 1000', 'd + 0.5 < -2000', "p = 'p7'", 'k % 2 = 0 AND k / 100 = 33');
cmp_ok($decided, '>', 20, "$decided of these filters are decided for whole leaves");
# Sums of a leaf of more than 64 bits
prepare('i');
sql('UPDATE t SET w = CASE WHEN k % 3 = 0 THEN -9223372036854775807 ELSE 9223372036854775807 END', 'VACUUM (INDEX_CLEANUP on) t');
ask('sums of more than 64 bits', 'SELECT sum(w), min(w), max(w), count(w) FROM t WHERE k BETWEEN 100 AND 19900') for (1 .. 2);

# ---- a standby, and its promotion ----

prepare('i');
ask('recorded');
my $standby = gpb_standby($node);
$node->wait_for_catchup($standby);
ask('on the standby', $query, $standby);
cmp_ok(passed($query, $standby), '>', 50, 'a standby passes leaves by');
for my $round (1 .. 3)
{
	sql("DELETE FROM t WHERE k % 97 = $round",
		"INSERT INTO t SELECT i * 11 + $round, 2, 2, 2, 2 FROM generate_series(1, 500) i",
		$round == 2 ? 'VACUUM (INDEX_CLEANUP on) t' : 'SELECT 1');
	$node->wait_for_catchup($standby);
	is(ask("round $round on the standby", $query, $standby), ask("round $round"),
		"round $round: the primary's answer");
}
prepare('i * 7919 % 20011');
$node->wait_for_catchup($standby);
$whole = ask('on the standby, in another order', $query, $standby);
ask_held('on a standby what was replayed after the map was read is not taken, whoever recorded it', sub {
	sql(@fill_pages);
	$node->wait_for_catchup($standby);
	ask('recorded by others on the standby', $query, $standby) for (1 .. 2);
}, $whole, 'cells-before-looks', $standby);
# Leaves of the rows that are deleted lead to other pages than the first leaves that are passed by.
prepare('i');
$node->wait_for_catchup($standby);
ask('in order, on the standby', $query, $standby);
sql('DELETE FROM t WHERE k BETWEEN 1500 AND 3000');
$node->wait_for_catchup($standby);
$whole = ask('deleted', $query, $standby);
ask_held('on a standby rows are removed, and leaves come back, between map and looks', sub {
	sql('VACUUM (INDEX_CLEANUP on) t', 'VACUUM (INDEX_CLEANUP on) t',
		'INSERT INTO t SELECT k, 1, 1, 1, 1 FROM generate_series(100, 9000, 5) k');
	$node->wait_for_catchup($standby);
}, $whole, 'cells-before-looks', $standby);
$standby->promote;
$standby->safe_psql('postgres', 'DELETE FROM t WHERE k % 89 = 3');
ask('promoted', $query, $standby);
$standby->stop;

# ---- a crash ----

ask('before the crash');
sql('INSERT INTO t SELECT i * 5, 3, 3, 3, 3 FROM generate_series(1, 300) i');
$node->stop('immediate');
$node->start;
ask('after the crash');

# ---- little memory: cells take each other's places ----

$node->append_conf('postgresql.conf', "gpubtree.leaf_cache_size = '8kB'");
$node->restart;
ask('with a few cells') for (1 .. 2);
$node->append_conf('postgresql.conf', "gpubtree.leaf_cache_size = 0");
$node->restart;
ask('with none');
is(passed(), 0, 'no cells');

# ---- other servers: checksums and images for hints, a minimal log ----

my $main = $node;
$main->stop;
$node = gpb_node('checksums', initdb => ['--data-checksums'], settings => "autovacuum = off\ngpubtree.device = 'off'\n"
	  . "wal_level = replica\nwal_log_hints = on\nshared_buffers = '32MB'\nmax_parallel_workers_per_gather = 0\n");
gpb_compare_function($node);
prepare('i');
ask('checksums');
cmp_ok(passed(), '>', 50, 'with checksums leaves are passed by');
for my $round (1 .. 3)
{
	sql("DELETE FROM t WHERE k % 100 = $round", 'CHECKPOINT');
	# An index scan of core hints at the dead entries: images of leaves are logged.
	$node->safe_psql('postgres', 'SET gpubtree.enable_aggregate = off; SET enable_seqscan = off; SET enable_bitmapscan = off;'
		  . 'SELECT count(f) FROM t WHERE k BETWEEN 100 AND 19900') for (1 .. 2);
	ask("hints are logged, round $round");
	sql('VACUUM (INDEX_CLEANUP on) t') if $round == 2;
	ask("round $round");
}
$node->stop;

$node = gpb_node('minimal', settings => "autovacuum = off\ngpubtree.device = 'off'\nwal_level = minimal\n"
	  . "max_wal_senders = 0\nshared_buffers = '32MB'\nmax_parallel_workers_per_gather = 0\n");
gpb_compare_function($node);
prepare('i');
sql('BEGIN; TRUNCATE t; INSERT INTO t SELECT i, 2, 2, 2, 2 FROM generate_series(1, 20000) i; COMMIT', 'VACUUM t');
ask('wal_level minimal');
is(passed(), 0, 'no cells with wal_level minimal');
$node->stop;
$node = $main;
$node->start;

# ---- beside writers: random queries with and without cells in one snapshot ----

# GPB_ROUNDS	so many thousand comparisons on the primary, and on a standby (default: 0.4)
# GPB_DEVICE	the device, if any (default: none)
gpb_seed();
my $comparisons = ($ENV{GPB_ROUNDS} // 0.4) * 1000;
my $memory = $ENV{GPB_ROUNDS} ? (1, 64, 256, 4096)[gpb_seed() % 4] : 256;
$node->append_conf('postgresql.conf', "gpubtree.device = '" . ($ENV{GPB_DEVICE} // 'off') . "'\n"
	  . "gpubtree.leaf_cache_size = '${memory}kB'\nautovacuum = on\nautovacuum_naptime = 1\n"
	  . "autovacuum_vacuum_scale_factor = 0.01\nautovacuum_vacuum_insert_scale_factor = 0.01\n");
$node->restart;
prepare('i', 30000);
sql(<<'SQL');
CREATE TABLE s (k bigint, v int, f float8, w bigint, n int) WITH (fillfactor = 80);
INSERT INTO s SELECT * FROM t ORDER BY k * 7919 % 30011;
CREATE INDEX s_k ON s USING gpubtree (k) INCLUDE (v, f, w, n);
VACUUM s;
-- Sums of some columns of s or t, over one range, over many that overlap, or over buckets
CREATE FUNCTION random_query() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	sums text[] := ARRAY['count(*)', 'sum(v)', 'min(v)', 'max(w)', 'sum(w)', 'sum(f)', 'min(f)', 'max(f)', 'count(n)', 'sum(n)',
		'sum(k)', 'max(k)'];
	columns text := (SELECT string_agg(sums[1 + floor(random() * 12)::int], ', ') FROM generate_series(0, (random() * 4)::int));
	source text := CASE WHEN random() < 0.3 THEN 's' ELSE 't' END;
	lo int := random() * 30000;
	width int := CASE WHEN random() < 0.2 THEN random() * 500 ELSE random() * 25000 END;
	bound int := random() * 30000;
	filters text[] := ARRAY['f > %s / 8.0', 'f BETWEEN %s / 16.0 AND %s / 8.0', 'w < %s * 1000000007', 'v = 5', 'n IS NOT NULL',
		'(f < %s / 8.0 OR w > %s * 1500000007)', 'coalesce(n, 0) < 9', 'v * 2 < %s AND f > 100'];
	filter text := CASE WHEN random() < 0.5 THEN '' ELSE
		' AND ' || replace(filters[1 + floor(random() * 8)::int], '%s', bound::text || '::bigint') END;
BEGIN
	IF random() < 0.15 THEN
		RETURN format('SELECT k::text FROM %s WHERE k >= %s ORDER BY k OFFSET %s LIMIT 1', source, lo, width / 3);
	ELSIF random() < 0.15 THEN
		RETURN format('SELECT percentile_disc(%s) WITHIN GROUP (ORDER BY k)::text FROM %s WHERE k BETWEEN %s AND %s',
			round(random()::numeric, 2), source, lo, lo + width);
	ELSIF random() < 0.2 THEN
		RETURN format('SELECT md5(string_agg(q::text, '' '' ORDER BY n)) FROM (SELECT n, %s FROM %s WHERE k BETWEEN %s AND %s GROUP BY n) q',
			(ARRAY['count(*)', 'count(*), sum(v)', 'sum(w), sum(v), count(*)', 'max(n), sum(n)'])[1 + floor(random() * 4)::int],
			source, lo, lo + width);
	ELSIF random() < 0.15 THEN
		RETURN format('SELECT (count(*) FILTER (WHERE n = %s), count(*), sum(v) FILTER (WHERE n > 1))::text FROM %s WHERE k BETWEEN %s AND %s %s',
			(random() * 7)::int, source, lo, lo + width,
			(ARRAY['', 'AND n IN (1, 2, 9)', 'AND n IS NULL', 'AND n <> 4'])[1 + floor(random() * 4)::int]);
	ELSIF random() < 0.2 THEN
		RETURN format('SELECT md5(string_agg(q::text, '' '' ORDER BY b)) FROM (SELECT k / %s AS b, %s FROM %s '
			'WHERE k BETWEEN %s AND %s%s GROUP BY 1) q', 50 + (random() * 3000)::int, columns, source, lo, lo + width, filter);
	ELSIF random() < 0.25 THEN
		RETURN format('SELECT md5(string_agg(q::text, '' '' ORDER BY i)) FROM (SELECT i, r.* FROM generate_series(1, %s) i, LATERAL '
			'(SELECT %s FROM %s WHERE k BETWEEN i * %s AND i * %s + %s%s) r OFFSET 0) q', (random() * 12)::int, columns, source,
			lo / 12, lo / 12, width / 4, filter);
	ELSIF filter <> '' AND random() < 0.2 THEN
		RETURN format('SELECT md5(string_agg(q::text, '' '' ORDER BY q)) FROM (SELECT k, v, w FROM %s WHERE k BETWEEN %s AND %s%s OFFSET 0) q',
			source, lo, lo + width, filter);
	ELSIF filter <> '' AND random() < 0.2 THEN
		RETURN format('SELECT md5(string_agg(q::text, '' '' ORDER BY q)) FROM (SELECT n, %s FROM %s WHERE k BETWEEN %s AND %s%s GROUP BY 1) q',
			columns, source, lo, lo + width, filter);
	END IF;
	RETURN format('SELECT (%s, count(*), count(*) FILTER (WHERE f < %s))::text FROM %s WHERE k BETWEEN %s AND %s%s', columns,
		CASE WHEN random() < 0.3 THEN bound / 8 ELSE 1e20 END, source, lo, lo + width, filter);
END $$;
CREATE PROCEDURE compare_cells(n int) LANGUAGE plpgsql AS $$
DECLARE
	answer text[];
	one text;
	query text;
	uses text;
	plan text;
	passed int := 0;
BEGIN
	WHILE n > 0 LOOP
		FOR i IN 1 .. 1 + random() * 6 LOOP
			query := random_query();
			FOR k IN 1 .. 3 LOOP
				uses := CASE WHEN (k = 2) = (n % 2 = 0) THEN 'on' ELSE 'off' END;
				PERFORM set_config('gpubtree.enable_leaf_cache', uses, false);
				EXECUTE query INTO one;
				answer[k] := one;
			END LOOP;
			IF answer[1] IS DISTINCT FROM answer[2] OR answer[1] IS DISTINCT FROM answer[3] THEN
				RAISE EXCEPTION 'wrong: %: % % %, the second % cells', query, answer[1], answer[2], answer[3],
					CASE WHEN n % 2 = 0 THEN 'with' ELSE 'without' END;
			END IF;
			n := n - 1;
		END LOOP;
		SET gpubtree.enable_leaf_cache = on;
		EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
		passed := passed + coalesce(substring(plan FROM '"Leaves Passed by Cells": (\d+)')::int, 0);
		COMMIT;
	END LOOP;
	RAISE NOTICE 'passed % leaves', passed;
END $$;
SQL
my $reader = $node;
my $mix_standby = gpb_standby($node, name => 'mix_standby', settings => "max_standby_streaming_delay = 10s\n");
my $writers = gpb_start_pgbench($node, {
	'insert@8' => "\\set k random(1, 30000)\nINSERT INTO t VALUES (:k, 1, :k / 4.0, :k, NULL);\nINSERT INTO s VALUES (:k, 1, 2, :k, 3);\n",
	'delete@8' => "\\set k random(1, 30000)\nDELETE FROM t WHERE k BETWEEN :k AND :k + 3;\nDELETE FROM s WHERE k = :k;\n",
	'many@1' => "\\set k random(1, 30000)\nDELETE FROM t WHERE k BETWEEN :k AND :k + 1000;\nINSERT INTO t SELECT :k + i, 2, i / 3.0, -i, i FROM generate_series(1, 1000) i;\n",
	'update@8' => "\\set k random(1, 30000)\nUPDATE t SET v = v + 1, f = f / 2 WHERE k = :k;\n",
	'hot@4' => "\\set k random(1, 30000)\nBEGIN;\nSELECT 1 FROM t WHERE k = :k FOR UPDATE;\nSAVEPOINT a;\nDELETE FROM t WHERE k = :k;\nROLLBACK TO a;\nINSERT INTO t VALUES (:k, 9, 9, 9, 9);\nEND;\n",
	'abort@3' => "\\set k random(1, 30000)\nBEGIN;\nINSERT INTO t SELECT :k + i, 5, 5, 5, 5 FROM generate_series(1, 20) i;\nROLLBACK;\n",
	'vacuum@1' => "VACUUM (INDEX_CLEANUP on) t;\nVACUUM s;\n" }, '-c', '3', '--rate=200');
my ($compared, $passed) = (0, 0);
while ($compared < $comparisons)
{
	my %readers;
	for my $on ($node, $mix_standby)
	{
		for my $number (1, 2)
		{
			$readers{ $on->name . $number } = gpb_start($on, [ gpb_setseed(), 'CALL compare_cells(200)' ], @forced,
				"default_transaction_isolation = 'repeatable read'");
		}
	}
	$compared += 400;
	for my $name (sort keys %readers)
	{
		# Recovery may cancel a reader of the standby, or end its session, for its snapshot.
		my $said = gpb_finish($readers{$name});
		my $ended = $said =~ /ERROR|FATAL/ && $said !~ /conflict with recovery/;
		ok(!$ended, "$name: $compared comparisons beside writers") if $ended || $compared >= $comparisons;
		diag($said) if $ended;
		$passed += $1 if $said =~ /passed (\d+) leaves/;
	}
}
cmp_ok($passed, '>', 0, "$passed leaves were passed by in plans that were shown");
ok(gpb_end_pgbench($writers), 'writers');
$node->safe_psql('postgres', "SELECT gpubtree_check('t_k', true), gpubtree_check('s_k', true)");
$node->wait_for_catchup($mix_standby);
for my $source (qw(s t))
{
	my $sql = "SELECT count(*), sum(v), sum(w), sum(f), count(n) FROM $source WHERE k BETWEEN 10 AND 40000";
	is(ask("the standby, $source", $sql, $mix_standby), ask("the primary, $source", $sql), "$source: both have the same");
}

done_testing();
