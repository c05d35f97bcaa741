#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace serve and export -f prometheus: the sums are those of the report, Prometheus takes the page, and no client
# stops the service. A stand-in for the module gives events; tests/vm/_serve_guest.sh has jobs of the software GPU.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
metrics() {
	"$GRTRACE_SRC/tests/cli/_prometheus.py" "$@" 2>&1
}
clients() {
	"$GRTRACE_SRC/tests/cli/_clients.py" "$@"
}

# ------------------------------------------------------------- recordings

"$GRTRACE_BUILD/tests/golden/report_traces" .
"$GRTRACE_BUILD/tests/cli/export_traces" all all.grt
for kind in shares virtio sampled all; do
	run export -f prometheus -o $kind.prom $kind.grt
	"$GRTRACE" report --by process --json $kind.grt >$kind.json 2>/dev/null
	output=$(metrics check $kind.prom && metrics agree $kind.prom $kind.json)
	status=$?
	check "export -f prometheus $kind: the sums are those of the report" exits 0
done
# By hand: card0 ran 70's jobs from 100 to 400 us and from 600 to 700, and 80's to 250 and from 300 to 500.
check "a GPU is busy for the union of its jobs" test \
	"$(metrics value shares.prom grtrace_gpu_busy_seconds_total gpu=0000:03:00.0)" = 0.0006
check "the histogram counts jobs of 100 us and less" test \
	"$(metrics value shares.prom grtrace_process_job_exec_seconds_bucket pid=70 le=0.0001)" = 1
check "the histogram counts jobs of 300 us and less" test \
	"$(metrics value shares.prom grtrace_process_job_exec_seconds_bucket pid=70 le=0.0003)" = 2
check "by control group" test "$(metrics value shares.prom grtrace_cgroup_jobs_total cgroup=/system.slice/desk.service)" = 2
check "memory of a process" test "$(metrics value shares.prom grtrace_gpu_memory_bytes pid=80)" = 4096
check "names are escaped" test "$(metrics value all.prom grtrace_process_jobs_total comm=$'b\u20ac;\nd')" = 2
if command -v promtool >/dev/null; then
	for kind in shares all; do
		output=$(promtool check metrics <$kind.prom 2>&1)
		status=$?
		check "promtool accepts the page of $kind" exits 0
	done
fi

# ------------------------------------------------- what asks Prometheus

rules=$GRTRACE_SRC/packaging/prometheus/grtrace.rules.yml
dashboard=$GRTRACE_SRC/packaging/grafana/grtrace.json
output=$("$GRTRACE_SRC/tests/cli/_dashboard.py" check "$dashboard" 2>&1)
status=$?
check "panels of the dashboard stand side by side, and their variables are there" exits 0
if command -v promtool >/dev/null; then
	output=$(promtool check rules "$rules" 2>&1)
	status=$?
	check "promtool accepts the rules" exits 0
	output=$(promtool test rules "$GRTRACE_SRC/tests/cli/_rules.yml" 2>&1)
	status=$?
	check "rules and alerts have the expected results for test series" exits 0
fi

# -------------------------------------------------------------- addresses

run serve -e kmod -l 0 -d 0.01
if says 'built without libmicrohttpd'; then
	expect "a program without libmicrohttpd says what to install" 3 'try: apt-get install libmicrohttpd-dev'
	plan
	exit
fi
for bad in 127.0.0.1:x 127.0.0.1: :80 99999 127.0.0.1:-1 ::1:80 '[::1' somewhere:80; do
	run serve -l "$bad"
	expect "--listen $bad" 2 "^grtrace serve: --listen .* is no ADDRESS:PORT: .*"
	check "--listen $bad: what to type" says '^  try: --listen 127.0.0.1:9738$'
done
run serve -l 203.0.113.9:9738
expect "an address of others" 1 '^grtrace serve: cannot listen on 203.0.113.9:9738: Cannot assign requested address$'
run serve -l 0 -e nothing
expect "no source" 2 "'nothing' is not a source of this program"
run serve -l 0 --on nothing
expect "no incident" 2 '^grtrace serve: --on nothing: not an incident; there are job>TIME, '
run serve -l 0 --on signal
expect "an incident of a recording" 2 'only a recording has this incident: grtrace record --last$'

# ------------------------------------------------------------ the service

page() { # FILE
	curl -s -S -m 120 -o "$1" "$url"
}

url=
begin() { # COMMAND...
	url=
	"$@" 2>said &
	pid=$!
	await 'url=$(sed -nE "s,^(<5>)?grtrace serve: (http://.*/metrics)\$,\2,p" said) && [ -n "$url" ]'
}

finish() {
	kill -TERM $pid
	wait $pid
	status=$?
	output=$(<said)
}

# Waits until the page counts so many events.
counts() { # N
	await "page now.prom && [ \"\$(metrics value now.prom grtrace_events_total source=kmod)\" = '$1' ]"
}

clients manager "grtrace-test-$$" >told 7>&- &
manager=$!
until grep -q bound told; do sleep 0.02; done
fake_start 2 40 100
# freed memory that the sanitizer keeps is not the service's
begin env ASAN_OPTIONS="${ASAN_OPTIONS-}:quarantine_size_mb=4" NOTIFY_SOCKET="@grtrace-test-$$" WATCHDOG_USEC=300000 JOURNAL_STREAM=1:2 "$GRTRACE" serve -e kmod -l 0 --on 'job>1s'
port=${url##*:}
port=${port%/*}
check "the default address is 127.0.0.1" test "${url%:*}" = http://127.0.0.1
if [ "$(id -u)" = 0 ]; then
	check "the service has dropped its privileges" grep -qE '^CapPrm:.0+$' /proc/$pid/status
	check "the service cannot get privileges again" grep -qE '^NoNewPrivs:.1$' /proc/$pid/status
fi
prometheus=
if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
	# beside it recordings as pages, of one its first half at first: so all metrics are there, and some grow
	mkdir pages
	"$GRTRACE_BUILD/tests/golden/monitor_traces" .
	for kind in all shares power; do
		"$GRTRACE" export -f prometheus -o pages/$kind.prom $kind.grt 2>/dev/null
	done
	"$GRTRACE" export -f prometheus --to +0.0002 -o pages/drm.prom drm.grt 2>/dev/null
	"$GRTRACE_SRC/tests/cli/_clients.py" pages pages >served 2>/dev/null 7>&- &
	server=$!
	until grep -q . served; do sleep 0.02; done
	cat >prometheus.yml <<-YML
		global: {scrape_interval: 200ms, scrape_timeout: 200ms}
		scrape_configs:
		  - {job_name: grtrace, static_configs: [{targets: ["127.0.0.1:$port"]}]}
	YML
	for kind in all shares power drm; do
		echo "  - {job_name: $kind, metrics_path: /$kind.prom, static_configs: [{targets: [\"127.0.0.1:$(<served)\"]}]}"
	done >>prometheus.yml
	database=$(clients free)
	prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$database" \
		>prometheus.log 2>&1 7>&- &
	prometheus=$!
	victoria=
	if command -v victoria-metrics >/dev/null; then
		other=$(clients free)
		# by itself it leaves out what is younger than 30 s
		victoria-metrics -promscrape.config=prometheus.yml -storageDataPath=victoria -search.latencyOffset=0s \
			-httpListenAddr="127.0.0.1:$other" >victoria.log 2>&1 7>&- &
		victoria=$!
	fi
fi
page first.prom
check "all events of the source are counted" counts 8000
check "lost events are counted" test \
	"$(metrics value now.prom grtrace_events_not_delivered_total source=kmod cause=lost)" = 6
# a job that is in flight is in the report, and not yet here; these have all been submitted only
metrics check now.prom >/dev/null
check "the page is complete" test $? = 0
output=$(metrics grow first.prom now.prom)
status=$?
check "counters only grow" exits 0
check "the page has the service's own memory" test "$(metrics value now.prom process_resident_memory_bytes)" -gt 1000000

run serve -e kmod -l "$port"
expect "a port in use" 1 "^grtrace serve: cannot listen on $port: Address already in use$"
check "a port in use: what to type" says '^  try: ss -ltnp, and another port: --listen PORT$'

answer() { # CURL OPTIONS...
	curl -s -m 120 -o /dev/null -w '%{http_code}' "$@"
}
check "another path is answered with 404" test "$(answer "${url}x")" = 404
check "the root has a link to the page" test "$(answer "${url%metrics}")" = 200
check "HEAD is answered" test "$(answer -I "$url")" = 200
check "POST is refused" test "$(head -c 3000000 /dev/zero | answer --data-binary @- "$url")" = 405
check "a long header" test "$(head -c 20000 /dev/zero | tr '\0' x | sed 's/^/X: /' | answer -H @- "$url")" = 431
check "an endless header" test "$(yes 'X: y' | head -c 3000000 | timeout 20 bash -c '
	exec 3<>/dev/tcp/127.0.0.1/'"$port"'; { printf "GET /metrics HTTP/1.1\r\n"; cat; } >&3 2>/dev/null; head -c 12 <&3 2>/dev/null' |
	grep -c ' 200')" = 0

clients slow "$port" 30 1 >slow 7>&- &
slow=$!
clients deaf "$port" 20 1 >deaf 7>&- &
deaf=$!
until grep -q connected slow && grep -q connected deaf; do sleep 0.02; done
page beside.prom
check "slow clients do not block other requests" metrics check beside.prom
check "many requests at once are answered" test "$(curl -s -m 120 -Z --parallel-max 40 -o /dev/null -w '%{http_code}\n' "$url?[1-300]" | sort | uniq -c |
	tr -s ' ')" = " 300 200"
wait $slow $deaf
page after.prom
check "its memory is bounded" test "$(metrics value after.prom process_resident_memory_bytes)" -lt \
	$(($(metrics value now.prom process_resident_memory_bytes) + 32000000))

if [ -n "$prometheus" ]; then
	asked="http://127.0.0.1:$database"
	# what PromQL answers, once it is the wanted answer
	answers() { # WHERE QUERY REGEX
		await "output=\$(promtool query instant '$1' '$2' 2>&1); status=\$?; says '$3'"
	}
	answers "$asked" 'sum by (source) (grtrace_events_total)' '^\{source="kmod"\} => 8000 @'
	expect "Prometheus has it, asked by PromQL" 0 '^\{source="kmod"\} => 8000 @'
	answers "$asked" 'up{job="grtrace"}' '=> 1 @'
	check "and the target is up" says '=> 1 @'
	answers "$asked" 'grtrace_gpu_jobs_total{job="drm"}' '=> '
	"$GRTRACE" export -f prometheus -o new.prom drm.grt 2>/dev/null
	mv new.prom pages/drm.prom
	output=$("$GRTRACE_SRC/tests/cli/_dashboard.py" ask "$dashboard" "$rules" "$asked" 2>&1)
	status=$?
	check "all queries of the dashboard and the rules have values" exits 0
	if [ -n "$victoria" ]; then
		answers "http://127.0.0.1:$other" 'sum by (source) (grtrace_events_total)' '^\{source="kmod"\} => 8000 @'
		expect "VictoriaMetrics has it, too" 0 '^\{source="kmod"\} => 8000 @'
		answers "http://127.0.0.1:$other" 'count(grtrace_gpu_job_exec_seconds_bucket{job="drm"}) > 0' '=> [1-9][0-9]* @'
		check "with its histograms" says '=> [1-9][0-9]* @'
		kill $victoria
		wait $victoria
	else
		skip 2 "no victoria-metrics: apt-get install victoria-metrics"
	fi
	kill $prometheus $server
	wait $prometheus $server
fi

await 'page now.prom && [ "$(metrics value now.prom grtrace_incidents_total incident=job)" != 0 ]'
finish
expect "SIGTERM ends it" 0 'grtrace serve: http'
check "the journal gets an incident's priority" says '^<3>grtrace serve: job: a job is not complete [0-9.]+ m?s after its submit, .*job ctx=7 seqno=[0-9]+'
check "at most a few lines per second are written to the journal" test "$(grep -c '<3>' <<<"$output")" -le 60
check "a line says that further incidents are only counted" says 'further ones of this second are only counted$'
idle
check "the module is stopped again" settled control stopped
wait $manager
check "the service reports to its manager that it is ready" grep -qx READY=1 told
check "the service manager gets WATCHDOG=1" test "$(grep -cx WATCHDOG=1 told)" -ge 3
check "the service manager gets STOPPING=1" test "$(tail -1 told)" = STOPPING=1

if [ "$(id -u)" = 0 ]; then
	fake_start 2 4 10
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 SUDO_UID=65534 SUDO_GID=65534 begin "$GRTRACE" serve -e kmod -l '[::1]:0' ||
		begin "$GRTRACE" serve -e kmod -l 127.0.0.1:0
	page now.prom
	check "of sudo's user" metrics check now.prom
	check "with sudo, the service runs as the user" grep -qE '^Uid:.65534.65534' /proc/$pid/status
	finish
	output=$(unshare -m sh -c 'for f in /lib/*/libmicrohttpd.so.12 /usr/lib/*/libmicrohttpd.so.12; do
		[ ! -e "$f" ] || mount --bind /dev/null "$(readlink -f "$f")"; done; exec "$0" serve -e kmod -l 0 -d 1' "$GRTRACE" 2>&1)
	status=$?
	expect "without the library" 3 '^grtrace serve: cannot load libmicrohttpd.so.12, which answers requests: .+'
	check "without the library: what to type" says '^  try: apt-get install libmicrohttpd12$'
fi
fake_stop
unset GRTRACE_DEBUGFS

# ---------------------------------------------------------------- the unit

env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$GRTRACE_SRC" install-service DESTDIR="$PWD/root" PREFIX=/usr
unit=root/usr/lib/systemd/system/grtrace.service
check "make install-service" grep -qx 'ExecStart=/usr/bin/grtrace serve $GRTRACE_SERVE_OPTIONS' $unit
if command -v systemd-analyze >/dev/null; then
	mkdir -p units
	sed "s,/usr/bin/grtrace,$GRTRACE," $unit >units/grtrace.service
	output=$(systemd-analyze verify --man=no units/grtrace.service 2>&1 | grep -F grtrace.service)
	check "systemd accepts the unit" silent
fi

plan
