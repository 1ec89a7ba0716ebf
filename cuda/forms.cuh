/*-------------------------------------------------------------------------
 *
 * forms.cuh
 *	  The names of the kernels of ranges and positions where they are compiled once more: for keys
 *	  of 16 bytes, for leaves that may have runs, and for both.
 *
 * A kernel that looks at leaves is compiled four times, so that each has keys of one type
 * (layout.h), knows whether leaves may have runs, and none pays for the others: ranges_X.cu is
 * compiled as it is, and by way of wide_X.cu, runs_X.cu and wide_runs_X.cu; so is positions.cu.
 * Leaves of a mirror may have runs once an image of one came that has (mirror.cu).  A request
 * keeps the form that it began with: later images are not clean for it.  ranges_columns.cu,
 * which reads INCLUDE columns, is there for both types alone.  What all define has other names
 * there.  All that the host and the kernels share has the same bytes in each; of a place,
 * GpbRangePlace, only kernels of one form know.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_FORMS_CUH
#define GPB_FORMS_CUH

#if defined(GPB_CUDA_WIDE) && defined(GPB_CUDA_RUNS)
#define GPB_FORM_NAME(name)	name ## _wide_runs
#elif defined(GPB_CUDA_WIDE)
#define GPB_FORM_NAME(name)	name ## _wide
#else
#define GPB_FORM_NAME(name)	name ## _runs
#endif

#define gpb_lower_bounds_launch  GPB_FORM_NAME(gpb_lower_bounds_launch)
#define gpb_summary_launch       GPB_FORM_NAME(gpb_summary_launch)
#define gpb_prepare_launch       GPB_FORM_NAME(gpb_prepare_launch)
#define gpb_locate_launch        GPB_FORM_NAME(gpb_locate_launch)
#define gpb_positions_launch     GPB_FORM_NAME(gpb_positions_launch)
#define gpb_normalize_launch     GPB_FORM_NAME(gpb_normalize_launch)
#define gpb_single_range         GPB_FORM_NAME(gpb_single_range)
#define gpb_short_kernels        GPB_FORM_NAME(gpb_short_kernels)
#define gpb_short_grid           GPB_FORM_NAME(gpb_short_grid)
#define gpb_long_kernels         GPB_FORM_NAME(gpb_long_kernels)
#define gpb_list_kernels         GPB_FORM_NAME(gpb_list_kernels)
#define gpb_judged_kernels       GPB_FORM_NAME(gpb_judged_kernels)
#define gpb_begin_ranks_launch   GPB_FORM_NAME(gpb_begin_ranks_launch)
#define gpb_choose_rank_launch   GPB_FORM_NAME(gpb_choose_rank_launch)
#define gpb_program_kernels      GPB_FORM_NAME(gpb_program_kernels)
#define gpb_groups_kernels       GPB_FORM_NAME(gpb_groups_kernels)
#define gpb_columns_kernels      GPB_FORM_NAME(gpb_columns_kernels)
#define gpb_columns_kernel       GPB_FORM_NAME(gpb_columns_kernel)
#define gpb_clear_copies_launch  GPB_FORM_NAME(gpb_clear_copies_launch)
#define gpb_merge_copies_launch  GPB_FORM_NAME(gpb_merge_copies_launch)
#define gpb_finish_groups_launch GPB_FORM_NAME(gpb_finish_groups_launch)

#endif							/* GPB_FORMS_CUH */
