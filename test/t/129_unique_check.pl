# gpubtree_check of a unique index: two rows with equal keys that a snapshot sees are found and named,
# whatever the type, over leaves of dead versions, through HOT chains; NULLs as the index has them;
# dead rows, rolled back ones, rows in progress and recycled TIDs are no duplicates, nor is anything
# that writers do meanwhile, on the primary or on a standby.
#
# The duplicates are made in an index that is not unique, of which the catalog says then that it is,
# so this runs on servers that have no unique indexes of ours.
#
# Guards: src/index/check_unique.c.
use GpubtreeHold;
use GpubtreeTest;

my $seconds = $ENV{GPB_SECONDS} // 3;
my $node = gpb_node('primary', allows_streaming => 1, settings => <<'CONF');
autovacuum = off
hot_standby_feedback = on
max_standby_streaming_delay = -1
CONF

sub value { return $node->safe_psql('postgres', $_[0]) }

# Let the catalog say that the index is unique, and whether NULLs are equal.
sub make_unique
{
	my ($index, $nulls) = @_;

	value("UPDATE pg_index SET indisunique = true, indnullsnotdistinct = " . ($nulls ? 'true' : 'false')
		. " WHERE indexrelid = '$index'::regclass");
}

sub sound
{
	my ($index, $name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SELECT gpubtree_check('$index', true)");

	is($err, '', "$name: in order");
}

# The check finds these two rows, and no others.
sub finds
{
	my ($index, $first, $second, $key, $name) = @_;
	my ($status, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY verbose\nSELECT gpubtree_check('$index')", on_error_stop => 0);

	like($err, qr/XX002: unique index "$index" has rows \Q$first\E and \Q$second\E of table "\w+" with equal keys/,
		"$name: the two rows are named");
	like($err, qr/DETAIL:  Both have key \Q$key\E\./, "$name: and their key");
}

# ---- what is equal ----

value('CREATE TABLE t (k int, v int); CREATE INDEX t_k ON t USING gpubtree (k);
	INSERT INTO t SELECT i, i FROM generate_series(1, 20000) i; INSERT INTO t VALUES (NULL), (NULL)');
make_unique('t_k');
sound('t_k', 'rows that differ, and NULLs that do');
make_unique('t_k', 1);
my ($null, $other) = split /\n/, value('SELECT ctid FROM t WHERE k IS NULL ORDER BY ctid');
finds('t_k', $null, $other, '(k)=(null)', 'equal NULLs');
value("DELETE FROM t WHERE ctid = '$null'");
sound('t_k', 'one NULL');

my @types = (
	[ 'bigint', '-9223372036854775808', '-9223372036854775808', '9223372036854775807' ],
	[ 'float8', '0', '-0', '5e-324' ], [ 'float8', 'NaN', '-NaN', 'Infinity' ],
	[ 'timestamptz', 'infinity', 'infinity', '-infinity' ],
	[ 'numeric(10,2)', '1.5', '1.50', '1.51' ], [ 'numeric(30,2)', 'NaN', 'NaN', '0' ],
	[ 'uuid', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'FFFFFFFF-ffff-ffff-ffff-ffffffffffff',
		'ffffffff-ffff-ffff-ffff-fffffffffffe' ],
	[ 'timetz', '12:00+00', '12:00+00', '13:00+01' ], [ 'boolean', 't', 'true', 'f' ]);
for my $type (@types)
{
	my ($type_name, $value, $equal, $differs) = @$type;
	for my $key ('(x)', '(x DESC)', '(a, x)', '(a, x DESC NULLS FIRST)')
	{
		# These types are lone key columns only.
		next if $key =~ /a/ && $type_name =~ /uuid|numeric\(30/;
		my $name = "$type_name $key";
		value(<<"SQL");
DROP TABLE IF EXISTS y;
CREATE TABLE y (a int DEFAULT 7, x $type_name);
CREATE INDEX y_x ON y USING gpubtree $key;
INSERT INTO y (x) VALUES ('$value'), ('$differs'), (NULL), (NULL);
INSERT INTO y VALUES (8, '$value'), (NULL, '$value'), (NULL, NULL), (NULL, NULL);
SQL
		value("DELETE FROM y WHERE a IS DISTINCT FROM 7") if $key !~ /a/;
		make_unique('y_x');
		sound('y_x', $name);
		value("UPDATE pg_index SET indisunique = false WHERE indexrelid = 'y_x'::regclass");
		value("INSERT INTO y (x) VALUES ('$equal')");
		make_unique('y_x');
		my ($status, $out, $err) = $node->psql('postgres', "SELECT gpubtree_check('y_x')");
		my $last = value('SELECT max(ctid) FROM y');
		like($err, qr/rows (\(0,1\) and \Q$last\E|\Q$last\E and \(0,1\)) of table "y" with equal keys/,
			"$name: $equal equals $value");
	}
}

# ---- which rows count ----

# Between the two rows there are leaves of dead ones, and rows of transactions in progress.
value(<<'SQL');
CREATE TABLE d (k int, v int) WITH (fillfactor = 50);
CREATE INDEX d_k ON d USING gpubtree (k) INCLUDE (v);
INSERT INTO d VALUES (5, 0);
INSERT INTO d SELECT 5, i FROM generate_series(1, 3000) i;
DELETE FROM d WHERE v > 0;
BEGIN; INSERT INTO d SELECT 5, i FROM generate_series(1, 500) i; ROLLBACK;
INSERT INTO d SELECT i, i FROM generate_series(6, 1000) i;
UPDATE d SET v = v + 1 WHERE k > 500;
SQL
make_unique('d_k');
my $running = $node->background_psql('postgres');
value("UPDATE pg_index SET indisunique = false WHERE indexrelid = 'd_k'::regclass");
$running->query_safe('BEGIN; INSERT INTO d VALUES (5, 7); DELETE FROM d WHERE k = 900; INSERT INTO d VALUES (900, 1)');
make_unique('d_k');
sound('d_k', 'dead rows, failed ones, and rows in progress');
$running->quit;
# Those of the transaction itself count.
{
	my ($status, $out, $err) = $node->psql('postgres', <<'SQL');
BEGIN;
UPDATE pg_index SET indisunique = false WHERE indexrelid = 'd_k'::regclass;
INSERT INTO d VALUES (5, 7);
UPDATE pg_index SET indisunique = true WHERE indexrelid = 'd_k'::regclass;
SELECT gpubtree_check('d_k');
SQL
	like($err, qr/rows \(0,1\) and \(\d+,\d+\) of table "d" with equal keys/,
		'a transaction finds its own duplicate');
}
value("UPDATE pg_index SET indisunique = false WHERE indexrelid = 'd_k'::regclass");
my $second = value('INSERT INTO d VALUES (5, 9) RETURNING ctid');
make_unique('d_k');
finds('d_k', '(0,1)', $second, '(k)=(5)', 'over leaves of dead rows');
# Entries lead to the head of a chain of versions.
value("UPDATE pg_index SET indisunique = false WHERE indexrelid = 'd_k'::regclass");
value('ALTER TABLE d ADD w int');
value("DELETE FROM d WHERE ctid = '$second'; UPDATE d SET w = 1 WHERE k = 5; UPDATE d SET w = 2 WHERE k = 5");
my $new = value('INSERT INTO d VALUES (5, 11) RETURNING ctid');
value("UPDATE d SET w = 4 WHERE ctid = '$new'");
make_unique('d_k');
finds('d_k', '(0,1)', $new, '(k)=(5)', 'rows in HOT chains');
isnt(value('SELECT min(ctid) FROM d WHERE k = 5'), '(0,1)', 'the row is not at the head of its chain');
value("DELETE FROM d WHERE v = 11");
sound('d_k', 'without it');

# An entry that leads beyond the table
value('CREATE TABLE e (k int); CREATE INDEX e_k ON e USING gpubtree (k); INSERT INTO e SELECT 1 FROM generate_series(1, 600)');
make_unique('e_k');
my $file = $node->data_dir . '/' . value(q{SELECT pg_relation_filepath('e')});
value('CHECKPOINT');
$node->stop;
truncate($file, 8192) or die "$!";
$node->start;
value("DELETE FROM e WHERE ctid > '(0,1)'");
{
	my ($status, $out, $err) = $node->psql('postgres', "SELECT gpubtree_check('e_k')");
	like($err, qr/index "e_k" has an entry for row \([12],\d+\), beyond the end of table "e"/,
		'an entry for a row beyond the end of the table');
}

# ---- an older snapshot, and TIDs that are recycled ----

# A row of the old snapshot was changed in a HOT chain before the index was built: the snapshot sees
# its old version, and another row that had the new key then.
value('CREATE TABLE h (k int, v int); INSERT INTO h VALUES (1, 1), (2, 2)');
my $old = $node->background_psql('postgres');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM h');
value('DELETE FROM h WHERE k = 2; UPDATE h SET k = 2; CREATE INDEX h_k ON h USING gpubtree (k)');
make_unique('h_k');
is($old->query_safe("SELECT gpubtree_check('h_k')"), '', 'the old snapshot does not judge');
$old->quit;

# While the check stands before the table, VACUUM removes an entry that it has read, and its TID gets
# a row that is not the key's.
value('CREATE TABLE r (k int, v int); CREATE INDEX r_k ON r USING gpubtree (k);
	INSERT INTO r VALUES (5, 1), (5, 2); DELETE FROM r WHERE v = 1');
make_unique('r_k');
my $holder = gpb_holder($node);
my $held = gpb_start($node, "SELECT gpubtree_check('r_k')", "gpubtree.hold_point = 'check-unique'");
gpb_wait_for_hold($node);
value('VACUUM (INDEX_CLEANUP ON) r');
is(value('INSERT INTO r VALUES (77, 3) RETURNING ctid'), '(0,1)', 'the TID is recycled');
$holder->quit;
is(gpb_finish($held), '', 'its new row is not taken for one of the key');

# ---- beside writers ----

value(<<'SQL');
CREATE TABLE w (k int, v int, x float8) WITH (fillfactor = 70);
CREATE INDEX w_k ON w USING gpubtree (k) INCLUDE (v);
CREATE INDEX w_x ON w USING gpubtree (x);
INSERT INTO w SELECT i, 0, i FROM generate_series(0, 1999) i;
SQL
make_unique('w_k');
make_unique('w_x');
my $standby = gpb_standby($node);
# A row gives its key to another in one transaction or in two, and gets new versions.  The index
# refuses others meanwhile.
value(<<'SQL');
CREATE FUNCTION put(key int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO w VALUES (key, 2, CASE WHEN random() < 0.5 THEN key ELSE -0.0::float8 + key END);
EXCEPTION WHEN unique_violation THEN
	NULL;
END $$;
SQL
my @writers = map {
	gpb_start_pgbench($node, <<'SQL', '-c', 1)
\set k random(0, 1999)
\set few random(0, 9)
\set way random(0, 4)
\if :way = 0
BEGIN;
DELETE FROM w WHERE k = :few;
SELECT put(:few);
END;
\elif :way = 1
UPDATE w SET v = v + 1 WHERE k = :k;
\elif :way = 2
DELETE FROM w WHERE k = :k;
SELECT put(:k);
\elif :way = 3
BEGIN;
UPDATE w SET v = v + 1, x = -x WHERE k = :few;
ROLLBACK;
\else
UPDATE w SET v = v + 1 WHERE k BETWEEN :k AND :k + 20;
\endif
SQL
} 1 .. 3;
push @writers, gpb_start_pgbench($node, "VACUUM (INDEX_CLEANUP ON) w;\n\\sleep 200 ms\n", '-c', 1);
my $checks = 0;
my $end = time + $seconds;
my @alarms;
while (time < $end || $checks <= 4 || value('SELECT sum(v) FROM w') <= 1000)
{
	for my $server ($node, $standby)
	{
		my ($status, $out, $err) =
			$server->psql('postgres', "SELECT gpubtree_check('w_k'), gpubtree_check('w_x')");
		push @alarms, $err if $status != 0;
		$checks++;
	}
}
ok(gpb_end_pgbench($_), 'writers had no error') for @writers;
is(join("\n", @alarms), '', "no alarm of $checks checks beside writers, nor on a standby");
is(value('SELECT count(*) - count(DISTINCT k) FROM w'), 0, 'nor a duplicate');
$node->wait_for_catchup($standby);
# The standby finds one that there is.
value("UPDATE pg_index SET indisunique = false WHERE indexrelid = 'w_k'::regclass;
	DELETE FROM w WHERE k = 3; INSERT INTO w VALUES (3, 0, 3000), (3, 0, 3001)");
make_unique('w_k');
$node->wait_for_catchup($standby);
{
	my ($status, $out, $err) = $standby->psql('postgres', "SELECT gpubtree_check('w_k')");
	like($err, qr/unique index "w_k" has rows .* with equal keys/, 'a standby finds a duplicate');
}

$standby->stop;
$node->stop;
done_testing();
