/*-------------------------------------------------------------------------
 *
 * wide_runs_positions.cu
 *	  positions.cu for keys of 16 bytes, in leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide_runs.cuh"

#include "positions.cu"
