#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# cluster.sh FOLDER PROGRAMS LIBRARY OUT MPI [COUNT]: bandwidth by kvgpu-run (in FOLDER, with its parts) against the size of a copy, for
# each size of staging buffer, beside what the same MPI carries by itself in the same run. PROGRAMS has cluster_copies, and
# cluster_mpi for that MPI. Prints a table and what the relays count, and writes OUT/remote-cluster.json. All on this machine.
# Others must not reach what mpirun listens at: in a user and a network namespace of its own, where the user is root.
set -eu
if [ -z "${KVGPU_BENCH_ALONE-}" ]; then
	export KVGPU_BENCH_ALONE=1
	# shellcheck disable=SC2016 # the shell in the namespaces expands it
	exec unshare -Urn sh -c 'ip link set lo up && exec "$@"' sh "$0" "$@"
fi
folder=$1 programs=$2 library=$3 out=$4 mpi=$5 count=${6-5}
mpirun=(-n 2)
[ "$mpi" = openmpi ] && mpirun+=(--oversubscribe --allow-run-as-root)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for staging in 65536 262144 1048576 2097152; do
	"mpirun.$mpi" "${mpirun[@]}" "$programs/cluster_mpi" "$count" $staging > "$work/mpi-$staging"
	"$folder/kvgpu-run" --mpi "$mpi" --gpus 1 --staging $staging --library "$library" --trust-network --allow-run-as-root --client "$folder" --arena 1G \
		--counts "$programs/cluster_copies" "$count" > "$work/copy-$staging" 2> "$work/counts-$staging"
done
# a device's name ends with its machine's; of MPI itself there is one way, since both are the same
gpu=$(sed -n 's/^gpu //; s/ on [^ ]*$//; 1p' "$work/copy-1048576")
awk -v mpi="$mpi" -v gpu="$gpu" '
function name(bytes) { bytes += 0; return bytes >= 1048576 ? bytes / 1048576 " MiB" : bytes / 1024 " KiB" }
function put(text, value, unit) {
	printf "%s\n {\"name\": \"%s, buffers of %s: %s, %s\", \"value\": %.1f, \"unit\": \"%s\"}", comma, mpi, name(staging), text, \
		name(bytes), value, unit
	comma = ","
}
FNR == 1 { file = FILENAME; sub(/.*-/, "", file); order[++files] = file }
$1 == "mpi" { own[file, $3] = $4 }
$1 == "copy" { got[file, $2, $3, $4] = $5 }
END {
	printf "{\"gpu\": \"%s\", \"rows\": [", gpu
	for (i = 1; i <= files; i++) {
		staging = order[i]
		if (seen[staging]++) continue
		for (bytes = 4096; bytes <= 67108864; bytes *= 4) {
			put("the MPI by itself", own[staging, bytes], "MB/s")
			for (w = 0; w < 4; w++) {
				memory = w < 2 ? "pageable" : "pinned"
				way = w % 2 ? "from" : "to"
				value = got[staging, memory, way, bytes]
				put(memory " memory " way " the GPU", value, "MB/s")
				put("the same, of the MPI by itself, " (w < 2 ? "" : "pinned memory, ") way " the GPU", \
				    100 * value / own[staging, bytes], "%")
			}
		}
	}
	printf ",\n {\"name\": \"MPI: host to device by buffers of 1 MiB, pipelined: of the transport\", \"value\": %.1f, " \
		"\"unit\": \"%%\", \"aim\": \">= 97\"}", 100 * got[1048576, "pageable", "to", 67108864] / own[1048576, 67108864]
	print "]}"
}' "$work"/mpi-* "$work"/copy-* > "$out/remote-cluster.json"
for staging in 65536 262144 1048576 2097152; do
	awk -v staging=$staging '
	$1 == "mpi" { own[$3] = $4 }
	$1 == "copy" { got[$2, $3, $4] = $5 }
	END {
		printf "buffers of %d KiB, MB/s:\n%9s %11s %18s %18s\n%9s %11s %9s %8s %9s %8s\n", staging / 1024, "", "", "pageable memory", \
			"pinned memory", "bytes", "MPI itself", "to", "from", "to", "from"
		for (n = 4096; n <= 67108864; n *= 4)
			printf "%9d %11.0f %9.0f %8.0f %9.0f %8.0f\n", n, own[n], got["pageable", "to", n], got["pageable", "from", n], \
				got["pinned", "to", n], got["pinned", "from", n]
	}' "$work/mpi-$staging" "$work/copy-$staging"
	sed 's/^kvgpu-run: [^:]*: /  /' "$work/counts-$staging"
done
