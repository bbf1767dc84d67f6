#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# For make check-long, TAP: some rows of make bench once on a vGPU, and what an operation moved against bounds.list, and with the CUDA
# toolkit against bounds-cuda.list, too. Counters only: times depend on the machine.
set -u
cd "$(dirname "$0")/../../.." || exit 1
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
rows=load,context,channel,buffer,copy,launch
cat selftests/system/bench/bounds.list >"$reports/bounds"
if selftests/cuda/toolkit.sh >/dev/null 2>&1; then
	rows+=,cuda,cold
	cat selftests/system/bench/bounds-cuda.list >>"$reports/bounds"
fi
if ! SYSTEMS=vgpu ROUNDS=1 QUICK=1 MODE=fast BASE='' TYPE=2g ROWS=$rows REPORTS=$reports \
	selftests/system/bench/bench.sh >"$reports/log" 2>&1; then
	tail -n 30 "$reports/log" | sed 's/^/# /'
	echo "Bail out! make bench fails"
	exit 1
fi
sed 's/^/# /' "$reports/log"
PYTHONDONTWRITEBYTECODE=1 selftests/system/bench/report.py --bounds "$reports/bounds" "$reports/counters.json"
