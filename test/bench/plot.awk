# Draw lines with logarithmic axes as SVG from input lines "SERIES X Y"; underscores in a series are
# blanks, lines that begin with # are comments.  usage: awk -v ... -f svg.awk -f plot.awk
#
# x, y		names of the axes
# base		of the axes' ticks, 2 (default) or 10
# dashed	a regular expression of the series that are drawn dashed
# colours	numbers of colours (svg.awk), in the order of the series (default 1 2 3 ..., and again from 1
#			for those that are dashed)

function at_x(v) { return 70 + (log2(v) - least_x) * 460 / (most_x - least_x) }
function at_y(v) { return 320 - (log2(v) - least_y) * 280 / (most_y - least_y) }

/^#/ { next }

NF == 3 && $3 > 0 {
	if (!($1 in number)) {
		number[$1] = ++nseries
		series[nseries] = $1
	}
	n = ++points[number[$1]]
	xs[number[$1], n] = $2
	ys[number[$1], n] = $3
	if (!any || log2($2) < least_x) least_x = log2($2)
	if (!any || log2($2) > most_x) most_x = log2($2)
	if (!any || log2($3) < least_y) least_y = log2($3)
	if (!any++ || log2($3) > most_y) most_y = log2($3)
}

function axes(   p)
{
	for (p = least_y / step; p <= most_y / step + 0.001; p++) {
		line(70, at_y(base ^ p), 530, at_y(base ^ p), "grid")
		put(62, at_y(base ^ p) + 4, label(base ^ p, base), "end", "quiet")
	}
	for (p = ceiling(least_x / step - 0.001); p <= most_x / step + 0.001; p++) {
		if (base == 10)
			line(at_x(base ^ p), 40, at_x(base ^ p), 320, "grid")
		put(at_x(base ^ p), 338, label(base ^ p, base), "middle", "quiet")
	}
	put(300, 362, x, "middle", "")
	put(62, 24, y, "start", "")
}

function is_dashed(s) { return dashed != "" && series[s] ~ dashed }

# The colour of series s
function shade(s,   i, before)
{
	if (colours != "")
		return chosen[s]
	for (i = 1; i < s; i++)
		before += is_dashed(i) == is_dashed(s)
	return before + 1
}

# one_series S: its line and dots, and its entry in the legend
function one_series(s,   i, dash)
{
	dash = is_dashed(s) ? " stroke-dasharray=\"6 4\"" : ""
	if (points[s] > 1) {
		printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"", colour(shade(s)), dash
		for (i = 1; i <= points[s]; i++)
			printf "%.1f,%.1f ", at_x(xs[s, i]), at_y(ys[s, i])
		print "\"/>"
	}
	for (i = 1; i <= points[s]; i++)
		dot(at_x(xs[s, i]), at_y(ys[s, i]), shade(s))
	if (points[s] > 1)
		printf "<line x1=\"548\" x2=\"570\" y1=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", 28 + s * 24, 28 + s * 24, colour(shade(s)), dash
	dot(559, 28 + s * 24, shade(s))
	put(578, 32 + s * 24, words(series[s]), "start", "")
}

END {
	if (!any)
		exit 1
	if (!base)
		base = 2
	split(colours, chosen, " ")
	step = log2(base)
	least_y = floor(least_y / step) * step
	most_y = ceiling(most_y / step) * step
	if (most_y == least_y)
		most_y += step
	if (most_x == least_x)
		most_x += step
	longest = 0
	for (s = 1; s <= nseries; s++)
		if (length(series[s]) > longest)
			longest = length(series[s])
	begin(600 + (longest > 20 ? longest * 6.4 : 130), 376)
	axes()
	for (s = 1; s <= nseries; s++)
		one_series(s)
	print "</svg>"
}
