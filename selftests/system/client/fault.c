// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel that touches an address without a page dies, the driver's recovery ends, and verified
 * streams of other channels, of this process and of another one, go on.
 */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nouveau_drm.h>
#include <xf86drm.h>

#include "ce.h"
#include "methods.h"
#include "tap.h"

enum { BESIDE = 3, BESIDE_LEN = 32 * 1024, DEATH_MS = 20000 };

/* inside the address space, far from anything that the driver has placed */
static const uint64_t unmapped = 0xf123456000ull;

struct fault_case {
	const char *name;
	enum gpu_engine engine;
	void (*provoke)(struct gpu_chan *c);
	const char *old_kernels; /* why kernels before 6.2 are spared this */
};

static void read_fault(struct gpu_chan *c)
{
	ce_emit_linear(c, unmapped, c->done->offset + 64, 64);
}

static void write_fault(struct gpu_chan *c)
{
	ce_emit_linear(c, c->done->offset, unmapped, 100);
}

static void host_fault(struct gpu_chan *c)
{
	emit_semaphore(c, unmapped, 1, SEMAPHORE_RELEASE | SEMAPHORE_4BYTE);
}

static void inline_fault(struct gpu_chan *c)
{
	emit(c, SUBC_INLINE, SET_OBJECT, CLASS_INLINE);
	emit(c, SUBC_INLINE, I2M_LINE_LENGTH, 4, 1, (uint32_t)(unmapped >> 32), (uint32_t)unmapped);
	emit(c, SUBC_INLINE, I2M_LAUNCH, I2M_PITCH | I2M_FLUSH);
	emit(c, SUBC_INLINE, I2M_DATA, 0xdead);
}

static const struct fault_case fault_cases[] = {
	{ "copy engine reads an unmapped page", ENGINE_CE, read_fault, NULL },
	{ "graphics engine writes an unmapped page", ENGINE_GR, inline_fault, NULL },
	{ "copy engine of a GR channel writes an unmapped page", ENGINE_GR, write_fault, NULL },
	{ "host releases a semaphore in an unmapped page", ENGINE_CE, host_fault,
	  "nouveau before 6.2 warns about any fault of a unit that is no engine (gk104_fifo_engine_id)" },
};

static int beside_round(struct stream *s)
{
	int i, ret = 0;

	for (i = 0; !ret && i < BESIDE; i++)
		ret = stream_kick(&s[i]);
	for (i = 0; !ret && i < BESIDE; i++)
		ret = stream_check(&s[i], JOB_TIMEOUT_MS);
	return ret;
}

/*
 * another process: copies until told to stop; exit code 0 if all were right. Returns when it has
 * done two rounds, or has ended
 */
static pid_t start_other_process(const struct client_options *o, int *stop)
{
	int p[2], works[2];
	char byte;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) || pipe2(works, O_CLOEXEC))
		bail("pipe");
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		bail("fork");
	if (!pid) {
		struct stream s;
		struct gpu g;
		int ret = 0;

		close(p[1]);
		close(works[0]);
		gpu_open(&g, o->node);
		stream_open(&s, &g, ENGINE_CE, BESIDE_LEN, o->seed + 77);
		while (!ret && read(p[0], &byte, 1) < 0) {
			ret = stream_kick(&s);
			if (!ret)
				ret = stream_check(&s, JOB_TIMEOUT_MS);
			if (!ret && s.rounds == 2 && write(works[1], "", 1) != 1)
				ret = -errno;
			usleep(2000);
		}
		if (ret)
			tap_diag("other process: %s after %llu rounds", strerror(-ret),
				 (unsigned long long)s.rounds);
		_exit(ret ? 1 : 0);
	}
	close(p[0]);
	close(works[1]);
	if (read(works[0], &byte, 1) != 1)
		tap_diag("other process: no two rounds");
	close(works[0]);
	*stop = p[1];
	return pid;
}

/*
 * A submission past libdrm, which drops the kernel's answer. One word of the channel's own zeroed
 * buffer: a pushbuffer that does nothing.
 */
static int submit_directly(struct gpu_chan *c)
{
	struct drm_nouveau_gem_pushbuf_bo bo = {
		.handle = c->done->handle,
		.valid_domains = NOUVEAU_GEM_DOMAIN_GART,
		.read_domains = NOUVEAU_GEM_DOMAIN_GART,
	};
	struct drm_nouveau_gem_pushbuf_push push = { .bo_index = 0, .offset = 2048, .length = 4 };
	struct drm_nouveau_gem_pushbuf req = {
		.channel = c->chid,
		.nr_buffers = 1,
		.buffers = (uintptr_t)&bo,
		.nr_push = 1,
		.push = (uintptr_t)&push,
	};

	return drmCommandWriteRead(c->g->fd, DRM_NOUVEAU_GEM_PUSHBUF, &req, sizeof(req));
}

static void one_fault(struct gpu *g, const struct fault_case *f, struct stream *beside)
{
	struct nouveau_object *object = NULL;
	struct gpu_chan victim, fresh;
	uint64_t start = now_us();
	char name[128];
	int ret = 0, kick, again, i;
	unsigned int rounds = 0;

	chan_must_open(g, f->engine, &victim);
	if (submit_directly(&victim))
		bail("an empty pushbuffer is refused although nothing is wrong");
	if (f->engine == ENGINE_GR)
		object = chan_object(&victim, CLASS_INLINE);
	job_begin(&victim, 64);
	f->provoke(&victim);
	kick = job_kick(&victim);
	while (!ret && !chan_dead(&victim) && now_us() - start < DEATH_MS * 1000ull) {
		ret = beside_round(beside);
		rounds++;
	}
	snprintf(name, sizeof(name), "%s: its channel is killed", f->name);
	tap_result(!kick && chan_dead(&victim), name, "after %llu ms",
		   (unsigned long long)(now_us() - start) / 1000);
	again = submit_directly(&victim);
	snprintf(name, sizeof(name), "%s: further work of it is refused", f->name);
	tap_result(again == -ENODEV, name, "%s", strerror(-again));
	for (i = 0; !ret && i < 5; i++, rounds++)
		ret = beside_round(beside);
	snprintf(name, sizeof(name), "%s: other channels go on", f->name);
	tap_result(!ret, name, "%u rounds of %d streams, result %d", rounds, BESIDE, ret);
	if (object)
		nouveau_object_del(&object);
	chan_close(&victim);
	ret = chan_open(g, f->engine, &fresh);
	if (!ret) {
		job_begin(&fresh, 8);
		emit(&fresh, SUBC_COPY, SET_OBJECT, CLASS_COPY);
		ret = job_run(&fresh);
		chan_close(&fresh);
	}
	snprintf(name, sizeof(name), "%s: a new channel works", f->name);
	tap_result(!ret, name, "result %d", ret);
}

void test_fault(const struct client_options *o)
{
	unsigned int repeat = o->quick ? 1 : 5, r, i;
	struct stream beside[BESIDE];
	struct gpu g;
	int stop, status;
	pid_t other = start_other_process(o, &stop);

	gpu_open(&g, o->node);
	for (i = 0; i < BESIDE; i++)
		stream_open(&beside[i], &g, i == 1 ? ENGINE_GR : ENGINE_CE, BESIDE_LEN,
			    o->seed + i);
	for (r = 0; r < repeat; r++) {
		for (i = 0; i < sizeof(fault_cases) / sizeof(fault_cases[0]); i++) {
			if (fault_cases[i].old_kernels && kernel_before(6, 2))
				tap_skip(fault_cases[i].name, fault_cases[i].old_kernels);
			else
				one_fault(&g, &fault_cases[i], beside);
		}
	}
	close(stop);
	if (waitpid(other, &status, 0) != other)
		status = -1;
	tap_result(status == 0, "another process noticed nothing of all faults", "status %d",
		   status);
	for (i = 0; i < BESIDE; i++)
		stream_close(&beside[i]);
	gpu_close(&g);
}
