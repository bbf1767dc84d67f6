#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests what make, the demo's steps and check.sh print, which locks and records check.sh keeps, and
# that native/cell.sh leaves a bed alone that it has not begun. Prints TAP.
set -u
cd "$(dirname "$0")/../../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
results=0 failures=0

result() # STATUS NAME [FILE]
{
	results=$((results + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' $results "$2"
	else
		failures=$((failures + 1))
		printf 'not ok %d - %s\n' $results "$2"
		sed 's/^/# /' "${3:-/dev/null}"
	fi
}

env -u MAKEFLAGS -u V make --no-print-directory O="$work/o" "$work/o/gpu-model/mkvbios" >"$work/out" 2>&1 &&
	! awk 'length > 100' "$work/out" | grep . && grep -qx '  CC    gpu-model/mkvbios' "$work/out"
result $? "make shows a short line a command" "$work/out"

# A tree that is built has thousands of dependency files, which make reads as makefiles. Here they
# have more than the 128 KiB that one word of a command may have.
mkdir -p "$work/built/asan/selftests/remote/unit/remote/client"
(cd "$work/built/asan/selftests/remote/unit/remote/client" && touch {1..3000}.d)
make -s O="$work/built" help >"$work/out" 2>&1 && grep -q '^  check-long  *check, and' "$work/out"
result $? "make help, in a tree that is built" "$work/out"
mapfile -t targets < <(grep -rhoE --include='*.mk' '^print-[a-z-]+:' . | tr -d :)
make -s O="$work/built" "${targets[@]}" >"$work/out" 2>&1 && [ "$(wc -l <"$work/out")" -gt ${#targets[@]} ]
result $? "and the print- targets" "$work/out"

PYTHONPATH=selftests/system/demo PYTHONDONTWRITEBYTECODE=1 python3 - >"$work/out" 2>&1 <<'P'
import contextlib
import io
import types
from screen import cluster, short_of_it
for shares, said in (((0.25, 0.74), "The GPU was short"), ((0.44, 0.54), "not by"), ((0.3, 0.3), "asked for 60 %")):
    vgpus = {w: {"share": s, "weight": w} for s, w in zip(shares, (100, 300))}
    text = short_of_it(types.SimpleNamespace(vgpus=vgpus))
    assert said in text, (shares, text)
for said in ("left out: it wants the CUDA toolkit", "a product of 128 by 128: by one GPU a, by two a"):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        cluster(types.SimpleNamespace(text=lambda name: f"two proxies\n{said}\n"))
    assert out.getvalue() == f"  {said}\n", out.getvalue()
P
result $? "a demo says that weights decided only if they did, and what the step with two proxies said" "$work/out"

# Of a made-up demo of 100 lines the picture has all but what comes first, whole, and no wider than it is.
PYTHONPATH=selftests/system/demo PYTHONDONTWRITEBYTECODE=1 python3 - "$work" >"$work/out" 2>&1 <<'P'
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree
import record
work = sys.argv[1]
log = ["  CC    a.c", "make demo: 2 steps", "1/2  <one> & two", f"\x1b[1m     {os.getcwd()}/testbed\x1b[0m", "a" * 200, "9 s\rover", *["x"] * 93,
       "12 checks of copies and costs, 8 runs of CUDA programs in guests: all passed; 9 s"]
def picture(lines):
    done = subprocess.run(["selftests/system/demo/record.py", f"{work}/p.svg"], input="\n".join(lines) + "\n", text=True, capture_output=True, check=False)
    assert done.stdout.splitlines() == "\n".join(lines).replace("\r", "\n").splitlines(), done.stdout
    return done
assert picture(log[:-1]).returncode == 1 and not os.path.exists(f"{work}/p.svg")
assert picture([*log, *["y" * 118] * 500]).returncode == 1 and not os.path.exists(f"{work}/p.svg")
assert picture(log).returncode == 0
drawn = tree.parse(f"{work}/p.svg").getroot()
texts = [t.text for t in drawn.iter("{http://www.w3.org/2000/svg}text")]
assert texts[:5] == ["make demo: 2 steps", "1/2  <one> & two", "     testbed", "a" * (record.COLUMNS - 1) + "…", "over"], texts[:5]
assert texts[5:] == log[6:], texts[5:]
style = next(drawn.iter("{http://www.w3.org/2000/svg}style")).text
for name, end in (("up", -record.HIGH * (len(texts) - record.ROWS)), ("down", record.HIGH * record.ROWS)):
    at = [float(p) for p in re.findall(r"([\d.]+)%", re.search(rf"@keyframes {name}{{(.*)}}", style)[1])]
    places = [int(p) for p in re.findall(r"translateY\((-?\d+)px", re.search(rf"@keyframes {name}{{(.*)}}", style)[1])]
    assert places[0] == 0 and places[-1] == end and at == sorted(at) and at[0] == 0 and at[-1] == 100
    assert next(e for e in drawn.iter() if e.get("id") == name).get("transform") == f"translate(0 {end})"
P
result $? "a demo is drawn" "$work/out"

# README.md shows lines of the last screen
PYTHONPATH=selftests/system/demo PYTHONDONTWRITEBYTECODE=1 python3 - >"$work/out" 2>&1 <<'P'
import screen
screen.line("lab  vector_add", "300007 sums bit by bit, 0 wrong, on g1's vGPU")
none = dict.fromkeys(["kvm.mmio_exits", "kvgpu.exits_bar0_read", "kvgpu.exits_bar0_write", "kvm.pf_taken"], 0)
try:
    screen.cost({"steady": {e: {"submissions": 10000, "guest_counters": none} for e in ("CE", "GR")}})
except KeyError:
    pass
P
sed -n '/^```$/,/^```$/p' README.md | grep -v '^```$' | diff - "$work/out" >"$work/diff"
result $? "README.md shows what a demo prints" "$work/diff"

# but for apt, python3 and lab-1/run, whose arguments differ, README.md's lines for two machines are those of the pages: selftests/system/install
# and selftests/remote/older.sh run such
sed -n '/^## Use a GPU of another machine/,/^## /s/^    //p' README.md | grep -vE '^(apt|python3|lab-1/run) ' >"$work/lines"
sed -n 's/^    //p' docs/remote-setup.md docs/remote-use.md | grep -vxFf - "$work/lines" >"$work/out"
result "$([ "$(wc -l <"$work/lines")" -ge 5 ] && [ ! -s "$work/out" ]; echo $?)" "README.md's lines for two machines are in the pages" "$work/out"

mkdir "$work/few" && ln -s "$(command -v bash)" "$(command -v dirname)" "$(command -v realpath)" "$work/few"
PATH=$work/few bash debian/packages.sh "$work/p" "$work/r" >"$work/out" 2>&1
grep -qF "here: $(sed -n 's/^    \(apt build-dep\)/\1/p' README.md)" "$work/out"
result $? "make packages, where tools are missing, says what README.md says" "$work/out"

# its clock is a variable that it moves itself
cat >"$work/steps" <<'S'
unset SECONDS
SECONDS=0
. selftests/system/demo/steps.sh
life_after=1
will "the first" 100
will "the second" 11
plan "a demo"
step
SECONDS=$((SECONDS + 3))
echo "said" | indent
step
step_done
keep_times
S
export KVGPU_CACHE=$work/cache
bash -eu "$work/steps" >"$work/out" 2>&1 && head -n 1 "$work/out" | grep -q '2 steps\. It never ran on this machine; an estimate .* 111 s' &&
	grep -qx '1/2  the first' "$work/out" && grep -qx '     1/2 took 3 s' "$work/out" && grep -qx '     said' "$work/out" && ! grep -q $'\r' "$work/out"
result $? "a demo's steps have numbers and times, and a log has no sign of life" "$work/out"
bash -eu "$work/steps" >"$work/out" 2>&1 && head -n 1 "$work/out" | grep -qE "2 steps\. The last time on this machine it took 3 s \([0-9]{4}-"
result $? "the second time it tells how long the first took" "$work/out"

# ----------------------------------------------- check.sh: wrong variables, second runs, interrupts

make -s check PART=nope >"$work/out" 2>&1
result "$([ $? = 2 ] && grep -q 'knows no variable PART; it knows: .*PARTS' "$work/out"; echo $?)" "make check: a variable that it does not know is told" "$work/out"
mkdir -p "$work/cache/check"
(
	flock 8
	echo "a check runs here already (process 7)" >&8
	KVGPU_CACHE=$work/cache timeout 20 selftests/check.sh quick native >"$work/out" 2>&1
	[ $? = 1 ] && grep -q 'runs here already (process 7)' "$work/out"
) 8>"$work/cache/check/running"
result $? "a second check with beds says that one runs, and ends" "$work/out"
(
	mkdir -p build
	exec 8>>build/check.running
	flock -n 8	# fails if the check that runs this test has the lock: that is held, too, which is all this test needs
	KVGPU_CACHE=$work/cache timeout 20 selftests/check.sh fast tools >"$work/out" 2>&1
	[ $? = 1 ] && grep -q 'runs in this tree already' "$work/out"
)
result $? "a second check in the same tree says that one runs, and ends" "$work/out"

# check.sh in a made-up tree with three parts; it is interrupted in the second
mkdir -p "$work/tree/selftests" "$work/tree/testbed"
cp selftests/{check,products,tap}.sh "$work/tree/selftests/"
printf '#!/bin/sh\n' >"$work/tree/testbed/tb" && chmod +x "$work/tree/testbed/tb"
{
	sed '/^run_lint/,$d' selftests/parts.sh
	printf 'part one fqb all 1 tap_step "the first" 20 true\npart two fq all 1 tap_step "the second" 60 sh -c ": >began; sleep 50"\npart three fq all 1 tap_step "the third" 20 true\n'
} >"$work/tree/selftests/parts.sh"
check_there() { cd "$work/tree" && KVGPU_CACHE=$work/cache3 KVGPU_CHECK_LANES=1 exec timeout --foreground -k 40 60 selftests/check.sh fast >"$work/out" 2>&1; }
(check_there) &
for ((tries = 0; tries < 300; tries++)); do [ ! -e "$work/tree/began" ] || break; sleep 0.1; done
kill $!		# timeout passes the signal on to check.sh
wait $!
flock -n "$work/tree/build/check.running" true
result $? "an interrupted check leaves nothing that keeps the next one out" "$work/out"
grep -qE '^three +- +- +- +-$' "$work/out" && grep -qE '^two +FAILED +the second$' "$work/tree/build/check/index.txt" && grep -qE '^three +not run +the third$' "$work/tree/build/check/index.txt"
result $? "an interrupted check tells in its table and index what was not run" "$work/out"
sed -i 's/; sleep 50//' "$work/tree/selftests/parts.sh"
(check_there) && tail -n 1 "$work/out" | grep -qx '3 passed, 0 failed, 0 skipped' && grep -qE '^two +FAILED' "$work/tree/build/check.before/index.txt"
result $? "the next one passes, and what was seen before is kept" "$work/out"
awk -F '\t' '$3 == "fast" && $6 == 1 && $7 == 0 { n[$4]++ } END { exit !(n["one"] == 2 && n["two"] == 1 && n["three"] == 1) }' "$work/cache3/check/runs.tsv"
result $? "each run of a part is recorded, one that was interrupted is not" "$work/cache3/check/runs.tsv"
cat >"$work/tb" <<'EOF'
#!/bin/sh
echo "$*" >>"${0%/*}/asked"
EOF
chmod +x "$work/tb"
TB=$work/tb bash -c '. selftests/model/native/cell.sh; bed_must_be_free; trap bed_down EXIT; exit 0' >"$work/out" 2>&1
result "$([ $? = 1 ] && grep -q "^not ok 1 - bed: the bed 'native' is free # it is up" "$work/out" && ! grep -q down "$work/asked"; echo $?)" \
	"a suite does not end a bed that it has not begun" "$work/out"
printf '1..%d\n' $results
[ $failures -eq 0 ]
