# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by check.sh. Defines the parts that the checks consist of, each by one call of "part":
#
#   part NAME MODES PRODUCTS SECONDS COMMAND...
#
# MODES has letters. f: check-fast runs the part. q: check and check-long run it. l: only check-long
# runs it. c: it is a command of its own, as make demo, which check-long runs with STALE=1 alone.
# b: other parts need what this one builds, so it runs before them and alone. s: the part starts
# servers; only one check with such parts runs at a time with one cache, because the beds of two
# checks would have the same names. p: the part takes of what it has only what the products need that
# are checked. PRODUCTS are those that the part judges, with commas, not all that it runs with;
# products.sh has the words. SECONDS is how long the part takes on two idle CPUs, until a run
# on this machine has measured it. A part should take 40 minutes at most. COMMAND calls tap_run or
# tap_step.

# shellcheck source=selftests/products.sh
. selftests/products.sh
narrow=all	# the products that are checked

part_names=()
declare -A part_modes part_products part_seconds part_command

part()
{
	part_names+=("$1")
	part_modes[$1]=$2 part_products[$1]=$3 part_seconds[$1]=$4
	part_command[$1]=$(printf '%q ' "${@:5}")
}

# seconds for a test program or command that has no limit of its own; if it needs longer, split it
# into several parts
LIMIT=3600

# ------------------------------------------------------------------ commands of parts with several steps
# Some call make again for what the part "builds" has built, because a part may be run alone. Parts that
# run side by side take turns to make: two makes at once in one folder spoil each other's files.
made() { mkdir -p "$KVGPU_CACHE/check" && flock "$KVGPU_CACHE/check/make.lock" make -s -j2 "$@"; }

run_lint()
{
	tap_run "what is counted" 60 selftests/tap_test.sh
	tap_run "which parts judge which files" 300 selftests/products_test.sh
	tap_run "comments" 60 env PYTHONDONTWRITEBYTECODE=1 selftests/tooling/lint/comments_test.py
	tap_run "what lint finds" 300 env PYTHONDONTWRITEBYTECODE=1 selftests/tooling/lint/lint_test.py
	tap_step "lint" $LIMIT make -s lint
	tap_step "documents from sources" $LIMIT make -s docs
	tap_step "pictures of docs/ are current" $LIMIT make -s check-pictures
}

# judged_by PROGRAM: sets $products to those that a unit test or fuzz target judges
judged_by() { [[ $1 =~ .*/(unit|unit-[a-z]+|fuzz)/(.*) ]] && products_of "${BASH_REMATCH[2]}"; }

# programs unit|fuzz: prints the unit tests or fuzz targets that judge a product that is checked
programs()
{
	local t
	for t in $(make -s "print-$1-tests"); do
		judged_by "$t"
		! meets "$products" "$narrow" || printf '%s ' "$t"
	done
}

# only_for PRODUCTS COMMAND...: runs the command if one of the products is checked
only_for() { ! meets "$1" "$narrow" || "${@:2}"; }

run_builds()
{
	local -a targets=(unit-tests "UNIT_BINS=$(programs unit)" fuzz-tests "FUZZ_BINS=$(programs fuzz)")
	! meets module "$narrow" || targets+=(harness firmware firmware-asan top-asan)
	! meets cuda,remote "$narrow" || targets+=(cuda nvml-inprocess)
	! meets remote "$narrow" || targets+=(remote remote-arm remote-flood cluster)
	! meets model "$narrow" || targets+=(model plugin)
	tap_step "build model, plugin, remoting, tools and tests" $LIMIT make -s -j2 "${targets[@]}"
}

run_unit_tests()
{
	local t name all
	all=$(programs unit)
	made unit-tests "UNIT_BINS=$all"
	for t in $all; do
		name=${t##*/unit/}
		[ "$name" != "$t" ] || name=unit-${t##*/unit-}	# unit-tsan, unit-late: built with TSan, or with late.c of flakes/
		tap_run "unit $name" 300 env CMOCKA_MESSAGE_OUTPUT=TAP "$t"
	done
}

# run_fuzz SECONDS [PRODUCT]: runs each fuzz target for SECONDS, or those of which PRODUCT is the first
run_fuzz()
{
	local t all
	all=$(programs fuzz)
	made fuzz-tests "FUZZ_BINS=$all"
	for t in $all; do
		judged_by "$t"
		[[ -n ${2-} && $products, != "$2",* ]] || tap_step "fuzz ${t#*/fuzz/} ($1 s)" $(($1 + 120)) selftests/fuzz.sh "$t" "$1"
	done
}

# run_flood PIECE: sends random frames to the decoder of remote/server. The seed is made of the day
# and PIECE (1 to 4).
run_flood()
{
	local seed=$(($(date +%s) / 86400 * 4 + $1))
	made unit-tests
	tap_run "remoting: 250 million frames, seed $seed" $LIMIT env KVGPU_FLOOD=250000000 KVGPU_FLOOD_SEED=$seed \
		"$(make -s print-unit-tests | grep /unit/remote/server/flood_test)"
}

# run_answers PIECE: sends random answers and events to the client of remote/. The seed is made of the
# day and PIECE (1 to 4): with one server where PIECE is even, with two where it is odd.
run_answers()
{
	local seed=$(($(date +%s) / 86400 * 4 + $1))
	made unit-tests
	tap_run "remoting: 25 million answers, seed $seed" $LIMIT env KVGPU_FLOOD=25000000 KVGPU_FLOOD_SEED=$seed \
		"$(make -s print-unit-tests | grep /unit/remote/client/answers_test)"
}

run_seeds()
{
	local t
	made unit-tests
	for t in $(make -s print-unit-tests | grep -E '/unit/sched/(cap|fluid|kept|share|wake)_test$'); do
		tap_run "unit sched/${t##*/}, 12 seeds" $LIMIT env CMOCKA_MESSAGE_OUTPUT=TAP SCHED_TEST_SEEDS=12 "$t"
	done
}

# run_firmware: tests kvgpu-firmware on the nouveau.ko of the test bed's kernels, out of the server's
# root file system in the cache
run_firmware()
{
	local release f
	local -a nouveau=()
	made firmware-asan
	for release in $(testbed/tb kernels | cut -d' ' -f2); do
		for f in "$KVGPU_CACHE"/testbed/server-*/root/usr/lib/modules/"$release"/kernel/drivers/gpu/drm/nouveau/nouveau.ko*; do
			[ -f "$f" ] && nouveau+=("$f") && break
		done
	done
	tap_run "kvgpu-firmware" 300 selftests/module/firmware/firmware_test.sh "$(make -s print-firmware-asan)" "${nouveau[@]}"
}

run_tools()
{
	made top-asan firmware cluster "$(make -s print-link)"
	only_for module,cuda,remote tap_run "command lines and man pages of all tools" 120 selftests/module/tools/pages_test.py "$(dirname "$(make -s print-top-asan)")" \
		"$(dirname "$(make -s print-firmware)")" "$(make -s print-remote)"
	only_for module tap_run "kvgpu-top" 300 selftests/module/tools/top_test.sh "$(make -s print-top-asan)"
	only_for module tap_run "kvgpu-profile" 300 selftests/module/tools/profile_test.sh
	only_for module tap_run "kvgpu-report" 120 selftests/module/tools/report_test.sh
	only_for module tap_run "kvgpu-verify, without a card" 120 selftests/module/tools/verify_test.py
	only_for module tap_run "kvgpu-card, without a card" 120 selftests/module/tools/card_test.py
	only_for cuda,remote tap_run "cuda-info" 300 selftests/cuda/info.sh "$(make -s cuda-inprocess)"
	only_for system tap_run "make bench: its report" 120 env PYTHONDONTWRITEBYTECODE=1 selftests/system/bench/report_test.py
	only_for module tap_run "a hostile guest that is killed" 120 env PYTHONDONTWRITEBYTECODE=1 selftests/module/hostile/inside_test.py
	only_for module tap_run "debug kernel: complaints of its log" 60 selftests/module/debug/kernel_log_test.sh
	only_for system tap_run "test bed: the VM that stays open" 120 env PYTHONDONTWRITEBYTECODE=1 selftests/system/testbed/hold_vm_test.py
	only_for system tap_run "make bench-shares: which windows were disturbed" 120 env PYTHONDONTWRITEBYTECODE=1 selftests/system/bench/disturbed_test.py
	only_for system,remote tap_run "make bench-remote: its report" 120 env PYTHONDONTWRITEBYTECODE=1 selftests/system/bench/remote_report_test.py
	only_for system,remote tap_run "make bench-link: its network" 120 env PYTHONDONTWRITEBYTECODE=1 selftests/system/bench/link_test.py "$(make -s print-link)"
	only_for system,remote tap_run "make bench-modern: its tables" 120 env PYTHONDONTWRITEBYTECODE=1 selftests/system/bench/modern/run_test.py "$(make -s print-link)"
}

run_monitoring()
{
	local suite
	for suite in bookworm trixie; do
		tap_run "Prometheus of $suite on kvgpu-top: metrics, alerts, console" 900 env KVGPU_SUITE=$suite selftests/module/monitoring/run.sh
	done
}

run_clouds()
{
	tap_run "XML of libvirt-xml/ by both Debians' schemas" 900 selftests/module/tools/xml_test.sh
	tap_run "files of sysfs that clouds read" 300 selftests/module/clouds/sysfs_test.sh
}

run_libraries()
{
	made cuda
	tap_run "libcuda.so.1: its symbols" 120 selftests/cuda/symbols.sh "$(make -s print-cuda)"
	tap_run "the remote libcuda.so.1: its symbols" 120 selftests/cuda/symbols.sh "$(make -s remote)/libcuda.so.1"
	tap_step "the remote libraries want glibc 2.28 at most" 60 remote/older/floor.sh "$(make -s print-remote)"/lib{cuda,nvidia-ml}.so.1
	tap_run "libnvidia-ml.so.1: its symbols" 120 selftests/cuda/symbols.sh "$(dirname "$(make -s print-cuda)")/libnvidia-ml.so.1"
	tap_run "libcudart.so.11.0: its symbols" 120 selftests/cuda/symbols.sh "$(make -s print-cudart)"
	tap_run "CUDA: binary interface of the toolkit's headers" 300 selftests/cuda/abi.sh
	tap_run "CUDA: memory that leaves the GPU and comes back" 300 env CMOCKA_MESSAGE_OUTPUT=TAP "$(make -s cuda-moved)"
	tap_run "CUDA: nvcc's default" 300 selftests/cuda/dev.sh
	tap_run "CUDA: a set-user-ID program's environment" 300 selftests/cuda/setuid.sh "$(make -s print-cuda)" "$(made cuda-inprocess)/libcuda.so.1"
}

run_kernels()
{
	tap_run "kernels: what passed, and what may fail" 300 selftests/module/kernels/test.sh
	tap_step "docs/supported.md says what docs/kernels.tsv says" 60 selftests/module/kernels/supported.sh check
	tap_run "kvgpu.ko on kernels that it does not know" 600 selftests/module/kbuild/run.sh
}

run_shown()
{
	tap_run "documents: their command blocks" 300 env PYTHONDONTWRITEBYTECODE=1 selftests/system/documents/run.py quick
	tap_run "demo: what it and make show" 300 selftests/system/demo/shown_test.sh
	tap_run "fresh machines: README.md and the table" 300 env PYTHONDONTWRITEBYTECODE=1 selftests/system/fresh/table_test.py
}

# run_hostile: a hostile VMM, many tenants and hostile guests, one after the other in one server; then a VMM on the oldest kernel
run_hostile()
{
	local tb=testbed/tb
	trap '$tb down >/dev/null 2>&1; exit 130' INT TERM
	tap_step "a server whose card kvgpu.ko has" 600 $tb up --driver kvgpu --mem 5G --append iomem=relaxed
	export KVGPU_BED_GIVEN=yes
	tap_run "vfio: a hostile VMM against kvgpu.ko" $LIMIT selftests/module/vfio/run.sh quick
	tap_run "tenants: many vGPUs on one card" $LIMIT selftests/module/tenants/run.sh quick
	tap_run "hostile: guests that attack" $LIMIT selftests/module/hostile/run.sh quick
	unset KVGPU_BED_GIVEN
	$tb down >/dev/null 2>&1
	trap - INT TERM
	tap_run "vfio: a hostile VMM, on the oldest kernel" $LIMIT selftests/module/vfio/run.sh short
}

# run_boards: stock nouveau on dies of three boards, then CUDA in two guests on each board
run_boards()
{
	local board
	tap_run "native: stock nouveau on the model's boards" $LIMIT selftests/model/native/run.sh boards
	for board in k20m k20x k40m; do
		tap_run "guest: CUDA on vGPUs of a $board" $LIMIT env KERNELS=base BOARD=$board selftests/system/guest/run.sh quick cuda
	done
}

# ------------------------------------------------------------------ parts of check-fast and check

FUZZ_SECONDS=${FUZZ_SECONDS:-}

part lint	fq	all	20	run_lint
part lint-long	q	module,tooling	20	tap_step "lint: checkpatch and the pure rooms" $LIMIT make -s lint-long
part builds	fqbp	module,cuda,remote,model	60	run_builds
part module	fqb	module	60	tap_step "kvgpu.ko builds" $LIMIT make -s module
part unit	fqp	module,cuda,remote,model	100	run_unit_tests
part harness	fq	module	130	tap_run "harness: mdev without a VM" $LIMIT selftests/module/harness/run.sh quick
part fuzz	fqp	module,cuda,remote,model	90	run_fuzz "${FUZZ_SECONDS:-2}"
part layout	fq	module,model,cuda	5	tap_run "encodings that the compiler refuses" 120 selftests/module/layout/run.sh
part firmware	fq	module	5	run_firmware
part tools	fqp	module,cuda,remote,system	15	run_tools
part libraries	fq	cuda,remote	15	run_libraries
part remote	q	remote,cuda,model	60	tap_run "remoting: programs on a remote libcuda.so.1" $LIMIT selftests/remote/run.sh quick
part nvml	q	cuda,remote,model,pages	20	tap_run "nvidia-smi, nvtop and others on libnvidia-ml.so.1" 300 selftests/cuda/nvml.sh
part numba	q	cuda,model	25	tap_run "numba on libcuda.so.1" 300 selftests/cuda/numba.sh
part runtimes q	remote,cuda,model	40	tap_run "remoting: NVIDIA's own CUDA runtimes" $LIMIT selftests/remote/runtimes.sh
part cudart-quick q	cuda,model	30	tap_run "CUDA: what programs of others found" 600 selftests/cuda/runtime/run.sh quick
part cuda-libraries q	cuda,model 30	tap_run "CUDA: NVIDIA's libraries on a GPU inside the process" 600 selftests/cuda/libraries/here.sh
part remote-flood q	remote	10	tap_run "remoting: 200,000 frames that attack a whole server" 600 selftests/remote/flood.sh 200000
part cluster	q	remote,cuda,model	70	tap_run "remoting: programs on several GPUs, kvgpu-run" $LIMIT selftests/remote/cluster/run.sh quick
part remote-arm q	remote	15	tap_run "remoting: clients for arm64" 300 selftests/remote/run.sh arm
part remote-older q	remote	15	tap_run "remoting: a client of an older system, without root" 600 selftests/remote/older.sh
part remote-containers q	remote	8	tap_run "remoting: what containers and pods get" 300 selftests/remote/containers.sh quick
part kernels	q	module,tooling	30	run_kernels
part shown	fq	all	20	run_shown
part modules	q	module	320	tap_run "kvgpu.ko builds for all kernels" $LIMIT selftests/module/kernels/build.sh quick
part archive	q	system	60	tap_run "set-up: a rehearsal against an archive that moves on" $LIMIT selftests/system/testbed/archive_test.sh
part places	q	system	60	tap_run "set-up: the tree in other places" $LIMIT selftests/system/testbed/place_test.sh quick
part fresh-cells	q	system	35	tap_run "fresh machines: cells" $LIMIT selftests/system/fresh/fresh_test.sh
part clouds	q	module	10	run_clouds
part install	q	module,system,pages	60	tap_run "install: as an admin does, and start at boot" $LIMIT selftests/system/install/run.sh quick
part testbed	qs	system,model	120	tap_run "test bed" $LIMIT selftests/system/testbed/tb_test.sh quick
part native	qs	model,cuda,system	357	tap_run "native: stock nouveau on the model" $LIMIT selftests/model/native/run.sh quick
part guest	qs	module,model,cuda,system	382	tap_run "guest: stock nouveau in guests, on vGPUs of kvgpu.ko" $LIMIT selftests/system/guest/run.sh quick
part remote-tiny	qs	remote,cuda,module,model	125	tap_run "remoting: a VM on another VM's GPU, tiny guests" $LIMIT selftests/remote/tiny-vms.sh
part hostile	qs	module,model	300	run_hostile

# ------------------------------------------------------------------ parts of check-long alone

part fuzz-model	l	model	1400	run_fuzz "${FUZZ_SECONDS:-120}" model
part fuzz-module l	module	1000	run_fuzz "${FUZZ_SECONDS:-120}" module
part fuzz-cuda	l	cuda	150	run_fuzz "${FUZZ_SECONDS:-120}" cuda
part fuzz-remote l	remote	900	run_fuzz "${FUZZ_SECONDS:-120}" remote
part seeds	l	module	400	run_seeds
part disasm	l	model	1500	tap_run "decoder against nvdisasm" $LIMIT selftests/model/disasm/run.sh long
part cudart	l	cuda,model	900	tap_run "libcudart.so.11.0: what nvcc makes" $LIMIT selftests/cuda/runtime/run.sh
part tenant	l	cuda,model,pages	240	tap_run "CUDA as a tenant types it, on a GPU inside the process" $LIMIT selftests/cuda/tenant/here.sh
part programs	l	cuda,model	1500	tap_run "CUDA programs on a GPU inside the process" $LIMIT selftests/cuda/programs/here.sh
part remote-long l	remote,cuda,model	900	tap_run "remoting: programs on a remote libcuda.so.1" $LIMIT selftests/remote/run.sh long
part cluster-long l	remote,cuda,model	400	tap_run "remoting: programs on several GPUs, kvgpu-run, also over both MPIs of Debian's" $LIMIT selftests/remote/cluster/run.sh long
part cluster-cut l	remote	170	tap_run "remoting: a cluster whose network is cut" $LIMIT selftests/remote/cluster/cut.sh
part cluster-many l	remote	50	tap_run "remoting: 64 proxies" 900 selftests/remote/cluster/many.sh
part slurm l	remote	330	tap_run "remoting: kvgpu-run in jobs of Slurm" $LIMIT selftests/remote/slurm/run.sh
part remote-vms-long ls	remote,cuda,module,model,system,pages	1200	tap_run "remoting: a VM on another VM's GPU" $LIMIT selftests/remote/vms.sh long
part remote-arm-long l	remote	900	tap_run "remoting: clients for arm64" $LIMIT selftests/remote/run.sh arm-long
part remote-podman l	remote	40	tap_run "remoting: podman of Debian 13" 600 selftests/remote/containers.sh long
part chains	l	cuda,model	900	tap_run "the CUDA programs of make bench, the same way" $LIMIT selftests/cuda/chains/here.sh
part nova	l	module	30	tap_run "Nova's functions for vGPUs on a copy of sysfs" 900 selftests/module/clouds/nova.sh
part monitoring l	module	60	run_monitoring
part install-packages l	module,cuda,remote,system,pages	900	tap_run "install: as an admin does, and start at boot" $LIMIT selftests/system/install/run.sh long package
part install-apt l	module,cuda,remote,system,pages	1500	tap_run "install: as an admin does, and start at boot" $LIMIT selftests/system/install/run.sh long apt_roots
part install-apt-machine ls	module,model,cuda,remote,system,pages	900	tap_run "install: as an admin does, and start at boot" $LIMIT selftests/system/install/run.sh long apt_machine
part install-kernels l	module,system,pages	900	tap_run "install: as an admin does, and start at boot" $LIMIT selftests/system/install/run.sh long kernels
part install-machine ls	module,model,system,pages	1200	tap_run "install: as an admin does, and start at boot" $LIMIT selftests/system/install/run.sh long machine
part install-secureboot ls	module,model,system,pages	700	tap_run "install: as an admin does, and start at boot" $LIMIT selftests/system/install/run.sh long secureboot
part verify ls	module,model	400	tap_run "kvgpu-verify on cards that nobody has POSTed, and on defective ones" $LIMIT selftests/module/verify/run.sh
part harness-long l	module	1500	tap_run "harness: mdev without a VM" $LIMIT selftests/module/harness/run.sh long
for piece in 1 2 3 4; do
	part harness-volume-$piece l	module 900 tap_run "harness: ten million steps, a hundred million hostile operations" $LIMIT env JOBS=1 selftests/module/harness/volume.sh $piece 4
done
for piece in 1 2 3 4; do part remote-flood-$piece l	remote 400 run_flood $piece; done
for piece in 1 2 3 4; do part remote-answers-$piece l	remote 400 run_answers $piece; done
part remote-flood-server l	remote 900	tap_run "remoting: 100 million frames that attack a whole server" $LIMIT selftests/remote/flood.sh 100000000
part modules-long l	module	320	tap_run "kvgpu.ko builds for all kernels" $LIMIT selftests/module/kernels/build.sh long
part matrix	l	module	1500	tap_run "kvgpu.ko builds for what Debian offers" $LIMIT selftests/module/kernels/matrix.sh
part pulled	l	system	600	tap_run "set-up: a tree that was built long ago" $LIMIT selftests/system/testbed/pull_test.sh
part untidy	lbs	all	2400	tap_run "the quick check twice, on a machine that is not tidy" 9000 selftests/system/testbed/untidy_test.sh
part places-long ls	system	400	tap_run "set-up: the tree in other places" $LIMIT selftests/system/testbed/place_test.sh long
part documents	ls	all	900	tap_run "documents: their command blocks" $LIMIT env PYTHONDONTWRITEBYTECODE=1 selftests/system/documents/run.py long
part testbed-guests ls	system,model	400	tap_run "test bed" $LIMIT selftests/system/testbed/tb_test.sh long guest end
part testbed-more ls	system,model	900	tap_run "test bed" $LIMIT selftests/system/testbed/tb_test.sh long crash full kernel fresh_setup end
for role in base oldest newest; do
	part native-$role ls	model,system 900 tap_run "native: stock nouveau on the model" $LIMIT env LONG=1 \
		selftests/model/native/run.sh $role k20m bare load client self-test mesa attacks engines reload
	part native-$role-cuda ls	model,cuda 1200 tap_run "native: stock nouveau on the model" $LIMIT env LONG=1 \
		selftests/model/native/run.sh $role k20m load cuda
	part vfio-$role ls	module,model 700 tap_run "vfio: a hostile VMM against kvgpu.ko" $LIMIT env KERNELS=$role selftests/module/vfio/run.sh long
done
part native-flat ls	model	300	tap_run "native: stock nouveau on the model" $LIMIT env LONG=1 \
	selftests/model/native/run.sh base flat bare load client:copy,sync,sleep,fault,switch,exec attacks
part native-libraries ls	model,cuda 320	tap_run "native: stock nouveau on the model" $LIMIT env LONG=1 selftests/model/native/run.sh base k20m load libraries
part native-compute ls	model	1800	tap_run "native: stock nouveau on the model" $LIMIT env LONG=1 selftests/model/native/run.sh base k20m load opencl vulkan clpeak
for role in base newest; do
	while read -r name parts; do
		# shellcheck disable=SC2086
		part "guest-$role-$name" ls	module,model,cuda,system 1200 tap_run "guest: stock nouveau in guests, on vGPUs of kvgpu.ko" $LIMIT env KERNELS=$role selftests/system/guest/run.sh long $parts
	done <<-'EOT'
	client instances client steady reload
	opencl opencl
	several several plug kill reboot reset
	cycles cycles unload native
	cuda cuda
	crowd crowd
	paced hang
	EOT
done
part boards	ls	module,model,cuda,system	1800	run_boards
for p in libraries tenant; do
	part guest-$p ls	module,model,cuda,system,pages 1500 tap_run "guest: stock nouveau in guests, on vGPUs of kvgpu.ko" $LIMIT env KERNELS=base selftests/system/guest/run.sh long $p
done
part cards	ls	module,model,system	700	tap_run "guest: a server with two cards" $LIMIT env KERNELS=base selftests/system/guest/run.sh long cards
part lives	ls	module,model,system,pages	900	tap_run "guest: a card's three lives" $LIMIT env KERNELS=base selftests/system/guest/run.sh long lives
part symptoms ls	module,model,system,pages	600	tap_run "guest: what breaks, as docs/admin.md shows it" $LIMIT env KERNELS=base selftests/system/guest/run.sh long symptoms
part tenants-long ls	module,model	900	tap_run "tenants: many vGPUs on one card" $LIMIT selftests/module/tenants/run.sh long
for type in 512m 1g; do
	for seed in 1 2 3; do
		part hostile-$type-$seed ls	module,model 1800 tap_run "hostile: guests that attack" $LIMIT env HOSTILE_TYPES=$type HOSTILE_SEEDS=$seed selftests/module/hostile/run.sh long
	done
done
for kind in registers runlists blocks invalidates bells; do
	part hostile-volume-$kind ls	module,model 2000 tap_run "hostile: one in numbers, beside seven that verify" $LIMIT selftests/module/hostile/run.sh volume $kind
done
part bench	ls	module,model,cuda,system	1200	tap_run "make bench: what each operation costs, against bounds" $LIMIT selftests/system/bench/run.sh
part debug-kernel l	system	900	tap_step "the debug kernel is built" $LIMIT testbed/tb setup --debug-kernel
for p in vfio failnth tenants guest; do
	part debug-$p ls	module,model,system 1500 tap_run "debug: all of it on a kernel with KASAN, lockdep and kmemleak" $LIMIT selftests/module/debug/run.sh $p unload leaks
done
part debug-ends ls	module,model,system 1500 tap_run "debug: all of it on a kernel with KASAN, lockdep and kmemleak" $LIMIT selftests/module/debug/run.sh guest kill reboot unload leaks

# ------------------------------------------------------------------ commands that write passed.tsv themselves

part demo	cs	module,model,cuda,remote,system	600	tap_step "make demo" $LIMIT make -s demo
part bench-shares cs	module,model,system	900	tap_step "make bench-shares" $LIMIT make -s bench-shares
