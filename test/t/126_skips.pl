# What skips gives what a sequential scan gives in the same snapshot, by conditions on later key
# columns where earlier ones have no single value: index scans, GpubtreeAggregate and GpubtreeScan.
# The first columns have few or many values, next to each other or far apart, NULL among them, columns
# are ASC and DESC; ranges, arrays and IS NULL on later columns.  Index scans: both directions,
# cursors that turn around, LIMIT, bitmaps, merge joins, which mark and restore, and nested loops,
# which begin scans anew; entries that are known to be dead, and leaves that are split, emptied and
# deleted while a cursor waits.  And they read few leaves.  Nodes: groups, filters, rows, first rows,
# prepared statements, outer rows; more groups than the planner knew of; where a node waits while it
# looks for groups, or between finding them and reading them, and meanwhile groups come and go, and
# leaves are split, emptied and deleted; on a standby that replays all this, too.
#
# Guards: skip.c, gpb_fields_next() and gpb_fields_previous(), and where scan.c goes from leaf to
# leaf; index/groups.c, column_skip.c, and where conditions.c narrows ranges to groups.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 14)
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;
use GpubtreeHold;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 14, settings => "wal_level = replica\nmax_wal_senders = 4\n");
$random->use_device('host');
my $node = $random->node;
my $other = $node->background_psql('postgres');
my $standby;

# ---- tables ----

# value() of a column for an SQL expression of a number from 0 to "values" - 1
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

my (@columns, $names, $pages);

# Columns of one of these shapes: hashes with name, type, order, and what value() makes of a number.
# All but the last have few values, or up to 300.
sub random_columns
{
	my @types = @{ pick(@shapes) };
	my $i = 0;

	return map { {
		name => 'k' . $i++,
		type => $_,
		order => gpb_index_order(),
		null => pick(0, 0, 0.05),
		step => pick(1, 1, 100),
		from => pick(0, 100, 2147483648),
		values => $i < @types ? pick(1, 3, 3, 10, 60, 300) : pick(20, 1000, 1000) } } @types;
}

sub value { my ($column, $number) = @_; return $type{ $column->{type} }->($column, $number) }

# A random value, or NULL, for a row
sub random_value
{
	my ($column) = @_;
	return "CASE WHEN random() >= $column->{null} THEN " . value($column, "floor(random() * $column->{values})::int4") . ' END';
}

sub create_table
{
	my $rows = pick(3000, 8000);
	@columns = random_columns();
	my @values = map { random_value($_) } @columns;
	$names = join(', ', map { $_->{name} } @columns);

	# narrow leaves, to have many of them
	$random->sql("SELECT setseed(" . rand() . ");\n" . gpb_table_sql(
		name => 't',
		columns => "id serial, v int4, w int8, s text, " . join(', ', map { "$_->{name} $_->{type}" } @columns),
		index => "CREATE INDEX t_k ON t USING gpubtree (" . join(', ', map { "$_->{name} $_->{order}" } @columns)
		  . ') ' . pick('', 'INCLUDE (v)', 'INCLUDE (v)') . " WITH (fillfactor = 10);\n",
		load => "INSERT INTO t (v, w, s, $names) SELECT i % 100, i, 'row ' || i, "
		  . join(', ', @values) . " FROM generate_series(1, $rows) i;\nANALYZE t;\n",
		more_changes => ["DELETE FROM t WHERE id % 3 = 0;\nVACUUM t;\n", "DELETE FROM t WHERE $columns[-1]{name} IS NOT NULL AND v < 50;\n",
			# values of which the planner does not know
			("INSERT INTO t (v, $names) SELECT i % 100, " . join(', ', map { value($_, $_ == $columns[0] ? 'i % 300' : 'i % 20') } @columns)
			  . " FROM generate_series(1, 2000) i;\n") x 3 ]));
	$pages = $random->sql("SELECT pg_relation_size('t_k') / current_setting('block_size')::int8;");
	return;
}

# ---- conditions ----

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

# Conditions on the last column, and on some of those before it
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

# ---- index scans ----

sub compare_scan
{
	my $where = conditions();
	my $order = gpb_order_of(@columns);
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
		stock => gpb_stock_sql($answer),
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
sub compare_cursor
{
	my $query = "SELECT $names FROM t WHERE " . conditions() . " ORDER BY " . gpb_order_of(@columns);
	my @moves = ('FORWARD 5', pick('FORWARD 60', 'ALL'), pick('BACKWARD 7', 'BACKWARD ALL', 'FORWARD 2'), 'ALL', 'BACKWARD ALL', 'FORWARD 9');
	my $column = $columns[-1];
	my @changes = (
		"INSERT INTO t (v, $names) SELECT v, $names FROM t WHERE " . later_condition($columns[0]) . " LIMIT 3000;",
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

# ---- nodes ----

# A query whose node is one of those that skip, and the kind of its answer
sub query
{
	my $where = join(' AND ', conditions(), chance(0.3) ? pick('v > 30', 'v % 7 <> 3') : ());

	return @{ pick(
		[ 'rows', "SELECT count(*), sum(v), min($columns[-1]{name}), max(v) FROM t WHERE $where" ],
		[ 'rows', "SELECT count(*), sum(v), count(*) FILTER (WHERE v > 5) FROM t WHERE $where" ],
		[ 'rows', "SELECT $columns[0]{name}, count(*), sum(v) FROM t WHERE $where GROUP BY 1" ],
		[ 'rows', "SELECT v % 10, count(DISTINCT $columns[-1]{name}) FROM t WHERE $where GROUP BY 1" ],
		[ 'rows', "SELECT DISTINCT $names FROM t WHERE $where" ],
		[ 'rows', "SELECT $names, v FROM t WHERE $where AND v % 3 = 1" ],
		[ 'rows', "SELECT id, w, s FROM t WHERE $where AND v % 3 = 1 AND s > 'r'" ],
		[ 'ordered', "SELECT v FROM t WHERE $where ORDER BY v DESC LIMIT " . between(1, 40) ],
		[ 'rows', "SELECT i, x.* FROM generate_series(0, 3) i, LATERAL (SELECT count(*), sum(v) FROM t WHERE $where AND v > i * 20 OFFSET 0) x" ]) };
}

my $ours = "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;\n"
  . "SET LOCAL enable_bitmapscan = off; SET LOCAL gpubtree.setup_cost = 0; SET LOCAL seq_page_cost = 4;\n";

sub saw_plan
{
	my ($plan) = @_;

	return if $plan !~ /Skip Cond/;
	foreach my $seen ('GpubtreeAggregate', 'GpubtreeScan', 'Skips Given Up', 'Group Key', 'First Entries', 'Columns: Table')
	{
		$random->saw("skips, $seen") if $plan =~ /$seen/;
	}
	$random->saw('skips, no entry') if $plan =~ /Skip Groups: [1-9].*Matches: 0/s;
	$random->saw('skips, many groups') if $plan =~ /Skip Groups: \d\d/;
	$random->saw('skips, few leaves') if $plan =~ /Leaves Done by CPU: (\d+)/ && $1 > 0 && $1 < $pages / 4;
	return;
}

sub compare_node
{
	my ($kind, $query) = query();
	my $answer = gpb_answer_sql(chance(0.1) && $query !~ /DISTINCT|GROUP/ ? 'rows' : $kind, $query);
	my $settings = $ours . 'SET LOCAL gpubtree.enable_device = ' . pick('on', 'off') . ";\n";

	if (chance(0.1))
	{
		my $v = "SELECT count(*), sum(v) FROM t WHERE $columns[-1]{name} > \$1";
		my $prepared = gpb_prepared_sql($columns[-1]{type}, $v, map({ literal($columns[-1]) } 1 .. 2), 'NULL');

		$settings .= "SET LOCAL plan_cache_mode = force_generic_plan;\n";
		($query, $answer) = ("SELECT count(*), sum(v) FROM t WHERE $columns[-1]{name} > " . literal($columns[-1]), $prepared);
	}
	saw_plan($random->compare(
		query => $query,
		isolation => gpb_isolation(),
		stock => gpb_stock_sql($answer),
		settings => $settings,
		answer => $answer,
		explain => "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query;\n"));
	return;
}

# ---- changes ----

# What changes the table: new groups before, between and behind the others; rows of others; groups
# that vanish, whose leaves VACUUM deletes
sub changes
{
	my $first = $columns[0];

	return (
		"INSERT INTO t (v, $names) SELECT i % 100, " . join(', ', map { value($_, $_ == $first ? '(i % 7) * 11' : 'i % 1000') } @columns)
		  . " FROM generate_series(1, 2000) i;",
		"INSERT INTO t (v, $names) SELECT v, $names FROM t WHERE " . later_condition($first) . " LIMIT 3000;",
		"DELETE FROM t WHERE " . later_condition($first) . ";",
		"DELETE FROM t WHERE id % 5 = 1;");
}

# A node that is held while the table changes.  Rows that were deleted before its snapshot go from the
# index meanwhile, and with them leaves.
sub compare_held
{
	my ($kind, $query) = query();
	my $point = pick('skip-search', 'skip-fourth-search', 'skip-groups-found');
	my $answer = gpb_answer_sql($kind, $query);

	$other->query_safe(pick(changes()));
	$other->query_safe("SELECT pg_advisory_lock(0, 7001);");
	my $session = gpb_start($node, "BEGIN ISOLATION LEVEL REPEATABLE READ;\n" . gpb_stock_sql($answer) . $ours
		  . "SELECT '====';\n$answer" . "COMMIT;\nSELECT 'done';", "gpubtree.hold_point = '$point'");
	my $held = 0;
	# it may not come to that point
	gpb_wait_until('a session that waits or ends', sub {
		my $ended = gpb_has_ended($session->{run});
		$held = $random->sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted;");
		return $held || $ended || $session->{out} =~ /^done/m || $session->{err} ne '' });
	foreach my $change (pick(changes()), 'VACUUM (TRUNCATE off) t;', pick(changes()))
	{
		$other->query_safe($change);
	}
	$other->query_safe("SELECT pg_advisory_unlock(0, 7001);");
	my ($theirs, $mine) = split(/^====\n/m, gpb_finish($session) . "\n");
	$mine =~ s/^done\n//m if defined $mine;
	$random->mismatch("differs at $point: $query\nstock: $theirs\nours: " . ($mine // 'nothing'))
	  if ($mine // '') ne $theirs;
	$random->saw("held at $point") if $held;
	return;
}

# The same of a standby, whose readers are not held: it replays meanwhile.
sub compare_standby
{
	my ($kind, $query) = query();
	my $answer = gpb_answer_sql($kind, $query);

	$other->query_safe(pick(changes()));
	$node->wait_for_catchup($standby, 'replay', $node->lsn('flush'));
	foreach my $i (1 .. 3)
	{
		my $session = gpb_start($node, pick(changes()));
		my ($code, $out, $error) = $standby->psql('postgres',
			"BEGIN ISOLATION LEVEL REPEATABLE READ;\n" . gpb_stock_sql($answer) . $ours . "SELECT '====';\n$answer" . "COMMIT;");
		gpb_finish($session);
		next if $error =~ /conflict with recovery/;
		my ($theirs, $mine) = split(/^====\n/m, "$out\n");
		$random->mismatch("differs on the standby: $query\nstock: $theirs\nours: " . ($mine // 'nothing') . "\n$error")
		  if ($mine // '') ne $theirs || $error ne '';
		$random->saw('on a standby');
	}
	return;
}

foreach my $round (1 .. $random->rounds)
{
	create_table();
	my $columns = join(', ', map { "$_->{type} $_->{order} of $_->{values}" } @columns);
	last unless $random->round("round $round: scans of ($columns), $pages pages, agree", 40, \&compare_scan);
	last unless $random->round("round $round: nodes agree", 40, \&compare_node);
	last unless $random->round("round $round: cursors agree while leaves change", 2, \&compare_cursor);
	last unless $random->round("round $round: scans agree afterwards", 10, \&compare_scan);
	last unless $random->round("round $round: nodes agree while the table changes", 4, \&compare_held);
	if ($round == 1)
	{
		$node->backup('base');
		$standby = PostgreSQL::Test::Cluster->new('standby');
		$standby->init_from_backup($node, 'base', has_streaming => 1);
		$standby->start;
	}
	last unless $random->round("round $round: they agree on a standby", 2, \&compare_standby);
	is($random->sql("SELECT gpubtree_check('t_k', true);"), '', "round $round: the index is sound");
}
# Few of the rounds may have had tables for these.
$random->go_on_until_seen(2, 20, sub {
		create_table();
		foreach my $i (1 .. 20)
		{
			compare_scan();
			compare_node();
		}
		compare_held() foreach (1 .. 4);
	},
	'few leaves', 'few leaves backward', 'skips, Skips Given Up', 'skips, few leaves', 'held at skip-fourth-search');
$other->quit;
$standby->stop if $standby;
$random->finish(2, 'Index Scan using t_k', 'Index Only Scan using t_k', 'Bitmap Index Scan on t_k', 'Backward', 'Merge Join', 'Nested Loop',
	'a cursor', 'a cursor over changes', 'few leaves', 'few leaves backward',
	'skips, GpubtreeAggregate', 'skips, GpubtreeScan', 'skips, Group Key', 'skips, Columns: Table',
	'skips, First Entries', 'skips, Skips Given Up', 'skips, many groups', 'skips, few leaves', 'skips, no entry',
	'held at skip-search', 'held at skip-fourth-search', 'held at skip-groups-found', 'on a standby');
