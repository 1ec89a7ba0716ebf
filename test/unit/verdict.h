/*-------------------------------------------------------------------------
 *
 * verdict.h
 *	  What the unit tests count and print: a line for each verdict, the sums at the end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_UNIT_VERDICT_H
#define GPB_UNIT_VERDICT_H

#include <stdbool.h>
#include <stdio.h>

static int	passed = 0;
static int	failed = 0;

static inline void
verdict(bool ok, const char *what)
{
	printf("%-6s %s\n", ok ? "ok" : "FAILED", what);
	if (ok)
		passed++;
	else
		failed++;
}

/* Print the sums; returns the exit status. */
static inline int
print_sums(void)
{
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0;
}

#endif							/* GPB_UNIT_VERDICT_H */
