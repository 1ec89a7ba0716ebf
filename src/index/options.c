/*-------------------------------------------------------------------------
 *
 * options.c
 *	  Storage parameters of an index: CREATE INDEX ... WITH (fillfactor = n).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/reloptions.h"
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
					  GPB_DEFAULT_FILLFACTOR, GPB_MIN_FILLFACTOR, 100,
					  ShareUpdateExclusiveLock);
}

/* amoptions: parse the storage parameters. */
bytea *
gpb_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt table[] = {
		{"fillfactor", RELOPT_TYPE_INT, offsetof(GpbOptions, fillfactor)}
	};

	return (bytea *) build_reloptions(reloptions, validate, option_kind,
									  sizeof(GpbOptions),
									  table, lengthof(table));
}

/* The percentage of a leaf page that a build, or a split at the right edge, fills. */
int
gpb_fillfactor(Relation index)
{
	GpbOptions *options = (GpbOptions *) index->rd_options;

	return options ? options->fillfactor : GPB_DEFAULT_FILLFACTOR;
}
