/*-------------------------------------------------------------------------
 *
 * states.h
 *	  States: groups of a program, in a form that goes from one plan node to another.
 *
 * A node that answers for a part of a table returns rows of one column, a bytea, and a node above
 * merges them (exec/aggregate/README).  Such a row says all of itself: whoever knows the program
 * reads it, in whatever process.  It has
 *
 * * one byte each: GPB_STATES_VERSION; GpbStatesKind; the number of the program among several; and
 *   1 if exact sums are narrow, else 0;
 * * four bytes: the number n of groups, or of the bytes of a reason;
 * * of GPB_STATES_GROUPS: n records as GpbGroup has them, one after the other; and then, record by
 *   record, for each group slot that is a code and not NULL the length, of four bytes, and the
 *   bytes of its value.  The slot's own word is 0.  A program without group slots has one record,
 *   with the answer over all its entries;
 * * of GPB_STATES_REFUSAL: why there is no answer;
 * * of GPB_STATES_HERE: nothing but where the groups are, which stay there.  It is for a node that
 *   reads the row before anything else happens, in the process that made it.
 *
 * Numbers have the byte order of the machine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_STATES_H
#define GPB_STATES_H

#include "postgres.h"

#include "exec/answer/ask.h"
#include "exec/bind/texts.h"
#include "exec/compile/program_words.h"

#define GPB_STATES_VERSION	1

typedef enum GpbStatesKind
{
	GPB_STATES_GROUPS,
	GPB_STATES_REFUSAL,
	GPB_STATES_HERE
} GpbStatesKind;

/* What is known of the groups of a program that become states, or are made of them */
typedef struct GpbStatesForm
{
	int			number;			/* of the program */
	int			nslots;			/* its group slots */
	GpbWordType type[GPB_MAX_GROUP_SLOTS];	/* of the first slot of each value, at that slot */
} GpbStatesForm;

/* ---- writing ---- */

/* Groups of a row, at most */
#define GPB_STATES_TOGETHER	64

/*
 * A row of n groups, whose answers have this format.  "codes" says whose the codes in group slots
 * are.  Memory is of the current context.
 */
extern bytea *gpb_states_make(const GpbStatesForm *form, const GpbCodeSource *codes,
							  const GpbAnswerFormat *format, const GpbGroup *const *groups,
							  int n);

/*
 * The next row of states of an ask's last question, with as many groups as a row has; *at is 0 at
 * first.  NULL after the last one.
 */
extern bytea *gpb_states_next(const GpbStatesForm *form, const GpbCodeSource *codes, GpbAsk *ask,
							  uint64 *at);

/*
 * A row that says that all states are the groups of this ask's last question: to copy them would
 * take longer than to merge them.  They must not have codes.
 */
extern bytea *gpb_states_here(const GpbStatesForm *form, GpbAsk *ask);

/* Is one of the group slots a code? */
extern bool gpb_states_have_codes(const GpbStatesForm *form);

/* A row that says why there is no answer */
extern bytea *gpb_states_refusal(const char *why);

/* ---- reading ---- */

/* A row that is read, without its header */
typedef struct GpbStatesRow
{
	GpbStatesKind kind;
	int			number;			/* of the program */
	bool		narrow;
	uint32		n;
	GpbAsk	   *here;			/* of GPB_STATES_HERE: who has the groups */
	const char *bytes;			/* of records or of the reason, in no alignment */
	Size		length;
} GpbStatesRow;

/* Begin to read a row.  Raises an error if it is of another version. */
extern void gpb_states_open(const struct varlena *bytes, GpbStatesRow *row);

/* The reason in a row of that kind, palloc'd */
extern char *gpb_states_reason(const GpbStatesRow *row);

/*
 * The groups of a row, one after the other, each of "width" bytes as the program's answers are in
 * the form that the row has; palloc'd.  Values of codes get their numbers of "texts".  Raises an
 * error if the row is of another program.
 */
extern char *gpb_states_groups(const GpbStatesForm *form, const GpbStatesRow *row, Size width,
							   GpbTexts *texts);

/*
 * Merge the groups of a row into the answer of an ask that collects, whose program is that of the
 * row.  Returns false if there is no memory for more groups.  The rest is as above.
 */
extern bool gpb_states_merge(const GpbStatesForm *form, const GpbStatesRow *row, GpbTexts *texts,
							 GpbAsk *ask);

/* The number of groups in a row */
extern uint64 gpb_states_count(const GpbStatesRow *row);

#endif							/* GPB_STATES_H */
