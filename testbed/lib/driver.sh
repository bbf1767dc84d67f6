# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Binds the GPUs in the server to the driver of --driver. inside/bind-driver does it in the server.

BIND_SECONDS=${KVGPU_TB_BIND_SECONDS:-180}

bind_driver()
{
	[ -n "$GPU" ] && [ -z "$MACHINE" ] || return 0
	set_phase "binding driver $DRIVER"
	[ "$DRIVER" = none ] || say "binding driver $DRIVER (at most $BIND_SECONDS s)"
	local began=$SECONDS
	if ! timeout "$BIND_SECONDS" ssh -F "$(bed_run)/ssh_config" server \
		/opt/testbed/bind-driver "$DRIVER" "$CARDS" >&2 < /dev/null; then
		bed_locked || fail_start
		set_phase "up, but driver $DRIVER does not hold the GPU"
		die "driver '$DRIVER' does not hold the GPU after $((SECONDS - began)) s; the bed stays up to look at it" \
			"see: tb log server --name $NAME; tb run --name $NAME -- dmesg"
	fi
	[ "$DRIVER" = none ] || say "driver $DRIVER bound after $((SECONDS - began)) s"
}

# share_kvgpu: copies the module and its tools into the shared folder, where bind-driver finds them.
share_kvgpu()
{
	local share label=$KERNEL
	share=$(bed_home)/share
	cp "$KVGPU_KO" "$share/kvgpu.ko"
	cp "$KVGPU_FIRMWARE" "$share/kvgpu-firmware"
	cp "$KVGPU_TOP" "$share/kvgpu-top"
	# the debug kernel is built without nouveau: take the base kernel's
	! is_debug_kernel "$label" || label=$(default_kernel)
	"$KVGPU_FIRMWARE" --quiet --module "$(nouveau_module "$label")" --output "$share/gk110.fw" ||
		die "no firmware file for kvgpu out of the nouveau of kernel $label"
}

nouveau_module() # LABEL: prints the path of that kernel's nouveau.ko
{
	local file
	for file in "$STAGES/$(server_stage)/root/usr/lib/modules/$(kernel_release "$1")"/kernel/drivers/gpu/drm/nouveau/nouveau.ko*; do
		printf '%s\n' "$file"
	done
}
