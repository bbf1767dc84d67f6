// SPDX-License-Identifier: MIT
/* Three forms of output: a table for people, a JSON object, Prometheus' text. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "ctl.h"

struct rates {
	double calls, received, sent, gpu; /* per second; negative: not known */
};

static double rate(int64_t before, int64_t now, double seconds)
{
	return seconds > 0 && now >= before ? (now - before) / seconds : -1;
}

static struct rates rates_of(const struct ctl_sample *before, const struct ctl_sample *now,
			     const struct ctl_client *c)
{
	double seconds = before ? now->at - before->at : 0;
	size_t i;

	for (i = 0; before && i < before->nr_clients; i++)
		if (before->clients[i].id == c->id)
			return (struct rates){
				rate(before->clients[i].calls, c->calls, seconds),
				rate(before->clients[i].received, c->received, seconds),
				rate(before->clients[i].sent, c->sent, seconds),
				rate(before->clients[i].gpu + before->clients[i].alone,
				     c->gpu + c->alone, seconds)
			};
	return (struct rates){ -1, -1, -1, -1 };
}

/* ------------------------------------------------------------------ why a client sleeps or not */

/* what ../supervisor/clients.c has words for */
static const struct {
	const char *word, *text;
} whys[] = {
	{ "busy", "its work on the GPU does not end" },
	{ "captures", "one of its streams captures" },
	{ "managed", "it has managed memory, which the driver does not take from a GPU" },
	{ "shares", "it shares memory or events with other programs" },
	{ "late", "its process has not answered" },
	{ "host-memory",
	  "its process may not have that much host memory: the limits of its cgroup, "
	  "or of a process, can't be raised here" },
	{ "suspend-memory", "what sleeps would have more host memory than suspend-memory of "
			    "remoted.conf" },
	{ "meter",
	  "nobody knows how much memory the GPUs have; journalctl -u kvgpu-remoted says why" },
	{ "gpu-type", "there is no such GPU of the type of the one that it had" },
	{ "gpus", "it has memory on several GPUs, or nobody knows on which" },
	{ "line", "others wait for its GPU before it" },
	{ "room", "its GPU has no room" },
	{ "wakes", "its memory comes back to the GPU" },
};

void sleep_text(const struct ctl_client *c, char to[CTL_TEXT])
{
	static const char library[] = "library-";
	size_t i;

	snprintf(to, CTL_TEXT, "%s", c->why);
	if (!strncmp(c->why, library, strlen(library)))
		snprintf(to, CTL_TEXT, "the library has refused: CUDA error %s",
			 c->why + strlen(library));
	for (i = 0; i < sizeof(whys) / sizeof(*whys); i++)
		if (!strcmp(c->why, whys[i].word))
			snprintf(to, CTL_TEXT, "%s", whys[i].text);
	if (c->ahead > 0)
		snprintf(to + strlen(to), CTL_TEXT - strlen(to), " (%" PRId64 ")", c->ahead);
}

/* ------------------------------------------------------------------ a table */

static void mib(char to[24], double bytes)
{
	if (bytes < 0)
		strcpy(to, "-");
	else
		snprintf(to, 24, "%.1f", bytes / (1 << 20));
}

static void print_count(char to[24], double n)
{
	if (n < 0)
		strcpy(to, "-");
	else
		snprintf(to, 24, "%.0f", n);
}

/* least width of a column of words */
enum { WORD_WIDTH = 20 };

static int wider_column(int width, const char *word)
{
	return (int)strlen(word) > width ? (int)strlen(word) : width;
}

/* the end of a row: nothing of who is awake, but why it was not put to sleep */
static void show_sleep(FILE *out, const struct ctl_client *c)
{
	bool waits = !strcmp(c->sleep, "waits");
	char why[CTL_TEXT], bytes[24];

	sleep_text(c, why);
	mib(bytes, c->suspended);
	if (c->suspended || waits || !strcmp(c->sleep, "asleep"))
		fprintf(out, ", asleep (%s MiB)", bytes);
	if (waits)
		fprintf(out, ", waits to wake for %" PRId64 " s", c->waits);
	else if (*c->why && !strcmp(c->sleep, "awake"))
		fprintf(out, ", was not put to sleep");
	fprintf(out, "%s%s\n", *why ? ": " : "", why);
}

static void show_client(FILE *out, const struct ctl_client *c, const struct rates *r, int who,
			int peer)
{
	char since[24], memory[24], pinned[24], calls[24], in[24], sent[24], gpu[24];
	time_t t = c->since;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(since, sizeof(since), "%m-%d %H:%M:%S", &tm))
		strcpy(since, "?");
	mib(memory, c->memory);
	mib(pinned, c->pinned);
	print_count(calls, r->calls);
	mib(in, r->received);
	mib(sent, r->sent);
	print_count(gpu, r->gpu < 0 ? -1 : r->gpu / 1000);
	fprintf(out, "%-5" PRId64 " %-7s %-*s %-*s %-8" PRId64 " %-10" PRId64 " %-14s %4" PRId64,
		c->id, c->state, who, c->who, peer, c->peer, c->pid, c->user, since, c->weight);
	fprintf(out, " %4" PRId64 ".%" PRId64 " %8s %9s %9s %12" PRId64 " %9s %8s %8s",
		c->share / 10, c->share % 10, gpu, memory, pinned, c->calls, calls, in, sent);
	fprintf(out, " %-7s %s%s", *c->release ? c->release : "-", *c->protocol ? c->protocol : "-",
		c->old ? " old" : "");
	show_sleep(out, c);
}

void show_table(FILE *out, const struct ctl_sample *before, const struct ctl_sample *now)
{
	int who = WORD_WIDTH, peer = WORD_WIDTH;
	struct rates r;
	size_t i;

	fprintf(out,
		"%s: %" PRId64 " of %" PRId64 " clients, %" PRId64 " arriving; %" PRId64
		" came, %" PRId64 " were refused\n",
		now->server.state, now->server.served, now->server.limit, now->server.newcomers,
		now->server.accepted, now->server.refused);
	if (!now->nr_clients)
		return;
	for (i = 0; i < now->nr_clients; i++) {
		who = wider_column(who, now->clients[i].who);
		peer = wider_column(peer, now->clients[i].peer);
	}
	fprintf(out, "%-5s %-7s %-*s %-*s %-8s %-10s %-14s %4s", "ID", "STATE", who, "WHO", peer,
		"PEER", "PID", "USER", "SINCE", "WGHT");
	fprintf(out, " %6s %8s %9s %9s %12s %9s %8s %8s %-7s %s\n", "SHARE%", "GPU ms/s", "GPU MiB",
		"PIN MiB", "CALLS", "CALL/s", "IN MiB/s", "OUT MiB/s", "RELEASE", "PROTOCOL");
	for (i = 0; i < now->nr_clients; i++) {
		r = rates_of(before, now, &now->clients[i]);
		show_client(out, &now->clients[i], &r, who, peer);
	}
}

/* --------------------------------------------- JSON: words are plain, nothing has to be escaped */

static void json_rate(FILE *out, const char *name, double r)
{
	if (r < 0)
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%.3f", name, r);
}

/* print a row of numbers, in the order of their @names: each as ,"name":number */
static void json_numbers(FILE *out, const char *const *names, const int64_t *numbers, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fprintf(out, ",\"%s\":%" PRId64, names[i], numbers[i]);
}

static void json_client(FILE *out, const struct ctl_client *c, const struct rates *r)
{
	static const char *const names[] = { "id",
					     "pid",
					     "user",
					     "since",
					     "weight",
					     "memory_bytes",
					     "pinned_bytes",
					     "calls",
					     "received_bytes",
					     "sent_bytes",
					     "gpu_share_permille",
					     "gpu_us",
					     "gpu_alone_us",
					     "gpu_wait_us",
					     "gpu_turns",
					     "gpu_turns_lost",
					     "suspended_bytes",
					     "sleeps" };
	const int64_t numbers[] = { c->id,     c->pid,	     c->user,  c->since,    c->weight,
				    c->memory, c->pinned,    c->calls, c->received, c->sent,
				    c->share,  c->gpu,	     c->alone, c->waited,   c->turns,
				    c->lost,   c->suspended, c->sleeps };

	fprintf(out, "{\"state\":\"%s\",\"who\":\"%s\",\"peer\":\"%s\"", c->state, c->who, c->peer);
	if (*c->fingerprint)
		fprintf(out, ",\"fingerprint\":\"%s\"", c->fingerprint);
	if (*c->release)
		fprintf(out, ",\"release\":\"%s\",\"protocol\":\"%s\",\"old\":%s", c->release,
			c->protocol, c->old ? "true" : "false");
	if (*c->sleep)
		fprintf(out, ",\"sleep\":\"%s\"", c->sleep);
	if (*c->why)
		fprintf(out, ",\"why\":\"%s\"", c->why);
	if (!strcmp(c->sleep, "waits"))
		fprintf(out, ",\"waits_s\":%" PRId64 ",\"ahead\":%" PRId64, c->waits, c->ahead);
	json_numbers(out, names, numbers, sizeof(names) / sizeof(*names));
	json_rate(out, "calls_per_s", r->calls);
	json_rate(out, "received_bytes_per_s", r->received);
	json_rate(out, "sent_bytes_per_s", r->sent);
	json_rate(out, "gpu_us_per_s", r->gpu);
	fputc('}', out);
}

void show_json(FILE *out, const struct ctl_sample *before, const struct ctl_sample *now)
{
	static const char *const names[] = { "pid",	  "since", "served",
					     "new",	  "limit", "accepted",
					     "refused",	  "calls", "received_bytes",
					     "sent_bytes" };
	const struct ctl_server *s = &now->server;
	const int64_t numbers[] = { s->pid,	 s->since,   s->served, s->newcomers, s->limit,
				    s->accepted, s->refused, s->calls,	s->received,  s->sent };
	struct rates r;
	size_t i;

	fprintf(out, "{\"state\":\"%s\"", s->state);
	json_numbers(out, names, numbers, sizeof(names) / sizeof(*names));
	fputs(",\"clients\":[", out);
	for (i = 0; i < now->nr_clients; i++) {
		r = rates_of(before, now, &now->clients[i]);
		if (i)
			fputc(',', out);
		json_client(out, &now->clients[i], &r);
	}
	fputs("]}\n", out);
}

/* ------------------------------------------------------------------ Prometheus */

static void head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP kvgpu_remote_%s %s\n# TYPE kvgpu_remote_%s %s\n", name, help, name,
		type);
}

static void show_metric(FILE *out, const char *name, const char *type, const char *help,
			int64_t value)
{
	head(out, name, type, help);
	fprintf(out, "kvgpu_remote_%s %" PRId64 "\n", name, value);
}

static const struct {
	const char *name, *type, *help;
	size_t at;
} of_clients[] = {
	{ "client_memory_bytes", "gauge", "Device memory that a client's calls hold.",
	  offsetof(struct ctl_client, memory) },
	{ "client_pinned_bytes", "gauge",
	  "Host memory that a client has for pinned memory, beyond its arena.",
	  offsetof(struct ctl_client, pinned) },
	{ "client_weight", "gauge", "Weight of a client in CPU time and the GPU's time.",
	  offsetof(struct ctl_client, weight) },
	{ "client_gpu_share_permille", "gauge",
	  "The part of the GPU's time that a client's weight gives it now.",
	  offsetof(struct ctl_client, share) },
	{ "client_gpu_microseconds_total", "counter",
	  "GPU time that a client was charged for in turns.", offsetof(struct ctl_client, gpu) },
	{ "client_gpu_alone_microseconds_total", "counter",
	  "Time in which a client alone had work for the GPU.",
	  offsetof(struct ctl_client, alone) },
	{ "client_gpu_wait_microseconds_total", "counter",
	  "Time in which a client waited for turns on the GPU.",
	  offsetof(struct ctl_client, waited) },
	{ "client_gpu_turns_total", "counter", "Turns on the GPU.",
	  offsetof(struct ctl_client, turns) },
	{ "client_gpu_turns_lost_total", "counter",
	  "Turns that were lost: nothing went on in them, or they did not end.",
	  offsetof(struct ctl_client, lost) },
	{ "client_suspended_bytes", "gauge",
	  "Device memory of a client that is in host memory while it sleeps.",
	  offsetof(struct ctl_client, suspended) },
	{ "client_sleeps_total", "counter", "How often a client was put to sleep.",
	  offsetof(struct ctl_client, sleeps) },
	{ "client_wake_wait_seconds", "gauge",
	  "For how long a client has been waiting to wake; 0: it does not.",
	  offsetof(struct ctl_client, waits) },
	{ "client_start_time_seconds", "gauge", "When a client came.",
	  offsetof(struct ctl_client, since) },
	{ "client_calls_total", "counter", "Frames of a client that were carried out.",
	  offsetof(struct ctl_client, calls) },
	{ "client_received_bytes_total", "counter", "Bytes that came from a client.",
	  offsetof(struct ctl_client, received) },
	{ "client_sent_bytes_total", "counter", "Bytes that went to a client.",
	  offsetof(struct ctl_client, sent) },
};

void show_prometheus(FILE *out, const struct ctl_sample *now)
{
	const struct ctl_server *s = &now->server;
	const struct ctl_client *c;
	int64_t old = 0, asleep = 0, waiting = 0, waits = 0;
	size_t i, m;

	show_metric(out, "clients", "gauge", "Clients that are served.", s->served);
	for (i = 0; i < now->nr_clients; i++) {
		c = &now->clients[i];
		old += c->old;
		asleep += !strcmp(c->sleep, "asleep") || !strcmp(c->sleep, "waits");
		waiting += !strcmp(c->sleep, "waits");
		waits = c->waits > waits ? c->waits : waits;
	}
	show_metric(out, "clients_old", "gauge",
		    "Clients whose libcuda.so.1 is of another build than the server.", old);
	show_metric(out, "clients_asleep", "gauge",
		    "Clients whose device memory is in host memory.", asleep);
	show_metric(out, "clients_waking", "gauge", "Of these, clients that wait to have it back.",
		    waiting);
	show_metric(out, "longest_wake_wait_seconds", "gauge",
		    "For how long the first of them has been waiting.", waits);
	show_metric(out, "newcomers", "gauge", "Connections whose client is not known yet.",
		    s->newcomers);
	show_metric(out, "clients_limit", "gauge", "Clients that may be served at once.", s->limit);
	show_metric(out, "draining", "gauge", "Whether no new clients are taken.",
		    !strcmp(s->state, "draining"));
	show_metric(out, "start_time_seconds", "gauge", "When the server began.", s->since);
	show_metric(out, "connections_total", "counter", "Connections that were accepted.",
		    s->accepted);
	show_metric(out, "refused_total", "counter", "Connections that were not served.",
		    s->refused);
	show_metric(out, "calls_total", "counter", "Frames that were carried out for all clients.",
		    s->calls);
	show_metric(out, "received_bytes_total", "counter", "Bytes that came from all clients.",
		    s->received);
	show_metric(out, "sent_bytes_total", "counter", "Bytes that went to all clients.", s->sent);
	for (m = 0; now->nr_clients && m < sizeof(of_clients) / sizeof(*of_clients); m++) {
		head(out, of_clients[m].name, of_clients[m].type, of_clients[m].help);
		for (i = 0; i < now->nr_clients; i++) {
			c = &now->clients[i];
			/* not by id: a client that comes again each time would make new series */
			fprintf(out,
				"kvgpu_remote_%s{who=\"%s\",slot=\"%" PRId64 "\"} %" PRId64 "\n",
				of_clients[m].name, c->who, c->slot,
				*(const int64_t *)((const char *)c + of_clients[m].at));
		}
	}
}
