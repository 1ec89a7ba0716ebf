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
use GpubtreeSkips;

my $random = GpubtreeRandom->new(rounds => 16);
$random->use_device('host');
my $other = $random->node->background_psql('postgres');

# ---- tables ----

my @columns;
my $pages;

sub create_table
{
	my @types = skip_types();
	my $rows = pick(3000, 8000);
	@columns = skip_columns(300, @types);
	my @values = map { random_value($_) } @columns;

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

sub where { return join(' AND ', conditions(@columns)) }

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
	my $where = where();
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
	my $query = "SELECT " . join(', ', map { $_->{name} } @columns) . " FROM t WHERE " . where() . " ORDER BY " . prefix_order();
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
