/*-------------------------------------------------------------------------
 *
 * validate.c
 *	  amvalidate: is an operator class fit for gpubtree?  amadjustmembers: what do new members of
 *	  a family belong to?
 *
 * The rules are btree's, less its optional support functions: five strategies
 * and one comparison function for each pair of types.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/xact.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "index/index.h"

/* All strategies and all support functions, as bits of an OpFamilyOpFuncGroup */
#define GPB_ALL_STRATEGIES \
	((uint64) ((1 << BTLessStrategyNumber) | \
			   (1 << BTLessEqualStrategyNumber) | \
			   (1 << BTEqualStrategyNumber) | \
			   (1 << BTGreaterEqualStrategyNumber) | \
			   (1 << BTGreaterStrategyNumber)))
#define GPB_ALL_PROCS \
	((uint64) (1 << GPB_COMPARE_PROC))

#define complain(...) \
	ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION), \
				   errmsg(__VA_ARGS__)))

/* Is each support function of the family one that we know, with its signature? */
static bool
validate_procs(const char *family, CatCList *procs)
{
	bool		valid = true;

	for (int i = 0; i < procs->n_members; i++)
	{
		Form_pg_amproc proc = (Form_pg_amproc)
		GETSTRUCT(&procs->members[i]->tuple);

		if (proc->amprocnum != GPB_COMPARE_PROC)
		{
			complain("gpubtree operator family \"%s\" contains function %s with invalid support number %d",
					 family, format_procedure(proc->amproc),
					 proc->amprocnum);
			valid = false;
		}
		else if (!check_amproc_signature(proc->amproc, INT4OID, true, 2, 2,
										 proc->amproclefttype,
										 proc->amprocrighttype))
		{
			complain("gpubtree operator family \"%s\" contains function %s with wrong signature for support number %d",
					 family, format_procedure(proc->amproc),
					 proc->amprocnum);
			valid = false;
		}
	}
	return valid;
}

/*
 * Is each operator of the family a search operator with a strategy that we know, and does it return
 * boolean?
 */
static bool
validate_operators(const char *family, CatCList *operators)
{
	bool		valid = true;

	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop op = (Form_pg_amop)
		GETSTRUCT(&operators->members[i]->tuple);

		if (op->amopstrategy < 1 || op->amopstrategy > BTMaxStrategyNumber)
		{
			complain("gpubtree operator family \"%s\" contains operator %s with invalid strategy number %d",
					 family, format_operator(op->amopopr), op->amopstrategy);
			valid = false;
		}
		if (op->amoppurpose != AMOP_SEARCH || OidIsValid(op->amopsortfamily))
		{
			complain("gpubtree operator family \"%s\" contains invalid ORDER BY specification for operator %s",
					 family, format_operator(op->amopopr));
			valid = false;
		}
		if (!check_amop_signature(op->amopopr, BOOLOID,
								  op->amoplefttype, op->amoprighttype))
		{
			complain("gpubtree operator family \"%s\" contains operator %s with wrong signature",
					 family, format_operator(op->amopopr));
			valid = false;
		}
	}
	return valid;
}

/*
 * Is the family complete?  Each pair of types must have all operators and functions, every pair of
 * the family's types must be there, and the class's own type among them.
 */
static bool
validate_groups(const char *family, const char *opclass, Oid intype,
				List *groups)
{
	bool		valid = true;
	bool		found = false;
	List	   *types = NIL;
	ListCell   *lc;

	foreach(lc, groups)
	{
		OpFamilyOpFuncGroup *group = (OpFamilyOpFuncGroup *) lfirst(lc);

		if (group->operatorset != GPB_ALL_STRATEGIES)
		{
			complain("gpubtree operator family \"%s\" is missing operators for types %s and %s",
					 family, format_type_be(group->lefttype),
					 format_type_be(group->righttype));
			valid = false;
		}
		if (group->functionset != GPB_ALL_PROCS)
		{
			complain("gpubtree operator family \"%s\" is missing the comparison function for types %s and %s",
					 family, format_type_be(group->lefttype),
					 format_type_be(group->righttype));
			valid = false;
		}
		if (group->lefttype == intype && group->righttype == intype)
			found = true;
		types = list_append_unique_oid(types, group->lefttype);
		types = list_append_unique_oid(types, group->righttype);
	}

	if (!found)
	{
		complain("gpubtree operator class \"%s\" is missing operators for its own type %s",
				 opclass, format_type_be(intype));
		valid = false;
	}
	if (list_length(groups) != list_length(types) * list_length(types))
	{
		complain("gpubtree operator family \"%s\" is missing cross-type operators",
				 family);
		valid = false;
	}
	return valid;
}

/* amvalidate.  Complains by INFO messages; returns whether there was nothing to complain of. */
bool
gpb_validate(Oid opclass)
{
	HeapTuple	class_tuple;
	HeapTuple	family_tuple;
	Form_pg_opclass class_form;
	Form_pg_opfamily family_form;
	CatCList   *operators;
	CatCList   *procs;
	const char *family;
	bool		valid;

	class_tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	if (!HeapTupleIsValid(class_tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	class_form = (Form_pg_opclass) GETSTRUCT(class_tuple);

	family_tuple = SearchSysCache1(OPFAMILYOID,
								   ObjectIdGetDatum(class_form->opcfamily));
	if (!HeapTupleIsValid(family_tuple))
		elog(ERROR, "cache lookup failed for operator family %u",
			 class_form->opcfamily);
	family_form = (Form_pg_opfamily) GETSTRUCT(family_tuple);
	family = NameStr(family_form->opfname);

	operators = SearchSysCacheList1(AMOPSTRATEGY,
									ObjectIdGetDatum(class_form->opcfamily));
	procs = SearchSysCacheList1(AMPROCNUM,
								ObjectIdGetDatum(class_form->opcfamily));

	valid = validate_procs(family, procs);
	valid &= validate_operators(family, operators);
	valid &= validate_groups(family, NameStr(class_form->opcname),
							 class_form->opcintype,
							 identify_opfamily_groups(operators, procs));

	ReleaseCatCacheList(procs);
	ReleaseCatCacheList(operators);
	ReleaseSysCache(family_tuple);
	ReleaseSysCache(class_tuple);
	return valid;
}

/* The access method of an operator family */
static Oid
family_method(Oid family)
{
	HeapTuple	tuple = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(family));
	Oid			method;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator family %u", family);
	method = ((Form_pg_opfamily) GETSTRUCT(tuple))->opfmethod;
	ReleaseSysCache(tuple);
	return method;
}

/*
 * amadjustmembers.  What compares two types belongs to the family, which can lose it again; what
 * compares one type belongs to the class of that type, which is nothing without it, if there is
 * one.  "opclass" is the one that is being created, or InvalidOid.
 */
void
gpb_adjustmembers(Oid family, Oid opclass, List *operators, List *functions)
{
	Oid			method;
	Oid			type = InvalidOid;
	ListCell   *lc;

	if (OidIsValid(opclass))
	{
		CommandCounterIncrement();	/* makes the class visible, and a family made for it */
		type = get_opclass_input_type(opclass);
	}
	method = family_method(family);
	foreach(lc, list_concat_copy(operators, functions))
	{
		OpFamilyMember *member = lfirst(lc);
		Oid			owner = InvalidOid;

		if (member->lefttype == member->righttype)
			owner = member->lefttype == type ? opclass :
				opclass_for_family_datatype(method, family, member->lefttype);
		member->ref_is_hard = OidIsValid(owner);
		member->ref_is_family = !OidIsValid(owner);
		member->refobjid = OidIsValid(owner) ? owner : family;
	}
}
