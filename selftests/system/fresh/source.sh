# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced by run.sh: where a cell's packages come from: the archive of this machine's apt, through
# proxy.py, which keeps them for the next cell.

# apt_value NAME: prints a value of apt's configuration, or nothing if there is none
apt_value() { apt-config dump "$1" | sed -n "s|^$1 \"\\(.*\\)\";\$|\\1|p" | tail -n 1; }

# proxy_of SCHEME HOST: prints the proxy through which apt on this machine reaches HOST, or nothing
# if it uses none
proxy_of()
{
	local value
	for value in "$(apt_value "Acquire::$1::Proxy::$2")" "$(apt_value "Acquire::$1::Proxy")" "$(printenv "$1_proxy" || true)"; do
		[ -n "$value" ] || continue
		[ "$value" = DIRECT ] || printf '%s\n' "$value"
		return
	done
}

uri_host() { sed -E 's,^[a-z]+://([^/]*).*,\1,' <<<"$1"; }

# proxy_options SUITE: prints options that tell proxy.py how to reach the archive. apt in a cell uses
# http, because a new root has no certificates; proxy.py uses https if the archive does.
proxy_options()
{
	local suite uri host via='' ca
	for suite in "$1" "$1-security"; do
		uri=$(archive_of "$suite" | cut -f 2)
		host=$(uri_host "$uri")
		case $uri in
		http://*) via=$(proxy_of http "$host") ;;
		https://*) printf -- '--tls\n%s\n' "$host"; via=$(proxy_of https "$host") ;;
		*) die "apt on this machine has its packages from $uri" "check-fresh can pass on http and https only" ;;
		esac
	done
	[ -z "$via" ] || printf -- '--via\n%s\n' "$via"
	ca=$(apt_value Acquire::https::CaInfo)
	[ -z "$ca" ] || printf -- '--ca-file\n%s\n' "$ca"
}

# root_sources SUITE: prints apt's sources for the cell
root_sources()
{
	local suite
	for suite in "$1" "$1-updates" "$1-security"; do
		source_line "$suite" | sed 's,https://,http://,'
	done
}

# root_keys SUITE: prints the key files that those sources name
root_keys() { root_sources "$1" | sed -n 's/.*[[ ]signed-by=\([^] ]*\).*/\1/p' | tr ',' '\n' | sort -u; }

# cell_apt_options PORT: prints apt's options for the cell: this machine's, but with proxy.py as the
# proxy
cell_apt_options()
{
	host_apt_options | grep -vE '^Acquire::https?::(Proxy|CaInfo)|^Acquire::https?[ :].*::(SslCert|SslKey)' || true
	printf 'Acquire::http::Proxy "http://127.0.0.1:%s";\n' "$1"
}
