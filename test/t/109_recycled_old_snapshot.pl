# An old snapshot reads on while pages of the index are deleted and recycled around its rows: plain
# scans in both directions, index-only scans, a batch and an aggregate by way of the mirror find the
# same rows each time, and a merge join that goes back to its mark finds the rows of the mark, though
# the leaf beside the marked one was deleted and its block holds other keys.
#
# Guards: rule M7; that entries which a snapshot sees stay; ammarkpos and amrestrpos.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', settings => "autovacuum = off\n");
gpb_compare_function($node);
gpb_wait_for_service($node);
sub value { return $node->safe_psql('postgres', $_[0]) }

# Pages that were emptied, and deleted, by now
sub vacuum
{
	my ($status, $out, $err) = $node->psql('postgres',
		'VACUUM (VERBOSE, INDEX_CLEANUP ON, TRUNCATE OFF, PARALLEL 0) t');
	return $err =~ /index "t_k": pages: \d+ in total, (\d+) newly deleted/ ? $1 : 0;
}

sub sound
{
	my ($name) = @_;
	gpb_index_is_sound($node, 't_k', "$name: the index is sound");
	return;
}

# ---- an old snapshot ----

# Every 1000 keys a few stay; what is between is dead to all before the snapshot is taken.
value(<<'SQL');
CREATE TABLE t (k bigint, v int, d float8);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
INSERT INTO t SELECT i, i % 10, i FROM generate_series(1, 60000) i;
DELETE FROM t WHERE k % 3000 > 5;
SQL
my $plain = <<'SQL';
SET gpubtree.enable_aggregate = off; SET gpubtree.enable_scan = off; SET enable_seqscan = off;
SET enable_bitmapscan = off; SET enable_sort = off;
SQL
my %queries = (
	forward => "$plain SET enable_indexonlyscan = off; SELECT count(*), sum(k), sum(v), min(n), max(n) FROM (SELECT k, v, row_number() OVER () AS n FROM (SELECT k, v FROM t WHERE k > 0 ORDER BY k OFFSET 0) q) q",
	backward => "$plain SET enable_indexonlyscan = off; SELECT count(*), sum(k), sum(v) FROM (SELECT k, v FROM t WHERE k > 0 ORDER BY k DESC OFFSET 0) q",
	only => "$plain SET enable_indexonlyscan = on; SELECT count(*), sum(k), sum(v) FROM (SELECT k, v FROM t WHERE k > 0 ORDER BY k OFFSET 0) q",
	array => "$plain SELECT count(*), sum(k) FROM (SELECT k FROM t WHERE k = ANY (ARRAY(SELECT generate_series(1, 60000, 2))) OFFSET 0) q",
	aggregate => "RESET gpubtree.enable_aggregate; SELECT compare_range('t', 0, 60001)");
my $old = $node->background_psql('postgres');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my %first = map { $_ => $old->query_safe($queries{$_}) } sort keys %queries;
like($first{forward}, qr/^120\|/, 'the snapshot sees the rows that stay');

my $deleted = vacuum();
cmp_ok($deleted, '>', 100, "$deleted pages are deleted");
my $size = value("SELECT pg_relation_size('t_k')");
for my $deed (
	[ 'recycled', 'INSERT INTO t SELECT i, 7, i FROM generate_series(-20000, 0) i' ],
	[ 'recycled to the right', 'INSERT INTO t SELECT i, 7, i FROM generate_series(100000, 115000) i' ],
	[ 'rows of the snapshot deleted', 'DELETE FROM t WHERE k BETWEEN 1 AND 60000 AND k % 2 = 0' ],
	[ 'rows between', 'INSERT INTO t SELECT 10 * i, 7, i FROM generate_series(1, 6000) i; DELETE FROM t WHERE k BETWEEN -15000 AND 0' ],
	[ 'many versions', 'UPDATE t SET v = v + 1; UPDATE t SET v = v + 1' ])
{
	my ($name, $sql) = @$deed;

	value($sql);
	vacuum();
	is($old->query_safe($queries{$_}), $first{$_}, "$name: $_") for sort keys %queries;
}
sound('an old snapshot');
$old->query_safe('COMMIT');
$old->quit;
vacuum();
sound('after it');

# ---- a merge join that goes back to its mark ----

# The keys of the marked rows lie on several leaves, and the join restores its mark for each outer
# row; while it stands there, leaves around the run are deleted, and recycled. (VACUUM would wait for
# the pin of an index-only scan.)
value(<<'SQL');
DROP TABLE t;
CREATE TABLE t (k bigint, v int, d float8) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT CASE WHEN i BETWEEN 10001 AND 12000 THEN 10001 ELSE i END, i % 10, i FROM generate_series(1, 40000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
CREATE TABLE IF NOT EXISTS outers (id int, k bigint);
TRUNCATE outers;
INSERT INTO outers SELECT i, 10001 FROM generate_series(1, 4) i;
INSERT INTO outers VALUES (9, 9990), (10, 30005);
CREATE INDEX IF NOT EXISTS outers_k ON outers (k);
ANALYZE t, outers;
DELETE FROM t WHERE k BETWEEN 9000 AND 9980 OR k BETWEEN 12001 AND 30000;
SQL
value('VACUUM (INDEX_CLEANUP OFF) outers');
my $query = 'SELECT o.id, t.k, t.v FROM outers o JOIN t ON t.k = o.k';
my $settings = "$plain SET gpubtree.enable_batchjoin = off; SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_material = off; SET enable_indexonlyscan = off;";
my $join = $node->background_psql('postgres');

$join->query_safe($settings);
like($join->query_safe("EXPLAIN (COSTS OFF) $query"), qr/Merge Join.*Index (?:Only )?Scan using t_k/s,
	"merge join: the plan");
$join->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ; DECLARE c CURSOR FOR $query");
# in the midst of the second outer row's matches
is(scalar(split(/\n/, $join->query_safe('FETCH 3501 FROM c'))), 3501, "merge join: first rows");
cmp_ok(vacuum(), '>', 20, "merge join: leaves are deleted");
value('INSERT INTO t SELECT i, 7, i FROM generate_series(-9000, 0) i');
value('INSERT INTO t SELECT 100000 + i, 7, i FROM generate_series(1, 9000) i');
is(scalar(split(/\n/, $join->query_safe('FETCH ALL FROM c'))), 2000 * 4 + 2 - 3501,
	"merge join: the other rows");
$join->query_safe('COMMIT');
is($join->query_safe("SELECT count(*) FROM ($query OFFSET 0) q"), 2000 * 4 + 2,
	"merge join: all rows afterwards");
$join->quit;
sound("merge join");
done_testing();
