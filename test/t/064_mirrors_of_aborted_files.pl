# A file that goes with an abort leaves no mirror: neither with the transaction's nor with a
# savepoint's, whatever made the file, and nor do files of prepared transactions.
use GpubtreeTest;

my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
max_prepared_transactions = 5
CONF
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
INSERT INTO t SELECT i, i % 10, i % 7 FROM generate_series(1, 3000) i;
CREATE TABLE u AS SELECT * FROM t;
CREATE INDEX u_k ON u USING gpubtree (k) INCLUDE (v, d);
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE t, u');
gpb_wait_for_service($node);

# How many mirrors there are, but for those that the service is freeing
sub mirrors
{
	return $node->safe_psql('postgres', q{SELECT count(*) FROM gpubtree_mirrors() WHERE state <> 'discarded'});
}

# Run "commands", in whose course a mirror is made and used, and test that "count" mirrors are left.
sub leaves
{
	my ($name, $commands, $count) = @_;
	my ($status, $out, $err) = $node->psql('postgres', $commands);

	like($out, qr/mirrored/, "$name: there was a mirror") or diag($err);
	is(mirrors(), $count, "$name: $count left");
}

my $create = 'CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);';
my $use_t = "SELECT 'mirrored' WHERE gpubtree_refresh('t_k') IS NOT NULL; SELECT compare_range('t', 1, 100000);";
my $use_u = "SELECT 'mirrored' WHERE gpubtree_refresh('u_k') IS NOT NULL; SELECT compare_range('u', 1, 100000);";

leaves('CREATE INDEX', "BEGIN; $create $use_t ROLLBACK", 0);
$node->safe_psql('postgres', "BEGIN; $create $use_t ROLLBACK;" x 100);
is(mirrors(), 0, 'more of them than there are places for mirrors: none left');
$node->psql('postgres', "BEGIN; $create $use_t SELECT 1 / 0; COMMIT;");
is(mirrors(), 0, 'CREATE INDEX, ended by an error: none left');

leaves('a savepoint', "BEGIN; SAVEPOINT a; $create $use_t ROLLBACK TO a; COMMIT", 0);
leaves('a savepoint released', "BEGIN; SAVEPOINT a; SAVEPOINT b; $create $use_t RELEASE b; ROLLBACK TO a; COMMIT", 0);
like($node->safe_psql('postgres', <<"SQL"), qr/mirrored.*\n0$/s, 'gone with the savepoint, before the transaction ends');
BEGIN;
SAVEPOINT a;
$create $use_t
ROLLBACK TO a;
SELECT count(*) FROM gpubtree_mirrors() WHERE state <> 'discarded';
COMMIT;
SQL
leaves('an exception', <<"SQL", 0);
DO \$\$
BEGIN
	$create
	IF gpubtree_refresh('t_k') IS NOT NULL THEN
		RAISE division_by_zero;
	END IF;
EXCEPTION WHEN division_by_zero THEN
END \$\$;
SELECT 'mirrored';
SQL
leaves('the session ends', "BEGIN; $create $use_t SELECT pg_terminate_backend(pg_backend_pid())", 0);

# Commands that give an index another file: after an abort its former file is mirrored again, when
# it is used.
$node->safe_psql('postgres', 'CREATE INDEX u_plain ON u (k)');
for my $command (
	'REINDEX INDEX u_k',
	'TRUNCATE u; INSERT INTO u SELECT i, i, i FROM generate_series(1, 2000) i',
	'CLUSTER u USING u_plain',
	'ALTER TABLE u ALTER v TYPE int8')
{
	# ALTER TABLE makes another index, which does not displace the former one's mirror.
	leaves($command, "BEGIN; $command; $use_u ROLLBACK", $command =~ /ALTER/ ? 1 : 0);
	leaves("$command, a savepoint", "BEGIN; SAVEPOINT a; $command; $use_u ROLLBACK TO a; $use_u COMMIT", 1);
	leaves("$command, committed", "BEGIN; SAVEPOINT a; $command; $use_u COMMIT", 1);
}
leaves('REINDEX without use', "$use_u BEGIN; REINDEX INDEX u_k; ROLLBACK;", 1);
leaves('REINDEX without use, committed', "$use_u REINDEX INDEX u_k;", 0);
$node->safe_psql('postgres', 'DROP TABLE u');

# Prepared transactions are committed and rolled back.
leaves('PREPARE', "BEGIN; $create $use_t PREPARE TRANSACTION 'p'", 0);
$node->safe_psql('postgres', "ROLLBACK PREPARED 'p'");
is(mirrors(), 0, 'ROLLBACK PREPARED: none left');
leaves('PREPARE again', "BEGIN; $create $use_t PREPARE TRANSACTION 'p'", 0);
$node->safe_psql('postgres', "COMMIT PREPARED 'p'");
leaves('COMMIT PREPARED', $use_t, 1);
leaves('PREPARE of a drop', "$use_t BEGIN; DROP INDEX t_k; PREPARE TRANSACTION 'p'", 0);
$node->safe_psql('postgres', "ROLLBACK PREPARED 'p'");
leaves('the drop was rolled back', $use_t, 1);
leaves('a drop that is rolled back', "$use_t BEGIN; DROP INDEX t_k; ROLLBACK", 1);
leaves('a drop that is rolled back to a savepoint', "$use_t BEGIN; SAVEPOINT a; DROP INDEX t_k; ROLLBACK TO a; COMMIT", 1);
leaves('a drop', "$use_t DROP INDEX t_k", 0);

done_testing();
