// SPDX-License-Identifier: MIT
/*
 * Which GPUs there are, and which of them PROGRAM gets. Their machines are asked one by one, this
 * one without mpirun, or in Slurm's allocation all at once by srun. They print lines, by
 * ../relay/count.c and registry.c. With --wait they are asked again until some GPUs fit, or the
 * time is over; a single answer is waited for without a limit.
 */
#include <ctype.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cuda/api/text.h>

#include "run.h"
#include "step.h"

enum { AGAIN_S = 2 };

/* A line for --list. */
struct row {
	unsigned int host, device, number;
	char *text;
};

/* While the lines of a command are read; those of several nodes come in any order. */
struct listing {
	struct run *r;
	unsigned int host; /* of the lines, if it is not Slurm's allocation */
	unsigned int shards[HOSTS_MAX];
	struct slurm_gres gres;
	struct row *rows;
	unsigned int nr_rows;
};

static struct job job_of(const struct run *r)
{
	return (struct job){ .o = &r->o,
			     .mpirun = r->mpirun,
			     .mpi_major = r->mpi_major,
			     .relay = r->relay,
			     .hosts = r->hosts,
			     .node = r->node,
			     .binds = r->binds,
			     .here = *r->here ? r->here : NULL };
}

/* ------------------------------------------------------------------ lines */

/* the host that a node of Slurm is; .nr_hosts: none */
static unsigned int host_named(const struct run *r, const char *name)
{
	unsigned int i;

	for (i = 0; i < r->nr_hosts && strcmp(r->hosts[i].name, name); i++)
		;
	return i;
}

static void add_row(struct listing *l, unsigned int host, unsigned int device, char *text)
{
	struct row *grown = realloc(l->rows, (l->nr_rows + 1) * sizeof(*grown));

	if (!grown || !text) {
		free(text);
		return;
	}
	l->rows = grown;
	l->rows[l->nr_rows] = (struct row){ host, device, l->nr_rows, text };
	l->nr_rows++;
}

static void take_gpu(struct listing *l, unsigned int host, const char *text)
{
	struct gpu g = { .host = host };
	struct run *r = l->r;
	char name[257], *row;

	if (sscanf(text, "%*s %u %lu %lu %32s %256[^\n]", &g.device, &g.total, &g.left, g.uuid,
		   name) != 5 ||
	    r->nr_gpus == GPUS_MAX)
		return;
	r->hosts[host].gpus++;
	r->gpus[r->nr_gpus++] = g;
	if (r->o.list && asprintf(&row, "%-20s %3u  %-32s %7lu %7lu  %s\n", r->hosts[host].name,
				  g.device, name, g.total >> 20, g.left >> 20, g.uuid) > 0)
		add_row(l, host, g.device, row);
}

/*
 * A proxy of another run, behind the line of its GPU. User "?": it does not answer, so it is not
 * known whether its user may open that GPU, and it is no load.
 */
static void take_user(struct listing *l, unsigned int host, const char *text)
{
	char user[65], job[33], program[65], *row;
	unsigned int device, i;
	int pid, n;

	if (sscanf(text, "%*s %u %d %64s %32s %64s", &device, &pid, user, job, program) != 5)
		return;
	for (i = 0; i < l->r->nr_gpus; i++)
		if (l->r->gpus[i].host == host && l->r->gpus[i].device == device &&
		    strcmp(user, "?"))
			l->r->gpus[i].load++;
	if (!l->r->o.list)
		return;
	if (strcmp(user, "?"))
		n = asprintf(&row, "%-20s      used by %s: user %s, job %s, process %d\n", "",
			     program, user, job, pid);
	else
		n = asprintf(
			&row,
			"%-20s      used by %s: does not answer; its name says job %s, process %d\n",
			"", program, job, pid);
	if (n > 0)
		add_row(l, host, device, row);
}

static void count_line(void *ctx, char *text)
{
	struct listing *l = ctx;
	unsigned int host = l->host;
	char kind[8], name[65];
	int at;

	/* other machines, and on each its other users, say these lines */
	text[strcspn(text, "\n")] = 0;
	text_clean(text, strlen(text) + 1);
	if (sscanf(text, "%7s %n%64s", kind, &at, name) != 2)
		return;
	if (l->r->node)
		host = host_named(l->r, name);
	if (host == l->r->nr_hosts)
		return;
	if (!strcmp(kind, "gpu"))
		take_gpu(l, host, text + at);
	else if (!strcmp(kind, "user"))
		take_user(l, host, text + at);
	else if (!strcmp(kind, "shards"))
		sscanf(text + at, "%*s %u", &l->shards[host]);
}

static int by_place(unsigned int host, unsigned int device, unsigned int host2,
		    unsigned int device2)
{
	return host != host2 ? (host > host2) - (host < host2) :
			       (device > device2) - (device < device2);
}

static int compare_gpus(const void *a, const void *b)
{
	const struct gpu *x = a, *y = b;

	return by_place(x->host, x->device, y->host, y->device);
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int r = by_place(x->host, x->device, y->host, y->device);

	return r ? r : (x->number > y->number) - (x->number < y->number);
}

/* the first rows get a head: an error may take the place of all */
static void print_rows(struct listing *l)
{
	static bool headed;
	unsigned int i;

	if (l->nr_rows && !headed)
		printf("%-20s %3s  %-32s %7s %7s  %s\n", "host", "GPU", "name", "MiB", "free",
		       "UUID");
	headed |= l->nr_rows > 0;
	if (l->nr_rows)
		qsort(l->rows, l->nr_rows, sizeof(*l->rows), compare_rows);
	for (i = 0; i < l->nr_rows; i++) {
		fputs(l->rows[i].text, stdout);
		free(l->rows[i].text);
	}
	free(l->rows);
}

static void config_line(void *ctx, char *text)
{
	if (!strncmp(text, "TaskPlugin ", 11) &&
	    (strstr(text, "affinity") || strstr(text, "cgroup")))
		((struct run *)ctx)->binds = true;
}

static void node_line(void *ctx, char *text)
{
	slurm_gres(text, &((struct listing *)ctx)->gres);
}

/* ------------------------------------------------------------------ asking */

static bool count_host(struct run *r, unsigned int host)
{
	struct listing l = { .r = r, .host = host };
	struct command c = { .n = 0 };
	struct job j = job_of(r);
	int status = -1;

	r->hosts[host].gpus = 0;
	if (command_count(&j, &r->hosts[host], &c))
		status = read_lines(r, &c, count_line, &l);
	command_free(&c);
	print_rows(&l);
	if (status > 0)
		report_error("%s: its GPUs can't be listed (exit code %d)", r->hosts[host].name,
			     status);
	else if (status)
		report_error("%s: its GPUs can't be listed", r->hosts[host].name);
	return !status;
}

static bool take_part(struct run *r, struct listing *l, unsigned int host)
{
	const struct host *h = &r->hosts[host];
	struct command c = { .n = 0 };
	int status = -1;
	unsigned int i;

	l->gres = (struct slurm_gres){ 0 };
	if (command_add(&c, "scontrol") && command_add(&c, "--oneliner") &&
	    command_add(&c, "show") && command_add(&c, "node") && command_add(&c, "%s", h->name))
		status = read_lines(r, &c, node_line, l);
	command_free(&c);
	if (status || !l->gres.shards || h->gpus < 1) {
		report_error(
			"%s: scontrol does not say how many shards its GPUs have (exit code %d)",
			h->name, status);
		return false;
	}
	for (i = 0; i < r->nr_gpus; i++)
		if (r->gpus[i].host == host)
			r->gpus[i].memory =
				slurm_part(&l->gres, l->shards[host] / h->gpus, r->gpus[i].total);
	return true;
}

/* srun prints a complaint if it is told not to bind where Slurm's plugins can't bind anyway */
static void ask_for_binding(struct run *r)
{
	struct command c = { .n = 0 };

	if (command_add(&c, "scontrol") && command_add(&c, "show") && command_add(&c, "config"))
		read_lines(r, &c, config_line, r);
	command_free(&c);
}

static bool count_allocation(struct run *r)
{
	static struct listing l;
	struct command c = { .n = 0 };
	struct job j = job_of(r);
	int status = -1;
	unsigned int i;

	l = (struct listing){ .r = r };
	ask_for_binding(r);
	j.binds = r->binds;
	for (i = 0; i < r->nr_hosts; i++)
		r->hosts[i].gpus = 0;
	if (step_count(&j, r->nr_hosts, &c))
		status = read_lines(r, &c, count_line, &l);
	command_free(&c);
	print_rows(&l);
	qsort(r->gpus, r->nr_gpus, sizeof(*r->gpus), compare_gpus);
	if (status)
		report_error("the GPUs of the allocation can't be listed (exit code %d of srun)",
			     status);
	for (i = 0; !status && i < r->nr_hosts; i++)
		if (l.shards[i] && !take_part(r, &l, i))
			return false;
	return !status;
}

/* if --hosts says how many GPUs the host has, ask only for what else is wanted of them */
static bool has_to_be_asked(const struct run *r, const struct host *h)
{
	return r->o.list || h->gpus == GPUS_UNKNOWN || r->o.memory || r->o.spread ||
	       r->o.load != LOAD_ANY;
}

static bool count_all(struct run *r)
{
	unsigned int i;

	r->nr_gpus = 0;
	if (r->node)
		return count_allocation(r);
	for (i = 0; i < r->nr_hosts; i++) {
		if (!has_to_be_asked(r, &r->hosts[i])) {
			if (r->nr_gpus + r->hosts[i].gpus <= GPUS_MAX)
				r->nr_gpus += plan_assume(&r->hosts[i], i, r->gpus + r->nr_gpus);
		} else if (!count_host(r, i)) {
			return false;
		}
	}
	return true;
}

/* ------------------------------------------------------------------ choosing */

/* the name of this machine for others: as --hosts has it, else its own, if that can be looked up */
static void name_here(struct run *r)
{
	char self[HOST_TEXT] = "";
	struct addrinfo *at;
	unsigned int i;

	gethostname(self, sizeof(self) - 1);
	for (i = 0; i < r->nr_hosts; i++)
		if (r->hosts[i].local && strcmp(r->hosts[i].name, "localhost") &&
		    strcmp(r->hosts[i].name, "127.0.0.1")) {
			strcpy(r->here, r->hosts[i].name);
			return;
		}
	if (getaddrinfo(self, NULL, NULL, &at))
		return;
	freeaddrinfo(at);
	strcpy(r->here, self);
}

static int find_hosts(struct run *r, const char **why)
{
	static struct host nodes[HOSTS_MAX];
	const char *list = getenv("SLURM_JOB_NODELIST");
	char self[HOST_TEXT] = "";
	int n, i, k, nr;

	gethostname(self, sizeof(self) - 1);
	if (!r->node)
		return plan_hosts(r->o.hosts ? r->o.hosts : "localhost", self, r->hosts, why);
	nr = slurm_nodes(list ? list : "", r->node, nodes, why);
	if (nr < 0 || !r->o.hosts) {
		memcpy(r->hosts, nodes, sizeof(nodes));
		return nr;
	}
	n = plan_hosts(r->o.hosts, r->node, r->hosts, why);
	for (i = 0; i < n; i++) {
		for (k = 0; k < nr && strcmp(r->hosts[i].name, nodes[k].name); k++)
			;
		if (k == nr) {
			*why = "a host is not in Slurm's allocation";
			return -1;
		}
	}
	return n;
}

/*
 * What --list of others says of this run. registry_read() (../relay/registry.c) wants a colon, 40
 * characters at most, and none that could change a line.
 */
static void make_label(struct run *r)
{
	const char *job = getenv("SLURM_JOB_ID"), *program = r->o.program[0];
	char *at;

	if (strrchr(program, '/'))
		program = strrchr(program, '/') + 1;
	snprintf(r->label, sizeof(r->label), "%.12s:%.24s", job && *job ? job : "-", program);
	for (at = r->label; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("-._:+", *at))
			*at = '_';
}

bool gpus_find_hosts(struct run *r)
{
	const char *why;
	int n = find_hosts(r, &why);

	if (n < 0) {
		report_error("%s: %s", r->node ? "Slurm's nodes" : "--hosts", why);
		return false;
	}
	r->nr_hosts = n;
	if (r->o.hosts && !r->node)
		name_here(r);
	return true;
}

bool gpus_find(struct run *r)
{
	struct wish w = { r->o.gpus, r->o.share, r->o.spread, r->o.memory, r->o.load };
	bool later = false, told = false;
	time_t until = 0;
	const char *why;
	int n;

	for (;;) {
		if (!count_all(r))
			return false;
		if (r->o.list)
			return true;
		n = plan_places(r->gpus, r->nr_gpus, &w, r->places, DEVICES_MAX, &why, &later);
		/* the wait begins when the first look ends: a look may take longer than it */
		if (!told)
			until = time(NULL) + r->o.wait_s;
		if (n > 0 || !later || time(NULL) >= until)
			break;
		if (!told)
			report_error("waiting for GPUs that fit");
		told = true;
		sleep(AGAIN_S);
	}
	if (n <= 0) {
		report_error("%s", why);
		return false;
	}
	r->nr_places = n;
	make_label(r);
	return true;
}
