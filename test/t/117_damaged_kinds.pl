# Damage to pages whose keys have 16 bytes, to deleted pages, to pages whose neighbours were deleted,
# and to what tells the digits of a numeric: gpubtree_check says what is wrong; scans say it, or give
# the right answer; nothing crashes or hangs, whatever is done to the table. (061 has the damages
# that all pages share.)
#
# GPB_FUZZ	number of indexes of each kind with random bits flipped (default 4)
use GpubtreeDamage;
use GpubtreePages;
use GpubtreeTest;

gpb_seed();
use constant { HIGH_UPPER => HEADER, LOW_UPPER => HEADER + 8, DELETED => 8 };

# ---- the damages: name => [what it does, what the checker says, may scans be wrong?] ----

sub flip
{
	my ($block, $offset, $bit) = @_;
	put($block, $offset, 'Q<', get($block, $offset, 'Q<') ^ (1 << $bit));
}

# The n-th deleted page of the file
sub deleted
{
	my ($n) = @_;
	my @pages = grep { field($_, 'flags') & DELETED } 1 .. blocks() - 1;
	return $pages[$n];
}

sub set_flags { my ($b, $flags) = @_; set_field($b, 'flags', $flags) }

my %wide = (
	high_upper => [ sub { flip(leaf(5), HIGH_UPPER, 20) }, qr/high key|low bound|out of order|no downlink/, 1 ],
	high_upper_zero => [ sub { put(leaf(5), HIGH_UPPER, 'Q<', 0) }, qr/high key/ ],
	high_upper_inner => [ sub { flip(inner(0), HIGH_UPPER, 20) }, qr/high key|low bound|out of order|no downlink/, 1 ],
	low_upper => [ sub { flip(leaf(5), LOW_UPPER, 20) }, qr/low bound/ ],
	low_upper_inner => [ sub { flip(inner(1), LOW_UPPER, 20) }, qr/low bound|separator/ ],
	low_upper_first => [ sub { flip(leaf(0), LOW_UPPER, 0) }, qr/low bound|left link/ ],
	key_upper => [ sub { flip(leaf(5), key_place(leaf(5), 3) + 8, 62) }, qr/out of order/, 1 ],
	key_lower => [ sub { flip(leaf(5), key_place(leaf(5), 3), 1) }, qr/out of order|lacks an entry/, 1 ],
	separator_upper => [ sub { flip(inner(0), key_place(inner(0), 4) + 8, 62) }, qr/out of order|no page's low bound/, 1 ],
	separator_lower => [ sub { flip(inner(0), key_place(inner(0), 4), 3) }, qr/out of order|low bound|no downlink/, 1 ],
	pd_lower_half_key => [ sub { put(leaf(5), 12, 'S<', get(leaf(5), 12, 'S<') - 8) }, qr/numbers of keys/ ],
	pd_lower_in_halves => [ sub { put(leaf(5), 12, 'S<', HEADER + 8) }, qr/numbers of keys|free space/ ],
	pd_lower_no_halves => [
		sub { put(leaf(5), 12, 'S<', HEADER); put(leaf(5), 14, 'S<', SPECIAL) }, qr/numbers of keys|free space/ ],
	key_width_narrow => [ sub { set_field(leaf(5), 'key_width', 8) }, qr/widths/ ],
	meta_narrow => [ sub { put(0, HEADER + 16, 'C', 8) }, qr/the metapage describes/ ]);

my %deleted = (
	live_leaf_deleted => [ sub { set_flags(leaf(5), DELETED) }, qr/deleted|leads to|no tree page/ ],
	live_first_deleted => [ sub { set_flags(leaf(0), DELETED) }, qr/deleted|leads to|no tree page/ ],
	live_inner_deleted => [ sub { set_flags(inner(1), DELETED) }, qr/deleted|leads to|no tree page/ ],
	root_deleted => [ sub { set_flags(root(), DELETED) }, qr/deleted|leads to|no tree page|root/ ],
	meta_deleted => [ sub { set_flags(0, 1 | DELETED) }, qr/at block 0: not a metapage/ ],
	deleted_lives => [ sub { set_flags(deleted(1), 0) }, qr/cannot be reached/ ],
	deleted_zeroed => [ sub { zero(deleted(1)) }, undef ],
	deleted_garbage => [
		sub { my $b = deleted(1); substr($bytes, $b * PAGE, PAGE) = join('', map { chr(int(rand(256))) } 1 .. PAGE) },
		qr/^XX002/ ],
	deleted_page_id => [ sub { set_field(deleted(1), 'page_id', 0xFF80) }, qr/not a gpubtree page/ ],
	deleted_level => [ sub { set_field(deleted(1), 'level', 1) }, qr/widths|level|cannot be reached/ ],
	downlink_to_deleted => [
		sub { my $b = inner(0); put($b, row_place($b, 3) + 8, 'L<', deleted(1)) }, qr/leads to the wrong page/ ],
	first_downlink_to_deleted => [
		sub { my $b = inner(0); put($b, row_place($b, 0) + 8, 'L<', deleted(1)) }, qr/leads to|no tree page|deleted/ ],
	right_to_deleted => [ sub { set_field(leaf(5), 'right', deleted(1)) }, qr/left link is wrong|deleted|low bound/ ],
	left_to_deleted => [ sub { set_field(leaf(5), 'left', deleted(1)) }, qr/left link is wrong/ ],
	root_is_deleted_page => [ sub { put(0, HEADER + 8, 'L<', deleted(1)) }, qr/^XX002/ ],
	low_before_takeover => [
		# as if the sibling of a deleted leaf still began where it did before
		sub {
			my ($b) = grep { field($_, 'level') == 0 && entries($_) > 0 && field($_, 'left') != NONE
				&& field($_, 'low_key') + 100 < get($_, key_place($_, 0), 'Q<') } 1 .. blocks() - 1;
			set_field($b, 'low_key', get($b, key_place($b, 0), 'Q<'));
		},
		qr/low bound is not/ ]);

# kind => [damages, type of the key, expression for the key of row i, are leaves deleted?]
my $uuid = "(lpad(to_hex(i / 10), 16, '0') || lpad(to_hex(i * 7919::int8), 16, '0'))::uuid";
my %kinds = (
	wide => [ \%wide, 'uuid', $uuid, 0 ],
	wide_gaps => [ {%deleted}, 'uuid', $uuid, 1 ],
	gaps => [ \%deleted, 'int8', 'i::int8 * 3', 1 ]);
delete $kinds{wide_gaps}[0]{low_before_takeover};	# is of narrow keys alone

sub fuzz
{
	gpb_flip_bits(4, sub {
		my $in = rand();
		return (int(rand(blocks())), $in < 0.4 ? int(rand(PAGE)) : $in < 0.7 ? int(rand(HEADER + 32)) : SPECIAL + int(rand(PAGE - SPECIAL)));
	});
}

# ---- the tables ----

my $node = gpb_damage_node(
	[ [qw(index index_only bitmap)], [
		q{SELECT count(*) || ' ' || coalesce(sum(a), 0) FROM (SELECT k, a FROM $t WHERE k >= $lo) q OFFSET 0},
		q{SELECT count(*) FROM (SELECT k FROM $t WHERE k = ANY (ARRAY(SELECT o.k FROM $t o WHERE o.a = 5)) OFFSET 0) q},
		q{SELECT count(*) || ' ' || coalesce(sum(a), 0) FROM (SELECT k, a FROM $t WHERE k < $lo) q OFFSET 0} ] ],
	[ [qw(index index_only)], [
		q{SELECT md5(string_agg(k::text, ',')) FROM (SELECT k FROM $t WHERE k >= $lo ORDER BY k) q},
		q{SELECT md5(string_agg(k::text, ',')) FROM (SELECT k FROM $t WHERE k IS NOT NULL ORDER BY k DESC) q} ] ],
	[ ['aggregate'], [q{SELECT count(*) || ' ' || sum(a) FROM $t WHERE k >= $lo}] ]);

my %tables;
for my $kind (sort keys %kinds)
{
	my ($damages, $type, $key, $gaps) = @{ $kinds{$kind} };

	$damages->{sound} = [ sub { }, undef ];
	$damages->{"fuzz_$_"} = [ \&fuzz, qr/^$|^XX002: /, 1 ] for 1 .. $ENV{GPB_FUZZ} // 4;
	for my $name (keys %$damages)
	{
		my $table = "${kind}_$name";
		my ($harm, $says, $may_be_wrong) = @{ $damages->{$name} };
		my $remove = $gaps ? "DELETE FROM $table WHERE i % 1000 BETWEEN 200 AND 700;" : '';

		$tables{$table} = { like => "${kind}_sound", harm => $harm, says => $says, may_be_wrong => $may_be_wrong,
			lo => $type eq 'uuid' ? "uuid '00000000-0000-0020-0000-000000000000'" : "int8 '700'", create => <<"SQL" };
CREATE TABLE $table (i int, k $type, a int4, b int8, c float8, d timestamp, e int8, f int8, g int8);
INSERT INTO $table SELECT i, $key, i % 9, i, i, NULL, i, i, i FROM generate_series(1, 5000) i;
CREATE INDEX ${table}_k ON $table USING gpubtree (k) INCLUDE (a, b, c, d, e, f, g) WITH (fillfactor = 10);
$remove
SQL
	}
}
gpb_test_damages($node, sub { field(root(), 'level') == 2 }, %tables);

# ---- numerics among several key columns, whose bits the metapage says ----

# p has 31 bits, for the 9 digits for which a key of 8 bytes has room, NaN and NULL; the codes above
# the numbers' are no values.
use constant BITS_OF_P => HEADER + 24 + 4 + 2;
my %digits = (
	digits_sound => [ sub { }, undef ],
	digits_no_value => [
		sub {
			my $place = key_place(root(), entries(root()) - 1);
			put(root(), $place, 'Q<', get(root(), $place, 'Q<') & ~0x7FFFFFFF | (1 << 30) + 1000000000);
		},
		qr/a column of a key is neither a value nor null/, 1 ],
	digits_more => [ sub { put(0, BITS_OF_P, 'C', 35) }, qr/^XX002: .*the metapage describes/ ],
	digits_fewer => [ sub { put(0, BITS_OF_P, 'C', 28) }, qr/^XX002: .*the metapage describes/ ],
	digits_none => [ sub { put(0, BITS_OF_P, 'C', 30) }, qr/^XX002: .*the metapage describes/ ]);

for my $table (sort keys %digits)
{
	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE $table (a int4 NOT NULL, p numeric(6, 2));
INSERT INTO $table SELECT i, i - 50 FROM generate_series(1, 100) i;
CREATE INDEX ${table}_k ON $table USING gpubtree (a, p);
SQL
}
# p has 31 bits at first.
gpb_do_damage($node, { map { $_ => $digits{$_}[0] } keys %digits }, sub { get(0, BITS_OF_P, 'C') == 31 });
$node->start;
for my $table (sort keys %digits)
{
	my (undef, $says, $may_be_wrong) = @{ $digits{$table} };
	my (undef, $said) = $node->psql('postgres', "SELECT attempt('SELECT gpubtree_check(''${table}_k'', true)', 'index')");

	if (defined $says) { like($said, $says, "$table: checker") }
	else { is($said, '', "$table: checker") }
	for my $how ('index_only', 'aggregate')
	{
		my ($rc, $out) = $node->psql('postgres', "SELECT attempt('SELECT sum(p) FROM $table WHERE a > 90', '$how')");
		ok($rc == 0 && ($may_be_wrong || $out eq '455.00' || $out =~ /^XX002: /), "$table: $how") or diag($out);
	}
}

$node->stop;
gpb_nothing_crashed($node);
done_testing();
