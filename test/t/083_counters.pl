# What PostgreSQL counts of gpubtree's nodes: scans, entries read and rows fetched of the index,
# blocks of index and table, and the buffers of EXPLAIN, all of them beside the built-in B-tree's
# index-only scan: over rows that VACUUM has not seen, asked for once and again, over vacuumed ones,
# and over rows of which some were changed. And how many indexes are matched with a query while it is
# planned: none that the query's columns refuse, none where core's plan costs less than a node, and
# none that costs more than another at least.
#
# Guards: plan_columns.c, least_price.c and who asks them; pgstat_count_* in engine/ and page/page_read.c; ReadRecentBuffer(), which counts nothing.
use JSON::PP;
use GpubtreeTest;

my $node = gpb_node('main', settings => "autovacuum = off\nstats_fetch_consistency = none\n");
gpb_wait_for_service($node);

# Two tables with the same rows; those of a range lie on neighbouring heap pages.
my $rows = 20000;
my ($lo, $hi) = (1001, 11000);
my $n = $hi - $lo + 1;

sub create_tables
{
	foreach my $table ([ 'a', 'gpubtree' ], [ 'b', 'btree' ])
	{
		my ($name, $method) = @$table;
		$node->safe_psql('postgres', <<"SQL");
DROP TABLE IF EXISTS $name;
CREATE TABLE $name (k int8, v int, note int) WITH (fillfactor = 90);
CREATE INDEX ${name}_k ON $name USING $method (k) INCLUDE (v);
INSERT INTO $name SELECT i, i % 1000 FROM generate_series(1, $rows) i;
SQL
	}
	return;
}

my $counters = <<'SQL';
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT json_build_object('scans', i.idx_scan, 'read', i.idx_tup_read, 'fetched', i.idx_tup_fetch,
	'table_scans', s.idx_scan, 'table_fetched', s.idx_tup_fetch,
	'index_blocks', o.idx_blks_hit + o.idx_blks_read,
	'heap_blocks', h.heap_blks_hit + h.heap_blks_read)
FROM pg_stat_user_indexes i JOIN pg_statio_user_indexes o USING (indexrelid)
	JOIN pg_stat_user_tables s ON s.relid = i.relid JOIN pg_statio_user_tables h ON h.relid = i.relid
WHERE i.relid = :'t'::regclass;
SQL

# Run a query on table "name" by its index, and return what was counted: the differences of the
# counters, and in "node" and "buffers" the plan's node and all buffers that the statement touched.
sub measure
{
	my ($name, $device, $query, $settings) = @_;
	my $output = $node->safe_psql('postgres', <<"SQL");
\\set t $name
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET gpubtree.setup_cost = 0;
SET gpubtree.batch_setup_cost = 0;
SET gpubtree.enable_device = $device;
@{[ $settings // '' ]}
-- The plan is made once before, so that the catalogs' pages are not among the buffers.
EXPLAIN $query \\g /dev/null
$counters
\\echo ====
EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) $query;
\\echo ====
$counters
SQL
	my ($before, $explain, $after) = split /^====\n/m, $output;
	($before, $after) = map { decode_json($_) } ($before, $after);
	my %counted = map { $_ => $after->{$_} - $before->{$_} } keys %$after;
	my ($plan) = @{ decode_json($explain) };
	my @nodes = ($plan->{Plan});

	$counted{buffers} = 0;
	$counted{buffers} += $_->{'Shared Hit Blocks'} + $_->{'Shared Read Blocks'}
	  foreach ($plan->{Plan}, $plan->{Planning});
	while (my $one = shift @nodes)
	{
		$counted{node} = $one if exists $one->{'Heap Fetches'};
		push @nodes, @{ $one->{Plans} // [] };
	}
	return \%counted;
}

# Heap pages with a row of the range
sub pages
{
	my ($name) = @_;
	return $node->safe_psql('postgres',
		"SELECT count(DISTINCT (ctid::text::point)[0]) FROM $name WHERE k BETWEEN $lo AND $hi");
}

# What holds for each query, of core's index-only scan too.  Core's plan also reads pages of catalogs.
sub consistent
{
	my ($what, $counted, $catalogs) = @_;
	my $blocks = $counted->{index_blocks} + $counted->{heap_blocks};

	cmp_ok($counted->{buffers}, $catalogs ? '>=' : '==', $blocks,
		"$what: EXPLAIN's buffers are the blocks of index and table");
	is($counted->{table_scans}, $counted->{scans}, "$what: the table's scans are the index's");
	is($counted->{table_fetched}, $counted->{fetched}, "$what: and so are the fetched rows");
	return;
}

# Since 19 who visits a page sets its all-visible bit.
my $visits_set_bits = $node->safe_psql('postgres', 'SHOW server_version_num') >= 190000;

# entries: that are read; visible: how many of them lead to a visible row
sub compare
{
	my ($what, $device, $entries, $visible) = @_;
	my $range = "k BETWEEN $lo AND $hi";
	my $core = measure('b', $device, "SELECT count(*), sum(v) FROM b WHERE $range");
	my $ours = measure('a', $device, "SELECT count(*), sum(v) FROM a WHERE $range");

	consistent("$what, core", $core, 1);
	consistent($what, $ours);
	is($ours->{node}{'Custom Plan Provider'}, 'GpubtreeAggregate', "$what: by the node");
	is($ours->{scans}, $core->{scans}, "$what: one scan");
	is($ours->{read}, $entries, "$what: entries read");
	is($core->{read}, $entries, "$what: entries that core read");
	is($ours->{node}{Matches}, $visible, "$what: matches");
	# Since 19 core sets a page's all-visible bit when it comes to its first row, and fetches no other.
	cmp_ok($ours->{fetched}, '<=', $core->{fetched}, "$what: no more rows fetched than by core")
	  unless $visits_set_bits && $what =~ /HOT/;
	cmp_ok($ours->{fetched}, '<=', $ours->{node}{'Heap Fetches'}, "$what: at most the heap fetches");
	# Our leaves have more entries; a device's images are not read from buffers, but to be copied.
	cmp_ok($ours->{index_blocks}, '<=', $core->{index_blocks} + $ours->{node}{'Blocks Refreshed'},
		"$what: index blocks");
	return ($ours, $core);
}

foreach my $device ('on', 'off')
{
	my $on = "device $device";
	my $has_cache;
	create_tables();

	my $pages = pages('a');
	# pages() has set hint bits, and all-visible bits if visits do, in both tables alike.
	pages('b');
	my ($ours, $core) = compare("$on, fresh", $device, $n, $n);
	if ($visits_set_bits)
	{
		is($ours->{fetched}, 0, "$on, fresh: no row fetched");
	}
	else
	{
		cmp_ok($ours->{heap_blocks}, '>=', $pages, "$on, fresh: each page is visited");
		cmp_ok($ours->{heap_blocks}, '<=', 2 * $pages, "$on, fresh: not for each of its rows");
		cmp_ok($ours->{fetched}, '>', 0, "$on, fresh: rows are fetched");
	}

	($ours, $core) = compare("$on, fresh, again", $device, $n, $n);
	$has_cache = ($ours->{node}{'Settled Pages'} // 0) > 0;
	if ($has_cache)
	{
		cmp_ok($ours->{node}{'Settled Pages'}, '>=', $pages - 1, "$on, fresh, again: pages from the cache");
		cmp_ok($ours->{fetched}, '<', $n / 10, "$on, fresh, again: these rows are not fetched");
		cmp_ok($ours->{heap_blocks}, '<', $pages / 4, "$on, fresh, again: their pages are not read");
	}
	else
	{
		is($ours->{fetched}, $core->{fetched}, "$on, fresh, again: rows fetched");
	}

	# A tenth of the rows is deleted: entries are read, whose rows are not there.
	$node->safe_psql('postgres', "DELETE FROM $_ WHERE k % 10 = 3") foreach ('a', 'b');
	# A query sets dead hints, after which such entries are not read; this one meets none.
	($ours, $core) = compare("$on, deleted rows", $device, $n, $n * 9 / 10);
	cmp_ok($ours->{node}{'Heap Fetches'}, '>=', $n / 10, "$on, deleted rows: each is checked");

	create_tables();
	$node->safe_psql('postgres', "VACUUM $_") foreach ('a', 'b');
	($ours, $core) = compare("$on, vacuumed", $device, $n, $n);
	is($ours->{node}{'Heap Fetches'}, 0, "$on, vacuumed: no heap fetches");
	is($ours->{fetched}, 0, "$on, vacuumed: no row fetched");
	cmp_ok($ours->{heap_blocks}, '<=', $core->{heap_blocks}, "$on, vacuumed: the visibility map alone");

	# HOT updates leave the index as it is, and the pages not all-visible.
	$node->safe_psql('postgres', "UPDATE $_ SET note = 1 WHERE k % 40 = 1 AND k BETWEEN 2001 AND 3000")
	  foreach ('a', 'b');
	($ours, $core) = compare("$on, HOT updates", $device, $n, $n);
	is($ours->{fetched}, $visits_set_bits ? $ours->{node}{'Heap Fetches'} : $core->{fetched},
		"$on, HOT updates: rows fetched, once each");
	cmp_ok($ours->{heap_blocks}, '<', 20, "$on, HOT updates: the changed pages alone");
}

# Other nodes: a batch is one scan.
my %nodes = (
	'GpubtreeJoin' => 'SELECT i, v FROM generate_series(2001, 2040) i JOIN a ON k = i',
	'GpubtreeAggregate' => 'SELECT count(*), sum(v) FROM a
		WHERE k = ANY (ARRAY(SELECT generate_series(2001, 2040)))',
	'GpubtreeRangeAggregate' => 'SELECT i, s.* FROM generate_series(2000, 2039, 10) i
		CROSS JOIN LATERAL (SELECT count(*), sum(v) FROM a WHERE k > i AND k <= i + 10) s');
foreach my $device ('on', 'off')
{
	foreach my $state ('vacuumed', 'fresh')
	{
		$node->safe_psql('postgres',
			$state eq 'fresh' ? 'UPDATE a SET v = v + 1 WHERE k BETWEEN 2001 AND 2040' : 'VACUUM (INDEX_CLEANUP ON) a');
		foreach my $name (sort keys %nodes)
		{
			my $what = "$name, device $device, $state";
			# Else a LATERAL subquery is an aggregate of its own for each row from outside.
			my $counted = measure('a', $device, $nodes{$name},
				$name eq 'GpubtreeRangeAggregate' ? 'SET gpubtree.enable_aggregate = off;' : '');
			my $fetches = $counted->{node}{'Heap Fetches'};

			like($counted->{node}{'Custom Plan Provider'}, qr/^$name/, "$what: by the node");
			consistent($what, $counted);
			is($counted->{scans}, $counted->{node}{Batches} // 1, "$what: a scan for each batch");
			is($counted->{node}{Matches}, 40, "$what: matches");
			cmp_ok($counted->{fetched}, '<=', $fetches, "$what: rows fetched");
			is($fetches, 0, "$what: heap fetches") if $state eq 'vacuumed';
		}
	}
}

# How often an index is matched while a query is planned: quick refusals come before.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE wide (id int NOT NULL, a int NOT NULL, b int NOT NULL, c int NOT NULL, d int NOT NULL);
INSERT INTO wide SELECT i, i % 100, i % 1000, i, i FROM generate_series(1, 20000) i;
CREATE TABLE other AS SELECT * FROM wide;
CREATE INDEX ON wide USING gpubtree (id);
CREATE INDEX ON wide USING gpubtree (id) INCLUDE (a, b);
CREATE INDEX ON wide USING gpubtree (a, b);
CREATE INDEX ON wide USING gpubtree (b, id);
CREATE INDEX ON wide USING gpubtree (c);
CREATE INDEX ON wide USING gpubtree (d) INCLUDE (c);
CREATE INDEX ON other USING gpubtree (id);
CREATE INDEX ON other USING gpubtree (c);
CREATE TABLE parts (k int NOT NULL, v int) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (5000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (5000) TO (10000);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (10000) TO (20000);
CREATE INDEX ON parts USING gpubtree (k) INCLUDE (v);
INSERT INTO parts SELECT id, a FROM wide WHERE id < 20000;
VACUUM ANALYZE wide, other, parts;
SQL

sub matched
{
	my ($query) = @_;

	return $node->safe_psql('postgres', <<"SQL") =~ s/.*\n//sr;
SET gpubtree.matched_indexes = 0;
EXPLAIN $query;
SHOW gpubtree.matched_indexes;
SQL
}

foreach my $case (
	[ 0, 'SELECT * FROM wide WHERE id = 17', 'one key' ],
	[ 0, 'SELECT * FROM wide WHERE id BETWEEN 17 AND 100 AND d > 3', 'few rows' ],
	[ 0, 'SELECT d, count(*) FROM wide WHERE a > 5 GROUP BY d', 'groups that no index has' ],
	# two indexes have their first column in the join's clause; one of them costs more at least than
	# PostgreSQL's join
	[ 1, 'SELECT * FROM wide JOIN other ON wide.a = other.id WHERE wide.id = 17', 'a join' ],
	[ 1, 'SELECT (SELECT sum(c) FROM wide WHERE d = other.a) FROM other WHERE id = 17',
		'a scalar subquery' ],
	[ 2, 'SELECT * FROM other, LATERAL (SELECT sum(c) FROM wide WHERE d = other.a) s WHERE id = 17',
		'a LATERAL subquery' ],
	[ 2, 'SELECT other.id, sum(wide.c) FROM other JOIN wide ON wide.d BETWEEN other.a AND other.b
		GROUP BY other.id', 'ranges of each row' ],
	[ 0, 'SELECT * FROM wide WHERE id > 3 ORDER BY d LIMIT 9', 'an order that no index has' ],
	# of those that have the columns, the smallest costs less than the others at least
	[ 1, 'SELECT sum(c) FROM wide WHERE d BETWEEN 17 AND 15000', 'the index with both columns' ],
	[ 1, 'SELECT count(*) FROM wide WHERE id BETWEEN 17 AND 15000', 'three indexes with the column' ],
	[ 1, 'SELECT a, count(*) FROM wide WHERE id BETWEEN 17 AND 15000 GROUP BY a', 'groups' ],
	[ 1, 'SELECT DISTINCT a FROM wide', 'one row of each group' ],
	# a bucket's index, and none for a bucket whose filter it lacks
	[ 1, 'SELECT d / 100, sum(c) FROM wide WHERE d > 100 GROUP BY 1', 'buckets' ],
	[ 0, 'SELECT d / 100, sum(c) FROM wide WHERE a > 5 GROUP BY 1', 'buckets that no index has' ],
	# groups to skip to, each of which takes a leaf
	[ 1, 'SELECT a, b FROM wide WHERE b = 3', 'a later column' ],
	# one leaf for all that are alike, whether its index can answer or not
	[ 1, 'SELECT v, sum(k) FROM parts GROUP BY v', 'partitions' ],
	[ 2, 'SELECT v::text, sum(k) FROM parts_1 GROUP BY 1', 'one index, for buckets and for groups' ],
	[ 2, 'SELECT v::text, sum(k) FROM parts GROUP BY 1', 'partitions whose indexes cannot answer' ],
	[ 2, 'SELECT k, v FROM parts WHERE v % 7 = 3 ORDER BY v DESC LIMIT 9', 'first and all rows of partitions' ])
{
	my ($expected, $query, $what) = @$case;

	is(matched($query), $expected, "indexes matched: $what");
}

done_testing();
