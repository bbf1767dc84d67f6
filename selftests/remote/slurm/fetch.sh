#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# fetch.sh: prints the folder with this Debian's Slurm and munge, unpacked by ../../fetch.sh, with the links that dpkg's alternatives make.
set -eu
root=$("$(dirname "$(readlink -f "$0")")/../../fetch.sh" slurm - slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libmunge2 \
	libgcrypt20 libgpg-error0 libhwloc15 libnuma1 liblz4-1)
for program in "$root"/usr/sbin/*-wlm "$root"/usr/bin/*-wlm; do
	[ ! -e "$program" ] || ln -sf "${program##*/}" "${program%-wlm}"
done
echo "$root"
