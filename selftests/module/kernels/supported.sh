#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# supported.sh merge: copies what passed from build/check/kernels.tsv into docs/kernels.tsv, and
# writes the table of docs/supported.md. supported.sh write: writes that table from docs/kernels.tsv
# alone. supported.sh check: fails if that table is not what write would write.
set -eu
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/kernels.sh
. selftests/kernels.sh
export LC_ALL=C
doc=${KVGPU_SUPPORTED:-docs/supported.md}

# parts: prints parts of the tests and their names in the table, in the table's order
parts()
{
	cat <<'LIST'
module	kvgpu.ko builds without a warning (W=1, sparse)
matrix	kvgpu.ko builds for all header packages of its Debian
DKMS	DKMS builds and installs it
native	stock nouveau natively on the model
vfio	a hostile VMM against kvgpu.ko
tenants	many vGPUs
guest	stock nouveau in guests, on vGPUs
hostile	hostile guests
remote-tiny	a program in one guest on the vGPU of another
debug	with KASAN, lockdep and kmemleak
bug	known bug of others
LIST
}

suites() { sed 's/#.*//' testbed/packages/kernels.list | awk 'NF { print $1 " " $2 }'; echo "debug"; }

table()
{
	local suite role part mode text head='| what ran |' rule='|---|'
	while read -r suite role; do
		head+=" $suite${role:+ ($role)} |" rule+='---|'
	done < <(suites)
	printf '%s\n%s\n' "$head" "$rule"
	while IFS=$'\t' read -r part mode; do
		text=$(parts | awk -F '\t' -v p="${part%%:*}" '$1 == p { print $2 }')
		case $part in *:*) text+=" (${part#*:})" ;; esac
		printf '| %s, %s |' "${text:-$part}" "$([ "$mode" = long ] && echo check-long || echo check)"
		while read -r suite _; do
			awk -F '\t' -v p="$part" -v m="$mode" -v s="$suite" '!/^#/ && $1 == p && $2 == m && $3 == s { cell = ($5 == "passed" ? "" : $5 " on ") $4 ", " $6 }
				END { printf " %s |", cell }' "$KERNEL_TABLE"
		done < <(suites)
		echo
	done < <(order)
}

# order: prints PART MODE of each row of the table: first those of parts(), in that order, then
# others that docs/kernels.tsv has
order()
{
	awk -F '\t' 'NR == FNR { at[$1] = FNR; next } /^#/ || NF < 7 { next }
		{ p = $1; sub(/:.*/, "", p); print (p in at ? at[p] : 99) "\t" ($2 == "long") "\t" $1 "\t" $2 }' <(parts) "$KERNEL_TABLE" |
		sort -u -k1,1n -k3,3 -k2,2n | cut -f3,4
}

# document: prints the document with a new table between its marks
document()
{
	local line inside=''
	while IFS= read -r line; do
		case $line in
		'<!-- kernels: '*) printf '%s\n' "$line"; table; inside=yes ;;
		'<!-- /kernels -->') inside='' ;;&
		*) [ -n "$inside" ] || printf '%s\n' "$line" ;;
		esac
	done <"$doc"
}

# merge: takes the last result of each part, mode and suite, unless it failed or the tree had
# changes beyond its commit
merge()
{
	local part mode suite release result date commit taken=0
	[ -s "$KERNEL_RESULTS" ] || { echo "no results in $KERNEL_RESULTS: run make check or make check-long first" >&2; exit 1; }
	while IFS=$'\t' read -r part mode suite release result date commit; do
		case $result.$commit in
		failed.* | skipped.*) echo "left out: $part ($mode) on $suite $release: $result" ;;
		*+) echo "left out: $part ($mode) on $suite $release: $result in a tree with changes" ;;
		*)
			awk -F '\t' -v p="$part" -v m="$mode" -v s="$suite" '!($1 == p && $2 == m && $3 == s)' "$KERNEL_TABLE" >"$KERNEL_TABLE.new"
			printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$part" "$mode" "$suite" "$release" "$result" "$date" "$commit" >>"$KERNEL_TABLE.new"
			sort -s -t $'\t' -k1,1 -k2,2 -k3,3 <(grep -v '^#' "$KERNEL_TABLE.new") >"$KERNEL_TABLE.sorted"
			{ sed -n '/^#/p' "$KERNEL_TABLE.new"; cat "$KERNEL_TABLE.sorted"; } >"$KERNEL_TABLE"
			rm "$KERNEL_TABLE.new" "$KERNEL_TABLE.sorted"
			taken=$((taken + 1)) ;;
		esac
	done < <(awk -F '\t' 'NF == 7 { last[$1 FS $2 FS $3] = $0 } END { for (k in last) print last[k] }' "$KERNEL_RESULTS" | sort)
	echo "$taken results taken into $KERNEL_TABLE"
}

write()
{
	document >"$doc.new"
	cat "$doc.new" >"$doc"
	rm "$doc.new"
}

case ${1-} in
merge) merge; write ;;
write) write ;;
check)
	document | diff "$doc" - || { echo "$doc does not say what $KERNEL_TABLE says: make supported writes it" >&2; exit 1; } ;;
*) echo "usage: selftests/module/kernels/supported.sh merge|write|check" >&2; exit 2 ;;
esac
