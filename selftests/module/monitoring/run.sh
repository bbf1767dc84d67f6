#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh [METRICS-FILE]: kvgpu-top's metrics, the alerts and the console with Debian 12's Prometheus and promtool, or with those of
# KVGPU_SUITE, which are fetched and not installed. METRICS-FILE: what a machine with cards has said. Prints TAP.
set -u
here=$(dirname "$(readlink -f "$0")")
tree=$(readlink -f "$here/../../..")
if [ -z "${KVGPU_PROMETHEUS:-}" ]; then
	names=(prometheus)
	[ "${KVGPU_SUITE:=bookworm}" = bookworm ] || names+=(promtool)	# newer ones have it in a package of its own
	KVGPU_PROMETHEUS=$("$tree/selftests/fetch.sh" prometheus "$KVGPU_SUITE" "${names[@]}") || { echo "Bail out! Debian's Prometheus can't be fetched"; exit 1; }
	export KVGPU_PROMETHEUS
	exec unshare -n "$0" "$@"	# a network of its own, so that ports are free
fi
dir=$(mktemp -d)
server=
prometheus=
trap 'kill $server $prometheus 2>/dev/null; rm -rf "$dir"' EXIT
# shellcheck source=selftests/module/tools/fake-sysfs.sh
. "$tree/selftests/module/tools/fake-sysfs.sh"
results=0 failures=0
A=11111111-0000-4000-8000-00000000000a B=22222222-0000-4000-8000-00000000000b

result() # STATUS NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2" "${3:+ # $3}"
}

test_metrics()
{
	"$top" --prometheus --sysfs "$dir/sys" | "$promtool" check metrics >"$dir/said" 2>&1
	result $? "promtool check metrics" "$(head -n 1 "$dir/said")"
	[ -z "${1-}" ] || { "$promtool" check metrics <"$1" >"$dir/said" 2>&1; result $? "promtool check metrics: $1" "$(head -n 1 "$dir/said")"; }
	"$top" --prometheus --sysfs "$dir/sys" | sed 's/_total/_count/' | "$promtool" check metrics >"$dir/said" 2>&1
	result "$(grep -q 'kvgpu_gpu_switches_count' "$dir/said"; echo $?)" "promtool would complain about a counter of another name"
}

test_rules()
{
	cp "$here/alerts_test.yml" "$tree/tools/monitoring/kvgpu-alerts.yml" "$dir"
	"$promtool" check rules "$dir/kvgpu-alerts.yml" >"$dir/said" 2>&1
	result $? "promtool check rules" "$(tail -n 1 "$dir/said")"
	"$promtool" test rules "$dir/alerts_test.yml" >"$dir/said" 2>&1
	result $? "promtool test rules" "$(tail -n 1 "$dir/said")"
	# each metric of an alert or of the console is one that kvgpu-top has, or kvgpu-remotectl
	{ "$top" --prometheus --sysfs "$dir/sys" | sed -n 's/^# TYPE \([^ ]*\) .*/\1/p'
	sed -n 's/.*show_metric(out, "\([a-z_]*\)",.*/kvgpu_remote_\1/p' "$tree/remote/ctl/show.c"; } | sort -u >"$dir/have"
	grep -oh 'kvgpu_[a-z0-9_]*' "$tree/tools/monitoring/kvgpu-alerts.yml" "$tree/tools/monitoring/kvgpu.html" | sort -u >"$dir/used"
	result "$([ -s "$dir/used" ] && [ -z "$(comm -13 "$dir/have" "$dir/used")" ]; echo $?)" "alerts and console use metrics that there are" \
		"$(comm -13 "$dir/have" "$dir/used" | tr '\n' ' ')"
}

page() { python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode())' "$1" 2>/dev/null; }
in_page() { page http://127.0.0.1:9090/consoles/kvgpu.html >"$dir/page" && grep -q -- "$1" "$dir/page"; }
waits() # CONDITION...: two minutes at most
{
	local end=$((SECONDS + 120)) n=0
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		n=$((n + 1))
		echo $((n * 400000000)) >"$dir/sys/devices/pci0000:00/$GPU/$A/kvgpu/gpu_time_ns"
		sleep 0.5
	done
}

test_console()
{
	ip link set lo up
	"$here/serve.py" 9479 "$top" --http --sysfs "$dir/sys" &
	server=$!
	mkdir "$dir/consoles" "$dir/data"
	cp "$tree/tools/monitoring/kvgpu.html" "$dir/consoles"
	cat >"$dir/prometheus.yml" <<-EOT
		global: {scrape_interval: 1s, evaluation_interval: 1s}
		rule_files: [kvgpu-alerts.yml]
		scrape_configs: [{job_name: kvgpu, static_configs: [{targets: ['127.0.0.1:9479']}]}]
	EOT
	"$promtool" check config "$dir/prometheus.yml" >"$dir/said" 2>&1
	result $? "promtool check config" "$(tail -n 1 "$dir/said")"
	"$root/usr/bin/prometheus" --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data" --web.console.templates="$dir/consoles" \
		--web.console.libraries="$dir/consoles" --web.listen-address=127.0.0.1:9090 >"$dir/log" 2>&1 &
	prometheus=$!
	waits in_page "<td>$A</td><td>kvgpu-512m</td>"
	result $? "the console shows a vGPU of the live target" "$(tail -n 1 "$dir/log")"
	waits in_page '<meter value="0\.[0-9]*[1-9]'
	result $? "and its share, once it moves" "$(grep -m 1 '<meter' "$dir/page")"
	grep -q "<td>$B</td><td>kvgpu-2g</td>" "$dir/page" && grep -q "<h2>$GPU of 127.0.0.1:9479</h2>" "$dir/page" && grep -q '<td>best-effort</td>' "$dir/page"
	result $? "and the other vGPU, the card and its policy"
	! grep -qi '<no value>\|error' "$dir/page"
	result $? "no field is empty by mistake" "$(grep -im 1 'no value\|error' "$dir/page")"
	echo 1 >"$dir/sys/devices/pci0000:00/$GPU/kvgpu/lost"
	waits in_page 'class="bad">lost<'
	result $? "a card that was lost is shown as such"
}

root=$KVGPU_PROMETHEUS
promtool=$root/usr/bin/promtool
make -s -C "$tree" top >/dev/null
top=$(make -s -C "$tree" print-top)
mkdir "$dir/sys"
fake_gpu "$dir/sys" $GPU
fake_types "$dir/sys" $GPU
fake_vgpu "$dir/sys" $GPU $A 512m 1000
fake_vgpu "$dir/sys" $GPU $B 2g 2000
test_metrics "${1-}"
test_rules
test_console
printf '1..%d\n' $results
[ $failures -eq 0 ]
