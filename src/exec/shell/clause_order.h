/*-------------------------------------------------------------------------
 *
 * clause_order.h
 *	  In which order clauses are tested: as core has it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CLAUSE_ORDER_H
#define GPB_CLAUSE_ORDER_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * The clauses, RestrictInfos or bare ones, as bare clauses in the order in which core would test
 * them: by security level, then by cost, then as they stand.
 */
extern List *gpb_order_clauses(PlannerInfo *root, List *clauses);

#endif							/* GPB_CLAUSE_ORDER_H */
