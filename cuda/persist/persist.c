// SPDX-License-Identifier: MIT
/*
 * kvgpu-persist: holds a GPU's engines, so that nouveau keeps them initialised between programs.
 * nouveau takes the graphics engine down when the last channel that can use it ends, and sets the
 * engine up again, with its firmware, for the next channel. That costs a vGPU's guest many exits.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nouveau.h>
#include <nouveau_drm.h>
#include <xf86drm.h>

#include <nvif/class.h>
#include <nvif/cl0080.h>

#include "../api/process.h"
#include "../kepler/device/methods.h"

enum { CHIP_GK110 = 0xf0, CHIP_GK110B = 0xf1 };
enum { ENGINE_GR = 0x01, ENGINE_CE = 0x30 }; /* uapi nouveau_drm.h NOUVEAU_FIFO_ENGINE_* */

struct held {
	int fd;
	struct nouveau_drm *drm;
	struct nouveau_device *dev;
	struct nouveau_object *channel[2], *object[2];
};

static int complain(const char *node, const char *what)
{
	fprintf(stderr, "kvgpu-persist: %s: %s\n", node, what);
	return 1;
}

static int open_node(struct held *h, const char *node)
{
	struct nv_device_v0 args = { .device = ~0ull };
	drmVersionPtr v;
	int ours;

	h->fd = open(node, O_RDWR | O_CLOEXEC);
	if (h->fd < 0)
		return complain(node, strerror(errno));
	v = drmGetVersion(h->fd);
	ours = v && !strcmp(v->name, "nouveau");
	drmFreeVersion(v);
	if (!ours)
		return complain(node, "nouveau does not drive it");
	if (nouveau_drm_new(h->fd, &h->drm) ||
	    nouveau_device_new(&h->drm->client, NV_DEVICE, &args, sizeof(args), &h->dev))
		return complain(
			node,
			"nouveau does not let it be used (its messages are in the kernel's log)");
	return 0;
}

/* A channel with an object, which makes nouveau set the engine up. It gets no work. */
static int hold(struct held *h, unsigned int i, unsigned int engine, unsigned int class)
{
	struct nve0_fifo args = { .engine = engine };
	int ret = nouveau_object_new(&h->dev->object, 0, NOUVEAU_FIFO_CHANNEL_CLASS, &args,
				     sizeof(args), &h->channel[i]);

	return ret ? ret :
		     nouveau_object_new(h->channel[i], OBJECT_HANDLE(class), class, NULL, 0,
					&h->object[i]);
}

static void let_go(struct held *h)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		nouveau_object_del(&h->object[i]);
		nouveau_object_del(&h->channel[i]);
	}
	nouveau_device_del(&h->dev);
	nouveau_drm_del(&h->drm);
	if (h->fd >= 0)
		close(h->fd);
}

static int keep(struct held *h, const char *node, const sigset_t *ends)
{
	int signal;

	if (open_node(h, node))
		return 1;
	if (h->dev->chipset != CHIP_GK110 && h->dev->chipset != CHIP_GK110B) {
		printf("kvgpu-persist: %s is no GK110 (chip 0x%x): nothing to hold\n", node,
		       h->dev->chipset);
		return 0;
	}
	if (hold(h, 0, ENGINE_GR, CLASS_COMPUTE))
		return complain(node, "no channel for the graphics engine");
	/* some boards have no copy engine on a runlist of its own */
	if (hold(h, 1, ENGINE_CE, CLASS_COPY))
		printf("kvgpu-persist: %s: no copy engine of its own; the graphics engine is held\n",
		       node);
	printf("kvgpu-persist: %s: held\n", node);
	fflush(stdout);
	sigwait(ends, &signal);
	return 0;
}

static const char usage[] =
	"usage: kvgpu-persist NODE | --version | --help\n"
	"  keeps nouveau's engines of the GPU with that render node (/dev/dri/renderD128) initialised until it is told\n"
	"  to end (SIGTERM, SIGINT, SIGHUP), so that programs start faster. While it runs, nouveau can't be unloaded.\n";

static int wrong_usage(const char *text, const char *word)
{
	fprintf(stderr, "kvgpu-persist: %s%s; kvgpu-persist --help says more\n", text, word);
	return 2;
}

int main(int argc, char **argv)
{
	struct held h = { .fd = -1 };
	sigset_t ends;
	int ret;

	if (argc < 2)
		return wrong_usage("NODE is missing, such as /dev/dri/renderD128", "");
	if (argc > 2)
		return wrong_usage("one word too many: ", argv[2]);
	if (!strcmp(argv[1], "--version"))
		return puts("kvgpu-persist " KVGPU_VERSION) < 0;
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return fputs(usage, stdout) < 0;
	if (argv[1][0] == '-')
		return wrong_usage("there are the options --version and --help, not ", argv[1]);
	process_begin();
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	ret = keep(&h, argv[1], &ends);
	let_go(&h);
	return ret;
}
