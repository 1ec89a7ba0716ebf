/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  The mirror's settings.
 *
 * Sizes of shared memory are fixed at server start.  What concerns the devices alone may change on
 * reload: the services then restart themselves.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/settings.h"

#include <limits.h>

#include "utils/guc.h"
#include "utils/plancache.h"

#include "hold.h"
#include "mirror/devices.h"
#include "mirror/mirror.h"

bool		gpb_enabled = true;
bool		gpb_enable_device = true;
int			gpb_device_sort = GPB_SORT_AUTO;
int			gpb_memory_limit = 0;
int			gpb_refresh_slots = 4;
int			gpb_staging_size = 2048;
int			gpb_device_maps = GPB_DEVICE_MAPS;
int			gpb_sparing_kinds = 1;
int			gpb_batch_slots = 64;
int			gpb_batch_memory = 64 * 1024;
int			gpb_max_mirrored_blocks = 16 * 1024 * 1024;
int			gpb_max_mirror_size = 0;
int			gpb_request_timeout = 10000;
bool		gpb_background_refresh = true;
int			gpb_background_refresh_rate = 200000;

#ifdef GPB_HOLD_POINTS
int			gpb_segment_blocks = GPB_USUAL_SEGMENT_BLOCKS;
#endif

static const struct config_enum_entry sort_choices[] = {
	{"auto", GPB_SORT_AUTO, false},
	{"on", GPB_SORT_ON, false},
	{"off", GPB_SORT_OFF, false},
	{NULL, 0, false}
};

/*
 * Plans that this session has cached were made for the other value: let all be made anew before
 * they are executed again.  This touches nothing but memory of this process, and so may be done at
 * any time, also when a transaction's end brings the old value back.
 */
static void
assign_enabled(bool value, void *extra)
{
	if (value != gpb_enabled)
		ResetPlanCache();
}

#ifdef GPB_HOLD_POINTS
static bool
check_segment_blocks(int *value, void **extra, GucSource source)
{
	if (*value % 32 == 0)
		return true;
	GUC_check_errdetail("A segment covers whole words of 32 blocks.");
	return false;
}

/*
 * Define gpubtree.segment_blocks.  This comes first: the bounds of gpubtree.max_mirrored_blocks
 * depend on it.
 */
static void
define_segment_blocks(void)
{
	DefineCustomIntVariable("gpubtree.segment_blocks",
							"Blocks that one segment of the changed map covers.",
							"Tests set it; only where hold points are compiled in.",
							&gpb_segment_blocks, GPB_USUAL_SEGMENT_BLOCKS,
							32, GPB_USUAL_SEGMENT_BLOCKS, PGC_POSTMASTER, GUC_NOT_IN_SAMPLE,
							check_segment_blocks, NULL, NULL);
}
#endif

void
gpb_mirror_define_settings(void)
{
#ifdef GPB_HOLD_POINTS
	define_segment_blocks();
	gpb_hold_number("gpubtree.device_maps", "Copies of map images on the device, at most.",
					&gpb_device_maps);
	gpb_hold_number("gpubtree.sparing_kinds",
					"Kinds of devices that spare the CPU: GPUs, and from 2 on the host device.",
					&gpb_sparing_kinds);
#endif
	DefineCustomBoolVariable("gpubtree.enabled",
							 "Enables whatever queries can do with gpubtree indexes beyond ordinary index scans.",
							 "Without it, plans have no nodes of gpubtree, and the device is not used.",
							 &gpb_enabled, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, assign_enabled, NULL);
	DefineCustomBoolVariable("gpubtree.enable_device",
							 "Enables the use of the device that mirrors gpubtree indexes.",
							 "Without it, the CPU answers from the index itself.",
							 &gpb_enable_device, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	gpb_define_devices();
	gpb_count_devices();
	DefineCustomEnumVariable("gpubtree.device_sort",
							 "Selects whether CREATE INDEX sorts on the device.",
							 "auto is on a CUDA device alone: the host device would take the time of a processor for it.",
							 &gpb_device_sort, GPB_SORT_AUTO,
							 sort_choices, PGC_USERSET, 0,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.memory_limit",
							"Memory of each device that mirrors may take.",
							"0 is four fifths of what is free when the service starts.",
							&gpb_memory_limit, 0, 0, INT_MAX, PGC_SIGHUP,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.max_mirror_size",
							"Largest index of which all pages are mirrored.",
							"Of a larger one only inner nodes are; 0 is as large as the device's memory allows.",
							&gpb_max_mirror_size, 0, 0, INT_MAX, PGC_SUSET,
							GUC_UNIT_KB, NULL, NULL, NULL);
	/* a setting of the server, since all backends go by what one of them finds */
	DefineCustomIntVariable("gpubtree.request_timeout",
							"Time without a sign of life from the service after which queries do without it.",
							"0 waits without end.",
							&gpb_request_timeout, 10000, 0, INT_MAX, PGC_SIGHUP,
							GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree.background_refresh",
							 "Brings mirrors in use up to date beside the queries that use them.",
							 "Without it, each query copies what has changed before it begins.",
							 &gpb_background_refresh, true, PGC_SIGHUP, 0,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.background_refresh_rate",
							"Pages that are copied to the device in the background in a second, at most.",
							NULL, &gpb_background_refresh_rate, 200000, 100, INT_MAX, PGC_SIGHUP, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.refresh_slots",
							"Transfers of changed pages to each device's service at the same time.",
							NULL, &gpb_refresh_slots, 4, 1, 64, PGC_POSTMASTER, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.staging_size",
							"Shared memory of each transfer of changed pages.",
							NULL, &gpb_staging_size, 2048, 128, 1024 * 1024, PGC_POSTMASTER,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.batch_slots",
							"Batches of searches and ranges that each device's service has at the same time.",
							NULL, &gpb_batch_slots, 64, 1, 1024, PGC_POSTMASTER, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.batch_memory",
							"Shared memory for keys and results of all batches of a device together.",
							"It is handed out in pieces of 64 kB.",
							&gpb_batch_memory, 64 * 1024, 64, 64 * 1024 * 1024, PGC_POSTMASTER,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.max_mirrored_blocks",
							"Blocks of all mirrored indexes together that changes are tracked for.",
							"Each takes two bits of shared memory; rounded up to 65536 for each index.",
							&gpb_max_mirrored_blocks, 16 * 1024 * 1024,
							(int) GPB_SEGMENT_BLOCKS, INT_MAX, PGC_POSTMASTER, 0,
							NULL, NULL, NULL);
}
