#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: loads modules, runs commands that print TAP, unloads, looks at
# the kernel log.
#
#	sh _guest.sh 'MODULES' 'COMMAND'...

# shellcheck source=tests/kernel/common
. "$(dirname "$0")/../kernel/common"
need_root_and_modules
mark_log
loaded=
for module in $1; do
	load "$module" || exit 1
	loaded="$module $loaded"
done
shift
for command; do
	sh -c "$command"
	status=$?
	[ $status -le 1 ] || echo "not ok - $command ended with status $status"
done

plan 2
unload_all() {
	for module in $loaded; do
		unload "$module" || return 1
	done
}
check "the modules unload after it" unload_all
check "the kernel log is free of complaints after it" log_clean
