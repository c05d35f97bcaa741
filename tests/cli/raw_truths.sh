#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What reports, graphs and timelines say of random recordings, compared with models that only know the manual.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }
check "states of threads: each number" python3 -B "$GRTRACE_SRC/tests/cli/_thread_times.py" "$GRTRACE" 1 3 7 13 18
check "counters: each number" python3 -B "$GRTRACE_SRC/tests/cli/_counter_values.py" "$GRTRACE" 1 4 8 12 17
check "NVIDIA's slices and memory: each number" python3 -B "$GRTRACE_SRC/tests/cli/_gpu_slices.py" "$GRTRACE" 1 3 4 5 7
check "frames of displays: each number" python3 -B "$GRTRACE_SRC/tests/cli/_display_frames.py" "$GRTRACE" 5 6 7 8 10 18
check "random windows of jobs: each number" python3 -B "$GRTRACE_SRC/tests/cli/_duty_jobs.py" "$GRTRACE" 16
check "memory of CUDA programs: each number" python3 -B "$GRTRACE_SRC/tests/cli/_cuda_memory.py" "$GRTRACE" 1 2 3 4 5 6
check "collectives: each number" python3 -B "$GRTRACE_SRC/tests/cli/_nccl_sums.py" "$GRTRACE" 1 2 3 4 5 6
check "unified memory: each number" python3 -B "$GRTRACE_SRC/tests/cli/_uvm_sums.py" "$GRTRACE" 2 3 5
check "counters while kernels ran: each number" python3 -B "$GRTRACE_SRC/tests/cli/_roofline.py" "$GRTRACE" 1 2 3
check "lost events: each number" python3 -B "$GRTRACE_SRC/tests/cli/_lost_events.py" "$GRTRACE" 1 2 3 4 5 7 16
check "random windows of CUDA: each number" python3 -B "$GRTRACE_SRC/tests/cli/_duty_cuda.py" "$GRTRACE" 12
plan
