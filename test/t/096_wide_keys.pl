# Keys of 16 bytes: random inserts, deletions and VACUUM replay to identical pages on a standby
# (wal_consistency_checking), and primary and standby answer ranges as a B-tree does.
#
# GPB_SEED	see gpb_seed() in GpubtreeTest.pm
use GpubtreeTest;

gpb_seed();
my $primary = gpb_node(
	'primary',
	allows_streaming => 1,
	settings => "wal_consistency_checking = 'gpubtree'\nautovacuum = off\n");
my $order = (qw(ASC DESC), 'NULLS FIRST', 'DESC NULLS LAST')[ int(rand(4)) ];
$primary->safe_psql('postgres', <<"SQL");
CREATE TABLE t (k uuid, v int);
CREATE INDEX t_k ON t USING gpubtree (k $order) INCLUDE (v);
CREATE TABLE b (k uuid, v int);
CREATE INDEX b_k ON b (k);
SQL
my $standby = gpb_standby($primary);

sub answer
{
	my ($node, $table, $lo, $hi) = @_;

	return $node->safe_psql('postgres', <<"SQL");
SET enable_seqscan = off;
SELECT count(*), sum(v) FROM $table WHERE k >= '$lo' AND k < '$hi';
SELECT md5(string_agg(k::text, ',')) FROM (SELECT k FROM $table WHERE k >= '$lo' AND k < '$hi' ORDER BY k DESC) x;
SQL
}

for my $round (1 .. 4)
{
	my $seed = rand();
	my $few = 1 + int(rand(8));

	# half of the keys share their upper halves, so that the lower ones decide
	$primary->safe_psql('postgres', <<"SQL");
SELECT setseed($seed);
INSERT INTO t SELECT CASE WHEN random() < 0.02 THEN NULL WHEN random() < 0.5
	THEN (left(md5((i % $few)::text), 16) || right(md5(random()::text), 16))::uuid
	ELSE md5(random()::text)::uuid END, i FROM generate_series(1, 8000) i;
DELETE FROM t WHERE random() < 0.2;
TRUNCATE b;
INSERT INTO b SELECT * FROM t;
VACUUM t;
SELECT gpubtree_check('t_k', true);
SQL
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	for my $range (1 .. 5)
	{
		my ($lo, $hi) = sort map { sprintf('%08x', int(rand(2**32))) . '0' x 24 } 1, 2;
		my $expected = answer($primary, 'b', $lo, $hi);

		is(answer($primary, 't', $lo, $hi), $expected, "round $round, range $range: as a B-tree");
		is(answer($standby, 't', $lo, $hi), $expected, "round $round, range $range: on the standby");
	}
}
done_testing();
