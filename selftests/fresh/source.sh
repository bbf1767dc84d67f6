# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Where a cell's packages come from: the archive of this machine's apt, through proxy.py, which keeps them for the next cell.

# a value of apt's configuration, empty if there is none
apt_value() { apt-config dump "$1" | sed -n "s|^$1 \"\\(.*\\)\";\$|\\1|p" | tail -n 1; }

# proxy_of SCHEME HOST: this machine's own way there, as apt finds it; empty: none
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

# proxy_options SUITE: how proxy.py reaches the archive. A root has no certificates, so it asks for http and the proxy for https.
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

# root_sources SUITE: apt's sources of a fresh machine
root_sources()
{
	local suite
	for suite in "$1" "$1-updates" "$1-security"; do
		source_line "$suite" | sed 's,https://,http://,'
	done
}

# root_keys SUITE: the files of the keys that those sources name
root_keys() { root_sources "$1" | sed -n 's/.*[[ ]signed-by=\([^] ]*\).*/\1/p' | tr ',' '\n' | sort -u; }

# cell_apt_options PORT: this machine's, without its own proxies
cell_apt_options()
{
	host_apt_options | grep -vE '^Acquire::https?::(Proxy|CaInfo)|^Acquire::https?[ :].*::(SslCert|SslKey)' || true
	printf 'Acquire::http::Proxy "http://127.0.0.1:%s";\n' "$1"
}
