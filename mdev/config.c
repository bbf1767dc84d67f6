// SPDX-License-Identifier: GPL-2.0-only
/*
 * The vGPU's PCI configuration space: that of a Tesla K20m, but with the BAR sizes of the type, a
 * function level reset, and an empty extended space. One table has the values after reset and the
 * bits that a write changes, except the address bits in the low words of BARs. Words that are not
 * in the table read 0.
 *
 * The VMM places BARs and delivers MSI by itself. So a write to a register of a BAR or of MSI
 * changes nothing but the value that a later read returns.
 *
 * vgpu->lock is held in all functions here. The VMM's threads and the thread that creates the vGPU
 * run them. The vGPU's work item (machine/event.c) runs vgpu_config_set_word(), by way of
 * kvgpu_mdev_irq_update().
 */
#include <linux/pci_regs.h>

#include "gk110/map.h"
#include "gk110/pci.h"
#include "mdev/internal.h"
#include "mdev/machine/machine.h"

struct config_word {
	u16 off;
	u32 reset;
	u32 rw; /* bits that a write sets to the written value */
	u32 w1c; /* bits that a written 1 clears */
};

#define CAP(id, next, high) ((id) | (next) << 8 | (u32)(high) << 16)

/* The low words of the BARs have no .rw for their address bits: word_writable() has them. */
static const struct config_word words[] = {
	{ GK110_PCI_ID, GK110_PCI_VENDOR | GK110_PCI_DEVICE << 16 },
	{ GK110_PCI_CMD_STA, GK110_PCI_STA_CAP_LIST,
	  .rw = GK110_PCI_CMD_MEMORY | GK110_PCI_CMD_MASTER | GK110_PCI_CMD_PARITY |
		GK110_PCI_CMD_SERR | GK110_PCI_CMD_INTX_DISABLE,
	  .w1c = GK110_PCI_STA_W1C },
	{ GK110_PCI_REV_CLASS, GK110_PCI_REV_CLASS_K20M },
	{ GK110_PCI_CACHE_LINE, .rw = GK110_PCI_CACHE_LINE_SIZE },
	{ GK110_PCI_BAR0, PCI_BASE_ADDRESS_SPACE_MEMORY },
	{ GK110_PCI_BAR1, GK110_PCI_BAR_64_PREFETCH },
	{ GK110_PCI_BAR1_HI, .rw = ~0u },
	{ GK110_PCI_BAR3, GK110_PCI_BAR_64_PREFETCH },
	{ GK110_PCI_BAR3_HI, .rw = ~0u },
	{ GK110_PCI_SUBSYSTEM, GK110_PCI_SUBVENDOR | GK110_PCI_SUBDEVICE << 16 },
	{ GK110_PCI_CAP_PTR, GK110_PCI_PM },
	{ GK110_PCI_INTR, GK110_PCI_INTR_PIN_A, .rw = GK110_PCI_INTR_LINE },
	{ GK110_PCI_SUBSYSTEM_ALIAS, GK110_PCI_SUBVENDOR | GK110_PCI_SUBDEVICE << 16 },
	{ GK110_PCI_PM, CAP(PCI_CAP_ID_PM, GK110_PCI_MSI, 3) },
	{ GK110_PCI_PM_CTRL, GK110_PCI_PM_NO_SOFT_RESET, .rw = GK110_PCI_PM_STATE },
	{ GK110_PCI_MSI, CAP(PCI_CAP_ID_MSI, GK110_PCI_EXP, PCI_MSI_FLAGS_64BIT),
	  .rw = GK110_PCI_MSI_ENABLE | GK110_PCI_MSI_MULTI_ENABLE },
	{ GK110_PCI_MSI_ADDR, .rw = GK110_PCI_MSI_ADDR_LO },
	{ GK110_PCI_MSI_ADDR_HI, .rw = ~0u },
	{ GK110_PCI_MSI_DATA, .rw = GK110_PCI_MSI_DATA_VALUE },
	{ GK110_PCI_EXP, CAP(PCI_CAP_ID_EXP, 0, 2) },
	{ GK110_PCI_EXP_DEVCAP, GK110_PCI_EXP_PAYLOAD_256 | GK110_PCI_EXP_EXT_TAG |
					GK110_PCI_EXP_L0S_UNLIMITED | GK110_PCI_EXP_L1_64US |
					GK110_PCI_EXP_ROLE_ERR | PCI_EXP_DEVCAP_FLR },
	{ GK110_PCI_EXP_DEVCTL, GK110_PCI_EXP_DEVCTL_RESET, .rw = GK110_PCI_EXP_DEVCTL_RW,
	  .w1c = GK110_PCI_EXP_DEVSTA_W1C },
	{ GK110_PCI_EXP_LNKCAP, GK110_PCI_EXP_LNKCAP_K20M },
	{ GK110_PCI_EXP_LNKCTL, GK110_PCI_EXP_LNKSTA_K20M, .rw = GK110_PCI_EXP_LNKCTL_RW },
	{ GK110_PCI_EXP_DEVCAP2, GK110_PCI_EXP_DEVCAP2_K20M },
	{ GK110_PCI_EXP_DEVCTL2, .rw = GK110_PCI_EXP_DEVCTL2_RW },
	{ GK110_PCI_EXP_LNKCAP2, GK110_PCI_EXP_LNKCAP2_K20M },
	{ GK110_PCI_EXP_LNKCTL2, GK110_PCI_EXP_LNKCTL2_K20M, .rw = GK110_PCI_EXP_LNKCTL2_RW },
};

static const struct config_word *find_word(u32 off)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].off == off)
			return &words[i];
	return NULL;
}

/*
 * Returns the bits of a word that a write sets to the written value. In the low word of a BAR these
 * are the address bits from the BAR's size upwards, by which the guest finds the size out.
 */
static u32 word_writable(const struct kvgpu_vgpu *v, const struct config_word *w)
{
	switch (w->off) {
	case GK110_PCI_BAR0:
		return ~(u32)(GK110_BAR0_SIZE - 1);
	case GK110_PCI_BAR1:
		return ~(u32)(v->type->bar[KVGPU_BAR1] - 1);
	case GK110_PCI_BAR3:
		return ~(u32)(v->type->bar[KVGPU_BAR3] - 1);
	default:
		return w->rw;
	}
}

/*
 * Sets all bits of the word, whatever its mask in words[], also in the copy that BAR0 shows, which
 * is the machine's.
 */
void vgpu_config_set_word(struct kvgpu_vgpu *v, u32 off, u32 val)
{
	*(__le32 *)(v->config + off) = cpu_to_le32(val);
	kvgpu_machine_config_set(v, off, val);
}

/* Sets all words to their values after reset, also in the copy that BAR0 shows. */
void vgpu_config_reset(struct kvgpu_vgpu *v)
{
	unsigned int i;

	lockdep_assert_held(&v->lock);
	memset(v->config, 0, sizeof(v->config));
	for (i = 0; i < ARRAY_SIZE(words); i++)
		vgpu_config_set_word(v, words[i].off, words[i].reset);
	/* anybody in the guest can read it, and nouveau does not look at it */
	if (kvgpu_machine_copies_apart(v->gpu))
		vgpu_config_set_word(v, GK110_PCI_REV_CLASS, GK110_PCI_REV_CLASS_COPIES);
}

/* Here and in a write the caller keeps [@off, @off + @len) inside the space (region.c). */
void vgpu_config_read(struct kvgpu_vgpu *v, u32 off, void *buf, size_t len)
{
	lockdep_assert_held(&v->lock);
	memcpy(buf, v->config + off, len);
}

/*
 * Writes the word at @off. @be: mask of the bits that the guest's access writes. Returns true if
 * the guest asks for a function level reset.
 */
static bool write_word(struct kvgpu_vgpu *v, u32 off, u32 val, u32 be)
{
	const struct config_word *w = find_word(off);
	u32 old, new, rw;

	if (!w)
		return false;
	old = vgpu_config_word(v, off);
	rw = word_writable(v, w) & be;
	new = (old & ~rw) | (val & rw);
	new &= ~(val & w->w1c & be);
	if (new != old)
		vgpu_config_set_word(v, off, new);
	return off == GK110_PCI_EXP_DEVCTL && (val & be & PCI_EXP_DEVCTL_BCR_FLR);
}

bool vgpu_config_write(struct kvgpu_vgpu *v, u32 off, const void *buf, size_t len)
{
	const u8 *data = buf;
	bool flr = false;
	u32 val = 0, be = 0;

	lockdep_assert_held(&v->lock);
	for (; len; off++, data++, len--) {
		u32 shift = 8 * (off & 3);

		val |= (u32)*data << shift;
		be |= 0xffu << shift;
		if ((off & 3) == 3 || len == 1) {
			flr |= write_word(v, off & ~3u, val, be);
			val = 0;
			be = 0;
		}
	}
	return flr;
}
