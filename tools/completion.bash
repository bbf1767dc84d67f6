# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# bash's completion of kvgpu's commands: the options that their --help names, and files

_kvgpu()
{
	COMPREPLY=()
	case $2 in
	-*) mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2> /dev/null | grep -o -e '--[a-z-]*' | sort -u)" -- "$2") ;;
	esac
}
complete -o default -F _kvgpu kvgpu-firmware kvgpu-top kvgpu-verify
