// SPDX-License-Identifier: GPL-2.0-only
/*
 * The types, and the parts of the card that each vGPU of a type holds for its life: a partition of
 * video memory, a slice of BAR1 and of BAR3, and 1 MiB of BAR1 that shows the video memory behind
 * the guest's PRAMIN window (1 MiB of its BAR0). A vGPU gets all four or none, under types_lock.
 *
 * .get_available of kvgpu_mdev_driver tells user space how many more vGPUs of a type fit. The mdev
 * core does not enforce that number; vgpu_type_reserve() refuses a vGPU whose parts do not fit.
 */
#include <linux/sizes.h>
#include <linux/string.h>

#include "gk110/bar.h"
#include "mdev/internal.h"

#define PART_UNIT SZ_512M
#define BAR1_UNIT SZ_1M /* bit i of BAR1's map is the 1 MiB at offset i MiB */
#define BAR3_UNIT SZ_2M
/* alignment of BAR1 slices, so that the kernel can map them by 2 MiB pages */
#define SLICE_ALIGN SZ_2M
#define MAP_BITS    256

/*
 * Sizes of the BARs must be powers of two. A guest writes its page tables and instance blocks (data
 * of channels) through BAR3. How much of BAR3 a guest needs depends on how many programs it runs,
 * and a guest of the smallest type may run many, too. So the smallest type has as much BAR3 as the
 * second smallest.
 */
static const struct {
	const char *name, *pretty;
	u64 vram, bar[KVGPU_NR_BARS];
} sizes[] = {
	{ "512m", "GK110-512M", SZ_512M, { SZ_16M, SZ_4M } },
	{ "1g", "GK110-1G", SZ_1G, { SZ_32M, SZ_4M } },
	{ "2g", "GK110-2G", SZ_2G, { SZ_64M, SZ_8M } },
	{ "4g", "GK110-4G", SZ_4G, { SZ_128M, SZ_16M } },
};
static_assert(ARRAY_SIZE(sizes) == ARRAY_SIZE(((struct kvgpu_gpu *)0)->type));

/*
 * struct place: where the parts of one vGPU begin, in units (PART_UNIT, BAR1_UNIT, BAR3_UNIT).
 * struct space: bitmaps of the units of a card that are taken.
 */
struct place {
	unsigned long part, bar[KVGPU_NR_BARS], pramin;
};

struct space {
	unsigned long part[4], bar[KVGPU_NR_BARS][4];
};
static_assert(sizeof(((struct space *)0)->part) * BITS_PER_BYTE == MAP_BITS);

static bool units_take(unsigned long *map, u64 size, u64 unit, u64 align, unsigned long *at)
{
	unsigned int nr = size / unit;

	*at = bitmap_find_next_zero_area(map, MAP_BITS, 0, nr, max_t(u64, align / unit, 1) - 1);
	if (*at >= MAP_BITS)
		return false;
	bitmap_set(map, *at, nr);
	return true;
}

/*
 * Takes the parts that a vGPU of type @t needs from @s, and notes their places in @p. Returns false
 * if a part does not fit; the parts before it are taken in @s all the same. So callers pass a copy
 * of the card's maps.
 */
static bool parts_take(struct space *s, const struct kvgpu_type *t, struct place *p)
{
	return units_take(s->part, t->vram, PART_UNIT, PART_UNIT, &p->part) &&
	       units_take(s->bar[KVGPU_BAR1], t->bar[KVGPU_BAR1], BAR1_UNIT, SLICE_ALIGN,
			  &p->bar[KVGPU_BAR1]) &&
	       units_take(s->bar[KVGPU_BAR1], PRAMIN_SIZE, BAR1_UNIT, BAR1_UNIT, &p->pramin) &&
	       units_take(s->bar[KVGPU_BAR3], t->bar[KVGPU_BAR3], BAR3_UNIT, BAR3_UNIT,
			  &p->bar[KVGPU_BAR3]);
}

static void maps_load(struct space *s, const struct kvgpu_gpu *gpu)
{
	memcpy(s->part, gpu->part_map, sizeof(s->part));
	memcpy(s->bar, gpu->bar_map, sizeof(s->bar));
}

static void maps_store(const struct space *s, struct kvgpu_gpu *gpu)
{
	memcpy(gpu->part_map, s->part, sizeof(s->part));
	memcpy(gpu->bar_map, s->bar, sizeof(s->bar));
}

static unsigned int vgpus_count_fitting(struct space *s, const struct kvgpu_type *t)
{
	struct place p;
	unsigned int n = 0;

	while (parts_take(s, t, &p))
		n++;
	return n;
}

static void take_range_outside(unsigned long *map, u64 first, u64 end)
{
	first = min_t(u64, first, MAP_BITS);
	end = clamp_t(u64, end, first, MAP_BITS);
	bitmap_set(map, 0, first);
	bitmap_set(map, end, MAP_BITS - end);
}

/*
 * Makes the maps of a card without vGPUs. Units beyond the end of the card's memory or BAR, and
 * units that the host uses itself, are marked as taken.
 */
static void maps_load_empty(struct space *s, const struct kvgpu_gpu *gpu)
{
	const struct kvgpu_hw *hw = &gpu->hw;

	memset(s, 0, sizeof(*s));
	take_range_outside(s->part, 0, (hw->part_end - hw->part_first) / PART_UNIT);
	take_range_outside(s->bar[KVGPU_BAR1], (KVGPU_USERD_SIZE + KVGPU_MIRROR_SIZE) / BAR1_UNIT,
			   (hw->bar[KVGPU_BAR1].size - KVGPU_POOL_SIZE) / BAR1_UNIT);
	take_range_outside(s->bar[KVGPU_BAR3], 0, hw->bar[KVGPU_BAR3].size / BAR3_UNIT);
}

static u64 free_bytes(const unsigned long *map, u64 unit)
{
	return (MAP_BITS - bitmap_weight(map, MAP_BITS)) * unit;
}

void vgpu_types_room_get(const struct kvgpu_gpu *gpu, struct vgpu_types_room *room)
{
	struct space s;

	maps_load_empty(&s, gpu);
	room->vram = free_bytes(s.part, PART_UNIT);
	room->bar[KVGPU_BAR1] = free_bytes(s.bar[KVGPU_BAR1], BAR1_UNIT);
	room->bar[KVGPU_BAR3] = free_bytes(s.bar[KVGPU_BAR3], BAR3_UNIT);
}

unsigned int vgpu_type_max(const struct kvgpu_gpu *gpu, const struct kvgpu_type *t)
{
	struct space s;

	maps_load_empty(&s, gpu);
	return vgpus_count_fitting(&s, t);
}

unsigned int vgpu_type_available(struct kvgpu_gpu *gpu, const struct kvgpu_type *t)
{
	struct space s;

	mutex_lock(&gpu->types_lock);
	maps_load(&s, gpu);
	mutex_unlock(&gpu->types_lock);
	return vgpus_count_fitting(&s, t);
}

/* Adds to gpu->types the types of which the empty card can hold a vGPU. */
int vgpu_types_init(struct kvgpu_gpu *gpu)
{
	struct space s;
	unsigned int i;

	if (gpu->hw.part_end < gpu->hw.part_first ||
	    gpu->hw.bar[KVGPU_BAR1].size < KVGPU_USERD_SIZE + KVGPU_MIRROR_SIZE + KVGPU_POOL_SIZE)
		return -ENOSPC;
	maps_load_empty(&s, gpu);
	maps_store(&s, gpu);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct kvgpu_type *t = &gpu->type[gpu->nr_types];

		t->vram = sizes[i].vram;
		memcpy(t->bar, sizes[i].bar, sizeof(t->bar));
		if (!vgpu_type_max(gpu, t))
			continue;
		t->base.sysfs_name = sizes[i].name;
		t->base.pretty_name = sizes[i].pretty;
		gpu->types[gpu->nr_types++] = &t->base;
	}
	if (gpu->nr_types)
		return 0;
	dev_err(&gpu->hw.pdev->dev,
		"%llu MiB of video memory for partitions are less than the smallest type needs\n",
		(gpu->hw.part_end - gpu->hw.part_first) / SZ_1M);
	return -ENOSPC;
}

int vgpu_type_reserve(struct kvgpu_gpu *gpu, struct kvgpu_vgpu *v)
{
	const struct kvgpu_type *t = v->type;
	struct space s;
	struct place p;
	bool ok;

	mutex_lock(&gpu->types_lock);
	maps_load(&s, gpu);
	ok = parts_take(&s, t, &p);
	if (ok) {
		maps_store(&s, gpu);
		v->id = ++gpu->next_id;
		refcount_inc(&gpu->users);
	}
	mutex_unlock(&gpu->types_lock);
	if (!ok)
		return -ENOSPC;
	v->part.v = gpu->hw.part_first + (u64)p.part * PART_UNIT;
	v->part_size = t->vram;
	v->slice[KVGPU_BAR1] = (u64)p.bar[KVGPU_BAR1] * BAR1_UNIT;
	v->slice[KVGPU_BAR3] = (u64)p.bar[KVGPU_BAR3] * BAR3_UNIT;
	v->pramin_slice = (u64)p.pramin * BAR1_UNIT;
	return 0;
}

/*
 * Gives back the parts of the card that @v has. When this returns, other vGPUs may take these
 * parts, and kvgpu_remove() of the PCI driver may free @gpu.
 */
void vgpu_type_unreserve(struct kvgpu_gpu *gpu, struct kvgpu_vgpu *v)
{
	mutex_lock(&gpu->types_lock);
	bitmap_clear(gpu->part_map, (v->part.v - gpu->hw.part_first) / PART_UNIT,
		     v->part_size / PART_UNIT);
	bitmap_clear(gpu->bar_map[KVGPU_BAR1], v->slice[KVGPU_BAR1] / BAR1_UNIT,
		     v->type->bar[KVGPU_BAR1] / BAR1_UNIT);
	bitmap_clear(gpu->bar_map[KVGPU_BAR1], v->pramin_slice / BAR1_UNIT,
		     PRAMIN_SIZE / BAR1_UNIT);
	bitmap_clear(gpu->bar_map[KVGPU_BAR3], v->slice[KVGPU_BAR3] / BAR3_UNIT,
		     v->type->bar[KVGPU_BAR3] / BAR3_UNIT);
	mutex_unlock(&gpu->types_lock);
	if (refcount_dec_and_test(&gpu->users))
		complete(&gpu->idle);
}
