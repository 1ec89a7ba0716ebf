/*-------------------------------------------------------------------------
 *
 * runs_program.cu
 *	  ranges_program.cu for leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "runs.cuh"

#include "ranges_program.cu"
