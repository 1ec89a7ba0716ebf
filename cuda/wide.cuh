/*-------------------------------------------------------------------------
 *
 * wide.cuh
 *	  What wide_*.cu include first: keys have 16 bytes; see forms.cuh.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_WIDE_CUH
#define GPB_WIDE_CUH

#define GPB_CUDA_WIDE

#include "forms.cuh"

#endif							/* GPB_WIDE_CUH */
