# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Where Debian packages come from: always the archive that this machine's own apt is configured for, with its keys, its proxies
# and its way to say so (one-line and deb822 files, "stable" for a codename, mirror lists). Other repositories on the machine are
# told from Debian's by what their InRelease says. The machine's own lists are neither read nor changed: they may be years old.

ARCHIVE_KEYS=${KVGPU_CACHE:-${HOME:-/root}/.cache/kvgpu}/keys

# host_apt_options: how this machine reaches its archive (proxies, certificates, validity of old
# snapshots), one apt option a line, for apt runs that do not read /etc/apt.
host_apt_options()
{
	apt-config dump | grep -E '^Acquire::((https?|Retries|Check-Valid-Until|Check-Date|ForceIPv[46])([: ]|$))' |
		grep -v '"";$' || true
}

# root_apt_options: host_apt_options, retries and time-outs, for the apt that fills a root (mmdebstrap's --aptopt)
root_apt_options()
{
	printf 'Acquire::Retries "%s";\n' "${KVGPU_TB_APT_RETRIES:-3}"
	printf 'Acquire::%s::Timeout "%s";\n' http "${KVGPU_TB_APT_TIMEOUT:-30}" https "${KVGPU_TB_APT_TIMEOUT:-30}"
	host_apt_options
}

# debian_keyring: Debian's own keys, if this machine has them as a file
debian_keyring()
{
	local file
	for file in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
		[ ! -r "$file" ] || { printf '%s\n' "$file"; return; }
	done
}

# apt_conf DIR LIST PARTS: the configuration of an apt of our own in DIR, with the sources of that file and that folder. It takes
# nothing else from /etc/apt but how to reach the archive, its keys and passwords: no hooks, pins or architectures.
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

# private_apt DIR SUITE...: an apt of our own in DIR that knows only these suites. A suite that can't be had is an error.
private_apt()
{
	local dir=$1 suite
	shift
	find_archives
	mkdir -p "$dir"
	for suite in "$@"; do source_line "$suite" || return; done > "$dir/sources.list"
	apt_conf "$dir" "$dir/sources.list" "$dir/etc/parts"
	printf 'APT::Update::Error-Mode "any";\n' >> "$dir/apt.conf"
	APT_CONFIG=$dir/apt.conf apt-get -q update
}

# source_line SUITE[:COMPONENT,...]: a one-line apt source for it; of main if it doesn't say.
source_line()
{
	local suite=${1%%:*} components=main uri options row
	case $1 in *:*) components=${1#*:} ;; esac
	find_archives
	row=$(archive_of "$suite")
	IFS=$'\t' read -r _ uri options <<< "$row"
	printf 'deb [%s] %s %s %s\n' "$options" "$uri" "$suite" "${components//,/ }"
}

# archive_of SUITE: the row of $KVGPU_TB_ARCHIVES that it comes from: its own, or a row of the same kind, since an archive has all of Debian's
# releases with their backports in one place, and their security updates in another.
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

# find_archives: fills $KVGPU_TB_ARCHIVES: a row with codename, URI and source options for each of Debian's suites that the machine's apt is
# configured for. It stays in the environment for tb's further lives.
find_archives()
{
	local dir rows round
	local -a todo
	[ -z "${KVGPU_TB_ARCHIVES-}" ] || return 0
	dir=$(mktemp -d)
	for round in 1 2 3; do
		look_at_sources "$dir" > "$dir/rows"
		rows=$(debian_rows "$dir" < "$dir/rows")
		# a source that does not answer may be a third party's, for good, or Debian's, for a moment
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

# look_at_sources DIR: a row for each of the machine's package sources: codename, origin, label, URI, component, and FILE:NUMBER of the
# entry. The first three are of the archive's InRelease, fetched for this and verified by apt. Those that fail are left out.
look_at_sources()
{
	local dir=$1 list parts uri release component entry file key target
	eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
	apt_conf "$dir" "$list" "$parts"
	# of their indexes none
	apt-config dump | sed -n 's/^\(Acquire::IndexTargets::deb\(-src\)\?::[^: ]*\) "";$/\1::DefaultEnabled "false";/p' >> "$dir/apt.conf"
	APT_CONFIG=$dir/apt.conf timeout "${KVGPU_TB_FETCH_SECONDS:-300}" apt-get -q update > "$dir/log" 2>&1 || true
	# apt fills in the parts; without ReleaseInfo it lists what it has not fetched, too
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

# debian_rows DIR: of the rows of look_at_sources those of Debian's own archives. A mirror that signs by itself may have changed the
# origin's name: where no source is Debian's by name, takes a source that has a release's codename, and the kernel in its component
# main.
debian_rows()
{
	local dir=$1 rows codename uri entry
	rows=$(awk -F '\t' '$2 ~ /^Debian( Backports)?$/ && $3 ~ /^Debian(-Security| Backports)?$/ && $5 == "main" && $4 !~ /^cdrom:/')
	[ -n "$rows" ] || rows=$(renamed_rows "$dir")
	while IFS=$'\t' read -r codename _ _ uri _ entry; do
		# copy: in place of file: mmdebstrap's apt runs in the new root, and can't see files of this machine
		[ -z "$codename" ] || printf '%s\t%s\t%s\n' "$codename" "$(sed 's,^file:,copy:,; s,/*$,,' <<< "$uri")" "$(entry_options "$entry")"
	done < <(sort_releases <<< "$rows")
}

# the releases that the test bed is made of come first: where an archive has to be guessed from another release's, from theirs
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

# entry_options FILE:NUMBER: the options of that source that decide what is believed, as in a one-line source. What Debian has signed
# is believed of every mirror; a source that names no key has those of the machine.
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

# stanza_options: of a deb822 entry, NAME=VALUE,VALUE a line. A key that stands in the entry itself becomes a file.
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

# machine_keyrings: what apt believes where a source names no key
machine_keyrings()
{
	local ring rings
	eval "$(apt-config shell ring Dir::Etc::trusted/f rings Dir::Etc::trustedparts/d)"
	find "$ring" "${rings%/}/" -maxdepth 1 \( -type f -o -type l \) -size +0 \( -name '*.gpg' -o -name '*.asc' \) 2> /dev/null | LC_ALL=C sort
}
