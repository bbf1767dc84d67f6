#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tree-files.sh [-print0]: prints the files of this tree that .gitignore does not name, one a line,
# or with a NUL after each. It uses find, not git: a tarball has no .git, a fresh machine has no
# git, git refuses to work in another user's clone, and the list has to be the same in all of these.
# Of .gitignore it understands names, and names in the top folder (/NAME); any other pattern is an
# error.
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
