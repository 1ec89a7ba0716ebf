# Tables and conditions for indexes whose readers skip: what 126 and 130 share.  The order of the
# choices is part of what a seed leads to.
package GpubtreeSkips;

use strict;
use warnings;
use GpubtreeRandom;
use Exporter 'import';

our @EXPORT = qw(skip_types skip_columns value random_value literal narrow_range later_condition conditions);

# value() of a column for an SQL expression of a number from 0 to "values" - 1
my %type = (
	int4 => sub { my ($column, $number) = @_; "((($number) * $column->{step})::int8 - $column->{from})::int4" },
	int2 => sub { my ($column, $number) = @_; "((($number) * $column->{step}) % 30000)::int2" },
	bool => sub { "(($_[1]) % 2 = 1)" },
	date => sub { my ($column, $number) = @_; "(date '2020-01-01' + ($number)::int4 * $column->{step})" },
	timestamptz => sub { "(timestamptz '2024-01-01' + ($_[1]) * interval '7 minutes')" },
	'numeric(12, 2)' => sub { my ($column, $number) = @_; "((($number) * $column->{step} - 100) / 8.0)::numeric(12, 2)" });
my @shapes = ([qw(int4 timestamptz)], [qw(int4 date)], [qw(date int4)], [qw(int2 int4)], [qw(bool int4)],
	[qw(int2 int2 int4)], [qw(bool int2 timestamptz)], [qw(int4 int4 int4)], [qw(date bool int2)],
	[ 'numeric(12, 2)', 'int4' ], [ 'int4', 'numeric(12, 2)' ]);

# The types of an index's columns
sub skip_types { return @{ pick(@shapes) } }

# Columns of these types: hashes with name, type, order, and what value() makes of a number.  All but
# the last have few values, or up to "most".
sub skip_columns
{
	my ($most, @types) = @_;
	my $i = 0;

	return map { {
		name => 'k' . $i++,
		type => $_,
		order => gpb_index_order(),
		null => pick(0, 0, 0.05),
		step => pick(1, 1, 100),
		from => pick(0, 100, 2147483648),
		values => $i < @types ? pick(1, 3, 3, 10, $most) : pick(20, 1000, 1000) } } @types;
}

sub value { my ($column, $number) = @_; return $type{ $column->{type} }->($column, $number) }

# A random value, or NULL, for a row
sub random_value
{
	my ($column) = @_;
	return "CASE WHEN random() >= $column->{null} THEN " . value($column, "floor(random() * $column->{values})::int4") . ' END';
}

sub number { return between(0, $_[0]->{values}) }
sub literal { my ($column) = @_; return value($column, number($column)) . "::$column->{type}" }

sub narrow_range
{
	my ($column) = @_;
	my $from = number($column);
	my $to = $from + int($column->{values} * pick(0, 0.01, 0.1));

	return "$column->{name} = " . literal($column) if $column->{type} eq 'bool';
	return "$column->{name} BETWEEN " . value($column, $from) . ' AND ' . value($column, $to);
}

sub later_condition
{
	my ($column) = @_;

	return pick(
		sub { narrow_range($column) },
		sub { narrow_range($column) },
		sub { "$column->{name} = " . literal($column) },
		sub { "$column->{name} " . pick('>', '<=') . ' ' . literal($column) },
		sub { "$column->{name} IS NULL" },
		sub { "$column->{name} = ANY (ARRAY[" . join(', ', map { literal($column) } 0 .. pick(1, 3, 30)) . '])' })->();
}

# Conditions on the last column, and on some of those before it
sub conditions
{
	my @columns = @_;
	my @conditions = later_condition($columns[-1]);

	foreach my $column (@columns[ 0 .. $#columns - 1 ])
	{
		push @conditions, pick(
			sub { "$column->{name} " . pick('>', '>=', '<', '<=') . ' ' . literal($column) },
			sub { "$column->{name} IS NOT NULL" },
			sub { later_condition($column) })->() if chance(0.35);
	}
	return @conditions;
}

1;
