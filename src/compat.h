/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Every difference between server versions, in one place.
 *
 * The sources are written for PostgreSQL 15.  Where a later server has another name, or another
 * signature, for the same thing, this header maps 15's to it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_COMPAT_H
#define GPB_COMPAT_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "gpubtree supports PostgreSQL 15 to 19"
#endif

/* ---- 16: relation files, buffer tags, rights, values of variable length, planner ---- */

#if PG_VERSION_NUM >= 160000

#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "optimizer/placeholder.h"
#include "storage/relfilelocator.h"
#include "storage/standby.h"
#include "utils/acl.h"
#include "utils/datetime.h"
#include "varatt.h"

#define Abs(x) ((x) >= 0 ? (x) : -(x))

#define RelFileNode RelFileLocator
#define RelFileNodeEquals RelFileLocatorEquals
#define rd_node rd_locator
#define rd_newRelfilenodeSubid rd_newRelfilelocatorSubid
#define rd_firstRelfilenodeSubid rd_firstRelfilelocatorSubid
#define spcNode spcOid
#define dbNode dbOid
#define relNode relNumber
#define smgr_rnode smgr_rlocator
/* The file of a RelFileNodeBackend */
#define GPB_BACKEND_FILE(file) ((file).locator)

#define INIT_BUFFERTAG(tag, file, fork, block) InitBufferTag(&(tag), &(file), fork, block)
#define BUFFERTAGS_EQUAL(a, b) BufferTagsEqual(&(a), &(b))

#define pg_proc_aclcheck(function, role, mode) \
	object_aclcheck(ProcedureRelationId, function, role, mode)
#define pg_class_ownercheck(relation, role) object_ownercheck(RelationRelationId, relation, role)

/* A child and its topmost parent, as adjust_appendrel_attrs_multilevel() takes them */
#define GPB_RELS_OF(child) (child), (child)->top_parent

/* Does an Append know which of its plans it executes? */
#define GPB_APPEND_KNOWS(append) ((append)->as_valid_subplans_identified)

/* What is to be grouped by, without what the rest determines */
#define GPB_GROUP_CLAUSE(root) ((root)->processed_groupClause)
#define GPB_SET_GROUP_CLAUSE(root, clause) ((root)->processed_groupClause = (clause))

/* A placeholder's description is made when it is first met, and never later. */
#define find_placeholder_info(root, phv, create) find_placeholder_info(root, phv)

/*
 * Since 16 a Var says which outer joins may have made it NULL, and relation sets have outer joins
 * as members, beside the tables.
 */
#define GPB_HAS_NULLING_RELS 1
#define GPB_TABLES(root, relids) bms_difference(relids, (root)->outer_join_rels)
#define GPB_OUTER_JOIN_RELID(sjinfo) ((sjinfo)->ojrelid)

/*
 * An outer join's clause has clones, for the orders in which it may be made with others, with other
 * nulling relations each: is this one not for a join of these?
 */
#define GPB_IS_OTHER_CLONE(rinfo, relids) (((rinfo)->has_clone || (rinfo)->is_clone) && \
	(!bms_is_subset((rinfo)->required_relids, relids) || \
	 bms_overlap((rinfo)->incompatible_relids, relids)))

/* 15 has no logical decoding on a standby, which a conflict about a catalog would end. */
#define GPB_RESOLVE_CONFLICT(horizon, is_catalog, file) \
	ResolveRecoveryConflictWithSnapshot(horizon, is_catalog, file)

#define GPB_TUPLES_FETCHED(relation) ((relation)->pgstat_info->counts.tuples_fetched)

/* What 15's DecodeTimezoneAbbrev() returns; UNKNOWN_FIELD also for what is an error. */
static inline int
gpb_decode_zone(char *name, int *offset, pg_tz **tz)
{
	DateTimeErrorExtra extra;
	int			type;

	return DecodeTimezoneAbbrev(0, name, &type, offset, tz, &extra) < 0 ? UNKNOWN_FIELD : type;
}
#define DecodeTimezoneAbbrev(field, name, offset, tz) gpb_decode_zone(name, offset, tz)

#else

#include "optimizer/paths.h"
#include "storage/relfilenode.h"

#define GPB_APPEND_KNOWS(append) ((append)->as_valid_subplans != NULL)
#define GPB_GROUP_CLAUSE(root) ((root)->parse->groupClause)
#define GPB_SET_GROUP_CLAUSE(root, clause) ((void) (clause))

#define GPB_BACKEND_FILE(file) ((file).node)
#define GPB_TABLES(root, relids) (relids)
#define GPB_OUTER_JOIN_RELID(sjinfo) 0
#define GPB_IS_OTHER_CLONE(rinfo, relids) false
#define generate_join_implied_equalities(root, join, outer, inner, sjinfo) \
	generate_join_implied_equalities(root, join, outer, inner)
#define GPB_RELS_OF(child) (child)->relids, (child)->top_parent_relids
#define GPB_RESOLVE_CONFLICT(horizon, is_catalog, file) \
	ResolveRecoveryConflictWithSnapshot(horizon, file)
#define GPB_TUPLES_FETCHED(relation) ((relation)->pgstat_info->t_counts.t_tuples_fetched)
#define BufTagGetRelFileLocator(tag) ((tag)->rnode)
#define BufTagMatchesRelFileLocator(tag, file) RelFileNodeEquals((tag)->rnode, *(file))

#endif

/* ---- 17: no old_snapshot_threshold any more; numbers of processes; names of waits ---- */

#if PG_VERSION_NUM >= 170000

#define GPB_LOCAL_TRANSACTION(proc) ((proc)->vxid.lxid)
#define OldSnapshotThresholdActive() false
#define TestForOldSnapshot(snapshot, relation, page) ((void) 0)
/* No server raises it any more. */
#define ERRCODE_SNAPSHOT_TOO_OLD MAKE_SQLSTATE('7', '2', '0', '0', '0')

#define GPB_ARRAY_LENGTH(root, array) estimate_array_length(root, array)

#define GPB_NEW_WAIT_EVENT(name) WaitEventExtensionNew(name)

#include "storage/read_stream.h"

#if PG_VERSION_NUM < 180000
/* 17 reads neighbours together and prefetches others; it has no batches of reads. */
#define READ_STREAM_USE_BATCHING 0
#endif

#else

#include "storage/bufmgr.h"

/*
 * What 17 and later have to read blocks ahead, in the order in which a callback names them: here
 * each is read when it is asked for.
 */
#define READ_STREAM_MAINTENANCE 0
#define READ_STREAM_USE_BATCHING 0

typedef struct ReadStream ReadStream;
typedef BlockNumber (*ReadStreamBlockNumberCB) (ReadStream *stream, void *arg, void *buffer_data);

struct ReadStream
{
	Relation	relation;
	BufferAccessStrategy strategy;
	ReadStreamBlockNumberCB next;
	void	   *arg;
};

static inline ReadStream *
read_stream_begin_relation(int flags, BufferAccessStrategy strategy, Relation relation,
						   ForkNumber fork, ReadStreamBlockNumberCB next, void *arg, size_t size)
{
	ReadStream *stream = palloc(sizeof(ReadStream));

	Assert(flags == 0 && fork == MAIN_FORKNUM && size == 0);
	*stream = (ReadStream) {relation, strategy, next, arg};
	return stream;
}

static inline Buffer
read_stream_next_buffer(ReadStream *stream, void **buffer_data)
{
	BlockNumber block = stream->next(stream, stream->arg, NULL);

	if (block == InvalidBlockNumber)
		return InvalidBuffer;
	return ReadBufferExtended(stream->relation, MAIN_FORKNUM, block, RBM_NORMAL, stream->strategy);
}

#define read_stream_reset(stream) ((void) 0)
#define read_stream_end(stream) pfree(stream)

#define MyProcNumber (MyProc->pgprocno)
#define GPB_LOCAL_TRANSACTION(proc) ((proc)->lxid)
#define GPB_ARRAY_LENGTH(root, array) estimate_array_length(array)
#define GPB_NEW_WAIT_EVENT(name) ((void) (name), PG_WAIT_EXTENSION)

#endif

/* ---- 18 ---- */

/* May VACUUM truncate a table that has these StdRdOptions, or NULL?  18 has a setting, too. */
#if PG_VERSION_NUM >= 190000
#define GPB_VACUUM_TRUNCATES(options) \
	((options) != NULL && (options)->vacuum_truncate != PG_TERNARY_UNSET ? \
	 (options)->vacuum_truncate == PG_TERNARY_TRUE : vacuum_truncate)
#elif PG_VERSION_NUM >= 180000
#define GPB_VACUUM_TRUNCATES(options) \
	((options) != NULL && (options)->vacuum_truncate_set ? (options)->vacuum_truncate : \
	 vacuum_truncate)
#else
#define GPB_VACUUM_TRUNCATES(options) ((options) == NULL || (options)->vacuum_truncate)
#endif

/* May other access methods than btree have unique indexes, without ON CONFLICT failing there? */
#define GPB_CAN_UNIQUE (PG_VERSION_NUM >= 180000)

/* Where an access method's own part of a ParallelIndexScanDesc is, and what asks for its size */
#if PG_VERSION_NUM >= 180000
#define GPB_PARALLEL_OFFSET ps_offset_am
#define GPB_PARALLEL_SIZE_ARGUMENTS Relation index, int nkeys, int norderbys
#elif PG_VERSION_NUM >= 170000
#define GPB_PARALLEL_OFFSET ps_offset
#define GPB_PARALLEL_SIZE_ARGUMENTS int nkeys, int norderbys
#else
#define GPB_PARALLEL_OFFSET ps_offset
#define GPB_PARALLEL_SIZE_ARGUMENTS void
#endif

/* Try to lock a row for the session's transaction. */
#if PG_VERSION_NUM >= 180000
#define GPB_CONDITIONAL_LOCK_TUPLE(relation, tid, mode) \
	ConditionalLockTuple(relation, tid, mode, false)
#else
#define GPB_CONDITIONAL_LOCK_TUPLE(relation, tid, mode) ConditionalLockTuple(relation, tid, mode)
#endif

/* The strategy that a row comparison has as a whole, whose codes are those of B-trees */
#if PG_VERSION_NUM >= 180000
#define GPB_ROW_COMPARE_STRATEGY(comparison) ((StrategyNumber) (comparison)->cmptype)
#else
#define GPB_ROW_COMPARE_STRATEGY(comparison) ((StrategyNumber) (comparison)->rctype)
#endif

/* Expressions as they are before grouping sets make columns NULL, which 18 has columns say */
#if PG_VERSION_NUM >= 180000
#define GPB_BEFORE_GROUPING(root, expressions) \
	((root)->group_rtindex == 0 ? (Node *) (expressions) : \
	 remove_nulling_relids((Node *) (expressions), bms_make_singleton((root)->group_rtindex), NULL))
#else
#define GPB_BEFORE_GROUPING(root, expressions) ((Node *) (expressions))
#endif

#if PG_VERSION_NUM >= 180000

#include "access/cmptype.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#include "commands/vacuum.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "rewrite/rewriteManip.h"

/* Which relations the plans scan matters to pruning when the executor starts. */
#define ExecFindMatchingSubPlans(state, initial) ExecFindMatchingSubPlans(state, initial, NULL)

#define heap_form_minimal_tuple(descriptor, values, nulls) \
	heap_form_minimal_tuple(descriptor, values, nulls, 0)

/* A path of ours that is looked at so has no disabled nodes. */
#define add_path_precheck(rel, startup, total, pathkeys, required) \
	add_path_precheck(rel, 0, startup, total, pathkeys, required)

/* The disabled nodes of the input do not matter where costs alone are wanted. */
#define cost_agg(path, root, strategy, costs, ncols, ngroups, quals, startup, total, rows, width) \
	cost_agg(path, root, strategy, costs, ncols, ngroups, quals, 0, startup, total, rows, width)

/* 18's own word for it stands before a declaration, 15's behind it. */
#define pg_attribute_noreturn() __attribute__((noreturn))

/*
 * What belongs to an entry of 18's hash tables is not behind a pointer of the entry, but lies
 * beside its tuple: there, one pointer.
 */
#define BuildTupleHashTableExt(parent, descriptor, ncols, columns, equal, hash, collations, \
							   buckets, additional, meta, tuples, temporary, use_iv) \
	BuildTupleHashTable(parent, descriptor, NULL, ncols, columns, equal, hash, collations, \
						buckets, sizeof(void *), meta, tuples, temporary, use_iv)
#define GPB_ENTRY_POINTER(table, entry) (*(void **) TupleHashEntryGetAdditional(table, entry))

#define gpb_pathkey_descends(pathkey) ((pathkey)->pk_cmptype == COMPARE_GT)

#define vacuum_delay_point() vacuum_delay_point(false)

/*
 * NULL: core's index scan nodes alone count searches for EXPLAIN.  19 asks whether the scans of a
 * query read the table alone; nodes of ours do (rule M10).
 */
#if PG_VERSION_NUM >= 190000
#define index_beginscan(heap, index, snapshot, nkeys, norderbys) \
	index_beginscan(heap, index, snapshot, NULL, nkeys, norderbys, SO_HINT_REL_READ_ONLY)
#else
#define index_beginscan(heap, index, snapshot, nkeys, norderbys) \
	index_beginscan(heap, index, snapshot, NULL, nkeys, norderbys)
#endif

/* Count one search of a core index scan. */
#define GPB_COUNT_SEARCH(scan) \
	((scan)->instrument != NULL ? (void) (scan)->instrument->nsearches++ : (void) 0)

/* What a hook of ExecutorRun() takes, and passes on */
#define GPB_RUN_ARGUMENTS QueryDesc *query, ScanDirection direction, uint64 count
#define GPB_RUN_PASSED query, direction, count

/* How many tables the query has whose names EXPLAIN may have to tell apart; groups are none. */
#define GPB_EXPLAINED_TABLES(es) ((es)->rtable_size)

/* Has the planner been told by a setting not to use the path below?  Then not ours above it. */
#define GPB_ADD_DISABLED(path, below) ((path)->disabled_nodes += (below)->disabled_nodes)
#define GPB_DISABLED(path) ((path)->disabled_nodes)

/*
 * Is a column, counted from 0, NOT NULL in all rows?  18 has constraints that are not valid, which
 * older rows need not satisfy; attnotnull tells of these too.
 */
#define GPB_NEVER_NULL(descriptor, c) \
	(TupleDescCompactAttr(descriptor, c)->attnullability == ATTNULLABLE_VALID)

/*
 * 18 asks an access method what its strategies mean; ours are btree's.  The operator family is not
 * looked at: core passes that of a btree index, too.
 */
static inline CompareType
gpb_translate_strategy(StrategyNumber strategy, Oid family)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			return COMPARE_LT;
		case BTLessEqualStrategyNumber:
			return COMPARE_LE;
		case BTEqualStrategyNumber:
			return COMPARE_EQ;
		case BTGreaterEqualStrategyNumber:
			return COMPARE_GE;
		case BTGreaterStrategyNumber:
			return COMPARE_GT;
		default:
			return COMPARE_INVALID;
	}
}

static inline StrategyNumber
gpb_translate_cmptype(CompareType type, Oid family)
{
	switch (type)
	{
		case COMPARE_LT:
			return BTLessStrategyNumber;
		case COMPARE_LE:
			return BTLessEqualStrategyNumber;
		case COMPARE_EQ:
			return BTEqualStrategyNumber;
		case COMPARE_GE:
			return BTGreaterEqualStrategyNumber;
		case COMPARE_GT:
			return BTGreaterStrategyNumber;
		default:
			return InvalidStrategy;
	}
}

/* The members of an IndexAmRoutine that 15's does not have */
#define GPB_LATER_CALLBACKS \
	.amconsistentequality = true, \
	.amconsistentordering = true, \
	.amtranslatestrategy = gpb_translate_strategy, \
	.amtranslatecmptype = gpb_translate_cmptype,

#else

/* A pointer that belongs to an entry of a hash table of tuples */
#define GPB_ENTRY_POINTER(table, entry) ((entry)->additional)

#define gpb_pathkey_descends(pathkey) ((pathkey)->pk_strategy == BTGreaterStrategyNumber)
#define GPB_COUNT_SEARCH(scan) ((void) 0)
#define GPB_RUN_ARGUMENTS QueryDesc *query, ScanDirection direction, uint64 count, \
	bool execute_once
#define GPB_RUN_PASSED query, direction, count, execute_once
#define GPB_EXPLAINED_TABLES(es) list_length((es)->rtable)
#define GPB_ADD_DISABLED(path, below) ((void) 0)
#define GPB_DISABLED(path) 0
#define GPB_NEVER_NULL(descriptor, c) (TupleDescAttr(descriptor, c)->attnotnull)
#define GPB_LATER_CALLBACKS

#endif

/* ---- 19: content locks and buffers' states, hint bits, hooks, paths, headers ---- */

#if PG_VERSION_NUM >= 190000

#include "access/tableam.h"
#include "executor/instrument.h"
#include "nodes/nodeFuncs.h"
#include "storage/bufpage.h"
#include "utils/tuplestore.h"
#include "utils/wait_event.h"

/* Is a state of numeric_poly_serialize() sent as digits?  Since 19 as two integers of 16 bytes. */
#define GPB_POLY_STATES_HAVE_DIGITS false

/*
 * The state of a buffer, in which its content lock is too.  While a header is locked pins and
 * content locks may be given back, so it is unlocked by a subtraction; nobody changes the usage
 * count.
 */
typedef uint64 GpbBufferState;
#define GPB_READ_STATE(desc) pg_atomic_read_u64(&(desc)->state)
#define GPB_EXCHANGE_STATE(desc, expected, wanted) \
	pg_atomic_compare_exchange_u64(&(desc)->state, expected, wanted)
#define GPB_UNLOCK_HEADER(desc, locked, add) \
	((void) (locked), \
	 (void) pg_atomic_fetch_add_u64(&(desc)->state, (int64) (add) - (int64) BM_LOCKED))

/* Has anybody locked the page exclusively?  Who writes a page out, or hints, excludes no look. */
#define GPB_HAS_WRITER(desc) ((GPB_READ_STATE(desc) & BM_LOCK_VAL_EXCLUSIVE) != 0)
#define GPB_BUFFER_LOCKED_BY_ME(buffer) BufferIsLockedByMe(buffer)

/*
 * Lock a page for reading, unless a writer has it.  19 can only be asked to wait; a writer who
 * comes after the look holds the page for moments.
 */
#define GPB_CONDITIONAL_SHARE_LOCK(buffer) \
	(!GPB_HAS_WRITER(GetBufferDescriptor((buffer) - 1)) && \
	 (LockBuffer(buffer, BUFFER_LOCK_SHARE), true))

#define GPB_SHOWN_LSN(shown) PageXLogRecPtrGet(shown)

/*
 * May hints be set on a page that is locked in any mode?  19 writes pages out as they lie in
 * shared buffers, under a lock that excludes those who set hints: a bit that is set without this
 * spoils the page's checksum.  It is no error to be refused; hints are then left out.
 */
#define GPB_BEGIN_HINTS(buffer) BufferBeginSetHintBits(buffer)
/* The lock under which a page is written out */
#define GPB_WRITE_OUT_LOCK BUFFER_LOCK_SHARE_EXCLUSIVE

/* Prune a page; since the query only reads (rule M10), set its all-visible bit if it may be set. */
#define GPB_PRUNE_PAGE(heap, buffer, map_buffer) heap_page_prune_opt(heap, buffer, map_buffer, true)

#define PageSetChecksumInplace PageSetChecksum

#define table_index_fetch_begin(heap) table_index_fetch_begin(heap, SO_NONE)
#define table_beginscan_parallel(heap, scan) table_beginscan_parallel(heap, scan, SO_NONE)
#define table_beginscan(heap, snapshot, nkeys, keys) \
	table_beginscan(heap, snapshot, nkeys, keys, SO_HINT_REL_READ_ONLY)

/* What is told of a table that the planner has read about, and passed on */
#define get_relation_info_hook_type build_simple_rel_hook_type
#define get_relation_info_hook build_simple_rel_hook
#define GPB_RELATION_ARGUMENTS PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define GPB_RELATION_PASSED root, rel, rte

#define GPB_PLANNER_ARGUMENTS Query *parse, const char *query_string, int cursor_options, \
	ParamListInfo params, ExplainState *es
#define GPB_PLANNER_PASSED parse, query_string, cursor_options, params, es

#define create_append_path(root, rel, whole, partial, pathkeys, outer, workers, aware, rows) \
	create_append_path(root, rel, ((AppendPathInput) {whole, partial, NIL}), pathkeys, outer, \
					   workers, aware, rows)
#define create_merge_append_path(root, rel, paths, pathkeys, outer) \
	create_merge_append_path(root, rel, paths, NIL, pathkeys, outer)

/* Are the rows of a relation groups, aggregated in part, that are to be joined? */
#define GPB_HAS_GROUPS(rel) IS_GROUPED_REL(rel)

/* An outer relation that is to be unique is so already, by a path of its own. */
#define create_unique_path(root, rel, path, sjinfo) (path)
#define T_UpperUniquePath T_UniquePath
#define UpperUniquePath UniquePath

/*
 * Give the scans below a plan that was begun for EXPLAIN alone the counters that they lack then,
 * which EXPLAIN ANALYZE reads.
 */
static inline bool
gpb_complete_shown(PlanState *ps, void *context)
{
	IndexScanInstrumentation **counters = NULL;

	if (IsA(ps, IndexScanState))
		counters = &((IndexScanState *) ps)->iss_Instrument;
	else if (IsA(ps, IndexOnlyScanState))
		counters = &((IndexOnlyScanState *) ps)->ioss_Instrument;
	else if (IsA(ps, BitmapIndexScanState))
		counters = &((BitmapIndexScanState *) ps)->biss_Instrument;
	if (counters != NULL && *counters == NULL)
		*counters = palloc0(sizeof(IndexScanInstrumentation));
	return planstate_tree_walker(ps, gpb_complete_shown, context);
}

/* What EXPLAIN shows of a SubPlan: 19 has a name of it, earlier servers its number and kind. */
#define GPB_SUBPLAN_NAME(name) psprintf("SubPlan %s", name)

/* What a handler returns: 19 wants a constant, earlier servers free it. */
#define GPB_RETURN_ROUTINE(routine) PG_RETURN_POINTER(routine)

#else

#define GPB_POLY_STATES_HAVE_DIGITS true
#define GPB_HAS_GROUPS(rel) false
typedef uint32 GpbBufferState;
#define GPB_READ_STATE(desc) pg_atomic_read_u32(&(desc)->state)
#define GPB_EXCHANGE_STATE(desc, expected, wanted) \
	pg_atomic_compare_exchange_u32(&(desc)->state, expected, wanted)
#define GPB_UNLOCK_HEADER(desc, locked, add) UnlockBufHdr(desc, (locked) + (add))

/*
 * Has a writer locked the page?  Of the state of a content lock, the bits from 18 on stand for one,
 * above the number of readers, and below the flags.
 */
#define GPB_HAS_WRITER(desc) \
	((pg_atomic_read_u32(&BufferDescriptorGetContentLock(desc)->state) & 0x0FFC0000) != 0)
#define GPB_BUFFER_LOCKED_BY_ME(buffer) \
	LWLockHeldByMe(BufferDescriptorGetContentLock(GetBufferDescriptor((buffer) - 1)))
#define GPB_CONDITIONAL_SHARE_LOCK(buffer) \
	LWLockConditionalAcquire(BufferDescriptorGetContentLock(GetBufferDescriptor((buffer) - 1)), \
							 LW_SHARED)

/* The LSN of a page, whose two words may be stored meanwhile */
#define GPB_SHOWN_LSN(shown) (((uint64) (shown)->xlogid << 32) | (shown)->xrecoff)

#define GPB_BEGIN_HINTS(buffer) true
#define GPB_WRITE_OUT_LOCK BUFFER_LOCK_SHARE
#define GPB_PRUNE_PAGE(heap, buffer, map_buffer) heap_page_prune_opt(heap, buffer)
#define TupleDescFinalize(descriptor) ((void) 0)
#define pg_fallthrough __attribute__((fallthrough))

#define GPB_RELATION_ARGUMENTS PlannerInfo *root, Oid relation, bool inhparent, RelOptInfo *rel
#define GPB_RELATION_PASSED root, relation, inhparent, rel
#define GPB_PLANNER_ARGUMENTS Query *parse, const char *query_string, int cursor_options, \
	ParamListInfo params
#define GPB_PLANNER_PASSED parse, query_string, cursor_options, params

#define GPB_SUBPLAN_NAME(name) (name)
#define gpb_complete_shown(ps, context) ((void) 0)
#define GPB_RETURN_ROUTINE(routine) \
	PG_RETURN_POINTER(memcpy(palloc(sizeof(IndexAmRoutine)), routine, sizeof(IndexAmRoutine)))

#endif

/* Does the planner prefer a path to another, as far as what they cost goes? */
static inline bool
gpb_is_cheaper(const Path *path, const Path *other)
{
	if (GPB_DISABLED(path) != GPB_DISABLED(other))
		return GPB_DISABLED(path) < GPB_DISABLED(other);
	return path->total_cost < other->total_cost;
}

#endif							/* GPB_COMPAT_H */
