// SPDX-License-Identifier: MIT
/* Modules: images on the GPU. */
#include <stdlib.h>
#include <string.h>

#include "../../api/libraries.h"
#include "driver.h"

enum { BANK_ALIGN = 256, CODE_PAD = 512 }; /* PAD: the GPU fetches instructions ahead */
#define CONSTANTS_MAX (1u << 30)

/* ------------------------------------------------------------------ putting it on the GPU */

static void release(CUcontext ctx, CUmodule m)
{
	struct device_memory *parts[] = { m->code, m->data, m->constants };
	unsigned int i;

	messages_remove(ctx, m);
	for (i = 0; i < 3; i++) {
		struct range *r = parts[i] ? range_find(ctx, parts[i]->va) : NULL;

		if (r)
			range_remove(ctx, r);
		if (parts[i])
			ctx->device->ops->release(ctx->device, parts[i]);
	}
	for (i = 0; m->functions && i < m->image.nr_kernels; i++) {
		free(m->functions[i].const0);
		free(m->functions[i].refs);
		free(m->functions[i].old);
		__atomic_store_n(&m->functions[i].magic, 0, __ATOMIC_RELAXED);
	}
	for (i = 0; m->texrefs && i < m->image.nr_refs; i++)
		texref_drop(ctx, &m->texrefs[i]);
	free(m->texrefs);
	free(m->surfrefs);
	m->magic = 0;
	module_drop(m);
}

static CUresult space(CUcontext ctx, uint64_t size, bool managed, struct device_memory **out)
{
	if (!size)
		return CUDA_SUCCESS;
	if (managed)
		return same_memory(ctx, size, out);
	return error_of(ctx->device->ops->alloc(ctx->device, PLACE_VRAM, size, out));
}

/* Bank 3, then bank 2 of each kernel. *size: of all. */
static CUresult lay_out_constants(CUmodule m, uint32_t *size)
{
	uint32_t at = (m->image.const3_size + BANK_ALIGN - 1) & ~(BANK_ALIGN - 1), i;

	/* a bank has 64 KiB at most, so that the sum stays below 32 bits */
	for (i = 0; i < m->image.nr_kernels && at <= CONSTANTS_MAX; i++) {
		m->functions[i].const2_at = at;
		at += (m->image.kernels[i].const2_size + BANK_ALIGN - 1) & ~(BANK_ALIGN - 1);
	}
	*size = at;
	return at <= CONSTANTS_MAX ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult make_functions(CUmodule m)
{
	uint32_t i;

	m->functions = calloc(m->image.nr_kernels + 1, sizeof(*m->functions));
	if (!m->functions)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (i = 0; i < m->image.nr_kernels; i++) {
		const struct image_kernel *k = &m->image.kernels[i];
		struct CUfunc_st *f = &m->functions[i];

		*f = (struct CUfunc_st){
			.magic = MAGIC_FUNCTION, .module = m, .kernel = k, .max_dynamic = -1
		};
		f->const0 = calloc(1, k->const0_size + 1);
		if (!f->const0)
			return CUDA_ERROR_OUT_OF_MEMORY;
		if (k->const0)
			memcpy(f->const0, k->const0, k->const0_size);
	}
	return CUDA_SUCCESS;
}

static bool add_use(struct CUfunc_st *f, const struct image_fix *fix)
{
	struct ref_use *grown = realloc(f->refs, (f->nr_refs + 1) * sizeof(*grown));

	if (!grown)
		return false;
	f->refs = grown;
	f->refs[f->nr_refs++] = (struct ref_use){ .ref = fix->target, .offset = fix->offset };
	return true;
}

static CUresult make_references(CUcontext ctx, CUmodule m)
{
	uint32_t i;

	m->texrefs = calloc(m->image.nr_refs + 1, sizeof(*m->texrefs));
	m->surfrefs = calloc(m->image.nr_refs + 1, sizeof(*m->surfrefs));
	if (!m->texrefs || !m->surfrefs)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (i = 0; i < m->image.nr_refs; i++) {
		texref_init(ctx, &m->texrefs[i]);
		m->surfrefs[i].ctx = ctx;
	}
	for (i = 0; i < m->image.nr_fixes; i++) {
		const struct image_fix *fix = &m->image.fixes[i];

		if (fix->kind == IMAGE_FIX_REF && !add_use(&m->functions[fix->kernel], fix))
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return CUDA_SUCCESS;
}

static void fix_const0(void *ctx, uint32_t kernel, uint32_t offset, uint32_t word)
{
	CUmodule m = ctx;

	if (offset + sizeof(word) <= m->image.kernels[kernel].const0_size)
		memcpy(m->functions[kernel].const0 + offset, &word, sizeof(word));
}

static CUresult upload(CUcontext ctx, uint64_t va, const void *bytes, size_t size)
{
	struct plane dst = { .va = va }, src = { .host = (uint8_t *)(uintptr_t)bytes };

	return plane_copy(ctx, &ctx->null, &dst, &src, size, 1);
}

static CUresult upload_all(CUcontext ctx, CUmodule m)
{
	struct image *im = &m->image;
	struct moment end;
	uint32_t i;
	CUresult r = upload(ctx, m->code->va, im->code, im->code_size);

	if (!r && im->data_init)
		r = upload(ctx, m->data->va, im->data, im->data_init);
	if (!r && im->data_size > im->data_init)
		r = memory_fill(ctx, &ctx->null,
				&(struct device_fill){ .dst = m->data->va + im->data_init,
						       .unit = 1,
						       .width = im->data_size - im->data_init,
						       .lines = 1 });
	if (!r && im->const3_size)
		r = upload(ctx, m->constants->va, im->const3, im->const3_size);
	for (i = 0; i < im->nr_kernels && !r; i++)
		if (im->kernels[i].const2_size)
			r = upload(ctx, m->constants->va + m->functions[i].const2_at,
				   im->kernels[i].const2, im->kernels[i].const2_size);
	if (r)
		return r;
	end = stream_begin(&ctx->null);
	return moment_wait(ctx, &end);
}

static CUresult place(CUcontext ctx, CUmodule m)
{
	/* code addresses are relative (SET_PROGRAM_REGION) */
	uint64_t base[3] = { 0 };
	uint32_t constants = 0;
	CUresult r = make_functions(m);

	if (!r)
		r = make_references(ctx, m);
	if (!r)
		r = space(ctx, m->image.code_size + CODE_PAD, false, &m->code);
	if (!r)
		r = space(ctx, m->image.data_size, m->image.managed, &m->data);
	if (!r)
		r = lay_out_constants(m, &constants);
	if (!r)
		r = space(ctx, constants, false, &m->constants);
	if (!r && m->data)
		r = range_add(ctx,
			      (struct range){ .va = m->data->va,
					      .size = m->data->size,
					      .memory = m->data,
					      .host = m->data->map,
					      .flags = RANGE_MODULE |
						       (m->image.managed ? RANGE_MANAGED : 0) });
	if (!r && m->constants)
		r = range_add(ctx, (struct range){ .va = m->constants->va,
						   .size = m->constants->size,
						   .memory = m->constants,
						   .flags = RANGE_MODULE });
	if (r)
		return r;
	base[IMAGE_DATA] = m->data ? m->data->va : 0;
	base[IMAGE_CONST3] = m->constants ? m->constants->va : 0;
	image_place(&m->image, base, fix_const0, m);
	r = messages_add(ctx, m);
	return r ? r : upload_all(ctx, m);
}

/* ------------------------------------------------------------------ entry points */

/* load a cubin, or PTX, which is compiled */
static CUresult read_image(CUmodule m, const void *data, size_t limit, struct jit *jit)
{
	struct image_pick pick;
	enum image_error e = image_pick(data, limit, &pick);
	uint8_t *compiled = NULL;
	size_t size = pick.size;
	CUresult r = CUDA_SUCCESS;

	if (e == IMAGE_ONLY_PTX) {
		r = jit_compile(jit, pick.ptx, pick.ptx_size, JIT_WHOLE, &compiled, &size);
		e = r ? e : IMAGE_OK;
	}
	if (!e) {
		e = image_load(&m->image, compiled ? compiled : pick.cubin, size,
			       compiled ? size : pick.packed);
		if (e)
			jit_say(jit, "%s", m->image.reason);
	} else if (e == IMAGE_NO_BINARY && pick.later_ptx) {
		jit_say(jit,
			"nothing for sm_35 is there, as its PTX is for compute_%u and later: compile with nvcc -arch=sm_35",
			pick.later_ptx);
	} else if (!r && !pick.empty) {
		jit_say(jit,
			e == IMAGE_NO_BINARY ?
				"nothing for sm_35 is there, and no PTX: compile with nvcc -arch=sm_35" :
				"not a cubin, fat binary or PTX, or a damaged one");
	}
	free(compiled);
	image_pick_free(&pick);
	return r ? r : error_of_image(e);
}

static CUresult load(CUmodule *out, const void *data, size_t limit, struct jit *jit)
{
	CUcontext ctx;
	CUmodule m;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	m = out && data ? calloc(1, sizeof(*m)) : NULL;
	if (!m) {
		ctx_leave(ctx);
		return out && data ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
	}
	m->magic = MAGIC_MODULE;
	m->ctx = ctx;
	m->keepers = 1;
	r = read_image(m, data, limit, jit);
	if (!r)
		r = place(ctx, m);
	if (r) {
		release(ctx, m);
	} else {
		m->next = ctx->modules;
		ctx->modules = m;
		*out = m;
	}
	ctx_leave(ctx);
	return r;
}

const void *library_image(const void *data, size_t limit, size_t *bytes, bool *fat)
{
	return image_whole(data, limit, bytes, fat);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n,
			    CUjit_option *options, void **values)
{
	struct jit jit;
	CUresult r;

	r = jit_options(&jit, n, options, values);
	if (r)
		return r;
	r = load(module, image, SIZE_MAX, &jit);
	jit_report(&jit);
	return r;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *module, const char *file)
{
	struct jit jit;
	uint8_t *data;
	size_t size;
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!module || !file)
		return CUDA_ERROR_INVALID_VALUE;
	r = read_file(file, &data, &size);
	if (r)
		return r;
	jit_options(&jit, 0, NULL, NULL);
	r = load(module, data, size, &jit);
	free(data);
	return r;
}

static CUmodule *find(CUcontext ctx, CUmodule module)
{
	CUmodule *at;

	for (at = &ctx->modules; *at && *at != module; at = &(*at)->next)
		;
	return at;
}

static bool has_module(CUcontext ctx, const void *module)
{
	return *find(ctx, (CUmodule)(uintptr_t)module);
}

static CUresult ctx_enter_module(CUcontext *ctx, CUmodule module)
{
	return ctx_enter_owner(ctx, has_module, module, CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuModuleUnload(CUmodule module)
{
	CUcontext ctx;
	CUresult r = ctx_enter_module(&ctx, module);

	if (r)
		return r;
	r = moment_wait(ctx, &ctx->submitted);
	if (!r) {
		*find(ctx, module) = module->next;
		release(ctx, module);
	}
	ctx_leave(ctx);
	return r;
}

void modules_free(CUcontext ctx)
{
	while (ctx->modules) {
		CUmodule m = ctx->modules;

		ctx->modules = m->next;
		release(ctx, m);
	}
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	const struct image_kernel *k = NULL;
	CUcontext ctx;
	CUresult r = ctx_enter_module(&ctx, module);

	if (r)
		return r;
	if (!function || !name || !*name) {
		r = CUDA_ERROR_INVALID_VALUE;
	} else {
		k = image_find_kernel(&module->image, name);
		r = k ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
	}
	if (k)
		*function = &module->functions[k - module->image.kernels];
	ctx_leave(ctx);
	return r;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule module)
{
	CUcontext ctx;
	CUresult r = ctx_enter_module(&ctx, module);

	if (r)
		return r;
	if (count)
		*count = module->image.nr_kernels;
	ctx_leave(ctx);
	return count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int n, CUmodule module)
{
	CUcontext ctx;
	unsigned int i;
	CUresult r = ctx_enter_module(&ctx, module);

	if (r)
		return r;
	for (i = 0; functions && i < n && i < module->image.nr_kernels; i++)
		functions[i] = &module->functions[i];
	ctx_leave(ctx);
	return functions ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name)
{
	const struct image_global *g = NULL;
	const struct device_memory *in;
	CUcontext ctx;
	CUresult r = ctx_enter_module(&ctx, module);

	if (r)
		return r;
	if (!name || !*name || (!ptr && !bytes)) {
		r = CUDA_ERROR_INVALID_VALUE;
	} else {
		g = image_find_global(&module->image, name);
		r = g ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
	}
	if (g && ptr) {
		in = g->space == IMAGE_CONST3 ? module->constants : module->data;
		*ptr = in ? in->va + g->offset : 0; /* no memory: all sections are empty */
	}
	if (g && bytes)
		*bytes = g->size;
	ctx_leave(ctx);
	return r;
}

/* the reference's index; negative: an error */
static int find_ref(CUmodule module, const char *name, bool surface)
{
	uint32_t i;

	if (!name)
		return -CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < module->image.nr_refs; i++)
		if (module->image.refs[i].surface == surface &&
		    !strcmp(module->image.refs[i].name, name))
			return i;
	return -CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetTexRef(CUtexref *ref, CUmodule module, const char *name)
{
	CUcontext ctx;
	CUresult r = ctx_enter_module(&ctx, module);
	int i;

	if (r)
		return r;
	i = ref ? find_ref(module, name, false) : -CUDA_ERROR_INVALID_VALUE;
	if (i >= 0)
		*ref = &module->texrefs[i];
	ctx_leave(ctx);
	return i < 0 ? (CUresult)-i : CUDA_SUCCESS;
}

CUresult cuModuleGetSurfRef(CUsurfref *ref, CUmodule module, const char *name)
{
	CUcontext ctx;
	CUresult r = ctx_enter_module(&ctx, module);
	int i;

	if (r)
		return r;
	i = ref ? find_ref(module, name, true) : -CUDA_ERROR_INVALID_VALUE;
	if (i >= 0)
		*ref = &module->surfrefs[i];
	ctx_leave(ctx);
	return i < 0 ? (CUresult)-i : CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = CU_MODULE_EAGER_LOADING;
	return CUDA_SUCCESS;
}
