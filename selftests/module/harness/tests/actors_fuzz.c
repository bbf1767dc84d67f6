// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guests, VMMs and an admin that do anything at any time, on a chip that does what it likes. The
 * oracles are asked whenever something is freed, unpinned or unmapped, and about all mappings after
 * each step of a guest or VMM. Half of a guest's steps are deep_step(): tables in any memory,
 * contexts anywhere. In every other seed the second VMM has iommufd.
 * With "cut-off" the card is lost at a random moment of each run.
 *   actors_fuzz [FIRST_SEED [SEEDS [STEPS [cut-off]]]]
 */
#include "gk110/bar.h"
#include "gk110/falcon.h"
#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "gk110/pci.h"
#include "gk110/ram.h"
#include "selftests/module/harness/chip/state.h"
#include "selftests/module/harness/inside.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/world.h"

#include <linux/bitfield.h>

#define GUESTS 3
#define CHANS  20
#define SPACES 14 /* of deep_step(), with those of other steps */
#define RAM    0x100000ull
#define RANGES 4
#define VMAS   6

static const struct chip_manners wild = { .eager = true,
					  .load_ppm = 60000,
					  .look_ppm = 3000,
					  .late = 4 };
static const struct chip_manners faulty = { .eager = true,
					    .load_ppm = 60000,
					    .look_ppm = 3000,
					    .late = 4,
					    .fault_ppm = 50,
					    .hang_ppm = 3000 };
static struct mm_struct *mm[2];
static struct container *c[2];
static struct {
	u32 users;
	bool closing;
} gate[GUESTS];
static unsigned long vma[2][VMAS];
/* of each vGPU: mappings of the page of the MMU's registers, and of BAR1 from TABLES on; 0: none */
static unsigned long mmu[GUESTS], tables[GUESTS];
#define TABLES	    0x100000ull
#define TABLES_SIZE 0x400000ull
static u64 steps;
static u32 left;
static bool with_iommufd, with_cut_off;
static u64 done[32], loads, goldens;

/* VFIO's core lets no thread call a device that is being closed. */
static bool enter(u32 i)
{
	if (gate[i].closing || !world.vgpu[i].open)
		return false;
	gate[i].users++;
	return true;
}

static void leave(u32 i)
{
	gate[i].users--;
}

static void ask(void)
{
	world_asked[ASKED_CALL]++;
}

static bool enter_to_ask(u32 i)
{
	if (!enter(i))
		return false;
	ask();
	return true;
}

static bool another_step(void)
{
	if (!left)
		return false;
	left--;
	steps++;
	if (!harness_below(16))
		harness_sleep(harness_below(400000));
	return true;
}

/* ------------------------------------------------------------------ a guest */

static u64 any_ram(void)
{
	return RAM * (1 + harness_below(RANGES)) + harness_below(64) * 4096;
}

static void submit(struct world_vgpu *g)
{
	u64 list[24];
	u32 nr = harness_below(24), i;

	for (i = 0; i < nr; i++)
		list[i] = harness_below(4) ?
				  1 + harness_below(CHANS) :
				  RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, harness_below(4)) |
					  harness_below(6);
	g_list(g, list, nr);
}

/* clang-format off */
static void poke(struct world_vgpu *g)
{
	switch (harness_below(9)) {
	case 0: g_write(g, PFIFO_RUNLIST_BLOCK, harness_below(2)); break;
	case 1:
		g_write(g, PFIFO_USERD_BAR1, PFIFO_USERD_BAR1_VALID | harness_below(4) << 10);
		break;
	case 2: g_write(g, HOSTMEM_PRAMIN, harness_below(0x2100)); break;
	case 3:
		g_write(g, PMC_ENABLE,
			harness_below(2) ?
				~0u :
				~(u32)(harness_below(2) ? PMC_ENABLE_FIFO : PMC_ENABLE_GR));
		break;
	case 4: g_write(g, PFIFO_INTR_EN, harness_below(2) ? ~0u : 0); break;
	case 5:
		g_write(g, harness_below(2) ? HOSTMEM_BAR1 : HOSTMEM_BAR3,
			(harness_below(2) ? HOSTMEM_VIRTUAL : 0) |
				G_INST(harness_below(CHANS)) >> 12);
		break;
	case 6: g_write(g, harness_random() & 0xfffffc, harness_random()); break;
	case 7: g_read(g, harness_random() & 0xfffffc); break;
	default: g_write(g, FLUSH_L2_DIRTY, 1); break;
	}
}
/* clang-format on */

/* What a driver does: it maps two pages, binds channel @chan to the space, and submits a list. */
static void begin_channel(struct world_vgpu *g, u32 chan, u32 space)
{
	u64 list[CHANS];
	u32 i;

	for (i = 0; i < CHANS; i++)
		list[i] = 1 + i;
	g_map_sys(g, space, 16 + harness_below(40), any_ram());
	g_map_vram(g, space, 16 + harness_below(40), G_DATA);
	g_inst(g, chan, space, 0);
	g_bind(g, chan);
	g_list(g, list, CHANS);
	g_enable(g, chan, true);
}

/* ---------------------------- a guest that knows tables, instance blocks and contexts (S1, S3) */

/* A number for an aperture of system memory. */
static u64 system_memory(void)
{
	return 2 + harness_below(2);
}

static u64 big_table(u32 space)
{
	return G_PD(space) + 0x90000;
}

/* By a call, or by a page of BAR1 that is mapped, if that shows memory of the vGPU. */
static void store(struct world_vgpu *g, u64 at, u64 val)
{
	struct inside_part part = inside_part(g->v);
	u32 i = g - world.vgpu;
	unsigned long frame = 0;
	u64 to;

	if (tables[i] && at - TABLES < TABLES_SIZE && harness_below(2))
		frame = mm_touch(mm[i == 2], tables[i] + at - TABLES);
	/* the VMM may have mapped something else there */
	if (((u64)frame << PAGE_SHIFT) - BAR1_PHYS >= BAR1_SIZE)
		frame = 0;
	if (!frame ||
	    chip_show(1, ((u64)frame << PAGE_SHIFT) - BAR1_PHYS + (at & 0xfff), &to) !=
		    SHOWS_VRAM ||
	    to - part.at >= part.size) {
		g_store64(g, at, val);
		return;
	}
	memcpy(chip_vram(to), &val, sizeof(val));
	chip_wrote(to, sizeof(val));
	world_asked[ASKED_MEMORY]++;
}

static void invalidate(struct world_vgpu *g, u32 space)
{
	u32 i = g - world.vgpu;

	if (mmu[i] && harness_below(2))
		mm_touch(mm[i == 2], mmu[i]);
	else
		g_tlb(g, space);
}

/* Write a directory entry, with tables of any space or in system memory, and any size. */
static void write_pde(struct world_vgpu *g, u32 space)
{
	bool ram = !harness_below(8), big_ram = !harness_below(4);
	u64 at = ram ? any_ram() : G_TABLE(harness_below(SPACES));
	u64 big = big_ram ? any_ram() : big_table(harness_below(SPACES)), pde = 0;

	if (harness_below(6))
		pde |= FIELD_PREP(GMMU_PDE_SMALL_APERTURE,
				  ram || !harness_below(4) ? system_memory() : 1) |
		       FIELD_PREP(GMMU_PDE_SMALL_ADDR, at >> 12);
	if (!harness_below(2))
		pde |= FIELD_PREP(GMMU_PDE_BIG_APERTURE, harness_below(4) ? 1 : system_memory()) |
		       FIELD_PREP(GMMU_PDE_BIG_ADDR, big >> 12);
	if (!harness_below(4))
		pde |= FIELD_PREP(GMMU_PDE_SIZE, harness_below(4));
	store(g, G_PD(space) + 8 * (harness_below(4) ? 0 : harness_below(6)), pde);
}

/* Return an entry of a table that leads to @vram or to system memory. */
static u64 any_pte(u64 vram, u32 system_of_four)
{
	u64 pte = GMMU_PTE_VALID;

	if (harness_below(4) < system_of_four)
		pte |= FIELD_PREP(GMMU_PTE_APERTURE, system_memory()) |
		       FIELD_PREP(GMMU_PTE_ADDR, any_ram() >> 12);
	else
		pte |= FIELD_PREP(GMMU_PTE_ADDR, vram >> 12);
	if (!harness_below(7))
		pte |= GMMU_PTE_PRIV | FIELD_PREP(GMMU_PTE_KIND, harness_below(256));
	return pte;
}

static void write_big(struct world_vgpu *g, u32 space)
{
	u64 at = harness_below(4) ? G_DATA + harness_below(16) * 0x20000 :
				    harness_random() & 0x3ffe0000;
	u64 pte = any_pte(at, 1);

	if (!harness_below(4))
		pte &= ~GMMU_PTE_VALID;
	store(g, big_table(space) + 8 * harness_below(6), pte);
}

static void write_small(struct world_vgpu *g, u32 space)
{
	u64 at = harness_below(8) ? G_DATA + harness_below(64) * 4096 :
				    harness_random() & 0x3ffff000;

	store(g, G_TABLE(space) + 8 * harness_below(160), harness_below(5) ? any_pte(at, 2) : 0);
}

/* Write an entry into memory of VMM @p, which may be a table or a directory. */
static void write_in_ram(u32 p)
{
	u64 *ram = (u64 *)c[p]->ram, pte = harness_random();
	u64 at = RAM * harness_below(4) + harness_below(64) * 4096;

	if (harness_below(8))
		pte = GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_APERTURE, harness_below(4)) |
		      FIELD_PREP(GMMU_PTE_ADDR, any_ram() >> 12);
	ram[at / 8 + harness_below(harness_below(4) ? 64 : 512)] = pte;
}

/* Return an address for a context: near others, at the end of a table, or at the space's end. */
static u64 any_context(void)
{
	if (harness_below(3))
		return harness_below(12) * 0x8000ull;
	if (harness_below(4))
		return 0x7fe0000ull + harness_below(12) * 0x8000;
	return 0xfffef00000ull + harness_below(64) * 0x8000;
}

static void write_inst(struct world_vgpu *g, u32 chan, u32 space)
{
	u64 at = G_INST(chan);

	g_inst(g, chan, 0, harness_below(3) ? any_context() : 0);
	g_store32(g, at + GMMU_INST_PDB_LO,
		  harness_below(12) ? G_PD(space) : any_ram() | system_memory());
	g_store32(g, at + GMMU_INST_LIMIT_LO, harness_below(4) ? 0xfffff000 : harness_random());
	g_store32(g, at + GMMU_INST_LIMIT_HI, harness_below(2) ? 0xff : 0);
}

/* What a driver does to have the golden context written to its memory. */
static void save_golden(struct world_vgpu *g, u32 chan)
{
	g_write(g, GR_FECS + FALCON_CPUCTL, FALCON_CPUCTL_START);
	g_write(g, GR_FECS + FECS_WRCMD_DATA, FECS_CHAN_VALID | G_INST(chan) >> 12);
	g_write(g, GR_FECS + FECS_WRCMD_CMD, FECS_OS_CMD_SET_CHAN);
	g_write(g, GR_FECS + FECS_WRCMD_CMD, FECS_OS_CMD_SAVE);
	goldens++;
}

/* Write the header of a context in the guest's memory, which names a patch list. */
static void write_patches(struct world_vgpu *g)
{
	u64 at = G_DATA + harness_below(64) * 4096 + GR_CTX_OS_PATCH_COUNT;

	g_store32(g, at, harness_below(3) ? harness_below(80) : harness_random());
	g_store32(g, at + 4, harness_below(2) ? any_context() >> 8 : harness_random());
}

static void level_reset(struct world_vgpu *g)
{
	loff_t pos = ((loff_t)VFIO_PCI_CONFIG_REGION_INDEX << 40) + GK110_PCI_EXP_DEVCTL;
	u32 val = PCI_EXP_DEVCTL_BCR_FLR;

	ask();
	g->dev->ops->write(g->dev, (char *)&val, 4, &pos);
}

/* clang-format off */
static void deep_step(struct world_vgpu *g, u32 chan)
{
	u32 space = harness_below(SPACES), p = g == V(2);

	switch (harness_below(12)) {
	case 0: write_pde(g, space); break;
	case 1: case 2: write_big(g, space); break;
	case 3: case 4: write_small(g, space); break;
	case 5:
		write_in_ram(p);
		write_in_ram(p);
		break;
	case 6: case 7: write_inst(g, chan, space); break;
	case 8: save_golden(g, chan); break;
	case 9: write_patches(g); break;
	case 10:
		if (!harness_below(40))
			level_reset(g);
		break;
	default:
		write_pde(g, space);
		write_small(g, space);
		write_inst(g, chan, space);
		g_unbind(g, chan);
		g_bind(g, chan);
		g_enable(g, chan, true);
	}
}

/* ------------------------------------------------------------------ any step of a guest */

static void guest_step(struct world_vgpu *g, u32 what)
{
	u32 chan = 1 + harness_below(CHANS), space = harness_below(G_SPACES),
	    page = 16 + harness_below(40);

	switch (what) {
	case 0: case 1: g_map_sys(g, space, page, any_ram()); break;
	case 2:
		g_map_vram(g, space, page,
			   harness_below(8) ? G_DATA + harness_below(64) * 4096 :
					      harness_random() & 0x3ffff000);
		break;
	case 3: g_unmap(g, space, page); break;
	case 4: case 5: invalidate(g, space); break;
	case 6: g_inst(g, chan, space, harness_below(4) ? 0 : 0x400000); break;
	case 7: case 8: g_bind(g, chan); break;
	case 9: g_unbind(g, chan); break;
	case 10: case 11: g_enable(g, chan, true); break;
	case 12: g_enable(g, chan, false); break;
	case 13: submit(g); break;
	case 15: g_preempt(g, harness_below(2), harness_below(2) ? chan : harness_below(6)); break;
	case 16:
		g_ring(g, chan, harness_below(4));
		chip_nonstall();
		break;
	case 17:
		if (!harness_below(8))
			poke(g);
		break;
	default: begin_channel(g, chan, space); break;
	}
}
/* clang-format on */

static void guest(void *arg)
{
	u32 i = (struct world_vgpu *)arg - world.vgpu, what;

	while (another_step()) {
		if (!world.vgpu[i].open && inside_lost())
			break; /* it can't be opened any more */
		if (!enter(i)) { /* not a step: nothing was done */
			left++;
			steps--;
			harness_sleep(100000);
			continue;
		}
		what = harness_below(20);
		done[what]++;
		harness_trace("step %u of a guest", what);
		if (harness_below(2))
			deep_step(arg, 1 + harness_below(CHANS));
		else
			guest_step(arg, what);
		leave(i);
		world_check("after a guest's step");
	}
}

/* ---------------------------------------------------------------- a VMM: number 0 has two vGPUs */

static void reopen(u32 i, struct container *con)
{
	u32 s;

	if (gate[i].closing)
		return;
	gate[i].closing = true;
	while (gate[i].users)
		harness_sleep(10000);
	ask();
	if (V(i)->open)
		world_close(i);
	if (V(i)->made && !harness_below(3))
		world_unmake(i);
	if (!V(i)->made)
		world_make(i);
	if (V(i)->made && (i == 2 && with_iommufd ? world_open_ioas : world_open)(i, con))
		for (s = 0; s < G_SPACES; s++)
			g_space(V(i), s);
	gate[i].closing = false;
}

static void map_something(u32 p, u32 i)
{
	unsigned long *at = &vma[p][harness_below(VMAS)];
	u64 off = harness_below(3) ?
			  (u64)harness_below(2) << 40 | (u64)harness_below(0x1000) << 12 :
			  3ull << 40 | (u64)harness_below(1024) << 12;

	if (!mmu[i] && !harness_below(3) && enter_to_ask(i)) {
		mmu[i] = mm_map(mm[p], world.vgpu[i].dev, 0x100000, PAGE_SIZE);
		tables[i] = mm_map(mm[p], world.vgpu[i].dev, 1ull << 40 | TABLES, TABLES_SIZE);
		leave(i);
	}
	if (!*at && enter_to_ask(i)) {
		*at = mm_map(mm[p], world.vgpu[i].dev, off & ~0xffffull, 0x10000);
		leave(i);
	}
}

static void unmap_tables(u32 p)
{
	u32 i;

	for (i = 0; i < GUESTS; i++) {
		if (!mmu[i] || (i == 2) != p)
			continue;
		mm_unmap(mm[p], mmu[i], PAGE_SIZE);
		mm_unmap(mm[p], tables[i], TABLES_SIZE);
		mmu[i] = 0;
	}
}

/* Many forms of SET_IRQS. At times an eventfd is closed, opened or written to. */
static void interrupts(u32 i)
{
	static const u32 actions[] = { VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_ACTION_TRIGGER,
				       VFIO_IRQ_SET_ACTION_MASK, VFIO_IRQ_SET_ACTION_UNMASK };
	static const u32 types[] = { VFIO_IRQ_SET_DATA_EVENTFD, VFIO_IRQ_SET_DATA_EVENTFD,
				     VFIO_IRQ_SET_DATA_BOOL, VFIO_IRQ_SET_DATA_NONE };
	struct {
		struct vfio_irq_set hdr;
		s32 data;
	} s = { .hdr = { .argsz = sizeof(s),
			 .flags = actions[harness_below(4)] | types[harness_below(4)],
			 .index = harness_below(VFIO_PCI_NUM_IRQS),
			 .count = harness_below(8) ? 1 : harness_below(3) },
		.data = (s32)harness_below(10) - 1 };
	int fd = 3 + harness_below(6);

	switch (harness_below(8)) {
	case 0:
		ask();
		user_eventfd_close(fd);
		break;
	case 1:
		user_eventfd_open(fd);
		break;
	case 2:
		ask();
		user_eventfd_write(fd);
		break;
	default:
		if (enter_to_ask(i)) {
			world.vgpu[i].dev->ops->ioctl(world.vgpu[i].dev, VFIO_DEVICE_SET_IRQS,
						      (unsigned long)&s);
			leave(i);
		}
	}
}

static void unmap(u32 p, u64 at)
{
	ask();
	if (p && with_iommufd)
		ioas_unmap(c[p], at, RAM);
	else
		container_unmap(c[p], at, RAM);
}

/* Detach and attach vGPU @i of a VMM that has iommufd. Of another, change what it may lock. */
static void attach_or_limit(u32 p, u32 i)
{
	if (!p || !with_iommufd) {
		c[p]->lock_limit = harness_below(2) ? 0 : 1 + harness_below(60);
		return;
	}
	if (!enter(i))
		return;
	if (!harness_below(3)) {
		ask();
		ioas_detach(world.vgpu[i].dev);
		ioas_attach(world.vgpu[i].dev);
	}
	leave(i);
}

/* clang-format off */
static void vmm(void *arg)
{
	u32 p = (unsigned long)arg, i, k;
	u64 at;

	while (another_step()) {
		i = p ? 2 : harness_below(2);
		k = harness_below(VMAS);
		at = RAM * (1 + harness_below(RANGES));
		switch (harness_below(16)) {
		case 0: case 1: case 2: unmap(p, at); break;
		case 3: case 4: case 5:
			ask();
			container_map(c[p], at, RAM * harness_below(4), RAM);
			break;
		case 6: map_something(p, i); break;
		case 7: case 8: case 9:
			if (vma[p][k] && enter_to_ask(i)) {
				mm_touch(mm[p], vma[p][k] + harness_below(16) * 4096);
				leave(i);
			}
			break;
		case 10:
			if (vma[p][k]) {
				ask();
				vma[p][k] = mm_move(mm[p], vma[p][k], 0x10000) ?: vma[p][k];
			}
			break;
		case 11:
			if (enter_to_ask(i)) {
				world_reset(i);
				leave(i);
			}
			break;
		case 12:
			/* a mapping holds the device's file, which can't be closed then */
			if (!harness_below(4)) {
				for (k = 0; k < VMAS; k++) {
					if (!vma[p][k])
						continue;
					ask();
					mm_unmap(mm[p], vma[p][k], 0x10000);
					vma[p][k] = 0;
				}
				unmap_tables(p);
				reopen(i, c[p]);
			}
			break;
		case 13: attach_or_limit(p, i); break;
		default: interrupts(i);
		}
		world_check("after a VMM's step");
	}
}
/* clang-format on */

/* ------------------------------------------------------------------ the admin: knobs of a vGPU */

static void admin(void *arg)
{
	static const char *const values[] = { "0", "1", "100", "10000", "99999999999", "-1", "x" };
	struct attribute **attrs = the_mdev_driver->driver.dev_groups[0]->attrs;
	char buf[4096];
	u32 n = 0, i;

	while (attrs[n])
		n++;
	while (another_step()) {
		struct device_attribute *a =
			container_of(attrs[harness_below(n)], struct device_attribute, attr);

		i = harness_below(GUESTS);
		if (enter(i)) {
			const char *v = values[harness_below(ARRAY_SIZE(values))];

			if (a->store && !harness_below(strcmp(a->attr.name, "suspended") ? 3 : 60))
				a->store(&world.vgpu[i].mdev->dev, a, v, strlen(v));
			else
				a->show(&world.vgpu[i].mdev->dev, a, buf);
			leave(i);
		}
		harness_sleep(1000000);
	}
}

/* ------------------------------------------------------------------ the card fails */

/* A thread that waits for the card in vain declares it lost. @arg: the run's number of steps */
static void card_fails(void *arg)
{
	u32 at = harness_below((unsigned long)arg);

	while (left > at)
		harness_sleep(1 + harness_below(20000));
	inside_lose("of this test");
}

/* ------------------------------------------------------------------ a run */

static void run(u64 seed, u32 nr)
{
	struct policy p = { .seed = seed,
			    .switch_ppm = 5000 << seed % 4,
			    .delay_ppm = seed % 5 ? 0 : 20000,
			    .delay_ns = 4000000,
			    .nomem_ppm = seed % 3 ? 0 : 300 };
	struct chip_manners manners = seed % 4 == 3 ? faulty : wild;
	u32 i;

	manners.lone_ce = seed / 4 % 2;
	memset(gate, 0, sizeof(gate));
	memset(vma, 0, sizeof(vma));
	memset(mmu, 0, sizeof(mmu));
	with_iommufd = seed % 2;
	p.oversleep_ns = seed % 4 == 3 ? 50000 : 0;
	world_begin(seed, &manners);
	for (i = 0; i < 2; i++) {
		c[i] = container_new();
		mm[i] = c[i]->mm;
	}
	for (i = 0; i < GUESTS; i++)
		reopen(i, c[i == 2]);
	harness_policy(&p);
	left = nr;
	for (i = 0; i < GUESTS; i++) {
		actor_new("vCPU 0", mm[i == 2], false, guest, V(i));
		actor_new("vCPU 1", mm[i == 2], false, guest, V(i));
	}
	actor_new("VMM 0", mm[0], true, vmm, (void *)0);
	actor_new("VMM 1", mm[1], true, vmm, (void *)1);
	actor_new("admin", NULL, false, admin, NULL);
	if (with_cut_off) {
		config_ns = seed % 3 ? 0 : 20000;
		actor_new("card", NULL, true, card_fails, (void *)(unsigned long)nr);
	}
	actors_run();
	harness_policy(&(struct policy){});
	loads += chip.loads;
	world_check("at the end");
	for (i = 0; i < GUESTS; i++)
		if (world.vgpu[i].open)
			world_close(i);
	FAIL_ON(inside_lost() && !with_cut_off, "S5: the card was given up");
	world_end();
}

/*
 * To clear large shadow memory, address sanitizer would map it anew, and each page would come back
 * by a fault. With this it fills the memory with zeros. libharness.so comes too late for the
 * sanitizer, so that this is here.
 */
const char *__asan_default_options(void);
__attribute__((no_sanitize("address", "undefined"))) const char *__asan_default_options(void)
{
	return "clear_shadow_mmap_threshold=16777216";
}

int main(int argc, char **argv)
{
	u64 first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
	    nr = argc > 2 ? strtoull(argv[2], NULL, 0) : 20, i;
	u32 each = argc > 3 ? strtoul(argv[3], NULL, 0) : 400;

	with_cut_off = argc > 4 && !strcmp(argv[4], "cut-off");
	for (i = first; i < first + nr; i++)
		run(i, each);
	printf("%llu steps from seed %llu on; of guests by kind:", steps, first);
	for (i = 0; i < 20; i++)
		printf(" %llu", done[i]);
	printf("; %llu loads of channels, %u rounds of an unmap at most\n", loads,
	       container_most_rounds);
	printf("%llu looks at contexts, %llu golden contexts\n", oracle_contexts, goldens);
	printf("%llu hostile operations: %llu of registers, %llu of video memory, %llu doorbells, %llu calls of VMMs\n",
	       (world_asked[ASKED_REGISTER] + world_asked[ASKED_MEMORY] +
		world_asked[ASKED_DOORBELL] + world_asked[ASKED_CALL]),
	       world_asked[ASKED_REGISTER], world_asked[ASKED_MEMORY], world_asked[ASKED_DOORBELL],
	       world_asked[ASKED_CALL]);
	FAIL_ON(steps > 2000 && loads < steps / 100 && !with_cut_off, "next to nothing ran");
	FAIL_ON(steps > 2000 && !oracle_contexts, "no context was loaded");
	return 0;
}
