# A look inside: of damaged pages it shows what can be shown, and of the rest says which block is
# damaged; it shows dead entries and what the mirror has; it works on a standby; other sessions'
# temporary indexes, and unlogged ones during recovery, it refuses.
#
# Guards: sql/inspect*.c; gpb_mirror_block_states().
use GpubtreePages;
use GpubtreeTest;

my $node = gpb_node('main', allows_streaming => 1, only_queries_refresh => 1,
	damages => 1, settings => "autovacuum = off\n");

sub query { return $node->safe_psql('postgres', $_[0]) }

# What a query prints, or the error with its SQLSTATE
sub attempt
{
	my ($sql) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");

	return $err =~ /ERROR:  (.*)/ ? $1 : $out;
}

# ---- the mirror, and dead entries ----

query(<<'SQL');
CREATE TABLE t (k bigint, v int);
INSERT INTO t SELECT i, i FROM generate_series(1, 5000) i;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
VACUUM ANALYZE t;
SQL
my $device = $ENV{GPB_DEVICE} // 'host';
my $states = "SELECT string_agg(DISTINCT coalesce(mirror, 'none'), ' ') FROM gpubtree_tree('t_k')";
is(query($states), 'none', 'nothing is mirrored at first');
SKIP:
{
	skip 'no device', 5 if $device eq 'off';
	gpb_wait_for_service($node);
	query("SELECT gpubtree_refresh('t_k')");
	is(query($states), 'current', 'all is mirrored');
	query('INSERT INTO t VALUES (1000, 0)');
	is(query("SELECT low_key::int <= 1000 AND high_key::int > 1000 FROM gpubtree_tree('t_k') WHERE mirror = 'changed'"),
		't', 'one page has changed');
	is(query("SELECT mirror FROM gpubtree_page_stats('t_k', (SELECT block FROM gpubtree_tree('t_k') WHERE mirror = 'changed'))"),
		'changed', 'and says so of itself');
	like(query("SELECT gpubtree_tree_svg('t_k')"), qr/current.*changed|changed.*current/s, 'and the picture');
	query("SELECT gpubtree_drop_mirror('t_k')");
	is(query($states), 'none', 'the mirror is gone');
}
query(<<'SQL');
DELETE FROM t WHERE k BETWEEN 11 AND 15;
SET gpubtree.enabled = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT sum(v) FROM t WHERE k BETWEEN 1 AND 20;
SQL
is(query("SELECT dead_items, flags FROM gpubtree_page_stats('t_k', 1)"), '5|{"has dead"}', 'dead entries of a page');
is(query("SELECT sum(dead) FROM gpubtree_tree('t_k')"), '5', 'of the tree');
is(query("SELECT string_agg(key, ' ') FROM gpubtree_page_items('t_k', 1) WHERE dead"), '11 12 13 14 15', 'which');

# ---- a standby, and what is refused ----

my $standby = gpb_standby($node);
query('CREATE UNLOGGED TABLE u (k int); CREATE INDEX u_k ON u USING gpubtree (k)');
query('INSERT INTO t SELECT i, i FROM generate_series(5001, 8000) i');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
foreach my $sql (
	"SELECT level, number, block, left_link, right_link, entries, low_key, high_key, fault FROM gpubtree_tree('t_k')",
	"SELECT * FROM gpubtree_metap('t_k')",
	"SELECT * FROM gpubtree_bloat('t_k')",
	"SELECT key, htid, included FROM gpubtree_page_items('t_k', 2)",
	"SELECT gpubtree_tree_dot('t_k')")
{
	is($standby->safe_psql('postgres', $sql), query($sql), "the same on a standby: $sql");
}
my ($status, $out, $err) = $standby->psql('postgres', "SELECT gpubtree_metap('u_k')");
like($err, qr/cannot access unlogged index "u_k" during recovery/, 'an unlogged index on a standby');
$standby->stop;

my $other = $node->background_psql('postgres');
$other->query_safe('CREATE TEMPORARY TABLE temporary (k int)');
$other->query_safe('CREATE INDEX temporary_k ON temporary USING gpubtree (k)');
is($other->query_safe("SELECT type FROM gpubtree_page_stats('temporary_k', 1)"), 'root', 'a temporary index of its own');
my $temporary = query("SELECT oid FROM pg_class WHERE relname = 'temporary_k'");
foreach my $call (
	"gpubtree_metap($temporary)", "gpubtree_page_stats($temporary, 1)",
	"gpubtree_page_items($temporary, 1)", "gpubtree_tree($temporary)",
	"gpubtree_tree_dot($temporary)", "gpubtree_tree_svg($temporary)",
	"gpubtree_bloat($temporary)")
{
	is(attempt("SELECT $call"), '0A000: cannot access temporary index "temporary_k" of another session', $call);
}
$other->quit;

# ---- damaged pages ----

# What is done to a tree of three levels; the faults that gpubtree_tree() then shows, and how many
# damaged pages gpubtree_bloat() counts.
my %damages = (
	leaf_zeroed => [ sub { zero(leaf(2)) }, 'page is not initialized', 0 ],
	leaf_widths => [ sub { set_field(leaf(2), 'row_width', 3) }, "widths of entries are not the index's", 1 ],
	leaf_cycle => [ sub { set_field(leaf(3), 'right', leaf(1)) }, 'high keys do not ascend', 0 ],
	leaf_beyond => [ sub { set_field(leaf(3), 'right', 77777) }, 'beyond the end of the file', 0 ],
	leaf_to_inner => [ sub { set_field(leaf(3), 'right', inner(1)) }, 'page of another level', 0 ],
	inner_flags => [ sub { set_field(inner(0), 'flags', 0x8000) }, 'page has unknown flags', 1 ],
	child_beyond => [ sub { my $b = inner(0); put($b, row_place($b, 0) + 8, 'L<', 88888) }, 'beyond the end of the file', 0 ],
	key_impossible => [ sub { my $b = leaf(2); put($b, key_place($b, 3), 'Q<', 12345) }, '', 0 ],
	root_is_leaf => [ sub { put(0, HEADER + 8, 'L<', leaf(3)) }, 'page of another level', 0 ]);
my @meta = qw(meta_zeroed meta_version);
query('CREATE TABLE d (k timestamp, ' . join(', ', map { "c$_ bigint" } 1 .. 12) . ') WITH (autovacuum_enabled = off)');
query("INSERT INTO d SELECT timestamp '2024-01-01' + i * interval '1 hour' FROM generate_series(1, 6000) i");
my %files;
foreach my $name (sort(keys %damages), @meta)
{
	query("CREATE INDEX $name ON d USING gpubtree (k) INCLUDE (" . join(', ', map { "c$_" } 1 .. 12) . ') WITH (fillfactor = 10)');
	$files{$name} = query("SELECT pg_relation_filepath('$name')");
}
my $first = query("SELECT min(key) FROM gpubtree_page_items('leaf_zeroed', 1)");
$node->stop;
foreach my $name (sort keys %files)
{
	my $path = $node->data_dir . '/' . $files{$name};

	$bytes = slurp_file($path);
	if ($name eq 'meta_zeroed') { zero(0) }
	elsif ($name eq 'meta_version') { put(0, HEADER + 4, 'L<', 99) }
	else { $damages{$name}[0]->() }
	open(my $file, '>:raw', $path) or die $!;
	print $file $bytes;
	close($file);
}
$node->start;
foreach my $name (sort keys %damages)
{
	my (undef, $fault, $damaged) = @{ $damages{$name} };

	is(attempt("SELECT string_agg(DISTINCT fault, ', ') FROM gpubtree_tree('$name', 100000)"), $fault, "$name: the tree");
	is(attempt("SELECT damaged_pages FROM gpubtree_bloat('$name')"), $damaged, "$name: damaged pages");
	like(attempt("SELECT gpubtree_tree_dot('$name', 10)"), qr/^digraph .*\}\s*$/s, "$name: DOT");
	like(attempt("SELECT gpubtree_tree_svg('$name', 10)"), qr{^<svg .*</svg>\s*$}s, "$name: SVG");
	like(attempt("SELECT count(*), count(type) FROM generate_series(1, 200) b, gpubtree_page_stats('$name', b)"),
		qr/^200\|200$/, "$name: each page");
	is(attempt("SELECT min(key) FROM gpubtree_page_items('$name', 1)"), $first, "$name: entries of the first leaf");
}
is(query("SELECT DISTINCT type, fault IS NULL FROM generate_series(1, 200) b, gpubtree_page_stats('leaf_zeroed', b) WHERE type NOT IN ('leaf', 'inner', 'root')"),
	'new|t', 'a page of zeroes');
like(attempt("SELECT gpubtree_page_items('leaf_widths', b) FROM generate_series(1, 200) b"),
	qr/^XX002: index "leaf_widths" is corrupted at block \d+: widths of entries/, 'entries of a damaged page');
is(query("SELECT count(*) FROM generate_series(1, 200) b, gpubtree_page_items('key_impossible', b) WHERE key = '(not a value of its type)'"),
	'1', 'a key that is no value');
like(attempt("SELECT gpubtree_metap('meta_zeroed')"), qr/^XX002: index "meta_zeroed" is corrupted at block 0: /, 'no metapage');
is(attempt("SELECT version, fault FROM gpubtree_metap('meta_version')"), '99|unknown version of the index format', 'another version');
like(attempt("SELECT gpubtree_tree('meta_version')"), qr/^XX002: index "meta_version" was made by a gpubtree of another format/, 'its tree');
$node->stop;
done_testing();
