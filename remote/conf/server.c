// SPDX-License-Identifier: MIT
#include "server.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <remote/channel/address.h>
#include <remote/wire/frame.h>

/* systemd's list of user numbers leaves this range free: 0x70000000 */
#define USERS 1879048192ull

static bool listen_at(const char *value, void *to, const struct conf_key *k)
{
	struct remoted_conf *c = to;
	struct address a;
	const char *why;

	if (c->nr_listen == CONF_LISTEN || strlen(value) >= sizeof(c->listen[0]) ||
	    address_parse(value, true, &a, &why))
		return false;
	strcpy(c->listen[c->nr_listen++], value);
	return true;
}

static const char *why_not_listen(const char *value)
{
	struct address a;
	const char *why;

	return address_parse(value, true, &a, &why) ? why : NULL;
}

static bool is_group(const char *name, size_t n)
{
	size_t i;

	if (!n || n >= CONF_GROUP || name[0] == '-')
		return false;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !memchr("-_.", name[i], 3))
			return false;
	return true;
}

static bool group(const char *value, void *to, const struct conf_key *k)
{
	return is_group(value, strlen(value)) && conf_text(value, to, k);
}

/* names with blanks between; "none": no group */
static bool groups(const char *value, void *to, const struct conf_key *k)
{
	struct remoted_conf *c = to;
	size_t n;

	c->nr_groups = 0;
	if (!strcmp(value, "none"))
		return true;
	for (; *value; value += strspn(value, " \t")) {
		n = strcspn(value, " \t");
		if (c->nr_groups == CONF_GROUPS || !is_group(value, n))
			return false;
		snprintf(c->groups[c->nr_groups++], CONF_GROUP, "%.*s", (int)n, value);
		value += n;
	}
	return true;
}

static bool users(const char *value, void *to, const struct conf_key *k)
{
	if (strcmp(value, "none"))
		return conf_number(value, to, k);
	*(uint64_t *)to = 0;
	return true;
}

static bool suspend_for(const char *value, void *to, const struct conf_key *k)
{
	*(bool *)to = !strcmp(value, "memory");
	return *(bool *)to || !strcmp(value, "none");
}

static bool filter(const char *value, void *to, const struct conf_key *k)
{
	static const char *const names[] = {
		[FILTER_ON] = "on", [FILTER_LOG] = "log", [FILTER_OFF] = "off"
	};
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (!strcmp(value, names[i])) {
			*(enum conf_filter *)to = i;
			return true;
		}
	return false;
}

bool conf_is_who(const char *who)
{
	static const char *const numbered[] = { "unix:", "vsock:" };
	uint64_t number;
	size_t n, i;

	if (!strncmp(who, "aperture:/", 10)) {
		n = strlen(who);
		for (i = 9; i < n; i++)
			if (!isalnum((unsigned char)who[i]) && !strchr("-._/", who[i]))
				return false;
		return n < CONF_WHO;
	}
	if (!strncmp(who, "tls:", 4)) {
		n = strlen(who + 4);
		for (i = 4; i < n + 4; i++)
			if (!isalnum((unsigned char)who[i]) && !strchr("-._", who[i]))
				return false;
		return n && n < 64;
	}
	for (i = 0; i < 2; i++) {
		n = strlen(numbered[i]);
		if (!strncmp(who, numbered[i], n))
			return conf_natural(who + n, UINT32_MAX - 1, &number) &&
			       (who[n] != '0' || !who[n + 1]);
	}
	return false;
}

static void *section(void *conf, const char *kind, const char *name, char why[CONF_TEXT])
{
	struct remoted_conf *c = conf;
	struct conf_rule *rule;
	unsigned int i;

	if (strcmp(kind, "client") || !conf_is_who(name)) {
		snprintf(why, CONF_TEXT,
			 "a section is [client unix:UID], [client vsock:CID], [client tls:NAME] or "
			 "[client aperture:/path]");
		return NULL;
	}
	for (i = 0; i < c->nr_rules; i++)
		if (!strcmp(c->rules[i].who, name)) {
			snprintf(why, CONF_TEXT, "this client has a section already: %s", name);
			return NULL;
		}
	if (c->nr_rules == CONF_RULES) {
		snprintf(why, CONF_TEXT, "there are too many sections: %d at most", CONF_RULES);
		return NULL;
	}
	rule = &c->rules[c->nr_rules++];
	rule->share = c->share;
	strcpy(rule->who, name);
	return &rule->share;
}

#define AT(name) .at = offsetof(struct remoted_conf, name)
#define TEXT(name) \
	.at = offsetof(struct remoted_conf, name), .max = sizeof(((struct remoted_conf *)0)->name)

/* supervisor/main.c looks up some of these names, and never checks for the table's end */
static const struct conf_key keys[] = {
	{ "memory", "bytes of device memory, as 512M or 4G; 0: all there is", conf_size,
	  AT(share.memory), 0, 1ull << 48 },
	{ "arena", "bytes, from 4M to 1T", conf_size, AT(share.arena),
	  4 * (uint64_t)KVGPU_REMOTE_PIECE_MAX, KVGPU_REMOTE_ARENA_MAX },
	{ "pinned", "bytes of pinned memory beyond arenas, as 512M or 4G; 0: none", conf_size,
	  AT(share.pinned), 0, KVGPU_REMOTE_ARENA_MAX },
	{ "host-memory", "bytes that the processes of a client may use together; 0: no limit",
	  conf_size, AT(share.host_memory), 0, 1ull << 48 },
	{ "weight", "a number from 1 to 10000", conf_number, AT(share.weight), 1, 10000 },
	{ "programs", "a number from 1 to 1024", conf_number, AT(share.programs), 1, 1024 },
	{ "images", "bytes, as 512M; 0: none are kept", conf_size, AT(share.images), 0,
	  1ull << 40 },
	{ "compiled", "bytes, as 256M; 0: none is kept", conf_size, AT(share.compiled), 0,
	  1ull << 32 },
	{ "idle-suspend", "a time, as 30s, 10min or 2h, a year at most; 0: never", conf_time,
	  AT(share.idle_s), 0, 366 * 24 * 3600 },
	{ "allow", "yes or no", conf_yes, AT(share.allow) },
	/* the keys above may stand in sections, too */
	{ "library", "the name or the path of a libcuda.so.1", conf_text, TEXT(library) },
	{ "listen",
	  "unix:/path, aperture:/path, vsock:CID:PORT, tls:HOST:PORT or tcp:127.0.0.1:PORT, 8 at most",
	  listen_at, .often = true, .why = why_not_listen },
	{ "tls-folder", "a path that begins with /", conf_path, TEXT(tls_folder) },
	{ "compiled-folder", "a path that begins with /", conf_path, TEXT(compiled_folder) },
	{ "admin-socket", "a path that begins with /", conf_path, TEXT(admin) },
	{ "admin-group", "the name of a group", group, TEXT(admin_group) },
	{ "socket-group", "the name of a group", group, TEXT(socket_group) },
	{ "clients", "a number from 1 to 1024", conf_number, AT(clients), 1, 1024 },
	{ "newcomers", "a number from 1 to 1024", conf_number, AT(newcomers), 1, 1024 },
	{ "patience", "seconds, from 1 to 3600", conf_number, AT(patience_s), 1, 3600 },
	{ "tasks", "a number from 16 to 65536", conf_number, AT(tasks), 16, 65536 },
	{ "users",
	  "the first of as many free user numbers as there may be clients, from 1000 to 4000000000, or none",
	  users, AT(users), 1000, 4000000000ull },
	{ "groups", "names of groups with blanks between, 8 at most, or none", groups,
	  .often = true },
	{ "turns", "yes or no", conf_yes, AT(turns) },
	{ "suspend-for", "memory or none", suspend_for, AT(suspend_for_memory) },
	{ "suspend-memory", "bytes of host memory for programs that sleep, as 64G; 0: none",
	  conf_size, AT(suspend_memory), 0, 1ull << 48 },
	{ "system-calls", "on, log or off", filter, AT(filter) },
};

enum { SECTION_KEYS = 10 };

const struct conf_form remoted_conf_form = { .keys = keys,
					     .nr_keys = sizeof(keys) / sizeof(*keys),
					     .section = section,
					     .nr_section_keys = SECTION_KEYS };

/* a client must not take all memory, and keep other clients out */
static uint64_t half_of_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && bytes > 0 ? (uint64_t)pages / 2 * bytes : 0;
}

void remoted_conf_default(struct remoted_conf *c)
{
	memset(c, 0, sizeof(*c));
	c->share = (struct conf_share){ .arena = 256ull << 20,
					.pinned = UINT64_MAX,
					.weight = 100,
					.allow = true,
					.host_memory = half_of_memory(),
					.images = 512ull << 20,
					.compiled = 256ull << 20 };
	strcpy(c->library, "libcuda.so.1");
	strcpy(c->tls_folder, "/etc/kvgpu/tls");
	strcpy(c->compiled_folder, COMPILED_FOLDER);
	strcpy(c->admin, "/run/kvgpu-remoted/admin");
	c->clients = 64;
	c->newcomers = 16;
	c->patience_s = 10;
	c->tasks = 512;
	c->turns = true;
	c->suspend_memory = half_of_memory();
	c->users = USERS;
	strcpy(c->groups[c->nr_groups++], "render");
	strcpy(c->groups[c->nr_groups++], "video");
}

const struct conf_share *remoted_conf_share(const struct remoted_conf *c, const char *who)
{
	unsigned int i;

	for (i = 0; i < c->nr_rules; i++)
		if (!strcmp(c->rules[i].who, who))
			return &c->rules[i].share;
	return &c->share;
}

uint64_t remoted_conf_pinned(const struct conf_share *share)
{
	const uint64_t machine = 2 * half_of_memory(), host = share->host_memory;

	if (share->pinned != UINT64_MAX)
		return share->pinned;
	return (host && (!machine || host < machine) ? host : machine) / 2;
}

uint64_t remoted_conf_programs(const struct remoted_conf *c, const struct conf_share *share)
{
	if (share->programs)
		return share->programs;
	return c->clients < 4 ? c->clients : c->clients * 3 / 4;
}
