// SPDX-License-Identifier: MIT
#include "plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS_MOST = 64 };

static bool is_self(const char *name, const char *self)
{
	size_t n = strcspn(name, "."), m = strcspn(self, ".");

	if (!strcmp(name, "localhost") || !strcmp(name, "127.0.0.1"))
		return true;
	/* the hosts a.one and a.two differ, a and a.one do not */
	return name[n] && self[m] ? !strcmp(name, self) : n == m && !strncmp(name, self, n);
}

/*
 * Check a host's name, which goes into mpirun's command line: no dash in front, and no character
 * that has a meaning there.
 */
static bool is_name(const char *text, size_t n)
{
	size_t i;

	if (!n || n >= HOST_TEXT || !isalnum((unsigned char)*text))
		return false;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-._", text[i]))
			return false;
	return true;
}

static bool read_host(const char *text, size_t n, struct host *h)
{
	const char *colon = memchr(text, ':', n);
	size_t name = colon ? (size_t)(colon - text) : n;
	char *end;
	long gpus = GPUS_UNKNOWN;

	if (!is_name(text, name))
		return false;
	if (colon) {
		gpus = isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &end, 10) : -1;
		if (gpus < 1 || gpus > GPUS_MOST || end != text + n)
			return false;
	}
	memcpy(h->name, text, name);
	h->name[name] = 0;
	h->gpus = gpus;
	return true;
}

int plan_hosts(const char *text, const char *self, struct host *hosts, const char **why)
{
	int nr = 0, i;
	struct host h;
	size_t n;

	for (;; text += n + 1) {
		n = strcspn(text, ",");
		*why = "hosts are names with commas between, each with :N behind where N is how many GPUs it has";
		if (!read_host(text, n, &h))
			return -1;
		*why = "these are too many hosts";
		if (nr == HOSTS_MAX)
			return -1;
		*why = "a host is named twice";
		for (i = 0; i < nr; i++)
			if (!strcmp(hosts[i].name, h.name))
				return -1;
		h.local = is_self(h.name, self);
		i = h.local ? 0 : nr;
		memmove(hosts + i + 1, hosts + i, (nr - i) * sizeof(*hosts));
		hosts[i] = h;
		nr++;
		if (!text[n])
			return nr;
	}
}

int plan_places(const struct host *hosts, unsigned int nr_hosts, unsigned int gpus, bool share,
		struct place *places, unsigned int most, const char **why)
{
	unsigned int all = 0, i, host = 0, device = 0;

	for (i = 0; i < nr_hosts; i++)
		all += hosts[i].gpus;
	*why = "there is no GPU on these hosts";
	if (!all)
		return -1;
	*why = "there are fewer GPUs than --gpus says; --share lets several devices be one GPU";
	if (gpus > all && !share)
		return -1;
	if (!gpus)
		gpus = all;
	*why = "a program can have 64 devices at most: --gpus says how many";
	if (gpus > most)
		return -1;
	for (i = 0; i < gpus; i++) {
		while (device == (unsigned int)hosts[host].gpus) {
			host = (host + 1) % nr_hosts;
			device = 0;
		}
		places[i] = (struct place){ host, device++ };
	}
	return gpus;
}
