# The encoding of every key type keeps core's order, and what core has for equal: of special and of
# random values, of all values of the small types, and of keys of several columns, NULLs included, in
# every order that an index may have.
#
# Values are ranked by core's ORDER BY and by the bytes of their keys, equal ones alike.  If all
# ranks agree, so does the comparison of any two of the values.  Floats keep their bits, in the last
# column of a key: -0 is right before 0 there, and searches for either take both.
#
# Guards: coding.h, key_columns.h, key.c, numeric.c
use GpubtreeTest;
use GpubtreeRandom;

my $node = gpb_node('main', settings => "autovacuum = off\nlc_monetary = 'C'\n");
$node->safe_psql('postgres', "CREATE EXTENSION gpubtree_test;\n" . gpb_fixed_width_sql());

my %type = gpb_fixed_width_types();
delete $type{interval};
# Equal to 0, though its bits differ
push @{ $type{$_} }, '-0', '0', '-1e-45' for qw(float4 float8);
# Every power of two, and its neighbours
my @powers = map { ("2^$_", "2^$_ - 1", "2^$_ + 1", "-2^$_", "-2^$_ - 1", "-2^$_ + 1") } 0 .. 62;
my %more = (
	int4 => 'SELECT (v)::int4 FROM powers WHERE v BETWEEN -2147483648 AND 2147483647',
	int8 => 'SELECT (v)::int8 FROM powers',
	oid => 'SELECT v::int8::oid FROM powers WHERE v BETWEEN 0 AND 4294967295',
	float4 => 'SELECT (v)::float4 FROM powers',
	float8 => 'SELECT (v)::float8 FROM powers UNION ALL SELECT 1 / v::float8 FROM powers WHERE v <> 0',
	'numeric(38)' => 'SELECT v FROM powers UNION ALL SELECT v * 2::numeric ^ 60 FROM powers',
	'numeric(30, 8)' => 'SELECT v / 1e8 FROM powers',
	'numeric(12, 3)' => 'SELECT v / 1e3 FROM powers WHERE abs(v) < 1e12');
# The types of which all values are tested
my %all = (
	bool => 'SELECT unnest(ARRAY[false, true])',
	'"char"' => 'SELECT chr_of(i) FROM generate_series(-128, 127) i',
	int2 => 'SELECT i::int2 FROM generate_series(-32768, 32767) i');

$node->safe_psql('postgres', 'CREATE FUNCTION chr_of(i int) RETURNS "char" LANGUAGE sql AS $$SELECT i::"char"$$;'
	  . 'CREATE TABLE powers (v numeric); INSERT INTO powers SELECT * FROM (VALUES '
	  . join(', ', map { '(' . s/2\^/2::numeric ^ /r . ')' } @powers) . ') p (v)');

# Rank the rows of a table by these columns in both ways, and test that all ranks agree, and that
# there are at least so many different values.  "what" ends with the last column's type.
sub ranks_agree
{
	my ($table, $order, $columns, $least, $what) = @_;
	my $key = join(', ', @$columns);
	my $core = $order;

	$core .= ", $columns->[-1]::text = '-0'" . ($order =~ /DESC[A-Z ]*$/ ? '' : ' DESC') if $what =~ /float[48]$/;
	my $result = $node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
DROP INDEX IF EXISTS ranked;
CREATE INDEX ranked ON $table USING gpubtree ($order);
SELECT count(*) FILTER (WHERE core <> ours), max(core) >= $least, count(*) > max(core)
FROM (SELECT dense_rank() OVER (ORDER BY $core) AS core,
	dense_rank() OVER (ORDER BY gpubtree_test_key('ranked', ROW($key))) AS ours FROM $table) r
SQL
	is($result, '0|t|t', "$what: ($order)");
}

my @orders = ('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST');

# Each value is there twice, so that equal ones must have equal keys.
for my $type (sort keys %type)
{
	next if $type eq 'mood';
	my ($value, @special) = @{ $type{$type} };
	my $specials = join(', ', map { "('$_')" } @special);
	my $rows =
	  $all{$type} // "SELECT s::$type FROM (VALUES $specials) s (s) UNION ALL
		SELECT ($value)::$type FROM (SELECT floor(random() * 600)::int AS n, random() AS r FROM generate_series(1, 2000)) x"
	  . ($more{$type} ? " UNION ALL SELECT x::$type FROM ($more{$type}) m (x)" : '');

	$node->safe_psql('postgres', gpb_setseed() . <<"SQL");
SET client_min_messages = warning;
DROP TABLE IF EXISTS v;
CREATE TABLE v (x $type);
INSERT INTO v SELECT x FROM ($rows UNION ALL SELECT NULL::$type) r (x), generate_series(1, 2);
SQL
	ranks_agree('v', "x$_", ['x'], $type eq 'bool' ? 3 : $type eq '"char"' ? 257 : 300, $type) for @orders;
}

# Numerics of several columns have fields as wide as their digits need: few digits, as many as there
# may be, zeros before the point, and more digits behind it than there are.
$type{'numeric(2, 4)'} = [ '(n - 6) / 1e4', 'NaN', '0.0099', '-0.0099', 0 ];
$type{'numeric(6, -2)'} = [ '(n - 6) * 100', 'NaN', '99999900', '-99999900', 0 ];
$type{'numeric(18)'} = [ 'n - 6', 'NaN', '9' x 18, '-' . '9' x 18, '-1' . '0' x 17 ];
# Types of several columns that fit a key together.  Each column has few different values, so that
# later columns decide.
my @keys = (
	[qw(int4 timestamptz)], [qw(int2 int4 date)], [qw(date time)], [qw(bool int8)], ['"char"', 'money'],
	[qw(oid xid8)], [qw(macaddr timestamp)], [qw(int4 float8)], [qw(int2 int2 int2 float4)], [qw(pg_lsn date)],
	[qw(macaddr8 int4)], [ 'int8 NOT NULL', 'timestamptz' ], [ 'timestamptz', 'xid8 NOT NULL' ], [qw(code date)],
	[ 'int4', 'numeric(12, 3)' ], [ 'numeric(12, 3)', 'timestamptz' ], [ 'numeric(2, 4)', 'numeric(18)', 'bool' ],
	[ 'int2', 'numeric(6, -2)', 'numeric(2, 4) NOT NULL' ], [ 'numeric(18) NOT NULL', 'float8' ],
	[ 'numeric(6, -2)', 'timetz' ], [qw(timetz int4)]);
for my $key (@keys)
{
	my @columns = map { "c$_" } 0 .. $#$key;
	my $definitions = join(', ', map { "$columns[$_] $key->[$_]" } 0 .. $#$key);
	my $values = join(', ',
		map {
			my $declared = $key->[$_];
			my $name = $declared =~ s/ NOT NULL//r;
			my ($value, @special) = @{ $type{$name} };
			my $null = $declared =~ /NOT NULL/ ? '' : 'WHEN random() < 0.1 THEN NULL ';
			my $array = 'ARRAY[' . join(', ', map { "'$_'" } @special) . ']::text[]';
			"CASE ${null}WHEN random() < 0.4 THEN (($array)[1 + floor(random() * " . @special . ")])::$name ELSE ($value)::$name END"
		} 0 .. $#$key);

	$node->safe_psql('postgres', gpb_setseed() . <<"SQL");
SET client_min_messages = warning;
DROP TABLE IF EXISTS w;
CREATE TABLE w ($definitions);
INSERT INTO w SELECT $values
FROM (SELECT floor(random() * 12)::int AS n, floor(random() * 5) / 5 AS r FROM generate_series(1, 4000)) x;
INSERT INTO w SELECT * FROM w;
SQL
	for (1 .. 3)
	{
		my @order = map { $_ . pick(@orders) } @columns;

		ranks_agree('w', join(', ', @order), \@columns, 25, "@$key");
	}
}

# All values of a few digits, each of which has a field of another width
for my $type ('numeric(1)', 'numeric(2, 1)', 'numeric(3, 5)', 'numeric(4)')
{
	my ($digits, $scale) = $type =~ /(\d)(?:, (\d))?/;
	my $most = 10 ** $digits - 1;
	my $unit = 10 ** ($scale // 0);

	$node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
DROP TABLE IF EXISTS v;
CREATE TABLE v (x $type, y bool);
INSERT INTO v SELECT x, y FROM generate_series(-$most, $most) i,
	LATERAL (VALUES (i::numeric / $unit), ('NaN'), (NULL)) a (x), (VALUES (true), (NULL)) b (y);
SQL
	ranks_agree('v', "x$_, y", [qw(x y)], 2 * (2 * $most + 3), "$type and bool") for @orders;
}

done_testing();
