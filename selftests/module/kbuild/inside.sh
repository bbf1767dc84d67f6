#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# inside.sh WORK RELEASE ROLE: run.sh starts it by "tb build-exec", as root, in a mount namespace of its own, for each kernel of
# "tb kernels". ROLE is base, oldest or newest; the tests of the base kernel are more. Other jobs use this root at the same time: write
# below WORK only, and change a header only by cover(). run.sh removes WORK. WORK/sources has the module's sources. Prints TAP.
set -u
work=$1 release=$2 role=$3
tree=/lib/modules/$release/build
results=0 failures=0 covered=()

result() # STATUS NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s: %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$release" "$2" "${3:+ (${3//\#/})}"
}

# cover FILE SED: the file reads differently in this namespace, until uncover; else one failed test
cover()
{
	local file changed
	file=$(readlink -f "$1")
	changed=$work/covered.${#covered[@]}
	sed "$2" "$file" >"$changed"
	if cmp -s "$file" "$changed"; then
		result 1 "$file is changed" "the change changes nothing"
		return 1
	fi
	if ! mount --bind "$changed" "$file"; then
		result 1 "$file is changed" "mount --bind fails"
		return 1
	fi
	covered+=("$file")
}

# uncover: the headers read as before; else a failed test for each that does not
uncover()
{
	local file
	for file in "${covered[@]}"; do
		umount "$file" || result 1 "$file is as it was" "umount fails"
	done
	covered=()
}

header() { printf '%s\n' "/lib/modules/$release/source/include/linux/$1"; }

# fresh [SOURCE]: copies the sources anew; with SOURCE the module is made of just this ("-": of stdin)
fresh()
{
	rm -rf "$work/m"
	cp -r "$work/sources" "$work/m"
	[ $# -gt 0 ] || return 0
	if [ "$1" = - ]; then
		{ cat; printf '\nMODULE_DESCRIPTION("test");\nMODULE_LICENSE("GPL");\n'; } >"$work/m/mdev/tried.c"
		set -- mdev/tried
	fi
	printf 'kvgpu-y := %s.o\n' "$1" >>"$work/m/Kbuild"
}

build()
{
	make -s -j2 -f "$work/m/mdev/build.mk" "KVGPU_TREE=$tree" "KVGPU_LOG=$work/build.log" KCFLAGS=-g0 CONFIG_DEBUG_INFO_BTF_MODULES= \
		>"$work/build.log" 2>&1
}

# last_line: the last line of the log that is not make's own
last_line() { grep -v '^make' "$work/build.log" | tail -n 1; }

# says NAME PATTERN: the build fails, and its last line fits
says()
{
	local line
	if build; then
		result 1 "$1" "it was built"
		return
	fi
	line=$(last_line)
	# shellcheck disable=SC2053
	[[ $line = $2 ]]
	result $? "$1" "$line"
}

advice='. Use a newer kvgpu, or teach it this kernel: mdev/README.md'

# the kernel's own make, our own Kbuild: nothing is compiled
if cover "$(header eventfd.h)" 's/eventfd_signal(/eventfd_tell(/'; then
	fresh
	says "a form that no probe knows stops the build" \
		"kvgpu: kernel $release: no form that this kvgpu knows was found by probe EVENTFD_COUNT (linux/eventfd.h). Use a newer kvgpu, or *"
	result "$([ "$(grep -c 'CC \|error:\|warning:' "$work/build.log")" = 0 ]; echo $?)" "and nothing else is tried" "$(grep -c . "$work/build.log") lines"
	make -s -C "$tree" M="$work/m" clean >"$work/clean.log" 2>&1
	result $? "make clean does not care" "$(tail -n 1 "$work/clean.log")"
	uncover
fi
if [ "$role" = base ]; then
	said=$(covered=("$work/nowhere"); uncover 2>/dev/null)
	[[ $said = 'not ok '*"$work/nowhere"* ]]
	result $? "a header that stays changed is a failed test"

	fresh - <<-'C'
	#include <linux/module.h>
	#include "mdev/compat.h"
	void tried(struct eventfd_ctx *ctx);
	void tried(struct eventfd_ctx *ctx) { vgpu_compat_eventfd_signal(ctx); }
	C
	build && [ -f "$work/m/kvgpu.ko" ] && ! grep -q 'kvgpu: ' "$work/build.log"
	result $? "a module of one file is built, nothing is said" "$(last_line)"

	cover "$(header vfio.h)" 's/vfio_dma_rw(/vfio_dma_copy(/' && fresh mdev/machine/memory &&
		says "a call that is gone" "kvgpu: kernel $release: mdev/machine/memory.c:*: implicit declaration of function 'vfio_dma_rw'*$advice"
	uncover

	cover "$(header vfio.h)" 's/void vfio_unpin_pages(struct vfio_device \*device,/& u32 flags,/' && fresh mdev/machine/pin &&
		says "a call with other arguments" "kvgpu: kernel $release: mdev/machine/pin.c:*: too few arguments to function 'vfio_unpin_pages'*$advice"
	uncover

	fresh - <<-'C'
	#include <linux/module.h>
	#include <linux/vfio.h>
	int tried(struct vfio_device *v, void *p);
	int tried(struct vfio_device *v, void *p) { return vfio_dma_rw(v, 0, p, 8, false); }
	C
	cover "$tree/Module.symvers" '/\tvfio_dma_rw\t/d' &&
		says "a symbol that is not exported any more" "kvgpu: kernel $release does not export vfio_dma_rw$advice"
	uncover

	fresh - <<-'C'
	#include <linux/module.h>
	#include <linux/kvgpu_tomorrow.h>
	C
	says "a header that is gone" "kvgpu: kernel $release: mdev/tried.c:2: linux/kvgpu_tomorrow.h: No such file or directory$advice"

	# as DKMS does: its configuration, its log, its own stderr a pipe
	mkdir -p "$work/dkms/kvgpu/1"
	mv "$work/m" "$work/dkms/kvgpu/1/build"
	# shellcheck disable=SC2016
	bash -c '
		dkms_tree=$1 kernel_source_dir=$2 kernelver=$3
		. "$dkms_tree/kvgpu/1/build/dkms.conf"
		log=$dkms_tree/kvgpu/1/build/make.log
		( eval "${MAKE[0]/#make/make -j2 KERNELRELEASE=$kernelver}" ) >>"$log" 2>&1' dkms "$work/dkms" "$tree" "$release" 2>&1 |
		cat >"$work/said"
	line="kvgpu: kernel $release: mdev/tried.c:2: linux/kvgpu_tomorrow.h: No such file or directory$advice"
	[ "$(grep -v '^make' "$work/dkms/kvgpu/1/build/make.log" | tail -n 1)" = "$line" ]
	result $? "DKMS's make.log ends with it" "$(tail -n 2 "$work/dkms/kvgpu/1/build/make.log" | head -n 1)"
	[ "$(grep -c . "$work/said")" = 1 ] && grep -qxF "$line" "$work/said"
	result $? "and DKMS's output has it" "$(tail -n 1 "$work/said")"

	tree=$work/nowhere
	fresh
	says "no headers" "kvgpu: kernel of $work/nowhere: not built: *No such file or directory*"
fi
printf '1..%d\n' $results
[ $failures -eq 0 ]
