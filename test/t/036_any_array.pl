# key = ANY (array) gives what a sequential scan gives in the same snapshot: under aggregates,
# where all keys are one batch, and in index scans, index-only scans and bitmap scans, in both
# directions, with LIMIT, through cursors that turn around and merge joins that go back to a mark;
# for every type of key and of element, NULLs, duplicates, empty and huge arrays, several arrays,
# other conditions, literals, parameters and subqueries; at rest, beside writers and VACUUM, and
# through cursors that wait while the leaves to come are split.
#
# Guards: array_keys.c; aggregate_array.c; stand_in/; the scan's way from one range to the next
# (scan.c).
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 24);
my $node = $random->node;
$random->use_device($_) foreach $random->devices;

# ---- a table and arrays ----

# Numbers of arrays may be too large for int2.  There is no -0: rows of it and of 0 may come in any
# order.
my %value = (
	gpb_values(start => '2024-10-01', step => '6 hours', floats => 1),
	int2 => sub { "((($_[0])::int8 % 30000) - 100)::int2" });
my %extremes = (
	int2 => [ -32768, 32767 ],
	int4 => [ -2147483648, 2147483647, 40000 ],
	int8 => [ '-9223372036854775808', '9223372036854775807', 3000000000 ],
	date => [ 'infinity', '-infinity', '4713-01-01 BC' ],
	timestamp => [ 'infinity', '-infinity', '294276-12-31' ],
	timestamptz => [ 'infinity', '-infinity', '294276-12-31' ],
	float4 => [ 'infinity', '-infinity', 'NaN' ],
	float8 => [ 'infinity', '-infinity', 'NaN' ]);
my $keytype;
my @family;
my $domain;
my @arrays;						# of { type, text, id }

# Store an array of random, of consecutive or of evenly spread values under an id; some are NULL or
# extremes of the type.
sub array_sql
{
	my ($id) = @_;
	my $type = pick(@family);
	# A sequential scan compares with each element in turn, and slowly where the types differ.
	my $n = $type ne $keytype ? pick(0, 1, 2, 5, 30, 100) : $id == 9 && chance(0.3) ? 20000 : pick(0, 1, 2, 30, 300, 2000);
	my $first = between(-20, $domain);
	my $step = pick(1, 2, 7, 50);
	my $number = pick('floor(random() * ' . ($domain + 20) . ') - 10', 'floor(random() * ' . ($domain + 20) . ') - 10',
		"$first + (i % 600) * $step", "$first - (i % 600)");
	my $null = pick(0, 0, 0.1, 1);
	my $value = $value{$type}->("($number)");
	my $more = chance(0.3) ? " || '{" . join(',', @{ $extremes{$type} }, chance(0.5) ? 'NULL' : ()) . "}'::${type}[]" : '';

	$arrays[$id] = { type => $type, id => $id };
	return "INSERT INTO arrays (id, of_$type) SELECT $id, array_agg("
	  . "CASE WHEN random() >= $null THEN $value END)$more FROM generate_series(1, $n) i;\n";
}

sub create_table
{
	my $rows = pick(0, 3, 500, 6000, 6000);
	my $null = pick(0, 0.05, 0.3);
	my $order = gpb_index_order();
	my $include = pick('', 'INCLUDE (v)', 'INCLUDE (v, w, f)');
	my $fill = pick('', 'WITH (fillfactor = 10)');
	my $load;
	my $sql;

	$keytype = pick(sort keys %value);
	@family = do { my %seen; grep { !$seen{$_}++ } gpb_family($keytype) };
	$domain = pick(20, 400, 5000, 20000);
	my $k = $value{$keytype}->("floor(random() * $domain)");
	$load = <<"SQL";
INSERT INTO t (k, v, w, f) SELECT
	CASE WHEN random() >= $null THEN $k END,
	CASE WHEN random() > 0.1 THEN floor(random() * 100)::int4 END,
	CASE WHEN random() > 0.1 THEN floor(random() * 1000)::int8 END, random()
FROM generate_series(1, $rows) i;
SQL
	foreach my $extreme (@{ $extremes{$keytype} })
	{
		$load .= "INSERT INTO t (k, v) VALUES ('$extreme', 7);\n" if chance(0.3);
	}
	$sql = "SELECT setseed(" . rand() . ");\nDROP TABLE IF EXISTS arrays;\n"
	  . gpb_table_sql(
		name => 't',
		columns => "id serial, k $keytype, v int4, w int8, f float8",
		index => "CREATE INDEX t_k ON t USING gpubtree (k $order) $include $fill;\n",
		load => $load,
		hot => 'f = 1');

	@arrays = ();
	$sql .= "CREATE TABLE arrays (id int4, " . join(', ', map { "of_$_ ${_}[]" } @family) . ");\n"
	  . join('', map { array_sql($_) } 0 .. 9);
	$random->sql($sql);
	foreach my $array (@arrays)
	{
		$array->{text} = $random->sql("SELECT coalesce(left(of_$array->{type}::text, 4000), 'NULL') FROM arrays WHERE id = $array->{id}");
		chomp $array->{text};
	}
	return;
}

# An array with the same elements, so often that they are more than 1,000: executions with so large a
# parameter may have GpubtreeScan in the place of core's index scan.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION longer(elements anyarray) RETURNS anyarray IMMUTABLE LANGUAGE sql AS $$
	SELECT CASE WHEN cardinality(elements) > 0 THEN
		(SELECT array_agg(e) FROM generate_series(0, 1000 / cardinality(elements)), unnest(elements) e) ELSE elements END
$$;
SQL

# ---- queries ----

# The array of a condition: as a literal, from a subquery, or, if that is wanted, as the parameter
# $1. For a parameter, its value and type are returned too.
sub array_expression
{
	my ($parameter) = @_;
	my $array = pick(@arrays);
	my $type = $array->{type};
	my $literal = $array->{text} eq 'NULL' ? "NULL::${type}[]" : "'$array->{text}'::${type}[]";

	# A long array stays in the server: as a literal it would take psql longer than the query.
	my $short = length($literal) < 4000;
	return ("\$1", $literal, $type) if $parameter && $short;
	return ($literal) if $short && chance(0.5);
	return (pick("(SELECT of_$type FROM arrays WHERE id = $array->{id})::${type}[]",
			"ARRAY(SELECT unnest(of_$type) FROM arrays WHERE id = $array->{id})"));
}

sub condition
{
	my ($table, $array) = @_;
	my $sql = "$table.k = ANY ($array)";
	my ($more) = array_expression(0);

	$sql .= " AND $table.k = ANY ($more)" if chance(0.15);
	$sql .= " AND $table.k " . pick('>', '>=', '<', '<=', '=') . ' ' . $value{ pick(@family) }->(between(-5, $domain))
	  if chance(0.25);
	$sql .= " AND $table.k IS NOT NULL" if chance(0.05);
	return $sql;
}

my @aggregates = ('count(*)', 'count(*), sum(v), avg(v), min(v), max(v), count(v)', 'sum(v), sum(w), count(k)',
	'min(k), max(k)', 'min(f), max(f), count(f)', 'count(*), min(w), sum(v)');

# Return a query's kind, its SQL, and the value and type of its parameter, if it has one.
sub random_query
{
	my ($array, $literal, $type) = array_expression(chance(0.3));
	my $where = condition('t', $array);
	my $order = pick('', 'DESC');
	my $limit = pick(0, 1, 3, 40, 500, 5000);
	my ($kind, $sql) = pick(
		sub { ('aggregate', 'SELECT ' . pick(@aggregates) . " FROM t WHERE $where") },
		sub { ('aggregate', 'SELECT ' . pick(@aggregates) . " FROM t WHERE $where") },
		sub { ('aggregate', 'SELECT ' . pick(@aggregates) . " FROM t WHERE $where") },
		sub { ('rows', "SELECT * FROM t WHERE $where") },
		sub { ('rows', "SELECT k FROM t WHERE $where") },
		sub { ('rows', "SELECT k, v FROM t WHERE $where AND v > 20") },
		sub { ('ordered', "SELECT k FROM t WHERE $where ORDER BY k $order") },
		sub { ('ordered', "SELECT k FROM t WHERE $where ORDER BY k $order LIMIT $limit") },
		sub { ('ordered', "SELECT k, (SELECT count(*) FROM t u WHERE u.k = ANY (ARRAY[t.k, t.k]) AND u.id > t.id) > 0 FROM t WHERE $where ORDER BY k, id LIMIT 50") },
		sub { ('join', "SELECT t.k, count(*), sum(u.v) FROM t JOIN t u ON u.k = t.k WHERE t.id % 10 = 0 AND " . condition('u', $array) . ' GROUP BY t.k') },
		sub { ('cursor', "SELECT k FROM t WHERE $where ORDER BY k $order") })->();

	return ($kind, $sql, $literal, $type);
}

# ---- running a query ----

my @paths = qw(enable_seqscan enable_indexscan enable_indexonlyscan enable_bitmapscan);

# Settings.  Mode "stock" leaves core a sequential scan, "aggregate" our node; the others name the
# kind of index scan.
sub mode_sql
{
	my ($mode) = @_;
	my %on = (
		stock => 'enable_seqscan',
		index => 'enable_indexscan',
		'index-only' => 'enable_indexonlyscan',
		bitmap => 'enable_bitmapscan');
	my $sql = 'SET LOCAL gpubtree.enable_aggregate = ' . ($mode eq 'aggregate' ? 'on' : 'off') . ";\n";

	$sql .= "SET LOCAL $_ = " . ($_ eq ($on{$mode} // '') ? 'on' : 'off') . ";\n" foreach @paths;
	$sql .= "SET LOCAL enable_indexscan = on;\n" if $mode eq 'index-only';
	# Merge joins are wanted, since they go back to marks.
	$sql .= "SET LOCAL $_ = " . ($mode eq 'stock' ? 'on' : 'off') . ";\n"
	  foreach qw(enable_hashjoin enable_nestloop enable_sort enable_material gpubtree.enable_batchjoin);
	$sql .= "SET LOCAL work_mem = '" . pick(qw(64kB 256kB 4MB)) . "';\n";
	$sql .= "SET LOCAL gpubtree.enable_device = " . pick('on', 'off') . ";\n";
	$sql .= "SET LOCAL gpubtree.batch_setup_cost = " . pick(0, 0, 100) . ";\n";
	return $sql;
}

sub answer_sql
{
	my ($kind, $query, $literal, $type, @moves) = @_;
	my $text = $kind eq 'aggregate' ? $query : gpb_digest_sql($query, $kind eq 'ordered');

	if ($kind eq 'cursor')
	{
		$query =~ s/\$1/$literal/g if defined $literal;
		return gpb_answer_sql($kind, $query, @moves);
	}
	return "$text;\n" unless defined $literal;
	return gpb_prepared_sql("${type}[]", $text, $literal, "'{}'", $literal, "longer($literal)");
}

sub explain_sql
{
	my ($query, $literal, $type) = @_;

	return "EXPLAIN (COSTS OFF) $query;\n" unless defined $literal;
	return "PREPARE p(${type}[]) AS $query;\nEXPLAIN (COSTS OFF) EXECUTE p('{}');\n"
	  . "EXPLAIN (COSTS OFF) EXECUTE p(longer($literal));\nDEALLOCATE p;\n";
}

sub compare_query
{
	my ($kind, $query, $literal, $type) = random_query();
	my $mode = $kind eq 'aggregate' && chance(0.7) ? 'aggregate' : pick('index', 'index-only', 'bitmap');
	my $isolation = gpb_isolation();
	my $answer = answer_sql($kind, $query, $literal, $type, gpb_moves('FORWARD 1000', 'BACKWARD 1000'));
	my $settings = mode_sql($mode);
	my $plan = $random->compare(
		query => $query,
		mode => $mode,
		isolation => $isolation,
		stock => 'SET LOCAL plan_cache_mode = ' . pick('force_generic_plan', 'force_custom_plan') . ";\n"
		  . mode_sql('stock') . $answer,
		settings => $settings,
		answer => $answer,
		explain => explain_sql($query, $literal, $type));

	$random->saw('aggregate') if $plan =~ /GpubtreeAggregate/;
	$random->saw('index only') if $plan =~ /Index Only Scan/;
	$random->saw('index') if $plan =~ /Index Scan using/;
	$random->saw('bitmap') if $plan =~ /Bitmap Index Scan/;
	$random->saw('backward') if $plan =~ /Scan Backward/;
	$random->saw('merge join') if $plan =~ /Merge Join\n(?!.*Materialize).*Index/s;
	$random->saw('cursor, index') if $kind eq 'cursor' && $plan =~ /^Index/;
	$random->saw('large parameter') if defined $literal && $plan =~ /GpubtreeScan.*\n.*\n.*ANY \(\$1\)/;
	$random->saw('parameter') if defined $literal && $plan =~ /ANY \(\$1\)/;
	$random->saw('subquery') if $plan =~ /InitPlan/;
	return;
}

foreach my $round (1 .. $random->rounds)
{
	create_table();
	last unless $random->round("round $round: arrays with $keytype keys agree", 80, \&compare_query);
}

# ---- beside writers ----

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE busy (k int8, v int4);
INSERT INTO busy SELECT i, i % 100 FROM generate_series(1, 20000) i;
CREATE INDEX busy_k ON busy USING gpubtree (k) INCLUDE (v) WITH (fillfactor = 50);
VACUUM ANALYZE busy;
SQL
my $writers = gpb_start_pgbench($node, <<'SQL', '-c', '2');
\set k random(1, 20000)
\set n random(1, 100)
INSERT INTO busy SELECT i, i % 100 FROM generate_series(:k, :k + :n) i;
UPDATE busy SET v = v + 1, k = k + 1 WHERE k BETWEEN :k AND :k + 5;
DELETE FROM busy WHERE k BETWEEN :k + 3 AND :k + :n;
SQL
my $vacuum = gpb_start_pgbench($node, "VACUUM busy;\n\\sleep 50 ms\n", '-c', '1');
my $compared = 0;
my $until = time() + 5;
while ((time() < $until || $compared <= 10) && $random->mismatches == 0)
{
	my $step = pick(1, 3, 17, 200);
	my $keys = 'SELECT generate_series(' . between(1, 5000) . ', ' . between(5000, 20000) . ", $step)::bigint";
	my @modes = ('aggregate', 'index', 'index-only', 'bitmap');
	my $queries = sub {
		my ($where) = @_;
		return "SET LOCAL enable_sort = on;\nSELECT count(*), sum(v), min(k), max(k) FROM busy WHERE $where;\n"
		  . "SELECT count(*), sum(v), md5(string_agg(k::text, ',')) FROM (SELECT k, v FROM busy WHERE $where ORDER BY k DESC) x;\n";
	};
	# Core's answer comes from a hashed semi-join, since a sequential scan would compare with each
	# element in turn.
	my $output = $random->sql("BEGIN ISOLATION LEVEL REPEATABLE READ;\n"
		  . mode_sql('stock') . "SET LOCAL enable_hashjoin = on;\n" . $queries->("k IN ($keys)")
		  . join('', map { "\\echo ====\n" . mode_sql($_) . $queries->("k = ANY (ARRAY($keys))") } @modes) . 'COMMIT;');
	my ($stock, @ours) = split(/^====\n?/m, $output, -1);

	$compared++;
	foreach my $i (0 .. $#modes)
	{
		chomp(my $a = $stock);
		chomp(my $b = $ours[$i]);
		$random->mismatch("differs, $modes[$i]: $keys\nstock: $a\nours: $b") if $a ne $b;
	}
}
ok(gpb_end_pgbench($_), "writers: no error, while $compared snapshots were compared") foreach ($writers, $vacuum);
is($random->mismatches, 0, 'beside writers all ways agree');
is($node->safe_psql('postgres', "SELECT gpubtree_check('busy_k', true)"), '', 'the index is sound');

# ---- cursors that wait while every leaf is split ----

foreach my $mode ('index', 'index-only')
{
	foreach my $order ('', 'DESC')
	{
		$node->safe_psql('postgres', <<'SQL');
DROP TABLE IF EXISTS idle;
CREATE TABLE idle (k int4);
INSERT INTO idle SELECT i * 20 FROM generate_series(0, 9999) i;
CREATE INDEX idle_k ON idle USING gpubtree (k) WITH (fillfactor = 100);
VACUUM ANALYZE idle;
SQL
		my @expected = map { $_ * 60 } 0 .. 3333;
		@expected = reverse @expected if $order;
		my $rows = $random->sql("BEGIN ISOLATION LEVEL REPEATABLE READ;\n" . mode_sql($mode)
			  . "SET LOCAL statement_timeout = '5min';\n"
			  . "DECLARE c SCROLL CURSOR FOR SELECT k FROM idle WHERE k = ANY (ARRAY(SELECT generate_series(0, 200000, 60))) ORDER BY k $order;\n"
			  . 'FETCH 800 FROM c;');
		# Beside an index-only scan there is no VACUUM: it would wait for the page that the scan has
		# pinned.
		$node->safe_psql('postgres', 'INSERT INTO idle SELECT i * 20 + j FROM generate_series(0, 9999) i, generate_series(1, 19) j;'
			  . ($mode eq 'index' ? 'VACUUM idle;' : ''));
		$rows .= "\n" . $random->sql("FETCH ALL FROM c;");
		my $back = $random->sql("FETCH BACKWARD ALL FROM c;\nCOMMIT;");
		is(join(' ', split(/\s+/, $rows)), join(' ', @expected), "$mode scan $order: all rows, once, though every leaf was split");
		is(join(' ', split(/\s+/, $back)), join(' ', reverse @expected), "$mode scan $order: and back");
	}
}

$random->finish(20, 'aggregate', 'index only', 'index', 'bitmap', 'backward', 'merge join', 'cursor, index',
	'parameter', 'large parameter', 'subquery');
