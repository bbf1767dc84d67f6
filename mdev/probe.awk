# SPDX-License-Identifier: GPL-2.0-only
# awk -f probe.awk -v include=FOLDER -v release=RELEASE probes.list: prints what the compiler is to
# be told of the kernel whose headers are in FOLDER/linux. Or prints one line that begins with
# "kvgpu:": probes (three at most are named) found nothing known, or probes.list is wrong.

# tight TEXT: returns TEXT without blanks beside ( ) , ; and *, and with one blank for several
function tight(text,	i)
{
	gsub(/[ \t]+/, " ", text)
	for (i = 1; i <= 5; i++)
		gsub(" ?[" substr("(),;*", i, 1) "] ?", substr("(),;*", i, 1), text)
	return text
}

# text_of HEADER: returns the text of HEADER on one line, tight, without comments; empty if HEADER
# can't be read
function text_of(header,	line, text, path, at, inside)
{
	if (header in texts)
		return texts[header]
	path = include "/linux/" header
	while ((getline line < path) > 0) {
		if (inside) {
			at = index(line, "*/")
			if (!at)
				continue
			line = substr(line, at + 2)
			inside = 0
		}
		while ((at = index(line, "/*"))) {
			text = text substr(line, 1, at - 1) " "
			line = substr(line, at + 2)
			at = index(line, "*/")
			if (!at) {
				inside = 1
				line = ""
				break
			}
			line = substr(line, at + 2)
		}
		sub(/\/\/.*/, "", line)
		text = text line " "
	}
	close(path)
	return texts[header] = tight(text)
}

# says HEADER FORM: returns whether HEADER has FORM (@ in it stands for any name, or none), or, if
# FORM is !WORD, whether HEADER lacks WORD; 0 if HEADER can't be read
function says(header, form,	text)
{
	text = text_of(header)
	if (substr(form, 1, 1) == "!")
		return text != "" && index(text, substr(form, 2)) == 0
	form = tight(form)
	gsub(/[(){}*+?|.]/, "[&]", form)
	gsub(/@/, "[A-Za-z0-9_]*", form)
	return text ~ ("(^|[^A-Za-z0-9_])" form)
}

/^#/ || NF == 0 { next }

{
	probe = $1
	result = $2
	header = $3
	form = $0
	sub(/^[^ \t]+[ \t]+[^ \t]+[ \t]+[^ \t]+[ \t]+/, "", form)
	if (NF < 4 || (result != "yes" && result != "no" && result != "needed"))
		wrong = wrong " " FNR
	if (!(probe in found)) {
		names[++nr] = probe
		found[probe] = ""
	}
	if (found[probe] != "")
		next
	if (says(header, form))
		found[probe] = result
	else if (text_of(header) == "")
		where[probe] = "linux/" header " is not there"
	else if (index(where[probe], "linux/" header) == 0)
		where[probe] = where[probe] (where[probe] == "" ? "" : ", ") "linux/" header
}

END {
	flags = "-DKVGPU_PROBED"
	for (i = 1; i <= nr; i++) {
		if (found[names[i]] == "yes")
			flags = flags " -DKVGPU_HAVE_" names[i]
		else if (found[names[i]] == "" && ++nr_unknown <= 3)
			unknown = unknown (unknown == "" ? "" : ", ") names[i] " (" where[names[i]] ")"
	}
	if (nr_unknown > 3)
		unknown = unknown " and " nr_unknown - 3 " more"
	if (wrong != "" || !nr)
		print "kvgpu: probes.list is not a list of probes" (wrong == "" ? "" : ": line" wrong)
	else if (nr_unknown)
		print "kvgpu: kernel " release ": no form that this kvgpu knows was found by probe " unknown \
			". Use a newer kvgpu, or add the new form: mdev/probes.list and mdev/compat.h"
	else
		print flags
}
