/*-------------------------------------------------------------------------
 *
 * zone_cells.h
 *	  Leaves that a program's filters decide as a whole, by the least and greatest values that their
 *	  cells have (rule M14).
 *
 * Of a leaf of which no entry can pass the filters nothing counts, whoever sees its rows.  A leaf
 * all of whose entries pass adds what its cells have, as it does for a program without filters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ZONE_CELLS_H
#define GPB_ZONE_CELLS_H

#include "engine/cell_reader.h"

/* What a program with filters wants of cells */
typedef struct GpbZoneCells
{
	GpbAnswerFormat format;		/* the columns whose cells are read */
	int			ninputs;		/* the first so many of them are those that decide about leaves */
	bool		takes_whole;	/* can the entries of a whole leaf be added? */
	uint8		want[GPB_MAX_COLUMNS];
	uint8		place[GPB_MAX_COLUMNS]; /* of a column in the format */
	GpbZoneValue slot[GPB_SLOTS];
} GpbZoneCells;

/*
 * Find out what the reader's program wants of cells, and let the reader ask for that.  Returns why
 * no cell can be of use to it, in words for users, or NULL.
 */
extern const char *gpb_zone_cells_begin(GpbCellReader *reader);

/*
 * What do the filters do with all entries of a leaf, of which the cells of the inputs were copied?
 * If all pass and can be added, *copy says what each term of the program takes.
 */
extern GpbZoneVerdict gpb_zone_cells_judge(GpbCellReader *reader, GpbCellCopy *copy);

/* Add what the cells of a leaf have, all of whose entries pass, to *total. */
extern void gpb_zone_cells_add(const GpbCellReader *reader, const GpbCellCopy *copy,
							   GpbCellTotal *total);

#endif							/* GPB_ZONE_CELLS_H */
