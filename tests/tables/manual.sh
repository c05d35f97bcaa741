#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The manual pages are well-formed.
if ! command -v mandoc >/dev/null; then
	echo "1..0 # SKIP no mandoc: apt-get install mandoc"
	exit
fi
n=0
for page in "$GRTRACE_SRC"/docs/*.[1-8]; do
	n=$((n + 1))
	# A reference to a page of this directory or of the system that is not installed is no fault of the page.
	if messages=$(mandoc -T lint -W warning "$page" 2>&1) && [ -z "$messages" ]; then
		echo "ok $n - $(basename "$page")"
	else
		echo "not ok $n - $(basename "$page")"
		echo "${messages//$GRTRACE_SRC\//}"
	fi
done
echo "1..$n"
