# The examples of README.md and of doc/ run as printed, one after the other in a fresh database for
# each file, and EXPLAIN prints what the text shows.
#
# An example is a fenced block marked sql.  If its last statement is an EXPLAIN, a fenced block
# without a mark that follows it at once is the output.  There "…" stands for any text, a line "…"
# for any lines, every number for any number (figures are of other machines and larger tables), and
# the engine for any engine.  What later servers print otherwise is taken out (test/normalize), or is in
# test/alternates.
#
# Under the manual's heading "Queries" every query is an example of what a node of ours does.
use FindBin;
use GpubtreeTest;

my $root = "$FindBin::RealBin/../..";
my $node = gpb_node('main', databases => 1, settings => <<'CONF');
autovacuum = off
gpubtree.enable_scan = on
timezone = 'UTC'
max_parallel_workers_per_gather = 0
# as servers have it by default; PostgreSQL's test servers have minimal, where no page is settled
wal_level = replica
CONF

# The examples of a file: [line, statements, output or undef, section, its part].
sub examples
{
	my ($file) = @_;
	my @examples;
	my ($mark, $start, $text);
	my $before = '';
	my ($section, $part) = ('', '');

	open(my $handle, '<', $file) or die "$file: $!";
	while (my $line = <$handle>)
	{
		if (!defined $mark)
		{
			if ($line =~ /^\s*```(\w*)$/)
			{
				($mark, $start, $text) = ($1, $., '');
			}
			elsif ($line =~ /\S/)
			{
				$section = $1 if $line =~ /^## (.*)/;
				$part = $1 if $line =~ /^##+ (.*)/;
				$before = '';
			}
		}
		elsif ($line =~ /^\s*```$/)
		{
			push @examples, [ $start, $text, undef, $section, $part ] if $mark eq 'sql';
			$examples[-1][2] = $text if $mark eq '' && $before eq 'sql';
			$before = $mark;
			undef $mark;
		}
		else
		{
			$text .= $line;
		}
	}
	die "$file: a block that begins in line $start does not end" if defined $mark;
	return @examples;
}

# A line as it is compared: all numbers, and all engines, are alike.
sub comparable
{
	my ($line) = @_;

	$line =~ s/^ //;
	$line =~ s/\s+$//;
	$line =~ s/\d[\d,]*(\.\d+)?/#/g;
	$line =~ s/\bEngine: .*/Engine: #/;
	return $line;
}

# The output of an EXPLAIN as lines, without what differs between servers: the text shows what
# PostgreSQL 15 prints.
sub plan_lines
{
	my ($plan) = @_;

	if ($node->pg_version >= 16)
	{
		my $file = PostgreSQL::Test::Utils::tempdir() . '/plan';

		append_to_file($file, $plan);
		$plan = qx(sh '$root/test/normalize' <'$file');
		die 'test/normalize failed' if $? != 0;
	}
	return grep { /\S/ && !/^(Planning|Execution) Time:/ } split(/\n/, $plan);
}

# Do the lines printed match those of the text?
sub matches
{
	my ($expected, $printed) = @_;
	my $pattern = '';

	for my $line (@$expected)
	{
		if ($line eq '…')
		{
			$pattern .= '(?:.*\n)*?';
			next;
		}
		$pattern .= join('.*', map { quotemeta } split(/…/, $line, -1)) . '\n';
	}
	return join('', map { "$_\n" } @$printed) =~ /\A$pattern\z/;
}

# Does test/alternates have the difference between the lines, under the name FILE#PART?
sub is_alternate
{
	my ($name, $expected, $printed) = @_;
	my $directory = PostgreSQL::Test::Utils::tempdir();

	return 0 if $node->pg_version < 16;
	$name =~ tr/ /-/;
	append_to_file("$directory/$name.out", join('', map { "$_\n" } @$expected));
	append_to_file("$directory/printed", join('', map { "$_\n" } @$printed));
	local $ENV{GPB_SERVER} = $node->pg_version->major;
	qx(sh '$root/test/normalized/diff' '$directory/$name.out' '$directory/printed');
	return $? == 0;
}

my $nexamples = 0;
my $noutputs = 0;

gpb_wait_for_service($node);
$node->safe_psql('postgres', 'DROP EXTENSION gpubtree');
for my $file ('README.md', glob("$root/doc/*.md"))
{
	my $path = $file =~ m{/} ? $file : "$root/$file";
	my ($name) = $path =~ m{([^/]+)$};
	my ($database) = $name =~ /^([\w-]+)/;

	$node->safe_psql('postgres', qq{CREATE DATABASE "$database"});
	# The manual's "CREATE EXTENSION" is its first example; other texts but README suppose it.
	$node->safe_psql($database, 'CREATE EXTENSION gpubtree')
	  unless $name eq 'manual.md' || $name eq 'README.md';
	for my $example (examples($path))
	{
		my ($line, $statements, $output, $section, $part) = @$example;
		my ($out, $err) = ('', '');

		$node->psql($database, $statements, stdout => \$out, stderr => \$err);
		$nexamples++;
		unlike($err, qr/ERROR|FATAL/, "$name line $line runs");
		if ($section eq 'Queries')
		{
			for my $query (split(/;[^\n]*\n/, $statements))
			{
				next unless $query =~ /^\s*(SELECT|INSERT)/;
				next if $query =~ /^\s*INSERT.* FROM generate_series\(\d/s;	# fills a table
				like($node->safe_psql($database, "EXPLAIN $query"), qr/Custom Scan \(Gpubtree/,
					"$name line $line: a node of ours is in the plan of $query");
			}
		}
		next unless defined $output && $statements =~ /^EXPLAIN\b[^;]*;\s*\z/m;

		my @expected = map { comparable($_) } plan_lines($output);
		my @printed = map { comparable(" $_") } plan_lines($out);
		$noutputs++;
		ok(matches(\@expected, \@printed) || is_alternate(lc "$name#$part", \@expected, \@printed),
			"$name line $line prints what is shown")
		  or diag("shown:\n", map({ "$_\n" } @expected), "printed:\n", $out);
	}
}
cmp_ok($nexamples, '>=', 15, 'examples were found');
cmp_ok($noutputs, '>=', 6, 'outputs were compared');

done_testing();
