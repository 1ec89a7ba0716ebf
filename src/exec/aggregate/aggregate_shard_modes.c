/*-------------------------------------------------------------------------
 *
 * aggregate_shard_modes.c
 *	  Settings under which constants are written that shards read.
 *
 * postgres_fdw writes constants of WHERE as a session on a shard reads them, whatever the settings
 * here are, but not those of target lists and of groups: with DateStyle 'SQL, DMY' a shard would
 * take the 3rd of February in a FILTER for the 2nd of March, and with few extra_float_digits it
 * would get another number.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/guc.h"

#include "exec/aggregate/aggregate_shards.h"

/* Of names all but those of pg_catalog are qualified: a shard's session looks there alone. */
static const struct
{
	const char *name;
	const char *value;
}			modes[] = {
	{"datestyle", "ISO"},
	{"intervalstyle", "postgres"},
	{"extra_float_digits", "3"},
	{"search_path", "pg_catalog"}
};

int
gpb_shard_modes_enter(void)
{
	int			level = NewGUCNestLevel();

	for (int i = 0; i < lengthof(modes); i++)
		(void) set_config_option(modes[i].name, modes[i].value, PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

void
gpb_shard_modes_leave(int level)
{
	AtEOXact_GUC(true, level);
}
