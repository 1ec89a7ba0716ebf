# What plot.awk and dots.awk share: a picture that is readable on light and on dark pages, logarithmic
# axes, a legend.  Both read this file first: awk -f svg.awk -f plot.awk.

function log2(v) { return log(v) / log(2) }
function floor(v) { return v < int(v) ? int(v) - 1 : int(v) }
function ceiling(v) { return -floor(-v) }

# A word as people read it: underscores are blanks, and a number in front has its commas
function words(s)
{
	gsub("_", " ", s)
	if (match(s, /^[0-9]+ /))
		s = commas(substr(s, 1, RLENGTH - 1)) substr(s, RLENGTH)
	return s
}

# What text in SVG must not have
function escape(s)
{
	gsub("&", "\\&amp;", s)
	gsub("<", "\\&lt;", s)
	gsub(">", "\\&gt;", s)
	return s
}

# The tick of a binary or decimal axis
function label(v, base)
{
	if (base == 2)
		return v >= 1048576 ? v / 1048576 " M" : v >= 1024 ? v / 1024 " k" : v
	return v >= 1000000 ? v / 1000000 " M" : commas(v)
}

# 1234567.5 as 1,234,567.5
function commas(v,   whole, rest)
{
	whole = v ""
	rest = ""
	if (index(whole, ".")) {
		rest = substr(whole, index(whole, "."))
		whole = substr(whole, 1, index(whole, ".") - 1)
	}
	while (length(whole) > 3) {
		rest = "," substr(whole, length(whole) - 2) rest
		whole = substr(whole, 1, length(whole) - 3)
	}
	return whole rest
}

# Colours that are told apart on white and on black, also by those who do not see red
function colour(n,   list)
{
	split("#2f81f7 #e07b00 #8250df #1a9e77 #c2447a #8b949e #a08000 #0aa2c0", list, " ")
	return list[(n - 1) % 8 + 1]
}

function begin(width, height)
{
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n", width, height, width, height
	print "<style>"
	print ".page { fill: #ffffff } text { fill: #1f2328 } .quiet { fill: #59636e } .grid { stroke: #d8dee4 } .join { stroke: #8b949e }"
	print "@media (prefers-color-scheme: dark) { .page { fill: #0d1117 } text { fill: #e6edf3 } .quiet { fill: #9198a1 } .grid { stroke: #30363d } }"
	print "</style>"
	printf "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", width, height
}

# anchor: start, middle or end; class: quiet or nothing
function put(x, y, s, anchor, class, more)
{
	printf "<text x=\"%.0f\" y=\"%.0f\"%s%s%s>%s</text>\n", x, y, anchor == "start" ? "" : " text-anchor=\"" anchor "\"", class == "" ? "" : " class=\"" class "\"", more == "" ? "" : " " more, escape(s)
}

function line(x1, y1, x2, y2, class)
{
	printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2, class
}

function dot(x, y, n)
{
	printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x, y, colour(n)
}
