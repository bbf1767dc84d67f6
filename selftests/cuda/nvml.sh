#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# nvml.sh: libnvidia-ml.so.1 on libcuda.so.1 with the GPU in the process, and on the remote one: programs that ask it, and, where
# toolkit.sh fetch brought them, nvml.h, nvidia-smi, nvtop and Python's bindings of Debian 12. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
inprocess=$(make -s nvml-inprocess) && remote=$(make -s remote) || { echo "nvml.sh: the libraries do not build" >&2; exit 2; }
inprocess=${inprocess##*$'\n'} remote=${remote##*$'\n'}
theirs=$(selftests/cuda/toolkit.sh nvml 2> /dev/null) || theirs=
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill $server; rm -rf "$work"' EXIT
chmod 755 "$work"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$theirs/usr/lib/python3/dist-packages
program=$PWD/selftests/cuda/with_nvml.py smi=$theirs/usr/lib/nvidia/current/nvidia-smi
mkdir "$work/here" "$work/there"
cp "$inprocess/libnvidia-ml.so.1" "$inprocess/libcuda.so.1" "$work/here/"
cp "$remote/libnvidia-ml.so.1" "$remote/libcuda.so.1" "$work/there/"

n=0 failed=0
# result STATUS NAME [COMMENT]
result()
{
	n=$((n + 1))
	[ "$1" = 0 ] && echo "ok $n - $2 # ${3-}" && return
	echo "not ok $n - $2 # ${3-}"
	failed=1
}

# asks NAME PATTERN FOLDER COMMAND...: exit code 0, and a line of its output that the pattern describes
asks()
{
	local rc

	LD_LIBRARY_PATH=$work/$3 timeout 100 "${@:4}" > "$work/said" 2>&1
	rc=$?
	[ $rc = 0 ] && grep -qE -- "$2" "$work/said"
	result $? "$1" "exit code $rc: $(tail -n 1 "$work/said")"
}

skipped() { result 0 "$1" "SKIP ${2-it is not there: selftests/cuda/toolkit.sh fetch}"; }

interface()
{
	cat > "$work/abi.c" <<-'C'
		#include <stddef.h>
		#include <stdio.h>
		#define SIZE(type, ...) printf(#type " %zu\n", sizeof(type));
		#define AT(type, member) printf(#type "." #member " %zu\n", offsetof(type, member));
		#define IS(number) printf(#number " %u\n", (unsigned int)number);
		int main(void)
		{
			SIZE(nvmlPciInfo_t) AT(nvmlPciInfo_t, pciSubSystemId) AT(nvmlPciInfo_t, busId)
			SIZE(nvmlMemory_t) AT(nvmlMemory_t, free) SIZE(nvmlMemory_v2_t) AT(nvmlMemory_v2_t, free) AT(nvmlMemory_v2_t, used)
			SIZE(nvmlProcessInfo_v1_t) SIZE(nvmlProcessInfo_v2_t) AT(nvmlProcessInfo_v2_t, computeInstanceId)
			SIZE(nvmlFieldValue_t) AT(nvmlFieldValue_t, nvmlReturn) AT(nvmlFieldValue_t, value)
			IS(NVML_ERROR_UNINITIALIZED) IS(NVML_ERROR_INVALID_ARGUMENT) IS(NVML_ERROR_NOT_SUPPORTED) IS(NVML_ERROR_NO_PERMISSION)
			IS(NVML_ERROR_NOT_FOUND) IS(NVML_ERROR_INSUFFICIENT_SIZE) IS(NVML_ERROR_DRIVER_NOT_LOADED) IS(NVML_ERROR_TIMEOUT)
			IS(NVML_ERROR_LIBRARY_NOT_FOUND) IS(NVML_ERROR_FUNCTION_NOT_FOUND) IS(NVML_ERROR_GPU_IS_LOST) IS(NVML_ERROR_MEMORY)
			IS(NVML_ERROR_ARGUMENT_VERSION_MISMATCH) IS(NVML_ERROR_UNKNOWN) IS(NVML_INIT_FLAG_NO_GPUS)
			IS(NVML_P2P_CAPS_INDEX_WRITE) IS(NVML_P2P_STATUS_NOT_SUPPORTED) IS(NVML_P2P_STATUS_UNKNOWN)
		}
	C
	gcc -w "-I$theirs/usr/include" -include nvml.h "$work/abi.c" -o "$work/abi-theirs" &&
		gcc -I. -include cuda/nvml/nvml.h "$work/abi.c" -o "$work/abi-ours" && diff <("$work/abi-theirs") <("$work/abi-ours") >&2
	result $? "values, sizes and offsets are those of nvml.h"
	grep -oP 'DECLDIR \Knvml\w+' "$theirs/usr/include/nvml.h" | sort -u | comm -23 - <(cuda/nvml/table.py names) > "$work/missing"
	[ ! -s "$work/missing" ]
	result $? "all that nvml.h declares is exported" "$(xargs < "$work/missing")"
	grep -oP '_nvmlGetFunctionPointer\("\Knvml\w+' "$PYTHONPATH/pynvml.py" | sort -u | comm -23 - <(cuda/nvml/table.py names) > "$work/missing"
	[ ! -s "$work/missing" ]
	result $? "all that Python's bindings ask is exported" "$(xargs < "$work/missing")"
}

# clients WHERE FOLDER PROCESSES: NVIDIA's and others; PROCESSES describes a line of nvidia-smi's screen
clients()
{
	asks "$1: nvidia-smi -L" '^GPU 0: Tesla K20m .*\(UUID: GPU-[0-9a-f-]{36}\)$' "$2" "$smi" -L
	asks "$1: nvidia-smi --query-gpu" '^Tesla K20m .*, GPU-[0-9a-f-]{36}, 4096 MiB$' "$2" "$smi" --query-gpu=name,uuid,memory.total --format=csv
	asks "$1: nvidia-smi -q" '^ +Total +: 4096 MiB$' "$2" "$smi" -q
	! grep -qE ': [0-9.]+ (W|C|%)$' "$work/said"
	result $? "$1: nvidia-smi -q says N/A of what nobody knows" "$(grep -E ': [0-9.]+ (W|C|%)$' "$work/said" | head -n 1)"
	# it goes on until nobody reads
	asks "$1: nvidia-smi -q again and again" '^2$' "$2" sh -c '"$0" -lms 100 -q -d MEMORY | grep -m 2 Timestamp | wc -l' "$smi"
	asks "$1: nvidia-smi" "$3" "$2" "$smi"
	selftests/cuda/screen.sh < "$work/said" > "$work/screen"
	asks "$1: pynvml" '^Tesla K20m .*, GPU-[0-9a-f-]{36}, 4096, [0-9]+' "$2" python3 "$program" pynvml
	[ "$1" = remote ] || return 0
	if ldd "$theirs/usr/bin/nvtop" | grep -q 'not found'; then
		skipped "$1: nvtop" "its libraries are not there (apt-get install nvtop)"
	else
		# it wants a terminal, and goes on until somebody types q
		LD_LIBRARY_PATH=$work/$2 TERM=xterm timeout 30 script -qec "stty rows 40 cols 120; $theirs/usr/bin/nvtop -d 1" /dev/null \
			< <(sleep 3; printf q) > "$work/said" 2>&1
		grep -q 'Tesla K20m' "$work/said"
		result $? "$1: nvtop"
	fi
}

if [ -n "$theirs" ]; then interface; else skipped "nvml.h"; fi
asks "here: a program" '^Tesla K20m .*, GPU-[0-9a-f-]{36}, 4096, 0$' here python3 "$program" show
asks "here: a child of fork() uses CUDA after NVML" '^both did$' here python3 "$program" forks
asks "here: threads ask, and Python's thread-specific data stays as it is" '^unchanged$' here python3 "$program" threads
asks "here: CUDA and NVML agree on the GPU's place on the bus" '^True 0$' here python3 "$program" bus
asks "here: children of fork() ask, too" '^all did$' here python3 "$program" children
asks "here: CUDA_VISIBLE_DEVICES does not hide a GPU from NVML" '^Tesla K20m' here python3 "$program" hidden
if [ -n "$theirs" ]; then clients here here 'No running processes found'; else skipped "here: nvidia-smi, pynvml, nvtop"; fi

"$remote/kvgpu-remoted" --listen "unix:$work/gpu" --library "$inprocess/libcuda.so.1" 2> "$work/log" & server=$!
for _ in $(seq 1200); do grep -q 'listens at' "$work/log" && break; sleep 0.05; done
asks "remote: the program says when it runs where its server is" '^Tesla K20m .*, 4096, 0$' there python3 "$program" late "unix:$work/gpu"
export KVGPU_REMOTE=unix:$work/gpu
asks "remote: a child of fork() uses CUDA after NVML" '^both did$' there python3 "$program" forks
asks "remote: threads ask, and Python's thread-specific data stays as it is" '^unchanged$' there python3 "$program" threads
asks "remote: CUDA and NVML agree on the GPU's place on the bus" '^True 0$' there python3 "$program" bus
asks "remote: children of fork() ask, too" '^all did$' there python3 "$program" children
asks "remote: CUDA_VISIBLE_DEVICES does not hide a GPU from NVML" '^Tesla K20m' there python3 "$program" hidden
mkfifo "$work/end" "$work/other-end"
LD_LIBRARY_PATH=$work/there python3 "$program" hold 64 < "$work/end" > "$work/pid" &
# another user is another client
chmod 666 "$work/gpu"
LD_LIBRARY_PATH=$work/there setpriv --reuid 65534 --clear-groups "$(python3 -c 'import sys; print(sys.executable)')" "$program" hold 96 \
	< "$work/other-end" > "$work/other" 2> "$work/why" &
exec 4> "$work/end" 5> "$work/other-end"
for _ in $(seq 400); do [ -s "$work/pid" ] && [ -s "$work/other" ] && break; sleep 0.05; done
holder=$(cat "$work/pid")
if [ -s "$work/other" ]; then
	asks "remote: memory and processes are the client's own, of another one nothing" ", 4096, 64, $holder:64\$" there python3 "$program" show
else
	skipped "remote: of another client nothing" "a program of another user can't run here: $(tail -n 1 "$work/why")"
fi
if [ -n "$theirs" ]; then
	clients remote there "^\\| +0 +N/A +N/A +$holder +C .* 64MiB \\|"
	selftests/cuda/screen.sh cuda/nvml/README.md | diff - "$work/screen" >&2
	result $? "the screen in cuda/nvml/README.md"
	asks "remote: nvidia-smi --query-compute-apps" "^$holder, 64 MiB, .*python3" there "$smi" --query-compute-apps=pid,used_memory,name --format=csv
else
	skipped "remote: nvidia-smi, pynvml, nvtop"
fi
exec 4>&- 5>&-
wait %2 %3
asks "remote: a program that has ended has nothing" ', 4096, 0$' there python3 "$program" show
kill $server
wait $server 2> /dev/null
server=
LD_LIBRARY_PATH=$work/there python3 "$program" show > "$work/said" 2>&1
grep -q '^nvmlInit_v2: 9$' "$work/said" && grep -q "$work/gpu" "$work/said"
result $? "remote: without a server NVML does not begin, and a line says why" "$(head -n 1 "$work/said")"
echo "1..$n"
exit $failed
