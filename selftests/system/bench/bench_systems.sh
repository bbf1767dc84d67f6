# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# work, out, model_args, type, guest_mem, base_ko, with_cuda are bench.sh's
# shellcheck disable=SC2154
# Sourced by bench.sh: the systems that are compared, each a server of its own (a bed), but for "busy", which is on that of "vgpu"; and
# how to run something where a system's nouveau is.
#
#   native       the server's own nouveau drives the card
#   passthrough  a stock guest has the whole card by vfio-pci; the server has an IOMMU for it
#   vgpu         a stock guest has a vGPU of kvgpu and is alone on the card
#   busy         the same guest, while programs keep two more vGPUs busy (selftests/module/tenants)
#   remoted      a guest without a GPU, lab, uses the vGPU of another one, g1, through memory that both have: CUDA programs only
#   base         as vgpu, with the module of another version

bed_of() { case $1 in busy) echo bench-vgpu ;; *) echo "bench-$1" ;; esac; }
has_guest() { [ "$1" != native ]; }
program_guest() { case $1 in remoted) echo lab ;; *) echo g1 ;; esac; }
is_ours() { case $1 in vgpu | busy | base) true ;; *) false ;; esac; }

# bed SYSTEM ARGUMENT...: tb on that system's server
bed() { KVGPU_TB_NAME=$(bed_of "$1") timeout --kill-after=10 "${LIMIT:-600}" $TB "${@:2}" </dev/null; }
in_server() { bed "$1" run -- "${@:2}"; }

# where SYSTEM [GUEST]: fills the array `where` with the command that runs a program there, or in that guest
where()
{
	where=(env "KVGPU_TB_NAME=$(bed_of "$1")" timeout --kill-after=10 "${LIMIT:-600}" "$TB")
	if has_guest "$1"; then where+=(guest run "${2:-$(program_guest "$1")}" --); else where+=(run --); fi
}

# what can be known of a guest that has no GPU
guest_trouble()
{
	LIMIT=30 bed "$1" guest list >&2
	LIMIT=30 bed "$1" guest stats >&2
	LIMIT=30 bed "$1" guest run g1 -- sh -c 'uptime; lspci -nn; dmesg | tail -n 30' >&2
	LIMIT=30 in_server "$1" sh -c 'dmesg | tail -n 20' >&2
}

await_gpu()
{
	local end=$((SECONDS + 150))

	until LIMIT=30 bed "$1" guest run g1 -- test -e /dev/dri/renderD128 >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { guest_trouble "$1"; give_up "$1: no GPU in the guest after 150 s"; }
		sleep 0.5
	done
}

# guest_up SYSTEM [OPTION...]: starts the guest, prints how long it took until nouveau had made its device: a sample
guest_up()
{
	local began kind=$type

	[ "$1" != passthrough ] || kind=card
	began=$(date +%s%N)
	bed "$1" guest start g1 --full --mem "$guest_mem" --type "$kind" "${@:2}" >"$work/$1.guest.log" 2>&1 ||
		{ cat "$work/$1.guest.log" >&2; give_up "$1: no guest"; }
	await_gpu "$1"
	printf '{"row": "boot", "unit": "ms", "better": "lower", "value": %d, "ops": 1}\n' $((($(date +%s%N) - began) / 1000000))
}

system_up()
{
	local driver=kvgpu share
	local -a options=(--model-args "$model_args")

	case $1 in
	busy) return ;;	# vgpu's
	native) driver=nouveau options+=(--mem 3G) ;;
	remoted) options+=(--mem 5G --cpus 3) ;;
	passthrough) driver=vfio-pci options+=(--mem 4G --cpus 3) ;;
	*) options+=(--mem 4G --cpus 3) ;;
	esac
	say "$1: a server"
	if [ "$1" = base ]; then export KVGPU_TB_KVGPU=$base_ko; fi
	bed "$1" up --driver "$driver" "${options[@]}" >"$work/$1.up.log" 2>&1 || { cat "$work/$1.up.log" >&2; give_up "$1: no server"; }
	unset KVGPU_TB_KVGPU
	share=$(bed "$1" share)
	cp "$out/kvgpu-client" "$out/kvgpu-tenants" selftests/system/guest/inside/loads.sh selftests/system/bench/inside/*.sh "$share/"
	[ -z "$with_cuda" ] || cp -r "$out/bench-cuda" "$share/"
	[ ! -e "$out/clpeak" ] || cp -r "$out/clpeak" "$share/"
	has_guest "$1" || return 0
	say "$1: a stock guest"
	[ "$1" != remoted ] || { remoted_up; return; }
	guest_up "$1" >"$work/$1.boot"
}

# remoted_does WHERE SCRIPT: in the server (host) or in a guest
remoted_does()
{
	local -a where=(env KVGPU_TB_NAME=bench-remoted timeout --kill-after=10 600 "$TB" run --)

	[ "$1" = host ] || where remoted "$1"
	"${where[@]}" sh -c "cd /share/debs && export DEBIAN_FRONTEND=noninteractive && $2" >"$work/remoted.set-up" 2>&1 </dev/null ||
		{ cat "$work/remoted.set-up" >&2; give_up "remoted: no set-up: $1: $2"; }
}

# remoted_up: both guests, set up as docs/remote-setup.md has it
remoted_up()
{
	local share file=/dev/shm/kvgpu/lab install="apt-get install -q -y --no-install-recommends" version

	share=$(bed remoted share)
	version=$(make -s print-version)
	make -s cuda-package remote-package >"$work/make.log" 2>&1 || { cat "$work/make.log" >&2; give_up "the packages do not build"; }
	mkdir -p "$share/debs" "$share/bench-cuda"
	cp build/kvgpu-{cuda,remote-client,remote-server,aperture}_"$version"_amd64.deb "$share/debs/"
	rm -f "$share"/bench-cuda/libcuda.so.*	# each guest has that of its package
	cp selftests/remote/vms/until.sh "$share/"
	remoted_does host "$install ./kvgpu-aperture_*.deb && kvgpu-aperture make $file 256M"
	guest_up remoted --aperture $file >"$work/remoted.boot"
	bed remoted guest start lab --full --mem 768M --aperture $file >"$work/remoted.guest.log" 2>&1 ||
		{ cat "$work/remoted.guest.log" >&2; give_up "remoted: no second guest"; }
	remoted_does g1 "$install ./kvgpu-aperture_*.deb ./kvgpu-remote-server_*.deb ./kvgpu-cuda_*.deb && /share/until.sh 30 test -e /dev/kvgpu/aperture-dax0.0 &&
		sed -i '1a listen = aperture:/dev/kvgpu/aperture-dax0.0' /etc/kvgpu/remoted.conf && systemctl restart kvgpu-remoted"
	remoted_does lab "$install ./kvgpu-aperture_*.deb ./kvgpu-remote-client_*.deb && /share/until.sh 30 cuda-info"
}

# starts kvgpu-persist beside that system's nouveau
persist_begin()
{
	local -a where

	where "$1" g1
	"${where[@]}" systemd-run -q --unit bench-persist --collect /share/bench-cuda/kvgpu-persist /dev/dri/renderD128 >&2 &&
		"${where[@]}" sh -c 'for i in $(seq 100); do
			journalctl -q -u bench-persist | grep "held$" > /dev/null && exit; sleep 0.1; done; exit 1' ||
		give_up "$1: kvgpu-persist does not run"
}

persist_end()
{
	local -a where

	where "$1" g1
	"${where[@]}" systemctl stop bench-persist >&2 || give_up "$1: kvgpu-persist does not end"
}

systems_down()
{
	local s

	for s in native passthrough vgpu remoted base; do
		KVGPU_TB_NAME=bench-$s timeout 60 $TB down </dev/null >/dev/null 2>&1
	done
}

# the two other vGPUs of the system "busy"
neighbours_begin() { in_server busy /share/neighbours.sh begin 2 g1 >&2 || give_up "busy: the others do not get busy"; }
neighbours_end() { in_server busy /share/neighbours.sh end g1 || give_up "busy: the others' vGPUs do not go"; }
