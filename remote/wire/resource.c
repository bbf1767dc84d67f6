// SPDX-License-Identifier: MIT
#include "resource.h"

#include <string.h>

bool kvgpu_remote_resource_put(const CUDA_RESOURCE_DESC *r, struct kvgpu_remote_resource *w)
{
	*w = (struct kvgpu_remote_resource){ .type = r->resType, .flags = r->flags };
	switch (r->resType) {
	case CU_RESOURCE_TYPE_ARRAY:
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		return true;
	case CU_RESOURCE_TYPE_LINEAR:
		w->what = r->res.linear.devPtr;
		w->format = r->res.linear.format;
		w->channels = r->res.linear.numChannels;
		w->width = r->res.linear.sizeInBytes;
		return true;
	case CU_RESOURCE_TYPE_PITCH2D:
		w->what = r->res.pitch2D.devPtr;
		w->format = r->res.pitch2D.format;
		w->channels = r->res.pitch2D.numChannels;
		w->width = r->res.pitch2D.width;
		w->height = r->res.pitch2D.height;
		w->pitch = r->res.pitch2D.pitchInBytes;
		return true;
	}
	return false;
}

bool kvgpu_remote_resource_get(const struct kvgpu_remote_resource *w, CUDA_RESOURCE_DESC *r)
{
	memset(r, 0, sizeof(*r));
	r->resType = w->type;
	r->flags = w->flags;
	switch (w->type) {
	case CU_RESOURCE_TYPE_ARRAY:
	case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		return true;
	case CU_RESOURCE_TYPE_LINEAR:
		r->res.linear.devPtr = w->what;
		r->res.linear.format = w->format;
		r->res.linear.numChannels = w->channels;
		r->res.linear.sizeInBytes = w->width;
		return true;
	case CU_RESOURCE_TYPE_PITCH2D:
		r->res.pitch2D.devPtr = w->what;
		r->res.pitch2D.format = w->format;
		r->res.pitch2D.numChannels = w->channels;
		r->res.pitch2D.width = w->width;
		r->res.pitch2D.height = w->height;
		r->res.pitch2D.pitchInBytes = w->pitch;
		return true;
	}
	return false;
}
