# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Root file systems by mmdebstrap. The two of each bed:
#  tools:  QEMU of the outside runs from it, and programs for the server are built in it
#  server: what becomes the image of the server and of full guests

tools_stage()
{
	printf 'tools-%s\n' "$(recipe_key "$TB_DIR/packages/tools.list" "$TB_DIR/lib/roots.sh" "=$(kernels_key)")"
}

server_stage()
{
	printf 'server-%s\n' "$(recipe_key "$TB_DIR/packages/server.list" "$TB_DIR/lib/roots.sh" "=$(kernels_key)")"
}

# debootstrap_into DIR PACKAGES SUITE...: the base of these roots and of machine.sh's, in rounds.
debootstrap_into()
{
	find_archives
	in_rounds "making a root" debootstrap_round "${#ROOT_HOOKS[@]}" "${ROOT_HOOKS[@]}" "$@"
}

debootstrap_round()
{
	local option suite dir packages
	local -a options=() sources=() ROOT_HOOKS=("${@:2:$1}")
	shift $(($1 + 1))
	dir=$1 packages=$2
	shift 2
	awk -v dir="$dir/" 'index($5, dir) == 1 { print $5 }' /proc/self/mountinfo | sort -r | xargs -r umount -l
	discard_tree "$dir"
	while read -r option; do
		options+=("--aptopt=$option")
	done < <(root_apt_options)
	for suite in "$@"; do
		sources+=("$(source_line "$suite")")
	done
	mmdebstrap --variant=minbase --mode=root --architectures=amd64 "${options[@]}" \
		--aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
		--aptopt='APT::Update::Error-Mode "any"' --aptopt='APT::Sandbox::User "root"' \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='force-unsafe-io' \
		--keyring=/usr/share/keyrings/ "${ROOT_HOOKS[@]}" \
		--include="$packages" trixie "$dir" "${sources[@]}"
}

joined() { tr '\n' ',' | sed 's/,$//'; }

# tools.list marks packages that are preferred from backports
tools_pins()
{
	printf 'Package: %s\nPin: release n=trixie-backports\nPin-Priority: 900\n' \
		"$(awk '$1 == "backports" { printf "%s ", $2 }' "$TB_DIR/packages/tools.list")"
}

build_tools_root()
{
	local root=$STAGE_TMP/root pins=$STAGE_TMP/pins
	tools_pins > "$pins"
	ROOT_HOOKS=(--setup-hook="install -D -m 644 $pins \"\$1\"/etc/apt/preferences.d/tools")
	debootstrap_into "$root" \
		"$(sed 's/^backports//' "$TB_DIR/packages/tools.list" | list_words | joined)" \
		trixie trixie-security trixie-updates trixie-backports
	unpack_kernels "$root" headers
	chroot "$root" qemu-system-x86_64 --version
}

build_server_root()
{
	local root=$STAGE_TMP/root release
	ROOT_HOOKS=()
	debootstrap_into "$root" "$(list_words "$TB_DIR/packages/server.list" | joined)" \
		trixie trixie-security trixie-updates
	unpack_kernels "$root" images
	for release in $(kernel_versions | cut -d' ' -f2); do
		chroot "$root" depmod "$release"
	done
}
