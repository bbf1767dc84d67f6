// SPDX-License-Identifier: MIT
/*
 * How much memory the GPUs have, and which process has how much of it. The first process loads no
 * library, and NVML in a process that sleeps does not return: so a process of its own asks NVML,
 * confined as a client's, and writes readings to a pipe, a GPU each. It runs only while they are
 * needed. The first process bounds what it reads.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda/api/text.h>

#include "supervisor.h"

#define NVML "libnvidia-ml.so.1"

enum {
	EACH_US = 250000,
	PROCESSES = 200, /* read_for_ever() says this number, too */
	/* it goes when it was not needed for so long, or is silent; comes again after a failure */
	UNNEEDED_MS = 5000,
	SILENT_MS = 20000,
	FAILED_MS = 10000,
	AT_ONCE = 64
};

/* one write() to the pipe, which keeps it whole: less than a page */
struct reading {
	uint32_t gpu, nr_gpus; /* 0: there is none, and .name says why */
	uint32_t nr_processes, unused;
	uint8_t uuid[16];
	char name[96];
	uint64_t total, free;
	struct {
		uint64_t pid, bytes; /* UINT64_MAX: not known */
	} processes[PROCESSES];
};
_Static_assert(sizeof(struct reading) <= 4096, "a pipe keeps what is longer whole no more");

/* ------------------------------------------------------------------ the process that asks */

/* as NVIDIA's nvml.h has them */
struct nvml_memory {
	unsigned long long total, free, used;
};
enum { INSUFFICIENT_SIZE = 7 };
struct nvml_process {
	unsigned int pid;
	unsigned long long bytes;
	unsigned int instance, compute_instance;
};

static struct nvml {
	int (*init)(void);
	int (*count)(unsigned int *n);
	int (*device)(unsigned int i, void **device);
	int (*name)(void *device, char *name, unsigned int size);
	int (*uuid)(void *device, char *uuid, unsigned int size);
	int (*memory)(void *device, struct nvml_memory *memory);
	int (*processes)(void *device, unsigned int *n, struct nvml_process *list);
} nvml;

static const struct {
	const char *name;
	void *to;
} nvml_calls[] = {
	{ "nvmlInit_v2", &nvml.init },
	{ "nvmlDeviceGetCount_v2", &nvml.count },
	{ "nvmlDeviceGetHandleByIndex_v2", &nvml.device },
	{ "nvmlDeviceGetName", &nvml.name },
	{ "nvmlDeviceGetUUID", &nvml.uuid },
	{ "nvmlDeviceGetMemoryInfo", &nvml.memory },
	{ "nvmlDeviceGetComputeRunningProcesses_v3", &nvml.processes },
};

static void send_reading(int fd, const struct reading *r)
{
	if (write(fd, r, sizeof(*r)) < 0 && errno != EAGAIN)
		_exit(0); /* nobody reads */
}

static void fail_meter(int fd, const char *what, const char *why) __attribute__((noreturn));
static void fail_meter(int fd, const char *what, const char *why)
{
	struct reading r = { 0 };

	snprintf(r.name, sizeof(r.name), "%s: %s", what, why);
	send_reading(fd, &r);
	_exit(0);
}

/* beside the libcuda.so.1 that serves clients, if that is a path; else where the loader finds it */
static void *load_nvml(const char *library)
{
	const char *end = strrchr(library, '/');
	char path[sizeof(((struct remoted_conf *)0)->library) + sizeof(NVML)];
	void *lib = NULL;

	if (end) {
		snprintf(path, sizeof(path), "%.*s/" NVML, (int)(end - library), library);
		lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return lib ?: dlopen(NVML, RTLD_NOW | RTLD_LOCAL);
}

static void begin_nvml(int fd, const char *library)
{
	void *lib = load_nvml(library), *call;
	char number[32];
	size_t i;
	int r;

	if (!lib)
		fail_meter(fd, NVML, "is missing, or can't be loaded");
	for (i = 0; i < sizeof(nvml_calls) / sizeof(*nvml_calls); i++) {
		call = dlsym(lib, nvml_calls[i].name);
		if (!call)
			fail_meter(fd, NVML " lacks", nvml_calls[i].name);
		memcpy(nvml_calls[i].to, &call, sizeof(call));
	}
	r = nvml.init();
	snprintf(number, sizeof(number), "error %d of NVML", r);
	if (r)
		fail_meter(fd, "nvmlInit_v2", number);
}

/* "GPU-" and 32 hexadecimal digits, with dashes between */
static void read_uuid(const char *text, uint8_t uuid[16])
{
	unsigned int n = 0, digit;

	for (text += strncmp(text, "GPU-", 4) ? 0 : 4; *text && n < 32; text++) {
		if (!isxdigit((unsigned char)*text))
			continue;
		digit = isdigit((unsigned char)*text) ? *text - '0' : (*text | 0x20) - 'a' + 10;
		uuid[n / 2] = uuid[n / 2] << 4 | digit;
		n++;
	}
}

/*
 * Of a GPU that does not answer, as one that is lost, nothing is free. False: it has more processes
 * than a reading has room for, so nobody knows where those are that it would not list.
 */
static bool read_gpu(unsigned int gpu, unsigned int nr_gpus, struct reading *r)
{
	struct nvml_process list[PROCESSES];
	struct nvml_memory memory = { 0 };
	unsigned int n = PROCESSES, i;
	char uuid[96] = "";
	void *device;
	int error;

	*r = (struct reading){ .gpu = gpu, .nr_gpus = nr_gpus };
	if (nvml.device(gpu, &device) || nvml.memory(device, &memory) ||
	    nvml.uuid(device, uuid, sizeof(uuid)) || nvml.name(device, r->name, sizeof(r->name)))
		return true;
	read_uuid(uuid, r->uuid);
	r->total = memory.total;
	r->free = memory.free;
	error = nvml.processes(device, &n, list);
	if (error == INSUFFICIENT_SIZE)
		return false;
	for (i = 0; !error && i < n && i < PROCESSES; i++) {
		r->processes[i].pid = list[i].pid;
		r->processes[i].bytes = list[i].bytes;
	}
	r->nr_processes = i;
	return true;
}

static void read_for_ever(int fd, const char *library) __attribute__((noreturn));
static void read_for_ever(int fd, const char *library)
{
	static struct reading r;
	unsigned int gpu, n;

	begin_nvml(fd, library);
	for (;; usleep(EACH_US)) {
		if (nvml.count(&n) || !n)
			fail_meter(fd, NVML, "it knows no GPU");
		for (gpu = 0; gpu < n && gpu < SLEEP_GPUS; gpu++) {
			if (!read_gpu(gpu, n < SLEEP_GPUS ? n : SLEEP_GPUS, &r))
				fail_meter(fd, NVML, "more than 200 processes are on a GPU");
			send_reading(fd, &r);
		}
	}
}

/* ------------------------------------------------------------------ the first process */

void meter_end(struct supervisor *s)
{
	struct meter *m = &s->meter;

	if (m->pid > 0)
		kill(m->pid, SIGKILL);
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

static void fail(struct supervisor *s, const char *why)
{
	if (strncmp(s->meter.why, why, sizeof(s->meter.why) - 1))
		say("nobody knows how much memory the GPUs have, so no program is put to sleep, and none wakes: %s",
		    why);
	snprintf(s->meter.why, sizeof(s->meter.why), "%s", why);
	s->sleepers.blind = true;
	s->meter.next_ms = now_ms() + FAILED_MS;
	meter_end(s);
}

void meter_begin(struct supervisor *s)
{
	pid_t parent = getpid();
	struct meter *m = &s->meter;
	int ends[2];

	if (m->fd >= 0 || now_ms() < m->next_ms)
		return;
	if (log_pipe(ends)) {
		fail(s, "no pipe can be made");
		return;
	}
	fflush(NULL);
	m->heard_ms = now_ms();
	m->pid = fork();
	if (!m->pid) {
		clients_part(s, NULL, false);
		arbiter_part(s);
		if (child_helps(s, parent, &ends[1]))
			read_for_ever(ends[1], s->conf->library);
		fail_meter(ends[1], "its process", "can't be confined");
	}
	close(ends[1]);
	m->fd = ends[0];
	if (m->pid < 0) {
		m->pid = 0;
		fail(s, "no process can be made");
	}
}

static void take_processes(struct supervisor *s, const struct reading *r)
{
	struct client *c;
	unsigned int i;

	for (c = s->clients; c < s->clients + s->nr_clients; c++) {
		c->sleeper.uses[r->gpu] = 0;
		for (i = 0; c->pid > 0 && i < r->nr_processes && i < PROCESSES; i++)
			if (r->processes[i].pid == (uint64_t)c->pid)
				c->sleeper.uses[r->gpu] = r->processes[i].bytes > r->total ?
								  SLEEPERS_UNKNOWN :
								  r->processes[i].bytes;
	}
}

/* GPUs of one name are of one type */
static uint32_t kind_of(const struct supervisor *s, uint32_t gpu)
{
	uint32_t i = 0;

	while (i < gpu && strcmp(s->gpus[i], s->gpus[gpu]))
		i++;
	return i;
}

/* false: it is none */
static bool take_reading(struct supervisor *s, struct reading *r)
{
	struct sleepers *t = &s->sleepers;
	struct sleepers_gpu *g = &t->gpus[r->gpu % SLEEP_GPUS];

	if (r->nr_gpus > SLEEP_GPUS || r->gpu >= r->nr_gpus || r->total > SLEEPERS_MOST)
		return false;
	if (t->nr_gpus != r->nr_gpus)
		for (t->nr_gpus = 0; t->nr_gpus < r->nr_gpus; t->nr_gpus++)
			t->gpus[t->nr_gpus].read_ms = 0;
	memcpy(s->uuids[r->gpu], r->uuid, sizeof(r->uuid));
	text_clean(r->name, sizeof(r->name));
	strcpy(s->gpus[r->gpu], r->name);
	g->kind = kind_of(s, r->gpu);
	g->total = r->total;
	g->free = r->free < r->total ? r->free : r->total;
	g->read_ms = s->meter.heard_ms = now_ms();
	*s->meter.why = 0;
	take_processes(s, r);
	return true;
}

void meter_hear(struct supervisor *s)
{
	struct reading r;
	unsigned int i;
	ssize_t n;

	for (i = 0; i < AT_ONCE && s->meter.fd >= 0; i++) {
		n = read(s->meter.fd, &r, sizeof(r));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n == (ssize_t)sizeof(r) && !r.nr_gpus) {
			text_clean(r.name, sizeof(r.name));
			fail(s, r.name);
		} else if (n != (ssize_t)sizeof(r) || !take_reading(s, &r)) {
			fail(s, "the process that reads it has ended");
		}
	}
	s->sleep_ms = 0;
}

uint64_t meter_look(struct supervisor *s)
{
	struct meter *m = &s->meter;
	uint64_t now = now_ms();

	if (m->fd < 0)
		return UINT64_MAX;
	if (now >= m->heard_ms + SILENT_MS)
		fail(s, "the process that reads it is silent");
	else if (now >= m->needed_ms + UNNEEDED_MS)
		meter_end(s);
	else
		return now + 1000;
	return UINT64_MAX;
}
