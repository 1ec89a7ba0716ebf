# ORDER BY with OFFSET gives, row by row, what core's scan of the same index gives in the same
# snapshot, and percentile_disc what core's aggregate gives: keys of every type, both orders of the
# index and of the query, conditions on the key, long runs of equal keys, rows deleted, updated and
# not visible to everyone, offsets at both ends and beyond, prepared statements, rescans, cursors;
# and a REPEATABLE READ transaction sees the same page twice while others write.
#
# Guards: rank_cuts.c's parts (without gaps, none twice), rank_find.c's counting as far as needed,
# rank_exec.c's start and rescans.
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of tables (default 12)
# GPB_DEVICE	gpubtree.device (default: host, then off)
use JSON::PP;
use GpubtreeTest;
use GpubtreeRandom;

my $random = GpubtreeRandom->new(rounds => 12, devices => [ 'host', 'off' ]);
my $node = $random->node;

# ---- tables ----

# Keys of int8 lie far apart; "small" is a domain over smallint.
my %value = (
	gpb_values(),
	int8 => sub { "(($_[0]) - 100)::int8 * 1000000007" },
	small => sub { "(($_[0]) - 100)::small" });
my ($keytype, $domain, $rows, $not_null, $crowded, @orders);

sub create_table
{
	my ($large) = @_;
	my $null = $not_null ? 0 : pick(0.05, 0.3);
	@orders = @{ pick([ 'ASC NULLS LAST', 'DESC NULLS FIRST' ], [ 'ASC NULLS FIRST', 'DESC NULLS LAST' ]) };
	my $order = pick(@orders);
	# Wide entries and empty leaves make a high tree of few rows.
	my $include = pick('', 'INCLUDE (v)', 'INCLUDE (w, v)', 'INCLUDE (v, w, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11)');
	my $fill = pick(10, 10, 90);
	($include, $fill) = ('INCLUDE (v, w, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11)', 10) if $large;
	my $partial = !$not_null && chance(0.3) ? 'WHERE k IS NOT NULL' : '';
	# Keys lie anywhere, or crowd at one end, so that parts of the index differ in size.
	$crowded = chance(0.3);
	my $number = $crowded ? "floor(pow(random(), 4) * $domain)::int4" : "floor(random() * $domain)::int4";
	my $load = <<"SQL";
INSERT INTO t (k, v, w, s) SELECT
	CASE WHEN random() >= $null THEN @{[ $value{$keytype}->($number) ]} END,
	CASE WHEN random() > 0.1 THEN floor(random() * 100)::int4 END,
	CASE WHEN random() > 0.1 THEN floor(random() * 1000)::int8 END, 'row ' || i
FROM generate_series(1, $rows) i;
SQL
	my $sql = "SELECT setseed(" . rand() . ");\n"
	  . gpb_table_sql(
		name => 't',
		columns => "id serial, k $keytype " . ($not_null ? 'NOT NULL' : '') . ', v int4, w int8, s text, '
		  . join(', ', map { "c$_ int8" } 1 .. 11),
		index => "CREATE INDEX t_k ON t USING gpubtree (k $order) $include WITH (fillfactor = $fill) $partial;\n",
		load => $load,
		hot => "s = 'hot'",
		more_changes => ["DELETE FROM t WHERE id < $rows * 0.8;\n"],
		$large ? (index_first => 0, vacuumed => 1, changed => 0) : (changed => 0.7));

	$sql .= "ANALYZE t;\n";
	$random->sql($sql);
	return;
}

# ---- queries ----

sub value { return $value{$keytype}->(between(-5, $domain + 5)) }

# Conditions that leave NULL keys out, unless there are none
sub condition
{
	my $conditions = join(' AND ', map { pick('k >= ', 'k <= ', 'k > ', 'k < ') . value() } 1 .. pick(0, 1, 1, 2));

	$conditions = 'k = ' . value() if chance(0.05);
	$conditions = 'k IS NOT NULL' if $conditions eq '' && !$not_null;
	return $conditions eq '' ? '' : "WHERE $conditions";
}

sub offset
{
	return pick(0, 1, between(0, 300), between(0, $rows), between(0, $rows), between(0, $rows), abs($rows - between(0, 5)), $rows * 2,
		'(SELECT count(*) / 2 FROM t)', '9223372036854775807');
}

sub limit { return pick(0, 1, 3, 50, 50, 1000, 'NULL', 'ALL') }
sub direction { return pick(@orders) }
sub columns { return pick('k', 'v', 'k, v', 'id, k, s', 't', "'x', v + 1, k", 'ctid') }

sub page
{
	my ($offset, $limit, $condition) = @_;
	return 'SELECT ' . columns() . " FROM t " . ($condition // condition()) . " ORDER BY k " . direction() . " OFFSET $offset LIMIT $limit";
}

# An array of many fractions, in disorder, some of which occur twice and some of which are NULL
sub many_fractions
{
	my $n = pick(30, 300, 2000);
	my $divisor = pick(2000, 20000);

	return "ARRAY(SELECT CASE WHEN i % 17 <> 5 THEN (i * 7919 % 1500) / $divisor.0 END FROM generate_series(1, $n) i)";
}

# Aggregates, the first of which is a percentile.  A percentile passes over NULL keys; where keys may
# be NULL, our node does not take other aggregates beside it.
sub percentiles
{
	my ($fraction) = @_;
	my $k = 'WITHIN GROUP (ORDER BY k ' . pick('', 'DESC', 'NULLS FIRST') . ')';
	my $one = 'percentile_disc(' . ($fraction // pick(0, 1, 0.5, rand(), 1e-9, 'NULL::float8')) . ") $k";
	my $many = 'percentile_disc(' . pick("ARRAY[0.25, 0.5, 0.75]", "ARRAY[[1, NULL], [0.5, 0.1]]", "'{}'::float8[]", "'[5:6]={0,1}'::float8[]", 'NULL::float8[]', many_fractions(), many_fractions()) . ") $k";

	return pick($one, "$one, $many", "$one, count(*), max(k)", "$one, sum(v), count(v), sum(w), $many",
		"$one, " . "coalesce($one, " . value() . ')');
}

# Return a kind and its SQL, which is one query or several statements.
sub random_query
{
	return pick(
		(sub { ('rows', page(offset(), limit())) }) x 4,
		sub {
			my $plan = pick(qw(force_generic_plan force_custom_plan));
			return ('prepared', "SET LOCAL plan_cache_mode = $plan;\nPREPARE p(int8, int8) AS " . page('$1', '$2') . ";\n"
				. join('', map { my ($n, $m) = (pick(0, 'NULL', 1, between(0, $rows), abs($rows - 1)), pick(0, 1, 20, 'NULL'));
					"EXECUTE p($n, $m);\n" } 1 .. 6) . "DEALLOCATE p;\n");
		},
		sub { ('lateral', 'SELECT o, x.* FROM generate_series(0, ' . $rows . ', ' . int($rows / 7 + 1) . ') o, LATERAL ('
			. page('o', pick(1, 5)) . ') x') },
		sub { ('rescan', 'SELECT o, (SELECT k FROM t WHERE id IS NOT NULL' . ($not_null ? '' : ' AND k IS NOT NULL')
			. ' ORDER BY k ' . direction() . ' OFFSET o + ' . int($rows / 3) . ' LIMIT 1) FROM generate_series(0, 3) o') },
		sub { ('rescan', 'SELECT o, x.* FROM generate_series(0, 3) o LEFT JOIN (' . page(int($rows / 2), 5) . ') x ON true') },
		sub { ('rows', 'SELECT count(*) FROM (' . page(offset(), limit()) . ') x') },
		(sub { ('percentile', 'SELECT ' . percentiles() . ' FROM t ' . condition()) }) x 3,
		sub { ('percentile', 'SELECT ' . percentiles() . ' FROM t') },
		sub { ('percentile', 'SELECT o, (SELECT percentile_disc(o / 7.0) WITHIN GROUP (ORDER BY k) FROM t WHERE k < ' . value()
			. ') FROM generate_series(0, 7) o') },
		sub { ('percentiles', "SET LOCAL plan_cache_mode = force_generic_plan;\nPREPARE p(float8) AS SELECT " . percentiles('$1') . ' FROM t '
			. condition() . ";\n" . join('', map { 'EXECUTE p(' . pick(0, 0.3, 0.5, 'NULL', 1) . ");\n" } 1 .. 4) . "DEALLOCATE p;\n") },
		sub {
			('cursor', "DECLARE c SCROLL CURSOR FOR " . page(offset(), 'ALL') . ";\n"
				. join('', map { 'FETCH ' . pick('FORWARD 3', 'FORWARD 50', 'BACKWARD 2', 'BACKWARD 40', 'FIRST', 'PRIOR') . " FROM c;\n" } 1 .. 8)
				. "CLOSE c;\n");
		})->();
}

# ---- running a query ----

# gpubtree.rank_parts: with the few rows here, ranges are cut more than once only into few parts
my $few_parts = 48;
my $rank_parts = $few_parts;

# Settings.  In mode "ours" our node is taken even for small offsets; mode "stock" leaves core a
# scan of the same index, which has the same order of equal keys.
sub mode_sql
{
	my ($mode) = @_;
	my $sql = "SET LOCAL gpubtree.setup_cost = 0;\nSET LOCAL gpubtree.rank_parts = $rank_parts;\n";

	$sql .= "SET LOCAL gpubtree.enable_$_ = " . ($mode eq 'ours' ? 'on' : 'off') . ";\n" foreach qw(rank percentile);
	$sql .= "SET LOCAL $_ = off;\n" foreach qw(enable_seqscan enable_bitmapscan enable_sort enable_material);
	$sql .= "SET LOCAL enable_indexonlyscan = off;\n" if $mode eq 'ours' && chance(0.2);
	$sql .= "SET LOCAL gpubtree.batch_setup_cost = " . pick(0, 0, 100) . ";\n";
	return $sql;
}

sub answer_sql
{
	my ($kind, $query) = @_;
	return $query =~ /^SELECT/ ? gpb_answer_sql('ordered', $query) : $query;
}

sub compare_query
{
	my ($kind, $query) = random_query();
	my $isolation = gpb_isolation();
	my $settings = mode_sql('ours');
	my $explain = $query =~ /^SELECT/ ? "EXPLAIN (COSTS OFF) $query;\n" : $query =~ /(?:FOR|AS) (SELECT .*?);/s ? "EXPLAIN (COSTS OFF) "
	  . ($1 =~ s/\$\d/1000/gr) . ";\n" : '';
	my $plan = $random->compare(
		query => $query,
		isolation => $isolation,
		stock => mode_sql('stock') . answer_sql($kind, $query),
		settings => $settings,
		answer => answer_sql($kind, $query),
		explain => $explain);

	$random->saw($kind) if $plan =~ /GpubtreeRank|GpubtreePercentile/;
	$random->saw('backward') if $plan =~ /GpubtreeRank.*Backward/s;
	$random->saw('index only') if $plan =~ /GpubtreeRank.*Index Only/s;
	$random->saw('serializable') if $plan =~ /GpubtreeRank/ && $isolation eq 'SERIALIZABLE';
	return;
}

# ---- how much is counted and read ----

# In a table without long runs of equal keys, not many more rows are counted than lie before the
# rank, and few are read.
sub count_little
{
	my ($device) = @_;

	foreach my $condition ('', 'WHERE k IS NOT NULL')
	{
		foreach my $offset (300, 3000)
		{
			my $query = "SELECT k FROM t $condition ORDER BY k " . direction() . " OFFSET $offset LIMIT 10";
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
	my $differences = 0;
	@orders = ('ASC', 'DESC');
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
		my $query = "SELECT k, v FROM t ORDER BY k " . direction() . " OFFSET $offset LIMIT 20";
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
	is($node->safe_psql('postgres', "SELECT gpubtree_check('t_k', true)"), '', "$device: the index is sound");
	return;
}

# ---- all of it ----

foreach my $device ($random->devices)
{
	$random->use_device($device);
	$random->sql('DROP TABLE IF EXISTS t; DROP DOMAIN IF EXISTS small; CREATE DOMAIN small AS smallint;');
	foreach my $round (1 .. $random->rounds)
	{
		$rank_parts = $round % 2 ? $few_parts : 2048;
		$keytype = pick(sort keys %value);
		# The first table has so many pages that the gaps between separators are divided by their
		# keys.
		$domain = $round == 1 ? 30000 : pick(3, 20, 400, 5000, 30000);
		$rows = $round == 1 ? 12000 : pick(0, 1, 300, 3000, 6000);
		$not_null = $round == 1 || chance(0.6);
		create_table($round == 1);
		my $go_on = $random->round("$device, round $round: ranks of $keytype keys agree", $round == 1 ? 20 : 50, \&compare_query);
		count_little("$device, $keytype") if $round == 1 && !$crowded;
		last unless $go_on;
	}
	compare_beside_writers($device);
}
$random->finish(5, 'rows', 'lateral', 'rescan', 'prepared', 'percentile', 'percentiles', 'cursor', 'backward', 'index only',
	'serializable');
