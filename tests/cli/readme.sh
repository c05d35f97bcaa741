#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The sample report and the picture of README.md have the form that `make readme` gives them now: it is run on a
# recording of the tests, and all but numbers and names is compared.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

inside='/^<!-- begin: make readme -->$/,/^<!-- end: make readme -->$/'

# Titles, columns and sentences; no rows of processes and jobs, and not why the GPU was idle. The recording of the tests has drops, whose rows
# stand where the sample has a line.
form() { # FILE
	sed -n "${inside}p" "$1" | sed -E '/ was busy /,/^$/c it was busy' | sed -E '/^ *[0-9]/d' |
		sed '/^balance$/,/^  accounted /c every event is accounted for: 1 emitted, 0 lost' |
		tr -s ' \n' '  ' | sed -E 's/[0-9][0-9,]*(\.[0-9]+)?/N/g'
}

outside() { # FILE
	sed "${inside}d" "$1"
}

labels() { # FILE: the texts of a picture, which must be XML without a script
	python3 - "$1" <<-'END'
		import re, sys, xml.etree.ElementTree as tree
		for e in tree.parse(sys.argv[1]).iter():
		    kind = e.tag.split("}")[1]
		    assert kind in ("svg", "rect", "path", "text", "title"), kind
		    if kind == "text":
		        print(re.sub(r"of \S+ went", "of N went", re.sub(r"[0-9.]+", "N", e.text)))
	END
}

# The times on an axis are as many as fit.
sorted_labels() {
	labels "$1" | sort -u
}

"$GRTRACE_BUILD/tests/golden/report_traces" || exit 1
cp "$GRTRACE_SRC/README.md" .
output=$("$GRTRACE_SRC/tools/readme" "$GRTRACE" virtio.grt README.md demo.svg 2>&1)
status=$?
check "it reads a recording" exits 0
check "nothing else of README.md is changed" diff <(outside "$GRTRACE_SRC/README.md") <(outside README.md)
check "the sample is that of the program: else make demo readme" diff <(form "$GRTRACE_SRC/README.md") <(form README.md)
check "the picture, too" diff <(sorted_labels "$GRTRACE_SRC/docs/demo.svg") <(sorted_labels demo.svg)
check "README.md shows the picture" grep -qF '](docs/demo.svg)' "$GRTRACE_SRC/README.md"
echo >README.md
output=$("$GRTRACE_SRC/tools/readme" "$GRTRACE" virtio.grt README.md demo.svg 2>&1)
status=$?
expect "a text without the marks" 1 '^readme: README.md: there are no lines <!-- begin: make readme -->'
plan
