# Shared by the benchmark scripts; to be sourced.  They run against the server that PGHOST, PGPORT,
# PGUSER and PGDATABASE name, as a superuser, with gpubtree preloaded, and use a schema
# "bench" there, which stays (DROP SCHEMA bench CASCADE removes it).
#
# ROWS		rows of the large data set (default 50000000)
# ROUNDS	how often each figure is taken; the median is printed (default 5)
#
# Both sides run in turn in one session, on one table with both indexes.  The index that is not
# to be used is made invisible to the planner by marking it invalid: it is
# maintained all the same.
set -eu
: "${ROWS:=50000000}" "${ROUNDS:=5}"
bench=$(cd "$(dirname "$0")" && pwd)

sql() { psql -X -q -At -v ON_ERROR_STOP=1 "$@"; }

# ---- writing a psql script ----

# time_it LABEL STATEMENT: write what times a statement under a label.
time_it() { printf '\\timing on\n\\echo @ %s\n%s;\n\\timing off\n' "$1" "$2"; }

# use_index TABLE INDEXES: write what leaves the planner those indexes of the table alone; commas
# stand between them.
use_index()
{
	echo "UPDATE pg_index SET indisvalid = (indexrelid = ANY ('{$2}'::regclass[]))
		WHERE indrelid = '$1'::regclass;"
}

# Let the planner see both indexes of each table again.
use_both()
{
	sql -c "UPDATE pg_index SET indisvalid = true WHERE indrelid IN
		(SELECT oid FROM pg_class WHERE relnamespace = 'bench'::regnamespace)"
}

# same_answers TABLE NBTREE GPUBTREE QUERY: fail unless both lists of the table's indexes lead to
# the same answer in one snapshot.
same_answers()
{
	answers=$({
		echo "BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL enable_seqscan = off;"
		echo "SET LOCAL gpubtree.setup_cost = 0;"
		use_index "$1" "$2"
		printf '%s \\gset core_\n' "SELECT q::text AS answer FROM ($4) q"
		use_index "$1" "$3"
		printf '%s \\gset ours_\n' "SELECT q::text AS answer FROM ($4) q"
		cat <<'SQL'
ROLLBACK;
SELECT :'core_answer' = :'ours_answer' AS same \gset
\if :same
\else
\echo answers differ: :core_answer, :ours_answer
\quit
\endif
\echo same
SQL
	} | sql)
	[ "$answers" = same ] || { echo "$answers" >&2; return 1; }
}

# rounds COMMAND...: run the command, which writes a script, $ROUNDS times, after one round to warm
# up, whose labels begin with "warm".
rounds()
{
	"$@" | sed 's/^\\echo @ /\\echo @ warm-/'
	for _ in $(seq "$ROUNDS"); do
		"$@"
	done
}

# Run a psql script from stdin; write "LABEL MEDIAN-ms" for each label to stdout.
medians()
{
	script=$(mktemp)
	{ echo '\o /dev/null'; cat; } >"$script"
	sql -f "$script" >"$script.out"
	rm -f "$script"
	awk '
		$1 == "@" { label = $2 }
		$1 == "Time:" { n[label]++; ms[label, n[label]] = $2 }
		END {
			for (l in n) {
				if (l ~ /^warm-/) continue
				for (i = 2; i <= n[l]; i++)
					for (j = i; j > 1 && ms[l, j] + 0 < ms[l, j - 1] + 0; j--) {
						t = ms[l, j]; ms[l, j] = ms[l, j - 1]; ms[l, j - 1] = t
					}
				m = n[l] % 2 ? ms[l, (n[l] + 1) / 2] : (ms[l, n[l] / 2] + ms[l, n[l] / 2 + 1]) / 2
				printf "%s %.3f\n", l, m
			}
		}' "$script.out" | sort
	rm -f "$script.out"
}

# ---- pgbench ----

# rate FILE OPTION...: run the script FILE with these options and print transactions a second.
# Errors other than deadlocks end the script.
rate()
{
	file=$1
	shift
	pgbench -n -M prepared --max-tries=100 -f "$file" "$@" >"$file.out" 2>"$file.err" ||
		{ cat "$file.err" >&2; return 1; }
	awk '/^tps =/ { printf "%.0f\n", $3 }' "$file.out"
}

# middle FILE: print the median of a file of numbers.
middle() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# ---- figures ----

# value LABEL FILE: print one median.
value() { awk -v l="$1" '$1 == l { print $2 }' "$2"; }

# ratio A B: print A / B.
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b + 0 > 0) printf "%.3g", a / b; else print "-" }'; }

# only METHOD: write what leaves core that way to join alone; hashjoin, nestloop, mergejoin, or
# none.
only()
{
	for method in hashjoin nestloop mergejoin; do
		echo "SET enable_$method = $([ "$method" = "$1" ] && echo on || echo off);"
	done
}

# parallel WORKERS: write settings with which core chooses parallel plans wherever it can.
parallel()
{
	cat <<SETTINGS
SET max_parallel_workers_per_gather = $1;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SETTINGS
}

# report WHAT MEASURED GOAL CONDITION: print one line of the closing table.  CONDITION is an awk
# expression of x, the measured figure; the figure's unit stands in GOAL.  What is no number has not
# been measured, and meets nothing.
report()
{
	met=$(awk -v x="$2" "BEGIN { print (x ~ /^[0-9.]/ && ($4)) ? \"met\" : \"NOT MET\" }")
	printf '%-58s %12s   %-22s %s\n' "$1" "$2" "$3" "$met"
	if [ -n "${REPORT:-}" ]; then
		printf '%-58s %12s   %-22s %s\n' "$1" "$2" "$3" "$met" >>"$REPORT"
	fi
}

# Load the large data set, unless there is one of this size: bench.big (k bigint, v int), k = 1 ..
# ROWS in the table's order, every page all-visible, with both indexes.  Build times are kept in
# bench.built.
need_big()
{
	if [ "$(sql -c "SELECT to_regclass('bench.big') IS NOT NULL")" = t ]; then
		if [ "$(sql -c 'SELECT rows FROM bench.size')" = "$ROWS" ]; then return; fi
	fi
	echo "loading $ROWS rows" >&2
	need_schema
	sql <<SQL
SET client_min_messages = warning;
DROP TABLE IF EXISTS bench.big, bench.built, bench.size;
CREATE TABLE bench.big WITH (autovacuum_enabled = off, parallel_workers = 15) AS
	SELECT i AS k, (i % 1000)::int AS v FROM generate_series(1, $ROWS::bigint) i;
VACUUM ANALYZE bench.big;
CREATE TABLE bench.built (name text, ms numeric);
DO \$\$
DECLARE
	started timestamptz := clock_timestamp();
BEGIN
	SET LOCAL max_parallel_maintenance_workers = 8;
	CREATE INDEX big_nbtree ON bench.big (k) INCLUDE (v);
	INSERT INTO bench.built VALUES ('nbtree', extract(epoch FROM clock_timestamp() - started) * 1000);
	started := clock_timestamp();
	CREATE INDEX big_gpubtree ON bench.big USING gpubtree (k) INCLUDE (v);
	INSERT INTO bench.built VALUES ('gpubtree', extract(epoch FROM clock_timestamp() - started) * 1000);
END \$\$;
CHECKPOINT;
CREATE TABLE bench.size AS SELECT $ROWS::bigint AS rows;
SQL
}

# Make the schema "bench", with what the scripts need there, unless there is one.
need_schema()
{
	sql <<'SQL'
SET client_min_messages = warning;
CREATE SCHEMA IF NOT EXISTS bench;
CREATE EXTENSION IF NOT EXISTS gpubtree;
CREATE EXTENSION IF NOT EXISTS pg_walinspect;
SQL
}

# Load bench.shuffled, unless there is one of this size: the rows of bench.big in random order, with
# the same indexes.  LOADERS sessions (default 8) write it side by side, each a part in random order
# of its own.
need_shuffled()
{
	: "${LOADERS:=8}"
	if [ "$(sql -c "SELECT to_regclass('bench.shuffled_gpubtree') IS NOT NULL")" = t ] &&
		[ "$(sql -c 'SELECT rows FROM bench.shuffled_size')" = "$ROWS" ]; then return; fi
	echo "loading $ROWS rows in random order" >&2
	need_schema
	sql <<'SQL'
SET client_min_messages = warning;
DROP TABLE IF EXISTS bench.shuffled, bench.shuffled_size;
CREATE TABLE bench.shuffled (k bigint, v int) WITH (autovacuum_enabled = off, parallel_workers = 15);
SQL
	for loader in $(seq "$LOADERS"); do
		sql -c "SET work_mem = '1GB'" -c "INSERT INTO bench.shuffled SELECT k, k % 1000
			FROM (SELECT generate_series($loader, $ROWS::bigint, $LOADERS) AS k) s
			ORDER BY hashint8extended(k, 0)" &
	done
	wait
	[ "$(sql -c 'SELECT count(*) FROM bench.shuffled')" = "$ROWS" ] || return 1
	sql -c "VACUUM ANALYZE bench.shuffled"
	sql -c "SET max_parallel_maintenance_workers = 8" \
		-c "CREATE INDEX shuffled_nbtree ON bench.shuffled (k) INCLUDE (v)" &
	sql -c "CREATE INDEX shuffled_gpubtree ON bench.shuffled USING gpubtree (k) INCLUDE (v)"
	wait
	sql -c CHECKPOINT -c "CREATE TABLE bench.shuffled_size AS SELECT $ROWS::bigint AS rows"
}
