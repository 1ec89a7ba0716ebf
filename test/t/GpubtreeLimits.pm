# The bounds that a node keeps to: what 035 and 043 share, and the writers of 030 and 032.  A node's
# answers stay exact beside writers, its memory stays bounded, it reads few rows for a query that wants
# few, and it ends at once when it is cancelled.
package GpubtreeLimits;

use GpubtreeTest;
use JSON::PP;
use Time::HiRes qw(time);
use Exporter 'import';

our @EXPORT = qw(gpb_writers gpb_compare_beside_writers gpb_create_large gpb_counter_and_rows gpb_cancel_all);

# Scripts for pgbench, with their weights, that write to t, whose first columns are k bigint and v int,
# and which has a note int; keys are 1 to $most.  They insert, delete, move keys, update without touching
# the index, and vacuum.
sub gpb_writers
{
	my ($most) = @_;
	my $key = "\\set a random(1, $most)\n";

	return (
		'insert@20' => $key . 'INSERT INTO t SELECT :a + i % 3, i FROM generate_series(1, 20) i;',
		'delete@16' => $key . 'DELETE FROM t WHERE k BETWEEN :a AND :a + 5;',
		'move@12' => $key . "UPDATE t SET k = $most + 1 - k, v = v + 1 WHERE k BETWEEN :a AND :a + 2;",
		'hot@6' => $key . 'UPDATE t SET note = 1 WHERE k BETWEEN :a AND :a + 3;',
		'vacuum@6' => 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t;');
}

# Four clients write to t (see gpb_writers) and, in between, run each query by our plan and by
# core's plans in one snapshot.  Options:
#
#	setting			what switches our plan off for core's
#	queries			an array
#	seed
#
# GPB_TRANSACTIONS says how many transactions each client has (default 30).
sub gpb_compare_beside_writers
{
	my ($node, %options) = @_;
	my $queries = join(', ', map { "'$_'" } @{ $options{queries} });
	my $transactions = $ENV{GPB_TRANSACTIONS} // 30;

	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE compared (n bigint);
CREATE FUNCTION digest(query text) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || md5(string_agg(q::text, '';'' ORDER BY q::text)) FROM (%s) q', query) INTO result;
	RETURN result;
END \$\$;
CREATE FUNCTION core_digest(query text) RETURNS text LANGUAGE sql
	SET $options{setting} = off SET enable_indexscan = off SET enable_indexonlyscan = off
	SET enable_bitmapscan = off SET enable_hashjoin = on AS 'SELECT digest(query)';
CREATE FUNCTION compare_queries() RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
	query text;
BEGIN
	FOREACH query IN ARRAY ARRAY[$queries] LOOP
		IF digest(query) IS DISTINCT FROM core_digest(query) THEN
			RAISE EXCEPTION 'answers differ: %', query;
		END IF;
	END LOOP;
END \$\$;
SQL
	$node->pgbench(
		"-n -c 4 -t $transactions --random-seed=$options{seed}", 0,
		[qr/processed: (\d+)\/\1/], [qr/^pgbench: setting random seed to \d+$/],
		'beside writers: every answer equals core\'s',
		{   gpb_writers(2000),
			'compare@40' => <<'SQL' });
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_queries();
SELECT compare_queries();
COMMIT;
INSERT INTO compared VALUES (1);
SQL
	my $compared = $node->safe_psql('postgres', 'SELECT count(*) FROM compared');
	cmp_ok($compared, '>=', 0.8 * $transactions, "beside writers: $compared comparisons were made");
	return;
}

# The inner table "large" of 300,000 rows, and held(pattern), the bytes in the memory contexts whose
# name is like that.
sub gpb_create_large
{
	my ($node) = @_;

	$node->safe_psql('postgres', <<'SQL');
CREATE TABLE large (k bigint, v int);
INSERT INTO large SELECT i, i FROM generate_series(1, 300000) i;
CREATE INDEX large_k ON large USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE large;
CREATE FUNCTION held(pattern text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts WHERE name LIKE pattern
$$;
SQL
	return;
}

# A counter that EXPLAIN shows of our node, "Keys" for example, and the rows that the node read from
# its outer side; -1 for both if our node is not in the plan.
sub gpb_counter_and_rows
{
	my ($node, $counter, $query) = @_;
	my $plan = decode_json($node->safe_psql('postgres',
		"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) $query"));
	my @nodes = ($plan->[0]{Plan});

	while (my $one = shift @nodes)
	{
		return ($one->{$counter}, $one->{Plans}[0]{'Actual Rows'}) if exists $one->{$counter};
		push @nodes, @{ $one->{Plans} // [] };
	}
	return (-1, -1);
}

# Cancel each query after a while, three times, with the device and without.  Options:
#
#	session		of background_psql, with on_error_stop => 0
#	settings	statements to run first
#	queries		an array; each takes long
#	plan		a pattern that the plan of each must match
sub gpb_cancel_all
{
	my (%options) = @_;
	my $session = $options{session};
	my $contexts = "SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'gpubtree%'";
	my $before = $session->query($contexts);
	my ($tries, $cancelled) = (0, 0);
	my $at_once = 5;
	my $slowest = 0;

	for my $enabled ('off', 'on')
	{
		$session->query("SET gpubtree.enable_device = $enabled; $options{settings}");
		for my $query (@{ $options{queries} })
		{
			like($session->query("EXPLAIN $query"), $options{plan}, 'cancel: our plan') if $enabled eq 'on';
			for my $after (20, 150, 400)
			{
				my $seconds;

				# On a machine with much else to do some end late; if the query did not look for the
				# cancel, all would.
				for (1 .. 20)
				{
					my $started = time;

					$tries++;
					$session->query("SET statement_timeout = $after;");
					$session->query($query);
					$seconds = time - $started;
					$cancelled++ if $session->{stderr} =~ /canceling statement due to statement timeout/;
					$session->{stderr} = '';
					$session->query('SET statement_timeout = 0');
					last if $seconds < $at_once;
				}
				$slowest = $seconds if $seconds > $slowest;
			}
		}
	}
	is($cancelled, $tries, "all of $tries statements were cancelled");
	cmp_ok($slowest, '<', $at_once, sprintf('at once: %.1f s', $slowest));
	is($session->query($contexts), $before, 'no memory context is left');
	return;
}

1;
