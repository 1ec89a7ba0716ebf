/*-------------------------------------------------------------------------
 *
 * runs_list.cu
 *	  ranges_list.cu for leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "runs.cuh"

#include "ranges_list.cu"
