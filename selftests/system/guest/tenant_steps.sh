# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: a guest whose programs are those of a Debian 12 with nvidia-cuda-toolkit (selftests/cuda/tenant/root.sh).

# libraries_steps: programs with NVIDIA's libraries (selftests/cuda/libraries)
libraries_steps()
{
	if ! cuda_staged libraries; then
		result 0 "NVIDIA's libraries" "SKIP they are not there: selftests/cuda/toolkit.sh fetch libraries"
		return
	fi
	debian12_there || return
	in_debian12 env KVGPU_PROGRAM_TIMEOUT=1500 /mnt/cuda/programs/run.sh /mnt/cuda/lib
	cuda_relay "NVIDIA's libraries in t1" "$OUT/debian12.log"
	guest_gone t1
	no_trouble "NVIDIA's libraries in a guest"
}

# tenant_steps: what cuda/README.md has a tenant type (selftests/cuda/tenant/steps.sh). nvcc in the guest compiles one program; the others are
# compiled in the same Debian 12 outside. Those also run on the image's Debian 13.
tenant_steps()
{
	local libraries=$share/debian13/usr/lib/x86_64-linux-gnu log=$OUT/tenant.log program

	debian12_there || return
	rm -rf "$share/tenant" "$share/debian13"
	selftests/cuda/tenant/here.sh "$share/tenant" >"$log" 2>&1
	echo $? >"$log.rc"
	cuda_relay "outside, with the GPU in the process" "$log"
	in_debian12 sh -c 'cp -a /mnt/tenant/. /root/ && HOME=/root /root/steps.sh'
	cuda_relay "a tenant in t1" "$OUT/debian12.log"
	dpkg -x "$share"/tenant/kvgpu-cuda_*.deb "$share/debian13"
	ln -st "$libraries" /media/usr/lib/x86_64-linux-gnu/{libcublas.so.11,libcublasLt.so.11,libcufft.so.10}
	for program in gemm fft built/project_fft; do
		in_image t1 env LD_LIBRARY_PATH=/mnt/debian13/usr/lib/x86_64-linux-gnu "/mnt/tenant/$program" >"$log" 2>&1
		result $? "on Debian 13: $program" "$(tail -n 1 "$log")"
	done
	guest_gone t1
	no_trouble "CUDA as a tenant types it"
}

# debian12_there: t1 is up, its /tenant is that Debian 12, which has the shared folder in /mnt. False: it is not so, which was told
debian12_there()
{
	local image

	if ! image=$(selftests/cuda/tenant/root.sh 2>/dev/null); then
		result 0 "a Debian 12 with the toolkit" "SKIP it is not there: selftests/cuda/tenant/root.sh fetch"
		return 1
	fi
	ln -f "$image" "$share/tenant.erofs" 2>/dev/null || cp "$image" "$share/tenant.erofs"
	guest_there t1 1g --mem 2G || return
	in_guest t1 sh -c "$(cat selftests/system/guest/inside/tenant.sh)" >"$OUT/debian12.log" 2>&1
	result $? "t1 has a Debian 12" "$(tail -n 1 "$OUT/debian12.log")"
}

# in_debian12 COMMAND...: its output in $OUT/debian12.log, its exit code in $OUT/debian12.log.rc
in_debian12()
{
	LIMIT=3000 in_guest t1 chroot /tenant "$@" >"$OUT/debian12.log" 2>&1
	echo $? >"$OUT/debian12.log.rc"
}
