// SPDX-License-Identifier: MIT
/*
 * Reads .nv.info: attributes of one byte format, one byte name, and a value. The numbers are those
 * that cuobjdump names. Others are passed over.
 */
#include "cubin.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT_NONE = 1, FORMAT_BYTE, FORMAT_HALF, FORMAT_SIZED };
enum {
	ATTR_MAX_THREADS = 0x05,
	ATTR_PARAM_CBANK = 0x0a,
	ATTR_EXTERNS = 0x0f,
	ATTR_REQNTID = 0x10,
	ATTR_FRAME_SIZE = 0x11,
	ATTR_MIN_STACK = 0x12,
	ATTR_KPARAM = 0x17,
	ATTR_PARAM_SIZE = 0x19,
	ATTR_CRS_STACK = 0x1e,
	ATTR_MAX_STACK = 0x23,
	ATTR_REGCOUNT = 0x2f,
};
enum { MAX_PARAMS = 4096, PARAM_BYTES = 4096, STACK_UNKNOWN = 0xffffffff };
/*
 * A thread of compute capability 3.5 has so many registers and so much local memory (CUDA C
 * programming guide). For the call stack of a warp: far beyond what nvcc says, far below 32 bits.
 */
enum { MAX_REGS = 255, MAX_LOCAL = 512 << 10, MAX_CRS = 1 << 20 };

/*
 * Where nvcc can't tell how deep calls go, for instance of a recursion compiled with -G, a kernel's
 * call stack is STACK_UNKNOWN bytes. It gets this many: nvcc's own libraries have 608 at most.
 */
enum { UNKNOWN_CRS = 4096 };

struct attribute {
	uint8_t format, name;
	uint32_t size;
	const uint8_t *value;
};

static uint32_t word(const struct attribute *a, unsigned int i)
{
	uint32_t v = 0;

	if (4 * i + 4 <= a->size)
		memcpy(&v, a->value + 4 * i, 4);
	return v;
}

static uint32_t half(const struct attribute *a)
{
	return a->size >= 2 ? a->value[0] | a->value[1] << 8 : 0;
}

/* False: at the end, or with *bad set. */
static bool next(const struct cubin_section *s, uint64_t *at, struct attribute *a, bool *bad)
{
	if (*at == s->size)
		return false;
	*bad = true;
	if (s->size - *at < 4)
		return false;
	a->format = s->data[*at];
	a->name = s->data[*at + 1];
	a->size = a->format == FORMAT_SIZED ? s->data[*at + 2] | s->data[*at + 3] << 8 : 2;
	a->value = s->data + *at + (a->format == FORMAT_SIZED ? 4 : 2);
	if (a->format < FORMAT_NONE || a->format > FORMAT_SIZED)
		return false;
	if (a->format == FORMAT_SIZED && a->size > s->size - *at - 4)
		return false;
	*at += a->format == FORMAT_SIZED ? 4 + a->size : 4;
	*bad = false;
	return true;
}

static struct image_kernel *kernel_of(struct cubin *c, uint32_t sym)
{
	return sym < c->nr_sym && c->kernel_of_sym[sym] != IMAGE_NONE ?
		       &c->im->kernels[c->kernel_of_sym[sym]] :
		       NULL;
}

/* an attribute in .nv.info, of the kernel whose symbol is word 0 */
static void file_attribute(struct cubin *c, const struct attribute *a)
{
	struct image_kernel *k = kernel_of(c, word(a, 0));

	if (!k)
		return;
	switch (a->name) {
	case ATTR_REGCOUNT:
		k->regs = word(a, 1);
		break;
	case ATTR_MIN_STACK:
		if (word(a, 1) == STACK_UNKNOWN)
			k->stack_unknown = true;
		else if (word(a, 1) > k->stack)
			k->stack = word(a, 1);
		break;
	case ATTR_FRAME_SIZE:
		if (word(a, 1) != STACK_UNKNOWN && word(a, 1) > k->stack)
			k->stack = word(a, 1);
		break;
	case ATTR_MAX_STACK:
		k->stack_unknown |= word(a, 1) == STACK_UNKNOWN;
		break;
	}
}

static enum image_error param(struct cubin *c, struct image_kernel *k, const struct attribute *a)
{
	uint32_t ordinal = word(a, 1) & 0xffff, offset = word(a, 1) >> 16, size = word(a, 2) >> 18;
	struct image_param *grown;

	if (a->size < 12 || ordinal >= MAX_PARAMS || offset + size > PARAM_BYTES)
		return cubin_fail(c, IMAGE_INVALID, "kernel %s: parameter %u is described wrongly",
				  k->name, ordinal);
	if (ordinal >= k->nr_params) {
		if (cubin_pay(c, (ordinal + 1 - k->nr_params) * sizeof(*grown)))
			return IMAGE_INVALID;
		grown = realloc(k->params, (ordinal + 1) * sizeof(*grown));
		if (!grown)
			return IMAGE_NO_MEMORY;
		memset(grown + k->nr_params, 0, (ordinal + 1 - k->nr_params) * sizeof(*grown));
		k->params = grown;
		k->nr_params = ordinal + 1;
	}
	k->params[ordinal] = (struct image_param){ .offset = offset, .size = size };
	return IMAGE_OK;
}

/*
 * A kernel's functions of other files, those that it calls through others, too. The names of what
 * the CUDA runtime for kernels calls begin with "cnp".
 */
static void externs(const struct cubin *c, struct image_kernel *k, const struct attribute *a)
{
	const char *name;
	unsigned int i;
	Elf64_Sym s;

	for (i = 0; 4 * i + 4 <= a->size; i++) {
		if (!cubin_symbol(c, word(a, i), &s) || s.st_shndx != SHN_UNDEF)
			continue;
		name = cubin_symbol_name(c, &s);
		if (*name && syscall_find(name) < 0)
			k->missing =
				strncmp(name, "cnp", 3) ?
					name :
					"the CUDA runtime (to launch kernels, or for more than which devices there are)";
	}
}

static enum image_error kernel_attribute(struct cubin *c, struct image_kernel *k,
					 const struct attribute *a)
{
	unsigned int i;

	switch (a->name) {
	case ATTR_PARAM_CBANK:
		k->param_base = word(a, 1) & 0xffff;
		k->param_size = word(a, 1) >> 16;
		break;
	case ATTR_PARAM_SIZE:
		k->param_size = half(a);
		break;
	case ATTR_KPARAM:
		return param(c, k, a);
	case ATTR_MAX_THREADS:
		k->max_threads = word(a, 0) * word(a, 1) * word(a, 2);
		break;
	case ATTR_REQNTID:
		for (i = 0; i < 3; i++)
			k->required[i] = word(a, i);
		break;
	case ATTR_CRS_STACK:
		k->crs = word(a, 0) == STACK_UNKNOWN ? UNKNOWN_CRS : word(a, 0);
		break;
	case ATTR_EXTERNS:
		externs(c, k, a);
		break;
	}
	return IMAGE_OK;
}

static enum image_error section(struct cubin *c, const struct cubin_section *s,
				struct image_kernel *k)
{
	enum image_error err = IMAGE_OK;
	struct attribute a;
	bool bad = false;
	uint64_t at = 0;

	while (!err && next(s, &at, &a, &bad)) {
		if (k)
			err = kernel_attribute(c, k, &a);
		else if (a.format == FORMAT_SIZED)
			file_attribute(c, &a);
	}
	return bad ? cubin_fail(c, IMAGE_INVALID, "section %s is damaged", s->name) : err;
}

/* what attributes of a kernel say together, whatever their order */
static enum image_error check_kernel(struct cubin *c, const struct image_kernel *k)
{
	uint32_t i;

	for (i = 0; i < k->nr_params; i++)
		if ((uint32_t)k->params[i].offset + k->params[i].size > k->param_size)
			return cubin_fail(
				c, IMAGE_INVALID,
				"kernel %s: parameter %u lies behind its %u bytes of parameters",
				k->name, i, k->param_size);
	if (k->regs > MAX_REGS)
		return cubin_fail(c, IMAGE_INVALID, "kernel %s: no thread has %u registers",
				  k->name, k->regs);
	if (k->stack > MAX_LOCAL || k->local > MAX_LOCAL || k->crs > MAX_CRS)
		return cubin_fail(c, IMAGE_INVALID,
				  "kernel %s: no thread has so much stack (%u, %u, %u bytes)",
				  k->name, k->stack, k->local, k->crs);
	if ((uint64_t)k->param_base + k->param_size > k->const0_size)
		return cubin_fail(c, IMAGE_INVALID,
				  "kernel %s: its parameters do not fit into bank 0", k->name);
	return IMAGE_OK;
}

enum image_error cubin_info(struct cubin *c)
{
	enum image_error err = IMAGE_OK;
	uint32_t i, k;

	for (i = 1; i < c->nr_sec && !err; i++) {
		const struct cubin_section *s = &c->sec[i];
		const char *name = cubin_suffix(s->name, ".nv.info.");

		k = name ? cubin_find_kernel(c, name) : IMAGE_NONE;

		if (s->type != SHT_CUDA_INFO || !s->data)
			continue;
		if (!strcmp(s->name, ".nv.info"))
			err = section(c, s, NULL);
		else if (k != IMAGE_NONE)
			err = section(c, s, &c->im->kernels[k]);
	}
	for (k = 0; k < c->im->nr_kernels && !err; k++)
		err = check_kernel(c, &c->im->kernels[k]);
	return err;
}
