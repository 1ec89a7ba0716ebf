# Servers of two versions, each the shard of the other: answers are bit by bit those of one table, while
# the shard sends groups, and each merges states that the other made.
#
# Guards: exec/aggregate/aggregate_shard*.c, src/state: what is sent, and states, are alike everywhere
#
# GPB_OTHER_SERVER	where another version is installed, with gpubtree; test/all-servers gives it 15
# GPB_SEED			see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS		number of random queries each way (default 20)
use GpubtreeTest;
use GpubtreeShards;

if (!$ENV{GPB_OTHER_SERVER})
{
	SKIP: { skip('there is no server of another version (GPB_OTHER_SERVER)', 1) }
	done_testing();
	exit;
}

my @queries = ('SELECT count(*), count(n), sum(n), sum(s), avg(b), min(f), max(k), bool_and(o), bit_xor(b) FROM %s',
	'SELECT sum(f), avg(f), variance(f), corr(f, n), sum(f4), sum(w), variance(d), stddev(w) FROM %s WHERE f < 1e300',
	"SELECT g, avg(f), max(g), count(*) FROM %s WHERE f < 1e300 AND k > now() - interval '50 years' GROUP BY g",
	"SELECT date_trunc('day', k), avg(f), bit_or(n) FROM %s WHERE f < 1e300 GROUP BY 1 HAVING count(*) > 3",
	"SELECT date_trunc('hour', k, 'Asia/Kathmandu'), sum(n) FROM %s GROUP BY 1",
	'SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY f), percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY d), mode() WITHIN GROUP (ORDER BY s) FROM %s',
	'SELECT count(DISTINCT g), sum(DISTINCT n), count(DISTINCT u), count(DISTINCT d), max(g) FROM %s',
	'SELECT g, gpubtree_partial(f), gpubtree_partial_variance(w), gpubtree_partial_regression(f, n), gpubtree_partial_values(s) FROM %s GROUP BY g',
	"SELECT g, gpubtree_final(gpubtree_partial(f), 'avg'), gpubtree_final(gpubtree_partial(d), 'sum') FROM %s WHERE f < 1e300 GROUP BY g");

gpb_seed();
my $here = gpb_node('main');
my $there = gpb_node('other', install_path => $ENV{GPB_OTHER_SERVER}, initdb => [ '-E', 'UTF8' ]);
my ($version, $other) = map { $_->pg_version->major } $here, $there;
isnt($version, $other, 'the versions');

# both before there are tables, which new databases would have too
my @ways = ([ GpubtreeShards->new($here, s1 => $there), "$version asks $other" ], [ GpubtreeShards->new($there, s1 => $here), "$other asks $version" ]);
foreach my $way (@ways)
{
	my ($sharded, $name) = @$way;
	my $ok = 1;

	$sharded->new_layout(1, 1, 'RANGE (k)');
	my $session = $sharded->session('Europe/Berlin', 'ISO, DMY', 'postgres');
	foreach my $query (@queries)
	{
		my ($far, $one) = map { sprintf($query, $_) } 'far', 'one';
		my $sent = $session->query_safe("SELECT * FROM remote(\$q\$$far\$q\$)");

		like($sent, qr/\A(SELECT [^\n]*(count\(\*\)|gpubtree_partial)[^\n]*\n?)+\z/, "$name for groups: $query");
		is($session->query_safe("SELECT answer(\$q\$$far\$q\$)"), $session->query_safe('SELECT truth($q$' . exactly($one) . '$q$)'), "$name: $query");
	}
	for (1 .. $ENV{GPB_ROUNDS} // 20)
	{
		$ok = $sharded->compare($session, random_query(), $name) && $ok;
	}
	ok($ok, "$name: random queries");
	cmp_ok($sharded->{sent}, '<=', $sharded->{asked} / 5, "$name: rows are sent for few of them ($sharded->{sent} of $sharded->{asked})");
	$session->quit;
	$sharded->compare_states;
}
done_testing();
