#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# older.sh: a client of an older system, with a server on this machine that has the GPU inside of its process: Debian 11's glibc,
# GnuTLS and Python, on this CPU as a user without root and on arm64 by qemu-aarch64; what kvgpu-remotectl bundle gives such a client,
# and the wheel. The first run fetches 30 MB. TAP. "older.sh fetch" prints the folder of Debian 11 alone.
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/result.sh
. selftests/result.sh
packages=(libc6 libgnutls30 libp11-kit0 libidn2-0 libunistring2 libtasn1-6 libnettle8 libhogweed6 libgmp10 libffi7 dash coreutils libselinux1
	libpcre2-8-0 libacl1 libattr1 python3.9-minimal libpython3.9-minimal libpython3.9-stdlib libexpat1 zlib1g)
[ "${1-}" != fetch ] || exec selftests/fetch.sh debian11 bullseye "${packages[@]}"
for target in cuda-inprocess remote remote-arm; do
	made=$(make -s $target) || { echo "older.sh: make $target fails" >&2; exit 2; }
	case $target in
	cuda-inprocess) inprocess=${made##*$'\n'} ;;
	remote) remote=${made##*$'\n'} ;;
	*) arm=${made##*$'\n'} ;;
	esac
done
root=$(selftests/fetch.sh debian11 bullseye "${packages[@]}") && arm_root=$(KVGPU_FETCH_CPU=arm64 selftests/fetch.sh debian11-arm64 bullseye "${packages[@]}") ||
	{ echo "Bail out! packages of Debian 11 can't be fetched"; exit 1; }
mkdir -p "$root/mnt"
work=$(mktemp -d)
chmod 711 "$work"
server=
trap '[ -z "$server" ] || kill "$server"; wait; rm -rf "$work"' EXIT

# in_root COMMAND...: by a user without rights in Debian 11, where $work is /mnt. $hidden: a file of it that is not there
in_root()
{
	# shellcheck disable=SC2016
	timeout 100 unshare --mount sh -c 'mount --bind "$1" "$2/mnt" && { [ -z "$3" ] || mount --bind /dev/null "$2$3"; } && root=$2 && shift 3 &&
		exec chroot --userspec=65534:65534 "$root" "$@"' sh "$work" "$root" "${hidden-}" "$@"
}

# step NAME TEXT COMMAND...: the command says TEXT
step()
{
	local name=$1 text=$2

	shift 2
	"$@" > "$work/said" 2>&1
	grep -qF -- "$text" "$work/said"
	result $? "$name" "$(tail -n 1 "$work/said")"
}

ctl() { "$remote/kvgpu-remotectl" --socket "$work/admin" "$@"; }
# bundle NAME LIBRARIES: unpacked in $work
bundle() { ctl bundle "$1" --folder "$work/tls" --address "tls:127.0.0.1:$port" --libraries "$2" > "$work/$1.tar" && tar -xf "$work/$1.tar" -C "$work" --no-same-owner; }

start_server()
{
	mkdir "$work/public"
	cp "$inprocess/libcuda.so.1" "$work/public/"
	chmod -R a+rX "$work/public"
	printf '%s\n' "library = $work/public/libcuda.so.1" "admin-socket = $work/admin" "tls-folder = $work/tls" "listen = tls:127.0.0.1:$port" > "$work/remoted.conf"
	"$remote/kvgpu-remoted" --config "$work/remoted.conf" 2> "$work/server.log" &
	server=$!
	for _ in $(seq 600); do
		grep -q 'listens at' "$work/server.log" && break
		sleep 0.1
	done
	grep -q 'listens at' "$work/server.log"
	result $? "the server starts" "$(tail -n 1 "$work/server.log")"
}

run_floor()
{
	step "a library for this machine's glibc alone is named, with what it wants" 'pthread_create@GLIBC_2.34' \
		sh -c 'echo "#include <pthread.h>
int f(void) { return pthread_create(0, 0, 0, 0); }" | gcc -w -fPIC -shared -x c - -o "$1/new.so" && remote/older/floor.sh "$1/new.so"' sh "$work"
	remote/older/floor.sh "$remote"/lib{cuda,nvidia-ml}.so.1 "$arm"/lib{cuda,nvidia-ml}.so.1 > "$work/said" 2>&1
	result $? "the client's libraries want glibc 2.28 at most" "$(head -n 1 "$work/said")"
}

run_bundle()
{
	step "without a CA there is no bundle" 'certs server HOST' ctl bundle lab-1 --folder "$work/tls" --libraries "$remote"
	ctl certs server localhost 127.0.0.1 --folder "$work/tls" > /dev/null
	step "a terminal gets no key" 'which is a terminal' script -qec "'$remote/kvgpu-remotectl' bundle lab-1 --folder '$work/tls' --libraries '$remote'" /dev/null
	step "an address without TLS is refused" 'as tls:gpu.example.org:7411' ctl bundle lab-1 --folder "$work/tls" --address unix:/x --libraries "$remote"
	ctl bundle lab-2 --folder "$work/tls" --libraries "$remote" 2> /dev/null | tar -xO lab-2/remote.conf > "$work/said"
	grep -qx 'server = tls:localhost:7411' "$work/said"
	result $? "the address is of the server's certificate" "$(cat "$work/said")"
	bundle lab-1 "$remote" && [ "$(stat -c %a "$work/lab-1.tar" "$work/lab-1/tls" "$work/lab-1/tls/client.key" | xargs)" = '600 700 600' ] &&
		cmp -s "$work/lab-1/tls/client.key" "$work/tls/clients/lab-1/client.key" && cmp "$work/lab-1/lib/libcuda.so.1" "$remote/libcuda.so.1"
	result $? "archive and key are their owner's alone"
	cp "$work/lab-1.tar" "$work/first.tar" && bundle lab-1 "$remote" &&
		cmp <(tar -xOf "$work/first.tar" lab-1/tls/client.key) "$work/lab-1/tls/client.key"
	result $? "a second one has the same key"
	chown -R 65534:65534 "$work/lab-1"
}

run_clients()
{
	local python=/usr/bin/python3.9 says='1000 sums are right'

	cp selftests/remote/older.py selftests/cuda/driver/kernels.cubin "$work"
	step "Debian 11, a user without root" "$says" in_root /mnt/lab-1/run $python /mnt/older.py /mnt/kernels.cubin
	hidden=/usr/lib/x86_64-linux-gnu/libgnutls.so.30 step "without GnuTLS it names the package" 'apt install libgnutls30' \
		in_root /mnt/lab-1/run $python /mnt/older.py /mnt/kernels.cubin
	bundle arm "$arm"
	step "Debian 11 on arm64" "$says" timeout 100 "$work/arm/run" qemu-aarch64 -L "$arm_root" "$arm_root$python" "$work/older.py" "$work/kernels.cubin"
	wheel=$(remote/wheel/make.py "$work" "$remote" 1.2) && python3 -m zipfile -e "$wheel" "$work/wheel" && chmod -R a+rX "$work/wheel"
	result $? "a wheel is made"
	step "its program starts another one, in Debian 11" "$says" in_root /usr/bin/env "KVGPU_REMOTE=tls:127.0.0.1:$port" KVGPU_REMOTE_TLS=/mnt/lab-1/tls \
		PYTHONPATH=/mnt/wheel $python -m kvgpu_remote $python /mnt/older.py /mnt/kernels.cubin
	step "arm64's libraries make no such wheel" 'is not for x86-64' remote/wheel/make.py "$work" "$arm" 1.2
	ctl refuse lab-1 --folder "$work/tls" > /dev/null
	step "a client that is refused gets no further" 'cuInit: error 802' in_root /mnt/lab-1/run $python /mnt/older.py /mnt/kernels.cubin
}

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
run_floor
run_bundle
start_server
run_clients
echo "1..$results"
exit $((failures > 0))
