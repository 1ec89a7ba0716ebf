/*-------------------------------------------------------------------------
 *
 * handler.c
 *	  What the access method can do, and which function does it.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "commands/vacuum.h"
#include "fmgr.h"

#include "index/index.h"
#include "index/scan_parallel.h"

PG_FUNCTION_INFO_V1(gpubtree_handler);

/*
 * The handler of CREATE ACCESS METHOD.  Strategies are numbered as btree's, since PostgreSQL takes
 * "<" for number 1 of every ordered access method.
 *
 * Up to PostgreSQL 17 there are no unique indexes: ON CONFLICT of these servers fails on a table
 * with a unique index of any access method but btree.
 */
Datum
gpubtree_handler(PG_FUNCTION_ARGS)
{
	static const IndexAmRoutine routine = {
		.type = T_IndexAmRoutine,

		.amstrategies = BTMaxStrategyNumber,
		.amsupport = GPB_NPROC,
		.amoptsprocnum = 0,
		.amcanorder = true,
		.amcanorderbyop = false,
		.amcanbackward = true,
		.amcanunique = GPB_CAN_UNIQUE,
		.amcanmulticol = true,
		.amoptionalkey = true,
		.amsearcharray = true,
		.amsearchnulls = true,
		.amstorage = false,
		.amclusterable = true,
		.ampredlocks = true,
		.amcanparallel = true,
		.amcaninclude = true,
		.amusemaintenanceworkmem = false,
		.amparallelvacuumoptions =
			VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_COND_CLEANUP,
		.amkeytype = InvalidOid,

		.ambuild = gpb_build,
		.ambuildempty = gpb_buildempty,
		.aminsert = gpb_insert,
		.ambulkdelete = gpb_bulkdelete,
		.amvacuumcleanup = gpb_vacuumcleanup,
		.amcanreturn = gpb_canreturn,
		.amcostestimate = gpb_costestimate,
		.amoptions = gpb_options,
		.amproperty = NULL,
		.ambuildphasename = gpb_buildphasename,
		.amvalidate = gpb_validate,
		.amadjustmembers = gpb_adjustmembers,
		.ambeginscan = gpb_beginscan,
		.amrescan = gpb_rescan,
		.amgettuple = gpb_gettuple,
		.amgetbitmap = gpb_getbitmap,
		.amendscan = gpb_endscan,
		.ammarkpos = gpb_markpos,
		.amrestrpos = gpb_restrpos,
		.amestimateparallelscan = gpb_estimate_parallel_scan,
		.aminitparallelscan = gpb_parallel_scan_init,
		.amparallelrescan = gpb_parallel_scan_restart,
		GPB_LATER_CALLBACKS
	};

	GPB_RETURN_ROUTINE(&routine);
}
