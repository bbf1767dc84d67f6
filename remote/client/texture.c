// SPDX-License-Identifier: MIT
/* CUDA_RESOURCE_DESC to and from its form on the wire; which tensor maps can be. */
#include <remote/wire/resource.h>

#include "client.h"

CUresult resource_to_wire(struct route *to, const CUDA_RESOURCE_DESC *r,
			  struct kvgpu_remote_resource *w)
{
	if (!kvgpu_remote_resource_put(r, w))
		return CUDA_ERROR_INVALID_VALUE;
	if (r->resType == CU_RESOURCE_TYPE_ARRAY &&
	    !route_handle(to, CLASS_ARRAY, r->res.array.hArray, &w->what))
		return CUDA_ERROR_INVALID_HANDLE;
	if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
	    !route_handle(to, CLASS_MIPMAP, r->res.mipmap.hMipmappedArray, &w->what))
		return CUDA_ERROR_INVALID_HANDLE;
	if (r->resType == CU_RESOURCE_TYPE_LINEAR || r->resType == CU_RESOURCE_TYPE_PITCH2D) {
		gpu_uses(w->what);
		route_address(to, w->what);
	}
	return CUDA_SUCCESS;
}

CUresult resource_from_wire(const struct call *c, const struct kvgpu_remote_resource *w,
			    CUDA_RESOURCE_DESC *r)
{
	void *handle;
	bool fine = kvgpu_remote_resource_get(w, r);

	if (fine && w->type == CU_RESOURCE_TYPE_ARRAY) {
		fine = answer_handle(&handle, c, CLASS_ARRAY, w->what, current_context(), true);
		r->res.array.hArray = handle;
	} else if (fine && w->type == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
		fine = answer_handle(&handle, c, CLASS_MIPMAP, w->what, current_context(), true);
		r->res.mipmap.hMipmappedArray = handle;
	} else if (fine) {
		fine = answer_address(c->to.peer, w->what);
	}
	return fine ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

bool tensor_fine(const CUtensorMap *map, unsigned int rank, unsigned int least)
{
	enum { MOST = 5, ALIGNMENT = 64 };

	return rank >= least && rank <= MOST && (uintptr_t)map % ALIGNMENT == 0;
}
