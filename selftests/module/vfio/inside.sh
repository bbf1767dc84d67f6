#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server, with kvgpu.ko loaded: vGPUs by the mdev core's files, and kvgpu-vfio on one of them. TAP.
# usage: inside.sh SECONDS-OF-STORM SEED [TEST...]: all, or only these of kvgpu-vfio
set -u
here=$(dirname "$0")
storm=${1:-5} seed=${2:-1}
shift $(($# < 2 ? $# : 2))
n=0 bad=0
U=6d1f1f4e-0c55-4f0b-9d3c-7a5f2a3b1c

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2${3:+ # $3}"; else echo "not ok $n - $2${3:+ # $3}"; bad=$((bad + 1)); fi
}

card=$(dirname "$(readlink -f /sys/class/mdev_bus/*/mdev_supported_types | head -n 1)")
types=$card/mdev_supported_types
[ -d "$types" ] || { echo "Bail out! no card offers vGPUs"; exit 1; }

available() { cat "$types/kvgpu-$1/available_instances"; }
all_available() { for t in 512m 1g 2g 4g; do echo -n "$t:$(available $t) "; done; }
create() { echo "$U$2" > "$types/kvgpu-$1/create" 2>/dev/null; }
remove() { echo 1 > "/sys/bus/mdev/devices/$U$1/remove"; }
id() { printf '%02x' "$1"; }

full_card()
{
	local type=$1 said made=0
	said=$(available "$type")
	while create "$type" "$(id $made)"; do
		made=$((made + 1))
		[ "$(available "$type")" = $((said - made)) ] || { echo "# after $made: $(available "$type")"; break; }
	done
	result "$([ "$made" = "$said" ] && [ "$said" -gt 0 ]; echo $?)" "as many $type as the card says" "$said said, $made made"
	while [ $made -gt 0 ]; do
		made=$((made - 1))
		remove "$(id $made)"
	done
}

# client WHAT OPTION... UUID TEST...: the client's own tests, under our numbers
client()
{
	local what=$1
	shift
	timeout 2400 "$here/kvgpu-vfio" --seconds "$storm" --seed "$seed" --card "$card" "$@" > /tmp/vfio.out
	rc=$?
	while IFS= read -r line; do
		case $line in
		'ok '*) result 0 "$what${line#* - }" ;;
		'not ok '*) result 1 "$what${line#* - }" ;;
		1..*) ;;
		*) echo "# $line" ;;
		esac
	done < /tmp/vfio.out
	grep -q '^1\.\.' /tmp/vfio.out
	result $? "${what}kvgpu-vfio ran to its end" "exit code $rc"
}

create 512m c0 && create 512m c1
result $? "two vGPUs are made"
if [ $# -gt 0 ]; then
	client "" --second "${U}c1" "${U}c0" "$@"
	remove c0 && remove c1
	echo "1..$n"
	[ $bad = 0 ]
	exit
fi
remove c0 && remove c1

start=$(all_available)
for type in 512m 1g 2g 4g; do full_card $type; done
create 1g aa && create 2g ab && create 512m ac
result $? "types mix on one card" "$(all_available)"
for i in aa ab ac; do remove $i; done
result "$([ "$(all_available)" = "$start" ]; echo $?)" "everything came back" "$start"
for ((i = 0; i < 30; i++)); do
	create 512m ad || break
	remove ad || break
done
result "$([ "$i" = 30 ] && [ "$(all_available)" = "$start" ]; echo $?)" "30 times made and removed" "$(all_available)"
! create 512m zz
result $? "a malformed UUID is refused"

create 512m b0
"$here/kvgpu-vfio" "${U}b0" hold > /tmp/hold.out &
for _ in {1..300}; do grep -q held /tmp/hold.out && break; sleep 0.2; done
! rmmod kvgpu 2>/dev/null
result $? "the module does not unload while a vGPU is open"
began=$SECONDS
timeout 60 sh -c "echo 1 > /sys/bus/mdev/devices/${U}b0/remove"
result $? "a vGPU in use is removed: its VMM is asked to let go" "$((SECONDS - began)) s"
wait
grep -q 'asked to let go' /tmp/hold.out
result $? "the VMM was asked"

create 512m b1
"$here/kvgpu-vfio" "${U}b1" unmap > /dev/null &
victim=$!
for _ in {1..1200}; do
	before=$(cat "/sys/bus/mdev/devices/${U}b1/kvgpu/pinned_pages")
	[ "$before" -gt 5 ] && break
	sleep 0.05
done
kill -9 $victim
wait $victim 2>/dev/null
for _ in {1..600}; do [ "$(cat "/sys/bus/mdev/devices/${U}b1/kvgpu/pinned_pages")" = 0 ] && break; sleep 0.1; done
pinned=$(cat "/sys/bus/mdev/devices/${U}b1/kvgpu/pinned_pages")
result "$([ "$before" -gt 5 ] && [ "$pinned" = 0 ]; echo $?)" "a VMM killed under copies leaves no page pinned" \
	"$before before, $pinned after"
timeout 60 sh -c "echo 1 > /sys/bus/mdev/devices/${U}b1/remove"
result $? "and its vGPU is removed"

create 512m c0 && create 512m c1
client "" --second "${U}c1" "${U}c0" all copies
# on kernels that have iommufd: the tests with memory again, with iommufd in the container's place
[ ! -e /dev/iommu ] || client "iommufd: " --container /dev/iommu "${U}c0" copies unmap reuse foreign storm
remove c0 && remove c1
result "$([ "$(all_available)" = "$start" ]; echo $?)" "all of the card is free again" "$(all_available)"
echo "1..$n"
[ $bad = 0 ]
