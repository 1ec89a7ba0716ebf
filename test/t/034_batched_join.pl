# A batched join gives what core's joins give in the same snapshot, row by row: every kind of join,
# keys of every type and across types, NULLs and duplicates on both sides, extra clauses and
# filters, several such joins, LIMIT, order, rescans, cursors, parallel plans, little and much
# memory; and so do joins under aggregates.
#
# Guards: join_exec.c's batches, windows and unmatched rows; join_plan.c's parting of the clauses.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 24)
# GPB_DEVICE	gpubtree.device (default host)
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 24, settings => <<'CONF');
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
CONF
$random->use_device($_) foreach $random->devices;

# ---- tables ----

# The inner tables t and u, with an index on k, and the outer p with a key column of each type that
# t's may be compared with: a, b, c or d, e, f.  The small number g is there to correlate by.
my %value = gpb_values(floats => 1);
my $keytype;
my @columns;					# p's key columns
my $domain;

sub number { return "floor(random() * $domain)::int4" }

sub inner_sql
{
	my ($table, $rows) = @_;
	my $null = pick(0, 0.05, 0.3);
	my $order = gpb_index_order();
	my $include = pick('', 'INCLUDE (v)', 'INCLUDE (v)', 'INCLUDE (w, v)');
	my $partial = chance(0.15) ? 'WHERE w IS NOT NULL' : '';
	my $value = $value{$keytype}->(number());

	return gpb_table_sql(
		name => $table,
		columns => "id serial, k $keytype, v int4, w int8, s text",
		index => "CREATE INDEX ${table}_k ON $table USING gpubtree (k $order) $include $partial;\n",
		hot => "s = 'hot'",
		load => <<"SQL");
INSERT INTO $table (k, v, w, s) SELECT
	CASE WHEN random() >= $null THEN $value END,
	CASE WHEN random() > 0.1 THEN floor(random() * 100)::int4 END,
	CASE WHEN random() > 0.1 THEN floor(random() * 1000)::int8 END,
	CASE WHEN random() > 0.1 THEN repeat('row ', floor(random() * 20)::int4) || i END
FROM generate_series(1, $rows) i;
SQL
}

sub create_tables
{
	$keytype = pick(sort keys %value);
	$domain = pick(20, 400, 400, 5000);
	my @types = gpb_family($keytype);
	my $integers = $types[0] eq 'int2';
	my $rows = pick(0, 1, 40, 1000, 3000);
	my $inner = $domain == 20 ? pick(0, 200, 600) : pick(0, 500, 4000);
	my $sql = "SELECT setseed(" . rand() . ");\n" . inner_sql('t', $inner)
	  . inner_sql('u', pick(100, 2000));
	my @values = map { "CASE WHEN random() > 0.1 THEN " . $value{$_}->(number()) . ' END' } @types;

	@columns = $integers ? qw(a b c) : qw(d e f);
	$sql .= "DROP TABLE IF EXISTS p;\nCREATE TABLE p (id serial, "
	  . join(', ', map { "$columns[$_] $types[$_]" } 0 .. 2)
	  . ", g int4, n int4, s text);\n"
	  . "INSERT INTO p (" . join(', ', @columns) . ", g, n, s) SELECT " . join(', ', @values)
	  . ", floor(random() * 8)::int4, floor(random() * 100)::int4, "
	  . "CASE WHEN random() > 0.1 THEN repeat('outer ', floor(random() * 30)::int4) END "
	  . "FROM generate_series(1, $rows);\nCREATE INDEX p_id ON p (id);\n"
	  . ($integers ? "INSERT INTO p (c, g, n) VALUES (9223372036854775807, 1, 1), (-9223372036854775808, 2, 2), (100000, 3, 3);\n"
		: "INSERT INTO p (d, e, f, g, n) VALUES ('infinity', 'infinity', 'infinity', 1, 1), ('-infinity', '-infinity', '-infinity', 2, 2);\n");
	$sql .= "ANALYZE p;\n" if chance(0.8);
	$random->sql($sql);
	return;
}

# ---- queries ----

sub key
{
	my $column = 'p.' . pick(@columns);
	return $column if chance(0.8);
	return "coalesce($column, " . $value{$keytype}->(between(0, $domain)) . ')';
}

sub equality
{
	my ($table, $key) = @_;
	return chance(0.5) ? "$table.k = $key" : "$key = $table.k";
}

# A join's clauses: the equality, now and then others beside it, and conditions on the inner table.
sub on
{
	my ($table, $key) = @_;
	my $clause = equality($table, $key // key());
	$clause .= ' AND ' . pick("$table.v < p.n", "$table.v + p.n > 80", "$table.s > p.s",
		"$table.w IS DISTINCT FROM p.g") if chance(0.3);
	$clause .= ' AND ' . inner_filter($table) if chance(0.3);
	return $clause;
}

sub inner_filter
{
	my ($table) = @_;
	return pick("$table.v > 20", "$table.v IS NULL", "$table.s LIKE '%1%'", "$table.w IS NOT NULL",
		"$table.v > (SELECT min(n) FROM p)");
}

sub outer_filter { return pick('p.n < 50', 'p.g = ' . between(0, 8), 'true', 'true', 'p.id % 3 <> 0') }

sub columns
{
	my ($table) = @_;
	return pick("$table.k", "$table.v", "$table.k, $table.v", "$table.s", "$table.id, $table.s, $table.k",
		"$table.v + p.n", '1');
}

# Return a query's kind and its SQL.  "ordered" queries are compared in their order, the SQL of a
# "cursor" is that of its query.
sub random_query
{
	my $key = key();
	my $filter = outer_filter();
	my $order = chance(0.5) ? 'id' : 'id DESC';
	my $limit = pick(0, 1, 3, 40, 500);

	return pick(
		sub { ('rows', 'SELECT p.id, ' . columns('t') . ' FROM p JOIN t ON ' . on('t') . " WHERE $filter") },
		sub { ('rows', 'SELECT p.*, t.* FROM p JOIN t ON ' . on('t') . " WHERE $filter") },
		sub { ('rows', 'SELECT p.id, ' . columns('t') . ' FROM p LEFT JOIN t ON ' . on('t') . " WHERE $filter") },
		sub { ('rows', 'SELECT p.id, p.s, t.v FROM p LEFT JOIN t ON ' . on('t')
				  . ' WHERE ' . pick('t.v IS NULL', 't.k IS NULL', 't.v IS NULL OR t.v < p.n', 'coalesce(t.v, 1) < p.n')) },
		sub { ('rows', "SELECT p.id, p.s FROM p WHERE $filter AND EXISTS (SELECT 1 FROM t WHERE " . on('t') . ')') },
		sub { ('rows', "SELECT p.id, p.s FROM p WHERE $filter AND NOT EXISTS (SELECT 1 FROM t WHERE " . on('t') . ')') },
		sub { ('rows', "SELECT p.id FROM p WHERE $key IN (SELECT t.k FROM t WHERE " . inner_filter('t') . ')') },
		sub { ('rows', "SELECT t.* FROM t WHERE t.k IN (SELECT $key FROM p WHERE $filter)") },
		sub { ('rows', 'SELECT p.id, t.id, u.id, u.v FROM p JOIN t ON ' . on('t', $key) . ' JOIN u ON ' . on('u') . " WHERE $filter AND p.g < 3") },
		sub { ('rows', 'SELECT p.id, t.v, u.v FROM p LEFT JOIN t ON ' . on('t') . ' LEFT JOIN u ON u.k = t.k WHERE p.g = 1') },
		sub { ('rows', 'SELECT p.id, t.id FROM p JOIN t ON ' . on('t') . " WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = $key AND u.v > t.v)") },
		sub { ('rows', "SELECT g, count(*), sum(t.v), max(t.s) FROM p JOIN t ON " . on('t') . ' GROUP BY g') },
		sub { ('ordered', 'SELECT p.id FROM p ' . pick('', 'LEFT') . ' JOIN t ON ' . on('t') . " ORDER BY p.$order LIMIT $limit") },
		sub { ('ordered', "SELECT p.id FROM p WHERE EXISTS (SELECT 1 FROM t WHERE " . on('t') . ") ORDER BY p.$order LIMIT $limit") },
		sub { ('ordered', "SELECT p.id FROM p WHERE NOT EXISTS (SELECT 1 FROM t WHERE " . on('t') . ") ORDER BY p.$order LIMIT $limit") },
		sub { ('ordered', 'SELECT count(*) FROM (SELECT 1 FROM p JOIN t ON ' . on('t') . " LIMIT $limit) x") },
		sub { ('ordered', 'SELECT p.id FROM p ' . pick('', 'LEFT') . ' JOIN t ON ' . equality('t', $key) . " ORDER BY p.$order") },
		# These return one row of aggregates: joined rows are not made at all.
		sub { ('aggregate', 'SELECT count(*), ' . pick('sum(t.v), avg(t.v), min(t.v), count(t.v)', 'max(t.k), min(t.k), count(t.k)', 'count(1)',
			'sum(t.w), max(t.w)', 'sum(t.v), sum(t.w)') . ' FROM p JOIN t ON ' . equality('t', $key) . " WHERE $filter") },
		sub { ('aggregate', 'SELECT count(*), sum(t.v) FROM p JOIN p x USING (id) JOIN t ON ' . equality('t', $key)
			. ' WHERE ' . pick('x.g < 4', 't.w IS NOT NULL', 'EXISTS (SELECT 1 FROM u WHERE u.id = p.id)', 'EXISTS (SELECT 1 FROM u WHERE u.k = t.k)')) },
		sub { ('aggregate', 'SELECT o, (SELECT sum(t.v) FROM p JOIN t ON ' . equality('t', $key) . ' WHERE p.g = o) FROM generate_series(0, 5) o') },
		# These rescan the join with a parameter, without one, and beside a lateral reference.
		sub { ('rows', 'SELECT o, (SELECT count(*) FROM p JOIN t ON ' . on('t') . ' WHERE p.g = o), '
				  . '(SELECT sum(p.n) FROM p LEFT JOIN t ON ' . on('t') . ' AND t.v > o WHERE p.g < 2) FROM generate_series(0, 5) o') },
		sub { ('rows', 'SELECT o, x.* FROM generate_series(0, 5) o LEFT JOIN LATERAL (SELECT p.id, t.v FROM p JOIN t ON '
				  . on('t') . ' WHERE p.g = o AND p.id < 500) x ON true') },
		sub { ('rows', 'SELECT o, x.id, t.v FROM generate_series(0, 5) o CROSS JOIN LATERAL (SELECT * FROM p WHERE p.g = o OFFSET 0) p JOIN t ON '
				  . on('t') . ' JOIN p x ON x.id = p.id AND x.n > o') },
		sub { ('cursor', 'SELECT p.id FROM p LEFT JOIN t ON ' . on('t') . ' ORDER BY p.id') })->();
}

# ---- running a query ----

# Settings.  In mode "ours" core's joins are priced out, so that ours is taken where it can be; in
# mode "stock" ours is switched off.
sub mode_sql
{
	my ($mode) = @_;
	my $ours = $mode eq 'ours';
	my $memory = $ours ? pick(qw(64kB 64kB 256kB 4MB)) : '4MB';
	my $sql = "SET LOCAL work_mem = '$memory';\nSET LOCAL gpubtree.enable_batchjoin = "
	  . ($ours ? 'on' : 'off') . ";\n";
	foreach my $join (qw(enable_hashjoin enable_mergejoin enable_nestloop))
	{
		$sql .= "SET LOCAL $join = " . ($ours ? 'off' : 'on') . ";\n";
	}
	$sql .= 'SET LOCAL enable_sort = ' . ($ours && chance(0.5) ? 'off' : 'on') . ";\n";
	$sql .= 'SET LOCAL gpubtree.enable_device = ' . (chance(0.5) ? 'on' : 'off') . ";\n";
	$sql .= "SET LOCAL gpubtree.batch_setup_cost = " . pick(0, 0, 100) . ";\n";
	$sql .= 'SET LOCAL max_parallel_workers_per_gather = ' . ($ours && chance(0.3) ? 2 : 0) . ";\n";
	return $sql;
}

sub compare_query
{
	my ($kind, $query) = random_query();
	my $isolation = gpb_isolation();
	my $answer = gpb_answer_sql($kind, $query, gpb_moves());
	my $settings = mode_sql('ours');
	my $plan = $random->compare(
		query => $query,
		isolation => $isolation,
		stock => mode_sql('stock') . $answer,
		settings => $settings,
		answer => $answer,
		explain => "EXPLAIN (COSTS OFF) $query;\n");

	$random->saw("$kind, ours") if $plan =~ /GpubtreeJoin/;
	$random->saw('join aggregate') if $plan =~ /GpubtreeJoinAggregate/;
	$random->saw("$1 join") while $plan =~ /Join Type: (\w+)/g;
	$random->saw("columns of the $1") while $plan =~ /Inner Columns: (\w+)/g;
	$random->saw("order $1") while $plan =~ /Output Order: (\w+)/g;
	$random->saw('parallel') if $plan =~ /Gather.*GpubtreeJoin/s;
	$random->saw('several') if $plan =~ /GpubtreeJoin.*GpubtreeJoin/s;
	return;
}

foreach my $round (1 .. $random->rounds)
{
	create_tables();
	last unless $random->round("round $round: joins with $keytype keys agree", 60, \&compare_query);
}
$random->finish(5, 'Inner join', 'Left join', 'Semi join', 'Anti join', 'columns of the Index',
	'columns of the Table', 'order Outer', 'order Any', 'parallel', 'several', 'cursor, ours',
	'ordered, ours', 'join aggregate');
