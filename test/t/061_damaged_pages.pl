# Damage to pages of the index: gpubtree_check says what is wrong and where; scans say it, or give
# the right answer; nothing crashes or hangs, whatever is done to the table.
#
# GPB_FUZZ	number of indexes with random bits flipped (default 25)
use GpubtreeDamage;
use GpubtreePages;
use GpubtreeTest;

gpb_seed();

# ---- the damages ----

# name => [what it does, what the checker says (undef if nothing), what else scans may do].  A scan may
# be "wrong" where no reader of single pages can see the damage.
my $core = qr/^XX002: invalid page in block/;    # the buffer manager has seen it first
my %damages = (
	leaf_zeroed => [ sub { zero(leaf(7)) }, qr/not initialized/ ],
	first_leaf_zeroed => [ sub { zero(leaf(0)) }, qr/not initialized/ ],
	inner_zeroed => [ sub { zero(inner(1)) }, qr/not initialized/ ],
	root_zeroed => [ sub { zero(root()) }, qr/not initialized/ ],
	meta_zeroed => [ sub { zero(0) }, qr/at block 0: page is not initialized/ ],
	meta_magic => [ sub { put(0, HEADER, 'L<', 0xDEADBEEF) }, qr/at block 0: not a metapage/ ],
	meta_version => [ sub { put(0, HEADER + 4, 'L<', 99) }, qr/made by a gpubtree of another format/ ],
	meta_widths => [ sub { put(0, HEADER + 16, 'C', 4) }, qr/at block 0: the metapage describes/ ],
	root_beyond => [ sub { put(0, HEADER + 8, 'L<', 100000) }, qr/at block 0: .*no tree page/ ],
	root_none => [ sub { put(0, HEADER + 8, 'L<', NONE) }, qr/at block 0: root is out of range/ ],
	root_is_leaf => [ sub { put(0, HEADER + 8, 'L<', leaf(3)) }, qr/wrong level/ ],
	root_is_inner => [
		sub { put(0, HEADER + 8, 'L<', inner(0)); put(0, HEADER + 12, 'L<', 1) },
		qr/has no downlink/ ],
	root_level => [ sub { put(0, HEADER + 12, 'L<', 1) }, qr/wrong level/ ],
	root_level_huge => [ sub { put(0, HEADER + 12, 'L<', 4000000000) }, qr/root is out of range/ ],
	page_id => [ sub { set_field(leaf(5), 'page_id', 0xFF80) }, qr/not a gpubtree page/ ],
	pd_lower_absurd => [ sub { put(leaf(5), 12, 'S<', 8190) }, $core ],
	pd_lower_zero => [ sub { put(leaf(5), 12, 'S<', 0) }, qr/free space|invalid page/ ],
	pd_lower_odd => [ sub { put(leaf(5), 12, 'S<', get(leaf(5), 12, 'S<') - 3) }, qr/numbers of keys/ ],
	pd_lower_short => [ sub { put(leaf(5), 12, 'S<', get(leaf(5), 12, 'S<') - 8) }, qr/numbers of keys/ ],
	pd_upper_short => [ sub { put(inner(0), 14, 'S<', get(inner(0), 14, 'S<') + 12) }, qr/numbers of keys/ ],
	pd_special => [ sub { put(leaf(5), 16, 'S<', 8000) }, qr/not a gpubtree page|invalid page/ ],
	key_width_zero => [ sub { set_field(leaf(5), 'key_width', 0) }, qr/widths/ ],
	row_width_zero => [ sub { set_field(inner(0), 'row_width', 0) }, qr/widths/ ],
	flags_unknown => [ sub { set_field(leaf(5), 'flags', 0x8000) }, qr/unknown flags/ ],
	flags_meta => [ sub { set_field(leaf(5), 'flags', 1) }, qr/metapage where/ ],
	flags_incomplete => [ sub { set_field(leaf(5), 'flags', 2) }, qr/has a downlink, though/ ],
	flags_incomplete_last => [
		sub { my ($b) = grep { field($_, 'level') == 0 && field($_, 'right') == NONE } 1 .. blocks() - 1;
			set_field($b, 'flags', 2) },
		qr/split without a right half/ ],
	leaf_level => [ sub { set_field(leaf(5), 'level', 1); }, qr/widths|wrong level/ ],
	inner_level => [ sub { set_field(inner(0), 'level', 2); }, qr/wrong level/ ],
	level_huge => [ sub { set_field(inner(0), 'level', 60000); }, qr/level is out of range/ ],
	right_self => [ sub { set_field(leaf(5), 'right', leaf(5)) }, qr/link leads from the page to itself|own sibling/ ],
	right_cycle => [ sub { set_field(leaf(9), 'right', leaf(4)) }, qr/left link is wrong/ ],
	right_cycle_inner => [ sub { set_field(inner(1), 'right', inner(0)) }, qr/left link is wrong|high key is not above/ ],
	right_beyond => [ sub { set_field(leaf(5), 'right', 77777) }, qr/no tree page/ ],
	right_meta => [ sub { set_field(leaf(5), 'right', 0) }, qr/link to the metapage/ ],
	right_inner => [ sub { set_field(leaf(5), 'right', inner(1)) }, qr/wrong level/ ],
	right_skips => [ sub { set_field(leaf(5), 'right', leaf(7)) }, qr/left link is wrong/ ],
	right_none => [ sub { set_field(leaf(5), 'right', NONE) }, qr/no page|beyond the last page/ ],
	left_wrong => [ sub { set_field(leaf(5), 'left', leaf(2)) }, qr/left link is wrong/ ],
	left_none => [ sub { set_field(leaf(5), 'left', NONE) }, qr/left link is wrong/ ],
	left_self => [ sub { set_field(leaf(5), 'left', leaf(5)) }, qr/left link is wrong|own sibling/ ],
	left_beyond => [ sub { set_field(leaf(5), 'left', 88888) }, qr/left link is wrong/ ],
	left_cycle => [ sub { set_field(leaf(5), 'left', leaf(8)) }, qr/left link is wrong/ ],
	high_key_low => [ sub { set_field(leaf(5), 'high_key', 1) }, qr/high key is not above/ ],
	high_key_lower => [
		sub { set_field(leaf(5), 'high_key', get(leaf(5), key_place(leaf(5), 4), 'Q<')) },
		qr/not below the high key/, 'wrong' ],
	high_key_higher => [
		sub { set_field(leaf(5), 'high_key', get(leaf(6), key_place(leaf(6), 4), 'Q<')) },
		qr/out of order|no downlink|low bound/ ],
	low_key_lower => [ sub { set_field(leaf(5), 'low_key', field(leaf(5), 'low_key') - 1) }, qr/low bound is not/ ],
	low_key_higher => [ sub { set_field(leaf(5), 'low_key', field(leaf(5), 'low_key') + 1) }, qr/low bound is not/ ],
	low_key_none => [
		sub { set_field(leaf(5), 'low_key', 0); set_field(leaf(5), 'low_tie', 0) },
		qr/low bound is not/ ],
	high_tie => [ sub { set_field(leaf(5), 'high_tie', 1 << 60) }, qr/high key carries flags/, 'wrong' ],
	key_flip_high => [
		sub { my $b = leaf(5); put($b, key_place($b, 3), 'Q<', get($b, key_place($b, 3), 'Q<') ^ 1 << 62) },
		qr/out of order/, 'wrong' ],
	key_flip_low => [
		sub { my $b = leaf(5); put($b, key_place($b, 3), 'Q<', get($b, key_place($b, 3), 'Q<') ^ 2) },
		qr/out of order|lacks an entry/, 'wrong' ],
	key_flip_inner => [
		sub { my $b = inner(0); put($b, key_place($b, 50), 'Q<', get($b, key_place($b, 50), 'Q<') ^ 2) },
		qr/out of order|no page's low bound|no downlink/, 'wrong' ],
	first_separator => [
		sub { my $b = inner(1); put($b, key_place($b, 0), 'Q<', get($b, key_place($b, 0), 'Q<') + 1) },
		qr/first separator is not its low bound/, 'wrong' ],
	entries_swapped => [
		sub {
			my $b = leaf(5);
			my ($x, $y) = map { get($b, key_place($b, $_), 'Q<') } 2, 6;
			put($b, key_place($b, 2), 'Q<', $y);
			put($b, key_place($b, 6), 'Q<', $x);
		},
		qr/out of order/, 'wrong' ],
	rows_swapped => [
		sub {
			my $b = leaf(5);
			my $n = field($b, 'row_width');
			my ($p, $q) = map { $b * PAGE + row_place($b, $_) } 2, 6;
			my $x = substr($bytes, $p, $n);
			substr($bytes, $p, $n) = substr($bytes, $q, $n);
			substr($bytes, $q, $n) = $x;
		},
		qr/lacks an entry|out of order/, 'wrong' ],
	offset_zero => [ sub { my $b = leaf(5); put($b, row_place($b, 3), 'S<', 0) }, qr/no possible row/, 'wrong' ],
	offset_huge => [ sub { my $b = leaf(5); put($b, row_place($b, 3), 'S<', 60000) }, qr/no possible row/, 'wrong' ],
	heap_block => [
		sub { my $b = leaf(5); put($b, row_place($b, 3) + 2, 'L<', 5000000) },
		qr/lacks an entry|out of order/, 'wrong' ],
	heap_block_within_segment => [
		sub { my $b = leaf(5); put($b, row_place($b, 3) + 2, 'L<', 20000) },
		qr/lacks an entry|out of order/, 'wrong' ],
	null_bits => [ sub { my $b = leaf(5); put($b, row_place($b, 3) + 6, 'S<', 0xFF00) }, qr/columns that do not exist/, 'wrong' ],
	null_key => [ sub { my $b = leaf(5); put($b, row_place($b, 3) + 6, 'S<', 1) }, qr/out of order|usual form/, 'wrong' ],
	include_value => [
		sub { my $b = leaf(5); put($b, row_place($b, 3) + 8, 'L<', 123456789) },
		qr/has another value than row .* in column 2/, 'wrong' ],
	separator_flags => [
		sub { my $b = inner(0); put($b, row_place($b, 3) + 6, 'S<', 2) },
		qr/separator carries flags/ ],
	child_left => [
		sub { my $b = inner(0); put($b, row_place($b, 30) + 8, 'L<', child($b, 10)) },
		qr/leads to the wrong page/ ],
	child_right => [
		sub { my $b = inner(0); put($b, row_place($b, 30) + 8, 'L<', child($b, 40)) },
		qr/leads to the wrong page/ ],
	child_next => [
		sub { my $b = inner(1); put($b, row_place($b, 20) + 8, 'L<', child($b, 21)) },
		qr/leads to the wrong page/ ],
	last_child_right => [
		sub { my $b = inner(0); put($b, row_place($b, entries($b) - 1) + 8, 'L<', child(inner(1), 0)) },
		qr/leads to the wrong page/ ],
	child_meta => [ sub { my $b = inner(0); put($b, row_place($b, 30) + 8, 'L<', 0) }, qr/leads to the wrong page/ ],
	child_root => [ sub { my $b = inner(0); put($b, row_place($b, 30) + 8, 'L<', root()) }, qr/leads to the wrong page/ ],
	child_beyond => [ sub { my $b = inner(0); put($b, row_place($b, 30) + 8, 'L<', 99999) }, qr/leads to the wrong page/ ],
	first_child_beyond => [ sub { my $b = inner(0); put($b, row_place($b, 0) + 8, 'L<', 99999) }, qr/no tree page/ ],
	first_child_wrong => [
		sub { my $b = inner(0); put($b, row_place($b, 0) + 8, 'L<', leaf(3)) },
		qr/left link is wrong/ ],
	inner_children_swapped => [
		sub {
			my $b = root();
			my ($x, $y) = (child($b, 0), child($b, 1));
			put($b, row_place($b, 0) + 8, 'L<', $y);
			put($b, row_place($b, 1) + 8, 'L<', $x);
		},
		qr/left link is wrong/ ],
	leaf_emptied => [
		sub { my $b = leaf(5); put($b, 12, 'S<', HEADER); put($b, 14, 'S<', SPECIAL) },
		qr/lacks an entry for row/, 'wrong' ],
	leaf_one_lost => [
		sub {
			my $b = leaf(5);
			put($b, 12, 'S<', get($b, 12, 'S<') - 8);
			put($b, 14, 'S<', get($b, 14, 'S<') + field($b, 'row_width'));
		},
		qr/lacks an entry for row/, 'wrong' ],
	inner_emptied => [
		sub { my $b = inner(0); put($b, 12, 'S<', HEADER); put($b, 14, 'S<', SPECIAL) },
		qr/inner page without entries/ ],
	downlink_lost => [
		sub {
			my $b = inner(1);
			put($b, 12, 'S<', get($b, 12, 'S<') - 8);
			put($b, 14, 'S<', get($b, 14, 'S<') + 12);
		},
		qr/it has no downlink/ ],
	leaves_exchanged => [
		sub {
			my ($p, $q) = map { leaf($_) * PAGE } 5, 9;
			my $x = substr($bytes, $p, PAGE);
			substr($bytes, $p, PAGE) = substr($bytes, $q, PAGE);
			substr($bytes, $q, PAGE) = $x;
		},
		qr/left link is wrong|own sibling|order/ ],
	leaf_old_copy => [
		sub { substr($bytes, leaf(5) * PAGE, PAGE) = substr($bytes, leaf(6) * PAGE, PAGE) },
		qr/left link is wrong|own sibling/, 'wrong' ],
	orphan => [ sub { $bytes .= substr($bytes, leaf(5) * PAGE, PAGE) }, qr/cannot be reached/ ],
	file_cut => [ sub { $bytes = substr($bytes, 0, PAGE * int(blocks() * 3 / 4)) }, qr/no tree page/ ],
	file_empty => [ sub { $bytes = '' }, qr/at block 0: a link leads beyond the end/ ],
	file_meta_only => [ sub { $bytes = substr($bytes, 0, PAGE) }, qr/at block 0: .*no tree page/ ],
	garbage => [
		sub { substr($bytes, leaf(5) * PAGE, PAGE) = join('', map { chr(int(rand(256))) } 1 .. PAGE) },
		qr/^XX002/ ],
	garbage_kept_header => [
		sub {
			substr($bytes, leaf(5) * PAGE + HEADER, SPECIAL - HEADER) =
			  join('', map { chr(int(rand(256))) } 1 .. SPECIAL - HEADER);
		},
		qr/^XX002/, 'wrong' ],
	# A page that a crash left behind is no damage.
	none => [ sub { } ],
	zero_page_at_end => [ sub { $bytes .= "\0" x PAGE } ]);

# Bits are flipped anywhere; all that is asked is that nothing crashes.
sub fuzz
{
	gpb_flip_bits(6, sub {
		my $page = chance_page();
		return ($page, rand() < 0.5 ? int(rand(PAGE)) : rand() < 0.5 ? int(rand(HEADER)) : SPECIAL + int(rand(PAGE - SPECIAL)));
	});
}
$damages{"fuzz_$_"} = [ \&fuzz, qr/^$|^XX002: /, 'wrong' ] for 1 .. $ENV{GPB_FUZZ} // 25;

# Return any page, one high in the tree more often than others; the levels may be damaged already.
sub chance_page
{
	my $sound = root() < blocks() && field(root(), 'level') == 2;
	my $page = rand() < 0.2 ? 0 : rand() < 0.3 ? root() : rand() < 0.4 && $sound ? inner(0) : -1;
	return $page >= 0 && $page < blocks() ? $page : int(rand(blocks()));
}

# ---- the tables, all alike ----

my $node = gpb_damage_node(
	[ [qw(index index_only bitmap)], [
		q{SELECT count(*) || ' ' || coalesce(sum(k * 3 + coalesce(a, 1)), 0) FROM (SELECT k, a FROM $t WHERE k >= -5) q OFFSET 0},
		q{SELECT count(*) FROM (SELECT k FROM $t WHERE k IS NULL) q OFFSET 0},
		q{SELECT string_agg(k || '/' || coalesce(a, 0), ',' ORDER BY k) FROM $t WHERE k BETWEEN 700 AND 800},
		q{SELECT string_agg(k::text, ',' ORDER BY k) FROM $t WHERE k = ANY (ARRAY[3, 140, 141, 150, 160, 300, 301, 750, 9000, 15001, 33333])},
		q{SELECT max(k) FROM (SELECT k FROM $t WHERE k < 20000) q OFFSET 0} ] ],
	[ [qw(index index_only)], [
		q{SELECT string_agg(k::text, ',') FROM (SELECT k FROM $t WHERE k >= 0 ORDER BY k LIMIT 2000) q},
		q{SELECT md5(string_agg(k::text, ',')) FROM (SELECT k FROM $t WHERE k >= 0 ORDER BY k DESC) q},
		q{SELECT min(k) FROM $t},
		q{SELECT max(k) FROM $t} ] ],
	[ ['aggregate'], [
		q{SELECT count(*) || ' ' || sum(k) || ' ' || count(a) || ' ' || sum(a) FROM $t WHERE k >= -5},
		q{SELECT count(*) || ' ' || min(k) || ' ' || max(a) FROM $t WHERE k BETWEEN 100 AND 900},
		q{SELECT count(*) FROM $t} ] ],
	[ ['batch'], [ map { qq{SELECT matches || ' ' || sum FROM gpubtree_probe('\$t_k', (SELECT array_agg(i::bigint) FROM generate_series($_) i))} }
		'-5, 21000', '3, 21000, 700', '15000, 100, -10' ] ]);

gpb_test_damages($node, sub { field(root(), 'level') == 2 }, map { $_ => {
	create => <<"SQL",
CREATE TABLE $_ (k int8, a int4, b int8, c float8, d timestamp, e int8, f int8, g int8);
INSERT INTO $_ SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE (i * 7919::int8) % 20011 END,
	nullif(i % 9, 0), i, i, NULL, i, i, i FROM generate_series(1, 5000) i;
CREATE INDEX ${_}_k ON $_ USING gpubtree (k) INCLUDE (a, b, c, d, e, f, g) WITH (fillfactor = 10);
SQL
	like => 'none',
	harm => $damages{$_}[0],
	says => $damages{$_}[1],
	may_be_wrong => $damages{$_}[2],
	changes => <<"SQL",
INSERT INTO $_ (k, a) SELECT i % 20011, 1 FROM generate_series(1, 20000, 41) i;
DELETE FROM $_ WHERE b % 3 = 0;
UPDATE $_ SET k = k + 1 WHERE b % 7 = 0;
SQL
	more_changes => <<"SQL",
INSERT INTO $_ (k) SELECT 777 FROM generate_series(1, 500) i;
INSERT INTO $_ (k) SELECT i FROM generate_series(1, 5000, 5) i;
SQL
	} } sort keys %damages);

$node->stop;
gpb_nothing_crashed($node);
done_testing();
