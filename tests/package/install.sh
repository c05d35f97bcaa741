#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make modules_install into a directory: where the modules go, with whose
# signature, and that an older copy which modprobe would take is named; and
# make modules_uninstall.

set -u -o pipefail
number=0
check() { # TITLE COMMAND...
	number=$((number + 1))
	if "${@:2}" >said 2>&1; then
		echo "ok $number - $1"
	else
		tail -n 30 said | sed 's/^/# /'
		echo "not ok $number - $1"
		return 1
	fi
}

headers=$(ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -V | tail -n 1)
[ -n "$headers" ] || { echo "1..0 # SKIP no kernel headers: tools/setup check" && exit; }
command -v openssl >/dev/null || { echo "1..0 # SKIP no openssl: tools/setup check" && exit; }
release=${headers#/usr/src/linux-headers-}
top=dest/lib/modules/$release

install_modules() { # [SETTINGS]; status and messages: $status, messages
	env -u MAKEFLAGS make -s -C "$GRTRACE_SRC" O="$GRTRACE_PLAIN" KDIR="$headers" DESTDIR="$PWD/dest" \
		modules_install "$@" >messages 2>&1
	status=$?
	cat messages
	return $status
}

in_updates() {
	diff <(cd "$top/updates" && ls -- *.ko) <(cd "$GRTRACE_PLAIN/kernel" && ls -- *.ko)
}

make_key() {
	openssl req -new -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=key of a test/" \
		-addext extendedKeyUsage=codeSigning -keyout key -outform DER -out cert
}

signed() {
	local file
	for file in "$top"/updates/*.ko; do
		[ "$(modinfo -F signer "$file")" = 'key of a test' ] || { echo "$file" && return 1; }
	done
}

refused() { # COMMAND...
	! "$@"
}

# Run from what its user can read: the tree need not be that.
told_to_be_root() {
	cp "$GRTRACE_SRC/tools/install-modules" .
	setpriv --reuid 65534 --regid 65534 --clear-groups sh ./install-modules "$GRTRACE_PLAIN" "$headers" \
		"$PWD/dest" >messages 2>&1
	[ $? = 3 ] && grep -q 'cannot write there: run it with sudo' messages || { cat messages && return 1; }
}

check "modules_install" install_modules
check "every module is in updates/, and no other" in_updates
check "modprobe knows them" grep -q '^updates/grtrace.ko:' "$top/modules.dep"
check "without a key they are not signed" refused grep -q . <(modinfo -F signer "$top/updates/grtrace.ko")
check "a key is made as docs/install.md says" make_key
check "modules_install with it" install_modules SIGN_KEY="$PWD/key" SIGN_CERT="$PWD/cert"
check "each bears its signature" signed

mkdir "$top/extra" "$top/updates/dkms"
cp "$top/updates/grtrace.ko" "$top/extra/"
check "a copy that modprobe does not take is no reason to fail" install_modules
cp "$top/updates/grtrace.ko" "$top/updates/dkms/"
mv "$top/extra/grtrace.ko" "$top/extra/grtrace_gone.ko"
check "one that it does take is one" refused install_modules
check "it is named, with what to type" grep -q "grtrace: modprobe prefers .*/updates/dkms/grtrace.ko.*: rm " messages
check "so is one that this version does not have" grep -q "/extra/grtrace_gone.ko: .*: rm " messages
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 . dest
	check "the error for a user who may not write there says what to type" told_to_be_root
fi

uninstall_modules() {
	env -u MAKEFLAGS make -s -C "$GRTRACE_SRC" O="$GRTRACE_PLAIN" KDIR="$headers" DESTDIR="$PWD/dest" \
		modules_uninstall >messages 2>&1
	status=$?
	cat messages
	return $status
}
: >"$top/updates/other.ko"
check "modules_uninstall" uninstall_modules
check "it removes our modules, and no others" test "$(cd "$top" && find . -name '*.ko*' | sort | xargs)" = \
	'./extra/grtrace_gone.ko ./updates/dkms/grtrace.ko ./updates/other.ko'
check "modprobe does not know them any more" sh -c "! grep '^updates/grtrace' '$top/modules.dep'"
check "a second time it says that there is nothing" refused uninstall_modules
check "and what to type" grep -q 'updates: there is no module of grtrace: give KDIR=' messages
echo "1..$number"
