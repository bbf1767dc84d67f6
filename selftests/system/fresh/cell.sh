# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154
# Sourced by run.sh: one cell, that is, README's commands on one fresh Debian. run_cell runs on this
# machine and watches it. inside_cell is process 1 of the cell's namespaces, which end with it.

LIMIT=${FRESH_LIMIT:-3600}

# run_cell: runs a cell and writes its record, lines "NAME<tab>VALUE", the last of them "result"
run_cell() # CELL SUITE all|first archive|clone PLACE
{
	local name=$1 began=$SECONDS rc=0
	CELL_WORK=$STORE/cells/$name CELL_RECORD=$RECORDS/$name.new CELL_LOG=$RECORDS/$name.log
	rm -rf --one-file-system -- "$CELL_WORK"
	mkdir -p "$CELL_WORK"
	CELL_GROUP=$(make_group "kvgpu-fresh-$$")
	export COMMIT CELL_WORK CELL_RECORD CELL_LOG CELL_GROUP CELL_STAND_IN=$stand_in
	: >"$CELL_LOG"
	printf 'cell\t%s\nsuite\t%s\nhow\t%s\nplace\t%s\ncommit\t%s\ndate\t%s\n' "$1" "$2" "$4" "$5" "$COMMIT" "$(date -u +%F)" >"$CELL_RECORD"
	say "$name: a Debian ${1%%-*}, the tree in $5 (log: $CELL_LOG)"
	# 7: this machine's network namespace, from which proxy.py reaches the archive
	exec 7</proc/self/ns/net
	setpriv --pdeathsig KILL timeout --signal=KILL "$LIMIT" \
		setpriv --pdeathsig KILL unshare --net --mount --pid --ipc --uts --fork --kill-child --mount-proc \
		"$FRESH_DIR/run.sh" internal-cell "$@" </dev/null 8>&- 3<&- &
	cell_pid=$!
	exec 7<&-
	await_cell "$name" "$began" || rc=$?
	cell_pid=''
	printf 'seconds\t%d\n' $((SECONDS - began)) >>"$CELL_RECORD"
	case $rc in
	0) printf 'result\tpassed\n' ;;
	137) printf 'why\tnot done after %d s\nresult\tfailed\n' "$LIMIT" ;;
	*) printf 'result\tfailed\n' ;;
	esac >>"$CELL_RECORD"
	mv "$CELL_RECORD" "$RECORDS/$name.tsv"
	if [ $rc -ne 0 ]; then
		tail -n 25 "$CELL_LOG" | sed 's/^/   | /'
		say "$name: FAILED after $((SECONDS - began)) s: $(sed -n 's/^why\t//p' "$RECORDS/$name.tsv" | tail -n 1)"
	else
		say "$name: passed in $((SECONDS - began)) s"
	fi
	[ -n "$keep" ] && [ $rc -ne 0 ] || rm -rf --one-file-system -- "$CELL_WORK"
	remove_groups
	return $rc
}

# waits for the cell; on a terminal prints the last line of its log every 20 s
await_cell() # CELL BEGAN
{
	local next=20 waker
	while kill -0 "$cell_pid" 2>/dev/null; do
		sleep 1 8>&- 3<&- &
		waker=$!
		wait -n "$cell_pid" "$waker" || true
		if [ -t 1 ] && [ $((SECONDS - $2)) -ge $next ]; then
			printf '   %4d s: %s\n' $((SECONDS - $2)) "$(tail -n 1 "$CELL_LOG" | tr -d '\r' | cut -c1-100)"
			next=$((SECONDS - $2 + 20))
		fi
	done
	wait "$cell_pid"
}

# clean_up: removes what earlier runs left (with --keep not the cells' roots), and kept packages
# that no cell has fetched for 30 days
clean_up()
{
	[ -n "$keep" ] || rm -rf --one-file-system -- "$STORE"/cells
	rm -f "$STORE"/packages/new.*
	find "$STORE/packages" -type f -mtime +30 -delete
	remove_groups
}

inside_cell() # CELL SUITE all|first archive|clone PLACE: makes the root, puts the tree there, runs the commands
{
	local name=$1 suite=$2 which=$3 how=$4 place=$5 command
	local root=$CELL_WORK/root
	# the reason that the trap below records if this ends early
	doing=''
	trap '[ $? -eq 0 ] || printf "why\t%s\n" "$doing" | tee -a "$CELL_LOG" >>"$CELL_RECORD"' EXIT
	doing="the proxy did not start"
	start_proxy "$suite"
	{
		doing="no root of $suite could be made"
		make_root "$suite"
		doing="a mount failed"
		mount_machine "$root" "$suite"
		disk_before=$(disk_of "$root")
		doing="the tree could not be put into $place"
		put_tree "$how" "$root$place"
	} >>"$CELL_LOG" 2>&1
	while read -r command <&4; do
		doing="'$command' failed"
		step "$name" "$command"
	done 4< <(cell_commands "$which")
}

# cell_commands all|first: prints README's commands, or those of --commands
cell_commands()
{
	if [ -n "$CELL_STAND_IN" ]; then
		printf '%s\n' "$CELL_STAND_IN"
	elif [ "$1" = all ]; then
		selftests/system/fresh/readme.py commands
	else
		selftests/system/fresh/readme.py commands | sed -n 1p
	fi
}

# start_proxy: starts proxy.py. It listens in the cell's network namespace, and asks the archive from
# this machine's (descriptor 7). Sets PORT.
start_proxy() # SUITE
{
	local tries uses
	local -a options
	uses=$(proxy_options "$1")
	mapfile -t options < <(printf '%s' "$uses")
	selftests/system/fresh/proxy.py --cache "$STORE/packages" --log "$CELL_WORK/fetched" --netns /proc/self/fd/7 "${options[@]}" \
		>"$CELL_WORK/port" 2>>"$CELL_LOG" &
	exec 7<&-
	for tries in {1..100}; do
		[ ! -s "$CELL_WORK/port" ] || break
		sleep 0.1
	done
	: "$tries"
	PORT=$(cat "$CELL_WORK/port")
	[ -n "$PORT" ]
}

# make_root: makes the root file system, with the packages that README tells a user to install
make_root() # SUITE
{
	local option packages key
	local sources
	local -a options=()
	packages=$(selftests/system/fresh/readme.py packages | paste -sd ,)
	sources="$(root_sources "$1")"
	while read -r option; do
		options+=("--aptopt=$option")
	done < <(cell_apt_options "$PORT")
	mmdebstrap --variant=apt --mode=root --architectures=amd64 --format=directory "${options[@]}" --include="$packages" \
		--keyring=/usr/share/keyrings/ "$1" "$root" "$sources"
	# keys that no package in the root has: a mirror may sign with its own
	while read -r key; do
		[ -e "$root$key" ] || install -D -m 644 "$key" "$root$key"
	done < <(root_keys "$1")
	printf 'fresh\n' >"$root/etc/hostname"
	printf '127.0.0.1 localhost\n127.0.1.1 fresh\n' >"$root/etc/hosts"
}

# put_tree archive|clone DIR: puts the commit's tree into DIR, as a tarball has it or as a shallow
# clone
put_tree()
{
	mkdir -p "$2"
	if [ "$1" = archive ]; then
		git archive "$COMMIT" | tar -x -C "$2"
	else
		git clone -q --no-checkout --depth 1 "file://$TOP" "$2"
		git -C "$2" checkout -q --detach "$COMMIT"
	fi
}

# mount_machine: mounts file systems as a booted Debian has them. Debian 13 has /tmp in memory.
mount_machine() # ROOT SUITE
{
	local root=$1 node
	mount --bind "$root" "$root"
	mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
	mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
	for node in null zero full random urandom tty; do
		: >"$root/dev/$node"
		mount --bind "/dev/$node" "$root/dev/$node"
	done
	mkdir "$root/dev/pts" "$root/dev/shm"
	mount -t devpts -o newinstance,mode=620,ptmxmode=666,gid=5 devpts "$root/dev/pts"
	mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/dev/shm"
	ln -s pts/ptmx "$root/dev/ptmx"
	ln -s /proc/self/fd "$root/dev/fd"
	ln -s fd/0 "$root/dev/stdin"
	ln -s fd/1 "$root/dev/stdout"
	ln -s fd/2 "$root/dev/stderr"
	mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root/run"
	mkdir -m 1777 "$root/run/lock"
	[ "$2" = bookworm ] || mount -t tmpfs -o mode=1777,nosuid,nodev,size=50% tmpfs "$root/tmp"
}

# disk_of PATH...: prints how many bytes the paths take on the disk; file systems mounted below a
# path, and paths that do not exist, count as 0
disk_of() { { du -sxc --block-size=1 "$@" 2>/dev/null || true; } | awk 'END { print $1 }'; }

fetched() { awk '{ sent += $1; came += $2 } END { printf "%.0f %.0f\n", sent, came }' "$CELL_WORK/fetched"; }

# step CELL COMMAND: runs the command in the cell, in the tree, by root's shell, and records its
# exit code and what it took
step()
{
	local command=$2 began=$SECONDS rc=0 sent came sent_before came_before watcher most
	read -r sent_before came_before < <(fetched)
	printf '\n== %s\n' "$command" >>"$CELL_LOG"
	printf 0 >"$CELL_WORK/memory"
	watch_memory "$CELL_GROUP" "$CELL_WORK/memory" &
	watcher=$!
	(
		[ -z "$CELL_GROUP" ] || echo 0 >"$CELL_GROUP/cgroup.procs"
		exec unshare --mount --pid --ipc --uts --fork --kill-child selftests/system/fresh/enter.sh "$root" "$place" "$command"
	) </dev/null >>"$CELL_LOG" 2>&1 4<&- || rc=$?
	kill "$watcher"
	wait "$watcher" 2>/dev/null || true
	read -r sent came < <(fetched)
	most=$(cat "$CELL_WORK/memory")
	printf 'step\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n' "$command" $rc $((SECONDS - began)) $((sent - sent_before)) $((came - came_before)) \
		"$most" $(($(disk_of "$root") - disk_before)) "$(disk_of "$root/root/.cache")" "$(disk_of "$root$place")" >>"$CELL_RECORD"
	printf 'fresh: %s: %s: exit code %d, %d s, %d MB fetched, %d MB of memory\n' "$1" "$command" $rc $((SECONDS - began)) \
		$(((sent - sent_before) / 1000000)) $((most / 1000000))
	return $rc
}
