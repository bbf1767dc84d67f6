#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make demo: a server with the modelled K20m; the distribution's nouveau drives the card natively; then kvgpu.ko owns it and
# a stock Debian guest's own nouveau drives a vGPU of it. The same client verifies every byte in both. Takes everything down
# again and writes a report.
set -euo pipefail
cd "$(dirname "$0")/../.."
TB=testbed/tb
export KVGPU_TB_NAME=demo
report=build/demo/report.json
bytes=${DEMO_BYTES:-256M}
began=$SECONDS

step() { printf '\n[%3d s] %s\n' $((SECONDS - began)) "$*"; }
trap '$TB down >/dev/null 2>&1 </dev/null || true' EXIT
trap 'exit 130' INT TERM

step "building the client that runs in the server (stock libdrm_nouveau)"
out=$(dirname "$(make -s --no-print-directory print-model)")/../demo
mkdir -p "$out" build/demo
out=$(readlink -f "$out")
$TB build-exec -- make -s -C selftests/client "OUT=$out"

step "booting a Debian 13 server with a Tesla K20m in it (QEMU under TCG, the GPU model over vfio-user)"
$TB up --driver none </dev/null
cp "$out/kvgpu-client" "$($TB share)/"
$TB run -- lspci -nn -s 01:00.0 </dev/null

step "loading the distribution's own nouveau"
load_ms=$($TB run -- bash -c 's=$(date +%s%N); modprobe nouveau; e=$(date +%s%N); echo $(((e - s) / 1000000))' </dev/null)
$TB run -- bash -c 'dmesg | grep "nouveau 0000" | sed "s/^/    /"; ls -l /dev/dri/renderD128' </dev/null
printf '    modprobe took %s ms\n' "$load_ms"

step "copying $bytes in random sizes and alignments through the copy engines; every byte is verified"
$TB run -- /share/kvgpu-client --bytes "$bytes" copy </dev/null | tee "$out/copy.tap" | sed 's/^/    /'
passed=$(grep -c '^ok ' "$out/copy.tap" || true)
failed=0

step "ending the native part"
socat -u "UNIX-CONNECT:$($TB status </dev/null | awk '$1 == "stats" { print $2 }')" - >"$out/stats.json"
$TB down </dev/null

step "the same server again, but kvgpu.ko owns the card (firmware taken from the server's own nouveau.ko)"
$TB up --driver kvgpu --mem 5G </dev/null
cp "$out/kvgpu-client" "$($TB share)/"
$TB run -- sh -c 'dmesg | grep "kvgpu 0000" | sed "s/^/    /"' </dev/null

step "what an admin sees: mdevctl types"
$TB run -- mdevctl types </dev/null | grep -E 'kvgpu-|Available|Description' | sed 's/^/    /'

step "a stock Debian guest with a vGPU of 512 MiB: mdevctl makes it, libvirt starts the guest, KVM runs it (a minute)"
guest_began=$SECONDS
$TB guest start g1 --full --mem 1G --type 512m </dev/null
for _ in $(seq 60); do
	timeout 30 $TB guest run g1 -- test -e /dev/dri/renderD128 </dev/null 2>/dev/null && break
	sleep 2
done
$TB guest run g1 -- sh -c 'lspci -nn | grep 10de:; dmesg | grep "nouveau 0000"; ls -l /dev/dri/renderD128' </dev/null | sed 's/^/    /'
printf '    guest ready after %s s\n' $((SECONDS - guest_began))
vgpu=$($TB run -- sh -c 'ls -d /sys/bus/mdev/devices/*' </dev/null)
counters() { $TB run -- sh -c "cd $vgpu/kvgpu && grep . *" </dev/null; }
counters >"$out/before"

step "the same client in the guest; every byte is verified"
$TB guest run g1 -- /share/kvgpu-client --bytes "$bytes" copy </dev/null 2>"$out/guest.err" | tee "$out/guest.tap" | sed 's/^/    /'
counters >"$out/after"
passed=$((passed + $(grep -c '^ok ' "$out/guest.tap" || true)))
failed=$(cat "$out/copy.tap" "$out/guest.tap" | grep -c '^not ok ' || true)

step "what it took"
python3 - "$out" "$report" "$load_ms" "$passed" "$failed" "$bytes" $((SECONDS - began)) <<'PY'
import json, re, sys
out, report_path = sys.argv[1], sys.argv[2]
def counters(name):
    return {k: int(v) for k, v in (line.strip().split(":") for line in open(f"{out}/{name}") if ":" in line)}
def seconds(name):
    return round(sum(float(m) for m in re.findall(r", ([0-9.]+) s$", open(f"{out}/{name}").read(), re.M)), 1)
stats = json.load(open(f"{out}/stats.json"))
before, after = counters("before"), counters("after")
report = {
    "mode": "unpaced", "kernel": "6.12", "type": "kvgpu-512m", "bytes_asked": sys.argv[6],
    "native": {
        "nouveau_modprobe_ms": int(sys.argv[3]), "copy_seconds": seconds("copy.tap"),
        "bar0_reads": sum(u["reads"] for u in stats["mmio"]), "bar0_writes": sum(u["writes"] for u in stats["mmio"]),
        "doorbells": stats["doorbells"],
    },
    "guest": {
        "copy_seconds": seconds("guest.tap"), "load": before, "copy": {k: after[k] - before[k] for k in after},
    },
    "checks_passed": int(sys.argv[4]), "checks_failed": int(sys.argv[5]), "seconds": int(sys.argv[7]),
}
json.dump(report, open(report_path, "w"), indent=2)
print(f"    {'':28} {'nouveau loads':>14} {'copies':>10}")
for key in ("exits_bar0_read", "exits_bar0_write", "doorbells_trapped", "page_faults", "shadow_syncs", "shadow_entries_written",
            "tlb_flushes", "interrupts", "registers_unlisted"):
    print(f"    {key:28} {before[key]:>14} {after[key] - before[key]:>10}")
print(f"    copies took {report['native']['copy_seconds']} s natively, {report['guest']['copy_seconds']} s in the guest (sums of the client's own lines)")
PY

step "taking it down"
$TB guest stop g1 </dev/null
$TB down </dev/null
if [ "$failed" -ne 0 ] || [ "$passed" -eq 0 ]; then
	echo "demo: $failed of $((passed + failed)) checks failed" >&2
	exit 1
fi
printf '\ndone: %d checks passed in %d s; the report is %s\n' "$passed" $((SECONDS - began)) "$report"
