#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# remote_calls.sh PROGRAM REMOTE LIBRARY CUBIN OUT [--quick|--copies]: what calls and copies cost on LIBRARY, a libcuda.so.1 with a GPU: by
# itself, and remoted over each carrier. PROGRAM is remote_calls, REMOTE the folder with kvgpu-remoted, kvgpu-remotectl and the remote
# libcuda.so.1. Where remote_streams lies beside PROGRAM: also what plain streams carry, as copies over sockets can't be faster. Tables
# on standard output, OUT/remote-calls-{native,unix,aperture,tcp,tls}.json and OUT/remote-streams.json. Nothing else of this tree is
# needed: it runs wherever LIBRARY does. CARRIERS="unix tls": some of them.
set -u
[ $# -ge 5 ] || { sed -n '3,8p' "$0" >&2; exit 2; }
program=$1 remote=$2 library=$3 cubin=$4 out=$5 quick=${6-}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
mkdir -p "$out" "$work/native" || exit 1
ln -s "$(realpath "$library")" "$work/native/libcuda.so.1"
# shellcheck disable=SC2086
LD_LIBRARY_PATH=$work/native:${LD_LIBRARY_PATH-} "$program" $quick native "$cubin" "$out/remote-calls-native.json" || exit 1
{
	"$remote/kvgpu-remotectl" certs server 127.0.0.1 --folder "$work/tls" &&
		"$remote/kvgpu-remotectl" certs client bench --folder "$work/tls"
} > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
export KVGPU_REMOTE_TLS=$work/tls/clients/bench
if [ -x "${program%/*}/remote_streams" ]; then
	# shellcheck disable=SC2086
	"${program%/*}/remote_streams" ${quick/--copies/} "$work/tls/server.crt" "$work/tls/server.key" "$out/remote-streams.json" || exit 1
fi
# of the system's choice, and given back
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
tcp=tcp:127.0.0.1:$(port) tls=tls:127.0.0.1:$(port)
: > "$work/log"
"$remote/kvgpu-remoted" --listen "unix:$work/socket" --listen "$tcp" --listen "$tls" --tls-folder "$work/tls" \
	--library "$(realpath "$library")" 2> "$work/log" & server=$!
for _ in $(seq 200); do
	[ "$(grep -c 'listens at' "$work/log")" = 3 ] && break
	sleep 0.05
done
for carrier in ${CARRIERS-unix aperture tcp tls}; do
	case $carrier in
	tcp) address=$tcp ;;
	tls) address=$tls ;;
	*) address=$carrier:$work/socket ;;
	esac
	# shellcheck disable=SC2086
	KVGPU_REMOTE=$address LD_LIBRARY_PATH=$remote:${LD_LIBRARY_PATH-} \
		"$program" $quick "$carrier" "$cubin" "$out/remote-calls-$carrier.json" || { cat "$work/log" >&2; exit 1; }
done
