# An index that does not fit the device's memory is answered by the CPU; the mirrors of
# several indexes make room for each other.
use GpubtreeTest;

my $node = gpb_node('main', only_queries_refresh => 1, settings => "autovacuum = off\ngpubtree.memory_limit = '12MB'\n");
gpb_compare_function($node);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE large (k bigint, v int, d float8);
INSERT INTO large SELECT i, i % 10, i % 7 FROM generate_series(1, 800000) i;
CREATE INDEX large_k ON large USING gpubtree (k) INCLUDE (v, d);
DO $$ BEGIN
	FOR i IN 1 .. 6 LOOP
		EXECUTE format('CREATE TABLE small%s (k bigint, v int, d float8)', i);
		EXECUTE format('INSERT INTO small%s SELECT i, i, i FROM generate_series(1, 100000) i', i);
		EXECUTE format('CREATE INDEX ON small%s USING gpubtree (k) INCLUDE (v, d)', i);
	END LOOP;
END $$;
SQL
$node->safe_psql('postgres', 'VACUUM ANALYZE');
gpb_wait_for_service($node);

my $query = 'SELECT count(*), sum(v) FROM large WHERE k BETWEEN 1 AND 700000';
unlike(gpb_engine($node, $query, 'aggregate'), qr/host/, 'too large for the device');
my ($status, $out, $err) = $node->psql('postgres', "SELECT compare_range('large', 5, 600000)");
is($status, 0, 'and answered rightly') or diag($err);

# Six mirrors of about 3 MB do not fit 12 MB together.
for my $round (1 .. 2)
{
	for my $i (1 .. 6)
	{
		like(gpb_engine($node, "SELECT count(*), sum(v) FROM small$i WHERE k > 10", 'aggregate'),
			qr/host/, "round $round: small$i is mirrored");
		($status, $out, $err) =
		  $node->psql('postgres', "SELECT compare_range('small$i', 5, 60000)");
		is($status, 0, "round $round: small$i is answered rightly") or diag($err);
	}
}
is( $node->safe_psql('postgres',
		'SELECT memory_used <= memory_limit, mirrors BETWEEN 1 AND 5 FROM gpubtree_device'),
	't|t', 'the limit is kept');

# All six indexes are queried at once.
$node->pgbench(
	'-n -c 5 -t 40 --random-seed=' . gpb_seed(), 0,
	[qr/processed: 200\/200/], [qr/^pgbench: setting random seed to \d+$/],
	'many sessions contend for the memory',
	{   'contend' => <<'SQL' });
\set i random(1, 6)
\set a random(1, 90000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_range('small' || :i, :a, :a + 5000);
COMMIT;
UPDATE small1 SET v = v + 1 WHERE k = :a;
SQL

done_testing();
