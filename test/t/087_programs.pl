# Aggregates with filters, expressions, FILTER, groups, HAVING and several ranges of the key, rows with
# filters, the first rows in an order and the last row of each group are what
# core makes of the same rows in one snapshot: generated expressions of integers, booleans, float8,
# dates and timestamps, with NULLs, CASE, COALESCE, IN, BETWEEN; every aggregate, those with DISTINCT,
# percentiles and mode() included, of several expressions too; grouping sets; groups by float8; rows
# that VACUUM has not seen, changed and deleted ones; joins with another table, its groups, LATERAL and scalar subqueries; parameters, cursors' rescans,
# little memory. Where core raises an error there is one here; and beside writers a snapshot stays
# what it is.
#
# Guards: scan_*.c; aggregate_match.c, aggregate_exec.c, aggregate_groups.c, conditions.c,
# aggregate_values*.c, aggregate_sets.c, aggregate_subprograms.c, merge_groups.c; range_aggregate_*.c, range_groups.c, lateral_plan.c, join_program.c,
# row_program.c, ordinary.c, kept_rows.c, subquery_exec.c; the builder of programs; each engine's evaluation.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables for each device (default 12)
# GPB_DEVICE	gpubtree.device; default: host, then off
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 12, devices => [ 'host', 'off' ], settings => "timezone = 'Europe/Berlin'\n");
my $node = $random->node;

# answer() returns all rows as one text, or says that there was an error in the data.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(r, '';'' ORDER BY r COLLATE "C")), ''-'') || '' '' || coalesce(left(string_agg(r, '';'' ORDER BY r COLLATE "C"), 300), ''-'') FROM (SELECT q::text AS r FROM (%s) q) x', query) INTO result;
	RETURN result;
EXCEPTION WHEN data_exception THEN
	RETURN 'ERROR';
END $$;
CREATE FUNCTION answer_prepared(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line record;
	lines text[];
BEGIN
	FOR line IN EXECUTE statement LOOP
		lines := lines || line::text;
	END LOOP;
	RETURN (SELECT count(*) || ' ' || coalesce(string_agg(l, ';' ORDER BY l COLLATE "C"), '-') FROM unnest(lines) l);
EXCEPTION WHEN data_exception THEN
	RETURN 'ERROR';
END $$;
SQL

# ---- tables ----

# t has an index on k with all columns but u, and now and then without f.  The values of f are
# multiples of 1/4, so that sums of a few are exact in any order.
my %value = gpb_values(start => '2024-01-20', step => '7 hours');
my $keytype;
my $domain;
my $has_float;
my $hostile;					# may expressions raise errors?
my @parameters;

sub create_table
{
	$keytype = pick(qw(int4 int8 int8 date timestamp));
	$domain = pick(40, 400, 3000);
	$has_float = chance(0.8);
	my $rows = pick(0, 1, 300, 2500, 2500);
	my $null = pick(0, 0.03, 0.3);
	my $order = gpb_index_order();
	my $columns = join(', ', qw(s i b d t), $has_float ? 'f' : ());
	my $k = $value{$keytype}->("floor(random() * $domain)");
	my $maybe = sub { return "CASE WHEN random() > 0.08 THEN $_[0] END" };
	my $integer = $maybe->('floor(random() * 40)::int4 - 9');
	my $far = chance(0.3) ? "CASE WHEN random() < 0.01 THEN 9223372036854775807 ELSE floor(random() * 100000)::int8 - 300 END" : 'floor(random() * 1000)::int8 - 300';
	my $strange = chance(0.3) ? "WHEN random() < 0.03 THEN 'NaN' WHEN random() < 0.02 THEN '-infinity' WHEN random() < 0.02 THEN 'infinity'" : '';
	my $infinite = chance(0.2) ? "WHEN random() < 0.05 THEN 'infinity' WHEN random() < 0.05 THEN '-infinity'" : '';
	my $load = <<"SQL";
INSERT INTO t SELECT i, CASE WHEN random() >= $null THEN $k END, ${\ $maybe->('floor(random() * 9)::int2 - 2')}, $integer, ${\ $maybe->($far)},
	${\ $maybe->("CASE $infinite WHEN true THEN date '2024-02-01' + floor(random() * 90)::int4 END::date")},
	${\ $maybe->("CASE $infinite WHEN true THEN timestamp '2024-02-20' + floor(random() * 900) * interval '1 hour 7 minutes' END::timestamp")},
	${\ $maybe->("CASE $strange WHEN true THEN floor(random() * 400) / 4 + 0.25 - 40.5 END::float8")}, i % 13
FROM generate_series(1, $rows) i;
SQL
	$random->sql("SELECT setseed(" . rand() . ");\n"
		. gpb_table_sql(
			name => 't',
			columns => "id int4, k $keytype, s int2, i int4, b int8, d date, t timestamp, f float8, u int4",
			index => "CREATE INDEX t_k ON t USING gpubtree (k $order) INCLUDE ($columns);\n",
			load => $load,
			changes => [
				"UPDATE t SET u = u + 1 WHERE id % 7 = 0;\n", "UPDATE t SET i = i + 1, b = NULL WHERE id % 5 = 0;\n",
				"DELETE FROM t WHERE id % 3 = 0;\n", "BEGIN;\nDELETE FROM t;\nROLLBACK;\n",
				"UPDATE t SET k = NULL WHERE id % 11 = 0;\n" ])
		. "ANALYZE t;\n"
		. "DROP TABLE IF EXISTS o;\nCREATE TABLE o AS SELECT CASE WHEN random() > 0.05 THEN $k END AS ok, CASE WHEN random() > 0.1 THEN floor(random() * 7)::int4 END AS og, i AS oid FROM generate_series(1, "
		. pick(0, 1, 40, 600) . ") i;\nANALYZE o;\n");
	return;
}

# ---- expressions ----

# One of the alternatives: texts, or functions that make one
sub choose
{
	my $choice = pick(@_);
	return ref $choice ? $choice->() : $choice;
}

# A literal, or now and then a parameter of a prepared statement
sub literal
{
	my ($type, $text) = @_;

	return "'$text'::$type" if @parameters >= 4 || !chance(0.08);
	push @parameters, [ $type, "'$text'" ];
	return '$' . scalar(@parameters) . "::$type";
}

sub key_value { return $value{$keytype}->(between(-5, $domain + 5)) }

sub int_leaf
{
	return literal(pick(qw(int4 int4 int8)), between(-12, 30)) if chance(0.25);
	return pick('i', 'i', 's', 'b', $keytype =~ /^int/ ? 'k' : 'i');
}

sub int_expr
{
	my ($depth) = @_;

	return int_leaf() if $depth <= 0 || chance(0.2);
	my ($left, $right) = (int_expr($depth - 1), int_leaf());
	my @more = $hostile ? ("($left / $right)", "($left % $right)", "($left * b)", "($left)::int2", "($left * 1000003 * 1000003)", "(b + $left)") : ();
	return choose("($left + $right)", "($left - $right)", "($left * " . pick(2, 3, -1) . ')', "($left % " . pick(3, 7, -5) . ')',
		"($left / " . pick(2, 10, -3) . ')', "abs($left)", "(-($left))", "COALESCE($left, $right)", "LEAST($left, $right)",
		"GREATEST($left, $right)", "NULLIF($left, $right)", sub { 'CASE WHEN ' . bool_expr($depth - 1) . " THEN $left ELSE $right END" },
		"CASE $right WHEN 1 THEN $left WHEN 2 THEN i WHEN i THEN 5 END", 'CASE WHEN i <> 0 THEN 100 / i ELSE 0 END',
		"(d - date '2024-02-10')", sub { '(' . bool_expr($depth - 1) . ')::int4' }, "($left)::int8", @more);
}

sub float_expr
{
	my ($depth) = @_;

	return choose('f', 'f', sub { literal('float8', pick('0.25', '3', '-8.5')) }) if $depth <= 0 || chance(0.3);
	my $inner = float_expr($depth - 1);
	return choose("($inner + 0.75::float8)", "($inner - f)", "($inner * " . pick(2, '0.5') . '::float8)', "abs($inner)", "COALESCE($inner, 7)",
		sub { 'CASE WHEN ' . bool_expr($depth - 1) . " THEN $inner END" }, '(s)::float8', $hostile ? "($inner / f)" : 'f');
}

# A sum of float8: not of quotients, whose sum depends on the order of the rows that core adds up.
sub float_sum
{
	my ($distinct, $value) = @_;
	return ($value =~ m{/ f} ? 'min' : 'sum') . "($distinct$value)";
}

sub time_expr
{
	my ($depth) = @_;

	return pick('t', 't', $keytype eq 'timestamp' ? 'k' : 't', "timestamp '2024-02-21 11:00'", 'd::timestamp') if $depth <= 0 || chance(0.4);
	return choose("date_trunc('" . pick(qw(hour day month year)) . "', t)", "(t + interval '3 hours')", "(t - interval '2 days 1 minute')",
		"(t + interval '" . pick('1 month', '-3 months 4 days', '1 year -1 day 5 hours') . "')", "((t::timestamptz + interval '" . pick('1 day', '1 month') . "')::timestamp)",
		"((t AT TIME ZONE '" . pick('America/New_York', 'Asia/Kolkata') . "') AT TIME ZONE 'Australia/Lord_Howe')", "(date_trunc('" . pick(qw(hour day week)) . "', t::timestamptz)::timestamp)",
		"COALESCE(t, timestamp '2024-01-01')", 'LEAST(t, d::timestamp)', sub { 'CASE WHEN ' . bool_expr($depth - 1) . ' THEN t END' });
}

sub date_expr
{
	my ($depth) = @_;

	return choose('d', 'd', $keytype eq 'date' ? 'k' : 'd', sub { literal('date', '2024-03-' . between(10, 28)) }) if $depth <= 0 || chance(0.4);
	return choose('(d + s::int4)', '(d - 5)', 'COALESCE(d, t::date)', 't::date', sub { 'CASE WHEN ' . bool_expr($depth - 1) . ' THEN d END' });
}

# = ANY or <> ALL of an array that is known, or the value of a parameter; of some there is no room
sub array_condition
{
	my ($type, $column, $value) = @{ pick([ 'int4', 'i', sub { between(-12, 35) } ], [ 'int8', 's', sub { between(-3, 9) } ],
		[ 'int8', 'b', sub { between(-300, 700) } ], [ 'date', 'd', sub { '2024-03-' . between(10, 28) } ],
		[ 'float8', $has_float ? 'f' : '0.25', sub { pick(between(-200, 300) / 4, 'NaN', '-0') } ]) };
	my @values = map { chance(0.03) ? 'NULL' : $value->() } 1 .. pick(0, 1, 3, 12, 60, 300);
	my $array = chance(0.1) ? 'NULL::' . $type . '[]' : literal("${type}[]", '{' . join(',', @values) . '}');

	return "$column " . pick('= ANY', '= ANY', '<> ALL') . " ($array)";
}

sub comparison { return pick('=', '<>', '<', '<=', '>', '>=') }

sub simple_condition
{
	my ($depth) = @_;
	my $list = join(', ', map { between(-9, 30) } 1 .. pick(2, 3, 5));
	my $operator = comparison();
	my @conditions = (
		"i IN ($list)", "i NOT IN ($list)", "s IN ($list, NULL)", "i = ANY ('{1,2,3,NULL}')", 'i BETWEEN ' . between(-9, 9) . ' AND ' . between(0, 30),
		(sub { int_expr($depth) . " $operator " . int_leaf() }) x 3,
		sub { int_expr($depth) . ' IS ' . pick('', 'NOT ') . 'NULL' },
		sub { int_expr($depth) . ' IS ' . pick('', 'NOT ') . 'DISTINCT FROM ' . int_leaf() },
		sub { date_expr($depth) . " $operator " . date_expr(0) },
		sub { time_expr($depth) . " $operator " . time_expr(0) }, "d IN ('2024-02-05', '2024-03-05', '2024-03-11')",
		sub { array_condition() }, 't < d', 'k IS NOT NULL', "k $operator " . key_value());

	push @conditions, sub { float_expr($depth) . " $operator " . float_expr(0) }, "f IN (0.25, -3.5, 'NaN')", 'f IS NOT NULL' if $has_float;
	return choose(@conditions);
}

sub bool_expr
{
	my ($depth) = @_;

	return simple_condition($depth > 0 ? 1 : 0) if $depth <= 0 || chance(0.3);
	my ($left, $right) = (bool_expr($depth - 1), simple_condition(0));
	return pick("($left AND $right)", "($left OR $right)", "(NOT ($left))", "(($left) IS " . pick('TRUE', 'NOT TRUE', 'FALSE', 'UNKNOWN') . ')',
		"($left OR $right OR i = 3)", "COALESCE($left, false)", "CASE WHEN $left THEN $right ELSE i > 5 END");
}

# ---- queries ----

sub key_range
{
	my ($lo, $hi) = sort { $a <=> $b } between(-5, $domain + 5), between(-5, $domain + 5);

	($lo, $hi) = ($hi, $lo) if chance(0.05);
	return 'k BETWEEN ' . $value{$keytype}->($lo) . ' AND ' . $value{$keytype}->($hi);
}

sub where
{
	my @conditions;

	push @conditions, pick(key_range(), 'k ' . comparison() . ' ' . key_value(), 'k IS NOT NULL') if chance(0.5);
	push @conditions, '(' . join(' OR ', map { chance(0.7) ? key_range() : '(' . key_range() . ' AND ' . simple_condition(1) . ')' } 1 .. between(2, 3)) . ')'
	  if chance(0.25);
	push @conditions, 'k IN (' . join(', ', map { key_value() } 1 .. between(1, 9)) . ')' if chance(0.1);
	push @conditions, bool_expr(pick(0, 0, 1, 2)) foreach (1 .. pick(0, 1, 1, 2));
	return @conditions ? 'WHERE ' . join(' AND ', @conditions) : '';
}

sub aggregate
{
	my $depth = pick(0, 0, 1, 2);
	my $int = sub { int_expr($depth) };
	my @aggregates = (
		'count(*)', 'count(*)', (map { my $name = $_; sub { "$name(" . $int->() . ')' } } qw(count sum sum avg min max)),
		sub { pick(qw(stddev stddev_pop gpubtree_partial variance gpubtree_partial_variance var_samp)) . '(' . $int->() . ')' },
		sub { pick(qw(bit_and bit_or bit_xor)) . '(' . $int->() . ')' },
		sub { pick(qw(bool_and bool_or every)) . '(' . bool_expr($depth) . ')' },
		sub { pick('sum', 'avg') . '(' . $int->() . ' / ' . pick('100.0', '8::numeric', '2.50', '3.0') . ')' },
		sub { 'min(' . date_expr($depth) . ')' }, sub { 'max(' . time_expr($depth) . ')' }, sub { 'count(' . bool_expr(0) . ')' });

	push @aggregates, sub { float_sum('', float_expr($depth)) }, sub { 'min(' . float_expr($depth) . ')' }, 'max(f)', sub { 'avg(' . float_expr(0) . ')' }
	  if $has_float;
	# two orders of adding squares of float8 differ in their last digits
	return 'round(' . pick(qw(stddev var_pop)) . '(f)::numeric, 6)' if $has_float && chance(0.04);
	my $filter = chance(0.25) ? ' FILTER (WHERE ' . bool_expr(pick(0, 1)) . ')' : '';
	return 'round((' . pair_aggregate() . "$filter)::numeric, 6)" if chance(0.06);
	return choose(@aggregates) . $filter;
}

# An aggregate of two arguments, whose values are such that core's sums are nearly exact
sub pair_aggregate
{
	my $value = sub { pick('i', 's', 'i + s', '2 - s', $has_float ? ('f', 'f', 'f + s') : ()) };

	return pick(map({ "regr_$_" } qw(count sxx syy sxy avgx avgy slope intercept r2)), qw(corr covar_pop covar_samp)) . '(' . $value->() . ', ' . $value->() . ')';
}

# Aggregates that depend on how often each value of one expression occurs
sub value_aggregates
{
	my ($type, $value) = @{ pick($has_float ? [ 'float', float_expr(pick(0, 1)) ] : [ 'int', 's' ], [ 'int', 'i' ], [ 'int', int_expr(pick(0, 1)) ], [ 'date', date_expr(0) ], [ 'time', time_expr(0) ], [ 'bool', bool_expr(0) ]) };
	my $order = sub { "WITHIN GROUP (ORDER BY $value" . pick('', '', ' DESC', ' NULLS FIRST') . ')' };
	my $fraction = sub { pick(0, 1, 0.5, rand(), 'NULL', $hostile ? 1.5 : 0.25) };
	my $fractions = sub { 'ARRAY[' . join(', ', map { $fraction->() } 1 .. between(1, 4)) . ']::float8[]' };
	my @aggregates = (
		"count(DISTINCT $value)", "gpubtree_partial_values($value)", sub { 'mode() ' . $order->() },
		sub { 'percentile_disc(' . $fraction->() . '::float8) ' . $order->() }, sub { 'percentile_disc(' . $fractions->() . ') ' . $order->() });

	push @aggregates, sub { pick(qw(sum avg stddev var_pop bit_xor)) . "(DISTINCT $value)" }, sub { 'percentile_cont(' . $fraction->() . '::float8) ' . $order->() },
	  sub { 'percentile_cont(' . $fractions->() . ') ' . $order->() }
	  if $type eq 'int';
	push @aggregates, float_sum('DISTINCT ', $value), sub { 'percentile_cont(' . $fraction->() . '::float8) ' . $order->() } if $type eq 'float';
	return map { choose(@aggregates) . (chance(0.2) ? ' FILTER (WHERE ' . simple_condition(0) . ')' : '') } 1 .. between(1, 3);
}

sub group
{
	return choose('s', 's', 'i', 'i % 7', 'i / 10', 'd', "date_trunc('" . pick(qw(day month)) . "', t)", 'd - 3', 'b / 100',
		'CASE WHEN i < 5 THEN 1 WHEN i < 20 THEN 2 END', 'COALESCE(s, 100)', 't::date', 'i > 5', sub { bool_expr(1) }, sub { int_expr(1) }, 'k',
		$keytype =~ /^int/ ? 'k / 50' : 'k', 'i + s', $has_float ? ('f', sub { float_expr(1) }) : ());
}

# GROUP BY the columns 1 to n: now and then by sets of them
sub group_by
{
	my ($n, $sets) = @_;
	my @columns = 1 .. $n;
	my $all = join(', ', @columns);

	return $n > 0 ? "GROUP BY $all" : '' unless $sets;
	my @some = map { '(' . join(', ', grep { chance(0.5) } @columns) . ')' } 1 .. between(1, 3);
	my $last = pop @columns;
	my $first = join(', ', @columns);
	return 'GROUP BY ' . pick("ROLLUP ($all)", "CUBE ($all)", "GROUPING SETS (($all), " . join(', ', @some) . ')',
		$n == 1 ? 'GROUPING SETS ((), (1), (1))' : ("$first, ROLLUP ($last)", "ROLLUP ($last, ($first))", "GROUPING SETS (($first), ($last), ())", "GROUPING SETS (ROLLUP ($first), ($last))"));
}

# An expression that can be put in the order of a type that a program knows
sub order_expr
{
	my $depth = pick(0, 0, 1);

	return choose(sub { '(' . int_expr($depth) . ') + 0' }, 'k', 'i', 's', 'b', 'd', sub { time_expr($depth) },
		$has_float ? (sub { '(' . float_expr($depth) . ') + 0::float8' }, 'f') : ());
}

sub direction { return pick('', '', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST') }

# Rows of a range with filters; the first ones in an order; or the first of each group, in the order
# of the key. Where the order leaves it open which rows come out, ties are asked for, or all columns
# are in the order.
sub rows_query
{
	if (chance(0.07))
	{
		my $range = chance(0.7) ? 'WHERE ' . join(' OR ', map { key_range() } 1 .. between(1, 2)) : pick('', 'WHERE k IS NULL', 'WHERE k IS NOT NULL');
		return pick("SELECT DISTINCT k FROM t $range", "SELECT DISTINCT k IS NULL, k FROM t $range ORDER BY k LIMIT 9", "SELECT k FROM t $range GROUP BY k",
			"SELECT k FROM (SELECT DISTINCT ON (k) k, b FROM t $range ORDER BY k) q");
	}
	my @columns = ('k', 'i', 's', 'd');
	my $others = join(', ', @columns);
	my $where = $hostile && chance(0.3) ? '' : where();

	push @columns, 'id' if chance(0.4);
	push @columns, 'f' if $has_float && chance(0.3);
	$where .= ($where eq '' ? 'WHERE ' : ' AND ') . pick('u < 9', 'id % 4 <> 1', '(t::text) LIKE \'%0%\'') if chance(0.2);
	my $select = 'SELECT ' . join(', ', @columns) . ", i + 1 AS next FROM t $where";
	my $limit = 'LIMIT ' . between(1, 40) . (chance(0.2) ? ' OFFSET ' . between(0, 9) : '');
	return $select if chance(0.4);
	return "$select ORDER BY " . order_expr() . direction() . ' FETCH FIRST ' . between(1, 30) . ' ROWS WITH TIES' if chance(0.4);
	return "SELECT $others FROM t $where ORDER BY " . order_expr() . direction() . ", $others $limit" if chance(0.6);
	my @groups = pick([ 's' ], [ 'i' ], [ 's', 'i % 3' ], [ 'd' ]);
	my $groups = join(', ', @{ $groups[0] });
	return "SELECT DISTINCT ON ($groups) $others FROM t $where ORDER BY $groups, k" . direction() . ", $others" . (chance(0.2) ? " $limit" : '');
}

# A join of o with t on the key, as rows, groups of o, one row, LATERAL or a scalar subquery
sub join_query
{
	@parameters = ();
	$hostile = chance(0.2);
	my @aggregates = map { aggregate() } 1 .. between(1, 4);
	my $aggregates = join(', ', @aggregates);
	my $names = join(', ', map { "c$_" } 1 .. @aggregates);
	my $on = pick('k = ok', 'k = ok', 'k = ok', $keytype =~ /^int|date/ ? 'k BETWEEN ok AND ok + og' : 'k = ok', 'k >= ok AND k < ' . key_value());
	my $filter = chance(0.7) ? ' AND ' . bool_expr(pick(0, 0, 1)) : '';
	my $join = pick('JOIN', 'JOIN', 'LEFT JOIN');
	my $group = pick('og', 'og', 'ok, og', 'oid', 'og + 1', 'og IS NULL');
	my $having = chance(0.2) ? 'HAVING ' . pick('count(*) > ' . between(0, 20), 'sum(i) > 50', 'bool_or(i > 7)') : '';
	my $outer = chance(0.3) ? 'WHERE og > 1' : '';

	return ("SELECT $group, $aggregates FROM o $join t ON $on$filter $outer GROUP BY $group $having", 1) if chance(0.4);
	return ("SELECT $aggregates FROM o $join t ON $on$filter $outer $having", 1) if chance(0.3);
	return ("SELECT oid, q.* FROM o, LATERAL (SELECT $aggregates FROM t WHERE $on$filter $having) q($names) $outer", 1) if chance(0.3);
	return ("SELECT oid, (SELECT $aggregates[0] FROM t WHERE $on$filter) FROM o $outer", 1) if chance(0.3);
	return ("SELECT oid FROM o WHERE " . pick('', 'NOT ') . "EXISTS (SELECT FROM t WHERE k = ok$filter)", 1) if chance(0.3);
	return ("SELECT oid, i, b, d" . pick('', ', u') . " FROM o $join t ON k = ok$filter $outer", 1);
}

# Return a query, and whether it is one that core need not evaluate to its end, or that has several
# plans which do not come to the same rows.
sub random_query
{
	return join_query() if chance(0.3);
	@parameters = ();
	$hostile = chance(0.25);
	return (rows_query(), 0) if chance(0.3);
	my %seen;
	my @groups = chance(0.55) ? grep { !$seen{$_}++ } map { group() } 1 .. pick(1, 1, 2, 3) : ();
	my @aggregates = map { aggregate() } 1 .. between(1, 4);
	@aggregates = (@aggregates[ 0 .. between(0, $#aggregates) ], map { value_aggregates() } 1 .. pick(1, 1, 2, 3)) if chance(0.3);
	my $sets = @groups > 0 && chance(0.3);
	my $n = @groups;
	my $where = $hostile && chance(0.5) ? '' : where();
	my $having = '';
	my @columns = (@groups, @aggregates);

	if (chance(0.2))
	{
		$having = 'HAVING ' . pick('count(*) > ' . between(0, 20), 'sum(i) > 50', 'max(s) IS NOT NULL AND count(*) < 100', 'bool_or(i > 7)');
		$having .= " OR $groups[0] IS NULL" if $n > 0 && chance(0.3);
	}
	push @columns, pick('count(*) + 1', 'sum(i) - min(s)', '3') if chance(0.2);
	push @columns, "($groups[0]) IS NULL" if $n > 0 && chance(0.2);
	push @columns, 'grouping(' . join(', ', @groups) . ')', "grouping($groups[-1]) + 1" if $sets && chance(0.5);
	my $group_by = group_by($n, $sets);
	$sets = $group_by =~ /\(/;
	my $names = join(', ', map { "c$_" } 1 .. @columns);
	my $core = 'SELECT ' . join(', ', @columns) . " FROM t $where $group_by $having";
	return ("$core ORDER BY " . join(', ', map { $_ . pick('', ' DESC', ' NULLS FIRST') } 1 .. $n) . ' LIMIT ' . between(1, 9), 1)
	  if $n > 0 && !$sets && chance(0.15);
	return ("SELECT o, q.* FROM generate_series(1, 3) o CROSS JOIN LATERAL ($core) q($names) WHERE o <> 2", 0) if chance(0.07);
	return ("SELECT o, q.* FROM (VALUES (1), (4), (NULL)) o(o) CROSS JOIN LATERAL (SELECT count(*), sum(i) FROM t WHERE s < o GROUP BY i % 3) q", 0)
	  if chance(0.03);
	return ($core, 0);
}

# ---- running a query ----

# All scans of ordinary plans are made dear alike, so that the nodes are chosen wherever they can be.
sub settings_sql
{
	my ($rows) = @_;

	return join('', map { "SET $_ = off;\n" } qw(enable_seqscan enable_indexscan enable_indexonlyscan enable_bitmapscan))
	  . 'SET gpubtree.enable_scan = ' . ($rows || chance(0.3) ? 'on' : 'off') . ";\n"
	  . 'SET gpubtree.enable_aggregate = ' . ($rows && chance(0.5) ? 'off' : 'on') . ";\n"
	  . (chance(0.7) ? join('', map { "SET $_ = off;\n" } qw(enable_nestloop enable_hashjoin enable_mergejoin)) : '')
	  . 'SET enable_hashagg = ' . pick(qw(on on off)) . ";\n"
	  . "SET gpubtree.enable_device = " . pick('on', 'on', 'off')
	  . ";\nSET gpubtree.batch_setup_cost = " . pick(0, 0, 100) . ";\nSET work_mem = '" . pick(qw(64kB 4MB)) . "';\n";
}

sub compare_query
{
	my ($query, $late) = random_query();
	my $isolation = gpb_isolation();
	my $settings = settings_sql($query =~ / AS next FROM |^SELECT (DISTINCT|k, i, s, d|k FROM)/);
	my $run = "SELECT answer(\$query\$$query\$query\$);\n";
	my $explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query;\n";
	my $prepare = '';

	if (@parameters)
	{
		my $execute = 'EXECUTE p (' . join(', ', map { $_->[1] } @parameters) . ')';

		$prepare = "DEALLOCATE ALL;\nSET plan_cache_mode = " . pick(qw(force_generic_plan force_generic_plan force_custom_plan))
		  . ";\nPREPARE p (" . join(', ', map { $_->[0] } @parameters) . ") AS $query;\n";
		$run = "SELECT answer_prepared(\$query\$$execute\$query\$);\n" x 2;
		$explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $execute;\n";
	}
	my ($theirs, $mine, $errors) = $random->run_parts($isolation, "${settings}SET gpubtree.enabled = off;\n$prepare$run",
		"SET gpubtree.enabled = on;\n$prepare$run");
	my $error = $theirs =~ /^ERROR/;
	my $ends_early = $late && ($error || $mine =~ /^ERROR/);
	my $plan = $error || $mine =~ /^ERROR/ ? '' : $random->sql("$settings$prepare$explain");

	$random->saw('errors') if $error && $mine eq $theirs;
	if ($plan =~ /Gpubtree(RangeAggregate|Join|Subquery)/)
	{
		$random->saw("joins, $1");
		$random->saw('joins, filter') if $plan =~ /Index Filter:/;
		$random->saw('joins, gave up') if $plan =~ /Gave Up:/;
	}
	elsif ($plan =~ /GpubtreeAggregate/)
	{
		$random->saw('ours');
		$random->saw("ours, $1") if $plan =~ /Engine: (\w+)/;
		$random->saw('ours, filter') if $plan =~ /  Filter:/;
		$random->saw('ours, groups') if $plan =~ /Group Key:/ && $query =~ /GROUP BY/;
		$random->saw('ours, values') if $plan =~ /Values:/;
		$random->saw('ours, several values') if $plan =~ /Values: .*, / && $plan =~ /Programs:/;
		$random->saw('ours, sets') if $query =~ /GROUPING SETS|ROLLUP|CUBE/;
		$random->saw('ours, having') if $plan =~ /Having:/;
		$random->saw('ours, ranges') if $plan =~ /Index Cond:.* OR /;
		$random->saw('ours, parameters') if @parameters;
		$random->saw('ours, gave up') if $plan =~ /Gave Up:/;
		$random->saw("ours, $keytype keys");
	}
	elsif ($plan =~ /GpubtreeScan/)
	{
		$random->saw('rows');
		$random->saw("rows, $1") if $plan =~ /Engine: (\w+)/;
		$random->saw('rows, filter') if $plan =~ /Index Filter:/;
		$random->saw('rows, others') if $plan =~ /  Filter:/;
		$random->saw('rows, first') if $plan =~ /First Entries:/;
		$random->saw('rows, last') if $plan =~ /Last Key of Each:/;
		$random->saw("rows, $1") if $plan =~ /Columns: (\w+)/;
		$random->saw('rows, each') if $plan =~ /One of Each Key/;
		$random->saw('rows, rechecked') if $plan =~ /Entries Rechecked:/;
	}
	else
	{
		$random->saw('not ours');
		diag "not ours: $query\n$plan" if $ENV{GPB_SHOW};
	}
	# Core may come to the row that raises an error where we do not, by another order of conditions;
	# and where few groups are wanted either may end before.
	return if $errors eq '' && ($theirs eq $mine || $ends_early || ($error && $query =~ /WHERE/));
	$random->mismatch("differs ($isolation, $keytype): $query (@{[ map { $_->[1] } @parameters ]})\n$settings\nstock: $theirs\nours: $mine\n$plan\n$errors");
	return;
}

# ---- beside writers ----

# Readers keep a snapshot and compare, while others insert, delete, move rows and vacuum.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE busy (k int8, v int, g int2) WITH (fillfactor = 80);
CREATE INDEX busy_k ON busy USING gpubtree (k) INCLUDE (v, g);
INSERT INTO busy SELECT i, i % 1000, i % 7 FROM generate_series(1, 20000) i;
VACUUM ANALYZE busy;
CREATE FUNCTION compare_busy(query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	plain text;
BEGIN
	PERFORM set_config('gpubtree.enabled', 'on', true);
	ours := answer(query);
	PERFORM set_config('gpubtree.enabled', 'off', true);
	plain := answer(query);
	IF ours IS DISTINCT FROM plain THEN
		RAISE '%: %, should be %', query, ours, plain;
	END IF;
END $$;
SQL

sub beside_writers
{
	my ($device) = @_;

	$node->pgbench(
		'-n -c 4 -t 120 --random-seed=' . $random->seed, 0,
		[qr/processed: (\d+)\/\1/], [qr/^pgbench: setting random seed to \d+$/],
		"device $device: filters and groups equal core's beside writers",
		{   "$device-programs\@50" => <<'SQL',
\set a random(0, 18000)
\set w random(100, 9000)
\set cost random(0, 1)
\set n random(1, 9)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_indexonlyscan = off;
SET LOCAL gpubtree.batch_setup_cost = :cost;
SELECT compare_busy(format($$SELECT count(*), sum(v) FILTER (WHERE g > 2), max(v * g) FROM busy WHERE k BETWEEN %s AND %s AND v %% %s = 0$$, :a, :a + :w, :n));
SELECT compare_busy(format($$SELECT g, count(*), sum(v) FROM busy WHERE v > %s GROUP BY g$$, :w / 10));
SELECT compare_busy(format($$SELECT g, count(DISTINCT v), percentile_cont(0.5) WITHIN GROUP (ORDER BY v), sum(v) FROM busy WHERE k BETWEEN %s AND %s GROUP BY g$$, :a, :a + :w));
SELECT compare_busy(format($$SELECT k / 1000, g, count(*), min(v) FROM busy WHERE k < %s OR k > %s GROUP BY 1, 2$$, :a, :a + :w));
COMMIT;
SQL
			"$device-insert\@20" => <<'SQL',
\set a random(1, 20000)
INSERT INTO busy SELECT :a + i, i, i % 7 FROM generate_series(1, 20) i;
SQL
			"$device-delete\@15" => <<'SQL',
\set a random(1, 20000)
DELETE FROM busy WHERE k BETWEEN :a AND :a + 300;
SQL
			"$device-move\@10" => <<'SQL',
\set a random(1, 20000)
UPDATE busy SET k = CASE WHEN v % 3 > 0 THEN k + 700 END, v = v + 1 WHERE k BETWEEN :a AND :a + 4;
SQL
			"$device-vacuum\@5" => 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) busy;' });
	return;
}

foreach my $device ($random->devices)
{
	$random->use_device($device, 'reload');
	foreach my $round (1 .. $random->rounds)
	{
		create_table();
		last unless $random->round("device $device, round $round: aggregates over $keytype keys agree", 50, \&compare_query);
	}
	beside_writers($device);
}
my @plans = (
	'ours', 'ours, filter', 'ours, groups', 'ours, values', 'ours, several values', 'ours, sets', 'ours, having', 'ours, ranges', 'ours, parameters',
	'rows', 'rows, filter', 'rows, others', 'rows, first', 'rows, last', 'rows, each', 'rows, Index', 'rows, Table', 'errors', 'joins, RangeAggregate',
	'joins, Join', 'joins, Subquery', 'joins, filter');
$random->go_on_until_seen(3, 20, sub { create_table(); compare_query() foreach (1 .. 50) }, @plans);
$random->finish(3, @plans);
