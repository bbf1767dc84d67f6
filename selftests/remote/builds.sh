# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh, whose variables and functions it uses, and those of service.sh: clients of other builds on the server that was built. A build is made of a copy of what remote/api.py reads; of the
# client's files those are compiled anew that its tables go into, as far as the test wants it, and the others are taken as they are.

# build_of NAME RELEASE: a copy of what the tables are made of, to be changed
build_of()
{
	local file tree=$work/build-$1

	for file in kvgpu.mk remote/{api.py,frames.def,wire/frame.h,channel/{stream,layout,attach}.h} remote/cluster/relay/{tags,message,cut,note,control}.h \
		cuda/api/{entries.py,api.def}; do
		install -D "$file" "$tree/$file"
	done
	sed -i "s/^KVGPU_VERSION\(.*\):= .*/KVGPU_VERSION\1:= $2/" "$tree/kvgpu.mk"
}

# tables_of NAME: makes its tables
tables_of() { mkdir -p "$work/build-$1/gen" && "$work/build-$1/remote/api.py" "$work/build-$1" "$work/build-$1/gen"; }

# client_of NAME FILE...: makes its tables and its libcuda.so.1; what its tables go into are these files
client_of()
{
	local gen=$work/build-$1/gen out=$work/build-$1/lib file old=() new=() jobs=()

	tables_of "$1" && mkdir -p "$out" || return 1
	shift
	for file in remote/{client,wire,channel,ring}/*.c remote/conf/{conf,client}.c cuda/api/*.c cuda/api/export/*.c gen/{stubs,refused,names}.c; do
		case " $* " in
		*" $file "*) new+=("$file") ;;
		*) old+=("$remote/obj/${file%.c}.o") ;;
		esac
	done
	for file in "${new[@]}"; do
		gcc -std=gnu11 -w -fPIC -fvisibility=hidden -pthread "-I$gen" -I. -D_GNU_SOURCE -DKVGPU_INSIDE -include include/user/older_libc.h \
			-c "${file/#gen/$gen}" -o "$out/$(basename "$file" .c).o" &
		jobs+=($!)
	done
	for file in "${jobs[@]}"; do
		wait "$file" || return 1
	done
	gcc -fno-lto -shared -pthread -Wl,-soname,libcuda.so.1 "-Wl,--version-script,$gen/libcuda.map" "${old[@]}" "$out"/*.o -o "$out/libcuda.so.1"
}

# on_build NAME CALL...: the program on that client; what it printed is in $work/said
on_build() { timeout 100 env LD_LIBRARY_PATH="$work/build-$1/lib" "$work/builds" "${@:2}" > "$work/said" 2>&1; }

# said TEXT: a line has it
said() { grep -qF -- "$1" "$work/said"; }

# of what all frames share another layout: the connection is refused, and both sides name both
other_layout()
{
	on_build layout
	[ $? = 3 ] && said "client 9.1 (protocol " && said "server $release (protocol " && said ": update the server"
	result $? "$over""another layout of what all frames share: refused, with both versions" "$(head -n 1 "$work/said")"
}

run_builds()
{
	local release program made=() tree=$work/build-comment

	release=$(sed -n 's/^KVGPU_VERSION.*:= //p' kvgpu.mk)
	gcc -std=gnu11 -O2 -Wall -I. "-I$remote/gen" -D_GNU_SOURCE selftests/remote/builds.c -o "$work/builds" "$remote/libcuda.so.1" -ldl ||
		{ result 1 "the program builds"; return; }
	[ "$("$remote/kvgpu-remoted" --version)" = "kvgpu-remoted $release, protocol $(sed -n 's/.*_PROTOCOL\t"\(.*\)"/\1/p' "$remote/gen/protocol.h")" ]
	result $? "--version has the protocol's version"

	build_of comment "$release"
	sed -i 's|^#define KVGPU_REMOTE_MAGIC |/* a comment */\n\n&|; s/KVGPU_REMOTE_LIST_MAX = 4096/KVGPU_REMOTE_LIST_MAX = 1 << 12/' "$tree/remote/wire/frame.h"
	sed -i 's/^frame fence/# a comment\n&/' "$tree/remote/frames.def"
	tables_of comment && diff -r --exclude=made.d "$tree/gen" "$remote/gen" | grep '^[<>]\|^Only in .*build-comment' > "$work/said"
	[ ! -s "$work/said" ] && cmp -s "$tree/gen/protocol.h" "$remote/gen/protocol.h"
	result $? "comments and the form of a number are no other build" "$(head -n 1 "$work/said")"

	build_of later 9.1
	echo '12000 sync cuNovelCall(unsigned long long *value) nocontext' >> "$work/build-later/cuda/api/api.def"
	sed -i 's/^\(3020 sync cuMemGetInfo_v2(.*\)/\1; meaning 2/' "$work/build-later/cuda/api/api.def"
	sed -i 's/^frame graph_memory(u32 dev, /frame graph_memory(u32 dev, u64 more, /' "$work/build-later/remote/frames.def"
	build_of earlier 0.3
	sed -i '/^12000 sync cuGraphExecGetFlags(/d' "$work/build-earlier/cuda/api/api.def"
	build_of layout 9.1
	sed -i 's/^WIRE_AT(head, completion, 10);/WIRE_AT(head, completion, 14);/' "$work/build-layout/remote/wire/frame.h"
	client_of later gen/{stubs,names}.c remote/client/{table,tell}.c cuda/api/outside.c & made+=($!)
	client_of earlier gen/names.c remote/client/{table,tell}.c & made+=($!)
	client_of layout remote/client/{table,tell,init}.c & made+=($!)
	for program in "${made[@]}"; do
		wait "$program" || { result 1 "clients of other builds are made"; return; }
	done

	carrier unix
	start_server --admin "$work/admin"
	on_build earlier cuMemGetInfo && [ "$(cat "$work/said")" = "cuMemGetInfo: CUDA_SUCCESS" ]
	result $? "a client that lacks an entry point is served" "$(head -n 1 "$work/said")"
	mkfifo "$work/input"
	on_build earlier input < "$work/input" & program=$!
	exec 9> "$work/input"
	until_true eval 'ctl list --interval 0 | grep -q " 0\.3 .* old$"'
	result $? "kvgpu-remotectl list has its release, and that it is old" "$(ctl list --interval 0 | tail -n 1)"
	ctl metrics | grep -qx 'kvgpu_remote_clients_old 1'
	result $? "and kvgpu-remotectl metrics counts it"
	exec 9>&-
	wait $program
	on_build later cuNovelCall cuNovelCall cuMemGetInfo cuDeviceGetGraphMemAttribute
	result $? "a client that has another entry point is served" "$(tail -n 1 "$work/said")"
	[ "$(grep -c NOT_SUPPORTED "$work/said")" = 4 ]
	result $? "but for the calls that differ" "$(grep -m 1 CUDA_SUCCESS "$work/said")"
	[ "$(grep -c 'cuNovelCall(): the server does not have this call as the client has it: client 9.1 .*, server '"$release"' .*: update the server$' "$work/said")" = 1 ] &&
		said 'cuMemGetInfo_v2(): the server' && said 'graph_memory (a frame): the server' && [ "$(grep -c 'libcuda (remote)' "$work/said")" = 3 ]
	result $? "one line for each names the call, both releases and the side to update" "$(grep -m 1 remote "$work/said")"
	other_layout
	tail -n 1 "$work/server.log" | grep -q "client 9.1 (protocol .*), server $release (protocol .*): update the server"
	result $? "and in the server's log" "$(tail -n 1 "$work/server.log")"
	stop_server
	carrier place
	start_server
	other_layout
	stop_server
}
