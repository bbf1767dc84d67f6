# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The machine that tb runs on: its packages and limits.

list_words() { sed 's/#.*//' "$@" | tr -s ' \t\n' '\n' | grep . || true; }

# missing_host_packages: one question for all of them; dpkg-query says nothing of a package that it has never heard of.
missing_host_packages() {
	local -a names
	mapfile -t names < <(list_words "$TB_DIR/packages/host.list")
	# shellcheck disable=SC2016
	{ dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${names[@]}" 2>/dev/null || true; } |
		awk -v want="${names[*]}" '$1 == "installed" { there[$2] = 1 }
			END { n = split(want, w, " "); for (i = 1; i <= n; i++) if (!(w[i] in there)) print w[i] }'
}

need_root() {
	[ "$(id -u)" = 0 ] || die "tb has to run as root" \
		"it makes root file systems and mount namespaces; try: sudo $TB $*"
}

install_host_packages() {
	local -a missing
	mapfile -t missing < <(missing_host_packages)
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing on this machine: ${missing[*]}"
	mkdir -p "$STAGES/log"
	local log=$STAGES/log/host-packages.log
	if ! { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		--no-install-recommends install "${missing[@]}"; } > "$log" 2>&1 < /dev/null; then
		show_tail "$log" 25
		die "apt-get could not install: ${missing[*]}" "the whole log is $log"
	fi
}

# A BAR page that the model re-points costs QEMU up to one mapping; 256 MiB have 65536 of them.
raise_map_count() {
	local want=262144 now
	now=$(cat /proc/sys/vm/max_map_count)
	[ "$now" -lt $want ] || return 0
	printf '%s\n' $want > /proc/sys/vm/max_map_count 2>/dev/null ||
		say "vm.max_map_count is $now and cannot be raised to $want: many re-pointed BAR pages can fail"
}
