/*-------------------------------------------------------------------------
 *
 * unique.c
 *	  Unique indexes: which entries are equal, and whether a new one may be inserted.
 *
 * The rule is nbtree's (_bt_check_unique), and src/index/README argues why it holds here.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "hold.h"
#include "index/column_ranges.h"
#include "index/index.h"
#include "index/unique.h"

/* ---- equal entries ---- */

bool
gpb_unique_binds(Relation index, const bool *isnull)
{
	if (index->rd_index->indnullsnotdistinct)
		return true;
	for (int c = 0; c < IndexRelationGetNumberOfKeyAttributes(index); c++)
	{
		if (isnull[c])
			return false;
	}
	return true;
}

bool
gpb_equal_keys_are_same(const GpbLayout *layout)
{
	return gpb_coding_key_is_exact(gpb_column_coding(layout, gpb_count_keys(layout) - 1));
}

/* Put a field in the place of the one that a column has in a key. */
static inline GpbKey
with_field(GpbKeyColumn column, GpbKey key, GpbKey field)
{
	return (key & ~(gpb_field_ones(column.bits) << column.shift)) | field << column.shift;
}

/*
 * Find the range of the entries whose key columns equal the values, in an index of several key
 * columns; "key" is that of the values.  Only the last column may have equal values with different
 * fields.
 */
static GpbRange
columns_equal_range(Relation index, const GpbLayout *layout, const Datum *values,
					const bool *isnull, GpbKey key)
{
	int			c = layout->nkeys - 1;
	GpbKeyColumn column = layout->key[c];
	GpbKeyRange keys = {key, key};
	GpbRange	range = {GPB_BOUND_MIN, GPB_BOUND_MAX};

	if (!isnull[c] && !gpb_coding_key_is_exact(column.coding))
	{
		GpbLoneColumn lone;
		GpbComparison comparison;
		GpbKeyRange fields;

		gpb_lone_column(layout, c, &lone);
		gpb_column_comparison_init(index, c, InvalidOid, &comparison);
		gpb_comparison_narrow(&lone.layout, &comparison, BTEqualStrategyNumber, values[c],
							  &range);
		if (!gpb_lone_fields(&lone, &range, &fields))
			elog(ERROR, "a value of index \"%s\" does not equal itself",
				 RelationGetRelationName(index));
		keys.lo = with_field(column, key, fields.lo);
		keys.hi = with_field(column, key, fields.hi);
	}
	range.lo.key = keys.lo;
	range.lo.tie = 0;
	range.hi = gpb_bound_behind(keys.hi, layout->key_width);
	return range;
}

GpbRange
gpb_equal_range(Relation index, const GpbLayout *layout, const Datum *values,
				const bool *isnull, GpbKey key)
{
	GpbRange	range = {GPB_BOUND_MIN, GPB_BOUND_MAX};

	if (layout->nkeys > 0)
		return columns_equal_range(index, layout, values, isnull, key);
	if (isnull[0])
		return gpb_range_null(layout);
	gpb_range_narrow(index, layout, BTEqualStrategyNumber, InvalidOid, values[0], &range);
	return range;
}

/* ---- the check ---- */

/* What the entries looked at so far mean for the new one */
typedef enum Verdict
{
	VERDICT_NONE,				/* none of them is in its way */
	VERDICT_UNIQUE,				/* it need not be unique: its own row is dead */
	VERDICT_MAYBE,				/* PARTIAL: there is an equal row, which may yet go away */
	VERDICT_WAIT,				/* whether it is unique another transaction's end decides */
	VERDICT_DUPLICATE
} Verdict;

/* A check under way */
typedef struct Check
{
	Relation	index;
	const GpbLayout *layout;
	Relation	heap;
	GpbUnique  *unique;
	SnapshotData dirty;
	bool		found_itself;	/* EXISTING: the row's own entry has been met */
} Check;

/*
 * Ask the table about a row that has an equal key: also about the other versions of its HOT chain.
 * Sets *all_dead if no version of it is visible to anybody.
 */
static Verdict
look_at_row(Check *check, ItemPointer tid, bool *all_dead)
{
	GpbUnique  *unique = check->unique;
	ItemPointerData own = unique->tid;

	*all_dead = false;
	if (unique->mode == UNIQUE_CHECK_EXISTING && ItemPointerEquals(tid, &own))
	{
		check->found_itself = true;
		return VERDICT_NONE;
	}
	if (!table_index_fetch_tuple_check(check->heap, tid, &check->dirty, all_dead))
		return VERDICT_NONE;
	*all_dead = false;
	if (unique->mode == UNIQUE_CHECK_PARTIAL)
		return VERDICT_MAYBE;
	if (TransactionIdIsValid(check->dirty.xmin) || TransactionIdIsValid(check->dirty.xmax))
		return VERDICT_WAIT;

	/*
	 * The equal row is there to stay.  That of the new entry may be dead, though: the index may be
	 * one that CREATE INDEX CONCURRENTLY fills, or the check a deferred one.
	 */
	if (!table_index_fetch_tuple_check(check->heap, &own, SnapshotSelf, NULL))
		return VERDICT_UNIQUE;
	return VERDICT_DUPLICATE;
}

/*
 * Look at the equal entries of a leaf, which is locked in any mode.  Those whose rows are dead to
 * everybody get the dead hint, so that others need not visit the table for them.
 */
static Verdict
look_at_leaf(Check *check, Buffer leaf)
{
	const GpbLayout *layout = check->layout;
	const GpbRange *range = &check->unique->range;
	Page		page = BufferGetPage(leaf);
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	int			i = gpb_page_lower_bound(page, layout->key_width, row_width, count, range->lo);
	Verdict		verdict = VERDICT_NONE;
	bool		hinted = false;

	for (; i < count && verdict == VERDICT_NONE; i++)
	{
		uint64		locator = gpb_page_locator(page, row_width, i);
		ItemPointerData tid;
		bool		all_dead;

		if (!gpb_bound_less(gpb_page_bound(page, layout->key_width, row_width, i), range->hi))
			break;
		if ((locator & GPB_LOC_DEAD) != 0)
			continue;
		if (gpb_locator_offset(locator) == InvalidOffsetNumber)
			gpb_corrupted(check->index, BufferGetBlockNumber(leaf),
						  "entry points to no heap tuple");
		ItemPointerSet(&tid, gpb_locator_block(locator), gpb_locator_offset(locator));
		verdict = look_at_row(check, &tid, &all_dead);
		if (all_dead && GPB_BEGIN_HINTS(leaf))
			hinted |= gpb_page_set_dead(page, i);
	}
	if (hinted)
		MarkBufferDirtyHint(leaf, true);
	return verdict;
}

/*
 * Look at all equal entries, from the leaf "first" on, which is exclusively locked and stays so.
 * The leaves to its right are locked share, each before its left neighbour is unlocked, so that no
 * entry and no page comes between.
 */
static Verdict
look_at_equals(Check *check, Buffer first)
{
	Buffer		leaf = first;
	Verdict		verdict;

	while ((verdict = look_at_leaf(check, leaf)) == VERDICT_NONE)
	{
		const GpbPageSpecial *special = gpb_special(BufferGetPage(leaf));
		GpbBound	high = gpb_page_high(BufferGetPage(leaf));
		Buffer		right;

		if (special->right == GPB_NO_BLOCK || !gpb_bound_less(high, check->unique->range.hi))
			break;
		right = gpb_read(check->index, special->right, BUFFER_LOCK_SHARE, check->layout);
		gpb_require_right(check->index, right, BufferGetBlockNumber(leaf), 0, high);
		if (leaf != first)
			UnlockReleaseBuffer(leaf);
		leaf = right;
	}
	if (leaf != first)
		UnlockReleaseBuffer(leaf);
	return verdict;
}

/* Wait for the transaction that a dirty snapshot has found.  No page may be locked. */
static void
wait_for_transaction(const Check *check)
{
	const SnapshotData *dirty = &check->dirty;
	TransactionId xid = TransactionIdIsValid(dirty->xmin) ? dirty->xmin : dirty->xmax;

	if (dirty->speculativeToken != 0)
		SpeculativeInsertionWait(xid, dirty->speculativeToken);
	else
		XactLockTableWait(xid, check->index, &check->unique->tid, XLTW_InsertIndex);
}

/* Raise the error of a duplicate.  No page may be locked. */
static void
raise_duplicate(Relation index, Relation heap, const Datum *values, const bool *isnull)
{
	char	   *key = BuildIndexValueDescription(index, (Datum *) values, (bool *) isnull);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates unique constraint \"%s\"",
					RelationGetRelationName(index)),
			 key != NULL ? errdetail("Key %s already exists.", key) : 0,
			 errtableconstraint(heap, RelationGetRelationName(index))));
}

bool
gpb_unique_check(Relation index, const GpbLayout *layout, Relation heap, Buffer leaf,
				 GpbUnique *unique)
{
	Check		check = {
		.index = index, .layout = layout, .heap = heap, .unique = unique
	};
	Verdict		verdict;

	InitDirtySnapshot(check.dirty);
	verdict = look_at_equals(&check, leaf);
	GPB_HOLD("unique-checked");
	switch (verdict)
	{
		case VERDICT_WAIT:
			UnlockReleaseBuffer(leaf);
			wait_for_transaction(&check);
			return false;
		case VERDICT_DUPLICATE:
			/* A serializable transaction had better be told that it must be tried again. */
			CheckForSerializableConflictIn(index, NULL, BufferGetBlockNumber(leaf));
			UnlockReleaseBuffer(leaf);
			raise_duplicate(index, heap, unique->values, unique->isnull);
			break;
		default:
			break;
	}
	unique->is_unique = verdict != VERDICT_MAYBE;
	if (unique->mode == UNIQUE_CHECK_EXISTING && verdict == VERDICT_NONE && !check.found_itself)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("failed to re-find tuple within index \"%s\"",
						RelationGetRelationName(index)),
				 errhint("This may be because of a non-immutable index expression."),
				 errtableconstraint(heap, RelationGetRelationName(index))));
	return true;
}
