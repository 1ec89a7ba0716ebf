/*-------------------------------------------------------------------------
 *
 * scan_stand_in.c
 *	  GpubtreeScan in the place of core's index scan, for executions with a large array.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/relation.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/expandeddatum.h"

#include "engine/cost.h"
#include "exec/price/price.h"
#include "exec/price/price_constants.h"
#include "exec/scan/scan_match.h"
#include "exec/scan/scan_stand_in.h"
#include "exec/shell/plan_rules.h"
#include "exec/where/arrays.h"
#include "mirror/mirror.h"

/* ---- planning ---- */

static List *current_stand_ins = NIL;

List *
gpb_stand_ins_begin(void)
{
	List	   *outer = current_stand_ins;

	current_stand_ins = NIL;
	return outer;
}

List *
gpb_stand_ins_end(List *outer)
{
	List	   *stand_ins = current_stand_ins;

	current_stand_ins = outer;
	return stand_ins;
}

/* Is it a scan of an index of ours by a parameter's array? */
static bool
scans_array(const Path *path)
{
	const IndexPath *scan = (const IndexPath *) path;
	ListCell   *lc;

	if (!IsA(path, IndexPath) || path->param_info != NULL ||
		!gpb_index_is_usable(scan->indexinfo))
		return false;
	foreach(lc, scan->indexclauses)
	{
		if (gpb_array_parameter((Node *) lfirst_node(IndexClause, lc)->rinfo->clause) != NULL)
			return true;
	}
	return false;
}

/*
 * Has core a scan of the index that returns rows in an order?  Then somebody may want the order,
 * and GpubtreeScan returns rows as they come.
 */
static bool
order_is_of_use(const RelOptInfo *rel, const IndexOptInfo *index)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const IndexPath *path = lfirst(lc);

		if (IsA(path, IndexPath) && path->indexinfo == index &&
			(path->path.pathkeys != NIL || path->indexorderbys != NIL))
			return true;
	}
	return false;
}

/* Do the arrays of parameters make ranges in this plan? */
static bool
ranges_have_array_parameter(const GpbScanPlan *plan)
{
	List	   *conditions = list_concat_copy(plan->conditions, plan->arrays);
	ListCell   *lc;

	foreach(lc, conditions)
	{
		if (gpb_array_parameter(lfirst(lc)) != NULL)
			return true;
	}
	return false;
}

/* Remember a stand-in for core's scan of the index. */
static void
consider(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index)
{
	GpbStandIn *stand_in;
	GpbScanMatch match;
	double		correlation;

	if (order_is_of_use(rel, index) ||
		!gpb_scan_match_index(root, index, (GpbScanWish) {.many = true}, &match) ||
		!ranges_have_array_parameter(&match.plan))
		return;
	correlation = match.plan.index_only ? 1.0 : gpb_index_correlation(root, index);
	match.plan.scattered = correlation * correlation < GPB_SCATTERED;
	stand_in = palloc(sizeof(GpbStandIn));
	stand_in->table = planner_rt_fetch(rel->relid, root)->eref;
	stand_in->relid = rel->relid;
	stand_in->index = index->indexoid;
	stand_in->scan = gpb_scan_plan_match(root, rel, &match);
	current_stand_ins = lappend(current_stand_ins, stand_in);
}

void
gpb_stand_ins_consider(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *indexes = NIL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		if (scans_array(lfirst(lc)))
			indexes = list_append_unique_ptr(indexes, ((IndexPath *) lfirst(lc))->indexinfo);
	}
	if (indexes == NIL || !gpb_scan_may_be_planned(root, rel) || gpb_scan_shows_current_row(root))
		return;
	foreach(lc, indexes)
		consider(root, rel, lfirst(lc));
}

/* ---- execution ---- */

/* The bytes of an array without its elements, at most */
#define GPB_ARRAY_HEAD	(sizeof(ArrayType) + 2 * MAXDIM * sizeof(int))

/* The number of an array's elements, of which no more is read than its head; 0 for a short one */
static double
array_length(Datum value)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);
	ArrayType  *array = (ArrayType *) stored;
	double		n;

	if (VARATT_IS_EXTERNAL_EXPANDED(stored))
	{
		ExpandedArrayHeader *expanded = (ExpandedArrayHeader *) DatumGetEOHP(value);

		return ArrayGetNItems(expanded->ndims, expanded->dims);
	}
	if (VARATT_IS_SHORT(stored))
		return 0;
	if (VARATT_IS_4B_U(stored))
		return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	array = (ArrayType *) PG_DETOAST_DATUM_SLICE(value, 0, GPB_ARRAY_HEAD - VARHDRSZ);
	n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	pfree(array);
	return n;
}

/* The number of elements of the parameter's array; 0 if it is NULL, or not there */
static double
parameter_length(ParamListInfo parameters, const Param *array)
{
	ParamExternData place;
	const ParamExternData *value;

	if (array->paramid <= 0 || array->paramid > parameters->numParams)
		return 0;
	if (parameters->paramFetch != NULL)
		value = parameters->paramFetch(parameters, array->paramid, true, &place);
	else
		value = &parameters->params[array->paramid - 1];
	if (value->isnull || value->ptype != array->paramtype)
		return 0;
	return array_length(value->value);
}

/* The number of elements of the largest array of a parameter among the conditions, or "least" */
static double
largest_array(List *conditions, ParamListInfo parameters, double least)
{
	double		largest = least;
	ListCell   *lc;

	foreach(lc, conditions)
	{
		const Param *array = gpb_array_parameter(lfirst(lc));
		double		n = array != NULL ? parameter_length(parameters, array) : 0;

		if (n > largest)
			largest = n;
	}
	return largest;
}

/*
 * Is a device the sooner for so many keys?  Where the index has no mirror yet, its pages are read
 * to make one, which pays if core's scan of so many keys would read as many.
 */
static bool
device_pays(Oid index, double n)
{
	Relation	relation;
	bool		pays;

	if (!gpb_mirror_available() || !gpb_batch_device_pays(n))
		return false;
	/* one that exists for the planner alone can only be explained */
	relation = try_relation_open(index, AccessShareLock);
	if (relation == NULL)
		return false;
	pays = gpb_mirror_is_filled(relation) || n >= RelationGetNumberOfBlocks(relation);
	relation_close(relation, NoLock);
	return pays;
}

/*
 * A device is worth its fixed cost from many keys on.  Without one core's scan of the index is as
 * soon as the batch, unless rows are scattered over the heap.
 */
bool
gpb_stand_in_pays(const CustomScan *scan, ParamListInfo parameters)
{
	double		n = largest_array(linitial(scan->custom_exprs), parameters, 0);
	GpbScanPlan plan;

	n = largest_array(lsecond(scan->custom_exprs), parameters, n);
	if (likely(!gpb_is_many_keys(n)))
		return false;
	gpb_scan_get(scan, &plan);
	return plan.scattered || device_pays(plan.index, n);
}
