/*-------------------------------------------------------------------------
 *
 * key_exchange.h
 *	  Ranges of keys that several processes read, each some, and answer together, each a stretch of
 *	  the order of keys.
 *
 * Random keys that each process looks up by itself lead each to nearly all leaves.  So they are
 * exchanged, in rounds: every process sorts what it has read, as much as its memory holds, and puts
 * it into shared memory as a run; when all have done so the runs are cut at the same keys into
 * parts, and each part is taken by one process, which then meets leaves that no other meets.
 *
 * Why each range is answered once: a run does not change between the barrier behind which it is
 * complete and the next one.  All processes find the same cuts, since these depend on the runs
 * alone; the parts have all of the runs, and a counter gives each part to one process.
 *
 * Why no process waits for ever: who waits at the barrier waits for processes that are attached to
 * it, and those either read their outer rows or answer, and then come to the barrier or detach.
 * A process hands out nothing before it has detached, so none waits for a reader of its rows while
 * that waits at the barrier.  One that begins late takes part from the phase on that it meets, and
 * one that never begins has read nothing.  Errors and cancels end the wait of others as in any
 * parallel plan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEY_EXCHANGE_H
#define GPB_KEY_EXCHANGE_H

#include "postgres.h"
#include "utils/dsa.h"

#include "program/ranges.h"

/* What the processes share */
typedef struct GpbKeyExchange GpbKeyExchange;

/* The bytes that it takes for a leader and so many workers */
extern Size gpb_exchange_size(int workers);

/* Let it begin, the first time, or anew; no process is attached.  The area has the runs. */
extern void gpb_exchange_init(GpbKeyExchange *shared, int workers);
extern void gpb_exchange_renew(GpbKeyExchange *shared, dsa_area *area);

/* One process's side */
typedef struct GpbExchangeSide GpbExchangeSide;

/*
 * Attach to an exchange of ranges in this form, points or intervals of keys of an index.  All
 * memory is of a child of the current context.
 */
extern GpbExchangeSide *gpb_exchange_attach(GpbKeyExchange *shared, dsa_area *area,
											GpbRangeForm form, const GpbLayout *layout);

/* Is this process to put ranges in now?  If not the others wait for no more in this round. */
extern bool gpb_exchange_collects(const GpbExchangeSide *side);

/* The bytes that a range takes of this process's memory, beside those of the caller's array */
extern Size gpb_exchange_range_memory(const GpbExchangeSide *side);

/*
 * Put in n ranges, whose array is overwritten, and wait until all processes have put in theirs.
 * more: this process has further ranges for the next round.
 */
extern void gpb_exchange_put(GpbExchangeSide *side, void *ranges, uint32 n, bool more);

/*
 * Take a part of what all have put in: *ranges, good until the next call.  Returns the number of
 * ranges, 0 if all are taken.
 */
extern uint32 gpb_exchange_take(GpbExchangeSide *side, const void **ranges);

/*
 * Nothing is left to be taken: wait until all that was taken is answered, and go on with the next
 * round.  If there is none return false, having detached and given back all memory.
 */
extern bool gpb_exchange_next_round(GpbExchangeSide *side);

#endif							/* GPB_KEY_EXCHANGE_H */
