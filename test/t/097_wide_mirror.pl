# Keys of 16 bytes, of (int4, timestamptz) and of uuid, in any order: ranges, lists, groups and programs
# that the device answers from a mirror of them, and rows in the order of the index, are those of a
# sequential scan in the same snapshot, among inserts, deletions of whole ranges whose pages VACUUM takes
# out of the tree, and refreshes; on a standby too, where all that replays to identical pages
# (wal_consistency_checking).
#
# Guards: the bounds of wide keys in requests, pieces and images (ranges.h, layout.h), host_leaf.c; WAL
# of pages with wide keys.
#
# GPB_ROUNDS	changes of each table (default 6)
use GpubtreeTest;

gpb_seed();
my $settings = "autovacuum = off\ngpubtree.batch_setup_cost = 0\ngpubtree.chunk_least = 8\ngpubtree.chunk_most = 64\n"
  . "wal_consistency_checking = 'gpubtree'\n";
my $node = gpb_node('main', allows_streaming => 1, settings => $settings);
my $order = (qw(ASC DESC), 'NULLS FIRST', 'DESC NULLS LAST')[ int(rand(4)) ];
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE events (tenant int4 NOT NULL, at timestamptz, v int4, f float8);
CREATE INDEX events_k ON events USING gpubtree (tenant, at) INCLUDE (v, f);
CREATE TABLE uuids (k uuid, v int4, f float8);
CREATE INDEX uuids_k ON uuids USING gpubtree (k $order) INCLUDE (v, f);
SQL
my $standby = gpb_standby($node);

sub below { return int(rand($_[0])) }
sub at { return "timestamptz '2024-01-01' + " . below(1000) . " * interval '1 hour'" }
sub uuid { return sprintf("'%08x-0000-0000-%04x-%012x'::uuid", below(4) * 2**30, below(2**16), below(2**32)) }

# Rows that share their upper halves in part, so that either half decides
my %insert = (
	events => sub { "INSERT INTO events SELECT random() * 40, CASE WHEN i % 50 > 0 THEN timestamptz '2024-01-01'"
		  . " + (random() * 1000000)::int * interval '3 seconds' END, i, i / 8.0 FROM generate_series(1, 6000) i;\n" },
	uuids => sub { "INSERT INTO uuids SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE (CASE WHEN i % 2 = 0 THEN '00000000-0000-0000-'"
		  . " || substr(md5(random()::text), 1, 4) || '-' ELSE left(md5(random()::text), 16) || '0000' END"
		  . " || substr(md5(random()::text), 1, 12))::uuid END, i, i / 8.0 FROM generate_series(1, 6000) i;\n" });
my %where = (
	events => [
		sub { 'tenant = ' . below(42) . ' AND at BETWEEN ' . at() . ' AND ' . at() },
		sub { 'tenant = ' . below(42) . ' AND at > ' . at() },
		sub { 'tenant BETWEEN ' . below(42) . ' AND ' . below(42) },
		sub { 'tenant = ' . below(42) . ' AND at IS NULL' },
		sub { "tenant = ANY ('{" . join(',', map { below(42) } 1 .. 90) . "}') AND at >= " . at() } ],
	uuids => [
		sub { 'k BETWEEN ' . uuid() . ' AND ' . uuid() },
		sub { 'k > ' . uuid() },
		sub { 'k IS NULL' },
		sub { 'k <= ' . uuid() } ]);
my %engines;

# The query's rows by our node and by a sequential scan, in one snapshot
sub compare
{
	my ($on, $table) = @_;
	my $choices = $where{$table};
	my $where = $choices->[ below(scalar @$choices) ]->();
	my @queries = (
		"SELECT count(*), sum(v), min(v), max(v), sum(f), count(" . ($table eq 'events' ? 'at' : 'k') . ") FROM $table WHERE $where",
		"SELECT count(*) FILTER (WHERE v % 3 = 0), sum(v * 2)" . ($table eq 'events' ? ', min(at), max(tenant)' : '')
		  . " FROM $table WHERE $where AND v % 7 <> 1",
		"SELECT * FROM $table WHERE $where AND v % 100 = 7",
		($table eq 'events' ? 'SELECT tenant, count(*), sum(v), max(at)' : 'SELECT v % 5, count(*), sum(v), 1')
		  . " FROM $table WHERE $where GROUP BY 1",
		"SELECT md5(string_agg(q::text, ',')) FROM (SELECT " . ($table eq 'events' ? 'at' : 'k') . " AS k FROM $table WHERE "
		  . ($table eq 'events' ? $choices->[0]->() : $where) . ' ORDER BY k DESC) q');
	my $query = $queries[ below(5) ];
	my $rows = "SELECT count(*), md5(string_agg(q::text, ';' ORDER BY q::text COLLATE \"C\")) FROM ($query) q;\n";
	my $kind = $query =~ /GROUP BY/ ? 'groups' : $query =~ /ORDER BY/ ? 'order' : $query =~ /FILTER/ ? 'program'
	  : $query =~ /\*.*% 100/ ? 'rows' : 'sums';
	my $core = $kind eq 'order' ? "SET LOCAL enable_indexscan = on;\nSET LOCAL enable_indexonlyscan = on;\nSET LOCAL enable_sort = off;\n" : '';
	my $scans = "SET LOCAL enable_seqscan = off;\nSET LOCAL enable_indexscan = off;\nSET LOCAL enable_indexonlyscan = off;\n"
	  . "SET LOCAL enable_bitmapscan = off;\n";
	my $output = $on->safe_psql('postgres', "BEGIN ISOLATION LEVEL REPEATABLE READ;\n${scans}SET LOCAL gpubtree.enabled = off;\n"
		  . "${rows}SET LOCAL gpubtree.enabled = on;\n${core}${rows}EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query;\nCOMMIT;");
	my ($stock, $answer, $plan) = split(/\n/, $output, 3);

	$engines{"$table, $kind"}++ if $plan =~ ($kind eq 'order' ? qr/Index (?:Only )?Scan/ : qr/Engine: .*device/);
	return $stock eq $answer ? 0 : do { diag("$query\n$stock\n$answer\n$plan"); 1 };
}

foreach my $round (1 .. $ENV{GPB_ROUNDS} // 6)
{
	foreach my $table (sort keys %insert)
	{
		# whole leaves are left empty, and taken out of the tree; their blocks serve again
		my $change = $round == 1 ? $insert{$table}->() . "VACUUM ANALYZE $table;\n"
		  : (
			sub { "DELETE FROM $table WHERE " . $where{$table}[1]->() . ";\nVACUUM $table;\n" },
			sub { "DELETE FROM $table WHERE random() < 0.3;\n" . (rand() < 0.5 ? "VACUUM $table;\n" : '') },
			sub { "UPDATE $table SET v = v + 1 WHERE v % 9 = 0;\n" },
			sub { "DELETE FROM $table WHERE " . $where{$table}[0]->() . ";\nVACUUM $table;\n" . $insert{$table}->() })[ below(4) ]->();
		my $mismatches = 0;

		$node->safe_psql('postgres', gpb_setseed() . $change);
		$mismatches += compare($node, $table) foreach 1 .. 12;
		is($mismatches, 0, "round $round, $table: the device answers as a sequential scan");
		is($node->safe_psql('postgres', "SELECT gpubtree_check('${table}_k', true)"), '', "round $round, $table: the index is sound");
	}
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	my $mismatches = 0;
	$mismatches += compare($standby, (sort keys %insert)[ below(2) ]) foreach 1 .. 6;
	is($mismatches, 0, "round $round: so does that of a standby");
}
# Whatever the seed, each table has had each kind of query that is answered as wanted.
foreach my $table (sort keys %insert)
{
	my @kinds = map { "$table, $_" } qw(sums program rows groups order);
	my $mismatches = 0;

	for (1 .. 200)
	{
		$mismatches += compare($node, $table) if grep { !$engines{$_} } @kinds;
	}
	is($mismatches, 0, "$table: so does what the rounds lacked");
	ok($engines{$_}, "as wanted: $_") foreach @kinds;
}
note join(', ', map { "$_: $engines{$_}" } sort keys %engines);
done_testing();
