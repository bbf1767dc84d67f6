#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kvgpu-report on a tree that looks like a machine with tenants: what a bug report needs is there, what is theirs is not. Prints TAP.
set -u
here=$(dirname "$(readlink -f "$0")")
command=$here/../../../tools/admin/kvgpu-report
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# shellcheck source=selftests/module/tools/fake-sysfs.sh
. "$here/fake-sysfs.sh"
results=0 failures=0
A=11111111-0000-4000-8000-00000000000a B=22222222-0000-4000-8000-00000000000B
export KVGPU_ROOT=$dir/root PATH=$dir/bin:$PATH

result() # STATUS NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2" "${3:+ # $3}"
}

run() { "$command" "$@" >"$dir/out" 2>"$dir/err" </dev/null; }
command_says() { mkdir -p "$dir/bin"; printf '#!/bin/sh\ncat <<"END"\n%s\nEND\n' "$2" >"$dir/bin/$1"; chmod +x "$dir/bin/$1"; }
has() { local text; for text; do grep -qF -- "$text" "$dir/out"; result $? "it has: $text"; done; }

machine()
{
	local device=$KVGPU_ROOT/sys/devices/pci0000:00/$GPU debug=$KVGPU_ROOT/sys/kernel/debug/kvgpu/$GPU
	mkdir -p "$KVGPU_ROOT"/{proc,etc/kvgpu,lib/firmware/kvgpu,sys/bus/pci/devices,sys/class/iommu/dmar0,sys/module/kvgpu} "$debug/$A"
	fake_gpu "$KVGPU_ROOT/sys" $GPU
	fake_types "$KVGPU_ROOT/sys" $GPU
	fake_vgpu "$KVGPU_ROOT/sys" $GPU $A 512m 1000
	fake_vgpu "$KVGPU_ROOT/sys" $GPU $B 1g 2000
	ln -s "../../../devices/pci0000:00/$GPU" "$KVGPU_ROOT/sys/bus/pci/devices/$GPU"
	echo 0x10de >"$device/vendor"
	echo 0x1028 >"$device/device"
	echo 0.4 >"$KVGPU_ROOT/sys/module/kvgpu/version"
	echo "BOOT_IMAGE=/vmlinuz root=LABEL=secret-label intel_iommu=on quiet vfio_iommu_type1.dma_entry_limit=9 rd.luks.key=secret-key" >"$KVGPU_ROOT/proc/cmdline"
	echo 'model name : secretless CPU' >"$KVGPU_ROOT/proc/cpuinfo"
	echo 'MemTotal: 1 kB' >"$KVGPU_ROOT/proc/meminfo"
	mkdir -p "$KVGPU_ROOT/etc/modprobe.d"
	printf '# secret comment\nsoftdep nouveau pre: kvgpu # secret\n' >"$KVGPU_ROOT/etc/modprobe.d/kvgpu.conf"
	printf '%s\n' '# secret comment' '[tag secret-bank]	# secret contract' "vgpus = $A # secret guest" 'weight = 400' '[tag other-secret]' \
		'[tag secret-bank]' 'policy = secret' 'secret line' '[secret]' '[card]' 'policy = equal-share' 'types = 512m 1g' \
		>"$KVGPU_ROOT/etc/kvgpu/profile.conf"
	echo firmware >"$KVGPU_ROOT/lib/firmware/kvgpu/gk110.fw"
	echo 'boot0 0x0f0000a1 vram 5120 MiB' >"$debug/card"
	echo "policy best-effort, $A runs" >"$debug/sched"
	echo 'secret-registers' | tee "$debug/registers" "$debug/$A/registers" "$debug/$A/channels" "$debug/$A/shadow" "$debug/$A/unlisted" >/dev/null
	command_says dmesg "[1.0] kvgpu $GPU: the card was cut off
[2.0] kvgpu $GPU: vGPU $A: a strike; $B waits, and ${A^^}
[3.0] secret-driver: secret line of another driver
[4.0] vfio-pci 0000:01:00.0: on secret-host from 192.168.1.77 and 52:54:00:12:34:56
[5.0] audit: secret-program of uid 1000
[6.0] audit: type=1400 apparmor=\"DENIED\" profile=\"libvirt-secret\" name=\"/dev/vfio/20\"
[7.0] kvgpu $GPU: Device is currently in use, task \"secret \" vm\" (4711) blocked until device is released
[8.0] nouveau 0000:02:00.0: secret: prog[1234]: failed to idle channel 4
[9.0] nouveau 0000:02:00.0: fifo: fault 00 [READ] at 0 reason 02 [PTE] on channel 4 [00ff secret prog[1234]]
[10.0] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [CPU 0/secret:4712]
[11.0] oom-kill:task_memcg=/machine.slice/machine-qemu-secret-vfio.scope,task=secret
[12.0] WARNING: CPU: 1 PID: 4711 at drivers/vfio/vfio_main.c:123 vfio_unpin_pages+0x1/0x2 [vfio]
[12.1] CPU: 1 PID: 4711 Comm: secret vm Tainted: G  kvgpu
[12.2]  vgpu_close+0x3/0x4 [kvgpu]
[12.3] WARNING: drivers/vfio/vfio_main.c:456 at vfio_pin_pages+0x5/0x6 [vfio], CPU#1: secret/4711
[12.4] BUG: Bad page map in process secret  pte:8000000123 pmd:123
[12.5] BUG: scheduling while atomic: secret/4711/0x00000002
[12.6] secret[4711]: segfault at 8 ip 7f sp 7f error 4 in libdrm_nouveau.so.2.0.0[7f+1000] likely on CPU 1
[12.7] traps: secret[4711] general protection fault ip:7f sp:7f error:0 in libdrm_nouveau.so.2.0.0[7f+1000]
[12.8] INFO: task secret-vfio:4711 blocked for more than 120 seconds.
[12.9] vfio_pin_page_external: Task secret (4711) RLIMIT_MEMLOCK (65536) exceeded
[12.a] nouveau 0000:02:00.0: fifo:c00000:0005:0005:[secret[4711]] errored - disabling channel
[12.b] Lockdown: secret: prog: unsigned module loading is restricted; see man kernel_lockdown.7
[12.c] process 'secret' started with vfio executable stack
[12.d] vfio secret[4711]: segfault at 8
[13.0] mdev_$(tr - _ <<<$A)_0000_01_00_0: a \033 name of libvirt's"
	command_says dkms "kvgpu/0.4, 6.12.1, x86_64: installed"
	command_says modinfo 6.12.1
	command_says dpkg-query "kvgpu-tools 0.4 installed"
	# as uname: the machine's name with -n, else what the kernel is
	printf '#!/bin/sh\n[ "$1" = -n ] && echo secret-host || echo "Linux 6.12.1 #1 SMP x86_64"\n' >"$dir/bin/uname"
	chmod +x "$dir/bin/uname"
}

machine
run
result "$([ $? -eq 0 ] && [ ! -s "$dir/err" ]; echo $?)" "kvgpu-report" "$(head -n 1 "$dir/err")"
has 'Linux 6.12.1' 'command line: intel_iommu=on vfio_iommu_type1.dma_entry_limit=9' 'dmar0' '/sys/module/kvgpu/version: 0.4' \
	'kvgpu/0.4, 6.12.1' 'kvgpu-tools 0.4 installed' 'gk110.fw' "== card $GPU" 'device: 0x1028' 'kvgpu/engine_resets: 105' \
	'kvgpu-512m/available_instances: 8' 'boot0 0x0f0000a1' '== vGPU vgpu-1 of kvgpu-512m' '== vGPU vgpu-2 of kvgpu-1g' \
	'kvgpu/strikes: 1006' "kvgpu $GPU: the card was cut off" "vGPU vgpu-1: a strike; vgpu-2 waits, and vgpu-1" \
	'vfio-pci 0000:01:00.0: on HOST from ADDRESS and MAC' 'vgpus = vgpu-1' 'policy best-effort, vgpu-1 runs' 'softdep nouveau pre: kvgpu' \
	'profile.conf: [tag 1]' 'profile.conf: [tag 2]' 'weight = 400' 'profile.conf: (line 7 is not' 'policy = equal-share' 'types = 512m 1g' \
	'task "PROCESS" (4711) blocked' "PROCESS[1234]: failed to idle" 'channel 4 [00ff PROCESS[1234]]' 'BUG: soft lockup' \
	'WARNING: drivers/vfio/vfio_main.c:123 vfio_unpin_pages+0x1/0x2 [vfio]' '[12.2]  vgpu_close+0x3/0x4 [kvgpu]' \
	'WARNING: drivers/vfio/vfio_main.c:456 vfio_pin_pages+0x5/0x6 [vfio]' 'BUG: Bad page map' 'BUG: scheduling while atomic' \
	'Task PROCESS (4711) RLIMIT_MEMLOCK' 'fifo:c00000:0005:0005:[PROCESS[4711]] errored' 'PROCESS: unsigned module loading' 'mdev_vgpu-1_0000_01_00_0'
! grep -i secret "$dir/out" | grep -qv secretless
result $? "it has nothing of tenants or of the machine's owner" "$(grep -i -m 1 secret "$dir/out")"
! grep -qiE "$A|$B|192\.168|52:54:00" "$dir/out"
result $? "it has no UUID and no address"
run --output "$dir/report"
result "$([ $? -eq 0 ] && [ -s "$dir/report" ] && [ "$(stat -c %a "$dir/report")" = 600 ]; echo $?)" "--output makes a file that its owner alone reads"
run --output "$dir/report"
result "$([ $? -eq 1 ] && grep -q 'there already' "$dir/err"; echo $?)" "--output overwrites nothing"
ln -s victim "$dir/link"
mkfifo "$dir/pipe"
for file in link pipe none/file; do
	run --output "$dir/$file"
	result "$([ $? -eq 1 ] && grep -q "can't make $dir/$file" "$dir/err" && [ ! -e "$dir/victim" ]; echo $?)" "--output is no $file of others"
done
"$command" >/dev/full 2>"$dir/err"
result "$([ $? -eq 1 ]; echo $?)" "a full disk: exit code 1"
for args in x --output '--output a b'; do
	# shellcheck disable=SC2086
	run $args
	result "$([ $? -eq 2 ] && [ "$(wc -l <"$dir/err")" = 1 ] && grep -q -- "${args##* }.*; kvgpu-report --help lists" "$dir/err"; echo $?)" "kvgpu-report $args: exit code 2"
done
rm -rf "${KVGPU_ROOT:?}"/sys "$dir"/bin/{dkms,modinfo,dpkg-query}
mkdir "$KVGPU_ROOT/sys"
run
result "$([ $? -eq 0 ] && grep -q '^== kernel log' "$dir/out"; echo $?)" "a machine without cards, and without the module" "$(head -n 1 "$dir/err")"
printf '1..%d\n' $results
[ $failures -eq 0 ]
