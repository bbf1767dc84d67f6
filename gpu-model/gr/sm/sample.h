/* SPDX-License-Identifier: GPL-2.0-only */
/* A request to the texture unit once its words are taken apart, and the filters. */
#ifndef KVGPU_MODEL_GR_SM_SAMPLE_H
#define KVGPU_MODEL_GR_SM_SAMPLE_H

#include "texel.h"

struct request {
	struct texture t;
	struct sampler s;
	/* coordinates that count: those of the instruction that the texture has */
	unsigned int dims;
	float p[3];			/* coordinates */
	int ip[3];			/* the same words as integers */
	uint32_t layer;
	float lod;
	float ref;
	int off[3];
	bool cube;			/* p[] is a place on this face, layer is the cube's first */
	unsigned int face;
};

struct gradient {
	float dx[3], dy[3];		/* of the coordinates as p[] has them */
};

/* a direction to a face and a place on it */
void cube_face(struct request *q);
/*
 * where a direction meets the plane of a face that another one chose; for differences between
 * neighbours
 */
void cube_place(unsigned int face, const float *direction, float *place);
/* log2 of how many texels of the base level one step covers, -infinity when it is none */
float gradient_lod(const struct request *q, const struct gradient *g);
/* what the sampler makes of a level of detail: with its bias, between its limits */
float sampler_lod(const struct request *q, float lod);
/* the filtered value at q->lod; @shadow: components are what the comparison with q->ref gave */
enum step sample(struct warp *w, const struct request *q, bool shadow, struct texel *out);
/*
 * one component each of four texels of the base level: @off is how far from the first one that a
 * filter would mix
 */
enum step sample_gather(struct warp *w, const struct request *q, const int off[4][2],
			unsigned int component, bool shadow, uint32_t *out);

#endif
