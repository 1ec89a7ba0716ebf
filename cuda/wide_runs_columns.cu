/*-------------------------------------------------------------------------
 *
 * wide_runs_columns.cu
 *	  ranges_columns.cu for keys of 16 bytes, in leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide_runs.cuh"

#include "ranges_columns.cu"
