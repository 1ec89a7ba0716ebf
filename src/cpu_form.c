/*-------------------------------------------------------------------------
 *
 * cpu_form.c
 *	  Loops in several forms: which one this CPU has.
 *
 *-------------------------------------------------------------------------
 */
#include "cpu_form.h"

GpbCpuForm	gpb_cpu_form = GPB_CPU_PLAIN;

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
	gpb_cpu_form = form;
	return true;
}

/* Choose when the library is loaded, so that no loop has to ask whether that was done. */
static __attribute__((constructor)) void
choose_form(void)
{
#ifdef GPB_HAVE_X86_FORMS
	__builtin_cpu_init();
#endif
	if (!gpb_cpu_force(GPB_CPU_AVX512))
		(void) gpb_cpu_force(GPB_CPU_AVX2);
}

const char *
gpb_cpu_form_name(void)
{
	static const char *const names[GPB_CPU_FORMS] = {"plain", "AVX2", "AVX-512"};

	return names[gpb_cpu_form];
}
