/*-------------------------------------------------------------------------
 *
 * value_cells.c
 *	  How many entries of a leaf have each value of a column, for programs that are functions of it.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/value_cells.h"
#include "page/page.h"

void
gpb_leaf_values_begin(GpbCellReader *reader)
{
	/* What such a program wants of columns is not in columns' cells. */
	static const GpbAnswerFormat no_columns = {.words = 1};
	const GpbValueForm *form = reader->by_value;
	uint32		name = reader->name ^ (uint32) (form->slot + 1) * 0x85EBCA6B;
	int			i;

	reader->format = &no_columns;
	reader->value_name[0] = (name & ~GPB_NAME_FORM) | GPB_VALUES_NAME;
	for (i = 0; i < form->nsums; i++)
		reader->value_name[1 + i] = name ^ (uint32) (form->sum[i] + 1) * 0xC2B2AE35;
	for (i = 0; i < form->nsums; i++)
		reader->value_name[1 + i] |= GPB_SUMS_NAME;
}

/* ---- copies ---- */

/* Copy cell number i of those of values; false if it is not there, or of another state. */
static inline bool
copy_cell(GpbCellReader *reader, GpbCellCopy *copy, int i)
{
	copy->column_at[i] = gpb_cell_read(reader->value_name[i], copy->leaf.head.block,
									   &reader->value_hint[i], &copy->column[i]);
	return copy->column_at[i] != NULL && copy->column[i].head.lsn == copy->leaf.head.lsn;
}

bool
gpb_leaf_values_copy(GpbCellReader *reader, GpbCellCopy *copy, GpbCellMiss *miss)
{
	const GpbValueForm *form = reader->by_value;
	int			i;

	*miss = GPB_CELL_ABSENT;
	if (!copy_cell(reader, copy, 0) || copy->column[0].values.slot != form->slot)
		return false;
	if (copy->column[0].values.n == GPB_VALUES_UNHELD)
	{
		*miss = GPB_CELL_MANY;
		return false;
	}
	for (i = 0; i < form->nsums; i++)
	{
		const GpbSumsCell *sums = &copy->column[1 + i].sums;

		if (!copy_cell(reader, copy, 1 + i) || sums->slot != form->slot ||
			sums->column != form->sum[i])
			return false;
		if (!sums->held)
		{
			*miss = GPB_CELL_UNHELD;
			return false;
		}
	}
	return true;
}

void
gpb_leaf_values_record_buffer(const GpbCellReader *reader, GpbCellCopy *copy, Buffer buffer)
{
	int			i;

	for (i = 0; i <= reader->by_value->nsums; i++)
	{
		copy->column[i].head.buffer = buffer;
		gpb_cell_write(copy->column_at[i], &copy->column[i]);
	}
}

/* ---- recording ---- */

#define TABLE_PLACES	64

/* The values of a leaf, in the order in which they were met; the last place is that of NULL. */
typedef struct LeafValues
{
	int			n;
	int64		value[GPB_CELL_VALUES];
	uint16		count[GPB_CELL_VALUES + 1];
	int64		sum[GPB_VALUE_SUMS][GPB_CELL_VALUES + 1];
	bool		summed[GPB_VALUE_SUMS]; /* does a cell hold the sums, as far as is known? */
	uint8		table[TABLE_PLACES];	/* hash table: number of a value plus 1, or 0 */
} LeafValues;

#define NULL_PLACE	GPB_CELL_VALUES

/* Sums are of values below this, so that those of a leaf fit 64 bits; and so must each sum be. */
#define SUM_LIMIT	((int64) 1 << 47)

static inline bool
fits_sum(int64 value)
{
	return value >= -SUM_LIMIT && value < SUM_LIMIT;
}

/* The number of this value, which may be new; -1 if there are too many. */
static inline int
find_value(LeafValues *values, int64 value)
{
	uint32		at = (uint32) (((uint64) value * UINT64CONST(0x9E3779B97F4A7C15)) >> 58);

	for (; values->table[at] != 0; at = (at + 1) % TABLE_PLACES)
	{
		if (values->value[values->table[at] - 1] == value)
			return values->table[at] - 1;
	}
	if (values->n == GPB_CELL_VALUES)
		return -1;
	values->value[values->n] = value;
	values->table[at] = (uint8) ++values->n;
	return values->n - 1;
}

/* Count the values of a slot of a strip, and say in at[] which each is.  False: too many. */
static bool
count_strip(const GpbStripSlot *slot, int n, LeafValues *values, uint8 *at)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		int			number = slot->has_nulls && slot->nulls[i] ? NULL_PLACE :
			find_value(values, slot->words[i]);

		if (number < 0)
			return false;
		at[i] = (uint8) number;
		values->count[number]++;
	}
	return true;
}

/* Add the values of column number i of those that are summed, in a strip whose values are at[]. */
static void
sum_strip(const GpbStripSlot *slot, int n, int i, const uint8 *at, LeafValues *values)
{
	int64		low = 0;
	int64		high = 0;
	int			k;

	if (slot->has_nulls)
		values->summed[i] = false;
	gpb_strip_bounds(slot->words, NULL, n, false, &low, &high);
	if (!fits_sum(low) || !fits_sum(high))
		values->summed[i] = false;
	for (k = 0; k < n && values->summed[i]; k++)
		values->sum[i][at[k]] += slot->words[k];
}

/* Count all entries of a leaf by value.  Returns false if there are too many values. */
static bool
count_leaf(const GpbCellReader *reader, const char *page, LeafValues *values)
{
	const GpbValueForm *form = reader->by_value;
	const GpbStrip *strip = &reader->evaluator->strip;
	uint8		at[GPB_STRIP];
	int			first;
	int			n;
	int			i;

	memset(values, 0, sizeof(*values));
	memset(values->summed, true, sizeof(values->summed));
	for (first = 0; (n = gpb_evaluator_load(reader->evaluator, page, first)) > 0; first += n)
	{
		if (!count_strip(&strip->slot[form->slot], n, values, at))
			return false;
		for (i = 0; i < form->nsums; i++)
			sum_strip(&strip->slot[form->sum[i]], n, i, at, values);
	}
	return values->n + (values->count[NULL_PLACE] > 0) <= GPB_CELL_VALUES;
}

/* The numbers of the values in ascending order, then that of NULL, if any; returns how many. */
static int
order_values(const LeafValues *values, uint8 *order)
{
	int			i;
	int			k;

	for (i = 0; i < values->n; i++)
	{
		for (k = i; k > 0 && values->value[order[k - 1]] > values->value[i]; k--)
			order[k] = order[k - 1];
		order[k] = (uint8) i;
	}
	if (values->count[NULL_PLACE] > 0)
		order[i++] = NULL_PLACE;
	return i;
}

/* Fill in the values, of which there are n with NULL.  Returns false if they are too far apart. */
static bool
fill_values(const LeafValues *values, const uint8 *order, int n, GpbValuesCell *cell)
{
	uint64		deltas = 0;
	int			i;

	cell->n = (uint8) n;
	cell->nulls = values->count[NULL_PLACE] > 0;
	cell->first = values->n > 0 ? values->value[order[0]] : 0;
	for (i = 1; i < values->n; i++)
		deltas |= (uint64) values->value[order[i]] - (uint64) cell->first;
	cell->shift = deltas == 0 ? 0 : (uint8) pg_rightmost_one_pos64(deltas);
	if (deltas >> cell->shift > PG_UINT32_MAX)
		return false;
	for (i = 0; i < n; i++)
		cell->count[i] = values->count[order[i]];
	for (i = 1; i < values->n; i++)
		cell->delta[i - 1] = (uint32) (((uint64) values->value[order[i]] - (uint64) cell->first) >>
									   cell->shift);
	return true;
}

/* Fill in sums number i.  Returns false if the cell does not hold them. */
static bool
fill_sums(const LeafValues *values, const uint8 *order, int n, int i, GpbSumsCell *cell)
{
	int			k;

	cell->held = values->summed[i];
	for (k = 0; k < n && cell->held; k++)
	{
		int64		sum = values->sum[i][order[k]];

		cell->held = fits_sum(sum);
		cell->low[k] = (uint32) sum;
		cell->high[k] = (int16) (sum >> 32);
	}
	return cell->held;
}

/* Begin cell number i of those of values. */
static void
begin_cell(const GpbCellReader *reader, GpbCellCopy *copy, int i)
{
	memset(&copy->column[i], 0, sizeof(GpbCell));
	copy->column[i].head = copy->leaf.head;
	copy->column[i].head.name = reader->value_name[i];
}

/* Write cell number i of those of values, if there is a place for it. */
static void
write_cell(const GpbCellReader *reader, GpbCellCopy *copy, int i)
{
	GpbCell    *cell = &copy->column[i];

	copy->column_at[i] = gpb_cell_choose(cell->head.name, cell->head.block, reader->turn);
	if (copy->column_at[i] != NULL)
		gpb_cell_write(copy->column_at[i], cell);
	else
		copy->column_at[i] = cell;
}

/* Record the sums by value, of which there are n.  Returns false if a cell does not hold them. */
static bool
record_sums(const GpbCellReader *reader, const LeafValues *values, const uint8 *order, int n,
			GpbCellCopy *copy)
{
	const GpbValueForm *form = reader->by_value;
	bool		held = true;
	int			i;

	for (i = 0; i < form->nsums; i++)
	{
		GpbSumsCell *sums = &copy->column[1 + i].sums;

		begin_cell(reader, copy, 1 + i);
		sums->slot = (uint8) form->slot;
		sums->column = form->sum[i];
		held &= fill_sums(values, order, n, i, sums);
		write_cell(reader, copy, 1 + i);
	}
	return held;
}

bool
gpb_leaf_values_record(const GpbCellReader *reader, const char *page, GpbCellCopy *copy,
					   GpbCellMiss *miss)
{
	GpbValuesCell *cell = &copy->column[0].values;
	LeafValues	values;
	uint8		order[GPB_CELL_VALUES + 1];
	bool		counted = count_leaf(reader, page, &values);
	int			n = counted ? order_values(&values, order) : 0;

	begin_cell(reader, copy, 0);
	cell->slot = (uint8) reader->by_value->slot;
	if (!counted || !fill_values(&values, order, n, cell))
	{
		*miss = GPB_CELL_MANY;
		cell->n = GPB_VALUES_UNHELD;
	}
	write_cell(reader, copy, 0);
	if (cell->n == GPB_VALUES_UNHELD)
		return false;
	*miss = GPB_CELL_UNHELD;
	return record_sums(reader, &values, order, n, copy);
}

/* ---- adding up ---- */

/* Value number i of a cell */
static inline int64
cell_value(const GpbValuesCell *cell, int i)
{
	return i == 0 ? cell->first :
		(int64) ((uint64) cell->first + ((uint64) cell->delta[i - 1] << cell->shift));
}

/* Have two cells the same values? */
static inline bool
same_values(const GpbValuesCell *a, const GpbValuesCell *b)
{
	return a->n == b->n && a->nulls == b->nulls && a->shift == b->shift && a->first == b->first &&
		memcmp(a->delta, b->delta, sizeof(a->delta)) == 0;
}

/* The place of a value, from "place" on, where it is put if it is not there. */
static int
place_value(GpbValueTotals *totals, int place, int64 value)
{
	while (place < totals->n && totals->of[place].value < value)
		place++;
	if (place < totals->n && totals->of[place].value == value)
		return place;
	Assert(totals->n < lengthof(totals->of));
	memmove(&totals->of[place + 1], &totals->of[place],
			(totals->n - place) * sizeof(GpbCountedValue));
	memset(&totals->of[place], 0, sizeof(GpbCountedValue));
	totals->of[place].value = value;
	totals->n++;
	return place;
}

/* Find the places of a cell's values, which ascend, as the totals' do. */
static pg_noinline void
place_values(GpbValueTotals *totals, const GpbValuesCell *cell)
{
	int			place = 0;
	int			i;

	for (i = 0; i < cell->n - cell->nulls; i++)
	{
		place = place_value(totals, place, cell_value(cell, i));
		totals->place[i] = (uint16) place;
	}
	totals->last = *cell;
}

/* The totals to which number i of a cell's values belongs; the last one may be NULL. */
static inline GpbCountedValue *
totals_of(GpbValueTotals *totals, const GpbValuesCell *cell, int i)
{
	return i < cell->n - cell->nulls ? &totals->of[totals->place[i]] : &totals->null;
}

void
gpb_leaf_values_add(const GpbCellReader *reader, const GpbCellCopy *copy, GpbValueTotals *totals)
{
	const GpbValuesCell *cell = &copy->column[0].values;
	int			s;
	int			i;

	totals->leaves++;
	totals->entries += copy->leaf.leaf.entries;
	if (!same_values(cell, &totals->last))
		place_values(totals, cell);
	for (i = 0; i < cell->n; i++)
		totals_of(totals, cell, i)->count += cell->count[i];
	for (s = 0; s < reader->by_value->nsums; s++)
	{
		const GpbSumsCell *sums = &copy->column[1 + s].sums;

		for (i = 0; i < cell->n; i++)
			totals_of(totals, cell, i)->sum[s] += (int64) sums->high[i] * ((int64) 1 << 32) +
				sums->low[i];
	}
}

void
gpb_leaf_values_evaluate(const GpbCellReader *reader, const GpbValueTotals *totals, uint32 number)
{
	int			i;

	for (i = 0; i < totals->n; i++)
	{
		const GpbCountedValue *of = &totals->of[i];

		gpb_evaluate_value(reader->evaluator, number, of->value, false, of->count, of->sum);
	}
	if (totals->null.count > 0)
		gpb_evaluate_value(reader->evaluator, number, 0, true, totals->null.count,
						   totals->null.sum);
}
