#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# dmesg-filter.sh PHASE LIST: passes on the lines that LIST does not explain for PHASE.
# LIST: "PHASE[,PHASE...] <TAB> extended regular expression <TAB> reason"; phase "all" means every one; # comments.
set -u -o pipefail
phase=${1:?phase} list=${2:?list}
patterns=$(mktemp)
trap 'rm -f "$patterns"' EXIT
while IFS=$'\t' read -r phases regex reason; do
	case $phases in '' | '#'*) continue ;; esac
	if [ -z "${reason-}" ]; then
		echo "$list: no reason given for: $regex"
		continue
	fi
	case ",$phases," in *",$phase,"* | *,all,*) printf '%s\n' "$regex" >>"$patterns" ;; esac
done <"$list"
if [ -s "$patterns" ]; then
	grep -vEf "$patterns"
else
	cat
fi
exit 0
