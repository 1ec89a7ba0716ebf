# Whoever reads plans can read those of our nodes: auto_explain in every format with all it can log,
# debug_print_plan, pg_overexplain on 18, a copy of the plan that was written as text and read, which
# gives the same rows, and EXPLAIN of a statement while it runs, from within.
#
# The ordinary plan of a node that has one is shown by all of these, though it begins only then, or
# when the node gives up, and once: one that was explained while the statement ran is executed after.
#
# Guards: node_private.h, ordinary.c, and each node's ..._explain.c
use JSON::PP;
use GpubtreeNodes;
use GpubtreeTest;

my $node = gpb_node('main', settings => gpb_node_settings());

$node->safe_psql('postgres', 'CREATE EXTENSION gpubtree_test');
gpb_node_tables($node, 'heap');

my @queries = gpb_node_queries('heap');
my @texts = map { $_->[1] } @queries;
my $all = join('', map { "$_;\n" } @texts);
my %seen = map { $_->[0] => 1 } @queries;
my @nodes = sort grep { /^Gpubtree/ } keys %seen;

# Run statements in one session; returns the rows and the messages.
sub run
{
	my ($sql) = @_;
	my ($rows, $messages);

	is($node->psql('postgres', $sql, stdout => \$rows, stderr => \$messages), 0, 'no error');
	unlike($messages, qr/ERROR|could not|unrecognized/, 'nothing unrecognized');
	return ($rows, $messages);
}

# ---- auto_explain ----

# What auto_explain says of all queries, and of one within a function, with these settings.
sub auto_explained
{
	my (%setting) = (min_duration => 0, nested_statements => 'on', level => 'notice', @_);
	my $settings = join('', map { "SET auto_explain.log_$_ = $setting{$_};\n" } sort keys %setting);
	my ($rows, $messages) = run(<<"SQL");
LOAD 'auto_explain';
$settings
$all
DO \$\$ BEGIN PERFORM sum(v + 1) FROM heap_one WHERE ts > '2026-01-01 10:00'; END \$\$;
SQL
	my @plans = split(/^(?:psql:<stdin>:\d+: )?NOTICE:  duration: \S+ ms  plan:\n/m, $messages);

	shift @plans;
	# the context of what was nested
	return map { s/^CONTEXT: .*\z//msr } @plans;
}

my @everything = map { $_ => 'on' } qw(analyze verbose buffers wal timing triggers settings);
for my $format (qw(text xml json yaml))
{
	my @plans = auto_explained(@everything, format => $format);
	my $joined = join("\n", @plans);

	is(scalar(@plans), @queries + 1, "$format: each statement is logged");
	like($joined, qr/\b$_\b/, "$format: $_") for @nodes;
	if ($format eq 'json')
	{
		is(scalar(grep { !eval { decode_json($_) } } @plans), 0, 'each is JSON');
		# pg_qualstats looks at a node's outer and inner plan, and at no other
		unlike($joined, qr/"Parent Relationship": "child/, 'plans of nodes are outer and inner ones');
	}
	next if $format ne 'xml';
	for my $plan (@plans)
	{
		is($node->safe_psql('postgres', "SELECT xml_is_well_formed_document(\$xml\$$plan\$xml\$)"), 't',
			'it is XML');
	}
}

# Ordinary plans are shown whether or not the statement was instrumented.
my ($number) = grep { $texts[$_] =~ /sum\(v \+ 1\)/ } 0 .. $#texts;
my @bare = auto_explained();
my @analyzed = auto_explained(analyze => 'on');

like($bare[$number], qr/GpubtreeAggregate.*->  \w*Aggregate/s, 'the ordinary plan');
like($analyzed[$number], qr/GpubtreeAggregate.*->  \w*Aggregate.*never executed/s,
	'the ordinary plan, not executed');

# ---- debug_print_plan ----

my ($rows, $printed) = run(<<"SQL");
SET client_min_messages = log;
SET debug_print_parse = on;
SET debug_print_rewritten = on;
SET debug_print_plan = on;
$all
SQL
like($printed, qr/:methods $_\b/, "printed: $_") for @nodes;

# ---- copies ----

my ($expected) = run($all);
my ($reread) = run("LOAD 'gpubtree_test';\nSET gpubtree_test.reread_plans = on;\n$all");
my ($explained) = run("LOAD 'gpubtree_test';\nSET gpubtree_test.reread_plans = on;\n"
	  . join('', map { "EXPLAIN (VERBOSE) $_;\n" } @texts));

is($reread, $expected, 'rows of plans that were read again');
like($explained, qr/\b$_\b/, "read again: $_") for @nodes;

# ---- pg_overexplain ----

SKIP:
{
	skip('pg_overexplain comes with 18', 1)
	  if $node->safe_psql('postgres', 'SHOW server_version_num') < 180000;
	my ($over) = run("LOAD 'pg_overexplain';\n"
		  . join('', map { "EXPLAIN (DEBUG, RANGE_TABLE) $_;\nEXPLAIN (DEBUG, RANGE_TABLE, FORMAT JSON) $_;\n" } @texts));

	like($over, qr/\b$_\b.*Disabled Nodes/s, "with DEBUG: $_") for @nodes;
}

# ---- a statement that is explained while it runs ----

# Where g is 1 the sum of squares of f is out of range, and in part 1 that of h.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE again AS
SELECT i::int8 AS k, i % 4 AS g, (CASE i % 4 WHEN 1 THEN 1e-300 * i ELSE i END)::float8 AS f,
	(CASE i / 100 WHEN 1 THEN 1e-300 * i ELSE i END)::float8 AS h
FROM generate_series(1, 400) i;
CREATE INDEX again_k ON again USING gpubtree (k) INCLUDE (g, f, h);
CREATE TABLE part AS SELECT i AS id, i * 100::int8 AS lo, i * 100 + 99::int8 AS hi FROM generate_series(0, 3) i;
VACUUM ANALYZE again;
VACUUM ANALYZE part;
SQL
my %giving_up = (
	GpubtreeAggregate => 'SELECT g, stddev(f) FROM again WHERE g = o GROUP BY 1',
	GpubtreeBucketAggregate => 'SELECT k / 100, stddev(f) FROM again WHERE g = o GROUP BY 1',
	GpubtreeRangeAggregate => 'SELECT id, stddev(h) FROM part JOIN again ON k BETWEEN lo AND hi WHERE id = o GROUP BY 1');
for my $name (sort keys %giving_up)
{
	my $query = "SELECT o, q.* FROM (SELECT o, %s AS plan FROM generate_series(0, 3) o OFFSET 0) r,"
	  . " LATERAL ($giving_up{$name} OFFSET 0) q WHERE plan ~ '$name.*Aggregate' ORDER BY 1, 2";
	my ($got) = run('SET enable_seqscan = off;' . sprintf($query, 'gpubtree_test_explain_running()') . ';');
	my ($wanted) = run('SET gpubtree.enabled = off;' . sprintf($query, "'$name Aggregate'::text") . ';');

	is($got, $wanted, "$name: rows of a statement that was explained while it ran");
}

# ---- what we read of core's nodes (guards subquery_tree.c) ----

# Which expressions a node evaluates, and which plans are below it, src/exec/subquery/subquery_tree.c
# says node by node.  A node that is not there is taken for one that may evaluate anything; a field
# that a server's node has and this list has not may be such an expression or plan: look there first.
my %fields;
for (split(/\n(?=\S)/, <<'FIELDS'))
all: startup_cost total_cost plan_rows plan_width parallel_aware parallel_safe async_capable
	plan_node_id targetlist qual lefttree righttree initPlan extParam allParam disabled_nodes
SEQSCAN: scanrelid
SAMPLESCAN: scanrelid tablesample
INDEXSCAN: scanrelid indexid indexqual indexqualorig indexorderby indexorderbyorig
	indexorderbyops indexorderdir
INDEXONLYSCAN: scanrelid indexid indexqual recheckqual indexorderby indextlist indexorderdir
BITMAPINDEXSCAN: scanrelid indexid isshared indexqual indexqualorig
BITMAPHEAPSCAN: scanrelid bitmapqualorig
TIDSCAN: scanrelid tidquals
TIDRANGESCAN: scanrelid tidrangequals
SUBQUERYSCAN: scanrelid subplan scanstatus
FUNCTIONSCAN: scanrelid functions funcordinality
TABLEFUNCSCAN: scanrelid tablefunc
VALUESSCAN: scanrelid values_lists
CTESCAN: scanrelid ctePlanId cteParam
NAMEDTUPLESTORESCAN: scanrelid enrname
WORKTABLESCAN: scanrelid wtParam
CUSTOMSCAN: scanrelid flags custom_plans custom_exprs custom_private custom_scan_tlist
	custom_relids methods
RESULT: resconstantqual result_type relids
PROJECTSET:
APPEND: apprelids appendplans nasyncplans first_partial_plan part_prune_info
	part_prune_index child_append_relid_sets
MERGEAPPEND: apprelids mergeplans numCols sortColIdx sortOperators collations nullsFirst
	part_prune_info part_prune_index child_append_relid_sets
RECURSIVEUNION: wtParam numCols dupColIdx dupOperators dupCollations numGroups
BITMAPAND: bitmapplans
BITMAPOR: isshared bitmapplans
NESTLOOP: jointype inner_unique joinqual nestParams
MERGEJOIN: jointype inner_unique joinqual skip_mark_restore mergeclauses mergeFamilies
	mergeCollations mergeStrategies mergeNullsFirst mergeReversals
HASHJOIN: jointype inner_unique joinqual hashclauses hashoperators hashcollations hashkeys
HASH: hashkeys skewTable skewColumn skewInherit rows_total
MATERIAL:
MEMOIZE: numKeys hashOperators collations param_exprs singlerow binary_mode est_entries
	keyparamids est_calls est_unique_keys est_hit_ratio
SORT: numCols sortColIdx sortOperators collations nullsFirst
INCREMENTALSORT: numCols sortColIdx sortOperators collations nullsFirst nPresortedCols
GROUP: numCols grpColIdx grpOperators grpCollations
AGG: aggstrategy aggsplit numCols grpColIdx grpOperators grpCollations numGroups
	transitionSpace aggParams groupingSets chain
WINDOWAGG: winref partNumCols partColIdx partOperators partCollations ordNumCols ordColIdx
	ordOperators ordCollations frameOptions startOffset endOffset runCondition runConditionOrig
	startInRangeFunc endInRangeFunc inRangeColl inRangeAsc inRangeNullsFirst topWindow winname
UNIQUE: numCols uniqColIdx uniqOperators uniqCollations
GATHER: num_workers rescan_param single_copy invisible initParam
GATHERMERGE: num_workers rescan_param numCols sortColIdx sortOperators collations nullsFirst
	initParam
SETOP: cmd strategy numCols dupColIdx dupOperators dupCollations flagColIdx firstFlag
	numGroups cmpColIdx cmpOperators cmpCollations cmpNullsFirst
LOCKROWS: rowMarks epqParam
LIMIT: limitOffset limitCount limitOption uniqNumCols uniqColIdx uniqOperators
	uniqCollations
FIELDS
{
	my ($name, $list) = split(/:/, $_, 2);

	$fields{$name} = { map { $_ => 1 } split(' ', $list) };
}
for (split(/\n/, $node->safe_psql('postgres', 'SELECT gpubtree_test_plan_nodes()')))
{
	my ($name) = /^\{(\w+)/ or next;
	# from 16 on a field of what a node begins with has its name before it
	my @new = grep { !$fields{$name}{$_} && !$fields{all}{$_} } map { s/.*\.//r } /\s:([\w.]+)/g;

	is("@new", '', "$name has no field that is not known");
}

$node->stop;
done_testing();
