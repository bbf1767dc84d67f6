#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# fuzz.sh TARGET SECONDS: one libFuzzer target for a while, from the committed corpus if there is one. New finds go to the
# build folder; a crashing input is left there and its path is printed.
set -eu
target=$1 seconds=$2
name=$(basename "$target")
work=$(dirname "$target")/$name.work
seed=$(echo "$(cd "$(dirname "$0")" && pwd)"/*/fuzz/corpus/"$name")
mkdir -p "$work/corpus"
args=("$work/corpus")
[ -d "$seed" ] && args+=("$seed")
"$target" -max_total_time="$seconds" -rss_limit_mb=2048 -len_control=0 -timeout=20 -print_final_stats=1 \
	-artifact_prefix="$work/" "${args[@]}"
