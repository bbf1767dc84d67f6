#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# vms.sh quick|long: a VM without a GPU (lab-1) uses that of another one (gpu) through memory that
# both have. Stock guests under the server's KVM, set up by the lines of docs/remote-setup.md.
# Prints TAP. long: also all CUDA programs, a container, the end of lab-1, and gpu with the whole card.
set -u
cd "$(dirname "$0")/../.." || exit 1
export KVGPU_TB_NAME=${KVGPU_TB_NAME:-remote-vms}
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
# shellcheck source=selftests/system/guest/guest.sh
. selftests/system/guest/guest.sh
# shellcheck source=selftests/remote/vms/pair.sh
. selftests/remote/vms/pair.sh
mode=${1-}
case $mode in
quick | long) ;;
*) echo "usage: selftests/remote/vms.sh quick|long" >&2; exit 2 ;;
esac
# shellcheck disable=SC2034 # cell.sh: what the results are noted as
part_of_check="remote-vms"
SUBTESTS="device memory launch stream faults"
[ "$mode" = quick ] || SUBTESTS+=" array texture surface"
page=docs/remote-setup.md
inside='DEBIAN_FRONTEND=noninteractive LC_ALL=C'
# size of the aperture. With the card its memory goes through the server's emulated IOMMU, page by page: vfio-user has 65,535 mappings
size=256M

# page_says WHERE LINE: runs a line of the page in the server (host) or in a guest
page_says()
{
	local where=$1 line=$2 run log=$OUT/page.log rc

	grep -qxF "    $line" $page || { result 1 "$where: $line" "$page has no such line"; return; }
	# what the bed lacks is left out of the line: an archive with our packages, and domains that libvirt keeps
	run=${line/apt install/apt-get install -q -y --no-install-recommends}
	run=${run//_0.4_/_$version\_}
	run=${run/ --config/}
	run=${run/256M/$size}
	case $where in
	host) in_server sh -c "cd /share/debs && $inside $run" ;;
	*) in_guest "$where" sh -c "cd /share/debs && $inside $run" ;;
	esac >"$log" 2>&1
	rc=$?
	[ $rc = 0 ] || tail -n 15 "$log" | sed 's/^/# /'
	result $rc "$where: $line"
}

# guests_up OPTION...: both at the same time; options are those of gpu
guests_up()
{
	local rc lab

	$TB guest start lab-1 --full --mem 512M >"$OUT/lab.log" 2>&1 </dev/null &
	lab=$!
	$TB guest start gpu --full "$@" >"$OUT/gpu.log" 2>&1 </dev/null
	rc=$?
	wait $lab || rc=1
	[ $rc = 0 ] || sed 's/^/# /' "$OUT/gpu.log" "$OUT/lab.log"
	result $rc "two stock guests start, one has a GPU" "$(tail -n 1 "$OUT/gpu.log")"
	return $rc
}

in_gpu() { in_guest gpu "$@"; }
in_lab() { in_guest lab-1 "$@"; }

set_up()
{
	page_says host "apt install ./kvgpu-aperture_0.4_amd64.deb"
	page_says host "kvgpu-aperture make /dev/shm/kvgpu/lab-1 256M"
	page_says host "kvgpu-aperture xml /dev/shm/kvgpu/lab-1 > ./lab-1.xml"
	# gpu has the memory before its packages come, lab-1 after
	page_says host "virsh attach-device gpu ./lab-1.xml --live --config"
	page_says gpu "apt install ./kvgpu-cuda_0.4_amd64.deb"
	page_says gpu "apt install ./kvgpu-aperture_0.4_amd64.deb ./kvgpu-remote-server_0.4_amd64.deb"
	page_says gpu "sed -i '1a listen = aperture:/dev/kvgpu/aperture-dax0.0' /etc/kvgpu/remoted.conf"
	page_says gpu "systemctl enable kvgpu-remoted"
	page_says gpu "systemctl restart kvgpu-remoted"
	page_says lab-1 "apt install ./kvgpu-aperture_0.4_amd64.deb ./kvgpu-remote-client_0.4_amd64.deb"
	page_says host "virsh attach-device lab-1 ./lab-1.xml --live --config"
	step "lab-1: the memory that came later is a device" in_lab /share/until.sh 30 test -e /dev/kvgpu/aperture-dax0.0
	# systemd's own measure, in tenths: it was 95 without a sandbox
	step "lab-1: the unit that made it so has a sandbox" in_lab systemd-analyze security --offline=true --threshold=20 \
		/usr/lib/systemd/system/kvgpu-aperture@.service
	# the rights of the device stay when udev handles it again
	step "gpu: root alone may open what is served" in_gpu sh -c 'udevadm trigger --action=change --subsystem-match=dax --settle &&
		test "$(stat -c "%U %G %a" /dev/dax0.0)" = "root root 600"'
	page_says lab-1 "cuda-info"
	step "it shows the GPU of the other VM" in_lab sh -c 'cuda-info | grep "Tesla K20m"'
	step "lab-1 has none" in_lab sh -c '! ls /dev/dri 2>/dev/null | grep .'
	for vm in gpu lab-1; do
		step "$vm: the aperture is mapped write-back" in_guest $vm sh -c 'kvgpu-aperture list | grep -P "dax0.0\t[0-9]* MiB\twrite-back"'
	done
}

programs()
{
	local log=$OUT/driver.log rc

	step "who is not in the group video may not" in_lab sh -c 'useradd one && ! su -s /bin/sh -c cuda-info one'
	in_lab useradd -G video two
	LIMIT=300 in_lab su -s /bin/sh -c "/share/kvgpu-cuda-driver /share/kernels.cubin $SUBTESTS 2>&1" two >"$log" 2>&1
	rc=$?
	relay "driver API" $rc <"$log"
	step "scattered managed memory, by as many mappings as Linux gives by default" in_lab sh -c '[ "$(cat /proc/sys/vm/max_map_count)" = 65530 ] &&
		timeout 100 /share/managed scattered /share/kernels.cubin'
	step "three programs at once" in_lab sh -c 'cd /tmp && for i in 1 2 3; do /share/faults host_functions /share/kernels.cubin >said-$i 2>&1 &
		pids="$pids $!"; done; rc=0; for p in $pids; do wait $p || rc=1; done; tail -qn 1 said-*; exit $rc'
}

# Debian's nvidia-smi in lab-1: the GPU's part of the screen in cuda/nvml/README.md
nvidia_smi()
{
	local smi

	if ! smi=$(selftests/cuda/toolkit.sh nvml 2>/dev/null); then
		result 0 "nvidia-smi" "SKIP it is not there: selftests/cuda/toolkit.sh fetch"
		return
	fi
	cp "$smi/usr/lib/nvidia/current/nvidia-smi" "$share/"
	step "lab-1: nvidia-smi -L" in_lab sh -c '/share/nvidia-smi -L | grep "^GPU 0: Tesla K20m .*(UUID: GPU-"'
	in_lab /share/nvidia-smi >"$OUT/smi.log" 2>&1
	selftests/cuda/screen.sh cuda/nvml/README.md | diff - <(selftests/cuda/screen.sh <"$OUT/smi.log") >"$OUT/smi.diff"
	result $? "lab-1: nvidia-smi shows the screen in cuda/nvml/README.md" "$(grep -m 1 'Tesla K20m' "$OUT/smi.log")"
	sed 's/^/# /' "$OUT/smi.diff"
}

# the same by a VMM that puts what its guest sends on a socket of the host, as Firecracker does: here a relay in a jail
as_microvm()
{
	local log=$OUT/microvm.log program rc

	cp selftests/remote/relay.py "$share/"
	step "host: the server's socket is in the jail of a VMM" in_server sh -c 'sed -i "s,^#socket-group = .*,socket-group = users," /etc/kvgpu/remoted.conf &&
		systemctl reload kvgpu-remoted && mkdir -p /srv/jail && touch /srv/jail/v.sock_7412 &&
		mount --bind /run/kvgpu-remoted/socket /srv/jail/v.sock_7412'
	step "host: the VMM has a user of its own" in_server sh -c 'setsid python3 /share/relay.py vsock 7412 /srv/jail 12345 100 >/tmp/relay 2>&1 </dev/null &
		echo $! >/tmp/relay.pid; /share/until.sh 30 grep -q listens /tmp/relay; n=$?; cat /tmp/relay; exit $n'
	LIMIT=300 in_lab env KVGPU_REMOTE=vsock:2:7412 sh -c '/share/kvgpu-cuda-driver /share/kernels.cubin memory launch stream 2>&1' >"$log" 2>&1 &
	program=$!
	step "the server knows the VM by its VMM's user" in_server /share/until.sh 60 sh -c 'kvgpu-remotectl list | grep unix:12345'
	wait $program
	rc=$?
	relay "driver API from a microVM" $rc <"$log"
	in_server sh -c 'kill "$(cat /tmp/relay.pid)"; umount /srv/jail/v.sock_7412' >/dev/null 2>&1
}

# a VM and its host, which has a server, by the hypervisor's sockets; the GPU is inside of the server's process
by_vsock()
{
	local log=$OUT/vsock.log program rc

	cp "$(make -s cuda-inprocess)/libcuda.so.1" "$share/libcuda-inprocess.so.1"
	step "host: kvgpu-remoted listens by vsock" in_server sh -c "cd /share/debs && $inside apt-get install -q -y --no-install-recommends \
		./kvgpu-remote-server_${version}_amd64.deb && sed -i 's,^library = .*,library = /share/libcuda-inprocess.so.1,' /etc/kvgpu/remoted.conf &&
		echo 'listen = vsock:*:7411' >>/etc/kvgpu/remoted.conf && systemctl enable --now kvgpu-remoted &&
		/share/until.sh 30 sh -c 'kvgpu-remotectl list | grep serving'"
	LIMIT=300 in_lab env KVGPU_REMOTE=vsock:2:7411 sh -c '/share/kvgpu-cuda-driver /share/kernels.cubin device memory launch stream 2>&1' >"$log" 2>&1 &
	program=$!
	step "the server knows the VM by its number" in_server /share/until.sh 60 sh -c 'kvgpu-remotectl list | grep "vsock:[0-9]"'
	step "systemd reloads the server under a program" in_server systemctl reload kvgpu-remoted
	wait $program
	rc=$?
	relay "driver API by vsock" $rc <"$log"
	as_microvm
	in_server systemctl disable --now kvgpu-remoted >/dev/null 2>&1
}

# a container of lab-1, with Debian 11 in it, has the GPU of the other VM by the aperture
containers()
{
	local podman image

	podman=$(selftests/remote/podman.sh fetch 2>"$OUT/podman.log") && image=$(selftests/remote/older.sh fetch 2>>"$OUT/podman.log") &&
		rm -rf "$share/podman" && cp -a "$podman" "$share/podman" && tar -cf "$share/image.tar" -C "$image" . &&
		cp selftests/remote/podman.sh selftests/remote/older.py "$share/"
	result $? "podman of Debian 13 is fetched" "$(tail -n 1 "$OUT/podman.log")"
	step "what a container gets" in_lab sh -c 'echo "server = aperture:/dev/kvgpu/aperture-dax0.0" >>/etc/kvgpu/remote.conf && mkdir -p /etc/cdi &&
		kvgpu-remotectl cdi >/etc/cdi/kvgpu-remote.json && cp /share/older.py /share/kernels.cubin /tmp'
	LIMIT=900 step "podman runs a program of Debian 11" in_lab sh -c '/share/podman.sh /share/podman:/ /share/image.tar /etc/cdi 0 --device kvgpu.example/gpu=remote \
		--volume /tmp:/mnt:ro --rootfs /image /usr/bin/python3.9 /mnt/older.py /mnt/kernels.cubin | grep "1000 sums are right"'
	in_lab sed -i '$d' /etc/kvgpu/remote.conf
}

zero_exits()
{
	local with=-1 without=-1
	in_gpu sh -c 'mkdir -p /run/systemd/system/kvgpu-remoted.service.d &&
		printf "[Service]\nEnvironment=KVGPU_REMOTE_SPIN_US=20000000\n" >/run/systemd/system/kvgpu-remoted.service.d/spin.conf &&
		systemctl daemon-reload && systemctl restart kvgpu-remoted' >/dev/null 2>&1
	no_exits
	in_gpu sh -c 'rm /run/systemd/system/kvgpu-remoted.service.d/spin.conf && systemctl daemon-reload && systemctl restart kvgpu-remoted' \
		>/dev/null 2>&1
	exits KVGPU_REMOTE_SPIN_US=50 1000
	result 0 "1,000 calls as the knobs come (not judged)" "$with exits, $without in as long without calls"
}

# a program outlives a reload of its server, and a VM whose CPU stands still for a while
stands_still()
{
	local program

	LIMIT=120 in_lab sh -c '/share/kvgpu-cuda-driver /share/kernels.cubin memory launch stream >/tmp/still 2>&1' & program=$!
	step "a program in lab-1 is at work" in_lab /share/until.sh 60 grep -q "^ok 3 " /tmp/still
	step "systemd reloads the server under it" in_gpu systemctl reload kvgpu-remoted
	step "gpu stands still for 12 s" in_server sh -c 'virsh suspend gpu && sleep 12 && virsh resume gpu'
	wait $program
	result $? "the program ends well"
}

lab_ends()
{
	local program

	waits & program=$!
	step "a program in lab-1 waits" in_lab /share/until.sh 60 grep -q ready /tmp/waits
	$TB guest stop lab-1 >/dev/null 2>&1 </dev/null
	wait $program 2>/dev/null
	step "lab-1 is destroyed: its server process ends" in_gpu /share/until.sh 30 sh -c '! pgrep -P "$(systemctl show -P MainPID kvgpu-remoted)"'
	$TB guest start lab-1 --full --mem 512M --aperture /dev/shm/kvgpu/lab-1 >"$OUT/lab.log" 2>&1 </dev/null
	result $? "lab-1 starts again, with its aperture" "$(tail -n 1 "$OUT/lab.log")"
	step "its packages" in_lab sh -c "cd /share/debs && $inside apt-get install -q -y --no-install-recommends \
		./kvgpu-aperture_${version}_amd64.deb ./kvgpu-remote-client_${version}_amd64.deb && udevadm settle"
	step "a program runs" in_lab timeout 100 /share/faults after_fork /share/kernels.cubin
}

ends()
{
	local program before

	waits & program=$!
	step "a program in lab-1 waits" in_lab /share/until.sh 60 grep -q ready /tmp/waits
	step "its server process is killed" in_gpu sh -c 'pkill -9 -P "$(systemctl show -P MainPID kvgpu-remoted)"'
	wait $program
	step "it gets its error" in_lab sh -c "cat /tmp/waits; grep -q 'exit code 0' /tmp/waits"
	before=$failures
	step "the next program runs" in_lab timeout 60 /share/faults after_fork /share/kernels.cubin
	[ "$failures" = "$before" ] || in_gpu journalctl --no-pager -u kvgpu-remoted -n 20 | sed 's/^/# /'
	[ "$mode" = quick ] || lab_ends
	waits & program=$!
	step "a program in lab-1 waits" in_lab /share/until.sh 60 grep -q ready /tmp/waits
	guest_gone gpu
	wait $program
	step "gpu is destroyed: the program gets its error" in_lab sh -c "cat /tmp/waits; grep -q 'exit code 0' /tmp/waits"
}

# all_programs: runs all CUDA programs. Those that can't be run here are listed with the reason
all_programs()
{
	local line name word
	local -A known=([error_endless]="mapped memory" [mapped_memory]="mapped memory" [registered_memory]="mapped memory"
		[fork_children]="a child after cuInit()")

	if ! selftests/cuda/stage.sh "$share" >"$OUT/cuda-stage.log" 2>&1; then
		result 0 "programs by nvcc" "SKIP no CUDA toolkit: selftests/cuda/toolkit.sh fetch"
		return
	fi
	LIMIT=1500 in_lab /share/programs.sh >"$OUT/programs.log" 2>&1
	while IFS= read -r line; do
		word=ok name=${line#not }
		[ "$name" = "$line" ] || word=not
		name=${name#ok } name=${name%% *}
		[ $word = "$([ -n "${known[$name]-}" ] && echo not || echo ok)" ]
		result $? "program $name" "${known[$name]:+not remoted: ${known[$name]}: }${line#*# }"
	done <"$OUT/programs.log"
}

vgpu_server() { server_of --driver kvgpu; }
vgpu_guests() { guests_up --type 512m --mem 1G; }
card_server() { server_of --driver vfio-pci; }
card_guests() { guests_up --type card --mem 768M; }

build_programs system/client || finish
bed_must_be_free
trap 'bed_down' EXIT
cell_name="a VM with a vGPU"
timed vgpu_server packages_built vgpu_guests set_up nvidia_smi programs by_vsock zero_exits
[ "$mode" = quick ] || timed all_programs containers
timed stands_still ends
no_trouble "remoting between VMs"
if [ "$mode" = long ]; then
	bed_down
	cell_name="a VM with the card"
	size="64M 4"
	timed card_server packages_built card_guests set_up nvidia_smi programs zero_exits all_programs stands_still ends
	no_trouble "remoting between VMs"
fi
finish
