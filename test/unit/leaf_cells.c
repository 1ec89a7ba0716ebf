/*-------------------------------------------------------------------------
 *
 * leaf_cells.c
 *	  A model of rule M14 (src/README): every interleaving of one leaf, one heap page and those who
 *	  read and write them.  The rule is right in all of them, and without any of its parts it is not.
 *
 * The heap page has two line pointers.  Row A is there from the beginning, and a transaction may
 * delete it; another may insert row B, at the free line pointer or, when VACUUM has freed A's, there.
 * Either may abort.  VACUUM prunes, removes entries, frees line pointers, and sets the map bit, as
 * often as it finds something to do; the reader's snapshot holds it up.  Recorders come again and
 * again.  Who changes a page does so in the steps that count: the entries, the WAL record, the LSN.
 * A reader looks at the page's LSN alone, which allows more than the code does: a look of the code
 * fails also where it finds a writer.
 *
 * A reader with a filter that row A never passes goes by a leaf whose cell has no row that passes,
 * whoever sees its rows: it asks neither the map nor settled pages, nor for a position.
 *
 * What a cell has of the entries, sums or how many there are of each value, makes no difference here:
 * the cell stands for a set of entries, and a reader takes all of it or nothing.
 *
 * One heap page and one leaf are enough.  Nothing in the rule connects two heap pages.  A block that
 * was found all-visible for one leaf is believed for another one, whose cell is read and looked at
 * much later: that is a leaf whose map bit was read early.
 *
 * usage: leaf_cells_test; ends with "N passed, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

/* Sets of rows, and of the transactions that delete A and insert B */
#define ROW_A		1
#define ROW_B		2
#define DELETER		1
#define INSERTER	2

enum LinePointer
{
	UNUSED, NORMAL, DEAD
};

/* How far a transaction is */
enum TransactionStep
{
	NOT_BEGUN,
	HEAP_CHANGED,				/* of the deleter: all of its work */
	ENTRY_ADDED,				/* the leaf is locked, and has the entry */
	ENTRY_LOGGED,				/* on a standby: it has its LSN, and is not locked any more */
	ENTRY_DONE,
	COMMITTED,
	ABORTED
};

enum VacuumStep
{
	NOTHING_DEAD,
	PRUNED,						/* line pointers "dead" are DEAD */
	ENTRIES_REMOVED,			/* the leaf is locked, and lacks their entries */
	REMOVAL_LOGGED,				/* on a standby: it has its LSN, and is not locked any more */
	REMOVAL_DONE
};

/* What a reader does before it is done, in an order that a version of the rule says */
enum ReaderStep
{
	SNAPSHOT = 1, POSITION, SEEN, LOOK
};

/* Of a line pointer */
typedef struct Tuple
{
	uint8_t		pointer;
	uint8_t		row;			/* ROW_A or ROW_B */
} Tuple;

/* What a recorder found */
typedef struct Record
{
	uint8_t		valid;
	uint8_t		rows;
	uint8_t		lsn;
} Record;

typedef struct State
{
	Tuple		tuple[2];
	uint8_t		deleted;		/* has row A an xmax? */
	uint8_t		all_visible;	/* the map bit */
	uint8_t		heap_lsn;
	uint8_t		heap_locked;	/* was the page changed, and has no new LSN yet? */
	uint8_t		entries;		/* rows that the leaf has */
	uint8_t		lsn;			/* of the leaf */
	uint8_t		position;		/* the end of the last record about the leaf; on a standby: replayed */
	uint8_t		deleter;
	uint8_t		inserter;
	uint8_t		vacuum;
	uint8_t		dead;			/* rows that VACUUM removes */
	uint8_t		hint;			/* the steps of an image of the leaf for hints */
	uint8_t		recorder;		/* steps, and what it has read */
	uint8_t		sees;
	Record		read;
	Record		cell;
	Record		settled;		/* rows: the transactions that the heap page has */
	uint8_t		exceptions;		/* has the settled page any? */
	/* the reader */
	uint8_t		done;			/* steps */
	uint8_t		committed;		/* for its snapshot */
	uint8_t		ended;			/* for its snapshot */
	uint8_t		upto;
	Record		copy;
} State;

/* A version of the rule */
typedef struct Version
{
	const char *name;
	bool		standby;
	bool		settled;		/* settled pages in the place of the map bit */
	uint8_t		order[4];		/* of the reader's steps; 0: none */
	bool		any_age;		/* the cell's LSN may be after the position */
	bool		recorder_judges;	/* the recorder adds the rows that it sees */
	bool		late_lsn;		/* the recorder reads the LSN after it has unlocked the leaf */
	bool		running;		/* settled for the recorder's snapshot is settled */
	bool		with_exceptions;	/* a settled page may have exceptions */
	uint8_t		passing;		/* rows that pass a filter, of one who goes by leaves of which none
								 * does; 0: there is no filter */
} Version;

#define RIGHT_ORDER {SNAPSHOT, POSITION, SEEN, LOOK}

/* ---- the states that were met ---- */

#define TABLE_SIZE	(1 << 22)

static State *table;
static uint32_t queued;
static uint32_t *place_of;		/* hash table: number in table, plus one */

static void
meet(const State *state)
{
	const unsigned char *bytes = (const unsigned char *) state;
	uint64_t	hash = 14695981039346656037ULL;
	uint32_t	at;

	for (size_t i = 0; i < sizeof(State); i++)
		hash = (hash ^ bytes[i]) * 1099511628211ULL;
	for (at = hash >> 40 & (TABLE_SIZE - 1); place_of[at] != 0; at = (at + 1) & (TABLE_SIZE - 1))
	{
		if (memcmp(&table[place_of[at] - 1], state, sizeof(State)) == 0)
			return;
	}
	if (queued == TABLE_SIZE / 2)
		abort();
	table[queued] = *state;
	place_of[at] = ++queued;
}

/* ---- who reads and writes ---- */

static uint8_t
committed(const State *s)
{
	return (s->deleter == COMMITTED ? DELETER : 0) | (s->inserter == COMMITTED ? INSERTER : 0);
}

static uint8_t
ended(const State *s)
{
	return committed(s) | (s->deleter == ABORTED ? DELETER : 0) |
		(s->inserter == ABORTED ? INSERTER : 0);
}

/* The rows that are right for a snapshot */
static uint8_t
visible_rows(uint8_t seen_commits)
{
	return (seen_commits & DELETER ? 0 : ROW_A) | (seen_commits & INSERTER ? ROW_B : 0);
}

static bool
leaf_locked_exclusively(const State *s, const Version *version)
{
	return s->inserter == ENTRY_ADDED || s->vacuum == ENTRIES_REMOVED ||
		(!version->standby && (s->inserter == ENTRY_LOGGED || s->vacuum == REMOVAL_LOGGED));
}

static bool
leaf_locked(const State *s, const Version *version)
{
	return leaf_locked_exclusively(s, version) || s->hint == 1 ||
		(s->recorder == 1 && !version->late_lsn);
}

/* On a standby records are replayed one after the other: is one at work, or a heap page locked? */
static bool
busy(const State *s, const Version *version)
{
	return s->heap_locked ||
		(version->standby &&
		 (s->inserter == ENTRY_ADDED || s->inserter == ENTRY_LOGGED || s->hint == 1 ||
		  s->vacuum == ENTRIES_REMOVED || s->vacuum == REMOVAL_LOGGED));
}

static bool
reader_has_snapshot(const State *s, const Version *version)
{
	for (int i = 0; i < s->done; i++)
	{
		if (version->order[i] == SNAPSHOT)
			return true;
	}
	return false;
}

/* Change the heap page: its LSN follows in a step of its own. */
static void
change_heap(State *s, const Version *version)
{
	s->all_visible = 0;
	s->heap_locked = version->settled;
}

/* The steps in which the leaf's change is logged, and its LSN set; on a standby the other way. */
static void
log_leaf(State *s, const Version *version, bool first)
{
	if (first != version->standby)
		s->position++;
	else
		s->lsn = version->standby ? s->position + 1 : s->position;
}

static void
delete_row(const State *s, const Version *version)
{
	State		next = *s;

	if (s->deleter == NOT_BEGUN && !busy(s, version))
	{
		next.deleter = HEAP_CHANGED;
		next.deleted = 1;
		change_heap(&next, version);
		meet(&next);
	}
	if (s->deleter == HEAP_CHANGED && !busy(s, version))
	{
		next.deleter = COMMITTED;
		meet(&next);
		next.deleter = ABORTED;
		meet(&next);
	}
}

static void
insert_row(const State *s, const Version *version)
{
	State		next = *s;

	switch (s->inserter)
	{
		case NOT_BEGUN:
			for (int i = 0; i < 2 && !busy(s, version); i++)
			{
				next = *s;
				if (s->tuple[i].pointer != UNUSED)
					continue;
				next.tuple[i] = (Tuple) {NORMAL, ROW_B};
				next.inserter = HEAP_CHANGED;
				change_heap(&next, version);
				meet(&next);
			}
			break;
		case HEAP_CHANGED:
			if (leaf_locked(s, version) || busy(s, version))
				break;
			next.inserter = ENTRY_ADDED;
			next.entries |= ROW_B;
			meet(&next);
			break;
		case ENTRY_ADDED:
		case ENTRY_LOGGED:
			next.inserter++;
			log_leaf(&next, version, s->inserter == ENTRY_ADDED);
			meet(&next);
			break;
		case ENTRY_DONE:
			if (busy(s, version))
				break;
			next.inserter = COMMITTED;
			meet(&next);
			next.inserter = ABORTED;
			meet(&next);
			break;
	}
}

/* Is a row dead for all, or visible for all?  The reader's snapshot is one of them. */
static bool
row_dead(const State *s, const Version *version, uint8_t row)
{
	if (row == ROW_B)
		return s->inserter == ABORTED;
	return s->deleted && s->deleter == COMMITTED &&
		(!reader_has_snapshot(s, version) || (s->committed & DELETER) != 0);
}

static bool
row_visible_to_all(const State *s, const Version *version, uint8_t row)
{
	if (row == ROW_A)
		return !s->deleted || s->deleter == ABORTED;
	return s->inserter == COMMITTED &&
		(!reader_has_snapshot(s, version) || (s->committed & INSERTER) != 0);
}

static void
vacuum(const State *s, const Version *version)
{
	State		next = *s;
	bool		all_visible = true;

	for (int i = 0; i < 2; i++)
	{
		all_visible &= s->tuple[i].pointer == UNUSED ||
			(s->tuple[i].pointer == NORMAL && row_visible_to_all(s, version, s->tuple[i].row));
	}
	if (all_visible && !busy(s, version))
	{
		next.all_visible = 1;
		meet(&next);
		next = *s;
	}
	switch (s->vacuum)
	{
		case NOTHING_DEAD:
			for (int i = 0; i < 2; i++)
			{
				if (s->tuple[i].pointer == NORMAL && row_dead(s, version, s->tuple[i].row))
				{
					next.tuple[i].pointer = DEAD;
					next.dead |= s->tuple[i].row;
				}
			}
			if (next.dead == 0 || busy(s, version))
				break;
			next.vacuum = PRUNED;
			change_heap(&next, version);
			meet(&next);
			break;
		case PRUNED:
			if (leaf_locked(s, version) || busy(s, version))
				break;
			next.vacuum = ENTRIES_REMOVED;
			next.entries &= ~s->dead;
			meet(&next);
			break;
		case ENTRIES_REMOVED:
		case REMOVAL_LOGGED:
			next.vacuum++;
			log_leaf(&next, version, s->vacuum == ENTRIES_REMOVED);
			meet(&next);
			break;
		case REMOVAL_DONE:
			if (busy(s, version))
				break;
			for (int i = 0; i < 2; i++)
			{
				if (s->tuple[i].pointer == DEAD && (s->dead & s->tuple[i].row) != 0)
					next.tuple[i] = (Tuple) {UNUSED, 0};
			}
			next.dead = 0;
			next.vacuum = NOTHING_DEAD;
			change_heap(&next, version);
			meet(&next);
			break;
	}
}

/* Who changed the heap page sets its LSN. */
static void
set_heap_lsn(const State *s)
{
	State		next = *s;

	if (!s->heap_locked)
		return;
	next.heap_locked = 0;
	next.heap_lsn++;
	meet(&next);
}

/* Hints of the leaf have its image logged, under a share lock, as the entries are. */
static void
set_hint(const State *s, const Version *version)
{
	State		next = *s;

	if ((s->hint == 0 && !leaf_locked_exclusively(s, version) && !busy(s, version)) || s->hint == 1)
	{
		log_leaf(&next, version, s->hint == 0);
		next.hint++;
		meet(&next);
	}
}

static void
record(const State *s, const Version *version)
{
	State		next = *s;

	if (s->recorder == 0 && !leaf_locked_exclusively(s, version))
	{
		next.recorder = 1;
		next.read.rows = s->entries;
		if (version->recorder_judges)
			next.read.rows &= visible_rows(committed(s));
		meet(&next);
	}
	else if (s->recorder == 1)
	{
		next.recorder = 2;
		next.read.lsn = s->lsn;
		meet(&next);
	}
	else if (s->recorder == 2)
	{
		next.recorder = 0;
		next.cell = (Record) {1, s->read.rows, s->read.lsn};
		memset(&next.read, 0, sizeof(next.read));
		meet(&next);
	}
}

/* Judge the heap page, under a share lock, with a snapshot of this moment. */
static void
record_settled(const State *s, const Version *version)
{
	State		next = *s;
	uint8_t		rows = visible_rows(committed(s));
	uint8_t		on_page = s->deleted && s->tuple[0].row == ROW_A ? DELETER : 0;

	if (!version->settled || s->heap_locked)
		return;
	next.exceptions = 0;
	for (int i = 0; i < 2; i++)
	{
		if (s->tuple[i].pointer == DEAD ||
			(s->tuple[i].pointer == NORMAL && (rows & s->tuple[i].row) == 0))
			next.exceptions = 1;
		if (s->tuple[i].pointer == NORMAL && s->tuple[i].row == ROW_B)
			on_page |= INSERTER;
	}
	if ((on_page & ~ended(s)) != 0)
		return;
	next.settled = (Record) {1, on_page, s->heap_lsn};
	meet(&next);
}

/* Does the reader find that all rows of the heap page are seen? */
static bool
page_seen(const State *s, const Version *version)
{
	if (!version->settled)
		return s->all_visible;
	return s->settled.valid && s->settled.lsn == s->heap_lsn &&
		(version->with_exceptions || !s->exceptions) &&
		(version->running || (s->settled.rows & ~s->ended) == 0);
}

/* The reader goes on.  Returns false if it takes a wrong answer. */
static bool
read_step(const State *s, const Version *version)
{
	State		next = *s;
	bool		last = s->done == 3 || version->order[s->done + 1] == 0;

	/* The cell may be copied at any moment before the last step, again and again. */
	if (s->cell.valid && memcmp(&s->copy, &s->cell, sizeof(Record)) != 0)
	{
		next.copy = s->cell;
		meet(&next);
		next = *s;
	}
	next.done++;
	switch (version->order[s->done])
	{
		case SNAPSHOT:
			next.committed = committed(s);
			next.ended = ended(s);
			break;
		case POSITION:
			next.upto = s->position;
			break;
		case SEEN:
			if (!page_seen(s, version))
				return true;
			break;
		case LOOK:
			if (!s->copy.valid || s->copy.lsn != s->lsn)
				return true;
			break;
	}
	if (!last)
	{
		meet(&next);
		return true;
	}
	if (version->passing != 0)
		return !next.copy.valid || (next.copy.rows & version->passing) != 0 ||
			(visible_rows(next.committed) & version->passing) == 0;
	return !next.copy.valid || (!version->any_age && next.copy.lsn > next.upto) ||
		next.copy.rows == visible_rows(next.committed);
}

/* Meet all states.  Returns false as soon as there is one in which the reader is wrong. */
static bool
version_is_right(const Version *version)
{
	State		begin;

	memset(&begin, 0, sizeof(begin));
	begin.tuple[0] = (Tuple) {NORMAL, ROW_A};
	begin.all_visible = 1;
	begin.entries = ROW_A;
	begin.lsn = begin.position = 1;
	memset(place_of, 0, TABLE_SIZE * sizeof(*place_of));
	queued = 0;
	meet(&begin);
	for (uint32_t i = 0; i < queued; i++)
	{
		State		state = table[i];

		delete_row(&state, version);
		insert_row(&state, version);
		vacuum(&state, version);
		set_heap_lsn(&state);
		set_hint(&state, version);
		record(&state, version);
		record_settled(&state, version);
		if (!read_step(&state, version))
			return false;
	}
	return true;
}

static const Version right[] = {
	{"rule M14", .order = RIGHT_ORDER},
	{"on a standby", .standby = true, .order = RIGHT_ORDER},
	{"with settled pages", .settled = true, .order = RIGHT_ORDER},
	{"no row passes: the look alone", .passing = ROW_B, .order = {SNAPSHOT, LOOK}},
	{"no row passes, of those that there were", .passing = ROW_A, .order = {SNAPSHOT, LOOK}},
	{"no row passes, on a standby", .standby = true, .passing = ROW_B, .order = {SNAPSHOT, LOOK}},
};

static const Version wrong[] = {
	{"the look before the map", .order = {SNAPSHOT, POSITION, LOOK, SEEN}},
	{"no look", .order = {SNAPSHOT, POSITION, SEEN}},
	{"the map once, for cells of any age", .any_age = true, .order = RIGHT_ORDER},
	{"the position after the map", .order = {SNAPSHOT, SEEN, POSITION, LOOK}},
	{"the map before the snapshot", .order = {POSITION, SEEN, SNAPSHOT, LOOK}},
	{"the map is not read", .order = {SNAPSHOT, POSITION, LOOK}},
	{"the recorder adds what it sees", .recorder_judges = true, .order = RIGHT_ORDER},
	{"the recorder reads the LSN after it has unlocked the leaf", .late_lsn = true,
	.order = RIGHT_ORDER},
	{"settled for another's snapshot", .settled = true, .running = true, .order = RIGHT_ORDER},
	{"settled with exceptions", .settled = true, .with_exceptions = true, .order = RIGHT_ORDER},
	{"no row passes: no look", .passing = ROW_B, .order = {SNAPSHOT}},
	{"no row passes: the look before the snapshot", .passing = ROW_B, .order = {LOOK, SNAPSHOT}},
	{"no row passes: the recorder adds what it sees", .passing = ROW_B, .recorder_judges = true,
	.order = {SNAPSHOT, LOOK}},
	{"no row passes: the LSN is read after unlocking", .passing = ROW_B, .late_lsn = true,
	.order = {SNAPSHOT, LOOK}},
	{"standby, no row passes: the look before the snapshot", .standby = true, .passing = ROW_B,
	.order = {LOOK, SNAPSHOT}},
	{"standby: the look before the map", .standby = true,
	.order = {SNAPSHOT, POSITION, LOOK, SEEN}},
	{"standby: no look", .standby = true, .order = {SNAPSHOT, POSITION, SEEN}},
	{"standby: cells of any age", .standby = true, .any_age = true, .order = RIGHT_ORDER},
	{"standby: the position after the map", .standby = true,
	.order = {SNAPSHOT, SEEN, POSITION, LOOK}},
};

int
main(void)
{
	char		line[200];

	table = malloc(sizeof(State) * TABLE_SIZE / 2);
	place_of = malloc(sizeof(*place_of) * TABLE_SIZE);
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
	{
		bool		ok = version_is_right(&right[i]);

		snprintf(line, sizeof(line), "%s: right in %u states", right[i].name, queued);
		verdict(ok, line);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
	{
		snprintf(line, sizeof(line), "%s: wrong", wrong[i].name);
		verdict(!version_is_right(&wrong[i]), line);
	}
	return print_sums();
}
