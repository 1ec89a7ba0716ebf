/*-------------------------------------------------------------------------
 *
 * wide_runs_locate.cu
 *	  ranges_locate.cu for keys of 16 bytes, in leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide_runs.cuh"

#include "ranges_locate.cu"
