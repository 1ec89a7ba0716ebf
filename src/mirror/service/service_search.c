/*-------------------------------------------------------------------------
 *
 * service_search.c
 *	  The service's searches: small ones joined, large ones cut into chunks.
 *
 * Requests in input order without positions, of up to GPB_SMALL_SEARCH keys, that one look over the
 * slots finds for one mirror and bound go to the device as one launch.
 *
 * Larger ones are cut into chunks of GPB_SEARCH_CHUNK keys.  Two chunks of a request, and
 * GPB_CHUNKS_IN_FLIGHT of all requests, are in flight at a time; requests take turns chunk by
 * chunk.  So what a small request waits for is bounded, however many keys others ask for.  Before
 * each chunk its request is looked at anew: one whose backend has gone is dropped.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/service.h"

#include "utils/memutils.h"

#include "hold.h"
#include "mirror/heartbeat.h"
#include "mirror/map/registry.h"
#include "mirror/pool.h"
#include "mirror/service/in_flight.h"
#include "mirror/service/served.h"
#include "mirror/slots.h"

#define GPB_SMALL_SEARCH	65536	/* keys */
#define GPB_CHUNKS_PER_REQUEST	2

#define GPB_CHUNKS_IN_FLIGHT	4

/* A query slot's search, from the moment it was found until it is answered */
typedef struct GpbSearchState
{
	bool		active;
	bool		failed;
	bool		large;			/* counts against GPB_CHUNKS_IN_FLIGHT */
	uint32		next;			/* first key not launched yet */
	int			in_flight;		/* its launches on the device */
	GpbSearchPiece arrays;		/* all of it */
} GpbSearchState;

static GpbSearchState *searches = NULL; /* by query slot */

static int *small = NULL;	/* query slots whose small searches are to be joined */

static int	nsmall = 0;
static int	nactive = 0;
static int	chunks_in_flight = 0;
static int	next_turn = 0;

void
gpb_searches_init(void)
{
	int			n = gpb_slot_count(GPB_QUERY_SLOT);

	searches = MemoryContextAllocZero(TopMemoryContext, n * sizeof(GpbSearchState));
	small = MemoryContextAllocZero(TopMemoryContext, n * sizeof(int));
}

/* Has the query slot a search that is not answered yet, so that nobody may free the slot? */
bool
gpb_search_has_slot(int number)
{
	return searches[number].active;
}

/* Answer the whole search: all its launches have ended, or it failed. */
static void
search_end(int number)
{
	GpbSearchState *search = &searches[number];

	search->active = false;
	nactive--;
	gpb_answer_query(number, !search->failed);
}

/* Answer the search if nothing of it is in flight and nothing is left to launch. */
static void
search_end_if_done(int number)
{
	GpbSearchState *search = &searches[number];

	if (search->in_flight == 0 && (search->failed || search->next == search->arrays.n))
		search_end(number);
}

/* Find the arrays that the request asks for.  Returns false if they do not fit its staging. */
static bool
request_arrays(const GpbRequestSlot *slot, GpbSearchPiece *arrays)
{
	Size		size = slot->nunits * GPB_POOL_UNIT;
	int			key_width = gpb_registry->mirrors[slot->mirror].layout.key_width;

	return (slot->search.order == GPB_ORDER_INPUT || slot->search.n <= GPB_SEARCH_CHUNK) &&
		gpb_search_arrange(&slot->search, key_width, gpb_pool_staging(slot), arrays) <= size;
}

/* Begin the search that was found in a query slot. */
void
gpb_search_submitted(int number)
{
	GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);
	GpbSearchState *search = &searches[number];

	memset(search, 0, sizeof(*search));
	search->active = true;
	nactive++;
	if ((slot->search.positions ? gpb_full_mirror(slot) : gpb_searchable_mirror(slot)) == NULL ||
		!request_arrays(slot, &search->arrays))
		search->failed = true;
	if (search->failed || search->arrays.n == 0)
	{
		search_end(number);
		return;
	}
	search->large = search->arrays.n > GPB_SMALL_SEARCH;
	if (!search->large && slot->search.order == GPB_ORDER_INPUT && !slot->search.positions)
		small[nsmall++] = number;
}

/* ---- launching ---- */

static bool
search_launch(const GpbSearchSpec *spec, int channel, const int *numbers, int n)
{
	GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, numbers[0]);
	GpbDeviceMirror *mirror = gpb_searchable_mirror(slot);
	const uint32 *changed = NULL;
	uint32		nblocks = 0;
	GpbDeviceStatus status;
	int			i;

	/* the leaves of a piece are numbered: none is asked for a search */
	if (mirror == NULL || gpb_is_piece(slot->mirror))
		return false;
	if (spec->piece[0].position != NULL)
	{
		if (!gpb_read_changed(slot, &changed, &nblocks))
			return false;
	}
	status = gpb_api->search_launch(gpb_device, mirror, channel, spec, changed, nblocks);
	gpb_device_check(status);
	if (status != GPB_DEVICE_OK)
		return false;
	for (i = 0; i < (int) spec->npieces; i++)
		GPB_SLOW_SERVICE("search", spec->piece[i].n);
	for (i = 0; i < n; i++)
		searches[numbers[i]].in_flight++;
	gpb_note_launch(GPB_SEARCH_LAUNCHED, channel, numbers, n);
	return true;
}

/* May searches of these two slots be one launch? */
static bool
can_join(const GpbRequestSlot *a, const GpbRequestSlot *b)
{
	return a->mirror == b->mirror && a->mirror_generation == b->mirror_generation &&
		a->search.bound == b->search.bound;
}

/*
 * Launch the small search at position "first" of the list together with the searches after it that
 * can join it, and take all of them out of the list.
 */
static void
launch_joined(int first)
{
	static GpbSearchSpec spec;
	const GpbRequestSlot *leader = gpb_own_slot(GPB_QUERY_SLOT, small[first]);
	int			numbers[GPB_SEARCH_PIECES];
	int			left = first;
	int			i;

	spec.bound = leader->search.bound;
	spec.order = GPB_ORDER_INPUT;
	spec.ascending = true;
	spec.epoch = 0;
	spec.npieces = 0;
	for (i = first; i < nsmall; i++)
	{
		int			number = small[i];
		const GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);
		GpbSearchState *search = &searches[number];

		if (spec.npieces == GPB_SEARCH_PIECES || !can_join(leader, slot))
		{
			small[left++] = number;
			continue;
		}
		spec.ascending = spec.ascending && slot->search.ascending;
		search->next = search->arrays.n;
		numbers[spec.npieces] = number;
		spec.piece[spec.npieces++] = search->arrays;
	}
	nsmall = left;
	if (search_launch(&spec, gpb_query_channel(numbers[0]), numbers, (int) spec.npieces))
		return;
	for (i = 0; i < spec.npieces; i++)
	{
		searches[numbers[i]].failed = true;
		search_end(numbers[i]);
	}
}

/* The part of a search's arrays that is its next chunk. */
static GpbSearchPiece
next_chunk(const GpbSearchState *search, int key_width)
{
	const GpbSearchPiece *arrays = &search->arrays;
	uint32		from = search->next;
	GpbSearchPiece piece;

	piece.n = Min(arrays->n - from, GPB_SEARCH_CHUNK);
	piece.keys = (const char *) arrays->keys + (Size) from * key_width;
	piece.leaf = arrays->leaf + from;
	piece.position = arrays->position != NULL ? arrays->position + from : NULL;
	/* with another order than that of the input there is one chunk */
	piece.permutation = arrays->permutation;
	return piece;
}

/*
 * Launch one chunk of the request on the channel.  The request fails if the device
 * cannot take it or its backend has gone.
 */
static void
launch_chunk(int number, int channel)
{
	static GpbSearchSpec spec;
	GpbSearchState *search = &searches[number];
	GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);

	spec.bound = slot->search.bound;
	spec.order = slot->search.order;
	spec.ascending = slot->search.ascending;
	spec.epoch = slot->search.epoch;
	spec.npieces = 1;
	spec.piece[0] = next_chunk(search, gpb_registry->mirrors[slot->mirror].layout.key_width);
	if (pg_atomic_read_u32(&slot->state) != GPB_SLOT_ABANDONED &&
		search_launch(&spec, channel, &number, 1))
	{
		search->next += spec.piece[0].n;
		chunks_in_flight += search->large;
		GPB_HOLD_SERVICE("chunk");
	}
	else
		search->failed = true;
	search_end_if_done(number);
}

/* The channel for another chunk of the request; -1 if it has to wait. */
static int
channel_for_chunk(int number)
{
	const GpbSearchState *search = &searches[number];

	if (!search->active || search->failed || search->next == search->arrays.n ||
		search->in_flight == GPB_CHUNKS_PER_REQUEST ||
		(search->large && chunks_in_flight == GPB_CHUNKS_IN_FLIGHT))
		return -1;
	return gpb_channel_is_free(gpb_query_channel(number)) ? gpb_query_channel(number) :
		gpb_spare_channel();
}

/* Launch one chunk of each request whose turn it is.  Returns false if it was nobody's. */
static bool
launch_turn(void)
{
	int			n = gpb_slot_count(GPB_QUERY_SLOT);
	int			first = next_turn;
	bool		launched = false;
	int			i;

	for (i = 0; i < n; i++)
	{
		int			number = (first + i) % n;
		int			channel = channel_for_chunk(number);

		if (channel < 0)
			continue;
		launch_chunk(number, channel);
		gpb_heartbeat();
		next_turn = (number + 1) % n;
		launched = true;
	}
	return launched;
}

/* Launch all searches and chunks that can be launched now.  Returns false if there were none. */
bool
gpb_launch_searches(void)
{
	bool		launched = nsmall > 0;

	while (nsmall > 0)
		launch_joined(0);
	while (nactive > 0 && launch_turn())
		launched = true;
	return launched;
}

/*
 * Note that a launch with keys of a query slot's search has ended; ok says that the device did it.
 */
void
gpb_search_completed(int number, bool ok)
{
	GpbSearchState *search = &searches[number];

	search->in_flight--;
	chunks_in_flight -= search->large;
	if (!ok)
		search->failed = true;
	search_end_if_done(number);
}
