# Readers and writers that have a link and have not followed it yet, while the page that it leads to
# is deleted, and while its block is recycled: scans in both directions, descents from the root and
# from a copy of it, arrays, parallel workers, batches by way of a mirror, aggregates on the device, inserts. Deletion at
# each of its steps, beside inserts into the page, pins on it, and a crash.
#
# Guards: rule M7 and the marks of a deletion (M2), the cleanup lock of a deletion, the gates.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, vacuums_all => 1, settings => <<'CONF');
autovacuum = off
wal_consistency_checking = 'gpubtree'
CONF
gpb_wait_for_service($node);
my $holder = gpb_session($node);

sub value { return $node->safe_psql('postgres', $_[0]) }

# Insert many rows, without the page that each record would have for the comparison beside it.
sub fill { return value("SET wal_consistency_checking = ''; $_[0]") }

sub sound
{
	my ($name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SELECT gpubtree_check('t_k', true)");

	is($status, 0, "$name: the index is sound") or diag($err);
	return;
}

sub deleted_pages
{
	my ($status, $out, $err) = $node->psql('postgres',
		'VACUUM (VERBOSE, INDEX_CLEANUP ON, TRUNCATE OFF, PARALLEL 0) t');

	return $err =~ /index "t_k": pages: \d+ in total, (\d+) newly deleted/ ? $1 : 0;
}

# A table whose keys 10001 to 30000 are dead, so that VACUUM will empty their leaves.
sub new_table
{
	value(<<'SQL');
DROP TABLE IF EXISTS t;
CREATE TABLE t (k bigint, v int) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i % 10 FROM generate_series(1, 40000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
SQL
	value('VACUUM t');
	value("SELECT gpubtree_refresh('t_k')");
	value('DELETE FROM t WHERE k BETWEEN 10001 AND 30000');
	return;
}

# Pages are deleted; their blocks may be given to leaves on the right, on the left, or in between.
my %deeds = (
	deleted => sub { },
	recycled_right => sub { fill('INSERT INTO t SELECT 200000 + i, 0 FROM generate_series(1, 20000) i') },
	recycled_left => sub { fill('INSERT INTO t SELECT -i, 0 FROM generate_series(1, 20000) i') },
	recycled_between => sub { fill('INSERT INTO t SELECT 10000 + i, 0 FROM generate_series(1, 20000) i') });

my $plain = <<'SQL';
SET gpubtree.enable_aggregate = off; SET gpubtree.enable_scan = off;
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
SQL
my $parallel = "$plain SET enable_indexonlyscan = off; SET enable_hashagg = off; SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_index_scan_size = 0; SET min_parallel_table_scan_size = 0; SET cpu_tuple_cost = 10;";
my $batch = <<'SQL';
SET gpubtree.setup_cost = 0; SET gpubtree.batch_setup_cost = 0; SET enable_seqscan = off;
SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off;
SQL
my $device_off = "SET gpubtree.enable_device = off;";
my $copy_root = 'DO $$ BEGIN FOR i IN 1 .. 20 LOOP PERFORM v FROM t WHERE k = i; END LOOP; END $$;';

# name => [hold point, settings, query, its answer]
my $sum = (9990 + 10000) * 11 / 2 + (30001 + 30010) * 10 / 2;
my %readers = (
	forward => [ 'step-right', "$plain SET enable_indexonlyscan = off;",
		'SELECT count(*), sum(k) FROM (SELECT k, v FROM t WHERE k BETWEEN 9990 AND 30010 ORDER BY k OFFSET 0) q' ],
	backward => [ 'step-left', "$plain SET enable_indexonlyscan = off;",
		'SELECT count(*), sum(k) FROM (SELECT k, v FROM t WHERE k BETWEEN 9990 AND 30010 ORDER BY k DESC OFFSET 0) q' ],
	# processes that share a scan: one goes on from the leaf that another has read
	parallel_forward => [ 'step-right', $parallel, 'SELECT count(v), sum(k) FROM t WHERE k BETWEEN 9990 AND 30010' ],
	parallel_backward => [ 'step-left', $parallel,
		'SELECT count(*), sum(k) FROM (SELECT k, sum(v) FROM t WHERE k BETWEEN 9990 AND 30010 GROUP BY k ORDER BY k DESC OFFSET 0) q' ],
	descent => [ 'step-down', "$plain SET enable_indexonlyscan = off;",
		'SELECT count(*), sum(k) FROM (SELECT k FROM t WHERE k BETWEEN 20000 AND 30010 ORDER BY k OFFSET 0) q' ],
	root_copy => [ 'below-root', "$plain $copy_root SET enable_indexonlyscan = off;",
		'SELECT count(*), sum(k) FROM (SELECT k FROM t WHERE k BETWEEN 20000 AND 30010 ORDER BY k OFFSET 0) q' ],
	array => [ 'queue-leaf', "$plain SET enable_indexonlyscan = off;",
		'SELECT count(*), sum(k) FROM (SELECT k FROM t WHERE k = ANY (ARRAY(SELECT generate_series(9990, 30010, 10))) ORDER BY k OFFSET 0) q' ],
	walk => [ 'batch-after-leaf', "$batch $device_off",
		'SELECT count(*), sum(k) FROM t WHERE k BETWEEN 9990 AND 30010' ],
	walk_right => [ 'step-right', "$batch $device_off",
		'SELECT count(*), sum(k) FROM t WHERE k BETWEEN 9990 AND 30010' ],
	device => [ 'batch-after-refresh', $batch,
		'SELECT count(*), sum(k) FROM t WHERE k BETWEEN 9990 AND 30010' ],
	device_late => [ 'batch-after-visibility-map', $batch,
		'SELECT count(*), sum(k) FROM t WHERE k BETWEEN 9990 AND 30010' ]);

for my $reader (sort keys %readers)
{
	my ($point, $settings, $query) = @{ $readers{$reader} };
	my $right = $reader =~ /descent|root/ ? '10|300055' : $reader eq 'array' ? '3|50000' : "21|$sum";

	for my $deed (sort keys %deeds)
	{
		for my $refresh ($reader =~ /device/ ? (0, 1) : 0)
		{
			my $name = "$reader, $deed" . ($refresh ? ', refreshed' : '');

			new_table();
			like(value("$settings EXPLAIN $query"), qr/Parallel Index Scan/, "$name: processes share the scan") if $reader =~ /parallel/;
			$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
			my $session = gpb_start($node, "BEGIN ISOLATION LEVEL REPEATABLE READ; $settings SELECT count(*) FROM pg_class WHERE false; SET gpubtree.hold_point = '$point'; $query; COMMIT");
			gpb_wait_for_hold($node);
			my $vacuum = gpb_start($node, 'VACUUM (TRUNCATE OFF) t');
			# A walk holds the pin of its leaf.
			if ($reader eq 'walk') { gpb_wait_until('VACUUM to wait', sub { value('SELECT count(*) FROM pg_stat_activity WHERE ' . gpb_waits_for_pin()) || value("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'VACUUM%' AND state = 'active'") == 0 }) }
			else { gpb_finish($vacuum); $deeds{$deed}->(); value("SELECT gpubtree_refresh('t_k')") if $refresh; }
			$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
			is((split /\n/, gpb_finish($session))[-1], $right, $name);
			gpb_finish($vacuum) if $reader eq 'walk';
			next if $deed eq 'recycled_between' && $reader ne 'walk';
			is((split /\n/, value("$settings $query"))[-1], $right, "$name: afterwards");
		}
	}
}
sound('readers');

# Cursors that turn around where pages have been deleted since
sub numbers { return join(',', @_) }

for my $deed (sort keys %deeds)
{
	for my $order ('ASC', 'DESC')
	{
		new_table();
		my $session = $node->background_psql('postgres');
		$session->query_safe("$plain SET enable_indexonlyscan = off");
		$session->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ; DECLARE c SCROLL CURSOR FOR SELECT k FROM t WHERE k BETWEEN 9001 AND 31000 ORDER BY k $order");
		$session->query_safe('MOVE 990 FROM c');
		value('VACUUM (TRUNCATE OFF) t');
		$deeds{$deed}->();
		my $there = $session->query_safe('FETCH 15 FROM c');
		my $back = $session->query_safe('FETCH BACKWARD 20 FROM c');
		my $rest = $session->query_safe('MOVE BACKWARD ALL FROM c; MOVE ALL FROM c; FETCH BACKWARD 2 FROM c; COMMIT');
		my @low = (9986 .. 10000, 30001 .. 30004);
		my @high = (9997 .. 10000, 30001 .. 30015);
		$session->quit;
		is(($there =~ s/\n/,/gr),
			numbers($order eq 'ASC' ? (9991 .. 10000, 30001 .. 30005) : reverse(9996 .. 10000, 30001 .. 30010)),
			"cursor $order, $deed");
		is(($back =~ s/\n/,/gr), numbers($order eq 'ASC' ? reverse(9985, @low) : (@high, 30016)),
			"cursor $order, $deed: back");
		is(($rest =~ s/\n/,/gr), $order eq 'ASC' ? '31000,30999' : '9001,9002', "cursor $order, $deed: end");
	}
}

# Without WAL pins are kept, and temporary indexes pass no gates.
for my $persistence ('UNLOGGED', 'TEMPORARY')
{
	my $check = value(<<"SQL");
CREATE $persistence TABLE u (k bigint, v int);
CREATE INDEX u_k ON u USING gpubtree (k) INCLUDE (v);
INSERT INTO u SELECT i, 1 FROM generate_series(1, 40000) i;
DELETE FROM u WHERE k BETWEEN 1000 AND 35000;
VACUUM (TRUNCATE OFF) u;
CREATE TEMPORARY TABLE before AS SELECT pg_relation_size('u_k') AS size;
INSERT INTO u SELECT 100000 + i, 1 FROM generate_series(1, 20000) i;
INSERT INTO u SELECT -i, 1 FROM generate_series(1, 3000) i;
SELECT pg_relation_size('u_k') = size FROM before;
SELECT gpubtree_check('u_k', true);
$plain
SELECT count(*), count(DISTINCT k) FROM u WHERE k > -20000;
DROP TABLE u;
SQL
	is($check, "t\n\n28999|28999", "$persistence: blocks are used again");
}

# An insert on its way down to a page that is deleted puts its row where a search finds it.
for my $deed (sort keys %deeds)
{
	new_table();
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	my $session = gpb_start($node, 'INSERT INTO t VALUES (20000, 77)', "gpubtree.hold_point = 'step-down'");
	gpb_wait_for_hold($node);
	value('VACUUM (TRUNCATE OFF) t');
	$deeds{$deed}->();
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	is(gpb_finish($session), '', "insert, $deed");
	is(value("$plain SELECT v FROM t WHERE k = 20000 AND v = 77"), 77, "insert, $deed: is found");
	sound("insert, $deed");
}

# A row that comes to the page after VACUUM found it empty keeps it.
new_table();
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
my $vacuum = gpb_start($node, 'VACUUM (TRUNCATE OFF) t', "gpubtree.hold_point = 'delete-before-lock'");
gpb_wait_for_hold($node);
value('INSERT INTO t SELECT i, 5 FROM generate_series(10001, 30000, 10) i');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
is(gpb_finish($vacuum), '', 'VACUUM beside inserts into the pages that it found empty');
is(value("$plain SELECT count(*) FROM t WHERE k BETWEEN 10001 AND 30000"), 2000, 'their rows are found');
sound('inserts into empty pages');

# A check that runs keeps pages from being deleted; the next VACUUM finds them.
new_table();
value('VACUUM (TRUNCATE OFF) t');
value('DELETE FROM t WHERE k > 32000');
$holder->query_safe('BEGIN; SELECT pg_advisory_lock(0, 7001)');
my $check = gpb_start($node, "SELECT gpubtree_check('t_k', false)", "gpubtree.hold_point = 'check-tree'");
gpb_wait_for_hold($node);
is(deleted_pages(), 0, 'no page is deleted while the checker runs');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
$holder->query_safe('COMMIT');
is(gpb_finish($check), '', 'the checker');
value('DELETE FROM t WHERE k = 31000');
cmp_ok(deleted_pages(), '>', 10, 'the next VACUUM deletes them');
sound('after a check');

# Blocks are not recycled while VACUUM makes a pass.
new_table();
value('VACUUM (TRUNCATE OFF) t');
value('DELETE FROM t WHERE k > 39000');
my $before = value("SELECT pg_relation_size('t_k')");
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
$vacuum = gpb_start($node, 'VACUUM (TRUNCATE OFF) t', "gpubtree.hold_point = 'delete-after'");
gpb_wait_for_hold($node);
$deeds{recycled_left}->();
cmp_ok(value("SELECT pg_relation_size('t_k')"), '>', $before, 'the file grows during a pass');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
is(gpb_finish($vacuum), '', 'VACUUM beside splits');
$before = value("SELECT pg_relation_size('t_k')");
fill('INSERT INTO t SELECT 300000 + i, 0 FROM generate_series(1, 10000) i');
is(value("SELECT pg_relation_size('t_k')"), $before, 'and no more when it is over');
sound('recycling beside VACUUM');

# Behind the place to which VACUUM has come there are free blocks; before it a leaf with dead entries
# is split. The entries must not go where VACUUM has been: their rows' TIDs are used again.
new_table();
value('VACUUM (TRUNCATE OFF) t');
value('DELETE FROM t WHERE k BETWEEN 31000 AND 33000 OR k BETWEEN 35001 AND 39000 AND k % 2 = 0');
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
$vacuum = gpb_start($node, 'VACUUM (TRUNCATE OFF) t', "gpubtree.hold_point = 'delete-after'");
gpb_wait_for_hold($node);
value('INSERT INTO t SELECT i, 3 FROM generate_series(35001, 39000) i');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
is(gpb_finish($vacuum), '', 'VACUUM beside splits of leaves that it has still to come to');
fill('INSERT INTO t SELECT 500000 + i, 4 FROM generate_series(1, 30000) i');
is(value("$plain SET enable_indexonlyscan = off; SELECT count(*), max(k) FROM (SELECT k FROM t WHERE k BETWEEN 35001 AND 39000 OFFSET 0) q"),
	'6000|39000', 'no entry is left of a row that is gone');
sound('splits before VACUUM');

# A split whose parent was not told, of a leaf that VACUUM empties
new_table();
my ($status, $out, $err) = $node->psql('postgres', <<'SQL');
SET gpubtree.hold_point = 'fail-after-split';
INSERT INTO t SELECT 20000, i FROM generate_series(1, 2000) i;
SQL
like($err, qr/fail-after-split/, 'a split that its parent is not told of');
value('DELETE FROM t WHERE k BETWEEN 9000 AND 31000');
cmp_ok(deleted_pages(), '>', 10, 'both halves are deleted with the others');
is(value("$plain SELECT count(*) FROM t WHERE k BETWEEN 8990 AND 31010"), 20, 'and rows are found');
sound('an incomplete split');

# Inserts come by old links to a recycled page that is the right half of such a split, until it is
# full and they would have to split it, too.
my $columns = join(', ', map { "c$_" } 1 .. 14);
value("DROP TABLE t; CREATE TABLE t (k bigint, @{[ $columns =~ s/(c\d+)/$1 int8/gr ]}) WITH (autovacuum_enabled = off);
	INSERT INTO t (k) SELECT i FROM generate_series(1, 60) i;
	CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE ($columns) WITH (fillfactor = 10)");
value('DELETE FROM t WHERE k > 12');
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
my @inserts = map { gpb_start($node, 'INSERT INTO t (k) VALUES (20)', "gpubtree.hold_point = 'step-down'") } 1 .. 8;
gpb_wait_for_hold($node, 8);
cmp_ok(deleted_pages(), '>', 4, 'leaves are deleted');
value('INSERT INTO t (k) SELECT 3 FROM generate_series(1, 58) i');
value('INSERT INTO t (k) SELECT 14 FROM generate_series(1, 63) i');
($status, $out, $err) = $node->psql('postgres', "SET gpubtree.hold_point = 'fail-after-split'; INSERT INTO t (k) VALUES (14)");
like($err, qr/fail-after-split/, 'a split into a recycled page that its parent is not told of');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
is(join('', map { gpb_finish($_) } @inserts), '', 'inserts by old links to the recycled page');
is(value("$plain SELECT count(*) FROM t WHERE k = 20"), 8, 'their rows are found');
sound('inserts by old links');

# A crash with everything locked, and one after the record.
for my $point ('delete-locked', 'delete-after')
{
	new_table();
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	$vacuum = gpb_start($node, 'VACUUM (TRUNCATE OFF) t', "gpubtree.hold_point = '$point'");
	gpb_wait_for_hold($node);
	value('SELECT pg_switch_wal()');
	$node->stop('immediate');
	$vacuum->{run}->finish;
	$node->start;
	gpb_wait_for_service($node);
	$holder = $node->background_psql('postgres');
	is(value("$plain SELECT count(*), sum(k) FROM t WHERE k BETWEEN 9990 AND 30010"), "21|$sum",
		"a crash at $point: rows are found");
	sound("a crash at $point");
	cmp_ok(deleted_pages(), '>=', 0, "a crash at $point: VACUUM");
	sound("VACUUM after a crash at $point");
	$deeds{recycled_between}->();
	sound("recycling after a crash at $point");
}
$holder->quit;

done_testing();
