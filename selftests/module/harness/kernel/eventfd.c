// SPDX-License-Identifier: GPL-2.0-only
/*
 * Eventfds and VFIO's virqfds, after fs/eventfd.c and drivers/vfio/virqfd.c. A signal takes the
 * lock of the eventfd's waitqueue and, inside the lock, runs the handler of the virqfd that waits
 * there. A handler may not signal any eventfd. When a handler returns true, a worker runs the
 * virqfd's thread function. When user space closes an eventfd, its virqfd is shut down. An eventfd
 * that the module only signals lives until the module gives up its reference.
 */
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/task.h"

#define FIRST 3
#define LAST  10

struct virqfd {
	struct eventfd_ctx *ctx;
	void *opaque, *data;
	int (*handler)(void *opaque, void *data);
	void (*thread)(void *opaque, void *data);
	struct virqfd **self;
	struct work_struct inject;
};

static struct eventfd_ctx eventfds[LAST + 1];
static DEFINE_SPINLOCK(wqh); /* of all waitqueues: no other thread runs while one has it */
static u64 cost_ns;
static int cost_fd;
struct signalled signalled;

void eventfd_begin(void)
{
	memset(eventfds, 0, sizeof(eventfds));
	cost_ns = 0;
}

void eventfd_cost(int fd, u64 ns)
{
	cost_fd = fd;
	cost_ns = ns;
	signalled = (struct signalled){};
}

static bool of_the_card(const struct mutex *m)
{
	return strstr(m->name, "event_lock") || strstr(m->name, "gpu->lock");
}

void eventfd_end(void)
{
	int fd;

	for (fd = FIRST; fd <= LAST; fd++)
		FAIL_ON(eventfds[fd].refs || eventfds[fd].waits,
			"S6: eventfd %d is held by nobody's device", fd);
}

struct eventfd_ctx *eventfd_ctx_fdget(int fd)
{
	if (fd < FIRST || fd > LAST || eventfds[fd].closed)
		return ERR_PTR(-EBADF);
	eventfds[fd].refs++;
	return &eventfds[fd];
}

void eventfd_ctx_put(struct eventfd_ctx *ctx)
{
	FAIL_ON(--ctx->refs < 0, "S6: an eventfd is put once too often");
}

static void wake(struct eventfd_ctx *ctx)
{
	struct virqfd *w;

	FAIL_ON(wqh.owner, "S6: an eventfd is signalled inside a wake-up");
	spin_lock(&wqh);
	ctx->count++;
	w = ctx->waits;
	if (w && w->handler(w->opaque, w->data) && w->thread)
		queue_work(system_percpu_wq, &w->inject);
	spin_unlock(&wqh);
}

void eventfd_signal(struct eventfd_ctx *ctx)
{
	harness_point("eventfd_signal");
	FAIL_ON(ctx->refs <= 0, "S6: an eventfd is signalled that nobody holds");
	if (cost_ns && ctx == &eventfds[cost_fd]) {
		signalled.nr++;
		signalled.by_host += !task_mm();
		signalled.locked += !!task_holds(of_the_card);
		harness_sleep(cost_ns); /* other CPUs go on */
	}
	wake(ctx);
	harness_point("eventfd_signal, done");
}

/* ------------------------------------------------------------------ virqfds */

static void inject(struct work_struct *work)
{
	struct virqfd *w = container_of(work, struct virqfd, inject);

	w->thread(w->opaque, w->data);
}

int vfio_virqfd_enable(void *opaque, int (*handler)(void *, void *), void (*thread)(void *, void *),
		       void *data, struct virqfd **pvirqfd, int fd)
{
	struct eventfd_ctx *ctx;
	struct virqfd *w;

	if (*pvirqfd)
		return -EBUSY;
	ctx = eventfd_ctx_fdget(fd);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	if (ctx->waits) {
		eventfd_ctx_put(ctx);
		return -EBUSY;
	}
	w = kzalloc(sizeof(*w), GFP_KERNEL);
	if (!w) {
		eventfd_ctx_put(ctx);
		return -ENOMEM;
	}
	*w = (struct virqfd){ .ctx = ctx,
			      .opaque = opaque,
			      .data = data,
			      .handler = handler,
			      .thread = thread,
			      .self = pvirqfd };
	INIT_WORK(&w->inject, inject);
	*pvirqfd = w;
	ctx->waits = w;
	harness_point("vfio_virqfd_enable");
	if (*pvirqfd == w && ctx->count && w->handler(opaque, data) && w->thread)
		queue_work(system_percpu_wq, &w->inject);
	return 0;
}

static void shut_down(struct virqfd *w)
{
	w->ctx->waits = NULL;
	cancel_work_sync(&w->inject);
	eventfd_ctx_put(w->ctx);
	kfree(w);
}

void vfio_virqfd_disable(struct virqfd **pvirqfd)
{
	struct virqfd *w = *pvirqfd;

	*pvirqfd = NULL;
	if (w)
		shut_down(w);
}

/* ------------------------------------------------------------------ user space */

void user_eventfd_open(int fd)
{
	eventfds[fd].closed = false;
	eventfds[fd].count = 0;
}

void user_eventfd_close(int fd)
{
	struct virqfd *w = eventfds[fd].waits;

	eventfds[fd].closed = true;
	if (!w)
		return;
	*w->self = NULL;
	shut_down(w);
}

void user_eventfd_write(int fd)
{
	harness_point("write of an eventfd");
	wake(&eventfds[fd]);
}

u64 user_eventfd_read(int fd)
{
	u64 n = eventfds[fd].count;

	eventfds[fd].count = 0;
	return n;
}
