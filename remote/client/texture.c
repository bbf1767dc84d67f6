// SPDX-License-Identifier: MIT
/* CUDA_RESOURCE_DESC with the server's number of its array. */
#include "client.h"

CUresult resource_to_wire(const CUDA_RESOURCE_DESC *r, struct kvgpu_remote_resource *w)
{
	*w = (struct kvgpu_remote_resource){ .type = r->resType, .flags = r->flags };
	switch (r->resType) {
	case CU_RESOURCE_TYPE_ARRAY:
		return handle_id(CLASS_ARRAY, r->res.array.hArray, &w->what) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		return handle_id(CLASS_MIPMAP, r->res.mipmap.hMipmappedArray, &w->what) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
	case CU_RESOURCE_TYPE_LINEAR:
		w->what = r->res.linear.devPtr;
		w->format = r->res.linear.format;
		w->channels = r->res.linear.numChannels;
		w->width = r->res.linear.sizeInBytes;
		return CUDA_SUCCESS;
	case CU_RESOURCE_TYPE_PITCH2D:
		w->what = r->res.pitch2D.devPtr;
		w->format = r->res.pitch2D.format;
		w->channels = r->res.pitch2D.numChannels;
		w->width = r->res.pitch2D.width;
		w->height = r->res.pitch2D.height;
		w->pitch = r->res.pitch2D.pitchInBytes;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult resource_from_wire(const struct kvgpu_remote_resource *w, CUDA_RESOURCE_DESC *r)
{
	memset(r, 0, sizeof(*r));
	r->resType = w->type;
	r->flags = w->flags;
	switch (w->type) {
	case CU_RESOURCE_TYPE_ARRAY:
		r->res.array.hArray = handle_here(CLASS_ARRAY, w->what, current_context());
		return CUDA_SUCCESS;
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		r->res.mipmap.hMipmappedArray = handle_here(CLASS_MIPMAP, w->what, current_context());
		return CUDA_SUCCESS;
	case CU_RESOURCE_TYPE_LINEAR:
		r->res.linear.devPtr = w->what;
		r->res.linear.format = w->format;
		r->res.linear.numChannels = w->channels;
		r->res.linear.sizeInBytes = w->width;
		return CUDA_SUCCESS;
	case CU_RESOURCE_TYPE_PITCH2D:
		r->res.pitch2D.devPtr = w->what;
		r->res.pitch2D.format = w->format;
		r->res.pitch2D.numChannels = w->channels;
		r->res.pitch2D.width = w->width;
		r->res.pitch2D.height = w->height;
		r->res.pitch2D.pitchInBytes = w->pitch;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_UNKNOWN;
}
