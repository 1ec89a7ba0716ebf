# Map images: requests share the visibility bits that they read.  Each answer is that of its
# snapshot whoever made the image that it came from, and no image is lost or kept for nobody.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
gpubtree.device_maps = 1
CONF
my $table = <<'SQL';
CREATE EXTENSION gpubtree_test;
CREATE TABLE t (k bigint, v int);
INSERT INTO t SELECT i, i % 100 FROM generate_series(1, 100000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE t;
SQL
my $sum = 'SELECT count(*), sum(v) FROM t WHERE k BETWEEN 1000 AND 90000';
my $expected = "SET enable_indexonlyscan = off; SET enable_indexscan = off; SET enable_bitmapscan = off; "
  . "SET gpubtree.enabled = off; $sum";

$node->safe_psql('postgres', $table);
gpb_wait_for_service($node);

sub images
{
	my ($server) = @_;

	return split /\|/, ($server // $node)->safe_psql('postgres', 'SELECT * FROM gpubtree_test_map_images()');
}

# Is the device's answer right, with so many images made, in all, since the last check?
my $made_before = 0;

sub answers
{
	my ($name, $made) = @_;

	is($node->safe_psql('postgres', $sum), $node->safe_psql('postgres', $expected), "$name: answer");
	my @now = images();
	is($now[0] - $made_before, $made, "$name: images made");
	$made_before = $now[0];
}

# A session that runs the query and is held at a point
sub start
{
	my ($point) = @_;
	return gpb_start($node, $sum, "application_name = 'held'",
		$point ? "gpubtree.hold_point = '$point'" : ());
}

sub nobody_uses_images
{
	my ($name) = @_;

	ok( $node->poll_query_until('postgres',
			'SELECT users <= present AND present <= 1 FROM gpubtree_test_map_images()'),
		"$name: at most the current image is left, used by nobody")
	  or diag($node->safe_psql('postgres', 'SELECT * FROM gpubtree_test_map_images()'));
	gpb_all_is_free($node, $name);
}

# ---- made once, and anew when the map has changed ----

like($node->safe_psql('postgres', "EXPLAIN (ANALYZE, COSTS OFF) $sum"), qr/Engine: host device/, 'the device answers');
$made_before = (images())[0];
is($made_before, 1, 'the first query makes an image');
answers('unchanged', 0);
answers('unchanged again', 0);
$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 5000');
answers('a bit was cleared', 1);
answers('and stays so', 0);
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) t');
answers('a bit was set', 1);
$node->safe_psql('postgres', 'UPDATE t SET v = v + 1 WHERE k % 100 = 0');
answers('rows were updated', 1);
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) t');
answers('vacuumed', 1);
nobody_uses_images('one after the other');

# ---- an older image is used while a newer one is published ----

my $holder = gpb_holder($node);
my $right = $node->safe_psql('postgres', $expected);
my $old = start('batch-after-visibility-map');
gpb_wait_for_hold($node);
$node->safe_psql('postgres', 'DELETE FROM t WHERE k BETWEEN 20000 AND 20010');
answers('beside an older image', 1);
is((images())[1], 2, 'both images are there');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
is(gpb_finish($old), $right, 'the older image answers for the older snapshot');
nobody_uses_images('after the older image');

# with one copy on the device, which a launch of the service is reading (the host device works at
# a launch in steps, between looks)
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
$right = $node->safe_psql('postgres', $expected);
my @old = map { start('batch-after-visibility-map') } (1 .. 3);
gpb_wait_for_sessions($node, 'held', 3, "wait_event = 'advisory'");
$node->safe_psql('postgres', 'DELETE FROM t WHERE k BETWEEN 30000 AND 30010');
gpb_hold_service($node, 'batches');
my $new_right = $node->safe_psql('postgres', $expected);
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
my @new = map { start() } (1 .. 3);
gpb_wait_for_sessions($node, 'held', 6);
gpb_release_service($node, 'batches');
is(gpb_finish($_), $right, 'an older request among newer ones') for @old;
is(gpb_finish($_), $new_right, 'a newer request among older ones') for @new;
nobody_uses_images('after old and new at once');

# ---- a backend goes while it uses an image, and while it makes one ----

my $gone = 40001;

for my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
	for my $point ('batch-after-visibility-map', 'map-image-publish')
	{
		# a row of a heap page that is all-visible: the map changes
		$gone += 1000;
		$node->safe_psql('postgres', "DELETE FROM t WHERE k = $gone");
		$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
		my $leaver = start($point);
		gpb_wait_for_hold($node);
		cmp_ok((images())[2], '>', 0, "$point: the image is used");
		$node->safe_psql('postgres', "SELECT $end(pid) FROM pg_stat_activity WHERE application_name = 'held'");
		like(gpb_finish($leaver), qr/canceling statement|terminating connection/, "$end at $point");
		nobody_uses_images("$end at $point");
		$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
		is($node->safe_psql('postgres', $sum), $node->safe_psql('postgres', $expected), "$end at $point: next answer");
	}
}

# a backend that goes when its request was submitted: the reference is the service's until it has seen that
gpb_hold_service($node, 'batches');
my $leaver = start();
gpb_wait_for_sessions($node, 'held', 1);
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'held'");
like(gpb_finish($leaver), qr/terminating connection/, 'a backend with a request goes');
is((images())[2], 2, 'its image is still used');
gpb_release_service($node, 'batches');
nobody_uses_images('after the service has seen it');

# ---- the service goes ----

my $pid = gpb_service_pid($node);
$node->safe_psql('postgres', $sum);
kill 'TERM', $pid;
$node->poll_query_until('postgres',
	"SELECT count(*) > 0 FROM gpubtree_device WHERE status = 'ready' AND pid <> $pid") or die;
is((images())[1], 0, 'a new service begins without mirrors, and so without images');
$made_before = (images())[0];
answers('with a new service', 1);

# ---- the index goes ----

$node->safe_psql('postgres', 'REINDEX INDEX t_k');
answers('after REINDEX', 1);
$node->safe_psql('postgres', 'DROP INDEX t_k');
ok($node->poll_query_until('postgres', 'SELECT present = 0 FROM gpubtree_test_map_images()'),
	'an index that is dropped takes its image with it');
$node->safe_psql('postgres', 'CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v)');

# ---- many readers beside writers, with few copies ----

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION compare(lo bigint, hi bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	device text;
	heap text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SELECT (count(*), sum(v))::text INTO device FROM t WHERE k BETWEEN lo AND hi;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL gpubtree.enabled = off;
	SELECT (count(*), sum(v))::text INTO heap FROM t WHERE k BETWEEN lo AND hi;
	IF device <> heap THEN
		RAISE EXCEPTION 'device % heap % for [%, %]', device, heap, lo, hi;
	END IF;
END $$;
SQL
my $writer = gpb_start_pgbench($node, <<'SQL', '-c', '2');
\set k random(1, 100000)
UPDATE t SET v = v + 1 WHERE k BETWEEN :k AND :k + 3;
DELETE FROM t WHERE k = :k;
INSERT INTO t VALUES (:k, 7);
SQL
my $vacuum = gpb_start_pgbench($node, "VACUUM t;\n\\sleep 100 ms\n", '-c', '1');
my $reader = gpb_start_pgbench($node, <<'SQL', '-c', '6');
\set lo random(1, 90000)
\set n random(1, 10000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare(:lo, :lo + :n);
END;
SQL
gpb_go_on($node, 2, "SELECT count(*) > 300 FROM t WHERE v = 7");
ok(gpb_end_pgbench($reader), 'six readers beside writers: every answer is that of its snapshot');
ok(gpb_end_pgbench($_), 'the writers are not disturbed') for $writer, $vacuum;
nobody_uses_images('after readers and writers');
$holder->quit;
gpb_nothing_crashed($node);
$node->stop;

# ---- bits that are right for newer snapshots alone ----
# A transaction that was open for the older ones has ended, and its pages are settled: with the bits
# of the newer ones the older would count its rows.

$node = gpb_node('settled', settings => <<'CONF');
autovacuum = off
wal_level = replica
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
gpubtree.device_maps = 1
gpubtree.batch_slots = 8
CONF
$node->safe_psql('postgres', $table);
gpb_wait_for_service($node);
$holder = $node->background_psql('postgres');
my $filler = $node->background_psql('postgres');
my $other_holder = $node->background_psql('postgres');

sub open_rows { $filler->query_safe('BEGIN; INSERT INTO t SELECT 60000 + i, 1 FROM generate_series(1, 2000) i') }

# The rows' transaction ends, and a reader on the CPU finds their pages settled.
sub settle_rows
{
	$filler->query_safe('COMMIT');
	$node->safe_psql('postgres', "SET gpubtree.enable_device = off; $sum; $sum");
}

# A launch reads the one copy on the device while another wants its place.
$node->safe_psql('postgres', $sum);
open_rows();
$right = $node->safe_psql('postgres', $expected);
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
@old = map { start('batch-after-visibility-map') } (1 .. 3);
gpb_wait_for_sessions($node, 'held', 3, "wait_event = 'advisory'");
settle_rows();
$new_right = $node->safe_psql('postgres', $expected);
isnt($new_right, $right, 'rows were added');
gpb_hold_service($node, 'batches');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
gpb_wait_for_sessions($node, 'held', 3);
@new = map { start() } (1 .. 3);
gpb_wait_for_sessions($node, 'held', 6);
gpb_release_service($node, 'batches');
is(gpb_finish($_), $right, 'one copy: an older request among newer ones') for @old;
is(gpb_finish($_), $new_right, 'one copy: a newer request among older ones') for @new;
nobody_uses_images('one copy');

# A backend has read which image is current.  That is freed, and its entry has memory for the bits
# of another one, which are not there yet: the memory has still those that the first backend found.
# Where memory is free depends on the slots that queries take, so that not every round finds a fault.
for my $round (1 .. 4)
{
	$node->safe_psql('postgres', 'VACUUM t');
	open_rows();
	$node->safe_psql('postgres', $sum);
	$made_before = (images())[0];
	$right = $node->safe_psql('postgres', $expected);
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	$other_holder->query_safe('SELECT pg_advisory_lock(0, 7002)');
	$old = start('map-image-found');
	gpb_wait_for_hold($node);
	settle_rows();
	answers("round $round: a newer image", 1);
	$node->safe_psql('postgres', 'DELETE FROM t WHERE k = ' . (5000 + 1000 * $round));
	$new_right = $node->safe_psql('postgres', $expected);
	my $maker = gpb_start($node, $sum, "application_name = 'maker'", "gpubtree.hold_point = 'map-image-made'",
		'gpubtree.hold_lock = 7002');
	gpb_wait_for_sessions($node, 'maker', 1, "wait_event = 'advisory'");
	gpb_hold_service($node, 'batches');
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	gpb_wait_for_sessions($node, 'held', 1);
	$other_holder->query_safe('SELECT pg_advisory_unlock(0, 7002)');
	gpb_wait_for_sessions($node, 'maker', 1);
	gpb_release_service($node, 'batches');
	is(gpb_finish($old), $right, "round $round: an image that is being made is not taken for the one that was current");
	is(gpb_finish($maker), $new_right, "round $round: its maker has its answer");
	is((images())[0] - $made_before, 2, "round $round: both have made an image");
	nobody_uses_images("round $round: an entry used again");
}
$_->quit for ($holder, $other_holder, $filler);
$node->stop;

# ---- no memory for images ----

$node = gpb_node('small', settings => <<'CONF');
autovacuum = off
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
gpubtree.batch_memory = 192kB
CONF
$node->safe_psql('postgres', $table);
gpb_wait_for_service($node);
$made_before = 0;
answers('no memory for an image', 0);
like($node->safe_psql('postgres', "EXPLAIN (ANALYZE, COSTS OFF) $sum"), qr/Engine: host device/, 'the device answers');
$node->safe_psql('postgres', 'DELETE FROM t WHERE k = 5000');
answers('no memory for an image after a change', 0);
$node->stop;

# ---- memory for one image: another table's takes its place ----

$node = gpb_node('one', settings => <<'CONF');
autovacuum = off
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
gpubtree.batch_memory = 448kB
CONF
$node->safe_psql('postgres', $table);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE u AS SELECT * FROM t;
CREATE INDEX u_k ON u USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE u;
SQL
gpb_wait_for_service($node);
$made_before = 0;
answers('one image', 1);
(my $other = $sum) =~ s/FROM t/FROM u/;
is($node->safe_psql('postgres', $other), $node->safe_psql('postgres', $expected), 'another table');
my @now = images();
is("$now[0] $now[1]", '2 1', 'its image took the place of the first');
answers('the first again', 2);
$node->stop;

done_testing();
