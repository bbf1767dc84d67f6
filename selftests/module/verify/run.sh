#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh: kvgpu-verify in servers with cards that nobody has POSTed: a sound one, and eight with a
# defect each. Prints TAP. README.md says what is run. run.sh sound|defects: only that server.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export KVGPU_TB_NAME=${KVGPU_TB_NAME:-verify} PYTHONDONTWRITEBYTECODE=1
# shellcheck source=selftests/model/native/cell.sh
. selftests/model/native/cell.sh
case ${1-} in
'') cells="sound defects" ;;
sound | defects) cells=$1 ;;
*) echo "usage: selftests/module/verify/run.sh [sound|defects]" >&2; exit 2 ;;
esac
# what is wrong with each card, at which stage that has to be told, and words of the cause
defects=(
	"dead-bus|registers|the bus is dead"
	"no-rom|ROM|no VBIOS in the card's ROM"
	"opcode|POST|opcode 0xfe at 0x[0-9a-f]*: unknown opcode"
	"power|bring-up|have the GPCs power"
	"fecs|bring-up|FECS did not"
	"copy|copies|copy engine did not finish"
	"preempt|preempts|preempts come late"
	"runlist|bring-up|runlist [0-9]* was not taken"
)
bed_must_be_free
trap 'bed_down' EXIT
kernel=$(kernel_of base)

# up OPTION...: a server whose cards nobody has POSTed, and in it kvgpu, not loaded yet
up()
{
	local share rc
	if ! $TB up --driver none --kernel "$kernel" --mem 3G --model-args --unposted "$@" >"$OUT/up.log" 2>&1 </dev/null; then
		sed 's/^/# /' "$OUT/up.log"
		result 1 "the server boots"
		return 1
	fi
	share=$($TB share)/verify
	rm -rf "$share"
	mkdir -p "$share/programs"
	cp "$OUT"/kvgpu-{vfio,tenants,client} "$share/programs/"
	cp "$OUT/hostile.flat" "$share/"
	cp "$(make -s print-kvgpu "KERNEL=$kernel")" "$(make -s print-firmware)" selftests/module/verify/inside.sh "$share/"
	cp -r tools/verify "$share/tool"
	LIMIT=900 in_server /share/verify/inside.sh install >"$OUT/install.log" 2>&1
	rc=$?
	result $rc "module, firmware and command are installed" "status $rc; $(tail -n 1 "$OUT/install.log")"
	return $rc
}

# report FOLDER EXPRESSION: what Python makes of the report, called d, and of its stages by name, s
report()
{
	python3 - "$($TB share)/verify/$1/report.json" "$2" <<-'END' 2>/dev/null
		import json, sys
		d = json.load(open(sys.argv[1]))
		s = {x["name"]: x for x in d["stages"]}
		failed = [x for x in d["stages"] if x["status"] == "fail"]
		print(eval(sys.argv[2]))
	END
}

is() # NAME EXPRESSION: one test: the sound card's report makes it True
{
	local said
	said=$(report sound "$2")
	result "$([ "$said" = True ]; echo $?)" "$1" "$said"
}

sound_card()
{
	local model steps
	cell_name='a sound card'
	up || return
	LIMIT=1500 in_server /share/verify/inside.sh verify sound >"$OUT/sound.log" 2>&1
	result $? "kvgpu-verify ends with 0" "$(grep -m 1 FAILED "$OUT/sound.log")"
	mkdir -p build/verify
	cp "$($TB share)"/verify/sound/report.{txt,json} build/verify/ 2>/dev/null || sed 's/^/# /' "$OUT/sound.log"
	is "all stages passed" "' '.join(n for n in s if s[n]['status'] != 'pass') or len(s) == 13"
	is "it was kvgpu that POSTed the card" "s['POST']['facts']['ran_boot_scripts'] and not s['registers']['facts']['posted']"
	steps=$(sed -n '/^static const struct step steps/,/^};/s/^\t{ \("[^"]*",\).*/\1/p' hw/hw.c)
	is "each step of bring-up is told" "set(s['bring-up']['facts']['steps_us']) == {${steps//$'\n'/ }}"
	is "the board has engines, runlists and memory" \
		"len(d['board']['engines']) >= 4 and all(d['board']['pbdma_runlists'][:2]) and sum(d['board']['memory_mib']) == 5120"
	model=$(make -s print-model)
	timeout 20 "$model" --socket "$OUT/board.sock" --vbios "$(dirname "$model")/k20m.rom" --board-file build/verify/report.json 2>&1 | grep -qx ready
	result $? "gk110-model takes the report as a board"
	is "each question is answered, or says what it wants" "len(d['questions']) == 27 and all(d['questions'].values())"
	bed_down
}

defective_cards()
{
	local i=0 line word stage cause said words=''
	for line in "${defects[@]}"; do words+="${line%%|*} "; done
	KVGPU_VERIFY_MODEL=$(make -s print-model)
	export KVGPU_VERIFY_MODEL KVGPU_VERIFY_DEFECTS=$words KVGPU_VERIFY_ROM=$OUT/spoilt.rom
	selftests/module/verify/spoil_rom.py "$(dirname "$KVGPU_VERIFY_MODEL")/k20m.rom" "$KVGPU_VERIFY_ROM"
	cell_name='defects'
	KVGPU_TB_MODEL=$PWD/selftests/module/verify/defective-model up --cards ${#defects[@]} || return
	for line in "${defects[@]}"; do
		i=$((i + 1))
		IFS='|' read -r word stage cause <<<"$line"
		cell_name=$word
		LIMIT=600 in_server env CARD=$i /share/verify/inside.sh verify "$word" --until preempts >"$OUT/$word.log" 2>&1
		result "$([ $? -eq 1 ]; echo $?)" "kvgpu-verify ends with 1"
		said=$(report "$word" "failed[0]['name'] + ': ' + failed[0]['cause']")
		grep -q "^$stage: .*$cause" <<<"$said"
		result $? "the report names the stage $stage and the cause" "$said"
		grep -q "The stage $stage failed" "$($TB share)/verify/$word/report.txt"
		result $? "and so does the page for a person"
	done
	bed_down
}

build_programs module/vfio module/tenants system/client module/hostile || finish
make -s "module-$kernel" firmware model plugin >"$OUT/make.log" 2>&1 || { cell_name=build; result 1 "the module builds" "$(tail -n 1 "$OUT/make.log")"; finish; }
for c in $cells; do
	case $c in
	sound) sound_card ;;
	defects) defective_cards ;;
	esac
done
finish
