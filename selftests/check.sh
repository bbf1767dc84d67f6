#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# make check, make check-long: set-up, then each rung of the tests from the cheapest to the dearest. A rung that can't be
# built is a failure, and the others still run.
set -u
cd "$(dirname "$0")/.." || exit 1
mode=${1:-quick}
fuzz_s=${FUZZ_SECONDS:-8}
case $mode in
quick) ;;
long) fuzz_s=${FUZZ_SECONDS:-120} ;;
*) echo "usage: selftests/check.sh quick|long" >&2; exit 2 ;;
esac
# shellcheck source=selftests/tap.sh
. selftests/tap.sh

# results are counted once at the end, also when somebody interrupts
trap 'tap_report; exit 130' INT TERM

if ! testbed/tb setup; then
	tap_fail "testbed/tb setup"
	tap_report
	exit 1
fi

tap_step "lint" 120 make -s lint
tap_step "docs/registers.md is current" 120 make -s check-registers-doc
tap_step "build model and plugin" 600 make -s -j2 model plugin
tap_step "build unit tests" 900 make -s -j2 unit-tests
for t in $(make -s print-unit-tests); do
	tap_run "unit ${t#*/unit/}" 300 env CMOCKA_MESSAGE_OUTPUT=TAP "$t"
done
# the nouveau.ko of every kernel of the test bed, from the server's root file system
nouveau=()
for release in $(testbed/tb kernels | cut -d' ' -f2); do
	for f in "${KVGPU_CACHE:-$HOME/.cache/kvgpu}"/testbed/server-*/root/usr/lib/modules/"$release"/kernel/drivers/gpu/drm/nouveau/nouveau.ko*; do
		[ -f "$f" ] && nouveau+=("$f") && break
	done
done
tap_step "build kvgpu-firmware" 120 make -s firmware firmware-asan
tap_run "kvgpu-firmware" 120 selftests/firmware/firmware_test.sh "$(make -s print-firmware-asan)" "${nouveau[@]}"
tap_step "build kvgpu-top" 120 make -s top-asan
tap_run "kvgpu-top" 300 selftests/tools/top_test.sh "$(make -s print-top-asan)"
tap_step "build fuzz targets" 900 make -s -j2 fuzz-tests
for t in $(make -s print-fuzz-tests); do
	tap_step "fuzz ${t#*/fuzz/} ($fuzz_s s)" $((fuzz_s + 120)) selftests/fuzz/run.sh "$t" "$fuzz_s"
done
if [ "$mode" = long ]; then
	tap_run "decoder against nvdisasm" 3600 selftests/cuda/disasm/run.sh long
fi
tap_step "build libcuda.so.1 and libcudart.so.11.0" 600 make -s cuda
tap_run "libcuda.so.1: its symbols" 60 selftests/cuda/symbols.sh "$(make -s print-cuda)"
tap_run "libcudart.so.11.0: its symbols" 60 selftests/cuda/symbols.sh "$(make -s print-cudart)"
tap_run "CUDA: binary interface of the toolkit's headers" 120 selftests/cuda/abi.sh
if [ "$mode" = long ]; then
	tap_run "libcudart.so.11.0: what nvcc makes" 1800 selftests/cuda/runtime/run.sh
	tap_run "CUDA programs on a GPU inside the process" 3600 selftests/cuda/programs/here.sh
	tap_run "the CUDA programs of make bench, the same way" 1800 selftests/cuda/chains/here.sh
fi
tap_run "cuda-info" 120 selftests/cuda/info.sh "$(make -s cuda-inprocess)"
tap_run "make bench: its report" 60 env PYTHONDONTWRITEBYTECODE=1 selftests/bench/report_test.py
tap_step "kvgpu.ko builds for all kernels without a warning (W=1, sparse)" 1200 make -s module-check
install_limit=300
[ "$mode" = long ] && install_limit=7200
tap_run "install: as an admin does, and start at boot" "$install_limit" selftests/install/run.sh "$mode"
if [ -x selftests/testbed/tb_test.sh ]; then
	tap_run "test bed" 1500 selftests/testbed/tb_test.sh "$mode"
fi
native_limit=2400
[ "$mode" = long ] && native_limit=14400
tap_run "native: stock nouveau on the model" "$native_limit" \
	selftests/native/run.sh "$mode"
tap_run "guest: a stock guest on a vGPU of kvgpu.ko" "$native_limit" selftests/guest/run.sh "$mode"
tap_run "vfio: a hostile VMM against kvgpu.ko" "$native_limit" selftests/vfio/run.sh "$mode"
tap_run "tenants: many vGPUs on one card" "$native_limit" selftests/tenants/run.sh "$mode"
tap_run "hostile: guests that attack" "$native_limit" selftests/hostile/run.sh "$mode"
if [ "$mode" = long ]; then
	tap_run "make bench: what each operation costs, against bounds" 7200 selftests/bench/run.sh
	tap_step "the debug kernel is built" 7200 testbed/tb setup --debug-kernel
	tap_run "debug: all of it on a kernel with KASAN, lockdep and kmemleak" 10800 selftests/debug/run.sh
fi
tap_report
