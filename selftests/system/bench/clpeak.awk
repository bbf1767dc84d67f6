#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0-only
# clpeak.awk LOG: what clpeak.sh printed, as samples for report.py; of vectors the widest
function sample(row, unit, better) {
	printf "{\"row\": \"clpeak-%s\", \"unit\": \"%s\", \"better\": \"%s\", \"value\": %s, \"ops\": 1}\n", row, unit, better, value
}
{ value = $0; sub(/^.*: */, "", value) }
/ Global memory bandwidth/ { row = "memory"; unit = "GB/s" }
/ Single-precision compute/ { row = "float"; unit = "GFLOP/s" }
/ Integer compute \(/ { row = "int"; unit = "GIOP/s" }
/ (float|int)16 +:/ { sample(row, unit, "higher") }
/ enqueueWriteBuffer +:/ { sample("write", "GB/s", "higher") }
/ enqueueReadBuffer +:/ { sample("read", "GB/s", "higher") }
