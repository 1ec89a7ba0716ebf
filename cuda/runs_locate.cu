/*-------------------------------------------------------------------------
 *
 * runs_locate.cu
 *	  ranges_locate.cu for leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "runs.cuh"

#include "ranges_locate.cu"
