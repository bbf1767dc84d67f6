# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Fetching packages although the archive may change meanwhile and the network may fail: in rounds,
# each of which updates the package lists again.

FETCH_ROUNDS=3

# in_rounds TEXT COMMAND...: runs COMMAND up to FETCH_ROUNDS times, until it succeeds. A round that
# takes longer than KVGPU_TB_FETCH_SECONDS (default 3600) is ended.
in_rounds()
{
	local text=$1 round status limit=${KVGPU_TB_FETCH_SECONDS:-3600} why=''
	shift
	for ((round = 1; round <= FETCH_ROUNDS; round++)); do
		if [ $round -gt 1 ]; then
			tell "$text: $why; round $round of $FETCH_ROUNDS"
			sleep "${KVGPU_TB_FETCH_PAUSE:-$((round * 5))}"
		fi
		printf -- '--- round %d: %s\n' $round "$*"
		status=0
		timeout --kill-after=10 "$limit" "$TB" internal-stage "$@" || status=$?
		case $status in
		0) return 0 ;;
		124 | 137) why="not done after $limit s" ;;
		*) why=$(fetch_error "${STAGE_LOG-}") ;;
		esac
	done
	printf 'E: given up after %d rounds: %s\n' $FETCH_ROUNDS "$why"
	return 1
}

# fetch_error LOG: prints the first error that apt or tb wrote in the last round
fetch_error()
{
	local line=''
	[ ! -r "$1" ] || line=$(awk '/^--- round /{ said = "" } /^(E: |tb: error: )/ && said == "" { said = $0 } END { print said }' "$1")
	line=${line:-it failed}
	printf '%s\n' "${line:0:200}"
}

# tell TEXT: prints TEXT to a stage's log and to the user (descriptor 6)
tell()
{
	printf 'tb: %s\n' "$*"
	if { true >&6; } 2> /dev/null; then printf '\ntb:       %s' "$*" >&6; fi
}

# fetch_packages DIR PACKAGE...: fetches the packages' files into DIR, by the apt that $APT_CONFIG
# configures. Files that are in DIR already with the right checksum are not fetched again. Any other
# .deb file in DIR is removed.
fetch_packages()
{
	local dir=$1 name sum file uri
	local -a files=()
	shift
	apt-get -qq download --print-uris "$@" > "$dir/uris"
	while read -r uri name _ sum; do
		files+=("$name")
		(cd "$dir" && sha256sum --status -c <<< "${sum#SHA256:}  $name") 2> /dev/null || rm -f "$dir/$name"
	done < "$dir/uris"
	: "$uri"
	rm "$dir/uris"
	for file in "$dir"/*.deb; do
		case " ${files[*]} " in *" ${file##*/} "*) ;; *) rm -f "$file" ;; esac
	done
	(cd "$dir" && apt-get -q download "$@")
	# each file has to be there, whatever apt's exit status was
	for name in "${files[@]}"; do
		[ -s "$dir/$name" ] || { printf 'E: %s was not fetched\n' "$name"; return 1; }
	done
}

# fetch_debs DIR SUITE[:COMPONENT,...] PACKAGE...: fetches packages of one suite. Scripts outside of
# the test bed call it: tb internal-stage in_rounds TEXT fetch_debs ...
fetch_debs()
{
	local dir=$1 suite=$2
	shift 2
	mkdir -p "$dir"
	private_apt "$dir/apt" "$suite"
	export APT_CONFIG=$dir/apt/apt.conf
	fetch_packages "$dir" "$@"
	unset APT_CONFIG
	rm -rf "$dir/apt"
}
