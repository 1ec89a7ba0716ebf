# A partitioned table whose partitions are foreign tables, of one to three shards and beside local ones,
# answers queries bit by bit as one table with the same rows does, while shards return groups: no
# query of a kind that is meant to be sent has rows sent.  Shards are databases of one server.  Truth is
# computed without nodes, and sums of floats in it by states, which are exact.
#
# Then what is not the same everywhere: zones, rights, servers without the extension; what a shard
# returns that is not what it should; and errors, which name partition and server.
#
# Guards: exec/aggregate/aggregate_shard*.c
#
# GPB_SEED		see gpb_seed() in GpubtreeTest.pm
# GPB_ROUNDS	number of layouts (default 4)
use GpubtreeTest;
use GpubtreeRandom;
use GpubtreeShards;
use GpubtreeHold;

my $random = GpubtreeRandom->new(rounds => 4, settings => <<'CONF');
session_preload_libraries = 'auto_explain'
CONF
my $node = $random->node;
my @shards = qw(s1 s2 s3);
my $sharded = GpubtreeShards->new($node, map { $_ => $node } @shards);

foreach my $round (1 .. $random->rounds)
{
	my $nshards = ($round - 1) % 3 + 1;
	my $nlocal = pick(0, 1, 2);
	my $by = pick('RANGE (k)', 'RANGE (k)', 'HASH (u)');
	my $name = "$nshards shards, $nlocal local partitions by $by";
	my $ok = 1;

	$sharded->new_layout($nshards, $nlocal, $by);
	my $session = $sharded->session(pick('Europe/Berlin', 'UTC', 'Asia/Kolkata', 'Australia/Lord_Howe'), pick('ISO, DMY', 'SQL, DMY', 'German'), pick('postgres', 'postgres_verbose', 'sql_standard'));
	for (1 .. 25)
	{
		$ok = $sharded->compare($session, random_query(), $name) && $ok;
	}
	ok($ok, $name);
	$session->quit;
}
cmp_ok($sharded->{asked}, '>', 50, 'shards were asked');
# wide numerics' sums and variances of numerics are not said by words
cmp_ok($sharded->{by_core}, '<', $random->rounds * 3, "few queries' floats were added by core ($sharded->{by_core})");
cmp_ok($sharded->{sent}, '<', $sharded->{asked} / 10, "rows were sent for few queries ($sharded->{sent} of $sharded->{asked})");

# ---- particular cases ----

$sharded->new_layout(3, 1, 'RANGE (k)');

sub far { return $sharded->ask($_[0]) }

sub error_of
{
	my (undef, undef, $error) = $node->psql('postgres', $low_cost . $_[0]);
	return $error;
}

# The shard that a plan with this parameter asks, the others being pruned as it starts
my $generic = "SET plan_cache_mode = force_generic_plan;\nPREPARE q(timestamptz) AS SELECT count(*), sum(f) FROM far WHERE k >= \$1 AND k < \$1 + interval '1 day';\n";
like(far($generic . "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE q('2026-01-05');"), qr/Subplans Removed: 3.*Foreign Scan \(actual/s, 'a generic plan asks one shard');
is(far($generic . "EXECUTE q('2026-01-05');"), far("SELECT count(*), sum(f) FROM one WHERE k >= '2026-01-05' AND k < '2026-01-06'"), 'and has its answer');
like(far("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT x, (SELECT count(*) FROM far WHERE k >= x AND k < x + interval '1 day') FROM generate_series(timestamptz '2026-01-05', '2026-01-07', '1 day') x"),
	qr/Foreign Scan \(actual[^\n]*loops=3\).*Foreign Scan \(never executed/s, 'a correlated subquery prunes at each execution');

# One zone after another in one plan
my $days = "SELECT answer('SELECT date_trunc(''day'', k), count(*) FROM %s GROUP BY 1')";
is(far("SET plan_cache_mode = force_generic_plan; PREPARE d AS " . sprintf($days, 'far') . "; EXECUTE d; SET TimeZone = 'Asia/Kolkata'; EXECUTE d;"),
	far("SET plan_cache_mode = force_generic_plan; PREPARE d AS " . sprintf($days, 'one') . "; EXECUTE d; SET TimeZone = 'Asia/Kolkata'; EXECUTE d;"), 'a plan that is executed in another zone');

# Constants of FILTER and of groups reach a shard as they are here, and so do bins that are values.
my $styles = "SET DateStyle = 'SQL, DMY'; SET extra_float_digits = -14; ";
is(far($styles . "SELECT count(*) FILTER (WHERE k < '03/02/2026'), sum(n) FILTER (WHERE f4 <= 1.125), sum(n) FILTER (WHERE f < 111.125) FROM far"),
	far($styles . "SELECT count(*) FILTER (WHERE k < '03/02/2026'), sum(n) FILTER (WHERE f4 <= 1.125), sum(n) FILTER (WHERE f < 111.125) FROM one"), 'constants outside of WHERE');
is(far("SET DateStyle = German; SELECT count(DISTINCT date_trunc('day', k)), max(t) FROM far"),
	far("SET DateStyle = German; SELECT count(DISTINCT date_trunc('day', k)), max(t) FROM one"), 'distinct bins');

# What is evaluated here before there is a row raises no error that CASE keeps from being raised.
is(far("SELECT count(*) FROM far WHERE CASE WHEN n > 1000 THEN current_setting('not.there') = 'x' WHEN k < now() THEN true ELSE n > 3 END"),
	far("SELECT count(*) FROM one WHERE CASE WHEN n > 1000 THEN current_setting('not.there') = 'x' WHEN k < now() THEN true ELSE n > 3 END"), 'a branch of CASE that is not taken');
like(far("SELECT remote('SELECT count(*) FROM far WHERE CASE k WHEN now() THEN true WHEN transaction_timestamp() THEN true ELSE k < now() END')"),
	qr/\A(SELECT count[^\n]*CASE k WHEN \$1[^\n]*\n?){3}\z/, 'now() in CASE is sent');

# Nor where no row gets there: what may raise one is tried before it is sent.
my $tried = "SELECT count(*), sum(n) FROM far WHERE n > %d AND g || current_setting('test.none') = 'a'";
is(far(sprintf $tried, 1000), '0|', 'an error for rows that there are not');
like(far('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' . sprintf $tried, 1000), qr/GpubtreeAggregate.*Gave Up: an error in a constant/s, 'is not met by the ordinary plan');
like(error_of(sprintf $tried, 10), qr/unrecognized configuration parameter "test.none"/, 'and for rows that there are, is');
is(far("SET test.none = ''; " . sprintf($tried, 10)), far("SELECT count(*), sum(n) FROM one WHERE n > 10 AND g = 'a'"), 'what raises none is sent');
like(far("SET test.none = ''; EXPLAIN (VERBOSE, COSTS OFF) " . sprintf $tried, 10), qr/Remote SQL: SELECT count[^\n]*\(g \|\| \$1/, 'with the condition');

# An offset that is not whole quarters of an hour, as there was until 1972: a bin lies in two hours.
$node->safe_psql('postgres', "CREATE TEMP TABLE old AS SELECT timestamptz '1971-05-05 00:00+00' + i * interval '7 minutes' AS k, i AS n FROM generate_series(1, 300) i UNION ALL VALUES (timestamptz '1975-04-10 23:31+00', 1), ('1975-04-10 23:40+00', 2); INSERT INTO far (k, n) SELECT * FROM old; INSERT INTO one (k, n) SELECT * FROM old;");
my $monrovia = "SET TimeZone = 'Africa/Monrovia'; SELECT answer('SELECT date_trunc(''hour'', k), count(*), sum(n) FROM %s WHERE k < ''1980-01-01'' GROUP BY 1');";
is(far(sprintf $monrovia, 'far'), far(sprintf $monrovia, 'one'), 'hours in a zone whose offset has seconds');
like(far("SET TimeZone = 'Africa/Monrovia'; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT date_trunc('hour', k), count(*) FROM far WHERE k < '1980-01-01' GROUP BY 1"), qr/Gave Up: a shard has/, 'are left to core');

# A zone by rule, put forward over midnight amid a bin: both moments are less than a day after the first's.
my $forward = "SET TimeZone = 'AAA0:07BBB-1:07,J100/23:30,J200/2'; SELECT answer('SELECT date_trunc(''day'', k), count(*), sum(n) FROM %s WHERE k BETWEEN ''1975-01-01'' AND ''1976-01-01'' GROUP BY 1');";
is(far(sprintf $forward, 'far'), far(sprintf $forward, 'one'), 'days in a zone that skips midnight');
$node->safe_psql('postgres', "DELETE FROM far WHERE k < '1980-01-01'; DELETE FROM one WHERE k < '1980-01-01'; VACUUM ANALYZE one");

# Moments travel as text: those that are not written in the usual form, and fractions of seconds
$node->safe_psql('postgres', "CREATE TEMP TABLE odd AS SELECT x::timestamptz AS k, x::timestamp AS t, i AS n FROM unnest(ARRAY['-infinity', 'infinity', '4001-02-29 00:00:00 BC', '0001-01-01 00:00', '1752-02-28 23:59:59.9', '1600-02-29 13:14:15.123456', '1900-03-01 00:00:00.000001', '9999-12-31 23:59:59.999999', '10000-01-01 00:00', '123456-11-30 12:34:56.78']) WITH ORDINALITY o (x, i); INSERT INTO far (k, t, n) SELECT * FROM odd; INSERT INTO one (k, t, n) SELECT * FROM odd;");
my @moments = map { "SELECT $_, count(*), sum(n), min(k), max(k), min(t), max(t) FROM %s GROUP BY 1" } 'k', 't::date', "date_trunc('minute', k)", "date_trunc('week', t)", "date_trunc('year', k, 'Asia/Kathmandu')", 'n';
my $moments = sub { my ($table) = @_; return join(';', "SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Australia/Lord_Howe'", map { 'SELECT answer($q$' . sprintf($_, $table) . '$q$)' } @moments) };
is(far($moments->('far')), far($moments->('one')), 'moments that travel');
is(() = far(join(';', map { 'SELECT remote($q$' . sprintf($_, 'far') . '$q$)' } @moments)) =~ /count\(\*\)/g, 3 * @moments, 'of groups');
$node->safe_psql('postgres', "DELETE FROM far WHERE k < '1980-01-01' OR k > '2100-01-01'; DELETE FROM one WHERE k < '1980-01-01' OR k > '2100-01-01'; VACUUM ANALYZE one");

# Two states that have sums of the same pairs
my $pairs = "SELECT answer('SELECT covar_pop(f4, n), covar_pop(n, f4), regr_avgx(f4, n), regr_avgy(n, f4), stddev(f4), sum(f4) FROM %s')";
is(far(sprintf $pairs, 'far'), far(sprintf $pairs, 'one'), 'pairs the one way and the other');

# What is sent stands in a CASE: the value alone that does not depend on the row.
my $case = "SELECT count(*), sum(n) FROM %s WHERE CASE n WHEN current_setting('test.n')::int THEN false ELSE true END";
like(far('SELECT remote($q$' . sprintf($case, 'far') . '$q$)'), qr/^SELECT count.*CASE n WHEN \$1/m, 'a part of CASE is sent');
is(far("SET test.n = '3'; " . sprintf $case, 'far'), far("SET test.n = '3'; " . sprintf $case, 'one'), 'values that are sent, in CASE');

# A column that grouping sets make NULL, and an aggregate has as it is
my $rollup = "SELECT answer('SELECT n, percentile_cont(0.5) WITHIN GROUP (ORDER BY n), sum(n) FROM %s WHERE n > 2 GROUP BY ROLLUP (n) HAVING n IS NULL OR n < 9')";
is(far(sprintf $rollup, 'far'), far(sprintf $rollup, 'one'), 'a column of a rollup in an aggregate');

# All shards at once, and now() is one moment
like(far('EXPLAIN (COSTS OFF) SELECT count(*) FROM far'), qr/(Async Foreign Scan.*){3}/s, 'shards work at the same time');
is(far("BEGIN; SELECT pg_sleep(0.01); SELECT count(*) FROM far WHERE now() = transaction_timestamp() AND k < now() - interval '1 year' + interval '100 years';"), "\n" . 2500, 'now() is evaluated here');

# A LIMIT above the node, and a cursor that has not read all groups when its connections are used again
my $few = "SELECT answer('SELECT g, count(*), sum(f) FROM %s GROUP BY g ORDER BY g LIMIT 3'), answer('SELECT count(*) FROM (SELECT n, count(*) FROM %s GROUP BY n LIMIT 4) q'), answer('SELECT x, (SELECT n FROM %s WHERE k >= x AND n IS NOT NULL GROUP BY n ORDER BY sum(b), n LIMIT 1) FROM generate_series(timestamptz ''2026-01-05'', ''2026-05-05'', ''40 days'') x')";
is(far(sprintf $few, ('far') x 3), far(sprintf $few, ('one') x 3), 'LIMIT above groups');
like(far("EXPLAIN (COSTS OFF) SELECT g, count(*) FROM far GROUP BY g LIMIT 1"), qr/^Limit\n +->  Custom Scan \(GpubtreeAggregate.*(Async Foreign Scan.*){3}/s, 'of a node');
my $cursor = "BEGIN; DECLARE c CURSOR FOR SELECT g, sum(n) FROM far WHERE g IS NOT NULL GROUP BY g; CREATE TEMP TABLE first (g text, n int8) ON COMMIT DROP; DO 'DECLARE c refcursor := ''c''; r record; BEGIN FETCH c INTO r; INSERT INTO first VALUES (r.g, r.sum); INSERT INTO first SELECT ''all'', count(*) FROM far; LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; INSERT INTO first VALUES (r.g, r.sum); END LOOP; END'; SELECT string_agg(g || n, ';' ORDER BY g, n) FROM first; COMMIT;";
is(far($cursor) =~ s/\s//gr, far($cursor =~ s/FROM far/FROM one/gr) =~ s/\s//gr, 'a query amid the groups of another');

# Texts of a collation that is not the shard's: deterministic ones agree about which texts are equal, and
# order is made here.  What a collation takes for equal though it is not has its rows sent.
$node->safe_psql($_, "CREATE COLLATION same_letter (provider = icu, locale = 'und-u-ks-level1', deterministic = false)") foreach 'postgres', 's1';
foreach my $pair ([ '"en-x-icu"', '"C"' ], [ '"C"', '"en-x-icu"' ], [ 'same_letter', 'same_letter' ])
{
	my ($here, $there) = @$pair;
	my $same = $here eq 'same_letter';
	my $columns = 'k int4, n int4, g text COLLATE';
	my $index = 'USING gpubtree (k) INCLUDE (n, g)';
	# which of several equal texts stands for them is not said
	my $one = $same ? "translate(lower(%s), '\xc3\xa4\xc3\xa9', 'ae')" : '%s';
	my $values = join(', ', map { sprintf $one, $_ } 'min(g)', 'max(g)', 'max(g) FILTER (WHERE n > 3)');
	my @queries = ("SELECT " . sprintf($one, 'g') . ", count(*), sum(n) FROM words GROUP BY words.g", "SELECT n, count(DISTINCT g), $values FROM words GROUP BY n", "SELECT count(DISTINCT g), $values FROM words",
		"SELECT " . sprintf($one, 'g') . ", count(*) FROM words GROUP BY words.g ORDER BY count(*) DESC, words.g DESC LIMIT 4");
	my $all = sub { my ($table) = @_; return 'SELECT ' . join(', ', map { 'answer($q$' . s/\bwords\b/$table/gr . '$q$)' } @queries) };
	my $far = $low_cost;

	$node->safe_psql('s1', "DROP TABLE IF EXISTS words; CREATE TABLE words ($columns $there);" . ($same ? '' : "CREATE INDEX ON words $index"));
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS words, word; CREATE TABLE words ($columns $here) PARTITION BY RANGE (k); CREATE TABLE word ($columns $here);"
		. "CREATE FOREIGN TABLE words0 PARTITION OF words FOR VALUES FROM (0) TO (100) SERVER s1 OPTIONS (table_name 'words'); CREATE TABLE words1 PARTITION OF words FOR VALUES FROM (100) TO (500);"
		. "CREATE INDEX ON words $index; INSERT INTO word SELECT i, i % 7, (ARRAY['b', 'B', 'a', '\xc3\xa4', 'A', 'Z', '', 'z', NULL, 'B', '\xc3\xa9', 'e'])[1 + i % 12] FROM generate_series(0, 479) i; INSERT INTO words SELECT * FROM word; ANALYZE words");
	is($node->safe_psql('postgres', $far . $all->('words')), $node->safe_psql('postgres', 'SET gpubtree.enabled = off; ' . $all->('word')), "texts of collation $here here, $there there");
	my $sent = $node->safe_psql('postgres', $far . join(';', map { "EXPLAIN (VERBOSE, COSTS OFF) $_" } @queries));
	is(() = $sent =~ /Remote SQL: SELECT[^\n]*GROUP BY [12]/g, $same ? 0 : 4, $same ? 'their rows are sent' : 'their groups are sent');
}

$sharded->compare_states;

# What a shard does is done by a node of ours there.
{
	my $log = -s $node->logfile;

	$node->safe_psql('postgres', "ALTER DATABASE s1 SET auto_explain.log_min_duration = 0; ALTER DATABASE s1 SET gpubtree.setup_cost = 0; ALTER DATABASE s1 SET gpubtree.batch_setup_cost = 0;");
	$node->safe_psql('s1', "CREATE INDEX IF NOT EXISTS sure ON part USING gpubtree (k) INCLUDE ($included); VACUUM ANALYZE part");
	far("SELECT count(*), sum(f), avg(n) FROM far WHERE k < '2026-01-30'; SELECT date_trunc('hour', k), sum(f) FROM far WHERE k < '2026-01-30' GROUP BY 1;");
	my $plans = slurp_file($node->logfile, $log);
	like($plans, qr/gpubtree_partial\(f\).*?Custom Scan \(GpubtreeAggregate\)/s, "the shard's plan is a node, for exact sums too");
	like($plans, qr/date_bin.*?Custom Scan \(Gpubtree(Bucket|Bucket\w*|Aggregate)\)/s, 'and for bins');
	$node->safe_psql('postgres', 'ALTER DATABASE s1 RESET ALL');
}

# Shards that are slow, a view of which waits for a lock: all of them work meanwhile, and a cancel ends them.
$node->safe_psql($_, 'CREATE VIEW slow AS SELECT part.* FROM part, (SELECT pg_advisory_xact_lock_shared(151) OFFSET 0) locked') foreach @shards;
my @holders = map { $node->background_psql($_) } @shards;
$_->query_safe('SELECT pg_advisory_lock(151)') foreach @holders;
$node->safe_psql('postgres', "ALTER FOREIGN TABLE part$_ OPTIONS (SET table_name 'slow')") foreach 0 .. 2;
my $waiting = "SELECT count(*) = %d FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname IN ('s1', 's2', 's3')";
my $slow = gpb_start($node, [ $low_cost, 'SELECT count(*), sum(f) FROM far' ], "application_name = 'asks slow shards'");
ok($node->poll_query_until('postgres', sprintf $waiting, 3), 'slow shards all work at once');
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'asks slow shards'");
ok($node->poll_query_until('postgres', sprintf $waiting, 0), 'a cancel ends what they do');
like(gpb_finish($slow), qr/canceling statement due to user request/, 'and the query');
$holders[$_]->quit foreach 0, 2;
$node->safe_psql('postgres', "ALTER SERVER s2 OPTIONS (ADD options '-c statement_timeout=200')");
my (undef, undef, $late) = $node->psql('postgres', $low_cost . 'SELECT count(*), sum(f) FROM far');
like($late, qr/canceling statement due to statement timeout.*partition "part1" on server "s2"/s, 'a shard that is too late is named');
$node->safe_psql('postgres', 'ALTER SERVER s2 OPTIONS (DROP options)');
$holders[1]->quit;
is(far('SELECT count(*), sum(f) FROM far WHERE f < 1e300'), far('SELECT count(*), sum(f) FROM one WHERE f < 1e300'), 'then it answers');
$node->safe_psql('postgres', "ALTER FOREIGN TABLE part$_ OPTIONS (SET table_name 'part')") foreach 0 .. 2;
$node->safe_psql($_, 'DROP VIEW slow') foreach @shards;

# A server of which nobody has said that it has the extension is asked for what core has.
$node->safe_psql('postgres', "ALTER SERVER s2 OPTIONS (DROP extensions)");
like(far('SELECT remote(\'SELECT count(*), sum(n) FROM far\')'), qr/\A(SELECT count[^\n]*\n?){3}\z/, 'sums of integers need no extension');
like(far('SELECT remote(\'SELECT count(*), sum(f) FROM far\')'), qr/\A(SELECT (count|f)[^\n]*\n?){3}\z/, 'those of floats need it, on that server alone');
is(far('SELECT count(*), sum(f) FROM far WHERE f < 1e300'), far('SELECT count(*), sum(f) FROM one WHERE f < 1e300'), 'and are the same without it');
$node->safe_psql('postgres', "ALTER SERVER s2 OPTIONS (ADD extensions 'gpubtree')");

# Rights: on the parent alone; a mapping of one's own
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE reader; GRANT SELECT ON far TO reader;
CREATE ROLE stranger; GRANT SELECT ON far TO stranger;
CREATE USER MAPPING FOR reader SERVER s1 OPTIONS (user 'reader', password_required 'false');
CREATE USER MAPPING FOR reader SERVER s2 OPTIONS (user 'reader', password_required 'false');
CREATE USER MAPPING FOR reader SERVER s3 OPTIONS (user 'reader', password_required 'false');
ALTER ROLE reader LOGIN;
SQL
my (undef, undef, $denied) = $node->psql('postgres', 'SET ROLE reader; SELECT count(*), sum(n) FROM far');
like($denied, qr/permission denied for table part.*partition "part\d" on server "s\d"/s, 'the rights on the shard are those of the mapping');
$node->safe_psql($_, 'GRANT SELECT ON part TO reader') foreach @shards;
is(far('SET ROLE reader; SELECT count(*), sum(n) FROM far'), far('SELECT count(*), sum(n) FROM one'), 'who may read the parent may have its aggregates');
(undef, undef, $denied) = $node->psql('postgres', 'SET ROLE stranger; SELECT count(*), sum(n) FROM far');
like($denied, qr/user mapping not found/, 'a role without a mapping may not');

# A policy of the parent
$node->safe_psql('postgres', "ALTER TABLE far ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON far USING (s > 0)");
is(far('SET ROLE reader; SELECT count(*), sum(n) FROM far'), far('SELECT count(*), sum(n) FROM one WHERE s > 0'), 'a policy of the parent');
$node->safe_psql('postgres', "ALTER TABLE far DISABLE ROW LEVEL SECURITY");

# A transaction sees each shard as it was when it first asked it.
my $reader = $node->background_psql('postgres');
$reader->query_safe('BEGIN');
my $before = $reader->query_safe('SELECT count(*), sum(n) FROM far');
$node->safe_psql('s2', 'DELETE FROM part WHERE n = 3');
is($reader->query_safe('SELECT count(*), sum(n) FROM far'), $before, 'a transaction reads a shard twice');
$reader->query_safe('COMMIT');
isnt($reader->query_safe('SELECT count(*), sum(n) FROM far'), $before, 'and the next one what is there now');
$reader->quit;

# What a foreign table declares is not what the shard has: a numeric of more digits, and other rows than its
# bounds say.
$node->safe_psql('s3', "DROP INDEX IF EXISTS part_k_g_n_s_b_f_f4_d_w_o_t_u_idx; ALTER TABLE part ALTER d TYPE numeric; UPDATE part SET d = d + 0.001 WHERE n = 5");
is(far("SELECT sum(d) > 0 FROM far WHERE d <> 'NaN'"), 't', 'a sum of more digits than the index has is left to core');
like(far("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT sum(d) FROM far WHERE d <> 'NaN'"), qr/Gave Up: a shard has a value/, 'and the node says so');

# Errors name the shard, and there is no answer of the others alone.
$node->safe_psql('s2', 'ALTER TABLE part RENAME TO gone');
like(error_of('SELECT count(*) FROM far'), qr/relation "public.part" does not exist.*partition "part1" on server "s2"/s, 'a table that is not there');
$node->safe_psql('s2', 'ALTER TABLE gone RENAME TO part');
$node->safe_psql('s2', 'DROP EXTENSION gpubtree CASCADE');
like(error_of('SELECT sum(f) FROM far'), qr/gpubtree_partial.*does not exist.*partition "part1" on server "s2"/s, 'an extension that is not there');
$node->safe_psql('s2', "CREATE FUNCTION first_byte(bytea, float8) RETURNS bytea LANGUAGE sql AS 'SELECT ''\\x7f0203''::bytea'; CREATE AGGREGATE gpubtree_partial(float8) (SFUNC = first_byte, STYPE = bytea)");
like(error_of('SELECT sum(f) FROM far'), qr/ERROR: .*partition "part1" on server "s2"/s, 'a state of another version');
$node->safe_psql('s2', "DROP AGGREGATE gpubtree_partial(float8); CREATE EXTENSION gpubtree");
$node->safe_psql('postgres', "ALTER SERVER s2 OPTIONS (SET port '1')");
like(error_of('SELECT count(*) FROM far'), qr/could not connect to server "s2"/, 'a server that does not answer');
is(far("SELECT count(*) > 0 FROM far WHERE k < '2026-01-10'"), 't', 'queries of other shards go on');

# What a session knows of the extension's functions is looked at again.
my $sums = "SELECT remote('SELECT sum(f) FROM far');";
like(far("$sums DROP EXTENSION gpubtree CASCADE; CREATE EXTENSION gpubtree; CREATE INDEX ON far USING gpubtree (k) INCLUDE ($included); $sums") =~ s/\n/ /gr,
	qr/\A(SELECT \S*count\(\*\), public.gpubtree_partial\(f\) FROM public.part ?){6}\z/, 'an extension that is made anew');

done_testing();
