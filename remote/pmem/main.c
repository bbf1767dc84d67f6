// SPDX-License-Identifier: MIT
/* kvgpu-aperture: the command line. */
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda/driver/process.h>

#include "pmem.h"

extern char **environ;

static const char usage[] =
	"usage: kvgpu-aperture COMMAND\n"
	"on the host, for two VMs:\n"
	"  make FILE SIZE [PROGRAMS]\n"
	"                   a file for both to share as memory, such as /dev/shm/kvgpu/lab-1 256M; for so many programs at once (4)\n"
	"  xml FILE         libvirt's XML: virsh attach-device VM that --live --config, for both VMs\n"
	"in a VM:\n"
	"  list             its apertures: device, size, how the CPU maps it (write-back is right)\n"
	"  up DISK          makes a device of an aperture that is a disk, such as /dev/pmem0; udev does that by itself\n"
	"  is DEVICE        whether it is an aperture: exit status 0 or 1\n";

void complain(const char *format, ...)
{
	va_list args;

	fputs("kvgpu-aperture: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static bool load_modules(void)
{
	char *const words[] = { "modprobe", "-a", "device_dax", "dax_pmem", NULL };
	int status, r;
	pid_t pid;

	r = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);
	if (r) {
		complain("modprobe can't be run: %s", strerror(r));
		return false;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		complain(
			"this kernel has no device_dax or no dax_pmem, which make a device of an aperture");
	return !status;
}

static const struct nd here = { "/sys", "/dev", load_modules };

static int make_device(const char *disk)
{
	const char *why, *name = strncmp(disk, "/dev/", 5) ? disk : disk + 5;
	char path[64];

	if (strchr(name, '/') ||
	    snprintf(path, sizeof(path), "/dev/%s", name) >= (int)sizeof(path)) {
		complain("'%s' is no disk's name", disk);
		return 1;
	}
	if (!look_has_label(path, &why)) {
		complain("%s: %s", path,
			 why ? why : "it is no aperture, and stays as it is: it may hold data");
		return 1;
	}
	return nd_up(&here, name);
}

static int is(const char *device)
{
	const char *why;

	if (look_has_label(device, &why))
		return 0;
	if (why)
		complain("%s: %s", device, why);
	return 1;
}

static int list_devices(void)
{
	if (look_list(&here, stdout))
		return 0;
	complain("this VM has no aperture");
	return 1;
}

static int make_file(const char *path, const char *size, const char *programs)
{
	uint64_t bytes = file_size(size);
	uint32_t endpoints = bytes ? file_endpoints(programs, bytes) : 0;

	return endpoints ? file_make(path, bytes, endpoints) : 2;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	process_begin();
	if (!strcmp(command, "--help") || !strcmp(command, "help"))
		return fputs(usage, stdout) < 0;
	if (!strcmp(command, "make") && (argc == 4 || argc == 5))
		return make_file(argv[2], argv[3], argv[4]);
	if (!strcmp(command, "xml") && argc == 3)
		return file_xml(argv[2], stdout);
	if (!strcmp(command, "up") && argc == 3)
		return make_device(argv[2]);
	if (!strcmp(command, "is") && argc == 3)
		return is(argv[2]);
	if (!strcmp(command, "list") && argc == 2)
		return list_devices();
	fputs(usage, stderr);
	return 2;
}
