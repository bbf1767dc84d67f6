#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Many vGPUs on one card, without guests: kvgpu-tenants in a server of the test bed. Prints TAP.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export KVGPU_TB_NAME=${KVGPU_TB_NAME:-tenants}
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
case ${1-} in
quick) cells="base:k20m:0" ;;
long) cells="base:k20m:0 base:k20m:400M oldest:k20m:400M newest:k20m:0" ;;
*) echo "usage: selftests/module/tenants/run.sh quick|long" >&2; exit 2 ;;
esac
# shellcheck disable=SC2034 # cell.sh: what the results are noted as
part_of_check=tenants mode=$1
bed_must_be_free
trap 'bed_down' EXIT

# knobs through mdevctl: set before the vGPU is made, kept in its definition
mdevctl_attributes()
{
	local out
	out=$(in_server sh -ec '
		u=7e4a4715-0000-4000-8000-0000000000ff
		card=$(basename "$(readlink -f /sys/class/mdev_bus/*)")
		mdevctl define --uuid $u --parent "$card" --type kvgpu-512m
		mdevctl modify --uuid $u --addattr kvgpu/weight --value 300
		mdevctl modify --uuid $u --addattr kvgpu/cap --value 40
		mdevctl start --uuid $u
		cat /sys/bus/mdev/devices/$u/kvgpu/weight /sys/bus/mdev/devices/$u/kvgpu/cap
		mdevctl stop --uuid $u
		mdevctl modify --uuid $u --delattr --index 1
		mdevctl modify --uuid $u --addattr kvgpu/cap --value 400
		if said=$(mdevctl start --uuid $u 2>&1); then echo started; else echo refused; fi
		echo "$said"
		mdevctl undefine --uuid $u' 2>&1)
	result "$([ "$(head -n 2 <<<"$out" | tr '\n' ' ')" = "300 40 " ] && grep -qx refused <<<"$out"; echo $?)" \
		"mdevctl sets weight and cap" "$(tr '\n' ' ' <<<"$out")"
	in_server sh -c 'for u in /sys/bus/mdev/devices/*; do [ ! -e "$u" ] || echo 1 >"$u/remove"; done'
}

# in the root of build_programs, which has no card: names are checked before the card is looked for
refuses_unknown_setups()
{
	local name=$1 said
	shift
	said=$($TB build-exec -- "$OUT/kvgpu-tenants" bench "$@" 2>&1 </dev/null)
	[ $? -eq 2 ] && [ "$said" = "kvgpu-tenants: there is no setup 'eight equals'; --help lists them" ]
	result $? "$name" "$said"
}

tells_its_clock()
{
	local said
	said=$(printf ab | $TB build-exec -- "$OUT/kvgpu-tenants" clock 2>&1)
	[[ $said =~ ^([0-9]+)$'\n'([0-9]+)$ ]] && [ "${BASH_REMATCH[2]}" -gt "${BASH_REMATCH[1]}" ]
	result $? "its clock is told once for each byte, and goes on" "$(tr '\n' ' ' <<<"$said")"
}

command_line()
{
	cell_name="command line"
	tells_its_clock
	refuses_unknown_setups "a name that is no setup is refused" "eight equals"
	refuses_unknown_setups "and beside one that is a setup" one "eight equals"
}

# KERNEL BOARD RATE
cell()
{
	kernel=$(kernel_of "$1")
	cell_name="$kernel $2 rate $3"
	if ! kvgpu_up --kernel "$kernel" --mem 3G --append iomem=relaxed --model-args "--board $2 --ce-rate $3"; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "kvgpu.ko takes the card"
		return
	fi
	ran_on
	cp "$OUT/kvgpu-tenants" "$($TB share)/"
	in_server /share/kvgpu-tenants test >"$OUT/tenants.log" 2>&1
	relay tenants $? <"$OUT/tenants.log"
	in_server sh -c "dmesg | grep -B 12 -A 25 -E 'WARNING:|BUG:|Oops|Call Trace|leaked'" >"$OUT/trouble.log"
	sed 's/^/# kernel: /' "$OUT/trouble.log" | head -n 80
	result "$([ ! -s "$OUT/trouble.log" ]; echo $?)" "the kernel has nothing to complain of" "$(grep -m 1 -E 'WARNING:|BUG:|Oops|Call Trace|leaked' "$OUT/trouble.log")"
	mdevctl_attributes
	in_server rmmod kvgpu
	result $? "the module unloads"
	bed_down
}

build_programs module/tenants || finish
command_line
for c in $cells; do cell "${c%%:*}" "$(cut -d: -f2 <<<"$c")" "${c##*:}"; done
finish
