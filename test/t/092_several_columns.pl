# Scans of an index with several key columns give what a sequential scan gives in the same snapshot:
# columns of many types, each in any order and with NULLs or without, conditions on each of them and
# across types, arrays, row comparisons, bitmaps, order by prefixes, cursors that turn around, locked
# rows, merge joins; among
# updates, VACUUM and DROP NOT NULL.  So do GpubtreeAggregate, with groups and filters over key
# columns, GpubtreeScan, GpubtreeRangeAggregate and
# GpubtreeSubquery.  gpubtree_check() finds each index sound.
#
# Guards: key_columns.h, column_ranges.c, row_bound.c, row_scans.c, conditions.c, range_conditions.c, the entries and tuples that key.c and
# scan_tuple.c make of several columns, and the slots that programs have for these.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 30)
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;
use GpubtreeRandom;

# Some queries are planned without our planner_hook, which finishes scans by row comparisons.
my $random = GpubtreeRandom->new(rounds => 30, settings => "session_preload_libraries = 'gpubtree_test'\n");
$random->use_device('host');

# ---- types ----

# "sql" makes an expression of the type from one for a number from 0 on; "other" are types that the
# type is compared with.
my @integers = (
	other => [qw(int2 int4 int8)],
	sql => sub { "(($_[0]) - 5)" });
my @times = (other => [qw(date timestamp timestamptz)]);
my %type = (
	int2 => { @integers, extremes => [ "(-32768)", "32767" ] },
	int4 => { @integers, extremes => [ "(-2147483648)", "2147483647", "32768" ] },
	int8 => { @integers, extremes => [ "(-9223372036854775808)", "9223372036854775807", "2147483648" ] },
	bool => { other => ['bool'], sql => sub { "(($_[0]) % 2 = 1)" }, extremes => ['true'] },
	'"char"' => { other => ['"char"'], sql => sub { "((($_[0]) % 256 - 128)::int4::\"char\")" }, extremes => ["'\\377'"] },
	oid => { other => ['oid'], sql => sub { "(($_[0])::int8::oid)" }, extremes => [ "4294967295", "0" ] },
	date => { @times, sql => sub { "(date '2024-11-01' + ($_[0])::int4)" },
		extremes => [ "'infinity'", "'-infinity'", "'5874897-12-31'", "'4714-11-24 BC'" ] },
	timestamptz => { @times, sql => sub { "(timestamptz '2024-11-01' + ($_[0]) * interval '7 hours')" },
		extremes => [ "'infinity'", "'-infinity'", "'294276-12-31 23:59:59.999999+00'", "'4714-11-24 00:00:00+00 BC'" ] },
	timestamp => { @times, sql => sub { "(timestamp '2024-11-01' + ($_[0]) * interval '7 hours')" },
		extremes => [ "'infinity'", "'-infinity'" ] },
	# of "beyond" no column has values
	'numeric(7, 2)' => { numeric_type("((%s - 5) / 8.0)"), extremes => [ "'NaN'", "99999.99", "(-99999.99)", "0.01" ] },
	'numeric(18, 6)' => { numeric_type("((%s - 5) / 7.0)"), extremes => [ "'NaN'", "999999999999.999999", "(-999999999999.999999)" ] },
	'numeric(2, -1)' => { numeric_type("((%s - 5) * 10)"), extremes => [ "'NaN'", "990", "(-990)" ] },
	timetz => { other => ['timetz'],
		sql => sub { "((timetz '00:00+00' + ($_[0]) * interval '17 minutes') AT TIME ZONE make_interval(hours => ($_[0])::int4 % 3))" },
		extremes => [ "'00:00+15:59'", "'24:00-15:59'" ] },
	float4 => { other => [qw(float4 float8)], last => 1, sql => sub { "((($_[0]) - 5) / 8.0)" },
		extremes => [ "'NaN'", "'-infinity'", "'infinity'" ] });

# Keys of 8 and of 16 bytes that make up much of such indexes; others come by chance.
my @narrow = ([qw(int4 int2)], [qw(bool int4)], [qw(date int2)], [qw(int2 bool date)]);
my @wide = ([ 'int4', 'numeric(18, 6)' ], [ 'numeric(7, 2)', 'timestamptz' ], [ 'numeric(18, 6)', 'numeric(2, -1)', 'int4' ],
	[qw(int4 timestamptz)], [qw(int8 timestamptz)], [qw(int4 int4 int4)], [qw(timestamp int8)]);

my $width;			# bytes of the index's keys
my @columns;		# of the index: hashes with name, type, order, domain
my $operator = sub { pick('=', '=', '=', '<', '<=', '>=', '>') };

# A numeric type: the number, and what has more digits behind the point than the type, or is beyond
# its values
sub numeric_type
{
	my ($format) = @_;
	return (
		other => [qw(numeric numeric int4)],
		sql => sub { sprintf($format, "($_[0])") },
		beyond => [ "'infinity'", "'-infinity'", '1e30', '(-1e30)', "'1e-30'", "'-1e-30'", '99999.995', '(-1000)' ]);
}

# A literal for a column, of its type or of another that is compared with it
sub literal
{
	my ($column) = @_;
	my $type = $type{ $column->{type} };
	my $other = chance(0.3) ? pick(@{ $type->{other} }) : $column->{type};

	return pick(@{ $type->{beyond} }) . '::numeric' if $type->{beyond} && chance(0.1);
	return pick(@{ $type->{extremes} }) . "::$column->{type}" if chance(0.1);
	return $type->{sql}->(between(0, $column->{domain})) . "::$other";
}

# ---- tables ----

sub create_tables
{
	my $sql = '';
	my $tries = 0;

	while (1)
	{
		my $n = pick(2, 2, 2, 3, 3, 4);
		my $rows = pick(0, 30, 1000, 4000);
		my @types = chance(0.4) ? @{ chance(0.3) ? pick(@narrow) : pick(@wide) } : ();

		die 'no index fits' if $tries++ > 200;
		$n = @types if @types;
		@columns = map {
			my $last = $_ == $n - 1;
			{ name => 'k' . $_,
				type => $types[$_] // pick(grep { $last || !$type{$_}{last} } sort keys %type),
				order => gpb_index_order(),
				null => pick(0, 0, 0.1, 0.3),
				required => chance(0.5),
				domain => pick(3, 10, 60) } } 0 .. $n - 1;
		my @values = map {
			my $number = "floor(random() * $_->{domain})::int4";
			my $value = $type{ $_->{type} }{sql}->($number);
			my $extreme = pick(@{ $type{ $_->{type} }{extremes} });
			my $null = $_->{required} ? 0 : $_->{null};
			"(CASE WHEN random() < $null THEN NULL WHEN random() < 0.03 THEN $extreme\::$_->{type} "
			  . "ELSE $value\::$_->{type} END)" } @columns;
		my $index = "CREATE INDEX t_k ON t USING gpubtree ("
		  . join(', ', map { "$_->{name} $_->{order}" } @columns) . ') ' . pick('', 'INCLUDE (v)', 'INCLUDE (v, w)')
		  . pick('', '', 'WITH (fillfactor = 20)') . ";\n";
		my $definition = "id serial, v int4, w int8, s text, "
		  . join(', ', map { "$_->{name} $_->{type}" . ($_->{required} ? ' NOT NULL' : '') } @columns);

		# Whether the columns fit is for the index to say.
		$random->sql("DROP TABLE IF EXISTS try;\nCREATE TABLE try ($definition);\nDROP TABLE IF EXISTS fits;\n"
			  . "CREATE TABLE fits (a int);\n"
			  . "DO \$\$ BEGIN\n" . ($index =~ s/t_k ON t/try_k ON try/r)
			  . "INSERT INTO fits VALUES (1); EXCEPTION WHEN feature_not_supported THEN NULL; END \$\$;\n");
		next unless $random->sql('SELECT count(*) FROM fits;') eq '1';

		$sql = "SELECT setseed(" . rand() . ");\n" . gpb_table_sql(
			name => 't',
			columns => $definition,
			index => $index,
			hot => "s = 'hot'",
			more_changes => [ "UPDATE t SET $columns[0]{name} = $columns[0]{name} WHERE id % 4 = 0;\n",
				"DELETE FROM t WHERE id % 2 = 0;\nVACUUM t;\n" ],
			load => "INSERT INTO t (v, w, s, " . join(', ', map { $_->{name} } @columns)
			  . ") SELECT floor(random() * 100)::int4, i, 'row ' || i, " . join(', ', @values)
			  . " FROM generate_series(1, $rows) i;\n");
		last;
	}

	# A column loses its NOT NULL, and NULLs come, unless the index has no code for them.
	my ($required) = grep { $_->{required} } @columns;
	if ($required && chance(0.5))
	{
		$sql .= "ALTER TABLE t ALTER $required->{name} DROP NOT NULL;\n"
		  . "DO \$\$ BEGIN UPDATE t SET $required->{name} = NULL WHERE id % 9 = 0; "
		  . "EXCEPTION WHEN not_null_violation THEN NULL; END \$\$;\n";
	}
	$sql .= "REINDEX TABLE t;\n" if !$required && chance(0.1);

	# A column gets more digits, or any, and values come, unless the index has no room for them.
	my ($numeric) = grep { $_->{type} =~ /^numeric/ } @columns;
	if ($numeric && chance(0.5))
	{
		my ($digits, $scale) = $numeric->{type} =~ /(\d+), (-?\d+)/;
		my $wider = pick('numeric(' . ($digits + pick(1, 3, 20)) . ", $scale)", 'numeric');
		$sql .= "ALTER TABLE t ALTER $numeric->{name} TYPE $wider;\n"
		  . "DO \$\$ BEGIN UPDATE t SET $numeric->{name} = $numeric->{name} * " . pick(2, 10, 1000) . ' WHERE id % ' . pick(2, 9, 1000)
		  . " = 0; EXCEPTION WHEN numeric_value_out_of_range THEN NULL; END \$\$;\n";
	}
	$random->sql($sql);
	return;
}

# ---- queries ----

sub condition
{
	my ($column) = @_;
	my $name = $column->{name};
	my $type = $type{ $column->{type} };

	return pick(
		sub { $name . ' ' . $operator->() . ' ' . literal($column) },
		sub { $name . ' ' . $operator->() . ' ' . literal($column) },
		sub { "$name BETWEEN " . literal($column) . ' AND ' . literal($column) },
		sub { $name . ' IS ' . pick('', 'NOT ') . 'NULL' },
		sub {
			my $other = pick(@{ $type->{other} });
			"$name " . pick('=', '=', '=', $operator->()) . " ANY (ARRAY[" . join(', ',
				map { chance(0.05) ? "NULL::$other" : $type->{sql}->(between(0, $column->{domain})) . "::$other" } 0 .. pick(0, 3, 20))
			  . "]::$other\[])" })->();
}

# A row comparison: columns mostly as the index has them, or any, with others among them
sub row_comparison
{
	my $from = chance(0.7) ? 0 : between(0, $#columns);
	my @some = chance(0.8) ? @columns[ $from .. between($from, $#columns) ] : map { pick(@columns) } 0 .. between(1, 3);
	my @left = map { $_->{name} } @some;
	my @right = map { chance(0.05) ? "NULL::$_->{type}" : literal($_) } @some;

	if (@some == 1 || chance(0.2))
	{
		push @left, pick('v', 'w');
		push @right, between(0, 100);
	}
	my ($one, $other) = map { '(' . join(', ', @$_) . ')' } \@left, \@right;
	return "$one " . pick('<', '<=', '>=', '>') . " $other" if chance(0.7);
	return "$other " . pick('<', '<=', '>=', '>') . " $one";
}

# A boolean column by itself
sub boolean
{
	my ($column) = @_;

	return pick('%s', 'NOT %s', '%s IS TRUE', '%s IS NOT TRUE', '%s IS FALSE', '%s IS NOT FALSE', '%s IS UNKNOWN', '%s IS NOT UNKNOWN')
	  =~ s/%s/$column->{name}/r;
}

sub conditions
{
	my @conditions = map { chance(0.65) ? condition($_) : () } @columns;

	@conditions = map { chance(0.4) ? condition($_) : () } @columns if chance(0.3);
	push @conditions, row_comparison() if chance(0.3);
	push @conditions, row_comparison() if chance(0.1);
	push @conditions, map { $_->{type} eq 'bool' && chance(0.5) ? boolean($_) : () } @columns;
	push @conditions, condition(pick(@columns)) if chance(0.2);
	push @conditions, 'v < 60' if chance(0.1);
	return @conditions ? join(' AND ', @conditions) : 'true';
}

# The columns of a prefix of the index in its order, or the reverse
sub prefix_order
{
	my @prefix = @columns[ 0 .. between(0, $#columns) ];

	return (gpb_order_of(@prefix), join(', ', map { $_->{name} } @prefix));
}

sub random_query
{
	my $where = conditions();
	my ($order, $names) = prefix_order();
	my $all = join(', ', map { $_->{name} } @columns);
	my @words = grep { $_->{type} =~ /^(int|date|timestamp\b|timestamptz|numeric)/ } @columns;
	my $word = @words ? pick(@words) : undef;
	my $extreme = $word ? pick('min', 'max', 'count', $word->{type} =~ /numeric/ ? ('sum', 'avg') : ()) . "($word->{name})" : 'count(*)';
	my $group = join(', ', map { $_->{name} } grep { $_->{type} !~ /^(float|oid)/ && chance(0.5) } @columns) || 'v';
	my @same = map { "x.$_->{name} = y.$_->{name}" } @columns[ 0 .. between(0, $#columns) ];

	return pick(
		sub { ('rows', "SELECT $all FROM t WHERE $where") },
		sub { ('rows', "SELECT * FROM t WHERE $where") },
		sub { ('ordered', "SELECT count(*), sum(v), min($columns[0]{name}::text) FROM t WHERE $where") },
		sub { ('ordered', "SELECT $names FROM t WHERE $where ORDER BY $order" . pick('', ' LIMIT ' . between(1, 30))) },
		sub { ('ordered', "SELECT $names FROM t WHERE $where ORDER BY $order LIMIT " . between(1, 30) . ' FOR UPDATE') },
		sub { ('cursor', "SELECT $names FROM t WHERE $where ORDER BY $order") },
		sub { ('ordered', "SELECT $names, count(*), sum(v) FROM t WHERE $where GROUP BY $names ORDER BY $order") },
		sub { ('node', "SELECT count(*), sum(v), " . pick("count(v)", $extreme, "$extreme, max(v)") . " FROM t WHERE $where") },
		sub { ('node', "SELECT count(*), sum(v), " . pick("count(v)", $extreme, "$extreme, max(v)") . " FROM t WHERE $where") },
		sub { ('node', "SELECT $group, count(*), sum(v), $extreme FROM t WHERE $where GROUP BY $group") },
		sub { ('node', "SELECT $all, v FROM t WHERE $where AND " . ($word && $word->{type} =~ /numeric/ && chance(0.7)
			? "$word->{name} * 3 " . $operator->() . ' ' . literal($word) : 'v ' . pick('< 20', '% 3 = 1', 'IS NULL'))) },
		sub { ('node', "SELECT * FROM t WHERE $where AND v > 70") },
		sub { ('node', 'SELECT ' . (@words ? $words[0]{name} : 'v') . " FROM t WHERE $where AND v < 80 ORDER BY 1 LIMIT 7") },
		sub {
			my @order = pick('=', '<', '>=', '>');
			my $on = join(' AND ', (map { "t.$_->{name} = o.$_->{name}" } @columns[ 0 .. $#columns - 1 ]),
				chance(0.8) ? "t.$columns[-1]{name} @order o.$columns[-1]{name}" : "t.$columns[0]{name} >= o.$columns[0]{name}");
			my $filter = pick('', 'AND t.v > 30', "AND t.$columns[-1]{name} IS NOT NULL", 'AND t.' . condition($columns[-1]));
			('each', pick(
				"SELECT o.id, count(*), sum(t.v) FROM t o JOIN t ON $on $filter WHERE o.id % 11 = 0 GROUP BY o.id",
				"SELECT o.id, x.* FROM t o CROSS JOIN LATERAL (SELECT count(*) AS n, sum(t.v) AS s FROM t WHERE $on $filter) x WHERE o.id % 11 = 0",
				"SELECT o.id, (SELECT sum(t.v) FROM t WHERE $on $filter) FROM t o WHERE o.id % 11 = 0"))
		},
		sub { ('join', "SELECT count(*), sum(x.v) FROM (SELECT * FROM t WHERE $where) x JOIN t y ON " . join(' AND ', @same)
			. " WHERE x.id % 10 = 0") })->();
}

sub compare_query
{
	my ($kind, $query) = random_query();
	my $way = $kind eq 'cursor' ? 'index' : pick('index', 'index', 'index', 'bitmap');
	$way = 'node' if $kind =~ /^(node|each)$/;
	my $settings = "SET LOCAL enable_seqscan = off;\nSET LOCAL enable_"
	  . ($way eq 'index' ? 'bitmapscan' : 'indexscan') . " = off;\n"
	  . ($way eq 'index' ? 'SET LOCAL enable_sort = ' . pick('on', 'off', 'off') . ";\n" : "SET LOCAL enable_indexonlyscan = off;\n")
	  . ($kind eq 'join' ? pick("SET LOCAL enable_hashjoin = off;\nSET LOCAL enable_nestloop = off;\n",
			"SET LOCAL enable_hashjoin = off;\nSET LOCAL enable_mergejoin = off;\nSET LOCAL enable_material = off;\n") : '');
	$settings = join('', map { "SET LOCAL enable_$_ = off;\n" } qw(seqscan indexscan indexonlyscan bitmapscan hashagg sort))
	  . 'SET LOCAL gpubtree.enable_device = ' . pick('on', 'on', 'off') . ";\nSET LOCAL gpubtree.batch_setup_cost = " . pick(0, 0, 20) . ";\n"
	  if $way eq 'node';
	$settings =~ s/SET LOCAL enable_(?:seqscan|sort) = off;\n//g if $kind eq 'each';
	$settings .= "SET LOCAL enable_nestloop = off;\nSET LOCAL enable_hashjoin = off;\nSET LOCAL enable_mergejoin = off;\n" if $kind eq 'each';
	my $passes_by = $way ne 'node' && chance(0.15);
	$settings .= "SET LOCAL gpubtree_test.planner_hook_passes_by = on;\n" if $passes_by;
	my $answer = gpb_answer_sql($kind eq 'join' ? 'ordered' : $way eq 'node' ? 'rows' : $kind, $query, gpb_moves());
	my $plan = $random->compare(
		query => $query,
		isolation => gpb_isolation(),
		stock => gpb_stock_sql($answer),
		settings => $settings,
		answer => $answer,
		explain => 'EXPLAIN (' . ($way eq 'node' ? 'ANALYZE, TIMING OFF, SUMMARY OFF, ' : '') . "COSTS OFF) $query;\n");

	foreach my $seen ('Index Scan', 'Index Only Scan', 'Bitmap Index Scan', 'Backward', 'Merge Join', 'Nested Loop',
		'GpubtreeAggregate', 'GpubtreeScan',
		'GpubtreeRangeAggregate', 'GpubtreeSubquery')
	{
		$random->saw($seen) if $plan =~ /$seen/;
	}
	# most of them have programs that read key columns
	$random->saw("keys of $width bytes on the $1") if $plan =~ /Gpubtree(?:Aggregate|Scan).*?Engine: (host)/s;
	$random->saw("a row comparison in $1") if $plan =~ /(Index Scan|Index Only Scan|Bitmap Index Scan)(?: Backward)? [^\n]*\n[^\n]*Index Cond: [^\n]*(?:ROW\(|where_equal)/;
	$random->saw('an inexact condition') if $passes_by && $plan =~ /Index Cond: .*\n\s*Filter: .*ROW\(/;
	$random->saw('a bare boolean') if $plan =~ /Index Cond: [^\n]*k\d = true/ && $query !~ /k\d (?:= |BETWEEN)/;
	$random->saw('a cursor') if $kind eq 'cursor' && $plan =~ /t_k/;
	return;
}

# New tables for a round, and what kinds of index they have.
sub begin_round
{
	create_tables();
	$random->saw('an index of ' . scalar(@columns));
	$random->saw('a numeric column') if grep { $_->{type} =~ /^numeric/ } @columns;
	$width = $random->sql("SELECT key_width FROM gpubtree_metap('t_k');");
	$random->saw("keys of $width bytes");
	return;
}

foreach my $round (1 .. $random->rounds)
{
	begin_round();
	my $columns = join(', ', map { "$_->{type} $_->{order}" } @columns);
	last unless $random->round("round $round: scans of ($columns) agree", 40, \&compare_query);
	$random->sql(pick("UPDATE t SET v = v + 1 WHERE id % 3 = 0;\n", "DELETE FROM t WHERE id % 5 = 0;\nVACUUM t;\n",
		"INSERT INTO t SELECT (t).* FROM t WHERE id % 4 = 0;\n"));
	last unless $random->round("round $round: they agree after changes", 15, \&compare_query);
	is($random->sql("SELECT gpubtree_check('t_k', true);"), '', "round $round: the index is sound");
}
my @plans = (
	'Index Scan', 'Index Only Scan', 'Bitmap Index Scan', 'Backward', 'Merge Join', 'Nested Loop',
	'a row comparison in Index Scan', 'a row comparison in Index Only Scan', 'a row comparison in Bitmap Index Scan', 'an inexact condition', 'a bare boolean',
	'GpubtreeAggregate', 'GpubtreeScan', 'GpubtreeRangeAggregate', 'GpubtreeSubquery', 'a cursor', 'a numeric column', 'an index of 2', 'an index of 3',
	'keys of 8 bytes', 'keys of 16 bytes', 'keys of 8 bytes on the host', 'keys of 16 bytes on the host');
$random->go_on_until_seen(2, 60, sub { begin_round(); compare_query() foreach (1 .. 40) }, @plans);
$random->finish(2, @plans);
