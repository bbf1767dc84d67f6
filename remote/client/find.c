// SPDX-License-Identifier: MIT
/*
 * Find the servers: by the environment, then by /etc/kvgpu/remote.conf, then by a shmem region that
 * this VM has.
 */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <remote/channel/address.h>
#include <remote/conf/client.h>

#include "client.h"

/* 1: the servers are named here; 0: they are not; -1: an error */
static int by_environment(struct remote_conf *found)
{
	const char *address = secure_getenv("KVGPU_REMOTE"),
		   *folder = secure_getenv("KVGPU_REMOTE_TLS");

	if (folder && *folder)
		snprintf(found->tls_folder, sizeof(found->tls_folder), "%s", folder);
	if (!address || !address[strspn(address, REMOTE_CONF_BLANKS)])
		return 0;
	if (snprintf(found->server, sizeof(found->server), "%s", address) <
	    (int)sizeof(found->server))
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

/* udev gives these names (remote/pmem) */
#define DEVICES "/dev/kvgpu/aperture-*"

static int by_device(struct remote_conf *found)
{
	glob_t all = { 0 };
	int r = 1;

	static_assert(sizeof(found->server) > sizeof("aperture:" DEVICES) + NAME_MAX,
		      "the address of each aperture fits");
	if (glob(DEVICES, 0, NULL, &all)) {
		globfree(&all);
		return 0;
	}
	snprintf(found->server, sizeof(found->server), "aperture:%s", all.gl_pathv[0]);
	if (all.gl_pathc > 1) {
		client_say(
			"this VM has more than one aperture, %s and %s: name one in " REMOTE_CONF,
			all.gl_pathv[0], all.gl_pathv[1]);
		r = -1;
	}
	globfree(&all);
	return r;
}

static int (*const finders[])(struct remote_conf *found) = { by_environment, by_file, by_device };

static unsigned int split_words(char *text, const char *word[])
{
	unsigned int n = 0;
	char *rest = NULL, *w;

	for (w = strtok_r(text, REMOTE_CONF_BLANKS, &rest); w;
	     w = strtok_r(NULL, REMOTE_CONF_BLANKS, &rest)) {
		if (n < PEERS_MAX)
			word[n] = w;
		n++;
	}
	return n;
}

static bool are_addresses(const char *const word[], unsigned int n)
{
	struct address a;
	const char *why;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (address_parse(word[i], false, &a, &why))
			return false;
	return true;
}

/* If a word of the text is no address, the whole text is one address: a path may have blanks. */
static unsigned int split_addresses(const char *text, const char *address[])
{
	static char copy[sizeof(((struct remote_conf *)0)->server)];
	unsigned int n;

	strcpy(copy, text);
	n = split_words(copy, address);
	if (n > PEERS_MAX) {
		client_say("more than %d servers are named", PEERS_MAX);
		return 0;
	}
	if (n > 1 && are_addresses(address, n))
		return n;
	address[0] = n > 1 ? text : address[0];
	return 1;
}

unsigned int find_servers(const char *address[], const char **tls_folder)
{
	static struct remote_conf found;
	int r = 0;
	size_t i;

	memset(&found, 0, sizeof(found));
	for (i = 0; i < sizeof(finders) / sizeof(*finders) && !r; i++)
		r = finders[i](&found);
	if (!r)
		client_say(
			"no server is named, and this VM has no aperture (kvgpu-aperture list): attach one, or write "
			"\"server = ADDRESS\" in " REMOTE_CONF
			" or KVGPU_REMOTE=ADDRESS, where ADDRESS is unix:/path, "
			"aperture:/path, vsock:CID:PORT or tls:HOST:PORT");
	*tls_folder = *found.tls_folder ? found.tls_folder : NULL;
	return r > 0 ? split_addresses(found.server, address) : 0;
}
