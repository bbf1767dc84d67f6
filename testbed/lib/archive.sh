# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Where Debian packages come from: the archive that this machine's apt is configured for, with apt's
# keys and proxies. The field Origin of a repository's Release file tells Debian's from others.
# Scripts of selftests/ source this file, too, after messages.sh, whose functions it calls.

ARCHIVE_KEYS=${KVGPU_CACHE:-${HOME:-/root}/.cache/kvgpu}/keys

# host_apt_options: prints apt's options on this machine for reaching its archive, one a line.
host_apt_options()
{
	apt-config dump | grep -E '^Acquire::((https?|Retries|Check-Valid-Until|Check-Date|ForceIPv[46])([: ]|$))' |
		grep -v '"";$' || true
}

# root_apt_options: prints host_apt_options, and retries and time-outs, for mmdebstrap's apt
root_apt_options()
{
	printf 'Acquire::Retries "%s";\n' "${KVGPU_TB_APT_RETRIES:-3}"
	printf 'Acquire::%s::Timeout "%s";\n' http "${KVGPU_TB_APT_TIMEOUT:-30}" https "${KVGPU_TB_APT_TIMEOUT:-30}"
	host_apt_options
}

# debian_keyring: prints the path of Debian's own keys, if this machine has them as a file
debian_keyring()
{
	local file
	for file in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
		[ ! -r "$file" ] || { printf '%s\n' "$file"; return; }
	done
}

# apt_conf DIR LIST PARTS: writes DIR/apt.conf, the configuration of an apt that has its state in
# DIR and its sources in the file LIST and the folder PARTS.
apt_conf()
{
	local dir=$1 list=$2 parts=$3 what
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/etc/parts"
	: > "$dir/status"
	{
		root_apt_options
		for what in trusted trustedparts netrc netrcparts; do
			# shellcheck disable=SC2016
			apt-config shell v "Dir::Etc::$what/f" | sed -n "s/^v='\(.*\)'\$/Dir::Etc::$what \"\1\";/p"
		done
		cat <<-CONF
		Dir::State "$dir";
		Dir::State::lists "$dir/lists";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir/cache";
		Dir::Etc::main "$dir/etc/none";
		Dir::Etc::parts "$dir/etc/parts";
		Dir::Etc::sourcelist "$list";
		Dir::Etc::sourceparts "$parts";
		Dir::Etc::preferences "$dir/etc/none";
		Dir::Etc::preferencesparts "$dir/etc/parts";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		Acquire::Languages "none";
		APT::Sandbox::User "root";
		CONF
	} > "$dir/apt.conf"
}

# private_apt DIR SUITE...: makes such an apt in DIR with only these suites as sources, and updates
# its lists. $KVGPU_FETCH_CPU: for machines with that CPU.
private_apt()
{
	local dir=$1 suite
	shift
	find_archives
	mkdir -p "$dir"
	for suite in "$@"; do source_line "$suite" || return; done > "$dir/sources.list"
	apt_conf "$dir" "$dir/sources.list" "$dir/etc/parts"
	sed -i "s/\"amd64\"/\"${KVGPU_FETCH_CPU:-amd64}\"/" "$dir/apt.conf"
	printf 'APT::Update::Error-Mode "any";\n' >> "$dir/apt.conf"
	APT_CONFIG=$dir/apt.conf apt-get -q update
}

# source_line SUITE[:COMPONENT,...]: prints a one-line apt source (main if no component is given)
source_line()
{
	local suite=${1%%:*} components=main uri options row
	case $1 in *:*) components=${1#*:} ;; esac
	find_archives
	row=$(archive_of "$suite")
	IFS=$'\t' read -r _ uri options <<< "$row"
	printf 'deb [%s] %s %s %s\n' "$options" "$uri" "$suite" "${components//,/ }"
}

# archive_of SUITE: prints a row with the URI for SUITE: its own row of $KVGPU_TB_ARCHIVES, else
# that of a related suite.
archive_of()
{
	printf '%s\n' "$KVGPU_TB_ARCHIVES" | awk -F '\t' -v OFS='\t' -v suite="$1" '
		function kind(name) { return name ~ /-security$/ ? "security" : name ~ /-/ ? "part" : "main" }
		$1 == suite && own == "" { own = $0 }
		kind($1) == "main" && main == "" { main = $0 }
		kind($1) == "security" && security == "" { security = $0 }
		END {
			if (own != "")
				print own
			else if (kind(suite) != "security")
				print main
			else if (security != "")
				print security
			else {
				$0 = main
				$2 = $2 "-security"
				print
			}
		}'
}

# find_archives: sets $KVGPU_TB_ARCHIVES, with a row (codename, URI, source options) for each of
# Debian's suites that this machine's apt is configured for.
find_archives()
{
	local dir rows round
	local -a todo
	[ -z "${KVGPU_TB_ARCHIVES-}" ] || return 0
	dir=$(mktemp -d)
	for round in 1 2 3; do
		look_at_sources "$dir" > "$dir/rows"
		rows=$(debian_rows "$dir" < "$dir/rows")
		# a source of Debian may not answer for a moment: try once more; a third party's may
		# never
		if [ -n "$rows" ]; then [ $round = 1 ] && grep -q '^Err:' "$dir/log" || break; fi
		[ $round = 3 ] || sleep "${KVGPU_TB_FETCH_PAUSE:-5}"
	done
	if [ -z "$rows" ]; then
		sed 's/^/apt: /' "$dir/log" >&2
		mapfile -t todo < <(advice "$dir/log")
		rm -rf "$dir"
		die "apt on this machine has no Debian archive configured that answers" \
			"what apt said is above; 'apt-get update' should work, and apt's sources should have Debian 12 or 13, main" "${todo[@]}"
	fi
	rm -rf "$dir"
	export KVGPU_TB_ARCHIVES=$rows
}

# look_at_sources DIR: prints a row for each package source of this machine: codename, origin,
# label, URI, component, and FILE:NUMBER of the source's entry. The first three come from the
# archive's InRelease or Release file, which apt fetches here and verifies.
look_at_sources()
{
	local dir=$1 list parts uri release component entry file key target
	eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
	apt_conf "$dir" "$list" "$parts"
	# fetch only InRelease files, no indexes
	apt-config dump | sed -n 's/^\(Acquire::IndexTargets::deb\(-src\)\?::[^: ]*\) "";$/\1::DefaultEnabled "false";/p' >> "$dir/apt.conf"
	APT_CONFIG=$dir/apt.conf timeout "${KVGPU_TB_FETCH_SECONDS:-300}" apt-get -q update > "$dir/log" 2>&1 || true
	# ReleaseInfo=false: also those that were not fetched
	# shellcheck disable=SC2016
	APT_CONFIG=$dir/apt.conf apt-get indextargets -o Acquire::IndexTargets::deb::Packages::DefaultEnabled=true \
		-o APT::Get::IndexTargets::ReleaseInfo=false \
		--format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SOURCESENTRY)|$(FILENAME)|$(METAKEY)|$(ARCHITECTURE)' 'Created-By: Packages' |
	while IFS='|' read -r uri release component entry file key target; do
		[ "$target" = amd64 ] || continue
		file=${file%"${key//\//_}"}
		for file in "$file"InRelease "$file"Release; do
			[ -s "$file" ] || continue
			awk -v OFS='\t' -v uri="$uri" -v release="$release" -v component="$component" -v entry="$entry" '
				{ sub(/\r$/, "") }
				/^(Origin|Label|Codename): / && !($1 in is) { name = $1; sub(/^[^ ]* /, ""); is[name] = $0 }
				/^(MD5Sum|SHA1|SHA256|SHA512):/ { exit }
				function told(name, other) { return is[name] != "" ? is[name] : other }
				END { print told("Codename:", release), told("Origin:", "-"), told("Label:", "-"), uri, component, entry }' "$file"
			break
		done
	done
}

# debian_rows DIR: reads rows of look_at_sources, and prints codename, URI and options of those that
# are Debian's component main. A mirror that signs its Release files itself may have another origin.
debian_rows()
{
	local dir=$1 rows codename uri entry
	rows=$(awk -F '\t' '$2 ~ /^Debian( Backports)?$/ && $3 ~ /^Debian(-Security| Backports)?$/ && $5 == "main" && $4 !~ /^cdrom:/')
	[ -n "$rows" ] || rows=$(renamed_rows "$dir")
	while IFS=$'\t' read -r codename _ _ uri _ entry; do
		# mmdebstrap's apt runs chrooted and can't use files of this machine in place, as
		# file: means; copy: copies them
		[ -z "$codename" ] || printf '%s\t%s\t%s\n' "$codename" "$(sed 's,^file:,copy:,; s,/*$,,' <<< "$uri")" "$(entry_options "$entry")"
	done < <(sort_releases <<< "$rows")
}

# sort_releases: puts the releases that the test bed uses first
sort_releases() { awk '{ print ($1 ~ /^(bookworm|trixie)/ ? 0 : 1) "\t" NR "\t" $0 }' | sort -n -k 1,2 | cut -f 3-; }

renamed_rows()
{
	local dir=$1/renamed codename uri component entry row
	while IFS=$'\t' read -r codename _ _ uri component entry; do
		[[ $codename =~ ^(bookworm|trixie)$ ]] && [ "$component" = main ] || continue
		printf 'deb [%s] %s %s main\n' "$(entry_options "$entry")" "$uri" "$codename" > "$1/renamed.list"
		apt_conf "$dir" "$1/renamed.list" "$dir/etc/parts"
		APT_CONFIG=$dir/apt.conf apt-get -q update >> "$1/log" 2>&1 || continue
		APT_CONFIG=$dir/apt.conf apt-cache show linux-image-amd64 > "$dir/found" 2>&1 && grep -q '^Version' "$dir/found" || continue
		row=$(grep -F "$codename-" "$1/rows" | awk -F '\t' -v name="$codename" '$1 ~ "^" name "-(security|updates|backports)$"') || true
		printf '%s\t-\t-\t%s\t%s\t%s\n%s\n' "$codename" "$uri" "$component" "$entry" "$row"
		return
	done < "$1/rows"
}

# entry_options FILE:NUMBER: prints the options of that source that decide which signatures apt
# accepts, as in a one-line source.
entry_options()
{
	local file=${1%:*} number=${1##*:} options signers
	case $file in
	*.sources) options=$(sed '/^#/d' "$file" | awk -v n="$number" -v RS= 'NR == n' | stanza_options) ;;
	*) options=$(sed -n "${number}s/^[^[]*\[\([^]]*\)\].*/\1/p" "$file" | tr ' \t' '\n\n') ;;
	esac
	signers=$(sed -n 's/^[Ss]igned-[Bb]y=//p' <<< "$options" | tr ',' '\n')
	[ -n "$signers" ] || signers=$(machine_keyrings)
	signers=$( { printf '%s\n' "$signers"; debian_keyring; } | grep . | awk '!seen[$0]++' | paste -sd , )
	{
		printf 'signed-by=%s\n' "$signers"
		grep -iE '^(trusted|allow-insecure|allow-weak|check-valid-until|check-date)=' <<< "$options" || true
	} | paste -sd ' '
}

# stanza_options: prints those options of a deb822 entry (stdin), NAME=VALUE,VALUE a line. If the
# entry contains a key itself, writes that key to a file.
stanza_options()
{
	local text key
	text=$(cat)
	awk -v IGNORECASE=1 '
		tolower($0) ~ /^(trusted|allow-insecure|allow-weak|check-valid-until|check-date):/ {
			name = tolower($1); sub(/:$/, "", name); print name "=" $2
		}' <<< "$text"
	key=$(awk '/^[^ \t]/ { inside = tolower($0) ~ /^signed-by:/; sub(/^[^:]*:/, "") } inside' <<< "$text" | sed 's/^[ \t]*//; s/^\.$//')
	case $key in
	'') ;;
	*"BEGIN PGP"*)
		mkdir -p "$ARCHIVE_KEYS"
		key=$(sed -n '/BEGIN PGP/,$p' <<< "$key")
		text=$ARCHIVE_KEYS/$(sha256sum <<< "$key" | cut -c1-16).asc
		printf '%s\n' "$key" > "$text.$BASHPID"
		mv "$text.$BASHPID" "$text"
		printf 'signed-by=%s\n' "$text" ;;
	*) printf 'signed-by=%s\n' "$(xargs <<< "$key" | tr ' ' ',')" ;;
	esac
}

# machine_keyrings: prints the paths of apt's own keys
machine_keyrings()
{
	local ring rings
	eval "$(apt-config shell ring Dir::Etc::trusted/f rings Dir::Etc::trustedparts/d)"
	# find fails if one of them does not exist
	{ find "$ring" "${rings%/}/" -maxdepth 1 \( -type f -o -type l \) -size +0 \( -name '*.gpg' -o -name '*.asc' \) 2> /dev/null || true; } | LC_ALL=C sort
}
