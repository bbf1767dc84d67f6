#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# TAP: what quiet_kernel (kernel-log.sh) finds in a kernel's log, and what it shows of it. No server: in_server is a stand-in.
set -u
cd "$(dirname "$0")" || exit 1
# shellcheck source=selftests/module/debug/kernel-log.sh
. ./kernel-log.sh
results=0 failures=0

check() # STATUS NAME
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2"
}

# the two that quiet_kernel calls; "in_server sh -c" is run here, where dmesg is a function
in_server() { if [ "$1" = sh ]; then eval "$3"; else "$@"; fi; }
result() { printf '%s\n' "status $1: $2 (${3-})"; }
dmesg() { printf '%s\n' "${log[@]}"; }

allocation=("kvgpu-vfio: page allocation failure: order:0" "Call Trace:" " dump_stack_lvl" " warn_alloc")
released=("WARNING: CPU: 1 PID: 2 at drivers/vfio/group.c:538 vfio_group_release+0xc8/0xf0" "Call Trace:" " put_device+0xe/0x20")
core=("${released[@]}" " vfio_create_group+0x395/0x560" "---[ end trace 0000000000000000 ]---")
trouble=("BUG: KASAN: slab-use-after-free in vgpu_open" "Call Trace:" " kasan_report")

# says STATUS FAILED_ON_PURPOSE TEXT LINE...: one test: of a log with these lines quiet_kernel says STATUS
says()
{
	failed_on_purpose=$2 log=("${@:4}")
	said=$(quiet_kernel plain)
	[[ $said = *"status $1: "* ]]
	check $? "$3"
}

says 0 '' "nothing to complain of" "a line" "another line"
says 1 '' "an allocation that failed is a complaint" "${allocation[@]}"
says 0 yes "but not where allocations fail on purpose" "${allocation[@]}"
says 1 yes "where they do, another complaint is found" "${allocation[@]}" "${trouble[@]}"
[[ $said = "# kernel: BUG: KASAN"* && $said = *"# kernel:  kasan_report"* ]]
check $? "and shown, not the allocation's stack"
says 0 yes "VFIO's own report about a group that was not made is none of kvgpu's" "${core[@]}" "a line" "${core[@]}"
says 1 yes "the same report from elsewhere is a complaint" "${released[@]}" " vfio_group_fops_release+0x1/0x2" "---[ end trace 0000000000000000 ]---"
says 1 yes "what comes after it is found, also a report that has no end" "${core[@]}" "${trouble[@]}" "${released[@]}"
says 1 '' "where no allocation fails on purpose, it is a complaint" "${core[@]}"
printf '1..%d\n' $results
[ $failures -eq 0 ]
