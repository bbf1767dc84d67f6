#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the server. What server_state.sh prints, the size of IOMMUs' page tables (where the kernel counts them), open files,
# and those of them that are GPUs.
/share/server_state.sh
awk '$1 == "nr_iommu_pages" { print "iommu_tables_kib", $2 * 4 }' /proc/vmstat
echo "open_files $(cut -f1 /proc/sys/fs/file-nr)"
echo "gpu_files $(find /proc/[0-9]*/fd -lname '/dev/dri/*' -o -lname '/dev/vfio/[0-9]*' 2>/dev/null | wc -l)"
