/* SPDX-License-Identifier: MIT */
/*
 * The file "refused" in a server's folder of certificates: who is let in no more, though the
 * certificate is of the server's CA. A line is a name or the fingerprint of a certificate's key; #
 * begins a comment. kvgpu-remotectl writes it, kvgpu-remoted reads it whenever a client comes by
 * TLS.
 */
#ifndef KVGPU_REMOTE_CONF_REFUSED_H
#define KVGPU_REMOTE_CONF_REFUSED_H

#include "conf.h"

#define REFUSED_FILE "refused"
/* a name (63 bytes at most), or 64 small hexadecimal digits, which are no name; with its zero */
enum { REFUSED_WORD = 65 };

/*
 * The word of a line: a name, also with "tls:" before it, or a fingerprint by SHA-256, whose digits
 * may be large, and have colons between them. 1: @word; 0: the line has none; -EINVAL: another one.
 * Pure.
 */
int refused_word(const char *line, char word[REFUSED_WORD]);
/* whether @word, as refused_word() gives it, is a fingerprint */
bool refused_is_fingerprint(const char *word);
/*
 * Look for a name and a fingerprint in the file of @folder. 1: it has one of them; 0: it has
 * neither, or is not there; -errno: it can't be read, or has a line that is wrong. @why: its path,
 * and the line or the error, if the result is not 0.
 */
int refused_find(const char *folder, const char *name, const char *fingerprint,
		 char why[CONF_TEXT]);

#endif
