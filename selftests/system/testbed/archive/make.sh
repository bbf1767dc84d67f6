# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced by archive_test.sh. Makes a small Debian archive with kernels of made-up versions, signed
# by a key of its own: $scratch/key.gpg, with the secret key in $scratch/gnupg. $scratch is the
# test's folder.

make_key()
{
	mkdir -m 700 "$scratch/gnupg"
	gpg --homedir "$scratch/gnupg" --batch --quiet --passphrase '' --quick-gen-key rehearsal ed25519 sign never
	gpg --homedir "$scratch/gnupg" --batch --export > "$scratch/key.gpg"
	gpg --homedir "$scratch/gnupg" --batch --armor --export > "$scratch/key.asc"
}

# package FOLDER NAME VERSION ARCHITECTURE DEPENDS [KIB]: makes a package that contains KIB (8) KiB
# of random bytes
package()
{
	local root=$scratch/package
	rm -rf "$root"
	mkdir -p "$root/DEBIAN" "$root/usr/share/$2" "$1"
	head -c "${6:-8}K" /dev/urandom > "$root/usr/share/$2/content"
	printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: rehearsal <r@localhost>\nDescription: made up\n' "$2" "$3" "$4" \
		> "$root/DEBIAN/control"
	[ -z "$5" ] || printf 'Depends: %s\n' "$5" >> "$root/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone --build "$root" "$1/$2_${3}_$4.deb" > /dev/null
}

# kernel FOLDER RELEASE VERSION: makes packages with the names and dependencies that Debian's
# packages of a kernel have
kernel()
{
	package "$1" "linux-kbuild-$2" "$3" amd64 ""
	package "$1" "linux-headers-$2-common" "$3" all ""
	package "$1" "linux-headers-$2-amd64" "$3" amd64 "linux-headers-$2-common (= $3), linux-kbuild-$2"
	package "$1" "linux-image-$2-amd64" "$3" amd64 "kmod" 400
	package "$1" linux-image-amd64 "$3" amd64 "linux-image-$2-amd64 (= $3)"
	package "$1" linux-headers-amd64 "$3" amd64 "linux-headers-$2-amd64 (= $3)"
	package "$1" kmod 1 amd64 ""
}

# release ROOT CODENAME SUITE POOL [ORIGIN [LABEL]]: makes ROOT/dists/CODENAME, signed, with the
# packages of ROOT/POOL
release()
{
	local root=$1 codename=$2 suite=$3 pool=$4 origin=${5:-Debian} label=${6:-Debian} dir=$1/dists/$2
	mkdir -p "$dir/main/binary-amd64" "$root/$pool"
	(cd "$root" && apt-ftparchive packages "$pool") > "$dir/main/binary-amd64/Packages"
	gzip -k "$dir/main/binary-amd64/Packages"
	apt-ftparchive -o "APT::FTPArchive::Release::Origin=$origin" -o "APT::FTPArchive::Release::Label=$label" \
		-o "APT::FTPArchive::Release::Codename=$codename" -o "APT::FTPArchive::Release::Suite=$suite" \
		-o APT::FTPArchive::Release::Architectures="amd64 all" -o APT::FTPArchive::Release::Components=main \
		release "$dir" > "$scratch/Release"
	mv "$scratch/Release" "$dir/Release"
	gpg --homedir "$scratch/gnupg" --batch --quiet --yes --clearsign -o "$dir/InRelease" "$dir/Release"
	[ "$suite" = "$codename" ] || ln -s "$codename" "$root/dists/$suite"
}

# archive FOLDER NUMBER [ORIGIN]: makes suites of Debian with kernels x.y.NUMBER, and beside them a
# repository zz-other of another origin
archive()
{
	local root=$1/debian number=$2 origin=${3:-Debian}
	kernel "$root/pool/trixie" "9.1.$number" "9.1.$number-1"
	kernel "$root/pool/bookworm" "8.4.$number" "8.4.$number-1"
	kernel "$root/pool/backports" "9.7.$number" "9.7.$number-1~bpo13+1"
	release "$root" trixie stable pool/trixie "$origin" "$origin"
	release "$root" trixie-updates stable-updates pool/none "$origin" "$origin"
	release "$root" bookworm oldstable pool/bookworm "$origin" "$origin"
	release "$root" bookworm-updates oldstable-updates pool/none "$origin" "$origin"
	release "$root" trixie-backports stable-backports pool/backports "$origin Backports" "$origin Backports"
	release "$1/debian-security" trixie-security stable-security pool/none "$origin" "$origin-Security"
	release "$1/debian-security" bookworm-security oldstable-security pool/none "$origin" "$origin-Security"
	package "$1/zz-other/pool" linux-image-amd64 99 amd64 "linux-image-99-amd64"
	release "$1/zz-other" bookworm bookworm pool Elsewhere Elsewhere
	ln -s bookworm "$1/zz-other/dists/trixie"
}
