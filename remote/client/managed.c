// SPDX-License-Identifier: MIT
/*
 * Managed memory: memory of this process at the address that it has for the server's library.
 * Before work that may touch managed memory goes out, that server's pages that the program wrote
 * are sent, and all of that server's pages are closed. A touch of a closed page faults; the handler
 * waits for the work and fetches the page.
 *
 * Mapped memory is the same, if the server does not share its arena: pinned memory, a part of the
 * arena, which the server's GPU sees at the address that the program has for it. But a touch waits
 * for no work, as a kernel may wait for the program. While there may be work, only words that the
 * program has changed are sent, and the watcher, a thread, sends them, asks whether there is work,
 * and closes the pages that were opened, again and again: so each side sees what the other one
 * writes.
 *
 * userfaultfd is not used: a container may forbid it. A system call that touches a closed page
 * returns EFAULT. The memory is mapped a second time, where it is open: a page's bytes are complete
 * before a thread of the program sees the page.
 *
 * Runs on the program's threads, those of cross_fence.c, hostfunc.c and bounce.c, and its own one,
 * the watcher; the handler on each thread that touches a closed page.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <remote/channel/signals.h>

#include "client.h"

enum {
	ATTACH_GLOBAL = 1,
	ATTACH_HOST = 2,
	TRIES = 16,
	WINDOW_MIN = 4,
	READ_MOSTLY = 1,
	HANDLERS = 4,
	/* half of what Linux lets a process have by default (vm.max_map_count) */
	BORDERS_MAX = 32 << 10
};
/* bytes of a module's managed variables: the pages' states are gone through for each work */
#define VARIABLES_MAX (64ull << 30)

/*
 * CLOSED: the program can't access the page, and the GPU may have written it. CLEAN: open for
 * reading. DIRTY: open for writing, too; the program may have written it since it was sent.
 * TWINNED: DIRTY, and .twin has the bytes from before; of mapped memory.
 *
 * The program may have less access than that: Linux refuses to divide mappings where there are too
 * many. It faults once more then. It never has more.
 */
enum page { CLOSED, CLEAN, DIRTY, TWINNED };
enum { WORDS = 1024, WATCH_NS = 1000000, WATCH_OF = 8 };

/*
 * What a range has of an allocation, or of a variable of a module. NVIDIA's library puts several on
 * a page, and refuses a copy that leaves one.
 */
struct part {
	uintptr_t at, end;
	uintptr_t first; /* of an allocation: what the program frees */
	void *ctx, *module; /* the part ends with either of them */
	uint64_t ctx_id;
};

/*
 * peer->room is a piece of the server's arena for pages on their way. Its first room_used bytes may
 * not have been read yet by the server.
 */
struct managed {
	uintptr_t begin, end; /* rounded to pages */
	struct part *parts; /* in their order; none of mapped memory */
	unsigned int nr_parts;
	uint8_t *alias;
	uint8_t *page;
	size_t open;
	/* pages whose access is not that of the page before: each costs a mapping */
	size_t borders;
	/* a fetch that begins at page .next takes twice .window pages: the program reads on */
	size_t next, window;
	void *ctx; /* of one of its parts; mapped memory ends with it */
	uint64_t ctx_id;
	uint64_t at; /* of mapped memory: its place in the arena; else NOWHERE */
	uint8_t *twin; /* of mapped memory */
	bool twinned; /* some pages were, since they were closed */
};

struct working {
	void *ctx;
	uint64_t id;
};

/*
 * Protects ranges, and what is known of work. May be held while a thread waits for an answer, but
 * not while it waits for the GPU's work. Frames that are sent with it have no parts, and neither
 * touch nor report (frames.def): call.c would take it again.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct managed *ranges;
static unsigned int nr, max; /* nr: atomic, written under `lock` */
static size_t borders; /* of all ranges */
/* contexts that got work since wait_for_work() last waited for them */
static struct working *working;
static unsigned int nr_working, max_working;
static uint64_t begun, sent; /* calls with work that may touch managed memory: begun, and sent */
static bool early; /* pages were opened while the GPU may have had work */
/* the watcher: whether it runs; pages of mapped memory were opened early; ns of fetching them */
static bool watches, watched;
static uint64_t fetched_ns;
static pthread_cond_t watch = PTHREAD_COND_INITIALIZER;
static uintptr_t page_bytes;
/* the handlers of handlers[] whose place they took; handlers[top] was set last */
static struct sigaction before[HANDLERS];
static unsigned int top;

/* ------------------------------------------------------------------ call with the lock */

static struct managed *find_managed(uintptr_t at)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (at >= ranges[i].begin && at < ranges[i].end)
			return &ranges[i];
	return NULL;
}

static size_t pages_of(const struct managed *m)
{
	return (m->end - m->begin) / page_bytes;
}

/* False: the kernel has refused. All pages of a range are one mapping then: that it grants. */
static bool protect(const struct managed *m, size_t page, size_t n, int prot)
{
	return !mprotect((uint8_t *)m->begin + page * page_bytes, n * page_bytes, prot);
}

static void close_all(const struct managed *m)
{
	static bool told;

	if (protect(m, 0, pages_of(m), PROT_NONE) || told)
		return;
	told = true;
	client_say(
		"managed or mapped memory can't be closed, results may be wrong: this process has too many mappings "
		"(sysctl vm.max_map_count)");
}

static int access_of(enum page state)
{
	return state == CLOSED ? PROT_NONE : state == CLEAN ? PROT_READ : PROT_READ | PROT_WRITE;
}

/* at both ends of these pages, and between them */
static size_t borders_at(const struct managed *m, size_t page, size_t n)
{
	size_t i, sum = 0;

	for (i = page ? page : 1; i <= page + n && i < pages_of(m); i++)
		sum += access_of(m->page[i]) != access_of(m->page[i - 1]);
	return sum;
}

/* Whether these pages may get this access, all of them: there are not too many borders then. */
static bool fits(const struct managed *m, size_t page, size_t n, int access)
{
	size_t old = borders_at(m, page, n), new = page &&access_of(m->page[page - 1]) != access;

	new += page + n < pages_of(m) && access_of(m->page[page + n]) != access;
	return new <= old || borders + new - old <= BORDERS_MAX;
}

static void note(struct managed *m, size_t page, size_t n, enum page state)
{
	borders -= m->borders;
	m->borders -= borders_at(m, page, n);
	memset(m->page + page, state, n);
	m->borders += borders_at(m, page, n);
	borders += m->borders;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* how many bytes a part has from *@at on, or else the next part before @end, where *@at is then */
static uint64_t part_bytes(const struct managed *m, uintptr_t *at, uintptr_t end)
{
	const struct part *p = m->parts, *parts_end = p + m->nr_parts;

	while (p < parts_end && p->end <= *at)
		p++;
	if (p == parts_end || p->at >= end)
		return 0;
	*at = *at < p->at ? p->at : *at;
	return (p->end < end ? p->end : end) - *at;
}

/* False: no memory. @of has whose it is. Those that it overlaps become one with it. */
static bool add_part(struct managed *m, uintptr_t at, uintptr_t end, const struct part *of)
{
	struct part *grown = realloc(m->parts, (m->nr_parts + 1) * sizeof(*grown));
	unsigned int i = 0, n;

	if (!grown)
		return false;
	m->parts = grown;
	while (i < m->nr_parts && grown[i].end <= at)
		i++;
	for (n = i; n < m->nr_parts && grown[n].at < end; n++) {
		at = grown[n].at < at ? grown[n].at : at;
		end = grown[n].end > end ? grown[n].end : end;
	}
	memmove(grown + i + 1, grown + n, (m->nr_parts - n) * sizeof(*grown));
	grown[i] = *of;
	grown[i].at = at;
	grown[i].end = end;
	m->nr_parts += 1 + i - n;
	return true;
}

static bool is_mapped(const struct managed *m)
{
	return m->at != KVGPU_REMOTE_NOWHERE;
}

/* send the words of a page that the program has changed, beside which the GPU may write others */
static void send_words(const struct managed *m, size_t page)
{
	static struct {
		struct q_mapped_in q;
		uint32_t pair[WORDS][2];
	} f;
	const uint32_t *now = (uint32_t *)(m->alias + page * page_bytes),
		       *was = (uint32_t *)(m->twin + page * page_bytes);
	struct call c = { .op = OP_mapped_in, .fixed = &f, .to.peer = object_peer(m->ctx) };
	uint32_t i, last = page_bytes / sizeof(*now);

	f.q = (struct q_mapped_in){ .at = m->at + page * page_bytes };
	context_borrow(m->ctx, m->ctx_id);
	for (i = 0; i < last; i++) {
		if (now[i] != was[i]) {
			f.pair[f.q.words][0] = i * sizeof(*now);
			f.pair[f.q.words++][1] = now[i];
		}
		if (f.q.words == WORDS || (i == last - 1 && f.q.words)) {
			c.bytes = sizeof(f.q) + f.q.words * sizeof(f.pair[0]);
			(void)call_async(&c); /* later calls return the error, too */
			f.q.words = 0;
		}
	}
	context_give_back();
}

static void send_mapped(const struct managed *m, size_t page, size_t n)
{
	uint64_t at = m->at + page * page_bytes, end = at + n * page_bytes, piece;

	for (; at < end; at += piece) {
		piece = piece_least(end - at);
		/* the channel is gone: later calls say so */
		(void)kvgpu_remote_push(object_peer(m->ctx)->channel, at, NULL, piece);
	}
}

/*
 * Don't use staging_get(): a thread that has a piece of it may wait for the lock before it sends
 * it.
 */
static CUresult send_part(const struct managed *m, uintptr_t at, uint64_t bytes)
{
	struct q_managed_in q = { .dst = at, .bytes = bytes };
	struct peer *p = object_peer(m->ctx);
	struct call c = { .op = OP_managed_in, .fixed = &q, .bytes = sizeof(q), .to.peer = p };
	CUresult r = CUDA_SUCCESS;

	if (p->room_used + q.bytes > KVGPU_REMOTE_PIECE_MAX) {
		r = call_fence(p, 0);
		p->room_used = 0;
	}
	if (r)
		return r;
	q.at = c.push_at = p->room + p->room_used;
	c.push_bytes = q.bytes;
	p->room_used += (q.bytes + 63) & ~63ull;
	memcpy(arena_at(p, q.at), m->alias + (at - m->begin), q.bytes);
	context_borrow(m->ctx, m->ctx_id);
	r = call_async(&c);
	context_give_back();
	return r;
}

/* later calls return the error, too */
static void send_pages(const struct managed *m, size_t page, size_t n)
{
	uintptr_t at = m->begin + page * page_bytes, end = at + n * page_bytes;
	uint64_t bytes;

	for (; (bytes = part_bytes(m, &at, end)); at += bytes)
		if (send_part(m, at, bytes))
			return;
}

/* send what was written; it can't be written meanwhile */
static void flush_pages(struct managed *m)
{
	size_t most = KVGPU_REMOTE_PIECE_MAX / page_bytes, i, n;

	for (i = 0; i < pages_of(m); i += n) {
		n = 1;
		if (m->page[i] == TWINNED) {
			if (!protect(m, i, 1, PROT_READ))
				close_all(m);
			note(m, i, 1, CLEAN);
			send_words(m, i);
		}
		if (m->page[i] != DIRTY)
			continue;
		while (n < most && i + n < pages_of(m) && m->page[i + n] == DIRTY)
			n++;
		if (!protect(m, i, n, PROT_READ))
			close_all(m);
		note(m, i, n, CLEAN);
		if (is_mapped(m))
			send_mapped(m, i, n);
		else
			send_pages(m, i, n);
	}
}

static void close_pages(struct managed *m)
{
	if (!m->open)
		return;
	close_all(m);
	memset(m->page, CLOSED, pages_of(m));
	m->open = 0;
	borders -= m->borders;
	m->borders = 0;
	if (m->twinned)
		madvise(m->twin, m->end - m->begin, MADV_DONTNEED);
	m->twinned = false;
}

/* how many closed pages to fetch from @page on: more each time that the program reads on */
static size_t window_of(struct managed *m, size_t page)
{
	size_t most = KVGPU_REMOTE_PIECE_MAX / page_bytes, n = 1;

	m->window = page == m->next && m->window ? 2 * m->window : WINDOW_MIN;
	m->window = m->window < most ? m->window : most;
	while (n < m->window && page + n < pages_of(m) && m->page[page + n] == CLOSED)
		n++;
	m->next = page + n;
	return n;
}

static void fetch_managed(struct managed *m, size_t page, size_t n)
{
	struct peer *p = object_peer(m->ctx);
	struct q_managed_out q = { .at = p->room };
	struct call c = { .op = OP_managed_out, .fixed = &q, .bytes = sizeof(q), .to.peer = p };
	uintptr_t at = m->begin + page * page_bytes, end = at + n * page_bytes;

	p->room_used = 0; /* the server reads pages that were sent before */
	for (; (q.bytes = part_bytes(m, &at, end)); at += q.bytes) {
		q.src = at;
		if (!call_sync(&c, 0))
			memcpy(m->alias + (at - m->begin), arena_at(p, p->room), q.bytes);
	}
}

static void fetch_mapped(const struct managed *m, size_t page, size_t n)
{
	struct q_mapped_out q = { m->at + page * page_bytes, n * page_bytes };
	struct call c = {
		.op = OP_mapped_out, .fixed = &q, .bytes = sizeof(q), .to.peer = object_peer(m->ctx)
	};
	uint64_t since = now_ns();

	(void)call_sync(&c, 0);
	fetched_ns += now_ns() - since;
}

/* a page of mapped memory was opened while the GPU may have had work */
static void watch_pages(void)
{
	if (!watched)
		pthread_cond_signal(&watch);
	watched = true;
}

/*
 * Get the bytes of closed pages, which are to be opened then. If the call fails, they keep their
 * old bytes: a later call of the program returns the error.
 */
static void fetch_pages(struct managed *m, size_t page, size_t n)
{
	context_borrow(m->ctx, m->ctx_id);
	if (is_mapped(m))
		fetch_mapped(m, page, n);
	else
		fetch_managed(m, page, n);
	context_give_back();
	note(m, page, n, CLEAN);
	m->open += n;
	early |= nr_working;
	if (is_mapped(m) && nr_working)
		watch_pages();
}

/* ----------------------------------------------------------- faults: the program touches a page */

/*
 * Call without the lock. Wait for the work that was begun before, or until new work comes. @look:
 * only until it is known whether there is work. Errors are ignored here.
 */
static void wait_for_work(bool look)
{
	struct q_idle q = { .look = look };
	struct call c = { .op = OP_idle, .fixed = &q, .bytes = sizeof(q) };
	struct working w;
	uint64_t upto;
	CUresult r;
	bool some;

	pthread_mutex_lock(&lock);
	upto = begun;
	while (nr_working) {
		w = working[nr_working - 1];
		pthread_mutex_unlock(&lock);
		c.to.peer = object_peer(w.ctx);
		context_borrow(w.ctx, w.id);
		r = call_sync(&c, 0);
		context_give_back();
		pthread_mutex_lock(&lock);
		some = begun != upto || sent != begun || r == CUDA_ERROR_NOT_READY;
		if (some)
			/*
			 * new work came, or work that was begun is not sent yet: managed_waited()
			 * closes the pages again
			 */
			break;
		if (nr_working && working[nr_working - 1].id == w.id)
			nr_working--;
	}
	pthread_mutex_unlock(&lock);
}

static bool is_working(void)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = nr_working;
	pthread_mutex_unlock(&lock);
	return is;
}

/* call with the lock; false: the kernel has refused */
static bool let_write_all(struct managed *m, size_t page, size_t n)
{
	const size_t most = KVGPU_REMOTE_PIECE_MAX / page_bytes, end = page + n;
	const bool twin = is_mapped(m) && nr_working;
	size_t i, some;

	for (i = page; i < end; i += some) {
		some = 1;
		if (m->page[i] != CLOSED)
			continue;
		while (some < most && i + some < end && m->page[i + some] == CLOSED)
			some++;
		fetch_pages(m, i, some);
	}
	for (i = page; twin && i < end; i++)
		if (m->page[i] == CLEAN)
			memcpy(m->twin + i * page_bytes, m->alias + i * page_bytes, page_bytes);
	if (!protect(m, page, n, PROT_READ | PROT_WRITE))
		return false;
	for (i = page; i < end; i++)
		if (m->page[i] == CLEAN)
			note(m, i, 1, twin ? TWINNED : DIRTY);
	if (twin) {
		m->twinned = true;
		watch_pages();
	}
	return true;
}

/*
 * Call with the lock. Let the program write @page, and where there are too many mappings pages
 * beside it, too, which are sent like those that it wrote. False: the kernel has refused all.
 */
static bool let_write(struct managed *m, size_t page)
{
	size_t first, n, size, pages = pages_of(m);

	for (size = 1;; size *= 2) {
		first = page / size * size;
		n = size < pages - first ? size : pages - first;
		if (fits(m, first, n, PROT_READ | PROT_WRITE) && let_write_all(m, first, n))
			return true;
		if (n == pages)
			break;
	}
	client_say(
		"managed or mapped memory can't be opened: this process has too many mappings (sysctl vm.max_map_count)");
	return false;
}

/* call with the lock; false: the kernel has refused */
static bool let_read(struct managed *m, size_t page)
{
	size_t n = window_of(m, page);
	bool fit = fits(m, page, n, PROT_READ);

	fetch_pages(m, page, n);
	return fit && protect(m, page, n, PROT_READ);
}

/* False: @at is in no range, or the program can't have access to it. */
static bool open_page(uintptr_t at, bool write)
{
	struct managed *m;
	bool opened = false;
	size_t page;

	pthread_mutex_lock(&lock);
	m = find_managed(at);
	if (!m) {
		pthread_mutex_unlock(&lock);
		return false;
	}
	page = (at - m->begin) / page_bytes;
	if (m->page[page] == CLOSED)
		opened = let_read(m, page);
	/*
	 * A page that was not closed was open for reading, so this was a write; or another thread
	 * has opened the page since the fault.
	 */
	if (write || !opened)
		opened = let_write(m, page);
	pthread_mutex_unlock(&lock);
	return opened;
}

static bool is_write(const void *context)
{
#ifdef __x86_64__
	return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
	return false; /* not known: a write to a closed page faults twice */
#endif
}

/* @mapped: may be NULL */
static bool find_here(uintptr_t at, bool *mapped)
{
	const struct managed *m;

	pthread_mutex_lock(&lock);
	m = find_managed(at);
	if (m && mapped)
		*mapped = is_mapped(m);
	pthread_mutex_unlock(&lock);
	return m;
}

static bool is_here(uintptr_t at)
{
	return find_here(at, NULL);
}

/*
 * A host function does not wait for work: its stream waits for the function. A touch of mapped
 * memory does not ask either, as the watcher does. If it is known that there is no work any more,
 * what was opened while there was is closed.
 */
static void fault(int signal, siginfo_t *info, void *context, unsigned int handler)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	int error = errno, cancel;
	bool mapped, opened;

	/* in a child of fork() the lock may be held for ever */
	if (info->si_code != SEGV_ACCERR || client_ready() == CUDA_ERROR_NOT_INITIALIZED ||
	    !find_here(at, &mapped)) {
		signals_hand_on(&before[handler], signal, info, context);
		return;
	}
	/* what follows holds locks in system calls, and sends frames */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	call_aside(true);
	if (!mapped && !in_host_function() && is_working())
		wait_for_work(false);
	if (mapped && !is_working())
		managed_waited();
	opened = open_page(at, is_write(context));
	call_aside(false);
	pthread_setcancelstate(cancel, NULL);
	errno = error;
	if (!opened)
		signals_hand_on(&before[handler], signal, info, context);
}

#define HANDLER(n)                                                        \
	static void fault_##n(int signal, siginfo_t *info, void *context) \
	{                                                                 \
		fault(signal, info, context, n);                          \
	}
HANDLER(0)
HANDLER(1)
HANDLER(2)
HANDLER(3)
static void (*const handlers[HANDLERS])(int signal, siginfo_t *info,
					void *context) = { fault_0, fault_1, fault_2, fault_3 };

/*
 * Call with the lock. Take SIGSEGV, also from a handler that the program has set meanwhile:
 * `before` gets the faults that are not for managed memory. The program's handler may hand these on
 * to the one whose place it took, which is handlers[top]: so another one of handlers[] goes above.
 */
static void take_signal(void)
{
	struct sigaction now, ours = { .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };
	static bool taken;
	unsigned int i;

	if (sigaction(SIGSEGV, NULL, &now))
		return;
	for (i = 0; i < HANDLERS; i++)
		if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == handlers[i]) {
			top = i;
			return;
		}
	if (taken && now.sa_sigaction != before[top].sa_sigaction && top < HANDLERS - 1)
		top++;
	taken = true;
	before[top] = now;
	ours.sa_sigaction = handlers[top];
	sigaction(SIGSEGV, &ours, NULL);
}

/* ------------------------------------------------------------------ work */

/* call with the lock */
static void note_working(const struct peer *p, const struct object *ctx)
{
	struct working *grown, w = { ctx ? (void *)ctx : current_context(), 0 };
	uint32_t mode;
	unsigned int i;

	w.id = ctx ? ctx->id : current_id(p, &mode);
	for (i = 0; i < nr_working && working[i].id != w.id; i++)
		;
	if (i < nr_working || !w.ctx || !w.id)
		return;
	if (nr_working == max_working) {
		grown = realloc(working, (max_working ? 2 * max_working : 8) * sizeof(*grown));
		if (!grown)
			return;
		working = grown;
		max_working = max_working ? 2 * max_working : 8;
	}
	working[nr_working++] = w;
}

bool managed_any(void)
{
	return __atomic_load_n(&nr, __ATOMIC_ACQUIRE);
}

void managed_work_begins(struct peer *p, const struct object *ctx)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	begun++;
	note_working(p, ctx);
	take_signal();
	for (i = 0; i < nr; i++)
		if (ranges[i].open && object_peer(ranges[i].ctx) == p) {
			flush_pages(&ranges[i]);
			close_pages(&ranges[i]);
		}
	pthread_mutex_unlock(&lock);
}

void managed_work_sent(void)
{
	pthread_mutex_lock(&lock);
	sent++;
	pthread_mutex_unlock(&lock);
}

/*
 * send what a host function wrote, so that later work of its stream finds it at the server
 */
void managed_function_ends(void)
{
	bool some[PEERS_MAX] = { false };
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < nr; i++) {
		some[peer_number(object_peer(ranges[i].ctx))] |= ranges[i].open;
		flush_pages(&ranges[i]);
	}
	pthread_mutex_unlock(&lock);
	for (i = 0; i < nr_peers; i++)
		if (some[i])
			call_fence(&peers[i], 0);
}

/* the GPU may have written to pages that were opened while it worked: close them */
void managed_waited(void)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; early && i < nr; i++) {
		flush_pages(&ranges[i]);
		close_pages(&ranges[i]);
	}
	early = watched = false;
	pthread_mutex_unlock(&lock);
}

/* ahead of a call that may wait for work: that may wait for words of the program's */
void managed_wait_begins(const struct peer *p)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; watched && i < nr; i++)
		if (is_mapped(&ranges[i]) && object_peer(ranges[i].ctx) == p)
			flush_pages(&ranges[i]);
	pthread_mutex_unlock(&lock);
}

/*
 * Pages that a program goes through are fetched again and again: that takes a WATCH_OF-th. The
 * question whether there is work comes last: the program does not wait for its answer.
 */
static void *watch_mapped(void *arg)
{
	struct timespec pause;
	unsigned int i;
	uint64_t ns;
	bool ask;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (!watched)
			pthread_cond_wait(&watch, &lock);
		ns = WATCH_OF * fetched_ns < WATCH_NS ? WATCH_NS : WATCH_OF * fetched_ns;
		fetched_ns = 0;
		pthread_mutex_unlock(&lock);
		pause = (struct timespec){ ns / 1000000000, ns % 1000000000 };
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&lock);
		for (i = 0; watched && i < nr; i++)
			if (is_mapped(&ranges[i])) {
				flush_pages(&ranges[i]);
				close_pages(&ranges[i]);
			}
		ask = watched;
		watched = false;
		pthread_mutex_unlock(&lock);
		if (ask)
			wait_for_work(true);
		if (ask && !is_working())
			managed_waited();
	}
	return NULL;
}

/* call with the lock */
static bool watcher_runs(void)
{
	pthread_t thread;

	if (watches)
		return true;
	watches = !signals_thread(&thread, watch_mapped, NULL);
	if (watches)
		pthread_detach(thread);
	return watches;
}

void managed_touch(const void *p, uint64_t bytes)
{
	const volatile uint8_t *at = p;
	uint64_t i;

	if (!bytes || !is_here((uintptr_t)p))
		return;
	for (i = 0; i < bytes; i += page_bytes)
		(void)at[i];
	(void)at[bytes - 1];
}

bool managed_has(CUdeviceptr ptr)
{
	return managed_any() && is_here(ptr);
}

/* -------------------------------------------------------------- begin and end of managed memory */

/*
 * Map the same bytes twice: closed at m->begin, and open at m->alias. False: this process has
 * something else at m->begin, or there is no memory. No file is needed, whose size might be
 * limited: mremap() of no bytes maps shared memory once more.
 */
static bool map_twice(struct managed *m)
{
	const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	size_t bytes = m->end - m->begin;
	void *at = mmap((void *)m->begin, bytes, PROT_NONE, flags, -1, 0);

	m->alias = at != (void *)m->begin ? MAP_FAILED : mremap(at, 0, bytes, MREMAP_MAYMOVE);
	if (m->alias != MAP_FAILED && mprotect(m->alias, bytes, PROT_READ | PROT_WRITE)) {
		munmap(m->alias, bytes);
		m->alias = MAP_FAILED;
	}
	if (m->alias == MAP_FAILED) {
		if (at != MAP_FAILED)
			munmap(at, bytes);
		return false;
	}
	/* a child of fork() has no server: it gets nothing of this memory */
	madvise(at, bytes, MADV_DONTFORK);
	madvise(m->alias, bytes, MADV_DONTFORK);
	madvise(m->alias, bytes, MADV_DONTDUMP);
	return true;
}

static void unmap_managed(struct managed *m)
{
	if (is_mapped(m)) {
		protect(m, 0, pages_of(m), PROT_READ | PROT_WRITE);
		munmap(m->twin, m->end - m->begin);
	} else {
		munmap((void *)m->begin, m->end - m->begin);
		munmap(m->alias, m->end - m->begin);
	}
	free(m->page);
	free(m->parts);
	borders -= m->borders;
}

/* call with the lock */
static void set_nr(unsigned int n)
{
	__atomic_store_n(&nr, n, __ATOMIC_RELEASE);
	peers_slow(SLOW_MANAGED, n);
}

static bool more_ranges(void)
{
	struct managed *grown;

	if (nr < max)
		return true;
	grown = realloc(ranges, (max ? 2 * max : 16) * sizeof(*grown));
	if (!grown)
		return false;
	ranges = grown;
	max = max ? 2 * max : 16;
	return true;
}

/* call with the lock */
static bool prepare_peer(struct peer *p)
{
	page_bytes = sysconf(_SC_PAGESIZE);
	if (p->room == KVGPU_REMOTE_NOWHERE)
		p->room = arena_get(p, KVGPU_REMOTE_PIECE_MAX);
	return p->room != KVGPU_REMOTE_NOWHERE && more_ranges();
}

/*
 * A range for memory on pages that are not managed. An allocation has no contents, so it is open at
 * once. CUDA_ERROR_NOT_SUPPORTED: it can't be mapped there, as where this process has something
 * else.
 */
static CUresult add_range(uintptr_t at, uintptr_t end, const struct part *of)
{
	struct managed m = { .ctx = of->ctx, .ctx_id = of->ctx_id, .at = KVGPU_REMOTE_NOWHERE };
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	if (!prepare_peer(object_peer(of->ctx)))
		return r;
	m.begin = at / page_bytes * page_bytes;
	m.end = (end + page_bytes - 1) / page_bytes * page_bytes;
	m.page = calloc(pages_of(&m), 1);
	if (m.page && add_part(&m, at, end, of))
		r = map_twice(&m) ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	if (r) {
		free(m.page);
		free(m.parts);
		return r;
	}
	if (!of->module) {
		protect(&m, 0, pages_of(&m), PROT_READ);
		memset(m.page, CLEAN, pages_of(&m));
		m.open = pages_of(&m);
	}
	take_signal();
	ranges[nr] = m;
	set_nr(nr + 1);
	return r;
}

/*
 * The page of *@at is managed already: that range gets what it can have of [*@at, end). *@at is
 * where that ends. A variable has contents, which are fetched at the next touch.
 */
static CUresult join_range(struct managed *m, uintptr_t *at, uintptr_t end, const struct part *of)
{
	uintptr_t next = end < m->end ? end : m->end;

	if (is_mapped(m) || object_peer(m->ctx) != object_peer(of->ctx))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (of->module) {
		flush_pages(m);
		close_pages(m);
	}
	if (!add_part(m, *at, next, of))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*at = next;
	return CUDA_SUCCESS;
}

static uintptr_t unmanaged_end(uintptr_t at, uintptr_t end)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (ranges[i].begin > at && ranges[i].begin < end)
			end = ranges[i].begin;
	return end;
}

/*
 * @module: NULL: an allocation. Parts that were added stay if a later one fails: end_managed() ends
 * them.
 */
static CUresult add_managed(const struct object *ctx, CUdeviceptr ptr, uint64_t bytes, void *module)
{
	struct part of = { .first = module ? 0 : ptr, .ctx = (void *)ctx, .module = module };
	uintptr_t at = ptr, end = ptr + bytes, next;
	struct managed *m;
	CUresult r = CUDA_SUCCESS;

	if (!ctx || !bytes || end < at || at < KVGPU_REMOTE_LOWEST)
		return CUDA_ERROR_NOT_SUPPORTED;
	of.ctx_id = ctx->id;
	pthread_mutex_lock(&lock);
	page_bytes = sysconf(_SC_PAGESIZE);
	while (at < end && !r) {
		m = find_managed(at);
		next = unmanaged_end(at, end);
		r = m ? join_range(m, &at, end, &of) : add_range(at, next, &of);
		if (!m)
			at = next;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

/* the server has other bytes there: all are sent with the next work */
bool mapped_begin(const struct host_range *r)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	struct managed m = { .begin = (uintptr_t)r->base,
			     .alias = arena_at(r->peer, r->at),
			     .ctx = r->ctx,
			     .ctx_id = ((const struct object *)r->ctx)->id,
			     .at = r->at };

	pthread_mutex_lock(&lock);
	page_bytes = sysconf(_SC_PAGESIZE);
	m.end = (m.begin + r->bytes + page_bytes - 1) / page_bytes * page_bytes;
	m.twin = mmap(NULL, m.end - m.begin, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (m.begin % page_bytes == 0 && m.twin != MAP_FAILED && more_ranges() && watcher_runs())
		m.page = malloc(pages_of(&m));
	if (m.page) {
		memset(m.page, DIRTY, pages_of(&m));
		m.open = pages_of(&m);
		take_signal();
		ranges[nr] = m;
		set_nr(nr + 1);
	} else if (m.twin != MAP_FAILED) {
		munmap(m.twin, m.end - m.begin);
	}
	pthread_mutex_unlock(&lock);
	return m.page;
}

/* Take out the parts that end. False: the range ends. */
static bool goes_on(struct managed *m, const void *ctx, const void *module, uintptr_t ptr)
{
	unsigned int i, n = 0;

	if (is_mapped(m))
		return !(ctx && m->ctx == ctx) && !(ptr && m->begin == ptr);
	for (i = 0; i < m->nr_parts; i++) {
		const struct part *p = &m->parts[i];

		if (!(ctx && p->ctx == ctx) && !(module && p->module == module) &&
		    !(ptr && p->first == ptr))
			m->parts[n++] = *p;
	}
	m->nr_parts = n;
	if (n) {
		m->ctx = m->parts[0].ctx;
		m->ctx_id = m->parts[0].ctx_id;
	}
	return n;
}

static void end_managed(const void *ctx, const void *module, CUdeviceptr ptr)
{
	unsigned int i = 0;

	pthread_mutex_lock(&lock);
	while (i < nr) {
		if (goes_on(&ranges[i], ctx, module, ptr)) {
			i++;
			continue;
		}
		unmap_managed(&ranges[i]);
		ranges[i] = ranges[nr - 1];
		set_nr(nr - 1);
	}
	for (i = 0; ctx && i < nr_working; i++)
		if (working[i].ctx == ctx)
			working[i--] = working[--nr_working];
	pthread_mutex_unlock(&lock);
}

void managed_end(const void *ctx)
{
	if (managed_any())
		end_managed(ctx, NULL, 0);
}

void managed_module_ends(const void *module)
{
	if (managed_any())
		end_managed(NULL, module, 0);
}

void managed_freed(CUdeviceptr ptr)
{
	if (managed_any())
		end_managed(NULL, NULL, ptr);
}

/* work that is under way may wait for what the program wrote */
void mapped_end(const void *base)
{
	struct managed *m;

	pthread_mutex_lock(&lock);
	m = find_managed((uintptr_t)base);
	if (m && nr_working)
		flush_pages(m);
	pthread_mutex_unlock(&lock);
	if (m)
		end_managed(NULL, NULL, (uintptr_t)base);
}

void managed_wait(void)
{
	wait_for_work(false);
}

/* whether modules on another device have managed variables */
static bool variables_elsewhere(int dev)
{
	unsigned int i, k;
	bool has = false;

	pthread_mutex_lock(&lock);
	for (i = 0; i < nr; i++)
		for (k = 0; k < ranges[i].nr_parts; k++)
			has |= ranges[i].parts[k].module &&
			       ((struct object *)ranges[i].parts[k].ctx)->dev != dev;
	pthread_mutex_unlock(&lock);
	return has;
}

/*
 * To NVIDIA's runtimes a variable is one for all devices, and they take the address that they heard
 * last: so no second device has any.
 */
CUresult managed_variables(void *module, uint64_t begin, uint64_t bytes)
{
	const struct object *ctx = object_context(module);
	CUresult r = CUDA_ERROR_NOT_SUPPORTED;

	if (!bytes)
		return CUDA_SUCCESS;
	if (ctx && variables_elsewhere(ctx->dev))
		return REFUSE("a __managed__ variable on two GPUs",
			      "each would have its own; use it on one GPU, the first one of "
			      "CUDA_VISIBLE_DEVICES");
	if (ctx && bytes <= VARIABLES_MAX)
		r = add_managed(ctx, begin, bytes, module);
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		client_say(
			"this process has other memory where the server's library has managed variables");
	return r;
}

/* ------------------------------------------------------------------ entry points */

static CUresult alloc_managed(CUdeviceptr *ptr, size_t bytes, unsigned int flags, uint64_t *serial)
{
	struct q_managed q = { .bytes = bytes, .flags = flags };
	struct call c = { .op = OP_managed, .fixed = &q, .bytes = sizeof(q) };
	CUresult r = call_sync(&c, sizeof(struct a_managed));

	if (!r)
		*ptr = ((const struct a_managed *)c.answer)->ptr;
	*serial = c.serial;
	return r;
}

/*
 * Memory at an address that this process uses otherwise is freed at the end: freed at once, it
 * could be given again.
 */
CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned int flags)
{
	CUdeviceptr at = 0, taken[TRIES];
	unsigned int i, n = 0;
	uint64_t serial;
	CUresult r = call_enter(0);

	if (r)
		return r;
	if (!ptr || !bytes || (flags != ATTACH_GLOBAL && flags != ATTACH_HOST))
		return CUDA_ERROR_INVALID_VALUE;
	do {
		r = alloc_managed(&at, bytes, flags, &serial);
		if (r)
			break;
		r = CUDA_ERROR_NOT_SUPPORTED;
		if (range_add(at, bytes, serial))
			r = add_managed(current_context(), at, bytes, NULL);
		if (r)
			end_managed(NULL, NULL, at);
		if (r)
			taken[n++] = at;
	} while (r == CUDA_ERROR_NOT_SUPPORTED && n < TRIES);
	for (i = 0; i < n; i++)
		cuMemFree_v2(taken[i]);
	if (n == TRIES && r)
		client_say(
			"this process has other memory where the server's library has managed memory");
	if (r)
		return r;
	*ptr = at;
	return CUDA_SUCCESS;
}

static CUresult attribute(void *data, size_t size, CUmem_range_attribute what, CUdeviceptr ptr,
			  size_t bytes)
{
	struct q_range_attribute q = { .ptr = ptr,
				       .bytes = bytes,
				       .attribute = what,
				       .size = size < UINT32_MAX ? size : UINT32_MAX };
	struct call c = { .op = OP_range_attribute, .fixed = &q, .bytes = sizeof(q) };
	CUresult r;
	size_t i;

	route_address(&c.to, ptr);
	r = data ? call_sync(&c, 0) : CUDA_ERROR_INVALID_VALUE;
	if (r || !answer_bytes(&c, data, size))
		return r ? r : CUDA_ERROR_UNKNOWN;
	for (i = 0; what != READ_MOSTLY && i < size / sizeof(int); i++)
		if (((int *)data)[i] >= 0 &&
		    !answer_device(&c, ((int *)data)[i], &((int *)data)[i]))
			return CUDA_ERROR_UNKNOWN;
	return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute what,
				CUdeviceptr ptr, size_t bytes)
{
	CUresult r = call_enter(CALL_NO_CONTEXT);

	return r ? r : attribute(data, size, what, ptr, bytes);
}

CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes,
				 size_t n, CUdeviceptr ptr, size_t bytes)
{
	CUresult r = call_enter(CALL_NO_CONTEXT);
	size_t i;

	if (!r && (!data || !sizes || !attributes || !n))
		r = CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < n && !r; i++)
		r = attribute(data[i], sizes[i], attributes[i], ptr, bytes);
	return r;
}
