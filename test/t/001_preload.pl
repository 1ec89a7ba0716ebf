# Loaded any other way than through shared_preload_libraries, the library refuses, and
# says what to do.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

for my $statement ("LOAD 'gpubtree'", 'CREATE EXTENSION gpubtree')
{
	my ($status, $out, $err) = $node->psql('postgres', $statement);

	isnt($status, 0, "$statement is refused");
	like($err, qr/gpubtree must be loaded through shared_preload_libraries/,
		"$statement: the message names the setting");
	like($err, qr/HINT:.*restart/, "$statement: the hint says what to do");
}
is($node->safe_psql('postgres', 'SELECT 1'), '1', 'the server lives on');

done_testing();
