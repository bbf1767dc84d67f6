#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# floor.sh LIBRARY...: each of them loads with glibc 2.28, by the versions that it wants; otherwise prints what it wants of newer
# ones, and ends with 1. What is new in such a list goes into moved.c if an older glibc has it, else it is not called.
set -eu
rc=0
for library; do
	wants=$(readelf -W --dyn-syms -V "$library" | grep -oP ' UND \K\w+@GLIBC_\w[\w.]*|Name: \KGLIBC_\w[\w.]*' | sort -u)
	newer=$(awk -F GLIBC_ '{ split($2, v, ".") } v[1] != 2 || v[2] > 28' <<< "$wants")
	[ -z "$newer" ] || { echo "$library wants a glibc newer than 2.28:" $newer >&2; rc=1; }
done
exit $rc
