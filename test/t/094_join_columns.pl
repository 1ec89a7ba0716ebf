# Batched joins over indexes with several key columns, and over keys of 16 bytes, give what core's
# joins give in the same snapshot: all columns or a prefix equal values of the outer row, of the
# table's own conditions, or of both, and the next has a range of either; every kind of join, values
# of other types, NULLs and duplicates on both sides, filters, order, LIMIT, rescans, cursors, IN over
# several columns, little and much memory; aggregates of such joins; and all of it beside writers.
#
# Guards: join_match.c's conditions, join_keys.c, range_conditions.c, the narrow and the wide sort.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 12)
# GPB_DEVICE	gpubtree.device (default host)
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 12, settings => <<'CONF');
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
CONF
$random->use_device($_) foreach $random->devices;

# ---- tables ----

# "sql" makes an expression of a type from one for a number from 0 on; "other" are the types that are
# compared with it.
my @integers = (other => [qw(int2 int4 int8)], sql => sub { "(($_[0]) - 5)" });
my @times = (other => [qw(date timestamp timestamptz)]);
my %type = (
	int2 => { @integers, extremes => ["(-32768)"] },
	int4 => { @integers, extremes => ["2147483647"] },
	date => { @times, sql => sub { "(date '2024-11-01' + ($_[0])::int4)" }, extremes => ["'infinity'"] },
	timestamptz => { @times, sql => sub { "(timestamptz '2024-11-01' + ($_[0]) * interval '12 hours')" },
		extremes => [ "'infinity'", "'-infinity'" ] },
	'numeric(8, 2)' => { other => [ 'numeric(8, 2)', 'numeric', 'numeric(30, 10)' ], sql => sub { "((($_[0]) - 5) / 8.0)" },
		extremes => [ "'NaN'", "999999.99" ] },
	uuid => { other => ['uuid'], sql => sub { "(md5((($_[0]) % 13)::text || (($_[0]) / 13))::uuid)" },
		extremes => ["'ffffffff-ffff-ffff-ffff-ffffffffffff'"] });
my @shapes = ([qw(int4 int4)], [qw(int4 timestamptz)], [qw(int2 int4 date)], ['uuid'], [ 'int4', 'numeric(8, 2)' ],
	[ 'numeric(8, 2)', 'timestamptz' ]);
my @columns;		# of the index: hashes with name, type, domain

# A random value for a row, or NULL; cast to the type
sub random_value
{
	my ($type, $domain, $null) = @_;
	my $value = $type{$type}{sql}->("floor(random() * $domain)::int4");
	my $extreme = pick(@{ $type{$type}{extremes} });

	return "(CASE WHEN random() < $null THEN NULL WHEN random() < 0.02 THEN $extreme\::$type ELSE $value\::$type END)";
}

# The inner table t has the index; p has for each key column three of types that are compared with
# it, kNa, kNb and kNc.  The small number g is there to correlate by.
sub create_tables
{
	my ($shape) = @_;
	my $dense = chance(0.5);

	@columns = map {
		{ name => "k$_", type => $shape->[$_], domain => $_ == 0 ? pick(20, 60) : pick(4, 20),
			required => $dense || chance(0.3) } } 0 .. $#$shape;
	$columns[0]{domain} = 500 if @columns == 1;
	my $rows = pick(0, 500, 3000);
	my $index = 'CREATE INDEX t_k ON t USING gpubtree ('
	  . join(', ', map { "$_->{name} " . gpb_index_order() } @columns) . ') '
	  . pick('', 'INCLUDE (v)', 'INCLUDE (v)', 'INCLUDE (w, v)') . pick('', '', ' WHERE w IS NOT NULL') . ";\n";
	my $sql = 'SELECT setseed(' . rand() . ");\n" . gpb_table_sql(
		name => 't',
		columns => 'id serial, v int4, w int8, s text, '
		  . join(', ', map { "$_->{name} $_->{type}" . ($_->{required} ? ' NOT NULL' : '') } @columns),
		index => $index,
		hot => "s = 'hot'",
		load => 'INSERT INTO t (v, w, s, ' . join(', ', map { $_->{name} } @columns) . ') SELECT '
		  . "CASE WHEN random() > 0.1 THEN floor(random() * 100)::int4 END, "
		  . "CASE WHEN random() > 0.1 THEN floor(random() * 1000)::int8 END, 'row ' || i, "
		  . join(', ', map { random_value($_->{type}, $_->{domain}, $_->{required} ? 0 : pick(0, 0.1)) } @columns)
		  . " FROM generate_series(1, $rows) i;\n");
	my (@names, @types, @values);

	foreach my $column (@columns)
	{
		foreach my $letter (qw(a b c))
		{
			push @names, $column->{name} . $letter;
			push @types, pick(@{ $type{ $column->{type} }{other} });
			push @values, $type{ $column->{type} }{sql}->("floor(random() * $column->{domain})::int4") . "::$types[-1]";
			$values[-1] = "(CASE WHEN random() > 0.1 THEN $values[-1] END)";
		}
	}
	$sql .= "DROP TABLE IF EXISTS p;\nCREATE TABLE p (id serial, g int4, n int4, "
	  . join(', ', map { "$names[$_] $types[$_]" } 0 .. $#names) . ");\nINSERT INTO p (g, n, "
	  . join(', ', @names) . ') SELECT floor(random() * 8)::int4, floor(random() * 100)::int4, '
	  . join(', ', @values) . ' FROM generate_series(1, ' . pick(1, 40, 200) . ");\nCREATE INDEX p_id ON p (id);\n";
	$sql .= "ANALYZE p;\n" if chance(0.8);
	$random->sql($sql);
	return;
}

# ---- queries ----

sub outer_key
{
	my ($column) = @_;
	my $key = "p.$column->{name}" . pick(qw(a b c));
	my $type = $type{ $column->{type} };

	return $key if chance(0.85);
	return "coalesce($key, " . $type->{sql}->(between(0, $column->{domain})) . '::' . pick(@{ $type->{other} }) . ')'
	  if $column->{type} !~ /date|time/;
	return "($key + interval '12 hours')";
}

sub literal
{
	my ($column) = @_;
	my $type = $type{ $column->{type} };

	return $type->{sql}->(between(0, $column->{domain})) . '::' . pick(@{ $type->{other} });
}

sub comparison
{
	my ($name, $operator, $value) = @_;
	my %commuted = ('=' => '=', '<' => '>', '>' => '<', '<=' => '>=', '>=' => '<=');

	return chance(0.7) ? "$name $operator $value" : "$value $commuted{$operator} $name";
}

# The clauses of a join: equalities for a prefix of the columns, of which the first few may be
# constants, perhaps a range of the next, and others.
sub on
{
	my $depth = between(1, scalar(@columns));
	my @on;

	foreach my $i (0 .. $depth - 1)
	{
		my $value = $i + 1 < $depth && chance(0.15) ? literal($columns[$i]) : outer_key($columns[$i]);
		push @on, comparison("t.$columns[$i]{name}", '=', $value);
	}
	if ($depth < @columns && chance(0.7))
	{
		my $name = "t.$columns[$depth]{name}";
		my $value = sub { chance(0.5) ? literal($columns[$depth]) : outer_key($columns[$depth]) };
		push @on, comparison($name, pick('>=', '>'), $value->()) if chance(0.7);
		push @on, comparison($name, pick('<=', '<'), $value->()) if chance(0.5);
	}
	push @on, 't.' . $columns[-1]{name} . ' ' . pick('=', '<', '>=') . ' ' . literal($columns[-1]) if chance(0.15);
	push @on, 't.' . pick(@columns)->{name} . ' IS ' . pick('', 'NOT ') . 'NULL' if chance(0.1);
	push @on, pick('t.v < p.n', 't.v + p.n > 80', 't.w IS DISTINCT FROM p.g') if chance(0.2);
	push @on, inner_filter() if chance(0.3);
	return join(' AND ', sort { rand() <=> 0.5 } @on);
}

sub inner_filter { return pick('t.v > 20', 't.v IS NULL', "t.s LIKE '%1%'", 't.w IS NOT NULL', 't.v > (SELECT min(n) FROM p)') }

sub shown
{
	return pick('t.v', 't.s', 't.id', '1', 't.v + p.n', join(', ', map { "t.$_->{name}" } @columns), "t.$columns[-1]{name}, t.v", 't.*');
}

sub random_query
{
	my $on = on();
	my $filter = pick('p.n < 50', 'p.g = ' . between(0, 8), 'true', 'true', 'p.id % 3 <> 0');
	my $order = chance(0.5) ? 'id' : 'id DESC';
	my $limit = pick(0, 1, 3, 40, 500);
	my $names = join(', ', map { "t.$_->{name}" } @columns);
	my $keys = join(', ', map { "p.$_->{name}" . pick(qw(a b c)) } @columns);
	my $values = join(', ', map { '(' . join(', ', map { chance(0.1) ? "NULL::$_->{type}"
				: $type{ $_->{type} }{sql}->(between(0, $_->{domain})) . "::$_->{type}" } @columns) . ')' } 1 .. pick(1, 5, 60));

	return pick(
		sub { ('rows', 'SELECT p.id, ' . shown() . " FROM p JOIN t ON $on WHERE $filter") },
		sub { ('rows', 'SELECT p.id, ' . shown() . " FROM p JOIN t ON $on WHERE $filter") },
		sub { ('rows', 'SELECT p.id, ' . shown() . " FROM p LEFT JOIN t ON $on WHERE $filter") },
		sub { ('rows', "SELECT p.id, t.v FROM p LEFT JOIN t ON $on WHERE "
				  . pick('t.v IS NULL', "t.$columns[0]{name} IS NULL", 't.v IS NULL OR t.v < p.n', 'coalesce(t.v, 1) < p.n')) },
		sub { ('rows', "SELECT p.id, p.n FROM p WHERE $filter AND EXISTS (SELECT 1 FROM t WHERE $on)") },
		sub { ('rows', "SELECT p.id, p.n FROM p WHERE $filter AND NOT EXISTS (SELECT 1 FROM t WHERE $on)") },
		sub { ('rows', "SELECT t.* FROM t WHERE ($names) IN (SELECT $keys FROM p WHERE $filter)") },
		sub { ('rows', "SELECT t.v FROM t WHERE ($names) IN (VALUES $values)") },
		sub { ('rows', "SELECT p.id, p.n FROM p WHERE ($keys) IN (SELECT $names FROM t WHERE " . inner_filter() . ')') },
		sub { ('rows', "SELECT p.id, t.v, x.id FROM p JOIN t ON $on JOIN p x ON x.id = p.id AND x.n > 20") },
		sub { ('rows', "SELECT p.g, count(*), sum(t.v), max(t.s) FROM p JOIN t ON $on GROUP BY p.g") },
		sub { ('rows', "SELECT p.id, count(*), sum(t.v) FROM p JOIN t ON $on GROUP BY p.id") },
		sub { ('ordered', 'SELECT p.id FROM p ' . pick('', 'LEFT') . " JOIN t ON $on ORDER BY p.$order LIMIT $limit") },
		sub { ('ordered', 'SELECT p.id FROM p ' . pick('', 'LEFT') . " JOIN t ON $on ORDER BY p.$order") },
		sub { ('ordered', "SELECT p.id FROM p WHERE NOT EXISTS (SELECT 1 FROM t WHERE $on) ORDER BY p.$order LIMIT $limit") },
		sub { ('aggregate', 'SELECT count(*), ' . pick('sum(t.v), avg(t.v), min(t.v), count(t.v)', 'count(1)', 'sum(t.w), max(t.w)',
				"count(t.$columns[-1]{name})") . " FROM p JOIN t ON $on WHERE $filter") },
		sub { ('rows', "SELECT o, (SELECT count(*) FROM p JOIN t ON $on WHERE p.g = o), "
				  . "(SELECT sum(p.n) FROM p LEFT JOIN t ON $on AND t.v > o WHERE p.g < 2) FROM generate_series(0, 5) o") },
		sub { ('rows', 'SELECT o, x.* FROM generate_series(0, 5) o LEFT JOIN LATERAL '
				  . "(SELECT p.id, t.v FROM p JOIN t ON $on WHERE p.g = o) x ON true") },
		sub { ('cursor', "SELECT p.id FROM p LEFT JOIN t ON $on ORDER BY p.id") })->();
}

# In mode "ours" core's joins are priced out, in mode "stock" ours are switched off.
sub mode_sql
{
	my ($mode) = @_;
	my $ours = $mode eq 'ours';
	my $sql = "SET LOCAL work_mem = '" . ($ours ? pick(qw(64kB 64kB 256kB 4MB)) : '4MB') . "';\n"
	  . 'SET LOCAL gpubtree.enabled = ' . ($ours ? 'on' : 'off') . ";\n"
	  . ($ours && chance(0.5) ? "SET LOCAL gpubtree.enable_rangeaggregate = off;\n" : '')
	  . ($ours ? '' : "SET LOCAL enable_indexscan = off;\nSET LOCAL enable_indexonlyscan = off;\nSET LOCAL enable_bitmapscan = off;\n")
	  . join('', map { "SET LOCAL enable_$_ = " . ($ours ? 'off' : 'on') . ";\n" } qw(hashjoin mergejoin nestloop))
	  . 'SET LOCAL enable_sort = ' . ($ours && chance(0.5) ? 'off' : 'on') . ";\n"
	  . 'SET LOCAL gpubtree.enable_device = ' . pick('on', 'off') . ";\n"
	  . 'SET LOCAL gpubtree.batch_setup_cost = ' . pick(0, 0, 100) . ";\n"
	  . 'SET LOCAL max_parallel_workers_per_gather = ' . ($ours && chance(0.3) ? 2 : 0) . ";\n";
	return $sql;
}

my $back = join('', map { "RESET enable_$_;\n" } qw(indexscan indexonlyscan bitmapscan));

sub compare_query
{
	my ($kind, $query) = random_query();
	my $answer = gpb_answer_sql($kind, $query, gpb_moves());
	my $plan = $random->compare(
		query => $query,
		isolation => gpb_isolation(),
		stock => mode_sql('stock') . $answer . $back,
		settings => mode_sql('ours'),
		answer => $answer,
		explain => "EXPLAIN (COSTS OFF) $query;\n");
	my $shape = join(', ', map { $_->{type} } @columns);

	if ($plan =~ /GpubtreeJoin\)/)
	{
		$random->saw("$kind, ours");
		$random->saw("($shape)");
		$random->saw('a row of VALUES') if $plan =~ /Values Scan/;
	}
	$random->saw('join aggregate') if $plan =~ /GpubtreeJoinAggregate/;
	$random->saw('range aggregate') if $plan =~ /GpubtreeRangeAggregate/;
	$random->saw("$1 join") while $plan =~ /Join Type: (\w+)/g;
	$random->saw("columns of the $1") while $plan =~ /Inner Columns: (\w+)/g;
	$random->saw("order $1") while $plan =~ /Output Order: (\w+)/g;
	$random->saw('parallel') if $plan =~ /Gather.*GpubtreeJoin/s;
	$random->saw('a range') if $plan =~ /Index Cond: .* (?:<|>|<=|>=) /;
	return;
}

foreach my $round (1 .. $random->rounds)
{
	create_tables($shapes[ $round % @shapes ]);
	my $shape = join(', ', map { "$_->{type}" . ($_->{required} ? ' NOT NULL' : '') } @columns);
	$random->saw('keys of ' . $random->sql("SELECT key_width FROM gpubtree_metap('t_k');") . ' bytes');
	last unless $random->round("round $round: joins with ($shape) agree", 40, \&compare_query);
}

# ---- beside writers ----

foreach my $shape ([ 'int4 NOT NULL', 'int4 NOT NULL' ], [ 'int4', 'int8' ])
{
	my $node = $random->node;

	$random->sql(<<"SQL");
DROP TABLE IF EXISTS busy, asked;
CREATE TABLE busy (a $shape->[0], b $shape->[1], v int4);
INSERT INTO busy SELECT i % 100, i / 100, i % 100 FROM generate_series(1, 20000) i;
CREATE INDEX busy_ab ON busy USING gpubtree (a, b) INCLUDE (v) WITH (fillfactor = 50);
CREATE TABLE asked AS SELECT i % 103 AS x, (i * 7919 % 230)::int8 AS y FROM generate_series(1, 600) i;
VACUUM ANALYZE busy;
ANALYZE asked;
SQL
	my $writers = gpb_start_pgbench($node, <<'SQL', '-c', '2');
\set a random(0, 99)
\set b random(0, 220)
INSERT INTO busy SELECT :a, i, i % 100 FROM generate_series(:b, :b + 20) i;
UPDATE busy SET v = v + 1, b = b + 1 WHERE a = :a AND b BETWEEN :b AND :b + 5;
DELETE FROM busy WHERE a = :a AND b BETWEEN :b + 3 AND :b + 20;
SQL
	my $vacuum = gpb_start_pgbench($node, "VACUUM busy;\n\\sleep 50 ms\n", '-c', '1');
	my $compared = 0;
	my $until = time() + 3;
	my @queries = (
		'SELECT count(*), sum(v), sum(busy.b * 7 + x) FROM (SELECT x, b, v FROM asked JOIN busy ON a = x AND b = y OFFSET 0) busy',
		'SELECT count(*), sum(v), sum(busy.b * 7 + x) FROM (SELECT x, b, v FROM asked JOIN busy ON a = x AND b >= y AND b < y + 9 OFFSET 0) busy',
		'SELECT count(*), sum(x) FROM asked WHERE NOT EXISTS (SELECT FROM busy WHERE a = x AND b = y)',
		'SELECT count(*), sum(v) FROM asked JOIN busy ON a = x AND b = y',
		'SELECT count(*), sum(b) FROM busy WHERE (a, b) IN (SELECT x, y FROM asked)');

	while ((time() < $until || $compared <= 3) && $random->mismatches == 0)
	{
		my $before = $random->mismatches;

		foreach my $query (@queries)
		{
			my $plan = $random->compare(
				query => $query,
				isolation => 'REPEATABLE READ',
				stock => mode_sql('stock') . "$query;\n" . $back,
				settings => mode_sql('ours'),
				answer => "$query;\n",
				explain => "EXPLAIN (COSTS OFF) $query;\n");

			$random->saw('beside writers') if $plan =~ /GpubtreeJoin/;
		}
		$compared++;
	}
	ok(gpb_end_pgbench($_), "writers: no error, while $compared snapshots were compared") foreach ($writers, $vacuum);
	is($random->sql("SELECT gpubtree_check('busy_ab', true);"), '', 'the index is sound');
	local $ENV{PGOPTIONS} = '-c enable_hashjoin=off -c enable_mergejoin=off -c enable_nestloop=off -c gpubtree.batch_setup_cost=0';
	foreach my $query (@queries[ 0 .. 3 ])
	{
		like(gpb_engine($node, $query), qr/device/, "the device answers: $query");
	}
}

$random->finish(2, (map { '(' . join(', ', @$_) . ')' } @shapes), 'Inner join', 'Left join', 'Semi join', 'Anti join',
	'columns of the Index', 'columns of the Table', 'order Outer', 'order Any', 'parallel', 'a range', 'a row of VALUES',
	'join aggregate', 'range aggregate', 'cursor, ours', 'beside writers');
