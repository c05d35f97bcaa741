#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What an event costs, from its tracepoint to the buffer, in instructions: ours
# against ftrace's record of the same tracepoint, in one boot under -icount, where
# a nanosecond is an instruction.
#
#	bench/vm/emit.sh [BUILD DIRECTORY]

# shellcheck source=bench/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare bench/kernel/grtrace_emit_bench.ko

figures=$(guest --icount --mem 1024 --timeout 1800 -- sh bench/vm/_emit_guest.sh 2>/dev/null) || {
	echo "emit.sh: the run in the guest failed; to see why: tools/vm run --icount --share $build=/mnt/build -- sh bench/vm/_emit_guest.sh" >&2
	exit 1
}

awk '
	{ cost[$1, $2] = $3; lost += $1 == "lost" ? $2 : 0 }
	function row(name, what) {
		ftrace = cost["ftrace", name]
		ours = cost["grtrace", name]
		if (ftrace == "" || ours == "") exit failed = 1
		if (ours > ftrace) failed = 1
		printf "%-26s %-10s %8d %8d %8d %8.2f\n", name, what, cost["none", name], ftrace, ours, ours / ftrace
		all_ftrace += ftrace
		all_ours += ours
	}
	# How much a job costs more with the stage, in units of what ftrace takes for it
	function stage(name,  sum) {
		sum = cost[name, "virtio_gpu_cmd_queue"] + cost[name, "virtio_gpu_cmd_response"] + cost[name, "dma_fence_signaled"]
		if (cost[name, "virtio_gpu_cmd_queue"] == "" || (sum - all_ours) / all_ftrace > 0.3) failed = 1
		printf "%-26s %8d %8d %8d %8.2f\n", name, cost[name, "virtio_gpu_cmd_queue"], cost[name, "virtio_gpu_cmd_response"],
			cost[name, "dma_fence_signaled"], (sum - all_ours) / all_ftrace
	}
	END {
		if (failed) exit 1
		printf "%-26s %-10s %8s %8s %8s %8s\n", "instructions per event", "event", "empty", "ftrace", "grtrace", "ratio"
		row("virtio_gpu_cmd_queue", "SUBMIT")
		row("virtio_gpu_cmd_response", "END")
		row("dma_fence_signaled", "COMPLETE")
		printf "%-26s %-10s %8s %8d %8d %8.2f\n", "a job", "all three", "", all_ftrace, all_ours, all_ours / all_ftrace
		printf "%-26s %-10s %8s %8s %8d\n", "dma_fence_emit", "(no event)", "", "", cost["grtrace", "dma_fence_emit"]
		printf "%-26s %-10s %8s %8s %8d\n", "tracing off", "cmd_queue", "", "", cost["off", "virtio_gpu_cmd_queue"]
		printf "\n%-26s %8s %8s %8s %8s\n", "with each stage on", "SUBMIT", "END", "COMPLETE", "more"
		n = split("filter watchlist sampling adaptive rate_limit token_bucket threshold aggregator aggregator_replace perf_mon", stages, " ")
		for (i = 1; i <= n; i++)
			stage(stages[i])
		printf "events lost: %d\n", lost
		exit failed || lost
	}' <<<"$figures"
