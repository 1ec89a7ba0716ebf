# The refresher brings mirrors that queries use up to date beside them, and no answer is wrong,
# whatever happens to the refresher, the service, the index or its file meanwhile.
#
# GPB_SECONDS	how long writers and readers run at least (default 3)
use Time::HiRes qw(time usleep);
use GpubtreeHold;
use GpubtreeTest;

my $seed = gpb_seed();
my $node = gpb_node('main', databases => 1, allows_streaming => 1, settings => <<'CONF');
autovacuum = off
shared_buffers = 128MB
allow_in_place_tablespaces = on
CONF
gpb_compare_function($node);
$node->safe_psql('postgres', 'CREATE EXTENSION pg_buffercache');
gpb_wait_for_service($node);

sub value { return $node->safe_psql('postgres', $_[0]) }
sub pages { return value('SELECT pages FROM gpubtree_refresher') }
sub refresher_pid { return value('SELECT coalesce(pid, 0) FROM gpubtree_refresher') }

# Change settings.  The refresher, which is on unless they say otherwise, knows them before its next
# look: it stands still meanwhile, where it has nothing to look at.
sub set_settings
{
	my %settings = (background_refresh => 'on', @_);

	gpb_hold_service($node, 'refresher-sleep');
	value('ALTER SYSTEM SET gpubtree.background_refresh = off');
	$node->reload;
	gpb_wait_for_service_at($node, 'refresher-sleep');
	value("ALTER SYSTEM SET gpubtree.$_ = '$settings{$_}'") for sort keys %settings;
	$node->reload;
	for my $name (keys %settings)
	{
		$node->poll_query_until('postgres',
			"SELECT setting = '$settings{$name}' FROM pg_settings WHERE name = 'gpubtree.$name'")
		  or die "gpubtree.$name was not set";
	}
	gpb_release_service($node, 'refresher-sleep');
}

sub changed
{
	my ($t, $server) = @_;
	return ($server // $node)->safe_psql('postgres',
		"SELECT changed_blocks FROM gpubtree_mirrors WHERE index = '${t}_k'::regclass AND state = 'ready'");
}

sub refreshes
{
	return value("SELECT refreshes FROM gpubtree_mirrors WHERE index = '$_[0]_k'::regclass AND state = 'ready'");
}

# Keep the mirror hot until no block is marked changed.
sub wait_until_clean
{
	my ($t) = @_;
	gpb_wait_until("a clean mirror of $t", sub { touch($t); changed($t) eq '0' });
}

# A query that uses the mirror; returns the plan's node
sub touch
{
	my ($t, $lo, $hi) = @_;
	($lo, $hi) = (1, 2) unless defined $lo;
	return gpb_plan_node($node, value("SELECT range_query('$t', $lo, $hi)"), 'aggregate');
}

sub compare
{
	my ($t, $name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SELECT compare_range('$t', -10, 10000000)");
	is($status, 0, "$name: the right answer") or diag($err);
}

sub make_table
{
	my ($t, $rows) = @_;

	value(<<"SQL");
CREATE TABLE $t (k bigint, v int, d float8) WITH (fillfactor = 80);
INSERT INTO $t SELECT i, i % 1000, i FROM generate_series(1, $rows) i;
CREATE INDEX ${t}_k ON $t USING gpubtree (k) INCLUDE (v, d);
VACUUM ANALYZE $t;
SQL
	touch($t);
	return;
}

# ---- what changes is copied without a query ----
{
	make_table('a', 20000);
	is(changed('a'), '0', 'the first query has refreshed');
	my $before = pages();
	value('UPDATE a SET v = v + 1 WHERE k % 500 = 0');
	gpb_wait_until('the refresher', sub { changed('a') eq '0' });
	cmp_ok(pages(), '>', $before, 'the refresher has copied pages');
	is(refreshes('a'), '1', 'no query has refreshed');
	my $plan = touch('a', -10, 1000000);
	is($plan->{'Blocks Refreshed'}, 0, 'nor has the next one');
	is($plan->{'Leaves Done by CPU'}, 0, 'which finds no leaf unclean');
	compare('a', 'after updates');

	value('INSERT INTO a SELECT 20000 + i, i % 1000, i FROM generate_series(1, 30000) i');
	gpb_wait_until('the refresher', sub { changed('a') eq '0' });
	is(refreshes('a'), '1', 'leaves that splits have added are copied too');
	$plan = touch('a', -10, 1000000);
	is($plan->{'Blocks Refreshed'}, 0, 'the query finds them');
	is($plan->{'Leaves Done by CPU'}, 0, 'on the device');
	compare('a', 'after splits');
	value('DELETE FROM a WHERE k % 3 = 0; VACUUM a');
	compare('a', 'after VACUUM');
}

# ---- a block that was a leaf, was cut off the file, and is appended anew ----
# A turn clears its bit, and has not copied the parent yet, by which the device knows the leaf.
{
	value(<<'SQL');
CREATE TABLE n (k bigint, v int, d float8, w text) WITH (fillfactor = 80);
INSERT INTO n SELECT i, i % 1000, i, 'w' FROM generate_series(1, 20000) i;
CREATE INDEX n_k ON n USING gpubtree (k) INCLUDE (v, d, w);
VACUUM ANALYZE n;
SQL
	touch('n');
	set_settings(background_refresh => 'off');
	value('DELETE FROM n WHERE k BETWEEN 300 AND 19990');
	my $before = value("SELECT pg_relation_size('n_k')");
	value('VACUUM n');
	cmp_ok(value("SELECT pg_relation_size('n_k')"), '<', $before / 4, 'the file gets shorter');
	# rows in the places of those that the leaves had, and their values where the leaves were
	value("INSERT INTO n SELECT 2, 1, 1, repeat('w', 190) || i FROM generate_series(1, 5000) i");
	cmp_ok(value("SELECT pg_relation_size('n_k')"), '>', $before, 'and grows');
	value('DELETE FROM n WHERE k BETWEEN 200 AND 299 OR k = 2 AND v = 1');
	my $holder = $node->background_psql('postgres');
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	my $vacuum = gpb_start($node, 'VACUUM n', "gpubtree.hold_point = 'delete-locked'");
	gpb_wait_for_hold($node);
	my $pages = pages();
	value('ALTER SYSTEM SET gpubtree.background_refresh = on');
	$node->reload;
	gpb_wait_until('a turn', sub { pages() > $pages });
	gpb_hold_service($node, 'turn-after-copy');
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	is(gpb_finish($vacuum), '', 'VACUUM');
	gpb_wait_for_service_at($node, 'turn-after-copy');
	my $plan = touch('n', 300, 19000);
	is($plan->{'Blocks Refreshed'}, 0, 'the query waits for nobody');
	compare('n', 'a block that was a leaf and is a page of the dictionary');
	$holder->quit;
	gpb_release_service($node, 'turn-after-copy');
	set_settings();
	value('DROP TABLE n');
}

# ---- a query leaves few changed blocks to the refresher, which is held still ----
{
	wait_until_clean('a');
	gpb_hold_service($node, 'turn-after-copy');
	value('UPDATE a SET v = v + 1 WHERE k = 5000');
	gpb_wait_for_service_at($node, 'turn-after-copy');
	my $before = refreshes('a');
	my $plan = touch('a', -10, 1000000);
	is($plan->{'Blocks Refreshed'}, 0, 'the query waits for nobody');
	cmp_ok($plan->{'Leaves Done by CPU'}, '>', 0, 'the CPU answers for what has changed');
	compare('a', 'beside a turn');
	is(refreshes('a'), $before, 'nobody has refreshed');

	# M3: the page was copied, and changes before the turn goes on.  A turn that cleared the mark
	# after the copy would lose the change.
	value('UPDATE a SET v = v + 100 WHERE k = 5000');
	gpb_release_service($node, 'turn-after-copy');
	gpb_wait_until('the refresher', sub { changed('a') eq '0' });
	$plan = touch('a', -10, 1000000);
	is($plan->{'Leaves Done by CPU'}, 0, 'all is clean again');
	compare('a', 'changed between copy and upload');
}

# ---- a turn publishes its epoch when all is copied ----
# M5: a reader reads the epoch and the visibility map while a turn has copied one of two leaves, and
# a row is inserted on the other one, and on a heap page that was all-visible.
{
	make_table('e', 20000);
	set_settings(background_refresh => 'off');
	my $holder = $node->background_psql('postgres');
	my $reader = $node->background_psql('postgres');
	$reader->query_safe("SET $_") for ('gpubtree.setup_cost = 0', 'gpubtree.batch_setup_cost = 0', 'enable_seqscan = off',
		'enable_indexscan = off', 'enable_indexonlyscan = off', 'enable_bitmapscan = off');
	touch('e');
	value('DELETE FROM e WHERE k IN (1000, 15000)');
	value('VACUUM (INDEX_CLEANUP ON) e');
	cmp_ok(changed('e'), '>=', 2, 'two leaves have changed');
	gpb_hold_service($node, 'turn-after-copy');
	value('ALTER SYSTEM SET gpubtree.background_refresh = on');
	$node->reload;
	gpb_wait_for_service_at($node, 'turn-after-copy');
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	$reader->query_safe("SET gpubtree.hold_point = 'batch-after-visibility-map'");
	$reader->query_until(qr/sent/, "\\echo sent\nSELECT count(*) FROM e WHERE k > 0;\n");
	gpb_wait_for_hold($node);
	value('INSERT INTO e VALUES (15000, 1, 1)');
	gpb_release_service($node, 'turn-after-copy');
	gpb_wait_until('the refresher', sub { changed('e') eq '0' });
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	like($reader->query('SELECT 1'), qr/^19998$/m, 'a leaf that was copied after the epoch was read is not trusted');
	$_->quit for ($holder, $reader);
	compare('e', 'copied after the epoch was read');
}

# ---- a page that a writer has locked does not hold the refresher up ----
{
	my $holder = $node->background_psql('postgres');
	my $writer = $node->background_psql('postgres');
	wait_until_clean('e');
	$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
	$writer->query_safe("SET gpubtree.hold_point = 'split-before-parent'");
	$writer->query_until(qr/sent/, "\\echo sent\nINSERT INTO e SELECT 10000, i, i FROM generate_series(1, 1000) i;\n");
	gpb_wait_for_hold($node);
	my $before = pages();
	value('UPDATE e SET v = v + 1 WHERE k = 19000');
	gpb_wait_until('the refresher', sub { touch('e'); pages() > $before });
	cmp_ok(changed('e'), '>', 0, 'the refresher has copied the other leaf, and left those of the split');
	$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
	$writer->query('SELECT 1');
	$_->quit for ($holder, $writer);
	compare('e', 'beside a split');
}

# ---- a table is dropped beside the refresher ----
# The refresher has found a block's buffer; or has pinned it, which a DROP waits for; or waits for
# the service, without a pin.
for my $point ('turn-found', 'turn-pinned', 'upload')
{
	my $pid = refresher_pid();

	make_table('g', 20000);
	wait_until_clean('g');
	my $file = value("SELECT pg_relation_filenode('g_k')");
	my $index = value("SELECT 'g_k'::regclass::oid");
	gpb_hold_service($node, $point);
	value('UPDATE g SET v = v + 1 WHERE k = 7000');
	gpb_wait_for_service_at($node, $point);
	my $drop = gpb_start($node, 'DROP TABLE g');
	gpb_wait_until("DROP TABLE beside a process at $point", sub { gpb_has_ended($drop->{run}) })
	  unless $point eq 'turn-pinned';
	gpb_release_service($node, $point);
	is(gpb_finish($drop), '', "$point: the table is dropped");
	wait_until_clean('a');
	value('UPDATE a SET v = v + 1 WHERE k = 7000');
	wait_until_clean('a');
	is(value("SELECT count(*) FROM pg_buffercache WHERE relfilenode = $file"), '0',
		"$point: no block of it is in shared buffers again");
	is(value("SELECT count(*) FROM gpubtree_mirrors WHERE index_oid = $index"), '0', "$point: nor is its mirror");
	is(refresher_pid(), $pid, "$point: the refresher goes on");
}

# ---- the refresher is told to exit while the service has its pages ----
{
	my $pid = refresher_pid();

	wait_until_clean('a');
	gpb_hold_service($node, 'upload');
	value('UPDATE a SET v = v + 1 WHERE k = 7000');
	gpb_wait_for_service_at($node, 'upload');
	kill 'TERM', $pid;
	gpb_wait_until('another refresher', sub { my $p = refresher_pid(); $p != 0 && $p != $pid });
	value('UPDATE a SET v = v + 1 WHERE k = 7001');
	cmp_ok(changed('a'), '>', 0, 'what a dead refresher had in flight is not clean');
	gpb_release_service($node, 'upload');
	compare('a', 'after a refresher was killed');
	wait_until_clean('a');
	compare('a', 'refreshed by the next one');
}

# ---- the service exits ----
{
	my $service = gpb_service_pid($node);

	value('UPDATE a SET v = v + 1 WHERE k % 500 = 0');
	kill 'TERM', $service;
	gpb_wait_until('another service', sub { my $p = gpb_service_pid($node); $p ne '' && $p ne $service });
	gpb_wait_for_service($node);
	touch('a');
	my $before = refreshes('a');
	value('UPDATE a SET v = v + 1 WHERE k % 500 = 1');
	gpb_wait_until('the refresher', sub { changed('a') eq '0' });
	is(refreshes('a'), $before, 'the refresher goes on with another service');
	compare('a', 'with another service');
}

# ---- the rate; the setting ----
{
	make_table('b', 60000);
	set_settings(background_refresh_rate => 100);
	touch('b');
	my ($start, $before) = (time(), pages());
	value('UPDATE b SET v = v + 1 WHERE k % 100 = 0');
	gpb_wait_until('some pages', sub { touch('b'); pages() - $before > 30 });
	cmp_ok(pages() - $before, '<=', 100 * (time() - $start) + 5, 'no more pages than the rate allows');
	compare('b', 'at a low rate');

	set_settings(background_refresh => 'off', background_refresh_rate => 200000);
	touch('b', -10, 1000000);
	is(changed('b'), '0', 'without the refresher a query refreshes');
	$before = pages();
	value('UPDATE b SET v = v + 1 WHERE k = 100');
	usleep(500_000);
	cmp_ok(changed('b'), '>', 0, 'what has changed stays so');
	is(pages(), $before, 'the refresher copies nothing');
	cmp_ok(touch('b')->{'Blocks Refreshed'}, '>', 0, 'and the next query does');
	compare('b', 'without the refresher');
	set_settings(background_refresh => 'on');
}

# ---- writers, VACUUM, splits, a service and a refresher that come and go ----
{
	make_table('w', 20000);
	value('CREATE TABLE compared (n int)');
	my $before = pages();
	my $writers = gpb_start_pgbench($node, <<'SQL', '-c3');
\set a random(1, 20000)
\set b random(0, 9)
INSERT INTO w SELECT :a + i % 3, i, i FROM generate_series(1, 20) i;
DELETE FROM w WHERE k BETWEEN :a AND :a + 3;
UPDATE w SET v = v + 1 WHERE k BETWEEN :a + 10 AND :a + 12;
SQL
	my $readers = gpb_start_pgbench($node, <<'SQL', '-c3');
\set a random(-10, 20000)
\set w random(10, 20000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_range('w', :a, :a + :w);
COMMIT;
INSERT INTO compared VALUES (1);
SQL
	my $end = time() + ($ENV{GPB_SECONDS} // 3);
	for (my $i = 0; $i < 20 || time() < $end || pages() <= $before
		|| value('SELECT count(*) FROM compared') <= 50; $i++)
	{
		value('VACUUM (TRUNCATE off) w');
		# 0 stands for none, and to kill() for this process and all that it has started
		my @pids = grep { $_ } ($i % 7 == 3 ? refresher_pid() : 0,
			$i % 11 == 5 ? gpb_service_pid($node) : 0);
		kill 'TERM', @pids;
		usleep(100_000);
	}
	ok(gpb_end_pgbench($writers), 'writers had no error');
	ok(gpb_end_pgbench($readers), 'many answers were compared beside the refresher, and all were a sequential scan\'s');
	compare('w', 'after all');
}

# ---- indexes that go, or get other files ----
{
	my $log = -s $node->logfile;
	value('CREATE TABLE f (k bigint, v int, d float8); CREATE INDEX f_k ON f USING gpubtree (k) INCLUDE (v, d)');
	for my $round (1 .. 8)
	{
		value('INSERT INTO f SELECT i, i % 1000, i FROM generate_series(1, 5000) i');
		touch('f');
		my $writer = gpb_start_pgbench($node, <<'SQL', '-c2', '-t60');
\set a random(1, 5000)
INSERT INTO f SELECT :a + i, i, i FROM generate_series(1, 50) i;
SQL
		value('REINDEX INDEX f_k') if $round % 4 == 0;
		value('TRUNCATE f') if $round % 4 == 1;
		value('DROP INDEX f_k; CREATE INDEX f_k ON f USING gpubtree (k) INCLUDE (v, d)') if $round % 4 == 2;
		value('BEGIN; TRUNCATE f; INSERT INTO f SELECT i, 1, i FROM generate_series(1, 2000) i; TRUNCATE f; '
			  . 'INSERT INTO f SELECT i, 2, i FROM generate_series(1, 3000) i; COMMIT') if $round % 4 == 3;
		touch('f');
		ok($writer->finish, "round $round: writers had no error");
		compare('f', "round $round");
	}
	value('DROP TABLE f');

	# nobody waits for the refresher, though the database has hot mirrors
	value('CREATE DATABASE other');
	$node->safe_psql('other', <<'SQL');
CREATE EXTENSION gpubtree;
CREATE TABLE t (k bigint);
INSERT INTO t SELECT generate_series(1, 50000);
CREATE INDEX t_k ON t USING gpubtree (k);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET gpubtree.setup_cost = 0;
SELECT count(*) FROM t WHERE k > 0;
UPDATE t SET k = k + 1;
SQL
	value('DROP DATABASE other');
	is(value("SELECT count(*) FROM pg_database WHERE datname = 'other'"), '0', 'the database is dropped');
	unlike(slurp_file($node->logfile, $log), qr/WARNING|PANIC|TRAP|could not/, 'nothing is in the log');
}

# ---- a standby ----
{
	my $standby = gpb_standby($node, settings => "max_standby_streaming_delay = 0\n");
	gpb_wait_for_service($standby);
	my $compare = "SELECT compare_range('a', -10, 1000000)";

	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	$standby->safe_psql('postgres', $compare);
	for my $round (1 .. 5)
	{
		my $before = $standby->safe_psql('postgres', 'SELECT pages FROM gpubtree_refresher');
		value('UPDATE a SET v = v + 1 WHERE k % 50 = ' . $round);
		value('DELETE FROM a WHERE k % 101 = ' . $round);
		value('VACUUM (INDEX_CLEANUP ON) a') if $round % 2 == 0;
		$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
		gpb_wait_until('the refresher of the standby', sub {
			$standby->psql('postgres', $compare);
			changed('a', $standby) eq '0' });
		cmp_ok($standby->safe_psql('postgres', 'SELECT pages FROM gpubtree_refresher'), '>', $before,
			"round $round: the standby's refresher copies what redo has changed");
		my ($status, $out, $err) = $standby->psql('postgres', $compare);
		is($status, 0, "round $round: the standby's answer is right") or diag($err);
	}
	$standby->stop;
}
$node->stop;

# ---- blocks that are not in shared buffers ----
{
	$node = gpb_node('small', settings => "autovacuum = off\nshared_buffers = 1MB\n");
	gpb_compare_function($node);
	gpb_wait_for_service($node);
	make_table('c', 30000);
	make_table('big', 30000);
	set_settings(background_refresh => 'off');
	value('UPDATE c SET v = v + 1 WHERE k % 300 = 0');
	value('SELECT count(d) FROM big WHERE v >= 0');
	set_settings(background_refresh => 'on');
	cmp_ok(changed('c'), '>', 20, 'leaves have changed');
	my $before = refreshes('c');
	my $queries = 0;
	gpb_wait_until('a refresh by a query', sub {
		value("SELECT compare_range('c', 1, 20)");
		$queries++;
		refreshes('c') > $before || changed('c') eq '0' });
	cmp_ok($queries, '<', 200, 'sooner or later a query copies what the refresher cannot');
	compare('c', 'blocks out of shared buffers');
	$node->stop;
}

done_testing();
