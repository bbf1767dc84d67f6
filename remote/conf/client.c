// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "client.h"

#include <remote/channel/address.h>

static bool addresses(const char *value, void *to, const struct conf_key *k)
{
	char text[CONF_LINE_MAX], *rest = NULL, *word;
	struct address a;
	const char *why;

	if (snprintf(text, sizeof(text), "%s", value) >= (int)sizeof(text))
		return false;
	for (word = strtok_r(text, REMOTE_CONF_BLANKS, &rest); word;
	     word = strtok_r(NULL, REMOTE_CONF_BLANKS, &rest))
		if (address_parse(word, false, &a, &why))
			break;
	/* the value may be one address, a path with blanks */
	return (!word || !address_parse(value, false, &a, &why)) && conf_text(value, to, k);
}

static const struct conf_key keys[] = {
	{ "server",
	  "unix:/path, aperture:/path, vsock:CID:PORT, tls:HOST:PORT or tcp:127.0.0.1:PORT, or several of these",
	  addresses, offsetof(struct remote_conf, server),
	  .max = sizeof(((struct remote_conf *)0)->server) },
	{ "tls-folder", "a path that begins with /", conf_path,
	  offsetof(struct remote_conf, tls_folder),
	  .max = sizeof(((struct remote_conf *)0)->tls_folder) },
};

const struct conf_form remote_conf_form = { .keys = keys, .nr_keys = sizeof(keys) / sizeof(*keys) };
