# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced at the top of the tree by suites that boot servers: not only of this folder, also of guest, hostile, vfio, tenants, debug,
# remote, bench and others. A cell is one server with one kernel and one board of the model.
#
# A suite sets KVGPU_TB_NAME, its bed's name, and part_of_check, mode, kernel, board and cell_name. build_programs sets OUT, bed_up sets
# share. finish and bed_must_be_free end the suite. SIGINT and SIGTERM end the bed; for other ends the suite has a trap.

# shellcheck source=selftests/kernels.sh
. selftests/kernels.sh

export KVGPU_TB_NAME=${KVGPU_TB_NAME:-native}
TB=${TB:-testbed/tb}
LONG=${LONG:-}
RELOADS=${RELOADS:-20}
results=0 failures=0 cell_name='' kernel='' board='' cell_over=''
mode=''		# quick or long; empty for what is run by hand
declare -A kernel_failures=() kernel_ran=() kernel_bugs=()

trap 'bed_down; exit 130' INT TERM

# kernel_of ROLE: the suite that plays it (testbed/packages/kernels.list); any other name of a kernel stays as it is
kernel_of() { sed 's/#.*//' testbed/packages/kernels.list | awk -v r="$1" '$2 == r { r = $1 } END { print r }'; }

# ------------------------------------------------------------------ results

result()
{
	results=$((results + 1))
	case $1 in
	0) printf 'ok %d - %s: %s%s\n' $results "$cell_name" "$2" "${3:+ # $3}" ;;
	*) printf 'not ok %d - %s: %s%s\n' $results "$cell_name" "$2" "${3:+ # $3}"; count_failure ;;
	esac
}

count_failure()
{
	failures=$((failures + 1))
	kernel_failures[${kernel:-none}]=$((${kernel_failures[${kernel:-none}]:-0} + 1))
}

# release_of KERNEL: the version that the test bed has of this suite
release_of() { $TB kernels </dev/null | awk -v k="$1" '$1 == k { print $2 }'; }

# ran_on: notes the kernel of this server, for finish()
ran_on() { kernel_ran[$kernel]=$(LIMIT=60 in_server uname -r); }

# excused WHAT: true if check may go on without this kernel (kernel_excuse); prints the reason
excused() { kernel_excuse "$mode" "${part_of_check:-none}" "$kernel" "$(release_of "$kernel")" "$1"; }

note() { printf '# %s\n' "$*"; }

finish()
{
	local k bug outcome
	printf '1..%d\n' $results
	for k in "${!kernel_ran[@]}"; do
		[ -n "$mode" ] && [ -n "${part_of_check-}" ] && [ -n "${kernel_ran[$k]}" ] || continue
		kernel_record "$part_of_check" "$mode" "$k" "${kernel_ran[$k]}" \
			"$([ "${kernel_failures[$k]:-0}" = 0 ] && [ "${kernel_failures[none]:-0}" = 0 ] && echo passed || echo failed)"
		while IFS=$'\t' read -r bug outcome; do
			[ -z "$bug" ] || kernel_record "bug:$bug" "$mode" "$k" "${kernel_ran[$k]}" "$outcome"
		done <<<"${kernel_bugs[$k]-}"
	done
	[ $failures -eq 0 ] && [ $results -gt 0 ]
	exit
}

# note_bug OUTCOME BUG: notes for finish() whether a known bug of others is there on this kernel or is
# gone. Where a run saw both, it is there.
note_bug()
{
	local known=${kernel_bugs[$kernel]-}
	case $'\n'$known in
	*$'\n'"$2"$'\tfails as known\n'*) return ;;
	*$'\n'"$2"$'\tgone\n'*) known=$(grep -vxF "$2"$'\tgone' <<<"$known")$'\n' ;;
	esac
	kernel_bugs[$kernel]=${known#$'\n'}$2$'\t'$1$'\n'
}

# known_bug STATUS NAME BUG: one test, NAME, that passes where a bug of others is gone. STATUS 0: the bug
# is there, and the test fails as known.
known_bug()
{
	results=$((results + 1))
	case $1 in
	0) printf 'not ok %d - %s: %s # XFAIL %s\n' $results "$cell_name" "$2" "$3"; note_bug 'fails as known' "$3" ;;
	*) printf 'ok %d - %s: %s # GONE %s\n' $results "$cell_name" "$2" "$3"; note_bug gone "$3" ;;
	esac
}

# relay NAME RC < TAP: hands a program's lines on under our numbers; that it died or left its plan
# unfilled is a failure, too
relay()
{
	local name=$1 rc=$2 line plan=-1 seen=0 bad=0

	while IFS= read -r line; do
		case $line in
		'ok '*|'not ok '*)
			seen=$((seen + 1)) results=$((results + 1))
			case $line in
			'not ok '*'# XFAIL '*) note_bug 'fails as known' "${line#*\# XFAIL }" ;;
			'ok '*'# GONE '*) note_bug gone "${line#*\# GONE }" ;;
			'not ok '*) bad=$((bad + 1)); count_failure ;;
			esac
			printf '%s %d - %s: %s\n' "${line%%ok *}ok" $results "$cell_name" "${line#*ok *- }" ;;
		1..*) plan=${line#1..} ;;
		*) note "$line" ;;
		esac
	done
	if [ "$rc" -ne 0 ] && [ $bad -eq 0 ]; then
		result 1 "$name" "exit code $rc after $seen tests"
	elif [ "$plan" -ne $seen ]; then
		result 1 "$name" "planned $plan tests, ran $seen"
	fi
}

# ------------------------------------------------------------------ the bed

# build_programs [FOLDER...]: builds the programs of these folders of selftests (system/client, model/attacks,
# model/mesa and system/bench) in one folder for all suites, one suite at a time. Sets OUT: this bed's folder for
# results, with links to the programs.
build_programs()
{
	local dir built

	[ $# -gt 0 ] || set -- system/client model/attacks model/mesa system/bench
	built=$(dirname "$(make -s --no-print-directory print-model)")/../native
	mkdir -p "$built"
	built=$(readlink -f "$built")
	OUT=$built-$KVGPU_TB_NAME
	mkdir -p "$OUT"
	for dir; do
		if ! flock "$built" $TB build-exec -- make -s -j2 -C "selftests/$dir" "OUT=$built" >"$OUT/make.log" 2>&1; then
			sed 's/^/# /' "$OUT/make.log"
			cell_name=build
			result 1 "programs of selftests/$dir"
			return 1
		fi
	done
	find "$built" -mindepth 1 -maxdepth 1 ! -name '*.log' -exec ln -sfn -t "$OUT" {} +
}

in_server() { timeout --kill-after=10 "${LIMIT:-300}" $TB run -- "$@" </dev/null; }

bed_up()
{
	local log=$OUT/up.log reason

	if ! $TB up --kernel "$kernel" --mem 5G --driver none --model-args "--board $board" >"$log" 2>&1 </dev/null; then
		sed 's/^/# /' "$log"
		if reason=$(excused "the server does not boot"); then
			result 0 "the server boots" "SKIP $reason"
		else
			result 1 "the server boots"
		fi
		return 1
	fi
	share=$($TB share)
	rm -rf "$share/native"
	mkdir -p "$share/native"
	cp "$OUT"/kvgpu-* selftests/model/mesa/*.sh selftests/model/native/inside/* "$share/native/"
	result 0 "the server boots"
	ran_on
}

# kvgpu_up OPTION...: boots a server whose card kvgpu.ko has. KVGPU_BED_GIVEN: the bed is up, and other suites use it before and after;
# only the module is loaded. $OUT/up.log has the output.
kvgpu_up()
{
	if [ -n "${KVGPU_BED_GIVEN-}" ]; then
		in_server sh -c '[ -e /sys/module/kvgpu ] || insmod /share/kvgpu.ko'
	else
		$TB up --driver kvgpu "$@"
	fi >"$OUT/up.log" 2>&1 </dev/null
}

bed_down() { [ -n "${KVGPU_BED_GIVEN-}" ] || $TB down >/dev/null 2>&1 </dev/null; }

# bed_must_be_free: ends the suite if its bed is up already, because it is another run's. Call it
# before the trap that ends the bed at exit.
bed_must_be_free()
{
	local rc=0
	[ -z "${KVGPU_BED_GIVEN-}" ] || return 0
	$TB status >/dev/null 2>&1 </dev/null || rc=$?
	case $rc in
	0 | 1)
		cell_name=bed
		result 1 "the bed '$KVGPU_TB_NAME' is free" \
			"it is up: another run of this suite, or left by one that was killed; tb down --name $KVGPU_TB_NAME ends it"
		trap - EXIT
		finish ;;
	esac
}

model_stats()
{
	local sock

	sock=$($TB status | awk '$1 == "stats" { print $2 }')
	socat -u "UNIX-CONNECT:$sock" - 2>/dev/null
}

# unanswered: how many accesses of registers no card of this server has answered; "?" if no model says
# so
unanswered()
{
	local sock n sum=

	for sock in $($TB status </dev/null | awk '$1 == "stats" { $1 = ""; print }'); do
		n=$(socat -u "UNIX-CONNECT:$sock" - 2>/dev/null | sed -n 's/.*"pri_errors": \([0-9]*\).*/\1/p')
		[ -n "$n" ] || { echo '?'; return; }
		sum=$((sum + n))
	done
	echo "${sum:-?}"
}

# unanswered_registers: prints these registers, each with the number of such accesses
unanswered_registers()
{
	local sock

	for sock in $($TB status </dev/null | awk '$1 == "stats" { $1 = ""; print }'); do
		socat -u "UNIX-CONNECT:$sock" - 2>/dev/null | jq -j '.unanswered[] | ", \(.reg) \(.accesses)"'
	done
}

# all_answered: one test: each register that drivers and tests used in this server is there and was on;
# else their names. Known: nvkm_fifo_fini() does not wait for an interrupt handler that runs on another
# CPU. Such a handler reads PFIFO's registers while PFIFO is off: 0x2140 and 0x2100, and what bits of the
# answer, 0xbad0da1f, ask for; or 0x2a00, and then it writes there for each bit that is a runlist: five at most.
# Where it read that before, its writes alone are late. And nvkm_fb_preinit() writes the address of its flush page to
# 0x100c10 before nouveau POSTs the card, once a load; nvkm_fb_init() writes it again when the unit is on.
all_answered()
{
	local n late early name="each register that was used is there, and was on"

	n=$(unanswered)
	early=$(unanswered_registers | grep -o '0x100c10 [0-9]*' | awk '{ s += $2 } END { print s + 0 }')
	if [ "$early" -gt 0 ] && [ "$early" -le "$(in_server dmesg | grep -c 'nouveau .*: NVIDIA GK')" ]; then
		known_bug 0 "nouveau touches no unit of a card that nobody has POSTed" "nouveau writes its flush page's address before it POSTs"
		n=$((n - early))
	fi
	late=$(in_server dmesg | grep -cE 'bus: MMIO (read of 00000000 FAULT at 002(100|140|a00)|write of [0-9a-f]+ FAULT at 002a00) . !ENGINE')
	if [ "$n" != '?' ] && [ "${late:-0}" -gt 0 ] && [ "$n" -gt 0 ] && [ "$n" -le $((late * 6)) ]; then
		known_bug 0 "$name" "nouveau stops PFIFO beside its own interrupt handler"
		return
	fi
	[ "$n" = 0 ]
	result $? "$name" "accesses without an answer: $n$(unanswered_registers)"
}

# ------------------------------------------------------------------ the kernel's log

# logged CMD...: runs CMD in the server by logged.sh
logged()
{
	rm -f "$share/native/complaints"
	in_server /share/native/logged.sh /share/native/complaints "$@"
}

# log_check PHASE: one test: dmesg-allow.list explains for this phase what the kernel said in logged()
log_check()
{
	local bad reason

	# logged.sh has not looked at the log if the limit ended the program
	[ -e "$share/native/complaints" ] || in_server /share/native/complaints.sh >"$share/native/complaints"
	bad=$(selftests/model/native/dmesg-filter.sh "$1" selftests/model/native/dmesg-allow.list <"$share/native/complaints")
	if [ -n "$bad" ]; then
		printf '%s\n' "$bad" | head -n 40 | sed 's/^/# kernel: /'
		if reason=$(excused "the kernel complains ($1)"); then
			result 0 "no complaint of the kernel: $1" "SKIP $reason"
			return
		fi
		result 1 "no complaint of the kernel: $1" "$(printf '%s\n' "$bad" | wc -l) lines"
	else
		result 0 "no complaint of the kernel: $1"
	fi
}

# program NAME PHASE LIMIT_S CMD...: a TAP program in the server
program()
{
	local name=$1 phase=$2 LIMIT=$3 log rc

	shift 3
	log=$OUT/program.log
	logged "$@" >"$log" 2>&1
	rc=$?
	relay "$name" $rc <"$log"
	log_check "$phase"
}

# ------------------------------------------------------------------ parts

part_bare()
{
	program "attacks without a driver" bare 240 /share/native/kvgpu-attack bare
}

part_load()
{
	local ms rc reason

	ms=$(LIMIT=90 logged /share/native/load.sh)
	rc=$?
	if [ $rc -ne 0 ] && reason=$(excused "nouveau does not load"); then
		result 0 "nouveau loads, /dev/dri/renderD128 is there" "SKIP $reason"
		unset "kernel_ran[$kernel]"
		cell_over=yes
		return
	fi
	result $rc "nouveau loads, /dev/dri/renderD128 is there" "${ms:-?} ms"
	log_check load
}

part_client()
{
	local tests=$1 t
	local -a options=(--runlists several)

	[ "$board" != flat ] || options=(--runlists one)
	[ -n "$LONG" ] || options+=(--quick)
	if [ -z "$tests" ]; then
		tests=copy,tiled,sync,sleep,channels,groups,cycles,fault,classes,inline,compute,switch,exec,stress
	fi
	for t in ${tests//,/ }; do
		program "client $t" "client-$t" "${LONG:+1}200" /share/native/kvgpu-client "${options[@]}" "$t"
	done
}

part_self_test()
{
	program "client's self-test" client 120 /share/native/kvgpu-client --quick --bytes 16M --self-test copy tiled
}

part_mesa() { program "Mesa" mesa 600 /share/native/mesa.sh /share/native; }

part_opencl() { program "OpenCL" opencl 1500 /share/native/mesa.sh /share/native kernels; }

part_vulkan() { program "Vulkan" vulkan 1500 /share/native/mesa.sh /share/native shaders; }

# Debian's clpeak, bounded by clpeak.sh
part_clpeak()
{
	if selftests/model/mesa/clpeak.sh fetch "$share/native" >"$OUT/clpeak.log" 2>&1; then
		program "clpeak" opencl 1500 /share/native/clpeak.sh run /share/native
	else
		sed 's/^/# /' "$OUT/clpeak.log"
		result 0 "clpeak" "SKIP it cannot be fetched"
	fi
}

# part_cuda [libraries]: all CUDA programs, or those with NVIDIA's libraries
part_cuda()
{
	local rc
	selftests/cuda/stage.sh "$share" "$@" >"$OUT/cuda-stage.log" 2>&1
	rc=$?
	if [ $rc = 77 ]; then
		result 0 "CUDA programs" "SKIP not there: selftests/cuda/toolkit.sh fetch${1:+ $1}"
	elif [ $rc != 0 ]; then
		sed 's/^/# /' "$OUT/cuda-stage.log"
		result 1 "the CUDA libraries and programs are built"
	else
		program "CUDA programs" client-cuda 5400 env KVGPU_PROGRAM_TIMEOUT=600 /share/cuda/programs/run.sh "/share/cuda/lib${1:+:/share/cuda/nvidia}"
	fi
}

part_attacks() { program "attacks beside nouveau" attacks 240 /share/native/kvgpu-attack nouveau; }

# with separate runlists each copy engine must have been busy
part_engines()
{
	local busy i idle=''

	busy=$(model_stats | sed -n 's/.*"engine_busy_ns": \[\(.*\)\].*/\1/p' | tr -d ' ')
	for i in 2 3 4; do
		[ "$(printf '%s' "$busy" | cut -d, -f$i)" -gt 0 ] 2>/dev/null || idle+=" CE$((i - 2))"
	done
	if [ "$board" != flat ]; then
		[ -z "$idle" ]
		result $? "the model saw every copy engine at work" "busy ns: $busy${idle:+; idle:$idle}"
	else
		note "busy ns by engine: $busy"
	fi
}

part_reload()
{
	local out

	out=$(LIMIT=1200 logged /share/native/reload.sh "$RELOADS")
	result $? "nouveau is unloaded and loaded $RELOADS times" "$out"
	log_check reload
}

# cell KERNEL BOARD PART...
cell()
{
	local part began=$SECONDS

	kernel=$(kernel_of "$1") board=$2
	cell_name="$kernel $board"
	shift 2
	cell_over=''
	bed_up || { bed_down; return; }
	for part; do
		[ -z "$cell_over" ] || break
		case $part in
		libraries) part_cuda libraries ;;
		bare | load | mesa | opencl | vulkan | clpeak | cuda | attacks | engines | reload) "part_$part" ;;
		self-test) part_self_test ;;
		client) part_client '' ;;
		client:*) part_client "${part#client:}" ;;
		*) result 1 "part '$part'" "no such part" ;;
		esac
		$TB status >/dev/null 2>&1 || { result 1 "the server survives part $part" "$($TB status 2>&1 | head -n 1)"; break; }
	done
	all_answered
	bed_down
	note "$cell_name took $((SECONDS - began)) s"
}
