# A batched join gives what core's joins give in the same snapshot, row by row: every kind of join,
# over one key column and over several, and over keys of 16 bytes, of every type and across types;
# all columns or a prefix equal values of the outer row, of the table's own conditions, or of both, and
# the next has a range of either; NULLs and duplicates on both sides, extra clauses and filters,
# several such joins, IN over several columns, LIMIT, order, rescans, cursors, parallel plans, little
# and much memory; so do joins under aggregates; and all of it beside writers.
#
# Guards: join_exec.c's batches, windows and unmatched rows; join_plan.c's parting of the clauses;
# join_match.c's conditions, outer_batch.c, range_conditions.c, the narrow and the wide sort.
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 36, settings => <<'CONF');
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
CONF
$random->use_device($_) foreach $random->devices;

# ---- tables ----

my %type = gpb_column_types();
my @one = qw(int2 int4 int8 date timestamp timestamptz float4 float8);
my @several = ([qw(int4 int4)], [qw(int4 timestamptz)], [qw(int2 int4 date)], ['uuid'], [ 'int4', 'numeric(8, 2)' ],
	[ 'numeric(8, 2)', 'timestamptz' ]);
my @columns;		# of t's index: hashes with name, type, domain
my $is_simple;		# is there one, of 8 bytes or less?

# A table with an index over these columns
sub inner_sql
{
	my ($table, $rows, @keys) = @_;
	my $names = join(', ', map { $_->{name} } @keys);

	return gpb_table_sql(
		name => $table,
		columns => 'id serial, v int4, w int8, s text, '
		  . join(', ', map { "$_->{name} $_->{type}" . ($_->{required} ? ' NOT NULL' : '') } @keys),
		index => "CREATE INDEX ${table}_k ON $table USING gpubtree (" . join(', ', map { "$_->{name} " . gpb_index_order() } @keys) . ') '
		  . pick('', 'INCLUDE (v)', 'INCLUDE (v)', 'INCLUDE (w, v)') . (chance(0.15) ? ' WHERE w IS NOT NULL' : '') . ";\n",
		hot => "s = 'hot'",
		load => "INSERT INTO $table (v, w, s, $names) SELECT CASE WHEN random() > 0.1 THEN floor(random() * 100)::int4 END, "
		  . "CASE WHEN random() > 0.1 THEN floor(random() * 1000)::int8 END, "
		  . "CASE WHEN random() > 0.1 THEN repeat('row ', floor(random() * 20)::int4) || i END, "
		  . join(', ', map { gpb_column_value($_, $type{ $_->{type} }) } @keys) . " FROM generate_series(1, $rows) i;\n");
}

# The inner tables are t, and u with the first of t's columns; p has for each column three of types
# that are compared with it, kNa, kNb and kNc.  The small number g is there to correlate by.
sub create_tables
{
	my (@types) = @_;
	my $dense = @types > 1 && chance(0.5);
	my $domain = @types > 1 ? pick(20, 60) : pick(20, 400, 400, 5000);
	my (@names, @outer);

	$is_simple = @types == 1 && $types[0] ne 'uuid';
	@columns = map { {
		name => "k$_",
		type => $types[$_],
		domain => $_ == 0 ? $domain : pick(4, 20),
		extreme => 0.02,
		required => $dense || (!$is_simple && chance(0.3)) } } 0 .. $#types;
	$_->{null} = $_->{required} ? 0 : pick(0, 0.05, $is_simple ? 0.3 : 0.1) foreach @columns;
	foreach my $column (@columns)
	{
		foreach my $letter (qw(a b c))
		{
			push @names, $column->{name} . $letter;
			push @outer, { type => pick(@{ $type{ $column->{type} }{other} }), of => $type{ $column->{type} },
				domain => $column->{domain}, null => 0.1, extreme => 0.005 };
		}
	}
	my $inner = !$is_simple ? pick(0, 500, 3000) : $domain == 20 ? pick(0, 200, 600) : pick(0, 500, 4000);
	my $rows = $is_simple ? pick(0, 1, 40, 1000, 3000) : pick(1, 40, 200);
	my $sql = 'SELECT setseed(' . rand() . ");\n" . inner_sql('t', $inner, @columns) . inner_sql('u', pick(100, 2000), $columns[0])
	  . "DROP TABLE IF EXISTS p;\nCREATE TABLE p (id serial, g int4, n int4, s text, "
	  . join(', ', map { "$names[$_] $outer[$_]{type}" } 0 .. $#names) . ");\nINSERT INTO p (g, n, s, "
	  . join(', ', @names) . ') SELECT floor(random() * 8)::int4, floor(random() * 100)::int4, '
	  . "CASE WHEN random() > 0.1 THEN repeat('outer ', floor(random() * 30)::int4) END, "
	  . join(', ', map { gpb_column_value($_, $type{ $_->{type} } // $_->{of}) } @outer) . " FROM generate_series(1, $rows);\nCREATE INDEX p_id ON p (id);\n";

	$sql .= "ANALYZE p;\n" if chance(0.8);
	$random->sql($sql);
	return;
}

# ---- queries ----

sub literal
{
	my ($column) = @_;
	my $type = $type{ $column->{type} };

	return $type->{sql}->(between(0, $column->{domain})) . '::' . pick(@{ $type->{other} });
}

sub outer_key
{
	my ($column) = @_;
	my $key = "p.$column->{name}" . pick(qw(a b c));

	return $key if chance(0.8);
	return "($key + interval '12 hours')" if $column->{type} =~ /date|time/ && chance(0.5);
	return "coalesce($key, " . literal($column) . ')';
}

sub comparison
{
	my ($name, $operator, $value) = @_;
	my %commuted = ('=' => '=', '<' => '>', '>' => '<', '<=' => '>=', '>=' => '<=');

	return chance(0.6) ? "$name $operator $value" : "$value $commuted{$operator} $name";
}

# Equalities for a prefix of the columns, of which the first few may be constants, and perhaps a range
# of the next
sub keys_on
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
	return @on;
}

# The clauses of a join: those of the keys, now and then others beside them, and conditions on the
# inner table
sub on
{
	my @on = keys_on();

	push @on, 't.' . $columns[-1]{name} . ' ' . pick('=', '<', '>=') . ' ' . literal($columns[-1]) if chance(0.15);
	push @on, 't.' . pick(@columns)->{name} . ' IS ' . pick('', 'NOT ') . 'NULL' if chance(0.1);
	push @on, pick('t.v < p.n', 't.v + p.n > 80', 't.s > p.s', 't.w IS DISTINCT FROM p.g') if chance(0.25);
	push @on, inner_filter() if chance(0.3);
	return join(' AND ', sort { rand() <=> 0.5 } @on);
}

sub inner_filter { return pick('t.v > 20', 't.v IS NULL', "t.s LIKE '%1%'", 't.w IS NOT NULL', 't.v > (SELECT min(n) FROM p)') }

sub shown
{
	return pick('t.v', 't.s', 't.id', '1', 't.v + p.n', join(', ', map { "t.$_->{name}" } @columns), "t.$columns[-1]{name}, t.v",
		"t.id, t.s, t.$columns[0]{name}", 't.*');
}

# Return a query's kind and its SQL.  "ordered" queries are compared in their order, the SQL of a
# "cursor" is that of its query.
sub random_query
{
	my $on = on();
	my $keys_on = pick(join(' AND ', keys_on()), $on);
	my $filter = pick('p.n < 50', 'p.g = ' . between(0, 8), 'true', 'true', 'p.id % 3 <> 0');
	my $order = chance(0.5) ? 'id' : 'id DESC';
	my $limit = pick(0, 1, 3, 40, 500);
	my $k = $columns[0]{name};
	my $key = outer_key($columns[0]);
	my $last = $columns[-1]{name};
	my $names = join(', ', map { "t.$_->{name}" } @columns);
	my $keys = join(', ', map { "p.$_->{name}" . pick(qw(a b c)) } @columns);
	my $values = join(', ', map { '(' . join(', ', map { chance(0.1) ? "NULL::$_->{type}"
				: $type{ $_->{type} }{sql}->(between(0, $_->{domain})) . "::$_->{type}" } @columns) . ')' } 1 .. pick(1, 5, 60));

	return pick(
		(sub { ('rows', 'SELECT p.id, ' . shown() . " FROM p JOIN t ON $on WHERE $filter") }) x 2,
		sub { ('rows', "SELECT p.*, t.* FROM p JOIN t ON $on WHERE $filter") },
		sub { ('rows', 'SELECT p.id, ' . shown() . " FROM p LEFT JOIN t ON $on WHERE $filter") },
		sub { ('rows', "SELECT p.id, p.s, t.v FROM p LEFT JOIN t ON $on WHERE "
				  . pick('t.v IS NULL', "t.$k IS NULL", 't.v IS NULL OR t.v < p.n', 'coalesce(t.v, 1) < p.n')) },
		sub { ('rows', "SELECT p.id, p.s FROM p WHERE $filter AND EXISTS (SELECT 1 FROM t WHERE $on)") },
		sub { ('rows', "SELECT p.id, p.s FROM p WHERE $filter AND NOT EXISTS (SELECT 1 FROM t WHERE $on)") },
		sub { ('rows', "SELECT p.id, p.n FROM p WHERE ($keys) IN (SELECT $names FROM t WHERE " . inner_filter() . ')') },
		sub { ('rows', "SELECT t.* FROM t WHERE ($names) IN (SELECT $keys FROM p WHERE $filter)") },
		sub { ('rows', "SELECT t.v FROM t WHERE ($names) IN (VALUES $values)") },
		sub { ('rows', "SELECT p.id, t.id, u.id, u.v FROM p JOIN t ON $on JOIN u ON u.$k = $key WHERE $filter AND p.g < 3") },
		sub { ('rows', "SELECT p.id, t.v, u.v FROM p LEFT JOIN t ON $on LEFT JOIN u ON u.$k = t.$k WHERE p.g = 1") },
		sub { ('rows', "SELECT p.id, t.id FROM p JOIN t ON $on WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.$k = $key AND u.v > t.v)") },
		sub { ('rows', "SELECT p.id, t.v, x.id FROM p JOIN t ON $on JOIN p x ON x.id = p.id AND x.n > 20") },
		sub { my $group = pick('g', 'id'); ('rows', "SELECT p.$group, count(*), sum(t.v), max(t.s) FROM p JOIN t ON $on GROUP BY p.$group") },
		sub { ('rows', "SELECT p.id, count(*), sum(t.v) FROM p JOIN t ON $keys_on GROUP BY p.id") },
		sub { ('ordered', 'SELECT p.id FROM p ' . pick('', 'LEFT') . " JOIN t ON $on ORDER BY p.$order LIMIT $limit") },
		sub { ('ordered', 'SELECT p.id FROM p WHERE ' . pick('', 'NOT') . " EXISTS (SELECT 1 FROM t WHERE $on) ORDER BY p.$order LIMIT $limit") },
		sub { ('ordered', "SELECT count(*) FROM (SELECT 1 FROM p JOIN t ON $on LIMIT $limit) x") },
		sub { ('ordered', 'SELECT p.id FROM p ' . pick('', 'LEFT') . " JOIN t ON $keys_on ORDER BY p.$order") },
		# These return one row of aggregates: joined rows are not made at all.
		sub { ('aggregate', 'SELECT count(*), ' . pick('sum(t.v), avg(t.v), min(t.v), count(t.v)',
			($columns[0]{type} ne 'uuid' ? "max(t.$last), min(t.$last), " : '') . "count(t.$last)", 'count(1)', 'sum(t.w), max(t.w)', 'sum(t.v), sum(t.w)') . " FROM p JOIN t ON $keys_on WHERE $filter") },
		sub { ('aggregate', "SELECT count(*), sum(t.v) FROM p JOIN p x USING (id) JOIN t ON $keys_on WHERE "
			. pick('x.g < 4', 't.w IS NOT NULL', 'EXISTS (SELECT 1 FROM u WHERE u.id = p.id)', "EXISTS (SELECT 1 FROM u WHERE u.$k = t.$k)")) },
		sub { ('aggregate', "SELECT o, (SELECT sum(t.v) FROM p JOIN t ON $keys_on WHERE p.g = o) FROM generate_series(0, 5) o") },
		# These rescan the join with a parameter, without one, and beside a lateral reference.
		sub { ('rows', "SELECT o, (SELECT count(*) FROM p JOIN t ON $on WHERE p.g = o), "
				  . "(SELECT sum(p.n) FROM p LEFT JOIN t ON $on AND t.v > o WHERE p.g < 2) FROM generate_series(0, 5) o") },
		sub { ('rows', "SELECT o, x.* FROM generate_series(0, 5) o LEFT JOIN LATERAL (SELECT p.id, t.v FROM p JOIN t ON $on"
				  . ' WHERE p.g = o AND p.id < 500) x ON true') },
		sub { ('rows', 'SELECT o, x.id, t.v FROM generate_series(0, 5) o CROSS JOIN LATERAL (SELECT * FROM p WHERE p.g = o OFFSET 0) p '
				  . "JOIN t ON $on JOIN p x ON x.id = p.id AND x.n > o") },
		sub { ('cursor', "SELECT p.id FROM p LEFT JOIN t ON $on ORDER BY p.id") })->();
}

# ---- running a query ----

# Settings.  In mode "ours" core's joins are priced out, so that ours is taken where it can be; in
# mode "stock" ours is switched off.
sub mode_sql
{
	my ($mode) = @_;
	my $ours = $mode eq 'ours';

	return "SET LOCAL work_mem = '" . ($ours ? pick(qw(64kB 64kB 256kB 4MB)) : '4MB') . "';\n"
	  . 'SET LOCAL gpubtree.enabled = ' . ($ours ? 'on' : 'off') . ";\n"
	  . ($ours && chance(0.5) ? "SET LOCAL gpubtree.enable_rangeaggregate = off;\n" : '')
	  . ($ours ? '' : "SET LOCAL enable_indexscan = off;\nSET LOCAL enable_indexonlyscan = off;\nSET LOCAL enable_bitmapscan = off;\n")
	  . join('', map { "SET LOCAL enable_$_ = " . ($ours ? 'off' : 'on') . ";\n" } qw(hashjoin mergejoin nestloop))
	  . 'SET LOCAL enable_sort = ' . ($ours && chance(0.5) ? 'off' : 'on') . ";\n"
	  . 'SET LOCAL gpubtree.enable_device = ' . pick('on', 'off') . ";\n"
	  . 'SET LOCAL gpubtree.batch_setup_cost = ' . pick(0, 0, 100) . ";\n"
	  . 'SET LOCAL max_parallel_workers_per_gather = ' . ($ours && chance(0.3) ? 2 : 0) . ";\n";
}

my $back = join('', map { "RESET enable_$_;\n" } qw(indexscan indexonlyscan bitmapscan));

# Return our plan of the query.
sub compare
{
	my ($query, $answer, $isolation) = @_;

	return $random->compare(
		query => $query,
		isolation => $isolation,
		stock => mode_sql('stock') . $answer . $back,
		settings => mode_sql('ours'),
		answer => $answer,
		explain => "EXPLAIN (COSTS OFF) $query;\n");
}

sub compare_query
{
	my ($kind, $query) = random_query();
	my $plan = compare($query, gpb_answer_sql($kind, $query, gpb_moves()), gpb_isolation());
	my @seen;

	if ($plan =~ /GpubtreeJoin\)/)
	{
		push @seen, "$kind, ours", '(' . join(', ', map { $_->{type} } @columns) . ')';
		push @seen, 'a row of VALUES' if $plan =~ /Values Scan/;
	}
	push @seen, 'join aggregate' if $plan =~ /GpubtreeJoinAggregate/;
	push @seen, 'range aggregate' if $plan =~ /GpubtreeRangeAggregate/;
	push @seen, "$1 join" while $plan =~ /Join Type: (\w+)/g;
	push @seen, "columns of the $1" while $plan =~ /Inner Columns: (\w+)/g;
	push @seen, "order $1" while $plan =~ /Output Order: (\w+)/g;
	push @seen, 'parallel' if $plan =~ /Gather.*GpubtreeJoin/s;
	push @seen, 'several' if $plan =~ /GpubtreeJoin.*GpubtreeJoin/s;
	push @seen, 'a range' if $plan =~ /Index Cond: .* (?:<|>|<=|>=) /;
	$random->saw($is_simple ? $_ : "$_, several columns") foreach @seen;
	return;
}

my @plans = ('Inner join', 'Left join', 'Semi join', 'Anti join', 'columns of the Index', 'columns of the Table', 'order Outer',
	'order Any', 'parallel', 'several', 'cursor, ours', 'ordered, ours', 'join aggregate');
@plans = (@plans, (map { "$_, several columns" } @plans, 'a range', 'a row of VALUES', 'range aggregate', map { '(' . join(', ', @$_) . ')' } @several),
	'keys of 8 bytes', 'keys of 16 bytes');

foreach my $round (1 .. $random->rounds)
{
	create_tables($round % 3 ? pick(@one) : @{ $several[ $round / 3 % @several ] });
	$random->saw('keys of ' . $random->sql("SELECT key_width FROM gpubtree_metap('t_k');") . ' bytes');
	last unless $random->round("round $round: joins with ("
		. join(', ', map { $_->{type} . ($_->{required} ? ' NOT NULL' : '') } @columns) . ') agree', $is_simple ? 60 : 40, \&compare_query);
}
$random->go_on_until_seen(2, 24, sub {
		create_tables(@{ pick(@several, [ pick(@one) ]) });
		compare_query() foreach (1 .. 40);
	}, @plans);

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
	my ($compared, $before) = (0, $random->mismatches);
	my $until = time() + 3;
	my @queries = (
		'SELECT count(*), sum(v), sum(busy.b * 7 + x) FROM (SELECT x, b, v FROM asked JOIN busy ON a = x AND b = y OFFSET 0) busy',
		'SELECT count(*), sum(v), sum(busy.b * 7 + x) FROM (SELECT x, b, v FROM asked JOIN busy ON a = x AND b >= y AND b < y + 9 OFFSET 0) busy',
		'SELECT count(*), sum(x) FROM asked WHERE NOT EXISTS (SELECT FROM busy WHERE a = x AND b = y)',
		'SELECT count(*), sum(v) FROM asked JOIN busy ON a = x AND b = y',
		'SELECT count(*), sum(b) FROM busy WHERE (a, b) IN (SELECT x, y FROM asked)');

	while ((time() < $until || $compared <= 3) && $random->mismatches == 0)
	{
		foreach my $query (@queries)
		{
			$random->saw('beside writers') if compare($query, "$query;\n", 'REPEATABLE READ') =~ /GpubtreeJoin/;
		}
		$compared++;
	}
	is($random->mismatches - $before, 0, "beside writers: $compared snapshots were compared");
	ok(gpb_end_pgbench($_), 'writers: no error') foreach ($writers, $vacuum);
	is($random->sql("SELECT gpubtree_check('busy_ab', true);"), '', 'the index is sound');
	local $ENV{PGOPTIONS} = '-c enable_hashjoin=off -c enable_mergejoin=off -c enable_nestloop=off -c gpubtree.batch_setup_cost=0';
	foreach my $query (@queries[ 0 .. 3 ])
	{
		like(gpb_engine($node, $query), qr/device/, "the device answers: $query");
	}
}

$random->finish(2, @plans, 'beside writers');
