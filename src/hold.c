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

#include <limits.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/lock.h"
#include "storage/pmsignal.h"
#include "utils/guc.h"

static char *hold_point = NULL;
static int	hold_lock = GPB_HOLD_LOCK;

/* In the service of one device of several: its number */
int			gpb_hold_device = -1;

/* What is called at points written GPB_STEP */
void		(*gpb_step_hook) (const char *point) = NULL;

/* Define the settings of hold points, when the library is loaded. */
void
gpb_hold_init(void)
{
	DefineCustomStringVariable("gpubtree.hold_point",
							   "Names the point at which this session waits for an advisory lock.",
							   NULL, &hold_point, "", PGC_USERSET,
							   GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.hold_lock",
							"Number of the advisory lock that is waited for.",
							NULL, &hold_lock, GPB_HOLD_LOCK, 0, INT_MAX, PGC_USERSET,
							GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

/*
 * Define a setting for a number that only tests set.  Its default is the value that *number has
 * now.
 */
void
gpb_hold_number(const char *name, const char *description, int *number)
{
	DefineCustomIntVariable(name, description, NULL, number, *number, 1, INT_MAX, PGC_USERSET,
							GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

/* Did the session ask for this point by gpubtree.hold_point? */
bool
gpb_hold_wanted(const char *point)
{
	return hold_point != NULL && strcmp(hold_point, point) == 0;
}

/* Raise an error if the session asked for this point. */
void
gpb_fail(const char *point)
{
	if (gpb_hold_wanted(point))
		elog(ERROR, "failing at hold point \"%s\"", point);
}

/* Wait for the advisory lock if the session asked for this point. */
void
gpb_hold(const char *point)
{
	LOCKTAG		tag;

	if (!gpb_hold_wanted(point))
		return;
	/* The lock of pg_advisory_lock(0, hold_lock), which that function refuses in parallel mode */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, 0, hold_lock, 2);
	(void) LockAcquire(&tag, ExclusiveLock, true, false);
	LockRelease(&tag, ExclusiveLock, true);
}

/*
 * Is there a file of this kind that is meant for this point, or for this point in the service of
 * this device?  *path is its name.
 */
static bool
find_file(const char *kind, const char *point, char *path)
{
	snprintf(path, MAXPGPATH, "gpubtree_%s.%s", kind, point);
	if (access(path, F_OK) == 0)
		return true;
	if (gpb_hold_device < 0)
		return false;
	snprintf(path, MAXPGPATH, "gpubtree_%s.%s.%d", kind, point, gpb_hold_device);
	return access(path, F_OK) == 0;
}

/* In the service: wait as long as there is a file that asks for this point. */
void
gpb_hold_service(const char *point)
{
	char		hold[MAXPGPATH];
	char		held[MAXPGPATH];
	FILE	   *file;

	if (!find_file("hold", point, hold))
		return;
	snprintf(held, sizeof(held), "gpubtree_held.%s", hold + strlen("gpubtree_hold."));
	file = AllocateFile(held, PG_BINARY_W);
	if (file == NULL)
		elog(ERROR, "could not create file \"%s\": %m", held);
	FreeFile(file);
	while (access(hold, F_OK) == 0 && PostmasterIsAlive())
		pg_usleep(10000L);
	unlink(held);
}

/* In the service: sleep as long as a file for this point says, n times. */
void
gpb_slow_service(const char *point, uint64 n)
{
	char		slow[MAXPGPATH];
	FILE	   *file;
	long		ns = 0;

	if (!find_file("slow", point, slow))
		return;
	file = AllocateFile(slow, PG_BINARY_R);
	if (file != NULL)
	{
		if (fscanf(file, "%ld", &ns) == 1 && ns > 0)
			pg_usleep((long) (n * ns / 1000));
		FreeFile(file);
	}
}

#endif							/* GPB_HOLD_POINTS */
