// SPDX-License-Identifier: MIT
/*
 * How much memory of a server's there is at an address, or in an array: asked before a copy reads
 * or writes the program's memory, and of the server only where it is not known here.
 */
#include <stdlib.h>

#include <remote/wire/format.h>

#include "client.h"

CUresult device_holds(const struct route *to, CUdeviceptr at, uint64_t bytes)
{
	const struct q_cuMemGetAddressRange_v2 q = { .ptr = at, .want = 3 };
	struct call c = {
		.op = OP_cuMemGetAddressRange_v2,
		.fixed = &q,
		.bytes = sizeof(q),
		.to = *to,
	};
	const struct a_cuMemGetAddressRange_v2 *a;
	CUresult r;

	if (range_holds(at, bytes) || pinned_device_has(at))
		return CUDA_SUCCESS;
	r = call_sync(&c, sizeof(*a));
	if (r)
		return r == CUDA_ERROR_NOT_FOUND ? CUDA_ERROR_INVALID_VALUE : r;
	a = c.answer;
	return at - a->base < a->size && bytes <= a->size - (at - a->base) ?
		       CUDA_SUCCESS :
		       CUDA_ERROR_INVALID_VALUE;
}

/* An array never changes: what the server says of it is kept with the handle. */
static CUresult describe_array(const struct route *to, CUarray array, CUDA_ARRAY3D_DESCRIPTOR *desc)
{
	struct q_cuArray3DGetDescriptor_v2 q = { 0 };
	struct call c = {
		.op = OP_cuArray3DGetDescriptor_v2,
		.fixed = &q,
		.bytes = sizeof(q),
		.to = *to,
	};
	const struct object *o = object_of(CLASS_ARRAY, array);
	CUDA_ARRAY3D_DESCRIPTOR *kept;
	CUresult r;

	if (o && o->more) {
		*desc = *(const CUDA_ARRAY3D_DESCRIPTOR *)o->more;
		return CUDA_SUCCESS;
	}
	if (!handle_id(CLASS_ARRAY, array, &q.array))
		return CUDA_ERROR_INVALID_HANDLE;
	r = call_sync(&c, sizeof(struct a_cuArray3DGetDescriptor_v2));
	if (r)
		return r;
	*desc = ((const struct a_cuArray3DGetDescriptor_v2 *)c.answer)->desc;
	kept = malloc(sizeof(*kept));
	if (kept) {
		*kept = *desc;
		object_keep(array, CLASS_ARRAY, kept, true);
	}
	return CUDA_SUCCESS;
}

CUresult array_holds(const struct route *to, CUarray array, const uint64_t *at,
		     const uint64_t *size)
{
	CUDA_ARRAY3D_DESCRIPTOR desc;
	uint64_t there[3], channel, i;
	CUresult r = describe_array(to, array, &desc);

	if (r)
		return r;
	channel = kvgpu_remote_channel_bytes(desc.Format);
	if (!channel) /* only the server's library knows */
		return CUDA_SUCCESS;
	there[0] = desc.Width * desc.NumChannels * channel;
	there[1] = desc.Height ? desc.Height : 1;
	there[2] = desc.Depth ? desc.Depth : 1;
	for (i = 0; i < 3; i++)
		if (at[i] > there[i] || size[i] > there[i] - at[i])
			return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}
