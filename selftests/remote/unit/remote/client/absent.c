// SPDX-License-Identifier: MIT
/*
 * In the place of the client's files that a test does not link, and of the channel: nothing is
 * there, nothing is known, and calls that the test does not expect fail. What a test, or a file
 * that it links, has itself counts instead.
 */
#include <remote/client/box.h>
#include <remote/client/peer_direct.h>

#define GIVES(type, name, value, ...)                \
	__attribute__((weak)) type name(__VA_ARGS__) \
	{                                            \
		return value;                        \
	}
#define NOTHING(name, ...)                           \
	__attribute__((weak)) void name(__VA_ARGS__) \
	{                                            \
	}
#define NO(name, ...)	    GIVES(bool, name, false, __VA_ARGS__)
#define YES(name, ...)	    GIVES(bool, name, true, __VA_ARGS__)
#define SUCCEEDS(name, ...) GIVES(CUresult, name, CUDA_SUCCESS, __VA_ARGS__)
#define UNKNOWN(name, ...)  GIVES(CUresult, name, CUDA_ERROR_UNKNOWN, __VA_ARGS__)

NO(answer_bytes, struct call *c, void *to, uint64_t n)
NO(answer_device, const struct call *c, uint32_t number, CUdevice *dev)
NO(answer_handle, void **to, const struct call *c, unsigned int class, uint64_t id, void *parent,
   bool none)
SUCCEEDS(table_tell, struct peer *p)
NO(captures_any, void)
__attribute__((weak)) bool trace_begin(const char **why)
{
	*why = NULL;
	return false;
}
NO(device_span, CUdeviceptr ptr, uint64_t n, unsigned int size)
NO(host_find, const void *host, struct host_range *out)
NO(host_functions_pending, void)
NO(kvgpu_remote_is_gone, const struct kvgpu_remote_channel *c)
NO(kvgpu_remote_read_done, struct kvgpu_remote_channel *c, struct kvgpu_remote_direct_read *d)
NO(managed_any, void)
NO(managed_has, CUdeviceptr ptr)
NO(own_stream, CUstream stream)
NO(peer_direct_failed, struct peer *to, const struct peer *from, CUresult r)
NO(pinned_device_has, CUdeviceptr at)
NO(pinned_hold, const struct peer *p, const void *host)
NO(pinned_is_written, void)
NO(pinned_may_change, const struct host_range *r)
NO(range_has, CUdeviceptr ptr)
NO(range_holds, CUdeviceptr ptr, uint64_t bytes)
NO(ring_is_pinned, struct peer *p, bool ask)
NO(route_handle, struct route *to, unsigned int class, const void *handle, uint64_t *id)

NOTHING(arena_put, struct peer *p, uint64_t at)
NOTHING(box_pack, const struct end *e, const struct part *p, uint8_t *to)
NOTHING(box_unpack, const struct end *e, const struct part *p, const uint8_t *from)
NOTHING(call_aside, bool aside)
NOTHING(call_due, void)
NOTHING(call_late, struct peer *p, CUresult r)
NOTHING(client_notified, void *ctx, const struct kvgpu_remote_notification *h, const void *bytes,
	size_t n)
NOTHING(client_say, const char *format, ...)
NOTHING(context_give_back, void)
NOTHING(gpu_uses, CUdeviceptr ptr)
NOTHING(graph_allocates, void)
NOTHING(host_function_runs, bool runs)
NOTHING(hostmem_end, const void *ctx)
NOTHING(cache_invalidate, enum cache_kind kind)
NOTHING(kvgpu_remote_completion_put, struct kvgpu_remote_channel *c, unsigned int completion)
NOTHING(kvgpu_remote_disconnect, struct kvgpu_remote_channel *c)
NOTHING(kvgpu_remote_read_post, struct kvgpu_remote_channel *c, struct kvgpu_remote_direct_read *d)
NOTHING(kvgpu_remote_tls_folder, const char *folder)
NOTHING(managed_end, const void *ctx)
NOTHING(managed_function_ends, void)
NOTHING(managed_waited, void)
NOTHING(peer_init, struct peer *p)
NOTHING(peer_slow, struct peer *p, enum slow why, bool is)
NOTHING(peers_slow, enum slow why, bool is)
NOTHING(pinned_release, void)
NOTHING(pinned_written, void)
NOTHING(ranges_end, const void *ctx)
NOTHING(route_address, struct route *to, CUdeviceptr ptr)
NOTHING(slot_put, struct peer *p, uint64_t at)
NOTHING(staging_sent, struct peer *p, struct staged *piece, uint64_t seq)
NOTHING(trace_say, const char *text)
NOTHING(work_done, const struct call *c, uint64_t stream)

SUCCEEDS(call_enter, unsigned int flags)
SUCCEEDS(client_ready, void)
SUCCEEDS(cuDevicePrimaryCtxSetFlags_v2, CUdevice dev, unsigned int flags)
SUCCEEDS(cuMemFree_v2, CUdeviceptr ptr)
SUCCEEDS(cuStreamIsCapturing, CUstream s, CUstreamCaptureStatus *status)
SUCCEEDS(cuStreamSynchronize, CUstream s)
SUCCEEDS(device_holds, const struct route *to, CUdeviceptr at, uint64_t bytes)
SUCCEEDS(route_stream, struct route *to, CUstream stream, uint64_t *id)

UNKNOWN(array_holds, const struct route *to, CUarray array, const uint64_t *at,
	const uint64_t *size)
UNKNOWN(box_capture, const struct route *to, struct box *b, uint64_t stream)
UNKNOWN(call_begin, struct call *c, unsigned int completion)
UNKNOWN(call_fence, struct peer *p, uint64_t upto)
UNKNOWN(call_sync, struct call *c, size_t fixed)
UNKNOWN(call_take, struct call *c, unsigned int completion, size_t fixed)
UNKNOWN(cross_fence_copy, CUstream stream, CUdeviceptr dst, CUdeviceptr src, uint64_t bytes)
UNKNOWN(cuMemcpyDtoDAsync_v2, CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s)
UNKNOWN(cuMemcpyDtoD_v2, CUdeviceptr dst, CUdeviceptr src, size_t n)
UNKNOWN(host_copy_begins, CUstream stream, bool waits, const void *src, bool *captured)
UNKNOWN(linear_capture, const struct route *route, uint64_t stream, CUdeviceptr dst,
	enum memory_kind to, CUdeviceptr src, enum memory_kind from, size_t bytes)
UNKNOWN(peer_copy_linear, CUdeviceptr dst, enum memory_kind to, CUdeviceptr src,
	enum memory_kind from, size_t bytes, bool waits, CUstream stream)

YES(arena_init, struct peer *p)
YES(kvgpu_remote_is_shared, const struct kvgpu_remote_channel *c)
YES(range_add, CUdeviceptr ptr, uint64_t bytes, uint64_t overhead)

GIVES(uint64_t, arena_get, 0, struct peer *p, uint64_t bytes)
GIVES(uint64_t, call_answered, 0, const struct peer *p)
GIVES(uint64_t, call_fenced, 0, const struct peer *p)
GIVES(unsigned int, kvgpu_remote_completion_get, 0, struct kvgpu_remote_channel *c)
GIVES(int, kvgpu_remote_push, 0, struct kvgpu_remote_channel *c, uint64_t at, const void *from,
      uint64_t bytes)
GIVES(CUresult, cuEventQuery, CUDA_ERROR_NOT_READY, CUevent e)
GIVES(CUresult, capture_refuse_servers, CUDA_ERROR_NOT_SUPPORTED, void)
GIVES(uint64_t, pinned_at, KVGPU_REMOTE_NOWHERE, const struct peer *p, const void *host,
      uint64_t bytes)
GIVES(uint64_t, slot_get, KVGPU_REMOTE_NOWHERE, struct peer *p, uint64_t bytes)
GIVES(void *, kvgpu_remote_arena, NULL, struct kvgpu_remote_channel *c, uint64_t *bytes)
GIVES(void *, kvgpu_remote_arena_at, NULL, struct kvgpu_remote_channel *c, uint64_t where)
GIVES(const struct kvgpu_remote_relayed *, kvgpu_remote_relay, NULL,
      const struct kvgpu_remote_channel *c)
GIVES(const struct object *, object_context, NULL, const struct object *o)
GIVES(struct object *, object_of, NULL, unsigned int class, const void *handle)
GIVES(const struct object *, range_context, NULL, CUdeviceptr ptr)
GIVES(struct peer *, range_peer, NULL, CUdeviceptr ptr)
GIVES(struct peer *, route_peer, to->peer, struct route *to)

GIVES(void, bulk_copy, (void)memcpy(to, from, bytes), void *to, const void *from, uint64_t bytes,
      bool far)
