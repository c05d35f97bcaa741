#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace.service under a systemd of its own, the first process of its namespaces, on a copy of this system's files: it
# starts as a user of its own, tells when it is ready, is started again when it hangs, and journald has its incidents. A
# stand-in for the module gives events.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
[ "$(id -u)" = 0 ] || skip_all "only root can start a systemd: sudo tests/run"
command -v journalctl /lib/systemd/systemd >/dev/null || skip_all "no systemd: apt-get install systemd"
run serve -e kmod -l 0 -d 0.01
! says 'built without libmicrohttpd' || skip_all "no libmicrohttpd: apt-get install libmicrohttpd-dev"
root=$PWD/root
mkdir -p space
lay() {
	mount -t tmpfs tmpfs space && mkdir -p space/upper space/work "$root" &&
		mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/space/upper,workdir=$PWD/space/work" "$root"
}
lay 2>/dev/null || skip_all "no overlay can be mounted here: run it outside of the container"
group=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
group=${group:+$group/grtrace-test-$$}
leave() {
	umount "$root" space
	[ -z "$group" ] || find "$group" -depth -type d -exec rmdir {} +
}
[ -z "$group" ] || mkdir "$group" 2>/dev/null || group=

# ------------------------------------------------------------- its files

mkdir -p "$root/opt/grtrace" "$root/etc/systemd/system/grtrace.service.d"
cp "$GRTRACE_PLAIN/grtrace" "$root/opt/grtrace/"
cp "$GRTRACE_BUILD/tests/cli/fake_module" "$root/opt/grtrace/"
sed 's,@BINDIR@,/opt/grtrace,' "$GRTRACE_SRC/packaging/grtrace.service" >"$root/etc/systemd/system/grtrace.service"
# what stands for the module is a directory
cat >"$root/etc/systemd/system/grtrace.service.d/test.conf" <<-'END'
	[Service]
	Environment="GRTRACE_SERVE_OPTIONS=-e kmod --on job>1s -l 9738" GRTRACE_DEBUGFS=/srv/fake
	ReadWritePaths=/srv/fake
	WatchdogSec=8
END
cat >"$root/etc/systemd/system/try.service" <<-'END'
	[Service]
	Type=oneshot
	ExecStart=/bin/bash /try.sh
	StandardOutput=file:/try.out
	StandardError=file:/try.out
END
# Each line is a word and a value.
cat >"$root/try.sh" <<-'END'
	value() { systemctl show grtrace -p "$1" --value; }
	waits() { # SECONDS COMMAND...
		for ((n = 0; n < 10 * $1; n++)); do
			"${@:2}" && return
			sleep 0.1
		done
	}
	mkfifo /tmp/in /tmp/out
	/opt/grtrace/fake_module /srv/fake 2 40 100 </tmp/in >/tmp/out &
	exec 7>/tmp/in
	read -r _ </tmp/out
	chmod -R a+rwX /srv/fake
	systemctl start grtrace
	echo "started $?"
	echo "state $(value ActiveState)"
	pid=$(value MainPID)
	sed -n 's/^Uid:\t\([0-9]*\).*/uid \1/p; s/^CapPrm:\t/caps /p; s/^NoNewPrivs:\t/no_new_privs /p; s/^Seccomp:\t/seccomp /p' "/proc/$pid/status"
	counted() { curl -s http://127.0.0.1:9738/metrics >/tmp/page && grep -qx 'grtrace_events_total{source="kmod"} 8000' /tmp/page; }
	waits 60 counted
	sed -n 's/^grtrace_events_total.* /events /p' /tmp/page
	met() { journalctl -q -u grtrace -p err --no-pager | grep -q 'job: a job is not complete'; }
	waits 60 met
	echo "errors $(journalctl -q -u grtrace -p err --no-pager -o cat | grep -c 'job: a job is not complete')"
	echo "address $(journalctl -q -u grtrace -p err --no-pager -o cat | grep -c http) $(journalctl -q -u grtrace --no-pager -o cat | grep -c http)"
	sleep 9
	echo "alive $(value NRestarts)"
	kill -STOP "$pid"
	again() { [ "$(value NRestarts)" != 0 ]; }
	waits 120 again
	echo "killed $(journalctl -q -u grtrace --no-pager -o cat | grep -c 'Watchdog timeout')"
	systemctl stop grtrace
	echo "Environment=GRTRACE_SERVE_OPTIONS=-l" >>/etc/systemd/system/grtrace.service.d/test.conf
	systemctl daemon-reload
	systemctl start grtrace
	# what ends it is an error in the journal, too
	journalctl --sync
	echo "usage $(journalctl -q -u grtrace -p err --no-pager -o cat | grep -c -- '-l')"
	echo "over 1"
END
cat >init.sh <<-'END'
	root=$1
	[ -z "$2" ] || echo $$ >"$2/cgroup.procs"
	exec unshare -p -f -m -C -i -n --kill-child sh -c '
		ip link set lo up
		mount --make-rprivate /
		mount -t proc proc "$0/proc"
		mount -t sysfs sysfs "$0/sys"
		mount -t cgroup2 cgroup2 "$0/sys/fs/cgroup"
		mount -t tmpfs tmpfs "$0/run"
		mount -t tmpfs tmpfs "$0/tmp"
		mount --rbind /dev "$0/dev"
		exec chroot "$0" /usr/bin/env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=try.service' "$root"
END
bash init.sh "$root" "$group" >log 2>&1 </dev/null &
systemd=$!
for ((i = 0; i < 3000; i++)); do
	! grep -q "^over" "$root/try.out" 2>/dev/null || break
	kill -0 $systemd 2>/dev/null || break
	sleep 0.1
done
output=$(cat "$root/try.out" 2>/dev/null; tail -n 20 log)
kill -KILL $systemd
wait $systemd 2>/dev/null
sleep 1
leave

# --------------------------------------------------------------- what it was

if ! says '^started '; then
	skip_all "systemd does not start in namespaces here"
fi
check "it starts, and says when it is ready" says '^started 0$'
check "it is active" says '^state active$'
check "it runs as a user of its own" says '^uid 6[0-9]{4}$'
check "it has no capability after its start" says '^caps 0+$'
check "it cannot get a capability" says '^no_new_privs 1$'
check "its system calls are filtered" says '^seccomp 2$'
check "/metrics has all events" says '^events 8000$'
check "the journal has incidents as errors" says '^errors [1-9]'
check "the journal does not have the line with the address" says '^address 0 1$'
check "it runs longer than the watchdog's timeout" says '^alive 0$'
check "a hanging service is killed by the watchdog and restarted" says '^killed [1-9]'
check "the journal has the reason if it does not start" says '^usage [1-9]'
plan
