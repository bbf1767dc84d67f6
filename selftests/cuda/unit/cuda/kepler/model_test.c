// SPDX-License-Identifier: GPL-2.0-only
/*
 * libcuda on the model's shader machine, without a kernel driver between them: a device that copies
 * and launches inside of the call, with queue meta data and constant banks of
 * cuda/kepler/device/qmd.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda/kepler/device/qmd.h>
#include <cuda/kepler/driver/driver.h>
#include <gr/sm.h>
#include <gr/sm/rig.h>
#include "selftests/cuda/driver/driver.h" /* selftests/cuda/driver/, whose subtests run here */

/* Video memory lies above 2^36, the largest size of a block of a kernel's heap. */
#define HIGH 0x8000000000ull

enum { VRAM = 256 << 20, LOCAL_PER_SM = 1 << 20, NR_SM = 13 };

struct memory {
	struct device_memory base;
	struct memory *next;
	uint8_t *bytes;
};

static struct {
	struct device base;
	struct rig *rig;
	struct memory *memory;
	uint64_t seq[NR_QUEUES], qmd, const0, release;
	bool trapped;
} machine;

static uint64_t clock_ns;

static unsigned int count(void)
{
	return 1;
}

static enum device_status describe(unsigned int index, struct device_facts *out)
{
	*out = (struct device_facts){ .name = "shader machine", .vram = VRAM / 2, .nr_smx = NR_SM };
	return index ? DEVICE_NONE : DEVICE_OK;
}

static enum device_status open_machine(unsigned int index, bool moves, struct device **out)
{
	machine.rig = rig_create(VRAM);
	machine.const0 = rig_alloc(machine.rig, 65536);
	machine.release = rig_alloc(machine.rig, 4096);
	machine.rig->grid.local_base = rig_alloc(machine.rig, LOCAL_PER_SM * NR_SM);
	machine.rig->grid.local_size_per_sm = LOCAL_PER_SM;
	*out = &machine.base;
	return DEVICE_OK;
}

static void close_machine(struct device *d)
{
	struct memory *m;

	while ((m = machine.memory)) {
		machine.memory = m->next;
		free(m);
	}
	rig_destroy(machine.rig);
}

static uint64_t vram_used(struct device *d)
{
	return 0;
}

static enum device_status alloc(struct device *d, enum device_place place, uint64_t size,
				struct device_memory **out)
{
	struct memory *m = calloc(1, sizeof(*m));
	uint64_t page;

	size = (size + 255) & ~255ull;
	m->base.va = rig_alloc(machine.rig, size);
	m->base.size = size;
	m->bytes = rig_host(machine.rig, m->base.va);
	if (place == PLACE_HOST) {
		m->base.map = m->bytes;
	} else {
		/* its memory is not clear */
		memset(m->bytes, 0xa5, size);
		for (page = m->base.va & ~4095ull; page < m->base.va + size; page += 4096)
			rig_map(machine.rig, HIGH + page, page);
		m->base.va += HIGH;
	}
	m->next = machine.memory;
	machine.memory = m;
	*out = &m->base;
	return DEVICE_OK;
}

static void release(struct device *d, struct device_memory *m)
{
	struct memory **at;

	for (at = &machine.memory; &(*at)->base != m; at = &(*at)->next)
		;
	*at = (*at)->next;
	free(m);
}

static uint8_t *bytes(uint64_t va)
{
	struct memory *m;

	for (m = machine.memory; m; m = m->next)
		if (va >= m->base.va && va < m->base.va + m->base.size)
			return m->bytes + (va - m->base.va);
	abort();
}

static bool copies_beside(struct device *d)
{
	return true;
}

static enum device_status copy(struct device *d, enum device_queue q, const struct moment *after,
			       const struct device_copy *c, uint64_t *seq)
{
	uint32_t i;

	for (i = 0; i < c->lines; i++)
		memmove(bytes(c->dst + i * c->dst_pitch), bytes(c->src + i * c->src_pitch),
			c->width);
	*seq = ++machine.seq[q];
	return DEVICE_OK;
}

static enum device_status set(struct device *d, enum device_queue q, const struct moment *after,
			      const struct device_fill *f, uint64_t *seq)
{
	uint32_t i, j;

	for (j = 0; j < f->lines; j++)
		for (i = 0; i < f->width; i++)
			memcpy(bytes(f->dst + j * f->pitch + i * f->unit), &f->value, f->unit);
	*seq = ++machine.seq[q];
	return DEVICE_OK;
}

static enum device_status stamp(struct device *d, enum device_queue q, const struct moment *after,
				uint64_t va, uint32_t payload, uint64_t *seq)
{
	clock_ns += 1000000;
	memcpy(bytes(va), &payload, 4);
	memcpy(bytes(va + 8), &clock_ns, 8);
	*seq = ++machine.seq[q];
	return DEVICE_OK;
}

static enum device_status launch(struct device *d, const struct moment *after,
				 const struct device_launch *l, uint64_t *seq)
{
	struct sm_grid *grid = &machine.rig->grid;
	uint32_t words[QMD_BYTES / 4];
	struct qmd q;

	qmd_build(words, l, machine.const0, machine.release, 1);
	qmd_const0(rig_host(machine.rig, machine.const0), l);
	qmd_decode(words, &q);
	if (qmd_check(&q))
		return DEVICE_FAILED;
	grid->qmd = &q;
	grid->vm = &machine.rig->space;
	grid->pacer = &machine.rig->pacer;
	grid->stop = &machine.rig->stop;
	grid->code_base = l->code;
	grid->warps_done = 0;
	machine.trapped |= sm_run_grid(machine.rig->g, grid) != SM_DONE;
	*seq = ++machine.seq[QUEUE_COMPUTE];
	return DEVICE_OK;
}

static uint64_t host_begin(struct device *d)
{
	return ++machine.seq[QUEUE_HOST];
}

static void host_done(struct device *d, uint64_t seq)
{
}

static enum device_status poll(struct device *d, enum device_queue q, uint64_t seq, bool look)
{
	return machine.trapped ? DEVICE_TRAPPED : DEVICE_OK;
}

static const struct device_ops ops = {
	.count = count,
	.describe = describe,
	.open = open_machine,
	.close = close_machine,
	.vram_used = vram_used,
	.alloc = alloc,
	.release = release,
	.copies_beside = copies_beside,
	.copy = copy,
	.fill = set,
	.launch = launch,
	.stamp = stamp,
	.host_begin = host_begin,
	.host_done = host_done,
	.poll = poll,
};
const struct device_ops *backend = &ops;

int main(void)
{
	CUcontext ctx;

	machine.base.ops = &ops;
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuModuleLoad(&module, "selftests/cuda/driver/kernels.cubin"));
	test_memory();
	test_calls("selftests/cuda/driver/kernels.cubin");
	test_launch();
	test_stream();
	test_graph();
	test_syscall();
	MUST(cuCtxDestroy_v2(ctx));
	return tap_finish();
}
