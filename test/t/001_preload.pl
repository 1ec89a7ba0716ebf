# Loaded any other way than through shared_preload_libraries, the library refuses, and
# says what to do.  Loaded from another folder than the server's, it finds its CUDA part there, and the
# extension its functions.
use strict;
use warnings;
use File::Copy;
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

# Any library will do for the CUDA part: it is found, and turned down.
my $folder = $node->basedir . '/elsewhere';
my $libraries = $node->config_data('--pkglibdir');

mkdir $folder;
copy("$libraries/gpubtree.so", "$folder/gpubtree.so") or die "gpubtree.so: $!";
copy("$libraries/plpgsql.so", "$folder/gpubtree_cuda.so") or die "plpgsql.so: $!";
$node->append_conf('postgresql.conf', <<"CONF");
dynamic_library_path = '$folder:\$libdir'
shared_preload_libraries = 'gpubtree'
gpubtree.device = 'cuda'
CONF
$node->restart;
ok($node->wait_for_log(qr/runs without a device: gpubtree_cuda.so is of another version/),
	'the CUDA part beside the library is the one that is loaded');
is($node->safe_psql('postgres', <<'SQL'), '2', 'the extension has its functions from there');
CREATE EXTENSION gpubtree;
CREATE TABLE t AS SELECT generate_series(1, 3) AS k;
CREATE INDEX t_k ON t USING gpubtree (k);
SELECT count(*) FROM t WHERE k > 1;
SQL

done_testing();
