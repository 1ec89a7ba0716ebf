# Indexes whose files are damaged, what 061, 065, 117 and 134 share: making tables and doing the damage,
# asking queries in every way and changing the tables, and seeing that nothing comes of it but right
# answers and reports of damage.
package GpubtreeDamage;

use GpubtreePages;
use GpubtreeTest;
use Exporter 'import';

our @EXPORT = qw(gpb_damage_node gpb_do_damage gpb_flip_bits gpb_damage_server gpb_test_damages);

my $verbose = [ '-v', 'VERBOSITY=verbose' ];

# A server whose pages tests write, and which plans as queries ask for
sub gpb_damage_server
{
	my ($settings) = @_;

	return gpb_node('main', damages => 1, settings => <<"CONF");
autovacuum = off
fsync = off
jit = off
max_parallel_workers_per_gather = 0
client_min_messages = error
log_min_error_statement = panic
$settings
CONF
}

# Return a server with the queries to ask of damaged tables: arrays of the ways, which attempt() knows,
# and of what to ask in each of them.  In a query $t stands for the table, $lo for a key in its middle.
# attempt(query, how) returns the answer as a text, or SQLSTATE and message.
sub gpb_damage_node
{
	my (@queries) = @_;
	my $node = gpb_damage_server('');
	my $sql = <<'SQL';
CREATE FUNCTION attempt(query text, how text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	context text;
BEGIN
	PERFORM set_config('statement_timeout', '5min', true);
	PERFORM set_config('enable_seqscan', (how = 'seqscan')::text, true);
	PERFORM set_config('enable_sort', (how = 'seqscan')::text, true);
	PERFORM set_config('enable_indexscan', (how LIKE 'index%')::text, true);
	PERFORM set_config('enable_indexonlyscan', (how IN ('index_only', 'cpu', 'device'))::text, true);
	PERFORM set_config('enable_bitmapscan', (how = 'bitmap')::text, true);
	PERFORM set_config('gpubtree.enable_aggregate', (how IN ('aggregate', 'cpu', 'device'))::text, true);
	PERFORM set_config('gpubtree.enable_device', (how <> 'cpu')::text, true);
	PERFORM set_config('gpubtree.setup_cost', '0', true);
	PERFORM set_config('gpubtree.batch_setup_cost', '0', true);
	EXECUTE query INTO answer;
	RETURN coalesce(answer, 'none');
EXCEPTION WHEN others THEN
	GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
	RETURN sqlstate || ': ' || sqlerrm ||
		coalesce(' while ' || substring(context FROM 'reading block \d+ of index "\w+"'), '');
END $$;
CREATE TABLE queries (n serial, how text, query text);
SQL

	foreach my $asked (@queries)
	{
		my ($ways, $texts) = @$asked;

		foreach my $how (@$ways)
		{
			$sql .= "INSERT INTO queries (how, query) VALUES ('$how', \$q\$$_\$q\$);\n" foreach @$texts;
		}
	}
	$node->safe_psql('postgres', $sql);
	return $node;
}

# Stop the server, and do to the index of each table, TABLE_k, what %$harm says, on $bytes.  The
# function "is_sound" says beforehand whether the index is what the test is about.
sub gpb_do_damage
{
	my ($node, $harm, $is_sound) = @_;
	my %path = map { split(/ /, $_) } split(/\n/, $node->safe_psql('postgres',
		"SELECT left(relname, -2) || ' ' || pg_relation_filepath(oid) FROM pg_class WHERE relname LIKE '%\\_k'"));

	$node->stop;
	foreach my $table (sort keys %$harm)
	{
		my $file = $node->data_dir . "/$path{$table}";

		$bytes = slurp_file($file);
		die "the index of $table is not what the test is about" unless $is_sound->();
		$harm->{$table}->();
		write_pages($file);
	}
	return;
}

# Flip a bit of each of up to so many bytes, which the function chooses: block, and place in it.
sub gpb_flip_bits
{
	my ($most, $choose) = @_;

	foreach (1 .. 1 + int(rand($most)))
	{
		my ($block, $at) = $choose->();

		substr($bytes, $block * PAGE + $at, 1) ^= chr(1 << int(rand(8)));
	}
	return;
}

# May this answer be one to a locator or key that damage has made up?  Core says that the table has
# no such block, or the block no such row, and that sums of keys are out of range.  Of the index's
# own file it never complains but with XX002, and of the table's only where a locator can be wrong.
# The code of an error in a segment that is not there is by an errno of something before.
sub is_unusable
{
	my ($answer, $table_file) = @_;

	return $answer =~ /XX001: could not read block(?: \d+|s \d+\.\.\d+) in file "\Q$table_file\E": read only 0 of 8192 bytes/
	  || $answer =~ /[0-9A-Z]{5}: could not open file "\Q$table_file\E\.\d+" .*previous segment is only/
	  || $answer =~ /XX000: tuple offset out of range/
	  || $answer =~ /22003: /;
}

# SQL that asks the table each of the queries, by the way that goes with it or by another; a line with
# the query's number for each
sub ask
{
	my ($table, $lo, $how) = @_;

	return "SELECT n || '=' || attempt(replace(replace(query, '\$t', '$table'), '\$lo', \$q\$$lo\$q\$), $how) FROM queries ORDER BY n;\n";
}

# Run statements, those after one that fails too.  Stops the test if the server has died or does not
# answer.
sub run_all
{
	my ($node, $what, $sql) = @_;
	my $timed_out = 0;
	my ($rc, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 0, timeout => 1800, timed_out => \$timed_out,
		extra_params => $verbose);

	BAIL_OUT("$what: no answer") if $timed_out;
	BAIL_OUT("$what: the server died: $err") if $rc == 2;
	return ($out, $err);
}

# Test what the checker says; nothing, if "says" is undef.
sub test_checker
{
	my ($table, $says, $said) = @_;

	return is($said, '', "$table: checker") unless defined $says;
	like($said, $says, "$table: checker");
	return like($said, qr/^$|^XX002: .*index "${table}_k"/, "$table: names index and block, or row");
}

# Test what the checker says of a damaged table, what its scans answer, and what changes do to it.
sub test_damaged
{
	my ($node, $table, $is, $right) = @_;
	my $changes = $is->{changes} // <<"SQL";
INSERT INTO $table SELECT * FROM $table WHERE i % 3 = 0;
DELETE FROM $table WHERE i % 1000 BETWEEN 100 AND 950;
SQL
	my $more_changes = $is->{more_changes} // "INSERT INTO $table SELECT * FROM $table WHERE i % 7 = 0;\n";
	my ($out, $err) = run_all($node, $table, <<"SQL");
SELECT attempt('SELECT gpubtree_check(''${table}_k'', true)', 'index');
@{[ ask($table, $is->{lo} // '', 'how') ]}
SET statement_timeout = '5min';
@{[ $is->{grows} // '' ]}
$changes
VACUUM (INDEX_CLEANUP ON) $table;
$more_changes
REINDEX INDEX ${table}_k;
SELECT gpubtree_check('${table}_k', true);
SQL
	my ($said, @answers) = split(/\n/, $out);
	my $odd = '';

	test_checker($table, $is->{says}, $said);
	foreach my $n (sort keys %$right)
	{
		my ($answer) = map { /^$n=(.*)/ } @answers;

		next if defined $answer && ($answer eq $right->{$n} || $answer =~ /^XX002: /);
		# A wrong key or row may also be one that core cannot use.
		next if defined $answer && $is->{may_be_wrong} && ($answer !~ /^[0-9A-Z]{5}: / || is_unusable($answer, $is->{file}));
		$odd .= "query $n: " . substr($answer // 'no answer', 0, 200) . "\n";
	}
	is($odd, '', "$table: scans");

	# Changes may succeed, or report damage; the first line of each error has code and message.
	my @odd = grep { /(?:ERROR|FATAL|PANIC):/ && !/ERROR:  XX002: / } split(/\n/, $err);
	@odd = grep { !is_unusable($_, $is->{file}) } @odd if $is->{may_be_wrong};
	is(join("\n", @odd), '', "$table: changes, VACUUM, REINDEX");
	return;
}

# Make tables, damage their indexes, and test each.  A table, named by the key, is a hash:
#
#	create			SQL that makes it, but for VACUUM ANALYZE
#	lo				see gpb_damage_node(), if queries have that
#	like			the table that has the right answers
#	harm			what is done to its index, on $bytes
#	says			what the checker says; undef if nothing
#	may_be_wrong	may scans be wrong, since no reader of single pages sees the damage?
#	grows			SQL that changes it before all else does
#	changes			SQL that changes it before VACUUM, and
#	more_changes	after it, if not as usual
sub gpb_test_damages
{
	my ($node, $is_sound, %tables) = @_;
	my @tables = sort keys %tables;
	my %right;

	$node->safe_psql('postgres', join('', map { "$tables{$_}{create}\nVACUUM ANALYZE $_;\n" } @tables));
	foreach (split(/\n/, $node->safe_psql('postgres', "SELECT relname, pg_relation_filepath(oid) FROM pg_class WHERE relkind = 'r'")))
	{
		my ($table, $file) = split(/\|/);
		$tables{$table}{file} = $file if exists $tables{$table};
	}
	foreach my $like (map { $_->{like} } values %tables)
	{
		$right{$like} //= { map { split(/=/, $_, 2) } split(/\n/, $node->safe_psql('postgres', ask($like, $tables{$like}{lo} // '', "'seqscan'"))) };
	}
	gpb_do_damage($node, { map { $_ => $tables{$_}{harm} } @tables }, $is_sound);
	$node->start;
	gpb_wait_for_service($node);
	test_damaged($node, $_, $tables{$_}, $right{ $tables{$_}{like} }) foreach @tables;
	return;
}

1;
