/* SPDX-License-Identifier: GPL-2.0-only */
/* Launches of a shader that ends at once, or never. What must not fail ends the program. */
#ifndef KVGPU_SELFTESTS_COMPUTE_H
#define KVGPU_SELFTESTS_COMPUTE_H

#include "client.h"

/* launch descriptors and release words that there is room for */
enum { COMPUTE_MAX_LAUNCHES = 100 };

struct compute {
	struct gpu_chan c;
	struct nouveau_object *object;
	struct nouveau_bo *bo; /* code, launch descriptors and semaphores */
};

void compute_open(struct compute *k, struct gpu *g);
void compute_close(struct compute *k);
/* the shader of later launches: one that ends at once, or one that jumps to itself for ever */
void compute_write_shader(struct compute *k, bool endless);

/* a grid of a few CTAs; its launch descriptor is number @n */
uint32_t *compute_new_qmd(struct compute *k, unsigned int n);
/* the launch writes @payload when it is done; @which: 0 or 1 */
void compute_set_release(struct compute *k, uint32_t *qmd, unsigned int n, unsigned int which,
			 uint32_t payload, bool one_word);
volatile uint32_t *compute_release_word(struct compute *k, unsigned int n, unsigned int which);
/* a new descriptor @n whose first release writes @payload over a 0 */
void compute_prepare(struct compute *k, unsigned int n, uint32_t payload);
/* between job_begin() and job_kick(): 4 words of the pushbuffer */
void compute_emit_launch(struct compute *k, unsigned int n);
/* a job with launch @n and its end; does not wait. 0 or -errno */
int compute_submit(struct compute *k, unsigned int n);
/* launch 0 released @payload: 0, -EIO if it ended and did not, another error */
int compute_run_released(struct compute *k, uint32_t payload);

#endif
