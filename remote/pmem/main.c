// SPDX-License-Identifier: MIT
/* kvgpu-aperture: the command line. */
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda/api/process.h>
#include <include/user/command_line.h>

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
	"  is DEVICE        whether it is an aperture: exit status 0 or 1\n"
	"  --version, --help\n";

void report_error(const char *format, ...)
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
		report_error("modprobe can't be run: %s", strerror(r));
		return false;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		report_error(
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
		report_error("'%s' is no disk's name", disk);
		return 1;
	}
	if (!probe_has_label(path, &why)) {
		report_error("%s: %s", path,
			     why ? why : "it is no aperture, and stays as it is: it may hold data");
		return 1;
	}
	return nd_up(&here, name);
}

static int is(const char *device)
{
	const char *why;

	if (probe_has_label(device, &why))
		return 0;
	if (why)
		report_error("%s: %s", device, why);
	return 1;
}

static int list_devices(void)
{
	if (probe_list(&here, stdout))
		return 0;
	report_error("this VM has no aperture");
	return 1;
}

static int make_file(const char *path, const char *size, const char *programs)
{
	uint64_t bytes = file_size(size);
	uint32_t endpoints = bytes ? file_endpoints(programs, bytes) : 0;

	return endpoints ? file_make(path, bytes, endpoints) : 2;
}

enum { MAKE, XML, LIST, UP, IS, HELP, NR_COMMANDS };

int main(int argc, char **argv)
{
	static const struct option known[] = { { "version", no_argument, NULL, 'v' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	static const struct tool_command commands[NR_COMMANDS] = {
		[MAKE] = { "make", "FILE SIZE [PROGRAMS]", 2, 3 },
		[XML] = { "xml", "FILE", 1, 1 },
		[LIST] = { "list", "", 0, 0 },
		[UP] = { "up", "DISK", 1, 1 },
		[IS] = { "is", "DEVICE", 1, 1 },
		[HELP] = { "help", "", 0, 0 },
	};
	char text[WRONG_TEXT], **args;
	int c;

	process_begin();
	opterr = 0;
	c = getopt_long(argc, argv, "+:", known, NULL);
	args = argv + optind;
	if (c == 'v')
		return puts("kvgpu-aperture " KVGPU_VERSION) < 0;
	if (c == '?')
		wrong_option(text, c, argv, known);
	else
		c = c == 'h' ? HELP :
			       find_command(commands, NR_COMMANDS, argc - optind, args, text);
	switch (c) {
	case MAKE:
		return make_file(args[1], args[2], args[3]);
	case XML:
		return file_xml(args[1], stdout);
	case LIST:
		return list_devices();
	case UP:
		return make_device(args[1]);
	case IS:
		return is(args[1]);
	case HELP:
		return fputs(usage, stdout) < 0;
	}
	report_error("%s; kvgpu-aperture --help lists what there is", text);
	return 2;
}
