/*-------------------------------------------------------------------------
 *
 * main.c
 *	  Runs the kernel tests on one device.
 *
 * usage: kernel_test host|LIBRARY [seed [test...]]
 *
 * LIBRARY is the CUDA sources compiled with GPB_BENCH, for a GPU or for the emulated CUDA.
 * Tests run with each of its ways to read leaves (GpbLeafVariant), but for those that read no leaf,
 * as of sorts and of the tree.
 *
 *-------------------------------------------------------------------------
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../cuda/bench.h"
#include "harness.h"

/* Of the emulated CUDA, else NULL */
static void (*begin_emulated_test) (unsigned seed);

/* All tests, those of a file together */
static TestCase *first_case;
static TestCase **next_case = &first_case;

void
test_register(TestCase *test)
{
	*next_case = test;
	next_case = &test->next;
}

static const GpbDeviceApi *
load_device(const char *name)
{
	GpbDeviceEntry entry;

	if (strcmp(name, "host") == 0)
		return &gpb_host_device;
	test_emulated = strstr(name, "emulated") != NULL;
	test_library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (test_library == NULL)
	{
		printf("%s\n", dlerror());
		return NULL;
	}
	*(void **) &entry = dlsym(test_library, GPB_CUDA_ENTRY);
	*(void **) &test_choose_variant = dlsym(test_library, GPB_VARIANT_ENTRY);
	*(void **) &begin_emulated_test = dlsym(test_library, "emulated_begin_test");
	return entry != NULL ? entry() : NULL;
}

static bool
is_chosen(const char *name, char **chosen)
{
	if (*chosen == NULL)
		return true;
	for (; *chosen != NULL; chosen++)
	{
		if (strcmp(*chosen, name) == 0)
			return true;
	}
	return false;
}

/* Each test has a seed of its own, so that one can be run again alone. */
static bool
run_case(const TestCase *test, uint64 seed)
{
	clock_t		start = clock();

	test_failures = 0;
	test_seed(seed);
	if (begin_emulated_test != NULL)
		begin_emulated_test((unsigned) seed);
	test->run();
	printf("%-6s %-26s", test_failures ? "FAILED" : "ok", test->name);
	if (test_choose_variant != NULL)
		printf(" variant %d", test_variant);
	printf("  %.2f s\n", (double) (clock() - start) / CLOCKS_PER_SEC);
	fflush(stdout);
	return test_failures == 0;
}

static void
run_cases(const GpbDeviceApi *api, uint64 seed, char **chosen, int *passed, int *failed)
{
	const TestCase *test;

	test_open(&test_device, api, 0);
	for (test = first_case; test != NULL; test = test->next)
	{
		if (is_chosen(test->name, chosen) && (test_variant == 0 || !test->once))
			++*(run_case(test, seed) ? passed : failed);
	}
	test_close(&test_device);
}

/* Has the library a variant of that number?  The host device has none but 0. */
static bool
has_variant(const GpbDeviceApi *api, int variant)
{
	GpbDevice  *device;
	const char *message;
	bool		has;

	if (variant == 0 || test_choose_variant == NULL)
		return variant == 0;
	if (api->open(0, 0, 1, &device, &message) != GPB_DEVICE_OK)
		return false;
	has = test_choose_variant(device, variant);
	api->close(device);
	return has;
}

int
main(int argc, char **argv)
{
	const GpbDeviceApi *api = argc > 1 ? load_device(argv[1]) : NULL;
	uint64		seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	int			passed = 0;
	int			failed = 0;

	if (api == NULL || api->abi != GPB_DEVICE_ABI)
	{
		printf("no such device; usage: %s host|LIBRARY [seed [test...]]\n", argv[0]);
		printf("0 passed, 1 failed\n");
		return 1;
	}
	printf("device \"%s\", seed %lu\n", api->name, seed);
	for (test_variant = 0; has_variant(api, test_variant); test_variant++)
		run_cases(api, seed, argc > 3 ? argv + 3 : argv + argc, &passed, &failed);
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0;
}
