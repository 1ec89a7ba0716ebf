# Windows of a few instructions in the mirror's protocol, held open by test points in the service
# and in the backend: no answer is wrong, whoever comes in between.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, settings => <<'CONF');
autovacuum = off
gpubtree.refresh_slots = 2
CONF
gpb_compare_function($node);
gpb_wait_for_service($node);

# The locks that a reader and a refresher wait for, and the sessions that hold them
my %lock = (reader => 7001, refresher => 7002);
my %holder = map { $_ => gpb_session($node) } keys %lock;

sub lock_point { $holder{ $_[0] }->query_safe("SELECT pg_advisory_lock(0, $lock{$_[0]})") }
sub unlock_point { $holder{ $_[0] }->query_safe("SELECT pg_advisory_unlock(0, $lock{$_[0]})") }

# Wait until the reader or refresher is at its point.
sub wait_for_point
{
	my ($who) = @_;

	$node->poll_query_until('postgres', <<"SQL") or die "the $who did not come to its hold point";
SELECT count(*) > 0 FROM pg_locks
WHERE locktype = 'advisory' AND classid = 0 AND objid = $lock{$who} AND NOT granted
SQL
}

# Start a session in the background that runs one statement, and is held at a point if one is named.
sub start
{
	my ($name, $who, $point, $sql) = @_;
	my @settings = (
		"application_name = '$name'", 'gpubtree.setup_cost = 0', 'gpubtree.batch_setup_cost = 0',
		$point ? ("gpubtree.hold_point = '$point'", "gpubtree.hold_lock = $lock{$who}") : (),
		map { "$_ = off" } 'enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan',
		'enable_bitmapscan');

	my $session = gpb_start($node, $sql, @settings);
	wait_for_point($who) if $point;
	return $session;
}

# Make a table whose mirror is up to date and half of whose entries point to rows dead to everybody.
sub make_table
{
	my ($t) = @_;

	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE $t (k bigint, v int, d float8);
INSERT INTO $t SELECT i, 1, i FROM generate_series(1, 1000) i;
CREATE INDEX ${t}_k ON $t USING gpubtree (k) INCLUDE (v, d);
DELETE FROM $t WHERE k % 2 = 0;
SELECT gpubtree_refresh('${t}_k');
SQL
}

sub compare
{
	my ($t, $name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SELECT compare_range('$t', 1, 1000000)");

	is($status, 0, "$name: the right answer") or diag($err);
}

# M3, the refresh: in flight before no longer changed.  A reader has refreshed; VACUUM removes
# entries and sets the heap all-visible; then a refresh is held in the middle of its move.
{
	make_table('a');
	lock_point($_) for keys %lock;
	my $reader = start('reader', 'reader', 'batch-after-refresh',
		'SELECT count(*), sum(v) FROM a WHERE k > 0');
	$node->safe_psql('postgres', 'VACUUM a');
	my $refresher = start('refresher', 'refresher', 'refresh-in-move', "SELECT gpubtree_refresh('a_k')");
	unlock_point('reader');
	is(gpb_finish($reader), '500|500', 'in the middle of a move, one of the two bits shows');
	unlock_point('refresher');
	cmp_ok(gpb_finish($refresher), '>', 0, 'and the refresh goes on');
	compare('a', 'after the move');
}

# M3, the reader: changed before in flight.  A reader has refreshed, and VACUUM has been there; then
# the launch is held between its two looks, and a whole move takes place.
{
	make_table('b');
	lock_point($_) for keys %lock;
	my $reader = start('reader', 'reader', 'batch-after-refresh',
		'SELECT count(*), sum(v) FROM b WHERE k > 0');
	$node->safe_psql('postgres', 'VACUUM b');
	gpb_hold_service($node, 'map-read');
	unlock_point('reader');
	gpb_wait_for_service_at($node, 'map-read');
	my $refresher = start('refresher', 'refresher', 'refresh-after-move', "SELECT gpubtree_refresh('b_k')");
	gpb_release_service($node, 'map-read');
	is(gpb_finish($reader), '500|500', 'a move between the two looks hides no change');
	unlock_point('refresher');
	cmp_ok(gpb_finish($refresher), '>', 0, 'and the refresh goes on');
	compare('b', 'after the looks');
}

# M2: a mirror can be found before the first page is copied, so what is written beside
# its first refresh is not lost.
{
	make_table('c');
	$node->safe_psql('postgres', "SELECT gpubtree_drop_mirror('c_k')");
	lock_point('refresher');
	my $refresher = start('refresher', 'refresher', 'refresh-before-publish', "SELECT gpubtree_refresh('c_k')");
	$node->safe_psql('postgres', 'INSERT INTO c VALUES (2000, 1, 1)');
	unlock_point('refresher');
	cmp_ok(gpb_finish($refresher), '>', 0, 'the first refresh copies everything');
	is( $node->safe_psql('postgres', "SELECT changed_blocks FROM gpubtree_mirrors WHERE index = 'c_k'::regclass"),
		'1', 'what was written beside it is marked');
	compare('c', 'after the first refresh');
}

# M3: an upload whose refresh was cancelled does not overwrite the next one's.  The service scans
# its slots in order; "other" makes the cancelled one use the second, the next one the first.
{
	make_table('e');
	make_table('other');
	$node->safe_psql('postgres', 'INSERT INTO other VALUES (1, 1, 1)');
	$node->safe_psql('postgres', 'INSERT INTO e VALUES (2000, 1, 1)');
	lock_point('refresher');
	my $other = start('other', 'refresher', 'refresh-before-copy', "SELECT gpubtree_refresh('other_k')");
	gpb_hold_service($node, 'refreshes');
	my $cancelled = start('cancelled', undef, undef, "SELECT gpubtree_refresh('e_k')");
	gpb_wait_for_service_at($node, 'refreshes');
	gpb_wait_for_sessions($node, 'cancelled', 1);
	$node->safe_psql('postgres', <<'SQL');
SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name IN ('cancelled', 'other')
SQL
	like(gpb_finish($_), qr/canceling statement/, 'a refresh is cancelled') for $cancelled, $other;
	unlock_point('refresher');

	$node->safe_psql('postgres', 'INSERT INTO e VALUES (2001, 1, 1)');
	my $next = start('next', undef, undef, "SELECT gpubtree_refresh('e_k')");
	gpb_wait_for_sessions($node, 'next', 1);
	gpb_release_service($node, 'refreshes');
	is(gpb_finish($next), '1', 'the next refresh copies the leaf again');
	is( $node->safe_psql('postgres', "SELECT changed_blocks FROM gpubtree_mirrors WHERE index = 'e_k'::regclass"),
		'0', 'nothing is left changed');
	compare('e', 'after an abandoned upload');
}

# M9: a mirror is dropped while the service makes room for it.
{
	$node->safe_psql('postgres', <<'SQL');
CREATE TABLE f AS SELECT i::bigint AS k, 1 AS v, i::float8 AS d FROM generate_series(1, 30000) i;
CREATE TABLE g AS SELECT * FROM f;
CREATE INDEX f_k ON f USING gpubtree (k) INCLUDE (v, d);
CREATE INDEX g_k ON g USING gpubtree (k) INCLUDE (v, d);
ALTER SYSTEM SET gpubtree.memory_limit = '1500kB';
SQL
	my $service = gpb_service_pid($node);
	$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
	$node->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM gpubtree_device WHERE status = 'ready' AND pid <> $service")
	  or die 'the service has not restarted';
	$service = gpb_service_pid($node);
	cmp_ok($node->safe_psql('postgres', "SELECT gpubtree_refresh('f_k')"), '>', 0, 'one mirror fits');

	gpb_hold_service($node, 'make-room');
	my $refresher = start('refresher', undef, undef, "SELECT gpubtree_refresh('g_k') IS NULL");
	gpb_wait_for_service_at($node, 'make-room');
	is($node->safe_psql('postgres', "SELECT gpubtree_drop_mirror('g_k')"), 't',
		'a mirror is dropped while room is made for it');
	gpb_release_service($node, 'make-room');
	like(gpb_finish($refresher), qr/^tNOTICE:  index "g_k" was not mirrored\n/, 'its refresh gives up, and says so');
	is(gpb_service_pid($node), $service, 'the service goes on');
	cmp_ok($node->safe_psql('postgres', "SELECT gpubtree_refresh('g_k')"), '>', 0,
		'and makes the mirror when it is wanted again');
	compare('g', 'after room was made');
}

$_->quit for values %holder;
done_testing();
