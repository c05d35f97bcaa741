#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# shows: cuda library stand-in RANGE_NODE,RANGE
# record --torch: modules of PyTorch as ranges, against a list that the program keeps itself (modules/modules.py), with a
# PyTorch that has only modules (modules/stand_in), and with the real one where python3-torch is installed.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
programs=$GRTRACE_SRC/tests/inject/modules
export MOCK LD_LIBRARY_PATH=$MOCK MODULES_LOG=$PWD/modules.log
export PYTHONPATH=$programs/stand_in PYTHONDONTWRITEBYTECODE=1 GRTRACE_TORCH=1
python=python3

# Runs the program with the library alone.
modules() { # SCENE [NUMBER]
	rm -rf out.grt modules.log
	output=$(CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt timeout 300 "$python" "$programs/modules.py" "$@" 2>&1)
	status=$?
	records out.grt
	"$GRTRACE" dump --json out.grt >dump.json 2>/dev/null
}

# The recording has the modules that the program says, around each launch; and nothing is wrong with it.
agrees() { # NAME
	local ran=$output$status
	output=$(python3 "$programs/compare.py" modules.log dump.json 2>&1 | cut -c1-300; exit "${PIPESTATUS[0]}")
	status=$?
	if [ "$status" = 0 ] && [ "$ran" = 0 ] && fact '^# faults=0 missing=0 .* balance=ok' && fact '^# undefined=0 '; then
		ok "$1: $(tail -n 1 <<<"$output")"
	else
		output+=$'\n'$ran$'\n'$(head -c 2000 facts)
		not_ok "$1"
	fi
}
# Of the last PROCESS record, or a note.
told() { # NAME
	grep -a 'what=3' facts | sed -n "s/.*\b$1=\([0-9]*\).*/\1/p" | tail -n 1
}
note() { # REGEX
	fact "what=5 .*$1"
}

scenes() { # NAME
	modules basic
	agrees "$1: modules in modules, shared ones, one alone"
	modules changes
	agrees "$1: modules are put elsewhere, others take their addresses"
	modules strange
	agrees "$1: modules of others, of nobody, in themselves, with strange names"
	check "$1: those of nobody are marked, and counted" test "$(grep -c '"type":"RANGE",.*"cut":1' dump.json)" = "$(told cut)" -a "$(told cut)" -gt 0
	check "$1: this is said" note "$(told cut) calls of modules have the name of their class: they ran in no module that contains them"
	modules exceptions
	agrees "$1: exceptions, caught at the same place, further out, further in"
	unended=$(sed -n 's/^unended //p' modules.log)
	check "$1: ends that are unknown are counted, and said" note "$unended calls of modules ended at an unknown time, by an exception"
	modules threads 25
	agrees "$1: four threads"
	modules many 30000
	agrees "$1: 30,000 modules, and others that are in none of them"
}

scenes "hooks with always_call"
export OLD_TORCH=1
scenes "hooks without"
unset OLD_TORCH

GRTRACE_STACK=none modules deep 200
check "201 deep: 128 are there" test "$(grep -c '^R' got)" = 128
check "and the others are counted" test "$(told ranges_lost)" = 73
check "the recording adds up" fact '^# faults=0 missing=0 .* balance=ok'

LATE_TORCH=1 modules basic
agrees "PyTorch is imported after CUDA is used"
GRTRACE_TORCH='' modules basic
check "without --torch: no range, no hook" test "$status $(grep -c '^R' got) $(told ranges)" = "0 0 0"
GRTRACE_STACK=none modules basic
agrees "without stacks"

mkdir other
cat >other/torch.py <<'END'
class compiler: pass
END
cat >plain.py <<'END'
import ctypes, os, sys, time
if sys.argv[1:]:
    import torch
ctypes.CDLL(os.environ["MOCK"] + "/libcudart.so.13", ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(os.environ["MOCK"] + "/libcuda.so.1", ctypes.RTLD_GLOBAL)
cuda.cuInit(0)
time.sleep(0.1)
END
plain() { # [torch]
	rm -rf out.grt
	CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt PYTHONPATH=$PWD/other timeout 60 python3 plain.py "$@"
	records out.grt
}
plain
check "Python without PyTorch: says so" note 'no modules of PyTorch: the program has not imported PyTorch'
plain torch
check "a torch that is another one: says so" note 'no modules of PyTorch: this PyTorch has no hooks for all modules'
play plain
check "a program without Python: says so" note 'no modules of PyTorch: it has no Python'

# ---- what is read from it

GRTRACE=$GRTRACE_PLAIN/grtrace
unset GRTRACE_TORCH
run record -e cuda --torch -o r.grt python3 "$programs/modules.py" basic
check "record -e cuda --torch" exits 0
"$GRTRACE" report --by range --json r.grt >range.json
range() { # NAME COLUMN
	jq -r ".ranges[] | select(.range == \"$1 [torch.nn]\") | .$2" range.json
}
calls() {
	sed -n "s/^calls $1 //p" modules.log
}
for name in layers.0.attn layers.1.attn layers.2.mlp.1 head; do
	check "report --by range: $name was called $(calls $name) times" test "$(range $name count)" = "$(calls $name)"
	check "and launched as often as the program says" test "$(range $name launches_self)" = "$(grep -c "torch.nn:${name//./\\.}\$" modules.log)"
done
run flame r.grt --weight launches -o f.folded
check "frames of modules" grep -qE ';\[nvtx\] Model \[torch.nn\];\[nvtx\] layers.1 \[torch.nn\];\[nvtx\] layers.1.attn \[torch.nn\];.*;\[GPU_Kernel\]kernel_[0-9]+ 1$' f.folded
run export -f chrome -o x.json r.grt
check "slices of an export" test "$(jq '[.traceEvents[] | select(.cat == "user_annotation" and (.name | startswith("layers.1.attn")))] | length' x.json)" -ge 1
run record -e cuda --no-nvtx --torch -o r.grt python3 "$programs/modules.py" basic
check "--no-nvtx: the modules stay" test "$("$GRTRACE" dump --type range r.grt 2>/dev/null | wc -l)" -gt 0
run record --torch -e drm true
check "--torch without cuda" exits 2

# ---- a program that runs

for cycle in 1 2; do
	[ $cycle = 2 ] || begin_waiting env CUDA_INJECTION64_PATH="$LIBRARY" python3 "$programs/modules.py" waits
	run record -e cuda -p $pid --torch -d 0.5 -o a.grt
	check "record -p --torch, $cycle" exits 0
	"$GRTRACE" report --by range --json a.grt >range.json
	check "it has modules of all layers" test "$(range layers.2.mlp.1 count)" -gt 10
done
run record -e cuda -p $pid -d 0.3 -o a.grt
check "without --torch it has none" test "$("$GRTRACE" dump --type range a.grt 2>/dev/null | wc -l)" = 0
finish
check "the hooks are gone when the recording is over" says '^hooks 0 0$'
check "the program ends well" exits 0

# ---- the real one

if python=$(command -v /usr/bin/python3) && PYTHONPATH='' $python -c 'import torch.nn' 2>/dev/null; then
	version=$(PYTHONPATH='' $python -c 'import torch; print(torch.__version__)')
	export GRTRACE_TORCH=1 PYTHONPATH=
	GRTRACE=$GRTRACE_BUILD/grtrace
	scenes "PyTorch $version"
	# it was PyTorch's, not the one beside the program
	check "PyTorch $version is the system's" $python -c 'import torch; assert "stand_in" not in torch.__file__'
else
	echo "# no PyTorch here (apt install python3-torch): its modules are those of tests/inject/modules/stand_in"
fi
plan
