#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# symbols.sh LIBRARY           checks the list of symbols against what the library exports: cuda/api/api.def of libcuda.so.1,
#                              cuda/nvml/nvml.def of libnvidia-ml.so.1, cuda/kepler/runtime/symbols.txt of libcudart.so.11.0 and the versions
# symbols.sh LIBRARY generate  writes cuda/kepler/runtime/symbols.txt; wants the toolkit, for the names that are absent
# Prints TAP.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../.."
library=$1
[ -f "$library" ] || { echo "symbols.sh: there is no $library" >&2; exit 2; }
toolkit=$(selftests/cuda/toolkit.sh 2>/dev/null || true)/usr/lib/x86_64-linux-gnu
case ${library##*/} in
libnvidia-ml*) theirs='' names='^nvml[A-Z]' which=nvml table=cuda/nvml/table.py ;;
libcudart*) list=cuda/kepler/runtime/symbols.txt theirs=$toolkit/libcudart.so.11.0 names='^(__)?cuda[A-Z]' which=runtime ;;
*) theirs=$toolkit/stubs/libcuda.so names='^cu[A-Z]' which=driver table=cuda/api/entries.py ;;
esac

# exported LIBRARY: the names that it exports, with their versions if they have any
exported() { nm -D --defined-only "$1" | awk -v names="$names" '$2 == "T" && $3 ~ names { print $3 }' | sort -u; }
plain() { sed 's/@.*//' | sort -u; }

# a line for each name: whether it is implemented, or only gives an error
states()
{
	exported "$library" | plain | awk 'NR == FNR { refused[$1]; next } { print $1, $1 in refused ? "error" : "implemented" }' \
		<(grep -oP '^REFUSED?\(\K[^)]*' cuda/kepler/runtime/refuse.inc) -
}

generated()
{
	join -a 1 -a 2 -e absent -o 0,2.2 <( { exported "$theirs"; exported "$library"; } | plain) <(states)
}

result()
{
	n=$((${n:-0} + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}

# same WHAT COMMAND-A COMMAND-B
same()
{
	diff <(eval "$2") <(eval "$3") | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" = 0 ] && rc=0 || rc=1
	result "$rc" "$1"
}

failed=0
if [ "${2:-} $which" = "generate runtime" ]; then
	[ -f "$theirs" ] || { echo "symbols.sh: selftests/cuda/toolkit.sh fetch" >&2; exit 1; }
	generated > "$list"
	exit
fi
if [ $which != runtime ]; then
	same "all that is exported is in the table, and the reverse" 'exported "$library" | plain' "$table names"
	[ ! -f "$theirs" ] || same "the table has all that the toolkit's library has" 'exported "$theirs" | plain | comm -23 - <('"$table"' names)' true
else
	[ ! -f "$theirs" ] || same "the list agrees with the toolkit's" generated 'cat "$list"'
	same "all that is exported is in the list, and the reverse" 'exported "$library" | plain' \
		"awk '\$2 != \"absent\" { print \$1 }' \"\$list\" | sort -u"
	same "all have the toolkit's version" 'exported "$library"' 'exported "$library" | plain | sed "s/$/@@libcudart.so.11.0/" | sort -u'
	same "the name that programs ask for" 'readelf -d "$library" | grep -oP "soname: \[\K[^]]*"' 'echo libcudart.so.11.0'
fi
# what the package needs: for Debian 12, which has glibc 2.36, although the library is built with a newer one
newest() { objdump -T "$library" | grep -oP '\(GLIBC_\K[0-9.]+' | sort -V | tail -n 1; }
same "it wants no newer C library than Debian 12's" '{ newest; echo 2.36; } | sort -V | tail -n 1' 'echo 2.36'
echo "1..$n"
exit $failed
