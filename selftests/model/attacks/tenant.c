// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tenant: a process that uses the card through stock nouveau and holds a secret in video memory.
 * The attacker is another process, with access to BAR0 and BAR1.
 */
#include "tenant.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ce.h"
#include "client.h"
#include "pattern.h"

/* JOB_MS: more than an attack takes that keeps the tenant waiting */
enum { COPY_LEN = 16384, JOB_MS = 300000, STATE_MS = 60000 };

static void tell(struct tenant_shared *sh, enum tenant_state state)
{
	__sync_synchronize();
	sh->state = state;
}

/*
 * The tenant's work: copies to video memory and back. sh->rounds counts those that came back right.
 */
static void work(struct tenant_shared *sh, struct stream *s)
{
	while (sh->order != TENANT_END) {
		int ret = stream_kick(s);

		sh->kicks += !ret;
		if (!ret)
			ret = stream_check(s, JOB_MS);
		if (ret) {
			sh->error = ret;
			return;
		}
		sh->rounds++;
		usleep(500);
	}
}

static void tenant_main(struct tenant_shared *sh)
{
	struct nouveau_bo *host;
	struct gpu_chan c;
	struct stream s;
	struct gpu g;

	/* also after a bail() of the attacker: the tenant holds its card and its huge page */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	gpu_open(&g, NULL);
	chan_must_open(&g, ENGINE_CE, &c);
	stream_open(&s, &g, ENGINE_CE, COPY_LEN, 1);
	host = bo_new(&g, NOUVEAU_BO_GART, TENANT_SECRET_BYTES);
	memcpy(host->map, (void *)sh->secret, TENANT_SECRET_BYTES);
	job_begin(&c, CE_COPY_WORDS);
	job_use(&c, host, NOUVEAU_BO_RDWR);
	job_use(&c, s.vram, NOUVEAU_BO_RDWR);
	ce_emit_linear(&c, host->offset, s.vram->offset, TENANT_SECRET_BYTES);
	if (job_run(&c))
		_exit(1);
	sh->chid = c.chid;
	sh->secret_va = s.vram->offset;
	tell(sh, TENANT_READY);
	while (sh->order == TENANT_WAIT)
		usleep(1000);
	/* read back, through the GPU, what the tenant's video memory holds now */
	memset(host->map, 0, TENANT_SECRET_BYTES);
	job_begin(&c, CE_COPY_WORDS);
	job_use(&c, host, NOUVEAU_BO_RDWR);
	job_use(&c, s.vram, NOUVEAU_BO_RDWR);
	ce_emit_linear(&c, s.vram->offset, host->offset, TENANT_SECRET_BYTES);
	if (job_run(&c))
		_exit(1);
	memcpy((void *)sh->secret, host->map, TENANT_SECRET_BYTES);
	tell(sh, TENANT_WORKING);
	work(sh, &s);
	bo_free(&host);
	stream_close(&s);
	chan_close(&c);
	gpu_close(&g);
	_exit(sh->error ? 1 : 0);
}

bool tenant_start(struct tenant *t)
{
	t->shared = mmap(NULL, sizeof(*t->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t->shared == MAP_FAILED)
		bail("no memory");
	pattern_fill((void *)t->shared->secret, TENANT_SECRET_BYTES, 0x7e5a);
	t->pid = fork();
	if (t->pid < 0)
		bail("fork: %s", strerror(errno));
	if (!t->pid)
		tenant_main(t->shared);
	return tenant_await(t, TENANT_READY);
}

bool tenant_await(struct tenant *t, enum tenant_state state)
{
	int ms;

	for (ms = 0; ms < STATE_MS && t->shared->state != (int)state; ms++) {
		if (waitpid(t->pid, NULL, WNOHANG) == t->pid)
			return false;
		usleep(1000);
	}
	return t->shared->state == (int)state;
}

bool tenant_end(struct tenant *t)
{
	int status = -1;

	t->shared->order = TENANT_END;
	if (waitpid(t->pid, &status, 0) != t->pid)
		status = -1;
	munmap(t->shared, sizeof(*t->shared));
	return status == 0;
}
