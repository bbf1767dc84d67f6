#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kvgpu-profile on trees that look like sysfs. Prints TAP.
set -u
here=$(dirname "$(readlink -f "$0")")
command=$here/../../../tools/admin/kvgpu-profile
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# shellcheck source=selftests/module/tools/fake-sysfs.sh
. "$here/fake-sysfs.sh"
results=0 failures=0
A=11111111-0000-4000-8000-00000000000a B=22222222-0000-4000-8000-00000000000b
other=0000:02:00.0
export KVGPU_PROFILE=$dir/profile.conf KVGPU_SYSFS=$dir/sys KVGPU_MDEVCTL=$dir/mdevctl.d

result() # STATUS NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2" "${3:+ # $3}"
}

run() { "$command" "$@" >"$dir/out" 2>"$dir/err" </dev/null; }

fresh()
{
	rm -rf "$dir/sys" "$dir/mdevctl.d"
	mkdir -p "$dir/sys" "$dir/mdevctl.d"
	fake_gpu "$dir/sys" $GPU
	fake_gpu "$dir/sys" $other
	fake_vgpu "$dir/sys" $GPU $A 512m 1000
	fake_vgpu "$dir/sys" $other $B 2g 2000
	fake_foreign "$dir/sys" 44444444-0000-4000-8000-00000000000d
}

value() { cat "$dir/sys/devices/pci0000:00/$1"; }
# all_files: each file of the tree with its content
all_files() { (cd "$dir/sys" && find . -type f -exec grep -H '' {} + | sort); }
# holds FILE VALUE ...
holds()
{
	local what=''
	while [ $# -gt 0 ]; do
		[ "$(value "$1")" = "$2" ] || what+=" $1=$(value "$1")"
		shift 2
	done
	result "$([ -z "$what" ]; echo $?)" "$name" "$what"
}

test_apply()
{
	fresh
	cat >"$KVGPU_PROFILE" <<-EOT
		# comment
		[card]
		policy = equal-share	# comment
		slice_us=8000
		[card $other]
		  slice_us = 2000
		watchdog_ms = 500

		[type 512m]
		weight = 200
		cap = 50
		[type kvgpu-2g]
		weight = 300
		[tag gold]
		vgpus = $B 33333333-0000-4000-8000-00000000000c
		weight = 9000
	EOT
	printf '[tag silver]\ncap = 7' >>"$KVGPU_PROFILE"
	all_files >"$dir/before"
	run check
	result "$([ $? -eq 0 ] && [ ! -s "$dir/err" ] && all_files | cmp -s - "$dir/before"; echo $?)" "check: says nothing, sets nothing" "$(head -n 1 "$dir/err")"
	run apply
	result "$([ $? -eq 0 ] && [ ! -s "$dir/err" ]; echo $?)" "apply" "$(head -n 1 "$dir/err")"
	name="all cards, one card, its own values first" holds $GPU/kvgpu/policy equal-share $GPU/kvgpu/slice_us 8000 \
		$GPU/kvgpu/watchdog_ms 102 $other/kvgpu/policy equal-share $other/kvgpu/slice_us 2000 $other/kvgpu/watchdog_ms 500
	name="by type, by tag, the tag first" holds $GPU/$A/kvgpu/weight 200 $GPU/$A/kvgpu/cap 50 \
		$other/$B/kvgpu/weight 9000 $other/$B/kvgpu/cap 2003
	all_files | diff "$dir/before" - | grep -c '^>' >"$dir/out"
	result "$([ "$(cat "$dir/out")" = 8 ]; echo $?)" "nothing else was written" "$(cat "$dir/out")"
	chmod a-w "$dir"/sys/devices/pci0000:00/*/kvgpu/*
	all_files >"$dir/before"
	find "$dir/sys" -type f -exec touch -d @1 {} +
	run apply
	result "$([ $? -eq 0 ] && [ -z "$(find "$dir/sys" -type f -newermt @2)" ]; echo $?)" "reload: what is set is not written again"
	sed -i 's/weight = 200/weight = 201/' "$KVGPU_PROFILE"
	run apply
	result "$([ "$(find "$dir/sys" -type f -newermt @2)" = "$dir/sys/devices/pci0000:00/$GPU/$A/kvgpu/weight" ]; echo $?)" "reload: only what was changed is written"
	mkdir -p "$dir/mdevctl.d/$GPU"
	echo '{"mdev_type": "kvgpu-512m", "start": "auto", "attrs": [{"kvgpu/weight": "77"}]}' >"$dir/mdevctl.d/$GPU/$A"
	fresh_vgpu="$dir/sys/devices/pci0000:00/$GPU/$A/kvgpu"
	echo 77 >"$fresh_vgpu/weight"
	echo 100 >"$fresh_vgpu/cap"
	run apply $A
	name="what the vGPU's definition sets stays" holds $GPU/$A/kvgpu/weight 77 $GPU/$A/kvgpu/cap 50
	echo 100 >"$fresh_vgpu/cap"
	echo 4000 >"$dir/sys/devices/pci0000:00/$GPU/kvgpu/slice_us"
	run apply $GPU
	name="one card alone" holds $GPU/kvgpu/slice_us 8000 $GPU/$A/kvgpu/cap 100
	run apply 0000:09:00.0
	result "$([ $? -eq 1 ] && grep -q 'neither a card nor a vGPU' "$dir/err"; echo $?)" "a card that is not there: exit code 1"
	rm "$fresh_vgpu/cap"
	mkdir "$fresh_vgpu/cap"
	run apply
	result "$([ $? -eq 1 ] && grep -q "can't set .*cap to 50" "$dir/err"; echo $?)" "what can't be written is named" "$(head -n 1 "$dir/err")"
}

bad_line() # LINE TEXT PROFILE
{
	printf '%b' "$3" >"$KVGPU_PROFILE"
	all_files >"$dir/before"
	run apply
	result "$([ $? -eq 2 ] && grep -qF "$KVGPU_PROFILE:$1: " "$dir/err" && grep -q -- "$2" "$dir/err" && all_files | cmp -s - "$dir/before"; echo $?)" \
		"line $1: $2" "$(head -n 1 "$dir/err")"
}

test_wrong()
{
	fresh
	bad_line 1 'before the first' 'weight = 3\n'
	bad_line 2 'neither .section. nor key' '[card]\npolicy\n'
	bad_line 2 'a?.2Jb. is neither' '[card]\na\033[2Jb\n'
	bad_line 1 'is none of' '[cards]\npolicy = equal-share\n'
	bad_line 1 'is none of' '[card 1:0.0]\n'
	bad_line 1 'is none of' '[type 3g]\n'
	bad_line 1 'is none of' '[tag a b]\n'
	bad_line 3 "has no 'weight'; it takes: policy, slice_us" '# x\n[card]\nweight = 3\n'
	bad_line 2 "has no 'types'" '[type 1g]\ntypes = 1g\n'
	bad_line 2 'takes best-effort, equal-share' '[card]\npolicy = fair\n'
	bad_line 2 'takes one of' '[card]\npolicy = equal-share fixed-share\n'
	bad_line 2 'from 500 to 100000' '[card]\nslice_us = 499\n'
	bad_line 2 'from 100 to 30000' '[card]\nwatchdog_ms = 30001\n'
	for v in 0 101 -1 0x10 010 1e1 99999999999999999999 '$(id)' 'a[$(id)]'; do bad_line 2 'from 1 to 100' "[type 1g]\ncap = $v\n"; done
	bad_line 2 'has no value' '[type 1g]\ncap =\n'
	bad_line 3 'there twice' '[type 1g]\ncap = 3\ncap = 3\n'
	bad_line 4 'there twice' '[type 1g]\ncap = 3\n[type kvgpu-1g]\ncap = 4\n'
	bad_line 2 "not '8g'" '[card]\ntypes = 512m 8g\n'
	bad_line 2 'is no UUID' '[tag a]\nvgpus = x\n'
	bad_line 4 'has the tag a already' "[tag a]\nvgpus = $A\n[tag b]\nvgpus = $A\n"
	bad_line 5 'has no' "[card]\npolicy = equal-share\n\n[type 1g]\nfoo = 1"
	printf '[card]\nx = 1\n[type 1g]\ny = 2\n' >"$KVGPU_PROFILE"
	run check
	result "$([ $? -eq 2 ] && [ "$(wc -l <"$dir/err")" = 2 ]; echo $?)" "all wrong lines are named"
	rm "$KVGPU_PROFILE"
	run apply
	result "$([ $? -eq 0 ] && [ ! -s "$dir/err" ]; echo $?)" "no profile: nothing to set"
	run check
	result "$([ $? -eq 2 ]; echo $?)" "no profile: nothing to check"
	for args in '' 'apply a b' 'check x' 'bogus'; do
		# shellcheck disable=SC2086
		run $args
		result "$([ $? -eq 2 ] && [ "$(wc -l <"$dir/err")" = 1 ] && grep -q "${args##* }.*; kvgpu-profile --help lists" "$dir/err"; echo $?)" "kvgpu-profile $args: exit code 2"
	done
}

# called STATUS EVENT ACTION TYPE PARENT, as mdevctl(8) says that it calls
called()
{
	"$command" callout -t "$4" -e "$2" -a "$3" -s none -u $A -p "$5" >"$dir/out" 2>"$dir/err" <<<'{}'
	result "$([ $? -eq "$1" ]; echo $?)" "mdevctl $3 of $4 on $5, $2: $1" "$(head -n 1 "$dir/err")"
}

test_types()
{
	printf '[card]\ntypes = 512m kvgpu-1g\n[card %s]\ntypes = 4g\n' $other >"$KVGPU_PROFILE"
	called 0 pre start kvgpu-512m $GPU
	called 0 pre start kvgpu-1g $GPU
	called 1 pre start kvgpu-2g $GPU
	grep -q "offers 512m kvgpu-1g on $GPU, not 2g" "$dir/err"
	result $? "it says what is offered"
	called 1 pre define kvgpu-2g $GPU
	called 0 pre start kvgpu-4g $other
	called 1 pre start kvgpu-1g $other
	called 0 pre stop kvgpu-1g $other
	called 0 post start kvgpu-1g $other
	called 2 get attributes kvgpu-1g $other
	called 2 pre start i915-GVTg_V5_4 $other
	printf '[card]\npolicy = equal-share\n' >"$KVGPU_PROFILE"
	called 0 pre start kvgpu-2g $GPU
	echo nonsense >"$KVGPU_PROFILE"
	called 1 pre start kvgpu-2g $GPU
	rm "$KVGPU_PROFILE"
	called 0 pre start kvgpu-2g $GPU
}

test_apply
test_wrong
test_types
# the example with the comments of its settings taken away
sed 's/^#\([[a-z]\)/\1/' "$here/../../../tools/admin/profile.conf" >"$KVGPU_PROFILE"
run check
result "$([ $? -eq 0 ] && grep -q '^weight' "$KVGPU_PROFILE"; echo $?)" "the example of /etc/kvgpu/profile.conf" "$(head -n 1 "$dir/err")"
printf '1..%d\n' $results
[ $failures -eq 0 ]
