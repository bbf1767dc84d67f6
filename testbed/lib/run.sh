# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb run and tb share.

# bed_ssh WORD...: runs exactly these words in the server.
bed_ssh()
{
	local command=''
	[ $# -eq 0 ] || command=$(printf '%q ' "$@")
	ssh -F "$(bed_run)/ssh_config" -o ControlMaster=no server -- "$command"
}

need_up()
{
	case $(bed_state) in
	up) return 0 ;;
	dead) show_death ;;
	esac
	DIE_STATUS=125 die "bed '$NAME' is $(bed_state)" "start it with: tb up --name $NAME"
}

# tb run: exit status is that of the command, or 125 if the bed is not up or dies meanwhile
cmd_run()
{
	local status=0
	bed_options "$@"
	[ "${REST[0]-}" != -- ] || REST=("${REST[@]:1}")
	[[ ${REST[0]-} != -* ]] || usage_error "run: unknown option '${REST[0]}'"
	need_up
	if [ ${#REST[@]} -eq 0 ]; then
		ssh -F "$(bed_run)/ssh_config" -o ControlMaster=no server || status=$?
	else
		bed_ssh "${REST[@]}" || status=$?
	fi
	[ $status -ne 255 ] || explain_lost_connection
	return $status
}

# explain_lost_connection: for ssh's exit status 255. Returns if the connection still exists: then
# 255 is the command's own status. Else ends tb with status 125.
explain_lost_connection()
{
	local tries
	! ssh -F "$(bed_run)/ssh_config" -O check server 2> /dev/null || return 0
	for tries in {1..25}; do
		bed_locked || break
		sleep 0.2
	done
	: "$tries"
	if [ "$(bed_state)" = dead ]; then show_death; fi
	DIE_STATUS=125 die "the connection to the server is lost; bed '$NAME' is $(bed_state)"
}

cmd_share()
{
	bed_options "$@"
	no_more_arguments share
	mkdir -p "$(bed_home)/share"
	printf '%s\n' "$(bed_home)/share"
}

# tb image: prints the folder of the image, and of the kernels and initramfs that boot it
cmd_image()
{
	[ $# -eq 0 ] || usage_error "image: unknown argument '$1'"
	need_root image
	setup
	image_dir
}
