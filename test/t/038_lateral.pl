# Aggregates over a range for each outer row, as LATERAL and as scalar subqueries, give what core's
# plans give in the same snapshot: ranges of every form, keys of every type and across types,
# NULLs, inverted ranges, several subqueries in a query, expressions around them, views, WITH,
# joins, grouping, order, rescans, cursors, generic plans, little memory.
#
# Guards: lateral_plan.c's values and columns; of scalar subqueries, subquery_place.c's columns and
# expressions, subquery_tree.c's readings, subquery_exec.c.
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 20, settings => <<'CONF');
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
CONF
$random->use_device($_) foreach $random->devices;

# ---- tables ----

# The table t with an index on k, and the outer p with two columns of each type that t's key may be
# compared with; the small number g is there to group and correlate by.
my %value = gpb_values();
my $keytype;
my $domain;

sub number { return "floor(random() * $domain)::int4" }

# The names of p's columns: a1 and a2 are of the first type of the family, b1 and b2 of the second.
sub outer_columns { return map { ("${_}1", "${_}2") } qw(a b c) }

sub table_sql
{
	my $rows = pick(0, 300, 1000, 2000);
	my $null = pick(0, 0.05, 0.3);
	my $order = gpb_index_order();
	my $partial = chance(0.2) ? 'WHERE w IS NOT NULL' : '';

	return gpb_table_sql(
		name => 't',
		columns => "id serial, k $keytype, v int4, w int8",
		index => "CREATE INDEX t_k ON t USING gpubtree (k $order) INCLUDE (v, w) $partial;\n",
		load => "INSERT INTO t (k, v, w) SELECT CASE WHEN random() >= $null THEN "
		  . $value{$keytype}->(number()) . " END, CASE WHEN random() > 0.1 THEN floor(random() * 100)::int4 END, "
		  . "CASE WHEN random() > 0.1 THEN floor(random() * 1e12)::int8 END FROM generate_series(1, $rows);\n");
}

sub create_tables
{
	$keytype = pick(sort keys %value);
	$domain = pick(20, 400, 400, 5000);
	my @of = gpb_family($keytype);
	my $rows = pick(0, 1, 40, 200, 400);
	my @columns = outer_columns();
	my $sql = "SELECT setseed(" . rand() . ");\n" . table_sql()
	  . "DROP TABLE IF EXISTS p CASCADE;\nCREATE TABLE p (id serial, "
	  . join(', ', map { "$columns[$_] $of[$_ / 2]" } 0 .. 5) . ", g int4, n int4, s text);\n"
	  . 'INSERT INTO p (' . join(', ', @columns) . ', g, n, s) SELECT '
	  . join(', ', map { "CASE WHEN random() > 0.1 THEN " . $value{ $of[$_ / 2] }->(number()) . ' END' } 0 .. 5)
	  . ", floor(random() * 8)::int4, floor(random() * 100)::int4, CASE WHEN random() > 0.1 THEN repeat('outer ', floor(random() * 30)::int4) END "
	  . "FROM generate_series(1, $rows);\nCREATE INDEX p_id ON p (id);\n"
	  . ($keytype !~ /^int/
		? "INSERT INTO p (a1, a2, b1, b2, c1, c2, g, n) VALUES ('-infinity', 'infinity', '-infinity', 'infinity', '-infinity', 'infinity', 1, 1);\n"
		: "INSERT INTO p (a1, a2, b1, b2, c1, c2, g, n) VALUES (-32768, 32767, -2147483648, 2147483000, -9223372036854775808, 9223372036854775000, 1, 1);\n");
	$sql .= "ANALYZE p;\n" if chance(0.8);
	$sql .= "CREATE VIEW seen AS SELECT p.*, " . scalar_subquery() . " AS x, " . scalar_subquery() . " AS y FROM p;\n"
	  . "CREATE VIEW guarded WITH (security_barrier) AS SELECT id, g, " . scalar_subquery() . " AS x FROM p WHERE n > 10;\n";
	$random->sql($sql);
	return;
}

# ---- queries ----

# The beginning or the end of a range, over the columns of an outer row
sub bound
{
	my ($outer, $which) = @_;
	my $column = "$outer." . pick(qw(a b c)) . ($which // pick(1, 2));
	my $width = $keytype !~ /^int/ ? "interval '" . between(0, 40) . " days'" : between(0, 40);
	return $column if chance(0.6);
	return "$column + $width" if chance(0.4) && !($column =~ /\.a/);
	return "greatest($column, $outer.b1)" if chance(0.3) && $column =~ /\.b/;
	return 'NULL' if chance(0.03);
	return $value{$keytype}->(between(0, $domain)) if chance(0.2);
	return $column;
}

sub range
{
	my ($outer, $other) = @_;
	$other //= $outer;
	my ($lo, $hi) = (bound($outer, 1), bound($other, 2));
	my $range = pick(
		"t.k >= $lo AND t.k < $hi", "t.k >= $lo AND t.k < $hi", "t.k BETWEEN $lo AND $hi", "$lo < t.k AND $hi > t.k",
		"t.k > $lo AND t.k <= $hi", "t.k = $lo", "t.k < $hi", "t.k >= $lo",
		"t.k >= $lo AND t.k < $hi AND t.k < " . bound($outer), "t.k IS NOT NULL AND $lo <= t.k");
	$range .= ' AND t.w IS NOT NULL' if chance(0.2);
	return $range;
}

sub aggregate
{
	return pick('count(*)', 'count(*)', 'count(1)', 'sum(t.v)', 'sum(t.w)', 'avg(t.v)', 'avg(t.w)', 'min(t.v)',
		'max(t.w)', 'min(t.k)', 'max(t.k)', 'count(t.v)', 'count(t.k)');
}

# A scalar subquery over outer rows, with expressions inside and around it
sub scalar_subquery
{
	my ($outer, $other) = @_;
	$outer //= 'p';
	my $range = range($outer, $other);
	my $number = sub { pick('count(*)', 'sum(t.v)', 'max(t.v)', 'count(t.w)') };
	return "(SELECT " . aggregate() . " FROM t WHERE $range)" if chance(0.5);
	return pick(
		'coalesce((SELECT ' . $number->() . " FROM t WHERE $range), -1)",
		'(SELECT coalesce(' . $number->() . ', 0) + ' . $number->() . " FROM t WHERE $range)",
		'(SELECT ' . $number->() . " * $outer.n FROM t WHERE $range)",
		"$outer.n - (SELECT " . $number->() . " FROM t WHERE $range)",
		'greatest((SELECT ' . $number->() . " FROM t WHERE $range), $outer.n)",
		'(SELECT ' . aggregate() . " FROM t WHERE $range) IS NULL",
		"CASE WHEN $outer.g < 4 THEN (SELECT " . $number->() . " FROM t WHERE $range) ELSE $outer.n END",
		"coalesce($outer.n, (SELECT " . $number->() . " FROM t WHERE $range))",
		"ARRAY[(SELECT " . $number->() . " FROM t WHERE $range), $outer.n]");
}

# One or two columns of a LATERAL subquery
sub lateral
{
	my ($outer, $other) = @_;
	my $second = pick('count(*)', 'coalesce(sum(t.v), 0)', 'max(t.v) - min(t.v)', "sum(t.v) + $outer.n", 'avg(t.w)');
	return '(SELECT ' . aggregate() . ' AS x' . (chance(0.6) ? ", $second AS y" : ', count(*) AS y') . ' FROM t WHERE '
	  . range($outer, $other) . ')';
}

sub filter { return pick('p.n < 50', 'p.g = ' . between(0, 8), 'true', 'true', 'p.id % 3 <> 0') }

# Return a query's kind and its SQL.  "ordered" queries are compared in their order, the SQL of a
# "cursor" is that of its query, and "prepared" queries have a parameter $1.
sub random_query
{
	my $filter = filter();
	my $limit = pick(0, 1, 3, 40, 500);
	my $join = pick('CROSS JOIN LATERAL', ', LATERAL', 'JOIN LATERAL', 'LEFT JOIN LATERAL');
	my $on = $join =~ /^(LEFT )?JOIN/ ? 'ON true' : '';

	return pick(
		sub { ('rows', 'SELECT p.id, ' . scalar_subquery() . " FROM p WHERE $filter") },
		sub { ('rows', 'SELECT p.id, ' . scalar_subquery() . ', ' . scalar_subquery() . ', ' . scalar_subquery() . " FROM p WHERE $filter") },
		sub { my $range = range('p'); ('rows', "SELECT id, (SELECT count(*) FROM t WHERE $range), coalesce((SELECT sum(v) FROM t WHERE $range), 0), (SELECT max(k) FROM t WHERE $range) FROM p") },
		sub { ('rows', "SELECT p.id, s.x, s.y FROM p $join " . lateral('p') . " s $on WHERE $filter") },
		sub { ('rows', "SELECT p.id, s.y, u.x FROM p $join " . lateral('p') . " s $on $join " . lateral('p') . " u $on WHERE $filter") },
		sub { ('rows', "SELECT p.id, s.x FROM p $join " . lateral('p') . " s $on WHERE " . pick('s.y > p.n', 's.y > 3', 's.y IS NOT NULL', 's.x IS NULL AND s.y = p.g', 's.* IS NOT NULL', 's.y NOT IN (SELECT n FROM p q WHERE q.g = 3)')) },
		sub { ('rows', 'SELECT p.id, s.x FROM p CROSS JOIN LATERAL (SELECT count(*) AS n, sum(t.v) AS x FROM t WHERE ' . range('p') . ' HAVING ' . pick('count(*) > 3', 'sum(t.v) > p.n * 10', 'count(*) > 2 AND p.g < 4', 'p.g < 4') . ') s') },
		sub { ('rows', 'SELECT p.id, q.id, s.x FROM p CROSS JOIN LATERAL (SELECT count(*) AS n, sum(t.v) AS x FROM t WHERE ' . range('p') . ') s JOIN p q ON q.id = s.n') },
		sub { ('rows', 'SELECT p.id FROM p WHERE ' . scalar_subquery() . pick(' IS NULL', ' IS NOT NULL') . pick('', " AND $filter", ' AND ' . scalar_subquery() . ' IS NOT NULL')) },
		sub { ('rows', 'SELECT p.g, count(*) FROM p GROUP BY p.g HAVING (SELECT count(*) FROM t WHERE t.k >= min(p.b1) AND t.k < max(p.b2)) ' . pick('> 3', '>= count(*)')) },
		sub { ('rows', 'SELECT p.g, (SELECT sum(t.v) FROM t WHERE t.k >= min(p.b1) AND t.k < max(p.b2)), max(p.n) FROM p GROUP BY p.g') },
		sub { ('rows', 'SELECT p.g, sum((SELECT count(*) FROM t WHERE ' . range('p') . ')) FROM p JOIN p q USING (id) GROUP BY ' . pick('p.g', 'ROLLUP (p.g)')) },
		sub { ('rows', 'SELECT p.id, rank() OVER (ORDER BY p.id), ' . scalar_subquery() . " FROM p WHERE $filter") },
		sub { ('rows', 'SELECT DISTINCT ON (p.g) p.g, ' . scalar_subquery() . ' FROM p ORDER BY p.g, p.id') },
		sub { ('rows', 'SELECT p.id, q.x FROM p JOIN LATERAL (SELECT ' . scalar_subquery('p') . ' AS x OFFSET 0) q ON true WHERE p.id < 50') },
		sub { ('rows', 'SELECT p.id, ' . scalar_subquery() . ' FROM p WHERE p.id IN (SELECT q.n FROM p q) AND ' . scalar_subquery() . ' IS NOT NULL') },
		sub { ('rows', 'SELECT p.id, (WITH w AS (SELECT q.id, ' . scalar_subquery('q') . ' AS x FROM p q WHERE q.g = p.g) SELECT max(x::text) FROM w) FROM p WHERE p.id < 40') },
		sub { ('rows', 'SELECT id, x FROM seen WHERE ' . pick('x IS NOT NULL', 'y IS NULL', 'x IS NOT NULL AND g = 3')) },
		sub { ('rows', 'SELECT p.id, s.x FROM p LEFT JOIN LATERAL ' . lateral('p') . ' s ON s.y > p.n') },
		sub { ('rows', "SELECT p.id, q.id, s.y FROM p JOIN p q ON q.id = p.n $join " . lateral('p', 'q') . " s $on") },
		sub { ('rows', "SELECT p.id, q.id, s.y FROM p LEFT JOIN p q ON q.id = p.id + 7 $join " . lateral('q', pick('p', 'q')) . " s $on") },
		sub { ('rows', 'SELECT p.id, q.g, ' . scalar_subquery('q') . ', ' . scalar_subquery('p', 'q') . " FROM p LEFT JOIN p q ON q.id = p.n AND q.g < 5 WHERE $filter") },
		sub { ('rows', 'SELECT p.id, ' . scalar_subquery() . ' FROM p FULL JOIN p q ON q.id = p.id + 3 WHERE p.g < 3') },
		sub { ('rows', 'SELECT p.id, ' . scalar_subquery() . ' FROM p WHERE EXISTS (SELECT 1 FROM p q WHERE q.g = p.n)') },
		sub { ('rows', 'SELECT x.id, y.x FROM p x LEFT JOIN seen y ON y.id = x.id + 5') },
		sub { ('rows', 'SELECT ' . pick('*', 'id, y', 'x', 'id', 'x, x', 'x IS NULL') . ' FROM seen p WHERE ' . $filter) },
		sub { ('rows', 'SELECT * FROM ' . pick('guarded', 'guarded WHERE g = 3', 'guarded WHERE x IS NOT NULL')) },
		sub { ('rows', 'SELECT x, count(*), sum(n) FROM seen GROUP BY x') },
		sub { ('rows', 'SELECT g, count(x), max(y::text) FROM seen GROUP BY g') },
		sub { ('rows', 'SELECT g, sum((SELECT count(*) FROM t WHERE ' . range('p') . ')), count(' . scalar_subquery() . ') FROM p GROUP BY g HAVING count(' . scalar_subquery() . ') >= 0') },
		sub { ('rows', 'SELECT max((SELECT sum(v) FROM t WHERE ' . range('p') . ')) FROM p WHERE ' . $filter) },
		sub { ('rows', 'SELECT DISTINCT ' . scalar_subquery() . ' FROM p') },
		sub { ('rows', 'SELECT id, (SELECT count(*) FROM t WHERE ' . range('p') . ') FROM p UNION ' . pick('ALL', '')
				  . ' SELECT g, (SELECT sum(v) FROM t WHERE ' . range('p') . ') FROM p') },
		sub { ('rows', 'WITH w AS ' . pick('', 'MATERIALIZED') . ' (SELECT p.id, ' . scalar_subquery() . " AS x FROM p WHERE $filter) SELECT " . pick('w.* FROM w', 'w.x, u.x FROM w JOIN w u ON u.id = w.id + 1', 'id FROM w')) },
		sub { ('rows', 'SELECT id, x FROM (SELECT p.id, p.g, ' . scalar_subquery() . ' AS x FROM p OFFSET 0) s WHERE g > 2') },
		sub { ('ordered', 'SELECT p.id, ' . scalar_subquery() . ' FROM p ORDER BY p.id ' . pick('', 'DESC')) },
		sub { ('ordered', 'SELECT p.id, s.y FROM p LEFT JOIN LATERAL ' . lateral('p') . " s ON true ORDER BY p.id LIMIT $limit") },
		sub { ('ordered', 'SELECT p.id, ' . scalar_subquery() . " FROM p ORDER BY p.id LIMIT $limit OFFSET " . between(0, 20)) },
		sub { ('ordered', 'SELECT p.id, ' . scalar_subquery() . " FROM p WHERE " . scalar_subquery() . " IS NOT NULL ORDER BY p.id LIMIT $limit") },
		sub { ('ordered', 'SELECT id, x FROM seen ORDER BY id' . pick('', ' LIMIT 5')) },
		sub { ('ordered', 'SELECT p.id FROM p ORDER BY ' . scalar_subquery() . ', p.id') },
		# These are rescanned with a parameter of the query around them, in the outer plan or in
		# the range.
		sub { ('rows', 'SELECT o, (SELECT count(x) FROM (SELECT ' . scalar_subquery() . ' AS x FROM p WHERE p.g = o) s) FROM generate_series(0, 5) o') },
		sub { ('rows', 'SELECT o.id, s.* FROM p o CROSS JOIN LATERAL (SELECT q.id, ' . scalar_subquery('q', 'o') . ' FROM p q WHERE q.g = o.g AND q.id < 20) s WHERE o.id < 40') },
		sub { ('rows', 'SELECT o.id, s.* FROM p o CROSS JOIN LATERAL (SELECT q.id, r.x FROM p q CROSS JOIN LATERAL ' . lateral('q', 'o') . ' r WHERE q.g = o.g AND q.id < 20 OFFSET 0) s WHERE o.id < 40') },
		sub { ('rows', 'SELECT o, s.id, u.y FROM generate_series(0, 5) o CROSS JOIN LATERAL (SELECT * FROM p WHERE p.g = o OFFSET 0) s CROSS JOIN LATERAL ' . lateral('s') . ' u') },
		sub { ('prepared', 'SELECT p.id, ' . scalar_subquery() . ', (SELECT sum(t.v) FROM t WHERE t.k > ' . bound('p', 1) . ' AND t.k <= $1) FROM p WHERE ' . $filter) },
		sub { ('prepared', 'SELECT p.id, s.* FROM p CROSS JOIN LATERAL (SELECT count(*), min(t.k) FROM t WHERE t.k >= p.b1 AND t.k < $1 AND ' . range('p') . ') s') },
		sub { ('cursor', 'SELECT p.id, ' . scalar_subquery() . ' FROM p ORDER BY p.id') },
		sub { ('cursor', 'SELECT p.id, s.x FROM p CROSS JOIN LATERAL ' . lateral('p') . ' s ORDER BY p.id') })->();
}

# ---- running a query ----

# Settings.  In mode "ours" core's plans are priced out, so that ours is taken where it can be; in
# mode "stock" ours is switched off.
sub mode_sql
{
	my ($mode) = @_;
	my $ours = $mode eq 'ours';
	my $sql = 'SET LOCAL work_mem = \'' . ($ours ? pick(qw(64kB 256kB 4MB)) : '4MB') . "';\n";
	$sql .= "SET LOCAL gpubtree.$_ = " . ($ours ? 'on' : 'off') . ";\n" foreach qw(enable_rangeaggregate enable_subquery);
	# This prices out core's nested loops in LATERAL queries.
	$sql .= 'SET LOCAL enable_nestloop = ' . ($ours && chance(0.9) ? 'off' : 'on') . ";\n";
	# This prices out core's SubPlans.
	$sql .= 'SET LOCAL cpu_index_tuple_cost = ' . ($ours && chance(0.8) ? '10' : '0.005') . ";\n";
	$sql .= 'SET LOCAL enable_sort = ' . ($ours && chance(0.5) ? 'off' : 'on') . ";\n";
	$sql .= 'SET LOCAL gpubtree.enable_device = ' . (chance(0.5) ? 'on' : 'off') . ";\n";
	$sql .= 'SET LOCAL max_parallel_workers_per_gather = ' . ($ours && chance(0.2) ? 2 : 0) . ";\n";
	$sql .= "SET LOCAL gpubtree.batch_setup_cost = " . pick(0, 0, 100) . ";\n";
	return $sql;
}

sub answer_sql
{
	my ($kind, $query, @arguments) = @_;

	return 'SET LOCAL plan_cache_mode = ' . pick('force_generic_plan', 'force_custom_plan') . ";\n"
	  . gpb_prepared_sql($keytype, gpb_digest_sql($query), @arguments) if $kind eq 'prepared';
	return gpb_answer_sql($kind, $query, @arguments);
}

sub compare_query
{
	my ($kind, $query) = random_query();
	my $isolation = gpb_isolation();
	my @arguments = $kind eq 'prepared'
	  ? ($value{$keytype}->(between(0, $domain)), 'NULL', $value{$keytype}->(between(0, $domain)))
	  : gpb_moves();
	my $settings = mode_sql('ours');
	my $plan = $random->compare(
		query => $query,
		isolation => $isolation,
		stock => mode_sql('stock') . answer_sql($kind, $query, @arguments),
		settings => $settings,
		answer => answer_sql($kind, $query, @arguments),
		explain => $kind eq 'prepared'
		? "PREPARE q ($keytype) AS $query;\nEXPLAIN (COSTS OFF) EXECUTE q ($arguments[0]);\nDEALLOCATE q;\n"
		: "EXPLAIN (COSTS OFF) $query;\n");
	my $node = qr/Gpubtree(?:RangeAggregate|Subquery)/;

	$random->saw($plan =~ $node ? "$kind, ours" : 'not ours');
	$random->saw('several') if $plan =~ /$node.*(?:$node|Answers.*Answers)/s;
	return;
}

foreach my $round (1 .. $random->rounds)
{
	create_tables();
	last unless $random->round("round $round: ranges of $keytype keys agree", 80, \&compare_query);
}
my @plans = ('rows, ours', 'ordered, ours', 'prepared, ours', 'cursor, ours', 'several');
$random->go_on_until_seen(20, 20, sub { create_tables(); compare_query() foreach (1 .. 80) }, @plans);
$random->finish(20, @plans);
