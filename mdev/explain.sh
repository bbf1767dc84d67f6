#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# explain.sh HEADERS LOG [SAY]: why kvgpu.ko was not built, in one line: the probe, or the first error of the compiler, or the
# symbols that modpost misses, or the first thing that make could not do. SAY gets it as well, if it is a terminal or a pipe.
tree=$1 log=$2 say=${3-}
advice='Use a newer kvgpu, or teach it this kernel: mdev/README.md'

release=$(sed -n 's/^#define UTS_RELEASE "\(.*\)"/\1/p' "$tree/include/generated/utsrelease.h" 2>/dev/null)
release=${release:-of $tree}

# cuts what stands before the module's folders, as the build may be anywhere (a kernel's header is
# cut at include/, too)
from_here='s,^.*/\(\(hw\|mdev\|mmio-trap\|gtt-shadow\|sched\|include\)/[^:]*:\),\1,'

probe() { sed -n 's/.*\*\*\* \(kvgpu: .*\)\.  Stop\.$/\1/p' "$log" | head -n 1; }
compiler() { sed -n 's/^\([^ :]*:[0-9]*\):[0-9]*: \(fatal \)\{0,1\}error: /\1: /p' "$log" | head -n 1 | sed "$from_here"; }
symbols() { sed -n 's/^ERROR: modpost: "\([^"]*\)" \[.*\] undefined!$/\1/p' "$log" | sort -u | tr '\n' ' ' | sed 's/ $//'; }
modpost() { sed -n 's/^ERROR: modpost: //p' "$log" | head -n 1; }
other() { grep -E '\*\*\*|[Nn]ot found|No such file|No space|rror' "$log" | head -n 1; }

if line=$(probe) && [ -n "$line" ]; then :
elif line=$(compiler) && [ -n "$line" ]; then line="kvgpu: kernel $release: $line. $advice"
elif line=$(symbols) && [ -n "$line" ]; then line="kvgpu: kernel $release does not export $line. $advice"
elif line=$(modpost) && [ -n "$line" ]; then line="kvgpu: kernel $release: modpost: $line. $advice"
else
	line=$(other)
	line="kvgpu: kernel $release: not built: ${line:-no reason in $log}"
fi
printf '%s\n' "$line"
if [ -c "$say" ] || [ -p "$say" ]; then
	printf '\n%s\n' "$line" >"$say"
fi
