/*-------------------------------------------------------------------------
 *
 * program.cuh
 *	  A program with steps, terms or groups (program.h) as the kernels get it.
 *
 * The kernels of plain programs have each column's place in the row as a parameter, and registers
 * for two columns.  A program with steps is interpreted instead: its steps are a parameter too, in
 * the form of a GpbCode, and each lane does them for GPB_PROGRAM_ROWS entries at a time, so that
 * finding out what a step is costs little for each (evaluate.cuh).  It is read by kernels of its
 * own (ranges_program.cu, ranges_groups.cu), so that plain programs do not pay for it.
 *
 * Without groups, the terms are dealt out to passes as columns are (pass.cuh).  The first pass does
 * all steps, and so meets every fault; a later one does only the steps that its terms and the
 * filters need.  With groups there is one pass over all terms.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_CUH
#define GPB_PROGRAM_CUH

#include "pass.cuh"
#include "program/program_list.h"

/* As a slot of a step: the result of the step before it, filters left aside */
#define GPB_LAST_RESULT		0xFE

/*
 * A step; eight bytes are loaded at once.  A result that only the next step reads is not stored:
 * into is GPB_NO_SLOT then.
 */
struct alignas(8) GpbCodeStep
{
	uint8		op;				/* GpbOperator */
	uint8		operands;		/* how many of a, b and c are slots to be read */
	uint8		into;
	uint8		a;				/* slots as in program.h, or GPB_LAST_RESULT */
	uint8		b;
	uint8		c;
	uint8		guard;			/* GPB_NO_SLOT: none */
	uint8		unused;
};

/* A column of the index that some step, term or group reads */
struct GpbCodeColumn
{
	uint8		slot;			/* as in program.h */
	uint8		column;			/* 0 is the key */
	bool		lower;			/* the lower half of the column's values */
	uint8		kind;			/* GpbKind; of lower halves that of these */
	uint8		offset;			/* within the row */
	GpbKeyColumn field;			/* of a key that has several columns; of others bits is 0 */
};

/* What is computed of each entry */
struct GpbCode
{
	uint16		nsteps;
	uint16		ncolumns;
	GpbCodeColumn column[GPB_MAX_COLUMNS];
	GpbCodeStep step[GPB_MAX_STEPS];
	uint64		null_constants; /* bit i: constant i is NULL */
	int64		constant[GPB_MAX_CONSTANTS];
	GpbTables	tables;
};

/* The slots that are read after the steps, a bit for each */
struct GpbSlotSet
{
	uint64		bits[(GPB_SLOTS + 63) / 64];
};

/* ---- a pass without groups ---- */

/*
 * What a pass has beside the columns of its GpbPass, which stand for terms: where their values are.
 * The words are those of the first term in the answer; 0: not wanted.
 */
struct GpbProgramPass
{
	GpbCode		code;
	uint8		slot[GPB_PASS_COLUMNS]; /* GPB_NO_SLOT: each entry counts */
	uint8		filter[GPB_PASS_COLUMNS];	/* GPB_NO_SLOT: none */
	uint8		lower;			/* of the first term's halves; GPB_NO_SLOT: none */
	bool		float_squares;	/* the float8 sum is of squares, and nothing else is added up */
	uint16		squares;
	uint16		bits_and;
	uint16		bits_or;
	uint16		bits_xor;
	uint16		halves;
};

/*
 * A term has at most two passes: a float8 with a sum and a sum of squares.  A program without terms
 * has one pass all the same.
 */
#define GPB_MOST_PROGRAM_PASSES (2 * GPB_MAX_TERMS)

/* Which of the kernels does the pass? */
enum GpbProgramShape
{
	GPB_PROGRAM_NARROW,			/* one term */
	GPB_PROGRAM_WIDE,			/* two */
	GPB_PROGRAM_FLOAT_SUM,		/* a float8 sum */
	GPB_PROGRAM_EXTRA,			/* squares of integers, combined bits, or bounds of halves */
	GPB_PROGRAM_SHAPES
};

/*
 * The passes of a program that is not plain, whose answers have the given format; returns how many.
 * column[c].column of a pass is the number of the term.  With groups there is one pass, without
 * columns.
 */
int			gpb_make_program_passes(const GpbProgram *program, const GpbAnswerFormat *format,
									GpbPass *pass);
/* What that pass has beside its columns */
void		gpb_make_program_pass(const GpbProgram *program, const GpbAnswerFormat *format,
								  const GpbPass *pass, GpbProgramPass *program_pass);
GpbProgramShape gpb_program_shape(const GpbPass *pass, const GpbProgramPass *program_pass);

/* ---- lists ---- */

#define GPB_RANK_BITS	11
#define GPB_RANK_BINS	(1 << GPB_RANK_BITS)
#define GPB_RANK_SHARE	8		/* bins of one thread */
#define GPB_RANK_ROUNDS	6		/* of counting, each in the bin that the one before has chosen:
								 * enough for 64 bits */

/* In device memory: where the limit's last entry is; see ranges_judged.cu */
struct GpbRanks
{
	uint64		n;				/* entries that count, with those whose ranks had no room */
	uint64		before;			/* ranks below the least */
	long long	least;			/* ranks as signed integers: the last one is from here */
	long long	greatest;		/* to here */
	uint64		last;			/* entries up to this rank are listed */
	uint32		bin[GPB_RANK_BINS];
};

/* What the kernels of a list that judges (program_list.h) get beside GpbRangesJob */
struct GpbListJob
{
	GpbCode		code;
	bool		limited;
	bool		descending;
	bool		nulls_first;
	uint8		order;
	uint32		limit;
	GpbRanks   *ranks;			/* NULL unless limited, and so the next */
	uint64	   *rank;
	uint64		rank_capacity;
};

/* Fill in all that follows from the program; there is no memory yet. */
void		gpb_make_list_job(const GpbProgram *program, GpbListJob *job);

/* ---- groups ---- */

/*
 * A term of a program with groups: its words in the answer, and the words of its sums in a block's
 * shared memory (GpbSharedGroups in group_rows.cuh).
 */
struct GpbGroupTerm
{
	GpbAnswerColumn words;
	uint8		slot;			/* GPB_NO_SLOT: each entry counts */
	uint8		filter;			/* GPB_NO_SLOT: none */
	uint8		lower;			/* of the lower halves; GPB_NO_SLOT: none */
	bool		one_word;		/* 64 bits hold its sum; see group_rows.cuh */
	uint16		shared_missing;
	uint16		shared_sum;
	uint16		shared_float;	/* of an exact sum */
	uint16		shared_minmax;
};

/* Words that stand before the answer in a group's row: a GpbGroup's header, then its values */
#define GPB_GROUP_MOST_WORDS	(1 + GPB_MAX_GROUP_SLOTS)

/* What the kernel of groups gets beside GpbRangesJob */
struct GpbGroupJob
{
	GpbCode		code;
	uint8		ngroups;
	bool		by_range;
	uint8		slot[GPB_MAX_GROUP_SLOTS];
	uint16		nterms;
	uint16		words;			/* of an answer */
	uint16		integers;		/* words of it before the first exact sum */
	uint16		row_words;		/* of a group's row: a GpbGroup */
	uint32		capacity;		/* rows that there is room for */
	uint32		table_mask;		/* entries of the table, less one; they are a power of two */
	uint32		shared_groups;	/* groups that a block adds up in shared memory; 0: none */
	uint16		shared_words;	/* words of each there */
	bool		has_slots;		/* they are any groups, not the first ones; see group_rows.cuh */
	uint16		copies;			/* of answers in device memory; see group_rows.cuh */
	uint32		copied_groups;	/* rows whose answers have copies; 0: none */
	int64	   *copy;
	uint32	   *table;
	int64	   *row;
	GpbGroupTerm term[GPB_MAX_TERMS];
};

/* Bytes of all copies of answers */
static inline size_t
gpb_group_copies_size(const GpbGroupJob *job)
{
	return (size_t) job->copies * job->copied_groups * job->words * sizeof(int64);
}

/*
 * Fill in all that follows from the program, its format, and the most entries that there may be;
 * there is no memory yet.
 */
void		gpb_make_group_job(const GpbProgram *program, const GpbAnswerFormat *format,
							   uint64 most_entries, GpbGroupJob *job);

/*
 * Is the program one that groups by a narrow column and adds up no more than another (see
 * ranges_columns.cu)?  Then the pass gets these columns: the group's, and the term's if there is
 * one.  Returns how many; 0: it is none such.
 */
int			gpb_group_columns(const GpbProgram *program, const GpbGroupJob *job, GpbPass *pass);

#endif							/* GPB_PROGRAM_CUH */
