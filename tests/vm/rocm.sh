#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# grtrace rocm in the virtual machine: amdgpu loads without hardware and makes
# /dev/kfd, so functions of the real KFD are traced and joined with a log. Not on
# sid's kernel: 7.2.13 does not open /dev/kfd without a device.
# shows: amdkfd log attach
# kernels in soak: trixie
# long

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
command -v qemu-system-x86_64 >/dev/null || skip_all "no qemu-system-x86_64: tools/setup check"

# What the JSON of the guest says; the names are those of the report.
look() {
	python3 - "$work/out" <<-'END'
		import json, os, sys

		out = sys.argv[1]
		n = 0
		def check(name, good, why=""):
		    global n
		    n += 1
		    print(("ok" if good else "not ok"), n, "-", name)
		    if not good:
		        print("#", why)
		def load(name):
		    with open(os.path.join(out, name), encoding="utf-8") as f:
		        return json.load(f)
		print("TAP version 13")
		r = load("r.json")
		made = r["creations"]
		check("17 creations of queues", len(made) == 17, made)
		check("each has a duration and was refused", all(m["ioctl"] and m["result"] == -22 for m in made), made)
		check("with the type and the GPU that the program asked for",
		      all(m["type"] == 2 and m["gpu_id"] == 0x1000 for m in made), made)
		check("each lies between the lines of the log around it, to the microsecond",
		      all(m["before"] is not None and m["after"] is not None for m in made), made)
		calls = {c["call"]: c["calls"] for c in r["calls"]}
		check("17 calls of the runtime", calls.get("hipStreamCreate") == 17, calls)
		funcs = {f["function"]: f for f in r["functions"]}
		check("kfd_ioctl_get_version was traced with its return",
		      funcs.get("kfd_ioctl_get_version", {}).get("mean") is not None, sorted(funcs))
		s = load("shifted.json")["input"]
		off = abs(s["clock_offset_ns"] + 7000000000)
		check("a clock that is 7 s wrong is found within its error",
		      s["clock_error_ns"] is not None and off <= s["clock_error_ns"], s)
		check("by all 17 of them", s["clock_pairs"] == 17 and s["clock_agree"] == 17, s)
		g = load("graph.json")
		check("function_graph: 3 creations with durations",
		      len(g["creations"]) == 3 and all(m["ioctl"] for m in g["creations"]), g["creations"])
		print(f"1..{n}")
	END
}

mkdir -p "$work/out"
{
	guest --no-gpu --timeout 1800 --out "$work/out" -- sh tests/vm/_rocm_guest.sh
	look
} | join_tap
