/* SPDX-License-Identifier: MIT */
/* context.c: what the server's own calls of the library want */
#ifndef KVGPU_REMOTE_SERVER_CONTEXT_H
#define KVGPU_REMOTE_SERVER_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;

/*
 * CUDA_ERROR_NOT_SUPPORTED, and once for each place a line on the program's standard error: that
 * @what is not supported, and @why.
 */
#define REFUSE(what, why)                      \
	({                                     \
		static bool told;              \
		refuse_once(what, why, &told); \
	})
CUresult refuse_once(const char *what, const char *why, bool *told);

/* call the library's function; CUDA_ERROR_NOT_SUPPORTED if the library lacks it */
#define CALL(s, name, ...) \
	((s)->library.name ? (s)->library.name(__VA_ARGS__) : CUDA_ERROR_NOT_SUPPORTED)

/*
 * Make context @id the library's current one; 0: none. A function that needs another context than
 * the client's for a moment enters the client's again before it returns.
 */
CUresult enter_context(struct server *s, uint64_t id);
/*
 * Between capture_relax() and capture_restore(), which gets capture_relax()'s result, the server's
 * own calls of the library don't end a capture of the client.
 */
CUstreamCaptureMode capture_relax(struct server *s);
void capture_restore(struct server *s, CUstreamCaptureMode mode);
/*
 * CUDA_SUCCESS; CUDA_ERROR_NOT_SUPPORTED: the stream captures, so what is submitted would be done
 * later; or the stream's error.
 */
CUresult not_capturing(struct server *s, CUstream stream);
/* what a stream captures; the rest is set where .status is ACTIVE */
struct captured {
	CUstreamCaptureStatus status;
	cuuint64_t id;
	CUgraph graph;
	const CUgraphNode *nodes; /* what its next node comes after, .n of them */
	const CUgraphEdgeData *edges; /* of them; NULL: the library knows of none */
	size_t n;
};
CUresult capture_of(struct server *s, CUstream stream, struct captured *c);
/* a stream of the server's own in the current context, which waits for no other stream */
CUresult own_stream(struct server *s, CUstream *out);

#endif
