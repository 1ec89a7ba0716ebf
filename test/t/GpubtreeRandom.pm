# Random tables and queries, whose answers through gpubtree are compared with core's in one
# snapshot: what 034 to 041 share.
#
# A script makes one GpubtreeRandom, which has the server, a session, and the count of mismatches.
# The script itself says what its tables and queries are, and which settings lead to which plan:
#
#	my $random = GpubtreeRandom->new(rounds => 24);
#	$random->use_device('host');
#	foreach my $round (1 .. $random->rounds)
#	{
#		$random->sql(...);			# a new table
#		last unless $random->round("round $round: ...", 60, sub { $random->compare(...) });
#	}
#	$random->finish(...);
#
# Every choice comes from Perl's rand(), which gpb_seed() seeds, so a seed repeats a run as long as
# the same choices are made in the same order.  Whoever changes the order of the choices here
# changes what the seeds of test/seeds lead to.
package GpubtreeRandom;

use GpubtreeTest;
use Exporter 'import';

our @EXPORT = qw(chance pick between gpb_quiet_sessions gpb_values gpb_family gpb_index_order
  gpb_column_types gpb_column_domains gpb_column_value gpb_order_of
  gpb_fixed_width_types gpb_fixed_width_sql
  gpb_table_sql gpb_isolation gpb_moves gpb_digest_sql gpb_answer_sql gpb_stock_sql gpb_prepared_sql);

# ---- choices ----

# True with that probability
sub chance { return rand() < $_[0] }

# One of the arguments
sub pick { return $_[ int(rand(@_)) ] }

# An integer from lo to hi
sub between { my ($lo, $hi) = @_; return $lo + int(rand($hi - $lo + 1)) }

# ---- key types ----

# For each key type the function that makes an SQL expression of the type from an SQL expression
# for a number.  The numbers that tests use begin at 0; dates begin at "start", timestamps go on by
# "step".  Floats come if "floats" is true.
sub gpb_values
{
	my (%options) = @_;
	my $start = $options{start} // '2024-11-01';
	my $step = $options{step} // '12 hours';

	return (
		int2 => sub { "(($_[0]) - 100)::int2" },
		int4 => sub { "(($_[0]) - 100)::int4" },
		int8 => sub { "(($_[0]) - 100)::int8" },
		date => sub { "(date '$start' + ($_[0])::int4)" },
		timestamp => sub { "(timestamp '$start' + ($_[0]) * interval '$step')" },
		timestamptz => sub { "(timestamptz '$start' + ($_[0]) * interval '$step')" },
		$options{floats} ? (
			float4 => sub { "((($_[0]) - 100) / 8.0)::float4" },
			float8 => sub { "((($_[0]) - 100) / 8.0)::float8" }) : ());
}

# The types that a key of this type may be compared with, its own among them
sub gpb_family
{
	my ($type) = @_;
	return qw(float8 float4 float8) if $type =~ /^float/;
	return $type =~ /^int/ ? qw(int2 int4 int8) : qw(date timestamp timestamptz);
}

# For each type of a key column: "sql" makes an expression of it from one for a number from 0 on,
# "other" are the types that it is compared with, "extremes" literals at its limits.  Values of the
# domain "far" lie far apart; both domains are gpb_column_domains().
sub gpb_column_types
{
	my @integers = (other => [qw(int2 int4 int8)], sql => sub { "(($_[0]) - 5)" });
	my @infinities = (extremes => [ "'infinity'", "'-infinity'" ]);
	my @times = (other => [qw(date timestamp timestamptz)], @infinities);
	my @floats = (other => [qw(float4 float8)], sql => sub { "((($_[0]) - 5) / 8.0)" }, @infinities);
	my @int8 = (extremes => [ '(-9223372036854775808)', '9223372036854775807' ]);

	return (
		int2 => { @integers, extremes => [ '(-32768)', '32767' ] },
		small => { @integers, extremes => [ '(-32768)', '32767' ] },
		int4 => { @integers, extremes => [ '(-2147483648)', '2147483647' ] },
		int8 => { @integers, @int8 },
		far => { other => ['int8'], sql => sub { "((($_[0]) - 5)::int8 * 1000000007)" }, @int8 },
		bool => { other => ['bool'], sql => sub { "(($_[0]) % 2 = 1)" }, extremes => ['true'] },
		oid => { other => ['oid'], sql => sub { "(($_[0])::int8::oid)" }, extremes => [ '4294967295', '0' ] },
		date => { @times, sql => sub { "(date '2024-11-01' + ($_[0])::int4)" } },
		timestamp => { @times, sql => sub { "(timestamp '2024-11-01' + ($_[0]) * interval '7 hours')" } },
		timestamptz => { @times, sql => sub { "(timestamptz '2024-11-01' + ($_[0]) * interval '12 hours')" } },
		float4 => {@floats},
		float8 => {@floats},
		(map { ("numeric($_, 2)" => { other => [ "numeric($_, 2)", 'numeric', 'numeric(30, 10)', 'int4' ],
			sql => sub { "((($_[0]) - 5) / 8.0)" }, extremes => [ "'NaN'", map { $_ . '.99)' } '(' . '9' x ($_ - 2), '(-' . '9' x ($_ - 2) ] }) } 8, 9),
		uuid => { other => ['uuid'], sql => sub { "(md5((($_[0]) % 13)::text || (($_[0]) / 13))::uuid)" },
			extremes => ["'ffffffff-ffff-ffff-ffff-ffffffffffff'"] });
}

sub gpb_column_domains { return "CREATE DOMAIN small AS int2;\nCREATE DOMAIN far AS int8;\n" }

# SQL for a random value of a row's column, or NULL, cast to the column's type, of which gpb_column_types()
# has more.  A column is a hash: its type, the probability "null", "number", an expression for a number
# from 0 on (any below "domain" if there is none), and the probability of an extreme (0.01).
sub gpb_column_value
{
	my ($column, $type) = @_;
	my $value = $type->{sql}->($column->{number} // "floor(random() * $column->{domain})::int4");
	my $extreme = pick(@{ $type->{extremes} });
	my $often = $column->{extreme} // 0.01;

	return "(CASE WHEN random() < $column->{null} THEN NULL WHEN random() < $often THEN $extreme\::$column->{type} "
	  . "ELSE $value\::$column->{type} END)";
}

# ---- tables ----

# For each type of fixed width SQL that makes a value of a number n, a few of which are near each
# other, or of a random r; then literals at the limits.  There is no -0 among them: rows of it and of
# 0 may come in any order.  "mood" is an enum type of the caller's, "code" a domain, see
# gpb_fixed_width_sql().
sub gpb_fixed_width_types
{
	return (
		bool => [ 'n % 2 = 0', qw(true false) ],
		'"char"' => [ '(n % 256 - 128)::int::"char"', '\200', '\377', '', '~' ],
		int2 => [ '(n - 30000)::int2', -32768, 32767, 0, -1 ],
		int4 => [ '(r * 4294967295 - 2147483648)::int8::int4', -2147483648, 2147483647, 0 ],
		int8 => [ '((r - 0.5) * 1.8e19)::numeric(20, 0)::int8', '-9223372036854775808', '9223372036854775807', 2147483648 ],
		oid => [ '(r * 4294967295)::int8::oid', 0, 2147483647, 2147483648, 4294967295 ],
		float4 => [ '((n - 300) / 8.0)::float4', qw(NaN infinity -infinity 1e-45 -3.4028235e38) ],
		float8 => [ '(r - 0.5) * power(10, n % 40 - 20)', qw(NaN infinity -infinity 5e-324 -1e308 0.1) ],
		date => [ "date '2000-01-01' + n - 300", '-infinity', 'infinity', '4714-11-24 BC', '5874897-12-31' ],
		time => [ "time '00:00' + r * interval '86399 s'", '00:00', '24:00', '23:59:59.999999' ],
		timetz => [ "(time '00:00' + (n % 1440) * interval '1 min') AT TIME ZONE make_interval(mins => (r * 1900)::int - 950)",
			'00:00+00', '24:00-15:59:59', '00:00+15:59:59', '24:00+00', '00:00-01', '23:00+00', '01:00+01' ],
		timestamp => [ "timestamp '2000-01-01' + (n - 300) * interval '7 h'", '-infinity', 'infinity', '294276-12-31 23:59:59.999999' ],
		timestamptz => [ "timestamptz '2000-01-01' + r * interval '9 years'", '-infinity', 'infinity', '4714-11-24 00:00:00+00 BC' ],
		money => [ '((r - 0.5) * 10000)::numeric::money', '-92233720368547758.08', '92233720368547758.07', 0 ],
		xid8 => [ '(r * 1.8e19)::numeric(20, 0)::text::xid8', 0, '9223372036854775807', '9223372036854775808', '18446744073709551615' ],
		pg_lsn => [ "pg_lsn '7FFFFFFF/FFFFFF00' + n::numeric", '0/0', '7FFFFFFF/FFFFFFFF', '80000000/0', 'FFFFFFFF/FFFFFFFF' ],
		uuid => [ "(repeat(lpad(to_hex(n % 7), 4, '0'), 4) || bits(r, 16))::uuid", map { "$_-0000-0000-0000-000000000000" } '00000000', '80000000', '7fffffff' ],
		macaddr => [ "(lpad(to_hex(n % 300), 6, '0') || bits(r, 6))::macaddr", '00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff', '80:00:00:00:00:00' ],
		macaddr8 => [ "(bits(r, 8) || bits(n, 8))::macaddr8", '00:00:00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff:ff:ff', '80:00:00:00:00:00:00:00', '7f:ff:ff:ff:ff:ff:ff:ff' ],
		code => [ "(bits(r, 2) || bits(n, 14))::macaddr8", '00:00:00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff:ff:ff' ],
		'numeric(12, 3)' => [ '(n - 300) / 8.0', 'NaN', 999999999.999, -999999999.999, 0 ],
		'numeric(30, 8)' => [ "(r - 0.5)::numeric * power(10::numeric, n % 23)", 'NaN', '9' x 22 . '.99999999', '-' . '9' x 22 . '.99999999', '1e-8', 0 ],
		'numeric(38)' => [ "trunc((r - 0.5)::numeric * power(10::numeric, n % 39))", 'NaN', '9' x 38, '-' . '9' x 38, '18446744073709551616', '-18446744073709551615' ],
		interval => [ 'make_interval(days => n % 40, hours => (r * 100)::int)', '1 day', '24 hours', '1 month', '30 days', '-178000000 years' ],
		mood => [ '(enum_range(null::mood))[1 + n % 4]', qw(sad glum ok happy) ]);
}

# SQL that creates what the expressions of gpb_fixed_width_types() name
sub gpb_fixed_width_sql
{
	return <<'SQL';
CREATE DOMAIN code AS macaddr8;
CREATE FUNCTION bits(r float8, n int) RETURNS text LANGUAGE sql AS
	$$SELECT left(md5(r::text), n)$$;
SQL
}

# The order of an index's key
sub gpb_index_order { return pick('', '', 'DESC', 'NULLS FIRST', 'DESC NULLS LAST') }

# What ORDER BY says for the order of these columns in their index, or for its reverse.  The columns
# are hashes with name and order.
sub gpb_order_of
{
	my @columns = @_;
	my $reverse = chance(0.5);

	return join(', ', map {
		my $desc = $_->{order} =~ /DESC/ ? 1 : 0;
		my $first = $_->{order} =~ /NULLS FIRST/ || ($desc && $_->{order} !~ /NULLS LAST/) ? 1 : 0;
		"$_->{name} " . ($desc != $reverse ? 'DESC' : 'ASC') . ' NULLS ' . ($first != $reverse ? 'FIRST' : 'LAST') } @columns);
}

# SQL that makes a table anew: builds its index before or after the rows come in, vacuums it or not,
# and then changes some of the rows, or does not.  Options:
#
#	name, columns, fillfactor (default 70)
#	index		the statement that creates the index
#	load		statements that insert the rows
#	after		more SQL for a table that has both, or a function that returns it
#	changes		statements of which one may come last; by default they expect columns id, v and w
#	hot			what a default change that leaves the index alone sets; none if this is missing
#	more_changes	beside the default ones
#	index_first, vacuumed, changed
#				probabilities
sub gpb_table_sql
{
	my (%table) = (fillfactor => 70, after => '', index_first => 0.5, vacuumed => 0.7, changed => 0.6, @_);
	my $name = $table{name};
	my @changes = @{ $table{changes} // [
		($table{hot} ? "UPDATE $name SET $table{hot} WHERE id % 7 = 0;\n" : ()),
		"UPDATE $name SET v = v + 1, w = NULL WHERE id % 5 = 0;\n",
		"DELETE FROM $name WHERE id % 3 = 0;\n",
		@{ $table{more_changes} // [] },
		"BEGIN;\nDELETE FROM $name;\nROLLBACK;\n" ] };
	my $sql = "DROP TABLE IF EXISTS $name CASCADE;\n"
	  . "CREATE TABLE $name ($table{columns}) WITH (fillfactor = $table{fillfactor});\n"
	  . (chance($table{index_first}) ? $table{index} . $table{load} : $table{load} . $table{index});

	$sql .= ref $table{after} ? $table{after}->() : $table{after};
	$sql .= "VACUUM ANALYZE $name;\n" if $table{vacuumed} == 1 || chance($table{vacuumed});
	$sql .= pick(@changes) if chance($table{changed});
	return $sql;
}

# ---- queries ----

sub gpb_isolation { return chance(0.1) ? 'SERIALIZABLE' : 'REPEATABLE READ' }

# What a cursor is moved by; more ways if given
sub gpb_moves
{
	my @more = @_;
	return map { pick('FORWARD 3', 'FORWARD 50', 'BACKWARD 2', 'BACKWARD 40', 'LAST', 'FIRST', 'PRIOR', @more) } 1 .. 8;
}

# A query of one line that stands for all rows of another: how many there are, and a digest of them,
# in the order in which they come if "ordered".  No semicolon at the end.
sub gpb_digest_sql
{
	my ($query, $ordered) = @_;

	return "SELECT count(*), md5(string_agg(q::text, ';')) FROM ($query) q" if $ordered;
	return "SELECT count(*), md5(string_agg(r, ';' ORDER BY r COLLATE \"C\")) FROM (SELECT q::text AS r FROM ($query) q) x";
}

# Statements that show a query's answer.  Kinds: "rows", in any order; "ordered"; "cursor", which is
# moved by the moves given.
sub gpb_answer_sql
{
	my ($kind, $query, @moves) = @_;

	return "DECLARE c SCROLL CURSOR FOR $query;\n" . join('', map { "FETCH $_ FROM c;\n" } @moves) . "CLOSE c;\n"
	  if $kind eq 'cursor';
	return gpb_digest_sql($query, $kind eq 'ordered') . ";\n";
}

# Statements that show an answer by sequential scans without our nodes, and undo the settings
sub gpb_stock_sql
{
	my ($answer) = @_;
	my @scans = qw(enable_indexscan enable_indexonlyscan enable_bitmapscan);

	return join('', map { "SET LOCAL $_ = off;\n" } 'gpubtree.enabled', @scans) . $answer
	  . join('', map { "RESET $_;\n" } 'gpubtree.enabled', @scans);
}

# Statements that prepare a query with one parameter and execute it with each of the arguments
sub gpb_prepared_sql
{
	my ($type, $query, @arguments) = @_;

	return "PREPARE q ($type) AS $query;\n" . join('', map { "EXECUTE q ($_);\n" } @arguments) . "DEALLOCATE q;\n";
}

# ---- comparing ----

# What sessions print for every statement would bury, in thousands of statements, what the log
# should show.
sub gpb_quiet_sessions
{
	no warnings 'redefine', 'once';
	*PostgreSQL::Test::BackgroundPsql::note = sub { };
	return;
}

# Options: rounds (GPB_ROUNDS overrules it); devices, an array (GPB_DEVICE overrules it);
# settings, more lines for postgresql.conf.
sub new
{
	my ($class, %options) = @_;
	my $seed = gpb_seed();
	my @devices = $ENV{GPB_DEVICE} ? ($ENV{GPB_DEVICE}) : @{ $options{devices} // ['host'] };
	my $self = {
		seed => $seed,
		rounds => $ENV{GPB_ROUNDS} // $options{rounds},
		all_rounds => $options{rounds},
		devices => \@devices,
		device => $devices[0],
		queries => 0,
		mismatches => 0,
		seen => {} };

	gpb_quiet_sessions();
	# Tests have little data; with small chunks a request has several of them all the same.
	$self->{node} = gpb_node('main', small_chunks => 1, settings => <<"CONF" . ($options{settings} // ''));
gpubtree.device = '$devices[0]'
autovacuum = off
timezone = 'America/New_York'
fsync = off
jit = off
client_min_messages = warning
max_parallel_workers_per_gather = 0
CONF
	return bless $self, $class;
}

sub node { return $_[0]->{node} }
sub rounds { return $_[0]->{rounds} }
sub devices { return @{ $_[0]->{devices} } }
sub mismatches { return $_[0]->{mismatches} }
sub seed { return $_[0]->{seed} }

# A new session with that device.  The server is restarted if it has another one; "how" may be
# 'reload' instead.
sub use_device
{
	my ($self, $device, $how) = @_;
	my $node = $self->{node};

	$self->{session}->quit if $self->{session};
	if ($device ne $self->{device})
	{
		$node->append_conf('postgresql.conf', "gpubtree.device = '$device'");
		($how // 'restart') eq 'reload' ? $node->reload : $node->restart;
		$self->{device} = $device;
	}
	gpb_wait_for_service($node) if $device ne 'off';
	# A session outlives a query that fails, which counts as a mismatch.
	$self->{session} = $node->background_psql('postgres', on_error_stop => 0);
	$self->{session}->set_query_timer_restart();
	return;
}

# Run statements that must not fail.
sub sql
{
	my ($self, $statements) = @_;
	return $self->{session}->query_safe($statements);
}

# Run the parts of one transaction, and return the output of each, then the errors.  In every second
# one the host device has the prices of a GPU, which lead to other plans.
sub run_parts
{
	my ($self, $isolation, @parts) = @_;
	my $session = $self->{session};
	my $prices = $self->{queries} % 2 && !$ENV{GPB_OLD} ? "SET LOCAL gpubtree.sparing_kinds = 2;\n" : '';
	my $output = $session->query("BEGIN ISOLATION LEVEL $isolation;\n$prices" . join('', map { "$_\\echo ====\n" } @parts) . 'COMMIT;');
	my $errors = $session->{stderr};

	$session->{stderr} = '';
	$session->query('DEALLOCATE ALL') if $errors ne '';
	$self->{queries}++;
	return ((split(/^====\n?/m, $output, -1))[ 0 .. $#parts ], $errors);
}

# Note that answers differ; the first few are shown.
sub mismatch
{
	my ($self, $text) = @_;

	diag $text if $self->{mismatches}++ < 3;
	return;
}

# Answer a query by core's plans and by ours, in one snapshot, and return our plan.  Options:
#
#	query, isolation
#	stock		settings for core's plans, and the statements that show the answer
#	settings	those that lead to our plan
#	answer		the statements again
#	explain		the EXPLAIN
#	mode		a word for the message, if there are several ways to our plan
sub compare
{
	my ($self, %run) = @_;
	if ($ENV{GPB_OLD})
	{
		# Two builds are to choose alike of their own accord too.
		$self->{session}->query("EXPLAIN (VERBOSE) $run{query};") if $run{query} !~ /\$\d/;
		return ($self->run_parts($run{isolation}, $run{settings} . $run{answer}, $run{explain}))[1] // '';
	}
	my ($theirs, $ours, $plan, $errors) =
	  $self->run_parts($run{isolation}, $run{stock}, $run{settings} . $run{answer}, $run{explain});

	$self->mismatch('differs (' . join(', ', grep { defined } $run{mode}, $run{isolation}) . '): '
		  . substr($run{query}, 0, 2000) . "\n$run{settings}\nstock: $theirs\nours: $ours\n" . substr($plan // '', 0, 3000)
		  . "\n$errors")
	  if $theirs ne $ours || $errors ne '';
	return $plan // '';
}

# Count that something was seen, in a plan for example.
sub saw
{
	my ($self, $what) = @_;
	$self->{seen}{$what}++;
	return;
}

# One assertion for n calls of the function, which compares; returns false if there have been so
# many mismatches that going on would tell no more.
sub round
{
	my ($self, $name, $n, $compare) = @_;
	return 1 if $ENV{GPB_OLD} && $name =~ /beside|while|standby/;
	my $before = $self->{mismatches};

	$compare->() foreach (1 .. $n);
	is($self->{mismatches} - $before, 0, $name);
	return $self->{mismatches} <= 10;
}

# After the rounds: whatever the seed, each of these is seen more than "least" times, as finish() wants
# it.  Where the rounds were too few for that the function, which compares, is called up to n times more.
sub go_on_until_seen
{
	my ($self, $least, $n, $compare, @plans) = @_;

	return if $self->{rounds} < $self->{all_rounds} || $ENV{GPB_OLD};
	while ($n-- > 0 && $self->{mismatches} == 0 && grep { ($self->{seen}{$_} // 0) <= $least } @plans)
	{
		$compare->();
	}
	return;
}

# The end of a test.  Comparisons mean nothing if the plans that are to be tested were not used:
# each of those named must have been seen more than "least" times, unless the rounds were cut
# short.
sub finish
{
	my ($self, $least, @plans) = @_;
	my $seen = $self->{seen};

	$self->{session}->quit;
	note "$self->{queries} queries; seen: " . join(', ', map { "$_ $seen->{$_}" } sort keys %$seen);
	if ($self->{rounds} >= $self->{all_rounds} && $self->{mismatches} == 0)
	{
		cmp_ok($seen->{$_} // 0, '>', $least, "queries with: $_") foreach @plans;
	}
	$self->{node}->stop;
	done_testing();
	return;
}

1;
