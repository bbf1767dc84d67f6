#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# fetch.sh: prints the folder with this Debian's Slurm and munge, unpacked in ${KVGPU_CACHE:-~/.cache/kvgpu}/slurm. What is not
# there yet is fetched through the mirror that this machine uses. Nothing is installed.
set -eu
cache=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/slurm
tb=$(dirname "$(readlink -f "$0")")/../../testbed/tb
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
packages="slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libmunge2 libgcrypt20 libgpg-error0 libhwloc15 libnuma1 liblz4-1"

complete() { [ "$(cat "$cache/root/.packages" 2>/dev/null)" = "$suite $packages" ]; }

# the links that dpkg's alternatives make
link_names()
{
	local program name

	for program in "$1"/usr/sbin/*-wlm "$1"/usr/bin/*-wlm; do
		name=${program##*/}
		[ ! -e "$program" ] || ln -sf "$name" "${program%-wlm}"
	done
}

fetch()
{
	local deb
	local -a names

	read -ra names <<< "$packages"
	mkdir -p "$cache"
	exec 9> "$cache/lock"
	flock 9
	complete && return
	"$tb" internal-stage in_rounds "fetching Slurm" fetch_debs "$cache/debs" "$suite" "${names[@]}" >&2
	rm -rf "$cache/new" "$cache/root"
	mkdir "$cache/new"
	for deb in "$cache/debs"/*.deb; do
		dpkg -x "$deb" "$cache/new"
	done
	link_names "$cache/new"
	echo "$suite $packages" > "$cache/new/.packages"
	mv -T "$cache/new" "$cache/root"
	rm -r "$cache/debs"
}

complete || fetch
echo "$cache/root"
