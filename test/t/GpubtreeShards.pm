# A partitioned table "far", whose partitions are foreign tables on shards and local ones, a table "one"
# with the same rows, and queries that are asked of both: what 151 and 155 share.  Truth is computed of
# "one", without nodes, and sums of floats in it by states, which are exact.
#
#	my $sharded = GpubtreeShards->new($coordinator, s1 => $node, s2 => $other);
#	$sharded->new_layout(2, 1, 'RANGE (k)');
#	$sharded->compare($sharded->session($zone), random_query(), $name);
package GpubtreeShards;

use GpubtreeTest;
use GpubtreeRandom;
use Exporter 'import';

our @EXPORT = qw($low_cost $included random_query exactly);

my $columns = 'k timestamptz, g text, n int4, s int2, b int8, f float8, f4 float4, d numeric(9,2), w numeric(30,4), o bool, t timestamp, u uuid';
our $included = 'g, n, s, b, f, f4, d, w, o, t, u';

# Nodes where there can be one: their sums of float8 are exact, and core's are not.
our $low_cost = join('', map { "SET $_ = off;\n" } qw(enable_seqscan enable_indexscan enable_indexonlyscan enable_bitmapscan enable_hashagg enable_sort gpubtree.enable_scan))
  . "SET gpubtree.setup_cost = 0;\nSET gpubtree.batch_setup_cost = 0;\n";

# new(coordinator, name => node...): the shards are databases of these names on these nodes.  Functions
# are made in the coordinator: answer(query) returns the rows in one order, or the error of its data;
# truth(query) the same without nodes; remote(query) the queries that a plan sends, but for those of the
# ordinary plan beside the node.
sub new
{
	my ($class, $node, @shards) = @_;
	my $self = bless { node => $node, shards => [], at => {@shards}, asked => 0, sent => 0, by_core => 0 }, $class;

	while (my ($shard, $at) = splice(@shards, 0, 2))
	{
		push @{ $self->{shards} }, $shard;
		# the extension is in it; postgres_fdw's sessions have settings of their own
		$at->safe_psql('postgres', "CREATE DATABASE $shard TEMPLATE postgres; ALTER DATABASE $shard SET TimeZone = 'Asia/Tokyo'; ALTER DATABASE $shard SET DateStyle = 'German'");
	}
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
	foreach my $shard (@{ $self->{shards} })
	{
		my $at = $self->{at}{$shard};
		my ($host, $port) = ($at->host, $at->port);

		$node->safe_psql('postgres', <<"SQL");
CREATE SERVER $shard FOREIGN DATA WRAPPER postgres_fdw
	OPTIONS (host '$host', port '$port', dbname '$shard', async_capable 'true', extensions 'gpubtree');
CREATE USER MAPPING FOR CURRENT_USER SERVER $shard;
SQL
	}
	return $self;
}

# Run SQL in a shard.
sub on_shard
{
	my ($self, $shard, $sql) = @_;

	return $self->{at}{$shard}->safe_psql($shard, $sql);
}

# Run SQL in the coordinator, whose plans have nodes where there can be one.
sub ask { return $_[0]->{node}->safe_psql('postgres', $low_cost . $_[1]) }

# ---- layouts ----

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
	my ($self, $nshards, $nlocal, $by) = @_;
	my $node = $self->{node};
	my @shards = @{ $self->{shards} };
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
			$self->on_shard($shard, "DROP TABLE IF EXISTS part;\nCREATE TABLE part ($columns);\n"
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
		$self->on_shard($shard, 'VACUUM ANALYZE part');
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
		$query .= ' ORDER BY ' . join(', ', map { "$_" . pick('', ' DESC') } 1 .. @by + @of) . ' LIMIT ' . pick(0, 1, 3, 10) . pick('', ' OFFSET 2') if chance(0.2)
			# 15 to 17 do not sort by a column that a condition fixes, though grouping sets have it NULL, too
			&& !($query =~ /ROLLUP|GROUPING/ && $where =~ /g = 'b'/);
	}
	return $query;
}

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
	my ($self, $session, $query, $name) = @_;
	my $of = sub { return sprintf($_[1] =~ s/%(?!s)/%%/gr, $_[0]) };
	my $ask = sub { return $session->query_safe("SELECT $_[0](\$q\$$_[1]\$q\$)") };
	my $far = $of->('far', $query);
	my ($answer, $truth) = ($ask->('answer', $far), $ask->('truth', $of->('one', exactly($query))));

	foreach my $line (split /\n/, $session->query_safe("SELECT * FROM remote(\$q\$$far\$q\$)"))
	{
		$self->{asked}++;
		$self->{sent}++, note("rows are sent: $far\n$line") if $line !~ /count\(\*\)/;
	}
	return 1 if $answer eq $truth;
	my $plan = $session->query_safe("EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) $far");
	if (exactly($query) ne $query && ($plan !~ /^\W*Custom Scan \(Gpubtree\w*Aggregate/m || $plan =~ /Gave Up/))
	{
		# Core adds floats, in another order: all but the last digits is compared in two parts.
		$self->{by_core}++;
		return 1 if $ask->('truth', $of->('far', exactly($query))) eq $truth &&
			$ask->('answer', $of->('far', counted($query))) eq $ask->('truth', $of->('one', counted($query)));
	}
	fail("$name: $far\nshards: $answer\none table: $truth");
	note($plan);
	return 0;
}

# A session of the coordinator, in which nodes are chosen, with that zone and these styles of dates and intervals
sub session
{
	my ($self, $zone, $dates, $intervals) = @_;
	my $session = $self->{node}->background_psql('postgres');

	$session->query_safe($low_cost . "SET TimeZone = '$zone'; SET DateStyle = '$dates'; SET IntervalStyle = '$intervals'; SET test.until = '2026-04-04';");
	return $session;
}

# States that are kept, as in a rollup table over shards and local partitions: core merges them, each
# shard's there first where states are values.
sub compare_states
{
	my ($self) = @_;
	my @shards = @{ $self->{shards} };
	my $number = 0;
	my $partitions = join('', map { $number++; "CREATE FOREIGN TABLE rolled$number PARTITION OF rolled FOR VALUES FROM ('2026-0$number-01') TO ('2026-0" . ($number + 1) . "-01') SERVER $_ OPTIONS (table_name 'rolled');" } @shards);
	my $partitionwise = 'SET enable_partitionwise_aggregate = on;';

	# Of so few rows core would rather have all.
	$self->ask("ALTER SERVER $_ OPTIONS (ADD fdw_tuple_cost '10')") foreach @shards;
	$self->on_shard($_, "CREATE TABLE rolled (k timestamptz, g text, n int4, state bytea)") foreach @shards;
	$self->ask("CREATE TABLE rolled (k timestamptz, g text, n int4, state bytea) PARTITION BY RANGE (k); $partitions"
		. "CREATE TABLE rolled_rest PARTITION OF rolled DEFAULT; INSERT INTO rolled SELECT date_trunc('day', k), g, count(*), gpubtree_partial(f) FROM one GROUP BY 1, 2; CREATE TABLE rolled_here AS TABLE rolled; ANALYZE rolled");
	foreach my $case ([ "gpubtree_merge(state)", '' ], [ "n % 3, gpubtree_merge(state) FILTER (WHERE k < now()), count(*), sum(n), max(k)", 'GROUP BY n % 3' ],
		[ "g, gpubtree_final(gpubtree_merge(state), 'avg'), count(k)", "GROUP BY g HAVING count(*) > 3 AND gpubtree_final_count(gpubtree_merge(state)) > 4" ],
		[ "gpubtree_partial_first(n, k), gpubtree_partial_values(n)", "GROUP BY g" ], [ "g, gpubtree_merge(state), max(g)", 'GROUP BY g' ], [ "gpubtree_merge(state), avg(n)", '' ])
	{
		my ($of, $rest) = @$case;
		my $query = "SELECT $of FROM %s WHERE k < now() + interval '9 years' $rest";
		my $plan = $self->{node}->safe_psql('postgres', "$partitionwise EXPLAIN (VERBOSE, COSTS OFF) " . sprintf $query, 'rolled');

		is($self->{node}->safe_psql('postgres', "$partitionwise SELECT answer(\$q\$" . sprintf($query, 'rolled') . '$q$)'), $self->ask('SELECT answer($q$' . sprintf($query, 'rolled_here') . '$q$)'), "states over shards: $of");
		# max() of texts and averages have no state that SQL could ask for
		is(() = $plan =~ /Remote SQL: SELECT[^\n]*gpubtree_\w+\(/g, $of =~ /max\(g\)|avg\(n\)/ ? 0 : @shards, 'are merged there first, where states are values');
	}
	# There is no plan to turn to after an error of what would be evaluated before any row is asked for.
	foreach my $where ("n < 0 AND g || current_setting('test.none') = 'a'", "CASE WHEN n < 0 THEN current_setting('test.none')::int > n WHEN g = 'a' THEN k < now() ELSE true END")
	{
		my $query = "SELECT count(*), gpubtree_merge(state) FROM %s WHERE $where";

		is($self->{node}->safe_psql('postgres', "$partitionwise SELECT answer(\$q\$" . sprintf($query, 'rolled') . '$q$)'), $self->ask('SELECT answer($q$' . sprintf($query, 'rolled_here') . '$q$)'), 'an error for rows that there are not');
	}
	$self->ask("ALTER SERVER $_ OPTIONS (DROP fdw_tuple_cost)") foreach @shards;
	return;
}

1;
