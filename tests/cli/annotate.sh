#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace annotate, live: every ioctl of a known number is seen, in pairs, with its duration; lines come at once.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE" annotate -d 0.1 >/dev/null 2>err
status=$?
output=$(cat err)
if [ $status = 3 ]; then
	echo "1..0 # SKIP no live ioctls here: $(head -n 1 err)"
	exit
fi
expect "annotate -d" 0 '[0-9]+ ioctls, 0 lost'

run annotate -d 0.1 -o no/such/file
expect "an output that cannot be written" 1 'cannot create no/such/file'

# Ioctls of type 'd' on no GPU at all: some until it is seen, then a prime number of another.
cat >prog.py <<'EOF_PROG'
import fcntl, os, time

fd = os.open("/dev/null", os.O_RDWR)

def call(cmd):
    try:
        fcntl.ioctl(fd, cmd, 0x1234)
    except OSError:
        pass

open("/proc/self/comm", "w").write("a=b \n c")
while not os.path.exists("go"):
    call(0x6401)
    time.sleep(0.02)
for _ in range(1009):
    call(0xc0106442)
EOF_PROG
python3 prog.py &
prog=$!
"$GRTRACE" annotate -p $prog -o live.txt 2>err &
tracer=$!
await 'grep -qs "cmd=0x6401" live.txt'
check "lines come while it runs" grep -q 'cmd=0x6401' live.txt
check "the file is for its owner" test "$(stat -c %a live.txt)" = 600
touch go
wait $prog
wait $tracer
status=$?
output=$(cat err)
expect "it ends with the process, and nothing is lost" 0 '[0-9]+ ioctls, 0 lost'
line='^\[[0-9]+\.[0-9]{9}\] IOCTL_(ENTER|EXIT) pid=[0-9]+ tid=[0-9]+ comm=.* cmd=0x'
check "every line is whole" test "$(grep -cE "$line" live.txt)" = "$(wc -l <live.txt)"
check "a prime number is entered" test "$(grep -c "IOCTL_ENTER pid=$prog tid=$prog comm=a\\\\x3db \\\\x0a c cmd=0xc0106442 arg=0x1234" live.txt)" = 1009
check "and left, each with its duration" test "$(grep -cE 'IOCTL_EXIT .* cmd=0xc0106442 ret=-25 duration_ns=[1-9]' live.txt)" = 1009

# What a stopped program has written is whole.
"$GRTRACE" annotate -o cut.txt 2>err &
tracer=$!
await '[ -e cut.txt ]'
sleep 0.3
kill -INT $tracer
wait $tracer
status=$?
output=$(cat err)
expect "Ctrl-C ends it" 0 '[0-9]+ ioctls, 0 lost'
run annotate -d 0.1 --buffer 32M
expect "--buffer is taken" 0 '0 lost'
run annotate -d 0.1 --buffer 1K
expect "in the range of record's" 2 'buffer: 1024 bytes are out of range'
run annotate -i cut.txt --buffer 1M
expect "and not with -i" 2 'buffer works only on live events'
check "with whole lines" test "$(grep -cE "$line" cut.txt)" = "$(wc -l <cut.txt)"
plan
