// SPDX-License-Identifier: MIT
#include "slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9, MIB = 20 };

struct nodes {
	struct host *hosts;
	int nr;
	const char *self, *why;
};

static bool add_node(struct nodes *n, const char *front, size_t length, const char *number)
{
	struct host h = { .gpus = GPUS_UNKNOWN };
	int at;

	n->why = "there are more than 64 nodes, and kvgpu-run takes an allocation of 64 at most";
	if (n->nr == HOSTS_MAX)
		return false;
	n->why = "a node's name is too long";
	if (snprintf(h.name, sizeof(h.name), "%.*s%s", (int)length, front, number) >= HOST_TEXT)
		return false;
	h.local = !strcmp(h.name, n->self);
	at = h.local ? 0 : n->nr;
	memmove(n->hosts + at + 1, n->hosts + at, (n->nr - at) * sizeof(h));
	n->hosts[at] = h;
	n->nr++;
	return true;
}

/*
 * Read a number. Return how many digits it has, as zeros in front belong to a node's name; 0: it
 * has none, or too many.
 */
static int read_number(const char **text, unsigned long *number)
{
	int n = strspn(*text, "0123456789");

	if (!n || n > DIGITS_MAX)
		return 0;
	*number = strtoul(*text, NULL, 10);
	*text += n;
	return n;
}

/* read "1-3,07]" behind the name's front */
static bool add_range(struct nodes *n, const char *front, size_t length, const char **text)
{
	unsigned long from, to;
	char number[24];
	int digits;

	do {
		n->why = "it is no list of nodes";
		digits = read_number(text, &from);
		to = from;
		if (!digits || (**text == '-' && (++*text, !read_number(text, &to))))
			return false;
		for (; from <= to; from++) {
			snprintf(number, sizeof(number), "%0*lu", digits, from);
			if (!add_node(n, front, length, number))
				return false;
		}
		n->why = "it is no list of nodes";
	} while (*(*text)++ == ',');
	return (*text)[-1] == ']';
}

int slurm_nodes(const char *text, const char *self, struct host *hosts, const char **why)
{
	struct nodes n = { hosts, 0, self, "" };
	const char *front;
	bool fine = true;
	size_t length;

	do {
		front = text;
		length = strcspn(text, "[],");
		text += length;
		n.why = "it is no list of nodes";
		fine = plan_is_name(front, length);
		if (fine && *text == '[') {
			text++;
			fine = add_range(&n, front, length, &text);
		} else if (fine) {
			fine = add_node(&n, front, length, "");
		}
		if (fine && *text && *text != ',') {
			n.why = "it is no list of nodes";
			fine = false;
		}
	} while (fine && *text++ == ',');
	*why = n.why;
	return fine ? n.nr : -1;
}

/* the sum of "gpu:2,gpu:k20m:1(S:0),shard:8" for one name */
static unsigned int count_of(const char *text, const char *name)
{
	size_t n = strlen(name), length;
	unsigned int sum = 0;
	const char *at;

	for (;;) {
		/* the end of an entry: a bracket has commas of its own */
		length = strcspn(text, ",( \t\n");
		if (length > n && !strncmp(text, name, n) && text[n] == ':') {
			for (at = text + length; at[-1] != ':'; at--)
				;
			sum += strtoul(at, NULL, 10);
		}
		text += length;
		if (*text == '(')
			text += strcspn(text, ") \t\n");
		if (*text == ')')
			text++;
		if (*text++ != ',')
			return sum;
	}
}

bool slurm_gres(const char *line, struct slurm_gres *g)
{
	const char *at = strstr(line, " Gres=");

	if (!at)
		return false;
	at += strlen(" Gres=");
	g->gpus = count_of(at, "gpu");
	g->shards = count_of(at, "shard");
	return true;
}

uint64_t slurm_part(const struct slurm_gres *node, unsigned int shards, uint64_t total)
{
	unsigned int each = node->gpus ? node->shards / node->gpus : 0;

	if (!shards || !each || shards >= each)
		return 0;
	/* whole MiB; the product fits, a GPU has less than 2^40 bytes */
	return ((total >> MIB) * shards / each) << MIB;
}
