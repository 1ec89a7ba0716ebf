/*-------------------------------------------------------------------------
 *
 * hold.c
 *	  Points at which a test may hold a backend still; see hold.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "hold.h"

#ifdef GPB_HOLD_POINTS

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"

static char *gpb_hold_point = NULL;

void
gpb_hold_init(void)
{
	DefineCustomStringVariable("gpubtree.hold_point",
							   "Names the point at which this session waits for the advisory lock (0, 7001).",
							   NULL, &gpb_hold_point, "", PGC_USERSET,
							   GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

static bool
gpb_at_point(const char *point)
{
	return gpb_hold_point != NULL && strcmp(gpb_hold_point, point) == 0;
}

/* Fail here if the session asked for it. */
void
gpb_fail(const char *point)
{
	if (gpb_at_point(point))
		elog(ERROR, "failing at hold point \"%s\"", point);
}

/* Wait here if the session asked for it. */
void
gpb_hold(const char *point)
{
	if (!gpb_at_point(point))
		return;
	DirectFunctionCall2(pg_advisory_lock_int4, Int32GetDatum(0),
						Int32GetDatum(GPB_HOLD_LOCK));
	DirectFunctionCall2(pg_advisory_unlock_int4, Int32GetDatum(0),
						Int32GetDatum(GPB_HOLD_LOCK));
}

#endif							/* GPB_HOLD_POINTS */
