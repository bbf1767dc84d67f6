#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# libvirt-xml/*.xml by the schemas of Debian 12's and 13's libvirt, and by their virt-xml-validate. Prints TAP.
set -u
here=$(dirname "$(readlink -f "$0")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
results=0 failures=0

result() # STATUS NAME [DETAIL]
{
	results=$((results + 1))
	[ "$1" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$1" -eq 0 ] && echo ok || echo not ok)" $results "$2" "${3:+ # $3}"
}

# validate ROOT FILE: a device alone, for attach-device, has no schema, so it is put into a domain
validate()
{
	local file=$2
	if [ "$(xmllint --xpath 'name(/*)' "$file" 2>/dev/null)" = hostdev ]; then
		file=$dir/domain.xml
		{
			echo "<domain type='kvm'><name>g</name><memory>1</memory><os><type>hvm</type></os><devices>"
			xmllint --xpath '/*' "$2"
			echo "</devices></domain>"
		} >"$file"
	fi
	"$1/validate" "$file" >"$dir/said" 2>&1
}

schemas() # SUITE PACKAGE...
{
	local root file
	root=$("$here/../../fetch.sh" libvirt "$@") || { result 1 "Debian's $1 has libvirt's schemas"; return; }
	mkdir -p "$dir/$1"
	sed "s|/usr/share/libvirt/schemas|$root/usr/share/libvirt/schemas|" "$root/usr/bin/virt-xml-validate" >"$dir/$1/validate"
	chmod +x "$dir/$1/validate"
	for file in "$here"/../../../libvirt-xml/*.xml; do
		validate "$dir/$1" "$file"
		result $? "$1: ${file##*/}" "$(head -n 1 "$dir/said")"
	done
	for file in domain hostdev node-device; do
		sed "s/uuid/uuidd/g" "$here/../../../libvirt-xml/$file.xml" >"$dir/wrong.xml"
		! validate "$dir/$1" "$dir/wrong.xml" && grep -q 'fails to validate' "$dir/said"
		result $? "$1: $file.xml with a wrong word is refused" "$(head -n 1 "$dir/said")"
	done
}

command -v xmllint >/dev/null || { echo "Bail out! no xmllint: tb setup installs libxml2-utils"; exit 1; }
schemas bookworm libvirt0 libvirt-clients
schemas trixie libvirt-common libvirt-clients
printf '1..%d\n' $results
[ $failures -eq 0 ]
