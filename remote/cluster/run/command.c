// SPDX-License-Identifier: MIT
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool command_add(struct command *c, const char *format, ...)
{
	va_list args;
	int r;

	if (c->n == COMMAND_MAX)
		return false;
	va_start(args, format);
	r = vasprintf(&c->word[c->n], format, args);
	va_end(args);
	if (r < 0)
		return false;
	c->word[++c->n] = NULL;
	return true;
}

#define add command_add

void command_free(struct command *c)
{
	while (c->n)
		free(c->word[--c->n]);
}

static bool add_words(struct command *c, const char *const *words)
{
	while (*words)
		if (!add(c, "%s", *words++))
			return false;
	return true;
}

static const char *name_of(const struct host *h)
{
	return h->local ? "localhost" : h->name;
}

/*
 * Open MPI from 5.0 on is built on PRRTE. 5.0.7 crashes where its command line has several programs
 * (issue 13303 of open-mpi/ompi), so all ranks start the same command.
 */
static bool is_prrte(const struct job *j)
{
	return j->o->mpi == MPI_KIND_OPENMPI && j->mpi_major >= 5;
}

/*
 * Ranks may run on any processor, and be more than there are. MPICH's daemons of other machines are
 * to reach mpirun at this machine's name; without -localhost they would try "localhost".
 */
static bool add_mpirun(const struct job *j, struct command *c)
{
	static const char *const openmpi[] = { "--oversubscribe",     "--bind-to", "none", "--mca",
					       "mpi_yield_when_idle", "0",	   NULL };

	if (!add(c, "%s", j->mpirun))
		return false;
	if (j->o->mpi == MPI_KIND_MPICH)
		return !j->here || (add(c, "-localhost") && add(c, "%s", j->here));
	if (j->o->allow_root && !add(c, "--allow-run-as-root"))
		return false;
	/* with fault tolerance the other ranks go on when one ends */
	if (is_prrte(j) && !(add(c, "--with-ft") && add(c, "ulfm")))
		return false;
	return add_words(c, openmpi);
}

/* Open MPI's mpirun has a host for each program */
static bool add_rank(const struct job *j, const char *host, struct command *c)
{
	return add(c, "-n") && add(c, "1") &&
	       (j->o->mpi != MPI_KIND_OPENMPI || (add(c, "--host") && add(c, "%s", host)));
}

/* MPICH's list of hosts, in the order of ranks */
static bool add_hosts(const struct job *j, struct command *c)
{
	char *list = NULL;
	unsigned int i;
	size_t size;
	FILE *f;
	bool fine;

	if (j->o->mpi == MPI_KIND_OPENMPI)
		return true;
	f = open_memstream(&list, &size);
	if (!f)
		return false;
	fputs("localhost:1", f);
	for (i = 0; i < j->nr_places; i++)
		fprintf(f, ",%s:1", name_of(&j->hosts[j->places[i].host]));
	fine = !fclose(f) && add(c, "-hosts") && add(c, "%s", list);
	free(list);
	return fine;
}

static bool add_number(struct command *c, const char *name, uint64_t n, uint64_t unset)
{
	return n == unset || (add(c, "--%s", name) && add(c, "%llu", (unsigned long long)n));
}

/* all ranks must have these settings in common */
static bool add_settings(const struct job *j, struct command *c)
{
	const struct run_options *o = j->o;

	return (!j->number || (add(c, "--number") && add(c, "%s", j->number))) &&
	       (o->mpi != MPI_KIND_LOCAL || add(c, "--step")) &&
	       add_number(c, "staging", o->staging, 0) && add_number(c, "slots", o->slots, 0) &&
	       add_number(c, "eager", o->eager, UINT64_MAX) &&
	       add_number(c, "spin", o->spin_us, UINT64_MAX) &&
	       add_number(c, "patience", o->patience_s, 0) && add_number(c, "arena", o->arena, 0) &&
	       (!o->counts || add(c, "--counts")) && (!o->whole || add(c, "--whole"));
}

bool command_broker(const struct job *j, struct command *c)
{
	return add(c, "%s", j->relay) && add(c, "broker") && add(c, "--folder") &&
	       add(c, "%s", j->folder) && add(c, "--first") && add(c, "%u", j->first) &&
	       add_settings(j, c);
}

bool command_proxy(const struct job *j, const struct place *p, struct command *c)
{
	return add(c, "%s", j->relay) && add(c, "proxy") && add(c, "--library") &&
	       add(c, "%s", j->o->library) && add(c, "--device") && add(c, "%u", p->device) &&
	       add_number(c, "memory", p->memory, 0) &&
	       (!*p->uuid || (add(c, "--gpu") && add(c, "%s", p->uuid))) &&
	       (!j->label || (add(c, "--label") && add(c, "%s", j->label))) &&
	       (j->o->start_s == START_S || add_number(c, "start", j->o->start_s, 0)) &&
	       add_settings(j, c);
}

static bool add_programs(const struct job *j, struct command *c)
{
	unsigned int i;

	if (!add_hosts(j, c) || !add_rank(j, "localhost", c) || !command_broker(j, c))
		return false;
	for (i = 0; i < j->nr_places; i++)
		if (!add(c, ":") || !add_rank(j, name_of(&j->hosts[j->places[i].host]), c) ||
		    !command_proxy(j, &j->places[i], c))
			return false;
	return true;
}

/* The relay, with the commands of all ranks; each rank takes its own (../relay/ranks.h). */
static bool add_ranks(const struct job *j, struct command *c)
{
	bool fine = add(c, "%s", j->relay) && add(c, "ranks") && command_broker(j, c);
	unsigned int i;

	for (i = 0; fine && i < j->nr_places; i++)
		fine = add(c, "--next") && command_proxy(j, &j->places[i], c);
	return fine;
}

static bool add_prrte(const struct job *j, struct command *c)
{
	char *list = NULL;
	unsigned int i;
	size_t size;
	FILE *f = open_memstream(&list, &size);
	bool fine;

	if (!f)
		return false;
	fputs("localhost", f);
	for (i = 0; i < j->nr_places; i++)
		fprintf(f, ",%s", name_of(&j->hosts[j->places[i].host]));
	fine = !fclose(f) && add(c, "--map-by") && add(c, "seq") && add(c, "--host") &&
	       add(c, "%s", list) && add(c, "-n") && add(c, "%u", j->nr_places + 1) &&
	       add_ranks(j, c);
	free(list);
	return fine;
}

bool command_job(const struct job *j, struct command *c)
{
	if (j->o->mpi == MPI_KIND_LOCAL)
		return add_ranks(j, c);
	return add_mpirun(j, c) && (is_prrte(j) ? add_prrte(j, c) : add_programs(j, c));
}

/* who uses the GPUs is asked only where it counts: it may take a while */
bool command_counts(const struct job *j, struct command *c)
{
	const struct run_options *o = j->o;

	return add(c, "%s", j->relay) && add(c, "count") && add(c, "--library") &&
	       add(c, "%s", o->library) &&
	       (!(o->list || o->spread || o->load != LOAD_ANY) || add(c, "--users"));
}

bool command_count(const struct job *j, const struct host *host, struct command *c)
{
	if (!host->local) {
		if (!add_mpirun(j, c))
			return false;
		if (j->o->mpi == MPI_KIND_MPICH && (!add(c, "-hosts") || !add(c, "%s", host->name)))
			return false;
		if (!add_rank(j, host->name, c))
			return false;
	}
	return command_counts(j, c);
}

static bool begins_with_one(const char *text, const char *const *words)
{
	while (*words && strncmp(text, *words, strlen(*words)))
		words++;
	return *words;
}

bool command_is_foreign(const char *variable, bool inside)
{
	static const char *const always[] = { "PMI_",	   "PMIX_",	    "PMI2_", "HYDI_",
					      "MPI_LOCAL", "KVGPU_REMOTE=", NULL };

	return begins_with_one(variable, always) ||
	       (inside && !strncmp(variable, "OMPI_", 5) &&
		strncmp(variable, "OMPI_ALLOW_RUN_AS_ROOT", 22));
}

bool command_is_named(const char *variable)
{
	static const char *const names[] = {
		"PATH=",	  "HOME=",	 "USER=",  "LOGNAME=", "SHELL=",
		"LANG=",	  "LC_",	 "TZ=",	   "TMPDIR=",  "LD_LIBRARY_PATH=",
		"SSH_AUTH_SOCK=", "KRB5CCNAME=", "OMPI_",  "PRTE_",    "HYDRA_",
		"MPIR_",	  "MPICH_",	 "FI_",	   "UCX_",     "SLURM_",
		"CUDA_",	  "NVIDIA_",	 "KVGPU_", NULL
	};

	return begins_with_one(variable, names);
}
