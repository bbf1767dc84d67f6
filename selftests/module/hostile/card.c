// SPDX-License-Identifier: GPL-2.0-only
/* The GPU of this machine: finds it, switches it on, and does honest work with it. */
#include "hostile.h"

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/mmu.h>
#include <gk110/pfb.h>

enum {
	CONFIG_ADDRESS = 0xcf8,
	CONFIG_DATA = 0xcfc,
	COM1 = 0x3f8,
	COM1_LINE_STATUS = COM1 + 5,
	PCI_VENDOR_NVIDIA = 0x10de,
	PCI_CLASS_DISPLAY = 3,
	PCI_COMMAND = 4,
	PCI_CLASS = 8,
	PCI_HEADER = 0xc,
	PCI_BAR0 = 0x10,
	PCI_CAPABILITIES = 0x34,
	PCI_CAP_EXPRESS = 0x10,
	EXPRESS_CAPS = 4,
	EXPRESS_CONTROL = 8,
	CAPS_FLR = 1 << 28,
	CONTROL_FLR = 1 << 15,
	PCI_BRIDGE_BUS = 0x18,
	COMMAND_MEMORY = 2,
	COMMAND_MASTER = 4,
	BAR_MEM_64 = 4,
	FIRST_ID = 16,
	LAST_ID = 120,
};

/* Memory for the GPU: its virtual, its physical and its DMA address are the same. */
static uint8_t arena[8 << 20] __attribute__((aligned(2 << 20)));

static void out32(uint16_t port, uint32_t v)
{
	asm volatile("outl %0, %1" : : "a"(v), "Nd"(port));
}

static uint32_t in32(uint16_t port)
{
	uint32_t v;

	asm volatile("inl %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}

static uint8_t in8(uint16_t port)
{
	uint8_t v;

	asm volatile("inb %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}

bool told_to_stop(void)
{
	return in8(COM1_LINE_STATUS) & 1;
}

bool told_to_go_on(void)
{
	if (!told_to_stop())
		return false;
	(void)in8(COM1);
	return true;
}

static uint32_t config_read(uint32_t dev, uint32_t off)
{
	out32(CONFIG_ADDRESS, 1u << 31 | dev << 8 | off);
	return in32(CONFIG_DATA);
}

static void config_write(uint32_t dev, uint32_t off, uint32_t v)
{
	out32(CONFIG_ADDRESS, 1u << 31 | dev << 8 | off);
	out32(CONFIG_DATA, v);
}

/* Return bus << 8 | device << 3 | function of the GPU, or -1. */
static int find_gpu(void)
{
	uint32_t dev;

	for (dev = 0; dev < 0x2000; dev++)
		if ((config_read(dev, 0) & 0xffff) == PCI_VENDOR_NVIDIA &&
		    config_read(dev, PCI_CLASS) >> 24 == PCI_CLASS_DISPLAY)
			return dev;
	return -1;
}

/* Tell where BAR @i is and how big. Return the index of the next BAR. */
static unsigned int bar(uint32_t dev, unsigned int i, uint64_t *at, uint64_t *size)
{
	uint32_t off = PCI_BAR0 + 4 * i, low = config_read(dev, off), mask, high = 0,
		 high_mask = ~0u;
	bool wide = low & BAR_MEM_64;

	if (wide)
		high = config_read(dev, off + 4);
	config_write(dev, off, ~0u);
	mask = config_read(dev, off) & ~15u;
	config_write(dev, off, low);
	if (wide) {
		config_write(dev, off + 4, ~0u);
		high_mask = config_read(dev, off + 4);
		config_write(dev, off + 4, high);
	}
	*at = (uint64_t)high << 32 | (low & ~15u);
	*size = ~((uint64_t)high_mask << 32 | mask) + 1;
	return i + 1 + wide;
}

static uint64_t video_memory(struct bare_gpu *g)
{
	uint64_t mib = 0;
	unsigned int i;

	for (i = 0; i < PBFB_NR; i++) {
		uint32_t v = bare_read(g, PBFB_BASE(i) + PBFB_AMOUNT);

		if (v < 1 << 16)
			mib += v;
	}
	return mib << 20;
}

bool hostile_open(struct hostile *h)
{
	uint64_t bar0, bar1, bar3, size;
	int dev = find_gpu();
	unsigned int i;

	if (dev < 0)
		return false;
	config_write(dev, PCI_COMMAND, 0); /* BARs are sized while decoding is off */
	i = bar(dev, 0, &bar0, &size);
	i = bar(dev, i, &bar1, &h->gpu.bars.bar1_size);
	bar(dev, i, &bar3, &h->bar3_size);
	if ((bar0 | bar1 | bar3) >> 32 || !bar0 || !bar1 || !bar3)
		return false;
	config_write(dev, PCI_COMMAND, COMMAND_MEMORY | COMMAND_MASTER);
	h->gpu.bars.bar0 = (volatile uint8_t *)(uintptr_t)bar0;
	h->gpu.bars.bar1 = (volatile uint8_t *)(uintptr_t)bar1;
	h->bar3 = (volatile uint8_t *)(uintptr_t)bar3;
	h->gpu.host.cpu = arena;
	h->gpu.host.bus = (uintptr_t)arena;
	h->gpu.host.size = sizeof(arena);
	h->next_id = FIRST_ID;
	h->vram = video_memory(&h->gpu);
	return h->vram != 0;
}

bool hostile_reset(void)
{
	int dev = find_gpu();
	uint32_t at;

	if (dev < 0)
		return false;
	at = config_read(dev, PCI_CAPABILITIES) & 0xfc;
	while (at && (config_read(dev, at) & 0xff) != PCI_CAP_EXPRESS)
		at = config_read(dev, at) >> 8 & 0xfc;
	if (!at || !(config_read(dev, at + EXPRESS_CAPS) & CAPS_FLR))
		return false;
	config_write(dev, at + EXPRESS_CONTROL,
		     (config_read(dev, at + EXPRESS_CONTROL) & 0xffff) | CONTROL_FLR);
	return true;
}

void hostile_restart(struct hostile *h)
{
	struct bare_gpu *g = &h->gpu;
	struct bare_chan_config cfg;
	uint32_t entry;

	bare_take_over(g);
	g->host.used = 0;
	bare_space_create(g, &h->space);
	h->loot = bare_host(g, 0x10000, &h->loot_bus);
	bare_space_map_range(g, &h->space, LOOT_VA, BARE_HOST, h->loot_bus, 0x10000);
	memset(&cfg, 0, sizeof(cfg));
	cfg.id = h->next_id;
	cfg.runlist = g->engine[BARE_CE0].runlist;
	h->next_id = h->next_id < LAST_ID ? h->next_id + 1 : FIRST_ID;
	bare_chan_create(g, &h->space, &cfg, &h->chan);
	entry = cfg.id;
	bare_runlist(g, cfg.runlist, &entry, 1);
}

void hostile_show(struct hostile *h)
{
	h->shown = bare_window(&h->gpu, BARE_VRAM, h->space.pdb);
}

volatile uint32_t *hostile_vram(struct hostile *h, uint64_t at)
{
	return h->shown + (at - h->space.pdb) / 4;
}

bool hostile_copy(struct hostile *h, uint64_t src, uint64_t dst, uint32_t len, unsigned int ms)
{
	bare_copy(&h->chan, src, dst, len, 0);
	return bare_run(&h->chan, ms);
}

static bool channel_faulted(struct hostile *h)
{
	uint32_t units = bare_read(&h->gpu, GMMU_FAULT_SOURCE), u;

	for (u = 0; u < GMMU_FAULT_UNITS && units >> u; u++)
		if (units >> u & 1 &&
		    FIELD_GET(GMMU_FAULT_INST_ADDR, bare_read(&h->gpu, GMMU_FAULT_INST(u))) ==
			    h->chan.inst >> 12)
			return true;
	return false;
}

bool hostile_run_refused(struct hostile *h)
{
	uint64_t end = bare_now_ns(&h->gpu) + REFUSED_MS * 1000000ull;

	bare_submit(&h->chan);
	while (*h->chan.semaphore != h->chan.seq && !channel_faulted(h) &&
	       bare_now_ns(&h->gpu) < end)
		;
	return *h->chan.semaphore == h->chan.seq;
}

bool hostile_refused(struct hostile *h, uint64_t src, uint64_t dst, uint32_t len)
{
	bare_copy(&h->chan, src, dst, len, 0);
	return hostile_run_refused(h);
}

bool hostile_alive(struct hostile *h)
{
	enum { BYTES = 8192, VRAM_VA = AIM_VA, BACK_VA = LOOT_VA + BYTES };
	uint64_t vram;

	hostile_restart(h);
	vram = bare_vram(&h->gpu, BYTES, 4096);
	bare_space_map_range(&h->gpu, &h->space, VRAM_VA, BARE_VRAM, vram, BYTES);
	bare_tlb_invalidate(&h->gpu, BARE_VRAM, h->space.pdb);
	pattern_fill(h->loot, BYTES, rng_next(&h->rng));
	memset(h->loot + BYTES, 0, BYTES);
	return hostile_copy(h, LOOT_VA, VRAM_VA, BYTES, RUN_MS) &&
	       hostile_copy(h, VRAM_VA, BACK_VA, BYTES, RUN_MS) &&
	       !memcmp(h->loot, h->loot + BYTES, BYTES);
}

bool holds_mark(const void *buf, size_t len)
{
	const uint64_t *words = buf;
	size_t i;

	for (i = 0; i < len / 8; i++)
		if (words[i] == VICTIM_MARK || words[i] == SERVER_MARK)
			return true;
	return false;
}
