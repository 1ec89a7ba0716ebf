# With wal_level = minimal, an index built in the transaction that created its table is not
# WAL-logged but written out: it survives a crash.
use GpubtreeTest;

my $node = gpb_node('main', settings => <<'CONF');
wal_level = minimal
max_wal_senders = 0
wal_skip_threshold = 0
CONF
gpb_compare_function($node);

# Rows come in before and after the build; then one transaction rewrites and truncates the table.
$node->safe_psql('postgres', <<'SQL');
BEGIN;
CREATE TABLE a (k bigint, v int, d float8);
INSERT INTO a SELECT i, i, i FROM generate_series(1, 20000) i;
CREATE INDEX a_k ON a USING gpubtree (k) INCLUDE (v, d);
INSERT INTO a SELECT i, i, i FROM generate_series(10000, 30000) i;
COMMIT;
CREATE TABLE b (k bigint, v int, d float8);
CREATE INDEX b_k ON b USING gpubtree (k) INCLUDE (v, d);
INSERT INTO b SELECT i, i, i FROM generate_series(1, 100) i;
BEGIN;
TRUNCATE b;
INSERT INTO b SELECT i, i, i FROM generate_series(1, 20000) i;
COMMIT;
SQL
my $a = $node->safe_psql('postgres', "SELECT compare_range('a', 5000, 25000)");
my $b = $node->safe_psql('postgres', "SELECT compare_range('b', 5000, 25000)");

$node->stop('immediate');
$node->start;

is($node->safe_psql('postgres', "SELECT compare_range('a', 5000, 25000)"), $a,
	'built in the transaction that created the table');
is($node->safe_psql('postgres', "SELECT compare_range('b', 5000, 25000)"), $b,
	'filled in the transaction that truncated the table');
for my $index ('a_k', 'b_k')
{
	my ($status, $out, $err) =
	  $node->psql('postgres', "SELECT gpubtree_check('$index', true)");
	is($status, 0, "$index is sound and complete") or diag($err);
}

done_testing();
