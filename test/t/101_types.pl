# Every type of fixed width, as key and as INCLUDE column, answers as core does from the table: ranges,
# order, arrays, rows, groups, DISTINCT, joins, of random values with those at the limits of the type
# among them.  The bytes that a type sends are compared, not only the text.
#
# Guards: coding.h, rel_cache.c, key.c, scan_tuple.c, array_keys.c
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 26);
$random->node->safe_psql('postgres', <<'SQL');
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
ALTER TYPE mood ADD VALUE 'glum' BEFORE 'ok';
SET lc_monetary = 'C';
SQL
$random->node->safe_psql('postgres', gpb_fixed_width_sql());

# ---- types ----

my %type = gpb_fixed_width_types();
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
