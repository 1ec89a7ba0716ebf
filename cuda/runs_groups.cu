/*-------------------------------------------------------------------------
 *
 * runs_groups.cu
 *	  ranges_groups.cu for leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "runs.cuh"

#include "ranges_groups.cu"
