/*-------------------------------------------------------------------------
 *
 * leaf_sum.h
 *	  The sum of a leaf's int4 values, with the widest instructions that this CPU has.
 *
 * Plain C, free of PostgreSQL headers.  Which form runs is decided at the first call by what the
 * CPU reports, as in key_search.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LEAF_SUM_H
#define GPB_LEAF_SUM_H

#include "layout.h"

/* Bytes of a row that has one INCLUDE column of 4 bytes and no other */
#define GPB_INT4_ROW_WIDTH	(GPB_LOCATOR_WIDTH + 4)

/*
 * Add up the int4 values of n rows of GPB_INT4_ROW_WIDTH bytes that adjoin each other; "rows" is
 * the lowest address.  *flags becomes what any of the rows has in the upper 16 bits of its locator;
 * values that the flags call NULL are in the sum.
 */
extern int64 gpb_sum_int4_rows(const char *rows, int n, uint16 *flags);

/* The name of the form in use: "AVX2" or "plain". */
extern const char *gpb_sum_name(void);

typedef enum GpbSumForm
{
	GPB_SUM_PLAIN,
	GPB_SUM_AVX2
} GpbSumForm;

/* Use this form from now on, for tests.  Returns false if the CPU, or the build, lacks it. */
extern bool gpb_sum_force(GpbSumForm form);

#endif							/* GPB_LEAF_SUM_H */
