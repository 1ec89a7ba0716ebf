/*-------------------------------------------------------------------------
 *
 * sort.h
 *	  What a sort of a build's records asks of a device.
 *
 * Plain C for both compilers, like search.h.  A record is an entry as a leaf holds it: the key, low
 * bytes first, and directly behind it the row, which begins with the locator.  Records are ordered
 * by key and tie.  A device keeps the records that it was given, sorts each piece as it comes, and
 * gives them back in order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SORT_H
#define GPB_SORT_H

#include "layout.h"

/* Most records of a piece, and of a sort */
#define GPB_SORT_PIECE		((uint32) 1 << 20)
#define GPB_SORT_MOST		((uint64) 1 << 31)

/* What the records of a sort look like */
typedef struct GpbSortFormat
{
	int32		key_width;		/* bytes: 4, 8 or GPB_WIDE_KEY */
	int32		width;			/* bytes of a record, a multiple of 4 */
} GpbSortFormat;

/* Is it a format that a device can be asked for? */
static inline bool
gpb_sort_format_is_valid(const GpbSortFormat *format)
{
	int32		row = format->width - format->key_width;

	return (format->key_width == 4 || format->key_width == 8 ||
			format->key_width == GPB_WIDE_KEY) &&
		row >= GPB_LOCATOR_WIDTH && row <= GPB_MAX_ROW_WIDTH && row % 4 == 0;
}

#endif							/* GPB_SORT_H */
