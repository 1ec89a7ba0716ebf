# Lists with programs: filters, entries for which a step faults, limits.  Every engine lists what SQL
# selects, for rows that are all-visible and for others, whether or not the caller visits the heap
# itself.  A limited list has what SQL's first rows are, with those equal to the last one.
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, small_chunks => 1, settings => "autovacuum = off\n");
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;
CREATE TABLE t (k bigint, v int, w bigint);
INSERT INTO t SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE i / 2 END,
	CASE WHEN i % 7 = 0 THEN NULL ELSE i * 37 % 1000 END, i * 1237 % 60000
FROM generate_series(1, 60000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, w);

-- ranges of different lengths, some of which overlap, and some of them without rows; and long ones
CREATE TABLE range AS
	SELECT i, i * 100 AS lo, i * 100 + i % 37 * 20 - 1 AS hi FROM generate_series(1, 300) i;
CREATE TABLE long_range AS SELECT * FROM (VALUES (1, 100, 12000), (2, 15000, 29000)) l (i, lo, hi);
CREATE FUNCTION rows_of(kind text, program text, mode text)
RETURNS TABLE (i bigint, faulted bigint, k bigint, v bigint, w bigint)
LANGUAGE plpgsql AS $$ BEGIN
	RETURN QUERY EXECUTE 'SELECT r[1], r[2], r[3], r[4], r[5] FROM (
		SELECT gpubtree_test_program(''t_k'', array_agg(lo ORDER BY i), array_agg(hi ORDER BY i), $1, $2)
		FROM ' || quote_ident(kind) || ') s (r)' USING program, mode;
END $$;
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE');
gpb_wait_for_service($node);

my $plain = 'SET gpubtree.enabled = off; ';
my $digest = "count(*) || ' ' || coalesce(sum(hashtextextended(r::text, 0) % 1000000007), 0)";

# The filter "v < 500", and what it is in SQL
my $half = 'const 500 step lt t0 1 c0 - - step filter - t0 - - -';

# Name, program, rows by SQL without their range
my @filters = (
	[ 'all entries', 'list', 'true' ],
	[ 'a filter', "list $half", 'v < 500' ],
	[ 'few entries', 'list const 3 step eq t0 1 c0 - - step filter - t0 - - -', 'v = 3' ],
	[ 'no entries', 'list const 3000 step eq t0 1 c0 - - step filter - t0 - - -', 'false' ],
	[ 'NULLs', 'list step isnull t0 1 - - - step filter - t0 - - -', 'v IS NULL' ],
	[ 'two filters with an expression',
		"list $half const 3 const 1 step modulo t1 2 c1 - - step eq t1 t1 c2 - - step filter - t1 - - -",
		'v < 500 AND w % 3 = 1' ],
	[ 'the key, by a filter after another',
		"list $half const 10 const 0 step modulo t1 0 c1 - - step eq t1 t1 c2 - - step filter - t1 - - -",
		'v < 500 AND k % 10 = 0' ],
	# faults where v = 500; the filter before it drops those with an odd w
	[ 'faults',
		'list const 2 const 0 const 500 const 1 step modulo t0 2 c0 - - step eq t0 t0 c1 - - '
		  . 'step filter - t0 - - - step subtract t1 1 c2 - - step divide t2 c3 t1 - - '
		  . 'step eq t3 t2 c1 - - step filter - t3 - - -',
		'w % 2 = 0 AND CASE WHEN v = 500 THEN true ELSE 1 / (v - 500) = 0 END',
		'coalesce(v = 500, false)' ]);

# Run statements in one session, each of which gives a line, after "begin"; the lines.
sub lines_of
{
	my ($begin, @statements) = @_;

	return split /\n/, $node->safe_psql('postgres', join(";\n", $begin, @statements, 'COMMIT') . ';');
}

# Compare what each mode gives with what SQL does: [name, SQL, program's statement with a %s]
sub compare
{
	my ($state, $begin, $modes, @cases) = @_;
	my @expected = lines_of("$plain BEGIN", map { $_->[1] } @cases);

	foreach my $mode (@$modes)
	{
		my @got = lines_of($begin, map { sprintf $_->[2], $mode } @cases);
		my @wrong = grep { ($got[$_] // 'nothing') ne $expected[$_] } 0 .. $#cases;

		ok(!@wrong, "$state, $mode");
		diag("$cases[$_][0]: $got[$_] for $expected[$_]") foreach @wrong;
	}
	return;
}

sub check_filters
{
	my ($state, $begin, @modes) = @_;
	my @cases;

	foreach my $filter (@filters)
	{
		my ($name, $program, $where, $faulted) = @$filter;
		$faulted //= 'false';
		foreach my $kind ('range', 'long_range')
		{
			push @cases, [ "$kind, $name",
				"SELECT $digest FROM (SELECT i::bigint, ($faulted)::int::bigint, k, coalesce(v, 0)::bigint, w
				 FROM $kind JOIN t ON k BETWEEN lo AND hi WHERE $where) r",
				doubled("SELECT $digest FROM rows_of('$kind', '$program', '") . "%s') r" ];
		}
	}
	return compare("$state, filters", $begin, \@modes, @cases);
}

# The text, to be given to sprintf
sub doubled
{
	my ($text) = @_;

	$text =~ s/%/%%/g;
	return $text;
}

# Limits: the program's words and the same in SQL
my @orders = (
	[ '2 0 0', 'w' ], [ '2 1 0', 'w DESC' ], [ '1 0 0', 'v NULLS LAST' ], [ '1 0 1', 'v NULLS FIRST' ],
	[ '1 1 0', 'v DESC NULLS LAST' ], [ '1 1 1', 'v DESC NULLS FIRST' ], [ '0 1 0', 'k DESC' ], [ '0 0 0', 'k' ]);

# Rows whose rank is no more than the limit are those of SQL; a list that lacks one has others.
sub check_limits
{
	my ($state, $begin, @modes) = @_;
	my @cases;

	foreach my $order (@orders)
	{
		my ($words, $sql) = @$order;
		foreach my $how ([ 7, '', 'true' ], [ 3000, $half, 'v < 500' ])
		{
			my ($limit, $program, $where) = @$how;
			push @cases, [ "$program limit $limit by $sql",
				"SELECT $digest FROM (SELECT i, k, v, w FROM (
					SELECT rank() OVER (ORDER BY $sql), i::bigint, k, v::bigint, w
					FROM long_range JOIN t ON k BETWEEN lo AND hi WHERE $where) s
				 WHERE rank <= $limit) r",
				doubled("SELECT $digest FROM (SELECT i, k, v, w FROM (
					SELECT rank() OVER (ORDER BY $sql), i, k, v, w FROM (
						SELECT i, k, nullif(v, 0) AS v, w
						FROM rows_of('long_range', 'list $program limit $limit $words', '") . "%s')) n) s
				 WHERE rank <= $limit) r" ];
		}
	}
	return compare("$state, limits", $begin, \@modes, @cases);
}

# No v is 0, so that 0 stands for NULL in what is listed.
$node->safe_psql('postgres', 'UPDATE t SET v = 1 WHERE v = 0');
$node->safe_psql('postgres', 'VACUUM t');

my @modes = map { my $engine = $_; map { $engine . $_ } '', ' little', ' rows', ' rows little' } 'cpu', 'device';
check_filters('all-visible', 'BEGIN', @modes);
check_limits('all-visible', 'BEGIN', @modes);

# A limit keeps nearly all entries from being listed, whatever the order of the walk; ties of the
# last one are listed.
foreach my $mode (@modes)
{
	foreach my $words ('0 0 0', '0 1 0', '2 0 0', '1 0 0', '1 1 1')
	{
		my $n = $node->safe_psql('postgres',
			"SELECT count(*) FROM rows_of('long_range', 'list limit 100 $words', '$mode')");
		my $most = $words eq '1 1 1' ? 9000 : 400;

		cmp_ok($n, '<=', $most, "$mode: a list with limit 100 by $words is short");
	}
}

$node->safe_psql('postgres', 'UPDATE t SET v = v + 1 WHERE k % 11 = 0; DELETE FROM t WHERE k % 13 = 0');
check_filters('not vacuumed', 'BEGIN', @modes);
check_limits('not vacuumed', 'BEGIN', @modes);
check_filters('serializable', 'BEGIN ISOLATION LEVEL SERIALIZABLE', 'cpu', 'cpu rows');
check_limits('serializable', 'BEGIN ISOLATION LEVEL SERIALIZABLE', 'cpu', 'cpu rows');

# The rows that are first are gone, but their entries are not.
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', 'DELETE FROM t WHERE w < 3000 OR v > 900 OR v < 50 OR v IS NULL AND k % 3 = 0');
check_limits('the first rows deleted', 'BEGIN', @modes);
$node->safe_psql('postgres', 'VACUUM t');
check_limits('vacuumed again', 'BEGIN', @modes);

gpb_nothing_crashed($node);

done_testing();
