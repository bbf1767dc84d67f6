#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# programs.sh: in the guest without a GPU; runs the CUDA programs of the shared folder, but for those below, a line each.
cd /share/cuda/programs || exit 1
for program in *; do
	[ -x "$program" ] || continue
	# not run: helpers of other programs, programs that measure, and what ../vms.sh runs itself
	case $program in
	run.sh | keep_busy | calls | gpuvm | kvgpu-cuda-driver | launch_latency | separate) continue ;;
	driver_api) set -- kernels.cubin ;;
	*) set -- ;;
	esac
	said=$(timeout 150 "./$program" "$@" 2>&1)
	rc=$?
	[ $rc = 0 ] && word=ok || word="not ok"
	printf '%s %s # exit code %s: %s\n' "$word" "$program" $rc "$(echo "$said" | tail -n 1)"
done
