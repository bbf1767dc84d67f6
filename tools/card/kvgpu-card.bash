# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Completes kvgpu-card: its commands, and the addresses of NVIDIA's cards. bash splits words at the colons of an address, so the
# word is taken from the line, and an answer begins behind the last colon that was typed.
_kvgpu_card()
{
	local line=${COMP_LINE:0:COMP_POINT} device words=--json vendor class
	local word=${line##* }
	if [[ $line =~ ^[^\ ]+\ +[^\ ]*$ ]]; then
		words="status share whole host --help"
	else
		for device in "${KVGPU_SYSFS:-/sys}"/bus/pci/devices/*; do
			{ read -r vendor <"$device/vendor" && read -r class <"$device/class"; } 2>/dev/null || continue
			[ "$vendor" != 0x10de ] || [[ $class != 0x03* ]] || words+=" ${device##*/}"
		done
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
}
complete -F _kvgpu_card kvgpu-card
