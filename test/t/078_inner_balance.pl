# CPU and device share the work of searches in inner nodes so that neither waits: what is found
# with a slow and with a fast device, and that it is kept for each mirror.
use GpubtreeTest;

my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
work_mem = 64MB
gpubtree.max_mirror_size = 100kB
CONF
my $slow = $node->data_dir . '/gpubtree_slow.search';
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint, v int);
INSERT INTO t SELECT i, i % 1000 FROM generate_series(1, 200000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
CREATE INDEX t_d ON t USING gpubtree (k DESC) INCLUDE (v);
CREATE TABLE keys AS SELECT array_agg(i::bigint * 7919 % 200000 + 1) AS a FROM generate_series(1, 400000) i;
VACUUM ANALYZE t;
SQL
gpb_wait_for_service($node);

# Run one probe of 400,000 keys, which are 25 chunks, and return its counters; all keys are found,
# whoever looks.
sub probe
{
	my ($index) = @_;
	my %probe;

	@probe{ 'matches', 'device', 'cpu', 'share' } = split /\|/, $node->safe_psql('postgres',
		"SELECT matches, device_keys, cpu_keys, cpu_share FROM keys, gpubtree_probe('$index', a, 'inner')");
	is($probe{matches}, '400000', 'all keys are found');
	is($probe{device} + $probe{cpu}, 400000, 'each by CPU or device');
	ok($probe{share} >= 0 && $probe{share} <= 1, "the CPU's share is $probe{share}");
	return \%probe;
}

sub share
{
	return $node->safe_psql('postgres', "SELECT cpu_share FROM gpubtree_mirrors WHERE index = '$_[0]'::regclass");
}

# Where the device takes far longer for a key than the CPU does, the CPU takes most of the keys.
# A machine with much else to do may hold up the CPU's side at each step of the search; then another
# mirror is made, which begins anew.
append_to_file($slow, '20000');
my ($first, $probe);
for (1 .. 20)
{
	$node->safe_psql('postgres', "SELECT gpubtree_drop_mirror('t_k')");
	$first = probe('t_k');
	probe('t_k') for (1 .. 2);
	$probe = probe('t_k');
	last if $first->{share} >= 0.5 && $probe->{share} > 0.8;
}
cmp_ok($first->{share}, '>=', 0.5, 'after a few chunks a slow device gets half of the keys at most');
cmp_ok($probe->{share}, '>', 0.8, 'in the end a small part');
cmp_ok($probe->{share}, '<', 1, 'but never nothing');
cmp_ok($probe->{cpu}, '>', $first->{cpu}, 'so the CPU does more than at first');
is(share('t_k'), $probe->{share}, 'the view shows it');

# What was found belongs to the mirror, and the next session begins with it.
my $found = share('t_k');
$probe = probe('t_k');
is($probe->{share}, $found, 'the next session goes on with it');
cmp_ok($probe->{cpu}, '>', 0.7 * 400000, 'from its first chunk');
unlink $slow or die;
is(share('t_d') || 0, 0, 'another index knows nothing of it');

# Where the device takes no time worth mentioning, the device takes most of the keys.
for (1 .. 20)
{
	$node->safe_psql('postgres', "SELECT gpubtree_drop_mirror('t_k')");
	$probe = probe('t_k');
	last if share('t_k') < $found;
}
cmp_ok(share('t_k'), '<', $found, 'a new mirror finds its own balance');

# Many sessions probe at once, and their samples meet.
append_to_file($slow, '300');
my @load = map {
	gpb_start_pgbench($node, <<'SQL', '-c', '3', '-T', '5')
SELECT matches = 400000 OR 1 / (matches - matches) > 0 FROM keys, gpubtree_probe('t_k', a, 'inner');
SQL
} (1);
$_->finish for @load;
ok(!$load[0]->result, 'all sessions find all keys');
ok(share('t_k') >= 0 && share('t_k') <= 1, 'and the share is one: ' . share('t_k'));

done_testing();
