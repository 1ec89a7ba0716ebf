# Damage to leaves that have runs: gpubtree_check says what is wrong; scans say it, or give the right
# answer, where single pages can show the damage; nothing crashes or hangs, whatever is done to the
# table.  (061 has the damages that all pages share, 117 those of wide keys.)
#
# GPB_FUZZ	number of indexes of each width with random bits flipped (default 6)
use GpubtreeDamage;
use GpubtreePages;
use GpubtreeTest;

gpb_seed();

# ---- a leaf with runs ----

sub keys_at { my ($b) = @_; return key_place($b, 0) }
sub key_bytes { my ($b) = @_; return field($b, 'key_width') }
sub nruns { my ($b) = @_; return (get($b, 12, 'S<') - keys_at($b)) / (key_bytes($b) + 2) }
sub end_place { my ($b, $r) = @_; return keys_at($b) + nruns($b) * key_bytes($b) + 2 * $r }
sub run_end { my ($b, $r) = @_; return get($b, end_place($b, $r), 'S<') }
sub set_end { my ($b, $r, $end) = @_; put($b, end_place($b, $r), 'S<', $end) }
# The place of row i
sub short_place { my ($b, $i) = @_; return SPECIAL - 6 * ($i + 1) }
sub move { my ($b, $at, $by) = @_; put($b, $at, 'S<', get($b, $at, 'S<') + $by) }

sub swap
{
	my ($b, $one, $other, $n) = @_;
	my ($x, $y) = map { substr($bytes, $b * PAGE + $_, $n) } ($one, $other);
	substr($bytes, $b * PAGE + $one, $n) = $y;
	substr($bytes, $b * PAGE + $other, $n) = $x;
}

# ---- the damages: name => [what it does, what the checker says, may scans be wrong?] ----

my $ends = qr/ends of runs and number of rows differ/;
my $order = qr/a run has no entries|keys of runs are out of order|entries are out of order|lacks an entry/;
my %damages = (
	sound => [ sub { }, undef ],
	last_end_more => [ sub { my $b = leaf(5); set_end($b, nruns($b) - 1, run_end($b, nruns($b) - 1) + 1) }, $ends ],
	last_end_less => [ sub { my $b = leaf(5); set_end($b, nruns($b) - 1, run_end($b, nruns($b) - 1) - 1) }, $ends ],
	last_end_huge => [ sub { my $b = leaf(5); set_end($b, nruns($b) - 1, 65535) }, $ends ],
	first_end_zero => [ sub { set_end(leaf(5), 0, 0) }, $order, 1 ],
	first_end_huge => [ sub { set_end(leaf(5), 0, 65535) }, $order, 1 ],
	ends_huge => [ sub { my $b = leaf(5); set_end($b, $_, 65535) for 0 .. nruns($b) - 2 }, $order, 1 ],
	ends_zero => [ sub { my $b = leaf(5); set_end($b, $_, 0) for 0 .. nruns($b) - 2 }, $order, 1 ],
	ends_reversed => [ sub { my $b = leaf(5); swap($b, end_place($b, 0), end_place($b, 1), 2) }, $order, 1 ],
	end_one_more => [ sub { my $b = leaf(5); set_end($b, 1, run_end($b, 1) + 1) }, $order, 1 ],
	keys_swapped => [ sub { my $b = leaf(5); swap($b, key_place($b, 0), key_place($b, 1), key_bytes($b)) }, $order, 1 ],
	key_twice => [
		sub { my $b = leaf(5); substr($bytes, $b * PAGE + key_place($b, 1), key_bytes($b)) =
			substr($bytes, $b * PAGE + key_place($b, 0), key_bytes($b)) }, $order, 1 ],
	rows_swapped => [ sub { my $b = leaf(5); swap($b, short_place($b, 2), short_place($b, 3), 6) }, $order, 1 ],
	row_zero => [ sub { my $b = leaf(5); put($b, short_place($b, 2), 'S<', 0) }, qr/no possible row|out of order/, 1 ],
	row_order_bit => [ sub { my $b = leaf(5); put($b, short_place($b, 2), 'S<', get($b, short_place($b, 2), 'S<') ^ 0x4000) },
		qr/out of order|null key/, 1 ],
	lower_less => [ sub { my $b = leaf(5); move($b, 12, -(key_bytes($b) + 2)) }, $ends ],
	lower_odd => [ sub { move(leaf(5), 12, -2) }, $ends ],
	lower_none => [ sub { my $b = leaf(5); put($b, 12, 'S<', keys_at($b)) }, $ends ],
	lower_before => [ sub { my $b = leaf(5); put($b, 12, 'S<', keys_at($b) - 2) }, qr/free space|invalid page/ ],
	upper_less => [ sub { move(leaf(5), 14, -6) }, $ends ],
	upper_more => [ sub { move(leaf(5), 14, 6) }, $ends ],
	upper_none => [ sub { put(leaf(5), 14, 'S<', SPECIAL) }, $ends ],
	said_plain => [ sub { set_field(leaf(5), 'row_width', 8) }, qr/numbers of keys/ ],
	plain_said_runs => [ sub { set_field(root(), 'row_width', 6) }, qr/widths/ ],
	deleted_flag => [ sub { set_field(leaf(5), 'flags', 8) }, qr/deleted|leads to|no tree page/ ]);

sub fuzz
{
	# They are looked up in pages that are sound.
	my @leaves = map { leaf($_) } 0 .. 7;

	gpb_flip_bits(4, sub {
		my $block = rand() < 0.6 ? $leaves[ int(rand(8)) ] : int(rand(blocks()));
		my $lower = get($block, 12, 'S<');
		my $in = rand();
		my $at = $in < 0.5 ? int(rand(PAGE)) : $in < 0.8 ? $lower - 1 - int(rand(64)) : SPECIAL + int(rand(PAGE - SPECIAL));
		return ($block, $at < 0 || $at >= PAGE ? 0 : $at);
	});
}
$damages{"fuzz_$_"} = [ \&fuzz, qr/^$|^XX002: /, 1 ] for 1 .. $ENV{GPB_FUZZ} // 6;

# width => type of the key, expression for the key of number n, a key in the middle
my %widths = (
	w4 => [ 'int4', 'n', '60000' ],
	w8 => [ 'int8', 'n', '60000' ],
	w16 => [ 'uuid', "lpad(to_hex(n), 32, '0')::uuid", "lpad(to_hex(60000), 32, '0')::uuid" ]);

# ---- the tables ----

my $node = gpb_damage_node(
	[ [qw(index index_only bitmap cpu device)], [
		q{SELECT count(*) FROM $t WHERE k >= $lo},
		q{SELECT count(*) FROM $t WHERE k < $lo},
		q{SELECT count(*) FROM $t WHERE k = $lo},
		q{SELECT md5(string_agg(k::text || n, ',' ORDER BY k)) FROM (SELECT k, count(*) n FROM $t WHERE k >= $lo GROUP BY k) q} ] ],
	[ [qw(index index_only)], [
		q{SELECT md5(string_agg(k::text, ',')) FROM (SELECT k FROM $t WHERE k >= $lo ORDER BY k) q},
		q{SELECT md5(string_agg(k::text, ',')) FROM (SELECT k FROM $t WHERE k IS NOT NULL ORDER BY k DESC) q} ] ]);

my %tables;
for my $width (keys %widths)
{
	my ($type, $key, $lo) = @{ $widths{$width} };

	for my $name (keys %damages)
	{
		my $table = "${width}_$name";
		my ($harm, $says, $may_be_wrong) = @{ $damages{$name} };

		# New keys between those that there are fill the leaf, and split it.
		$tables{$table} = { like => "${width}_sound", lo => $lo, harm => $harm, says => $says, may_be_wrong => $may_be_wrong,
			grows => "INSERT INTO $table SELECT 0, $key FROM generate_series(30001, 60000, 9) n;", create => <<"SQL" };
CREATE TABLE $table (i int, k $type);
INSERT INTO $table SELECT i, $key FROM (SELECT i, i / 30 * 1000 n FROM generate_series(1, 4000) i) i;
CREATE INDEX ${table}_k ON $table USING gpubtree (k) WITH (fillfactor = 20);
SQL
	}
}
gpb_test_damages($node, sub { field(leaf(5), 'row_width') == 6 && nruns(leaf(5)) > 3 }, %tables);

# What was done to damaged leaves can be done again.
$node->stop('immediate');
$node->start;
$node->stop;
gpb_nothing_crashed($node);
done_testing();
