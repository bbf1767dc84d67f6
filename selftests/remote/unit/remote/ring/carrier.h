/* SPDX-License-Identifier: MIT */
#ifndef KVGPU_SELFTESTS_REMOTE_RING_CARRIER_H
#define KVGPU_SELFTESTS_REMOTE_RING_CARRIER_H
/* What a thread sleeps on in tests of rings, in the flood and in the benchmark. */
#include "remote/ring/doorbell.h"

/*
 * Between processes of one kernel: a futex on the word. ctx: struct kvgpu_doorbell_futex; NULL: the
 * peer's end is not noticed.
 */
extern const struct kvgpu_doorbell_ops kvgpu_doorbell_futex_ops;

struct kvgpu_doorbell_futex {
	/*
	 * A pidfd, or a socket, by which the peer's end is noticed. It is polled before and after
	 * each sleep.
	 */
	int gone_fd;
	/*
	 * poll() events of .gone_fd that mean the peer's end, besides POLLHUP, POLLERR and POLLNVAL
	 */
	short gone_events;
};

/*
 * Between any two processes: a connected socket, with a byte for each wake. A sleeper notices the
 * peer's end. ctx: struct kvgpu_doorbell_socket. One socket serves both sides' doorbells.
 */
extern const struct kvgpu_doorbell_ops kvgpu_doorbell_socket_ops;

struct kvgpu_doorbell_socket {
	int fd;
};

#endif
