# Unique indexes.  On PostgreSQL 18: which rows are duplicates, by type and with NULLs; errors; builds,
# also of several processes, of sorted runs, beside dead rows, and concurrent ones; ON CONFLICT, foreign
# keys, partitions, REFRESH … CONCURRENTLY, replica identities as logical decoding sees them; plans that
# rest on uniqueness.  On 15 to 17: the refusal.  On all: by which index a subscriber finds rows.
#
# Guards: src/index/unique.c, build_unique.c, the constraint's part of insert.c.
use GpubtreeHold;
use GpubtreeTest;

my $node = gpb_node('primary', databases => 1, settings => <<'CONF');
autovacuum = off
wal_level = logical
max_wal_senders = 4
max_parallel_maintenance_workers = 2
max_prepared_transactions = 5
track_commit_timestamp = on
CONF

# Run SQL, and return what it prints, errors and their details included.
sub run_sql
{
	my ($sql) = @_;
	my ($ret, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql",
		on_error_stop => 0);

	return $out . $err;
}

sub fails
{
	my ($sql, $pattern, $name) = @_;
	like(run_sql($sql), $pattern, $name);
}

sub prints
{
	my ($sql, $expected, $name) = @_;
	is($node->safe_psql('postgres', $sql), $expected, $name);
}

# Replicate two tables to another database of the server: rep, which has an identity by these
# statements, and whole, whose rows are sent in full, with NULLs in its index there, duplicates, and an
# expression between key columns, by which nobody looks.  The subscriber lacks the row 9 of rep, and has
# a row 5 of its own, at which it stops.
sub replicate
{
	my ($identity, $whole_scans, $conflicts) = @_;
	my $is_19 = $node->pg_version->major >= 19;
	my $tables = <<"SQL";
CREATE TABLE rep (k int NOT NULL, v int);
$identity;
INSERT INTO rep VALUES (1, 1), (2, 2), (3, 3), (9, 9);
CREATE TABLE whole (a int, b numeric(10,2), c text, d int);
ALTER TABLE whole REPLICA IDENTITY FULL;
INSERT INTO whole SELECT i % 5, i % 3, 'row ' || i % 10, i FROM generate_series(1, 30) i;
INSERT INTO whole VALUES (NULL, 1, 'null', 1), (NULL, NULL, 'null', 1), (1, NULL, 'twice', NULL),
	(1, NULL, 'twice', NULL);
SQL
	my $rows = q{SELECT string_agg(w::text, ' ' ORDER BY w::text) FROM (SELECT whole::text FROM whole
		UNION ALL SELECT rep::text FROM rep WHERE k NOT IN (5, 9)) w};

	$node->safe_psql('postgres', "$tables CREATE PUBLICATION pub FOR TABLE rep, whole;
		SELECT FROM pg_create_logical_replication_slot('sub', 'pgoutput'); CREATE DATABASE subscriber");
	$node->safe_psql('subscriber', "CREATE EXTENSION gpubtree; $tables
		CREATE INDEX whole_a ON whole USING gpubtree (a, abs(d), b);
		CREATE SUBSCRIPTION sub CONNECTION \$\$" . $node->connstr('postgres') . '$$ PUBLICATION pub
		WITH (enabled = false, create_slot = false, copy_data = false, disable_on_error = true' .
		($is_19 ? ', retain_dead_tuples = true)' : ')'));
	ok($node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_replication_slots
		WHERE slot_name = 'pg_conflict_detection' AND xmin IS NOT NULL)}), 'dead rows are kept') if $is_19;
	$node->safe_psql('postgres', <<'SQL');
UPDATE rep SET v = 7 WHERE k = 1;
UPDATE rep SET k = 8 WHERE k = 2;
DELETE FROM rep WHERE k = 3;
UPDATE whole SET c = 'new' WHERE c IN ('row 5', 'null');
DELETE FROM whole WHERE c = 'row 7' OR ctid = (SELECT min(ctid) FROM whole WHERE c = 'twice');
UPDATE whole SET b = b + 1 WHERE d = 20;
UPDATE rep SET v = 0 WHERE k = 9;
INSERT INTO rep VALUES (5, 1);
SQL
	$node->safe_psql('subscriber', 'DELETE FROM rep WHERE k = 9; INSERT INTO rep VALUES (5, 5);
		ALTER SUBSCRIPTION sub ENABLE');
	ok($node->poll_query_until('subscriber', q{SELECT NOT subenabled AND NOT EXISTS (SELECT
		FROM pg_stat_activity WHERE backend_type ~ '^logical replication .*worker') FROM pg_subscription}),
		'the subscriber stops at its own row');
	is($node->safe_psql('subscriber', $rows), $node->safe_psql('postgres', $rows),
		'it has changed the rows that the publisher has');
	is($node->safe_psql('subscriber', "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'whole_a'"),
		$whole_scans, 'whole rows are found by our index, or without one');
	my $log = slurp_file($node->logfile);
	like($log, $_, "the log says $_") for @$conflicts;
	return;
}

$node->safe_psql('postgres', 'CREATE TABLE t (k int, v int)');
my $is_18 = $node->safe_psql('postgres', "SELECT current_setting('server_version_num')::int >= 180000") eq 't';
prints(q{SELECT pg_indexam_has_property(oid, 'can_unique') FROM pg_am WHERE amname = 'gpubtree'},
	$is_18 ? 't' : 'f', 'the access method says whether it has unique indexes');

if (!$is_18)
{
	my $refusal = qr/0A000:\ access\ method\ "gpubtree"\ does\ not\ support\ unique\ indexes
		.*takes\ every\ unique\ index\ for\ a\ B-tree.*Create\ the\ unique\ index\ USING\ btree/xs;

	fails('CREATE UNIQUE INDEX ON t USING gpubtree (k)', $refusal, 'unique is refused');
	fails('CREATE UNIQUE INDEX CONCURRENTLY ON t USING gpubtree (k)', $refusal,
		'likewise concurrently');
	fails('CREATE UNIQUE INDEX ON t USING gpubtree (k) NULLS NOT DISTINCT', $refusal,
		'likewise with equal NULLs');
	prints('SELECT count(*) FROM pg_index WHERE indrelid = \'t\'::regclass', 0, 'no index is left');

	# What the manual says to use
	$node->safe_psql('postgres', <<'SQL');
ALTER TABLE t ADD UNIQUE (k);
CREATE INDEX t_k ON t USING gpubtree (k) INCLUDE (v);
INSERT INTO t VALUES (1, 1) ON CONFLICT (k) DO UPDATE SET v = 7;
INSERT INTO t VALUES (1, 1) ON CONFLICT (k) DO UPDATE SET v = 7;
SQL
	prints("SELECT k, v FROM t; SELECT gpubtree_check('t_k', true)", "1|7\n",
		'a unique B-tree beside our index, with ON CONFLICT');
	replicate('ALTER TABLE rep ADD PRIMARY KEY (k); CREATE INDEX rep_k ON rep USING gpubtree (k)', 0,
		[qr/duplicate key value violates unique constraint "rep_pkey"/]);
	$node->stop;
	done_testing();
	exit;
}

# ---- what is a duplicate ----

$node->safe_psql('postgres', 'CREATE UNIQUE INDEX t_k ON t USING gpubtree (k)');
$node->safe_psql('postgres', 'INSERT INTO t VALUES (1, 1), (2, 2), (NULL, 3), (NULL, 4)');
my $error = run_sql('INSERT INTO t VALUES (2, 0)');
like($error, qr/23505: duplicate key value violates unique constraint "t_k"/, 'a duplicate');
like($error, qr/DETAIL:  Key \(k\)=\(2\) already exists/, 'the key is in the detail');
like($error, qr/CONSTRAINT NAME:  t_k/, 'and the constraint in its field');
fails('UPDATE t SET k = 1 WHERE k = 2', qr/23505/, 'an update makes a duplicate');
prints('BEGIN; DELETE FROM t WHERE k = 2; INSERT INTO t VALUES (2, 5); COMMIT; SELECT v FROM t WHERE k = 2',
	5, 'a row deleted by the same transaction is none');
prints('UPDATE t SET v = v + 1 WHERE k = 2; SELECT v FROM t WHERE k = 2', 6,
	'nor is the old version of a row');
fails('INSERT INTO t VALUES (9, 1), (9, 2)', qr/Key \(k\)=\(9\) already exists/, 'two of one statement');
prints('SELECT count(*) FROM t WHERE k = 9', 0, 'neither is left');

# Each type: a value, an equal one, and one that is another.
my @types = (
	[ 'bigint', '-9223372036854775808', '-9223372036854775808', '9223372036854775807' ],
	[ 'float8', '0', '-0', '5e-324' ], [ 'float8', 'NaN', '-NaN', 'Infinity' ],
	[ 'float4', '-0', '0', '-1e-45' ], [ 'timestamptz', 'infinity', 'infinity', '-infinity' ],
	[ 'numeric(10,2)', '1.5', '1.50', '1.51' ], [ 'numeric(30,2)', 'NaN', 'NaN', '0' ],
	[ 'uuid', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'FFFFFFFF-ffff-ffff-ffff-ffffffffffff',
		'ffffffff-ffff-ffff-ffff-fffffffffffe' ],
	[ 'timetz', '12:00+00', '12:00+00', '13:00+01' ], [ 'boolean', 't', 'true', 'f' ]);
for my $type (@types)
{
	my ($name, $value, $equal, $other) = @$type;
	for my $key ('(x)', '(x DESC)', '(a, x)', '(a, x DESC NULLS FIRST)')
	{
		# These types are lone key columns only.
		next if $key =~ /a/ && $name =~ /uuid|numeric\(30/;
		$node->safe_psql('postgres', <<"SQL");
DROP TABLE IF EXISTS y;
CREATE TABLE y (a int DEFAULT 7, x $name);
CREATE UNIQUE INDEX y_x ON y USING gpubtree $key;
INSERT INTO y (x) VALUES ('$value'), ('$other'), (NULL), (NULL);
INSERT INTO y (a) VALUES (NULL), (NULL);
SQL
		fails("INSERT INTO y (x) VALUES ('$equal')", qr/23505.*Key .*already exists/s,
			"$name $key: $equal equals $value");
		$node->safe_psql('postgres', "DROP INDEX y_x; INSERT INTO y (x) VALUES ('$equal')");
		fails("CREATE UNIQUE INDEX y_x ON y USING gpubtree $key",
			qr/23505: could not create unique index "y_x".*Key .*is duplicated/s,
			"$name $key: a build says so, too");
		$node->safe_psql('postgres', <<"SQL");
DELETE FROM y;
INSERT INTO y (x) VALUES ('$value'), ('$other'), (NULL);
CREATE UNIQUE INDEX y_x ON y USING gpubtree $key NULLS NOT DISTINCT;
SQL
		fails('INSERT INTO y (x) VALUES (NULL)', qr/23505/, "$name $key: equal NULLs");
		$node->safe_psql('postgres', 'DROP INDEX y_x; INSERT INTO y (x) VALUES (NULL)');
		fails("CREATE UNIQUE INDEX y_x ON y USING gpubtree $key NULLS NOT DISTINCT",
			qr/could not create unique index/, "$name $key: and in a build");
	}
}

# Included columns, a dictionary among them, an expression, and a predicate
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE e (k int, name text, gone bool DEFAULT false);
CREATE UNIQUE INDEX e_k ON e USING gpubtree (abs(k)) INCLUDE (name) WHERE NOT gone;
INSERT INTO e VALUES (1, 'one', false), (-1, 'other', true);
SQL
fails(q{INSERT INTO e VALUES (-1, 'one')}, qr/Key \(abs\(k\)\)=\(1\) already exists/, 'an expression');
$node->safe_psql('postgres', q{UPDATE e SET gone = true; INSERT INTO e VALUES (-1, 'one')});
fails(q{UPDATE e SET gone = false}, qr/23505/, 'a row comes under the predicate');
prints(q{INSERT INTO e VALUES (1, 'two'), (2, 'two') ON CONFLICT (abs(k)) WHERE NOT gone
	DO UPDATE SET name = e.name || ', ' || excluded.name, k = -excluded.k;
	INSERT INTO e VALUES (-2, 'no') ON CONFLICT (abs(k)) WHERE NOT gone DO NOTHING;
	SELECT k, name FROM e WHERE NOT gone ORDER BY abs(k)}, "-1|one, two\n2|two",
	'ON CONFLICT on an expression, with a predicate');
fails(q{INSERT INTO e VALUES (1, 'x') ON CONFLICT (abs(k)) DO NOTHING}, qr/42P10/, 'which it must name');
fails(q{CREATE ROLE nobody_s LOGIN; GRANT INSERT ON e TO nobody_s; SET ROLE nobody_s;
	INSERT INTO e VALUES (-1, 'two')}, qr/23505: duplicate key(?!.*DETAIL)/s,
	'the key is not shown to those who may not read it');

# ---- builds ----

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE b (k int, v int) WITH (parallel_workers = 2, fillfactor = 60);
INSERT INTO b SELECT i * 7919 % 100003, i FROM generate_series(1, 100002) i;
CREATE INDEX b_v ON b (v);
SQL
# Dead rows that a snapshot still sees need entries, and are no duplicates.
my $old = $node->background_psql('postgres');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t');
$node->safe_psql('postgres', 'UPDATE b SET v = v + 200000 WHERE k % 3 = 0; DELETE FROM b WHERE k % 5 = 0;
	INSERT INTO b SELECT i, 1 FROM generate_series(5, 100000, 5) i');
for my $build ([ 0, '64MB' ], [ 2, '64MB' ], [ 0, '1MB' ], [ 2, '1MB' ])
{
	my ($workers, $memory) = @$build;
	my $name = "$workers workers, $memory";
	my $settings = "SET max_parallel_maintenance_workers = $workers; SET min_parallel_table_scan_size = 0;
		SET maintenance_work_mem = '$memory';";

	$node->safe_psql('postgres', "$settings CREATE UNIQUE INDEX b_k ON b USING gpubtree (k)");
	prints("SELECT gpubtree_check('b_k', true)", '', "$name: a build beside dead rows");
	fails('INSERT INTO b VALUES (5, 5)', qr/23505/, "$name: the index is unique");
	prints("SELECT reltuples > 110000 FROM pg_class WHERE relname = 'b_k'", 't',
		"$name: the dead rows have entries");
	$node->safe_psql('postgres', 'DROP INDEX b_k');
	$node->safe_psql('postgres', 'INSERT INTO b VALUES (77777, 5)');
	fails("$settings CREATE UNIQUE INDEX b_k ON b USING gpubtree (k)",
		qr/could not create unique index "b_k".*Key \(k\)=\(77777\) is duplicated/s,
		"$name: a duplicate among the rows");
	$node->safe_psql('postgres', 'DELETE FROM b WHERE k = 77777 AND v = 5');
}

# Several processes load a part of the leaves each: a duplicate may lie on both sides of a seam, which
# is before some leaf, or have a part of dead rows alone between its two rows.
my $parallel = 'SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0;';
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE seams (k int) WITH (parallel_workers = 2);
INSERT INTO seams SELECT i FROM generate_series(1, 6000) i;
CREATE INDEX seams_k ON seams USING gpubtree (k);
SQL
my $limit = $node->safe_psql('postgres', <<'SQL');
SELECT max(live_items) FROM generate_series(1, pg_relation_size('seams_k') / 8192 - 1) b,
	gpubtree_page_stats('seams_k', b) WHERE type = 'leaf'
SQL
cmp_ok($limit, '<', 1000, 'there are some leaves');
for (my $last = $limit; $last < 6000; $last += $limit)
{
	fails("BEGIN; $parallel INSERT INTO seams VALUES ($last);
		CREATE UNIQUE INDEX seams_u ON seams USING gpubtree (k)",
		qr/could not create unique index "seams_u".*Key \(k\)=\($last\) is duplicated/s,
		"a duplicate before and behind entry $last");
}
$node->safe_psql('postgres', "$parallel CREATE UNIQUE INDEX seams_u ON seams USING gpubtree (k);
	SELECT gpubtree_check('seams_u', true)");
$node->safe_psql('postgres', 'TRUNCATE seams; INSERT INTO seams VALUES (5)');
$node->safe_psql('postgres', 'DROP INDEX seams_u; INSERT INTO seams SELECT 5 FROM generate_series(1, 4000)');
my $older = $node->background_psql('postgres');
$older->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM seams');
$node->safe_psql('postgres', q{DELETE FROM seams WHERE ctid > '(0,1)'});
fails("BEGIN; INSERT INTO seams VALUES (5); $parallel CREATE UNIQUE INDEX seams_u ON seams USING gpubtree (k)",
	qr/could not create unique index "seams_u"/, 'a duplicate with dead rows between');
prints("$parallel CREATE UNIQUE INDEX seams_u ON seams USING gpubtree (k);
	SELECT gpubtree_check('seams_u', true), reltuples > 4000 FROM pg_class WHERE relname = 'seams_u'",
	'|t', 'the dead rows have entries, and are no duplicates');
$older->quit;
$old->quit;

# A concurrent build meets a row that was inserted after its first scan.
fails('INSERT INTO b VALUES (4, 5); CREATE UNIQUE INDEX CONCURRENTLY b_k ON b USING gpubtree (k)',
	qr/could not create unique index|duplicate key/, 'a concurrent build finds a duplicate');
prints("SELECT indisvalid FROM pg_index WHERE indexrelid = 'b_k'::regclass", 'f', 'and leaves an invalid index');
for my $rewrite ('VACUUM FULL b', 'CLUSTER b USING b_v')
{
	prints("$parallel $rewrite; SELECT indisvalid FROM pg_index WHERE indexrelid = 'b_k'::regclass", 'f',
		"which $rewrite builds anew, with its duplicates");
}
$node->safe_psql('postgres', 'DELETE FROM b WHERE k = 4 AND v = 5');
$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY b_k');
prints("SELECT indisvalid FROM pg_index WHERE indexrelid = 'b_k'::regclass; SELECT gpubtree_check('b_k', true)",
	"t\n", 'REINDEX CONCURRENTLY makes it valid');
fails('INSERT INTO b VALUES (4, 5)', qr/23505/, 'and unique');
{
	my $holder = gpb_holder($node);
	$node->safe_psql('postgres', 'DROP INDEX b_k');
	my $build = gpb_start($node, 'CREATE UNIQUE INDEX CONCURRENTLY b_k ON b USING gpubtree (k)',
		"gpubtree.hold_point = 'build-before-load'");
	gpb_wait_for_hold($node);
	$node->safe_psql('postgres', 'INSERT INTO b VALUES (4, 5), (200001, 1); DELETE FROM b WHERE k = 3');
	$holder->quit;
	like(gpb_finish($build), qr/duplicate key value violates unique constraint "b_k"|could not create/,
		'a row that came during the concurrent build is a duplicate');
	$node->safe_psql('postgres', 'DELETE FROM b WHERE k = 4 AND v = 5; DROP INDEX b_k;
		CREATE UNIQUE INDEX CONCURRENTLY b_k ON b USING gpubtree (k)');
	prints("SELECT gpubtree_check('b_k', true)", '', 'without it the build succeeds');
}

# ---- what rests on unique indexes ----

$node->safe_psql('postgres', 'TRUNCATE t; INSERT INTO t VALUES (1, 1)');
prints('INSERT INTO t VALUES (1, 5), (2, 5), (2, 6) ON CONFLICT DO NOTHING; SELECT k, v FROM t ORDER BY k',
	"1|1\n2|5", 'ON CONFLICT DO NOTHING');
prints('INSERT INTO t VALUES (1, 5), (3, 5) ON CONFLICT (k) DO UPDATE SET v = t.v + excluded.v;
	SELECT k, v FROM t ORDER BY k', "1|6\n2|5\n3|5", 'ON CONFLICT DO UPDATE');
$node->safe_psql('postgres', 'CREATE TABLE child (k int REFERENCES t (k) ON DELETE CASCADE)');
fails('INSERT INTO child VALUES (99)', qr/23503/, 'a foreign key that refers to it');
prints('INSERT INTO child VALUES (1), (2); DELETE FROM t WHERE k = 1; SELECT k FROM child', 2, 'its cascade');
fails('DROP INDEX t_k', qr/2BP01/, 'the foreign key keeps the index');

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE p (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE UNIQUE INDEX p_k ON p USING gpubtree (k);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
INSERT INTO p VALUES (1, 1), (11, 1);
SQL
fails('INSERT INTO p VALUES (11, 2)', qr/unique constraint "p2_k_idx"/, 'a partitioned table');
prints('INSERT INTO p VALUES (11, 2) ON CONFLICT (k) DO UPDATE SET v = 9; SELECT v FROM p WHERE k = 11', 9,
	'with ON CONFLICT');

$node->safe_psql('postgres', <<'SQL');
CREATE MATERIALIZED VIEW mv AS SELECT k, sum(v) AS v FROM p GROUP BY k;
CREATE UNIQUE INDEX mv_k ON mv USING gpubtree (k);
UPDATE p SET v = 3 WHERE k = 1;
REFRESH MATERIALIZED VIEW CONCURRENTLY mv;
SQL
prints('SELECT k, v FROM mv ORDER BY k', "1|3\n11|9", 'REFRESH MATERIALIZED VIEW CONCURRENTLY');

$node->safe_psql('postgres', 'CREATE TABLE x (k int, EXCLUDE USING gpubtree (k WITH =))');
fails('INSERT INTO x VALUES (1), (1)', qr/23P01/, 'an exclusion constraint is what it was');

$node->safe_psql('postgres', 'CREATE TABLE r (k int NOT NULL, v int); CREATE UNIQUE INDEX r_k ON r USING gpubtree (k);
	ALTER TABLE r REPLICA IDENTITY USING INDEX r_k; INSERT INTO r VALUES (1, 1)');
prints("SELECT relreplident FROM pg_class WHERE relname = 'r'", 'i', 'a replica identity');
fails('ALTER TABLE r ADD PRIMARY KEY USING INDEX r_k', qr/is not a btree|42809/, 'but no primary key');

# What logical decoding sees of an update that keeps the key, of one that does not, and of a deletion
prints(q{SELECT FROM pg_create_logical_replication_slot('decoded', 'test_decoding');
	UPDATE r SET v = 2; UPDATE r SET k = 2; DELETE FROM r;
	SELECT data FROM pg_logical_slot_get_changes('decoded', NULL, NULL, 'include-xids', '0') WHERE data LIKE 'table%'},
	join("\n", 'table public.r: UPDATE: k[integer]:1 v[integer]:2',
		'table public.r: UPDATE: old-key: k[integer]:1 new-tuple: k[integer]:2 v[integer]:2',
		'table public.r: DELETE: k[integer]:2'), 'the old keys are in the log');
replicate('CREATE UNIQUE INDEX rep_k ON rep USING gpubtree (k); ALTER TABLE rep REPLICA IDENTITY USING INDEX rep_k',
	10, [ $node->pg_version->major >= 19 ? qr/conflict=update_deleted/ : qr/conflict=update_missing/,
		qr/conflict=insert_exists.*?Key already exists in unique index "rep_k"/s ]);

# ---- plans ----

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE dim (id int NOT NULL, v int);
CREATE UNIQUE INDEX dim_id ON dim USING gpubtree (id) INCLUDE (v);
INSERT INTO dim SELECT i, i % 7 FROM generate_series(1, 20000) i;
CREATE TABLE fact (id int, d int);
INSERT INTO fact SELECT i, i * 31 % 30000 FROM generate_series(1, 20000) i;
VACUUM ANALYZE dim, fact;
SQL
unlike($node->safe_psql('postgres', 'EXPLAIN SELECT f.id FROM fact f LEFT JOIN dim ON dim.id = f.d'), qr/dim/,
	'a left join to unique rows that nobody reads is removed');
my $join = 'SELECT count(*), sum(f.id), sum(v) FROM fact f JOIN dim ON dim.id = f.d';
my $force = 'SET gpubtree.setup_cost = 0; SET gpubtree.batch_setup_cost = 0; SET enable_hashjoin = off;
	SET enable_mergejoin = off; SET enable_nestloop = off; SET enable_seqscan = on;';
like($node->safe_psql('postgres', "$force EXPLAIN $join"), qr/Gpubtree/, 'our join of unique rows');
is($node->safe_psql('postgres', "$force $join"),
	$node->safe_psql('postgres', "SET gpubtree.enabled = off; SET enable_indexscan = off;
	SET enable_indexonlyscan = off; SET enable_bitmapscan = off; $join"), 'has the rows of a hash join');
for my $query ('SELECT dim.v, f.id FROM fact f JOIN dim ON dim.id = f.d',
	'SELECT f.id, dim.v FROM fact f LEFT JOIN dim ON dim.id = f.d',
	'SELECT id, v FROM dim WHERE EXISTS (SELECT FROM fact WHERE d = dim.id)',
	'SELECT a.id, b.v FROM dim a JOIN dim b ON a.id = b.id WHERE a.v > 3',
	'SELECT DISTINCT id FROM dim WHERE id > 500', 'SELECT id, max(v) FROM dim GROUP BY id',
	'SELECT d.id, (SELECT sum(v) FROM dim x WHERE x.id BETWEEN d.id AND d.id + 5) FROM dim d WHERE d.id < 3000')
{
	my $sum = "SELECT count(*), md5(string_agg(q::text, ',' ORDER BY q::text)) FROM ($query OFFSET 0) q";
	is($node->safe_psql('postgres', "SET gpubtree.setup_cost = 0; SET gpubtree.batch_setup_cost = 0;
		SET enable_hashjoin = off; SET enable_mergejoin = off; $sum"),
		$node->safe_psql('postgres', "SET gpubtree.enabled = off; SET enable_indexscan = off;
		SET enable_indexonlyscan = off; SET enable_bitmapscan = off; $sum"), $query);
}

$node->stop;
done_testing();
