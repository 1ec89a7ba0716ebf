# Columns of type numeric(p, s), as key and as INCLUDE columns, answer as core does from the table:
# random precisions, of 18 digits and of 38, and scales, negative scales and scales above the
# precision, values at the limits of their types, NaN and NULL; conditions with constants of other scales, beyond all values, NaN and
# infinite; sums, averages, variance and extremes of columns and of expressions, groups, DISTINCT,
# percentiles, rows, joins; columns that ALTER TABLE has given more digits or none.  The display is
# compared, not only the value.
#
# Guards: numeric.c, key.c, scan_tuple.c, rel_cache.c; program_decimal.c, program_halves.c,
# program_expr.c, item_final.c, item_integer.c
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 6, devices => [ 'host', 'off' ]);
my $node = $random->node;

# answer() returns all rows as one text, of text and of what the types send, or the error in the
# data.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(r, '';'' ORDER BY r COLLATE "C")), ''-'') || '' '' || coalesce(left(string_agg(r, '';'' ORDER BY r COLLATE "C"), 400), ''-'')
		FROM (SELECT q_::text || record_send(q_)::text AS r FROM (%s) q_) x_', query) INTO result;
	RETURN result;
EXCEPTION WHEN data_exception THEN
	RETURN 'ERROR ' || SQLSTATE;
END $$;
SQL

# ---- tables ----

# For each column its precision and scale
my %digits;
my $has_nan;

sub random_digits
{
	# of more than 18 digits a column has 16 bytes, and programs read it by halves
	my $most = chance(0.3) ? 38 : 18;
	my $p = $most == 38 ? pick(19, 20, 30, 37, 38, between(1, 38)) : pick(1, 4, 9, 12, 17, 18, between(1, 18));
	my $s = chance(0.1) ? -between(1, $most - $p + 1) : chance(0.1) ? between($p, $most) : between(0, $p);

	$s = 0 if $p - $s > $most;
	return [ $p, $s ];
}

# SQL for a value of the column, from a random number r and a random integer i: any digits, few
# different ones, or the limits
sub value_sql
{
	my ($column) = @_;
	my ($p, $s) = @{ $digits{$column} };
	my $most = '9' x $p;
	my $unit = "'1e" . -$s . "'::numeric";
	my $nan = $has_nan ? "WHEN random() < 0.004 THEN 'NaN'" : '';

	return "CASE WHEN random() < 0.06 THEN NULL $nan WHEN random() < 0.01 THEN $most * $unit WHEN random() < 0.01 THEN -$most * $unit "
	  . "WHEN random() < 0.02 THEN 0 WHEN random() < 0.02 THEN $unit WHEN random() < 0.02 THEN -$unit "
	  . (chance(0.5) ? "ELSE trunc(((random() - 0.5) * 2)::numeric * least($most, 300)) * $unit END"
		: "ELSE trunc((random() - 0.5)::numeric(18, 17) * 2 * $most) * $unit END");
}

sub type_sql { my ($p, $s) = @{ $digits{ $_[0] } }; return "numeric($p, $s)" }

sub create_table
{
	my $rows = pick(0, 2, 400, 3000, 3000);
	my $order = gpb_index_order();

	%digits = map { $_ => random_digits() } qw(k a b c);
	$has_nan = chance(0.6);
	my $load = "INSERT INTO t SELECT i, " . join(', ', map { value_sql($_) } qw(k a b c))
	  . ", floor(random() * 200)::int4 - 100, random() * 7 FROM generate_series(1, $rows) i;\n";
	my $wider = $digits{a}[1] > $digits{a}[0] ? '' : 'ALTER TABLE t ALTER a TYPE numeric(' . between($digits{a}[0], 45) . ", $digits{a}[1]);\n";
	$random->sql("SELECT setseed(" . rand() . ");\n"
		. gpb_table_sql(
			name => 't',
			columns => 'id int4, ' . join(', ', map { "$_ " . type_sql($_) } qw(k a b c)) . ', i int4, g int4',
			index => "CREATE INDEX t_k ON t USING gpubtree (k $order) INCLUDE (" . pick('a, b, c, i, g', 'i, a, g, b, c') . ");\n",
			load => $load,
			changes => [
				"UPDATE t SET i = i + 1 WHERE id % 5 = 0;\n", "DELETE FROM t WHERE id % 3 = 0;\n", "UPDATE t SET a = b WHERE false;\n",
				"UPDATE t SET k = NULL, b = NULL WHERE id % 11 = 0;\n", $wider, $wider,
				"ALTER TABLE t ALTER b TYPE numeric;\nUPDATE t SET i = i - 1, b = round(b, " . ($digits{b}[1] < 0 ? 0 : $digits{b}[1]) . ") WHERE id % 4 = 1;\n" ])
		. "ANALYZE t;\nSELECT gpubtree_check('t_k', true);\n"
		. "DROP TABLE IF EXISTS o;\nCREATE TABLE o AS SELECT n AS oid, CASE WHEN random() < 0.5 THEN k ELSE round(k::numeric, " . between(0, 20)
		. ") + " . pick('0', '0.5', '0.001', '1e-18') . " END AS v FROM (SELECT row_number() OVER () AS n, k FROM t ORDER BY id LIMIT " . pick(0, 3, 200)
		. ") x;\nANALYZE o;\n");
	return;
}

# ---- expressions ----

# A constant that is near the values of a column, or far from all
sub constant
{
	my ($column) = @_;
	my ($p, $s) = @{ $digits{$column} };
	my $few = between(-320, 320) . 'e' . -$s;
	my $any = (chance(0.5) ? '-' : '') . join('', map { between(0, 9) } 1 .. $p) . 'e' . -$s;

	return "'" . pick($few, $few, $any, $any, '9' x $p . 'e' . -$s, '-' . '9' x $p . 'e' . -$s, 0, between(-9, 9), '1e40', '-1e40', '1e20', '-1e20', 'NaN',
		chance(0.3) ? ('infinity', '-infinity') : '0.0') . "'::numeric" . (chance(0.25) ? pick(" + 1e-3", " + 1e-19", " - 0.5", "*10") : '');
}

sub column { return pick('a', 'b', 'c', 'k') }

# Alternatives are all made before one is picked, so depths fall with each call.
sub number
{
	my ($depth) = @_;

	return chance(0.85) ? column() : pick('2', '1.5', '0', '-0.25', 'i', '100') if $depth <= 0 || chance(0.3);
	my ($x, $y) = (number($depth - 1), number($depth - 1));
	# floor(i) would be a double, whose sum depends on the order of rows
	my $decimal = $x =~ /^[abck]$/ ? $x : "($x)::numeric";
	return pick("($x + $y)", "($x - $y)", "($x * $y)", "(-($x))", "abs($x)", "COALESCE($x, 0)", "COALESCE($x, $y)", "LEAST($x, $y)", "GREATEST($x, $y)",
		"NULLIF($x, $y)", "CASE WHEN " . condition($depth - 2) . " THEN $x ELSE 0 END", "CASE WHEN " . condition($depth - 2) . " THEN $x END",
		"CASE WHEN " . condition($depth - 2) . " THEN $x ELSE $y END", "round(($x)::numeric, " . between(0, 4) . ')', "floor($decimal)", "ceil($decimal)", "trunc(($x)::numeric, 1)", "($x)::numeric",
		"($x * " . pick(2, 10, '0.1') . ')', "($x / " . pick(2, 100, 8) . ')');
}

sub condition
{
	my ($depth) = @_;
	my $column = column();
	my $op = pick('<', '<=', '=', '<>', '>=', '>');

	return "$column $op " . constant($column) if $depth < 0 || chance(0.4);
	return pick("i > " . between(-50, 50), 'g = ' . between(0, 6), "$column IS NULL", "$column IS NOT NULL",
		"$column IN (" . join(', ', map { constant($column) } 1 .. between(1, 4)) . ')', "$column NOT IN (" . constant($column) . ', ' . constant($column) . ')',
		"$column BETWEEN " . constant($column) . ' AND ' . constant($column), "$column $op " . column(), "$column $op i",
		"$column IS DISTINCT FROM " . pick(column(), constant($column)), number($depth) . " $op " . number($depth),
		'NOT (' . condition($depth - 1) . ')') if $depth <= 0 || chance(0.5);
	return '(' . condition($depth - 1) . pick(' AND ', ' OR ') . condition($depth - 1) . ')';
}

sub range
{
	return pick("k > " . constant('k'), "k BETWEEN " . constant('k') . ' AND ' . constant('k'), "k < " . constant('k'), 'k IS NOT NULL',
		"k = " . constant('k'), 'k IN (' . join(', ', map { constant('k') } 1 .. 5) . ')', 'k IS NULL', 'k >= ' . between(-3, 3));
}

sub where
{
	my @parts = ((chance(0.6) ? range() : ()), (chance(0.6) ? condition(1) : ()));
	return @parts ? 'WHERE ' . join(' AND ', @parts) : '';
}

sub aggregate
{
	my $value = chance(0.5) ? column() : number(2);
	my $filter = chance(0.2) ? ' FILTER (WHERE ' . condition(0) . ')' : '';
	my $distinct = chance(0.1) ? 'DISTINCT ' : '';
	my $one = column();

	# Of equal values that are shown with more digits and with fewer, core takes the one that it meets.
	$value = $one if $distinct ne '';

	return 'count(*)' . $filter if chance(0.1);
	return 'gpubtree_partial' . pick('', '_variance', '_values') . "($one)" if chance(0.08);
	return pick("percentile_disc(0.3) WITHIN GROUP (ORDER BY $one)", "mode() WITHIN GROUP (ORDER BY $one)") if chance(0.08);
	return pick(qw(sum sum sum avg avg count)) . "($distinct$value)$filter" if chance(0.65);
	return pick('min', 'max') . '(' . column() . ")$filter" if chance(0.6);
	return pick(qw(var_pop var_samp variance stddev_pop stddev_samp stddev)) . "($value)$filter";
}

sub query
{
	my $aggregates = join(', ', map { aggregate() } 1 .. between(1, 3));
	my $where = where();
	my $group = pick('g', 'g', column(), 'i % 3', 'floor(k)', 'g, ' . column());
	my $names = join(', ', qw(k a b c));

	return "SELECT $aggregates FROM t $where" if chance(0.35);
	return "SELECT $group, $aggregates FROM t $where GROUP BY $group" . (chance(0.2) ? ' HAVING ' . pick('sum(a) > 1', 'count(*) > 2', 'max(b) IS NOT NULL') : '')
	  if chance(0.45);
	return "SELECT $names, i FROM t $where" if chance(0.4);
	return "SELECT k FROM t $where ORDER BY k" . pick('', ' DESC', ' NULLS FIRST') . ' LIMIT ' . between(1, 30) . pick('', ' OFFSET ' . between(0, 900)) if chance(0.3);
	return "SELECT " . ($where =~ /\S/ ? 'a' : 'b') . " FROM t $where ORDER BY 1 LIMIT " . between(1, 20) if chance(0.3);
	return "SELECT oid, v, k, a, b FROM o JOIN t ON k = v AND " . condition(0) if chance(0.4);
	return "SELECT oid, (SELECT $aggregates FROM t WHERE k = v AND " . condition(0) . ') FROM o' if $aggregates !~ /, / && chance(0.5);
	return "SELECT oid % 3, $aggregates FROM o JOIN t ON " . pick('k = v', 'k >= v AND k <= v + 1') . ' GROUP BY 1';
}

# ---- running a query ----

sub compare_query
{
	my $query = query();
	my $run = "SELECT answer(\$query\$$query\$query\$);\n";
	my $scan = pick('enable_indexonlyscan', 'enable_indexonlyscan', 'enable_indexscan', 'enable_bitmapscan', 'nothing', 'nothing', 'nothing', 'nothing');
	my @scans = qw(enable_seqscan enable_indexscan enable_indexonlyscan enable_bitmapscan);
	my $stock = "SET gpubtree.enabled = off;\nSET enable_seqscan = on;\n" . join('', map { "SET $_ = off;\n" } grep { $_ ne 'enable_seqscan' } @scans);
	my $settings = "SET gpubtree.enabled = " . ($scan eq 'nothing' ? 'on' : 'off') . ";\n"
	  . join('', map { "SET $_ = " . ($_ eq $scan ? 'on' : 'off') . ";\n" } @scans)
	  . "SET gpubtree.batch_setup_cost = " . pick(0, 0, 100) . ";\nSET gpubtree.enable_device = " . pick('on', 'on', 'off') . ";\n";
	my ($theirs, $ours, $errors) = $random->run_parts(gpb_isolation(), $stock . $run, $settings . $run);

	if ($scan eq 'nothing' && $ours !~ /^ERROR/)
	{
		my $plan = $random->sql("${settings}EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query;\n");

		$random->saw($1) if $plan =~ /\((Gpubtree\w+)\)/;
		$random->saw('gave up') if $plan =~ /Gave Up:/;
		$random->saw('answered') if $plan =~ /Gpubtree/ && $plan !~ /Gave Up:/;
		$random->saw('ordinary') if $plan !~ /Gpubtree/;
	}
	elsif ($scan ne 'nothing')
	{
		$random->saw($scan);
	}
	$random->saw('errors') if $theirs =~ /^ERROR/;
	# Which errors core meets depends on its plan, as with conditions that it evaluates in another order.
	return if $theirs =~ /^ERROR/ && $ours =~ /^ERROR/;
	$random->mismatch("differs: $query\n$settings\nstock: $theirs\nours: $ours\n$errors") if $theirs ne $ours || $errors ne '';
	return;
}

foreach my $device ($random->devices)
{
	$random->use_device($device);
	foreach my $round (1 .. $random->rounds)
	{
		create_table();
		my $columns = join(', ', map { "$_ " . type_sql($_) } qw(k a b c));
		last unless $random->round("device $device, round $round: $columns", 50, \&compare_query);
	}
}
$random->finish(5, 'GpubtreeAggregate', 'answered', 'enable_indexonlyscan');
