// SPDX-License-Identifier: MIT
#include "conf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda/api/process.h>
#include <include/user/command_line.h>

/* ------------------------------------------------------------------ values */

static bool digits(const char **at, uint64_t *n)
{
	const char *begin = *at;

	*n = 0;
	for (; isdigit((unsigned char)**at); ++*at)
		if (__builtin_mul_overflow(*n, 10, n) ||
		    __builtin_add_overflow(*n, (uint64_t)(**at - '0'), n))
			return false;
	return *at != begin;
}

bool conf_natural(const char *text, uint64_t max, uint64_t *n)
{
	return digits(&text, n) && !*text && *n <= max;
}

static bool store_number(uint64_t n, void *to, const struct conf_key *k)
{
	if (n < k->min || n > k->max)
		return false;
	*(uint64_t *)to = n;
	return true;
}

bool conf_number(const char *value, void *to, const struct conf_key *k)
{
	uint64_t n;

	return conf_natural(value, UINT64_MAX, &n) && store_number(n, to, k);
}

bool conf_size(const char *value, void *to, const struct conf_key *k)
{
	static const char units[] = "KMGT";
	const char *unit;
	uint64_t n;

	if (!digits(&value, &n))
		return false;
	if (*value) {
		unit = strchr(units, *value);
		if (!unit || value[1] ||
		    __builtin_mul_overflow(n, 1024ull << 10 * (unit - units), &n))
			return false;
	}
	return store_number(n, to, k);
}

bool conf_time(const char *value, void *to, const struct conf_key *k)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = { { "s", 1 }, { "min", 60 }, { "h", 3600 } };
	uint64_t n;
	size_t i;

	if (!digits(&value, &n))
		return false;
	for (i = 0; i < 3; i++)
		if (!strcmp(value, units[i].name))
			return !__builtin_mul_overflow(n, units[i].seconds, &n) &&
			       store_number(n, to, k);
	return !*value && !n && store_number(n, to, k);
}

bool conf_yes(const char *value, void *to, const struct conf_key *k)
{
	bool yes = !strcmp(value, "yes");

	if (!yes && strcmp(value, "no"))
		return false;
	*(bool *)to = yes;
	return true;
}

bool conf_text(const char *value, void *to, const struct conf_key *k)
{
	if (strlen(value) >= k->max)
		return false;
	strcpy(to, value);
	return true;
}

bool conf_path(const char *value, void *to, const struct conf_key *k)
{
	return *value == '/' && conf_text(value, to, k);
}

/* ------------------------------------------------------------------ lines */

struct reader {
	const struct conf_form *form;
	/* to: what the section's keys fill, or conf; NULL: the section's head is wrong */
	void *conf, *to;
	uint64_t seen; /* a bit for each key that this section has had */
	struct conf_error *e;
};

static bool wrong_line(struct reader *r, const char *what, const char *of)
{
	snprintf(r->e->text, sizeof(r->e->text), "%s%s%s%s", what, *of ? " \"" : "", of,
		 *of ? "\"" : "");
	return false;
}

/* cut blanks at both ends, in place */
static char *trim_text(char *text)
{
	char *end;

	text += strspn(text, " \t\r");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r", end[-1]))
		end--;
	*end = 0;
	return text;
}

/* cut a comment: from a # that begins the line, or has a blank before it */
static void cut_comment(char *line)
{
	char *at;

	for (at = strchr(line, '#'); at; at = strchr(at + 1, '#'))
		if (at == line || strchr(" \t", at[-1])) {
			*at = 0;
			return;
		}
}

static bool take_section(struct reader *r, char *line)
{
	size_t n = strlen(line);
	char *kind, *name, why[CONF_TEXT] = "";

	r->to = NULL;
	if (line[n - 1] != ']')
		return wrong_line(r, "a section is [KIND NAME]", "");
	line[n - 1] = 0;
	kind = trim_text(line + 1);
	name = kind + strcspn(kind, " \t");
	if (*name)
		*name++ = 0;
	name = trim_text(name);
	if (!r->form->section)
		return wrong_line(r, "this file has no sections: ", kind);
	r->to = r->form->section(r->conf, kind, name, why);
	r->seen = 0;
	return r->to || wrong_line(r, why, "");
}

void conf_wrong_value(struct conf_error *e, const char *name, const struct conf_key *k,
		      const char *value)
{
	const char *why = k->why && *value ? k->why(value) : NULL;

	if (why)
		snprintf(e->text, sizeof(e->text), "%s: %s: \"%s\"", name, why, value);
	else
		snprintf(e->text, sizeof(e->text), "%s is %s, not \"%s\"", name, k->want, value);
}

static bool take_key(struct reader *r, char *line)
{
	char *equals = strchr(line, '='), *key, *value;
	const struct conf_key *k = r->form->keys;
	unsigned int i = 0;

	if (!equals)
		return wrong_line(r, "a line is \"key = value\"", "");
	*equals = 0;
	key = trim_text(line);
	value = trim_text(equals + 1);
	while (i < r->form->nr_keys && strcmp(k[i].name, key))
		i++;
	if (i == r->form->nr_keys) {
		wrong_word(r->e->text, "key", key, k, i, sizeof(*k));
		return false;
	}
	if (!r->to)
		return true;
	if (r->to != r->conf && i >= r->form->nr_section_keys)
		return wrong_line(
			r,
			"this key is for all clients, so it stands before the first section:", key);
	if (r->seen & 1ull << i && !k[i].often)
		return wrong_line(r, "this key stands twice:", key);
	r->seen |= 1ull << i;
	if (*value && k[i].read(value, k[i].often ? r->to : (char *)r->to + k[i].at, &k[i]))
		return true;
	conf_wrong_value(r->e, key, &k[i], value);
	return false;
}

static bool take_line(struct reader *r, const char *bytes, size_t n)
{
	char text[CONF_LINE_MAX], *line;
	size_t i;

	if (n >= sizeof(text))
		return wrong_line(r, "the line is too long: 511 bytes at most", "");
	for (i = 0; i < n; i++)
		if (iscntrl((unsigned char)bytes[i]) && !memchr("\t\r", bytes[i], 2))
			return wrong_line(r, "the line has a byte that is no text", "");
	memcpy(text, bytes, n);
	text[n] = 0;
	cut_comment(text);
	line = trim_text(text);
	if (!*line)
		return true;
	return *line == '[' ? take_section(r, line) : take_key(r, line);
}

bool conf_parse(const struct conf_form *form, void *conf, const char *bytes, size_t n,
		struct conf_error *e)
{
	struct reader r = { form, conf, conf, 0, e };
	struct conf_error last = { 0 };
	const char *end;

	*e = (struct conf_error){ 0 };
	if (n > CONF_FILE_MAX)
		return wrong_line(&r, "the file is longer than 64 KiB", "");
	while (n) {
		end = memchr(bytes, '\n', n);
		e->line++;
		if (!take_line(&r, bytes, end ? (size_t)(end - bytes) : n)) {
			if (!form->wrong)
				return false;
			form->wrong(e, form->of);
			last = *e;
		}
		if (!end)
			break;
		n -= end + 1 - bytes;
		bytes = end + 1;
	}
	*e = last;
	return !last.line;
}

bool conf_load(const struct conf_form *form, void *conf, const char *path, bool *missing,
	       struct conf_error *e)
{
	char *bytes = malloc(CONF_FILE_MAX + 1);
	int fd = bytes ? own_descriptor(open(path, O_RDONLY | O_CLOEXEC)) : -1;
	size_t n = 0;
	ssize_t some = -1;
	bool fine = false;

	*e = (struct conf_error){ 0 };
	*missing = bytes && fd < 0 && errno == ENOENT;
	while (fd >= 0 && n <= CONF_FILE_MAX &&
	       (some = read(fd, bytes + n, CONF_FILE_MAX + 1 - n)) > 0)
		n += some;
	if (fd < 0 || some < 0)
		snprintf(e->text, sizeof(e->text), "%s", strerror(bytes ? errno : ENOMEM));
	else
		fine = conf_parse(form, conf, bytes, n, e);
	if (fd >= 0)
		close(fd);
	free(bytes);
	return fine;
}
