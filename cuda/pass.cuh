/*-------------------------------------------------------------------------
 *
 * pass.cuh
 *	  What the kernels do with each entry that they read: a program (program.h), cut into passes.
 *
 * Registers hold the state of a few columns only, so a program over many columns reads the entries
 * several times: a pass for every GPB_PASS_COLUMNS columns, and one for each float8 sum.  The first
 * pass counts entries and leaves and fills the lists as well.  Every kernel that reads entries
 * takes a GpbPass; whatever else a program may once do with an entry is put here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PASS_CUH
#define GPB_PASS_CUH

#include "program/answer.h"

#define GPB_PASS_COLUMNS	2

/* A column as a pass sees it, and its words in an answer as GpbAnswerColumn has them */
struct GpbPassColumn
{
	uint8		want;			/* GPB_WANT_*; 0: there is no such column */
	uint8		column;			/* as in program.h; 0 is the key */
	uint8		kind;			/* GpbKind */
	uint8		offset;			/* within the row */
	bool		is_narrow;		/* an integer of at most 4 bytes */
	uint16		count;
	uint16		sum;			/* 0: no sum of integers is wanted */
	uint16		minmax;			/* 0: neither is wanted */
	uint16		float_sum;		/* 0: no sum of float8 is wanted */
	uint64		null_mask;		/* NULL: (locator ^ null_flip) & null_mask */
	uint64		null_flip;
};

struct GpbPass
{
	GpbPassColumn column[GPB_PASS_COLUMNS];
	uint64		dead_mask;		/* GPB_LOC_DEAD, or 0 to ignore the hints */
	bool		is_first;		/* counts entries and leaves, and fills the lists */
	bool		list_entries;	/* lists all entries; there are no columns */
};

/* Which of the kernels does the pass: those of one column, of two, or of a float8 sum? */
enum GpbPassShape
{
	GPB_PASS_ONE,
	GPB_PASS_TWO,
	GPB_PASS_FLOAT_SUM,
	GPB_PASS_SHAPES
};

/* No program has more passes: each has a column, but for one pass where there is none. */
#define GPB_MOST_PASSES		GPB_MAX_COLUMNS

/* The passes of a program, whose answers have the given format; returns how many. */
int			gpb_make_passes(const GpbProgram *program, const GpbAnswerFormat *format,
							GpbPass *pass);
GpbPassShape gpb_pass_shape(const GpbPass *pass);

#endif							/* GPB_PASS_CUH */
