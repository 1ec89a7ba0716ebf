# Tables that were never vacuumed, on the device: the first query visits heap pages whole and asks
# the device again, the next one takes over that they are settled.  Every answer is that of a
# sequential scan, whatever was inserted, updated, deleted or aborted, with the page cache and
# without it.
#
# Guards: rule M11 on the device's path, and that a chunk that is asked for again counts once.
use GpubtreeTest;

my $node = gpb_node('main', small_chunks => 1,
	settings => "wal_level = replica\nautovacuum = off\nmax_connections = 30\ngpubtree.unknown_least = 100\n");
gpb_compare_function($node);
gpb_wait_for_service($node);
gpb_seed();
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION gpubtree_test;
SET check_function_bodies = off;
CREATE FUNCTION fill(heap_order boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t;
	CREATE TABLE t (k bigint, v int, d float8, note int) WITH (fillfactor = 10);
	INSERT INTO t SELECT i, i % 1000, i % 100 FROM generate_series(1, 60000) i
		ORDER BY CASE WHEN heap_order THEN i ELSE hashint4(i) END;
	ALTER TABLE t SET (fillfactor = 100);
	CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
END $$;
-- 200 ranges, answered in several chunks: count and sum of each
CREATE FUNCTION ranges_ours() RETURNS text LANGUAGE sql AS $$
	SELECT md5(string_agg(b.entries || ' ' || coalesce(b.v, 0), ' ' ORDER BY number)) FROM
		gpubtree_test_batch('t_k', (SELECT array_agg(i * 311 % 60000 ORDER BY i) FROM generate_series(1::bigint, 200) i),
			(SELECT array_agg(i * 311 % 60000 + i ORDER BY i) FROM generate_series(1::bigint, 200) i), 'aggregate') b
$$;
CREATE FUNCTION ranges_expected() RETURNS text LANGUAGE sql
SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
SET gpubtree.enabled = off AS $$
	SELECT md5(string_agg(n || ' ' || coalesce(s, 0), ' ' ORDER BY i)) FROM
		(SELECT i, count(t.k) AS n, sum(t.v) AS s FROM generate_series(1::bigint, 200) i
			CROSS JOIN generate_series(i * 311 % 60000, i * 311 % 60000 + i) key LEFT JOIN t ON t.k = key GROUP BY i) q
$$;
SQL

my $query = 'SELECT count(*), sum(v), min(k), max(k) FROM t WHERE k > %d';

# The plan node of the query for the rows above $above
sub plan
{
	my ($above) = @_;
	my $found = gpb_plan_node($node, sprintf($query, $above), 'aggregate');

	is($found->{Engine}, 'host device', 'the device answers');
	return $found;
}

# Compare ranges of several widths with a sequential scan, each twice with the cache and once
# without.
sub compare
{
	my ($name) = @_;
	my $sql = '';

	for my $width (10, 3000, 100000)
	{
		my $lo = $width == 100000 ? -1 : int(rand(60000));
		my $hi = $lo + $width;

		$sql .= "SELECT compare_range('t', $lo, $hi);\n" x 2
		  . "SET gpubtree.enable_page_cache = off;\nSELECT compare_range('t', $lo, $hi);\n"
		  . "RESET gpubtree.enable_page_cache;\n";
	}
	my ($rc, undef, $error) = $node->psql('postgres', $sql, on_error_stop => 1);
	is("$rc $error", '0 ', "$name: ranges");
	is($node->safe_psql('postgres', 'SELECT ranges_ours() = ranges_expected()'), 't',
		"$name: many ranges");
}

# ---- nothing changes ----

for my $heap_order ('true', 'false')
{
	my $name = $heap_order eq 'true' ? 'in heap order' : 'in random heap order';
	my ($first, $second);

	$node->safe_psql('postgres', "SELECT fill($heap_order)");
	is($node->safe_psql('postgres', 'SELECT ranges_ours() = ranges_expected()'), 't',
		"$name: many ranges, pages not known");
	$node->safe_psql('postgres', "SELECT fill($heap_order)");
	$first = plan(50000);
	# In random heap order there are too few of these entries on a page for it to be visited whole.
	is($first->{'Heap Fetches'}, $heap_order eq 'true' ? 0 : 10000, "$name, first: heap fetches");
	cmp_ok($first->{'Heap Pages Checked'}, '>', 500, "$name, first: pages are visited");
	is($first->{Matches}, 10000, "$name, first: each entry counts once");
	$second = plan(50000);
	is($second->{'Heap Fetches'}, 0, "$name, second: no entry is visited");
	is($second->{'Heap Pages Checked'}, undef, "$name, second: no page is visited");
	cmp_ok($second->{'Settled Pages'}, '>', 500, "$name, second: pages are taken for settled");
	is(plan(0)->{Matches}, 60000, "$name: all rows");
	is(plan(0)->{'Heap Fetches'}, 0, "$name, all rows: none is visited");
	$node->append_conf('postgresql.conf', "gpubtree.enable_page_cache = off\n");
	$node->reload;
	$second = plan(50000);
	is($second->{'Heap Fetches'}, 10000, "$name, without the cache: each entry is visited");
	is($second->{'Settled Pages'}, undef, "$name, without the cache: no page is taken for settled");
	$node->append_conf('postgresql.conf', "gpubtree.enable_page_cache = on\n");
	$node->reload;
	compare($name);
}

# ---- many ranges ----

# More pages than are looked at whatever the entries; that these are many the ranges tell.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE u (k bigint, v int) WITH (fillfactor = 10);
INSERT INTO u SELECT i, i % 1000 FROM generate_series(1, 150000) i ORDER BY hashint4(i);
ALTER TABLE u SET (fillfactor = 100);
CREATE INDEX u_k ON u USING gpubtree (k) INCLUDE (v);
ANALYZE u;
SQL
my $many = 'SELECT sum(n) FROM generate_series(1, 32) g CROSS JOIN LATERAL '
  . '(SELECT count(*), sum(v) FROM u WHERE k BETWEEN g * 4500 AND g * 4500 + 4000) x(n)';
gpb_plan_node($node, $many, undef);
my $known = gpb_plan_node($node, $many, undef);
is($known->{Engine}, 'host device', 'many ranges: the device answers');
is($known->{Matches}, 32 * 4001, 'many ranges: each entry counts once');
is($known->{'Heap Fetches'}, 0, 'many ranges: no entry is visited');
is($known->{'Heap Pages Checked'}, undef, 'many ranges: no page is visited');
cmp_ok($known->{'Settled Pages'}, '>', 4500, 'many ranges: pages are taken for settled');

# ---- a few rows of each page are not seen ----

$node->safe_psql('postgres', "SELECT fill(true)");
$node->safe_psql('postgres', 'DELETE FROM t WHERE k % 20 = 0; UPDATE t SET v = v + 1 WHERE k % 30 = 1');
plan(0);
my $excepted = plan(0);
is($excepted->{Matches}, 57000, 'exceptions: rows that are not seen do not count');
is($excepted->{'Heap Fetches'}, 0, 'exceptions: none is visited');
cmp_ok($excepted->{'Settled Pages'}, '>', 3500, 'exceptions: their pages are settled');
compare('exceptions');

# More exceptions than a request may have, which are too many to be shared, or whose bits are: the
# pages beyond are left to the heap.
for my $settings ('gpubtree.most_exceptions = 2000', 'gpubtree.shared_bits = 2000', 'gpubtree.shared_bits = 100',
	"gpubtree.most_exceptions = 2000\ngpubtree.shared_bits = 100")
{
	$node->append_conf('postgresql.conf', "$settings\n");
	$node->reload;
	$excepted = plan(0);
	is($excepted->{Matches}, 57000, "$settings: rows that are not seen do not count");
	$settings =~ /most_exceptions/
	  ? cmp_ok($excepted->{'Heap Fetches'}, '>', 10000, "$settings: some pages are visited")
	  : is($excepted->{'Heap Fetches'}, 0, "$settings: no page is visited");
	compare($settings);
	$node->append_conf('postgresql.conf', "gpubtree.most_exceptions = 1000000\ngpubtree.shared_bits = 1000000\n");
}
$node->reload;

# ---- pages that are not settled are not asked for again, and again ----

$node->safe_psql('postgres', "SELECT fill(true)");
my $writer = $node->background_psql('postgres');
$writer->query_safe('BEGIN; UPDATE t SET note = 1 WHERE k > 50000');
my $open = plan(50000);
is($open->{Matches}, 10000, 'rows that are being updated: each counts once');
cmp_ok($open->{'Heap Fetches'}, '>', 0, 'rows that are being updated: they are visited');
compare('rows that are being updated');
$writer->query_safe('COMMIT');
$writer->quit;
compare('rows that were updated');

# ---- the map covers a part of the table ----

$node->safe_psql('postgres', "SELECT fill(true)");
$node->safe_psql('postgres', 'VACUUM t');
$node->safe_psql('postgres', 'INSERT INTO t SELECT i, i % 1000, i % 100 FROM generate_series(60001, 80000) i');
is(plan(40000)->{Matches}, 40000, 'rows beyond the map: each counts once');
is(plan(40000)->{'Heap Fetches'}, 0, 'rows beyond the map: their pages are settled');
compare('rows beyond the map');

# ---- random changes ----

my @changes = (
	'INSERT INTO t SELECT %d + i % 7, i, i FROM generate_series(1, 300) i',
	'DELETE FROM t WHERE k BETWEEN %d AND %1$d + 200',
	'UPDATE t SET v = v + 1 WHERE k BETWEEN %d AND %1$d + 150',
	'UPDATE t SET note = 7 WHERE k BETWEEN %d AND %1$d + 150',
	'UPDATE t SET k = k + 5000 WHERE k BETWEEN %d AND %1$d + 100',
	'BEGIN; DELETE FROM t WHERE k BETWEEN %d AND %1$d + 500; ROLLBACK',
	'BEGIN; INSERT INTO t SELECT %d, i FROM generate_series(1, 500) i; ROLLBACK',
	'BEGIN; SAVEPOINT a; DELETE FROM t WHERE k BETWEEN %d AND %1$d + 50; ROLLBACK TO a; UPDATE t SET v = 0 WHERE k = %1$d; COMMIT',
	'SELECT count(*) FROM (SELECT * FROM t WHERE k BETWEEN %d AND %1$d + 100 FOR UPDATE) q',
	'VACUUM t', 'VACUUM FREEZE t');
for my $heap_order ('true', 'false')
{
	$node->safe_psql('postgres', "SELECT fill($heap_order)");
	for my $round (1 .. 12)
	{
		my @done;

		for (1 .. 3)
		{
			push @done, sprintf($changes[ rand(@changes) ], int(rand(60000)));
			# One command at a time, as VACUUM wants.
			$node->safe_psql('postgres', $_) for split /; /, $done[-1] =~ /^BEGIN/ ? '' : $done[-1];
			$node->safe_psql('postgres', $done[-1]) if $done[-1] =~ /^BEGIN/;
		}
		compare(join('; ', @done));
	}
}

# ---- beside writers ----

$node->safe_psql('postgres', 'SELECT fill(true)');
$node->pgbench(
	'-n -c 4 -t 120 --random-seed=' . gpb_seed(), 0,
	[qr/processed: (\d+)\/\1/], [qr/^pgbench: setting random seed to \d+$/],
	'beside writers every aggregate equals the sequential scan',
	{   'settled-compare@50' => <<'SQL',
\set a random(-10, 60000)
\set w random(0, 2)
\set b :a + case when :w = 0 then 50 when :w = 1 then 2000 else 90000 end
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare_range('t', :a, :b);
COMMIT;
SQL
		'settled-insert@15' => <<'SQL',
\set a random(1, 60000)
INSERT INTO t SELECT :a + i % 3, i, i FROM generate_series(1, 20) i;
SQL
		'settled-delete@15' => <<'SQL',
\set a random(1, 60000)
DELETE FROM t WHERE k BETWEEN :a AND :a + 15;
SQL
		'settled-update@15' => <<'SQL',
\set a random(1, 60000)
UPDATE t SET v = v + 1 WHERE k BETWEEN :a AND :a + 5;
SQL
		'settled-abort@5' => <<'SQL',
\set a random(1, 60000)
BEGIN;
DELETE FROM t WHERE k BETWEEN :a AND :a + 50;
INSERT INTO t VALUES (:a, 1, 1);
ROLLBACK;
SQL
	});

$node->stop;
done_testing();
