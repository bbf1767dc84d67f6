#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Breaks constants of the encodings one by one, and adds a command; the compiler has to refuse each.
# Prints TAP. README.md says what breaks.list has.
set -u
cd "$(dirname "$0")/../../.." || exit 1
results=0 failures=0

result() # STATUS NAME
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2"
}

# hw/ includes more of the kernel's headers than include/user has: use the harness's stand-ins
make -s harness-headers || exit 1
kernel=$(make -s print-harness-headers)
work=$(mktemp -d) || exit 1
trap 'rm -rf -- "$work"' EXIT
mkdir "$work/tree"
selftests/tree-files.sh | grep -E '^(include|gtt-shadow|hw|selftests/module/harness/kernel)/.*\.h$' | tar -cf - -T - | tar -xf - -C "$work/tree" || exit 1

cat > "$work/rooms.c" << 'END'
#include "gk110/ce.h"
#include "gk110/push.h"
#include "gtt-shadow/internal.h"
END
echo '#include "hw/internal.h"' > "$work/hw.c"

compiles() # COMPILER; what it says goes to $work/said
{
	: > "$work/said"
	"$1" -std=gnu11 -fsyntax-only -I"$work/tree" -I"$work/tree/include" -I"$work/tree/include/user" "$work/rooms.c" 2>> "$work/said" &&
		"$1" -std=gnu11 -w -fsyntax-only -D_GNU_SOURCE -DKVGPU_PROBED -DKVGPU_HAVE_VFIO_FREE_DEVICE -DKVGPU_HAVE_VFIO_IOMMUFD \
			-I"$work/tree" -I"$kernel" -I"$work/tree/include" -I"$work/tree/include/user" "$work/hw.c" 2>> "$work/said"
}

for compiler in gcc clang; do
	compiles $compiler
	status=$?
	sed 's/^/# /' "$work/said"
	result $status "$compiler takes the encodings as they are"
done
while IFS='|' read -r file from to; do
	file=${file% } from=${from# } from=${from% } to=${to# }
	name="$(basename "$file"): ${to//$'\t'/ }"
	if [ "$(grep -cF "$from" "$file")" != 1 ]; then
		result 1 "$name: what it breaks stands there once"
		continue
	fi
	FROM=$from TO=$to perl -pe 's/\Q$ENV{FROM}\E/$ENV{TO}/' "$file" > "$work/tree/$file"
	! compiles gcc && grep -q 'static assertion failed' "$work/said"
	status=$?
	[ $status -eq 0 ] || sed 's/^/# /' "$work/said" | head -n 5
	result $status "$name: the compiler stops it"
	cp "$file" "$work/tree/$file"
done < selftests/module/layout/breaks.list

# A command that is new: who carries it out, and who checks its form, has to know it.
mkdir "$work/tree/mmio-trap"
perl -pe 's/^\tKVGPU_CMD_CHAN_DISABLE,/\tKVGPU_CMD_CHAN_NEW,\n$&/' mmio-trap/trap.h > "$work/tree/mmio-trap/trap.h"
paths="-I$work/tree -I. -I$kernel -Iinclude -Iinclude/user"
for object in harness/pic/mdev/machine/command.o fuzzobj/selftests/module/fuzz/mmio-trap/access_fuzz.o; do
	! make -s O="$work/o" HARNESS_CPPFLAGS="$paths" TEST_CPPFLAGS="$paths" "$work/o/$object" > "$work/said" 2>&1 &&
		grep -q "error: enumeration value .*KVGPU_CMD_CHAN_NEW" "$work/said"
	status=$?
	[ $status -eq 0 ] || sed 's/^/# /' "$work/said" | head -n 5
	result $status "a command that nobody knows: the compiler stops $(basename "$object" .o).c"
done
echo "1..$results"
[ $failures -eq 0 ]
