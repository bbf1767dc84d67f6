#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# symbols.sh LIBCUDA           checks cuda/symbols.txt against what the library exports and what cuGetProcAddress() knows
# symbols.sh LIBCUDA generate  writes it; wants the toolkit, for the names that are absent
# Prints TAP.
set -eu
cd "$(dirname "$0")/../.."
library=$1
list=cuda/symbols.txt
stub=$(selftests/cuda/toolkit.sh 2>/dev/null || true)/usr/lib/x86_64-linux-gnu/stubs/libcuda.so

exported() { nm -D --defined-only "$1" | awk '$2 == "T" && $3 ~ /^cu[A-Z]/ { print $3 }' | sort -u; }

# names of both forms of each entry, of one kind
entries()
{
	grep -oP "^$1\(\K[^)]*" cuda/driver/entries.inc | awk -F', ' '{ print $3; print $4 }' | sort -u
}

generated()
{
	join -a 1 -a 2 -e absent -o 0,2.2 <( (cat "$stub.names"; exported "$library") | sort -u) \
		<( (entries ENTRY | sed 's/$/ implemented/'; entries REFUSE | sed 's/$/ error/') | sort -u)
}

result()
{
	n=$((${n:-0} + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}

failed=0
if [ -f "$stub" ]; then
	names=$(mktemp -d)
	trap 'rm -rf "$names"' EXIT
	exported "$stub" > "$names/libcuda.so.names"
	stub=$names/libcuda.so
	if [ "${2:-}" = generate ]; then
		generated > "$list"
		exit
	fi
	generated | cmp -s - "$list" && rc=0 || rc=1
	result "$rc" "the list agrees with the toolkit's"
elif [ "${2:-}" = generate ]; then
	echo "symbols.sh: selftests/cuda/toolkit.sh fetch" >&2
	exit 1
fi
diff <(exported "$library") <(awk '$2 != "absent" { print $1 }' "$list" | sort -u) | sed 's/^/# /'
[ "${PIPESTATUS[0]}" = 0 ] && rc=0 || rc=1
result "$rc" "all that is exported is in the list, and the reverse"
diff <(exported "$library") <( (entries ENTRY; entries REFUSE) | sort -u) | sed 's/^/# /'
[ "${PIPESTATUS[0]}" = 0 ] && rc=0 || rc=1
result "$rc" "cuGetProcAddress() knows all that is exported"
echo "1..$n"
exit $failed
