/*-------------------------------------------------------------------------
 *
 * price_constants.h
 *	  What steps of the nodes cost: all constants of a price, each with where it comes from.
 *
 * Plans of ours are compared with core's, so a constant is in core's units.  Unless a comment says
 * otherwise that is cpu_operator_cost; with core's defaults 8 of these are the price of a row of a
 * sequential scan with one condition, which took from 0.06 to 0.2 us on the machines below.  All
 * pages were in memory: what it takes to read them has core's own prices.
 *
 * Where a comment names a script of test/bench, that shows whether the constant is still right, on
 * the machine where it runs; doc/measurements.md has what it printed.  Where a comment has figures
 * and no script, they are of a query made for it, on a machine of two cores without a device.  What
 * nobody measured is called an estimate.
 *
 * What makes the engine prefer the CPU or the device is in engine/engine_price.h, what core's scan
 * of an index of ours costs in index/cost.c.  gpubtree.setup_cost and gpubtree.batch_setup_cost are
 * settings (doc/manual.md).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PRICE_CONSTANTS_H
#define GPB_PRICE_CONSTANTS_H

/* ---- workers (workers.c) ---- */

/*
 * The time that it takes to start workers, in parallel_setup_cost, whose default is about 4 ms: for
 * any of them, and for each.  15 workers made a scan of 1,000 entries take 7.6 ms instead of 0.25
 * (doc/measurements.md, "On an H200").
 */
#define GPB_WORKERS_START		0.5
#define GPB_WORKER_START		0.1

/*
 * The time of a plain program, as a part of its price: an entry takes 1.3 ns, where GPB_ENTRY_PART
 * is 6.
 */
#define GPB_PLAIN_TIME			0.2

/*
 * The part of a leaf's price that is saved where it is passed by, since a cell has what it adds up
 * to: 40 ns where a plain program takes 500.
 */
#define GPB_PASSED_GAIN			0.95

/* ---- entries of one range (price.c) ---- */

/*
 * To aggregate an entry on the CPU, as a part of cpu_index_tuple_cost + cpu_tuple_cost, which
 * core's index-only scan is charged for it. test/bench/cpu_engine: from 20 to 50 times less time.
 */
#define GPB_ENTRY_PART			0.1

/*
 * One more value of an entry that the CPU aggregates anyway.  On one core 3 M entries took 17.3 ms
 * with one column's sum and 22.3 ms with the sums of three.
 */
#define GPB_VALUE_COST			0.1

/* To have a device aggregate a leaf: an estimate, next to nothing beside the request */
#define GPB_DEVICE_LEAF_COST	0.1

/* ---- heap visits (price.c), in units of cpu_tuple_cost ---- */

/*
 * To see a row, and, times log2 of a batch, to sort a visit.  Measured with rows of 80 bytes,
 * 10,000 and 1 M of them, in heap order and at random, where core's sequential scan with two
 * aggregates took 0.06 us a row, which is priced at 0.025: sorting took up to 0.1 us, if visits did
 * not come in the order of the heap.  From a device they come in no order, but not again for pages
 * that were visited once; so the price is that of the CPU's, and plans do not depend on the device.
 *
 * Of a page that is visited as a whole, a row takes some 16 ns, where a row of the sequential scan
 * takes 24: 10 M rows that were never vacuumed, in heap order, took 160 ms.
 */
#define GPB_VISIT_COST			0.6
#define GPB_VISIT_SORT_COST		0.15

/*
 * To find and lock a page again which an earlier batch of visits has been to, and whose rows have
 * left the CPU's caches: 0.4 us of the same measurement
 */
#define GPB_PAGE_AGAIN_COST		18.0

/*
 * Pages of a table that the CPU's caches hold: an estimate.  Core's price for an index scan of a
 * larger one leaves out what it takes to wait for memory, row by row, where the heap does not
 * follow the key: more than all that a visit of ours takes beyond the price of a row.
 */
#define GPB_CACHED_PAGES		1024.0

/*
 * From so many heap visits on, a look at which pages are settled is worth its microseconds:
 * estimate
 */
#define GPB_SAMPLED_VISITS		10000.0

/* ---- many ranges: outer rows, elements of arrays, groups (price.c, outer_price.c) ---- */

/*
 * A nested loop pays for each outer row a descent and, up to what the cache holds, a leaf and a
 * heap page read at random.  A batch pays once to be set up, little for a row, and for each
 * distinct page once; on a device it reads no pages of the index at all.  Where the two meet is
 * decided here: test/bench/join_sweep compares the choice with what is fastest.
 */
#define GPB_OUTER_START_COST	2000	/* to begin: contexts, index, arrays */
#define GPB_OUTER_RUN_COST		1000	/* to set a batch up */
#define GPB_OUTER_OPEN_COST		500		/* to open a further partition, and its index */
#define GPB_OUTER_ROW_COST		10	/* to keep an outer row, make its key and sort it */
#define GPB_EXCHANGE_COST		1	/* to exchange its range: sorted twice, but no row is kept */
#define GPB_OUTER_LEAF_COST		60	/* to find a leaf and search it */
#define GPB_OUTER_DEVICE_COST	1	/* to have a key searched by the device */
#define GPB_OUTER_MATCH_COST	4	/* to list an entry and combine it with its outer row */
#define GPB_OUTER_TEST_COST		1	/* to have an entry tested by a program */
#define GPB_OUTER_ORDER_COST	2	/* times log2 of a batch's matches: to sort one */

/* To aggregate an entry on the CPU: GPB_ENTRY_PART, with core's defaults */
#define GPB_OUTER_COUNT_COST	0.6

/*
 * To begin, merge and round an exact sum of float8 in the answer to one range.  With 100,000 ranges
 * of 15 entries the sum of integers took 190 ms, one of float8 320 ms, and three in one answer 610.
 */
#define GPB_RANGE_FLOAT_COST	60

/*
 * To begin a batch of the elements of arrays, whose length the planner does not know, and does
 * know.  With 2 M rows four keys of a counting query took 11 us where the index-only scan took 7,
 * nine 18 and 10, and a hundred 60 and 62.  Per key the price of a batch is some 0.6 below core's,
 * which pays for pages read at random. test/bench/any_array has many keys.
 */
#define GPB_ARRAY_START_COST	300
#define GPB_KNOWN_START_COST	16000

/*
 * From so many keys on a batch brings the rows as soon as core's scan of the index does, and a
 * device sooner.  On the CPU, 8 M rows, index-only: 1,000 keys 0.45 ms and 0.43, 3,000 keys 0.9 and
 * 1.2, 100,000 keys 31 and 29; with rows of the heap 0.55 and 0.7, 1.7 and 1.5, 74 and 70.
 */
#define GPB_MANY_KEYS			1000

/*
 * A range whose bounds come from the rows of an outer query is answered for each of them.  Batches
 * of ranges do that better, though core's guesses of the ranges make it look dearer; so a node for
 * one range is charged so many times gpubtree.setup_cost to begin.  An estimate.
 */
#define GPB_EACH_ROW_SETUP		100.0

/* ---- programs (compile/program_build.c, program_codes.c) ---- */

/*
 * A step, besides that for a step which looks a value up in a table, and a term, for one entry on
 * the CPU. Where core took 40 ns for an operator (sums of 3 M rows), a step took from 0.6 to 1.5
 * ns, a term of integers 6.5 ns and one of float8 24 ns.  To look a value up in a table of 192
 * words took some 20 ns, of a zone or of an array.  test/bench/programs has such queries.
 */
#define GPB_STEP_COST			0.03
#define GPB_TABLE_COST			0.4
#define GPB_TERM_COST			0.2

/*
 * To evaluate a condition for a value of the dictionary, beside core's price of the condition, and
 * to pass by a value of another column.  Measured with LIKE over 200,000 values of 30 bytes: 60 ns
 * of CPU time each, where core's index-only scan took 130 ns for a row and its price is 13 units.
 */
#define GPB_CODE_COST			4.0
#define GPB_OTHER_CODE_COST		0.1

/* To compare two values of the dictionary by a collation: an estimate */
#define GPB_COLLATE_COST		4.0

/* ---- groups of aggregates and rows (aggregate_price.c, scan_price.c) ---- */

/*
 * To find the group of an entry on the CPU. Measured with 2 M entries (release build, CPU time): a
 * sum took 5.7 ns an entry without groups, 15 ns with 9 or 1,000 groups, and 33 ns with 100,000,
 * which the CPU's caches do not hold.  Core's hash aggregates took 110 ns with 9 groups.  With 10 M
 * groups, which no cache holds, it is 260 ns; the price of that is the least with which core's scan
 * in the key's order, which takes 400 ns in all for groups by the key, is chosen where it is
 * faster. test/bench/programs has groups.
 *
 * To make and hand out a group took 0.19 us, where core's hash aggregates took 0.9: it has core's
 * price, cpu_tuple_cost.
 */
#define GPB_GROUP_ENTRY_COST	1.0
#define GPB_MANY_GROUPS_COST	2.0 /* besides, if the groups have more bytes than the next */
#define GPB_CACHED_GROUPS		(1024.0 * 1024.0)
#define GPB_MOST_GROUPS_COST	12.0	/* besides, if they have more bytes than the next */
#define GPB_NEAR_GROUPS			(64.0 * 1024.0 * 1024.0)

/*
 * To merge a group of a phase into one of a set: 0.1 us, where 1.2 M merges made three sets of
 * 394,000 groups
 */
#define GPB_MERGE_COST			4.0

/*
 * To have a column of a row that no index has as a word, and what more that takes of a numeric, and
 * of a text, which is looked up among those that came before.  A row itself costs what its scan
 * does.  Of 1.5 M rows of 72 bytes core's Append, scan and count(*) took 156 ns a row, and ours 79;
 * sum(v) took 15 ns more, aggregates of four columns 47, the sum of a numeric from 15 to 40, groups
 * of a text 125 where groups of an integer took 11 and of a date 61.
 */
#define GPB_ROW_VALUE_COST		0.5
#define GPB_ROW_NUMERIC_COST	0.5
#define GPB_ROW_TEXT_COST		3.0

/* To find ranks in one tree more beside others, a few descents and batches: an estimate */
#define GPB_RANK_LEAF_COST		4000.0

/* Entries of a group of an expression, at least, as far as the price is concerned: an estimate */
#define GPB_GROUP_ENTRIES		20.0

/*
 * To compare two groups of a program with values, and to take one in its turn: estimates.  Of 1 M
 * values of 1 M rows a percentile took from 0.46 to 0.6 s more than count(DISTINCT), which needs no
 * order, where core's sequential scan with one condition took 0.3 s, much other work beside: about
 * 1 a comparison.
 */
#define GPB_RECORD_COMPARE_COST	0.5
#define GPB_RECORD_COST			4.0

/* ---- buckets (bucket_price.c) ---- */

/*
 * test/bench/time_buckets measures buckets of many entries; that few entries make a bucket dear
 * shows where core's plan is faster.
 */
#define GPB_BUCKET_START_COST	3000	/* to begin: contexts, index, the zone's changes */
#define GPB_BUCKET_COST			200 /* to find a bucket, answer its range and make its row */
#define GPB_BUCKET_COLUMN_COST	5	/* to add up its answer for a further column */

/*
 * To find the group of an entry by other expressions than the bucket, to hand out a group, and to
 * hand out an exact sum of float8 in it.  On one core over 432,000 entries of 12 columns 1,200
 * groups with count(*) took 21 ms and 72,000 took 83 ms, where core's hash aggregates took 223 and
 * 283 ms.  On another machine 72,000 groups with count(*), and with one, three and ten averages of
 * float8, took 67, 74, 120 and 266 ms, and core's hash aggregates 275, 302, 374, 615.
 *
 * An entry's group costs twice that of GpubtreeAggregate's, which has one table of groups where a
 * bucket has one of its own.
 */
#define GPB_BUCKET_GROUP_ENTRY_COST	2.0
#define GPB_BUCKET_GROUP_COST		40
#define GPB_BUCKET_GROUP_FLOAT_COST 20

/* Entries of a bucket where the function's arguments are not known until run time: an estimate */
#define GPB_UNKNOWN_BUCKET		20.0

/* ---- rows (scan_price.c, scan_each.c, scan_groups.c, scan_stand_in.c) ---- */

/*
 * Measured with 2 M rows of 60 bytes on a busy machine, device off, where core's sequential scan
 * with one condition took 0.2 us a row and its price is 8 such units: an entry that came out as a
 * row took 0.17 us; a row that was visited in the heap 0.3 us more where the heap follows the key,
 * and 2.5 us where it does not, most of which is the price of pages.  To begin took 6 us more than
 * core's scan of the index, whose price for a few rows is that of some pages.  So where rows are
 * fetched, a filter has to save the fetch of ten of them before that pays: 8 rows of 10 took 12 us
 * where core's bitmap scan took 7, and 40 rows of 50 took 19 us in both.  test/bench/crossovers
 * shows where the two meet.
 */
#define GPB_SCAN_START_COST		3000	/* to begin an execution, beside gpubtree.setup_cost */
#define GPB_SCAN_FETCH_COST		12000	/* the same besides, if rows come from the heap */
#define GPB_SCAN_READ_COST		200 /* to begin to read rows in order, with a scan of core's */
#define GPB_SCAN_LIST_COST		4	/* to list an entry */
#define GPB_SCAN_ROW_COST		4	/* to make a row of an entry, beside its conditions */
#define GPB_SCAN_VISIT_COST		14	/* to fetch a row of the heap, beyond what whole pages cost */
#define GPB_SCAN_LEAF_ENTRIES	400 /* of the first leaf, about */

/*
 * One row of each key: to find the next key and the first entry of it, and to fetch its row, beside
 * the page of the table that this comes to.  SELECT DISTINCT k of 10,000 keys of 1 M rows at random
 * took from 5.7 to 9.6 us a key, where core's sequential scan with one condition took 0.05 a row,
 * much other work beside: from 900 units on.
 */
#define GPB_SCAN_EACH_COST		800

/*
 * To walk from group to group: a descent of the tree.  With 10,000 groups of 5 M entries two
 * descents and an entry took 3 us.
 */
#define GPB_WALK_GROUP_COST		100

/*
 * Rows are scattered if the square of the index's correlation is below this.  Without a device (5 M
 * rows, 1 M keys) GpubtreeScan, which visits the heap in its own order, took 0.9 s of CPU time of
 * scattered rows where core's scan took 1.2, and 0.31 where that took 0.25 of rows in the order of
 * the key.
 */
#define GPB_SCATTERED			0.25

/* ---- ranks (rank_plan.c, percentile_plan.c): test/bench/ranks, test/bench/crossovers ---- */

/* To cut off a part and to count it, beside what its entries cost one by one: an estimate */
#define GPB_RANK_PART_COST		8

/* Rows that are skipped one by one, on average, unless more have one value: an estimate */
#define GPB_RANK_SKIPPED_ROWS	100.0

/*
 * To begin, in units of gpubtree.setup_cost, beside the parts.  On the CPU the row behind 1,000
 * others took 45 to 55 us, where core's scan of the index took 55 to 80, and behind 300 others 38
 * to 53, where core took 21 to 30.
 */
#define GPB_RANK_SETUP			20

/*
 * The same for a percentile: on the CPU the median of 300 entries took 20 us, where core's
 * aggregate took 30; of 100 entries both took 15, and of 10 it took 12, where core's took 9.
 */
#define GPB_PERCENTILE_SETUP	3

/* ---- unknown bounds (unknown_bounds.c) ---- */

/*
 * The entries of a range whose length makes no difference to the choice of a plan: an estimate, for
 * which aggregating costs next to nothing
 */
#define GPB_UNKNOWN_ENTRIES		100.0

/* A path that reads at least this part of a range's entries is taken for one over that range. */
#define GPB_SAME_ENTRIES		0.9

#endif							/* GPB_PRICE_CONSTANTS_H */
