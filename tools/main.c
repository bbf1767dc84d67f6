// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-top: the command. Exit codes: 0 done, 1 sysfs can't be read, the output can't be written or
 * memory ran out, 2 wrong usage, 3 no card has room for the mix of --plan.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command_line.h"
#include "http.h"
#include "output.h"
#include "terminal.h"

#define FIRMWARE "/lib/firmware/kvgpu/gk110.fw"

static const char usage[] =
	"usage: kvgpu-top [--json | --prometheus | --http | --plan MIX] [--once] [--interval SECONDS]\n"
	"                 [--sysfs DIR] [--firmware FILE]\n"
	"\n"
	"Shows the GPUs that kvgpu shares, and what each vGPU gets of them.\n"
	"\n"
	"  --json              one JSON object a line, each interval\n"
	"  --prometheus        the counters once, in the text format of Prometheus\n"
	"  --http              the same as the answer to requests for /metrics, at a socket that is\n"
	"                      standard input: for kvgpu-prometheus.socket\n"
	"  --plan MIX          say which card, empty, has room for a mix such as 512m=4,2g=1\n"
	"  --once              one look over one interval, then end\n"
	"  --interval SECONDS  time between two looks, 0.1 to 3600 (default 1)\n"
	"  --sysfs DIR         read this instead of /sys\n"
	"  --firmware FILE     look for this file instead of " FIRMWARE "\n"
	"  --version, --help\n"
	"\n"
	"In a terminal: q ends. Where there is no terminal, the table is shown once.\n";

struct options {
	enum form { TABLE, JSON, PROMETHEUS, HTTP, PLAN } form;
	bool once;
	double interval;
	const char *sysfs, *firmware, *mix;
};

static int wrong(const char *what, const char *argument)
{
	fprintf(stderr, "kvgpu-top: %s%s%s%s; kvgpu-top --help lists what there is\n", what,
		argument ? " '" : "", argument ? argument : "", argument ? "'" : "");
	return 2;
}

static bool set_interval(struct options *o, const char *text)
{
	char *end;

	errno = 0;
	o->interval = strtod(text, &end);
	return end != text && !*end && !errno && o->interval >= 0.1 && o->interval <= 3600;
}

static enum form form_of(int option)
{
	return option == 'j' ? JSON : option == 'p' ? PROMETHEUS : option == 'w' ? HTTP : PLAN;
}

/* Return the exit code if the program shall end, or -1 to go on. */
static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "prometheus", no_argument, NULL, 'p' },
		{ "http", no_argument, NULL, 'w' },
		{ "plan", required_argument, NULL, 'm' },
		{ "once", no_argument, NULL, 'o' },
		{ "interval", required_argument, NULL, 'i' },
		{ "sysfs", required_argument, NULL, 's' },
		{ "firmware", required_argument, NULL, 'f' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	char text[WRONG_TEXT];
	int c, forms = 0;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
		switch (c) {
		case 'm':
			o->mix = optarg;
			/* fall through */
		case 'j':
		case 'p':
		case 'w':
			forms += o->form != form_of(c);
			o->form = form_of(c);
			break;
		case 'o':
			o->once = true;
			break;
		case 'i':
			if (!set_interval(o, optarg))
				return wrong("--interval wants seconds from 0.1 to 3600, not",
					     optarg);
			break;
		case 's':
			o->sysfs = optarg;
			break;
		case 'f':
			o->firmware = optarg;
			break;
		case 'v':
			puts("kvgpu-top " KVGPU_VERSION);
			return 0;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			wrong_option(text, c, argv, longs);
			return wrong(text, NULL);
		}
	}
	if (optind < argc)
		return wrong("there are no arguments without an option:", argv[optind]);
	if (forms > 1)
		return wrong("--json, --prometheus, --http and --plan are forms; choose one", NULL);
	return -1;
}

static void wait_interval(const struct options *o)
{
	struct timespec t = { (time_t)o->interval, (long)(fmod(o->interval, 1) * 1e9) };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static bool written(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	fprintf(stderr, "kvgpu-top: can't write the output: %s\n", strerror(errno));
	return false;
}

static int table_width(void)
{
	const char *columns = getenv("COLUMNS");
	int width, lines;

	if (isatty(STDOUT_FILENO)) {
		terminal_size(&width, &lines);
		return width;
	}
	width = columns ? atoi(columns) : 0;
	return width > 0 ? width : 160;
}

/* Print JSON or the table after each interval, or after one with --once. Return the exit code. */
static int run_plain(const struct options *o)
{
	struct sample before = { 0 }, now;
	bool ok = sample_take(&before, o->sysfs);

	while (ok) {
		wait_interval(o);
		ok = sample_take(&now, o->sysfs);
		if (!ok)
			break;
		if (o->form == JSON)
			ok = print_json(stdout, &before, &now);
		else
			print_table(stdout, &before, &now, table_width());
		ok = written() && ok;
		sample_free(&before);
		before = now;
		if (o->once)
			break;
	}
	sample_free(&before);
	return !ok;
}

static bool print_counters(FILE *out, void *arg)
{
	const struct options *o = arg;
	struct sample now;

	if (!sample_take(&now, o->sysfs))
		return false;
	print_prometheus(out, &now, o->firmware);
	sample_free(&now);
	return true;
}

static int run_plan(const struct options *o)
{
	struct sample now;
	int rc;

	if (!sample_take(&now, o->sysfs))
		return 1;
	rc = print_plan(stdout, &now, o->mix);
	sample_free(&now);
	return written() ? rc : 1;
}

static void draw(const struct sample *before, const struct sample *now)
{
	int columns, lines;
	size_t size;
	char *text = NULL, head[32] = "";
	time_t t = time(NULL);
	struct tm tm;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return;
	terminal_size(&columns, &lines);
	if (localtime_r(&t, &tm))
		strftime(head, sizeof(head), "kvgpu-top  %H:%M:%S", &tm);
	fprintf(f, "%.*s\n", columns, head);
	print_table(f, before, now, columns);
	if (!fclose(f))
		terminal_draw(text, lines);
	free(text);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int run_terminal(const struct options *o)
{
	struct sample before = { 0 }, now = { 0 };
	enum terminal_event event;
	bool ok = sample_take(&now, o->sysfs);

	if (!ok)
		return 1;
	terminal_enter();
	do {
		int64_t until = now_ns() + (int64_t)(o->interval * 1e9);

		do {
			draw(&before, &now);
			event = terminal_wait(until);
		} while (event == TERMINAL_REDRAW);
		sample_free(&before);
		before = now;
		ok = event == TERMINAL_QUIT || sample_take(&now, o->sysfs);
	} while (ok && event != TERMINAL_QUIT);
	terminal_leave();
	sample_free(&before);
	return !ok;
}

int main(int argc, char **argv)
{
	struct options o = { .interval = 1, .sysfs = "/sys", .firmware = FIRMWARE };
	const char *term = getenv("TERM");
	int rc = parse(&o, argc, argv);

	if (rc >= 0)
		return rc;
	if (o.form == PROMETHEUS)
		return !(print_counters(stdout, &o) && written());
	if (o.form == HTTP)
		return !serve_http(print_counters, &o);
	if (o.form == PLAN)
		return run_plan(&o);
	if (o.form == JSON)
		return run_plain(&o);
	if (!isatty(STDOUT_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		o.once = true;
	return o.once ? run_plain(&o) : run_terminal(&o);
}
