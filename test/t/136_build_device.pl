# Builds may have the device sort their records while the table is read.  The file has the same bytes
# as without the device, whatever becomes of the service meanwhile; what comes back damaged is noticed;
# nothing of the service's is kept.  Guards build_device.c, build_sort.c, service_sort.c.
use GpubtreeHold;
use GpubtreeTest;

my $settings = <<'CONF';
autovacuum = off
max_worker_processes = 16
max_parallel_workers = 8
gpubtree.device_sort = 'on'
gpubtree.piece_records = 500
gpubtree.min_built_mirror_size = -1
CONF

gpb_seed();
my $node = gpb_node('main', settings => $settings);

# Unlogged tables: their pages have no LSN, which would differ.
sub make_table
{
	my ($in, $rows, $key, $update) = @_;

	$update //= 'UPDATE t SET d = d + 1 WHERE i % 11 = 5';
	$in->safe_psql('postgres', <<"SQL");
@{[gpb_setseed()]}
CREATE OR REPLACE FUNCTION file_of(index regclass) RETURNS text LANGUAGE sql AS
	\$\$ SELECT md5(pg_read_binary_file(pg_relation_filepath(index))) \$\$;
DROP TABLE IF EXISTS t;
CREATE UNLOGGED TABLE t (i int, k bigint, k4 int, b int2, d float8)
	WITH (fillfactor = 80, parallel_workers = 3);
INSERT INTO t SELECT i, k, (k % 1000000000)::int, CASE WHEN i % 3 = 0 THEN NULL ELSE i % 1000 END, i / 8.0
FROM (SELECT i, ($key)::bigint AS k FROM generate_series(1, $rows) i) s;
$update;
SQL
}

# In 1 MB there is no room for all records of most indexes, in 4 MB there is.
my %serial = (
	'in memory' => "maintenance_work_mem = '4MB'; SET max_parallel_maintenance_workers = 0",
	'runs' => "maintenance_work_mem = '1MB'; SET max_parallel_maintenance_workers = 0");
my %parallel = (
	'one worker' => "maintenance_work_mem = '8MB'; SET max_parallel_maintenance_workers = 1",
	'three workers' => "maintenance_work_mem = '4MB'; SET max_parallel_maintenance_workers = 3");

sub sorted_records
{
	my ($in) = @_;

	return $in->safe_psql('postgres', 'SELECT sorted_records FROM gpubtree_batches');
}

# Build the index without the device, and give its file's digest.
sub without_device
{
	my ($in, $index, $way) = @_;

	return $in->safe_psql('postgres', <<"SQL");
SET gpubtree.device_sort = off;
SET $way;
DROP INDEX IF EXISTS x;
CREATE INDEX x ON t USING gpubtree $index;
SELECT file_of('x');
SQL
}

sub with_device
{
	my ($in, $index, $way, $how) = @_;

	$how //= 'INDEX';
	return $in->safe_psql('postgres', <<"SQL") =~ s/^\s+//r;
SET $way;
DROP INDEX IF EXISTS x;
CREATE $how x ON t USING gpubtree $index;
SELECT gpubtree_check('x', true);
SELECT file_of('x');
SQL
}

# The file has the same bytes in all ways.  Returns how many records the device sorted for each.
sub same_bytes
{
	my ($in, $name, $index, %ways) = @_;
	my $before = sorted_records($in);
	my %sorted;

	# which keys entries share is decided otherwise by parallel builds
	$index =~ s/( WHERE .*)?$/ WITH (deduplicate_items = off)/;
	$index .= $1 // '';
	my $expected = without_device($in, $index, $serial{'in memory'});
	is(sorted_records($in), $before, "$name: none without the device");
	for my $way (sort keys %ways)
	{
		$before = sorted_records($in);
		is(with_device($in, $index, $ways{$way}), $expected, "$name, $way: $index");
		$sorted{$way} = sorted_records($in) - $before;
	}
	return %sorted;
}

# The same, and the device sorts all records of builds that have room for them, and most of others.
sub same_bytes_by_device
{
	my ($in, $name, $index, %ways) = @_;
	my %sorted = same_bytes($in, $name, $index, %ways);
	my $rows = $in->safe_psql('postgres', 'SELECT reltuples FROM pg_class WHERE relname = \'x\'');

	for my $way (sort keys %sorted)
	{
		my $least = $way eq 'in memory' ? $rows : $rows / 2;

		cmp_ok($sorted{$way}, '>=', $least, "$name, $way, $index: the device sorted records");
		cmp_ok($sorted{$way}, '<=', $rows, "$name, $way, $index: each record once");
	}
}

gpb_wait_for_service($node);
my $memory = "SELECT memory_used FROM gpubtree_device";
my $used = $node->safe_psql('postgres', $memory);

# Nothing is left of builds, in shared memory or on the device.
sub nothing_is_left
{
	my ($name) = @_;

	gpb_all_is_free($node, $name);
	ok($node->poll_query_until('postgres', "SELECT memory_used = $used FROM gpubtree_device"),
		"$name: the device has its memory again");
}

# ---- the same bytes ----

my %keys = (
	'random' => 'hashint8extended(i, 1)',
	'descending' => '-i',
	'skewed' => '(2 ^ (random() * 62))',
	'alike' => '(hashint8extended(i, 1) & 72057594037928191)',
	'some NULL' => 'CASE WHEN i % 4 = 0 THEN NULL ELSE hashint8(i) END');
my @indexes = (
	'(k)', '(k DESC)', '(k NULLS FIRST)', '(k4)', '(k4 DESC NULLS LAST) INCLUDE (b)', '(d)', '(d) INCLUDE (k, k4)',
	'(k4, k)', '(i, k4, b)', '((md5(k::text)::uuid) DESC) INCLUDE (k)', '((hashint8(k))) WHERE i % 2 = 0');

for my $name (sort keys %keys)
{
	make_table($node, 60000, $keys{$name});
	same_bytes_by_device($node, $name, '(k)', %serial, $name =~ /alike|skewed/ ? () : %parallel);
}
make_table($node, 60000, $keys{random});
for my $index (@indexes)
{
	# those by i and d come in order
	my $sub = $index =~ /^\((d|i)/ ? \&same_bytes : \&same_bytes_by_device;

	$sub->($node, 'random', $index, 'in memory' => $serial{'in memory'});
}
same_bytes_by_device($node, 'random', '(k) INCLUDE (d, b)', %serial);
same_bytes_by_device($node, 'random', $indexes[rand 4], %parallel);
nothing_is_left('builds');

# A concurrent build, and one with entries that share keys
{
	my $before = sorted_records($node);
	my $way = $serial{'runs'};

	is(with_device($node, '(k)', $way, 'INDEX CONCURRENTLY'), without_device($node, '(k)', $way),
		'a concurrent build has the same bytes');
	cmp_ok(sorted_records($node), '>', $before, 'the device sorted records of it');
	make_table($node, 60000, 'hashint8(i) % 900');
	is(with_device($node, '(k)', $_), without_device($node, '(k)', $_), 'entries share keys') for values %serial;
}

# A unique index, where there is one, tells equal keys as ever.
make_table($node, 60000, 'hashint8extended(i % 59999, 1)');
if ($node->pg_version >= 18)
{
	for my $way (values %serial, values %parallel)
	{
		my ($code, $out, $error) = $node->psql('postgres', "SET $way; CREATE UNIQUE INDEX y ON t USING gpubtree (k)");

		like($error, qr/could not create unique index/, 'equal keys are told');
	}
	$node->safe_psql('postgres', 'UPDATE t SET k = 5 WHERE i = 1');
	is(with_device($node, '(k)', $_, 'UNIQUE INDEX'), without_device($node, '(k)', $_), 'a unique index')
	  for map { $serial{$_} } sort keys %serial;
	with_device($node, '(k)', $_, 'UNIQUE INDEX') for values %parallel;
}
else
{
	my ($code, $out, $error) = $node->psql('postgres', 'CREATE UNIQUE INDEX y ON t USING gpubtree (k)');

	like($error, qr/unique/i, 'unique indexes are refused before 18');
}
nothing_is_left('unique');

# ---- what the device is not asked for ----

for my $case ([ 'ascending', 'i * 3' ], [ 'few', 'i % 20' ], [ 'one', '7' ])
{
	my ($name, $key) = @$case;

	make_table($node, 60000, $key, 'SELECT');
	my %sorted = same_bytes($node, $name, '(k)', %serial);
	is_deeply([ values %sorted ], [ 0, 0 ], "$name keys are the CPU's");
}
make_table($node, 300, $keys{random});
is_deeply([ values %{{ same_bytes($node, 'few rows', '(k)', %serial) }} ], [ 0, 0 ], 'few rows are the CPU\'s');

# Keys that ascend for long and no more then: all records are sent when that is seen.
make_table($node, 60000, 'CASE WHEN i < 30000 THEN i ELSE hashint8extended(i, 1) END');
same_bytes_by_device($node, 'ascending at first', '(k)', 'in memory' => $serial{'in memory'});

# The host device is asked only by those who say so.
make_table($node, 60000, $keys{random});
{
	my $before = sorted_records($node);
	my $kind = $node->safe_psql('postgres', 'SELECT device FROM gpubtree_device');

	with_device($node, '(k)', "gpubtree.device_sort = auto; SET $serial{'in memory'}");
	my $sorted = sorted_records($node) - $before;
	$kind =~ /host/ ? is($sorted, 0, 'auto: not the host device') : is($sorted, 60000, 'auto: a GPU');
}

# ---- what comes back is not what was sent ----

for my $damage ('build-damaged-record', 'build-repeated-record', 'build-swapped-records')
{
	for my $way (sort keys %serial)
	{
		my ($code, $out, $error) = $node->psql('postgres', <<"SQL");
SET $serial{$way};
SET gpubtree.hold_point = '$damage';
CREATE INDEX y ON t USING gpubtree (k);
SQL

		like($error, qr/gave back other records.*\n.*device_sort to off/, "$damage, $way: an error");
	}
}
# The same bit is lost in two records, where a sum of weaker checksums would often not tell.
$node->safe_psql('postgres', 'CREATE UNLOGGED TABLE u AS SELECT i AS k FROM generate_series(1, 2000) i');
for my $n (1 .. 6)
{
	my ($code, $out, $error) = $node->psql('postgres', <<"SQL");
SET gpubtree.hold_point = 'build-damaged-flags';
CREATE INDEX ON u USING gpubtree ((hashint8extended(k, $n)));
SQL

	like($error, qr/gave back other records/, "damaged flags: an error");
}
nothing_is_left('damage');

# ---- what no build asks for ----

$node->safe_psql('postgres', 'CREATE EXTENSION gpubtree_test');
is($node->safe_psql('postgres', 'SELECT gpubtree_test_sort_refused()'), '', 'the service refuses it');
is($node->safe_psql('postgres', 'SELECT gpubtree_test_sorts()'), 16, 'sorts have a quarter of the slots');
nothing_is_left('refused');

# ---- the service fails meanwhile ----

my $index = '(k) WITH (deduplicate_items = off)';
my $expected = without_device($node, $index, $serial{'in memory'});
my %ways = (%serial, 'three workers' => $parallel{'three workers'});

# How long builds wait for a service that hangs: not long where it does, else as all tests do.
sub wait_for_service
{
	my ($time) = @_;

	$node->append_conf('postgresql.conf', "gpubtree.request_timeout = '$time'");
	$node->reload;
	ok($node->poll_query_until('postgres',
			"SELECT setting::interval = '$time' FROM (SELECT current_setting('gpubtree.request_timeout') AS setting) s"),
		"builds wait $time");
}

# It hangs while it has a piece, or while it gives records back.
wait_for_service('2s');
for my $point ('sort', 'sort-read')
{
	for my $way (sort keys %ways)
	{
		gpb_hold_service($node, $point);
		is(with_device($node, $index, $ways{$way}), $expected, "$way: the service hangs at $point");
		ok(gpb_is_held($node, $point), "$way: it was at $point");
		gpb_release_service($node, $point);
		nothing_is_left("$way: the service goes on");
	}
}
is(with_device($node, $index, $ways{'three workers'}), $expected, 'the service goes on');

# It exits there: it is told to while it is held.
sub service_exits
{
	my ($way, $point) = @_;
	my $pid = gpb_service_pid($node);

	gpb_hold_service($node, $point);
	my $build = gpb_start($node, "CREATE INDEX y ON t USING gpubtree $index", (map { s/^SET //r } split(/; /, $ways{$way})));
	gpb_wait_for_service_at($node, $point);
	kill 'TERM', $pid;
	gpb_release_service($node, $point);
	is(gpb_finish($build), '', "$way: the service exits at $point");
	is($node->safe_psql('postgres', q{SELECT file_of('y')}), $expected, "$way: the service exits: the same bytes");
	$node->safe_psql('postgres', 'DROP INDEX y');
	gpb_wait_until('another service', sub { (gpb_service_pid($node) || $pid) != $pid });
	gpb_wait_for_service($node);
	nothing_is_left("$way: another service");
}

for my $way ('in memory', 'three workers')
{
	service_exits($way, 'sort');
	service_exits($way, 'sort-read');
}

# It hangs when it has given back some records, which the CPU passes over then.  One half of staging
# has 32,768 records of 16 bytes, and the second read is submitted when the build goes on from the
# point: the service is held at the first, goes on, and is held at the second.  So that runs have two
# reads, too, they have more memory than elsewhere.
sub hangs_midway
{
	my ($memory, $point) = @_;
	my $way = "in $memory";
	my $holder = gpb_holder($node);
	gpb_hold_service($node, 'sort-read');
	my $build = gpb_start($node, "CREATE INDEX y ON t USING gpubtree $index", "maintenance_work_mem = '$memory'",
		'max_parallel_maintenance_workers = 0', "gpubtree.hold_point = '$point'");
	gpb_wait_for_hold($node);
	gpb_wait_for_service_at($node, 'sort-read');
	gpb_release_service($node, 'sort-read');
	gpb_wait_until('the first read', sub { !gpb_is_held($node, 'sort-read') });
	gpb_hold_service($node, 'sort-read');
	$holder->quit;
	gpb_wait_for_service_at($node, 'sort-read');
	my $error = gpb_finish($build);
	ok(gpb_is_held($node, 'sort-read'), "$way: it hung to the end");
	gpb_release_service($node, 'sort-read');
	nothing_is_left("$way: the service goes on");
	return $error;
}

for my $memory ('4MB', '1250kB')
{
	is(hangs_midway($memory, 'build-reads-back'), '', "in $memory: the service hangs midway");
	is($node->safe_psql('postgres', q{SELECT file_of('y')}), $expected, "in $memory: the same bytes");
	$node->safe_psql('postgres', 'DROP INDEX y');
}
# What came is told from what the CPU passes over.
like(hangs_midway('4MB', 'build-damaged-record'), qr/gave back other records/, 'damaged midway: an error');
wait_for_service('10min');

# The build is cancelled, or terminated, before the submit, after it, and while it reads back.
for my $end ('pg_cancel_backend', 'pg_terminate_backend')
{
	for my $point ('build-reads-back', $end =~ /cancel/ ? ('build-piece-copied', 'build-piece-submitted') : ())
	{
		my $holder = $node->background_psql('postgres');
		my $held_at = $point eq 'build-reads-back' ? 'sort-read' : 'sort';

		$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
		gpb_hold_service($node, $held_at);
		my $build = gpb_start($node, "CREATE INDEX y ON t USING gpubtree $index",
			"maintenance_work_mem = '3MB'", 'max_parallel_maintenance_workers = 0',
			"gpubtree.hold_point = '$point'", "application_name = 'build'");
		gpb_wait_for_hold($node);
		gpb_wait_for_service_at($node, $held_at) unless $point eq 'build-piece-copied';
		$node->safe_psql('postgres', "SELECT $end(pid) FROM pg_stat_activity WHERE application_name = 'build'");
		like(gpb_finish($build), qr/cancel|terminat|clos/, "$end at $point");
		$holder->quit;
		gpb_release_service($node, $held_at);
		nothing_is_left("$end at $point");
	}
}

# A read is abandoned before the service has seen it, which then looks at its slots once and no more.
{
	my $holder = gpb_holder($node);
	my $build = gpb_start($node, "CREATE INDEX y ON t USING gpubtree $index",
		"maintenance_work_mem = '3MB'", 'max_parallel_maintenance_workers = 0',
		"gpubtree.hold_point = 'build-reads-back'", "application_name = 'build'");
	gpb_wait_for_hold($node);
	gpb_hold_service($node, 'sleep');
	kill 'HUP', gpb_service_pid($node);
	gpb_wait_for_service_at($node, 'sleep');
	$holder->quit;
	gpb_wait_for_sessions($node, 'build', 1);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'build'");
	like(gpb_finish($build), qr/cancel/, 'a read is abandoned');
	gpb_release_service($node, 'sleep');
	nothing_is_left('a read is abandoned');
}

# A parallel build is cancelled while a worker's piece is with the service: workers end, too.
{
	gpb_hold_service($node, 'sort');
	my $build = gpb_start($node, "CREATE INDEX y ON t USING gpubtree $index",
		(map { s/^SET //r } split(/; /, $parallel{'three workers'})), "application_name = 'build'");

	gpb_wait_for_service_at($node, 'sort');
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'build'");
	like(gpb_finish($build), qr/cancel/, 'a parallel build is cancelled');
	gpb_release_service($node, 'sort');
	nothing_is_left('a parallel build is cancelled');
}
is(with_device($node, $index, $serial{runs}), $expected, 'afterwards');

# Queries that use the device beside builds
{
	my $answer = $node->safe_psql('postgres', <<'SQL');
SET gpubtree.device_sort = off;
CREATE INDEX q ON t USING gpubtree (k) INCLUDE (k4);
VACUUM t;
SELECT count(*), sum(k4) FROM t WHERE k > 0;
SQL
	my $build = gpb_start($node, 'DO $$ BEGIN FOR n IN 1 .. 5 LOOP CREATE INDEX y ON t USING gpubtree (k); DROP INDEX y; END LOOP; END $$');
	my $wrong = 0;

	do
	{
		$wrong++ if $node->safe_psql('postgres', 'SELECT count(*), sum(k4) FROM t WHERE k > 0') ne $answer;
	} until gpb_has_ended($build->{run});
	is(gpb_finish($build), '', 'builds beside queries');
	is($wrong, 0, 'queries beside builds');
	$node->safe_psql('postgres', 'DROP INDEX q');
	$used = $node->safe_psql('postgres', $memory);
}

# ---- memory is scarce ----

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION sees_all_free(i int, k bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF i = 59999 AND EXISTS (SELECT FROM public.gpubtree_batches WHERE slots_free < slots) THEN
		RAISE 'a slot is kept';
	END IF;
	RETURN k;
END $$;
SQL

# On the device: nothing is sorted there, and no mirror is given up for it.
{
	my $pid = gpb_service_pid($node);

	$node->append_conf('postgresql.conf', 'gpubtree.memory_limit = 200kB');
	$node->reload;
	gpb_wait_until('another service', sub { (gpb_service_pid($node) || $pid) != $pid });
	gpb_wait_for_service($node);
	my $before = sorted_records($node);
	my $failed = $node->safe_psql('postgres', 'SELECT failed_over FROM gpubtree_batches');

	is(with_device($node, $index, $ways{$_}), $expected, "$_: no memory on the device") for sort keys %ways;
	is(sorted_records($node), $before, 'nothing was sorted there');
	cmp_ok($node->safe_psql('postgres', 'SELECT failed_over FROM gpubtree_batches'), '>', $failed, 'it was tried');
	# Who does without the device gives the slot back at once, while the table is still read.
	is(gpb_finish(gpb_start($node, [ 'CREATE INDEX y ON t USING gpubtree ((sees_all_free(i, k)))', 'DROP INDEX y' ],
		'client_min_messages = warning', 'max_parallel_maintenance_workers = 0')), '', 'the slot is given back at once');
	gpb_all_is_free($node, 'no memory on the device');
}

# A sort has half of what is free also where more records come than were expected.
{
	my $pid = gpb_service_pid($node);

	$node->append_conf('postgresql.conf', 'gpubtree.memory_limit = 2500kB');
	$node->reload;
	gpb_wait_until('another service', sub { (gpb_service_pid($node) || $pid) != $pid });
	gpb_wait_for_service($node);
	$node->safe_psql('postgres', q{UPDATE pg_class SET reltuples = 1, relpages = 1000 WHERE relname = 't'});
	my $before = sorted_records($node);
	is(with_device($node, $index, $serial{'in memory'}), $expected, 'more records than expected');
	my $sorted = sorted_records($node) - $before;
	cmp_ok($sorted, '>', 30000, 'some were sorted there');
	cmp_ok($sorted, '<', 2500 * 1024 / 2 / 24, 'no more than half of the memory has room for');
	gpb_all_is_free($node, 'more records than expected');
}
$node->stop;

# In staging: pieces are smaller.  A quarter of the slots is one: one process has it, and the CPU sorts
# for the others.
my $small = gpb_node('small', settings => $settings . <<'CONF');
gpubtree.batch_memory = 256kB
gpubtree.batch_slots = 4
CONF
gpb_wait_for_service($small);
make_table($small, 60000, $keys{random});
same_bytes_by_device($small, 'one unit of staging', '(k)', %serial);
my %sorted = same_bytes($small, 'one unit of staging', '(k)', %parallel);
cmp_ok($sorted{$_}, '>', 0, "$_: one has the slot") for sort keys %parallel;
gpb_all_is_free($small, 'one unit of staging');

# A quarter that is none is left to queries, which would wait for the whole build.
for my $few ('gpubtree.batch_slots = 3', 'gpubtree.batch_memory = 192kB')
{
	$small->append_conf('postgresql.conf', "gpubtree.batch_slots = 4\ngpubtree.batch_memory = 256kB\n$few");
	$small->restart;
	gpb_wait_for_service($small);
	with_device($small, '(k)', $serial{'in memory'});
	is(sorted_records($small), 0, "$few: no sorts");
}
$small->stop;

done_testing();
