/*-------------------------------------------------------------------------
 *
 * bucket_path.h
 *	  Paths of GpubtreeBucketAggregate.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BUCKET_PATH_H
#define GPB_BUCKET_PATH_H

#include "postgres.h"
#include "nodes/extensible.h"

#include "exec/bucket/bucket_match.h"
#include "exec/shell/sibling.h"

typedef struct GpbBucketPath
{
	CustomPath	path;
	IndexOptInfo *index;
	List	   *columns;		/* what the node computes: aggregates, bucket, other groups; or
								 * state and bucket */
	List	   *having;
	double		groups;			/* about how many there are, before HAVING */
	GpbBucketPlan plan;
	GpbAlikePlans plans;		/* of a model: of others (gpb_alike_bucket_path()) */
} GpbBucketPath;

/* What is wanted of a leaf: states, one of each bucket, in the order of results or in reverse */
typedef struct GpbBucketWish
{
	List	   *columns;		/* the state, and the result */
	bool		descends;
} GpbBucketWish;

/* A path without costs for rows of this target, in the place of those of "parent" */
extern GpbBucketPath *gpb_make_bucket_path(RelOptInfo *parent, PathTarget *target);

/*
 * The best path of the query's table, by one of its indexes; NULL if none can answer.  "wish" is
 * NULL if the rows of the whole query are wanted.
 */
extern GpbBucketPath *gpb_best_bucket_path(const GpbGrouping *query, const GpbBucketWish *wish);

/*
 * A path without costs of states of the sibling's other leaf, whose index this is: what the model,
 * a path of states of the sibling's leaf, does there, it is to do here.  Restrictions and indexes
 * of both must have been found to be the same.
 */
extern CustomPath *gpb_alike_bucket_path(GpbBucketPath *model, const GpbSibling *sibling,
										 const IndexOptInfo *index);

/*
 * Offer the path.  Returns false if that is of no use, since core's hash table of the groups is
 * cheaper.
 */
extern bool gpb_offer_bucket_path(const GpbGrouping *query, GpbBucketPath *own);

#endif							/* GPB_BUCKET_PATH_H */
