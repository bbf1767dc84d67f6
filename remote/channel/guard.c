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

static struct {
	uint8_t *base;		/* atomic; NULL: nothing is guarded */
	uint64_t bytes;
	int life;
	uint8_t *also;		/* atomic; NULL: there is no second mapping */
	uint64_t also_bytes;
} guarded;
static struct sigaction before;
static int say_to = STDERR_FILENO;

static bool zeros_if_there(uint8_t *base, uint64_t bytes, const uint8_t *at)
{
	return base && at >= base && at < base + bytes &&
	       mmap(base, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void client_fault(int signal, siginfo_t *info, void *context)
{
	const uint8_t *at = info->si_addr;

	if (!zeros_if_there(__atomic_load_n(&guarded.base, __ATOMIC_ACQUIRE), guarded.bytes, at) &&
	    !zeros_if_there(__atomic_load_n(&guarded.also, __ATOMIC_ACQUIRE), guarded.also_bytes,
			    at)) {
		signals_hand_on(&before, signal, info, context);
		return;
	}
	if (guarded.life >= 0)
		shutdown(guarded.life, SHUT_RDWR);
}

void guard_client(void *base, uint64_t bytes, int life)
{
	guarded.bytes = bytes;
	guarded.life = life;
	__atomic_store_n(&guarded.base, base, __ATOMIC_RELEASE);
	sigaction(SIGBUS,
		  &(struct sigaction){ .sa_sigaction = client_fault,
				       .sa_flags = SA_SIGINFO | SA_NODEFER },
		  &before);
}

void guard_also(void *also, const void *base, uint64_t bytes)
{
	const uint8_t *first = __atomic_load_n(&guarded.base, __ATOMIC_ACQUIRE), *at = base;

	if (!first || at < first || at >= first + guarded.bytes)
		return;
	guarded.also_bytes = bytes;
	__atomic_store_n(&guarded.also, also, __ATOMIC_RELEASE);
}

void guard_end(const void *base)
{
	if (__atomic_load_n(&guarded.base, __ATOMIC_ACQUIRE) != base)
		return;
	__atomic_store_n(&guarded.base, NULL, __ATOMIC_RELEASE);
	sigaction(SIGBUS, &before, NULL);
}

static __thread sigjmp_buf way_out;
static __thread volatile sig_atomic_t tries;

static void server_fault(int signal)
{
	static const char text[] = "kvgpu-remoted: the aperture's memory is gone (its file was cut short, or its device failed): "
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
