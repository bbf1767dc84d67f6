#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh quick|long: the decoder against nvdisasm over generated words, then over the code of ptx.list and of ../../cuda/kernels; long: also over
# that of the vendor's libraries. TAP.
set -u
cd "$(dirname "$0")/../../.." || exit 1
count=100 options=("-O3" "-G")
case ${1:-quick} in
quick) ;;
long) count=1500 options+=("-Xptxas -O0" "-use_fast_math -maxrregcount 16" "-rdc=true") ;;
*) echo "usage: run.sh quick|long" >&2; exit 2 ;;
esac
if ! root=$(selftests/cuda/toolkit.sh 2>/dev/null); then
	echo "1..1"
	echo "ok 1 - decoder against nvdisasm # SKIP no CUDA toolkit (selftests/cuda/toolkit.sh fetch)"
	exit 0
fi
if ! tools=$(make -s sm-disasm); then
	echo "1..1"
	echo "not ok 1 - make sm-disasm"
	exit 1
fi
nvdisasm=$root/usr/bin/nvdisasm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plan=0 failed=0

# programs say how many lines they will print: summed up for the plan at the end
compare()
{
	nice "$tools/compare" "$nvdisasm" "$@" > "$work/out" || failed=1
	plan=$((plan + $(sed -n 's/^1\.\.//p' "$work/out")))
	grep -v '^1\.\.' "$work/out"
}

# compiled NAME COMMAND...: one test: the command compiles something
compiled()
{
	local name=$1

	shift
	plan=$((plan + 1))
	if "$@" > "$work/log" 2>&1; then
		echo "ok $plan - compile $name"
	else
		echo "not ok $plan - compile $name"
		sed 's/^/# /' "$work/log" | head -n 10
		failed=1
	fi
}

seed=${SEED:-$(date +%s)}
echo "# seed $seed"
compare --random "$count" "$seed"

mkdir "$work/ptx" "$work/cu"
"$tools/ptxgen" selftests/model/disasm/ptx.list "$work/ptx" | sed 's/^/# /'
assemble_all()
{
	local f

	for f in "$work"/ptx/*.ptx; do
		"$root/usr/bin/ptxas" -arch=sm_35 -w -suppress-stack-size-warning "$f" -o "${f%.ptx}.cubin" ||
			{ head -n 1 "$f"; return 1; }
	done
}
compiled "ptx.list" assemble_all
for f in selftests/cuda/kernels/*.cu; do
	for o in "${options[@]}"; do
		out=$work/cu/$(basename "$f" .cu)$(tr -cd 'A-Za-z0-9' <<<"$o").cubin
		# shellcheck disable=SC2086
		compiled "$(basename "$f") $o" selftests/cuda/nvcc.sh -w \
			-Wno-deprecated-gpu-targets -std=c++14 -arch=sm_35 $o -cubin "$f" -o "$out"
	done
done
compare --cubin "$work"/ptx/*.cubin "$work"/cu/*.cubin
# the vendor's own libraries, which others wrote and other versions of ptxas compiled
if [ "${1:-quick}" = long ]; then
	for f in "$root"/usr/lib/x86_64-linux-gnu/lib{curand,cublas,cusparse,cusolver,npps,nppif,nppist,nppig,nppial}_static.a; do
		mkdir -p "$work/lib" && (cd "$work/lib" && "$root/usr/bin/cuobjdump" -arch sm_35 -xelf all "$f") > "$work/log" 2>&1
		compiled "extract $(basename "$f")" test -n "$(ls "$work/lib")"
		compare --cubin "$work"/lib/*.cubin
		rm -rf "${work:?}/lib"
	done
fi
echo "1..$plan"
exit "$failed"
