#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# containers.sh quick|long: containers as clients. quick: what kvgpu-remotectl cdi writes, by the schemas of Debian 12 and 13, and what
# it refuses; the YAML for Kubernetes. long: podman of Debian 13 runs a program of Debian 11 with it, as root and as another user; the
# server on this machine has the GPU inside of its process. As root. The first run fetches packages, long 90 MB. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=selftests/result.sh
. selftests/result.sh
case ${1-} in
quick | long) ;;
*) echo "usage: selftests/remote/containers.sh quick|long" >&2; exit 2 ;;
esac
remote=$(make -s remote) || { echo "containers.sh: make remote fails" >&2; exit 2; }
remote=${remote##*$'\n'}
work=$(mktemp -d)
chmod 711 "$work"
server='' schemas=()
trap '[ -z "$server" ] || kill "$server"; wait; rm -rf "$work"' EXIT

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

# client NAME ADDRESS...: an unpacked bundle whose remote.conf names these servers, and its specification
client()
{
	[ -e "$work/$1" ] || { mkdir "$work/$1" && tar -xf "$work/lab-1.tar" -C "$work/$1" --strip-components=1 --no-same-owner; }
	echo "server = ${*:2}" > "$work/$1/remote.conf"
	ctl cdi "$1" --unpacked "$work/$1" > "$work/cdi/$1.json"
}

make_bundle()
{
	mkdir "$work/cdi"
	ctl certs server localhost 127.0.0.1 --folder "$work/ca" > /dev/null
	ctl bundle lab-1 --folder "$work/ca" --libraries "$remote" > "$work/lab-1.tar" 2> /dev/null
	result $? "a bundle"
}

# ------------------------------------------------------------------ quick

# by_schemas NAME: the specification of a client; what a container gets goes to $work/gets, without $work/
by_schemas()
{
	local schema

	for schema in "${schemas[@]}"; do
		selftests/remote/containers.py specification "$schema" "$work/cdi/$1.json" > "$work/gets" 2> "$work/said"
		result $? "$1: by the schema of Debian's $(cut -d / -f 1 <<< "${schema##*/cdi-}")" "$(tail -n 1 "$work/said")"
	done
	sed -i "s,$work/,,g" "$work/gets"
}

# gets NAME LINE...: what a container gets of it beside the libraries and remote.conf
gets()
{
	diff <(printf '%s\n' "device kvgpu.example/gpu=$1" 'env LD_LIBRARY_PATH=/usr/lib/kvgpu-remote' 'env NVIDIA_VISIBLE_DEVICES=void' \
		"ro /etc/kvgpu/remote.conf $1/remote.conf" "ro /usr/lib/kvgpu-remote/libcuda.so $1/lib/libcuda.so.1" \
		"ro /usr/lib/kvgpu-remote/libcuda.so.1 $1/lib/libcuda.so.1" \
		"ro /usr/lib/kvgpu-remote/libnvidia-ml.so.1 $1/lib/libnvidia-ml.so.1" "${@:2}" | LC_ALL=C sort) <(LC_ALL=C sort "$work/gets") > "$work/said"
	result $? "$1: nothing else is in it" "$(head -n 2 "$work/said" | xargs)"
}

specifications()
{
	local tls=(env\ KVGPU_REMOTE_TLS=/etc/kvgpu/tls ro\ /etc/kvgpu/tls/{ca.crt,client.crt,client.key}\ )
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$work/socket"
	truncate -s 1M "$work/memory"
	client tls tls:localhost:7411
	by_schemas tls
	gets tls "${tls[0]}" 'env NCCL_SHM_DISABLE=1' "${tls[1]}tls/tls/ca.crt" "${tls[2]}tls/tls/client.crt" "${tls[3]}tls/tls/client.key"
	client aperture "aperture:$work/socket"
	by_schemas aperture
	gets aperture "ro socket socket"
	ln -s /dev/null "$work/device"
	client several "unix:$work/socket" "aperture:$work/device" "aperture:$work/memory,bell=unix:$work/socket" vsock:2:7411
	by_schemas several
	gets several 'env NCCL_SHM_DISABLE=1' "ro socket socket" "rw memory memory" "ro socket socket" "node device /dev/null"
	client remote vsock:2:7411
	selftests/remote/containers.py kubernetes remote/ctl/kubernetes.yaml "$work/cdi/remote.json" > "$work/said" 2>&1
	result $? "the YAML for Kubernetes offers that device" "$(tail -n 1 "$work/said")"
	! selftests/remote/containers.py kubernetes remote/ctl/kubernetes.yaml "$work/cdi/tls.json" 2> /dev/null &&
		sed 's/nosuid/x/; s/"hostPath"/"hostpath"/' "$work/cdi/tls.json" > "$work/wrong.json" &&
		! selftests/remote/containers.py specification "${schemas[0]}" "$work/wrong.json" > /dev/null 2>&1
	result $? "the test refuses others"
}

# refuses NAME TEXT ADDRESS: cdi says TEXT of a client with that server, and writes nothing
refuses()
{
	client wrong "$3" 2> "$work/said"
	[ ! -s "$work/cdi/wrong.json" ] && grep -qF -- "$2" "$work/said"
	result $? "$1" "$(tail -n 1 "$work/said")"
}

refusals()
{
	local name

	for name in '' 'a b' a=b -- .a a- "$(printf 'a%.0s' {1..49})"; do
		step "no device's name: '$name'" "a device's name is" ctl cdi --unpacked "$work/tls" -- "$name"
	done
	step "no such folder" 'No such file' ctl cdi --unpacked "$work/nowhere"
	refuses "127.0.0.1 is another one there" 'let the server listen at unix:/path' tcp:127.0.0.1:7411
	: > "$work/tls/remote.conf"
	step "no server" 'names no server' ctl cdi --unpacked "$work/tls"
	refuses "no address" 'remote.conf:1: ' nonsense
	refuses "a path that JSON would have to quote" 'take a path of printable ASCII' "unix:$work/a\"b"
	refuses "a socket that is not there" 'No such file' "unix:$work/nowhere"
	refuses "a folder in place of a socket" "neither a server's socket nor an aperture" "unix:$work/ca"
	rm "$work/wrong/tls/client.key"
	refuses "no key" 'client.key: No such file' tls:localhost:7411
	echo libcuda > "$work/wrong/lib/libcuda.so.1"
	refuses "NVIDIA's libcuda.so.1" "is no client's" vsock:2:7411
	chmod o+w "$work/wrong"
	refuses "a folder that others write" 'others may write there' vsock:2:7411
}

# ------------------------------------------------------------------ long

start_server()
{
	local inprocess

	inprocess=$(make -s cuda-inprocess) || exit 2
	mkdir "$work/public"
	cp "${inprocess##*$'\n'}/libcuda.so.1" "$work/public/"
	chmod -R a+rX "$work/public"
	printf '%s\n' "library = $work/public/libcuda.so.1" "admin-socket = $work/admin" "tls-folder = $work/ca" "listen = tls:127.0.0.1:$port" \
		"listen = unix:$work/socket" '[client unix:1234]' 'allow = no' > "$work/remoted.conf"
	"$remote/kvgpu-remoted" --config "$work/remoted.conf" 2> "$work/server.log" &
	server=$!
	for _ in $(seq 600); do
		[ "$(grep -c 'listens at' "$work/server.log")" = 2 ] && break
		sleep 0.1
	done
	[ "$(grep -c 'listens at' "$work/server.log")" = 2 ] && chmod 666 "$work/socket"
	result $? "the server starts" "$(tail -n 1 "$work/server.log")"
}

# in_podman USER OPTION... -- COMMAND...
in_podman()
{
	local user=$1
	local -a options=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	timeout 100 selftests/remote/podman.sh "$debian13" "$work/image.tar" "$work/cdi" "$user" --volume "$work/programs:/mnt:ro" "${options[@]}" --rootfs /image "${@:2}"
}

containers()
{
	local program=(-- /usr/bin/python3.9 /mnt/older.py /mnt/kernels.cubin) says='1000 sums are right' to

	tar -cf "$work/image.tar" -C "$debian11" .
	mkdir "$work/programs"
	cp selftests/remote/older.py selftests/cuda/driver/kernels.cubin "$remote/kvgpu-remotectl" "$work/programs/"
	chmod -R a+rX "$work/programs"
	for to in unix aperture tls; do
		client $to "$([ $to = tls ] && echo "tls:127.0.0.1:$port" || echo "$to:$work/socket")"
		step "podman, by $to" "$says" in_podman 0 --device kvgpu.example/gpu=$to "${program[@]}"
	done
	ln -s /dev/null "$work/dax"
	client device "aperture:$work/dax"
	step "an aperture's device" 'is a device' in_podman 0 --device kvgpu.example/gpu=device -- /bin/sh -c "test -c $work/dax && echo is a device"
	step "without the device there is no libcuda.so.1" 'cannot open shared object file' in_podman 0 "${program[@]}"
	step "an image with a libcuda.so.1 of its own, read-only" "$says" in_podman 0 --device kvgpu.example/gpu=tls --read-only \
		--volume /dev/null:/usr/lib/x86_64-linux-gnu/libcuda.so.1:ro "${program[@]}"
	step "who is not root there may not read root's key" 'client.key: you may not open it' in_podman 0 --device kvgpu.example/gpu=tls --user 1234 "${program[@]}"
	step "by a socket the number of its user in the image is the client, here one that may not come" 'cuInit: error 802' \
		in_podman 0 --device kvgpu.example/gpu=aperture --user 1234 "${program[@]}"
	# another user's podman, with a bundle of that user's
	for to in aperture tls; do
		cp -r "$work/$to" "$work/own-$to"
		chown -R 1000:1000 "$work/own-$to"
		setpriv --reuid 1000 --regid 1000 --clear-groups "$work/programs/kvgpu-remotectl" cdi "own-$to" --unpacked "$work/own-$to" > "$work/cdi/own-$to.json"
		step "podman of a user without root, by $to" "$says" in_podman 1000 --device "kvgpu.example/gpu=own-$to" "${program[@]}"
	done
}

case $1 in
quick)
	# the same package, by its newer name in Debian 13
	for suite in bookworm:golang-github-container-orchestrated-devices trixie:golang-tags.cncf; do
		root=$(selftests/fetch.sh cdi "${suite%:*}" "${suite#*:}-container-device-interface-dev") &&
			schemas+=("$(dirname "$(find "$root" -path '*/schema/schema.json')")") || break
	done
	[ "${#schemas[@]}" = 2 ] || { echo "Bail out! Debian's packages with the schema can't be fetched"; exit 1; }
	make_bundle
	specifications
	refusals
	;;
long)
	debian13=$(selftests/remote/podman.sh fetch) && debian11=$(selftests/remote/older.sh fetch) || { echo "Bail out! podman of Debian 13 can't be fetched"; exit 1; }
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	make_bundle
	start_server
	containers
	;;
esac
echo "1..$results"
exit $((failures > 0))
