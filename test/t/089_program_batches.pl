# Batches with programs: filters, terms with filters of their own, expressions, groups.  Every engine
# gives what SQL gives, for rows that are all-visible and for others, for leaves that the device
# answers and for those that it leaves over.  A fault, and groups beyond the memory, end the run.
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, small_chunks => 1, settings => "autovacuum = off\n");
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;
CREATE TABLE t (k bigint, v int, w bigint);
INSERT INTO t SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE i END,
	CASE WHEN i % 7 = 0 THEN NULL ELSE i * 37 % 1000 END, i * 3 - 5000
FROM generate_series(1, 30000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, w);

-- ranges of different lengths, some of them without rows
CREATE TABLE range AS
	SELECT i, i * 100 AS lo, i * 100 + i % 37 * 20 - 1 AS hi FROM generate_series(1, 300) i;
CREATE VIEW found AS SELECT i, k, v, w FROM range JOIN t ON k BETWEEN lo AND hi;
CREATE FUNCTION rows_of_one(program text, mode text) RETURNS SETOF bigint[] LANGUAGE sql AS $$
	SELECT gpubtree_test_program('t_k', ARRAY[1], ARRAY[29999], program, mode)
$$;

-- the same rows in two tables, about which one question is asked
CREATE TABLE t_even AS SELECT * FROM t WHERE w % 2 = 0;
CREATE TABLE t_odd AS SELECT * FROM t WHERE w % 2 <> 0;
CREATE INDEX t_even_k ON t_even USING gpubtree (k) INCLUDE (v, w);
CREATE INDEX t_odd_k ON t_odd USING gpubtree (k) INCLUDE (v, w);
CREATE FUNCTION rows_of_two(program text, mode text) RETURNS SETOF bigint[] LANGUAGE sql AS $$
	SELECT gpubtree_test_ask('{t_even_k,t_odd_k}', array_agg(lo ORDER BY i), array_agg(hi ORDER BY i),
		program, mode) FROM range
$$;
CREATE FUNCTION rows_of(program text, mode text) RETURNS SETOF bigint[] LANGUAGE sql AS $$
	SELECT gpubtree_test_program('t_k', array_agg(lo ORDER BY i), array_agg(hi ORDER BY i),
		program, mode) FROM range
$$;
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE');
gpb_wait_for_service($node);

my $sum = 'coalesce(sum(%s), 0), CASE WHEN sum(%s) < 0 THEN -1 ELSE 0 END';
(my $sum_w = $sum) =~ s/%s/w/g;
(my $sum_v = $sum) =~ s/%s/v * 2 + 1/g;

# Name, program, how it is asked for, rows by SQL
my @programs = (
	[ 'a filter, by range', 'const 500 step lt t0 1 c0 - - step filter - t0 - - - term 2 3 3 -', '',
		"SELECT ARRAY[range.i, 0, count(k), count(w), $sum_w]
		 FROM range LEFT JOIN found ON found.i = range.i AND v < 500 GROUP BY range.i" ],
	[ 'two filters in total',
		'const 500 const -1000 step lt t0 1 c0 - - step filter - t0 - - - step gt t1 2 c1 - - '
		  . 'step filter - t1 - - - term 2 3 3 - term 0 3 5 -', 'total',
		"SELECT ARRAY[0, 0, count(*), count(w), $sum_w, count(k), min(k), max(k)] FROM found
		 WHERE v < 500 AND w > -1000" ],
	[ 'FILTER, and an expression',
		'const 2 const 1 const 30 step multiply t0 1 c0 - - step add t0 t0 c1 - - step ge t1 1 c2 - - '
		  . 'term t0 3 3 - term - 3 1 t1 term t0 3 3 t1', 'total',
		"SELECT ARRAY[0, 0, count(*), count(v), $sum_v, count(*) FILTER (WHERE v >= 30),
			count(v) FILTER (WHERE v >= 30), sum(v * 2 + 1) FILTER (WHERE v >= 30), 0] FROM found" ],
	[ 'groups, with NULLs', 'const 10 step modulo t0 1 c0 - - group t0 term 2 3 3 -', '',
		"SELECT ARRAY[0, (v IS NULL)::int, coalesce(v % 10, 0), count(*), count(w), $sum_w]
		 FROM found GROUP BY v IS NULL, coalesce(v % 10, 0)" ],
	[ 'groups of two values', 'const 3 step modulo t0 2 c0 - - group 1 group t0', '',
		"SELECT ARRAY[0, (v IS NULL)::int, coalesce(v, 0), w % 3, count(*)]
		 FROM found GROUP BY v, w % 3" ],
	[ 'groups by range', 'const 5 step modulo t0 2 c0 - - group t0 byrange', '',
		'SELECT ARRAY[i, 0, w % 5, count(*)] FROM found GROUP BY i, w % 5' ],
	[ 'no rows', 'const 5000 step gt t0 1 c0 - - step filter - t0 - - - group 1', '',
		'SELECT ARRAY[0::bigint] WHERE false' ]);

# The groups of one range come in one request: what the CPU adds is merged with them at the end.
my @of_one = (
	[ 'few groups, all of which the device has',
		'const 10 step modulo t0 1 c0 - - group t0 term 2 3 3 -', '',
		"SELECT ARRAY[0, (v IS NULL)::int, coalesce(v % 10, 0), count(*), count(w), $sum_w]
		 FROM t WHERE k BETWEEN 1 AND 29999 GROUP BY v IS NULL, coalesce(v % 10, 0)" ],
	[ 'a group each, some of which the CPU alone has', 'group 0 term 2 3 3 -', '',
		"SELECT ARRAY[0, 0, k, count(*), count(w), $sum_w]
		 FROM t WHERE k BETWEEN 1 AND 29999 GROUP BY k" ]);

my $plain = 'SET gpubtree.enabled = off; ';
my $as_text = "coalesce(string_agg(r::text, ' ' ORDER BY r), 'none')";

# Ask for each program in each engine; "begin" is how the transaction begins.
sub check
{
	my ($state, $begin, @modes) = @_;
	my $two = $state eq 'all-visible';

	foreach my $program (@programs, @of_one)
	{
		my ($name, $words, $how, $sql) = @$program;
		my @rows_of = grep({ $_ == $program } @of_one) ? ('rows_of_one') : ('rows_of', $two ? ('rows_of_two') : ());
		my $expected = $node->safe_psql('postgres', "$plain SELECT $as_text FROM ($sql) s (r)");

		foreach my $mode (@modes)
		{
			is($node->safe_psql('postgres',
					"$begin; SELECT $as_text FROM $_('$words', '$mode $how') r; COMMIT"),
				$expected, "$state, $mode, $_: $name")
			  foreach @rows_of;
		}
	}
	return;
}

check('all-visible', 'BEGIN', 'cpu', 'device');
$node->safe_psql('postgres', 'UPDATE t SET v = v + 1 WHERE k % 11 = 0; DELETE FROM t WHERE k % 13 = 0');
check('not vacuumed', 'BEGIN', 'cpu', 'device');
check('settled', 'BEGIN', 'cpu', 'device');
check('serializable', 'BEGIN ISOLATION LEVEL SERIALIZABLE', 'cpu');
$node->safe_psql('postgres', 'VACUUM t');
check('vacuumed again', 'BEGIN', 'cpu', 'device');

# ---- giving up ----

# What a program gives up for; the error of the test's function says it.
sub gives_up
{
	my ($name, $words, $mode, $why, $settings, $rows_of) = @_;

	$rows_of //= 'rows_of';
	my ($code, $out, $err) = $node->psql('postgres',
		($settings // '') . "SELECT count(*) FROM $rows_of('$words', '$mode')");

	like($err, qr/the batch gave up: $why/, "$mode: $name");
	return;
}

my $hashed = 'SET work_mem = 64; SET hash_mem_multiplier = 1; ';
foreach my $mode ('cpu', 'device')
{
	gives_up('a fault', 'const 500 step subtract t0 1 c0 - - step divide t1 2 t0 - - term t1 3 3 -',
		$mode, 'a value is out of range');
	gives_up('too many groups', 'group 0', $mode, 'more groups than hash_mem holds', $hashed);
	gives_up('too many groups of one range', 'group 0', $mode, 'more groups than hash_mem holds',
		$hashed, 'rows_of_one');
	is($node->safe_psql('postgres', "SELECT count(*) FROM rows_of('const 500 step ne t0 1 c0 - - "
			  . "step filter - t0 - - - step subtract t1 1 c0 - - step divide t2 2 t1 - - term t2 3 3 -', "
			  . "'$mode total')"),
		1, "$mode: what would fault is filtered out");
}

# A row that the snapshot does not see does not fault.
$node->safe_psql('postgres', 'UPDATE t SET v = 501 WHERE v = 500; DELETE FROM t WHERE v IN (499, 500)');
foreach my $mode ('cpu', 'device')
{
	is($node->safe_psql('postgres', "SELECT count(*) FROM rows_of('const 500 "
			  . "step subtract t1 1 c0 - - step divide t2 2 t1 - - term t2 3 3 -', '$mode total')"),
		1, "$mode: rows that are not seen do not fault");
}

is($node->safe_psql('postgres', 'SELECT slots_free = slots AND memory_free = memory_bytes FROM gpubtree_batches'),
	't', 'every slot and all memory is free again');
gpb_nothing_crashed($node);

done_testing();
