# Queries over generated trees of partitions, and of tables that inherit, are answered bit by bit as over one
# table with the same rows.  Trees are of ranges, lists, hashes and levels of these; their leaves
# have dropped and moved columns, no index or another one (order of columns, fewer columns, partial,
# several key columns, built-in), another access method, are foreign, unlogged or empty.  The rows
# have texts, which each leaf meets in an order of its own, -0 beside 0, NaNs of other bits, values
# that only wide sums hold.  Queries have groups, sets of groups, aggregates of each kind, buckets,
# ranks, rows, joins, LATERAL, subqueries; they are run with partitionwise plans and without, by
# workers, with generic plans, again and again in one plan, by cursors that go back.
#
# Beside writers who move rows from leaf to leaf, a snapshot stays what it is.
#
# What the order of rows may change in core's plans, the digits of sums of floats, is compared with
# the one table's answer by our node, whose sums are exact.
#
# Guards: exec/aggregate (states, leaves, merging), scan_*.c and all that partitions have nodes of
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of trees for each device (default 4)
# GPB_DEVICE	gpubtree.device; default: host, then off
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 4, devices => [ 'host', 'off' ], settings => <<'CONF');
max_parallel_workers = 4
max_worker_processes = 16
CONF
my $node = $random->node;
my $port = $node->port;
my $host = $node->host;

# answer() returns a query's rows as one text; which of -0 and 0, which are equal, stands for a group
# depends on the order of rows.
$node->safe_psql('postgres', gpb_fixed_width_sql() . <<"SQL");
CREATE EXTENSION gpubtree_test;
CREATE EXTENSION postgres_fdw;
CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER here;
CREATE ACCESS METHOD other TYPE TABLE HANDLER gpubtree_test_heap_handler;
CREATE TYPE mood AS ENUM ('sad', 'glum', 'ok', 'happy');
CREATE FUNCTION answer(statement text, ordered boolean) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	line record;
	lines text[];
	result text;
BEGIN
	FOR line IN EXECUTE statement LOOP
		lines := lines || regexp_replace(line::text, '(?<=[(,{])-0(?=[),}])', '0', 'g');
	END LOOP;
	IF ordered THEN
		result := array_to_string(lines, ';');
	ELSE
		result := (SELECT string_agg(l, ';' ORDER BY l COLLATE "C") FROM unnest(lines) l);
	END IF;
	RETURN concat_ws(' ', coalesce(cardinality(lines), 0), md5(result), left(result, 300));
EXCEPTION WHEN data_exception THEN
	RETURN 'ERROR';
END \$\$;
CREATE FUNCTION plan(statement text, options text) RETURNS SETOF text LANGUAGE plpgsql AS \$\$
BEGIN
	RETURN QUERY EXECUTE format('EXPLAIN (%s) %s', options, statement);
EXCEPTION WHEN data_exception THEN
	RETURN NEXT 'ERROR';
END \$\$;
SQL
# All ordinary scans are dear alike, so that the node is chosen wherever it can be.
my $take_nodes = join('', map { "SET $_ = off;\n" } qw(enable_seqscan enable_indexscan enable_indexonlyscan enable_bitmapscan))
  . "SET gpubtree.setup_cost = 0;\nSET gpubtree.batch_setup_cost = 0;\n";

# ---- trees ----

my %value = gpb_values(start => '2024-01-20', step => '7 hours', floats => 1);
my $keytype;
my $domain;
my $null;
my @columns;					# [name, type] of each
my @indexed = qw(s i b d t f g n w x y);
my %fixed = gpb_fixed_width_types();
my $ytype;						# of the column y
my $leaves;						# so many in this tree
my $foreign;					# leaves that are foreign
my $alike;						# have most leaves the same index?
my @later;						# statements for when all rows are there

sub key_value { return $value{$keytype}->($_[0] // between(-5, $domain + 5)) }

sub shuffled { return map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [ rand(), $_ ] } @_ }

# The index of a leaf, or none
sub index_sql
{
	my ($table) = @_;
	my $all = join(', ', @indexed);
	my $order = gpb_index_order();
	my $rand = rand();

	return "CREATE INDEX ON $table USING gpubtree (k) INCLUDE ($all);\n" if $alike && chance(0.95);
	return '' if $rand < 0.12;
	return "CREATE INDEX ON $table (k);\n" if $rand < 0.18;
	return "CREATE INDEX ON $table USING gpubtree (k $order) INCLUDE (" . join(', ', shuffled(@indexed)) . ");\n" if $rand < 0.35;
	return "CREATE INDEX ON $table USING gpubtree (k $order) INCLUDE (" . join(', ', (shuffled(@indexed))[ 0 .. 6 ]) . ");\n" if $rand < 0.42;
	return "CREATE INDEX ON $table USING gpubtree (k) INCLUDE ($all) WHERE " . pick('i IS NOT NULL', 's < 4', 'i > 3', 'k IS NOT NULL') . ";\n" if $rand < 0.52;
	return "CREATE INDEX ON $table USING gpubtree (s, k) INCLUDE (" . join(', ', grep { $_ ne 's' } shuffled(@indexed)) . ");\n"
	  if $rand < 0.58 && $keytype !~ /float|numeric/;
	return "CREATE INDEX ON $table USING gpubtree (k) INCLUDE ($all) WITH (deduplicate_items = off);\n" if $rand < 0.63;
	return "CREATE INDEX ON $table USING gpubtree (k $order) INCLUDE ($all);\n";
}

# The columns of a table to be attached: in another order, with others that go, and what drops these
sub other_columns
{
	my ($name) = @_;
	my @gone = map { [ "gone$_", pick(qw(int4 text float8)) ] } 1 .. between(0, 3);

	return (join(', ', map { "$_->[0] $_->[1]" } chance(0.7) ? shuffled(@columns, @gone) : (@gone, @columns)),
		join('', map { "ALTER TABLE $name DROP COLUMN $_->[0];\n" } @gone));
}

# A partition of that parent, which has so many levels below itself at most
sub child_sql
{
	my ($parent, $kind, $bounds, $depth) = @_;
	my $name = 'parts_' . ++$leaves;
	my $rand = rand();

	if ($depth > 0 && chance(0.25))
	{
		my $below = pick(grep { $_ ne $kind } qw(range list hash));
		my $by = partition_by($below);
		my ($columns, $drop) = other_columns($name);

		return "CREATE TABLE $name PARTITION OF $parent $bounds $by;\n" . children_sql($name, $below, $depth - 1) if chance(0.5);
		return "CREATE TABLE $name ($columns) $by;\n$drop" . "ALTER TABLE $parent ATTACH PARTITION $name $bounds;\n" . children_sql($name, $below, $depth - 1);
	}
	if ($rand < ($alike ? 0.02 : 0.08) && $foreign < 2)
	{
		my ($columns, $drop) = other_columns("far_$name");

		$foreign++;
		return "CREATE TABLE far_$name ($columns);\n$drop" . index_sql("far_$name")
		  . "CREATE FOREIGN TABLE $name PARTITION OF $parent $bounds SERVER here OPTIONS (table_name 'far_$name');\n";
	}
	my $index = index_sql($name);
	push @later, "DO \$\$ BEGIN ALTER TABLE $name ALTER " . pick(qw(i n x k)) . " SET NOT NULL; EXCEPTION WHEN not_null_violation THEN END \$\$;\n" if chance(0.3);
	my $create = pick('CREATE TABLE', 'CREATE TABLE', 'CREATE TABLE', 'CREATE UNLOGGED TABLE');
	my $using = chance($alike ? 0.02 : 0.1) ? 'USING other' : '';
	if (chance(0.5))
	{
		my ($columns, $drop) = other_columns($name);

		$create = "$create $name ($columns) $using;\n$drop" . "ALTER TABLE $parent ATTACH PARTITION $name $bounds;\n";
	}
	else
	{
		$create = "$create $name PARTITION OF $parent $bounds $using;\n";
	}
	return $create . $index if chance(0.5);
	push @later, $index;
	return $create;
}

sub partition_by
{
	my ($kind) = @_;
	return 'PARTITION BY ' . { range => 'RANGE (k)', list => 'LIST (s)', hash => 'HASH (id)' }->{$kind};
}

# All partitions of a parent
sub children_sql
{
	my ($parent, $kind, $depth) = @_;
	my @bounds;

	if ($kind eq 'range')
	{
		my %cuts = map { between(1, $domain - 1) => 1 } 1 .. between(1, 4);
		my @cuts = sort { $a <=> $b } keys %cuts;
		my $default = $null > 0 || chance(0.5);

		# one that is empty lies beyond all rows
		push @cuts, $domain + 100, $domain + 200 if chance(0.4);
		my @at = ('MINVALUE', (map { key_value($_) } @cuts), 'MAXVALUE');
		pop @at if $default && chance(0.7);
		shift @at if $default && @at > 3 && chance(0.3);
		push @bounds, "FOR VALUES FROM ($at[$_ - 1]) TO ($at[$_])" foreach 1 .. $#at;
		push @bounds, 'DEFAULT' if $default;
	}
	elsif ($kind eq 'list')
	{
		my @lists = map { [] } 1 .. between(2, 3);
		my $default = chance(0.6);

		push @{ pick(@lists) }, $_ foreach (grep { !$default || chance(0.8) } -2 .. 6, 'NULL');
		push @bounds, map { 'FOR VALUES IN (' . join(', ', @$_) . ')' } grep { @$_ > 0 } @lists;
		push @bounds, 'DEFAULT' if $default;
	}
	else
	{
		my $n = between(2, 3);
		push @bounds, map { "FOR VALUES WITH (MODULUS $n, REMAINDER $_)" } 0 .. $n - 1;
	}
	return join('', map { child_sql($parent, $kind, $_, $depth) } @bounds);
}

# A table and others that inherit from it, with more columns and children of their own
sub inheritance_sql
{
	my $columns = join(', ', map { "$_->[0] $_->[1]" } @columns);
	my $sql = "CREATE TABLE parts ($columns);\n" . index_sql('parts');
	my @names = ('parts');

	$leaves = between(1, 4);
	foreach my $n (1 .. $leaves)
	{
		my $parents = pick(@names);
		my @more = map { "more$_ int" } 1 .. between(0, 2);

		$parents .= ', ' . pick(@names) if chance(0.2);
		$parents = $1 if $parents =~ /^(\S+), \1$/;
		if ($parents eq 'parts' && chance(0.5))
		{
			my ($other, $drop) = other_columns("parts_$n");
			$sql .= "CREATE TABLE parts_$n (" . join(', ', @more, $other) . ");\n${drop}ALTER TABLE parts_$n INHERIT parts;\n";
		}
		else
		{
			$sql .= "CREATE TABLE parts_$n (" . join(', ', @more) . ") INHERITS ($parents);\n";
		}
		$sql .= "ALTER TABLE parts_$n ADD CHECK (k >= " . key_value(0) . ");\n" if chance(0.3) && $null == 0;
		$sql .= index_sql("parts_$n");
		push @names, "parts_$n";
	}
	my $all = join(', ', map { $_->[0] } @columns);
	my $count = @names;
	push @later, map { "INSERT INTO $names[$_] ($all) SELECT $all FROM whole WHERE id % $count = $_ ORDER BY md5(id::text);\n" } 0 .. $#names;
	return $sql;
}

# whole has all rows, and parts the same in a tree.  The values of f are multiples of 1/4, so that sums
# of a few are exact in any order; those of g are not.
sub create_tables
{
	$keytype = pick(qw(int4 int8 int8 int2 date timestamp timestamptz float8));
	$domain = pick(40, 400, 3000);
	$null = pick(0, 0, 0.03);
	my $rows = pick(300, 2500, 2500, 4000);
	my $k = $value{$keytype}->("floor(random() * $domain)");
	my $maybe = sub { return "CASE WHEN random() > 0.08 THEN $_[0] END" };
	my $far = chance(0.4) ? "CASE WHEN random() < 0.01 THEN 9223372036854770000 WHEN random() < 0.3 THEN -9223372036854770000 ELSE 7 END" : 'floor(random() * 1000)::int8 - 300';
	my $strange = pick('', "WHEN random() < 0.02 THEN 'NaN' WHEN random() < 0.02 THEN -'NaN'::float8 WHEN random() < 0.1 THEN '-0' WHEN random() < 0.1 THEN 0",
		"WHEN random() < 0.01 THEN 'infinity' WHEN random() < 0.01 THEN '-infinity'");
	my $numeric = pick('', "WHEN random() < 0.02 THEN 'NaN'");
	my $words = pick(3, 40, 200, 10000);
	# Of equal floats and intervals either may be shown; core's foreign scans put text of "char" in another order.
	$ytype = pick(grep { !/^float|^interval|char/ } sort keys %fixed);
	my ($y) = map { s/\bn\b/(i * 7919 % 600)/gr =~ s/\br\b/random()/gr } $fixed{$ytype}[0];
	my $kind = pick(qw(range range range range list hash inherit));

	@later = ();
	$leaves = $foreign = 0;
	$alike = chance(0.5);
	@columns = ([ id => 'int4' ], [ k => $keytype ], [ s => 'int2' ], [ i => 'int4' ], [ b => 'int8' ], [ d => 'date' ], [ t => 'timestamp' ],
		[ f => 'float8' ], [ g => 'float8' ], [ n => 'numeric(12,2)' ], [ w => 'numeric(30,8)' ], [ x => 'text' . pick('', ' COLLATE "C"') ], [ y => $ytype ], [ u => 'int4' ]);
	my $columns = join(', ', map { "$_->[0] $_->[1]" } @columns);
	my $tree = $kind eq 'inherit' ? inheritance_sql()
	  : "CREATE TABLE parts ($columns) " . partition_by($kind) . ";\n" . children_sql('parts', $kind, 2);
	unshift @later, "INSERT INTO parts SELECT * FROM whole ORDER BY md5(id::text);\n" if $kind ne 'inherit';
	$random->sql("SELECT setseed(" . rand() . ");\nDROP TABLE IF EXISTS whole, parts, o CASCADE;\n"
		. "DO \$\$ DECLARE far regclass; BEGIN FOR far IN SELECT oid FROM pg_class WHERE relname LIKE 'far\\_%' AND relkind = 'r' LOOP EXECUTE 'DROP TABLE ' || far; END LOOP; END \$\$;\n"
		. "CREATE TABLE whole ($columns);\n" . <<"SQL" . $tree . join('', @later)
INSERT INTO whole SELECT i, CASE WHEN random() >= $null THEN $k END, ${\ $maybe->('floor(random() * 9)::int2 - 2')}, ${\ $maybe->('floor(random() * 40)::int4 - 9')}, ${\ $maybe->($far)},
	${\ $maybe->("date '2024-02-01' + floor(random() * 90)::int4")}, ${\ $maybe->("timestamp '2024-02-20' + floor(random() * 900) * interval '1 hour 7 minutes'")},
	${\ $maybe->("CASE $strange WHEN true THEN floor(random() * 400) / 4 + 0.25 - 40.5 END::float8")}, ${\ $maybe->('(random() - 0.5) * power(10, floor(random() * 30 - 15))')},
	${\ $maybe->("CASE $numeric WHEN true THEN (random() * 1000 - 300)::numeric(12,2) END")}, ${\ $maybe->("(random() - 0.5)::numeric * power(10::numeric, floor(random() * 22)::int)")},
	${\ $maybe->("'x' || md5((floor(random() * random() * $words))::text)")}, ${\ $maybe->("($y)::$ytype")}, i % 13
FROM generate_series(1, $rows) i;
CREATE INDEX ON whole USING gpubtree (k) INCLUDE (${\ join(', ', @indexed) });
SQL
		. "CREATE TABLE o AS SELECT CASE WHEN random() > 0.05 THEN $k END AS ok, CASE WHEN random() > 0.1 THEN floor(random() * 7)::int4 END AS og, i AS oid FROM generate_series(1, "
		. pick(3, 40, 300) . ") i;\n");
	# VACUUM warns of foreign tables.
	$random->sql("SET client_min_messages = error;\n");
	$random->sql((chance(0.8) ? 'VACUUM ANALYZE' : 'ANALYZE') . " whole, parts, o;\n");
	foreach my $change ("UPDATE %s SET u = u + 1 WHERE id % 7 = 0", "UPDATE %s SET i = i + 1, b = NULL WHERE id % 5 = 0", "DELETE FROM %s WHERE id % 3 = 0")
	{
		# a foreign partition is written row by row
		$random->sql(join('', map { ($change =~ s/%s/$_/r) . ";\n" } qw(whole parts))) if chance($foreign ? 0.1 : 0.25);
	}
	return $kind;
}

# ---- expressions ----

# An alternative: a text, or a function that makes one
sub choose
{
	my $choice = pick(@_);
	return ref $choice ? $choice->() : $choice;
}

my @parameters;
my $inexact;					# has the query what is exact by our nodes alone?
my $hostile;

sub parameter
{
	push @parameters, [@_];
	return '$' . scalar(@parameters);
}

sub literal
{
	my ($type, $text) = @_;

	return "$text\::$type" if @parameters >= 3 || !chance(0.15);
	return parameter($type, $text);
}

sub int_expr
{
	my $column = pick(qw(i i s b));

	return $column if chance(0.5);
	return choose("($column + i)", "($column % 7)", "(i * 3 - s)", "($column / 10)", "abs($column)", "COALESCE($column, 5)", "(CASE WHEN s > 2 THEN $column ELSE i END)",
		'LEAST(i, s)', "(d - date '2024-02-10')", sub { "(i + " . literal('int4', between(-9, 30)) . ')' }, $hostile ? ('(i / s)', '(b * i)') : 's');
}

sub comparison { return pick('=', '<>', '<', '<=', '>', '>=') }

sub condition
{
	my $operator = comparison();
	return choose(sub { int_expr() . " $operator " . literal('int4', between(-9, 30)) }, 'i IS NULL', 'i IS NOT NULL', 's IN (1, 3, NULL)', "s $operator 3",
		's = ' . between(-2, 6), 'i NOT IN (2, 5, 11)', "f $operator 0", "f IN (0, 'NaN', 2.25)", "n $operator 50.25", "x $operator 'x8'", "x = 'x" . pick('cfcd208495d565ef66e7dff9f98764da', 'c4ca4238a0b923820dcc509a6f75849b') . "'",
		"d > '2024-03-01'", "t < d", 's < 4', 'i > 3', "(s > 1 OR i < 4)", "x IN ('xc4ca4238a0b923820dcc509a6f75849b', 'xa')", 'w > 0', 'id % 4 = 1');
}

sub key_range
{
	my ($lo, $hi) = sort { $a <=> $b } between(-5, $domain + 5), between(-5, $domain + 5);

	$hi = $lo + int(($hi - $lo) / 10) if chance(0.3);
	return 'k BETWEEN ' . literal($keytype, key_value($lo)) . ' AND ' . key_value($hi);
}

# Nothing is both: all partitions may be pruned, of a generic plan when it begins
sub nowhere
{
	return 's > ' . parameter('int2', 7) . ' AND s < ' . parameter('int2', -2) if chance(0.3);
	return 'k > ' . parameter($keytype, key_value($domain + 5)) . ' AND k < ' . parameter($keytype, key_value(-5));
}

sub where
{
	my @conditions;

	push @conditions, nowhere() if chance(0.05);
	push @conditions, choose(\&key_range, sub { 'k ' . comparison() . ' ' . literal($keytype, key_value()) }) if chance(0.65);
	push @conditions, '(' . key_range() . ' OR ' . key_range() . ')' if chance(0.15);
	push @conditions, 'k IN (' . join(', ', map { key_value() } 1 .. between(1, 9)) . ')' if chance(0.07);
	push @conditions, condition() foreach (1 .. pick(0, 0, 1, 2));
	return @conditions ? 'WHERE ' . join(' AND ', @conditions) : '';
}

sub aggregate
{
	my $filter = chance(0.2) ? ' FILTER (WHERE ' . condition() . ')' : '';
	my $name = chance(0.12) ? choose(sub { $inexact = 1; pick('sum', 'avg') . '(g)' }, sub { $inexact = 1; pick(qw(stddev var_pop)) . '(' . pick(qw(f g)) . ')' },
		sub { $inexact = 1; pick(qw(regr_slope corr covar_pop regr_sxx)) . '(' . pick(qw(i f s)) . ', ' . pick(qw(i f s)) . ')' })
	  : choose('count(*)', 'count(*)', sub { 'count(' . pick(@indexed, 'k') . ')' }, sub { pick(qw(sum avg min max)) . '(' . int_expr() . ')' },
		sub { pick(qw(sum avg min max)) . '(' . int_expr() . ')' }, sub { pick(qw(stddev var_pop variance)) . '(' . pick(qw(i s b)) . ')' },
		sub { pick(qw(bit_and bit_or bit_xor)) . '(' . int_expr() . ')' }, sub { pick(qw(bool_and bool_or)) . '(' . condition() . ')' },
		sub { pick('sum', 'avg', 'min', 'max') . '(' . pick(qw(n w f n), 'n + 1', '(i / 100.0)') . ')' }, sub { pick(qw(min max)) . '(' . pick(qw(x d t k g)) . ')' },
		sub { 'gpubtree_partial' . pick('', '_variance') . '(' . pick(qw(i s b n w f g), 'i + s') . ')' }, 'gpubtree_partial_regression(f, g)', $ytype =~ /bool|uuid|xid8|mac|code/ ? 'count(y)' : 'max(y)');
	return $name . $filter;
}

# Aggregates that depend on how often each value occurs
sub value_aggregate
{
	my $value = pick(qw(s i x d f n t y), 'i % 7');
	my $order = "WITHIN GROUP (ORDER BY $value" . pick('', ' DESC', ' NULLS FIRST') . ')';

	return choose("count(DISTINCT $value)", "count(DISTINCT $value)", $value ne 'y' ? "gpubtree_partial_values($value)" : "count(DISTINCT $value)", "mode() $order", 'percentile_disc(' . pick(0, 0.5, 1, 0.3) . ") $order",
		"percentile_disc(ARRAY[0.1, 0.9]) $order", 'percentile_cont(0.4) WITHIN GROUP (ORDER BY ' . pick(qw(i s f)) . ')', 'sum(DISTINCT ' . pick(qw(i s n f)) . ')')
	  . (chance(0.2) ? ' FILTER (WHERE ' . condition() . ')' : '');
}

sub group
{
	return choose('s', 's', 'i', 'i % 7', 'x', 'x', 'y', 'd', 'f', 'n', "date_trunc('month', t)", 'COALESCE(s, 100)', 'i > 5', sub { int_expr() }, 'k', 'b',
		$keytype =~ /^int/ ? 'k / 50' : $keytype =~ /time/ ? "date_trunc('" . pick(qw(day week month)) . "', k)" : 'k');
}

# ---- queries ----
# Each has "%s" for the table, and says whether the order of its rows is compared.

sub grouped_query
{
	my %seen;
	my @groups = chance(0.6) ? grep { !$seen{$_}++ } map { group() } 1 .. pick(1, 1, 2, 3) : ();
	my @aggregates = map { chance(0.15) ? value_aggregate() : aggregate() } 1 .. between(1, 4);
	my $n = @groups;
	my $list = join(', ', 1 .. $n);
	my $by = $n == 0 ? '' : chance(0.2) ? 'GROUP BY ' . pick("ROLLUP ($list)", "CUBE ($list)", "GROUPING SETS (($list), (), (1))") : "GROUP BY $list";
	my $having = chance(0.15) ? 'HAVING ' . pick('count(*) > ' . between(0, 20), 'sum(i) > 50', 'max(s) IS NOT NULL', 'bool_or(i > 7)') : '';
	my $select = 'SELECT ' . join(', ', @groups, @aggregates) . ' FROM %s t ' . where() . " $by $having";

	# of equal groups of floats, -0 and 0, either may be shown, and both are 0
	return ("$select ORDER BY $list" . pick('', ' DESC') . ' LIMIT ' . between(1, 9), 1) if $n > 0 && $by =~ /^GROUP BY [\d, ]+$/ && chance(0.2);
	return ($select, 0);
}

# Groups that follow one another in the order of the key
sub bucket_query
{
	my $bucket = $keytype =~ /^int/ ? 'k / ' . pick(3, 10, 50, 500) : $keytype =~ /time|date/ ? "date_trunc('" . pick(qw(hour day week month year)) . "', k)" : 'k';
	my @aggregates = map { chance(0.1) ? value_aggregate() : aggregate() } 1 .. between(1, 3);
	my $having = chance(0.15) ? 'HAVING count(*) > ' . between(0, 9) : '';
	my $select = "SELECT $bucket, " . join(', ', @aggregates) . ' FROM %s t ' . where() . " GROUP BY 1 $having";

	return ($select, 0) if chance(0.4);
	return ("$select ORDER BY 1" . pick('', ' DESC') . pick('', ' LIMIT ' . between(1, 20) . pick('', ' OFFSET 3')), 1);
}

sub distinct_query
{
	return ('SELECT DISTINCT ' . join(', ', map { group() } 1 .. pick(1, 1, 2)) . ' FROM %s t ' . where(), 0);
}

sub rows_query
{
	my @listed = (shuffled(qw(k i s d x n w f b y)))[ 0 .. between(1, 5) ];
	my $list = join(', ', @listed);
	my $select = "SELECT $list" . pick('', ', i + 1', ', u', ', id') . ' FROM %s t ' . where();

	return ($select, 0) if chance(0.5);
	return ("SELECT DISTINCT ON ($listed[0]) $list FROM %s t " . where() . " ORDER BY $list", 1) if chance(0.2);
	return ("SELECT $list FROM %s t " . where() . " ORDER BY $list" . pick('', ' DESC') . ' LIMIT ' . between(1, 30) . pick('', ' OFFSET 5'), 1);
}

sub rank_query
{
	my $where = chance(0.05) ? 'WHERE ' . nowhere() : chance(0.7) ? 'WHERE ' . key_range() : '';

	return ("SELECT k FROM %s t $where ORDER BY k" . pick('', ' DESC') . ' OFFSET ' . between(0, 900) . ' LIMIT ' . between(1, 5), 1) if chance(0.5);
	return ('SELECT ' . pick('percentile_disc(0.5)', 'percentile_disc(ARRAY[0.01, 0.99])') . " WITHIN GROUP (ORDER BY k) FROM %s t $where", 0);
}

sub join_query
{
	my @aggregates = map { aggregate() } 1 .. between(1, 3);
	my $aggregates = join(', ', @aggregates);
	my $names = join(', ', map { "c$_" } 1 .. @aggregates);
	my $on = pick('k = ok', 'k = ok', 'k >= ok AND k < ' . key_value(), $keytype =~ /int|date/ ? 'k BETWEEN ok AND ok + og' : 'k = ok');
	my $filter = chance(0.15) ? ' AND ' . nowhere() : chance(0.5) ? ' AND ' . condition() : '';
	my $join = pick('JOIN', 'LEFT JOIN');

	return ('SELECT ' . ($_ = pick('og', 'oid', 'og + 1')) . ", $aggregates FROM o $join %s t ON $on$filter GROUP BY $_", 0) if chance(0.3);
	return ("SELECT $aggregates FROM o $join %s t ON $on$filter", 0) if chance(0.2);
	return ("SELECT oid, q.* FROM o, LATERAL (SELECT $aggregates FROM %s t WHERE $on$filter) q($names)", 0) if chance(0.3);
	return ("SELECT oid, (SELECT $aggregates[0] FROM %s t WHERE $on$filter) FROM o WHERE oid < 40", 0) if chance(0.3);
	return ('SELECT oid FROM o WHERE ' . pick('', 'NOT ') . "EXISTS (SELECT FROM %s t WHERE k = ok$filter)", 0) if chance(0.3);
	return ("SELECT oid, k, i, x FROM o $join %s t ON k = ok$filter", 0);
}

# A query that is executed again and again, each time with other partitions
sub rescan_query
{
	my @aggregates = map { aggregate() } 1 .. between(1, 3);
	my $aggregates = join(', ', @aggregates);
	my $names = join(', ', map { "c$_" } 1 .. @aggregates);
	my $where = pick('s = o', 's > o', 'i = o', $keytype =~ /^int/ ? ("k > o * $domain / 9", "k BETWEEN o * $domain / 9 AND o * $domain / 9 + 20") : ());
	my $group = chance(0.4) ? 'GROUP BY ' . pick('x', 's', 'i % 3') : '';

	return ("SELECT o, (SELECT $aggregates[0] FROM %s t WHERE $where) FROM generate_series(-2, 7) o", 0) if chance(0.4);
	return ("SELECT o, q.* FROM generate_series(-2, 7) o CROSS JOIN LATERAL (SELECT $aggregates FROM %s t WHERE $where $group OFFSET 0) q($names)", 0);
}

# Several queries over the table in one
sub nested_query
{
	my $group = group();
	my @inner = map { "SELECT $group AS c, " . join(', ', map { aggregate() . " AS a$_" } 1 .. 2) . ' FROM %s t ' . where() . ' GROUP BY 1' } 1 .. 2;

	return ("SELECT * FROM ($inner[0]) p FULL JOIN ($inner[1]) q ON p.c IS NOT DISTINCT FROM q.c AND false", 0) if chance(0.2);
	return ("SELECT * FROM ($inner[0]) p JOIN ($inner[1]) q USING (c)", 0) if chance(0.4);
	return ("WITH q AS MATERIALIZED ($inner[0]) SELECT c, a1, (SELECT count(*) FROM %s t WHERE s <= (SELECT count(*) FROM q o WHERE o.a1::text < q.a1::text)) FROM q", 0) if chance(0.3);
	return ("SELECT count(*), count(c), count(a1) FROM ($inner[0] ORDER BY 1 LIMIT 5) q", 0) if chance(0.3);
	return ("SELECT count(*), sum(i) FROM %s t WHERE i > (SELECT avg(i) FROM %s t " . where() . ') AND k <= (SELECT max(k) FROM %s t ' . where() . ')', 0);
}

sub random_query
{
	@parameters = ();
	$inexact = 0;
	$hostile = chance(0.1);
	return pick((\&grouped_query) x 8, (\&bucket_query) x 2, \&distinct_query, (\&rows_query) x 2, (\&rank_query) x 2, (\&join_query) x 5, (\&rescan_query) x 3, (\&nested_query) x 2)->();
}

# ---- running a query ----

sub settings_sql
{
	my ($parallel) = @_;

	my $take = chance(0.6);

	# Where rows are dear, so is passing them by.
	return 'SET cpu_tuple_cost = ' . ($take ? pick(0.01, 1) : 0.01) . ";\n" . join('', map { "SET $_ = " . ($take ? 'off' : pick('off', 'on')) . ";\n" } qw(enable_seqscan enable_indexscan enable_indexonlyscan enable_bitmapscan))
	  . join('', map { "SET $_ = " . pick('on', 'off') . ";\n" } qw(enable_partitionwise_join enable_partitionwise_aggregate enable_hashagg))
	  . join('', map { "SET $_ = " . pick('on', 'on', 'on', 'off') . ";\n" } qw(enable_partition_pruning gpubtree.enable_device gpubtree.enable_scan gpubtree.enable_aggregate))
	  . (chance(0.5) ? join('', map { "SET $_ = off;\n" } qw(enable_nestloop enable_hashjoin enable_mergejoin)) : join('', map { "SET $_ = on;\n" } qw(enable_nestloop enable_hashjoin enable_mergejoin)))
	  . "SET gpubtree.setup_cost = 0;\nSET gpubtree.batch_setup_cost = " . pick(0, 0, 100) . ";\nSET work_mem = '" . pick(qw(64kB 4MB 4MB)) . "';\n"
	  . 'SET max_parallel_workers_per_gather = ' . ($parallel ? 2 : 0) . ";\n"
	  . ($parallel ? "SET min_parallel_table_scan_size = 0;\nSET min_parallel_index_scan_size = 0;\nSET parallel_setup_cost = 0;\nSET parallel_tuple_cost = 0;\n"
		  . 'SET parallel_leader_participation = ' . pick('on', 'off') . ";\n" : '');
}

sub compare_query
{
	my ($query, $ordered) = random_query();
	my $parallel = chance(0.18);
	my $settings = settings_sql($parallel);
	my $generic = 'SET plan_cache_mode = ' . pick(qw(force_generic_plan force_generic_plan force_custom_plan)) . ";\n";
	my $options = ($inexact ? 'ANALYZE, TIMING OFF, SUMMARY OFF, ' : '') . 'COSTS OFF';
	my $nodes = $inexact ? 'on' : 'off';
	my @moves = $ordered && !@parameters && !$hostile && !$inexact && $query !~ /\bf\b/ && chance(0.4) ? gpb_moves('ABSOLUTE 0', 'ALL') : ();
	my %run;

	$ordered = $ordered ? 'true' : 'false';
	foreach my $table (qw(whole parts))
	{
		my $text = $query =~ s/%s/$table/gr;
		# PL/pgSQL fetches rows of another statement from a cursor, which has no workers.
		my $prepare = 'DEALLOCATE ALL;' . "\nPREPARE p" . (@parameters ? ' (' . join(', ', map { $_->[0] } @parameters) . ')' : '') . " AS $text;\n";
		my $execute = 'EXECUTE p' . (@parameters ? ' (' . join(', ', map { $_->[1] } @parameters) . ')' : '');

		# A cursor that goes back has the plan begin anew.
		$run{$table} = @moves ? gpb_answer_sql('cursor', $text, @moves) : $prepare . "SELECT answer(\$query\$$execute\$query\$, $ordered);\n" x (@parameters ? 2 : 1);
		$run{"plan of $table"} = 'SELECT plan($query$' . (@moves ? $text : $execute) . "\$query\$, '$options');\n";
	}
	my ($theirs, $their_plan, $mine, $plan, $errors) = $random->run_parts(gpb_isolation(),
		"RESET ALL;\n" . ($inexact ? $take_nodes : "SET gpubtree.enabled = off;\n") . $generic . $run{whole},
		$inexact ? $run{'plan of whole'} : '', "RESET ALL;\n$settings$generic$run{parts}", $run{'plan of parts'});

	if ($inexact && grep { /Gave Up:|^ *(->  )?(Partial |Finalize )?(Mixed|Hash|Group)?Aggregate +\(actual/m } $their_plan, $plan)
	{
		# core has added up floats
		$random->saw('inexact, by core');
		return if $errors eq '';
	}
	note_plan($query, $plan);
	# where there is a cursor, the session sees the error
	return if @moves && $errors =~ /out of range/;
	my $error = $theirs =~ /^ERROR/m || $mine =~ /^ERROR/m;

	# Which rows core comes to depends on its plan, where it may end early, or conditions exclude what raises an error.
	return if $errors eq '' && ($theirs eq $mine || ($error && ($hostile || $inexact)));
	$random->mismatch("differs ($keytype" . ($parallel ? ', parallel' : '') . "): $query (@{[ map { $_->[1] } @parameters ]})\n$settings$generic\nwhole: $theirs\nparts: $mine\n$plan\n$errors");
	return;
}

sub note_plan
{
	my ($query, $plan) = @_;

	$random->saw($1) while $plan =~ /Custom Scan \((Gpubtree\w+)\) on parts_/g;
	$random->saw("joined, $1") if $plan =~ /\(GpubtreePartition\)/ && $plan =~ /Custom Scan \((Gpubtree(?:Range|Join|Subq)\w*)\)/;
	$random->saw("all, $1") while $plan =~ /Custom Scan \((Gpubtree\w+)\) on parts\b/g;
	$random->saw('workers') if $plan =~ /Workers Planned/;
	if ($plan =~ /^( *)(->  )?Custom Scan \((GpubtreeAggregate)\) on parts(?: t)?(?: \(actual.*)?\n(?:\1 .*\n)*?\1 .*->  (Append|Gather|Custom Scan)/m)
	{
		$random->saw('merged');
		$random->saw('merged, groups') if $query =~ /GROUP BY/;
		$random->saw('merged, again and again') if $query =~ /generate_series/;
		$random->saw('merged, values') if $query =~ /DISTINCT|WITHIN GROUP/;
		$random->saw('merged, exact') if $inexact;
		$random->saw('merged, workers') if $plan =~ /Workers Planned/;
		$random->saw('merged, pruned') if $plan =~ /Subplans Removed/;
	}
	diag "$query\n$plan" if $ENV{GPB_SHOW};
	return;
}

# ---- beside writers ----

# Readers keep a snapshot and compare, while others insert, delete, move rows from leaf to leaf, and
# vacuum.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE busy (k int8, v int, g int2, x text) PARTITION BY RANGE (k);
CREATE TABLE busy_1 PARTITION OF busy FOR VALUES FROM (MINVALUE) TO (3000) WITH (fillfactor = 80);
CREATE TABLE busy_2 PARTITION OF busy FOR VALUES FROM (3000) TO (6000) WITH (fillfactor = 80);
CREATE TABLE busy_3 (x text, gone int, g int2, v int, k int8);
ALTER TABLE busy_3 DROP COLUMN gone;
ALTER TABLE busy ATTACH PARTITION busy_3 FOR VALUES FROM (6000) TO (9000);
CREATE TABLE busy_none PARTITION OF busy FOR VALUES FROM (9000) TO (9500);
CREATE TABLE busy_default PARTITION OF busy DEFAULT;
CREATE INDEX ON busy_1 USING gpubtree (k) INCLUDE (v, g, x);
CREATE INDEX ON busy_2 USING gpubtree (k) INCLUDE (v, g, x);
CREATE INDEX ON busy_3 USING gpubtree (k) INCLUDE (x, g, v);
CREATE INDEX ON busy_default USING gpubtree (k) INCLUDE (v, g, x);
INSERT INTO busy SELECT i, i % 1000, i % 7, 'x' || i * 7 % 23 FROM generate_series(1, 9999, 2) i;
VACUUM ANALYZE busy;
CREATE FUNCTION compare_busy(query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	plain text;
BEGIN
	PERFORM set_config('gpubtree.enabled', 'on', true);
	ours := answer(query, false);
	PERFORM set_config('gpubtree.enabled', 'off', true);
	plain := answer(query, false);
	IF ours IS DISTINCT FROM plain THEN
		RAISE '%: %, should be %', query, ours, plain;
	END IF;
END $$;
SQL

sub beside_writers
{
	my ($device) = @_;

	$node->pgbench(
		'-n -c 4 -t 30 --random-seed=' . $random->seed, 0,
		[qr/processed: (\d+)\/\1/], [qr/^pgbench: setting random seed to \d+$/],
		"device $device: totals and groups equal core's beside writers",
		{   "$device-trees\@50" => $take_nodes . <<'SQL',
\set a random(0, 8000)
\set w random(100, 9000)
\set n random(2, 9)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_busy(format($$SELECT count(*), sum(v), max(x), sum(v) FILTER (WHERE g > 2) FROM busy WHERE k BETWEEN %s AND %s AND v %% %s <> 0$$, :a, :a + :w, :n));
SELECT compare_busy(format($$SELECT x, count(*), sum(v), count(DISTINCT g) FROM busy WHERE v > %s GROUP BY x$$, :w / 10));
SELECT compare_busy('SELECT g, count(*), min(k), max(v) FROM busy GROUP BY g');
COMMIT;
SQL
			"$device-insert\@15" => <<'SQL',
\set a random(1, 10000)
INSERT INTO busy SELECT :a + i, i, i % 7, 'new' || :a % 300 FROM generate_series(1, 20) i;
SQL
			"$device-delete\@15" => <<'SQL',
\set a random(1, 10000)
DELETE FROM busy WHERE k BETWEEN :a AND :a + 100;
SQL
			"$device-move\@15" => <<'SQL',
\set a random(1, 8000)
\set d random(100, 4000)
UPDATE busy SET k = k + :d, v = v + 1 WHERE k BETWEEN :a AND :a + 9;
SQL
			"$device-vacuum\@5" => 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) busy_1, busy_2, busy_3;' });
	return;
}

foreach my $device ($random->devices)
{
	$random->use_device($device, 'reload');
	foreach my $round (1 .. $random->rounds)
	{
		my $kind = create_tables();
		last unless $random->round("device $device, round $round: $kind, $leaves leaves by $keytype", 60, \&compare_query);
	}
	beside_writers($device) if $device eq 'host';
}
my @plans = ('GpubtreeScan', 'GpubtreeAggregate', 'workers',
	map { "merged$_" } '', ', groups', ', again and again', ', values', ', exact');
$random->go_on_until_seen(3, 12, sub { create_tables(); compare_query() foreach (1 .. 60) }, @plans);
$random->finish(3, @plans);
