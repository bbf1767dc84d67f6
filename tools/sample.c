// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads sysfs. The two tables list the files to read, which mdev/sysfs.c makes. In vgpu_fields,
 * files with one metric must follow each other: prometheus.c prints the head of a metric at the
 * first of them.
 */
#include "sample.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const struct field gpu_fields[GPU_FIELDS] = {
	[GPU_SLICE_US] = { "slice_us", "slice_seconds", NULL, UNIT_US,
			   "Longest slice of GPU time." },
	[GPU_WATCHDOG_MS] = { "watchdog_ms", "watchdog_seconds", NULL, UNIT_MS,
			      "Time without progress after which work is ended." },
	[GPU_BUSY_NS] = { "busy_ns", "busy_seconds_total", NULL, UNIT_NS,
			  "Time that the GPU worked for any vGPU." },
	[GPU_COPY_BUSY_NS] = { "copy_busy_ns", "copy_busy_seconds_total", NULL, UNIT_NS,
			       "Time that a copy engine beside the rest worked for any vGPU." },
	[GPU_SWITCHES] = { "switches", "switches_total", NULL, UNIT_ONE,
			   "Times that the GPU went from one vGPU to another." },
	[GPU_ENGINE_RESETS] = { "engine_resets", "engine_resets_total", NULL, UNIT_ONE,
				"Engines reset after a hang." },
	[GPU_INTERRUPTS] = { "chip_interrupts", "interrupts_total", NULL, UNIT_ONE,
			     "Interrupts of the GPU that the host served." },
	[GPU_TEMPERATURE] = { "temperature_mc", "temperature_celsius", NULL, UNIT_MILLIDEGREE,
			      "Temperature of the chip." },
	[GPU_CORE_CLOCK] = { "core_clock_khz", "core_clock_hertz", NULL, UNIT_KHZ,
			     "Clock of the graphics engine." },
	[GPU_MEM_CLOCK] = { "mem_clock_khz", "memory_clock_hertz", NULL, UNIT_KHZ,
			    "Clock of the video memory." },
	[GPU_LOST] = { "lost", "lost", NULL, UNIT_ONE,
		       "Whether the GPU was cut off: nothing runs until it is bound anew." },
	[GPU_ROOM_VRAM] = { "room_vram_mib", "room_memory_bytes", NULL, UNIT_MIB,
			    "Video memory that all vGPUs share." },
	[GPU_ROOM_BAR1] = { "room_bar1_mib", "room_bar1_bytes", NULL, UNIT_MIB,
			    "Part of BAR1 that all vGPUs share." },
	[GPU_ROOM_BAR3] = { "room_bar3_mib", "room_bar3_bytes", NULL, UNIT_MIB,
			    "Part of BAR3 that all vGPUs share." },
};

#define EXITS(file, kind)                                                     \
	{                                                                     \
		file, "exits_total", kind, UNIT_ONE,                          \
			"Accesses that left the guest, by what they went to." \
	}
#define REGISTERS(file, kind)                                                         \
	{                                                                             \
		file, "registers_total", kind, UNIT_ONE,                              \
			"Register accesses that no table lists, or that were denied." \
	}
#define SHADOW(file, metric, help)                 \
	{                                          \
		file, metric, NULL, UNIT_ONE, help \
	}

const struct field vgpu_fields[VGPU_FIELDS] = {
	[VGPU_GPU_TIME] = { "gpu_time_ns", "gpu_seconds_total", NULL, UNIT_NS,
			    "Time that the GPU worked for this vGPU." },
	[VGPU_COPY_TIME] = { "copy_time_ns", "copy_seconds_total", NULL, UNIT_NS,
			     "Time that a copy engine worked for this vGPU beside the rest." },
	[VGPU_ENTITLEMENT] = { "entitlement_ppm", "entitlement_ratio", NULL, UNIT_PPM,
			       "Part of the GPU that is this vGPU's by its weight." },
	[VGPU_WEIGHT] = { "weight", "weight", NULL, UNIT_ONE, "Weight of this vGPU." },
	[VGPU_CAP] = { "cap", "cap_ratio", NULL, UNIT_PERCENT,
		       "Part of the GPU that this vGPU may use at most." },
	[VGPU_RUNNABLE] = { "runnable", "runnable", NULL, UNIT_ONE, "Whether this vGPU has work." },
	[VGPU_SUSPENDED] = { "suspended", "suspended", NULL, UNIT_ONE,
			     "Whether this vGPU is kept from the GPU after too many strikes." },
	[VGPU_STRIKES] = { "strikes", "strikes_total", NULL, UNIT_ONE,
			   "Hangs and other harm to neighbours that this vGPU has caused." },
	[VGPU_SLICES] = { "slices", "slices_total", NULL, UNIT_ONE,
			  "Slices of GPU time that this vGPU got." },
	[VGPU_PREEMPTS] = { "preempts", "preempts_total", NULL, UNIT_ONE,
			    "Times that this vGPU was taken off the GPU." },
	[VGPU_PREEMPT_TOTAL] = { "preempt_ns_total", "preempt_seconds_total", NULL, UNIT_NS,
				 "Time that taking it off took, all together." },
	[VGPU_PREEMPT_MAX] = { "preempt_ns_max", "preempt_max_seconds", NULL, UNIT_NS,
			       "Longest time that taking it off took." },
	[VGPU_EXITS_BAR0_READ] = EXITS("exits_bar0_read", "bar0_read"),
	[VGPU_EXITS_BAR0_WRITE] = EXITS("exits_bar0_write", "bar0_write"),
	[VGPU_EXITS_BAR1_BAR3] = EXITS("exits_bar1_bar3", "bar1_bar3"),
	[VGPU_EXITS_CONFIG] = EXITS("exits_config", "config"),
	[VGPU_DOORBELLS_TRAPPED] = { "doorbells_trapped", "doorbells_trapped_total", NULL, UNIT_ONE,
				     "Doorbells that the host had to see." },
	[VGPU_PAGE_FAULTS] = { "page_faults", "page_faults_total", NULL, UNIT_ONE,
			       "Pages of the apertures mapped on access." },
	[VGPU_ZAPS] = { "zaps", "zaps_total", NULL, UNIT_ONE, "Ranges of the apertures unmapped." },
	[VGPU_HANDLER] = { "handler_ns", "handler_seconds_total", NULL, UNIT_NS,
			   "Time that the guest waited for exits and page faults to be served." },
	[VGPU_REGISTERS_UNLISTED] = REGISTERS("registers_unlisted", "unlisted"),
	[VGPU_REGISTERS_DENIED] = REGISTERS("registers_denied", "denied"),
	[VGPU_SHADOW_SYNCS] = SHADOW("shadow_syncs", "shadow_syncs_total",
				     "Times that shadow page tables were brought up to date."),
	[VGPU_SHADOW_TABLES] = SHADOW("shadow_tables_read", "shadow_tables_read_total",
				      "Page tables of the guest read for that."),
	[VGPU_SHADOW_BYTES] = SHADOW("shadow_bytes_read", "shadow_read_bytes_total",
				     "Bytes of the guest's page tables read for that."),
	[VGPU_SHADOW_COMPARED] =
		SHADOW("shadow_entries_compared", "shadow_entries_compared_total",
		       "Entries of the guest's page tables compared with the shadow."),
	[VGPU_SHADOW_WRITTEN] = SHADOW("shadow_entries_written", "shadow_entries_written_total",
				       "Shadow entries written."),
	[VGPU_SHADOW_REJECTED] = SHADOW("shadow_entries_rejected", "shadow_entries_rejected_total",
					"Entries of the guest that point nowhere it may go."),
	[VGPU_TLB_FLUSHES] = { "tlb_flushes", "tlb_flushes_total", NULL, UNIT_ONE, "TLB flushes." },
	[VGPU_PINNED_PAGES] = { "pinned_pages", "pinned_bytes", NULL, UNIT_PAGES,
				"Guest memory that is pinned for the GPU." },
	[VGPU_INTERRUPTS] = { "interrupts", "interrupts_total", NULL, UNIT_ONE,
			      "Interrupts given to the guest." },
	[VGPU_FAULTS] = { "faults", "faults_total", NULL, UNIT_ONE, "Faults of the guest's work." },
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/*
 * Read the first line of file @name into @text, without the line's end. False: there is no such
 * line, or it can't be printed.
 */
static bool read_line(int dir, const char *name, char *text, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n, i;

	if (fd < 0)
		return false;
	n = read(fd, text, size);
	close(fd);
	if (n <= 0 || (size_t)n == size)
		return false;
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	for (i = 0; text[i]; i++)
		if (!isprint((unsigned char)text[i]))
			return false;
	return text[0] != 0;
}

static struct value read_value(int dir, const struct field *f)
{
	struct value v = { false, 0 };
	char text[32], *end;

	if (!read_line(dir, f->file, text, sizeof(text)) || isspace((unsigned char)text[0]))
		return v;
	errno = 0;
	v.n = strtoll(text, &end, 10);
	v.known = !errno && !*end && (v.n >= 0 || f->unit == UNIT_MILLIDEGREE);
	return v;
}

/*
 * Read the present value of a choice, such as the policy. The file has either only that value
 * ("equal-share"), as the module writes it, or all values, with the present value in brackets
 * ("best-effort [equal-share] fixed-share").
 */
static void read_choice(int dir, const char *name, char *out)
{
	char text[256], *word = text, *end;

	out[0] = 0;
	if (!read_line(dir, name, text, sizeof(text)))
		return;
	end = strchr(text, '[');
	if (end) {
		word = end + 1;
		word[strcspn(word, "]")] = 0;
	}
	snprintf(out, TEXT_SIZE, "%.*s", TEXT_SIZE - 1, word);
}

static bool plain_name(const char *name)
{
	size_t n = strspn(name, "0123456789abcdefABCDEF:.-");

	return n && n < TEXT_SIZE && !name[n] && name[0] != '.';
}

/* Open the directory @path/kvgpu, and set *ino to its inode number. */
static int open_attributes(const char *path, ino_t *ino)
{
	char name[PATH_MAX];
	struct stat st;
	int fd;

	if ((size_t)snprintf(name, sizeof(name), "%s/kvgpu", path) >= sizeof(name))
		return -1;
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st))
		*ino = st.st_ino;
	return fd;
}

static void *grow(void *array, size_t nr, size_t size)
{
	void *more = realloc(array, (nr + 1) * size);

	if (!more) {
		fprintf(stderr, "kvgpu-top: out of memory\n");
		return NULL;
	}
	memset((char *)more + nr * size, 0, size);
	return more;
}

static struct gpu *add_gpu(struct sample *s, const char *address)
{
	struct gpu *more, *g;

	for (size_t i = 0; i < s->nr_gpus; i++)
		if (!strcmp(s->gpus[i].address, address))
			return &s->gpus[i];
	more = grow(s->gpus, s->nr_gpus, sizeof(*more));
	if (!more)
		return NULL;
	s->gpus = more;
	g = &more[s->nr_gpus++];
	snprintf(g->address, sizeof(g->address), "%s", address);
	return g;
}

/* Return the number after @key in MiB, as in "framebuffer=512M"; 0: there is none. */
static int64_t described_mib(const char *description, const char *key)
{
	const char *at = strstr(description, key);
	char *end;
	long mib;

	if (!at)
		return 0;
	mib = strtol(at + strlen(key), &end, 10);
	return *end == 'M' && mib > 0 && mib <= 1 << 20 ? mib : 0;
}

static void take_type(struct gpu_type *t, int types, const char *name)
{
	static const struct field available = { .file = "available_instances" };
	int dir = openat(types, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[256];

	snprintf(t->name, sizeof(t->name), "%s", name);
	if (dir < 0)
		return;
	t->available = read_value(dir, &available);
	if (read_line(dir, "description", text, sizeof(text))) {
		t->size.vram = described_mib(text, "framebuffer=");
		t->size.bar1 = described_mib(text, "bar1=");
		t->size.bar3 = described_mib(text, "bar3=");
	}
	close(dir);
}

static int compare_types(const void *a, const void *b)
{
	const struct gpu_type *x = a, *y = b;

	if (x->size.vram != y->size.vram)
		return x->size.vram < y->size.vram ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void take_types(struct gpu *g, const char *path)
{
	char name[PATH_MAX];
	struct dirent *e;
	DIR *dir;

	g->nr_types = 0;
	if ((size_t)snprintf(name, sizeof(name), "%s/mdev_supported_types", path) >= sizeof(name))
		return;
	dir = opendir(name);
	if (!dir)
		return;
	while (g->nr_types < GPU_TYPES && (e = readdir(dir)))
		if (!strncmp(e->d_name, "kvgpu-", 6) && strlen(e->d_name) < TEXT_SIZE)
			take_type(&g->types[g->nr_types++], dirfd(dir), e->d_name);
	closedir(dir);
	qsort(g->types, g->nr_types, sizeof(*g->types), compare_types);
}

static bool take_gpu(struct sample *s, const char *path, const char *address)
{
	struct gpu *g = add_gpu(s, address);
	int dir;

	if (!g)
		return false;
	g->when_ns = now_ns();
	take_types(g, path);
	dir = open_attributes(path, &g->ino);
	if (dir < 0)
		return true;
	read_choice(dir, "policy", g->policy);
	for (int i = 0; i < GPU_FIELDS; i++)
		g->v[i] = read_value(dir, &gpu_fields[i]);
	close(dir);
	return true;
}

/*
 * Write the last part of the target of link @path/@name to @out (TEXT_SIZE bytes). @out becomes
 * empty if there is none that fits and can be printed.
 */
static void link_name(const char *path, const char *name, char *out)
{
	char link[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t n;

	out[0] = 0;
	if ((size_t)snprintf(link, sizeof(link), "%s/%s", path, name) >= sizeof(link))
		return;
	n = readlink(link, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = 0;
	last = strrchr(target, '/');
	last = last ? last + 1 : target;
	for (n = 0; last[n]; n++)
		if (!isgraph((unsigned char)last[n]))
			return;
	if (n < TEXT_SIZE)
		memcpy(out, last, n + 1);
}

/* A mediated device of another parent driver has no directory kvgpu/, and is left out. */
static bool take_vgpu(struct sample *s, const char *path, const char *uuid)
{
	char real[PATH_MAX], *slash;
	struct vgpu *more, *g;
	struct stat st;
	ino_t ino = 0;
	int dir = open_attributes(path, &ino);

	if (dir < 0)
		return true;
	more = grow(s->vgpus, s->nr_vgpus, sizeof(*more));
	if (!more) {
		close(dir);
		return false;
	}
	s->vgpus = more;
	g = &more[s->nr_vgpus];
	snprintf(g->uuid, sizeof(g->uuid), "%s", uuid);
	strcpy(g->gpu, "?");
	link_name(path, "mdev_type", g->type);
	/* @path is a link to /sys/devices/.../0000:01:00.0/UUID */
	if (realpath(path, real) && (slash = strrchr(real, '/'))) {
		*slash = 0;
		slash = strrchr(real, '/');
		if (slash && plain_name(slash + 1))
			strcpy(g->gpu, slash + 1);
	}
	g->ino = ino;
	g->when_ns = now_ns();
	for (int i = 0; i < VGPU_FIELDS; i++)
		g->v[i] = read_value(dir, &vgpu_fields[i]);
	close(dir);
	/* the vGPU went away meanwhile */
	if (stat(path, &st))
		return true;
	s->nr_vgpus++;
	return add_gpu(s, g->gpu);
}

/*
 * Call @take for each entry of directory @root/@below with a name that looks like an address or a
 * UUID, until @take returns false. A missing directory has no entries.
 */
static bool each_entry(struct sample *s, const char *root, const char *below,
		       bool (*take)(struct sample *s, const char *path, const char *name))
{
	char dir_path[PATH_MAX], path[PATH_MAX];
	struct dirent *e;
	bool ok = true;
	DIR *dir;

	if ((size_t)snprintf(dir_path, sizeof(dir_path), "%s/%s", root, below) >= sizeof(dir_path))
		return true;
	dir = opendir(dir_path);
	if (!dir)
		return true;
	while (ok && (e = readdir(dir)))
		if (plain_name(e->d_name) && (size_t)snprintf(path, sizeof(path), "%s/%s", dir_path,
							      e->d_name) < sizeof(path))
			ok = take(s, path, e->d_name);
	closedir(dir);
	return ok;
}

static bool take_bound_gpu(struct sample *s, const char *path, const char *name)
{
	/*
	 * The directory of a PCI driver has links to its devices, which have a colon in their
	 * names.
	 */
	return !strchr(name, ':') || take_gpu(s, path, name);
}

static int compare_gpus(const void *a, const void *b)
{
	return strcmp(((const struct gpu *)a)->address, ((const struct gpu *)b)->address);
}

static int compare_vgpus(const void *a, const void *b)
{
	const struct vgpu *x = a, *y = b;
	int order = strcmp(x->gpu, y->gpu);

	return order ? order : strcmp(x->uuid, y->uuid);
}

bool sample_take(struct sample *s, const char *root)
{
	DIR *dir = opendir(root);

	memset(s, 0, sizeof(*s));
	if (!dir) {
		fprintf(stderr, "kvgpu-top: can't read %s: %s\n", root, strerror(errno));
		return false;
	}
	closedir(dir);
	if (!each_entry(s, root, "bus/pci/drivers/kvgpu", take_bound_gpu) ||
	    !each_entry(s, root, "bus/mdev/devices", take_vgpu)) {
		sample_free(s);
		return false;
	}
	if (s->nr_gpus)
		qsort(s->gpus, s->nr_gpus, sizeof(*s->gpus), compare_gpus);
	if (s->nr_vgpus)
		qsort(s->vgpus, s->nr_vgpus, sizeof(*s->vgpus), compare_vgpus);
	return true;
}

void sample_free(struct sample *s)
{
	free(s->gpus);
	free(s->vgpus);
	memset(s, 0, sizeof(*s));
}
