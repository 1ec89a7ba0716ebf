# Random tables, random changes, random queries: whatever way a query is run through a
# gpubtree index, the answer is that of a sequential scan in the same snapshot.
#
# GPB_ROUNDS	number of tables (default 40, about a minute)
# GPB_DEVICE	gpubtree.device (default host)
use Time::HiRes qw(time);
use GpubtreeTest;
use GpubtreeRandom;

gpb_seed();
my $rounds = $ENV{GPB_ROUNDS} // 40;
my $device = $ENV{GPB_DEVICE} // 'host';

gpb_quiet_sessions();
my $node = gpb_node(
	'main',
	settings => <<"CONF");
gpubtree.device = '$device'
autovacuum = off
timezone = 'America/New_York'
fsync = off
max_parallel_workers_per_gather = 0
jit = off
client_min_messages = warning
CONF
my $session = new_session();

sub new_session
{
	my $new = $node->background_psql('postgres');

	$new->set_query_timer_restart();
	return $new;
}

# The arguments, each with probability one half
sub some
{
	return grep { chance(0.5) } @_;
}

# ---- key types ----

# A key is drawn from numbers 0 .. domain-1.  "sql" makes an expression of the type from an
# expression for the number, "extremes" are literals at and near the ends of the type.  There is no
# -0 among them: rows of it and of 0 may come in any order.
my $hour = "interval '1 hour'";
my %family = (
	int => [qw(int2 int4 int8)],
	time => [qw(date timestamp timestamptz)],
	float => [qw(float4 float8)],
	'time of day' => ['time'],
	map { $_ => [$_] } qw(oid money xid8 pg_lsn "char"));
my %type = (
	int2 => {
		family => 'int',
		max_domain => 60000,
		sql => sub { "(($_[0]) - 30000)::int2" },
		extremes => [ "(-32768)::int2", "32767::int2", "(-1)::int2", "0::int2" ]
	},
	int4 => {
		family => 'int',
		sql => sub { "(($_[0]) - 30000)::int4" },
		extremes => [
			"(-2147483648)::int4", "2147483647::int4",
			"2147483646::int4", "(-1)::int4" ]
	},
	int8 => {
		family => 'int',
		sql => sub { "(($_[0]) - 30000)::int8" },
		extremes => [
			"(-9223372036854775808)::int8", "9223372036854775807::int8",
			"4294967296::int8", "2147483648::int8", "(-2147483649)::int8",
			"32768::int8" ]
	},
	date => {
		family => 'time',
		sql => sub { "(date '2000-01-01' + (($_[0]) / 24)::int4)" },
		extremes => [
			"date 'infinity'", "date '-infinity'",
			"date '5874897-12-31'", "date '4714-11-24 BC'" ]
	},
	timestamp => {
		family => 'time',
		sql => sub { "(timestamp '2000-01-01' + ($_[0]) * $hour)" },
		extremes => [
			"timestamp 'infinity'", "timestamp '-infinity'",
			"timestamp '294276-12-31 23:59:59.999999'",
			"timestamp '4714-11-24 00:00:00 BC'" ]
	},
	timestamptz => {
		family => 'time',
		sql => sub { "(timestamptz '2000-01-01' + ($_[0]) * $hour)" },
		extremes => [
			"timestamptz 'infinity'", "timestamptz '-infinity'",
			"timestamptz '294276-12-31 23:59:59.999999+00'",
			"timestamptz '4714-11-24 00:00:00+00 BC'" ]
	},
	float4 => {
		family => 'float',
		sql => sub { "((($_[0]) - 300) / 10.0)::float4" },
		extremes => [
			"float4 'NaN'", "float4 'infinity'", "float4 '-infinity'", "float4 '1e-45'",
			"float4 '3.4028235e38'" ]
	},
	float8 => {
		family => 'float',
		sql => sub { "((($_[0]) - 300) / 10.0)::float8" },
		extremes => [
			"float8 'NaN'", "float8 'infinity'", "float8 '-infinity'", "float8 '5e-324'", "float8 '0.1'",
			"float8 '3.4028236e38'", "float8 '-1e-46'" ]
	},
	oid => {
		family => 'oid',
		sql => sub { "(2147483648 + ($_[0]) - 30)::oid" },
		extremes => [ "0::oid", "4294967295::oid", "2147483647::oid" ]
	},
	money => {
		family => 'money',
		sql => sub { "((($_[0]) - 300) / 10.0)::numeric::money" },
		extremes => [ "money '-92233720368547758.08'", "money '92233720368547758.07'" ]
	},
	xid8 => {
		family => 'xid8',
		sql => sub { "(9223372036854775000 + ($_[0])::numeric)::numeric(20, 0)::text::xid8" },
		extremes => [ "xid8 '0'", "xid8 '18446744073709551615'" ]
	},
	pg_lsn => {
		family => 'pg_lsn',
		sql => sub { "(pg_lsn '7FFFFFFF/FFFFFF00' + ($_[0])::numeric)" },
		extremes => [ "pg_lsn '0/0'", "pg_lsn 'FFFFFFFF/FFFFFFFF'" ]
	},
	'"char"' => {
		family => '"char"',
		sql => sub { "(((($_[0]) + 1024) % 256 - 128)::int4::\"char\")" },
		extremes => [ "'\\377'::\"char\"", "''::\"char\"" ]
	},
	time => {
		family => 'time of day',
		sql => sub { "(time '00:00' + ($_[0]) * interval '1 second')" },
		extremes => [ "time '24:00'", "time '00:00'" ]
	});

# The table of the current round
my ($keytype, $domain, $null_chance, @include, $where);

# A literal to compare keys with: mostly of the key's type and near its values
sub literal
{
	my ($literal_type) = @_;

	$literal_type //= chance(0.6) ? $keytype : pick(@{ $family{ $type{$keytype}{family} } });
	return "NULL::$literal_type" if chance(0.02);
	return pick(@{ $type{$literal_type}{extremes} }) if chance(0.08);

	my $number = between(-2, $domain + 2);
	my $max = $type{$literal_type}{max_domain};
	$number = $max if defined $max && $number > $max;
	return $type{$literal_type}{sql}->($number);
}

sub literals
{
	my ($n, $literal_type) = @_;
	return join(', ', map { literal($literal_type) } 1 .. $n);
}

# ---- conditions on k ----

sub range
{
	my ($lo, $hi) = (pick('>', '>='), pick('<', '<='));
	return "k $lo " . literal() . " AND k $hi " . literal();
}

# A range that holds something more often than not
sub narrow_range
{
	my $from = between(0, $domain);
	my $to = $from + between(0, int($domain / pick(1, 3, 20, 200)));
	my $sql = $type{$keytype}{sql};

	$to = $type{$keytype}{max_domain}
	  if defined $type{$keytype}{max_domain} && $to > $type{$keytype}{max_domain};
	$from = $to if $from > $to;
	return sprintf('k %s %s AND k %s %s',
		pick('>', '>='), $sql->($from), pick('<', '<='), $sql->($to));
}

sub array_condition
{
	my $literal_type = chance(0.7) ? $keytype : pick(@{ $family{ $type{$keytype}{family} } });
	my $list = literals(between(1, pick(3, 12, 60)), $literal_type);
	my $operator = chance(0.85) ? '=' : pick('<', '<=', '>', '>=');

	return "k IN ($list)" if $literal_type eq $keytype && chance(0.3);
	$list = '' if chance(0.03);
	return "k $operator ANY (ARRAY[$list]::${literal_type}[])";
}

my @conditions = (
	sub { 'true' },
	sub { 'k ' . pick('<', '<=', '>', '>=') . ' ' . literal() },
	sub { 'k = ' . literal() },
	\&range,
	\&narrow_range,
	\&narrow_range,
	\&narrow_range,
	sub { 'k BETWEEN ' . literal() . ' AND ' . literal() },
	sub { narrow_range() . ' AND ' . narrow_range() },
	\&array_condition,
	\&array_condition,
	sub { array_condition() . ' AND ' . narrow_range() },
	sub { array_condition() . ' AND ' . array_condition() },
	sub { array_condition() . ' AND k IS NOT NULL' },
	sub { 'k IS NULL' },
	sub { 'k IS NOT NULL' },
	sub { 'k IS NULL AND k > ' . literal() },
	sub { 'k IS NOT NULL AND ' . range() },
	sub { '(k IS NULL OR ' . narrow_range() . ')' });

sub condition
{
	my $condition = pick(@conditions)->();
	$condition .= ' AND b % 3 = 0' if chance(0.05);
	return $condition . $where;
}

# ---- queries: (kind, SQL) ----

# Which modes a kind is run in, beside the sequential scan
my %modes = (
	rows => [qw(index index_only bitmap)],
	ordered => [qw(index index_only)],
	aggregate => [qw(index index_only bitmap mirror mirror cpu cpu)],
	join => [qw(merge loop batch)],
	correlated => [qw(index index_only mirror cpu ranges)],
	cursor => [qw(index index_only)]);

sub columns
{
	return chance(0.5) ? join(', ', 'k', some(@include)) : 'k, id, a, c';
}

sub rows_query
{
	return ('rows', 'SELECT ' . columns() . ' FROM t WHERE ' . condition());
}

# Rows with equal keys may come in any order, so only the keys are looked at.
sub ordered_query
{
	my $order = pick('k', 'k DESC', 'k NULLS FIRST', 'k DESC NULLS LAST');
	my $limit = chance(0.7) ? 'LIMIT ' . pick(0, 1, 10, 500) : '';
	my $offset = chance(0.2) ? 'OFFSET ' . pick(1, 100, 5000) : '';
	return ('ordered',
		'SELECT k FROM t WHERE ' . condition() . " ORDER BY $order $limit $offset");
}

sub aggregate_list
{
	my %sums = map { $_ => 1 } qw(int2 int4 int8);
	my @list;

	foreach my $column ('k', @include, some(qw(b d)))
	{
		next if chance(0.3);
		my @can = ('count', 'min', 'max');
		push @can, ('sum', 'avg')
		  if $column =~ /^[abcd]$/ || ($column eq 'k' && $sums{$keytype});
		push @list, map { "$_($column)" } some(@can);
	}
	push @list, 'count(*)' if !@list || chance(0.6);
	push @list, 'count(DISTINCT k)' if chance(0.03);
	return join(', ', @list);
}

sub aggregate_query
{
	return ('aggregate', 'SELECT ' . aggregate_list() . ' FROM t WHERE ' . condition());
}

sub minmax_query
{
	return ('aggregate',
		'SELECT ' . pick('min(k)', 'max(k)', 'min(k), max(k)') . ' FROM t WHERE '
		  . condition());
}

sub group_query
{
	return ('rows', 'SELECT k, count(*) FROM t WHERE ' . condition() . ' GROUP BY k');
}

sub join_query
{
	my $condition = condition();
	$condition =~ s/\bk\b/t.k/g;
	$condition =~ s/\b([bh])\b/t.$1/g;
	return ('join',
		pick(
			"SELECT s.n, t.id FROM s JOIN t ON t.k = s.k WHERE $condition",
			"SELECT s.n, t.id FROM s LEFT JOIN t ON t.k = s.k AND $condition",
			"SELECT s.n FROM s WHERE EXISTS (SELECT 1 FROM t WHERE t.k = s.k AND $condition)",
			"SELECT s.n FROM s WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.k = s.k AND $condition)"
		));
}

sub correlated_query
{
	my $list = pick('min(k)', 'max(k)', 'count(*)', 'count(k)');
	my $operator = pick('=', '<', '>=', '>');
	return ('correlated',
		"SELECT n, (SELECT $list FROM t WHERE t.k $operator s.k$where) AS x FROM s WHERE n <= 15"
	);
}

# Statements, not a query: fetch forward and backward through an ordered cursor.
sub cursor_query
{
	my $order = pick('k', 'k DESC');
	my $statements = 'DECLARE c SCROLL CURSOR FOR SELECT k FROM t WHERE ' . condition()
	  . " ORDER BY $order;\n";

	foreach (1 .. between(3, 12))
	{
		$statements .= sprintf(
			"FETCH %s FROM c;\n",
			pick(
				'FORWARD ' . between(1, 8),
				'FORWARD ' . between(100, 900),
				'BACKWARD ' . between(1, 8),
				'BACKWARD ' . between(100, 900),
				'LAST', 'FIRST', 'PRIOR', 'RELATIVE 0'));
	}
	return ('cursor', $statements . 'CLOSE c;');
}

# ---- running a query ----

my %settings = (
	seqscan => 'enable_seqscan enable_sort enable_hashjoin enable_nestloop enable_mergejoin',
	index => 'enable_indexscan enable_nestloop enable_hashjoin',
	index_only => 'enable_indexscan enable_indexonlyscan enable_nestloop enable_hashjoin',
	bitmap => 'enable_bitmapscan enable_nestloop enable_hashjoin',
	mirror => 'gpubtree.enable_aggregate gpubtree.enable_device enable_nestloop',
	cpu => 'gpubtree.enable_aggregate enable_nestloop',
	merge => 'enable_indexscan enable_indexonlyscan enable_mergejoin',
	loop => 'enable_indexscan enable_indexonlyscan enable_nestloop',
	batch => 'gpubtree.enable_batchjoin gpubtree.enable_device enable_seqscan',
	ranges => 'gpubtree.enable_rangeaggregate gpubtree.enable_device enable_seqscan');
my @switches = qw(enable_seqscan enable_sort enable_hashjoin enable_nestloop enable_mergejoin
  enable_indexscan enable_indexonlyscan enable_bitmapscan gpubtree.enable_aggregate
  gpubtree.enable_batchjoin gpubtree.enable_rangeaggregate gpubtree.enable_device);

my $modes_set = 0;    # of three, two are for the device, however small the range

sub mode_sql
{
	my ($mode) = @_;
	my %on = map { $_ => 1 } split(' ', $settings{$mode});

	return join('', map { "SET LOCAL $_ = " . ($on{$_} ? 'on' : 'off') . ";\n" } @switches)
	  . "SET LOCAL gpubtree.setup_cost = 0;\nSET LOCAL gpubtree.batch_setup_cost = " . ($modes_set++ % 3 ? 0 : 20) . ";\n";
}

# One line that stands for all rows: their number and a digest.
sub digest_sql
{
	my ($kind, $query) = @_;

	return $query if $kind eq 'cursor';
	return "SELECT q::text FROM ($query) q;" if $kind eq 'aggregate';
	my $order = $kind eq 'ordered' ? '' : 'ORDER BY r COLLATE "C"';
	return "SELECT count(*), md5(string_agg(r, ';' $order)) "
	  . "FROM (SELECT q::text AS r FROM ($query) q) x;";
}

# The digest by way of a prepared statement whose constants are parameters
sub prepared_sql
{
	my ($kind, $query) = @_;
	my @arguments;
	my $prepared = digest_sql($kind, $query);

	# Every literal of a number, and every infinity, becomes $n.
	$prepared =~ s{\(\((-?\d+)\) - 30000\)::(int[248])}{
		push @arguments, "(($1) - 30000)::$2"; '$' . @arguments}ge;
	$prepared =~ s{\b(date|timestamptz|timestamp) ('[^']*infinity')}{
		push @arguments, "$1 $2"; '$' . @arguments}ge;
	return digest_sql($kind, $query) if !@arguments || @arguments > 90;

	my @argument_types =
	  map { /::(int[248])$/ ? $1 : (split(' ', $_))[0] } @arguments;
	return sprintf("SET LOCAL plan_cache_mode = force_generic_plan;\n"
		  . "PREPARE p(%s) AS %s\nEXECUTE p(%s);\nDEALLOCATE p;",
		join(', ', @argument_types), $prepared, join(', ', @arguments));
}

my $queries = 0;
my $mismatches = 0;
my %plans;    # node type => times seen in the sampled plans

sub count_plan
{
	my ($mode, $query) = @_;
	my $plan = $session->query_safe("BEGIN;\n" . mode_sql($mode)
		  . "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query;\nCOMMIT;");

	while ($plan =~ /^\s+(Engine: .*)/mg)
	{
		$plans{$1}++;
	}
	while ($plan =~ /^[\s>-]*([A-Z][A-Za-z ]*?)(?: using | on | \(|$)/mg)
	{
		$plans{$1}++;
	}
}

sub complain
{
	my ($mode, $kind, $query, $theirs, $ours) = @_;

	$mismatches++;
	return if $mismatches > 5;
	my $text = "$mode differs from seqscan: $query\nseqscan: $theirs\n$mode: $ours\n";
	if ($kind ne 'cursor')
	{
		$text .= $session->query("BEGIN;\n" . mode_sql($mode)
			  . "EXPLAIN (COSTS OFF) $query;\nROLLBACK;");
		$text .= "\nmissing, then surplus, in a later snapshot:\n";
		my ($lacks, $has) = map { "CREATE TEMP TABLE $_ AS " } qw(rows_s rows_x);
		$text .= $session->query("BEGIN;\n" . mode_sql('seqscan')
			  . "$lacks SELECT q::text AS r FROM ($query) q;\n" . mode_sql($mode)
			  . "$has SELECT q::text AS r FROM ($query) q;\n" . mode_sql('seqscan')
			  . "(TABLE rows_s EXCEPT ALL TABLE rows_x) LIMIT 10;\n\\echo --\n"
			  . "(TABLE rows_x EXCEPT ALL TABLE rows_s) LIMIT 10;\nROLLBACK;");
	}
	diag $text;
}

# Run one random query in several modes and in one snapshot.  In "old" that snapshot is the
# session's.
sub compare_query
{
	my ($old) = @_;
	my ($kind, $query) = pick(
		\&rows_query, \&rows_query, \&rows_query, \&ordered_query,
		\&ordered_query, \&aggregate_query, \&aggregate_query, \&aggregate_query,
		\&minmax_query, \&group_query, \&join_query, \&correlated_query,
		\&cursor_query)->();
	my @all = @{ $modes{$kind} };
	my @modes = ('seqscan', @all > 2 ? (pick(@all), pick(@all)) : @all);
	my $prepare = $kind ne 'cursor' && chance(0.2);
	my $script = $old ? '' : "BEGIN ISOLATION LEVEL REPEATABLE READ;\n";

	foreach my $mode (@modes)
	{
		$script .= mode_sql($mode);
		$script .= "SET LOCAL plan_cache_mode = auto;\n";
		$script .= $prepare ? prepared_sql($kind, $query) : digest_sql($kind, $query);
		$script .= "\n\\echo ====\n";
	}
	$script .= "COMMIT;\n" unless $old;

	my $output = ($old // $session)->query_safe($script);
	my @answers = split(/^====\n?/m, $output, -1);
	$queries++;
	die "cannot tell the answers apart: $script\n$output" if @answers < @modes;
	foreach my $i (1 .. $#modes)
	{
		complain($modes[$i], $kind, $query, $answers[0], $answers[$i])
		  if $answers[$i] ne $answers[0];
	}
	if (!$old && $kind ne 'cursor' && chance(0.3))
	{
		count_plan($modes[1], $query);
	}
}

# ---- tables and changes ----

# SQL expressions for one random row
sub row_sql
{
	my $extremes = join(', ', @{ $type{$keytype}{extremes} });
	my $n = @{ $type{$keytype}{extremes} };
	my $number = "floor(random() * $domain)::int8";

	return <<"SQL";
	CASE WHEN random() < $null_chance THEN NULL
		WHEN random() < 0.005 THEN (ARRAY[$extremes])[1 + floor(random() * $n)]
		ELSE ${\ $type{$keytype}{sql}->($number) } END,
	CASE WHEN random() > 0.1 THEN floor(random() * 65536 - 32768)::int2 END,
	CASE WHEN random() > 0.1 THEN floor(random() * 4294967296 - 2147483648)::int4 END,
	CASE WHEN random() > 0.1 THEN floor((random() - 0.5) * 1.8e19)::numeric::int8 END,
	CASE WHEN random() > 0.1 THEN floor(random() * 1e9 - 5e8) / 64 END,
	CASE WHEN random() > 0.1 THEN date '2000-01-01' + floor(random() * 20000 - 10000)::int4 END,
	CASE WHEN random() > 0.1 THEN timestamp '2000-01-01' + floor(random() * 1e9) * interval '1 second' END,
	CASE WHEN random() > 0.1 THEN timestamptz '2000-01-01' + floor(random() * 1e9) * interval '1 second' END,
	CASE WHEN random() > 0.2 THEN 'payload' END
SQL
}

sub insert_sql
{
	my ($n) = @_;
	return 'INSERT INTO t (k, a, b, c, d, e, f, g, h) SELECT ' . row_sql()
	  . " FROM generate_series(1, $n);\n";
}

sub index_sql
{
	my $direction = pick('', '', 'ASC NULLS FIRST', 'DESC', 'DESC NULLS LAST');
	my $sql = "CREATE INDEX t_k ON t USING gpubtree (k $direction)";

	$sql .= ' INCLUDE (' . join(', ', @include) . ')' if @include;
	$sql .= ' WITH (fillfactor = ' . pick(10, 50, 70, 100) . ')' if chance(0.4);
	$sql .= ' WHERE h IS NOT NULL' if $where ne '';
	return "$sql;\n";
}

# A few columns, shuffled
sub random_include
{
	my @columns = some('a' .. 'g');
	return sort { rand() <=> 0.5 } @columns if chance(0.7);
	return ();
}

sub change_sql
{
	my $condition = narrow_range();
	my $change = pick(
		sub { insert_sql(between(1, 3000)) },
		sub { insert_sql(between(1, 50)) },
		sub { "DELETE FROM t WHERE $condition;\n" },
		sub { 'DELETE FROM t WHERE id % ' . between(2, 9) . " = 0;\n" },
		sub { "UPDATE t SET h = 'changed' WHERE $condition;\n" },
		sub { "UPDATE t SET c = c - 1, d = d + 0.5 WHERE $condition;\n" },
		sub {
			my $key = $type{$keytype}{sql}->("floor(random() * $domain)::int8");
			"UPDATE t SET k = $key WHERE $condition;\n";
		},
		sub { 'UPDATE t SET k = NULL WHERE id % ' . between(20, 90) . " = 0;\n" })->();

	return "BEGIN;\n${change}ROLLBACK;\n" if chance(0.15);
	return "BEGIN;\nSAVEPOINT s;\n${change}ROLLBACK TO s;\n" . insert_sql(10) . "COMMIT;\n"
	  if chance(0.1);
	return $change;
}

sub maintenance_sql
{
	return pick(
		"VACUUM t;\n", "VACUUM t;\n", "VACUUM ANALYZE t;\n", "VACUUM (FREEZE) t;\n",
		"ANALYZE t;\n", '', '', '',
		"VACUUM (INDEX_CLEANUP OFF) t;\n",
		"REINDEX INDEX t_k;\n",
		"REINDEX INDEX CONCURRENTLY t_k;\n",
		"VACUUM FULL t;\n",
		"CLUSTER t USING t_k;\n",
		chance(0.2) ? "TRUNCATE t;\n" . insert_sql(500) : '');
}

sub create_table
{
	$keytype = pick(sort keys %type);
	$domain = pick(30, 2000, 60000);
	$null_chance = pick(0, 0.02, 0.3);
	@include = random_include();
	$where = chance(0.15) ? ' AND h IS NOT NULL' : '';

	my $persistence = pick('', '', '', 'UNLOGGED ');
	my $load = insert_sql(pick(0, 300, 5000, 20000));
	my $index = index_sql();
	my $cluster = $where eq '' ? '' : "-- partial index\n";
	my $sql = "DROP TABLE IF EXISTS t, s;\n"
	  . "SELECT setseed(" . rand() . ");\n"
	  . "CREATE ${persistence}TABLE t (id serial, k $keytype, a int2, b int4, c int8, d float8, "
	  . "e date, f timestamp, g timestamptz, h text) WITH (fillfactor = " . pick(50, 100)
	  . ");\n";
	$sql .= chance(0.5) ? $load . $index : $index . $load;

	# The outer side of joins has a key of the same type or of another one of the family.
	my $outer = pick(@{ $family{ $type{$keytype}{family} } });
	my $key = $type{$outer}{sql}->("floor(random() * $domain)::int8");
	$sql .= "CREATE TABLE s (n serial, k $outer);\n"
	  . "INSERT INTO s (k) SELECT CASE WHEN random() > 0.1 THEN $key END "
	  . "FROM generate_series(1, 60);\n";
	$sql .= "VACUUM ANALYZE t;\nANALYZE s;\n" if chance(0.6);
	note "$persistence$keytype, domain $domain: $index";
	$session->query_safe($sql);
}

# ---- the test ----

foreach my $round (1 .. $rounds)
{
	my $started = time;
	my $before = $mismatches;
	my $asked = $queries;
	my $old;

	create_table();
	foreach my $step (1 .. 4)
	{
		compare_query() foreach (1 .. 20);

		if ($step == 2)
		{
			# This session's snapshot will see none of what follows.
			$old = new_session();
			$old->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT count(*) FROM t;");
		}
		my $changes = join('', map { change_sql() } 1 .. between(1, 3));
		my $upkeep = maintenance_sql();

		# These commands would wait for the old session's lock, or take away the rows that it sees.
		$upkeep = "VACUUM t;\n"
		  if $old && $upkeep =~ /FULL|CLUSTER|TRUNCATE|REINDEX/;
		$upkeep = '' if $upkeep =~ /CLUSTER/ && $where ne '';
		# To truncate the table VACUUM would wait for that lock for 5 s, and go on without.
		$upkeep =~ s/VACUUM (?:\((.*)\) )?(ANALYZE )?t;/'VACUUM (TRUNCATE off' . ($1 ? ", $1" : '') . ($2 ? ', ANALYZE' : '') . ') t;'/e
		  if $old;
		$session->query_safe($changes);
		$session->query_safe($upkeep) if $upkeep ne '';
		$session->query_safe("SELECT gpubtree_check('t_k', true);");
		if ($old)
		{
			compare_query($old) foreach (1 .. 10);
		}
	}
	$old->query_safe('COMMIT;');
	$old->quit;

	is($mismatches - $before, 0,
		sprintf('round %d: %d queries of %s agree (%.1f s)',
			$round, $queries - $asked, $keytype, time - $started));
	last if $mismatches > 5;
}
$session->quit;

note "$queries queries; plans sampled: "
  . join(', ', map { "$_ $plans{$_}" } sort keys %plans);

# The comparison means nothing if the index was not used.
if ($rounds >= 12 && $mismatches == 0)
{
	foreach my $plan ('Index Scan', 'Index Only Scan', 'Bitmap Heap Scan', 'Merge',
		'Nested Loop', 'Custom Scan', 'Engine: CPU',
		$device eq 'off' ? () : 'Engine: ' . ($device eq 'cuda' ? 'CUDA' : $device))
	{
		ok((grep { index($_, $plan) == 0 } keys %plans) > 0, "some plans had: $plan");
	}
}
$node->stop;
done_testing();
