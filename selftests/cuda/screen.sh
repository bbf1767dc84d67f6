#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# screen.sh < FILE: the GPU's part of a screen of nvidia-smi without what differs from time to time and from GPU to GPU: the date, name,
# bus and memory, spaces at the end
# screen.sh DOCUMENT: the same of the screen in a document, below the line <!-- no commands: a screen, ... -->
set -eu
if [ $# = 0 ]; then
	cat
else
	awk '/^<!-- no commands: a screen/ { on = 1; next } on && /^[^ ]/ { exit } on' "$1" | sed 's/^    //'
fi | sed -E '
	s/^[A-Z][a-z]{2} [A-Z].* 20[0-9]{2} *$/DATE/
	s/Tesla K20m .*( N\/A +\| [0-9A-F]{8}:)[0-9A-F:.]+/Tesla K20m\1/
	s, +[0-9]+MiB / +[0-9]+MiB \|, MiB |,
	s/ +$//
	/^$/d' | sed 12q
