// SPDX-License-Identifier: MIT
/*
 * Shutting out a name or a key. The file is root's, as the folder is: a server that is confined
 * can't write there, and one that does not run has to know it, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <remote/conf/refused.h>

#include "ctl.h"

enum { PATH = 512 };

static const char *kind_of(const char *word)
{
	return refused_is_fingerprint(word) ? "key" : "name";
}

static bool take_word(const char *text, char word[REFUSED_WORD])
{
	if (!strchr(text, '\n') && refused_word(text, word) == 1)
		return true;
	report_error(
		"\"%s\": neither a client's name, 1 to 63 letters, digits, - . _, nor a key's fingerprint, 64 hexadecimal digits",
		text);
	return false;
}

/* Copy the lines that have another word; *nr: how many had this one. False: a line is wrong. */
static bool copy_others(FILE *from, FILE *to, const char *path, const char *word, unsigned int *nr)
{
	char *line = NULL, other[REFUSED_WORD];
	unsigned int at = 0;
	size_t room = 0;
	ssize_t n;
	int r = 0;

	*nr = 0;
	while (r >= 0 && (n = getline(&line, &room, from)) >= 0) {
		at++;
		r = strlen(line) == (size_t)n ? refused_word(line, other) : -EINVAL;
		if (r > 0 && !strcmp(other, word))
			++*nr;
		else if (r >= 0)
			fprintf(to, "%s%s", line, line[n - 1] == '\n' ? "" : "\n");
	}
	free(line);
	if (r < 0)
		report_error(
			"%s:%u: neither a name nor a fingerprint: while it is there all clients by TLS are refused",
			path, at);
	else if (!feof(from))
		report_error("%s: %s", path, strerror(errno));
	return r >= 0 && feof(from);
}

/* Replace the file by one with or without @word; *was: whether it was there. */
static bool rewrite(const char *folder, const char *word, bool with, bool *was)
{
	char path[PATH], next[PATH + 4];
	struct new_file file = { .path = next, .mode = 0644 };
	FILE *from, *to;
	unsigned int nr = 0;
	char *text = NULL;
	bool ok;

	if ((size_t)snprintf(path, PATH, "%s/" REFUSED_FILE, folder) >= PATH) {
		report_error("%s: the path is too long", folder);
		return false;
	}
	snprintf(next, sizeof(next), "%s.new", path);
	from = fopen(path, "re");
	if (!from && errno != ENOENT) {
		report_error("%s: %s", path, strerror(errno));
		return false;
	}
	to = open_memstream(&text, &file.n);
	ok = to && (!from || copy_others(from, to, path, word, &nr));
	*was = nr;
	if (to && with)
		fprintf(to, "%s\n", word);
	if (from)
		fclose(from);
	if (!to || fclose(to)) {
		report_error("out of memory");
		ok = false;
	}
	file.bytes = text;
	if (ok && *was != with) {
		ok = write_new(&file, 1);
		if (ok && rename(next, path)) {
			report_error("%s: %s", path, strerror(errno));
			unlink(next);
			ok = false;
		}
	}
	free(text);
	return ok;
}

int ctl_refuse(const char *socket, const char *folder, const char *given)
{
	char word[REFUSED_WORD], line[REFUSED_WORD + 8], *text = NULL;
	bool was, runs, ok;
	unsigned int n = 0;

	if (!take_word(given, word) || !rewrite(folder, word, true, &was))
		return 1;
	snprintf(line, sizeof(line), "refuse %s", word);
	runs = !access(socket, F_OK) || errno != ENOENT;
	ok = !runs || admin_socket_ask(socket, line, &text);
	printf("%s the %s %s", was ? "is refused already:" : "refused", kind_of(word), word);
	if (!runs)
		printf("; no server is at %s\n", socket);
	else if (ok && sscanf(text, "ended %u", &n) == 1)
		printf("; %u client%s ended\n", n, n == 1 ? "" : "s");
	else
		printf("; no client was ended\n");
	free(text);
	return !ok;
}

int accept_again(const char *folder, const char *given)
{
	char word[REFUSED_WORD];
	bool was;

	if (!take_word(given, word) || !rewrite(folder, word, false, &was))
		return 1;
	printf("%s the %s %s\n", was ? "accepted" : "was not refused:", kind_of(word), word);
	return 0;
}
