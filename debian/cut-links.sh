#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# cut-links.sh FOLDER: in the pages (*.md) below FOLDER, takes links away that lead nowhere there: of a link to a file that is not
# there, and of a picture, the text stays. Packages have some of our pages, and not the sources beside them.
set -eu
find "$1" -type f -name '*.md' -exec perl -0777 -i -pe '
	my $folder = $ARGV =~ s,[^/]*$,,r;
	s{!?\[([^\]]*)\]\((?![a-z]+:|\#)([^)\#]*)[^)]*\)}{-e "$folder$2" ? $& : $1}ge' {} +
