/*-------------------------------------------------------------------------
 *
 * program_ask.c
 *	  Requests with programs, whose answers, groups and lists are held to the model.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "program_builder.h"
#include "program_model.h"

#define GUARD		64			/* bytes behind the answers */

/* ---- comparing ---- */

uint64		test_narrow_requests;

static void
compare_program_answers(const TestProgramAnswers *expected, const int64 *answers)
{
	int			words = expected->format.words;
	uint64		i;

	for (i = 0; i < expected->nanswers * words; i++)
	{
		if (answers[i] == expected->answers[i])
			continue;
		CHECK(false, "answer %lu of %lu differs in word %lu of %d: %ld for %ld", i / words,
			  expected->nanswers, i % words, words, answers[i], expected->answers[i]);
		return;
	}
}

/* The groups that a request left, with wide sums; to be given back */
static char *
fetch_groups(int channel, const GpbRangesSpec *spec, const TestProgramAnswers *expected)
{
	GpbAnswerFormat format;
	char	   *groups;
	char	   *wide;
	int			width;
	uint64		i;

	gpb_answer_format(&spec->program, &format);
	width = gpb_group_width(&spec->program, &format);
	groups = test_fetch(channel, GPB_FETCH_GROUPS, expected->ngroups, width);
	if (!spec->program.narrow_sums)
		return groups;
	wide = malloc(expected->ngroups * expected->group_width + 1);
	for (i = 0; i < expected->ngroups; i++)
	{
		GpbGroup   *group = (GpbGroup *) (wide + i * expected->group_width);

		memcpy(group, groups + i * width, width);
		gpb_answer_widen(&format, &expected->format, group->words + spec->program.ngroups);
	}
	free(groups);
	return wide;
}

static void
compare_program_groups(int channel, const GpbRangesSpec *spec, const TestProgramAnswers *expected)
{
	int			width = expected->group_width;
	char	   *groups = fetch_groups(channel, spec, expected);
	uint64		differing = 0;
	uint64		i;

	test_sort_groups(&spec->program, groups, expected->ngroups, width);
	for (i = 0; i < expected->ngroups; i++)
		differing += memcmp(groups + i * width, expected->groups + i * width, width) != 0;
	CHECK(differing == 0, "%lu of %lu groups differ", differing, expected->ngroups);
	free(groups);
}

/* The entries to be checked, by TID and number alone: test_finish() compares all of them. */
static void
compare_listed(const TestMirror *mirror, int channel, const TestExpected *expected)
{
	int			width = test_entry_width(&mirror->index->layout);
	char	   *entries = test_fetch(channel, GPB_FETCH_ENTRIES, expected->nentries, width);
	uint64		sum = 0;
	uint64		expected_sum = 0;
	uint64		i;

	for (i = 0; i < expected->nentries; i++)
	{
		const GpbRangeEntry *entry = (const GpbRangeEntry *) (entries + i * width);
		const GpbRangeEntry *other = (const GpbRangeEntry *) (expected->entries + i * width);

		sum += (gpb_row_locator(entry->row) & GPB_TID_MASK) * (entry->number + 1);
		expected_sum += (gpb_row_locator(other->row) & GPB_TID_MASK) * (other->number + 1);
	}
	CHECK(sum == expected_sum, "%lu entries to be checked differ", expected->nentries);
	free(entries);
}

/*
 * The list has what it must, in order, and no more: of the rest only what counts as NULL does,
 * where that may be the limit's last.
 */
static void
compare_list(const TestMirror *mirror, int channel, const GpbRangesSpec *spec,
			 const void *ranges, const GpbRangesResult *result)
{
	TestListModel *model = test_model_list(mirror, spec, ranges);
	const TestExpected *listed = model->listed;
	int			width = test_entry_width(&mirror->index->layout);
	char	   *entries = test_fetch(channel, GPB_FETCH_ENTRIES, result->entries, width);
	uint64		missing = 0;
	uint64		at = 0;
	uint64		i;

	CHECK(result->faults == 0 && result->leaves == listed->leaves &&
		  result->unclean == listed->npieces, "%lu faults, %lu leaves for %lu, %lu pieces for %lu",
		  result->faults, result->leaves, listed->leaves, result->unclean, listed->npieces);
	for (i = 0; i < listed->nentries; i++)
	{
		if (at < result->entries &&
			memcmp(entries + at * width, listed->entries + i * width, width) == 0)
			at++;
		else
			missing += model->required[i];
	}
	CHECK(missing == 0, "%lu of %lu entries to be listed are missing", missing, model->nrequired);
	CHECK(at == result->entries, "entry %lu of %lu is not one to be listed", at, result->entries);
	CHECK(at <= model->nrequired + model->nextreme, "%lu entries where %lu are wanted of %lu", at,
		  model->nrequired, listed->nentries);
	free(entries);
	test_list_model_free(model);
}

void
test_compare_program(const TestMirror *mirror, int channel, const GpbRangesSpec *spec,
					 const void *ranges, const GpbRangesResult *result, const int64 *answers)
{
	TestProgramAnswers *expected = test_model_program(mirror, spec, ranges);
	TestExpected *listed = test_expect(mirror->index, spec, ranges, mirror->visible);

	bool		unheld = spec->program.narrow_sums && expected->unheld > 0;

	/* Where there are both, either ends the work. */
	if (unheld && expected->faults > 0)
		CHECK(result->faults + result->unheld > 0, "neither a fault nor a value that is not held");
	else
		CHECK((result->faults != 0) == (expected->faults != 0) &&
			  (result->unheld != 0) == unheld, "%lu faults for %lu, %lu values not held for %lu",
			  result->faults, expected->faults, result->unheld, expected->unheld);
	if (expected->faults == 0 && result->faults == 0 && !unheld && result->unheld == 0)
	{
		test_narrow_requests += spec->program.narrow_sums;
		CHECK(result->leaves == listed->leaves, "%lu leaves for %lu", result->leaves,
			  listed->leaves);
		CHECK(result->unclean == listed->npieces, "%lu pieces for %lu", result->unclean,
			  listed->npieces);
		CHECK(result->entries == listed->nentries, "%lu entries for %lu", result->entries,
			  listed->nentries);
		CHECK(result->groups == expected->ngroups, "%lu groups for %lu", result->groups,
			  expected->ngroups);
		compare_program_answers(expected, answers);
		if (result->groups == expected->ngroups)
			compare_program_groups(channel, spec, expected);
		if (result->entries == listed->nentries)
			compare_listed(mirror, channel, listed);
	}
	test_expected_free(listed);
	test_program_answers_free(expected);
}

/* Does the request give what the model says?  Returns its faults. */
static uint64
ask_once(TestMirror *mirror, const GpbRangesSpec *spec, const void *ranges)
{
	GpbAnswerFormat format;
	GpbRangesResult result = {0, 0, 0, 0, 0, 0};
	int			channel = (int) test_below(TEST_CHANNELS);
	size_t		bytes;
	char	   *answers;
	GpbDeviceStatus status;
	int			i;

	gpb_answer_format(&spec->program, &format);
	bytes = (size_t) gpb_count_answers(spec) * gpb_answer_width(&format);
	answers = malloc(bytes + GUARD);
	memset(answers, 0x77, bytes + GUARD);
	status = test_launch_at(mirror, channel, spec, ranges, bytes > 0 ? answers : NULL);
	if (status == GPB_DEVICE_OK)
		status = test_device.api->ranges_finish(test_device.device, channel, &result);
	CHECK(status == GPB_DEVICE_OK, "status %d: %s", status,
		  test_device.api->last_error(test_device.device));
	for (i = 0; i < GUARD; i++)
		CHECK(answers[bytes + i] == 0x77, "byte %d behind the answers written", i);
	if (status == GPB_DEVICE_OK && spec->program.list_entries)
		compare_list(mirror, channel, spec, ranges, &result);
	else if (status == GPB_DEVICE_OK)
		test_compare_program(mirror, channel, spec, ranges, &result, (const int64 *) answers);
	test_requests_end();
	free(answers);
	return result.faults;
}

/*
 * Ask a program, and compare what comes with the model; a request for groups is also asked with
 * narrow sums.  Returns the number of faults.
 */
uint64
test_ask_program(TestMirror *mirror, const GpbRangesSpec *spec, const void *ranges)
{
	GpbRangesSpec narrow = *spec;
	uint64		faults = ask_once(mirror, spec, ranges);

	narrow.program.narrow_sums = spec->program.ngroups > 0;
	if (narrow.program.narrow_sums)
		(void) ask_once(mirror, &narrow, ranges);
	return faults;
}

/* ---- mirrors ---- */

/* Values that seldom make a step fault; a column of few values to group by */
static int64
small_value(int column, uint32 i)
{
	if (column == 3)
		return gpb_float_bits((double) (int64) (test_below(2000)) / 8 - 100);
	return column == 1 ? (int64) test_below(5) : (int64) test_below(200) - 100;
}

TestMirror *
test_mirror_of_layout(const GpbLayout *layout, uint32 nentries, bool odd)
{
	TestShape	shape;
	TestMirror *mirror;

	memset(&shape, 0, sizeof(shape));
	shape.layout = *layout;
	shape.nentries = nentries;
	shape.leaf_entries = test_once_in(2) ? 60 : 0;
	shape.distinct_keys = test_once_in(2) ? nentries / 8 + 1 : nentries;
	shape.null_keys = layout->nkeys == 0 && test_once_in(2) ? 20 : 0;
	shape.null_values = test_once_in(3) ? 0 : 10;
	shape.dead = 15;
	shape.empty_leaves = 15;
	shape.value = odd ? NULL : small_value;
	mirror = test_filled(&shape);
	if (test_once_in(2))
		test_random_visible(mirror, 10);
	return mirror;
}

const int	test_small_kinds[] = {GPB_KIND_INT4, GPB_KIND_INT2, GPB_KIND_INT8, GPB_KIND_FLOAT8};

TestMirror *
test_small_mirror(uint32 nentries, bool odd)
{
	GpbLayout	layout = test_layout(test_once_in(2) ? 8 : 4, (int) test_below(4), 4,
									 test_small_kinds);

	return test_mirror_of_layout(&layout, nentries, odd);
}

/* One range over all, or many: an answer each or one of them all, or groups of these */
void
test_ask_program_forms(TestMirror *mirror, GpbRangesSpec *spec)
{
	void	   *ranges;

	spec->form = (GpbRangeForm) test_below(3);
	spec->n = 1 + (uint32) test_below(60);
	spec->total = !spec->program.list_entries && spec->program.ngroups == 0 && test_once_in(2);
	ranges = test_random_ranges(mirror, spec, mirror->index->nentries / 4);
	(void) test_ask_program(mirror, spec, ranges);
	free(ranges);
	spec->form = GPB_RANGE_BOUNDS;
	spec->n = 1;
	spec->total = false;
	(void) test_ask_program(mirror, spec, test_whole_of(mirror));
}
