#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Prints the path of checkpatch.pl. It takes the script out of Debian's linux-source package, and
# keeps it in the cache with the two lists that it reads. KVGPU_CHECKPATCH is the path of another
# checkpatch.pl to use.
set -eu
fail()
{
	echo "checkpatch.sh: $*" >&2
	exit 1
}

[ -z "${KVGPU_CHECKPATCH-}" ] || { printf '%s\n' "$KVGPU_CHECKPATCH"; exit; }
cache=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/checkpatch
mkdir -p "$cache"
exec 9> "$cache/lock"
flock 9
if [ ! -s "$cache/checkpatch.pl" ]; then
	package=$(apt-cache depends linux-source | sed -n 's/^ *Depends: //p') && [ -n "$package" ] ||
		fail "apt knows no package linux-source: apt-get update"
	work=$(mktemp -d -p "$cache")
	trap 'rm -rf -- "$work"' EXIT
	cd "$work"
	# download as root: the user _apt may not write to this folder, and apt would warn
	apt-get download -q -o APT::Sandbox::User=root "$package" > said 2>&1 || fail "$package: $(cat said)"
	dpkg-deb --fsys-tarfile ./*.deb | tar -xO "./usr/src/$package.tar.xz" | tar -xJ --strip-components=2 \
		"$package"/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch}
	mv spelling.txt const_structs.checkpatch "$cache"
	mv checkpatch.pl "$cache"
fi
printf '%s\n' "$cache/checkpatch.pl"
