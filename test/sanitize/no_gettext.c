/*-------------------------------------------------------------------------
 *
 * no_gettext.c
 *	  Messages stay untranslated: preloaded beside AddressSanitizer's library.
 *
 * With that library preloaded, a library that libldap brings along leaves libc's lock on the tables
 * of translations in disorder before main() begins, and the server's first bindtextdomain() waits
 * for it for ever.
 *
 *-------------------------------------------------------------------------
 */
#include <stddef.h>

char *bindtextdomain(const char *domain, const char *directory);
char *bind_textdomain_codeset(const char *domain, const char *codeset);
char *textdomain(const char *domain);
char *gettext(const char *message);
char *dgettext(const char *domain, const char *message);
char *dcgettext(const char *domain, const char *message, int category);
char *ngettext(const char *one, const char *many, unsigned long n);
char *dngettext(const char *domain, const char *one, const char *many, unsigned long n);

char *
bindtextdomain(const char *domain, const char *directory)
{
	return (char *) directory;
}

char *
bind_textdomain_codeset(const char *domain, const char *codeset)
{
	return (char *) codeset;
}

char *
textdomain(const char *domain)
{
	return (char *) domain;
}

char *
gettext(const char *message)
{
	return (char *) message;
}

char *
dgettext(const char *domain, const char *message)
{
	return (char *) message;
}

char *
dcgettext(const char *domain, const char *message, int category)
{
	return (char *) message;
}

char *
ngettext(const char *one, const char *many, unsigned long n)
{
	return (char *) (n == 1 ? one : many);
}

char *
dngettext(const char *domain, const char *one, const char *many, unsigned long n)
{
	return (char *) (n == 1 ? one : many);
}
