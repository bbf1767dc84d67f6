# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced. Records which kernels the parts of the tests passed on, in build/check/kernels.tsv; "make
# supported" takes results from there into docs/kernels.tsv. Columns of both tables: part, mode,
# suite, release, passed|failed|skipped, date, commit. For a known bug of others the part is
# "bug:WHAT", and the result "fails as known" or "gone".

KERNEL_TABLE=${KVGPU_KERNEL_TABLE:-docs/kernels.tsv}
KERNEL_RESULTS=${KVGPU_KERNEL_RESULTS:-build/check/kernels.tsv}

# kernel_passed PART SUITE: prints the release of SUITE's kernel on which this part passed last
kernel_passed()
{
	awk -F '\t' -v part="$1" -v suite="$2" '!/^#/ && $1 == part && $3 == suite && $5 == "passed" && $6 >= date {
		date = $6; release = $4 } END { if (release == "") exit 1; print release }' "$KERNEL_TABLE" 2>/dev/null
}

# kernel_excuse MODE PART SUITE RELEASE WHAT: true if PART may pass although kernel RELEASE fails,
# and then prints why: in mode quick, SUITE has the role "newest", and PART passed on that suite
# last with another release. WHAT says what failed.
kernel_excuse()
{
	local passed role
	role=$(sed 's/#.*//' testbed/packages/kernels.list | awk -v s="$3" '$1 == s { print $2 }')
	[ "$1" = quick ] && [ "$role" = newest ] && passed=$(kernel_passed "$2" "$3") && [ "$passed" != "$4" ] || return 1
	printf 'the archive moved on: %s on %s %s; %s was the last that passed\n' "$5" "$3" "$4" "$passed"
}

kernel_commit()
{
	local commit
	commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || { echo -; return; }
	git diff --quiet HEAD -- . ':!selftests/passed.tsv' 2>/dev/null || commit+=+
	printf '%s\n' "$commit"
}

# kernel_record PART MODE SUITE RELEASE RESULT: adds a line to $KERNEL_RESULTS
kernel_record()
{
	mkdir -p "$(dirname "$KERNEL_RESULTS")"
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$(date -u +%F)" "$(kernel_commit)" >>"$KERNEL_RESULTS"
}
