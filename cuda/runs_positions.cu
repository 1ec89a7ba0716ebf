/*-------------------------------------------------------------------------
 *
 * runs_positions.cu
 *	  positions.cu for leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "runs.cuh"

#include "positions.cu"
