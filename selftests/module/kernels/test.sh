#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests kernel_excuse (the rule for a newest kernel that fails), build.sh, cell.sh and supported.sh
# with made-up kernels. Prints TAP.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export LC_ALL=C.UTF-8
results=0 failures=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

check() # NAME STATUS [DETAIL]
{
	results=$((results + 1))
	[ "$2" -eq 0 ] || failures=$((failures + 1))
	printf '%s %d - %s%s\n' "$([ "$2" -eq 0 ] && echo ok || echo not ok)" $results "$1" "${3:+ # ${3//\#/}}"
}

suite_of() { sed 's/#.*//' testbed/packages/kernels.list | awk -v r="$1" '$2 == r { print $1 }'; }
base=$(suite_of base) oldest=$(suite_of oldest) newest=$(suite_of newest)
export KVGPU_KERNEL_TABLE=$work/table KVGPU_KERNEL_RESULTS=$work/results

# scripts in place of make and tb, which fail for the kernels in $FAILING, and of socat, which asks a model
mkdir "$work/bin" "$work/share"
cat >"$work/bin/make" <<-'FAKE'
	#!/bin/sh
	for target; do :; done
	case " $FAILING " in *" ${target#check-module-} "*) echo "kvgpu: kernel 99: gone"; exit 2 ;; esac
FAKE
cat >"$work/bin/tb" <<-FAKE
	#!/bin/sh
	case \$1 in
	kernels) printf '$base 12.1-made-up base\n$oldest 11.1-made-up oldest\n$newest 13.2-made-up newest\n' ;;
	share) echo $work/share ;;
	status) echo stats model.sock ;;
	up) case " \$FAILING " in *" \$3 "*) echo "tb: error: no"; exit 1 ;; esac; echo "\$3" >$work/up ;;
	run) shift 2; case \$* in
		*load.sh) case " \$FAILING " in *" load-\$(cat $work/up) "*) exit 1 ;; esac; echo 5 ;;
		'uname -r') echo 13.2-made-up ;;
		esac ;;
	esac
FAKE
printf '#!/bin/sh\necho %s\n' "'{\"pri_errors\": 0}'" >"$work/bin/socat"
chmod +x "$work"/bin/*

# passed VERSION: writes a table in which the newest kernel passed last with VERSION; empty: never
passed()
{
	: >"$work/table"
	[ -z "$1" ] || printf '%s\tquick\t%s\t%s\tpassed\t2026-01-01\tabc\n' module "$newest" "$1" native "$newest" "$1" >>"$work/table"
	rm -f "$work/results"
}

built() { FAILING=$2 TB=$work/bin/tb PATH=$work/bin:$PATH selftests/module/kernels/build.sh "$1" >"$work/out" 2>&1; }

# builds NAME MODE FAILING STATUS RESULTS: one test: build.sh MODE ends with STATUS, with these
# RESULTS of base, oldest and newest kernel
builds()
{
	local status=0 said
	built "$2" "$3" || status=$?
	said=$(sed -n 's/^\(not ok\|ok\) [0-9]* .*\(SKIP\).*/\2/p; t; s/^\(not ok\|ok\) .*/\1/p' "$work/out" | xargs | sed 's/not ok/not-ok/g')
	[ $status -eq "$4" ] && [ "$said" = "$5" ] && [ "$(tail -n 1 "$work/out")" = 1..3 ]
	check "$1" $? "status $status: $said"
}

builds_of_all()
{
	passed 13.1-made-up
	builds "all are built" quick "" 0 "ok ok ok"
	[ "$(cut -f1-5 "$work/results" | tr '\t' ' ' | tail -n 1)" = "module quick $newest 13.2-made-up passed" ]
	check "it is noted" $? "$(tail -n 1 "$work/results")"
	builds "a newest kernel that never passed is not built: skipped" quick "$newest" 0 "ok ok SKIP"
	grep -q "SKIP the archive moved on: .* $newest 13.2-made-up; 13.1-made-up was the last that passed: kvgpu: kernel 99: gone" "$work/out" &&
		[ "$(cut -f5 "$work/results" | tail -n 1)" = skipped ]
	check "it is told and noted as such" $? "$(grep SKIP "$work/out")"
	builds "in check-long that is a failure" long "$newest" 1 "ok ok not-ok"
	builds "the base kernel's failure is one" quick "$base" 1 "not-ok ok ok"
	passed 13.2-made-up
	builds "a newest kernel that passed before fails: a failure" quick "$newest" 1 "ok ok not-ok"
	rm "$work/table"
	builds "no table at all: a failure" quick "$newest" 1 "ok ok not-ok"
}

# cells NAME MODE KERNEL FAILING PATTERN: one test: a cell of selftests/model/native that boots, loads and
# reloads nouveau prints results that match PATTERN
cells()
{
	local out
	out=$(FAILING=$4 TB=$work/bin/tb PATH=$work/bin:$PATH OUT=$work bash -c '
		. selftests/model/native/cell.sh
		part_of_check=native mode=$1
		cell "$2" flat load reload
		finish' cells "$2" "$3" 2>&1)
	# shellcheck disable=SC2053
	[[ $(grep -E '^(not )?ok' <<<"$out" | tr '\n' '|') = $5 ]]
	check "$1" $? "$(grep -E '^(not )?ok' <<<"$out" | tr '\n' '|')"
}

# bugs: known bugs of others in the results of a cell's program
bugs()
{
	local out status=0
	rm -f "$work/results"
	out=$(TB=$work/bin/tb bash -c '
		. selftests/model/native/cell.sh
		part_of_check=native mode=quick kernel=$1 cell_name=made-up kernel_ran[$1]=13.2-made-up
		printf "ok 1 - a # GONE it sleeps\nnot ok 2 - b # XFAIL it sleeps\nok 3 - c # GONE it sleeps\nok 4 - d # GONE it lies\n1..4\n" >"$2"
		relay program 0 <"$2"
		finish' bugs "$newest" "$work/tap" 2>&1) || status=$?
	[ $status = 0 ] && grep -q "^ok 1 - made-up: a # GONE it sleeps" <<<"$out" && grep -q "^not ok 2 - made-up: b # XFAIL it sleeps" <<<"$out"
	check "a known bug of others, there or gone, is no failure" $? "$(tr '\n' '|' <<<"$out")"
	[ "$(cut -f1,5 "$work/results" | tr '\t' '=' | tr '\n' ',')" = "native=passed,bug:it sleeps=fails as known,bug:it lies=gone," ]
	check "which of the two it was is noted; once there is there" $? "$(cut -f1,5 "$work/results" | tr '\t\n' '=,')"
}

boots()
{
	touch "$work/kvgpu-program"
	passed 13.1-made-up
	cells "a newest kernel that never passed does not boot: skipped, nothing else is run" quick newest "$newest" "ok 1 - * # SKIP the archive moved on: *|"
	cells "nouveau does not load there: skipped, nothing else is run" quick newest "load-$newest" "ok 1 - *|ok 2 - *nouveau loads*# SKIP *|"
	[ ! -e "$work/results" ]
	check "neither is noted" $?
	cells "in check-long both are failures" long newest "load-$newest" "ok 1 *|not ok 2 - *: nouveau loads*"
	cells "the base kernel does not boot: a failure" quick base "$base" "not ok 1 - *"
	rm -f "$work/results"
	cells "all is well" quick newest "" "ok 1 *|ok 2 *|ok 3 *|ok 4 *|ok 5 *|"
	[ "$(cut -f1-5 "$work/results" | tr '\t' ' ')" = "native quick $newest 13.2-made-up passed" ]
	check "and noted" $? "$(cat "$work/results")"
	bugs
	passed 13.2-made-up
	cells "a newest kernel that passed before does not boot: a failure" quick newest "$newest" "not ok 1 - *"
}

# note PART SUITE RELEASE RESULT COMMIT: adds a line to the made-up build/check/kernels.tsv
note() { printf '%s\tquick\t%s\t%s\t%s\t2026-02-02\t%s\n' "$@" >>"$work/results"; }

tables()
{
	export KVGPU_SUPPORTED=$work/doc
	printf 'before\n<!-- kernels: x -->\nstale\n<!-- /kernels -->\nafter\n' >"$work/doc"
	passed 13.1-made-up
	selftests/module/kernels/supported.sh check >"$work/out" 2>&1
	check "a table that differs from the data is told" $(($? == 0)) "$(tail -n 1 "$work/out")"
	note native "$newest" 13.2-made-up failed abc
	note native "$newest" 13.2-made-up passed abc
	note module "$newest" 13.2-made-up failed abc
	note module "$base" 12.1-made-up passed abc+
	note module "$oldest" 11.1-made-up passed abc
	note "bug:it sleeps" "$base" 12.1-made-up "fails as known" abc
	note "bug:it sleeps" "$newest" 13.2-made-up gone abc
	selftests/module/kernels/supported.sh merge >"$work/out" 2>&1
	check "results are merged" $? "$(tail -n 1 "$work/out")"
	[ "$(cut -f1,3,4 "$work/table" | tr '\t\n' ' ,')" = "bug:it sleeps $base 12.1-made-up,bug:it sleeps $newest 13.2-made-up,module $oldest 11.1-made-up,module $newest 13.1-made-up,native $newest 13.2-made-up," ]
	check "the last pass of each stays" $? "$(cut -f1,3,4 "$work/table" | tr '\t\n' ' ,')"
	selftests/module/kernels/supported.sh check >"$work/out" 2>&1
	check "the table says what the data say" $? "$(tail -n 1 "$work/out")"
	[ "$(sed -n '1p;$p' "$work/doc" | xargs)" = "before after" ] && ! grep -q stale "$work/doc" &&
		grep -qx '| stock nouveau natively on the model, check |  |  | 13.2-made-up, 2026-02-02 |  |' "$work/doc"
	check "and the rest of the document stays" $? "$(grep native "$work/doc")"
	grep -qx '| known bug of others (it sleeps), check | fails as known on 12.1-made-up, 2026-02-02 |  | gone on 13.2-made-up, 2026-02-02 |  |' "$work/doc"
	check "known bugs have their rows" $? "$(grep bug "$work/doc")"
}

builds_of_all
boots
tables
printf '1..%d\n' $results
[ $failures -eq 0 ]
