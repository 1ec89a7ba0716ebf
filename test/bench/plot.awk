# Draw a plot with logarithmic axes as SVG from lines "SERIES X Y"; underscores in a series are blanks.
# x and y name the axes.
function log2(v) { return log(v) / log(2) }
function at_x(v) { return 70 + (log2(v) - least_x) * 500 / (most_x - least_x) }
function at_y(v) { return 320 - (log2(v) - least_y) * 290 / (most_y - least_y) }
function floor(v) { return v < int(v) ? int(v) - 1 : int(v) }
function ceiling(v) { return -floor(-v) }
function label(v) { return v >= 1048576 ? v / 1048576 " M" : v >= 1024 ? v / 1024 " k" : v }

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

END {
	if (!any) exit 1
	split("#1f77b4 #d62728 #2ca02c #9467bd #ff7f0e #17becf #8c564b #444444", colour, " ")
	least_y = floor(least_y)
	most_y = ceiling(most_y)
	if (most_y == least_y) most_y++
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"370\" font-family=\"sans-serif\" font-size=\"12\">"
	print "<rect width=\"760\" height=\"370\" fill=\"white\"/>"
	for (p = least_y; p <= most_y; p++) {
		printf "<line x1=\"70\" x2=\"570\" y1=\"%.0f\" y2=\"%.0f\" stroke=\"#dddddd\"/>\n", at_y(2 ^ p), at_y(2 ^ p)
		printf "<text x=\"62\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n", at_y(2 ^ p) + 4, label(2 ^ p)
	}
	for (p = ceiling(least_x); p <= most_x; p++)
		printf "<text x=\"%.0f\" y=\"338\" text-anchor=\"middle\">%s</text>\n", at_x(2 ^ p), label(2 ^ p)
	printf "<text x=\"320\" y=\"360\" text-anchor=\"middle\">%s</text>\n<text x=\"70\" y=\"20\">%s</text>\n", x, y
	for (s = 1; s <= nseries; s++) {
		printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour[(s - 1) % 8 + 1]
		for (i = 1; i <= points[s]; i++) printf "%.1f,%.1f ", at_x(xs[s, i]), at_y(ys[s, i])
		name = series[s]
		gsub("_", " ", name)
		printf "\"/>\n<rect x=\"585\" y=\"%d\" width=\"14\" height=\"4\" fill=\"%s\"/><text x=\"605\" y=\"%d\">%s</text>\n", 20 + s * 22, colour[(s - 1) % 8 + 1], 26 + s * 22, name
	}
	print "</svg>"
}
