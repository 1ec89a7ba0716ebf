/*-------------------------------------------------------------------------
 *
 * cpu_form.c
 *	  Loops in several forms: which one this CPU has.
 *
 *-------------------------------------------------------------------------
 */
#include "cpu_form.h"

int			gpb_cpu_form_in_use = -1;

bool
gpb_cpu_force(GpbCpuForm form)
{
#ifdef GPB_HAVE_X86_FORMS
	if (form >= GPB_CPU_AVX2 && !__builtin_cpu_supports("avx2"))
		return false;
	if (form >= GPB_CPU_AVX512 && !__builtin_cpu_supports("avx512f"))
		return false;
#else
	if (form != GPB_CPU_PLAIN)
		return false;
#endif
	gpb_cpu_form_in_use = form;
	return true;
}

const char *
gpb_cpu_form_name(void)
{
	static const char *const names[GPB_CPU_FORMS] = {"plain", "AVX2", "AVX-512"};

	return names[gpb_cpu_form()];
}
