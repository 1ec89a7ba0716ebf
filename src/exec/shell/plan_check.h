/*-------------------------------------------------------------------------
 *
 * plan_check.h
 *	  Which columns of the scan tuple the expressions of a plan node may refer to.
 *
 * setrefs.c replaces whatever equals an entry of custom_scan_tlist by a reference to that column of
 * the scan tuple, in the target list, the qual and custom_exprs alike.  So an expression that a
 * node evaluates before it has filled the column must not equal the entry, nor contain what does
 * (rule M13).  Each node says, when its plan is made, which columns are filled by the time when it
 * evaluates what.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PLAN_CHECK_H
#define GPB_PLAN_CHECK_H

#include "postgres.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/*
 * Raise an error if setrefs.c would turn any part of the expressions into a reference to a column
 * of the scan tuple that is not among those from "first" to "last", counted from 1 on; with last =
 * 0 to any column.  The plan's custom_scan_tlist must be there.
 */
extern void gpb_check_expressions(const CustomPath *path, const CustomScan *scan,
								  List *expressions, int first, int last);

/*
 * Make the check of gpb_check_expressions() for the values of index conditions, "key OP value",
 * "key OP ANY (value)" and "key IS [NOT] NULL", which are all that a node evaluates of these.
 * Raise an error, too, if a whole condition would become a reference: the node takes it apart.
 */
extern void gpb_check_conditions(const CustomPath *path, const CustomScan *scan,
								 List *conditions, int first, int last);

/*
 * Make what the node evaluates agree with what it shows, once custom_exprs is there: setrefs.c of
 * PostgreSQL 16 and later wants a reference to say, wherever it stands, which outer joins may have
 * made it NULL, as the column of the scan tuple says it.  A node that makes an outer join tests
 * some of its expressions before the join and shows others after it; one scan tuple serves both.
 * What the node does not show may be made NULL by none.
 */
extern void gpb_agree_on_nulling(const CustomPath *path, CustomScan *scan);

/*
 * Make what a node that groups evaluates agree with its columns, which say already what it shows,
 * as gpb_agree_on_nulling() does for other nodes.  To PostgreSQL 18 grouping sets make columns NULL
 * as an outer join does, and conditions are on the columns before that.
 */
extern void gpb_agree_with_columns(CustomScan *scan);

#endif							/* GPB_PLAN_CHECK_H */
