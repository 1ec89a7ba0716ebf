/*-------------------------------------------------------------------------
 *
 * runs_short.cu
 *	  ranges_short.cu for leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "runs.cuh"

#include "ranges_short.cu"
