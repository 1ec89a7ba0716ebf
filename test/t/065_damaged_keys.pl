# One wrong key in an index, of a leaf or of an inner page: every node, and a scan of many ranges,
# ends, with an answer or with an error that says index_corrupted.  No search for what comes next
# may come back to where it was.
#
# Guards: gpb_first_entry (search.c), rank_cuts.c, and the errors of bucket_exec.c, bucket_batch.c
# and rank_find.c.
#
# GPB_FUZZ	number of indexes with keys damaged by chance (default 10)
use GpubtreeDamage;
use GpubtreePages;
use GpubtreeTest;

gpb_seed();

# ---- damages: name => [where, the wrong key] ----

# Places: [block, number of the entry]
my %places = (
	leaf_first => sub { [ leaf(50), 0 ] },
	leaf_middle => sub { [ leaf(50), int(entries(leaf(50)) / 2) ] },
	leaf_last => sub { [ leaf(50), entries(leaf(50)) - 1 ] },
	first_leaf => sub { [ leaf(0), 1 ] },
	inner_first => sub { [ inner(1), 0 ] },
	inner_middle => sub { [ inner(1), int(entries(inner(1)) / 2) ] },
	inner_last => sub { [ inner(1), entries(inner(1)) - 1 ] },
	root => sub { [ root(), 1 ] });

# Wrong keys, computed from the key that was there
my %keys = (
	zero => sub { 0 },
	most => sub { 0xFFFFFFFFFFFFFFFF },
	smaller => sub { $_[0] - 1 },
	much_smaller => sub { $_[0] - 300 },
	larger => sub { $_[0] + 1 },
	much_larger => sub { $_[0] + 300 },
	elsewhere => sub { get(leaf(400), key_place(leaf(400), 1), 'Q<') },
	bit_20 => sub { $_[0] ^ (1 << 20) },
	bit_62 => sub { $_[0] ^ (1 << 62) });

sub damage
{
	my ($place, $key) = @_;
	my $at = key_place(@$place);

	put($place->[0], $at, 'Q<', $key->(get($place->[0], $at, 'Q<')));
	return;
}

sub damage_by_chance
{
	foreach (1 .. 1 + int(rand(3)))
	{
		my $block = 1 + int(rand(blocks() - 1));
		next if entries($block) <= 0;
		my $name = (sort keys %keys)[ int(rand(keys %keys)) ];
		damage([ $block, int(rand(entries($block))) ], $keys{$name});
	}
	return;
}

# ---- tables ----

my $node = gpb_damage_server("timezone = 'America/St_Johns'\ngpubtree.rank_parts = 48");
my %damages = ('sound' => sub { });
foreach my $place (keys %places)
{
	foreach my $key (keys %keys)
	{
		$damages{"${place}_$key"} = sub { damage($places{$place}->(), $keys{$key}) };
	}
}
$damages{"chance_$_"} = \&damage_by_chance for 1 .. ($ENV{GPB_FUZZ} // 10);

# Half of the tables have timestamps as keys, for the functions of time.
my @tables = sort keys %damages;
my %is_time = map { $tables[$_] => $_ % 2 } 0 .. $#tables;
$is_time{sound} = 0;
push @tables, 'sound_time';
$is_time{sound_time} = 1;
$damages{sound_time} = sub { };

my $create = "CREATE TABLE outers (id int PRIMARY KEY, n int);\nINSERT INTO outers SELECT i, i * 37 FROM generate_series(1, 500) i;\nANALYZE outers;\n";
foreach my $table (@tables)
{
	my $type = $is_time{$table} ? 'timestamptz' : 'int8';
	my $key = $is_time{$table} ? "timestamptz '2020-01-01 UTC' + i * interval '7 minutes'" : 'i * 3';

	$create .= <<"SQL";
CREATE TABLE $table (k $type NOT NULL, a int4, c int8, d int8, e int8, f int8);
INSERT INTO $table SELECT $key, i % 9, i, i, i, i FROM generate_series(1, 6000) i;
CREATE INDEX ${table}_k ON $table USING gpubtree (k) INCLUDE (a, c, d, e, f) WITH (fillfactor = 10);
SQL
}
$node->safe_psql('postgres', $create . 'VACUUM ANALYZE ' . join(', ', @tables) . ";\n");

# ---- queries: node => [query, ...]; $t is the table, $lo and $hi are keys, $n is a number as a key ----

my %queries = (
	GpubtreeAggregate => [
		'SELECT count(*), sum(a), min(k), max(k) FROM $t WHERE k >= $lo',
		'SELECT count(*), sum(a) FROM $t WHERE k BETWEEN $lo AND $hi',
		'SELECT count(*), sum(a) FROM $t WHERE k = ANY (ARRAY(SELECT $n(o.n) FROM outers o))' ],
	GpubtreeBucketAggregate => [
		'SELECT count(*), sum(n), sum(s) FROM (SELECT $bucket, count(*) AS n, sum(a) AS s FROM $t WHERE k >= $lo GROUP BY 1 OFFSET 0) q',
		'SELECT count(*), sum(n) FROM (SELECT $fine, count(*) AS n FROM $t GROUP BY 1 OFFSET 0) q' ],
	GpubtreeRank => [
		'SELECT sum(a) FROM (SELECT a FROM $t ORDER BY k OFFSET 3000 LIMIT 5) q',
		'SELECT sum(a) FROM (SELECT a FROM $t WHERE k > $lo ORDER BY k DESC OFFSET 2500 LIMIT 300) q' ],
	GpubtreePercentile => [
		'SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY k), count(*) FROM $t',
		'SELECT percentile_disc(ARRAY(SELECT i / 1000.0 FROM generate_series(0, 1000) i)) WITHIN GROUP (ORDER BY k) FROM $t' ],
	GpubtreeJoin => [
		'SELECT count(*), sum(a) FROM (SELECT t.a FROM outers o JOIN $t t ON t.k = $n(o.n) OFFSET 0) q' ],
	GpubtreeJoinAggregate => ['SELECT count(*), sum(t.a) FROM outers o JOIN $t t ON t.k = $n(o.n)'],
	GpubtreeRangeAggregate => [
		'SELECT count(*), sum(s) FROM (SELECT o.id, sum(t.a) AS s FROM outers o JOIN $t t ON t.k BETWEEN $n(o.n) AND $n(o.n + 90) GROUP BY o.id OFFSET 0) q' ],
	'Index Only Scan' => [
		map { "SELECT count(*), min(n), max(n) FROM (SELECT row_number() OVER () AS n FROM \$t WHERE k = ANY (ARRAY(SELECT \$n(o.n) FROM outers o)) ORDER BY k $_ OFFSET 0) q" } 'ASC', 'DESC' ],
	# This function is no node, but runs batches all the same.
	'' => ['SELECT matches, sum FROM gpubtree_probe(\'$t_k\', (SELECT array_agg($n(i)) FROM generate_series(-5, 21000) i))']);

sub query_of
{
	my ($query, $table) = @_;
	my $time = $is_time{$table};
	my %put = (
		t_k => "${table}_k",
		t => $table,
		lo => $time ? "timestamptz '2020-01-02 UTC'" : '500',
		hi => $time ? "timestamptz '2020-01-20 UTC'" : '9000',
		bucket => $time ? "date_trunc('day', k)" : 'k / 100',
		fine => $time ? "date_bin('20 minutes', k, timestamptz '2020-01-01 UTC')" : 'k / 7');

	$query =~ s/\$n\(([^)]*)\)/$time ? "timestamptz '2020-01-01 UTC' + ($1) * interval '1 minute'" : "($1)::int8"/ge;
	$query =~ s/\$(t_k|t|lo|hi|bucket|fine)\b/$put{$1}/g;
	return $query;
}

my $settings = join('', map { "SET $_;\n" } "statement_timeout = '5min'", 'enable_seqscan = off', 'enable_bitmapscan = off',
	'enable_hashjoin = off', 'enable_mergejoin = off', 'enable_hashagg = off', 'gpubtree.setup_cost = 0', 'gpubtree.batch_setup_cost = 0',
	'timezone = "UTC"');

# Core's own scan of the index is what GpubtreeRank is made of; where another node is wanted it is
# in the way.
sub settings_for
{
	my ($wanted) = @_;

	return $settings . "SET enable_indexscan = on;\nSET enable_indexonlyscan = on;\n" if $wanted =~ /^(?:GpubtreeRank|Index Only Scan)$/;
	return $settings . "SET enable_indexscan = off;\nSET enable_indexonlyscan = off;\n";
}

my @all = map { my $wanted = $_; map { [ $wanted, $_ ] } @{ $queries{$wanted} } } sort keys %queries;

# The answer as a text, or SQLSTATE and message, also of a statement that runs out of time
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION attempt(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SELECT q::text FROM (%s) q', query) INTO answer;
	RETURN answer;
EXCEPTION WHEN query_canceled OR others THEN
	RETURN 'ERROR ' || sqlstate || ': ' || sqlerrm;
END $$;
SQL

# The answers of all queries, in their order, for each of the tables; "also" is run first.
sub answers
{
	my ($also, @tables) = @_;
	my $sql = $also;

	foreach my $table (@tables)
	{
		$sql .= "\\echo = $table\n" . join('', map { settings_for($_->[0]) . 'SELECT attempt($q$' . query_of($_->[1], $table) . "\$q\$);\n" } @all);
	}
	my ($rc, $out, $err) = $node->psql('postgres', $sql, timeout => 1800);

	BAIL_OUT("the server died: $err, after: " . substr($out, -500)) if $rc == 2;
	return map { my ($table, @answers) = split(/\n/); $table => \@answers } grep { $_ ne '' } split(/^= /m, $out . $err);
}

# ---- what is right, and that the nodes are there ----

foreach my $sound (qw(sound sound_time))
{
	my @plans = split(/^=\n/m, $node->safe_psql('postgres', join("\\echo =\n",
		map { settings_for($_->[0]) . 'EXPLAIN SELECT q::text FROM (' . query_of($_->[1], $sound) . ") q;\n" } @all)));

	like($plans[$_], qr/\b$all[$_][0]\b/, "$sound: $all[$_][0] answers \"$all[$_][1]\"") foreach grep { $all[$_][0] ne '' } 0 .. $#all;
}
my %right = answers('', qw(sound sound_time));

# ---- do the damage ----

gpb_do_damage($node, \%damages, sub { field(root(), 'level') == 2 });

# ---- ask ----

# Return what is neither a right answer nor a report of damage.  A key that no search can see to be
# wrong may lead to a wrong answer, and a damaged timestamp may be beyond its type.
sub odd
{
	my ($table, $answers) = @_;
	my @odd;

	foreach my $i (0 .. $#all)
	{
		my $answer = $answers->[$i] // 'no answer';
		next if $answer =~ /^ERROR XX002: / || ($is_time{$table} && $answer =~ /^ERROR 22008: /);
		push @odd, "$all[$i][1]: $answer" if $answer eq 'no answer' || $answer =~ /ERROR/;
	}
	return join("\n", @odd);
}

my %ways = (
	'the mirror' => [ 'host', '' ],
	'the CPU' => [ 'off', '' ],
	'index scans' => [ 'off', "SET default_transaction_isolation = serializable;\n" ]);
foreach my $way (sort keys %ways)
{
	my ($device, $also) = @{ $ways{$way} };

	$node->append_conf('postgresql.conf', "gpubtree.device = '$device'");
	$node->start;
	gpb_wait_for_service($node) if $device ne 'off';
	my %answers = answers($also, @tables);
	foreach my $table (@tables)
	{
		is_deeply($answers{$table}, $right{$table}, "$table, $way: right answers") if exists $right{$table};
		is(odd($table, $answers{$table} // []), '', "$table, $way");
	}
	cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM gpubtree_mirrors'), '>', 0, 'there are mirrors') if $device ne 'off';
	$node->stop;
}
gpb_nothing_crashed($node);
done_testing();
