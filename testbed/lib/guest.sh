# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb guest: guests inside the server, under libvirt and the server's own KVM. inside/guest in the
# server does the work; this passes arguments, streams and exit codes through.

cmd_guest()
{
	bed_options "$@"
	[ ${#REST[@]} -gt 0 ] || usage_error "guest: start, run, stop, list or stats?"
	case ${REST[0]} in
	start | run | stop | list | stats) ;;
	*) usage_error "guest: unknown command '${REST[0]}'; it is one of start, run, stop, list, stats" ;;
	esac
	# wrong arguments are refused also if no server is up
	"${TB%/*}/inside/guest" words "${REST[@]}" || exit 2
	need_up
	local status=0
	bed_ssh /opt/testbed/guest "${REST[@]}" || status=$?
	[ $status -ne 255 ] || explain_lost_connection
	return $status
}
