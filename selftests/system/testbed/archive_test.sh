#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# archive_test.sh [CASE...]: tests how set-up fetches packages: runs tb's functions against a small
# archive that archive/ makes and serves. The archive gets newer packages, loses files or breaks
# off, and apt is configured for it in many ways. TAP on stdout. apt's configuration and lists and
# the cache are made up, too.
set -u
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
if [ -z "${ARCHIVE_TEST_INSIDE-}" ]; then
	ARCHIVE_TEST_INSIDE=yes exec unshare --mount --propagation private "$(readlink -f "$0")" "$@"
fi
export LC_ALL=C.UTF-8 TB=$PWD/testbed/tb PYTHONDONTWRITEBYTECODE=1
unset http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY APT_CONFIG KVGPU_TB_ARCHIVES O MAKEFLAGS
export KVGPU_TB_FETCH_PAUSE=0 KVGPU_TB_APT_TIMEOUT=10 KVGPU_TB_APT_RETRIES=1
scratch=$(mktemp -d /tmp/kvgpu-arch.XXXXXX)
# shellcheck source=selftests/system/testbed/archive/make.sh
. selftests/system/testbed/archive/make.sh

clean_up()
{
	xargs kill < "$scratch/servers"
	GNUPGHOME=$scratch/gnupg gpgconf --kill all
	umount "$scratch/small"
	rm -rf --one-file-system -- "$scratch"
} > /dev/null 2>&1
trap clean_up EXIT
trap 'exit 130' INT TERM

# -------------------------------------------------------- a made-up machine, and what tests look at

# machine [FAULT...]: makes a configuration of apt without sources, an empty cache, the archive in
# its first state, and these faults of serve.py
machine()
{
	M=$web.$((++machines)) C=$web.$machines/cache
	mkdir -p "$M"/{parts,trusted,conf,lists/partial}
	: > "$M/sources.list"
	cat > "$M/apt.conf" <<-CONF
	Dir::Etc::main "$M/none";
	Dir::Etc::parts "$M/conf";
	Dir::Etc::sourcelist "$M/sources.list";
	Dir::Etc::sourceparts "$M/parts";
	Dir::Etc::trusted "$M/none";
	Dir::Etc::trustedparts "$M/trusted";
	Dir::State::lists "$M/lists";
	CONF
	export APT_CONFIG=$M/apt.conf KVGPU_CACHE=$C
	rm -rf "$web"/{now,next,past}
	cp -al "$scratch/archive.2" "$web/now"
	cp -al "$scratch/archive.3" "$web/next"
	: > "$web/requests"
	: > "$web/faults"
	[ $# -eq 0 ] || printf '%s\n' "$@" > "$web/faults"
	unset KVGPU_TB_FETCH_SECONDS
}

usual_sources()
{
	printf 'deb [signed-by=%s] %s bookworm main\ndeb [signed-by=%s] %s bookworm-security main\n' \
		"$scratch/key.gpg" "$url/debian" "$scratch/key.gpg" "$url/debian-security" > "$M/sources.list"
}

# fetch: fetches the kernels as set-up does; tb's output is in $M/said
fetch()
{
	local status=0
	timeout 300 "$TB" internal-stage with_setup_lock fetch_kernels > "$M/said" 2>&1 < /dev/null || status=$?
	cat "$M/said"
	return $status
}

there() # NUMBER: true if the cache has all three kernels, whole, with that last number, and no unfinished stage
{
	local stage release
	for stage in trixie-backports:9.7 trixie:9.1 bookworm:8.4; do
		release=$(cat "$C"/testbed/kernel-"${stage%:*}"-????????????????/release)
		[ "$release" = "${stage#*:}.$1-amd64" ] || { echo "${stage%:*} is '$release'"; return 1; }
	done
	[ "$(find "$C/testbed" -name '*.deb' | wc -l)" = 12 ] || { find "$C/testbed" -name '*.deb'; return 1; }
	find "$C/testbed" -name '*.deb' -exec dpkg-deb --info {} \; > /dev/null || return 1
	! find "$C/testbed" -maxdepth 1 -name 'tmp.*' | grep .
}

fetched() { fetch && there 2; }
said() { grep -qE -- "$1" "$M/said" || { echo "it does not say '$1'"; return 1; }; }
nothing_there() { ! find "$C/testbed" -maxdepth 1 -name "kernel-$1-????????????????" | grep .; }
asked() { grep -c -- "$1" "$web/requests"; }

try() # TEXT COMMAND...: runs one test, and prints its TAP line without a number
{
	local text=$1
	shift
	machines=$((machines + 10))
	if ("$@") > "$web/output" 2>&1; then
		printf 'ok - %s\n' "$text"
	else
		printf 'not ok - %s\n' "$text"
		sed 's/^/# /' "$web/output" | tail -n 40
	fi
}

# ------------------------------------------------------------------ tests: ways to configure apt

one_line()
{
	machine; usual_sources
	fetched && [ -z "$(ls -A "$M/lists/partial")" ] && [ "$(ls "$M/lists")" = partial ]
}

deb822_stable()
{
	machine
	{
		printf '# a comment\n\nTypes: deb\nEnabled: no\nURIs: %s/zz-other\nSuites: bookworm\nComponents: main\n\n' "$url"
		printf 'Types: deb deb-src\nURIs: %s/debian/\nSuites: stable stable-updates\n# another\nComponents: main contrib\nSigned-By:\n' "$url"
		sed 's/^$/./; s/^/ /' "$scratch/key.asc"
		printf '\nTypes: deb\nURIs: %s/debian-security\nSuites: stable-security\nComponents: main\nSigned-By: %s\n' "$url" "$scratch/key.gpg"
	} > "$M/parts/debian.sources"
	fetched && [ "$(asked zz-other)" = 0 ]
}

machine_key()
{
	machine; usual_sources
	sed -i 's/ \[[^]]*\]//' "$M/sources.list"
	cp "$scratch/key.asc" "$M/trusted/ours.asc"
	fetched
}

only_bookworm()
{
	machine
	printf 'deb [ arch=amd64 signed-by=%s ] %s/debian bookworm main\n' "$scratch/key.gpg" "$url" > "$M/parts/one.list"
	fetched
}

others_beside()
{
	machine; usual_sources
	{
		printf 'deb [trusted=yes] %s/zz-other bookworm main\ndeb [trusted=yes] %s/zz-other trixie main\n' "$url" "$url"
		printf 'deb http://127.0.0.1:9/gone bookworm main\n'
	} >> "$M/sources.list"
	fetched && [ "$(asked 'zz-other.*Packages')" = 0 ]
}

renamed()
{
	machine; usual_sources
	rm -rf "$web/now"
	cp -al "$scratch/archive.renamed" "$web/now"
	fetched
}

behind_proxy()
{
	machine; usual_sources
	sed -i "s,$url,http://archive.invalid," "$M/sources.list"
	printf 'Acquire::http::Proxy "%s/";\n' "$url" > "$M/conf/proxy"
	fetched && [ "$(asked '^GET http://archive.invalid/debian/pool/.*linux-image')" = 3 ]
}

foreign_key()
{
	machine; usual_sources
	sed -i 's/ \[[^]]*\]//' "$M/sources.list"
	! fetch && said 'no Debian archive' && said "apt does not know the archive's key" && nothing_there '*'
}

# find_archives in a script that sources no more of tb's functions than archive.sh asks for
other_scripts()
{
	machine; usual_sources
	sed -i 's/ \[[^]]*\]//' "$M/sources.list"
	! bash -eu -o pipefail -c '. testbed/lib/messages.sh; . testbed/lib/archive.sh; find_archives' > "$M/said" 2>&1 || return 1
	cat "$M/said"
	said 'no Debian archive' && said "apt does not know the archive's key" && ! said 'command not found'
}

# --------------------------------------------- tests: an archive that changes, a network that fails

moves_on()
{
	machine 'move 1 linux-image-9.1.2-amd64'; usual_sources
	fetch || return 1
	said 'round 2 of 3' && [ "$(cat "$C"/testbed/kernel-trixie-????????????????/release)" = 9.1.3-amd64 ] &&
		[ "$(find "$C"/testbed/kernel-trixie-???????????????? -name '*.deb' | grep -c '9\.1\.3')" = 4 ] &&
		[ "$(find "$C"/testbed/kernel-trixie-???????????????? -name '*.deb' | wc -l)" = 4 ]
}

file_lost()
{
	machine 'lose 1 linux-headers-8.4.2-common'; usual_sources
	fetched && said '^tb:       fetching the oldest kernel .bookworm.: E: .*404.*; round 2 of 3$' &&
		said '^tb: fetching the oldest kernel .bookworm.: done in'
}

breaks_off() { machine 'break 1 linux-image-9.1.2'; usual_sources; fetched && grep 'linux-image-9.1.2.*bytes=[1-9]' "$web/requests"; }
index_breaks_off() { machine 'break 2 trixie/main/binary-amd64/Packages'; usual_sources; fetched; }

stalls() { machine 'stall 1 linux-image-9.7.2'; usual_sources; fetched; }

lost_for_good()
{
	machine 'lose 99 linux-kbuild-9.1.2'; usual_sources
	! fetch && said 'round 3 of 3' && [ "$(asked linux-kbuild-9.1.2)" -le 6 ] && nothing_there 'trixie' || return 1
	said 'fetching the base kernel .trixie.: failed' && said 'the command: .*apt-get' && said 'the whole log: .*/log/kernel-trixie-.*log' &&
		said 'a mirror in the middle of its update' && said "run 'tb setup' again" || return 1
	: > "$web/faults"
	fetched
}

too_slow()
{
	machine 'slow 99 linux-image-9.1.2'; usual_sources
	export KVGPU_TB_FETCH_SECONDS=3
	! fetch && said 'not done after 3 s' && said 'too slow' && nothing_there 'trixie'
}

sign_of_life()
{
	machine 'slow 1 linux-image-9.1.2'; usual_sources
	export KVGPU_TB_SIGN_SECONDS=1
	script -qec "'$TB' internal-stage eval 'STEPS=3; with_setup_lock fetch_kernels'" /dev/null < /dev/null > "$M/said" || { cat "$M/said"; return 1; }
	there 2 && said '\[1/3\] fetching the base kernel \(trixie\) \.\.\. [1-9][0-9]* s, [0-9]+ MiB' &&
		said '\[3/3\] fetching the newest kernel .trixie-backports. \.\.\.: done in' || return 1
	machine 'slow 1 linux-image-9.1.2'; usual_sources
	fetched && ! grep -q 'MiB$' "$M/said" && [ "$(grep -c $'\r' "$M/said")" = 0 ]
}

# tb is killed while it fetches an InRelease, an index, a package of the first kernel, or the second
# kernel.
killed()
{
	local at
	machine; usual_sources
	for at in trixie/InRelease trixie/main/binary-amd64/Packages linux-headers-9.1.2-common linux-image-8.4.2; do
		killed_at "$at" || return 1
	done
	[ -n "$(nothing_there trixie || echo it)" ] || return 1
	: > "$web/faults"
	fetched
}

killed_at() # PATTERN: kills tb when it fetches a file that matches, which is made slow; true if no process is left
{
	local pid
	echo "slow 99 $1" > "$web/faults"
	"$TB" internal-stage with_setup_lock fetch_kernels > "$M/said" 2>&1 < /dev/null &
	pid=$!
	for _ in {1..200}; do [ "$(asked "$1")" = 0 ] || break; sleep 0.1; done
	[ "$(asked "$1")" != 0 ] || { cat "$M/said"; return 1; }
	kill -KILL $pid
	wait $pid 2> /dev/null
	for _ in {1..50}; do
		processes_there || return 0
		sleep 0.1
	done
	echo "killed at $1, and this is left:"
	processes_there
	return 1
}

# processes_there: prints set-up's processes that use the cache of this test's machine; false if
# there is none
processes_there()
{
	local environ
	grep -lzs "^KVGPU_CACHE=$C\$" /proc/[0-9]*/environ | while read -r environ; do
		tr '\0' ' ' < "${environ%environ}cmdline" 2> /dev/null | grep -aE 'apt-get|internal-stage|/methods/'
	done | grep .
}

two_at_once()
{
	local pid status=0
	machine 'slow 1 linux-image-9.1.2'; usual_sources
	"$TB" internal-stage with_setup_lock fetch_kernels > "$M/first" 2>&1 < /dev/null &
	pid=$!
	for _ in {1..100}; do [ "$(asked linux-image-9.1.2)" = 0 ] || break; sleep 0.1; done
	fetched || status=$?
	wait $pid && [ $status = 0 ] && said 'another .tb setup. is at work' && [ "$(asked '\.deb ')" = 12 ]
}

# -------------------------------------------------------- tests: a cache that has something already

warm()
{
	machine; usual_sources
	fetched || return 1
	# first the archive is gone, then it has newer packages: nothing must be fetched in either
	# case
	mv "$web/now" "$web/past"
	: > "$web/requests"
	fetched && [ ! -s "$web/requests" ] || return 1
	mv "$web/next" "$web/now"
	fetched && [ ! -s "$web/requests" ] || return 1
	# the epoch, as "tb setup --refresh" writes it
	echo 20350101T000000Z > "$C/testbed/epoch"
	fetch || return 1
	[ "$(find "$C/testbed" -name release -exec cat {} + | sort | xargs)" = "8.4.2-amd64 8.4.3-amd64 9.1.2-amd64 9.1.3-amd64 9.7.2-amd64 9.7.3-amd64" ]
}

refresh_without_network()
{
	local refresh='setup() { with_setup_lock fetch_kernels; }; cmd_setup --refresh'
	machine; usual_sources
	fetched || return 1
	mv "$web/now" "$web/past"
	! "$TB" internal-stage eval "$refresh" || return 1
	: > "$web/requests"
	fetched && [ ! -s "$web/requests" ] || return 1
	# the archive comes back, at first without one kernel's file
	mv "$web/next" "$web/now"
	echo "lose 99 linux-image-9.7.3" > "$web/faults"
	! "$TB" internal-stage eval "$refresh" && fetch || return 1
	: > "$web/faults"
	: > "$web/requests"
	"$TB" internal-stage eval "$refresh" && [ "$(asked '\.deb ')" = 4 ] &&
		[ "$(cat "$("$TB" internal-stage eval 'printf "%s/%s/release" "$STAGES" "$(kernel_stage trixie)"')")" = 9.1.3-amd64 ]
}

older_cache()
{
	machine; usual_sources
	mkdir -p "$C"/testbed/{kernels-0123456789abcdef,tmp.kernels-0123456789abcdef/root,tools-0123456789abcdef/root,tmp.kernel-trixie-0}
	fetched && [ -d "$C/testbed/tools-0123456789abcdef/root" ] || return 1
	mkdir -p "$C/testbed/tmp.debug-0123456789abcdef"
	"$TB" internal-stage eval "RUN=$M/run; prune_stages" && rmdir "$C/testbed/tmp.debug-0123456789abcdef" && there 2 && [ ! -e "$C/testbed/tools-0123456789abcdef" ] && [ ! -e "$C/testbed/kernels-0123456789abcdef" ]
}

full_disk()
{
	machine; usual_sources
	mkdir -p "$scratch/small"
	mount -t tmpfs -o size=20m tmpfs "$scratch/small" || return 1
	export KVGPU_CACHE=$scratch/small/cache
	mkdir -p "$KVGPU_CACHE/testbed"
	! "$TB" internal-stage need_space > "$M/said" 2>&1 || return 1
	cat "$M/said"
	said 'only (19|20) MiB are free below .*/small/cache/testbed, and [56][0-9]{3} are needed there for: kernel trixie,' || return 1
	! "$TB" internal-stage need_space 'machine root 10 20' > "$M/said" 2>&1 && said 'and 30 are needed there for: machine root' || return 1
	"$TB" internal-stage need_space 'machine root 5 5' && [ ! -s "$web/requests" ] || return 1
	# the disk becomes full while packages are fetched
	head -c 19000K /dev/zero > "$scratch/small/fill"
	! fetch && said 'the disk is full|only 0 MiB|No space left'
}

# --------------------------------------------------------- tests: root file systems, other packages

# A script replaces mmdebstrap: it fetches a package from the sources and with the options that it
# is given.
root_round()
{
	machine 'move 1 linux-image-9.7.2'; usual_sources
	mkdir -p "$M/bin" "$C/testbed/tmp.root"
	cat > "$M/bin/mmdebstrap" <<-'S'
	#!/bin/bash
	set -eu
	for option; do
		case $option in
		--aptopt=*) options+=("${option#--aptopt=}") ;;
		--include=*) include=${option#*=} ;;
		deb\ *) sources+=("$option") ;;
		esac
	done
	for option; do case $option in */root) root=$option ;; esac; done
	mkdir "$root"
	mkdir -p "$root"/{parts,lists/partial,cache/archives/partial}
	printf '%s\n' "${sources[@]}" > "$root/list"
	: > "$root/status"
	{
		printf '%s;\n' "${options[@]}"
		printf 'Dir::%s;\n' "Etc::sourcelist \"$root/list\"" "Etc::parts \"$root/parts\"" "Etc::sourceparts \"$root/parts\"" \
			"Etc::main \"$root/none\"" "State::lists \"$root/lists\"" "State::status \"$root/status\"" "Cache \"$root/cache\""
	} > "$root/conf"
	export APT_CONFIG=$root/conf
	apt-get -q update
	cd "$root"
	apt-get -q download $(apt-cache depends "$include" | sed -n 's/^ *Depends: //p')
	S
	chmod 755 "$M/bin/mmdebstrap"
	# shellcheck disable=SC2016
	PATH=$M/bin:$PATH "$TB" internal-stage eval 'ROOT_HOOKS=("--customize-hook=a b"); debootstrap_into "$STAGES/tmp.root/root" linux-image-amd64 \
		trixie trixie-security trixie-updates trixie-backports' > "$M/said" 2>&1 || { cat "$M/said"; return 1; }
	cat "$M/said"
	said 'round 2 of 3' && ls "$C/testbed/tmp.root/root/" && [ -s "$C/testbed/tmp.root/root/linux-image-9.7.3-amd64_9.7.3-1~bpo13+1_amd64.deb" ]
}

# fetch_debs, with which other scripts fetch packages
other_packages()
{
	machine 'move 1 linux-headers-8.4.2-common' 'lose 1 linux-kbuild-8.4.3'; usual_sources
	mkdir -p "$C/debs"
	echo "half of it" > "$C/debs/linux-kbuild-8.4.2_8.4.2-1_amd64.deb"
	"$TB" internal-stage in_rounds "a fetch" fetch_debs "$C/debs" bookworm linux-image-amd64 kmod > "$M/said" 2>&1 || { cat "$M/said"; return 1; }
	[ "$(cd "$C/debs" && echo *)" = "kmod_1_amd64.deb linux-image-amd64_8.4.2-1_amd64.deb" ]
}

# ------------------------------------------------ the archives, the list of tests, and running them

make_key > "$scratch/output" 2>&1 && archive "$scratch/archive.2" 2 >> "$scratch/output" 2>&1 &&
	archive "$scratch/archive.3" 3 >> "$scratch/output" 2>&1 || { sed 's/^/# /' "$scratch/output"; echo "not ok 1 - an archive is made"; exit 1; }
cp -a "$scratch/archive.2" "$scratch/archive.renamed"
rm -r "$scratch"/archive.renamed/debian{,-security}/dists
for row in debian:trixie:trixie debian:trixie-updates:none debian:trixie-backports:backports debian:bookworm:bookworm \
	debian:bookworm-updates:none debian-security:trixie-security:none debian-security:bookworm-security:none; do
	IFS=: read -r root codename pool <<< "$row"
	release "$scratch/archive.renamed/$root" "$codename" "$codename" "pool/$pool" "Our mirror" "mirror of $codename" > /dev/null 2>&1
done
# lane NUMBER: runs every lanes-th test, with an HTTP server and made-up machines of its own
lane()
{
	local i text
	web=$scratch/web.$1
	mkdir "$web"
	selftests/system/testbed/archive/serve.py "$web" &
	echo $! >> "$scratch/servers"
	for _ in {1..100}; do [ ! -e "$web/port" ] || break; sleep 0.1; done
	url=http://127.0.0.1:$(cat "$web/port")
	for ((i = $1; i < ${#cases[@]}; i += lanes)); do
		text=${cases[i]#* }
		try "$text" "${cases[i]%% *}"
	done
}

cases=(
	"two_at_once two set-ups at once: one fetches, both end well"
	"sign_of_life steps are counted; a sign of life on a terminal, none in a log"
	"too_slow too slow: bounded, and told"
	"one_line one-line sources, a key of their own; the machine's lists are left alone"
	"deb822_stable deb822, 'stable', the key in the entry, no lists"
	"machine_key the key is the machine's"
	"only_bookworm only bookworm is configured"
	"others_beside a third party's repository with the same release names, and a source that does not answer"
	"renamed a mirror that signs by itself and has another origin's name"
	"behind_proxy apt's proxy"
	"foreign_key an archive with a key that apt does not know is refused"
	"other_scripts and so it is in a script that has not all of tb's functions"
	"moves_on the archive moves on between update and download"
	"file_lost a file is not there, once"
	"breaks_off a download breaks off and is resumed"
	"index_breaks_off an index breaks off"
	"stalls a download stands still"
	"lost_for_good a file is lost for good: bounded, and what to do; then it works"
	"killed killed in the middle: nothing is left, and the next one works"
	"warm a warm cache asks for nothing; --refresh takes what is new"
	"refresh_without_network --refresh that fails leaves what there was, and is gone on with"
	"older_cache a cache of an older commit"
	"full_disk a full disk: what is needed, and where, before anything is fetched"
	"root_round a root is made in rounds, with the same sources and options"
	"other_packages other packages, with what an earlier fetch left"
)
if [ $# -gt 0 ]; then cases=("${@/%/ on its own}"); fi
# three lanes run at once, because tests wait much
lanes=3 machines=0
for ((i = 0; i < lanes; i++)); do
	lane $i > "$scratch/lane.$i" &
	runs[i]=$!
done
wait "${runs[@]}"
cat "$scratch"/lane.* | awk '/^(not )?ok - /{ n++; sub(/ok - /, "ok " n " - ") } { print } END { print "1.." n }'
[ "$(cat "$scratch"/lane.* | grep -c '^ok - ')" = ${#cases[@]} ]
