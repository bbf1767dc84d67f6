#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server or in a guest: stock Mesa on the card. Prints TAP. $1 is the folder with the programs; behind it, instead of
# what is quick: "kernels", the OpenCL kernels; "shaders", the compute shaders of Vulkan; and which of them, if not all.
set -u
bin=${1:?folder with the programs}
n=0 failed=0

# NVK calls itself unfit for this generation unless told that we know
export NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1
icd=$(ls /usr/share/vulkan/icd.d/nouveau_icd*.json 2>/dev/null | head -n 1)
export VK_DRIVER_FILES="$icd"
export RUSTICL_ENABLE=nouveau
export MESA_SHADER_CACHE_DISABLE=true

result()
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2 # $3"
	else
		echo "not ok $n - $2 # $3"
		failed=1
	fi
}

# NVK wants VM_BIND, which an older nouveau does not have
has_vm_bind() { grep -qw nouveau_uvmm_ioctl_vm_bind /proc/kallsyms; }

# suite API WHAT PROGRAM [TEST...]: each of the program's lines is a result of its own; so is its exit code
suite()
{
	api=$1 what=$2
	shift 2
	log=$(mktemp)
	timeout 900 "$@" >"$log" 2>&1
	rc=$?
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*)
			n=$((n + 1))
			echo "${line%%ok *}ok $n - $api ${line#*ok * - }" ;;
		1..*) ;;
		*) echo "# $line" ;;
		esac
	done <"$log"
	result $rc "$what" "exit code $rc, $(grep -c '^ok ' "$log") right"
	rm -f "$log"
}

vulkan()
{
	out=$(timeout 240 vulkaninfo --summary 2>&1)
	printf '%s\n' "$out" | grep -i 'device\(Name\|Type\)\|driverName' | sed 's/^/# /'
	printf '%s\n' "$out" | grep -q 'deviceName.*K20m.*NVK'
	result $? "vulkaninfo --summary lists the Tesla K20m by NVK" "$icd"
	suite Vulkan "copies and fills" "$bin/kvgpu-vk-compute" copies
}

opencl()
{
	out=$(timeout 240 clinfo -l 2>&1)
	printf '%s\n' "$out" | sed 's/^/# /'
	printf '%s\n' "$out" | grep -qi 'rusticl' && printf '%s\n' "$out" | grep -q 'Device.*\(NVF0\|K20m\|GK110\)'
	result $? "clinfo -l lists the card by rusticl" "RUSTICL_ENABLE=nouveau"
	suite OpenCL "writes, copies and reads" "$bin/kvgpu-cl-kernels" copies
}

case ${2-} in
kernels)
	shift 2
	suite OpenCL "OpenCL kernels" "$bin/kvgpu-cl-kernels" "$@" ;;
shaders)
	shift 2
	if has_vm_bind; then
		suite Vulkan "compute shaders" "$bin/kvgpu-vk-compute" "$@"
	else
		result 0 "compute shaders by NVK" "SKIP kernel $(uname -r) has no VM_BIND"
	fi ;;
*)
	if has_vm_bind; then
		vulkan
	else
		result 0 "Vulkan by NVK" "SKIP kernel $(uname -r) has no VM_BIND"
	fi
	opencl ;;
esac
echo "1..$n"
exit $failed
