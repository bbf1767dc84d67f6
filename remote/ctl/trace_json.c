// SPDX-License-Identifier: MIT
/*
 * The lines of a trace (remote/server/trace.c has their form) as a Chrome trace. They come from a
 * client's process, which may lie: a line that is not as it should be is counted and left out.
 */
#include <stdlib.h>
#include <string.h>

#include <cuda/api/text.h>
#include <remote/conf/conf.h>

#include "ctl.h"

enum { LINE = 1200, FIELDS = 12, FUNCTIONS = 4096, STREAMS = 1024 };
enum { CALLS = 1, GPU }; /* "processes" of the picture */

struct work {
	const char *op, *how, *kind;
	uint64_t function, stream, slot, bytes, came, begun, answered, gpu_began, gpu_ended;
	bool on_gpu;
};

struct writer {
	FILE *to;
	struct trace_sum *sum;
	uint64_t first_ns, flows;
	uint64_t functions[FUNCTIONS], streams[STREAMS];
	char *names[FUNCTIONS];
	unsigned int nr_functions, nr_streams;
	const char *comma;
};

/* ------------------------------------------------------------------ reading */

/* the words of a line; @room has them */
static unsigned int split(const char *line, size_t n, char room[LINE], char *words[FIELDS])
{
	unsigned int nr = 0;
	char *w, *save;

	if (n >= LINE)
		return 0;
	memcpy(room, line, n);
	room[n] = 0;
	for (w = strtok_r(room, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (nr == FIELDS)
			return 0;
		words[nr++] = w;
	}
	return nr;
}

static const char *kind_of(const struct work *w)
{
	return !strcmp(w->how, "waits")	       ? "wait" :
	       !strcmp(w->op, "launch")	       ? "kernel" :
	       !strcmp(w->op, "cuGraphLaunch") ? "graph" :
						 "copy";
}

static bool read_work(char *const words[FIELDS], unsigned int n, struct work *w)
{
	uint64_t *const numbers[] = { &w->function, &w->stream,	   &w->slot,
				      &w->bytes,    &w->came,	   &w->begun,
				      &w->answered, &w->gpu_began, &w->gpu_ended };
	unsigned int i;

	if (n != FIELDS)
		return false;
	w->op = words[1];
	w->how = words[FIELDS - 1];
	for (i = 0; i < FIELDS - 3; i++)
		if (!conf_natural(words[i + 2], INT64_MAX, numbers[i]))
			return false;
	w->kind = kind_of(w);
	w->on_gpu = !strcmp(w->how, "gpu");
	return w->came <= w->begun && w->begun <= w->answered && w->slot <= UINT16_MAX &&
	       (!w->on_gpu || (w->begun <= w->gpu_began && w->gpu_began <= w->gpu_ended));
}

static void take_name(struct writer *t, const char *number, const char *name)
{
	uint64_t id;
	unsigned int i;

	if (!conf_natural(number, INT64_MAX, &id)) {
		t->sum->wrong++;
		return;
	}
	for (i = 0; i < t->nr_functions; i++)
		if (t->functions[i] == id)
			return;
	if (t->nr_functions == FUNCTIONS)
		return;
	t->names[t->nr_functions] = strdup(name);
	if (t->names[t->nr_functions])
		t->functions[t->nr_functions++] = id;
}

/* ------------------------------------------------------------------ writing */

static unsigned int row_of_stream(struct writer *t, uint64_t stream)
{
	unsigned int i;

	for (i = 0; i < t->nr_streams && t->streams[i] != stream; i++)
		;
	if (i == t->nr_streams && i < STREAMS)
		t->streams[t->nr_streams++] = stream;
	return i;
}

static void put_us(FILE *to, const char *key, uint64_t ns)
{
	fprintf(to, ",\"%s\":%llu.%03u", key, (unsigned long long)ns / 1000,
		(unsigned int)(ns % 1000));
}

static void put_name(struct writer *t, const struct work *w)
{
	char number[40];
	unsigned int i;

	for (i = 0; i < t->nr_functions; i++)
		if (w->function && t->functions[i] == w->function) {
			text_json(t->to, t->names[i]);
			return;
		}
	snprintf(number, sizeof(number), "function %llu", (unsigned long long)w->function);
	text_json(t->to, w->function ? number : w->op);
}

static void put_event(struct writer *t, const char *phase, unsigned int pid, unsigned int tid,
		      uint64_t ns)
{
	fprintf(t->to, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u", t->comma, phase, pid, tid);
	put_us(t->to, "ts", ns - t->first_ns);
	t->comma = ",\n";
}

static void put_span(struct writer *t, const struct work *w, unsigned int pid, unsigned int tid,
		     uint64_t begin, uint64_t end)
{
	put_event(t, "X", pid, tid, begin);
	put_us(t->to, "dur", end - begin);
	fprintf(t->to, ",\"cat\":\"%s\",\"name\":", w->kind);
	put_name(t, w);
}

/* an arrow from the call to the GPU's span */
static void put_flow(struct writer *t, const struct work *w, unsigned int row)
{
	put_event(t, "s", CALLS, w->slot, w->begun);
	fprintf(t->to, ",\"cat\":\"way\",\"name\":\"way\",\"id\":%llu}",
		(unsigned long long)++t->flows);
	put_event(t, "f", GPU, row, w->gpu_began);
	fprintf(t->to, ",\"cat\":\"way\",\"name\":\"way\",\"id\":%llu,\"bp\":\"e\"}",
		(unsigned long long)t->flows);
}

static void put_work(struct writer *t, const struct work *w)
{
	unsigned int row = row_of_stream(t, w->stream);

	put_span(t, w, CALLS, w->slot, w->begun, w->answered);
	fputs(",\"args\":{\"op\":", t->to);
	text_json(t->to, w->op);
	put_us(t->to, "waited_us", w->begun - w->came);
	fprintf(t->to, ",\"bytes\":%llu,\"gpu\":", (unsigned long long)w->bytes);
	text_json(t->to, w->how);
	fputs("}}", t->to);
	if (w->on_gpu) {
		put_span(t, w, GPU, row, w->gpu_began, w->gpu_ended);
		fputs(",\"args\":{}}", t->to);
		put_flow(t, w, row);
	}
	t->sum->kernels += !strcmp(w->kind, "kernel") || !strcmp(w->kind, "graph");
	t->sum->copies += !strcmp(w->kind, "copy");
	t->sum->waits += !strcmp(w->kind, "wait");
}

static void put_title(struct writer *t, const char *what, unsigned int pid, unsigned int tid,
		      const char *format, unsigned int n)
{
	fprintf(t->to,
		"%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"",
		t->comma, what, pid, tid);
	fprintf(t->to, format, n);
	fputs("\"}}", t->to);
	t->comma = ",\n";
}

static void put_titles(struct writer *t)
{
	unsigned int i;

	put_title(t, "process_name", CALLS, 0, "calls on the server", 0);
	put_title(t, "thread_name", CALLS, 0, "without an answer", 0);
	put_title(t, "process_name", GPU, 0, "GPU", 0);
	for (i = 0; i < t->nr_streams; i++)
		put_title(t, "thread_name", GPU, i, t->streams[i] > 1 ? "stream %u" : "null stream",
			  i);
}

/* each line: at first for the time of the first frame, then to write it */
static void take_lines(struct writer *t, const char *text, bool write)
{
	char room[LINE], *words[FIELDS];
	struct work w;
	unsigned int n;
	size_t bytes;

	for (; *text; text += bytes + (text[bytes] == '\n')) {
		bytes = strcspn(text, "\n");
		n = split(text, bytes, room, words);
		if (n && !strcmp(words[0], "w") && read_work(words, n, &w)) {
			if (write)
				put_work(t, &w);
			else if (w.came < t->first_ns)
				t->first_ns = w.came;
		} else if (write && n == 3 && !strcmp(words[0], "n")) {
			take_name(t, words[1], words[2]);
		} else if (write) {
			t->sum->wrong++;
		}
	}
}

bool trace_json(FILE *to, const char *text, int64_t id, const char *end, struct trace_sum *sum)
{
	struct writer *t = calloc(1, sizeof(*t));
	unsigned int i;

	if (!t)
		return false;
	t->to = to;
	t->sum = sum;
	t->first_ns = UINT64_MAX;
	t->comma = "";
	fputs("{\"traceEvents\":[\n", to);
	take_lines(t, text, false);
	take_lines(t, text, true);
	put_titles(t);
	fprintf(to, "],\n\"displayTimeUnit\":\"ns\",\"otherData\":{\"client\":%lld,\"end\":",
		(long long)id);
	text_json(to, end);
	fprintf(to, ",\"dropped\":%llu,\"wrong\":%llu}}\n", (unsigned long long)sum->dropped,
		(unsigned long long)sum->wrong);
	for (i = 0; i < t->nr_functions; i++)
		free(t->names[i]);
	free(t);
	return !fflush(to) && !ferror(to);
}
