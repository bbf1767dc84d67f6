#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests the tables of products.sh and parts.sh, and which parts check.sh runs by them, in a made-up
# tree. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
n=0 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

result() # STATUS NAME DETAIL
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2 # $3"; bad=1; fi
}

# ------------------------------------------------------------------ the tables

wrong=$(
	. selftests/parts.sh
	for name in "${part_names[@]}"; do
		[[ ${part_modes[$name]} =~ ^[fqlcbsp]+$ && ${part_seconds[$name]} =~ ^[0-9]+$ ]] || echo "part $name"
		for product in ${part_products[$name]//,/ }; do
			[[ " ${PRODUCT_NAMES[*]} all pages " == *" $product "* ]] || echo "$name judges '$product'"
		done
	done
	for product in "${PRODUCT_NAMES[@]}"; do
		for mode in f l; do
			for name in "${part_names[@]}"; do
				! [[ ${part_modes[$name]} == *$mode* ]] || ! meets "${part_products[$name]}" "$product" || continue 2
			done
			echo "no part $mode judges $product"
		done
	done
)
result "$([ -z "$wrong" ]; echo $?)" "each part judges products, and each product has parts" "$wrong"
wrong=$(. selftests/products.sh; selftests/tree-files.sh | while read -r file; do products_of "$file" || echo "$file"; done)
result "$([ -z "$wrong" ]; echo $?)" "a line of products.sh names each file" "$(echo "$wrong" | head -n 5 | xargs)"
said=$(
	. selftests/parts.sh
	make() { printf '/unit/o/%s\n' unit/cuda/api/jit_test unit/cuda/kepler/image/elf_test unit-tsan/remote/ring/ring_test unit/hw/bringup_test unit-late/sched/gap_test; }
	for narrow in remote cuda,tooling model all; do
		for t in $(programs unit); do echo "$narrow:${t##*/}"; done
	done
)
expected="remote:jit_test remote:ring_test cuda,tooling:jit_test cuda,tooling:elf_test model:bringup_test"
expected+=" all:jit_test all:elf_test all:ring_test all:bringup_test all:gap_test"
result "$([ "$(echo $said)" = "$expected" ]; echo $?)" "which unit tests judge a product" "$said"

said=$(make -s check PRODUCT=remot 2>&1)
result "$([[ $said == *"no product 'remot'"* ]]; echo $?)" "make check passes PRODUCT on" "$said"

# ------------------------------------------------------------------ a made-up tree

mkdir -p "$work"/tree/{selftests,testbed,include,remote,mdev,gpu-model,docs}
cp selftests/{check,products,tap,tree-files}.sh "$work/tree/selftests"
{
	sed '/^run_lint/,$d' selftests/parts.sh
	for part in 'client fq remote' 'ring fqp remote,cuda' 'card q module' 'pages q tooling' 'flood l remote' 'cells l module,model' 'show c module,remote'; do
		read -r name modes products <<<"$part"
		echo "part $name $modes $products 1 tap_step 'it runs' 20 sh -c 'echo $name >>ran; ! [ -e fails ]'"
	done
} >"$work/tree/selftests/parts.sh"
cd "$work/tree" || exit 1
printf '#!/bin/sh\n' >testbed/tb
chmod +x testbed/tb
printf '/build\n/ran\n/fails\n' >.gitignore
touch include/a.h mdev/a.c remote/a.c gpu-model/a.c docs/a.md
git() { command git -c user.name=a -c user.email=a@b.invalid "$@"; }
save() { git add -A && git commit -qm a; }
git init -q . && save

# runs MODE [WORD...]: runs a check, and sets ran to the parts that ran, said to what it printed, rc
runs()
{
	rm -f ran
	said=$(KVGPU_CACHE=$work/cache selftests/check.sh "$@" 2>&1)
	rc=$?
	ran=$(sort ran 2>/dev/null | xargs)
}

# chooses NAME 'PART...' MODE [WORD...]: one test: the check runs these parts
chooses()
{
	runs "${@:3}"
	result "$([ $rc = 0 ] && [ "$ran" = "$2" ]; echo $?)" "$1" "ran '$ran', not '$2': $(echo "$said" | tail -n 3 | xargs)"
}

chooses "without PRODUCT all parts run" "card client pages ring" quick
chooses "PRODUCT=remote" "client ring" quick PRODUCT=remote
chooses "two products, one part" "ring" quick "PRODUCT=cuda module" ring pages
echo 1 >remote/a.c && save && echo 1 >docs/b.md
chooses "CHANGED: a commit, and a file that git does not know yet" "client pages ring" quick CHANGED=HEAD~1
chooses "CHANGED narrows check-fast" "client ring" fast CHANGED=HEAD~1
save && echo 1 >include/a.h
chooses "a header that all are built with" "card client pages ring" quick CHANGED=HEAD
save && echo '#' >>selftests/parts.sh
chooses "what runs the parts" "card client pages ring" quick CHANGED=HEAD
save
chooses "nothing has changed" "" quick CHANGED=HEAD
chooses "a range" "client pages ring" quick CHANGED=HEAD~4..HEAD~2

# refuses NAME TEXT MODE [WORD...]: one test: check.sh ends with a line that has the text
refuses()
{
	runs "${@:3}"
	result "$([ $rc = 2 ] && [ -z "$ran" ] && [[ $said == *"$2"* ]]; echo $?)" "$1" "$said"
}

refuses "no such product" "no product 'remot'; products: module cuda remote model system tooling" quick PRODUCT=remot
refuses "a part that does not judge the product" "none of the parts judges that: PRODUCT=remote card" quick PRODUCT=remote card
refuses "no such commit" "git knows no such commit" quick CHANGED=nothing
refuses "an option of git's" "git knows no such commit" quick CHANGED=--output=ran
refuses "STALE is not of make check" "STALE is for check-long" quick STALE=1
refuses "only what is long can have passed" usage passed client

# ------------------------------------------------------------------ passed.tsv

# lists NAME 'PART...' [PRODUCT...]: one test: check.sh stale names these, in this order
lists()
{
	said=$(selftests/check.sh stale "${@:3}")
	ran=$(echo "$said" | sed '$d' | cut -d' ' -f1 | xargs)
	result "$([ "$ran" = "$2" ]; echo $?)" "$1" "$said"
}

lists "all are stale at first" "flood cells show"
AGAIN=1 chooses "a check-long notes what is long" "card cells client flood pages ring" long
lists "and that is no longer stale" "show"
chooses "nor is the tree another one by it: nothing runs again" "" long
selftests/check.sh passed show
lists "a command notes that it has passed" ""
echo 2 >remote/a.c
lists "a file of remote/ changes: what judges remote is stale" "flood show"
lists "of one product" "show" module
echo 1 >remote/a.c
lists "the file is as it was" ""
echo 3 >mdev/a.c && echo 3 >docs/a.md && echo '#' >>selftests/check.sh
lists "neither documents nor check.sh make a part stale" "cells show"
sed -i 's/^\(cells.*\)\t.*/\1\t2020-01-01/' selftests/passed.tsv
lists "longest unseen first" "cells show"
sed -i 's/^\(show.*\)\t.*/\1\t2019-01-01/' selftests/passed.tsv
lists "which is another one then" "show cells"
touch fails
runs long STALE=1
lists "what fails stays stale" "show cells"
rm fails
chooses "STALE=1 of one product" "show" long STALE=1 PRODUCT=remote
chooses "STALE=1" "cells" long STALE=1
chooses "STALE=1, and nothing is stale" "" long STALE=1
cp selftests/passed.tsv "$work/before" && git checkout -q selftests/passed.tsv 2>/dev/null || rm selftests/passed.tsv
runs long STALE=1
cmp -s selftests/passed.tsv "$work/before"
result $? "a file that is lost comes back from the records of this state" "$(diff selftests/passed.tsv "$work/before")"
echo "1..$n"
exit $bad
