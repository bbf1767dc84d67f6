# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034
# Sourced by package.sh here and in remote/: what all our packages have in common. They are made on the spot by dpkg-deb, of files
# that were built before. Call these functions at the top of the tree; after deb_begin $tmp is removed when the script ends. DEBFULLNAME
# and DEBEMAIL name the maintainer, as they do for Debian's own tools.

# deb_begin NAME VERSION FOLDER...: an empty package in $tmp; the same one again of the same sources, which are in FOLDER...
deb_begin()
{
	package=$1 version=$2
	shift 2
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	chmod 755 "$tmp"
	umask 022
	lib=$tmp/usr/lib/x86_64-linux-gnu doc=$tmp/usr/share/doc/$package man=$tmp/usr/share/man
	maintainer="${DEBFULLNAME:-kvgpu} <${DEBEMAIL:-kvgpu@localhost}>"
	overrides=()
	# a tarball of the sources has the commit's time on its files
	if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
		{ [ -e .git ] && SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null); } ||
			SOURCE_DATE_EPOCH=$(find "$@" -type f -printf '%Ts\n' | sort -n | tail -n 1)
	fi
	export SOURCE_DATE_EPOCH
	mkdir "$tmp/DEBIAN"
}

deb_documents()
{
	mkdir -p "$doc" "$tmp/usr/share/lintian/overrides"
	{
		printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
		printf 'Files: *\nCopyright: 2026 the kvgpu authors\nLicense: Expat\n'
		sed '1,/^Copyright/d; s/^$/./; s/^/ /' LICENSES/MIT.txt | sed '1d'
	} > "$doc/copyright"
	printf '%s (%s) unstable; urgency=medium\n\n  * The state of this day.\n\n -- %s  %s\n' "$package" "$version" "$maintainer" \
		"$(date -R -u -d "@$SOURCE_DATE_EPOCH")" > "$doc/changelog"
	debian/cut-links.sh "$doc"
	[ ! -d "$man" ] || find "$man" -type f -exec gzip -9n {} +
	gzip -9n "$doc/changelog"
	{
		printf '# made on the spot, for the machine'"'"'s own use: nobody to write to\n'
		printf '%s: bogus-mail-host *\n%s: bogus-mail-host-in-debian-changelog *\n' "$package" "$package"
		[ ${#overrides[@]} = 0 ] || printf '%s\n' "${overrides[@]}"
	} > "$tmp/usr/share/lintian/overrides/$package"
}

# libcuda.so beside libcuda.so.1, as with NVIDIA's driver: programs load that name (scikit-cuda), and -lcuda finds it
deb_plain_name()
{
	ln -s libcuda.so.1 "$lib/libcuda.so"
	overrides+=("# programs load that name, as NVIDIA's driver has it" "$package: link-to-shared-library-in-wrong-package *")
}

# deb_glibc FILE...: the oldest glibc that has all they call
deb_glibc() { objdump -T "$@" | grep -oP 'GLIBC_\K[0-9.]+' | sort -V | tail -n 1; }

# deb_build OUT SECTION < FIELDS: the fields of control that differ; prints where the package is
deb_build()
{
	deb_documents
	{
		printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: %s\n' "$package" "$version" "$maintainer"
		printf 'Installed-Size: %s\nSection: %s\nPriority: optional\n' \
			"$(du -sk --apparent-size --exclude=DEBIAN "$tmp" | cut -f1)" "$2"
		cat
	} > "$tmp/DEBIAN/control"
	# what is in /etc is the admin's once it is there
	[ ! -d "$tmp/etc" ] || (cd "$tmp" && find etc -type f -printf '/%p\n' | LC_ALL=C sort > DEBIAN/conffiles)
	(cd "$tmp" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 md5sum) > "$tmp/DEBIAN/md5sums"
	dpkg-deb --root-owner-group --build "$tmp" "$1/${package}_${version}_amd64.deb" > /dev/null
	echo "$1/${package}_${version}_amd64.deb"
}
