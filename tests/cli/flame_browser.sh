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
"$GRTRACE" flame in.folded --diff before.folded -o diff.html || exit 1
"$GRTRACE" flame -o short.html - <<'END' || exit 1
void at::native::elementwise<4, at::Add<float> >(int, at::Add<float>) 1
std::operator<<(std::ostream&, char) 1
(anonymous namespace)::run(int)::{lambda()#1}::operator()(int) const;a::operator->() const 10
worker (4711);Py_RunMain;_PyEval_EvalFrameDefault;train.py:8 main;_PyEval_EvalFrameDefault;PyObject_Call;ioctl;[lock] 20
worker (4711);Py_RunMain;_PyEval_EvalFrameDefault;train.py:8 main;_PyEval_EvalFrameDefault;[runnable] 10
worker (4711);Py_RunMain;_PyEval_EvalFrameDefault 80
END

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

# Frames stand on a canvas: at(NAME) is the middle of a frame's place, seen the number of those drawn.
cat >page <<'END'
# the document
is (window.graph = () => grtrace.view.shown(), window.boxes = () => graph().rows.flatMap((row, y) => row.map(b => [...b, y])), window.at = name => { const g = graph(), b = boxes().find(b => g.tree.names.whole(g.tree.name[b[0]]) === name), r = g.canvas.getBoundingClientRect(), y = g.flipped ? g.rows.length - 1 - b[b.length - 1] : b[b.length - 1]; return [r.x + b[1] + b[2] / 2, r.y + 18 * y + 9]; }, true)
is boxes().length === 15
is typeof window.bad === "undefined"
is document.querySelector("h1").textContent === 'A <b> & "title"'
is document.title === 'A <b> & "title"'
is grtrace.view.tree.names.text.includes("a<b>&\"c\"'d'")
is grtrace.view.tree.names.text.includes("</title><script>window.bad=1</script>")
is performance.getEntriesByType("resource").length === 0
is document.getElementById("flame-about").textContent.startsWith("1.00 ms in all")
is Math.abs(graph().width - graph().box.clientWidth) < 1
is graph().rowAt(1) === 0
is [...document.querySelectorAll("#flame-legend li")].some(l => l.textContent === "kernels on a GPU")
screenshot whole
# hover
move (at("forward"))
is document.getElementById("flame-details").textContent.startsWith("forward 600 us, 60.00 %")
move (at("a<b>&\"c\"'d'"))
is document.getElementById("flame-details").textContent.startsWith("a<b>&\"c\"'d' 10.0 us, 1.00 %")
# zoom by a click
click (at("forward"))
is boxes().length === 7
is graph().above === 3
is Math.abs(boxes().find(b => graph().tree.names.whole(graph().tree.name[b[0]]) === "[GPU_Kernel]matmul")[2] / graph().width - 5 / 6) < 0.01
screenshot zoomed
# out
key Backspace
is graph().above === 2
key Escape
is boxes().length === 15
# search by /
key /
is document.activeElement === document.getElementById("flame-input")
type mat[m]ul$
is document.getElementById("flame-matched").textContent === "2 matched: 80.00 %"
key Enter
is document.activeElement === graph().canvas
screenshot found
# a match below a match counts once
key Escape
is document.getElementById("flame-matched").textContent === ""
key /
type ward|cudaLaunch
is document.getElementById("flame-matched").textContent === "4 matched: 95.00 %"
key (
is document.getElementById("flame-matched").textContent === "no regular expression"
key Escape
is document.getElementById("flame-matched").textContent === ""
# keys
key ArrowDown
key ArrowDown
key ArrowDown
is document.getElementById("flame-details").textContent.startsWith("train 950 us")
key ArrowRight
is document.getElementById("flame-details").textContent.startsWith("load 40")
key Enter
is boxes().length === 5
key Escape
# flipped, the root is at the bottom
key f
is graph().rowAt(1) === 5
move (at("forward"))
is document.getElementById("flame-details").textContent.startsWith("forward 600 us, 60.00 %")
key f
# inverted
key i
is graph().tree.names.whole(graph().tree.name[graph().tree.kids(0)[0]]) === "[GPU_Kernel]matmul"
is graph().tree.total[graph().tree.kids(0)[0]] === 800
is graph().tree.kids(0).reduce((sum, kid) => sum + graph().tree.total[kid], 0) === 1000
screenshot inverted
key i
# callers and callees
click (at("cudaLaunchKernel"))
key s
is !grtrace.view.double.hidden
is grtrace.view.callers.tree.total[0] === 900
is grtrace.view.callers.tree.kids(0).map(k => grtrace.view.tree.names.whole(grtrace.view.callers.tree.name[k])).join() === "forward,backward"
is grtrace.view.callees.tree.kids(0).map(k => grtrace.view.callees.tree.total[k]).join() === "800,100"
screenshot callers
key Escape
is grtrace.view.double.hidden
# the table
is document.querySelector("#heaviest tbody tr td.name").textContent === "[GPU_Kernel]matmul"
is document.querySelector("#heaviest tbody tr td").textContent === "800 us"
click #heaviest th:nth-child(3) button
is document.querySelector("#heaviest tbody tr td.name").textContent === "main"
click #heaviest tbody tr:nth-child(2) td.name button
is grtrace.view.title.textContent === "train"
screenshot table
END

cat >short <<'END'
# labels are short, names whole
is (window.label = text => { const n = grtrace.view.whole.names; return n.label(n.text.indexOf(text)); }, true)
is label("void at::native::elementwise<4, at::Add<float> >(int, at::Add<float>)") === "at::native::elementwise<\u2026>(\u2026)"
is label("std::operator<<(std::ostream&, char)") === "std::operator<<(\u2026)"
is label("(anonymous namespace)::run(int)::{lambda()#1}::operator()(int) const") === "(anonymous namespace)::run(\u2026)::{lambda()#1}::operator()(\u2026) const"
is label("a::operator->() const") === "a::operator->() const"
is label("worker (4711)") === "worker (4711)"
# the interpreter stands behind the Python function unless one wants it
is grtrace.view.tree.names.text.includes("_PyEval_EvalFrameDefault")
is !Array.from(grtrace.view.tree.name).some(n => grtrace.view.tree.names.text[n] === "_PyEval_EvalFrameDefault")
is grtrace.view.tree.total[0] === 122
click #flame-interpreter
is Array.from(grtrace.view.tree.name).some(n => grtrace.view.tree.names.text[n] === "_PyEval_EvalFrameDefault")
is grtrace.view.tree.total[0] === 122
# by state
is [...document.querySelectorAll("select option")].some(o => o.value === "state")
is (grtrace.view.group = "state", grtrace.view.rebuild(), grtrace.view.tree.kids(0).map(k => grtrace.view.tree.names.whole(grtrace.view.tree.name[k])).join() === "[no state],[lock],[runnable]")
is grtrace.view.tree.total[0] === 122
END

cat >change <<'END'
# colours of a comparison
is [...document.querySelectorAll("#flame-frames > g")].find(g => g.textContent.startsWith("forward\n")).querySelector("rect").getAttribute("fill").startsWith("#f5")
is [...document.querySelectorAll("#flame-frames > g")].find(g => g.textContent.startsWith("backward\n")).querySelector("rect").getAttribute("fill").endsWith("f5")
is document.querySelector("#flame-frames > g rect").getAttribute("fill") === "#f5f5f5"
is [...document.querySelectorAll("#flame .note")].some(n => n.textContent.includes("6.67 % of before is gone"))
screenshot diff
END

cat >change_page <<'END'
# colours of a comparison
is (window.of = name => Array.from(grtrace.view.tree.name).findIndex(n => grtrace.view.tree.names.text[n] === name), true)
is grtrace.view.graph.colour(of("forward")).startsWith("rgb(245,")
is grtrace.view.graph.colour(of("backward")).endsWith(",245)")
is grtrace.view.graph.colour(0) === "rgb(245,245,245)"
is grtrace.view.tree.before[0] === 600
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
	show $browser diff.html change_page
	show $browser short.html short
done
echo "1..$total"
