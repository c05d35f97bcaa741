#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# start, stop, status and config against a stand-in for the kernel module.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

fake_start 2 10
run start
expect "start" 0 '^tracing is on$'
settled control running
run start
expect "start again: tracing is already on" 0 '^tracing is already on$'
run status
expect "status: module and format" 0 '^module +grtrace [0-9.]+, format 5'
check "status: running" says '^state +running$'
check "status: fill of each CPU's buffer" says '^  cpu 1 +\[#+ *\] +25 % of 4.0 MiB$'
check "status: limits at their defaults" says '^limits +all at their defaults$'
check "status: adapters" says '^adapters +virtio_gpu: bound to driver virtio_gpu, tracepoints virtio_gpu_cmd_queue:1$'
run stop
expect "stop" 0 '^tracing is off$'
settled control stopped
run stop
expect "stop again: tracing is already off" 0 '^tracing is already off$'
GRTRACE_DEBUGFS=$PWD/none run stop
expect "stop without the module: nothing is to be started for it" 3 'there is nothing to stop: the kernel module grtrace is not loaded'
check "its advice is about recorders" says '^  try: kill -INT PID'
run status
expect "status: stopped" 0 '^state +stopped$'
check "status: the balance" says '^balance +emitted 2006 = delivered 2000 \+ lost 6$'

run config
expect "config shows every key" 0 '^sample=100$'
check "with default, range and unit" says '^    default 100, takes 0\.\.100 percent$'
check "and other spellings" says '^    also called: sampling, sampling_rate$'
check "there are as many as rows" test "$(grep -c '^[a-z_]*=' <<<"$output")" = "$(grep -c '^GRT_KEY(' "$GRTRACE_SRC/include/grtrace/control.def")"
run config sample=50
expect "config sets a key in silence" 0 '^$'
check "it is set" settled config '^sample=50$'
run config sample
expect "config KEY prints the value" 0 '^50$'
run config sampling_rate
expect "other spellings read the same value" 0 '^50$'
run status
check "status: a limit that differs" says '^limits +sample=50 \(default 100\): '
run config smaple=3
expect "a misspelt key is suggested" 2 "unknown key 'smaple' \(did you mean sample\?\)"
run config frobnicate
expect "an unknown key is refused" 2 "unknown key 'frobnicate'"
run config sample=60 frobnicate=1
check "with an unknown key nothing is set" grep -q '^sample=50$' fake/config

run status --json
json=$output
if command -v python3 >/dev/null; then
	check "status --json is JSON" python3 -c 'import json, sys
s = json.loads(sys.argv[1])
assert s["state"] == "stopped" and s["format"] == 5 and s["reader_pid"] is None
assert s["limits"] == {"sample": "50"}
assert s["cpus"][1]["used"] * 4 == s["cpus"][1]["size"]
assert s["adapters"] == [{"name": "virtio_gpu", "driver": "virtio_gpu", "bound": True, "tracepoints": "virtio_gpu_cmd_queue:1", "missing": ""}]
assert s["balance"]["emitted"] == 2006 and s["balance"]["lost"] == 6 and s["balance_closes"] is True
' "$json"
fi

sed -i 's/^total emitted=2006/total emitted=2007/' fake/stats
run status
expect "status: counts that differ are reported" 0 'NOT EVERY EVENT IS ACCOUNTED FOR$'
sed -i 's/^total emitted=2007/total emitted=2006/; s/^reader_pid 0/reader_pid 4711/' fake/stats
run status
expect "status: the process that reads" 0 'read by process 4711$'
printf 'evil\033[31m driver=x\tbound=1 tracepoints=\n' >fake/adapters
run status
check "names of others are escaped" says 'evil.x1b.31m'
fake_stop

# Live reports: each event of the stand-in is the SUBMIT of a job of its own.
fake_start 2 400 10
run start
expect "start" 0 '^tracing is on$'
"$GRTRACE" report -n 0.3 -d 1.4 --json >reports.json
status=$?
check "report -n" exits 0
check "each report has the jobs of its interval, and no others" python3 - "$(sed -n 's/^total .* delivered=\([0-9]*\).*/\1/p' fake/stats)" <<-'PY'
	import json, sys
	text, reports = open("reports.json").read().strip(), []
	while text:
	    report, end = json.JSONDecoder().raw_decode(text)
	    reports.append(report)
	    text = text[end:].strip()
	# five, and the rest of the time; one may be left out where the machine is busy
	assert 3 <= len(reports) <= 6, len(reports)
	for r in reports:
	    b = r["balance"]
	    assert b["closes"] and b["delivered"] == b["read"] + b["unread"], b
	    assert r["joins"]["incomplete"] == b["read"], (r["joins"], b)
	assert [r["recording"]["from"] for r in reports[1:]] == [r["recording"]["to"] for r in reports[:-1]]
	assert sum(r["balance"]["lost"] for r in reports) == 6
	assert 0 < sum(r["balance"]["read"] for r in reports) <= int(sys.argv[1])
PY
fake_stop

for command in stop status "config" "config sample=1"; do
	# shellcheck disable=SC2086 # words
	GRTRACE_DEBUGFS=$PWD/none run $command
	expect "$command without the module" 3 'the kernel module grtrace is not loaded'
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 700 root
	chmod 755 .
	cp "$GRTRACE" grtrace && chmod 755 grtrace
	output=$(GRTRACE_DEBUGFS=$PWD/root setpriv --reuid 65534 --clear-groups ./grtrace status 2>&1)
	status=$?
	expect "without root" 3 'only root may use it'
	check "with what to type" says 'try: the same command with sudo'
else
	checks=$((checks + 1))
	echo "ok $checks - without root # SKIP only root can become another user"
fi
plan
