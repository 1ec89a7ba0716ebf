/*-------------------------------------------------------------------------
 *
 * program_sums.c
 *	  Tests of narrow sums of floats, beside wide ones.
 *
 *-------------------------------------------------------------------------
 */
#include "program/narrow_scatter.h"
#include "program_tests.h"

/* The number that a narrow sum is, as a wide one */
static GpbFloatSum
widened(const GpbNarrowSum *sum)
{
	GpbNarrowSum copy = *sum;
	GpbFloatSum wide;

	gpb_narrow_sum_normalize(&copy);
	gpb_narrow_sum_widen(&copy, &wide);
	return wide;
}

/* Values at the ends of what a narrow sum holds, and next to these */
void
test_narrow_ends(void)
{
	static const struct
	{
		double		value;
		bool		held;
	}			cases[] = {
		{0, true}, {-0.0, true}, {0x1p-126, true}, {-0x1p-126, true}, {0x1.fffffffffffffp-127, false},
		{0x1p-1074, false}, {-0x1p-1074, false}, {0x1p-1022, false}, {0x1.fffffffffffffp65, true},
		{-0x1.fffffffffffffp65, true}, {0x1p66, false}, {-0x1p66, false}, {0x1p1023, false},
		{INFINITY, false}, {-INFINITY, false}, {NAN, false}, {1, true}, {-1, true}
	};
	bool		ok = true;
	int			i;

	for (i = 0; i < LENGTH(cases); i++)
	{
		int64		bits = gpb_float_bits(cases[i].value);
		int64		words[3] = {gpb_float_bits(1), bits, 0};
		GpbNarrowSum narrow;
		GpbFloatSum wide;
		GpbFloatSum other;

		memset(&narrow, 0, sizeof(narrow));
		memset(&wide, 0, sizeof(wide));
		ok &= gpb_narrow_sum_holds(bits) == cases[i].held;
		ok &= gpb_narrow_holds_all(words, 3) == cases[i].held;
		ok &= gpb_narrow_sum_add(&narrow, bits) == cases[i].held;
		if (!cases[i].held)
			continue;
		gpb_float_sum_add(&wide, bits);
		gpb_float_sum_normalize(&wide);
		other = widened(&narrow);
		ok &= memcmp(&wide, &other, sizeof(wide)) == 0;
		memset(&narrow, 0, sizeof(narrow));
		gpb_narrow_add(&bits, 1, narrow.bin);
		other = widened(&narrow);
		ok &= memcmp(&wide, &other, sizeof(wide)) == 0;
	}
	verdict_of_form(ok, "the ends of what a narrow sum holds");
}

/* Sums of many values in several answers, added in strips, one by one, and merged */
void
test_narrow_sums(void)
{
	bool		ok = true;
	int			round;
	int			i;
	int			t;

	held_floats = true;
	for (round = 0; round < 200; round++)
	{
		int64		words[3][100];
		int64		answer[4][1 + 3 + 3 * GPB_NARROW_SUM_WORDS] = {{0}};
		int64	   *answers[100];
		GpbNarrowTerm terms[3];
		GpbFloatSum wide[4][3];
		int			n = 1 + below(100);

		memset(wide, 0, sizeof(wide));
		for (i = 0; i < n; i++)
		{
			int			which = below(4);

			answers[i] = answer[which];
			for (t = 0; t < 3; t++)
			{
				words[t][i] = random_word(FLOAT);
				gpb_float_sum_add(&wide[which][t], words[t][i]);
			}
		}
		for (t = 0; t < 3; t++)
			terms[t] = (GpbNarrowTerm) {words[t], 4 + t * GPB_NARROW_SUM_WORDS, 1 + t};
		gpb_narrow_scatter(terms, 3, n, answers);
		for (i = 0; i < 4; i++)
		{
			for (t = 0; t < 3; t++)
			{
				GpbFloatSum other = widened((GpbNarrowSum *) (answer[i] + terms[t].sum));

				ok &= answer[i][1 + t] == wide[i][t].pending;
				gpb_float_sum_normalize(&wide[i][t]);
				ok &= memcmp(&wide[i][t], &other, sizeof(other)) == 0;
			}
		}
		/* all into one, by two ways */
		for (t = 0; t < 3; t++)
		{
			GpbNarrowSum all;
			GpbNarrowSum merged;
			GpbFloatSum other;

			memset(&all, 0, sizeof(all));
			memset(&merged, 0, sizeof(merged));
			gpb_narrow_add(words[t], n, all.bin);
			for (i = 0; i < 4; i++)
			{
				GpbNarrowSum *sum = (GpbNarrowSum *) (answer[i] + terms[t].sum);

				gpb_narrow_sum_normalize(sum);
				gpb_narrow_sum_merge(&merged, sum);
				if (i > 0)
					gpb_float_sum_merge(&wide[0][t], &wide[i][t]);
			}
			other = widened(&all);
			gpb_narrow_sum_normalize(&all);
			ok &= memcmp(&all, &merged, sizeof(all)) == 0;
			ok &= memcmp(&wide[0][t], &other, sizeof(other)) == 0;
		}
	}
	held_floats = false;
	verdict_of_form(ok, "narrow sums of many values");
}

/* An answer's sums carry when its entries pass a multiple of GPB_CARRY_VALUES, and not before. */
void
test_narrow_carry(void)
{
	GpbProgram	program;
	GpbAnswerFormat format;
	GpbStrip	strip;
	int64		words[GPB_STRIP];
	int64		answer[2 + GPB_NARROW_SUM_WORDS];
	int64	   *answers[GPB_STRIP];
	bool		ok = true;
	int			scatter;
	int			i;

	memset(&program, 0, sizeof(program));
	program.layout.ncolumns = 1;
	program.ngroups = program.nterms = 1;
	program.narrow_sums = true;
	program.term[0] = (GpbTerm) {1, GPB_KIND_FLOAT8, GPB_WANT_SUM, GPB_NO_SLOT, 0};
	gpb_answer_format(&program, &format);
	memset(&strip, 0, sizeof(strip));
	strip.program = &program;
	strip.n = 100;
	strip.slot[1].words = words;
	for (i = 0; i < GPB_STRIP; i++)
	{
		words[i] = gpb_float_bits(-1.5);
		answers[i] = answer;
	}
	for (scatter = 0; scatter < 2; scatter++)
	{
		gpb_answer_init(&format, answer);
		answer[0] = answer[1] = 3 * GPB_CARRY_VALUES - 150;
		ok &= scatter ? gpb_terms_scatter(&strip, &format, answers) :
			gpb_terms_add(&strip, &format, answer);
		ok &= answer[format.words - 1] == 0;
		ok &= scatter ? gpb_terms_scatter(&strip, &format, answers) :
			gpb_terms_add(&strip, &format, answer);
		ok &= answer[format.words - 1] == -1;
		for (i = 2; i < format.words - 1; i++)
			ok &= answer[i] >= 0 && answer[i] >> 32 == 0;
	}
	verdict_of_form(ok, "narrow sums carry in time");
}
