/*-------------------------------------------------------------------------
 *
 * balance.c
 *	  Tests of mirror/balance.h: the discovery algorithm against devices and CPUs of given speeds.
 *
 * usage: balance_test; ends with "N passed, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "mirror/balance.h"
#include "verdict.h"

/* Costs of one key: on the device; on the CPU for the leaf, and for finding it */
typedef struct Machine
{
	double		device;
	double		leaf;
	double		inner;
} Machine;

static double
share_of(GpbBalance balance)
{
	return (double) balance.share / GPB_SHARE_ALL;
}

static GpbBalance
sample(Machine machine, GpbBalance balance)
{
	double		share = share_of(balance);

	return gpb_balance_next(balance, (1 - share) * machine.device,
							machine.leaf + share * machine.inner);
}

/* What a key costs when both work at the same time */
static double
cost(Machine machine, double share)
{
	double		device = (1 - share) * machine.device;
	double		cpu = machine.leaf + share * machine.inner;

	return device > cpu ? device : cpu;
}

/* Discover the balance; is it as good as the best share, but for the last step's width? */
static bool
finds_best(Machine machine)
{
	GpbBalance	balance = {0};
	double		best = cost(machine, 0);
	double		width = 1.0 / 16;
	int			i;

	for (i = 1; i <= GPB_SHARE_ALL; i++)
	{
		double		other = cost(machine, (double) i / GPB_SHARE_ALL);

		best = other < best ? other : best;
	}
	for (i = 0; balance.step != GPB_BALANCE_FOUND; i++)
	{
		balance = sample(machine, balance);
		if (i > 6 || balance.share > GPB_SHARE_ALL)
			return false;
	}
	return cost(machine, share_of(balance)) <= best + width * (machine.device + machine.inner);
}

/* Whatever the samples say, it ends, within 0 and 1. */
static bool
stays_within_bounds(void)
{
	unsigned int answers;

	for (answers = 0; answers < 64; answers++)
	{
		GpbBalance	balance = {0};
		int			i;

		for (i = 0; balance.step != GPB_BALANCE_FOUND; i++)
		{
			balance = gpb_balance_next(balance, (answers >> i) & 1, 0.5);
			if (i > 5 || balance.share > GPB_SHARE_ALL)
				return false;
		}
	}
	return true;
}

/* What was found holds for a while, then is looked for anew. */
static bool
is_found_again(void)
{
	Machine		slow = {10, 1, 1};
	Machine		fast = {0.1, 1, 1};
	GpbBalance	balance = {0};
	uint16		found;
	int			i;

	while (balance.step != GPB_BALANCE_FOUND)
		balance = sample(slow, balance);
	found = balance.share;
	for (i = 1; i < GPB_BALANCE_AGAIN; i++)
		balance = sample(fast, balance);
	if (found < GPB_SHARE_ALL / 2 || balance.share != found)
		return false;
	balance = sample(fast, balance);
	balance = sample(fast, balance);
	return balance.step == GPB_BALANCE_FOUND && balance.share == 0;
}

int
main(void)
{
	Machine		fast = {0.1, 1, 0.5};
	Machine		equal = {2, 1, 1};
	Machine		slow = {20, 1, 0.2};
	Machine		hopeless = {1000, 1, 0.2};
	GpbBalance	balance = sample(fast, (GpbBalance) {0});

	verdict(balance.step == GPB_BALANCE_FOUND && balance.share == 0,
			"a fast device gets all keys, after one sample");
	verdict(finds_best(fast) && finds_best(equal) && finds_best(slow) && finds_best(hopeless),
			"the share found is the best but for the last step");
	verdict(stays_within_bounds(), "it ends, within 0 and 1, whatever the samples");
	verdict(is_found_again(), "it is looked for again now and then");
	return print_sums();
}
