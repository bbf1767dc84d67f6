// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a page table entry for the hardware from an entry of the guest. The address in the entry
 * becomes a host address inside the partition, or the address of a pinned page (S1 of
 * docs/invariants.md). A compressed storage kind becomes a plain kind, because vGPUs share the
 * memory of compression tags. Entries for peers (memory of other cards) are refused, and reserved
 * bits are dropped.
 *
 * Entries for system memory are VOL (volatile), so that L2 holds no line of it that a cache
 * operation of another vGPU could throw away. They are coherent, too: when the host has cleared a
 * page for a VMM, the zeros may still be in the CPU's caches, and a read without a snoop would find
 * what the page's last owner left in memory (S4). Pure: the caller serialises calls for one vGPU.
 */
#include <linux/bitfield.h>
#include <linux/kernel.h>

#include <gk110/mmu.h>

#include "internal.h"

#define BIG_BYTES  BIT_ULL(GMMU_BIG_SHIFT_128K)
#define PTE_RIGHTS (GMMU_PTE_PRIV | GMMU_PTE_RO | GMMU_PTE_READ_DISABLE | GMMU_PTE_WRITE_DISABLE)

/*
 * Storage kinds, from nvkm mmu/gf100.c (gf100_mmu_kind: each compressed kind with the plain kind of
 * the same layout; names in rnndb gf100_vm.xml GF100_STORAGE_TYPE). Element i has a bit for each of
 * the 16 kinds from 16 * i on.
 */
static const u16 kind_exists[16] = {
	[0x0] = 0x07bf, [0x1] = 0x0782, [0x2] = 0x03c0, [0x3] = 0xfc00,
	[0x4] = 0x0043, [0x5] = 0x001e, [0x6] = 0x0000, [0x7] = 0x0800,
	[0x8] = 0x7bc0, [0x9] = 0x0000, [0xa] = 0x07f8, [0xb] = 0x8000,
	[0xc] = 0xf00f, [0xd] = 0xa903, [0xe] = 0x6a7d, [0xf] = 0x6fff,
};

/*
 * Kinds .first to .last are compressed. The plain kind of one of them is .plain + (kind - .first) %
 * .cycle.
 */
static const struct {
	u8 first, last, plain, cycle;
} compressed[] = {
	{ 0x02, 0x0a, 0x01, 1 }, { 0x17, 0x1a, 0x11, 1 }, { 0x3a, 0x41, 0x26, 4 },
	{ 0x51, 0x54, 0x46, 1 }, { 0x86, 0x89, 0x7b, 1 }, { 0xa3, 0xa6, 0x8b, 4 },
	{ 0xbf, 0xc2, 0xa7, 4 }, { 0xcc, 0xcd, 0xfe, 1 }, { 0xce, 0xd1, 0xc3, 1 },
	{ 0xd8, 0xfb, 0xfe, 1 },
};

static bool kind_ok(u8 kind)
{
	return kind_exists[kind >> 4] & BIT(kind & 15);
}

static u8 kind_plain(u8 kind)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(compressed) && compressed[i].first <= kind; i++)
		if (kind <= compressed[i].last)
			return compressed[i].plain +
			       (kind - compressed[i].first) % compressed[i].cycle;
	return kind;
}

bool vgtt_pte_kind_ok(u64 pte)
{
	return kind_ok(FIELD_GET(GMMU_PTE_KIND, pte));
}

bool vgtt_pte_is_sys(u64 pte)
{
	return kvgpu_is_sys(FIELD_GET(GMMU_PTE_APERTURE, pte));
}

/*
 * Returns the guest's address of the page in video memory. The upper bits of the address in @pte
 * select a peer and are ignored.
 */
static u64 vram_addr(u64 pte, u64 size)
{
	u64 addr = (u64)FIELD_GET(GMMU_ADDR_VID, FIELD_GET(GMMU_PTE_ADDR, pte)) << GMMU_ADDR_SHIFT;

	return addr & ~(size - 1);
}

/*
 * Sets *@addr to the page's address in the card's video memory. Returns false if the page is not
 * inside of the partition, or *@addr not aligned to @size.
 */
static bool vram_place(const struct kvgpu_shadow_cfg *cfg, u64 pte, u64 size, u64 *addr)
{
	u64 off = vram_addr(pte, size);

	if (size > cfg->part_size || off > cfg->part_size - size)
		return false;
	*addr = cfg->part_base.v + off;
	return !(*addr & (size - 1)) && FIELD_FIT(GMMU_ADDR_VID, *addr >> GMMU_ADDR_SHIFT);
}

u64 vgtt_pte_transform(const struct kvgpu_shadow_cfg *cfg, u64 gpte, bool big, u64 sys_dma,
		       bool *rejected)
{
	u64 size = big ? BIG_BYTES : PAGE_BYTES;
	u8 kind = FIELD_GET(GMMU_PTE_KIND, gpte);
	u64 addr = sys_dma, out, aperture = GMMU_PTE_APERTURE_VRAM;

	*rejected = false;
	if (!(gpte & GMMU_PTE_VALID))
		return big ? gpte & GMMU_PTE_PRIV : 0;
	*rejected = true;
	if (!kind_ok(kind))
		return 0;
	out = gpte & PTE_RIGHTS;
	switch (FIELD_GET(GMMU_PTE_APERTURE, gpte)) {
	case GMMU_PTE_APERTURE_VRAM:
		if (!vram_place(cfg, gpte, size, &addr))
			return 0;
		out |= gpte & GMMU_PTE_VOL;
		break;
	case GMMU_PTE_APERTURE_SYS_COH:
	case GMMU_PTE_APERTURE_SYS_NCOH:
		if (big || addr & (size - 1) || addr >> GMMU_VA_BITS)
			return 0;
		out |= GMMU_PTE_VOL;
		aperture = GMMU_PTE_APERTURE_SYS_COH;
		break;
	default:
		return 0;
	}
	*rejected = false;
	return out | GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_APERTURE, aperture) |
	       FIELD_PREP(GMMU_PTE_KIND, kind_plain(kind)) |
	       FIELD_PREP(GMMU_PTE_ADDR, addr >> GMMU_ADDR_SHIFT);
}

u64 vgtt_pte_rights_drop(u64 pte)
{
	return pte & ~PTE_RIGHTS;
}

/* Tells whether the small pages of a valid big gpte may have translations. */
bool vgtt_pte_big_usable(const struct kvgpu_shadow_cfg *cfg, u64 big)
{
	u64 addr;

	if (!vgtt_pte_kind_ok(big))
		return false;
	if (FIELD_GET(GMMU_PTE_APERTURE, big) == GMMU_PTE_APERTURE_VRAM)
		return vram_place(cfg, big, BIG_BYTES, &addr);
	return vgtt_pte_is_sys(big);
}

/* Returns the small gpte for small page @page of the big page @big. */
u64 vgtt_pte_piece_get(u64 big, u32 page)
{
	u64 frame = FIELD_GET(GMMU_PTE_ADDR, big) & ~((BIG_BYTES >> GMMU_ADDR_SHIFT) - 1);

	return (big & ~GMMU_PTE_ADDR) | FIELD_PREP(GMMU_PTE_ADDR, frame + page);
}
