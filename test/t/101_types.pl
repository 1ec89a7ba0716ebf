# Every type of fixed width, as key and as INCLUDE column, answers as core does from the table: ranges,
# order, arrays, rows, groups, DISTINCT, joins, of random values with those at the limits of the type
# among them.  The bytes that a type sends are compared, not only the text.
#
# Guards: coding.h, rel_cache.c, key.c, scan_tuple.c, array_keys.c
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 26)
# GPB_DEVICE	gpubtree.device (default host)
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 26);
$random->node->safe_psql('postgres', <<'SQL');
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
ALTER TYPE mood ADD VALUE 'glum' BEFORE 'ok';
CREATE DOMAIN code AS macaddr8;
SET lc_monetary = 'C';
CREATE FUNCTION bits(r float8, n int) RETURNS text LANGUAGE sql AS
	$$SELECT left(md5(r::text), n)$$;
SQL

# ---- types ----

# SQL that makes a value of a number n, a few of which are near each other, or of a random r; literals
# at the limits.  There is no -0 among them: rows of it and of 0 may come in any order.
my %type = (
	bool => [ 'n % 2 = 0', qw(true false) ],
	'"char"' => [ '(n % 256 - 128)::int::"char"', '\200', '\377', '', '~' ],
	int2 => [ '(n - 30000)::int2', -32768, 32767, 0, -1 ],
	int4 => [ '(r * 4294967295 - 2147483648)::int8::int4', -2147483648, 2147483647, 0 ],
	int8 => [ '((r - 0.5) * 1.8e19)::numeric(20, 0)::int8', '-9223372036854775808', '9223372036854775807', 2147483648 ],
	oid => [ '(r * 4294967295)::int8::oid', 0, 2147483647, 2147483648, 4294967295 ],
	float4 => [ '((n - 300) / 8.0)::float4', qw(NaN infinity -infinity 1e-45 -3.4028235e38) ],
	float8 => [ '(r - 0.5) * power(10, n % 40 - 20)', qw(NaN infinity -infinity 5e-324 -1e308 0.1) ],
	date => [ "date '2000-01-01' + n - 300", '-infinity', 'infinity', '4714-11-24 BC', '5874897-12-31' ],
	time => [ "time '00:00' + r * interval '86399 s'", '00:00', '24:00', '23:59:59.999999' ],
	timetz => [ "(time '00:00' + (n % 1440) * interval '1 min') AT TIME ZONE make_interval(mins => (r * 1900)::int - 950)",
		'00:00+00', '24:00-15:59:59', '00:00+15:59:59', '24:00+00', '00:00-01', '23:00+00', '01:00+01' ],
	timestamp => [ "timestamp '2000-01-01' + (n - 300) * interval '7 h'", '-infinity', 'infinity', '294276-12-31 23:59:59.999999' ],
	timestamptz => [ "timestamptz '2000-01-01' + r * interval '9 years'", '-infinity', 'infinity', '4714-11-24 00:00:00+00 BC' ],
	money => [ '((r - 0.5) * 10000)::numeric::money', '-92233720368547758.08', '92233720368547758.07', 0 ],
	xid8 => [ '(r * 1.8e19)::numeric(20, 0)::text::xid8', 0, '9223372036854775807', '9223372036854775808', '18446744073709551615' ],
	pg_lsn => [ "pg_lsn '7FFFFFFF/FFFFFF00' + n::numeric", '0/0', '7FFFFFFF/FFFFFFFF', '80000000/0', 'FFFFFFFF/FFFFFFFF' ],
	uuid => [ "(repeat(lpad(to_hex(n % 7), 4, '0'), 4) || bits(r, 16))::uuid", map { "$_-0000-0000-0000-000000000000" } '00000000', '80000000', '7fffffff' ],
	macaddr => [ "(lpad(to_hex(n % 300), 6, '0') || bits(r, 6))::macaddr", '00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff', '80:00:00:00:00:00' ],
	macaddr8 => [ "(bits(r, 8) || bits(n, 8))::macaddr8", '00:00:00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff:ff:ff', '80:00:00:00:00:00:00:00', '7f:ff:ff:ff:ff:ff:ff:ff' ],
	code => [ "(bits(r, 2) || bits(n, 14))::macaddr8", '00:00:00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff:ff:ff' ],
	'numeric(12, 3)' => [ '(n - 300) / 8.0', 'NaN', 999999999.999, -999999999.999, 0 ],
	'numeric(30, 8)' => [ "(r - 0.5)::numeric * power(10::numeric, n % 23)", 'NaN', '9' x 22 . '.99999999', '-' . '9' x 22 . '.99999999', '1e-8', 0 ],
	'numeric(38)' => [ "trunc((r - 0.5)::numeric * power(10::numeric, n % 39))", 'NaN', '9' x 38, '-' . '9' x 38, '18446744073709551616', '-18446744073709551615' ],
	interval => [ 'make_interval(days => n % 40, hours => (r * 100)::int)', '1 day', '24 hours', '1 month', '30 days', '-178000000 years' ],
	mood => [ '(enum_range(null::mood))[1 + n % 4]', qw(sad glum ok happy) ]);
my @all = sort keys %type;
my @keys = grep { !/interval|mood/ } @all;

# A random order of these, so that few rounds have all of them
my @turn = sort { $a->[1] <=> $b->[1] } map { [ $_, rand() ] } @keys;

my ($key, @include, %of);

sub value_sql
{
	my ($column) = @_;
	my ($value, @special) = @{ $type{ $of{$column} } };
	my $special = 'ARRAY[' . join(', ', map { "'$_'" } @special) . "]::text[]";

	return "CASE WHEN random() < 0.05 THEN NULL WHEN random() < 0.06 THEN (($special)[1 + floor(random() * "
	  . scalar(@special) . ")])::$of{$column} ELSE ($value)::$of{$column} END";
}

# A literal: at a limit of the type, or a row's value
sub literal
{
	my ($column) = @_;
	my (undef, @special) = @{ $type{ $of{$column} } };

	return "'" . pick(@special) . "'::$of{$column}" if chance(0.4);
	return "(SELECT $column FROM t WHERE id = " . between(1, 400) . ')' if chance(0.3) || $of{$column} eq '"char"';
	my $value = $random->sql("SELECT quote_literal($column\::text) FROM t WHERE $column IS NOT NULL ORDER BY id LIMIT 1 OFFSET " . between(0, 250) . ';');
	return $value eq '' ? "NULL::$of{$column}" : "$value\::$of{$column}";
}

sub create_table
{
	my ($round) = @_;
	my $rows = pick(20, 600, 2000);
	my $order = gpb_index_order();

	%of = (k => $turn[ ($round - 1) % @turn ][0], map { $_ => pick(@all) } qw(a b c));
	my $included = join(', ', sort { rand() <=> 0.5 } qw(a b c i id));
	my $distinct = pick(5, 60, 3000);
	$random->sql("SELECT setseed(" . rand() . ");\n"
		. gpb_table_sql(
			name => 't',
			columns => 'id int4, ' . join(', ', map { "$_ $of{$_}" } qw(k a b c)) . ', i int4',
			index => "CREATE INDEX t_k ON t USING gpubtree (k $order) INCLUDE ($included);\n",
			load => "INSERT INTO t SELECT id, " . join(', ', map { value_sql($_) } qw(k a b c))
			  . ", id % 11 FROM (SELECT id, n, CASE WHEN random() < 0.4 THEN n / 3001.0 ELSE random() END AS r FROM (SELECT id, floor(random() * $distinct)::int AS n FROM generate_series(1, $rows) id) x) y;\n",
			changes => [ "UPDATE t SET i = i + 1 WHERE id % 5 = 0;\n", "DELETE FROM t WHERE id % 3 = 0;\n", "UPDATE t SET k = NULL, a = b::text::$of{a} WHERE false;\n" ])
		. "SELECT gpubtree_check('t_k', true);\n"
		. "DROP TABLE IF EXISTS o;\nCREATE TABLE o AS SELECT id AS oid, k AS ok FROM t WHERE id % 7 = 0 LIMIT 100;\nANALYZE o;\n");
	return "k $of{k} $order, a $of{a}, b $of{b}, c $of{c}";
}

# ---- queries ----

sub condition
{
	my ($column) = @_;
	my $op = pick('<', '<=', '=', '>=', '>');

	return pick("$column $op " . literal($column), "$column BETWEEN " . literal($column) . ' AND ' . literal($column),
		"$column IN (" . join(', ', map { literal($column) } 1 .. 3) . ')', "$column IS NULL", "$column IS NOT NULL", "$column <> " . literal($column),
		"$column = ANY (ARRAY(SELECT $column FROM t WHERE id % 17 = 3))");
}

sub query
{
	my $other = pick(qw(a b c));
	my $where = 'WHERE ' . (chance(0.8) ? condition('k') : 'true')
	  . (chance(0.4) ? pick(' AND i > 4', ' AND i IN (1, 3, 9)') : '') . (chance(0.35) ? ' AND ' . condition($other) : '');
	# of equal intervals that differ a plan shows one or the other
	my $group = $of{$other} eq 'interval' ? 'i' : $other;
	my $counts = "count(*), count(k), count($other), sum(i), min(id)";

	return pick(
		"SELECT k, a, b, c, id FROM t $where", "SELECT k, a, b, c, id FROM t $where", "SELECT $other, i FROM t $where",
		"SELECT k FROM t $where ORDER BY k" . pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST') . pick('', ' LIMIT ' . between(1, 30)) . pick('', ' OFFSET ' . between(0, 300)),
		"SELECT $counts FROM t $where", "SELECT $counts FROM t $where",
		"SELECT $group, $counts FROM t $where GROUP BY $group", "SELECT k, $counts FROM t $where GROUP BY k",
		"SELECT DISTINCT k FROM t $where", "SELECT count(DISTINCT $other), count(DISTINCT k) FROM t $where",
		"SELECT oid, ok, k, $other FROM o JOIN t ON ok = k", "SELECT oid, (SELECT count(*) FROM t WHERE k >= ok AND i < 7) FROM o",
		"SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY k) FROM t $where");
}

sub compare_query
{
	my $query = query();
	my $ordered = $query =~ /ORDER BY k[ DESCNULFIRTA]*( LIMIT| OFFSET|$)/ && $query !~ /WITHIN/;
	my $answer = $ordered ? "SELECT count(*), md5(string_agg(record_send(q)::text, ';')) FROM ($query) q;\n" :
	  "SELECT count(*), md5(string_agg(r, ';' ORDER BY r)) FROM (SELECT record_send(q)::text AS r FROM ($query) q) x;\n";
	my @scans = qw(enable_seqscan enable_indexscan enable_indexonlyscan enable_bitmapscan);
	my $scan = pick(@scans[1 .. 3], 'nothing', 'nothing', 'nothing');
	my $stock = "SET gpubtree.enabled = off;\n" . join('', map { "SET $_ = " . ($_ eq 'enable_seqscan' ? 'on' : 'off') . ";\n" } @scans);
	my $settings = "SET gpubtree.enabled = " . ($scan eq 'nothing' ? 'on' : 'off') . ";\n"
	  . join('', map { "SET $_ = " . ($_ eq $scan ? 'on' : 'off') . ";\n" } @scans)
	  . "SET gpubtree.batch_setup_cost = " . pick(0, 0, 100) . ";\n";
	my $plan = $random->compare(query => $query, isolation => gpb_isolation(), stock => $stock . $answer, settings => $settings, answer => $answer,
		explain => "EXPLAIN (COSTS OFF) $query;\n");

	$random->saw($1) while $plan =~ /\((Gpubtree\w+)\)/g;
	$random->saw('index-only') if $plan =~ /Index Only Scan using t_k/;
	$random->saw('bitmap') if $plan =~ /Bitmap Index Scan on t_k/;
	return;
}

$random->use_device(($random->devices)[0]);
foreach my $round (1 .. $random->rounds)
{
	my $what = create_table($round);
	last unless $random->round("round $round: $what", 40, \&compare_query);
}
$random->finish(20, qw(GpubtreeAggregate GpubtreeScan index-only bitmap));
