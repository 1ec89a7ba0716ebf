/*-------------------------------------------------------------------------
 *
 * options.c
 *	  Storage parameters of an index: CREATE INDEX ... WITH (fillfactor = n, deduplicate_items = b).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/reloptions.h"
#include "access/tableam.h"
#include "utils/rel.h"

#include "index/index.h"

static relopt_kind option_kind;

/* Define the storage parameters, when the library is loaded. */
void
gpb_init_options(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "fillfactor",
					  "Percentage of each leaf page that a build fills",
					  -1, GPB_MIN_FILLFACTOR, 100,
					  ShareUpdateExclusiveLock);
	add_bool_reloption(option_kind, "deduplicate_items",
					   "Have the entries of a leaf share equal keys",
					   GPB_DEFAULT_DEDUPLICATE,
					   ShareUpdateExclusiveLock);
}

/* amoptions: parse the storage parameters. */
bytea *
gpb_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt table[] = {
		{"fillfactor", RELOPT_TYPE_INT, offsetof(GpbOptions, fillfactor)},
		{"deduplicate_items", RELOPT_TYPE_BOOL, offsetof(GpbOptions, deduplicate_items)}
	};

	return (bytea *) build_reloptions(reloptions, validate, option_kind,
									  sizeof(GpbOptions),
									  table, lengthof(table));
}

/*
 * The percentage of a leaf page that a build, or a split at the right edge, fills.
 *
 * A key of one column and 16 bytes, as a uuid, is filled a little more than others: what is free is
 * room for 27 entries then, and nbtree's fill factor of 90 leaves it room for 29.  Of keys with
 * several columns the first ones often come again with rising values of the last, so that inserts
 * gather on few leaves, which room on each leaf serves better.
 */
int
gpb_fillfactor(Relation index, const GpbLayout *layout)
{
	GpbOptions *options = (GpbOptions *) index->rd_options;

	if (options && options->fillfactor > 0)
		return options->fillfactor;
	return layout->nkeys == 0 && gpb_is_wide(layout->key_width) ? GPB_WIDE_FILLFACTOR :
		GPB_DEFAULT_FILLFACTOR;
}

/*
 * A table access method of which nothing is known may have offset numbers that no short locator
 * holds; those of a heap page are far below.
 */
bool
gpb_makes_runs(Relation index, const GpbLayout *layout, Relation heap)
{
	GpbOptions *options = (GpbOptions *) index->rd_options;

	return (options == NULL ? GPB_DEFAULT_DEDUPLICATE : options->deduplicate_items) &&
		layout->row_width == GPB_LOCATOR_WIDTH &&
		heap->rd_tableam == GetHeapamTableAmRoutine();
}
