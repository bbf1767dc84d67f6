#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# kvgpu-top on trees that look like sysfs. Usage: top_test.sh KVGPU-TOP. Prints TAP.
set -u
here=$(dirname "$(readlink -f "$0")")
top=$1
dir=$(mktemp -d)
writer=
watcher=
trap 'kill $writer $watcher 2>/dev/null; rm -rf "$dir"' EXIT
# shellcheck source=selftests/module/tools/fake-sysfs.sh
. "$here/fake-sysfs.sh"
results=0 failures=0
A=11111111-0000-4000-8000-00000000000a B=22222222-0000-4000-8000-00000000000b

result() # STATUS NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2" "${3:+ # $3}"
}

run() { timeout 60 "$top" "$@" >"$dir/out" 2>"$dir/err" </dev/null; }
look() { run --sysfs "$dir/sys" --interval 0.1 --once "$@"; }
fresh() { rm -rf "$dir/sys"; mkdir "$dir/sys"; }
attributes() { echo "$dir/sys/devices/pci0000:00/$GPU/$1/kvgpu"; }
# json FILTER: true if jq's FILTER is true of the output, of its last object if it has several
json() { jq -e "$1" "$dir/out" >/dev/null 2>&1; }

wrong_usage() # TEXT ARGUMENT...: exit code 2, nothing on stdout, and TEXT in one line on stderr
{
	local text=$1
	shift
	run "$@"
	result "$([ $? -eq 2 ] && [ ! -s "$dir/out" ] && grep -q -- "$text" "$dir/err" && [ "$(wc -l <"$dir/err")" = 1 ]; echo $?)" \
		"kvgpu-top $*: exit code 2" "$(head -n 1 "$dir/err")"
}

test_usage()
{
	wrong_usage 'no option "--jsno"; the nearest is "--json"' --jsno
	wrong_usage 'no option "-z"' -z
	wrong_usage "without an option: 'extra'" extra
	wrong_usage '"--interval" wants a value' --interval
	for i in 0 0.01 -1 x 1x '' nan inf 3601 1e400; do wrong_usage "0.1 to 3600, not '$i'" --interval "$i"; done
	wrong_usage 'choose one' --json --prometheus
	wrong_usage 'choose one' --plan 1g=1 --http
	run --help
	result "$([ $? -eq 0 ] && grep -q '^usage: ' "$dir/out"; echo $?)" "--help"
	run --version
	result "$([ $? -eq 0 ] && grep -q '^kvgpu-top [0-9]' "$dir/out"; echo $?)" "--version"
	for form in --once --json --prometheus; do
		run $form --sysfs "$dir/nowhere"
		result "$([ $? -eq 1 ] && grep -q 'nowhere: No such file' "$dir/err"; echo $?)" "$form without a sysfs: exit code 1"
		timeout 10 "$top" $form --once --sysfs "$here" --interval 0.1 >/dev/full 2>"$dir/err"
		result "$([ $? -eq 1 ] && grep -q "can't write" "$dir/err"; echo $?)" "$form to a full disk: exit code 1"
	done
}

# forms NAME: all three end well, the latter two are what they should be, nothing is said on stderr
forms()
{
	look
	result "$([ $? -eq 0 ] && [ -s "$dir/out" ] && [ ! -s "$dir/err" ]; echo $?)" "table: $1" "$(head -n 1 "$dir/err")"
	look --prometheus
	result "$([ $? -eq 0 ] && [ ! -s "$dir/err" ]; echo $?)" "Prometheus: $1" "$(head -n 1 "$dir/err")"
	"$here/prometheus-check.py" <"$dir/out" >"$dir/wrong"
	result $? "Prometheus would read it: $1" "$(head -n 1 "$dir/wrong")"
	look --json
	result "$([ $? -eq 0 ] && [ ! -s "$dir/err" ]; echo $?)" "JSON: $1" "$(head -n 1 "$dir/err")"
	json '.gpus | type == "array"'
	result $? "it is JSON: $1"
}

test_empty()
{
	fresh
	forms "no kvgpu"
	json '.gpus == []'
	result $? "no GPU"
	look
	grep -q 'is the module loaded' "$dir/out"
	result $? "the table says what to look at"
	fake_foreign "$dir/sys" $A
	look --json
	json '.gpus == []'
	result $? "another driver's mediated device is not shown"
	fake_gpu "$dir/sys" $GPU
	forms "a GPU without vGPUs"
	json '.gpus | length == 1 and .[0].vgpus == []'
	result $? "the GPU is there"
}

test_all()
{
	local f n bad=''
	fresh
	fake_gpu "$dir/sys" $GPU
	fake_gpu "$dir/sys" 0000:02:00.0
	fake_vgpu "$dir/sys" $GPU $B 512m 1000
	fake_vgpu "$dir/sys" $GPU $A 4g 2000
	fake_vgpu "$dir/sys" $GPU 44444444-0000-4000-8000-00000000000e 2g 4000
	fake_vgpu "$dir/sys" 0000:02:00.0 33333333-0000-4000-8000-00000000000c 1g 3000
	fake_foreign "$dir/sys" 44444444-0000-4000-8000-00000000000d
	forms "two GPUs, four vGPUs"
	json ".gpus | map(.address) == [\"$GPU\", \"0000:02:00.0\"]"
	result $? "GPUs in order"
	json ".gpus[0].vgpus | map(.type) == [\"kvgpu-4g\", \"kvgpu-512m\", \"kvgpu-2g\"] and map(.uuid)[:2] == [\"$A\", \"$B\"]"
	result $? "vGPUs in order, with their types"
	n=1000
	for f in $VGPU_FILES; do json ".gpus[0].vgpus[1].$f == $n" || bad+=" $f"; n=$((n + 1)); done
	n=100
	for f in $GPU_FILES; do n=$((n + 1)); json ".gpus[0].$f == $n" || bad+=" $f"; done
	result "$([ -z "$bad" ]; echo $?)" "every number is the file's" "${bad:-}"
	json '.gpus[0] | .policy == "best-effort" and .busy == 0 and .vgpus[0].share == 0 and .vgpus[0].exits_per_s == 0'
	result $? "nothing moved: the rates are 0"
	json '.gpus[0].vgpus[0].preempt_ns_mean == null'
	result $? "nothing was preempted: there is no mean"
	look --prometheus
	grep -qx "kvgpu_vgpu_gpu_seconds_total{gpu=\"$GPU\",vgpu=\"$A\"} 0.000002000" "$dir/out" &&
		grep -qx "kvgpu_gpu_core_clock_hertz{gpu=\"$GPU\"} 107000" "$dir/out" &&
		grep -qx "kvgpu_vgpu_exits_total{gpu=\"$GPU\",vgpu=\"$B\",kind=\"config\"} 1014" "$dir/out"
	result $? "Prometheus gets base units"
}

test_values()
{
	local a
	fresh
	fake_gpu "$dir/sys" $GPU
	fake_vgpu "$dir/sys" $GPU $A 512m 0
	a=$(attributes $A)
	rm "$a/weight"
	: >"$a/cap"
	echo x >"$a/slices"
	echo -5 >"$a/faults"
	echo 99999999999999999999999999 >"$a/strikes"
	echo 9223372036854775807 >"$a/gpu_time_ns"
	printf '7' >"$a/preempts"
	printf '1\0002\n' >"$a/preempt_ns_max"
	printf '\377\376\n' >"$a/runnable"
	echo ' 3' >"$a/zaps"
	rm "$a/suspended"; mkdir "$a/suspended"
	rm "$a/interrupts"; mkfifo "$a/interrupts"
	rm "$a/tlb_flushes"; ln -s nowhere "$a/tlb_flushes"
	printf '%0300d\n' 1 >"$a/page_faults"
	echo 4611686018427387904 >"$a/pinned_pages"
	echo 'best-effort [fixed-share] equal-share' >"$a/../../kvgpu/policy"
	echo -12500 >"$a/../../kvgpu/temperature_mc"
	rm "$a/../../kvgpu/mem_clock_khz"
	forms "broken values"
	json '.gpus[0].vgpus[0] | [.weight, .cap, .slices, .faults, .strikes, .runnable, .zaps, .suspended, .interrupts,
		.tlb_flushes, .page_faults] | all(. == null)'
	result $? "what is not a number is null"
	json '.gpus[0].vgpus[0].preempts == 7 and .gpus[0].vgpus[0].pinned_pages == 4611686018427387904 and .gpus[0].temperature_mc == -12500'
	result $? "what is a number is not"
	json '.gpus[0].policy == "fixed-share" and .gpus[0].mem_clock_khz == null'
	result $? "the policy in brackets; no clock"
	look
	grep -q 'mem -  policy fixed-share' "$dir/out"
	result $? "the table shows - for it"
	printf 'a"b\\c\n' >"$a/../../kvgpu/policy"
	forms "a policy with a quote"
	printf 'a\033cb\n' >"$a/../../kvgpu/policy"
	look
	! grep -q $'\033' "$dir/out"
	result $? "no escape sequence goes from a file to the terminal"
}

test_broken_trees()
{
	fresh
	fake_gpu "$dir/sys" $GPU
	ln -s ../../../devices/nowhere "$dir/sys/bus/mdev/devices/$A"
	touch "$dir/sys/bus/mdev/devices/$B"
	ln -s . "$dir/sys/bus/mdev/devices/33333333-0000-4000-8000-00000000000c"
	ln -s ../../../../devices/nowhere "$dir/sys/bus/pci/drivers/kvgpu/0000:09:00.0"
	ln -s loop "$dir/sys/bus/pci/drivers/kvgpu/0000:0a:00.0"
	mkdir -p "$dir/sys/bus/mdev/devices/strange name" "$dir/sys/bus/mdev/devices/ab/kvgpu"
	forms "links to nowhere, files for directories"
	json '.gpus | map(select(.vgpus != [])) | map(.vgpus[].uuid) == ["ab"]'
	result $? "only what has kvgpu/ is a vGPU"
	fresh
	fake_vgpu "$dir/sys" $GPU $A 512m 5
	rm "$dir/sys/devices/pci0000:00/$GPU/$A/mdev_type"
	forms "a vGPU whose GPU is not bound (any more)"
	json ".gpus[0].address == \"$GPU\" and .gpus[0].policy == null and .gpus[0].vgpus[0].type == null"
	result $? "it is shown all the same"
	rm -rf "$dir/sys"
	mkdir -p "$dir/sys/bus/pci/drivers" "$dir/sys/bus/mdev"
	touch "$dir/sys/bus/pci/drivers/kvgpu" "$dir/sys/bus/mdev/devices"
	forms "files where directories should be"
}

await() # CONDITION...: waits until it is true; a minute at most
{
	local end=$((SECONDS + 60))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# vGPUs are made and removed, and their files written, while the tool looks: no line may be broken
churn()
{
	local i=0 a uuid
	while true; do
		i=$((i + 1))
		uuid=55555555-0000-4000-8000-00000000000$((i % 4))
		fake_vgpu "$dir/sys" $GPU $uuid 512m $i
		a=$(attributes $A)
		echo $((i * 1000000)) >"$a/gpu_time_ns"
		rm -rf "$dir/sys/devices/pci0000:00/$GPU/$uuid"
		rm -f "$dir/sys/bus/mdev/devices/$uuid"
	done
} 2>/dev/null

has_lines() { [ "$(wc -l <"$2")" -ge "$1" ]; }

test_churn()
{
	local lines
	fresh
	fake_gpu "$dir/sys" $GPU
	fake_vgpu "$dir/sys" $GPU $A 512m 5
	churn &
	writer=$!
	"$top" --json --interval 0.1 --sysfs "$dir/sys" >"$dir/out" 2>"$dir/err" &
	watcher=$!
	await has_lines 50 "$dir/out"
	kill $watcher $writer
	wait $watcher $writer 2>/dev/null
	watcher='' writer=''
	result "$([ ! -s "$dir/err" ]; echo $?)" "nothing to say while vGPUs come and go" "$(head -n 1 "$dir/err")"
	lines=$(wc -l <"$dir/out")
	[ "$(jq -c 'select(.gpus[0].vgpus | map(.uuid) | index("'$A'"))' "$dir/out" 2>/dev/null | wc -l)" = "$lines" ]
	result $? "each of its lines is JSON and has the vGPU that stays"
	[ "$lines" -ge 5 ]
	result $? "there are lines" "$lines"
}

test_width()
{
	local width longest bad=''
	fresh
	fake_gpu "$dir/sys" $GPU
	fake_vgpu "$dir/sys" $GPU $A 512m 100
	for width in 1 2 3 7 8 9 13 14 20 36 41 42 47 60 80 100 132 160 1000; do
		COLUMNS=$width look || bad+=" $width:rc"
		longest=$(awk '{ if (length > n) n = length } END { print n }' "$dir/out")
		[ "$longest" -le $width ] || bad+=" $width:$longest"
		[ "$(wc -l <"$dir/out")" = 3 ] || bad+=" $width:lines"
	done
	result "$([ -z "$bad" ]; echo $?)" "no line is wider than the terminal" "$bad"
	COLUMNS=20 look
	grep -q '^vGPU .* GPU%' "$dir/out" && grep -q '^11111111 ' "$dir/out"
	result $? "at 20 columns: short UUIDs, and still the share"
	COLUMNS=160 look
	grep -q "^$A kvgpu-512m .*" "$dir/out" && grep -q 'STRK$' "$dir/out"
	result $? "at 160 columns: all"
	for width in '' 0 -3 x 99999999999; do COLUMNS=$width look || bad+=" '$width'"; done
	result "$([ -z "$bad" ]; echo $?)" "COLUMNS that is no number" "$bad"
}

# shape: a screen on stdin without what differs from time to time: numbers, UUIDs, blanks
shape() { sed -E 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/; s/ +/ /g; s/ [0-9][0-9.]*[kM]?\>/ N/g; s/ -( |$)/ N\1/g'; }

# The screen in docs/admin.md: vGPUs that run, have nothing to do, run, and are suspended
test_screen()
{
	local at=1 uuid runnable
	fresh
	fake_gpu "$dir/sys" $GPU
	for runnable in 1 0 1 0; do
		uuid=0b3a9c2e-6f1d-4a57-8c1e-52d1c0ffee0$at
		fake_vgpu "$dir/sys" $GPU $uuid 512m 100
		echo $runnable >"$(attributes $uuid)/runnable"
		echo $((at == 4)) >"$(attributes $uuid)/suspended"
		at=$((at + 1))
	done
	COLUMNS=160 look
	awk '/^<!-- no commands: a screen, compared by .*top_test.sh/ { on = 1; next } on && /^[^ ]|^$/ { exit } on' "$here/../../../docs/admin.md" |
		sed 's/^    //' | shape >"$dir/page"
	[ -s "$dir/page" ] && shape <"$dir/out" | diff "$dir/page" - >"$dir/err"
	result $? "the screen in docs/admin.md" "$(sed -n 2p "$dir/err")"
}

frames() { grep -ao $'\033\\[H' "$dir/typescript" | wc -l; }
has_frames() { [ "$(frames)" -ge "$1" ]; }
has_ended() { grep -aq 'rc=[0-9]' "$dir/typescript"; }

# in_terminal FRAMES KEYS COMMAND: what a pseudo terminal got to show. Once it was drawn FRAMES times,
# KEYS are pressed, and there is a file "drawn". COMMAND ends by printing rc=NUMBER.
in_terminal()
{
	rm -f "$dir/drawn"
	: >"$dir/typescript"
	{
		await has_frames "$1"
		: >"$dir/drawn"
		printf '%s' "$2"
		await has_ended
	} | TERM=xterm timeout 150 script -qefc "$3" "$dir/typescript" >/dev/null 2>&1
}

test_terminal()
{
	local i
	fresh
	fake_gpu "$dir/sys" $GPU
	fake_vgpu "$dir/sys" $GPU $A 512m 100
	in_terminal 4 q "stty cols 100 rows 10; $top --interval 0.2 --sysfs $dir/sys; rc=\$?; stty -a; echo rc=\$rc"
	grep -q 'rc=0' "$dir/typescript"
	result $? "q ends it"
	has_frames 4
	result $? "it is drawn again and again" "$(frames)"
	grep -q $'\033\\[?1049h' "$dir/typescript" && grep -q $'\033\\[?1049l' "$dir/typescript" &&
		grep -q $'\033\\[?25h' "$dir/typescript" && grep -qw 'icanon' "$dir/typescript" && grep -qw 'echo' "$dir/typescript"
	result $? "the terminal is as it was"
	in_terminal 1 '' "$top --interval 0.2 --sysfs $dir/sys & p=\$!; until [ -e $dir/drawn ]; do sleep 0.1; done; kill -TERM \$p; wait \$p; echo rc=\$?"
	grep -q 'rc=0' "$dir/typescript" && grep -q $'\033\\[?25h' "$dir/typescript"
	result $? "SIGTERM ends it in order"
	for i in 1 2 3 4 5 6; do fake_vgpu "$dir/sys" $GPU 66666666-0000-4000-8000-00000000000$i 512m 100; done
	in_terminal 1 q "stty cols 30 rows 5; $top --interval 0.2 --sysfs $dir/sys; echo rc=\$?"
	grep -q 'rc=0' "$dir/typescript" && grep -q 'more' "$dir/typescript"
	result $? "a terminal that is too low says how much is left out"
	in_terminal 0 '' "TERM=dumb $top --interval 0.2 --sysfs $dir/sys; echo rc=\$?"
	grep -q 'rc=0' "$dir/typescript" && ! grep -q $'\033' "$dir/typescript"
	result $? "a dumb terminal gets the table once"
}

plan() # EXIT-CODE TEXT MIX
{
	run --sysfs "$dir/sys" --plan "$3"
	result "$([ $? -eq "$1" ] && grep -qxF -- "$2" "$dir/out"; echo $?)" "--plan $3" "$(head -n 1 "$dir/out")"
}

test_plan()
{
	local mix
	fresh
	fake_gpu "$dir/sys" $GPU
	run --sysfs "$dir/sys" --plan 1g=1
	result "$([ $? -eq 2 ] && grep -q 'as new as' "$dir/err"; echo $?)" "--plan without types: exit code 2"
	fake_types "$dir/sys" $GPU
	plan 0 "$GPU: yes; then room for 0 512m, 0 1g, 0 2g, 0 4g (of one type)" 4g=1,512m=1
	plan 0 "$GPU: yes; then room for 1 512m, 0 1g, 0 2g, 0 4g (of one type)" 512m=4,kvgpu-2g=1
	plan 3 "$GPU: no: room for 8 of 9 512m" 512m=9
	plan 3 "$GPU: no: it has no type 3g" 3g=1
	fake_gpu "$dir/sys" 0000:02:00.0
	fake_types "$dir/sys" 0000:02:00.0
	echo 9216 >"$dir/sys/devices/pci0000:00/0000:02:00.0/kvgpu/room_vram_mib"
	echo 300 >"$dir/sys/devices/pci0000:00/0000:02:00.0/kvgpu/room_bar1_mib"
	plan 0 "0000:02:00.0: yes; then room for 2 512m, 1 1g, 0 2g, 0 4g (of one type)" 2g=3
	result "$(grep -qx "$GPU: no: room for 2 of 3 2g" "$dir/out"; echo $?)" "one of two cards has room: exit code 0"
	for mix in '' 1g 1g= 1g=0 1g=-1 1g=x =3 '1g=1,' ',1g=1' 1g=1000 1g=1,,2g=1 1g=1=2 "$(printf '1g=1,%.0s' {1..16})1g=1"; do
		run --sysfs "$dir/sys" --plan "$mix"
		result "$([ $? -eq 2 ] && [ ! -s "$dir/out" ] && grep -q 'wants TYPE=NUMBER' "$dir/err"; echo $?)" "--plan '$mix': exit code 2"
	done
	echo 'num_heads=0, framebuffer=512T, bar1=99999999999999999999M' \
		>"$dir/sys/devices/pci0000:00/$GPU/mdev_supported_types/kvgpu-1g/description"
	plan 0 "0000:02:00.0: yes; then room for 2 512m, 1 1g, 0 2g, 0 4g (of one type)" 2g=3
	result "$([ "$(wc -l <"$dir/out")" = 1 ]; echo $?)" "a card with a type of unknown size is left out"
}

http() # STATUS REQUEST: the answer's headers are in $dir/head, its body in $dir/body
{
	printf '%b' "$2" | timeout 60 "$here/http_peers.py" ask "$top" --http --sysfs "$dir/sys" >"$dir/out" 2>"$dir/err"
	sed -n '1,/^\r$/p' "$dir/out" | tr -d '\r' >"$dir/head"
	sed '1,/^\r$/d' "$dir/out" >"$dir/body"
	result "$(head -n 1 "$dir/head" | grep -q "^HTTP/1.1 $1 " && [ ! -s "$dir/err" ] &&
		[ "$(sed -n 's/^Content-Length: //p' "$dir/head")" = "$(wc -c <"$dir/body")" ]; echo $?)" "HTTP: $1 for $(head -c 30 <<<"$2")"
}

test_http()
{
	fresh
	fake_gpu "$dir/sys" $GPU
	fake_types "$dir/sys" $GPU
	fake_vgpu "$dir/sys" $GPU $A 512m 5
	http 200 'GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n'
	"$top" --prometheus --sysfs "$dir/sys" | cmp -s - "$dir/body"
	result $? "the body is that of --prometheus"
	grep -qx 'Content-Type: text/plain; version=0.0.4; charset=utf-8' "$dir/head"
	result $? "and its header says so"
	http 200 'GET /metrics?x=1 HTTP/1.0\n\n'
	http 404 'GET / HTTP/1.1\r\n\r\n'
	http 404 'GET /metricsx HTTP/1.1\r\n\r\n'
	http 405 'POST /metrics HTTP/1.1\r\n\r\n'
	http 400 'GET /metrics\r\n\r\n'
	http 400 'GET /metrics HTTP/1.1\r\n'
	http 400 ''
	http 400 'GET /metrics HTTP/1.1\r\nX: \0\r\n\r\n'
	http 400 "GET /metrics HTTP/1.1\\r\\nX: $(head -c 9000 /dev/zero | tr '\0' x)\\r\\n\\r\\n"
	printf 'GET /metrics HTTP/1.1\r\n\r\n' | timeout 60 "$here/http_peers.py" ask "$top" --http --sysfs "$dir/nowhere" >"$dir/out" 2>"$dir/err"
	result "$(grep -q '^HTTP/1.1 500 ' "$dir/out"; echo $?)" "HTTP: 500 without a sysfs"
	timeout 300 "$here/http_peers.py" silent "$top" --http --sysfs "$dir/sys" >"$dir/out" 2>&1
	result $? "HTTP: silent peers keep nobody out, and are ended" "$(tail -n 1 "$dir/out")"
	"$top" --http </dev/null 2>"$dir/err"
	result "$([ $? -eq 1 ] && grep -q 'wants a socket that listens' "$dir/err"; echo $?)" "HTTP: by a socket alone"
}

test_prometheus()
{
	fresh
	fake_gpu "$dir/sys" $GPU
	fake_types "$dir/sys" $GPU
	look --prometheus --firmware "$dir/sys/gk110.fw"
	grep -qx "kvgpu_firmware_present{kernel=\"$(uname -r)\"} 0" "$dir/out"
	result $? "no firmware file"
	: >"$dir/sys/gk110.fw"
	look --prometheus --firmware "$dir/sys/gk110.fw"
	grep -qx "kvgpu_firmware_present{kernel=\"$(uname -r)\"} 1" "$dir/out" &&
		grep -qx "kvgpu_gpu_available_vgpus{gpu=\"$GPU\",type=\"kvgpu-512m\"} 8" "$dir/out" &&
		grep -qx "kvgpu_gpu_room_memory_bytes{gpu=\"$GPU\"} 4831838208" "$dir/out" &&
		grep -qx "kvgpu_gpu_lost{gpu=\"$GPU\"} 0" "$dir/out"
	result $? "firmware, room for vGPUs, a card that works"
	"$here/prometheus-check.py" <"$dir/out" >"$dir/wrong"
	result $? "Prometheus would read it" "$(head -n 1 "$dir/wrong")"
	rm "$dir/sys/devices/pci0000:00/$GPU/mdev_supported_types/kvgpu-"*/available_instances
	forms "types without numbers"
}

test_usage
test_plan
test_http
test_prometheus
test_empty
test_all
test_values
test_broken_trees
test_churn
test_width
test_screen
test_terminal
printf '1..%d\n' $results
[ $failures -eq 0 ]
