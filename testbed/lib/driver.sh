# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Which driver holds the GPU in the server. The steps that run there are inside/bind-driver.

BIND_SECONDS=${KVGPU_TB_BIND_SECONDS:-180}

bind_driver() {
	[ -n "$GPU" ] || return 0
	set_phase "binding driver $DRIVER"
	[ "$DRIVER" = none ] || say "binding driver $DRIVER (at most $BIND_SECONDS s)"
	local began=$SECONDS
	if ! timeout "$BIND_SECONDS" ssh -F "$(bed_run)/ssh_config" server \
		/opt/testbed/bind-driver "$DRIVER" >&2 < /dev/null; then
		bed_locked || fail_start
		set_phase "up, but driver $DRIVER does not hold the GPU"
		die "driver '$DRIVER' does not hold the GPU after $((SECONDS - began)) s; the bed stays up to look at it" \
			"see: tb log server --name $NAME; tb run --name $NAME -- dmesg"
	fi
	[ "$DRIVER" = none ] || say "driver $DRIVER bound after $((SECONDS - began)) s"
}

# find_kvgpu: the module for this kernel, from our own build.
find_kvgpu() {
	KVGPU_KO=$(make_print print-kvgpu "KERNEL=$KERNEL" 2>/dev/null) || KVGPU_KO=''
	[ -r "$KVGPU_KO" ] || die "kvgpu.ko for kernel $KERNEL is not built ('make print-kvgpu' says '$KVGPU_KO')" \
		"without it: tb up --driver none"
}
