# Estimates read the ends of an index on a standby too, as those over a built-in B-tree do, and
# a damaged leaf at the end is an error only for conditions that fall there.
use GpubtreeTest;

my $primary = gpb_node('primary', allows_streaming => 1, damages => 1,
	settings => "autovacuum = off\n");

$primary->safe_psql('postgres', <<'SQL');
CREATE FUNCTION estimate(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
CREATE TABLE ours AS SELECT n::bigint AS k FROM generate_series(1, 20000) n;
CREATE TABLE theirs AS SELECT * FROM ours;
CREATE INDEX ours_k ON ours USING gpubtree (k);
CREATE INDEX theirs_k ON theirs (k);
VACUUM ANALYZE;
SQL
my $standby = gpb_standby($primary);

sub estimates
{
	my ($node, $condition, $level) = @_;

	$level //= 'READ COMMITTED';
	return map {
		$node->safe_psql('postgres', "BEGIN ISOLATION LEVEL $level;"
			  . "SELECT estimate('SELECT * FROM $_ WHERE $condition'); COMMIT")
	} qw(ours theirs);
}

for my $table (qw(ours theirs))
{
	$primary->safe_psql('postgres',
		"INSERT INTO $table SELECT n FROM generate_series(20001, 22000) n");
}
$primary->wait_for_catchup($standby);
for my $level ('READ COMMITTED', 'REPEATABLE READ')
{
	my ($ours, $theirs) = estimates($standby, 'k > 20000', $level);
	cmp_ok($theirs, '>', 100, "standby, $level: PostgreSQL's estimate knows the new rows");
	is($ours, $theirs, 'ours is the same');
}
my ($ours, $theirs) = estimates($primary, 'k > 20000', 'SERIALIZABLE');
is($ours, $theirs, 'serializable, on the primary: the same');

# On a standby dead entries of the primary's hints may be visible to its snapshots.
for my $table (qw(ours theirs))
{
	$primary->safe_psql('postgres', "DELETE FROM $table WHERE k > 21000");
}
$primary->wait_for_catchup($standby);
($ours, $theirs) = estimates($standby, 'k > 20000');
is($ours, $theirs, 'rows deleted at the end: the same');
$standby->promote;
($ours, $theirs) = estimates($standby, 'k > 20000');
is($ours, $theirs, 'after promotion: the same');
$standby->stop;

# The last leaf of the index becomes unreadable.
my $path = $primary->data_dir . '/'
  . $primary->safe_psql('postgres', "SELECT pg_relation_filepath('ours_k')");
$primary->stop;
my $blocks = (-s $path) / 8192;
open(my $file, '+<', $path) or die "$path: $!";
binmode $file;
seek($file, ($blocks - 1) * 8192 + 12, 0);	# pd_lower and pd_upper
print $file pack('vv', 8191, 3);
close $file;
$primary->start;
my ($status, $out, $err) = $primary->psql('postgres',
	"SELECT estimate('SELECT * FROM ours WHERE k > 20000')",
	extra_params => [ '-v', 'VERBOSITY=verbose' ]);
isnt($status, 0, 'a damaged leaf at the end is noticed by an estimate that reads it');
like($err, qr/XX00[12]/, 'as corruption');
is($primary->safe_psql('postgres', "SELECT estimate('SELECT * FROM ours WHERE k = 5')"),
	'1', 'a look-up of one key reads no ends');
is($primary->safe_psql('postgres', "SELECT estimate('SELECT * FROM ours WHERE k < 10000') > 5000"),
	't', 'nor does a condition in the middle');

done_testing();
