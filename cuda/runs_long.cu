/*-------------------------------------------------------------------------
 *
 * runs_long.cu
 *	  ranges_long.cu for leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "runs.cuh"

#include "ranges_long.cu"
