#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# here.sh: the chains of make bench on the libraries that need no GPU: every result right, every phase printed. TAP.
set -u
cd "$(dirname "$0")/../../.." || exit 2
if ! selftests/cuda/toolkit.sh >/dev/null 2>&1; then
	echo "1..0 # SKIP no CUDA toolkit (selftests/cuda/toolkit.sh fetch)"
	exit 0
fi
libraries=$(make -s cudart-inprocess) || { echo "here.sh: the libraries do not build" >&2; exit 2; }
libraries=${libraries##*$'\n'}
chains=$(make -s cuda-chains) || exit 2
export LD_LIBRARY_PATH=$libraries
n=0 failed=0

# result RC TEXT
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}

# the rows that a chain has to print: cpy and pincpy have no kernel
phases()
{
	case $1 in
	cuda-launch) echo "latency rate" ;;
	*cpy) echo "init in out close chain" ;;
	*) echo "init in kernel out close chain" ;;
	esac
}

for chain in $("$chains/cuda-chains" --list cuda matrix fft); do
	rc=0
	out=$(timeout 600 "$chains/cuda-chains" --quick "$chain" 2>&1) || rc=1
	for phase in $(phases "$chain"); do
		grep -q "^{\"row\": \"$chain-$phase\", \"unit\": \"ns\", \"better\": \"lower\", \"value\": [0-9]*, \"ops\": [0-9]*}$" <<<"$out" || rc=1
	done
	[ $rc = 0 ] || sed 's/^/# /' <<<"$out"
	result $rc "$chain: $(grep "^# $chain" <<<"$out")"
done
# with marks a chain waits for an answer to each; if all are answered it runs to its end
out=$(yes '' | timeout 120 "$chains/cuda-chains" --quick cuda-madd --marks)
result $? "marks"
[ "$(grep -c '^# mark cuda-madd-[a-z]* \(begin\|end\)' <<<"$out")" = 12 ]
result $? "two marks for each phase and the chain"
echo "1..$n"
exit $failed
