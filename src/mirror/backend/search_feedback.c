/*-------------------------------------------------------------------------
 *
 * search_feedback.c
 *	  What searches in a mirror learn: how old its separators are, and how CPU and device compare.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/map/registry.h"

void
gpb_mirror_note_stale(const GpbMirrorRef *ref, uint64 moves)
{
	if (moves > 0)
		pg_atomic_fetch_add_u64(&gpb_registry->mirrors[ref->slot].stale_moves, moves);
}

StaticAssertDecl(sizeof(GpbBalance) == sizeof(uint64), "a balance is read and written at once");

GpbBalance
gpb_mirror_balance(const GpbMirrorRef *ref)
{
	uint64		word = pg_atomic_read_u64(&gpb_registry->mirrors[ref->slot].balance);
	GpbBalance	balance;

	memcpy(&balance, &word, sizeof(balance));
	return balance;
}

/*
 * A sample is dropped if the balance that it was taken with is not the mirror's balance any more.
 */
void
gpb_mirror_balance_sample(const GpbMirrorRef *ref, GpbBalance then, double device_us,
						  double cpu_us)
{
	GpbBalance	next = gpb_balance_next(then, device_us, cpu_us);
	uint64		from;
	uint64		to;

	memcpy(&from, &then, sizeof(from));
	memcpy(&to, &next, sizeof(to));
	if (gpb_mirror_is_live(ref->slot, ref->generation))
		(void) pg_atomic_compare_exchange_u64(&gpb_registry->mirrors[ref->slot].balance, &from, to);
}
