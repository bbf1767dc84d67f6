// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table for people: each GPU, and below it its vGPUs. On a narrow terminal columns are left
 * out, the least important first. A number that is not known is "-".
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "output.h"

#define CELL TEXT_SIZE

struct line {
	char text[512];
	size_t length, limit;
};

static void __attribute__((format(printf, 2, 3))) append(struct line *l, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(l->text + l->length, sizeof(l->text) - l->length, format, args);
	va_end(args);
	if (n > 0)
		l->length += n;
	if (l->length > l->limit)
		l->length = l->limit;
	l->text[l->length] = 0;
}

static void finish(FILE *out, struct line *l)
{
	while (l->length && l->text[l->length - 1] == ' ')
		l->length--;
	fprintf(out, "%.*s\n", (int)l->length, l->text);
	l->length = 0;
}

/* Write @d to @cell in short: 12345, 123k, 45.6M. */
static void human(char *cell, double d)
{
	static const char suffix[] = " kMGTPE";
	int i = 0;

	if (!isfinite(d)) {
		strcpy(cell, "-");
		return;
	}
	if (d < 99999.5) {
		snprintf(cell, CELL, d < 99.95 && d != floor(d) ? "%.1f" : "%.0f", d);
		return;
	}
	for (; d >= 999.5 && i < 6; i++)
		d /= 1000;
	snprintf(cell, CELL, d < 99.95 ? "%.1f%c" : "%.0f%c", d, suffix[i]);
}

static double as_double(struct value v)
{
	return v.known ? (double)v.n : NAN;
}

static void percent(char *cell, double d)
{
	if (isfinite(d))
		snprintf(cell, CELL, "%.1f", d * 100);
	else
		strcpy(cell, "-");
}

enum column {
	TYPE,
	SHARE,
	COPIES,
	ENTITLED,
	STATE,
	WEIGHT,
	MAXIMUM,
	SLICES,
	PREEMPT,
	LONGEST,
	EXITS,
	PINNED,
	FAULTS,
	STRIKES,
	COLUMNS
};

/* @rank: if the width is too small, the column with the highest rank is left out first. */
static const struct {
	const char *title;
	int width, rank;
} columns[COLUMNS] = {
	[TYPE] = { "TYPE", 10, 4 },	 [SHARE] = { "GPU%", 5, 0 },
	[COPIES] = { "COPY%", 5, 12 },	 [ENTITLED] = { "ENT%", 5, 1 },
	[STATE] = { "STATE", 5, 2 },	 [WEIGHT] = { "WGHT", 5, 6 },
	[MAXIMUM] = { "CAP%", 4, 7 },	 [SLICES] = { "SLC/s", 5, 8 },
	[PREEMPT] = { "PRE us", 6, 10 }, [LONGEST] = { "MAX us", 6, 11 },
	[EXITS] = { "EXIT/s", 6, 5 },	 [PINNED] = { "PIN MB", 6, 9 },
	[FAULTS] = { "FAULT", 5, 13 },	 [STRIKES] = { "STRK", 5, 3 },
};

static void state(char *cell, const struct vgpu *v)
{
	const struct value *suspended = &v->v[VGPU_SUSPENDED], *runnable = &v->v[VGPU_RUNNABLE];

	strcpy(cell, suspended->known && suspended->n ? "stop" :
		     !runnable->known		      ? "-" :
		     runnable->n		      ? "run" :
							"idle");
}

static void fill(char *cell, enum column c, const struct vgpu *v, const struct vgpu_rates *r)
{
	switch (c) {
	case TYPE:
		snprintf(cell, CELL, "%s", *v->type ? v->type : "-");
		break;
	case SHARE:
		percent(cell, r->share);
		break;
	case COPIES:
		percent(cell, r->copies);
		break;
	case ENTITLED:
		percent(cell, as_double(v->v[VGPU_ENTITLEMENT]) / 1e6);
		break;
	case STATE:
		state(cell, v);
		break;
	case WEIGHT:
		human(cell, as_double(v->v[VGPU_WEIGHT]));
		break;
	case MAXIMUM:
		human(cell, as_double(v->v[VGPU_CAP]));
		break;
	case SLICES:
		human(cell, r->slices_s);
		break;
	case PREEMPT:
		human(cell, r->preempt_ns / 1e3);
		break;
	case LONGEST:
		human(cell, as_double(v->v[VGPU_PREEMPT_MAX]) / 1e3);
		break;
	case EXITS:
		human(cell, r->exits_s);
		break;
	case PINNED:
		human(cell, as_double(v->v[VGPU_PINNED_PAGES]) * 4096 / 1e6);
		break;
	case FAULTS:
		human(cell, as_double(v->v[VGPU_FAULTS]));
		break;
	case STRIKES:
		human(cell, as_double(v->v[VGPU_STRIKES]));
		break;
	case COLUMNS:
		break;
	}
}

/*
 * Return the number R of ranks for which there is room: the columns with ranks below R fit into
 * @width characters beside a UUID of @uuid characters.
 */
static int ranks_that_fit(int uuid, int width)
{
	for (int rank = COLUMNS; rank > 0; rank--) {
		int sum = uuid;

		for (int c = 0; c < COLUMNS; c++)
			if (columns[c].rank < rank)
				sum += 1 + columns[c].width;
		if (sum <= width)
			return rank;
	}
	return 0;
}

static void clock_text(struct line *l, const char *name, struct value khz)
{
	if (khz.known)
		append(l, "  %s %.0f MHz", name, khz.n / 1e3);
	else
		append(l, "  %s -", name);
}

static void gpu_line(FILE *out, struct line *l, const struct sample *before, const struct gpu *g)
{
	char cell[CELL];

	percent(cell, gpu_busy(before, g));
	append(l, "GPU %s  busy %s %%", g->address, cell);
	append(l, "  resets ");
	human(cell, as_double(g->v[GPU_ENGINE_RESETS]));
	append(l, "%s", cell);
	if (g->v[GPU_TEMPERATURE].known)
		append(l, "  %.1f C", g->v[GPU_TEMPERATURE].n / 1e3);
	else
		append(l, "  - C");
	clock_text(l, "core", g->v[GPU_CORE_CLOCK]);
	clock_text(l, "mem", g->v[GPU_MEM_CLOCK]);
	append(l, "  policy %s", *g->policy ? g->policy : "-");
	human(cell, as_double(g->v[GPU_SLICE_US]));
	append(l, "  slice %s us", cell);
	human(cell, as_double(g->v[GPU_WATCHDOG_MS]));
	append(l, "  watchdog %s ms", cell);
	finish(out, l);
}

static void vgpu_line(FILE *out, struct line *l, const struct sample *before, const struct vgpu *v,
		      int uuid, int ranks)
{
	struct vgpu_rates r = vgpu_rates(before, v);
	char cell[CELL] = "";

	append(l, "%-*.*s", uuid, uuid, v->uuid);
	for (int c = 0; c < COLUMNS; c++) {
		if (columns[c].rank >= ranks)
			continue;
		fill(cell, c, v, &r);
		append(l, c == TYPE ? " %-*.*s" : " %*.*s", columns[c].width,
		       c == TYPE ? columns[c].width : CELL, cell);
	}
	finish(out, l);
}

static void head_line(FILE *out, struct line *l, int uuid, int ranks)
{
	append(l, "%-*s", uuid, "vGPU");
	for (int c = 0; c < COLUMNS; c++)
		if (columns[c].rank < ranks)
			append(l, c == TYPE ? " %-*s" : " %*s", columns[c].width, columns[c].title);
	finish(out, l);
}

void print_table(FILE *out, const struct sample *before, const struct sample *now, int width)
{
	int uuid = 36, ranks = ranks_that_fit(uuid, width);
	struct line l = { .limit = width < 1 ? 1 : width };

	if (l.limit >= sizeof(l.text))
		l.limit = sizeof(l.text) - 1;
	/* shorten UUIDs rather than leave out STRK, which tells which vGPU caused hangs */
	if (ranks <= columns[STRIKES].rank) {
		uuid = 8;
		ranks = ranks_that_fit(uuid, width);
	}
	if (!now->nr_gpus) {
		append(&l,
		       "no GPU is held by kvgpu: is the module loaded? 'lspci -k -d 10de:' shows who has the card");
		finish(out, &l);
	}
	for (size_t g = 0; g < now->nr_gpus; g++) {
		size_t seen = 0;

		gpu_line(out, &l, before, &now->gpus[g]);
		for (size_t i = 0; i < now->nr_vgpus; i++) {
			if (strcmp(now->vgpus[i].gpu, now->gpus[g].address))
				continue;
			if (!seen++)
				head_line(out, &l, uuid, ranks);
			vgpu_line(out, &l, before, &now->vgpus[i], uuid, ranks);
		}
		if (!seen) {
			append(&l, "no vGPU");
			finish(out, &l);
		}
	}
}
