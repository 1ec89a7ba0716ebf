# ORDER BY with OFFSET gives, row by row, what core's scan of the same index gives in the same
# snapshot, and percentile_disc what core's aggregate gives: over the first key column, and over the
# next one below a prefix of columns that have one value each.  Keys of every type, each column in any
# order, with NULLs or without, columns behind the ordered one, long runs of equal keys; conditions on
# the ordered column; prefixes that are NULL, booleans, arrays of one element, or that contradict each
# other, values of other types; rows deleted, updated and not visible to everyone, offsets at both ends
# and beyond, prepared statements, rescans, cursors; and a REPEATABLE READ transaction sees the same
# page twice while others write.
#
# Guards: rank_cuts.c's parts (without gaps, none twice), rank_find.c's counting as far as needed,
# both where keys have columns behind the ordered one; ordered_column.c; rank_exec.c's start and
# rescans.
use JSON::PP;
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 20, devices => [ 'host', 'off' ]);
my $node = $random->node;
$node->safe_psql('postgres', gpb_column_domains());

# ---- tables ----

my %type = gpb_column_types();
my (@columns, $ordered, $rows, $below);	# columns: hashes; ordered: the one behind the prefix; below: rows of a prefix
my $partial;

sub column
{
	my ($type, $domain) = @_;
	my $required = chance(0.6);

	return { type => $type, domain => $domain, order => gpb_index_order(), required => $required,
		null => $required ? 0 : pick(0, 0.1, 0.3) };
}

# The key columns: one, or the ordered one with others before or behind it
sub choose_columns
{
	my ($several) = @_;
	my $prefix = $several ? pick(0, 1, 1, 1, 2, 2) : 0;

	@columns = map { column($_, pick(1, 2, 4)) } $prefix == 2 ? (pick(qw(int4 date oid)), pick(qw(int2 bool))) :
		map { pick(qw(int2 int4 oid date bool), 'numeric(9, 2)') } 1 .. $prefix;
	$ordered = column(pick(qw(int2 int4 int8 date timestamp timestamptz), $several ? 'numeric(9, 2)' : qw(far small)),
		pick(2, 20, 400, 5000, 5000, 30000));
	push @columns, $ordered;
	push @columns, column($prefix == 2 ? 'bool' : pick(qw(int2 bool)), 300) if $several && (!$prefix || chance(0.5));
	$columns[$_]{name} = "k$_" foreach 0 .. $#columns;
	$rows = pick(0, 1, 300, 3000, 6000);
	$rows = pick(0, 300, 4000, 8000) if $several;
	$below = $rows;
	$below /= $_->{domain} foreach @columns[ 0 .. $prefix - 1 ];
	return;
}

# The "large" table has so many pages that the gaps between separators are divided by their keys.
sub create_table
{
	my ($large) = @_;

	if ($large)
	{
		$rows = $below = 12000;
		@$ordered{qw(domain required null)} = (30000, 1, 0);
	}
	# Keys lie anywhere, or crowd at one end, so that parts of the index differ in size.
	$ordered->{crowded} = chance(0.3);
	$ordered->{number} = 'floor(' . ($ordered->{crowded} ? 'pow(random(), 4)' : 'random()') . " * $ordered->{domain})::int4";
	# Wide entries and empty leaves make a high tree of few rows.
	my $wide = 'INCLUDE (v, w, ' . join(', ', map { "c$_" } 1 .. 11) . ')';
	my $include = $large ? $wide : pick('', 'INCLUDE (v)', 'INCLUDE (w, v)', $wide);
	my $fill = $large ? 10 : pick(10, 10, 90);
	$partial = !$ordered->{required} && chance(0.3);
	my $where = $partial ? "WHERE $ordered->{name} IS NOT NULL" : '';
	my $names = join(', ', map { $_->{name} } @columns);

	$random->sql('SELECT setseed(' . rand() . ");\n" . gpb_table_sql(
		name => 't',
		columns => 'id serial, v int4, w int8, s text, '
		  . join(', ', map { "$_->{name} $_->{type}" . ($_->{required} ? ' NOT NULL' : '') } @columns) . ', '
		  . join(', ', map { "c$_ int8" } 1 .. 11),
		index => 'CREATE INDEX t_k ON t USING gpubtree (' . join(', ', map { "$_->{name} $_->{order}" } @columns)
		  . ") $include WITH (fillfactor = $fill) $where;\n",
		load => "INSERT INTO t (v, w, s, $names) SELECT CASE WHEN random() > 0.1 THEN floor(random() * 100)::int4 END, "
		  . "CASE WHEN random() > 0.1 THEN i END, 'row ' || i, "
		  . join(', ', map { gpb_column_value($_, $type{ $_->{type} }) } @columns) . " FROM generate_series(1, $rows) i;\n",
		hot => "s = 'hot'",
		more_changes => ["DELETE FROM t WHERE id < $rows * 0.8;\n"],
		$large ? (index_first => 0, vacuumed => 1, changed => 0) : ()) . "ANALYZE t;\n");
	return;
}

# ---- queries ----

# A value for a column, of its type or of another that is compared with it
sub literal
{
	my ($column) = @_;
	my $type = $type{ $column->{type} };
	my $other = chance(0.2) ? pick(@{ $type->{other} }) : $column->{type};
	my $number = $column == $ordered ? between(-5, $column->{domain} + 5) : between(0, $column->{domain} - (chance(0.9) ? 1 : 0));

	return pick(@{ $type->{extremes} }) . "::$column->{type}" if chance(0.03);
	return $type->{sql}->($number) . "::$other";
}

# Conditions that fix the columns before the ordered one; a given value stands for that of the first
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

	return "$name = " . literal($ordered) if chance(0.05);
	return pick(
		sub { () },
		sub { "$name " . pick('<', '<=', '>', '>=') . ' ' . literal($ordered) },
		sub { map { "$name " . pick('<', '<=', '>', '>=') . ' ' . literal($ordered) } 1 .. 2 },
		sub { "$name BETWEEN " . literal($ordered) . ' AND ' . literal($ordered) },
		sub { literal($ordered) . " >= $name" },
		sub { "$name IS NOT NULL" })->();
}

# Of a query for "rows" core knows an order, whatever the index leaves out.
sub condition
{
	my ($rows, $value) = @_;
	my @conditions = (prefix($value), range());

	push @conditions, "$ordered->{name} IS NOT NULL" if $rows && !$ordered->{required} && ($partial || chance(0.2));
	return @conditions ? 'WHERE ' . join(' AND ', @conditions) : '';
}

sub offset
{
	return pick(0, 1, between(0, 300), between(0, $rows), between(0, $below), between(0, $below), abs(int($below) - between(0, 5)),
		$rows * 2, '(SELECT count(*) / ' . pick(2, 4) . ' FROM t)', '9223372036854775807');
}

sub limit { return pick(0, 1, 3, 50, 50, 1000, 'NULL', 'ALL') }

# Most queries name an order that the index has, forward or backward.
sub order
{
	my $order = $ordered->{order};
	my $first = $order =~ /NULLS FIRST/ || $order eq 'DESC' ? 'NULLS FIRST' : 'NULLS LAST';
	my $last = $first eq 'NULLS FIRST' ? 'NULLS LAST' : 'NULLS FIRST';
	my ($up, $down) = $order =~ /DESC/ ? ('DESC', 'ASC') : ('ASC', 'DESC');

	return @columns > 1 && chance(0.1) ? pick('ASC', 'DESC') : pick("$up $first", "$down $last");
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
	my $k = $ordered->{name};
	my $columns = pick($k, 'v', "v, $k", "id, s, $columns[0]{name}", 't', 'ctid', "'x', v + 1, $k",
		join(', ', map { $_->{name} } @columns));
	# rows that are equal in the ordered column, sorted by more
	my $more = @columns > 1 ? pick('', '', '', ', id', ', w DESC, id') : '';

	$condition //= condition(1);
	if (core_sorts($condition))
	{
		$columns = $k if $more eq '' && chance(0.5);
		$more = ', id' if $more eq '' && $columns ne $k;
	}
	my $order = order();
	# NULLs may come at the other end than in the index: then core sorts, too
	$more = ', id' if $order !~ /NULLS/ && $more eq '' && $columns ne $k;
	return "SELECT $columns FROM t $condition ORDER BY $k $order$more OFFSET $offset LIMIT $limit";
}

# An array of many fractions, in disorder, some of which occur twice and some of which are NULL
sub many_fractions
{
	my $n = pick(30, 300, 2000);
	my $divisor = pick(1500, 2000, 20000);

	return "ARRAY(SELECT CASE WHEN i % 17 <> 5 THEN (i * 7919 % 1500) / $divisor.0 END FROM generate_series(1, $n) i)";
}

# Aggregates, the first of which is a percentile.  A percentile passes over NULL keys; where keys may
# be NULL, our node does not take other aggregates beside it.
sub percentiles
{
	my ($fraction) = @_;
	my $k = "WITHIN GROUP (ORDER BY $ordered->{name} " . pick('', 'DESC', 'NULLS FIRST') . ')';
	my $one = 'percentile_disc(' . ($fraction // pick(0, 1, 0.5, rand(), 1e-9, 'NULL::float8')) . ") $k";
	my $many = 'percentile_disc(' . pick('ARRAY[0.25, 0.5, 0.75]', 'ARRAY[[1, NULL], [0.5, 0.1]]', "'{}'::float8[]",
		"'[5:6]={0,1}'::float8[]", 'NULL::float8[]', many_fractions(), many_fractions()) . ") $k";

	return pick($one, $one, "$one, $many", "$one, count(*), max($ordered->{name})",
		"$one, count($columns[-1]{name}), sum(v), max($ordered->{name})", "$one, sum(v), count(v), sum(w), $many",
		"$one, coalesce($one, " . $type{ $ordered->{type} }{sql}->(3) . "::$ordered->{type})");
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
	my $k = $ordered->{name};
	my @values = map { $type{ $first->{type} }{sql}->(between(0, $first->{domain} - 1)) . "::$first->{type}" } 1 .. 4;
	my @below_value = $first == $ordered ? () : (
		sub { ('prepared', prepared($first->{type}, page(between(0, $rows / 8), 5, condition(1, '$1')), 'NULL', @values)) },
		sub { ('percentiles', prepared($first->{type}, 'SELECT ' . percentiles() . ' FROM t ' . condition(0, '$1'), 'NULL', @values)) },
		sub { ('rescan', 'SELECT a, x.* FROM unnest(ARRAY[' . join(', ', @values) . ']) a, LATERAL ('
			. page(between(0, $rows / 8), 3, condition(1, 'a')) . ') x') });

	return pick(
		@below_value,
		(sub { ('rows', page(offset(), limit())) }) x 5,
		sub { ('rows', 'SELECT count(*) FROM (' . page(offset(), limit()) . ') x') },
		sub { ('prepared', prepared('int8, int8', page('$1', '$2'), map {
				pick(0, 'NULL', 1, between(0, $below), abs(int($below) - 1)) . ', ' . pick(0, 1, 20, 'NULL') } 1 .. 6)) },
		sub { ('lateral', "SELECT o, x.* FROM generate_series(0, $rows, " . int($rows / 7 + 1) . ') o, LATERAL ('
			. page('o', pick(1, 5)) . ') x') },
		sub { ('rescan', "SELECT o, (SELECT $k FROM t " . condition(1) . " ORDER BY $k " . order() . ' OFFSET o + '
			. int($below / 3) . ' LIMIT 1) FROM generate_series(0, 3) o') },
		sub { ('rescan', 'SELECT o, x.* FROM generate_series(0, 3) o LEFT JOIN (' . page(int($below / 2), 5) . ') x ON true') },
		(sub { ('percentile', 'SELECT ' . percentiles() . ' FROM t ' . condition(0)) }) x 4,
		sub { ('percentile', 'SELECT ' . percentiles() . ' FROM t') },
		sub { ('percentile', "SELECT o, (SELECT percentile_disc(o / 7.0) WITHIN GROUP (ORDER BY $k) FROM t " . condition(0)
			. ') FROM generate_series(0, 7) o') },
		sub { ('percentiles', prepared('float8', 'SELECT ' . percentiles('$1') . ' FROM t ' . condition(0),
			map { pick(0, 0.3, 0.5, 'NULL', 1) } 1 .. 4)) },
		sub { ('cursor', gpb_answer_sql('cursor', page(offset(), 'ALL'),
			map { pick('FORWARD 3', 'FORWARD 50', 'BACKWARD 2', 'BACKWARD 40', 'FIRST', 'PRIOR') } 1 .. 8)) })->();
}

# ---- running a query ----

# gpubtree.rank_parts: with the few rows here, ranges are cut more than once only into few parts
my $few_parts = 48;
my $rank_parts = $few_parts;

# Settings.  In mode "ours" our nodes are taken even for small offsets; mode "stock" leaves core a
# scan of the same index, which has the same order of equal keys.
sub mode_sql
{
	my ($mode) = @_;
	my $sql = "SET LOCAL gpubtree.setup_cost = 0;\nSET LOCAL gpubtree.rank_parts = $rank_parts;\n"
	  . 'SET LOCAL gpubtree.batch_setup_cost = ' . pick(0, 0, 100) . ";\n";

	$sql .= "SET LOCAL gpubtree.enable_$_ = " . ($mode eq 'ours' ? 'on' : 'off') . ";\n" foreach qw(rank percentile);
	$sql .= "SET LOCAL $_ = off;\n" foreach qw(enable_seqscan enable_bitmapscan enable_sort enable_material),
	  @columns > 1 ? qw(gpubtree.enable_scan gpubtree.enable_aggregate) : ();
	$sql .= "SET LOCAL enable_indexonlyscan = off;\n" if $mode eq 'ours' && chance(0.2);
	return $sql;
}

# The EXPLAIN of a query, or of the query within statements
sub explain_sql
{
	my ($sql) = @_;
	# a prepared statement's plan, as it is for each value
	my ($prepared) = $sql =~ /(^PREPARE q .*?;\n)/m;
	my ($executed) = $sql =~ /^(EXECUTE q .*?;\n)DEALLOCATE/m;

	return "SET LOCAL plan_cache_mode = force_generic_plan;\n${prepared}EXPLAIN (COSTS OFF) ${executed}DEALLOCATE q;\n" if $prepared;
	return $sql =~ /(?:FOR |^)(SELECT .*?)(?:;|$)/s ? "EXPLAIN (COSTS OFF) $1;\n" : '';
}

sub compare_query
{
	my ($kind, $query) = random_query();
	my $isolation = gpb_isolation();
	my $answer = $query =~ /^SELECT/ ? gpb_answer_sql('ordered', $query) : $query;
	my $plan = $random->compare(
		query => $query,
		isolation => $isolation,
		stock => mode_sql('stock') . $answer,
		settings => mode_sql('ours'),
		answer => $answer,
		explain => explain_sql($query));
	my $of = @columns == 1 ? 'one column' : 'several columns';

	return unless $plan =~ /GpubtreeRank|GpubtreePercentile/;
	$random->saw("$kind, $of");
	$random->saw('below a prefix') if $columns[0] != $ordered;
	$random->saw('below two columns') if $columns[0] != $ordered && $columns[1] != $ordered;
	$random->saw('columns behind') if $columns[-1] != $ordered;
	my ($rank) = $plan =~ /GpubtreeRank(.*)/s or return;
	$random->saw("backward, $of") if $rank =~ /Backward/;
	$random->saw("index only, $of") if $rank =~ /Index Only/;
	$random->saw("serializable, $of") if $isolation eq 'SERIALIZABLE';
	$random->saw('sorted ties') if $plan =~ /GpubtreeRank.*Incremental/s;
	return;
}

# ---- how much is counted and read ----

# In a table without long runs of equal keys, not many more rows are counted than lie before the
# rank, and few are read.
sub count_little
{
	my ($device) = @_;
	my $k = $ordered->{name};

	foreach my $condition ('', "WHERE $k IS NOT NULL")
	{
		foreach my $offset (300, 3000)
		{
			my $query = "SELECT $k FROM t $condition ORDER BY $k " . order() . " OFFSET $offset LIMIT 10";
			my $output = $random->sql("BEGIN;\n" . mode_sql('ours') . "SET LOCAL enable_indexonlyscan = on;\n"
				. "EXPLAIN (ANALYZE, COSTS OFF, FORMAT JSON) $query;\nCOMMIT;");
			my $rank = decode_json($output)->[0]{Plan}{Plans}[0];

			cmp_ok($rank->{Matches}, '<', 4 * $offset + 3000, "$device: $query counts $rank->{Matches} entries");
			cmp_ok($rank->{Plans}[0]{'Actual Rows'}, '<', 500, "$device: and reads few rows");
			cmp_ok($rank->{Batches}, '<=', 4, "$device: in few rounds");
		}
	}
	return;
}

# ---- a page seen twice ----

# Some thirty transactions, by what they write to the WAL
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION wait_for_writers() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	start pg_lsn := pg_current_wal_insert_lsn();
BEGIN
	FOR i IN 1 .. 60000 LOOP
		IF pg_current_wal_insert_lsn() - start > 30000 THEN
			RETURN;
		END IF;
		PERFORM pg_sleep(0.01);
	END LOOP;
	RAISE 'nobody writes';
END $$;
SQL

# Two sessions move rows about; a reader's page, and its row of each rank, stay as they are.
sub compare_beside_writers
{
	my ($device) = @_;
	return if $ENV{GPB_OLD};
	my $differences = 0;
	$ordered = { name => 'k', order => '' };
	@columns = ($ordered);
	$rank_parts = $few_parts;

	$random->sql("DROP TABLE IF EXISTS t;\nCREATE TABLE t (id serial, k int8 NOT NULL, v int4);\n"
		. "INSERT INTO t (k, v) SELECT random() * 1e6, i FROM generate_series(1, 20000) i;\n"
		. "CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v) WITH (fillfactor = 20);\nVACUUM ANALYZE t;\n");
	count_little($device);
	my $writers = gpb_start_pgbench($node, "\\set n random(1, 20000)\n\\set k random(0, 1000000)\n"
		. "UPDATE t SET k = :k WHERE id = :n;\nINSERT INTO t (k, v) VALUES (:k, 0);\nDELETE FROM t WHERE k BETWEEN :k AND :k + 50;\n",
		'-c', 2);
	foreach my $round (1 .. 12)
	{
		my $offset = between(2000, 15000);
		my $query = 'SELECT k, v FROM t ORDER BY k ' . order() . " OFFSET $offset LIMIT 20";
		my $answer = "SELECT md5(string_agg(q::text, ';')), (SELECT percentile_disc('{0.1,0.5}'::float8[]) WITHIN GROUP (ORDER BY k) FROM t) FROM ($query) q;\n";
		my $output = $random->sql("BEGIN ISOLATION LEVEL REPEATABLE READ;\n" . mode_sql('ours') . $answer
			. "SELECT wait_for_writers();\n$answer" . mode_sql('stock') . $answer . 'COMMIT;');
		my @lines = grep { length } split(/\n/, $output);

		next if $lines[0] eq $lines[1] && $lines[0] eq $lines[2];
		$differences++;
		diag "$query: $output";
	}
	ok(gpb_end_pgbench($writers), "$device: writers had no error");
	is($differences, 0, "$device: the same page twice, beside writers");
	return;
}

# ---- all of it ----

foreach my $device ($random->devices)
{
	$random->use_device($device);
	foreach my $round (1 .. $random->rounds)
	{
		my $large = $round == 1;

		$rank_parts = $round % 4 < 2 ? $few_parts : 2048;
		choose_columns($round % 2 == 0);
		create_table($large);
		my $go_on = $random->round("$device, round $round: ranks by " . join(', ', map { "$_->{type} $_->{order}" } @columns) . ' agree',
			$large ? 20 : 60, \&compare_query);
		count_little("$device, $ordered->{type}") if $large && !$ordered->{crowded};
		is($random->sql("SELECT gpubtree_check('t_k', true)"), '', "$device, round $round: the index is sound");
		last unless $go_on;
	}
	compare_beside_writers($device);
	is($random->sql("SELECT gpubtree_check('t_k', true)"), '', "$device: the index is sound beside writers");
}
my @plans = ((map { ("$_, one column", "$_, several columns") } qw(rows lateral rescan prepared percentile percentiles cursor backward serializable), 'index only'),
	'below a prefix', 'below two columns', 'columns behind', 'sorted ties');
my $further = 0;
$random->go_on_until_seen(4, 20, sub {
		choose_columns($further++ % 2 == 0);
		create_table(0);
		compare_query() foreach (1 .. 60);
	}, @plans);
$random->finish(4, @plans);
