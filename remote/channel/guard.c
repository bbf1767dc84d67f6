// SPDX-License-Identifier: MIT
#include "guard.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GUARDED_MAX = 64 };

static struct guarded {
	uint8_t *base; /* atomic; NULL: the entry is free */
	uint64_t bytes;
	int life;
	uint8_t *also; /* atomic; NULL: there is no second mapping */
	uint64_t also_bytes;
} guarded[GUARDED_MAX];
static struct sigaction before;
static int say_to = STDERR_FILENO;

static bool is_in(const uint8_t *base, uint64_t bytes, const uint8_t *at)
{
	return base && at >= base && at < base + bytes;
}

static bool zeros_if_there(uint8_t *base, uint64_t bytes, const uint8_t *at)
{
	return is_in(base, bytes, at) &&
	       mmap(base, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static bool repair(const struct guarded *g, const uint8_t *at)
{
	if (!zeros_if_there(__atomic_load_n(&g->base, __ATOMIC_ACQUIRE), g->bytes, at) &&
	    !zeros_if_there(__atomic_load_n(&g->also, __ATOMIC_ACQUIRE), g->also_bytes, at))
		return false;
	if (g->life >= 0)
		shutdown(g->life, SHUT_RDWR);
	return true;
}

static void client_fault(int signal, siginfo_t *info, void *context)
{
	unsigned int i;

	for (i = 0; i < GUARDED_MAX; i++)
		if (repair(&guarded[i], info->si_addr))
			return;
	signals_hand_on(&before, signal, info, context);
}

static bool handler_is_ours(struct sigaction *now)
{
	return !sigaction(SIGBUS, NULL, now) && now->sa_flags & SA_SIGINFO &&
	       now->sa_sigaction == client_fault;
}

void guard_client(void *base, uint64_t bytes, int life)
{
	struct guarded *g = guarded;
	struct sigaction now;

	while (g < guarded + GUARDED_MAX && g->base)
		g++;
	if (g == guarded + GUARDED_MAX)
		return;
	g->bytes = bytes;
	g->life = life;
	__atomic_store_n(&g->base, base, __ATOMIC_RELEASE);
	if (handler_is_ours(&now))
		return;
	before = now;
	sigaction(SIGBUS,
		  &(struct sigaction){ .sa_sigaction = client_fault,
				       .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK },
		  NULL);
}

void guard_also(void *also, const void *base, uint64_t bytes)
{
	unsigned int i;

	for (i = 0; i < GUARDED_MAX; i++) {
		struct guarded *g = &guarded[i];

		if (!is_in(g->base, g->bytes, base))
			continue;
		g->also_bytes = bytes;
		__atomic_store_n(&g->also, also, __ATOMIC_RELEASE);
	}
}

void guard_end(const void *base)
{
	struct sigaction now;
	bool ended = false, left = false;
	unsigned int i;

	for (i = 0; i < GUARDED_MAX; i++) {
		struct guarded *g = &guarded[i];

		if (base && g->base == base) {
			__atomic_store_n(&g->also, NULL, __ATOMIC_RELEASE);
			__atomic_store_n(&g->base, NULL, __ATOMIC_RELEASE);
			ended = true;
		}
		left |= g->base != NULL;
	}
	if (ended && !left && handler_is_ours(&now))
		sigaction(SIGBUS, &before, NULL);
}

static __thread sigjmp_buf way_out;
static __thread volatile sig_atomic_t tries;

static void server_fault(int signal)
{
	static const char text[] =
		"kvgpu-remoted: the aperture's memory is gone (its file was cut short, or its device failed): "
		"its client's process ends\n";

	if (tries)
		siglongjmp(way_out, 1);
	(void)!write(say_to, text, sizeof(text) - 1);
	_exit(1);
}

void guard_server(void)
{
	sigaction(SIGBUS, &(struct sigaction){ .sa_handler = server_fault }, NULL);
}

void guard_serve(void)
{
	int fd = say_to == STDERR_FILENO ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3) : -1;

	if (fd >= 0)
		say_to = fd;
}

int guard_try(int (*look)(void *arg), void *arg)
{
	int r;

	if (sigsetjmp(way_out, 1)) {
		tries = 0;
		return -EIO;
	}
	tries = 1;
	r = look(arg);
	tries = 0;
	return r;
}
