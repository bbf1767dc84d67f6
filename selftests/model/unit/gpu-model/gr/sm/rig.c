// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "gr/gr.h"
#include "gr/sm/rig.h"
#include "mmu/fake.h"
#include "mmu/fake_device.h"

#define VA_BASE	     0x200000000ull
#define MAX_SECTIONS 1024

/* ------------------------------------------------------------------ the rest of the chip */

void pmc_intr_set(struct gk110 *g, unsigned int bit, bool level)
{
}

void fifo_engine_resume(struct gk110 *g, unsigned int engine)
{
}

void fifo_kick(struct gk110 *g)
{
}

uint64_t ptimer_now(struct gk110 *g)
{
	return 32;
}

/* ------------------------------------------------------------------ device */

struct rig *rig_create(uint64_t vram)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct gk110 *g;

	r->f = fake_create(vram, 1 << 20);
	r->g = g = &r->f->g;
	if (!board_find("k20m", &g->cfg.board))
		abort();
	g->gr = calloc(1, sizeof(*g->gr));
	for (unsigned int i = 0; i < GR_NR_GPC; i++) {
		if (mmu_client_init(g, &g->gr->gcc[i], "GCC", 0, GR_GPC_GCC, i))
			abort();
	}
	if (sm_init(g))
		abort();
	r->vm = calloc(1, sizeof(*r->vm));
	*r->vm = fake_vm_create(r->f, 0xffffffffff);
	r->space = fake_space(r->f, r->vm);
	for (uint64_t i = 0; i < vram; i += 4096)
		fake_map(r->f, r->vm, VA_BASE + i, i, MEM_VRAM, 0, false);
	r->next = 4096;
	r->qmd = (struct qmd){ .l1_configuration = QMD_L1_48KB,
			       .register_count = 32,
			       .shader_local_memory_crs_size = 0x800,
			       .shader_local_memory_low_size = RIG_STACK };
	r->grid.local_size_per_sm = 64 * 32 * RIG_STACK;
	r->grid.local_base = rig_alloc(r, 13 * r->grid.local_size_per_sm);
	r->grid.local_window = RIG_LOCAL_WINDOW;
	r->grid.shared_window = RIG_SHARED_WINDOW;
	return r;
}

void rig_destroy(struct rig *r)
{
	sm_fini(r->g);
	for (unsigned int i = 0; i < GR_NR_GPC; i++)
		mmu_client_fini(r->g, &r->g->gr->gcc[i]);
	free(r->g->gr);
	fake_destroy(r->f);
	free(r->vm);
	free(r);
}

uint64_t rig_alloc(struct rig *r, uint64_t size)
{
	uint64_t at = (r->next + 255) & ~255ull;

	if (at + size > r->f->next)
		abort();
	r->next = at + size;
	memset(r->g->vram + at, 0, size);
	return VA_BASE + at;
}

void *rig_host(struct rig *r, uint64_t va)
{
	return r->g->vram + (va - VA_BASE);
}

void rig_map(struct rig *r, uint64_t va, uint64_t of)
{
	fake_map(r->f, r->vm, va, (of - VA_BASE) & ~4095ull, MEM_VRAM, 0, false);
}

void rig_unmap(struct rig *r, uint64_t va)
{
	fake_unmap(r->f, r->vm, va, false);
	fake_invalidate(r->f, r->vm->pdb, 0, 3);
}

/* ------------------------------------------------------------------ programs */

struct rig_kernel rig_program(struct rig *r, const uint64_t *words, unsigned int n,
			      unsigned int regs)
{
	struct rig_kernel k = { .regs = regs, .param_size = 4096 - RIG_PARAM };
	unsigned int groups = (n + 6) / 7;
	uint64_t *code;

	k.code = rig_alloc(r, groups * 64);
	code = rig_host(r, k.code);
	for (unsigned int i = 0, at = 0; i < groups * 8; i++)
		code[i] = i % 8 == 0 ? 0x08a0bcbc80bcbcbcull :
			  at < n     ? words[at++] :
				       0x18000000001c003cull;
	k.cbuf_size[0] = 4096;
	k.cbuf[0] = rig_alloc(r, 4096);
	return k;
}

struct image {
	const uint8_t *bytes;
	size_t size;
	const Elf64_Ehdr *eh;
	const Elf64_Shdr *sh;
	const char *names;
};

static const Elf64_Shdr *section(const struct image *im, const char *prefix, const char *name)
{
	char want[256];

	snprintf(want, sizeof(want), "%s%s", prefix, name);
	for (unsigned int i = 0; i < im->eh->e_shnum; i++) {
		if (!strcmp(im->names + im->sh[i].sh_name, want))
			return &im->sh[i];
	}
	return NULL;
}

static uint64_t load(struct rig *r, const struct image *im, const Elf64_Shdr *s)
{
	uint64_t va = rig_alloc(r, s->sh_size + 64);

	if (s->sh_type != SHT_NOBITS)
		memcpy(rig_host(r, va), im->bytes + s->sh_offset, s->sh_size);
	return va;
}

/* The two relocations by which MOV32I loads an address; their names are cuobjdump's. */
static bool relocate(struct rig *r, const struct image *im, const Elf64_Shdr *rel, uint64_t code,
		     const uint64_t *bases)
{
	const Elf64_Sym *syms = (const void *)(im->bytes + im->sh[rel->sh_link].sh_offset);
	const uint8_t *p = im->bytes + rel->sh_offset;

	for (; p < im->bytes + rel->sh_offset + rel->sh_size; p += rel->sh_entsize) {
		const Elf64_Rel *e = (const void *)p;
		const Elf64_Sym *sym = &syms[ELF64_R_SYM(e->r_info)];
		uint64_t at = bases[sym->st_shndx] + sym->st_value,
			 *word = rig_host(r, code + e->r_offset);

		switch (ELF64_R_TYPE(e->r_info)) {
		case 0x0d: /* R_CUDA_ABS32_LO_23 */
			*word = (*word & ~(0xffffffffull << 23)) | (at & 0xffffffff) << 23;
			break;
		case 0x0e: /* R_CUDA_ABS32_HI_23 */
			*word = (*word & ~(0xffffffffull << 23)) | at >> 32 << 23;
			break;
		default:
			return false;
		}
	}
	return true;
}

bool rig_cubin(struct rig *r, const void *image, size_t size, const char *name,
	       struct rig_kernel *k)
{
	struct image im = {
		image, size, image,
		(const void *)((const uint8_t *)image + ((const Elf64_Ehdr *)image)->e_shoff), NULL
	};
	const Elf64_Shdr *text, *s;
	uint64_t bases[MAX_SECTIONS] = { 0 };

	im.names = (const char *)im.bytes + im.sh[im.eh->e_shstrndx].sh_offset;
	text = section(&im, ".text.", name);
	if (!text || im.eh->e_shnum > MAX_SECTIONS)
		return false;
	*k = (struct rig_kernel){ .regs = text->sh_info >> 24 };
	k->code = load(r, &im, text);
	for (unsigned int i = 0; i < im.eh->e_shnum; i++) {
		const char *n = im.names + im.sh[i].sh_name;

		if (!strcmp(n, ".nv.global") || !strcmp(n, ".nv.global.init"))
			bases[i] = load(r, &im, &im.sh[i]);
	}
	s = section(&im, ".rel.text.", name);
	if (s && !relocate(r, &im, s, k->code, bases))
		return false;
	s = section(&im, ".nv.shared.", name);
	k->shared = s ? s->sh_size : 0;
	for (unsigned int i = 0; i < QMD_NR_CBUF; i++) {
		char prefix[32];

		snprintf(prefix, sizeof(prefix), ".nv.constant%u.", i);
		s = section(&im, prefix, name);
		if (!s && i == 3)
			s = section(&im, ".nv.constant3", "");
		if (!s)
			continue;
		k->cbuf[i] = load(r, &im, s);
		k->cbuf_size[i] = s->sh_size;
	}
	k->param_size = k->cbuf_size[0] > RIG_PARAM ? k->cbuf_size[0] - RIG_PARAM : 0;
	return true;
}

static void set_constants(struct rig *r, const struct rig_kernel *k, struct rig_dim grid,
			  struct rig_dim block, const void *param, uint32_t param_size)
{
	uint32_t *c = rig_host(r, k->cbuf[0]);
	const uint32_t dims[] = { block.x, block.y, block.z, grid.x, grid.y, grid.z };

	c[0x20 / 4] = RIG_SHARED_WINDOW;
	c[0x24 / 4] = RIG_LOCAL_WINDOW;
	memcpy(&c[0x28 / 4], dims, sizeof(dims));
	c[0x44 / 4] = r->qmd.shader_local_memory_low_size;
	if (param_size > k->param_size)
		abort();
	if (param_size)
		memcpy((uint8_t *)c + RIG_PARAM, param, param_size);
}

enum sm_result rig_launch(struct rig *r, struct rig_kernel *k, struct rig_dim grid,
			  struct rig_dim block, uint32_t dynamic_shared, const void *param,
			  uint32_t param_size)
{
	struct qmd q = r->qmd;

	if (k->cbuf[0])
		set_constants(r, k, grid, block, param, param_size);
	q.cta_raster_width = grid.x;
	q.cta_raster_height = grid.y;
	q.cta_raster_depth = grid.z;
	q.cta_thread_dimension0 = block.x;
	q.cta_thread_dimension1 = block.y;
	q.cta_thread_dimension2 = block.z;
	q.register_count = k->regs;
	q.shared_memory_size = k->shared + dynamic_shared;
	for (unsigned int i = 0; i < QMD_NR_CBUF; i++) {
		q.constant_buffer_valid[i] = k->cbuf_size[i] != 0;
		q.constant_buffer_addr_lower[i] = (uint32_t)k->cbuf[i];
		q.constant_buffer_addr_upper[i] = k->cbuf[i] >> 32;
		q.constant_buffer_size[i] = k->cbuf_size[i];
	}
	r->grid.qmd = &q;
	r->grid.vm = &r->space;
	r->grid.code_base = k->code & ~0xfffull;
	q.program_offset = k->code & 0xfff;
	r->grid.pacer = &r->pacer;
	r->grid.stop = &r->stop;
	return sm_run_grid(r->g, &r->grid);
}
