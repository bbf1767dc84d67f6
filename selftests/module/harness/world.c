// SPDX-License-Identifier: GPL-2.0-only
/* world.h has the contracts. The caller is the first thread, or an actor. */
#include "gk110/fifo.h"
#include "selftests/module/harness/chip/state.h"
#include "selftests/module/harness/inside.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/world.h"

struct world world;
extern unsigned int *const harness_param_max_pinned_mib;

void world_begin(u64 seed, const struct chip_manners *m)
{
	struct policy quiet = { .seed = seed };

	memset(&world, 0, sizeof(world));
	world.pdev.dev.name = "0000:01:00.0";
	world.pdev.no_snoop = true; /* as after a reset */
	harness_begin(&quiet);
	work_begin();
	eventfd_begin();
	chip_begin(&(struct chip_manners){ .lone_ce = m && m->lone_ce });
	/* to allocate what the module keeps for the default would take most of a run's time */
	*harness_param_max_pinned_mib = 16;
	FAIL_ON(harness_module_init(), "the module is not loaded");
	FAIL_ON(world_probe(), "the card is not taken");
	chip.manners = *m;
	harness_policy(&quiet);
}

int world_probe(void)
{
	int ret = the_pci_driver->probe(&world.pdev, the_pci_driver->id_table);

	world.gpu = ret ? NULL : pci_get_drvdata(&world.pdev);
	pool_watched = !ret;
	return ret;
}

void world_unprobe(void)
{
	pool_watched = false;
	card_remove(&world.pdev);
	world.gpu = NULL;
}

u8 *world_own(u32 i, u32 nr, u64 *size)
{
	return inside_own(world.vgpu[i].v, nr, size);
}

void world_end(void)
{
	struct policy quiet = {};
	u32 i;

	harness_policy(&quiet);
	world_check("at the end");
	for (i = 0; i < WORLD_VGPUS; i++)
		if (world.vgpu[i].open)
			world_close(i);
	containers_end();
	for (i = 0; i < WORLD_VGPUS; i++)
		if (world.vgpu[i].made)
			world_unmake(i);
	for (i = 1; i < GK110_FIFO_NR_TSG; i++)
		FAIL_ON(inside_group_taken(i),
			"S5: group %u of the chip is taken, and there is no vGPU", i);
	pool_watched = false;
	card_remove(&world.pdev);
	harness_module_exit();
	work_end();
	chip_end();
	eventfd_end();
	iommu_end();
	harness_end();
}

void world_check(const char *when)
{
	chip_look(when);
	mm_check(when);
}

struct world_vgpu *world_make_type(u32 i, const char *type)
{
	struct world_vgpu *w = V(i);

	w->mdev = mdev_create(type);
	if (!w->mdev)
		return NULL;
	w->v = inside_vgpu(w->mdev);
	w->dev = inside_device(w->v);
	w->made = true;
	return w;
}

void world_unmake(u32 i)
{
	struct world_vgpu *w = V(i);
	struct inside_part part = inside_part(w->v);

	oracle_closed(i);
	w->made = false;
	mdev_remove(w->mdev);
	FAIL_ON(!inside_lost() && !chip_is_zero(part.at, part.size),
		"S4: a partition is given back that is not empty");
	chip_look("a vGPU was removed");
}

bool world_open(u32 i, struct container *c)
{
	struct world_vgpu *w = V(i);
	struct mm_struct *was = task_mm();
	int ret;

	if (!was)
		task_mm_set(c->mm); /* so that the opener's process is known */
	ret = device_open(w->dev, c);
	task_mm_set(was);
	w->open = !ret;
	return w->open;
}

bool world_open_ioas(u32 i, struct container *c)
{
	struct world_vgpu *w = V(i);
	u32 id;

	if (w->dev->ops->bind_iommufd(w->dev, (struct iommufd_ctx *)c, &id))
		return false;
	w->open = !w->dev->ops->open_device(w->dev);
	if (w->open)
		return !ioas_attach(w->dev);
	w->dev->ops->unbind_iommufd(w->dev);
	return false;
}

void world_close(u32 i)
{
	struct world_vgpu *w = V(i);

	if (w->dev->iommufd_access) {
		w->dev->ops->close_device(w->dev);
		w->dev->ops->unbind_iommufd(w->dev);
	} else {
		device_close(w->dev);
	}
	w->open = false;
	oracle_closed(i);
	chip_look("a vGPU was closed");
}

void world_reset(u32 i)
{
	world.vgpu[i].dev->ops->ioctl(world.vgpu[i].dev, VFIO_DEVICE_RESET, 0);
}

/* ------------------------------------------------------------------ a VMM whose vGPUs run */

struct mm_struct *setup_mm;
struct container *setup_c;

void setup_run(u32 i, u32 chan, u32 space)
{
	struct world_vgpu *g = V(i);

	g_space(g, space);
	g_map_sys(g, space, 16, SETUP_RAM + i * 0x1000);
	g_map_sys(g, space, 17, SETUP_RAM + 0x80000);
	g_map_vram(g, space, 18, G_DATA);
	g_inst(g, chan, space, 0);
	g_bind(g, chan);
	LIST(g, chan);
	g_enable(g, chan, true);
	g_ring(g, chan, 1);
}

void setup_open(u32 i)
{
	FAIL_ON(!world_open(i, setup_c), "vGPU %u can't be opened", i);
	setup_run(i, 1, 0);
}

void setup_begin(const struct policy *p, const struct chip_manners *m, u32 vgpus)
{
	u32 i;

	world_begin(p->seed, m);
	setup_c = container_new();
	setup_mm = setup_c->mm;
	container_map(setup_c, SETUP_RAM, 0, SETUP_RAM);
	for (i = 0; i < vgpus; i++) {
		FAIL_ON(!world_make(i), "vGPU %u can't be made", i);
		setup_open(i);
	}
	harness_policy(p);
}
