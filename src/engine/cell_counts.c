/*-------------------------------------------------------------------------
 *
 * cell_counts.c
 *	  What cells of leaves did for each index (rule M14); in shared memory.
 *
 * An array with a cache line for each index.  An index takes the first free place from the one that
 * its name leads to; if some places there are others', it is not counted.  No lock is taken.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/shmem.h"

#include "engine/cell_counts.h"

#define PLACES			1024

/* The most places that are tried for an index */
#define TRIED_PLACES	16

/* With fewer leaves that were visited in vain, and nothing else, nothing is added. */
#define LEAST_UNSEEN	8

/* Rent is kept in parts of a unit of gpubtree.batch_setup_cost. */
#define RENT_UNIT		1024.0
#define MOST_DOUBLED	10

typedef struct CountsPlace
{
	pg_atomic_uint64 name;		/* database and index, or 0 */
	pg_atomic_uint64 passed;
	pg_atomic_uint64 recorded;
	pg_atomic_uint64 unseen;
	pg_atomic_uint64 rent;
	pg_atomic_uint32 doubled;	/* how often the price of recording was doubled */
	char		unused[20];
} CountsPlace;

StaticAssertDecl(sizeof(CountsPlace) == 64, "a place is a cache line");

static CountsPlace *places = NULL;

void
gpb_cell_counts_request_shmem(void)
{
	RequestAddinShmemSpace(PLACES * sizeof(CountsPlace));
}

void
gpb_cell_counts_init_shmem(void)
{
	bool		found;
	int			i;

	places = ShmemInitStruct("gpubtree cell counts", PLACES * sizeof(CountsPlace), &found);
	for (i = 0; i < PLACES && !found; i++)
	{
		pg_atomic_init_u64(&places[i].name, 0);
		pg_atomic_init_u64(&places[i].passed, 0);
		pg_atomic_init_u64(&places[i].recorded, 0);
		pg_atomic_init_u64(&places[i].unseen, 0);
		pg_atomic_init_u64(&places[i].rent, 0);
		pg_atomic_init_u32(&places[i].doubled, 0);
	}
}

/* The place of an index of this database, which may just have been taken for it; NULL: none. */
static CountsPlace *
place_of(Oid index)
{
	uint64		name = (uint64) MyDatabaseId << 32 | index;
	uint32		first = hash_bytes_uint32(index ^ MyDatabaseId);
	uint32		i;

	for (i = 0; i < TRIED_PLACES && places != NULL; i++)
	{
		CountsPlace *place = &places[(first + i) % PLACES];
		uint64		has = pg_atomic_read_u64(&place->name);

		if (has == name ||
			(has == 0 && (pg_atomic_compare_exchange_u64(&place->name, &has, name) ||
						  has == name)))
			return place;
	}
	return NULL;
}

void
gpb_cell_counts_add(Oid index, uint64 passed, uint64 recorded, uint64 unseen)
{
	CountsPlace *place;

	if (passed == 0 && recorded == 0 && unseen < LEAST_UNSEEN)
		return;
	place = place_of(index);
	if (place == NULL)
		return;
	if (passed > 0)
		pg_atomic_fetch_add_u64(&place->passed, passed);
	if (recorded > 0)
		pg_atomic_fetch_add_u64(&place->recorded, recorded);
	if (unseen > 0)
		pg_atomic_fetch_add_u64(&place->unseen, unseen);
}

int
gpb_cell_counts_places(void)
{
	return places == NULL ? 0 : PLACES;
}

bool
gpb_cell_counts_get(int i, GpbCellCounts *counts)
{
	CountsPlace *place = &places[i];
	uint64		name = pg_atomic_read_u64(&place->name);

	if (name == 0)
		return false;
	counts->database = (Oid) (name >> 32);
	counts->index = (Oid) name;
	counts->passed = pg_atomic_read_u64(&place->passed);
	counts->recorded = pg_atomic_read_u64(&place->recorded);
	counts->unseen = pg_atomic_read_u64(&place->unseen);
	return counts->passed > 0 || counts->recorded > 0 || counts->unseen > 0;
}

void
gpb_cell_counts_reset(void)
{
	int			i;

	for (i = 0; i < gpb_cell_counts_places(); i++)
	{
		pg_atomic_write_u64(&places[i].name, 0);
		pg_atomic_write_u64(&places[i].passed, 0);
		pg_atomic_write_u64(&places[i].recorded, 0);
		pg_atomic_write_u64(&places[i].unseen, 0);
		pg_atomic_write_u64(&places[i].rent, 0);
		pg_atomic_write_u32(&places[i].doubled, 0);
	}
}

/* ---- rent or buy ---- */

bool
gpb_cells_recording_pays(Oid index, double saving, double price)
{
	CountsPlace *place = place_of(index);
	uint32		doubled;
	double		rent;

	if (place == NULL)
		return false;
	doubled = pg_atomic_read_u32(&place->doubled);
	rent = (pg_atomic_fetch_add_u64(&place->rent, (uint64) (saving * RENT_UNIT)) / RENT_UNIT) +
		saving;
	if (rent < price * (1 << doubled))
		return false;
	/* Of sessions that come here at the same moment each may buy: what they ask for differs. */
	pg_atomic_write_u64(&place->rent, 0);
	pg_atomic_write_u32(&place->doubled, Min(doubled + 1, MOST_DOUBLED));
	return true;
}

void
gpb_cells_were_used(Oid index)
{
	CountsPlace *place = place_of(index);

	if (place != NULL && pg_atomic_read_u32(&place->doubled) != 0)
		pg_atomic_write_u32(&place->doubled, 0);
}
