/*-------------------------------------------------------------------------
 *
 * keys.c
 *	  Tests of key_search.c and key_sort.c: every form that this CPU has
 *	  against a count of all keys; sorting against a check of its promises.
 *
 * usage: keys_test [seed]; ends with "N passed, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpu_form.h"
#include "key_search.h"
#include "key_sort.h"
#include "verdict.h"

#define MOST_KEYS	1024

static uint64 state;

/* xorshift64* */
static uint64
next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545F4914F6CDD1DUL;
}

static int
compare_keys(const void *a, const void *b)
{
	GpbKey		x = *(const GpbKey *) a;
	GpbKey		y = *(const GpbKey *) b;

	return x < y ? -1 : x > y;
}

/* A key with so many random bits, at the ends of its halves, and now and then an extreme one */
static GpbKey
random_key(int key_width, int bits)
{
	GpbKey		last = gpb_key_most(key_width);
	uint64		mask = bits == 64 ? ~(uint64) 0 : ((uint64) 1 << bits) - 1;
	GpbKey		key = next_random() & mask;

	/* wide ones differ in the lower half, or in the upper one, or in both */
	if (key_width == GPB_WIDE_KEY)
	{
		if (next_random() % 2)
			key |= (GpbKey) (next_random() & mask) << 64;
		if (next_random() % 4 == 0)
			key |= (GpbKey) 1 << 127;
		if (next_random() % 4 == 0)
			key |= (GpbKey) 1 << 63;
	}
	switch (next_random() % 32)
	{
		case 0:
			return 0;
		case 1:
			return last;
		case 2:
			return last / 2 + next_random() % 2;	/* the sign bit's two sides */
		default:
			return key & last;
	}
}

/* A page with n ascending keys; what follows them is noise that a search must not see. */
static void
make_page(char *page, int key_width, int n, int bits)
{
	GpbKey		keys[MOST_KEYS];
	int			i;

	for (i = 0; i < GPB_PAGE_SIZE; i++)
		page[i] = (char) next_random();
	for (i = 0; i < n; i++)
		keys[i] = random_key(key_width, bits);
	qsort(keys, n, sizeof(GpbKey), compare_keys);
	for (i = 0; i < n; i++)
		memcpy(page + gpb_key_place(key_width, i), &keys[i], key_width);
}

/* Compare all searches on one page with plain counting. */
static bool
check_page(const char *page, int key_width, int n, const GpbKey *keys, int nkeys)
{
	uint16		below[MOST_KEYS + 1];
	bool		ok = true;
	int			i;
	int			j;

	below[nkeys] = 0xABCD;
	gpb_page_keys_below_many(page, key_width, n, keys, nkeys, below);
	for (i = 0; i < nkeys; i++)
	{
		int			less = 0;
		int			upto = 0;

		for (j = 0; j < n; j++)
		{
			less += gpb_page_key(page, key_width, j) < keys[i];
			upto += gpb_page_key(page, key_width, j) <= keys[i];
		}
		ok &= below[i] == less;
		ok &= gpb_page_keys_below(page, key_width, n, keys[i]) == less;
		ok &= gpb_page_keys_upto(page, key_width, n, keys[i]) == upto;
	}
	return ok & (below[nkeys] == 0xABCD);
}

static void
test_form(GpbCpuForm form, int key_width)
{
	static const int bits[] = {1, 4, 10, 33, 64};
	static char page[GPB_PAGE_SIZE] __attribute__((aligned(64)));
	char		what[64];
	bool		ok = true;
	int			most = gpb_page_capacity(key_width, GPB_LOCATOR_WIDTH);
	int			n;

	if (!gpb_cpu_force(form))
	{
		printf("       form %d: not on this CPU\n", (int) form);
		return;
	}
	for (n = 0; n <= most; n++)
	{
		int			nbits = bits[n % 5];
		GpbKey		keys[64];
		int			nkeys = (int) (next_random() % 64);
		int			i;

		make_page(page, key_width, n, nbits);
		for (i = 0; i < nkeys; i++)
			keys[i] = n > 0 && i % 2 ? gpb_page_key(page, key_width, next_random() % n) :
				random_key(key_width, nbits);
		ok &= check_page(page, key_width, n, keys, nkeys);
	}
	snprintf(what, sizeof(what), "%s, %d-byte keys, 0 to %d on a page",
			 gpb_cpu_form_name(), key_width, most);
	verdict(ok, what);
}

/* Is the first of the keys that are sorted far from all others? */
static bool one_far_key;

static GpbKey
sorted_key(uint32 i, int key_width, int bits)
{
	GpbKey		key = random_key(key_width, bits);

	return i == 0 && one_far_key ? key | (GpbKey) 1 << (8 * key_width - 1) : key;
}

static void
test_sort(uint32 n, int key_width, int bits, bool ascending)
{
	bool		wide = key_width == GPB_WIDE_KEY;
	GpbNumberedKeys keys = {wide, malloc((n + 1) * gpb_numbered_key_size(wide))};
	GpbNumberedKeys spare = {wide, malloc((n + 1) * gpb_numbered_key_size(wide))};
	GpbKey	   *original = malloc((n + 1) * sizeof(GpbKey));
	GpbNumberedKeys sorted;
	char		what[80];
	bool		ok = true;
	uint32		i;

	for (i = 0; i < n; i++)
		original[i] = sorted_key(i, key_width, bits);
	if (ascending)
		qsort(original, n, sizeof(GpbKey), compare_keys);
	for (i = 0; i < n; i++)
		gpb_number_key(keys, i, original[i], i);
	sorted = gpb_sort_keys(keys, spare, n);
	ok &= sorted.wide == wide;
	ok &= sorted.elements == keys.elements || sorted.elements == spare.elements;
	ok &= !ascending || sorted.elements == keys.elements;

	/* ascending, equal keys by number: then every number occurs once */
	for (i = 0; i < n; i++)
	{
		GpbKey		key = gpb_numbered_key(sorted, i);
		uint32		number = gpb_key_number(sorted, i);

		ok &= number < n && key == original[number];
		if (i > 0)
		{
			GpbKey		before = gpb_numbered_key(sorted, i - 1);

			ok &= before < key || (before == key && gpb_key_number(sorted, i - 1) < number);
		}
		ok &= gpb_numbered_key(gpb_numbered_keys_from(sorted, i), 0) == key;
	}
	snprintf(what, sizeof(what), "sort of %u %d-byte keys of %d bits%s", n, key_width, bits,
			 ascending ? ", ascending" : "");
	verdict(ok, what);
	free(keys.elements);
	free(spare.elements);
	free(original);
}

/* Keys alone: the same keys, ascending, and each once.  Narrow ones are sorted as such, too. */
static void
test_plain_sort(uint32 n, int key_width, int bits)
{
	GpbKey	   *keys = malloc((n + 1) * sizeof(GpbKey));
	GpbKey	   *spare = malloc((n + 1) * sizeof(GpbKey));
	GpbKey	   *expected = malloc((n + 1) * sizeof(GpbKey));
	uint64	   *narrow = malloc((n + 1) * sizeof(uint64));
	uint64	   *narrow_spare = malloc((n + 1) * sizeof(uint64));
	uint64	   *narrow_sorted;
	GpbKey	   *sorted;
	char		what[80];
	bool		ok = true;
	uint32		unique = 0;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		keys[i] = expected[i] = sorted_key(i, key_width, bits);
		narrow[i] = (uint64) keys[i];
	}
	qsort(expected, n, sizeof(GpbKey), compare_keys);
	sorted = gpb_sort_plain_keys(keys, spare, n);
	ok &= sorted == keys || sorted == spare;
	ok &= memcmp(sorted, expected, n * sizeof(GpbKey)) == 0;
	narrow_sorted = gpb_sort_narrow_keys(narrow, narrow_spare, n);
	ok &= narrow_sorted == narrow || narrow_sorted == narrow_spare;
	for (i = 0; i < n && key_width != GPB_WIDE_KEY; i++)
		ok &= narrow_sorted[i] == expected[i];
	for (i = 0; i < n; i++)
	{
		if (i == 0 || expected[i] != expected[i - 1])
			expected[unique++] = expected[i];
	}
	ok &= gpb_unique_keys(sorted, n) == unique;
	ok &= memcmp(sorted, expected, unique * sizeof(GpbKey)) == 0;
	snprintf(what, sizeof(what), "plain sort of %u %d-byte keys of %d bits, each once", n,
			 key_width, bits);
	verdict(ok, what);
	free(keys);
	free(spare);
	free(expected);
	free(narrow);
	free(narrow_spare);
}

int
main(int argc, char **argv)
{
	static const uint32 sizes[] = {0, 1, 2, 3, 255, 256, 257, 1000, 100000};
	uint64		seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	int			form;
	int			width;
	int			i;

	printf("seed %lu\n", seed);
	state = seed * 2 + 1;
	for (form = GPB_CPU_PLAIN; form <= GPB_CPU_AVX512; form++)
	{
		test_form((GpbCpuForm) form, 4);
		test_form((GpbCpuForm) form, 8);
		test_form((GpbCpuForm) form, GPB_WIDE_KEY);
	}
	for (i = 0; i < (int) (sizeof(sizes) / sizeof(sizes[0])); i++)
	{
		for (width = 8; width <= GPB_WIDE_KEY; width *= 2)
		{
			test_sort(sizes[i], width, 64, false);
			test_sort(sizes[i], width, 9, false);
			test_sort(sizes[i], width, 40, true);
			test_plain_sort(sizes[i], width, 64);
			test_plain_sort(sizes[i], width, 9);
		}
	}
	/* so many that they are parted first, once or, where one key is far from all others, again */
	for (width = 8; width <= GPB_WIDE_KEY; width *= 2)
	{
		test_sort(700000, width, 64, false);
		test_sort(700000, width, 9, false);
		test_plain_sort(700000, width, 64);
		one_far_key = true;
		test_sort(700000, width, 40, false);
		test_plain_sort(700000, width, 40);
		one_far_key = false;
	}
	return print_sums();
}
