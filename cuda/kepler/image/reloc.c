// SPDX-License-Identifier: MIT
/*
 * Relocations. The names of types that change an instruction, in the table's comments, tell the
 * field's width and first bit ("ABS32_LO_23": the low 32 bits of an address, from bit 23 on).
 */
#include "cubin.h"

#include <stdlib.h>
#include <string.h>

enum { KIND_NONE, KIND_ADDRESS, KIND_REF, KIND_IGNORE };

static const struct form {
	uint8_t kind, bytes, at, bits, shift;
} forms[] = {
	[0] = { KIND_IGNORE, 0, 0, 0, 0 },
	[1] = { KIND_ADDRESS, 4, 0, 0, 0 }, /* "32" */
	[2] = { KIND_ADDRESS, 8, 0, 0, 0 }, /* "64" */
	/* G32: a generic address, which is the same number on this GPU */
	[3] = { KIND_ADDRESS, 4, 0, 0, 0 },
	[4] = { KIND_ADDRESS, 8, 0, 0, 0 }, /* G64 */
	[5] = { KIND_ADDRESS, 0, 26, 32, 0 }, /* ABS32_26 */
	/* TEX_HEADER_INDEX: the whole texture handle, the header's index and the sampler's */
	[6] = { KIND_REF, 4, 0, 0, 0 },
	[8] = { KIND_REF, IMAGE_SURFACE_BYTES, 0, 0, 0 }, /* SURF_HW_DESC */
	[10] = { KIND_ADDRESS, 0, 26, 32, 0 }, /* ABS32_LO_26 */
	[11] = { KIND_ADDRESS, 0, 26, 32, 32 }, /* ABS32_HI_26 */
	[12] = { KIND_ADDRESS, 0, 23, 32, 0 }, /* ABS32_23 */
	[13] = { KIND_ADDRESS, 0, 23, 32, 0 }, /* ABS32_LO_23 */
	[14] = { KIND_ADDRESS, 0, 23, 32, 32 }, /* ABS32_HI_23 */
	[15] = { KIND_ADDRESS, 0, 26, 24, 0 }, /* ABS24_26 */
	[16] = { KIND_ADDRESS, 0, 23, 24, 0 }, /* ABS24_23 */
	[17] = { KIND_ADDRESS, 0, 26, 16, 0 }, /* ABS16_26 */
	[18] = { KIND_ADDRESS, 0, 23, 16, 0 }, /* ABS16_23 */
	/* FUNC_DESC32_23: a function's descriptor is its address here */
	[31] = { KIND_ADDRESS, 0, 23, 32, 0 },
	[32] = { KIND_ADDRESS, 0, 23, 32, 0 }, /* FUNC_DESC32_LO_23 */
	[33] = { KIND_ADDRESS, 0, 23, 32, 32 }, /* FUNC_DESC32_HI_23 */
	[34] = { KIND_ADDRESS, 4, 0, 0, 0 }, /* FUNC_DESC_32 */
	[35] = { KIND_ADDRESS, 8, 0, 0, 0 }, /* FUNC_DESC_64 */
	[70] = { KIND_ADDRESS, 4, 0, 0, 0 }, /* 32_LO */
	[71] = { KIND_ADDRESS, 4, 0, 0, 32 }, /* 32_HI */
	[72] = { KIND_IGNORE, 0, 0, 0, 0 }, /* UNUSED_CLEAR32 */
	[73] = { KIND_IGNORE, 0, 0, 0, 0 }, /* UNUSED_CLEAR64 */
};

struct entry {
	uint64_t offset;
	uint32_t type, sym;
	int64_t addend;
	bool has_addend;
};

static int64_t present_value(const struct cubin_section *s, const struct entry *e,
			     const struct form *f)
{
	uint64_t v = 0;

	if (e->has_addend)
		return e->addend;
	/* REL: the field's value is the addend */
	memcpy(&v, s->data + e->offset, f->bytes ? f->bytes : 8);
	if (!f->bytes)
		v = v >> f->at & ((1ull << f->bits) - 1);
	return f->shift	     ? (int64_t)(v << f->shift) :
	       f->bytes == 8 ? (int64_t)v :
			       (int64_t)(int32_t)v;
}

static enum image_error append_syscall(struct cubin *c, int id)
{
	const struct syscall *f = &syscalls[id];
	struct image *im = c->im;
	uint32_t at = (im->code_size + FUNCTION_ALIGN - 1) & ~(FUNCTION_ALIGN - 1);
	uint8_t *grown = realloc(im->code, at + f->bytes + 1);

	if (!grown)
		return IMAGE_NO_MEMORY;
	memset(grown + im->code_size, 0, at - im->code_size);
	memcpy(grown + at, f->code, f->bytes);
	im->code = grown;
	im->code_size = at + f->bytes;
	im->syscalls |= 1u << id;
	c->syscall_at[id] = at;
	return IMAGE_OK;
}

static void take_most(struct cubin_callee *a, const struct cubin_callee *b)
{
	a->regs = b->regs > a->regs ? b->regs : a->regs;
	a->stack = b->stack > a->stack ? b->stack : a->stack;
	a->crs = b->crs > a->crs ? b->crs : a->crs;
	a->syscalls |= b->syscalls;
}

/*
 * Give each kernel what the driver's functions need that its section calls, and those that sections
 * without a kernel call: any kernel may call a function there.
 */
static void provide(struct cubin *c)
{
	struct cubin_callee functions = { 0 }, need;
	uint32_t i;
	Elf64_Sym s;

	for (i = 1; i < c->nr_sec; i++)
		if (!c->sec[i].has_kernel)
			take_most(&functions, &c->sec[i].callee);
	for (i = 0; i < c->nr_sym; i++) {
		struct image_kernel *k;

		if (c->kernel_of_sym[i] == IMAGE_NONE)
			continue;
		cubin_symbol(c, i, &s);
		k = &c->im->kernels[c->kernel_of_sym[i]];
		need = c->sec[s.st_shndx].callee;
		take_most(&need, &functions);
		k->regs = need.regs > k->regs ? need.regs : k->regs;
		k->callee_stack = need.stack;
		k->callee_crs = need.crs;
		k->syscalls = need.syscalls;
		k->missing = k->missing ? k->missing : c->sec[s.st_shndx].missing;
	}
}

static enum image_error aim_at_syscall(struct cubin *c, struct cubin_section *s,
				       const Elf64_Sym *sym, struct image_fix *fix)
{
	int id = syscall_find(cubin_symbol_name(c, sym));
	enum image_error err = IMAGE_OK;

	if (s->space != IMAGE_CODE || !s->placed)
		return cubin_fail(c, IMAGE_UNSUPPORTED,
				  "it needs %s, which the device runtime here does not have",
				  cubin_symbol_name(c, sym));
	if (id < 0) {
		s->missing = cubin_symbol_name(c, sym);
		id = SYSCALL_MISSING;
	}
	if (!(c->im->syscalls & 1u << id))
		err = append_syscall(c, id);
	if (err)
		return err;
	take_most(&s->callee, &(struct cubin_callee){ syscalls[id].regs, syscalls[id].frame,
						      syscalls[id].crs, 1u << id });
	fix->kind = IMAGE_FIX_ADDRESS;
	fix->target_space = IMAGE_CODE;
	fix->target = c->syscall_at[id];
	return IMAGE_OK;
}

static enum image_error aim(struct cubin *c, struct cubin_section *s_of, const struct entry *e,
			    struct image_fix *fix)
{
	const struct cubin_section *home;
	Elf64_Sym s;

	if (!cubin_symbol(c, e->sym, &s))
		return cubin_fail(c, IMAGE_INVALID, "a relocation names symbol %u of %u", e->sym,
				  c->nr_sym);
	if (c->ref_of_sym[e->sym] != IMAGE_NONE) {
		fix->kind = IMAGE_FIX_REF;
		fix->target = c->ref_of_sym[e->sym];
		return IMAGE_OK;
	}
	if (s.st_shndx == SHN_UNDEF || s.st_shndx >= c->nr_sec)
		return aim_at_syscall(c, s_of, &s, fix);
	home = &c->sec[s.st_shndx];
	if (!home->placed || s.st_value > home->size)
		return cubin_fail(c, IMAGE_INVALID, "a relocation leads to %s, which is not loaded",
				  home->name);
	fix->kind = IMAGE_FIX_ADDRESS;
	fix->target_space = home->space;
	fix->target = home->offset + s.st_value;
	return IMAGE_OK;
}

static enum image_error add(struct cubin *c, struct cubin_section *s, const struct entry *e)
{
	const struct form *f = e->type < sizeof(forms) / sizeof(forms[0]) ? &forms[e->type] :
									    &forms[0];
	struct image *im = c->im;
	struct image_fix fix = { .space = s->space,
				 .kernel = s->kernel,
				 .bytes = f->bytes,
				 .field_at = f->at,
				 .field_bits = f->bits,
				 .shift = f->shift };
	enum image_error err;
	uint64_t width = f->bytes ? f->bytes : 8;

	if (f->kind == KIND_IGNORE && e->type < sizeof(forms) / sizeof(forms[0]) &&
	    (e->type == 0 || e->type >= 72))
		return IMAGE_OK;
	if (f->kind != KIND_ADDRESS && f->kind != KIND_REF)
		return cubin_fail(c, IMAGE_UNSUPPORTED, "relocation of type %u in %s is not known",
				  e->type, s->name);
	if (!s->data || s->size < width || e->offset > s->size - width ||
	    (!f->bytes && e->offset % 8))
		return cubin_fail(c, IMAGE_INVALID, "a relocation lies outside of %s", s->name);
	err = aim(c, s, e, &fix);
	if (err)
		return err;
	if ((fix.kind == IMAGE_FIX_REF) != (f->kind == KIND_REF) ||
	    (fix.kind == IMAGE_FIX_REF &&
	     (s->kernel == IMAGE_NONE ||
	      im->refs[fix.target].surface != (f->bytes == IMAGE_SURFACE_BYTES))))
		return cubin_fail(c, IMAGE_INVALID,
				  "a relocation of type %u does not fit its symbol", e->type);
	fix.addend = fix.kind == IMAGE_FIX_REF ? 0 : present_value(s, e, f);
	fix.offset = s->kernel == IMAGE_NONE ? s->offset + e->offset : e->offset;
	im->fixes[im->nr_fixes++] = fix;
	return IMAGE_OK;
}

static enum image_error section(struct cubin *c, const struct cubin_section *rel)
{
	bool rela = rel->type == SHT_RELA;
	uint64_t size = rela ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel), n = rel->size / size, i;
	struct cubin_section *s;
	struct image_fix *grown;
	enum image_error err;

	if (rel->info >= c->nr_sec || !rel->data)
		return cubin_fail(c, IMAGE_INVALID, "section %s belongs to none", rel->name);
	s = &c->sec[rel->info];
	if (!s->placed && s->kernel == IMAGE_NONE)
		return IMAGE_OK; /* relocations of debug information */
	err = cubin_pay(c, n * sizeof(*grown));
	if (err)
		return err;
	grown = realloc(c->im->fixes, (c->im->nr_fixes + n + 1) * sizeof(*grown));
	if (!grown)
		return IMAGE_NO_MEMORY;
	c->im->fixes = grown;
	for (i = 0; i < n; i++) {
		struct entry e = { .has_addend = rela };
		Elf64_Rela r = { 0 };

		memcpy(&r, rel->data + i * size, size);
		e.offset = r.r_offset;
		e.type = ELF64_R_TYPE(r.r_info);
		e.sym = ELF64_R_SYM(r.r_info);
		e.addend = r.r_addend;
		err = add(c, s, &e);
		if (err)
			return err;
	}
	return IMAGE_OK;
}

enum image_error cubin_relocations(struct cubin *c)
{
	enum image_error err = IMAGE_OK;
	uint32_t i;

	for (i = 1; i < c->nr_sec && !err; i++)
		if (c->sec[i].type == SHT_REL || c->sec[i].type == SHT_RELA)
			err = section(c, &c->sec[i]);
	if (!err)
		provide(c);
	return err;
}

/* ------------------------------------------------------------------ carrying them out */

static void store(uint8_t *at, const struct image_fix *f, uint64_t v)
{
	uint64_t insn, mask;

	v = f->shift ? v >> f->shift : v;
	if (f->bytes) {
		memcpy(at, &v, f->bytes);
		return;
	}
	memcpy(&insn, at, 8);
	mask = ((1ull << f->field_bits) - 1) << f->field_at;
	insn = (insn & ~mask) | (v << f->field_at & mask);
	memcpy(at, &insn, 8);
}

void image_place(struct image *im, const uint64_t base[3],
		 void (*const0)(void *ctx, uint32_t kernel, uint32_t offset, uint32_t word),
		 void *ctx)
{
	uint32_t i;

	for (i = 0; i < im->nr_fixes; i++) {
		const struct image_fix *f = &im->fixes[i];
		uint64_t v = base[f->target_space] + f->target + f->addend;

		if (f->kind != IMAGE_FIX_ADDRESS)
			continue;
		if (f->kernel != IMAGE_NONE) {
			const0(ctx, f->kernel, f->offset, v >> f->shift);
			if (f->bytes == 8)
				const0(ctx, f->kernel, f->offset + 4, v >> 32);
			continue;
		}
		store((f->space == IMAGE_CODE ? im->code :
		       f->space == IMAGE_DATA ? im->data :
						im->const3) +
			      f->offset,
		      f, v);
	}
}
