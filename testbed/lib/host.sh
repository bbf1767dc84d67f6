# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tb needs of the machine that it runs on: packages, disk space, vm.max_map_count.

list_words() { sed 's/#.*//' "$@" | tr -s ' \t\n' '\n' | grep . || true; }

# missing_host_packages: prints the packages of host.list that are not installed.
missing_host_packages()
{
	local -a names
	mapfile -t names < <(list_words "$TB_DIR/packages/host.list")
	# shellcheck disable=SC2016
	{ dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${names[@]}" 2>/dev/null || true; } |
		awk -v want="${names[*]}" '$1 == "installed" { there[$2] = 1 }
			END { n = split(want, w, " "); for (i = 1; i <= n; i++) if (!(w[i] in there)) print w[i] }'
}

need_root()
{
	[ "$(id -u)" = 0 ] || die "tb has to run as root" \
		"it makes root file systems and mount namespaces; try: sudo $TB $*"
}

# install_host_packages: installs missing packages by this machine's apt
install_host_packages()
{
	local -a missing
	mapfile -t missing < <(missing_host_packages)
	[ ${#missing[@]} -gt 0 ] || return 0
	mkdir -p "$STAGES/log"
	STAGE_LOG=$STAGES/log/host-packages.log
	export STAGE_LOG
	say "this machine lacks: ${missing[*]}"
	step_begins "installing ${#missing[@]} packages on this machine"
	"$TB" internal-stage in_rounds "installing packages" install_packages "${missing[@]}" 6>&2 > "$STAGE_LOG" 2>&1 < /dev/null ||
		step_fails "$STAGE_LOG"
	step_ends
}

install_packages()
{
	local -a own=(-o Acquire::Retries=3)
	# the update may have failed for a third party's source
	apt-get -q "${own[@]}" update || printf 'apt-get update failed; going on with the lists that are there\n'
	room_for_packages "$@"
	DEBIAN_FRONTEND=noninteractive apt-get -q -y "${own[@]}" --no-install-recommends install "$@"
}

# room_for_packages PACKAGE...: ends tb if the disk of /usr lacks room for them
room_for_packages()
{
	local said used free
	said=$(apt-get -q --assume-no --no-install-recommends install "$@" 2>&1) || true
	used=$(sed -n 's/^After this operation, \([0-9.,]*\) \([kMG]\)B of additional.*/\1\2/p' <<< "$said" | tr -d , | tr k K)
	[ -n "$used" ] || return 0
	used=$(($(numfmt --from=si "$used") / 1000000 * 3 / 2))
	free=$(df --output=avail -m /usr | tail -n 1)
	[ "$free" -ge "$used" ] || die "No space left: only ${free// /} MiB are free below /usr, and about $used are needed there for packages"
}

# raise_map_count: raises the limit of memory mappings: a page of a BAR that the model re-points in
# QEMU may be a mapping of its own
raise_map_count()
{
	local want=262144 now
	now=$(cat /proc/sys/vm/max_map_count)
	[ "$now" -lt $want ] || return 0
	printf '%s\n' $want > /proc/sys/vm/max_map_count 2>/dev/null ||
		say "vm.max_map_count is $now and cannot be raised to $want: many re-pointed BAR pages can fail"
}
