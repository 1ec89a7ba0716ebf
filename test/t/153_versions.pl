# What the first version made works with this one: a database whose extension was not updated yet, the
# update, which gives it what a new database has, and index files of that version, one of each kind
# (sql/gpubtree--*--*.sql, src/layout_format.h).
#
# The files of test/t/files are those that a released version made of this script's table, but for
# their LSNs, which are of another server's WAL.  A later version's are added with GPB_FILES=FOLDER on a
# server that has that version: then the script writes them there, and tests nothing.
use Compress::Zlib;
use FindBin;
use GpubtreePages;
use GpubtreeTest;

my $version = '0.1.0';
my $folder = $ENV{GPB_FILES} // "$FindBin::RealBin/files/$version";
my $node = gpb_node('main', databases => 1, damages => 1, settings => <<'CONF');
autovacuum = off
fsync = off
timezone = 'UTC'
CONF

$node->safe_psql('postgres', 'CREATE DATABASE old');
$node->safe_psql('old', <<"SQL");
CREATE EXTENSION gpubtree VERSION '$version';
-- as the first version's control file had it
UPDATE pg_proc SET probin = '\$libdir/gpubtree' WHERE probin = 'gpubtree';
-- No CREATE TABLE AS: that extends by several pages since 16, and then other rows have the TIDs of the files.
CREATE TABLE t (id int, k int, a smallint, b timestamp, u uuid, n numeric(12, 2), f float8, s text, v int);
INSERT INTO t
SELECT i AS id, i * 7919 % 97 - 40 AS k, (i % 10)::smallint AS a,
	timestamp '2026-01-01' + i % 50 * interval '1 hour' AS b, md5((i % 300)::text)::uuid AS u,
	((i * 31 % 2011) / 100.0)::numeric(12, 2) AS n, sqrt(i) AS f, 'word ' || i % 70 AS s, i % 100 AS v
FROM generate_series(1, 1500) i;
UPDATE t SET k = NULL, n = NULL, s = NULL, v = NULL WHERE id % 53 = 0;
VACUUM (FREEZE, ANALYZE) t;
CREATE INDEX t_k ON t USING gpubtree (k);
CREATE INDEX t_kd ON t USING gpubtree (k DESC NULLS LAST) INCLUDE (v);
CREATE INDEX t_ab ON t USING gpubtree (a, b DESC) INCLUDE (v);
CREATE INDEX t_u ON t USING gpubtree (u) INCLUDE (v);
CREATE INDEX t_n ON t USING gpubtree (n) INCLUDE (n, f);
CREATE INDEX t_s ON t USING gpubtree (id) INCLUDE (s, v);
SQL
my %path = map { split /\|/ } split /\n/,
  $node->safe_psql('old', "SELECT indexrelid::regclass, pg_relation_filepath(indexrelid) FROM pg_index WHERE indrelid = 't'::regclass");
my %query = (
	t_k => 'SELECT count(*), min(k), max(k) FROM t WHERE k BETWEEN -20 AND 30',
	t_kd => 'SELECT count(v), sum(v), sum(k) FROM t WHERE k < 10',
	t_ab => "SELECT b, sum(v) FROM t WHERE a = 3 AND b > '2026-01-01 05:00' GROUP BY b",
	t_u => "SELECT count(*), sum(v) FROM t WHERE u > '80000000-0000-0000-0000-000000000000'",
	t_n => 'SELECT count(*), sum(n), max(f) FROM t WHERE n > 3.5',
	t_s => 'SELECT s, count(*), sum(v) FROM t WHERE id BETWEEN 100 AND 1400 GROUP BY s');

$node->stop;
foreach my $index (sort keys %path)
{
	my $file = $node->data_dir . "/$path{$index}";

	if ($ENV{GPB_FILES})
	{
		$bytes = slurp_file($file);
		put($_, 0, 'Q<', 0) foreach 0 .. blocks() - 1;
		$bytes = Compress::Zlib::memGzip($bytes);
		write_bytes("$folder/$index.gz");
		next;
	}
	$bytes = Compress::Zlib::memGunzip(slurp_file("$folder/$index.gz")) or die "$folder/$index.gz";
	write_bytes($file);
}
if ($ENV{GPB_FILES})
{
	pass('the files are written');
	done_testing();
	exit;
}
$node->start;

sub write_bytes
{
	my ($file) = @_;

	open(my $handle, '>:raw', $file) or die "$file: $!";
	print $handle $bytes;
	close($handle) or die "$file: $!";
}

# Does each index answer as the table does, and is it in order?  One session asks all: for each index it
# prints the plan, the rows by that index, and those without one.
sub indexes_work
{
	my ($when) = @_;
	my $sql = '';

	foreach my $index (sort keys %query)
	{
		my $rows = "SELECT string_agg(r::text, ' ' ORDER BY r::text) FROM ($query{$index}) r;\n";

		$sql .= "BEGIN;\nSELECT gpubtree_check('$index');\n";
		$sql .= "DROP INDEX $_;\n" foreach grep { $_ ne $index } sort keys %query;
		$sql .= "SET LOCAL enable_seqscan = off;\nSET LOCAL enable_bitmapscan = off;\n"
		  . "EXPLAIN (COSTS OFF) $query{$index};\n\\echo ----\n${rows}DROP INDEX $index;\n\\echo ----\n${rows}"
		  . "ROLLBACK;\n\\echo ====\n";
	}
	my @results = split /^====\n?/m, $node->safe_psql('old', $sql);
	foreach my $index (sort keys %query)
	{
		my ($plan, $ours, $theirs) = split /^----\n/m, shift @results;

		like($plan, qr/\b$index\b/, "$when: by $index");
		ok(length $ours > 3 && $ours eq $theirs, "$when: $index answers as the table does") or diag("$ours$theirs");
	}
}

# What belongs to the extension, with the definitions of its functions
my $objects = <<'SQL';
SELECT string_agg(pg_describe_object(classid, objid, 0) || coalesce(pg_get_functiondef(p.oid), ''), E'\n'
	ORDER BY pg_describe_object(classid, objid, 0))
FROM pg_depend LEFT JOIN pg_proc p ON p.oid = objid AND classid = 'pg_proc'::regclass AND prokind = 'f'
WHERE deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gpubtree')
SQL

is($node->safe_psql('old', "SELECT extversion FROM pg_extension WHERE extname = 'gpubtree'"), $version,
	'the database has the first version');
indexes_work("files of $version");
$node->safe_psql('old', 'ALTER EXTENSION gpubtree UPDATE');
is($node->safe_psql('old', $objects), $node->safe_psql('postgres', $objects), 'updated, it has what a new one has');
$node->safe_psql('old', <<'SQL');
INSERT INTO t SELECT id + 2000, k, a, b, u, n, f, 'new ' || id, v FROM t WHERE id % 3 = 0;
UPDATE t SET k = k + 1, v = v + 1 WHERE id % 7 = 0;
DELETE FROM t WHERE id BETWEEN 300 AND 900;
VACUUM t;
SQL
indexes_work('written');
$node->stop('immediate');
$node->start;
indexes_work('after a crash');
done_testing();
