// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual PMU, the falcon for power management: it has the rings and messages of nouveau's
 * program for the PMU. Power, clocks and fans are the host's. After the PMU's start a message is
 * answered before the guest's write completes, because nouveau waits for the answer without limit
 * (gt215_pmu_send()); but a message that comes while the ring of replies is full gets no answer.
 */
#include <gk110/pmc.h>
#include <gk110/pmu.h>

#include "falcon.h"

#define AT(off)	   (PMU_BASE + (off))
#define RING_BYTES (PMU_RING_SLOTS * PMU_RING_SLOT)
#define RING(base) ((u32)(base) | (u32)RING_BYTES << 16)

void vtrap_pmu_update(struct kvgpu_trap *t)
{
	u32 route = vtrap_reg_get(t, AT(FALCON_INTR_ROUTE));
	u32 intr = vtrap_reg_get(t, AT(FALCON_INTR)) & vtrap_reg_get(t, AT(FALCON_INTR_EN));

	vtrap_intr_host_set(t, PMC_INTR_PMU,
			    intr & route & ~(route >> 16) & (u32)FALCON_INTR_ROUTE_HOST);
}

void vtrap_pmu_start(struct kvgpu_trap *t)
{
	vtrap_reg_set(t, AT(FALCON_INTR_ROUTE), PMU_ROUTE_HOST);
	vtrap_pmu_update(t);
}

void vtrap_pmu_reset(struct kvgpu_trap *t)
{
	struct kvgpu_vfalcon *f = &t->falcon[FALCON_PMU];
	unsigned int i;

	f->dmem_ctl = 0;
	f->imem_ctl = 0;
	f->started = false;
	vtrap_reg_set(t, AT(FALCON_INTR), 0);
	vtrap_reg_set(t, AT(FALCON_INTR_EN), 0);
	vtrap_reg_set(t, AT(FALCON_INTR_ROUTE), 0);
	vtrap_reg_set(t, AT(PMU_FIFO_PUT(0)), 0);
	vtrap_reg_set(t, AT(PMU_FIFO_GET(0)), 0);
	vtrap_reg_set(t, AT(PMU_RFIFO_PUT), 0);
	vtrap_reg_set(t, AT(PMU_RFIFO_GET), 0);
	for (i = 0; i < PMU_MUTEX_COUNT; i++)
		vtrap_reg_set(t, AT(PMU_MUTEX(i)), 0);
	vtrap_pmu_update(t);
}

/*
 * Fills the data words of a reply. MEMX is the PMU's process for memory scripts. If the guest asks
 * where MEMX has its data or its training data, the words are their address and size. In all other
 * replies the words stay 0.
 */
static void pmu_reply_fill(const u32 *msg, u32 *reply)
{
	if (msg[PMU_MSG_PROCESS] != PMU_PROC_MEMX || msg[PMU_MSG_MESSAGE] != PMU_MEMX_INFO)
		return;
	if (msg[PMU_MSG_DATA0] == PMU_MEMX_INFO_DATA) {
		reply[PMU_MSG_DATA0] = PMU_IMAGE_MEMX_DATA;
		reply[PMU_MSG_DATA1] = PMU_IMAGE_MEMX_DATA_SIZE;
	} else if (msg[PMU_MSG_DATA0] == PMU_MEMX_INFO_TRAIN) {
		reply[PMU_MSG_DATA0] = PMU_IMAGE_MEMX_TRAIN;
		reply[PMU_MSG_DATA1] = PMU_IMAGE_MEMX_TRAIN_SIZE;
	}
}

static void pmu_msg_take(struct kvgpu_trap *t, u32 get)
{
	u32 msg[4], reply[4] = { 0 }, put = vtrap_reg_get(t, AT(PMU_RFIFO_PUT)), i;
	u32 from = PMU_IMAGE_FIFO + (get % PMU_RING_SLOTS) * PMU_RING_SLOT;
	u32 to = PMU_IMAGE_RFIFO + (put % PMU_RING_SLOTS) * PMU_RING_SLOT;

	for (i = 0; i < ARRAY_SIZE(msg); i++)
		msg[i] = vtrap_falcon_dmem_get(t, FALCON_PMU, from + 4 * i);
	if (((put - vtrap_reg_get(t, AT(PMU_RFIFO_GET))) & PMU_RING_COUNTER) >= PMU_RING_SLOTS)
		return;
	reply[PMU_MSG_PROCESS] = msg[PMU_MSG_PROCESS];
	reply[PMU_MSG_MESSAGE] = msg[PMU_MSG_MESSAGE];
	pmu_reply_fill(msg, reply);
	for (i = 0; i < ARRAY_SIZE(reply); i++)
		vtrap_falcon_dmem_set(t, FALCON_PMU, to + 4 * i, reply[i]);
	vtrap_reg_set(t, AT(PMU_RFIFO_PUT), (put + 1) & PMU_RING_COUNTER);
	vtrap_reg_set(t, AT(FALCON_INTR), vtrap_reg_get(t, AT(FALCON_INTR)) | (u32)PMU_INTR_USER0);
}

static void pmu_put_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 put = a->val & PMU_RING_COUNTER, get = vtrap_reg_get(t, AT(PMU_FIFO_GET(0)));

	vtrap_reg_set(t, a->reg, put);
	if (!t->falcon[FALCON_PMU].started)
		return;
	for (; get != put; get = (get + 1) & PMU_RING_COUNTER)
		pmu_msg_take(t, get);
	vtrap_reg_set(t, AT(PMU_FIFO_GET(0)), get);
	vtrap_pmu_update(t);
}

static void pmu_rget_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val & PMU_RING_COUNTER);
}

static u32 pmu_h2d_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->falcon[FALCON_PMU].started ? RING(PMU_IMAGE_FIFO) : 0;
}

static u32 pmu_d2h_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->falcon[FALCON_PMU].started ? RING(PMU_IMAGE_RFIFO) : 0;
}

/* A write of an id takes a free mutex, a write of 0 releases it. */
static void pmu_mutex_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	if (!a->bits || !vtrap_reg_get(t, a->reg))
		vtrap_reg_set(t, a->reg, a->bits);
}

static const struct kvgpu_reg_line lines[] = {
	FALCON_LINES(PMU_BASE),
	KVGPU_LINE_AT(
		PMU_BASE, PMU_FIFO_PUT(0), FILE, EMULATE, .write = pmu_put_write, .src = SRC_NV,
		.why = "messages to the PMU, taken at once, and answered if the ring of replies has room"),
	KVGPU_LINE_AT(PMU_BASE, PMU_FIFO_GET(0), FILE, CONST, .src = SRC_NV,
		      .why = "count of messages taken"),
	KVGPU_LINE_AT(PMU_BASE, PMU_RFIFO_PUT, FILE, CONST, .src = SRC_NV,
		      .why = "count of replies given"),
	KVGPU_LINE_AT(PMU_BASE, PMU_RFIFO_GET, FILE, EMULATE, .write = pmu_rget_write,
		      .src = SRC_NV, .why = "count of replies that the guest has read"),
	KVGPU_LINE_AT(
		PMU_BASE, PMU_H2D, EMULATE, CONST, .read = pmu_h2d_read, .src = SRC_NV,
		.why = "ring that appears when the program is started; nouveau polls it and gives up the device without it"),
	KVGPU_LINE_AT(
		PMU_BASE, PMU_D2H, EMULATE, CONST, .read = pmu_d2h_read, .src = SRC_NV,
		.why = "ring that appears when the program is started; nouveau polls it and gives up the device without it"),
	KVGPU_LINE_AT(PMU_BASE, PMU_MUTEX(0), FILE, EMULATE, .count = PMU_MUTEX_COUNT,
		      .write = pmu_mutex_write, .src = SRC_NV, .why = "locks of the data port"),
	KVGPU_LINE_AT(PMU_BASE, PMU_PG_CTRL, FILE, FILE, .src = SRC_NV,
		      .why = "steps of the power gating sequence, without effect"),
};

const struct kvgpu_reg_unit kvgpu_unit_pmu = {
	.name = "PMU",
	.base = PMU_BASE,
	.size = PMU_SIZE,
	KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE,
		   "memory interface and counters of the real falcon, which could reach all memory",
		   SRC_NVRNN),
};
