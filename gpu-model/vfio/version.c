// SPDX-License-Identifier: GPL-2.0-only
/*
 * VERSION, the hand-shake: a version number and a JSON object of capabilities. The parser must not
 * read beyond the message's bytes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define JSON_DEPTH 16
#define TEXT_MAX   4096 /* bytes of the reply's text */

struct json {
	const char *p, *end;
	unsigned int depth;
};

struct capabilities {
	double max_xfer, max_fds;
	bool write_multiple;
};

static void json_space(struct json *j)
{
	while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\n' || *j->p == '\r'))
		j->p++;
}

static bool json_take(struct json *j, char c)
{
	json_space(j);
	if (j->p == j->end || *j->p != c)
		return false;
	j->p++;
	return true;
}

/* *@s points at the text between the quotes; escapes are left as they are. */
static bool json_string(struct json *j, const char **s, size_t *len)
{
	if (!json_take(j, '"'))
		return false;
	for (*s = j->p; j->p < j->end; j->p++) {
		if ((unsigned char)*j->p < 0x20)
			return false;
		if (*j->p == '"') {
			*len = j->p++ - *s;
			return true;
		}
		if (*j->p == '\\' && ++j->p == j->end)
			return false;
	}
	return false;
}

static bool json_number(struct json *j, double *v)
{
	char text[32];
	size_t n = 0;
	char *end;

	json_space(j);
	while (j->p < j->end && n < sizeof(text) - 1 && strchr("+-.0123456789eE", *j->p) && *j->p)
		text[n++] = *j->p++;
	text[n] = 0;
	if (!n || text[0] == '+' || text[0] == '.')
		return false;
	*v = strtod(text, &end);
	return !*end;
}

static bool json_word(struct json *j, const char *word)
{
	size_t n = strlen(word);

	json_space(j);
	if ((size_t)(j->end - j->p) < n || memcmp(j->p, word, n))
		return false;
	j->p += n;
	return true;
}

typedef bool (*json_member)(struct json *j, const char *name, size_t len, struct capabilities *c);

static bool json_skip(struct json *j);

static bool json_object(struct json *j, json_member member, struct capabilities *c)
{
	const char *name;
	size_t len;

	if (!json_take(j, '{') || j->depth == JSON_DEPTH)
		return false;
	j->depth++;
	if (!json_take(j, '}')) {
		do {
			json_space(j);
			if (!json_string(j, &name, &len) || !json_take(j, ':'))
				return false;
			if (!(member ? member(j, name, len, c) : json_skip(j)))
				return false;
		} while (json_take(j, ','));
		if (!json_take(j, '}'))
			return false;
	}
	j->depth--;
	return true;
}

static bool json_array(struct json *j)
{
	if (!json_take(j, '[') || j->depth == JSON_DEPTH)
		return false;
	j->depth++;
	if (!json_take(j, ']')) {
		do {
			if (!json_skip(j))
				return false;
		} while (json_take(j, ','));
		if (!json_take(j, ']'))
			return false;
	}
	j->depth--;
	return true;
}

static bool json_skip(struct json *j)
{
	const char *s;
	size_t len;
	double v;

	json_space(j);
	if (j->p == j->end)
		return false;
	switch (*j->p) {
	case '{':
		return json_object(j, NULL, NULL);
	case '[':
		return json_array(j);
	case '"':
		return json_string(j, &s, &len);
	case 't':
		return json_word(j, "true");
	case 'f':
		return json_word(j, "false");
	case 'n':
		return json_word(j, "null");
	default:
		return json_number(j, &v);
	}
}

static bool name_is(const char *name, size_t len, const char *want)
{
	return len == strlen(want) && !memcmp(name, want, len);
}

static bool capability(struct json *j, const char *name, size_t len, struct capabilities *c)
{
	if (name_is(name, len, "max_data_xfer_size"))
		return json_number(j, &c->max_xfer);
	if (name_is(name, len, "max_msg_fds"))
		return json_number(j, &c->max_fds);
	if (name_is(name, len, "write_multiple")) {
		c->write_multiple = json_word(j, "true");
		return c->write_multiple || json_word(j, "false");
	}
	return json_skip(j);
}

static bool toplevel(struct json *j, const char *name, size_t len, struct capabilities *c)
{
	return name_is(name, len, "capabilities") ? json_object(j, capability, c) : json_skip(j);
}

/* @text may end with a NUL, or be empty. False: not an object of JSON. */
static bool parse(const char *text, size_t len, struct capabilities *c)
{
	struct json j = { .p = text, .end = text + len };

	if (len && !text[len - 1])
		j.end--;
	if (j.p == j.end)
		return true;
	if (!json_object(&j, toplevel, c))
		return false;
	json_space(&j);
	return j.p == j.end;
}

int version_negotiate(struct vfio_server *s, struct vu_msg *m)
{
	struct capabilities c = { .max_xfer = VU_DEFAULT_XFER, .max_fds = 1 };
	struct vu_version v;
	int n;

	memcpy(&v, m->data, sizeof(v));
	if (v.major != 0) {
		gk110_note(s->g, "client speaks vfio-user %u.%u, this is 0.0", v.major, v.minor);
		return -EINVAL;
	}
	if (!parse((const char *)m->data + sizeof(v), m->len - sizeof(v), &c) ||
	    !(c.max_xfer >= 8) || !(c.max_fds >= 0)) {
		gk110_note(s->g, "client's capabilities make no sense: %.*s",
			   (int)(m->len - sizeof(v) < 200 ? m->len - sizeof(v) : 200),
			   m->data + sizeof(v));
		return -EINVAL;
	}
	s->client.max_xfer = c.max_xfer < VU_DEFAULT_XFER ? (uint32_t)c.max_xfer : VU_DEFAULT_XFER;
	s->client.greeted = true;
	v.minor = 0;
	memcpy(m->reply, &v, sizeof(v));
	n = snprintf(
		(char *)m->reply + sizeof(v), TEXT_MAX,
		"{\"capabilities\":{\"max_msg_fds\":%u,\"max_data_xfer_size\":%u,\"max_dma_maps\":%u,\"pgsizes\":%u%s}}",
		VU_MAX_FDS, VU_DEFAULT_XFER, VU_MAX_DMA_MAPS, VU_PAGE,
		c.write_multiple ? ",\"write_multiple\":true" : "");
	m->reply_len = sizeof(v) + n + 1;
	return 0;
}
