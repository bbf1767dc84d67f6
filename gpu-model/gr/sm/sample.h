/* SPDX-License-Identifier: GPL-2.0-only */
/* A decoded request to the texture unit, and the filters. */
#ifndef KVGPU_MODEL_GR_SM_SAMPLE_H
#define KVGPU_MODEL_GR_SM_SAMPLE_H

#include "texel.h"

struct request {
	struct texture t;
	struct sampler s;
	/* how many coordinates count */
	unsigned int dims;
	float p[3]; /* coordinates */
	int ip[3]; /* the same words as integers */
	uint32_t layer;
	float lod;
	float ref; /* what texels are compared with */
	int off[3]; /* added to the texel's place */
	/* p[] is a place on face @face, and @layer the first layer of the cube */
	bool cube;
	unsigned int face;
};

struct gradient {
	/* change of p[] per step in x and in y */
	float dx[3], dy[3];
};

/* Turn the direction in @q's coordinates into a face and a place on the face. */
void cube_face(struct request *q);
/*
 * Project @direction on the plane of @face. @face is that of the sampled lane's direction;
 * @direction may be another lane's of the quad, or where a gradient leads.
 */
void cube_place(unsigned int face, const float *direction, float *place);
/* log2 of the base level texels that the gradient's longer step covers */
float gradient_lod(const struct request *q, const struct gradient *g);
/* the level with the sampler's bias, limited to the sampler's range */
float sampler_lod(const struct request *q, float lod);
/*
 * Take the filtered value at q->lod. @shadow: the first component is the result of the comparison
 * with q->ref.
 */
enum step texture_sample(struct warp *w, const struct request *q, bool shadow, struct texel *out);
/*
 * Take one component of each of four texels of the base level. @off: their distances from the first
 * texel that a linear filter would mix.
 */
enum step sample_gather(struct warp *w, const struct request *q, const int off[4][2],
			unsigned int component, bool shadow, uint32_t *out);

#endif
