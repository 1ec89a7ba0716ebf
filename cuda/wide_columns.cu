/*-------------------------------------------------------------------------
 *
 * wide_columns.cu
 *	  Programs that group by a narrow column, for keys of 16 bytes; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "wide.cuh"

#include "ranges_columns.cu"
