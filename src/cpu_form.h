/*-------------------------------------------------------------------------
 *
 * cpu_form.h
 *	  Loops in several forms: with the widest instructions that this CPU has.
 *
 * Plain C, free of PostgreSQL headers.  Some loops exist in up to three forms, AVX-512, AVX2 and
 * what the compiler builds for any CPU, all of which give the same.  Which one runs is decided when
 * the library is loaded, by what the CPU reports, so a library built anywhere runs anywhere.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CPU_FORM_H
#define GPB_CPU_FORM_H

#include "layout.h"

typedef enum GpbCpuForm
{
	GPB_CPU_PLAIN,
	GPB_CPU_AVX2,
	GPB_CPU_AVX512,
	GPB_CPU_FORMS
} GpbCpuForm;

#if defined(__x86_64__) && defined(__GNUC__)
#define GPB_HAVE_X86_FORMS

#include <immintrin.h>

#define GPB_TARGET_AVX2		__attribute__((target("avx2")))
#define GPB_FN_AVX2			static inline __attribute__((always_inline, target("avx2")))
#define GPB_TARGET_AVX512	__attribute__((target("avx512f,avx2")))
#define GPB_FN_AVX512		static inline __attribute__((always_inline, target("avx512f,avx2")))

/*
 * What there is in each form, by GpbCpuForm.  Loops that have no form of their own for AVX-512 give
 * that of AVX2.
 */
#define GPB_FORMS(plain, avx2, avx512)	{plain, avx2, avx512}
#else
#define GPB_FORMS(plain, avx2, avx512)	{plain}
#endif

/* The form in use: the widest that the CPU has */
extern GpbCpuForm gpb_cpu_form __attribute__((visibility("hidden")));

/*
 * Use this form from now on, where tests do not want the widest.  Returns false if the CPU, or the
 * build, lacks it.
 */
extern bool gpb_cpu_force(GpbCpuForm form);

/* Its name: "AVX-512", "AVX2" or "plain". */
extern const char *gpb_cpu_form_name(void);

#endif							/* GPB_CPU_FORM_H */
