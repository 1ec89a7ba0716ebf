# Nodes over indexes with several key columns give what a sequential scan gives in the same
# snapshot: the first and last rows of groups, their extremes, and groups alone, found by walking
# from group to group, with conditions on the groups' columns and on the one behind them; and ranges
# of row comparisons and ORs over several columns, also in the order of the index.  Columns are of
# many types, each in any order and with NULLs or without; tables change by updates, aborted
# transactions and VACUUM, and by writers beside.
#
# Guards: arms.c, conditions.c, scan_groups.c, scan_walk.c, scan_ordered.c,
# scan_reader.c, gpb_fields_next() in column_ranges.c.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 14)
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 14);
$random->use_device('host');

# Makes an expression of the type from one for a number from 0 on
my %type = (
	int2 => sub { "(($_[0]) - 5)::int2" },
	int4 => sub { "(($_[0]) - 5)::int4" },
	int8 => sub { "(($_[0]) - 5)::int8" },
	bool => sub { "(($_[0]) % 2 = 1)" },
	date => sub { "(date '2024-11-01' + ($_[0])::int4)" },
	timestamptz => sub { "(timestamptz '2024-11-01' + ($_[0]) * interval '7 hours')" },
	timestamp => sub { "(timestamp '2024-11-01' + ($_[0]) * interval '7 hours')" },
	'numeric(9, 2)' => sub { "((($_[0]) - 5) / 8.0)::numeric(9, 2)" });

my @columns;		# of the index: hashes with name, type, order, domain

sub create_tables
{
	my @types = @{ pick([qw(int4 timestamptz)], [qw(int4 timestamptz)], [qw(int2 int4 date)], [qw(bool int4 timestamp)],
		[qw(date int2)], [qw(int4 int4 int4)], [qw(int8 int4)], [qw(int2 bool date int2)],
		[ 'int4', 'numeric(9, 2)' ], [ 'numeric(9, 2)', 'date' ], [ 'bool', 'numeric(9, 2)', 'timestamp' ]) };
	my $rows = pick(0, 30, 1000, 4000);

	@columns = map {
		{ name => "k$_",
			type => $types[$_],
			order => gpb_index_order(),
			null => pick(0, 0, 0.1, 0.3),
			domain => pick(3, 10, 60, 300) } } 0 .. $#types;
	my @values = map {
		my $null = $_->{null};
		"(CASE WHEN random() < $null THEN NULL ELSE " . $type{ $_->{type} }->("floor(random() * $_->{domain})::int4") . ' END)' } @columns;
	my $names = join(', ', map { $_->{name} } @columns);

	$random->sql("SELECT setseed(" . rand() . ");\n" . gpb_table_sql(
		name => 't',
		columns => 'id serial, v int4, w int8, s text, ' . join(', ', map { "$_->{name} $_->{type}" } @columns),
		index => "CREATE INDEX t_k ON t USING gpubtree (" . join(', ', map { "$_->{name} $_->{order}" } @columns) . ') '
		  . pick('', 'INCLUDE (v)', 'INCLUDE (v, id)') . pick('', '', 'WITH (fillfactor = 20)') . ";\n",
		hot => "s = 'hot'",
		more_changes => [ "UPDATE t SET k0 = k0 WHERE id % 4 = 0;\n", "DELETE FROM t WHERE id % 2 = 0;\nVACUUM t;\n",
			"BEGIN;\nINSERT INTO t ($names) SELECT $names FROM t;\nROLLBACK;\n",
			"DELETE FROM t WHERE id IN (SELECT DISTINCT ON (k0) id FROM t ORDER BY k0, k1 DESC);\n" ],
		load => "INSERT INTO t (v, w, s, $names) SELECT floor(random() * 100)::int4, i, 'row ' || i, " . join(', ', @values)
		  . " FROM generate_series(1, $rows) i;\n") . "ANALYZE t;\n");
	return;
}

# ---- queries ----

sub literal { my ($column) = @_; return $type{ $column->{type} }->(between(0, $column->{domain})) }

sub condition
{
	my ($column, $arrays) = @_;
	my $name = $column->{name};

	return pick(
		sub { $name . ' ' . pick('<', '<=', '>=', '>') . ' ' . literal($column) },
		sub { "$name BETWEEN " . literal($column) . ' AND ' . literal($column) },
		sub { "$name IS " . pick('', 'NOT ', 'NOT ') . 'NULL' },
		$arrays ? (
			sub { "$name = " . literal($column) },
			sub { "$name = ANY (ARRAY[" . join(', ', map { literal($column) } 0 .. pick(0, 3, 20)) . '])' }) : ())->();
}

sub random_query
{
	my $n = between(1, $#columns);		# columns whose values make a group
	my @prefix = @columns[ 0 .. $n - 1 ];
	my $next = $columns[$n];
	my @conditions = ((map { chance(0.4) ? condition($_, 1) : () } @prefix), chance(0.4) ? condition($next, 0) : ());
	my @groups = map { $_->{name} } @prefix;

	# a column with one value need not be named
	if (@groups > 1 && chance(0.3))
	{
		my $fixed = splice(@prefix, between(0, $#prefix), 1);
		@conditions = (grep({ !/^$fixed->{name} / } @conditions), "$fixed->{name} = " . literal($fixed));
		@groups = map { $_->{name} } @prefix;
	}
	my $where = @conditions ? 'WHERE ' . join(' AND ', @conditions) : '';
	my $names = join(', ', @groups);
	my $direction = sub { pick('', 'DESC', 'ASC NULLS FIRST', 'DESC NULLS LAST') };
	my $by = join(', ', map { chance(0.7) ? "$_->{name} $_->{order}" : "$_->{name} " . $direction->() } @prefix);
	my @behind = map { "$columns[$_]{name} " . (chance(0.7) ? $columns[$_]{order} : $direction->()) } $n .. $#columns;
	my $order = join(', ', @behind[ 0 .. between(0, $#behind) ]);
	my $last = $order =~ s/.*\b(k\d).*/$1/r;
	my $decided = join(', ', @groups, $order =~ /(k\d)/g);
	my $limit = pick('', '', 'LIMIT ' . between(1, 20));

	return pick(
		sub { ('rows', "SELECT DISTINCT ON ($names) $decided FROM t $where ORDER BY $by, $order" . ($limit && " $limit")) },
		sub { ('rows', "SELECT DISTINCT ON ($names) * FROM t $where ORDER BY $by, $order, id" . pick('', ' DESC') . " $limit") },
		sub { ('rows', "SELECT DISTINCT ON ($names) $decided, id, v FROM t $where ORDER BY $by, $order, v, id DESC") },
		$next->{type} eq 'bool' ? () : (
		sub { ('rows', "SELECT $names, " . pick("max($next->{name})", "min($next->{name})", "max($next->{name}), min($next->{name})")
			. " FROM t $where GROUP BY $names " . pick('', "ORDER BY $by $limit", "HAVING max($next->{name}) IS NOT NULL")) },
		sub { ('rows', "SELECT max($next->{name}), count(DISTINCT $groups[0]) FROM t $where GROUP BY $names, $groups[0] IS NULL") }),
		sub { ('rows', "SELECT DISTINCT $names FROM t $where " . pick('', "ORDER BY $by $limit")) },
		sub { ('rows', "SELECT count(DISTINCT $groups[0]), count(DISTINCT ($names)) FROM t $where") })->();
}

# A row comparison over a prefix of the key's columns, or some of them, or other columns besides
sub row_comparison
{
	my @names = map { $_->{name} } @columns;
	my $from = chance(0.2) ? between(0, $#columns) : 0;
	my @taken = @columns[ $from .. between($from, $#columns) ];
	my @values = map { chance(0.05) ? 'NULL' : literal($_) } @taken;
	my @left = map { $_->{name} } @taken;

	push(@left, 'w'), push(@values, between(0, 2000)) if @left < 2 || chance(0.2);
	return '(' . join(', ', @left) . ') ' . pick('<', '<=', '>', '>=') . ' (' . join(', ', @values) . ')';
}

# ORs and row comparisons over several columns
sub arms
{
	my $arm = sub { join(' AND ', (map { "$_->{name} = " . literal($_) } @columns[ 0 .. between(0, $#columns - 1) ]),
		chance(0.7) ? condition(pick(@columns), 1) : (), chance(0.1) ? 'v < 50' : ()) };
	my @arms = map { chance(0.2) ? row_comparison() : $arm->() } 0 .. pick(1, 1, 3);

	return pick(sub { row_comparison() }, sub { row_comparison() . ' AND ' . row_comparison() }, sub { join(' OR ', @arms) },
		sub { condition($columns[0], 1) . ' AND (' . join(' OR ', @arms) . ')' },
		sub { "$columns[0]{name} = " . literal($columns[0]) . ' AND ' . row_comparison() })->();
}

sub compare_arms
{
	my $where = arms();
	my $names = join(', ', map { $_->{name} } @columns);
	my $limit = pick('', 'LIMIT ' . between(1, 40));
	my ($kind, $query) = pick(
		[ 'ordered', "SELECT $names FROM t WHERE $where ORDER BY " . gpb_order_of(@columns) . " $limit" ],
		[ 'ordered', "SELECT $names, xmax IS NULL FROM t WHERE ($where) AND w % 5 < 4 ORDER BY " . gpb_order_of(@columns) ],
		[ 'rows', "SELECT count(*), sum(v) FROM t WHERE $where" ],
		[ 'rows', "SELECT count(*) FROM t WHERE $where" ],
		[ 'rows', "SELECT * FROM t WHERE $where" ])->@*;
	my $answer = gpb_answer_sql($kind, $query);
	my $plan = $random->compare(
		query => $query,
		isolation => gpb_isolation(),
		stock => gpb_stock_sql($answer),
		settings => join('', map { "SET LOCAL enable_$_ = off;\n" } qw(seqscan indexscan indexonlyscan bitmapscan)),
		answer => $answer,
		explain => "EXPLAIN (COSTS OFF) $query;\n");

	$random->saw('rows in order') if $plan =~ /GpubtreeScan.*Scan Direction/s;
	$random->saw("$_ with arms") foreach grep { $plan =~ /$_.*Index Cond: \(.* OR /s } qw(GpubtreeAggregate GpubtreeScan);
	return;
}

sub compare_query
{
	return compare_arms() if chance(0.3);
	my ($kind, $query) = random_query();
	my $answer = gpb_answer_sql($kind, $query);
	my $plan = $random->compare(
		query => $query,
		isolation => gpb_isolation(),
		stock => gpb_stock_sql($answer),
		settings => join('', map { "SET LOCAL enable_$_ = off;\n" } qw(seqscan indexscan indexonlyscan bitmapscan))
		  . "SET LOCAL gpubtree.enable_aggregate = off;\n",
		answer => $answer,
		explain => "EXPLAIN (COSTS OFF) $query;\n");

	foreach my $seen ('Groups Walked', 'First of Each', 'Last of Each', 'First and Last', 'One of Each Group', 'Sort', 'Columns: Index',
		'Columns: Table')
	{
		$random->saw($seen) if $plan =~ /Groups Walked/ && $plan =~ /$seen/;
	}
	return;
}

foreach my $round (1 .. $random->rounds)
{
	create_tables();
	my $columns = join(', ', map { "$_->{type} $_->{order}" } @columns);
	last unless $random->round("round $round: groups of ($columns) agree", 40, \&compare_query);
	$random->sql(pick("UPDATE t SET v = v + 1 WHERE id % 3 = 0;\n", "DELETE FROM t WHERE id % 5 = 0;\nVACUUM t;\n",
		"INSERT INTO t SELECT (t).* FROM t WHERE id % 4 = 0;\n"));
	last unless $random->round("round $round: they agree after changes", 15, \&compare_query);
	next if $round % 5;

	my $names = join(', ', map { $_->{name} } @columns);
	my $writers = gpb_start_pgbench($random->node, <<"SQL", '-c2');
\\set a random(1, 4000)
DELETE FROM t WHERE id BETWEEN :a AND :a + 20;
INSERT INTO t (v, $names) SELECT v, $names FROM t WHERE id BETWEEN :a + 50 AND :a + 69;
UPDATE t SET k1 = (SELECT k1 FROM t WHERE id > :a ORDER BY id LIMIT 1) WHERE id BETWEEN :a + 70 AND :a + 80;
BEGIN;
INSERT INTO t (v, $names) SELECT v, $names FROM t WHERE id BETWEEN :a + 50 AND :a + 69;
DELETE FROM t WHERE id BETWEEN :a + 100 AND :a + 200;
ROLLBACK;
SQL
	last unless $random->round("round $round: they agree beside writers", 60, \&compare_query);
	ok(gpb_end_pgbench($writers), "round $round: writers had no error");
	is($random->sql("SELECT gpubtree_check('t_k', true);"), '', "round $round: the index is sound");
}
$random->finish(2, 'Groups Walked', 'First of Each', 'Last of Each', 'First and Last', 'One of Each Group', 'Sort', 'Columns: Index',
	'Columns: Table', 'GpubtreeAggregate with arms', 'GpubtreeScan with arms', 'rows in order');
