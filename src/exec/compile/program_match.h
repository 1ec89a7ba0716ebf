/*-------------------------------------------------------------------------
 *
 * program_match.h
 *	  Which parts of a query of one table go into a program, and why not.
 *
 * Each of the functions that returns a text returns NULL if there is nothing in the way, or why the
 * query cannot be answered.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_MATCH_H
#define GPB_PROGRAM_MATCH_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/compile/items.h"
#include "exec/compile/program_build.h"

/* Has the index all columns of the table that the expressions need? */
extern const char *gpb_match_columns(PlannerInfo *root, IndexOptInfo *index, List *expressions);

/*
 * Add to the program's filters what it can test of the restrictions, RestrictInfos.  *filters has
 * these as bare clauses, in the order in which core would test them; *others has the RestrictInfos
 * of all others.  For a program that lists: where one of its filters faults the caller tests all
 * restrictions in core's order, so it does no harm that they run ahead of the others.
 */
extern void gpb_split_filters(PlannerInfo *root, RelOptInfo *rel, GpbProgramBuilder *builder,
							  List *restrictions, List **filters, List **others);

/*
 * Add the group expressions to the program.  *types has a base type for each, palloc'd.  Those of
 * float8 are refused unless the caller merges the groups of equal values with different bits.
 */
extern const char *gpb_match_groups(GpbProgramBuilder *builder, List *groups, bool merges_floats,
									GpbWordType **types);

/*
 * May the program have no answer, so that the ordinary plan must be at hand?  Its groups may take
 * too much memory, a step may fault, evaluating a constant may fail, and a value in a list of
 * constants may turn out to be NULL.
 */
extern bool gpb_program_may_give_up(const GpbProgramBuilder *builder, const GpbProgramPlan *plan);

/* ---- a query's parts ---- */

/* What a query asks of the entries of an index that are in its ranges */
typedef struct GpbEntriesQuery
{
	List	   *filters;		/* RestrictInfos: which of them */
	List	   *groups;			/* expressions, each once */
	bool		merges_floats;	/* see gpb_match_groups() */
	List	   *aggrefs;		/* each once */
	List	   *others;			/* more Aggrefs, which the caller adds to the builder */
	bool		portable;		/* gpb_builder_be_portable() */
} GpbEntriesQuery;

/* How an index answers it; lists and arrays are palloc'd. */
typedef struct GpbEntriesMatch
{
	GpbProgramBuilder *builder; /* NULL: the items are over bare columns, and of all entries */
	List	   *filters;		/* bare clauses, in the order in which core would test them */
	GpbWordType *group_types;
	GpbAggregateItem *items;
	/* from gpb_match_entries_end() on */
	bool		has_program;	/* else the program is plain: there are items alone */
	GpbProgramPlan *program;	/* NULL without a builder */
	bool		is_uncertain;	/* the program may give up for another reason than values that are
								 * elsewhere, which are known before anything is read */
	bool		may_give_up;	/* gpb_program_may_give_up() */
} GpbEntriesMatch;

/*
 * Match a query to an index: by a plain program if it can be seen at once that this will do, which
 * takes no builder, else by another.  Returns NULL, or why the index cannot answer the query.
 */
extern const char *gpb_match_entries(PlannerInfo *root, IndexOptInfo *index,
									 const GpbEntriesQuery *query, GpbEntriesMatch *match);

/* Make the program, when all has been added. */
extern void gpb_match_entries_end(GpbEntriesMatch *match);

#endif							/* GPB_PROGRAM_MATCH_H */
