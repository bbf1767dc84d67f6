// SPDX-License-Identifier: MIT
/* A rank with a GPU: each tunnel that the broker opens gets a new server process. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon.h"
#include "relay.h"

static void open_tunnel(struct tunnel *n, int forker)
{
	int fd = forker_connect(forker);

	n->wanted = false;
	memcpy(n->key, n->next_key, sizeof(n->key));
	if (fd < 0) {
		link_lose(n->link, "no server process can be made");
		return;
	}
	if (!tunnel_open(n, fd))
		link_lose(n->link, "no memory for a tunnel");
}

static void want_tunnel(struct tunnel *n, const struct control *c)
{
	n->wanted = true;
	memcpy(n->next_key, c->key, sizeof(n->next_key));
}

static void open_wanted(struct link *l, int forker)
{
	unsigned int i;

	for (i = 0; i < TUNNELS; i++)
		if (l->tunnels[i].wanted && l->tunnels[i].state == TUNNEL_FREE)
			open_tunnel(&l->tunnels[i], forker);
}

int proxy_run(const struct settings *s, int forker)
{
	static struct pollfd polls[TUNNELS];
	struct link *l = calloc(1, sizeof(*l));
	bool moved, open, stopped = false, parent = true;
	uint64_t looked;
	struct control c;
	unsigned int n;

	if (!l || !link_begin(l, s, 0) || !measure_listen(l) || !pull_begin(l))
		return 1;
	link_say(l, CONTROL_HELLO, 0);
	moved = true;
	while (!l->lost && !l->over && parent) {
		looked = now_us();
		open = false;
		n = tunnels_wait(l, polls, &open);
		parent = backoff_wait(s, polls, n, moved, open);
		moved = false;
		while (link_hear(l, &c)) {
			moved = true;
			if (c.kind == CONTROL_OPEN)
				want_tunnel(&l->tunnels[c.tunnel], &c);
		}
		open_wanted(l, forker);
		moved = tunnels_go(l) || moved;
		moved = pull_go(l) || moved;
		moved = measure_answer(l) || moved;
		link_beat(l);
		/*
		 * in so long a turn the broker may have given up this proxy: then its silence does
		 * not mean that it is out of reach
		 */
		stopped = stopped || now_us() - looked > s->patience_s * 1000000ull / 2;
	}
	tunnels_hang_up(l);
	forker_end(forker);
	if (!l->over) {
		if (parent && !stopped && !s->step && l->unreachable)
			daemon_end(s->patience_s);
		return 1;
	}
	while (!l->lost && !tunnels_are_quiet(l) && backoff_wait(s, NULL, 0, false, true)) {
		tunnels_go(l);
		pull_go(l);
	}
	link_say(l, CONTROL_END, 0);
	if (l->lost)
		return 1;
	pull_end();
	link_end(l);
	return 0;
}
