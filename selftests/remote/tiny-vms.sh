#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tiny-vms.sh: a VM without a GPU (lab-1) uses that of another one (gpu) through memory that both have, as in vms.sh, in guests of the
# server's image without systemd and udev, which come up faster. The packages are unpacked in them. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
export KVGPU_TB_NAME=${KVGPU_TB_NAME:-remote-tiny}
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
# shellcheck source=selftests/system/guest/guest.sh
. selftests/system/guest/guest.sh
# a few batches tell
CALLS=20000 CALLS_S=20
# shellcheck source=selftests/remote/vms/pair.sh
. selftests/remote/vms/pair.sh
# shellcheck disable=SC2034 # cell.sh: what the results are noted as
part_of_check=remote-tiny mode=quick
file=/dev/shm/kvgpu/lab-1

in_gpu() { in_guest gpu chroot /image "$@"; }
in_lab() { in_guest lab-1 chroot /image "$@"; }

# package NAME: its file
package() { echo "$1_${version}_amd64.deb"; }

# vm_there NAME OPTION... -- PACKAGE...: it starts, sees the image, has what these packages install, and the aperture
vm_there()
{
	local name=$1
	local -a options=()

	shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	$TB guest start "$name" --aperture $file "${options[@]}" </dev/null &&
		in_guest "$name" sh -c "$(cat selftests/remote/vms/enter.sh)" enter.sh "$@" &&
		in_guest "$name" chroot /image sh /share/aperture.sh
}

guests_there()
{
	local rc lab

	in_server sh -c "dpkg-deb -x /share/debs/$(package kvgpu-aperture) /tmp/aperture && /tmp/aperture/usr/sbin/kvgpu-aperture make $file 64M" \
		>"$OUT/make.log" 2>&1
	result $? "the server's host makes the memory" "$(tail -n 1 "$OUT/make.log")"
	vm_there lab-1 --busy --mem 384M -- "$(package kvgpu-aperture)" "$(package kvgpu-remote-client)" >"$OUT/lab-1.log" 2>&1 &
	lab=$!
	vm_there gpu --busy --mem 640M --type 512m -- "$(package kvgpu-aperture)" "$(package kvgpu-cuda)" "$(package kvgpu-remote-server)" \
		>"$OUT/gpu.log" 2>&1
	rc=$?
	wait $lab || rc=1
	[ $rc = 0 ] || sed 's/^/# /' "$OUT/gpu.log" "$OUT/lab-1.log"
	result $rc "two guests start, one has a GPU; both have the memory" "$(tail -n 1 "$OUT/lab-1.log")"
	for vm in gpu lab-1; do
		grep -q -P "dax0.0\t[0-9]* MiB\twrite-back" "$OUT/$vm.log"
		result $? "$vm: the aperture is mapped write-back"
	done
	return $rc
}

# remoted TEXT [SETTING...]: starts kvgpu-remoted as its systemd unit would
remoted()
{
	local text=$1

	shift
	step "$text" in_gpu env "$@" sh -c 'setsid kvgpu-remoted --config /etc/kvgpu/remoted.conf >/tmp/remoted.log 2>&1 </dev/null &
		/share/until.sh 60 grep -q "listens at aperture:" /tmp/remoted.log; n=$?; cat /tmp/remoted.log; [ $n = 0 ] || { ps; dmesg | tail -n 20; }; exit $n'
}

served()
{
	step "gpu: its nouveau drives the vGPU" in_gpu sh -c 'modprobe nouveau && chgrp render /dev/dri/renderD128 && chmod 660 /dev/dri/renderD128 &&
		echo "listen = aperture:/dev/kvgpu/aperture-dax0.0" >>/etc/kvgpu/remoted.conf'
	remoted "gpu: kvgpu-remoted waits at the memory"
}

# as long as exits are counted: it has a CPU to itself
spinning()
{
	in_gpu sh -c 'pkill kvgpu-remoted; /share/until.sh 30 sh -c "! pgrep kvgpu-remoted"'
	remoted "gpu: kvgpu-remoted again, which spins" KVGPU_REMOTE_SPIN_US=20000000
}

# server_said: prints the server's log if a test has failed
server_said()
{
	[ "$failures" = 0 ] || in_gpu sh -c 'cat /tmp/remoted.log; for p in $(pgrep kvgpu-remoted); do
		echo "process $p: $(grep State: /proc/$p/status) in $(cat /proc/$p/wchan)"; done' 2>&1 | sed 's/^/# kvgpu-remoted: /'
}

programs()
{
	local log=$OUT/driver.log rc

	step "lab-1 has no GPU" in_lab sh -c '! ls /dev/dri 2>/dev/null | grep .'
	step "lab-1: cuda-info shows the GPU of the other VM" in_lab sh -c 'cuda-info | grep "Tesla K20m"'
	LIMIT=300 in_lab sh -c '/share/kvgpu-cuda-driver /share/kernels.cubin device memory launch stream 2>&1' >"$log" 2>&1
	rc=$?
	relay "driver API" $rc <"$log"
}

# the agent of a tiny guest runs one command at a time, so a program that waits is left behind
ends()
{
	in_lab sh -c '(/share/faults server_killed /share/kernels.cubin >/tmp/waits 2>&1; echo "exit code $?" >>/tmp/waits) </dev/null >/dev/null 2>&1 &'
	step "a program in lab-1 waits" in_lab /share/until.sh 250 grep -q ready /tmp/waits
	step "its server process is killed" in_gpu sh -c 'pkill -9 -P "$(pgrep -o kvgpu-remoted)"'
	step "it gets its error" in_lab /share/until.sh 250 grep -q 'exit code 0' /tmp/waits
	step "the next program runs" in_lab timeout 250 /share/faults after_fork /share/kernels.cubin
}

tiny_server() { server_of --driver kvgpu; }

build_programs system/client || finish
bed_must_be_free
trap 'bed_down' EXIT
cell_name="a VM with a vGPU"
timed packages_built tiny_server guests_there served programs ends spinning no_exits server_said
no_trouble "remoting between VMs"
finish
