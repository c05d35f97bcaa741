#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The commands against the real module, driver and program, in the virtual machine; then babeltrace2 on what was recorded.
# long

if ! command -v qemu-system-x86_64 >/dev/null; then
	echo "1..0 # SKIP no qemu-system-x86_64: tools/setup check"
	exit
fi
"$GRTRACE_SRC/tools/vm" run --timeout 400 --share "$GRTRACE_PLAIN=/mnt/build" --out out -- \
	env GRTRACE_SRC=/mnt/host GRTRACE=/mnt/build/grtrace GRTRACE_MODULES=/mnt/build/kernel \
	bash /mnt/host/tests/vm/_record_guest.sh >guest.tap 2>guest.err
status=$?
cat guest.tap
[ $status = 0 ] || { tail -50 guest.err && echo "not ok - the guest's script ended with status $status" && exit 1; }

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
GRTRACE=$GRTRACE_PLAIN/grtrace

run report -v -i out/run.grt
expect "the recording can be reported here" 0 'every event is accounted for'
if command -v babeltrace2 >/dev/null; then
	theirs=$(babeltrace2 out/run.grt 2>bt.err | wc -l)
	ours=$("$GRTRACE" dump out/run.grt | wc -l)
	check "babeltrace2 sees as many events as dump ($ours)" test "$theirs" = "$ours"
	check "and as many as were delivered" test "$theirs" = "$(grep '^  delivered' <<<"$output" | awk '{ print $2 }')"
	check "without complaint" test ! -s bt.err
else
	checks=$((checks + 1))
	echo "ok $checks - babeltrace2 # SKIP no babeltrace2: apt-get install babeltrace2"
fi
run dump out/kill.grt
check "what SIGKILL left is readable" exits 0
check "and said not to be closed" grep -q 'state = "recording"' out/kill.grt/metadata
check "it has events" says SUBMIT
check "the module, BPF and ftrace end at one moment: the program's rounds are there, from each" python3 - "$GRTRACE" <<-'PY'
	import collections, json, re, struct, subprocess, sys
	def run(*args):
	    return subprocess.run([sys.argv[1], *args], capture_output=True, text=True, check=True).stdout
	noted = open("out/stamps", "rb").read()
	noted = [struct.unpack_from("QQ", noted, i) for i in range(0, len(noted), 16)]
	report = json.loads(run("report", "--json", "out/window.grt"))
	start, end = report["recording"]["from"], report["recording"]["to"]
	assert report["balance"]["closes"] and report["balance"]["after_end"] > 0, report["balance"]
	assert len(re.findall(f'_window = "from={start} to={end} ', open("out/window.grt/metadata").read())) == 4
	seen = collections.Counter()
	for line in run("dump", "out/window.grt").splitlines():
	    what = line.split()[2]
	    seen[what + (" kfd_open" if re.search('step=2 .*function="kfd_open"', line) else "")] += 1
	sure = sum(a >= start and b <= end for a, b in noted)
	may = sum(b >= start and a <= end for a, b in noted)
	print("#", sure, may, dict(seen))
	assert sure > 10, sure
	for what in "SUBMIT", "IOCTL_ENTER", "LAUNCH", "FUNC kfd_open":
	    assert sure <= seen[what] <= may, (what, sure, seen[what], may)
PY
cat out/events[0-9].bin >all.bin
run report -i all.bin
check "files made by cat events0..N can be reported" exits 0
run dump out/raw.bin
check "so can a raw one" says SUBMIT
plan
