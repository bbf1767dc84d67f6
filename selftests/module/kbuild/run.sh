#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What the module's build says of kernels that it does not know. Prints TAP. README.md says what is run.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export LC_ALL=C.UTF-8
here=selftests/module/kbuild
results=0 failures=0
work=$(mktemp -d "${KVGPU_CACHE:-$HOME/.cache/kvgpu}/kbuild.XXXXXX") || exit 1
trap 'rm -rf --one-file-system -- "$work"' EXIT
trap 'exit 130' INT TERM

result() # STATUS NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2" "${3:+ # ${3//\#/}}"
}

# ------------------------------------------------------------------ the probes, on trees of their own

probe() { awk -f mdev/probe.awk -v "include=$1" -v release=9.9.9 "${2:-mdev/probes.list}" 2>&1; }

# finds NAME TREE FLAGS...: the probes find exactly these flags in that tree of headers
finds()
{
	local said
	said=$(probe "$2")
	[ "$said" = "$(printf -- '-DKVGPU_PROBED'; printf ' -DKVGPU_HAVE_%s' "${@:3}")" ]
	result $? "$1" "$said"
}

# changed TREE HEADER SED NAME: a copy in which the header reads differently; false if it does not
changed()
{
	rm -rf "$work/tree"
	cp -r "$here/$1" "$work/tree"
	sed "$3" "$here/$1/linux/$2" >"$work/tree/linux/$2"
	! cmp -s "$here/$1/linux/$2" "$work/tree/linux/$2" || { result 1 "$4" "the change changes nothing"; return 1; }
}

# unknown PROBE TREE HEADER SED: one line, which names this probe, this header and the kernel, and no other probe
unknown()
{
	local name="$1 in a form that no probe knows ($2, $3)" said
	changed "$2" "$3" "$4" "$name" || return
	said=$(probe "$work/tree")
	[[ $said = "kvgpu: kernel 9.9.9: "*"found by probe $1 ("*"linux/$3"*"). Use a newer kvgpu, or "* ]] && [ "$(wc -l <<<"$said")" = 1 ] &&
		[ "$(grep -oE '\<[A-Z]+_[A-Z_]+\>' <<<"$said")" = "$1" ]
	result $? "$name" "$said"
}

probes()
{
	finds "older kernels' headers" $here/old EVENTFD_COUNT VFIO_FREE_DEVICE PFN_T
	finds "newer kernels' headers" $here/new VM_FLAGS_SET VFIO_IOMMUFD REGION_INFO_CAPS VDEV_INODE HUGE_FAULT_ORDER
	unknown MDEV_PARENT new mdev.h 's/struct device \*dev,/struct device *dev, u32 flags,/'
	unknown VFIO_PIN_PAGES old vfio.h 's/dma_addr_t iova/unsigned long *user_pfn/'
	unknown EVENTFD_COUNT old eventfd.h 's/__u64 n/unsigned int *n/'
	unknown EVENTFD_COUNT new eventfd.h 's/eventfd_signal(struct eventfd_ctx \*ctx)/eventfd_signal(struct file *file)/'
	unknown VM_FLAGS_SET new mm.h 's/vm_flags_set/vma_flags_set_all/'
	unknown VFIO_FREE_DEVICE old vfio.h 's/void vfio_free_device(struct vfio_device \*device/int vfio_free_device(struct vfio_device *device, int why/'
	unknown VFIO_IOMMUFD new vfio.h 's/emulated_bind/mediated_bind/'
	unknown REGION_INFO_CAPS new vfio.h 's/struct vfio_info_cap \*caps/struct vfio_caps *caps/'
	unknown VDEV_INODE new vfio.h 's/struct inode \*inode/struct address_space *mapping/'
	unknown HUGE_FAULT_ORDER new mm.h 's/unsigned int order/struct huge_order *order/'
	unknown PFN_T new huge_mm.h 's/unsigned long pfn,/struct folio *folio,/'
	if changed new mm.h 's|struct vm_area_struct \*vma,|struct vm_area_struct * v /* no\n matter */, // how|; s/vm_flags_t flags/vm_flags_t\tf/' "names"; then
		finds "names, line breaks and comments do not matter" "$work/tree" \
			VM_FLAGS_SET VFIO_IOMMUFD REGION_INFO_CAPS VDEV_INODE HUGE_FAULT_ORDER
	fi
	said=$(probe "$work/nowhere")
	[[ $said = *"linux/mdev.h is not there"* ]] && [ "$(wc -l <<<"$said")" = 1 ]
	result $? "no headers at all: told, and not taken for old ones" "$said"
	sed 's/^\(PFN_T\t*\)yes/\1maybe/' mdev/probes.list >"$work/list"
	said=$(probe $here/new "$work/list")
	[[ $said = "kvgpu: probes.list is not a list of probes: line "* ]]
	result $? "a list that is none" "$said"
}

# ------------------------------------------------------------------ the kernel's make, where the headers are

copy_sources()
{
	mkdir -p "$1"
	make -s --no-print-directory print-module-sources | tar -cf - -T - | tar -xf - --no-same-owner -C "$1" &&
		sed 's/#MODULE_VERSION#/1/' dkms.conf >"$1/dkms.conf"
}

# relay < TAP of the inside, under our numbers
relay()
{
	local line plan=-1 seen=0
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*)
			seen=$((seen + 1))
			result "$([[ $line = ok* ]]; echo $?)" "${line#*ok *- }" ;;
		1..*) plan=${line#1..} ;;
		*) printf '# %s\n' "$line" ;;
		esac
	done
	[ $seen -eq "$plan" ]
	result $? "all steps inside were run" "$seen of $plan"
}

headers()
{
	local label release role
	if ! copy_sources "$work/sources"; then
		result 1 "the module's sources are copied"
		return
	fi
	testbed/tb kernels >"$work/kernels" </dev/null
	while read -r label release role; do
		testbed/tb build-exec -- "$PWD/$here/inside.sh" "$work" "$release" "$role" </dev/null >"$work/log" 2>&1
		relay <"$work/log"
	done <"$work/kernels"
	result "$([ "$results" -gt 20 ]; echo $?)" "on all kernels of the test bed" "$(cut -d' ' -f1 "$work/kernels" | xargs)"
}

# ------------------------------------------------------------------ by hand and by the bed

# tests a copy of the tree with a source file that wants a header that no kernel has
ways_in()
{
	local label release wanted
	read -r label release _ <"$work/kernels"
	mkdir "$work/tree2"
	tar --exclude=./.git --exclude=./build -cf - . | tar -xf - --no-same-owner -C "$work/tree2"
	sed -i '1i #include <linux/kvgpu_tomorrow.h>' "$work/tree2/hw/bar.c"
	wanted="kvgpu: kernel $release: hw/bar.c:1: linux/kvgpu_tomorrow.h: No such file or directory. Use a newer kvgpu, or teach it this kernel: mdev/README.md"
	O=$work/o make -s --no-print-directory -C "$work/tree2" module KERNEL="$label" >"$work/log" 2>&1 </dev/null
	[ $? -ne 0 ] && [ "$(grep -v '^make[^:]*: \*\*\*' "$work/log" | tail -n 1)" = "$wanted" ]
	result $? "make module: the last line says why" "$(tail -n 2 "$work/log" | head -n 1)"
	O=$work/o KVGPU_TB_MODEL=/bin/true "$work/tree2/testbed/tb" up --name kbuild-test --driver kvgpu --no-barmap >"$work/log" 2>&1 </dev/null
	[ $? -ne 0 ] && tail -n 4 "$work/log" | grep -qF -- "$wanted"
	result $? "tb up --driver kvgpu: the last lines say why" "$(tail -n 4 "$work/log" | head -n 1)"
}

probes
headers
ways_in
printf '1..%d\n' $results
[ $failures -eq 0 ]
