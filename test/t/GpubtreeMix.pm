# Writers of every kind beside readers who compare gpubtree's nodes with a sequential scan in one
# snapshot: what 046 and 047 share; and what 105 and 106 do, where pages are deleted at a high rate.
#
# The table t of 046 and 047 has about 8,000 rows on some 200 heap pages, whose keys are 0 to 1999; the
# indexes t_k and t_ts are gpubtree's, c refers to t.  SQL functions made here compare: see
# mix_compare().
package GpubtreeMix;

use Time::HiRes qw(usleep);
use GpubtreeHold;
use GpubtreeTest;
use Exporter 'import';

our @EXPORT = qw(mix_wide_table mix_deletions mix_create mix_has_page_cache mix_start mix_finish
  mix_writers mix_vacuums mix_readers mix_old_readers mix_standby_readers mix_plans);

# ---- pages that are deleted ----

# The table t with these rows, k from 1 on.  Entries of its index are wide, so that pages of level 1 are
# emptied too.
sub mix_wide_table
{
	my ($node, $rows) = @_;

	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE t (k bigint, v int, d float8, a int8, b int8, c int8, e int8, f int8, g int8, h int8);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d, a, b, c, e, f, g, h);
INSERT INTO t (k, v, d) SELECT i, i % 1000, i % 100 FROM generate_series(1, $rows) i;
SQL
	return;
}

# Scripts for pgbench, with their weights, that empty pages there, within and whole subtrees, and fill
# others
sub mix_deletions
{
	my ($rows) = @_;
	my $half = $rows / 2;

	return (
		'insert@16' => "\\set a random(1, $rows)\nINSERT INTO t (k, v, d) SELECT :a + i, i, i FROM generate_series(1, 400) i;\n",
		'delete@16' => "\\set a random(1, $rows)\nDELETE FROM t WHERE k BETWEEN :a AND :a + 1500;\n",
		'wide@1' => "\\set a random(1, $half)\nDELETE FROM t WHERE k BETWEEN :a AND :a + $half - 4000;\n",
		'fill@1' => "INSERT INTO t (k, v, d) SELECT i * 10, i, i FROM generate_series(1, $rows / 10) i;\n",
		'vacuum@12' => "VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t;\n");
}

# ---- the table and the functions that compare ----

sub mix_create
{
	my ($node) = @_;

	$node->safe_psql('postgres', <<'SQL');
CREATE TABLE t (id serial PRIMARY KEY, k int8, v int4, d float8, ts timestamp, note text)
	WITH (fillfactor = 85);
CREATE TABLE c (id serial, ref int4 REFERENCES t ON DELETE CASCADE);
CREATE INDEX c_ref ON c (ref);

-- Rows with random keys from "a" on
CREATE FUNCTION mix_insert(a bigint, n int, width int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO t (k, v, d, ts, note)
	SELECT x.k, i % 50, i % 7, timestamp '2024-01-01' + x.k * interval '1 minute', repeat('n', 90)
	FROM (SELECT i, (a + floor(random() * width)::int8) % 2000 AS k FROM generate_series(1, n) i) x
$$;
SELECT mix_insert(n, 8, 2) FROM generate_series(0, 1999, 2) n;
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v, d);
CREATE INDEX t_ts ON t USING gpubtree (ts) INCLUDE (v);
VACUUM ANALYZE t;

-- Refer to rows with that key.  Another transaction may be deleting one: the subtransaction is
-- aborted then.
CREATE FUNCTION mix_refer(a bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO c (ref) SELECT id FROM t WHERE k BETWEEN a AND a + 1 LIMIT 4;
EXCEPTION WHEN foreign_key_violation THEN
END $$;

-- More subtransactions than the array of running transactions holds; every third is aborted.
CREATE FUNCTION mix_subtransactions(a bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 70 LOOP
		BEGIN
			UPDATE t SET note = note || '.', v = v + (i % 4) / 3
				WHERE id = (SELECT id FROM t WHERE k = (a + i) % 2000 LIMIT 1);
			IF i % 3 = 0 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
		END;
	END LOOP;
END $$;

-- Let the planner use gpubtree's nodes alone; of kind 0, core's index scans alone.
CREATE FUNCTION mix_ours(kind int, query text) RETURNS text LANGUAGE plpgsql STABLE
	SET gpubtree.setup_cost = 0 SET gpubtree.batch_setup_cost = 0
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_nestloop = off
	SET enable_indexscan = off SET enable_indexonlyscan = off
	SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
	result text;
BEGIN
	IF kind = 0 THEN
		PERFORM set_config('enable_indexscan', 'on', true);
		PERFORM set_config('enable_indexonlyscan', 'on', true);
	END IF;
	-- Where ordinary scans are dear, so is this one but for the kinds that are its own.
	PERFORM set_config('gpubtree.enable_scan', CASE WHEN kind >= 12 THEN 'on' ELSE 'off' END, true);
	-- Without this, each subquery would be such a node of its own.
	PERFORM set_config('gpubtree.enable_aggregate', CASE kind WHEN 10 THEN 'off' ELSE 'on' END, true);
	EXECUTE query INTO result;
	RETURN result;
END $$;

CREATE FUNCTION mix_core(query text) RETURNS text LANGUAGE plpgsql STABLE
	SET gpubtree.enabled = off SET enable_seqscan = on
	SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off
	SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN result;
END $$;

-- The query of a kind, 0 to 14, from key "a" on.  It returns one text, for all rows.
CREATE FUNCTION mix_query(kind int, a bigint, w bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT 'SELECT string_agg(q::text, '';'' ORDER BY q::text COLLATE "C") FROM (' || CASE kind
	WHEN 0 THEN format('SELECT k, v FROM t WHERE k >= %s AND k < %s', a, a + least(w, 300))
	WHEN 1 THEN format('SELECT count(*), count(v), sum(v), min(v), max(v), sum(k), min(k), max(k),
		sum(d), max(d) FROM t WHERE k >= %s AND k < %s', a, a + w)
	WHEN 2 THEN format('SELECT count(*), sum(v), min(v), max(d) FROM t WHERE k = ANY (''{%s}'')',
		(SELECT string_agg(((a + i * w / 30) % 2000)::text, ',') FROM generate_series(0, 30) i))
	WHEN 3 THEN format('SELECT i, t.k, t.v FROM generate_series(0, 40) i
		JOIN t ON t.k = %s + i', a)
	WHEN 4 THEN format('SELECT i, t.k, t.note, t.id FROM generate_series(0, 20) i
		LEFT JOIN t ON t.k = %s + i', a)
	WHEN 5 THEN format('SELECT i, s.* FROM generate_series(0, 6) i
		CROSS JOIN LATERAL (SELECT count(*), sum(v), max(d) FROM t
			WHERE t.k >= %s + i * 40 AND t.k < %s + i * 40) s', a, a + 30)
	WHEN 6 THEN format('SELECT i, count(*), sum(t.v) FROM generate_series(0, 6) i
		JOIN t ON t.k >= %s + i * 40 AND t.k < %s + i * 40 GROUP BY i', a, a + 30)
	WHEN 7 THEN format('SELECT k FROM t WHERE k IS NOT NULL ORDER BY k OFFSET %s LIMIT 10', a)
	WHEN 8 THEN format('SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY k) FROM t
		WHERE k >= %s AND k < %s', a, a + w)
	WHEN 9 THEN format('SELECT date_trunc(''hour'', ts), count(*), sum(v) FROM t
		WHERE ts >= ''2024-01-01''::timestamp + interval ''%s min''
		AND ts < ''2024-01-01''::timestamp + interval ''%s min'' GROUP BY 1', a, a + w)
	WHEN 10 THEN format('SELECT i, (SELECT sum(v) FROM t
		WHERE t.k > %s + i * 50 AND t.k <= %s + i * 50) FROM generate_series(0, 5) i OFFSET 0', a, a + 40)
	WHEN 11 THEN format('SELECT count(*), sum(t.v), max(t.k) FROM generate_series(0, 40) i
		JOIN t ON t.k = %s + i', a)
	WHEN 12 THEN format('SELECT k, v, d FROM t WHERE (k BETWEEN %s AND %s OR k < %s) AND v %% 3 = 1
		OFFSET 0', a, a + w, w / 4)
	WHEN 13 THEN format('SELECT id, k, note, ctid, xmin, tableoid FROM t WHERE k >= %s AND v %% 5 = 2
		AND note > '' '' OFFSET 0', a)
	WHEN 14 THEN format('SELECT id, k, v FROM t WHERE k >= %s ORDER BY v DESC NULLS LAST, id
		LIMIT %s', a, w / 10)
	END || ') q'
$$;

-- Answer a query in the snapshot of the caller's statement by gpubtree's nodes, once or twice, and
-- by a sequential scan, which comes first, between the two, or last; raise an error that names the
-- answers if they differ; return a digest.  "how": bit 0 says whether the device may answer, the
-- others choose the order.  A second answer meets what the first one left behind it.
CREATE FUNCTION mix_compare(kind int, a bigint, w bigint, how int) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
	query text := mix_query(kind, a, w);
	core text;
	ours text;
	first text;
BEGIN
	PERFORM set_config('gpubtree.enable_device', CASE how & 1 WHEN 1 THEN 'on' ELSE 'off' END, true);
	IF how / 2 = 0 THEN
		core := mix_core(query);
	ELSIF how / 2 < 3 THEN
		first := mix_ours(kind, query);
	END IF;
	IF how / 2 = 1 THEN
		core := mix_core(query);
	END IF;
	ours := mix_ours(kind, query);
	IF how / 2 > 1 THEN
		core := mix_core(query);
	END IF;
	IF ours IS DISTINCT FROM core OR first IS DISTINCT FROM ours AND how / 2 IN (1, 2) THEN
		RAISE EXCEPTION 'answers differ: kind %, how %, %: first %, gpubtree %, sequential scan %',
			kind, how, query, left(first, 400), left(ours, 400), left(core, 400);
	END IF;
	RETURN hashtextextended(coalesce(core, ''), 0);
END $$;

-- Compare, and with an earlier digest too.
CREATE FUNCTION mix_again(kind int, a bigint, w bigint, how int, digest bigint) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF mix_compare(kind, a, w, how) <> digest THEN
		RAISE EXCEPTION 'answers differ: kind %, how %, from % by %: not what the snapshot saw before',
			kind, how, a, w;
	END IF;
END $$;

-- Two answers of one statement
CREATE FUNCTION mix_equal(ours text, core text) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF ours IS DISTINCT FROM core THEN
		RAISE EXCEPTION 'answers differ: gpubtree %, sequential scan %', ours, core;
	END IF;
END $$;

-- The plan of a kind of query
CREATE FUNCTION mix_plan(kind int) RETURNS text LANGUAGE sql AS $$
	SELECT mix_ours(kind, 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || mix_query(kind, 500, 400))
$$;
SQL
	return;
}

# For each kind of query the plan that it is to have
my @plans = (
	'Index Only Scan', 'GpubtreeAggregate', 'GpubtreeAggregate', 'GpubtreeJoin"',
	'GpubtreeJoin"', 'GpubtreeRangeAggregate', 'GpubtreeRangeAggregate', 'GpubtreeRank',
	'GpubtreePercentile', 'GpubtreeBucketAggregate', 'GpubtreeSubquery', 'GpubtreeJoinAggregate',
	'GpubtreeScan', 'GpubtreeScan', 'GpubtreeScan');

# Assert that each kind of query has its plan: else comparisons mean nothing.
sub mix_plans
{
	my ($node) = @_;

	foreach my $kind (0 .. $#plans)
	{
		# A function that is stable may not run EXPLAIN.
		my $plan = $node->safe_psql('postgres',
			"BEGIN;\nALTER FUNCTION mix_ours(int, text) VOLATILE;\nSELECT mix_plan($kind);\nROLLBACK;");
		like($plan, qr/"$plans[$kind]/, "kind $kind is answered by $plans[$kind]");
	}
	return;
}

sub mix_has_page_cache
{
	my ($node) = @_;

	return $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_settings WHERE name = 'gpubtree.enable_page_cache'");
}

# ---- scripts of pgbench ----

# A key: four of five changes go to a tenth of the keys, so that some pages change all the time and
# others have rests of seconds, in which they are settled and are asked for by snapshots of before.
my $key = <<'PGBENCH';
\set a random(0, 1999)
\set hot random(0, 4)
\set hot case when :hot > 0 then 1 else 0 end
\set a case when :hot = 1 then :a / 10 else :a end
PGBENCH

# What writers do, and how often.  "Rows locked": FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE and FOR
# KEY SHARE by several at once make multixacts, with updates among their members.
my @writers = (
	[ 'insert', 10, "SELECT mix_insert(:a, 12, 1 + :hot * 50);\n" ],
	[ 'delete', 10, "DELETE FROM t WHERE k BETWEEN :a AND :a + 2;\n" ],
	[ 'move', 6, <<'SQL' ],
UPDATE t SET k = (k + 700) % 2000,
	ts = timestamp '2024-01-01' + ((k + 700) % 2000) * interval '1 minute'
	WHERE k BETWEEN :a AND :a + 1;
SQL
	[ 'value', 6, "UPDATE t SET v = v + 1 WHERE k BETWEEN :a AND :a + 1;\n" ],
	[ 'hot', 8, "UPDATE t SET note = repeat('h', 90) WHERE k BETWEEN :a AND :a + 2;\n" ],
	[ 'chain', 3, <<'SQL' ],
BEGIN;
UPDATE t SET note = note || '1' WHERE k = :a;
UPDATE t SET note = note || '2' WHERE k = :a;
UPDATE t SET v = v + 1, note = left(note, 90) WHERE k = :a;
COMMIT;
SQL
	[ 'lock', 4, <<'SQL' ],
BEGIN;
SELECT id FROM t WHERE k BETWEEN :a AND :a + 3 FOR UPDATE SKIP LOCKED;
\sleep 2 ms
COMMIT;
SQL
	[ 'share', 5, <<'SQL' ],
BEGIN;
SELECT id FROM t WHERE k BETWEEN :a / 20 AND :a / 20 + 3 FOR SHARE SKIP LOCKED;
\sleep 5 ms
COMMIT;
SQL
	[ 'share-and-update', 5, <<'SQL' ],
BEGIN;
SELECT id FROM t WHERE k BETWEEN :a / 20 AND :a / 20 + 3 FOR KEY SHARE;
\sleep 3 ms
UPDATE t SET note = left(note, 89) || :hot WHERE k = :a / 20;
SAVEPOINT s;
UPDATE t SET v = v + 1 WHERE k = :a / 20 + 1;
ROLLBACK TO s;
COMMIT;
SQL
	# The row's xmax is a multixact of a lock and an update, which goes to another page.
	[ 'multixact-of-one', 5, <<'SQL' ],
BEGIN;
SAVEPOINT s;
SELECT id FROM t WHERE k BETWEEN :a AND :a + 1 FOR KEY SHARE;
RELEASE s;
UPDATE t SET v = v + 1, note = repeat('m', 600) WHERE k BETWEEN :a AND :a + 1;
COMMIT;
SQL
	[ 'refer', 6, "SELECT mix_refer(:a);\n" ],
	[ 'forget', 1, "DELETE FROM c WHERE id % 3 = 0;\n" ],
	[ 'abort', 6, <<'SQL' ],
BEGIN;
SELECT mix_insert(:a, 12, 5);
UPDATE t SET v = v + 1 WHERE k = :a;
UPDATE t SET note = note || 'a' WHERE k = :a + 1;
DELETE FROM t WHERE k = :a + 2;
\sleep 1 ms
ROLLBACK;
SQL
	[ 'savepoints', 6, <<'SQL' ],
BEGIN;
UPDATE t SET note = note || 's' WHERE k = :a;
SAVEPOINT a;
SELECT mix_insert(:a, 5, 3);
UPDATE t SET v = v + 1 WHERE k = :a + 1;
SAVEPOINT b;
DELETE FROM t WHERE k = :a + 1;
SELECT id FROM t WHERE k = :a + 2 FOR UPDATE;
ROLLBACK TO b;
SELECT id FROM t WHERE k = :a + 2 FOR NO KEY UPDATE;
RELEASE a;
SAVEPOINT c;
UPDATE t SET v = v - 1 WHERE k = :a;
DELETE FROM t WHERE k = :a + 2;
ROLLBACK TO c;
COMMIT;
SQL
	[ 'subtransactions', 1, "SELECT mix_subtransactions(:a);\n" ],
	[ 'prepared', 2, <<'SQL' ],
BEGIN;
UPDATE t SET v = v + 1 WHERE k = :a;
SAVEPOINT s;
SELECT mix_insert(:a, 4, 3);
PREPARE TRANSACTION 'p:client_id';
\sleep 5 ms
COMMIT PREPARED 'p:client_id';
SQL
	[ 'prepared-abort', 1, <<'SQL' ],
BEGIN;
UPDATE t SET note = note || 'p' WHERE k = :a;
DELETE FROM t WHERE k = :a + 1;
PREPARE TRANSACTION 'q:client_id';
\sleep 5 ms
ROLLBACK PREPARED 'q:client_id';
SQL
	[ 'prune', 4, <<'SQL' ]);
SELECT sum(length(note)) FROM t WHERE k BETWEEN :a AND :a + 100 AND note > '';
SQL

sub mix_writers
{
	return map { my ($name, $weight, $sql) = @$_; [ $name, $weight, $key . $sql ] } @writers;
}

sub mix_vacuums
{
	return (
		[ 'vacuum', 4, "VACUUM (TRUNCATE OFF) t;\n" ],
		[ 'vacuum-index', 2, "VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t;\n" ],
		[ 'vacuum-no-index', 2, "VACUUM (INDEX_CLEANUP OFF, TRUNCATE OFF) t;\n" ],
		[ 'freeze', 2, "VACUUM (FREEZE, TRUNCATE OFF) t;\n" ],
		[ 'multixacts', 1, <<'SQL' ],
SET vacuum_multixact_freeze_min_age = 0;
VACUUM (TRUNCATE OFF) t;
RESET vacuum_multixact_freeze_min_age;
SQL
		[ 'analyze', 1, "ANALYZE t;\n" ],
		[ 'checkpoint', 1, "CHECKPOINT;\n" ]);
}

my $choose = <<'PGBENCH';
\set kind random(0, 14)
\set a random(0, 1990)
\set wide random(0, 3)
\set w case when :wide = 0 then 20 when :wide = 1 then 150 when :wide = 2 then 600 else 2500 end
\set how random(0, 7)
PGBENCH

my $statement = $choose . "SELECT mix_compare(:kind, :a, :w, :how);\n";
# Our node and a sequential scan as two subqueries of one statement
my $direct = <<'PGBENCH';
\set a random(0, 1990)
\set b :a + random(10, 2000)
SELECT mix_equal(
	(SELECT (count(*), sum(v), max(d)) FROM t WHERE k BETWEEN :a AND :b)::text,
	(SELECT (count(*), sum(v), max(d)) FROM t WHERE k + 0 BETWEEN :a AND :b)::text);
PGBENCH
my $level = sub {
	return "BEGIN ISOLATION LEVEL $_[0];\n$statement" . $statement . "COMMIT;\n";
};

sub mix_readers
{
	return (
		[ 'statement', 6, $statement ],
		[ 'direct', 4, $direct ],
		[ 'committed', 1, $level->('READ COMMITTED') ],
		[ 'repeatable', 2, $level->('REPEATABLE READ') ],
		[ 'serializable', 1, $level->('SERIALIZABLE') ]);
}

# On a standby there is no SERIALIZABLE.  Where recovery may cancel a query, statements stand alone:
# a session that is idle in its transaction would be ended.
sub mix_standby_readers
{
	my ($alone) = @_;

	return ([ 'statement', 6, $statement ], [ 'direct', 4, $direct ],
		$alone ? () : [ 'repeatable', 2, $level->('REPEATABLE READ') ]);
}

# Snapshots that are kept while much changes: what they see stays the same.
sub mix_old_readers
{
	my $again = "SELECT mix_again(:kind, :a, :w, :how, :digest);\n";

	return [ 'old', 1, "BEGIN ISOLATION LEVEL REPEATABLE READ;\n" . $choose
		  . "SELECT mix_compare(:kind, :a, :w, :how) AS digest \\gset\n"
		  . join('', map { "\\sleep $_ ms\n\\set how random(0, 7)\n$again" } (20, 200, 800, 10, 300))
		  . "COMMIT;\n" ];
}

# ---- running them ----

# Has recovery cancelled a connection of pgbench, before all clients had begun?
sub mix_is_refused
{
	my ($run) = @_;
	my $clients = "SELECT count(*) FROM pg_stat_activity "
	  . "WHERE application_name = '$run->{name}' AND query <> '' AND pid <> pg_backend_pid()";

	until (gpb_has_ended($run->{handle}))
	{
		my ($status, $begun) = $run->{node}->psql('postgres', $clients);

		last if $status == 0 && $begun == $run->{clients};
		usleep(20_000);
	}
	return $run->{err} =~ /could not create connection/
	  && $run->{err} =~ /due to conflict with recovery/;
}

# Start pgbench in the background with such scripts.  Options: name, clients, seconds, rate (per
# second, all clients), prepared, settings (a list of "name=value").
sub mix_start
{
	my ($node, $scripts, %run) = @_;
	my @files;

	foreach my $script (@$scripts)
	{
		my ($name, $weight, $sql) = @$script;
		my $file = $node->basedir . "/$run{name}-$name.sql";
		unlink $file;
		append_to_file($file, $sql);
		push @files, '-f', "$file\@$weight";
	}
	my %started = (%run, node => $node, out => '', err => '');
	local $ENV{PGAPPNAME} = $run{name};
	local $ENV{PGOPTIONS} = join(' ', map { "-c $_" } @{ $run{settings} // [] });
	# Deadlocks, failures to serialize and conflicts with recovery are tried again by pgbench; but not
	# to connect, which recovery may cancel too.
	my @command = ('pgbench', '-n', @files, '-c', $run{clients}, '-T', $run{seconds},
		'--max-tries=1000', '--random-seed=' . gpb_seed(), ($run{rate} ? ('-R', $run{rate}) : ()),
		($run{prepared} ? ('-M', 'prepared') : ()), $node->connstr('postgres'));
	foreach (1 .. 10)
	{
		$started{out} = $started{err} = '';
		$started{handle} =
		  IPC::Run::start(\@command, '<', \'', '>', \$started{out}, '2>', \$started{err});
		last unless -e $node->data_dir . '/standby.signal' && mix_is_refused(\%started);
		$started{handle}->finish;
	}
	return \%started;
}

# Wait for pgbench and assert that no answers differed, and that nothing else failed unless the
# server "crashed".  Return the number of transactions.
#
# Recovery that cancels a query may end a session instead, if the query is done before the session
# notices; that is in the log.
sub mix_finish
{
	my ($run, $what, $crashed) = @_;

	my $fine = $run->{handle}->finish
	  || ($run->{err} =~ /perhaps the backend died/
		&& slurp_file($run->{node}->logfile) =~ /terminating connection due to conflict with recovery/);
	my ($n) = $run->{out} =~ /transactions actually processed: (\d+)/;
	$n //= 0;
	my $differ = $run->{err} =~ /answers differ/;
	ok(!$differ && ($fine || $crashed), "$what: $run->{name}, $n transactions")
	  or diag(substr($run->{err}, 0, 3000));
	return $n;
}

1;
