// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much video memory is in use on each GPU, and by whom. Processes for which the variable
 * KVGPU_INPROCESS_CARD names one file share the room of its GPUs, though no contents. A process has
 * a row in the file and, for its life, a lock on the byte of the row's number: a row without one is
 * free. The file's flock() is held while memory is taken. Without the variable the process has GPUs
 * of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuda/api/process.h>
#include <cuda/api/usage.h>
#include <cuda/kepler/driver/driver.h>

#include "inprocess.h"

enum { ROWS = 128 };

struct row {
	pid_t pid;
	atomic_uint_least64_t bytes[MAX_GPUS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct row own_cards[1], *rows; /* NULL: the file is not to be had */
static struct row *mine; /* of .rows, once the process has one */
static unsigned int nr_rows;
static int file = -1;

static void open_cards(void)
{
	const char *path = getenv("KVGPU_INPROCESS_CARD");
	void *at = MAP_FAILED;

	if (!path || !*path) {
		rows = mine = own_cards;
		nr_rows = 1;
		return;
	}
	file = own_descriptor(open(path, O_RDWR | O_CLOEXEC));
	if (file >= 0 && !ftruncate(file, ROWS * sizeof(*rows)))
		at = mmap(NULL, ROWS * sizeof(*rows), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (at == MAP_FAILED) {
		fprintf(stderr,
			"inprocess: KVGPU_INPROCESS_CARD=%s: %s; make an empty file that all its processes may write\n",
			path, strerror(errno));
		return;
	}
	rows = at;
	nr_rows = ROWS;
}

/* whether a process has the row, and lives */
static bool is_taken(const struct row *r)
{
	struct flock l = { .l_type = F_WRLCK, .l_start = r - rows, .l_len = 1 };

	return r == mine || r->pid == getpid() || fcntl(file, F_GETLK, &l) || l.l_type != F_UNLCK;
}

static uint64_t all_used(unsigned int gpu)
{
	uint64_t used = 0;
	unsigned int i;

	for (i = 0; i < nr_rows; i++)
		if (atomic_load(&rows[i].bytes[gpu]) && is_taken(&rows[i]))
			used += atomic_load(&rows[i].bytes[gpu]);
	return used;
}

/* `lock` held */
static bool take_row(void)
{
	struct flock l = { .l_type = F_WRLCK, .l_len = 1 };
	unsigned int i;

	for (i = 0; i < nr_rows && !mine; i++) {
		l.l_start = i;
		if (rows[i].pid == getpid() || fcntl(file, F_SETLK, &l))
			continue;
		memset(&rows[i], 0, sizeof(rows[i]));
		rows[i].pid = getpid();
		mine = &rows[i];
	}
	return mine;
}

bool card_take(unsigned int gpu, uint64_t bytes)
{
	bool there;

	pthread_once(&once, open_cards);
	pthread_mutex_lock(&lock);
	flock(file, LOCK_EX);
	there = take_row() && all_used(gpu) + bytes <= in_vram_size();
	if (there)
		atomic_fetch_add(&mine->bytes[gpu], bytes);
	flock(file, LOCK_UN);
	pthread_mutex_unlock(&lock);
	return there;
}

void card_give(unsigned int gpu, uint64_t bytes)
{
	atomic_fetch_sub(&mine->bytes[gpu], bytes);
}

uint64_t card_used(unsigned int gpu)
{
	pthread_once(&once, open_cards);
	return all_used(gpu);
}

/* ------------------------------------------------------------------ for libnvidia-ml.so.1 */

CUresult driver_device_usage(CUdevice dev, struct kvgpu_usage *out); /* inprocess.mk */

/* The processes that have a row, where there is a file; else those that /proc tells. */
CUresult kvgpu_device_usage(CUdevice dev, struct kvgpu_usage *out)
{
	CUresult r = driver_device_usage(dev, out);
	unsigned int i;

	pthread_once(&once, open_cards);
	if (r || file < 0)
		return r;
	out->here = false;
	for (i = 0; i < nr_rows && out->nr_processes < USAGE_PROCESSES; i++)
		if (rows[i].pid && is_taken(&rows[i]))
			out->process[out->nr_processes++] = (struct kvgpu_usage_process){
				atomic_load(&rows[i].bytes[driver_gpu(dev)]), rows[i].pid
			};
	return CUDA_SUCCESS;
}
