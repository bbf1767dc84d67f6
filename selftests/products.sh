# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by parts.sh. Says which products a file belongs to; parts.sh says which products each part
# judges. So a part judges a file if both have a product in common: meets(). From this follow which
# parts PRODUCT= and CHANGED= choose, which unit tests and fuzz targets these run, and whether a long
# part is stale (passed.tsv).

# what PRODUCT= may name. tooling: the tests' own tools, and documents
PRODUCT_NAMES=(module cuda remote model system tooling)
declare -A hash=()	# by hash_parts

# products_of FILE: sets $products, a list with commas, to the products of a file, of a unit test or
# fuzz target by the path of what it tests. Further words: "all", for what each part is built with or
# runs in; "pages", documents whose lines tests read; "checks", for what runs the parts: none is stale
# by it; "none". Returns 1, and "all", for a file that no line names. The first line that fits counts.
products_of()
{
	case $1 in
	selftests/passed.tsv) products=none ;;
	.ci/* | selftests/check.sh | selftests/parts.sh | selftests/products*.sh | selftests/tap*.sh) products=checks ;;
	docs/admin.md | docs/install.md | docs/remote-setup.md | cuda/README.md | cuda/nvml/README.md) products=tooling,pages ;;
	*.md | docs/* | LICENSES/* | .clang-format | .editorconfig | .git* | selftests/tooling/*) products=tooling ;;
	# tests that link sources of two products
	*hw/bringup_test* | *gpu-model/root/cold_test*) products=module,model ;;
	# client and library share these; remoting has a libnvidia-ml.so.1, too
	cuda/api/* | cuda/nvml/* | cuda/info/* | selftests/cuda/*/cuda/api/* | selftests/cuda/*/cuda/nvml/*) products=cuda,remote ;;
	cuda/* | selftests/cuda/*) products=cuda ;;
	remote/* | selftests/remote/*) products=remote ;;
	gpu-model/* | selftests/model/*) products=model ;;
	hw/* | mmio-trap/* | gtt-shadow/* | sched/* | mdev/* | tools/* | firmware/* | selftests/module/*) products=module ;;
	debian/* | libvirt-xml/* | dkms.conf | Kbuild) products=module ;;
	selftests/system/*) products=system ;;
	include/* | testbed/* | Makefile | kvgpu.mk | selftests/selftests.mk) products=all ;;
	selftests/fetch.sh | selftests/kernels.sh | selftests/tree-files.sh | selftests/fuzz.sh | selftests/own_folder.h) products=all ;;
	selftests/result.sh | selftests/unit_test.h) products=all ;;
	*) products=all && return 1 ;;
	esac
}

# meets A B: whether two lists of products have one in common
meets()
{
	local product
	[[ ,$1,$2, != *,all,* ]] || return 0
	for product in ${1//,/ }; do
		[[ ,$2, != *,$product,* ]] || return 0
	done
	return 1
}

# changed_products COMMITS: prints the products of the files that differ from a commit, or that a
# range touches, and of files that are not committed
changed_products()
{
	local file files
	local -A found=([none]=1)
	[[ $1 != -* ]] && files=$(git diff --name-only --no-renames "$1" -- && git diff --name-only --no-renames HEAD -- &&
		git ls-files --others --exclude-standard) 2>/dev/null || return
	while IFS= read -r file; do
		[ -n "$file" ] || continue
		products_of "$file"
		found[${products/#checks/all}]=1
	done <<<"$files"
	(IFS=,; echo "${!found[*]}")
}

# hash_parts NAME...: sets hash[NAME] to a hash over the part's command and what is in the files that
# it judges
hash_parts()
{
	local sum file kind name
	local -A sums=()
	while read -r sum file; do
		products_of "$file"
		[[ $products =~ ^(none|checks)$ ]] || sums[$products]+="$sum $file"$'\n'
	done < <(selftests/tree-files.sh -print0 | xargs -0 sha256sum)
	for kind in "${!sums[@]}"; do sums[$kind]=$(sha256sum <<<"${sums[$kind]}"); done
	for name; do
		hash[$name]=$({
			echo "${part_command[$name]}"
			for kind in "${!sums[@]}"; do ! meets "$kind" "${part_products[$name]}" || echo "$kind ${sums[$kind]}"; done
		} | LC_ALL=C sort | sha256sum | cut -c1-16)
	done
}

# ------------------------------------------------------------------ passed.tsv
# For each long part and command a line: name, hash_parts() when it passed, date.

PASSED=selftests/passed.tsv

# stale NAME...: prints "DATE NAME" of those of the parts that have not passed with the files that
# they judge now, longest unseen first; the date of one without a line is "never". Wants hash[].
stale()
{
	local name sum date
	local -A seen=() on=()
	while IFS=$'\t' read -r name sum date; do seen[$name]=$sum on[$name]=$date; done < <(cat $PASSED 2>/dev/null)
	for name; do
		[ "${seen[$name]-}" = "${hash[$name]}" ] || echo "${on[$name]:-0 never} $name"
	done | LC_ALL=C sort -s -k1,1 | sed 's/^0 //'
}

# passes NAME DATE: writes the part's line, and drops those of parts that there are no more
passes()
{
	mkdir -p build
	(
		flock 7
		{
			printf '# what passed last of the long parts: name, hash over the files that it judges, date; check.sh writes it\n'
			awk -F '\t' -v n="$1" -v all=" ${part_names[*]} " '$1 != n && index(all, " " $1 " ")' $PASSED 2>/dev/null
			printf '%s\t%s\t%s\n' "$1" "${hash[$1]}" "$2"
		} | LC_ALL=C sort >$PASSED.new && mv $PASSED.new $PASSED
	) 7>>build/passed.lock
}
