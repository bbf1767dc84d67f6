// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plugin that QEMU loads with `-plugin gk110-barmap.so,socket=PATH`. It uses QEMU's TCG plugin
 * loader to run threads inside QEMU, and instruments no instruction.
 *
 * QEMU documents the interface in docs/devel/tcg-plugins.rst. The part that the plugin uses is
 * declared here, so that it builds without QEMU's headers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper.h"

#define EXPORT __attribute__((visibility("default")))

struct qemu_info; /* not used here */

/*
 * QEMU reads this before it calls anything. Each release accepts a narrow range of API versions
 * (10.1 and 10.2 up to 5, 11.1 only 7). qemu_plugin_install() is the same in them, so the version
 * is set to fit the QEMU that loads the plugin. The symbol looked up below came with the API of
 * 11.x.
 */
EXPORT extern int qemu_plugin_version;
int qemu_plugin_version = 7;

__attribute__((constructor)) static void fit_api_version(void)
{
	if (!dlsym(RTLD_DEFAULT, "qemu_plugin_register_vcpu_syscall_filter_cb"))
		qemu_plugin_version = 5;
}

EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

static void say(const char *text)
{
	fprintf(stderr, "gk110-barmap: %s\n", text);
}

static const char *option_socket(int argc, char **argv)
{
	const char *path = NULL;
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "socket=", 7)) {
			path = argv[i] + 7;
		} else {
			fprintf(stderr,
				"gk110-barmap: unknown option '%s'; the only one is socket=PATH\n",
				argv[i]);
			return NULL;
		}
	}
	if (!path || !*path)
		say("option socket=PATH is missing: give what the GPU model got as --plugin-socket");
	return path && *path ? path : NULL;
}

/* QEMU calls this before it makes devices. */
int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	const char *path = option_socket(argc, argv);
	struct helper *h;
	int fd, ret;

	if (!path)
		return -1;
	fd = helper_connect(path);
	if (fd < 0) {
		fprintf(stderr,
			"gk110-barmap: no GPU model at %s: %s; start gk110-model with --plugin-socket first\n",
			path, strerror(-fd));
		return -1;
	}
	h = malloc(sizeof(*h)); /* lives as long as QEMU */
	if (!h)
		return -1;
	ret = helper_start(h, fd, say);
	if (ret)
		free(h);
	if (ret == -EOPNOTSUPP) {
		say("no userfaultfd (forbidden by a sandbox, or by vm.unprivileged_userfaultfd = 0 before Linux 5.11) or no /proc: "
		    "BAR accesses stay messages");
		return 0;
	}
	if (ret)
		fprintf(stderr, "gk110-barmap: %s does not answer as a GPU model: %s\n", path,
			strerror(-ret));
	return ret ? -1 : 0;
}
