# Deletion on the primary takes entries that an older snapshot on a standby still wants: that
# snapshot's query is cancelled, and does not go on with rows missing.  Simple deletion does so, of
# entries with dead hints, and bottom-up deletion, of entries of older versions.
#
# Guards: the conflict that the redo of DELETE resolves; its horizon, which bottom-up deletion merges
# from the requests to the table.
use GpubtreeTest;

my $primary = gpb_node('primary', allows_streaming => 1, settings => "autovacuum = off\n");
# Of "versions" a leaf has 63 entries of this width, and the column u has an index, so no update is HOT.
my $columns = join(', ', ('v') x 14);
$primary->safe_psql('postgres', <<"SQL");
CREATE TABLE plain (k bigint, v int);
CREATE INDEX plain_k ON plain USING gpubtree (k);
INSERT INTO plain SELECT i, 1 FROM generate_series(1, 100) i;
CREATE TABLE versions (k bigint, v bigint, u int);
CREATE INDEX versions_u ON versions (u);
CREATE INDEX versions_k ON versions USING gpubtree (k) INCLUDE ($columns);
INSERT INTO versions SELECT i, 1, 0 FROM generate_series(1, 20) i;
VACUUM ANALYZE plain, versions;
SQL
my $standby = gpb_standby($primary, settings => <<'CONF');
hot_standby_feedback = off
max_standby_streaming_delay = 100ms
gpubtree.enable_aggregate = off
enable_seqscan = off
enable_bitmapscan = off
CONF

sub change
{
	my (@statements) = @_;

	$primary->safe_psql('postgres', $_) foreach @statements;
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	return;
}

# A snapshot on the standby that sees so many rows, then changes that do it no harm, and deletion.  The
# pages of the tables are far from full, so that they are not pruned: that would be a conflict of the
# table's own.
sub old_snapshot
{
	my ($table, $rows, $harmless, $deletes, $rows_left, $what) = @_;
	my $sum = "SELECT sum(v) FROM $table WHERE k > 0";
	my $reader = $standby->background_psql('postgres');
	my $cancelled = () = slurp_file($standby->logfile) =~ /conflict with recovery/g;

	$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	is($reader->query_safe($sum), $rows, "$what: the snapshot sees all rows");
	change(@$harmless);
	is($reader->query_safe($sum), $rows, "$what: nothing before it does harm");
	change($deletes);
	is($primary->safe_psql('postgres', "SELECT pg_relation_size('${table}_k') / current_setting('block_size')::int"),
		'2', "$what made room");

	# The reader was idle in its transaction, so the conflict has ended its connection.
	my $answer = eval { $reader->query_safe($sum) } // '';
	is($answer, '', "$what: no answer for the old snapshot");
	my $now = () = slurp_file($standby->logfile) =~ /conflict with recovery/g;
	cmp_ok($now, '>', $cancelled, "$what: it was cancelled");
	is($standby->safe_psql('postgres', $sum), $rows_left, "$what: a new snapshot has its rows");
	is($standby->safe_psql('postgres', "SELECT gpubtree_check('${table}_k', true)"), '', "$what: the index is sound");
	eval { $reader->quit };
	return;
}

change();
# The scan leaves dead hints, and then the leaf fills up.
old_snapshot('plain', 100,
	[ 'DELETE FROM plain WHERE k <= 50',
		'SET gpubtree.enable_aggregate = off; SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT sum(v) FROM plain WHERE k > 0' ],
	'INSERT INTO plain SELECT 75, 1 FROM generate_series(1, 430) i', 480, 'simple deletion');
# Versions fill up the leaf.  Nobody on the primary sees the first ones any more, and no index scan has
# set a dead hint.
my $update = 'SET enable_indexscan = off; SET enable_bitmapscan = off; UPDATE versions SET u = u + 1';
old_snapshot('versions', 20, [ $update, $update ], $update, 20, 'bottom-up deletion');

$standby->stop;
$primary->stop;
done_testing();
