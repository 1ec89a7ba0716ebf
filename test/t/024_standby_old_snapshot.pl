# On a standby a snapshot that is older than an index, of whatever kind of build, misses no row: it
# is planned without the index, and where a cached plan has the index already it gets an error that
# asks for another try.  Later snapshots use the index, whatever runs on the primary meanwhile.
#
# Guards: who built the index, in the metapage (build.c, set_builder() in vacuum.c, NEW_ROOT);
# gpb_may_lack_rows(); leave_out_indexes(); gpb_require_snapshot() in scans and nodes.
use GpubtreeTest;

my @built = qw(created created_beside reindexed reindexed_beside);
my $primary = gpb_node('primary', allows_streaming => 1, settings => "autovacuum = off\n");

# The tables' only pages are far from full, so that they are not pruned: that would be a conflict of
# the tables' own.  Each function has a plan of its own, which the session keeps.
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE other (x int);
CREATE TABLE noise (x int);
CREATE TABLE void (k bigint, v int);
CREATE FUNCTION fetched(c refcursor) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	FETCH c INTO n;
	RETURN n;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	lines text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		lines := lines || line;
	END LOOP;
	RETURN lines;
END $$;
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	EXECUTE query INTO found;
	RETURN found;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SQL
for my $table (@built)
{
	$primary->safe_psql('postgres', <<"SQL");
CREATE TABLE $table (k bigint, v int);
INSERT INTO $table SELECT i, 1 FROM generate_series(1, 100) i;
SQL
	$primary->safe_psql('postgres', "CREATE INDEX ${table}_k ON $table USING gpubtree (k)")
	  if $table =~ /reindexed/;
}
my %ways = (
	aggregate => 'SET enable_indexscan = off SET enable_indexonlyscan = off '
	  . 'SET enable_bitmapscan = off',
	scan => 'SET gpubtree.enable_aggregate = off SET enable_bitmapscan = off',
	bitmap => 'SET gpubtree.enable_aggregate = off SET enable_indexscan = off '
	  . 'SET enable_indexonlyscan = off');
for my $way (keys %ways)
{
	$primary->safe_psql('postgres', <<"SQL");
CREATE FUNCTION by_$way() RETURNS bigint STABLE LANGUAGE plpgsql
SET enable_seqscan = off $ways{$way} AS \$\$
BEGIN
	RETURN (SELECT count(*) FROM created_beside WHERE k > 0);
END \$\$;
SQL
}
$primary->safe_psql('postgres', 'VACUUM ANALYZE');
my $standby = gpb_standby($primary, settings => <<'CONF');
hot_standby_feedback = off
max_standby_streaming_delay = -1
enable_seqscan = off
CONF
$primary->wait_for_catchup($standby);
gpb_wait_for_service($standby);

# Snapshots on the standby: of a transaction, and of cursors that are read later.
my $old = $standby->background_psql('postgres');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM other');
my $cursors = $standby->background_psql('postgres');
$cursors->query_safe('BEGIN');
$cursors->query_safe("DECLARE $_ CURSOR FOR SELECT by_$_() FROM generate_series(1, 2)")
  for (sort keys %ways);

# Rows are deleted; then another transaction begins to write, and does not end.
$primary->safe_psql('postgres', "DELETE FROM $_ WHERE k <= 50") for (@built);
my $writer = $primary->background_psql('postgres');
$writer->query_safe('BEGIN; INSERT INTO noise VALUES (1)');
$primary->safe_psql('postgres', $_)
  for ('CREATE INDEX created_k ON created USING gpubtree (k)',
	'CREATE INDEX CONCURRENTLY created_beside_k ON created_beside USING gpubtree (k)',
	'REINDEX INDEX reindexed_k',
	'REINDEX INDEX CONCURRENTLY reindexed_beside_k',
	'CREATE INDEX void_k ON void USING gpubtree (k)');
# One root grows.
$primary->safe_psql('postgres', 'INSERT INTO created SELECT i, 1 FROM generate_series(1001, 3000) i');
$primary->wait_for_catchup($standby);

for my $table (@built)
{
	my $query = "SELECT sum(v) FROM $table WHERE k BETWEEN 1 AND 1000";
	my $key = "SELECT k FROM $table WHERE k = 7";

	is($old->query_safe($query), '100', "$table: the old snapshot sees all rows");
	is($old->query_safe($key), '7', "$table: by a key too");
	unlike($old->query_safe("SELECT plan('$query')"), qr/${table}_k/, "$table: without the index");
	is($old->query_safe("SELECT outcome('SELECT gpubtree_check(''${table}_k'', true)')"),
		'40001', "$table: a check with that snapshot is refused");
	for my $engine (qw(cpu device inner))
	{
		my $probe = "SELECT matches FROM gpubtree_probe(''${table}_k'', "
		  . "ARRAY[7, 70]::bigint[], ''$engine'')";

		is($old->query_safe("SELECT outcome('$probe')"), '40001', "$table: so is a batch, $engine");
	}
	is($standby->safe_psql('postgres', $query), '50', "$table: a new snapshot sees what is left");
	like($standby->safe_psql('postgres', "SELECT plan('$query')"), qr/${table}_k/,
		"$table: and uses the index");
}
like($old->query_safe("SELECT plan('SELECT k FROM void WHERE k = 7')"), qr/void_k/,
	'the index of an empty table lacks nothing');

# Each way has a plan with the index, of a new snapshot, when the cursor comes to it.
for my $way (sort keys %ways)
{
	is($cursors->query_safe("SELECT by_$way()"), '50', "$way: a new snapshot");
	is($cursors->query_safe("SELECT fetched('$way')"), '40001', "$way: the plan, and an old one");
}

# A row that comes while CREATE INDEX CONCURRENTLY builds, and goes before it adds such rows, is not
# in the index.  This snapshot is of a moment between: the build has ended, and the row is there.
my $holder = $primary->background_psql('postgres');
$holder->query_safe('SELECT pg_advisory_lock(0, 7001)');
my $builder = $primary->background_psql('postgres');
$builder->query_until(qr/begins/, <<'SQL');
SET gpubtree.hold_point = 'build-before-load';
\echo begins
CREATE INDEX CONCURRENTLY other_x ON other USING gpubtree (x);
SQL
gpb_wait_for_hold($primary);
$primary->safe_psql('postgres', 'INSERT INTO other SELECT 2 FROM generate_series(1, 10)');
my $deleter = $primary->background_psql('postgres');
$deleter->query_safe('BEGIN; LOCK TABLE other IN ROW EXCLUSIVE MODE');
$holder->query_safe('SELECT pg_advisory_unlock(0, 7001)');
$primary->poll_query_until('postgres', <<'SQL') or die 'the build does not wait for the deleter';
SELECT phase = 'waiting for writers before validation' FROM pg_stat_progress_create_index
SQL
$primary->wait_for_catchup($standby);
my $between = $standby->background_psql('postgres');
my $seen = 'SELECT count(*) FROM other WHERE x = 2';
$between->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($between->query_safe($seen), '10', 'before the rows are deleted');
$deleter->query_safe('DELETE FROM other WHERE x = 2; COMMIT');
$primary->poll_query_until('postgres', <<'SQL') or die 'the index does not become valid';
SELECT indisvalid FROM pg_index WHERE indexrelid = 'other_x'::regclass
SQL
$primary->wait_for_catchup($standby);
is($between->query_safe($seen), '10', 'the snapshot between sees them still');
like($standby->safe_psql('postgres', "SELECT plan('$seen')"), qr/other_x/, 'a new one has the index');
is($standby->safe_psql('postgres', $seen), '0', 'and does not see them');

# A prepared plan without the index does not outlive the old snapshot.
$old->query_safe('PREPARE q AS SELECT sum(v) FROM reindexed WHERE k BETWEEN 1 AND 1000');
is($old->query_safe('EXECUTE q'), '100', 'prepared under the old snapshot');
$old->query_safe('COMMIT');
is($old->query_safe('EXECUTE q'), '50', 'executed with a new one');
like($old->query_safe('EXPLAIN (COSTS OFF) EXECUTE q'), qr/reindexed_k/, 'with the index');

$_->quit for ($old, $cursors, $writer, $holder, $builder, $deleter, $between);

done_testing();
