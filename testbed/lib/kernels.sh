# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The server's kernels: fetched once with their headers, so that the image and the tools root
# always hold the same versions.

kernel_labels() { sed 's/#.*//' "$TB_DIR/packages/kernels.list" | awk 'NF { print $1 }'; }
default_kernel() { kernel_labels | head -n 1; }
kernel_suites() { awk -v k="$1" '$1 == k { $1 = ""; print }' "$TB_DIR/packages/kernels.list"; }

kernels_stage() {
	printf 'kernels-%s\n' "$(recipe_key "$TB_DIR/packages/kernels.list" "$TB_DIR/lib/kernels.sh" "=$(epoch)")"
}

# fetch_kernels: fills $STAGE_TMP with LABEL/*.deb and the file "versions" (LABEL RELEASE).
fetch_kernels() {
	local label
	for label in $(kernel_labels); do
		fetch_kernel "$label"
	done
}

fetch_kernel() {
	local label=$1 apt=$STAGE_TMP/apt.$1 release
	local -a suites packages
	read -ra suites < <(kernel_suites "$label")
	private_apt "$apt" "${suites[@]}"
	export APT_CONFIG=$apt/apt.conf
	release=$(apt-cache show --no-all-versions linux-image-amd64 |
		sed -n 's/^Depends:.*linux-image-\([0-9][^ ]*\).*/\1/p')
	case $release in
	"$label".*) ;;
	*) die "kernel $label is not in ${suites[*]} any more (linux-image-amd64 there is '$release')" \
		"change $TB_DIR/packages/kernels.list" ;;
	esac
	mapfile -t packages < <(kernel_packages)
	printf 'kernel %s: %s: %s\n' "$label" "$release" "${packages[*]}"
	mkdir "$STAGE_TMP/$label"
	(cd "$STAGE_TMP/$label" && apt-get -q download "${packages[@]}")
	unset APT_CONFIG
	rm -rf "$apt"
	printf '%s %s\n' "$label" "$release" >> "$STAGE_TMP/versions"
}

# The kernel's own packages behind the two metapackages; everything else they need is in the roots.
kernel_packages() {
	apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
		--no-replaces --no-enhances linux-image-amd64 linux-headers-amd64 |
		grep -E '^linux-(image|base|binary|modules|headers|kbuild)-[0-9]' |
		grep -vE -- '-unsigned$|-dbg$' | sort -u
}

# unpack_kernels ROOT headers|images: extracts those packages without their maintainer scripts.
unpack_kernels() {
	local deb kind
	for deb in "$STAGES/$(kernels_stage)"/*/*.deb; do
		case ${deb##*/} in
		linux-headers-* | linux-kbuild-*) kind=headers ;;
		*) kind=images ;;
		esac
		[ "$kind" = "$2" ] || continue
		# merged /usr: keep the links that the packages know as directories
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$1"
	done
}

# kernel_image ROOT RELEASE: Debian keeps it in /boot, from 7.0 on beside the modules.
kernel_image() {
	local path
	for path in "$1/boot/vmlinuz-$2" "$1/usr/lib/modules/$2/vmlinuz"; do
		[ ! -e "$path" ] || { printf '%s\n' "$path"; return; }
	done
	die "no kernel image for $2 in $1"
}

kernel_versions() { cat "$STAGES/$(kernels_stage)/versions"; }

# kernel_release LABEL: the full version behind a label of kernels.list.
kernel_release() {
	kernel_versions | awk -v k="$1" '$1 == k { print $2; found = 1 } END { exit !found }'
}
