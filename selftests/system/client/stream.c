// SPDX-License-Identifier: GPL-2.0-only
/* client.h has the contracts. selftests/model/attacks/tenant.c uses streams, too. */
#include "client.h"

#include <errno.h>
#include <string.h>

#include "ce.h"
#include "methods.h"
#include "pattern.h"

void stream_open(struct stream *s, struct gpu *g, enum gpu_engine engine, uint32_t len,
		 uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->len = len;
	s->seed = seed;
	chan_must_open(g, engine, &s->c);
	s->host = bo_new(g, NOUVEAU_BO_GART, 2ull * len);
	s->vram = bo_new(g, NOUVEAU_BO_VRAM, len);
}

void stream_close(struct stream *s)
{
	bo_free(&s->host);
	bo_free(&s->vram);
	chan_close(&s->c);
}

/* memory to VRAM and back, with new contents each round, so that a stale result can't pass */
int stream_kick(struct stream *s)
{
	uint8_t *host = s->host->map;

	pattern_fill(host, s->len, s->seed + ++s->rounds);
	memset(host + s->len, 0x5a, s->len);
	job_begin(&s->c, 2 * CE_COPY_WORDS);
	job_use(&s->c, s->host, NOUVEAU_BO_RDWR);
	job_use(&s->c, s->vram, NOUVEAU_BO_RDWR);
	ce_emit_linear(&s->c, s->host->offset, s->vram->offset, s->len);
	ce_emit_linear(&s->c, s->vram->offset, s->host->offset + s->len, s->len);
	return job_kick(&s->c);
}

int stream_check(struct stream *s, unsigned int timeout_ms)
{
	const uint8_t *host = s->host->map;
	int ret = job_wait(&s->c, timeout_ms);

	if (ret)
		return ret;
	return first_difference(host, host + s->len, s->len) < 0 ? 0 : -EILSEQ;
}
