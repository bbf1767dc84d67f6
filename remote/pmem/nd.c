// SPDX-License-Identifier: MIT
/*
 * In a VM: memory that is a disk (/dev/pmem0, driver nd_pmem) becomes a character device
 * (/dev/dax0.0, driver dax_pmem). The steps are those of Linux,
 * Documentation/ABI/testing/sysfs-bus-nvdimm and drivers/nvdimm/dax_devs.c: a region's device-DAX
 * instance in reserve, its seed, gets an identity, a mode and the namespace, and then its driver.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmem.h"

struct step {
	char path[PATH_MAX];
	char text[128];
};

static bool write_step(const struct step *s)
{
	int fd = open(s->path, O_WRONLY | O_CLOEXEC);
	bool fine = fd >= 0 && write(fd, s->text, strlen(s->text)) == (ssize_t)strlen(s->text);

	if (!fine)
		report_error("%s: '%s' can't be written: %s", s->path, s->text, strerror(errno));
	if (fd >= 0)
		close(fd);
	return fine;
}

/* read a file's first word */
static bool read_attribute(const char *path, char *to, size_t size)
{
	FILE *f = fopen(path, "re");
	bool fine = f && fgets(to, size, f);

	if (!fine)
		report_error("%s: %s", path, f ? "it is empty" : strerror(errno));
	else
		to[strcspn(to, " \n")] = 0;
	if (f)
		fclose(f);
	return fine;
}

/* whether the disk is free: an exclusive open fails if it is mounted, or a part of another disk */
static bool is_free(const struct nd *nd, const char *disk)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", nd->dev, disk);
	fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (fd < 0)
		report_error("%s: %s", path,
			     errno == EBUSY ? "it is in use (mounted?), and stays as it is" :
					      strerror(errno));
	else
		close(fd);
	return fd >= 0;
}

/* find the disk's namespace, such as "namespace0.0", and the folder of its region */
static bool find_namespace(const struct nd *nd, const char *disk, char *name, size_t size,
			   char *region)
{
	char path[PATH_MAX + 64], driver[PATH_MAX];
	const char *last;

	snprintf(path, sizeof(path), "%s/class/block/%s/device", nd->sys, disk);
	if (!realpath(path, region)) {
		report_error("there is no disk '%s' made of memory here", disk);
		return false;
	}
	last = strrchr(region, '/') + 1;
	if (strncmp(last, "namespace", 9) || strlen(last) >= size) {
		report_error("'%s' is no disk made of memory: it belongs to '%s'", disk, last);
		return false;
	}
	strcpy(name, last);
	snprintf(path, sizeof(path), "%s/driver", region);
	if (!realpath(path, driver) || strcmp(strrchr(driver, '/') + 1, "nd_pmem")) {
		report_error("'%s' has another driver than nd_pmem, and stays as it is", name);
		return false;
	}
	*strrchr(region, '/') = 0;
	return true;
}

static bool seed_of(const char *region, char *seed, size_t size)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/dax_seed", region);
	if (!read_attribute(path, seed, size))
		return false;
	if (strchr(seed, '/')) {
		report_error("%s: '%s' is no name", path, seed);
		return false;
	}
	return true;
}

/* a UUID of version 4: random but for the version and the variant */
static bool new_uuid(char *to, size_t size)
{
	uint8_t b[16];

	if (getrandom(b, sizeof(b), 0) != sizeof(b)) {
		report_error("there are no random numbers: %s", strerror(errno));
		return false;
	}
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	snprintf(to, size, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		 b[13], b[14], b[15]);
	return true;
}

int nd_up(const struct nd *nd, const char *disk)
{
	char name[64], region[PATH_MAX], seed[64], uuid[64];
	struct step steps[6], *s = steps;
	unsigned int i, done = 0;
	bool fine;

	if (strchr(disk, '/') || strlen(disk) > 32) {
		report_error("'%s' is no disk's name", disk);
		return 1;
	}
	if (!find_namespace(nd, disk, name, sizeof(name), region) || !is_free(nd, disk) ||
	    !nd->load_modules() || !seed_of(region, seed, sizeof(seed)))
		return 1;
	if (!new_uuid(uuid, sizeof(uuid)))
		return 1;
#define STEP(text_, format, ...)                                                                   \
	((unsigned int)snprintf(s->path, sizeof(s->path), format, __VA_ARGS__) < sizeof(s->path) ? \
		 (void)snprintf(s->text, sizeof(s->text), "%s", text_) :                           \
		 (void)(s->path[0] = 0),                                                           \
	 s++)
	STEP(name, "%s/bus/nd/drivers/nd_pmem/unbind", nd->sys);
	STEP(uuid, "%s/%s/uuid", region, seed);
	STEP("2097152", "%s/%s/align", region, seed);
	/* the VM's own memory has the struct pages: none of them are in the shared memory */
	STEP("ram", "%s/%s/mode", region, seed);
	STEP(name, "%s/%s/namespace", region, seed);
	STEP(seed, "%s/bus/nd/drivers/dax_pmem/bind", nd->sys);
#undef STEP
	for (i = 0, fine = true; i < 6 && fine; i++, done += fine)
		fine = write_step(&steps[i]);
	if (fine)
		return 0;
	/* make it a disk again; the seed forgets its settings with its namespace */
	if (done >= 5) {
		strcpy(steps[4].text, "\n");
		write_step(&steps[4]);
	}
	if (done) {
		snprintf(steps[0].path, sizeof(steps[0].path), "%s/bus/nd/drivers/nd_pmem/bind",
			 nd->sys);
		write_step(&steps[0]);
	}
	return 1;
}
