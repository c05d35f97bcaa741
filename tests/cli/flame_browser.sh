#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace flame: the pictures in real browsers: hover, zoom, search, keys, reset.
# With SCREENSHOTS=DIR what was seen is kept there.

here=$GRTRACE_SRC/tests/cli

command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }

cat >in.folded <<'END'
main;train;forward;cudaLaunchKernel;[GPU_Kernel]matmul 500
main;train;forward;cudaLaunchKernel;[GPU_Kernel]softmax 100
main;train;backward;cudaLaunchKernel;[GPU_Kernel]matmul 300
main;train;backward 50
main;load;cudaMemcpy;[GPU_Memcpy HtoD] 40
main;a<b>&"c"'d';</title><script>window.bad=1</script> 10
END
sed 's/500$/100/; s/load/store/' in.folded >before.folded
"$GRTRACE" flame in.folded --unit us --title 'A <b> & "title"' -o in.svg || exit 1
"$GRTRACE" flame in.folded --unit us --title 'A <b> & "title"' -o in.html || exit 1
"$GRTRACE" flame in.folded --diff before.folded -o diff.svg || exit 1

cat >common <<'END'
# the document
is document.querySelectorAll("#flame-frames > g").length === 15
is typeof window.bad === "undefined"
is document.querySelector("#flame .heading").textContent === 'A <b> & "title"'
is document.title === 'A <b> & "title"'
is [...document.querySelectorAll("#flame-frames title")].some(t => t.textContent.startsWith("a<b>&\"c\"'d'\n"))
is [...document.querySelectorAll("#flame-frames title")].some(t => t.textContent.startsWith("</title><script>"))
is performance.getEntriesByType("resource").length === 0
is Math.abs(document.getElementById("flame").getBoundingClientRect().width - document.documentElement.clientWidth) < 2
screenshot whole
# hover
move #flame-frames > g:nth-child(12) > rect
is document.getElementById("flame-details").textContent.startsWith("forward  600 us, 60.00 %")
# zoom by a click
click #flame-frames > g:nth-child(12) > rect
is !document.getElementById("flame-reset").classList.contains("off")
is document.querySelectorAll("#flame-frames > g.above").length === 3
is document.querySelectorAll("#flame-frames > g:not(.hidden)").length === 7
is Math.abs(document.querySelector("#flame-frames > g:nth-child(12) > rect").getAttribute("width") - document.documentElement.clientWidth + 20) < 1
is Math.abs(document.querySelector("#flame-frames > g:nth-child(14) > rect").getAttribute("width") / (document.documentElement.clientWidth - 20) - 5 / 6) < 0.01
is document.querySelector("#flame-frames > g:nth-child(14) > text").textContent === "[GPU_Kernel]matmul"
screenshot zoomed
# reset by a click
click #flame-reset
is document.querySelectorAll("#flame-frames > g.hidden").length === 0
is document.getElementById("flame-reset").classList.contains("off")
# search by /
key /
is document.activeElement === document.getElementById("flame-input")
type mat[m]ul$
is document.getElementById("flame-input").value === "mat[m]ul$"
key Enter
is document.getElementById("flame-input") === null
is document.querySelectorAll("#flame-frames > g.found").length === 2
is document.getElementById("flame-matched").textContent === "2 matched: 80.00 %"
screenshot found
# a match below a match counts once
click #flame-search
is document.getElementById("flame-input").value === "mat[m]ul$"
key Enter
key Escape
is document.querySelectorAll("#flame-frames > g.found").length === 0
key /
type ward|cudaLaunch
is document.getElementById("flame-matched").textContent === "4 matched: 95.00 %"
# no expression
key (
is document.getElementById("flame-matched").textContent === "no regular expression"
key Escape
is document.getElementById("flame-input") === null
is document.getElementById("flame-matched").textContent === ""
# keys
key ArrowUp
key ArrowUp
key ArrowUp
is document.querySelector("#flame-frames > g.current > title").textContent.startsWith("train\n")
key ArrowLeft
is document.querySelector("#flame-frames > g.current > title").textContent.startsWith("load\n")
is document.getElementById("flame-details").textContent.startsWith("load  40")
key Enter
is document.querySelectorAll("#flame-frames > g:not(.hidden)").length === 5
key Backspace
is document.querySelectorAll("#flame-frames > g.above").length === 1
key Escape
is document.querySelectorAll("#flame-frames > g.above, #flame-frames > g.hidden, #flame-frames > g.current").length === 0
END

{
	cat common
	cat <<'END'
# the table
is document.querySelector("#heaviest tbody tr td.name").textContent === "[GPU_Kernel]matmul"
is document.querySelector("#heaviest tbody tr td").textContent === "800 us"
click #heaviest th:nth-child(3)
is document.querySelector("#heaviest tbody tr td.name").textContent === "main"
click #heaviest tbody tr:nth-child(2) td.name
is document.querySelectorAll("#flame-frames > g.found").length === 1
is document.getElementById("flame-matched").textContent === "1 matched: 95.00 %"
screenshot table
END
} >page

cat >change <<'END'
# colours of a comparison
is [...document.querySelectorAll("#flame-frames > g")].find(g => g.textContent.startsWith("forward\n")).querySelector("rect").getAttribute("fill").startsWith("#f5")
is [...document.querySelectorAll("#flame-frames > g")].find(g => g.textContent.startsWith("backward\n")).querySelector("rect").getAttribute("fill").endsWith("f5")
is document.querySelector("#flame-frames > g rect").getAttribute("fill") === "#f5f5f5"
is [...document.querySelectorAll("#flame .note")].some(n => n.textContent.includes("6.67 % of before is gone"))
screenshot diff
END

total=0
show() { # BROWSER FILE CHECKS
	local keep=
	[ -z "${SCREENSHOTS:-}" ] || keep=$SCREENSHOTS/$1-${2%.*}-${2##*.}
	python3 "$here/_browser.py" "$1" "$2" "$3" $keep >tap || { echo "not ok - $1 $2 has ended"; return; }
	sed "/^1\\.\\./d; s/^\\(ok\\|not ok\\) [0-9]* - /\\1 - $1 $2: /" tap
	total=$((total + $(grep -c -E '^(ok|not ok)' tap)))
}

for browser in chromium firefox; do
	if ! command -v "${browser/firefox/firefox-esr}" >/dev/null; then
		echo "ok - $browser # SKIP no $browser: apt-get install ${browser/firefox/firefox-esr}"
		total=$((total + 1))
		continue
	fi
	show $browser in.svg common
	show $browser in.html page
	show $browser diff.svg change
done
echo "1..$total"
