// SPDX-License-Identifier: MIT
#include "client.h"

#include <remote/channel/address.h>

static bool address(const char *value, void *to, const struct conf_key *k)
{
	struct address a;
	const char *why;

	return !address_parse(value, false, &a, &why) && conf_text(value, to, k);
}

static const struct conf_key keys[] = {
	{ "server", "unix:/path, aperture:/path, vsock:CID:PORT, tls:HOST:PORT or tcp:127.0.0.1:PORT", address,
	  offsetof(struct remote_conf, server),
	  .max = sizeof(((struct remote_conf *)0)->server) },
	{ "tls-folder", "a path that begins with /", conf_path, offsetof(struct remote_conf, tls_folder),
	  .max = sizeof(((struct remote_conf *)0)->tls_folder) },
};

const struct conf_form remote_conf_form = { .keys = keys, .nr_keys = sizeof(keys) / sizeof(*keys) };
