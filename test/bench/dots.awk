# Draw rows of dots along a logarithmic axis as SVG, a dot for each series with its figure beside it,
# from input lines "ROW SERIES VALUE"; underscores are blanks, lines that begin with # are comments.
# "= GROUP" begins a group of rows, "ROW = NOTE" says what stands to the right of a row.
# usage: awk -v ... -f svg.awk -f dots.awk
#
# x			name of the axis
# notes		what stands above the notes

function at_x(v) { return 250 + (log2(v) - least) * 370 / (most - least) }

/^#/ { next }

$1 == "=" { group[nrows + 1] = $2; next }

$2 == "=" { note[row[$1, groups()]] = $3; next }

NF == 3 && $3 > 0 {
	if (!(($1, groups()) in row)) {
		row[$1, groups()] = ++nrows
		name[nrows] = $1
	}
	if (!($2 in number)) {
		number[$2] = ++nseries
		series[nseries] = $2
	}
	value[row[$1, groups()], number[$2]] = $3
	if (!any || log2($3) < least) least = log2($3)
	if (!any++ || log2($3) > most) most = log2($3)
}

# The number of groups begun: rows of two groups may have one name
function groups(   r, n)
{
	for (r in group)
		n++
	return n + 0
}

# one_row R, Y: dots joined by a line; the least has its figure to the left, the greatest to the right,
# and those between below.  Of equal figures one is printed.
function one_row(r, y,   s, low, high)
{
	low = high = 0
	for (s = 1; s <= nseries; s++) {
		if (!((r, s) in value))
			continue
		if (!low || value[r, s] < value[r, low]) low = s
		if (!high || value[r, s] > value[r, high]) high = s
	}
	put(20, y + 4, words(name[r]), "start", "")
	line(at_x(value[r, low]), y, at_x(value[r, high]), y, "join")
	for (s = 1; s <= nseries; s++) {
		if (!((r, s) in value))
			continue
		dot(at_x(value[r, s]), y, s)
		if (s == low)
			put(at_x(value[r, s]) - 8, y + 4, commas(value[r, s]), "end", "")
		else if (s == high)
			put(at_x(value[r, s]) + 8, y + 4, commas(value[r, s]), "start", "")
		else if (value[r, s] != value[r, low] && value[r, s] != value[r, high])
			put(at_x(value[r, s]), y + 18, commas(value[r, s]), "middle", "")
	}
	if (r in note)
		put(700, y + 4, words(note[r]), "start", "")
}

END {
	if (!any)
		exit 1
	least = floor(least / log2(10)) * log2(10)
	most = ceiling(most / log2(10)) * log2(10)
	bottom = 66 + nrows * 30 + groups() * 30
	begin(notes == "" ? 720 : 900, bottom + 46)
	for (s = 1; s <= nseries; s++) {
		dot(250 + (s - 1) * 190, 20, s)
		put(260 + (s - 1) * 190, 24, words(series[s]), "start", "")
	}
	for (p = least / log2(10); p <= most / log2(10) + 0.001; p++) {
		line(at_x(10 ^ p), 40, at_x(10 ^ p), bottom, "grid")
		put(at_x(10 ^ p), bottom + 18, label(10 ^ p, 10), "middle", "quiet")
	}
	put(435, bottom + 38, x, "middle", "")
	if (notes != "")
		put(700, 24, notes, "start", "quiet")
	y = 40
	for (r = 1; r <= nrows; r++) {
		if (r in group) {
			y += 30
			put(10, y + 4, words(group[r]), "start", "", "font-weight=\"bold\"")
		}
		y += 30
		one_row(r, y)
	}
	print "</svg>"
}
