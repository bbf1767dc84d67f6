# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# A part of run.sh: clients for another CPU on this machine's server. Programs and libraries for arm64, made by Debian's cross
# compiler, run by qemu-aarch64, which lets them share memory, futexes and sockets with processes of this machine. Whether accesses are
# declared for a weaker order is not seen here (remote/ring/README.md).
# run_arm() changes run.sh's $bin, $library and carrier, and does not set them back: run.sh ends after it.

emulator=(qemu-aarch64 -L /usr/aarch64-linux-gnu)

# arm_program NAME FILE: NAME in $bin starts it
arm_program()
{
	printf '#!/bin/sh\nexec %s %q "$@"\n' "${emulator[*]}" "$2" > "$bin/$1"
	chmod 755 "$bin/$1"
}

# arm_unit_tests FOLDER TEST...: runs each test program, and prints each of its results
arm_unit_tests()
{
	local folder=$1 line name rc

	shift
	for name; do
		while read -r line; do
			case $line in
			ok*) result 0 "$name: ${line#*- }" ;;
			1..*|'# '*|'') ;;
			*) result 1 "$name: $line" ;;
			esac
		done < <(timeout 1800 "${emulator[@]}" "$folder/unit/remote/$name" 2> "$work/said"
			rc=$?
			[ $rc = 0 ] || echo "exit code $rc: $(tail -n 1 "$work/said")")
	done
}

is_for_arm64()
{
	local file

	for file in "$1"/{libcuda.so.1,libcudart.so.11.0,faults,runtime,kvgpu-cuda-driver}; do
		readelf -h "$file" | grep -q 'Machine:.*AArch64' || return 1
	done
}

run_arm()
{
	local arm name

	arm=$(make -s remote-arm) || { result 1 "the client for arm64 builds (set-up installs gcc-aarch64-linux-gnu)"; return; }
	arm=${arm##*$'\n'}
	bin=$work/arm
	mkdir "$bin"
	is_for_arm64 "$arm"
	result $? "the client for arm64 builds"
	for name in faults runtime cuda-info kvgpu-cuda-driver; do
		arm_program $name "$arm/$name"
	done
	over='arm64: '
	arm_unit_tests "$arm" ring/{ring,stress}_test wire/wire_test channel/{attach,channel}_test
	[ "$mode" = arm ] || arm_unit_tests "$arm" ring/{interleave,hostile}_test channel/{aperture,place}_test
	for name in unix aperture; do
		carrier $name
		over="arm64, $over"
		start_server
		subtests device memory calls launch stream array texture surface syscall faults
		step "a program on the runtime library" "$bin/runtime" "$cubin"
		step "cuda-info" "$bin/cuda-info" -L
		step "functions of the host, and a copy behind each" "$bin/faults" host_functions "$cubin"
		step "a thread that waits holds up no other" "$bin/faults" beside "$cubin"
		step "fork after cuInit()" "$bin/faults" after_fork "$cubin"
		client_killed copies "in the middle of a copy"
		server_killed
		stop_server
	done
	over="arm64, registered: "
	library=$work/libpinned.so
	start_server
	# qemu's own memory may lie at the GPU's address
	step "copies go on by themselves, in order" "$bin/faults" pinned_elsewhere "$cubin"
	stop_server
}
