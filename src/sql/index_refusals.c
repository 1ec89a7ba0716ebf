/*-------------------------------------------------------------------------
 *
 * index_refusals.c
 *	  Where PostgreSQL refuses an index or constraint USING gpubtree in one sentence, says why, and
 *	  what to use.
 *
 * Unique indexes are refused on servers before 18, ahead of PostgreSQL, which refuses them without
 * asking the access method.
 *
 * Of a key column for which there is no operator class PostgreSQL says to make one, which helps
 * nobody.  Only its own search tells whether there is one, so its error is caught, and goes on with
 * another detail and hint.  Catalogs cannot be read then: whatever the error may say of the
 * statement's columns is made beforehand, and the error's message tells which of it is meant.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "page/page.h"
#include "sql/sql.h"

#define GPB_ACCESS_METHOD	"gpubtree"

/* Messages of ResolveOpClass(), of a type or the name of an operator class, and our name */
#define GPB_NO_DEFAULT_CLASS "data type %s has no default operator class for access method \"%s\""
#define GPB_NO_SUCH_CLASS	"operator class \"%s\" does not exist for access method \"%s\""

/* A type that stands for all of which there is nothing else to say */
#define GPB_OTHER_TYPE		VOIDOID

/* What to add to one of these messages */
typedef struct GpbClassRefusal
{
	const char *message;		/* which */
	const char *subject;		/* its type or name; NULL: any */
	const char *detail;			/* NULL: none */
	const char *hint;
} GpbClassRefusal;

static ProcessUtility_hook_type previous_utility_hook = NULL;

/* ---- unique indexes ---- */

/* Raise ERRCODE_FEATURE_NOT_SUPPORTED if the statement creates a unique index of ours. */
static void
refuse_unique(const IndexStmt *statement)
{
	if (GPB_CAN_UNIQUE || !statement->unique)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("access method \"gpubtree\" does not support unique indexes"),
			 errdetail("Before version 18 PostgreSQL takes every unique index for a B-tree, and "
					   "INSERT ... ON CONFLICT fails on others."),
			 errhint("Create the unique index USING btree, and a gpubtree index beside it, or use a "
					 "constraint EXCLUDE USING gpubtree (column WITH =).")));
}

/* ---- operator classes: what is to be said ---- */

/* Why keys cannot be of a type, which is no domain, and has no operator class. */
static const char *
type_detail(Oid type)
{
	if (gpb_type_has_dictionary(type))
		return "Values of variable width do not fit a key of 16 bytes.";
	if (type_is_enum(type))
		return "The order of an enum type's values is in the catalog, and ALTER TYPE ... ADD VALUE "
			"can change it.";
	switch (type)
	{
		case INTERVALOID:
			return "Equal intervals can differ, as 1 day and 24 hours do, and what orders them and "
				"what tells them apart are more than the 16 bytes of a key.";
		case INETOID:
		case CIDROID:
			return "An address with its family and mask is more than the 16 bytes of a key.";
		default:
			return "Types allowed: " GPB_KEY_TYPES ", " GPB_LONE_KEY_TYPES ".";
	}
}

/* What to use instead: for a constraint, or for an index, on a column of this type. */
static const char *
column_hint(Oid type, bool excludes)
{
	if (excludes)
		return "Use EXCLUDE with another access method, such as btree, or a UNIQUE constraint.";
	if (gpb_type_has_dictionary(type))
		return "Put the column into the INCLUDE list of an index on another column, which keeps "
			"each different value once, or use an access method such as btree.";
	if (gpb_held_type_coding(type) != GPB_CODING_NONE)
		return "Put the column into the INCLUDE list of an index on another column, or use an "
			"access method such as btree.";
	return "Leave the column out of the index, or use an access method such as btree.";
}

/* What to do about a key on an expression of such a type, which an INCLUDE list cannot have */
static const char *
expression_hint(bool excludes)
{
	return excludes ? column_hint(GPB_OTHER_TYPE, true) :
		"Use an expression of another type, or an access method such as btree.";
}

static GpbClassRefusal *
make_refusal(const char *message, const char *subject, const char *detail, const char *hint)
{
	GpbClassRefusal *refusal = palloc(sizeof(GpbClassRefusal));

	refusal->message = message;
	refusal->subject = subject;
	refusal->detail = detail;
	refusal->hint = hint;
	return refusal;
}

/* What may be said of a column that is a key, added to the refusals */
static List *
add_column(List *refusals, Oid table, const IndexElem *element, Oid method, bool excludes)
{
	Oid			type = get_atttype(table, get_attnum(table, element->name));
	Oid			base;
	const char *detail;
	const char *hint;

	if (!OidIsValid(type))
		return refusals;
	base = getBaseType(type);
	if (OidIsValid(GetDefaultOpClass(type, method)))
	{
		detail = NULL;
		hint = psprintf("Leave the operator class out: that means the default one for type %s.",
						format_type_be(type));
	}
	else
	{
		detail = type_detail(base);
		hint = column_hint(base, excludes);
		refusals = lappend(refusals, make_refusal(GPB_NO_DEFAULT_CLASS, format_type_be(type),
												  detail, hint));
	}
	if (element->opclass != NIL)
		refusals = lappend(refusals, make_refusal(GPB_NO_SUCH_CLASS,
												  NameListToString(element->opclass), detail,
												  hint));
	return refusals;
}

/*
 * All that may be said of these IndexElems, keys of an index of ours on the table: first of its
 * columns, then of expressions of core's types, then of all others.  Nothing is locked, so the
 * columns may be others when PostgreSQL looks at them; a message that tells so is left as it is, or
 * is of an expression's type.
 */
static List *
make_refusals(const RangeVar *relation, List *elements, bool excludes)
{
	static const Oid types[] = {
		TEXTOID, VARCHAROID, BPCHAROID, BYTEAOID, INTERVALOID, INETOID, CIDROID
	};
	Oid			method = get_index_am_oid(GPB_ACCESS_METHOD, true);
	Oid			table = RangeVarGetRelid(relation, NoLock, true);
	List	   *refusals = NIL;
	ListCell   *lc;

	if (!OidIsValid(method) || !OidIsValid(table))
		return NIL;
	foreach(lc, elements)
	{
		const IndexElem *element = lfirst_node(IndexElem, lc);

		if (element->name != NULL)
			refusals = add_column(refusals, table, element, method, excludes);
	}
	for (int i = 0; i < lengthof(types); i++)
		refusals = lappend(refusals, make_refusal(GPB_NO_DEFAULT_CLASS, format_type_be(types[i]),
												  type_detail(types[i]),
												  expression_hint(excludes)));
	refusals = lappend(refusals, make_refusal(GPB_NO_DEFAULT_CLASS, NULL,
											  type_detail(GPB_OTHER_TYPE),
											  expression_hint(excludes)));
	return lappend(refusals, make_refusal(GPB_NO_SUCH_CLASS, NULL, type_detail(GPB_OTHER_TYPE),
										  expression_hint(excludes)));
}

/* ---- operator classes: when it is said ---- */

/* Is it the error that the refusal is of?  Messages are translated. */
static bool
is_refusal(const ErrorData *error, const GpbClassRefusal *refusal)
{
	if (error->message_id == NULL || strcmp(error->message_id, refusal->message) != 0)
		return false;
	if (refusal->subject == NULL)
		return strstr(error->message, GPB_ACCESS_METHOD) != NULL;
	return strcmp(error->message, psprintf(dgettext(error->domain, refusal->message),
										   refusal->subject, GPB_ACCESS_METHOD)) == 0;
}

/*
 * Rethrow the error that was caught; if a refusal is of it, with the refusal's detail and hint.
 * What is allocated for that is in the caller's memory context.
 */
static void
rethrow(List *refusals, MemoryContext caller)
{
	ErrorData  *error;
	ListCell   *lc;

	MemoryContextSwitchTo(caller);
	error = CopyErrorData();
	foreach(lc, refusals)
	{
		const GpbClassRefusal *refusal = lfirst(lc);

		if (!is_refusal(error, refusal))
			continue;
		FlushErrorState();
		error->detail = refusal->detail == NULL ? NULL : pstrdup(refusal->detail);
		error->hint = pstrdup(refusal->hint);
		ReThrowError(error);
	}
	PG_RE_THROW();
}

/* Call whatever else does utility statements. */
static void
process_next(PlannedStmt *planned, const char *query, bool read_only_tree,
			 ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *environment,
			 DestReceiver *receiver, QueryCompletion *completion)
{
	(previous_utility_hook ? previous_utility_hook : standard_ProcessUtility)
		(planned, query, read_only_tree, context, params, environment, receiver, completion);
}

static bool
is_our_method(const char *method)
{
	return method != NULL && strcmp(method, GPB_ACCESS_METHOD) == 0;
}

/* The IndexElems of the exclusion constraints of ours that an ALTER TABLE adds */
static List *
added_elements(const AlterTableStmt *statement)
{
	List	   *elements = NIL;
	ListCell   *lc;
	ListCell   *pair;

	foreach(lc, statement->cmds)
	{
		const AlterTableCmd *command = lfirst_node(AlterTableCmd, lc);
		const Constraint *constraint = (const Constraint *) command->def;

		if (command->subtype != AT_AddConstraint || !IsA(constraint, Constraint) ||
			constraint->contype != CONSTR_EXCLUSION || !is_our_method(constraint->access_method))
			continue;
		/* each element has an operator's name beside it */
		foreach(pair, constraint->exclusions)
			elements = lappend(elements, linitial(lfirst_node(List, pair)));
	}
	return elements;
}

/*
 * What may be said of a statement that makes an index of ours; NIL of any other.  The index of a
 * constraint in CREATE TABLE comes as a statement of its own.
 */
static List *
statement_refusals(Node *statement)
{
	if (IsA(statement, IndexStmt))
	{
		const IndexStmt *index = (const IndexStmt *) statement;

		if (!is_our_method(index->accessMethod))
			return NIL;
		refuse_unique(index);
		return make_refusals(index->relation, index->indexParams, index->excludeOpNames != NIL);
	}
	if (IsA(statement, AlterTableStmt))
	{
		List	   *elements = added_elements((const AlterTableStmt *) statement);

		if (elements != NIL)
			return make_refusals(((const AlterTableStmt *) statement)->relation, elements, true);
	}
	return NIL;
}

static void
process_utility(PlannedStmt *planned, const char *query, bool read_only_tree,
				ProcessUtilityContext context, ParamListInfo params, QueryEnvironment *environment,
				DestReceiver *receiver, QueryCompletion *completion)
{
	List	   *refusals = statement_refusals(planned->utilityStmt);
	MemoryContext caller = CurrentMemoryContext;

	if (refusals == NIL)
	{
		process_next(planned, query, read_only_tree, context, params, environment, receiver,
					 completion);
		return;
	}
	PG_TRY();
	{
		process_next(planned, query, read_only_tree, context, params, environment, receiver,
					 completion);
	}
	PG_CATCH();
	{
		rethrow(refusals, caller);
	}
	PG_END_TRY();
}

void
gpb_explain_index_refusals(void)
{
	previous_utility_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
