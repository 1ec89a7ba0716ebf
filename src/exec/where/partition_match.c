/*-------------------------------------------------------------------------
 *
 * partition_match.c
 *	  Planning for several partitions: an index in each that is like that of the model, what the
 *	  partitions' bounds say of its first key column, and core's Append over them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "partitioning/partbounds.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "exec/shell/plan_rules.h"
#include "exec/shell/sibling.h"
#include "exec/where/partition_match.h"
#include "index/index.h"
#include "index/index_clauses.h"
#include "page/page.h"

/* ---- indexes that are alike ---- */

static Oid
table_of(PlannerInfo *root, const RelOptInfo *rel)
{
	return planner_rt_fetch(rel->relid, root)->relid;
}

/* The number that a column of relation relid has in its parent, or ancestor, number "parent" */
static AttrNumber
column_of_parent(PlannerInfo *root, Index relid, AttrNumber attno, Index parent)
{
	while (attno > 0 && relid != parent)
	{
		const AppendRelInfo *info = root->append_rel_array[relid];

		attno = info->parent_colnos[attno - 1];
		relid = info->parent_relid;
	}
	return attno;
}

/* Is column c of both indexes the same of the parent, in the same order? */
static bool
columns_are_alike(PlannerInfo *root, Index parent, const IndexOptInfo *a, const IndexOptInfo *b,
				  int c)
{
	AttrNumber	attno = column_of_parent(root, a->rel->relid, a->indexkeys[c], parent);

	if (attno == 0 || attno != column_of_parent(root, b->rel->relid, b->indexkeys[c], parent))
		return false;
	return c >= a->nkeycolumns ||
		(gpb_own_family(a, c) == gpb_own_family(b, c) &&
		 a->opcintype[c] == b->opcintype[c] && a->indexcollations[c] == b->indexcollations[c] &&
		 a->reverse_sort[c] == b->reverse_sort[c] && a->nulls_first[c] == b->nulls_first[c]);
}

/* The form of an index on disk */
static GpbLayout
layout_of(const IndexOptInfo *index)
{
	/* the planner holds a lock already */
	Relation	relation = index_open(index->indexoid, NoLock);
	GpbLayout	layout = *gpb_layout(relation);

	index_close(relation, NoLock);
	return layout;
}

/*
 * Is the index, of a leaf of the parent, like the model, which has this layout, in all that a plan
 * is made by?
 */
static bool
indexes_are_alike(PlannerInfo *root, RelOptInfo *parent, IndexOptInfo *model,
				  const GpbLayout *layout, IndexOptInfo *index)
{
	GpbLayout	other;
	int			c;

	if (!gpb_index_is_usable(index) || index->nkeycolumns != model->nkeycolumns ||
		index->ncolumns != model->ncolumns ||
		(index->indpred == NIL) != (model->indpred == NIL))
		return false;
	for (c = 0; c < index->ncolumns; c++)
	{
		if (!columns_are_alike(root, parent->relid, model, index, c))
			return false;
	}
	other = layout_of(index);
	return memcmp(layout, &other, sizeof(GpbLayout)) == 0 &&
		(index->indpred == NIL ||
		 equal(gpb_of_parent(root, model->rel, (Node *) model->indpred),
			   gpb_of_parent(root, index->rel, (Node *) index->indpred)));
}

/* The parent's columns that are NULL in no row of a leaf */
static Bitmapset *
never_null_columns(PlannerInfo *root, RelOptInfo *parent, RelOptInfo *leaf)
{
	/* the planner holds a lock already */
	Relation	table = table_open(table_of(root, leaf), NoLock);
	TupleDesc	descriptor = RelationGetDescr(table);
	Bitmapset  *columns = NULL;
	int			i;

	for (i = 0; i < descriptor->natts; i++)
	{
		AttrNumber	attno = 0;

		if (GPB_NEVER_NULL(descriptor, i))
			attno = column_of_parent(root, leaf->relid, i + 1, parent->relid);
		if (attno > 0)
			columns = bms_add_member(columns, attno);
	}
	table_close(table, NoLock);
	return columns;
}

/* The table's restrictions as the query says them */
static List *
restrictions_as_said(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
		clauses = lappend(clauses, lfirst_node(RestrictInfo, lc)->clause);
	return (List *) gpb_of_parent(root, rel, (Node *) clauses);
}

/* Have both leaves the restrictions of the query, as conditions on their parent's columns? */
static bool
restrictions_are_alike(PlannerInfo *root, RelOptInfo *model, RelOptInfo *leaf)
{
	GpbSibling	sibling;

	/* most are found so by what takes less than to say them of the parent */
	gpb_sibling_begin(root, model, leaf, &sibling);
	return gpb_sibling_restrictions_agree(&sibling) ||
		equal(restrictions_as_said(root, model), restrictions_as_said(root, leaf));
}

/* The leaf's index that is like the model, or NULL */
static IndexOptInfo *
find_alike(PlannerInfo *root, RelOptInfo *parent, IndexOptInfo *model, const GpbLayout *layout,
		   RelOptInfo *leaf)
{
	ListCell   *lc;

	foreach(lc, leaf->indexlist)
	{
		if (indexes_are_alike(root, parent, model, layout, lfirst_node(IndexOptInfo, lc)))
			return lfirst(lc);
	}
	return NULL;
}

/* ---- what partitions' bounds say ---- */

/* Add the condition "first key column OP datum" to the partition's. */
static void
add_bound(GpbPartition *partition, IndexOptInfo *index, PartitionScheme scheme,
		  StrategyNumber strategy, Datum datum)
{
	Oid			type = index->opcintype[0];
	GpbRangeCondition *condition = &partition->conditions[partition->nconditions++];
	int16		length = scheme->parttyplen[0];
	bool		by_value = scheme->parttypbyval[0];

	condition->column = 0;
	condition->operator = get_opfamily_member(gpb_own_family(index, 0), type, type, strategy);
	condition->strategy = strategy;
	condition->value_type = type;
	partition->values = lappend(partition->values,
								makeConst(type, -1, scheme->partcollation[0], length,
										  datumCopy(datum, by_value, length), false, by_value));
}

/* Add what the bounds of child number i of a table partitioned by range say. */
static void
add_range_bounds(GpbPartition *partition, IndexOptInfo *index, RelOptInfo *parent, int i)
{
	PartitionBoundInfo info = parent->boundinfo;
	PartitionScheme scheme = parent->part_scheme;
	int			k = 0;

	while (k < info->nindexes && info->indexes[k] != i)
		k++;
	if (k == info->nindexes)
		return;
	if (k > 0 && info->kind[k - 1][0] == PARTITION_RANGE_DATUM_VALUE)
		add_bound(partition, index, scheme, BTGreaterEqualStrategyNumber, info->datums[k - 1][0]);
	if (k < info->ndatums && info->kind[k][0] == PARTITION_RANGE_DATUM_VALUE)
		add_bound(partition, index, scheme, scheme->partnatts == 1 ? BTLessStrategyNumber :
				  BTLessEqualStrategyNumber, info->datums[k][0]);
}

/* Likewise of one that is partitioned by list: the first and the last of its values, in order */
static void
add_list_bounds(GpbPartition *partition, IndexOptInfo *index, RelOptInfo *parent, int i)
{
	PartitionBoundInfo info = parent->boundinfo;
	int			first = -1;
	int			last = -1;
	int			k;

	for (k = 0; k < info->ndatums; k++)
	{
		if (info->indexes[k] != i)
			continue;
		first = first < 0 ? k : first;
		last = k;
	}
	if (first < 0)
	{
		partition->only_null = true;
		return;
	}
	add_bound(partition, index, parent->part_scheme, BTGreaterEqualStrategyNumber,
			  info->datums[first][0]);
	add_bound(partition, index, parent->part_scheme, BTLessEqualStrategyNumber,
			  info->datums[last][0]);
}

/*
 * Is a partitioned table's first partition column, or only one, the index's first key column, in
 * its order?
 */
static bool
is_partitioned_by_key(PlannerInfo *root, RelOptInfo *parent, IndexOptInfo *index)
{
	PartitionScheme scheme = parent->part_scheme;
	Var		   *column;

	if (scheme == NULL || parent->boundinfo == NULL ||
		scheme->strategy == PARTITION_STRATEGY_HASH ||
		scheme->partopfamily[0] != index->opfamily[0] ||
		scheme->partopcintype[0] != index->opcintype[0] ||
		scheme->partcollation[0] != index->indexcollations[0])
		return false;
	column = linitial(parent->partexprs[0]);
	return IsA(column, Var) && column->varattno > 0 &&
		column->varattno == column_of_parent(root, index->rel->relid, index->indexkeys[0],
											 parent->relid);
}

/* The child's number among the partitions of its parent, or -1; from *at on, where the last was */
static int
partition_number(RelOptInfo *parent, RelOptInfo *child, int *at)
{
	int			i;

	for (i = 0; i < parent->nparts; i++)
	{
		int			place = (*at + i) % parent->nparts;

		if (parent->part_rels[place] == child)
			return *at = place;
	}
	return -1;
}

/* Find what the bounds say of the first key column of a partition's index, at each level. */
static void
find_bounds(PlannerInfo *root, IndexOptInfo *index, GpbPartition *partition, int *at)
{
	RelOptInfo *child = index->rel;
	const AppendRelInfo *info;
	int			levels = 0;

	for (info = root->append_rel_array[child->relid]; info != NULL;
		 info = root->append_rel_array[info->parent_relid])
		levels++;
	partition->conditions = palloc(sizeof(GpbRangeCondition) * 2 * levels);
	while ((info = root->append_rel_array[child->relid]) != NULL)
	{
		RelOptInfo *parent = root->simple_rel_array[info->parent_relid];
		int			i = -1;

		if (is_partitioned_by_key(root, parent, index))
			i = partition_number(parent, child, at);
		if (i >= 0 && i != parent->boundinfo->default_index)
		{
			if (parent->part_scheme->strategy == PARTITION_STRATEGY_RANGE)
				add_range_bounds(partition, index, parent, i);
			else
				add_list_bounds(partition, index, parent, i);
		}
		child = parent;
	}
}

/* ---- the match ---- */

RelOptInfo *
gpb_model_partition(PlannerInfo *root, List *leaves)
{
	RelOptInfo *model = NULL;
	ListCell   *lc;

	foreach(lc, leaves)
	{
		RelOptInfo *leaf = lfirst_node(RelOptInfo, lc);
		ListCell   *i;

		if (leaf->indexlist == NIL || (model != NULL && leaf->tuples <= model->tuples))
			continue;
		foreach(i, leaf->indexlist)
		{
			if (!gpb_index_is_usable(lfirst_node(IndexOptInfo, i)))
				continue;
			model = leaf;
			break;
		}
	}
	return model != NULL && gpb_rel_is_table(root, model) ? model : NULL;
}

/* Add a partition's index to what prices are made of. */
static void
add_to_whole(IndexOptInfo *whole, const IndexOptInfo *index)
{
	RelOptInfo *rel = whole->rel;

	whole->pages += index->pages;
	whole->tuples += index->tuples;
	/* the share of all-visible pages is that of all */
	rel->allvisfrac = (rel->allvisfrac * rel->pages +
					   index->rel->allvisfrac * index->rel->pages) /
		Max((double) rel->pages + index->rel->pages, 1.0);
	rel->pages += index->rel->pages;
	rel->tuples += index->rel->tuples;
}

/* The model's description without pages and entries, whose table has none either */
static IndexOptInfo *
begin_whole(const IndexOptInfo *model)
{
	IndexOptInfo *whole = memcpy(palloc(sizeof(*whole)), model, sizeof(*whole));

	whole->rel = memcpy(palloc(sizeof(RelOptInfo)), model->rel, sizeof(RelOptInfo));
	whole->pages = whole->rel->pages = 0;
	whole->tuples = whole->rel->tuples = 0;
	whole->rel->allvisfrac = 0;
	return whole;
}

const char *
gpb_match_partitions(PlannerInfo *root, RelOptInfo *parent, List *leaves, IndexOptInfo *model,
					 GpbPartitionMatch *match)
{
	Bitmapset  *never_null = never_null_columns(root, parent, model->rel);
	GpbLayout	layout = layout_of(model);
	int			at = 0;
	ListCell   *lc;

	memset(match, 0, sizeof(*match));
	match->parent = parent;
	match->list.table = table_of(root, parent);
	match->whole = begin_whole(model);
	match->list.partition = palloc0(sizeof(GpbPartition) * list_length(leaves));
	foreach(lc, leaves)
	{
		RelOptInfo *leaf = lfirst_node(RelOptInfo, lc);
		GpbPartition *partition = &match->list.partition[match->list.n++];
		IndexOptInfo *index = model;

		if (leaf != model->rel)
		{
			index = gpb_rel_is_table(root, leaf) ?
				find_alike(root, parent, model, &layout, leaf) : NULL;
			if (index == NULL)
				return psprintf("partition \"%s\" has no index like it",
								get_rel_name(table_of(root, leaf)));
			if (never_null != NULL &&
				!bms_is_subset(never_null, never_null_columns(root, parent, leaf)))
				return psprintf("partition \"%s\" may have NULLs where another has none",
								get_rel_name(table_of(root, leaf)));
			if (!restrictions_are_alike(root, model->rel, leaf))
				return psprintf("partition \"%s\" has other conditions",
								get_rel_name(table_of(root, leaf)));
		}
		match->indexes = lappend(match->indexes, index);
		partition->index = index->indexoid;
		find_bounds(root, index, partition, &at);
		match->bounded += partition->nconditions > 0 || partition->only_null;
		add_to_whole(match->whole, index);
	}
	return NULL;
}

/* Entries of a range lie in neighbours, which have as many each as others. */
void
gpb_price_partitions(GpbOuterInput *input, const GpbPartitionMatch *match, double entries)
{
	double		tuples = Max(match->whole->tuples / match->list.n, 1.0);
	double		among = Min(1.0 + entries / tuples, match->bounded);

	input->ask.index = match->whole;
	input->partitions = match->list.n;
	input->asked = match->list.n - match->bounded + among;
}

/* The parent's statistics are those of all rows. */
double
gpb_partitions_selectivity(PlannerInfo *root, const GpbPartitionMatch *match, List *clauses,
						   JoinType jointype, SpecialJoinInfo *sjinfo)
{
	List	   *said = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
		said = lappend(said, lfirst_node(RestrictInfo, lc)->clause);
	said = (List *) gpb_of_parent(root, match->whole->rel, (Node *) said);
	return clauselist_selectivity(root, said, sjinfo != NULL ? 0 : match->parent->relid, jointype,
								  sjinfo);
}

/* ---- the Append ---- */

static Plan *plan_partition(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
							List *clauses, List *custom_plans);

static const CustomPathMethods partition_path_methods = {
	.CustomName = "GpubtreePartition",
	.PlanCustomPath = plan_partition
};

typedef struct GpbPartitionPath
{
	CustomPath	path;
	Oid			index;
} GpbPartitionPath;

/*
 * What is pruned core decides by the parents: the Append's must be the partitioned table, and that
 * of each path below it its partition.
 */
Path *
gpb_partitions_path(PlannerInfo *root, const GpbPartitionMatch *match)
{
	PathTarget *nothing = create_empty_pathtarget();
	List	   *paths = NIL;
	AppendPath *append;
	ListCell   *lc;

	foreach(lc, match->indexes)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		CustomPath *path = gpb_make_path(sizeof(GpbPartitionPath), &partition_path_methods,
										 index->rel, nothing);

		path->path.rows = index->rel->rows;
		((GpbPartitionPath *) path)->index = index->indexoid;
		paths = lappend(paths, path);
	}
	append = create_append_path(root, match->parent, paths, NIL, NIL, NULL, 0, false, -1);
	append->path.pathtarget = nothing;
	return (Path *) append;
}

/* PlanCustomPath */
static Plan *
plan_partition(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			   List *custom_plans)
{
	CustomScan *scan = gpb_make_node(&gpb_partition_node, path, rel->relid, tlist, NIL, NIL, NIL);

	gpb_put_oid(&scan->custom_private, ((GpbPartitionPath *) path)->index);
	return &scan->scan.plan;
}
