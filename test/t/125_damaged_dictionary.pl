# Queries over an index whose dictionary is damaged: each returns the rows of the table, or an error
# that says that the index is corrupted and names it, and where a page is damaged its block, by nodes
# and by core's scan.  The server lives.  What returns values finds codes that have none.
# Who comes to the end of a dictionary that ends early finds that the metapage counts more codes, and
# appends nothing there.
#
# Guards: src/index/dictionary*.c, program_codes_bind.c.  What gpubtree_check says is 120's.
use GpubtreePages;
use GpubtreeTest;

my $node = gpb_node('primary', damages => 1, settings => "autovacuum = off\n");
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE d (k int, name text, v int);
INSERT INTO d SELECT i, 'd ' || i, i FROM generate_series(1, 2000) i;
CREATE INDEX d_k ON d USING gpubtree (k) INCLUDE (name, v);
VACUUM ANALYZE d;
SQL
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('d_k')");
my @page = (1);
while ((my $right = $node->safe_psql('postgres',
	"SELECT right_link FROM gpubtree_page_stats('d_k', $page[-1])")) > 0)
{
	push @page, $right;
}
cmp_ok(scalar(@page), '>=', 3, 'the dictionary has several pages');

# A second index gets its values one by one, and its first page was the last one for a while.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE e (k int, name text);
CREATE INDEX e_k ON e USING gpubtree (k) INCLUDE (name);
INSERT INTO e VALUES (1, 'e 1');
SQL
my $grown = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('e_k')");
$node->stop;
my $built = slurp_file($file);
my $young = slurp_file($grown);
$node->start;
$node->safe_psql('postgres', $_)
  for q{INSERT INTO d SELECT i, 'd ' || i, i FROM generate_series(2001, 2009) i},
  q{INSERT INTO e SELECT i, 'e ' || i FROM generate_series(2, 2000) i}, 'VACUUM d, e';

my %query = (
	'rows' => 'SELECT k, name FROM d WHERE k > 0',
	'groups' => 'SELECT name, count(*) FROM d WHERE k > 0 GROUP BY 1',
	'equal' => q{SELECT count(*), sum(v) FROM d WHERE k > 0 AND name = 'd 1999'},
	'lacking' => q{SELECT count(*), sum(v) FROM d WHERE k > 0 AND name = 'nowhere'},
	'a list' => q{SELECT count(*), sum(v) FROM d WHERE k > 0 AND name LIKE 'd 77%'},
	'the last' => q{SELECT count(*), sum(v) FROM d WHERE k > 0 AND name >= 'd 2005'},
	'bits' => q{SELECT count(*), sum(v) FROM d WHERE k > 0 AND name LIKE '%1%'});
sub digest
{
	my ($name) = @_;
	return "SELECT md5(array_agg(q::text ORDER BY q::text)::text) FROM ($query{$name}) q";
}
my %right = map { $_ => $node->safe_psql('postgres', digest($_)) } keys %query;
$node->safe_psql('postgres', 'SET enable_seqscan = off; EXPLAIN ' . $query{$_}) =~ /d_k/
  or die "no index for $_"
  for keys %query;
$node->stop;
my $sound = slurp_file($file);

# Each damage, and the block that errors name; undef if every page is as it could be, and only
# entries have codes that no page has.
my %damage = (
	'a page of zeroes' => [ sub { zero($page[1]) }, $page[1] ],
	'a chain that goes back' => [ sub { set_field($page[1], 'right', $page[0]) }, $page[0] ],
	'a chain that stays' => [ sub { set_field($page[1], 'right', $page[1]) }, $page[1] ],
	'a chain that skips a page' => [ sub { set_field($page[0], 'right', $page[2]) }, $page[2] ],
	'a chain that leads into the tree' => [ sub { set_field($page[1], 'right', root()) }, root_of() ],
	'a chain that ends at the first page' => [ sub { set_field($page[0], 'right', NONE) }, $page[0] ],
	'a chain that ends in the middle' => [ sub { set_field($page[1], 'right', NONE) }, $page[1] ],
	'a last page as it was before' =>
	  [ sub { substr($bytes, $page[-1] * PAGE, PAGE) = substr($built, $page[-1] * PAGE, PAGE) },
		$page[-1] ],
	'a metapage that counts more codes' => [ sub { set_counted(counted() + 1) }, $page[-1] ],
	'a value that is too long' => [ sub { put($page[1], HEADER, 'S<', 2701) }, $page[1] ],
	'a value that reaches beyond the page' => [ sub { put($page[-1], HEADER, 'S<', 2700) }, $page[-1] ],
	'a value of the other column' => [ sub { put($page[1], HEADER + 2, 'C', 1) }, $page[1] ],
	'a code more' => [ sub { set_field($page[1], 'high_key', field($page[1], 'high_key') + 1) }, $page[1] ],
	'codes from elsewhere' => [ sub { set_field($page[1], 'low_key', 0) }, $page[1] ],
	'a code beyond the end' => [ sub { put(leaf(0), row_place(leaf(0), 0) + 8, 'L<', 2009) }, undef ],
	'a code far beyond the end' =>
	  [ sub { put(leaf(0), row_place(leaf(0), 0) + 8, 'L<', 0xFFFFFFFD) }, undef ]);

sub root_of
{
	$bytes = $sound;
	return root();
}


for my $name (sort keys %damage)
{
	my ($harm, $block) = @{ $damage{$name} };
	my $errors = 0;

	$bytes = $sound;
	$harm->();
	write_pages($file);
	$node->start;
	for my $setting ('gpubtree.far_codes = 1', 'gpubtree.enabled = on', 'gpubtree.enabled = off')
	{
		# Single values, before any session has read all
		my @asked = $setting =~ /far/ ? qw(rows equal lacking) : sort keys %query;

		for my $query (@asked)
		{
			my ($ret, $out, $err) = $node->psql('postgres',
				"SET enable_seqscan = off; SET enable_bitmapscan = off; SET $setting; " . digest($query));
			my $which = "$name, $query, $setting";

			if ($ret == 0)
			{
				# A condition is not told of codes that have no value; gpubtree_check is.
				is($out, $right{$query}, "$which: the right rows")
				  if defined $block || $query eq 'lacking';
				next;
			}
			$errors++;
			isnt($ret, 2, "$which: the server lives");
			like($err, qr/index "d_k" is corrupted/, "$which: names the index");
			like($err, qr/block $block\b/, "$which: names the block") if defined $block;
		}
	}
	cmp_ok($errors, '>=', 2, "$name: queries find it");
	$node->stop;
}

# ---- who appends ----

$bytes = $sound;
is(counted(), 2009, 'the metapage counts what a build and inserts gave');
write_pages($file);
my $whole = slurp_file($grown);
my %end = (
	'a first page as it was when it was the last one' =>
	  sub { substr($bytes, PAGE, PAGE) = substr($young, PAGE, PAGE) },
	'a first page without its link' => sub { set_field(1, 'right', NONE) });
for my $name (sort keys %end)
{
	$bytes = $whole;
	is(counted(), 2000, 'the metapage counts what inserts gave');
	$end{$name}->();
	write_pages($grown);
	$node->start;
	for my $query (q{SET gpubtree.far_codes = 1; INSERT INTO e VALUES (1, 'new')},
		q{INSERT INTO e VALUES (1, 'e 2000')}, q{INSERT INTO e VALUES (1, 'new')},
		q{SET enable_seqscan = off; SELECT count(*) FROM e WHERE k > 0 AND name = 'e 2000'},
		q{SET enable_seqscan = off; SELECT count(*) FROM e WHERE k > 0 AND name LIKE '%9%'},
		q{SELECT gpubtree_check('e_k', false)})
	{
		my ($ret, $out, $err) = $node->psql('postgres', $query);

		like($err, qr/index "e_k" is corrupted at block 1: the dictionary ends before codes/,
			"$name: $query");
	}
	$node->stop;
	$bytes = slurp_file($grown);
	is(field(1, 'right'), NONE, "$name: nothing was appended");
}

# ---- an index that was made when nobody counted ----

$bytes = $whole;
set_counted(0);
write_pages($grown);
$node->start;
is($node->safe_psql('postgres', <<'SQL'), "1\n542", 'a metapage that counts nothing');
SET enable_seqscan = off;
SELECT count(*) FROM e WHERE k > 0 AND name = 'e 2000';
SELECT count(*) FROM e WHERE k > 0 AND name LIKE '%9%';
SQL
$node->safe_psql('postgres', "SELECT gpubtree_check('e_k', false)");
$node->stop;
$bytes = slurp_file($grown);
is(counted(), 0, 'and goes on to do so while no value comes');
$node->start;
$node->safe_psql('postgres', $_)
  for q{INSERT INTO e VALUES (1, 'new')}, q{SELECT gpubtree_check('e_k', true)};
$node->stop('immediate');
$node->start;
$node->safe_psql('postgres', q{SELECT gpubtree_check('e_k', true)});
$node->stop;
$bytes = slurp_file($grown);
is(counted(), 2001, 'the next value is counted with those before it, also after a crash');

done_testing();
