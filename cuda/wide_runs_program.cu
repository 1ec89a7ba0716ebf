/*-------------------------------------------------------------------------
 *
 * wide_runs_program.cu
 *	  ranges_program.cu for keys of 16 bytes, in leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide_runs.cuh"

#include "ranges_program.cu"
