/*-------------------------------------------------------------------------
 *
 * explain_labels.h
 *	  The lines that EXPLAIN shows of nodes of ours: one name for one thing.
 *
 * Where core has a name for it, that is used.  doc/manual.md explains each (Monitoring).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_EXPLAIN_LABELS_H
#define GPB_EXPLAIN_LABELS_H

/* ---- the table and the index; core's, but for "Index" in text ---- */

#define GPB_LABEL_INDEX				"Index"
#define GPB_LABEL_INDEX_NAME		"Index Name"
#define GPB_LABEL_RELATION_NAME		"Relation Name"
#define GPB_LABEL_PARTITIONS		"Partitions Of"
#define GPB_LABEL_SCHEMA			"Schema"
#define GPB_LABEL_ALIAS				"Alias"

/* ---- what is asked for ---- */

#define GPB_LABEL_JOIN_TYPE			"Join Type"
#define GPB_LABEL_GROUP_KEY			"Group Key"
#define GPB_LABEL_GROUPING_SETS		"Grouping Sets"
#define GPB_LABEL_GROUPING_SET		"Grouping Set"
#define GPB_LABEL_VALUES			"Values"
#define GPB_LABEL_INDEX_COND		"Index Cond"
#define GPB_LABEL_FILTER			"Filter"
#define GPB_LABEL_INDEX_FILTER		"Index Filter"
#define GPB_LABEL_SKIP_COND			"Skip Cond"
#define GPB_LABEL_FIRST				"First Entries"
#define GPB_LABEL_LAST				"Last Key of Each"
#define GPB_LABEL_WALKED			"Groups Walked"
#define GPB_LABEL_INNER_FILTER		"Inner Filter"
#define GPB_LABEL_INNER_REMOVED		"Rows Removed by Inner Filter"
#define GPB_LABEL_JOIN_FILTER		"Join Filter"
#define GPB_LABEL_JOIN_REMOVED		"Rows Removed by Join Filter"
#define GPB_LABEL_OFFSET			"Offset"
#define GPB_LABEL_HAVING			"Having"
#define GPB_LABEL_ANSWERS			"Answers"

/* ---- how it is done ---- */

#define GPB_LABEL_INNER_COLUMNS		"Inner Columns"
#define GPB_LABEL_COLUMNS			"Columns"
#define GPB_LABEL_ROWS				"Rows"
#define GPB_LABEL_OUTPUT_ORDER		"Output Order"
#define GPB_LABEL_SCAN_DIRECTION	"Scan Direction"
#define GPB_LABEL_GROUPS			"Groups"
#define GPB_LABEL_PROGRAMS			"Programs"
#define GPB_LABEL_STRATEGY			"Strategy"

/* ---- with ANALYZE: what was done, by whom ---- */

#define GPB_LABEL_ENGINE			"Engine"
#define GPB_LABEL_CHOICE			"Engine Choice"
#define GPB_LABEL_DESCENTS			"Descents"
#define GPB_LABEL_SKIP_GROUPS		"Skip Groups"
#define GPB_LABEL_SKIP_SEARCHES		"Skip Searches"
#define GPB_LABEL_SKIPS_GIVEN_UP	"Skips Given Up"
#define GPB_LABEL_BATCHES			"Batches"
#define GPB_LABEL_KEYS				"Keys"
#define GPB_LABEL_RANGES			"Ranges"
#define GPB_LABEL_MATCHES			"Matches"
#define GPB_LABEL_HEAP_FETCHES		"Heap Fetches"
#define GPB_LABEL_HEAP_PAGES		"Heap Pages Checked"
#define GPB_LABEL_SETTLED_PAGES		"Settled Pages"
#define GPB_LABEL_CELLS				"Leaves Passed by Cells"
#define GPB_LABEL_CELLS_NONE		"Leaves Passed by Filters"
#define GPB_LABEL_CELLS_RECORDED	"Cells Recorded"
#define GPB_LABEL_NOT_PASSED		"Leaves Not Passed"
#define GPB_LABEL_CPU_LEAVES		"Leaves Done by CPU"
#define GPB_LABEL_REFRESHED			"Blocks Refreshed"
#define GPB_LABEL_FALLBACKS			"Fallbacks"
#define GPB_LABEL_WIDENED			"Wide Sums"
#define GPB_LABEL_STATES			"States Merged"
#define GPB_LABEL_STATES_SORTED		"States Sorted"
#define GPB_LABEL_GAVE_UP			"Gave Up"
#define GPB_LABEL_GROUPS_FOUND		"Groups Found"
#define GPB_LABEL_RECHECKED			"Entries Rechecked"
#define GPB_LABEL_BATCHES_HALVED	"Batches Halved"
#define GPB_LABEL_RANGES_SORTED		"Ranges Sorted"
#define GPB_LABEL_ROWS_SKIPPED		"Rows Skipped by Counting"

#endif							/* GPB_EXPLAIN_LABELS_H */
