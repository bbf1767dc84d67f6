# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Which folders can be this tree, its cache and its build folder. A bad path would fail later, with
# an error that does not name the cause. The Makefile sources this file alone (place.mk).

# characters in a path: Linux limits one argument, such as a recipe's line for sh -c, to 128 KiB
PLACE_LONGEST=500

# place_fault WHAT PATH: prints a line that says why PATH can't be WHAT, or nothing if it can.
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

# runs_programs PATH: false if the file system at PATH is mounted noexec.
runs_programs()
{
	local path=$1 mount options of='' found=''
	while [ ! -e "$path" ] && [ -n "$path" ]; do path=${path%/*}; done
	path=$(cd -P -- "${path:-/}" 2> /dev/null && pwd) && [ -r /proc/self/mountinfo ] || return 0
	# the longest mount point that leads to PATH counts; of several, the last
	while read -r _ _ _ _ mount options _; do
		case $path/ in
		"${mount%/}"/*) [ ${#mount} -lt ${#found} ] || found=$mount of=$options ;;
		esac
	done < /proc/self/mountinfo
	case ,$of, in *,noexec,*) return 1 ;; esac
}

# place_faults TREE CACHE [O]: prints the fault of the first that can't be used
place_faults()
{
	local fault
	fault=$(place_fault "the folder of this tree" "$1")
	[ -n "$fault" ] || fault=$(place_fault "the cache (KVGPU_CACHE)" "$2")
	[ -n "$fault" ] || [ -z "${3-}" ] || fault=$(place_fault "the build folder (O)" "$3")
	[ -z "$fault" ] || printf '%s; choose another place\n' "$fault"
}
