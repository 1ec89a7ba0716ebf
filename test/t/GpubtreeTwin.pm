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
use PostgreSQL::Test::Utils;
use Test::More;
our @ISA = ('PostgreSQL::Test::Cluster');

# Options of sessions: statistics are of whole tables, not of samples.
my $options = join(' ', map { "-c $_" } 'session_preload_libraries=auto_explain,gpubtree_test', 'default_statistics_target=1000',
	map { "auto_explain.log_$_" } qw(min_duration=0 nested_statements=on verbose=on level=info));

my %count;

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

		$method->($self->{twin}, @arguments);
		return $method->($self, @arguments);
	};
}

# No writers beside a script
sub pgbench { return pass('no pgbench') }

sub psql
{
	my ($self, $database, $sql, %options) = @_;
	local $ENV{PGOPTIONS} = join(' ', $options, $ENV{PGOPTIONS} // ());
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
	local $ENV{PGOPTIONS} = join(' ', $options, $ENV{PGOPTIONS} // ());
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

# The messages of a session, without what no two servers have in common.  Catalogs are as large as what
# was made before; and plpgsql evaluates simple expressions itself once they are known to be such.
sub messages
{
	my ($text) = @_;

	$text =~ s/^psql:<stdin>:\d+: |^LOCATION:  .*\n?|duration: [\d.]+ ms //gm;
	return grep { !/^INFO.* plan:\n(?:.*Scan.* on pg_catalog\.|.*\nResult  \(cost=0\.00)/s } split(/^(?=[A-Z]+:  [0-9A-Z]{5}: )/m, "$text\n");
}

# How two texts differ: their errors, more than their costs, or their costs; these, summed up in
# another order, may be rounded in another way.
sub difference
{
	my ($old, $new) = @_;

	return 'errors' if join('', $old =~ /^ERROR.*/gm) ne join('', $new =~ /^ERROR.*/gm);
	my @costs = map { [ /(?:cost=|\.\.)(\d+\.\d\d)/g ] } $old, $new;
	s/ *\(cost=\S+ rows=\d+ width=\d+\)//g foreach ($old, $new);
	return 'rows or plans' if $old ne $new;
	return (grep { abs($costs[0][$_] - $costs[1][$_]) > 0.015 } 0 .. $#{ $costs[0] }) ? 'costs' : 'roundings';
}

# Count statements that have ended, with a plan or an error, by the nodes of ours that they have.
sub count_statements
{
	foreach my $message (@_)
	{
		my %nodes = map { $_ => 1 } $message =~ /(Gpubtree\w+(?=\))|Bitmap Index Scan|Index Only Scan|Index Scan)/g;
		my ($error) = $message =~ /^ERROR:  (?!25P02)(\w{5}):/;

		$nodes{"error $error"} = 1 if defined $error;
		$count{%nodes ? 'statements' : 'statements without'}++ if $message =~ /^INFO.* plan:\n/ || defined $error;
		$count{"with $_"}++ foreach keys %nodes;
	}
	return;
}

# Compare what both say, and return our messages without the plans.
sub compare
{
	my ($sql, $old, $new, $old_said, $said) = @_;
	my @old = messages($old_said);
	my @new = messages($said);
	my $rest = join('', grep { !/^INFO.* plan:\n/ } @new) =~ s/\n\z//r;

	return $rest if "$old_said$said" =~ /statement timeout/ || $sql =~ /pg_locks|pg_stat|_pid\(\)|_lsn|clock_time|gpubtree_mirrors|now\(\)|filenode/;
	$count{asked}++;
	count_statements(@new);
	s/Time"?: \K[\d.]+|time=\K[\d.]+|[\d.]+(?= ms)//g foreach ($old, $new);
	($old, $new) = (join("\n", $old, @old), join("\n", $new, @new));
	return $rest if $old eq $new;

	my $kind = difference($old, $new);
	my $file = "$ENV{GPB_COMPARED}/$$";
	return $rest if $count{"DIFFERENT $kind"}++ >= 20;
	append_to_file("$file.old", $old);
	append_to_file("$file.new", $new);
	append_to_file("$file.differences", "======== $kind: $0, seed $ENV{GPB_SEED}\n$sql\n" . `diff -U4 $file.old $file.new`);
	unlink("$file.old", "$file.new");
	return $rest;
}

END
{
	append_to_file("$ENV{GPB_COMPARED}/$$.counts", join('', map { "$count{$_}\t$_\n" } sort keys %count)) if %count;
}

1;
