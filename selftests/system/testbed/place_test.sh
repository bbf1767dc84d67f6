#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# place_test.sh [quick|long]: tests copies of this tree without .git in other folders: below /tmp,
# /home and /srv, on another file system, with long paths of odd characters, through symbolic links.
# TAP on stdout. quick: make and tb answer there and build, and lint sees the files; folders that
# can't work are refused. long: also boots servers from two of the copies.
set -u
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
if [ -z "${PLACE_TEST_INSIDE-}" ]; then
	# a mount namespace of its own
	PLACE_TEST_INSIDE=yes exec unshare --mount --propagation private "$(readlink -f "$0")" "$@"
fi
case ${1:-quick} in
quick | long) ;;
*) echo "usage: place_test.sh [quick|long]" >&2; exit 2 ;;
esac
export LC_ALL=C.UTF-8 KVGPU_CACHE=${KVGPU_CACHE:-$HOME/.cache/kvgpu} KVGPU_TB_NAME=${KVGPU_TB_NAME:-place}
unset O MAKEFLAGS MAKEOVERRIDES MFLAGS
here=$PWD count=0 failed=0
scratch=$(mktemp -d /tmp/kvgpu-place.XXXXXX)
made=("$scratch")

clean_up()
{
	local tree
	cd /
	for tree in "$scratch"/tree.*; do
		[ ! -L "$tree" ] || (cd "$tree/" 2> /dev/null && testbed/tb down; make -s -C "$tree" clean)
	done > /dev/null 2>&1
	umount "$scratch"/mnt* 2> /dev/null
	rm -rf --one-file-system -- "${made[@]}"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

try() # TEXT COMMAND...: one test; prints the command's output if it fails
{
	local text=$1
	shift
	count=$((count + 1))
	if ("$@") > "$scratch/said" 2>&1; then
		printf 'ok %d - %s\n' $count "$text"
	else
		failed=$((failed + 1))
		printf 'not ok %d - %s\n' $count "$text"
		sed 's/^/# /' "$scratch/said" | tail -n 30
	fi
}

# place NAME FOLDER: copies the tree into FOLDER, without .git, as from a tarball;
# $scratch/tree.NAME becomes a link to it
place()
{
	mkdir -p "$2"
	"$here/selftests/tree-files.sh" -print0 | tar --null -cf - -T - | tar -xf - -C "$2"
	ln -s "$2" "$scratch/tree.$1"
}

# ---------------------------------------------------------------- tests of places that have to work

answers() # FOLDER: make help, make print-model and some tb commands work in the tree there
{
	local model
	cd "$1" || return 1
	make -s help | grep -q '^  demo' || { echo "make help"; return 1; }
	model=$(make -s print-model) && [[ $model == /*/gk110-model ]] || { echo "make print-model: $model"; return 1; }
	testbed/tb help | grep -q '^tb: a server' && testbed/tb kernels | grep -q ' base$'
}

program_built() # FOLDER [VARIABLE=VALUE...]: build-exec in the tree there builds a program in the build folder, and it runs
{
	local folder=$1 out
	cd "$folder" || return 1
	shift
	out=$(env "$@" make -s print-model | sed 's,/gpu-model/.*,,')/place
	mkdir -p "$out"
	printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' > "$out/hello.c"
	env "$@" testbed/tb build-exec -- sh -c "pwd && test -r Kbuild && gcc -o '$out/hello' '$out/hello.c'" > "$scratch/pwd" || return 1
	cat "$scratch/pwd"
	# build-exec's current folder was the tree, by its real path
	[ "$(cat "$scratch/pwd")" = "$(pwd -P)" ] && [ "$("$out/hello")" = hello ]
}

module_built() # FOLDER: a small kernel module is built there, outside of the tree
{
	local out kernel
	cd "$1" || return 1
	out=$(make -s print-model | sed 's,/gpu-model/.*,,')/place-module
	mkdir -p "$out"
	echo 'obj-m := hello.o' > "$out/Kbuild"
	printf '#include <linux/module.h>\nMODULE_DESCRIPTION("hello");\nMODULE_LICENSE("GPL");\n' > "$out/hello.c"
	kernel=$(testbed/tb kernel-tree base) &&
		testbed/tb build-exec -- make -s -C "$kernel" M="$out" modules && [ -s "$out/hello.ko" ]
}

files_seen() # FOLDER: tree-files.sh lists the same files there as here
{
	diff <(selftests/tree-files.sh) <(cd "$1" && selftests/tree-files.sh) && [ "$(cd "$1" && selftests/tree-files.sh | wc -l)" -gt 100 ]
}

# lint finds a fault in a copy without .git
lint_looks()
{
	local tree=$scratch/lint said
	place lint "$tree"
	printf 'int no_licence;\n' > "$tree/hw/wrong.c"
	said=$(timeout 60 "$tree/selftests/tooling/lint/run.py" --only files) && { echo "it passes"; return 1; }
	grep -qx 'hw/wrong.c: no SPDX line among its first three' <<< "$said" || { echo "$said"; return 1; }
	[ ! -e "$tree/.git" ]
}

# ---------------------------------------------------------- tests of places that have to be refused

# refused PATTERN CMD...: true if CMD, make or tb, fails within 20 s with a message that matches
refused()
{
	local pattern=$1 said
	shift
	said=$(timeout 20 "$@" 2>&1)
	case $? in
	0) echo "not refused: $*"; return 1 ;;
	124) echo "not refused within 20 s: $*"; return 1 ;;
	esac
	grep -qE -- "$pattern" <<< "$said" || { printf 'another reason: %s\n%s\n' "$*" "$said"; return 1; }
}

tree_refused() # FOLDER PATTERN: make and tb refuse to run in a tree there, and make no cache
{
	local cache=$scratch/nothing
	mkdir -p "$1" && cp -r "$here/Makefile" "$here/testbed" "$1/" || return 1
	refused "folder of this tree can't be .*$2" env KVGPU_CACHE="$cache" make -C "$1" help &&
		refused "folder of this tree can't be .*$2" env KVGPU_CACHE="$cache" "$1/testbed/tb" setup &&
		[ ! -e "$cache" ]
}

cache_refused() # PATH PATTERN: make and tb refuse PATH as the cache
{
	refused "cache .KVGPU_CACHE. can't be .*$2" env KVGPU_CACHE="$1" make setup &&
		refused "cache .KVGPU_CACHE. can't be .*$2" env KVGPU_CACHE="$1" testbed/tb setup && [ ! -e "$1/testbed" ]
}

out_refused() # PATH PATTERN: make and tb refuse PATH as the build folder
{
	refused "build folder .O. can't be .*$2" make help O="$1" &&
		refused "build folder .O. can't be .*$2" env O="$1" testbed/tb kernels && [ ! -e "$1" ]
}

# In a copy: make would lead the link build/o of this tree elsewhere, while others build here.
relative_paths()
{
	cd "$tmpfs" || return
	[ "$(make -s print-model O=x/y)" = "$tmpfs/x/y/gpu-model/gk110-model" ] &&
		[[ $(KVGPU_CACHE=x make -s print-model) == "$tmpfs"/x/build/* ]] &&
		[[ $(HOME=$scratch/home KVGPU_CACHE='' make -s print-model) == "$scratch"/home/.cache/kvgpu/build/* ]]
}

# A stand-in for tb, which makes nothing.
given_folder()
{
	cd "$tmpfs" || return
	printf '#!/bin/sh\necho "$O" >"%s/told"\n' "$scratch" > "$scratch/tb"
	chmod +x "$scratch/tb"
	refused "was to make $scratch/out/cuda/libcuda.so.1, and did not" make O="$scratch/out" TB="$scratch/tb" cuda &&
		[ "$(cat "$scratch/told")" = "$scratch/out" ]
}

# ------------------------------------------------------------------ test of mode long

# boots FOLDER [VARIABLE=VALUE...]: boots a server with kvgpu.ko by the tree in FOLDER
boots()
{
	cd "$1" || return 1
	shift
	env "$@" testbed/tb up --driver kvgpu --mem 3G || return 1
	env "$@" testbed/tb run -- sh -c 'ls -d /sys/class/mdev_bus/*/mdev_supported_types/*' < /dev/null
	local rc=$?
	env "$@" testbed/tb down
	return $rc
}

# ---------------------------------------------------------------- the copies, and the tests of each

long_name=$(printf 'a-folder-with-a-long-name.%02d/' {1..9})
mkdir "$scratch/mnt" "$scratch/mnt.noexec"
mount -t tmpfs -o size=512m tmpfs "$scratch/mnt"
mount -t tmpfs -o noexec tmpfs "$scratch/mnt.noexec"
made+=("/home/kvgpu-place.$$" "/srv/kvgpu-place.$$")
place odd "$scratch/a+b-c.d~e@f/$long_name/kvgpu"
place home "/home/kvgpu-place.$$/jürgen"
place srv "/srv/kvgpu-place.$$"
place tmpfs "$scratch/mnt/kvgpu"
# .git is a file, as in a git worktree; it names a folder that does not exist, so git fails
echo "gitdir: /nowhere" > "/srv/kvgpu-place.$$/.git"
ln -s "$KVGPU_CACHE" "$scratch/cache"
mkdir "$scratch/out"
ln -s "$scratch/out" "$scratch/out-link"

odd=$(readlink -f "$scratch/tree.odd") tmpfs=$scratch/mnt/kvgpu
try "below /tmp, long, with + - . ~ @: make and tb answer" answers "$odd"
try "the same: a program is built" program_built "$odd"
try "the same: a module is built" module_built "$odd"
try "below /home, a letter that is not ASCII: make and tb answer" answers "/home/kvgpu-place.$$/jürgen"
try "the same: a program is built" program_built "/home/kvgpu-place.$$/jürgen"
try "the same: a module is built" module_built "/home/kvgpu-place.$$/jürgen"
try "below /srv, .git is a file: make and tb answer" answers "/srv/kvgpu-place.$$"
try "the same: a program is built" program_built "/srv/kvgpu-place.$$"
try "on a tmpfs: make and tb answer" answers "$tmpfs"
try "the same: a program is built" program_built "$tmpfs"
try "through a symbolic link: make and tb answer" answers "$scratch/tree.tmpfs"
try "the same: a program is built" program_built "$scratch/tree.tmpfs"
try "the cache through a symbolic link: a program is built" program_built "$tmpfs" "KVGPU_CACHE=$scratch/cache"
try "the build folder through a symbolic link: a program is built" program_built "$tmpfs" "O=$scratch/out-link/o"
try "a copy without .git has the same list of files" files_seen "$odd"
try "a copy with a .git that does not answer has it, too" files_seen "/srv/kvgpu-place.$$"
try "lint finds what is wrong in a tarball" lint_looks
try "O and KVGPU_CACHE may be relative or empty" relative_paths
try "tb build-exec is told O of make's command line; what it left out is an error" given_folder

try "a blank in the tree's path is refused" tree_refused "$scratch/two words/kvgpu" 'a blank'
try "a colon in the tree's path is refused" tree_refused "$scratch/a:b/kvgpu" 'a colon'
try "a file system without programs is refused" cache_refused "$scratch/mnt.noexec/cache" 'noexec'
try "a path of over 500 characters is refused" cache_refused "$scratch/$(printf 'x%.0s' {1..240})/$(printf 'y%.0s' {1..240})" '500'
for character in ' ' : ';' ',' = % '&' "'" '"' '*' '?' '(' ')' '[' '{' '<' '|' "\\" ^ '!'; do
	try "a cache with '$character' in its path is refused" cache_refused "$scratch/c${character}d" "don't take"
done
try "a build folder with a blank in its path is refused" out_refused "$scratch/of two words" 'a blank'
try "a build folder with a colon in its path is refused" out_refused "$scratch/of-a:b" 'a colon'
try "a build folder with a quote in its path is refused" out_refused "$scratch/it's" "the character '"

if [ "${1:-quick}" = long ]; then
	try "a server boots: tree below /tmp, long and odd path; cache through a link" boots "$odd" "KVGPU_CACHE=$scratch/cache"
	try "a server boots: tree on a tmpfs through a link; build folder of its own" boots "$scratch/tree.tmpfs" "O=$scratch/out"
fi
printf '1..%d\n' $count
[ $failed = 0 ]
