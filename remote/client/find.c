// SPDX-License-Identifier: MIT
/* Where the server is: what the environment says, then /etc/kvgpu/remote.conf, then an aperture that this VM has. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include <remote/conf/client.h>

#include "client.h"

/* 1: it is named; 0: here it is not; -1: something is wrong, and was said. Each may name where certificates are. */
static int by_environment(struct remote_conf *found)
{
	const char *address = secure_getenv("KVGPU_REMOTE"), *folder = secure_getenv("KVGPU_REMOTE_TLS");

	if (folder && *folder)
		snprintf(found->tls_folder, sizeof(found->tls_folder), "%s", folder);
	if (!address || !*address)
		return 0;
	if (snprintf(found->server, sizeof(found->server), "%s", address) < (int)sizeof(found->server))
		return 1;
	client_say("KVGPU_REMOTE is too long");
	return -1;
}

static int by_file(struct remote_conf *found)
{
	const char *path = secure_getenv("KVGPU_REMOTE_CONF") ?: REMOTE_CONF;
	struct remote_conf conf = { 0 };
	struct conf_error e;
	bool missing;

	if (!conf_load(&remote_conf_form, &conf, path, &missing, &e)) {
		if (missing)
			return 0;
		if (e.line)
			client_say("%s:%u: %s", path, e.line, e.text);
		else
			client_say("%s: %s", path, e.text);
		return -1;
	}
	if (!*found->tls_folder)
		strcpy(found->tls_folder, conf.tls_folder);
	strcpy(found->server, conf.server);
	return *conf.server != 0;
}

/* what udev has named so: the rules of the package kvgpu-aperture */
#define APERTURES	"/dev/kvgpu/aperture-*"

static int by_aperture(struct remote_conf *found)
{
	glob_t all = { 0 };
	int r = glob(APERTURES, 0, NULL, &all), n;

	if (r) {
		globfree(&all);
		return 0;
	}
	n = snprintf(found->server, sizeof(found->server), "aperture:%s", all.gl_pathv[0]);
	r = n < (int)sizeof(found->server) ? 1 : -1;
	if (all.gl_pathc > 1) {
		client_say("this VM has more than one aperture, %s and %s: name one in " REMOTE_CONF, all.gl_pathv[0],
			   all.gl_pathv[1]);
		r = -1;
	}
	globfree(&all);
	return r;
}

static int (*const finders[])(struct remote_conf *found) = { by_environment, by_file, by_aperture };

const char *find_server(const char **tls_folder)
{
	static struct remote_conf found;
	int r = 0;
	size_t i;

	memset(&found, 0, sizeof(found));
	for (i = 0; i < sizeof(finders) / sizeof(*finders) && !r; i++)
		r = finders[i](&found);
	if (!r)
		client_say("no server is named, and this VM has no aperture (kvgpu-aperture list): attach one, or write "
			   "\"server = ADDRESS\" in " REMOTE_CONF " or KVGPU_REMOTE=ADDRESS, where ADDRESS is unix:/path, "
			   "aperture:/path, vsock:CID:PORT or tls:HOST:PORT");
	*tls_folder = *found.tls_folder ? found.tls_folder : NULL;
	return r > 0 ? found.server : NULL;
}
