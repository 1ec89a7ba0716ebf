# A partitioned table whose partitions are foreign tables, of one to three shards and beside local ones,
# answers queries bit by bit as one table with the same rows does, while shards return groups: no
# query of a kind that is meant to be sent has rows sent.  Shards are databases of one server.  Truth is
# computed without nodes, and sums of floats in it by states, which are exact.
#
# Then what is not the same everywhere: zones, rights, servers without the extension; what a shard
# returns that is not what it should; and errors, which name partition and server.
#
# Guards: exec/aggregate/aggregate_shard*.c
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of layouts (default 4)
use GpubtreeTest;
use GpubtreeRandom;
use GpubtreeHold;

my $random = GpubtreeRandom->new(rounds => 4, settings => <<'CONF');
session_preload_libraries = 'auto_explain'
CONF
my $node = $random->node;
my ($host, $port) = ($node->host, $node->port);

my $columns = 'k timestamptz, g text, n int4, s int2, b int8, f float8, f4 float4, d numeric(9,2), w numeric(30,4), o bool, t timestamp, u uuid';
my $included = 'g, n, s, b, f, f4, d, w, o, t, u';
my @shards = qw(s1 s2 s3);

foreach my $shard (@shards)
{
	# the extension is in it; postgres_fdw's sessions have settings of their own
	$node->safe_psql('postgres', "CREATE DATABASE $shard TEMPLATE postgres; ALTER DATABASE $shard SET TimeZone = 'Asia/Tokyo'; ALTER DATABASE $shard SET DateStyle = 'German'");
}

# answer() returns rows in one order, answer_or_error() also what is raised.  remote() has the queries
# that a plan sends, but for those of the ordinary plan beside the node.
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION postgres_fdw;
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || left(string_agg(r, '';'' ORDER BY r COLLATE "C"), 400) || md5(string_agg(r, '';'' ORDER BY r COLLATE "C")) FROM (SELECT regexp_replace(q::text, ''(?<=[(,])-0(?=[),])'', ''0'', ''g'') AS r FROM (%s) q) x', query) INTO result;
	RETURN coalesce(result, 'none');
EXCEPTION WHEN data_exception THEN RETURN SQLERRM;
END \$\$;
CREATE FUNCTION truth(query text) RETURNS text LANGUAGE sql SET gpubtree.enabled = off AS 'SELECT answer(query)';
CREATE FUNCTION remote(query text) RETURNS SETOF text LANGUAGE plpgsql AS \$\$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		EXIT WHEN line ~ '^ *->  (Aggregate|HashAggregate|GroupAggregate|MixedAggregate|Unique|Sort|Group)';
		IF line ~ 'Remote SQL' THEN RETURN NEXT substr(line, position('SELECT' IN line)); END IF;
	END LOOP;
END \$\$;
SQL
foreach my $shard (@shards)
{
	$node->safe_psql('postgres', <<"SQL");
CREATE SERVER $shard FOREIGN DATA WRAPPER postgres_fdw
	OPTIONS (host '$host', port '$port', dbname '$shard', async_capable 'true', extensions 'gpubtree');
CREATE USER MAPPING FOR CURRENT_USER SERVER $shard;
SQL
}

# ---- layouts ----

# Nodes where there can be one: their sums of float8 are exact, and core's are not.
my $low_cost = join('', map { "SET $_ = off;\n" } qw(enable_seqscan enable_indexscan enable_indexonlyscan enable_bitmapscan enable_hashagg enable_sort gpubtree.enable_scan))
  . "SET gpubtree.setup_cost = 0;\nSET gpubtree.batch_setup_cost = 0;\n";

sub rows_sql
{
	my ($table, $n) = @_;

	return gpb_setseed() . <<"SQL";
INSERT INTO $table SELECT
	CASE WHEN random() < 0.02 AND $n > 0 THEN timestamptz '2026-03-29 00:59:59.999999+00' + (i % 3) * interval '1 us'
		ELSE timestamptz '2026-01-01 00:00+00' + random() * interval '150 days' END,
	CASE WHEN random() < 0.9 THEN (ARRAY['a', 'b', 'B', 'ä', '', 'zz'])[1 + i % 6] END,
	nullif(i % 23, 7), (i % 5 - 2)::int2, (random() * 9e18)::int8 - 4500000000000000000,
	CASE i % 97 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'infinity' WHEN 3 THEN NULL ELSE (random() - 0.5) * power(10, i % 30) END::float8,
	(i % 40 / 8.0)::float4, CASE i % 211 WHEN 5 THEN 'NaN' WHEN 6 THEN NULL ELSE (i % 1000) / 4.0 END::numeric(9,2),
	CASE i % 251 WHEN 5 THEN 'NaN' WHEN 6 THEN NULL WHEN 7 THEN 0 ELSE (random() - 0.3) * 1e20 END::numeric(30,4), CASE WHEN i % 11 > 0 THEN i % 3 = 0 END,
	timestamp '2026-01-01' + (i % 400) * interval '5 hours', md5((i % 9)::text)::uuid
FROM generate_series(1, $n) i;
SQL
}

# A new parent "far", with partitions on shards and here, and a table "one" with the same rows
sub new_layout
{
	my ($nshards, $nlocal, $by) = @_;
	my $sql = "DROP TABLE IF EXISTS far, one;\nCREATE TABLE far ($columns) PARTITION BY $by;\nCREATE TABLE one ($columns);\n";
	my $n = $nshards + $nlocal;

	foreach my $i (0 .. $n - 1)
	{
		my ($from, $to) = (int(150 * $i / $n), int(150 * ($i + 1) / $n));
		my $bounds = $by =~ /HASH/ ? "FOR VALUES WITH (MODULUS $n, REMAINDER $i)" :
		  'FOR VALUES FROM (' . ($i == 0 ? 'MINVALUE' : "timestamptz '2026-01-01 00:00+00' + interval '$from days'") . ') TO (' . ($i == $n - 1 ? 'MAXVALUE' : "timestamptz '2026-01-01 00:00+00' + interval '$to days'") . ')';

		if ($i < $nshards)
		{
			my $shard = $shards[$i];
			my $order = join(', ', map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [ rand(), $_ ] } split(/, /, $columns));

			$order =~ s/numeric\(9, 2\)/numeric(9,2)/g;
			$node->safe_psql($shard, "DROP TABLE IF EXISTS part;\nCREATE TABLE part ($columns);\n"
				. (chance(0.8) ? "CREATE INDEX ON part USING gpubtree (k) INCLUDE ($included);" : ''));
			$sql .= "CREATE FOREIGN TABLE part$i ($order) SERVER $shard OPTIONS (table_name 'part', batch_size '500');\n"
			  . "ALTER TABLE far ATTACH PARTITION part$i $bounds;\n";
		}
		else
		{
			$sql .= "CREATE TABLE part$i PARTITION OF far $bounds;\n";
		}
	}
	$sql .= "CREATE INDEX ON far USING gpubtree (k) INCLUDE ($included);\nCREATE INDEX ON one USING gpubtree (k) INCLUDE ($included);\n"
	  . rows_sql('one', 2500) . "INSERT INTO far SELECT * FROM one;\n"
	  . "ANALYZE far;\n";
	$node->safe_psql('postgres', $sql);
	$node->safe_psql('postgres', 'VACUUM ANALYZE one');
	foreach my $shard (@shards[ 0 .. $nshards - 1 ])
	{
		$node->safe_psql($shard, 'VACUUM ANALYZE part');
	}
	return;
}

# ---- queries ----

my @aggregates = ('count(*)', 'count(n)', 'sum(n)', 'sum(s)', 'avg(n)', 'sum(b)', 'avg(b)', 'min(b)', 'max(k)', 'min(k)', 'sum(f)', 'avg(f)',
	'min(f)', 'max(f4)', 'sum(f4)', 'sum(d)', 'avg(d)', 'max(d)', 'min(w)', 'max(w)', 'bool_and(o)', 'every(o)', 'bool_or(o)', 'bit_and(n)', 'bit_or(s)',
	'bit_xor(b)', 'stddev(n)', 'variance(f)', 'var_pop(s)', 'corr(f, n)', 'regr_slope(n, f4)', 'regr_avgy(f, n)', 'regr_count(n, f)', 'covar_samp(f4, n)',
	'sum(n + s)', 'sum(n * 2)', 'sum(d * 2)', 'max(t)', 'sum(f * 2)', 'stddev(d)', 'var_pop(d)', 'sum(w)', 'avg(w)', 'stddev_pop(w)', 'variance(w)',
	map { "gpubtree_partial$_" } '(n)', '(f)', '(d)', '(w)', '(b)', '_variance(n)', '_variance(d)', '_variance(w)', '_variance(f4)', '_regression(f, n)');
my @of_values = ('count(DISTINCT g)', 'min(g)', 'max(g)', 'count(DISTINCT n)', 'sum(DISTINCT s)', 'avg(DISTINCT d)', 'count(DISTINCT u)',
	'percentile_cont(0.3) WITHIN GROUP (ORDER BY f)', 'percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY n)', 'mode() WITHIN GROUP (ORDER BY s)',
	'percentile_cont(0.5) WITHIN GROUP (ORDER BY n)', 'gpubtree_partial_values(s)', "count(DISTINCT date_trunc('day', k))", "percentile_disc(0.4) WITHIN GROUP (ORDER BY date_trunc('hour', t))");
my @groups = ('g', 'n', 's', 'o', 'u', 'd', 'f4', 'n % 4', "date_trunc('hour', k)", "date_trunc('day', k)", "date_trunc('week', k, 'Asia/Kathmandu')",
	"date_trunc('month', k, 'America/New_York')", "date_trunc('minute', k)", "date_trunc('day', t)", "date_bin('6 hours', k, '2001-01-01')", "date_trunc('quarter', t)");
my @conditions = ("k >= '2026-01-20'", "k < '2026-02-17 03:00'", "n > 4", "g = 'b'", "g IN ('a', 'ä')", 'o', 'f > 0', 's BETWEEN -1 AND 1', 'd IS NOT NULL',
	"k > now() - interval '50 years'", "k < date_trunc('month', now()) + interval '100 years'", "k < current_setting('test.until')::timestamptz",
	"k >= '2026-05-01' AND k < '2026-05-02'", "CASE k WHEN now() THEN false WHEN transaction_timestamp() THEN false ELSE true END", "CASE WHEN k < now() + interval '90 years' THEN n > 2 ELSE o END", "n < 5 OR n > 20");

sub random_query
{
	my @of = map { pick(@aggregates) } 1 .. between(1, 4);
	my @values = map { pick(@of_values) } 1 .. pick(0, 0, 0, 1, 2);
	my @by = map { pick(@groups) } 1 .. pick(0, 0, 1, 1, 2);
	my $where = join(' AND ', map { "($_)" } map { pick(@conditions) } 1 .. pick(0, 1, 1, 2));

	push @of, @values;
	$of[0] .= ' FILTER (WHERE ' . pick('n > 3', 'o', "g = 'a'", "k < now()", "k < timestamptz '03.02.2026 00:00+00'") . ')' if $of[0] !~ /WITHIN|DISTINCT/ && chance(0.2);
	my $query = 'SELECT ' . join(', ', map { my $i = $_; (@by, @of)[$i] . " AS c$i" } 0 .. @by + @of - 1) . ' FROM %s' . ($where ? " WHERE $where" : '');
	if (@by)
	{
		my $kind = rand();

		$query .= ' GROUP BY ' . ($kind < 0.8 ? join(', ', @by) : $kind < 0.9 ? 'ROLLUP (' . join(', ', @by) . ')' : 'GROUPING SETS ((' . join('), (', @by) . '), ())');
		$query .= ' HAVING ' . pick('count(*) > 3', 'max(n) > 11', 'sum(n) IS NOT NULL') if chance(0.2);
		$query .= ' ORDER BY ' . join(', ', map { "$_" . pick('', ' DESC') } 1 .. @by + @of) . ' LIMIT ' . pick(0, 1, 3, 10) . pick('', ' OFFSET 2') if chance(0.2);
	}
	return $query;
}

my $sent = 0;
my $asked = 0;
my $by_core = 0;

# The query with something else in the place of core's aggregates of floats, whose last digits
# depend on the order of rows: $other is given an aggregate's name, arguments, type and FILTER.
sub without_float_sums
{
	my ($query, $other) = @_;
	my $aggregate = qr/\b(sum|avg|variance|corr|covar_\w+|regr_(?!count)\w+)\((f4?(?: \* 2)?|\w+, \w+)\)( FILTER (?<nested>\((?:[^()]|(?&nested))*\)))?/;

	return $query =~ s/$aggregate/$other->($1, $2, "$1($2)" eq 'sum(f4)' ? 'float4' : 'float8', $3 \/\/ '')/ger;
}

# By aggregates in two steps: their states have exact sums.
sub exactly
{
	return without_float_sums($_[0], sub {
		my ($name, $arguments, $type, $filter) = @_;
		my $state = $name =~ /^(sum|avg)$/ ? '' : $name eq 'variance' ? '_variance' : '_regression';

		return "gpubtree_final(gpubtree_partial$state($arguments)$filter, '$name', NULL::$type)";
	});
}

# By counts of the same
sub counted { return without_float_sums($_[0], sub { return "regr_count($_[1]" . ($_[1] =~ /,/ ? '' : ', 1') . ")$_[3]" }) }

# Compare a query's answers; what is sent must be aggregated.  What is true is computed of the one
# table without nodes, and exactly.
sub compare
{
	my ($session, $query, $name) = @_;
	my $of = sub { return sprintf($_[1] =~ s/%(?!s)/%%/gr, $_[0]) };
	my $ask = sub { return $session->query_safe("SELECT $_[0](\$q\$$_[1]\$q\$)") };
	my $far = $of->('far', $query);
	my ($answer, $truth) = ($ask->('answer', $far), $ask->('truth', $of->('one', exactly($query))));

	foreach my $line (split /\n/, $session->query_safe("SELECT * FROM remote(\$q\$$far\$q\$)"))
	{
		$asked++;
		$sent++, note("rows are sent: $far\n$line") if $line !~ /count\(\*\)/;
	}
	return 1 if $answer eq $truth;
	my $plan = $session->query_safe("EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) $far");
	if (exactly($query) ne $query && ($plan !~ /^\W*Custom Scan \(Gpubtree\w*Aggregate/m || $plan =~ /Gave Up/))
	{
		# Core adds floats, in another order: all but the last digits is compared in two parts.
		$by_core++;
		return 1 if $ask->('truth', $of->('far', exactly($query))) eq $truth &&
			$ask->('answer', $of->('far', counted($query))) eq $ask->('truth', $of->('one', counted($query)));
	}
	fail("$name: $far\nshards: $answer\none table: $truth");
	note($plan);
	return 0;
}

foreach my $round (1 .. $random->rounds)
{
	my $nshards = ($round - 1) % 3 + 1;
	my $nlocal = pick(0, 1, 2);
	my $by = pick('RANGE (k)', 'RANGE (k)', 'HASH (u)');
	my $name = "$nshards shards, $nlocal local partitions by $by";
	my $ok = 1;

	new_layout($nshards, $nlocal, $by);
	my $session = $node->background_psql('postgres');
	$session->query_safe($low_cost . "SET TimeZone = '" . pick('Europe/Berlin', 'UTC', 'Asia/Kolkata', 'Australia/Lord_Howe') . "'; SET DateStyle = '" . pick('ISO, DMY', 'SQL, DMY', 'German') . "'; SET IntervalStyle = '" . pick('postgres', 'postgres_verbose', 'sql_standard') . "'; SET test.until = '2026-04-04';");
	for (1 .. 25)
	{
		$ok = compare($session, random_query(), $name) && $ok;
	}
	ok($ok, $name);
	$session->quit;
}
cmp_ok($asked, '>', 50, 'shards were asked');
# wide numerics' sums and variances of numerics are not said by words
cmp_ok($by_core, '<', $random->rounds * 3, "few queries' floats were added by core ($by_core)");
cmp_ok($sent, '<', $asked / 10, "rows were sent for few queries ($sent of $asked)");

# ---- particular cases ----

new_layout(3, 1, 'RANGE (k)');

sub far { return $node->safe_psql('postgres', $low_cost . $_[0]) }

# The shard that a plan with this parameter asks, the others being pruned as it starts
my $generic = "SET plan_cache_mode = force_generic_plan;\nPREPARE q(timestamptz) AS SELECT count(*), sum(f) FROM far WHERE k >= \$1 AND k < \$1 + interval '1 day';\n";
like(far($generic . "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE q('2026-01-05');"), qr/Subplans Removed: 3.*Foreign Scan \(actual/s, 'a generic plan asks one shard');
is(far($generic . "EXECUTE q('2026-01-05');"), far("SELECT count(*), sum(f) FROM one WHERE k >= '2026-01-05' AND k < '2026-01-06'"), 'and has its answer');
like(far("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT x, (SELECT count(*) FROM far WHERE k >= x AND k < x + interval '1 day') FROM generate_series(timestamptz '2026-01-05', '2026-01-07', '1 day') x"),
	qr/Foreign Scan \(actual[^\n]*loops=3\).*Foreign Scan \(never executed/s, 'a correlated subquery prunes at each execution');

# One zone after another in one plan
my $days = "SELECT answer('SELECT date_trunc(''day'', k), count(*) FROM %s GROUP BY 1')";
is(far("SET plan_cache_mode = force_generic_plan; PREPARE d AS " . sprintf($days, 'far') . "; EXECUTE d; SET TimeZone = 'Asia/Kolkata'; EXECUTE d;"),
	far("SET plan_cache_mode = force_generic_plan; PREPARE d AS " . sprintf($days, 'one') . "; EXECUTE d; SET TimeZone = 'Asia/Kolkata'; EXECUTE d;"), 'a plan that is executed in another zone');

# Constants of FILTER and of groups reach a shard as they are here, and so do bins that are values.
my $styles = "SET DateStyle = 'SQL, DMY'; SET extra_float_digits = -14; ";
is(far($styles . "SELECT count(*) FILTER (WHERE k < '03/02/2026'), sum(n) FILTER (WHERE f4 <= 1.125), sum(n) FILTER (WHERE f < 111.125) FROM far"),
	far($styles . "SELECT count(*) FILTER (WHERE k < '03/02/2026'), sum(n) FILTER (WHERE f4 <= 1.125), sum(n) FILTER (WHERE f < 111.125) FROM one"), 'constants outside of WHERE');
is(far("SET DateStyle = German; SELECT count(DISTINCT date_trunc('day', k)), max(t) FROM far"),
	far("SET DateStyle = German; SELECT count(DISTINCT date_trunc('day', k)), max(t) FROM one"), 'distinct bins');

# What is evaluated here before there is a row raises no error that CASE keeps from being raised.
is(far("SELECT count(*) FROM far WHERE CASE WHEN n > 1000 THEN current_setting('not.there') = 'x' WHEN k < now() THEN true ELSE n > 3 END"),
	far("SELECT count(*) FROM one WHERE CASE WHEN n > 1000 THEN current_setting('not.there') = 'x' WHEN k < now() THEN true ELSE n > 3 END"), 'a branch of CASE that is not taken');
like(far("SELECT remote('SELECT count(*) FROM far WHERE CASE k WHEN now() THEN true WHEN transaction_timestamp() THEN true ELSE k < now() END')"),
	qr/\A(SELECT count[^\n]*CASE k WHEN \$1[^\n]*\n?){3}\z/, 'now() in CASE is sent');

# An offset that is not whole quarters of an hour, as there was until 1972: a bin lies in two hours.
$node->safe_psql('postgres', "CREATE TEMP TABLE old AS SELECT timestamptz '1971-05-05 00:00+00' + i * interval '7 minutes' AS k, i AS n FROM generate_series(1, 300) i; INSERT INTO far (k, n) SELECT * FROM old; INSERT INTO one (k, n) SELECT * FROM old;");
my $monrovia = "SET TimeZone = 'Africa/Monrovia'; SELECT answer('SELECT date_trunc(''hour'', k), count(*), sum(n) FROM %s WHERE k < ''1980-01-01'' GROUP BY 1');";
is(far(sprintf $monrovia, 'far'), far(sprintf $monrovia, 'one'), 'hours in a zone whose offset has seconds');
like(far("SET TimeZone = 'Africa/Monrovia'; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT date_trunc('hour', k), count(*) FROM far WHERE k < '1980-01-01' GROUP BY 1"), qr/Gave Up: a shard has/, 'are left to core');
$node->safe_psql('postgres', "DELETE FROM far WHERE k < '1980-01-01'; DELETE FROM one WHERE k < '1980-01-01'; VACUUM ANALYZE one");

# Two states that have sums of the same pairs
my $pairs = "SELECT answer('SELECT covar_pop(f4, n), covar_pop(n, f4), regr_avgx(f4, n), regr_avgy(n, f4), stddev(f4), sum(f4) FROM %s')";
is(far(sprintf $pairs, 'far'), far(sprintf $pairs, 'one'), 'pairs the one way and the other');

# What is sent stands in a CASE: the value alone that does not depend on the row.
my $case = "SELECT count(*), sum(n) FROM %s WHERE CASE n WHEN current_setting('test.n')::int THEN false ELSE true END";
like(far('SELECT remote($q$' . sprintf($case, 'far') . '$q$)'), qr/^SELECT count.*CASE n WHEN \$1/m, 'a part of CASE is sent');
is(far("SET test.n = '3'; " . sprintf $case, 'far'), far("SET test.n = '3'; " . sprintf $case, 'one'), 'values that are sent, in CASE');

# All shards at once, and now() is one moment
like(far('EXPLAIN (COSTS OFF) SELECT count(*) FROM far'), qr/(Async Foreign Scan.*){3}/s, 'shards work at the same time');
is(far("BEGIN; SELECT pg_sleep(0.01); SELECT count(*) FROM far WHERE now() = transaction_timestamp() AND k < now() - interval '1 year' + interval '100 years';"), "\n" . 2500, 'now() is evaluated here');

# A LIMIT above the node, and a cursor that has not read all groups when its connections are used again
my $few = "SELECT answer('SELECT g, count(*), sum(f) FROM %s GROUP BY g ORDER BY g LIMIT 3'), answer('SELECT count(*) FROM (SELECT n, count(*) FROM %s GROUP BY n LIMIT 4) q'), answer('SELECT x, (SELECT n FROM %s WHERE k >= x AND n IS NOT NULL GROUP BY n ORDER BY sum(b), n LIMIT 1) FROM generate_series(timestamptz ''2026-01-05'', ''2026-05-05'', ''40 days'') x')";
is(far(sprintf $few, ('far') x 3), far(sprintf $few, ('one') x 3), 'LIMIT above groups');
like(far("EXPLAIN (COSTS OFF) SELECT g, count(*) FROM far GROUP BY g LIMIT 1"), qr/^Limit\n +->  Custom Scan \(GpubtreeAggregate.*(Async Foreign Scan.*){3}/s, 'of a node');
my $cursor = "BEGIN; DECLARE c CURSOR FOR SELECT g, sum(n) FROM far WHERE g IS NOT NULL GROUP BY g; CREATE TEMP TABLE first (g text, n int8) ON COMMIT DROP; DO 'DECLARE c refcursor := ''c''; r record; BEGIN FETCH c INTO r; INSERT INTO first VALUES (r.g, r.sum); INSERT INTO first SELECT ''all'', count(*) FROM far; LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; INSERT INTO first VALUES (r.g, r.sum); END LOOP; END'; SELECT string_agg(g || n, ';' ORDER BY g, n) FROM first; COMMIT;";
is(far($cursor) =~ s/\s//gr, far($cursor =~ s/FROM far/FROM one/gr) =~ s/\s//gr, 'a query amid the groups of another');

# Texts of a collation that is not the shard's: deterministic ones agree about which texts are equal, and
# order is made here.  What a collation takes for equal though it is not has its rows sent.
$node->safe_psql($_, "CREATE COLLATION same_letter (provider = icu, locale = 'und-u-ks-level1', deterministic = false)") foreach 'postgres', 's1';
foreach my $pair ([ '"en-x-icu"', '"C"' ], [ '"C"', '"en-x-icu"' ], [ 'same_letter', 'same_letter' ])
{
	my ($here, $there) = @$pair;
	my $same = $here eq 'same_letter';
	my $columns = 'k int4, n int4, g text COLLATE';
	my $index = 'USING gpubtree (k) INCLUDE (n, g)';
	# which of several equal texts stands for them is not said
	my $one = $same ? "translate(lower(%s), '\xc3\xa4\xc3\xa9', 'ae')" : '%s';
	my $values = join(', ', map { sprintf $one, $_ } 'min(g)', 'max(g)', 'max(g) FILTER (WHERE n > 3)');
	my @queries = ("SELECT " . sprintf($one, 'g') . ", count(*), sum(n) FROM words GROUP BY words.g", "SELECT n, count(DISTINCT g), $values FROM words GROUP BY n", "SELECT count(DISTINCT g), $values FROM words",
		"SELECT " . sprintf($one, 'g') . ", count(*) FROM words GROUP BY words.g ORDER BY count(*) DESC, words.g DESC LIMIT 4");
	my $all = sub { my ($table) = @_; return 'SELECT ' . join(', ', map { 'answer($q$' . s/\bwords\b/$table/gr . '$q$)' } @queries) };
	my $far = $low_cost;

	$node->safe_psql('s1', "DROP TABLE IF EXISTS words; CREATE TABLE words ($columns $there);" . ($same ? '' : "CREATE INDEX ON words $index"));
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS words, word; CREATE TABLE words ($columns $here) PARTITION BY RANGE (k); CREATE TABLE word ($columns $here);"
		. "CREATE FOREIGN TABLE words0 PARTITION OF words FOR VALUES FROM (0) TO (100) SERVER s1 OPTIONS (table_name 'words'); CREATE TABLE words1 PARTITION OF words FOR VALUES FROM (100) TO (500);"
		. "CREATE INDEX ON words $index; INSERT INTO word SELECT i, i % 7, (ARRAY['b', 'B', 'a', '\xc3\xa4', 'A', 'Z', '', 'z', NULL, 'B', '\xc3\xa9', 'e'])[1 + i % 12] FROM generate_series(0, 479) i; INSERT INTO words SELECT * FROM word; ANALYZE words");
	is($node->safe_psql('postgres', $far . $all->('words')), $node->safe_psql('postgres', 'SET gpubtree.enabled = off; ' . $all->('word')), "texts of collation $here here, $there there");
	my $sent = $node->safe_psql('postgres', $far . join(';', map { "EXPLAIN (VERBOSE, COSTS OFF) $_" } @queries));
	is(() = $sent =~ /Remote SQL: SELECT[^\n]*GROUP BY [12]/g, $same ? 0 : 4, $same ? 'their rows are sent' : 'their groups are sent');
}

# States that are kept, as in a rollup table over shards and local partitions: core merges them.  Of so
# few rows it would rather have all.
$node->safe_psql('postgres', "ALTER SERVER $_ OPTIONS (ADD fdw_tuple_cost '10')") foreach @shards;
$node->safe_psql($_, "CREATE TABLE rolled (k timestamptz, g text, n int4, state bytea)") foreach @shards;
$node->safe_psql('postgres', "CREATE TABLE rolled (k timestamptz, g text, n int4, state bytea) PARTITION BY RANGE (k);"
	. join('', map { "CREATE FOREIGN TABLE rolled$_ PARTITION OF rolled FOR VALUES FROM ('2026-0$_-01') TO ('2026-0" . ($_ + 1) . "-01') SERVER s$_ OPTIONS (table_name 'rolled');" } 1 .. 3)
	. "CREATE TABLE rolled4 PARTITION OF rolled DEFAULT; INSERT INTO rolled SELECT date_trunc('day', k), g, count(*), gpubtree_partial(f) FROM one GROUP BY 1, 2; CREATE TABLE rolled_here AS TABLE rolled; ANALYZE rolled");
foreach my $case ([ "gpubtree_merge(state)", '' ], [ "n % 3, gpubtree_merge(state) FILTER (WHERE k < now()), count(*), sum(n), max(k)", 'GROUP BY n % 3' ],
	[ "g, gpubtree_final(gpubtree_merge(state), 'avg'), count(k)", "GROUP BY g HAVING count(*) > 3 AND gpubtree_final_count(gpubtree_merge(state)) > 4" ],
	[ "gpubtree_partial_first(n, k), gpubtree_partial_values(n)", "GROUP BY g" ], [ "g, gpubtree_merge(state), max(g)", 'GROUP BY g' ], [ "gpubtree_merge(state), avg(n)", '' ])
{
	my ($of, $rest) = @$case;
	my $query = "SELECT $of FROM %s WHERE k < now() + interval '9 years' $rest";
	my $plan = $node->safe_psql('postgres', "SET enable_partitionwise_aggregate = on; EXPLAIN (VERBOSE, COSTS OFF) " . sprintf $query, 'rolled');

	is($node->safe_psql('postgres', "SET enable_partitionwise_aggregate = on; SELECT answer(\$q\$" . sprintf($query, 'rolled') . '$q$)'), far('SELECT answer($q$' . sprintf($query, 'rolled_here') . '$q$)'), "states over shards: $of");
	# max() of texts and averages have no state that SQL could ask for
	is(() = $plan =~ /Remote SQL: SELECT[^\n]*gpubtree_\w+\(/g, $of =~ /max\(g\)|avg\(n\)/ ? 0 : 3, 'are merged there first, where states are values');
}

$node->safe_psql('postgres', "ALTER SERVER $_ OPTIONS (DROP fdw_tuple_cost)") foreach @shards;

# What a shard does is done by a node of ours there.
{
	my $log = -s $node->logfile;

	$node->safe_psql('postgres', "ALTER DATABASE s1 SET auto_explain.log_min_duration = 0; ALTER DATABASE s1 SET gpubtree.setup_cost = 0; ALTER DATABASE s1 SET gpubtree.batch_setup_cost = 0;");
	$node->safe_psql('s1', "CREATE INDEX IF NOT EXISTS sure ON part USING gpubtree (k) INCLUDE ($included); VACUUM ANALYZE part");
	far("SELECT count(*), sum(f), avg(n) FROM far WHERE k < '2026-01-30'; SELECT date_trunc('hour', k), sum(f) FROM far WHERE k < '2026-01-30' GROUP BY 1;");
	my $plans = slurp_file($node->logfile, $log);
	like($plans, qr/gpubtree_partial\(f\).*?Custom Scan \(GpubtreeAggregate\)/s, "the shard's plan is a node, for exact sums too");
	like($plans, qr/date_bin.*?Custom Scan \(Gpubtree(Bucket|Bucket\w*|Aggregate)\)/s, 'and for bins');
	$node->safe_psql('postgres', 'ALTER DATABASE s1 RESET ALL');
}

# Shards that are slow, a view of which waits for a lock: all of them work meanwhile, and a cancel ends them.
$node->safe_psql($_, 'CREATE VIEW slow AS SELECT part.* FROM part, (SELECT pg_advisory_xact_lock_shared(151) OFFSET 0) locked') foreach @shards;
my @holders = map { $node->background_psql($_) } @shards;
$_->query_safe('SELECT pg_advisory_lock(151)') foreach @holders;
$node->safe_psql('postgres', "ALTER FOREIGN TABLE part$_ OPTIONS (SET table_name 'slow')") foreach 0 .. 2;
my $waiting = "SELECT count(*) = %d FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname IN ('s1', 's2', 's3')";
my $slow = gpb_start($node, [ $low_cost, 'SELECT count(*), sum(f) FROM far' ], "application_name = 'asks slow shards'");
ok($node->poll_query_until('postgres', sprintf $waiting, 3), 'slow shards all work at once');
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'asks slow shards'");
ok($node->poll_query_until('postgres', sprintf $waiting, 0), 'a cancel ends what they do');
like(gpb_finish($slow), qr/canceling statement due to user request/, 'and the query');
$holders[$_]->quit foreach 0, 2;
$node->safe_psql('postgres', "ALTER SERVER s2 OPTIONS (ADD options '-c statement_timeout=200')");
my (undef, undef, $late) = $node->psql('postgres', $low_cost . 'SELECT count(*), sum(f) FROM far');
like($late, qr/canceling statement due to statement timeout.*partition "part1" on server "s2"/s, 'a shard that is too late is named');
$node->safe_psql('postgres', 'ALTER SERVER s2 OPTIONS (DROP options)');
$holders[1]->quit;
is(far('SELECT count(*), sum(f) FROM far WHERE f < 1e300'), far('SELECT count(*), sum(f) FROM one WHERE f < 1e300'), 'then it answers');
$node->safe_psql('postgres', "ALTER FOREIGN TABLE part$_ OPTIONS (SET table_name 'part')") foreach 0 .. 2;
$node->safe_psql($_, 'DROP VIEW slow') foreach @shards;

# A server of which nobody has said that it has the extension is asked for what core has.
$node->safe_psql('postgres', "ALTER SERVER s2 OPTIONS (DROP extensions)");
like(far('SELECT remote(\'SELECT count(*), sum(n) FROM far\')'), qr/\A(SELECT count[^\n]*\n?){3}\z/, 'sums of integers need no extension');
like(far('SELECT remote(\'SELECT count(*), sum(f) FROM far\')'), qr/\A(SELECT (count|f)[^\n]*\n?){3}\z/, 'those of floats need it, on that server alone');
is(far('SELECT count(*), sum(f) FROM far WHERE f < 1e300'), far('SELECT count(*), sum(f) FROM one WHERE f < 1e300'), 'and are the same without it');
$node->safe_psql('postgres', "ALTER SERVER s2 OPTIONS (ADD extensions 'gpubtree')");

# Rights: on the parent alone; a mapping of one's own
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE reader; GRANT SELECT ON far TO reader;
CREATE ROLE stranger; GRANT SELECT ON far TO stranger;
CREATE USER MAPPING FOR reader SERVER s1 OPTIONS (user 'reader', password_required 'false');
CREATE USER MAPPING FOR reader SERVER s2 OPTIONS (user 'reader', password_required 'false');
CREATE USER MAPPING FOR reader SERVER s3 OPTIONS (user 'reader', password_required 'false');
ALTER ROLE reader LOGIN;
SQL
my (undef, undef, $denied) = $node->psql('postgres', 'SET ROLE reader; SELECT count(*), sum(n) FROM far');
like($denied, qr/permission denied for table part.*partition "part\d" on server "s\d"/s, 'the rights on the shard are those of the mapping');
$node->safe_psql($_, 'GRANT SELECT ON part TO reader') foreach @shards;
is(far('SET ROLE reader; SELECT count(*), sum(n) FROM far'), far('SELECT count(*), sum(n) FROM one'), 'who may read the parent may have its aggregates');
(undef, undef, $denied) = $node->psql('postgres', 'SET ROLE stranger; SELECT count(*), sum(n) FROM far');
like($denied, qr/user mapping not found/, 'a role without a mapping may not');

# A policy of the parent
$node->safe_psql('postgres', "ALTER TABLE far ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON far USING (s > 0)");
is(far('SET ROLE reader; SELECT count(*), sum(n) FROM far'), far('SELECT count(*), sum(n) FROM one WHERE s > 0'), 'a policy of the parent');
$node->safe_psql('postgres', "ALTER TABLE far DISABLE ROW LEVEL SECURITY");

# A transaction sees each shard as it was when it first asked it.
my $reader = $node->background_psql('postgres');
$reader->query_safe('BEGIN');
my $before = $reader->query_safe('SELECT count(*), sum(n) FROM far');
$node->safe_psql('s2', 'DELETE FROM part WHERE n = 3');
is($reader->query_safe('SELECT count(*), sum(n) FROM far'), $before, 'a transaction reads a shard twice');
$reader->query_safe('COMMIT');
isnt($reader->query_safe('SELECT count(*), sum(n) FROM far'), $before, 'and the next one what is there now');
$reader->quit;

# What a foreign table declares is not what the shard has: a numeric of more digits, and other rows than its
# bounds say.
$node->safe_psql('s3', "DROP INDEX IF EXISTS part_k_g_n_s_b_f_f4_d_w_o_t_u_idx; ALTER TABLE part ALTER d TYPE numeric; UPDATE part SET d = d + 0.001 WHERE n = 5");
is(far("SELECT sum(d) > 0 FROM far WHERE d <> 'NaN'"), 't', 'a sum of more digits than the index has is left to core');
like(far("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT sum(d) FROM far WHERE d <> 'NaN'"), qr/Gave Up: a shard has a value/, 'and the node says so');

# Errors name the shard, and there is no answer of the others alone.
sub error_of
{
	my (undef, undef, $error) = $node->psql('postgres', $low_cost . $_[0]);
	return $error;
}
$node->safe_psql('s2', 'ALTER TABLE part RENAME TO gone');
like(error_of('SELECT count(*) FROM far'), qr/relation "public.part" does not exist.*partition "part1" on server "s2"/s, 'a table that is not there');
$node->safe_psql('s2', 'ALTER TABLE gone RENAME TO part');
$node->safe_psql('s2', 'DROP EXTENSION gpubtree CASCADE');
like(error_of('SELECT sum(f) FROM far'), qr/gpubtree_partial.*does not exist.*partition "part1" on server "s2"/s, 'an extension that is not there');
$node->safe_psql('s2', "CREATE FUNCTION first_byte(bytea, float8) RETURNS bytea LANGUAGE sql AS 'SELECT ''\\x7f0203''::bytea'; CREATE AGGREGATE gpubtree_partial(float8) (SFUNC = first_byte, STYPE = bytea)");
like(error_of('SELECT sum(f) FROM far'), qr/ERROR: .*partition "part1" on server "s2"/s, 'a state of another version');
$node->safe_psql('s2', "DROP AGGREGATE gpubtree_partial(float8); CREATE EXTENSION gpubtree");
$node->safe_psql('postgres', "ALTER SERVER s2 OPTIONS (SET port '1')");
like(error_of('SELECT count(*) FROM far'), qr/could not connect to server "s2"/, 'a server that does not answer');
is(far("SELECT count(*) > 0 FROM far WHERE k < '2026-01-10'"), 't', 'queries of other shards go on');

done_testing();
