#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# matrix.sh [SET...]: builds kvgpu.ko with the amd64 kernel header packages that the archive offers. A
# SET is a Debian release that the test bed has a kernel of, or its backports; by default all of
# these. Prints TAP. A build that passed is recorded in the cache and not repeated.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export LC_ALL=C.UTF-8
# shellcheck source=selftests/kernels.sh
. selftests/kernels.sh
# shellcheck source=testbed/lib/messages.sh
. testbed/lib/messages.sh
# shellcheck source=testbed/lib/archive.sh
. testbed/lib/archive.sh
home=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/matrix
results=0 failures=0

result() # ok|'not ok' NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" = ok ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$1" $results "$2" "${3:+ # $3}"
}

# releases: prints the Debian releases that the kernels of the test bed come from; sets: these and
# their backports
releases() { sed 's/#.*//' testbed/packages/kernels.list | awk 'NF { sub(/-backports/, "", $1); print $1 }' | sort -u; }
sets() { for release in $(releases); do printf '%s\n%s-backports\n' "$release" "$release"; done; }

# header_packages APT-FOLDER: prints the header packages of single kernels, newest first.
# Metapackages have fewer than three numbers in their version and are left out.
header_packages()
{
	APT_CONFIG=$1/apt.conf apt-cache pkgnames linux-headers- | grep -E '^linux-headers-[0-9]+\.[0-9]+\.[0-9]+.*-amd64$' | sort -Vr
}

# offered SET: prints the header packages of a release, or those that its backports have beyond
# these
offered()
{
	local release=${1%-backports}
	if [ "$1" = "$release" ]; then
		header_packages "$work/apt-$release"
	else
		header_packages "$work/apt-$1" | grep -vxFf <(header_packages "$work/apt-$release")
	fi
}

open_archive() # SET: fetches the package lists of the set
{
	local release=${1%-backports}
	[ -e "$work/apt-$release/apt.conf" ] || private_apt "$work/apt-$release" "$release" "$release-security" "$release-updates" || return
	[ "$1" = "$release" ] ||
		private_apt "$work/apt-$1" "$release" "$release-security" "$release-updates" "$1"
}

# unpack SET PACKAGE...: fetches the packages and unpacks them into $work/root
unpack()
{
	local set=$1 package deb
	shift
	for package; do
		[ ! -e "$work/debs/$package" ] || continue
		rm -rf "$work/fetch"
		mkdir -p "$work/fetch" "$work/debs"
		(cd "$work/fetch" && APT_CONFIG=$work/apt-$set/apt.conf apt-get -q download "$package") || return
		for deb in "$work/fetch"/*.deb; do
			dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$work/root" || return
		done
		touch "$work/debs/$package"
	done
}

needed_by() # SET PACKAGE: prints the header and kbuild packages that the package depends on
{
	APT_CONFIG=$work/apt-$1/apt.conf apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
		--no-replaces --no-enhances "$2" | grep -E '^linux-(headers|kbuild)-[0-9]' | sort -u
}

fresh_root()
{
	rm -rf --one-file-system -- "$work/root" "$work/debs"
	mkdir -p "$work/root/usr/lib" && ln -s usr/lib "$work/root/lib"
}

# build SET PACKAGE: one test: builds kvgpu.ko with that header package
build()
{
	local release=${2#linux-headers-} name began=$SECONDS why
	local -a packages
	name="kvgpu.ko builds for $release ($1)"
	if [ -e "$home/$2.$key" ]; then
		result ok "$name" "$(cat "$home/$2.$key")"
		return
	fi
	fresh_root
	if ! unpack "$1" "$2" >"$work/log" 2>&1; then
		tail -n 10 "$work/log" | sed 's/^/# /'
		result 'not ok' "$2 is fetched"
		return
	fi
	if ! grep -q '^CONFIG_VFIO_MDEV=[my]' "$work/root/usr/src/$2/.config"; then
		case $release in
		*-rt-* | *-cloud-*) result ok "$name" "SKIP this kernel has no mediated devices (CONFIG_VFIO_MDEV)" ;;
		*) result 'not ok' "$name" "this kernel has no mediated devices (CONFIG_VFIO_MDEV)" ;;
		esac
		return
	fi
	mapfile -t packages < <(needed_by "$1" "$2")
	if ! unpack "$1" "${packages[@]}" >"$work/log" 2>&1; then
		tail -n 10 "$work/log" | sed 's/^/# /'
		result 'not ok' "${packages[*]} are fetched"
		return
	fi
	if testbed/tb build-exec -- "$PWD/selftests/module/kernels/matrix_inside.sh" "$work" "$release" >"$work/log" 2>&1 </dev/null; then
		printf '%s\n' "$((SECONDS - began)) s, $(date -u +%F)" >"$home/$2.$key"
		result ok "$name" "$((SECONDS - began)) s"
	else
		tail -n 30 "$work/log" | sed 's/^/# /'
		why=$(grep '^kvgpu: \|warning:' "$work/log" | tail -n 1)
		result 'not ok' "$name" "$why"
	fi
}

# matrix SET: builds for all packages of the set, and records whether all passed
matrix()
{
	local package newest='' failed=$failures
	local -a packages
	if ! open_archive "$1" >"$work/log" 2>&1; then
		[[ $1 != *-backports ]] || ! open_archive "${1%-backports}" >"$work/log.release" 2>&1 || {
			result ok "the archive's list of $1" "SKIP this archive has no $1 (any more)"
			return
		}
		tail -n 10 "$work/log" | sed 's/^/# /'
		result 'not ok' "the archive's list of $1"
		return
	fi
	mapfile -t packages < <(offered "$1")
	if [ ${#packages[@]} -eq 0 ] && [[ $1 = *-backports ]]; then
		result ok "$1 offers kernel headers" "SKIP none beyond those of ${1%-backports}"
		return
	elif [ ${#packages[@]} -eq 0 ]; then
		result 'not ok' "$1 offers kernel headers"
		return
	fi
	for package in "${packages[@]}"; do
		case $package in *-rt-* | *-cloud-*) ;; *) newest=${newest:-${package#linux-headers-}} ;; esac
		build "$1" "$package"
	done
	kernel_record matrix long "$1" "$newest" "$([ $failures -eq "$failed" ] && echo passed || echo failed)"
}

mapfile -t wanted < <(if [ $# -gt 0 ]; then printf '%s\n' "$@"; else sets; fi)
for set in "${wanted[@]}"; do
	sets | grep -qxF -- "$set" || { echo "usage: selftests/module/kernels/matrix.sh [SET...], SET of: $(sets | xargs)" >&2; exit 2; }
done
mkdir -p "$home"
work=$(mktemp -d "$home/work.XXXXXX") || exit 1
trap 'rm -rf --one-file-system -- "$work"' EXIT
trap 'exit 130' INT TERM
make -s --no-print-directory print-module-sources >"$work/sources.list" && mkdir "$work/sources" &&
	tar -cf - -T "$work/sources.list" | tar -xf - --no-same-owner -C "$work/sources" || exit 1
# key: a hash of the module's sources and of the script that builds them
key=$({ cd "$work/sources" && find . -type f -print0 | sort -z | xargs -0 cat; cat "$OLDPWD/selftests/module/kernels/matrix_inside.sh"; } |
	sha256sum | cut -c1-16)
find "$home" -maxdepth 1 -type f -mtime +60 -delete
find "$home" -maxdepth 1 -name "work.*" ! -path "$work" -mmin +600 -exec rm -rf --one-file-system -- {} +
for set in "${wanted[@]}"; do matrix "$set"; done
printf '1..%d\n' $results
[ $failures -eq 0 ]
