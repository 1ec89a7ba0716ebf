/*-------------------------------------------------------------------------
 *
 * host_search.c
 *	  The host device's batches of searches.
 *
 * A launch takes the request down; poll does a step of it, at most
 * GPB_HOST_STEP keys, and finish does what is left.  So the service can turn to other
 * requests between two steps, as it does between two kernels.
 *
 *	 order NEAR or KEY:  COLLECT -> (COUNT -> MOVE) for each digit -> LOOK_UP
 *	 order INPUT, or keys known to ascend:						    LOOK_UP
 *
 * Sorting is a radix sort of (key, place) from the lowest digit up to the highest bit in
 * which keys differ; NEAR sorts by the highest digit alone (the partially sorted aggregation
 * of Yan et al., PPoPP 2019, with a fixed number of bits).
 *
 * Looking up: where keys ascend, the separators are galloped through (Bentley and
 * Yao, 1976); else GPB_HOST_GROUP binary searches go on side by side, each asking for its
 * next cache line before the others' turn (the software pipelining of HB+-tree, Shahvarani and
 * Jacobsen, SIGMOD 2016).
 *
 *-------------------------------------------------------------------------
 */
#include "device/host/host_device.h"

#define GPB_HOST_STEP	65536	/* most keys that a step handles */
#define GPB_HOST_GROUP	16		/* number of searches side by side */
#define GPB_DIGIT_BITS	11
#define GPB_DIGITS		(1 << GPB_DIGIT_BITS)

typedef enum GpbHostPhase
{
	GPB_HOST_ENDED = 0,
	GPB_HOST_COLLECT,			/* copy the keys, and find the bits in which they differ */
	GPB_HOST_COUNT,				/* count how many keys have each digit */
	GPB_HOST_MOVE,				/* move each key to where those of its digit go */
	GPB_HOST_LOOK_UP
} GpbHostPhase;

typedef struct GpbHostKey
{
	GpbKey		key;
	uint32		place;			/* the key's place in the piece */
} GpbHostKey;

/* A channel's batch of searches */
typedef struct GpbHostSearch
{
	GpbHostPhase phase;
	const GpbDeviceMirror *mirror;
	GpbSearchSpec spec;
	GpbHostBuffer changed;		/* a copy of the map, for positions */
	uint32		nblocks;
	uint32		piece;			/* How far the phase has come */
	uint32		at;

	/* For sorting, which is done in the only piece */
	GpbHostKey *sorted;			/* NULL if the order is that of the input */
	GpbHostKey *spare;
	uint64		sort_bytes;		/* size of each of the two arrays */
	GpbKey		differing;		/* bits that are not the same in all keys */
	int			shift;			/* of the digit that is sorted by */
	uint32		start[GPB_DIGITS];

	/* For galloping */
	uint64		last;			/* the separator of the key before */
	GpbKey		last_key;
} GpbHostSearch;

static GpbKey
host_key(const void *keys, int width, uint32 i)
{
	return gpb_load_key((const char *) keys + (size_t) i * width, width);
}

/* How many bits has the key, up to the highest that is set? */
static int
host_bit_length(GpbKey key)
{
	uint64		upper = gpb_key_upper(key);

	if (upper != 0)
		return 128 - __builtin_clzl(upper);
	return key == 0 ? 0 : 64 - __builtin_clzl((uint64) key);
}

/* ---- one key ---- */

/*
 * Does the leaf of separator i lie left of, or at, where the search for "key" begins?  "upper" says
 * that it is an UPPER search.
 */
static inline bool
host_begins_before(const GpbDeviceMirror *mirror, uint64 i, GpbKey key, bool upper)
{
	GpbKey		separator = gpb_host_low(mirror, i).key;

	return (separator < key) | (upper & (separator == key));
}

/*
 * Find the last separator at which the search for the key may begin, galloping from separator
 * "from", of which that is known or which is 0.
 */
static uint64
host_gallop(const GpbDeviceMirror *mirror, uint64 from, GpbKey key, bool upper)
{
	uint64		step = 1;
	uint64		end;

	while (from + step < mirror->nseparators &&
		   host_begins_before(mirror, from + step, key, upper))
	{
		from += step;
		step *= 2;
	}
	end = Min(from + step, mirror->nseparators);
	while (end - from > 1)
	{
		uint64		mid = from + (end - from) / 2;

		if (host_begins_before(mirror, mid, key, upper))
			from = mid;
		else
			end = mid;
	}
	return from;
}

/*
 * Find the last separators at which the searches for n keys may begin, n <= GPB_HOST_GROUP, by
 * binary searches side by side.
 */
static void
host_search_group(const GpbDeviceMirror *mirror, const GpbKey *key, int n, bool upper,
				  uint64 *found)
{
	uint64		length = mirror->nseparators;
	int			i;

	for (i = 0; i < n; i++)
		found[i] = 0;
	while (length > 1)
	{
		uint64		half = length / 2;

		length -= half;
		for (i = 0; i < n; i++)
		{
			/* As a branch, half of these would be mispredicted. */
			found[i] += half & -(uint64) host_begins_before(mirror, found[i] + half, key[i], upper);
			__builtin_prefetch(&mirror->separators[found[i] + length / 2].low.key);
		}
	}
}

/* Find the first of the page's keys that is not below "key", or, with "upper" set, is above it. */
static int
host_position_in(const char *page, int key_width, int keys, GpbKey key, bool upper)
{
	if (upper && key == gpb_key_most(key_width))
		return keys;
	key += upper;
	switch (key_width)
	{
		case 4:
			return gpb_keys_lower_bound(page, 4, keys, key);
		case 8:
			return gpb_keys_lower_bound(page, 8, keys, key);
		default:
			return gpb_keys_lower_bound(page, GPB_WIDE_KEY, keys, key);
	}
}

/*
 * Find the key's position as search.h defines it, beginning at the leaf of separator s.  *leaf
 * becomes the leaf that has the position, or that is unclean.
 */
static uint16
host_position(const GpbHostSearch *search, uint64 s, GpbKey key, uint32 *leaf)
{
	const GpbDeviceMirror *mirror = search->mirror;
	int			width = mirror->layout.key_width;
	bool		equal = search->spec.bound == GPB_SEARCH_EQUAL;

	for (;; s++)
	{
		const char *page;
		int			keys;
		int			at;

		*leaf = mirror->separators[s].leaf;
		page = gpb_host_clean_leaf(mirror, s, search->spec.epoch,
								   (const uint32 *) search->changed.data, search->nblocks);
		if (page == NULL)
			return GPB_POSITION_UNCLEAN;
		keys = gpb_page_keys(page, width);
		at = host_position_in(page, width, keys, key, search->spec.bound == GPB_SEARCH_UPPER);
		if (equal && at < keys && gpb_page_key(page, width, at) != key)
			return GPB_POSITION_NONE;
		if (!equal || at < keys)
			return (uint16) gpb_key_position(page, width, at);
		if (s + 1 == mirror->nseparators || gpb_host_low(mirror, s + 1).key > key)
			return GPB_POSITION_NONE;
	}
}

/* ---- steps ---- */

/* Go on to another phase, from the first key. */
static void
host_enter(GpbHostSearch *search, GpbHostPhase phase)
{
	search->phase = phase;
	search->piece = 0;
	search->at = 0;
}

/* Go on to the next digit to sort by, from bit "shift" on, or to looking up if there is none. */
static void
host_next_digit(GpbHostSearch *search, int shift)
{
	search->shift = shift;
	if (shift < 128 && (search->differing >> shift) != 0)
	{
		memset(search->start, 0, sizeof(search->start));
		host_enter(search, GPB_HOST_COUNT);
	}
	else
		host_enter(search, GPB_HOST_LOOK_UP);
}

/*
 * Phase COLLECT, up to key "end": copy keys to be sorted, and find the bits in which they differ.
 * After the last key choose the digit to sort by first.
 */
static void
host_collect(GpbHostSearch *search, uint32 end)
{
	const GpbSearchPiece *piece = &search->spec.piece[0];
	int			width = search->mirror->layout.key_width;
	GpbKey		first = host_key(piece->keys, width, 0);
	int			top;

	for (; search->at < end; search->at++)
	{
		GpbHostKey *into = &search->sorted[search->at];

		into->key = host_key(piece->keys, width, search->at);
		into->place = search->at;
		search->differing |= into->key ^ first;
	}
	if (end < piece->n)
		return;
	top = host_bit_length(search->differing);
	host_next_digit(search, search->spec.order == GPB_ORDER_KEY ? 0 :
					Max(top - GPB_DIGIT_BITS, 0));
}

static uint32
host_digit(const GpbHostSearch *search, GpbKey key)
{
	return (uint32) (key >> search->shift) & (GPB_DIGITS - 1);
}

/*
 * Phase COUNT, up to key "end": count the keys that have each digit.  After the last key compute
 * where those of each digit begin.
 */
static void
host_count(GpbHostSearch *search, uint32 end)
{
	uint32		sum = 0;
	int			digit;

	for (; search->at < end; search->at++)
		search->start[host_digit(search, search->sorted[search->at].key)]++;
	if (end < search->spec.piece[0].n)
		return;
	for (digit = 0; digit < GPB_DIGITS; digit++)
	{
		uint32		count = search->start[digit];

		search->start[digit] = sum;
		sum += count;
	}
	host_enter(search, GPB_HOST_MOVE);
}

/*
 * Phase MOVE, up to key "end": move each key to where those of its digit go.  After the last key go
 * on to the next digit.
 */
static void
host_move(GpbHostSearch *search, uint32 end)
{
	GpbHostKey *sorted = search->spare;

	for (; search->at < end; search->at++)
	{
		const GpbHostKey *key = &search->sorted[search->at];

		search->spare[search->start[host_digit(search, key->key)]++] = *key;
	}
	if (end < search->spec.piece[0].n)
		return;
	search->spare = search->sorted;
	search->sorted = sorted;
	host_next_digit(search, search->shift + GPB_DIGIT_BITS);
}

/* Look up keys [at, at + n) of a piece, n <= GPB_HOST_GROUP, and write their results. */
static void
host_look_up(GpbHostSearch *search, const GpbSearchPiece *piece, uint32 at, int n)
{
	const GpbDeviceMirror *mirror = search->mirror;
	int			width = mirror->layout.key_width;
	bool		upper = search->spec.bound == GPB_SEARCH_UPPER;
	GpbKey		key[GPB_HOST_GROUP];
	uint64		found[GPB_HOST_GROUP];
	int			i;

	for (i = 0; i < n; i++)
		key[i] = search->sorted != NULL ? search->sorted[at + i].key :
			host_key(piece->keys, width, at + i);
	if (search->spec.ascending || search->spec.order == GPB_ORDER_KEY)
	{
		for (i = 0; i < n; i++)
		{
			if (key[i] < search->last_key)
				search->last = 0;
			search->last = host_gallop(mirror, search->last, key[i], upper);
			search->last_key = key[i];
			found[i] = search->last;
		}
	}
	else
		host_search_group(mirror, key, n, upper, found);
	for (i = 0; i < n; i++)
	{
		uint32	   *leaf = &piece->leaf[at + i];

		*leaf = mirror->separators[found[i]].leaf;
		if (piece->position != NULL)
			piece->position[at + i] = host_position(search, found[i], key[i], leaf);
		if (search->spec.order != GPB_ORDER_INPUT)
			piece->permutation[at + i] = search->sorted != NULL ?
				search->sorted[at + i].place : at + i;
	}
}

/* Look up as many as "budget" keys, of several pieces if these are small. */
static void
host_look_up_step(GpbHostSearch *search, uint32 budget)
{
	while (search->piece < search->spec.npieces && budget > 0)
	{
		const GpbSearchPiece *piece = &search->spec.piece[search->piece];
		uint32		n = Min(Min(piece->n - search->at, budget), GPB_HOST_GROUP);

		if (search->at == piece->n)
		{
			search->piece++;
			search->at = 0;
			continue;
		}
		host_look_up(search, piece, search->at, (int) n);
		search->at += n;
		budget -= n;
	}
}

/* Free what sorting took; the batch is complete. */
static void
host_end(GpbDevice *device, GpbHostSearch *search)
{
	gpb_host_free(device, search->sorted, search->sort_bytes);
	gpb_host_free(device, search->spare, search->sort_bytes);
	search->sorted = NULL;
	search->spare = NULL;
	search->phase = GPB_HOST_ENDED;
}

/* Do one step of the phase at hand. */
static void
host_step(GpbDevice *device, GpbHostSearch *search)
{
	uint32		n = search->spec.piece[0].n;
	uint32		end = n - search->at > GPB_HOST_STEP ? search->at + GPB_HOST_STEP : n;

	switch (search->phase)
	{
		case GPB_HOST_COLLECT:
			host_collect(search, end);
			break;
		case GPB_HOST_COUNT:
			host_count(search, end);
			break;
		case GPB_HOST_MOVE:
			host_move(search, end);
			break;
		case GPB_HOST_LOOK_UP:
			host_look_up_step(search, GPB_HOST_STEP);
			if (search->piece == search->spec.npieces)
				host_end(device, search);
			break;
		case GPB_HOST_ENDED:
			break;
	}
}

/* ---- the interface ---- */

/* Get the memory to sort the only piece. */
static GpbDeviceStatus
host_prepare_sort(GpbDevice *device, GpbHostSearch *search)
{
	search->sort_bytes = (uint64) search->spec.piece[0].n * sizeof(GpbHostKey);
	search->sorted = gpb_host_alloc(device, search->sort_bytes);
	search->spare = gpb_host_alloc(device, search->sort_bytes);
	if (search->sorted != NULL && search->spare != NULL)
		return GPB_DEVICE_OK;
	host_end(device, search);
	return GPB_DEVICE_NO_MEMORY;
}

/*
 * The channel's search, with nothing to do; what it did before is dropped.  Returns NULL if there
 * is no memory.
 */
static GpbHostSearch *
host_search_of(GpbDevice *device, int channel)
{
	GpbHostChannel *c = &device->channels[channel];

	gpb_host_search_abandon(device, c);
	if (c->search == NULL)
		c->search = gpb_host_alloc(device, sizeof(GpbHostSearch));
	return c->search;
}

GpbDeviceStatus
gpb_host_search_launch(GpbDevice *device, GpbDeviceMirror *mirror, int channel,
					   const GpbSearchSpec *spec, const uint32 *changed, uint32 nblocks)
{
	GpbHostSearch *search = host_search_of(device, channel);
	bool		sort = spec->order != GPB_ORDER_INPUT && !spec->ascending &&
		spec->npieces > 0 && spec->piece[0].n > 0;
	uint64		bytes = ((uint64) nblocks + 31) / 32 * sizeof(uint32);

	if (search == NULL)
		return GPB_DEVICE_NO_MEMORY;
	if (mirror->nseparators == 0)
	{
		device->error = "no inner image";
		return GPB_DEVICE_NO_MEMORY;
	}
	search->mirror = mirror;
	search->spec = *spec;
	search->nblocks = nblocks;
	search->last = 0;
	search->last_key = 0;
	search->differing = 0;
	if (spec->npieces > 0 && spec->piece[0].position != NULL)
	{
		if (gpb_host_reserve(device, &search->changed, bytes) != GPB_DEVICE_OK)
			return GPB_DEVICE_NO_MEMORY;
		if (changed != NULL)
			memcpy(search->changed.data, changed, bytes);
		else
			memset(search->changed.data, 0, bytes);
	}
	if (sort && host_prepare_sort(device, search) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	host_enter(search, sort ? GPB_HOST_COLLECT : GPB_HOST_LOOK_UP);
	return GPB_DEVICE_OK;
}

static void
host_run_to_end(GpbDevice *device, GpbHostSearch *search)
{
	while (search->phase != GPB_HOST_ENDED)
		host_step(device, search);
}

GpbDeviceStatus
gpb_host_search_finish(GpbDevice *device, int channel)
{
	GpbHostSearch *search = device->channels[channel].search;

	if (search != NULL)
		host_run_to_end(device, search);
	return GPB_DEVICE_OK;
}

void
gpb_host_search_abandon(GpbDevice *device, GpbHostChannel *channel)
{
	if (channel->search != NULL)
		host_end(device, channel->search);
}

void
gpb_host_search_free(GpbDevice *device, GpbHostChannel *channel)
{
	GpbHostSearch *search = channel->search;

	if (search == NULL)
		return;
	host_end(device, search);
	gpb_host_free(device, search->changed.data, search->changed.size);
	gpb_host_free(device, search, sizeof(*search));
	channel->search = NULL;
}

bool
gpb_host_search_poll(GpbDevice *device, int channel)
{
	GpbHostSearch *search = device->channels[channel].search;

	if (search == NULL)
		return true;
	host_step(device, search);
	return search->phase == GPB_HOST_ENDED;
}

void
gpb_host_search_settle(GpbDevice *device, const GpbDeviceMirror *mirror, bool images_only)
{
	int			i;

	for (i = 0; i < device->nchannels; i++)
	{
		GpbHostSearch *search = device->channels[i].search;

		if (search == NULL || search->phase == GPB_HOST_ENDED || search->mirror != mirror)
			continue;
		if (!images_only || search->spec.piece[0].position != NULL)
			host_run_to_end(device, search);
	}
}
