# Hypertables of TimescaleDB (Apache edition): an index made on one is made on its chunks, those that
# come later included; queries over all chunks, over one and over none, also above TimescaleDB's own
# ChunkAppend, are answered as over one table, after drop_chunks() and with a chunk whose columns have
# other numbers; whichever of the two libraries was preloaded first.
#
# Compressed chunks are not of that edition: 137 has what stands for them.
#
# Guards: gpb_rel_may_be_table(), nodes for children of a table and above them
use GpubtreeTest;

my $control = readpipe("'$ENV{GPB_BINDIR}/pg_config' --sharedir");
chomp $control;
if (!-e "$control/extension/timescaledb.control")
{
	SKIP: { skip('TimescaleDB is not installed in this PostgreSQL', 1) }
	done_testing();
	exit;
}

my $node = gpb_node('main', settings => <<'CONF');
max_parallel_workers_per_gather = 0
max_worker_processes = 20
gpubtree.setup_cost = 0
gpubtree.batch_setup_cost = 0
timezone = 'Europe/Berlin'
CONF

# preloaded: the libraries in their order
sub preload
{
	my ($preloaded) = @_;

	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$preloaded'\ntimescaledb.telemetry_level = off\n");
	$node->restart;
	return;
}

preload('timescaledb, gpubtree');
$node->safe_psql('postgres', <<'SQL');
SET client_min_messages = error;
CREATE EXTENSION timescaledb;
CREATE TABLE m (gone int, sensor int, at timestamptz NOT NULL, v int, x text, f float8);
SELECT create_hypertable('m', 'at', chunk_time_interval => interval '10 days', create_default_indexes => false);
INSERT INTO m SELECT 1, i % 7, timestamptz '2026-03-01' + i * interval '20 minutes', i % 50, 'x' || i * 7 % 11, i / 4.0 FROM generate_series(0, 1499) i;
CREATE INDEX ON m USING gpubtree (at) INCLUDE (sensor, v, x, f);
ALTER TABLE m DROP COLUMN gone;
INSERT INTO m SELECT i % 7, timestamptz '2026-03-01' + i * interval '20 minutes', i % 50, 'x' || i * 7 % 11, i / 4.0 FROM generate_series(1500, 3999) i;
CREATE TABLE plain AS SELECT * FROM m;
VACUUM ANALYZE m, plain;
SQL
is($node->safe_psql('postgres', "SELECT count(*) = (SELECT count(*) FROM show_chunks('m')) AND count(*) > 5 FROM pg_indexes WHERE indexdef ~ 'gpubtree' AND tablename ~ 'chunk'"),
	't', 'each chunk has the index');

# The query, "%s" being the table, and what its plan shows of nodes
my @queries = (
	[ "SELECT count(*), sum(v), min(x), sum(f) FROM %s WHERE at BETWEEN '2026-03-23' AND '2026-03-28'", qr/GpubtreeAggregate\) on _hyper/ ],
	[ "SELECT x, count(*), sum(v), sum(f) FROM %s WHERE at BETWEEN '2026-03-23' AND '2026-03-28' GROUP BY x", qr/GpubtreeAggregate\) on _hyper/ ],
	[ "SELECT date_trunc('day', at), count(*), sum(v) FROM %s WHERE at BETWEEN '2026-03-23' AND '2026-03-28' GROUP BY 1", qr/Gpubtree\w*Aggregate\) on _hyper/ ],
	[ "SELECT count(*), sum(v), max(x), sum(f) FROM %s WHERE at > '2026-03-20'", qr/GpubtreeAggregate\) on m\b/ ],
	[ 'SELECT count(*), sum(v), max(x), sum(f), count(DISTINCT v) FROM %s', qr/GpubtreeAggregate\) on m\b/ ],
	[ "SELECT x, count(*), sum(v), percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM %s WHERE at < '2026-04-15' GROUP BY x", qr/GpubtreeAggregate\) on m\b/ ],
	[ "SELECT sensor, x, count(*) FROM %s WHERE v %% 10 = 3 GROUP BY ROLLUP (sensor, x)", qr// ],
	[ "SELECT time_bucket('1 day', at), count(*), sum(v) FROM %s WHERE at > '2026-03-20' GROUP BY 1 ORDER BY 1 LIMIT 5", qr// ],
	[ "SELECT date_trunc('week', at), count(*), sum(f) FROM %s WHERE at > '2026-03-10' GROUP BY 1", qr/Gpubtree(?:Bucket)?Aggregate\) on m\b/ ],
	[ "SELECT count(*), sum(v) FROM %s WHERE at > now() - interval '80 years' AND at < now() + interval '80 years'", qr/GpubtreeAggregate\) on m\b/ ],
	[ "SELECT count(*), sum(v) FROM %s WHERE at < '2020-01-01'", qr/^(?!.*Gpubtree)/s ],
	[ "SELECT * FROM %s WHERE at > '2026-03-20' AND v %% 50 = 7", qr/GpubtreeScan/ ],
	[ "SELECT at, v FROM %s WHERE at > '2026-03-12' AND v %% 50 = 7 ORDER BY at LIMIT 5", qr/ChunkAppend/ ],
	[ "SELECT at, v, x FROM %s WHERE at > now() - interval '80 years' AND v %% 5 = 2 ORDER BY v DESC, at LIMIT 5", qr/ChunkAppend.*GpubtreeScan/s ],
	[ "SELECT sensor, first(v, at), last(v, at) FROM %s GROUP BY sensor", qr// ],
	[ "SELECT o, v FROM generate_series(timestamptz '2026-03-21', '2026-04-05', '1 hour') o JOIN %s ON at = o", qr// ],
	[ "SELECT o, (SELECT sum(v) FROM %s WHERE at BETWEEN o AND o + interval '1 day') FROM generate_series(timestamptz '2026-03-21', '2026-04-05', '1 day') o", qr// ],
	[ 'SELECT at FROM %s ORDER BY at OFFSET 2000 LIMIT 2', qr// ]);

sub compare_all
{
	my ($when) = @_;

	foreach (@queries)
	{
		my ($text, $pattern) = @$_;
		my $query = sprintf($text, 'm');
		my $without = sprintf($text, 'plain');
		my ($plan, $rows, $expected) = split(/^----\n?/m, $node->safe_psql('postgres', <<"SQL"));
SET enable_seqscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) $query;
\\echo ----
SELECT count(*), string_agg(q::text, ' ' ORDER BY q::text) FROM ($query) q;
\\echo ----
SET gpubtree.enabled = off;
SELECT count(*), string_agg(q::text, ' ' ORDER BY q::text) FROM ($without) q;
SQL
		like($plan, $pattern, "$when: the plan of $query");
		is($rows, "$expected\n", "$when: the rows of $query");
	}
	return;
}

foreach my $preloaded ('timescaledb, gpubtree', 'gpubtree, timescaledb')
{
	preload($preloaded);
	compare_all($preloaded);
}
$node->safe_psql('postgres', <<'SQL');
SELECT drop_chunks('m', older_than => timestamptz '2026-03-14');
DELETE FROM plain WHERE at < (SELECT min(at) FROM m);
INSERT INTO m SELECT i % 7, timestamptz '2026-06-01' + i * interval '20 minutes', i % 50, 'x' || i * 7 % 11, i / 4.0 FROM generate_series(0, 999) i;
INSERT INTO plain SELECT * FROM m WHERE at >= '2026-06-01';
UPDATE m SET v = v + 1 WHERE sensor = 3;
UPDATE plain SET v = v + 1 WHERE sensor = 3;
SQL
compare_all('after drop_chunks()');
gpb_nothing_crashed($node);
$node->stop;
done_testing();
