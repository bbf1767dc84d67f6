// SPDX-License-Identifier: GPL-2.0-only
/*
 * As much of a GK110 as launches need: memory, page tables made by hand, the MMU, the shader
 * machine. No front end.
 */
#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <mmu/fake.h>

#include <cuda/api/process.h>

#include "inprocess.h"

enum { MIB = 1 << 20, VRAM_MIB = 4096, TABLES_MIB = 64, HOST_MIB = 2048 };
#define HOST_VA	    0x1000000000ull
#define HOST_VA_END 0x8000000000ull
#define VRAM_VA	    HOST_VA_END
#define VRAM_VA_END 0xff00000000ull
#define SPACE_LIMIT 0xffffffffffull

uint64_t in_setting(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

bool in_verbose(void)
{
	return in_setting("KVGPU_INPROCESS_VERBOSE", 0);
}

uint64_t in_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

unsigned int in_nr_gpus(void)
{
	uint64_t n = in_setting("KVGPU_INPROCESS_GPUS", 1);

	return n < MAX_GPUS ? n : MAX_GPUS;
}

uint64_t in_vram_size(void)
{
	return in_setting("KVGPU_INPROCESS_VRAM_MIB", VRAM_MIB) * MIB;
}

/* --------------------------------------------------------- what the units here call of the rest */

void pmc_intr_set(struct gk110 *g, unsigned int bit, bool level)
{
}

void fifo_intr_raise(struct gk110 *g, uint32_t bits)
{
}

void fifo_intr_update(struct gk110 *g)
{
}

void fifo_bar1_written(struct gk110 *g, uint64_t off, unsigned int size)
{
}

void fifo_engine_resume(struct gk110 *g, unsigned int engine)
{
}

void fifo_kick(struct gk110 *g)
{
}

uint64_t ptimer_now(struct gk110 *g)
{
	return in_now() & ~31ull;
}

void gk110_note(struct gk110 *g, const char *fmt, ...)
{
	va_list args;

	if (!in_verbose())
		return;
	va_start(args, fmt);
	fprintf(stderr, "inprocess: ");
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
}

void gk110_err(const char *fmt, ...)
{
}

/* ------------------------------------------------------------------ address space */

static void map_page(struct in_device *d, const struct in_memory *m, uint64_t i, bool there,
		     bool big)
{
	const struct in_memory *in = m->away ? m->away : m;

	if (!there)
		fake_unmap(d->f, d->vm, m->base.va + i, big);
	else if (in->arena == &d->host)
		fake_map(d->f, d->vm, m->base.va + i, FAKE_IOVA + in->at + i, MEM_SYS_COH, 0, big);
	else
		fake_map(d->f, d->vm, m->base.va + i, m->at + i, MEM_VRAM,
			 m->tiled ? FIELD_PREP(GMMU_PTE_KIND, GMMU_KIND_GENERIC) : 0, big);
}

/*
 * The MMU keeps directory entries, too: a table that is new in one asks for an invalidate. As with
 * nouveau, memory that can move has small pages.
 */
void in_map(struct in_device *d, const struct in_memory *m, bool there)
{
	unsigned int shift = fake_big_shift(d->f), span = shift + GMMU_BIG_PTES_SHIFT;
	bool big = m->arena == &d->vram && !d->moves && !(m->base.size % (1u << shift)) &&
		   !(m->base.va % (1u << shift)),
	     stale = !there;
	uint64_t page = big ? 1u << shift : GK110_PAGE, i;

	for (i = 0; i < m->base.size; i += page) {
		uint64_t slot = d->vm->pdb + ((m->base.va + i) >> span) * 8,
			 before = fake_rd64(d->f, slot);

		map_page(d, m, i, there, big);
		stale |= fake_rd64(d->f, slot) != before;
	}
	if (stale)
		fake_invalidate(d->f, d->vm->pdb, 0, 3);
}

/* ------------------------------------------------------------------ life */

/* memory of @file at one address for CPU and GPU, which no other device has; NULL */
static uint8_t *same_address(int file, uint64_t size)
{
	uint64_t at;

	for (at = HOST_VA; at + size <= HOST_VA_END; at += size) {
		void *want = (void *)(uintptr_t)at, *got;

		got = mmap(want, size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
		if (got == want)
			return got;
		if (got != MAP_FAILED)
			munmap(got, size);
	}
	return NULL;
}

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct in_device *open_chips;

/* Addresses for @d's video memory that no other device has; 0: none are left. */
static uint64_t take_addresses(struct in_device *d, uint64_t size)
{
	struct in_device *other;
	uint64_t at = VRAM_VA;
	bool moved;

	pthread_mutex_lock(&open_lock);
	do {
		moved = false;
		for (other = open_chips; other; other = other->next)
			if (other->vram.va < at + size && at < other->vram.va + other->vram.size) {
				at = other->vram.va + other->vram.size;
				moved = true;
			}
	} while (moved);
	d->vram.va = at + size <= VRAM_VA_END ? at : 0;
	d->vram.size = size;
	if (d->vram.va) {
		d->next = open_chips;
		open_chips = d;
	}
	pthread_mutex_unlock(&open_lock);
	return d->vram.va;
}

static void return_addresses(struct in_device *d)
{
	struct in_device **at;

	pthread_mutex_lock(&open_lock);
	for (at = &open_chips; *at && *at != d; at = &(*at)->next)
		;
	if (*at)
		*at = d->next;
	pthread_mutex_unlock(&open_lock);
}

bool in_chip_open(struct in_device *d)
{
	uint64_t vram = in_vram_size(), host = (uint64_t)HOST_MIB * MIB;
	int file = own_descriptor(memfd_create("host memory of a GPU", MFD_CLOEXEC));
	unsigned int i;

	d->host.file = file;
	d->f = fake_create(vram + (uint64_t)TABLES_MIB * MIB, host);
	d->g = &d->f->g;
	free(d->f->guest);
	d->f->guest = file < 0 || ftruncate(file, host) ? NULL : same_address(file, host);
	d->vm = calloc(1, sizeof(*d->vm));
	d->g->gr = calloc(1, sizeof(*d->g->gr));
	if (!board_find("k20m", &d->g->cfg.board) || !d->vm || !d->g->gr || !d->f->guest ||
	    !take_addresses(d, vram))
		return false;
	for (i = 0; i < GR_NR_GPC; i++)
		if (mmu_client_init(d->g, &d->g->gr->gcc[i], "GCC", 0, GR_GPC_GCC, i))
			return false;
	if (sm_init(d->g))
		return false;
	*d->vm = fake_vm_create(d->f, SPACE_LIMIT);
	d->space = fake_space(d->f, d->vm);
	d->vram.bytes = d->g->vram;
	d->host = (struct arena){
		.bytes = d->f->guest, .file = file, .va = (uintptr_t)d->f->guest, .size = host
	};
	return true;
}

void in_chip_close(struct in_device *d)
{
	unsigned int i;

	return_addresses(d);
	if (d->host.file >= 0)
		close(d->host.file);
	if (d->g->gr) {
		sm_fini(d->g);
		for (i = 0; i < GR_NR_GPC; i++)
			mmu_client_fini(d->g, &d->g->gr->gcc[i]);
		free(d->g->gr);
	}
	free(d->vm);
	if (d->f->guest)
		munmap(d->f->guest, d->f->guest_size);
	d->f->guest = NULL;
	fake_destroy(d->f);
}
