// SPDX-License-Identifier: GPL-2.0-only
/* kvgpu-top --plan: a mix of vGPUs on each card as if it had no vGPU yet. plan.c has the rules. */
#include <stdlib.h>
#include <string.h>

#include "output.h"

#define MIX_PARTS 16

struct part {
	const char *type;
	size_t length; /* of @type */
	long nr;
};

static bool wrong_part(const char *part)
{
	fprintf(stderr,
		"kvgpu-top: --plan wants TYPE=NUMBER,... with numbers from 1 to 999, such as 512m=4,2g=1; not '%s'\n",
		part);
	return false;
}

/* Cut @mix into parts. They point into @mix. */
static bool parse_mix(const char *mix, struct part *parts, size_t *nr_parts)
{
	const char *at = mix;
	char *end;

	for (*nr_parts = 0;; at = end + 1) {
		struct part *p = &parts[*nr_parts];

		if (*nr_parts == MIX_PARTS)
			return wrong_part(at);
		p->type = at;
		p->length = strcspn(at, "=,");
		if (!p->length || at[p->length] != '=' ||
		    strspn(at + p->length + 1, "0123456789") > 3)
			return wrong_part(at);
		p->nr = strtol(at + p->length + 1, &end, 10);
		if (p->nr < 1 || end == at + p->length + 1 || (*end && *end != ','))
			return wrong_part(at);
		(*nr_parts)++;
		if (!*end)
			return true;
	}
}

static const char *short_name(const struct gpu_type *t)
{
	return strncmp(t->name, "kvgpu-", 6) ? t->name : t->name + 6;
}

/* Find the type that the user calls "2g" or "kvgpu-2g". */
static const struct gpu_type *find_type(const struct gpu *g, const struct part *p)
{
	for (size_t i = 0; i < g->nr_types; i++) {
		const char *name = short_name(&g->types[i]);

		if ((strlen(name) == p->length && !strncmp(name, p->type, p->length)) ||
		    (strlen(g->types[i].name) == p->length &&
		     !strncmp(g->types[i].name, p->type, p->length)))
			return &g->types[i];
	}
	return NULL;
}

static bool card_is_known(const struct gpu *g)
{
	bool known = g->v[GPU_ROOM_VRAM].known && g->v[GPU_ROOM_BAR1].known &&
		     g->v[GPU_ROOM_BAR3].known && g->nr_types;

	for (size_t i = 0; i < g->nr_types; i++)
		known = known && g->types[i].size.vram && g->types[i].size.bar1 &&
			g->types[i].size.bar3;
	return known;
}

static bool print_card(FILE *out, const struct gpu *g, const struct part *parts, size_t nr_parts)
{
	struct plan_size room = { g->v[GPU_ROOM_VRAM].n, g->v[GPU_ROOM_BAR1].n,
				  g->v[GPU_ROOM_BAR3].n };
	struct plan plan;

	plan_begin(&plan, &room);
	for (size_t i = 0; i < nr_parts; i++) {
		const struct part *p = &parts[i];
		const struct gpu_type *t = find_type(g, p);

		if (!t) {
			fprintf(out, "%s: no: it has no type %.*s\n", g->address, (int)p->length,
				p->type);
			return false;
		}
		for (long n = 0; n < p->nr; n++)
			if (!plan_add(&plan, &t->size)) {
				fprintf(out, "%s: no: room for %ld of %ld %s\n", g->address, n,
					p->nr, short_name(t));
				return false;
			}
	}
	fprintf(out, "%s: yes; then room for", g->address);
	for (size_t i = 0; i < g->nr_types; i++)
		fprintf(out, "%s %u %s", i ? "," : "", plan_count(&plan, &g->types[i].size),
			short_name(&g->types[i]));
	fputs(g->nr_types > 1 ? " (of one type)\n" : "\n", out);
	return true;
}

int print_plan(FILE *out, const struct sample *now, const char *mix)
{
	struct part parts[MIX_PARTS];
	size_t nr_parts, known = 0;
	bool fits = false;

	if (!parse_mix(mix, parts, &nr_parts))
		return 2;
	for (size_t i = 0; i < now->nr_gpus; i++)
		if (card_is_known(&now->gpus[i])) {
			known++;
			fits |= print_card(out, &now->gpus[i], parts, nr_parts);
		}
	if (!known) {
		fputs("kvgpu-top: no card says what vGPUs can have of it; is the module loaded, and as new as this program?\n",
		      stderr);
		return 2;
	}
	return fits ? 0 : 3;
}
