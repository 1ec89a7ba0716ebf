# gpubtree_refresh() says why there is no mirror: no device, no memory on it, too many blocks, a
# service that has gone. (The reasons that need no server of their own are in sql/switches.sql.)
use GpubtreeTest;

# max_mirrored_blocks is rounded up to whole segments, which are made small for this.
my $node = gpb_node('main', settings => "autovacuum = off\ngpubtree.segment_blocks = 1024\n");
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (k bigint);
INSERT INTO t SELECT i FROM generate_series(1, 700000) i;
CREATE INDEX t_k ON t USING gpubtree (k);
CREATE TABLE small (k bigint);
INSERT INTO small SELECT i FROM generate_series(1, 10000) i;
CREATE INDEX small_k ON small USING gpubtree (k);
SQL

# Restart the server with these settings, and return what a refresh of the index returns and says.
sub refresh_with
{
	my ($index, $ready, %settings) = @_;

	$node->append_conf('postgresql.conf', "gpubtree.$_ = '$settings{$_}'") for sort keys %settings;
	$node->restart;
	$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM gpubtree_device WHERE status ~ '$ready'")
	  or die "the service is not '$ready'";
	my ($status, $out, $err) = $node->psql('postgres', "SELECT coalesce(gpubtree_refresh('$index')::text, 'none')");
	return ($out, $err);
}

my ($out, $err) = refresh_with('t_k', '^ready');
cmp_ok($out, '>', 1024, 'with a device and room the index is mirrored');
is($err, '', 'and nothing is said');

($out, $err) = refresh_with('t_k', '^ready', max_mirrored_blocks => 1024);
is($out, 'none', 'too many blocks');
like($err, qr/NOTICE:  index "t_k" was not mirrored\nDETAIL:  The index has \d+ blocks, and changes of 1024 are tracked at most\.\nHINT:  Raise gpubtree\.max_mirrored_blocks/,
	'are told with both numbers');
($out, $err) = refresh_with('small_k', '^ready');
cmp_ok($out, '>', 0, 'a smaller index is mirrored');
is($err, '', 'and nothing is said');

($out, $err) = refresh_with('t_k', '^ready', max_mirrored_blocks => 65536, memory_limit => '40kB');
is($out, 'none', 'no memory, not even for the inner nodes');
like($err, qr/DETAIL:  The device has no memory for it\.\nHINT:  Raise gpubtree\.memory_limit/, 'is told');

($out, $err) = refresh_with('t_k', '^no device', memory_limit => '1GB', device => 'off');
is($out, 'none', 'no device');
like($err, qr/DETAIL:  The status of the device is "no device: .*"\./, 'is told with the status');

done_testing();
