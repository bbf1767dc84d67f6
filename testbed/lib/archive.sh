# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Where Debian packages come from: always the archive that this machine's own apt is configured for.

ARCHIVE_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# host_archives: "URI SUITE" of every configured Debian package index, in apt's own reading of
# its configuration (one-line and deb822 files alike).
host_archives() {
	# apt fills in $(REPO_URI) and $(RELEASE)
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
		sed 's,/ , ,' | sort -u
}

# archive_uri main|security
archive_uri() {
	local uri suite main='' security=''
	while read -r uri suite; do
		case $suite in
		bookworm-security | trixie-security) security=$uri ;;
		bookworm | trixie) main=$uri ;;
		esac
	done < <(host_archives)
	[ -n "$main" ] || die "apt on this machine has no Debian 12 or 13 archive configured" \
		"add one to /etc/apt/sources.list.d and run 'apt-get update'"
	if [ -z "$security" ]; then
		security=${main%/}-security
	fi
	case $1 in
	main) printf '%s\n' "${main%/}" ;;
	security) printf '%s\n' "${security%/}" ;;
	esac
}

# source_line SUITE[:COMPONENT,...]: a one-line apt source for it; of main if it doesn't say.
source_line() {
	local kind=main suite=${1%%:*} components=main
	case $suite in *-security) kind=security ;; esac
	case $1 in *:*) components=${1#*:} ;; esac
	printf 'deb [signed-by=%s] %s %s %s\n' "$ARCHIVE_KEYRING" "$(archive_uri $kind)" "$suite" "${components//,/ }"
}

# host_apt_options: how this machine reaches its archive (proxies, certificates, validity of old
# snapshots), one apt option a line, for apt runs that do not read /etc/apt.
host_apt_options() {
	apt-config dump | grep -E '^Acquire::((https?|Retries|Check-Valid-Until|Check-Date)([: ]|$))' |
		grep -v '"";$' || true
}

# private_apt DIR SUITE...: an apt of our own in DIR that knows only these suites.
private_apt() {
	local dir=$1 suite
	shift
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/etc/parts"
	: > "$dir/status"
	for suite in "$@"; do source_line "$suite"; done > "$dir/etc/sources.list"
	{
		host_apt_options
		cat <<-EOF
		Dir::State "$dir";
		Dir::State::lists "$dir/lists";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir/cache";
		Dir::Etc::sourcelist "$dir/etc/sources.list";
		Dir::Etc::sourceparts "$dir/etc/parts";
		Dir::Etc::preferences "$dir/etc/preferences";
		Dir::Etc::preferencesparts "$dir/etc/parts";
		Acquire::Languages "none";
		APT::Sandbox::User "root";
		EOF
	} > "$dir/apt.conf"
	APT_CONFIG=$dir/apt.conf apt-get -q update
}
