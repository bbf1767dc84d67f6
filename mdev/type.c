// SPDX-License-Identifier: GPL-2.0-only
/*
 * The types, and the card's parts that each vGPU of a type holds for its life: a partition of video
 * memory, a slice of BAR1 and of BAR3, and 1 MiB of BAR1 that shows the guest's PRAMIN window. All
 * four or none, under types_lock.
 *
 * What get_available tells is only a hint to user space (the mdev core does not act on it): the
 * reservation decides.
 */
#include <linux/sizes.h>
#include <linux/string.h>

#include "gk110/bar.h"
#include "mdev/internal.h"

#define PART_UNIT	SZ_512M
#define BAR1_UNIT	SZ_1M		/* bit i of the map: 1 MiB at i MiB */
#define BAR3_UNIT	SZ_2M
/* of BAR1 slices: mapped by 2 MiB pages where the kernel can */
#define SLICE_ALIGN	SZ_2M
#define MAP_BITS	256

/*
 * Sizes of the BARs must be powers of two. BAR3 shows page tables and instance blocks, of which a
 * guest has more when it has more programs rather than more memory: the smallest type has as much
 * as the next. Eight of the smallest, or 7 x 512m + 1g, fill the 32 MiB of BAR3; 1 x 4g + 1 x 512m
 * leave 12 MiB.
 */
static const struct {
	const char *name, *pretty;
	u64 vram, bar1, bar3;
} sizes[] = {
	{ "512m", "GK110-512M", SZ_512M, SZ_16M, SZ_4M },
	{ "1g", "GK110-1G", SZ_1G, SZ_32M, SZ_4M },
	{ "2g", "GK110-2G", SZ_2G, SZ_64M, SZ_8M },
	{ "4g", "GK110-4G", SZ_4G, SZ_128M, SZ_16M },
};
static_assert(ARRAY_SIZE(sizes) == ARRAY_SIZE(((struct kvgpu_gpu *)0)->type));

/* where the parts of one vGPU are, as units; what is free, as bitmaps */
struct place {
	unsigned long part, bar1, bar3, pramin;
};

struct space {
	unsigned long part[4], bar1[4], bar3[4];
};
static_assert(sizeof(((struct space *)0)->part) * BITS_PER_BYTE == MAP_BITS);

static bool take(unsigned long *map, u64 size, u64 unit, u64 align, unsigned long *at)
{
	unsigned int nr = size / unit;

	*at = bitmap_find_next_zero_area(map, MAP_BITS, 0, nr, max_t(u64, align / unit, 1) - 1);
	if (*at >= MAP_BITS)
		return false;
	bitmap_set(map, *at, nr);
	return true;
}

/* changes @s even when it fails: callers work on a copy */
static bool take_all(struct space *s, const struct kvgpu_type *t, struct place *p)
{
	return take(s->part, t->vram, PART_UNIT, PART_UNIT, &p->part) &&
	       take(s->bar1, t->bar1, BAR1_UNIT, SLICE_ALIGN, &p->bar1) &&
	       take(s->bar1, PRAMIN_SIZE, BAR1_UNIT, BAR1_UNIT, &p->pramin) &&
	       take(s->bar3, t->bar3, BAR3_UNIT, BAR3_UNIT, &p->bar3);
}

static void load(struct space *s, const struct kvgpu_gpu *gpu)
{
	memcpy(s->part, gpu->part_map, sizeof(s->part));
	memcpy(s->bar1, gpu->bar_map, sizeof(s->bar1));
	memcpy(s->bar3, gpu->bar3_map, sizeof(s->bar3));
}

static void store(const struct space *s, struct kvgpu_gpu *gpu)
{
	memcpy(gpu->part_map, s->part, sizeof(s->part));
	memcpy(gpu->bar_map, s->bar1, sizeof(s->bar1));
	memcpy(gpu->bar3_map, s->bar3, sizeof(s->bar3));
}

static unsigned int count_fitting(struct space *s, const struct kvgpu_type *t)
{
	struct place p;
	unsigned int n = 0;

	while (take_all(s, t, &p))
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

/* the maps of an empty card: all that is no card, or the host's, is taken */
static void load_empty(struct space *s, const struct kvgpu_gpu *gpu)
{
	const struct kvgpu_hw *hw = &gpu->hw;

	memset(s, 0, sizeof(*s));
	take_range_outside(s->part, 0, (hw->part_end - hw->part_first) / PART_UNIT);
	take_range_outside(s->bar1, (KVGPU_USERD_SIZE + KVGPU_MIRROR_SIZE) / BAR1_UNIT,
			   (hw->bar1_size - KVGPU_POOL_SIZE) / BAR1_UNIT);
	take_range_outside(s->bar3, 0, hw->bar3_size / BAR3_UNIT);
}

unsigned int kvgpu_type_max(const struct kvgpu_gpu *gpu, const struct kvgpu_type *t)
{
	struct space s;

	load_empty(&s, gpu);
	return count_fitting(&s, t);
}

unsigned int kvgpu_type_available(struct kvgpu_gpu *gpu, const struct kvgpu_type *t)
{
	struct space s;

	mutex_lock(&gpu->types_lock);
	load(&s, gpu);
	mutex_unlock(&gpu->types_lock);
	return count_fitting(&s, t);
}

/* only types of which an empty card holds at least one are offered */
int kvgpu_types_init(struct kvgpu_gpu *gpu)
{
	struct space s;
	unsigned int i;

	if (gpu->hw.part_end < gpu->hw.part_first ||
	    gpu->hw.bar1_size < KVGPU_USERD_SIZE + KVGPU_MIRROR_SIZE + KVGPU_POOL_SIZE)
		return -ENOSPC;
	load_empty(&s, gpu);
	store(&s, gpu);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct kvgpu_type *t = &gpu->type[gpu->nr_types];

		t->vram = sizes[i].vram;
		t->bar1 = sizes[i].bar1;
		t->bar3 = sizes[i].bar3;
		if (!kvgpu_type_max(gpu, t))
			continue;
		t->base.sysfs_name = sizes[i].name;
		t->base.pretty_name = sizes[i].pretty;
		gpu->types[gpu->nr_types++] = &t->base;
	}
	if (gpu->nr_types)
		return 0;
	dev_err(&gpu->hw.pdev->dev, "%llu MiB of video memory for partitions are less than the smallest type needs\n",
		(gpu->hw.part_end - gpu->hw.part_first) / SZ_1M);
	return -ENOSPC;
}

int kvgpu_type_reserve(struct kvgpu_gpu *gpu, struct kvgpu_vgpu *v)
{
	const struct kvgpu_type *t = v->type;
	struct space s;
	struct place p;
	bool ok;

	mutex_lock(&gpu->types_lock);
	load(&s, gpu);
	ok = take_all(&s, t, &p);
	if (ok) {
		store(&s, gpu);
		v->id = ++gpu->next_id;
		refcount_inc(&gpu->users);
	}
	mutex_unlock(&gpu->types_lock);
	if (!ok)
		return -ENOSPC;
	v->part.v = gpu->hw.part_first + (u64)p.part * PART_UNIT;
	v->part_size = t->vram;
	v->bar1_slice = (u64)p.bar1 * BAR1_UNIT;
	v->bar3_slice = (u64)p.bar3 * BAR3_UNIT;
	v->pramin_slice = (u64)p.pramin * BAR1_UNIT;
	return 0;
}

/* @v's parts are free for others when this returns, and @gpu may go away */
void kvgpu_type_unreserve(struct kvgpu_gpu *gpu, struct kvgpu_vgpu *v)
{
	mutex_lock(&gpu->types_lock);
	bitmap_clear(gpu->part_map, (v->part.v - gpu->hw.part_first) / PART_UNIT,
		     v->part_size / PART_UNIT);
	bitmap_clear(gpu->bar_map, v->bar1_slice / BAR1_UNIT, v->type->bar1 / BAR1_UNIT);
	bitmap_clear(gpu->bar_map, v->pramin_slice / BAR1_UNIT, PRAMIN_SIZE / BAR1_UNIT);
	bitmap_clear(gpu->bar3_map, v->bar3_slice / BAR3_UNIT, v->type->bar3 / BAR3_UNIT);
	mutex_unlock(&gpu->types_lock);
	if (refcount_dec_and_test(&gpu->users))
		complete(&gpu->idle);
}
