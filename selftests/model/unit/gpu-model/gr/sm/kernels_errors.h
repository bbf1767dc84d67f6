/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How grids end: errors, resets, preemptions; their pace, bounds, and lack of memory. Included by
 * kernels_test.c.
 */
#ifndef KVGPU_SELFTESTS_SM_KERNELS_ERRORS_H
#define KVGPU_SELFTESTS_SM_KERNELS_ERRORS_H

#include <errno.h>

#include <gk110/mmu.h>

static enum sm_result store_at(struct rig *r, uint64_t va)
{
	struct rig_kernel k = kernel(r, "store_at");
	struct {
		uint64_t p;
		uint32_t v;
	} p = { va, 7 };

	return rig_launch(r, &k, one, one, 0, &p, 12);
}

static void an_unmapped_page_is_a_fault_of_the_l1(void **state)
{
	struct rig *r = *state;
	uint64_t va = rig_alloc(r, 3 * 4096);

	va = (va + 4095) & ~4095ull;
	ok(r, store_at(r, va));
	assert_int_equal(*(uint32_t *)rig_host(r, va), 7);
	rig_unmap(r, va);
	assert_int_equal(store_at(r, va), SM_FAULT);
	assert_int_equal(atomic_load(&r->g->gr->sm->l1[0].faults), 1);
	assert_int_equal(store_at(r, 0), SM_FAULT);
	assert_int_equal(store_at(r, 1ull << 40), SM_FAULT);
}

static void a_misaligned_store_traps(void **state)
{
	struct rig *r = *state;
	uint64_t va = rig_alloc(r, 64);

	assert_int_equal(store_at(r, va + 2), SM_TRAP);
	assert_int_equal(r->grid.trap.warp_esr, WARP_MISALIGNED_ADDR);
	assert_int_equal(r->grid.trap.global_esr, 0);
}

static void shared_memory_has_an_end(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "shared_at");
	struct {
		uint64_t out;
		uint32_t off;
	} p = { rig_alloc(r, 128), 63 };

	ok(r, rig_launch(r, &k, one, (struct rig_dim){ 32, 1, 1 }, 256, &p, 12));
	assert_int_equal(*(uint32_t *)rig_host(r, p.out), 5);
	p.off = 64;
	assert_int_equal(rig_launch(r, &k, one, (struct rig_dim){ 32, 1, 1 }, 256, &p, 12),
			 SM_TRAP);
	assert_int_equal(r->grid.trap.warp_esr, WARP_OOR_ADDR);
}

static void trap_stops_the_grid(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "trap_now");
	uint64_t out = rig_alloc(r, 16);
	uint32_t *w = rig_host(r, out);

	assert_int_equal(rig_launch(r, &k, one, one, 0, &out, 8), SM_TRAP);
	assert_int_equal(r->grid.trap.warp_esr, 0);
	assert_int_equal(r->grid.trap.global_esr, GLOBAL_BPT_INT);
	assert_int_equal(w[0], 1);
	assert_int_equal(w[2], 0);
	w[1] = 1;
	ok(r, rig_launch(r, &k, one, one, 0, &out, 8));
	assert_int_equal(w[2], 1);
}

struct resetter {
	struct rig *r;
	uint64_t start;
	atomic_bool returned;
	bool early;
};

/*
 * Resets the engine while the grid runs. The time is stopped and moves only by what the grid has
 * executed: wait for that, because before the grid has begun, a preemption would send it back.
 */
static void *reset_it(void *arg)
{
	struct resetter *s = arg;

	while (mono_ns() == s->start && !atomic_load(&s->returned))
		usleep(200);
	/* a preemption alone does not end the grid */
	atomic_store(&s->r->stop, true);
	usleep(20000);
	s->early = atomic_load(&s->returned);
	atomic_fetch_add(&s->r->g->gr->resets, 1);
	return NULL;
}

static void an_endless_kernel_ends_with_a_reset(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "endless");
	struct resetter s = { .r = r };
	uint64_t p = rig_alloc(r, 4);
	enum sm_result ret;
	pthread_t t;

	clock_stop();
	s.start = mono_ns();
	r->pacer.per_s = 1000000;
	assert_int_equal(pthread_create(&t, NULL, reset_it, &s), 0);
	ret = rig_launch(r, &k, (struct rig_dim){ 3, 1, 1 }, one, 0, &p, 8);
	atomic_store(&s.returned, true);
	pthread_join(t, NULL);
	clock_run();
	assert_int_equal(ret, SM_RESET);
	assert_false(s.early);
	r->pacer = (struct pacer){ 0 };
	atomic_store(&r->stop, false);
	*(uint32_t *)rig_host(r, p) = 0x600d;
	ok(r, rig_launch(r, &k, (struct rig_dim){ 3, 1, 1 }, one, 0, &p, 8));
}

static void preemption_is_at_cta_boundaries(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "atomics");
	struct {
		uint64_t w, q, f, out;
		uint32_t n;
	} p = { rig_alloc(r, 128), rig_alloc(r, 64), rig_alloc(r, 8), rig_alloc(r, 2 * N * 4), N };
	uint32_t *w = rig_host(r, p.w);
	enum sm_result ret = SM_AGAIN;

	atomic_store(&r->stop, true);
	assert_int_equal(rig_launch(r, &k, (struct rig_dim){ N / 256, 1, 1 },
				    (struct rig_dim){ 256, 1, 1 }, 0, &p, 36),
			 SM_AGAIN);
	assert_int_equal(r->grid.warps_done, 0);
	atomic_store(&r->stop, false);
	r->grid.warps_done = 3 * 8; /* as if three CTAs had been run already */
	ret = rig_launch(r, &k, (struct rig_dim){ N / 256, 1, 1 }, (struct rig_dim){ 256, 1, 1 }, 0,
			 &p, 36);
	ok(r, ret);
	assert_int_equal(w[0], N * (N - 1) / 2 - 768 * 767 / 2);
	r->grid.warps_done = 0;
}

static void a_paced_grid_takes_the_time_its_rate_asks(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "sgemm");
	struct {
		uint64_t a, b, c;
		uint32_t n;
	} p = { rig_alloc(r, 16384), rig_alloc(r, 16384), rig_alloc(r, 16384), 64 };
	uint64_t before = sm_instructions(r->g), count;
	uint64_t start;

	ok(r, rig_launch(r, &k, (struct rig_dim){ 4, 4, 1 }, (struct rig_dim){ 16, 16, 1 }, 0, &p,
			 28));
	count = sm_instructions(r->g) - before;
	r->pacer.per_s = count * 4;
	clock_stop();
	start = mono_ns();
	ok(r, rig_launch(r, &k, (struct rig_dim){ 4, 4, 1 }, (struct rig_dim){ 16, 16, 1 }, 0, &p,
			 28));
	/* a debt that is too short for a sleep may be left */
	assert_in_range(mono_ns() - start, 250000000 - 20000, 250000000);
	clock_run();
	assert_int_equal(sm_instructions(r->g) - before, 2 * count);
}

static void changed_code_is_executed_as_it_is_now(void **state)
{
	struct rig *r = *state;
	const uint64_t program[] = {
		0x64c03c00281c0002, /* MOV R0, c[0x0][0x140] */
		0x64c03c00289c0006, /* MOV R1, c[0x0][0x144] */
		0x740000091a1fc00a, /* MOV32I R2, 0x1234 */
		0xe4800000001c0008, /* ST.E [R0], R2 */
		0x18000000001c003c, /* EXIT */
	};
	struct rig_kernel k = rig_program(r, program, 5, 8);
	uint64_t out = rig_alloc(r, 16), *code = rig_host(r, k.code);
	uint32_t *w = rig_host(r, out);

	ok(r, rig_launch(r, &k, one, one, 0, &out, 8));
	assert_int_equal(*w, 0x1234);
	code[3] += 1ull << 23;
	ok(r, rig_launch(r, &k, one, one, 0, &out, 8));
	assert_int_equal(*w, 0x1235);
	code[5] = ~0ull;
	assert_int_equal(rig_launch(r, &k, one, one, 0, &out, 8), SM_TRAP);
	assert_int_equal(r->grid.trap.warp_esr, WARP_ILLEGAL_ENCODING);
}

static void registers_and_constants_have_bounds(void **state)
{
	struct rig *r = *state;
	/* MOV32I R40, 0x1234 */
	const uint64_t high[] = { 0x740000091a1fc002ull | 40ull << 2, 0x18000000001c003c };
	/* MOV R0, c[0x5][0x140] */
	const uint64_t bank[] = { 0x64c03c00281c0002ull | 5ull << 39, 0x18000000001c003c };
	struct rig_kernel k = rig_program(r, high, 2, 48);

	ok(r, rig_launch(r, &k, one, one, 0, NULL, 0));
	k.regs = 40;
	assert_int_equal(rig_launch(r, &k, one, one, 0, NULL, 0), SM_TRAP);
	assert_int_equal(r->grid.trap.warp_esr, WARP_OOR_REG);
	k = rig_program(r, bank, 2, 8);
	assert_int_equal(rig_launch(r, &k, one, one, 0, NULL, 0), SM_TRAP);
	assert_int_equal(r->grid.trap.warp_esr, WARP_INVALID_CONST_ADDR);
}

static void local_memory_must_fit_an_sm(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "store_at");
	struct {
		uint64_t p;
		uint32_t v;
	} p = { rig_alloc(r, 64), 7 };

	r->qmd.shader_local_memory_low_size = 64 * RIG_STACK;
	ok(r, rig_launch(r, &k, one, (struct rig_dim){ 32, 1, 1 }, 0, &p, 12));
	assert_int_equal(rig_launch(r, &k, one, (struct rig_dim){ 64, 1, 1 }, 0, &p, 12),
			 SM_NO_TEMP);
	r->qmd.shader_local_memory_low_size = RIG_STACK;
}

static unsigned int gcc_faults(const struct rig *r)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < GR_NR_GPC; i++)
		n += atomic_load(&r->g->gr->gcc[i].faults);
	return n;
}

static void unmapped_code_is_one_fault(void **state)
{
	const uint64_t exits[] = { 0x18000000001c003c };
	struct rig *r = *state;
	struct rig_kernel k;

	r->next = (r->next + 4095) & ~4095ull;
	k = rig_program(r, exits, 1, 8);
	ok(r, rig_launch(r, &k, one, one, 0, NULL, 0));
	rig_unmap(r, k.code);
	assert_int_equal(rig_launch(r, &k, one, one, 0, NULL, 0), SM_FAULT);
	assert_int_equal(gcc_faults(r), 1);
}

/* all allocations of this size fail; 0: none does */
static size_t no_block_of;
static atomic_uint sm_threads_allocated;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	if (size == ((sizeof(struct sm_thread) + 63) & ~(size_t)63))
		atomic_fetch_add(&sm_threads_allocated, 1);
	return no_block_of && size == no_block_of ? NULL : __real_aligned_alloc(alignment, size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return no_block_of && n * size == no_block_of ? NULL : __real_calloc(n, size);
}

static void no_memory_is_a_fault(void **state)
{
	const size_t sizes[] = { (sizeof(struct code_line) + 63) & ~(size_t)63, CBUF_PAGE };
	struct rig *r = *state;
	uint64_t va = rig_alloc(r, 64);

	for (unsigned int i = 0; i < 2; i++) {
		code_free(r->g->gr->sm);
		no_block_of = sizes[i];
		assert_int_equal(store_at(r, va), SM_FAULT);
		no_block_of = 0;
		assert_int_equal(gcc_faults(r), i + 1);
		assert_int_equal(*(uint32_t *)rig_host(r, va), 0);
	}
	ok(r, store_at(r, va));
	assert_int_equal(*(uint32_t *)rig_host(r, va), 7);
}

static atomic_bool no_threads;

int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return atomic_load(&no_threads) ? EAGAIN : __real_pthread_create(t, attr, fn, arg);
}

/* Grids end without helper threads, too. What was allocated for a helper serves the next try. */
static void helpers_may_be_missing(void **state)
{
	struct rig *r = *state;
	struct sm *sm = r->g->gr->sm;

	sm->nr_threads = 2;
	atomic_store(&sm_threads_allocated, 0);
	for (unsigned int i = 0; i < 3; i++) {
		atomic_store(&no_threads, i < 2);
		/* so many CTAs that wait take long enough for helpers to be woken */
		wait_for_each_other(r, 100);
		assert_int_equal(sm->nr_helpers, i == 2);
	}
	assert_int_equal(atomic_load(&sm_threads_allocated), 1);
}

#endif
