// SPDX-License-Identifier: GPL-2.0-only
/* Many channels: at once, and one after the other without leaving anything behind; no groups. */
#include "client.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <nouveau_drm.h>
#include <nvif/class.h>
#include <nvif/ioctl.h>
#include <xf86drm.h>

#include "ce.h"
#include "methods.h"
#include "tap.h"

/* of one session: nouveau before 6.2 has 32 notification slots per client (nvkm/core/client.c) */
enum { PER_SESSION = 8, SESSIONS_QUICK = 8, SESSIONS = 24, MANY_LEN = 96 * 1024 };

#define VRAM_UNKNOWN (~0ull)

#ifndef NOUVEAU_GETPARAM_VRAM_USED
#define NOUVEAU_GETPARAM_VRAM_USED 19
#endif

void test_channels(const struct client_options *o)
{
	unsigned int sessions = o->quick ? SESSIONS_QUICK : SESSIONS, many = sessions * PER_SESSION;
	unsigned int rounds = o->quick ? 3 : 20, r, i;
	struct stream *s = calloc(many, sizeof(*s));
	struct gpu g[SESSIONS];
	uint64_t start;
	int ret = 0, who = -1;

	if (!s)
		bail("no memory");
	for (i = 0; i < sessions; i++)
		gpu_open(&g[i], o->node);
	for (i = 0; i < many; i++)
		stream_open(&s[i], &g[i / PER_SESSION], i % 4 == 3 ? ENGINE_GR : ENGINE_CE,
			    MANY_LEN, o->seed + 1000 * i);
	start = now_us();
	for (r = 0; !ret && r < rounds; r++) {
		for (i = 0; !ret && i < many; i++)
			ret = stream_kick(&s[i]);
		for (i = 0; !ret && i < many; i++) {
			ret = stream_check(&s[i], JOB_TIMEOUT_MS);
			who = s[i].c.chid;
		}
	}
	tap_result(!ret, "many channels at once, each with a verified stream of its own",
		   "%u channels, %u rounds, %.1f s, result %d, last channel %d", many, r,
		   (now_us() - start) / 1e6, ret, who);
	for (i = 0; i < many; i++)
		stream_close(&s[i]);
	for (i = 0; i < sessions; i++)
		gpu_close(&g[i]);
	free(s);
}

/*
 * Channel groups through the stock interface: since 6.12 the NVIF ioctl makes a device and engine
 * objects, nothing else (nouveau_abi16.c).
 */
void test_groups(const struct client_options *o)
{
	struct {
		struct nvif_ioctl_v0 ioctl;
		struct nvif_ioctl_new_v0 new;
		uint8_t args[64];
	} req = {
		.ioctl = { .type = NVIF_IOCTL_V0_NEW,
			   .object = 0,
			   .owner = NVIF_IOCTL_V0_OWNER_ANY },
		.new = { .oclass = 0xa06c /* KEPLER_CHANNEL_GROUP_A */, .object = 0x70c0 },
	};
	struct gpu g;
	int ret;

	gpu_open(&g, o->node);
	ret = drmCommandWriteRead(g.fd, DRM_NOUVEAU_NVIF, &req, sizeof(req));
	/* selftests/model/attacks has groups, from below */
	tap_known_bug(!ret, "channel groups through the stock interface",
		      "nouveau offers user space no channel groups");
	gpu_close(&g);
}

static unsigned int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static long meminfo_kb(const char *field)
{
	char line[128];
	FILE *f = fopen("/proc/meminfo", "r");
	long kb = -1;
	size_t len = strlen(field);

	while (f && kb < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, field, len) && line[len] == ':')
			kb = atol(line + len + 1);
	if (f)
		fclose(f);
	return kb;
}

struct usage {
	unsigned int files;
	long slab_kb, anon_kb;
	uint64_t vram;
	/* of a fresh channel */
	uint64_t instance;
	int chid;
};

static void take_usage(struct gpu *g, struct usage *u)
{
	struct gpu_chan c;

	chan_must_open(g, ENGINE_GR, &c);
	u->instance = chan_instance(&c);
	u->chid = c.chid;
	chan_close(&c);
	u->files = open_files();
	u->slab_kb = meminfo_kb("SUnreclaim");
	u->anon_kb = meminfo_kb("AnonPages");
	u->vram = gpu_param(g, NOUVEAU_GETPARAM_VRAM_USED, VRAM_UNKNOWN);
}

/* one life of a channel; every tenth with a verified copy, every twentieth with a context, too */
static int one_cycle(struct gpu *g, unsigned int n)
{
	struct stream s;
	struct gpu_chan c;
	int ret;

	if (n % 10) {
		ret = chan_open(g, n & 1 ? ENGINE_CE : ENGINE_GR, &c);
		if (!ret)
			chan_close(&c);
		return ret;
	}
	stream_open(&s, g, n % 20 ? ENGINE_CE : ENGINE_GR, 4096, n);
	if (n % 20 == 0) {
		struct nouveau_object *compute = chan_object(&s.c, CLASS_COMPUTE);

		if (!compute)
			bail("no compute object");
		nouveau_object_del(&compute);
	}
	ret = stream_kick(&s);
	if (!ret)
		ret = stream_check(&s, JOB_TIMEOUT_MS);
	stream_close(&s);
	return ret;
}

void test_cycles(const struct client_options *o)
{
	unsigned int cycles = o->quick ? 100 : 1000, i;
	struct usage before, after;
	uint64_t start;
	struct gpu g;
	int ret = 0;

	gpu_open(&g, o->node);
	/* caches of the driver fill up first */
	for (i = 0; !ret && i < 40; i++)
		ret = one_cycle(&g, i);
	take_usage(&g, &before);
	start = now_us();
	for (i = 0; !ret && i < cycles; i++)
		ret = one_cycle(&g, i);
	take_usage(&g, &after);
	tap_result(!ret, "channels created and destroyed", "%u cycles, %.1f ms each, result %d", i,
		   (now_us() - start) / 1e3 / cycles, ret);
	tap_result(after.files == before.files, "no file left open", "%u -> %u", before.files,
		   after.files);
	if (before.vram == VRAM_UNKNOWN)
		tap_skip("no video memory of buffers left behind",
			 "this kernel does not tell how much is used");
	else
		tap_result(after.vram == before.vram, "no video memory of buffers left behind",
			   "%llu -> %llu", (unsigned long long)before.vram,
			   (unsigned long long)after.vram);
	if (before.instance)
		tap_result(
			after.chid == before.chid && after.instance == before.instance,
			"a new channel gets the same number and the same instance block as before",
			"channel %d -> %d, instance %llx -> %llx", before.chid, after.chid,
			(unsigned long long)before.instance, (unsigned long long)after.instance);
	else
		tap_skip("a new channel gets the same instance block as before",
			 "the channel table is not readable");
	/* slabs of the whole system move by themselves */
	tap_result(after.slab_kb - before.slab_kb < (long)cycles * 2 + 2048,
		   "kernel memory does not grow", "unreclaimable slab %ld -> %ld kB",
		   before.slab_kb, after.slab_kb);
	tap_result(after.anon_kb - before.anon_kb < 8192, "process memory does not grow",
		   "%ld -> %ld kB", before.anon_kb, after.anon_kb);
	gpu_close(&g);
}
