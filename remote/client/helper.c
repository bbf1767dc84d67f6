// SPDX-License-Identifier: MIT
/*
 * Streams of the client's own, for copies between servers and for cross-server fences. They end
 * with their contexts.
 */
#include <stdlib.h>

#include "peer_copy.h"

struct helper {
	struct helper *next;
	const struct object *ctx;
	uint64_t context, stream;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct helper *helpers; /* under `lock`: streams that are not in use */

CUresult helper_take(const struct route *to, const struct object *ctx, uint64_t *stream)
{
	const struct q_cuStreamCreate q = { .flags = CU_STREAM_NON_BLOCKING };
	struct call c = { .op = OP_cuStreamCreate, .fixed = &q, .bytes = sizeof(q), .to = *to };
	struct helper **h, *found = NULL;
	CUresult r;

	pthread_mutex_lock(&lock);
	for (h = &helpers; *h && !found; h = found ? h : &(*h)->next)
		if ((*h)->ctx == ctx && (*h)->context == ctx->id) {
			found = *h;
			*h = found->next;
		}
	pthread_mutex_unlock(&lock);
	if (found) {
		*stream = found->stream;
		free(found);
		return CUDA_SUCCESS;
	}
	r = call_sync(&c, sizeof(struct a_cuStreamCreate));
	*stream = r ? 0 : ((const struct a_cuStreamCreate *)c.answer)->stream;
	return r;
}

void helper_put(const struct object *ctx, uint64_t context, uint64_t stream)
{
	struct helper *h = stream ? malloc(sizeof(*h)) : NULL;

	if (!h)
		return;
	pthread_mutex_lock(&lock);
	*h = (struct helper){ helpers, ctx, context, stream };
	helpers = h;
	pthread_mutex_unlock(&lock);
}

void helper_drop(const struct route *to, uint64_t stream)
{
	const struct q_cuStreamDestroy_v2 q = { .stream = stream };
	struct call c = { .op = OP_cuStreamDestroy_v2, .fixed = &q, .bytes = sizeof(q), .to = *to };

	(void)call_sync(&c, 0);
}
