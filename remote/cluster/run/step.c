// SPDX-License-Identifier: MIT
/* step.h has the contracts. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a step shares the job's CPUs, memory and GPUs with the job's other steps */
static bool add_srun(const struct job *j, struct command *c, const char *mpi, unsigned int ranks)
{
	return command_add(c, "srun") && command_add(c, "--overlap") &&
	       command_add(c, "--overcommit") && command_add(c, "--mem=0") &&
	       (!j->binds || command_add(c, "--cpu-bind=none")) && command_add(c, "--input=none") &&
	       command_add(c, "--export=ALL") && command_add(c, "--mpi=%s", mpi) &&
	       command_add(c, "--ntasks=%u", ranks);
}

static const char *node_of(const struct job *j, unsigned int place)
{
	return j->hosts[j->places[place].host].name;
}

/*
 * Open MPI speaks PMIx; MPICH speaks PMI-1, which Slurm's plugin for PMI-2 does, too. Which nodes
 * and how many says SLURM_HOSTFILE: newer srun refuse --nodes beside that.
 */
bool step_job(const struct job *j, const char *programs, struct command *c)
{
	return add_srun(j, c, j->o->mpi == MPI_KIND_OPENMPI ? "pmix" : "pmi2", j->nr_places + 1) &&
	       command_add(c, "--kill-on-bad-exit=0") && command_add(c, "--wait=0") &&
	       command_add(c, "--distribution=arbitrary") && command_add(c, "--multi-prog") &&
	       command_add(c, "%s", programs);
}

/* the text that was written into the memory stream @f; NULL: it is not @fine, or no memory */
static char *text_end(FILE *f, char **text, bool fine)
{
	if (!fclose(f) && fine)
		return *text;
	free(*text);
	return NULL;
}

char *step_hosts(const struct job *j)
{
	char *text = NULL;
	unsigned int i;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fprintf(f, "%s\n", j->node);
	for (i = 0; i < j->nr_places; i++)
		fprintf(f, "%s\n", node_of(j, i));
	return text_end(f, &text, true);
}

/* the line of one rank; false: a word can't be in it */
static bool write_rank(FILE *f, unsigned int rank, const struct command *c)
{
	unsigned int i;

	fprintf(f, "%u", rank);
	for (i = 0; i < c->n; i++) {
		if (!*c->word[i] || strpbrk(c->word[i], " \t\n\"'\\%#"))
			return false;
		fprintf(f, " %s", c->word[i]);
	}
	fputc('\n', f);
	return true;
}

char *step_programs(const struct job *j)
{
	struct command c = { .n = 0 };
	bool fine = true;
	char *text = NULL;
	unsigned int i;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (i = 0; fine && i <= j->nr_places; i++) {
		fine = i ? command_proxy(j, &j->places[i - 1], &c) : command_broker(j, &c);
		fine = fine && command_add(&c, "--step") && write_rank(f, i, &c);
		command_free(&c);
	}
	return text_end(f, &text, fine);
}

static char *list_of(const struct host *hosts, unsigned int n)
{
	char *text = NULL;
	unsigned int i;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (i = 0; i < n; i++)
		fprintf(f, "%s%s", i ? "," : "", hosts[i].name);
	return text_end(f, &text, true);
}

bool step_count(const struct job *j, unsigned int nr_hosts, struct command *c)
{
	char *list = list_of(j->hosts, nr_hosts);
	bool fine = list && add_srun(j, c, "none", nr_hosts) &&
		    command_add(c, "--nodes=%u", nr_hosts) &&
		    command_add(c, "--nodelist=%s", list) && command_counts(j, c);

	free(list);
	return fine;
}

bool step_is_foreign(const char *variable)
{
	/* which job, and how to reach Slurm */
	static const char *const kept[] = {
		"SLURM_JOB_ID=",       "SLURM_JOBID=",		 "SLURM_CONF=",
		"SLURM_CLUSTER_NAME=", "SLURM_WORKING_CLUSTER=", NULL
	};
	unsigned int i;

	if (strncmp(variable, "SLURM_", strlen("SLURM_")))
		return false;
	for (i = 0; kept[i]; i++)
		if (!strncmp(variable, kept[i], strlen(kept[i])))
			return false;
	return true;
}
