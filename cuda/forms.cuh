/*-------------------------------------------------------------------------
 *
 * forms.cuh
 *	  The forms of the kernels that look at leaves, each a namespace.
 *
 * A source that looks at leaves is compiled once for each form, so that its kernels have keys of
 * one type (layout.h), know whether leaves may have runs, and none pays for the others.  The
 * Makefile lists these sources (CUDA_FORMED) and gives each form its macros:
 *
 *		gpb_narrow		keys of 4 or 8 bytes, no leaf has runs
 *		gpb_wide		GPB_CUDA_WIDE: keys of 16 bytes
 *		gpb_runs		GPB_CUDA_RUNS: rows have 8 bytes, and leaves may have runs
 *		gpb_wide_runs	both
 *
 * Leaves of a mirror may have runs once an image of one came that has (mirror.cu).  A request
 * keeps the form that it began with: later images are not clean for it.  ranges_columns.cu reads
 * INCLUDE columns, so none of its leaves has runs, and it has the first two forms alone.
 *
 * What such a source defines for others is in the namespace of its form, GPB_FORM, and declared for
 * all forms in one place.  All that the host and the kernels share has the same bytes in each; of a
 * place, GpbRangePlace, only kernels of one form know.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_FORMS_CUH
#define GPB_FORMS_CUH

#if defined(GPB_CUDA_WIDE) && defined(GPB_CUDA_RUNS)
#define GPB_FORM	gpb_wide_runs
#elif defined(GPB_CUDA_WIDE)
#define GPB_FORM	gpb_wide
#elif defined(GPB_CUDA_RUNS)
#define GPB_FORM	gpb_runs
#else
#define GPB_FORM	gpb_narrow
#endif

#define GPB_KERNEL_FORMS		4

/* DECLARE(form) for each of them, in the order of gpb_kernel_form() */
#define GPB_FOR_FORMS(DECLARE) \
	DECLARE(gpb_narrow) \
	DECLARE(gpb_wide) \
	DECLARE(gpb_runs) \
	DECLARE(gpb_wide_runs)

/* The form for leaves with keys of so many bytes, which may have runs or have none */
static inline int
gpb_kernel_form(int key_width, bool runs)
{
	return (key_width == GPB_WIDE_KEY ? 1 : 0) + (runs ? 2 : 0);
}

#endif							/* GPB_FORMS_CUH */
