#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# nova.sh: nova.py with Debian 12's Nova (14 MB, fetched and not installed), on a tree in place of /sys that nobody else sees.
set -eu
here=$(dirname "$(readlink -f "$0")")
# parts of Nova's libraries are compiled for this Python
[ "$(/usr/bin/python3 -c 'import sys; print(sys.version_info[:2])')" = "(3, 11)" ] || { echo "1..0 # SKIP Debian 12's Nova wants Python 3.11"; exit 0; }
if [ -z "${KVGPU_IN_MOUNTS:-}" ]; then
	read -ra names <<<"$(tr '\n' ' ' <"$here/nova.list")"
	nova=$("$here/../../fetch.sh" nova bookworm "${names[@]}")
	schemas=$("$here/../../fetch.sh" libvirt bookworm libvirt0 libvirt-clients)
	KVGPU_IN_MOUNTS=1 exec unshare -m "$0" "$nova" "$schemas"
fi
dir=$(mktemp -d)
# shellcheck source=selftests/module/clouds/cloud-sysfs.sh
. "$here/cloud-sysfs.sh"
cloud_sysfs "$dir"
mount --rbind "$dir" /sys
rc=0
/usr/bin/python3 "$here/nova.py" "$@" || rc=$?
umount -l /sys
rm -rf "$dir"
exit $rc
