/*-------------------------------------------------------------------------
 *
 * runs_judged.cu
 *	  ranges_judged.cu for leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "runs.cuh"

#include "ranges_judged.cu"
