# Index scans that skip, by conditions on later key columns where earlier ones have no single value,
# give what a sequential scan gives in the same snapshot: few or many values of the first columns,
# next to each other or far apart, NULL among them, columns ASC and DESC; ranges, arrays and IS NULL
# on later columns; both directions, cursors that turn around, LIMIT, bitmaps, merge joins, which
# mark and restore, and nested loops, which begin scans anew; entries that are known to be dead, and
# leaves that are split, emptied and deleted while a cursor waits.  And they read few leaves.
#
# Guards: skip.c, gpb_fields_next() and gpb_fields_previous(), and where scan.c goes from leaf to
# leaf.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 16)
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 16);
$random->use_device('host');
my $other = $random->node->background_psql('postgres');

# ---- tables ----

# The column's value for an SQL expression of a number from 0 to "values" - 1
my %type = (
	int4 => sub { my ($column, $number) = @_; "((($number) * $column->{step})::int8 - $column->{from})::int4" },
	int2 => sub { my ($column, $number) = @_; "((($number) * $column->{step}) % 30000)::int2" },
	bool => sub { "(($_[1]) % 2 = 1)" },
	date => sub { my ($column, $number) = @_; "(date '2020-01-01' + ($number)::int4 * $column->{step})" },
	timestamptz => sub { "(timestamptz '2024-01-01' + ($_[1]) * interval '7 minutes')" },
	'numeric(12, 2)' => sub { my ($column, $number) = @_; "((($number) * $column->{step} - 100) / 8.0)::numeric(12, 2)" });
my @shapes = ([qw(int4 timestamptz)], [qw(int4 date)], [qw(date int4)], [qw(int2 int4)], [qw(bool int4)],
	[qw(int2 int2 int4)], [qw(bool int2 timestamptz)], [qw(int4 int4 int4)], [qw(date bool int2)],
	[ 'numeric(12, 2)', 'int4' ], [ 'int4', 'numeric(12, 2)' ]);
my @columns;
my $pages;

sub value { my ($column, $number) = @_; return $type{ $column->{type} }->($column, $number) }

sub create_table
{
	my $i = 0;
	my @types = @{ pick(@shapes) };
	my $rows = pick(3000, 8000);
	@columns = map { {
		name => 'k' . $i++,
		type => $_,
		order => gpb_index_order(),
		null => pick(0, 0, 0.05),
		step => pick(1, 1, 100),
		from => pick(0, 100, 2147483648),
		values => $i < @types ? pick(1, 3, 3, 10, 300) : pick(20, 1000, 1000) } } @types;
	my @values = map { "CASE WHEN random() >= $_->{null} THEN " . value($_, "floor(random() * $_->{values})::int4") . ' END' } @columns;

	# narrow leaves, to have many of them
	$random->sql("SELECT setseed(" . rand() . ");\n" . gpb_table_sql(
		name => 't',
		columns => "id serial, v int4, w int8, " . join(', ', map { "$_->{name} $_->{type}" } @columns),
		index => "CREATE INDEX t_k ON t USING gpubtree (" . join(', ', map { "$_->{name} $_->{order}" } @columns)
		  . ') ' . pick('', 'INCLUDE (v)') . "WITH (fillfactor = 10);\n",
		load => "INSERT INTO t (v, w, " . join(', ', map { $_->{name} } @columns) . ') SELECT i % 100, i, '
		  . join(', ', @values) . " FROM generate_series(1, $rows) i;\n",
		more_changes => ["DELETE FROM t WHERE id % 3 = 0;\nVACUUM t;\n", "DELETE FROM t WHERE $columns[-1]{name} IS NOT NULL AND v < 50;\n"]));
	$pages = $random->sql("SELECT pg_relation_size('t_k') / current_setting('block_size')::int8;");
	return;
}

# ---- queries ----

sub number { return between(0, $_[0]->{values}) }
sub literal { my ($column) = @_; return value($column, number($column)) . "::$column->{type}" }

sub narrow_range
{
	my ($column) = @_;
	my $from = number($column);
	my $to = $from + int($column->{values} * pick(0, 0.01, 0.1));

	return "$column->{name} = " . literal($column) if $column->{type} eq 'bool';
	return "$column->{name} BETWEEN " . value($column, $from) . ' AND ' . value($column, $to);
}

sub later_condition
{
	my ($column) = @_;

	return pick(
		sub { narrow_range($column) },
		sub { narrow_range($column) },
		sub { "$column->{name} = " . literal($column) },
		sub { "$column->{name} " . pick('>', '<=') . ' ' . literal($column) },
		sub { "$column->{name} IS NULL" },
		sub { "$column->{name} = ANY (ARRAY[" . join(', ', map { literal($column) } 0 .. pick(1, 3, 30)) . '])' })->();
}

sub conditions
{
	my @conditions = later_condition($columns[-1]);

	foreach my $column (@columns[ 0 .. $#columns - 1 ])
	{
		push @conditions, pick(
			sub { "$column->{name} " . pick('>', '>=', '<', '<=') . ' ' . literal($column) },
			sub { "$column->{name} IS NOT NULL" },
			sub { later_condition($column) })->() if chance(0.35);
	}
	return join(' AND ', @conditions);
}

sub prefix_order
{
	my $reverse = chance(0.5);

	return join(', ', map {
		my $desc = $_->{order} =~ /DESC/ ? 1 : 0;
		my $first = $_->{order} =~ /NULLS FIRST/ || ($desc && $_->{order} !~ /NULLS LAST/) ? 1 : 0;
		"$_->{name} " . ($desc != $reverse ? 'DESC' : 'ASC') . ' NULLS ' . ($first != $reverse ? 'FIRST' : 'LAST') } @columns);
}

sub compare_query
{
	my $where = conditions();
	my $order = prefix_order();
	my $names = join(', ', map { $_->{name} } @columns);
	my ($last) = $columns[-1]{name};
	my ($kind, $query, $way) = @{ pick(
		[ 'rows', "SELECT $names FROM t WHERE $where", pick('index', 'bitmap') ],
		[ 'rows', "SELECT * FROM t WHERE $where", pick('index', 'bitmap') ],
		[ 'ordered', "SELECT $names FROM t WHERE $where ORDER BY $order", 'index' ],
		[ 'ordered', "SELECT $names FROM t WHERE $where ORDER BY $order LIMIT " . between(1, 40), 'index' ],
		[ 'cursor', "SELECT $names FROM t WHERE $where ORDER BY $order", 'index' ],
		[ 'cursor', "SELECT $names FROM t WHERE $where ORDER BY $order", 'index' ],
		[ 'ordered', "SELECT count(*), sum(x.v) FROM (SELECT * FROM t WHERE $where) x JOIN t y ON x.k0 = y.k0 AND y." . narrow_range($columns[-1]) . " WHERE x.v < 3", 'merge' ],
		[ 'ordered', "SELECT count(*), sum(x.v) FROM (SELECT * FROM t WHERE id % 97 = 0) x JOIN t y ON x.$last = y.$last", 'loop' ]) };
	my $settings = 'SET LOCAL gpubtree.enabled = off; SET LOCAL enable_seqscan = ' . ($way eq 'loop' ? 'on' : 'off') . ";\n"
	  . "SET LOCAL enable_bitmapscan = " . ($way eq 'bitmap' ? 'on' : 'off') . ";\n"
	  . ($way eq 'bitmap' ? "SET LOCAL enable_indexscan = off;\nSET LOCAL enable_indexonlyscan = off;\n" : "SET LOCAL enable_sort = " . pick('on', 'off') . ";\n")
	  . ($way eq 'merge' ? "SET LOCAL enable_hashjoin = off;\nSET LOCAL enable_nestloop = off;\nSET LOCAL enable_material = off;\n" : '')
	  . ($way eq 'loop' ? "SET LOCAL enable_hashjoin = off;\nSET LOCAL enable_mergejoin = off;\nSET LOCAL enable_material = off;\nSET LOCAL enable_memoize = off;\n" : '');
	my $answer = gpb_answer_sql($kind, $query, gpb_moves());
	my $plan = $random->compare(
		query => $query,
		isolation => gpb_isolation(),
		stock => "SET LOCAL gpubtree.enabled = off;\nSET LOCAL enable_indexscan = off;\nSET LOCAL enable_indexonlyscan = off;\n"
		  . "SET LOCAL enable_bitmapscan = off;\n$answer"
		  . "RESET enable_indexscan;\nRESET enable_indexonlyscan;\nRESET enable_bitmapscan;\n",
		settings => $settings,
		answer => $answer,
		explain => "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) $query;\n");

	foreach my $seen ('Index Scan using t_k', 'Index Only Scan using t_k', 'Bitmap Index Scan on t_k', 'Backward', 'Merge Join', 'Nested Loop')
	{
		$random->saw($seen) if $plan =~ /$seen/;
	}
	$random->saw('a cursor') if $kind eq 'cursor' && $plan =~ /t_k/;
	# with nothing that bounds the first column, nor the number of rows
	if ($way eq 'index' && $query !~ /LIMIT/ && $where !~ /\bk0\b/
		&& $plan =~ /Index Only Scan.*?Heap Fetches: 0.*?Buffers: shared hit=(\d+)/s && $1 < $pages / 4)
	{
		$random->saw($plan =~ /Backward/ ? 'few leaves backward' : 'few leaves');
	}
	return;
}

# A cursor whose leaves are split, emptied and deleted while it waits.  An index-only scan would keep
# its leaf pinned, and VACUUM would wait for it.
sub compare_changes
{
	my $query = "SELECT " . join(', ', map { $_->{name} } @columns) . " FROM t WHERE " . conditions() . " ORDER BY " . prefix_order();
	my @moves = ('FORWARD 5', pick('FORWARD 60', 'ALL'), pick('BACKWARD 7', 'BACKWARD ALL', 'FORWARD 2'), 'ALL', 'BACKWARD ALL', 'FORWARD 9');
	my $column = $columns[-1];
	my @changes = (
		"INSERT INTO t (" . join(', ', 'v', map { $_->{name} } @columns) . ") SELECT " . join(', ', 'v', map { $_->{name} } @columns)
		  . " FROM t WHERE " . later_condition($columns[0]) . " LIMIT 3000;",
		"INSERT INTO t (v, $column->{name}) SELECT 1, " . value($column, 'i % 1000') . " FROM generate_series(1, 3000) i;",
		"DELETE FROM t WHERE id % 5 = 1; VACUUM (TRUNCATE off) t;");
	my %fetched;

	foreach my $way (qw(stock ours))
	{
		my $enable = $way eq 'ours' ? 'off' : 'on';
		my $scan = $way eq 'ours' ? 'on' : 'off';
		$random->sql("BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT count(*) FROM t;") if $way eq 'stock';
		$random->sql("SET LOCAL gpubtree.enabled = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = $enable; SET LOCAL enable_seqscan = $enable;"
			  . "SET LOCAL enable_indexscan = $scan; SET LOCAL enable_indexonlyscan = off;\nDECLARE c SCROLL CURSOR FOR $query;");
		foreach my $i (0 .. $#moves)
		{
			$fetched{$way} .= $random->sql("FETCH $moves[$i] FROM c;") . "\n--\n";
			$other->query_safe($_) foreach $way eq 'ours' && $i < @changes ? split(/(?<=;) (?=VACUUM)/, $changes[$i]) : ();
		}
		$random->sql("CLOSE c;");
	}
	$random->sql("COMMIT;");
	$random->mismatch("differs while the table changes: $query\nstock: $fetched{stock}\nours: $fetched{ours}")
	  if $fetched{stock} ne $fetched{ours};
	$random->saw('a cursor over changes') if length($fetched{ours}) > 100;
	return;
}

foreach my $round (1 .. $random->rounds)
{
	create_table();
	my $columns = join(', ', map { "$_->{type} $_->{order} of $_->{values}" } @columns);
	last unless $random->round("round $round: scans of ($columns), $pages pages, agree", 40, \&compare_query);
	last unless $random->round("round $round: they agree while leaves change", 2, \&compare_changes);
	last unless $random->round("round $round: they agree afterwards", 10, \&compare_query);
	is($random->sql("SELECT gpubtree_check('t_k', true);"), '', "round $round: the index is sound");
}
$other->quit;
$random->finish(2, 'Index Scan using t_k', 'Index Only Scan using t_k', 'Bitmap Index Scan on t_k', 'Backward', 'Merge Join', 'Nested Loop',
	'a cursor', 'a cursor over changes', 'few leaves', 'few leaves backward');
