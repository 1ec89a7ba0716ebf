/*-------------------------------------------------------------------------
 *
 * node_private.h
 *	  A plan node's private data as a List that core can copy, write and read.
 *
 * Core copies plans, sends them to parallel workers and keeps them in its cache, so what a node
 * needs at execution must be a List of nodes that core knows.  Here it is a List of Strings and of
 * integer Lists, each of which has the numbers up to the next String: to make, and to copy, a node
 * for each number took several times as long.  Each kind of node has a struct of named fields and,
 * side by side in one file, a function that puts the fields into the List and one that gets them
 * out in the same order; nothing else looks into the List.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_NODE_PRIVATE_H
#define GPB_NODE_PRIVATE_H

#include "postgres.h"
#include "nodes/pg_list.h"
#include "nodes/value.h"

/* Append a number, a boolean or a member of an enum to the list. */
static inline void
gpb_put_int(List **private, int value)
{
	if (*private != NIL && IsA(llast(*private), IntList))
		llast(*private) = lappend_int(llast(*private), value);
	else
		*private = lappend(*private, list_make1_int(value));
}

/* Append an OID to the list. */
static inline void
gpb_put_oid(List **private, Oid oid)
{
	gpb_put_int(private, (int) oid);
}

/* Append a copy of the text to the list; NULL becomes the empty text. */
static inline void
gpb_put_text(List **private, const char *text)
{
	*private = lappend(*private, makeString(pstrdup(text != NULL ? text : "")));
}

/* Append a list of nodes that hold nothing of a table or a parameter, which may be NIL. */
static inline void
gpb_put_nodes(List **private, List *nodes)
{
	*private = lappend(*private, list_make1(nodes));
}

/* A position in a private list: what is got next.  Begins with the list, and zero behind it. */
typedef struct GpbPrivateReader
{
	const List *private;
	int			next;
	const List *numbers;		/* the integer List before that, until a text is got; or NULL */
	int			number;			/* of these, what is got next */
} GpbPrivateReader;

/* Get what gpb_put_int() appended. */
static inline int
gpb_get_int(GpbPrivateReader *reader)
{
	if (reader->numbers == NULL)
	{
		reader->numbers = list_nth(reader->private, reader->next++);
		reader->number = 0;
	}
	return list_nth_int(reader->numbers, reader->number++);
}

/* Get what gpb_put_oid() appended. */
static inline Oid
gpb_get_oid(GpbPrivateReader *reader)
{
	return (Oid) gpb_get_int(reader);
}

/* Get what gpb_put_text() appended, which belongs to the plan; NULL if it is empty. */
static inline const char *
gpb_get_text(GpbPrivateReader *reader)
{
	const char *text = strVal(list_nth(reader->private, reader->next++));

	reader->numbers = NULL;
	return text[0] != '\0' ? text : NULL;
}

/* Get what gpb_put_nodes() appended, which belongs to the plan. */
static inline List *
gpb_get_nodes(GpbPrivateReader *reader)
{
	reader->numbers = NULL;
	return linitial(list_nth(reader->private, reader->next++));
}

#endif							/* GPB_NODE_PRIVATE_H */
