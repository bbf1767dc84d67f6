// SPDX-License-Identifier: GPL-2.0-only
/* vGPUs that are made and removed without end beside those at work. */
#include "churn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_NUMBER = 100 };

struct churn_shared {
	volatile int end;
	struct {
		volatile uint64_t made, ns, failed;
	} by[MAX_CHURN];
};

/* Make and remove a vGPU until the end. */
static void work(struct churn_shared *sh, unsigned int i)
{
	struct tenant t;
	uint64_t began;

	while (!sh->end) {
		began = now_ns();
		if (vgpu_make(&t, FIRST_NUMBER + i, "512m")) {
			sh->by[i].failed++;
			continue;
		}
		sh->by[i].ns += now_ns() - began;
		sh->by[i].made++;
		tenant_remove(&t);
	}
}

void churn_begin(struct churn *c, unsigned int nr)
{
	unsigned int i;

	memset(c, 0, sizeof(*c));
	if (!nr)
		return;
	c->sh = mmap(NULL, sizeof(*c->sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (c->sh == MAP_FAILED) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	fflush(stdout);
	for (i = 0; i < nr; i++) {
		c->pid[i] = fork();
		if (!c->pid[i]) {
			work(c->sh, i);
			_exit(0);
		}
	}
	c->nr = nr;
}

uint64_t churn_end(struct churn *c, uint64_t *ns, uint64_t *failed)
{
	uint64_t made = 0;
	unsigned int i;

	*ns = *failed = 0;
	if (!c->nr)
		return 0;
	c->sh->end = 1;
	for (i = 0; i < c->nr; i++) {
		waitpid(c->pid[i], NULL, 0);
		made += c->sh->by[i].made;
		*ns += c->sh->by[i].ns;
		*failed += c->sh->by[i].failed;
	}
	munmap(c->sh, sizeof(*c->sh));
	return made;
}
