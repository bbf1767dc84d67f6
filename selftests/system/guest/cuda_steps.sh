# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: CUDA programs in guests, with this project's libcuda and libcudart on the
# guest's stock nouveau. Skipped without the toolkit of selftests/cuda/toolkit.sh. CUDA_SHORT leaves
# out the programs that run in t1 alone.

# programs that cause errors
CUDA_ERRORS=(error_illegal_address error_traps error_api printf_assert error_endless)
CUDA_BESIDE=(matmul_tiled fft bfs needleman_wunsch spmv radix_sort histogram texture_objects)

cuda_steps()
{
	if ! cuda_staged; then
		result 0 "CUDA programs" "SKIP no CUDA toolkit: selftests/cuda/toolkit.sh fetch"
		return
	fi
	guest_there t1 1g --mem 1G && guest_there t2 1g --mem 1G || return
	cuda_info
	cuda_persist
	# shellcheck disable=SC2046
	[ "$mode" = quick ] || [ -n "${CUDA_SHORT-}" ] || cuda_programs t1 $(cuda_others)
	cuda_side_by_side
	cuda_together
	cuda_errors
	guest_gone t1
	guest_gone t2
	[ "$mode" = quick ] || cuda_service
	no_trouble "CUDA programs in guests"
}

# cuda_staged [libraries]: false: there is nothing to run
# shellcheck disable=SC2120 # tenant_steps.sh gives it one
cuda_staged()
{
	local rc
	selftests/cuda/stage.sh "$share" "$@" >"$OUT/cuda-stage.log" 2>&1
	rc=$?
	[ $rc != 0 ] || return 0
	[ $rc = 77 ] && return 1
	sed 's/^/# /' "$OUT/cuda-stage.log"
	result 1 "the CUDA libraries and programs are built"
	return 1
}

# cuda_others: prints the names of all programs but CUDA_ERRORS
cuda_others()
{
	local f
	for f in "$share"/cuda/programs/*; do
		[ -x "$f" ] && f=${f##*/} && [ "$f" != run.sh ] && [[ " ${CUDA_ERRORS[*]} " != *" $f "* ]] && echo "$f"
	done
}

cuda_info()
{
	local said
	said=$(in_image t1 env LD_LIBRARY_PATH=/mnt/cuda/lib /mnt/cuda/lib/cuda-info 2>&1)
	result "$([[ $said == *'Tesla K20m'* ]]; echo $?)" "cuda-info in t1 shows the device" "$(grep -m 1 'Tesla' <<<"$said")"
	[[ $said == *'Tesla K20m'* ]] || printf '%s\n' "$said" | sed 's/^/# /'
}

# cuda_cost RUNS [held]: prints how many register accesses of t1 trapped while a small program ran
# RUNS times; held: while kvgpu-persist holds the engines
cuda_cost()
{
	local before=$(($(counter t1 exits_bar0_read) + $(counter t1 exits_bar0_write)))
	# all in one command, because a tiny guest runs one command at a time
	in_image t1 sh -c 'export LD_LIBRARY_PATH=/mnt/cuda/lib
		if [ -n "$2" ]; then
			/mnt/cuda/lib/kvgpu-persist /dev/dri/renderD128 >/mnt/persist & pid=$!
			until grep -q held /mnt/persist; do kill -0 $pid || exit; sleep 0.1; done
		fi
		for i in $(seq "$1"); do /mnt/cuda/programs/vector_add || exit; done
		[ -z "$2" ] || { kill $pid && wait $pid && rm /mnt/persist; }' sh "$@" >"$OUT/cuda-cost.log" 2>&1 || { echo -1; return 1; }
	echo $(($(counter t1 exits_bar0_read) + $(counter t1 exits_bar0_write) - before))
}

# cuda_persist: while kvgpu-persist runs, a program costs fewer register accesses
cuda_persist()
{
	local alone=0 one=0 three=0
	alone=$(cuda_cost 1) && one=$(cuda_cost 1 held) && three=$(cuda_cost 3 held)
	result $? "programs run in t1 beside kvgpu-persist, which ends when it is told" "$(tail -n 1 "$OUT/cuda-cost.log")"
	result "$([ $((three - one)) -lt 1400 ]; echo $?)" \
		"a program costs less than 700 register accesses while the engines are held" "$(((three - one) / 2))"
	known_bug "$([ "$alone" -gt 1500 ]; echo $?)" "a program alone costs no more than 1500 register accesses: $alone" \
		"nouveau takes GR down after its last user, and loads its firmware again for the next one"
}

# cuda_service: tests the package kvgpu-cuda and its service in a stock guest
cuda_service()
{
	local deb unit=kvgpu-persist@renderD128
	guest_there g1 1g || return
	deb=$(make -s cuda-package) && cp "$deb" "$share/kvgpu-cuda.deb" &&
		in_guest g1 dpkg -i /share/kvgpu-cuda.deb >"$OUT/cuda-deb.log" 2>&1
	result $? "kvgpu-cuda installs in g1" "$(tail -n 1 "$OUT/cuda-deb.log")"
	await 30 in_guest g1 systemctl -q is-active $unit
	result $? "its service runs for the GPU that was there"
	in_guest g1 sh -c "systemctl stop 'kvgpu-persist@*' && modprobe -r nouveau && modprobe nouveau" >"$OUT/cuda-reload.log" 2>&1
	result $? "nouveau unloads when it was stopped, and loads" "$(tail -n 1 "$OUT/cuda-reload.log")"
	await 60 in_guest g1 systemctl -q is-active $unit
	result $? "and then the service runs again"
	in_guest g1 cuda-info -L >"$OUT/cuda-info.log" 2>&1
	result $? "cuda-info shows the device there" "$(tail -n 1 "$OUT/cuda-info.log")"
	in_guest g1 sh -c "dpkg -r kvgpu-cuda && ! systemctl -q is-active $unit && modprobe -r nouveau" >"$OUT/cuda-deb.log" 2>&1
	result $? "removed, it is stopped and nouveau can be unloaded" "$(tail -n 1 "$OUT/cuda-deb.log")"
	guest_gone g1
}

# cuda_run LOG GUEST PROGRAM...: runs the programs in the guest; output in LOG, exit code in LOG.rc
cuda_run()
{
	local log=$1 guest=$2
	shift 2
	LIMIT=5400 in_image "$guest" env KVGPU_PROGRAM_TIMEOUT=600 /mnt/cuda/programs/run.sh /mnt/cuda/lib "$@" >"$log" 2>&1
	echo $? >"$log.rc"
}

# cuda_relay TEXT LOG: adds the results of cuda_run to this suite's
cuda_relay()
{
	sed "s/^\(ok\|not ok\) \([0-9]*\) - /&$1: /" "$2" >"$OUT/cuda.log"
	relay "CUDA programs $1" "$(cat "$2.rc")" <"$OUT/cuda.log"
}

# cuda_programs GUEST PROGRAM...: runs the programs in one guest, and adds their results
cuda_programs()
{
	local log=$OUT/cuda-$1.log
	cuda_run "$log" "$@"
	cuda_relay "CUDA in $1" "$log"
}

# two_runlists GUEST: its channels are on two runlists of the card
two_runlists()
{
	[ "$(in_server sh -c "sed -n 's/.* runlist 0 -> \\([0-9]*\\) .*/\\1/p' /sys/kernel/debug/kvgpu/*/$(uuid_of "$1")/channels | sort -u | wc -l")" = 2 ]
}

# cuda_side_by_side: a program's copies are on the copy engine's runlist, and its kernels on GR's
cuda_side_by_side()
{
	local log=$OUT/cuda-t1.log program rc
	cuda_run "$log" t1 streams_overlap &
	program=$!
	await 600 two_runlists t1
	rc=$?
	wait $program
	cuda_relay "copies beside kernels: CUDA in t1" "$log"
	result "$([ $rc = 0 ] && grep -q 'copies beside kernels: 1' "$log"; echo $?)" \
		"its channels were on two runlists, and it was told that copies go beside kernels"
}

# cuda_together: both guests run the same programs at the same time
cuda_together()
{
	cuda_run "$OUT/cuda-t1.log" t1 "${CUDA_BESIDE[@]}" &
	cuda_run "$OUT/cuda-t2.log" t2 "${CUDA_BESIDE[@]}" &
	wait
	cuda_relay "two guests at once: CUDA in t1" "$OUT/cuda-t1.log"
	cuda_relay "two guests at once: CUDA in t2" "$OUT/cuda-t2.log"
}

# cuda_errors: t1 causes errors; t2's programs, at the same time, must pass
cuda_errors()
{
	local strikes faults
	strikes=$(counter t2 strikes) faults=$(counter t2 faults)
	cuda_run "$OUT/cuda-t1.log" t1 "${CUDA_ERRORS[@]}" &
	cuda_run "$OUT/cuda-t2.log" t2 "${CUDA_BESIDE[@]}" "${CUDA_BESIDE[@]}" &
	wait
	cuda_relay "errors: CUDA in t1" "$OUT/cuda-t1.log"
	cuda_relay "beside a guest's errors: CUDA in t2" "$OUT/cuda-t2.log"
	result "$([ "$(counter t2 strikes)" = "$strikes" ] && [ "$(counter t2 faults)" = "$faults" ]; echo $?)" \
		"t2 has no strike and no fault of t1's errors" "t1: $(counter t1 strikes) strikes, $(counter t1 faults) faults"
}
