# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: runs the OpenCL kernels (rusticl) and compute shaders (NVK) of selftests/model/mesa
# in a guest.

opencl_steps()
{
	guest_there g1 512m || return
	mesa_in_guest opencl kernels
	mesa_in_guest vulkan shaders
	nothing_unlisted
	no_trouble "OpenCL and Vulkan in a guest"
}

# mesa_in_guest PHASE WHAT: runs mesa.sh WHAT in g1, and checks the guest's kernel log
mesa_in_guest()
{
	in_guest g1 dmesg -C
	LIMIT=3600 guest_program "$1" sh /share/mesa.sh /share "$2"
	guest_log "$1"
}
