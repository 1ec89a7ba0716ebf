# A database that pg_dump has written and pg_restore, with several jobs, or psql has read again has
# the same index definitions; the indexes are in order and answer as those of the first one do.
#
# Tables, indexes and queries are those of test/upgrade.sql, and what only a definition shows: options
# of storage, names of operator classes, expressions, domains, partitions, unlogged tables,
# materialized views, exclusion constraints, an index to cluster by, and on PostgreSQL 18 unique
# indexes.
#
# An index that cannot be built anew, since a column is not NOT NULL any more, is an error of the
# restore, which names the column, and costs no row.
#
# Guards: gpubtree.sql, options.c, validate.c
use FindBin;
use GpubtreeTest;

my $node = gpb_node('main', databases => 1, settings => "autovacuum = off\n");
my $parts = slurp_file("$FindBin::RealBin/../upgrade.sql");

# The part of test/upgrade.sql that has this name
sub part
{
	my ($name) = @_;

	$parts =~ /^-- \Q$name\E\n(.*?)^-- end$/ms or die "no part $name";
	return $1;
}

$node->safe_psql('postgres', 'DROP EXTENSION gpubtree');
$node->safe_psql('postgres', part('fill'));
$node->safe_psql('postgres', <<'SQL');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE more (a positive NOT NULL, b timestamptz NOT NULL, c text COLLATE "C", d float8);
INSERT INTO more SELECT n, timestamptz '2024-01-01 00:00+00' + n * interval '1 hour', n % 30, n / 4.0
	FROM generate_series(1, 3000) n;
CREATE INDEX more_options ON more USING gpubtree (a) WITH (fillfactor = 70);
CREATE INDEX more_classes ON more USING gpubtree (a int4_ops DESC NULLS LAST, b timestamptz_ops)
	INCLUDE (c, d);
CREATE INDEX more_expression ON more USING gpubtree ((a % 10), (d * 2)) WHERE c <> '7';
CLUSTER more USING more_options;
CREATE UNLOGGED TABLE unlogged AS SELECT a::int, d FROM more;
CREATE INDEX unlogged_a ON unlogged USING gpubtree (a) INCLUDE (d);
CREATE MATERIALIZED VIEW view AS SELECT a::int, d FROM more;
CREATE INDEX view_a ON view USING gpubtree (a) INCLUDE (d);
CREATE TABLE parted (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (1000);
CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (1000) TO (2000);
CREATE INDEX parted_k ON parted USING gpubtree (k) INCLUDE (v);
INSERT INTO parted SELECT n, n % 7 FROM generate_series(0, 1999) n;
CREATE TABLE excluded (a int, b date, EXCLUDE USING gpubtree (a WITH =, b WITH =));
INSERT INTO excluded SELECT n, date '2024-01-01' + n FROM generate_series(1, 100) n;
SQL
$node->safe_psql('postgres', 'CREATE UNIQUE INDEX more_unique ON more USING gpubtree (b, a)')
  if $node->pg_version >= 18;

my $definitions = q{
	SELECT c.oid::regclass, pg_get_indexdef(c.oid), i.indisvalid, i.indisclustered, i.indisunique,
		c.relpersistence, c.reloptions, h.inhparent::regclass
	FROM pg_class c JOIN pg_am m ON m.oid = c.relam JOIN pg_index i ON i.indexrelid = c.oid
		LEFT JOIN pg_inherits h ON h.inhrelid = c.oid
	WHERE amname = 'gpubtree' ORDER BY c.relname};
my $others = q{
	SET enable_seqscan = off;
	SELECT count(*), sum(d) FROM more WHERE a BETWEEN 100 AND 900;
	SELECT c, count(*) FROM more WHERE a > 1500 GROUP BY c ORDER BY c;
	SELECT count(*) FROM more WHERE a % 10 = 3 AND c <> '7';
	SELECT count(*), sum(d) FROM unlogged WHERE a > 77;
	SELECT count(*), sum(d) FROM view WHERE a > 77;
	SELECT count(*), sum(v) FROM parted WHERE k BETWEEN 900 AND 1100};

# What a database is compared by: definitions, and answers through the indexes
sub contents
{
	my ($database) = @_;

	# The partitions' parent has no file.
	my $check = part('check') =~ s/WHERE/WHERE relkind = 'i' AND/r;
	$node->safe_psql($database, 'ANALYZE');
	$node->safe_psql($database, $check);
	return {
		definitions => $node->safe_psql($database, $definitions),
		answers => $node->safe_psql($database, part('answers')),
		others => $node->safe_psql($database, $others)
	};
}

my $first = contents('postgres');
cmp_ok(scalar(split /\n/, $first->{definitions}), '>=', 16, 'indexes of every kind');

my $directory = PostgreSQL::Test::Utils::tempdir;
my %ways = (
	custom => [
		[ 'pg_dump', '-Fc', '-f', "$directory/custom", 'postgres' ],
		[ 'pg_restore', '-j', '2', '-d', 'custom', "$directory/custom" ]
	],
	directory => [
		[ 'pg_dump', '-Fd', '-j', '2', '-f', "$directory/directory", 'postgres' ],
		[ 'pg_restore', '-j', '2', '-d', 'directory', "$directory/directory" ]
	],
	plain => [
		[ 'pg_dump', '-f', "$directory/plain", 'postgres' ],
		[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', 'plain', '-f', "$directory/plain" ]
	],
	# A dump of what was restored
	again => [
		[ 'pg_dump', '-Fc', '-f', "$directory/again", 'plain' ],
		[ 'pg_restore', '-d', 'again', "$directory/again" ]
	]);

for my $way (qw(custom directory plain again))
{
	my ($dump, $restore) = @{ $ways{$way} };

	$node->safe_psql('postgres', "CREATE DATABASE $way TEMPLATE template0");
	$node->command_ok($dump, "$way: dumped");
	$node->command_ok($restore, "$way: restored");
	my $contents = contents($way);
	is($contents->{$_}, $first->{$_}, "$way: $_") for qw(definitions answers others);
}

# The server that a dump is restored into must have preloaded the library: else the extension says
# so, and no table is lost.
my $bare = PostgreSQL::Test::Cluster->new('bare');
$bare->init;
$bare->start;
my ($out, $error) = run_command(
	[ 'pg_restore', '-h', $bare->host, '-p', $bare->port, '-d', 'postgres', "$directory/custom" ]);
like($error, qr/gpubtree must be loaded through shared_preload_libraries/, 'what to do is said');
is($bare->safe_psql('postgres', 'SELECT count(*) FROM t'),
	$node->safe_psql('postgres', 'SELECT count(*) FROM t'), 'the tables are there all the same');
$bare->append_conf('postgresql.conf', "shared_preload_libraries = 'gpubtree'\n");
$bare->restart;
run_command(
	[ 'pg_restore', '--section=pre-data', '--section=post-data', '-h', $bare->host, '-p', $bare->port,
		'-d', 'postgres', "$directory/custom" ]);
is($bare->safe_psql('postgres', $definitions), $first->{definitions},
	'the indexes can be restored later');

# An index for which there is no room any more
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE full_key (a bigint NOT NULL, b timestamptz);
INSERT INTO full_key SELECT n, timestamptz '2024-01-01 00:00+00' + n * interval '1 hour'
	FROM generate_series(1, 100) n;
CREATE INDEX full_key_ab ON full_key USING gpubtree (a, b);
ALTER TABLE full_key ALTER a DROP NOT NULL;
CREATE INDEX partial_key_ab ON full_key USING gpubtree (a, b) WHERE a > 0;
CREATE DATABASE without TEMPLATE template0;
SQL
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$directory/without", 'postgres' ], 'dumped');
($out, $error) = run_command([
	'pg_restore', '-h', $node->host, '-p', $node->port, '-d', 'without', "$directory/without" ]);
like($error, qr/the key columns of index "full_key_ab" do not fit.*Make column a NOT NULL/s,
	'an index that has no room is an error, which names the column');
is($node->safe_psql('without', 'SELECT count(*) FROM full_key'), 100, 'all rows are there');
is($node->safe_psql('without', $definitions), $node->safe_psql('postgres', $definitions) =~ s/^full_key_ab\|.*\n//mr,
	'and the other indexes, one among them whose predicate rules NULL out');

done_testing();
