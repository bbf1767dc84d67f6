# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The server's kernels. A kernel's label is its Debian suite; packages/kernels.list also gives it a
# role (base, oldest, newest).

kernel_lines() { sed 's/#.*//' "$TB_DIR/packages/kernels.list" | awk 'NF >= 3'; }
kernel_labels() { kernel_lines | awk '{ print $1 }'; }
default_kernel() { kernel_of_role base; }
kernel_suites() { kernel_lines | awk -v k="$1" '$1 == k { $1 = $2 = ""; print }'; }
kernel_role() { kernel_lines | awk -v k="$1" '$1 == k { print $2 }'; }
kernel_of_role() { kernel_lines | awk -v r="$1" '$2 == r { print $1 }'; }

# kernel_names: prints all that the option --kernel takes
kernel_names() { printf '%s (%s)\n' "$(kernel_labels | xargs) $DEBUG_LABEL" "$(kernel_lines | awk '{ print $2 }' | xargs)"; }

# kernel_label NAME: prints the label of the kernel with this suite or role
kernel_label()
{
	if is_debug_kernel "$1"; then
		printf '%s\n' "$1"
	else
		kernel_lines | awk -v n="$1" '$1 == n || $2 == n { print $1; found = 1; exit } END { exit !found }'
	fi
}

# kernel_stage LABEL: prints the stage's name. Its recipe is not the text of these scripts, so that
# a change of them fetches no kernel again.
kernel_stage() # LABEL
{
	printf 'kernel-%s-%s\n' "$1" "$(recipe_key "=form 2" "=$(kernel_suites "$1")" "=$(epoch)")"
}

# kernels_key: prints the stages of all kernels, for recipes
kernels_key() { kernel_labels | while read -r label; do kernel_stage "$label"; done; }

kernels_are_there()
{
	local label
	for label in $(kernel_labels); do
		[ -d "$STAGES/$(kernel_stage "$label")" ] || return 1
	done
}

missing_kernels()
{
	local label
	for label in $(kernel_labels); do
		[ -d "$STAGES/$(kernel_stage "$label")" ] || printf '%s\n' "$label"
	done
}

fetch_kernels()
{
	local label text
	# once, for all kernels
	[ -z "$(missing_kernels)" ] || find_archives
	for label in $(missing_kernels); do
		text="fetching the $(kernel_role "$label") kernel ($label)"
		build_stage "$(kernel_stage "$label")" "$text" in_rounds "$text" fetch_kernel "$label"
		say "the $(kernel_role "$label") kernel ($label) is $(kernel_release "$label")"
	done
}

# fetch_kernel LABEL: fills $STAGE_TMP with the packages and the file "release".
fetch_kernel()
{
	local label=$1 apt=$STAGE_TMP/apt release
	local -a suites packages
	read -ra suites < <(kernel_suites "$label")
	private_apt "$apt" "${suites[@]}"
	export APT_CONFIG=$apt/apt.conf
	release=$(apt-cache show --no-all-versions linux-image-amd64 |
		sed -n 's/^Depends:.*linux-image-\([0-9][^ ]*\).*/\1/p')
	[ -n "$release" ] || die "there is no linux-image-amd64 in ${suites[*]}" \
		"another suite can play this role: $TB_DIR/packages/kernels.list"
	mapfile -t packages < <(kernel_packages)
	printf 'kernel %s: %s: %s\n' "$label" "$release" "${packages[*]}"
	fetch_packages "$STAGE_TMP" "${packages[@]}"
	unset APT_CONFIG
	rm -rf "$apt"
	printf '%s\n' "$release" > "$STAGE_TMP/release"
}

# kernel_packages: prints the packages of the kernel itself that the two metapackages depend on.
kernel_packages()
{
	apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
		--no-replaces --no-enhances linux-image-amd64 linux-headers-amd64 |
		grep -E '^linux-(image|base|binary|modules|headers|kbuild)-[0-9]' |
		grep -vE -- '-unsigned$|-dbg$' | sort -u
}

# unpack_kernels ROOT headers|images: unpacks the headers or the images of all kernels into ROOT
unpack_kernels()
{
	local deb kind label
	for label in $(kernel_labels); do
		for deb in "$STAGES/$(kernel_stage "$label")"/*.deb; do
			case ${deb##*/} in
			linux-headers-* | linux-kbuild-*) kind=headers ;;
			*) kind=images ;;
			esac
			[ "$kind" = "$2" ] || continue
			# in ROOT /lib is a link, in the packages a folder: keep the link
			dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$1"
		done
	done
}

# kernel_image ROOT RELEASE: prints the path of the kernel's vmlinuz
kernel_image()
{
	local path
	for path in "$1/boot/vmlinuz-$2" "$1/usr/lib/modules/$2/vmlinuz"; do
		[ ! -e "$path" ] || { printf '%s\n' "$path"; return; }
	done
	die "no kernel image for $2 in $1"
}

# kernel_versions: prints "LABEL RELEASE ROLE" of each kernel
kernel_versions()
{
	local label
	for label in $(kernel_labels); do
		printf '%s %s %s\n' "$label" "$(kernel_release "$label")" "$(kernel_role "$label")"
	done
}

# kernel_release LABEL: prints the kernel's full version, as uname -r does
kernel_release() { cat "$STAGES/$(kernel_stage "$1")/release"; }
