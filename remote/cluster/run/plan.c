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

bool plan_is_name(const char *text, size_t n)
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

	if (!plan_is_name(text, name))
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

/* [2001:db8::1]:2, or without brackets */
static bool is_six(const char *text, size_t n)
{
	const char *colon = memchr(text, ':', n);

	return colon && memchr(colon + 1, ':', n - (colon + 1 - text));
}

int plan_hosts(const char *text, const char *self, struct host *hosts, const char **why)
{
	int nr = 0, i;
	struct host h;
	size_t n;

	for (;; text += n + 1) {
		n = strcspn(text, ",");
		*why = is_six(text, n) ?
			       "a host is no IPv6 address, whose colons are like that of HOST:N: give it a name (/etc/hosts), and that here" :
			       "hosts are names with commas between, each with :N behind where N is how many GPUs it has";
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

unsigned int plan_assume(const struct host *h, unsigned int host, struct gpu *gpus)
{
	int i;

	for (i = 0; i < h->gpus; i++)
		gpus[i] = (struct gpu){ .host = host, .device = i, .uuid = "-" };
	return h->gpus;
}

static bool fits(const struct gpu *g, const struct wish *w)
{
	return g->load <= w->load && g->left >= w->memory;
}

/* What has been chosen so far. */
struct choice {
	const struct gpu *gpus;
	unsigned int nr;
	unsigned int times[GPUS_MAX]; /* how often each GPU was chosen */
	/* proxies that have GPUs of each host: other runs' and the places chosen so far */
	unsigned int load[HOSTS_MAX];
	unsigned int places[HOSTS_MAX]; /* the places chosen so far */
};

/* whether GPU @a is the better one to spread to; both were chosen equally often */
static bool is_emptier(const struct choice *c, unsigned int a, unsigned int b)
{
	const struct gpu *x = &c->gpus[a], *y = &c->gpus[b];

	if (x->load != y->load)
		return x->load < y->load;
	if (c->load[x->host] != c->load[y->host])
		return c->load[x->host] < c->load[y->host];
	return c->places[x->host] < c->places[y->host];
}

static unsigned int choose_gpu(struct choice *c, const struct wish *w)
{
	unsigned int best = c->nr, i;

	for (i = 0; i < c->nr; i++) {
		if (!fits(&c->gpus[i], w))
			continue;
		if (best == c->nr || c->times[i] < c->times[best] ||
		    (w->spread && c->times[i] == c->times[best] && is_emptier(c, i, best)))
			best = i;
	}
	c->times[best]++;
	c->load[c->gpus[best].host]++;
	c->places[c->gpus[best].host]++;
	return best;
}

/* keep the order of places of one host */
static void sort_by_host(struct place *places, unsigned int n)
{
	struct place p;
	unsigned int i, k;

	for (i = 1; i < n; i++) {
		p = places[i];
		for (k = i; k && places[k - 1].host > p.host; k--)
			places[k] = places[k - 1];
		places[k] = p;
	}
}

static struct place place_of(const struct gpu *g, const struct wish *w)
{
	struct place p = { g->host, g->device, w->memory ? w->memory : g->memory, "" };

	memcpy(p.uuid, g->uuid, sizeof(p.uuid));
	return p;
}

static const char *lack(const struct wish *w, unsigned int nr, unsigned int fit)
{
	if (!nr)
		return "there is no GPU on these hosts";
	if (!fit || (w->gpus > fit && nr > fit))
		return "there are too few GPUs with as much free memory and as few other runs as --memory and --load say; "
		       "--wait says how long to wait for them";
	return "there are fewer GPUs than --gpus says; --share lets several devices be one GPU";
}

int plan_places(const struct gpu *gpus, unsigned int nr, const struct wish *w, struct place *places,
		unsigned int most, const char **why, bool *later)
{
	static struct choice c;
	unsigned int fit = 0, i, n = w->gpus;

	c = (struct choice){ .gpus = gpus, .nr = nr };
	for (i = 0; i < nr; i++) {
		fit += fits(&gpus[i], w);
		c.load[gpus[i].host] += gpus[i].load;
	}
	*why = lack(w, nr, fit);
	*later = fit < nr && (n <= nr || w->share);
	if (!fit || (n > fit && !w->share))
		return -1;
	*later = false;
	if (!n)
		n = fit;
	*why = "a program can have 64 devices at most: --gpus says how many";
	if (n > most)
		return -1;
	for (i = 0; i < n; i++)
		places[i] = place_of(&gpus[choose_gpu(&c, w)], w);
	if (w->spread)
		sort_by_host(places, n);
	return n;
}
