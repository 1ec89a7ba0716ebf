/*-------------------------------------------------------------------------
 *
 * page_snapshot.c
 *	  Has the index all rows that a snapshot of a standby sees?
 *
 * See src/index/README, "Standbys".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "page/page.h"

/*
 * Read from the metapage who built the index.  Whoever changes that builds the index anew, or is
 * about to make it valid, and either invalidates the relcache entry where the answer is kept.
 */
static GpbRelCache *
read_builder(Relation index)
{
	Buffer		buffer = gpb_lock_meta(index, gpb_layout(index), BUFFER_LOCK_SHARE);
	uint64		builder = gpb_meta_builder(BufferGetPage(buffer));
	GpbRelCache *cache;

	UnlockReleaseBuffer(buffer);
	cache = gpb_rel_cache(index);
	cache->builder = builder;
	cache->knows_builder = true;
	return cache;
}

/*
 * The first comparison, of 32 bits, is right if there are less than 2^31 transactions between the
 * builder and the snapshot.  If there are more, the builder is older than any snapshot, so "false"
 * is right even then; and what it leaves open the comparison of 64 bits decides, once.
 */
bool
gpb_may_lack_rows(Relation index, Snapshot snapshot)
{
	GpbRelCache *cache = gpb_rel_cache(index);
	uint64		next;

	if (!cache->knows_builder)
		cache = read_builder(index);
	if (cache->builder == 0 ||
		TransactionIdPrecedes((TransactionId) cache->builder, snapshot->xmin))
		return false;
	next = U64FromFullTransactionId(ReadNextFullTransactionId());
	if (cache->builder + PG_INT32_MAX < next)
	{
		cache->builder = 0;
		return false;
	}
	return cache->builder >= next ||
		XidInMVCCSnapshot((TransactionId) cache->builder, snapshot);
}

void
gpb_lacks_rows(Relation index)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("canceling statement due to conflict with recovery"),
			 errdetail("Index \"%s\" was built after the statement's snapshot was taken, and may "
					   "lack rows that the snapshot sees.", RelationGetRelationName(index)),
			 errhint("Retry the transaction.")));
}
