#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# sysfs.py on a tree that looks like sysfs, whole and with each of the files of reads.tsv taken away or spoiled. Prints TAP.
set -u
here=$(dirname "$(readlink -f "$0")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# shellcheck source=selftests/module/clouds/cloud-sysfs.sh
. "$here/cloud-sysfs.sh"
results=0 failures=0
A=11111111-0000-4000-8000-00000000000a

result() # STATUS NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2" "${3:+ # $3}"
}

look() { "$here/sysfs.py" --sysfs "$dir/sys" >"$dir/out" 2>&1; }

cloud_sysfs "$dir/whole"
cloud_vgpu "$dir/whole" $GPU $A 512m
cp -a "$dir/whole" "$dir/sys"
look
result $? "a whole tree" "$(grep -m 1 '^not ok' "$dir/out")"
result "$([ "$(grep -c '^ok' "$dir/out")" = "$(grep -vc '^#' "$here/reads.tsv")" ] && ! grep -q SKIP "$dir/out"; echo $?)" "each row was looked at"
grep -v '^#' "$here/reads.tsv" | cut -f3,4 | sort -u >"$dir/rows"
while IFS=$'\t' read -r path form; do
	path=${path//\{card\}/$GPU} path=${path//\{type\}/kvgpu-1g} path=${path//\{vgpu\}/$A}
	for how in gone spoiled; do
		rm -rf "$dir/sys"
		cp -a "$dir/whole" "$dir/sys"
		file=$dir/sys/$path
		# what a folder's own link leads to is another row's
		if [ $how = gone ]; then rm -rf "$file"
		elif [ "$form" = folder ] || [ "$form" = written ]; then rm -rf "$file"; ln -s nowhere "$file"
		elif [ -L "$file" ]; then ln -sfn / "$file"
		else echo ' ' >"$file"; fi
		look
		result "$([ $? -eq 1 ] && grep -q "^not ok .*# .*$path" "$dir/out"; echo $?)" "$how: $path" "$(grep -m 1 '^not ok' "$dir/out")"
	done
done <"$dir/rows"
rm -rf "$dir/sys"
cp -a "$dir/whole" "$dir/sys"
rm -r "$dir/sys/class/iommu" "$dir/sys/devices/pci0000:00/$GPU/iommu_group"
look
result "$([ $? -eq 0 ] && [ "$(grep -c 'SKIP no IOMMU' "$dir/out")" = 2 ]; echo $?)" "no IOMMU: the card has no group"
rm -rf "$dir/sys"
mkdir "$dir/sys"
look
result "$([ $? -eq 1 ]; echo $?)" "no card: it fails"
printf '1..%d\n' $results
[ $failures -eq 0 ]
