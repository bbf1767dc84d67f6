#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tree-files.sh [-print0]: the files of this tree less what .gitignore names, one a line (or with a NUL after each), by find. Not
# by git: a tarball has no .git, a fresh machine has no git, in another user's clone git refuses to answer, and the list
# is to be the same in all of them. Of .gitignore it understands the lines that are there: names, and paths that begin with /.
set -eu
cd "$(dirname "$0")/.."
ignored=(-name .git)
while read -r pattern; do
	case $pattern in
	'' | '#'*) ;;
	'!'* | *[!/]/?* | /*'**'*) echo "tree-files.sh: .gitignore has a line that find has no test for: $pattern" >&2; exit 1 ;;
	/*) ignored+=(-o -path "./${pattern//\//}") ;;
	*) ignored+=(-o -name "${pattern%/}") ;;
	esac
done < .gitignore
find . -mindepth 1 \( "${ignored[@]}" \) -prune -o \( -type f -o -type l \) -printf '%P\n' |
	LC_ALL=C sort | if [ "${1-}" = -print0 ]; then tr '\n' '\0'; else cat; fi
