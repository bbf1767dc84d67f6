// SPDX-License-Identifier: GPL-2.0-only
/*
 * Want of memory, exhaustively. Things that a VMM, its guest or an admin asks for are done once to
 * count their allocations. Then they are done twice for each number of an allocation: once that
 * allocation fails alone, and once it and all after it fail. Whatever was answered, the oracles
 * hold. With memory at hand the same must succeed afterwards. Nothing may be left when all is
 * closed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "gk110/ram.h"
#include "mdev/internal.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define SETTLE_NS 30000000 /* in this time what was put off is done */
#define PAGES	  24 /* pages of the VMM's memory that a guest maps at once */
#define MAPPED	  0x4000

struct sequence {
	const char *name;
	/*
	 * open: before .run, vGPU 1 is open and runs a channel; only made: it is made and not open;
	 * neither: there is no vGPU 1
	 */
	bool open;
	bool made;
	bool (*run)(void); /* true: all of it was done */
	/* Undo .run, with memory at hand. NULL: the vGPU is closed and opened. */
	void (*back)(void);
};

static const struct chip_manners restless = { .eager = true,
					      .load_ppm = 30000,
					      .look_ppm = 10000,
					      .late = 3 };
static const struct policy quiet = { .seed = 7 };
static struct world_vgpu *const g = &world.vgpu[1];
static unsigned long mapped;

/* ------------------------------------------------------------------ life */

static bool make(void)
{
	return world_make(1);
}

static bool open_device(void)
{
	return world_open(1, setup_c);
}

static bool open_ioas(void)
{
	return world_open_ioas(1, setup_c);
}

static void close_device(void)
{
	if (g->open)
		world_close(1);
}

static void unmake(void)
{
	close_device();
	if (g->made)
		world_unmake(1);
}

static bool reset(void)
{
	return !g->dev->ops->ioctl(g->dev, VFIO_DEVICE_RESET, 0);
}

static bool close_and_open(void)
{
	if (g->open)
		world_close(1);
	return world_open(1, setup_c);
}

/* ------------------------- a guest. It is not told what its writes lack: its GPU does not do it */

/*
 * Return true when this vGPU's two pages and the other vGPU's two are pinned. Page 17 is in both.
 */
static bool runs(void)
{
	return g->open && container_pins(setup_c) >= 4;
}

static bool guest_begins(void)
{
	setup_run(1, 2, 1);
	return runs();
}

static void guest_begins_anew(void)
{
	world_reset(1);
	setup_run(1, 1, 0);
}

static void map_all(u32 space, u32 first)
{
	u32 i;

	for (i = 0; i < PAGES; i++)
		g_map_sys(g, space, first + 3 * i, SETUP_RAM + (i * 5 % 250) * 0x1000);
	g_tlb(g, space);
}

static void unmap_all(u32 space, u32 first)
{
	u32 i;

	for (i = 0; i < PAGES; i++)
		g_unmap(g, space, first + 3 * i);
	g_tlb(g, space);
}

static bool guest_maps(void)
{
	map_all(0, 40);
	unmap_all(0, 40);
	map_all(0, 300);
	return runs();
}

/*
 * Lists groups. One has a channel with a graphics context; a channel is unbound while it is listed.
 */
static bool guest_lists(void)
{
	u64 list[] = { RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, 2) | 1, 1, 2,
		       RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, 1) | 2, 3, 4 };
	u32 i;

	for (i = 2; i <= 4; i++) {
		g_space(g, i - 1);
		g_map_sys(g, i - 1, 16, SETUP_RAM + i * 0x2000);
		g_inst(g, i, i - 1, i == 3 ? 0x400000 : 0);
		g_bind(g, i);
	}
	g_list(g, list, ARRAY_SIZE(list));
	for (i = 2; i <= 4; i++)
		g_enable(g, i, true);
	g_preempt(g, true, 1);
	g_unbind(g, 2);
	g_inst(g, 2, 3, 0);
	g_bind(g, 2);
	return runs();
}

static bool guest_resets(void)
{
	g_write(g, PMC_ENABLE, ~(u32)PMC_ENABLE_FIFO);
	g_write(g, PMC_ENABLE, ~0u);
	setup_run(1, 1, 0);
	return runs();
}

/* ------------------------------------------------------------------ a VMM */

/* The VMM unmaps memory that both vGPUs have pinned, and maps it again. */
static bool vmm_takes_memory(void)
{
	u64 took = container_unmap(setup_c, SETUP_RAM, SETUP_RAM);

	if (container_pins(setup_c))
		harness_fail("S2: %u pages are pinned that were unmapped", container_pins(setup_c));
	if (container_map(setup_c, SETUP_RAM, 0, SETUP_RAM))
		harness_fail("S6: memory that was taken back can't be lent again");
	g_tlb(&world.vgpu[0], 0);
	g_tlb(g, 0);
	return took == SETUP_RAM && runs();
}

static int set_irqs(u32 index, u32 flags, s32 fd)
{
	struct {
		struct vfio_irq_set hdr;
		s32 data;
	} s = {
		.hdr = { .argsz = sizeof(s.hdr) + 4, .flags = flags, .index = index, .count = 1 },
		.data = fd,
	};

	return g->dev->ops->ioctl(g->dev, VFIO_DEVICE_SET_IRQS, (unsigned long)&s);
}

static bool vmm_sets_interrupts(void)
{
	static const struct {
		u32 index, flags;
		s32 fd;
	} calls[] = {
		{ VFIO_PCI_MSI_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
		  3 },
		{ VFIO_PCI_MSI_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
		  4 },
		{ VFIO_PCI_INTX_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
		  5 },
		{ VFIO_PCI_INTX_IRQ_INDEX, VFIO_IRQ_SET_ACTION_UNMASK | VFIO_IRQ_SET_DATA_EVENTFD,
		  6 },
		{ VFIO_PCI_REQ_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
		  7 },
		{ VFIO_PCI_INTX_IRQ_INDEX, VFIO_IRQ_SET_ACTION_MASK | VFIO_IRQ_SET_DATA_NONE, 0 },
		{ VFIO_PCI_INTX_IRQ_INDEX, VFIO_IRQ_SET_ACTION_UNMASK | VFIO_IRQ_SET_DATA_EVENTFD,
		  -1 },
		{ VFIO_PCI_INTX_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
		  -1 },
		{ VFIO_PCI_MSI_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
		  -1 },
		{ VFIO_PCI_REQ_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
		  -1 },
	};
	bool done = true;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		done &= !set_irqs(calls[i].index, calls[i].flags, calls[i].fd);
	return done;
}

static bool vmm_asks(void)
{
	struct vfio_device_info info = { .argsz = sizeof(info) };
	struct {
		struct vfio_region_info r;
		char caps[4096];
	} region;
	struct vfio_irq_info irq = { .argsz = sizeof(irq) };
	bool done = !g->dev->ops->ioctl(g->dev, VFIO_DEVICE_GET_INFO, (unsigned long)&info);
	u32 i;

	for (i = 0; i < VFIO_PCI_NUM_REGIONS; i++) {
		region.r = (struct vfio_region_info){ .argsz = sizeof(region), .index = i };
		done &= g->dev->ops->ioctl(g->dev, VFIO_DEVICE_GET_REGION_INFO,
					   (unsigned long)&region) != -ENOMEM;
	}
	return done & !g->dev->ops->ioctl(g->dev, VFIO_DEVICE_GET_IRQ_INFO, (unsigned long)&irq);
}

static bool vmm_maps_regions(void)
{
	static const u64 at[] = { 1ull << 40, 3ull << 40, 0x700000 };
	struct mm_struct *child;
	bool done = true;
	unsigned long p;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		mapped = p = mm_map(setup_mm, g->dev, at[i], MAPPED);
		if (!p) {
			done = false;
			continue;
		}
		for (k = 0; k < MAPPED; k += PAGE_SIZE)
			done &= mm_touch(setup_mm, p + k) != 0;
		mapped = mm_move(setup_mm, p, MAPPED) ?: p;
		mm_touch(setup_mm, mapped);
		child = mm_fork(setup_mm, i % 2);
		world_check("a VMM has forked");
		mm_unmap(setup_mm, mapped + PAGE_SIZE, PAGE_SIZE);
		mm_unmap(setup_mm, mapped, MAPPED);
		mm_free(child);
		mapped = 0;
	}
	return done;
}

/* ------------------------------------------------------------------ an admin */

static bool admin_turns_knobs(void)
{
	static const char *const values[] = { "1", "0" };
	struct attribute **a;
	char buf[PAGE_SIZE];
	bool done = true;
	u32 i;

	for (a = kvgpu_vgpu_groups[0]->attrs; *a; a++) {
		struct device_attribute *d = container_of(*a, struct device_attribute, attr);

		done &= !d->show || d->show(&g->mdev->dev, d, buf) != -ENOMEM;
		for (i = 0; d->store && i < ARRAY_SIZE(values); i++)
			done &= d->store(&g->mdev->dev, d, values[i], 1) != -ENOMEM;
	}
	return done;
}

static void knobs_back(void)
{
	unmake();
	if (!world_make(1) || !world_open(1, setup_c))
		harness_fail("S6: a vGPU can't be made again");
	setup_run(1, 1, 0);
}

static bool admin_binds(void)
{
	int ret;

	pool_watch(false);
	the_pci_driver->remove(&world.pdev);
	ret = the_pci_driver->probe(&world.pdev, the_pci_driver->id_table);
	if (!ret) {
		world.gpu = pci_get_drvdata(&world.pdev);
		pool_watch(true);
	}
	return !ret;
}

/* ------------------------------------------------------------------ */

static const struct sequence sequences[] = {
	{ "a vGPU is made", false, false, make, unmake },
	{ "it is opened, by a container", false, true, open_device, close_device },
	{ "it is opened and attached, by iommufd", false, true, open_ioas, close_device },
	{ "it is closed and opened", true, true, close_and_open, NULL },
	{ "VFIO_DEVICE_RESET", true, true, reset, NULL },
	{ "VFIO_DEVICE_SET_IRQS", true, true, vmm_sets_interrupts, NULL },
	{ "what a VMM asks", true, true, vmm_asks, NULL },
	{ "regions are mapped", true, true, vmm_maps_regions, NULL },
	{ "memory is taken and lent", true, true, vmm_takes_memory, guest_begins_anew },
	{ "a guest begins a channel", true, true, guest_begins, guest_begins_anew },
	{ "a guest maps", true, true, guest_maps, guest_begins_anew },
	{ "a guest lists groups", true, true, guest_lists, guest_begins_anew },
	{ "a guest resets its channels", true, true, guest_resets, guest_begins_anew },
	{ "an admin turns knobs", true, true, admin_turns_knobs, knobs_back },
};

static void put_back(const struct sequence *s)
{
	if (s->back) {
		s->back();
	} else {
		close_device();
		if (!world_open(1, setup_c))
			harness_fail("S6: %s: it can't be opened again", s->name);
		setup_run(1, 1, 0);
	}
}

/*
 * Do @s once while allocation @nth fails, or with @rest all from it on; 0: none fails. Then do it
 * again with memory at hand. Return the number of allocations of the first time.
 */
static u64 run(const struct sequence *s, u64 nth, bool rest)
{
	struct policy p = quiet;
	u64 allocs;
	bool done;

	setup_begin(&quiet, &restless, s->open ? 2 : 1);
	if (s->made && !s->open && !world_make(1))
		harness_fail("no vGPU");
	p.nomem_nth = nth;
	p.nomem_rest = rest;
	harness_policy(&p);
	done = s->run();
	harness_sleep(SETTLE_NS);
	allocs = harness_allocs();
	harness_policy(&quiet);
	if (!nth && !done)
		harness_fail("S6: %s: not done with memory at hand", s->name);
	world_check(s->name);
	put_back(s);
	world_check("it is as before");
	if (!s->run())
		harness_fail("S6: %s: not done after allocation %llu had failed", s->name,
			     (unsigned long long)nth);
	harness_sleep(SETTLE_NS);
	world_check("it was done");
	if (world.gpu->chip->lost)
		harness_fail("S5: the card was given up");
	setup_end();
	return allocs;
}

static void each_fails_once(void **state)
{
	u64 total = 0, nth, n;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sequences); i++) {
		n = run(&sequences[i], 0, false);
		for (nth = 1; nth <= n; nth++) {
			n = max(n, run(&sequences[i], nth, false));
			run(&sequences[i], nth, true);
		}
		printf("# %s: each of %llu allocations failed, alone and with all after it\n",
		       sequences[i].name, (unsigned long long)n);
		total += n;
	}
	/* a stand-in in which nothing fails would show nothing */
	assert_in_range(total, 200, 1000000);
}

/*
 * When a vGPU is removed while there is no memory, it gives back the chip's groups. setup_end()
 * fails if one is left.
 */
static void groups_are_given_back(void **state)
{
	struct policy p = quiet;

	setup_begin(&quiet, &restless, 2);
	assert_true(guest_lists());
	assert_true(g->v->m->nr_tsgs);
	p.nomem_nth = 1;
	p.nomem_rest = true;
	harness_policy(&p);
	unmake();
	harness_policy(&quiet);
	setup_end();
}

/* A card that is not taken for want of memory can be taken later. */
static void a_card_is_taken(void **state)
{
	struct policy p = quiet;
	u64 nth, n = 1;

	for (nth = 0; nth <= n; nth++) {
		world_begin(&quiet, &restless);
		p.nomem_nth = nth;
		harness_policy(&p);
		if (!admin_binds()) {
			harness_policy(&quiet);
			assert_true(nth);
			assert_int_equal(
				the_pci_driver->probe(&world.pdev, the_pci_driver->id_table), 0);
			world.gpu = pci_get_drvdata(&world.pdev);
			pool_watch(true);
		}
		n = nth ? n : harness_allocs();
		harness_policy(&quiet);
		assert_non_null(world_make(0));
		world_end();
	}
	assert_in_range(n, 10, 100000);
	printf("# a card is taken: each of %llu allocations failed once\n", (unsigned long long)n);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_given_back),
		cmocka_unit_test(each_fails_once),
		cmocka_unit_test(a_card_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
