#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh LIBDIR [PROGRAM...]: runs the compiled programs that lie beside this script with the CUDA libraries in LIBDIR (a list with
# colons, as LD_LIBRARY_PATH), all or the named ones. TAP; a program passes with exit code 0, its last line is the comment.
# KVGPU_PROGRAM_TIMEOUT: seconds that one may take (120).
set -u
if [ $# -lt 1 ]; then
	echo "usage: run.sh LIBDIR [PROGRAM...]" >&2
	exit 2
fi
libs=$1
shift
cd "$(dirname "$0")" || exit 1
limit=${KVGPU_PROGRAM_TIMEOUT:-120}
number=0 failed=0

# run NAME COMMAND...
run()
{
	local name=$1 out rc start=$EPOCHREALTIME ms

	shift
	out=$(LD_LIBRARY_PATH=$libs timeout "$limit" "$@" 2>&1)
	rc=$?
	ms=$(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
	number=$((number + 1))
	if [ "$rc" = 0 ]; then
		echo "ok $number - $name # $ms ms: $(tail -n 1 <<< "$out")"
		return
	fi
	failed=1
	[ "$rc" = 124 ] && out+=$'\n'"no end within $limit s"
	[ "$rc" -gt 128 ] && out+=$'\n'"killed by signal $((rc - 128))"
	echo "not ok $number - $name # $ms ms: exit code $rc"
	sed 's/^/# /' <<< "$out"
}

# starts a program with the arguments and the environment that it needs
run_program()
{
	case $1 in
	gpuvm)
		for what in madd mmul fmadd fmmul cpy pincpy; do
			run "gpuvm $what" ./gpuvm kernels.cubin "$what"
		done ;;
	driver_api) run driver_api ./driver_api kernels.cubin ;;
	kvgpu-cuda-driver) run kvgpu-cuda-driver ./kvgpu-cuda-driver kvgpu-cuda-driver.cubin ;;
	# for several GPUs, also on the model in the process
	multi_gpu | peer_copies | topology) KVGPU_INPROCESS_GPUS=2 run "$1" "./$1" ;;
	# on the model in the process this stands for a driver that limits the time
	error_endless) KVGPU_INPROCESS_LIMIT_MS=2000 run error_endless ./error_endless 20 ;;
	fork_children)
		if [ -e /dev/dri ]; then
			run fork_children ./fork_children
		else
			number=$((number + 1))
			echo "ok $number - fork_children # SKIP the GPU is in the process, and a child would have none"
		fi ;;
	*) run "$1" "./$1" ;;
	esac
}

if [ $# -gt 0 ]; then
	for program in "$@"; do
		run_program "$program"
	done
else
	for program in *; do
		[ -f "$program" ] && [ -x "$program" ] && [ "$program" != run.sh ] && run_program "$program"
	done
fi
echo "1..$number"
exit $failed
