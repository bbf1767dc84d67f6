// SPDX-License-Identifier: MIT
/*
 * Files of the configuration: the first byte says of which side, and
 * whether what comes behind a wrong line is read. What is taken has to hold what it
 * promises; what is refused has a line that the file has, and a text.
 */
#include <stdlib.h>
#include <string.h>

#include <remote/channel/address.h>
#include <remote/conf/client.h>
#include <remote/conf/server.h>

static void must(bool fine)
{
	if (!fine)
		abort();
}

static void check_share(const struct conf_share *s)
{
	must(s->memory <= 1ull << 48 && s->host_memory <= 1ull << 48);
	must(s->arena >= 4 << 20 && s->arena <= 1ull << 40);
	must(s->weight >= 1 && s->weight <= 10000);
}

static void check_server(const struct remoted_conf *c)
{
	struct address a;
	const char *why;
	unsigned int i;

	check_share(&c->share);
	must(c->nr_listen <= CONF_LISTEN && c->nr_groups <= CONF_GROUPS &&
	     c->nr_rules <= CONF_RULES);
	for (i = 0; i < c->nr_listen; i++)
		must(!address_parse(c->listen[i], true, &a, &why));
	for (i = 0; i < c->nr_rules; i++) {
		check_share(&c->rules[i].share);
		must(conf_is_who(c->rules[i].who));
		must(remoted_conf_share(c, c->rules[i].who) == &c->rules[i].share);
	}
	must(c->clients >= 1 && c->clients <= 1024 && c->newcomers >= 1 && c->newcomers <= 1024);
	must(!c->users || (c->users >= 1000 && c->users <= 4000000000ull));
	must(c->filter <= FILTER_OFF && c->tls_folder[0] == '/' && c->admin[0] == '/');
}

static void check_error(const struct conf_error *e, const uint8_t *data, size_t n)
{
	unsigned int lines = 1;
	size_t i;

	for (i = 0; i < n; i++)
		lines += data[i] == '\n';
	must(e->line <= lines && *e->text && memchr(e->text, 0, sizeof(e->text)));
}

/* each one is an address, or all of it is one, whose path has blanks */
static bool are_addresses(const char *server)
{
	char text[sizeof(((struct remote_conf *)0)->server)], *rest, *word;
	struct address a;
	const char *why;

	if (!*server || !address_parse(server, false, &a, &why))
		return true;
	strcpy(text, server);
	for (word = strtok_r(text, REMOTE_CONF_BLANKS, &rest); word;
	     word = strtok_r(NULL, REMOTE_CONF_BLANKS, &rest))
		if (address_parse(word, false, &a, &why))
			return false;
	return true;
}

static void take_wrong_line(const struct conf_error *e, void *last)
{
	must(e->line > *(unsigned int *)last && *e->text);
	*(unsigned int *)last = e->line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct remoted_conf server;
	struct conf_form form = remoted_conf_form;
	struct remote_conf client = { 0 };
	unsigned int last = 0;
	struct conf_error e;

	if (!n)
		return 0;
	if (data[0] & 1) {
		remoted_conf_default(&server);
		form.wrong = data[0] & 2 ? take_wrong_line : NULL;
		form.of = &last;
		if (!conf_parse(&form, &server, (const char *)data + 1, n - 1, &e))
			check_error(&e, data + 1, n - 1);
		check_server(&server);
		return 0;
	}
	if (!conf_parse(&remote_conf_form, &client, (const char *)data + 1, n - 1, &e))
		check_error(&e, data + 1, n - 1);
	must(are_addresses(client.server));
	return 0;
}
