/*-------------------------------------------------------------------------
 *
 * core_aggregate.c
 *	  What gpubtree knows of core's aggregates, and of its own: a table of each.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "exec/functions/core_aggregate.h"

/* ---- the aggregates ---- */

/* An aggregate of one type, and of families of types */
#define GPB_OF(name, suffix, type, function) \
	{F_##name##_##suffix, function, GPB_INPUT_WORD, type}
#define GPB_OF_INTEGERS(name, function) \
	GPB_OF(name, INT2, INT2OID, function), \
	GPB_OF(name, INT4, INT4OID, function), \
	GPB_OF(name, INT8, INT8OID, function)
#define GPB_OF_NUMBERS(name, function) \
	GPB_OF_INTEGERS(name, function), \
	GPB_OF(name, FLOAT8, FLOAT8OID, function), \
	GPB_OF(name, FLOAT4, FLOAT4OID, function), \
	GPB_OF(name, NUMERIC, NUMERICOID, function)
#define GPB_OF_ORDERED(name, function) \
	GPB_OF_NUMBERS(name, function), \
	GPB_OF(name, DATE, DATEOID, function), \
	GPB_OF(name, TIMESTAMP, TIMESTAMPOID, function), \
	GPB_OF(name, TIMESTAMPTZ, TIMESTAMPTZOID, function), \
	GPB_OF(name, TIME, TIMEOID, function), \
	GPB_OF(name, MONEY, MONEYOID, function), \
	GPB_OF(name, XID8, XID8OID, function), \
	GPB_OF(name, PG_LSN, LSNOID, function), \
	{F_##name##_TEXT, function, GPB_INPUT_CODE, TEXTOID, F_BTTEXTCMP}, \
	{F_##name##_BPCHAR, function, GPB_INPUT_CODE, BPCHAROID, F_BPCHARCMP}

static const GpbAggregate gpb_aggregates[] = {
	{F_COUNT_, GPB_COUNT_ENTRIES, GPB_INPUT_ROW},
	{F_COUNT_ANY, GPB_COUNT_VALUES, GPB_INPUT_ANY},
	GPB_OF_NUMBERS(SUM, GPB_SUM),
	GPB_OF(SUM, MONEY, MONEYOID, GPB_SUM),
	GPB_OF_NUMBERS(AVG, GPB_AVG),
	GPB_OF_ORDERED(MIN, GPB_MIN),
	GPB_OF_ORDERED(MAX, GPB_MAX),
	GPB_OF_NUMBERS(VAR_POP, GPB_VAR_POP),
	GPB_OF_NUMBERS(VAR_SAMP, GPB_VAR_SAMP),
	GPB_OF_NUMBERS(VARIANCE, GPB_VAR_SAMP),
	GPB_OF_NUMBERS(STDDEV_POP, GPB_STDDEV_POP),
	GPB_OF_NUMBERS(STDDEV_SAMP, GPB_STDDEV_SAMP),
	GPB_OF_NUMBERS(STDDEV, GPB_STDDEV_SAMP),
	{F_BOOL_AND, GPB_MIN, GPB_INPUT_WORD, BOOLOID},
	{F_EVERY, GPB_MIN, GPB_INPUT_WORD, BOOLOID},
	{F_BOOL_OR, GPB_MAX, GPB_INPUT_WORD, BOOLOID},
	GPB_OF_INTEGERS(BIT_AND, GPB_BIT_AND),
	GPB_OF_INTEGERS(BIT_OR, GPB_BIT_OR),
	GPB_OF_INTEGERS(BIT_XOR, GPB_BIT_XOR),
	{F_REGR_COUNT, GPB_COUNT_VALUES, GPB_INPUT_PAIR, FLOAT8OID},
	{F_REGR_AVGX, GPB_AVG, GPB_INPUT_X, FLOAT8OID},
	{F_REGR_AVGY, GPB_AVG, GPB_INPUT_Y, FLOAT8OID},
	{F_REGR_SXX, GPB_REGR_SXX, GPB_INPUT_X, FLOAT8OID},
	{F_REGR_SYY, GPB_REGR_SXX, GPB_INPUT_Y, FLOAT8OID},
	{F_REGR_SXY, GPB_REGR_SXY, GPB_INPUT_BOTH, FLOAT8OID},
	{F_COVAR_POP, GPB_COVAR_POP, GPB_INPUT_BOTH, FLOAT8OID},
	{F_COVAR_SAMP, GPB_COVAR_SAMP, GPB_INPUT_BOTH, FLOAT8OID},
	{F_CORR, GPB_CORR, GPB_INPUT_BOTH, FLOAT8OID},
	{F_REGR_R2, GPB_REGR_R2, GPB_INPUT_BOTH, FLOAT8OID},
	{F_REGR_SLOPE, GPB_REGR_SLOPE, GPB_INPUT_BOTH, FLOAT8OID},
	{F_REGR_INTERCEPT, GPB_REGR_INTERCEPT, GPB_INPUT_BOTH, FLOAT8OID},
	{F_PERCENTILE_DISC_FLOAT8_ANYELEMENT, GPB_PERCENTILE_DISC, GPB_INPUT_ORDER, FLOAT8OID},
	{F_PERCENTILE_DISC__FLOAT8_ANYELEMENT, GPB_PERCENTILE_DISC, GPB_INPUT_ORDER, FLOAT8ARRAYOID},
	{F_PERCENTILE_CONT_FLOAT8_FLOAT8, GPB_PERCENTILE_CONT, GPB_INPUT_ORDER, FLOAT8OID},
	{F_PERCENTILE_CONT__FLOAT8_FLOAT8, GPB_PERCENTILE_CONT, GPB_INPUT_ORDER, FLOAT8ARRAYOID},
	{F_MODE, GPB_MODE, GPB_INPUT_ORDER},
};

/* ---- the extension's own ---- */

/* An aggregate of the extension: the C function of its transitions, and what it is */
typedef struct GpbOwnAggregate
{
	const char *step;
	GpbAggregate as;
} GpbOwnAggregate;

#define GPB_OWN(step, function, type) \
	{step, {InvalidOid, function, GPB_INPUT_WORD, type}}
#define GPB_OWN_NUMBERS(step, function) \
	GPB_OWN(step, function, INT2OID), \
	GPB_OWN(step, function, INT4OID), \
	GPB_OWN(step, function, INT8OID), \
	GPB_OWN(step, function, FLOAT4OID), \
	GPB_OWN(step, function, FLOAT8OID), \
	GPB_OWN(step, function, NUMERICOID)

static const GpbOwnAggregate own_aggregates[] = {
	GPB_OWN_NUMBERS("gpubtree_sums_step", GPB_PARTIAL_SUMS),
	GPB_OWN_NUMBERS("gpubtree_moments_step", GPB_PARTIAL_MOMENTS),
	{"gpubtree_pairs_step", {InvalidOid, GPB_PARTIAL_PAIRS, GPB_INPUT_BOTH, FLOAT8OID}},
	{"gpubtree_values_step", {InvalidOid, GPB_PARTIAL_VALUES, GPB_INPUT_EACH, ANYELEMENTOID}},
};

/* The C function of an aggregate's transitions, palloc'd; NULL if it is no C function */
static char *
transition_symbol(Oid aggregate)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Oid			transition;
	Datum		source;
	bool		isnull;
	char	   *symbol = NULL;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	transition = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	ReleaseSysCache(tuple);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(transition));
	if (!HeapTupleIsValid(tuple))
		return NULL;
	source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	if (!isnull && ((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
		symbol = TextDatumGetCString(source);
	ReleaseSysCache(tuple);
	return symbol;
}

/* The type of an aggregate's first argument */
static Oid
first_argument(Oid aggregate)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(aggregate));
	Oid			type = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);

		if (form->pronargs > 0)
			type = form->proargtypes.values[0];
		ReleaseSysCache(tuple);
	}
	return type;
}

/* What somebody made of our functions is no member. */
bool
gpb_is_own_aggregate(Oid aggregate)
{
	Oid			extension = getExtensionOfObject(ProcedureRelationId, aggregate);

	return OidIsValid(extension) && extension == get_extension_oid("gpubtree", true);
}

/* Like gpb_find_aggregate(), of an aggregate that is none of core's */
static const GpbAggregate *
find_own(Oid aggregate)
{
	char	   *symbol = transition_symbol(aggregate);
	GpbAggregate *found = NULL;

	if (symbol == NULL)
		return NULL;
	for (int i = 0; i < lengthof(own_aggregates) && found == NULL; i++)
	{
		if (strcmp(own_aggregates[i].step, symbol) != 0 ||
			own_aggregates[i].as.type != first_argument(aggregate) ||
			!gpb_is_own_aggregate(aggregate))
			continue;
		found = palloc(sizeof(GpbAggregate));
		*found = own_aggregates[i].as;
		found->aggregate = aggregate;
	}
	pfree(symbol);
	return found;
}

/* Does a function, if it still exists, belong to the extension and compute what is asked for? */
static bool
computes(Oid member, GpbAggregateFunction function, Oid type)
{
	const GpbAggregate *own;

	if (!SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(member)) ||
		get_func_prokind(member) != PROKIND_AGGREGATE)
		return false;
	own = find_own(member);
	return own != NULL && own->function == function &&
		(own->type == type || own->type == ANYELEMENTOID);
}

/* Find an aggregate of ours among the extension's members, which takes a look at half of them. */
static Oid
find_member(GpbAggregateFunction function, Oid type)
{
	Oid			extension = get_extension_oid("gpubtree", true);
	Oid			found = InvalidOid;
	Relation	depend;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	if (!OidIsValid(extension))
		return InvalidOid;
	depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyInit(&key[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(ExtensionRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2, key);
	while (!OidIsValid(found) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == ProcedureRelationId && form->deptype == DEPENDENCY_EXTENSION &&
			computes(form->objid, function, type))
			found = form->objid;
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return found;
}

Oid
gpb_own_aggregate(GpbAggregateFunction function, Oid type)
{
	/* what was found last, which may be gone since, or be another function's number */
	static Oid	found[lengthof(own_aggregates)];
	int			i = 0;

	while (i < lengthof(own_aggregates) &&
		   (own_aggregates[i].as.function != function || own_aggregates[i].as.type != type))
		i++;
	if (i == lengthof(own_aggregates))
		return find_member(function, type);
	if (!OidIsValid(found[i]) || !computes(found[i], function, type))
		found[i] = find_member(function, type);
	return found[i];
}

/* ---- any of them ---- */

const GpbAggregate *
gpb_find_aggregate(Oid aggregate)
{
	if (aggregate >= FirstNormalObjectId)
		return find_own(aggregate);
	for (int i = 0; i < lengthof(gpb_aggregates); i++)
	{
		if (gpb_aggregates[i].aggregate == aggregate)
			return &gpb_aggregates[i];
	}
	return NULL;
}

/* A domain's values are those of its base type. */
bool
gpb_aggregate_takes(const GpbAggregate *known, Oid type)
{
	return getBaseType(type) == known->type;
}

/* ---- what they compute ---- */

#define GPB_WANT_SUMS		(GPB_WANT_COUNT | GPB_WANT_SUM)
#define GPB_WANT_MOMENTS	(GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_SQUARES)
#define GPB_WANT_BOUNDS		(GPB_WANT_COUNT | GPB_WANT_MINMAX)

/* Of functions of GPB_INPUT_ORDER nothing is wanted but the values themselves. */
const GpbFunctionNeeds gpb_functions[] = {
	[GPB_COUNT_ENTRIES] = {0},
	[GPB_COUNT_VALUES] = {GPB_WANT_COUNT},
	[GPB_SUM] = {GPB_WANT_SUMS},
	[GPB_AVG] = {GPB_WANT_SUMS},
	[GPB_MIN] = {GPB_WANT_BOUNDS, .ignores_repeats = true},
	[GPB_MAX] = {GPB_WANT_BOUNDS, .ignores_repeats = true},
	[GPB_VAR_POP] = {GPB_WANT_MOMENTS},
	[GPB_VAR_SAMP] = {GPB_WANT_MOMENTS, .of_sample = true},
	[GPB_STDDEV_POP] = {GPB_WANT_MOMENTS},
	[GPB_STDDEV_SAMP] = {GPB_WANT_MOMENTS, .of_sample = true},
	[GPB_BIT_AND] = {GPB_WANT_COUNT | GPB_WANT_AND, .ignores_repeats = true},
	[GPB_BIT_OR] = {GPB_WANT_COUNT | GPB_WANT_OR, .ignores_repeats = true},
	[GPB_BIT_XOR] = {GPB_WANT_COUNT | GPB_WANT_XOR},
	[GPB_REGR_SXX] = {GPB_WANT_MOMENTS},
	[GPB_REGR_SXY] = {GPB_WANT_SUMS, GPB_WANT_SUMS},
	[GPB_COVAR_POP] = {GPB_WANT_SUMS, GPB_WANT_SUMS},
	[GPB_COVAR_SAMP] = {GPB_WANT_SUMS, GPB_WANT_SUMS, .of_sample = true},
	[GPB_CORR] = {GPB_WANT_MOMENTS, GPB_WANT_MOMENTS},
	[GPB_REGR_R2] = {GPB_WANT_MOMENTS, GPB_WANT_MOMENTS},
	[GPB_REGR_SLOPE] = {GPB_WANT_MOMENTS, GPB_WANT_SUMS},
	[GPB_REGR_INTERCEPT] = {GPB_WANT_MOMENTS, GPB_WANT_SUMS},
	[GPB_PERCENTILE_DISC] = {0},
	[GPB_PERCENTILE_CONT] = {0},
	[GPB_MODE] = {0},
	[GPB_STATE_MOMENTS] = {GPB_WANT_MOMENTS},
	[GPB_STATE_PAIRS] = {GPB_WANT_MOMENTS, GPB_WANT_MOMENTS},
	[GPB_STATE_SQUARES] = {GPB_WANT_MOMENTS},
	[GPB_STATE_COUNT] = {GPB_WANT_COUNT},
	[GPB_STATE_XOR] = {GPB_WANT_COUNT | GPB_WANT_XOR},
	[GPB_PARTIAL_SUMS] = {GPB_WANT_SUMS | GPB_WANT_BOUNDS},
	[GPB_PARTIAL_MOMENTS] = {GPB_WANT_MOMENTS | GPB_WANT_BOUNDS},
	[GPB_PARTIAL_PAIRS] = {GPB_WANT_MOMENTS, GPB_WANT_MOMENTS},
	[GPB_PARTIAL_VALUES] = {0},
};
