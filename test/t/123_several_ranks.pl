# Below a prefix of key columns that have one value each, ORDER BY with OFFSET and percentile_disc
# over the next key column give what core gives in the same snapshot: columns of many types, each in
# any order, with NULLs or without, columns behind the ordered one, one value in many rows, no
# conditions, prefixes that are NULL, booleans, arrays of one element, or that contradict each other,
# values of other types, parameters, rescans, cursors; rows deleted, updated and not visible to
# everyone.
#
# Guards: ordered_column.c, and rank_cuts.c and rank_find.c where keys have columns behind the
# ordered one.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 20)
# GPB_DEVICE	gpubtree.device (default: host)
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 20);
$random->use_device($random->devices);

# ---- tables ----

# "sql" makes an expression of the type from one for a number from 0 on; "other" are types that the
# type is compared with.
my @integers = (other => [qw(int2 int4 int8)], sql => sub { "(($_[0]) - 5)" });
my @times = (other => [qw(date timestamp timestamptz)]);
my %type = (
	int2 => { @integers, extremes => [ "(-32768)", "32767" ] },
	int4 => { @integers, extremes => [ "(-2147483648)", "2147483647" ] },
	int8 => { @integers, extremes => [ "(-9223372036854775808)", "9223372036854775807" ] },
	bool => { other => ['bool'], sql => sub { "(($_[0]) % 2 = 1)" }, extremes => ['true'] },
	oid => { other => ['oid'], sql => sub { "(($_[0])::int8::oid)" }, extremes => [ "4294967295", "0" ] },
	date => { @times, sql => sub { "(date '2024-11-01' + ($_[0])::int4)" }, extremes => [ "'infinity'", "'-infinity'" ] },
	timestamp => { @times, sql => sub { "(timestamp '2024-11-01' + ($_[0]) * interval '7 hours')" },
		extremes => [ "'infinity'", "'-infinity'" ] },
	timestamptz => { @times, sql => sub { "(timestamptz '2024-11-01' + ($_[0]) * interval '7 hours')" },
		extremes => [ "'infinity'", "'-infinity'" ] },
	'numeric(9, 2)' => { other => [ 'numeric', 'int4' ], sql => sub { "((($_[0]) - 5) / 8.0)" },
		extremes => [ "'NaN'", "9999999.99", "(-9999999.99)" ] });

my (@columns, $ordered, $rows);		# columns: hashes; ordered: the one behind the prefix

sub column
{
	my ($type, $domain) = @_;
	my $required = chance(0.6);

	return { type => $type, domain => $domain, order => gpb_index_order(), required => $required,
		null => $required ? 0 : pick(0, 0.1, 0.3) };
}

sub create_table
{
	my $prefix = pick(0, 1, 1, 1, 2, 2);

	$rows = pick(0, 300, 4000, 8000);
	@columns = map { column($_, pick(1, 2, 4)) } $prefix == 2 ? (pick(qw(int4 date oid)), pick(qw(int2 bool))) :
		map { pick(qw(int2 int4 oid date bool), 'numeric(9, 2)') } 1 .. $prefix;
	$ordered = column(pick(qw(int2 int4 int8 date timestamp timestamptz timestamptz), 'numeric(9, 2)'), pick(2, 40, 5000, 5000));
	push @columns, $ordered;
	# columns behind it
	push @columns, column($prefix == 2 ? 'bool' : pick(qw(int2 bool)), 300) if @columns == 1 || chance(0.5);
	$columns[$_]{name} = "k$_" foreach 0 .. $#columns;
	my @values = map {
		my $value = $type{ $_->{type} }{sql}->("floor(random() * $_->{domain})::int4");
		my $extreme = pick(@{ $type{ $_->{type} }{extremes} });
		"(CASE WHEN random() < $_->{null} THEN NULL WHEN random() < 0.01 THEN $extreme\::$_->{type} "
		  . "ELSE $value\::$_->{type} END)" } @columns;
	my $names = join(', ', map { $_->{name} } @columns);

	$random->sql("SELECT setseed(" . rand() . ");\n" . gpb_table_sql(
		name => 't',
		columns => 'id serial, v int4, w int8, s text, '
		  . join(', ', map { "$_->{name} $_->{type}" . ($_->{required} ? ' NOT NULL' : '') } @columns),
		index => 'CREATE INDEX t_k ON t USING gpubtree (' . join(', ', map { "$_->{name} $_->{order}" } @columns) . ') '
		  . pick('', 'INCLUDE (v)', 'INCLUDE (v, w)') . ' WITH (fillfactor = ' . pick(10, 10, 90) . ");\n",
		load => "INSERT INTO t (v, w, s, $names) SELECT floor(random() * 100)::int4, i, 'row ' || i, "
		  . join(', ', @values) . " FROM generate_series(1, $rows) i;\n",
		hot => "s = 'hot'",
		more_changes => ["DELETE FROM t WHERE id < $rows * 0.8;\n"]) . "ANALYZE t;\n");
	return;
}

# ---- queries ----

# A value for a column, of its type or of another that is compared with it
sub literal
{
	my ($column) = @_;
	my $type = $type{ $column->{type} };
	my $other = chance(0.2) ? pick(@{ $type->{other} }) : $column->{type};

	return pick(@{ $type->{extremes} }) . "::$column->{type}" if chance(0.03);
	return $type->{sql}->(between(0, $column->{domain} - (chance(0.9) ? 1 : 0))) . "::$other";
}

# Conditions that fix the columns before the ordered one; given values stand for those of the first
sub prefix
{
	my ($value) = @_;
	my @conditions;

	foreach my $column (@columns)
	{
		last if $column == $ordered;
		my $of = $value // literal($column);
		undef $value;
		push @conditions, chance(0.1) ? "$of = $column->{name}" : chance(0.05) ? "$column->{name} IS NULL" :
		  chance(0.1) ? "$column->{name} = ANY (ARRAY[$of])" : "$column->{name} = $of";
		push @conditions, "$column->{name} " . pick('=', '<', '>=') . ' ' . literal($column) if chance(0.05);
	}
	return @conditions;
}

sub range
{
	my $name = $ordered->{name};

	return pick(
		sub { () },
		sub { "$name " . pick('<', '<=', '>', '>=') . ' ' . literal($ordered) },
		sub { "$name BETWEEN " . literal($ordered) . ' AND ' . literal($ordered) },
		sub { literal($ordered) . " >= $name" },
		sub { "$name IS NOT NULL" })->();
}

sub condition
{
	my ($rows, $value) = @_;
	my @conditions = (prefix($value), range());

	push @conditions, "$ordered->{name} IS NOT NULL" if $rows && !$ordered->{required} && chance(0.2);
	return @conditions ? 'WHERE ' . join(' AND ', @conditions) : '';
}

sub offset
{
	return pick(0, 1, between(0, 300), between(0, $rows), between(0, $rows / 4), between(0, $rows / 4), $rows * 2,
		'(SELECT count(*) / 4 FROM t)', '9223372036854775807');
}

# Most queries name an order that the index has, forward or backward.
sub order
{
	my $order = $ordered->{order};
	my $first = $order =~ /NULLS FIRST/ || $order eq 'DESC' ? 'NULLS FIRST' : 'NULLS LAST';
	my $last = $first eq 'NULLS FIRST' ? 'NULLS LAST' : 'NULLS FIRST';
	my ($up, $down) = $order =~ /DESC/ ? ('DESC', 'ASC') : ('ASC', 'DESC');

	return chance(0.1) ? pick('ASC', 'DESC') : pick("$up $first", "$down $last");
}

# Does core know of no order below this prefix?  Then it sorts, and rows that are equal in the ordered
# column come in no order that could be compared.
sub core_sorts
{
	my ($condition) = @_;

	foreach my $column (@columns)
	{
		last if $column == $ordered;
		return 1 if $column->{type} eq 'bool' || $condition =~ /\b$column->{name} (IS NULL|= ANY)/;
	}
	return 0;
}

sub page
{
	my ($offset, $limit, $condition) = @_;
	my $columns = pick($ordered->{name}, 'v', "v, $ordered->{name}", "id, s, $columns[0]{name}", 't', 'ctid',
		join(', ', map { $_->{name} } @columns));
	# rows that are equal in the ordered column, sorted by more
	my $more = pick('', '', '', ', id', ', w DESC, id');

	$condition //= condition(1);
	if (core_sorts($condition))
	{
		$columns = $ordered->{name} if $more eq '' && chance(0.5);
		$more = ', id' if $more eq '' && $columns ne $ordered->{name};
	}
	return "SELECT $columns FROM t $condition ORDER BY $ordered->{name} " . order() . "$more OFFSET $offset LIMIT $limit";
}

sub percentiles
{
	my ($fraction) = @_;
	my $k = "WITHIN GROUP (ORDER BY $ordered->{name} " . pick('', 'DESC', 'NULLS FIRST') . ')';
	my $one = 'percentile_disc(' . ($fraction // pick(0, 1, 0.5, rand(), 'NULL::float8')) . ") $k";
	my $many = 'percentile_disc(' . pick('ARRAY[0.25, 0.5, 0.75]', 'ARRAY[[1, NULL], [0.5, 0.1]]', 'NULL::float8[]',
		'ARRAY(SELECT (i * 7919 % 1500) / 1500.0 FROM generate_series(1, 300) i)') . ") $k";

	return pick($one, $one, "$one, $many", "$one, count(*)", "$one, count($columns[-1]{name}), sum(v), max($ordered->{name})");
}

sub prepared
{
	my ($type, $query, @arguments) = @_;

	return 'SET LOCAL plan_cache_mode = ' . pick(qw(force_generic_plan force_custom_plan)) . ";\n"
	  . gpb_prepared_sql($type, $query, @arguments);
}

# Return a kind and its SQL, which is one query or several statements.
sub random_query
{
	my $first = $columns[0];
	my $of = $first == $ordered ? undef : '$1';
	my @values = map { $type{ $first->{type} }{sql}->(between(0, $first->{domain} - 1)) . "::$first->{type}" } 1 .. 4;

	return pick(
		(sub { ('rows', page(offset(), pick(0, 1, 3, 50, 1000, 'ALL'))) }) x 5,
		sub { ('prepared', prepared('int8', page('$1', 5), 'NULL', 0, 1, map { between(0, $rows / 3) } 1 .. 4)) },
		sub {
			return ('prepared', prepared($first->{type},
				page(between(0, $rows / 8), 5, condition(1, '$1')), 'NULL', @values)) if $of;
			return ('rows', page(offset(), 3));
		},
		sub {
			return ('percentiles', prepared($first->{type}, 'SELECT ' . percentiles() . ' FROM t ' . condition(0, '$1'),
				'NULL', @values)) if $of;
			return ('percentile', 'SELECT ' . percentiles() . ' FROM t');
		},
		sub {
			return ('rescan', "SELECT a, x.* FROM unnest(ARRAY[" . join(', ', @values) . "]) a, LATERAL ("
				. page(between(0, $rows / 8), 3, condition(1, 'a')) . ') x') if $of;
			return ('rescan', 'SELECT o, x.* FROM generate_series(0, 3) o LEFT JOIN (' . page(int($rows / 8), 3) . ') x ON true');
		},
		(sub { ('percentile', 'SELECT ' . percentiles() . ' FROM t ' . condition(0)) }) x 4,
		sub {
			('cursor', 'DECLARE c SCROLL CURSOR FOR ' . page(offset(), 'ALL') . ";\n"
				. join('', map { 'FETCH ' . pick('FORWARD 3', 'FORWARD 50', 'BACKWARD 2', 'BACKWARD 40', 'FIRST', 'PRIOR') . " FROM c;\n" } 1 .. 8)
				. "CLOSE c;\n");
		})->();
}

# ---- running a query ----

# Settings.  In mode "ours" our nodes are taken even for small offsets; mode "stock" leaves core a
# scan of the same index, which has the same order of equal keys.
sub mode_sql
{
	my ($mode) = @_;
	my $sql = "SET LOCAL gpubtree.setup_cost = 0;\nSET LOCAL gpubtree.rank_parts = " . pick(48, 2048) . ";\n";

	$sql .= "SET LOCAL gpubtree.enable_$_ = " . ($mode eq 'ours' ? 'on' : 'off') . ";\n" foreach qw(rank percentile);
	$sql .= "SET LOCAL $_ = off;\n"
	  foreach qw(gpubtree.enable_scan gpubtree.enable_aggregate enable_seqscan enable_bitmapscan enable_sort enable_material);
	$sql .= "SET LOCAL enable_indexonlyscan = off;\n" if $mode eq 'ours' && chance(0.2);
	return $sql;
}

sub compare_query
{
	my ($kind, $query) = random_query();
	my $isolation = gpb_isolation();
	my $answer = $query =~ /^SELECT/ ? gpb_answer_sql('ordered', $query) : $query;
	# A prepared statement's plan, as it is for each value
	my ($prepared) = $query =~ /(^PREPARE q .*?;\n)/m;
	my ($executed) = $query =~ /^(EXECUTE q .*?;\n)DEALLOCATE/m;
	my $explain = $prepared ? "SET LOCAL plan_cache_mode = force_generic_plan;\n${prepared}EXPLAIN (COSTS OFF) ${executed}DEALLOCATE q;\n" :
		$query =~ /(?:FOR |^)(SELECT .*?)(?:;|$)/s ? "EXPLAIN (COSTS OFF) $1;\n" : '';
	my $plan = $random->compare(
		query => $query,
		isolation => $isolation,
		stock => mode_sql('stock') . $answer,
		settings => mode_sql('ours'),
		answer => $answer,
		explain => $explain);

	return unless $plan =~ /GpubtreeRank|GpubtreePercentile/;
	$random->saw($kind);
	$random->saw('below a prefix') if $columns[0] != $ordered;
	$random->saw('below two columns') if $columns[0] != $ordered && $columns[1] != $ordered;
	$random->saw('columns behind') if $columns[-1] != $ordered;
	$random->saw('backward') if $plan =~ /GpubtreeRank.*Backward/s;
	$random->saw('sorted ties') if $plan =~ /GpubtreeRank.*Incremental/s;
	if ($plan =~ /GpubtreeRank(.*)/s)
	{
		my @scans = $1 =~ /(\b$ordered->{name} IS NULL|\$\d+)\)$/mg;
		$random->saw($scans[0] =~ /NULL/ ? 'NULLs first' : 'NULLs last') if @scans == 2;
	}
	$random->saw('index only') if $plan =~ /GpubtreeRank.*Index Only/s;
	return;
}

foreach my $round (1 .. $random->rounds)
{
	create_table();
	last unless $random->round("round $round: ranks by " . join(', ', map { "$_->{type} $_->{order}" } @columns) . ' agree',
		60, \&compare_query);
}
is($random->sql("SELECT gpubtree_check('t_k', true)"), '', 'the index is sound');
$random->finish(4, 'rows', 'prepared', 'rescan', 'percentile', 'percentiles', 'cursor', 'below a prefix', 'below two columns',
	'columns behind', 'backward', 'sorted ties', 'index only');
