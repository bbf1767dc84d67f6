// SPDX-License-Identifier: MIT
#include "refused.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { DIGITS = REFUSED_WORD - 1 };

bool refused_is_fingerprint(const char *word)
{
	return strlen(word) == DIGITS && strspn(word, "0123456789abcdef") == DIGITS;
}

/* a colon may stand after each two digits but the last ones */
static bool take_digits(const char *text, size_t n, char word[REFUSED_WORD])
{
	size_t i, have = 0;

	for (i = 0; i < n && have < DIGITS; i++) {
		if (isxdigit((unsigned char)text[i]))
			word[have++] = tolower((unsigned char)text[i]);
		else if (text[i] != ':' || !have || have % 2 || text[i - 1] == ':')
			return false;
	}
	word[have] = 0;
	return i == n && have == DIGITS;
}

int refused_word(const char *line, char word[REFUSED_WORD])
{
	size_t n, i;

	line += strspn(line, " \t");
	n = strcspn(line, "#\r\n");
	while (n && strchr(" \t", line[n - 1]))
		n--;
	if (!n)
		return 0;
	if (take_digits(line, n, word))
		return 1;
	if (n > 4 && !strncmp(line, "tls:", 4)) {
		line += 4;
		n -= 4;
	}
	if (n >= DIGITS)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)line[i]) && !strchr("-._", line[i]))
			return -EINVAL;
	memcpy(word, line, n);
	word[n] = 0;
	return 1;
}

/* @nr: the line that has one of them, or is wrong; 0: the file can't be read */
static int search(FILE *f, const char *name, const char *fingerprint, unsigned int *nr)
{
	char *line = NULL, word[REFUSED_WORD];
	size_t room = 0;
	ssize_t n;
	int r = 0;

	for (*nr = 1; !r && (n = getline(&line, &room, f)) >= 0; ++*nr) {
		r = strlen(line) == (size_t)n ? refused_word(line, word) : -EINVAL;
		if (r > 0)
			r = !strcmp(word, name) || !strcmp(word, fingerprint);
		if (r)
			break;
	}
	if (!r && !feof(f)) {
		r = -(errno ?: EIO);
		*nr = 0;
	}
	free(line);
	return r;
}

int refused_find(const char *folder, const char *name, const char *fingerprint, char why[CONF_TEXT])
{
	char path[200]; /* a server's folder has 191 bytes at most */
	unsigned int nr = 0;
	struct stat st;
	FILE *f = NULL;
	int r;

	errno = ENAMETOOLONG;
	if (snprintf(path, sizeof(path), "%s/" REFUSED_FILE, folder) < (int)sizeof(path))
		f = fopen(path, "re");
	/* a link that leads nowhere is there, and can't be read */
	if (!f && errno == ENOENT && lstat(path, &st) && errno == ENOENT)
		return 0;
	r = f ? search(f, name, fingerprint, &nr) : -errno;
	if (r && nr)
		snprintf(why, CONF_TEXT, "%s:%u%s", path, nr,
			 r < 0 ? ": neither a name nor a fingerprint" : "");
	else if (r)
		snprintf(why, CONF_TEXT, "%s: %s", path, strerror(-r));
	if (f)
		fclose(f);
	return r;
}
