/*-------------------------------------------------------------------------
 *
 * leaf_sum.h
 *	  The sum of a leaf's int4 values, with the widest instructions that this CPU has.
 *
 * Plain C, free of PostgreSQL headers.  There are two forms, AVX2 and plain C (cpu_form.h).
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

#endif							/* GPB_LEAF_SUM_H */
