# GpubtreeAggregate and GpubtreeScan that skip, by conditions on later key columns where earlier ones
# have no single value, give what a sequential scan gives in the same snapshot: few or many values of
# the first columns, NULL among them, columns ASC and DESC; ranges, arrays and IS NULL on later
# columns; groups, filters, rows, first rows, cursors, prepared statements, outer rows; more groups
# than the planner knew of.  So they do where a node waits while it looks for groups, or between
# finding them and reading them, and meanwhile groups come and go, and leaves are split, emptied and
# deleted; on a standby that replays all this, too.
#
# Guards: index/groups.c, column_skip.c, and where column_conditions.c narrows ranges to groups.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 14)
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;
use GpubtreeHold;
use GpubtreeRandom;
use GpubtreeSkips;

my $random = GpubtreeRandom->new(rounds => 14, settings => "wal_level = replica\nmax_wal_senders = 4\n");
$random->use_device('host');
my $node = $random->node;
my $other = $node->background_psql('postgres');
my $standby;

# ---- tables ----

my (@columns, $names, $pages);

sub create_table
{
	my @types = skip_types();
	my $rows = pick(3000, 8000);
	@columns = skip_columns(60, @types);
	my @values = map { random_value($_) } @columns;
	$names = join(', ', map { $_->{name} } @columns);

	# narrow leaves, to have many of them
	$random->sql("SELECT setseed(" . rand() . ");\n" . gpb_table_sql(
		name => 't',
		columns => "id serial, v int4, w int8, s text, " . join(', ', map { "$_->{name} $_->{type}" } @columns),
		index => "CREATE INDEX t_k ON t USING gpubtree (" . join(', ', map { "$_->{name} $_->{order}" } @columns)
		  . ") INCLUDE (v) WITH (fillfactor = 10);\n",
		load => "INSERT INTO t (v, w, s, $names) SELECT i % 100, i, 'row ' || i, "
		  . join(', ', @values) . " FROM generate_series(1, $rows) i;\nANALYZE t;\n",
		more_changes => ["DELETE FROM t WHERE id % 3 = 0;\nVACUUM t;\n", "DELETE FROM t WHERE $columns[-1]{name} IS NOT NULL AND v < 50;\n",
			# values of which the planner does not know
			"INSERT INTO t (v, $names) SELECT i % 100, " . join(', ', map { value($_, $_ == $columns[0] ? 'i % 300' : 'i % 20') } @columns)
			  . " FROM generate_series(1, 2000) i;\n"]));
	$pages = $random->sql("SELECT pg_relation_size('t_k') / current_setting('block_size')::int8;");
	return;
}

# ---- queries ----

sub where { return join(' AND ', conditions(@columns), chance(0.3) ? pick('v > 30', 'v % 7 <> 3') : ()) }

# A query whose node is one of those that skip, and the kind of its answer
sub query
{
	my $where = where();

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
my $core = "SET LOCAL gpubtree.enabled = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;\n"
  . "SET LOCAL enable_bitmapscan = off;\n";
my $again = "RESET gpubtree.enabled;\n";

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

sub compare_query
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
		stock => $core . $answer . $again,
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
	my $session = gpb_start($node, "BEGIN ISOLATION LEVEL REPEATABLE READ;\n$core$answer$again$ours"
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
			"BEGIN ISOLATION LEVEL REPEATABLE READ;\n$core$answer$again$ours" . "SELECT '====';\n$answer" . "COMMIT;");
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
	last unless $random->round("round $round: nodes over ($columns), $pages pages, agree", 40, \&compare_query);
	last unless $random->round("round $round: they agree while the table changes", 4, \&compare_held);
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
$other->quit;
$standby->stop if $standby;
$random->finish(2, 'skips, GpubtreeAggregate', 'skips, GpubtreeScan', 'skips, Group Key', 'skips, Columns: Table',
	'skips, First Entries', 'skips, Skips Given Up', 'skips, many groups', 'skips, few leaves', 'skips, no entry',
	'held at skip-search', 'held at skip-fourth-search', 'held at skip-groups-found', 'on a standby');
