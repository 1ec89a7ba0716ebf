# What is not WAL-logged and a crash: with wal_level = minimal, an index built in the transaction that
# created its table is written out, and survives; that of an unlogged table is empty afterwards, and
# usable.
use GpubtreeTest;

my $node = gpb_node('main', settings => <<'CONF');
wal_level = minimal
max_wal_senders = 0
wal_skip_threshold = 0
CONF
gpb_compare_function($node);

# The checkpoint writes the unlogged rows, and comes before what must be written without one: rows come in
# before and after a build; then one transaction rewrites and truncates the table.
$node->safe_psql('postgres', <<'SQL');
CREATE UNLOGGED TABLE u (k bigint, v int, d float8);
CREATE INDEX u_k ON u USING gpubtree (k) INCLUDE (v, d);
INSERT INTO u SELECT i, i, i FROM generate_series(1, 20000) i;
SELECT compare_range('u', 1, 10000);
CHECKPOINT;
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
is($node->safe_psql('postgres', "SELECT answer(range_query('u', 0, 100000), 'aggregate')"),
	'(0,0,,,,,,,,,)', 'unlogged: empty after the crash');
$node->safe_psql('postgres', 'INSERT INTO u SELECT i, i, i FROM generate_series(1, 5000) i');
is($node->safe_psql('postgres', "SELECT compare_range('u', 0, 100000)"),
	'(5000,5000,12502500,1,5000,12502500,1,5000,12502500,1,5000)', 'filled again, it answers');
gpb_index_is_sound($node, $_, "$_ is sound and complete") foreach qw(a_k b_k u_k);

# A clean shutdown keeps the rows.
$node->restart;
is($node->safe_psql('postgres', 'SELECT count(*) FROM u WHERE k > 0'), '5000', 'unlogged: a clean restart keeps the rows');

done_testing();
