#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# instances.sh quick|long: runs in the server. Tests available_instances beside several mixes of
# vGPUs: as many as it says can be created, one more can't, and each removed vGPU raises it by one
# again. Prints TAP.
types=$(ls -d /sys/class/mdev_bus/*/mdev_supported_types | head -n 1)
n=0 made=0

result() # STATUS TEXT
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

available() { cat "$types/kvgpu-$1/available_instances"; }
all() { for t in 512m 1g 2g 4g; do printf '%s ' "$(available $t)"; done; }
uuid() { printf '00000000-0000-4000-8000-%012d' "$1"; }

create() # TYPE
{
	uuid $((made + 1)) >"$types/kvgpu-$1/create" 2>/dev/null || return 1
	made=$((made + 1))
}

remove() # removes the vGPU that was created last
{
	echo 1 >"/sys/bus/mdev/devices/$(uuid $made)/remove"
	made=$((made - 1))
}

# fill TYPE TEXT: creates vGPUs of TYPE until the card is full, removes them, and checks
# available_instances at each step
fill()
{
	promised=$(available "$1") first=$made wrong=''
	while create "$1"; do
		left=$((promised - made + first))
		[ "$(available "$1")" = $left ] || wrong="$wrong, $(available "$1") after $((made - first))"
	done
	got=$((made - first))
	while [ $made -gt $first ]; do
		remove
		[ "$(available "$1")" = $((promised - made + first)) ] || wrong="$wrong, $(available "$1") back at $((made - first))"
	done
	[ $got = "$promised" ] && [ -z "$wrong" ]
	result $? "$2: $promised x $1 promised, $got made$wrong"
}

mix() # TYPE...: creates these vGPUs, fills the rest of the card with each type in turn, and removes all
{
	before=$(all)
	for t; do create "$t" || result 1 "a $t of the mix $*"; done
	for t in ${FILL:-512m 1g 2g 4g}; do fill "$t" "beside ${*:-nothing}"; done
	while [ $made -gt 0 ]; do remove; done
	[ "$(all)" = "$before" ]
	result $? "after ${*:-nothing}: $(all), $before before"
}

[ "$(ls /sys/bus/mdev/devices | wc -l)" = 0 ] || { echo "Bail out! there are vGPUs already"; exit 1; }
case ${1-} in
quick) FILL="512m 1g"; mix; mix 1g 512m ;;
*)
	mix; mix 512m; mix 1g; mix 2g; mix 4g; mix 512m 1g; mix 1g 512m 1g; mix 512m 2g; mix 2g 1g 512m; mix 512m 4g
	;;
esac
echo "1..$n"
