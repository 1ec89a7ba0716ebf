/*-------------------------------------------------------------------------
 *
 * group_table.c
 *	  The groups of a program on the CPU: a hash table from the values of group slots to answers.
 *
 * Open addressing with linear probing.  A place has the number of a group and half of its hash, so
 * that most probes are decided without a look at the record.  The groups of many entries are looked
 * up together: first all hashes, then all places, which are prefetched where they are many, so that
 * the loads of one entry do not wait for those of another.
 *
 *-------------------------------------------------------------------------
 */
#include "program/group_table.h"

/* Number of entries whose groups are looked up together */
#define GPB_GROUPS_AT_ONCE	64

/* Tables of more places than this do not fit the nearest cache. */
#define GPB_FEW_PLACES		4096

/*
 * Groups that are merged have their places prefetched twice as many groups ahead as this, and what
 * is at these places once as many; a power of two.
 */
#define GPB_MERGED_AHEAD	16

/* An odd multiplier that spreads neighbouring numbers (2^64 divided by the golden ratio) */
#define GPB_GROUP_MULTIPLIER	((uint64) 0x9E3779B97F4A7C15)

void
gpb_groups_init(GpbGroupTable *table, const GpbProgram *program, const GpbAnswerFormat *format,
				const GpbGroupMemory *memory)
{
	memset(table, 0, sizeof(*table));
	table->memory = *memory;
	table->program = program;
	table->format = format;
	table->width = gpb_group_width(program, format);
	table->shift = 64;
}

/* ---- memory ---- */

static void *
table_allocate(GpbGroupTable *table, uint64 size)
{
	void	   *memory;

	if (size > table->memory.limit || table->used > table->memory.limit - size)
		return NULL;
	memory = table->memory.allocate(table->memory.arg, size);
	if (memory != NULL)
		table->used += size;
	return memory;
}

static void
table_release(GpbGroupTable *table, void *memory, uint64 size)
{
	table->memory.release(table->memory.arg, memory, size);
	table->used -= size;
}

/* Number of the first record of chunk c */
static inline uint32
chunk_first(int c)
{
	return c == 0 ? 0 : (uint32) GPB_FIRST_GROUPS << (c - 1);
}

/* Number of records of chunk c, unless memory ends there */
static inline uint32
chunk_records(int c)
{
	return c == 0 ? GPB_FIRST_GROUPS : chunk_first(c);
}

static uint64
count_places(const GpbGroupTable *table)
{
	return table->places == NULL ? 0 : (uint64) 1 << (64 - table->shift);
}

void
gpb_groups_reset(GpbGroupTable *table)
{
	int			c;

	for (c = 0; c < table->nchunks; c++)
		table_release(table, table->chunk[c], (uint64) table->records[c] * table->width);
	if (table->places != NULL)
		table_release(table, table->places, count_places(table) * sizeof(GpbGroupPlace));
	table->places = NULL;
	table->shift = 64;
	table->nchunks = 0;
	table->room = 0;
	table->n = 0;
}

/* ---- records ---- */

/*
 * What identifies a group are its head and the values of its group slots.  The head has the range's
 * number in the lower half, the NULLs in the upper half.
 */
static inline int64
group_head(const GpbGroup *group)
{
	return (int64) (group->number | (uint64) group->nulls << 32);
}

static inline int64 *
group_answer(const GpbGroupTable *table, GpbGroup *group)
{
	return group->words + table->program->ngroups;
}

/* ---- hashes ---- */

/* What a group's hash begins with; 0 for the head 0 */
static inline uint64
hash_head(int64 head)
{
	return (uint64) head * GPB_GROUP_MULTIPLIER;
}

/* A group's hash so far, with one more word */
static inline uint64
hash_word(uint64 hash, int64 word)
{
	hash = (hash ^ (uint64) word) * GPB_GROUP_MULTIPLIER;
	return hash ^ hash >> 32;
}

/* The last step makes the upper bits, which choose the place, depend on all others. */
static inline uint64
hash_end(uint64 hash)
{
	return hash * GPB_GROUP_MULTIPLIER;
}

/* The hash of a group with so many group slots */
static inline uint64
hash_record(const GpbGroup *group, int ngroups)
{
	uint64		hash = hash_head(group_head(group));
	int			g;

	for (g = 0; g < ngroups; g++)
		hash = hash_word(hash, group->words[g]);
	return hash_end(hash);
}

static uint64
hash_group(const GpbGroupTable *table, const GpbGroup *group)
{
	return hash_record(group, table->program->ngroups);
}

/* ---- growth ---- */

/* Put a group that is not in the table yet at a free place. */
static void
place_group(GpbGroupTable *table, uint64 hash, uint32 i)
{
	uint64		mask = count_places(table) - 1;
	uint64		at = hash >> table->shift;

	while (table->places[at].group != 0)
		at = (at + 1) & mask;
	table->places[at].hash = (uint32) (hash >> 32);
	table->places[at].group = i + 1;
}

/* Have so many places, a power of two, more than there are. */
static bool
grow_places(GpbGroupTable *table, uint64 places)
{
	uint64		before = count_places(table);
	GpbGroupPlace *old = table->places;
	GpbGroupPlace *new = (GpbGroupPlace *) table_allocate(table, places * sizeof(GpbGroupPlace));
	uint32		i;

	if (new == NULL)
		return false;
	memset(new, 0, places * sizeof(GpbGroupPlace));
	table->places = new;
	table->shift = 64 - __builtin_ctzll(places);
	for (i = 0; i < table->n; i++)
		place_group(table, hash_group(table, gpb_groups_at(table, i)), i);
	if (old != NULL)
		table_release(table, old, before * sizeof(GpbGroupPlace));
	return true;
}

double
gpb_groups_bytes(double n, double width)
{
	double		places = 2 * GPB_FIRST_GROUPS;

	while (places / 8 * 7 < n)
		places *= 2;
	return n * width + places * sizeof(GpbGroupPlace);
}

/*
 * Have places for n groups.  Half of the places are free, or an eighth where memory ends.  Returns
 * false if that cannot be.
 */
static bool
reserve_places(GpbGroupTable *table, uint64 n)
{
	uint64		places = table->places == NULL ? 2 * GPB_FIRST_GROUPS : count_places(table);

	if (n * 2 <= count_places(table))
		return true;
	while (places < n * 2)
		places *= 2;
	/* where memory ends, fewer may do */
	while (places > count_places(table))
	{
		if (grow_places(table, places))
			return n <= places / 8 * 7;
		places /= 2;
	}
	return n <= count_places(table) / 8 * 7;
}

/* Get one more chunk, of as many records as the limit leaves. */
static bool
grow_chunks(GpbGroupTable *table)
{
	uint64		records = chunk_records(table->nchunks);
	uint64		left = (table->memory.limit - table->used) / table->width;
	char	   *chunk;

	/* A chunk that is not full-sized is the last one. */
	if (table->nchunks > 0 &&
		table->records[table->nchunks - 1] < chunk_records(table->nchunks - 1))
		return false;
	records = records < left ? records : left;
	if (records == 0 || table->room + records > (uint64) 1 << 31)
		return false;
	chunk = (char *) table_allocate(table, records * table->width);
	if (chunk == NULL)
		return false;
	table->records[table->nchunks] = (uint32) records;
	table->chunk[table->nchunks++] = chunk;
	table->room += (uint32) records;
	return true;
}

/* Take room for so many groups in all, as far as there is memory. */
static void
reserve_groups(GpbGroupTable *table, uint64 wanted)
{
	if (!reserve_places(table, wanted))
		return;
	while (wanted > table->room)
	{
		if (!grow_chunks(table))
			return;
	}
}

void
gpb_groups_reserve(GpbGroupTable *table, uint32 n)
{
	reserve_groups(table, (uint64) table->n + (n < table->n ? n : table->n));
}

void
gpb_groups_expect(GpbGroupTable *table, uint32 n)
{
	if (n > table->n)
		reserve_groups(table, n);
}

/* A new record at a place of its own by this hash, to be filled in.  NULL without memory. */
static inline GpbGroup *
add_group(GpbGroupTable *table, uint64 hash)
{
	if (!reserve_places(table, (uint64) table->n + 1) ||
		(table->n == table->room && !grow_chunks(table)))
		return NULL;
	place_group(table, hash, table->n);
	return gpb_groups_at(table, table->n++);
}

/* Make a group with this key and hash, of which the table has none.  NULL without memory. */
static GpbGroup *
make_group(GpbGroupTable *table, int64 head, const int64 *words, uint64 hash)
{
	GpbGroup   *group = add_group(table, hash);

	if (group == NULL)
		return NULL;
	group->number = (uint32) head;
	group->nulls = (uint32) ((uint64) head >> 32);
	memcpy(group->words, words, table->program->ngroups * sizeof(int64));
	gpb_answer_init(table->format, group_answer(table, group));
	return group;
}

/* ---- finding ---- */

/* Has the group this key? */
static inline bool
has_key(const GpbGroup *group, int64 head, const int64 *words, int n)
{
	int64		differing = group_head(group) ^ head;
	int			g;

	for (g = 0; g < n; g++)
		differing |= group->words[g] ^ words[g];
	return differing == 0;
}

/* The group with this key of ngroups words, and this hash, or NULL. */
static inline GpbGroup *
probe_key(const GpbGroupTable *table, int64 head, const int64 *words, int ngroups, uint64 hash)
{
	uint64		mask = count_places(table) - 1;
	uint64		at;

	if (table->places == NULL)
		return NULL;
	for (at = hash >> table->shift;; at = (at + 1) & mask)
	{
		GpbGroupPlace place = table->places[at];
		GpbGroup   *group;

		if (place.group == 0)
			return NULL;
		if (place.hash != (uint32) (hash >> 32))
			continue;
		group = gpb_groups_at(table, place.group - 1);
		if (has_key(group, head, words, ngroups))
			return group;
	}
}

static inline GpbGroup *
probe_group(const GpbGroupTable *table, int64 head, const int64 *words, uint64 hash)
{
	return probe_key(table, head, words, table->program->ngroups, hash);
}

/* The group with this key and hash, made if there is none; NULL without memory. */
static __attribute__((noinline)) GpbGroup *
find_group(GpbGroupTable *table, int64 head, const int64 *words, uint64 hash)
{
	GpbGroup   *group = probe_group(table, head, words, hash);

	return group != NULL ? group : make_group(table, head, words, hash);
}

/* Fill in the heads of n entries from entry "first" on. */
static void
fill_heads(int ngroups, int first, int n, const uint8 *const *nulls, const uint32 *numbers,
		   int64 *heads)
{
	int			g;
	int			i;

	for (i = 0; i < n; i++)
		heads[i] = numbers == NULL ? 0 : (int64) numbers[first + i];
	for (g = 0; g < ngroups; g++)
	{
		for (i = 0; i < n && nulls[g] != NULL; i++)
			heads[i] |= (int64) nulls[g][first + i] << (32 + g);
	}
}

/* Prefetch where the groups with these hashes are. */
static void
prefetch_groups(const GpbGroupTable *table, const uint64 *hashes, int n)
{
	int			i;

	for (i = 0; i < n; i++)
		__builtin_prefetch(&table->places[hashes[i] >> table->shift]);
	for (i = 0; i < n; i++)
	{
		uint32		group = table->places[hashes[i] >> table->shift].group;

		if (group != 0)
			__builtin_prefetch(gpb_groups_at(table, group - 1));
	}
}

/*
 * Find the groups of n entries, at most GPB_GROUPS_AT_ONCE, from entry "first" on.  ngroups is a
 * constant where it is 1.  Returns false if there is no memory.
 */
GPB_FN bool
find_some(GpbGroupTable *table, int ngroups, int first, int n, const int64 *const *words,
		  const int64 *heads, int64 **answers)
{
	uint64		hashes[GPB_GROUPS_AT_ONCE];
	int			i;
	int			g;

	for (i = 0; i < n; i++)
	{
		uint64		hash = hash_head(heads[i]);

		for (g = 0; g < ngroups; g++)
			hash = hash_word(hash, words[g][first + i]);
		hashes[i] = hash_end(hash);
	}
	if (count_places(table) > GPB_FEW_PLACES)
		prefetch_groups(table, hashes, n);
	for (i = 0; i < n; i++)
	{
		int64		key[GPB_MAX_GROUP_SLOTS];
		GpbGroup   *group;

		for (g = 0; g < ngroups; g++)
			key[g] = words[g][first + i];
		if (table->places != NULL)
		{
			GpbGroupPlace place = table->places[hashes[i] >> table->shift];

			/* Most groups are at the place that their hash chooses. */
			if (place.group != 0 && place.hash == (uint32) (hashes[i] >> 32))
			{
				group = gpb_groups_at(table, place.group - 1);
				if (has_key(group, heads[i], key, ngroups))
				{
					answers[first + i] = group->words + ngroups;
					continue;
				}
			}
		}
		group = find_group(table, heads[i], key, hashes[i]);
		if (group == NULL)
			return false;
		answers[first + i] = group->words + ngroups;
	}
	return true;
}

bool
gpb_groups_find(GpbGroupTable *table, int n, const int64 *const *words,
				const uint8 *const *nulls, const uint32 *numbers, int64 **answers)
{
	int64		heads[GPB_GROUPS_AT_ONCE];
	int			ngroups = table->program->ngroups;
	int			first;

	for (first = 0; first < n; first += GPB_GROUPS_AT_ONCE)
	{
		int			some = n - first < GPB_GROUPS_AT_ONCE ? n - first : GPB_GROUPS_AT_ONCE;

		fill_heads(ngroups, first, some, nulls, numbers, heads);
		if (ngroups == 1 ? !find_some(table, 1, first, some, words, heads, answers) :
			!find_some(table, ngroups, first, some, words, heads, answers))
			return false;
	}
	return true;
}

/* ---- groups from elsewhere ---- */

/*
 * Copy a group that the table has not.  An answer by itself is what merging makes of it and of the
 * answer of no entries.  Returns false if there is no memory.
 */
static bool
copy_group(GpbGroupTable *table, const GpbGroup *group, uint64 hash)
{
	GpbGroup   *copy = add_group(table, hash);

	if (copy == NULL)
		return false;
	memcpy(copy, group, table->width);
	return true;
}

bool
gpb_groups_merge(GpbGroupTable *table, const GpbGroup *group)
{
	uint64		hash = hash_group(table, group);
	GpbGroup   *into = probe_group(table, group_head(group), group->words, hash);

	if (into == NULL)
		return copy_group(table, group, hash);
	gpb_answer_merge(table->format, group_answer(table, into),
					 group->words + table->program->ngroups);
	return true;
}

/* Do answers have nothing but numbers of values and sums of integers? */
static bool
has_sums_alone(const GpbAnswerFormat *format)
{
	int			i;

	for (i = 0; i < format->ncolumns; i++)
	{
		const GpbAnswerColumn *column = &format->column[i];

		if ((column->minmax | column->squares | column->bits_and | column->bits_or |
			 column->bits_xor | column->halves | column->float_sum | column->float_squares) != 0)
			return false;
	}
	return true;
}

/* gpb_answer_merge() for answers that have sums alone, which are 0 where there is no value */
static inline void
merge_sums(const GpbAnswerFormat *format, int64 *into, const int64 *from)
{
	int			i;

	into[0] += from[0];
	for (i = 0; i < format->ncolumns; i++)
	{
		const GpbAnswerColumn *column = &format->column[i];

		into[column->count] += from[column->count];
		if (column->sum != 0)
			gpb_answer_add_sum(into + column->sum, (uint64) from[column->sum],
							   from[column->sum + 1]);
	}
}

/* What is known of a group that is to be merged */
typedef struct GpbMergedGroup
{
	uint64		hash;
	GpbGroup   *guess;			/* most likely the same group here, or NULL */
} GpbMergedGroup;

/*
 * The group at the place that the hash chooses, if it has that hash; else NULL.  It is prefetched.
 */
static inline GpbGroup *
guess_group(const GpbGroupTable *table, uint64 hash)
{
	GpbGroupPlace place = table->places[hash >> table->shift];
	GpbGroup   *group;

	if (place.group == 0 || place.hash != (uint32) (hash >> 32))
		return NULL;
	group = gpb_groups_at(table, place.group - 1);
	__builtin_prefetch(group);
	/* a small record may end in the next line, where most of its answer is */
	__builtin_prefetch((char *) group + sizeof(GpbGroup) + sizeof(int64));
	return group;
}

/* Merge a group.  Returns false if there is no memory. */
static inline bool
merge_group(GpbGroupTable *table, const GpbGroup *group, int ngroups, bool sums_alone,
			const GpbMergedGroup *merged)
{
	GpbGroup   *into = merged->guess;

	if (into == NULL || !has_key(into, group_head(group), group->words, ngroups))
		into = probe_key(table, group_head(group), group->words, ngroups, merged->hash);
	if (into == NULL)
		return copy_group(table, group, merged->hash);
	if (sums_alone)
		merge_sums(table->format, into->words + ngroups, group->words + ngroups);
	else
		gpb_answer_merge(table->format, into->words + ngroups, group->words + ngroups);
	return true;
}

/*
 * Merge n records that lie one after the other.  A group's hash is made long before it is merged,
 * and what is at its place is asked for halfway:
 *
 *		i							hash, place prefetched
 *		i - GPB_MERGED_AHEAD		record prefetched
 *		i - 2 * GPB_MERGED_AHEAD	merged
 *
 * ngroups is a constant where it is 1, and so is sums_alone.  Returns false if there is no memory.
 */
GPB_FN bool
merge_records(GpbGroupTable *table, const char *records, uint64 n, int ngroups, bool sums_alone)
{
	GpbMergedGroup merged[2 * GPB_MERGED_AHEAD];
	uint64		width = table->width;
	uint64		i;

	for (i = 0; i < n + 2 * GPB_MERGED_AHEAD; i++)
	{
		GpbMergedGroup *at = &merged[i % (2 * GPB_MERGED_AHEAD)];

		if (i >= 2 * GPB_MERGED_AHEAD)
		{
			const GpbGroup *group = (const GpbGroup *)
				(records + (i - 2 * GPB_MERGED_AHEAD) * width);

			/* what a group without entries has in the other words means nothing */
			if (group->words[ngroups] != 0 &&
				!merge_group(table, group, ngroups, sums_alone, at))
				return false;
		}
		if (i < n)
		{
			at->hash = hash_record((const GpbGroup *) (records + i * width), ngroups);
			__builtin_prefetch(&table->places[at->hash >> table->shift]);
		}
		if (i >= GPB_MERGED_AHEAD && i - GPB_MERGED_AHEAD < n)
		{
			at = &merged[(i - GPB_MERGED_AHEAD) % (2 * GPB_MERGED_AHEAD)];
			at->guess = guess_group(table, at->hash);
		}
	}
	return true;
}

bool
gpb_groups_merge_adjacent(GpbGroupTable *table, const char *groups, uint64 n)
{
	int			ngroups = table->program->ngroups;
	bool		sums_alone;

	/* one group has none to be looked up ahead of it */
	if (n == 1)
		return ((const GpbGroup *) groups)->words[ngroups] == 0 ||
			gpb_groups_merge(table, (const GpbGroup *) groups);
	/* so that there are places to look at */
	if (!reserve_places(table, (uint64) table->n + 1))
		return false;
	sums_alone = has_sums_alone(table->format);
	if (ngroups == 1)
		return sums_alone ? merge_records(table, groups, n, 1, true) :
			merge_records(table, groups, n, 1, false);
	return merge_records(table, groups, n, ngroups, sums_alone);
}

GpbGroup *
gpb_groups_lookup(const GpbGroupTable *table, const GpbGroup *group)
{
	return probe_group(table, group_head(group), group->words, hash_group(table, group));
}

uint64
gpb_groups_adjacent(const GpbGroupTable *table, uint64 i, const char **first)
{
	uint64		end = 0;
	int			c;

	if (i >= table->n)
		return 0;
	for (c = 0; end <= i; c++)
		end = (uint64) chunk_first(c) + table->records[c];
	*first = (const char *) gpb_groups_at(table, (uint32) i);
	return (end < table->n ? end : table->n) - i;
}

void
gpb_groups_normalize(GpbGroupTable *table)
{
	uint32		i;

	if (!gpb_answer_has_float_sums(table->format))
		return;
	for (i = 0; i < table->n; i++)
		gpb_answer_normalize(table->format, group_answer(table, gpb_groups_at(table, i)));
}
