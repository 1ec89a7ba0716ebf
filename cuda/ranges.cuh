/*-------------------------------------------------------------------------
 *
 * ranges.cuh
 *	  A request of ranges as its kernels see it.
 *
 * A range that lies within one leaf is a *place*: a page and the rows of it, found by one thread,
 * read by a few lanes.  One that touches several leaves is cut into *tasks*, one for
 * each leaf; the tasks of all such ranges are numbered through, by a prefix sum, and
 * dealt out to all warps of the device evenly.  So a request is balanced whatever the
 * lengths of its ranges.
 *
 *		ranges	 0			 1	  2					   3	4
 *		leaves	|..a..|		 |b|  |.....c.....|........|...	|d|
 *				 1 leaf			   3 leaves
 *		tasks			 0 0 0				 3 3 3 ...			(prefix sums: where each begins)
 *
 * Where entries are listed, every range is cut into tasks: then the prefix sum of the tasks'
 * entries is where each entry goes, in the order of ranges and keys, without sorting.  A program
 * with steps, terms or groups has tasks alone as well: its kernels are for many entries, and a warp
 * that reads few is no worse than a launch more.
 *
 * Which kernels run depends on what was given:
 *
 *		one range				prepare (finds its leaves), long
 *		ranges, an answer each	prepare, locate, prefix sum, short, long
 *		ranges, one answer		as before; short and long add up in each block first
 *		ranges to be listed		prepare, locate, prefix sum, place, prefix sum, list; by a program
 *								those of ranges_judged.cu, with a limit after what finds it
 *		program with steps or	as the first three, but with program (ranges_program.cu) or groups
 *			terms; with groups		(ranges_groups.cu) in the place of short and long
 *
 * Short, long and program run once for each pass of the program (pass.cuh, program.cuh).  The
 * ranges of a large request are sorted first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGES_CUH
#define GPB_RANGES_CUH

#include <cuda_runtime.h>

#include "device/device.h"

#include "forms.cuh"
#include "program.cuh"
#include "tree.cuh"

/* Rows [from, to) of a clean leaf for range "number"; page NULL: nothing to read */
struct GpbRangePlace
{
	const char *page;
#ifdef GPB_CUDA_RUNS
	uint16		from : 15;
	uint16		runs : 1;		/* has the leaf runs? */
#else
	uint16		from;
#endif
	uint16		to;
	uint32		number;
};

/* What the kernels count.  A single answer lies right behind it. */
struct GpbRangesCounts
{
	uint64		leaves;
	uint64		nunclean;
	uint64		nentries;		/* of the list */
	uint64		ntasks;
	uint64		ngroups;		/* groups found, with those that there was no room for */
	uint64		faults;			/* not 0: some step faulted */
	uint64		unheld;			/* not 0: a narrow sum does not hold some value */
	uint64		launch;			/* number of the launch that counted */
};

/* The most words of a range */
#define GPB_RANGE_WORDS		(sizeof(GpbWideRange) / sizeof(uint64))

struct GpbRangesJob : GpbLeafJob
{
	GpbPass		pass;
	GpbVisibilityBits visibility;
	GpbTree		tree;
	GpbRangeForm form;
	uint32		n;
	const void *ranges;			/* in that form; NULL: there is the one range alone */
	uint64		range[GPB_RANGE_WORDS]; /* in the form of bounds */
	bool		total;			/* one answer, over all ranges */
	bool		only_tasks;		/* ranges within one leaf are cut into tasks too */
	const uint32 *order;		/* ranges in the order in which they are done; NULL: as
								 * numbered.  Arrays of ranges, but answers, follow it. */
	uint64		launch;			/* its number, see GpbRangesCounts */
	GpbRangesCounts *counts;
	int64	   *answers;
	uint32		words;			/* of an answer */
	GpbList		entries;		/* GpbRangeEntry */
	GpbList		pieces;			/* GpbUncleanPiece, or GpbWidePiece */
	uint32	   *first;			/* of each range that has tasks, its first separator */
	uint64	   *tasks;			/* of each range, how many; then where its last ends */
	GpbRangePlace *place;		/* of each range; where entries are listed, of each task */
	uint64	   *live;			/* of each task, its entries; then where its last ends */
	uint64		task_capacity;
};

/*
 * In a request with one answer, a block adds up in memory of its own what it reads of so many
 * leaves, in one kernel.  With at most 2^11 entries a leaf that is 2^31 values, which is what a bin
 * of a GpbFloatSum takes.
 */
#define GPB_BLOCK_LEAVES	((uint64) 1 << 20)
static_assert(GPB_MAX_LEAF_ENTRIES <= 1 << 11, "so many entries has no leaf");

struct GpbDevice;
struct GpbSortMemory;
struct GpbTreeProfile;

/* ---- ranges_run.cu ---- */

/* The passes of a request, and the format of its answers */
struct GpbRangesPlan
{
	GpbAnswerFormat format;
	const GpbProgram *program;	/* NULL: it is plain, or lists entries */
	int			npasses;
	GpbPass		pass[GPB_MOST_PASSES > GPB_MOST_PROGRAM_PASSES ? GPB_MOST_PASSES :
					 GPB_MOST_PROGRAM_PASSES];
	GpbGroupJob groups;			/* of a program with groups */
	bool		judges;			/* does the program list, but not all entries? */
	GpbListJob	list;			/* of one that judges */
};

/* Find job->order; sort has room for it and for n keys in "clamped". */
GpbDeviceStatus gpb_ranges_order(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
								 const GpbTreeProfile *profile, GpbSortMemory *sort);
/*
 * Submit all kernels of a request, in order; job->pass is set here.  scan has room for the prefix
 * sums, see gpb_ranges_scan_size; it is not used for one range.
 */
GpbDeviceStatus gpb_ranges_run(GpbDevice *device, cudaStream_t stream, GpbRangesJob *job,
							   const GpbRangesPlan *plan, void *scan, size_t scan_size);
/* Bytes that prefix sums of n ranges, and of so many tasks, want to work in */
GpbDeviceStatus gpb_ranges_scan_size(GpbDevice *device, uint32 n, uint64 tasks, size_t *size);
/* Load the kernels and see how many blocks of each fill the device. */
GpbDeviceStatus gpb_ranges_prepare_kernels(GpbDevice *device);

/* ---- the kernels ---- */

typedef void (*GpbRangesKernel) (GpbRangesJob);
typedef void (*GpbProgramKernel) (GpbRangesJob, GpbProgramPass);
typedef void (*GpbGroupsKernel) (GpbRangesJob, GpbGroupJob);
typedef void (*GpbJudgedKernel) (GpbRangesJob, GpbListJob);

/*
 * Short and long exist for each way to read rows (one by one; or four at a time, of 8, 12 or 16
 * bytes) and each shape of a pass, but for those that no request has: they are NULL.
 */
#define GPB_ROW_WAYS			4
#define GPB_PASS_KERNELS		(GPB_ROW_WAYS * GPB_PASS_SHAPES)
#define GPB_LIST_KERNELS		2
#define GPB_JUDGED_KERNELS		3
#define GPB_GROUPS_KERNELS		6	/* by where a block has sums of groups; few group slots, more */

/* Those of ranges_columns.cu: by way to read rows, then by number of columns */
#define GPB_COLUMNS_KERNELS		6

/*
 * What looks at leaves, for each form (forms.cuh).
 *
 *	ranges_locate.cu	gpb_single_range writes the request's one range into job->range, as
 *						GpbRangesJob has it
 *	ranges_short.cu,	by way to read rows, then by shape of the pass
 *		ranges_long.cu
 *	ranges_list.cu		place, list
 *	ranges_judged.cu	rank, place, list; gpb_choose_rank_launch comes between rank and place
 *	ranges_program.cu	by shape of the pass
 *	ranges_groups.cu	sums in rows alone, of the first rows in shared memory, in slots
 *	ranges_columns.cu	for programs that gpb_group_columns() describes; no form with runs
 */
#define GPB_DECLARE_RANGES(form) \
namespace form \
{ \
void		gpb_single_range(GpbRangeForm of, const void *ranges, int key_width, \
							 int layout_flags, uint64 *into); \
GpbDeviceStatus gpb_prepare_launch(GpbDevice *device, cudaStream_t stream, \
								   const GpbRangesJob *job, const GpbAnswerFormat *format); \
GpbDeviceStatus gpb_locate_launch(GpbDevice *device, cudaStream_t stream, \
								  const GpbRangesJob *job, const GpbAnswerFormat *format); \
extern const GpbRangesKernel gpb_short_kernels[GPB_PASS_KERNELS]; \
extern const GpbRangesKernel gpb_long_kernels[GPB_PASS_KERNELS]; \
extern const GpbRangesKernel gpb_list_kernels[GPB_LIST_KERNELS]; \
extern const GpbJudgedKernel gpb_judged_kernels[GPB_JUDGED_KERNELS]; \
extern const GpbProgramKernel gpb_program_kernels[GPB_PROGRAM_SHAPES]; \
extern const GpbGroupsKernel gpb_groups_kernels[GPB_GROUPS_KERNELS]; \
extern const GpbGroupsKernel gpb_columns_kernels[GPB_COLUMNS_KERNELS]; \
}

GPB_FOR_FORMS(GPB_DECLARE_RANGES)

/* ---- what looks at no leaf ---- */

/* In ranges_ends.cu: before and after the passes */
GpbDeviceStatus gpb_lower_bounds_launch(GpbDevice *device, cudaStream_t stream,
										const GpbRangesJob *job, uint64 base, uint64 most,
										uint64 *lower);
GpbDeviceStatus gpb_normalize_launch(GpbDevice *device, cudaStream_t stream,
									 const GpbRangesJob *job, const GpbAnswerFormat *format);
#define GPB_PREPARE_THREADS	256

/* Blocks of so many threads that make the summary of the visibility bits */
static inline uint32
gpb_summary_blocks(const GpbVisibilityBits *visibility)
{
	uint32		groups = gpb_summary_words(visibility->heap_blocks) * 32;

	return (groups + GPB_PREPARE_THREADS - 1) / GPB_PREPARE_THREADS;
}

/* In ranks.cu: the limit of a list, see ranges_judged.cu */
GpbDeviceStatus gpb_begin_ranks_launch(GpbDevice *device, cudaStream_t stream,
									   const GpbListJob *list);
GpbDeviceStatus gpb_choose_rank_launch(GpbDevice *device, cudaStream_t stream,
									   const GpbListJob *list, uint32 blocks);
/* In group_copies.cu: before and after the kernel that finds the groups */
GpbDeviceStatus gpb_clear_copies_launch(GpbDevice *device, cudaStream_t stream,
										const GpbGroupJob *groups);
GpbDeviceStatus gpb_merge_copies_launch(GpbDevice *device, cudaStream_t stream,
										const GpbGroupJob *groups);
GpbDeviceStatus gpb_finish_groups_launch(GpbDevice *device, cudaStream_t stream,
											const GpbRangesJob *job, const GpbGroupJob *groups,
											const GpbAnswerFormat *format);

/* Blocks that fill the device, for each of these of one form */
struct GpbRangesGrids
{
	uint32		short_blocks[GPB_PASS_KERNELS];
	uint32		long_blocks[GPB_PASS_KERNELS];
	uint32		list_blocks[GPB_LIST_KERNELS];
	uint32		judged_blocks[GPB_JUDGED_KERNELS];
	uint32		program_blocks[GPB_PROGRAM_SHAPES];
	uint32		groups_blocks[GPB_GROUPS_KERNELS];
	uint32		columns_blocks[GPB_COLUMNS_KERNELS];
};

/* A kernel's parameters may take so many bytes on every GPU. */
#define GPB_PARAMETER_BYTES		4096
static_assert(sizeof(GpbRangesJob) + sizeof(GpbGroupJob) <= GPB_PARAMETER_BYTES &&
			  sizeof(GpbRangesJob) + sizeof(GpbListJob) <= GPB_PARAMETER_BYTES &&
			  sizeof(GpbRangesJob) + sizeof(GpbProgramPass) <= GPB_PARAMETER_BYTES,
			  "a kernel has too many bytes of parameters");

/* Ways for a lane to read a leaf's rows; tuning.cuh says which is used where. */
enum GpbLeafVariant
{
	GPB_LEAF_ROWS,				/* one row at a time, words as needed */
	GPB_LEAF_QUADS,				/* four rows at a time, in words of 16 bytes */
	GPB_LEAF_VARIANTS
};

#endif							/* GPB_RANGES_CUH */
