#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# packages.sh WORK REPOSITORY: builds the packages that debian/ describes in the folder WORK, and makes the folder REPOSITORY, which
# apt can read: with these packages, their source, and those of cuda.mk that are in build/. It is signed with a key that is made at
# first use, in the cache. Prints how to install from it.
set -eu -o pipefail
work=$(realpath -m "$1") repository=$(realpath -m "$2") key=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/apt/key.asc
cd "$(dirname "$0")/.."
umask 022

lacks() { echo "make packages: $1: apt build-dep . && apt install apt-utils gpg gpg-agent" >&2; exit 1; }
for command in dpkg-buildpackage apt-ftparchive gpg gpg-agent; do
	command -v "$command" > /dev/null || lacks "no $command here"
done
unmet=$(dpkg-checkbuilddeps 2>&1) || lacks "${unmet#*error: }"
version=$(dpkg-parsechangelog -S Version)

# -z1: the source is packed for this machine alone, so time counts, not room
# the names of sources, and not the tree's, are in what is built: so it is the same wherever the tree is
rm -rf "$work"
mkdir -p "$work/kvgpu-$version"
selftests/tree-files.sh -print0 | tar --null --mode=u=rwX,go=rX -cf - -T - | tar -xf - --no-same-owner -C "$work/kvgpu-$version"
(cd "$work/kvgpu-$version" && env -u MAKEFLAGS -u MFLAGS -u O DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage --source-option=-z1 -us -uc) > "$work/log" 2>&1 || {
	tail -n 20 "$work/log" >&2
	echo "make packages: the packages were not built; the whole log: $work/log" >&2
	exit 1
}

home=$(mktemp -d)
trap 'gpgconf --homedir "$home" --kill gpg-agent; rm -rf "$home"' EXIT
gpg() { command gpg --homedir "$home" --batch --quiet --pinentry-mode loopback --passphrase '' "$@"; }
if [ ! -s "$key" ]; then
	mkdir -p "$(dirname "$key")"
	gpg --quick-generate-key 'kvgpu packages made on this machine' ed25519 sign never
	(umask 077 && gpg --armor --export-secret-keys > "$key.new")
	mv "$key.new" "$key"
else
	gpg --import "$key"
fi

rm -rf "$repository"
mkdir -p "$repository"
cp "$work"/*.deb "$work"/*.dsc "$work"/*.tar.* "$repository/"
for deb in "build/"*"_${version}_"*.deb; do
	[ ! -e "$deb" ] || cp "$deb" "$repository/"
done
cd "$repository"
apt-ftparchive packages . > Packages
apt-ftparchive sources . > Sources 2> /dev/null
gzip -9nk Packages Sources
apt-ftparchive -o APT::FTPArchive::Release::Origin=kvgpu -o APT::FTPArchive::Release::Label=kvgpu release . > "$work/Release"
gpg --clearsign --output InRelease "$work/Release"
{
	printf 'Types: deb\nURIs: file:%s\nSuites: ./\nSigned-By:\n' "$repository"
	gpg --armor --export | sed 's/^$/./; s/^/ /'
} > kvgpu.sources
echo "signed with $key, which has no passphrase: who can read it has root on each machine that installs from $repository"
printf '%s: cp it to /etc/apt/sources.list.d/, then: apt update && apt install kvgpu\n' "$repository/kvgpu.sources"
