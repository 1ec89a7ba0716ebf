/*-------------------------------------------------------------------------
 *
 * runs_columns.cu
 *	  ranges_columns.cu for leaves that may have runs; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "runs.cuh"

#include "ranges_columns.cu"
