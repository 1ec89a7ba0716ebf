/*-------------------------------------------------------------------------
 *
 * column_ranges.h
 *	  Conditions on the columns of a key, as ranges of the index.
 *
 * The conditions on one column are a set of its fields (key_columns.h).  As long as columns, from
 * the first on, have single fields, each combination of these with the fields of the next column is
 * a range of the index.  What no range says is tested for each entry.
 *
 * A key of one column is a field as wide as the key.  NULL has no field there, since entries tell
 * it by their locators, so the column's set says by itself whether NULL is in it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_COLUMN_RANGES_H
#define GPB_COLUMN_RANGES_H

#include "access/skey.h"

#include "key_columns.h"
#include "index/index.h"

/*
 * A column by itself, as the key of an index of one column, in whose terms key.c speaks, and where
 * the keys of its type lie.  NULLs are none of them.  A key's code is what it is above "first", but
 * for that of NaN (GPB_COLUMN_NAN), whose key is at an end of the type and apart from the others.
 * Of the only column of a key fields are keys, all of which count.
 */
typedef struct GpbLoneColumn
{
	GpbKeyColumn column;
	bool		is_key;			/* the only column; first has no meaning then */
	GpbLayout	layout;
	GpbKeyRange type;
	GpbKey		first;			/* the key of code 0 */
} GpbLoneColumn;

/* Describe key column c, counted from 0. */
extern void gpb_lone_column(const GpbLayout *layout, int c, GpbLoneColumn *lone);
/*
 * Find the fields of the values in a range, which gpb_comparison_narrow() has made for the column
 * by itself.  Returns false if there are none.
 */
extern bool gpb_lone_fields(const GpbLoneColumn *lone, const GpbRange *range,
							GpbKeyRange *fields);

/*
 * Find the fields of the keys that the column by itself would have in a closed range.  Returns
 * false if there are none.
 */
extern bool gpb_fields_of_keys(const GpbLoneColumn *lone, GpbKeyRange keys, GpbKeyRange *fields);
/*
 * The key that the column by itself would have for a field that is not NULL.  It may be above the
 * keys of the type, as the field may be above those of values.  Where NULL comes first and has a
 * bit of its own, there are many fields between NULL and the first value: they have that one's key.
 */
extern GpbKey gpb_lone_key(const GpbLoneColumn *lone, GpbKey field);

/*
 * The fields that a column may have: disjoint closed ranges in ascending order.  A set must not be
 * copied, since a single range is most often in the set itself.
 */
typedef struct GpbFieldSet
{
	bool		all;			/* there is no condition on the column */
	bool		null;			/* NULL is in the set: of the only column of a key, n is 0 then */
	uint32		n;
	GpbKeyRange *ranges;		/* &single, or allocated */
	GpbKeyRange single;
} GpbFieldSet;

/* What the conditions leave of each key column; all memory is of the context given */
typedef struct GpbColumnSets
{
	const GpbLayout *layout;
	MemoryContext context;
	bool		narrowed;		/* some column has a condition */
	GpbFieldSet column[GPB_MAX_KEYS];
	int			ntested;		/* columns that the ranges do not bound */
	uint8		tested[GPB_MAX_KEYS];
} GpbColumnSets;

/* Begin with no condition.  layout must stay as long as the sets are used. */
extern void gpb_column_sets_init(GpbColumnSets *sets, const GpbLayout *layout,
								 MemoryContext context);
/* Begin anew with no condition, and free what the sets have allocated. */
extern void gpb_column_sets_reset(GpbColumnSets *sets);

/* Add all conditions that others, on the same layout, were made of. */
extern void gpb_column_sets_narrow(GpbColumnSets *sets, const GpbColumnSets *by);
/* Add the condition that key column c, counted from 0, is NULL, or that it is not. */
extern void gpb_column_narrow_null(GpbColumnSets *sets, int c, bool is_null);
/*
 * Add the condition "column OP value", where value is not NULL.  gpb_column_comparison_init() has
 * made the comparison.
 */
extern void gpb_column_narrow(GpbColumnSets *sets, int c, GpbComparison *comparison,
							  StrategyNumber strategy, Datum value);
/* Add the condition "column OP ANY (array)". */
extern void gpb_column_narrow_any(GpbColumnSets *sets, int c, GpbComparison *comparison,
								  StrategyNumber strategy, Datum array);

/*
 * Find the ranges of the index where all entries are that satisfy the conditions.  set->ranges is
 * enlarged as needed, in the current memory context.  Entries of the ranges satisfy the conditions
 * if gpb_column_sets_pass() says so.
 */
extern void gpb_column_ranges(GpbColumnSets *sets, GpbRangeSet *set);

/*
 * Add to the set the ranges that the conditions on columns from "prefix" on admit of a group: of
 * the entries that have, in the columns before, the fields of the key "group", whose other bits are
 * zeros.  They lie behind the ranges that are there.  Without a condition on column "prefix", or
 * with one that says nothing (IS NOT NULL of a column without a code for NULL), that is the group.
 * Returns false if there would be more than "most" ranges.
 */
extern bool gpb_column_ranges_of_group(const GpbColumnSets *sets, int prefix, GpbKey group,
									   uint32 most, GpbRangeSet *set);
extern bool gpb_fields_pass(const GpbColumnSets *sets, GpbKey key);
/*
 * Raise *key to the least key, at or above it, that satisfies the conditions on the first ncolumns
 * columns.  Returns false if there is none.
 */
extern bool gpb_fields_next(const GpbColumnSets *sets, int ncolumns, GpbKey *key);
/* Lower *key to the greatest such key at or below it.  Returns false if there is none. */
extern bool gpb_fields_previous(const GpbColumnSets *sets, int ncolumns, GpbKey *key);

/* Does an entry with this key, in one of the ranges, satisfy the conditions? */
static inline bool
gpb_column_sets_pass(const GpbColumnSets *sets, GpbKey key)
{
	return sets->ntested == 0 || gpb_fields_pass(sets, key);
}

/* Find the ranges of all entries that satisfy the scan keys, whatever columns these are on. */
extern void gpb_columns_from_keys(Relation index, ScanKey keys, int nkeys, GpbColumnSets *sets,
								  GpbRangeSet *set);

#endif							/* GPB_COLUMN_RANGES_H */
