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
	IndexAmRoutine *routine = makeNode(IndexAmRoutine);

	routine->amstrategies = BTMaxStrategyNumber;
	routine->amsupport = GPB_NPROC;
	routine->amoptsprocnum = 0;
	routine->amcanorder = true;
	routine->amcanorderbyop = false;
	routine->amcanbackward = true;
	routine->amcanunique = GPB_CAN_UNIQUE;
	routine->amcanmulticol = true;
	routine->amoptionalkey = true;
	routine->amsearcharray = true;
	routine->amsearchnulls = true;
	routine->amstorage = false;
	routine->amclusterable = true;
	routine->ampredlocks = true;
	routine->amcanparallel = true;
	routine->amcaninclude = true;
	routine->amusemaintenanceworkmem = false;
	routine->amparallelvacuumoptions =
		VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_COND_CLEANUP;
	routine->amkeytype = InvalidOid;

	routine->ambuild = gpb_build;
	routine->ambuildempty = gpb_buildempty;
	routine->aminsert = gpb_insert;
	routine->ambulkdelete = gpb_bulkdelete;
	routine->amvacuumcleanup = gpb_vacuumcleanup;
	routine->amcanreturn = gpb_canreturn;
	routine->amcostestimate = gpb_costestimate;
	routine->amoptions = gpb_options;
	routine->amproperty = NULL;
	routine->ambuildphasename = gpb_buildphasename;
	routine->amvalidate = gpb_validate;
	routine->amadjustmembers = gpb_adjustmembers;
	routine->ambeginscan = gpb_beginscan;
	routine->amrescan = gpb_rescan;
	routine->amgettuple = gpb_gettuple;
	routine->amgetbitmap = gpb_getbitmap;
	routine->amendscan = gpb_endscan;
	routine->ammarkpos = gpb_markpos;
	routine->amrestrpos = gpb_restrpos;
	routine->amestimateparallelscan = gpb_estimate_parallel_scan;
	routine->aminitparallelscan = gpb_parallel_scan_init;
	routine->amparallelrescan = gpb_parallel_scan_restart;
	gpb_set_later_callbacks(routine);

	PG_RETURN_POINTER(routine);
}
