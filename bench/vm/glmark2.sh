#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tracing costs a program that renders: glmark2-es2-drm's score in the guest,
# alternately without and with tracing and a reader, in one boot.
#
#	bench/vm/glmark2.sh [BUILD DIRECTORY]
#
# RUNS=10 of each kind, of SECONDS_EACH=3. Leave the machine alone meanwhile: its
# other work is in the scores too.

# shellcheck source=bench/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare grtrace
runs=${RUNS:-10}
each=${SECONDS_EACH:-3}

scores=$(guest --timeout $((120 + runs * 2 * (each + 12))) -- \
	sh bench/vm/_glmark2_guest.sh "$runs" "$each" 2>/dev/null) || {
	echo "glmark2.sh: the run in the guest failed: $scores" >&2
	exit 1
}
awk '
	function median(list, n,   i, j, t) {
		for (i = 1; i <= n; i++)
			for (j = i + 1; j <= n; j++)
				if (list[j] < list[i]) { t = list[i]; list[i] = list[j]; list[j] = t }
		return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
	}
	$1 == "off" { off[++n] = $2 }
	$1 == "on" { on[++m] = $2 }
	$1 == "events" || $1 == "lost" || $1 == "reader" { note[$1] = $2 }
	END {
		if (!n || n != m || !note["events"]) exit 1
		for (i = 1; i <= n; i++) {
			loss[i] = 100 * (off[i] - on[i]) / off[i]
			mean += loss[i] / n
			square += loss[i] ^ 2 / n
			printf "run %2d: %8.2f frames/s without tracing %8.2f with\n", i, off[i], on[i]
		}
		a = median(off, n)
		b = median(on, m)
		printf "median without %.2f, with %.2f: %.2f %% lost\n", a, b, 100 * (a - b) / a
		if (n > 1)
			printf "mean of the pairs: %.2f %% lost, standard error %.2f\n", mean,
				sqrt((square - mean ^ 2) / (n - 1))
		printf "the runs without tracing: %.2f to %.2f\n", off[1], off[n]
		printf "last traced run: %d events, %d lost, read by %s\n", note["events"], note["lost"], note["reader"]
	}' <<<"$scores"
