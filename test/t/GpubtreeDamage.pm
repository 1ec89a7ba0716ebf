# Indexes whose files are damaged, what 061, 065, 117 and 134 share: doing the damage, attempting
# queries in every way, and seeing that nothing comes of it but right answers and reports of damage.
package GpubtreeDamage;

use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use GpubtreePages;
use GpubtreeTest;
use Exporter 'import';

our @EXPORT = qw(gpb_damage_node gpb_do_damage gpb_damaged_answers gpb_test_damaged);

# Return a server for damages, with a function attempt(query, how) for the ways of the queries: it
# returns the answer as a text, or SQLSTATE and message.
sub gpb_damage_node
{
	my $node = gpb_node('main', damages => 1, settings => <<'CONF');
autovacuum = off
client_min_messages = error
log_min_messages = warning
log_min_error_statement = panic
max_parallel_workers_per_gather = 0
jit = off
CONF

	$node->safe_psql('postgres', <<'SQL');
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
SQL
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

# Return number and answer of each of the table "queries", asked of the table; "how" is an SQL
# expression.  In a query $t stands for the table, $lo for a key in its middle.
sub gpb_damaged_answers
{
	my ($node, $table, $lo, $how) = @_;
	my ($rc, $out, $err) = $node->psql('postgres',
		"SELECT n || '=' || attempt(replace(replace(query, '\$t', '$table'), '\$lo', \$q\$$lo\$q\$), $how) FROM queries ORDER BY n",
		timeout => 1800);

	BAIL_OUT("$table: the server died: $err") if $rc == 2;
	return map { split(/=/, $_, 2) } split(/\n/, $out);
}

# Test what checker, scans and changes of a damaged table say.
#
#	lo				see gpb_damaged_answers()
#	right			its answers while the table was sound
#	says			what the checker says; undef if nothing
#	may_be_wrong	may scans be wrong, since no reader of single pages sees the damage?
#	grows			SQL that changes the table before all else does; it may stop with an error
sub gpb_test_damaged
{
	my ($node, $table, %is) = @_;
	my (undef, $said) = $node->psql('postgres', "SELECT attempt('SELECT gpubtree_check(''${table}_k'', true)', 'index')");
	my %answers = gpb_damaged_answers($node, $table, $is{lo}, 'how');
	my @odd = "without an answer" x (keys %answers < keys %{ $is{right} });

	if (defined $is{says}) { like($said, $is{says}, "$table: checker") }
	else { is($said, '', "$table: checker") }
	for my $n (sort keys %answers)
	{
		my $answer = $answers{$n};

		next if $answer eq $is{right}{$n} || $answer =~ /^XX002: /;
		# a wrong key or row may also be one that core cannot use
		next if $is{may_be_wrong} && $answer !~ /^57014: /;
		push @odd, "query $n: " . substr($answer, 0, 200);
	}
	is(join("\n", grep { $_ ne '' } @odd), '', "$table: scans");

	my ($rc, $out, $err) = $node->psql('postgres', <<"SQL", on_error_stop => 0, timeout => 1800, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
SET statement_timeout = '5min';
@{[ $is{grows} // '' ]}
\\set ON_ERROR_STOP on
INSERT INTO $table SELECT * FROM $table WHERE i % 3 = 0;
DELETE FROM $table WHERE i % 1000 BETWEEN 100 AND 950;
VACUUM (INDEX_CLEANUP ON) $table;
INSERT INTO $table SELECT * FROM $table WHERE i % 7 = 0;
REINDEX INDEX ${table}_k;
SELECT gpubtree_check('${table}_k', true);
SQL
	BAIL_OUT("$table: the server died: $err") if $rc == 2;
	@odd = grep { /(?:ERROR|FATAL|PANIC):/ && !/ERROR:  XX002: / } split(/\n/, $err);
	@odd = grep { !/could not read block|tuple offset out of range|previous segment/ } @odd if $is{may_be_wrong};
	is(join("\n", @odd), '', "$table: changes, VACUUM, REINDEX");
	return;
}

1;
