#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make demo: boots a server that has the modelled K20m, loads the distribution's nouveau, copies through the copy engines
# and verifies every byte, shows what the card was asked to do, and takes everything down again.
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

step "a deliberate MMU fault kills its channel and nothing else; nouveau recovers"
$TB run -- /share/kvgpu-client --quick fault 2>"$out/fault.err" </dev/null | tee "$out/fault.tap" | sed 's/^/    /'
passed=$((passed + $(grep -c '^ok ' "$out/fault.tap" || true)))
failed=$(cat "$out/copy.tap" "$out/fault.tap" | grep -c '^not ok ' || true)

step "what the card was asked to do"
socat -u "UNIX-CONNECT:$($TB status </dev/null | awk '$1 == "stats" { print $2 }')" - >"$out/stats.json"
python3 - "$out/stats.json" "$report" "$load_ms" "$passed" "$failed" "$bytes" $((SECONDS - began)) <<'PY'
import json, sys
stats = json.load(open(sys.argv[1]))
report = {
    "mode": "unpaced", "kernel": "6.12", "nouveau_load_ms": int(sys.argv[3]),
    "checks_passed": int(sys.argv[4]), "checks_failed": int(sys.argv[5]), "bytes_asked": sys.argv[6],
    "seconds": int(sys.argv[7]),
    "bar0_reads": sum(u["reads"] for u in stats["mmio"]), "bar0_writes": sum(u["writes"] for u in stats["mmio"]),
}
for name in ("doorbells", "gp_entries", "ce_launches", "dma_rd_bytes", "dma_wr_bytes", "vram_rd_bytes", "vram_wr_bytes",
             "mmu_faults", "tlb_flushes", "intr_msgs"):
    report[name] = stats[name]
json.dump(report, open(sys.argv[2], "w"), indent=2)
for key, value in report.items():
    print(f"    {key:18} {value}")
PY

step "taking it down"
$TB down </dev/null
if [ "$failed" -ne 0 ] || [ "$passed" -eq 0 ]; then
	echo "demo: $failed of $((passed + failed)) checks failed" >&2
	exit 1
fi
printf '\ndone: %d checks passed in %d s; the report is %s\n' "$passed" $((SECONDS - began)) "$report"
