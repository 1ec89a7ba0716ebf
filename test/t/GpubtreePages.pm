# The pages of an index file, as src/layout.h describes them, for tests that damage them.
#
# $bytes holds the file: tests read it, change it with the functions below, and write it back.
package GpubtreePages;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw($bytes PAGE HEADER SPECIAL NONE get put field set_field blocks root counted
  set_counted entries key_place row_place child page_at leaf inner zero write_pages);

use constant { PAGE => 8192, HEADER => 24, SPECIAL => 8192 - 48, NONE => 0xFFFFFFFF };
my %special = (    # field => [offset in the special space, pack template]
	high_key => [ 0, 'Q<' ],
	high_tie => [ 8, 'Q<' ],
	low_key => [ 16, 'Q<' ],
	low_tie => [ 24, 'Q<' ],
	left => [ 32, 'L<' ],
	right => [ 36, 'L<' ],
	level => [ 40, 'S<' ],
	flags => [ 42, 'S<' ],
	key_width => [ 44, 'C' ],
	row_width => [ 45, 'C' ],
	page_id => [ 46, 'S<' ]);
my %size = ('Q<' => 8, 'L<' => 4, 'S<' => 2, 'C' => 1);

our $bytes;

# A number in a block, at an offset, with a pack template
sub get
{
	my ($block, $offset, $template) = @_;
	return unpack($template, substr($bytes, $block * PAGE + $offset, $size{$template}));
}

sub put
{
	my ($block, $offset, $template, $value) = @_;
	substr($bytes, $block * PAGE + $offset, $size{$template}) = pack($template, $value);
}

# A field of the special space
sub field
{
	my ($block, $name) = @_;
	return get($block, SPECIAL + $special{$name}[0], $special{$name}[1]);
}

sub set_field
{
	my ($block, $name, $value) = @_;
	put($block, SPECIAL + $special{$name}[0], $special{$name}[1], $value);
}

sub blocks { return length($bytes) / PAGE }
sub root { return get(0, HEADER + 8, 'L<') }
# The codes of the dictionary that the metapage counts
sub counted { return get(0, HEADER + 20, 'L<') >> 8 }
sub set_counted { put(0, HEADER + 20, 'L<', $_[0] << 8 | get(0, HEADER + 20, 'C')) }
sub key_width { my ($block) = @_; return field($block, 'key_width') || 8 }
sub key_place
{
	my ($block, $i) = @_;
	my $width = key_width($block);
	# before keys of 16 bytes come the upper halves of the high key and of the low bound
	return HEADER + ($width == 16 ? 16 : 0) + $width * $i;
}
sub entries { my ($block) = @_; return (get($block, 12, 'S<') - key_place($block, 0)) / key_width($block) }
sub row_place { my ($block, $i) = @_; return SPECIAL - ($i + 1) * field($block, 'row_width') }

sub child
{
	my ($block, $i) = @_;
	return get($block, row_place($block, $i) + 8, 'L<');
}

# The n-th page of a level, from the left
sub page_at
{
	my ($level, $n) = @_;
	my $block = root();

	$block = child($block, 0) while field($block, 'level') > $level;
	$block = field($block, 'right') for 1 .. $n;
	return $block;
}

sub leaf { return page_at(0, $_[0]) }
sub inner { return page_at(1, $_[0]) }
sub zero { substr($bytes, $_[0] * PAGE, PAGE) = "\0" x PAGE }

# Put $bytes into a file in the place of what it has.
sub write_pages
{
	my ($file) = @_;

	open(my $handle, '>:raw', $file) or die "$file: $!";
	print $handle $bytes;
	close($handle) or die "$file: $!";
	return;
}

1;
