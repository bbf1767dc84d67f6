// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-firmware: the command. Exit codes: 0 done, 1 the input or output is at fault, 2 wrong
 * usage.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "command_line.h"
#include "extract.h"
#include "kvgpu/firmware.h"

static const char usage[] =
	"usage: kvgpu-firmware [--kernel RELEASE | --module FILE | --installed] [--output FILE] [--quiet]\n"
	"       kvgpu-firmware --check FILE\n"
	"\n"
	"Takes the GK110 microcode and register lists out of the distribution's nouveau.ko and writes them\n"
	"to one file with a checksum, for the kvgpu kernel module.\n"
	"\n"
	"  --kernel RELEASE  the kernel whose nouveau.ko to read (default: the running one)\n"
	"  --module FILE     read this nouveau.ko (plain or .xz) instead\n"
	"  --installed       read that of the newest kernel under /lib/modules that has one; kvgpu-tools does\n"
	"                    this at each new kernel\n"
	"  --output FILE     where to write (default: /lib/firmware/" KVGPU_FW_NAME ")\n"
	"  --check FILE      check a written file and list what is in it\n"
	"  --quiet           say nothing when all is well\n"
	"  --version, --help\n";

/* the module of a release: plain or compressed, in the place Debian uses */
static char *find_module(const char *release)
{
	static const char *const endings[] = { "", ".xz" };
	char *path = NULL;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (asprintf(&path, "/lib/modules/%s/kernel/drivers/gpu/drm/nouveau/nouveau.ko%s",
			     release, endings[i]) < 0)
			return NULL;
		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

static void make_parents(const char *path)
{
	char *dir = strdup(path), *slash = dir;

	while (slash && (slash = strchr(slash + 1, '/'))) {
		*slash = 0;
		mkdir(dir, 0755);
		*slash = '/';
	}
	free(dir);
}

/*
 * Write beside the target and rename, so that a reader never sees a part. The name is new: in a
 * folder where others may write, one that they know could be a link of theirs.
 */
static bool write_image(const char *path, const struct image *img)
{
	char *tmp = NULL;
	bool ok = false;
	FILE *f = NULL;
	int fd;

	make_parents(path);
	if (asprintf(&tmp, "%s.XXXXXX", path) < 0)
		return false;
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd >= 0)
		f = fdopen(fd, "wb");
	if (f) {
		ok = fwrite(img->data, 1, img->size, f) == img->size && !fflush(f) &&
		     !fchmod(fd, 0644) && !fsync(fd);
		ok = !fclose(f) && ok && !rename(tmp, path);
	}
	if (!ok) {
		fprintf(stderr, "kvgpu-firmware: can't write %s: %s\n", path, strerror(errno));
		if (fd >= 0)
			unlink(tmp);
	}
	free(tmp);
	return ok;
}

static int check_file(const char *path)
{
	struct image img = { malloc(KVGPU_FW_MAX_SIZE + 1), 0 };
	FILE *f = fopen(path, "rb");
	bool ok = false;

	if (!f || !img.data)
		fprintf(stderr, "kvgpu-firmware: can't open %s: %s\n", path, strerror(errno));
	else {
		img.size = fread(img.data, 1, KVGPU_FW_MAX_SIZE + 1, f);
		ok = image_check(&img, true);
	}
	if (f)
		fclose(f);
	free(img.data);
	return !ok;
}

static int write_from(const char *module, const char *output, bool quiet)
{
	struct module *m = module_open(module);
	struct image img = { NULL, 0 };
	bool ok;

	ok = m && extract_gk110(m, &img) && image_check(&img, !quiet) && write_image(output, &img);
	if (ok && !quiet)
		printf("written to %s\n", output);
	free(img.data);
	module_close(m);
	return !ok;
}

static int write_from_kernel(const char *release, const char *output, bool quiet)
{
	char *module = find_module(release);
	int ret = 1;

	if (module)
		ret = write_from(module, output, quiet);
	else
		fprintf(stderr,
			"kvgpu-firmware: no nouveau.ko of kernel %s under /lib/modules: install that kernel's image package, or give --module FILE\n",
			release);
	free(module);
	return ret;
}

/* Headers and DKMS leave folders without kernel/ where no kernel is installed. */
static int is_kernel(const struct dirent *entry)
{
	char *path = NULL;
	bool is;

	if (entry->d_name[0] == '.' || asprintf(&path, "/lib/modules/%s/kernel", entry->d_name) < 0)
		return 0;
	is = !access(path, F_OK);
	free(path);
	return is;
}

/*
 * Kernels for clouds have no nouveau.ko. A kernel whose nouveau.ko has another shape is no fault
 * where an older one has this shape: the firmware is the chip's, not the kernel's.
 */
static int write_from_installed(const char *output, bool quiet)
{
	struct dirent **kernels = NULL;
	int count = scandir("/lib/modules", &kernels, is_kernel, versionsort), i, ret = 1;

	for (i = count - 1; i >= 0; i--) {
		char *module = ret ? find_module(kernels[i]->d_name) : NULL;

		if (module)
			ret = write_from(module, output, quiet);
		else if (ret)
			fprintf(stderr, "kvgpu-firmware: kernel %s has no nouveau.ko\n",
				kernels[i]->d_name);
		free(module);
		free(kernels[i]);
	}
	free(kernels);
	if (ret)
		fprintf(stderr,
			"kvgpu-firmware: no installed kernel has the firmware, and without it kvgpu takes no card: install linux-image-amd64 (Debian's cloud kernels have no nouveau.ko), or give --module FILE\n");
	return ret;
}

static int wrong(const char *text, const char *word)
{
	fprintf(stderr, "kvgpu-firmware: %s%s; kvgpu-firmware --help lists what there is\n", text,
		word);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "kernel", required_argument, NULL, 'k' },
		{ "module", required_argument, NULL, 'm' },
		{ "installed", no_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "check", required_argument, NULL, 'c' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	const char *kernel = NULL, *module = NULL, *output = "/lib/firmware/" KVGPU_FW_NAME;
	struct utsname uts;
	bool quiet = false, installed = false;
	char text[WRONG_TEXT];
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case 'k':
			kernel = optarg;
			break;
		case 'm':
			module = optarg;
			break;
		case 'i':
			installed = true;
			break;
		case 'o':
			output = optarg;
			break;
		case 'c':
			return check_file(optarg);
		case 'q':
			quiet = true;
			break;
		case 'v':
			puts("kvgpu-firmware " KVGPU_VERSION);
			return 0;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			wrong_option(text, opt, argv, options);
			return wrong(text, "");
		}
	}
	if (optind < argc)
		return wrong("there are no arguments without an option: ", argv[optind]);
	if (!!kernel + !!module + installed > 1)
		return wrong("--kernel, --module and --installed exclude each other", "");
	if (installed)
		return write_from_installed(output, quiet);
	if (module)
		return write_from(module, output, quiet);
	uname(&uts);
	return write_from_kernel(kernel ? kernel : uts.release, output, quiet);
}
