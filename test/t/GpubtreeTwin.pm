# A server of this build, and its twin of another: what a script does to the one is done to the other,
# and what they say is compared: rows, errors with their codes, and the plans of all statements, nested
# ones too, which auto_explain sends to the session.
#
# gpb_node() makes one where GPB_OLD names the other build's installation (the folder of its bin).  Then
# there are no writers beside a script: two servers would not be alike.
# GPB_COMPARED names a folder, which gets differences (PID.differences) and counts (PID.counts).
package GpubtreeTwin;

use strict;
use warnings;
use PostgreSQL::Test::BackgroundPsql;
use PostgreSQL::Test::Cluster;
use Test::More;
our @ISA = ('PostgreSQL::Test::Cluster');

# of sessions whose messages are compared
my $explains = '-c auto_explain.log_min_duration=0';

my %count;
my %shown;

sub new
{
	my ($class, $name, %options) = @_;
	my $self = PostgreSQL::Test::Cluster::new($class, $name, %options);

	$self->{twin} = PostgreSQL::Test::Cluster->new("$name-old", install_path => $ENV{GPB_OLD});
	return $self;
}

foreach my $name (qw(init append_conf start stop restart reload poll_query_until))
{
	my $method = PostgreSQL::Test::Cluster->can($name);

	no strict 'refs';
	*$name = sub {
		my ($self, @arguments) = @_;

		foreach my $node ($self->{twin}, $self)
		{
			$node->SUPER::append_conf('postgresql.conf', <<'CONF') if $name eq 'start';
shared_preload_libraries = 'gpubtree, auto_explain'
auto_explain.log_nested_statements = on
auto_explain.log_verbose = on
auto_explain.log_level = info
default_statistics_target = 1000
CONF
		}
		$method->($self->{twin}, @arguments);
		return $method->($self, @arguments);
	};
}

# No writers beside a script
sub pgbench { return pass('no pgbench') }

sub psql
{
	my ($self, $database, $sql, %options) = @_;
	local $ENV{PGOPTIONS} = join(" ", $explains, $ENV{PGOPTIONS} // "");
	my @verbose = (extra_params => [ '-v', 'VERBOSITY=verbose', @{ $options{extra_params} // [] } ]);
	my (undef, $old, $old_said) = $self->{twin}->psql($database, $sql, on_error_stop => $options{on_error_stop} // 1, @verbose);
	my $out = $options{stdout} // \my $own_out;
	my $err = $options{stderr} // \my $own_err;
	my $status = $self->SUPER::psql($database, $sql, %options, @verbose, stdout => $out, stderr => $err);

	$$err = compare($sql, $old, $$out, $old_said, $$err);
	return wantarray ? ($status, $$out, $$err) : $status;
}

sub background_psql
{
	my ($self, @arguments) = @_;
	local $ENV{PGOPTIONS} = join(" ", $explains, $ENV{PGOPTIONS} // "");
	my ($session, $twin) = map { $_->PostgreSQL::Test::Cluster::background_psql(@arguments) } $self, $self->{twin};

	$_->query('\set VERBOSITY verbose') foreach $session, $twin;
	$session->{twin} = $twin;
	return $session;
}

# What a session is asked its twin is asked too.
{
	no warnings 'redefine';
	my $query = \&PostgreSQL::Test::BackgroundPsql::query;
	my $quit = \&PostgreSQL::Test::BackgroundPsql::quit;

	*PostgreSQL::Test::BackgroundPsql::query = sub {
		my ($self, $sql) = @_;
		my $twin = $self->{twin} or return $query->($self, $sql);
		my $before = $self->{stderr};

		($self->{stderr}, $twin->{stderr}) = ('', '');
		my $old = $query->($twin, $sql);
		my $out = $query->($self, $sql);
		$self->{stderr} = $before . compare($sql, $old, $out, $twin->{stderr}, $self->{stderr});
		return wantarray ? ($out, $self->{stderr} eq '' ? 0 : 1) : $out;
	};
	*PostgreSQL::Test::BackgroundPsql::quit = sub { my ($self) = @_; $quit->($self->{twin}) if $self->{twin}; return $quit->($self) };
}

# The messages of a session, without what no two servers have in common
sub messages
{
	my ($text) = @_;

	$text =~ s/^psql:<stdin>:\d+: //gm;
	$text =~ s/^LOCATION:  .*\n?//gm;
	$text =~ s/duration: [\d.]+ ms //g;
	# Catalogs are as large as what was made before; and plpgsql evaluates simple expressions itself once
	# they are known to be such.
	return grep { !/^INFO.* plan:\n(?:.*Scan.* on pg_catalog\.|.*\nResult  \(cost=0\.00)/s } split(/^(?=[A-Z]+:  [0-9A-Z]{5}: )/m, "$text\n");
}

sub without_costs { return $_[0] =~ s/ *\(cost=\S+ rows=\d+ width=\d+\)//gr }

# Count what is compared: statements that end with a plan or an error, by the nodes of ours that they have
sub count_statements
{
	foreach my $message (@_)
	{
		if ($message =~ /^INFO.* plan:\n/)
		{
			my %nodes = map { $_ => 1 } $message =~ /(Gpubtree\w+(?=\))|Bitmap Index Scan|Index Only Scan|Index Scan)/g;
			my @nodes = keys %nodes;

			$count{statements}++ if @nodes;
			$count{'statements without'}++ unless @nodes;
			$count{"with $_"}++ foreach @nodes;
		}
		$count{"errors $1"}++, $count{statements}++ if $message =~ /^ERROR:  (?!25P02)(\w{5}):/;
	}
	return;
}

# Compare what both say, and return our messages without the plans.
sub compare
{
	my ($sql, $old, $new, $old_said, $said) = @_;
	my @old = messages($old_said);
	my @new = messages($said);
	my $rest = join('', grep { !/^INFO.* plan:\n/ } @new);
	my $kind;

	chomp $rest;
	return $rest if "$old_said$said" =~ /statement timeout/ || $sql =~ /pg_locks|pg_stat|_pid\(\)|_lsn|clock_time|now\(\)|filenode/;
	$count{asked}++;
	count_statements(@new);
	s/Time"?: \K[\d.]+|time=\K[\d.]+|[\d.]+(?= ms)//g foreach ($old, $new);
	$kind = 'rows' if $old ne $new;
	$kind = 'costs' if $kind && without_costs($old) eq without_costs($new);
	if (($kind // 'costs') eq 'costs' && "@old" ne "@new")
	{
		my @differ = grep { ($old[$_] // '') ne ($new[$_] // '') } 0 .. ($#old > $#new ? $#old : $#new);
		my @shown = grep { without_costs($old[$_] // '') ne without_costs($new[$_] // '') } @differ;

		$kind = 'costs';
		@differ = @shown if @shown;
		$kind = (($old[ $shown[0] ] // '') . ($new[ $shown[0] ] // '')) =~ /^ERROR/m ? 'errors' : 'plans' if @shown;
		($old, $new) = map { my $of = $_; join('', map { $of->[$_] // "(nothing)\n" } @differ[ 0 .. ($#differ > 2 ? 2 : $#differ) ]) } \@old, \@new;
	}
	return $rest unless $kind;

	$count{"DIFFERENT $kind"}++;
	return $rest if $shown{$kind}++ >= 20;
	open(my $file, '>>', "$ENV{GPB_COMPARED}/$$.differences") or die;
	print $file "======== $kind: $0, seed ", $ENV{GPB_SEED} // 1, "\n", substr($sql, 0, 6000), "\n-------- old\n", substr($old, 0, 6000),
	  "\n-------- new\n", substr($new, 0, 6000), "\n";
	close $file;
	return $rest;
}

END
{
	if (%count && open(my $file, '>', "$ENV{GPB_COMPARED}/$$.counts"))
	{
		print $file map { "$count{$_}\t$_\n" } sort keys %count;
		close $file;
	}
}

1;
