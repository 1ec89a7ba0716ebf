/*-------------------------------------------------------------------------
 *
 * key_sort_template.h
 *	  A sort of elements by a normalized key, to be included once for each kind of element.
 *
 * A radix sort, a byte at a time from the lowest, that leaves out the bytes in which all
 * keys agree: a pass moves each element once, and its order does not depend on branches.  Few
 * keys are merged instead, for whom the counting would cost more.  More than a cache holds are
 * parted by their highest bits first, so that all further passes have what they move in a cache.
 *
 * Before inclusion:
 *	  GPB_SORT			name of the function
 *	  GPB_SORT_SCOPE	static, or nothing
 *	  GPB_SORT_KEY		type of a key
 *	  GPB_ELEMENT		type of what is sorted
 *	  GPB_ELEMENT_KEY(e)	key of an element
 * All are undefined afterwards.
 *
 *-------------------------------------------------------------------------
 */

#define GPB_SORT_JOIN_(a, b) a##b
#define GPB_SORT_JOIN(a, b) GPB_SORT_JOIN_(a, b)
#define GPB_SORT_LOOK GPB_SORT_JOIN(GPB_SORT, _look)
#define GPB_SORT_MERGE GPB_SORT_JOIN(GPB_SORT, _merge)

#define GPB_SORT_BY_BYTES GPB_SORT_JOIN(GPB_SORT, _by_bytes)
#define GPB_SORT_PART GPB_SORT_JOIN(GPB_SORT, _part)

#define GPB_SORT_BYTES ((int) sizeof(GPB_SORT_KEY))

/* Byte number p of an element's key, from the lowest: machines are little-endian (index/key.c). */
#define GPB_KEY_BYTE(e, p)	(((const uint8 *) &GPB_ELEMENT_KEY(e))[p])

/*
 * Do the keys ascend already?  If they do not, *differ gets the bits in which some key differs from
 * the first.
 */
static bool
GPB_SORT_LOOK(const GPB_ELEMENT *elements, uint32 n, GPB_SORT_KEY *differ)
{
	uint32		i = 1;

	while (i < n && GPB_ELEMENT_KEY(elements[i]) >= GPB_ELEMENT_KEY(elements[i - 1]))
		i++;
	if (i >= n)
		return true;
	*differ = 0;
	for (i = 1; i < n; i++)
		*differ |= GPB_ELEMENT_KEY(elements[i]) ^ GPB_ELEMENT_KEY(elements[0]);
	return false;
}

/*
 * Sort n elements by merging runs of doubling length, from one array to the other and back.
 * Returns the array that has the result.  n is small.
 */
static GPB_ELEMENT *
GPB_SORT_MERGE(GPB_ELEMENT *from, GPB_ELEMENT *to, uint32 n)
{
	uint32		run;

	for (run = 1; run < n; run *= 2)
	{
		GPB_ELEMENT *swap = from;
		uint32		first;

		for (first = 0; first < n; first += 2 * run)
		{
			uint32		middle = first + run < n ? first + run : n;
			uint32		end = first + 2 * run < n ? first + 2 * run : n;
			uint32		a = first;
			uint32		b = middle;
			uint32		i;

			for (i = first; i < end; i++)
				to[i] = b >= end ||
					(a < middle && GPB_ELEMENT_KEY(from[a]) <= GPB_ELEMENT_KEY(from[b])) ?
					from[a++] : from[b++];
		}
		from = to;
		to = swap;
	}
	return from;
}

/* Sort n elements by the bytes of their keys that have a bit of "differ", from the lowest. */
static GPB_ELEMENT *
GPB_SORT_BY_BYTES(GPB_ELEMENT *elements, GPB_ELEMENT *spare, uint32 n, GPB_SORT_KEY differ)
{
	uint32		count[GPB_SORT_BYTES][256];
	int			at_byte[GPB_SORT_BYTES];	/* which byte of the key a pass sorts by */
	int			passes = 0;
	uint32		i;
	int			p;

	for (p = 0; p < GPB_SORT_BYTES; p++)
	{
		if (((const uint8 *) &differ)[p] != 0)
			at_byte[passes++] = p;
	}
	memset(count, 0, sizeof(count[0]) * passes);
	for (i = 0; i < n; i++)
	{
		for (p = 0; p < passes; p++)
			count[p][GPB_KEY_BYTE(elements[i], at_byte[p])]++;
	}
	for (p = 0; p < passes; p++)
	{
		GPB_ELEMENT *swap = elements;

		counts_to_starts(count[p], 256);
		for (i = 0; i < n; i++)
			spare[count[p][GPB_KEY_BYTE(elements[i], at_byte[p])]++] = elements[i];
		elements = spare;
		spare = swap;
	}
	return elements;
}

GPB_SORT_SCOPE GPB_ELEMENT *GPB_SORT(GPB_ELEMENT *elements, GPB_ELEMENT *spare, uint32 n);

/*
 * Sort n elements, which are many: part them by the highest bits in which keys differ, into spare,
 * where each part is then sorted.  Returns spare.
 */
static GPB_ELEMENT *
GPB_SORT_PART(GPB_ELEMENT *elements, GPB_ELEMENT *spare, uint32 n, GPB_SORT_KEY differ)
{
	uint32		count[1 << GPB_PART_BITS] = {0};
	int			shift = 0;
	uint32		first = 0;
	uint32		i;

	while (differ >> shift >= 1 << GPB_PART_BITS)
		shift++;
	for (i = 0; i < n; i++)
		count[(uint32) (GPB_ELEMENT_KEY(elements[i]) >> shift) & GPB_PART_MASK]++;
	counts_to_starts(count, 1 << GPB_PART_BITS);
	for (i = 0; i < n; i++)
		spare[count[(uint32) (GPB_ELEMENT_KEY(elements[i]) >> shift) & GPB_PART_MASK]++] =
			elements[i];

	/* Each count is where its part ends by now. */
	for (i = 0; i < 1 << GPB_PART_BITS; i++)
	{
		uint32		here = count[i] - first;

		if (here > 1 &&
			GPB_SORT(spare + first, elements + first, here) != spare + first)
			memcpy(spare + first, elements + first, here * sizeof(GPB_ELEMENT));
		first = count[i];
	}
	return spare;
}

/* Sort n elements, as key_sort.h says of the functions made from this. */
GPB_SORT_SCOPE GPB_ELEMENT *
GPB_SORT(GPB_ELEMENT *elements, GPB_ELEMENT *spare, uint32 n)
{
	GPB_SORT_KEY differ;

	if (GPB_SORT_LOOK(elements, n, &differ))
		return elements;
	if (n < GPB_RADIX_LEAST)
		return GPB_SORT_MERGE(elements, spare, n);
	if (n < GPB_PART_LEAST)
		return GPB_SORT_BY_BYTES(elements, spare, n, differ);
	return GPB_SORT_PART(elements, spare, n, differ);
}

#undef GPB_SORT
#undef GPB_SORT_SCOPE
#undef GPB_SORT_KEY
#undef GPB_ELEMENT
#undef GPB_ELEMENT_KEY
#undef GPB_SORT_JOIN_
#undef GPB_SORT_JOIN
#undef GPB_SORT_LOOK
#undef GPB_SORT_MERGE
#undef GPB_SORT_BY_BYTES
#undef GPB_SORT_PART
#undef GPB_SORT_BYTES
#undef GPB_KEY_BYTE
