# A batched join gives what core's joins give in the same snapshot, row by row: every kind of join, keys
# of every type and across types, NULLs and duplicates on both sides, extra clauses and filters, several such
# joins, LIMIT, order, rescans, cursors, parallel plans, little and much memory; and so do joins under aggregates.
#
# Guards: join_exec.c's batches, windows and unmatched rows; join_plan.c's parting of the clauses.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 24)
# GPB_DEVICE	gpubtree.device (default host)
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use GpubtreeTest;

gpb_seed();
my $rounds = $ENV{GPB_ROUNDS} // 24;
my $device = $ENV{GPB_DEVICE} // 'host';

# thousands of statements would bury what the log should show
{
	no warnings 'redefine', 'once';
	*PostgreSQL::Test::BackgroundPsql::note = sub { };
}

my $node = gpb_node('main', settings => <<"CONF");
gpubtree.device = '$device'
autovacuum = off
timezone = 'America/New_York'
fsync = off
jit = off
client_min_messages = warning
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
max_parallel_workers_per_gather = 0
CONF
gpb_wait_for_service($node) if $device ne 'off';
my $session = $node->background_psql('postgres');
$session->set_query_timer_restart();

sub chance { return rand() < $_[0] }
sub pick { return $_[ int(rand(@_)) ] }
sub between { my ($lo, $hi) = @_; return $lo + int(rand($hi - $lo + 1)) }

# ---- tables ----

# The inner tables t and u, with an index on k, and the outer p with a key column of each type that t's may be
# compared with; g is a small number to correlate by.
my %type = (
	int2 => { columns => [qw(a b c)], value => sub { "(($_[0]) - 100)::int2" } },
	int4 => { columns => [qw(a b c)], value => sub { "(($_[0]) - 100)::int4" } },
	int8 => { columns => [qw(a b c)], value => sub { "(($_[0]) - 100)::int8" } },
	date => { columns => [qw(d e f)], value => sub { "date '2024-11-01' + ($_[0])" } },
	timestamp => {
		columns => [qw(d e f)],
		value => sub { "timestamp '2024-11-01' + ($_[0]) * interval '12 hours'" }
	},
	timestamptz => {
		columns => [qw(d e f)],
		value => sub { "timestamptz '2024-11-01' + ($_[0]) * interval '12 hours'" }
	});
my $keytype;
my $domain;

sub number { return "floor(random() * $domain)::int4" }

sub inner_sql
{
	my ($table, $rows) = @_;
	my $null = pick(0, 0.05, 0.3);
	my $order = pick('', '', 'DESC', 'NULLS FIRST', 'DESC NULLS LAST');
	my $include = pick('', 'INCLUDE (v)', 'INCLUDE (v)', 'INCLUDE (w, v)');
	my $partial = chance(0.15) ? 'WHERE w IS NOT NULL' : '';
	my $value = $type{$keytype}{value}->(number());
	my $index = "CREATE INDEX ${table}_k ON $table USING gpubtree (k $order) $include $partial;\n";
	my $load = <<"SQL";
INSERT INTO $table (k, v, w, s) SELECT
	CASE WHEN random() >= $null THEN $value END,
	CASE WHEN random() > 0.1 THEN floor(random() * 100)::int4 END,
	CASE WHEN random() > 0.1 THEN floor(random() * 1000)::int8 END,
	CASE WHEN random() > 0.1 THEN repeat('row ', floor(random() * 20)::int4) || i END
FROM generate_series(1, $rows) i;
SQL
	my $sql = "DROP TABLE IF EXISTS $table;\n"
	  . "CREATE TABLE $table (id serial, k $keytype, v int4, w int8, s text) WITH (fillfactor = 70);\n"
	  . (chance(0.5) ? $index . $load : $load . $index);
	$sql .= "VACUUM ANALYZE $table;\n" if chance(0.7);
	$sql .= pick(
		"UPDATE $table SET s = 'hot' WHERE id % 7 = 0;\n",
		"UPDATE $table SET v = v + 1, w = NULL WHERE id % 5 = 0;\n",
		"DELETE FROM $table WHERE id % 3 = 0;\n",
		"BEGIN;\nDELETE FROM $table;\nROLLBACK;\n") if chance(0.6);
	return $sql;
}

sub create_tables
{
	$keytype = pick(sort keys %type);
	$domain = pick(20, 400, 400, 5000);
	my $family = $type{$keytype}{columns}[0] eq 'a';
	my $rows = pick(0, 1, 40, 1000, 3000);
	my $inner = $domain == 20 ? pick(0, 200, 600) : pick(0, 500, 4000);
	my $sql = "SELECT setseed(" . rand() . ");\n" . inner_sql('t', $inner)
	  . inner_sql('u', pick(100, 2000));
	my @values = map { "CASE WHEN random() > 0.1 THEN " . $type{$_}{value}->(number()) . ' END' }
	  ($family ? qw(int2 int4 int8) : qw(date timestamp timestamptz));
	my @columns = @{ $type{$keytype}{columns} };
	my @types = $family ? qw(int2 int4 int8) : qw(date timestamp timestamptz);

	$sql .= "DROP TABLE IF EXISTS p;\nCREATE TABLE p (id serial, "
	  . join(', ', map { "$columns[$_] $types[$_]" } 0 .. 2)
	  . ", g int4, n int4, s text);\n"
	  . "INSERT INTO p (" . join(', ', @columns) . ", g, n, s) SELECT " . join(', ', @values)
	  . ", floor(random() * 8)::int4, floor(random() * 100)::int4, "
	  . "CASE WHEN random() > 0.1 THEN repeat('outer ', floor(random() * 30)::int4) END "
	  . "FROM generate_series(1, $rows);\nCREATE INDEX p_id ON p (id);\n"
	  . ($family ? "INSERT INTO p (c, g, n) VALUES (9223372036854775807, 1, 1), (-9223372036854775808, 2, 2), (100000, 3, 3);\n"
		: "INSERT INTO p (d, e, f, g, n) VALUES ('infinity', 'infinity', 'infinity', 1, 1), ('-infinity', '-infinity', '-infinity', 2, 2);\n");
	$sql .= "ANALYZE p;\n" if chance(0.8);
	$session->query_safe($sql);
	return;
}

# ---- queries ----

sub key
{
	my $column = 'p.' . pick(@{ $type{$keytype}{columns} });
	return $column if chance(0.8);
	return "coalesce($column, " . $type{$keytype}{value}->(between(0, $domain)) . ')';
}

sub equality
{
	my ($table, $key) = @_;
	return chance(0.5) ? "$table.k = $key" : "$key = $table.k";
}

# Clauses of the join beside the equality, and conditions on the inner table alone
sub on
{
	my ($table, $key) = @_;
	my $clause = equality($table, $key // key());
	$clause .= ' AND ' . pick("$table.v < p.n", "$table.v + p.n > 80", "$table.s > p.s",
		"$table.w IS DISTINCT FROM p.g") if chance(0.3);
	$clause .= ' AND ' . inner_filter($table) if chance(0.3);
	return $clause;
}

sub inner_filter
{
	my ($table) = @_;
	return pick("$table.v > 20", "$table.v IS NULL", "$table.s LIKE '%1%'", "$table.w IS NOT NULL",
		"$table.v > (SELECT min(n) FROM p)");
}

sub outer_filter { return pick('p.n < 50', 'p.g = ' . between(0, 8), 'true', 'true', 'p.id % 3 <> 0') }

sub columns
{
	my ($table) = @_;
	return pick("$table.k", "$table.v", "$table.k, $table.v", "$table.s", "$table.id, $table.s, $table.k",
		"$table.v + p.n", '1');
}

# (kind, SQL); "ordered" queries are compared in their order, "cursor" are statements
sub random_query
{
	my $key = key();
	my $filter = outer_filter();
	my $order = chance(0.5) ? 'id' : 'id DESC';
	my $limit = pick(0, 1, 3, 40, 500);

	return pick(
		sub { ('rows', 'SELECT p.id, ' . columns('t') . ' FROM p JOIN t ON ' . on('t') . " WHERE $filter") },
		sub { ('rows', 'SELECT p.*, t.* FROM p JOIN t ON ' . on('t') . " WHERE $filter") },
		sub { ('rows', 'SELECT p.id, ' . columns('t') . ' FROM p LEFT JOIN t ON ' . on('t') . " WHERE $filter") },
		sub { ('rows', 'SELECT p.id, p.s, t.v FROM p LEFT JOIN t ON ' . on('t')
				  . ' WHERE ' . pick('t.v IS NULL', 't.k IS NULL', 't.v IS NULL OR t.v < p.n', 'coalesce(t.v, 1) < p.n')) },
		sub { ('rows', "SELECT p.id, p.s FROM p WHERE $filter AND EXISTS (SELECT 1 FROM t WHERE " . on('t') . ')') },
		sub { ('rows', "SELECT p.id, p.s FROM p WHERE $filter AND NOT EXISTS (SELECT 1 FROM t WHERE " . on('t') . ')') },
		sub { ('rows', "SELECT p.id FROM p WHERE $key IN (SELECT t.k FROM t WHERE " . inner_filter('t') . ')') },
		sub { ('rows', "SELECT t.* FROM t WHERE t.k IN (SELECT $key FROM p WHERE $filter)") },
		sub { ('rows', 'SELECT p.id, t.id, u.id, u.v FROM p JOIN t ON ' . on('t', $key) . ' JOIN u ON ' . on('u') . " WHERE $filter AND p.g < 3") },
		sub { ('rows', 'SELECT p.id, t.v, u.v FROM p LEFT JOIN t ON ' . on('t') . ' LEFT JOIN u ON u.k = t.k WHERE p.g = 1') },
		sub { ('rows', 'SELECT p.id, t.id FROM p JOIN t ON ' . on('t') . " WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = $key AND u.v > t.v)") },
		sub { ('rows', "SELECT g, count(*), sum(t.v), max(t.s) FROM p JOIN t ON " . on('t') . ' GROUP BY g') },
		sub { ('ordered', 'SELECT p.id FROM p ' . pick('', 'LEFT') . ' JOIN t ON ' . on('t') . " ORDER BY p.$order LIMIT $limit") },
		sub { ('ordered', "SELECT p.id FROM p WHERE EXISTS (SELECT 1 FROM t WHERE " . on('t') . ") ORDER BY p.$order LIMIT $limit") },
		sub { ('ordered', "SELECT p.id FROM p WHERE NOT EXISTS (SELECT 1 FROM t WHERE " . on('t') . ") ORDER BY p.$order LIMIT $limit") },
		sub { ('ordered', 'SELECT count(*) FROM (SELECT 1 FROM p JOIN t ON ' . on('t') . " LIMIT $limit) x") },
		sub { ('ordered', 'SELECT p.id FROM p ' . pick('', 'LEFT') . ' JOIN t ON ' . equality('t', $key) . " ORDER BY p.$order") },
		# one row of aggregates: joined rows are not made at all
		sub { ('aggregate', 'SELECT count(*), ' . pick('sum(t.v), avg(t.v), min(t.v), count(t.v)', 'max(t.k), min(t.k), count(t.k)', 'count(1)',
			'sum(t.w), max(t.w)', 'sum(t.v), sum(t.w)') . ' FROM p JOIN t ON ' . equality('t', $key) . " WHERE $filter") },
		sub { ('aggregate', 'SELECT count(*), sum(t.v) FROM p JOIN p x USING (id) JOIN t ON ' . equality('t', $key)
			. ' WHERE ' . pick('x.g < 4', 't.w IS NOT NULL', 'EXISTS (SELECT 1 FROM u WHERE u.id = p.id)', 'EXISTS (SELECT 1 FROM u WHERE u.k = t.k)')) },
		sub { ('aggregate', 'SELECT o, (SELECT sum(t.v) FROM p JOIN t ON ' . equality('t', $key) . ' WHERE p.g = o) FROM generate_series(0, 5) o') },
		# rescans: with a parameter, without one, and beside a lateral reference
		sub { ('rows', 'SELECT o, (SELECT count(*) FROM p JOIN t ON ' . on('t') . ' WHERE p.g = o), '
				  . '(SELECT sum(p.n) FROM p LEFT JOIN t ON ' . on('t') . ' AND t.v > o WHERE p.g < 2) FROM generate_series(0, 5) o') },
		sub { ('rows', 'SELECT o, x.* FROM generate_series(0, 5) o LEFT JOIN LATERAL (SELECT p.id, t.v FROM p JOIN t ON '
				  . on('t') . ' WHERE p.g = o AND p.id < 500) x ON true') },
		sub { ('rows', 'SELECT o, x.id, t.v FROM generate_series(0, 5) o CROSS JOIN LATERAL (SELECT * FROM p WHERE p.g = o OFFSET 0) p JOIN t ON '
				  . on('t') . ' JOIN p x ON x.id = p.id AND x.n > o') },
		sub { ('cursor', 'SELECT p.id FROM p LEFT JOIN t ON ' . on('t') . ' ORDER BY p.id') })->();
}

# ---- running a query ----

# ours: core's joins are priced out, so that ours is taken where it can be; stock: without ours
sub mode_sql
{
	my ($mode) = @_;
	my $ours = $mode eq 'ours';
	my $memory = $ours ? pick(qw(64kB 64kB 256kB 4MB)) : '4MB';
	my $sql = "SET LOCAL work_mem = '$memory';\nSET LOCAL gpubtree.enable_batchjoin = "
	  . ($ours ? 'on' : 'off') . ";\n";
	foreach my $join (qw(enable_hashjoin enable_mergejoin enable_nestloop))
	{
		$sql .= "SET LOCAL $join = " . ($ours ? 'off' : 'on') . ";\n";
	}
	$sql .= 'SET LOCAL enable_sort = ' . ($ours && chance(0.5) ? 'off' : 'on') . ";\n";
	$sql .= 'SET LOCAL gpubtree.enable_device = ' . (chance(0.5) ? 'on' : 'off') . ";\n";
	$sql .= "SET LOCAL gpubtree.batch_setup_cost = " . pick(0, 0, 100) . ";\n";
	$sql .= 'SET LOCAL max_parallel_workers_per_gather = ' . ($ours && chance(0.3) ? 2 : 0) . ";\n";
	return $sql;
}

sub answer_sql
{
	my ($kind, $query, @moves) = @_;

	return "SELECT count(*), md5(string_agg(q::text, ';')) FROM ($query) q;\n" if $kind eq 'ordered';
	return "DECLARE c SCROLL CURSOR FOR $query;\n" . join('', map { "FETCH $_ FROM c;\n" } @moves) . "CLOSE c;\n"
	  if $kind eq 'cursor';
	return "SELECT count(*), md5(string_agg(r, ';' ORDER BY r COLLATE \"C\")) FROM (SELECT q::text AS r FROM ($query) q) x;\n";
}

my $queries = 0;
my $mismatches = 0;
my %plans;

sub compare_query
{
	my ($kind, $query) = random_query();
	my $isolation = chance(0.1) ? 'SERIALIZABLE' : 'REPEATABLE READ';
	my @moves = map { pick('FORWARD 3', 'FORWARD 50', 'BACKWARD 2', 'BACKWARD 40', 'LAST', 'FIRST', 'PRIOR') } 1 .. 8;
	my $ours = mode_sql('ours');
	my $output = $session->query_safe("BEGIN ISOLATION LEVEL $isolation;\n"
		  . mode_sql('stock') . answer_sql($kind, $query, @moves)
		  . "\\echo ====\n$ours" . answer_sql($kind, $query, @moves)
		  . "\\echo ====\n"
		  . "EXPLAIN (COSTS OFF) $query;\nCOMMIT;");
	my ($theirs, $mine, $plan) = split(/^====\n?/m, $output, -1);

	$queries++;
	$plans{"$kind, ours"}++ if $plan =~ /GpubtreeJoin/;
	$plans{'join aggregate'}++ if $plan =~ /GpubtreeJoinAggregate/;
	$plans{"$1 join"}++ while $plan =~ /Join Type: (\w+)/g;
	$plans{"columns of the $1"}++ while $plan =~ /Inner Columns: (\w+)/g;
	$plans{"order $1"}++ while $plan =~ /Output Order: (\w+)/g;
	$plans{'parallel'}++ if $plan =~ /Gather.*GpubtreeJoin/s;
	$plans{'several'}++ if $plan =~ /GpubtreeJoin.*GpubtreeJoin/s;
	return if $theirs eq $mine;
	diag "differs ($isolation): $query\n$ours\nstock: $theirs\nours: $mine\n$plan" if $mismatches++ < 3;
	return;
}

foreach my $round (1 .. $rounds)
{
	my $before = $mismatches;

	create_tables();
	compare_query() foreach (1 .. 60);
	is($mismatches - $before, 0, "round $round: joins with $keytype keys agree");
	last if $mismatches > 10;
}
$session->quit;
note "$queries queries; plans: " . join(', ', map { "$_ $plans{$_}" } sort keys %plans);

# The comparison means nothing if the node was not used.
if ($rounds >= 24 && $mismatches == 0)
{
	foreach my $plan ('Inner join', 'Left join', 'Semi join', 'Anti join', 'columns of the Index',
		'columns of the Table', 'order Outer', 'order Any', 'parallel', 'several', 'cursor, ours', 'ordered, ours',
		'join aggregate')
	{
		cmp_ok($plans{$plan} // 0, '>', 5, "plans with: $plan");
	}
}
$node->stop;
done_testing();
