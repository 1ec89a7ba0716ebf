/*-------------------------------------------------------------------------
 *
 * bucket_match.h
 *	  Which queries GpubtreeBucketAggregate answers, with which index, and at what price.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BUCKET_MATCH_H
#define GPB_BUCKET_MATCH_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/bucket/bucket_node.h"

/* Is it a query for which an index might have buckets? */
extern bool gpb_bucket_may_answer(const GpbGrouping *query);

/* How one index answers the query */
typedef struct GpbBucketMatch
{
	IndexOptInfo *index;
	Expr	   *bucket;			/* the group expression that is a bucket function of the ordered
								 * column */
	List	   *groups;			/* the others */
	GpbBucketPlan plan;
	GpbProgramBuilder *builder; /* NULL if the program is plain */
	bool		needs_child;	/* the program may have no answer */
	double		width;			/* about how many keys a bucket spans; 0 if unknown */
	double		entries;		/* of the range, about */
} GpbBucketMatch;

/*
 * Match the whole query to one index, which is usable: every restriction must be a range of its
 * key, or something that a program can test, or be implied by the index's predicate (rule M10).
 */
extern bool gpb_bucket_match_index(const GpbGrouping *query, IndexOptInfo *index,
								   GpbBucketMatch *match);

/* ---- bucket_price.c ---- */

/* How many groups the query has, about */
typedef struct GpbBucketCounts
{
	double		buckets;
	double		groups;
} GpbBucketCounts;

extern GpbBucketCounts gpb_bucket_count(const GpbGrouping *query, const GpbBucketMatch *match);

/* Do the groups of a bucket fit into the memory of a hash table? */
extern bool gpb_bucket_groups_fit(const GpbBucketMatch *match, const GpbBucketCounts *counts);

/*
 * Are buckets, whose width is known, of so few entries that they are better grouped by
 * GpubtreeAggregate?  That is offered where this node is not, and takes the same conditions of an
 * index with several key columns.
 */
extern bool gpb_bucket_is_sparse(const GpbBucketMatch *match, const GpbBucketCounts *counts);

/* Fill in rows and costs of the path for a match. */
extern void gpb_bucket_price(const GpbGrouping *query, const GpbBucketMatch *match,
							 const GpbBucketCounts *counts, Path *path);

#endif							/* GPB_BUCKET_MATCH_H */
