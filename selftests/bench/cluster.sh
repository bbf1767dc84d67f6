#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# cluster.sh FOLDER PROGRAMS LIBRARY OUT MPI [COUNT]: bandwidth by kvgpu-run (in FOLDER, with its parts) against the size of a copy, for
# each size of staging buffer, beside what the same MPI carries by itself in the same run. PROGRAMS has cluster_copies, and
# cluster_mpi for that MPI. Prints a table, and writes OUT/remote-cluster.json. All on this machine.
set -eu
folder=$1 programs=$2 library=$3 out=$4 mpi=$5 count=${6-5}
root=() mpirun=(-n 2)
[ "$mpi" = openmpi ] && mpirun+=(--oversubscribe) && [ "$(id -u)" = 0 ] && root=(--allow-run-as-root)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for staging in 65536 262144 1048576 2097152; do
	"mpirun.$mpi" "${root[@]}" "${mpirun[@]}" "$programs/cluster_mpi" "$count" $staging > "$work/mpi-$staging"
	"$folder/kvgpu-run" --mpi "$mpi" --gpus 1 --staging $staging --library "$library" "${root[@]}" --client "$folder" \
		"$programs/cluster_copies" "$count" > "$work/copy-$staging"
done
# of MPI itself there is one way, since both are the same
gpu=$("$folder/kvgpu-run" --mpi "$mpi" --library "$library" "${root[@]}" --list | awk 'NR == 2' | cut -c26-57 | sed 's/ *$//')
awk -v mpi="$mpi" -v gpu="$gpu" '
function name(bytes) { bytes += 0; return bytes >= 1048576 ? bytes / 1048576 " MiB" : bytes / 1024 " KiB" }
FNR == 1 { staging = FILENAME; sub(/.*-/, "", staging); order[++files] = staging }
$1 == "mpi" { own[staging, $3] = $4 }
$1 == "copy" { got[staging, $2, $3] = $4; sizes[$3] = 1 }
END {
	printf "{\"gpu\": \"%s\", \"rows\": [", gpu
	for (i = 1; i <= files; i++) {
		if (order[i] in seen) continue
		seen[order[i]] = 1
		for (bytes = 4096; bytes <= 67108864; bytes *= 4)
			for (w = 0; w < 2; w++) {
				way = w ? "from" : "to"
				printf "%s\n {\"name\": \"%s, buffers of %s: pageable memory %s the GPU, %s\", \"value\": %s, \"unit\": \"MB/s\"},", \
					comma, mpi, name(order[i]), way, name(bytes), got[order[i], way, bytes]
				comma = ""
				printf "\n {\"name\": \"%s, buffers of %s: the same, of the MPI by itself, %s the GPU, %s\", \"value\": %.1f, \"unit\": \"%%\"}", \
					mpi, name(order[i]), way, name(bytes), 100 * got[order[i], way, bytes] / own[order[i], bytes]
				comma = ","
			}
	}
	print "]}"
}' "$work"/mpi-* "$work"/copy-* > "$out/remote-cluster.json"
paste -d' ' "$work"/mpi-1048576 <(grep 'copy to' "$work/copy-1048576") <(grep 'copy from' "$work/copy-1048576") |
	awk 'BEGIN { print "buffers of 1 MiB, MB/s:\n  bytes      MPI itself   to the GPU   from it" }
	{ printf "%9d %14s %12s %9s\n", $3, $4, $8, $12 }'
