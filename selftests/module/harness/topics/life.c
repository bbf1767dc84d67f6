// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cards and vGPUs come and go: what is asked for while memory lacks, at each allocation (S6), what
 * the next user finds (S4), how many vGPUs there are, cards as one meets them, cards that are lost
 * (S2), and the card's clock (S5).
 */
#include <linux/pci_regs.h>

#include "gk110/bar.h"
#include "gk110/devinit.h"
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/pci.h"
#include "gk110/pfb.h"
#include "gk110/pfuse.h"
#include "gk110/pmc.h"
#include "gk110/ppci.h"
#include "gk110/ptimer.h"
#include "gk110/ptop.h"
#include "gk110/ram.h"
#include "selftests/module/harness/steps.h"
#include "selftests/module/unit/hw/postrom.h"

#include <linux/bitfield.h>

#define SECRET	0x5ec4e7
#define LETS_IN 13 /* make check lets one in so many allocations fail */
#define MUST(x) FAIL_ON(!(x), "S6: %s: not so: %s", scene->name, #x)

static const struct policy quiet = { .seed = 7 };
static const struct chip_manners calm = { .eager = true, .late = 1 };

static void works(void)
{
	MUST(world_make(0));
	setup_open(0);
	MUST(container_pins(setup_c) == 2 && !admin_read(CARD, "lost"));
	world_close(0);
	world_unmake(0);
}

/* ------------------------------------------------------------------ want of memory */

static void put_away(void)
{
	if (V(1)->open)
		world_close(1);
	if (V(1)->made)
		world_unmake(1);
}

/* Ask for .arg while no allocation fails, each one alone, it and all after it; then with memory. */
static void want_of_memory(const struct role *r)
{
	bool (*ask)(void) = (void *)r->arg, done;
	struct policy p = quiet;
	u64 n = 0, i;

	for (i = 0; i <= 2 * n + 1; i += harness_all() || i < 2 ? 1 : LETS_IN) {
		p.nomem_nth = i / 2;
		p.nomem_rest = i % 2;
		harness_policy(&p);
		done = ask();
		n = max(n, harness_allocs);
		harness_policy(&quiet);
		if (world.gpu)
			world_check(scene->name);
		put_away();
		FAIL_ON((i < 2 && !done) || !ask(), "S6: not done after allocation %llu of %llu",
			i / 2, n);
		put_away();
	}
	scene_count[0] = n;
}

static bool is_probed(void)
{
	if (world.gpu)
		world_unprobe();
	return !world_probe();
}

/* Groups, one with a graphics context. A channel is unbound while it is listed. */
static void list_groups(void)
{
	u32 i;

	for (i = 2; i <= 3; i++) {
		g_space(V(1), i - 1);
		g_map_sys(V(1), i - 1, 16, SETUP_RAM + i * 0x2000);
		g_inst(V(1), i, i - 1, i == 3 ? 0x400000 : 0);
		g_bind(V(1), i);
	}
	LIST(V(1), TSG(1, 2), 1, 2, TSG(2, 1), 3);
	g_enable(V(1), 2, true);
	g_enable(V(1), 3, true);
	g_preempt(V(1), true, 1);
	g_unbind(V(1), 2);
	g_bind(V(1), 2);
}

static void map_pages(void)
{
	u32 i, k;

	for (i = 0; i < 3; i++) {
		for (k = 0; k < 12; k++)
			if (i == 1)
				g_unmap(V(1), 0, 40 + 3 * k);
			else
				g_map_sys(V(1), 0, 40 + 3 * k + 130 * i, SETUP_RAM + k * 0x5000);
		g_tlb(V(1), 0);
	}
}

/* CPUs of the VMM and of a child see a part of a region, which moves. */
static bool map_region(u64 at)
{
	unsigned long p = mm_map(setup_mm, V(1)->dev, at, 2 * PAGE_SIZE);
	struct mm_struct *child;
	bool done;

	if (!p)
		return false;
	done = mm_touch(setup_mm, p) && mm_touch(setup_mm, p + PAGE_SIZE);
	p = mm_move(setup_mm, p, 2 * PAGE_SIZE) ?: p;
	mm_touch(setup_mm, p);
	child = mm_fork(setup_mm, at & 1ull << 40);
	world_check("a VMM has forked");
	mm_unmap(setup_mm, p + PAGE_SIZE, PAGE_SIZE);
	mm_unmap(setup_mm, p, 2 * PAGE_SIZE);
	mm_free(child);
	return done;
}

/*
 * What a vGPU does until it is removed. .arg[0] of the scene: it is opened by iommufd. A guest is
 * not told what its writes lack: its GPU does not do it.
 */
static bool a_life(void)
{
	bool done;

	if (!world_make(1) || !(scene->arg[0] ? world_open_ioas : world_open)(1, setup_c))
		return false;
	setup_run(1, 1, 0);
	map_pages();
	list_groups();
	done = map_region(1ull << 40) & map_region(3ull << 40) & map_region(PRAMIN_BASE);
	MUST(container_unmap(setup_c, SETUP_RAM, SETUP_RAM) == SETUP_RAM);
	MUST(!container_pins(setup_c) && !container_map(setup_c, SETUP_RAM, 0, SETUP_RAM));
	g_tlb(V(0), 0);
	g_tlb(V(1), 0);
	g_write(V(1), PMC_ENABLE, ~(u32)PMC_ENABLE_FIFO);
	g_write(V(1), PMC_ENABLE, ~0u);
	done &= !V(1)->dev->ops->ioctl(V(1)->dev, VFIO_DEVICE_RESET, 0);
	setup_run(1, 1, 0);
	list_groups();
	harness_sleep(30 * MS); /* what was put off is done */
	done &= container_pins(setup_c) > 4;
	put_away();
	return done;
}

/* ------------------------------------------------------------------ a vGPU's life */

static void begin_anew(u32 i, bool reset)
{
	if (reset) {
		world_reset(i);
		return;
	}
	world_close(i);
	MUST(world_open(i, setup_c));
}

/* Have BAR1 show a space in which nothing is mapped. A CPU can store there all the same. */
static void show_nothing(void)
{
	g_inst(V(0), 9, 1, 0);
	g_space(V(0), 1);
	g_write(V(0), HOSTMEM_BAR1, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
}

/* After a reset (.arg) only video memory is as it was; the next user finds nothing at all. */
static void begins_anew(const struct role *r)
{
	static u8 start[3][256 << 10];
	struct admin_place p = admin_place(0);
	u32 i, power_on = g_read(V(1), PFIFO_INTR_EN);
	u64 size;
	u8 *own;

	begin_anew(0, false);
	for (i = 0; i < 3; i++) {
		own = world_own(0, i, &size);
		MUST(size <= sizeof(start[i]));
		memcpy(start[i], own, size);
		memset(own, 0x5e, size);
	}
	setup_run(0, 1, 0);
	g_store32(V(0), G_DATA, SECRET);
	show_nothing();
	g_store32(V(0), 0x7010, SECRET);
	MUST(g_load32(V(0), 0x7010) == SECRET && container_pins(setup_c) == 4);
	g_write(V(0), PFIFO_INTR_EN, ~0u);
	begin_anew(0, r->arg);
	FAIL_ON(admin_chan(0, 1).bound || container_pins(setup_c) != 2 ||
			g_read(V(0), PFIFO_INTR_EN) != power_on,
		"S2: a vGPU that begins anew has channels, pins or settings");
	for (i = 0; i < 3; i++) {
		own = world_own(0, i, &size);
		FAIL_ON(memcmp(own, start[i], size),
			"S4: memory that stands for registers, %u, is not new", i);
	}
	FAIL_ON(g_load32(V(0), G_DATA) != (r->arg ? SECRET : 0) ||
			(!r->arg && !chip_is_zero(p.part, 512 << 20)),
		"S4: the next user finds video memory of the last one's");
	show_nothing();
	FAIL_ON(g_load32(V(0), 0x7010) && !r->arg,
		"S4: the next user finds what the last one stored in BAR1");
	begin_anew(0, r->arg);
	setup_run(0, 1, 0);
	MUST(container_pins(setup_c) == 4);
}

static u32 told(u32 inject)
{
	u32 e, all = g_read(V(0), PFIFO_MMU_FAULT_SOURCE) | g_read(V(0), PFIFO_INTR);

	for (e = 0; e < 4; e++) {
		all |= g_read(V(0), PFIFO_ENGINE_STATUS(e));
		/* nor is a channel that hung told as one that faults */
		g_write(V(0), PFIFO_FAULT_INJECT(e), inject);
	}
	return all | g_read(V(0), PFIFO_MMU_FAULT_SOURCE);
}

/* The guest was told of a hang, and a fault and an interrupt are on their way. */
static void no_event_of_before(const struct role *r)
{
	u32 i;

	for (i = 0; i < 24; i++) {
		if (i < 4) {
			UNTIL(chip_hang(id_of(0, 1), false));
			g_preempt(V(0), false, 1);
			harness_sleep(10 * MS);
			MUST(told(0));
		}
		UNTIL(chip_bar_fault(GMMU_UNIT_BAR1, admin_place(0).bar1 + 0x1000));
		chip_nonstall();
		harness_sleep(i * US);
		begin_anew(0, i % 2);
		FAIL_ON(told(PFIFO_FAULT_INJECT_VALID | 3),
			"S4: a guest is told of an event from before");
		setup_run(0, 1, 0);
	}
}

/* vGPU 1 does not leave the chip, and the list of vGPU 0 is there: that one is removed. */
static void next_owner_is_removed(const struct role *r)
{
	u16 theirs = id_of(1, 1), ours = id_of(0, 1);

	UNTIL_IN(5000 * MS, (10 + r->arg) * US, chip_hang(theirs, false));
	UNTIL(chip.list[0].nr == 1 && (chip.list[0].entry[0] & 0xfff) == ours);
	harness_sleep(r->arg * 3 * MS);
	world_close(0);
	world_unmake(0);
	scene_count[0] = chip_is_stuck();
	UNTIL(!chip_is_stuck());
	harness_sleep(20 * MS);
	world_check("the next owner of the chip was removed");
}

/* A thread of the VMM closes the device's file, and gives the last reference back. */
static void gives_back(const struct role *r)
{
	while (V(0)->made)
		harness_sleep(US);
	vfio_put_device(V(0)->dev);
}

static void takes_the_card(const struct role *r)
{
	world_close(0);
	V(0)->dev->refs++;
	V(0)->made = false;
	mdev_remove(V(0)->mdev);
	pool_watched = false;
	card_remove(&world.pdev);
	MUST(!world_probe());
}

/* ------------------------------------------------------------------ types */

static const char *const types[] = { "512m", "1g", "2g" };
#define NR_TYPES ARRAY_SIZE(types)

static u32 room(u32 t)
{
	return the_mdev_driver->get_available(the_parent->types[t]);
}

static u32 told_most(u32 t)
{
	char buf[PAGE_SIZE], *at;

	the_mdev_driver->show_description(the_parent->types[t], buf);
	at = strstr(buf, "max_instance=");
	return at ? strtoul(at + 13, NULL, 10) : 0;
}

/*
 * Bar 0 stands for video memory. The host has both ends of BAR1: the doorbells, which it has twice,
 * and the pool.
 */
static void parts_are_apart(const u32 *type)
{
	struct {
		u32 bar;
		u64 at, mib;
	} part[4 * WORLD_VGPUS + 2] = {
		{ 1, 0, 4 },
		{ 1, BAR1_SIZE - (96 << 20), 96 },
	};
	struct admin_place p;
	u32 n = 2, i, k;

	for (i = 0; i < WORLD_VGPUS; i++) {
		if (!world.vgpu[i].made)
			continue;
		p = admin_place(i);
		part[n++] = (typeof(*part)){ 0, p.part, 512 << type[i] };
		part[n++] = (typeof(*part)){ 1, p.bar1, 16 << type[i] };
		part[n++] = (typeof(*part)){ 1, p.pramin, 1 };
		part[n++] = (typeof(*part)){ 3, p.bar3, type[i] == 2 ? 8 : 4 };
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			FAIL_ON(part[i].bar == part[k].bar &&
					part[i].at < part[k].at + (part[k].mib << 20) &&
					part[k].at < part[i].at + (part[i].mib << 20),
				"S1: parts of BAR%u overlap at 0x%llx", part[i].bar, part[i].at);
}

/* As many vGPUs of a type as is told, then any types in any order. All room is given back. */
static void fill(const struct role *r)
{
	u32 type[WORLD_VGPUS] = {}, empty[NR_TYPES], t, i, k;

	for (t = 0; t < NR_TYPES; t++) { /* the card is too small for a 4g */
		empty[t] = room(t);
		MUST(empty[t] && empty[t] <= WORLD_VGPUS && empty[t] == told_most(t));
		for (i = 0; i < empty[t]; i++) {
			MUST(room(t) == empty[t] - i);
			type[i] = t;
			MUST(world_make_type(i, types[t]));
		}
		parts_are_apart(type);
		MUST(!room(t) && told_most(t) == empty[t] && !mdev_create(types[t]));
		while (i--)
			world_unmake(i);
		MUST(room(t) == empty[t]);
	}
	for (k = 0; k < 150; k++) {
		i = harness_below(WORLD_VGPUS);
		type[i] = harness_below(NR_TYPES);
		if (world.vgpu[i].made)
			world_unmake(i);
		else
			MUST(!!room(type[i]) == !!world_make_type(i, types[type[i]]));
		parts_are_apart(type);
	}
	for (i = 0; i < WORLD_VGPUS; i++)
		if (world.vgpu[i].made)
			world_unmake(i);
	for (t = 0; t < NR_TYPES; t++)
		MUST(room(t) == empty[t]);
}

/* ------------------------------------------------------------------ configuration space */

static ssize_t config(u32 off, void *buf, size_t n, bool write)
{
	loff_t pos = ((loff_t)VFIO_PCI_CONFIG_REGION_INDEX << 40) + off;

	return write ? V(0)->dev->ops->write(V(0)->dev, buf, n, &pos) :
		       V(0)->dev->ops->read(V(0)->dev, buf, n, &pos);
}

static u32 get(u32 off)
{
	u32 val = 0;

	MUST(config(off, &val, 4, false) == 4);
	return val;
}

static void put(u32 off, u32 val)
{
	MUST(config(off, &val, 4, true) == 4);
}

static void configures(const struct role *r)
{
	static u32 reset[64], ones[64];
	u8 buf[16] = { 0x5a };
	u32 i;

	for (i = 0; i < 64; i++)
		reset[i] = get(4 * i);
	put(GK110_PCI_BAR1_HI, 0x11223344);
	MUST(config(GK110_PCI_BAR1_HI + 2, buf, 1, true) == 1);
	MUST(get(GK110_PCI_BAR1_HI) == 0x115a3344);
	MUST(config(4096, buf, 4, false) == -EINVAL && config(4096, buf, 4, true) == -EINVAL);
	MUST(config(4088, buf, 16, false) == 8);
	for (i = 0; i < 64; i++)
		if (4 * i != GK110_PCI_EXP_DEVCTL) /* a one there begins a reset */
			put(4 * i, ~0u);
	for (i = 0; i < 64; i++) {
		ones[i] = get(4 * i);
		put(4 * i, 0);
		/* each bit keeps what is written, or is what it was at reset */
		FAIL_ON((get(4 * i) & ~ones[i]) | (reset[i] & ~ones[i]) |
				((reset[i] ^ get(4 * i)) & ~(ones[i] ^ get(4 * i)) & ~reset[i]),
			"S3: word 0x%x of the configuration: %08x", 4 * i, get(4 * i));
	}
	put(GK110_PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
	for (i = 0; i < 64; i++)
		FAIL_ON(get(4 * i) != reset[i], "S4: word 0x%x is %08x after a reset", 4 * i,
			get(4 * i));
	MUST(!container_pins(setup_c) && !admin_chan(0, 1).bound);
	setup_run(0, 1, 0);
	MUST(container_pins(setup_c) == 2);
}

/* ------------------------------------------------------------------ cards as one meets them */

#define R32(v)	  POSTROM_32(v)
#define UNITS	  INIT_ZM_REG, R32(PMC_ENABLE), R32(0xe011212c)
#define MEMORY_ON INIT_NV_REG, R32(PBFB_BCAST + 0x1234), R32(0), R32(0x5a)
#define DONE	  INIT_OR_REG, R32(PTOP_DEVINIT), R32(PTOP_DEVINIT_DONE), INIT_DONE

struct card {
	u8 script[64]; /* the card is not POSTed, and this is its ROM's; its first byte 0: POSTed */
	u32 put[5][2], is[7][2]; /* registers before, and after the probe */
	u64 memory_end, mib; /* mib: what the module finds */
	int want; /* what the probe returns */
	void (*then)(void);
};

static void new_card(void)
{
	chip_end();
	chip_begin(&calm);
	chip.nr_written = 0;
}

static void meets(const struct role *r)
{
	const struct card *c = (const struct card *)r->arg;
	static struct postrom rom;
	u32 i;
	int ret;

	world_unprobe();
	new_card();
	if (c->script[0]) {
		postrom_begin(&rom);
		postrom_script(&rom, 0, postrom_put(&rom, c->script, sizeof(c->script)));
		chip_unpost(rom.rom, sizeof(rom.rom));
	}
	for (i = 0; i < ARRAY_SIZE(c->put) && (c->put[i][0] | c->put[i][1]); i++)
		chip.reg[c->put[i][0] / 4] = c->put[i][1];
	if (c->memory_end)
		chip.memory_end = c->memory_end;
	ret = world_probe();
	FAIL_ON(ret != c->want, "S6: the probe returns %d, not %d", ret, c->want);
	for (i = 0; i < ARRAY_SIZE(c->is) && c->is[i][0]; i++)
		FAIL_ON(chip.reg[c->is[i][0] / 4] != c->is[i][1], "register 0x%x is 0x%x",
			c->is[i][0], chip.reg[c->is[i][0] / 4]);
	FAIL_ON(c->mib && admin_word(CARD, "card", "vram ") != c->mib, "memory has %llu MiB",
		admin_word(CARD, "card", "vram "));
	if (c->then)
		c->then();
	/* a probe that failed left nothing behind: the next card is taken */
	if (world.gpu)
		world_unprobe();
	new_card();
	MUST(!world_probe());
	works();
}

/* Before the scripts only the interrupts' masks and the ROM's window are written. */
static void was_posted_first(void)
{
	u32 i, val;

	for (i = 0; chip.written[i].reg != PMC_ENABLE; i++)
		MUST(chip.written[i].reg < PMC_BASE + PMC_SIZE ||
		     chip.written[i].reg == PPCI_BASE + GK110_PCI_ROM_SHADOW);
	MUST(chip.written[i].val == 0xe011212d);
	MUST(chip.written[i + 1].reg == PBFB_BCAST + 0x1234);
	MUST(chip.written[i + 2].reg == PTOP_DEVINIT && chip.written[i + 3].reg == PMC_ENABLE);
	works();
	world_unprobe();
	chip.nr_written = 0;
	MUST(!world_probe() && !chip_written(PBFB_BCAST + 0x1234, &val));
}

/* A reset from outside cuts the card off, and it is POSTed again. */
static void is_reset_from_outside(void)
{
	the_pci_driver->err_handler->reset_prepare(&world.pdev);
	MUST(admin_read(CARD, "lost") && chip.no_master);
	chip.reg[PTOP_DEVINIT / 4] = 0;
	world_unprobe();
	MUST(!world_probe() && !admin_read(CARD, "lost"));
	MUST(chip.reg[PTOP_DEVINIT / 4] == PTOP_DEVINIT_DONE);
}

/* ------------------------------------------------------------------ a card that was lost */

#define UNITS_ON \
	(PMC_ENABLE_FIFO | PMC_ENABLE_GR | PMC_ENABLE_CE0 | PMC_ENABLE_CE1 | PMC_ENABLE_CE2)

static bool was_off, fifo_off;
static u32 fifo_resets;

/* The chip's copies go on as soon as it can reach memory. */
static void goes_on(u32 reg, u32 val)
{
	if (!chip.no_master)
		chip.copy_held = false;
}

/* Engines are reset before the card reaches memory, and what is set up since then once only. */
static void must_be_off_first(u32 reg, u32 val)
{
	FAIL_ON(!chip.no_master && !was_off,
		"S2: the card reaches memory before its engines were reset");
	if (reg != PMC_ENABLE)
		return;
	was_off |= !(val & UNITS_ON);
	fifo_resets += !(val & PMC_ENABLE_FIFO) && !fifo_off;
	fifo_off = !(val & PMC_ENABLE_FIFO);
}

enum { AS_LEFT, MASTER_FIRST, MASTER_ON, UNITS_STAY };

/* The copy for a channel that a guest binds hangs, and the card is taken from the module. */
static void lose_the_card(u32 how)
{
	chip.copy_held = how != MASTER_ON;
	g_inst(V(0), 2, 0, 0);
	g_bind(V(0), 2);
	MUST(admin_read(CARD, "lost") == (how != MASTER_ON));
	world_close(0);
	world_unmake(0);
	chip.copy_stays = how != MASTER_FIRST;
	world_unprobe();
	chip.copy_stays = false;
	MUST(chip.no_master);
}

static void comes_back(int want, void (*before_write)(u32 reg, u32 val))
{
	chip_before_write = before_write;
	MUST(world_probe() == want);
	chip_before_write = NULL;
	FAIL_ON(want && world.pdev.master, "S2: a card that was not taken reaches memory");
}

static void is_taken_again(const struct role *r)
{
	u32 i;

	lose_the_card(r->arg);
	if (r->arg == MASTER_FIRST) { /* it turns bus mastering on first */
		chip.no_master = false;
		chip.copy_held = false;
		for (i = 0; i < 100; i++)
			chip_write(PMC_ENABLE, ~0u);
		chip.no_master = true;
	} else if (r->arg == MASTER_ON) {
		pci_set_master(&world.pdev);
	} else if (r->arg == UNITS_STAY) {
		chip.stays_on = true;
		comes_back(-EIO, goes_on);
		chip.stays_on = false;
	}
	comes_back(0, r->arg == MASTER_ON    ? must_be_off_first :
		      r->arg == MASTER_FIRST ? NULL :
					       goes_on);
	if (r->arg == MASTER_ON)
		MUST(world.pdev.master && fifo_resets == 1 && !fifo_off);
	works();
}

/* vGPU 1 is of another VMM. vGPU 0's channel stays on the chip: its unbind loses the card. */
static struct container *theirs;

static void loses_the_card(const struct scene *s)
{
	theirs = container_new();
	container_map(theirs, SETUP_RAM, 0, SETUP_RAM);
	world_close(1);
	MUST(world_open(1, theirs));
	setup_run(1, 1, 0);
	UNTIL(chip_loaded(id_of(1, 1)));
	UNTIL(chip_misname(id_of(0, 1), CHIP_NOBODY, true));
	config_ns = s->arg[0];
}

/* clang-format off */
STEP(is_theirs) { task_mm_set(theirs->mm); return true; }
STEP(loses) { UNTIL_IN(5000 * MS, 200, admin_read(CARD, "lost")); return true; }
STEP(takes_memory) { return ASK(container_unmap(theirs, SETUP_RAM, SETUP_RAM) == SETUP_RAM); }
/* clang-format on */

/* ------------------------------------------------------------------ the clock */

static u64 guest_time(u32 vgpu, u32 high, u32 low)
{
	u32 hi, lo, i = 0;

	do {
		hi = g_read(V(vgpu), high);
		lo = g_read(V(vgpu), low);
	} while (hi != g_read(V(vgpu), high) && i++ < 10);
	return (u64)hi << 32 | lo;
}
#define GUEST_TIME(vgpu) guest_time(vgpu, PTIMER_TIME_HIGH, PTIMER_TIME_LOW)

static void set_rate(const struct scene *s)
{
	clock_begin((s32)s->arg[0]);
}

/* A guest compares its time with what the GPU writes: it is the card's, at any moment. */
static void looks_at_the_time(const struct role *r)
{
	u64 before, t, last = 0, turn = 1ull << 32;
	u32 i;

	for (i = 0; i < 400; i++, last = t) {
		if (i % 16 == 15) /* just before the low word is 0 again */
			harness_sleep(turn - clock_now() % turn -
				      min(1000ull, turn - clock_now() % turn - 1));
		else
			harness_sleep((i % 64 == 8 ? 20000 : i * 7919ull % 1300) * MS);
		before = clock_now();
		t = i % 2 ? GUEST_TIME(0) : guest_time(0, PFIFO_TIME_HIGH, PFIFO_TIME_LOW);
		FAIL_ON(t < (before & ~31ull) || t > clock_now() || t < last,
			"S5: look %u: %llu, read from %llu to %llu, after %llu", i, t, before,
			clock_now(), last);
	}
}

/* A guest that waits for a time must not wait for ever. */
static void clock_falls_silent(const struct role *r)
{
	u64 t, last = GUEST_TIME(0);
	u32 i;

	clock_silent = true;
	for (i = 0; i < 20; i++, last = t) {
		harness_sleep(300 * MS);
		t = GUEST_TIME(0);
		MUST(t - last >= 300 * MS - 1000 && t - last < 310 * MS);
	}
	clock_silent = false;
	MUST(GUEST_TIME(0) - last < 10 * MS);
}

/* One read of PTIMER, .arg ms after the last one, gives an error of the register ring. */
static void clock_errs_once(const struct role *r)
{
	u64 t, later;

	GUEST_TIME(1);
	harness_sleep(r->arg * MS);
	clock_error = 0xbadf1100;
	g_read(V(0), PTIMER_TIME_LOW);
	clock_error = 0;
	harness_sleep(MS);
	t = GUEST_TIME(1);
	harness_sleep(60000 * MS);
	later = GUEST_TIME(1);
	FAIL_ON(later - t < 59000 * MS || later > clock_now() + 10 * MS,
		"S5: a neighbour's clock is off by %lld ms", (s64)(later - clock_now()) / (s64)MS);
}

/* ------------------------------------------------------------------ */

/* clang-format off */

#define RESTLESS { .eager = true, .load_ppm = 30000, .look_ppm = 10000, .late = 3 }
#define WANT(n, vgpus, ask, ...)                                                           \
	{ "want of memory: " n, vgpus, RESTLESS, { 7 }, .arg = { __VA_ARGS__ },           \
	  .roles = { { want_of_memory, 0, (u64)ask } },                                  \
	  .must = { { &m_count, 0, AT_LEAST(30), "nothing may fail" } } }
#define RACE(n, one, other) { n, 2, .interleaved = true, .roles = { one, other } }
#define CARDS(n, ...) \
	{ "a card: " n, 0, EAGER, \
	  .roles = { { meets, 0, (u64)&(const struct card){ __VA_ARGS__ } } } }
#define NO_ANSWER(reg) CARDS(#reg " has no answer", .put = { { reg, 0xbadf1002 } }, .want = -EIO)
#define MEMORY(nr, ...) .put = { { PTOP_FBP_COUNT, nr }, { PTOP_FBPA_COUNT, nr }, __VA_ARGS__ }
#define MIB(i, n) { PBFB_BASE(i) + PBFB_AMOUNT, n }
#define AGAIN(n, how) \
	{ "lost, and taken again: " n, 1, { .late = 0 }, { .oversleep_ns = 2 * MS }, \
	  .roles = { { is_taken_again, 0, how } } }
#define CLOCK(n, nr, rate, ...) \
	{ n, nr, { .late = 1 }, .arg = { (u64)rate }, .probe = set_rate, .roles = { __VA_ARGS__ } }
#define LOSES(n, ns) \
	{ n, 2, { .eager = true, .load_ppm = 2000, .late = 2 }, { .oversleep_ns = 100 * US }, \
	  .may_lose = true, .arg = { ns }, .before = loses_the_card, \
	  .roles = { PLAYS(0, { disables, 1 }, { unbinds, 1 }), \
		     PLAYS(1, { is_theirs }, { loses }, { takes_memory }) }, \
	  .must = { { &m_lost, CARD, IS(1), "the card is not lost" } } }

static const struct scene table[] = {
	WANT("a card is taken", 0, is_probed),
	WANT("a vGPU lives", 1, a_life),
	WANT("a vGPU lives, by iommufd", 1, a_life, true),

	{ "what a reset leaves", 2, RESTLESS, .roles = { { begins_anew, 0, true } } },
	{ "what the next user finds", 2, RESTLESS, .roles = { { begins_anew, 0, false } } },
	{ "no event of before", 1, EAGER, .roles = { { no_event_of_before } } },
	RACE("a reset beside another vCPU", PLAYS(0, { resets }, { is_well }, { uses, 1 }),
	     PLAYS(0, { uses, 2, 1 }, { preempts, 2 })),
	{ "the next owner is removed", 2, RESTLESS, .roles = { { next_owner_is_removed } } },
	{ "the next owner is removed later", 2, RESTLESS,
	  .roles = { { next_owner_is_removed, 0, 1 } } },
	{ "a late thread has the last reference", 1, { .eager = true, .late = 1, .idles = true },
	  { .delay_ppm = 1000000, .delay_ns = 10000 * MS },
	  .roles = { { gives_back, .lazy = true }, { takes_the_card } } },
	{ "as many as told", 0, EAGER, { 3 }, .roles = { { fill } } },
	{ "configuration space", 1, EAGER, .roles = { { configures } } },

	CARDS("not POSTed", { UNITS, MEMORY_ON, DONE }, .then = was_posted_first,
	      .is = { { PBFB_BCAST + 0x1234, 0x5a } }),
	CARDS("an unknown opcode", { UNITS, MEMORY_ON, 0xff, DONE }, .want = -EINVAL,
	      .is = { { PBFB_BCAST + 0x1234, 0 } }),
	CARDS("POST that does not end", { UNITS, MEMORY_ON, INIT_DONE }, .want = -EIO,
	      .is = { { PMC_ENABLE, 0xe011212d } }),
	CARDS("reset from outside", { UNITS, MEMORY_ON, DONE }, .then = is_reset_from_outside),
	CARDS("another crystal", .want = -EIO,
	      .put = { { PSTRAPS_BOOT0, PSTRAPS_CRYSTAL_HIGH | PSTRAPS_CRYSTAL_LOW } }),
	/* nouveau nvkm/subdev/privring/gk104.c */
	CARDS("timings of the ring", .put = { { 0x12231c, 0x8003f000 } },
	      .is = { { 0x122318, 0x1000 }, { 0x12231c, 0x80000200 }, { 0x122310, 0x800 },
		      { 0x122348, 0x200 }, { 0x1223b0, 0xfff }, { 0x122358, 0x2880 } }),
	NO_ANSWER(PTOP_FBP_COUNT),
	NO_ANSWER(PTOP_FBPA_COUNT),
	NO_ANSWER(PTOP_DISABLE_FBPA),
	NO_ANSWER(PBFB_BASE(0) + PBFB_AMOUNT),
	NO_ANSWER(PTOP_DEVICE(1)),
	NO_ANSWER(PTOP_DEVICE(40)),
	NO_ANSWER(PFIFO_PBDMA_RUNLISTS(1)),
	CARDS("a GK110B has its own lists", .put = { { PMC_BOOT_0, 0x0f1000a1 } },
	      .is = { { 0x400080, 0x1b }, { 0x4064c8, 0x180 << 16 | 0x600 } }),
	CARDS("a controller without memory", MEMORY(2, MIB(0, 1312), MIB(1, 0)), .want = -EINVAL),
	CARDS("too much memory", MEMORY(2, MIB(0, 1312), MIB(1, 0x70000000)), .want = -EINVAL),
	CARDS("17 controllers", MEMORY(17), .want = -EINVAL),
	CARDS("unequal memory", MEMORY(2, MIB(0, 1312), MIB(1, 1000)), .mib = 2000),
	CARDS("a controller is off", MEMORY(3, MIB(0, 1312), MIB(2, 1312),
					    { PTOP_DISABLE_FBPA, BIT(1) }), .mib = 2624),
	CARDS("ECC has the topmost memory", .memory_end = CHIP_VRAM / 16 * 15, .mib = 2296),
	CARDS("half of the memory is not there", .memory_end = CHIP_VRAM / 2, .want = -EIO),

	AGAIN("this module", AS_LEFT),
	AGAIN("by nouveau", MASTER_FIRST),
	AGAIN("bus mastering was left on", MASTER_ON),
	AGAIN("engines that stay on", UNITS_STAY),
	LOSES("lost beside an unmap on another CPU", 3 * US),
	LOSES("lost by a thread that is late", 20 * MS),

	CLOCK("the card's time", 1, 0, { looks_at_the_time }),
	CLOCK("a card's clock is fast", 1, 150, { looks_at_the_time }),
	CLOCK("a card's clock is slow", 1, -150, { looks_at_the_time }),
	CLOCK("time goes on without the chip", 1, -200, { clock_falls_silent }),
	CLOCK("one error between reads", 2, 0, { clock_errs_once, 0, 100 }),
	CLOCK("one error after a rest", 2, 0, { clock_errs_once, 0, 1500 }),
};

/* clang-format on */

SCENES(table)
