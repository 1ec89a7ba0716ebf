/*-------------------------------------------------------------------------
 *
 * wide.cuh
 *	  What wide_*.cu include first: the kernels of ranges and positions once more, for keys of
 *	  16 bytes.
 *
 * A kernel that looks at keys is compiled twice, so that each has keys of one type (layout.h) and
 * neither pays for the other: ranges_X.cu is compiled as it is, and by way of wide_X.cu; so is
 * positions.cu.  What both define has another name there.  All that the host and the kernels share
 * has the same bytes in both.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_WIDE_CUH
#define GPB_WIDE_CUH

#define GPB_CUDA_WIDE

#define gpb_lower_bounds_launch  gpb_lower_bounds_launch_wide
#define gpb_summary_launch       gpb_summary_launch_wide
#define gpb_prepare_launch       gpb_prepare_launch_wide
#define gpb_locate_launch        gpb_locate_launch_wide
#define gpb_positions_launch     gpb_positions_launch_wide
#define gpb_normalize_launch     gpb_normalize_launch_wide
#define gpb_single_range         gpb_single_range_wide
#define gpb_short_kernels        gpb_short_kernels_wide
#define gpb_short_grid           gpb_short_grid_wide
#define gpb_long_kernels         gpb_long_kernels_wide
#define gpb_list_kernels         gpb_list_kernels_wide
#define gpb_judged_kernels       gpb_judged_kernels_wide
#define gpb_begin_ranks_launch   gpb_begin_ranks_launch_wide
#define gpb_choose_rank_launch   gpb_choose_rank_launch_wide
#define gpb_program_kernels      gpb_program_kernels_wide
#define gpb_groups_kernels       gpb_groups_kernels_wide
#define gpb_columns_kernels      gpb_columns_kernels_wide
#define gpb_columns_kernel       gpb_columns_kernel_wide
#define gpb_clear_copies_launch  gpb_clear_copies_launch_wide
#define gpb_merge_copies_launch  gpb_merge_copies_launch_wide
#define gpb_finish_groups_launch gpb_finish_groups_launch_wide

#endif							/* GPB_WIDE_CUH */
