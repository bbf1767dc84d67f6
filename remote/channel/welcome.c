// SPDX-License-Identifier: MIT
/* What every carrier's server answers to a hello, and how its client reads the answer. */
#include <errno.h>

#include <remote/wire/builds.h>

#include "carrier.h"

static __thread char apart[BUILDS_TEXT];

const char *welcome_apart(uint64_t client, uint64_t server)
{
	return builds_apart(&(struct kvgpu_remote_build){ client, 0 },
			    &(struct kvgpu_remote_build){ server, 0 }, apart);
}

const char *kvgpu_remote_unlike(void)
{
	return apart;
}

uint32_t welcome_result(const struct kvgpu_remote_hello *hello, uint64_t version,
			kvgpu_remote_admit admit, void *ctx)
{
	if (!builds_speak(hello->version, version)) {
		welcome_apart(hello->version, version);
		return KVGPU_REMOTE_OTHER_VERSION;
	}
	return admit ? admit(ctx) : 0;
}

int welcome_error(uint32_t result)
{
	return !result ? 0 : result == KVGPU_REMOTE_OTHER_VERSION ? -EPROTONOSUPPORT : -EACCES;
}

static const char *refusal(uint32_t result)
{
	switch (result) {
	case KVGPU_REMOTE_FULL:
		return "the server has as many clients as it takes: its remoted.conf says how many";
	case KVGPU_REMOTE_FORBIDDEN:
		return "the server does not let this client in: its remoted.conf or kvgpu-remotectl refuse says so";
	case KVGPU_REMOTE_NO_LIBRARY:
		return "the server can't load its libcuda.so.1: its log says why, its remoted.conf which one";
	default:
		return "the server refuses this client for a reason that is newer than this client";
	}
}

int welcome_check(const struct kvgpu_remote_welcome *w, uint64_t version, const char **why)
{
	*why = "what listens there is no kvgpu-remoted";
	if (w->magic != KVGPU_REMOTE_MAGIC)
		return -EPROTO;
	*why = w->result == KVGPU_REMOTE_OTHER_VERSION || !builds_speak(w->version, version) ?
		       welcome_apart(version, w->version) :
		       refusal(w->result);
	if (w->result || !builds_speak(w->version, version))
		return -EPROTO;
	*why = "the server's arena has a size that can't be";
	return w->arena_bytes < KVGPU_REMOTE_PIECE_MAX || w->arena_bytes > KVGPU_REMOTE_ARENA_MAX ?
		       -EPROTO :
		       0;
}
