# However an index is built (in memory, from runs, from runs of runs, with workers), its file has the
# same bytes, and its entries are those of the table in (key, TID) order.  Random tables and indexes:
# keys that are random, ascending, descending, few, skewed, alike but for a few bits, NULL; rows in
# HOT chains, whose entries do not come in the order of their TIDs.  Guards build_sort.c,
# build_merge.c, build_parallel.c.
use GpubtreeHold;
use GpubtreeTest;

gpb_seed();
my $node = gpb_node('main', settings => <<'CONF');
autovacuum = off
max_worker_processes = 16
max_parallel_workers = 8
CONF

$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION file_of(index regclass) RETURNS text LANGUAGE sql AS
	$$ SELECT md5(pg_read_binary_file(pg_relation_filepath(index))) $$;
SQL

# Unlogged tables: their pages have no LSN, which would differ.
sub make_table
{
	my ($rows, $key) = @_;

	$node->safe_psql('postgres', <<"SQL");
@{[gpb_setseed()]}
DROP TABLE IF EXISTS t;
CREATE UNLOGGED TABLE t (i int, k bigint, k4 int, a int8, b int2, d float8, e int8, f int8) WITH (fillfactor = 80);
INSERT INTO t SELECT i, k, (k % 1000000000)::int, i, CASE WHEN i % 3 = 0 THEN NULL ELSE i % 1000 END,
	CASE WHEN i % 7 = 0 THEN 'NaN' ELSE i / 8.0 END, -i, i
FROM (SELECT i, ($key)::bigint AS k FROM generate_series(1, $rows) i) s;
UPDATE t SET d = d + 1 WHERE i % 11 = 5;
SQL
}

my @ways = (
	"maintenance_work_mem = '512MB'; SET max_parallel_maintenance_workers = 0",
	"maintenance_work_mem = '1MB'; SET max_parallel_maintenance_workers = 0",
	"maintenance_work_mem = '3MB'; SET max_parallel_maintenance_workers = 0",
	"maintenance_work_mem = '512MB'; SET max_parallel_maintenance_workers = 1",
	"maintenance_work_mem = '1MB'; SET max_parallel_maintenance_workers = 3");

# Build the index in all ways; the first is compared with the table.  Where entries may share keys,
# parallel ways decide it for the index, and serial ones leaf by leaf; which processes there are
# changes no byte then, either, nor how much memory.
sub same_bytes
{
	my ($name, $index) = @_;

	if ($index !~ /INCLUDE|WITH/)
	{
		my ($with, $where) = $index =~ /^(.*?)( WHERE .*)?$/;

		same_files($name, $index, @ways[ 0 .. 2 ]);
		same_files($name, $index, @ways[ 3, 4 ]);
		$index = "$with WITH (deduplicate_items = off)" . ($where // '');
	}
	same_files($name, $index, @ways);
	return;
}

sub same_files
{
	my ($name, $index, @ways) = @_;
	my @files;

	for my $way (@ways)
	{
		my $check = @files == 0 ? "SELECT gpubtree_check('x', true);" : '';

		push @files, $node->safe_psql('postgres', <<"SQL");
SET $way;
ALTER TABLE t SET (parallel_workers = 3);
DROP INDEX IF EXISTS x;
CREATE INDEX x ON t USING gpubtree $index;
$check
SELECT file_of('x');
SQL
	}
	is(join("\n", map { s/^\s+//r } @files), join("\n", ($files[0] =~ s/^\s+//r) x @ways), "$name: $index");
}

my %keys = (
	'random' => 'hashint8extended(i, 1)',
	'ascending' => 'i * 3',
	'descending' => '-i',
	'few' => 'i % 20',
	'one' => '7',
	'skewed' => '(2 ^ (random() * 62))',
	'alike' => '(hashint8extended(i, 1) & 72057594037928191)',
	'some NULL' => 'CASE WHEN i % 4 = 0 THEN NULL ELSE hashint8(i) END',
	'ascending, disturbed' => 'CASE WHEN random() < 0.001 THEN 0 ELSE i END');
my @indexes = (
	'(k)', '(k DESC)', '(k NULLS FIRST)', '(k4)', '(k4 DESC NULLS LAST) INCLUDE (b)',
	'(k) INCLUDE (a, b, d, e)', '(d) INCLUDE (k, k4)', '(b)', '(k4) INCLUDE (a, k, b) WITH (fillfactor = 60)',
	'((k / 1000)) WHERE i % 2 = 0',
	'(k4, k)', '(b DESC, k NULLS FIRST) INCLUDE (i)', '(i, k4, b) INCLUDE (a)', '((md5(k::text)::uuid) DESC) INCLUDE (k)');

for my $name (sort keys %keys)
{
	make_table(50000, $keys{$name});
	same_bytes($name, $indexes[rand @indexes]) for 1 .. 3;
}
make_table(3, 'i');
same_bytes('three rows', $_) for '(k)', '(d) INCLUDE (k, k4)';
make_table(0, 'i');
same_bytes('no row', '(k4)');

# More runs than can be merged at once
make_table(150000, 'hashint8extended(i, 1)');
same_bytes('many runs', '(k) INCLUDE (a, b, d, e, f)');
$node->safe_psql('postgres', 'UPDATE t SET d = d - 1 WHERE i % 5 = 2');
same_bytes('few keys in many records', '(b) INCLUDE (a)');

# A storage parameter may change while a concurrent build runs.  The leader, which is still reading,
# comes to know of it, and the workers, which have read their parts, do not.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE filled WITH (parallel_workers = 2) AS SELECT i::bigint AS k FROM generate_series(1, 30000) i;
CREATE FUNCTION looks_up(k bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
	$$ BEGIN PERFORM to_regclass('no_table_' || k); RETURN k; END $$;
SQL
for my $case ([ 50, 100 ], [ 100, 50 ])
{
	my ($before, $after) = @$case;
	my $holder = gpb_holder($node);
	my $build = gpb_start($node,
		"CREATE INDEX CONCURRENTLY filled_k ON filled USING gpubtree (looks_up(k)) WITH (fillfactor = $before)",
		"gpubtree.hold_point = 'build-leader-scans'");
	gpb_wait_for_hold($node);
	$node->poll_query_until('postgres', <<'SQL') or die 'the workers do not end their scan';
SELECT count(*) = 2 FROM pg_stat_activity
WHERE backend_type = 'parallel worker' AND wait_event = 'ParallelCreateIndexScan'
SQL
	$node->safe_psql('postgres', "ALTER INDEX filled_k SET (fillfactor = $after)");
	$holder->quit;
	is(gpb_finish($build), '', "fillfactor $before becomes $after during a concurrent build");
	$node->safe_psql('postgres', q{SELECT gpubtree_check('filled_k', true)});
	$node->safe_psql('postgres', 'DROP INDEX filled_k');
}

# Workers take part where core would let them build a B-tree: then a build in which workers fail
# does.
$node->safe_psql('postgres', <<'SQL');
DROP INDEX x;
CREATE TABLE w WITH (parallel_workers = 2) AS SELECT i::bigint AS k FROM generate_series(1, 50000) i;
CREATE TABLE small AS SELECT 1 AS k;
CREATE TABLE no_row (k bigint) WITH (parallel_workers = 2);
CREATE FUNCTION is_safe(k bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN k; END';
CREATE FUNCTION not_safe(k bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN k; END';
CREATE INDEX w_k ON w USING gpubtree (k);
SQL
for my $case (
	[ 'CREATE INDEX x ON w USING gpubtree (k)', 1 ],
	[ 'CREATE INDEX CONCURRENTLY x ON w USING gpubtree (k)', 1 ],
	[ 'CREATE INDEX x ON w USING gpubtree (is_safe(k)) WHERE is_safe(k) > 10', 1 ],
	[ 'CREATE INDEX x ON w USING gpubtree (not_safe(k))', 0 ],
	[ 'CREATE INDEX x ON w USING gpubtree (k) WHERE not_safe(k) > 10', 0 ],
	[ 'CREATE INDEX x ON small USING gpubtree (k)', 0 ],
	[ 'CREATE INDEX x ON no_row USING gpubtree (k)', 0 ],
	[ 'CREATE INDEX x ON temporary USING gpubtree (k)', 0 ],
	[ 'REINDEX INDEX w_k', 1 ],
	[ 'REINDEX INDEX CONCURRENTLY w_k', 1 ],
	[ 'CLUSTER w USING w_k', 1 ],
	[ 'SET max_parallel_maintenance_workers = 0; CREATE INDEX x ON w USING gpubtree (k)', 0 ],
	[ 'SET max_parallel_workers = 0; CREATE INDEX x ON w USING gpubtree (k)', 0 ])
{
	my ($sql, $fails) = @$case;
	my ($status, $out, $err) = $node->psql('postgres', <<"SQL", on_error_stop => 1);
CREATE TEMPORARY TABLE temporary WITH (parallel_workers = 2) AS SELECT * FROM w;
SET gpubtree.hold_point = 'build-worker';
$sql;
SQL
	is($err =~ /failing at hold point/ ? 1 : 0, $fails, "workers: $sql") or diag($err);
	$node->safe_psql('postgres', <<'SQL');
SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index
WHERE NOT indisvalid OR indexrelid = to_regclass('x') \gexec
SQL
}
$node->safe_psql('postgres', q{SELECT gpubtree_check('w_k', true)});

done_testing();
