/*-------------------------------------------------------------------------
 *
 * key_exchange.c
 *	  Ranges of keys that several processes read, each some, and answer together, each a stretch of
 *	  the order of keys.
 *
 * Cuts come from samples that are taken of each sorted run at equal distances, so no part has much
 * more than the others, however keys are distributed (Shi and Schaeffer, "Parallel Sorting by
 * Regular Sampling", 1992).  A cut is not just a key but a place among all elements, which have the
 * order of key, run and place in the run: so equal keys can be parted, too.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/parallel.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "utils/memutils.h"

#include "exec/answer/key_exchange.h"
#include "hold.h"
#include "key_sort.h"
#include "large_array.h"
#include "waits.h"

/*
 * Parts for each process, so that those who are done sooner take more; the least ranges of a part
 * on average; and samples for each part.
 */
#define GPB_EXCHANGE_PARTS		16
#define GPB_EXCHANGE_LEAST_PART	256
#define GPB_EXCHANGE_SAMPLES	8

/* The sorted ranges of a process */
typedef struct GpbKeyRun
{
	dsa_pointer elements;		/* InvalidDsaPointer: there is no room yet */
	Size		size;			/* of the room */
	uint32		n;				/* ranges of this round */
} GpbKeyRun;

/*
 * Phases of the barrier are in turn one in which ranges are put in and one in which they are
 * answered.
 */
struct GpbKeyExchange
{
	Barrier		barrier;
	pg_atomic_uint32 next_part; /* the part that is taken next */
	pg_atomic_uint32 rounds;	/* at least so many there will be */
	int			nruns;
	GpbKeyRun	runs[FLEXIBLE_ARRAY_MEMBER];	/* the leader's, then those of workers */
};

/* How an element of a run is laid out */
typedef enum GpbRunElement
{
	GPB_RUN_NARROW,				/* a point, whose key is a uint64 */
	GPB_RUN_WIDE,				/* a point, whose key is a GpbKey */
	GPB_RUN_INTERVAL			/* a GpbKeyRange, ordered by where it begins */
} GpbRunElement;

/* A place among all elements, which is that of one of them */
typedef struct GpbCut
{
	GpbKey		key;
	uint32		run;
	uint32		at;
} GpbCut;

struct GpbExchangeSide
{
	GpbKeyExchange *shared;
	dsa_area   *area;
	MemoryContext context;
	GpbRunElement element;
	int			phase;			/* of the barrier; even: ranges are put in */

	/* the runs of the phase at hand, once they are cut */
	bool		cut;
	const void **runs;			/* of each, where it is in this process */
	uint32		nparts;
	GpbCut	   *cuts;			/* between nparts parts */
	void	   *part;			/* the part at hand */
	uint64		capacity;		/* in ranges */
};

/* sort_cuts() sorts places. */
static inline int
compare_cuts(const GpbCut *a, const GpbCut *b)
{
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

#define ST_SORT sort_cuts
#define ST_ELEMENT_TYPE GpbCut
#define ST_COMPARE(a, b) compare_cuts(a, b)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* sort_intervals() sorts intervals by where they begin. */
#define ST_SORT sort_intervals
#define ST_ELEMENT_TYPE GpbKeyRange
#define ST_COMPARE(a, b) ((a)->lo < (b)->lo ? -1 : (a)->lo > (b)->lo)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* ---- shared memory ---- */

Size
gpb_exchange_size(int workers)
{
	return offsetof(GpbKeyExchange, runs) + sizeof(GpbKeyRun) * (workers + 1);
}

/* Let the first round begin, in which nobody has put anything. */
static void
begin_rounds(GpbKeyExchange *shared)
{
	BarrierInit(&shared->barrier, 0);
	pg_atomic_write_u32(&shared->next_part, 0);
	pg_atomic_write_u32(&shared->rounds, 0);
	for (int i = 0; i < shared->nruns; i++)
		shared->runs[i].n = 0;
}

void
gpb_exchange_init(GpbKeyExchange *shared, int workers)
{
	memset(shared, 0, gpb_exchange_size(workers));
	pg_atomic_init_u32(&shared->next_part, 0);
	pg_atomic_init_u32(&shared->rounds, 0);
	shared->nruns = workers + 1;
	for (int i = 0; i < shared->nruns; i++)
		shared->runs[i].elements = InvalidDsaPointer;
	begin_rounds(shared);
}

void
gpb_exchange_renew(GpbKeyExchange *shared, dsa_area *area)
{
	for (int i = 0; i < shared->nruns; i++)
	{
		GpbKeyRun  *run = &shared->runs[i];

		if (DsaPointerIsValid(run->elements))
			dsa_free(area, run->elements);
		run->elements = InvalidDsaPointer;
		run->size = 0;
	}
	begin_rounds(shared);
}

GpbExchangeSide *
gpb_exchange_attach(GpbKeyExchange *shared, dsa_area *area, GpbRangeForm form,
					const GpbLayout *layout)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree key exchange",
												  ALLOCSET_DEFAULT_SIZES);
	GpbExchangeSide *side = MemoryContextAllocZero(context, sizeof(GpbExchangeSide));

	Assert(form != GPB_RANGE_BOUNDS);
	side->shared = shared;
	side->area = area;
	side->context = context;
	side->element = form == GPB_RANGE_KEYS ? GPB_RUN_INTERVAL :
		layout->key_width == GPB_WIDE_KEY ? GPB_RUN_WIDE : GPB_RUN_NARROW;
	side->runs = MemoryContextAllocZero(context, sizeof(void *) * shared->nruns);
	if (IsParallelWorker())
		GPB_HOLD("exchange-late");
	side->phase = BarrierAttach(&shared->barrier);
	GPB_HOLD("exchange-attached");
	return side;
}

bool
gpb_exchange_collects(const GpbExchangeSide *side)
{
	return side->phase % 2 == 0;
}

/* ---- to put in ---- */

/* The bytes of an element of a run */
static inline Size
element_size(const GpbExchangeSide *side)
{
	return side->element == GPB_RUN_NARROW ? sizeof(uint64) :
		side->element == GPB_RUN_WIDE ? sizeof(GpbKey) : sizeof(GpbKeyRange);
}

Size
gpb_exchange_range_memory(const GpbExchangeSide *side)
{
	return element_size(side) + (side->element == GPB_RUN_WIDE ? sizeof(GpbKey) : 0);
}

/*
 * Sort ranges into the form that a run has, which is written over their array.  spare has room for
 * n wide points, and is NULL where others are sorted.  Returns where they are.
 */
static const void *
sort_run(const GpbExchangeSide *side, void *ranges, void *spare, uint32 n)
{
	const GpbKey *keys = ranges;
	uint64	   *narrow = ranges;

	if (side->element == GPB_RUN_WIDE)
		return gpb_sort_plain_keys(ranges, spare, n);
	if (side->element == GPB_RUN_INTERVAL)
	{
		sort_intervals(ranges, n);
		return ranges;
	}
	/* each goes to where a key was that has been read; then the other half of the array is spare */
	for (uint32 i = 0; i < n; i++)
		narrow[i] = (uint64) keys[i];
	return gpb_sort_narrow_keys(narrow, narrow + n, n);
}

/* Make room for the run's elements, which were answered or never were any. */
static void
reserve_run(GpbExchangeSide *side, GpbKeyRun *run, Size size)
{
	if (size <= run->size)
		return;
	if (DsaPointerIsValid(run->elements))
		dsa_free(side->area, run->elements);
	run->elements = InvalidDsaPointer;
	run->elements = dsa_allocate_extended(side->area, size, DSA_ALLOC_HUGE);
	run->size = size;
}

/* Make the ranges the run of this process. */
static void
put_run(GpbExchangeSide *side, void *ranges, uint32 n)
{
	GpbKeyRun  *run = &side->shared->runs[IsParallelWorker() ? ParallelWorkerNumber + 1 : 0];
	Size		size = element_size(side) * n;
	void	   *spare = NULL;

	run->n = n;
	if (n == 0)
		return;
	reserve_run(side, run, size);
	if (side->element == GPB_RUN_WIDE)
		spare = gpb_alloc_array(side->context, size);
	memcpy(dsa_get_address(side->area, run->elements), sort_run(side, ranges, spare, n), size);
	if (spare != NULL)
		pfree(spare);
}

/* Come to the barrier, wait for the others, and go on with the next phase. */
static void
next_phase(GpbExchangeSide *side)
{
	bool		elected = BarrierArriveAndWait(&side->shared->barrier,
												gpb_waits[GPB_WAIT_KEY_EXCHANGE]);

	side->phase++;
	/* nobody takes parts before this process has put in what it reads next */
	if (elected && gpb_exchange_collects(side))
		pg_atomic_write_u32(&side->shared->next_part, 0);
}

void
gpb_exchange_put(GpbExchangeSide *side, void *ranges, uint32 n, bool more)
{
	Assert(gpb_exchange_collects(side));
	put_run(side, ranges, n);
	/* all who have more write the same */
	if (more)
		pg_atomic_write_u32(&side->shared->rounds, side->phase / 2 + 2);
	if (IsParallelWorker())
		GPB_HOLD("exchange-put");
	next_phase(side);
}

/* ---- to cut ---- */

/* The key of an element of a run, or where its interval begins */
static inline GpbKey
element_key(const GpbExchangeSide *side, uint32 run, uint32 at)
{
	const void *elements = side->runs[run];

	switch (side->element)
	{
		case GPB_RUN_NARROW:
			return ((const uint64 *) elements)[at];
		case GPB_RUN_WIDE:
			return ((const GpbKey *) elements)[at];
		case GPB_RUN_INTERVAL:
			break;
	}
	return ((const GpbKeyRange *) elements)[at].lo;
}

/* Every "distance" elements of each run one; returns their number.  There is room for them. */
static uint32
take_samples(const GpbExchangeSide *side, uint64 distance, GpbCut *samples)
{
	uint32		n = 0;

	for (int run = 0; run < side->shared->nruns; run++)
	{
		for (uint64 at = distance - 1; at < side->shared->runs[run].n; at += distance)
			samples[n++] = (GpbCut) {element_key(side, run, (uint32) at), run, (uint32) at};
	}
	return n;
}

/* Find where runs are cut into parts: the same places as every other process does. */
static void
cut_runs(GpbExchangeSide *side)
{
	const GpbKeyExchange *shared = side->shared;
	uint64		total = 0;
	uint64		wanted;
	uint32		nsamples;

	for (int run = 0; run < shared->nruns; run++)
	{
		total += shared->runs[run].n;
		if (shared->runs[run].n > 0)
			side->runs[run] = dsa_get_address(side->area, shared->runs[run].elements);
	}
	side->cut = true;
	side->nparts = (uint32) Min(total / GPB_EXCHANGE_LEAST_PART + (total > 0),
								(uint64) shared->nruns * GPB_EXCHANGE_PARTS);
	if (side->nparts < 2)
		return;
	wanted = (uint64) GPB_EXCHANGE_SAMPLES * Max(side->nparts, (uint32) shared->nruns);
	/* less than one of each run is left over by a distance */
	side->cuts = MemoryContextAlloc(side->context,
									sizeof(GpbCut) * 2 * (wanted + shared->nruns));
	nsamples = take_samples(side, Max(total / wanted, 1), side->cuts);
	sort_cuts(side->cuts, nsamples);
	for (uint32 i = 1; i < side->nparts; i++)
		side->cuts[i - 1] = side->cuts[(uint64) i * nsamples / side->nparts];
}

/* The number of a run's elements that come before a cut */
static uint32
elements_before(const GpbExchangeSide *side, const GpbCut *cut, uint32 run)
{
	uint32		low = 0;
	uint32		high = side->shared->runs[run].n;

	if (run == cut->run)
		return cut->at;
	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;
		GpbKey		key = element_key(side, run, middle);

		if (key < cut->key || (key == cut->key && run < cut->run))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- to take ---- */

/* Copy elements [from, to) of a run, as ranges, into the part behind its first n. */
static void
copy_ranges(GpbExchangeSide *side, uint32 run, uint32 from, uint32 to, uint64 n)
{
	const void *elements = side->runs[run];
	GpbKey	   *keys = (GpbKey *) side->part + n;

	switch (side->element)
	{
		case GPB_RUN_NARROW:
			for (uint32 i = from; i < to; i++)
				keys[i - from] = ((const uint64 *) elements)[i];
			break;
		case GPB_RUN_WIDE:
			memcpy(keys, (const GpbKey *) elements + from, sizeof(GpbKey) * (to - from));
			break;
		case GPB_RUN_INTERVAL:
			memcpy((GpbKeyRange *) side->part + n, (const GpbKeyRange *) elements + from,
				   sizeof(GpbKeyRange) * (to - from));
			break;
	}
}

/* Make room in the part for more ranges than the n that it has. */
static void
reserve_part(GpbExchangeSide *side, uint64 n, uint32 more)
{
	Size		width = side->element == GPB_RUN_INTERVAL ? sizeof(GpbKeyRange) : sizeof(GpbKey);

	if (n + more <= side->capacity)
		return;
	side->capacity = Max(n + more, side->capacity * 2);
	if (side->part == NULL)
		side->part = gpb_alloc_array(side->context, side->capacity * width);
	else
		side->part = gpb_realloc_array(side->part, side->capacity * width);
}

/* Collect what all runs have between two cuts; returns how many ranges these are. */
static uint32
collect_part(GpbExchangeSide *side, uint32 part)
{
	uint64		n = 0;

	for (int run = 0; run < side->shared->nruns; run++)
	{
		uint32		from = part == 0 ? 0 : elements_before(side, &side->cuts[part - 1], run);
		uint32		to = part + 1 == side->nparts ? side->shared->runs[run].n :
			elements_before(side, &side->cuts[part], run);

		/* a run without elements is nowhere */
		if (from == to)
			continue;
		reserve_part(side, n, to - from);
		copy_ranges(side, run, from, to, n);
		n += to - from;
	}
	return (uint32) n;
}

uint32
gpb_exchange_take(GpbExchangeSide *side, const void **ranges)
{
	uint32		n = 0;

	Assert(!gpb_exchange_collects(side));
	if (!side->cut)
		cut_runs(side);
	while (n == 0)
	{
		uint32		part = pg_atomic_fetch_add_u32(&side->shared->next_part, 1);

		if (part >= side->nparts)
			return 0;
		n = collect_part(side, part);
		GPB_HOLD("exchange-part");
	}
	*ranges = side->part;
	return n;
}

bool
gpb_exchange_next_round(GpbExchangeSide *side)
{
	if (pg_atomic_read_u32(&side->shared->rounds) <= side->phase / 2 + 1)
	{
		BarrierDetach(&side->shared->barrier);
		MemoryContextDelete(side->context);
		return false;
	}
	if (side->cuts != NULL)
		pfree(side->cuts);
	side->cuts = NULL;
	side->cut = false;
	next_phase(side);
	return true;
}
