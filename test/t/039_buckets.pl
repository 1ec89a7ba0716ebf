# Aggregates by buckets of a key are what core makes of the same rows: every bucket function and
# unit, time zones with all their changes, origins, negative numbers, keys of every type, infinite
# and out of the function's range, NULLs, duplicates, gaps and deleted rows, descending indexes,
# HAVING, ORDER BY, LIMIT, parameters, views, rescans and cursors; filters, FILTER, expressions and
# further groups, also more than memory holds; and where core raises an error there is one here.
# And beside writers a snapshot stays what it is.  The same with an index of several key columns,
# whose columns before that of the buckets have one value each.
#
# Guards: bucket_cut.c's ends of buckets and its look at the order, bucket_batch.c's sorting,
# zone.c, bucket_store.c; ordered_column.c's parting of NULLs.
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 16, devices => [ 'host', 'off' ], settings => "timezone = 'UTC'\n");
my $node = $random->node;

# answer() returns all rows as one text, or says that there was an error in the data: which row
# raises an error first, and so which error it is, depends on the plan.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(q::text, '';'')), ''-'') FROM (%s) q', query) INTO result;
	RETURN result;
EXCEPTION WHEN data_exception OR feature_not_supported THEN
	RETURN 'ERROR';
END $$;
CREATE FUNCTION offset_of(at timestamptz, zone text) RETURNS interval LANGUAGE sql AS $$
	SELECT (at AT TIME ZONE zone) - (at AT TIME ZONE 'UTC')
$$;
CREATE TABLE zones (zone text PRIMARY KEY, changes timestamptz[]);
-- one of a few changes, so that there are many keys around each
CREATE FUNCTION change_of(name text, which int) RETURNS timestamptz LANGUAGE sql AS $$
	SELECT coalesce(changes[1 + mod(which + 7 * floor(random() * 6)::int, greatest(cardinality(changes), 1))], '2000-01-01')
	FROM zones WHERE zone = name
$$;
SQL

# ---- zones ----

# Zones whose offset changes over midnight, by half hours, by days, or changed long ago; and all
# zones
my @odd_zones = qw(America/St_Johns Australia/Lord_Howe Pacific/Apia America/Sao_Paulo Asia/Beirut Africa/Monrovia
  America/Havana Asia/Manila America/Scoresbysund Antarctica/Troll Europe/Berlin America/New_York Atlantic/Azores
  Asia/Kathmandu Africa/Cairo America/Juneau Europe/Dublin America/Godthab);
my @all_zones = split(/\n/, $node->safe_psql('postgres',
	q{SELECT name FROM pg_timezone_names WHERE name NOT LIKE 'posix/%' AND name NOT LIKE 'right/%' AND name <> 'localtime' ORDER BY name}));
# Not every system has the old names.
my %is_known = map { $_ => 1 } @all_zones;
@odd_zones = grep { $is_known{$_} } @odd_zones;
cmp_ok(scalar(@odd_zones), '>=', 12, 'time zones with changes of many kinds');
my $zone;

sub choose_zone
{
	$zone = pick(pick(@odd_zones), pick(@odd_zones), pick(@all_zones), 'XYZ-3:20', 'AAA+5BBB,M3.2.0/0:01,M11.1.0/0:01');
	$random->sql(<<"SQL");
INSERT INTO zones SELECT '$zone', coalesce(array_agg(d), '{}') FROM generate_series(timestamptz '1900-01-01 UTC', '2040-01-01 UTC', '1 day') d
	WHERE offset_of(d, '$zone') <> offset_of(d + interval '1 day', '$zone')
	HAVING NOT EXISTS (SELECT 1 FROM zones WHERE zone = '$zone');
SQL
	return;
}

# ---- tables ----

my $keytype;
my $spread;
my $which_changes;

# An expression whose values are distributed in one of several ways
sub value_sql
{
	my $n = "floor(random() * $spread)::int8";
	return pick("($n - $spread / 2)::$keytype", "($n / 10 * 7 - 50)::$keytype") if $keytype =~ /^int/;
	return pick(
		"(date '2020-01-01' + ($n)::int4)", "(date '0020-01-01 BC' + ($n * 5)::int4)",
		"(change_of('$zone', $which_changes)::date + floor(random() * 7)::int4 - 3)")
	  if $keytype eq 'date';
	return pick(
		"($keytype '2021-02-20' + $n * interval '1 minute')", "($keytype '2021-02-20' + $n * interval '7.13 seconds')",
		"($keytype '1960-01-01' + $n * interval '13 hours 7 minutes')", "($keytype '0005-01-01 BC' + $n * interval '3 days')")
	  if $keytype eq 'timestamp' || chance(0.3);
	return "(change_of('$zone', $which_changes) + floor(random() * 2880) * interval '1 minute' - interval '12 hours')";
}

my %far = (
	int2 => [ -32768, 32767 ],
	int4 => [ -2147483648, 2147483647 ],
	int8 => [ '-9223372036854775808', '9223372036854775807', '-9223372036854775000' ],
	date => [ "'infinity'", "'-infinity'", "'4714-11-24 BC'", "'5874897-12-31'", "'294277-01-01'", "'2150-03-03'" ],
	timestamp => [ "'infinity'", "'-infinity'", "'4714-11-24 BC'", "'294276-12-31 23:59:59.999999'", "'4000-01-01 BC'", "'9999-12-31'" ],
	timestamptz => [ "'infinity'", "'-infinity'", "'4714-11-24 00:00 BC UTC'", "'294276-12-31 23:59:59.999999 UTC'", "'9999-12-31'", "'2150-06-06'" ]);

# With $several the index has columns before k, and perhaps one behind it.
my $several = 0;
my $two_before;			# two columns are before it: q and p

sub index_columns
{
	my ($order) = @_;

	return "k $order" unless $several;
	$two_before = chance(0.3);
	return ($two_before ? 'q DESC, ' : '') . 'p ' . gpb_index_order() . ", k $order" . ($two_before ? '' : pick('', '', ', r'));
}

# A condition that gives a value to each column before k
sub prefix
{
	my $p = pick('p = ' . between(0, 3), between(0, 3) . '::int8 = p', 'p = (SELECT ' . between(0, 2) . ')', 'p IS NULL', 'p = 1 AND p >= 1');
	return $two_before ? "$p AND q = 1" : $p;
}

sub create_table
{
	my ($wanted) = @_;

	$keytype = $wanted // pick(qw(int2 int4 int8 date timestamp timestamp timestamptz timestamptz timestamptz));
	$spread = pick(30, 3000, 20000, 20000);
	$which_changes = between(0, 300);
	choose_zone();
	my $rows = pick(0, 1, 50, 1500, 4000);
	my $null = pick(0, 0, 0.02, 0.5);
	my $order = pick('', '', '', 'NULLS FIRST', 'DESC', 'DESC NULLS LAST');
	my $include = pick('INCLUDE (v)', 'INCLUDE (v, f)', 'INCLUDE (w, v)', 'INCLUDE (w, v, f)');
	my $values = 'CASE ' . join(' ', map { "WHEN random() < 0.5 THEN " . value_sql() } 1 .. between(1, 3)) . ' ELSE ' . value_sql() . ' END';
	my $load = <<"SQL";
INSERT INTO t SELECT CASE WHEN random() >= $null THEN $values END,
	CASE WHEN random() > 0.1 THEN floor(random() * 100)::int4 END, floor(random() * 1000000)::int8,
	CASE WHEN random() > 0.1 THEN floor(random() * 1000) / 4 END
FROM generate_series(1, $rows) i;
SQL
	my $far_rows = sub {
		my $rows = '';

		foreach my $far (@{ $far{$keytype} })
		{
			$rows .= "INSERT INTO t SELECT $far, n, n FROM generate_series(1, 3) n;\n" if chance(0.06);
			$rows .= "INSERT INTO t VALUES ($far, 1, 1);\nDELETE FROM t WHERE k = $far;\n" if chance(0.06);
		}
		return $rows;
	};
	my $sql = "SET timezone = 'UTC';\nSELECT setseed(" . rand() . ");\n"
	  . gpb_table_sql(
		name => 't',
		columns => "k $keytype " . ($null == 0 && chance(0.5) ? 'NOT NULL' : '') . ', v int4, w int8, f float8'
		  . ($several ? ', p int4 DEFAULT nullif(floor(random() * 4)::int4, 3), q int2 NOT NULL DEFAULT (random() < 0.9)::int4, r int2 DEFAULT floor(random() * 5)' : ''),
		fillfactor => 60,
		index => "CREATE INDEX t_k ON t USING gpubtree (" . index_columns($order) . ") $include;\n",
		load => $load,
		after => $far_rows,
		changes => [
			"UPDATE t SET v = v + 1 WHERE w % 5 = 0;\n", "DELETE FROM t WHERE w % 3 = 0;\n",
			"DELETE FROM t WHERE k > (SELECT min(k) FROM t) AND k < (SELECT max(k) FROM t WHERE v < 50);\n",
			"BEGIN;\nDELETE FROM t;\nROLLBACK;\n" ]);
	$sql .= "CREATE VIEW b AS SELECT * FROM t WHERE k IS NOT NULL;\n";
	$random->sql($sql);
	return;
}

# ---- queries ----

# An argument of a bucket function: a constant, or now and then a parameter of a prepared statement
my @parameters;

sub argument
{
	my ($value, $type) = @_;
	return $value if chance(0.7);
	push @parameters, "($value)::$type";
	return '$' . scalar(@parameters) . "::$type";
}

sub unit
{
	my $unit = pick(qw(microseconds milliseconds second minute hour hour day day week month month quarter year decade century millennium));
	$unit = pick('Hours', 'fortnight', 'timezone', 'dow') if chance(0.04);
	return argument(chance(0.02) ? 'NULL::text' : "'$unit'", 'text');
}

sub stride
{
	my $stride = pick('1 second', '15 minutes', '1 hour 7 seconds', '1 day', '10 days 3 hours', '400 days');
	$stride = pick('1 month', '-1 hour', '0', '2000000 days', '0.000001 seconds') if chance(0.06);
	return argument("interval '$stride'", 'interval');
}

sub bin
{
	my ($type) = @_;
	my $origin = pick('2000-01-01', '2021-02-28 00:07:30', '2022-10-10', '1900-05-05 05:05:05');
	$origin = pick('infinity', '4713-06-01 BC', '294276-06-30') if chance(0.05);
	return 'date_bin(' . stride() . ', k, ' . argument("$type '$origin'", $type) . ')';
}

sub divisor
{
	my $n = pick(1, 2, 3, 7, 10, 100, 1000, 30000);
	$n = pick(-1, -7, 0, 'NULL') if chance(0.08);
	my $type = pick(qw(int2 int4 int8));
	return argument("($n)::$type", $type);
}

sub zone { return argument("'" . (chance(0.75) ? $zone : pick(@odd_zones, @odd_zones, 'EST', 'MSK', 'UTC', 'Atlantis')) . "'", 'text') }

sub any_bucket
{
	return pick('k / ' . divisor(), 'k / ' . divisor(), 'k / ' . divisor() . ' / ' . divisor(), 'k::int8 / ' . divisor()) if $keytype =~ /^int/;
	return pick('date_trunc(' . unit() . ', k)', 'date_trunc(' . unit() . ', k::timestamp)', 'date_trunc(' . unit() . ', k::timestamptz, ' . zone() . ')',
		'k::timestamptz', 'k::timestamptz::date') if $keytype eq 'date';
	return pick('date_trunc(' . unit() . ', k)', 'date_trunc(' . unit() . ', k)', 'date_trunc(' . unit() . ', k)::date', bin('timestamp'), 'k::date')
	  if $keytype eq 'timestamp';
	return pick('date_trunc(' . unit() . ', k)', 'date_trunc(' . unit() . ', k)', 'date_trunc(' . unit() . ', k, ' . zone() . ')',
		'date_trunc(' . unit() . ', k AT TIME ZONE ' . zone() . ')', '(k AT TIME ZONE ' . zone() . ')::date', bin('timestamptz'), 'k::date',
		'k AT TIME ZONE ' . zone());
}

# Return one bucket expression; any_bucket() has made several, and the parameters of the others are
# forgotten.
sub bucket
{
	my $bucket = any_bucket();
	my @all = @parameters;

	@parameters = ();
	$bucket =~ s/\$(\d+)/push @parameters, $all[$1 - 1]; '$' . scalar(@parameters)/ge;
	return $bucket;
}

sub key_value
{
	return '(SELECT k FROM t WHERE k IS NOT NULL ORDER BY k OFFSET ' . between(0, 1500) . ' LIMIT 1)' if chance(0.6);
	return between(-20000, 20000) if $keytype =~ /^int/;
	return "$keytype '" . pick('2021-02-25', '2021-11-07', '1987-04-05', '0001-01-01', '2000-01-01', '-infinity', 'infinity') . "'";
}

sub condition
{
	return pick('true', 'true', 'true', 'k IS NOT NULL', 'k >= ' . key_value(), 'k < ' . key_value(), 'k IS NULL',
		'k BETWEEN ' . key_value() . ' AND ' . key_value(), 'k > ' . key_value() . ' AND k <= ' . key_value());
}

# A condition that is no range of the key; it comes behind those that are, as an index scan would
# test it
sub filter
{
	return pick('v = ' . between(0, 99), 'v < ' . between(0, 99), 'v IN (1, 5, 50, 88)', 'v IS NULL', 'v % 3 = 1', 'f > 100', 'f < v', 'v > 20 AND f < 200', 'v = 3 OR f > 245',
		'v > 1000', 'coalesce(v, 7) = 7', 'w % 2 = 0', 'v <> 0 AND 1000 / v > 20') unless chance(0.1);
	return pick('1000 / v > 20', 'v > 5 / (SELECT 0)', 'v > 5 / (SELECT 0)');
}

# Expressions to group by beside the bucket
sub groups
{
	return pick('v % 3', 'v', 'v > 50', 'coalesce(v, -1) / 10, v IS NULL', 'v % 5, v / 50', 'w % 4', 'w, v', 'least(v, 7)');
}

sub aggregates
{
	return pick('count(*) FILTER (WHERE v > 50)', 'sum(v * 2), count(f)', 'sum(f), avg(f)', 'min(f), max(f) FILTER (WHERE v < 50)', 'sum(CASE WHEN v > 10 THEN v END), avg(v + 1)',
		'bool_and(v > 5), bit_or(v), stddev(v)') if chance(0.4);
	return pick('count(*)', 'count(*), sum(v)', 'count(v), avg(v), max(v)', 'min(k), max(k), count(k)', 'sum(v), min(k)', 'max(v) - min(v) + 1, sum(v) * 2');
}

# Return a query and its kind.  Where few rows are wanted, core may end before it comes to the row
# that raises an error: the kind is "errors late".
sub random_query
{
	@parameters = ();
	my $from = chance(0.1) ? 'b' : 't';
	my $where = condition();
	my $bucket = bucket();
	my $having = chance(0.2) ? 'HAVING ' . pick('count(*) > 3', 'sum(v) % 2 = 0', "min(v) < 20 OR $bucket IS NULL") : '';
	my $direction = pick('', '', 'DESC', 'NULLS FIRST', 'DESC NULLS LAST');
	my $aggregates = aggregates();
	my $groups = chance(0.4) ? ', ' . groups() : '';
	$where = prefix() . " AND $where" if $several && chance(0.9);
	$where .= ' AND ' . filter() if chance(0.4);
	my $core = "SELECT $bucket AS g, $aggregates$groups FROM $from WHERE $where GROUP BY 1$groups $having";
	my $order = "ORDER BY 1 $direction$groups";
	my @kinds = (
		sub { ("$core $order", '') },
		sub { ("$core $order", '') },
		sub { ("$core $order LIMIT " . pick(1, 3, 40, 150) . (chance(0.3) ? ' OFFSET 7' : ''), 'errors late') },
		sub { ("SELECT * FROM ($core) q ORDER BY g" . ($groups eq '' ? '' : ', q::text'), '') },
		sub { ("SELECT $bucket FROM $from WHERE $where GROUP BY $bucket ORDER BY 1", '') },
		sub { ("SELECT g, sum(count) OVER (ORDER BY g) FROM (SELECT $bucket AS g, count(*) FROM $from WHERE $where GROUP BY 1) q ORDER BY 1", '') });

	push @kinds, sub { ("SELECT o, x.* FROM generate_series(1, 3) o CROSS JOIN LATERAL (SELECT $bucket AS g, $aggregates FROM t WHERE $where AND (o < 3) GROUP BY 1 $having) x ORDER BY o, g", '') },
	  sub { ("SELECT o, x.* FROM (SELECT DISTINCT k AS o FROM t WHERE v = 7 ORDER BY 1 LIMIT 4) o LEFT JOIN LATERAL (SELECT $bucket AS g, $aggregates FROM t WHERE k >= o GROUP BY 1) x ON true ORDER BY o, g", '') },
	  sub { ("SELECT n, x.* FROM (VALUES (1), (10), (100)) n(n) CROSS JOIN LATERAL (SELECT k / n AS g, count(*), sum(v) FROM t GROUP BY 1) x ORDER BY n, g", '') }
	  if @parameters == 0 && $keytype =~ /^int/;
	push @kinds, sub { ("SELECT n, x.* FROM (VALUES ('hour'), ('month'), ('day')) n(n) CROSS JOIN LATERAL (SELECT date_trunc(n, k) AS g, count(*), sum(v) FROM t GROUP BY 1) x ORDER BY n, g", '') }
	  if @parameters == 0 && $keytype !~ /^int/;
	return pick(@kinds)->();
}

# Return a query whose program gives up, most often, where core raises no error: a constant is in
# error that core needs for no row, or the groups of several ranges make one bucket.  Nothing above
# the groups wants them in order, since a server that counts disabled nodes would take a sort below
# the groups for a sort above them, and choose by the price.
sub given_up_query
{
	@parameters = ();
	my $core = 'SELECT ' . (chance(0.5)
		? "date_trunc('month', k) AS g, count(*), sum(v) FROM t WHERE k > (SELECT max(k) FROM t) AND v > 5 / (SELECT 0) GROUP BY 1"
		: "date_trunc('hour', k AT TIME ZONE '" . pick($zone, @odd_zones) . "') AS g, count(*), sum(v), v % 3 FROM t WHERE " . condition() . " GROUP BY 1, 4");
	return ("SELECT count(*), sum(hashtext(q::text)) FROM ($core) q", '');
}

# ---- running a query ----

sub mode_sql
{
	my ($ours) = @_;
	my $sql = "SET gpubtree.enable_bucketaggregate = " . ($ours ? 'on' : 'off') . ";\nSET gpubtree.enable_aggregate = off;\n";
	$sql .= "SET $_ = " . ($ours ? 'off' : 'on') . ";\n" foreach qw(enable_hashagg enable_sort);
	$sql .= 'SET gpubtree.enable_device = ' . (chance(0.6) ? 'on' : 'off') . ";\n";
	$sql .= 'SET gpubtree.batch_setup_cost = ' . pick(0, 0, 100) . ";\nSET work_mem = '" . pick(qw(64kB 4MB)) . "';\n";
	return $sql;
}

sub compare_query
{
	my ($query, $kind) = @_ ? @_ : random_query();
	my $isolation = gpb_isolation();
	my $session_zone = chance(0.7) ? $zone : pick(@odd_zones);
	my $run = "SELECT answer(\$query\$$query\$query\$);\n";
	my $explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query;\n";
	my $prepare = '';

	if (@parameters)
	{
		$prepare = "SET plan_cache_mode = " . pick('force_generic_plan', 'force_generic_plan', 'force_custom_plan') . ";\nDEALLOCATE ALL;\nPREPARE p AS $query;\n";
		$run = "SELECT answer_prepared(\$query\$EXECUTE p (" . join(', ', @parameters) . ")\$query\$);\n";
		$explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE p (" . join(', ', @parameters) . ");\n";
	}
	my $ours = mode_sql(1);
	my ($theirs, $mine, $errors) = $random->run_parts($isolation,
		"SET LOCAL timezone = '$session_zone';\n" . mode_sql(0) . $prepare . $run, $ours . $prepare . $run);
	my $error = $theirs =~ /^ERROR/;
	my $plan = $error ? '' : $random->sql("SET timezone = '$session_zone';\n$ours$prepare$explain");

	$random->saw('errors') if $error;
	if ($plan =~ /GpubtreeBucketAggregate/)
	{
		$random->saw('ours, ' . ($plan =~ /Ranges Sorted: 0/ ? 'in order' : 'sorted'));
		$random->saw("ours of $keytype");
		$random->saw('below a prefix, ' . ($plan =~ /Ranges Sorted: 0/ ? 'in order' : 'sorted')) if $several && $plan =~ /Index Cond: .*p\b/;
		$random->saw('parameters') if @parameters;
		$random->saw('filters') if $plan =~ /^ *Filter: .*(v|f|w)\b/m;
		$random->saw('further groups') if $plan =~ /Group Key: .*, /;
		$random->saw('halved') if $plan =~ /Batches Halved/;
		$random->saw('gave up') if $plan =~ /Gave Up/;
	}
	$random->saw('no sort above') if $plan =~ /^Custom Scan \(GpubtreeBucketAggregate/ && $query =~ /ORDER BY/;
	return if $errors eq '' && ($theirs eq $mine || ($error && $kind eq 'errors late'));
	$random->mismatch("differs ($isolation, $keytype, $session_zone): $query (@parameters)\n$ours\nstock: $theirs\nours: $mine\n$plan\n$errors");
	return;
}

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION answer_prepared(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line record;
	result text := '';
	n int := 0;
BEGIN
	FOR line IN EXECUTE statement LOOP
		result := md5(result || line::text);
		n := n + 1;
	END LOOP;
	RETURN n || ' ' || result;
EXCEPTION WHEN data_exception OR feature_not_supported THEN
	RETURN 'ERROR';
END $$;
SQL

# Readers keep a snapshot and compare, while others insert, delete, move rows and vacuum.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE busy (k timestamptz, v int) WITH (fillfactor = 80);
CREATE INDEX busy_k ON busy USING gpubtree (k) INCLUDE (v);
INSERT INTO busy SELECT timestamptz '1999-10-20 UTC' + i * interval '1 minute', i FROM generate_series(1, 20000) i;
VACUUM ANALYZE busy;
CREATE FUNCTION compare_busy(query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	plain text;
BEGIN
	PERFORM set_config('enable_hashagg', 'off', true), set_config('enable_sort', 'off', true);
	ours := answer(query);
	PERFORM set_config('gpubtree.enable_bucketaggregate', 'off', true);
	plain := answer(query);
	PERFORM set_config('gpubtree.enable_bucketaggregate', 'on', true);
	IF ours IS DISTINCT FROM plain THEN
		RAISE '%: %, should be %', query, ours, plain;
	END IF;
END $$;
SQL

sub beside_writers
{
	my ($device) = @_;

	$node->pgbench(
		'-n -c 4 -t 150 --random-seed=' . $random->seed, 0,
		[qr/processed: (\d+)\/\1/], [qr/^pgbench: setting random seed to \d+$/],
		"device $device: buckets equal core's beside writers",
		{   "$device-buckets\@50" => <<'SQL',
\set a random(0, 18000)
\set w random(100, 9000)
\set cost random(0, 1)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL gpubtree.batch_setup_cost = :cost;
SET LOCAL timezone = 'America/St_Johns';
SELECT compare_busy(format($$SELECT date_trunc('hour', k) AS b, count(*), sum(v) FROM busy WHERE k >= timestamptz '1999-10-20 UTC' + interval '%s minutes' AND k < timestamptz '1999-10-20 UTC' + interval '%s minutes' GROUP BY 1 ORDER BY 1$$, :a, :a + :w));
SELECT compare_busy($$SELECT date_trunc('day', k) AS b, count(*), sum(v), max(v) FROM busy GROUP BY 1 ORDER BY 1$$);
COMMIT;
SQL
			"$device-insert\@20" => <<'SQL',
\set a random(1, 20000)
INSERT INTO busy SELECT timestamptz '1999-10-20 UTC' + (:a + i) * interval '1 minute', i FROM generate_series(1, 20) i;
SQL
			"$device-delete\@15" => <<'SQL',
\set a random(1, 20000)
DELETE FROM busy WHERE k BETWEEN timestamptz '1999-10-20 UTC' + :a * interval '1 minute' AND timestamptz '1999-10-20 UTC' + (:a + 300) * interval '1 minute';
SQL
			"$device-move\@10" => <<'SQL',
\set a random(1, 20000)
UPDATE busy SET k = CASE WHEN v % 3 > 0 THEN k + interval '3 days' END, v = v + 1 WHERE k BETWEEN timestamptz '1999-10-20 UTC' + :a * interval '1 minute' AND timestamptz '1999-10-20 UTC' + (:a + 4) * interval '1 minute';
SQL
			"$device-vacuum\@5" => 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) busy;' });
	return;
}

foreach my $device ($random->devices)
{
	$random->use_device($device, 'reload');
	foreach my $round (1 .. $random->rounds)
	{
		create_table();
		last unless $random->round("device $device, round $round: buckets of $keytype keys agree", 50, \&compare_query);
	}
	beside_writers($device);
}
$several = 1;
foreach my $round (1 .. $random->rounds)
{
	create_table();
	last unless $random->round("round $round: buckets of $keytype keys below a prefix agree", 50, \&compare_query);
}
$several = 0;
foreach my $round (1 .. 3)
{
	create_table('timestamptz');
	last unless $random->round("round $round: where the program gives up buckets agree", 10, sub { compare_query(given_up_query()) });
}
my @plans = ('ours, in order', 'ours, sorted', 'no sort above', 'parameters', 'errors', 'filters', 'further groups', 'gave up',
	'below a prefix, in order', 'below a prefix, sorted');
$random->go_on_until_seen(5, 20, sub {
		$several = !$several;
		create_table($several ? () : 'timestamptz');
		compare_query(!$several && chance(0.3) ? given_up_query() : ()) foreach (1 .. 25);
	}, @plans);
$random->finish(5, @plans);
