#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace report -o FILE.html: the page's figures are those of report --json, read by another program and as a
# browser shows them; its lanes add up to them; what a trace says is text in it. With SCREENSHOTS=DIR what was
# seen is kept there.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

here=$GRTRACE_SRC/tests/cli
page() {
	python3 "$here/_page.py" "$@"
}
command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }

"$GRTRACE_BUILD/tests/golden/timeline_traces" || exit 1
"$GRTRACE_BUILD/tests/golden/report_traces" || exit 1
for name in rounds virtio hostile; do
	"$GRTRACE" report $name.grt -o $name.html >out 2>&1
	code=$?
	"$GRTRACE" report $name.grt --json >$name.json 2>err
	outputs=("$name.json")
	for by in wait thread frame step rank path; do
		"$GRTRACE" report $name.grt --by $by --json >$name-$by.json 2>err && outputs+=("$name-$by.json")
	done
	output=$(page $name.html same "${outputs[@]}" 2>&1 | grep -v '^notes: ')
	check "$name: the tables are those of --json" test "$code,$output" = 0,
	output=$(page $name.html heads)
	check "$name: the page runs only its own script" test -z "$output"
done
gpu_busy() {
	page "$1" lanes | awk -F'\t' '$1 == "gpu" { sub("busy=", "", $6); n += $6 } END { print n + 0 }'
}
check "lanes of rings show the time of jobs, to the ns" test "$(gpu_busy virtio.html)" = "$(jq '[.rings[].exec_sum] | add' virtio.json)"
check "lanes of streams show the time of kernels and copies" \
	test "$(gpu_busy rounds.html)" = "$(jq '[.kernels[].total] | add' rounds.json)"
"$GRTRACE" report rounds.grt --to +25us -o cut.html
check "of a part of the time, too, whenever the records of it came" test "$(gpu_busy cut.html)" -eq 8000 -a \
	"$("$GRTRACE" report rounds.grt --to +25us --by idle --json | jq '.idle_devices[0].busy')" = 8000
for name in rounds virtio; do
	check "$name: parts of the graph of GPU time add up to it" test -z "$(page $name.html slots gpu)"
done
# Of one process, or one ring: tables, lanes and graphs.
for filter in "virtio --pid 70" "virtio --ring control" "frames --comm game"; do
	read -ra words <<<"$filter"
	"$GRTRACE" report "${words[0]}.grt" "${words[@]:1}" -o some.html >out 2>&1
	code=$?
	"$GRTRACE" report "${words[0]}.grt" "${words[@]:1}" --json >some.json 2>err
	outputs=(some.json)
	for by in wait thread frame step rank path; do
		"$GRTRACE" report "${words[0]}.grt" "${words[@]:1}" --by $by --json >some-$by.json 2>err && outputs+=("some-$by.json")
	done
	check "$filter: the tables are those of --json" test \
		"$code,$(page some.html same "${outputs[@]}" 2>&1 | grep -v '^notes: ')" = 0,
	check "$filter: so are the lanes of rings" test "$(gpu_busy some.html)" = "$(jq '[.processes[].exec_sum] | add' some.json)"
	check "$filter: parts of the graph add up to it" test -z "$(page some.html slots gpu)"
done
run report rates.grt --pid 4711 -o none.html
expect "a process that is not there" 1 'the trace has no such process; it has '
check "no page is written" test ! -e none.html
idle_by_cause() {
	page "$1" lanes | awk -F'\t' '$1 == "idle" { for (i = 6; i <= NF; i++) { split($i, k, "="); n[k[1]] += k[2] } }
		END { for (cause in n) print cause, n[cause] }' | sort
}
for name in rounds virtio; do
	"$GRTRACE" report $name.grt --by idle --json |
		jq -r '[.idle_devices[] | to_entries[] | select(.key | startswith("idle_")) | {cause: .key[5:], ns: .value}] | group_by(.cause)[]
			| (map(.ns) | add) as $ns | select($ns > 0) | "\(.[0].cause) \($ns)"' | sort >wanted
	check "$name: lanes of idle time have the same sums by cause as report --by idle" \
		test -s wanted -a "$(idle_by_cause $name.html)" = "$(cat wanted)"
done

# ------------------------------------------------------------------- usage
run report virtio.grt -o page.svg
expect "another ending" 2 '^grtrace report: -o page.svg: it writes a page, whose name ends in .html; for text: > page.svg$'
run report -o page.html -
expect "a pipe" 2 'no pipe, and not the live module'
run report virtio.grt -o page.html --json
expect "--json" 2 'for --json and --csv use > FILE'
check "no page is written after an error" test ! -e page.html
run report no.grt -o page.html
expect "no recording" 1 '^grtrace report: no.grt: cannot open'
check "no temporary file is left after an error" test "$(find . -name 'page.html*' | wc -l)" = 0
check "only the owner can read the page" test "$(stat -c %a virtio.html)" = 600
"$GRTRACE" report virtio.grt -o again.html
check "the same recording gives the same page" cmp virtio.html again.html

# ---------------------------------------------------------------- browsers
page virtio.html checks virtio.json >virtio.checks
cat >>virtio.checks <<'END'
# the page
is document.querySelectorAll("main > section").length >= 4
is performance.getEntriesByType("resource").length === 0
is document.documentElement.scrollWidth <= innerWidth
is (window.t = grtrace.report.timeline, true)
is t.from === 0 && t.to === t.all.span
screenshot whole
# idle time: the colours of the time axis are those of the table, its sums those of the devices
is (window.idle = t.shown.filter(l => l.kind === "idle"), idle.length === 2)
is (window.devices = grtrace.report.tables.find(s => s.table === "idle_devices"), window.has = key => devices.columns.findIndex(c => c.key === key), true)
is t.all.causes.every(c => idle.reduce((sum, l) => sum + (t.namesOf(l).get(c.name) || 0), 0) === devices.rows.reduce((sum, row) => sum + row[has("idle_" + c.name)], 0))
is [...document.querySelectorAll("[data-table=idle] [data-key=cause]")].every(td => td.querySelector(".swatch").style.background.replace(/ /g, "") === t.causes.get(td.dataset.value))
is [...document.querySelectorAll("#timeline-causes li:not(.title)")].map(l => l.textContent).join() === "first,code,end,unsure"
# processes whose jobs are on the axis have their colours in a legend; figures are in one font, although lanes have names in another
is [...document.querySelectorAll("#timeline-work li:not(.title)")].map(l => l.textContent).join() === t.workNames().join() && t.workNames().length === 2
is (window.fonts = [], window.put = t.g.fillText, t.g.fillText = function (...a) { fonts.push([a[0], this.font]); return put.apply(this, a); }, t.drawNow(), delete t.g.fillText, fonts.filter(f => / %$/.test(f[0])).length > 1)
is fonts.some(f => /mono/.test(f[1])) && fonts.filter(f => / %$/.test(f[0])).every(f => !/mono/.test(f[1]))
# the graph follows the time axis: of 250 us, 10 to 250 are of jobs; a slot begins with the nanosecond behind
is grtrace.report.view.tree.total[0] === 390000
is (t.zoom(0, 250000), grtrace.report.view.tree.total[0] === 240001)
is document.getElementById("flame-range").textContent === "of 0 ns to 250 us, in steps of 3.91 us"
is (t.zoom(500000, 1000000), grtrace.report.view.tree.total[0] === 0)
is (t.zoom(0, t.all.span), grtrace.report.view.tree.total[0] === 390000)
# a row zooms the time axis
is (document.querySelector(".report-table[data-table=jobs]").scrollIntoView(), true)
click .report-table[data-table=jobs] tbody tr:nth-child(2)
is t.to - t.from < t.all.span
is (window.before = t.to - t.from, true)
# keys
is (scrollTo(0, 0), document.querySelector("canvas.timeline").focus(), true)
key +
is t.to - t.from < before || t.to - t.from === 100
key 0
is t.from === 0 && t.to === t.all.span
screenshot zoomed
END
cat >hostile.checks <<'END'
# text of a trace is text
is typeof window.bad === "undefined"
is document.querySelectorAll("main script, main i:not(.legend i)").length === 0
is [...document.querySelectorAll("td")].some(td => td.textContent.includes("</script>")) || grtrace.report.lanes.names.some(n => n.includes("</script>"))
is performance.getEntriesByType("resource").length === 0
screenshot hostile
END
cat >gpu.checks <<'END'
# a stream is below its device, whose UUID is known
is grtrace.report.timeline.all.lanes.find(l => l.kind === "idle" && l.pid).of.map(l => l.name).join() === "stream 9"
# a rank without steps and collectives, of which each cell would be empty, has no table
is grtrace.report.sections.find(s => s.table === "step_ranks").rows.length === 1 && !document.querySelector("[data-table=step_ranks], [data-table=ranks]")
END
"$GRTRACE_BUILD/tests/cli/export_traces" gpu gpu.grt
"$GRTRACE" report gpu.grt -o gpu.html
for browser in chromium firefox; do
	if ! command -v "${browser/firefox/firefox-esr}" >/dev/null; then
		ok "$browser # SKIP no $browser: apt-get install ${browser/firefox/firefox-esr}"
		continue
	fi
	for name in virtio $([ $browser = firefox ] || echo hostile gpu); do
		python3 "$here/_browser.py" $browser "$name.html" "$name.checks" ${SCREENSHOTS:+"$SCREENSHOTS/page-$browser-$name"} >tap
		status=$?
		output=$(cat tap)
		check "$browser, $name: the checks have run" exits 0
		while read -r result; do
			case $result in
			"ok "*) ok "$browser: ${result#*- }" ;;
			"not ok "*) not_ok "$browser: ${result#*- }" ;;
			esac
		done <tap
	done
done
echo "1..$checks"
