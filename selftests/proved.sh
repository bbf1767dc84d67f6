# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced. A check whose result follows from the contents of files alone needs to pass once for these contents, in whatever
# clone: that it did is kept in the cache. Failures are never kept.

PROVED=${KVGPU_CACHE:-$HOME/.cache/kvgpu}/proved

# proof_key TEXT... < CONTENTS: stands for the contents and the texts (which check, which version of the tool)
proof_key() { { printf '%s\n' "$@"; cat; } | sha256sum | cut -c1-24; }

# is_proved NAME KEY; a proof that is used stays young
is_proved() { [ -e "$PROVED/$1/$2" ] && touch "$PROVED/$1/$2"; }

set_proved()
{
	mkdir -p "$PROVED/$1" && : >"$PROVED/$1/$2"
	# what no tree asked for in a month goes
	find "$PROVED/$1" -type f -mtime +30 -delete
}
