/*-------------------------------------------------------------------------
 *
 * inspect_draw.c
 *	  gpubtree_tree_dot, gpubtree_tree_svg: an index as a picture.
 *
 * Both draw the pages that gpubtree_tree lists: a box for each page, a line from a page to each of
 * its children, an arrow to the right sibling.  DOT is what Graphviz reads; SVG is complete in
 * itself, and browsers show it.
 *
 *-------------------------------------------------------------------------
 */
#include "sql/inspect.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(gpubtree_tree_dot);
PG_FUNCTION_INFO_V1(gpubtree_tree_svg);

/* Of each level; pages are looked for one after the other, and no picture can show more. */
#define MOST_PAGES_DRAWN	1000

/* ---- what both say of a page ---- */

/* The colour of a page's box: what is unusual about it, else what the mirror has of it */
static const char *
page_color(const GpbTreePage *page)
{
	if (page->fault != NULL)
		return "#f4a6a0";		/* red */
	if (page->gone)
		return "#d0d0d0";		/* grey */
	if (page->incomplete)
		return "#f7d774";		/* yellow */
	if (page->mirror == NULL)
		return "#ffffff";
	if (strcmp(page->mirror, "changed") == 0)
		return "#f8c79a";		/* orange */
	return "#b7e1b0";			/* green */
}

/* The lines of text in a page's box */
#define PAGE_LINES	4

static void
page_lines(const GpbTreePage *page, const char *line[PAGE_LINES])
{
	line[0] = psprintf("block %u", page->block);
	line[1] = line[2] = line[3] = "";
	if (page->fault != NULL)
	{
		line[1] = page->fault;
		return;
	}
	line[1] = psprintf("from %s", page->low != NULL ? page->low : "the start");
	line[2] = page->dead > 0 ?
		psprintf("%d entries, %d dead, %.0f %%", page->entries, page->dead, page->fill) :
		psprintf("%d entries, %.0f %%", page->entries, page->fill);
	if (page->flag_text[0] != '\0' && page->mirror != NULL)
		line[3] = psprintf("%s; %s", page->flag_text, page->mirror);
	else
		line[3] = page->mirror != NULL ? page->mirror : page->flag_text;
}

/* The page among those of the tree with this block on this level, or -1 */
static int
find_page(const GpbTree *tree, int level, BlockNumber block)
{
	int			i;

	for (i = 0; i < tree->count; i++)
	{
		if (tree->pages[i].level == level && tree->pages[i].block == block)
			return i;
	}
	return -1;
}

/* Is page i the last one shown of its level? */
static bool
is_last_shown(const GpbTree *tree, int i)
{
	return i + 1 == tree->count || tree->pages[i + 1].level != tree->pages[i].level;
}

/* Are there pages to the right of page i that are not shown? */
static bool
has_more(const GpbTree *tree, int i)
{
	return tree->pages[i].fault == NULL && tree->pages[i].right != GPB_NO_BLOCK &&
		is_last_shown(tree, i);
}

/*
 * The children of page i that are shown, by their numbers in the tree: *n of them.  They lie on
 * their level in the same order, so each is looked for from where the one before was found.
 */
static int *
children_shown(const GpbTree *tree, int i, int *n)
{
	const GpbTreePage *page = &tree->pages[i];
	int		   *shown;
	int			next;
	int			c;

	CHECK_FOR_INTERRUPTS();
	*n = 0;
	if (page->fault != NULL || page->children == NULL)
		return NULL;
	shown = palloc(page->entries * sizeof(int));
	next = find_page(tree, page->level - 1, page->children[0]);
	for (c = 0; c < page->entries && next >= 0 && next < tree->count; c++)
	{
		int			child = next;

		/* The right half of an incomplete split has no downlink, and is passed over. */
		while (child < tree->count && tree->pages[child].level == page->level - 1 &&
			   tree->pages[child].block != page->children[c])
			child++;
		if (child == tree->count || tree->pages[child].level != page->level - 1)
			continue;
		shown[(*n)++] = child;
		next = child + 1;
	}
	return shown;
}

/* Read the tree of the index that the function is called with. */
static void
read_tree(FunctionCallInfo fcinfo, GpbTree *tree, char **name)
{
	int			most = PG_GETARG_INT32(1);
	GpbInspect	look;

	gpb_inspect_require_limit(most, MOST_PAGES_DRAWN);
	gpb_inspect_open(&look, PG_GETARG_OID(0));
	gpb_inspect_tree(&look, most, tree);
	*name = pstrdup(RelationGetRelationName(look.index));
	gpb_inspect_close(&look);
}

/* ---- DOT ---- */

/* Append a text that is to stand between double quotes. */
static void
append_dot(StringInfo out, const char *text)
{
	for (; *text != '\0'; text++)
	{
		if (*text == '"' || *text == '\\')
			appendStringInfoChar(out, '\\');
		appendStringInfoChar(out, *text == '\n' ? ' ' : *text);
	}
}

static void
dot_page(StringInfo out, const GpbTreePage *page)
{
	const char *line[PAGE_LINES];
	int			i;

	page_lines(page, line);
	appendStringInfo(out, "\t\tp%d_%u [fillcolor=\"%s\", label=\"", page->level, page->block,
					 page_color(page));
	for (i = 0; i < PAGE_LINES && line[i][0] != '\0'; i++)
	{
		if (i > 0)
			appendStringInfoString(out, "\\n");
		append_dot(out, line[i]);
	}
	appendStringInfoString(out, "\"];\n");
}

/* The lines from page i to its children, and the arrow to its right sibling */
static void
dot_lines(StringInfo out, const GpbTree *tree, int i)
{
	const GpbTreePage *page = &tree->pages[i];
	int			n;
	int		   *children = children_shown(tree, i, &n);
	int			c;

	for (c = 0; c < n; c++)
		appendStringInfo(out, "\tp%d_%u -> p%d_%u;\n", page->level, page->block,
						 page->level - 1, tree->pages[children[c]].block);
	if (has_more(tree, i))
		appendStringInfo(out, "\tp%d_%u -> more%d [style=dashed];\n", page->level, page->block,
						 page->level);
	else if (!is_last_shown(tree, i))
		appendStringInfo(out, "\tp%d_%u -> p%d_%u [style=dashed];\n", page->level, page->block,
						 page->level, tree->pages[i + 1].block);
}

/* gpubtree_tree_dot(index, pages_per_level): the tree in Graphviz's language. */
Datum
gpubtree_tree_dot(PG_FUNCTION_ARGS)
{
	GpbTree		tree;
	StringInfoData out;
	char	   *name;
	int			i;

	read_tree(fcinfo, &tree, &name);
	initStringInfo(&out);
	appendStringInfoString(&out, "digraph \"");
	append_dot(&out, name);
	appendStringInfoString(&out, "\" {\n\tnode [shape=box, style=filled, fontsize=10];\n");
	for (i = 0; i < tree.count; i++)
	{
		const GpbTreePage *page = &tree.pages[i];

		if (page->number == 0)
			appendStringInfoString(&out, "\t{\n\t\trank=same;\n");
		dot_page(&out, page);
		if (has_more(&tree, i))
			appendStringInfo(&out, "\t\tmore%d [shape=plaintext, style=\"\", label=\"...\"];\n",
							 page->level);
		if (is_last_shown(&tree, i))
			appendStringInfoString(&out, "\t}\n");
	}
	for (i = 0; i < tree.count; i++)
		dot_lines(&out, &tree, i);
	appendStringInfoString(&out, "}\n");
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}

/* ---- SVG ---- */

/* Sizes in pixels */
#define MARGIN			12
#define BOX_WIDTH		176
#define BOX_HEIGHT		72
#define BOX_GAP			24
#define LEVEL_HEIGHT	128
#define LEVEL_LABEL		56		/* to the left of each level */
#define LINE_HEIGHT		14
#define LEGEND_HEIGHT	28
#define LEGEND_WIDTH	124		/* of one colour's */
#define MORE_WIDTH		24

/* Append a text as the contents of an element. */
static void
append_svg(StringInfo out, const char *text)
{
	for (; *text != '\0'; text++)
	{
		if (*text == '<')
			appendStringInfoString(out, "&lt;");
		else if (*text == '>')
			appendStringInfoString(out, "&gt;");
		else if (*text == '&')
			appendStringInfoString(out, "&amp;");
		else
			appendStringInfoChar(out, *text);
	}
}

/* How many pages of a level are shown */
static int
shown_on(const GpbTree *tree, int level)
{
	int			n = 0;
	int			i;

	for (i = 0; i < tree->count; i++)
		n += tree->pages[i].level == level;
	return n;
}

/*
 * Where boxes are; the left and upper edge of the picture is 0.  A level begins so far to the right
 * that it stands in the middle above the widest one.
 */
static int
level_x(const GpbTree *tree, int level)
{
	int			most = 0;
	int			i;

	for (i = 0; i < tree->levels; i++)
		most = Max(most, shown_on(tree, i));
	return MARGIN + LEVEL_LABEL +
		(most - shown_on(tree, level)) * (BOX_WIDTH + BOX_GAP) / 2;
}

static int
box_x(const GpbTreePage *page, const int *level_start)
{
	return level_start[page->level] + page->number * (BOX_WIDTH + BOX_GAP);
}

static int
box_y(const GpbTree *tree, int level)
{
	return MARGIN + LEGEND_HEIGHT + (tree->levels - 1 - level) * LEVEL_HEIGHT;
}

static void
svg_text(StringInfo out, int x, int y, const char *text)
{
	appendStringInfo(out, "<text x=\"%d\" y=\"%d\">", x, y);
	append_svg(out, text);
	appendStringInfoString(out, "</text>\n");
}

static void
svg_line(StringInfo out, int x1, int y1, int x2, int y2, const char *attributes)
{
	appendStringInfo(out, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"%s/>\n",
					 x1, y1, x2, y2, attributes);
}

/* The box of page i, and the arrow to its right sibling */
static void
svg_page(StringInfo out, const GpbTree *tree, const int *level_start, int i)
{
	const GpbTreePage *page = &tree->pages[i];
	int			x = box_x(page, level_start);
	int			y = box_y(tree, page->level);
	const char *line[PAGE_LINES];
	int			k;

	page_lines(page, line);
	appendStringInfo(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" "
					 "stroke=\"#555\"/>\n", x, y, BOX_WIDTH, BOX_HEIGHT, page_color(page));
	if (page->fault == NULL)
		appendStringInfo(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"4\" "
						 "fill=\"#3b6ea5\"/>\n",
						 x, y + BOX_HEIGHT - 4, (int) rint(BOX_WIDTH * page->fill / 100));
	for (k = 0; k < PAGE_LINES; k++)
		svg_text(out, x + 8, y + 16 + k * LINE_HEIGHT, line[k]);
	if (has_more(tree, i) || !is_last_shown(tree, i))
		svg_line(out, x + BOX_WIDTH, y + BOX_HEIGHT / 2, x + BOX_WIDTH + BOX_GAP - 2,
				 y + BOX_HEIGHT / 2, " marker-end=\"url(#arrow)\"");
	if (has_more(tree, i))
		svg_text(out, x + BOX_WIDTH + BOX_GAP + 4, y + BOX_HEIGHT / 2 + 4, "...");
}

/* The lines from page i to its children */
static void
svg_children(StringInfo out, const GpbTree *tree, const int *level_start, int i)
{
	const GpbTreePage *page = &tree->pages[i];
	int			n;
	int		   *children = children_shown(tree, i, &n);
	int			c;

	for (c = 0; c < n; c++)
		svg_line(out, box_x(page, level_start) + (c + 1) * BOX_WIDTH / (n + 1),
				 box_y(tree, page->level) + BOX_HEIGHT,
				 box_x(&tree->pages[children[c]], level_start) + BOX_WIDTH / 2,
				 box_y(tree, page->level - 1), "");
}

/* What the colours mean */
static void
svg_legend(StringInfo out, const char *name)
{
	static const struct
	{
		const char *color;
		const char *text;
	}			colors[] =
	{
		{"#b7e1b0", "mirrored"}, {"#f8c79a", "changed since"}, {"#ffffff", "not mirrored"},
		{"#f7d774", "incomplete split"}, {"#d0d0d0", "deleted"}, {"#f4a6a0", "damaged"},
	};
	int			i;

	for (i = 0; i < lengthof(colors); i++)
	{
		int			x = MARGIN + i * LEGEND_WIDTH;

		appendStringInfo(out, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\" "
						 "stroke=\"#555\"/>\n", x, MARGIN, colors[i].color);
		svg_text(out, x + 18, MARGIN + 10, colors[i].text);
	}
	appendStringInfoString(out, "<title>");
	append_svg(out, name);
	appendStringInfoString(out, "</title>\n");
}

/* gpubtree_tree_svg(index, pages_per_level): the tree as a picture of its own. */
Datum
gpubtree_tree_svg(PG_FUNCTION_ARGS)
{
	GpbTree		tree;
	StringInfoData out;
	char	   *name;
	int			width = MARGIN + 6 * LEGEND_WIDTH;
	int			level_start[GPB_MAX_LEVEL + 1];
	int			i;

	read_tree(fcinfo, &tree, &name);
	for (i = 0; i < tree.levels; i++)
		level_start[i] = level_x(&tree, i);
	for (i = 0; i < tree.count; i++)
		width = Max(width, box_x(&tree.pages[i], level_start) + BOX_WIDTH + MARGIN +
					(has_more(&tree, i) ? BOX_GAP + MORE_WIDTH : 0));
	initStringInfo(&out);
	appendStringInfo(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
					 "font-family=\"sans-serif\" font-size=\"11\" stroke=\"none\">\n",
					 width, box_y(&tree, 0) + BOX_HEIGHT + MARGIN);
	appendStringInfoString(&out, "<style>line { stroke: #555 }</style>\n"
						   "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
						   "markerWidth=\"6\" markerHeight=\"6\"><path d=\"M0 0 L8 4 L0 8 z\" "
						   "fill=\"#555\"/></marker></defs>\n"
						   "<rect width=\"100%\" height=\"100%\" fill=\"#fcfcfc\"/>\n");
	svg_legend(&out, name);
	for (i = 0; i < tree.count; i++)
	{
		if (tree.pages[i].number == 0)
			svg_text(&out, MARGIN, box_y(&tree, tree.pages[i].level) + BOX_HEIGHT / 2 + 4,
					 psprintf("level %d", tree.pages[i].level));
		svg_children(&out, &tree, level_start, i);
	}
	for (i = 0; i < tree.count; i++)
		svg_page(&out, &tree, level_start, i);
	appendStringInfoString(&out, "</svg>\n");
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}
