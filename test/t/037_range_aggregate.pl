# Aggregates over each of many ranges give what core gives in the same snapshot: joins that are
# grouped by the outer side, with ranges that are empty, inverted, NULL, infinite, one-sided,
# overlapping and repeated, with equality, of every type and across types; unique groups and
# others, groups of NULLs, HAVING, LIMIT, order, rescans, cursors, prepared statements, little and
# much memory.
#
# Guards: range_aggregate_exec.c's batches and groups; range_aggregate_plan.c's choice of clauses,
# its unique groups and its sorting.
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 16, devices => [ 'host', 'off' ]);

# Return at most n of the list, each once.
sub some { my ($n, @list) = @_; my %seen; return grep { !$seen{$_}++ } map { pick(@list) } 1 .. $n }

# ---- tables ----

# t has an index on k; bins b have a lower and an upper bound of each type that k may be compared
# with: la to lc, ha to hc; groups g and s, which may be NULL, and n.
my %value = gpb_values();
my $keytype;
my $domain;
my $integers;

sub number { return "floor(random() * $domain)::int4" }

sub inner_sql
{
	my ($rows) = @_;
	my $null = pick(0, 0.05, 0.3);
	my $order = gpb_index_order();
	my $include = pick('INCLUDE (v, w, f)', 'INCLUDE (w, v)', 'INCLUDE (v, w, d)');
	my $partial = chance(0.15) ? 'WHERE w IS NOT NULL' : '';
	my $value = $value{$keytype}->(number());
	my $after = $integers
	  ? "INSERT INTO t (k, v, w) SELECT x, 1, 2 FROM unnest(ARRAY[32767, -32768]) x;\n"
	  : "INSERT INTO t (k, v, w) VALUES ('infinity', 1, 1), ('-infinity', 2, 2);\n";

	return gpb_table_sql(
		name => 't',
		columns => "id serial, k $keytype, v int4, w int8, f float8, d timestamptz, s text",
		index => "CREATE INDEX t_k ON t USING gpubtree (k $order) $include $partial;\n",
		after => $after,
		hot => "s = 'hot'",
		load => <<"SQL");
INSERT INTO t (k, v, w, f, d) SELECT
	CASE WHEN random() >= $null THEN $value END,
	CASE WHEN random() > 0.1 THEN floor(random() * 100)::int4 END,
	CASE WHEN random() > 0.1 THEN (random() * 9e18)::int8 END,
	CASE floor(random() * 8)::int4 WHEN 0 THEN 'NaN' WHEN 1 THEN 'infinity' WHEN 2 THEN NULL ELSE random() - 0.5 END::float8,
	CASE WHEN random() > 0.1 THEN timestamptz '2024-11-01' + random() * interval '30 days' END
FROM generate_series(1, $rows) i;
SQL
}

sub create_tables
{
	$keytype = pick(sort keys %value);
	$domain = pick(20, 400, 400, 5000);
	$integers = $keytype =~ /^int/;
	my $rows = pick(0, 1, 40, 300, 900);
	my @types = gpb_family($keytype);
	my $key = pick('PRIMARY KEY', 'PRIMARY KEY', 'UNIQUE', 'NOT NULL');
	my $length = pick(3, 20, $domain);
	my @columns;
	my @values;

	foreach my $i (0 .. 2)
	{
		my $letter = (qw(a b c))[$i];
		push @columns, "l$letter $types[$i], h$letter $types[$i]";
		push @values, map { 'CASE WHEN random() > 0.07 THEN ' . $value{ $types[$i] }->($_) . ' END' }
		  ('x.lo', 'x.lo + floor(random() * 1.2 * ' . $length . ')::int4 - ' . int($length / 10));
	}
	my $seed = rand();
	my $inner_rows = $domain == 20 ? pick(0, 200, 600) : pick(0, 500, 2500);

	# Most of the time would go to a few nested loops over two large tables.
	$rows = 300 if $rows > 300 && $inner_rows > 600;
	my $sql = "SELECT setseed($seed);\n" . inner_sql($inner_rows)
	  . "DROP TABLE IF EXISTS b, x;\n"
	  . "CREATE TABLE b (id int $key, " . join(', ', @columns) . ", g int4, n int4, s text);\n"
	  . "INSERT INTO b SELECT i, " . join(', ', @values)
	  . ", CASE WHEN random() > 0.1 THEN floor(random() * 8)::int4 END, floor(random() * 100)::int4, "
	  . "CASE WHEN random() > 0.1 THEN repeat('outer ', floor(random() * 4)::int4) END "
	  . "FROM (SELECT i, " . number() . " AS lo FROM generate_series(1, $rows) i OFFSET 0) x;\n";
	$sql .= $integers
	  ? "INSERT INTO b (id, lc, hc, g) VALUES (900001, -9223372036854775808, 9223372036854775807, 1), (900002, 40000, 50000, 2), (900003, 7, -9223372036854775808, 3);\n"
	  : "INSERT INTO b (id, la, ha, lb, hb, lc, hc, g) VALUES (900001, '-infinity', 'infinity', '-infinity', 'infinity', '-infinity', 'infinity', 1), (900002, 'infinity', 'infinity', 'infinity', 'infinity', 'infinity', 'infinity', 2), (900003, 'infinity', '-infinity', 'infinity', '-infinity', 'infinity', '-infinity', 3);\n";
	$sql .= "INSERT INTO b SELECT * FROM b WHERE g < 4;\n" if $key eq 'NOT NULL';
	$sql .= "INSERT INTO b SELECT NULL, la, ha, lb, hb, lc, hc, g, n, s FROM b WHERE g = 4;\n" if $key eq 'UNIQUE';
	$sql .= "CREATE INDEX b_g ON b (g, s);\n" if chance(0.5);
	$sql .= "CREATE TABLE x AS SELECT i AS id, i % 3 AS kind FROM generate_series(1, 600) i;\n";
	$sql .= "ANALYZE b;\n" if chance(0.8);
	$sql .= "ANALYZE x;\n" if chance(0.8);
	$random->sql($sql);
	return $key;
}

# ---- queries ----

# A bound of an outer row, or an expression computed from it
sub bound
{
	my ($side) = @_;
	my $i = int(rand(3));
	my $column = "b.$side" . (qw(a b c))[$i];

	return $column if chance(0.75);
	return "coalesce($column, " . $value{$keytype}->(between(0, $domain)) . ')' if chance(0.5);
	return pick("least($column, 60)", "$column / 2", "greatest($column, b.g)") if $integers;
	return $i == 0 ? "$column + 2" : "$column + interval '36 hours'";
}

sub compare
{
	my ($operator, $value) = @_;
	my %commuted = ('<' => '>', '<=' => '>=', '>' => '<', '>=' => '<=', '=' => '=');

	return chance(0.7) ? "t.k $operator $value" : "$value $commuted{$operator} t.k";
}

# A join's clauses: a range, one side of a range, an equality, or several of these
sub on
{
	my $clause = pick(
		sub { compare(pick('>', '>='), bound('l')) . ' AND ' . compare(pick('<', '<='), bound('h')) },
		sub { compare(pick('>', '>='), bound('l')) . ' AND ' . compare(pick('<', '<='), bound('h')) },
		sub { 't.k BETWEEN ' . bound('l') . ' AND ' . bound('h') },
		sub { compare(pick('>', '>=', '<', '<='), bound(pick('l', 'h'))) },
		sub { compare('=', bound('l')) },
		sub { compare('=', bound('l')) },
		sub { compare('=', bound('l')) . ' AND ' . compare('<=', bound('h')) },
		sub { join(' AND ', map { compare(pick('<', '<=', '>', '>='), bound(pick('l', 'h'))) } 1 .. 3) })->();
	$clause .= ' AND ' . compare(pick('<', '>', '<=', '>=', '='), $value{$keytype}->(between(0, $domain)))
	  if chance(0.2);
	$clause .= ' AND t.k IS NOT NULL' if chance(0.05);
	$clause .= ' AND t.w IS NOT NULL' if chance(0.1);
	return $clause;
}

sub aggregates
{
	return some(between(1, 4), 'count(*)', 'count(*)', 'count(1)', 'count(t.v)', 'count(t.k)', 'sum(t.v)', 'sum(t.v)',
		'sum(t.w)', 'avg(t.v)', 'avg(t.w)', 'min(t.k)', 'max(t.k)', 'min(t.v)', 'max(t.w)', 'max(t.f)', 'min(t.f)',
		'min(t.d)', 'sum(t.v) + count(*)', 'coalesce(max(t.v), b_group.n)');
}

sub having
{
	return chance(0.75) ? '' : ' HAVING ' . pick('count(*) > 3', 'sum(t.v) IS NULL', 'count(t.k) = 0', 'max(t.v) > 50 AND count(*) < 100',
		'count(*) > (SELECT avg(kind) FROM x)', 'count(*) > 1 OR b_group.n IS NULL');
}

# Return a grouped join and the numbers of its columns.  An aggregate may use "b_group.n", which
# stands for something that the query groups by.
sub grouped
{
	my ($extra) = @_;
	my ($group, $columns, $number) = @{ pick(
		[ 'b.id', 'b.id', 'b.id' ], [ 'b.id', 'b.id', 'b.id' ],
		[ 'b.id, b.s', 'b.s, b.id', 'b.id' ],
		[ 'b.g', 'b.g', 'b.g' ],
		[ 'b.g, b.s', 'b.g, b.s', 'b.g' ],
		[ 'b.s, b.g, b.id', 'b.id, b.g, b.s', 'b.id' ],
		[ 'b.g % 3', 'b.g % 3', 'b.g % 3' ],
		[ 'b.n / 30, b.s', 'b.s, b.n / 30 + 1', 'b.n / 30' ],
		[ 'b.la, b.ha', 'b.ha, b.la', '7' ],
		[ 'b.g', '1', 'b.g' ]) };
	my $join = pick('JOIN', 'LEFT JOIN');
	my $from = pick('b', 'b', 'b', 'b JOIN x ON x.id = b.id', 'b LEFT JOIN x ON x.id = b.id AND x.kind = 1',
		'(SELECT * FROM b WHERE n < 60 OFFSET 0) b', 'x CROSS JOIN LATERAL (SELECT * FROM b WHERE b.id = x.id OFFSET 0) b');
	my $where = pick('', '', 'b.n < 50', 'b.g IS NOT NULL', 'b.id IN (SELECT id FROM x WHERE kind = 2)', 'b.s IS NULL', 'b.g = 3');
	my @aggregates = aggregates();
	my $aggregates = join(', ', @aggregates);
	my $outputs = scalar(@aggregates) + 1 + ($columns =~ tr/,//);
	my $having = having();

	$where = join(' AND ', grep { $_ ne '' } $where, $extra // '');
	s/b_group\.n/$number/g foreach ($aggregates, $having);
	return ("SELECT $columns, $aggregates FROM $from $join t ON " . on() . ($where ne '' ? " WHERE $where" : '')
		  . " GROUP BY $group$having", join(', ', 1 .. $outputs));
}

# Return a query's kind and its SQL.  "ordered" queries are compared in their order, the SQL of a
# "cursor" is that of its query, and "prepared" queries have a parameter $1.
sub random_query
{
	my ($query, $columns) = grouped();
	my $limit = pick(1, 3, 40, 500);

	return pick(
		sub { ('rows', $query) },
		sub { ('rows', $query) },
		sub { ('rows', $query) },
		sub { ('rows', $query) },
		sub { ('ordered', "$query ORDER BY $columns LIMIT $limit") },
		sub { ('ordered', "$query ORDER BY " . $columns =~ s/(\d+)/$1 DESC/gr) },
		sub { ('ordered', "SELECT count(*) FROM ($query LIMIT $limit) x") },
		sub { ('rows', "SELECT *, count(*) OVER () FROM ($query) y") },
		# These rescan the outer side alone, or with a parameter in the conditions.
		sub { ('rows', 'SELECT o, y.* FROM generate_series(0, 4) o CROSS JOIN LATERAL (' . (grouped('b.g = o'))[0] . ') y') },
		sub {
			my $value = $integers ? 'o' : $value{$keytype}->('o * 20');
			('rows', 'SELECT o, y.* FROM generate_series(0, 4) o CROSS JOIN LATERAL (SELECT b.g, count(*), sum(t.v) FROM b JOIN t ON '
				  . on() . " AND t.k >= $value GROUP BY b.g) y") },
		sub { ('rows', 'SELECT o, (SELECT sum(c) FROM (SELECT count(*) c FROM b ' . pick('', 'LEFT') . ' JOIN t ON ' . on()
				  . ' WHERE b.n < o GROUP BY b.id) y) FROM generate_series(0, 40, 10) o') },
		sub { ('prepared', (grouped('b.n < $1'))[0]) },
		sub { ('cursor', "$query ORDER BY $columns") })->();
}

# ---- running a query ----

# Settings.  In mode "ours" core's joins are priced out, so that ours is taken where it can be; in
# mode "stock" ours is switched off.
sub mode_sql
{
	my ($mode) = @_;
	my $ours = $mode eq 'ours';
	my $memory = $ours ? pick(qw(64kB 64kB 256kB 4MB)) : '4MB';
	my $sql = "SET LOCAL work_mem = '$memory';\nSET LOCAL plan_cache_mode = "
	  . pick('force_generic_plan', 'force_custom_plan') . ";\n";
	foreach my $setting (qw(rangeaggregate batchjoin aggregate))
	{
		$sql .= "SET LOCAL gpubtree.enable_$setting = " . ($ours && $setting ne 'batchjoin' ? 'on' : 'off') . ";\n";
	}
	foreach my $join (qw(enable_hashjoin enable_mergejoin enable_nestloop enable_hashagg enable_seqscan))
	{
		$sql .= "SET LOCAL $join = " . ($ours && $join ne 'enable_seqscan' || !$ours && chance(0.1) ? 'off' : 'on') . ";\n";
	}
	$sql .= 'SET LOCAL enable_sort = ' . ($ours && chance(0.3) ? 'off' : 'on') . ";\n";
	$sql .= 'SET LOCAL gpubtree.enable_device = ' . (chance(0.5) ? 'on' : 'off') . ";\n";
	$sql .= "SET LOCAL gpubtree.batch_setup_cost = " . pick(0, 0, 100) . ";\n";
	return $sql;
}

sub answer_sql
{
	my ($kind, $query, @moves) = @_;

	return gpb_prepared_sql('int', gpb_digest_sql($query), 70, 20) if $kind eq 'prepared';
	return gpb_answer_sql($kind, $query, @moves);
}

sub compare_query
{
	my ($kind, $query) = random_query();
	my $isolation = gpb_isolation();
	my $answer = answer_sql($kind, $query, gpb_moves());
	my $settings = mode_sql('ours');
	my $plan = $random->compare(
		query => $query,
		isolation => $isolation,
		stock => mode_sql('stock') . $answer,
		settings => $settings,
		answer => $answer,
		explain => 'EXPLAIN (COSTS OFF) ' . $query =~ s/\$1/50/gr . ";\n");

	if ($plan =~ /GpubtreeRangeAggregate/)
	{
		$random->saw($kind);
		$random->saw($plan =~ /Group Key: .*\n +Index: / ? 'grouped' : 'unique');
	}
	$random->saw("groups $1") while $plan =~ /Groups: (\w+)/g;
	$random->saw('equality') if $plan =~ /Index Cond: \(k = [^)]*\)/;
	$random->saw('having') if $plan =~ /GpubtreeRangeAggregate\)\n +Filter/;
	$random->saw('no sort') if $plan =~ /GpubtreeRangeAggregate(?!.*Sort)/s && $plan =~ /Group Key: .*\n +Index: /;
	return;
}

foreach my $device ($random->devices)
{
	$random->use_device($device);
	foreach my $round (1 .. $random->rounds)
	{
		my $key = create_tables();

		last unless $random->round("$device, round $round: $keytype keys, id $key: answers agree", 60, \&compare_query);
	}
}
$random->finish(5, 'rows', 'ordered', 'prepared', 'cursor', 'groups All', 'groups Not', 'grouped', 'unique', 'equality',
	'having', 'no sort');
