#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# fetch.sh NAME SUITE PACKAGE...: prints a folder with these packages of SUITE ("-": this Debian), unpacked in
# ${KVGPU_CACHE:-~/.cache/kvgpu}/fetched. What is not there yet is fetched through the mirror that this machine uses. Nothing is
# installed, and no package that they depend on comes along.
set -eu
cache=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/fetched
tb=$(dirname "$(readlink -f "$0")")/../testbed/tb
name=$1 suite=$2
shift 2
# shellcheck source=/dev/null
[ "$suite" != - ] || suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
root=$cache/$name-$suite

complete() { [ "$(cat "$root/.packages" 2>/dev/null)" = "$*" ]; }

fetch()
{
	local deb
	mkdir -p "$cache"
	exec 9> "$root.lock"
	flock 9
	complete "$@" && return
	"$tb" internal-stage in_rounds "fetching packages for $name" fetch_debs "$root.debs" "$suite" "$@" >&2
	rm -rf "$root.new" "$root"
	mkdir "$root.new"
	for deb in "$root.debs"/*.deb; do
		dpkg -x "$deb" "$root.new"
	done
	echo "$*" > "$root.new/.packages"
	mv -T "$root.new" "$root"
	rm -r "$root.debs"
}

complete "$@" || fetch "$@"
echo "$root"
