// SPDX-License-Identifier: GPL-2.0-only
/*
 * The falcons (microcontrollers of the GPU) that switch contexts: FECS in the hub and one GPCCS in
 * each GPC. The falcons save and restore the registers that lists in their data memory name. The
 * lists come with the microcode's data, and load_lists() appends registers to them that the
 * firmware file names. Sources:
 * nouveau gf100.c (gf100_gr_init_ctxctl_int(), gf100_gr_init_csdata(), gf100_gr_fecs_reset()),
 * nvkm/falcon/v1.c, fuc/hub.fuc.
 *
 * Callers hold gr_lock: at bring-up, and at a reset of the engine.
 */
#include "hw/gr.h"

/* bytes of a page of code (each page has a tag); also the unit of the sizes in FALCON_CAPS */
#define IMEM_PAGE     256
#define RED_SWITCH_US 10
#define MAX_CTX_SIZE  (4u << 20)

static int microcode_fits(struct kvgpu_hw *hw, u32 falcon, enum kvgpu_fw_section_id code,
			  enum kvgpu_fw_section_id data)
{
	const struct fwfile *f = &hw->p->fw->file;
	u32 caps = hw_rd(hw, falcon + FALCON_CAPS);
	u32 imem = FIELD_GET(FALCON_CAPS_IMEM, caps) * IMEM_PAGE,
	    dmem = FIELD_GET(FALCON_CAPS_DMEM, caps) * IMEM_PAGE;

	if (hw_fwfile_words(f, code) * 4 <= imem && hw_fwfile_words(f, data) * 4 <= dmem)
		return 0;
	dev_err(&hw->pdev->dev, "falcon at 0x%x has %u and %u bytes: the microcode does not fit\n",
		falcon, imem, dmem);
	return -ENOSPC;
}

static void falcon_data_load(struct kvgpu_hw *hw, u32 falcon, enum kvgpu_fw_section_id id)
{
	const struct fwfile *f = &hw->p->fw->file;
	u32 i;

	hw_wr(hw, falcon + FALCON_DMEMC(0), FALCON_MEMC_AINCW);
	for (i = 0; i < hw_fwfile_words(f, id); i++)
		hw_wr(hw, falcon + FALCON_DMEMD(0), hw_fwfile_word(f, id, i));
}

/*
 * Each page of code begins with a write of its number, the tag. The last page is filled up with
 * zeros.
 */
static void falcon_code_load(struct kvgpu_hw *hw, u32 falcon, enum kvgpu_fw_section_id id)
{
	const struct fwfile *f = &hw->p->fw->file;
	u32 words = hw_fwfile_words(f, id), i;

	hw_wr(hw, falcon + FALCON_IMEMC(0), FALCON_MEMC_AINCW);
	for (i = 0; i < ALIGN(words, IMEM_PAGE / 4); i++) {
		if (i % (IMEM_PAGE / 4) == 0)
			hw_wr(hw, falcon + FALCON_IMEMT(0), i / (IMEM_PAGE / 4));
		hw_wr(hw, falcon + FALCON_IMEMD(0), i < words ? hw_fwfile_word(f, id, i) : 0);
	}
}

/* ---------------------------------------------------- falcons' register lists: append registers */

/*
 * A register list that is being written into a falcon's data memory through .port, which increments
 * the address by itself.
 */
struct list {
	struct kvgpu_hw *hw;
	u32 port;
	/* .end: offset of the next word; .limit: size of the memory; bytes */
	u32 end, limit;
	bool full;
	/* the next word to write stands for .count consecutive registers from .first on */
	u32 first, count;
};

static void put_run(struct list *l)
{
	if (!l->count)
		return;
	l->full |= l->end >= l->limit;
	if (l->full)
		return;
	hw_wr(l->hw, l->port, FIELD_PREP(CTX_LIST_COUNT, l->count - 1) | l->first);
	l->end += 4;
	l->count = 0;
}

static void put_register(struct list *l, u32 reg)
{
	if (l->count && (reg != l->first + 4 * l->count || l->count == CTX_LIST_RUN_MAX))
		put_run(l);
	if (!l->count)
		l->first = reg;
	l->count++;
}

/*
 * Appends the registers of firmware list @id to a register list in the falcon's memory. The word at
 * @slot is the offset at which that list begins, the word after it the offset at which it ends.
 * Registers are stored relative to @base.
 */
static int append_list(struct kvgpu_hw *hw, u32 falcon, u32 slot, enum kvgpu_fw_section_id id,
		       u32 base)
{
	const struct fwfile *f = &hw->p->fw->file;
	struct list l = { .hw = hw, .port = falcon + FALCON_DMEMD(0) };
	u32 head, i, k;

	l.limit = FIELD_GET(FALCON_CAPS_DMEM, hw_rd(hw, falcon + FALCON_CAPS)) * IMEM_PAGE;
	hw_wr(hw, falcon + FALCON_DMEMC(0), FALCON_MEMC_AINCR | slot);
	head = hw_rd(hw, l.port);
	l.end = max(head, hw_rd(hw, l.port));
	if (l.end % 4 || l.end > l.limit) {
		dev_err(&hw->pdev->dev, "falcon at 0x%x: its register list %u ends at 0x%x\n",
			falcon, slot, l.end);
		return -EIO;
	}
	hw_wr(hw, falcon + FALCON_DMEMC(0), FALCON_MEMC_AINCW | l.end);
	for (i = 0; i < hw_fwfile_entries(f, id); i++) {
		struct fwfile_entry e = hw_fwfile_entry(f, id, i);

		for (k = 0; k < e.count && !l.full; k++)
			put_register(&l, e.addr + k * e.pitch - base);
	}
	put_run(&l);
	if (l.full) {
		dev_err(&hw->pdev->dev, "falcon at 0x%x: its register lists fill its memory\n",
			falcon);
		return -ENOSPC;
	}
	hw_wr(hw, falcon + FALCON_DMEMC(0), FALCON_MEMC_AINCW | (slot + 4));
	hw_wr(hw, l.port, l.end);
	return 0;
}

static int load_lists(struct kvgpu_hw *hw)
{
	static const struct {
		u32 falcon, slot, base;
		enum kvgpu_fw_section_id id;
	} lists[] = {
		{ GR_FECS, FECS_OS_LIST_HEAD, 0, KVGPU_FW_CTX_HUB },
		{ GR_GPCCS_BCAST, GPCCS_OS_LIST_GPC, GR_GPCS(0), KVGPU_FW_CTX_GPC_0 },
		{ GR_GPCCS_BCAST, GPCCS_OS_LIST_GPC, GR_GPCS(0), KVGPU_FW_CTX_GPC_1 },
		{ GR_GPCCS_BCAST, GPCCS_OS_LIST_TPC, GR_TPCS(0), KVGPU_FW_CTX_TPC },
		{ GR_GPCCS_BCAST, GPCCS_OS_LIST_PPC, GR_PPCS(0), KVGPU_FW_CTX_PPC },
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(lists) && !ret; i++)
		ret = append_list(hw, lists[i].falcon, lists[i].slot, lists[i].id, lists[i].base);
	return ret;
}

/* ------------------------------------------------------------ start of FECS, and commands to it */

static void fecs_dump(struct kvgpu_hw *hw)
{
	unsigned int i;

	dev_err(&hw->pdev->dev, "FECS: signal 0x%08x, channel 0x%08x, next 0x%08x\n",
		hw_rd(hw, GR_FECS + FECS_SIGNAL), hw_rd(hw, GR_FECS + FECS_CHAN_ADDR),
		hw_rd(hw, GR_FECS + FECS_CHAN_NEXT));
	for (i = 0; i < 8; i += 4)
		dev_err(&hw->pdev->dev, "FECS: scratch %u: %08x %08x %08x %08x\n", i,
			hw_rd(hw, GR_FECS + FECS_SCRATCH(i)),
			hw_rd(hw, GR_FECS + FECS_SCRATCH(i + 1)),
			hw_rd(hw, GR_FECS + FECS_SCRATCH(i + 2)),
			hw_rd(hw, GR_FECS + FECS_SCRATCH(i + 3)));
}

static int wait_fecs(struct kvgpu_hw *hw, u32 reg, u32 mask, u32 want, const char *what)
{
	int ret = hw_reg_wait(hw, GR_FECS + reg, mask, want, GR_WAIT_US);

	if (ret) {
		dev_err(&hw->pdev->dev, "FECS did not %s within 2 s (%d)\n", what, ret);
		fecs_dump(hw);
	}
	return ret;
}

static int falcons_load(struct kvgpu_hw *hw)
{
	int ret = microcode_fits(hw, GR_FECS, KVGPU_FW_FECS_CODE, KVGPU_FW_FECS_DATA);

	ret = ret ?: microcode_fits(hw, GR_GPCCS_BCAST, KVGPU_FW_GPCCS_CODE, KVGPU_FW_GPCCS_DATA);
	if (ret)
		return ret;
	hw_wr(hw, PMC_UNK260(0), 0);
	falcon_data_load(hw, GR_FECS, KVGPU_FW_FECS_DATA);
	falcon_code_load(hw, GR_FECS, KVGPU_FW_FECS_CODE);
	falcon_data_load(hw, GR_GPCCS_BCAST, KVGPU_FW_GPCCS_DATA);
	falcon_code_load(hw, GR_GPCCS_BCAST, KVGPU_FW_GPCCS_CODE);
	hw_wr(hw, PMC_UNK260(0), 1);
	return load_lists(hw);
}

/*
 * Loads all falcons and starts FECS, which starts the GPCCS itself. Sets *@ctx_size to the bytes of
 * a context image that FECS reports, rounded up to a page.
 */
int hw_fecs_start(struct kvgpu_hw *hw, u32 *ctx_size)
{
	u32 size;
	int ret = falcons_load(hw);

	if (ret)
		return ret;
	hw_wr(hw, GR_FECS + FALCON_DMACTL, 0);
	hw_wr(hw, GR_FECS + FALCON_CPUCTL, FALCON_CPUCTL_START);
	ret = wait_fecs(hw, FECS_SCRATCH(FECS_OS_STATUS), FECS_OS_READY, FECS_OS_READY, "start");
	if (ret)
		return ret;
	size = hw_rd(hw, GR_FECS + FECS_SCRATCH(FECS_OS_SIZE));
	if (size <= GR_CTX_HEADER || size > MAX_CTX_SIZE) {
		dev_err(&hw->pdev->dev, "FECS claims that a context has %u bytes\n", size);
		fecs_dump(hw);
		return -EIO;
	}
	*ctx_size = ALIGN(size, PAGE_SIZE);
	return 0;
}

static int force_power(struct kvgpu_hw *hw, u32 mode)
{
	hw_wr(hw, GR_FE_PWR, GR_FE_PWR_PENDING | FIELD_PREP(GR_FE_PWR_MODE, mode));
	return hw_reg_wait(hw, GR_FE_PWR, GR_FE_PWR_PENDING, 0, GR_WAIT_US);
}

/*
 * Resets the units whose registers FECS saves and restores, with the engine's power forced on. FECS
 * runs on.
 */
int hw_fecs_reset(struct kvgpu_hw *hw)
{
	int ret = force_power(hw, GR_FE_PWR_FORCE_ON);

	if (ret)
		goto err;
	hw_wr(hw, GR_FECS + FECS_RED_SWITCH, FECS_RED_SWITCH_POWER);
	udelay(RED_SWITCH_US);
	hw_mask(hw, GR_FECS + FECS_RED_SWITCH, 0, FECS_RED_SWITCH_ENABLE);
	udelay(RED_SWITCH_US);
	hw_rd(hw, GR_FECS + FECS_RED_SWITCH);
	ret = force_power(hw, GR_FE_PWR_AUTO);
	if (ret)
		goto err;
	hw_wr(hw, GR_SCC_INIT, GR_SCC_INIT_RAM);
	return 0;
err:
	dev_err(&hw->pdev->dev, "graphics engine: power mode did not change within 2 s (%d)\n",
		ret);
	return ret;
}

/*
 * Makes the channel of instance block @inst FECS' current channel, without a load of its context.
 */
int hw_fecs_set_chan(struct kvgpu_hw *hw, u64 inst)
{
	hw_wr(hw, GR_FECS + FECS_SCRATCH_CLR(FECS_OS_STATUS), FECS_OS_READY);
	hw_wr(hw, GR_FECS + FECS_WRCMD_DATA,
	      FECS_CHAN_VALID | FIELD_PREP(FECS_CHAN_INST, inst >> GMMU_ADDR_SHIFT));
	hw_wr(hw, GR_FECS + FECS_WRCMD_CMD, FECS_OS_CMD_SET_CHAN);
	return wait_fecs(hw, FECS_SCRATCH(FECS_OS_STATUS), FECS_OS_READY, FECS_OS_READY,
			 "take the channel");
}

/*
 * Makes FECS save the current context: asks FECS for a switch to no channel, in the way in which
 * PFIFO asks for switches, by FECS_CHAN_NEXT and the interrupt CHSW.
 */
int hw_fecs_unload(struct kvgpu_hw *hw)
{
	hw_mask(hw, GR_FECS + FECS_CHAN_NEXT, FECS_CHAN_VALID, 0);
	hw_wr(hw, GR_FECS + FALCON_INTR_TRIGGER, FECS_INTR_CHSW);
	return wait_fecs(hw, FECS_CHAN_ADDR, FECS_CHAN_VALID, 0, "save the golden context");
}
