# SPDX-License-Identifier: GPL-2.0
#
# Where members of structs lie, by bpftool: reads the types of
# `bpftool btf dump file ... format raw`, then lines "DRIVER STRUCT.MEMBER OFFSET
# SIZE" of grtrace's file offsets, and prints those whose offset is another one.
#
#	awk -f _btf_members.awk TYPES OFFSETS

/^\[/ {
	gsub(/[][']/, "")
	id = $1
	kind[id] = $2
	if ($2 == "STRUCT" && !(($3) in named))
		named[$3] = id
	if ($2 ~ /^(TYPEDEF|CONST|VOLATILE)$/)
		inner[id] = substr($4, 9)
	next
}

/^\t.*bits_offset=/ {
	gsub(/'/, "")
	split($2, t, "=")
	split($3, b, "=")
	type[id, $1] = t[2]
	bits[id, $1] = b[2]
	if ($1 == "(anon)")
		anon[id] = anon[id] " " t[2] ":" b[2]
	next
}

function plain(at) {
	while (at in inner)
		at = inner[at]
	return at
}

# Bits from the start of struct @at, and in last_type the member's type; -1 where it has no such member.
function find(at, name, parts, n, i, p, deep) {
	if ((at, name) in bits) {
		last_type = plain(type[at, name])
		return bits[at, name]
	}
	n = split(anon[at], parts, " ")
	for (i = 1; i <= n; i++) {
		split(parts[i], p, ":")
		deep = find(plain(p[1]), name)
		if (deep >= 0)
			return deep + p[2]
	}
	return -1
}

NF == 4 && $2 ~ /\./ {
	n = split($2, path, ".")
	last_type = named[path[1]]
	sum = 0
	for (i = 2; i <= n && sum >= 0; i++) {
		step = find(last_type, path[i])
		sum = step < 0 ? -1 : sum + step
	}
	want = sum < 0 ? "-" : sum / 8
	if ($3 != want)
		print $2 " is at " want ", not at " $3
	lines++
}

END {
	if (!lines)
		print "there is no line to compare"
}
