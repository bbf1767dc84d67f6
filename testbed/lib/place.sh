# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Where this tree, its cache and its build folder may lie. Asked first of all, by testbed/tb and by the Makefile alike
# (place.mk): later the answer would be an error of make, Kbuild or overlayfs that names something else.

# a recipe's line with a hundred programs of the build folder in it has to stay below the kernel's 128 KiB
PLACE_LONGEST=500

# place_fault WHAT PATH: a line that says why PATH can't be WHAT; nothing if it can. What make, Kbuild's shell, mount options
# or QEMU's command line take for their own is refused, and nothing else: letters of any language are fine.
place_fault()
{
	local what=$1 path=$2 bad=$'[][ \t\n\r:;,=%#$&*?!\'"`\\|<>(){}^]' found
	if [[ $path =~ $bad ]]; then
		found=${BASH_REMATCH[0]}
		case $found in
		' ') found='a blank' ;;
		$'\t' | $'\n' | $'\r') found='a tab or a line break' ;;
		:) found='a colon' ;;
		*) found="the character $found" ;;
		esac
		printf "%s can't be %q: make and the kernel's build don't take %s in a path\n" "$what" "$path" "$found"
	elif [ ${#path} -gt $PLACE_LONGEST ]; then
		printf "%s can't be %s...: its path has %d characters, and command lines grow too long with more than %d\n" \
			"$what" "${path:0:60}" ${#path} $PLACE_LONGEST
	elif [ "$path" = / ]; then
		printf "%s can't be /: it has to be a folder of its own\n" "$what"
	elif ! runs_programs "$path"; then
		printf "%s can't be %s: programs on that file system can't be run (it is mounted noexec)\n" "$what" "$path"
	fi
}

# runs_programs PATH: of what is there, or of the folder in which it will be made
runs_programs()
{
	local path=$1 mount options of='' found=''
	while [ ! -e "$path" ] && [ -n "$path" ]; do path=${path%/*}; done
	path=$(cd -P -- "${path:-/}" 2> /dev/null && pwd) && [ -r /proc/self/mountinfo ] || return 0
	# the mount with the longest path that leads there; of several in one place the last
	while read -r _ _ _ _ mount options _; do
		case $path/ in
		"${mount%/}"/*) [ ${#mount} -lt ${#found} ] || found=$mount of=$options ;;
		esac
	done < /proc/self/mountinfo
	case ,$of, in *,noexec,*) return 1 ;; esac
}

# place_faults TREE CACHE [O]: of the three, the first that can't be
place_faults()
{
	local fault
	fault=$(place_fault "the folder of this tree" "$1")
	[ -n "$fault" ] || fault=$(place_fault "the cache (KVGPU_CACHE)" "$2")
	[ -n "$fault" ] || [ -z "${3-}" ] || fault=$(place_fault "the build folder (O)" "$3")
	[ -z "$fault" ] || printf '%s; choose another place\n' "$fault"
}
